/* SPDX-License-Identifier: MIT */
/* Implements port.h. */
#ifndef RDMAEZ_IMPL_PORT_H
#define RDMAEZ_IMPL_PORT_H

#ifndef RDMAEZ_PORT_H
#include "../port.h"
#endif

#if RDMAEZ_IMPL_BODIES

#ifndef RDMAEZ_IMPL_BASE_H
#include "base.h"
#endif
#ifndef RDMAEZ_IMPL_DIAG_H
#include "diag.h"
#endif
#ifndef RDMAEZ_IMPL_GID_H
#include "gid.h"
#endif
#ifndef RDMAEZ_IMPL_PATH_H
#include "path.h"
#endif
#ifndef RDMAEZ_IMPL_SEAM_H
#include "seam.h"
#endif
#ifndef RDMAEZ_WHY_H
#include "../why.h"
#endif

RDMAEZ_IMPL_BEGIN

/* Returns the errno value of a port that was not queried, or does not exist. */
RDMAEZ_IMPL_COLD int rdmaez_impl_port_failed(struct ibv_context *context, int port_num, int error,
					     const char *verb, struct rdmaez_diag *diag)
{
	rdmaez_impl_failed(diag, error, verb);
	RDMAEZ_IMPL_EXPLAIN(diag, rdmaez_impl_port_explain, (context, port_num, diag));
	return error;
}

/* Checks that the device has this port, for callers that are about to send it to the provider. */
RDMAEZ_IMPL_COLD int rdmaez_impl_port_exists(struct ibv_context *context, int port_num,
					     struct rdmaez_diag *diag)
{
	const char *verb = NULL;
	struct ibv_device_attr device;
	int error = EINVAL;

	if (port_num >= 1 && port_num <= 255) {
		error = rdmaez_impl_error(ibv_query_device(context, &device));
		if (error)
			verb = "ibv_query_device";
		else if (port_num <= device.phys_port_cnt)
			return 0;
		else
			error = EINVAL;
	}
	return rdmaez_impl_port_failed(context, port_num, error, verb, diag);
}

/*
 * Does what rdmaez_port_query() does, without its reset of the record. A failure may spoil the
 * attributes.
 */
RDMAEZ_IMPL_SMALL int rdmaez_impl_port_query(struct ibv_context *context, int port_num,
					     struct ibv_port_attr *attr, struct rdmaez_diag *diag)
{
	int error = EINVAL;

	memset(attr, 0, sizeof(*attr));
	if (port_num >= 1 && port_num <= 255)
		error = rdmaez_impl_error(ibv_query_port(context, (uint8_t)port_num, attr));
	return error ? rdmaez_impl_port_failed(
			       context, port_num, error,
			       port_num >= 1 && port_num <= 255 ? "ibv_query_port" : NULL, diag)
		     : 0;
}

RDMAEZ_API int rdmaez_port_query(struct ibv_context *context, int port, struct ibv_port_attr *attr,
				 struct rdmaez_diag *diag)
{
	const char *const missing = !context ? "context" : attr ? NULL : "attr";
	struct ibv_port_attr answer;
	int error = rdmaez_impl_begin(diag, "rdmaez_port_query", context, missing);

	if (!error)
		error = rdmaez_impl_port_query(context, port, &answer, diag);
	if (!error)
		*attr = answer;
	return error;
}

/* Reads an entry of the GID table. An empty one is a success with an all-zero GID. */
RDMAEZ_IMPL_SMALL int rdmaez_impl_port_gid(struct ibv_context *context, int port_num, int index,
					   struct ibv_gid_entry *entry, struct rdmaez_diag *diag)
{
	int error;

	memset(entry, 0, sizeof(*entry));
	error = rdmaez_impl_error(
		ibv_query_gid_ex(context, (uint32_t)port_num, (uint32_t)index, entry, 0));
	if (error == ENODATA) {
		memset(entry, 0, sizeof(*entry));
		error = 0;
	}
	entry->gid_index = (uint32_t)index;
	entry->port_num = (uint32_t)port_num;
	if (error)
		return rdmaez_impl_refuse_verb(diag, error, RDMAEZ_WHY_QUERY_REFUSED,
					       "ibv_query_gid_ex");
	return 0;
}

/*
 * Begins to list a table: checks that there is room for the entries, and asks the port, which knows
 * the table's length.
 */
RDMAEZ_IMPL_SMALL int rdmaez_impl_port_table(struct ibv_context *context, int port_num,
					     const char *missing, const char *call,
					     struct ibv_port_attr *port, struct rdmaez_diag *diag)
{
	const int error = rdmaez_impl_begin(diag, call, context, context ? missing : "context");

	return error ? error : rdmaez_impl_port_query(context, port_num, port, diag);
}

enum {
	RDMAEZ_IMPL_GIDS = 16 /* entries that are read at once: 512 bytes of stack */
};

/*
 * Goes through a port's GID table by one query of all ports' entries. If the device does not answer
 * that query, as when all ports together have more entries than there is room for, it goes entry by
 * entry. A function that has such a struct calls none that has another, so that only one of them is
 * on the stack.
 */
struct rdmaez_impl_port_gids {
	struct ibv_context *context;
	int port_num;
	int length;    /* of the table, as far as it is looked at */
	int next;      /* the entry of `all` to look at, or the index to ask for */
	ssize_t known; /* how many `all` holds; negative: ask one by one */
	struct ibv_gid_entry all[RDMAEZ_IMPL_GIDS];
};

RDMAEZ_IMPL_SMALL void rdmaez_impl_port_gids_begin(struct rdmaez_impl_port_gids *gids,
						   struct ibv_context *context, int port_num,
						   int length)
{
	gids->context = context;
	gids->port_num = port_num;
	gids->length = length > 0 ? length : 0;
	gids->next = 0;
	gids->known = ibv_query_gid_table(context, gids->all, RDMAEZ_IMPL_GIDS, 0);
}

/*
 * Reads the next entry that is not empty. Returns 0, ENODATA after the last one, or why it was not
 * read.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_port_gids_next(struct rdmaez_impl_port_gids *gids,
						struct ibv_gid_entry *entry,
						struct rdmaez_diag *diag)
{
	int error = 0;

	while (gids->next < gids->known) {
		*entry = gids->all[gids->next++];
		if (entry->port_num == (uint32_t)gids->port_num &&
		    entry->gid_index < (uint32_t)gids->length && !rdmaez_gid_is_zero(&entry->gid))
			return 0;
	}
	while (gids->known < 0 && gids->next < gids->length) {
		error = rdmaez_impl_port_gid(gids->context, gids->port_num, gids->next++, entry,
					     diag);
		if (error || !rdmaez_gid_is_zero(&entry->gid))
			return error;
	}
	return ENODATA;
}

/*
 * Returns the name of the missing argument that a list cannot do without, or NULL if none is
 * missing.
 */
RDMAEZ_IMPL const char *rdmaez_impl_port_missing(const void *entries, size_t capacity,
						 const size_t *count)
{
	if (!count)
		return "count";
	return capacity && !entries ? "entries" : NULL;
}

RDMAEZ_COLD int rdmaez_port_gids(struct ibv_context *context, int port,
				 struct ibv_gid_entry *entries, size_t capacity, size_t *count,
				 struct rdmaez_diag *diag)
{
	struct rdmaez_impl_port_gids gids;
	struct ibv_port_attr port_attr;
	struct ibv_gid_entry entry;
	size_t found = 0;
	int error = rdmaez_impl_port_table(context, port,
					   rdmaez_impl_port_missing(entries, capacity, count),
					   "rdmaez_port_gids", &port_attr, diag);

	if (error)
		return error;
	rdmaez_impl_port_gids_begin(&gids, context, port, port_attr.gid_tbl_len);
	while (!(error = rdmaez_impl_port_gids_next(&gids, &entry, diag))) {
		if (found < capacity)
			entries[found] = entry;
		found++;
	}
	if (error != ENODATA)
		return error;
	*count = found;
	return 0;
}

/* Returns how many entries of a port's GID table an address vector can name. */
RDMAEZ_IMPL int rdmaez_impl_port_gid_entries(const struct ibv_port_attr *port)
{
	return port->gid_tbl_len < RDMAEZ_PATH_GIDS ? port->gid_tbl_len : RDMAEZ_PATH_GIDS;
}

/*
 * These are the rules of a choice, as the bits of one number, so that the greatest is chosen: the
 * kernel sends to the peer from this GID; it has the peer's scope; it shares so many leading bits
 * with the peer; its rank.
 */
#define RDMAEZ_IMPL_CHOICE_ROUTE  0x1000
#define RDMAEZ_IMPL_CHOICE_SCOPE  0x0800
#define RDMAEZ_IMPL_CHOICE_PREFIX 0x0008 /* one bit more of 128 */

/* This is a choice among GIDs that is being made. */
struct rdmaez_impl_port_choice {
	const union ibv_gid *peer;
	int traits;                     /* of the peer; -1: it is not known */
	bool has_route;                 /* to the peer, which then is worth a question */
	struct rdmaez_impl_route route; /* error -1: not asked yet */
	struct ibv_gid_entry best;
	int value;  /* of the best; 0: there is none yet */
	int second; /* of the best one with another GID */
};

/* Returns what an entry is worth, by its rank. */
RDMAEZ_IMPL_SMALL int rdmaez_impl_port_worth(const struct rdmaez_impl_port_choice *choice,
					     const union ibv_gid *gid, int rank)
{
	int worth = rank;

	if (choice->traits >= 0 && rank >= RDMAEZ_IMPL_GID_SCOPE)
		worth |= RDMAEZ_IMPL_CHOICE_SCOPE;
	if (choice->has_route && !(choice->traits & RDMAEZ_IMPL_GID_GROUP))
		worth += RDMAEZ_IMPL_CHOICE_PREFIX * rdmaez_impl_gid_common(choice->peer, gid);
	if (!memcmp(&choice->route.source, gid, sizeof(*gid))) /* it is zero if there is none */
		worth |= RDMAEZ_IMPL_CHOICE_ROUTE;
	return worth;
}

/*
 * Compares a usable entry with the best one so far. It asks for the route as soon as GIDs differ.
 */
RDMAEZ_IMPL_SMALL void rdmaez_impl_port_compare(struct rdmaez_impl_port_choice *choice,
						const struct ibv_gid_entry *entry, int rank)
{
	const bool differs =
		choice->value && memcmp(&choice->best.gid, &entry->gid, sizeof(entry->gid));
	int worth;

	if (differs && choice->has_route && choice->route.error < 0) {
		rdmaez_impl_route_ask(choice->peer, NULL, &choice->route);
		choice->value = rdmaez_impl_port_worth(choice, &choice->best.gid,
						       choice->value % RDMAEZ_IMPL_CHOICE_PREFIX);
	}
	worth = rdmaez_impl_port_worth(choice, &entry->gid, rank);
	if (worth > choice->value) {
		if (differs)
			choice->second = choice->value;
		choice->value = worth;
		choice->best = *entry;
	} else if (differs && worth > choice->second) {
		choice->second = worth;
	}
}

/*
 * Begins a choice for a peer; NULL means any peer. For a group, the kernel itself takes the group's
 * route to find the interface that it leaves by. A link-local address has no route without an
 * interface.
 */
RDMAEZ_IMPL_SMALL void rdmaez_impl_port_choice_begin(struct rdmaez_impl_port_choice *choice,
						     const struct ibv_port_attr *port,
						     const union ibv_gid *peer)
{
	memset(choice, 0, sizeof(*choice));
	choice->route.error = -1;
	choice->peer = peer;
	choice->traits = peer ? rdmaez_impl_gid_traits(peer) : -1;
	choice->has_route = choice->traits >= 0 && port->link_layer == IBV_LINK_LAYER_ETHERNET &&
			    (choice->traits & (RDMAEZ_IMPL_GID_IPV4 | RDMAEZ_IMPL_GID_LOCAL)) !=
				    RDMAEZ_IMPL_GID_LOCAL;
}

/*
 * Compares the entries. Returns 0 if one is so good that the rest need not be looked at, ENODATA
 * after the last one, or why one was not read. `empty` tells that there was none.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_port_choose(struct ibv_context *context, int port_num,
					     const struct ibv_port_attr *port,
					     const struct rdmaez_gid_want *want,
					     struct rdmaez_impl_port_choice *choice, bool *empty)
{
	struct rdmaez_impl_port_gids gids;
	struct ibv_gid_entry entry;
	enum rdmaez_why why;
	bool done = false;
	int error = 0;

	rdmaez_impl_port_gids_begin(&gids, context, port_num, rdmaez_impl_port_gid_entries(port));
	if (gids.known < 0 && choice->has_route) /* this saves asking for all entries */
		rdmaez_impl_route_ask(choice->peer, NULL, &choice->route);
	while (!done && !(error = rdmaez_impl_port_gids_next(&gids, &entry, NULL))) {
		const int rank = rdmaez_impl_gid_rank(&entry, want, choice->traits, &why);

		*empty = false;
		if (rank)
			rdmaez_impl_port_compare(choice, &entry, rank);
		done = choice->value % RDMAEZ_IMPL_CHOICE_PREFIX == RDMAEZ_GID_RANK_BEST &&
		       (!choice->has_route || choice->value >= RDMAEZ_IMPL_CHOICE_ROUTE);
	}
	return error;
}

/*
 * Does what rdmaez_port_choose_gid() does on a port that has been asked, without its reset of the
 * record.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_port_choose_gid(struct ibv_context *context, int port_num,
						 const struct ibv_port_attr *port,
						 const struct rdmaez_gid_want *want,
						 struct ibv_gid_entry *chosen,
						 struct rdmaez_diag *diag)
{
	struct rdmaez_impl_port_choice choice;
	bool empty = true, done;
	int error;

	rdmaez_impl_port_choice_begin(&choice, port, want ? &want->peer : NULL);
	error = rdmaez_impl_port_choose(context, port_num, port, want, &choice, &empty);
	done = !error;
	if (done || (error == ENODATA && choice.value)) {
		if (diag) {
			diag->source = choice.best;
			if (want)
				diag->destination = want->peer;
		}
		RDMAEZ_IMPL_EXPLAIN(diag, rdmaez_impl_port_explain_choice, (&choice, !done, diag));
		*chosen = choice.best;
		return 0;
	}
	/* The attributes may be the caller's, and those of another port. */
	if (error == ENODATA && empty && port_num != 1) {
		const int missing = rdmaez_impl_port_exists(context, port_num, diag);

		if (missing)
			return missing;
	}
	if (error != ENODATA)
		return rdmaez_impl_port_failed(context, port_num, error, "ibv_query_gid_ex", diag);
	if (!empty)
		RDMAEZ_IMPL_EXPLAIN(diag, rdmaez_impl_port_explain_gids,
				    (context, port_num, port, want, diag));
	return rdmaez_impl_refuse(diag, EADDRNOTAVAIL, RDMAEZ_WHY_GID_NONE,
				  "ah_attr.grh.sgid_index");
}

/* A peer may reach a port by these GIDs. The best is first. */
struct rdmaez_impl_port_best {
	struct ibv_gid_entry entry[4];
	union ibv_gid route; /* from which the kernel sends to the peer; zero: not known */
	int count;
};

/*
 * Returns what an entry is worth as the next in the list: nothing if it is there already or cannot
 * be used, more if it is of the peer's family, and still more if the list has none yet of its RoCE
 * version, family and scope.
 */
RDMAEZ_IMPL_SMALL int rdmaez_impl_port_next_worth(const struct rdmaez_impl_port_choice *choice,
						  const struct rdmaez_impl_port_best *best,
						  const struct ibv_gid_entry *entry)
{
	const int traits = rdmaez_impl_gid_traits(&entry->gid);
	struct rdmaez_gid_want want;
	enum rdmaez_why why;
	int rank, first = 4 * RDMAEZ_IMPL_CHOICE_ROUTE;

	memset(&want, 0, sizeof(want));
	for (int i = 0; i < best->count; i++) {
		const struct ibv_gid_entry *const there = &best->entry[i];

		if (there->gid_type != entry->gid_type)
			continue;
		if (!memcmp(&there->gid, &entry->gid, sizeof(entry->gid)))
			return 0;
		if (rdmaez_impl_gid_traits(&there->gid) == traits)
			first = 0;
	}
	rank = rdmaez_impl_gid_rank(entry, &want, choice->traits, &why);
	if (rank)
		return rdmaez_impl_port_worth(choice, &entry->gid, rank) + first +
		       2 * RDMAEZ_IMPL_CHOICE_ROUTE;
	rank = rdmaez_impl_gid_rank(entry, &want, -1, &why);
	return rank ? rank + first : 0;
}

/* Lists the GIDs of a port, of which there may be none. */
RDMAEZ_IMPL_COLD void rdmaez_impl_port_list_best(struct ibv_context *context, int port_num,
						 const struct ibv_port_attr *port,
						 const union ibv_gid *peer,
						 struct rdmaez_impl_port_best *best)
{
	struct rdmaez_impl_port_gids gids;
	struct rdmaez_impl_port_choice choice;
	struct ibv_gid_entry entry;
	int most = 1, n = 0;

	rdmaez_impl_port_choice_begin(&choice, port, peer);
	rdmaez_impl_port_gids_begin(&gids, context, port_num, rdmaez_impl_port_gid_entries(port));
	while (!rdmaez_impl_port_gids_next(&gids, &entry, NULL)) {
		if (n < RDMAEZ_IMPL_GIDS)
			gids.all[n] = entry; /* this overwrites what has been read */
		n++;
	}
	if (n && choice.has_route)
		rdmaez_impl_route_ask(peer, NULL, &choice.route);
	best->route = choice.route.source;
	while (most && best->count < 4 && best->count < n) {
		most = 0;
		gids.next =
			0; /* more than there is room for, which were asked for one by one, are so again */
		for (int i = 0; i < n; i++) {
			int worth;

			if (n <= RDMAEZ_IMPL_GIDS)
				entry = gids.all[i];
			else if (rdmaez_impl_port_gids_next(&gids, &entry, NULL))
				break;
			worth = rdmaez_impl_port_next_worth(&choice, best, &entry);
			if (worth > most) {
				most = worth;
				best->entry[best->count] = entry;
			}
		}
		best->count += most > 0;
	}
}

/*
 * Lists the GIDs of a port to tell a peer, whose address may be known: first the one that
 * rdmaez_port_choose_gid() chooses, then the best of each other kind, then the next best.
 */
RDMAEZ_IMPL_SMALL int rdmaez_impl_port_best_gids(struct ibv_context *context, int port_num,
						 const struct ibv_port_attr *port,
						 const union ibv_gid *peer,
						 struct rdmaez_impl_port_best *best,
						 struct rdmaez_diag *diag)
{
	memset(best, 0, sizeof(*best));
	rdmaez_impl_port_list_best(context, port_num, port, peer, best);
	if (best->count)
		return 0;
	best->count = 1; /* one has come meanwhile, or this says why there is none */
	return rdmaez_impl_port_choose_gid(context, port_num, port, NULL, best->entry, diag);
}

/*
 * Finds the GID index for a path: the path's own, or the best one if it leaves that open. Without a
 * destination there is nothing to choose for, unless the path describes its own end.
 */
RDMAEZ_IMPL int rdmaez_impl_port_gid_index(struct ibv_context *context, int port_num,
					   const struct ibv_port_attr *port,
					   const struct rdmaez_path *path, bool own_end,
					   int *sgid_index, struct rdmaez_diag *diag)
{
	const bool nowhere = rdmaez_gid_is_zero(&path->dgid);
	struct rdmaez_gid_want want;
	struct ibv_gid_entry entry;
	int error;

	*sgid_index = path->sgid_index;
	if (path->sgid_index || (nowhere && !own_end) ||
	    !(rdmaez_path_needs_grh(port) || (path->flags & RDMAEZ_PATH_GRH)))
		return 0;
	memset(&want, 0, sizeof(want));
	want.peer = path->dgid;
	error = rdmaez_impl_port_choose_gid(context, port_num, port, nowhere ? NULL : &want, &entry,
					    diag);
	if (!error)
		*sgid_index = rdmaez_exactly((int)entry.gid_index);
	return error;
}

RDMAEZ_COLD int rdmaez_port_choose_gid(struct ibv_context *context, int port,
				       const struct rdmaez_gid_want *want,
				       struct ibv_gid_entry *chosen, struct rdmaez_diag *diag)
{
	struct ibv_port_attr port_attr;
	const int error = rdmaez_impl_port_table(context, port, chosen ? NULL : "chosen",
						 "rdmaez_port_choose_gid", &port_attr, diag);

	return error ? error
		     : rdmaez_impl_port_choose_gid(context, port, &port_attr, want, chosen, diag);
}

/* Returns the P_Key at an index in host byte order, or a negative errno value. */
RDMAEZ_IMPL_SMALL int rdmaez_impl_port_pkey(struct ibv_context *context, int port_num, int index)
{
	__be16 wire = 0;
	uint8_t byte[2];
	const int error =
		rdmaez_impl_error(ibv_query_pkey(context, (uint8_t)port_num, index, &wire));

	if (error)
		return -error;
	memcpy(byte, &wire, sizeof(byte));
	return byte[0] << 8 | byte[1];
}

RDMAEZ_COLD int rdmaez_port_pkeys(struct ibv_context *context, int port,
				  struct rdmaez_pkey_entry *entries, size_t capacity, size_t *count,
				  struct rdmaez_diag *diag)
{
	struct ibv_port_attr port_attr;
	size_t found = 0;
	const int error = rdmaez_impl_port_table(context, port,
						 rdmaez_impl_port_missing(entries, capacity, count),
						 "rdmaez_port_pkeys", &port_attr, diag);

	if (error)
		return error;
	for (int i = 0; i < port_attr.pkey_tbl_len; i++) {
		const int key = rdmaez_impl_port_pkey(context, port, i);

		if (key < 0)
			return rdmaez_impl_refuse_verb(diag, -key, RDMAEZ_WHY_QUERY_REFUSED,
						       "ibv_query_pkey");
		if (!(key & 0x7fff))
			continue;
		if (found < capacity) {
			entries[found].pkey_index = (uint32_t)i;
			entries[found].pkey = (uint16_t)key;
		}
		found++;
	}
	*count = found;
	return 0;
}

RDMAEZ_COLD int rdmaez_port_find_pkey(struct ibv_context *context, int port, uint16_t pkey,
				      int *index, struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site not_found = {"pkey", RDMAEZ_WHY_PKEY_NOT_FOUND,
							  RDMAEZ_VALUE_PKEY, 0, 0};
	const int partition = pkey & 0x7fff, full = 0x8000;
	struct ibv_port_attr port_attr;
	int found = -1, found_key = 0;
	const int error = rdmaez_impl_port_table(context, port, index ? NULL : "index",
						 "rdmaez_port_find_pkey", &port_attr, diag);

	if (error)
		return error;
	/* Zero in the low bits marks an unused entry, not a partition. */
	for (int i = 0; partition && !(found_key & full) && i < port_attr.pkey_tbl_len; i++) {
		const int key = rdmaez_impl_port_pkey(context, port, i);

		if (key < 0)
			return rdmaez_impl_refuse_verb(diag, -key, RDMAEZ_WHY_QUERY_REFUSED,
						       "ibv_query_pkey");
		if ((key & ~full) == partition && (found < 0 || key & full)) {
			found = i;
			found_key = key;
		}
	}
	if (found < 0)
		return rdmaez_impl_refuse_at(diag, ENOENT, &not_found, pkey);
	*index = found;
	return 0;
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
