/* SPDX-License-Identifier: MIT */
/*
 * Random requests to create objects and to register memory, each right but for one to three things. What is refused
 * must be explained, with the errno value that the verb returns to the same request by itself. A cause that is called
 * certain is put to the test: a request that is right but for that cause must be refused as well.
 *
 * Queues of a device's full size are left out, because they only take long.
 */
#ifndef RANDOM_OBJECTS_H
#define RANDOM_OBJECTS_H

#include <sys/mman.h>

#include "rig.h"

#include "random.h"

/* A number at the edges of what a limit permits, and of its type. */
static uint32_t near_limit(int limit)
{
	const uint32_t most = limit > 0 ? (uint32_t)limit : 0;
	const uint32_t edges[] = {
		0, 1, 2, most + 1, 2 * most + 2, INT32_MAX, UINT32_C(1) << 31, UINT32_MAX};

	return one_in(3) ? 1 + any(32) : edges[any(sizeof(edges) / sizeof(*edges))];
}

/* What the requests came to. */
struct tally {
	const char *what;
	int made, refused, certain, unexplained, other_errno, wrong;
	int by_error[200];
};

/* What is there for the requests. */
struct world {
	struct rig *rig;
	struct ibv_pd *other_pd;
	struct ibv_cq *cq;
	struct ibv_srq *srq, *other_srq;
	struct ibv_comp_channel *channel;
	/* memory that may be read and written, only read, not touched; and some with a hole in its middle */
	uint8_t *plain, *constant, *closed, *holed;
};

enum {
	AREA = 1 << 16
};

static void show(struct tally *tally, const struct rdmaez_diag *diag, const char *what)
{
	char text[2048];

	rdmaez_diag_format(diag, text, sizeof(text));
	if (tally->wrong + tally->unexplained + tally->other_errno < 8)
		tap_diag("%s: %s: %s", tally->what, what, text);
}

/* Counts a request that came to this; `again` is what the verb alone answered. */
static void count(struct tally *tally, const struct rdmaez_diag *diag, int error, int again)
{
	tally->made++;
	tally->refused += error != 0;
	tally->by_error[error < 199 ? error : 199]++;
	if (error != again) {
		show(tally, diag, rdmaez_errno_str(again));
		tally->other_errno++;
	}
	if (error && (!diag->count || diag->error != error)) {
		show(tally, diag, "not explained");
		tally->unexplained++;
	}
}

/* A cause that was called certain: `error` is what a request gets that is right but for it. */
static void confirm(struct tally *tally, const struct rdmaez_diag *diag, const char *field,
		    int error)
{
	tally->certain++;
	if (error)
		return;
	show(tally, diag, field);
	tally->wrong++;
}

/* ---- Queue pairs ----------------------------------------------------------------------------------- */

static struct ibv_qp_init_attr right_qp(const struct world *world)
{
	struct ibv_qp_init_attr init;

	memset(&init, 0, sizeof(init));
	init.send_cq = init.recv_cq = world->cq;
	init.cap.max_send_wr = init.cap.max_recv_wr = 4;
	init.cap.max_send_sge = init.cap.max_recv_sge = 1;
	init.qp_type = IBV_QPT_RC;
	return init;
}

/* By the verb alone; 0, or the errno value. */
static int make_qp(const struct world *world, struct ibv_qp_init_attr init)
{
	struct ibv_qp *qp;

	errno = 0;
	qp = ibv_create_qp(world->rig->pd, &init);
	if (!qp)
		return errno ? errno : EIO;
	ibv_destroy_qp(qp);
	return 0;
}

static void spoil_qp(const struct world *world, struct ibv_qp_init_attr *init)
{
	static const int types[] = {IBV_QPT_RC,
				    IBV_QPT_UC,
				    IBV_QPT_UD,
				    IBV_QPT_RAW_PACKET,
				    IBV_QPT_XRC_SEND,
				    IBV_QPT_DRIVER,
				    0,
				    1,
				    7,
				    99,
				    255,
				    -1};
	const struct ibv_device_attr *const device = &world->rig->device;

	switch (any(7)) {
	case 0:
		init->cap.max_send_wr = near_limit(device->max_qp_wr);
		break;
	case 1:
		init->cap.max_recv_wr = near_limit(device->max_qp_wr);
		break;
	case 2:
		init->cap.max_send_sge = near_limit(device->max_sge);
		break;
	case 3:
		init->cap.max_recv_sge = near_limit(device->max_sge);
		break;
	case 4:
		init->cap.max_inline_data = near_limit(512);
		break;
	case 5:
		init->srq = one_in(2) ? world->srq : world->other_srq;
		break;
	default:
		init->qp_type = (enum ibv_qp_type)types[any(sizeof(types) / sizeof(*types))];
	}
}

/* Takes over what a finding names; false if that is nothing. */
static bool take_qp(struct ibv_qp_init_attr *to, const struct ibv_qp_init_attr *from,
		    const char *field)
{
	if (strcmp(field, "cap.max_send_wr") == 0)
		to->cap.max_send_wr = from->cap.max_send_wr;
	else if (strcmp(field, "cap.max_recv_wr") == 0)
		to->cap.max_recv_wr = from->cap.max_recv_wr;
	else if (strcmp(field, "cap.max_send_sge") == 0)
		to->cap.max_send_sge = from->cap.max_send_sge;
	else if (strcmp(field, "cap.max_recv_sge") == 0)
		to->cap.max_recv_sge = from->cap.max_recv_sge;
	else if (strcmp(field, "cap.max_inline_data") == 0)
		to->cap.max_inline_data = from->cap.max_inline_data;
	else if (strcmp(field, "qp_type") == 0)
		to->qp_type = from->qp_type;
	else if (strcmp(field, "srq") == 0)
		to->srq = from->srq;
	else
		return false;
	return true;
}

static void one_qp(const struct world *world, struct tally *tally)
{
	struct ibv_qp_init_attr asked = right_qp(world), given;
	struct rdmaez_diag diag;
	struct ibv_qp *qp;
	int error;

	for (uint32_t faults = 1 + any(3); faults; faults--)
		spoil_qp(world, &asked);
	given = asked;
	error = rdmaez_qp_create(world->rig->pd, &given, &qp, &diag);
	if (!error)
		ibv_destroy_qp(qp);
	count(tally, &diag, error, make_qp(world, asked));
	for (unsigned int i = 0; error && i < diag.count; i++) {
		struct ibv_qp_init_attr right = right_qp(world);

		if (diag.finding[i].severity != RDMAEZ_DIAG_ERROR)
			continue;
		/* What a type has is a matter of both. */
		right.qp_type = asked.qp_type;
		if (!make_qp(world, right) || strcmp(diag.finding[i].field, "qp_type") == 0) {
			if (!take_qp(&right, &asked, diag.finding[i].field))
				tap_bail("no queue pair was ever refused for its %s",
					 diag.finding[i].field);
			confirm(tally, &diag, diag.finding[i].field, make_qp(world, right));
		}
	}
}

/* ---- Completion queues ----------------------------------------------------------------------------- */

static int make_cq(const struct world *world, int cqe, int vector)
{
	struct ibv_cq *cq;

	errno = 0;
	cq = ibv_create_cq(world->rig->context, cqe, NULL, world->channel, vector);
	if (!cq)
		return errno ? errno : EIO;
	ibv_destroy_cq(cq);
	return 0;
}

static void resize(const struct world *world, struct ibv_cq *cq, struct tally *tally)
{
	const int cqe = (int)near_limit(world->rig->device.max_cqe);
	struct rdmaez_diag diag;
	const int error = rdmaez_cq_resize(cq, cqe, &diag);

	count(tally, &diag, error, rdmaez_impl_error(ibv_resize_cq(cq, cqe)));
	for (unsigned int i = 0; error && i < diag.count; i++)
		if (diag.finding[i].severity == RDMAEZ_DIAG_ERROR)
			confirm(tally, &diag, diag.finding[i].field,
				rdmaez_impl_error(ibv_resize_cq(cq, cqe)));
}

static void one_cq(const struct world *world, struct tally *tally)
{
	const int cqe = one_in(3) ? 8 : (int)near_limit(world->rig->device.max_cqe);
	const int vector = one_in(2) ? 0 : (int)near_limit(world->rig->context->num_comp_vectors);
	struct rdmaez_diag diag;
	struct ibv_cq *cq;
	const int error =
		rdmaez_cq_create(world->rig->context, cqe, world->channel, vector, &cq, &diag);

	count(tally, &diag, error, make_cq(world, cqe, vector));
	if (!error) {
		resize(world, cq, tally);
		ibv_destroy_cq(cq);
		return;
	}
	for (unsigned int i = 0; i < diag.count; i++) {
		const char *const field = diag.finding[i].field;

		if (diag.finding[i].severity != RDMAEZ_DIAG_ERROR)
			continue;
		if (strcmp(field, "cqe") != 0 && strcmp(field, "comp_vector") != 0)
			tap_bail("no completion queue was ever refused for its %s", field);
		confirm(tally, &diag, field,
			strcmp(field, "cqe") == 0 ? make_cq(world, cqe, 0)
						  : make_cq(world, 8, vector));
	}
}

/* ---- Shared receive queues ------------------------------------------------------------------------- */

static int make_srq(const struct world *world, struct ibv_srq_attr attr)
{
	struct ibv_srq_init_attr init;
	struct ibv_srq *srq;

	memset(&init, 0, sizeof(init));
	init.attr = attr;
	errno = 0;
	srq = ibv_create_srq(world->rig->pd, &init);
	if (!srq)
		return errno ? errno : EIO;
	ibv_destroy_srq(srq);
	return 0;
}

static void one_srq(const struct world *world, struct tally *tally)
{
	const struct ibv_srq_attr right = {.max_wr = 4, .max_sge = 1};
	const struct ibv_device_attr *const device = &world->rig->device;
	struct ibv_srq_init_attr init;
	struct ibv_srq_attr asked = right, alone;
	struct rdmaez_diag diag;
	struct ibv_srq *srq;
	int error;

	if (one_in(2))
		asked.max_wr = near_limit(device->max_srq_wr);
	if (one_in(2))
		asked.max_sge = near_limit(device->max_srq_sge);
	if (one_in(2))
		asked.srq_limit = near_limit(4);
	memset(&init, 0, sizeof(init));
	init.attr = asked;
	error = rdmaez_srq_create(world->rig->pd, &init, &srq, &diag);
	if (!error)
		ibv_destroy_srq(srq);
	count(tally, &diag, error, make_srq(world, asked));
	for (unsigned int i = 0; error && i < diag.count; i++) {
		const char *const field = diag.finding[i].field;

		if (diag.finding[i].severity != RDMAEZ_DIAG_ERROR)
			continue;
		alone = right;
		if (strcmp(field, "attr.max_wr") == 0)
			alone.max_wr = asked.max_wr;
		else if (strcmp(field, "attr.max_sge") == 0)
			alone.max_sge = asked.max_sge;
		else if (strcmp(field, "attr.srq_limit") == 0)
			alone.srq_limit = asked.srq_limit;
		else
			tap_bail("no SRQ was ever refused for its %s", field);
		confirm(tally, &diag, field, make_srq(world, alone));
	}
}

/* ---- Memory ---------------------------------------------------------------------------------------- */

struct area {
	void *addr;
	size_t length;
	unsigned int access;
};

static int reg(const struct world *world, const struct area *area)
{
	struct ibv_mr *mr;

	errno = 0;
	mr = ibv_reg_mr(world->rig->pd, area->addr, area->length, area->access);
	if (!mr)
		return errno ? errno : EIO;
	ibv_dereg_mr(mr);
	return 0;
}

static struct area any_area(const struct world *world)
{
	void *const addresses[] = {
		world->plain,
		world->plain + 5,
		world->constant,
		world->closed,
		world->holed,
		NULL,
		(void *)16,
		(void *)(uintptr_t)0x7ffffffff000,
		(void *)(UINTPTR_MAX - 0xff),
		(void *)(uintptr_t)show,
	};
	const size_t lengths[] = {
		0,
		1,
		3,
		4096,
		AREA,
		AREA + 1,
		2 * AREA,
		3 * AREA,
		(size_t)1 << 32,
		(size_t)1 << 40,
		(size_t)1 << 47,
		SIZE_MAX,
		(size_t)world->rig->device.max_mr_size,
		(size_t)world->rig->device.max_mr_size + 1,
	};
	struct area area = {world->plain, 4096, IBV_ACCESS_LOCAL_WRITE};

	if (!one_in(3))
		area.addr = addresses[any(sizeof(addresses) / sizeof(*addresses))];
	if (!one_in(3))
		area.length = lengths[any(sizeof(lengths) / sizeof(*lengths))];
	if (!one_in(3))
		area.access = one_in(4) ? any(UINT32_MAX) : one_in(2) ? any(1 << 10) : any(16);
	return area;
}

static void one_mr(const struct world *world, struct tally *tally)
{
	const struct area asked = any_area(world);
	struct rdmaez_diag diag;
	struct ibv_mr *mr;
	const int error =
		rdmaez_mr_reg(world->rig->pd, asked.addr, asked.length, asked.access, &mr, &diag);

	if (!error)
		ibv_dereg_mr(mr);
	count(tally, &diag, error, reg(world, &asked));
	for (unsigned int i = 0; error && i < diag.count; i++) {
		const char *const field = diag.finding[i].field;
		struct area alone = {world->plain, 4096, IBV_ACCESS_LOCAL_WRITE};

		if (diag.finding[i].severity != RDMAEZ_DIAG_ERROR)
			continue;
		if (strcmp(field, "access") == 0) {
			alone.access = asked.access;
		} else if (strcmp(field, "addr") == 0 || strcmp(field, "length") == 0) {
			alone.addr = asked.addr;
			alone.length = asked.length;
		} else {
			tap_bail("no memory was ever refused for its %s", field);
		}
		confirm(tally, &diag, field, reg(world, &alone));
	}
}

/* ---- All of it ------------------------------------------------------------------------------------- */

static uint8_t *map(size_t size, int protection)
{
	void *const at = mmap(NULL, size, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		tap_bail("mmap: %s", strerror(errno));
	return (uint8_t *)at;
}

static struct world world_open(struct rig *rig)
{
	struct ibv_srq_init_attr init;
	struct world world;

	memset(&world, 0, sizeof(world));
	memset(&init, 0, sizeof(init));
	init.attr.max_wr = 4;
	init.attr.max_sge = 1;
	world.rig = rig;
	world.other_pd = ibv_alloc_pd(rig->context);
	rig_need(world.other_pd, "ibv_alloc_pd");
	world.channel = ibv_create_comp_channel(rig->context);
	rig_need(world.channel, "ibv_create_comp_channel");
	world.cq = ibv_create_cq(rig->context, 64, NULL, NULL, 0);
	rig_need(world.cq, "ibv_create_cq");
	world.srq = ibv_create_srq(rig->pd, &init);
	world.other_srq = ibv_create_srq(world.other_pd, &init);
	rig_need(world.srq, "ibv_create_srq");
	rig_need(world.other_srq, "ibv_create_srq");
	world.plain = map(AREA, PROT_READ | PROT_WRITE);
	world.constant = map(AREA, PROT_READ);
	world.closed = map(AREA, PROT_NONE);
	world.holed = map(3 * AREA, PROT_READ | PROT_WRITE);
	munmap(world.holed + AREA, AREA);
	return world;
}

static void world_close(struct world *world)
{
	if (ibv_destroy_srq(world->srq) || ibv_destroy_srq(world->other_srq) ||
	    ibv_destroy_cq(world->cq) || ibv_destroy_comp_channel(world->channel) ||
	    ibv_dealloc_pd(world->other_pd))
		tap_bail("cannot destroy what the requests needed: %s", strerror(errno));
}

static void many(const struct world *world, const char *what,
		 void (*one)(const struct world *, struct tally *), int requests)
{
	struct tally tally = {.what = what};
	char refused[256] = "";

	for (int i = 0; i < requests; i++)
		one(world, &tally);
	for (int e = 1; e < 200; e++)
		if (tally.by_error[e])
			snprintf(refused + strlen(refused), sizeof(refused) - strlen(refused),
				 ", %d %s", tally.by_error[e], rdmaez_errno_str(e));
	tap_diag("%s: %d requests, %d accepted%s", what, tally.made, tally.made - tally.refused,
		 refused);
	tap_ok(tally.refused > requests / 20 && tally.refused < tally.made,
	       "%s: the requests are a mixture", what);
	tap_eq_int(tally.unexplained, 0, "%s: each refusal is explained", what);
	tap_eq_int(tally.other_errno, 0, "%s: by the errno value of the verb", what);
	tap_eq_int(tally.wrong, 0, "%s: each of the certain causes is one", what);
	tap_ok(tally.certain > 0, "%s: and there are some", what);
}

static void random_objects(struct rig *rig, int requests)
{
	struct world world = world_open(rig);

	many(&world, "queue pairs", one_qp, requests);
	many(&world, "completion queues", one_cq, requests);
	many(&world, "shared receive queues", one_srq, requests);
	many(&world, "memory", one_mr, requests);
	world_close(&world);
}

#endif
