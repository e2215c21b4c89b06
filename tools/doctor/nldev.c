/* SPDX-License-Identifier: MIT */
/* The answers of RDMA netlink, include/uapi/rdma/rdma_netlink.h of the kernel, and the questions. */
#include "nldev.h"

#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

/* --- Reading ------------------------------------------------------------------------------------------ */

/* Takes the next attribute off; false at the end, and where the rest is none. */
static bool next_attribute(struct nldev_span *rest, unsigned int *type, struct nldev_span *data)
{
	struct nlattr head;
	size_t whole;

	if (rest->length < sizeof(head))
		return false;
	memcpy(&head, rest->at, sizeof(head));
	if (head.nla_len < sizeof(head) || head.nla_len > rest->length)
		return false;
	*type = head.nla_type & (unsigned int)NLA_TYPE_MASK;
	data->at = rest->at + sizeof(head);
	data->length = head.nla_len - sizeof(head);
	whole = ((size_t)head.nla_len + 3) & ~(size_t)3;
	if (whole > rest->length)
		whole = rest->length;
	rest->at += whole;
	rest->length -= whole;
	return true;
}

bool nldev_find(struct nldev_span in, unsigned int type, struct nldev_span *data)
{
	struct nldev_span found;
	unsigned int is;

	while (next_attribute(&in, &is, &found)) {
		if (is != type)
			continue;
		*data = found;
		return true;
	}
	return false;
}

static bool find_bytes(struct nldev_span in, unsigned int type, void *to, size_t size)
{
	struct nldev_span data;

	if (!nldev_find(in, type, &data) || data.length < size)
		return false;
	memcpy(to, data.at, size);
	return true;
}

bool nldev_u8(struct nldev_span in, unsigned int type, uint8_t *value)
{
	return find_bytes(in, type, value, sizeof(*value));
}

bool nldev_u32(struct nldev_span in, unsigned int type, uint32_t *value)
{
	return find_bytes(in, type, value, sizeof(*value));
}

bool nldev_u64(struct nldev_span in, unsigned int type, uint64_t *value)
{
	return find_bytes(in, type, value, sizeof(*value));
}

bool nldev_text(struct nldev_span in, unsigned int type, char *buf, size_t size)
{
	struct nldev_span data;
	size_t length;

	if (!nldev_find(in, type, &data))
		return false;
	length = strnlen((const char *)data.at, data.length);
	if (length > size - 1)
		length = size - 1;
	memcpy(buf, data.at, length);
	buf[length] = '\0';
	return true;
}

void nldev_each(struct nldev_span in, unsigned int table, unsigned int entry, nldev_fn *fn,
		void *data)
{
	struct nldev_span inner, found;
	unsigned int type;

	while (next_attribute(&in, &type, &inner)) {
		if (type != table)
			continue;
		while (next_attribute(&inner, &type, &found))
			if (type == entry)
				fn(found, data);
	}
}

enum nldev_said nldev_read(const void *bytes, size_t length, uint32_t sequence, bool dump,
			   nldev_fn *fn, void *data, int *error)
{
	const unsigned char *at = (const unsigned char *)bytes;
	struct nlmsghdr head;
	size_t whole;
	int code = 0;

	for (; length >= sizeof(head); at += whole, length -= whole) {
		memcpy(&head, at, sizeof(head));
		if (head.nlmsg_len < sizeof(head) || head.nlmsg_len > length)
			break;
		whole = ((size_t)head.nlmsg_len + 3) & ~(size_t)3;
		if (whole > length)
			whole = length;
		if (head.nlmsg_seq != sequence)
			continue;
		if (head.nlmsg_type == NLMSG_ERROR || head.nlmsg_type == NLMSG_DONE) {
			if (head.nlmsg_len >= sizeof(head) + sizeof(code))
				memcpy(&code, at + sizeof(head), sizeof(code));
			if (code >= 0 || code < -4095)
				return NLDEV_DONE;
			*error = -code;
			return NLDEV_REFUSED;
		}
		if (head.nlmsg_type < NLMSG_MIN_TYPE)
			continue;
		fn((struct nldev_span){at + sizeof(head), head.nlmsg_len - sizeof(head)}, data);
		if (!dump)
			return NLDEV_DONE;
	}
	return NLDEV_MORE;
}

bool nldev_device(struct nldev_span attributes, uint32_t *index, char *name, size_t size)
{
	return nldev_u32(attributes, RDMA_NLDEV_ATTR_DEV_INDEX, index) &&
	       nldev_text(attributes, RDMA_NLDEV_ATTR_DEV_NAME, name, size);
}

/* --- Objects -------------------------------------------------------------------------------------------- */

void nldev_object(struct nldev_span entry, struct nldev_object *object)
{
	static const struct {
		unsigned int type, has;
		size_t offset, size;
	} members[] = {
#define MEMBER(type, has, member)                                                    \
	{RDMA_NLDEV_ATTR_##type, NLDEV_##has, offsetof(struct nldev_object, member), \
	 sizeof(((struct nldev_object *)NULL)->member)}
		MEMBER(RES_PID, PID, pid),
		MEMBER(PORT_INDEX, PORT, port),
		MEMBER(RES_LQPN, LQPN, lqpn),
		MEMBER(RES_RQPN, RQPN, rqpn),
		MEMBER(RES_RQ_PSN, RQ_PSN, rq_psn),
		MEMBER(RES_SQ_PSN, SQ_PSN, sq_psn),
		MEMBER(RES_TYPE, TYPE, type),
		MEMBER(RES_STATE, STATE, state),
		MEMBER(RES_PDN, PDN, pdn),
		MEMBER(RES_CTXN, CTXN, ctxn),
		MEMBER(RES_CQE, CQE, cqe),
		MEMBER(RES_MRLEN, BYTES, bytes),
		MEMBER(RES_RKEY, RKEY, rkey),
		MEMBER(RES_PS, PS, ps),
		MEMBER(STAT_COUNTER_ID, COUNTER, counter),
		MEMBER(RES_SRC_ADDR, SRC, src),
		MEMBER(RES_DST_ADDR, DST, dst),
#undef MEMBER
	};

	memset(object, 0, sizeof(*object));
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		if (find_bytes(entry, members[i].type, (char *)object + members[i].offset,
			       members[i].size))
			object->has |= members[i].has;
	if (nldev_text(entry, RDMA_NLDEV_ATTR_RES_KERN_NAME, object->kernel,
		       sizeof(object->kernel)))
		object->has |= NLDEV_KERNEL;
}

/* --- Asking --------------------------------------------------------------------------------------------- */

enum {
	SILENCE_MS = 1000
};

struct request {
	struct nlmsghdr head;
	struct {
		struct nlattr head;
		uint32_t value;
	} attribute[2];
};

static void add_number(struct request *request, unsigned int type, uint32_t value)
{
	const size_t size = sizeof(request->attribute[0]);
	const size_t i = (request->head.nlmsg_len - sizeof(request->head)) / size;

	request->attribute[i].head.nla_len = (uint16_t)size;
	request->attribute[i].head.nla_type = (uint16_t)type;
	request->attribute[i].value = value;
	request->head.nlmsg_len += (uint32_t)size;
}

static int converse(int fd, const struct request *request, bool dump, nldev_fn *fn, void *data)
{
	static unsigned char buf[1 << 17];
	struct pollfd ready = {fd, POLLIN, 0};
	enum nldev_said said = NLDEV_MORE;
	int error = 0, n;
	ssize_t got;

	if (send(fd, request, request->head.nlmsg_len, 0) != (ssize_t)request->head.nlmsg_len)
		return errno;
	while (said == NLDEV_MORE) {
		n = poll(&ready, 1, SILENCE_MS);
		if (n == 0)
			return ETIMEDOUT;
		if (n < 0 && errno == EINTR)
			continue;
		got = recv(fd, buf, sizeof(buf), MSG_DONTWAIT);
		if (got <= 0)
			return got ? errno : EPIPE;
		said = nldev_read(buf, (size_t)got, request->head.nlmsg_seq, dump, fn, data,
				  &error);
	}
	return said == NLDEV_REFUSED ? error : 0;
}

static int ask(struct request *request, unsigned int command, bool dump, nldev_fn *fn, void *data)
{
	static uint32_t sequence;
	int error, fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA);

	if (fd < 0)
		return errno;
	request->head.nlmsg_type = (uint16_t)RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command);
	request->head.nlmsg_flags = (uint16_t)(NLM_F_REQUEST | (dump ? NLM_F_DUMP : 0));
	request->head.nlmsg_seq = ++sequence;
	error = converse(fd, request, dump, fn, data);
	close(fd);
	return error;
}

int nldev_ask(unsigned int command, bool dump, int device, nldev_fn *fn, void *data)
{
	struct request request;

	memset(&request, 0, sizeof(request));
	request.head.nlmsg_len = sizeof(request.head);
	if (device >= 0)
		add_number(&request, RDMA_NLDEV_ATTR_DEV_INDEX, (uint32_t)device);
	return ask(&request, command, dump, fn, data);
}

int nldev_ask_counters(int device, nldev_fn *fn, void *data)
{
	struct request request;

	memset(&request, 0, sizeof(request));
	request.head.nlmsg_len = sizeof(request.head);
	add_number(&request, RDMA_NLDEV_ATTR_DEV_INDEX, (uint32_t)device);
	add_number(&request, RDMA_NLDEV_ATTR_STAT_RES, RDMA_NLDEV_ATTR_RES_QP);
	return ask(&request, RDMA_NLDEV_CMD_STAT_GET, true, fn, data);
}
