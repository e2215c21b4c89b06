#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What one rdmaez-doctor takes from another over TCP, fuzzed under ASan and UBSan with a fixed seed.

header=talk longest=1500
source tests/fuzz/lib.bash

# fuzz_talk TREE NAME RUNS: the doctor of a tree like this one, which has tests/fuzz and tools/doctor.
fuzz_talk() (
	program=$PWD/build/fuzz/$2
	corpus=$(kept talk)
	cd "$1"
	fuzz_build talk address,undefined "$program"
	"$program" -seed=1 "-runs=$3" "-max_len=$longest" -len_control=0 "-artifact_prefix=$scratch/" "$corpus"
)

# seeded_talk NAME FILE SCRIPT: a copy with SCRIPT, of sed, done to FILE.
seeded_talk() {
	mkdir -p "$scratch/$1/tools"
	cp -r tools/doctor "$scratch/$1/tools"
	mkdir "$scratch/$1/tests" && cp -r tests/fuzz tests/compile "$scratch/$1/tests"
	ln -s "$PWD/include" "$scratch/$1/include"
	sed -i "$3" "$scratch/$1/tools/doctor/$2"
	! diff -r tools/doctor "$scratch/$1/tools/doctor" >/dev/null || echo "nothing was seeded by $3" >&2
	echo "$scratch/$1"
}

runs=$(nightly_runs 1000)
ok "$runs messages of a peer are taken or refused without a misstep" fuzz_talk . talk "$runs"

fails "a byte read behind a message is noticed" "deadly signal" \
	fuzz_talk "$(seeded_talk behind talk.c 's/^\treturn kind \&\& strcmp/\trecv(fd, line, 1, MSG_DONTWAIT);\n&/')" talk_behind 2000
nightly fails "lines without a limit are noticed" "AddressSanitizer|runtime error|deadly signal" \
	fuzz_talk "$(seeded_talk lines talk.c 's/talk->length + length > sizeof(talk->text))$/!line[0])/')" talk_lines 2000
nightly fails "what a terminal obeys is noticed" "deadly signal" \
	fuzz_talk "$(seeded_talk plain talk.c 's/clean(line, length - is_whole);/length ? (void)(line[length - is_whole] = 0) : clean(line, 0);/')" talk_plain 2000
nightly fails "more GIDs than there is room for are noticed" "AddressSanitizer|runtime error" \
	fuzz_talk "$(seeded_talk gids side.c 's/while (side->gids < SIDE_GIDS \&\& /while (/')" talk_gids 2000
nightly fails "a number of a queue pair that is told without being known is noticed" "deadly signal" \
	fuzz_talk "$(seeded_talk told afar.c 's/qp.is.has = (qp.is.has \& TOLD)/qp.is.has = qp.is.has/')" talk_told 2000
nightly fails "a GID index that verbs do not have is noticed" "deadly signal" \
	fuzz_talk "$(seeded_talk index serve.c 's/probe->gid_index < -1 ||/false ||/')" talk_index 2000
done_testing
