/* SPDX-License-Identifier: MIT */
/*
 * The explanation path under libFuzzer: any request, on a device that answers anything. Nothing may be
 * read or written out of bounds, and every text keeps to its buffer. With an argument that is a
 * number and no fuzzer, it makes that many random inputs itself and prints each record's JSON.
 */
#include <stdlib.h>

#include <rdmaez.h>
#include <rdmaez/implementation.h>

#include "fake_verbs.h"

struct input {
	struct ibv_qp_attr attr;
	int mask;
	uint8_t type, said, state, error, transport, size;
	uint8_t driver, release, query; /* which driver, in which kernel, and how it answers */
	struct ibv_device_attr device;
	struct ibv_port_attr port;
	struct fake_gid gid[8];
	uint16_t pkey[8];
	char name[16];
};

static const enum ibv_qp_type types[] = {
	IBV_QPT_RC,       IBV_QPT_UC,       IBV_QPT_UD,     IBV_QPT_RAW_PACKET,
	IBV_QPT_XRC_SEND, IBV_QPT_XRC_RECV, IBV_QPT_DRIVER,
};

/* What the caller says of a driver type, which may be wrong. */
static const enum ibv_qp_type said[] = {RDMAEZ_QPT_SRD, RDMAEZ_QPT_DCI, RDMAEZ_QPT_DCT,
					IBV_QPT_DRIVER, IBV_QPT_RC};

static const char *const releases[] = {"6.1.0", "6.4.0", "6.12.0", "7.2.0", NULL};

static void check_text(int (*write)(const struct rdmaez_diag *, char *, size_t),
		       const struct rdmaez_diag *diag, size_t size)
{
	/* Exactly as large as promised, so that the sanitizer sees a byte too many. */
	char *buf = (char *)malloc(size + 1);
	const int length = write(diag, NULL, 0);

	if (!buf || write(diag, buf, size) != length)
		abort();
	if (size && strlen(buf) != ((size_t)length < size ? (size_t)length : size - 1))
		abort();
	free(buf);
}

static void explain(const struct input *in, struct rdmaez_diag *diag)
{
	struct fake_device *dev = fake_reset();
	struct ibv_context *context;
	struct ibv_qp *qp;
	struct ibv_qp_attr attr = in->attr;
	const enum ibv_qp_type type = said[in->said % 5];
	uint32_t vendor_id, part_id;
	int answer;

	fake_uname(releases[in->release % 5]);
	fake_profile(dev, (enum fake_profile)(in->driver % FAKE_PROFILE_COUNT));
	vendor_id = dev->attr.orig_attr.vendor_id;
	part_id = dev->attr.orig_attr.vendor_part_id;
	memcpy(dev->verbs.name, in->name, sizeof(in->name) - 1);
	context = fake_open(dev);
	qp = fake_qp(context, types[in->type % 7]);
	fake_qp_force(qp, (enum ibv_qp_state)(in->state % 7));
	/* The device turns strange once its objects are made. */
	dev->attr.orig_attr = in->device;
	if (in->query & 1) { /* but for its driver */
		dev->attr.orig_attr.vendor_id = vendor_id;
		dev->attr.orig_attr.vendor_part_id = part_id;
	}
	if (in->query & 2)
		dev->habits.query_errno = in->query & 4 ? EOPNOTSUPP : in->query;
	if (in->query & 8)
		dev->habits.query_refused = in->query << 3;
	if (in->query & 16)
		dev->habits.query_unfilled = -1;
	dev->habits.stale = in->query;
	dev->verbs.transport_type = in->transport % 4 ? IBV_TRANSPORT_IB : IBV_TRANSPORT_IWARP;
	dev->port[1].attr = in->port;
	if (in->port.gid_tbl_len > FAKE_MAX_GIDS || in->port.gid_tbl_len < 0)
		dev->port[1].attr.gid_tbl_len = in->port.gid_tbl_len % FAKE_MAX_GIDS;
	if (in->port.pkey_tbl_len > FAKE_MAX_PKEYS)
		dev->port[1].attr.pkey_tbl_len = FAKE_MAX_PKEYS;
	memcpy(dev->port[1].gid, in->gid, sizeof(in->gid));
	memcpy(dev->port[1].pkey, in->pkey, sizeof(in->pkey));

	answer = rdmaez_qp_check_as(qp, type, &attr, in->mask, diag);
	if (answer != rdmaez_qp_check_as(qp, type, &attr, in->mask, NULL) ||
	    answer != diag->error || answer < 0)
		abort();
	if ((answer != 0) != (diag->count && diag->finding[0].severity == RDMAEZ_DIAG_ERROR))
		abort();
	fake_fail(FAKE_MODIFY_QP, 1, in->error ? in->error : EINVAL);
	if (rdmaez_qp_modify(qp, &attr, in->mask, diag) == 0 || !diag->count)
		abort();
	check_text(rdmaez_diag_format, diag, (size_t)in->size * 16);
	check_text(rdmaez_diag_line, diag, (size_t)in->size * 4);
	check_text(rdmaez_diag_json, diag, (size_t)in->size * 16);
	dev->verbs.transport_type = IBV_TRANSPORT_IB;
	fake_close_all();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rdmaez_diag diag;
	struct input in;

	memset(&in, 0, sizeof(in));
	memcpy(&in, data, size < sizeof(in) ? size : sizeof(in));
	explain(&in, &diag);
	return 0;
}

#ifdef PRINT_JSON
int main(int argc, char **argv)
{
	uint32_t seed = 1;

	for (int i = argc > 1 ? atoi(argv[1]) : 0; i > 0; i--) {
		struct rdmaez_diag diag;
		struct input in;
		static char json[65536];

		for (size_t b = 0; b < sizeof(in); b++) {
			seed = seed * 1664525u + 1013904223u;
			((uint8_t *)&in)[b] = (uint8_t)(seed >> 24);
		}
		in.mask &= (int)(seed | seed << 7);
		explain(&in, &diag);
		if (rdmaez_diag_json(&diag, json, sizeof(json)) >= (int)sizeof(json))
			abort();
		puts(json);
	}
	return 0;
}
#endif
