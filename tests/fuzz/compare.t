#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Files for rdmaez-explain --compare, fuzzed under ASan and UBSan with a fixed seed, from files of small jobs on. make
# check has 2000 inputs, and make check-nightly a million.

header=compare longest=6000
source tests/fuzz/lib.bash

flags=(-std=c11 -g1 "-O$level" @tests/compile/warnings -D_GNU_SOURCE -fno-sanitize-recover=all)

# jobs: a file each of small jobs, with what they disagree in, and one with a byte that is not escaped.
jobs() {
	local n=0 script
	mkdir -p "$scratch/jobs"
	while IFS= read -r script; do
		n=$((n + 1))
		tests/tools/states.py "$scratch/job$n" "${script//;/$'\n'}"
		cat "$scratch/job$n"/*.json | sed 's/\\u007f/\x7f/g' >"$scratch/jobs/$n"
	done <<-'END'
		mesh(2)
		ring(3);still();sends(0, 1);hungry(1, 0)
		ring(3);still();[sends(n, (n + 1) % 3) for n in range(3)];RANKS[1]["cqs"] = [{"device": "mlx5_0", "cq_num": 1, "polled_ms": 9999, "armed": False}]
		mesh(2);qp(0, 1).update(path_mtu=1024, pkey=1, gid_type="RoCE v1", rq_psn=1, type="UD", sent_qkey=1, qkey=2)
		mesh(2);sends(0, 1, "RDMA_READ");qp(0, 1).update(oldest_rkey=7, oldest_addr=9, oldest_length=9);RANKS[1]["mrs"] = [{"device": "mlx5_0", "rkey": 7, "addr": 1, "length": 3, "access": 1}]
		mesh(2);RANKS[0]["cqs"] = [{"cq_num": n} for n in range(40)]
		star(4);unconnected(1, 0);sends(0, 1);RANKS[1]["host"] = "other\u00e9\u001b[31m\u007f";RANKS[3]["time"] = None
	END
}

# fuzz TOOLS NAME RUNS
fuzz() {
	"${CLANG:-clang}" "${flags[@]}" "-I$1/explain" -fsanitize=fuzzer,address,undefined tests/fuzz/compare.c \
		"$1"/explain/{state,compare*}.c -o "$build/$2"
	mkdir -p "$scratch/$2"
	"$build/$2" -seed=1 "-runs=$3" -max_len=6000 -len_control=0 "-artifact_prefix=$scratch/" "$scratch/$2" "$scratch/jobs" "$(kept compare)"
}

# seeded NAME FILE SCRIPT: a copy of the tools with SCRIPT, of sed, done to FILE.
seeded() {
	mkdir "$scratch/tools.$1"
	cp -r tools/explain "$scratch/tools.$1"
	sed -i "$3" "$scratch/tools.$1/explain/$2"
	! diff -r tools/explain "$scratch/tools.$1/explain" >/dev/null || echo "nothing was seeded by $3" >&2
	echo "$scratch/tools.$1"
}

ok 'there are jobs to begin with' jobs
runs=$(nightly_runs 2000)
ok "$runs files are compared or refused without a misstep" fuzz tools compare "$runs"

fails 'an array that nobody bounds is noticed' 'AddressSanitizer' \
	fuzz "$(seeded bounds compare_read.c 's/if (count == room)/if (!room)/')" compare_bounds 5000
nightly fails 'a name that a terminal obeys is noticed' 'deadly signal' \
	fuzz "$(seeded plain compare_read.c "s/byte <= '~' \&\& byte >= ' ' ? byte : '?'/byte/")" compare_plain 5000
nightly fails 'a member that is not written is noticed' 'deadly signal' \
	fuzz "$(seeded lost state.c 's/if (!is_known(table, i, row))/if (i == 3 || !is_known(table, i, row))/')" compare_lost 5000
done_testing
