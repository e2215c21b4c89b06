#!/bin/bash
# SPDX-License-Identifier: MIT
#
# rdmaez-explain: the verbs of the control path. tests/tools/explain/verbs.c makes each refusal once, and sees the same
# with it and without it.

source tests/tap.bash
source tests/tools/explain.bash
programs verbs provider

# explains_program COMMAND CASE [FINDING...]: the program sees what it saw without, and exactly these findings are made:
# their kind, the verb or event, the errno value and the reasons, in this order.
explains_program() {
	local findings
	"$1" "$2" >"$scratch/alone"
	rm -f "$scratch/json"
	ends 0 --json "$scratch/json" "${options[@]}" "$1" "$2"
	diff "$scratch/alone" "$scratch/out"
	findings=$(jq --raw-output 'select(.kind != "summary") | "\(.kind) \(.record.event // .record.call) " +
		"\(.record.errno) \([.record.findings[].reason] | join(" "))"' "$scratch/json" 2>/dev/null || :)
	diff <(printf '%s\n' "${@:3}" | grep . | sort) <(grep . <<<"$findings" | sort)
}
options=()

explains() {
	explains_program verbs "$@"
}

# ends_with CASE TEXT: the last line says so.
ends_with() {
	ends 0 verbs "$1"
	[[ $(tail -n 1 "$scratch/err") == *"$2" ]] || { cat "$scratch/err"; return 1; }
}

# What the program found out about its queue pair, which thread after thread destroys.
says_too_early() {
	ends 0 verbs held
	says 'IBV_WC_RETRY_EXC_ERR'
	[[ $(<"$scratch/out") == "too early $1" ]] || { cat "$scratch/out"; return 1; }
}

passes() {
	explains "$1"
	silent
}

ok 'explains that devices cannot be listed' explains list_refused 'refusal ibv_get_device_list ENOSYS DEVICE_NONE'
ok 'explains an empty list of devices' explains list_empty 'refusal ibv_get_device_list ENODEV DEVICE_NONE'
ok 'counts it as that' says '1 refusal \(ibv_get_device_list ENODEV 1\)'
ok 'explains a device that cannot be opened' explains open_refused 'refusal ibv_open_device EACCES UNEXPLAINED'
ok 'explains a context that cannot be imported' explains import_device 'refusal ibv_import_device EIO DEVICE_GONE'
ok 'explains a device that cannot be closed, and what follows once' explains close_refused \
	'refusal ibv_close_device EBUSY BUSY' 'refusal ibv_alloc_dm EINVAL DM_NONE' \
	'completion ibv_poll_cq 0 IBV_WC_RETRY_EXC_ERR'
ok 'explains it where another verb opens it' explains open_inner 'refusal ibv_open_device EACCES UNEXPLAINED' \
	'refusal ibv_close_device EBUSY BUSY'
ok 'explains that a program cannot fork any more' explains fork_init 'refusal ibv_fork_init EINVAL FORK_LATE'
ok 'only counts queries' passes query
ok 'takes rows that are empty, or beyond a table, for no failure' passes rows
options=(--only query)
ok 'shows queries if asked to' explains query 'query ibv_query_device EIO DEVICE_GONE' \
	'query ibv_query_port EINVAL UNEXPLAINED'
ok 'does not show rows that are not there even then' passes rows
ok 'shows others' explains query_others 'query ibv_query_gid_table EIO DEVICE_GONE' \
	'query ibv_query_gid_table EINVAL UNEXPLAINED' 'query ibv_query_ece EIO DEVICE_GONE' \
	'query ibv_query_port EINVAL UNEXPLAINED'
ok 'shows that an SRQ has no number' explains srq_number 'query ibv_get_srq_num EOPNOTSUPP NOT_SUPPORTED'
options=()

ok 'explains a protection domain' explains alloc_pd 'refusal ibv_alloc_pd ENOMEM NO_RESOURCES'

# holds CASE COUNTS: the creation that was refused names how many there are; of the fake the kernel knows nothing.
holds() {
	explains_program verbs "$1" "${@:3}"
	[[ $(jq --compact-output '.held // empty' "$scratch/json") == "$2" ]]
}
counts_its_own() {
	holds alloc_pd '{"object":"PD","process":1}' 'refusal ibv_alloc_pd ENOMEM NO_RESOURCES'
	says '  This process has created 1 protection domain that it has not destroyed\.$'
}
line_counts() {
	ends 0 --line verbs alloc_pd
	says ' held=PD:1 call=ibv_alloc_pd error=ENOMEM '
}
ok 'says how many the process holds of what cannot be had' counts_its_own
ok 'says it in a line' line_counts
none_left() {
	explains_program verbs none_left 'refusal ibv_create_cq ENOMEM NO_RESOURCES' 'refusal ibv_create_qp ENOMEM NO_RESOURCES' \
		'refusal ibv_create_srq ENOSPC NO_RESOURCES' 'refusal ibv_reg_mr EAGAIN CGROUP BUSY' \
		'refusal ibv_create_cq EIO PROVIDER_FAULT DEVICE_GONE'
	diff <(jq --compact-output 'select(.record) | .held' "$scratch/json" | sort) - <<-'END'
		null
		{"object":"CQ","process":1,"most":1024}
		{"object":"MR","process":1}
		{"object":"QP","process":1,"most":1024}
		{"object":"SRQ","process":1}
	END
}
ok 'says of each kind how many the process holds, and the limit where the device tells it' none_left
ok 'does not count where nothing is short' holds cq_limit '' 'refusal ibv_create_cq EINVAL CAP_LIMIT'
ok 'explains a protection domain in use' explains pd_busy 'refusal ibv_dealloc_pd EBUSY PD_IN_USE'
ok 'explains access flags' explains reg_access 'refusal ibv_reg_mr EINVAL MR_LOCAL_WRITE'
ok 'explains access flags that are optional' explains reg_iova 'refusal ibv_reg_mr_iova EINVAL MR_LOCAL_WRITE' \
	'refusal ibv_reg_mr EINVAL MR_LOCAL_WRITE'
ok 'explains a dma-buf that is none' explains reg_dmabuf 'refusal ibv_reg_dmabuf_mr EBADF MR_DMABUF_FD'
ok 'takes a probe for dma-bufs for no failure' passes probe_dmabuf
ok 'explains a memory region in use' explains mr_bound 'refusal ibv_dereg_mr EBUSY MR_IN_USE'
ok 'explains what cannot be imported' explains import 'refusal ibv_import_pd EINVAL UNEXPLAINED' \
	'refusal ibv_import_mr EINVAL UNEXPLAINED' 'refusal ibv_import_dm EINVAL UNEXPLAINED'
ok 'imports, and forgets what was imported' passes imported
ok 'explains a verb that the library does not have' explains newer 'refusal ibv_reg_mr_ex EOPNOTSUPP NOT_SUPPORTED'
ok 'explains memory windows' explains window 'refusal ibv_alloc_mw ENOMEM NO_RESOURCES' \
	'refusal ibv_dealloc_mw EBUSY BUSY'

ok 'explains a completion queue' explains cq_limit 'refusal ibv_create_cq EINVAL CAP_LIMIT'
ok 'explains a completion vector' explains cq_vector 'refusal ibv_create_cq EINVAL RANGE'
ok 'explains an extended completion queue' explains cq_ex 'refusal ibv_create_cq_ex EINVAL CAP_LIMIT'
ok 'explains a size' explains cq_resize 'refusal ibv_resize_cq EINVAL CAP_LIMIT'
ok 'explains a completion channel' explains channel 'refusal ibv_create_comp_channel EMFILE UNEXPLAINED' \
	'refusal ibv_destroy_comp_channel EBUSY CHANNEL_IN_USE' 'refusal ibv_get_cq_event EIO DEVICE_GONE'
ok 'explains a completion queue in use' explains cq_busy 'refusal ibv_destroy_cq EBUSY CQ_IN_USE'
ok 'explains a shared receive queue' explains srq_limit 'refusal ibv_create_srq EINVAL CAP_LIMIT'
ok 'explains an extended shared receive queue' explains srq_parts 'refusal ibv_create_srq_ex EINVAL SRQ_PARTS'
ok 'explains a shared receive queue that cannot be changed' explains srq_change \
	'refusal ibv_modify_srq ENOSYS NOT_SUPPORTED'
ok 'explains a shared receive queue in use' explains srq_busy 'refusal ibv_destroy_srq EBUSY SRQ_IN_USE'
ok 'explains the file of an XRC domain' explains xrcd_file 'refusal ibv_open_xrcd EBADF XRCD_FILE'
ok 'explains an XRC domain in use' explains xrcd_busy 'refusal ibv_close_xrcd EBUSY XRCD_IN_USE'

ok 'explains an empty GID index' explains ah_empty 'refusal ibv_create_ah ENODATA GID_EMPTY GID_SUITS'
ok 'explains a GID index beyond the table' explains ah_index 'refusal ibv_create_ah EINVAL GID_INDEX'
ok 'explains a GID of another family' explains ah_family 'refusal ibv_create_ah EINVAL GID_FAMILY GID_SUITS'
ok 'explains a peer without a route' explains ah_unreachable 'refusal ibv_create_ah ENETUNREACH NO_ROUTE'
ok 'explains an address without a GRH' explains ah_no_grh 'refusal ibv_create_ah EINVAL GRH_MISSING'
ok 'explains the port of an address' explains ah_port 'refusal ibv_create_ah EINVAL PORT'

ok 'explains an address that cannot be destroyed' explains ah_busy 'refusal ibv_destroy_ah EIO DEVICE_GONE'

ok 'explains that there is no device memory' explains dm_none 'refusal ibv_alloc_dm EINVAL DM_NONE'
ok 'explains too much device memory' explains dm_long 'refusal ibv_alloc_dm EINVAL RANGE'
ok 'explains device memory that is used up' explains dm_full 'refusal ibv_alloc_dm ENOMEM DM_FULL'
ok 'explains an alignment, once for each place' explains dm_align 'refusal ibv_alloc_dm EINVAL DM_ALIGNMENT'
ok 'says it as the program gave it' says 'log_align_req: .*Given: 20'
ok 'explains access to device memory' explains dm_access 'refusal ibv_reg_dm_mr EINVAL MR_LOCAL_WRITE'
ok 'explains a region that is not zero-based' explains dm_based 'refusal ibv_reg_dm_mr EINVAL DM_ZERO_BASED'
ok 'explains device memory in use' explains dm_busy 'refusal ibv_free_dm EBUSY DM_IN_USE'
ok 'explains device memory that is gone, and leaves it alone' explains dm_stale 'refusal ibv_free_dm ENOENT DM_STALE'

ok 'explains device memory that has a region' explains dm_region 'refusal ibv_free_dm EBUSY DM_IN_USE'

ok 'explains counters and actions of flows' explains flows 'refusal ibv_read_counters EINVAL UNEXPLAINED' \
	'refusal ibv_attach_counters_point_flow EPROTONOSUPPORT NOT_SUPPORTED' \
	'refusal ibv_destroy_counters EBUSY COUNTERS_IN_USE' \
	'refusal ibv_create_flow_action_esp EOPNOTSUPP NOT_SUPPORTED' \
	'refusal ibv_modify_flow_action_esp ENOMEM NO_RESOURCES' \
	'refusal ibv_destroy_flow_action EBUSY FLOW_ACTION_IN_USE'

# All that a driver may have or not.
optional=(alloc_null_mr advise_mr modify_cq open_qp modify_qp_rate_limit alloc_td dealloc_td alloc_parent_domain
	create_wq modify_wq destroy_wq create_rwq_ind_table destroy_rwq_ind_table create_flow destroy_flow create_counters)
optional=("${optional[@]/%/ EOPNOTSUPP NOT_SUPPORTED}")
ok 'explains each verb that a driver lacks' explains optional "${optional[@]/#/refusal ibv_}"
optional_well() {
	explains optional_well
	silent
	ends 0 --summary verbs optional_well
	says ': nothing was refused, never destroyed: 2 PDs, 1 MR, 1 CQ, 2 QPs$'
}
ok 'says nothing where it has them, and counts what is destroyed by other verbs' optional_well

ok 'explains the capabilities of a queue pair' explains qp_limit 'refusal ibv_create_qp EINVAL CAP_LIMIT' \
	'refusal ibv_create_qp EINVAL CAP_LIMIT'
ok 'finds how much inline data there may be, and blames nothing else' explains qp_inline \
	'refusal ibv_create_qp EINVAL CAP_INLINE' 'refusal ibv_create_qp_ex EINVAL CAP_INLINE'
ok 'and says it' says 'Given: 300 bytes; accepted: 0 to 256\.'
ok 'for both verbs' says 'Given: 1073741824 bytes; accepted: 0 to 256\. '
ok 'explains operations that the type lacks' explains qp_ex 'refusal ibv_create_qp_ex EOPNOTSUPP NOT_SUPPORTED'
ok 'takes nothing away from what a flag brings along' explains qp_source \
	'refusal ibv_create_qp_ex EOPNOTSUPP NOT_SUPPORTED CREATE_TYPE'
ok 'explains a domain that is missing' explains qp_domain \
	'refusal ibv_create_qp_ex EOPNOTSUPP CREATE_DOMAIN NOT_SUPPORTED'
ok 'explains a move, and leaves the state as the program knows it' explains move \
	'refusal ibv_modify_qp EINVAL TRANSITION'
ok 'explains each reason at a place, as long as few were explained there' explains reasons \
	'refusal ibv_modify_qp EINVAL TRANSITION' 'refusal ibv_modify_qp EINVAL MASK_MISSING' \
	'refusal ibv_modify_qp EINVAL MASK_NOT_ALLOWED'
ok 'and counts them together' says ': 9 refusals \(ibv_modify_qp EINVAL 9\)$'
ok 'explains none after eight of one' explains reasons_enough \
	'refusal ibv_modify_qp EINVAL TRANSITION' 'refusal ibv_modify_qp EINVAL MASK_MISSING'
ok 'and counts it all the same' says ': 10 refusals \(ibv_modify_qp EINVAL 10\)$'
ok 'explains a queue pair in use' explains qp_busy 'refusal ibv_destroy_qp EBUSY QP_IN_USE'
ok 'explains a multicast group' explains multicast 'refusal ibv_attach_mcast ENOMEM NO_RESOURCES' \
	'refusal ibv_detach_mcast EINVAL UNEXPLAINED'
ok 'explains ECE options, but not that there are none' explains ece 'refusal ibv_set_ece EINVAL UNEXPLAINED'

ok 'explains an event of a queue pair' explains event_qp 'event IBV_EVENT_QP_ACCESS_ERR 0 WC_PEER_REQUEST WC_ACCESS'
ok 'explains other events' explains event_cq 'event IBV_EVENT_CQ_ERR 0 EVENT_CQ_ERR EVENT_CQ_ERR' \
	'event IBV_EVENT_PORT_ERR 0 EVENT_PORT_ERR EVENT_PORT_ERR'
ok 'names the port' says '^IBV_EVENT_PORT_ERR of port 1 \(the port is down\) on fake0'
ok 'explains events of one place by themselves' explains event_path 'event IBV_EVENT_PATH_MIG_ERR 0 ' \
	'event IBV_EVENT_QP_FATAL 0 '
ok 'and counts them so' says '\]: 2 events \(IBV_EVENT_PATH_MIG_ERR 1, IBV_EVENT_QP_FATAL 1\)$'
ok 'explains that no event can be had' explains event_refused 'refusal ibv_get_async_event EIO DEVICE_GONE'
options=(--only refusal)
ok 'has no event where nobody asked for them' passes event_qp
ok 'nor of another object' passes event_cq
options=()
ok 'says nothing of events that tell of no error, or of none yet' passes event_well
ok 'says nothing while all is well' passes well

ok 'gives no advice unless asked to' explains advice \
	'refusal ibv_modify_qp EINVAL MASK_NOT_ALLOWED GID_SUITS GID_ROCE_V1 HOP_LIMIT'
options=(--advice)
ok 'gives advice on a move that is accepted' explains advice 'advice ibv_modify_qp 0 GID_SUITS GID_ROCE_V1 HOP_LIMIT' \
	'refusal ibv_modify_qp EINVAL MASK_NOT_ALLOWED GID_SUITS GID_ROCE_V1 HOP_LIMIT'
ok 'gives advice on an order that is not there' explains reg_relaxed 'advice ibv_reg_mr 0 ORDER_RELAXED' \
	'refusal ibv_dealloc_pd EBUSY PD_IN_USE'
ok 'gives it on memory that two devices have' explains order_devices 'advice ibv_reg_mr 0 ORDER_DEVICES' \
	'advice ibv_reg_mr 0 ORDER_DEVICES'
ok 'names the other device, and no more of it' says '^Writes into this memory region are not ordered on other 1\.$' \
	'to the same memory by fake0, and' '^Writes into this memory region are not ordered on fake0\.$' \
	'to the same memory by other 1, and' '\]: 2 pieces of advice \(ORDER_DEVICES 2\), never destroyed: 2 contexts, 2 PDs, 8 MRs, '
ok 'compares as many regions as it keeps' explains order_many 'advice ibv_reg_mr 0 ORDER_DEVICES'
options=()
ok 'and none unless asked to' explains reg_relaxed 'refusal ibv_dealloc_pd EBUSY PD_IN_USE'

ok 'tells what was never destroyed' ends_with left_over ', never destroyed: 1 PD, 2 MRs, 1 CQ, 1 QP'
ok 'tells which queue pairs ended in ERR' ends_with in_error ', 1 queue pair in ERR'
ok 'counts none that was reset' ends_with recovered '1 failed completion (IBV_WC_RETRY_EXC_ERR 1)'
ok 'finds one among thousands' ends_with many_qps ', 1 queue pair in ERR'
ok 'finds its context' says 'QP 50[0-9][0-9], RC, in ERR'

ok 'still knows the first of many' ends_with first_of_many ', 1 queue pair in ERR'
ok 'with its type' says 'QP ([0-9]|[1-9][0-9]), RC, in ERR'

ok 'adopts a context' explains adopted 'refusal ibv_alloc_dm EINVAL DM_NONE'
ok 'leaves alone what the tables of older providers lack' passes older
ok 'gives each context its own functions back' explains again 'refusal ibv_alloc_dm EINVAL DM_NONE'
ok 'lets no queue pair go while it is looked at' says_too_early 0
ok 'explains a child as well as its parent' explains forked 'refusal ibv_dealloc_pd EBUSY PD_IN_USE' \
	'refusal ibv_dealloc_pd EBUSY PD_IN_USE' 'refusal ibv_destroy_cq EBUSY CQ_IN_USE'

# More findings than a process has room for; those of a kind that nobody asked for are not told.
many() {
	ends 0 "$@" --summary verbs many_errors
	[[ ! -s $scratch/out ]]
}
ok 'says how many findings it had no room for' many
ok 'and counts the others' says '\]: 70 refusals \(ibv_dereg_mr EPERM 1, .*, ibv_dereg_mr unknown 43, .*\), 6 findings not shown$'
not_asked() {
	many --only event
	[[ $(grep -c . "$scratch/err") == 1 ]]
	says '\]: nothing was refused$'
}
ok 'has none where nobody asked for them' not_asked
odd_name() {
	ends 0 "$@" verbs odd_name
}
ok 'writes the name of a device as a terminal may have it' odd_name
ok 'in words' says '^IBV_WC_RETRY_EXC_ERR of QP [0-9]+, wr_id 0x0, vendor_err 0x0 on fake 0\?\[2J\.$'
ok 'also as a pair' odd_name --line
ok 'of which a blank is no end' says ' call=ibv_poll_cq error=0 device=fake\?0\?\[2J finding=error:IBV_WC_RETRY_EXC_ERR:status:none$'

# What changes something is answered within an explanation, and does not come to the device.
answers_within() {
	ends 0 verbs within
	says 'IBV_WC_RETRY_EXC_ERR'
	[[ $(<"$scratch/out") == '1 1 1 1 1 1 1 child 0 dm 1 reached 0' ]] || { cat "$scratch/out"; return 1; }
}
ok 'lets nothing be changed while it explains' answers_within

# by what means: a provider's own functions are called by their names, or looked up.
provider_by() {
	explains_program provider "$1" 'refusal mlx5dv_create_cq EINVAL CAP_LIMIT' \
		'refusal mlx5dv_create_qp EINVAL CAP_LIMIT' 'refusal mlx5dv_create_qp EINVAL CAP_LIMIT' \
		'refusal mlx5dv_alloc_dm EOPNOTSUPP NOT_SUPPORTED' 'refusal mlx5dv_reg_dmabuf_mr EOPNOTSUPP MR_DMABUF_EXPORTER' 'completion ibv_poll_cq 0 WC_RECV_SHORT WC_LIMIT'
	says 'QP 9, DRIVER,$' ', 2 unseen queues used without verbs, never destroyed: 1 context, 1 PD, 1 CQ, 1 QP$'
}
ok "explains what a provider's own functions refuse" provider_by linked
ok 'explains it if they are looked up' provider_by loaded

# DEVX: what the firmware has answered; and what it made goes around verbs.
devx() {
	explains_program provider devx 'refusal mlx5dv_devx_obj_create EREMOTEIO DEVX_REFUSED' \
		'refusal mlx5dv_devx_obj_modify EREMOTEIO DEVX_REFUSED' \
		'refusal mlx5dv_devx_obj_modify EREMOTEIO DEVX_REFUSED' \
		'refusal mlx5dv_devx_obj_modify EINVAL UNEXPLAINED'
	tr -s '\n ' ' ' <"$scratch/err" >"$scratch/words"
	grep -F 'mlx5dv_devx_obj_create failed with EREMOTEIO (121) on fake0. out: the firmware has refused CREATE_QP: status BAD_PARAM_ERR (0x3), syndrome 0x1234. Next: compare the command' "$scratch/words"
	grep -F 'out: the firmware has refused INIT2RTR_QP: status BAD_QP_STATE_ERR (0x10), syndrome 0x1234.' "$scratch/words"
	grep -F 'out: the firmware has refused the command: status BAD_QP_STATE_ERR (0x10), syndrome 0x1234.' "$scratch/words"
	says ', 1 unseen queue used without verbs'
}
ok 'explains what the firmware refuses by DEVX' devx

others() {
	explains_program provider others 'refusal mlx5dv_create_cq EINVAL CAP_LIMIT' \
		'refusal mlx5dv_create_qp EINVAL CAP_LIMIT' 'refusal mlx5dv_create_qp EINVAL CAP_LIMIT' \
		'refusal efadv_create_qp_ex EINVAL CAP_LIMIT' 'refusal hnsdv_create_qp EINVAL CAP_LIMIT' \
		'refusal mlx4dv_create_qp EINVAL CAP_LIMIT' 'refusal efadv_create_driver_qp EINVAL CAP_LIMIT' \
		'refusal efadv_create_cq EINVAL CAP_LIMIT' 'refusal efadv_create_comp_cntr ENOMEM NO_RESOURCES' \
		'refusal bnxt_re_dv_create_qp ENOMEM NO_RESOURCES' 'refusal bnxt_re_dv_create_cq EINVAL UNEXPLAINED' \
		'refusal bnxt_re_dv_destroy_cq EBUSY BUSY'
	says ', 2 unseen queues used without verbs, never destroyed: 1 context, 1 PD, 2 CQs, 1 QP$'
}
ok 'explains what the libraries of other providers refuse' others

# preprocessed: what the C compiler makes of stdin.
preprocessed() {
	"${CC:-cc}" -D_GNU_SOURCE -DRDMAEZ_EXTERN -Iinclude -Itools/explain -E -P -x c -
}

# members HEADER: those of struct verbs_context and of struct ibv_context_ops, but for what rdma-core itself has given up.
members() {
	preprocessed <<<"#include <$1>" | perl -0ne '
		for my $struct (qw(verbs_context ibv_context_ops)) {
			my ($body) = /struct $struct \{(.*?)\};/s or die "no struct $struct";
			for my $member (split /;/, $body) {
				next unless $member =~ /\S/;
				my ($name) = $member =~ /\(\s*\*\s*(\w+)\s*\)/ ? $1 : $member =~ /(\w+)\s*$/;
				print "$name\n" unless $name =~ /^_compat_/;
			}
		}' | sort
}

# listed LIST...: what stands in these lists of tools/explain.
listed() {
	{ echo '#include "data.h"'; echo '#include "verbs.h"'; echo '#define LISTED(entry, ...) listed: entry'
		printf '%s(LISTED)\n' "$@"; } | preprocessed | grep -o 'listed: [a-z_A-Z0-9]*' | sed 's/.* //' | sort
}

every_member_is_listed() {
	diff <(members "${1:-infiniband/verbs.h}") <(listed EXPLAIN_TABLE EXPLAIN_OPS EXPLAIN_DATA EXPLAIN_LEFT_ALONE)
}
ok 'each entry of a context is explained, or left alone for a reason' every_member_is_listed
sed '/^struct verbs_context {/a int (*new_verb)(struct ibv_context *context);' /usr/include/infiniband/verbs.h >"$scratch/newer.h"
fails 'sees an entry that is new' '< new_verb' every_member_is_listed "$scratch/newer.h"

# every_case_is_told FILE: each case of verbs.c is a word of this file, after what is made of it.
every_case_is_told() {
	grep -v '^#' tests/tools/explain/verbs.c | grep -oE '\<CASE\([a-z0-9_]+\)' | sed 's/CASE(\(.*\))/\1/' | sort >"$scratch/cases"
	(($(wc -l <"$scratch/cases") > 50))
	diff "$scratch/cases" <(grep -oE '(explains|explains_program verbs|passes|ends_with|(ends 0|--summary|"\$@") verbs) [a-z0-9_]+' "$1" |
		sed 's/.* //' | sort -u | join - "$scratch/cases")
}
ok 'each refusal that is made is told' every_case_is_told "$0"
grep -v xrcd_busy "$0" >"$scratch/told"
fails 'sees one that is not' '< xrcd_busy' every_case_is_told "$scratch/told"

fails 'sees a reason that is another' 'CQ_IN_USE' explains pd_busy 'refusal ibv_dealloc_pd EBUSY CQ_IN_USE'
fails 'sees a finding that is not expected' 'DEVICE_NONE' explains list_empty

done_testing
