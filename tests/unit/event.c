/* SPDX-License-Identifier: MIT */
/* Asynchronous events with a deadline. */
#include "check.h"
#include "findings.h"
#include "fixture.h"

#define MS UINT64_C(1000000)

#define LIKELY(reason, field, ...) {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_##reason, field, __VA_ARGS__}
#define NOTHING                    RDMAEZ_VALUE_NONE, 0, 0, 0

static struct {
	struct ibv_context *ctx;
	struct rdmaez_diag diag;
} t;

static void check_events(void)
{
	struct ibv_async_event event, wanted;

	t.ctx = fake_open(fixture_device(FAKE_PROFILE_PLAIN, "6.1.0"));
	fake_reset_log();
	memset(&event, 0x55, sizeof(event));
	tap_eq_int(rdmaez_event_next(t.ctx, RDMAEZ_NS_NOW, &event, &t.diag), EAGAIN, "no event");
	tap_eq_count(&t.diag, 0, "which is no failure");
	tap_eq_int(t.diag.error, EAGAIN, "though the record is this call's");
	tap_eq_int(rdmaez_event_next(t.ctx, RDMAEZ_NS_NOW, &event, NULL), EAGAIN, "nor elsewhere");
	check_refusal(&t.diag, rdmaez_event_next(t.ctx, 3 * MS, &event, &t.diag), ETIMEDOUT,
		      RDMAEZ_WHY_EVENT_NONE, "timeout_ns", "nor later");
	tap_eq_hex((unsigned int)event.event_type, 0x55555555, "the output is not written");
	memset(&wanted, 0, sizeof(wanted));
	wanted.event_type = IBV_EVENT_PORT_ACTIVE;
	wanted.element.port_num = 1;
	fake_event(t.ctx, &wanted);
	wanted.event_type = IBV_EVENT_GID_CHANGE;
	fake_event(t.ctx, &wanted);
	check_success(&t.diag, rdmaez_event_next(t.ctx, UINT64_MAX, &event, &t.diag), "an event");
	tap_eq_int(event.event_type, IBV_EVENT_PORT_ACTIVE, "the first");
	tap_eq_int(event.element.port_num, 1, "with what it is about");
	tap_eq_int(fake_count(FAKE_ACK_EVENT), 1, "it is acknowledged");
	fake_fail(FAKE_GET_EVENT, 1, EAGAIN);
	check_success(&t.diag, rdmaez_event_next(t.ctx, 0, &event, &t.diag),
		      "another thread was faster");
	tap_eq_int(event.event_type, IBV_EVENT_GID_CHANGE, "but there is a second");
	fake_event(t.ctx, &wanted);
	fake_fail(FAKE_GET_EVENT, 1, EIO);
	CHECK_VERB_FINDINGS(&t.diag, rdmaez_event_next(t.ctx, RDMAEZ_NS_NOW, &event, &t.diag), EIO,
			    "rdmaez_event_next", "ibv_get_async_event", "a device that is gone",
			    LIKELY(DEVICE_GONE, "ibv_get_async_event", NOTHING));
	fake_fail(FAKE_GET_EVENT, 1, EBADF);
	CHECK_VERB_FINDINGS(&t.diag, rdmaez_event_next(t.ctx, RDMAEZ_NS_NOW, &event, &t.diag),
			    EBADF, "rdmaez_event_next", "ibv_get_async_event", "anything else",
			    LIKELY(UNEXPLAINED, "ibv_get_async_event", NOTHING));
	check_refusal(&t.diag, rdmaez_event_next(NULL, RDMAEZ_NS_NOW, &event, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "context", "no device");
	check_refusal(&t.diag, rdmaez_event_next(t.ctx, RDMAEZ_NS_NOW, NULL, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "event", "nowhere to put it");
}

int main(void)
{
	check_events();
	fake_close_all();
	return tap_done();
}
