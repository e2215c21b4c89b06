#!/bin/bash
# SPDX-License-Identifier: MIT
#
# rdmaez-explain and the end of a process: what a signal ended it in, whoever waits for it; a child that goes on with its
# parent's objects; and what is refused on the way down. tests/tools/explain/ended.c ends in each way.

source tests/tap.bash
source tests/tools/explain.bash
programs ended cm_call
run_make deps-mpi || exit

# ended STATUS HOW TEXT [OPTION...]: these are all of its words, in whatever lines they stand.
ended() {
	ends "$1" "${@:4}" --json "$scratch/json" ended "$2"
	diff <(printf '%s' "${3:+rdmaez-explain: ended[N]: $3}") \
		<(sed -E '/never destroyed/d; s/\[[0-9]+\]/[N]/; s/QP [0-9]+/QP N/' "$scratch/err" | tr -s '\n ' ' ' | sed 's/ $//')
	jq --raw-output 'select(.kind == "ended") | "\(.signal) \(.call) \(.inside) \(.again) \(.object) \(.oom)"' \
		"$scratch/json" >"$scratch/ended"
}

json() {
	diff "$scratch/ended" - <<<"$1"
	jq 'select(.kind == "ended")' "$scratch/json" >"$scratch/one.json"
	/usr/bin/python3 -m jsonschema --error-format $'{error.json_path}: {error.message}\n' \
		--instance "$scratch/one.json" docs/schema/explain.schema.json
}

ok 'names a verb that a signal ended it in' ended 139 inside 'SIGSEGV ended it, in ibv_dereg_mr of a MR.'
ok 'also in JSON' json 'SIGSEGV ibv_dereg_mr true false MR false'
ok 'names an object that was destroyed before' ended 139 again \
	'SIGSEGV ended it, in ibv_destroy_qp of the QP N, which had been destroyed before. Next: destroy each object once.'
ok 'also in JSON, and that' json 'SIGSEGV ibv_destroy_qp true true QP false'
ok 'names the last verb that returned' ended 137 killed \
	'SIGKILL ended it; the last verb but for posts and polls was ibv_reg_mr.'
ok 'also in JSON, as one that returned' json 'SIGKILL ibv_reg_mr false false null false'
ok 'knows a post with --waiting' ended 139 send 'SIGSEGV ended it, in ibv_post_send of the QP N.' --waiting 100
ok 'knows a receive' ended 139 recv 'SIGSEGV ended it, in ibv_post_recv of the QP N.' --waiting 100
ok 'knows a post with --json alone' ended 139 send 'SIGSEGV ended it, in ibv_post_send of the QP N.'
ok 'also in JSON, as one that did not return' json 'SIGSEGV ibv_post_send true false QP false'
without() {
	ends 139 --line ended send
	grep -E ' kind=ended signal=SIGSEGV call=ibv_reg_mr inside=0 ' "$scratch/err"
}
ok 'claims nothing of posts without either' without
for signal in BUS ABRT FPE ILL SYS; do
	ok "names SIG$signal" ended $((128 + $(kill -l "$signal"))) "$signal" \
		"SIG$signal ended it; the last verb but for posts and polls was ibv_reg_mr."
done
ok 'is silent of a signal that people send' ended 143 terminated ''
ok 'and of one that a debugger sends' ended 133 TRAP ''
ok 'is silent of a program without verbs' ended 134 no_verb ''

# of_other TEXT STATUS COMMAND...: of all that is written, the lines of rdmaez-explain that tell of an end are these.
of_other() {
	ends "$2" "${@:3}"
	diff <(printf '%s' "${1:+rdmaez-explain: $1}") \
		<(sed -nE '/^rdmaez-explain: .*(: SIG[A-Z]+ ended it|more process)/p' "$scratch/err" |
			sed -E 's/\[[0-9]+\]/[N]/; s/QP [0-9]+/QP N/' | tr -s '\n ' ' ' | sed 's/ $//')
}
crash='ended[N]: SIGSEGV ended it, in ibv_dereg_mr of a MR.'
for function in wait waitpid wait3 wait4 waitid; do
	ok "knows how a process ended that another one waited for, by $function()" of_other "$crash" 0 ended "$function" inside
done
ok 'tells it once of what is waited for twice' of_other "$crash" 0 ended twice inside
for shell in sh bash; do
	ok "knows it of what $shell has started" of_other "$crash" 0 "$shell" -c 'ended inside; true'
done
ok 'is silent of what ends without a crash' of_other '' 0 ended wait _exit nothing terminated
ok 'is silent of a process that was killed in what succeeds' of_other '' 0 ended wait killed
ok 'but not in what fails' of_other 'ended[N]: SIGKILL ended it; the last verb but for posts and polls was ibv_reg_mr.' \
	1 ended fails _exit killed
ok 'nor of a second one' of_other "$crash" 1 ended fails killed inside killed
ok 'says once what ended several' of_other "$crash rdmaez-explain: 2 more processes ended as ended[N] did" 0 \
	ended wait inside inside inside
ok 'is silent of a program without verbs that took the place of one with them' of_other '' 0 ended wait executes

# noted FUNCTION: no signal has ended the child, which only its parent knows.
noted() {
	rm -f "$scratch/json"
	ends 0 --json "$scratch/json" ended "$1" _exit
	[[ $(jq --compact-output 'select(.kind == "state") | [.reason, .signal]' "$scratch/json") == '["end",null]' ]]
}
for function in wait waitpid wait3 wait4 waitid; do
	ok "knows that it ended by itself, by $function()" noted "$function"
done

# of_rank: mpirun is what waits for ranks.
of_rank() {
	of_other 'ended[N], rank 1: SIGSEGV ended it, in ibv_dereg_mr of a MR.' 139 --json "$scratch/json" \
		mpirun --allow-run-as-root --oversubscribe -n 2 --mca plm isolated \
		sh -c "if [ \$OMPI_COMM_WORLD_RANK = 1 ]; then exec ended inside; fi; ended nothing"
	[[ $(jq --raw-output 'select(.kind == "ended") | "\(.rank) \(.signal) \(.call)"' "$scratch/json") == \
		'1 SIGSEGV ibv_dereg_mr' ]]
	jq 'select(.kind == "ended")' "$scratch/json" >"$scratch/one.json"
	/usr/bin/python3 -m jsonschema --instance "$scratch/one.json" docs/schema/explain.schema.json
}
ok 'names a rank under mpirun' of_rank

line() {
	ends 139 --line ended again
	grep -E '^program=ended pid=[0-9]+ kind=ended signal=SIGSEGV call=ibv_destroy_qp inside=1 again=1 qp=[0-9]+ oom=0$' \
		"$scratch/err"
}
ok 'says it in a line' line
line_of_rank() {
	OMPI_COMM_WORLD_RANK=3 ends 139 --line ended inside
	grep -E '^program=ended pid=[0-9]+ kind=ended signal=SIGSEGV rank=3 call=ibv_dereg_mr inside=1 again=0 oom=0$' "$scratch/err"
}
ok 'also of a rank, and of no queue pair' line_of_rank

# of_parent: the refusal in a child names its parent.
of_parent() {
	ends 0 --json "$scratch/json" ended child
	cat "$scratch/err"
	[[ $(jq --raw-output 'select(.opened_by) | "\(.record.call) \(.pid != .opened_by)"' "$scratch/json") == \
		'ibv_dealloc_pd true' ]]
	tr -s '\n ' ' ' <"$scratch/err" | grep -E 'refused at [^:]*Process [0-9]+ opened the device, and this process is a child of it, which must not use its objects\. Next: open the device and create the objects in the process that uses them\.'
}
ok 'tells a child that it uses what is its parent'\''s' of_parent

# inner COUNT: what was refused within rdma_destroy_qp() is counted, and nobody is told unless he asks.
inner() {
	FAKE_CM_BUSY=$1 ends 0 --json "$scratch/json" cm_call "rdma_destroy_${2:-qp}" qp
	silent
	[[ $(jq 'select(.kind == "summary") | .inner' "$scratch/json") == "$1" ]]
}
# A program's own calls that destroy are another matter: whoever left the object in use can mend that.
own() {
	ends "$1" ended busy
	tr -s '\n ' ' ' <"$scratch/err" | grep -E "^rdmaez-explain: ended\[[0-9]+\]: refused at [^:]*ibv_dealloc_pd failed with EBUSY \(16\)"
	says ': 1 refusal \(ibv_dealloc_pd EBUSY 1\)'
}
ok 'tells of a destruction that the program itself has called, although it succeeds later' own 0
ok 'counts what is refused within a call of librdmacm that destroys' inner 1
ok 'and nothing else' inner 0
for object in srq ep id; do
	ok "also within rdma_destroy_$object()" inner 1 "$object"
done
counted() {
	FAKE_CM_BUSY=1 ends 0 --summary cm_call rdma_destroy_qp qp
	says ': 1 refusal on the way down'
}
ok 'shows that number in a summary' counted

fails 'sees that another process was named' '> rdmaez-explain' of_other '' 0 ended wait inside
fails 'sees other words' '> rdmaez-explain' ended 139 inside 'SIGSEGV ended it, in ibv_dereg_mr of a QP.'

done_testing
