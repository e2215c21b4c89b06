# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034,SC2154
#
# Programs at two ends, in the guest, for the scripts beside this file, which source it after tests/tap.bash.

# Set by ends(): the exit statuses, - where there is no such end, and the time in milliseconds. What the ends print is in
# $scratch/first and $scratch/second.
first_status=-
second_status=-
pid_first=
pid_second=

# What Open MPI wants of root, and RDMA of a machine.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
[[ ! -v scratch ]] || ulimit -l unlimited

# in_guest SCRIPT ARGUMENT...: runs the script there, with two devices, and build/programs to write to.
in_guest() {
	mkdir -p build/programs
	exec tools/softroce --quiet --timeout 0 --host qemu --devices 2 --module sch_netem --memory 1536 --write build/programs \
		--env CC ${RDMAEZ_KERNEL:+--kernel "$RDMAEZ_KERNEL"} -- "$@"
}

# leaf PID: the last of the line of first children, which is the program behind timeout and the like.
leaf() {
	local pid=$1 child
	while child=$(pgrep --parent "$pid" | head -n 1) && [[ -n $child ]]; do
		pid=$child
	done
	echo "$pid"
}

# listening PID: waits until some socket or rdma_cm identifier listens, or the process has ended.
listening() {
	local try
	for ((try = 0; try < 400; try++)); do
		[[ -z $(ss --no-header --tcp --listening) && $(rdma resource show cm_id) != *'state LISTEN'* ]] || return 0
		kill -0 "$1" 2>/dev/null || return 0
		sleep 0.05
	done
}

# begin LIMIT COMMAND: in the background, for at most so many seconds. Its output is what stdout is.
begin() {
	(
		trap - ERR
		eval "exec timeout --kill-after=2 $1 $2"
	) 2>&1 </dev/null &
}

# ends LIMIT FIRST SECOND [DURING]: runs two commands, either of which may be empty; the second is started when the first
# listens. What is still there after LIMIT seconds is stopped, with status 124. DURING are shell commands for the time
# in which they run, which find the programs in $pid_first and $pid_second.
ends() {
	local limit=$1 first=$2 second=$3 during=${4-} job_first='' job_second=''
	first_status=- second_status=-
	echo -n | tee "$scratch/first" >"$scratch/second"
	if [[ -n $first ]]; then
		begin "$limit" "$first" >"$scratch/first"
		job_first=$!
	fi
	if [[ -n $second ]]; then
		[[ -z $first ]] || listening "$job_first"
		begin "$limit" "$second" >"$scratch/second"
		job_second=$!
	fi
	if [[ -n $during ]]; then
		pid_first=$(leaf "${job_first:-$BASHPID}") pid_second=$(leaf "${job_second:-$BASHPID}")
		eval "$during"
	fi
	# The shell would report what was killed.
	if [[ -n $second ]]; then
		second_status=0
		wait "$job_second" || second_status=$?
	fi 2>/dev/null
	if [[ -n $first ]]; then
		first_status=0
		wait "$job_first" || first_status=$?
	fi 2>/dev/null
}

# settled LIMIT FIRST SECOND [DURING]: ends(), again where the programs have lost a race of their own, with or without
# rdmaez-explain: rping asks for an event of a channel that it has closed, and perftest's server listens for queue pairs
# only after it has answered the client, which may be quicker. What rdmaez-explain said, in the files of these names, is of
# the last run alone.
settled() {
	local try
	for try in 1 2 3 4 5; do
		echo -n | tee "$scratch/said" "$scratch/json" >"$scratch/text"
		ends "$@"
		[[ -n $2 && -n $3 ]] || break
		grep --quiet --fixed-strings --line-regexp --regexp='rdma_get_cm_event: Bad file descriptor' \
			--regexp='Event: RDMA_CM_EVENT_REJECTED; error: 8.' "$scratch/first" "$scratch/second" || break
	done
}
