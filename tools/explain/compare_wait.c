/* SPDX-License-Identifier: MIT */
/* Who waits for whom, and who is at the end. */
#include <stdlib.h>
#include <string.h>

#include "compare_job.h"

/* Why a process waits for another, or what of that other holds it up. */
enum why {
	WHY_DISAGREES,
	WHY_ENDED,
	WHY_STOPPED,
	WHY_GONE,
	WHY_BEFORE_RTR,
	WHY_ERROR,
	WHY_NO_RECEIVE,
	WHY_NO_FILE,
	WHY_UNSEEN,
	WHY_NO_SEND,
	WHYS
};

/* Of which from WHY_NO_SEND on a message is missing that the peer may not owe. */
static const struct {
	const char *one, *many, *next;
} whys[] = {
	[WHY_DISAGREES] = {"whose queue pair disagrees with its own, as said above",
			   "whose queue pairs disagree with theirs, as said above",
			   "mend what disagrees first"},
	[WHY_ENDED] = {"which has ended", "which has ended",
		       "find out why it ended; look at it first"},
	[WHY_STOPPED] = {"which is stopped", "which is stopped",
			 "let it continue: a debugger has stopped it, or SIGSTOP has, which `kill "
			 "-CONT` undoes"},
	[WHY_GONE] = {"which has destroyed its queue pair", "which has destroyed its queue pairs",
		      "have both ends agree to finish before either destroys a queue pair"},
	[WHY_BEFORE_RTR] = {"which has not moved its queue pair to RTR",
			    "which has not moved its queue pairs to RTR",
			    "find out where it is: it has not finished connecting"},
	[WHY_ERROR] =
		{"whose queue pair is in ERR", "whose queue pairs are in ERR",
		 "see its first failed completion or event, which rdmaez-explain has reported"},
	[WHY_NO_RECEIVE] = {"which has not posted a receive for what was sent",
			    "which has not posted a receive for what was sent",
			    "find out where it is, and whether it reposts each receive that it has "
			    "used; with rnr_retry 7 its peers wait forever"},
	[WHY_NO_FILE] = {"of which there is no file here", "of which there is no file here",
			 "start all processes of the job with rdmaez-explain --json"},
	[WHY_UNSEEN] =
		{"where nothing visible holds it up", "where nothing visible holds them up",
		 "compare the counters of both ports before and after a minute (rdmaez-doctor): "
		 "what was sent may be lost on the way"},
	[WHY_NO_SEND] = {"which has no message for it under way",
			 "which has no messages for them under way",
			 "find out where it is: what it should send comes from its program"},
};

struct edge {
	uint32_t from, to; /* processes; to == processes: one of which there is no file */
	uint32_t end;      /* whose request or receive waits */
	enum why why;
};

struct graph {
	struct explain_job *job;
	struct edge *edge;
	size_t edges, room;
	size_t *latest; /* for each that is waited for, 1 more than the place of its latest edge */
	/* For each process and the one without a file: its edges, as indices of them in order. */
	uint32_t *out, *out_at, *in, *in_at;
	uint32_t *parent; /* the edge on the way to the end, from the last walk */
	uint32_t *queue;
	bool *is_weak; /* it only waits for messages */
	bool *is_lost; /* a signal has ended it while others went on to wait, or it is stopped */
	bool *seen;    /* it is known where this one's chains end */
};

enum {
	IDLE_MS = 1000,
	MOST_ENDS = 16,
	LONGEST_CHAIN = 8
};

#define HAS(end, member) EXPLAIN_STATE_HAS(QP, (end)->qp, member)

/* ---- Who waits ---------------------------------------------------------------------------------------- */

/* A state may be from the midst of work: only what has stood still for a second waits. */
static bool waits(const struct explain_job *job, const struct explain_end *end)
{
	const struct explain_state *const state = job->process[end->process].state;

	if (explain_has_ended(state))
		return false;
	if (HAS(end, idle_ms))
		return end->qp->idle_ms >= IDLE_MS;
	return EXPLAIN_STATE_HAS(PROCESS, state, signal) ||
	       (state->reason && !strcmp(state->reason, "wait"));
}

/*
 * Whether a signal has ended the peer's process, or stopped it, and this end waits for that: it lives on, or was ended later
 * and had moved until then. Who is ended together with all others has waited as they have.
 */
static bool has_lost_peer(const struct explain_job *job, const struct explain_end *end)
{
	const struct explain_state *const own = job->process[end->process].state;
	const struct explain_state *const peer =
		end->peer == EXPLAIN_NONE ? NULL : job->process[job->end[end->peer].process].state;

	if (!peer || peer == own)
		return false;
	if (EXPLAIN_STATE_HAS(PROCESS, peer, stopped) && peer->stopped)
		return true;
	if (!peer->reason || strcmp(peer->reason, "end") != 0 ||
	    !EXPLAIN_STATE_HAS(PROCESS, peer, signal) ||
	    !EXPLAIN_STATE_HAS(PROCESS, peer, time_ms) || !EXPLAIN_STATE_HAS(PROCESS, own, time_ms))
		return false;
	if (own->reason && strcmp(own->reason, "end") != 0)
		return own->time_ms >= peer->time_ms;
	return HAS(end, idle_ms) && own->time_ms >= peer->time_ms + IDLE_MS &&
	       own->time_ms + IDLE_MS >= peer->time_ms + end->qp->idle_ms;
}

static bool same_device(const char *a, const char *b)
{
	return a && b && !strcmp(a, b);
}

/* The completion queue that this end's process has left alone, without asking for an event; NULL if it has not. */
static const struct explain_state_cq *unpolled(const struct explain_job *job,
					       const struct explain_end *end, bool is_send)
{
	const struct explain_state *const state = job->process[end->process].state;
	const bool is_known = is_send ? HAS(end, send_cq) : HAS(end, recv_cq);
	const uint32_t number = is_send ? end->qp->send_cq : end->qp->recv_cq;

	for (size_t i = 0; is_known && i < state->cqs_count; i++) {
		const struct explain_state_cq *const cq = &state->cqs[i];

		if (!EXPLAIN_STATE_HAS(CQ, cq, cq_num) || cq->cq_num != number ||
		    !same_device(cq->device, end->qp->device))
			continue;
		return EXPLAIN_STATE_HAS(CQ, cq, polled_ms) && cq->polled_ms >= IDLE_MS &&
				       EXPLAIN_STATE_HAS(CQ, cq, armed) && !cq->armed
			       ? cq
			       : NULL;
	}
	return NULL;
}

/* Receives that are posted and not used; false: not known. */
static bool receives_of(const struct explain_job *job, const struct explain_end *end,
			uint64_t *left)
{
	const struct explain_state *const state = job->process[end->process].state;
	uint64_t posted = end->qp->recvs_posted, done = end->qp->recvs_completed;
	bool is_known = HAS(end, recvs_posted) && HAS(end, recvs_completed);

	if (HAS(end, srq)) {
		is_known = false;
		for (size_t i = 0; i < state->srqs_count && !is_known; i++) {
			const struct explain_state_srq *const srq = &state->srqs[i];

			if (!EXPLAIN_STATE_HAS(SRQ, srq, srq_num) || srq->srq_num != end->qp->srq ||
			    !same_device(srq->device, end->qp->device))
				continue;
			is_known = EXPLAIN_STATE_HAS(SRQ, srq, posted) &&
				   EXPLAIN_STATE_HAS(SRQ, srq, completed);
			posted = srq->posted;
			done = srq->completed;
		}
	}
	*left = posted > done ? posted - done : 0;
	return is_known;
}

static bool takes_receive(const struct explain_state_qp *qp)
{
	const char *const opcode = explain_opcode(qp);

	return !strncmp(opcode, "SEND", 4) || !strcmp(opcode, "RDMA_WRITE_WITH_IMM");
}

/* Why a process does nothing any more. `otherwise`: it may. */
static enum why why_lost(const struct graph *graph, uint32_t process, enum why otherwise)
{
	const struct explain_state *const state = graph->job->process[process].state;

	if (explain_has_ended(state))
		return WHY_ENDED;
	if (!graph->is_lost[process])
		return otherwise;
	return EXPLAIN_STATE_HAS(PROCESS, state, stopped) && state->stopped ? WHY_STOPPED
									    : WHY_ENDED;
}

static enum why why_peer(const struct graph *graph, const struct explain_end *end)
{
	const struct explain_job *const job = graph->job;
	const struct explain_end *const peer = &job->end[end->peer];
	const enum why lost = why_lost(graph, peer->process, WHY_UNSEEN);
	uint64_t left;

	if (end->disagrees)
		return WHY_DISAGREES;
	if (lost != WHY_UNSEEN)
		return lost;
	if (!explain_is_later(job, end))
		return WHY_UNSEEN;
	if (peer->qp->gone)
		return WHY_GONE;
	if (peer->state == EXPLAIN_RESET || peer->state == EXPLAIN_INIT)
		return WHY_BEFORE_RTR;
	if (peer->state == EXPLAIN_ERR)
		return WHY_ERROR;
	if (takes_receive(end->qp) && receives_of(job, peer, &left) && !left)
		return WHY_NO_RECEIVE;
	return WHY_UNSEEN;
}

static void add(struct graph *graph, uint32_t from, uint32_t to, uint32_t end, enum why why)
{
	const size_t at = graph->latest[to];

	if (from == to)
		return;
	/* Of several from one to another that which says most. */
	if (at && graph->edge[at - 1].from == from) {
		if (why < graph->edge[at - 1].why)
			graph->edge[at - 1] = (struct edge){from, to, end, why};
		return;
	}
	if (graph->edges == graph->room) {
		graph->room = graph->room ? graph->room * 2 : 256;
		graph->edge = explain_job_realloc(graph->edge, graph->room * sizeof(*graph->edge));
	}
	graph->edge[graph->edges++] = (struct edge){from, to, end, why};
	graph->latest[to] = graph->edges;
}

/* Requests of its own that are not done. */
static void add_sends(struct graph *graph, uint32_t process)
{
	struct explain_job *const job = graph->job;

	for (uint32_t i = 0; i < job->process[process].count; i++) {
		const uint32_t at = job->process[process].first + i;
		const struct explain_end *const end = &job->end[at];

		if (!explain_due_sends(end) || !waits(job, end) || unpolled(job, end, true))
			continue;
		if (end->peer != EXPLAIN_NONE)
			add(graph, process, job->end[end->peer].process, at, why_peer(graph, end));
		else if (end->no_such_file)
			add(graph, process, job->processes, at, WHY_NO_FILE);
	}
}

/* Where none of its own is under way, and nothing moves: messages that do not come. */
static void add_receives(struct graph *graph, uint32_t process)
{
	struct explain_job *const job = graph->job;

	for (uint32_t i = 0; i < job->process[process].count; i++) {
		const struct explain_end *const end = &job->end[job->process[process].first + i];

		if (!end->qp->gone && !waits(job, end))
			return;
	}
	for (uint32_t i = 0; i < job->process[process].count; i++) {
		const uint32_t at = job->process[process].first + i;
		const struct explain_end *const end = &job->end[at];
		uint32_t peer;
		uint64_t left;

		if (end->qp->gone || end->state == EXPLAIN_ERR || end->peer == EXPLAIN_NONE ||
		    end->type == EXPLAIN_UD || !receives_of(job, end, &left) || !left ||
		    unpolled(job, end, false))
			continue;
		peer = job->end[end->peer].process;
		if (explain_due_sends(&job->end[end->peer]) && !graph->is_lost[peer])
			add(graph, process, peer, at, WHY_UNSEEN);
		else
			add(graph, process, peer, at, why_lost(graph, peer, WHY_NO_SEND));
	}
}

/* ---- The graph ------------------------------------------------------------------------------------------ */

static void sum_up(uint32_t *at, uint32_t nodes)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i <= nodes; i++) {
		const uint32_t is = at[i];

		at[i] = sum;
		sum += is;
	}
}

/* at[n] up to at[n + 1]: places in `of` for node n. */
static void sort_edges(const struct graph *graph, bool is_in, uint32_t nodes, uint32_t *of,
		       uint32_t *at)
{
	uint32_t *const next = explain_job_zeros(nodes + 1, sizeof(*next));

	for (size_t i = 0; i < graph->edges; i++)
		at[is_in ? graph->edge[i].to : graph->edge[i].from]++;
	sum_up(at, nodes);
	memcpy(next, at, (nodes + 1) * sizeof(*next));
	for (size_t i = 0; i < graph->edges; i++)
		of[next[is_in ? graph->edge[i].to : graph->edge[i].from]++] = (uint32_t)i;
	free(next);
}

static void sort_both_ways(struct graph *graph, uint32_t nodes)
{
	memset(graph->out_at, 0, (nodes + 1) * sizeof(*graph->out_at));
	memset(graph->in_at, 0, (nodes + 1) * sizeof(*graph->in_at));
	sort_edges(graph, false, nodes, graph->out, graph->out_at);
	sort_edges(graph, true, nodes, graph->in, graph->in_at);
}

static bool has_out(const struct graph *graph, uint32_t node)
{
	return graph->out_at[node + 1] > graph->out_at[node];
}

static uint32_t direct(const struct graph *graph, uint32_t node)
{
	return graph->in_at[node + 1] - graph->in_at[node];
}

/* All that wait for this one, the nearest first, into the queue. */
static uint32_t walk_back(const struct graph *graph, uint32_t end, uint32_t nodes)
{
	uint32_t first = 0, count = 1;

	memset(graph->parent, 0xff, nodes * sizeof(*graph->parent));
	graph->queue[0] = end;
	while (first < count) {
		const uint32_t node = graph->queue[first++];

		for (uint32_t i = graph->in_at[node]; i < graph->in_at[node + 1]; i++) {
			const uint32_t from = graph->edge[graph->in[i]].from;

			if (from == end || graph->parent[from] != EXPLAIN_NONE)
				continue;
			graph->parent[from] = graph->in[i];
			graph->queue[count++] = from;
		}
	}
	for (uint32_t i = 0; i < count; i++)
		graph->seen[graph->queue[i]] = true;
	return count - 1;
}

/* ---- Telling -------------------------------------------------------------------------------------------- */

static void tell_request(const struct graph *graph, const struct edge *edge)
{
	const struct explain_end *const end = &graph->job->end[edge->end];
	const char *const opcode = explain_opcode(end->qp);
	char age[64] = "";
	uint64_t left;

	if (explain_due_sends(end)) {
		if (HAS(end, oldest_ms))
			snprintf(age, sizeof(age), " for %llu.%llu s",
				 (unsigned long long)(end->qp->oldest_ms / 1000),
				 (unsigned long long)(end->qp->oldest_ms / 100 % 10));
		explain_row(graph->job, edge->end, "%s under way%s, %llu not completed",
			    opcode[0] ? opcode : "a request", age,
			    (unsigned long long)explain_due_sends(end));
	} else if (receives_of(graph->job, end, &left)) {
		explain_row(graph->job, edge->end, "%llu receive%s posted, and no message comes",
			    (unsigned long long)left, left == 1 ? "" : "s");
	}
}

/* Of the one that is waited for: the state of the queue pair, and whether it looks for completions. */
static void tell_end(const struct graph *graph, const struct edge *edge)
{
	const uint32_t at = graph->job->end[edge->end].peer;
	const struct explain_state_cq *cq;
	const struct explain_end *end;
	const char *state;
	bool is_new;

	if (at == EXPLAIN_NONE)
		return;
	end = &graph->job->end[at];
	state = end->qp->gone ? "destroyed" : end->qp->state ? end->qp->state : "state unknown";
	if (HAS(end, recvs_posted) && HAS(end, recvs_completed) && !HAS(end, srq))
		explain_row(graph->job, at, "%s, %llu receives posted, %llu completed", state,
			    (unsigned long long)end->qp->recvs_posted,
			    (unsigned long long)end->qp->recvs_completed);
	else
		explain_row(graph->job, at, "%s", state);
	cq = unpolled(graph->job, end, false);
	if (!cq && explain_due_sends(end))
		cq = unpolled(graph->job, end, true);
	is_new = cq && EXPLAIN_STATE_HAS(CQ, cq, polls) && !cq->polls;
	if (cq)
		explain_process_row(graph->job, end->process,
				    "CQ %u of %.64s was %s %llu.%llu s before%s, and is not armed",
				    cq->cq_num, cq->device ? cq->device : "?",
				    is_new ? "made" : "last polled",
				    (unsigned long long)(cq->polled_ms / 1000),
				    (unsigned long long)(cq->polled_ms / 100 % 10),
				    is_new ? ", was never polled" : "");
}

/* From the one that is farthest away. */
static void tell_chain(const struct graph *graph, uint32_t farthest)
{
	struct explain_job *const job = graph->job;
	char text[(LONGEST_CHAIN + 1) * 128], name[EXPLAIN_NAME];
	unsigned int length = 0;
	uint32_t node = farthest;

	snprintf(text, sizeof(text), "%.100s", explain_name(job, node, name));
	while (graph->parent[node] != EXPLAIN_NONE && length < LONGEST_CHAIN) {
		const size_t at = strlen(text);

		node = graph->edge[graph->parent[node]].to;
		snprintf(text + at, sizeof(text) - at, "%s waits for %.100s",
			 length++ ? ", which" : "",
			 node < job->processes ? explain_name(job, node, name)
					       : "one without a file");
	}
	if (length > 1)
		explain_say(job, 4, "The longest chain: %s%s", text,
			    graph->parent[node] == EXPLAIN_NONE ? "" : ", and so on");
}

/*
 * The reason that most of those have who wait for it directly, of what is certain to hold them up if there is that; the first
 * edge with it.
 */
static const struct edge *usual_edge(const struct graph *graph, uint32_t node, size_t *count)
{
	const struct edge *first[WHYS] = {NULL};
	size_t times[WHYS] = {0}, best = 0;

	for (uint32_t i = graph->in_at[node]; i < graph->in_at[node + 1]; i++) {
		const struct edge *const edge = &graph->edge[graph->in[i]];

		if (!times[edge->why]++)
			first[edge->why] = edge;
	}
	for (size_t i = 1; i < WHYS; i++)
		if (times[i] > times[best] &&
		    (i < WHY_UNSEEN || best >= WHY_UNSEEN || !times[best]))
			best = i;
	*count = times[best];
	return first[best];
}

static enum explain_level level_of(enum why why)
{
	return why >= WHY_NO_SEND ? EXPLAIN_LIKELY : EXPLAIN_WAITS;
}

static const char *likely(enum why why)
{
	return why >= WHY_NO_SEND ? "Likely: " : "";
}

static void tell_wait(struct graph *graph, uint32_t node, uint32_t nodes)
{
	struct explain_job *const job = graph->job;
	const uint32_t count = walk_back(graph, node, nodes);
	bool *const in = explain_job_zeros(job->processes, sizeof(*in));
	char name[EXPLAIN_NAME], names[EXPLAIN_NAME];
	const struct edge *edge;
	size_t alike;

	for (uint32_t i = 1; i <= count; i++)
		in[graph->queue[i]] = true;
	edge = usual_edge(graph, node, &alike);
	explain_part_begin(job, level_of(edge->why), count);
	explain_names(job, in, names);
	explain_say(job, 0, "%s%s %s for %s, %s", likely(edge->why), names,
		    count == 1 ? "waits" : "wait",
		    node < job->processes ? explain_name(job, node, name) : "another process",
		    alike == 1 ? whys[edge->why].one : whys[edge->why].many);
	explain_say(job, 2, "Next: %s.", whys[edge->why].next);
	tell_end(graph, edge);
	tell_request(graph, edge);
	if (direct(graph, node) > 1)
		explain_say(job, 4, "and %u more that wait for it directly",
			    direct(graph, node) - 1);
	tell_chain(graph, graph->queue[count]);
	free(in);
}

/* Ends that one process waits for each, and for one reason, are told at once. */
static void tell_singles(struct graph *graph, const uint32_t *single, size_t count, enum why why)
{
	struct explain_job *const job = graph->job;
	bool *const in = explain_job_zeros(job->processes, sizeof(*in));
	char name[EXPLAIN_NAME];
	const struct edge *first = NULL;
	size_t times = 0;

	for (size_t i = 0; i < count; i++) {
		const struct edge *const edge = &graph->edge[graph->in[graph->in_at[single[i]]]];

		if (edge->why != why)
			continue;
		first = first ? first : edge;
		in[edge->from] = true;
		times++;
	}
	if (times) {
		explain_part_begin(job, level_of(why), times);
		explain_say(job, 0, "%s%s wait for another each, %s", likely(why),
			    explain_names(job, in, name), whys[why].one);
		explain_say(job, 2, "Next: %s.", whys[why].next);
		tell_end(graph, first);
		tell_request(graph, first);
		if (times > 1)
			explain_say(job, 4, "and %zu more", times - 1);
	}
	free(in);
}

/* ---- Circles ---------------------------------------------------------------------------------------------- */

/* Tarjan's components, without recursion, of what leads to no end. */
struct circles {
	uint32_t *number, *low, *stack, *call, *next, *part;
	bool *is_on;
	uint32_t count, depth, parts;
};

/* Those of one component that wait; or, where no request is under way, of all such components. */
static void tell_circle(struct graph *graph, const uint32_t *part, const bool *is_told,
			size_t circles, bool is_sure)
{
	struct explain_job *const job = graph->job;
	bool *const in = explain_job_zeros(job->processes, sizeof(*in));
	char name[EXPLAIN_NAME], number[48] = "";
	const struct edge *shown[3];
	size_t count = 0, rows = 0;

	for (uint32_t i = 0; i < job->processes; i++)
		count += in[i] = part[i] != EXPLAIN_NONE && is_told[part[i]];
	for (size_t i = 0; i < graph->edges && rows < 3; i++)
		if (in[graph->edge[i].from] &&
		    (!rows || shown[rows - 1]->from != graph->edge[i].from))
			shown[rows++] = &graph->edge[i];
	if (circles > 1)
		snprintf(number, sizeof(number), ", in %zu groups", circles);
	explain_part_begin(job, is_sure ? EXPLAIN_WAITS : EXPLAIN_LIKELY, count);
	explain_say(job, 0, "%s%s wait for each other%s",
		    is_sure ? "" : "Likely: ", explain_names(job, in, name), number);
	explain_say(job, 2, "Next: %s.",
		    is_sure ? "post receives before sends at one of them, or more receives"
			    : "find out whose turn it is to send: each has receives posted, and no "
			      "message is "
			      "under way");
	for (size_t i = 0; i < rows; i++)
		tell_request(graph, shown[i]);
	if (count > rows)
		explain_say(job, 4, "and %zu more", count - rows);
	free(in);
}

static void visit(const struct graph *graph, struct circles *c, uint32_t root)
{
	uint32_t calls = 1;

	c->call[0] = root;
	while (calls) {
		const uint32_t node = c->call[calls - 1];

		if (!c->number[node]) {
			c->number[node] = c->low[node] = ++c->count;
			c->stack[c->depth++] = node;
			c->is_on[node] = true;
			c->next[node] = graph->out_at[node];
		}
		if (c->next[node] < graph->out_at[node + 1]) {
			const uint32_t to = graph->edge[graph->out[c->next[node]++]].to;

			if (!c->number[to])
				c->call[calls++] = to;
			else if (c->is_on[to] && c->number[to] < c->low[node])
				c->low[node] = c->number[to];
			continue;
		}
		if (c->low[node] == c->number[node]) {
			uint32_t member;

			do {
				member = c->stack[--c->depth];
				c->is_on[member] = false;
				c->part[member] = c->parts;
			} while (member != node);
			c->parts++;
		}
		calls--;
		if (calls && c->low[node] < c->low[c->call[calls - 1]])
			c->low[c->call[calls - 1]] = c->low[node];
	}
}

/*
 * In what leads to no end, one that only waits for messages, and for which others wait, is taken for the end: it owes
 * a receive or the like for certain, and whether a message is owed to it is a guess. The answer is whether there was one.
 */
static bool break_circles(struct graph *graph, uint32_t nodes)
{
	bool *const is_owing = explain_job_zeros(nodes, sizeof(*is_owing));
	size_t kept = 0;
	bool broken;

	for (size_t i = 0; i < graph->edges; i++)
		if (graph->edge[i].why < WHY_NO_SEND && !graph->is_weak[graph->edge[i].from])
			is_owing[graph->edge[i].to] = !graph->seen[graph->edge[i].to];
	for (size_t i = 0; i < graph->edges; i++) {
		const uint32_t from = graph->edge[i].from;

		if (!graph->is_weak[from] || !is_owing[from])
			graph->edge[kept++] = graph->edge[i];
	}
	broken = kept < graph->edges;
	graph->edges = kept;
	free(is_owing);
	return broken;
}

static void find_circles(struct graph *graph, uint32_t nodes)
{
	struct circles c = {.number = explain_job_zeros(nodes, sizeof(*c.number)),
			    .low = explain_job_zeros(nodes, sizeof(*c.low)),
			    .stack = explain_job_zeros(nodes, sizeof(*c.stack)),
			    .call = explain_job_zeros(nodes, sizeof(*c.call)),
			    .next = explain_job_zeros(nodes, sizeof(*c.next)),
			    .part = explain_job_zeros(nodes, sizeof(*c.part)),
			    .is_on = explain_job_zeros(nodes, sizeof(*c.is_on))};
	bool *leaves, *is_sure, *is_told;
	size_t unsure = 0, told = 0;

	memset(c.part, 0xff, nodes * sizeof(*c.part));
	for (uint32_t i = 0; i < nodes; i++)
		if (!graph->seen[i] && has_out(graph, i) && !c.number[i])
			visit(graph, &c, i);
	/* Only where a chain of waiting ends: what leaves a component leads to another. */
	leaves = explain_job_zeros(c.parts, sizeof(*leaves));
	is_sure = explain_job_zeros(c.parts, sizeof(*is_sure));
	is_told = explain_job_zeros(c.parts, sizeof(*is_told));
	for (size_t i = 0; i < graph->edges; i++) {
		const uint32_t from = c.part[graph->edge[i].from], to = c.part[graph->edge[i].to];

		if (from == EXPLAIN_NONE)
			continue;
		leaves[from] = leaves[from] || from != to;
		is_sure[from] = is_sure[from] || graph->edge[i].why < WHY_NO_SEND;
	}
	for (uint32_t i = 0; i < c.parts && told < MOST_ENDS; i++) {
		if (leaves[i] || !is_sure[i])
			continue;
		is_told[i] = true;
		tell_circle(graph, c.part, is_told, 1, true);
		is_told[i] = false;
		told++;
	}
	for (uint32_t i = 0; i < c.parts; i++)
		unsure += is_told[i] = !leaves[i] && !is_sure[i];
	if (unsure)
		tell_circle(graph, c.part, is_told, unsure, false);
	free(is_sure);
	free(is_told);
	free(leaves);
	free(c.number);
	free(c.low);
	free(c.stack);
	free(c.call);
	free(c.next);
	free(c.part);
	free(c.is_on);
}

/* ---- All of it -------------------------------------------------------------------------------------------- */

static const struct graph *sorting;

static int by_direct(const void *left, const void *right)
{
	const uint32_t *const a = left, *const b = right;

	if (direct(sorting, *a) != direct(sorting, *b))
		return direct(sorting, *a) > direct(sorting, *b) ? -1 : 1;
	return *a < *b ? -1 : *a > *b;
}

/* Nobody waits for the one that waits for this one, and it waits for nobody else. */
static bool is_single(const struct graph *graph, uint32_t node)
{
	uint32_t from;

	if (direct(graph, node) != 1)
		return false;
	from = graph->edge[graph->in[graph->in_at[node]]].from;
	return !direct(graph, from) && graph->out_at[from + 1] - graph->out_at[from] == 1;
}

static void find_ends(struct graph *graph, uint32_t nodes)
{
	uint32_t *const ends = explain_job_zeros(nodes, sizeof(*ends));
	uint32_t *const single = explain_job_zeros(nodes, sizeof(*single));
	uint32_t count = 0;
	size_t singles = 0, told = 0;

	for (uint32_t i = 0; i < nodes; i++)
		if (direct(graph, i) && !has_out(graph, i) && !graph->seen[i])
			ends[count++] = i;
	sorting = graph;
	if (count)
		qsort(ends, count, sizeof(*ends), by_direct);
	for (uint32_t i = 0; i < count; i++) {
		if (count > 1 && is_single(graph, ends[i])) {
			single[singles++] = ends[i];
			graph->seen[ends[i]] = true;
			graph->seen[graph->edge[graph->in[graph->in_at[ends[i]]]].from] = true;
		} else if (told++ < MOST_ENDS) {
			tell_wait(graph, ends[i], nodes);
		} else {
			walk_back(graph, ends[i], nodes);
		}
	}
	if (singles == 1)
		tell_wait(graph, single[0], nodes);
	for (int why = 0; singles > 1 && why < WHYS; why++)
		tell_singles(graph, single, singles, (enum why)why);
	free(ends);
	free(single);
}

void explain_waits(struct explain_job *job)
{
	const uint32_t nodes = job->processes + 1;
	struct graph graph = {.job = job};

	graph.latest = explain_job_zeros(nodes, sizeof(*graph.latest));
	graph.is_weak = explain_job_zeros(nodes, sizeof(*graph.is_weak));
	graph.is_lost = explain_job_zeros(nodes, sizeof(*graph.is_lost));

	for (uint32_t i = 0; i < job->ends; i++)
		if (has_lost_peer(job, &job->end[i]))
			graph.is_lost[job->end[job->end[i].peer].process] = true;
	for (uint32_t i = 0; i < job->processes; i++) {
		const size_t before = graph.edges;

		if (graph.is_lost[i])
			continue;
		add_sends(&graph, i);
		graph.is_weak[i] = graph.edges == before;
		if (graph.is_weak[i])
			add_receives(&graph, i);
	}
	if (graph.edges) {
		graph.out = explain_job_zeros(graph.edges, sizeof(*graph.out));
		graph.in = explain_job_zeros(graph.edges, sizeof(*graph.in));
		graph.out_at = explain_job_zeros(nodes + 1, sizeof(*graph.out_at));
		graph.in_at = explain_job_zeros(nodes + 1, sizeof(*graph.in_at));
		graph.parent = explain_job_zeros(nodes, sizeof(*graph.parent));
		graph.queue = explain_job_zeros(nodes, sizeof(*graph.queue));
		graph.seen = explain_job_zeros(nodes, sizeof(*graph.seen));
		sort_both_ways(&graph, nodes);
		find_ends(&graph, nodes);
		if (break_circles(&graph, nodes)) {
			sort_both_ways(&graph, nodes);
			find_ends(&graph, nodes);
		}
		find_circles(&graph, nodes);
		free(graph.out);
		free(graph.in);
		free(graph.out_at);
		free(graph.in_at);
		free(graph.parent);
		free(graph.queue);
		free(graph.seen);
	}
	free(graph.edge);
	free(graph.latest);
	free(graph.is_weak);
	free(graph.is_lost);
}
