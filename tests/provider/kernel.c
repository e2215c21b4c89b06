/* SPDX-License-Identifier: MIT */
/* The structs are the kernel's interface to programs, <rdma/ib_user_verbs.h>. */
#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/netlink.h>
#include <rdma/ib_user_verbs.h>

#include "kernel.h"
#include "tap.h"

#define DEVICE_FILE "/dev/infiniband/uverbs0"
/* A character device that is there, in its place. */
#define STAND_IN "/dev/null"

enum {
	QUEUES = 4096,
	WORDS = 4,         /* of what the provider tells its driver */
	FIRST_NUMBER = 64, /* a queue pair's; lower ones are special to some providers */
};

const struct kernel_judge *kernel_judge;

static const struct kernel_driver *driver;
static int refused; /* the errno value that the driver refuses this request with */
static int device_fd = -1;
static uint32_t handles;

/* Queue pairs by their handle. */
static struct {
	uint8_t state;
	struct kernel_queue queue;
	uint32_t max_send_sge, max_recv_sge, max_inline_data;
	uint64_t told[WORDS];
} pairs[QUEUES];

/* Completion queues by their handle, and the one whose memory is mapped next. */
static uint8_t *completions[QUEUES], **mapped_next;

/* Where the request ends that is being answered. */
static const uint8_t *request_end;

/* ---- Answers -------------------------------------------------------------------------------------- */

static struct ib_uverbs_query_device_resp device_attr(void)
{
	struct ib_uverbs_query_device_resp attr;

	memset(&attr, 0, sizeof(attr));
	attr.max_mr_size = UINT64_MAX;
	attr.page_size_cap = 4096;
	attr.vendor_id = driver->vendor_id;
	attr.vendor_part_id = driver->vendor_part_id;
	attr.hw_ver = driver->hw_ver;
	attr.max_qp = attr.max_cq = attr.max_mr = attr.max_pd = attr.max_ah = QUEUES;
	attr.max_qp_wr = 1024;
	attr.max_sge = attr.max_sge_rd = 6;
	attr.max_cqe = 4096;
	attr.max_qp_rd_atom = attr.max_qp_init_rd_atom = 16;
	attr.atomic_cap = 1;
	attr.max_srq = 256;
	attr.max_srq_wr = 1024;
	attr.max_srq_sge = 6;
	attr.max_pkeys = 1;
	attr.phys_port_cnt = 1;
	if (kernel_judge) {
		attr.max_cqe = kernel_judge->reported.max_cqe;
		attr.max_qp_wr = kernel_judge->reported.max_qp_wr;
		attr.max_sge = kernel_judge->reported.max_sge;
		attr.max_srq_wr = kernel_judge->reported.max_srq_wr;
		attr.max_srq_sge = kernel_judge->reported.max_srq_sge;
	}
	return attr;
}

static struct ib_uverbs_query_port_resp port_attr(void)
{
	struct ib_uverbs_query_port_resp attr;

	memset(&attr, 0, sizeof(attr));
	attr.max_msg_sz = 1U << 30;
	attr.gid_tbl_len = 1;
	attr.pkey_tbl_len = 1;
	attr.state = 4; /* IBV_PORT_ACTIVE */
	attr.max_mtu = attr.active_mtu = 5;
	attr.link_layer = 2; /* IBV_LINK_LAYER_ETHERNET */
	return attr;
}

/* A word of the driver's part of the request; 0 beyond its end. */
static uint64_t word_of(const void *told, unsigned int word)
{
	const uint8_t *const at = (const uint8_t *)told + word * sizeof(uint64_t);
	uint64_t value = 0;

	if (at + sizeof(value) <= request_end)
		memcpy(&value, at, sizeof(value));
	return value;
}

/* Lets the driver judge what is to be created, if it is there and has a function for it. */
static void judge(int (*function)(const struct limits_request *), struct limits_request *request,
		  const void *told)
{
	request->told = told;
	request->size = (unsigned long)(request_end - (const uint8_t *)told);
	if (function)
		refused = function(request);
}

/* Fills in what a queue pair came to; the driver's part is behind the kernel's. */
static void create_qp(const struct ib_uverbs_create_qp *asked, const void *told,
		      struct ib_uverbs_create_qp_resp *answer, void *more)
{
	const uint32_t handle = handles++ % QUEUES;
	struct limits_request request;

	if (kernel_judge) {
		memset(&request, 0, sizeof(request));
		request.type = asked->qp_type;
		request.max_send_wr = asked->max_send_wr;
		request.max_recv_wr = asked->max_recv_wr;
		request.max_send_sge = asked->max_send_sge;
		request.max_recv_sge = asked->max_recv_sge;
		judge(kernel_judge->qp, &request, told);
	}
	pairs[handle].state = 0;
	for (unsigned int i = 0; i < WORDS; i++)
		pairs[handle].told[i] = word_of(told, i);
	pairs[handle].queue.number = answer->qpn = FIRST_NUMBER + handle;
	pairs[handle].queue.max_send_wr = answer->max_send_wr = asked->max_send_wr;
	pairs[handle].queue.max_recv_wr = answer->max_recv_wr = asked->max_recv_wr;
	pairs[handle].max_send_sge = answer->max_send_sge = asked->max_send_sge;
	pairs[handle].max_recv_sge = answer->max_recv_sge = asked->max_recv_sge;
	pairs[handle].max_inline_data = answer->max_inline_data = asked->max_inline_data;
	answer->qp_handle = handle;
	if (driver->qp)
		driver->qp(more, &pairs[handle].queue);
}

/* The extended request has the same fields, which begin with the user's handle. */
static void create_qp_ex(const struct ib_uverbs_ex_create_qp *ex,
			 struct ib_uverbs_ex_create_qp_resp *answer, void *more)
{
	struct ib_uverbs_create_qp asked;

	memset(&asked, 0, sizeof(asked));
	asked.max_send_wr = ex->max_send_wr;
	asked.max_recv_wr = ex->max_recv_wr;
	asked.max_send_sge = ex->max_send_sge;
	asked.max_recv_sge = ex->max_recv_sge;
	asked.max_inline_data = ex->max_inline_data;
	asked.qp_type = ex->qp_type;
	create_qp(&asked, ex + 1, &answer->base, more);
	answer->response_length = sizeof(*answer);
}

static void create_cq(uint32_t cqe, const void *told, struct ib_uverbs_create_cq_resp *answer,
		      void *more)
{
	struct limits_request request;
	struct kernel_queue queue;

	if (kernel_judge) {
		memset(&request, 0, sizeof(request));
		request.cqe = cqe;
		judge(kernel_judge->cq, &request, told);
	}
	memset(&queue, 0, sizeof(queue));
	queue.number = answer->cq_handle = handles++;
	queue.cqe = answer->cqe = cqe;
	if (driver->buffer == KERNEL_MAPS) {
		mapped_next = &completions[queue.number % QUEUES];
	} else {
		completions[queue.number % QUEUES] =
			(uint8_t *)(uintptr_t)word_of(told, driver->buffer);
	}
	if (driver->cq)
		driver->cq(more, &queue);
}

static void create_srq(const struct ib_uverbs_create_srq *asked,
		       struct ib_uverbs_create_srq_resp *answer)
{
	struct limits_request request;
	const uint32_t number = FIRST_NUMBER + handles++;

	if (kernel_judge) {
		memset(&request, 0, sizeof(request));
		request.max_wr = asked->max_wr;
		request.max_sge = asked->max_sge;
		judge(kernel_judge->srq, &request, asked + 1);
	}
	answer->srq_handle = number;
	answer->max_wr = asked->max_wr;
	answer->max_sge = asked->max_sge;
	/* Each driver that has them begins its answer so. */
	memcpy(answer + 1, &number, sizeof(number));
}

static void modify_qp(const struct ib_uverbs_modify_qp *asked)
{
	if (asked->attr_mask & 1) /* IBV_QP_STATE */
		pairs[asked->qp_handle].state = asked->qp_state;
}

static void query_qp(uint32_t handle, struct ib_uverbs_query_qp_resp *answer)
{
	answer->qp_state = answer->cur_qp_state = pairs[handle].state;
	answer->port_num = 1;
	answer->max_send_wr = pairs[handle].queue.max_send_wr;
	answer->max_recv_wr = pairs[handle].queue.max_recv_wr;
	answer->max_send_sge = pairs[handle].max_send_sge;
	answer->max_recv_sge = pairs[handle].max_recv_sge;
	answer->max_inline_data = pairs[handle].max_inline_data;
}

/* The plain commands: a request at `from`, an answer at `to`. False where this kernel has no such command. */
static bool answer_plain(uint32_t command, const void *from, void *to)
{
	switch (command) {
	case IB_USER_VERBS_CMD_GET_CONTEXT: {
		struct ib_uverbs_get_context_resp *const answer =
			(struct ib_uverbs_get_context_resp *)to;

		answer->async_fd = (uint32_t)eventfd(0, EFD_CLOEXEC);
		answer->num_comp_vectors = 1;
		if (driver->context)
			driver->context(answer + 1);
		return true;
	}
	case IB_USER_VERBS_CMD_QUERY_DEVICE:
		*(struct ib_uverbs_query_device_resp *)to = device_attr();
		return true;
	case IB_USER_VERBS_CMD_QUERY_PORT:
		*(struct ib_uverbs_query_port_resp *)to = port_attr();
		return true;
	case IB_USER_VERBS_CMD_ALLOC_PD: {
		struct ib_uverbs_alloc_pd_resp *const answer = (struct ib_uverbs_alloc_pd_resp *)to;

		answer->pd_handle = handles++;
		if (driver->pd)
			driver->pd(answer + 1);
		return true;
	}
	case IB_USER_VERBS_CMD_REG_MR: {
		struct ib_uverbs_reg_mr_resp *const answer = (struct ib_uverbs_reg_mr_resp *)to;

		answer->mr_handle = handles++;
		answer->lkey = answer->rkey = 0x1000 + answer->mr_handle;
		return true;
	}
	case IB_USER_VERBS_CMD_CREATE_CQ: {
		struct ib_uverbs_create_cq_resp *const answer =
			(struct ib_uverbs_create_cq_resp *)to;

		create_cq(((const struct ib_uverbs_create_cq *)from)->cqe,
			  (const struct ib_uverbs_create_cq *)from + 1, answer, answer + 1);
		return true;
	}
	case IB_USER_VERBS_CMD_CREATE_QP: {
		struct ib_uverbs_create_qp_resp *const answer =
			(struct ib_uverbs_create_qp_resp *)to;

		create_qp((const struct ib_uverbs_create_qp *)from,
			  (const struct ib_uverbs_create_qp *)from + 1, answer, answer + 1);
		return true;
	}
	case IB_USER_VERBS_CMD_CREATE_SRQ:
		create_srq((const struct ib_uverbs_create_srq *)from,
			   (struct ib_uverbs_create_srq_resp *)to);
		return true;
	case IB_USER_VERBS_CMD_MODIFY_QP:
		modify_qp((const struct ib_uverbs_modify_qp *)from);
		return true;
	case IB_USER_VERBS_CMD_QUERY_QP:
		query_qp(((const struct ib_uverbs_query_qp *)from)->qp_handle,
			 (struct ib_uverbs_query_qp_resp *)to);
		return true;
	case IB_USER_VERBS_CMD_DEALLOC_PD:
	case IB_USER_VERBS_CMD_DEREG_MR:
	case IB_USER_VERBS_CMD_DESTROY_CQ:
	case IB_USER_VERBS_CMD_DESTROY_QP:
	case IB_USER_VERBS_CMD_DESTROY_SRQ:
		return true;
	default:
		return false;
	}
}

static bool answer_extended(uint32_t command, const void *from, void *to, void *more)
{
	switch (command) {
	case IB_USER_VERBS_EX_CMD_QUERY_DEVICE: {
		struct ib_uverbs_ex_query_device_resp *const answer =
			(struct ib_uverbs_ex_query_device_resp *)to;

		answer->base = device_attr();
		answer->response_length = sizeof(*answer);
		if (driver->device_ex)
			driver->device_ex(more);
		return true;
	}
	case IB_USER_VERBS_EX_CMD_CREATE_CQ: {
		struct ib_uverbs_ex_create_cq_resp *const answer =
			(struct ib_uverbs_ex_create_cq_resp *)to;

		create_cq(((const struct ib_uverbs_ex_create_cq *)from)->cqe,
			  (const struct ib_uverbs_ex_create_cq *)from + 1, &answer->base, more);
		answer->response_length = sizeof(*answer);
		return true;
	}
	case IB_USER_VERBS_EX_CMD_CREATE_QP:
		create_qp_ex((const struct ib_uverbs_ex_create_qp *)from,
			     (struct ib_uverbs_ex_create_qp_resp *)to, more);
		return true;
	case IB_USER_VERBS_EX_CMD_MODIFY_QP:
		modify_qp(&((const struct ib_uverbs_ex_modify_qp *)from)->base);
		return true;
	default:
		return false;
	}
}

/* One command, as write() has it. Returns what write() does. */
static ssize_t command(const void *data, size_t size)
{
	struct ib_uverbs_cmd_hdr header;
	struct ib_uverbs_ex_cmd_hdr extended;
	const uint8_t *const at = (const uint8_t *)data;
	uint64_t response;
	bool known;

	request_end = at + size;
	refused = 0;
	memcpy(&header, at, sizeof(header));
	if (header.command & IB_USER_VERBS_CMD_FLAG_EXTENDED) {
		const size_t driver_words = 8;
		uint8_t *to;

		memcpy(&extended, at + sizeof(header), sizeof(extended));
		to = (uint8_t *)(uintptr_t)extended.response;
		if (to)
			memset(to, 0,
			       driver_words *
				       ((size_t)header.out_words + extended.provider_out_words));
		known = answer_extended(header.command & 0xff,
					at + sizeof(header) + sizeof(extended), to,
					to + driver_words * header.out_words);
	} else {
		memcpy(&response, at + sizeof(header), sizeof(response));
		if (header.out_words)
			memset((void *)(uintptr_t)response, 0, 4 * (size_t)header.out_words);
		known = answer_plain(header.command, at + sizeof(header),
				     (void *)(uintptr_t)response);
	}
	if (known && !refused)
		return (ssize_t)size;
	errno = known ? refused : EOPNOTSUPP;
	return -1;
}

/* ---- System calls of libibverbs and its providers --------------------------------------------------- */

static const char *stand_in(const char *path)
{
	return strcmp(path, DEVICE_FILE) == 0 ? STAND_IN : path;
}

int open(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list more;
	int fd;

	va_start(more, flags);
	if (flags & O_CREAT)
		mode = va_arg(more, mode_t);
	va_end(more);
	fd = (int)syscall(SYS_openat, AT_FDCWD, stand_in(path), flags, mode);
	if (strcmp(path, DEVICE_FILE) == 0)
		device_fd = fd;
	return fd;
}

int open64(const char *path, int flags, ...) __attribute__((alias("open")));

int stat(const char *restrict path, struct stat *restrict buffer)
{
	return fstatat(AT_FDCWD, stand_in(path), buffer, 0);
}

int stat64(const char *restrict path, struct stat64 *restrict buffer)
{
	return fstatat64(AT_FDCWD, stand_in(path), buffer, 0);
}

ssize_t write(int fd, const void *data, size_t size)
{
	return fd >= 0 && fd == device_fd ? command(data, size)
					  : syscall(SYS_write, fd, data, size);
}

/* Without ioctl() for commands, as before Linux 4.20, libibverbs writes them. */
int ioctl(int fd, unsigned long request, ...)
{
	va_list more;
	void *argument;

	va_start(more, request);
	argument = va_arg(more, void *);
	va_end(more);
	if (fd != device_fd)
		return (int)syscall(SYS_ioctl, fd, request, argument);
	errno = ENOTTY;
	return -1;
}

/* Doorbells, queues, and whatever else the driver maps. */
void *mmap(void *addr, size_t length, int protection, int flags, int fd, off_t offset)
{
	void *memory;

	if (fd < 0 || fd != device_fd)
		return (void *)syscall(SYS_mmap, addr, length, protection, flags, fd, offset);
	memory = (void *)syscall(SYS_mmap, addr, length, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mapped_next) {
		*mapped_next = (uint8_t *)memory;
		mapped_next = NULL;
	}
	return memory;
}

void *mmap64(void *addr, size_t length, int protection, int flags, int fd, off_t offset)
	__attribute__((alias("mmap")));

/* Without RDMA netlink libibverbs finds devices in /sys alone. */
int socket(int domain, int type, int protocol)
{
	if (domain != AF_NETLINK || protocol != NETLINK_RDMA)
		return (int)syscall(SYS_socket, domain, type, protocol);
	errno = EPROTONOSUPPORT;
	return -1;
}

uint8_t *kernel_completions(uint32_t cq_handle)
{
	return completions[cq_handle % QUEUES];
}

uint64_t kernel_qp_word(uint32_t qp_handle, unsigned int word)
{
	return pairs[qp_handle].told[word];
}

/* ---- The tree ---------------------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void file(const char *path, const char *format, ...)
{
	char whole[512], *slash = whole;
	va_list more;
	FILE *to;

	snprintf(whole, sizeof(whole), "%s/%s", getenv("SYSFS_PATH"), path);
	while ((slash = strchr(slash + 1, '/'))) {
		*slash = '\0';
		mkdir(whole, 0777);
		*slash = '/';
	}
	to = fopen(whole, "w");
	if (!to)
		tap_bail("%s: %s", whole, strerror(errno));
	va_start(more, format);
	vfprintf(to, format, more);
	va_end(more);
	fclose(to);
}

void kernel_begin(const struct kernel_driver *of, const char *directory)
{
	char path[256];

	driver = of;
	setenv("SYSFS_PATH", directory, 1);
	file("class/infiniband_verbs/abi_version", "6\n");
	file("class/infiniband_verbs/uverbs0/ibdev", "%s\n", of->device);
	file("class/infiniband_verbs/uverbs0/dev", "1:3\n");
	file("class/infiniband_verbs/uverbs0/abi_version", "%d\n", of->abi_version);
	snprintf(path, sizeof(path), "class/infiniband_verbs/uverbs0/device/modalias");
	file(path, "%s\n", of->modalias);
	snprintf(path, sizeof(path), "class/infiniband/%s/node_type", of->device);
	file(path, "1: CA\n");
	snprintf(path, sizeof(path), "class/infiniband/%s/device/modalias", of->device);
	file(path, "%s\n", of->modalias);
}
