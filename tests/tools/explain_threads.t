#!/bin/bash
# SPDX-License-Identifier: MIT
#
# rdmaez-explain where there are threads, by itself and under ThreadSanitizer: eight of them poll and post, and fail, while
# contexts come and go, or the first thread forks, is forked by vfork() and posix_spawn(), cancels others in a verb and in
# a wait, and has handlers that call verbs. Libraries come and go as well. Also with --waiting, which keeps what they do.
#
# Nightly: half a minute under ThreadSanitizer.

source tests/tap.bash
source tests/tools/explain.bash
programs threads hazards unload
run_make build/threads/{rdmaez-explain,programs/hazards} || exit

# Some kernels place memory at random where the sanitizer of gcc 12 does not expect it.
fixed=(setarch --addr-no-randomize)
"${fixed[@]}" true 2>/dev/null || fixed=()

options=()

# raceless [ARGUMENT]
raceless() {
	local code=0
	"${fixed[@]}" build/threads/rdmaez-explain "${options[@]}" build/tests/explain/threads "$@" >"$scratch/out" 2>"$scratch/err" || code=$?
	grep -A 30 'WARNING: ThreadSanitizer' "$scratch/err" || :
	((code == 0))
	[[ $(sort --unique "$scratch/out") == 'failed 400 refused 100' ]]
	says ' 800 refusals \(ibv_(post_send EINVAL 400, ibv_wr_complete|wr_complete EINVAL 400, ibv_post_send) EINVAL 400\)' \
		' 108 failed completions .*, 1592 later failures .*, 1600 flushed'
}

ok 'takes part in no race' raceless
fails 'sees a race' 'data race .* in work' raceless race
options=(--waiting 1)
ok 'takes part in none with --waiting' raceless
fails 'sees a race with --waiting' 'data race .* in work' raceless race

# Runs PROGRAM by itself (plain) or under the sanitizer (threads). A child of vfork() has the parent's threads for lost there.
run() {
	local build=$1 program=$2 code=0
	shift 2
	if [[ $build == plain ]]; then
		explain "${options[@]}" "build/tests/explain/$program" "$@"
	else
		TSAN_OPTIONS=report_thread_leaks=0 "${fixed[@]}" build/threads/rdmaez-explain "${options[@]}" \
			"build/threads/programs/$program" "$@" >"$scratch/out" 2>"$scratch/err" || code=$?
	fi
	grep -A 30 'WARNING: ThreadSanitizer' "$scratch/err" || :
	((code == 0)) || { tail "$scratch/err"; echo "ended with $code"; return 1; }
}

# counts CHILDREN: nothing is lost, and each of so many children has its own line. Within another verb, one of a handler
# is not the program's.
counts() {
	local besides handled modified children
	[[ $(grep -c '^failed 400 refused 100$' "$scratch/out") == 8 ]]
	read -r _ besides _ handled <<<"$(tail -n 1 "$scratch/out")"
	modified=$(sed -nE 's/.* refusals \(.*ibv_modify_qp EINVAL ([0-9]+)[,)].*/\1/p' "$scratch/err")
	echo "refused $besides times, and $handled in handlers; explained or counted: $modified"
	((modified >= besides && modified <= besides + handled))
	says " $((800 + modified)) refusals \(" 'ibv_post_send EINVAL 400[,)]' 'ibv_wr_complete EINVAL 400[,)]' \
		' 8 failed completions .*, 1592 later failures .*, 1600 flushed'
	children=$(grep -cE ': 1 refusal \(ibv_modify_qp EINVAL 1\)' "$scratch/err" || :)
	[[ $children == "$1" ]]
}

# hazard BUILD NAME CHILDREN
hazard() {
	run "$1" hazards "$2"
	counts "$3"
}

# asked: the launcher is asked what waits, over and over, while handlers call verbs.
asked() {
	local launcher code=0 times=0
	: >"$scratch/out"
	build/tools/rdmaez-explain --waiting 1 build/tests/explain/hazards signals >"$scratch/out" 2>"$scratch/err" &
	launcher=$!
	until grep -q began "$scratch/out"; do pause 0.01; done
	while kill -USR1 "$launcher" 2>/dev/null; do
		times=$((times + 1))
		pause 0.02
	done
	wait "$launcher" || code=$?
	echo "asked $times times, ended with $code"
	((times > 1 && code == 0))
	counts 0
}

# unloads: each refusal is there whoever has unloaded the library meanwhile. Under the sanitizer nothing stands in front of
# dlsym().
unloads() {
	run plain unload
	[[ $(<"$scratch/out") == $'100 100 100 100 100\n1' ]]
	says ' 501 refusals \(ibv_modify_qp EINVAL 501\)$'
}

# all HOW BUILD NAME: HOW is ok, or nightly ok
all() {
	local -n how=$1
	"${how[@]}" "$3: children of fork()" hazard "$2" fork 20
	"${how[@]}" "$3: children of vfork() that execute something, or end" hazard "$2" vfork 10
	"${how[@]}" "$3: children of posix_spawn()" hazard "$2" spawn 20
	"${how[@]}" "$3: threads that are cancelled in a verb" hazard "$2" cancel 0
	"${how[@]}" "$3: threads that are cancelled in a wait" hazard "$2" cancel_wait 0
	"${how[@]}" "$3: handlers that call verbs in whichever thread" hazard "$2" signals 0
	"${how[@]}" "$3: threads that call verbs in handlers alone" hazard "$2" first 0
	"${how[@]}" "$3: libibverbs is loaded and unloaded" hazard "$2" dlclose 0
}

# shellcheck disable=SC2034 # by their names
always=(ok) seldom=(nightly ok)
options=()
all always plain 'by itself'
all seldom threads 'under the sanitizer'
ok 'plugins that load libibverbs and unload it' unloads
options=(--waiting 1)
all seldom plain 'by itself, with --waiting'
all always threads 'under the sanitizer, with --waiting'
ok 'SIGUSR1 of --waiting meanwhile' asked

done_testing
