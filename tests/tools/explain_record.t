#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The states that rdmaez-explain --json writes (tools/explain/record.c), from rows and a /sys that tests/tools/record.c makes;
# when each is written, and when the page that compares them is. Needs no device.

source tests/tap.bash

gcc -std=c11 -g @tests/compile/warnings -D_GNU_SOURCE -O0 -fsanitize=address,undefined -fno-sanitize-recover=all \
	-Itools/explain tests/tools/record.c tools/explain/{judge,state,summary,compare*}.c -o "$scratch/record" || exit

# written CASE: the states, with a line for each list and each of its rows, without what the machine decides. The page goes
# to $scratch/page.
written() {
	"$scratch/record" "$1" 2>"$scratch/page" >"$scratch/states"
	sed -E '/"kind":"waiting"/d; s/,"(host|time|boot_id|kernel)":"[^"]*"//g; s/"kind":"state",//
		s/"//g; s/,([a-z{])/ \1/g; s/\} \{/}\n  {/g; s/ (ports|gids|qps|cqs|srqs|mrs):\[/\n  \1: [/g' "$scratch/states" |
		fold -s -w 110 | sed 's/ *$//'
}

# has CASE <STATES>
has() {
	written "$1" >"$scratch/got"
	diff "$scratch/got" -
}

# members MEMBER...: of each queue pair of the last case, its number and these
members() {
	jq -r --args 'select(.kind == "state").qps[] | [.qp_num, (. as $qp | $ARGS.positional[] | $qp[.] // "-")] | join(" ")' "$@" <"$scratch/states"
}

ok 'a state has all that is known' has all <<-'END'
	{program:wor_ker pid:10 reason:request rank:3 ranks:8 libraries:libibverbs.so.1.14_44 libmlx5.so.1
	  ports: [{device:mlx5_0 port:1 link_layer:Ethernet state:ACTIVE active_mtu:4096 rate_mbps:2500
	firmware:16.35.4030}]
	  gids: [{device:mlx5_0 port:1 gid_index:0 gid:fe80::1 gid_type:RoCE v1}
	  {device:mlx5_0 port:1 gid_index:2 gid:::ffff:10.0.0.17 gid_type:RoCE v2}]
	  qps: [{device:mlx5_0 port:1 qp_num:17 type:RC state:RTS dest_qp_num:18 sq_psn:102 rq_psn:101 gid_index:2
	gid:::ffff:10.0.0.17 gid_type:RoCE v2 peer_gid:::ffff:10.0.0.18 peer_lid:55 path_mtu:1024 active_mtu:4096
	timeout:14 retry_cnt:6 rnr_retry:5 min_rnr_timer:12 max_rd_atomic:2 max_dest_rd_atomic:3 qkey:51 pkey:65535
	pkey_index:4 access:7 traffic_class:106 lossless:136 vlan:0 sl:1 max_send_wr:64 max_recv_wr:65 send_cq:1
	recv_cq:2 srq:3 sends_posted:9 sends_signaled:8 sends_completed:7 recvs_posted:5 recvs_completed:4 failed:0
	oldest_opcode:RDMA_WRITE oldest_ms:2800 oldest_length:4096 oldest_addr:28672 oldest_rkey:546 idle_ms:2800}]
	  cqs: [{device:mlx5_0 cq_num:1 cqe:63 polls:21 polled_ms:800 armed:true events:3 acked:2}]
	  srqs: [{device:mlx5_0 srq_num:3 posted:32 completed:4}]
	  mrs: [{device:mlx5_0 rkey:256 addr:28672 length:4096 access:7 since_ms:6000}
	  {device:mlx5_0 rkey:257 addr:28673 length:4096 access:7 since_ms:6000 gone:true gone_ms:4000}
	  {device:mlx5_0 rkey:258 addr:28674 length:4096 access:7 since_ms:6000 gone:true}
	  {device:mlx5_0 rkey:259 since_ms:6000}]}
END

# The second of two states, of which the first had all.
has_less() {
	written less | sed '1,/^less$/d' >"$scratch/got"
	diff "$scratch/got" -
}
ok 'nothing of it is left in a state that has less' has_less <<-'END'
	{program:wor_ker pid:10 reason:request
	  qps: [{device:mlx5_0 qp_num:17 type:RC state:RTS}]
	  mrs: [{device:mlx5_0 rkey:256 since_ms:6000}]}
END

ok 'on InfiniBand there are LIDs, and what is not known is left out' has infiniband <<-'END'
	{program:worker pid:10 reason:request
	  ports: [{device:mlx5_0 port:1 link_layer:InfiniBand state:DOWN lid:7 rate_mbps:100000}]
	  gids: [{device:mlx5_0 port:1 gid_index:0 gid:fe80::1 gid_type:IB}]
	  qps: [{device:mlx5_0 port:1 qp_num:17 type:RC state:RTS dest_qp_num:18 lid:7 peer_lid:9 traffic_class:0
	sl:0}
	  {device:mlx5_0 port:1 qp_num:19 type:RC state:RTS gone:true lid:7 srq:3 sends_posted:9 sends_signaled:8
	sends_completed:7 recvs_completed:0 failed:1 failed_status:IBV_WC_RETRY_EXC_ERR failed_ms:4000
	oldest_opcode:SEND oldest_ms:0 oldest_length:4096 idle_ms:0}
	  {device:mlx5_0 qp_num:21 type:RC state:RTS dest_qp_num:22 gid_index:2 gid:::ffff:10.0.0.21
	peer_gid:::ffff:10.0.0.22 traffic_class:0 sl:0 sends_posted:0 sends_signaled:0 sends_completed:0
	recvs_posted:0 recvs_completed:0 failed:0 idle_ms:0}
	  {device:mlx5_0 qp_num:23 type:RC state:INIT sends_posted:0 sends_signaled:0 sends_completed:0
	recvs_posted:0 recvs_completed:0 failed:0 idle_ms:0}
	  {device:mlx5_0 qp_num:25 type:RC state:RTS sends_posted:9 sends_signaled:8 sends_completed:7 recvs_posted:0
	recvs_completed:0 failed:0 oldest_opcode:SEND_WITH_IMM oldest_ms:0 oldest_length:4096 idle_ms:0}]}
END

ok 'where datagrams go is told by the last one' has datagrams <<-'END'
	{program:worker pid:10 reason:request
	  ports: [{device:mlx5_0 port:1}]
	  qps: [{device:mlx5_0 port:1 qp_num:17 type:UD state:RTS qkey:51 sends_posted:0 sends_signaled:0
	sends_completed:0 recvs_posted:0 recvs_completed:0 failed:0 idle_ms:0}
	  {device:mlx5_0 port:1 qp_num:18 type:UD state:RTS dest_qp_num:77 qkey:51 sent_qkey:17 sends_posted:9
	sends_signaled:8 sends_completed:7 recvs_posted:0 recvs_completed:0 failed:0 oldest_opcode:SEND oldest_ms:0
	oldest_length:4096 idle_ms:0}
	  {device:mlx5_0 port:1 qp_num:19 type:UD state:RTS dest_qp_num:77 gid_index:5 peer_gid:fe80::3 qkey:51
	sent_qkey:17 sends_posted:9 sends_signaled:8 sends_completed:7 recvs_posted:0 recvs_completed:0 failed:0
	oldest_opcode:SEND oldest_ms:0 oldest_length:4096 idle_ms:0}
	  {device:mlx5_0 port:1 qp_num:20 type:UD state:RTS dest_qp_num:88 gid_index:5 peer_gid:fe80::3 qkey:51
	sent_qkey:17 sends_posted:9 sends_signaled:8 sends_completed:7 recvs_posted:0 recvs_completed:0 failed:0
	oldest_opcode:SEND oldest_ms:0 oldest_length:4096 idle_ms:0}]}
END

# Of each interface: its type, and what is known of its VLAN and its priorities.
interfaces() {
	written interfaces >/dev/null
	members gid_type vlan lossless >"$scratch/got"
	diff "$scratch/got" -
}
ok 'of an interface is told what is certain' interfaces <<-'END'
	17 RoCE v2 5 -
	18 RoCE v2 0 -
	19 RoCE v2 - -
	20 RoCE v2 - -
	21 RoCE v2 - -
	22 RoCE v2 - -
	23 RoCE v1 0 -
	24 IB - -
	25 - - -
	26 - - -
	27 RoCE v2 0 -
	28 RoCE v2 0 1
	29 RoCE v2 - -
	30 RoCE v2 - -
END

limits() {
	written many >/dev/null
	jq -c 'select(.kind == "state") | [.ports[].port], [.ports[].rate_mbps // 0], [.gids[] | .gid_index, .gid], (.qps | length)' <"$scratch/states"
	written many_gids >/dev/null
	jq -c 'select(.kind == "state").gids | [length, .[-1].gid]' <"$scratch/states"
	# The first and the last process, and how many.
	written forged >/dev/null
	jq -c '[.pid, .program]' <"$scratch/states" | sed -n '1p; $p; $='
}
# limited <LIMITS>
limited() {
	limits >"$scratch/got"
	diff "$scratch/got" -
}
ok '16 ports, 64 GIDs of one and 512 processes are kept, and a table of GIDs ends with the eighth empty row' \
	limited <<-'END'
	[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]
	[999999000]
	[0,"fe80::1",8,"fe80::2",16,"fe80::2"]
	19
	[64,"fe80::40"]
	[10,"worker"]
	[610,"?"]
	512
END

ok 'what has ended is told once, with the signal that did it, and what lives to all who ask' has ends <<-'END'
	{program:worker pid:20 reason:end signal:0 rank:0}
	{program:worker pid:21 reason:end rank:1}
	{program:worker pid:22 reason:end signal:9 rank:2}
	{program:worker pid:23 reason:end rank:3}
	asked
	{program:worker pid:24 reason:request stopped:true rank:4}
	{program:worker pid:25 reason:request rank:5}
	and again
	{program:worker pid:24 reason:request stopped:true rank:4}
	{program:worker pid:25 reason:request rank:5}
	{program:worker pid:20 reason:end signal:0 rank:6}
END

ok 'a signal that was passed on has ended what exits' has passed <<-'END'
	{program:worker pid:20 reason:end signal:15 rank:0}
	{program:worker pid:21 reason:end signal:9 rank:1}
	{program:worker pid:22 reason:end signal:15 rank:2}
END

ok 'how the command has ended is known' has ended <<-'END'
	{program:worker pid:20 reason:end signal:9 rank:0}
	{program:worker pid:21 reason:end rank:1}
	{program:worker pid:22 reason:end signal:0 rank:2}
END

ok 'states are written every two seconds, and to who asks' has often <<-'END'
	{program:sender pid:10 reason:wait rank:0}
	{program:receiver pid:11 reason:wait rank:1}
	asked
	{program:sender pid:10 reason:request rank:0}
	{program:receiver pid:11 reason:request rank:1}
	later
	{program:sender pid:10 reason:wait rank:0}
	{program:receiver pid:11 reason:wait rank:1}
END

# The command's processes ended two seconds before that was written.
ended_before() {
	written ended >/dev/null
	jq -s -c 'map(.time | (.[:19] + "Z" | fromdate) * 1000 + (.[20:23] | tonumber)) | max as $latest | map(. - $latest)' <"$scratch/states"
}
was_before() {
	[[ $(ended_before) == '[-2000,-2000,0]' ]]
}
ok 'what has ended has the time of its end' was_before

of_this_machine() {
	local time now
	written all >/dev/null
	diff <(jq -r 'select(.kind == "state") | .host, .boot_id, .kernel' <"$scratch/states") \
		<(hostname; cat /proc/sys/kernel/random/boot_id; uname -r)
	time=$(jq -r 'select(.kind == "state").time' <"$scratch/states")
	now=$(date +%s)
	(($(date -d "$time" +%s) <= now && $(date -d "$time" +%s) > now - 60))
}
ok 'a state has the names of the machine, and the time' of_this_machine

# said CASE <LINES>: what the first line of each page says, and what happens between them.
said() {
	written "$1" >/dev/null
	sed -nE 's/^(rdmaez-explain: rank .) on .* (and rank .) on .* (disagree.*)/\1 \2 \3/p; /^[a-z ]+$/p' "$scratch/page" >"$scratch/got"
	diff "$scratch/got" -
}
ok 'the page is said again after a minute, if it begins with something else, and to who asks' said page <<-'END'
	rdmaez-explain: rank 0 and rank 1 disagree: sq_psn 5 against rq_psn 6
	asked
	rdmaez-explain: rank 0 and rank 1 disagree: sq_psn 5 against rq_psn 6
	something new within a minute
	and after it
	rdmaez-explain: rank 1 and rank 0 disagree: sq_psn 7 against rq_psn 5
	the same after another one
END

ok 'at the end it is said of what has failed' said page_at_end <<-'END'
	as a line
	one of the two alone
	both
	rdmaez-explain: rank 0 and rank 1 disagree: sq_psn 5 against rq_psn 6
END

done_testing
