#!/bin/bash
# SPDX-License-Identifier: MIT
#
# rdmaez-explain and librdmacm, on one that refuses everything: each errno value of each call and each status of each
# event gets its own words, the outermost call is named, and what the program sees is what it would have seen.

source tests/tap.bash
source tests/tools/explain.bash
programs cm_call

# What the program sees, with and without.
same() {
	local bare
	bare=$(build/tests/explain/cm_call "$@")
	ends 0 --line cm_call "$@"
	[[ $(<"$scratch/out") == "$bare" ]] || { echo "saw $(<"$scratch/out"), not $bare"; return 1; }
}

# gives REASON CALL [HOW]: one finding, of this reason.
gives() {
	same "${@:2}"
	[[ $(grep -c kind=cm "$scratch/err") == 1 ]] || { cat "$scratch/err"; return 1; }
	says "kind=cm .*call=$2 .*finding=[a-z]+:$1:"
}

nothing() {
	same "$@"
	silent
}

call() { FAKE_CM_ERRNO=$1 gives "${@:2}"; }
event() { FAKE_CM_EVENT=$1 FAKE_CM_STATUS=$2 gives "$3" rdma_get_cm_event; }
quiet_event() { FAKE_CM_EVENT=$1 FAKE_CM_STATUS=$2 nothing rdma_get_cm_event; }
quiet_call() { FAKE_CM_ERRNO=$1 nothing "${@:2}"; }
name() { FAKE_CM_RESULT=$1 gives "$2" rdma_getaddrinfo; }

# The numbers of <rdma/rdma_cma.h>, and of ib_cm.h and asm-generic/errno.h of Linux.
while read -r number status reason; do
	ok "event $number, status $status: $reason" event "$number" "$status" "$reason"
done <<'END'
1 -110 CM_NO_NEIGHBOUR
1 -19 CM_ROUTE_NOT_RDMA
1 -101 CM_NO_ROUTE
1 -113 CM_NO_ROUTE
1 -1 CM_OPEN
1 -22 CM_QKEY
1 -5 CM_ADDRESS
3 -110 CM_SA_SILENT
3 -22 CM_SA_NO_PATH
3 -19 CM_NO_INTERFACE
3 -5 CM_ROUTE
6 -1 CM_CONNECT
6 -22 CM_CONNECT
7 -110 CM_NO_ANSWER
7 1 CM_NO_LISTENER
7 2 CM_REFUSED
7 3 CM_SIDR_NO_QP
7 4 CM_REDIRECT
7 5 CM_SIDR_VERSION
7 9 CM_NO_ANSWER
8 1 CM_NO_QP
8 2 CM_NO_EEC
8 3 CM_NO_RESOURCES
8 4 CM_GAVE_UP
8 5 CM_UNSUPPORTED
8 6 CM_COMM_ID
8 7 CM_COMM_ID
8 8 CM_NO_LISTENER
8 9 CM_TRANSPORT_TYPE
8 10 CM_STALE
8 11 CM_RDC
8 12 CM_PEER_GID
8 13 CM_PEER_LID
8 14 CM_PEER_SL
8 15 CM_PEER_TCLASS
8 16 CM_PEER_HOPS
8 17 CM_PEER_RATE
8 18 CM_ALTERNATE
8 19 CM_ALTERNATE
8 20 CM_ALTERNATE
8 21 CM_ALTERNATE
8 22 CM_ALTERNATE
8 23 CM_ALTERNATE
8 24 CM_REDIRECT
8 25 CM_REDIRECT
8 26 CM_PEER_MTU
8 27 CM_RESPONDER_RESOURCES
8 28 CM_REFUSED
8 29 CM_PEER_RNR_RETRY
8 30 CM_COMM_ID
8 31 CM_CLASS_VERSION
8 32 CM_PEER_FLOW_LABEL
8 33 CM_ALTERNATE
8 35 CM_ECE
8 99 CM_REFUSED
8 -111 CM_NO_LISTENER
8 -104 CM_REFUSED
11 0 CM_REMOVAL
13 -110 CM_SA_SILENT
13 -22 CM_GROUP
13 -102 CM_GROUP_LOST
13 -12 CM_GROUP
14 0 CM_ADDRESS_CHANGE
END

# All that a connection gets which works, and what ends it.
for number in 0 2 4 5 9 10 12 15; do
	ok "event $number is no finding" quiet_event "$number" 0
done
ok 'a peer that is gone before it answers a disconnection is no finding' quiet_event 10 -110

# ENOENT is what librdmacm says of a node that it could not open, whether it is there or not.
no_node=CM_NO_NODE
[[ ! -e /dev/infiniband/rdma_cm ]] || no_node=CM_NODE_DENIED
while read -r error reason name how; do
	# shellcheck disable=SC2086 # none is an argument less
	ok "$name${how:+, $how}, errno $error: $reason" call "$error" "$reason" "$name" $how
done <<END
2 $no_node rdma_create_event_channel
6 CM_NO_NODE rdma_create_event_channel
13 CM_NODE_DENIED rdma_create_event_channel
1 CM_NODE_DENIED rdma_create_event_channel
19 CM_NO_DEVICE rdma_create_event_channel
24 CM_NO_FILES rdma_create_event_channel
13 CM_NODE_DENIED rdma_create_id
99 CM_NO_ADDRESS rdma_bind_addr
99 CM_PORT_TAKEN rdma_bind_addr any
98 CM_PORT_TAKEN rdma_bind_addr
19 CM_ADDRESS_NOT_RDMA rdma_bind_addr
13 CM_PORT_PRIVILEGED rdma_bind_addr
93 CM_PORT_SPACE rdma_bind_addr
97 CM_FAMILY rdma_bind_addr
22 CM_FAMILY rdma_bind_addr family
22 CM_STATE rdma_bind_addr
101 CM_NO_ROUTE rdma_resolve_addr
113 CM_NO_ROUTE rdma_resolve_addr
13 CM_NO_ROUTE rdma_resolve_addr
97 CM_NO_IPV6 rdma_resolve_addr
99 CM_NO_ADDRESS rdma_resolve_addr
19 CM_ROUTE_NOT_RDMA rdma_resolve_addr
22 CM_FAMILY rdma_resolve_addr family
22 CM_STATE rdma_resolve_addr
22 CM_STATE rdma_resolve_route
22 CM_TIMEOUT_ZERO rdma_resolve_route unbound
19 CM_ADDRESS_NOT_RDMA rdma_resolve_route
98 CM_PORT_TAKEN rdma_listen
99 CM_PORT_TAKEN rdma_listen
22 CM_STATE rdma_listen
38 CM_NO_MANAGER rdma_listen
22 CM_PRIVATE_DATA rdma_connect words
22 CM_RESPONDER_RESOURCES rdma_connect resources
22 CM_INITIATOR_DEPTH rdma_connect depth
22 CM_STATE rdma_connect
38 CM_NO_MANAGER rdma_connect
22 CM_PRIVATE_DATA rdma_accept words
22 CM_RESPONDER_RESOURCES rdma_accept resources
22 CM_LISTENER rdma_accept unbound
22 CM_STATE rdma_accept
22 CM_PRIVATE_DATA rdma_reject words
22 CM_STATE rdma_reject
22 CM_STATE rdma_disconnect
106 CM_CONNECTED rdma_notify
22 CM_HAS_QP rdma_create_qp qp
22 CM_UNBOUND rdma_create_qp unbound
22 CM_OTHER_CQ rdma_create_qp
22 CM_NOT_UD rdma_join_multicast
22 CM_UNBOUND rdma_join_multicast unbound
22 CM_STATE rdma_join_multicast datagrams
524 CM_GROUP_IPV6 rdma_join_multicast datagrams
99 CM_NOT_JOINED rdma_leave_multicast
22 CM_OTHER_EVENT rdma_get_request
22 CM_OTHER_CHANNEL rdma_migrate_id
38 CM_OPTION rdma_set_option
22 CM_OPTION rdma_set_option
2 CM_OTHER_CHANNEL rdma_destroy_id
2 CM_OTHER_CHANNEL rdma_listen
12 CM_MEMORY rdma_listen
71 CM_UNEXPLAINED rdma_listen
22 CM_STATE rdma_create_qp_ex
22 CM_HAS_QP rdma_create_qp_ex qp
22 CM_OTHER_DEVICE rdma_create_qp_ex other_pd
22 CM_STATE rdma_create_qp_ex own_pd
22 CM_OTHER_DEVICE rdma_create_qp other_pd
22 CM_OTHER_CQ rdma_create_qp own_pd
12 CM_MEMORY rdma_create_srq
22 CM_OTHER_DEVICE rdma_create_srq
22 CM_SRQ_TYPE rdma_create_srq_ex
22 CM_STATE rdma_init_qp_attr
2 CM_OTHER_CHANNEL rdma_init_qp_attr
95 CM_UNEXPLAINED rdma_set_local_ece
22 CM_HAS_QP rdma_get_remote_ece
22 CM_STATE rdma_reject_ece
2 CM_OTHER_CHANNEL rdma_reject_ece
22 CM_STATE rdma_establish
22 CM_HAS_QP rdma_establish qp
22 CM_STATE rdma_resolve_addrinfo
38 CM_KERNEL rdma_query_addrinfo
22 CM_EVENT rdma_write_cm_event
2 CM_OTHER_CHANNEL rdma_write_cm_event
19 CM_NO_DEVICE rdma_get_devices
98 CM_UNEXPLAINED rdma_create_ep
22 CM_NO_QP_NUMBER rdma_connect no_param
22 CM_STATE rdma_connect no_param qp
22 CM_PRIVATE_DATA rdma_connect long
22 CM_STATE rdma_connect most
22 CM_STATE rdma_connect words iwarp
22 CM_STATE rdma_connect no_limits
22 CM_INITIATOR_DEPTH rdma_connect depth iwarp
22 CM_STATE rdma_connect resources unbound
22 CM_STATE rdma_connect resources ib
22 CM_PRIVATE_DATA rdma_connect words datagrams
22 CM_PRIVATE_DATA rdma_accept words datagrams
22 CM_NO_QP_NUMBER rdma_accept no_param
22 CM_FAMILY rdma_resolve_addr ipv6
22 CM_SCOPE rdma_resolve_addr link_local
99 CM_PORT_TAKEN rdma_bind_addr loopback
99 CM_NO_ADDRESS rdma_bind_addr family
22 CM_SCOPE rdma_bind_addr link_local
22 CM_FAMILY rdma_join_multicast datagrams family
22 CM_PRIVATE_DATA rdma_reject words datagrams
END

# A channel that does not wait, a signal, a channel that the program closes as it ends.
ok 'no event yet is no finding' quiet_call 11 rdma_get_cm_event
ok 'nor is a signal that came first' quiet_call 4 rdma_get_cm_event
ok 'nor is a channel closed under its thread' quiet_call 9 rdma_get_cm_event
while read -r result reason; do
	ok "rdma_getaddrinfo returns $result: $reason" name "$result" "$reason"
done <<'END'
-2 CM_NAME
-3 CM_NAME
-6 CM_FAMILY
-8 CM_SERVICE
-10 CM_NAME
END

# What getaddrinfo() leaves to errno.
system_error() {
	FAKE_CM_RESULT=$1 FAKE_CM_ERRNO=71 same rdma_getaddrinfo
	says ' call=rdma_getaddrinfo error=EPROTO finding=likely:CM_UNEXPLAINED:errno:none$'
}
ok 'rdma_getaddrinfo returns -1, with an errno value' system_error -1
ok 'rdma_getaddrinfo returns EAI_SYSTEM, with one' system_error -11

# ---- What it says ---------------------------------------------------------------------------------------------

# title WORDS CALL [HOW...]: the line that says what has happened, however long
title() {
	ends 0 cm_call "${@:2}"
	tr -s '\n ' ' ' <"$scratch/err" | sed -E 's/.* \(cm_call\) ([^.]*[0-9.]*[^.]*[0-9.]*[^.]*) on fake0\. .*/\1/' >"$scratch/title"
	diff <(printf '%s' "$1") <(tr -d '\n' <"$scratch/title" | sed 's/QP [0-9]*/QP N/')
}
export FAKE_CM_ERRNO=71
between='from 192.0.2.1, to 192.0.2.2 port 7471'
ok 'names a port space of InfiniBand' title "rdma_listen failed with EPROTO (71), RDMA_PS_IB, $between" rdma_listen ib
ok 'names one of IP over InfiniBand' title "rdma_listen failed with EPROTO (71), RDMA_PS_IPOIB, $between" rdma_listen ipoib
ok 'names the queue pair, and no port space that it does not know' title \
	"rdma_listen failed with EPROTO (71), an unknown port space, QP N, $between" rdma_listen odd qp
ok 'names addresses of IPv6' title \
	'rdma_resolve_addr failed with EPROTO (71), RDMA_PS_TCP, from 192.0.2.1, to 2001:db8::2 port 7471' rdma_resolve_addr ipv6
ok 'names a loopback address that has a port' title \
	'rdma_bind_addr failed with EPROTO (71), RDMA_PS_TCP, from ::1 port 7471, to 192.0.2.2 port 7471' rdma_bind_addr loopback
ok 'names no address that is none' title \
	'rdma_bind_addr failed with EPROTO (71), RDMA_PS_TCP, to 192.0.2.2 port 7471' rdma_bind_addr family
unset FAKE_CM_ERRNO

# advises WANTED CALL [HOW...]: with --advice, of this call and these pieces
advises() {
	rm -f "$scratch/json"
	ends 0 --advice --json "$scratch/json" cm_call "${@:2}"
	diff <(printf '%s' "${1:+$1$'\n'}") <(jq --raw-output 'select(.kind == "advice") | "\(.record.call) " + ([.record.findings[] |
		"\(.severity):\(.reason):\(.field)"] | join(" "))' "$scratch/json" 2>/dev/null || :)
}
connection='advice:RNR_TIMER_ZERO:min_rnr_timer advice:RNR_RETRY_ZERO:rnr_retry advice:RETRY_ZERO:retry_cnt advice:TIMEOUT_ZERO:timeout'
event_advises() { FAKE_CM_EVENT=10 advises "$@"; }
ok 'gives advice on timers and counters as a connection ends' advises "rdma_disconnect $connection" rdma_disconnect qp rts
ok 'says whose they are' says '^rdma_disconnect, RDMA_PS_TCP, QP [0-9]+, from 192\.0\.2\.1, to 192\.0\.2\.2 port 7471 on fake0\.$' \
	': 1 piece of advice \(RNR_TIMER_ZERO 1\), '
ok 'gives it where the peer has ended it' event_advises "rdma_get_cm_event $connection" rdma_get_cm_event qp rts at
ok 'gives none before it is connected' advises '' rdma_disconnect qp
ok 'gives none on iWARP' advises '' rdma_disconnect qp rts iwarp
ok 'gives none where there is no queue pair' advises '' rdma_disconnect

# holds COUNT CALL [HOW...]: so many ids were never destroyed
holds() {
	ends 0 --summary cm_call "${@:2}"
	cat "$scratch/err"
	[[ $(sed -nE 's/.*: nothing was refused, .* ([0-9]+) rdma_cm ids?.*/\1/p' "$scratch/err") == "$1" ]]
}
request() { FAKE_CM_EVENT=4 holds 1 rdma_get_cm_event; }
for name in rdma_create_id rdma_create_ep rdma_get_request; do
	ok "counts the id that $name() makes" holds 1 "$name"
done
ok 'counts the id that comes with a request' request
# Two of three are gone.
refused_destruction() {
	FAKE_CM_LATE=2 ends 0 --summary cm_call rdma_destroy_id made made made twice
	says ': 1 rdma_cm failure \(rdma_destroy_id ENOENT 1\), never destroyed: 1 context, 1 rdma_cm id$'
}
ok 'counts an id that could not be destroyed' refused_destruction
for name in rdma_destroy_id rdma_destroy_ep; do
	ok "counts none that $name() has taken" holds '' "$name" made
	ok "counts those that are left" holds 1 "$name" made made
done

# flushed COMPLETIONS EVENT CALL HOW...: what is flushed after the event or the call is told so often
flushed() {
	FAKE_CM_EVENT=$2 ends 0 --line --summary cm_call "${@:3}"
	cat "$scratch/err"
	says "kind=summary .* completions=$1 .* flushes=$((1 - $1)) "
}
ok 'excuses flushes after the peer has ended a connection' flushed 0 10 rdma_get_cm_event qp at flush
ok 'excuses them after the device is gone' flushed 0 11 rdma_get_cm_event qp at flush
ok 'excuses them after this end has ended it' flushed 0 0 rdma_disconnect qp flush
ok 'and after nothing else' flushed 1 9 rdma_get_cm_event qp at flush

# ---- One within another --------------------------------------------------------------------------------------

synchronous() {
	FAKE_CM_EVENT=8 FAKE_CM_STATUS=8 gives CM_NO_LISTENER rdma_connect synchronous
	says 'error=ECONNREFUSED device=fake0 event=RDMA_CM_EVENT_REJECTED status=8 '
}

inner_call() {
	FAKE_CM_ERRNO=2 gives "$no_node" rdma_create_id
	FAKE_CM_ERRNO=2 explain cm_call rdma_create_id
	says '^rdma_create_id: rdma_create_event_channel failed with ENOENT \(2\)'
}

inner_verb() {
	ends 0 cm_call rdma_accept qp
	[[ $(grep -c '^rdmaez-explain: .* refused at' "$scratch/err") == 1 ]]
	says '^rdma_accept: ibv_modify_qp failed with EINVAL \(22\) on fake0' 'possible: RESET, INIT' 'refused at .*cm_call'
	ends 0 --only cm cm_call rdma_accept qp
	says '^rdma_accept: ibv_modify_qp failed with EINVAL \(22\) on fake0' 'possible: RESET, INIT'
}

# The peer has answered, and then the queue pair does not move.
verb_before_event() {
	FAKE_CM_EVENT=6 FAKE_CM_STATUS=-1 ends 0 cm_call rdma_connect synchronous qp
	[[ $(grep -c '^rdmaez-explain: .* refused at' "$scratch/err") == 1 ]]
	says '^rdma_connect: ibv_modify_qp failed with EINVAL \(22\) for RDMA_CM_EVENT_CONNECT_ERROR on fake0' 'possible: RESET, INIT'
	FAKE_CM_EVENT=6 FAKE_CM_STATUS=-22 ends 0 cm_call rdma_connect synchronous qp
	says '^rdma_connect: ibv_modify_qp failed with EINVAL \(22\) for RDMA_CM_EVENT_CONNECT_ERROR on fake0'
	FAKE_CM_EVENT=8 FAKE_CM_STATUS=8 ends 0 cm_call rdma_connect synchronous qp
	says '^rdma_connect failed with ECONNREFUSED \(111\): RDMA_CM_EVENT_REJECTED'
}

inner_creation() {
	FAKE_CM_CQE=1073741824 ends 0 cm_call rdma_create_qp_ex
	says '^rdma_create_qp_ex: ibv_create_cq failed with EINVAL \(22\) on fake0\.$' 'cqe: .*Given: 1073741824' \
		': 1 rdma_cm failure \(rdma_create_qp_ex EINVAL 1\)'
	FAKE_CM_CQE=4 nothing rdma_create_qp_ex
}

# Which has a meaning of its own, without the headers: the call is what is told.
inner_meaning() {
	FAKE_FORK=22 FAKE_CM_ERRNO=0 same rdma_get_devices
	says ' kind=cm .* call=rdma_get_devices error=' ' refusals=0 .* cm=1 '
}

# A question that was refused on the way is not why.
inner_query() { FAKE_CM_QUERY=1 FAKE_CM_ERRNO=22 gives CM_STATE rdma_init_qp_attr; }

# An address that a call within another did not find.
inner_address() { FAKE_CM_RESULT=-2 nothing rdma_resolve_addrinfo; }

# As libfabric does, which looks for addresses of RDMA devices.
probes() {
	FAKE_CM_LATE=$1 nothing rdma_bind_addr twice
	FAKE_CM_LATE=$1 ends 0 --summary cm_call rdma_bind_addr twice
	says '\]: 1 probe, never destroyed: 1 context$'
}
no_probe() {
	FAKE_CM_LATE=98 gives CM_PORT_TAKEN rdma_bind_addr twice
	says ' cm=1 .* probes=0 '
}
not_asked() {
	FAKE_CM_ERRNO=98 ends 0 --only refusal --summary cm_call rdma_listen
	[[ $(grep -c . "$scratch/err") == 1 ]]
	says ': nothing was refused, '
}

forgiven_verb() {
	FAKE_CM_HEALTHY=1 ends 0 cm_call rdma_accept qp
	! grep 'refused at' "$scratch/err"
}

left() {
	FAKE_CM_SIGNAL=10 FAKE_CM_ERRNO=98 gives CM_PORT_TAKEN rdma_bind_addr left
}

facts() {
	FAKE_CM_EVENT=8 FAKE_CM_STATUS=28 FAKE_CM_WORDS='out of order' explain cm_call rdma_connect synchronous
	says '^rdma_connect failed with ECONNREFUSED \(111\): RDMA_CM_EVENT_REJECTED, status 28, RDMA_PS_TCP' \
		"which says 'out of order'" 'to 192.0.2.2 port 7471' 'on fake0' '^  Likely, status: the program there refused the request' 'Next: see its log'
}

ok 'a call that waits for its event tells of it' synchronous
ok 'a call within another' inner_call
ok 'a verb within a call: the headers explain it, under the name of the call' inner_verb
ok 'a verb within a call that makes something' inner_creation
ok 'a verb within a call that the headers have no words for' inner_meaning
ok 'a question within a call' inner_query
ok 'a name that was looked for within a call' inner_address
ok 'addresses that no device has, after one that a device has, are no finding' probes 19
ok 'but a port that is taken is' no_probe
ok 'nothing where nobody asked for it' not_asked
ok 'a verb before an event' verb_before_event
ok 'a verb that was refused in a call which works is no finding' forgiven_verb
ok 'a call that was left by siglongjmp()' left
ok 'port space, addresses and device' facts

wrong_reason() { event 8 8 CM_REFUSED; }
fails 'another reason is noticed' "no 'kind=cm" wrong_reason
fails 'a finding where there should be none is noticed' CM_NO_LISTENER quiet_event 8 8
fails 'silence where there should be a finding is noticed' '' event 9 0 CM_REFUSED

done_testing
