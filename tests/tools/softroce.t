#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The Soft-RoCE machine keeps its promises: what goes in, what comes out, what stays outside, and that
# nothing outlives it. The runs in QEMU go two at a time, which also shows that they do not disturb each
# other. RDMAEZ_KERNEL chooses the kernel.
#
# Nightly: two minutes, and every test of a device needs the machine anyway.

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
		for file in /usr/refused /etc/refused "$1/written" /tmp/written /run/written; do
			(echo "$NEW" >"$file") 2>/dev/null && echo "${file##*/}"
		done
		pwd; echo "$HOME $LANG $SOFTROCE_TEST $SOFTROCE_OTHER."; exit 77' sh "$scratch/a, b" </dev/null
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
		tools/softroce --host direct true; echo $?; cp --recursive tools /run
		setpriv --reuid 65534 /run/tools/softroce --host rxe true; echo $?
		tools/softroce --print; tools/softroce sh -c "ls /sys/class/infiniband; exit 9"; echo $?
		ls /sys/class/infiniband; ip -brief link | wc -l' </dev/null
	is "$dir/out" $'direct\n9\n124\n125\nrxe0\n125\n125\nrxe\nrxe0\n9\n1\n'
	# shellcheck disable=SC2016 # told to the user
	is "$dir/err" 'softroce: time limit of 1 s reached; stopped: sleep 99
softroce: this host has a rxe0 already: remove it with `rdma link delete rxe0`, or use --host qemu
softroce: --host direct: this host has no RDMA device; --host qemu needs none of this
softroce: --host rxe: only root can make a device; --host qemu needs none of this
'
}

# xt_LOG, by another name, asks for nf_log_syslog only softly, and libcrc32c, which Linux 7 no longer has, for crc32c,
# a name that no module bears. ipmi_msghandler asks for ipmi_devintf to follow it. A dash in a name counts as _. What is built
# in, is there already.
inserts_modules_with_what_they_need() {
	local last=(libcrc32c crc32c_generic) more=(sch_netem xt_LOG nf_log_syslog ipmi_msghandler ipmi_devintf)
	[[ $kernel != sid ]] || last=(lrw gf128mul)
	# shellcheck disable=SC2016 # expanded in the guest
	ends 0 guest --module "${last[0]}" --module sch-netem --module ipt_LOG --module ipmi_msghandler --module "$(built_in)" \
		sh -c 'for name; do grep -o "^$name " /proc/modules; done' sh "${last[@]}" "${more[@]}" </dev/null
	is "$dir/out" "$(printf '%s \n' "${last[@]}" "${more[@]}")"$'\n'
	is "$dir/err" ''
}

built_in() {
	head -n 1 "$entry/modules.builtin"
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

# The limit counts from the start, so the command gets what the boot leaves.
stops_at_the_time_limit() {
	ends 124 guest --timeout 90 sleep 600 </dev/null
	is "$dir/err" $'softroce: time limit of 90 s reached; stopped: sleep 600\n'
}

stops_a_boot_at_the_time_limit() {
	ends 124 guest --timeout 1 echo unheard </dev/null
	is "$dir/out" ''
	is "$dir/err" 'softroce: the machine did not boot within the time limit of 1 s, and echo was not run; raise --timeout
'
}

# QEMU, but that the kernel crashes in the first $1 of its runs; the input of those is not lost.
boots_again() {
	local bin real
	bin=$(mktemp -d "$scratch/crash.XXXX")
	real=$(type -P qemu-system-x86_64)
	cat >"$bin/qemu-system-x86_64" <<-END
		#!/bin/sh
		echo >>"$bin/runs"
		[ "\$(wc -l <"$bin/runs")" -gt "$1" ] || { echo "Kernel panic - not syncing" >console; exit 0; }
		exec "$real" "\$@"
	END
	chmod +x "$bin/qemu-system-x86_64"
	ends "$2" env PATH="$bin:$PATH" tools/softroce --host qemu --kernel "$kernel" --timeout 0 cat < <(echo heard)
	[[ $(grep -cxF "softroce: the guest's kernel crashed while it booted; trying again" "$dir/err") == 2 ]]
	[[ $(wc -l <"$bin/runs") == 3 ]]
}

boots_at_the_third_try() {
	boots_again 2 0
	is "$dir/out" $'heard\n'
}

boots_three_times_at_most() {
	boots_again 9 125
	is "$dir/out" ''
	grep -qx 'softroce: the guest ended without a result; its last words are above' "$dir/err"
}

# Before anything of the command, and quiet if told so.
tells_that_it_boots() {
	ends 0 tools/softroce --host qemu --kernel "$kernel" --timeout 0 sh -c 'echo heard >&2' </dev/null
	is "$dir/err" "softroce: booting Linux $(cat "$entry/version") in QEMU (3 to 30 s) ..."$'\nheard\n'
}

# A program in the host's /tmp runs, and what is written there stays in the guest, whether it is new or not. No file of
# the host's is in /run.
shows_the_hosts_tmp() {
	local here
	here=$(mktemp -d /tmp/softroce-test.XXXXXX)
	# shellcheck disable=SC2016 # expanded in the guest
	printf '#!/bin/sh\ncat "$0.data"\n' >"$here/program"
	echo before >"$here/program.data"
	chmod +x "$here/program"
	# shellcheck disable=SC2016 # expanded in the guest
	ends 0 guest sh -c '"$1/program"; echo after >"$1/program.data"; "$1/program"; rm "$1/program"; echo >"$1/new"
		ls "$1"; ls /run' sh "$here" </dev/null
	is "$dir/out" $'before\nafter\nnew\nprogram.data\nsoftroce\n'
	[[ $(ls "$here") == $'program\nprogram.data' && $(cat "$here/program.data") == before ]]
	rm -r "$here"
}

# Installed elsewhere, below a path with a blank, and with a cache below such a path.
runs_where_it_is_installed() {
	local prefix="$scratch/a prefix"
	mkdir -p "$prefix"/{bin,share/rdmaez,cache/softroce}
	cp tools/softroce "$prefix/bin/rdmaez-softroce"
	cp -r tools/softroce.d tools/private-apt "$prefix/share/rdmaez/"
	ln -s "$entry" "$prefix/cache/softroce/$kernel"
	RDMAEZ_CACHE=$prefix/cache ends 0 "$prefix/bin/rdmaez-softroce" --host qemu --kernel "$kernel" -q --timeout 0 \
		cat /sys/class/infiniband/rxe0/ports/1/state </dev/null
	is "$dir/out" $'4: ACTIVE\n'
}

# gives CODE TEXT COMMAND...: COMMAND ends with this status, and says only this.
gives() {
	ends "$1" "${@:3}" </dev/null
	is "$dir/out" ''
	is "$dir/err" "softroce: $2"$'\n'
}

cannot_run() {
	mkdir -p "$scratch/path"
	: >"$scratch/path/plain"
	gives 127 'cannot run nosuch: PATH has no such program' guest nosuch
	gives 127 'cannot run ls: PATH has no such program' guest --env "PATH=$scratch/path" ls
	gives 127 "cannot run $scratch/nosuch: there is no such file" guest "$scratch/nosuch"
	gives 126 "cannot run $scratch/path/plain: it is not executable" guest "$scratch/path/plain"
	gives 126 'cannot run plain: it is not executable' guest --env "PATH=$scratch/path" plain
	gives 126 "cannot run $scratch/path: it is a directory" guest "$scratch/path"
}

# What only the attempt shows is told by the guest's bash.
cannot_run_after_all() {
	mkdir -p "$scratch/path"
	printf '#!/nosuch/interpreter\n' >"$scratch/path/script"
	chmod +x "$scratch/path/script"
	ends 127 guest "$scratch/path/script" </dev/null
	grep -q '^softroce: .*/path/script: ' "$dir/err"
	is "$dir/out" ''
}

fails_with_125() {
	: >"$scratch/file"
	gives 125 "cannot write to $scratch/file/cache: set RDMAEZ_CACHE to a writable directory" \
		env RDMAEZ_CACHE="$scratch/file/cache" tools/softroce --host qemu true
	gives 125 'HOME is not set: set RDMAEZ_CACHE to a writable directory' \
		env -u RDMAEZ_CACHE -u XDG_CACHE_HOME -u HOME tools/softroce --host qemu true
	gives 125 "--console: cannot write to $scratch/file/x" guest --console "$scratch/file/x" true
	gives 125 "--write: cannot create $scratch/file/x" guest --write "$scratch/file/x" true
	ends 125 env TMPDIR="$scratch/nosuch" tools/softroce --host qemu --kernel "$kernel" true </dev/null
	grep -qxF "softroce: cannot make a directory in $scratch/nosuch: set TMPDIR to a writable directory" "$dir/err"
	mkdir -p "$scratch/one blank/softroce"
	ln -s "$entry" "$scratch/one blank/softroce/$kernel"
	gives 125 "to build modules, set RDMAEZ_CACHE to a path that has neither blank nor colon; this one has: $scratch/one blank/softroce" \
		env RDMAEZ_CACHE="$scratch/one blank" tools/softroce --kernel "$kernel" --headers
}

# A cache that somebody has emptied by half.
fails_with_125_in_any_case() {
	mkdir -p "$scratch/half/softroce/$kernel"
	cp "$entry/format" "$scratch/half/softroce/$kernel/"
	ends 125 env RDMAEZ_CACHE="$scratch/half" tools/softroce --host qemu --kernel "$kernel" --quiet true </dev/null
	grep -qx 'softroce: failed unexpectedly, with status 1' "$dir/err"
}

tells_what_it_downloads() {
	mkdir -p "$scratch/apt" "$scratch/new/softroce/.sid.killed"
	printf '#!/bin/sh\necho no network >&2\nexit 100\n' >"$scratch/apt/apt-get"
	chmod +x "$scratch/apt/apt-get"
	ends 125 env RDMAEZ_CACHE="$scratch/new" PATH="$scratch/apt:$PATH" \
		tools/softroce --host qemu --kernel "$kernel" true </dev/null
	grep -qE "^softroce: fetching Debian $kernel's kernel: about [0-9]+ MB .*, once, into$" "$dir/err"
	grep -qFx "softroce:     $scratch/new/softroce/$kernel ..." "$dir/err"
	grep -qx 'no network' "$dir/err"
	grep -qE "^softroce: failed at fetching Debian $kernel's kernel.*; the reason is above$" "$dir/err"
	[[ $(ls -A "$scratch/new/softroce") == lock ]]
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
	for _ in {1..100}; do
		[[ $(ls "$TMPDIR") != stream ]] || return 0
		sleep 0.1
	done
	ls "$TMPDIR"
	return 1
}

# A helper that is slow to arrange that it dies with its parent, when that is ended meanwhile: the fifth setpriv is that
# of a helper's own child.
ends_whatever_its_helpers_do() {
	local bin pid code=0
	export TMPDIR=$scratch/slow
	mkdir -p "$TMPDIR"
	bin=$(mktemp -d "$scratch/bin.XXXX")
	printf '#!/bin/sh\necho >>"%s/calls"\nsleep 1\nexec "%s" "$@"\n' "$bin" "$(type -P setpriv)" >"$bin/setpriv"
	chmod +x "$bin/setpriv"
	PATH=$bin:$PATH tools/softroce --host qemu --kernel "$kernel" -q --timeout 3000 sleep 3000 </dev/null >/dev/null 2>&1 &
	pid=$!
	until [[ -e $bin/calls && $(wc -l <"$bin/calls") -ge 5 ]]; do sleep 0.05; done
	kill -TERM "$pid"
	for _ in {1..300}; do
		kill -0 "$pid" 2>/dev/null || break
		sleep 0.1
	done
	! kill -KILL "$pid" 2>/dev/null || return 1
	wait "$pid" || code=$?
	[[ $code == 143 ]]
	await_no_process_in "$TMPDIR"
}

# Forty times, each at another moment: before it boots, while it boots, and after that. Every other time its children get
# the signal as well, as from timeout.
ends_at_any_moment() {
	local n pid code
	export TMPDIR=$scratch/moments
	mkdir "$TMPDIR"
	for n in {1..40}; do
		setsid tools/softroce --host qemu --kernel "$kernel" -q sleep 600 </dev/null >/dev/null 2>&1 &
		pid=$! code=0
		sleep "$((n / 4)).$((n % 4 * 25))"
		if ((n % 2)); then kill -TERM "$pid"; else kill -TERM -- "-$pid"; fi
		wait "$pid" || code=$?
		((code == 143)) || { echo "number $n ended with $code"; return 1; }
	done
	await_no_process_in "$TMPDIR"
}

# As another distribution has them: the kernel's file, and its modules below a directory of its version, packed.
boots_a_kernel_of_ones_own() {
	local tree=$scratch/own version file
	version=$(cat "$entry/version")
	mkdir -p "$tree/boot" "$tree/lib/modules/$version/kernel/net" "$tree/cache"
	ln -s "$entry/vmlinuz" "$tree/boot/vmlinuz-$version"
	for file in "$entry"/modules/{virtio,9p,netfs,fscache,configfs,overlay,ib_,iw_cm,rdma_,veth,crc,libcrc,udp_tunnel,ip6_udp,failover,net_failover}*.ko; do
		cp "$file" "$tree/lib/modules/$version/kernel/net/"
	done
	gzip "$tree/lib/modules/$version/kernel/net/"{veth,9p}.ko
	cp "$entry/modules.builtin" "$tree/lib/modules/$version/"
	RDMAEZ_CACHE=$tree/cache PATH=$(without_apt):$PATH ends 0 tools/softroce --host qemu --kernel "$tree/boot/vmlinuz-$version" -q \
		--timeout 0 sh -c 'uname -r; ls /sys/class/infiniband' </dev/null
	is "$dir/out" "$version"$'\nrxe0\n'
	ends 125 tools/softroce --kernel "$tree/boot/vmlinuz-$version" --headers
	is "$dir/err" $'softroce: a kernel given as a file comes without headers and source; use --kernel NAME\n'
	rm "$tree/lib/modules/$version/kernel/net/"{9p.ko.gz,rdma_rxe.ko}
	RDMAEZ_CACHE=$tree/other PATH=$(without_apt):$PATH ends 125 tools/softroce --host qemu --kernel "$tree/boot/vmlinuz-$version" true
	grep -q "^Linux $version comes without 9p rdma_rxe: $tree/" "$dir/err"
	printf '#!/bin/sh\n' >"$scratch/no-apt/ldd" # all are linked dynamically
	chmod +x "$scratch/no-apt/ldd"
	RDMAEZ_CACHE=$tree/other PATH=$scratch/no-apt:$PATH ends 125 tools/softroce --host qemu --kernel "$tree/boot/vmlinuz-$version" true
	grep -q 'busybox is not linked statically: install a busybox that is$' "$dir/err"
	rm -r "${tree:?}/lib" "$scratch/no-apt/ldd"
	: >"$tree/boot/empty"
	ends 125 tools/softroce --host qemu --kernel "$tree/boot/empty" true
	is "$dir/err" "softroce: --kernel: $tree/boot/empty is not a kernel for x86-64"$'\n'
}

# A directory with an apt-get that must not be called, and the busybox of the kernel's entry.
without_apt() {
	mkdir -p "$scratch/no-apt"
	printf '#!/bin/sh\nexit 99\n' >"$scratch/no-apt/apt-get"
	chmod +x "$scratch/no-apt/apt-get"
	ln -sf "$entry/busybox" "$scratch/no-apt/busybox"
	echo "$scratch/no-apt"
}

without_files() {
	ends 7 sh -c '"$@" <&- >&- 2>&-' sh tools/softroce --host qemu --kernel "$kernel" \
		sh -c 'cat; echo unheard; echo unheard >&2; exit 7'
	is "$dir/out" ''
	is "$dir/err" ''
}

leaves_nothing_behind() {
	[[ -z $(ls "$TMPDIR") ]]
	no_process_in "$TMPDIR"
}

# A path that holds what softroce needs before it looks for QEMU, and nothing else.
without_qemu() {
	local name
	mkdir "$scratch/bin"
	for name in cat dirname realpath true; do
		ln -s "$(type -P "$name")" "$scratch/bin/"
	done
	PATH=$scratch/bin tools/softroce --host qemu true
}

# The kernel's first use downloads it, which is no part of what is measured or compared.
headers=$(tools/softroce --kernel "$kernel" --headers) || exit 1
entry=${headers%/usr/src/*}

soon ok "exit status, stdout and stderr arrive unchanged and apart" keeps_output_apart
nightly soon ok "bytes pass through unchanged, and death by a signal is 128 and its number" passes_bytes_and_signals
soon ok "two devices, with GIDs of every kind, reach each other" has_two_devices
soon ok "the host's files are read-only but for --write; the environment is what was asked for" \
	writes_only_where_told
soon ok "a device that is there is used, and a driver that is there makes one" \
	needs_no_guest_where_there_is_a_device
soon ok "modules of the kernel's own bring what they need" inserts_modules_with_what_they_need
soon ok "a module that the kernel refuses ends the run, and is told" \
	tells_a_refused_module "$entry/modules/rdma_rxe.ko"
soon ok "the host's /tmp is there, and what is written there is lost" shows_the_hosts_tmp
nightly soon ok "installed, and with blanks in its paths, it runs as well" runs_where_it_is_installed
soon ok "it says that it boots, before the command starts" tells_that_it_boots
soon ok "a kernel that crashes while it boots is booted again" boots_at_the_third_try
nightly soon ok "but not forever" boots_three_times_at_most
nightly soon ok "the time limit ends the guest with 124" stops_at_the_time_limit
soon ok "where it ends the boot, that is told" stops_a_boot_at_the_time_limit
soon ok "output streams, and SIGTERM leaves no process and no file" streams_until_ended_by TERM 143
nightly soon ok "output streams, and even SIGKILL leaves no process and no file" streams_until_ended_by KILL 137
soon ok "SIGTERM ends it, however slow its helpers are" ends_whatever_its_helpers_do
nightly soon ok "SIGTERM ends it at any moment, forty times" ends_at_any_moment
soon ok "a kernel that is a file, with its modules, needs no apt" boots_a_kernel_of_ones_own
soon ok "without stdin, stdout and stderr, COMMAND runs as well" without_files
while tap_wait; do :; done
ok "what cannot be run is told at once, with 126 or 127" cannot_run
ok "so is what only the attempt shows" cannot_run_after_all
ok "its own failures have a next step, and 125" fails_with_125
ok "125 even if it is unforeseen" fails_with_125_in_any_case
ok "a download tells its size and place, and why it fails" tells_what_it_downloads
ok "nothing is left of all these runs" leaves_nothing_behind

fails "an unknown option is refused" "unknown option --nonsense" tools/softroce --nonsense true
fails "a missing value is refused" "--timeout needs a value" tools/softroce --timeout
fails "a wrong value is refused" "--devices takes 1 or 2, not '3'" tools/softroce --devices=3 true
fails "an unknown driver is refused" "--driver takes rxe or siw, not 'mlx5'" tools/softroce --driver mlx5 true
fails "siw needs the guest" "--driver siw works only with --host qemu" tools/softroce --driver siw --host direct true
fails "no module of that name" "has no module nosuch here" guest --module nosuch true
fails "no file of that name" "--module: cannot read ./nosuch.ko" guest --module ./nosuch.ko true
fails "an unknown accelerator is refused" "--accel takes tcg or kvm, not 'hvf'" tools/softroce --accel hvf true
fails "no command is refused" "no command" tools/softroce
fails "a missing program is told by its package" "install the Debian package qemu-system-x86" without_qemu
done_testing
