#!/bin/bash
# SPDX-License-Identifier: MIT
#
# rdmaez-explain: posting and polling. tests/tools/explain/data.c fails once in each way, and sees the same with it and
# without it.

source tests/tap.bash
source tests/tools/explain.bash
programs data wrong_mask

# explained CASE PATTERN...: the program sees what it saw without, and each pattern is found in what is said.
explained() {
	data "$1" >"$scratch/alone"
	ends 0 data "$1"
	diff "$scratch/alone" "$scratch/out"
	says "${@:2}"
}

# counted CASE PATTERN...: each pattern is found in the summary.
counted() {
	explain data "$1"
	sed -i '$!d' "$scratch/err"
	says "${@:2}"
}

# spared CASE PATTERN: it is not found in what is said.
spared() {
	explain data "$1"
	grep . "$scratch/err"
	! grep -E -- "$2" "$scratch/err"
}

passed() {
	explained "$1"
	silent
}

ok 'says nothing while all is well' passed well
ok 'explains too many SGEs' explained many_sges 'ibv_post_send failed with EINVAL' 'num_sge: .*Given: 3; accepted'
ok 'explains inline data that is too long' explained long_inline 'sg_list: .*less inline data' '65 bytes'
ok 'explains a full send queue' explained queue_full 'ibv_post_send failed with ENOMEM' 'cap.max_send_wr: '
ok 'explains a send before RTS' explained early 'qp_state: ' 'State: RESET'
ok 'explains an operation that the type lacks' explained opcode 'opcode: .*Given: RDMA_READ'
ok 'says which of several work requests it was' explained second_of_two 'Position: 1' 'num_sge: '
ok 'explains a receive of too many SGEs' explained receive_sges 'ibv_post_recv failed with EINVAL' 'num_sge: '
ok 'explains a full receive queue' explained receive_full 'ibv_post_recv failed with ENOMEM' 'cap.max_recv_wr: '
ok 'explains a full shared receive queue' explained srq_full 'ibv_post_srq_recv failed with ENOMEM' 'attr.max_wr: '
ok 'explains a memory window that was not bound' explained window 'ibv_bind_mw failed with ENOMEM' 'cap.max_send_wr: ' \
	'^ibv_bind_mw failed with EINVAL' '^  Likely, ibv_bind_mw: the device refused without giving a reason'
ok 'explains a queue that cannot be armed' explained notify 'ibv_req_notify_cq failed with EIO' 'device was removed'
ok 'explains a queue that cannot be polled' explained polling 'ibv_poll_cq failed' 'device was removed'

ok 'explains a wrong lkey' explained wrong_lkey 'IBV_WC_LOC_PROT_ERR' 'lkey'
ok 'explains a peer without receives' explained not_ready 'IBV_WC_RNR_RETRY_EXC_ERR' 'receive'
ok 'explains a peer that does not answer' explained no_answer 'IBV_WC_RETRY_EXC_ERR' 'Next: '
ok 'explains a wrong rkey' explained wrong_rkey 'IBV_WC_REM_ACCESS_ERR' 'rkey'
# mentions COUNT CASE: as often, what only the peer's own requests, or another kind of request, can be refused for.
mentions() {
	explain --waiting 100 data "$2"
	cat "$scratch/err"
	says 'qp_access_flags: .*remote access right'
	[[ $(tr -s ' \n' ' ' <"$scratch/err" |
		{ grep -oE "the peer's receive is shorter|this end may have refused a request" || :; } | wc -l) == "$1" ]]
}
ok 'explains an atomic as one, where no receive was posted' mentions 0 refused_atomic
ok 'and as either where one was' mentions 2 refused_beside
ok 'explains the first failure of a queue pair, once' counted wrong_lkey \
	' 1 failed completion \(IBV_WC_LOC_PROT_ERR 1\), 1 later failure .*, 2 flushed completions, 1 queue pair in ERR'
ok 'explains each queue pair of one batch' counted two_qps \
	' 2 failed completions \(IBV_WC_LOC_LEN_ERR 1, IBV_WC_RNR_RETRY_EXC_ERR 1\), 1 later failure of a queue pair, 1 flushed'
ok 'knows a queue pair after many others were made' counted many_qps \
	' 1 failed completion \(IBV_WC_LOC_PROT_ERR 1\), 1 later failure .*, 2 flushed completions, 1 queue pair in ERR'
ok 'tells what it knows of it' explained many_qps 'IBV_WC_LOC_PROT_ERR, .*QP [0-9]+, RC, in ERR'
ok 'explains a completion whose queue pair is gone' explained destroyed 'IBV_WC_RETRY_EXC_ERR of QP [0-9]+, ' 'Next: '
ok 'counts the flushes of a queue pair that is gone' counted destroyed \
	' 1 failed completion \(IBV_WC_RETRY_EXC_ERR 1\), 1 flushed completion'
ok 'says nothing of flushes that the program caused' passed own_flush
ok 'says nothing of them before the verb has returned' passed early_flush
ok 'excuses a flush on iWARP, and no failure after it' counted flush_iwarp \
	': 1 failed completion \(IBV_WC_LOC_PROT_ERR 1\), 1 flushed completion, 1 queue pair in ERR'
ok 'explains a queue pair again that was connected again' counted again \
	' 2 failed completions \(IBV_WC_RNR_RETRY_EXC_ERR 1, IBV_WC_RETRY_EXC_ERR 1\), 2 later'
ok 'takes a rendezvous for no failure' passed rendezvous

ok 'explains a queue pair that is in ERR for a reason nobody knows' explained flush 'IBV_WC_WR_FLUSH_ERR' 'in ERR'
ok 'explains only the first of such flushes' counted flush \
	' 1 failed completion \(IBV_WC_WR_FLUSH_ERR 1\), 1 flushed completion, 1 queue pair in ERR'

# What matters of versions: the fake library has none in its name.
versions() {
	rm -f "$scratch/json"
	explain "--json=$scratch/json" data many_qps
	jq --exit-status --slurp --arg kernel "$(uname -r)" '[.[] | select(.kind == "state" or .kind == "summary")] |
		length == 2 and all(.[]; .kernel == $kernel and .libraries == "libibverbs.so.1")' "$scratch/json" ||
		{ jq --compact-output 'select(.kind == "summary")' "$scratch/json"; return 1; }
}
ok 'says which kernel and which libraries it had' versions

# The device's files, in a /sys of our own: an inbox driver would have no version.
# shellcheck disable=SC2016 # expanded by the inner shell
device_versions() {
	local sys=$scratch/sys/class/infiniband/fake0 names='\[[0-9]+\]: Linux [^,]*, libibverbs\.so\.1'
	mkdir -p "$sys/device/driver-of-it/module"
	ln -sfn driver-of-it "$sys/device/driver"
	printf '16.35.2000 (MT_1)\n' >"$sys/fw_ver"
	printf '24.10-1\e[2J\n' >"$sys/device/driver/module/version"
	# shellcheck disable=SC2016 # sh's arguments
	unshare --user --map-root-user --mount sh -c 'mount --bind "$0" /sys && exec "$@"' "$scratch/sys" \
		build/tools/rdmaez-explain "--json=$scratch/json" wrong_mask >/dev/null 2>"$scratch/err"
	says "$names, driver driver-of-it 24\.10-1\?\[2J, firmware 16\.35\.2000 \(MT_1\)$"
	jq --exit-status 'select(.kind == "summary") | .driver == "driver-of-it 24.10-1?[2J" and .firmware == "16.35.2000 (MT_1)"' "$scratch/json"
	rm "$sys/device/driver/module/version" "$sys/fw_ver" "$scratch/json"
	# shellcheck disable=SC2016 # sh's arguments
	unshare --user --map-root-user --mount sh -c 'mount --bind "$0" /sys && exec "$@"' "$scratch/sys" \
		build/tools/rdmaez-explain wrong_mask >/dev/null 2>"$scratch/err"
	says "$names, driver driver-of-it$"
}
ok 'says which driver and firmware the device has' device_versions

# roce_port DIRECTORY: a port whose GIDs are all of RoCE v2, and of the interface port0
roce_port() {
	mkdir -p "$1"/gid_attrs/{types,ndevs}
	echo Ethernet >"$1/link_layer"
	for i in {0..15}; do
		echo 'RoCE v2' >"$1/gid_attrs/types/$i"
		echo port0 >"$1/gid_attrs/ndevs/$i"
	done
}

# qps_have MEMBER WANTED DIRECTORY: what the program's record has of its queue pairs that have a GID, with that for /sys
# shellcheck disable=SC2016 # expanded by the inner shell
qps_have() {
	rm -f "$scratch/json"
	unshare --user --map-root-user --mount sh -c 'mount --bind "$0" /sys && exec "$@"' "$3" \
		build/tools/rdmaez-explain "--json=$scratch/json" data again >/dev/null 2>"$scratch/err"
	jq --raw-output "select(.qps) | [.qps[] | select(.gid_index) | .$1] | unique | map(tostring) | join(\" \")" "$scratch/json" >"$scratch/is"
	diff <(echo "$2") "$scratch/is"
}

# lossless WANTED TRUST PFC [CLASS]: the priorities that a port protects, where DSCPs decide, and no traffic class is set
# for all.
lossless() {
	local device=$scratch/lossy/class/infiniband/fake0 net=$scratch/lossy/class/net/port0/qos
	rm -rf "$scratch/lossy"
	mkdir -p "$net" "$device/tc/1"
	roce_port "$device/ports/1"
	echo "$2" >"$net/trust"
	echo "$3" >"$net/pfc"
	echo "${4-}" >"$device/tc/1/traffic_class"
	qps_have lossless "$1" "$scratch/lossy"
}
ok 'knows which priorities a port protects from loss' lossless 24 dscp 00011000 'Global tclass=-1'
ok 'knows a port that protects none' lossless 0 dscp 00000000
ok 'knows nothing of one that looks at VLAN tags' lossless null pcp 00011000
ok 'nor of one with a traffic class for all' lossless null dscp 00011000 'Global tclass=106'

# vlan WANTED KIND [VID]: the VLAN of a GID's interface, of which uevent says the kind, and /proc/net/vlan the number. The
# directory of devices is a link, so that /proc beside /sys is one of our own.
vlan() {
	local root=$scratch/tagged/root
	local net=$root/sys/class/net/port0
	rm -rf "$scratch/tagged"
	mkdir -p "$net" "$root/proc/net/vlan" "$scratch/tagged/class"
	ln -s ../root/sys/class/infiniband "$scratch/tagged/class/infiniband"
	roce_port "$root/sys/class/infiniband/fake0/ports/1"
	printf '%s\n' ${2:+"DEVTYPE=$2"} INTERFACE=port0 >"$net/uevent"
	[[ -z ${3-} ]] || printf 'port0  VID: %s\t REORDER_HDR: 1  dev->priv_flags: 1001\n' "$3" >"$root/proc/net/vlan/port0"
	qps_have vlan "$1" "$scratch/tagged"
}
ok 'knows the VLAN of an interface' vlan 100 vlan 100
ok 'knows one that is none' vlan 0 ''
ok 'and a bond' vlan 0 bond
ok 'nothing of an interface above others' vlan null macvlan
ok 'nor of a VLAN whose number cannot be read' vlan null vlan

# regions CASE ROW...: what the program's record has of its region, and of what that was before: rkey, how far behind
# the first one it begins, length, access, whether it is gone
regions() {
	rm -f "$scratch/json"
	explain "--json=$scratch/json" data "$1"
	jq --raw-output 'select(.mrs) | (.mrs | map(.addr // empty) | min) as $first | .mrs | sort_by(.rkey)[] |
		"\(.rkey) \(if .addr then .addr - $first else "?" end) \(.length) \(.access) \(.gone == true)"' \
		"$scratch/json" >"$scratch/regions"
	diff <(printf '%s\n' "${@:2}") "$scratch/regions"
}
ok 'knows what ibv_rereg_mr() makes of a region, and what it was' regions rereg \
	'768 0 4096 1 true' '768 0 4096 5 true' '769 64 100 5 true' '770 64 101 5 false'
ok 'knows a region that ibv_rereg_mr() has left alone' regions rereg_refused '768 0 4096 1 false'
ok 'says nothing of one for which it has failed' regions rereg_failed '768 ? null null false' '768 0 4096 1 true'

ok 'says nothing while all is well with the extended interfaces' passed ex_well
ok 'explains too many SGEs there' explained ex_many_sges 'ibv_wr_complete failed with EINVAL' 'num_sge: .*Given: 3'
ok 'says which of several requests it was there' explained ex_second_of_three 'request 2 of 3, sg_list: ' '65 bytes'
ok 'tells two queue pairs apart that a thread posts to' explained ex_two_at_once 'request 2 of 2, sg_list: '
ok 'takes what is set for one for no other' spared ex_crossed 'sg_list'
ok 'explains a datagram there' explained ex_datagram '^ibv_wr_complete failed with EINVAL \(22\) on fake0, QP [0-9]+, UD\.$' \
	'num_sge: .*Given: 3; accepted: 0 to$'
ok 'knows what was wrong of more requests than it keeps, and not which it was' explained ex_many \
	'^  Likely, request 2 of 2, sg_list: .*Given: 65 bytes;$' "^  Likely, a request's sg_list: .*Given: 65 bytes;$"
ok 'takes nothing of an older request for a new one' explained ex_stale 'num_sge: .*Given: 3;' \
	'^  Likely, ibv_wr_complete: the device refused without giving a reason' ': 2 refusals \(ibv_wr_complete EINVAL 2\)'
ok 'claims nothing of requests that it does not know any more' explained ex_forgotten \
	'^ibv_wr_complete failed with EINVAL \(22\) on fake0, QP [0-9]+, RC\.$' 'bad_wr: the provider does not say which' \
	'^  Likely, ibv_wr_complete: the device refused without giving a reason'
ok 'explains a full send queue there' explained ex_full 'ibv_wr_complete failed with ENOMEM' 'cap.max_send_wr: '
ok 'explains a failed completion there' explained ex_not_ready 'IBV_WC_RNR_RETRY_EXC_ERR.* QP 6,' 'rnr_retry: '
ok 'explains it once there, too' counted ex_not_ready ' 1 failed completion \(IBV_WC_RNR_RETRY_EXC_ERR 1\), 2 flushed'
ok 'finds the queue pair where the queue does not tell it' explained ex_no_number 'IBV_WC_RNR_RETRY_EXC_ERR.* QP 6,'
ok 'explains a queue that cannot be polled there' explained ex_polling 'ibv_start_poll failed with EINVAL'
ok 'wraps as many sets of functions as it has wrappers' counted ex_sets ' 30 failed completions .* 10 extended queues not seen'
ok 'and as many of queue pairs' counted ex_qp_sets \
	': 18 refusals \(ibv_wr_complete EPERM 2, .*, ibv_wr_complete EBADF 2\), 4 extended queues not seen, for lack of wrappers, '
ok 'which do what they did' explained ex_qp_sets
ok 'leaves others as they are' explained ex_sets 'IBV_WC_RNR_RETRY_EXC_ERR'


# not_asked CASE PATTERN: with another kind alone nothing is told of it but in the summary
not_asked() {
	data "$1" >"$scratch/alone"
	ends 0 --only event --summary data "$1"
	diff "$scratch/alone" "$scratch/out"
	[[ $(grep -c . "$scratch/err") == 1 ]]
	says "$2"
}
ok 'has no completion where nobody asked for it' not_asked wrong_lkey \
	'\]: 1 later failure of a queue pair, 2 flushed completions, 1 queue pair in ERR, '
for case in many_sges receive_sges srq_full ex_many; do
	ok "has nothing of $case where nobody asked for it" not_asked "$case" ': nothing was refused, '
done

fails 'sees a finding that is missing' "no 'num_sge'" explained long_inline num_sge
fails 'sees a finding too many' 'IBV_WC_RETRY_EXC_ERR' passed no_answer
fails 'sees a program that gets another answer' 'post_send' diff <(data early) <(data queue_full)

done_testing
