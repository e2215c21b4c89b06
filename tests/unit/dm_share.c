/* SPDX-License-Identifier: MIT */
/* Device memory between processes: the token, the message, the import, and who frees. */
#define _GNU_SOURCE /* fork, kill, setitimer */
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <poll.h>

static int polled_ms; /* how long poll() was to wait */

static inline int test_poll(struct pollfd *fds, nfds_t count, int ms)
{
	polled_ms = ms;
	return poll(fds, count, ms);
}

#define poll test_poll
#include "check.h"
#include "findings.h"
#include <rdmaez/dm_share.h>
#include <rdmaez/implementation.h>
#undef poll

enum {
	LENGTH = 256,
	TOKEN = RDMAEZ_DM_TOKEN_BYTES,
	MS = 1000000, /* ns */
	MANY = 100,   /* descriptors: more than are looked at */
	/* that are, by 256 bytes less a header, and one that is known to be too many: not by qemu-user */
	MOST = (256 - CMSG_LEN(0)) / sizeof(int) + !UNDER_QEMU,
};

static struct {
	struct fake_device *dev;
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct rdmaez_dm_region region;
	struct rdmaez_dm dm;
	struct rdmaez_dm_token token;
	struct rdmaez_dm_share_opts opts;
	struct rdmaez_dm_shared shared, untouched;
	struct rdmaez_diag diag;
	int end[2]; /* of a socket: ours, and the other process's */
	int fds, objects;
} t;

static int open_fds(void)
{
	int count = 0;

	for (int fd = 0; fd < 1024; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

/* What is open now must be all that is open later. */
static void remember(void)
{
	t.fds = open_fds();
	t.objects = fake_open_count();
	fake_reset_log();
}

static void check_nothing_left(const char *name)
{
	tap_eq_int(open_fds(), t.fds, "%s: no descriptor is left open", name);
	tap_eq_int(fake_open_count(), t.objects, "%s: no object either", name);
	tap_ok(memcmp(&t.shared, &t.untouched, sizeof(t.shared)) == 0,
	       "%s: the output is not written", name);
}

static void finish(void)
{
	if (t.end[0])
		close(t.end[0]);
	if (t.end[1])
		close(t.end[1]);
	fake_close_all();
}

/* A device with memory, a domain and a region on it, and a socket. */
static void start(int type)
{
	finish();
	memset(&t, 0, sizeof(t));
	t.dev = fake_reset();
	t.dev->attr.max_dm_size = 4096;
	t.ctx = fake_open(t.dev);
	t.pd = ibv_alloc_pd(t.ctx);
	if (rdmaez_dm_alloc(t.ctx, LENGTH, NULL, &t.dm, NULL) ||
	    rdmaez_dm_reg(&t.dm, t.pd, NULL, IBV_ACCESS_REMOTE_READ, &t.region, NULL) ||
	    rdmaez_dm_export(&t.dm, NULL, &t.region, &t.token, NULL) ||
	    socketpair(AF_UNIX, type, 0, t.end))
		tap_bail("nothing to share");
	memset(&t.shared, 0xa5, sizeof(t.shared));
	t.untouched = t.shared;
	memset(&t.diag, 0x55, sizeof(t.diag));
	t.opts.timeout_ns = 20 * MS;
	remember();
}

static int receive(void)
{
	return rdmaez_dm_receive(t.end[1], &t.opts, &t.shared, &t.diag);
}

static int import(void)
{
	return rdmaez_dm_import(t.ctx->cmd_fd, &t.token, &t.opts, &t.shared, &t.diag);
}

/* ---- The token ------------------------------------------------------------------------------ */

static struct rdmaez_dm_token good_token(void)
{
	struct rdmaez_dm_token token;

	memset(&token, 0, sizeof(token));
	token.flags = RDMAEZ_DM_TOKEN_PD | RDMAEZ_DM_TOKEN_MR | RDMAEZ_DM_TOKEN_EMULATED;
	token.dm_handle = 0x01020304;
	token.pd_handle = 0x05060708;
	token.mr_handle = 0x090a0b0c;
	token.lkey = 0x0d0e0f10;
	token.rkey = 0x11121314;
	token.device_guid = 0x15161718191a1b1c;
	token.length = 0x1000;
	token.alloc_length = 0x1040;
	token.alignment = 64;
	token.mr_offset = 0x10;
	token.mr_length = 0xff0;
	strcpy(token.device, "mlx5_0");
	return token;
}

static void check_token_bytes(void)
{
	static const uint8_t head[] = {
		'R',  'Z',  'D',  'M',  0,    1,    0,    7,    0x01, 0x02, 0x03, 0x04, 0x05, 0x06,
		0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, 0x12, 0x13, 0x14,
		0x15, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0,    0,    0,    0,    0,    0,
		0x10, 0,    0,    0,    0,    0,    0,    0,    0x10, 0x40, 0,    0,    0,    0,
		0,    0,    0,    64,   0,    0,    0,    0,    0,    0,    0,    0x10, 0,    0,
		0,    0,    0,    0,    0x0f, 0xf0, 'm',  'l',  'x',  '5',  '_',  '0',  0,    0};
	const struct rdmaez_dm_token token = good_token();
	struct rdmaez_dm_token found;
	uint8_t bytes[TOKEN];
	const char *check = "123456789";

	tap_eq_int(rdmaez_dm_token_pack(&token, bytes, NULL), 0, "a token is packed");
	tap_ok(memcmp(bytes, head, sizeof(head)) == 0, "into these bytes");
	tap_eq_hex(rdmaez_impl_dm_token_sum((const uint8_t *)check, strlen(check)), 0xcbf43926,
		   "the sum is the well-known CRC-32");
	check_success(&t.diag, rdmaez_dm_token_unpack(bytes, &found, &t.diag), "and unpacked");
	tap_ok(memcmp(&found, &token, sizeof(token)) == 0, "into what it was");
	check_refusal(&t.diag, rdmaez_dm_token_pack(NULL, bytes, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "token", "no token");
	check_refusal(&t.diag, rdmaez_dm_token_pack(&token, NULL, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "buf", "no room");
	check_refusal(&t.diag, rdmaez_dm_token_unpack(NULL, &found, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "buf", "no bytes");
	check_refusal(&t.diag, rdmaez_dm_token_unpack(bytes, NULL, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "token", "nowhere to put it");
}

/* Each of these in the good token, with a sum that is right again. */
static const struct {
	int at, count;
	uint64_t value;
	const char *field;
	enum rdmaez_why reason;
} forgeries[] = {
	{0, 4, 0x525a444e, "token.magic", RDMAEZ_WHY_DM_TOKEN_MAGIC},
	{0, 4, 0, "token.magic", RDMAEZ_WHY_DM_TOKEN_MAGIC},
	{4, 2, 0, "token.version", RDMAEZ_WHY_DM_TOKEN_VERSION},
	{4, 2, 2, "token.version", RDMAEZ_WHY_DM_TOKEN_VERSION},
	{6, 2, 0xf, "token.flags", RDMAEZ_WHY_DM_TOKEN_FIELD},
	{6, 2, 0x8003, "token.flags", RDMAEZ_WHY_DM_TOKEN_FIELD},
	{6, 2, RDMAEZ_DM_TOKEN_MR, "token.flags", RDMAEZ_WHY_DM_TOKEN_FIELD},
	{6, 2, 0, "token.pd_handle", RDMAEZ_WHY_DM_TOKEN_FIELD},
	{6, 2, RDMAEZ_DM_TOKEN_PD, "token.mr_handle", RDMAEZ_WHY_DM_TOKEN_FIELD},
	{36, 8, 0, "token.length", RDMAEZ_WHY_DM_TOKEN_FIELD},
	{36, 8, 0x1041, "token.length", RDMAEZ_WHY_DM_TOKEN_FIELD},
	{36, 8, UINT64_MAX, "token.length", RDMAEZ_WHY_DM_TOKEN_FIELD},
	{44, 8, 0, "token.alloc_length", RDMAEZ_WHY_DM_TOKEN_FIELD},
	{44, 8, 0xfff, "token.length", RDMAEZ_WHY_DM_TOKEN_FIELD},
	{52, 8, 3, "token.alignment", RDMAEZ_WHY_DM_TOKEN_FIELD},
	{52, 8, UINT64_MAX, "token.alignment", RDMAEZ_WHY_DM_TOKEN_FIELD},
	{52, 8, UINT64_C(1) << 32, "token.alignment", RDMAEZ_WHY_DM_TOKEN_FIELD},
	{60, 8, 0x11, "token.mr_offset", RDMAEZ_WHY_DM_TOKEN_FIELD},
	{60, 8, UINT64_MAX, "token.mr_offset", RDMAEZ_WHY_DM_TOKEN_FIELD},
	{68, 8, 0, "token.mr_length", RDMAEZ_WHY_DM_TOKEN_FIELD},
	{68, 8, 0x1001, "token.mr_length", RDMAEZ_WHY_DM_TOKEN_FIELD},
	{68, 8, 0xff1, "token.mr_offset", RDMAEZ_WHY_DM_TOKEN_FIELD},
	{76, 1, 0, "token.device", RDMAEZ_WHY_DM_TOKEN_FIELD},
	{76, 1, ' ', "token.device", RDMAEZ_WHY_DM_TOKEN_FIELD},
	{77, 1, '/', "token.device", RDMAEZ_WHY_DM_TOKEN_FIELD},
	{77, 1, 0x7f, "token.device", RDMAEZ_WHY_DM_TOKEN_FIELD},
	{77, 1, 0xe4, "token.device", RDMAEZ_WHY_DM_TOKEN_FIELD},
	{84, 1, 'x', "token.device", RDMAEZ_WHY_DM_TOKEN_FIELD},
	{139, 1, 'x', "token.device", RDMAEZ_WHY_DM_TOKEN_FIELD},
};

static void check_token_forgeries(void)
{
	const struct rdmaez_dm_token token = good_token();
	struct rdmaez_dm_token found = token;
	uint8_t bytes[TOKEN];

	for (size_t i = 0; i < COUNT_OF(forgeries); i++) {
		rdmaez_dm_token_pack(&token, bytes, NULL);
		rdmaez_impl_bytes_put(bytes + forgeries[i].at, forgeries[i].value,
				      forgeries[i].count);
		rdmaez_impl_bytes_put(bytes + TOKEN - 4, rdmaez_impl_dm_token_sum(bytes, TOKEN - 4),
				      4);
		check_refusal(&t.diag, rdmaez_dm_token_unpack(bytes, &found, &t.diag), EINVAL,
			      forgeries[i].reason, forgeries[i].field, "%llx at byte %d",
			      (unsigned long long)forgeries[i].value, forgeries[i].at);
	}
	tap_ok(memcmp(&found, &token, sizeof(token)) == 0, "the output is never written");
}

/* What the flags say is not there must be zero, one field after the other. */
static void check_token_absent(void)
{
	struct rdmaez_dm_token token = good_token();
	uint8_t bytes[TOKEN];
	const char *const field[] = {"token.pd_handle", "token.mr_handle", "token.lkey",
				     "token.rkey",      "token.mr_offset", "token.mr_length"};

	token.flags = 0;
	for (size_t i = 0; i < COUNT_OF(field); i++) {
		check_refusal(&t.diag, rdmaez_dm_token_pack(&token, bytes, &t.diag), EINVAL,
			      RDMAEZ_WHY_DM_TOKEN_FIELD, field[i], "%s is not zero", field[i]);
		token.pd_handle = 0;
		token.mr_handle = i >= 1 ? 0 : token.mr_handle;
		token.lkey = i >= 2 ? 0 : token.lkey;
		token.rkey = i >= 3 ? 0 : token.rkey;
		token.mr_offset = i >= 4 ? 0 : token.mr_offset;
		token.mr_length = i >= 5 ? 0 : token.mr_length;
	}
	tap_eq_int(rdmaez_dm_token_pack(&token, bytes, NULL), 0,
		   "with all of them zero it is packed");
}

static void check_token_bits(void)
{
	const struct rdmaez_dm_token token = good_token();
	struct rdmaez_dm_token found;
	uint8_t bytes[TOKEN];
	int refused = 0;

	rdmaez_dm_token_pack(&token, bytes, NULL);
	for (int bit = 0; bit < 8 * TOKEN; bit++) {
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		refused += rdmaez_dm_token_unpack(bytes, &found, NULL) == EINVAL;
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	tap_eq_int(refused, 8 * TOKEN, "whichever bit is flipped, the token is refused");
	bytes[8]++;
	check_refusal(&t.diag, rdmaez_dm_token_unpack(bytes, &found, &t.diag), EINVAL,
		      RDMAEZ_WHY_DM_TOKEN_SUM, "token.checksum", "a number that may be any");
}

/* ---- Export --------------------------------------------------------------------------------- */

static void check_export(void)
{
	struct rdmaez_dm_token token;

	start(SOCK_STREAM);
	memset(&token, 0xa5, sizeof(token));
	t.dm.alignment = 128;
	check_success(&t.diag, rdmaez_dm_export(&t.dm, NULL, NULL, &token, &t.diag),
		      "memory is exported");
	tap_eq_int(token.flags, 0, "without anything else");
	tap_eq_int(token.dm_handle, t.dm.dm->handle, "with its number");
	tap_eq_int(token.length, LENGTH, "its length");
	tap_eq_int(token.alloc_length, t.dm.alloc_length, "both of them");
	tap_eq_int(token.alignment, 128, "how it is aligned");
	tap_eq_hex(token.device_guid, 0x02005efffe005300, "the device's GUID");
	tap_eq_str(token.device, "fake0", "and its name");
	tap_eq_str(t.diag.device, "fake0", "which the record holds too");
	tap_eq_int(fake_count(FAKE_ANY), 0, "no verb is called for it");
	rdmaez_dm_export(&t.dm, t.pd, NULL, &token, NULL);
	tap_eq_int(token.flags, RDMAEZ_DM_TOKEN_PD, "a domain is exported with it");
	tap_eq_int(token.pd_handle, t.pd->handle, "by its number");
	tap_eq_int(t.token.flags, RDMAEZ_DM_TOKEN_PD | RDMAEZ_DM_TOKEN_MR,
		   "a region brings its domain");
	tap_eq_int(t.token.pd_handle, t.pd->handle, "which is right");
	tap_eq_int(t.token.mr_handle, t.region.mr->handle, "the region's number");
	tap_eq_hex(t.token.lkey, t.region.mr->lkey, "its local key");
	tap_eq_hex(t.token.rkey, t.region.mr->rkey, "its remote key");
	tap_eq_int(t.token.mr_length, LENGTH, "and its length");
}

/* A region to the end of the last unit: what is told of it ends where the memory does. */
static void check_export_part(void)
{
	struct rdmaez_dm_token token;
	const struct rdmaez_dm_range end = {64, 192};
	struct rdmaez_dm_region region;
	struct rdmaez_dm dm;

	start(SOCK_STREAM);
	if (rdmaez_dm_alloc(t.ctx, 8, NULL, &dm, NULL) ||
	    rdmaez_dm_reg(&dm, t.pd, NULL, 0, &region, NULL))
		tap_bail("no region");
	tap_eq_int(region.mr->length, 64, "a region of a whole unit on 8 bytes");
	check_success(&t.diag, rdmaez_dm_export(&dm, NULL, &region, &token, &t.diag),
		      "is exported");
	tap_ok(token.mr_length == 8 && token.alloc_length == 64, "as one of 8 bytes");
	tap_eq_int(rdmaez_dm_send(t.end[0], &dm, &token, NULL, &t.diag), 0, "it is sent");
	t.opts.flags = RDMAEZ_DM_SHARE_MR;
	check_success(&t.diag, receive(), "and received");
	tap_eq_int(t.shared.region.mr->length, 64, "with the region as it is");
	check_success(&t.diag,
		      rdmaez_dm_export(&t.shared.dm, NULL, &t.shared.region, &token, &t.diag),
		      "and can be handed on");
	tap_ok(t.shared.region.dm == t.shared.dm.dm && !t.shared.region.offset &&
		       t.shared.region.length == 8,
	       "and of it what is memory");
	region.length = 9;
	CHECK_FINDINGS(&t.diag, rdmaez_dm_export(&dm, NULL, &region, &token, &t.diag), EINVAL,
		       "rdmaez_dm_export", "a region that is longer than that",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_RANGE, "region.length", RDMAEZ_VALUE_BYTES, 9,
			1, 8});
	region.length = 0;
	CHECK_FINDINGS(&t.diag, rdmaez_dm_export(&dm, NULL, &region, &token, &t.diag), EINVAL,
		       "rdmaez_dm_export", "an empty one",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_RANGE, "region.length", RDMAEZ_VALUE_BYTES, 0,
			1, 8});
	check_success(&t.diag, rdmaez_dm_shared_close(&t.shared, &t.diag), "closed");
	tap_eq_str(t.diag.call, "rdmaez_dm_shared_close", "and the record is of that");
	/* A part in the middle: where it is travels with it. */
	if (rdmaez_dm_reg(&t.dm, t.pd, &end, 0, &region, NULL) ||
	    rdmaez_dm_export(&t.dm, NULL, &region, &token, NULL) ||
	    rdmaez_dm_send(t.end[0], &t.dm, &token, NULL, NULL) || receive())
		tap_bail("no region");
	tap_ok(token.mr_offset == 64 && token.mr_length == 192, "a part is exported as such");
	tap_ok(t.shared.region.offset == 64 && t.shared.region.length == 192 &&
		       t.shared.region.mr->length == 192,
	       "and received as such");
	tap_eq_int(rdmaez_dm_shared_close(&t.shared, NULL), 0, "closed");
}

static void check_export_refused(void)
{
	struct rdmaez_dm_token token, untouched;
	struct rdmaez_dm none, second;
	struct rdmaez_dm_region longer;
	struct ibv_context *other;
	struct ibv_mr mr;

	start(SOCK_STREAM);
	memset(&token, 0xa5, sizeof(token));
	memset(&none, 0, sizeof(none));
	untouched = token;
	other = fake_open(t.dev);
	longer = t.region;
	longer.length = LENGTH + 1;
	mr = *t.region.mr;
	mr.length = LENGTH + 1;
	longer.mr = &mr;
	check_refusal(&t.diag, rdmaez_dm_export(NULL, NULL, NULL, &token, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "dm", "no memory");
	check_refusal(&t.diag, rdmaez_dm_export(&t.dm, NULL, NULL, NULL, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "token", "nowhere to put it");
	check_refusal(&t.diag, rdmaez_dm_export(&none, NULL, NULL, &token, &t.diag), EINVAL,
		      RDMAEZ_WHY_DM_CLOSED, "dm", "closed memory");
	check_refusal(&t.diag, rdmaez_dm_export(&t.dm, ibv_alloc_pd(other), NULL, &token, &t.diag),
		      EINVAL, RDMAEZ_WHY_DM_OTHER_CONTEXT, "pd", "a domain of another context");
	check_refusal(&t.diag,
		      rdmaez_dm_export(&t.dm, ibv_alloc_pd(t.ctx), &t.region, &token, &t.diag),
		      EINVAL, RDMAEZ_WHY_DM_OTHER_CONTEXT, "region", "a region of another domain");
	CHECK_FINDINGS(&t.diag, rdmaez_dm_export(&t.dm, NULL, &longer, &token, &t.diag), EINVAL,
		       "rdmaez_dm_export", "a region of other memory",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_RANGE, "region.length", RDMAEZ_VALUE_BYTES,
			LENGTH + 1, 1, LENGTH});
	longer.offset = 64;
	CHECK_FINDINGS(&t.diag, rdmaez_dm_export(&t.dm, NULL, &longer, &token, &t.diag), EINVAL,
		       "rdmaez_dm_export", "a region that begins later",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_RANGE, "region.length", RDMAEZ_VALUE_BYTES,
			LENGTH + 1, 1, LENGTH - 64});
	longer.offset = LENGTH;
	CHECK_FINDINGS(&t.diag, rdmaez_dm_export(&t.dm, NULL, &longer, &token, &t.diag), EINVAL,
		       "rdmaez_dm_export", "a region behind the memory",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_RANGE, "region.length", RDMAEZ_VALUE_BYTES,
			LENGTH + 1, 1, 0});
	longer.offset = LENGTH + 64;
	longer.length = 1;
	CHECK_FINDINGS(&t.diag, rdmaez_dm_export(&t.dm, NULL, &longer, &token, &t.diag), EINVAL,
		       "rdmaez_dm_export", "a byte far behind it",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_RANGE, "region.length", RDMAEZ_VALUE_BYTES, 1,
			1, 0});
	longer.length = LENGTH + 1;
	longer.offset = 0;
	mr.length = LENGTH;
	CHECK_FINDINGS(&t.diag, rdmaez_dm_export(&t.dm, NULL, &longer, &token, &t.diag), EINVAL,
		       "rdmaez_dm_export", "a region that is shorter than it says",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_RANGE, "region.length", RDMAEZ_VALUE_BYTES,
			LENGTH + 1, 0, LENGTH});
	mr.addr = &token;
	check_refusal(&t.diag, rdmaez_dm_export(&t.dm, NULL, &longer, &token, &t.diag), EINVAL,
		      RDMAEZ_WHY_DM_NOT_REGION, "region.mr", "a region of the host's memory");
	mr.context = other;
	check_refusal(&t.diag, rdmaez_dm_export(&t.dm, NULL, &longer, &token, &t.diag), EINVAL,
		      RDMAEZ_WHY_DM_OTHER_CONTEXT, "region", "a region of another context");
	longer.mr = NULL;
	check_refusal(&t.diag, rdmaez_dm_export(&t.dm, NULL, &longer, &token, &t.diag), EINVAL,
		      RDMAEZ_WHY_DM_NOT_REGION, "region.mr", "no region yet");
	if (rdmaez_dm_alloc(t.ctx, LENGTH, NULL, &second, NULL))
		tap_bail("no second memory");
	check_refusal(&t.diag, rdmaez_dm_export(&second, NULL, &t.region, &token, &t.diag), EINVAL,
		      RDMAEZ_WHY_DM_OTHER_CONTEXT, "region", "a region of other memory");
	t.dm.dm->comp_mask = 0;
	check_refusal(&t.diag, rdmaez_dm_export(&t.dm, NULL, NULL, &token, &t.diag), EOPNOTSUPP,
		      RDMAEZ_WHY_DM_NO_HANDLE, "dm", "an rdma-core before 35");
	t.dm.dm->comp_mask = IBV_DM_MASK_HANDLE;
	tap_ok(memcmp(&token, &untouched, sizeof(token)) == 0, "the output is never written");
	check_success(&t.diag, rdmaez_dm_export(&t.dm, t.region.mr->pd, &t.region, &token, &t.diag),
		      "a region with its own domain");
	tap_eq_hex(token.flags, RDMAEZ_DM_TOKEN_PD | RDMAEZ_DM_TOKEN_MR, "which are both in it");
}

/* ---- There and back ------------------------------------------------------------------------- */

static void check_shared(int type, const char *name)
{
	uint32_t word = 0x600d600d;

	start(type);
	t.dm.alignment = 128;
	check_success(&t.diag, rdmaez_dm_send(t.end[0], &t.dm, NULL, NULL, &t.diag),
		      "%s: memory is sent", name);
	check_success(&t.diag, receive(), "%s: and received", name);
	tap_ok(t.shared.context && t.shared.context != t.ctx, "%s: the device is open", name);
	tap_eq_int(t.shared.dm.owner, RDMAEZ_DM_IMPORTED, "%s: the memory is imported", name);
	tap_eq_int(t.shared.dm.length, LENGTH, "%s: its length has come along", name);
	tap_eq_int(t.shared.dm.alloc_length, t.dm.alloc_length, "%s: both of them", name);
	tap_eq_int(t.shared.dm.alignment, 128, "%s: the alignment as well", name);
	tap_ok(!t.shared.pd && !t.shared.region.mr, "%s: nothing else was wanted", name);
	tap_eq_int(fcntl(t.shared.context->cmd_fd, F_GETFD), FD_CLOEXEC,
		   "%s: the descriptor is not left to programs that are executed", name);
	tap_eq_int(rdmaez_dm_copy_to(&t.dm, LENGTH - 4, &word, 4), 0, "%s: its owner writes", name);
	word = 0;
	tap_eq_int(rdmaez_dm_copy_from(&t.shared.dm, LENGTH - 4, &word, 4), 0, "%s: we read", name);
	tap_eq_hex(word, 0x600d600d, "%s: what was written", name);
	tap_eq_int(open_fds(), t.fds + 1, "%s: one descriptor more is open", name);
	fake_reset_log();
	tap_eq_int(rdmaez_dm_shared_close(&t.shared, NULL), 0, "%s: it is given up", name);
	tap_eq_int(fake_count(FAKE_FREE_DM), 0, "%s: and not freed", name);
	tap_eq_int(fake_count(FAKE_UNIMPORT_DM), 1, "%s: but unimported", name);
	memset(&t.untouched, 0, sizeof(t.untouched));
	check_nothing_left(name);
	tap_eq_int(rdmaez_dm_shared_close(&t.shared, NULL), EINVAL, "%s: it is closed once", name);
	word = 0;
	tap_eq_int(rdmaez_dm_copy_from(&t.dm, LENGTH - 4, &word, 4), 0, "%s: the owner", name);
	tap_eq_hex(word, 0x600d600d, "%s: still has it", name);
}

/* The region first, then the memory, then the domain, then the device. */
static void check_order(void)
{
	static const enum fake_verb order[] = {FAKE_UNIMPORT_MR, FAKE_UNIMPORT_DM, FAKE_UNIMPORT_PD,
					       FAKE_CLOSE_DEVICE};

	start(SOCK_SEQPACKET);
	t.opts.flags = RDMAEZ_DM_SHARE_MR | RDMAEZ_DM_SHARE_PD;
	t.token.mr_offset = 0;
	tap_eq_int(rdmaez_dm_send(t.end[0], &t.dm, &t.token, &t.opts, &t.diag), 0,
		   "memory is sent with a region");
	check_success(&t.diag, receive(), "and received");
	tap_ok(t.shared.pd && t.shared.pd->handle == t.pd->handle, "with the domain");
	tap_ok(t.shared.region.mr && t.shared.region.mr->handle == t.region.mr->handle &&
		       t.shared.region.mr->lkey == t.region.mr->lkey &&
		       t.shared.region.mr->rkey == t.region.mr->rkey &&
		       t.shared.region.mr->length == LENGTH,
	       "and the region, which has the same keys");
	tap_ok(memcmp(&t.shared.token, &t.token, sizeof(t.token)) == 0, "the token is kept");
	fake_reset_log();
	tap_eq_int(rdmaez_dm_shared_close(&t.shared, NULL), 0, "all is given up");
	tap_eq_int(fake_count(FAKE_ANY), COUNT_OF(order), "by four calls");
	for (unsigned int i = 0; i < COUNT_OF(order); i++)
		tap_eq_str(fake_verb_str(fake_nth(i + 1)->verb), fake_verb_str(order[i]),
			   "call %u is %s", i + 1, fake_verb_str(order[i]));
	tap_eq_int(rdmaez_dm_close(&t.dm, NULL), EBUSY, "the owner's region keeps the memory");
	tap_eq_int(ibv_dereg_mr(t.region.mr), 0, "it is still the owner's to deregister");
	tap_eq_int(rdmaez_dm_close(&t.dm, NULL), 0, "then the owner frees");
	t.opts.flags = RDMAEZ_DM_SHARE_PD;
	t.shared = t.untouched;
	remember();
	check_refusal(&t.diag, import(), ENOENT, RDMAEZ_WHY_DM_STALE, "token.dm_handle",
		      "memory that was freed");
	check_nothing_left("memory that was freed");
}

/* Closing in the order that nobody should: the owner first, the memory before the rest, all twice. */
static void check_wrong_order(void)
{
	struct rdmaez_dm_region own;
	uint32_t word = 1;

	start(SOCK_STREAM);
	t.opts.flags = RDMAEZ_DM_SHARE_PD;
	tap_eq_int(import(), 0, "memory is imported");
	tap_eq_int(rdmaez_dm_reg(&t.shared.dm, t.shared.pd, NULL, 0, &own, NULL), 0,
		   "and registered");
	ibv_dereg_mr(t.region.mr);
	tap_eq_int(rdmaez_dm_close(&t.dm, NULL), EBUSY, "its owner cannot free it now");
	tap_ok(t.dm.dm, "and still has it");
	ibv_dereg_mr(own.mr);
	tap_eq_int(rdmaez_dm_close(&t.dm, NULL), 0, "after deregistration it can");
	tap_eq_int(rdmaez_dm_copy_to(&t.shared.dm, 0, &word, 4), 0,
		   "what is mapped may still be written");
	tap_eq_int(rdmaez_dm_close(&t.shared.dm, NULL), 0, "the memory alone can be closed");
	tap_eq_int(rdmaez_dm_close(&t.shared.dm, NULL), EINVAL, "once");
	tap_eq_int(fake_count(FAKE_UNIMPORT_DM), 1, "which unimports it");
	tap_eq_int(rdmaez_dm_shared_close(&t.shared, NULL), 0, "then the rest");
	tap_eq_int(fake_count(FAKE_UNIMPORT_DM), 1, "it is not unimported again");
	check_refusal(&t.diag, rdmaez_dm_shared_close(&t.shared, &t.diag), EINVAL,
		      RDMAEZ_WHY_DM_CLOSED, "shared", "all of it once");
	tap_eq_int(rdmaez_dm_close(&t.shared.dm, NULL), EINVAL, "the memory is closed by then");
	tap_eq_int(rdmaez_dm_copy_to(&t.shared.dm, 0, &word, 4), EINVAL, "and cannot be used");
	check_refusal(&t.diag, rdmaez_dm_shared_close(NULL, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "shared", "nothing to close");
}

/* A device that does not close is all that is left, and can be closed again. */
static void check_close_fails(void)
{
	static const struct rdmaez_dm_share_ops none = {.close = NULL};

	start(SOCK_STREAM);
	t.opts.flags = RDMAEZ_DM_SHARE_MR;
	tap_eq_int(import(), 0, "memory is imported with a region");
	fake_fail(FAKE_CLOSE_DEVICE, 1, EBUSY);
	check_refusal(&t.diag, rdmaez_dm_shared_close(&t.shared, &t.diag), EBUSY, RDMAEZ_WHY_BUSY,
		      "ibv_close_device", "a device that does not close");
	tap_eq_str(t.diag.device, "fake0", "the record names the device");
	tap_ok(t.shared.context && !t.shared.dm.dm && !t.shared.pd && !t.shared.region.mr &&
		       !t.shared.region.dm && !t.shared.region.length,
	       "nothing else is left");
	t.shared.ops = &none;
	fake_fail(FAKE_CLOSE_DEVICE, 1, EBUSY);
	check_refusal(&t.diag, rdmaez_dm_shared_close(&t.shared, &t.diag), EBUSY, RDMAEZ_WHY_BUSY,
		      "ibv_close_device", "functions of which none closes it");
	tap_eq_int(rdmaez_dm_shared_close(&t.shared, NULL), 0, "it is closed then");
	tap_eq_int(fake_count(FAKE_UNIMPORT_MR), 1, "the region was unimported once");
	tap_ok(!t.shared.context, "and all is zero");
}

/* What was imported can be handed on. */
static void check_handed_on(void)
{
	struct rdmaez_dm_shared first;

	start(SOCK_STREAM);
	tap_eq_int(import(), 0, "memory is imported");
	first = t.shared;
	tap_eq_int(first.dm.dm->comp_mask, 0, "its comp_mask does not tell of the number");
	tap_eq_int(rdmaez_dm_send(t.end[0], &first.dm, NULL, NULL, &t.diag), 0, "it is handed on");
	tap_eq_int(receive(), 0, "to someone else");
	tap_eq_int(t.shared.token.dm_handle, t.dm.dm->handle, "by its own number");
	tap_eq_int(rdmaez_dm_shared_close(&first, NULL), 0, "who was first goes first");
	tap_eq_int(rdmaez_dm_shared_close(&t.shared, NULL), 0, "then the other");
}

/* ---- Messages ------------------------------------------------------------------------------- */

/* A message as no rdmaez sends it. */
static void send_raw(const void *bytes, size_t size, const int *fd, size_t count)
{
	size_t control[2 + MANY];
	struct iovec data = {(void *)(uintptr_t)bytes, size};
	struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};
	struct cmsghdr *rights;

	if (count) {
		memset(control, 0, sizeof(control));
		message.msg_control = control;
		message.msg_controllen = CMSG_SPACE(count * sizeof(int));
		rights = CMSG_FIRSTHDR(&message);
		rights->cmsg_level = SOL_SOCKET;
		rights->cmsg_type = SCM_RIGHTS;
		rights->cmsg_len = CMSG_LEN(count * sizeof(int));
		memcpy(CMSG_DATA(rights), fd, count * sizeof(int));
	}
	if (sendmsg(t.end[0], &message, MSG_NOSIGNAL) != (ssize_t)size)
		tap_bail("cannot send a message: %s", strerror(errno));
}

/* What a socket adds to each message beside what was sent. */
enum extra {
	NOTHING,
	CREDENTIALS, /* of the sender, before its descriptors */
	SECURITY,    /* its label, where there are labels */
	PROCESS,     /* a descriptor of the sender, since Linux 6.5 */
	ALL,
};

/* Whether the socket can add it. */
static bool add_extra(enum extra extra)
{
	static const int option[] = {[CREDENTIALS] = SO_PASSCRED,
				     [SECURITY] = SO_PASSSEC,
				     [PROCESS] = 76 /* SO_PASSPIDFD */};
	const int on = 1;
	bool added = true;

	for (int i = CREDENTIALS; i < ALL; i++)
		if ((int)extra == i || extra == ALL)
			added &= !setsockopt(t.end[1], SOL_SOCKET, option[i], &on, sizeof(on));
	return added;
}

static const char *const extra_names[] = {"nothing", "credentials", "a label", "a process", "all"};

/* Messages that are refused: of this size, with so many descriptors. */
static const struct {
	int type;
	size_t size, count;
	enum rdmaez_why reason;
	uint64_t value;
	const char *name;
} messages[] = {
	{SOCK_STREAM, TOKEN - 1, 1, RDMAEZ_WHY_DM_MESSAGE_SIZE, TOKEN - 1, "a short one"},
	{SOCK_STREAM, 1, 1, RDMAEZ_WHY_DM_MESSAGE_SIZE, 1, "one byte"},
	{SOCK_STREAM, 1, 0, RDMAEZ_WHY_DM_MESSAGE_SIZE, 1, "one byte alone"},
	{SOCK_STREAM, 1, MANY, RDMAEZ_WHY_DM_MESSAGE_SIZE, 1, "one byte with many"},
	{SOCK_SEQPACKET, TOKEN - 1, 1, RDMAEZ_WHY_DM_MESSAGE_SIZE, TOKEN - 1, "a short packet"},
	{SOCK_SEQPACKET, TOKEN + 1, 1, RDMAEZ_WHY_DM_MESSAGE_SIZE, TOKEN + 1, "a long packet"},
	{SOCK_SEQPACKET, TOKEN + 1, MANY, RDMAEZ_WHY_DM_MESSAGE_SIZE, TOKEN + 1,
	 "a long one with many"},
	{SOCK_SEQPACKET, 0, 1, RDMAEZ_WHY_DM_MESSAGE_SIZE, 0, "an empty packet"},
	{SOCK_DGRAM, 0, 1, RDMAEZ_WHY_DM_MESSAGE_SIZE, 0, "a descriptor without a token"},
	{SOCK_DGRAM, TOKEN + 1, 2, RDMAEZ_WHY_DM_MESSAGE_SIZE, TOKEN + 1, "a long datagram"},
	{SOCK_STREAM, TOKEN, 0, RDMAEZ_WHY_DM_MESSAGE_FD, 0, "no descriptor"},
	{SOCK_DGRAM, TOKEN, 0, RDMAEZ_WHY_DM_MESSAGE_FD, 0, "a datagram without a descriptor"},
	{SOCK_STREAM, TOKEN, 2, RDMAEZ_WHY_DM_MESSAGE_FD, 2, "two descriptors"},
	{SOCK_STREAM, TOKEN, 3, RDMAEZ_WHY_DM_MESSAGE_FD, 3, "three descriptors"},
	{SOCK_DGRAM, TOKEN, MANY, RDMAEZ_WHY_DM_MESSAGE_FD, MOST, "a datagram with many"},
	{SOCK_STREAM, TOKEN, MANY, RDMAEZ_WHY_DM_MESSAGE_FD, MOST, "more than are looked at"},
};

/* No refused message leaves a descriptor, whatever stands beside the sender's. */
static void check_message(size_t i, enum extra extra)
{
	const bool fds = messages[i].reason == RDMAEZ_WHY_DM_MESSAGE_FD;
	/* What is put before the descriptors takes room from them. */
	const bool fewer = messages[i].value == MOST && (extra == CREDENTIALS || extra == ALL);
	const uint64_t accepted = fds ? 1 : TOKEN,
		       value = fewer ? MOST - CMSG_SPACE(sizeof(struct ucred)) / sizeof(int)
				     : messages[i].value;
	uint8_t bytes[TOKEN + 1] = {0};
	char name[80];
	int fd[MANY];
	bool was_open[1024];

	snprintf(name, sizeof(name), "%s, beside %s", messages[i].name, extra_names[extra]);
	start(messages[i].type);
	if (!add_extra(extra))
		return; /* an old kernel; check_parts() shows what a newer one does */
	rdmaez_dm_token_pack(&t.token, bytes, NULL);
	for (int j = 0; j < MANY; j++)
		fd[j] = t.ctx->cmd_fd;
	send_raw(bytes, messages[i].size, fd, messages[i].count);
	for (int j = 0; j < 1024; j++)
		was_open[j] = fcntl(j, F_GETFD) >= 0;
	CHECK_FINDINGS(&t.diag, receive(), EBADMSG, "rdmaez_dm_receive", name,
		       {RDMAEZ_DIAG_ERROR, messages[i].reason, "message",
			fds ? RDMAEZ_VALUE_NUMBER : RDMAEZ_VALUE_BYTES, value, accepted, accepted});
	/* It gives the kernel twice the program's room, and leaves open what does not fit. */
	for (int j = 0; UNDER_QEMU && j < 1024; j++)
		if (!was_open[j])
			close(j);
	check_nothing_left(name);
	tap_eq_int(fake_count(FAKE_ANY), 0, "%s: the library was not asked", name);
}

static void check_messages(void)
{
	for (size_t i = 0; i < COUNT_OF(messages); i++)
		for (int extra = NOTHING; extra <= ALL; extra++)
			check_message(i, (enum extra)extra);
}

/* A good one is found behind what the socket adds. */
static void check_extras(void)
{
	for (int extra = NOTHING; extra <= ALL; extra++) {
		start(SOCK_SEQPACKET);
		if (!add_extra((enum extra)extra))
			continue;
		tap_eq_int(rdmaez_dm_send(t.end[0], &t.dm, NULL, NULL, NULL), 0,
			   "one that is good, beside %s", extra_names[extra]);
		check_success(&t.diag, receive(), "is received");
		tap_eq_int(open_fds(), t.fds + 1, "and opens the device alone");
		tap_eq_int(rdmaez_dm_shared_close(&t.shared, NULL), 0, "closed");
	}
}

/* This process may have one descriptor more, and two come: the kernel drops one and says so. */
static void check_limit(void)
{
	struct flock any = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	struct rlimit limit, tight;
	uint8_t bytes[TOKEN];
	int fd[2];

	start(SOCK_STREAM);
	rdmaez_dm_token_pack(&t.token, bytes, NULL);
	fd[0] = fd[1] = t.ctx->cmd_fd;
	send_raw(bytes, TOKEN, fd, 2);
	getrlimit(RLIMIT_NOFILE, &limit);
	tight = limit;
	fd[0] = dup(t.end[0]);
	tight.rlim_cur = (rlim_t)fd[0] + 1;
	close(fd[0]);
	setrlimit(RLIMIT_NOFILE, &tight);
	CHECK_FINDINGS(&t.diag, receive(), EBADMSG, "rdmaez_dm_receive", "two, and room for one",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_DM_MESSAGE_FD, "message", RDMAEZ_VALUE_NUMBER,
			2, 1, 1});
	CHECK_FINDINGS(&t.diag, receive(), ETIMEDOUT, "rdmaez_dm_receive",
		       "it is not there any more",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_PEER_SILENT, "timeout_ns", RDMAEZ_VALUE_NS,
			20 * MS, 20 * MS, 20 * MS});
	setrlimit(RLIMIT_NOFILE, &limit);
	check_nothing_left("two, and room for one");
	tight.rlim_cur = 64;
	setrlimit(RLIMIT_NOFILE, &tight);
	check_success(&t.diag, import(), "a limit below the numbers that are preferred");
	setrlimit(RLIMIT_NOFILE, &limit);
	tap_ok(t.shared.context->cmd_fd < 64, "the duplicate has a lower one");
	rdmaez_dm_shared_close(&t.shared, NULL);
	errno = EINVAL;
	check_success(&t.diag, import(), "whatever errno was before");
	tap_eq_int(open_fds(), t.fds + 1, "there is one duplicate");
	tap_eq_int(t.shared.context->cmd_fd, 512, "with a number that programs hardly reach");
	tap_ok(!fcntl(t.ctx->cmd_fd, F_OFD_GETLK, &any) && any.l_type == F_UNLCK,
	       "and no mark is left on it");
	rdmaez_dm_shared_close(&t.shared, NULL);
}

extern void (*fake_import_meanwhile)(int fd);

static int meanwhile; /* a descriptor of another thread */

/* Opens the same file; the number that has just become free is the first that it can get. */
static void take_number(int fd)
{
	meanwhile = fcntl(t.ctx->cmd_fd, F_DUPFD, fd);
}

/* Another import of the same device, which marks its duplicate. */
static void import_meanwhile(int fd)
{
	static struct flock mark;

	take_number(fd);
	if (rdmaez_impl_dm_mark(meanwhile, F_SETLK, F_RDLCK, &mark))
		tap_bail("no mark");
}

static int child_waits[2]; /* a process that keeps its lock as long as this is open */

/* A process locks the whole file, and the number is another thread's. */
static void lock_meanwhile(int fd)
{
	struct flock all = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
	char byte = 0;
	int ready[2];

	if (pipe(ready) || pipe(child_waits))
		tap_bail("pipe");
	fflush(stdout);
	if (!fork()) {
		close(child_waits[1]);
		if (fcntl(t.ctx->cmd_fd, F_SETLK, &all) || write(ready[1], &byte, 1) != 1)
			_exit(1);
		_exit(read(child_waits[0], &byte, 1) != 0);
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		tap_bail("no lock");
	close(ready[0]);
	take_number(fd);
}

/* Opens and closes the same file. */
static void open_and_close(int fd)
{
	meanwhile = fd;
	close(dup(t.ctx->cmd_fd));
}

/* The duplicate is closed where it is known to be ours, or else left open. */
static void check_duplicate(void)
{
	start(SOCK_STREAM);
	t.dev->quirks = FAKE_IMPORT_CLOSES;
	fake_import_meanwhile = take_number;
	check_refusal(&t.diag, import(), EIO, RDMAEZ_WHY_DEVICE_GONE, "ibv_import_device",
		      "a driver that closes the descriptor, whose number another thread gets");
	tap_ok(fcntl(meanwhile, F_GETFD) >= 0, "that thread's descriptor stays open");
	close(meanwhile);
	check_nothing_left("a number that another thread got");
	fake_import_meanwhile = import_meanwhile;
	tap_eq_int(import(), EIO, "the same, and that thread imports as well");
	tap_ok(fcntl(meanwhile, F_GETFD) >= 0, "its descriptor stays open, too");
	close(meanwhile);
	check_nothing_left("a number that another import got");
	fake_import_meanwhile = lock_meanwhile;
	tap_eq_int(import(), EIO, "the same, and another process has locked the file");
	tap_ok(fcntl(meanwhile, F_GETFD) >= 0, "the thread's descriptor stays open");
	close(meanwhile);
	close(child_waits[0]);
	close(child_waits[1]);
	wait(NULL);
	check_nothing_left("a file that another process has locked");
	t.dev->quirks = FAKE_NO_IMPORT;
	fake_import_meanwhile = open_and_close;
	check_refusal(&t.diag, import(), EOPNOTSUPP, RDMAEZ_WHY_NOT_SUPPORTED, "ibv_import_device",
		      "a driver that does not, and another thread that closes the same file");
	tap_eq_int(open_fds(), t.fds + 1, "what may be another's is left open");
	close(meanwhile);
	fake_import_meanwhile = NULL;
	check_nothing_left("a descriptor that was left");
	check_refusal(&t.diag, import(), EOPNOTSUPP, RDMAEZ_WHY_NOT_SUPPORTED, "ibv_import_device",
		      "a driver that does not, and nobody else");
	check_nothing_left("a driver that leaves the duplicate open");
	tap_eq_str(t.diag.verb, "ibv_import_device", "the record names the verb");
}

/* One more control message, of so many bytes. */
static void add_part(struct msghdr *message, int level, int type, const void *data, size_t bytes)
{
	struct cmsghdr part = {.cmsg_len = CMSG_LEN(bytes), .cmsg_level = level, .cmsg_type = type};
	char *at = (char *)message->msg_control + message->msg_controllen;

	memcpy(at, &part, sizeof(part));
	memcpy(at + sizeof(part), data, bytes);
	message->msg_controllen += CMSG_SPACE(bytes);
}

/*
 * What newer kernels put beside the sender's descriptors, made by hand: of the descriptors of processes none
 * is counted and none is left, in whatever order all this comes.
 */
static void check_parts(void)
{
	const int scm_security = 3, scm_pidfd = 4;
	struct ucred creds = {0, 0, 0};
	union {
		size_t align;
		char bytes[400];
	} control;
	struct msghdr message;
	int fd[4], count, first, saved = -1;
	size_t end;

	for (int order = 0; order < 4; order++) {
		start(SOCK_STREAM);
		memset(&control, 0, sizeof(control));
		memset(&message, 0, sizeof(message));
		message.msg_control = &control;
		for (int i = 0; i < 4; i++)
			fd[i] = dup(t.end[0]);
		/* Number 0 is a descriptor like any other. */
		if (order == 3) {
			close(fd[1]);
			saved = dup(0);
			fd[1] = dup2(t.end[0], 0);
		}
		if (order & 1)
			add_part(&message, SOL_SOCKET, scm_pidfd, &fd[0], sizeof(int));
		add_part(&message, SOL_SOCKET, SCM_CREDENTIALS, &creds, sizeof(creds));
		/* A label, and one that is as a descriptor is. */
		add_part(&message, SOL_SOCKET, scm_security, "a label.", 9);
		add_part(&message, SOL_SOCKET, scm_security, "", 0);
		add_part(&message, SOL_SOCKET, scm_security, &t.end[0], sizeof(int));
		add_part(&message, SOL_SOCKET + 1, SCM_RIGHTS, &t.end[0], sizeof(int));
		add_part(&message, SOL_SOCKET + 1, scm_pidfd, &t.end[0], sizeof(int));
		add_part(&message, SOL_SOCKET, SCM_RIGHTS, &fd[1], sizeof(int));
		if (order & 2)
			add_part(&message, SOL_SOCKET, SCM_RIGHTS, &fd[2], 2 * sizeof(int));
		if (!(order & 1))
			add_part(&message, SOL_SOCKET, scm_pidfd, &fd[0], sizeof(int));
		/* What stands behind the end is of an earlier message. */
		end = message.msg_controllen;
		add_part(&message, SOL_SOCKET, SCM_RIGHTS, &t.end[0], sizeof(int));
		message.msg_controllen = end;
		first = rdmaez_impl_dm_message_fds(&message, &count);
		tap_eq_int(first, fd[1], "order %d: the first of the sender's is for us", order);
		tap_eq_int(count, order & 2 ? 3 : 1, "order %d: all of them are counted", order);
		close(first);
		if (order == 3 && saved >= 0) {
			dup2(saved, 0);
			close(saved);
		}
		if (!(order & 2)) {
			close(fd[2]);
			close(fd[3]);
		}
		check_nothing_left("what stands beside");
	}
}

/* Control messages that the kernel does not make are not read beyond their end. */
static void check_control(void)
{
	static const size_t lengths[] = {0, sizeof(struct cmsghdr) - 1, sizeof(size_t[4]) + 1,
					 SIZE_MAX};
	size_t *control = (size_t *)calloc(4, sizeof(*control));
	struct msghdr message = {.msg_control = control};
	struct cmsghdr head = {.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
	int count;

	for (size_t i = 0; i < COUNT_OF(lengths); i++) {
		head.cmsg_len = lengths[i];
		memcpy(control, &head, sizeof(head));
		message.msg_controllen = sizeof(size_t[4]);
		tap_eq_int(rdmaez_impl_dm_message_fds(&message, &count), -1, "a length of %zu",
			   lengths[i]);
		tap_eq_int(count, 0, "has no descriptor");
	}
	message.msg_controllen = sizeof(struct cmsghdr) - 1;
	tap_eq_int(rdmaez_impl_dm_message_fds(&message, &count), -1, "nor has less than a header");
	free(control);
}

/* On a stream, what comes after the token is left to its reader. */
static void check_stream(void)
{
	char next[8] = "";

	start(SOCK_STREAM);
	tap_eq_int(rdmaez_dm_send(t.end[0], &t.dm, NULL, NULL, NULL), 0, "a token");
	tap_eq_int(send(t.end[0], "next", 5, 0), 5, "and more on the same stream");
	tap_eq_int(receive(), 0, "the token is received");
	tap_eq_int(recv(t.end[1], next, sizeof(next), 0), 5, "what follows");
	tap_eq_str(next, "next", "is still there");
	rdmaez_dm_shared_close(&t.shared, NULL);
}

static void check_bad_token(void)
{
	uint8_t bytes[TOKEN];
	int plain = fileno(tmpfile());

	start(SOCK_STREAM);
	rdmaez_dm_token_pack(&t.token, bytes, NULL);
	bytes[40] ^= 1;
	send_raw(bytes, TOKEN, &t.ctx->cmd_fd, 1);
	CHECK_FINDINGS(&t.diag, receive(), EINVAL, "rdmaez_dm_receive", "a token that was changed",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_DM_TOKEN_FIELD, "token.length",
			RDMAEZ_VALUE_BYTES, LENGTH + (UINT64_C(1) << 24), 1, t.dm.alloc_length});
	check_nothing_left("a token that was changed");
	bytes[40] ^= 1;
	send_raw(bytes, TOKEN, &plain, 1);
	check_refusal(&t.diag, receive(), EINVAL, RDMAEZ_WHY_DM_FD, "fd", "a plain file");
	check_nothing_left("a plain file");
	memset(bytes, 0, sizeof(bytes));
	send_raw(bytes, TOKEN, &plain, 1);
	check_refusal(&t.diag, receive(), EINVAL, RDMAEZ_WHY_DM_TOKEN_MAGIC, "token.magic",
		      "bytes of something else");
	check_nothing_left("bytes of something else");
}

static volatile sig_atomic_t alarms;

static void on_alarm(int signal)
{
	(void)signal;
	alarms++;
}

static void check_interrupted(void)
{
	/* Again and again: on a slow machine the first may come before there is anything to interrupt. */
	const struct itimerval often = {{0, 20000}, {0, 20000}}, never = {{0, 0}, {0, 0}};
	struct sigaction action;
	int error;

	start(SOCK_STREAM);
	memset(&action, 0, sizeof(action));
	action.sa_handler = on_alarm;
	sigaction(SIGALRM, &action, NULL);
	t.opts.timeout_ns = 500 * (uint64_t)MS;
	alarms = 0;
	setitimer(ITIMER_REAL, &often, NULL);
	error = receive();
	setitimer(ITIMER_REAL, &never, NULL);
	check_refusal(&t.diag, error, ETIMEDOUT, RDMAEZ_WHY_PEER_SILENT, "timeout_ns", "signals");
	tap_ok(alarms > 0, "of which there were some, and which end no wait");
	check_nothing_left("signals");
}

static void check_sockets(void)
{
	start(SOCK_STREAM);
	CHECK_FINDINGS(&t.diag, receive(), ETIMEDOUT, "rdmaez_dm_receive", "nothing comes",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_PEER_SILENT, "timeout_ns", RDMAEZ_VALUE_NS,
			20 * MS, 20 * MS, 20 * MS});
	t.opts.timeout_ns = RDMAEZ_NS_NOW;
	CHECK_FINDINGS(&t.diag, receive(), ETIMEDOUT, "rdmaez_dm_receive", "nothing is there",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_PEER_SILENT, "timeout_ns", RDMAEZ_VALUE_NS, 0,
			0, 0});
	check_refusal(&t.diag, rdmaez_dm_receive(t.end[1], &t.opts, NULL, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "shared", "nowhere to put it");
	check_refusal(&t.diag, rdmaez_dm_receive(-1, &t.opts, &t.shared, &t.diag), EBADF,
		      RDMAEZ_WHY_SOCKET, "socket", "no descriptor");
	check_refusal(&t.diag, rdmaez_dm_receive(t.ctx->cmd_fd, &t.opts, &t.shared, &t.diag),
		      ENOTSOCK, RDMAEZ_WHY_SOCKET, "socket", "no socket");
	close(t.end[1]);
	t.end[1] = socket(AF_INET, SOCK_STREAM, 0);
	check_refusal(&t.diag, receive(), EAFNOSUPPORT, RDMAEZ_WHY_SOCKET, "socket",
		      "a TCP socket");
	check_refusal(&t.diag, rdmaez_dm_send(t.end[1], &t.dm, NULL, NULL, &t.diag), EAFNOSUPPORT,
		      RDMAEZ_WHY_SOCKET, "socket", "sent through a TCP socket");
	check_refusal(&t.diag, rdmaez_dm_send(t.end[0], &t.dm, NULL, NULL, &t.diag), EPIPE,
		      RDMAEZ_WHY_PEER_CLOSED, "sendmsg", "sent to nobody");
	tap_eq_str(t.diag.call, "rdmaez_dm_send", "the record names the function");
	close(t.end[1]);
	t.end[1] = t.end[0];
	t.end[0] = 0;
	check_refusal(&t.diag, receive(), ECONNRESET, RDMAEZ_WHY_PEER_CLOSED, "recvmsg",
		      "received from nobody");
	tap_ok(memcmp(&t.shared, &t.untouched, sizeof(t.shared)) == 0, "nothing was written");
	close(t.end[1]);
	t.end[1] = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	check_refusal(&t.diag, rdmaez_dm_send(t.end[1], &t.dm, NULL, NULL, &t.diag), ENOTCONN,
		      RDMAEZ_WHY_SOCKET, "sendmsg", "a socket without a peer");
}

static void check_send_refused(void)
{
	const struct rdmaez_dm none = {0};
	struct rdmaez_dm_token other;

	start(SOCK_STREAM);
	check_refusal(&t.diag, rdmaez_dm_send(t.end[0], NULL, NULL, NULL, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "dm", "no memory");
	check_refusal(&t.diag, rdmaez_dm_send(t.end[0], &none, NULL, NULL, &t.diag), EINVAL,
		      RDMAEZ_WHY_DM_CLOSED, "dm", "closed memory");
	other = t.token;
	other.dm_handle++;
	check_refusal(&t.diag, rdmaez_dm_send(t.end[0], &t.dm, &other, NULL, &t.diag), EINVAL,
		      RDMAEZ_WHY_DM_TOKEN_OTHER, "token", "another number");
	other = t.token;
	other.device_guid++;
	check_refusal(&t.diag, rdmaez_dm_send(t.end[0], &t.dm, &other, NULL, &t.diag), EINVAL,
		      RDMAEZ_WHY_DM_TOKEN_OTHER, "token", "another device");
	other = t.token;
	other.length--;
	check_refusal(&t.diag, rdmaez_dm_send(t.end[0], &t.dm, &other, NULL, &t.diag), EINVAL,
		      RDMAEZ_WHY_DM_TOKEN_OTHER, "token", "another length");
	other = t.token;
	other.mr_offset = 1;
	check_refusal(&t.diag, rdmaez_dm_send(t.end[0], &t.dm, &other, NULL, &t.diag), EINVAL,
		      RDMAEZ_WHY_DM_TOKEN_FIELD, "token.mr_offset", "a region that is too long");
	t.opts.timeout_ns = RDMAEZ_NS_NOW;
	check_refusal(&t.diag, receive(), ETIMEDOUT, RDMAEZ_WHY_PEER_SILENT, "timeout_ns",
		      "none of them was sent");
	while (send(t.end[0], &other, sizeof(other), MSG_DONTWAIT) > 0)
		;
	check_refusal(&t.diag, rdmaez_dm_send(t.end[0], &t.dm, NULL, &t.opts, &t.diag), ETIMEDOUT,
		      RDMAEZ_WHY_PEER_SILENT, "timeout_ns", "a socket that is full");
}

/* ---- Import --------------------------------------------------------------------------------- */

static void check_import_refused(void)
{
	const unsigned int all = RDMAEZ_DM_SHARE_PD | RDMAEZ_DM_SHARE_MR;
	const int fd = 900;
	int write_only;

	start(SOCK_STREAM);
	check_refusal(&t.diag, rdmaez_dm_import(0, NULL, NULL, &t.shared, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "token", "no token");
	check_refusal(&t.diag, rdmaez_dm_import(0, &t.token, NULL, NULL, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "shared", "nowhere to put it");
	check_refusal(&t.diag, rdmaez_dm_import(fd, &t.token, NULL, &t.shared, &t.diag), EBADF,
		      RDMAEZ_WHY_DM_FD, "fd", "a descriptor that is not open");
	write_only = open("/dev/null", O_WRONLY);
	check_refusal(&t.diag, rdmaez_dm_import(write_only, &t.token, NULL, &t.shared, &t.diag),
		      EBADF, RDMAEZ_WHY_DM_FD, "fd", "one that is not open for reading");
	close(write_only);
	t.opts.flags = all | 4;
	CHECK_FINDINGS(&t.diag, import(), EINVAL, "rdmaez_dm_import", "options from the future",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_OPTION_UNKNOWN, "opts.flags",
			RDMAEZ_VALUE_FLAGS, 4, 0, all | 4});
	t.opts.flags = all;
	rdmaez_dm_export(&t.dm, t.pd, NULL, &t.token, NULL);
	CHECK_FINDINGS(&t.diag, import(), EINVAL, "rdmaez_dm_import",
		       "a region that was not exported",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_DM_NOT_SHARED, "opts.flags",
			RDMAEZ_VALUE_FLAGS, RDMAEZ_DM_SHARE_MR, 0, all});
	t.token.length = 0;
	check_refusal(&t.diag, import(), EINVAL, RDMAEZ_WHY_DM_TOKEN_FIELD, "token.length",
		      "a token made by hand");
	tap_eq_int(fake_count(FAKE_ANY), 0, "none of these has reached the library");
	check_nothing_left("what is refused at once");
}

/* The device of the token is another, is not there, or cannot import. */
static void check_import_device(void)
{
	start(SOCK_STREAM);
	t.token.device_guid ^= 1;
	check_refusal(&t.diag, import(), EXDEV, RDMAEZ_WHY_DM_OTHER_DEVICE, "token.device_guid",
		      "another device");
	check_nothing_left("another device");
	t.token.device_guid ^= 1;
	t.dev->quirks |= FAKE_NO_IMPORT;
	CHECK_FINDINGS(&t.diag, import(), EOPNOTSUPP, "rdmaez_dm_import", "a driver without import",
		       {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_NOT_SUPPORTED, "ibv_import_device",
			RDMAEZ_VALUE_NONE, 0, 0, 0});
	check_nothing_left("a driver without import");
	t.dev->quirks = FAKE_IMPORT_CLOSES;
	CHECK_FINDINGS(&t.diag, import(), EIO, "rdmaez_dm_import",
		       "a driver that closes the descriptor",
		       {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_DEVICE_GONE, "ibv_import_device",
			RDMAEZ_VALUE_NONE, 0, 0, 0});
	check_nothing_left("a driver that closes the descriptor");
	t.dev->quirks = 0;
	strcpy(t.dev->verbs.name, "fake9");
	check_refusal(&t.diag, import(), ENODEV, RDMAEZ_WHY_DM_FD, "fd", "a device that is gone");
	check_nothing_left("a device that is gone");
}

/* Each of the calls fails; what was made before it is undone. */
static void check_import_fails(void)
{
	static const struct {
		enum fake_verb verb;
		const char *name, *stale;
	} calls[] = {{FAKE_IMPORT_DEVICE, "ibv_import_device", NULL},
		     {FAKE_IMPORT_DM, "ibv_import_dm", "token.dm_handle"},
		     {FAKE_IMPORT_PD, "ibv_import_pd", "token.pd_handle"},
		     {FAKE_IMPORT_MR, "ibv_import_mr", "token.mr_handle"}};

	for (size_t i = 0; i < COUNT_OF(calls); i++) {
		start(SOCK_STREAM);
		t.opts.flags = RDMAEZ_DM_SHARE_MR;
		fake_fail(calls[i].verb, 1, ENOMEM);
		CHECK_FINDINGS(&t.diag, import(), ENOMEM, "rdmaez_dm_import", calls[i].name,
			       {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_NO_RESOURCES, calls[i].name,
				RDMAEZ_VALUE_NONE, 0, 0, 0});
		check_nothing_left(calls[i].name);
		fake_fail(calls[i].verb, 1, EPERM);
		CHECK_FINDINGS(&t.diag, import(), EPERM, "rdmaez_dm_import", calls[i].name,
			       {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_UNEXPLAINED, calls[i].name,
				RDMAEZ_VALUE_NONE, 0, 0, 0});
		if (!calls[i].stale)
			continue;
		t.token.dm_handle += i == 1 ? 77 : 0;
		t.token.pd_handle += i == 2 ? 77 : 0;
		t.token.mr_handle += i == 3 ? 77 : 0;
		check_refusal(&t.diag, import(), ENOENT, RDMAEZ_WHY_DM_STALE, calls[i].stale,
			      "a number of nothing");
		check_call_and_verb(&t.diag, "rdmaez_dm_import", calls[i].name);
		tap_eq_str(t.diag.device, "fake0", "the record names the device");
		check_nothing_left("a number of nothing");
		tap_eq_int(rdmaez_dm_import(t.ctx->cmd_fd, &t.token, &t.opts, &t.shared, NULL),
			   ENOENT, "without a record");
	}
}

/* ---- Emulated memory ------------------------------------------------------------------------ */

/* The least that an emulation says of itself: memory of the fake, found under another number. */
static struct {
	const struct ibv_context *has; /* where the memory is emulated */
	struct ibv_context *opened;
	int fd, unimported, closed, seen_fd, seen_flags, error;
	uint64_t seen_timeout;
} emu;

static int emu_fd(const struct ibv_context *context, void *arg)
{
	tap_ok(arg == &emu, "the application is asked");
	return context == emu.has ? emu.fd : -1;
}

static struct ibv_dm *emu_import(struct ibv_context *context, uint32_t handle, uint64_t timeout_ns,
				 void *arg)
{
	emu.seen_timeout = timeout_ns;
	if (emu.error) {
		errno = emu.error > 0 ? emu.error : errno;
		return NULL;
	}
	tap_ok(arg == &emu && context == emu.opened, "the application imports");
	errno = ENOENT;
	return handle == t.dm.dm->handle ? t.dm.dm : NULL;
}

static void emu_unimport(struct ibv_dm *dm)
{
	emu.unimported += dm == t.dm.dm;
}

static struct ibv_context *emu_open(int fd, const struct rdmaez_dm_token *token, void *arg)
{
	tap_ok(arg == &emu && strcmp(token->device, "fake0") == 0, "the application opens");
	emu.seen_fd = fd;
	emu.seen_flags = fcntl(fd, F_GETFD);
	errno = emu.error > 0 ? emu.error : errno;
	return emu.opened;
}

static int emu_close(struct ibv_context *context, void *arg)
{
	tap_ok(arg == &emu && context == emu.opened, "the application closes");
	return emu.closed++ ? 0 : EBUSY;
}

static struct rdmaez_dm_share_ops emu_ops;

static void emu_start(void)
{
	const struct rdmaez_dm_share_ops ops = {emu_fd, emu_open, emu_close, emu_import,
						emu_unimport};

	start(SOCK_STREAM);
	memset(&emu, 0, sizeof(emu));
	emu_ops = ops;
	emu.has = t.ctx;
	emu.fd = t.end[0];
	emu.opened = fake_open(t.dev);
	t.opts.ops = &emu_ops;
	t.opts.arg = &emu;
	remember();
}

static void check_emulated(void)
{
	struct stat sent, got;

	emu_start();
	check_success(&t.diag, rdmaez_dm_send(t.end[0], &t.dm, &t.token, &t.opts, &t.diag),
		      "it is sent");
	check_success(&t.diag, receive(), "and received");
	tap_eq_int(t.shared.token.flags, t.token.flags | RDMAEZ_DM_TOKEN_EMULATED,
		   "the token says that the memory is emulated");
	tap_ok(fstat(t.end[0], &sent) == 0, "the emulation's descriptor");
	tap_ok(fstat(emu.seen_fd, &got) != 0, "is lent to who opens");
	tap_eq_int(emu.seen_flags, FD_CLOEXEC, "and not left to programs that are executed");
	tap_ok(t.shared.dm.dm == t.dm.dm && t.shared.context == emu.opened, "the memory is there");
	tap_eq_int(fake_count(FAKE_ANY), 0, "libibverbs is not asked");
	check_refusal(&t.diag, rdmaez_dm_shared_close(&t.shared, &t.diag), EBUSY, RDMAEZ_WHY_BUSY,
		      "opts.ops.close", "what closing says");
	tap_eq_int(emu.unimported, 1, "the memory is given back to the emulation");
	tap_eq_int(emu.closed, 1, "the device to the application");
	tap_ok(t.shared.context == emu.opened && !t.shared.dm.dm, "which keeps it open for now");
	check_success(&t.diag, rdmaez_dm_shared_close(&t.shared, &t.diag),
		      "it can be closed again");
	tap_eq_int(emu.unimported, 1, "the memory is not given back twice");
	tap_eq_int(emu.closed, 2, "the device is tried again");
	tap_ok(!t.shared.context, "then all is closed");
	t.token.flags |= RDMAEZ_DM_TOKEN_EMULATED;
	tap_eq_int(import(), 0, "imported alone");
	tap_eq_int(rdmaez_dm_close(&t.shared.dm, NULL), 0, "the memory can be closed alone");
	tap_eq_int(emu.unimported, 2, "which gives it back to the emulation");
	tap_eq_int(rdmaez_dm_shared_close(&t.shared, NULL), 0, "then the rest");
	tap_eq_int(emu.unimported, 2, "and not again");
}

/* Nanoseconds are whole milliseconds to poll(), at most an hour at once, and never a negative number. */
static void check_poll(void)
{
	static const struct {
		uint64_t ns;
		int least, most; /* what has passed before it is called counts */
	} times[] = {
		{0, 1, 10000},
		{RDMAEZ_NS_NOW, 0, 0},
		{2, 0, 1},
		{MS, 0, 1},
		{MS + 1, 0, 2},
		{1000000 * (uint64_t)MS + 1, 1, 1000001},
		{10000000 * (uint64_t)MS, 3600000, 3600000},
		{(uint64_t)INT32_MAX * MS + 1, 3600000, 3600000},
		{RDMAEZ_NS_FOREVER - 1, 3600000, 3600000},
		{RDMAEZ_NS_FOREVER, 3600000, 3600000},
	};

	start(SOCK_STREAM);
	for (size_t i = 0; i < COUNT_OF(times); i++) {
		t.opts.timeout_ns = times[i].ns;
		tap_eq_int(rdmaez_dm_send(t.end[0], &t.dm, NULL, &t.opts, NULL), 0, "sent");
		tap_ok(polled_ms >= times[i].least && polled_ms <= times[i].most,
		       "%llu ns are %d to %d ms: %d", (unsigned long long)times[i].ns,
		       times[i].least, times[i].most, polled_ms);
	}
}

/* Descriptor 0 of an emulation is one. */
static void check_emulated_by_0(void)
{
	const int saved = dup(0);

	emu_start();
	emu.fd = dup2(t.end[0], 0);
	tap_eq_int(rdmaez_dm_send(t.end[0], &t.dm, NULL, &t.opts, NULL), 0, "it is sent");
	check_success(&t.diag, receive(), "and received");
	tap_eq_int(t.shared.token.flags, RDMAEZ_DM_TOKEN_EMULATED, "as what it is");
	emu.closed = 1;
	tap_eq_int(rdmaez_dm_shared_close(&t.shared, NULL), 0, "and closed");
	if (saved < 0 || dup2(saved, 0))
		close(0);
	close(saved);
}

static uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The application imports within what is left of the time. */
static void check_emulated_in_time(void)
{
	static const struct {
		uint64_t given, import;
	} times[] = {{0, 10000 * (uint64_t)MS},
		     {RDMAEZ_NS_NOW, RDMAEZ_NS_NOW},
		     {7, 7},
		     {RDMAEZ_NS_FOREVER, RDMAEZ_NS_FOREVER}};
	const struct timespec nap = {0, 15 * MS};
	uint64_t began;
	pid_t sender;

	emu_start();
	t.token.flags |= RDMAEZ_DM_TOKEN_EMULATED;
	for (size_t i = 0; i < COUNT_OF(times); i++) {
		t.opts.timeout_ns = times[i].given;
		tap_eq_int(import(), 0, "imported");
		tap_ok(emu.seen_timeout == times[i].import, "within %llu ns",
		       (unsigned long long)times[i].import);
		rdmaez_dm_shared_close(&t.shared, NULL);
	}
	t.shared = t.untouched;
	fflush(stdout);
	sender = fork();
	if (!sender) {
		close(STDOUT_FILENO); /* what it asserts is not in the count */
		nanosleep(&nap, NULL);
		_exit(rdmaez_dm_send(t.end[0], &t.dm, NULL, &t.opts, NULL));
	}
	t.opts.timeout_ns = 10000 * (uint64_t)MS;
	emu.error = ETIMEDOUT;
	began = clock_ns();
	check_refusal(&t.diag, receive(), ETIMEDOUT, RDMAEZ_WHY_PEER_SILENT, "timeout_ns",
		      "an import that takes too long");
	check_call_and_verb(&t.diag, "rdmaez_dm_receive", "opts.ops.import");
	tap_ok(emu.seen_timeout < t.opts.timeout_ns &&
		       emu.seen_timeout >= t.opts.timeout_ns - (clock_ns() - began),
	       "it had what waiting for the message had left: %llu ns",
	       (unsigned long long)emu.seen_timeout);
	waitpid(sender, NULL, 0);
	check_nothing_left("an import that takes too long");
	t.opts.timeout_ns = RDMAEZ_NS_NOW;
	tap_eq_int(rdmaez_dm_send(t.end[0], &t.dm, NULL, &t.opts, NULL), 0, "another");
	tap_eq_int(receive(), ETIMEDOUT, "that must not wait");
	tap_eq_int((int64_t)emu.seen_timeout, RDMAEZ_NS_NOW, "is imported without waiting");
	tap_eq_int(rdmaez_dm_import(t.end[0], &t.token, &t.opts, &t.shared, NULL), ETIMEDOUT,
		   "the same without a record");
	emu.error = EBUSY;
	check_refusal(&t.diag, import(), EBUSY, RDMAEZ_WHY_BUSY, "opts.ops.import",
		      "an import that fails otherwise");
	/* Without an errno of its own, and none of what was before. */
	emu.error = -1;
	errno = EBUSY;
	check_refusal(&t.diag, import(), EIO, RDMAEZ_WHY_DEVICE_GONE, "opts.ops.import",
		      "an import that says nothing");
	emu.opened = NULL;
	errno = EBUSY;
	check_refusal(&t.diag, import(), EIO, RDMAEZ_WHY_DEVICE_GONE, "opts.ops.open",
		      "an application that says nothing");
	emu.error = 0;
	/* The library's own has no such time. */
	start(SOCK_STREAM);
	fake_fail(FAKE_IMPORT_DM, 1, ETIMEDOUT);
	check_refusal(&t.diag, import(), ETIMEDOUT, RDMAEZ_WHY_TIMED_OUT, "ibv_import_dm",
		      "a device that does not answer");
}

/* Each function that is missing is libibverbs' own. */
static void check_emulated_defaults(void)
{
	emu_start();
	emu.opened->cmd_fd = dup(t.ctx->cmd_fd);
	memset(&emu_ops, 0, sizeof(emu_ops));
	tap_eq_int(rdmaez_dm_send(t.end[0], &t.dm, NULL, &t.opts, NULL), 0, "sent");
	check_success(&t.diag, receive(), "and received as any memory");
	tap_eq_int(t.shared.token.flags, 0, "which the token says");
	tap_ok(!t.shared.ops, "the functions have no part in it");
	tap_eq_int(rdmaez_dm_shared_close(&t.shared, NULL), 0, "it is closed");
	emu_ops.fd = emu_fd;
	emu.has = NULL;
	tap_eq_int(rdmaez_dm_send(t.end[0], &t.dm, NULL, &t.opts, NULL), 0, "other memory is sent");
	check_success(&t.diag, receive(), "as any memory");
	tap_eq_int(t.shared.token.flags, 0, "which the token says, too");
	tap_eq_int(rdmaez_dm_shared_close(&t.shared, NULL), 0, "it is closed");
	emu_ops.open = emu_open;
	t.token.flags |= RDMAEZ_DM_TOKEN_EMULATED;
	fake_reset_log();
	/* The fake knows the number only where the file is the same. */
	check_refusal(&t.diag, import(), ENOENT, RDMAEZ_WHY_DM_STALE, "token.dm_handle",
		      "without a function to import");
	tap_eq_int(fake_count(FAKE_IMPORT_DM), 1, "ibv_import_dm() is called");
	tap_eq_int(fake_count(FAKE_CLOSE_DEVICE), 1, "and without one to close ibv_close_device()");
}

static void check_emulated_refused(void)
{
	static const struct {
		int error;
		enum rdmaez_why reason;
		const char *field;
	} open_errors[] = {
		{EBADF, RDMAEZ_WHY_DM_FD, "opts.ops.open"},
		{EINVAL, RDMAEZ_WHY_DM_FD, "opts.ops.open"},
		{ENODEV, RDMAEZ_WHY_DM_FD, "opts.ops.open"},
		{ENOMEM, RDMAEZ_WHY_NO_RESOURCES, "opts.ops.open"},
		{EOPNOTSUPP, RDMAEZ_WHY_NOT_SUPPORTED, "opts.ops.open"},
		{EACCES, RDMAEZ_WHY_UNEXPLAINED, "opts.ops.open"},
	};

	emu_start();
	t.token.flags |= RDMAEZ_DM_TOKEN_EMULATED;
	t.token.dm_handle++;
	check_refusal(&t.diag, import(), ENOENT, RDMAEZ_WHY_DM_STALE, "token.dm_handle",
		      "an emulation that does not know it");
	tap_eq_int(emu.closed, 1, "the device is closed again");
	check_nothing_left("an emulation that does not know it");
	t.token.dm_handle--;
	t.token.device_guid ^= 1;
	check_refusal(&t.diag, import(), EXDEV, RDMAEZ_WHY_DM_OTHER_DEVICE, "token.device_guid",
		      "another device");
	t.token.device_guid ^= 1;
	t.opts.flags = RDMAEZ_DM_SHARE_PD;
	CHECK_FINDINGS(&t.diag, import(), EOPNOTSUPP, "rdmaez_dm_import",
		       "a domain of emulated memory",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_DM_EMU_ALONE, "opts.flags",
			RDMAEZ_VALUE_FLAGS, RDMAEZ_DM_SHARE_PD, 0, RDMAEZ_DM_SHARE_PD});
	tap_eq_int(emu.unimported, 1, "the memory is given back");
	t.opts.flags = 0;
	emu.opened = NULL;
	for (size_t i = 0; i < COUNT_OF(open_errors); i++) {
		emu.error = open_errors[i].error;
		check_refusal(&t.diag, import(), emu.error, open_errors[i].reason,
			      open_errors[i].field, "an application that refuses");
	}
	emu_ops.open = NULL;
	check_refusal(&t.diag, import(), EOPNOTSUPP, RDMAEZ_WHY_DM_EMULATED, "opts.ops.open",
		      "an application that does not know");
	t.opts.ops = NULL;
	check_refusal(&t.diag, import(), EOPNOTSUPP, RDMAEZ_WHY_DM_EMULATED, "opts.ops",
		      "one that does not say");
	tap_eq_int(rdmaez_dm_import(0, &t.token, NULL, &t.shared, NULL), EOPNOTSUPP,
		   "nor gives options");
	tap_ok(memcmp(&t.shared, &t.untouched, sizeof(t.shared)) == 0, "the output is not written");
}

/* ---- dma-buf -------------------------------------------------------------------------------- */

static void check_dmabuf(void)
{
	const struct rdmaez_dm none = {0};
	const int saved = dup(0);
	int fd = -5;

	start(SOCK_STREAM);
	check_refusal(&t.diag, rdmaez_dm_dmabuf(NULL, &fd, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "dm", "no memory");
	check_refusal(&t.diag, rdmaez_dm_dmabuf(&t.dm, NULL, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "fd", "nowhere to put it");
	check_refusal(&t.diag, rdmaez_dm_dmabuf(&none, &fd, &t.diag), EINVAL, RDMAEZ_WHY_DM_CLOSED,
		      "dm", "closed memory");
	t.dev->quirks = FAKE_NO_IMPORT;
	check_refusal(&t.diag, rdmaez_dm_dmabuf(&t.dm, &fd, &t.diag), EOPNOTSUPP,
		      RDMAEZ_WHY_DM_NO_DMABUF, "dm", "a driver without");
	t.dev->quirks = 0;
	fake_fail(FAKE_DM_DMABUF, 1, ENOMEM);
	CHECK_FINDINGS(&t.diag, rdmaez_dm_dmabuf(&t.dm, &fd, &t.diag), ENOMEM, "rdmaez_dm_dmabuf",
		       "no memory for it",
		       {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_NO_RESOURCES, "ibv_dm_export_dmabuf_fd",
			RDMAEZ_VALUE_NONE, 0, 0, 0});

	tap_eq_int(fd, -5, "the output is never written");
	check_success(&t.diag, rdmaez_dm_dmabuf(&t.dm, &fd, &t.diag), "a dma-buf");
	tap_ok(fd >= 0 && fd == fake_last(FAKE_DM_DMABUF)->result, "is what the library returns");
	tap_eq_str(t.diag.device, "fake0", "the record names the device");
	close(fd);
	close(0);
	check_success(&t.diag, rdmaez_dm_dmabuf(&t.dm, &fd, &t.diag), "another");
	tap_eq_int(fd, 0, "may have the number 0");
	if (saved < 0 || dup2(saved, 0))
		close(0);
	close(saved);
}

/* ---- Two processes -------------------------------------------------------------------------- */

/* The other process: gets the memory, answers what it reads there, and gives it up. */
static int other_process(int socket)
{
	struct rdmaez_dm_share_opts opts;
	struct rdmaez_dm_shared shared;
	char text[16] = "";
	int error;

	fake_reset();
	memset(&opts, 0, sizeof(opts));
	opts.timeout_ns = UINT64_C(1000000) * MS; /* however slow the owner is */
	error = rdmaez_dm_receive(socket, &opts, &shared, NULL);
	if (!error)
		error = rdmaez_dm_copy_from(&shared.dm, 0, text, sizeof(text));
	if (!error && strcmp(text, "from the owner") != 0)
		error = EPROTO;
	if (!error)
		error = rdmaez_dm_copy_to(&shared.dm, LENGTH - 16, "from the other\0", 16);
	if (!error)
		error = rdmaez_dm_shared_close(&shared, NULL);
	if (!error && (fake_count(FAKE_FREE_DM) || fake_open_count()))
		error = EBUSY;
	if (send(socket, &error, sizeof(error), 0) != sizeof(error))
		return 1;
	return error;
}

/* It begins before the device is open here, so it has nothing but what comes through the socket. */
static void check_two_processes(void)
{
	int end[2], answer = -1, status = -1;
	char text[16] = "";
	pid_t child;

	finish();
	memset(&t, 0, sizeof(t));
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, end))
		tap_bail("no socket");
	child = fork();
	if (!child)
		_exit(other_process(end[1]));
	close(end[1]);
	start(SOCK_STREAM);
	tap_eq_int(rdmaez_dm_copy_to(&t.dm, 0, "from the owner\0", 16), 0, "the owner writes");
	tap_eq_int(rdmaez_dm_send(end[0], &t.dm, NULL, NULL, NULL), 0, "and sends the memory");
	tap_eq_int(recv(end[0], &answer, sizeof(answer), 0), sizeof(answer), "the other answers");
	tap_eq_str(rdmaez_errno_str(answer), rdmaez_errno_str(0), "that it has read it");
	tap_eq_int(rdmaez_dm_copy_from(&t.dm, LENGTH - 16, text, 16), 0, "the owner reads");
	tap_eq_str(text, "from the other", "what the other has written");
	tap_eq_int(waitpid(child, &status, 0), child, "the other has ended");
	tap_eq_int(status, 0, "and was content");
	ibv_dereg_mr(t.region.mr);
	tap_eq_int(rdmaez_dm_close(&t.dm, NULL), 0, "the owner frees the memory");
	close(end[0]);
}

int main(void)
{
	if (!rdmaez_impl_dm_can_import())
		tap_bail("this linker does not find functions that are referred to weakly");
	check_token_bytes();
	check_token_forgeries();
	check_token_absent();
	check_token_bits();
	check_export();
	check_export_part();
	check_export_refused();
	check_shared(SOCK_STREAM, "stream");
	check_shared(SOCK_SEQPACKET, "packets");
	check_shared(SOCK_DGRAM, "datagrams");
	check_order();
	check_wrong_order();
	check_close_fails();
	check_handed_on();
	check_messages();
	check_limit();
	check_duplicate();
	check_extras();
	check_parts();
	check_control();
	check_stream();
	check_bad_token();
	check_interrupted();
	check_sockets();
	check_send_refused();
	check_import_refused();
	check_import_device();
	check_import_fails();
	check_emulated();
	check_emulated_by_0();
	check_emulated_in_time();
	check_poll();
	check_emulated_defaults();
	check_emulated_refused();
	check_dmabuf();
	check_two_processes();
	finish();
	return tap_done();
}
