#!/bin/bash
# SPDX-License-Identifier: MIT
#
# rdmaez-explain --core: what is read of cores that tests/tools/core.c makes, whole, cut off or of something else. Cores of
# programs that waited are tests/device/explain_waiting.t's.

source tests/tap.bash
source tests/tools/explain.bash
run_make explain || exit
gcc -std=c11 -g @tests/compile/warnings -D_GNU_SOURCE tests/tools/core.c -o "$scratch/core" || exit

# read_core CHANGE...: of a core with these changes
read_core() {
	"$scratch/core" "$scratch/it" "$@"
	explain --core "$scratch/it"
}

# tells_of CHANGE <TEXT>: what is told of the first process
tells_of() {
	read_core ${1:+"$1"}
	silent
	[[ $code == 0 ]]
	sed '/^rdmaez-explain: [a-z?]*\[11\]/,$d' "$scratch/out" | diff - "$scratch/wanted"
}

# told CHANGE <TEXT>
told() {
	cat >"$scratch/wanted"
	tells_of "$1"
}

# Each leaves all in its place.
leaves_it() {
	local change
	for change in '' other-note short-note just-short-enough within forged-call; do
		echo "$change"
		tells_of "$change"
	done
}

# refuses REASON CHANGE...: each change is answered so.
refuses() {
	local change
	for change in "${@:2}"; do
		read_core "$change"
		echo "$change: $(<"$scratch/err")"
		[[ $code == 1 && ! -s $scratch/out && $(<"$scratch/err") == "rdmaez-explain: $scratch/it: $1" ]]
	done
}

# no_core FILE REASON: of what is no core at all
no_core() {
	explain --core "$1"
	cat "$scratch/err"
	[[ $code == 1 && ! -s $scratch/out && $(<"$scratch/err") == "$2" ]]
}

waits=$(cat <<'END'
rdmaez-explain: sender[10]: QP 17 of mlx5_0 (RC, RTS) has something outstanding: the PSNs differ:
    this end sends from 5, and the peer expects 6 (its rq_psn). Next: set the rq_psn of each end to
    the other's sq_psn.
  Outstanding: 1 of 1 signaled sends, 0 of 0 receives; the oldest that is kept is a SEND of 64
    bytes, wr_id 0x0.
  Its peer: QP 18 of mlx5_0, receiver[11], RTS.
  Its only CQ: polls: 3; completions: 0.
END
)
ok 'tells what waited' told '' <<<"$waits"
ok 'finds it among other notes, beside other memory, and within a longer mapping' leaves_it
ok 'with the call that it was in' told call <<END
rdmaez-explain: sender[10]: thread 10 is in ibv_destroy_cq: it waits until each event of the
    completion queue is acknowledged: 1 were taken, 0 acknowledged. Next: call ibv_ack_cq_events()
    for each event that ibv_get_cq_event() has returned.
$waits
END
ok 'with what had failed' told failure <<'END'
rdmaez-explain: sender[10]: IBV_WC_REM_ACCESS_ERR of QP 17 of mlx5_0, a READ of 64 bytes, wr_id 0x0:
    rkey 0x222: the peer had this region (0x0, 64 bytes) and has deregistered it. Next: keep memory
    registered until everything that uses it is done.
rdmaez-explain: sender[10]: QP 17 of mlx5_0 (RC, RTS) has something outstanding.
  Outstanding: 1 of 1 signaled sends, 0 of 0 receives; the oldest that is kept is a READ of 64
    bytes, wr_id 0x0.
  Its peer: QP 18 of mlx5_0, receiver[11], RTS.
  Its only CQ: polls: 3; completions: 0.
END
# Of whom the record says that it has ended, exited or is another one now.
for how in 'ended receiver' 'exited receiver' 'unknown ?'; do
	ok "nobody answers for a peer that is ${how% *}" told "${how% *}" < <(
		echo 'rdmaez-explain: sender[10]: QP 17 of mlx5_0 (RC, RTS) has something outstanding: the process of the'
		if [[ $how == *receiver ]]; then
			echo "    peer's QP 18, receiver[11], has ended, so nobody will answer. Next: start both ends again, and"
			echo '    end them in an order in which nobody waits.'
		else
			echo "    peer's QP 18, ?[11], has ended, so nobody will answer. Next: start both ends again, and end them"
			echo '    in an order in which nobody waits.'
		fi
		tail -n 4 <<<"$waits" | sed "s/receiver/${how#* }/"
	)
done
ok 'refuses what is of another kind' refuses 'this is no core file of this kind of machine' class type entries
ok 'refuses headers that are cut off' refuses 'it is cut off' cut-headers
ok 'misses the memory of a program that ran without' refuses 'the program did not run under this version of rdmaez-explain' \
	no-notes long-note more-mappings other-name short-name from-the-middle too-long cut-notes
ok 'misses what is kept to judge' refuses 'the program ran without --waiting and --json, so nothing was kept' \
	without-rows too-short
ok 'misses memory that was left out' refuses \
	'it leaves shared memory out; before the next one: echo 0x33 >/proc/PID/coredump_filter' \
	left-out short-by-one elsewhere no-load cut-off
hint='this is no core file; if systemd-coredump has it: coredumpctl --output=core dump PID'
ok 'refuses a text' no_core "$0" "rdmaez-explain: $0: $hint"
ok 'refuses an empty file' no_core /dev/null "rdmaez-explain: /dev/null: $hint"
ok 'refuses a file that there is not' no_core /nowhere '/nowhere: No such file or directory'

done_testing
