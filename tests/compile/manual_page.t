#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What docs/queue_pairs.md says of ibv_modify_qp(3) is what the manual page says, in every rdma-core from 33 on: it
# lists the required attributes of these moves and of no others, and none that is optional.

source tests/tap.bash

versions=$(tools/rdma-core-headers) || exit 1

# What a manual page lists, a line for each move: TYPE STATE ATTRIBUTE...
listed() {
	gzip -dc "$1" | tr -d '\\-' | awk '
		function row() { if (state) print type, state, names | "sort"; state = "" }
		/Transport Service Type/ { row(); match($0, /IBV_QPT_[A-Z_]+/); type = substr($0, RSTART + 8, RLENGTH - 8) }
		/^(Init|RTR|RTS) / { row(); state = toupper($1); names = "" }
		/^\.fi/ { row() }
		state {
			while (match($0, /IBV_QP_[A-Z_]+/)) {
				name = substr($0, RSTART + 7, RLENGTH - 7)
				if (name != "STATE")
					names = names " " name
				$0 = substr($0, RSTART + RLENGTH)
			}
		}' | ordered
}

# The same from the tables, of those rows that are said to be listed.
told() {
	local type
	for type in RC UC UD RAW_PACKET XRC_SEND XRC_RECV SRD DCI DCT; do
		build/docs/data --table "transitions of $type" | tr -d '`' | awk -F ' *[|] *' -v type="$type" '
			NR > 2 && !/missing/ { print type, $3, $4
				if (/complete/ != ($5 == ""))
					print type, $3, "the last column does not fit the optional attributes" }'
	done | ordered
}

# Lines, and the words in them from the third on, in alphabetical order.
ordered() {
	while read -r type state names; do
		echo "$type $state $(xargs -n1 <<<"$names" | sort | xargs)"
	done | sort
}

agrees() {
	told >"$scratch/told"
	(($(wc -l <"$scratch/told") == 12))
	diff <(listed "$1") "$scratch/told"
}

# changed SCRIPT: the manual page after SCRIPT, of sed.
changed() {
	gzip -dc "$page" | sed "$1" | gzip >"$scratch/changed.gz"
	echo "$scratch/changed.gz"
}

ok 'the program that prints the tables is built' run_make build/docs/data
while read -r version directory; do
	page=$directory/../man/ibv_modify_qp.3.gz
	ok "what is said of ibv_modify_qp(3) of rdma-core $version is so" agrees "$page"
done <<<"$versions"
fails 'an attribute that the manual page has gained is seen' '^<.*UD RTR PKEY_INDEX' \
	agrees "$(changed 's/^RTR .*IBV_QP_STATE .*/& IBV_QP_PKEY_INDEX/')"
fails 'a type that it has gained is seen' '^<.*XRC_SEND' agrees "$(changed 's/IBV_QPT_RC/IBV_QPT_XRC_SEND/')"

done_testing
