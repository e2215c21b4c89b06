#!/bin/bash
# SPDX-License-Identifier: MIT
#
# rdmaez-doctor as a program: options, text, JSON, deadlines. What its checks say of machines is in the other
# doctor*.t; here one is enough.

source tests/tap.bash
# shellcheck source=tests/tools/doctor.bash
source tests/tools/doctor.bash
# shellcheck source=tests/tools/image.bash
source tests/tools/image.bash

python=$(command -v /usr/bin/python3 || command -v python3)

fits_a_screen() {
	"$doctor" "$1" >"$scratch/help"
	[[ -s $scratch/help ]]
	awk 'length > 80 { exit 1 } END { exit NR > 24 }' "$scratch/help"
}

# Every option that getopt_long() is told of, and no other.
help_is_complete() {
	diff <(grep -oE '\{"[a-z]+", [a-z]+_argument' tools/doctor/main.c | sed 's/{"/--/; s/".*//' | sort) \
		<("$doctor" --help | grep -oE -- '--[a-z]+' | sort -u)
}

# calls_one_way DIRECTORY: of these objects none calls one that calls it, by others or not. main.c is above all, with the
# table of the checks.
calls_one_way() {
	local objects=(tools/doctor/*.c)
	objects=("${objects[@]/#tools\/doctor/$1}")
	nm --extern-only "${objects[@]/%.c/.o}" | awk '
		NF == 1 { file = $0; sub(".*/", "", file) }
		NF > 1 && $(NF - 1) == "T" { home[$NF] = file }
		NF > 1 && $(NF - 1) == "U" { calls[file " " $NF] }
		END { for (call in calls) { split(call, part, " ")
			if (part[1] != "main.o:" && part[2] in home) print part[1], home[part[2]] } }' >"$scratch/calls"
	[[ $(wc -l <"$scratch/calls") -gt 50 ]]
	tsort "$scratch/calls" >"$scratch/sorted"
}

# usage PATTERN ARG...: one line on stderr, nothing on stdout, status 2.
usage() {
	local status=0
	"$doctor" "${@:2}" >"$scratch/out" 2>"$scratch/err" || status=$?
	cat "$scratch/err"
	((status == 2))
	[[ ! -s $scratch/out && $(wc -l <"$scratch/err") == 1 ]]
	grep -qE -- "$1" "$scratch/err"
}

# ends_with STATUS ARG...
ends_with() {
	report "${@:2}"
	((code == $1))
}

lists() {
	"$doctor" --list >"$scratch/list"
	diff <(sed -n 's/^\tX(\([a-z_]*\), .*/\1/p' tools/doctor/doctor.h) <(cut -d ' ' -f 1 "$scratch/list")
	! awk 'length > 80 || NF < 3' "$scratch/list" | grep .
}

# shellcheck disable=SC2016 # marks of code
# on_the_page FILE: its table has every check, with the words of --list.
on_the_page() {
	diff <("$doctor" --list | sed -E 's/^(\w+) +(.*)/| `\1` | \2 |/') \
		<(sed -n '/^| check | looks at |/,/^$/{/^| `/p}' "$1")
}

# checked FILE...: each check is named by one of these tests.
checked() {
	"$doctor" --list | cut -d ' ' -f 1 | while read -r check; do
		grep -qE "\b(says|changes|(ok  |note|WARN|FAIL)) $check\b|--only $check\b" -- "$@" || echo "no test of $check"
	done >"$scratch/unchecked"
	cat "$scratch/unchecked"
	[[ ! -s $scratch/unchecked ]]
}

# in_the_manual FILE: it has every option of --help, and no other.
in_the_manual() {
	diff <("$doctor" --help | grep -oE -- '--[a-z]+' | sort -u) \
		<(sed -n '/^.SH OPTIONS/,/^.SH OUTPUT/{s/\\-/-/g; p}' "$1" | grep -A1 '^\.TP' | grep -oE -- '--[a-z]+' | sort -u)
}

valid() {
	"$python" -m jsonschema --instance "$1" docs/schema/doctor.schema.json
}

# json FILTER ARG...: the report as JSON follows the schema, and jq's FILTER is true of it.
json() {
	report --json "${@:2}"
	[[ ! -s $scratch/stderr ]]
	valid "$scratch/report"
	jq --exit-status "$1" "$scratch/report"
}

# The same lines in text and in JSON, verdict by verdict.
agree() {
	report
	grep -E '^(ok|note|WARN|FAIL) ' "$scratch/report" | sed 's/^WARN/warning/; s/^FAIL/failed/' |
		sed -E 's/^(\w+) +/\1 /' >"$scratch/text"
	report --json
	jq -r '.checks[] | "\(.verdict) \(.check)\(if .subject == "" then "" else " " + .subject end): \(.finding)"' \
		"$scratch/report" >"$scratch/json"
	[[ -s $scratch/json ]]
	diff "$scratch/text" "$scratch/json"
	jq --exit-status '.summary == ([.checks[].verdict] | {ok: 0, note: 0, warning: 0, failed: 0} +
		(group_by(.) | map({(.[0]): length}) | add))' "$scratch/report"
}

# A check that blocks: a FIFO nobody writes to, in the place of a file.
hang() {
	machine
	rm "$tree/proc/self/limits"
	mkfifo "$tree/proc/self/limits"
}

# took FROM TO COMMAND...: in seconds
took() {
	local begin=$EPOCHREALTIME ms
	"${@:3}"
	ms=$(((${EPOCHREALTIME/./} - ${begin/./}) / 1000))
	echo "took $ms ms"
	((ms >= $1 * 1000 && ms < $2 * 1000))
}

overruns() {
	line 'WARN memlock: not known: no answer within 2000 ms' --only memlock --only cgroup
	grep -qF "       reading $tree/proc/self/limits" "$scratch/report"
	grep -qx 'ok   cgroup: no cgroup limits RDMA objects' "$scratch/report"
	((code == 0))
	! pgrep --full --list-full "^$doctor --root $tree"
}

# Files of 100 GB are not read to their end, nor into memory as a whole.
vast_files() {
	local file
	machine
	for file in proc/self/status proc/meminfo sys/class/infiniband/mlx5_0/fw_ver sys/class/infiniband/mlx5_0/ports/1/state; do
		truncate --size 100G "$tree/$file"
	done
	(ulimit -v $((1 << 20)) && "$doctor" --root "$tree" >"$scratch/report" 2>&1)
	grep -qx 'ok   node mlx5_0: /dev/infiniband/uverbs0 is there' "$scratch/report"
	grep -qx 'rdmaez-doctor: 0 failed, .*' "$scratch/report"
	! grep -q 'no answer within' "$scratch/report"
}

# Adapters have hundreds of virtual functions each, and a host several adapters.
thousands_of_devices() {
	local i
	fresh
	mkdir -p "$tree"/sys/class/infiniband/mlx5_{0..2999} "$tree"/sys/class/infiniband_verbs/uverbs{0..2999} "$tree/dev/infiniband"
	for ((i = 0; i < 3000; i++)); do
		echo "mlx5_$i" >"$tree/sys/class/infiniband_verbs/uverbs$i/ibdev"
		: >"$tree/dev/infiniband/uverbs$i"
	done
	report --only node >"$scratch/thousands"
	[[ $(grep -c '^ok   node mlx5_[0-9]*: /dev/infiniband/uverbs[0-9]* is there$' "$scratch/report") == 3000 ]]
	grep -qx 'rdmaez-doctor: 0 failed, 0 warnings, 0 notes, 3000 ok' "$scratch/report"
}

# A table that is not whole is a failure.
no_table() {
	local status=0
	rm -f "$tree/sys/class/infiniband/mlx5_0/ports/1/gids/0"
	mkfifo "$tree/sys/class/infiniband/mlx5_0/ports/1/gids/0"
	"$doctor" --root "$tree" --gids >"$scratch/table" 2>"$scratch/stderr" || status=$?
	((status == 1))
	grep -qx 'rdmaez-doctor: not known: no answer within 5000 ms' "$scratch/stderr"
}

# Stands for a process that the kernel does not let go: SIGKILL does not come through.
survives() {
	"${CC:-gcc}" -shared -fPIC -o "$scratch/immortal.so" -x c - <<-'END'
		int kill(int pid, int signal) { (void)pid; (void)signal; return 0; }
	END
	LD_PRELOAD=$scratch/immortal.so line \
		'FAIL memlock: no answer within 2000 ms, and the kernel does not let the check end' --only memlock --only cgroup
	grep -qx 'ok   cgroup: no cgroup limits RDMA objects' "$scratch/report"
}

times_out() {
	line 'WARN memlock: not known: no answer came within the time for the whole run' --timeout 1
	grep -qx 'WARN cgroup: not known: the time for the whole run was over before this check began' "$scratch/report"
	((code == 0))
}

# A check that is at work gets its time twice more: here it sleeps where it reads the tree, and the kernel says that it
# needs a processor.
busy() {
	"${CC:-gcc}" -shared -fPIC -o "$scratch/busy.so" -x c - <<-'END'
		#define _GNU_SOURCE
		#include <fcntl.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/syscall.h>
		#include <unistd.h>
		int open(const char *path, int flags, ...)
		{
			static int is_slow = 1;
			if (strncmp(path, "/proc/", 6) == 0 && strstr(path, "/stat"))
				return (int)syscall(SYS_openat, AT_FDCWD, getenv("STAT"), flags);
			if (is_slow)
				usleep(1000 * (unsigned int)atoi(getenv("SLOW")));
			is_slow = 0;
			return (int)syscall(SYS_openat, AT_FDCWD, path, flags);
		}
	END
	put kept/stat '4711 (a) S b) R 1'
	SLOW=2500 STAT=$tree/kept/stat LD_PRELOAD=$scratch/busy.so line 'ok   modules: the kernel has .*' --only modules
	put kept/stat '4711 (a) R b) S 1'
	SLOW=2500 STAT=$tree/kept/stat LD_PRELOAD=$scratch/busy.so line 'WARN modules: not known: no answer within 2000 ms' --only modules
	SLOW=2500 STAT=$tree/kept/none LD_PRELOAD=$scratch/busy.so line 'WARN modules: not known: no answer within 2000 ms' --only modules
	put kept/stat '4711 (a) D 1'
	SLOW=7000 STAT=$tree/kept/stat LD_PRELOAD=$scratch/busy.so line 'WARN modules: not known: no answer within 6000 ms' --only modules
}

# What cannot be written is not done.
full() {
	local option status
	for option in --list --help --json; do
		status=0
		"$doctor" --root "$tree" --only memlock "$option" 2>"$scratch/err" >/dev/full || status=$?
		((status == 2))
		diff - "$scratch/err" <<<'rdmaez-doctor: stdout: No space left on device'
	done
}

# Where the doctor is killed, its check does not stay.
leaves_none() {
	local pid
	"$doctor" --root "$tree" --only memlock >"$scratch/report" &
	pid=$!
	sleep 0.5
	pgrep --parent "$pid" >"$scratch/children"
	kill -KILL "$pid"
	wait "$pid" || :
	sleep 0.2
	[[ -s $scratch/children ]]
	! ps --no-headers --format stat --pid "$(<"$scratch/children")" | grep -v Z
}

# Text that a file gave, with what JSON must escape and what is no UTF-8.
odd() {
	machine
	printf 'CA "\\\t\001\x1b[2J \xc3\xa9 \xff\xed\xa0\x80\n' >"$tree/sys/class/infiniband/mlx5_0/fw_ver"
	json '.checks[0].finding | test("firmware CA \"\\\\\t\u0001\u001b\\[2J \u00e9 \u00ff\u00ed\u00a0\u0080")' --only device
	line 'ok   device mlx5_0: driver mlx5_core, firmware CA "\\[?]{3}\[2J .*' --only device
}

unprivileged() {
	chmod 755 "$scratch"
	setpriv --reuid 65534 --regid 65534 --clear-groups "$doctor" --root "$tree" --quiet >"$scratch/report"
	! grep -E '^(ok|WARN|FAIL)' "$scratch/report"
}

# No process has a number so high.
no_such_process() {
	local status=0
	"$doctor" --json --pid 2147483647 >"$scratch/report" || status=$?
	((status == 1))
	valid "$scratch/report"
	jq --exit-status '.checks == [{check: "process", subject: "2147483647", verdict: "failed",
		finding: "there is no such process here", evidence: .checks[0].evidence, next: []}] and
		.queue_pairs == []' "$scratch/report"
}

# An image without libibverbs, as CUDA's are: the doctor starts, and says what is missing and which package brings it.
without_libibverbs() {
	local status=0
	image "$doctor"
	within "/$doctor" >"$scratch/out" 2>&1 || status=$?
	cat "$scratch/out"
	((status == 1))
	grep -qx 'FAIL provider: there is no libibverbs here, so no program finds a device' "$scratch/out"
	grep -q 'dlopen("libibverbs.so.1"): libibverbs.so.1: cannot open shared object file' "$scratch/out"
	grep -q '> install libibverbs1 and ibverbs-providers (Debian, Ubuntu), libibverbs (Fedora, RHEL)' "$scratch/out"
	grep -q '^rdmaez-doctor: [0-9]* failed' "$scratch/out"
	[[ $(<"$scratch/out") != *'ended by signal'* ]]
	within "/$doctor" --certify >"$scratch/out" 2>&1 || :
	cat "$scratch/out"
	grep -qx '     > rdmaez-doctor --only provider' "$scratch/out"
}

# One that does not load, here since it is empty.
broken_libibverbs() {
	image "$doctor"
	: >"$(find "$scratch/image" -name libc.so.6 -printf %h)/libibverbs.so.1"
	within "/$doctor" --only provider >"$scratch/out" 2>&1 || :
	cat "$scratch/out"
	grep -qx 'FAIL provider: libibverbs cannot be loaded, so no program finds a device' "$scratch/out"
	grep -q 'libibverbs.so.1: file too short' "$scratch/out"
}

# Whatever RDMA this machine has or lacks.
looks_at_this_machine() {
	local status=0
	setpriv --reuid 65534 --regid 65534 --clear-groups "$doctor" --json >"$scratch/report" || status=$?
	((status < 2))
	valid "$scratch/report"
	jq --exit-status --argjson failed "$status" '(.summary.failed > 0) == ($failed == 1) and
		([.checks[].check] | index("memlock", "device")) != null and
		all(.checks[]; .finding | startswith("no answer") | not)' "$scratch/report"
}

machine
for option in --help -h; do
	ok "$option fits a screen" fits_a_screen "$option"
done
ok "--help has every option" help_is_complete
ok "--list has every check" lists
ok "the page has every check" on_the_page docs/doctor.md
ok "every check has a test" checked tests/tools/doctor_*.t tests/device/doctor_*.t
ok "the manual page has every option" in_the_manual docs/man/rdmaez-doctor.1
ok "an unknown option is refused" usage "cannot take '--nonsense'" --nonsense
ok "an option without its value is refused" usage "cannot take '--root'" --root
ok "an unknown check is refused" usage "no check 'nonsense'" --only nonsense
ok "a root that is no directory is refused" usage "--root takes a directory" --root "$tree/proc/self/limits"
for value in 0 -1 1x 99999999999 ''; do
	ok "--timeout '$value' is refused" usage "--timeout takes" --timeout "$value"
	ok "--seconds '$value' is refused" usage "--seconds takes" --seconds "$value"
done
ok "--seconds must end before --timeout" usage "--seconds must be less than --timeout" --seconds 5 --timeout 5
for value in 0 -1 1x 99999999999 ''; do
	ok "--pid '$value' is refused" usage "--pid takes the number of a process" --pid "$value"
done
ok "a job without a name is refused" usage "--job takes command=NAME, cgroup=PATH or user=NAME" --job command=
ok "a cgroup without its path is refused" usage "--job cgroup= takes the path" --job cgroup=slurm
ok "a user that is none is refused" usage "--job user= takes a user" --job user=no-such-user
ok "--pid and --job exclude each other" usage "--pid and --job cannot be combined" --pid 1 --job sh
ok "--pid and --root exclude each other" usage "--root looks at files, and --pid and --job need processes" --pid 1 --root "$tree"
ok "--pid and --listen exclude each other" usage "without --listen" --pid 1 --listen
ok "the check process needs a process" usage "the check process needs --pid or --job" --only process
ok "a process that is not there fails" no_such_process
ok "a report that cannot be written" full
ok "where nothing failed, the status is 0" ends_with 0 --only memlock --only node
ok "a healthy machine gives nobody a warning" unprivileged
ok "the report as JSON follows the schema" json '.host == "" and (.checks | length) > 5 and .summary.failed == 0'
ok "text and JSON agree" agree
ok "--only leaves out the others" json '[.checks[].check] | unique == ["cgroup", "memlock"]' --only memlock --only cgroup

limit 0 0
ok "where something failed, the status is 1" ends_with 1 --only memlock
ok "text and JSON agree of what failed" agree
ok "evidence and next step follow" json '.checks[0] | .verdict == "failed" and
	(.evidence | length) == 1 and (.next | length) > 0' --only memlock
ok "--quiet leaves out what is ok" no_line 'ok .*' --quiet
ok "a device of another name is none" line 'FAIL device mlx5_7: there is no RDMA device of this name' mlx5_7
ok "a device by its name is looked at" line 'ok   device mlx5_0: .*' mlx5_0

odd_name="bytes of a file reach text and JSON without harm"
ok "$odd_name" odd
ok "an image without libibverbs" without_libibverbs
ok "and one whose libibverbs does not load" broken_libibverbs

ok "this machine is looked at in time" took 0 30 looks_at_this_machine

ok "files of 100 GB are looked at in time" took 0 20 vast_files
ok "the nodes of 3000 devices are looked at in time" thousands_of_devices
machine

ok "a check that is at work gets more time" busy
hang
ok "a check that hangs ends in time, and others go on" took 2 6 overruns
ok "one that cannot be killed is left behind" took 2 6 survives
ok "the whole run ends in time" took 1 5 times_out
ok "as JSON, too" took 2 6 json '.checks[0].verdict == "warning"' --only memlock
machine
ok "so is a table of GIDs" took 4 9 no_table
hang
ok "a killed doctor leaves no process behind" leaves_none
ok "its files call each other in one direction" calls_one_way build/tools/doctor

machine
report --json >"$scratch/out"
jq '.checks[0].verdict = "fine"' "$scratch/report" >"$scratch/wrong"
cp -r build/tools/doctor "$scratch/circle"
objcopy --redefine-sym poll=ask_for_probes "$scratch/circle/talk.o"
fails "files that call each other are seen" 'contains a loop' calls_one_way "$scratch/circle"
fails "the schema refuses another verdict" 'is not one of' valid "$scratch/wrong"
fails "JSON that jq finds false is seen" '^false' json '.summary.failed > 0'
grep -v '^| .memlock. |' docs/doctor.md >"$scratch/page.md"
fails "a check that the page lacks is seen" '^< .*memlock' on_the_page "$scratch/page.md"
fails "a check without a test is seen" 'no test of memlock' checked tests/tools/doctor_slot.t
sed 's/quiet/loud/' docs/man/rdmaez-doctor.1 >"$scratch/manual"
fails "an option that the manual page lacks is seen" '^< --quiet' in_the_manual "$scratch/manual"
hang
fails "what takes too long is seen" '^took' took 3 6 overruns
done_testing
