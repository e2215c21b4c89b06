/* SPDX-License-Identifier: MIT */
/* The record of calls, the failures still to come, and the list of open objects. */
#include "fake_internal.h"

static const char *const verb_name[] = {[FAKE_ANY] = "any verb",
#define FAKE_VERB_NAME(name, verb) [FAKE_##name] = #verb,
					FAKE_VERBS(FAKE_VERB_NAME)};

/* Recording a call costs the same however many there were: a ring, and counters per verb. */
static struct {
	struct fake_call call[FAKE_LOG_SIZE];
	unsigned int count[FAKE_VERB_COUNT];
	unsigned int last[FAKE_VERB_COUNT]; /* number of the last call, the first being 1 */
	unsigned int out_of_bounds;
} calls;

static struct {
	unsigned int countdown; /* 0: each call */
	int err;                /* 0: none */
} fail[FAKE_VERB_COUNT];

static struct fake_object *open_objects;
static uint32_t last_number;

static int take_failure(enum fake_verb verb)
{
	int err = fail[verb].err;

	if (!err || !fail[verb].countdown)
		return err;
	if (--fail[verb].countdown)
		return 0;
	fail[verb].err = 0;
	return err;
}

struct fake_call *fake_enter(enum fake_verb verb, const void *object)
{
	unsigned int number = ++calls.count[FAKE_ANY];
	struct fake_call *call = &calls.call[number % FAKE_LOG_SIZE];
	int err = take_failure(verb);
	int err_any = take_failure(FAKE_ANY);

	calls.count[verb]++;
	calls.last[verb] = calls.last[FAKE_ANY] = number;
	call->verb = verb;
	call->object = object;
	call->port = 0;
	call->index = 0;
	call->attr_mask = 0;
	call->error = err ? err : err_any;
	return call;
}

int fake_return(struct fake_call *call, int err)
{
	call->error = err;
	call->result = err;
	return err;
}

int fake_return_minus(struct fake_call *call, int err)
{
	call->error = err;
	call->result = err ? -1 : 0;
	if (err > 0)
		errno = err;
	return call->result;
}

void *fake_return_ptr(struct fake_call *call, int err, void *ptr)
{
	return fake_return_minus(call, err) ? NULL : ptr;
}

int fake_return_post(struct fake_call *call, struct ibv_context *ctx, int err)
{
	const uint32_t negative = FAKE_NEGATIVE_ERRNO | FAKE_NEGATIVE_POST;

	fake_return(call, err < 0 ? -err : err);
	return call->result = err > 0 && fake_dev(ctx)->quirks & negative ? -err : err;
}

const char *fake_verb_str(enum fake_verb verb)
{
	return (unsigned int)verb < FAKE_VERB_COUNT ? verb_name[verb] : "unknown";
}

unsigned int fake_count(enum fake_verb verb)
{
	return calls.count[verb];
}

const struct fake_call *fake_nth(unsigned int nth)
{
	unsigned int count = calls.count[FAKE_ANY];

	if (!nth || nth > count || count - nth >= FAKE_LOG_SIZE)
		return NULL;
	return &calls.call[nth % FAKE_LOG_SIZE];
}

const struct fake_call *fake_last(enum fake_verb verb)
{
	return fake_nth(calls.last[verb]);
}

void fake_fail(enum fake_verb verb, unsigned int nth, int err)
{
	fail[verb].countdown = nth;
	fail[verb].err = err;
}

void fake_reset_log(void)
{
	memset(&calls, 0, sizeof(calls));
	memset(&fail, 0, sizeof(fail));
	fake_misuse_reset();
}

void fake_note_out_of_bounds(void)
{
	calls.out_of_bounds++;
}

unsigned int fake_out_of_bounds(void)
{
	return calls.out_of_bounds;
}

void *fake_object_new(size_t size, void (*destroy)(struct fake_object *))
{
	struct fake_object *object = (struct fake_object *)calloc(1, size);

	if (!object)
		abort();
	object->destroy = destroy;
	object->next = open_objects;
	object->link = &open_objects;
	if (open_objects)
		open_objects->link = &object->next;
	open_objects = object;
	return object;
}

void fake_object_free(struct fake_object *object)
{
	*object->link = object->next;
	if (object->next)
		object->next->link = object->link;
	if (object->destroy)
		object->destroy(object);
	free(object);
}

int fake_close_all(void)
{
	int closed = 0;

	for (; open_objects; closed++)
		fake_object_free(open_objects);
	return closed;
}

int fake_open_count(void)
{
	const struct fake_object *object;
	int count = 0;

	for (object = open_objects; object; object = object->next)
		count++;
	return count;
}

uint32_t fake_number(void)
{
	return ++last_number;
}
