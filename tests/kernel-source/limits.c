/* SPDX-License-Identifier: MIT */
/*
 * What a driver's record says about limits, asked of the driver: rdma-core's own provider stands above a kernel without an
 * adapter, in which the driver's own functions judge, compiled from the kernel's source. For each limit, more than the
 * device reports is asked for, and nothing else is wrong. If the record says that the driver compares it, that must be
 * refused, and the field blamed; if it does not, the field is never blamed for certain.
 *
 * Arguments: the driver, a directory of its own, the seed, how many numbers to try for each limit.
 */
#define _POSIX_C_SOURCE 200809L

#include <setjmp.h>

#include "rig.h"

#include <rdmaez/implementation.h>

#include "kernel.h"
#include "random.h"

static struct rig rig;

/* ---- The driver ------------------------------------------------------------------------------- */

extern void (*moves_beyond)(void);

static jmp_buf before;
static unsigned int judged; /* requests that have reached the driver */

/* It has asked the kernel or the adapter for something, so it has no objection. */
static void beyond(void)
{
	longjmp(before, 1);
}

static int ask(int (*function)(const struct limits_request *), const struct limits_request *request)
{
	judged++;
	return setjmp(before) ? 0 : function(request);
}

static int ask_cq(const struct limits_request *request)
{
	return ask(limits_cq, request);
}

static int ask_qp(const struct limits_request *request)
{
	return limits_qp ? ask(limits_qp, request) : 0;
}

static int ask_srq(const struct limits_request *request)
{
	return limits_srq ? ask(limits_srq, request) : 0;
}

/* Makes the adapter, with the limits that the driver reports of it. */
static struct limits limits_of_driver(void)
{
	struct limits limits;

	memset(&limits, 0, sizeof(limits));
	if (!setjmp(before))
		limits_begin();
	limits_reported(&limits);
	return limits;
}

static struct kernel_judge judge = {.cq = ask_cq, .qp = ask_qp, .srq = ask_srq};

/* ---- The limits ------------------------------------------------------------------------------- */

/* What is created: the field of the request that is wrong is set to the number, all others are small. */
static int create_cq(const char *field, uint32_t number, struct rdmaez_diag *diag)
{
	struct ibv_cq *cq;
	const int error =
		rdmaez_cq_create(rig.context, field ? (int)number : 4, NULL, 0, &cq, diag);

	if (!error)
		ibv_destroy_cq(cq);
	return error;
}

static int create_srq(const char *field, uint32_t number, struct rdmaez_diag *diag)
{
	struct ibv_srq_init_attr init = {.attr = {.max_wr = 4, .max_sge = 1}};
	struct ibv_srq *srq;
	int error;

	if (field && strcmp(field, "attr.max_wr") == 0)
		init.attr.max_wr = number;
	else if (field)
		init.attr.max_sge = number;
	error = rdmaez_srq_create(rig.pd, &init, &srq, diag);
	if (!error)
		ibv_destroy_srq(srq);
	return error;
}

static struct ibv_cq *cq;
static enum ibv_qp_type type;

static int create_qp(const char *field, uint32_t number, struct rdmaez_diag *diag)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = type};
	struct ibv_qp *qp;
	int error;

	if (field && strcmp(field, "cap.max_send_wr") == 0)
		init.cap.max_send_wr = number;
	else if (field && strcmp(field, "cap.max_recv_wr") == 0)
		init.cap.max_recv_wr = number;
	else if (field && strcmp(field, "cap.max_send_sge") == 0)
		init.cap.max_send_sge = number;
	else if (field)
		init.cap.max_recv_sge = number;
	error = rdmaez_qp_create(rig.pd, &init, &qp, diag);
	if (!error)
		ibv_destroy_qp(qp);
	return error;
}

static const struct limit {
	const char *field;
	unsigned int compared; /* an enum rdmaez_driver_compare bit */
	int (*create)(const char *field, uint32_t number, struct rdmaez_diag *diag);
	size_t reported; /* in struct limits */
} all_limits[] = {
	{"cqe", RDMAEZ_DRIVER_COMPARES_CQE, create_cq, offsetof(struct limits, max_cqe)},
	{"cap.max_send_wr", RDMAEZ_DRIVER_COMPARES_SEND_WR, create_qp,
	 offsetof(struct limits, max_qp_wr)},
	{"cap.max_recv_wr", RDMAEZ_DRIVER_COMPARES_RECV_WR, create_qp,
	 offsetof(struct limits, max_qp_wr)},
	{"cap.max_send_sge", RDMAEZ_DRIVER_COMPARES_SGE, create_qp,
	 offsetof(struct limits, max_sge)},
	{"cap.max_recv_sge", RDMAEZ_DRIVER_COMPARES_SGE, create_qp,
	 offsetof(struct limits, max_sge)},
	{"attr.max_wr", RDMAEZ_DRIVER_COMPARES_SRQ_WR, create_srq,
	 offsetof(struct limits, max_srq_wr)},
	{"attr.max_sge", RDMAEZ_DRIVER_COMPARES_SRQ_SGE, create_srq,
	 offsetof(struct limits, max_srq_sge)},
};

/* More than the limit: next to it, at the edges of types, and anywhere above it. */
static uint32_t beyond_limit(uint32_t most)
{
	const uint32_t edges[] = {most + 1,  most + 2,          2 * most,   2 * most + 2,
				  INT32_MAX, UINT32_C(1) << 31, UINT32_MAX, 8 * most};

	return one_in(2) ? edges[any(sizeof(edges) / sizeof(*edges))] : most + 1 + any(7 * most);
}

/* Whether the field is blamed, and how. */
static bool is_blamed(const struct rdmaez_diag *diag, const char *field,
		      enum rdmaez_severity *severity)
{
	for (unsigned int i = 0; i < diag->count; i++) {
		if (strcmp(diag->finding[i].field, field) != 0)
			continue;
		*severity = diag->finding[i].severity;
		return true;
	}
	return false;
}

static void try_limit(const struct limit *limit, const char *driver, bool compares, int numbers)
{
	const uint32_t most =
		*(const unsigned int *)((const char *)&judge.reported + limit->reported);
	int accepted = 0, unblamed = 0, uncertain = 0, too_certain = 0, other = 0;

	for (int i = 0; i < numbers; i++) {
		const uint32_t number = beyond_limit(most);
		enum rdmaez_severity severity = RDMAEZ_DIAG_ADVICE;
		struct rdmaez_diag diag;
		const int error = limit->create(limit->field, number, &diag);
		const bool blamed = error && is_blamed(&diag, limit->field, &severity);

		accepted += !error;
		if (!error && compares && accepted < 5)
			tap_diag("%s: %u passes, of %u", limit->field, number, most);
		other += error && error != EINVAL;
		unblamed += error && !blamed;
		uncertain += blamed && error == EINVAL && severity != RDMAEZ_DIAG_ERROR;
		too_certain += blamed && severity == RDMAEZ_DIAG_ERROR;
	}
	tap_diag("%s, at most %u: of %d beyond it %d pass, %d are EINVAL", limit->field, most,
		 numbers, accepted, numbers - accepted - other);
	tap_eq_int(unblamed, 0, "%s, %s: what is refused is blamed on it", driver, limit->field);
	if (compares) {
		tap_eq_int(accepted, 0, "%s, %s: the device refuses more than it reports", driver,
			   limit->field);
		tap_eq_int(uncertain, 0, "%s, %s: the field is blamed for certain", driver,
			   limit->field);
	} else {
		tap_eq_int(too_certain, 0, "%s, %s: the field is not blamed for certain", driver,
			   limit->field);
	}
}

int main(int argc, char **argv)
{
	const struct kernel_driver *const driver = argc > 4 ? kernel_driver(argv[1]) : NULL;
	const struct rdmaez_driver *record;
	struct rdmaez_diag diag;
	int tried = 0, error;

	if (!driver)
		tap_bail("usage: limits DRIVER DIRECTORY SEED NUMBERS");
	moves_beyond = beyond;
	judge.reported = limits_of_driver();
	kernel_judge = &judge;
	kernel_begin(driver, argv[2]);
	rig = rig_open_device(driver->device);
	record = rdmaez_driver_of(&rig.device);
	seed = (uint32_t)strtoul(argv[3], NULL, 0);
	tap_diag("%s, seed %u", record->name, seed);
	type = driver->types & 1U << IBV_QPT_RC ? IBV_QPT_RC : IBV_QPT_UD;
	cq = ibv_create_cq(rig.context, 4, NULL, NULL, 0);
	rig_need(cq, "ibv_create_cq");
	for (size_t i = 0; i < sizeof(all_limits) / sizeof(*all_limits); i++) {
		const struct limit *const limit = &all_limits[i];

		error = limit->create(NULL, 0, &diag);
		if (error == EOPNOTSUPP && limit->create == create_srq) {
			tap_diag("%s: this library has none", limit->field);
			continue;
		}
		if (error) {
			rdmaez_diag_print(&diag, stdout);
			tap_bail("%s: nothing is wrong, and still it is refused", limit->field);
		}
		try_limit(limit, record->name, record->compares & limit->compared, atoi(argv[4]));
		tried++;
	}
	tap_ok(judged > 0 && tried >= 5, "the driver has judged %u requests", judged);
	ibv_destroy_cq(cq);
	rig_close(&rig);
	return tap_done();
}
