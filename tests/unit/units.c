/* SPDX-License-Identifier: MIT */
/*
 * The arithmetic of units.h against the tables of the specification, its random numbers, and base.h's two
 * conversions.
 */
#include <limits.h>
#include <sys/random.h>

#include "check.h"
#include <rdmaez/implementation.h>

/* IBTA volume 1, RNR NAK timer codes 0 to 31, in units of 10 us. */
static const unsigned int rnr_10us[32] = {
	65536, 1,    2,    3,    4,    6,     8,     12,    16,    24,    32,
	48,    64,   96,   128,  192,  256,   384,   512,   768,   1024,  1536,
	2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
};

static void check_rnr_timer(void)
{
	for (unsigned int code = 0; code < 32; code++)
		tap_eq_int(rdmaez_rnr_timer_ns(code), rnr_10us[code] * UINT64_C(10000),
			   "RNR timer code %u waits %u.%02u ms", code, rnr_10us[code] / 100,
			   rnr_10us[code] % 100);
	tap_eq_int(rdmaez_rnr_timer_ns(32), 0, "RNR timer code 32 does not exist");
	tap_eq_int(rdmaez_rnr_timer_ns(UINT_MAX), 0, "nor does the greatest number");

	for (unsigned int code = 1; code < 32; code++) {
		const uint64_t ns = rnr_10us[code] * UINT64_C(10000);

		tap_eq_int(rdmaez_rnr_timer_from_ns(ns), code, "code %u waits long enough", code);
		tap_eq_int(rdmaez_rnr_timer_from_ns(ns - 1), code, "code %u for 1 ns less", code);
		tap_eq_int(rdmaez_rnr_timer_from_ns(ns + 1), (code + 1) % 32,
			   "code %u for 1 ns more", (code + 1) % 32);
	}
	tap_eq_int(rdmaez_rnr_timer_from_ns(0), 1, "no wait is the shortest RNR timer");
	tap_eq_int(rdmaez_rnr_timer_from_ns(UINT64_C(655360000)), 0, "655.36 ms is RNR code 0");
	tap_eq_int(rdmaez_rnr_timer_from_ns(UINT64_MAX), 0, "no RNR timer is longer than code 0");
}

static void check_timeout(void)
{
	uint64_t ns = 4096;

	tap_eq_int(rdmaez_timeout_ns(0), 0, "timeout code 0 runs no timer");
	for (unsigned int code = 1; code < 32; code++) {
		ns += ns;
		tap_eq_int(rdmaez_timeout_ns(code), ns,
			   "timeout code %u is 4.096 us doubled %u "
			   "times",
			   code, code);
		tap_eq_int(rdmaez_timeout_from_ns(ns), code, "timeout code %u is long enough",
			   code);
		tap_eq_int(rdmaez_timeout_from_ns(ns - 1), code, "timeout code %u for 1 ns less",
			   code);
		tap_eq_int(rdmaez_timeout_from_ns(ns + 1), code < 31 ? code + 1 : 31,
			   "timeout code %u for 1 ns more", code < 31 ? code + 1 : 31);
	}
	tap_eq_int(rdmaez_timeout_ns(14), 67108864, "timeout code 14 is 67 ms");
	tap_eq_int(rdmaez_timeout_ns(31), 8796093022208, "timeout code 31 is 2.4 hours");
	tap_eq_int(rdmaez_timeout_ns(32), 0, "timeout code 32 does not exist");
	tap_eq_int(rdmaez_timeout_ns(UINT_MAX), 0, "nor does the greatest number");
	tap_eq_int(rdmaez_timeout_from_ns(0), 1, "no wait is the shortest timeout, not none");
	tap_eq_int(rdmaez_timeout_from_ns(UINT64_MAX - 1), 31, "nothing is longer than code 31");
	tap_eq_int(rdmaez_timeout_from_ns(RDMAEZ_NS_FOREVER), 0, "but no timer");
}

/* How long a requester bears with a silent peer, and with one that is not ready. */
static void check_give_up(void)
{
	static const struct {
		unsigned int timeout, retry_cnt;
		uint64_t min, max;
	} silent[] = {{1, 0, 8192, 32768},
		      {14, 0, 67108864, 268435456},
		      {14, 1, 134217728, 536870912},
		      {14, 6, 469762048, 1879048192},
		      {14, 7, 536870912, 2147483648},
		      {14, 8, 536870912, 2147483648},
		      {14, UINT_MAX, 536870912, 2147483648},
		      {31, 7, UINT64_C(70368744177664), UINT64_C(281474976710656)},
		      {0, 0, RDMAEZ_NS_FOREVER, RDMAEZ_NS_FOREVER},
		      {0, 7, RDMAEZ_NS_FOREVER, RDMAEZ_NS_FOREVER},
		      {32, 7, RDMAEZ_NS_FOREVER, RDMAEZ_NS_FOREVER}};
	static const struct {
		unsigned int min_rnr_timer, rnr_retry;
		uint64_t ns;
	} not_ready[] = {{12, 0, 0},
			 {12, 1, 640000},
			 {12, 6, 3840000},
			 {0, 6, 3932160000},
			 {12, 7, RDMAEZ_NS_FOREVER},
			 {12, 8, RDMAEZ_NS_FOREVER},
			 {32, 6, 0},
			 {0, UINT_MAX, RDMAEZ_NS_FOREVER}};

	for (size_t i = 0; i < COUNT_OF(silent); i++) {
		const struct rdmaez_span_ns span =
			rdmaez_give_up_ns(silent[i].timeout, silent[i].retry_cnt);

		tap_eq_int(span.min, silent[i].min, "timeout %u, retries %u: at least this long",
			   silent[i].timeout, silent[i].retry_cnt);
		tap_eq_int(span.max, silent[i].max, "timeout %u, retries %u: at most this long",
			   silent[i].timeout, silent[i].retry_cnt);
	}
	for (size_t i = 0; i < COUNT_OF(not_ready); i++)
		tap_eq_int(
			rdmaez_rnr_give_up_ns(not_ready[i].min_rnr_timer, not_ready[i].rnr_retry),
			not_ready[i].ns, "RNR timer %u, retries %u", not_ready[i].min_rnr_timer,
			not_ready[i].rnr_retry);
}

static void check_mtu(void)
{
	static const int none[] = {INT_MIN, -1, 0, 6, 256, 1024, 4096, INT_MAX};
	static const struct {
		enum ibv_mtu mtu;
		int bytes;
	} mtus[] = {{IBV_MTU_256, 256},
		    {IBV_MTU_512, 512},
		    {IBV_MTU_1024, 1024},
		    {IBV_MTU_2048, 2048},
		    {IBV_MTU_4096, 4096}};
	static const int too_small[] = {INT_MIN, -4096, -1, 0, 1, 255};
	enum ibv_mtu mtu = IBV_MTU_2048;

	for (size_t i = 0; i < COUNT_OF(mtus); i++) {
		tap_eq_int(rdmaez_mtu_bytes(mtus[i].mtu), mtus[i].bytes, "MTU %d has %d bytes",
			   (int)mtus[i].mtu, mtus[i].bytes);
		tap_eq_int(rdmaez_mtu_from_bytes(mtus[i].bytes, &mtu), 0, "%d bytes hold an MTU",
			   mtus[i].bytes);
		tap_eq_int(mtu, mtus[i].mtu, "namely that of %d bytes", mtus[i].bytes);
		tap_eq_int(rdmaez_mtu_from_bytes(mtus[i].bytes * 2 - 1, &mtu), 0,
			   "%d bytes hold an MTU", mtus[i].bytes * 2 - 1);
		tap_eq_int(mtu, mtus[i].mtu, "namely that of %d bytes", mtus[i].bytes);
	}
	tap_eq_int(rdmaez_mtu_from_bytes(INT_MAX, &mtu), 0, "two gigabytes hold an MTU");
	tap_eq_int(mtu, IBV_MTU_4096, "namely that of 4096 bytes");
	for (size_t i = 0; i < COUNT_OF(none); i++)
		tap_eq_int(rdmaez_mtu_bytes((enum ibv_mtu)none[i]), 0, "%d is no enum ibv_mtu",
			   none[i]);
	mtu = IBV_MTU_2048;
	for (size_t i = 0; i < COUNT_OF(too_small); i++)
		tap_eq_int(rdmaez_mtu_from_bytes(too_small[i], &mtu), EINVAL,
			   "%d bytes hold no MTU", too_small[i]);
	tap_eq_int(mtu, IBV_MTU_2048, "a refusal writes nothing");
	tap_eq_int(rdmaez_mtu_from_bytes(4096, NULL), EINVAL, "there must be room for the answer");
}

static void check_psn(void)
{
	static const struct {
		uint32_t psn, packets, sum;
	} sums[] = {{0, 0, 0},
		    {0, 1, 1},
		    {0xffffff, 1, 0},
		    {0xfffffe, 5, 3},
		    {0xffffff, 0xffffff, 0xfffffe},
		    {5, 0x1000000, 5},
		    {0xff000005, 1, 6},
		    {0xffffffff, 0xffffffff, 0xfffffe},
		    {1, 0xffffffff, 0}};
	static const struct {
		uint32_t psn, base;
		int32_t diff;
	} diffs[] = {{0, 0, 0},
		     {1, 0, 1},
		     {0, 1, -1},
		     {0, 0xffffff, 1},
		     {0xffffff, 0, -1},
		     {0x7fffff, 0, 0x7fffff},
		     {0x800000, 0, -0x800000},
		     {0x800001, 0, -0x7fffff},
		     {0, 0x800000, -0x800000},
		     {0, 0x800001, 0x7fffff},
		     {3, 0xfffffe, 5},
		     {0xff000003, 0x11fffffe, 5},
		     {0xffffffff, 0xffffffff, 0},
		     {0xffffffff, 0, -1},
		     {0, 0xffffffff, 1}};

	for (size_t i = 0; i < COUNT_OF(sums); i++)
		tap_eq_hex(rdmaez_psn_add(sums[i].psn, sums[i].packets), sums[i].sum,
			   "PSN 0x%x and 0x%x packets", sums[i].psn, sums[i].packets);
	for (size_t i = 0; i < COUNT_OF(diffs); i++)
		tap_eq_int(rdmaez_psn_diff(diffs[i].psn, diffs[i].base), diffs[i].diff,
			   "from PSN 0x%x to 0x%x", diffs[i].base, diffs[i].psn);
}

/* The system's random numbers, in place of the C library's getrandom(). */
static struct {
	bool none; /* there are none yet */
	unsigned int asked, flags;
	uint64_t next, step;
} source;

ssize_t getrandom(void *buf, size_t length, unsigned int flags)
{
	source.asked++;
	source.flags = flags;
	if (source.none || length != sizeof(source.next)) {
		errno = EAGAIN;
		return -1;
	}
	source.next += source.step;
	memcpy(buf, &source.next, length);
	return (ssize_t)length;
}

/* 64 draws: all within 24 bits, not all the same, and each bit is 0 sometimes and 1 sometimes. */
static void check_draws(const char *from)
{
	uint32_t ones = 0, zeros = 0, most = 0;
	unsigned int equal = 0;

	for (int i = 0; i < 64; i++) {
		const uint32_t psn = rdmaez_psn_random(), again = rdmaez_psn_random();

		ones |= psn | again;
		zeros |= ~psn | ~again;
		most = psn > most ? psn : most;
		equal += psn == again;
	}
	tap_ok(most <= 0xffffff, "%s: PSNs have 24 bits", from);
	tap_eq_hex(ones, 0xffffff, "%s: each bit is set at times", from);
	tap_eq_hex(zeros & 0xffffff, 0xffffff, "%s: and clear at times", from);
	tap_ok(equal < 8, "%s: %u of 64 were followed by the same", from, equal);
}

static void check_psn_random(void)
{
	struct rdmaez_endpoint end;
	struct ibv_qp qp;

	memset(&end, 0, sizeof(end));
	memset(&qp, 0, sizeof(qp));
	qp.qp_type = IBV_QPT_RC;
	source.step = 0x9e3779b97f4a7c15; /* visits each half of the numbers in turn */
	source.next = 0xabcdef1234567890 - source.step;
	tap_eq_hex(rdmaez_psn_random(), 0xabcdef, "a PSN is 24 bits of the system's random ones");
	tap_eq_int(source.asked, 1, "for which the system is asked once");
	tap_eq_hex(source.flags, GRND_NONBLOCK, "and not waited for");
	source.next = 0xabcdef1234567890 - source.step;
	source.asked = 0;
	tap_eq_int(rdmaez_endpoint_set_qp(&end, &qp, NULL), 0, "an endpoint");
	tap_eq_hex(end.psn, 0xabcdef, "has such a PSN");
	tap_eq_hex(end.nonce, 0x12345678, "and a nonce of other bits");
	tap_eq_int(source.asked, 1, "from one call");
	check_draws("from the system");
	source.none = true;
	source.asked = 0;
	check_draws("from the clock");
	tap_eq_int(source.asked, 128, "the system is asked each time");
}

static void check_base(void)
{
	tap_eq_hex(RDMAEZ_ZERO, 0x5a45524f, "RDMAEZ_ZERO reads ZERO in a dump");
	tap_eq_int(rdmaez_exactly(0), RDMAEZ_ZERO, "exactly 0 is RDMAEZ_ZERO");
	tap_eq_int(rdmaez_exactly(1), 1, "exactly 1 is 1");
	tap_eq_int(rdmaez_exactly(-1), -1, "exactly -1 is -1");
	tap_eq_int(rdmaez_exactly(RDMAEZ_ZERO), RDMAEZ_ZERO, "RDMAEZ_ZERO stays what it is");
	tap_eq_hex(rdmaez_exactly_u32(0), RDMAEZ_ZERO, "exactly 0 of an unsigned field is, too");
	tap_eq_hex(rdmaez_exactly_u32(0x80000000u), 0x80000000u, "bit 31 passes through");
	tap_eq_int(rdmaez_impl_option(0, 7), 7, "an option of 0 is the default");
	tap_eq_int(rdmaez_impl_option(RDMAEZ_ZERO, 7), 0, "an option of RDMAEZ_ZERO is 0");
	tap_eq_int(rdmaez_impl_option(-3, 7), -3, "any other option is itself");

	errno = EBUSY;
	tap_eq_int(rdmaez_impl_error(0), 0, "a verb that returns 0 succeeded, whatever errno is");
	tap_eq_int(rdmaez_impl_error(EINVAL), EINVAL, "a positive errno value is passed on");
	tap_eq_int(rdmaez_impl_error(-EINVAL), EINVAL, "a negative one becomes positive");
	tap_eq_int(rdmaez_impl_error(-2), 2, "also -ENOENT, the first that is not -1");
	tap_eq_int(rdmaez_impl_error(INT_MIN), EIO, "the least int, which has no positive, is EIO");
	tap_eq_int(rdmaez_impl_error(-INT_MAX), INT_MAX, "the next one has");
	tap_eq_int(rdmaez_impl_error(-1), EBUSY, "after -1 errno tells");
	errno = 0;
	tap_eq_int(rdmaez_impl_error(-1), EIO, "and EIO is said where it does not");
	errno = -5;
	tap_eq_int(rdmaez_impl_error(-1), EIO, "or is itself negative");
	errno = 1;
	tap_eq_int(rdmaez_impl_error(-1), 1, "1 is an errno value, EPERM");
}

static void check_version(void)
{
	char text[32];

	snprintf(text, sizeof(text), "%d.%d.%d", RDMAEZ_VERSION_MAJOR, RDMAEZ_VERSION_MINOR,
		 RDMAEZ_VERSION_PATCH);
	tap_eq_str(RDMAEZ_VERSION_STRING, text, "the version as text holds the three numbers");
#define AT_LEAST(major, minor, patch)                                                           \
	RDMAEZ_VERSION_AT_LEAST(RDMAEZ_VERSION_MAJOR + (major), RDMAEZ_VERSION_MINOR + (minor), \
				RDMAEZ_VERSION_PATCH + (patch))
	tap_ok(AT_LEAST(0, 0, 0), "this is at least this version");
	tap_ok(AT_LEAST(-1, 9, 9), "and newer than one with a smaller major number");
	tap_ok(AT_LEAST(0, -1, 9), "or the same and a smaller minor number");
	tap_ok(AT_LEAST(0, 0, -1), "or an earlier patch");
	tap_ok(!AT_LEAST(0, 0, 1), "but not the next patch");
	tap_ok(!AT_LEAST(0, 1, -1), "nor the next minor");
	tap_ok(!AT_LEAST(1, -1, -1), "nor the next major");
#undef AT_LEAST
}

int main(void)
{
	check_rnr_timer();
	check_timeout();
	check_give_up();
	check_mtu();
	check_psn();
	check_psn_random();
	check_base();
	check_version();
	return tap_done();
}
