#!/bin/bash
# SPDX-License-Identifier: MIT
#
# examples/caps on a real device: everything that the stock `ibv_devinfo -v` prints is in its text and in
# its JSON, equal; and what it makes of files, of differences and of wrong options. Needs build/examples;
# runs itself again on the Soft-RoCE machine.
#
# Nightly: half a minute; the decoder has unit tests and two fuzzers.

set -uo pipefail
cd "$(dirname "$(realpath "$0")")/../.." || exit
if [[ ${1-} != here ]]; then
	exec tools/softroce --quiet --timeout 0 ${RDMAEZ_KERNEL:+--host qemu --kernel "$RDMAEZ_KERNEL"} -- tests/device/caps.t here
fi
# shellcheck source=tests/tap.bash
source tests/tap.bash

caps=build/examples/caps
declare -A json text

# --- Ours, taken apart --------------------------------------------------------------------------

# Every value of the JSON by its path: "ports.0.gids.1.gid ::1". Numbers become texts beforehand, because
# jq before 1.7 rounds large ones.
flattened() {
	sed -E 's/":(-?[0-9]+)/":"\1"/g' "$1" | jq -r 'paths(type != "object" and type != "array") as $p |
		"\($p | map(tostring) | join(".")) \(getpath($p))"'
}

# Every line of the text by its group and name: "limits/max_qp 100"; those of the port with "port:"
# before the group. What is wrapped is joined.
lines() {
	awk '
		function flush() { if (name != "") print part group "/" name, value; name = "" }
		/^[a-z]/ { flush(); group = $0; gsub(/ /, "_", group); if (group == "port") part = "port:"; next }
		/^  [^ ]/ { flush(); name = $1; $1 = ""; sub(/^ /, ""); value = $0; next }
		/^   / { sub(/^ +/, ""); value = value " " $0 }
		END { flush() }' "$1"
}

# --- A line of the stock program ----------------------------------------------------------------

# group PATH: $group becomes a pattern of where the text has the field of this path.
group() {
	case $1 in
	ports.*) group='port:*' ;;
	odp_caps.*) group=odp ;;
	cq_mod_caps.*) group=cq_moderation ;;
	tm_caps.*) group=tag_matching ;;
	*_caps.*) group=${1%%_caps.*} ;;
	*) group='!(port:*|tag_matching)' ;; # where there is another max_sge
	esac
}

# amounts_to TEXT NUMBER: TEXT is how people see the number.
amounts_to() {
	local -A unit=([KiB]=1024 [MiB]=$((1024 ** 2)) [GiB]=$((1024 ** 3)))
	local first=${1%%[ :]*} second=${1#* }
	[[ $1 == "$2" || $1 == *" ($2)" || $1$2 == none0 || $1$2 == "no limit18446744073709551615" ]] ||
		[[ $first == 0x* && $((first)) == "$2" ]] ||
		[[ -n ${unit[$second]-} && $((first * unit[$second])) == "$2" ]]
}

# equal PATH VALUE: the JSON and the text have the value there.
equal() {
	local key group
	echo "JSON, $1: ${json[$1]-nothing}"
	[[ ${json[$1]-} == "$2" ]]
	group "$1"
	for key in "${!text[@]}"; do
		# shellcheck disable=SC2053 # a pattern
		[[ $key == $group/"${1##*.}" ]] || continue
		echo "text, $key: ${text[$key]}"
		amounts_to "${text[$key]}" "$2"
		return
	done
	echo "not in the text"
	return 1
}

# number TEXT: $number becomes it in decimal, from "0x10", "5kbps", "ACTIVE (4)" or "10".
number() {
	number=${1##*(}
	number=${number%%[k)]*}
	printf -v number %u "$number"
}

# equal_number PATH TEXT
equal_number() {
	local number
	number "$2"
	equal "$1" "$number"
}

# named PATH NAME: a value has this name, or a set this bit.
named() {
	local key
	for key in "${!json[@]}"; do
		[[ $key != "$1_name" && $key != "$1_names".* ]] || [[ ${json[$key]} != "$2" ]] || break
		key=
	done
	echo "$1 in the JSON: ${key:-not $2}"
	[[ -n $key ]]
	[[ " ${text[*]} " == *" $2 "* ]]
}

# gid ROW GID TYPE: the first port's table has it.
gid() {
	local at=ports.0.gids.$1 # row n is the n-th of the list while no row is empty
	[[ ${json[$at.gid_index]-} == "$1" && ${json[$at.gid]} == "$2" && ${json[$at.gid_type_name]} == "$3" ]]
	[[ ${text["port:gids/gid[$1]"]-} == "$2, $3, "* ]]
}

# set_of LABEL: the path of the set whose names follow this label.
set_of() {
	case $1 in
	general_odp_caps) echo odp_caps.general_caps ;;
	[ru]?_odp_caps) echo "odp_caps.per_transport_caps.$1" ;;
	*) echo "$1" ;;
	esac
}

# is_ours OWNER LABEL VALUE: OWNER is the label of the line that this one belongs to. What the stock
# program calls otherwise than verbs do is listed here; what is not listed is a field's name.
is_ours() {
	local value=$3
	case $1/$2 in
	/hca_id) equal name "$value" ;;
	/fw_ver | /node_guid | /sys_image_guid) equal "$2" "$value" ;;
	/transport) equal_number transport_type "${value/#InfiniBand/}" ;;
	/atomic_cap)
		equal_number "$2" "$value"
		named "$2" "IBV_${value% *}"
		;;
	/general_odp_caps | /*_odp_caps | /tso_caps | /rss_caps | /packet_pacing_caps) [[ -z $value ]] ;;
	*_odp_caps/'NO SUPPORT') equal "$(set_of "$1")" 0 ;;
	*/'Unknown flags') (((${json[$(set_of "$1")]} & value) == value)) ;; # ours knows them by name
	general_odp_caps/*) named "$(set_of "$1")" "IBV_$2" ;;
	*_odp_caps/SUPPORT_SRQ) named "$(set_of "$1")" IBV_ODP_SUPPORT_SRQ_RECV ;;
	*_odp_caps/*) named "$(set_of "$1")" "IBV_ODP_$2" ;;
	device_cap_flags*/*) named "$1" "IBV_DEVICE_$2" ;;
	'/completion_timestamp_mask not supported') equal completion_timestamp_mask 0 ;;
	'/core clock not supported') equal hca_core_clock 0 ;;
	'/tag matching not supported') equal tm_caps.max_num_tags 0 ;;
	port/port) equal ports.0.port "$value" ;;
	port/state)
		equal_number ports.0.state "$value"
		named ports.0.state "IBV_${value% *}"
		;;
	port/*_mtu)
		equal_number "ports.0.$2" "$value"
		equal "ports.0.$2_bytes" "${value% *}"
		;;
	port/port_l*) equal_number "ports.0.${2#port_}" "$value" ;;
	port/link_layer) named ports.0.link_layer "IBV_LINK_LAYER_${value^^}" ;;
	port/active_width | port/phys_state)
		equal_number "ports.0.$2" "$value"
		named "ports.0.$2" "${value% *}"
		;;
	port/active_speed)
		equal_number ports.0.active_speed "$value"
		# A lane's speed, of the width that Soft-RoCE has.
		[[ ${json[ports.0.lanes]} == 1 && ${json[ports.0.rate_kbps]} == "${value%.0 Gbps*}000000" ]]
		;;
	port/GID*) gid "${2//[!0-9]/}" "${value%, *}" "${value##*, }" ;;
	port/*) equal_number "ports.0.$2" "$value" ;;
	/*) equal_number "$2" "$value" ;;
	*) equal_number "$1.$2" "$value" ;;
	esac
}

# --- Everything that the stock program prints ---------------------------------------------------

ibv_devinfo -v >"$scratch/stock"
$caps --json >"$scratch/json"
$caps >"$scratch/text"
while read -r key value; do
	json[$key]=$value
done < <(flattened "$scratch/json")
while read -r key value; do
	text[$key]=$value
done < <(lines "$scratch/text")

stock_lines=0
owner=
while IFS= read -r line; do
	label=${line//$'\t'/}
	value=${label#*:}
	[[ $label == *:* ]] || value=
	label=${label%%:*}
	[[ -n $label ]] || continue
	[[ $line != *$'\t\tport:'* ]] || owner=port
	# A field of the device stands behind one tab, and may be followed by lines that belong to it.
	[[ $owner == port || $line == $'\t\t'* ]] || owner=
	ok "stock says ${owner:+$owner, }$label: $value" is_ours "$owner" "$label" "$value"
	[[ $owner == port || $line == $'\t\t'* ]] || owner=$label
	stock_lines=$((stock_lines + 1))
done <"$scratch/stock"
ok 'that was a device, a port and three rows of GIDs' test "$stock_lines" -ge 90
fails 'a line that is not ours is seen' 'JSON, no_such_field: nothing' is_ours '' no_such_field 0
fails 'so is one in a group' 'JSON, tso_caps.no_such_field: nothing' is_ours tso_caps no_such_field 0
fails 'so is one of a port' 'JSON, ports.0.no_such_field: nothing' is_ours port no_such_field 0
fails 'another value is seen' 'JSON, max_pkeys: 64' is_ours '' max_pkeys 65
fails 'a name that is not set is seen' 'device_cap_flags in the JSON: not IBV_DEVICE_XRC' is_ours device_cap_flags XRC ''
fails 'another GID is seen' '' is_ours port 'GID[  1]' '::ffff:192.0.2.3, RoCE v2'
fails 'a bit that is not set is seen' '' is_ours device_cap_flags 'Unknown flags' 0x8000000000000000
text[limits/max_pkeys]=65
fails 'another value in the text is seen' 'text, limits/max_pkeys: 65' is_ours '' max_pkeys 64

# --- Devices and files --------------------------------------------------------------------------

# gives STATUS FILE COMMAND...: it ends so, and prints just what the file holds.
gives() {
	local code=0
	"${@:3}" >"$scratch/out" || code=$?
	diff "$2" "$scratch/out"
	((code == $1))
}

# refused TEXT COMMAND...: it ends with 2, prints nothing and says TEXT.
refused() {
	local code=0
	"${@:2}" >"$scratch/out" 2>"$scratch/said" || code=$?
	cat "$scratch/out" "$scratch/said"
	((code == 2))
	[[ ! -s $scratch/out ]]
	grep -qF -- "$1" "$scratch/said"
}

# with_input FILE COMMAND...
with_input() {
	"${@:2}" <"$1"
}

device=${json[name]}
saved=$scratch/json
: >"$scratch/nothing"
[[ $(wc -l <"$saved") == 1 ]] || echo 'Bail out! the JSON has more than one line'

ok 'a device does not differ from itself' gives 0 "$scratch/nothing" $caps --diff "$device" "$device"
ok 'nor from what was saved of it' gives 0 "$scratch/nothing" $caps --diff "$saved" "$device"
jq -S . "$saved" >"$scratch/pretty"
ok 'nor after jq has laid it out anew' gives 0 "$scratch/nothing" $caps --diff "$device" "$scratch/pretty"
ok 'nor from the standard input' gives 0 "$scratch/nothing" with_input "$saved" $caps --diff "$device" -
{
	cat "$saved"
	echo '{"rdmaez_caps":1}'
} >"$scratch/two"
ok 'of two saved devices the first counts' gives 0 "$scratch/nothing" $caps --diff "$scratch/two" "$device"

# Less, more, other, unclear.
sed 's/"max_qp":[0-9]*/"max_qp":5/; s/"max_qp_wr":[0-9]*/"max_qp_wr":2000000/; s/"fw_ver":"[^"]*"/"fw_ver":"\\u0039"/
	s/"max_tso":0/"max_tso":null/; s/"sources":{/&"tso_caps.max_tso":"DRIVER"/' "$saved" >"$scratch/edited"
cat >"$scratch/lines" <<END
fw_ver                                    differs   ${json[fw_ver]} -> 9
max_qp                                    lacks     ${json[max_qp]} -> 5
max_qp_wr                                 exceeds   ${json[max_qp_wr]} -> 2000000
tso_caps.max_tso                          unclear   none -> unknown: this driver does not report it
END
ok 'what differs has a line each' gives 1 "$scratch/lines" $caps --diff "$device" "$scratch/edited"

# has TEXT COMMAND...: it succeeds and prints TEXT as a line, or as part of one.
has() {
	"${@:2}" >"$scratch/out"
	cat "$scratch/out"
	grep -qF -- "$1" "$scratch/out"
}

# lacks TEXT COMMAND...: it succeeds and does not.
lacks() {
	"${@:2}" >"$scratch/out"
	[[ $(<"$scratch/out") != *"$1"* ]]
}

ok 'in common: the least' has '  max_qp                          5' $caps --common "$device" "$scratch/edited"
ok 'in common: the least of the other' has "  max_qp_wr                       ${json[max_qp_wr]}" \
	$caps --common "$device" "$scratch/edited"
ok 'in common: no name' has '  fw_ver                          unknown: the devices have nothing in common here' \
	$caps --common "$device" "$scratch/edited"
ok 'in common: short' has '  max_qp                          5' $caps --common --short "$device" "$scratch/edited"
$caps --common --json "$device" "$scratch/edited" "$saved" >"$scratch/common"
ok 'in common, as JSON' jq -e '.max_qp == 5 and .fw_ver == null and .sources.fw_ver == "DIFFERS"' "$scratch/common"
ok 'which can be read again' gives 0 "$scratch/nothing" $caps --diff "$scratch/common" "$scratch/common"
ok 'one device has in common what it has' has "  max_qp                          ${json[max_qp]}" $caps --common "$device"

# --- Options ------------------------------------------------------------------------------------

ok 'the device by its name' gives 0 "$scratch/text" $caps -d "$device"
ok 'and its port by its number' gives 0 "$scratch/text" $caps -d "$device" -i 1
ok 'the same as JSON' gives 0 "$saved" $caps --json -d "$device" -i 1
ok 'the JSON is valid, with a port' jq -e '.ports | length == 1 and .[0].port == 1' "$saved"
ok 'the short form' has "  name                            $device" $caps --short
ok 'has no ports' lacks port_num $caps --short
ok 'the manual' has 'usage: caps' $caps --help
ok 'no such device' refused 'there is no RDMA device of this name' $caps -d nosuchdevice
ok 'no such file' refused 'nosuchfile: neither a device nor a file' $caps --diff "$device" nosuchfile
ok 'a file that is a directory' refused '/: cannot be read' $caps --common /
ok 'a file that is no JSON' refused "$scratch/text: not JSON, at byte 0: unexpected character" $caps --common "$scratch/text"
ok 'an empty file' refused '/dev/null: not JSON, at byte 0: unexpected end of data' $caps --common /dev/null
echo '{"rdmaez_caps":1,"max_qp":10000000000}' >"$scratch/huge"
ok 'a number that is too large' refused \
	"$scratch/huge: max_qp: out of range, which is -2147483648 to 2147483647" \
	$caps --common "$scratch/huge"
echo '{"rdmaez_caps":1,"max_qpp":1}' >"$scratch/misspelt"
ok 'a key that is misspelt' refused "$scratch/misspelt: unknown key \"max_qpp\"" $caps --diff "$device" "$scratch/misspelt"
for wrong in -x -d -i '--diff' '--diff a' '--diff a b c' '--common' '--json --short' 'stray' '--diff --json a b' \
	'--diff --short a b' '--diff --common a b' '--diff -d a a b' '--common -i 1 a' '--short -i 1' '--common -d a a' \
	'-i 1x' '-i abc' '-i 4294967297'; do
	# shellcheck disable=SC2086 # a list of words
	ok "wrong: $wrong" refused 'usage: caps' $caps $wrong
done

into_nothing() {
	"$@" >/dev/full
}

fails 'a full disk is noticed' 'caps: the output cannot be written' into_nothing $caps --short

# What is printed of the device stands, but the status tells of the port.
no_port() {
	local code=0
	$caps "${@:2}" >"$scratch/out" 2>"$scratch/said" || code=$?
	cat "$scratch/said"
	((code == 2))
	grep -qF "port_num: the device has no such port. Given: $1" "$scratch/said"
	grep -q port_num "$scratch/out" && return 1
	grep -q max_qp "$scratch/out"
}

for port in 0 2 300 -1; do
	ok "no port $port" no_port "$port" -i "$port"
done
ok 'no port 2, in JSON' no_port 2 --json -i 2
ok 'which is valid, without a port' jq -e '.ports == []' "$scratch/out"

done_testing
