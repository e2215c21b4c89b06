/* SPDX-License-Identifier: MIT */
/*
 * What the examples of device memory share: a device whose memory is emulated where it has none, and RC
 * queue pairs that are connected to themselves, so that one process plays both ends.
 */
#ifndef DEVICE_MEMORY_H
#define DEVICE_MEMORY_H

#include <getopt.h>
#include <stdlib.h>

#include <rdmaez.h>
#include <rdmaez/dm.h>
#include <rdmaez/devel/dm_emu.h>

struct device {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct rdmaez_dm_emu emu; /* attached where the device has no memory of its own */
};

/* Ends the program unless an object was made. */
static void need(const void *object, const char *what)
{
	if (object)
		return;
	perror(what);
	exit(EXIT_FAILURE);
}

/* Ends the program with an explanation unless a call worked. */
static void need_no(int error, const struct rdmaez_diag *diag)
{
	if (!error)
		return;
	rdmaez_diag_print(diag, stderr);
	exit(EXIT_FAILURE);
}

/* The same where the errno value is all there is. */
static void need_ok(int error, const char *what)
{
	if (!error)
		return;
	fprintf(stderr, "%s: %s\n", what, rdmaez_errno_str(error));
	exit(EXIT_FAILURE);
}

/* The name of a device, if one is given; --help, and what the example does not take, end the program. */
static const char *device_name(int argc, char **argv, const char *usage)
{
	static const struct option help[] = {{"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
	const int letter = getopt_long(argc, argv, "h", help, NULL);

	if (letter == -1 && argc - optind <= 1)
		return argv[optind];
	fputs(usage, letter == 'h' ? stdout : stderr);
	exit(letter == 'h' ? EXIT_SUCCESS : 2);
}

/* Opens the device of this name, or the first that is ready, and says what memory it has. */
static void device_open(struct device *device, const char *name)
{
	struct ibv_device_attr_ex attr;
	struct rdmaez_diag diag;

	memset(device, 0, sizeof(*device));
	need_no(rdmaez_device_open(name, &device->context, &diag), &diag);
	need_ok(ibv_query_device_ex(device->context, NULL, &attr), "ibv_query_device_ex");
	if (!attr.max_dm_size)
		need_no(rdmaez_dm_emu_attach(device->context, NULL, &device->emu, &diag), &diag);
	printf("%s %s\n", ibv_get_device_name(device->context->device),
	       attr.max_dm_size ? "has device memory of its own"
				: "has no device memory: it is emulated in the host's");
	device->pd = ibv_alloc_pd(device->context);
	need(device->pd, "ibv_alloc_pd");
	device->cq = ibv_create_cq(device->context, 16, NULL, NULL, 0);
	need(device->cq, "ibv_create_cq");
}

static void device_close(struct device *device)
{
	struct rdmaez_diag diag;

	need_ok(ibv_destroy_cq(device->cq), "ibv_destroy_cq");
	need_ok(ibv_dealloc_pd(device->pd), "ibv_dealloc_pd");
	if (rdmaez_dm_emu_is_attached(device->context))
		need_no(rdmaez_dm_emu_detach(&device->emu, &diag), &diag);
	need_ok(ibv_close_device(device->context), "ibv_close_device");
}

/* A queue pair that is its own peer: what it asks of the other end, this device answers. */
static struct ibv_qp *loop_open(const struct device *device)
{
	struct ibv_qp_init_attr init = {
		.send_cq = device->cq,
		.recv_cq = device->cq,
		.cap = {.max_send_wr = 4, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};
	struct rdmaez_qp_opts opts = {0};
	struct rdmaez_diag diag;
	struct ibv_qp *qp = NULL;

	opts.access = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
	need_no(rdmaez_qp_create(device->pd, &init, &qp, &diag), &diag);
	need_no(rdmaez_qp_connect_loopback(qp, qp, &opts, &diag), &diag);
	return qp;
}

/* Posts one request and polls until it is done, at most ten seconds. */
static void perform(struct ibv_qp *qp, struct ibv_send_wr *wr)
{
	struct ibv_wc wc;
	struct rdmaez_wc_batch batch = {.wc = &wc, .capacity = 1, .want = 1};
	struct rdmaez_diag diag;

	need_no(rdmaez_wr_post_send(qp, wr, NULL, &diag), &diag);
	need_no(rdmaez_wc_wait(qp->send_cq, qp, &batch, 10000000000u, &diag), &diag);
}

#endif
