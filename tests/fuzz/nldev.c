/* SPDX-License-Identifier: MIT */
/*
 * The doctor's reader of RDMA netlink under libFuzzer: any bytes are read without a misstep, nothing is read beyond them,
 * text ends, and an answer that a kernel may have given is read as it was meant.
 */
#include "../../tools/doctor/nldev.h"

#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <stdlib.h>
#include <string.h>

#include "must.h"

struct seen {
	const unsigned char *begin, *end;
	unsigned int messages, objects;
	struct nldev_object last;
	uint64_t value; /* of the last counter */
};

static void look_inside(const struct seen *seen, struct nldev_span span)
{
	must(span.at >= seen->begin && span.at + span.length <= seen->end);
}

static void take_name(struct nldev_span entry, void *data)
{
	char name[8];
	uint64_t value;

	look_inside((const struct seen *)data, entry);
	memset(name, 0x55, sizeof(name));
	if (nldev_text(entry, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, name, sizeof(name)))
		must(memchr(name, 0, sizeof(name)) != NULL);
	if (nldev_u64(entry, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE, &value))
		((struct seen *)data)->value = value;
}

static void take_object(struct nldev_span entry, void *data)
{
	struct seen *const seen = (struct seen *)data;

	look_inside(seen, entry);
	seen->objects++;
	nldev_object(entry, &seen->last);
	must(memchr(seen->last.kernel, 0, sizeof(seen->last.kernel)) != NULL);
	nldev_each(entry, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY,
		   take_name, data);
}

static void take_message(struct nldev_span attributes, void *data)
{
	struct seen *const seen = (struct seen *)data;
	struct nldev_span found;

	look_inside(seen, attributes);
	seen->messages++;
	if (nldev_find(attributes, RDMA_NLDEV_ATTR_DEV_NAME, &found))
		look_inside(seen, found);
	nldev_each(attributes, RDMA_NLDEV_ATTR_RES_QP, RDMA_NLDEV_ATTR_RES_QP_ENTRY, take_object,
		   data);
	nldev_each(attributes, RDMA_NLDEV_ATTR_STAT_COUNTER, RDMA_NLDEV_ATTR_STAT_COUNTER_ENTRY,
		   take_object, data);
}

/* Reads exactly these bytes, so that the sanitizer sees one too many. */
static enum nldev_said read_all(const void *bytes, size_t size, bool dump, struct seen *seen,
				int *error)
{
	unsigned char *const copy = exactly(bytes, size);
	enum nldev_said said;

	memset(seen, 0, sizeof(*seen));
	seen->begin = copy;
	seen->end = copy + size;
	*error = 0;
	said = nldev_read(copy, size, 7, dump, take_message, seen, error);
	must((said == NLDEV_REFUSED) == (*error > 0) && *error <= 4095);
	must(dump || seen->messages <= 1);
	free(copy);
	return said;
}

/* --- What a kernel answers ------------------------------------------------------------------------------ */

static unsigned char answer[512];
static size_t length;

static size_t begin(unsigned int type)
{
	struct nlattr head = {0, (uint16_t)type};

	memcpy(answer + length, &head, sizeof(head));
	length += sizeof(head);
	return length - sizeof(head);
}

static void end(size_t at)
{
	const uint16_t whole = (uint16_t)(length - at);

	memcpy(answer + at, &whole, sizeof(whole));
	while (length % 4)
		answer[length++] = 0;
}

static void put(unsigned int type, const void *data, size_t size)
{
	const size_t at = begin(type);

	memcpy(answer + length, data, size);
	length += size;
	end(at);
}

static void put_number(unsigned int type, uint32_t value)
{
	put(type, &value, sizeof(value));
}

/* A queue pair of these numbers is read as it was written; a message of another request is not. */
static void as_meant(uint32_t number, uint8_t state, uint32_t sequence)
{
	struct nlmsghdr head = {0, RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_RES_QP_GET),
				NLM_F_MULTI, sequence, 0};
	const uint8_t type = 2;
	struct seen seen;
	const uint64_t value = (uint64_t)number << 20;
	size_t table, entry, counters, counter;
	int error;

	length = sizeof(head);
	put(RDMA_NLDEV_ATTR_DEV_NAME, "rxe0", 5);
	table = begin(RDMA_NLDEV_ATTR_RES_QP | NLA_F_NESTED);
	entry = begin(RDMA_NLDEV_ATTR_RES_QP_ENTRY);
	put_number(RDMA_NLDEV_ATTR_RES_LQPN, number);
	put(RDMA_NLDEV_ATTR_RES_STATE, &state, 1);
	put(RDMA_NLDEV_ATTR_RES_TYPE, &type, 1);
	put(RDMA_NLDEV_ATTR_RES_RQPN, &number, 2); /* too short to be one */
	put(RDMA_NLDEV_ATTR_RES_KERN_NAME, "ib_srpt and more that there is no room for", 42);
	counters = begin(RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
	counter = begin(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY);
	put(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, "out_of_sequence", 16);
	put(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE, &value, sizeof(value));
	end(counter);
	end(counters);
	end(entry);
	end(table);
	head.nlmsg_len = (uint32_t)length;
	memcpy(answer, &head, sizeof(head));
	must(read_all(answer, length, true, &seen, &error) == NLDEV_MORE);
	must(seen.messages == (sequence == 7) && seen.objects == seen.messages);
	if (sequence != 7)
		return;
	must(seen.last.has == (NLDEV_LQPN | NLDEV_STATE | NLDEV_TYPE | NLDEV_KERNEL));
	must(seen.last.lqpn == number && seen.last.state == state && seen.last.type == 2);
	must(seen.value == value);
	must(strcmp(seen.last.kernel, "ib_srpt and more that there is ") == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nlmsghdr head = {0, RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_RES_QP_GET), 0, 7,
				0};
	unsigned char message[1024];
	struct seen seen;
	uint32_t number = 0;
	int error;

	read_all(data, size, true, &seen, &error);
	if (size > 1 && size < sizeof(message) - sizeof(head)) {
		/* A head that is believed, before bytes of any kind. */
		head.nlmsg_len = (uint32_t)(sizeof(head) + size - data[0] % 2);
		if (data[0] % 16 == 2)
			head.nlmsg_type = data[1] % 2 ? NLMSG_ERROR : NLMSG_DONE;
		memcpy(message, &head, sizeof(head));
		memcpy(message + sizeof(head), data, size);
		read_all(message, sizeof(head) + size, data[0] & 4, &seen, &error);
		/* A table with entries of any kind. */
		memcpy(message + sizeof(head),
		       &(struct nlattr){(uint16_t)size, RDMA_NLDEV_ATTR_RES_QP},
		       sizeof(struct nlattr));
		if (size >= 8)
			message[sizeof(head) + 6] = RDMA_NLDEV_ATTR_RES_QP_ENTRY;
		read_all(message, sizeof(head) + size, true, &seen, &error);
	}
	memcpy(&number, data, size < 3 ? size : 3);
	as_meant(number, (uint8_t)size, size % 3 ? 7 : 8);
	return 0;
}
