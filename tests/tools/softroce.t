#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The Soft-RoCE machine keeps its promises: what goes in, what comes out, what stays outside, and that
# nothing outlives it. The runs in QEMU go two at a time, which also shows that they do not disturb each
# other. RDMAEZ_KERNEL chooses the kernel.

source tests/tap.bash

kernel=${RDMAEZ_KERNEL:-bookworm}
export TMPDIR=$scratch/run
mkdir "$TMPDIR"

guest() {
	tools/softroce --host qemu --kernel "$kernel" --quiet --timeout 0 "$@"
}

# ends CODE COMMAND...: COMMAND ends with this status; what it printed is in $dir/out and $dir/err.
ends() {
	local code=0
	dir=$(mktemp -d "$scratch/test.XXXX")
	"${@:2}" >"$dir/out" 2>"$dir/err" || code=$?
	[[ $code == "$1" ]] || { cat "$dir/err"; echo "ended with $code, not $1"; return 1; }
}

# is FILE TEXT: FILE holds TEXT and nothing else.
is() {
	diff "$1" <(printf '%s' "$2")
}

# No QEMU is left of the runs below a directory: each worked in one there. Processes that end
# meanwhile are find's errors.
no_process_in() {
	[[ -z $(find /proc -maxdepth 2 -name cwd -lname "$1/*" 2>/dev/null || :) ]]
}

# Those that were killed from outside take a moment.
await_no_process_in() {
	local try
	for ((try = 0; try < 1000; try++)); do
		! no_process_in "$1" || return 0
		sleep 0.1
	done
	return 1
}

keeps_output_apart() {
	ends 3 guest sh -c 'printf "to\nout\r\n"; printf "to err" >&2; echo >/dev/stderr; exit 3' </dev/null
	is "$dir/out" $'to\nout\r\n'
	is "$dir/err" $'to err\n'
}

passes_bytes_and_signals() {
	head -c 1000000 /dev/urandom >"$scratch/bytes"
	# shellcheck disable=SC2016 # expanded in the guest
	ends 139 guest sh -c 'cat; kill -SEGV $$' <"$scratch/bytes"
	cmp "$scratch/bytes" "$dir/out"
}

# The rows of the GID table as /sys has them, and RDMA from one end of the veth pair to the other.
has_two_devices() {
	ends 0 guest --devices 2 sh -c 'cd /sys/class/infiniband && cat rxe[01]/ports/1/state
		head -qn 1 rxe0/ports/1/gids/[012]
		ibv_rc_pingpong -d rxe0 -g 1 -n 10 >/tmp/server &
		until ibv_rc_pingpong -d rxe1 -g 1 -n 10 127.0.0.1 2>/tmp/client; do sleep 0.5; done
		wait && cat /tmp/server' </dev/null
	is "$dir/err" ''
	[[ $(grep -cx '4: ACTIVE' "$dir/out") == 2 ]]
	grep -qxE 'fe80:0000:0000:0000(:[0-9a-f]{4}){4}' "$dir/out"
	grep -qx '0000:0000:0000:0000:0000:ffff:c000:0201' "$dir/out"
	grep -qx '2001:0db8:0000:0000:0000:0000:0000:0001' "$dir/out"
	[[ $(grep -c '^10 iters' "$dir/out") == 2 ]]
}

writes_only_where_told() {
	mkdir "$scratch/a, b"
	export SOFTROCE_TEST='one two' SOFTROCE_OTHER=x
	# shellcheck disable=SC2016 # expanded in the guest
	ends 77 guest --write "$scratch/a, b" --env SOFTROCE_TEST --env NEW="a'b" sh -c '
		for file in "$1/refused" /etc/refused "$2/written" /tmp/written /run/written; do
			(echo "$NEW" >"$file") 2>/dev/null && echo "${file##*/}"
		done
		pwd; echo "$HOME $LANG $SOFTROCE_TEST $SOFTROCE_OTHER."; exit 77' sh "$PWD" "$scratch/a, b" </dev/null
	is "$dir/out" "written
written
written
$PWD
/tmp C.UTF-8 one two .
"
	is "$scratch/a, b/written" $'a\'b\n'
}

# Inside the guest softroce finds a device, which is not its own; without it, and with the driver, it makes one
# and removes it.
needs_no_guest_where_there_is_a_device() {
	ends 0 guest sh -c 'tools/softroce --print; tools/softroce sh -c "exit 9"; echo $?
		tools/softroce --timeout 1 sleep 99; echo $?
		tools/softroce --host rxe true; echo $?; ls /sys/class/infiniband
		rdma link delete rxe0; ip link delete veth0
		tools/softroce --print; tools/softroce sh -c "ls /sys/class/infiniband; exit 9"; echo $?
		ls /sys/class/infiniband; ip -brief link | wc -l' </dev/null
	is "$dir/out" $'direct\n9\n124\n125\nrxe0\nrxe\nrxe0\n9\n1\n'
	# shellcheck disable=SC2016 # told to the user
	is "$dir/err" 'softroce: time limit of 1 s reached; stopped: sleep 99
softroce: this host has a rxe0 already: remove it with `rdma link delete rxe0`, or use --host qemu
'
}

# xt_LOG asks for nf_log_syslog only softly, and libcrc32c, which Linux 7 no longer has, for crc32c, a name that no
# module bears. A dash in a name counts as _.
inserts_modules_with_what_they_need() {
	local last=(libcrc32c crc32c_generic)
	[[ $kernel != sid ]] || last=(lrw gf128mul)
	# shellcheck disable=SC2016 # expanded in the guest
	ends 0 guest --module "${last[0]}" --module sch-netem --module xt_LOG sh -c \
		'for name; do grep -o "^$name " /proc/modules; done' sh "${last[@]}" sch_netem xt_LOG nf_log_syslog </dev/null
	is "$dir/out" "$(printf '%s \n' "${last[@]}" sch_netem xt_LOG nf_log_syslog)"$'\n'
	is "$dir/err" ''
}

# The kernel has rxe before anything that --module names. What it says goes to its log, and from there to us.
tells_a_refused_module() {
	echo rubbish >"$scratch/rubbish.ko"
	ends 125 guest --module "$scratch/rubbish.ko" --module ib_core --module "$1" echo unheard </dev/null
	is "$dir/out" ''
	grep -q '^Invalid ELF header' "$dir/err"
	sed -i '/^Invalid ELF header/d' "$dir/err"
	is "$dir/err" "softroce: in the guest: insmod: can't insert '/modules/rubbish.ko': invalid module format
insmod: can't insert '/modules/rdma_rxe.ko': File exists
"
}

stops_at_the_time_limit() {
	ends 124 guest --timeout 2 sleep 600 </dev/null
	is "$dir/err" $'softroce: time limit of 2 s reached; stopped: sleep 600\n'
}

# Output is there while the command still runs; then softroce is ended by a signal.
streams_until_ended_by() {
	local line pid code=0
	export TMPDIR=$scratch/$1
	mkdir "$TMPDIR"
	mkfifo "$TMPDIR/stream"
	tools/softroce --host qemu --kernel "$kernel" sh -c 'echo started; sleep 600' </dev/null >"$TMPDIR/stream" 2>/dev/null &
	pid=$!
	read -r -t 1000 line <"$TMPDIR/stream"
	[[ $line == started ]]
	kill "-$1" "$pid"
	wait "$pid" || code=$?
	[[ $code == "$2" ]]
	await_no_process_in "$TMPDIR"
}

leaves_nothing_behind() {
	[[ -z $(ls "$TMPDIR") ]]
	no_process_in "$TMPDIR"
}

# A path that holds what softroce needs before it looks for QEMU, and nothing else.
without_qemu() {
	local name
	mkdir "$scratch/bin"
	for name in cat dirname realpath; do
		ln -s "$(command -v "$name")" "$scratch/bin/"
	done
	PATH=$scratch/bin tools/softroce --host qemu true
}

# The kernel's first use downloads it, which is no part of what is measured or compared.
tools/softroce --kernel "$kernel" --headers >/dev/null || exit 1

soon ok "exit status, stdout and stderr arrive unchanged and apart" keeps_output_apart
soon ok "bytes pass through unchanged, and death by a signal is 128 and its number" passes_bytes_and_signals
soon ok "two devices, with GIDs of every kind, reach each other" has_two_devices
soon ok "the host's files are read-only but for --write; the environment is what was asked for" \
	writes_only_where_told
soon ok "a device that is there is used, and a driver that is there makes one" \
	needs_no_guest_where_there_is_a_device
soon ok "modules of the kernel's own bring what they need" inserts_modules_with_what_they_need
soon ok "a module that the kernel refuses ends the run, and is told" \
	tells_a_refused_module "$(tools/softroce --kernel "$kernel" --headers | sed 's|/usr/src/.*||')/modules/rdma_rxe.ko"
soon ok "the time limit ends the guest with 124" stops_at_the_time_limit
soon ok "output streams, and SIGTERM leaves no process" streams_until_ended_by TERM 143
soon ok "output streams, and even SIGKILL leaves no process" streams_until_ended_by KILL 137
while tap_wait; do :; done
ok "nothing is left of all these runs" leaves_nothing_behind

fails "an unknown option is refused" "unknown option --nonsense" tools/softroce --nonsense true
fails "a missing value is refused" "--timeout needs a value" tools/softroce --timeout
fails "a wrong value is refused" "--devices takes 1 or 2, not '3'" tools/softroce --devices=3 true
fails "an unknown driver is refused" "--driver takes rxe or siw, not 'mlx5'" tools/softroce --driver mlx5 true
fails "siw needs the guest" "--driver siw is for the way qemu only" tools/softroce --driver siw --host direct true
fails "no module of that name" "has no module nosuch here" guest --module nosuch true
fails "no file of that name" "cannot read the module ./nosuch.ko" guest --module ./nosuch.ko true
fails "no command is refused" "no command" tools/softroce
fails "a missing program is told by its package" "install the Debian package qemu-system-x86" without_qemu
done_testing
