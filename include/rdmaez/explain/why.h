/* SPDX-License-Identifier: MIT */
/* Has the sentences of the reasons. */
#ifndef RDMAEZ_EXPLAIN_WHY_H
#define RDMAEZ_EXPLAIN_WHY_H

/*
 * The reasons are in groups, each with its id, what is wrong, and what to do about it. The texts in
 * diag.h, the data files and the table in the documentation are made from this list.
 */
/*
 * This group has queue pairs, ports, GIDs and paths, and what functions of several of the other
 * groups give.
 */
#define RDMAEZ_IMPL_WHY_CORE(X)                                                                    \
	X(NONE, "nothing is wrong", "nothing to do")                                               \
	X(NULL_ARGUMENT, "a required pointer is NULL", "pass a pointer to the object")             \
	X(OPTION_UNKNOWN, "the options have bits set that this version of rdmaez does not know",   \
	  "start from zeroed options and set only documented bits")                                \
	X(OPTION_TWICE, "this timer is set twice, as a code and in ns",                            \
	  "set one of the two options, and leave the other 0")                                     \
	X(QP_TYPE, "verbs have no transition table for this queue pair type",                      \
	  "use RC, UC, UD, RAW_PACKET, XRC_SEND or XRC_RECV; for IBV_QPT_DRIVER name the "         \
	  "driver's type: RDMAEZ_QPT_SRD, RDMAEZ_QPT_DCI or RDMAEZ_QPT_DCT")                       \
	X(DRIVER_TYPE_UNTOLD,                                                                      \
	  "verbs cannot tell which driver type an IBV_QPT_DRIVER queue pair has",                  \
	  "set driver_type to RDMAEZ_QPT_SRD, RDMAEZ_QPT_DCI or RDMAEZ_QPT_DCT")                   \
	X(DRIVER_TYPE_UNFIT, "this is not a driver type, or not this queue pair's type",           \
	  "name a driver type for an IBV_QPT_DRIVER queue pair, and leave driver_type 0 for "      \
	  "others")                                                                                \
	X(DRIVER_TYPE, "neither a DCI nor a DCT accepts this mask for this transition",            \
	  "call rdmaez_qp_check_as() with its driver type to see what is wrong")                   \
	X(QP_STATE, "this is not a queue pair state",                                              \
	  "use RESET, INIT, RTR, RTS, SQD, SQE or ERR")                                            \
	X(TRANSITION, "queue pairs cannot make this transition",                                   \
	  "go through one of the states listed")                                                   \
	X(MASK_MISSING, "the mask lacks attributes that this transition requires",                 \
	  "set them and add their bits to attr_mask")                                              \
	X(MASK_NOT_ALLOWED, "the mask has attributes that this transition does not take",          \
	  "remove their bits; extra attributes are refused, not ignored")                          \
	X(MASK_RATE_LIMIT,                                                                         \
	  "before Linux 7 only RAW_PACKET takes a rate limit, and only from RTR to RTS or within " \
	  "RTS",                                                                                   \
	  "remove the bit, or try it: from Linux 7 on each driver decides for itself")             \
	X(RANGE, "the value is out of range", "use a value within the range")                      \
	X(ENUM, "the value is not a constant of the enum", "use one of the enum's constants")      \
	X(MTU_IN_BYTES, "an MTU is an enum ibv_mtu, not a number of bytes",                        \
	  "use IBV_MTU_256 to IBV_MTU_4096, or rdmaez_mtu_from_bytes()")                           \
	X(ACCESS_BITS, "these access flags apply to memory regions, not to queue pairs",           \
	  "use only IBV_ACCESS_LOCAL_WRITE, REMOTE_READ, REMOTE_WRITE, REMOTE_ATOMIC and MW_BIND") \
	X(PORT, "the device has no such port", "use a port number within the range")               \
	X(GRH_MISSING, "this port requires a global route header",                                 \
	  "set the path's dgid to the peer's GID, and use a GID index of this port")               \
	X(PATH_EMPTY, "the path names no destination",                                             \
	  "set dgid to the peer's GID, or on InfiniBand dlid to its LID")                          \
	X(GID_INDEX, "the port's GID table has no such index", "use a GID index within the range") \
	X(GID_EMPTY, "the port's GID table is empty at this index",                                \
	  "give the network interface an address, or choose another GID index")                    \
	X(GID_TYPE, "the GID is not of the type that you asked for", "choose a GID of that type")  \
	X(GID_NO_NETDEV, "the GID belongs to no network interface",                                \
	  "bring the interface up, or choose another GID index")                                   \
	X(GID_OTHER_NETDEV,                                                                        \
	  "the GID belongs to another network interface than the one you asked for",               \
	  "choose a GID of that interface")                                                        \
	X(GID_FAMILY, "the GID and the peer's GID are of different families, IPv4 and IPv6",       \
	  "use IPv4-mapped GIDs at both ends, or IPv6 GIDs at both")                               \
	X(GID_ROCE_V1, "the GID is RoCE v1, which routers do not forward and some devices refuse", \
	  "prefer the RoCE v2 GID of the same address")                                            \
	X(GID_LINK_LOCAL, "the GID is link-local, which reaches only its own Ethernet segment",    \
	  "prefer an IPv4-mapped or a global GID")                                                 \
	X(GID_NEARER,                                                                              \
	  "this GID shares a longer prefix with the peer's, so it may be on the peer's subnet",    \
	  "try this GID index")                                                                    \
	X(GID_NONE, "the port has no suitable GID",                                                \
	  "give the network interface an address, or ask for less")                                \
	X(PKEY_NOT_FOUND, "the port's P_Key table does not hold this P_Key",                       \
	  "have the subnet manager add it, or use the default partition 0xffff")                   \
	X(QUERY_REFUSED, "the query failed", "see the errno value")                                \
	X(REFUSED, "the device refused without giving a reason, and the mask is correct",          \
	  "compare the values with the port's and the device's limits")                            \
	X(UNEXPLAINED,                                                                             \
	  "the device refused without giving a reason, and rdmaez found nothing wrong",            \
	  "compare with the device's limits, and see the kernel log")                              \
	X(MASK_UNKNOWN, "the mask has bits that stand for no attribute in Linux and rdma-core",    \
	  "clear these bits, unless you have a vendor's library and kernel that know them")        \
	X(MASK_CAP, "queue pairs cannot be resized: no transition takes IBV_QP_CAP",               \
	  "create the queue pair with the sizes it needs")                                         \
	X(MASK_DROPPED, "the system call silently drops these attributes for XRC",                 \
	  "leave out their bits, or ignore this")                                                  \
	X(MASK_DRIVER, "this driver takes fewer attributes than the kernel's table allows",        \
	  "remove the bits")                                                                       \
	X(CUR_STATE, "this is not the state that the queue pair is in",                            \
	  "ask rdmaez_qp_state(), or leave out IBV_QP_CUR_STATE")                                  \
	X(PORT_MISMATCH, "the address vector names another port than the queue pair's",            \
	  "use the port that was set on the way to INIT")                                          \
	X(PORT_DOWN, "the port is not active, so nothing gets through", "bring the link up")       \
	X(QKEY_PRIVILEGED, "a Q_Key with its top bit set is privileged",                           \
	  "clear bit 31, run with CAP_NET_RAW, or, from Linux 6.7 on, run `rdma system set "       \
	  "privileged-qkey on`")                                                                   \
	X(GID_TYPE_REFUSED, "this driver sends RoCE v2 only, and the GID is RoCE v1",              \
	  "choose a RoCE v2 GID")                                                                  \
	X(NEIGHBOUR,                                                                               \
	  "nobody has answered for the peer's address, so its Ethernet address is not known",      \
	  "ping the peer's address from the GID's interface, and check the peer's GID")            \
	X(NO_ROUTE, "no route leads from the GID's interface to the peer's address",               \
	  "add a route, or choose a GID of an interface that has one")                             \
	X(NO_IPV6, "this kernel has no IPv6, which the GID needs",                                 \
	  "use IPv4-mapped GIDs, or turn IPv6 on: boot without ipv6.disable=1, and load its "      \
	  "module")                                                                                \
	X(APM, "alternate paths exist on native InfiniBand only",                                  \
	  "remove IBV_QP_ALT_PATH; the device's capability flag says nothing about RoCE")          \
	X(PKEY_INDEX, "the port's P_Key table has no such index",                                  \
	  "use a P_Key index within the range, or rdmaez_port_find_pkey()")                        \
	X(PKEY_EMPTY, "the port's P_Key table is empty at this index",                             \
	  "use rdmaez_port_find_pkey(); index 0 is the default partition")                         \
	X(PKEY_LIMITED,                                                                            \
	  "the P_Key has limited membership, and two limited members cannot communicate",          \
	  "make sure that the peer is a full member")                                              \
	X(MTU_ABOVE_ACTIVE,                                                                        \
	  "the path MTU is above the port's active MTU, so larger packets are lost",               \
	  "use the smaller active MTU of the two ports")                                           \
	X(MTU_ABOVE_MAX, "the path MTU is above the largest that the port supports",               \
	  "use the smaller active MTU of the two ports")                                           \
	X(MTU_DRIVER, "this driver does not support this path MTU", "use one within the range")    \
	X(DEPTH_LIMIT, "the depth is above the device's limit",                                    \
	  "use the smaller of the two devices' limits")                                            \
	X(DEPTH_ZERO,                                                                              \
	  "with a depth of 0 no READ or atomic is accepted, whatever the access flags say",        \
	  "use at least 1, or clear REMOTE_READ and REMOTE_ATOMIC")                                \
	X(DEPTH_ZERO_HANG, "with a depth of 0 a READ or atomic never leaves the queue",            \
	  "use at least 1")                                                                        \
	X(WIDTH, "the value has more bits than the field; drivers truncate, ignore or refuse it",  \
	  "use a value within the range")                                                          \
	X(PSN_WIDTH, "packet sequence numbers have 24 bits; the rest is cut off",                  \
	  "mask the PSN with 0xffffff at both ends")                                               \
	X(QPN_SWAPPED, "a queue pair number has 24 bits, and this one appears to be byte-swapped", \
	  "convert it with ntohl() when it comes from the network")                                \
	X(TIMEOUT_ZERO, "with timeout 0 no ACK timer runs, so a lost peer is never noticed",       \
	  "use 14 (67 ms) or more")                                                                \
	X(RNR_TIMER_ZERO, "min_rnr_timer 0 is not the shortest wait but the longest, 655.36 ms",   \
	  "use 12 (0.64 ms), or 1 for the shortest")                                               \
	X(RNR_RETRY_ZERO, "with rnr_retry 0 the first missing receive breaks the connection",      \
	  "use 7, which retries forever")                                                          \
	X(RETRY_ZERO, "with retry_cnt 0 the first lost packet breaks the connection", "use 7")     \
	X(HOP_LIMIT,                                                                               \
	  "the first router uses up a hop limit of 1; connected RoCE uses the route's limit "      \
	  "instead",                                                                               \
	  "use 64")                                                                                \
	X(ACCESS_TYPE, "queue pairs of this type take no such requests from their peer",           \
	  "remove the flags, or use RC")                                                           \
	X(ACCESS_ATOMIC, "the device has no atomic operations", "remove IBV_ACCESS_REMOTE_ATOMIC") \
	X(IWARP, "on iWARP the connection manager makes the transitions",                          \
	  "connect with librdmacm")                                                                \
	X(NO_SQD, "this driver has no SQD state",                                                  \
	  "drain by waiting for the last completion, then reconnect")                              \
	X(RESET_FINAL, "with this driver a queue pair cannot be used again after RESET",           \
	  "destroy the queue pair and create a new one")                                           \
	X(DCT_FINAL, "an mlx5 DCT goes from RESET to INIT to RTR, and no further",                 \
	  "destroy the DCT and create a new one")                                                  \
	X(SQ_DRAINING, "the send queue is still draining",                                         \
	  "wait for IBV_EVENT_SQ_DRAINED, or poll sq_draining")                                    \
	X(SECURITY, "the security policy forbids this partition or subnet",                        \
	  "see the audit log; SELinux labels P_Keys")                                              \
	X(NOT_SUPPORTED, "the driver does not support this", "see the driver's documentation")     \
	X(NO_RESOURCES, "memory or a device resource is exhausted",                                \
	  "free objects, which `rdma resource show` counts, raise the limits, or try again later") \
	X(BUSY, "the device or the queue pair is busy", "try again")                               \
	X(DEVICE_GONE, "the device was removed or has failed", "close it and open it again")       \
	X(TIMED_OUT, "the device did not answer in time",                                          \
	  "see the kernel log; the device may need a reset")                                       \
	X(MEMLOCK,                                                                                 \
	  "a process may lock only this much memory, and each registration counts, even of the "   \
	  "same memory on another device",                                                         \
	  "raise `ulimit -l`, memlock in limits.conf, systemd's LimitMEMLOCK or the container "    \
	  "runtime's limit")                                                                       \
	X(ADDRESS_SPACE, "the process may have reached its address space limit",                   \
	  "raise `ulimit -v`, which is RLIMIT_AS")                                                 \
	X(MR_LOCAL_WRITE, "remote write and remote atomic also need local write",                  \
	  "add IBV_ACCESS_LOCAL_WRITE")                                                            \
	X(WR_QP_ERROR,                                                                             \
	  "the queue pair has stopped working, and some drivers then take no more work requests",  \
	  "poll for the first completion with an error, then reconnect")                           \
	X(WR_OPCODE, "queue pairs of this type do not have this operation",                        \
	  "use one that ibv_post_send(3) lists for the type")                                      \
	X(WR_ATOMIC, "an atomic operates on 8 bytes at an address that is a multiple of 8",        \
	  "use one SGE of 8 bytes and an aligned remote address")                                  \
	X(NEED_UNMET, "the device does not meet this requirement",                                 \
	  "ask for what it offers, or use another device")                                         \
	X(NEED_UNKNOWN, "it is unknown whether the device meets this requirement",                 \
	  "try it, or see rdmaez_caps_source_str() for why it is unknown")                         \
	X(CAPS_TABLE, "one of the two describes a device and the other a port",                    \
	  "compare devices with devices, and ports with ports")                                    \
	X(GID_BY_ROUTE, "the kernel sends to the peer from this GID's address",                    \
	  "use this GID and advertise it, so that the peer's replies take the same way")           \
	X(GID_BY_SCOPE, "its scope matches the peer's: link-local, or routable",                   \
	  "set sgid_index if you mean another GID")                                                \
	X(GID_BY_PREFIX, "no other GID shares as long a prefix with the peer's",                   \
	  "check with `ip route get` that the route to the peer leaves through the GID's "         \
	  "interface")                                                                             \
	X(GID_BY_RANK,                                                                             \
	  "it comes first among equally suitable GIDs: RoCE v2 before v1, IPv4 before IPv6, "      \
	  "lower index before higher",                                                             \
	  "name the peer, an interface or an index if you mean another GID")                       \
	X(GID_ONLY, "no other GID of the port would do",                                           \
	  "if you mean another GID, give the network interface its address")                       \
	X(COUNTED_LOSS, "the port has counted packets that were lost, damaged or out of order",    \
	  "check the counters of the link and the switches, and flow control")                     \
	X(PORT_NO_SM, "the link is up, but no subnet manager has configured the port",             \
	  "run a subnet manager on the fabric, such as opensm")                                    \
	X(PKEY_PARTITION,                                                                          \
	  "the P_Key is not the default one, so the peer must be in its partition",                \
	  "compare the P_Keys of both ends")                                                       \
	X(GID_SUITS, "this GID is of the peer's family", "use this GID index")                     \
	X(GID_TABLE_EMPTY,                                                                         \
	  "the whole GID table is empty: the interface has no address, or is in another network "  \
	  "namespace",                                                                             \
	  "see `ip address` and `rdma system` in this namespace")                                  \
	X(GID_ROUTABLE,                                                                            \
	  "this GID is routable, and a link-local one reaches only its own Ethernet segment",      \
	  "use this GID index")                                                                    \
	X(ROUTE_ELSEWHERE,                                                                         \
	  "by itself, the kernel would send to the peer from an address that this port does not "  \
	  "have",                                                                                  \
	  "run `ip route get PEER from ADDRESS` with the GID's address: if it shows another "      \
	  "interface, use that interface's device, or add routing rules for the GID's")            \
	X(NEIGHBOUR_LATE, "the peer's Ethernet address was resolved too late", "try again")        \
	X(DEPTH_BUDGET,                                                                            \
	  "the device reports one budget of READs and atomics for all its queue pairs, and they "  \
	  "may have used it up",                                                                   \
	  "use a smaller depth for each")                                                          \
	X(AH_UNKNOWN,                                                                              \
	  "the network may not know this GID: the peer has stopped, or is in another "             \
	  "availability zone",                                                                     \
	  "exchange GIDs again")                                                                   \
	X(QP_SELF, "this queue pair is its own peer",                                              \
	  "exchange GIDs and queue pair numbers, unless you mean a loopback")                      \
	X(CGROUP, "the cgroup's limit on RDMA objects may be reached",                             \
	  "raise hca_handle and hca_object in its rdma.max, or free objects")                      \
	X(COUNTED_DOWN, "the port's link has gone down before",                                    \
	  "check the cable, the transceiver, the switch port and the kernel log")                  \
	X(RETRIED, "rdmaez tried this many times before retry_ns ran out",                         \
	  "wait longer only for a peer that is about to appear")                                   \
	X(RESET_TWICE,                                                                             \
	  "the queue pair is in RESET already, and this driver refuses the move, or makes the "    \
	  "queue pair unusable",                                                                   \
	  "leave the move out: a new queue pair is in RESET")                                      \
	X(MEMLOCK_ROOT,                                                                            \
	  "CAP_IPC_LOCK lifts the limit of locked memory for root, and this process is root "      \
	  "without it",                                                                            \
	  "start the container with `--cap-add IPC_LOCK`, or in a pod with IPC_LOCK in "           \
	  "securityContext.capabilities.add")                                                      \
	X(MEMLOCK_CONTAINER,                                                                       \
	  "in a container the runtime sets the limit of locked memory, and CAP_IPC_LOCK does not " \
	  "lift it for a process that is not root",                                                \
	  "start the container with `--ulimit memlock=-1`, or set default-ulimits in daemon.json") \
	X(MEMLOCK_POD,                                                                             \
	  "in a pod the node's container runtime sets the limit of locked memory, and IPC_LOCK "   \
	  "in securityContext does not lift it for a process that is not root",                    \
	  "set LimitMEMLOCK=infinity in the unit of containerd or CRI-O on the node, and restart " \
	  "it")                                                                                    \
	X(MEMLOCK_JOB,                                                                             \
	  "a Slurm step gets its limit of locked memory from slurmd, or from the shell that "      \
	  "submitted the job",                                                                     \
	  "set LimitMEMLOCK=infinity in slurmd.service, and "                                      \
	  "PropagateResourceLimitsExcept=MEMLOCK in slurm.conf")                                   \
	X(PROVIDER_FAULT,                                                                          \
	  "no value that the program passed causes this errno value here: the library's "          \
	  "provider, the driver or the firmware has failed",                                       \
	  "see the kernel's log, and compare the versions of rdma-core, driver and firmware: one " \
	  "may be too old for another")                                                            \
	X(BNXT_COMMANDS,                                                                           \
	  "the bnxt_re provider of rdma-core 39 and 50 is reported to garble the commands of "     \
	  "all threads but the first, and that of rdma-core 63 is not",                            \
	  "use libibverbs and its provider of rdma-core 63 or newer")                              \
	X(QKEY_NEVER, "this driver lets no program use a Q_Key with its top bit set",              \
	  "clear bit 31 at both ends; no privilege helps here")                                    \
	X(NO_OBJECT, "the kernel does not know this object, or one that it was given",             \
	  "look for a call that destroyed it earlier, and for objects of another context")

/* This group is of rdmaez_qp_examine() alone. */
#define RDMAEZ_IMPL_WHY_EXAMINE(X)                                                                 \
	X(QP_NO_SENDS, "the queue pair processes no new sends in this state", "move it to RTS")    \
	X(QP_NO_RECEIVES, "the queue pair receives nothing in this state", "move it to RTR")       \
	X(QP_STALE, "qp->state said otherwise: the queue pair has changed its state by itself",    \
	  "look for a completion with an error and for an asynchronous event")                     \
	X(QP_LOSSY,                                                                                \
	  "packets of this traffic class usually have a priority that the port does not "          \
	  "protect from loss (PFC)",                                                               \
	  "set path.traffic_class, UCX_IB_TRAFFIC_CLASS or NCCL_IB_TC to a class that "            \
	  "the network keeps lossless, or tc/1/traffic_class of the device if it has one for all " \
	  "queue pairs; `rdmaez-doctor --only quality` shows the priorities")                      \
	X(QP_UNTAGGED,                                                                             \
	  "the port takes a packet's priority from its VLAN tag, but packets of this "             \
	  "GID's interface have no tag, and so usually a priority that is not protected "          \
	  "from loss (PFC)",                                                                       \
	  "use the GID of a VLAN whose tags have a protected priority, or have this port "         \
	  "and the switches trust DSCPs, as root: mlnx_qos -i INTERFACE --trust dscp")             \
	X(QP_VLAN_PRIORITY,                                                                        \
	  "the port takes a packet's priority from its VLAN tag, which has this service level, "   \
	  "and that priority is not protected from loss (PFC)",                                    \
	  "set path.sl, NCCL_IB_SL or UCX_IB_SL to a priority that the network keeps lossless")    \
	X(RNR_ENDLESS,                                                                             \
	  "with rnr_retry 7 a send waits forever for a peer that has no receive posted",           \
	  "have the peer post receives; with rnr_retry below 7 the send would fail with an error " \
	  "instead")                                                                               \
	X(COUNTED_RNR,                                                                             \
	  "peers had no receive posted; the device counts this for all its queue pairs together",  \
	  "have the peer post receives, and enough of them")                                       \
	X(COUNTED_NO_RECEIVE,                                                                      \
	  "messages found no receive posted here; the device counts them for all its queue pairs " \
	  "together",                                                                              \
	  "post receives before the peer sends, and enough of them")                               \
	X(COUNTED_NO_ACK,                                                                          \
	  "packets were not acknowledged in time; the device counts them for all its queue pairs " \
	  "together",                                                                              \
	  "check that the peer is in RTR or RTS, and check the path to it: MTU, firewall, flow "   \
	  "control")                                                                               \
	X(COUNTED_QKEY, "the port has dropped datagrams for a wrong Q_Key since it came up",       \
	  "have the sender use the receiver's Q_Key: wr.ud.remote_qkey")                           \
	X(COUNTED_PKEY, "the port has dropped packets for a wrong P_Key since it came up",         \
	  "use P_Keys of one partition at both ends: see pkey_index")                              \
	X(QP_NOTHING_FOUND, "rdmaez found nothing that holds the queue pair up",                   \
	  "examine the peer's queue pair, poll the completion queues, and read the asynchronous "  \
	  "events")                                                                                \
	X(RETRY_ENDLESS, "rxe treats retry_cnt 7 as no limit, so a lost peer is never noticed",    \
	  "use 6 if a send has to fail in time")                                                   \
	X(CQ_NOT_POLLED,                                                                           \
	  "completions of this queue go to another completion queue than the one you poll",        \
	  "poll the queue pair's send_cq for sends and its recv_cq for receives")                  \
	X(NOTHING_POSTED, "nothing is outstanding here, so nothing can complete",                  \
	  "post first, a receive before the peer sends; then wait")                                \
	X(UNSIGNALED,                                                                              \
	  "none of the outstanding sends asks for a completion, so those that succeed produce "    \
	  "none",                                                                                  \
	  "set IBV_SEND_SIGNALED at least in the last of them, or create the queue pair with "     \
	  "sq_sig_all")                                                                            \
	X(RETRIES_LAST,                                                                            \
	  "the device notices a lost peer only when the retries are used up, and the program has " \
	  "not waited that long yet",                                                              \
	  "wait longer, or use a smaller timeout or retry_cnt")                                    \
	X(EVENT_UNREAD,                                                                            \
	  "an asynchronous event waits to be read, and may tell why, for example that a "          \
	  "completion queue overran",                                                              \
	  "read it with rdmaez_event_next()")                                                      \
	X(CQ_OTHER_SIDE,                                                                           \
	  "only one kind of the queue pair's completions comes to this queue; the other has a "    \
	  "queue of its own",                                                                      \
	  "check that what you wait for completes here: sends in send_cq, receives in recv_cq")    \
	X(CQ_OVERRUN, "the completion queue has failed, most likely because it was full",          \
	  "create it with room for all that may be outstanding, and recreate its queue pairs as "  \
	  "well")                                                                                  \
	X(CQ_UNARMED,                                                                              \
	  "the completion queue is not armed, and its channel holds no event: none will come",     \
	  "arm it with rdmaez_cq_arm() before each wait, then poll it until it is empty")          \
	X(CQ_ARMED_LATE,                                                                           \
	  "nobody polled the completion queue after it was armed, and completions that were "      \
	  "already in it cause no event",                                                          \
	  "poll it until it is empty after arming it, and only then wait")                         \
	X(CQ_EVENT_WAITS, "the channel holds an event that nobody has taken",                      \
	  "take it with rdmaez_channel_next(), and poll the queue that it names")                  \
	X(CQ_SOLICITED,                                                                            \
	  "the completion queue is armed for solicited completions only: neither successful "      \
	  "sends nor messages sent without IBV_SEND_SOLICITED cause an event",                     \
	  "arm it without RDMAEZ_CQ_SOLICITED, or have the peer set IBV_SEND_SOLICITED")           \
	X(CQ_UNACKED,                                                                              \
	  "this many events were taken but not acknowledged, so destroying the queue would wait "  \
	  "forever",                                                                               \
	  "acknowledge them with rdmaez_cq_ack() first")                                           \
	X(CQ_NOTHING_FOUND, "rdmaez found nothing that keeps completions from coming",             \
	  "poll the queue, since only that shows what is in it; then examine its queue pairs")     \
	X(EXCHANGE_UNACKED,                                                                        \
	  "the peer's host has not acknowledged what was sent, so it may be down, stopped or "     \
	  "cut off",                                                                               \
	  "check that the host answers, and that no firewall is in the way")                       \
	X(EXCHANGE_ACKED,                                                                          \
	  "the peer's host has acknowledged all that was sent, so it is there, but its program "   \
	  "has not come this far",                                                                 \
	  "find out where the peer's program is: it may not have accepted the connection, may be " \
	  "busy with something else, or may be stopped")

/* This group is of objects.h, qp_create.h and mr.h alone. */
#define RDMAEZ_IMPL_WHY_OBJECTS(X)                                                                 \
	X(CREATE_TYPE, "the device has no queue pairs of this type",                               \
	  "use a type that it has, or another device")                                             \
	X(CREATE_DOMAIN,                                                                           \
	  "no domain is given: XRC_RECV needs an XRC domain, every other type a protection "       \
	  "domain",                                                                                \
	  "call rdmaez_qp_create_ex() with the domain and its bit in comp_mask")                   \
	X(CREATE_CONTEXT, "the object belongs to another context",                                 \
	  "open the device once, and create all objects that work together on that context")       \
	X(CREATE_SRQ, "an XRC_SEND queue pair receives nothing, so it takes no SRQ",               \
	  "leave srq NULL; each work request names the peer's SRQ")                                \
	X(CREATE_SRQ_PD, "the shared receive queue belongs to another protection domain",          \
	  "create both in one protection domain")                                                  \
	X(CREATE_PRIVILEGE, "a RAW_PACKET queue pair requires CAP_NET_RAW",                        \
	  "run as root, or give the program CAP_NET_RAW")                                          \
	X(CAP_LIMIT, "this is more than the device supports", "ask for less, within the range")    \
	X(CAP_INLINE,                                                                              \
	  "this may be too much inline data; the limit depends on the queue pair type, and verbs " \
	  "do not report it",                                                                      \
	  "ask for no more than rdmaez_qp_max_inline() finds")                                     \
	X(CAP_TOGETHER,                                                                            \
	  "each number is within its limit, but larger work requests leave room for fewer of "     \
	  "them",                                                                                  \
	  "ask for fewer work requests, or for fewer SGEs and less inline data in each")           \
	X(NO_XRC, "the device has no XRC", "use another type, or another device")                  \
	X(SRQ_PARTS,                                                                               \
	  "an SRQ needs a protection domain; for XRC also an XRC domain and a completion queue; "  \
	  "for tag matching an extended completion queue and tm_cap",                              \
	  "set them and add their bits to comp_mask")                                              \
	X(XRCD_PARTS, "an XRC domain needs both fd and oflags, with their bits in comp_mask",      \
	  "set fd to -1 for a domain that no other process shares")                                \
	X(XRCD_NONE, "there is no XRC domain for this file yet", "add O_CREAT to oflags")          \
	X(XRCD_EXISTS, "O_EXCL is set, and there may already be an XRC domain for this file",      \
	  "leave O_EXCL out to share it")                                                          \
	X(XRCD_FILE, "this is not an open file descriptor",                                        \
	  "open a file that the other processes can open, or use -1")                              \
	X(PD_IN_USE,                                                                               \
	  "the protection domain still has objects: a queue pair, SRQ, memory "                    \
	  "region or window, address handle, work queue or parent domain",                         \
	  "destroy them first; `rdma resource show qp`, `mr` and `srq` list them with their pdn")  \
	X(CQ_IN_USE,                                                                               \
	  "a queue pair, a work queue, or an SRQ for XRC or tag matching still uses the queue",    \
	  "destroy them first; `rdma resource show qp` lists queue pairs")                         \
	X(SRQ_IN_USE, "a queue pair still takes its receives from the SRQ",                        \
	  "destroy the queue pairs first; `rdma resource show qp` lists them")                     \
	X(XRCD_IN_USE, "an SRQ or an XRC_RECV queue pair of the XRC domain is still there",        \
	  "destroy them first")                                                                    \
	X(MR_ACCESS_BITS, "these bits are not access flags of a memory region",                    \
	  "use only the IBV_ACCESS_ flags of verbs.h")                                             \
	X(MR_ACCESS_REFUSED, "not every device and kernel takes these access flags",               \
	  "try without them")                                                                      \
	X(MR_ON_DEMAND, "the device does not support on-demand paging of this kind",               \
	  "register without IBV_ACCESS_ON_DEMAND, so that the memory is locked")                   \
	X(MR_UNMAPPED, "part of the memory is not mapped",                                         \
	  "compare address and length with what was allocated")                                    \
	X(MR_PROTECTION,                                                                           \
	  "the memory is mapped, but it is read-only or inaccessible, or belongs to a device or "  \
	  "a file",                                                                                \
	  "use memory that the process may read and write, or register read-only memory without "  \
	  "write access")                                                                          \
	X(MR_IN_USE, "a memory window is still bound to the memory region",                        \
	  "invalidate or deallocate the window first")                                             \
	X(MR_GPU,                                                                                  \
	  "this seems to be GPU memory, and the GPU's driver does not let other devices reach it " \
	  "by address",                                                                            \
	  "export it as a dma-buf and use rdmaez_mr_reg_dmabuf(), or copy through host memory: "   \
	  "not every GPU lets other devices in")                                                   \
	X(MR_GPU_NO_PEER,                                                                          \
	  "this seems to be memory of an NVIDIA GPU, and no peer memory module is loaded that "    \
	  "could register it by address",                                                          \
	  "export it as a dma-buf and use rdmaez_mr_reg_dmabuf(); or `modprobe nvidia_peermem`, "  \
	  "which needs an ib_core with peer memory, as MLNX_OFED, DOCA and Ubuntu's kernels have") \
	X(MR_GPU_NO_INTERFACE,                                                                     \
	  "this seems to be memory of an NVIDIA GPU, and this kernel's ib_core has no peer "       \
	  "memory, so `modprobe nvidia_peermem` fails with EINVAL",                                \
	  "export it as a dma-buf and use rdmaez_mr_reg_dmabuf(), which NCCL_DMABUF_ENABLE=1 and " \
	  "perftest's --use_cuda_dmabuf do; or install MLNX_OFED or DOCA")                         \
	X(MR_GPU_OLD_PEER,                                                                         \
	  "this seems to be memory of an NVIDIA GPU, and the old nv_peer_mem is loaded instead "   \
	  "of the driver's own nvidia_peermem",                                                    \
	  "`rmmod nv_peer_mem` and `modprobe nvidia_peermem`, or export it as a dma-buf and use "  \
	  "rdmaez_mr_reg_dmabuf()")                                                                \
	X(MR_GPU_AMD,                                                                              \
	  "this seems to be memory of an AMD GPU, whose driver registers it by address only if "   \
	  "it was built for an ib_core with peer memory",                                          \
	  "export it as a dma-buf with hsa_amd_portable_export_dmabuf() and use "                  \
	  "rdmaez_mr_reg_dmabuf(); or install amdgpu-dkms beside MLNX_OFED or DOCA")               \
	X(MR_GPU_SEGMENTS,                                                                         \
	  "this seems to be GPU memory, and the environment asks for PyTorch's expandable "        \
	  "segments, which usually cannot be registered by address",                               \
	  "remove expandable_segments:True from PYTORCH_CUDA_ALLOC_CONF, or export the memory as " \
	  "a dma-buf and use rdmaez_mr_reg_dmabuf()")                                              \
	X(MR_GPU_BAR1,                                                                             \
	  "this seems to be memory of an NVIDIA GPU, and the GPU's BAR1, through which other "     \
	  "devices reach it, may be too small or used up",                                         \
	  "register less of it at a time; `nvidia-smi -q -d MEMORY` shows BAR1")                   \
	X(MR_GDRCOPY,                                                                              \
	  "this is gdrcopy's window onto the memory of a GPU (/dev/gdrdrv), which only "           \
	  "the processor can use",                                                                 \
	  "register the address that the GPU's library returned, or a dma-buf of that "            \
	  "memory")                                                                                \
	X(MR_FILE,                                                                                 \
	  "the memory is a shared mapping of a file: it cannot be registered on a DAX file "       \
	  "system, nor, since Linux 6.5, on a disk if the device may write to it",                 \
	  "register anonymous memory, or a file of tmpfs or hugetlbfs; for DAX use a device DAX "  \
	  "or IBV_ACCESS_ON_DEMAND")                                                               \
	X(MR_FORK_HUGE,                                                                            \
	  "fork protection (ibv_fork_init()) handles memory in small pages, and the kernel does "  \
	  "not split huge pages for it",                                                           \
	  "set RDMAV_HUGEPAGES_SAFE=1, or begin and end at multiples of the huge page size; with " \
	  "rdma-core 35 on Linux 5.12 no protection is needed")                                    \
	X(MR_MAPPINGS, "the process has as many mappings as vm.max_map_count allows",              \
	  "raise vm.max_map_count with sysctl; with fork protection each region costs up to two")  \
	X(MR_NO_DMABUF,                                                                            \
	  "the driver, its provider, the kernel or libibverbs cannot register a "                  \
	  "dma-buf",                                                                               \
	  "use rdma-core 34, Linux 5.12 and a driver that can, such as mlx5_ib, or efa, bnxt_re "  \
	  "and irdma of newer kernels")                                                            \
	X(MR_DMABUF_FD, "the file descriptor is not that of a dma-buf",                            \
	  "pass the one that cuMemGetHandleForAddressRange() or another exporter returned")        \
	X(MR_DMABUF_IOVA, "offset and iova are at different places within a page",                 \
	  "make their low bits agree, those below the page size")                                  \
	X(MR_DMABUF_END, "these bytes go beyond the dma-buf's end",                                \
	  "count the offset from the dma-buf's first byte, which is that of the exported range "   \
	  "and not of the allocation; lseek(fd, 0, SEEK_END) returns the dma-buf's size")          \
	X(MR_DMABUF_EXPORTER,                                                                      \
	  "the driver can register dma-bufs, so probably the exporter of this one, such as a "     \
	  "GPU's driver, does not let the device reach it",                                        \
	  "read the kernel's log; try a device below the same PCIe switch, and check "             \
	  "peer-to-peer "                                                                          \
	  "and ACS with `rdmaez-doctor --only gpu`")                                               \
	X(CQ_HIDDEN,                                                                               \
	  "this is within the limit that the device reports, but some devices accept fewer, "      \
	  "virtual functions for example",                                                         \
	  "try half as many, or several completion queues")                                        \
	X(CQ_FIXED, "the completion queue cannot be resized: few drivers support that",            \
	  "create it as large as it will ever need to be")                                         \
	X(CQ_WAITING, "the queue may hold more completions than this at the moment",               \
	  "poll them first")                                                                       \
	X(CQ_NO_CHANNEL, "the completion queue has no channel, so no event can come",              \
	  "create it with a channel, or wait with rdmaez_wc_wait()")                               \
	X(CQ_OTHER_EVENT,                                                                          \
	  "the event that came, and was taken, belongs to another completion queue on the same "   \
	  "channel",                                                                               \
	  "use rdmaez_channel_next() with all queues of the channel; arm and poll the other one")  \
	X(CQ_EX_FLAGS,                                                                             \
	  "the queue was created without these flags, so it does not have their fields",           \
	  "pass the wc_flags that it was created with")                                            \
	X(CHANNEL_IN_USE, "a completion queue still uses the channel",                             \
	  "destroy the completion queues first")                                                   \
	X(SRQ_FIXED, "the driver may be unable to resize shared receive queues",                   \
	  "create it as large as it will ever need to be")                                         \
	X(MR_UNPINNABLE,                                                                           \
	  "this much memory is usable but must not be pinned, and pages in it that cannot be "     \
	  "moved are refused",                                                                     \
	  "boot with kho=off, which gives that memory back; until then keep more memory free")

/* This group is of wr.h alone. */
#define RDMAEZ_IMPL_WHY_WR(X)                                                                      \
	X(WR_BAD,                                                                                  \
	  "this work request was refused; those before it are posted, those after it are not",     \
	  "correct it, and post the list again from here")                                         \
	X(WR_BAD_UNKNOWN,                                                                          \
	  "the provider does not say which work request it refused, and may have kept all of "     \
	  "them",                                                                                  \
	  "assume that any of them may still complete until the queue pair has been in RESET")     \
	X(WR_STATE, "the queue pair does not take such work requests in this state",               \
	  "post receives from INIT on, and sends from RTS on")                                     \
	X(WR_SGE, "the queue was created for fewer scatter/gather elements",                       \
	  "use fewer, or create it with a larger cap.max_send_sge or cap.max_recv_sge, or "        \
	  "attr.max_sge of a shared receive queue")                                                \
	X(WR_INLINE, "the queue pair was created for less inline data",                            \
	  "send from a memory region, or create it with a larger cap.max_inline_data")             \
	X(WR_INLINE_OPCODE, "only sends and RDMA writes take inline data",                         \
	  "leave out IBV_SEND_INLINE")                                                             \
	X(WR_UD_LENGTH,                                                                            \
	  "a UD message must fit into one packet, and this one is longer than the port's MTU",     \
	  "send less at a time, or use RC")                                                        \
	X(WR_AH_PD, "the address handle belongs to another protection domain",                     \
	  "create it in the queue pair's protection domain")                                       \
	X(WR_UNSIGNALED, "this driver takes only signaled work requests",                          \
	  "set IBV_SEND_SIGNALED, or sq_sig_all when creating the queue pair")                     \
	X(WR_SRQ, "this queue pair takes its receives from a shared receive queue",                \
	  "post them with rdmaez_wr_post_srq_recv()")                                              \
	X(WR_NO_QUEUE, "the queue pair was created without this queue",                            \
	  "create it with a cap.max_send_wr or cap.max_recv_wr of at least 1")                     \
	X(WR_QUEUE_FULL, "the queue seems to be full of outstanding work requests",                \
	  "poll for completions first; an unsignaled send keeps its place until a later signaled " \
	  "one completes")                                                                         \
	X(WR_EX_OPCODE, "the queue pair lacks this operation of the extended interface",           \
	  "name it in send_ops_flags when creating the queue pair, or post it with "               \
	  "rdmaez_wr_post_send()")                                                                 \
	X(WR_REGION, "the bytes do not all lie in the memory region",                              \
	  "stay within the region, or register more")                                              \
	X(WR_REMOTE, "the bytes do not all lie in the memory that the peer has described",         \
	  "stay within it; if it has no bytes at all, have the peer describe it with "             \
	  "rdmaez_mr_remote() before it sends its endpoint")                                       \
	X(WR_IMM_OPCODE, "only sends and RDMA writes have immediate data",                         \
	  "describe one of these first")                                                           \
	X(WR_DEVICE_OPCODE, "the device or its driver does not have this operation",               \
	  "do without it, or use another device: `ibv_devinfo -v` shows atomic_cap, and many "     \
	  "iWARP devices have neither atomics nor immediate data")                                 \
	X(CREDIT_EVERY, "the queue would be full before a send is signaled",                       \
	  "set `every` to at most the number of sends that the queue takes")

/* This group is of completions and events alone, wc.h. */
#define RDMAEZ_IMPL_WHY_WC(X)                                                                      \
	X(WC_OTHER_QP, "the completion belongs to another queue pair",                             \
	  "pass the queue pair whose number it holds")                                             \
	X(WC_RETRIES,                                                                              \
	  "the retries are used up without an acknowledgement; devices may take longer for them "  \
	  "than the InfiniBand specification computes",                                            \
	  "check that the peer is alive and in RTR or RTS, then compare GIDs and their types, "    \
	  "LIDs, queue pair numbers and PSNs")                                                     \
	X(WC_NO_TIMER, "no ACK timer runs, so negative acknowledgements have used up the retries", \
	  "look for lost packets and a wrong PSN, and set a timeout so that a lost peer is "       \
	  "noticed")                                                                               \
	X(WC_TIMEOUT_SHORT, "a busy network or peer may take longer than the ACK timeout",         \
	  "use 14 (67 ms) or more")                                                                \
	X(WC_RNR,                                                                                  \
	  "the peer had no receive posted, or was paging in memory that it has registered on "     \
	  "demand, and the retries are used up",                                                   \
	  "post receives before the peer sends, and set rnr_retry to 7, which never gives up")     \
	X(WC_RNR_TIMER,                                                                            \
	  "the peer had this long to post a receive, if its timer is set like this queue pair's",  \
	  "have the peer use a longer min_rnr_timer: the receiver's is the one that counts")       \
	X(WC_ACCESS,                                                                               \
	  "this queue pair lacks remote access rights: it refuses the peer's requests, and a "     \
	  "peer with the same settings refuses this end's",                                        \
	  "grant the right at both queue pairs and at the memory region")                          \
	X(WC_DEPTH_ABOVE,                                                                          \
	  "more READs and atomics are sent at once than a peer with the same settings accepts",    \
	  "keep max_rd_atomic within the peer's max_dest_rd_atomic")                               \
	X(WC_LIMIT, "a work request beyond this limit completes with this status",                 \
	  "keep work requests within it; a queue pair's own limits are fixed when it is created")  \
	X(WC_GRH_ROOM,                                                                             \
	  "a UD receive needs 40 bytes before the message, for the global route header",           \
	  "post receives 40 bytes longer than the longest message")                                \
	X(WC_FLUSHED,                                                                              \
	  "a flushed request was not acknowledged, but the peer may have carried it out",          \
	  "find the first error that is not a flush; repeat only what may be done twice")          \
	X(WC_IWARP,                                                                                \
	  "on iWARP the end of a connection, or the peer's refusal of a request, may show only "   \
	  "as flushes",                                                                            \
	  "look for RDMA_CM_EVENT_DISCONNECTED or IBV_EVENT_QP_FATAL, and at the peer's events")   \
	X(WC_FLUSHED_RECV, "a flushed receive does not hold a complete message",                   \
	  "find the first error that is not a flush, or what moved the queue pair to ERR")         \
	X(WC_FLUSHED_OWN,                                                                          \
	  "since Linux 6.12, rxe also flushes a request whose own memory or address handle is "    \
	  "wrong",                                                                                 \
	  "check the lkey, bounds and address handle of the first request that was flushed")       \
	X(WC_RESPONDER,                                                                            \
	  "this end may have refused a request from its peer: missing access rights, a bad rkey, " \
	  "or a receive too short",                                                                \
	  "see the peer's completion, and IBV_EVENT_QP_ACCESS_ERR and IBV_EVENT_QP_REQ_ERR of "    \
	  "this queue pair")                                                                       \
	X(WC_RESET,                                                                                \
	  "the queue pair was reset after the work request failed, so its attributes do not tell " \
	  "why",                                                                                   \
	  "explain a completion before resetting its queue pair")                                  \
	X(WC_RECV_SHORT, "the receive is shorter than the message that arrived",                   \
	  "post receives for the longest message")                                                 \
	X(WC_LKEY,                                                                                 \
	  "the lkey is wrong or stale, or its memory region belongs to another protection domain", \
	  "use the lkey of a region in the queue pair's protection domain, and keep the region "   \
	  "registered until the work request completes")                                           \
	X(WC_BOUNDS, "the SGE reaches beyond its memory region",                                   \
	  "compare its address and length with what was registered")                               \
	X(WC_LOCAL_WRITE,                                                                          \
	  "the memory region lacks IBV_ACCESS_LOCAL_WRITE, which receives, READs and atomics "     \
	  "need",                                                                                  \
	  "register it with IBV_ACCESS_LOCAL_WRITE")                                               \
	X(WC_AH, "the address handle was destroyed, or belongs to another protection domain",      \
	  "keep an address handle of the queue pair's protection domain until the request "        \
	  "completes")                                                                             \
	X(WC_CONNECTION, "the connection broke while the request was being sent",                  \
	  "look for RDMA_CM_EVENT_DISCONNECTED, and see the peer")                                 \
	X(WC_RKEY,                                                                                 \
	  "the rkey is wrong, perhaps an lkey or another device's rkey, or it is stale because "   \
	  "the peer's region was deregistered or registered again",                                \
	  "ask the peer for mr->rkey and the address again, and see the "                          \
	  "IBV_EVENT_QP_ACCESS_ERR that it gets")                                                  \
	X(WC_REMOTE_BOUNDS, "the request reaches beyond the peer's memory region",                 \
	  "compare its address and length with the peer's region; a zero-based one begins at 0")   \
	X(WC_REGION_RIGHT,                                                                         \
	  "the peer's memory region or queue pair lacks the required remote access right",         \
	  "have the peer grant the right at both")                                                 \
	X(WC_PEER_RECV, "the peer's receive is shorter than the message",                          \
	  "have the peer post receives for the longest message, or send less at a time")           \
	X(WC_PEER_BUFFER, "the peer's receive names memory that the peer may not use",             \
	  "see the peer's completion; check the lkey, bounds and rights of its receives")          \
	X(WC_PEER_RIGHT, "the peer's queue pair lacks the required remote access right",           \
	  "have the peer set it in qp_access_flags")                                               \
	X(WC_PEER_DEPTH, "more READs and atomics are sent at once than the peer accepts",          \
	  "keep max_rd_atomic within the peer's max_dest_rd_atomic, which must be at least 1")     \
	X(WC_PEER_OPCODE, "the peer's device does not support the operation",                      \
	  "compare with the capabilities of the peer's device")                                    \
	X(WC_PEER_AH, "the peer has no address handle for this end, which RDMA on efa needs",      \
	  "have the peer create one before the request")                                           \
	X(WC_PEER_REQUEST,                                                                         \
	  "the peer's rkey, address and length do not match a memory region of this end, or the "  \
	  "region lacks the remote access right",                                                  \
	  "exchange rkey and address again, and register the region with the right")               \
	X(WC_PEER_SILENT, "the peer does not answer, or no packet reaches it",                     \
	  "check that it is alive, and the GID or LID that is sent to; on efa also that the "      \
	  "security groups of both ends let their traffic pass")                                   \
	X(WC_REMOTE_QPN, "the peer has no queue pair with this number, or no longer has it",       \
	  "exchange the numbers again: a restarted peer has new ones")                             \
	X(WC_AT_PEER, "the cause is at the peer, and this end learns nothing more about it",       \
	  "see the completions and asynchronous events of the peer's queue pair")                  \
	X(WC_NO_MORE, "the device says no more than this status",                                  \
	  "see vendor_err, and what the kernel and the driver have logged")                        \
	X(WC_PEER_GID,                                                                             \
	  "this end sends RoCE v1, and the peer may use v2: then neither understands the other",   \
	  "compare the GIDs of both ends and their types: the same index means another GID on "    \
	  "every host")                                                                            \
	X(WC_PEER_MTU, "the peer may use another path MTU than this end",                          \
	  "use the smaller active MTU of the two ports at both ends")                              \
	X(WC_FABRIC, "the network may be losing or delaying packets, which verbs cannot show",     \
	  "check the switches' counters, and `ethtool -S` or `ibqueryerrors` at both ends; "       \
	  "configure PFC and ECN the same on every hop")                                           \
	X(WC_IWARP_READ,                                                                           \
	  "on iWARP the memory that a READ writes to also needs IBV_ACCESS_REMOTE_WRITE",          \
	  "register it with IBV_ACCESS_LOCAL_WRITE and IBV_ACCESS_REMOTE_WRITE")                   \
	X(WC_GPU_PATH,                                                                             \
	  "the process uses a GPU, and the machine has an IOMMU: if the memory is the GPU's, "     \
	  "PCIe ACS may keep the two devices apart",                                               \
	  "boot with iommu=pt, or turn ACS off on the bridges between them")                       \
	X(WC_GPU_ACS,                                                                              \
	  "the process uses a GPU: if the memory is the GPU's, PCIe ACS may keep the two devices " \
	  "apart, even without an IOMMU",                                                          \
	  "run `rdmaez-doctor --only slot` as root, which reads ACS of the bridges between them")  \
	X(WC_UNASKED,                                                                              \
	  "the completion belongs to a queue pair other than the one passed, which was not "       \
	  "queried",                                                                               \
	  "call rdmaez_wc_explain_qp() with the queue pair of this number")                        \
	X(WC_LATE, "fewer completions arrived in time than you asked for",                         \
	  "see the findings that follow; if there are none, because you named no queue pair or "   \
	  "waited less than a second, call rdmaez_qp_examine()")                                   \
	X(WC_NO_SENDER, "only a successful receive tells where its message came from",             \
	  "check the completion's status and opcode first")                                        \
	X(WC_NO_HEADER,                                                                            \
	  "the 40 bytes before the message are not a GRH and do not end in an IPv4 header",        \
	  "pass the address at which the receive's first SGE begins")                              \
	X(WC_GID_GONE, "the port no longer has the GID to which the message was sent",             \
	  "its address or interface is gone; answer from another GID if the peer accepts that")    \
	X(WC_PEER_GONE,                                                                            \
	  "the peer may be gone: nothing answers once its process has ended, or its queue pair "   \
	  "is destroyed or reset",                                                                 \
	  "check whether it runs and what it logged last, and make a new connection; a socket to " \
	  "it that closes would tell you at once")                                                 \
	X(WC_PEER_WAS,                                                                             \
	  "the peer acknowledged requests of this queue pair just before, so it has gone since "   \
	  "then, or the way to it is lost",                                                        \
	  "check whether it runs and what it logged last, then whether its port is up")

/* This group is of device memory alone: dm.h, dm_share.h and devel/dm_emu.h. */
#define RDMAEZ_IMPL_WHY_DM(X)                                                                     \
	X(DM_NONE, "the device reports no device memory",                                         \
	  "use a device that has device memory, or rdmaez/devel/dm_emu.h for development")        \
	X(DM_FULL, "no piece of device memory of this size seems to be free",                     \
	  "ask for less, or free what is not needed: on mlx5 each piece takes whole pages "       \
	  "of the device's window")                                                               \
	X(DM_ALIGNMENT, "this is not a power of two, or more than the device can do",             \
	  "use a power of two; 0 stands for the device's own")                                    \
	X(DM_CLOSED, "this device memory is not open: it was closed, or never opened",            \
	  "allocate or import it first")                                                          \
	X(DM_IN_USE,                                                                              \
	  "a region of the memory is still registered, here or in another process, or another "   \
	  "thread is using it",                                                                   \
	  "deregister its regions in every process, then close it again")                         \
	X(DM_RANGE, "the bytes do not lie in the device memory", "stay within the range")         \
	X(DM_GRANULARITY, "the CPU copies whole words of 4 bytes",                                \
	  "use a multiple of 4, or rdmaez_dm_copy_to_bytes() and "                                \
	  "rdmaez_dm_copy_from_bytes()")                                                          \
	X(DM_NO_CPU, "the CPU cannot reach this kind of device memory",                           \
	  "read and write it with work requests")                                                 \
	X(DM_RELAXED, "no driver heeds optional access flags on device memory",                   \
	  "leave out IBV_ACCESS_RELAXED_ORDERING and other optional flags")                       \
	X(DM_ACCESS_BITS, "device memory takes no such access flags",                             \
	  "use only IBV_ACCESS_LOCAL_WRITE, REMOTE_READ, REMOTE_WRITE and "                       \
	  "REMOTE_ATOMIC")                                                                        \
	X(DM_BLOCKS, "some firmware registers device memory in blocks of 64 bytes only",          \
	  "register a multiple of 64 bytes, beginning at a multiple of 64")                       \
	X(DM_NOT_REGION, "this is not a device memory region",                                    \
	  "pass the region that rdmaez_dm_reg() has filled, before you deregister it")            \
	X(DM_TOKEN_MAGIC, "these bytes are not a device memory token",                            \
	  "read what rdmaez_dm_send() sends from its first byte on")                              \
	X(DM_TOKEN_VERSION, "this rdmaez does not know the token's version",                      \
	  "use the same rdmaez in both processes")                                                \
	X(DM_TOKEN_FIELD, "rdmaez_dm_export() never writes this value into a token",              \
	  "export the memory again, and send the token unchanged")                                \
	X(DM_TOKEN_SUM, "the token was changed on its way",                                       \
	  "export the memory again, and send the token unchanged")                                \
	X(DM_TOKEN_OTHER, "the token is for other device memory",                                 \
	  "send the token that was exported from this memory")                                    \
	X(DM_MESSAGE_SIZE, "the message is not as long as a token",                               \
	  "let both processes agree on what they send, and in which order")                       \
	X(DM_MESSAGE_FD, "a token comes with exactly one file descriptor",                        \
	  "send with rdmaez_dm_send() over a Unix socket")                                        \
	X(DM_NO_HANDLE, "the memory has no number by which another process could name it",        \
	  "allocate it with rdma-core 35 or newer")                                               \
	X(DM_NO_IMPORT, "this libibverbs cannot import device memory",                            \
	  "use rdma-core 35 or newer")                                                            \
	X(DM_NO_DMABUF, "this libibverbs, or the driver, cannot make a dma-buf of device memory", \
	  "use rdma-core 62 or newer, and a device whose driver can")                             \
	X(DM_FD, "the file descriptor is not that of an RDMA device of this machine",             \
	  "send the descriptor of the memory's own context, as rdmaez_dm_send() does")            \
	X(DM_OTHER_DEVICE, "the file descriptor is of another device than the token",             \
	  "send the token with the descriptor of its own context")                                \
	X(DM_STALE, "the object no longer exists, or never did",                                  \
	  "keep it until the other process has said that it has imported it")                     \
	X(DM_EMULATED, "the memory is emulated, and the options do not say how to open it",       \
	  "set the options' ops to rdmaez_dm_emu_ops() of rdmaez/devel/dm_emu.h")                 \
	X(DM_NOT_SHARED, "the token does not hold the object that you asked for",                 \
	  "have the other process export it with the memory")                                     \
	X(DM_OTHER_CONTEXT,                                                                       \
	  "the object belongs to another context than the memory, or to other memory",            \
	  "create it in the context that owns the memory")                                        \
	X(PEER_SILENT, "the other process was not ready in time",                                 \
	  "check that it runs, or wait longer: set timeout_ns")                                   \
	X(PEER_CLOSED, "the other process has closed the socket", "see why it ended")             \
	X(SOCKET, "the socket does not carry this message",                                       \
	  "use a connected Unix socket; the errno value says more")                               \
	X(DM_EMU_REAL, "the device has device memory of its own",                                 \
	  "use that, or attach with RDMAEZ_DM_EMU_FORCE")                                         \
	X(DM_EMU_ATTACHED, "emulated device memory is already attached",                          \
	  "use it as it is, or detach it first")                                                  \
	X(DM_EMU_USED, "emulated device memory is still allocated or imported on the context",    \
	  "close the memory first")                                                               \
	X(DM_EMU_FD, "the file descriptor is not that of emulated device memory",                 \
	  "use what rdmaez_dm_emu_fd() returns, of the same version of rdmaez")                   \
	X(DM_EMU_PAGE, "a region of emulated device memory begins where a page begins",           \
	  "begin at a multiple of the page size, sysconf(_SC_PAGESIZE)")                          \
	X(DM_EMU_ALONE, "domains and regions of emulated device memory cannot be imported",       \
	  "import the memory alone, and register it on the context that comes with it")

/* This group is of device.h alone. */
#define RDMAEZ_IMPL_WHY_DEVICE(X)                                                                  \
	X(DEVICE_NONE, "the kernel shows this process no RDMA device",                             \
	  "load the adapter's driver; without an adapter run the program with rdmaez's "           \
	  "tools/softroce, or add a Soft-RoCE device with `rdma link add`; in a container also "   \
	  "check whether the device stayed in the host's network namespace")                       \
	X(DEVICE_NAME, "there is no RDMA device of this name",                                     \
	  "use the name of a device that exists")                                                  \
	X(DEVICE_THERE, "libibverbs lists this device", "open it by this name")                    \
	X(DEVICE_UVERBS, "the kernel has the device, but not ib_uverbs, which verbs need",         \
	  "load the module: modprobe ib_uverbs")                                                   \
	X(DEVICE_NETNS, "the device is in another network namespace",                              \
	  "move it with `rdma dev set DEV netns`, or run the process in its namespace")            \
	X(DEVICE_NO_NODE, "the device node is missing",                                            \
	  "give the container the node, with --device=/dev/infiniband or by a device plugin; "     \
	  "elsewhere check udev")                                                                  \
	X(DEVICE_RIGHTS, "this process may not read and write the device node",                    \
	  "see its owner, group and mode, and whether its file system is mounted with nodev")      \
	X(DEVICE_FORBIDDEN,                                                                        \
	  "the kernel forbids this process to open the device node, whatever its mode says",       \
	  "allow the device in the container's device cgroup, with --device or by a device "       \
	  "plugin: mounting the node is not enough")                                               \
	X(DEVICE_OTHER_NODE, "this is not the node of the device: its device number differs",      \
	  "create the node again, with the number in the dev file of /sys/class/infiniband_verbs") \
	X(DEVICE_PROVIDER, "libibverbs has no provider library for the device",                    \
	  "install it, of the release of rdma-core that libibverbs is of: ibverbs-providers on "   \
	  "Debian or Ubuntu, or your distribution's libibverbs; `rdmaez-doctor --only provider` "  \
	  "says why one that is there is not loaded")                                              \
	X(PROVIDER_MISSING,                                                                        \
	  "this directory, which usually names the provider libraries, does not exist",            \
	  "install ibverbs-providers on Debian or Ubuntu, or your distribution's libibverbs")      \
	X(PROVIDER_RELEASE,                                                                        \
	  "libibverbs has loaded no provider library at all: they are missing, or of another "     \
	  "release of rdma-core than libibverbs",                                                  \
	  "install both from one release of rdma-core; check LD_LIBRARY_PATH, and run ldd on a "   \
	  "library in the libibverbs directory")                                                   \
	X(PROVIDER_UNFIT,                                                                          \
	  "none of the loaded provider libraries supports the device or its driver's ABI",         \
	  "install the device's provider, or a newer rdma-core")

/* This group is of endpoint.h, connect.h and exchange.h. */
#define RDMAEZ_IMPL_WHY_CONNECT(X)                                                                \
	X(ENDPOINT_MAGIC, "these bytes are not an endpoint",                                      \
	  "pass what rdmaez_endpoint_pack() wrote, from its first byte on")                       \
	X(ENDPOINT_VERSION, "the endpoint is of a version that this rdmaez cannot read",          \
	  "use a newer rdmaez at this end")                                                       \
	X(ENDPOINT_SUM, "the endpoint was changed in transit",                                    \
	  "send all of it again, in binary mode")                                                 \
	X(ENDPOINT_FIELD, "no valid endpoint holds this value",                                   \
	  "send the peer what rdmaez_endpoint_local() has filled")                                \
	X(ENDPOINT_TEXT, "this is not the text of an endpoint",                                   \
	  "pass the whole line that rdmaez_endpoint_format() wrote")                              \
	X(ENDPOINT_NOT_OWN, "the local endpoint names no port; it may be the peer's",             \
	  "pass this end's own endpoint first, then the peer's")                                  \
	X(ENDPOINT_NO_QP, "the endpoint has no queue pair yet",                                   \
	  "call rdmaez_endpoint_set_qp() before sending the endpoint to the peer")                \
	X(ENDPOINT_QP_TYPES, "queue pairs of these types cannot be connected",                    \
	  "create the same type at both ends, or XRC_SEND at one and XRC_RECV at the other")      \
	X(ENDPOINT_LINK_LAYERS,                                                                   \
	  "the ports have different link layers, such as InfiniBand and Ethernet",                \
	  "use ports of one network")                                                             \
	X(ENDPOINT_PKEYS, "the ends are in different partitions",                                 \
	  "use P_Key indices of the same partition: rdmaez_port_find_pkey()")                     \
	X(ENDPOINT_NO_GID, "the endpoint has no GID, and this connection needs one",              \
	  "give the port's network interface an address")                                         \
	X(ENDPOINT_GID_TYPES,                                                                     \
	  "the ends have no GID type in common: RoCE v1 at one, v2 at the other",                 \
	  "use RoCE v2 at both ends; gid_attrs/types in sysfs lists what a port offers")          \
	X(ENDPOINT_FAMILIES, "the GIDs of the common type are IPv4 at one end only",              \
	  "give both interfaces addresses of one family")                                         \
	X(ENDPOINT_SCOPES,                                                                        \
	  "the GIDs of the common type and family are link-local at one end and routable at the " \
	  "other",                                                                                \
	  "give both interfaces routable addresses")                                              \
	X(ENDPOINT_NO_LID, "the port has no LID, and no global route header is used",             \
	  "run a subnet manager, or ask for the header with RDMAEZ_PATH_GRH at both ends")        \
	X(CONNECT_OTHER_QP, "the local endpoint belongs to another queue pair",                   \
	  "complete it for this one with rdmaez_endpoint_set_qp(), and send it to the peer")      \
	X(CONNECT_STATE, "a queue pair in this state cannot be connected",                        \
	  "create a new one, or drain it and move it to RESET")                                   \
	X(CONNECT_NO_AH, "only UD and SRD send to address handles", "use rdmaez_qp_connect()")    \
	X(EXCHANGE_LOCAL, "this end's endpoint cannot be packed",                                 \
	  "complete it with rdmaez_endpoint_local() or rdmaez_endpoint_set_qp()")                 \
	X(EXCHANGE_REMOTE, "this is the position of the peer's endpoint that was refused",        \
	  "see the finding before this one")                                                      \
	X(EXCHANGE_FOREIGN, "what arrived is not a message of exchange.h",                        \
	  "call the same function at both ends, and first read whatever else the stream carries") \
	X(EXCHANGE_STEP,                                                                          \
	  "one end exchanges endpoints (1) while the other waits at the barrier (2)",             \
	  "call the same functions in the same order at both ends")                               \
	X(EXCHANGE_COUNT, "the peer sends a different number of endpoints",                       \
	  "connect the same number of queue pairs at both ends")                                  \
	X(EXCHANGE_IDENTITY, "the peer is at the barrier of another connection",                  \
	  "begin again at both ends, on a new socket")                                            \
	X(EXCHANGE_SILENT, "the socket is connected, but nothing came from the peer in time",     \
	  "check that the peer calls the same function, or wait longer: set timeout_ns")          \
	X(EXCHANGE_PART, "only part of the peer's message came in time",                          \
	  "check whether the peer has stopped or the network loses packets, or wait longer")      \
	X(EXCHANGE_UNREAD, "the peer did not read this end's message in time",                    \
	  "check that the peer calls the same function, or wait longer: set timeout_ns")          \
	X(EXCHANGE_CLOSED, "the peer closed the socket before the messages were complete",        \
	  "find out why it ended")                                                                \
	X(EXCHANGE_SOCKET, "the socket cannot be used for this",                                  \
	  "use a connected stream socket; the errno value says more")                             \
	X(PEER_FAILED, "the peer reports that it failed",                                         \
	  "see the peer's own explanation; this is the errno value it got")                       \
	X(OPEN_SERVICE, "this is neither a port number nor the name of a service",                \
	  "give a number from 1 to 65535")                                                        \
	X(OPEN_NAME, "no address is known for this host",                                         \
	  "check the name with `getent ahosts`, or give an address")                              \
	X(OPEN_LOOKUP, "the host's name could not be looked up",                                  \
	  "check that the name server answers, or give an address")                               \
	X(OPEN_IN_USE, "another socket already listens on this port",                             \
	  "find its owner with `ss -ltnp`, or use another port")                                  \
	X(OPEN_REFUSED, "the host answers, but nothing listened on this port in time",            \
	  "start the peer that waits, and check that it uses the same port")                      \
	X(OPEN_UNREACHED, "the host did not answer in time, or no route leads to it",             \
	  "ping the host, and check that no firewall drops what is sent to the port")             \
	X(OPEN_NO_PEER, "no peer connected in time",                                              \
	  "start the other end; check that it uses this host and port, and that no firewall is "  \
	  "in between")

/* This group is of draining, recovering and events, drain.h. */
#define RDMAEZ_IMPL_WHY_DRAIN(X)                                                                   \
	X(DRAIN_UNCOUNTED,                                                                         \
	  "with this driver or this type of queue pair no work request can mark the end of the "   \
	  "queue, and the number outstanding is not known",                                        \
	  "set the number outstanding, and signal every send")                                     \
	X(DRAIN_NO_AH,                                                                             \
	  "a UD send needs an address handle, so nothing marks the end of the send queue, and "    \
	  "the number of sends outstanding is not known",                                          \
	  "set the option ah to any address handle of the protection domain, or count the sends")  \
	X(DRAIN_LEFT, "this many of the outstanding work requests have not completed",             \
	  "signal every send, or do not count unsignaled ones, which never complete if they "      \
	  "succeed; otherwise wait longer")                                                        \
	X(DRAIN_BEACON, "the work request that marks the end of the queue has not completed",      \
	  "wait longer; if nothing completes at all, the device or its driver does not flush")     \
	X(DRAIN_FULL,                                                                              \
	  "the queue was full, and nothing completed to make room for the work request that "      \
	  "marks its end",                                                                         \
	  "poll its completion queue, or see whether another thread does")                         \
	X(DRAIN_CQ,                                                                                \
	  "the completion queue holds fewer completions than its queue pair may have "             \
	  "outstanding, so some may be lost",                                                      \
	  "create it with room for the sends and receives of all its queue pairs, signaled or "    \
	  "not, and for one more of each queue")                                                   \
	X(SQD_UNTOLD, "this driver does not tell whether the send queue has drained",              \
	  "wait for the last completion instead")                                                  \
	X(SQD_CLOSES, "on iWARP a connection does not survive leaving RTS",                        \
	  "wait for the last completion instead")                                                  \
	X(RESUME_STATE, "a queue pair in this state cannot go on",                                 \
	  "from ERR, use rdmaez_qp_recover(); otherwise bring it up first")                        \
	X(QP_MULTICAST, "the queue pair may be attached to a multicast group",                     \
	  "detach it with ibv_detach_mcast()")                                                     \
	X(EVENT_NONE, "no event came in time", "wait longer, or go on")                            \
	X(DRAIN_NOWHERE,                                                                           \
	  "draining polls the completion queues, and you gave it nowhere to put the completions, " \
	  "some of which may belong to other queue pairs",                                         \
	  "set completed; or set RDMAEZ_DRAIN_DISCARD, if nobody else uses these queues")

/* This group is of multicast.h alone. */
#define RDMAEZ_IMPL_WHY_MULTICAST(X)                                                               \
	X(MULTICAST_ADDRESS, "this is not the address of a multicast group",                       \
	  "use an address from 224.0.0.0 to 239.255.255.255, or one that begins with ff")          \
	X(MULTICAST_TYPE, "only a UD queue pair receives what is sent to a group",                 \
	  "create the queue pair with IBV_QPT_UD")                                                 \
	X(MULTICAST_LID, "on InfiniBand a group needs an MLID, which the subnet manager assigns",  \
	  "join with rdma_join_multicast() of librdmacm, and use the LID of its event")            \
	X(MULTICAST_RESET, "some drivers do not attach a queue pair that is in RESET",             \
	  "move it to INIT first")                                                                 \
	X(MULTICAST_MEMBER, "the host could not join the IP group on the GID's interface",         \
	  "check that the interface is up, is in this network namespace, and has IPv6 if the "     \
	  "group has")                                                                             \
	X(MULTICAST_LEFT, "the queue pair is not attached to this group",                          \
	  "use the GID and the LID that it was attached with")                                     \
	X(MULTICAST_MISSING,                                                                       \
	  "the host is not a member of this IP group on the GID's interface, so switches and the " \
	  "kernel keep the group's packets away",                                                  \
	  "join with rdmaez_multicast_join() or rdma_join_multicast(); `ip maddress` lists the "   \
	  "memberships")                                                                           \
	X(MULTICAST_SUBNET,                                                                        \
	  "on InfiniBand only the subnet manager knows the members of this group",                 \
	  "see `saquery MCMemberRecord`, and join with rdma_join_multicast()")                     \
	X(MULTICAST_ASK,                                                                           \
	  "verbs cannot tell which multicast groups the queue pair is attached to, nor whether "   \
	  "the host has joined them",                                                              \
	  "if you expect messages to a group, call rdmaez_multicast_examine() with it")

/*
 * This group is of librdmacm. If a record is of a call or an event of librdmacm, the words are
 * those of the call or event, and more exact.
 */
#define RDMAEZ_IMPL_WHY_CM(X)                                                                      \
	X(CM_NO_NODE, "this process cannot use rdma_cm here",                                      \
	  "load the module rdma_ucm, and check that the process may open /dev/infiniband/rdma_cm") \
	X(CM_ADDRESS, "rdma_cm cannot use this address on this host",                              \
	  "use the address of an RDMA interface: `rdmaez-doctor --gids` lists them")               \
	X(CM_PORT_TAKEN, "another id holds this port",                                             \
	  "use another port, or end the other program: `rdma resource show cm_id` names it")       \
	X(CM_NO_ROUTE, "no RDMA device of this host has a path to that address",                   \
	  "run `ip route get ADDRESS`, and use the peer's address on the RDMA network")            \
	X(CM_NO_NEIGHBOUR, "nobody answers for that address on the network",                       \
	  "ping the address, and see `ip neighbour`")                                              \
	X(CM_NO_LISTENER, "no program listens on this port at that host",                          \
	  "start the server first, and compare address, port and port space")                      \
	X(CM_NO_ANSWER, "the peer's connection manager did not answer",                            \
	  "check that the host has an RDMA device at that address, and that no firewall stops "    \
	  "UDP port 4791")                                                                         \
	X(CM_REFUSED, "the program there refused the request",                                     \
	  "see its log, and what it wrote into the private data")                                  \
	X(CM_REJECTED, "the peer's connection manager rejected the request",                       \
	  "look up the status in the list of enum ib_cm_rej_reason")                               \
	X(CM_STALE, "the peer still has an earlier connection of this queue pair",                 \
	  "wait a second, then connect again with a new id and a new queue pair")                  \
	X(CM_GAVE_UP, "the peer gave up before it had an answer", "accept sooner")                 \
	X(CM_CONNECT, "the peer accepted, but this end could not move its queue pair",             \
	  "look at the queue pair's attributes, and at the kernel log")                            \
	X(CM_DISCONNECTED, "the connection has ended",                                             \
	  "destroy the queue pair and the id, and connect again")                                  \
	X(CM_REMOVAL, "the device or the address of the id has changed or is gone",                \
	  "destroy the id and all that is on the device, and connect again")                       \
	X(CM_STATE, "the id is not in a state for this call",                                      \
	  "compare the order of the calls with that in rdma_cm(7)")                                \
	X(CM_ARGUMENT, "librdmacm does not accept this argument",                                  \
	  "compare it with the manual page of the call")                                           \
	X(CM_DEPTH, "the device cannot have so many READs outstanding",                            \
	  "use at most what ibv_query_device() reports, or leave the depth to its default")        \
	X(CM_PRIVATE_DATA, "the private data do not fit into the message",                         \
	  "send the rest in a first message once the connection is up")                            \
	X(CM_MULTICAST, "the host could not join the group, or has lost its membership",           \
	  "check that a subnet manager runs, and compare the group's parameters")                  \
	X(CM_UNSUPPORTED, "this kernel, or the device's transport, cannot do this",                \
	  "see whether a newer kernel can")                                                        \
	X(CM_UNEXPLAINED, "librdmacm refused without giving a reason",                             \
	  "see rdma_cm(7) and the kernel log")                                                     \
	X(CM_DEADLINE, "rdma_cm did not report the outcome in time",                               \
	  "give it more time, or destroy the id")                                                  \
	X(CM_SYNC,                                                                                 \
	  "the program gave the id no event channel, so its calls wait without a deadline",        \
	  "create the id with a channel from rdmaez_cm_channel_create()")                          \
	X(CM_CHANNEL_SHARED, "this function waits on a channel that other ids use as well",        \
	  "give each connection a channel of its own, or take events with rdmaez_cm_event_wait()")

/* These are all groups, in the order of enum rdmaez_why. */
#define RDMAEZ_WHY_LIST(X)           \
	RDMAEZ_IMPL_WHY_CORE(X)      \
	RDMAEZ_IMPL_WHY_EXAMINE(X)   \
	RDMAEZ_IMPL_WHY_OBJECTS(X)   \
	RDMAEZ_IMPL_WHY_WR(X)        \
	RDMAEZ_IMPL_WHY_WC(X)        \
	RDMAEZ_IMPL_WHY_DM(X)        \
	RDMAEZ_IMPL_WHY_DEVICE(X)    \
	RDMAEZ_IMPL_WHY_CONNECT(X)   \
	RDMAEZ_IMPL_WHY_DRAIN(X)     \
	RDMAEZ_IMPL_WHY_MULTICAST(X) \
	RDMAEZ_IMPL_WHY_CM(X)

RDMAEZ_IMPL_BEGIN

/* This is the number of each row, so that a row that is missing, or elsewhere, does not compile. */
#define RDMAEZ_IMPL_WHY_ROW(id, what, fix)  RDMAEZ_IMPL_WHY_ROW_##id,
#define RDMAEZ_IMPL_WHY_SAME(id, what, fix) &&(int)RDMAEZ_IMPL_WHY_ROW_##id == (int)RDMAEZ_WHY_##id

enum rdmaez_impl_why_row {
	RDMAEZ_WHY_LIST(RDMAEZ_IMPL_WHY_ROW) RDMAEZ_IMPL_WHY_ROWS
};

RDMAEZ_IMPL_ASSERT((int)RDMAEZ_IMPL_WHY_ROWS ==
			   (int)RDMAEZ_WHY_COUNT RDMAEZ_WHY_LIST(RDMAEZ_IMPL_WHY_SAME),
		   "rdmaez: the rows of explain/why.h are the reasons of why.h, in their order");

#undef RDMAEZ_IMPL_WHY_ROW
#undef RDMAEZ_IMPL_WHY_SAME

RDMAEZ_IMPL_END

#endif
