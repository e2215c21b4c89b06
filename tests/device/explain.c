/* SPDX-License-Identifier: MIT */
/*
 * Mistakes made for real: ibv_modify_qp() is called with each, the kernel refuses with the errno that
 * rdmaez_qp_check() foresaw, and the record names the reason and the field. What the kernel accepts
 * against advice is only asked.
 */
#define _GNU_SOURCE /* seteuid() */
#include <arpa/inet.h>
#include <unistd.h>

#include "rig.h"

static struct rig rig;
static struct side *side;

/* A right request, to be spoilt. */
static struct rdmaez_qp_move right(enum ibv_qp_type type, enum ibv_qp_state from,
				   enum ibv_qp_state to)
{
	struct rdmaez_qp_opts opts = {0};
	struct rdmaez_qp_move move;

	opts.port_attr = &rig.port;
	opts.access = type == IBV_QPT_RC ? IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE : 0;
	opts.path.dgid = rig.self.gid;
	opts.path.sgid_index = rdmaez_exactly((int)rig.self.gid_index);
	opts.dest_qp_num = side->qp->qp_num;
	if (rdmaez_qp_attr(type, from, to, &opts, &move, NULL))
		tap_bail("no right request");
	return move;
}

/* A fresh queue pair in this state. */
static void begin(enum ibv_qp_type type, enum ibv_qp_state state)
{
	side = side_open(&rig, type);
	for (int from = 0; from < (int)state; from++) {
		struct rdmaez_qp_move move =
			right(type, (enum ibv_qp_state)from, (enum ibv_qp_state)(from + 1));

		if (ibv_modify_qp(side->qp, &move.attr, move.attr_mask))
			tap_bail("cannot bring the queue pair up");
	}
}

static void judge(const struct rdmaez_diag *diag, enum rdmaez_why reason,
		  enum rdmaez_severity severity, const char *field, const char *what)
{
	const struct rdmaez_finding *finding = rdmaez_diag_find(diag, reason);
	char text[4096];

	if (tap_ok(finding, "%s: the reason is %s", what, rdmaez_why_id(reason))) {
		tap_eq_int(finding->severity, severity, "%s: of the right severity", what);
		tap_eq_str(finding->field, field, "%s: of %s", what, field);
	} else {
		rdmaez_diag_format(diag, text, sizeof(text));
		tap_diag("%s", text);
	}
	tap_eq_str(diag->driver, "rdma_rxe", "%s: the driver is known", what);
}

/* Refused for real, as foreseen; `foreseen` differs from `error` where only trying shows it. */
static void refused(struct rdmaez_qp_move *move, int foreseen, int error, enum rdmaez_why reason,
		    enum rdmaez_severity severity, const char *field, const char *what)
{
	const enum ibv_qp_state before = side->qp->state;
	enum ibv_qp_state after;
	struct rdmaez_diag diag;

	tap_eq_int(rdmaez_qp_check(side->qp, &move->attr, move->attr_mask, NULL), foreseen,
		   "%s: check foresees it", what);
	tap_eq_int(rdmaez_qp_modify(side->qp, &move->attr, move->attr_mask, &diag), error,
		   "%s: the kernel says %s", what, rdmaez_errno_str(error));
	judge(&diag, reason, severity, field, what);
	if (rdmaez_qp_state(side->qp, &after, NULL))
		tap_bail("ibv_query_qp failed");
	tap_eq_int(after, before, "%s: the state is as before", what);
}

/* Accepted, as the check says, with advice. */
static void advised(struct rdmaez_qp_move *move, enum rdmaez_why reason,
		    enum rdmaez_severity severity, const char *field, const char *what)
{
	struct rdmaez_diag diag;

	tap_eq_int(rdmaez_qp_check(side->qp, &move->attr, move->attr_mask, &diag), 0,
		   "%s: check lets it pass", what);
	judge(&diag, reason, severity, field, what);
	tap_eq_int(ibv_modify_qp(side->qp, &move->attr, move->attr_mask), 0,
		   "%s: and so does the kernel", what);
}

#define REFUSED(type, from, to, spoilt, error, reason, field)                                     \
	do {                                                                                      \
		begin(IBV_QPT_##type, IBV_QPS_##from);                                            \
		struct rdmaez_qp_move move = right(IBV_QPT_##type, IBV_QPS_##from, IBV_QPS_##to); \
		struct ibv_qp_attr *attr = &move.attr;                                            \
		(void)attr;                                                                       \
		spoilt;                                                                           \
		refused(&move, error, error, RDMAEZ_WHY_##reason, RDMAEZ_DIAG_ERROR, field,       \
			#spoilt);                                                                 \
		side_close(side);                                                                 \
	} while (0)

#define ADVISED(type, from, to, spoilt, reason, severity, field)                                  \
	do {                                                                                      \
		begin(IBV_QPT_##type, IBV_QPS_##from);                                            \
		struct rdmaez_qp_move move = right(IBV_QPT_##type, IBV_QPS_##from, IBV_QPS_##to); \
		struct ibv_qp_attr *attr = &move.attr;                                            \
		spoilt;                                                                           \
		advised(&move, RDMAEZ_WHY_##reason, RDMAEZ_DIAG_##severity, field, #spoilt);      \
		side_close(side);                                                                 \
	} while (0)

static void alternate(struct rdmaez_qp_move *move)
{
	move->attr_mask |= IBV_QP_ALT_PATH;
	move->attr.alt_ah_attr = move->attr.ah_attr;
	move->attr.alt_port_num = 1;
}

static void check_refusals(void)
{
	REFUSED(RC, INIT, RTR, attr->qp_state = IBV_QPS_RTS, EINVAL, TRANSITION, "qp_state");
	REFUSED(RC, INIT, RTR, move.attr_mask &= ~IBV_QP_RQ_PSN, EINVAL, MASK_MISSING, "attr_mask");
	REFUSED(RC, INIT, RTR, (move.attr_mask |= IBV_QP_PORT, attr->port_num = 1), EINVAL,
		MASK_NOT_ALLOWED, "attr_mask");
	REFUSED(UD, RESET, INIT, move.attr_mask |= IBV_QP_ACCESS_FLAGS, EINVAL, MASK_NOT_ALLOWED,
		"attr_mask");
	REFUSED(RC, RTR, RTS, move.attr_mask |= IBV_QP_CAP, EINVAL, MASK_CAP, "attr_mask");
	REFUSED(RC, RTR, RTS, move.attr_mask |= 1 << 22, EOPNOTSUPP, MASK_UNKNOWN, "attr_mask");
	REFUSED(RC, RTR, RTS, move.attr_mask |= IBV_QP_RATE_LIMIT, EOPNOTSUPP, MASK_RATE_LIMIT,
		"attr_mask");
	REFUSED(RC, INIT, RTR, attr->qp_state = (enum ibv_qp_state)7, EINVAL, QP_STATE, "qp_state");
	REFUSED(RC, RESET, INIT, attr->port_num = 2, EINVAL, PORT, "port_num");
	REFUSED(RC, INIT, RTR, attr->ah_attr.port_num = 9, EINVAL, PORT, "ah_attr.port_num");
	REFUSED(RC, INIT, RTR, attr->ah_attr.is_global = 0, EINVAL, GRH_MISSING,
		"ah_attr.is_global");
	REFUSED(RC, INIT, RTR, attr->ah_attr.grh.sgid_index = 200, ENODATA, GID_EMPTY,
		"ah_attr.grh.sgid_index");
	REFUSED(RC, INIT, RTR, attr->ah_attr.grh.dgid.raw[10] = 0x20, EINVAL, GID_FAMILY,
		"ah_attr.grh.sgid_index");
	REFUSED(RC, INIT, RTR, alternate(&move), EINVAL, APM, "alt_ah_attr");
	REFUSED(RC, INIT, RTR, attr->path_mtu = (enum ibv_mtu)6, EINVAL, ENUM, "path_mtu");
	REFUSED(RC, RTR, RTS, attr->max_rd_atomic = 129, EINVAL, DEPTH_LIMIT, "max_rd_atomic");
	REFUSED(RC, RTR, RTS, attr->timeout = 32, EINVAL, WIDTH, "timeout");
}

static void check_advice(void)
{
	ADVISED(RC, INIT, RTR, attr->path_mtu = (enum ibv_mtu)1024, MTU_IN_BYTES, LIKELY,
		"path_mtu");
	ADVISED(RC, INIT, RTR, attr->path_mtu = IBV_MTU_4096, MTU_ABOVE_ACTIVE, ADVICE, "path_mtu");
	ADVISED(RC, INIT, RTR, attr->ah_attr.grh.hop_limit = 1, HOP_LIMIT, ADVICE,
		"ah_attr.grh.hop_limit");
	ADVISED(RC, INIT, RTR, attr->min_rnr_timer = 0, RNR_TIMER_ZERO, ADVICE, "min_rnr_timer");
	ADVISED(RC, INIT, RTR, attr->max_dest_rd_atomic = 0, DEPTH_ZERO, ADVICE,
		"max_dest_rd_atomic");
	ADVISED(RC, INIT, RTR, attr->rq_psn = 1u << 24, PSN_WIDTH, ADVICE, "rq_psn");
	ADVISED(RC, INIT, RTR, attr->dest_qp_num = 1u << 24, WIDTH, ADVICE, "dest_qp_num");
	ADVISED(RC, RTR, RTS, attr->max_rd_atomic = 0, DEPTH_ZERO_HANG, ADVICE, "max_rd_atomic");
	ADVISED(RC, RTR, RTS, attr->timeout = 0, TIMEOUT_ZERO, ADVICE, "timeout");
	ADVISED(RC, RTR, RTS, attr->retry_cnt = 0, RETRY_ZERO, ADVICE, "retry_cnt");
	ADVISED(RC, RTR, RTS, attr->retry_cnt = 8, WIDTH, ADVICE, "retry_cnt");
	ADVISED(RC, RTR, RTS, attr->rnr_retry = 0, RNR_RETRY_ZERO, ADVICE, "rnr_retry");
	ADVISED(RC, RESET, INIT, attr->pkey_index = 70, PKEY_INDEX, ADVICE, "pkey_index");
	if (rig_linux() >= 612)
		REFUSED(RC, RESET, INIT, attr->qp_access_flags = IBV_ACCESS_ZERO_BASED, EINVAL,
			ACCESS_BITS, "qp_access_flags");
	else
		ADVISED(RC, RESET, INIT, attr->qp_access_flags = IBV_ACCESS_ZERO_BASED, ACCESS_BITS,
			LIKELY, "qp_access_flags");
	ADVISED(UC, RESET, INIT, attr->qp_access_flags = IBV_ACCESS_REMOTE_READ, ACCESS_TYPE,
		ADVICE, "qp_access_flags");
}

/* What only trying shows. */
static void check_surprises(void)
{
	static const struct {
		const char *type;
		int error;
	} routes[] = {{"prohibit", EACCES}, {"unreachable", EHOSTUNREACH}, {"blackhole", EINVAL}};
	struct rdmaez_gid_want want;
	struct ibv_gid_entry row;
	struct rdmaez_qp_move move;
	struct rdmaez_diag diag;
	char text[4096];

	/* An address of the own subnet that nobody has, and one that no route leads to. */
	begin(IBV_QPT_RC, IBV_QPS_INIT);
	move = right(IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_RTR);
	move.attr.ah_attr.grh.dgid.raw[15] = 77;
	refused(&move, 0, ETIMEDOUT, RDMAEZ_WHY_NEIGHBOUR, RDMAEZ_DIAG_LIKELY, "ah_attr.grh.dgid",
		"a peer that nobody is");
	rdmaez_qp_modify(side->qp, &move.attr, move.attr_mask, &diag);
	rdmaez_diag_format(&diag, text, sizeof(text));
	tap_ok(strstr(text, "interface veth0") && strstr(text, "::ffff:192.0.2.77"),
	       "a peer that nobody is: the text names its GID and the interface");
	/* IPv4 takes an address without a route for a neighbour, so this one is IPv6. */
	memset(&want, 0, sizeof(want));
	memcpy(want.peer.raw, (const uint8_t[16]){0x20, 0x01, 0x0d, 0xb9, [15] = 1}, 16);
	if (rdmaez_port_choose_gid(rig.context, 1, &want, &row, NULL))
		tap_bail("the GID table has no global IPv6 row");
	move.attr.ah_attr.grh.dgid = want.peer;
	move.attr.ah_attr.grh.sgid_index = (uint8_t)row.gid_index;
	refused(&move, 0, ENETUNREACH, RDMAEZ_WHY_NO_ROUTE, RDMAEZ_DIAG_LIKELY, "ah_attr.grh.dgid",
		"a peer without a route");
	/* What a route of another type answers is no word of the driver's. */
	for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
		char command[80];

		snprintf(command, sizeof(command), "ip -6 route add %s 2001:db9::/64",
			 routes[i].type);
		if (system(command))
			tap_bail("%s", command);
		refused(&move, 0, routes[i].error, RDMAEZ_WHY_NO_ROUTE, RDMAEZ_DIAG_LIKELY,
			"ah_attr.grh.dgid", routes[i].type);
		snprintf(command, sizeof(command), "ip -6 route del %s 2001:db9::/64",
			 routes[i].type);
		if (system(command))
			tap_bail("%s", command);
	}
	side_close(side);

	begin(IBV_QPT_UD, IBV_QPS_RESET);
	move = right(IBV_QPT_UD, IBV_QPS_RESET, IBV_QPS_INIT);
	move.attr.qkey = 1u << 31;
	if (seteuid(65534))
		tap_bail("seteuid: %s", strerror(errno));
	if (rig_linux() >= 612) /* which tell their setting */
		refused(&move, EPERM, EPERM, RDMAEZ_WHY_QKEY_PRIVILEGED, RDMAEZ_DIAG_ERROR, "qkey",
			"a privileged Q_Key without privilege");
	else
		refused(&move, 0, EPERM, RDMAEZ_WHY_QKEY_PRIVILEGED, RDMAEZ_DIAG_LIKELY, "qkey",
			"a privileged Q_Key without privilege");
	if (seteuid(0))
		tap_bail("seteuid: %s", strerror(errno));
	tap_eq_int(rdmaez_qp_check(side->qp, &move.attr, move.attr_mask, &diag), 0,
		   "a privileged Q_Key with the privilege");
	tap_eq_int((int)diag.count, 0, "a privileged Q_Key with the privilege: nothing to say");
	side_close(side);

	/* An error took the queue pair elsewhere. */
	begin(IBV_QPT_RC, IBV_QPS_RTR);
	move = right(IBV_QPT_RC, IBV_QPS_RTR, IBV_QPS_RTS);
	if (rdmaez_qp_to_err(side->qp, NULL))
		tap_bail("cannot go to ERR");
	refused(&move, EINVAL, EINVAL, RDMAEZ_WHY_TRANSITION, RDMAEZ_DIAG_ERROR, "qp_state",
		"from a state that is no longer");
	side_close(side);
}

/*
 * Peers that are not found from the device's first address, which lost.t has made: each with the reason that comes
 * first, and the GID at the index that it names; "-": the one in use.
 */
static void check_lost(int count, char **peers)
{
	struct ibv_gid_entry named;
	struct rdmaez_qp_move move;
	struct rdmaez_diag diag;
	char gid[RDMAEZ_GID_TEXT];

	for (int i = 0; i + 2 < count; i += 3) {
		begin(IBV_QPT_RC, IBV_QPS_INIT);
		move = right(IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_RTR);
		if (inet_pton(AF_INET6, peers[i], move.attr.ah_attr.grh.dgid.raw) != 1)
			tap_bail("%s is no address", peers[i]);
		tap_eq_int(rdmaez_qp_modify(side->qp, &move.attr, move.attr_mask, &diag), ETIMEDOUT,
			   "%s is not found", peers[i]);
		tap_eq_str(rdmaez_why_id(diag.finding[0].reason), peers[i + 1], "%s: why",
			   peers[i]);
		if (ibv_query_gid_ex(rig.context, 1, (uint32_t)diag.finding[0].value, &named, 0))
			tap_bail("the index that is named has no GID");
		if (!strcmp(peers[i + 2], "-")) {
			tap_eq_int(named.gid_index, rig.self.gid_index, "%s: of the GID in use",
				   peers[i]);
		} else {
			rdmaez_gid_format(&named.gid, gid, sizeof(gid));
			tap_eq_str(gid, peers[i + 2], "%s: the GID that would do", peers[i]);
		}
		side_close(side);
	}
}

/* Without arguments all that the machine has of its own; with arguments the peers of lost.t. */
int main(int argc, char **argv)
{
	rig = rig_open();
	if (argc > 1) {
		check_lost(argc - 1, argv + 1);
	} else {
		check_refusals();
		check_advice();
		check_surprises();
	}
	rig_close(&rig);
	return tap_done();
}
