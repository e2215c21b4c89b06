/* SPDX-License-Identifier: MIT */
/* Device memory: its life, what reaches the provider of a copy, regions, addresses. */
#include "check.h"
#include "findings.h"
#include <rdmaez/dm.h>

enum {
	MOST = 4096,   /* max_dm_size */
	LENGTH = 1001, /* no multiple of 4, and some pieces of what goes over the stack */
	WHOLE = 1024,  /* what is allocated for that */
	PIECE = 256,
};

static struct {
	struct fake_device *dev;
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct rdmaez_dm_region region, no_region;
	struct rdmaez_dm dm, untouched;
	struct rdmaez_diag diag;
} t;

/* What the memory is to hold. */
static uint8_t model[MOST];

/* Nothing may look here: an address, 4-aligned and not NULL, at which nothing is. */
static void *const nowhere = (void *)(uintptr_t)16;

static void start(void)
{
	fake_close_all();
	memset(&t, 0, sizeof(t));
	t.dev = fake_reset();
	t.dev->attr.max_dm_size = MOST;
	t.ctx = fake_open(t.dev);
	t.pd = ibv_alloc_pd(t.ctx);
	memset(&t.dm, 0xa5, sizeof(t.dm));
	t.untouched = t.dm;
	memset(&t.region, 0xa5, sizeof(t.region));
	t.no_region = t.region;
	memset(&t.diag, 0x55, sizeof(t.diag));
	fake_reset_log();
}

/* Memory of this length, full of what the model holds. */
static void start_with(size_t length, const struct rdmaez_dm_opts *opts)
{
	start();
	for (size_t i = 0; i < MOST; i++)
		model[i] = (uint8_t)(i * 7 + i / 256 + 1);
	if (rdmaez_dm_alloc(t.ctx, length, opts, &t.dm, NULL) ||
	    ibv_memcpy_to_dm(t.dm.dm, 0, model, t.dm.alloc_length & ~(size_t)3))
		tap_bail("no device memory");
	fake_reset_log();
}

/* Whether the memory holds what the model does, asked past rdmaez. */
static bool as_model(void)
{
	static uint32_t held[MOST / 4];

	return !ibv_memcpy_from_dm(held, t.dm.dm, 0, t.dm.alloc_length & ~(size_t)3) &&
	       memcmp(held, model, t.dm.alloc_length & ~(size_t)3) == 0;
}

static bool is_zero(const struct rdmaez_dm *dm)
{
	const struct rdmaez_dm zero = {0};

	return memcmp(dm, &zero, sizeof(zero)) == 0;
}

/* ---- Allocating --------------------------------------------------------------------------- */

static int alloc(size_t length, unsigned int flags, size_t alignment)
{
	const struct rdmaez_dm_opts opts = {.flags = flags, .alignment = alignment};

	return rdmaez_dm_alloc(t.ctx, length, &opts, &t.dm, &t.diag);
}

static void check_lengths(void)
{
	static const struct {
		size_t length, most, asked;
		unsigned int flags;
	} cases[] = {
		{1, MOST, 64, 0},
		{63, MOST, 64, 0},
		{64, MOST, 64, 0},
		{65, MOST, 128, 0},
		{MOST - 1, MOST, MOST, 0},
		{MOST, MOST, MOST, 0},
		{64, 100, 64, 0},
		{65, 100, 65, 0}, /* 128 would be more than there is */
		{100, 100, 100, 0},
		{127, 128, 128, 0},
		{1, MOST, 1, RDMAEZ_DM_EXACT},
		{65, MOST, 65, RDMAEZ_DM_EXACT},
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		const size_t length = cases[i].length;
		const struct ibv_alloc_dm_attr *attr;

		start();
		t.dev->attr.max_dm_size = cases[i].most;
		check_success(&t.diag, alloc(length, cases[i].flags, 0), "%zu of %zu bytes", length,
			      cases[i].most);
		attr = &fake_last(FAKE_ALLOC_DM)->arg.alloc_dm;
		tap_eq_int(attr->length, cases[i].asked, "the device is asked for so many");
		tap_ok(!attr->comp_mask && !attr->log_align_req, "and for nothing else");
		tap_ok(t.dm.dm && t.dm.context == t.ctx, "the memory and its context are kept");
		tap_eq_int(t.dm.length, length, "so is the length");
		tap_eq_int(t.dm.alloc_length, cases[i].asked, "and what was asked for");
		tap_eq_int(t.dm.alignment, 0, "no alignment was");
		tap_eq_int(t.dm.owner, RDMAEZ_DM_ALLOCATED, "the memory is to be freed");
		tap_eq_int(fake_count(FAKE_ANY), 2, "one question and one allocation");
		tap_eq_str(t.diag.device, "fake0", "the record names the device");
	}
}

static void check_lengths_refused(void)
{
	start();
	CHECK_FINDINGS(
		&t.diag, alloc(0, 0, 0), EINVAL, "rdmaez_dm_alloc", "no bytes",
		{RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_RANGE, "length", RDMAEZ_VALUE_BYTES, 0, 1, MOST});
	CHECK_FINDINGS(&t.diag, alloc(MOST + 1, 0, 0), EINVAL, "rdmaez_dm_alloc", "too many bytes",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_RANGE, "length", RDMAEZ_VALUE_BYTES, MOST + 1,
			1, MOST});
	CHECK_FINDINGS(&t.diag, alloc(SIZE_MAX, 0, 0), EINVAL, "rdmaez_dm_alloc", "far too many",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_RANGE, "length", RDMAEZ_VALUE_BYTES, SIZE_MAX,
			1, MOST});
	tap_eq_int(fake_count(FAKE_ALLOC_DM), 0, "the device is not asked for any of these");
	tap_ok(!t.diag.verb, "so the record names no verb");
	tap_ok(memcmp(&t.dm, &t.untouched, sizeof(t.dm)) == 0, "the output is not written");
	/* Rounding up must not wrap around. */
	t.dev->attr.max_dm_size = UINT64_MAX;
	fake_fail(FAKE_ALLOC_DM, 1, ENOMEM);
	CHECK_FINDINGS(&t.diag, alloc(SIZE_MAX - 5, 0, 0), ENOMEM, "rdmaez_dm_alloc",
		       "all there is",
		       {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_DM_FULL, "length", RDMAEZ_VALUE_BYTES,
			SIZE_MAX - 5, 0, UINT64_MAX});
	tap_ok(fake_last(FAKE_ALLOC_DM)->arg.alloc_dm.length == SIZE_MAX - 5,
	       "the device is asked for just that");
}

static void check_alignment(void)
{
	static const size_t wrong[] = {3,       65, 96, ((size_t)1 << 31) + 1, SIZE_MAX / 2 + 2,
				       SIZE_MAX};
	const int64_t most = INT64_C(1) << 31;

	for (uint32_t exponent = 0; exponent <= 12; exponent++) {
		start();
		check_success(&t.diag, alloc(8, 0, (size_t)1 << exponent), "2^%u", exponent);
		tap_eq_int(fake_last(FAKE_ALLOC_DM)->arg.alloc_dm.log_align_req, exponent,
			   "the device is asked for that exponent");
		tap_eq_int(t.dm.alignment, 1 << exponent, "and the alignment is kept");
	}
	start();
	for (size_t i = 0; i < COUNT_OF(wrong); i++)
		CHECK_FINDINGS(&t.diag, alloc(8, 0, wrong[i]), EINVAL, "rdmaez_dm_alloc",
			       "no alignment",
			       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_DM_ALIGNMENT, "opts.alignment",
				RDMAEZ_VALUE_BYTES, wrong[i], 1, (uint64_t)most});
	tap_eq_int(fake_count(FAKE_ANY), 0, "nobody is asked about any of these");
	CHECK_FINDINGS(&t.diag, alloc(8, 0, (size_t)most), EINVAL, "rdmaez_dm_alloc",
		       "the greatest there is, and more than the device has",
		       {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_DM_ALIGNMENT, "opts.alignment",
			RDMAEZ_VALUE_BYTES, (uint64_t)most, 0, UINT64_MAX});
	tap_eq_int(fake_last(FAKE_ALLOC_DM)->arg.alloc_dm.log_align_req, 31, "2^31 is asked for");
	CHECK_FINDINGS(&t.diag, alloc(8, 6, 0), EINVAL, "rdmaez_dm_alloc", "flags of the future",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_OPTION_UNKNOWN, "opts.flags",
			RDMAEZ_VALUE_FLAGS, 6, 0, 6});
	CHECK_FINDINGS(&t.diag, alloc(8, RDMAEZ_DM_EXACT | 8, 0), EINVAL, "rdmaez_dm_alloc",
		       "one of them",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_OPTION_UNKNOWN, "opts.flags",
			RDMAEZ_VALUE_FLAGS, 8, 0, RDMAEZ_DM_EXACT | 8});
}

static void check_no_memory(void)
{
	start();
	t.dev->attr.max_dm_size = 0;
	check_refusal(&t.diag, alloc(8, 0, 0), EOPNOTSUPP, RDMAEZ_WHY_DM_NONE, "max_dm_size",
		      "a device without any");
	tap_eq_int(fake_count(FAKE_ALLOC_DM), 0, "it is not asked for some");
	t.dev->attr.max_dm_size = MOST;
	fake_fail(FAKE_QUERY_DEVICE_EX, 1, EIO);
	check_refusal(&t.diag, alloc(8, 0, 0), EIO, RDMAEZ_WHY_QUERY_REFUSED, "ibv_query_device_ex",
		      "a device that does not answer");
	tap_eq_str(t.diag.verb, "ibv_query_device_ex", "the record names the verb");
	tap_eq_int(fake_count(FAKE_ALLOC_DM), 0, "it is not asked for some either");
	check_refusal(&t.diag, rdmaez_dm_alloc(NULL, 8, NULL, &t.dm, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "context", "no context");
	check_refusal(&t.diag, rdmaez_dm_alloc(t.ctx, 8, NULL, NULL, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "dm", "nowhere to put it");
	tap_ok(memcmp(&t.dm, &t.untouched, sizeof(t.dm)) == 0, "the output is not written");
	tap_eq_int(rdmaez_dm_alloc(t.ctx, 0, NULL, &t.dm, NULL), EINVAL, "nor is a record needed");
	tap_eq_int(rdmaez_dm_alloc(t.ctx, 8, NULL, &t.dm, NULL), 0, "also for success");
}

static void check_alloc_failures(void)
{
	static const struct {
		int error;
		enum rdmaez_why reason;
		const char *field;
	} cases[] = {
		{ENOMEM, RDMAEZ_WHY_DM_FULL, "length"},
		{EAGAIN, RDMAEZ_WHY_DM_FULL, "length"},
		{ENOSPC, RDMAEZ_WHY_DM_FULL, "length"},
		{EPROTONOSUPPORT, RDMAEZ_WHY_NOT_SUPPORTED, "ibv_alloc_dm"},
		{EOPNOTSUPP, RDMAEZ_WHY_NOT_SUPPORTED, "ibv_alloc_dm"},
		{EBUSY, RDMAEZ_WHY_BUSY, "ibv_alloc_dm"},
		{EIO, RDMAEZ_WHY_DEVICE_GONE, "ibv_alloc_dm"},
		{ETIMEDOUT, RDMAEZ_WHY_TIMED_OUT, "ibv_alloc_dm"},
		{EINVAL, RDMAEZ_WHY_UNEXPLAINED, "ibv_alloc_dm"},
	};

	start();
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		fake_fail(FAKE_ALLOC_DM, 1, cases[i].error);
		check_refusal(&t.diag, alloc(8, 0, 0), cases[i].error, cases[i].reason,
			      cases[i].field, "the device says");
		tap_eq_int(t.diag.finding[0].severity, RDMAEZ_DIAG_LIKELY, "which is likely");
		tap_eq_str(t.diag.verb, "ibv_alloc_dm", "and the record names the verb");
		fake_fail(FAKE_ALLOC_DM, 1, cases[i].error);
		tap_eq_int(rdmaez_dm_alloc(t.ctx, 8, NULL, &t.dm, NULL), cases[i].error,
			   "the same without a record");
	}
	/* No device does less than 64, so it is not for that. */
	for (size_t alignment = 1; alignment <= 128; alignment *= 2) {
		fake_fail(FAKE_ALLOC_DM, 1, EINVAL);
		check_refusal(&t.diag, alloc(8, 0, alignment), EINVAL,
			      alignment > 64 ? RDMAEZ_WHY_DM_ALIGNMENT : RDMAEZ_WHY_UNEXPLAINED,
			      alignment > 64 ? "opts.alignment" : "ibv_alloc_dm",
			      "refused with an alignment of %zu", alignment);
	}
	tap_ok(memcmp(&t.dm, &t.untouched, sizeof(t.dm)) == 0, "the output is not written");
	t.dev->dm_size = 128;
	check_success(&t.diag, alloc(65, 0, 0), "all that the device has");
	check_refusal(&t.diag, alloc(1, 0, 0), ENOMEM, RDMAEZ_WHY_DM_FULL, "length",
		      "more than that");
	tap_eq_int(rdmaez_dm_close(&t.dm, NULL), 0, "it is given back");
	check_success(&t.diag, alloc(1, 0, 0), "and there is some again");
}

/* ---- Closing ------------------------------------------------------------------------------ */

static void check_close(void)
{
	start_with(LENGTH, NULL);
	check_success(&t.diag, rdmaez_dm_close(&t.dm, &t.diag), "what was allocated is closed");
	tap_eq_str(t.diag.call, "rdmaez_dm_close", "the record is this call's");
	tap_eq_str(t.diag.device, "fake0", "and names the device");
	tap_eq_int(fake_count(FAKE_FREE_DM), 1, "by freeing it");
	tap_eq_int(fake_count(FAKE_ANY), 1, "and nothing else");
	tap_ok(is_zero(&t.dm), "nothing is left of it");
	check_refusal(&t.diag, rdmaez_dm_close(&t.dm, &t.diag), EINVAL, RDMAEZ_WHY_DM_CLOSED, "dm",
		      "closing it twice");
	check_refusal(&t.diag, rdmaez_dm_close(NULL, &t.diag), EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
		      "dm", "closing nothing");
	tap_eq_int(rdmaez_dm_close(&t.dm, NULL), EINVAL, "so is either without a record");
	tap_eq_int(fake_count(FAKE_ANY), 1, "and nothing is touched");
	start_with(LENGTH, NULL);
	t.dm.owner = RDMAEZ_DM_NOBODY;
	check_refusal(&t.diag, rdmaez_dm_close(&t.dm, &t.diag), EINVAL, RDMAEZ_WHY_DM_CLOSED,
		      "dm.owner", "what nobody owns");
	tap_eq_int(fake_count(FAKE_ANY), 0, "nor touched");
}

static void check_close_busy(void)
{
	struct rdmaez_dm before;
	uint32_t word = 0;

	start_with(LENGTH, NULL);
	if (rdmaez_dm_reg(&t.dm, t.pd, NULL, 0, &t.region, NULL))
		tap_bail("no region");
	before = t.dm;
	CHECK_VERB_FINDINGS(
		&t.diag, rdmaez_dm_close(&t.dm, &t.diag), EBUSY, "rdmaez_dm_close", "ibv_free_dm",
		"memory with a region on it",
		{RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_DM_IN_USE, "dm", RDMAEZ_VALUE_NONE, 0, 0, 0});
	tap_ok(memcmp(&t.dm, &before, sizeof(before)) == 0, "it stays as it was");
	tap_eq_int(rdmaez_dm_copy_from(&t.dm, 8, &word, 4), 0, "and can be used");
	tap_ok(memcmp(&word, model + 8, 4) == 0, "with what it holds");
	tap_eq_int(rdmaez_dm_close(&t.dm, NULL), EBUSY, "trying again changes nothing");
	tap_eq_int(ibv_dereg_mr(t.region.mr), 0, "the region is deregistered");
	fake_fail(FAKE_FREE_DM, 1, EIO);
	check_refusal(&t.diag, rdmaez_dm_close(&t.dm, &t.diag), EIO, RDMAEZ_WHY_DEVICE_GONE,
		      "ibv_free_dm", "another refusal");
	tap_eq_str(t.diag.verb, "ibv_free_dm", "names the verb, too");
	tap_ok(memcmp(&t.dm, &before, sizeof(before)) == 0, "and it stays as it was");
	tap_eq_int(fake_count(FAKE_UNIMPORT_DM), 0, "none of this unimports it");
	tap_eq_int(rdmaez_dm_close(&t.dm, NULL), 0, "then it is closed");
	tap_ok(is_zero(&t.dm), "and nothing is left of it");
}

static void check_close_wrapped(void)
{
	struct ibv_alloc_dm_attr attr = {.length = 100};
	struct ibv_dm *made;

	start();
	made = ibv_alloc_dm(t.ctx, &attr);
	check_refusal(&t.diag, rdmaez_dm_wrap(NULL, 100, &t.dm, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "memory", "nothing to wrap");
	CHECK_FINDINGS(&t.diag, rdmaez_dm_wrap(made, 0, &t.dm, &t.diag), EINVAL, "rdmaez_dm_wrap",
		       "memory without a length",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_RANGE, "length", RDMAEZ_VALUE_BYTES, 0, 1,
			UINT64_MAX});
	tap_ok(memcmp(&t.dm, &t.untouched, sizeof(t.dm)) == 0, "the output is not written");
	check_refusal(&t.diag, rdmaez_dm_wrap(made, 100, NULL, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "dm", "nowhere to put it");
	check_success(&t.diag, rdmaez_dm_wrap(made, 100, &t.dm, &t.diag),
		      "the application's memory is wrapped");
	tap_eq_str(t.diag.call, "rdmaez_dm_wrap", "the record is this call's");
	tap_eq_str(t.diag.device, "fake0", "and names the device");
	tap_ok(t.dm.dm == made && t.dm.context == t.ctx, "the object and its context are kept");
	tap_eq_int(t.dm.length, 100, "so is the length");
	tap_eq_int(t.dm.alloc_length, 100, "which is taken for what was allocated");
	tap_eq_int(t.dm.alignment, 0, "of an alignment nothing is known");
	tap_eq_int(t.dm.owner, RDMAEZ_DM_WRAPPED, "and who made it is");
	tap_eq_int(rdmaez_dm_close(&t.dm, NULL), 0, "it is closed");
	tap_eq_int(fake_count(FAKE_FREE_DM), 1, "by freeing it");
	tap_ok(is_zero(&t.dm), "nothing is left of it");
}

/* A driver that hands out memory and reports none: its copy functions are not to be trusted. */
static void check_wrap_untrusted(void)
{
	int (*to)(struct ibv_dm *, uint64_t, const void *, size_t);
	int (*from)(void *, struct ibv_dm *, uint64_t, size_t);
	struct ibv_dm *made;

	start_with(LENGTH, NULL);
	made = t.dm.dm;
	to = made->memcpy_to_dm;
	from = made->memcpy_from_dm;
	t.dm = t.untouched;
	t.dev->attr.max_dm_size = 0;
	check_refusal(&t.diag, rdmaez_dm_wrap(made, LENGTH, &t.dm, &t.diag), EOPNOTSUPP,
		      RDMAEZ_WHY_DM_NONE, "max_dm_size",
		      "copy functions of a device that reports no memory");
	check_refusal(&t.diag, rdmaez_dm_wrap_imported(made, LENGTH, &t.dm, &t.diag), EOPNOTSUPP,
		      RDMAEZ_WHY_DM_NONE, "max_dm_size", "imported as well");
	made->memcpy_to_dm = NULL;
	tap_eq_int(rdmaez_dm_wrap(made, LENGTH, &t.dm, NULL), EOPNOTSUPP, "one of them");
	made->memcpy_to_dm = to;
	made->memcpy_from_dm = NULL;
	tap_eq_int(rdmaez_dm_wrap(made, LENGTH, &t.dm, NULL), EOPNOTSUPP, "or the other");
	tap_ok(memcmp(&t.dm, &t.untouched, sizeof(t.dm)) == 0, "the output is not written");
	made->memcpy_to_dm = NULL;
	fake_reset_log();
	tap_eq_int(rdmaez_dm_wrap(made, LENGTH, &t.dm, NULL), 0, "none, as SW ICM has");
	tap_eq_int(fake_count(FAKE_ANY), 0, "nobody is asked about that");
	tap_eq_int(rdmaez_dm_copy_to(&t.dm, 0, model, 4), EOPNOTSUPP, "nor is anything copied");
	made->memcpy_to_dm = to;
	made->memcpy_from_dm = from;
	fake_fail(FAKE_QUERY_DEVICE_EX, 1, EIO);
	tap_eq_int(rdmaez_dm_wrap(made, LENGTH, &t.dm, NULL), 0, "a device that does not answer");
	tap_eq_int(fake_count(FAKE_ANY), 1, "was asked once");
}

static void check_close_wrapped_import(void)
{
	struct rdmaez_dm other;

	start_with(LENGTH, NULL);
	memset(&other, 0xa5, sizeof(other));
	tap_eq_int(rdmaez_dm_wrap_imported(NULL, LENGTH, &other, NULL), EINVAL,
		   "nothing is not wrapped");
	tap_eq_int(rdmaez_dm_wrap_imported(t.dm.dm, 0, &other, NULL), EINVAL,
		   "nor without a length");
	tap_eq_int(rdmaez_dm_wrap_imported(t.dm.dm, LENGTH, NULL, NULL), EINVAL, "nor to nowhere");
	tap_ok(memcmp(&other, &t.untouched, sizeof(other)) == 0, "the output is not written");
	if (!tap_eq_int(rdmaez_dm_wrap_imported(ibv_import_dm(t.ctx, t.dm.dm->handle), LENGTH,
						&other, NULL),
			0, "what the application has imported is wrapped"))
		tap_bail("as by a linker that does not find functions that are referred to weakly");
	tap_ok(other.dm && other.dm != t.dm.dm && other.context == t.ctx, "it is kept");
	tap_ok(other.length == LENGTH && other.alloc_length == LENGTH && !other.alignment,
	       "with its length");
	tap_eq_int(other.owner, RDMAEZ_DM_IMPORTED, "and as what it is");
	fake_reset_log();
	tap_eq_int(rdmaez_dm_close(&other, NULL), 0, "it is closed");
	tap_eq_int(fake_count(FAKE_UNIMPORT_DM), 1, "by unimporting it");
	tap_eq_int(fake_count(FAKE_FREE_DM), 0, "it is not freed");
	tap_ok(is_zero(&other), "nothing is left of it");
	tap_ok(as_model(), "but the memory is still there");
}

static void check_close_imported(void)
{
	struct rdmaez_dm other;

	start_with(LENGTH, NULL);
	other = t.dm;
	other.dm = ibv_import_dm(t.ctx, t.dm.dm->handle);
	other.owner = RDMAEZ_DM_IMPORTED;
	tap_eq_int(rdmaez_dm_close(&other, NULL), 0, "what was imported is closed");
	tap_eq_int(fake_count(FAKE_UNIMPORT_DM), 1, "by unimporting it");
	tap_eq_int(fake_count(FAKE_FREE_DM), 0, "it is not freed");
	tap_ok(is_zero(&other), "nothing is left of it");
	tap_ok(as_model(), "but the memory is still there");

	other.dm = ibv_import_dm(t.ctx, t.dm.dm->handle);
	tap_eq_int(ibv_free_dm(other.dm), 0, "someone frees it who should not");
	fake_reset_log();
	check_refusal(&t.diag, rdmaez_dm_close(&t.dm, &t.diag), ENOENT, RDMAEZ_WHY_DM_STALE, "dm",
		      "closing it then");
	tap_eq_str(t.diag.verb, "ibv_free_dm", "the record names the verb");
	tap_eq_int(fake_count(FAKE_UNIMPORT_DM), 1, "and gives up the mapping");
	tap_ok(is_zero(&t.dm), "nothing is left of it");
}

static struct ibv_dm *given_up;

static void give_up(struct ibv_dm *dm)
{
	given_up = dm;
}

/* Imported by other means than libibverbs', it is given up by other means. */
static void check_close_unimport(void)
{
	struct ibv_dm *made;

	start_with(LENGTH, NULL);
	made = t.dm.dm;
	t.dm.owner = RDMAEZ_DM_IMPORTED;
	t.dm.unimport = give_up;
	check_success(&t.diag, rdmaez_dm_close(&t.dm, &t.diag),
		      "memory with an unimport of its own");
	tap_eq_ptr(given_up, made, "is handed to that");
	tap_eq_int(fake_count(FAKE_ANY), 0, "and to nobody else");
	tap_ok(is_zero(&t.dm), "nothing is left of it");
}

/* ---- What reaches the provider ------------------------------------------------------------ */

/* The copies, all with one shape. */
enum copy {
	TO,
	FROM,
	TO_BYTES,
	FROM_BYTES,
	FILL,
	COPIES
};

static const char *const copy_name[] = {"copy_to", "copy_from", "copy_to_bytes", "copy_from_bytes",
					"fill"};

static int copy(enum copy kind, const struct rdmaez_dm *dm, uint64_t offset, void *host,
		size_t length)
{
	switch (kind) {
	case TO:
		return rdmaez_dm_copy_to(dm, offset, host, length);
	case FROM:
		return rdmaez_dm_copy_from(dm, offset, host, length);
	case TO_BYTES:
		return rdmaez_dm_copy_to_bytes(dm, offset, host, length);
	case FROM_BYTES:
		return rdmaez_dm_copy_from_bytes(dm, offset, host, length);
	default:
		return rdmaez_dm_fill(dm, offset, 0x77, length);
	}
}

/* What it returns, by the documented order and nothing else. */
static int copy_error(enum copy kind, uint64_t offset, bool has_host, size_t length)
{
	const bool bytes = kind == TO_BYTES || kind == FROM_BYTES;
	const uint64_t end = offset + length;

	if (end < offset || end > t.dm.length)
		return EFAULT;
	if (!bytes && (offset % 4 || length % 4))
		return EINVAL;
	if (bytes && length && (end + 3) / 4 * 4 > t.dm.alloc_length)
		return EFAULT;
	if (!t.dm.dm->memcpy_to_dm)
		return EOPNOTSUPP;
	return length && !has_host && kind != FILL ? EINVAL : 0;
}

/* Numbers around which things go wrong. */
static const uint64_t edges[] = {0,
				 4,
				 PIECE,
				 LENGTH - 1,
				 1024,
				 MOST,
				 UINT64_C(1) << 31,
				 UINT64_C(1) << 32,
				 UINT64_C(1) << 62,
				 UINT64_C(1) << 63,
				 UINT64_MAX - LENGTH,
				 UINT64_MAX - 3};

/* All pairs of numbers near an edge: whatever is to be refused comes with an address that is none. */
static void check_boundaries(enum copy kind)
{
	int wrong = 0, refused = 0, calls = 0;

	for (size_t i = 0; i < COUNT_OF(edges) * 16; i++)
		for (size_t j = 0; j < COUNT_OF(edges) * 16; j++) {
			const uint64_t offset = edges[i / 16] + i % 16 - 8;
			const size_t length = (size_t)(edges[j / 16] + j % 16 - 8);
			static uint32_t room[MOST / 4];
			int error = copy_error(kind, offset, true, length);
			void *host = error || !length ? nowhere : room;
			int got;

			fake_reset_log();
			got = copy(kind, &t.dm, offset, host, length);
			wrong += got != error;
			refused += error != 0;
			calls += error && fake_count(FAKE_ANY);
			wrong += fake_out_of_bounds() != 0;
		}
	tap_eq_int(wrong, 0, "%s: every range near an edge gets its errno", copy_name[kind]);
	tap_ok(refused > 30000, "%s: most of them are refused", copy_name[kind]);
	tap_eq_int(calls, 0, "%s: and the provider sees none of these", copy_name[kind]);
}

static void check_all_boundaries(void)
{
	const struct rdmaez_dm_opts exact = {.flags = RDMAEZ_DM_EXACT};

	for (int kind = 0; kind < COPIES; kind++) {
		start_with(LENGTH, NULL);
		check_boundaries((enum copy)kind);
		/* The last word of this one is not all there. */
		start_with(LENGTH, &exact);
		check_boundaries((enum copy)kind);
		/* One byte more would be made of words. */
		start_with(LENGTH + 2, NULL);
		check_boundaries((enum copy)kind);
		start_with(LENGTH, NULL);
		t.dm.dm->memcpy_to_dm = NULL;
		t.dm.dm->memcpy_from_dm = NULL;
		tap_eq_int(rdmaez_dm_wrap(t.dm.dm, LENGTH, &t.dm, NULL), 0, "without a mapping");
		check_boundaries((enum copy)kind);
	}
}

static uint64_t random_state = 88172645463325252u;

/* Marsaglia's xorshift: the same numbers in each run. */
static uint64_t random_64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* Of all magnitudes; every second one is within the memory or not far outside, and often made of words. */
static uint64_t random_number(void)
{
	const uint64_t number = random_64();

	if (number & 1 << 20)
		return number >> 32 & (number & 1 << 21 ? 0x3ff : 0x3fc);
	return number >> (number >> 58);
}

/* The model's side of a copy that is to succeed; false where `host` holds something else. */
static bool replay(enum copy kind, uint64_t offset, const uint8_t *host, size_t length)
{
	switch (kind) {
	case TO:
	case TO_BYTES:
		memcpy(model + offset, host, length);
		return true;
	case FROM:
	case FROM_BYTES:
		return memcmp(model + offset, host, length) == 0;
	default:
		memset(model + offset, 0x77, length);
		return true;
	}
}

/* Offsets and lengths of 64 bits, host addresses of all alignments, against an exact model. */
static void check_random(void)
{
	unsigned int errors = 0, contents = 0, good = 0, outside = 0;

	start_with(LENGTH, NULL);
	for (int i = 0; i < 240000; i++) {
		const enum copy kind = (enum copy)(random_64() >> 20) % COPIES;
		const uint64_t offset = random_number();
		const size_t length = (size_t)random_number();
		const int error = copy_error(kind, offset, true, length);
		const size_t shift = random_64() % 4;
		/* No longer than the copy, so that the sanitizer sees a byte too many. */
		uint8_t *room = error ? NULL : (uint8_t *)malloc(shift + length);
		uint8_t *host = error ? (uint8_t *)nowhere : room + shift;

		/* Nothing that repeats with the size of a part. */
		for (size_t j = 0, first = random_64() & 0xff; room && j < shift + length; j++)
			room[j] = (uint8_t)(first + j * 3 + j / 256);
		errors += copy(kind, &t.dm, offset, host, length) != error;
		if (!error) {
			good++;
			contents += !replay(kind, offset, host, length);
		}
		outside += fake_out_of_bounds() != 0;
		if (i % 1000 == 0)
			contents += !as_model();
		free(room);
	}
	tap_eq_int(errors, 0, "random ranges get the errno they should");
	tap_ok(good > 15000, "many of them are copied");
	tap_eq_int(contents, 0, "and the memory holds what it should");
	tap_eq_int(outside, 0, "nothing outside has reached the provider");
}

/* ---- Refusals one by one ------------------------------------------------------------------ */

static void check_no_object(void)
{
	struct rdmaez_dm closed;

	memset(&closed, 0, sizeof(closed));
	start_with(LENGTH, NULL);
	for (int kind = 0; kind < COPIES; kind++) {
		const char *name = copy_name[kind];

		/* Even a range that is refused for other things, and whatever the rest holds. */
		closed.length = kind % 2 ? LENGTH : 0;
		closed.alloc_length = closed.length;
		tap_eq_int(copy((enum copy)kind, NULL, 0, nowhere, 4), EINVAL, "%s: NULL", name);
		tap_eq_int(copy((enum copy)kind, NULL, 1, nowhere, 4), EINVAL, "%s: again", name);
		tap_eq_int(copy((enum copy)kind, &closed, 0, nowhere, 4), EINVAL, "%s: closed",
			   name);
		tap_eq_int(copy((enum copy)kind, &closed, UINT64_MAX, nowhere, 5), EINVAL,
			   "%s: closed, and out of range", name);
		tap_eq_int(copy((enum copy)kind, &closed, 0, NULL, 0), EINVAL,
			   "%s: closed, and nothing to do", name);
		tap_eq_int(copy((enum copy)kind, &t.dm, 0, NULL, 4), kind == FILL ? 0 : EINVAL,
			   "%s: no buffer", name);
		tap_eq_int(copy((enum copy)kind, &t.dm, LENGTH - 1, NULL, 0), 0,
			   "%s: none is needed for no bytes", name);
		tap_eq_int(copy((enum copy)kind, &t.dm, 2000, NULL, 4), EFAULT,
			   "%s: a range outside comes before the buffer", name);
	}
	tap_eq_int(fake_count(FAKE_ANY), 1, "only what fill has done has reached the provider");
}

/* One of the two copy functions is missing: what needs only the other works. */
static void check_half_a_mapping(void)
{
	static const int without_to[COPIES] = {EOPNOTSUPP, 0, EOPNOTSUPP, 0, EOPNOTSUPP};
	static const int without_from[COPIES] = {0, EOPNOTSUPP, EOPNOTSUPP, EOPNOTSUPP, 0};
	static uint32_t room[4];

	for (int kind = 0; kind < COPIES; kind++) {
		const uint64_t offset = kind == TO_BYTES || kind == FROM_BYTES ? 5 : 4;

		start_with(LENGTH, NULL);
		t.dm.dm->memcpy_to_dm = NULL;
		tap_eq_int(rdmaez_dm_wrap(t.dm.dm, LENGTH, &t.dm, NULL), 0, "no copy to");
		tap_eq_int(copy((enum copy)kind, &t.dm, offset, room, 8), without_to[kind], "%s",
			   copy_name[kind]);
		check_refusal(&t.diag, rdmaez_dm_check(&t.dm, 4, 8, &t.diag), EOPNOTSUPP,
			      RDMAEZ_WHY_DM_NO_CPU, "dm", "asked before");
		start_with(LENGTH, NULL);
		t.dm.dm->memcpy_from_dm = NULL;
		tap_eq_int(rdmaez_dm_wrap(t.dm.dm, LENGTH, &t.dm, NULL), 0, "no copy from");
		tap_eq_int(copy((enum copy)kind, &t.dm, offset, room, 8), without_from[kind], "%s",
			   copy_name[kind]);
		check_refusal(&t.diag, rdmaez_dm_check(&t.dm, 4, 8, &t.diag), EOPNOTSUPP,
			      RDMAEZ_WHY_DM_NO_CPU, "dm", "asked before");
	}
	start();
	t.dev->quirks = FAKE_DM_NO_CPU;
	tap_eq_int(rdmaez_dm_alloc(t.ctx, 64, NULL, &t.dm, NULL), 0, "memory without a mapping");
	tap_eq_int(rdmaez_dm_copy_to(&t.dm, 0, room, 8), EOPNOTSUPP, "is not copied to");
	tap_eq_int(rdmaez_dm_copy_from(&t.dm, 0, room, 8), EOPNOTSUPP, "nor from");
	tap_eq_int(rdmaez_dm_reg(&t.dm, t.pd, NULL, 0, &t.region, NULL), 0, "but it is registered");
}

static void check_asking(void)
{
	const uint64_t far = UINT64_C(1) << 63;
	char text[2048];

	start_with(LENGTH, NULL);
	check_success(&t.diag, rdmaez_dm_check(&t.dm, 4, 996, &t.diag), "a range to copy");
	tap_eq_str(t.diag.device, "fake0", "the record names the device");
	check_success(&t.diag, rdmaez_dm_check(&t.dm, 1000, 0, &t.diag), "an empty one");
	tap_eq_int(rdmaez_dm_check(&t.dm, 0, 8, NULL), 0, "without a record");
	CHECK_FINDINGS(&t.diag, rdmaez_dm_check(&t.dm, 5, 7, &t.diag), EINVAL, "rdmaez_dm_check",
		       "no words at all",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_DM_GRANULARITY, "offset", RDMAEZ_VALUE_BYTES,
			5, 0, UINT64_MAX},
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_DM_GRANULARITY, "length", RDMAEZ_VALUE_BYTES,
			7, 0, UINT64_MAX});
	CHECK_FINDINGS(&t.diag, rdmaez_dm_check(&t.dm, 4, 7, &t.diag), EINVAL, "rdmaez_dm_check",
		       "a length that is none",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_DM_GRANULARITY, "length", RDMAEZ_VALUE_BYTES,
			7, 0, UINT64_MAX});
	CHECK_FINDINGS(&t.diag, rdmaez_dm_check(&t.dm, 8, LENGTH, &t.diag), EFAULT,
		       "rdmaez_dm_check", "too long",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_DM_RANGE, "length", RDMAEZ_VALUE_BYTES,
			LENGTH, 0, LENGTH - 8});
	CHECK_FINDINGS(&t.diag, rdmaez_dm_check(&t.dm, far + 1, 3, &t.diag), EFAULT,
		       "rdmaez_dm_check", "far outside",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_DM_RANGE, "offset", RDMAEZ_VALUE_BYTES,
			far + 1, 0, LENGTH});
	rdmaez_diag_format(&t.diag, text, sizeof(text));
	tap_ok(strstr(text, "Given: 9223372036854775809 bytes; accepted: 0\n"),
	       "which is told as a number without a sign");
	check_refusal(&t.diag, rdmaez_dm_check(NULL, 0, 4, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "dm", "nothing");
	tap_eq_int(fake_count(FAKE_ANY), 0, "nobody was asked");
	tap_eq_int(rdmaez_dm_close(&t.dm, NULL), 0, "closed");
	check_refusal(&t.diag, rdmaez_dm_check(&t.dm, 0, 4, &t.diag), EINVAL, RDMAEZ_WHY_DM_CLOSED,
		      "dm", "closed memory");
}

/* ---- Copies in detail --------------------------------------------------------------------- */

/* From and to any address: the provider gets words at word addresses, in pieces. */
static void check_unaligned_hosts(void)
{
	static const size_t lengths[] = {4, 252, 256, 260, 512, 1000};
	uint8_t *room = (uint8_t *)malloc(LENGTH + 8);

	for (size_t i = 0; i < COUNT_OF(lengths); i++)
		for (size_t shift = 0; shift < 4; shift++) {
			const size_t length = lengths[i], pieces = (length + PIECE - 1) / PIECE;
			const unsigned int calls = shift ? (unsigned int)pieces : 1;

			start_with(LENGTH, NULL);
			memset(room, 0xee, LENGTH + 8);
			tap_eq_int(rdmaez_dm_copy_from(&t.dm, 0, room + shift, length), 0,
				   "%zu bytes to an address plus %zu", length, shift);
			tap_eq_int(fake_count(FAKE_ANY), calls, "in as many calls");
			tap_ok(memcmp(room + shift, model, length) == 0, "come all out");
			tap_ok((!shift || room[shift - 1] == 0xee) && room[shift + length] == 0xee,
			       "and no more");
			for (size_t j = 0; j < length; j++)
				room[shift + j] = model[j] = (uint8_t)(j * 3 + j / 256);
			tap_eq_int(rdmaez_dm_copy_to(&t.dm, 0, room + shift, length), 0,
				   "and back");
			tap_eq_int(fake_count(FAKE_ANY), 2 * calls, "in as many calls");
			tap_ok(as_model(), "they all come in, and no more");
			tap_eq_int(fake_out_of_bounds(), 0, "the provider sees words only");
		}
	free(room);
}

/* Every offset and length of a small memory, both ways. */
static void check_bytes(size_t length, const struct rdmaez_dm_opts *opts)
{
	unsigned int wrong = 0, stray = 0, reads = 0, writes = 0;
	uint8_t host[80];

	start_with(length, opts);
	for (size_t offset = 0; offset <= length; offset++)
		for (size_t n = 0; n <= length - offset; n++) {
			const int error = copy_error(TO_BYTES, offset, true, n);
			const bool head = (offset % 4 && n), tail = ((offset + n) % 4 && n);
			const bool one_word = offset / 4 == (offset + n) / 4;

			fake_reset_log();
			for (size_t i = 0; i < sizeof(host); i++)
				host[i] = (uint8_t)random_64();
			wrong += rdmaez_dm_copy_to_bytes(&t.dm, offset, host, n) != error;
			if (!error) {
				memcpy(model + offset, host, n);
				reads += fake_count(FAKE_MEMCPY_FROM_DM) !=
					 (unsigned int)(head + (tail && !(head && one_word)));
				writes += fake_count(FAKE_MEMCPY_TO_DM) != (n ? 1 : 0);
			} else {
				reads += fake_count(FAKE_ANY) != 0;
			}
			stray += !as_model();
			memset(host, 0xee, sizeof(host));
			wrong += rdmaez_dm_copy_from_bytes(&t.dm, offset, host + 1, n) != error;
			stray += !error && memcmp(host + 1, model + offset, n) != 0;
			stray += host[0] != 0xee || host[n + 1] != 0xee;
			stray += error && host[1] != 0xee;
		}
	tap_eq_int(wrong, 0, "bytes of %zu: each copy gets its errno", length);
	tap_eq_int(stray, 0, "just the bytes meant are changed, here and there");
	tap_eq_int(reads, 0, "only words that are not meant as a whole are read");
	tap_eq_int(writes, 0, "and everything is written at once");
	tap_eq_int(fake_out_of_bounds(), 0, "nothing outside reaches the provider");
}

static void check_all_bytes(void)
{
	const struct rdmaez_dm_opts exact = {.flags = RDMAEZ_DM_EXACT};

	check_bytes(24, NULL);
	check_bytes(23, NULL);
	check_bytes(23, &exact);
	check_bytes(24, &exact);
	/* An application's own struct, with this left at zero. */
	start_with(LENGTH, NULL);
	t.dm.alloc_length = 0;
	tap_eq_int(rdmaez_dm_copy_to_bytes(&t.dm, 3, model, 2), EFAULT, "words that nobody has");
	tap_eq_int(rdmaez_dm_copy_from_bytes(&t.dm, 3, nowhere, 2), EFAULT, "neither way");
	tap_eq_int(fake_count(FAKE_ANY), 0, "are not copied");
}

static void check_fill(void)
{
	start_with(LENGTH, NULL);
	tap_eq_int(rdmaez_dm_fill(&t.dm, 8, 0x1a5, 700), 0, "700 bytes are filled");
	memset(model + 8, 0xa5, 700);
	tap_ok(as_model(), "with the low 8 bits of the value, and no more than these");
	tap_eq_int(fake_count(FAKE_MEMCPY_TO_DM), 3, "in three calls");
	tap_eq_int(rdmaez_dm_fill(&t.dm, 8, 0, 2), EINVAL, "half a word is not");
	tap_ok(as_model(), "and nothing is changed");
}

/* The provider fails in the first call, and in the second where there is one. */
static void check_provider_failures(void)
{
	static const enum fake_verb verb[COPIES] = {FAKE_MEMCPY_TO_DM, FAKE_MEMCPY_FROM_DM,
						    FAKE_MEMCPY_TO_DM, FAKE_MEMCPY_FROM_DM,
						    FAKE_MEMCPY_TO_DM};
	static uint8_t room[LENGTH + 1];

	for (int kind = 0; kind < COPIES; kind++)
		for (unsigned int nth = 1; nth <= 2; nth++) {
			start_with(LENGTH, NULL);
			memcpy(room + 1, model, LENGTH);
			fake_fail(verb[kind], nth, EIO);
			tap_eq_int(copy((enum copy)kind, &t.dm, 0, room + 1, 600), EIO,
				   "%s: what the provider says in call %u", copy_name[kind], nth);
			tap_eq_int(fake_count(verb[kind]), nth, "%s: is the end", copy_name[kind]);
		}
	for (int kind = 0; kind < COPIES; kind++) {
		static uint32_t words[2];

		start_with(LENGTH, NULL);
		fake_fail(verb[kind], 1, EIO);
		tap_eq_int(copy((enum copy)kind, &t.dm, 0, words, 8), EIO, "%s: of words",
			   copy_name[kind]);
	}
	start_with(LENGTH, NULL);
	for (unsigned int nth = 1; nth <= 2; nth++) {
		fake_reset_log();
		fake_fail(FAKE_MEMCPY_FROM_DM, nth, EIO);
		tap_eq_int(rdmaez_dm_copy_to_bytes(&t.dm, 1, room, 9), EIO,
			   "reading edge %u of bytes fails", nth);
		tap_eq_int(fake_count(FAKE_MEMCPY_TO_DM), 0, "and nothing is written");
	}
	tap_ok(as_model(), "nothing is changed");
}

/* A provider that returns what the test tells, with errno beside it. */
static int told, told_errno;

static int tell_to(struct ibv_dm *dm, uint64_t offset, const void *host, size_t length)
{
	(void)dm;
	(void)offset;
	(void)host;
	(void)length;
	errno = told_errno;
	return told;
}

static int tell_from(void *host, struct ibv_dm *dm, uint64_t offset, size_t length)
{
	return tell_to(dm, offset, host, length);
}

/* Whatever a provider makes of an error, the result is a positive errno value. */
static void check_provider_results(void)
{
	static const struct {
		int told, told_errno, error;
	} results[] = {{0, EBUSY, 0},      {EIO, EBUSY, EIO},   {-EIO, EBUSY, EIO},
		       {-1, EBUSY, EBUSY}, {-1, 0, EIO},        {INT32_MIN, EBUSY, EIO},
		       {1, EBUSY, EPERM},  {-EFAULT, 0, EFAULT}};
	static uint32_t words[2];

	start_with(LENGTH, NULL);
	t.dm.dm->memcpy_to_dm = tell_to;
	t.dm.dm->memcpy_from_dm = tell_from;
	for (int kind = 0; kind < COPIES; kind++)
		for (size_t i = 0; i < COUNT_OF(results); i++) {
			told = results[i].told;
			told_errno = results[i].told_errno;
			tap_eq_int(copy((enum copy)kind, &t.dm, 0, words, 8), results[i].error,
				   "%s: a provider returns %d", copy_name[kind], told);
			tap_eq_int(copy((enum copy)kind, &t.dm, 0, (char *)words + 1, 4),
				   results[i].error, "%s: and not as it is", copy_name[kind]);
		}
}

/* ---- Regions ------------------------------------------------------------------------------ */

static int reg(const struct rdmaez_dm_range *range, unsigned int access)
{
	return rdmaez_dm_reg(&t.dm, t.pd, range, access, &t.region, &t.diag);
}

/* An element, to nobody's use. */
static int sge_of(uint64_t offset, size_t length)
{
	struct ibv_sge sge;

	return rdmaez_dm_sge(&t.region, offset, length, &sge, &t.diag);
}

static void check_reg(void)
{
	static const struct rdmaez_dm_range ranges[] = {
		{0, LENGTH}, {0, 1}, {LENGTH - 1, 1}, {64, 128}, {7, 9}};
	const struct fake_call *call;

	for (unsigned int access = 0; access < 16; access++) {
		const bool remote = access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC);

		if (remote && !(access & IBV_ACCESS_LOCAL_WRITE))
			continue;
		start_with(LENGTH, NULL);
		check_success(&t.diag, reg(NULL, access), "all of it, access %#x", access);
		call = fake_last(FAKE_REG_DM_MR);
		tap_eq_hex(call->attr_mask, access | IBV_ACCESS_ZERO_BASED, "zero-based");
		tap_ok(call->arg.dm.offset == 0 && call->arg.dm.length == WHOLE, "in whole units");
		tap_eq_int(fake_count(FAKE_ANY), 1, "in one call");
		tap_ok(t.region.mr && t.region.mr->length == WHOLE, "the region is handed over");
		tap_ok(t.region.dm == t.dm.dm && !t.region.offset && t.region.length == LENGTH,
		       "with the memory, and how much of it is in the region");
		tap_eq_str(t.diag.device, "fake0", "the record names the device");
		check_success(&t.diag, reg(NULL, access | IBV_ACCESS_ZERO_BASED),
			      "where zero-based is set already");
	}
	for (size_t i = 0; i < COUNT_OF(ranges); i++) {
		start_with(LENGTH, NULL);
		check_success(&t.diag, reg(&ranges[i], 0), "a part");
		call = fake_last(FAKE_REG_DM_MR);
		tap_ok(call->arg.dm.offset == ranges[i].offset &&
			       call->arg.dm.length == ranges[i].length,
		       "is registered as it is");
		tap_ok(t.region.offset == ranges[i].offset && t.region.length == ranges[i].length,
		       "and its region says so");
	}
}

/* Firmware that takes whole units only takes all of a memory that is no multiple of them. */
static void check_reg_blocks(void)
{
	uint64_t at = 5;

	start_with(8, NULL);
	t.dev->quirks = FAKE_DM_BLOCKS;
	check_success(&t.diag, reg(NULL, 0), "8 bytes where units of 64 are wanted");
	tap_eq_int(t.region.mr->length, 64, "are registered as such a unit");
	tap_eq_int(t.region.length, 8, "of which no more than the memory counts");
	check_success(&t.diag, sge_of(0, 8), "an element of all of it");
	check_success(&t.diag, rdmaez_dm_remote_atomic(&t.region, 0, &at, &t.diag),
		      "so does an atomic");
	tap_eq_int(at, 0, "at its beginning");
	check_success(&t.diag, rdmaez_dm_remote(&t.region, 8, 0, &at, &t.diag), "its end");
	CHECK_FINDINGS(
		&t.diag, rdmaez_dm_remote(&t.region, 8, 8, &at, &t.diag), EFAULT,
		"rdmaez_dm_remote", "what is in the region and behind the memory",
		{RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_DM_RANGE, "length", RDMAEZ_VALUE_BYTES, 8, 0, 0});
	CHECK_FINDINGS(
		&t.diag, sge_of(0, 9), EFAULT, "rdmaez_dm_sge",
		"what begins in the memory and ends behind it",
		{RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_DM_RANGE, "length", RDMAEZ_VALUE_BYTES, 9, 0, 8});
	start_with(LENGTH, NULL);
	/* An application's own struct, with this left at zero. */
	t.dm.alloc_length = 0;
	check_success(&t.diag, reg(NULL, 0), "where the allocated length is not known");
	tap_eq_int(t.region.mr->length, LENGTH, "the length is registered");
}

/* Emulated memory is registered from a page on: what cannot be known for certain, but is likely. */
static void check_reg_page(void)
{
	const struct rdmaez_dm_range off = {64, 64}, on = {0, 64};

	start_with(LENGTH, NULL);
	fake_fail(FAKE_REG_DM_MR, 0, EOPNOTSUPP);
	CHECK_FINDINGS(&t.diag, reg(&off, 0), EOPNOTSUPP, "rdmaez_dm_reg", "refused off a page",
		       {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_DM_EMU_PAGE, "offset", RDMAEZ_VALUE_BYTES,
			64, 0, UINT64_MAX},
		       {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_NOT_SUPPORTED, "ibv_reg_dm_mr",
			RDMAEZ_VALUE_NONE, 0, 0, 0});
	tap_eq_str(t.diag.verb, "ibv_reg_dm_mr", "the record names the verb");
	tap_eq_int(rdmaez_dm_reg(&t.dm, t.pd, &off, 0, &t.region, NULL), EOPNOTSUPP,
		   "the same without a record");
	check_refusal(&t.diag, reg(&on, 0), EOPNOTSUPP, RDMAEZ_WHY_NOT_SUPPORTED, "ibv_reg_dm_mr",
		      "refused on a page");
	fake_fail(FAKE_REG_DM_MR, 0, ENOMEM);
	check_refusal(&t.diag, reg(&off, 0), ENOMEM, RDMAEZ_WHY_NO_RESOURCES, "ibv_reg_dm_mr",
		      "off a page, and something else");
	fake_fail(FAKE_REG_DM_MR, 0, 0);
	tap_ok(memcmp(&t.region, &t.no_region, sizeof(t.region)) == 0, "the output is not written");
}

static void check_reg_ranges(void)
{
	const struct rdmaez_dm_range empty = {0, 0}, at_end = {LENGTH, 0}, one = {LENGTH, 1},
				     behind = {LENGTH + 1, 0}, most = {0, SIZE_MAX},
				     wraps = {UINT64_MAX - 3, 8};

	start_with(LENGTH, NULL);
	CHECK_FINDINGS(
		&t.diag, reg(&empty, 0), EINVAL, "rdmaez_dm_reg", "nothing",
		{RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_RANGE, "length", RDMAEZ_VALUE_BYTES, 0, 1, LENGTH});
	CHECK_FINDINGS(
		&t.diag, reg(&at_end, 0), EINVAL, "rdmaez_dm_reg", "nothing at the end",
		{RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_RANGE, "length", RDMAEZ_VALUE_BYTES, 0, 1, 0});
	CHECK_FINDINGS(
		&t.diag, reg(&one, 0), EINVAL, "rdmaez_dm_reg", "a byte beyond",
		{RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_DM_RANGE, "length", RDMAEZ_VALUE_BYTES, 1, 0, 0});
	CHECK_FINDINGS(&t.diag, reg(&behind, 0), EINVAL, "rdmaez_dm_reg", "behind the end",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_DM_RANGE, "offset", RDMAEZ_VALUE_BYTES,
			LENGTH + 1, 0, LENGTH});
	CHECK_FINDINGS(&t.diag, reg(&most, 0), EINVAL, "rdmaez_dm_reg", "all there can be",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_DM_RANGE, "length", RDMAEZ_VALUE_BYTES,
			SIZE_MAX, 0, LENGTH});
	CHECK_FINDINGS(&t.diag, reg(&wraps, 0), EINVAL, "rdmaez_dm_reg", "what wraps around",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_DM_RANGE, "offset", RDMAEZ_VALUE_BYTES,
			UINT64_MAX - 3, 0, LENGTH});
	tap_eq_int(fake_count(FAKE_ANY), 0, "the device sees none of these");
	tap_ok(memcmp(&t.region, &t.no_region, sizeof(t.region)) == 0, "the output is not written");
}

static void check_reg_access(void)
{
	const unsigned int remote = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
	const unsigned int relaxed = IBV_ACCESS_RELAXED_ORDERING;

	start_with(LENGTH, NULL);
	CHECK_FINDINGS(&t.diag, reg(NULL, remote | IBV_ACCESS_REMOTE_READ), EINVAL, "rdmaez_dm_reg",
		       "remote write without local write",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_MR_LOCAL_WRITE, "access", RDMAEZ_VALUE_ACCESS,
			remote, 0, remote | IBV_ACCESS_REMOTE_READ});
	CHECK_FINDINGS(&t.diag, reg(NULL, relaxed | 1 << 29), EINVAL, "rdmaez_dm_reg",
		       "optional flags",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_DM_RELAXED, "access", RDMAEZ_VALUE_ACCESS,
			relaxed | 1 << 29, 0, relaxed | 1 << 29});
	CHECK_FINDINGS(&t.diag, reg(NULL, 0x800003d0u), EINVAL, "rdmaez_dm_reg", "other flags",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_DM_ACCESS_BITS, "access", RDMAEZ_VALUE_ACCESS,
			0x800003d0u, 0, 0x800003d0u});
	CHECK_FINDINGS(&t.diag, reg(NULL, relaxed | IBV_ACCESS_MW_BIND | IBV_ACCESS_REMOTE_ATOMIC),
		       EINVAL, "rdmaez_dm_reg", "all of it",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_MR_LOCAL_WRITE, "access", RDMAEZ_VALUE_ACCESS,
			IBV_ACCESS_REMOTE_ATOMIC, 0,
			relaxed | IBV_ACCESS_MW_BIND | IBV_ACCESS_REMOTE_ATOMIC},
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_DM_RELAXED, "access", RDMAEZ_VALUE_ACCESS,
			relaxed, 0, relaxed | IBV_ACCESS_MW_BIND | IBV_ACCESS_REMOTE_ATOMIC},
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_DM_ACCESS_BITS, "access", RDMAEZ_VALUE_ACCESS,
			IBV_ACCESS_MW_BIND, 0,
			relaxed | IBV_ACCESS_MW_BIND | IBV_ACCESS_REMOTE_ATOMIC});
	tap_eq_int(fake_count(FAKE_ANY), 0, "the device sees none of these");
	tap_ok(memcmp(&t.region, &t.no_region, sizeof(t.region)) == 0, "the output is not written");
}

static void check_reg_objects(void)
{
	struct ibv_context *other;
	struct ibv_pd *pd;

	start_with(LENGTH, NULL);
	check_refusal(&t.diag, rdmaez_dm_reg(NULL, t.pd, NULL, 0, &t.region, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "dm", "no memory");
	check_refusal(&t.diag, rdmaez_dm_reg(&t.dm, NULL, NULL, 0, &t.region, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "pd", "no domain");
	check_refusal(&t.diag, rdmaez_dm_reg(&t.dm, t.pd, NULL, 0, NULL, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "region", "nowhere to put it");
	/* The same number is another memory's there. */
	other = fake_open(t.dev);
	pd = ibv_alloc_pd(other);
	fake_reset_log();
	check_refusal(&t.diag, rdmaez_dm_reg(&t.dm, pd, NULL, 0, &t.region, &t.diag), EINVAL,
		      RDMAEZ_WHY_DM_OTHER_CONTEXT, "pd", "a domain of another context");
	tap_eq_int(rdmaez_dm_close(&t.dm, NULL), 0, "closed");
	check_refusal(&t.diag, reg(NULL, 0), EINVAL, RDMAEZ_WHY_DM_CLOSED, "dm", "closed memory");
	tap_eq_int(fake_count(FAKE_REG_DM_MR), 0, "the device sees none of these");
	tap_ok(memcmp(&t.region, &t.no_region, sizeof(t.region)) == 0, "the output is not written");
}

static void check_reg_failures(void)
{
	const struct rdmaez_dm_range odd = {32, 65}, blocks = {0, 128};
	static const struct {
		int error;
		enum rdmaez_why reason;
	} cases[] = {
		{ENOMEM, RDMAEZ_WHY_NO_RESOURCES}, {EBUSY, RDMAEZ_WHY_BUSY},
		{EIO, RDMAEZ_WHY_DEVICE_GONE},     {ETIMEDOUT, RDMAEZ_WHY_TIMED_OUT},
		{EINVAL, RDMAEZ_WHY_UNEXPLAINED},  {EOPNOTSUPP, RDMAEZ_WHY_NOT_SUPPORTED},
	};

	start_with(LENGTH, NULL);
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		fake_fail(FAKE_REG_DM_MR, 1, cases[i].error);
		CHECK_FINDINGS(&t.diag, reg(&blocks, 0), cases[i].error, "rdmaez_dm_reg",
			       "the device says",
			       {RDMAEZ_DIAG_LIKELY, cases[i].reason, "ibv_reg_dm_mr",
				RDMAEZ_VALUE_NONE, 0, 0, 0});
		fake_fail(FAKE_REG_DM_MR, 1, cases[i].error);
		tap_eq_int(rdmaez_dm_reg(&t.dm, t.pd, &blocks, 0, &t.region, NULL), cases[i].error,
			   "the same without a record");
	}
	t.dev->quirks = FAKE_DM_BLOCKS;
	CHECK_FINDINGS(&t.diag, reg(&odd, 0), EINVAL, "rdmaez_dm_reg", "firmware that wants blocks",
		       {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_DM_BLOCKS, "length", RDMAEZ_VALUE_BYTES, 65,
			0, UINT64_MAX},
		       {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_DM_BLOCKS, "offset", RDMAEZ_VALUE_BYTES, 32,
			0, UINT64_MAX});
	tap_ok(memcmp(&t.region, &t.no_region, sizeof(t.region)) == 0, "the output is not written");
	check_success(&t.diag, reg(&blocks, 0), "and gets them");
	fake_fail(FAKE_REG_DM_MR, 1, ENOENT);
	check_refusal(&t.diag, reg(&blocks, 0), ENOENT, RDMAEZ_WHY_DM_STALE, "dm",
		      "memory that someone else has freed");
	tap_eq_str(t.diag.verb, "ibv_reg_dm_mr", "the record names the verb");
	fake_fail(FAKE_REG_DM_MR, 1, ENOENT);
	tap_eq_int(rdmaez_dm_reg(&t.dm, t.pd, &blocks, 0, &t.region, NULL), ENOENT,
		   "the same without a record");
}

static void check_access(void)
{
	tap_ok(RDMAEZ_DM_PEER_READS == 1 && RDMAEZ_DM_PEER_WRITES == 2 &&
		       RDMAEZ_DM_PEER_ATOMICS == 4 && RDMAEZ_DM_OWN_WRITES == 8,
	       "each use has a bit of its own");
	for (unsigned int uses = 0; uses < 32; uses++) {
		unsigned int want = 0;

		if (uses & 1) /* RDMAEZ_DM_PEER_READS */
			want |= IBV_ACCESS_REMOTE_READ;
		if (uses & 2) /* RDMAEZ_DM_PEER_WRITES */
			want |= IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_LOCAL_WRITE;
		if (uses & 4) /* RDMAEZ_DM_PEER_ATOMICS */
			want |= IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_LOCAL_WRITE;
		if (uses & 8) /* RDMAEZ_DM_OWN_WRITES */
			want |= IBV_ACCESS_LOCAL_WRITE;
		tap_eq_hex(rdmaez_dm_access(uses), want, "uses %#x", uses);
		start_with(LENGTH, NULL);
		tap_eq_int(reg(NULL, rdmaez_dm_access(uses)), 0, "can be registered");
	}
}

/* ---- Addresses ---------------------------------------------------------------------------- */

static const struct rdmaez_dm_range registered = {64, 512};

static void start_region(void)
{
	start_with(LENGTH, NULL);
	if (rdmaez_dm_reg(&t.dm, t.pd, &registered, 0, &t.region, NULL))
		tap_bail("no region");
	fake_reset_log();
}

static void check_addresses(void)
{
	static const struct rdmaez_dm_range parts[] = {
		{64, 512}, {64, 0}, {72, 8}, {575, 1}, {576, 0}};
	struct ibv_sge sge;
	uint64_t at;

	start_region();
	for (size_t i = 0; i < COUNT_OF(parts); i++) {
		memset(&sge, 0x55, sizeof(sge));
		check_success(
			&t.diag,
			rdmaez_dm_sge(&t.region, parts[i].offset, parts[i].length, &sge, &t.diag),
			"an element");
		tap_eq_int(sge.addr, parts[i].offset - 64, "counts from the region's beginning");
		tap_eq_int(sge.length, parts[i].length, "is as long");
		tap_eq_int(sge.lkey, t.region.mr->lkey, "and has the key");
		at = 0;
		check_success(
			&t.diag,
			rdmaez_dm_remote(&t.region, parts[i].offset, parts[i].length, &at, &t.diag),
			"an address");
		tap_eq_int(at, parts[i].offset - 64, "counts from there too");
	}
	tap_eq_str(t.diag.call, "rdmaez_dm_remote", "the record names the call");
	tap_eq_str(t.diag.device, "fake0", "and the device");
	tap_ok(!t.diag.verb, "and no verb");
	tap_eq_int(fake_count(FAKE_ANY), 0, "nobody is asked");
}

/* One wrong pair of region and range, for the three functions; 8 bytes for the one of atomics. */
static void check_address_refused(const struct rdmaez_dm_range *range, int error,
				  const struct expected *want, const char *name)
{
	struct ibv_sge sge, other;
	uint64_t at = 0x5555;

	memset(&sge, 0x55, sizeof(sge));
	other = sge;
	check_findings(&t.diag,
		       rdmaez_dm_sge(&t.region, range->offset, range->length, &sge, &t.diag), error,
		       "rdmaez_dm_sge", want, 1, name);
	tap_ok(memcmp(&sge, &other, sizeof(sge)) == 0, "%s: the element is not written", name);
	check_findings(&t.diag,
		       rdmaez_dm_remote(&t.region, range->offset, range->length, &at, &t.diag),
		       error, "rdmaez_dm_remote", want, 1, name);
	if (range->length == 8)
		check_findings(&t.diag,
			       rdmaez_dm_remote_atomic(&t.region, range->offset, &at, &t.diag),
			       error, "rdmaez_dm_remote_atomic", want, 1, name);
	tap_eq_int(at, 0x5555, "%s: nor is the address", name);
	tap_eq_int(rdmaez_dm_remote(&t.region, range->offset, range->length, &at, NULL), error,
		   "%s: without a record", name);
}

static void check_addresses_refused(void)
{
	static const struct {
		struct rdmaez_dm_range range;
		struct expected want;
		const char *name;
	} cases[] = {
		{{63, 8},
		 {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_DM_RANGE, "offset", RDMAEZ_VALUE_BYTES, 63, 64,
		  576},
		 "before the region"},
		{{577, 0},
		 {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_DM_RANGE, "offset", RDMAEZ_VALUE_BYTES, 577, 64,
		  576},
		 "behind it"},
		{{UINT64_MAX, 8},
		 {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_DM_RANGE, "offset", RDMAEZ_VALUE_BYTES, UINT64_MAX,
		  64, 576},
		 "far behind it"},
		{{568, 9},
		 {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_DM_RANGE, "length", RDMAEZ_VALUE_BYTES, 9, 0, 8},
		 "across its end"},
		{{569, 8},
		 {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_DM_RANGE, "length", RDMAEZ_VALUE_BYTES, 8, 0, 7},
		 "8 bytes across its end"},
		{{72, SIZE_MAX},
		 {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_DM_RANGE, "length", RDMAEZ_VALUE_BYTES, SIZE_MAX, 0,
		  504},
		 "without end"},
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		start_region();
		check_address_refused(&cases[i].range, EFAULT, &cases[i].want, cases[i].name);
	}
}

static void check_address_objects(void)
{
	static const struct expected none = {RDMAEZ_DIAG_ERROR,
					     RDMAEZ_WHY_DM_NOT_REGION,
					     "region.mr",
					     RDMAEZ_VALUE_NONE,
					     0,
					     0,
					     0};
	static const struct expected longer = {RDMAEZ_DIAG_ERROR,
					       RDMAEZ_WHY_RANGE,
					       "region.length",
					       RDMAEZ_VALUE_BYTES,
					       513,
					       0,
					       512};
	static const struct rdmaez_dm_range part = {64, 8};
	struct rdmaez_dm_region own;
	struct ibv_sge sge;
	uint64_t at;

	start_region();
	check_refusal(&t.diag, rdmaez_dm_sge(NULL, 0, 0, &sge, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "region", "no region");
	check_refusal(&t.diag, rdmaez_dm_sge(&t.region, 64, 0, NULL, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "sge", "nowhere to put it");
	check_refusal(&t.diag, rdmaez_dm_remote(NULL, 0, 0, &at, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "region", "no region");
	check_refusal(&t.diag, rdmaez_dm_remote(&t.region, 64, 0, NULL, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "remote_addr", "nowhere to put it");
	check_refusal(&t.diag, rdmaez_dm_remote_atomic(NULL, 64, &at, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "region", "no region of an atomic's");
	check_refusal(&t.diag, rdmaez_dm_remote_atomic(&t.region, 64, NULL, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "remote_addr", "nor an atomic's");
	t.region.length++;
	check_address_refused(&part, EINVAL, &longer, "a region that is not as long as it says");
	tap_eq_int(ibv_dereg_mr(t.region.mr), 0, "deregistered");
	t.region.length--;
	t.region.mr = ibv_reg_mr(t.pd, model, 512, 0);
	check_address_refused(&part, EINVAL, &none, "a region of the host's memory");
	memset(&t.region, 0, sizeof(t.region));
	check_address_refused(&part, EINVAL, &none, "no region yet");
	/* One that the application registered itself. */
	own.dm = t.dm.dm;
	own.mr = ibv_reg_dm_mr(t.pd, t.dm.dm, 128, 64, IBV_ACCESS_ZERO_BASED);
	own.offset = 128;
	own.length = 64;
	check_success(&t.diag, rdmaez_dm_remote(&own, 136, 8, &at, &t.diag), "the application's");
	tap_eq_int(at, 8, "serves as well");
}

static void check_atomics(void)
{
	static const struct rdmaez_dm_range whole = {4, 16};
	uint64_t at = 0;

	start_region();
	check_success(&t.diag, rdmaez_dm_remote_atomic(&t.region, 72, &at, &t.diag),
		      "8 bytes at a multiple of 8");
	tap_eq_int(at, 8, "have their address");
	tap_eq_str(t.diag.call, "rdmaez_dm_remote_atomic", "the record names the call");
	for (uint64_t offset = 64; offset + 8 <= t.region.offset + t.region.length; offset += 8)
		tap_ok(!rdmaez_dm_remote_atomic(&t.region, offset, &at, NULL) && at == offset - 64,
		       "so have those at %d", (int)offset);
	at = 0x5555;
	for (uint64_t offset = 73; offset < 80; offset++)
		CHECK_FINDINGS(&t.diag, rdmaez_dm_remote_atomic(&t.region, offset, &at, &t.diag),
			       EINVAL, "rdmaez_dm_remote_atomic", "not at a multiple",
			       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_WR_ATOMIC, "offset",
				RDMAEZ_VALUE_BYTES, offset, 0, UINT64_MAX});
	tap_eq_int(at, 0x5555, "the address is not written");
	start_with(LENGTH, NULL);
	tap_eq_int(rdmaez_dm_reg(&t.dm, t.pd, &whole, 0, &t.region, NULL), 0,
		   "a region in between");
	CHECK_FINDINGS(&t.diag, rdmaez_dm_remote_atomic(&t.region, 4, &at, &t.diag), EINVAL,
		       "rdmaez_dm_remote_atomic", "where only the address is a multiple",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_WR_ATOMIC, "offset", RDMAEZ_VALUE_BYTES, 4, 0,
			UINT64_MAX});
	CHECK_FINDINGS(&t.diag, rdmaez_dm_remote_atomic(&t.region, 8, &at, &t.diag), EINVAL,
		       "rdmaez_dm_remote_atomic", "where only the offset is",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_WR_ATOMIC, "offset", RDMAEZ_VALUE_BYTES, 8, 0,
			UINT64_MAX});
	start_with(8, NULL);
	tap_eq_int(rdmaez_dm_reg(&t.dm, t.pd, NULL, 0, &t.region, NULL), 0,
		   "a region for one counter");
	check_success(&t.diag, rdmaez_dm_remote_atomic(&t.region, 0, &at, &t.diag),
		      "is that counter");
	tap_eq_int(at, 0, "at 0");
}

/* More than an element can hold; no memory is as large, so there is none behind this. */
static void check_long_elements(void)
{
	const uint64_t most = UINT32_MAX;
	struct ibv_sge sge;
	uint64_t at;

	if (SIZE_MAX == most)
		return;
	start_region();
	t.region.mr->length = (size_t)(most + 2);
	t.region.length = (size_t)(most + 2);
	CHECK_FINDINGS(&t.diag, rdmaez_dm_sge(&t.region, 64, (size_t)(most + 1), &sge, &t.diag),
		       EINVAL, "rdmaez_dm_sge", "too long",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_RANGE, "length", RDMAEZ_VALUE_BYTES, most + 1,
			0, most});
	check_success(&t.diag, rdmaez_dm_remote(&t.region, 64, (size_t)(most + 1), &at, &t.diag),
		      "which a peer's address does not mind");
	check_success(&t.diag, rdmaez_dm_sge(&t.region, 64, (size_t)most, &sge, &t.diag),
		      "the longest");
	tap_ok(sge.length == UINT32_MAX, "as it is");
}

/* ---- One bound --------------------------------------------------------------------------- */

/* The length is public: where the application lowers it, that is the end for everyone. */
static void check_one_bound(void)
{
	const struct rdmaez_dm_range behind = {64, 64};
	static uint32_t room[32];

	start_with(LENGTH, NULL);
	t.dm.length = 64;
	for (int kind = 0; kind < COPIES; kind++) {
		tap_eq_int(copy((enum copy)kind, &t.dm, 512, room, 64), EFAULT,
			   "%s: a lowered length is the end", copy_name[kind]);
		tap_eq_int(copy((enum copy)kind, &t.dm, 0, room, 68), EFAULT, "%s: to a byte",
			   copy_name[kind]);
	}
	tap_eq_int(rdmaez_dm_check(&t.dm, 512, 64, NULL), EFAULT, "asked before, it is as well");
	tap_eq_int(reg(&behind, 0), EINVAL, "and for a region");
	tap_eq_int(fake_count(FAKE_ANY), 0, "nobody was asked");
	tap_eq_int(rdmaez_dm_copy_to(&t.dm, 0, room, 64), 0, "what is inside is copied");
	tap_eq_int(reg(NULL, 0), 0, "and registered");
	tap_eq_int(sge_of(0, 68), EFAULT, "so that elements end there too");
}

/* ---- The fake itself ---------------------------------------------------------------------- */

/* It makes mlx5's mistakes, and notes them: else nothing above would mean anything. */
static void check_fake(void)
{
	static uint32_t room[4];

	start_with(LENGTH, NULL);
	tap_eq_int(ibv_memcpy_to_dm(t.dm.dm, UINT64_MAX - 3, room, 8), 0,
		   "plain verbs: a sum that wraps around is let through");
	tap_eq_int(fake_out_of_bounds(), 1, "and noted");
	tap_eq_int(ibv_memcpy_from_dm((char *)room + 1, t.dm.dm, 0, 8), 0, "so is an odd address");
	tap_eq_int(fake_out_of_bounds(), 2, "and noted");
	tap_eq_int(ibv_memcpy_to_dm(t.dm.dm, 1022, room, 3), EFAULT, "a range beyond the end");
	tap_eq_int(ibv_memcpy_to_dm(t.dm.dm, 2, room, 4), EINVAL, "an offset that is no multiple");
	tap_eq_int(ibv_memcpy_to_dm(t.dm.dm, 0, room, 3), EINVAL, "a length that is none");
	tap_eq_int(fake_out_of_bounds(), 2, "are refused");
	tap_ok(as_model(), "and nothing of this is done");
}

int main(void)
{
	check_lengths();
	check_lengths_refused();
	check_alignment();
	check_no_memory();
	check_alloc_failures();
	check_close();
	check_close_busy();
	check_close_wrapped();
	check_wrap_untrusted();
	check_close_wrapped_import();
	check_close_imported();
	check_close_unimport();
	check_all_boundaries();
	check_random();
	check_no_object();
	check_half_a_mapping();
	check_asking();
	check_unaligned_hosts();
	check_all_bytes();
	check_fill();
	check_provider_failures();
	check_provider_results();
	check_reg();
	check_reg_blocks();
	check_reg_page();
	check_reg_ranges();
	check_reg_access();
	check_reg_objects();
	check_reg_failures();
	check_access();
	check_addresses();
	check_addresses_refused();
	check_address_objects();
	check_atomics();
	check_long_elements();
	check_one_bound();
	check_fake();
	fake_close_all();
	return tap_done();
}
