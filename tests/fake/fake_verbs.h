/* SPDX-License-Identifier: MIT */
/*
 * A libibverbs for tests, without a device.
 *
 * Link these sources instead of -libverbs: they define the verbs that programs call and answer as
 * the library and the Linux kernel do, in the kernel's order and with its errno values. The
 * device is a struct the test may change at any moment. Every call is recorded, any call can be
 * made to fail, and a queue pair's true state is kept apart from the copy in struct ibv_qp,
 * which goes stale here as it does on hardware.
 *
 *	struct fake_device *dev = fake_reset();
 *	struct ibv_context *ctx = fake_open(dev);
 *	struct ibv_qp *qp = fake_qp(ctx, IBV_QPT_RC);
 *
 *	dev->port[1].attr.active_mtu = IBV_MTU_2048;
 *	fake_fail(FAKE_MODIFY_QP, 2, EIO);
 *	... code under test ...
 *	fake_count(FAKE_MODIFY_QP) == 2, fake_last(FAKE_MODIFY_QP)->attr_mask == ...
 *	fake_close_all();
 *
 * What it does not do: move data, run in several threads at once, except by turns: tests/unit/threads/turns.c. A verb it
 * lacks is an undefined symbol at link time, or EOPNOTSUPP where verbs.h dispatches through the context.
 * To take such a verb away, clear its pointer: verbs_get_ctx(ctx)->query_device_ex = NULL.
 */
#ifndef FAKE_VERBS_H
#define FAKE_VERBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <infiniband/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The device --------------------------------------------------------------------------- */

enum {
	FAKE_MAX_PORTS = 4,
	FAKE_MAX_GIDS = 512, /* more than the 256 that ah_attr.grh.sgid_index can name */
	FAKE_MAX_PKEYS = 128,
};

/* One row of a GID table; a GID of zeros makes the row empty. */
struct fake_gid {
	union ibv_gid gid;
	uint32_t type; /* enum ibv_gid_type */
	uint32_t ifindex;
};

struct fake_port {
	struct ibv_port_attr attr; /* gid_tbl_len and pkey_tbl_len bound the two tables */
	struct fake_gid gid[FAKE_MAX_GIDS];
	uint16_t pkey[FAKE_MAX_PKEYS]; /* host byte order */
};

/*
 * Providers differ. Without a quirk the fake is a plain driver that uses the kernel's table, trusts
 * IBV_QP_CUR_STATE and lets the hardware truncate what is too wide.
 */
enum fake_quirk {
	FAKE_NEGATIVE_ERRNO = 1 << 0,    /* modify_qp and posting return -errno (qedr) */
	FAKE_NO_SQD = 1 << 1,            /* SQD is never entered: EINVAL (mlx5, hns) */
	FAKE_MTU_UP_TO_ACTIVE = 1 << 2,  /* path_mtu > active_mtu: EINVAL (hns, bnxt_re) */
	FAKE_MTU_UP_TO_MAX = 1 << 3,     /* path_mtu > max_mtu: EINVAL (rxe) */
	FAKE_NO_ROCE_V1 = 1 << 4,        /* a RoCE v1 source GID: EINVAL (rxe) */
	FAKE_STRICT_RANGES = 1 << 5,     /* timers over 5 bits, retries over 3: EINVAL (rdmavt) */
	FAKE_EXTENDED_MODIFY = 1 << 6,   /* the extended command: takes IBV_QP_RATE_LIMIT (mlx5) */
	FAKE_CUR_STATE_EQUAL = 1 << 7,   /* cur_qp_state other than the true one: EINVAL (hns) */
	FAKE_CUR_STATE_IGNORED = 1 << 8, /* cur_qp_state has no effect (bnxt_re, irdma, qedr) */
	FAKE_RESET_IS_FINAL = 1 << 9,    /* after RESET, INIT is refused: EINVAL (irdma) */
	FAKE_PRIVILEGED_QKEY = 1 << 10,  /* the caller may set a Q_Key with bit 31 (CAP_NET_RAW) */
	FAKE_POST_SEND_ENOMEM = 1 << 11, /* all that keeps a send back: ENOMEM, not EINVAL (mlx5) */
	FAKE_FLUSH_ON_POST = 1 << 12,    /* work posted in ERR completes at once, flushed */
	FAKE_RESET_PURGES_CQ = 1 << 13,  /* RESET drops the QP's completions (mlx5, mlx4, hns) */
	FAKE_NO_RAW = 1 << 14,           /* the caller lacks CAP_NET_RAW: no RAW_PACKET, EPERM */
	FAKE_QUEUE_THEN_CHECK =
		1 << 15, /* a send too early is queued, then refused; no bad_wr (rxe) */
	FAKE_SIGNALED_ONLY = 1 << 16, /* sends that are not signaled: EINVAL (efa) */
	FAKE_INLINE_CUT = 1 << 17,    /* too much inline data is cut, not refused (i40iw) */
	FAKE_DM_NO_CPU = 1 << 18,     /* device memory without copy functions (SW ICM of mlx5) */
	FAKE_DM_BLOCKS = 1 << 19,     /* regions on it come in multiples of 64, else EINVAL */
	FAKE_NEGATIVE_POST = 1 << 20, /* posting returns -errno, modify_qp does not (siw, erdma) */
	FAKE_USER_AH = 1 << 21, /* address handles are the library's own (mlx5, mlx4: InfiniBand) */
	FAKE_SRQ_EMPTY =
		1 << 22, /* a shared receive queue of no work requests is taken (mlx5, mlx4) */
	FAKE_NO_IMPORT = 1 << 24, /* nothing can be imported: EOPNOTSUPP (all but mlx5) */
	FAKE_IMPORT_CLOSES =
		1 << 25,            /* importing a device closes the file, then fails: EIO (mlx5) */
	FAKE_FEW_OPCODES = 1 << 26, /* neither atomics, immediate data nor windows: EINVAL (siw) */
};

/* Fields of struct ibv_qp_attr without a bit of their own, for the masks of struct fake_habits. */
enum {
	FAKE_FIELD_SQ_DRAINING = 1 << 29,
	FAKE_FIELD_AH_PORT = 1 << 30, /* ah_attr.port_num */
};

/* Types of queue pairs of a driver's own. */
enum fake_driver_type {
	FAKE_NO_DRIVER_TYPE,
	FAKE_SRD,      /* efa */
	FAKE_DCI,      /* mlx5 */
	FAKE_DCT,      /* mlx5 */
	FAKE_UNDERLAY, /* mlx5: UD with IBV_QP_CREATE_SOURCE_QPN */
};

/* How a driver judges a move. */
enum fake_moves {
	FAKE_MOVES_BY_TABLE,   /* by the kernel's table, or that of the driver's type */
	FAKE_MOVES_WITH_STATE, /* so only if IBV_QP_STATE is there; without it, any mask will do */
	FAKE_MOVES_ANY,        /* not at all: the hardware may, which the fake does not know */
	FAKE_MOVES_IWARP,      /* by what a TCP connection can do */
	FAKE_MOVES_USNIC,      /* by a table of its own, where only the state and the port count */
};

/* Whose connections they are. */
enum fake_iwarp {
	FAKE_IWARP_SIW,
	FAKE_IWARP_ERDMA,
	FAKE_IWARP_CXGB4,
	FAKE_IWARP_IRDMA,
};

/* What a driver compares a READ depth with. */
enum fake_limit {
	FAKE_LIMIT_OWN,   /* the device's limit for this depth */
	FAKE_LIMIT_OTHER, /* the device's limit for the other one */
	FAKE_LIMIT_NONE,
};

/* Which P_Key indices a driver takes. */
enum fake_pkeys {
	FAKE_PKEY_TABLE,  /* those of the port's table */
	FAKE_PKEY_DEVICE, /* those below max_pkeys, which may be more */
	FAKE_PKEY_FIRST,  /* 0, for any other: EOPNOTSUPP */
	FAKE_PKEY_ANY,
};

/* Who may have a rate limit where the driver takes the extended command. */
enum fake_rate {
	FAKE_RATE_BY_TABLE, /* RAW_PACKET: Linux before 7 */
	FAKE_RATE_RAW,      /* RAW_PACKET, in any move, and alone before RTS: kept for later */
	FAKE_RATE_RC,       /* RC, to RTR, to RTS and in RTS */
};

/* What becomes of work that is posted in ERR, where it is taken. */
enum fake_late {
	FAKE_LATE_NEVER,      /* it stays in the queue */
	FAKE_LATE_AT_ONCE,    /* flushed, by the hardware or when the library polls */
	FAKE_LATE_BY_MODIFY,  /* once ibv_modify_qp() moves to ERR again */
	FAKE_LATE_BY_LIBRARY, /* so, which the library does itself if struct ibv_qp says ERR */
	FAKE_LATE_REFLUSH, /* only if struct ibv_qp says ERR and the queue is empty when it is posted */
};

/* What a driver does its own way beyond a quirk; all zeros is the plain driver. */
struct fake_habits {
	/*
	 * ibv_query_qp(): what it answers in any case, and the bits of attr_mask that make it EOPNOTSUPP.
	 * Fields, by their bits: those it never fills; fills only if asked; the only ones of a queue pair in
	 * RESET, of RAW_PACKET and underlay; those it fills only where there is a path. A field that is not
	 * filled is 0 if the driver clears the answer. Else it is what the kernel's memory held before, as
	 * ib_uverbs_query_qp() does not clear it: bytes of this value; Linux with init_on_alloc=1 has 0.
	 */
	int query_errno;
	int query_refused;
	int query_unfilled;
	int query_if_asked;
	int query_in_reset;
	int query_of_raw;
	int query_of_path;
	bool query_clears;
	uint8_t stale;
	uint8_t query_port;    /* which port is told, 0: the true one */
	bool query_pkey_value; /* a P_Key in place of its index */

	/* ibv_modify_qp() */
	enum fake_moves moves;
	enum fake_iwarp iwarp;
	uint32_t modify_types;   /* FAKE_QPT() bits; of other types: EOPNOTSUPP; 0: all */
	int modify_refused;      /* bits of attr_mask that make it EOPNOTSUPP */
	bool cur_state_or_error; /* cur_qp_state: the true one, ERR, or SQE in RTS and SQD */
	bool underlay;           /* UD queue pairs are underlay ones */
	int user_qkey_errno;     /* for a Q_Key with bit 31, whatever the caller may do */
	enum fake_rate rate;
	enum fake_pkeys pkey;
	enum fake_limit depth, dest_depth;
	int dci_depth;                    /* the limit of a DCI, which no query tells */
	bool keeps_refused;               /* attributes stay, even if the move is refused */
	enum ibv_mtu least_mtu, most_mtu; /* 0: the enum's */
	bool mtu_unchecked;               /* but for the quirks */
	int strict;                /* attributes held to their range, as by FAKE_STRICT_RANGES */
	unsigned int access;       /* access flags that it takes, 0: all */
	unsigned int access_added; /* access flags that there are whatever was asked for */

	/* ibv_create_cq(): the least there is, without a refusal; the errno value of all, 0: EINVAL. */
	int cq_rounded;
	int cq_errno;
	bool cq_fixed; /* ibv_resize_cq(): EOPNOTSUPP */
	int cq_hidden; /* the most that is taken, where the device reports more; 0: as it reports */

	/*
	 * ibv_create_srq(): the errno value for one more than max_srq, 0: ENOMEM; how much less than
	 * max_srq_wr is taken; the least number of SGEs.
	 */
	int srq_count_errno;
	uint32_t srq_wr_less, srq_least_sge;

	/*
	 * Posting. A send before RTS is taken, or with FAKE_QUEUE_THEN_CHECK ends in this (0: EINVAL); in
	 * state ERR of struct ibv_qp all ends in that errno value. Receives: the least number of SGEs. Shared
	 * ones: what is returned for too many SGEs, 0: EINVAL, and where the queue is full, 0: ENOMEM.
	 */
	bool early_taken;
	int early_result;
	int error_state_errno;
	bool error_state_true; /* in that state of the hardware */
	int recv_least_sge;
	int srq_sge_result;
	int srq_full_result;

	/*
	 * The extended interface: how ibv_wr_complete() ends where the queue is full, 0: ENOMEM, or there are too many
	 * SGEs or inline bytes, 0: EINVAL; all the type's operations are there, whatever send_ops_flags says.
	 */
	int ex_full_errno;
	int ex_size_errno;
	bool ex_fills_all;

	uint32_t
		ece_vendor; /* whose ECE options it has; 0: ibv_query_ece(), ibv_set_ece(): EOPNOTSUPP */

	/*
	 * Whether work completes when the queue pair enters ERR, signaled or not, in order, and sends when it enters
	 * SQE; what is posted later; and whether IBV_EVENT_QP_LAST_WQE_REACHED comes where there is an SRQ.
	 */
	bool flushes;
	enum fake_late late_send, late_recv;
	bool last_wqe;

	/* A draining queue pair leaves SQD for ERR alone: EINVAL; and one in SQD is always said to drain. */
	bool sqd_holds;
	bool sqd_again; /* going to SQD in SQD drains again, for one query at least */
	bool sqd_says_draining;
};

/* What fake_device.qp_types and the device's supported_qpts call a type. */
#define FAKE_QPT(type) ((type) == IBV_QPT_DRIVER ? 1u << 31 : 1u << ((unsigned int)(type) & 31))

struct fake_device {
	struct ibv_device verbs;        /* names, node and transport type */
	struct ibv_device_attr_ex attr; /* the answer to a query, except for the number of ports */
	uint32_t ports;                 /* may exceed FAKE_MAX_PORTS; those ports do not answer */
	bool is_unlisted; /* ibv_get_device_list() leaves it out, as without a provider */
	struct fake_port port[1 + FAKE_MAX_PORTS]; /* [1] is port 1; [0] is not used */
	uint32_t qp_types;    /* FAKE_QPT() bits; other types: EOPNOTSUPP. DRIVER means efa's SRD */
	uint32_t quirks;      /* enum fake_quirk */
	uint32_t max_inline;  /* greatest cap.max_inline_data, which no query tells: 256 */
	uint32_t inline_step; /* what is granted of it is rounded up to a multiple; 0: it is not */

	/*
	 * What looking for the peer's MAC address ends in, where RoCE has to look for it: 0, or
	 * ETIMEDOUT, ENETUNREACH, EHOSTUNREACH, ENODEV ... The kernel takes the hop limit of
	 * a connected path from the route it found.
	 */
	int neighbour_errno;
	uint8_t route_hop_limit;

	/*
	 * Device memory exists where attr.max_dm_size, the most for one allocation, is not 0 from the
	 * beginning. In all there is dm_size of it, more: ENOMEM; 0: it never ends. What no query tells is
	 * the greatest log_align_req: 12.
	 */
	uint64_t dm_size;
	uint32_t dm_log_align;

	/* What the firmware offers of habits.ece_vendor's ECE; 0: none, then only ibv_query_ece() answers. */
	uint32_t ece_options;

	struct fake_habits habits; /* of the driver: fake_profile() */
};

/*
 * Close and forget everything; then there is one device again, "fake0", RoCE v2 with one port:
 * active MTU 1024 of 4096, P_Key 0xffff, and GIDs in rows 0 to 5 of 16: fe80::, IPv4-mapped and
 * global IPv6, each as v1 and then as v2.
 */
struct fake_device *fake_reset(void);

/* One more device, like "fake0" but for its name. */
struct fake_device *fake_device_add(const char *name);

/* Makes a port of a RoCE device a native InfiniBand port: LID 1, one GID, no GRH needed. */
void fake_port_infiniband(struct fake_port *port);

/* ---- Drivers with habits of their own ------------------------------------------------------ */

/* Each stands for one driver, or for one of its modes. fake_profile.c tells where all was read. */
enum fake_profile {
	FAKE_PROFILE_PLAIN, /* what fake_reset() makes */
	FAKE_PROFILE_RXE,
	FAKE_PROFILE_MLX5,
	FAKE_PROFILE_MLX5_UNDERLAY, /* its UD queue pairs have IBV_QP_CREATE_SOURCE_QPN */
	FAKE_PROFILE_MLX4,
	FAKE_PROFILE_MLX4_BONDED, /* two ports bonded by Ethernet */
	FAKE_PROFILE_EFA,
	FAKE_PROFILE_SIW,
	FAKE_PROFILE_BNXT_RE,
	FAKE_PROFILE_ERDMA, /* iWARP */
	FAKE_PROFILE_ERDMA_ROCE,
	FAKE_PROFILE_MANA,
	FAKE_PROFILE_IONIC,
	FAKE_PROFILE_HNS,
	FAKE_PROFILE_IRDMA, /* RoCE */
	FAKE_PROFILE_MTHCA,
	FAKE_PROFILE_OCRDMA,
	FAKE_PROFILE_QEDR, /* RoCE */
	FAKE_PROFILE_PVRDMA,
	FAKE_PROFILE_RDMAVT, /* hfi1 */
	FAKE_PROFILE_QIB,    /* rdmavt as well */
	FAKE_PROFILE_USNIC,  /* UDP */
	FAKE_PROFILE_CXGB4,
	FAKE_PROFILE_IRDMA_IWARP,
	FAKE_PROFILE_COUNT
};

/*
 * The device becomes one of this driver in the running kernel: say which that is by fake_uname(), first.
 * Names, ids, link layer, types, quirks and habits change; all may be changed again afterwards.
 */
void fake_profile(struct fake_device *dev, enum fake_profile profile);

/* The release that uname() tells, "6.1.0-fake" after fake_reset(); NULL: uname() fails. */
void fake_uname(const char *release);

/* What connecting a socket of an IP family ends in: 0 after fake_reset(), or an errno such as ENETUNREACH. */
void fake_route(int error);

/*
 * The local address that such a socket then has, "10.5.5.1" or "2001:db8::1", unless it is bound to one itself.
 * NULL, as after fake_reset(), or one of the other family: the socket does not tell.
 */
void fake_route_from(const char *address);

/* A routing rule leads on from this address, whatever fake_route() says. NULL, as after fake_reset(): there is none. */
void fake_route_rule(const char *address);

/* What binding such a socket to an address ends in; 0 after fake_reset(). */
void fake_route_bind(int error);

/* The socket that was connected last, and how many were since fake_reset(). */
struct fake_route_question {
	int family, flags; /* of socket() */
	struct sockaddr_storage peer;
	struct sockaddr_storage bound; /* family 0: to no address */
	int preferences;               /* among addresses, IPV6_ADDR_PREFERENCES */
};
const struct fake_route_question *fake_route_asked(void);
unsigned int fake_route_count(void);

/*
 * IP groups, "239.1.2.3", that sockets which are open have joined: on which interface, 0: none has; and how many
 * memberships there are. What joining ends in: 0 after fake_reset(), or an errno such as ENOMEM.
 */
unsigned int fake_member(const char *group);
unsigned int fake_member_count(void);
void fake_member_fail(int error);

/* The address that was connected last. */
const struct sockaddr_storage *fake_routed(void);

/* An interface and its name; after fake_reset() there is "lo", number 1, alone. */
void fake_netdev(unsigned int ifindex, const char *name);

/* What ibv_is_fork_initialized() says, an enum ibv_fork_status: IBV_FORK_UNNEEDED, 2, after fake_reset(). */
void fake_fork(int status);

/* The bytes that every file descriptor's dma-buf has; 0, as after fake_reset(): descriptors are not of a dma-buf. */
void fake_dmabuf(uint64_t bytes);

/* The access flags of a dma-buf that the driver takes, as efa_alloc_mr() judges them; all after fake_dmabuf(). */
void fake_dmabuf_access(unsigned int access);

/*
 * From now on open(), opendir(), access(), stat(), lstat() and readlink() of what lies below /proc, /sys, /dev and
 * /etc look below this directory instead, where a missing file does not exist; NULL, as after fake_reset(): the
 * machine's own. fake_tree_new() makes an empty one, which goes when another takes its place.
 */
void fake_tree(const char *directory);
void fake_tree_new(void);

/* Writes a file of the tree, "/proc/self/maps" for example, with the folders above it; NULL: removes it. */
void fake_tree_file(const char *path, const char *text);

/* The same for a symbolic link: to "/dev/null", number 1:3, which then stands for a device node. */
void fake_tree_link(const char *path, const char *target);

/* Opening this path fails with this errno value, for whatever user; error 0 ends that. One at a time. */
void fake_tree_refuse(const char *path, int error);

/* ---- Shortcuts, none of which is recorded ------------------------------------------------- */

/* The device opened. */
struct ibv_context *fake_open(struct fake_device *dev);

/* A queue pair in RESET, on a protection domain, completion queue and XRC domain of its own. */
struct ibv_qp *fake_qp(struct ibv_context *ctx, enum ibv_qp_type type);

/*
 * One that verbs have no type for, as efadv and mlx5dv create them; struct ibv_qp says IBV_QPT_DRIVER,
 * and of an underlay one IBV_QPT_UD. A DCT has no number before RTR.
 */
struct ibv_qp *fake_qp_driver(struct ibv_context *ctx, enum fake_driver_type type);

/* The state and attributes the hardware has, whatever qp->state says. */
const struct ibv_qp_attr *fake_qp_true(const struct ibv_qp *qp);

/*
 * Put the hardware in a state behind the library's back, as an error on the wire does: qp->state
 * stays. Away from RESET a queue pair that has no port yet gets port 1.
 */
void fake_qp_force(struct ibv_qp *qp, enum ibv_qp_state state);

/* A shared receive queue, basic or XRC, for 16 work requests of 4 SGEs, on objects of its own. */
struct ibv_srq *fake_srq(struct ibv_context *ctx, enum ibv_srq_type type);

/* Let all that is posted be done, without completions: the queues are empty again. */
void fake_qp_work_done(struct ibv_qp *qp);
void fake_srq_work_done(struct ibv_srq *srq);

/* So many sends succeed, the oldest first; those that are signaled complete. */
void fake_qp_sends_succeed(struct ibv_qp *qp, uint32_t count);

/* The sends and receives that are posted and not done. */
uint32_t fake_qp_posted(const struct ibv_qp *qp);

/* From now on the queue pair in SQD is said to drain, so many queries long; -1: for ever; -2: until an error, at once. */
void fake_qp_drains(struct ibv_qp *qp, int queries);

/*
 * An event for ibv_get_async_event() to find; poll() sees it in async_fd. What it is about cannot be destroyed from when
 * the event is read until it is acknowledged: where libibverbs would wait for ever, the verb is EDEADLK.
 */
void fake_event(struct ibv_context *ctx, const struct ibv_async_event *event);

/*
 * A completion for ibv_poll_cq() to find; false if the queue is full. If the queue is armed and on a channel that
 * ibv_create_comp_channel() has made, it is disarmed, and an event is there: poll() sees it in the channel's fd. Queues
 * armed for solicited completions only take those that failed or have IBV_WC_IP_CSUM_OK, which here stands for solicited.
 */
bool fake_cq_push(struct ibv_cq *cq, const struct ibv_wc *wc);

/*
 * What the extended interface has built since ibv_wr_start(), also after ibv_wr_complete(): the nth work request, the
 * first being 0, as ibv_post_send() would take it; NULL: there is none. Data that was set inline is copied.
 */
enum {
	FAKE_BUILT_MAX = 16,
	FAKE_BUILT_SGES = 40,
	FAKE_BUILT_INLINE = 1024
};
struct fake_built {
	struct ibv_send_wr wr; /* its sg_list is the array below */
	struct ibv_sge sge[FAKE_BUILT_SGES];
	bool is_inline; /* set so, whatever the flags say */
	uint8_t data[FAKE_BUILT_INLINE];
};
const struct fake_built *fake_built(const struct ibv_qp *qp, unsigned int nth);

/*
 * How often the extended interface was misused, where a provider writes into wrong memory, hangs or crashes: outside of
 * ibv_wr_start() and its end, begun twice, a setter that is missing, repeated or of another type, ibv_post_send()
 * between. This must stay 0. fake_reset_log() clears it.
 */
unsigned int fake_misused(void);

/* Free every object and context that is still open. Returns how many there were. */
int fake_close_all(void);

/* How many are open: what this was before, it must be again after a failure. */
int fake_open_count(void);

/* The kernel's rule for one transition, from its own table; required excludes IBV_QP_STATE. */
struct fake_rule {
	bool legal;
	int required;
	int optional;
};
struct fake_rule fake_qp_rule(enum ibv_qp_type type, enum ibv_qp_state from, enum ibv_qp_state to);

/* The driver's rule for a type of its own. */
struct fake_rule fake_driver_rule(enum fake_driver_type type, enum ibv_qp_state from,
				  enum ibv_qp_state to);

/* ---- What was called ---------------------------------------------------------------------- */

#define FAKE_VERBS(X)                                \
	X(GET_DEVICE_LIST, ibv_get_device_list)      \
	X(OPEN_DEVICE, ibv_open_device)              \
	X(CLOSE_DEVICE, ibv_close_device)            \
	X(QUERY_DEVICE, ibv_query_device)            \
	X(QUERY_DEVICE_EX, ibv_query_device_ex)      \
	X(QUERY_PORT, ibv_query_port)                \
	X(QUERY_GID, ibv_query_gid)                  \
	X(QUERY_GID_EX, ibv_query_gid_ex)            \
	X(QUERY_GID_TABLE, ibv_query_gid_table)      \
	X(QUERY_PKEY, ibv_query_pkey)                \
	X(GET_PKEY_INDEX, ibv_get_pkey_index)        \
	X(ALLOC_PD, ibv_alloc_pd)                    \
	X(DEALLOC_PD, ibv_dealloc_pd)                \
	X(REG_MR, ibv_reg_mr)                        \
	X(REREG_MR, ibv_rereg_mr)                    \
	X(DEREG_MR, ibv_dereg_mr)                    \
	X(ALLOC_MW, ibv_alloc_mw)                    \
	X(BIND_MW, ibv_bind_mw)                      \
	X(DEALLOC_MW, ibv_dealloc_mw)                \
	X(OPEN_XRCD, ibv_open_xrcd)                  \
	X(CLOSE_XRCD, ibv_close_xrcd)                \
	X(CREATE_CQ, ibv_create_cq)                  \
	X(RESIZE_CQ, ibv_resize_cq)                  \
	X(DESTROY_CQ, ibv_destroy_cq)                \
	X(POLL_CQ, ibv_poll_cq)                      \
	X(REQ_NOTIFY_CQ, ibv_req_notify_cq)          \
	X(START_POLL, ibv_start_poll)                \
	X(END_POLL, ibv_end_poll)                    \
	X(CREATE_CHANNEL, ibv_create_comp_channel)   \
	X(DESTROY_CHANNEL, ibv_destroy_comp_channel) \
	X(GET_CQ_EVENT, ibv_get_cq_event)            \
	X(ACK_CQ_EVENTS, ibv_ack_cq_events)          \
	X(CREATE_AH, ibv_create_ah)                  \
	X(DESTROY_AH, ibv_destroy_ah)                \
	X(CREATE_SRQ, ibv_create_srq)                \
	X(MODIFY_SRQ, ibv_modify_srq)                \
	X(QUERY_SRQ, ibv_query_srq)                  \
	X(DESTROY_SRQ, ibv_destroy_srq)              \
	X(POST_SRQ_RECV, ibv_post_srq_recv)          \
	X(CREATE_QP, ibv_create_qp)                  \
	X(MODIFY_QP, ibv_modify_qp)                  \
	X(QUERY_QP, ibv_query_qp)                    \
	X(QUERY_ECE, ibv_query_ece)                  \
	X(SET_ECE, ibv_set_ece)                      \
	X(DESTROY_QP, ibv_destroy_qp)                \
	X(ATTACH_MCAST, ibv_attach_mcast)            \
	X(DETACH_MCAST, ibv_detach_mcast)            \
	X(POST_SEND, ibv_post_send)                  \
	X(POST_RECV, ibv_post_recv)                  \
	X(WR_START, ibv_wr_start)                    \
	X(WR_COMPLETE, ibv_wr_complete)              \
	X(WR_ABORT, ibv_wr_abort)                    \
	X(ALLOC_DM, ibv_alloc_dm)                    \
	X(FREE_DM, ibv_free_dm)                      \
	X(REG_DM_MR, ibv_reg_dm_mr)                  \
	X(MEMCPY_TO_DM, ibv_memcpy_to_dm)            \
	X(MEMCPY_FROM_DM, ibv_memcpy_from_dm)        \
	X(IMPORT_DEVICE, ibv_import_device)          \
	X(IMPORT_PD, ibv_import_pd)                  \
	X(UNIMPORT_PD, ibv_unimport_pd)              \
	X(IMPORT_MR, ibv_import_mr)                  \
	X(UNIMPORT_MR, ibv_unimport_mr)              \
	X(IMPORT_DM, ibv_import_dm)                  \
	X(UNIMPORT_DM, ibv_unimport_dm)              \
	X(DM_DMABUF, ibv_dm_export_dmabuf_fd)        \
	X(REG_DMABUF_MR, ibv_reg_dmabuf_mr)          \
	X(GET_EVENT, ibv_get_async_event)            \
	X(ACK_EVENT, ibv_ack_async_event)

enum fake_verb {
	FAKE_ANY, /* for fake_count() and fake_fail() only */
#define FAKE_VERB_ENUM(name, verb) FAKE_##name,
	FAKE_VERBS(FAKE_VERB_ENUM)
#undef FAKE_VERB_ENUM
	FAKE_VERB_COUNT
};

const char *fake_verb_str(enum fake_verb verb);

/* Part of device memory, and of a copy the host's side. */
struct fake_dm_range {
	uint64_t offset;
	size_t length;
	const void *host;
};

/* A multicast group, as a queue pair is attached to it. */
struct fake_group {
	union ibv_gid gid;
	uint16_t lid;
};

/* One call: only the members its verb has are meaningful. */
struct fake_call {
	enum fake_verb verb;
	const void *object; /* the verb's first argument */
	uint32_t port;
	uint32_t
		index; /* of a GID or P_Key; number of work requests, polled entries or events; solicited_only */
	int attr_mask;
	int result; /* what was returned; of a pointer, 0 or -1 */
	int error;  /* the errno value this stands for, 0 for success */
	union {
		struct ibv_qp_attr qp_attr;      /* ibv_modify_qp, as the caller passed it */
		struct ibv_ah_attr ah_attr;      /* ibv_create_ah */
		struct ibv_send_wr send_wr;      /* ibv_post_send, ibv_wr_complete: the first */
		struct ibv_recv_wr recv_wr;      /* ibv_post_recv and _srq_recv, the first */
		struct ibv_srq_init_attr_ex srq; /* ibv_create_srq, comp_mask 0 if it was not _ex */
		struct ibv_alloc_dm_attr alloc_dm; /* ibv_alloc_dm */
		struct fake_dm_range dm;           /* ibv_reg_dm_mr and the copies */
		struct ibv_ece ece;                /* ibv_set_ece */
		struct fake_group group;           /* ibv_attach_mcast, ibv_detach_mcast */
	} arg;
};

/* Calls made since the last reset, of one verb or of FAKE_ANY. */
unsigned int fake_count(enum fake_verb verb);

enum {
	FAKE_LOG_SIZE = 256, /* calls that are remembered; older ones are only counted */
};

/* The nth call of all, the first being 1, or the last call of a verb; NULL if not remembered. */
const struct fake_call *fake_nth(unsigned int nth);
const struct fake_call *fake_last(enum fake_verb verb);

/* Forget all calls, the failures still to come, and what fake_out_of_bounds() says. */
void fake_reset_log(void);

/*
 * Make the nth call from now on fail with this errno value, of one verb or of FAKE_ANY; nth 0:
 * every call until err 0 ends it. The verb fails in its own style and has no effect, but on what a question
 * is to fill, which then holds anything. err -1: a verb that returns NULL or -1 forgets errno.
 */
void fake_fail(enum fake_verb verb, unsigned int nth, int err);

/*
 * How many times a port number that the device does not have reached provider code which indexes
 * an array with it before the kernel has looked (mlx5: ibv_modify_qp of a RAW_PACKET queue pair), or
 * a copy of device memory a range outside that passes mlx5's test because its sum wraps around, or a
 * host address that is no multiple of 4, where mlx5 reads and writes words.
 * A real program would have read out of bounds; this must stay 0.
 */
unsigned int fake_out_of_bounds(void);

#ifdef __cplusplus
}
#endif

#endif
