/* SPDX-License-Identifier: MIT */
/* Which queue pairs are two ends of a connection, in what they disagree, and what one process chose by itself. */
#include <arpa/inet.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "compare_job.h"

/* ---- Finding ends by address and number --------------------------------------------------------------- */

/* From a hash to what was added with it; more than a few with one hash are hostile, and left. */
struct map {
	uint32_t *head, *next, *value;
	uint64_t *hash;
	size_t mask, count;
};

enum {
	MOST_SAME = 1024
};

static void map_open(struct map *map, size_t most)
{
	size_t size = 64;

	while (size < most * 2)
		size *= 2;
	map->mask = size - 1;
	map->count = 0;
	map->head = explain_job_realloc(NULL, size * sizeof(*map->head));
	memset(map->head, 0xff, size * sizeof(*map->head));
	map->next = explain_job_realloc(NULL, most * sizeof(*map->next));
	map->value = explain_job_realloc(NULL, most * sizeof(*map->value));
	map->hash = explain_job_realloc(NULL, most * sizeof(*map->hash));
}

static void map_close(struct map *map)
{
	free(map->head);
	free(map->next);
	free(map->value);
	free(map->hash);
}

static void map_add(struct map *map, uint64_t hash, uint32_t value)
{
	const size_t at = hash & map->mask;

	map->hash[map->count] = hash;
	map->value[map->count] = value;
	map->next[map->count] = map->head[at];
	map->head[at] = (uint32_t)map->count++;
}

static uint32_t map_look(const struct map *map, uint64_t hash, uint32_t at)
{
	while (at != EXPLAIN_NONE && map->hash[at] != hash)
		at = map->next[at];
	return at;
}

/* Places of a hash, until EXPLAIN_NONE. */
static uint32_t map_first(const struct map *map, uint64_t hash)
{
	return map_look(map, hash, map->head[hash & map->mask]);
}

static uint32_t map_next(const struct map *map, uint32_t at)
{
	return map_look(map, map->hash[at], map->next[at]);
}

static uint64_t mix(uint64_t hash, uint64_t more)
{
	hash = (hash ^ more) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

static uint64_t hash_gid(const struct explain_gid *gid, uint64_t with)
{
	uint64_t half[2];

	memcpy(half, gid->raw, sizeof(half));
	return mix(mix(mix(1, half[0]), half[1]), with);
}

/* ---- What is known of an end ---------------------------------------------------------------------------- */

#define HAS(end, member) EXPLAIN_STATE_HAS(QP, (end)->qp, member)

static bool same_text(const char *a, const char *b)
{
	return a && b && !strcmp(a, b);
}

static bool same_gid(const struct explain_gid *a, const struct explain_gid *b)
{
	return !memcmp(a, b, sizeof(*a));
}

static bool is_zero(const struct explain_gid *gid)
{
	static const struct explain_gid zero;

	return same_gid(gid, &zero);
}

static bool has_gid(const struct explain_end *end)
{
	return HAS(end, gid) && !is_zero(&end->qp->gid);
}

static bool has_peer_gid(const struct explain_end *end)
{
	return HAS(end, peer_gid) && !is_zero(&end->qp->peer_gid);
}

static enum explain_type type_of(const char *text)
{
	static const char *const names[] = {"RC", "UC", "UD", "XRC_SEND", "XRC_RECV"};

	for (int i = 0; text && i < 5; i++)
		if (!strcmp(text, names[i]))
			return (enum explain_type)(EXPLAIN_RC + i);
	return text ? EXPLAIN_TYPE_OTHER : EXPLAIN_TYPE_UNKNOWN;
}

static enum explain_qp_state state_of(const char *text)
{
	static const char *const names[] = {"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};

	for (int i = 0; text && i < 7; i++)
		if (!strcmp(text, names[i]))
			return (enum explain_qp_state)(EXPLAIN_RESET + i);
	return EXPLAIN_STATE_UNKNOWN;
}

static bool is_connected(const struct explain_end *end)
{
	return end->type == EXPLAIN_RC || end->type == EXPLAIN_UC ||
	       end->type == EXPLAIN_XRC_SEND || end->type == EXPLAIN_XRC_RECV;
}

static bool is_reliable(const struct explain_end *end)
{
	return is_connected(end) && end->type != EXPLAIN_UC;
}

/* Before RTR it has no peer, whatever is there of an earlier one. */
static bool is_before_rtr(const struct explain_end *end)
{
	return end->state == EXPLAIN_RESET || end->state == EXPLAIN_INIT;
}

bool explain_has_ended(const struct explain_state *state)
{
	return same_text(state->reason, "end") && !EXPLAIN_STATE_HAS(PROCESS, state, signal);
}

const char *explain_opcode(const struct explain_state_qp *qp)
{
	if (!qp->oldest_opcode)
		return "";
	return strncmp(qp->oldest_opcode, "IBV_WR_", 7) ? qp->oldest_opcode : qp->oldest_opcode + 7;
}

/* Completions come for signaled requests; one says that all before it are done. */
uint64_t explain_due_sends(const struct explain_end *end)
{
	const struct explain_state_qp *const qp = end->qp;
	uint64_t asked;

	if (HAS(end, sends_signaled))
		asked = qp->sends_signaled;
	else if (HAS(end, sends_posted))
		asked = qp->sends_posted;
	else
		return 0;
	if (qp->gone || end->state == EXPLAIN_ERR || !HAS(end, sends_completed))
		return 0;
	return asked > qp->sends_completed ? asked - qp->sends_completed : 0;
}

/* ---- Pairs ------------------------------------------------------------------------------------------------ */

struct index {
	struct map by_address; /* own GID and number */
	struct map by_lid;
	struct map by_peer;   /* the peer's GID and number */
	struct map by_number; /* process and number */
	struct map by_gid;    /* to processes that have it */
};

static void add_gid(const struct explain_job *job, struct index *index,
		    const struct explain_gid *gid, uint32_t process)
{
	const uint64_t hash = hash_gid(gid, 0);
	const uint32_t last = map_first(&index->by_gid, hash);

	(void)job;
	if (!is_zero(gid) && (last == EXPLAIN_NONE || index->by_gid.value[last] != process))
		map_add(&index->by_gid, hash, process);
}

static void index_open(const struct explain_job *job, struct index *index)
{
	size_t gids = job->ends;

	for (uint32_t i = 0; i < job->processes; i++)
		gids += job->process[i].state->gids_count;
	map_open(&index->by_address, job->ends);
	map_open(&index->by_lid, job->ends);
	map_open(&index->by_peer, job->ends);
	map_open(&index->by_number, job->ends);
	map_open(&index->by_gid, gids);
	for (uint32_t i = 0; i < job->processes; i++) {
		const struct explain_state *const state = job->process[i].state;

		for (size_t n = 0; n < state->gids_count; n++)
			if (EXPLAIN_STATE_HAS(GIDS, &state->gids[n], gid))
				add_gid(job, index, &state->gids[n].gid, i);
	}
	for (uint32_t i = 0; i < job->ends; i++) {
		const struct explain_end *const end = &job->end[i];
		const struct explain_state_qp *const qp = end->qp;

		if (!HAS(end, qp_num))
			continue;
		map_add(&index->by_number, mix(mix(2, end->process), qp->qp_num), i);
		if (has_gid(end)) {
			map_add(&index->by_address, hash_gid(&qp->gid, qp->qp_num), i);
			add_gid(job, index, &qp->gid, end->process);
		} else if (HAS(end, lid) && qp->lid) {
			map_add(&index->by_lid, mix(mix(3, qp->lid), qp->qp_num), i);
		}
		if (has_peer_gid(end) && HAS(end, dest_qp_num) && !is_before_rtr(end) &&
		    is_connected(end))
			map_add(&index->by_peer, hash_gid(&qp->peer_gid, qp->dest_qp_num), i);
	}
}

static void index_close(struct index *index)
{
	map_close(&index->by_address);
	map_close(&index->by_lid);
	map_close(&index->by_peer);
	map_close(&index->by_number);
	map_close(&index->by_gid);
}

/* Whether this takes that for its peer, as far as is known. */
static bool points_at(const struct explain_end *this, const struct explain_end *that)
{
	if (!is_connected(this) || is_before_rtr(this) || !HAS(this, dest_qp_num) ||
	    !HAS(that, qp_num) || this->qp->dest_qp_num != that->qp->qp_num)
		return false;
	if (has_peer_gid(this) && has_gid(that))
		return same_gid(&this->qp->peer_gid, &that->qp->gid);
	return !HAS(this, peer_lid) || !HAS(that, lid) || this->qp->peer_lid == that->qp->lid;
}

/* The better of two: one that takes this for its peer, one that is there, the newer. */
static bool is_better(const struct explain_job *job, const struct explain_end *end,
		      const struct explain_end *than, const struct explain_end *end_of)
{
	const bool mutual = points_at(end, end_of), other = points_at(than, end_of);

	if (mutual != other)
		return mutual;
	if (end->qp->gone != than->qp->gone)
		return !end->qp->gone;
	return job->process[end->process].state->time_ms >
	       job->process[than->process].state->time_ms;
}

struct search {
	const struct explain_job *job;
	const struct explain_end *end;
	uint32_t best, hosts;
};

static void consider(struct search *search, uint32_t candidate)
{
	const struct explain_end *const end = &search->job->end[candidate];

	if (end == search->end || end->stale)
		return;
	if (search->best == EXPLAIN_NONE ||
	    is_better(search->job, end, &search->job->end[search->best], search->end))
		search->best = candidate;
}

/* Exactly as it says: by the GID of its peer, or by the LID where there is no GID. */
static uint32_t by_its_word(const struct index *index, struct search *search)
{
	const struct explain_end *const end = search->end;
	const struct explain_state_qp *const qp = end->qp;
	const struct map *map = &index->by_address;
	unsigned int looked = 0;
	uint64_t hash;

	if (has_peer_gid(end)) {
		hash = hash_gid(&qp->peer_gid, qp->dest_qp_num);
	} else if (HAS(end, peer_lid) && qp->peer_lid) {
		map = &index->by_lid;
		hash = mix(mix(3, qp->peer_lid), qp->dest_qp_num);
	} else {
		return EXPLAIN_NONE;
	}
	for (uint32_t at = map_first(map, hash); at != EXPLAIN_NONE && looked++ < MOST_SAME;
	     at = map_next(map, at)) {
		const struct explain_end *const other = &search->job->end[map->value[at]];

		if (other->qp->qp_num == qp->dest_qp_num &&
		    (map == &index->by_lid ? other->qp->lid == qp->peer_lid
					   : same_gid(&other->qp->gid, &qp->peer_gid)))
			consider(search, map->value[at]);
	}
	return search->best;
}

/* Before RTR a queue pair has no GID, and an interface may have several: by the processes that have this GID. */
static uint32_t by_its_host(const struct index *index, struct search *search, uint32_t *hosts)
{
	const struct explain_state_qp *const qp = search->end->qp;
	unsigned int looked = 0;

	*hosts = 0;
	if (!has_peer_gid(search->end))
		return EXPLAIN_NONE;
	for (uint32_t at = map_first(&index->by_gid, hash_gid(&qp->peer_gid, 0));
	     at != EXPLAIN_NONE && looked++ < MOST_SAME; at = map_next(&index->by_gid, at)) {
		const uint64_t hash = mix(mix(2, index->by_gid.value[at]), qp->dest_qp_num);

		++*hosts;
		for (uint32_t i = map_first(&index->by_number, hash);
		     i != EXPLAIN_NONE && looked++ < MOST_SAME;
		     i = map_next(&index->by_number, i)) {
			const struct explain_end *const other =
				&search->job->end[index->by_number.value[i]];

			if (other->process == index->by_gid.value[at] &&
			    other->qp->qp_num == qp->dest_qp_num)
				consider(search, index->by_number.value[i]);
		}
	}
	return search->best;
}

/* One that takes this for its peer, although this does not. */
static uint32_t by_its_peer(const struct index *index, struct search *search)
{
	const struct explain_end *const end = search->end;
	unsigned int looked = 0;

	if (!has_gid(end) || !HAS(end, qp_num))
		return EXPLAIN_NONE;
	for (uint32_t at = map_first(&index->by_peer, hash_gid(&end->qp->gid, end->qp->qp_num));
	     at != EXPLAIN_NONE && looked++ < MOST_SAME; at = map_next(&index->by_peer, at)) {
		const uint32_t candidate = index->by_peer.value[at];

		const uint32_t its = search->job->end[candidate].peer;

		if (points_at(&search->job->end[candidate], end) &&
		    (its == EXPLAIN_NONE || &search->job->end[its] == end))
			consider(search, candidate);
	}
	return search->best;
}

/* ---- What disagrees ----------------------------------------------------------------------------------------- */

enum value {
	DECIMAL,
	HEX,
	TEXT,
	GID
};

struct rule {
	enum explain_level level;
	enum value value;
	const char *left, *right; /* what the first end has, and the second */
	const char *what, *next;
};

#define WRONG(value, left, right, what, next)   {EXPLAIN_WRONG, value, left, right, what, next}
#define LIKELY(value, left, right, what, next)  {EXPLAIN_LIKELY, value, left, right, what, next}
#define DIFFERS(value, left, right, what, next) {EXPLAIN_DIFFERS, value, left, right, what, next}
#define GIVE_UP                                 "Give both ends the same value, unless you mean the difference"

#define RULES(X)                                                                                   \
	X(PORT, WRONG(TEXT, "port state", "", "A request waits, and this port is not active",      \
		      "Bring the link up: see the interface, the cable and the switch; on "        \
		      "InfiniBand also the subnet manager"))                                       \
	X(TYPE, WRONG(TEXT, "type", "type",                                                        \
		      "Packets of another transport are dropped, and nobody gets an error",        \
		      "Create both queue pairs with the same type, or XRC_SEND with XRC_RECV"))    \
	X(DEST,                                                                                    \
	  WRONG(DECIMAL, "qp_num", "dest_qp_num",                                                  \
		"One end sends to a queue pair that answers another",                              \
		"Exchange the numbers again: dest_qp_num of each end is the other's qp_num"))      \
	X(MISSING, LIKELY(DECIMAL, "dest_qp_num", "",                                              \
			  "No process with a file here has this queue pair at the peer's GID, so " \
			  "what is sent there is dropped",                                         \
			  "Exchange the numbers again; if a process without a file has this "      \
			  "queue pair, start that process with rdmaez-explain as well"))           \
	X(NOT_RTR,                                                                                 \
	  WRONG(TEXT, "state", "state", "A queue pair drops what arrives before it is in RTR",     \
		"Move it to RTR before the peer sends, and tell the peer when it is there"))       \
	X(OTHER_GID,                                                                               \
	  WRONG(GID, "dgid", "GID",                                                                \
		"One end sends to a GID that the other's port does not have, so the packets go "   \
		"elsewhere",                                                                       \
		"Send the peer the GID at the index that its own ah_attr.grh.sgid_index names"))   \
	X(FORM,                                                                                    \
	  LIKELY(GID, "dgid", "GID",                                                               \
		 "One end sends to a GID of the peer's port that is not its queue pair's, and "    \
		 "some devices drop that",                                                         \
		 "Send the peer the GID at the index that its own ah_attr.grh.sgid_index names"))  \
	X(GID_TYPE,                                                                                \
	  WRONG(TEXT, "GID type", "GID type",                                                      \
		"A queue pair receives no packets of the other RoCE version",                      \
		"Choose GID indices of one type at both ends, RoCE v2 unless you need the other")) \
	X(VLAN, LIKELY(DECIMAL, "VLAN", "VLAN",                                                    \
		       "The ends of one subnet are in different VLANs (0: frames without a tag), " \
		       "which only a switch can join, and nothing has come over",                  \
		       "Choose at each end the GID of an interface in the same VLAN, or have the " \
		       "switch put the frames without a tag into it"))                             \
	X(PSN, WRONG(DECIMAL, "sq_psn", "rq_psn",                                                  \
		     "The receiver drops what does not begin with the PSN that it expects, or "    \
		     "takes it for a repetition",                                                  \
		     "Set rq_psn of each end to the other's sq_psn"))                              \
	X(PATH_MTU, WRONG(DECIMAL, "path_mtu", "path_mtu",                                         \
			  "A packet longer than the receiver's path MTU is dropped or fails at "   \
			  "one end, depending on the device",                                      \
			  "Give both ends the same path_mtu, at most the smaller active MTU of "   \
			  "their ports"))                                                          \
	X(PORT_MTU, WRONG(DECIMAL, "path_mtu", "active MTU",                                       \
			  "A packet longer than the receiver's port can take is dropped",          \
			  "Lower path_mtu at both ends, or raise the MTU of the interface"))       \
	X(QKEY, WRONG(HEX, "sends Q_Key", "Q_Key",                                                 \
		      "A datagram with another Q_Key is dropped, and neither end gets an error",   \
		      "Send with the receiver's Q_Key, in wr.ud.remote_qkey"))                     \
	X(PKEY, WRONG(HEX, "P_Key", "P_Key", "Packets of another partition are dropped",           \
		      "Choose the P_Key index at each end by the P_Key's value, not by the "       \
		      "number of the index"))                                                      \
	X(LIMITED, WRONG(HEX, "P_Key", "P_Key",                                                    \
			 "Two limited members of a partition do not reach each other",             \
			 "Make one of them a full member, in the subnet manager's configuration")) \
	X(ACCESS, LIKELY(TEXT, "", "qp_access_flags",                                              \
			 "The receiver's queue pair does not allow the request that waits",        \
			 "Have the receiver set the right in qp_access_flags"))                    \
	X(REGION_GONE,                                                                             \
	  WRONG(HEX, "rkey", "",                                                                   \
		"The request that waits names a region that its owner has deregistered",           \
		"Keep the region until the peer is done with it"))                                 \
	X(REGION_BOUNDS,                                                                           \
	  WRONG(HEX, "rkey", "",                                                                   \
		"The request that waits reaches beyond the region that its rkey names",            \
		"Compare its address and length with those of the region"))                        \
	X(REGION_ACCESS,                                                                           \
	  WRONG(HEX, "rkey", "", "The region does not allow the request that waits",               \
		"Register the region with the remote access right that it needs"))                 \
	X(GONE, WRONG(TEXT, "state", "state",                                                      \
		      "One end waits for the other, which has destroyed its queue pair: nobody "   \
		      "will answer",                                                               \
		      "Have both ends agree to finish before either destroys its queue pair"))     \
	X(RD_ATOMIC,                                                                               \
	  LIKELY(DECIMAL, "max_rd_atomic", "max_dest_rd_atomic",                                   \
		 "One end may have more READs and atomics under way than the other answers, and "  \
		 "one too many fails",                                                             \
		 "Set max_rd_atomic of each end to at most the other's max_dest_rd_atomic"))       \
	X(TIMEOUT, DIFFERS(DECIMAL, "timeout", "timeout",                                          \
			   "The ends wait for different times before they send again", GIVE_UP))   \
	X(RETRY, DIFFERS(DECIMAL, "retry_cnt", "retry_cnt",                                        \
			 "The ends give up after different numbers of retries", GIVE_UP))          \
	X(RNR_RETRY,                                                                               \
	  DIFFERS(DECIMAL, "rnr_retry", "rnr_retry",                                               \
		  "The ends retry a different number of times if the other has no receive",        \
		  GIVE_UP))                                                                        \
	X(RNR_TIMER,                                                                               \
	  DIFFERS(DECIMAL, "min_rnr_timer", "min_rnr_timer",                                       \
		  "If a receive is missing, the ends make each other wait for different times",    \
		  GIVE_UP))                                                                        \
	X(TRAFFIC_CLASS,                                                                           \
	  DIFFERS(DECIMAL, "traffic_class", "traffic_class",                                       \
		  "The two directions have different priorities; one may be in a lossy queue",     \
		  "Give both ends the traffic class that the network has a lossless queue for"))   \
	X(LOSSY,                                                                                   \
	  DIFFERS(DECIMAL, "traffic_class", "",                                                    \
		  "That end's port protects other priorities from loss (PFC) than that of this "   \
		  "traffic class",                                                                 \
		  "Set traffic_class to one of a protected priority: `rdmaez-doctor --only "       \
		  "quality` shows them"))                                                          \
	X(SL,                                                                                      \
	  DIFFERS(DECIMAL, "sl", "sl", "The two directions have different service levels",         \
		  "Give both ends the same, unless the subnet manager gave it in a path record"))  \
	X(RAIL, DIFFERS(TEXT, "device", "device",                                                  \
			"Most connections join devices of one name; these cross over, which "      \
			"may cost a hop",                                                          \
			"Connect each device to the peer's device on the same rail"))

enum code {
#define CODE(upper, rule) upper,
	RULES(CODE)
#undef CODE
	CODES
};

static const struct rule rules[] = {
#define RULE(upper, rule) rule,
	RULES(RULE)
#undef RULE
};

struct evidence {
	enum code code;
	uint32_t a, b;
	uint64_t left, right; /* numbers, or addresses of texts and GIDs */
};

struct found {
	struct evidence *evidence;
	size_t count, room;
};

enum {
	MOST_EVIDENCE = 1 << 21
};

static void found(struct found *all, enum code code, uint32_t a, uint32_t b, uint64_t left,
		  uint64_t right)
{
	if (all->count == MOST_EVIDENCE)
		return;
	if (all->count == all->room) {
		all->room = all->room ? all->room * 2 : 256;
		all->evidence =
			explain_job_realloc(all->evidence, all->room * sizeof(*all->evidence));
	}
	all->evidence[all->count++] = (struct evidence){code, a, b, left, right};
}

static uint64_t address(const void *of)
{
	return (uintptr_t)of;
}

/* Whether the port of this end has this GID; what is known of ports is all of them, or nothing. */
static bool lacks_gid(const struct explain_job *job, const struct explain_end *end,
		      const struct explain_gid *gid)
{
	const struct explain_state *const state = job->process[end->process].state;
	bool is_known = false;

	for (size_t i = 0; i < state->gids_count; i++) {
		const struct explain_state_gids *const row = &state->gids[i];

		if (!same_text(row->device, end->qp->device) ||
		    !EXPLAIN_STATE_HAS(GIDS, row, gid) || !EXPLAIN_STATE_HAS(GIDS, row, port) ||
		    !HAS(end, port) || row->port != end->qp->port)
			continue;
		is_known = true;
		if (same_gid(&row->gid, gid))
			return false;
	}
	return is_known;
}

/* The region that the peer had by this key when a request failed; as far as is known, and the hosts' clocks agree. */
static const struct explain_state_mr *region_of(const struct explain_job *job,
						const struct explain_end *end,
						const struct explain_end *peer)
{
	const struct explain_state *const state = job->process[peer->process].state;
	const uint64_t failed_ms = HAS(end, failed_ms) ? state->time_ms + end->qp->failed_ms : 0;
	const uint64_t time_ms = job->process[end->process].state->time_ms;
	const char *const device = peer->qp->device;
	const uint32_t rkey = end->qp->oldest_rkey;
	const struct explain_state_mr *best = NULL;

	for (size_t i = 0; i < state->mrs_count; i++) {
		const struct explain_state_mr *const mr = &state->mrs[i];

		/* It came later; to the millisecond, both may be. */
		if (failed_ms && EXPLAIN_STATE_HAS(MR, mr, since_ms) &&
		    failed_ms > time_ms + mr->since_ms)
			continue;
		if (EXPLAIN_STATE_HAS(MR, mr, rkey) && mr->rkey == rkey &&
		    same_text(mr->device, device) && (!best || best->gone))
			best = mr;
	}
	return best;
}

/* The right that a request needs at the receiver: IBV_ACCESS_REMOTE_WRITE, _READ, _ATOMIC. */
static uint32_t right_of(const char *opcode)
{
	if (!strncmp(opcode, "RDMA_WRITE", 10))
		return 2;
	if (!strcmp(opcode, "RDMA_READ"))
		return 4;
	return strncmp(opcode, "ATOMIC", 6) ? 0 : 8;
}

/* Whether it was deregistered before the request failed; as far as is known, and the hosts' clocks agree. */
static bool is_gone(const struct explain_job *job, const struct explain_end *end,
		    const struct explain_end *peer, const struct explain_state_mr *mr)
{
	const struct explain_state *const state = job->process[end->process].state;
	const struct explain_state *const its = job->process[peer->process].state;

	if (!mr->gone || !HAS(end, failed_ms) || !EXPLAIN_STATE_HAS(MR, mr, gone_ms))
		return mr->gone;
	return its->time_ms + end->qp->failed_ms <= state->time_ms + mr->gone_ms;
}

/* What the oldest request under way, or the one that failed, needs at the other end. */
static void check_request(const struct explain_job *job, struct found *all, uint32_t a, uint32_t b)
{
	const struct explain_end *const end = &job->end[a], *const peer = &job->end[b];
	const struct explain_state_qp *const qp = end->qp;
	const uint32_t right = right_of(explain_opcode(qp));
	const char *const status = qp->failed_status;
	const bool has_failed = HAS(end, failed_ms);
	const struct explain_state_mr *mr;

	if (!(explain_due_sends(end) || has_failed) || !right)
		return;
	if (has_failed ? !same_text(status, "IBV_WC_REM_ACCESS_ERR") &&
				 !same_text(status, "IBV_WC_REM_INV_REQ_ERR")
		       : explain_has_ended(job->process[end->process].state))
		return;
	if (HAS(peer, access) && !(peer->qp->access & right))
		found(all, ACCESS, a, b, address(explain_opcode(qp)), peer->qp->access);
	if (!HAS(end, oldest_rkey) || (has_failed && !same_text(status, "IBV_WC_REM_ACCESS_ERR")))
		return;
	mr = region_of(job, end, peer);
	if (!mr)
		return;
	if (is_gone(job, end, peer, mr))
		found(all, REGION_GONE, a, b, qp->oldest_rkey, 0);
	else if (HAS(end, oldest_addr) && HAS(end, oldest_length) &&
		 EXPLAIN_STATE_HAS(MR, mr, addr) && EXPLAIN_STATE_HAS(MR, mr, length) &&
		 (qp->oldest_addr < mr->addr || qp->oldest_length > mr->length ||
		  qp->oldest_addr - mr->addr > mr->length - qp->oldest_length))
		found(all, REGION_BOUNDS, a, b, qp->oldest_rkey, 0);
	else if (EXPLAIN_STATE_HAS(MR, mr, access) && !(mr->access & right))
		found(all, REGION_ACCESS, a, b, qp->oldest_rkey, 0);
}

bool explain_is_later(const struct explain_job *job, const struct explain_end *end)
{
	const struct explain_state *const state = job->process[end->process].state;
	const uint64_t age = HAS(end, oldest_ms) ? end->qp->oldest_ms : 1000;

	return job->process[job->end[end->peer].process].state->time_ms + age >= state->time_ms;
}

/* From a to b alone. */
static void check_one_way(const struct explain_job *job, struct found *all, uint32_t a, uint32_t b)
{
	const struct explain_end *const end = &job->end[a], *const peer = &job->end[b];
	const struct explain_state_qp *const qp = end->qp, *const other = peer->qp;

	const bool waits = explain_due_sends(end) &&
			   !explain_has_ended(job->process[end->process].state) &&
			   (end->peer != b || explain_is_later(job, end));

	if (waits && other->gone)
		found(all, GONE, a, b, address(qp->state ? qp->state : "?"), address("destroyed"));
	else if (waits && is_before_rtr(peer))
		found(all, NOT_RTR, a, b, address(qp->state ? qp->state : "?"),
		      address(other->state));
	if (is_connected(end) && HAS(end, sq_psn) && HAS(peer, rq_psn) && !is_before_rtr(peer) &&
	    (qp->sq_psn ^ other->rq_psn) & 0xffffff)
		found(all, PSN, a, b, qp->sq_psn & 0xffffff, other->rq_psn & 0xffffff);
	if (has_peer_gid(end) && has_gid(peer) && !same_gid(&qp->peer_gid, &other->gid))
		found(all, lacks_gid(job, peer, &qp->peer_gid) ? OTHER_GID : FORM, a, b,
		      address(&qp->peer_gid), address(&other->gid));
	if (is_connected(end) && HAS(end, path_mtu) && HAS(peer, active_mtu) && other->active_mtu &&
	    qp->path_mtu > other->active_mtu)
		found(all, PORT_MTU, a, b, qp->path_mtu, other->active_mtu);
	if (end->type == EXPLAIN_UD && HAS(end, sent_qkey) && HAS(peer, qkey)) {
		/* With the highest bit, the sender's own is sent. */
		const bool own = qp->sent_qkey >> 31;

		if ((!own || HAS(end, qkey)) && (own ? qp->qkey : qp->sent_qkey) != other->qkey)
			found(all, QKEY, a, b, own ? qp->qkey : qp->sent_qkey, other->qkey);
	}
	if (is_reliable(end)) {
		check_request(job, all, a, b);
		if (HAS(end, max_rd_atomic) && HAS(peer, max_dest_rd_atomic) &&
		    qp->max_rd_atomic > other->max_dest_rd_atomic)
			found(all, RD_ATOMIC, a, b, qp->max_rd_atomic, other->max_dest_rd_atomic);
	}
}

static bool types_fit(const struct explain_end *a, const struct explain_end *b)
{
	if (a->type == EXPLAIN_TYPE_UNKNOWN || b->type == EXPLAIN_TYPE_UNKNOWN ||
	    a->type == EXPLAIN_TYPE_OTHER || b->type == EXPLAIN_TYPE_OTHER)
		return true;
	if (a->type == EXPLAIN_XRC_SEND || b->type == EXPLAIN_XRC_SEND)
		return a->type == EXPLAIN_XRC_RECV || b->type == EXPLAIN_XRC_RECV;
	return a->type == b->type;
}

/* As far as it is known without the length of the prefix: link-local, 24 bits of IPv4, or 64 bits of IPv6. */
static bool in_one_subnet(const struct explain_gid *a, const struct explain_gid *b)
{
	static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};
	const size_t prefix = memcmp(a->raw, mapped, sizeof(mapped)) ? 8 : 15;

	return !memcmp(a->raw, b->raw, prefix);
}

static bool has_worked(const struct explain_end *end)
{
	const struct explain_state_qp *const qp = end->qp;
	const uint64_t failed = HAS(end, failed) ? qp->failed : 0;

	return (is_reliable(end) && HAS(end, sends_completed) && qp->sends_completed > failed) ||
	       (HAS(end, recvs_completed) && qp->recvs_completed > failed);
}

/* Where something waits or was given up. */
static void check_vlans(const struct explain_job *job, struct found *all, uint32_t a, uint32_t b)
{
	const struct explain_end *const end = &job->end[a], *const peer = &job->end[b];

	if (!HAS(end, vlan) || !HAS(peer, vlan) || end->qp->vlan == peer->qp->vlan ||
	    !has_gid(end) || !has_gid(peer) || has_worked(end) || has_worked(peer) ||
	    !in_one_subnet(&end->qp->gid, &peer->qp->gid))
		return;
	if (explain_due_sends(end) || explain_due_sends(peer) ||
	    same_text(end->qp->failed_status, "IBV_WC_RETRY_EXC_ERR") ||
	    same_text(peer->qp->failed_status, "IBV_WC_RETRY_EXC_ERR"))
		found(all, VLAN, a, b, end->qp->vlan, peer->qp->vlan);
}

#define DIFFER(code, member)                                                              \
	do {                                                                              \
		if (HAS(end, member) && HAS(peer, member) && qp->member != other->member) \
			found(all, code, a, b, qp->member, other->member);                \
	} while (0)

/* What both ends should have alike. */
static void check_alike(const struct explain_job *job, struct found *all, uint32_t a, uint32_t b)
{
	const struct explain_end *const end = &job->end[a], *const peer = &job->end[b];
	const struct explain_state_qp *const qp = end->qp, *const other = peer->qp;

	if (qp->gid_type && other->gid_type && strcmp(qp->gid_type, other->gid_type))
		found(all, GID_TYPE, a, b, address(qp->gid_type), address(other->gid_type));
	check_vlans(job, all, a, b);
	if (HAS(end, pkey) && HAS(peer, pkey) && qp->pkey && other->pkey) {
		if ((qp->pkey ^ other->pkey) & 0x7fff)
			found(all, PKEY, a, b, qp->pkey, other->pkey);
		else if (!((qp->pkey | other->pkey) & 0x8000))
			found(all, LIMITED, a, b, qp->pkey, other->pkey);
	}
	if (is_connected(end)) {
		DIFFER(PATH_MTU, path_mtu);
		DIFFER(TRAFFIC_CLASS, traffic_class);
		DIFFER(SL, sl);
	}
	if (end->type == EXPLAIN_RC && peer->type == EXPLAIN_RC) {
		DIFFER(TIMEOUT, timeout);
		DIFFER(RETRY, retry_cnt);
		DIFFER(RNR_RETRY, rnr_retry);
		DIFFER(RNR_TIMER, min_rnr_timer);
	}
}

static void check_pair(struct explain_job *job, struct found *all, uint32_t a, uint32_t b)
{
	struct explain_end *const end = &job->end[a], *const peer = &job->end[b];
	const size_t before = all->count;

	if (!types_fit(end, peer)) {
		found(all, TYPE, a, b, address(end->qp->type), address(peer->qp->type));
	} else if (is_connected(end) && !points_at(end, peer) && HAS(end, dest_qp_num) &&
		   !is_before_rtr(end) && end->qp->dest_qp_num != peer->qp->qp_num) {
		found(all, DEST, b, a, peer->qp->qp_num, end->qp->dest_qp_num);
	} else if (is_connected(end) && !points_at(peer, end) && HAS(peer, dest_qp_num) &&
		   HAS(end, qp_num) && !is_before_rtr(peer) &&
		   peer->qp->dest_qp_num != end->qp->qp_num) {
		found(all, DEST, a, b, end->qp->qp_num, peer->qp->dest_qp_num);
	} else {
		check_one_way(job, all, a, b);
		if (is_connected(end)) /* a datagram's way back is the other's own */
			check_one_way(job, all, b, a);
		check_alike(job, all, a, b);
	}
	for (size_t i = before; i < all->count; i++)
		if (rules[all->evidence[i].code].level == EXPLAIN_WRONG)
			end->disagrees = peer->disagrees = true;
}

/* The kernel's boot, or else the host's name, tells machines apart. */
static bool other_machine(const struct explain_state *a, const struct explain_state *b)
{
	if (a->boot_id && b->boot_id)
		return strcmp(a->boot_id, b->boot_id) != 0;
	return !same_text(a->host, b->host);
}

/* A device has a number once: of two processes of one machine with the same, the older one is of an earlier run. */
static void find_stale(struct explain_job *job, const struct index *index)
{
	for (uint32_t i = 0; i < job->ends; i++) {
		struct explain_end *const end = &job->end[i];
		const struct explain_state *const state = job->process[end->process].state;
		unsigned int looked = 0;
		uint32_t at;

		if (!has_gid(end) || !HAS(end, qp_num))
			continue;
		at = map_first(&index->by_address, hash_gid(&end->qp->gid, end->qp->qp_num));
		for (; at != EXPLAIN_NONE && looked++ < MOST_SAME;
		     at = map_next(&index->by_address, at)) {
			const struct explain_end *const other =
				&job->end[index->by_address.value[at]];
			const struct explain_state *const its = job->process[other->process].state;

			if (other->qp->qp_num == end->qp->qp_num &&
			    same_gid(&other->qp->gid, &end->qp->gid) &&
			    its->time_ms > state->time_ms && !other_machine(its, state))
				end->stale = true;
		}
	}
}

/* ---- Pairing ------------------------------------------------------------------------------------------------ */

static void pair_up(struct explain_job *job, const struct index *index, struct found *all)
{
	for (uint32_t i = 0; i < job->ends; i++) {
		struct explain_end *const end = &job->end[i];
		struct search search = {job, end, EXPLAIN_NONE, 0};

		if (end->stale || !HAS(end, dest_qp_num) || is_before_rtr(end) ||
		    !(is_connected(end) || end->type == EXPLAIN_UD))
			continue;
		if (by_its_word(index, &search) == EXPLAIN_NONE)
			by_its_host(index, &search, &search.hosts);
		end->peer = search.best;
		end->no_such_file =
			search.best == EXPLAIN_NONE && !search.hosts &&
			(has_peer_gid(end) || (HAS(end, peer_lid) && end->qp->peer_lid));
	}
	/* Last, so that who is somebody's peer already is not taken for another's. */
	for (uint32_t i = 0; i < job->ends; i++) {
		struct explain_end *const end = &job->end[i];
		struct search search = {job, end, EXPLAIN_NONE, 0};

		if (end->stale || end->peer != EXPLAIN_NONE || !HAS(end, dest_qp_num) ||
		    is_before_rtr(end) || !(is_connected(end) || end->type == EXPLAIN_UD))
			continue;
		if (is_connected(end))
			end->peer = by_its_peer(index, &search);
		if (end->peer == EXPLAIN_NONE && !end->no_such_file && has_peer_gid(end) &&
		    !end->qp->gone && !explain_has_ended(job->process[end->process].state))
			found(all, MISSING, i, EXPLAIN_NONE, end->qp->dest_qp_num, 0);
	}
	for (uint32_t i = 0; i < job->ends; i++) {
		struct explain_end *const end = &job->end[i];

		if (end->peer != EXPLAIN_NONE)
			end->mutual = job->end[end->peer].peer == i;
		end->no_such_file = end->no_such_file && end->peer == EXPLAIN_NONE;
		job->strangers += end->no_such_file && !end->qp->gone;
	}
}

static bool is_waiting(const struct explain_job *job, uint32_t i)
{
	return i != EXPLAIN_NONE && explain_due_sends(&job->end[i]) &&
	       !explain_has_ended(job->process[job->end[i].process].state);
}

/* Ports that are not active, by which a request or its answer would go. */
static void check_ports(const struct explain_job *job, struct found *all)
{
	for (uint32_t i = 0; i < job->ends; i++) {
		const struct explain_end *const end = &job->end[i];
		const struct explain_state *const state = job->process[end->process].state;

		if (end->stale || end->qp->gone || !HAS(end, port) ||
		    !(is_waiting(job, i) || is_waiting(job, end->peer)))
			continue;
		for (size_t row = 0; row < state->ports_count; row++) {
			const struct explain_state_port *const port = &state->ports[row];

			if (same_text(port->device, end->qp->device) && port->state &&
			    EXPLAIN_STATE_HAS(PORT, port, port) && port->port == end->qp->port &&
			    (same_text(port->state, "DOWN") || same_text(port->state, "INIT") ||
			     same_text(port->state, "ARMED")))
				found(all, PORT, i, EXPLAIN_NONE, address(port->state), 0);
		}
	}
}

/* By the firmware's default map a DSCP's priority is its upper three bits, which are the traffic class's. */
static void check_classes(const struct explain_job *job, struct found *all)
{
	for (uint32_t i = 0; i < job->ends; i++) {
		const struct explain_end *const end = &job->end[i];

		if (!end->stale && !end->qp->gone && HAS(end, traffic_class) &&
		    HAS(end, lossless) && end->qp->lossless && end->qp->traffic_class < 256 &&
		    !(end->qp->lossless >> (end->qp->traffic_class >> 5) & 1))
			found(all, LOSSY, i, EXPLAIN_NONE, end->qp->traffic_class, 0);
	}
}

static void check_pairs(struct explain_job *job, struct found *all)
{
	for (uint32_t i = 0; i < job->ends; i++) {
		const struct explain_end *const end = &job->end[i];

		if (end->peer == EXPLAIN_NONE || (end->mutual && end->peer < i))
			continue;
		job->pairs++;
		check_pair(job, all, i, end->peer);
	}
}

/* Connections between devices of different names, where nearly all are between devices of one. */
static void check_rails(const struct explain_job *job, struct found *all)
{
	size_t straight = 0, crossed = 0;

	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < job->ends; i++) {
			const struct explain_end *const end = &job->end[i];
			const char *const device = end->qp->device;
			const char *peer;

			if (!end->mutual || end->peer < i || !is_connected(end))
				continue;
			peer = job->end[end->peer].qp->device;
			if (!device || !peer)
				continue;
			if (round && strcmp(device, peer))
				found(all, RAIL, i, end->peer, address(device), address(peer));
			straight += !round && !strcmp(device, peer);
			crossed += !round && strcmp(device, peer);
		}
		if (!crossed || straight < 4 * crossed)
			return;
	}
}

/* ---- Telling what disagrees ----------------------------------------------------------------------------------- */

enum {
	VALUE = 128,
	MOST_HUBS = 32,
	SHOWN = 3
};

static const char *put_value(char to[VALUE], const char *what, enum value kind, uint64_t is)
{
	const char *const space = what[0] ? " " : "";
	char gid[INET6_ADDRSTRLEN] = "?";

	switch (kind) {
	case DECIMAL:
		snprintf(to, VALUE, "%s%s%llu", what, space, (unsigned long long)is);
		break;
	case HEX:
		snprintf(to, VALUE, "%s%s0x%llx", what, space, (unsigned long long)is);
		break;
	case TEXT:
		snprintf(to, VALUE, "%s%s%.64s", what, space, (const char *)(uintptr_t)is);
		break;
	case GID:
		inet_ntop(AF_INET6, (const void *)(uintptr_t)is, gid, sizeof(gid));
		snprintf(to, VALUE, "%s%s%s", what, space, gid);
		break;
	}
	return to;
}

static const char *left_of(const struct evidence *evidence, char to[VALUE])
{
	const struct rule *const rule = &rules[evidence->code];

	return put_value(to, rule->left, rule->value, evidence->left);
}

static const char *right_text(const struct evidence *evidence, char to[VALUE])
{
	const struct rule *const rule = &rules[evidence->code];

	switch (evidence->code) {
	case ACCESS:
		return put_value(to, rule->right, HEX, evidence->right);
	case REGION_GONE:
		return strcpy(to, "region deregistered");
	case REGION_BOUNDS:
		return strcpy(to, "region too short");
	case REGION_ACCESS:
		return strcpy(to, "region without the right");
	case MISSING:
		return strcpy(to, "no such queue pair");
	case PORT:
		return strcpy(to, "nothing passes it");
	case LOSSY:
		return strcpy(to, "which may be lost");
	default:
		return put_value(to, rule->right, rule->value, evidence->right);
	}
}

static uint32_t process_of(const struct explain_job *job, uint32_t end)
{
	return end == EXPLAIN_NONE ? EXPLAIN_NONE : job->end[end].process;
}

/* The evidence of one code that is to be told at once. */
struct group {
	const struct evidence **of;
	size_t count;
	uint32_t hub; /* the process that is in all of it, or EXPLAIN_NONE */
	bool alike;   /* the hub's values are all the same, and the others' as well */
	char left[VALUE], right[VALUE]; /* then these; left is the hub's */
};

static bool is_left(const struct explain_job *job, const struct evidence *evidence, uint32_t hub)
{
	return hub == EXPLAIN_NONE || process_of(job, evidence->a) == hub;
}

static void look_at_values(const struct explain_job *job, struct group *group)
{
	char left[VALUE], right[VALUE];

	group->alike = true;
	for (size_t i = 0; i < group->count && group->alike; i++) {
		const struct evidence *const evidence = group->of[i];

		if (is_left(job, evidence, group->hub)) {
			left_of(evidence, i ? left : group->left);
			right_text(evidence, i ? right : group->right);
		} else {
			right_text(evidence, i ? left : group->left);
			left_of(evidence, i ? right : group->right);
		}
		group->alike = !i || (!strcmp(left, group->left) && !strcmp(right, group->right));
	}
}

static void tell_rows(struct explain_job *job, const struct group *group)
{
	const size_t most = group->alike ? 1 : SHOWN;
	char value[VALUE];

	for (size_t i = 0; i < group->count && i < most; i++) {
		const struct evidence *const evidence = group->of[i];
		const bool swap = !is_left(job, evidence, group->hub);

		if (swap)
			explain_row(job, evidence->b, "%s", right_text(evidence, value));
		explain_row(job, evidence->a, "%s", left_of(evidence, value));
		if (!swap && evidence->b != EXPLAIN_NONE)
			explain_row(job, evidence->b, "%s", right_text(evidence, value));
	}
	if (group->count > most)
		explain_say(job, 4, "and %zu more", group->count - most);
}

static const char *const sure[] = {"", "", "Likely: ", "Advice: "};

static int by_number(const void *left, const void *right)
{
	const uint64_t *const a = left, *const b = right;

	return *a < *b ? -1 : *a > *b;
}

/* Both directions of a connection are one. */
static size_t pairs_of(const struct group *group)
{
	uint64_t *const pair = explain_job_zeros(group->count, sizeof(*pair));
	size_t pairs = 1;

	for (size_t i = 0; i < group->count; i++) {
		const uint32_t a = group->of[i]->a, b = group->of[i]->b;

		pair[i] = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
	}
	qsort(pair, group->count, sizeof(*pair), by_number);
	for (size_t i = 1; i < group->count; i++)
		pairs += pair[i] != pair[i - 1];
	free(pair);
	return pairs;
}

static void tell_group(struct explain_job *job, struct group *group)
{
	const struct evidence *const first = group->of[0];
	const struct rule *const rule = &rules[first->code];
	bool *const in = explain_job_zeros(job->processes, sizeof(*in));
	char name[EXPLAIN_NAME], other[EXPLAIN_NAME], number[32], value[2 * VALUE + 16];
	const size_t pairs = pairs_of(group);
	size_t processes = 0;

	look_at_values(job, group);
	for (size_t i = 0; i < group->count; i++) {
		in[process_of(job, group->of[i]->a)] = true;
		if (group->of[i]->b != EXPLAIN_NONE)
			in[process_of(job, group->of[i]->b)] = true;
	}
	if (group->hub != EXPLAIN_NONE)
		in[group->hub] = false;
	for (uint32_t i = 0; i < job->processes; i++)
		processes += in[i];
	if (group->alike)
		snprintf(value, sizeof(value), "%s%s%s", group->left,
			 rule->right[0] ? " against " : ", ",
			 group->right + (strcmp(rule->left, rule->right) || !rule->left[0]
						 ? 0
						 : strlen(rule->right) + 1));
	else
		snprintf(value, sizeof(value), "%s against %s", rule->left,
			 rule->right[0] ? rule->right : right_text(first, name));
	snprintf(number, sizeof(number), " on %zu pairs", pairs);
	explain_part_begin(job, rule->level, processes + (group->hub != EXPLAIN_NONE));
	if (first->b == EXPLAIN_NONE)
		explain_say(job, 0, "%s%s: %s, %s", sure[rule->level], explain_names(job, in, name),
			    group->alike ? group->left : rule->left, right_text(first, other));
	else if (group->hub != EXPLAIN_NONE && processes)
		explain_say(job, 0, "%s%s disagrees with %s: %s", sure[rule->level],
			    explain_name(job, group->hub, name), explain_names(job, in, other),
			    value);
	else if (processes == 2 || pairs == 1)
		explain_say(job, 0, "%s%s and %s disagree%s: %s", sure[rule->level],
			    explain_name(job, process_of(job, first->a), name),
			    explain_name(job, process_of(job, first->b), other),
			    pairs == 1 ? "" : number, value);
	else
		explain_say(job, 0, "%s%zu pairs of %s disagree: %s", sure[rule->level], pairs,
			    processes ? explain_names(job, in, name)
				      : explain_name(job, group->hub, name),
			    value);
	explain_say(job, 2, "%s. Next: %c%s.", rule->what, tolower((unsigned char)rule->next[0]),
		    rule->next + 1);
	tell_rows(job, group);
	free(in);
}

/* The process that disagrees with many which otherwise agree: its own degree is twice that of its neighbours. */
static uint32_t find_hub(const struct explain_job *job, const struct group *rest, uint64_t *degree,
			 uint64_t *around)
{
	uint32_t hub = EXPLAIN_NONE;

	memset(degree, 0, job->processes * sizeof(*degree));
	memset(around, 0, job->processes * sizeof(*around));
	for (size_t i = 0; i < rest->count; i++) {
		degree[process_of(job, rest->of[i]->a)]++;
		if (rest->of[i]->b != EXPLAIN_NONE)
			degree[process_of(job, rest->of[i]->b)]++;
	}
	for (size_t i = 0; i < rest->count; i++) {
		const uint32_t a = process_of(job, rest->of[i]->a);
		const uint32_t b = process_of(job, rest->of[i]->b);

		if (b == EXPLAIN_NONE)
			return EXPLAIN_NONE;
		around[a] += degree[b];
		around[b] += degree[a];
	}
	for (uint32_t i = 0; i < job->processes; i++)
		if (degree[i] > 1 && degree[i] * degree[i] >= 2 * around[i] &&
		    (hub == EXPLAIN_NONE || degree[i] > degree[hub]))
			hub = i;
	return hub;
}

#define NUMBER(name, code, member, kind) \
	{name, code, kind, EXPLAIN_STATE_QP_##member, offsetof(struct explain_state_qp, member)}

/* A text is there if it is not NULL; a code whose evidence says the same already is CODES where there is none. */
static const struct {
	const char *name;
	enum code code;
	enum value kind;
	int bit;
	size_t offset;
} properties[] = {
	NUMBER("port", CODES, port, DECIMAL),
	NUMBER("GID index", CODES, gid_index, DECIMAL),
	NUMBER("GID type", GID_TYPE, gid_type, TEXT),
	NUMBER("path_mtu", PATH_MTU, path_mtu, DECIMAL),
	NUMBER("active MTU", CODES, active_mtu, DECIMAL),
	NUMBER("P_Key", PKEY, pkey, HEX),
	NUMBER("traffic_class", TRAFFIC_CLASS, traffic_class, DECIMAL),
	NUMBER("sl", SL, sl, DECIMAL),
	NUMBER("timeout", TIMEOUT, timeout, DECIMAL),
	NUMBER("retry_cnt", RETRY, retry_cnt, DECIMAL),
	NUMBER("rnr_retry", RNR_RETRY, rnr_retry, DECIMAL),
	NUMBER("min_rnr_timer", RNR_TIMER, min_rnr_timer, DECIMAL),
	NUMBER("max_rd_atomic", CODES, max_rd_atomic, DECIMAL),
	NUMBER("max_dest_rd_atomic", CODES, max_dest_rd_atomic, DECIMAL),
	NUMBER("qp_access_flags", CODES, access, HEX),
};

enum {
	PROPERTIES = sizeof(properties) / sizeof(*properties)
};

static bool property_of(const struct explain_end *end, size_t property, char value[VALUE])
{
	const char *const at = (const char *)end->qp + properties[property].offset;
	uint32_t number;
	const char *text;

	/* Before RTR much of it is not chosen yet. */
	if (end->qp->gone || is_before_rtr(end))
		return false;
	if (properties[property].kind == TEXT) {
		memcpy(&text, at, sizeof(text));
		return text && put_value(value, "", TEXT, address(text));
	}
	if (!(end->qp->has >> properties[property].bit & 1))
		return false;
	memcpy(&number, at, sizeof(number));
	return put_value(value, "", properties[property].kind, number);
}

/* How many ends have this: the rarer of two is named first. */
static size_t frequency(const struct explain_job *job, enum code code, const char *value)
{
	size_t count = 0, property = 0;
	char is[VALUE];

	while (property < PROPERTIES && properties[property].code != code)
		property++;
	for (uint32_t i = 0; i < job->ends; i++)
		count += code == TYPE ? same_text(job->end[i].qp->type, value)
				      : property < PROPERTIES &&
						property_of(&job->end[i], property, is) &&
						!strcmp(is, value);
	return count;
}

/* One that is alone: the rarer value first. Of several: the lower, so that those that are alike look alike. */
static void turn(struct explain_job *job, struct evidence *evidence, bool is_alone)
{
	const struct rule *const rule = &rules[evidence->code];
	char left[VALUE], right[VALUE];

	if (evidence->b == EXPLAIN_NONE || strcmp(rule->left, rule->right) != 0)
		return;
	put_value(left, "", rule->value, evidence->left);
	put_value(right, "", rule->value, evidence->right);
	if (is_alone ? frequency(job, evidence->code, right) < frequency(job, evidence->code, left)
		     : rule->value <= HEX && evidence->left > evidence->right)
		*evidence = (struct evidence){evidence->code, evidence->b, evidence->a,
					      evidence->right, evidence->left};
}

static void tell_code(struct explain_job *job, struct evidence *evidence, size_t count)
{
	uint64_t *const degree = explain_job_zeros(job->processes, sizeof(*degree));
	uint64_t *const around = explain_job_zeros(job->processes, sizeof(*around));
	struct group rest = {.count = count, .hub = EXPLAIN_NONE}, mine = {.count = 0};

	rest.of = explain_job_zeros(count, sizeof(*rest.of));
	mine.of = explain_job_zeros(count, sizeof(*mine.of));
	for (size_t i = 0; i < count; i++) {
		turn(job, &evidence[i], count == 1);
		rest.of[i] = &evidence[i];
	}
	for (int hubs = 0; rest.count && hubs < MOST_HUBS; hubs++) {
		size_t left = 0;

		mine.hub = find_hub(job, &rest, degree, around);
		if (mine.hub == EXPLAIN_NONE)
			break;
		mine.count = 0;
		for (size_t i = 0; i < rest.count; i++) {
			if (process_of(job, rest.of[i]->a) == mine.hub ||
			    process_of(job, rest.of[i]->b) == mine.hub)
				mine.of[mine.count++] = rest.of[i];
			else
				rest.of[left++] = rest.of[i];
		}
		rest.count = left;
		tell_group(job, &mine);
	}
	if (rest.count)
		tell_group(job, &rest);
	free(degree);
	free(around);
	free(rest.of);
	free(mine.of);
}

static int by_code(const void *left, const void *right)
{
	const struct evidence *const a = left, *const b = right;

	if (a->code != b->code)
		return a->code < b->code ? -1 : 1;
	if (a->a != b->a)
		return a->a < b->a ? -1 : 1;
	return a->b < b->b ? -1 : a->b > b->b;
}

static void tell_evidence(struct explain_job *job, struct found *all)
{
	size_t first = 0;

	if (all->count)
		qsort(all->evidence, all->count, sizeof(*all->evidence), by_code);
	while (first < all->count) {
		size_t next = first;

		while (next < all->count && all->evidence[next].code == all->evidence[first].code)
			next++;
		tell_code(job, all->evidence + first, next - first);
		first = next;
	}
}

/* ---- What one chose by itself ------------------------------------------------------------------------------- */

/* What a process has of a property on a device, or on all of them; is_known false: nothing, or several values. */
struct choice {
	uint32_t process, end;
	const char *device;
	bool is_known;
	char value[VALUE];
};

static int by_device(const void *left, const void *right)
{
	const struct choice *const a = left, *const b = right;
	const int order = strcmp(a->device, b->device);

	if (order)
		return order;
	return a->process < b->process ? -1 : a->process > b->process;
}

/* Each process once for each of its devices. */
static size_t choices_of(const struct explain_job *job, size_t property, struct choice *choice)
{
	size_t count = 0;

	for (uint32_t p = 0; p < job->processes; p++) {
		const size_t mine = count;

		for (uint32_t i = 0; i < job->process[p].count; i++) {
			const uint32_t at = job->process[p].first + i;
			const char *const device = job->end[at].qp->device;
			char value[VALUE];
			size_t n = mine;

			if (!device || !property_of(&job->end[at], property, value))
				continue;
			while (n < count && strcmp(choice[n].device, device))
				n++;
			if (n == count) {
				if (count - mine == 64)
					continue;
				choice[count] = (struct choice){p, at, device, true, ""};
				strcpy(choice[count++].value, value);
			} else if (strcmp(choice[n].value, value)) {
				choice[n].is_known = false;
			}
		}
	}
	return count;
}

/* The value that at least three quarters have, or all but one; NULL if there is none, or no other. */
static const char *usual_of(const struct choice *choice, size_t count, size_t *others)
{
	const char *usual = NULL;
	size_t known = 0, votes = 0, is = 0;

	for (size_t i = 0; i < count; i++) {
		if (!choice[i].is_known)
			continue;
		known++;
		if (!votes)
			usual = choice[i].value;
		votes += !strcmp(usual, choice[i].value) ? 1 : (size_t)-1;
	}
	for (size_t i = 0; i < count; i++)
		is += choice[i].is_known && usual && !strcmp(usual, choice[i].value);
	*others = known - is;
	if (known < 3 || is == known || (*others > 1 && is < 3 * *others))
		return NULL;
	return usual;
}

static void tell_choice(struct explain_job *job, const char *name, const char *device,
			const struct choice *choice, size_t count, const char *usual,
			const char *next)
{
	bool *const in = explain_job_zeros(job->processes, sizeof(*in));
	const struct choice *first = NULL, *other = NULL;
	char names[EXPLAIN_NAME];
	size_t processes = 0, rest = 0;
	bool alike = true;

	for (size_t i = 0; i < count; i++) {
		if (!choice[i].is_known)
			continue;
		if (!strcmp(choice[i].value, usual)) {
			other = other ? other : &choice[i];
			rest++;
			continue;
		}
		first = first ? first : &choice[i];
		alike = alike && !strcmp(first->value, choice[i].value);
		processes += !in[choice[i].process];
		in[choice[i].process] = true;
	}
	explain_part_begin(job, EXPLAIN_DIFFERS, processes);
	explain_say(job, 0, "Advice: %s %s %s %s%s%s, and %zu other%s %s",
		    explain_names(job, in, names), processes == 1 ? "has" : "have", name,
		    alike ? first->value : "of their own", device ? " on " : "",
		    device ? device : "", rest, rest == 1 ? " has" : "s have", usual);
	explain_say(job, 2, "%s.", next);
	explain_row(job, first->end, "%s %s", name, first->value);
	explain_row(job, other->end, "%s %s", name, other->value);
	free(in);
}

/* The processes of which what disagrees has told this already. */
static bool *told_of(const struct explain_job *job, const struct found *all, enum code code)
{
	bool *const told = explain_job_zeros(job->processes, sizeof(*told));

	for (size_t i = 0; i < all->count; i++) {
		if (all->evidence[i].code != code)
			continue;
		told[process_of(job, all->evidence[i].a)] = true;
		told[process_of(job, all->evidence[i].b)] = true;
	}
	return told;
}

static bool is_told(const bool *told, const struct choice *choice, size_t count, const char *usual)
{
	for (size_t i = 0; i < count; i++)
		if (choice[i].is_known && strcmp(choice[i].value, usual) &&
		    !told[choice[i].process])
			return false;
	return true;
}

static const char next_choice[] = "This may be intended. Next: compare the environment and the "
				  "configuration of the two processes below";

static void check_property(struct explain_job *job, const struct found *all, size_t property,
			   struct choice *choice)
{
	const char *const name = properties[property].name;
	const size_t count = choices_of(job, property, choice);
	size_t others;
	const char *usual = usual_of(choice, count, &others);
	bool apart = false, *told;

	if (!count)
		return;
	told = told_of(job, all, properties[property].code);
	qsort(choice, count, sizeof(*choice), by_device);
	/* What all have alike on a device may differ from other devices. */
	for (size_t first = 0, next; first < count; first = next) {
		for (next = first;
		     next < count && !strcmp(choice[next].device, choice[first].device);)
			next++;
		if (next - first < 3 || next - first == count)
			continue;
		apart = true;
		usual = usual_of(choice + first, next - first, &others);
		if (usual && !is_told(told, choice + first, next - first, usual))
			tell_choice(job, name, choice[first].device, choice + first, next - first,
				    usual, next_choice);
	}
	usual = apart ? NULL : usual_of(choice, count, &others);
	if (usual && !is_told(told, choice, count, usual))
		tell_choice(job, name, NULL, choice, count, usual, next_choice);
	free(told);
}

static int by_text(const void *left, const void *right)
{
	const char *const *const a = left, *const *const b = right;

	return strcmp(*a, *b);
}

/* The devices that a process uses, each once, in order; a process without queue pairs has none. */
static void check_devices(struct explain_job *job, struct choice *choice)
{
	size_t count = 0, others;
	const char *usual;

	for (uint32_t p = 0; p < job->processes; p++) {
		const char *name[64];
		size_t names = 0;
		struct choice *const is = &choice[count];

		*is = (struct choice){p, job->process[p].first, "", true, ""};
		for (uint32_t i = 0; i < job->process[p].count; i++) {
			const struct explain_state_qp *const qp =
				job->end[job->process[p].first + i].qp;
			size_t n = 0;

			if (!qp->device || qp->gone)
				continue;
			while (n < names && strcmp(name[n], qp->device))
				n++;
			if (n == names && names < 64)
				name[names++] = qp->device;
		}
		if (!names)
			continue;
		qsort(name, names, sizeof(*name), by_text);
		for (size_t n = 0; n < names; n++) {
			const size_t at = strlen(is->value);

			snprintf(is->value + at, VALUE - at, "%s%.60s", n ? "," : "", name[n]);
		}
		count++;
	}
	usual = usual_of(choice, count, &others);
	if (usual)
		tell_choice(job, "device", NULL, choice, count, usual, next_choice);
}

static void check_choices(struct explain_job *job, const struct found *all)
{
	size_t most = 1;
	struct choice *choice;

	for (uint32_t i = 0; i < job->processes; i++)
		most += 1 + (job->process[i].count < 64 ? job->process[i].count : 64);
	choice = explain_job_zeros(most, sizeof(*choice));
	check_devices(job, choice);
	for (size_t i = 0; i < PROPERTIES; i++)
		check_property(job, all, i, choice);
	free(choice);
}

/* ---- Ranks and addresses ------------------------------------------------------------------------------------ */

/* Ranks that the others count with, and that nobody is. */
static void check_ranks(struct explain_job *job)
{
	uint32_t ranks = 0, missing = 0, example = EXPLAIN_NONE;
	char text[EXPLAIN_NAME] = "";
	bool *is;

	for (uint32_t i = 0; i < job->processes; i++) {
		const struct explain_state *const state = job->process[i].state;

		if (!EXPLAIN_STATE_HAS(PROCESS, state, rank))
			return;
		if (EXPLAIN_STATE_HAS(PROCESS, state, ranks) && state->ranks > ranks) {
			ranks = state->ranks;
			example = i;
		}
	}
	if (!ranks || ranks > 1u << 20)
		return;
	is = explain_job_zeros(ranks, sizeof(*is));
	for (uint32_t i = 0; i < job->processes; i++)
		if (job->process[i].state->rank < ranks)
			is[job->process[i].state->rank] = true;
	for (uint32_t i = 0; i < ranks; i++) {
		const size_t length = strlen(text);

		if (is[i])
			continue;
		if (missing++ < 16)
			snprintf(text + length, sizeof(text) - length, "%s%u", length ? ", " : "",
				 i);
	}
	free(is);
	if (!missing)
		return;
	explain_part_begin(job, EXPLAIN_LIKELY, missing);
	explain_say(job, 0, "Likely: %s %s%s of %u %s no state here",
		    missing == 1 ? "rank" : "ranks", text, missing > 16 ? ", ..." : "", ranks,
		    missing == 1 ? "has" : "have");
	explain_say(job, 2,
		    "It never used verbs, ran without rdmaez-explain, or its file is missing. "
		    "Next: check whether it was started, and where it is.");
	explain_process_row(job, example, "counts %u ranks", ranks);
}

static bool has_queue_pairs(const struct explain_job *job, uint32_t process)
{
	for (uint32_t i = 0; i < job->process[process].count; i++)
		if (!job->end[job->process[process].first + i].qp->gone)
			return true;
	return false;
}

/* Two processes of one rank and program that both have queue pairs: files of two runs, or of two jobs. */
static void check_twice(struct explain_job *job)
{
	bool *const in = explain_job_zeros(job->processes, sizeof(*in));
	uint32_t count = 0, first = 0;
	char names[EXPLAIN_NAME];

	for (uint32_t i = 1; i < job->processes; i++) {
		const struct explain_state *const a = job->process[i - 1].state;
		const struct explain_state *const b = job->process[i].state;

		if (!EXPLAIN_STATE_HAS(PROCESS, a, rank) || !EXPLAIN_STATE_HAS(PROCESS, b, rank) ||
		    a->rank != b->rank || !same_text(a->program, b->program) ||
		    !has_queue_pairs(job, i - 1) || !has_queue_pairs(job, i))
			continue;
		first = count++ ? first : i;
		in[i] = true;
	}
	if (count) {
		explain_part_begin(job, EXPLAIN_LIKELY, job->processes);
		explain_say(job, 0, "Likely: these are files of two runs: %s %s there twice",
			    explain_names(job, in, names), count == 1 ? "is" : "are");
		explain_say(job, 2,
			    "What is said here may mix the two runs. Next: compare only the files "
			    "of one run.");
		explain_process_row(job, first - 1, "queue pairs: %u",
				    job->process[first - 1].count);
		explain_process_row(job, first, "queue pairs: %u", job->process[first].count);
	}
	free(in);
}

/* Those that have no queue pairs yet, where nearly all others have. */
static void check_late(struct explain_job *job)
{
	bool *const in = explain_job_zeros(job->processes, sizeof(*in));
	uint32_t late = 0, others = 0, first = 0;
	char names[EXPLAIN_NAME];

	for (uint32_t i = 0; i < job->processes; i++) {
		if (explain_has_ended(job->process[i].state))
			continue;
		in[i] = !has_queue_pairs(job, i);
		first = in[i] && !late ? i : first;
		late += in[i];
		others += !in[i];
	}
	if (late && others > 1 && (late == 1 || others >= 3 * late)) {
		explain_part_begin(job, EXPLAIN_LIKELY, late);
		explain_say(job, 0, "Likely: %s %s no queue pairs, and the other %u have some",
			    explain_names(job, in, names), late == 1 ? "has" : "have", others);
		explain_say(job, 2,
			    "The others may wait for it to exchange addresses. Next: find out "
			    "where it is.");
		explain_process_row(job, first, "no queue pairs");
	}
	free(in);
}

static void check_addresses(struct explain_job *job, const struct index *index)
{
	uint32_t shown = 0;

	for (uint32_t i = 0; i < job->ends && shown < 4; i++) {
		const struct explain_end *const end = &job->end[i];
		unsigned int looked = 0;
		uint32_t last = EXPLAIN_NONE;
		bool is_first = true;

		if (!has_gid(end) || (i > job->process[end->process].first && has_gid(end - 1) &&
				      same_gid(&end->qp->gid, &end[-1].qp->gid)))
			continue;
		for (uint32_t at = map_first(&index->by_gid, hash_gid(&end->qp->gid, 0));
		     at != EXPLAIN_NONE && looked++ < MOST_SAME;
		     at = map_next(&index->by_gid, at)) {
			const uint32_t process = index->by_gid.value[at];

			is_first = is_first && process >= end->process;
			if (other_machine(job->process[process].state,
					  job->process[end->process].state))
				last = process;
		}
		if (!is_first)
			continue;
		for (uint32_t n = 0; last != EXPLAIN_NONE && n < job->process[last].count; n++) {
			const uint32_t other = job->process[last].first + n;
			char gid[INET6_ADDRSTRLEN] = "?", name[EXPLAIN_NAME], second[EXPLAIN_NAME];

			if (!has_gid(&job->end[other]) ||
			    !same_gid(&job->end[other].qp->gid, &end->qp->gid))
				continue;
			inet_ntop(AF_INET6, &end->qp->gid, gid, sizeof(gid));
			explain_part_begin(job, EXPLAIN_LIKELY, 2);
			explain_say(job, 0, "Likely: %s and %s have the same address: GID %s",
				    explain_name(job, end->process, name),
				    explain_name(job, last, second), gid);
			explain_say(job, 2,
				    "What is sent to one may reach the other. Next: give the "
				    "interface of "
				    "one host another address; if the two are containers on one "
				    "machine, nothing is wrong.");
			explain_row(job, i, "GID %s", gid);
			explain_row(job, other, "GID %s", gid);
			shown++;
			break;
		}
	}
}

/* ---- All of it ------------------------------------------------------------------------------------------------ */

static int by_process(const void *left, const void *right)
{
	const struct explain_state *const a = ((const struct explain_peer *)left)->state;
	const struct explain_state *const b = ((const struct explain_peer *)right)->state;
	const bool a_ranked = EXPLAIN_STATE_HAS(PROCESS, a, rank);
	const bool b_ranked = EXPLAIN_STATE_HAS(PROCESS, b, rank);
	int order;

	if (a_ranked != b_ranked)
		return a_ranked ? -1 : 1;
	if (a_ranked && a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	order = strcmp(a->host ? a->host : "", b->host ? b->host : "");
	if (order)
		return order;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	/* The newest of a process first: of states at one time the last. */
	if (a->time_ms != b->time_ms)
		return a->time_ms > b->time_ms ? -1 : 1;
	return a > b ? -1 : a < b;
}

static bool same_process(const struct explain_state *a, const struct explain_state *b)
{
	return a->pid == b->pid && same_text(a->host, b->host) &&
	       EXPLAIN_STATE_HAS(PROCESS, a, rank) == EXPLAIN_STATE_HAS(PROCESS, b, rank) &&
	       a->rank == b->rank;
}

static void job_open(struct explain_job *job, const struct explain_state *states, size_t count)
{
	size_t ends = 0;
	uint32_t at = 0;

	job->process = explain_job_zeros(count, sizeof(*job->process));
	for (size_t i = 0; i < count; i++)
		job->process[i].state = &states[i];
	if (count)
		qsort(job->process, count, sizeof(*job->process), by_process);
	for (size_t i = 0; i < count; i++) {
		if (at && same_process(job->process[at - 1].state, job->process[i].state))
			continue;
		job->process[at++].state = job->process[i].state;
		ends += job->process[i].state->qps_count;
	}
	job->processes = at;
	job->end = explain_job_zeros(ends, sizeof(*job->end));
	for (uint32_t p = 0; p < job->processes; p++) {
		const struct explain_state *const state = job->process[p].state;

		job->process[p].first = job->ends;
		job->process[p].count = (uint32_t)state->qps_count;
		for (size_t i = 0; i < state->qps_count; i++) {
			struct explain_end *const end = &job->end[job->ends++];

			end->qp = &state->qps[i];
			end->process = p;
			end->peer = EXPLAIN_NONE;
			end->type = type_of(end->qp->type);
			end->state = state_of(end->qp->state);
		}
	}
}

static size_t compare(struct explain_job *job, enum explain_level most, FILE *out)
{
	struct found all = {NULL, 0, 0};
	struct index index;
	size_t parts;

	index_open(job, &index);
	find_stale(job, &index);
	pair_up(job, &index, &all);
	check_ports(job, &all);
	check_classes(job, &all);
	check_pairs(job, &all);
	check_rails(job, &all);
	tell_evidence(job, &all);
	explain_waits(job);
	check_ranks(job);
	check_twice(job);
	check_late(job);
	check_addresses(job, &index);
	check_choices(job, &all);
	index_close(&index);
	free(all.evidence);
	parts = explain_page_write(job, most, out);
	free(job->end);
	free(job->process);
	return parts;
}

size_t explain_compare_states(const struct explain_state *states, size_t count, FILE *out)
{
	struct explain_job job = {.processes = 0};

	job_open(&job, states, count);
	return compare(&job, EXPLAIN_DIFFERS, out);
}

size_t explain_compare_trouble(const struct explain_state *states, size_t count, FILE *out)
{
	struct explain_job job = {.processes = 0};

	job_open(&job, states, count);
	return compare(&job, EXPLAIN_LIKELY, out);
}

static size_t hosts_of(const struct explain_job *job)
{
	const char **const host = explain_job_zeros(job->processes, sizeof(*host));
	size_t hosts = 0;

	for (uint32_t i = 0; i < job->processes; i++)
		host[i] = job->process[i].state->host;
	if (job->processes)
		qsort(host, job->processes, sizeof(*host), by_text);
	for (uint32_t i = 0; i < job->processes; i++)
		hosts += !i || strcmp(host[i], host[i - 1]) != 0;
	free(host);
	return hosts;
}

int explain_compare_files(char *const names[], size_t count, FILE *out)
{
	enum {
		SHOWN_PROBLEMS = 20
	};
	struct explain_job job = {.processes = 0};
	struct explain_read read = {.files = 0};
	size_t parts, hosts;

	for (size_t i = 0; i < count; i++)
		explain_read_file(&read, names[i]);
	job_open(&job, read.state, read.count);
	hosts = hosts_of(&job);
	parts = compare(&job, EXPLAIN_DIFFERS, out);
	for (size_t i = 0; i < read.problems && i < SHOWN_PROBLEMS; i++)
		fprintf(out, "Not read: %s\n", read.problem[i]);
	if (read.problems > SHOWN_PROBLEMS)
		fprintf(out, "Not read: %zu more\n", read.problems - SHOWN_PROBLEMS);
	fprintf(out, "%u process%s on %zu host%s: %u queue pair%s, %u pair%s, %zu finding%s\n",
		job.processes, job.processes == 1 ? "" : "es", hosts, hosts == 1 ? "" : "s",
		job.ends, job.ends == 1 ? "" : "s", job.pairs, job.pairs == 1 ? "" : "s", parts,
		parts == 1 ? "" : "s");
	if (job.strangers)
		fprintf(out, "%u queue pair%s a peer of which there is no file\n", job.strangers,
			job.strangers == 1 ? " has" : "s have");
	if (read.without)
		fprintf(out, "%zu file%s no state\n", read.without,
			read.without == 1 ? " has" : "s have");
	count = parts + read.problems + (read.count == 0);
	explain_read_free(&read);
	return count ? 1 : 0;
}
