# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154,SC2164 # variables of softroce, which sources this under errexit
#
# softroce's machine in QEMU, seen from the host: what it is made of, its start, and how it ends. Its own half is
# init. In $run, a directory of this run, are:
#
#     initramfs             what it boots into
#     in, out, err          COMMAND's input and outputs, as pipes
#     control.in, .out      two pipes for a short talk: the guest says that it is ready, and gets a line with the
#                           terminal's rows and columns, and another one whenever they change
#     status                COMMAND's exit status; or 125 and, from the second line on, why
#     qemu, console         what QEMU and the guest's kernel say
#     late, unread          exists if QEMU was stopped at the time limit, or because its output is no longer read

# --- Modules ------------------------------------------------------------------------------------

# What the guest's init inserts: virtio and 9p for its root, then RDMA. Up to Linux 6.13 rxe asks for crc32 by name.
readonly base_modules=(virtio_pci virtio_console 9pnet_virtio 9p overlay ib_core ib_uverbs rdma_ucm veth)
readonly rxe_modules=(crc32 rdma_rxe)

# read_modules: take in an index, as index_modules prints it. Of several modules with the same other name, which are
# one algorithm's, the one counts that needs no particular processor.
declare -A module_before=() module_after=() module_alias=() module_done=()
read_modules() {
	local list module name rest what
	while read -r module what rest; do
		case $what in
		depends) module_before[$module]+=" $rest" ;;
		softdep)
			for name in $rest; do
				case $name in
				pre:) list=module_before ;;
				post:) list=module_after ;;
				*) declare -g "${list}[$module]+= $name" ;;
				esac
			done
			;;
		alias) [[ -v module_alias[$rest] && $module != *_generic ]] || module_alias[$rest]=$module ;;
		esac
	done
}

# find_module NAME: set $module to the kernel's own module of that name or other name; fail if it has none.
find_module() {
	module=${1//-/_}
	[[ -e $kernel/modules/$module.ko ]] || module=${module_alias[$module]-}
	[[ -n $module ]]
}

# order_modules NAME...: print NAMEs and all they need, in the order of insertion. What is no module is built into
# this kernel.
order_modules() {
	local module name
	for name; do
		find_module "$name" || continue
		[[ ! -v module_done[$module] ]] || continue
		module_done[$module]=yes
		# shellcheck disable=SC2086 # a list of words
		order_modules ${module_before[$module]-}
		echo "$module"
		# shellcheck disable=SC2086 # a list of words
		order_modules ${module_after[$module]-}
	done
}

# collect_modules DIR: put what will be inserted there, and the order into DIR/order. --module's files come last.
collect_modules() {
	local files=() module name names=("${base_modules[@]}")
	read_modules <"$kernel/modules.index"
	if [[ $driver == siw ]]; then
		modules=("$kernel/siw/siw.ko" "${modules[@]}")
	else
		names+=("${rxe_modules[@]}")
	fi
	for name in "${modules[@]}"; do
		if [[ $name == *.ko ]]; then
			[[ -r $name ]] || die "--module: cannot read $name"
			files+=("$name")
			read_modules < <(index_modules "$name")
			name=${name##*/} name=${name%.ko} name=${name//-/_}
			# shellcheck disable=SC2206 # lists of words
			names+=(${module_before[$name]-} ${module_after[$name]-})
		else
			find_module "$name" || grep -qxF "${name//-/_}" "$kernel/modules.builtin" ||
				die "--module: Linux $(cat "$kernel/version") has no module $name here; a file's name ends in .ko"
			names+=("$name")
		fi
	done
	order_modules "${names[@]}" | while read -r module; do
		cp "$kernel/modules/$module.ko" "$1/"
		echo "$module.ko"
	done >"$1/order"
	for name in "${files[@]}"; do
		cp "$name" "$1/"
		echo "${name##*/}" >>"$1/order"
	done
}

# --- What it boots ------------------------------------------------------------------------------

# make_initramfs: the guest's init, its wishes, busybox and modules, as one cpio archive.
make_initramfs() {
	local root=$run/root
	mkdir -p "$root"/{bin,dev,proc,sys,root,modules,softroce}
	cp "$kernel/busybox" "$root/bin/"
	cp "$share/softroce.d/init" "$root/init"
	chmod 755 "$root/init"
	collect_modules "$root/modules"
	write_wishes "$root/softroce"
	(cd "$root" && find . | "$kernel/busybox" cpio -o -H newc 2>/dev/null) >"$run/initramfs"
	rm -r "$root"
}

write_wishes() {
	local n stderr=pipe where
	where=$(pwd -P)
	[[ $terminal == no || ! -t 2 ]] || stderr=terminal
	{
		printf '%s=%q\n' DRIVER "$driver" DEVICES "$devices" IP "$(command -v ip)" RDMA "$(command -v rdma)" \
			ON_TERMINAL "$terminal" STDERR "$stderr" VISIBLE "$(hidden_part "$where")"
	} >"$1/config"
	for n in "${!writable[@]}"; do
		printf '%s\n' "${writable[n]}" >"$1/write.$n"
	done
	{
		printf 'export %q\n' "PATH=$PATH" HOME=/tmp LANG=C.UTF-8 "TERM=${TERM:-dumb}" "${environment[@]}"
		printf 'cd %q || exit 125\n' "$where"
		echo 'unset OLDPWD SHLVL'
		printf 'command=('
		printf ' %q' "${command[@]}"
		echo ' )'
	} >"$1/command"
}

# The part of a path that the guest's tmpfs would hide: /run/x of /run/x/y/z.
hidden_part() {
	local part=${1#/run/}
	[[ $part == "$1" ]] || echo "/run/${part%%/*}"
}

# What matters: messages go to the log, a panic ends the guest. The rest saves time under emulation.
readonly kernel_parameters='console=ttyS0 quiet loglevel=4 panic=-1 mitigations=off tsc=reliable
	no_timer_check cryptomgr.notests lsm=capability nowatchdog'

qemu_arguments() {
	local n path cpu=max
	# Under emulation a smaller processor is faster: programs choose no AVX, which is emulated slowly.
	[[ $accel != tcg ]] || cpu=Nehalem
	printf '%s\n' -nodefaults -no-user-config -display none -monitor none -no-reboot \
		-accel "$accel" -cpu "$cpu" -smp "$cpus" -m "$memory" \
		-kernel "$kernel/vmlinuz" -initrd initramfs \
		-append "${kernel_parameters//[[:space:]]/ }" \
		-chardev file,id=console,path=console -serial chardev:console \
		-device virtio-serial-pci \
		-chardev file,id=err,path=err -device virtserialport,chardev=err,name=err \
		-chardev file,id=status,path=status -device virtserialport,chardev=status,name=status \
		-chardev pipe,id=control,path=control -device virtserialport,chardev=control,name=control \
		-fsdev local,id=root,path=/,security_model=none,readonly=on,multidevs=remap \
		-device virtio-9p-pci,fsdev=root,mount_tag=root
	# QEMU's own input and output are $run/in and $run/out: one device for a terminal, else two.
	printf '%s\n' -chardev stdio,id=in,signal=off
	if [[ $terminal == yes ]]; then
		printf '%s\n' -device virtconsole,chardev=in,name=terminal
	else
		printf '%s\n' -device virtserialport,chardev=in,name=in \
			-chardev file,id=out,path=out -device virtserialport,chardev=out,name=out
	fi
	for n in "${!writable[@]}"; do
		path=${writable[n]//,/,,}
		printf '%s\n' -fsdev "local,id=w$n,path=$path,security_model=none,multidevs=remap" \
			-device "virtio-9p-pci,fsdev=w$n,mount_tag=w$n"
	done
}

# --- Its life -----------------------------------------------------------------------------------

# child COMMAND...: replace this background process by COMMAND, which the kernel kills when the
# script ends, however it ends. The test is for a script that ended before that was arranged.
child() {
	exec {hold}>&- {output}>&-
	# shellcheck disable=SC2016 # expanded by the inner shell
	exec setpriv --pdeathsig KILL -- sh -c '[ "$PPID" = "$0" ] && exec "$@"' "$$" "$@"
}

# Of the input pipe this process holds both ends until the guest is ready: nothing is read for one that is not.
make_pipes() {
	mkfifo "$run"/{in,out,err,control.in,control.out}
	exec {control}<>"$run/control.in" {answer}<>"$run/control.out" {hold}<>"$run/in"
}

# QEMU waits for the readers of its pipes, so that it can start first and they know whom to stop: at
# the time limit, or when the output is no longer read.
start_guest() {
	local arguments left=$limit
	mapfile -t arguments < <(qemu_arguments)
	exec {output}<>"$run/out"
	(cd "$run" && child "$qemu_program" "${arguments[@]}") <"$run/in" 1>&"$output" 2>"$run/qemu" &
	qemu=$!
	child_or_stop unread 0 cat "$run/out" &
	out=$!
	child_or_stop unread 0 cat "$run/err" >&"$tell" &
	err=$!
	[[ $limit == infinity ]] || left=$((limit > SECONDS ? limit - SECONDS : 0))
	child_or_stop late never sleep "$left" </dev/null >/dev/null &
	timer=$!
	children=("$qemu" "$out" "$err" "$timer")
}

# child_or_stop WHY CODE COMMAND...: a child that stops QEMU if COMMAND ends with a status other than CODE, and
# leaves the file WHY to tell so. Were COMMAND to outlive it, the remover would wait for COMMAND, so that does not hold
# the remover up. COMMAND opens pipes itself: this process would wait for QEMU there, and outlive a script that is killed.
child_or_stop() {
	exec {held}>&-
	# shellcheck disable=SC2016 # expanded by the inner shells
	child sh -c 'qemu=$1 why=$2 code=$3; shift 3
		setpriv --pdeathsig KILL -- sh -c '\''[ "$PPID" = "$0" ] && exec "$@"'\'' "$$" "$@"
		[ "$?" = "$code" ] || { : >"$why"; kill -KILL "$qemu"; exit 1; }' sh "$qemu" "$run/$1" "${@:2}"
}

is_running() {
	kill -0 "$1" 2>/dev/null
}

# A signal, such as the window's new size, ends a wait early.
wait_for_qemu() {
	while is_running "$qemu"; do
		wait "$qemu" || :
	done
}

# Start the guest and wait until it is ready. Now and then a kernel crashes under emulation while it boots; nothing is
# lost then by another try.
boot_guest() {
	local try word
	SECONDS=0
	for ((try = 1; ; try++)); do
		start_guest
		await_guest
		[[ -z $word ]] || break
		[[ ! -s $run/status && ! -e $run/late && ! -e $run/unread ]] || return 0
		grep -q 'Kernel panic' "$run/console" || return 0
		((try < 3)) || return 0
		say "the guest's kernel crashed while it booted; trying again"
		end_children
	done
	booted=yes
	let_it_run
}

# The guest says one word. The time limit may cut it, or lose a letter of it, so any part of it will do. A signal that
# ends the script may crash bash 5.2 during `read -t` with a time, and confuse it during a command substitution. It may
# end a `wait`.
await_guest() {
	local what version=
	word=
	read -r version <"$kernel/version" || :
	what="booting Linux $version in QEMU (3 to 30 s)"
	[[ -t $tell ]] || say "$what ..."
	while [[ -z $word ]] && is_running "$qemu"; do
		show "$what: $SECONDS s"
		if read -r -t 0 <&"$answer"; then
			read -r -n 1 word <&"$answer" || :
		else
			sleep 0.5 &
			wait "$!" || :
		fi
	done
	unshow
	[[ $terminal == no ]] || let_it_block
	exec {output}>&-
}

# QEMU makes its stdout non-blocking, and drops of a console's output what does not go out at once. Its stdout is shared
# until here, so it can be made blocking again.
let_it_block() {
	perl -e 'fcntl(STDOUT, 4, 0) or die' >&"$output" # F_SETFL
}

# Nothing of COMMAND comes before this, so it does not mix with our words.
let_it_run() {
	child cat <&0 >&"$hold" &
	children+=("$!")
	exec {hold}>&-
	if [[ $terminal == yes ]]; then
		[[ -n $timeout ]] || stop_timer
		take_terminal
		trap tell_size WINCH
		tell_size
	else
		echo >&"$control"
	fi
}

# A session at a terminal has no time limit unless the user sets one; its boot has.
stop_timer() {
	kill -KILL "$timer" || :
	wait "$timer" || :
}

# The guest's terminal does the echo and turns Ctrl-C into a signal, so this one must not. A process of its own puts
# it right again when this one ends, however it ends.
take_terminal() {
	local input saved
	saved=$(stty --save)
	exec {input}<&0
	exec {guard}> >(trap '' HUP INT QUIT TERM TTOU; read -r _ || stty "$saved" <&"$input")
	guardian=$!
	exec {input}<&-
	stty raw -echo
}

release_terminal() {
	[[ -n $guard ]] || return 0
	exec {guard}>&-
	guard=
	wait "$guardian" || :
}

tell_size() {
	stty size >&"$control"
}

# A reader may itself be stuck for as long as softroce runs, so after the time limit it gets two seconds.
watch_guest() {
	local try
	wait_for_qemu
	# If QEMU never opened the pipes, this gives their readers an end to read.
	: <>"$run/out" <>"$run/err"
	if [[ ! -e $run/late ]]; then
		{ wait "$out" && wait "$err"; } || finish 141
		return
	fi
	for ((try = 0; try < 20; try++)); do
		is_running "$out" || is_running "$err" || break
		sleep 0.1
	done
	release_terminal
	[[ $booted == yes ]] ||
		die_with 124 "the machine did not boot within the time limit of $limit s, and ${command[0]} was not run; raise --timeout"
	say_timeout "$limit"
	finish 124
}

# What this process leaves, whatever happens.
cleanup() {
	[[ $booted == yes ]] || unshow
	release_terminal
	end_children
	[[ -z $console || ! -e $run/console ]] || cp "$run/console" "$console" || :
	exec {held}>&-
	wait "$remover" || :
}

# give_status: end as the guest did.
give_status() {
	local code='' why=''
	[[ ! -e $run/status ]] || { read -r code && why=$(cat); } <"$run/status" || :
	[[ -z $why ]] || die "in the guest: $why"
	if [[ -z $code ]]; then
		tail -n 20 "$run/qemu" "$run/console" >&"$tell" || :
		die "the guest ended without a result; its last words are above"
	fi
	finish "$code"
}

# Fedora's relatives have one that is made for KVM, and not in PATH.
find_qemu() {
	qemu_program=$(type -P qemu-system-x86_64) || qemu_program=/usr/libexec/qemu-kvm
	[[ -x $qemu_program ]] || need qemu-system-x86_64 qemu-system-x86
}

check_needs() {
	local dir
	find_qemu
	need ip iproute2
	need rdma iproute2
	[[ $accel != kvm || (-r /dev/kvm && -w /dev/kvm) ]] || die "--accel kvm: you may not open /dev/kvm"
	[[ -z $console ]] || { : >>"$console"; } 2>/dev/null || die "--console: cannot write to $console"
	for dir in "${writable[@]}"; do
		mkdir -p "$dir" 2>/dev/null || [[ -d $dir ]] || die "--write: cannot create $dir"
		[[ -w $dir ]] || die "--write: cannot write to $dir"
	done
}

run_qemu() {
	booted=no guard='' limit=${timeout:-$default_timeout} terminal=no
	((limit > 0)) || limit=infinity
	[[ ! -t 0 || ! -t 1 ]] || terminal=yes
	check_needs
	prepare_kernel
	[[ $driver != siw ]] || prepare_siw
	run=$(mktemp -d "${TMPDIR:-/tmp}/softroce.XXXXXX") ||
		die "cannot make a directory in ${TMPDIR:-/tmp}: set TMPDIR to a writable directory"
	# A process of its own removes it once this one and its children have ended, however they end.
	exec {held}> >(trap '' HUP INT QUIT TERM; read -r _ || rm -rf "$run")
	remover=$!
	at_end=cleanup
	make_initramfs
	make_pipes
	# The shell would report each child that is killed.
	exec {tell}>&2 2>/dev/null
	boot_guest
	watch_guest
	release_terminal
	give_status
}
