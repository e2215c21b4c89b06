#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A command that softroce runs on a terminal has a terminal: terminal.py types what a user would. RDMAEZ_KERNEL
# chooses the kernel.
#
# Nightly: most of a minute, for who works in the machine by hand.

source tests/tap.bash

kernel=${RDMAEZ_KERNEL:-bookworm}
shell=(tools/softroce --host qemu --kernel "$kernel" bash --norc)

# at CODE STEP... -- COMMAND...: it ends with CODE on a terminal that is left as it was; what was shown is in $shown,
# without readline's signs for pasted text.
at() {
	local code=0
	shown=$(mktemp "$scratch/shown.XXXX")
	tests/tools/terminal.py "${@:2}" >"$shown.raw" || code=$?
	sed 's/\x1b\[?2004[hl]\r*//g' "$shown.raw" >"$shown"
	cat -v "$shown"
	[[ $code == "$1" && $(tail -n 1 "$shown") == restored ]]
}

# count NUMBER TEXT: so often is this in what was shown.
count() {
	[[ $(grep -oF "$2" "$shown" | wc -l) == "$1" ]]
}

# What is typed is shown once, whether the shell or the terminal does the echo. The words come apart only there.
echoes_once() {
	at 7 'wait:# ' 'type:echo on""ce\r' 'wait:once\r\n' 'wait:# ' 'type:cat\r' 'pause:2' 'type:line\r' 'wait:line\r\nline\r\n' \
		'type:\x04' 'wait:# ' 'type:exit 7\r' -- "${shell[@]}"
	count 1 'echo on""ce'
	count 1 'once'
	count 2 'line'
}

# The booting line is gone before the command starts.
boots_in_place() {
	local booting="softroce: booting Linux "
	at 0 -- tools/softroce --host qemu --kernel "$kernel" echo heard
	grep -qE $'^\r\x1b\\[K'"$booting.* s"$'\r\x1b\\[Kheard\r$' "$shown"
}

interrupts_the_command() {
	at 0 'wait:# ' 'type:sleep 1000\r' 'pause:3' 'type:\x03' 'wait:# ' 'type:echo st""atus $?\r' 'wait:status 130' 'wait:# ' \
		'type:exit 0\r' -- "${shell[@]}"
	at 9 'wait:go' 'type:\x03' -- tools/softroce --host qemu --kernel "$kernel" sh -c 'trap "exit 9" INT; echo go; while :; do sleep 1; done'
}

controls_jobs() {
	at 0 'wait:# ' 'type:sleep 1000 & \r' 'wait:# ' 'type:fg\r' 'wait:sleep 1000\r\n' 'pause:3' 'type:\x1a' 'wait:Stopped' \
		'wait:# ' 'type:bg; jobs\r' 'wait:Running' 'wait:# ' 'type:kill %1; wait; exit 0\r' -- "${shell[@]}"
}

follows_the_window() {
	at 0 'wait:# ' 'type:stty size\r' 'wait:24 80\r\n' 'wait:# ' size:33,111 pause:3 'type:stty size\r' 'wait:33 111\r\n' \
		'wait:# ' 'type:exit\r' -- "${shell[@]}"
}

# Even where the terminal is slow, and the pipe to it full.
shows_all() {
	at 0 wait:2 pause:5 -- tools/softroce -q --host qemu --kernel "$kernel" seq 30000
	diff "$shown" <(seq 30000 | sed 's/$/\r/'; printf '\nrestored\n')
}

# Stderr that is no terminal stays what it is.
keeps_errors_apart() {
	# shellcheck disable=SC2016 # expanded by the command
	at 0 -- sh -c 'tools/softroce -q --host qemu --kernel "$1" sh -c "tty; echo apart >&2" 2>"$2"' sh "$kernel" "$scratch/errors"
	diff "$scratch/errors" - <<<apart
	grep -qx $'/dev/hvc0\r' "$shown"
}

restores_after() {
	at "$2" 'wait:# ' "kill:$1" -- "${shell[@]}"
}

restores_at_the_time_limit() {
	at 124 -- tools/softroce -q --host qemu --kernel "$kernel" --timeout 60 sleep 1000
	grep -q '^softroce: time limit of 60 s reached; stopped: sleep 1000' "$shown"
}

leaves_it_changed() {
	at 0 -- stty raw
}

tools/softroce --kernel "$kernel" --headers >/dev/null || exit 1

soon ok "what is typed is shown once, and the exit status comes back" echoes_once
soon ok "that it boots is told in place" boots_in_place
soon ok "Ctrl-C interrupts the command, and the shell lives on" interrupts_the_command
nightly soon ok "jobs are stopped, continued and listed" controls_jobs
nightly soon ok "the guest's terminal has the window's size" follows_the_window
nightly soon ok "no output is lost" shows_all
nightly soon ok "stderr may go elsewhere" keeps_errors_apart
soon ok "SIGTERM leaves the terminal as it was" restores_after TERM 143
nightly soon ok "so does SIGKILL" restores_after KILL 137
nightly soon ok "so does the time limit" restores_at_the_time_limit
fails "a terminal that is left otherwise is seen" changed leaves_it_changed
done_testing
