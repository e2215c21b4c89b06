#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Programs that nobody here wrote do the same with rdmaez-explain as without it: they end with the same status, print the
# same but for numbers, and rdmaez-explain says nothing of a run in which all is well, with --waiting 5 as without. Needs
# build/tools and build/programs; runs itself again in the guest.

set -uo pipefail
cd "$(dirname "$(realpath "$0")")/../.." || exit
# shellcheck source=tests/programs/lib.bash
[[ ${1-} == here ]] || { source tests/programs/lib.bash && in_guest tests/programs/unchanged.t here; }
# shellcheck source=tests/tap.bash
source tests/tap.bash
# shellcheck source=tests/programs/lib.bash
source tests/programs/lib.bash

explain="build/tools/rdmaez-explain --log $scratch/said"

# words: what a program printed, without what differs from run to run: numbers, the blanks that align them, whether
# rping ends before it has heard of the end of its connection, and what ucx_perftest says while it takes long, or
# perftest where the machine is too busy for it to measure its clock.
words() {
	sed -E '/DISCONNECT EVENT/d; /^\[thread [0-9]+\] /d; /^Correlation coefficient/d; s/-nan|\binf\b|0x[0-9a-fA-F]+|[0-9]+([.:][0-9]+)*/N/g; s/[[:blank:]]+/ /g; s/ $//' "$1"
}

# outcome: all that a user sees of ends().
outcome() {
	local end
	echo "statuses: $first_status, $second_status"
	for end in first second; do
		echo "$end end:"
		words "$scratch/$end"
	done
}

# same STATUSES FIRST SECOND: the same in both ways, with these statuses.
same() {
	settled 60 "$2" "$3"
	outcome >"$scratch/without"
	settled 60 "${2:+$explain $2}" "${3:+$explain $3}"
	outcome >"$scratch/with"
	diff "$scratch/without" "$scratch/with"
	grep -qFx "statuses: $1" "$scratch/without" || {
		cat "$scratch/without"
		false
	}
}

silent() {
	same "$@"
	[[ ! -s $scratch/said ]] || {
		cat "$scratch/said"
		false
	}
}

# waits_for_nothing STATUSES FIRST SECOND: silent(), and so it is with --waiting.
waits_for_nothing() {
	silent "$@"
	settled 60 "${2:+$watches $2}" "${3:+$watches $3}"
	outcome >"$scratch/with"
	diff "$scratch/without" "$scratch/with"
	[[ ! -s $scratch/said ]] || {
		cat "$scratch/said"
		false
	}
}
watches="build/tools/rdmaez-explain --waiting 5 --log $scratch/said"

# pair NAME FIRST SECOND, one NAME COMMAND: a healthy run of two ends, and of one.
pair() {
	ok "$1" waits_for_nothing '0, 0' "$2" "$3"
}

one() {
	ok "$1" waits_for_nothing '0, -' "$2" ''
}

one ibv_devinfo 'ibv_devinfo --verbose'
for type in rc uc ud srq; do
	stock="ibv_${type}_pingpong -d rxe0 -g 1 -n 100"
	pair "ibv_${type}_pingpong" "$stock" "$stock 127.0.0.1"
done
pair 'ibv_rc_pingpong, with events, posting by ibv_wr_send()' 'ibv_rc_pingpong -d rxe0 -g 1 -n 100 -e -N' \
	'ibv_rc_pingpong -d rxe0 -g 1 -n 100 -e -N 127.0.0.1'
pair 'ibv_rc_pingpong from one device to the other' 'ibv_rc_pingpong -d rxe1 -g 1 -n 100' \
	'ibv_rc_pingpong -d rxe0 -g 1 -n 100 127.0.0.1'
ok 'ibv_xsrq_pingpong, which rxe refuses' same '1, -' 'ibv_xsrq_pingpong -d rxe0 -g 1' ''
ok 'and that is said' grep -q 'ibv_open_xrcd' "$scratch/said"

pair rping 'rping -s -a 192.0.2.1 -C 10' 'rping -c -a 192.0.2.1 -C 10'
pair 'rping with a queue pair of its own' 'rping -s -q -a 192.0.2.1 -C 10' 'rping -c -q -a 192.0.2.1 -C 10'
pair ucmatose 'ucmatose -b 192.0.2.1' 'ucmatose -s 192.0.2.1'
pair udaddy 'udaddy -b 192.0.2.1' 'udaddy -s 192.0.2.1'

for stock in 'ib_write_bw -n 100' 'ib_send_lat -n 100' 'ib_send_lat -n 100 -c UD' 'ib_read_lat -n 100' 'ib_atomic_bw -n 100'; do
	pair "$stock" "$stock -d rxe0 -x 1" "$stock -d rxe0 -x 1 127.0.0.1"
done
pair 'ib_send_lat -R' 'ib_send_lat -R -n 100' 'ib_send_lat -R -n 100 192.0.2.1'

pair 'ucx_perftest, uct, rc' 'ucx_perftest -n 100 -w 10' 'ucx_perftest -t am_lat -d rxe0:1 -x rc_verbs -n 100 -w 10 127.0.0.1'
for transports in rc_verbs,ud_verbs ud_verbs; do
	stock="env UCX_NET_DEVICES=rxe0:1 UCX_IB_GID_INDEX=0 UCX_TLS=$transports ucx_perftest -n 100 -w 10"
	pair "ucx_perftest, tag matching, $transports" "$stock" "$stock -t tag_lat 127.0.0.1"
done
pair 'fi_pingpong over verbs' 'fi_pingpong -p verbs -e msg' 'fi_pingpong -p verbs -e msg 192.0.2.1'

mpirun='mpirun --oversubscribe -n 2 --mca plm isolated'
one 'Open MPI over UCX' "$mpirun --mca pml ucx --mca btl ^openib,ofi -x UCX_NET_DEVICES=rxe0:1 \
	-x UCX_IB_GID_INDEX=0 -x UCX_TLS=rc_verbs,ud_verbs,self build/programs/mpi_ring"
one 'Open MPI over libfabric' "$mpirun --mca pml cm --mca mtl ofi --mca mtl_ofi_provider_include 'verbs;ofi_rxm' \
	-x FI_UNIVERSE_SIZE=4 -x FI_VERBS_IFACE=veth0 build/programs/mpi_ring"
one 'a program that loads libibverbs as NCCL does' 'build/programs/loader 1'

# Idle is not waiting: servers without a client, all at once, for more than twice as long as --waiting says.
idle() {
	local n=0 command
	while IFS= read -r command; do
		n=$((n + 1))
		(eval "timeout --kill-after=2 12 build/tools/rdmaez-explain --waiting 5 --log $scratch/idle$n $command" || echo "$?") \
			>"$scratch/idle$n.out" 2>&1 </dev/null &
	done <<-END
		ibv_rc_pingpong -d rxe0 -g 1 -p 7201
		ibv_srq_pingpong -d rxe0 -g 1 -p 7202
		ibv_ud_pingpong -d rxe0 -g 1 -p 7203 -e
		ib_write_bw -d rxe0 -x 1 -p 7204
		ib_send_lat -R -p 7205
		rping -s -a 192.0.2.1 -p 7206
		ucmatose -b 192.0.2.1 -p 7207
		fi_pingpong -p verbs -e msg -B 7208
	END
	wait
	tail -n 3 "$scratch"/idle?.out
	[[ $(tail --quiet -n 1 "$scratch"/idle?.out | paste --serial --delimiters=' ') == '124 124 124 124 124 124 124 124' ]]
	cat "$scratch"/idle?
	[[ -z $(cat "$scratch"/idle?) ]]
}
ok 'idle servers: no false alarm' idle

# slow FIRST SECOND: nor is it one to take one's time.
slow() {
	: >"$scratch/said"
	ends 120 "$watches $1" "${2:+$watches $2}"
	cat "$scratch/said"
	[[ "$first_status $second_status" == 0\ [-0] && ! -s $scratch/said ]]
}
ok 'eight seconds of requests: no false alarm' slow 'ib_send_lat -d rxe0 -x 1 -D 8' 'ib_send_lat -d rxe0 -x 1 -D 8 127.0.0.1'
for transports in rc_verbs,ud_verbs ud_verbs; do
	ok "a rank that waits for another one, $transports: no false alarm" slow "$mpirun --mca pml ucx --mca btl ^openib,ofi \
		-x UCX_NET_DEVICES=rxe0:1 -x UCX_IB_GID_INDEX=0 -x UCX_TLS=$transports,self build/programs/mpi_ring 12" ''
done

# rdma-core's own tests of verbs: many are wrong on purpose, so here only their results are compared. Those of the
# packaged release are not all good; that is part of the result.
pyverbs() {
	local way
	[[ -e /usr/share/doc/rdma-core/tests/run_tests.py ]] || {
		echo '/usr/share/doc/rdma-core/tests is missing: dpkg leaves documentation out here (path-exclude)'
		false
	}
	cp --recursive --dereference /usr/share/doc/rdma-core/tests "$scratch"
	gunzip --force "$scratch"/tests/*.gz
	for way in without with; do
		ends 300 "${explain_with[$way]} env PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 $scratch/tests/run_tests.py \
			--verbose --dev rxe0" ''
		{
			echo "status $first_status"
			grep -oE '^test_[a-z0-9_]+ \([^)]*\)|\.\.\. (ok|skipped|FAIL|ERROR|expected failure).*|^FAILED .*|^OK.*' \
				"$scratch/first"
		} >"$scratch/$way"
	done
	tail -n 1 "$scratch/without"
	(($(grep -c '\.\.\. ok' "$scratch/without") > 50))
	diff "$scratch/without" "$scratch/with"
}
declare -A explain_with=([without]='' [with]=$explain)
ok 'pyverbs: the same results of all tests' pyverbs

fails 'another status is seen' 'statuses: 255' silent '0, -' 'ibv_devinfo -d none' ''
fails 'another output is seen' '^< at first|^> at last' same '0, -' "sh -c 'test -e $scratch/again && echo at last ||
	echo at first; touch $scratch/again'" ''
fails 'what rdmaez-explain says is seen' 'ibv_modify_qp' silent '1, -' 'build/programs/loader 9' ''

done_testing
