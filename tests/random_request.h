/* SPDX-License-Identifier: MIT */
/*
 * Random requests to ibv_modify_qp(), valid, nearly valid and wild: each is judged by
 * rdmaez_qp_check() and then made, and the two errno values must be the same. On a driver that refuses for
 * reasons of its own, check may have nothing to say against what is refused. The including test says
 * which GIDs a peer may have.
 */
#ifndef RANDOM_REQUEST_H
#define RANDOM_REQUEST_H

#include <rdmaez.h>

#include "tap.h"

#include "random.h"

/* Values near and beyond the edges of a field of eight bits. */
static uint8_t edge(void)
{
	static const uint8_t values[] = {0,  1,  2,  3,  5,  6,   7,   8,  12,
					 14, 16, 31, 32, 63, 128, 129, 255};

	return one_in(3) ? (uint8_t)any(256) : values[any(sizeof(values))];
}

static struct ibv_gid_entry gids[64];
static size_t gid_count;

/* GIDs the test knows to resolve at once, and multicast ones, which need no resolution. */
static union ibv_gid any_gid(void)
{
	union ibv_gid gid = gids[any((uint32_t)gid_count)].gid;

	if (one_in(8)) {
		memset(&gid, 0, sizeof(gid));
		gid.raw[0] = 0xff;
		gid.raw[1] = 0x02;
		gid.raw[15] = 1;
	} else if (one_in(16)) {
		memset(&gid, 0, sizeof(gid));
		gid.raw[10] = gid.raw[11] = 0xff;
		gid.raw[12] = 0xe0;
		gid.raw[15] = 9;
	}
	return gid;
}

static struct ibv_ah_attr any_vector(void)
{
	struct ibv_ah_attr ah;

	memset(&ah, 0, sizeof(ah));
	ah.is_global = !one_in(8);
	ah.port_num = one_in(8) ? edge() : 1;
	ah.grh.dgid = any_gid();
	ah.grh.sgid_index = one_in(4) ? edge() : (uint8_t)gids[any((uint32_t)gid_count)].gid_index;
	ah.grh.hop_limit = edge();
	ah.sl = edge();
	ah.dlid = (uint16_t)any(65536);
	ah.static_rate = edge();
	ah.src_path_bits = edge();
	return ah;
}

static enum ibv_qp_state any_state(void)
{
	static const int wild[] = {7, 8, 255, 256, 257, 258, 259, 100000, -1};

	return (enum ibv_qp_state)(one_in(12) ? wild[any(9)] : (int)any(7));
}

static enum ibv_mtu any_mtu(void)
{
	static const int values[] = {0, 1,   2,   3,   3,   3,    4,    5, 5,
				     6, 255, 256, 257, 260, 1024, 4096, -1};

	return (enum ibv_mtu)values[any(sizeof(values) / sizeof(*values))];
}

/* Whether max_dest_rd_atomic is always 16. rxe_qp_from_attr() since Linux 6.4, having noted the new number, clears that
 * many entries of the old array: a greater one than before ends in memory that is not its own. */
static bool always_16;

/* Every field random, so that whatever the mask names is there. */
static struct ibv_qp_attr any_attr(void)
{
	struct ibv_qp_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.qp_state = any_state();
	attr.cur_qp_state = any_state();
	attr.path_mtu = any_mtu();
	attr.path_mig_state = (enum ibv_mig_state)any(4);
	attr.qkey = one_in(4) ? any(0xffffffff) : any(0x7fffffff);
	attr.rq_psn = one_in(4) ? any(0xffffffff) : any(0x1000000);
	attr.sq_psn = one_in(4) ? any(0xffffffff) : any(0x1000000);
	attr.dest_qp_num = one_in(4) ? any(0xffffffff) : any(0x1000000);
	attr.qp_access_flags = one_in(4) ? any(0xffffffff) : any(16);
	attr.ah_attr = any_vector();
	attr.alt_ah_attr = any_vector();
	attr.pkey_index = one_in(4) ? (uint16_t)any(65536) : 0;
	attr.alt_pkey_index = (uint16_t)any(4);
	attr.en_sqd_async_notify = (uint8_t)any(2);
	attr.max_rd_atomic = edge();
	attr.max_dest_rd_atomic = always_16 ? 16 : (uint8_t)any(17);
	attr.min_rnr_timer = edge();
	attr.port_num = one_in(6) ? edge() : 1;
	attr.timeout = edge();
	attr.retry_cnt = edge();
	attr.rnr_retry = edge();
	attr.alt_port_num = one_in(4) ? edge() : 1;
	attr.alt_timeout = edge();
	return attr;
}

/* A right request for a random next state, so that the walk gets somewhere. */
static bool a_right_one(struct ibv_qp *qp, enum ibv_qp_type type, enum ibv_qp_state from,
			struct rdmaez_qp_move *move)
{
	struct rdmaez_qp_opts opts;
	const enum ibv_qp_state to = (enum ibv_qp_state)any(7);

	memset(&opts, 0, sizeof(opts));
	opts.path.dgid = gids[any((uint32_t)gid_count)].gid;
	opts.path.sgid_index = rdmaez_exactly((int)gids[any((uint32_t)gid_count)].gid_index);
	opts.dest_qp_num = qp->qp_num;
	opts.mtu = IBV_MTU_1024;
	opts.max_dest_rd_atomic = always_16 ? 16 : 0;
	opts.optional = one_in(2) ? rdmaez_qp_rule(type, from, to).optional & (int)any(1 << 21) : 0;
	return rdmaez_qp_attr(type, from, to, &opts, move, NULL) == 0;
}

/* Takes over some fields of another request, and flips bits of the mask now and then. */
static void spoil(struct rdmaez_qp_move *move)
{
	const struct ibv_qp_attr wild = any_attr();

	for (int faults = (int)any(3); faults > 0; faults--)
		switch (any(14)) {
		case 0:
			move->attr.qp_state = wild.qp_state;
			break;
		case 1:
			move->attr.path_mtu = wild.path_mtu;
			break;
		case 2:
			move->attr.ah_attr = wild.ah_attr;
			break;
		case 3:
			move->attr.port_num = wild.port_num;
			break;
		case 4:
			move->attr.timeout = wild.timeout;
			break;
		case 5:
			move->attr.max_rd_atomic = wild.max_rd_atomic;
			break;
		case 6:
			move->attr.qp_access_flags = wild.qp_access_flags;
			break;
		case 7:
			move->attr.pkey_index = wild.pkey_index;
			break;
		case 8:
			move->attr.qkey = wild.qkey;
			break;
		case 9:
			move->attr.cur_qp_state = wild.cur_qp_state;
			break;
		case 10:
			move->attr.rq_psn = wild.rq_psn;
			break;
		case 11:
			move->attr.retry_cnt = wild.retry_cnt;
			break;
		case 12:
			move->attr_mask ^= 1 << any(21);
			break;
		default:
			move->attr_mask ^= (int)(1u << any(32));
			break;
		}
}

struct tally {
	bool own_reasons; /* of the driver; nor does it report a queue pair's state */
	bool keeps_port; /* to itself until INIT: then nobody can tell whether the kernel knows one */
	enum ibv_qp_type type; /* a driver type; 0: what the queue pair says */
	int made, accepted, foreseen, wrong;
	int by_error[200];
};

/* A send queue that was draining when check looked may have drained by now. */
static bool has_drained(const struct rdmaez_diag *diag, int done)
{
	return !done && diag->count == 1 && diag->finding[0].reason == RDMAEZ_WHY_SQ_DRAINING;
}

/* Bits that a vendor's stack may know, of which check says no more than that they may be refused. */
static bool has_unknown_bits(const struct rdmaez_diag *diag)
{
	const struct rdmaez_finding *const unknown =
		rdmaez_diag_find(diag, RDMAEZ_WHY_MASK_UNKNOWN);

	return unknown && unknown->severity == RDMAEZ_DIAG_LIKELY;
}

/* Whether check was wrong: what the kernel takes is never to be called an error. */
static bool was_wrong(const struct tally *tally, const struct rdmaez_qp_move *move,
		      const struct rdmaez_diag *diag, int said, int done)
{
	if (said == done || (done == EOPNOTSUPP && has_unknown_bits(diag)))
		return false;
	if (tally->own_reasons)
		return !done;
	/* Both paths need the port of INIT, and without one the kernel looks no further. */
	return !(tally->keeps_port && done == EINVAL &&
		 ((said && (move->attr_mask & IBV_QP_AV) &&
		   (uint8_t)move->attr.qp_state == IBV_QPS_RTR) ||
		  (move->attr_mask & IBV_QP_ALT_PATH)));
}

static void one_request(struct ibv_qp *qp, struct tally *tally)
{
	const enum ibv_qp_type type = tally->type ? tally->type : qp->qp_type;
	struct rdmaez_qp_move move;
	enum ibv_qp_state from = IBV_QPS_RESET;
	struct rdmaez_diag diag;
	int said, done;

	if (tally->own_reasons)
		from = one_in(4) ? (enum ibv_qp_state)any(7) : qp->state;
	else if (rdmaez_qp_state(qp, &from, NULL))
		tap_bail("ibv_query_qp failed");
	memset(&move, 0, sizeof(move));
	if (one_in(3) || !a_right_one(qp, type, from, &move)) {
		move.attr = any_attr();
		move.attr_mask = (int)any(1 << 21) & (int)any(1 << 21);
		if (one_in(20))
			move.attr_mask |= (int)(1u << any(32));
	} else if (!one_in(3)) {
		spoil(&move);
	}
	said = tally->type ? rdmaez_qp_check_as(qp, type, &move.attr, move.attr_mask, &diag)
			   : rdmaez_qp_check(qp, &move.attr, move.attr_mask, &diag);
	done = rdmaez_impl_error(ibv_modify_qp(qp, &move.attr, move.attr_mask));
	tally->made++;
	tally->accepted += done == 0;
	tally->foreseen += done && said == done;
	tally->by_error[done < 199 ? done : 199]++;
	if (was_wrong(tally, &move, &diag, said, done) && !has_drained(&diag, done) &&
	    tally->wrong++ < 5) {
		char text[4096];

		rdmaez_diag_format(&diag, text, sizeof(text));
		tap_diag("request %d: check says %s, the kernel %s", tally->made,
			 rdmaez_errno_str(said), rdmaez_errno_str(done));
		rdmaez_qp_attr_mask_format(move.attr_mask, text + 2048, 2048);
		tap_diag("mask %s, state %d, cur %d, sgid_index %d", text + 2048,
			 (int)move.attr.qp_state, (int)move.attr.cur_qp_state,
			 move.attr.ah_attr.grh.sgid_index);
		tap_diag("%.1900s", text);
	}
	/* An answer of 0 goes with no error among the findings, any other with one. */
	tally->wrong +=
		(said != 0) != (diag.count && diag.finding[0].severity == RDMAEZ_DIAG_ERROR);
}

/* Judges what a walk of many requests came to. */
static void judge(const struct tally *tally, const char *name)
{
	char refused[256] = "";

	for (int e = 1; e < 200; e++)
		if (tally->by_error[e])
			snprintf(refused + strlen(refused), sizeof(refused) - strlen(refused),
				 ", %d %s", tally->by_error[e], rdmaez_errno_str(e));
	tap_eq_int(tally->wrong, 0, "%s: check %s %d requests", name,
		   tally->own_reasons ? "said nothing false of" : "foresaw the answer to each of",
		   tally->made);
	tap_ok(tally->foreseen > tally->made / 20, "%s: %d refusals were foreseen", name,
	       tally->foreseen);
	tap_ok(tally->accepted > tally->made / 20 && tally->accepted < tally->made,
	       "%s: they were a mixture: %d accepted%s", name, tally->accepted, refused);
}

#endif
