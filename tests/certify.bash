# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# What rdmaez-doctor --certify has written, for tests that source tests/tap.bash as well.
#
#     results FILE             how many steps have each result, "pass 3, fail 0, ..."
#     steps FILE RESULT        the steps with this result, "group: step"
#     same_steps FILE OTHER    both have the same steps with the same results
#     is_recorded_kernel       this is the kernel of the files that are committed; on others nothing may fail
#     follows_schema FILE      it has what docs/schema/certify.schema.json says, and each step once
#     is_private FILE          nothing in it names this machine, its devices, interfaces or addresses

results() {
	jq -r '[.steps[].result] as $r | [("pass", "fail", "not offered", "not tried") as $k |
		"\($k) \([$r[] | select(. == $k)] | length)"] | join(", ")' "$1"
	[[ $(jq -r '.summary | to_entries | map("\(.key) \(.value)") | join(", ")' "$1") == $(jq -r '[.steps[].result] as $r |
		[("pass", "fail", "not offered", "not tried") as $k | "\($k) \([$r[] | select(. == $k)] | length)"] | join(", ")' "$1") ]]
}

steps() {
	jq -r --arg result "$2" '.steps[] | select(.result == $result) | "\(.group): \(.step)"' "$1"
}

same_steps() {
	diff <(jq -c '.steps[] | [.result, .group, .step]' "$1") <(jq -c '.steps[] | [.result, .group, .step]' "$2")
}

# Debian's Python has python3-jsonschema, whatever else is in the PATH.
follows_schema() {
	local python
	python=$(command -v /usr/bin/python3 || command -v python3)
	"$python" -m jsonschema --instance "$1" docs/schema/certify.schema.json
	echo "steps that are there twice: $(jq '[.steps[] | [.group, .step]] | length - (unique | length)' "$1")" >"${scratch:?}/twice"
	cat "$scratch/twice"
	grep -q ': 0$' "$scratch/twice"
}

is_recorded_kernel() {
	[[ $(uname -r) == 6.1.* ]]
}

# Those of two letters, such as lo, are in many words, and name nothing.
is_private() {
	{
		uname -n
		(shopt -s nullglob && cd /sys/class && printf '%s\n' infiniband/* net/* | sed 's|.*/||')
		cat /sys/class/infiniband/*/{node_guid,sys_image_guid,node_desc,ports/*/gids/*} /sys/class/net/*/address 2>/dev/null || :
		! command -v ip >/dev/null || ip -json address | jq -r '.[].addr_info[].local'
		printf '%s\n' fake0 fe80:: 192.0.2. uverbs
	} | awk 'length > 2 && !/^[0:]*$/' >"${scratch:?}/secrets"
	(($(wc -l <"$scratch/secrets") > 5))
	if grep -wF -f "$scratch/secrets" "$1"; then return 1; fi
	! grep -E '[0-9a-f]{2}(:[0-9a-f]{2}){5}|[0-9a-f]{4}:[0-9a-f]{4}|::|([0-9]{1,3}\.){3}[0-9]' "$1"
}
