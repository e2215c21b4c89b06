#!/bin/bash
# SPDX-License-Identifier: MIT
#
# rdmaez-explain: what its options do, and that a program under it is the program it was.

source tests/tap.bash
source tests/tools/explain.bash
# shellcheck source=tests/tools/image.bash
source tests/tools/image.bash
programs copies dlopen process wrong_mask

explains_a_refusal() {
	ends 0 wrong_mask
	[[ $(<"$scratch/out") == 22 ]]
	says '^rdmaez-explain: wrong_mask\[[0-9]+\]: refused at 0x[0-9a-f]+ main\+0x[0-9a-f]+ \(wrong_mask\)$' \
		'^ibv_modify_qp failed with EINVAL \(22\) on fake0, QP [0-9]+, RC, RESET to RTR\.$' 'Next: ' \
		"^rdmaez-explain: wrong_mask\[[0-9]+\]: Linux $(uname -r), libibverbs\.so\.1"
	[[ $(<"$scratch/err") != *rdmaez_* ]]
}

# The address is the call's, as addr2line takes it.
tells_the_line() {
	local address
	ends 0 wrong_mask
	address=$(sed -n 's/.*refused at \(0x[0-9a-f]*\) .*/\1/p' "$scratch/err")
	addr2line --exe=build/tests/explain/wrong_mask "$address" >"$scratch/line"
	cat "$scratch/line"
	[[ $(<"$scratch/line") == */wrong_mask.c:$(sed -n '/ibv_modify_qp/=' tests/tools/explain/wrong_mask.c)* ]]
}

counts_repetitions() {
	ends 0 wrong_mask 30
	[[ $(grep -c ' refused at ' "$scratch/err") == 1 ]]
	says '\]: 30 refusals \(ibv_modify_qp EINVAL 30\)$'
}

# exported FILE: names and versions of what it defines, "ibv_open_device IBVERBS_1.1".
exported() {
	readelf --wide --dyn-syms "$1" | awk '$7 ~ /^[0-9]+$/ && $4 != "NOTYPE" { sub(/@+/, " ", $8); print $8 }' | sort -u
}

# names_agree OBJECT: what libibverbs has at 1.0 and again at 1.1 is the object's at 1.1 alone; all else has no version.
names_agree() {
	local library
	library=$(gcc -print-file-name=libibverbs.so)
	exported "$library" >"$scratch/library"
	awk '$2 == "IBVERBS_1.0" { old[$1] } $2 == "IBVERBS_1.1" { new[$1] }
		END { for (name in old) if (name in new) print name, "IBVERBS_1.1" }' "$scratch/library" | sort >"$scratch/doubled"
	[[ $(wc -l <"$scratch/doubled") -gt 30 ]]
	exported "$1" | grep -vE '^[A-Z]|^(mlx|efa|hns)' >"$scratch/ours"
	[[ $(wc -l <"$scratch/ours") -gt 50 ]]
	diff <(join -a 1 -o 1.1,2.2 "$scratch/ours" "$scratch/doubled" | sed 's/ *$//') "$scratch/ours"
	diff <(cut -d ' ' -f 1 "$scratch/doubled") <(grep -oE '\<ibv_\w+' tools/explain/explain.map | sort)
}

# wrong_names C: what an object with this function exports.
wrong_names() {
	local name
	{
		echo "$1"
		for name in {1..60}; do
			echo "void filler_$name(void) {}"
		done
	} | gcc -shared -fPIC -x c - -o "$scratch/wrong.so"
	names_agree "$scratch/wrong.so"
}

# A program of 2006 gets the library's own functions, with or without a device.
leaves_old_programs_alone() {
	gcc -x c - -o "$scratch/old" -Wl,--no-as-needed -libverbs -ldl <<-'END'
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <stdio.h>
		#include <string.h>
		int old(void);
		int new(void);
		__asm__(".symver old, ibv_close_device@IBVERBS_1.0");
		__asm__(".symver new, ibv_close_device@IBVERBS_1.1");
		static const char *home(int (*function)(void))
		{
			Dl_info info;
			return dladdr((void *)function, &info) ? strrchr(info.dli_fname, '/') + 1 : "?";
		}
		int main(void)
		{
			printf("%s %s\n", home(old), home(new));
			return 0;
		}
	END
	LD_LIBRARY_PATH='' ends 0 "$scratch/old"
	diff "$scratch/out" - <<<'libibverbs.so.1 rdmaez-explain.so'
}

# --- Options ------------------------------------------------------------------------------------

writes_lines() {
	ends 0 --line wrong_mask 2
	diff <(sed -E 's/pid=[0-9]+/pid=N/; s/0x[0-9a-f]+/0xN/g; s/qp=[0-9]+/qp=N/' "$scratch/err") - <<-'END'
		program=wrong_mask pid=N kind=refusal caller=0xN symbol=main+0xN object=wrong_mask call=ibv_modify_qp error=EINVAL device=fake0 qp=N type=RC from=RESET to=RTR finding=likely:TRANSITION:qp_state:state:RTR:RESET|INIT
		program=wrong_mask pid=N kind=summary refusals=2 queries=0 completions=0 events=0 cm=0 advice=0 unshown=0 probes=0 later=0 flushes=0 qp_errors=0 unseen=0 direct=0 inner=0
	END
}

# valid FILE: each line of it follows the schema.
valid() {
	local line n=0
	while IFS= read -r line; do
		n=$((n + 1))
		jq . <<<"$line" >"$scratch/$n.json"
		/usr/bin/python3 -m jsonschema --error-format $'{error.json_path}: {error.message}\n' \
			--instance "$scratch/$n.json" docs/schema/explain.schema.json
	done <"$1"
	((n > 0))
}

writes_json() {
	ends 0 --json "$scratch/json" wrong_mask 2
	says 'ibv_modify_qp failed with EINVAL' '2 refusals'
	valid "$scratch/json"
	[[ $(jq -r '[.kind, .record.call // "", .record.errno // "", .totals.refusal // 0] | join(" ")' "$scratch/json") == \
		$'refusal ibv_modify_qp EINVAL 0\nstate   0\nsummary   2' ]]
}

summarizes_in_json() {
	ends 0 --json "$scratch/json.well" wrong_mask 0
	silent
	valid "$scratch/json.well"
	[[ $(jq -r '.kind, .totals.refusal' "$scratch/json.well") == $'state\nnull\nsummary\n0' ]]
}

# refuses FILTER: what the filter makes of a good line is against the schema.
refuses() {
	jq -c "$1" "$scratch/json" >"$scratch/bad"
	valid "$scratch/bad"
}

writes_a_log() {
	ends 0 --log "$scratch/log" process fork
	silent
	[[ $(grep -c ' refused at ' "$scratch/log") == 3 && $(grep -c '1 refusal' "$scratch/log") == 1 ]]
	ends 0 --log "$scratch/log" wrong_mask
	[[ $(grep -c ' refused at ' "$scratch/log") == 1 ]]
}

cannot_write_the_log() {
	ends 125 "$1" "$scratch/none/log" wrong_mask
	says "^rdmaez-explain: $scratch/none/log: No such file or directory$"
	[[ ! -s $scratch/out ]]
}

# Its own end of the pipe is the command's standard output, too.
writes_to_a_pipe() {
	build/tools/rdmaez-explain --json /dev/stdout wrong_mask 2>"$scratch/err" | cat >"$scratch/json.pipe"
	says 'ibv_modify_qp failed with EINVAL'
	[[ $(jq -r 'objects | .kind' "$scratch/json.pipe") == $'refusal\nstate\nsummary' ]]
}

# A FIFO that nobody reads any longer holds neither the command nor its end.
writes_where_nobody_reads() {
	mkfifo "$scratch/fifo"
	head --lines=1 "$scratch/fifo" >"$scratch/first" &
	timeout 20 build/tools/rdmaez-explain --log "$scratch/fifo" sh -c 'wrong_mask; sleep 1; wrong_mask' \
		>"$scratch/out" 2>"$scratch/err"
	wait
	silent
	[[ $(<"$scratch/out") == $'22\n22' && $(<"$scratch/first") == *' refused at '* ]]
}

tells_that_the_disk_is_full() {
	ends 0 "$1" /dev/full wrong_mask
	[[ $(<"$scratch/out") == 22 ]]
	says '^rdmaez-explain: /dev/full: No space left on device$'
	[[ $(grep -c 'No space' "$scratch/err") == 1 ]]
}

reports_one_kind() {
	ends 0 --only completion --only event wrong_mask
	silent
	ends 0 --only refusal wrong_mask
	says 'failed with EINVAL'
}

summarizes_success() {
	ends 0 wrong_mask 0
	silent
	ends 0 --summary wrong_mask 0
	[[ $(<"$scratch/err") =~ ^'rdmaez-explain: wrong_mask['[0-9]+']: nothing was refused'$ ]]
}

helps() {
	local option
	ends 0 "$1"
	silent
	[[ $(wc -l <"$scratch/out") -le 24 ]]
	awk 'length > 80 { print; exit 1 }' "$scratch/out"
	while read -r option; do
		grep -q -- "--$option" "$scratch/out"
	done < <(sed -nE 's/.*\{"([a-z]+)", (no|required)_argument.*/\1/p' tools/explain/main.c)
}

# misused WORDS ARG...: one line that says so, and nothing runs.
misused() {
	ends 2 "${@:2}"
	[[ $(wc -l <"$scratch/err") == 1 && ! -s $scratch/out ]]
	says "^rdmaez-explain: $1; --help lists the options$"
}

# gdb gets the program where it made the call.
stops() {
	explain --stop gdb -quiet -batch -nx -ex run -ex backtrace -ex continue --args build/tests/explain/wrong_mask 2
	cat "$scratch/out"
	grep -q 'received signal SIGTRAP' "$scratch/out"
	grep -qE 'main .*wrong_mask.c' "$scratch/out"
	[[ $(grep -c 'received signal SIGTRAP' "$scratch/out") == 1 ]]
	grep -q 'exited normally' "$scratch/out"
	says 'failed with EINVAL'
}

stops_without_a_debugger() {
	ends $((128 + 5)) --stop wrong_mask
	says 'failed with EINVAL'
}

# --- How the library is found -------------------------------------------------------------------

# looked_up FILE [plain]: a program that finds the verbs itself gets wrappers for them, and for nothing else.
looked_up() {
	dlopen "$@" >"$scratch/alone"
	ends 0 dlopen "$@"
	[[ $(<"$scratch/out") == '0 22 0 0 1' ]]
	diff "$scratch/alone" "$scratch/out"
	says 'ibv_modify_qp failed with EINVAL'
}

# The dynamic linker's own functions, and those that wait for processes, are found where they are.
leaves_the_linker_alone() {
	gcc -x c - -o "$scratch/linker" -ldl <<-'END'
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <stdio.h>
		#include <string.h>
		static const char *home(const char *name)
		{
			void *const function = dlsym(dlopen("libc.so.6", RTLD_NOW), name);
			Dl_info info;
			return function && dladdr(function, &info) ? strrchr(info.dli_fname, '/') + 1 : "?";
		}
		int main(void)
		{
			dlopen("libibverbs.so.1", RTLD_NOW);
			printf("%s %s %s\n", home("dlsym"), home("dlvsym"), home("waitpid"));
			return 0;
		}
	END
	ends 0 "$scratch/linker"
	diff "$scratch/out" - <<<'libc.so.6 libc.so.6 libc.so.6'
}

elsewhere() {
	mkdir -p "$scratch/elsewhere"
	cp build/tests/fake/libibverbs.so.1 "$scratch/elsewhere/${1:-libibverbs.so.1}"
}

keeps_libraries_apart() {
	local files=(libibverbs.so.1 "$scratch/elsewhere/libibverbs.so.1")
	elsewhere
	copies "${files[@]}" >"$scratch/alone"
	ends 0 copies "${files[@]}"
	diff "$scratch/alone" "$scratch/out"
	[[ $(<"$scratch/out") == '22 22 1 1 1 1 ' ]]
	says 'ibv_modify_qp failed with EINVAL'
}

# --- The command --------------------------------------------------------------------------------

passes_the_status_on() {
	ends "$1" "${@:2}"
	silent
}

# limited WHAT WORDS OPTION...: where the shell's limit WHAT leaves no room, this is said, and nothing runs.
limited() {
	local file
	code=0
	(
		trap '' XFSZ
		# What the shell has inherited counts as well.
		for file in "/proc/$BASHPID/fd"/*; do
			file=${file##*/}
			((file < 3)) || exec {file}>&-
		done
		ulimit "${@:3:2}"
		exec build/tools/rdmaez-explain "${@:5}" echo runs
	) 2>&1 | cat >"$scratch/err" || code=$?
	cat "$scratch/err"
	[[ $code == 125 && $(tail -n 1 "$scratch/err") == "rdmaez-explain: $1: $2" ]]
}

finds_no_room() {
	limited 'memory to share with the command' 'File too large' -f 0
	limited 'memory to share with the command' 'Too many open files' -n 4
	limited 'memory to share with the command' 'Too many open files' -n 5 --waiting 1
	limited pipe 'Too many open files' -n 6
}

# Its own memory takes no place of the standard streams, which the command would take for its own.
leaves_streams_closed() {
	# shellcheck disable=SC2016 # the command's own
	build/tools/rdmaez-explain --waiting 9 sh -c 'find "/proc/${RDMAEZ_EXPLAIN%% *}/fd" -lname "*memfd*" -printf "%f "' \
		<&- >"$scratch/out" 2>"$scratch/err"
	silent
	[[ $(<"$scratch/out") == '3 4 5 ' ]]
}

# Beside the program, and where it is installed.
finds_its_object() {
	local bin=$scratch/prefix/bin object=$PWD/build/tools/rdmaez-explain.so place
	mkdir -p "$bin" "$scratch/prefix/lib/rdmaez" "$scratch/prefix/lib64/rdmaez"
	cp build/tools/rdmaez-explain "$bin"
	code=0
	"$bin/rdmaez-explain" echo runs 2>"$scratch/err" || code=$?
	[[ $code == 125 && $(<"$scratch/err") == 'rdmaez-explain: rdmaez-explain.so: neither beside the program nor in ../lib/rdmaez or ../lib64/rdmaez' ]]
	for place in ../lib64/rdmaez/ ../lib/rdmaez/ ''; do
		ln -s "$object" "$bin/$place/rdmaez-explain.so"
		[[ $("$bin/rdmaez-explain" printenv LD_PRELOAD) == "$bin/${place}rdmaez-explain.so" ]]
	done
	[[ $(LD_PRELOAD=libc.so.6 "$bin/rdmaez-explain" printenv LD_PRELOAD) == "libc.so.6:$bin/rdmaez-explain.so" ]]
	[[ $(LD_PRELOAD='' "$bin/rdmaez-explain" printenv LD_PRELOAD) == "$bin/rdmaez-explain.so" ]]
	mv "$bin" "$scratch/prefix/a bin"
	code=0
	"$scratch/prefix/a bin/rdmaez-explain" echo runs >"$scratch/out" 2>"$scratch/err" || code=$?
	[[ $code == 125 && $(<"$scratch/err") == "rdmaez-explain: $scratch/prefix/a bin/rdmaez-explain.so: LD_PRELOAD takes no path with a space, a colon or a dollar sign" ]]
}

# The values of --waiting and --signal: those that are taken, and those that are not.
takes_values() {
	local value
	for value in 0 1 86400; do
		ends 0 --waiting "$value" true
		silent
	done
	for value in 86401 -1 +1 1x x '' 99999999999999999999; do
		misused "--waiting takes seconds, up to 86400, and not ${value//+/\\+}" --waiting "$value" true
	done
	for value in USR1 USR2 HUP none; do
		ends 0 --signal "$value" true
		silent
	done
	for value in TERM usr1 ''; do
		misused "--signal takes USR1, USR2, HUP or none, and not $value" --signal "$value" true
	done
}

cannot_run() {
	ends "$1" "$2"
	[[ $(<"$scratch/err") == "rdmaez-explain: $2: $3" ]]
}

# signalled SIGNAL: the command gets the signal, and ends.
signalled() {
	local pid
	# A shell's background jobs ignore SIGINT.
	env --default-signal=INT build/tools/rdmaez-explain sh -c \
		"trap 'echo got; exit 9' $1; touch $scratch/up; for i in \$(seq 100); do sleep 0.1; done" \
		>"$scratch/out" 2>"$scratch/err" &
	pid=$!
	until [[ -e $scratch/up ]]; do sleep 0.05; done
	rm "$scratch/up"
	kill -"$1" "$pid"
	code=0
	wait "$pid" || code=$?
	[[ $code == 9 && $(<"$scratch/out") == got ]]
}

# What a terminal sends reaches the command by itself, and ends neither before it ends.
interrupted() {
	local output
	output=$(/usr/bin/python3 - "$PWD/build/tools/rdmaez-explain" <<-'END'
		import os, pty, sys, time
		child, terminal = pty.fork()
		if child == 0:
		    os.execl(sys.argv[1], 'rdmaez-explain', 'sh', '-c', 'trap "echo got; exit 7" INT; echo up; sleep 5; echo late')
		seen = b''
		while b'up' not in seen:
		    seen += os.read(terminal, 100)
		time.sleep(0.2)
		os.write(terminal, b'\x03')
		status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
		try:
		    while True: # until nobody has it open any more
		        seen += os.read(terminal, 1000)
		except OSError:
		    pass
		print(status, seen.decode().count('got'))
	END
	)
	echo "$output"
	[[ $output == '7 1' ]]
}

keeps_the_environment() {
	local object=$PWD/build/tools/rdmaez-explain.so
	# shellcheck disable=SC2016 # for the shell under rdmaez-explain
	LD_PRELOAD=libc.so.6 ends 0 sh -c 'echo "$LD_PRELOAD"; ls -l /proc/self/fd | grep -c rdmaez || :'
	diff "$scratch/out" - <<<"libc.so.6:$object"$'\n0'
	silent
}

# Another library in front of the verbs still sees them.
lets_others_look_on() {
	gcc -shared -fPIC -x c - -o "$scratch/other.so" <<-'END'
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <stdio.h>
		int ibv_modify_qp(void *qp, void *attr, int mask)
		{
			int (*next)(void *, void *, int) = dlsym(RTLD_NEXT, "ibv_modify_qp");
			puts("looked on");
			return next(qp, attr, mask);
		}
	END
	LD_PRELOAD=$scratch/other.so ends 0 wrong_mask
	diff "$scratch/out" - <<<$'looked on\n22'
	says 'failed with EINVAL'
}

sees_nothing() {
	gcc -static -x c - -o "$scratch/static" <<<'int main(void) { return 4; }'
	ends 4 "$scratch/static"
	says "^rdmaez-explain: $scratch/static: nothing was seen of it" 'linked statically'
}

# --- Processes and threads ----------------------------------------------------------------------

# process_says STATUS CASE PATTERN...
process_says() {
	ends "$1" process "$2"
	says "${@:3}"
}

tells_each_process() {
	process_says 0 fork '2 refusals .*never destroyed: 1 context' '1 refusal \(ibv_modify_qp EINVAL 1\)$'
	[[ $(grep -oE '^rdmaez-explain: process\[[0-9]+\]' "$scratch/err" | sort -u | wc -l) == 2 ]]
}

sees_through_exec() {
	process_says 0 exec ': process\[[0-9]+\]: 1 refusal' ': wrong_mask\[[0-9]+\]: 1 refusal'
}

# races REPORT: the shared object, with this for its report.c, and the program under ThreadSanitizer; but for the fake,
# and for real.c: the sanitizer calls dlsym() before it is ready.
races() {
	local flags=(-std=c11 -O1 -g -D_GNU_SOURCE -DRDMAEZ_EXTERN -Iinclude -Itools/explain -fPIC)
	local file sources=(tools/headers.c "$1")
	for file in tools/explain/*.c; do
		[[ $file == */@(main|summary|judge|record|core|compare*|real|report).c ]] || sources+=("$file")
	done
	mkdir -p "$scratch/tsan"
	gcc "${flags[@]}" -c tools/explain/real.c -o "$scratch/real.o"
	gcc "${flags[@]}" -fsanitize=thread -shared "${sources[@]}" "$scratch/real.o" -Wl,-Bsymbolic \
		-Wl,--version-script=tools/explain/explain.map -o "$scratch/tsan/rdmaez-explain.so"
	cp build/tools/rdmaez-explain "$scratch/tsan"
	under_tsan "$scratch/tsan/rdmaez-explain"
}

# The sanitizer's shadow memory may lie where the kernel puts libraries.
under_tsan() {
	[[ -e $scratch/process ]] || gcc -O1 -g -fsanitize=thread -Itests/fake tests/tools/explain/process.c \
		build/tests/fake/libibverbs.so.1 -pthread -o "$scratch/process"
	code=0
	setarch --addr-no-randomize "$1" "$scratch/process" threads >"$scratch/out" 2>"$scratch/err" || code=$?
	cat "$scratch/err"
	[[ $code == 0 && $(<"$scratch/out") == "done" ]]
	says '200 refusals'
}

# A creation that was refused may be a probe: the launcher tells of it when nothing follows.
tells_in_time() {
	process_says 0 create_wait 'ibv_create_qp failed with EINVAL'
	[[ $(sed -n '/ibv_create_qp failed/=' "$scratch/err") -lt $(sed -n '/^waited/=' "$scratch/err") ]]
}

# The launcher has ended before, and nobody else would.
tells_in_the_background() {
	ends 0 sh -c 'process create_late & sleep 0.2'
	silent
	for _ in {1..50}; do
		! says 'ibv_create_qp failed with EINVAL' >"$scratch/says" || return 0
		sleep 0.1
	done
	return 1
}

takes_for_a_probe() {
	ends 0 process "$1"
	silent
	ends 0 --summary process "$1"
	says "\]: $2"
}

# As libfabric does.
takes_a_library_for_one() {
	gcc -O2 -shared -fPIC -Itests/fake tests/tools/explain/process.c -o "$scratch/library.so"
	LIBRARY=$scratch/library.so takes_for_a_probe library '2 probes'
}

is_the_same() {
	process same >"$scratch/alone"
	ends 0 process same
	cat "$scratch/out"
	diff "$scratch/alone" "$scratch/out"
	says 'ibv_modify_qp failed' 'ibv_create_qp failed'
}

keeps_out_of_files() {
	OWN_FILE=$scratch/own ends 0 process own_stderr
	[[ -e $scratch/own && ! -s $scratch/own ]]
	says 'failed with EINVAL'
}

survives_a_reader() {
	build/tools/rdmaez-explain process no_reader 2>&1 >"$scratch/out" | true
	[[ ${PIPESTATUS[0]} == 0 && $(<"$scratch/out") == "done" ]]
}

# SIGPIPE that was pending is so afterwards, and none that was not.
leaves_sigpipe() {
	build/tools/rdmaez-explain process sigpipe 2>&1 >"$scratch/out" | true
	[[ ${PIPESTATUS[0]} == 0 && $(<"$scratch/out") == $'pending 0 1\ndone' ]]
}

# into_fifo CASE WANTED: its stderr is a FIFO that it fills. What it prints; and what the launcher says, which has another.
into_fifo() {
	mkfifo "$scratch/fifo.$1"
	exec 9<>"$scratch/fifo.$1"
	ends 0 sh -c "exec process $1 2>&9"
	exec 9>&-
	[[ $(<"$scratch/out") == "$2" ]]
	[[ $(<"$scratch/err") != *'refused at'* ]]
	says '\]: 1 refusal \(ibv_modify_qp EINVAL 1\)'
}

# The launcher has the words.
without_stderr() {
	ends 0 sh -c 'exec wrong_mask 2>&-'
	[[ $(<"$scratch/out") == 22 ]]
	says 'ibv_modify_qp failed with EINVAL' '\]: 1 refusal'
}

# None of them was too many.
forgets_the_quiet() {
	process_says 0 quiet_crowd '\]: 1 refusal \(ibv_modify_qp EINVAL 1\)'
	[[ $(<"$scratch/err") != *'more process'* && $(grep -c '\]: ' "$scratch/err") == 3 ]]
}

stops_at_a_creation() {
	ends $((128 + 5)) --stop process create
	says 'ibv_create_qp failed with EINVAL'
}

leaves_by_longjmp() {
	ends 0 process longjmp
	[[ $(<"$scratch/out") == "done" ]]
	says ' RESET to RTS\.$'
}

# The program's own alarm would end a child that hangs.
survives_clone() {
	code=0
	timeout 60 build/tools/rdmaez-explain process clone >"$scratch/out" 2>"$scratch/err" || code=$?
	[[ $code == 0 && $(<"$scratch/out") == "done" ]] || { echo "ended with $code"; return 1; }
	says '\]: 1 refusal \(ibv_modify_qp EINVAL 1\)'
}

# A program that goes on without libibverbs would leave nothing to be seen.
without_libibverbs() {
	image build/tools/rdmaez-explain build/tools/rdmaez-explain.so /bin/true
	within build/tools/rdmaez-explain /bin/true 2>"$scratch/image.out"
	cat "$scratch/image.out"
	grep -qE '^rdmaez-explain: there is no libibverbs here \(libibverbs.so.1: .*\): .* install libibverbs1' "$scratch/image.out"
	: >"$(find "$scratch/image" -name libc.so.6 -printf %h)/libibverbs.so.1"
	within build/tools/rdmaez-explain /bin/true 2>"$scratch/image.out"
	cat "$scratch/image.out"
	grep -qE '^rdmaez-explain: libibverbs cannot be loaded here \(.*: file too short\): .* install what it lacks, or all of one release: ' "$scratch/image.out"
}

# newer VERSION: $scratch/newer/program was linked to a libibverbs that has this version, and this machine's has not.
newer() {
	mkdir -p "$scratch/newer"
	echo 'int ibv_of_tomorrow(void) { return 0; }' |
		"${CC:-gcc}" -shared -fPIC -Wl,-soname,libibverbs.so.1 \
			-Wl,--version-script=<(echo "$1 { ibv_of_tomorrow; };") -x c - -o "$scratch/newer/libibverbs.so.1"
	echo 'int ibv_of_tomorrow(void); int main(void) { return ibv_of_tomorrow(); }' |
		"${CC:-gcc}" -x c - -x none "$scratch/newer/libibverbs.so.1" -o "$scratch/newer/program"
}

# wants VERSION NEXT: whoever does not start for want of it hears where it is.
wants() {
	newer "$1"
	ends 1 "$scratch/newer/program"
	says "version .$1. not found" \
		"^rdmaez-explain: $scratch/newer/program wants $1 of libibverbs\.so\.1, which .*/libibverbs\.so\.1 does not have, so it does not start\. Next: $2\.$"
	[[ $(<"$scratch/err") != *'nothing was seen of it'* ]]
	PATH=/nowhere:$scratch/newer:$PATH ends 1 program
	says "^rdmaez-explain: program wants $1 of "
	ln -s "$PWD/build" "$scratch/newer/build"
	(cd "$scratch/newer" && PATH=:$PATH ends 1 program)
	says "^rdmaez-explain: program wants $1 of "
	rm "$scratch/newer/build"
}

# The program wants nothing that is not there, but a library of it does, in a directory that only the program knows.
library_wants() {
	local newer=$scratch/newer
	newer "$1"
	mkdir -p "$newer/own"
	echo 'int ibv_of_tomorrow(void); int between(void) { return ibv_of_tomorrow(); }' |
		"${CC:-gcc}" -shared -fPIC -x c - -x none "$newer/libibverbs.so.1" -o "$newer/own/libbetween.so"
	echo 'int between(void); int main(void) { return between(); }' |
		"${CC:-gcc}" -x c - -x none -L "$newer/own" -lbetween "-Wl,-rpath,\$ORIGIN/own" -Wl,--allow-shlib-undefined -o "$newer/indirect"
	ends 1 "$newer/indirect"
	says "version .$1. not found" \
		"^rdmaez-explain: $newer/indirect loads $newer/own/libbetween\.so, which wants $1 of libibverbs\.so\.1, which .*/libibverbs\.so\.1 does not have, so it does not start\. Next: install rdma-core $2 or newer, or build that library with the rdma-core of this system\.$"
	LD_LIBRARY_PATH=$newer ends 0 "$newer/indirect"
	silent
}

# With a library that has it nothing is said, nor of a program that ends so by itself.
wants_nothing() {
	newer IBVERBS_1.98
	LD_LIBRARY_PATH=$scratch/newer ends 0 "$scratch/newer/program"
	silent
	ends 1 false
	silent
	ends 127 sh -c 'exit 127'
	silent
	code=0
	env -u PATH build/tools/rdmaez-explain false 2>"$scratch/err" || code=$?
	[[ $code == 1 ]]
	silent
	printf '#!/bin/sh\n# %0100d\nexit 1\n' 0 >"$scratch/newer/script"
	chmod +x "$scratch/newer/script"
	ends 1 "$scratch/newer/script"
	silent
}

# A library without versions may have what is wanted, as far as is known.
wants_of_no_version() {
	newer IBVERBS_1.98
	mkdir "$scratch/newer/without"
	echo 'int ibv_of_tomorrow(void) { return 1; }' |
		"${CC:-gcc}" -shared -fPIC -Wl,-soname,libibverbs.so.1 -x c - -o "$scratch/newer/without/libibverbs.so.1"
	LD_LIBRARY_PATH=$scratch/newer/without explain "$scratch/newer/program"
	cat "$scratch/err"
	[[ $code == 1 || $code == 127 ]]
	! grep '^rdmaez-explain' "$scratch/err"
}

# A dynamic linker that lists nothing: then the library is the one that any program finds.
wants_by_another_linker() {
	newer IBVERBS_1.98
	# shellcheck disable=SC2016 # of an assembler
	echo 'void _start(void) { __asm__ volatile("mov $60, %eax; mov $1, %edi; syscall"); }' |
		"${CC:-gcc}" -shared -fPIC -nostdlib -Wl,-e,_start -x c - -o "$scratch/newer/linker"
	echo 'int ibv_of_tomorrow(void); int main(void) { return ibv_of_tomorrow(); }' |
		"${CC:-gcc}" -Wl,--dynamic-linker="$scratch/newer/linker" -x c - -x none "$scratch/newer/libibverbs.so.1" \
			-o "$scratch/newer/linked"
	ends 1 "$scratch/newer/linked"
	[[ $(<"$scratch/err") == "rdmaez-explain: $scratch/newer/linked wants IBVERBS_1.98 of libibverbs.so.1, which $PWD/build/tests/fake/libibverbs.so.1 does not have, so it does not start. Next: install rdma-core in the release it was built with, or build the program with the rdma-core of this system." ]]
}

ok 'names the release that brings a version' wants IBVERBS_1.98 \
	'install rdma-core in the release it was built with, or build the program with the rdma-core of this system'
ok 'says to install both from one release' wants IBVERBS_PRIVATE_98 \
	'install libibverbs and the program from one release of rdma-core; see LD_LIBRARY_PATH, and which rdma-core conda or a wheel brings along'
ok 'names a library of the program that wants it' library_wants IBVERBS_1.18 65
ok 'says nothing of versions that are there' wants_nothing
ok 'nor of a library without versions' wants_of_no_version
[[ $(uname -m) != x86_64 ]] || ok 'asks another dynamic linker, or looks for the library' wants_by_another_linker
ok 'an image without libibverbs' without_libibverbs
ok 'explains a refusal' explains_a_refusal
ok 'tells the line of the call' tells_the_line
ok 'counts repetitions' counts_repetitions
ok 'is found by dlvsym()' looked_up libibverbs.so.1
ok 'is found by dlsym(), of a library for one user alone' looked_up libibverbs.so.1 plain
elsewhere
ok 'is found in a library from another directory' looked_up "$scratch/elsewhere/libibverbs.so.1"
elsewhere libother.so
ok 'is found in a library of another name' looked_up "$scratch/elsewhere/libother.so"
ok "leaves the dynamic linker's functions to who asks for them" leaves_the_linker_alone
ok 'keeps the objects of two libraries apart' keeps_libraries_apart

ok 'exports each name at the version that programs of today ask for' names_agree build/tools/rdmaez-explain.so
fails 'a name without its version' '^< ibv_close_device' wrong_names 'void ibv_close_device(void) {}'
ok 'leaves programs of 2006 to the library' leaves_old_programs_alone

ok 'writes lines of pairs' writes_lines
ok 'writes JSON that follows its schema' writes_json
ok 'writes a summary in JSON while all is well' summarizes_in_json
fails 'JSON of another kind' "'other' is not one of" refuses 'if .kind == "refusal" then .kind = "other" else . end'
fails 'JSON without the program' "'program' is a required property" refuses 'del(.program)'
fails 'JSON with a key that nobody knows' "unexpected" refuses '.more = 1'
ok 'writes to a file instead' writes_a_log
ok 'refuses a log that it cannot write' cannot_write_the_log --log
ok 'refuses a file for JSON that it cannot write' cannot_write_the_log --json
ok 'writes JSON into a pipe' writes_to_a_pipe
ok 'waits for nobody to read a FIFO' writes_where_nobody_reads
ok 'tells that it cannot write the log' tells_that_the_disk_is_full --log
ok 'tells that it cannot write JSON' tells_that_the_disk_is_full --json
ok 'reports the kinds that are asked for' reports_one_kind
ok 'is silent while all is well, but for a summary that is asked for' summarizes_success
ok '--help fits a screen' helps --help
ok 'so does -h' helps -h
ok 'refuses an option that it does not have' misused 'no such option: --nothing' --nothing wrong_mask
ok 'refuses a short option that it does not have' misused 'no such option: -x' -x wrong_mask
ok 'refuses an option without its value' misused 'a value is missing after --json' --json
ok 'refuses a kind that there is not' misused 'no kind of finding is called fish' --only fish wrong_mask
ok 'takes the seconds and signals that there are' takes_values
ok 'says what it has no room for' finds_no_room
ok 'leaves streams alone that are closed' leaves_streams_closed
ok 'finds its shared object, or says where it has looked' finds_its_object
ok 'takes one core' misused '--core takes one file, and no other option: wrong_mask' --core "$0" wrong_mask
ok 'needs a command' misused 'no command' --line
ok 'stops for a debugger, once' stops
ok 'stops at a creation, which may be a probe' stops_at_a_creation
ok 'ends by SIGTRAP where there is no debugger' stops_without_a_debugger

ok 'passes the status on' passes_the_status_on 3 sh -c 'exit 3'
ok 'ends with 128 and the number of a signal' passes_the_status_on 137 sh -c 'kill -KILL $$'
# shellcheck disable=SC2016 # for the shell under rdmaez-explain
ok "leaves the command's own options to it" passes_the_status_on 0 sh -c '[ "$1" = --line ]' sh --line
ok 'ends with 127 if there is no such command' cannot_run 127 /nowhere/at/all 'No such file or directory'
ok 'ends with 126 if it cannot be run' cannot_run 126 /etc 'Permission denied'
ok 'passes SIGTERM on' signalled TERM
ok 'passes SIGHUP on' signalled HUP
ok 'passes on a SIGINT that no terminal sent' signalled INT
ok 'leaves the keys of a terminal to the command' interrupted
ok "keeps the user's LD_PRELOAD, and gives the command no file" keeps_the_environment
ok 'lets other libraries look on' lets_others_look_on
ok 'says that it saw nothing of a static program' sees_nothing

ok 'tells of each process that forks' tells_each_process
ok 'tells how many processes were too many' process_says 0 crowd ': process: 3 more processes used verbs and were not seen'
ok 'forgets processes that have ended with nothing to tell' forgets_the_quiet
ok 'sees through exec' sees_through_exec
ok 'summarizes a process that was killed' process_says 137 kill '1 refusal' 'never destroyed: 1 context, 1 PD, 1 CQ, 1 QP'
ok 'summarizes a process that ended at once' process_says 3 exit '1 refusal'
ok 'tells at the end what may have been a probe' process_says 0 create 'ibv_create_qp failed with EINVAL' '1 refusal'
ok 'tells it also if the process was killed' process_says 137 create_kill 'ibv_create_qp failed with EINVAL' '1 refusal'
ok 'tells it while the process runs' tells_in_time
ok 'tells it of a process that outlives the command' tells_in_the_background
ok 'is silent where less is asked for until it is given' takes_for_a_probe probe_down '[0-9]+ probes'
ok 'is silent where more is asked for until it is refused' takes_for_a_probe probe_up '1 probe,'
ok 'is silent where a library does so at several places' takes_a_library_for_one
ok 'keeps the places of a program apart' process_says 0 places 'ibv_create_qp failed with EINVAL' '1 refusal .*1 probe'
ok 'takes no limit for a probe' process_says 0 limit 'ibv_create_qp failed with EINVAL' '1 refusal'
ok 'explains in threads' process_says 0 threads '200 refusals'
ok 'explains in a program with a sanitizer' under_tsan build/tools/rdmaez-explain
ok 'has no race' races tools/explain/report.c
sed -E 's/pthread_mutex_(un)?lock\(&explain_locks\(\)->findings\)/(void)0/' tools/explain/report.c >"$scratch/report.c"
fails 'threads that do not wait for each other' 'data race' races "$scratch/report.c"
ok 'survives a small stack' process_says 0 small_stack 'ibv_modify_qp failed with EINVAL' '50 refusals' 'stack'
ok "explains on a stack of the program's own" process_says 0 own_stack 'RESET to RTR\.$' '50 refusals'
ok 'survives a small one' process_says 0 small_own_stack 'ibv_modify_qp failed with EINVAL' '50 refusals' 'stack of this thread'
ok 'survives threads that are cancelled' process_says 0 cancel 'refusals'
ok 'survives signal handlers that call verbs' process_says 0 signals 'refusals'
ok 'explains on when handlers leave verbs by longjmp()' leaves_by_longjmp
ok 'explains in a process that clone() has made' survives_clone
ok 'changes nothing that the program sees' is_the_same
ok "keeps out of the program's own files" keeps_out_of_files
ok 'survives that nobody reads' survives_a_reader
ok 'leaves a signal of its own to the program' leaves_sigpipe
ok 'waits a second for who does not read' into_fifo full_pipe $'waited 1\ndone'
ok 'waits for who reads late' into_fifo slow_pipe $'read\ndone'
ok 'explains in a program without stderr' without_stderr

done_testing
