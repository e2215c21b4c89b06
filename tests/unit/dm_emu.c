/* SPDX-License-Identifier: MIT */
/*
 * Emulated device memory: the rules of mlx5, sharing, faults, and that everything is put back. Whether
 * a region is still registered is asked of a kernel, which is played here: see ioctl() below.
 */
#define _GNU_SOURCE /* memfd_create() */

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdarg.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <infiniband/verbs.h>
#include <poll.h>
#include <pthread.h>

/* How often this thread has the mutex, and how often it has slept for other than a millisecond, or so. */
static _Thread_local int mutexes, slept, slept_otherwise;

static inline int test_lock(pthread_mutex_t *mutex)
{
	mutexes++;
	return pthread_mutex_lock(mutex);
}

static inline int test_unlock(pthread_mutex_t *mutex)
{
	mutexes--;
	return pthread_mutex_unlock(mutex);
}

static inline int test_poll(struct pollfd *fds, nfds_t count, int ms)
{
	slept++;
	slept_otherwise += mutexes || (!fds && (count || ms != 1));
	return poll(fds, count, ms);
}

static void *registered; /* the host's memory that a region was last made of */

static inline struct ibv_mr *test_reg(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
				      unsigned int access)
{
	registered = addr;
	return ibv_reg_mr_iova(pd, addr, length, iova, access);
}

#undef ibv_reg_mr_iova
#define ibv_reg_mr_iova      test_reg
#define pthread_mutex_lock   test_lock
#define pthread_mutex_unlock test_unlock
#define poll                 test_poll
#include <rdmaez.h>
#include <rdmaez/devel/dm_emu.h>
#include <rdmaez/implementation.h>
#undef ibv_reg_mr_iova
#undef poll
#undef pthread_mutex_unlock
#undef pthread_mutex_lock

#include "check.h"
#include "findings.h"

enum {
	KIB = 1024,
	MIB = 1024 * KIB,
	MS = 1000 * 1000, /* ns */
	PAGE = 4096,
	PEER = IBV_ACCESS_ZERO_BASED | IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
	       IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC
};

/* --- A kernel that can be asked for regions ----------------------------------------------------- */

enum {
	DRIVER = 14, /* RDMA_DRIVER_RXE */
};

static struct {
	int refuses; /* an errno value for every question; 0: it answers */
	uint32_t handle[64], lkey[64];
	int count;
	unsigned int malformed; /* questions that a kernel would not have understood */
	unsigned int unlocked;  /* questions for a region without the mutex */
	unsigned int asked;
	bool unnumbered; /* its driver's number is 0 */
} kernel;

/* What the kernel checks of the header, in its order; the rest is ENOENT's. */
static int query_mr(struct ib_uverbs_ioctl_hdr *ask)
{
	static const uint16_t length[] = {0, 4, 4, 8};
	uint64_t handle = ask->attrs[UVERBS_ATTR_QUERY_MR_HANDLE].data;

	kernel.unlocked += handle != UINT32_MAX && mutexes != 1;
	kernel.asked++;
	if (kernel.refuses)
		return kernel.refuses;
	if (ask->driver_id != (kernel.unnumbered ? 0 : DRIVER))
		return EINVAL;
	if (ask->length != sizeof(*ask) + 4 * sizeof(ask->attrs[0]) || ask->num_attrs != 4 ||
	    ask->object_id != UVERBS_OBJECT_MR || ask->method_id != UVERBS_METHOD_QUERY_MR ||
	    ask->reserved1 || ask->reserved2)
		kernel.malformed++;
	for (int i = 0; i < 4; i++)
		if (ask->attrs[i].attr_id != i || ask->attrs[i].len != length[i] ||
		    ask->attrs[i].flags != UVERBS_ATTR_F_MANDATORY ||
		    ask->attrs[i].attr_data.reserved)
			kernel.malformed++;
	for (int i = 0; i < kernel.count; i++) {
		if (kernel.handle[i] != handle)
			continue;
		memcpy((void *)(uintptr_t)ask->attrs[UVERBS_ATTR_QUERY_MR_RESP_LKEY].data,
		       &kernel.lkey[i], 4);
		return 0;
	}
	return ENOENT;
}

#ifdef __GLIBC__
typedef unsigned long request_type;
#else
typedef int request_type; /* musl */
#endif

int ioctl(int fd, request_type request, ...)
{
	va_list args;
	int error;

	(void)fd;
	va_start(args, request);
	error = (unsigned int)request == RDMA_VERBS_IOCTL
			? query_mr(va_arg(args, struct ib_uverbs_ioctl_hdr *))
			: ENOTTY;
	va_end(args);
	errno = error;
	return error ? -1 : 0;
}

static struct ibv_mr *reg(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t offset, size_t length,
			  unsigned int access)
{
	struct ibv_mr *mr;

	errno = 0;
	mr = ibv_reg_dm_mr(pd, dm, offset, length, access);
	if (mr) {
		kernel.handle[kernel.count] = mr->handle;
		kernel.lkey[kernel.count++] = mr->lkey;
	}
	return mr;
}

static void dereg(struct ibv_mr *mr)
{
	for (int i = 0; i < kernel.count; i++)
		if (kernel.handle[i] == mr->handle)
			kernel.handle[i] = UINT32_MAX - 1;
	if (ibv_dereg_mr(mr))
		tap_bail("ibv_dereg_mr");
}

/* --- Shortcuts ---------------------------------------------------------------------------------- */

static struct fake_device *dev;
static struct ibv_context *ctx;
static struct rdmaez_dm_emu emu;

static void begin(const struct rdmaez_dm_emu_opts *opts)
{
	memset(&kernel, 0, sizeof(kernel));
	dev = fake_reset();
	ctx = fake_open(dev);
	if (rdmaez_dm_emu_attach(ctx, opts, &emu, NULL))
		tap_bail("cannot attach");
}

static void end(const char *name)
{
	tap_eq_int(rdmaez_dm_emu_detach(&emu, NULL), 0, "%s: it is detached in the end", name);
	tap_eq_int(kernel.malformed, 0, "%s: the kernel understood every question", name);
	tap_eq_int(kernel.unlocked, 0, "%s: and no thread disturbed another's", name);
	tap_eq_int(mutexes, 0, "%s: the mutex is free", name);
	fake_close_all();
}

static struct ibv_dm *alloc(struct ibv_context *context, size_t length)
{
	struct ibv_alloc_dm_attr attr = {length, 0, 0};

	errno = 0;
	return ibv_alloc_dm(context, &attr);
}

static uint32_t handle_of(const struct ibv_dm *dm)
{
	uint32_t handle = 0;

	rdmaez_impl_dm_handle(dm, true, &handle);
	return handle;
}

static struct rdmaez_dm_emu_opts sized(size_t size)
{
	struct rdmaez_dm_emu_opts opts = {0};

	opts.size = size;
	return opts;
}

static struct rdmaez_dm_emu_opts sharing(int fd)
{
	struct rdmaez_dm_emu_opts opts = {0};

	opts.fd = fd;
	return opts;
}

/* --- Attaching ---------------------------------------------------------------------------------- */

static int try_attach(const struct rdmaez_dm_emu_opts *opts, struct rdmaez_diag *diag)
{
	struct rdmaez_dm_emu other = {0};

	return rdmaez_dm_emu_attach(ctx, opts, &other, diag);
}

static void refusals(void)
{
	struct rdmaez_dm_emu_opts opts = {0};
	struct rlimit limit, none;
	struct rdmaez_diag diag;

	begin(NULL);
	tap_eq_int((int64_t)emu.state.timeout_ns, 0, "a call may wait for as long as any");
	check_refusal(&diag, rdmaez_dm_emu_attach(NULL, NULL, &emu, &diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "context", "no context");
	check_refusal(&diag, rdmaez_dm_emu_attach(ctx, NULL, NULL, &diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "emu", "no state");
	check_refusal(&diag, try_attach(NULL, &diag), EBUSY, RDMAEZ_WHY_DM_EMU_ATTACHED, "context",
		      "a second emulation");
	tap_eq_int(try_attach(NULL, NULL), EBUSY, "without a record, too");
	end("after refusals");

	ctx = fake_open(fake_reset());
	opts.flags = 6;
	check_refusal(&diag, try_attach(&opts, &diag), EINVAL, RDMAEZ_WHY_OPTION_UNKNOWN,
		      "opts.flags", "unknown flags");
	tap_eq_hex(diag.finding[0].value, 6, "and which");
	tap_eq_str(diag.device, "fake0", "the record names the device");
	opts = sized(64 * MIB + 1);
	CHECK_FINDINGS(&diag, try_attach(&opts, &diag), EINVAL, "rdmaez_dm_emu_attach",
		       "more than there can be",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_RANGE, "opts.size", RDMAEZ_VALUE_BYTES,
			64 * MIB + 1, 1, 64 * MIB});
	getrlimit(RLIMIT_NOFILE, &limit);
	none = limit;
	none.rlim_cur = 0;
	setrlimit(RLIMIT_NOFILE, &none);
	check_refusal(&diag, try_attach(NULL, &diag), EMFILE, RDMAEZ_WHY_UNEXPLAINED, "opts.size",
		      "more descriptors than the process may have");
	setrlimit(RLIMIT_NOFILE, &limit);
	verbs_get_ctx(ctx)->_ABI_placeholder3 = 8;
	check_refusal(&diag, try_attach(NULL, &diag), EBUSY, RDMAEZ_WHY_DM_EMU_ATTACHED, "context",
		      "a context with the emulation of another shared object");
	tap_eq_hex(verbs_get_ctx(ctx)->_ABI_placeholder3, 8, "which is not looked at");
	verbs_get_ctx(ctx)->_ABI_placeholder3 = 0;
	verbs_get_ctx(ctx)->sz = 8;
	check_refusal(&diag, try_attach(NULL, &diag), EOPNOTSUPP, RDMAEZ_WHY_NOT_SUPPORTED,
		      "context", "a context that ends before device memory");
	verbs_get_ctx(ctx)->sz =
		sizeof(struct verbs_context) - offsetof(struct verbs_context, reg_dm_mr) - 1;
	tap_eq_int(try_attach(NULL, NULL), EOPNOTSUPP, "or within the last of what it takes");
	verbs_get_ctx(ctx)->sz++;
	tap_eq_int(rdmaez_dm_emu_attach(ctx, NULL, &emu, NULL), 0, "but not one that ends there");
	tap_eq_int(rdmaez_dm_emu_detach(&emu, NULL), 0, "which is detached");
	verbs_get_ctx(ctx)->sz = sizeof(struct verbs_context);
	ctx->abi_compat = NULL;
	check_refusal(&diag, try_attach(NULL, &diag), EOPNOTSUPP, RDMAEZ_WHY_NOT_SUPPORTED,
		      "context", "a context of 2011");
	ctx->abi_compat = __VERBS_ABI_IS_EXTENDED;
	tap_ok(!rdmaez_dm_emu_is_attached(ctx), "nothing of all that is attached");
	fake_close_all();
}

/* Attached to one context it is not attached to another, which would forget the first. */
static void attached_twice(void)
{
	struct ibv_context *other;
	struct rdmaez_diag diag;
	struct ibv_dm *dm;

	begin(NULL);
	other = fake_open(dev);
	dm = alloc(ctx, 64);
	check_refusal(&diag, rdmaez_dm_emu_attach(other, NULL, &emu, &diag), EBUSY,
		      RDMAEZ_WHY_DM_EMU_ATTACHED, "emu", "one emulation on two contexts");
	check_refusal(&diag, rdmaez_dm_emu_attach(ctx, NULL, &emu, &diag), EBUSY,
		      RDMAEZ_WHY_DM_EMU_ATTACHED, "emu", "one emulation twice on one context");
	check_refusal(&diag, rdmaez_dm_emu_attach(NULL, NULL, &emu, &diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "context",
		      "one emulation on two contexts, one NULL");
	tap_ok(!rdmaez_dm_emu_is_attached(other) && rdmaez_dm_emu_is_attached(ctx),
	       "the first keeps it");
	tap_eq_int(ibv_free_dm(dm), 0, "and what it has");
	end("attached twice");
}

/* What is refused is detached, even where the struct holds what an attached one held. */
static void refused_is_detached(void)
{
	struct rdmaez_dm_emu_opts wrong = {.flags = 6};
	struct rdmaez_dm_emu copy;

	begin(NULL);
	copy = emu;
	tap_eq_int(rdmaez_dm_emu_attach(NULL, NULL, &copy, NULL), EINVAL, "no context");
	tap_eq_int(rdmaez_dm_emu_fd(&copy), -1, "no context: there is nothing attached");
	copy = emu;
	tap_eq_int(rdmaez_dm_emu_attach(ctx, NULL, &copy, NULL), EBUSY, "an attached context");
	tap_eq_int(rdmaez_dm_emu_detach(&copy, NULL), EINVAL,
		   "an attached context: nothing to detach");
	copy = emu;
	tap_eq_int(rdmaez_dm_emu_attach(fake_open(dev), &wrong, &copy, NULL), EINVAL,
		   "wrong options");
	tap_eq_int(rdmaez_dm_emu_detach(&copy, NULL), EINVAL, "wrong options: nothing to detach");
	end("what is refused");
}

/* The bytes of all device memory are rounded to pages, and one allocation may have all of them. */
static void sizes(void)
{
	static const struct {
		size_t size;
		uint64_t max;
	} tries[] = {{5000, 2 * PAGE}, {1, PAGE}, {0, 256 * KIB}, {MIB, MIB}, {64 * MIB, 64 * MIB}};

	for (size_t i = 0; i < COUNT_OF(tries); i++) {
		struct rdmaez_dm_emu_opts opts = sized(tries[i].size);
		struct rdmaez_dm_emu second = {0};
		struct ibv_device_attr_ex device;
		struct ibv_context *other;
		struct ibv_dm *dm;

		begin(&opts);
		tap_eq_int(ibv_query_device_ex(ctx, NULL, &device), 0, "it can be asked");
		tap_eq_int(device.max_dm_size, tries[i].max, "of %d bytes one may have %d",
			   (int)tries[i].size, (int)tries[i].max);
		dm = alloc(ctx, (size_t)tries[i].max);
		tap_ok(dm && ibv_free_dm(dm) == 0, "and gets them");
		opts = sized(SIZE_MAX);
		opts.fd = rdmaez_dm_emu_fd(&emu);
		other = fake_open(dev);
		tap_eq_int(rdmaez_dm_emu_attach(other, &opts, &second, NULL), 0,
			   "who shares it has no say in its size");
		tap_eq_int(ibv_query_device_ex(other, NULL, &device), 0, "it can be asked, too");
		tap_eq_int(device.max_dm_size, tries[i].max, "and tells the same");
		tap_eq_int(rdmaez_dm_emu_detach(&second, NULL), 0, "the other goes");
		end("sizes");
	}
}

/* A file of so many zeros, or, with a header of the emulation's, spoilt in one byte. */
static int file_like(int fd, size_t bytes, size_t spoilt)
{
	int made = memfd_create("like", MFD_ALLOW_SEALING);
	char buffer[PAGE];
	ssize_t got;

	if (fd >= 0) {
		lseek(fd, 0, SEEK_SET);
		while ((got = read(fd, buffer, sizeof(buffer))) > 0)
			if (write(made, buffer, (size_t)got) != got)
				tap_bail("write");
		if (pwrite(made, "\x55", 1, (off_t)spoilt) != 1)
			tap_bail("pwrite");
	} else if (ftruncate(made, (off_t)bytes)) {
		tap_bail("ftruncate");
	}
	return made;
}

/* The same, that nobody can cut any more. */
static int sealed(int fd)
{
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK))
		tap_bail("F_ADD_SEALS");
	return fd;
}

/* A file whose numbers agree, but whose bytes begin elsewhere, or are not as many. */
static int misplaced(int fd, uint64_t start, uint64_t size)
{
	const size_t at = offsetof(struct rdmaez_impl_emu_file, start);
	int made = file_like(fd, 0, offsetof(struct rdmaez_impl_emu_file, last_handle));
	const uint64_t numbers[2] = {start, size};

	if ((size < (uint64_t)1 << 40 && ftruncate(made, (off_t)(start + size))) ||
	    pwrite(made, numbers, sizeof(numbers), (off_t)at) != (ssize_t)sizeof(numbers))
		tap_bail("pwrite");
	return made;
}

static void refuse_fd(int fd, const char *what)
{
	struct rdmaez_dm_emu_opts opts = sharing(rdmaez_exactly(fd));
	struct rdmaez_dm_emu other = {0};
	struct ibv_context *second = fake_open(dev);
	struct rdmaez_diag diag;

	check_refusal(&diag, rdmaez_dm_emu_attach(second, &opts, &other, &diag), EBADF,
		      RDMAEZ_WHY_DM_EMU_FD, "opts.fd", "%s", what);
	tap_eq_int(rdmaez_dm_emu_detach(&other, NULL), EINVAL, "%s: there is nothing to detach",
		   what);
}

/* How often this text is in the list of what is mapped. */
static int mapped(const char *text)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];
	int count = 0;

	if (!maps)
		tap_bail("/proc/self/maps");
	while (fgets(line, sizeof(line), maps))
		count += strstr(line, text) != NULL;
	fclose(maps);
	return count;
}

static void wrong_files(void)
{
	struct rdmaez_dm_emu_opts opts;
	struct rdmaez_dm_emu other = {0};
	struct rdmaez_impl_emu longer = {.page = PAGE};
	int ends[2], own, file;
	uint64_t start;

	begin(NULL);
	own = rdmaez_dm_emu_fd(&emu);
	start = (sizeof(struct rdmaez_impl_emu_file) + 128 * sizeof(struct rdmaez_impl_emu_piece) +
		 PAGE - 1) /
		PAGE * PAGE;
	refuse_fd(-1, "no descriptor");
	refuse_fd(9999, "one that is not open");
	refuse_fd(open("/dev/null", O_RDWR), "a device");
	refuse_fd(open("/", O_RDONLY), "a directory");
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		tap_bail("socketpair");
	refuse_fd(ends[0], "a socket");
	refuse_fd(sealed(file_like(-1, 0, 0)), "an empty file");
	refuse_fd(sealed(file_like(-1, sizeof(struct rdmaez_impl_emu_file) - 1, 0)),
		  "a short file");
	refuse_fd(sealed(file_like(-1, 1024 * KIB, 0)), "a file of zeros");
	for (size_t i = 0; i < offsetof(struct rdmaez_impl_emu_file, last_handle); i += 4)
		refuse_fd(sealed(file_like(own, 0, i)), "a spoilt header");
	file = file_like(own, 0, offsetof(struct rdmaez_impl_emu_file, last_handle));
	fcntl(file, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_GROW);
	refuse_fd(file, "a file that is sealed against all but cutting");
	refuse_fd(sealed(misplaced(own, PAGE - 4, 512 * KIB)), "memory that begins within a page");
	refuse_fd(sealed(misplaced(own, PAGE, (uint64_t)1 << 62)), "memory beyond all");
	refuse_fd(sealed(misplaced(own, 0, 512 * KIB)), "a list in the memory itself");
	refuse_fd(sealed(misplaced(own, start, 512 * KIB + 4)), "memory that ends within a page");
	rdmaez_impl_emu_create(&longer, 64 * MIB + PAGE);
	refuse_fd(longer.fd, "a list that takes long to read");
	file = file_like(own, 0, offsetof(struct rdmaez_impl_emu_file, last_handle));
	tap_ok(file > 0 && ftruncate(own, 0) && errno == EPERM && ftruncate(own, 1 << 24),
	       "nobody cuts or extends the memory itself");
	refuse_fd(file, "a file that could be cut");
	if (ftruncate(file, 200 * KIB))
		tap_bail("ftruncate");
	refuse_fd(sealed(file), "a file that was cut");
	opts = sharing(sealed(misplaced(own, start, 512 * KIB)));
	tap_eq_int(rdmaez_dm_emu_attach(fake_open(dev), &opts, &other, NULL), 0,
		   "what is not spoilt, and sealed, is taken");
	tap_eq_int(rdmaez_dm_emu_detach(&other, NULL), 0, "and left");
	tap_eq_int(mapped("memfd:like"), 0, "nothing of all that is left mapped");
	tap_eq_int(fcntl(own, F_GET_SEALS), F_SEAL_SHRINK | F_SEAL_GROW,
		   "the memory has two seals");
	end("wrong files");
}

/* To open a thing that is no file can have effects, so that is not done. */
static void unopened(void)
{
	char path[] = "/tmp/rdmaez-dm-XXXXXX", event[256];
	int fifo, watch = inotify_init1(IN_NONBLOCK);

	begin(NULL);
	if (!mkdtemp(path))
		tap_bail("mkdtemp");
	if (chdir(path) || mkfifo("fifo", 0600))
		tap_bail("mkfifo");
	fifo = open("fifo", O_RDWR);
	if (watch < 0 || inotify_add_watch(watch, "fifo", IN_OPEN) < 0)
		tap_bail("inotify");
	refuse_fd(fifo, "a FIFO");
	tap_ok(read(watch, event, sizeof(event)) < 0 && errno == EAGAIN, "which nobody has opened");
	close(open("fifo", O_RDWR));
	tap_ok(read(watch, event, sizeof(event)) > 0, "as would be seen");
	close(fifo);
	close(watch);
	if (unlink("fifo") || chdir("/") || rmdir(path))
		tap_bail("rmdir");
	end("unopened");
}

static void real_memory(void)
{
	struct rdmaez_dm_emu_opts opts = {0};
	struct verbs_context *verbs;
	struct verbs_context was;
	struct rdmaez_diag diag;
	struct ibv_device_attr_ex device;
	struct ibv_context older;

	dev = fake_reset();
	dev->attr.max_dm_size = 64 * KIB;
	ctx = fake_open(dev);
	verbs = verbs_get_ctx(ctx);
	was = *verbs;
	fake_fail(FAKE_QUERY_DEVICE_EX, 1, EIO);
	check_success(&diag, rdmaez_dm_emu_attach(ctx, NULL, &emu, &diag),
		      "a device that does not tell what it has");
	tap_eq_int(rdmaez_dm_emu_detach(&emu, NULL), 0, "detached");
	check_refusal(&diag, rdmaez_dm_emu_attach(ctx, NULL, &emu, &diag), EEXIST,
		      RDMAEZ_WHY_DM_EMU_REAL, "max_dm_size", "a device with memory of its own");
	tap_eq_int(diag.finding[0].value, 64 * KIB, "and how much that has");
	opts.flags = RDMAEZ_DM_EMU_FORCE;
	check_success(&diag, rdmaez_dm_emu_attach(ctx, &opts, &emu, &diag),
		      "attached by force all the same");
	tap_ok(rdmaez_dm_emu_is_attached(ctx) && !rdmaez_dm_emu_is_attached(NULL),
	       "and that can be asked");
	memset(&older, 0x55, sizeof(older));
	older.abi_compat = NULL;
	tap_ok(!rdmaez_dm_emu_is_attached(&older), "also of a libibverbs without such verbs");
	tap_eq_int(ibv_query_device_ex(ctx, NULL, &device), 0, "the device can be asked");
	tap_eq_int(device.max_dm_size, 256 * KIB, "and says what is emulated");
	tap_ok(rdmaez_dm_emu_fd(&emu) >= 0, "there is a descriptor");
	tap_eq_int(rdmaez_dm_emu_detach(&emu, NULL), 0, "detached");
	tap_ok(memcmp(verbs, &was, sizeof(was)) == 0, "every byte of the context is as it was");
	tap_eq_int(rdmaez_dm_emu_fd(&emu), -1, "there is no descriptor any more");
	tap_eq_int(rdmaez_dm_emu_fd(NULL), -1, "nor one of nothing");
	check_refusal(&diag, rdmaez_dm_emu_detach(&emu, &diag), EINVAL, RDMAEZ_WHY_DM_CLOSED, "emu",
		      "to detach it again");
	check_refusal(&diag, rdmaez_dm_emu_detach(NULL, &diag), EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
		      "emu", "to detach nothing");
	tap_eq_int(ibv_query_device_ex(ctx, NULL, &device), 0, "the device answers as before");
	tap_eq_int(device.max_dm_size, 64 * KIB, "with its own memory");
	fake_close_all();
}

/* --- ibv_query_device_ex ------------------------------------------------------------------------ */

static void queries(void)
{
	struct rdmaez_dm_emu_opts opts = sized(1024 * KIB);
	const struct ibv_query_device_ex_input input = {.comp_mask = 1};
	struct ibv_device_attr_ex device;
	const size_t before = offsetof(struct ibv_device_attr_ex, max_dm_size);
	const uint64_t whole = 1024 * KIB;
	uint8_t want[8];
	struct verbs_context *verbs;

	begin(&opts);
	verbs = verbs_get_ctx(ctx);
	tap_eq_int(ibv_query_device_ex(ctx, NULL, &device), 0, "the device can be asked");
	tap_eq_int(device.max_dm_size, 1024 * KIB, "max_dm_size is what the options said");
	tap_eq_int(device.orig_attr.max_qp, dev->attr.orig_attr.max_qp, "the rest is the device's");
	memset(&device, 0x5a, sizeof(device));
	tap_eq_int(verbs->query_device_ex(ctx, NULL, &device, sizeof(device.orig_attr)), 0,
		   "an older program asks");
	tap_ok(device.max_dm_size == 0x5a5a5a5a5a5a5a5a,
	       "and nothing is written beyond its struct");
	for (size_t i = 0; i <= 8; i++) {
		memset(&device, 0x5a, sizeof(device));
		memset(want, 0x5a, sizeof(want));
		tap_eq_int(verbs->query_device_ex(ctx, NULL, &device, before + i), 0,
			   "it has %zu bytes", before + i);
		memset(want, 0, i);
		if (i == 8)
			memcpy(want, &whole, 8);
		tap_ok(memcmp(&device.max_dm_size, want, 8) == 0,
		       "and no byte beyond them is written");
	}
	tap_eq_int(verbs->query_device_ex(ctx, &input, &device, sizeof(device)), EINVAL,
		   "what the device refuses stays refused");
	fake_fail(FAKE_QUERY_DEVICE_EX, 1, EOPNOTSUPP);
	memset(&device, 0x5a, sizeof(device));
	tap_eq_int(verbs->query_device_ex(ctx, NULL, &device, before + 8), 0,
		   "a device without the newer verb");
	tap_eq_int(device.completion_timestamp_mask, 0, "leaves nothing of what was there");
	tap_eq_int(device.max_dm_size, 1024 * KIB, "tells max_dm_size all the same");
	tap_eq_int(device.orig_attr.max_qp, dev->attr.orig_attr.max_qp, "and what the older tells");
	fake_fail(FAKE_QUERY_DEVICE_EX, 1, ENOSYS);
	memset(&device, 0x5a, sizeof(device));
	tap_eq_int(verbs->query_device_ex(ctx, NULL, &device, before + 8), 0,
		   "or whose kernel lacks it");
	tap_eq_int(device.max_dm_size, 1024 * KIB, "tells it as well");
	fake_fail(FAKE_QUERY_DEVICE_EX, 1, EOPNOTSUPP);
	fake_fail(FAKE_QUERY_DEVICE, 1, EIO);
	tap_eq_int(ibv_query_device_ex(ctx, NULL, &device), EIO, "where that fails, so it says");
	fake_fail(FAKE_QUERY_DEVICE_EX, 1, EOPNOTSUPP);
	tap_eq_int(verbs->query_device_ex(ctx, NULL, &device, sizeof(device.orig_attr)), EOPNOTSUPP,
		   "an older program on an older device makes do with the older verb");
	end("queries");
	/* No such verb at all. */
	ctx = fake_open(dev);
	verbs_get_ctx(ctx)->query_device_ex = NULL;
	tap_eq_int(rdmaez_dm_emu_attach(ctx, NULL, &emu, NULL), 0, "a context without the verb");
	tap_eq_int(ibv_query_device_ex(ctx, NULL, &device), 0, "gets one");
	tap_eq_int(device.max_dm_size, 256 * KIB, "which tells max_dm_size");
	end("without the verb");
}

/* --- ibv_alloc_dm ------------------------------------------------------------------------------- */

static void allocation(void)
{
	static const struct {
		const char *name;
		size_t length;
		uint32_t log_align, comp_mask;
		int error;
	} tries[] = {
		{"one byte", 1, 0, 0, 0},
		{"what there may be at most", 100 * KIB, 0, 0, 0},
		{"a byte more", 100 * KIB + 1, 0, 0, EINVAL},
		{"all that size_t holds", SIZE_MAX, 0, 0, EINVAL},
		{"no byte", 0, 0, 0, EINVAL},
		{"the alignment of a page", 64, 12, 0, 0},
		{"more than that", 64, 13, 0, EINVAL},
		{"an alignment beyond all", 64, UINT32_MAX, 0, EINVAL},
		{"a mask of which nothing is known", 64, 0, 1, EINVAL},
	};
	struct rdmaez_dm_emu_opts opts = sized(100 * KIB);

	begin(&opts);
	for (size_t i = 0; i < COUNT_OF(tries); i++) {
		struct ibv_alloc_dm_attr attr = {tries[i].length, tries[i].log_align,
						 tries[i].comp_mask};
		struct ibv_dm *dm;

		errno = 0;
		dm = ibv_alloc_dm(ctx, &attr);
		tap_eq_int(dm ? 0 : errno, tries[i].error, "%s: %s", tries[i].name,
			   rdmaez_errno_str(tries[i].error));
		tap_ok(!dm || (dm->context == ctx && dm->comp_mask == 1 && handle_of(dm) != 0),
		       "%s: it has its context and a handle", tries[i].name);
		tap_eq_int(dm ? ibv_free_dm(dm) : 0, 0, "%s: it can be freed", tries[i].name);
	}
	end("allocation");
}

/* As many as there are pages, and what is freed is used again. */
static void room(void)
{
	struct ibv_dm *dm[65];
	bool distinct = true;
	int count = 0;

	begin(NULL);
	while (count < 65 && (dm[count] = alloc(ctx, 1)))
		count++;
	tap_eq_int(count, 64, "256 KiB are 64 pieces, however small");
	tap_eq_int(errno, ENOMEM, "then there is no room");
	for (int i = 0; i < 64; i++)
		for (int j = 0; j < i; j++)
			distinct = distinct && handle_of(dm[i]) != handle_of(dm[j]);
	tap_ok(distinct, "no two have the same handle");
	ibv_free_dm(dm[10]);
	ibv_free_dm(dm[12]);
	tap_ok(!alloc(ctx, PAGE + 1) && errno == ENOMEM, "two holes are not one of twice the size");
	ibv_free_dm(dm[11]);
	dm[10] = alloc(ctx, 3 * PAGE);
	tap_ok(dm[10], "three in a row are");
	tap_ok(!alloc(ctx, 1) && errno == ENOMEM, "and then it is full again");
	for (int i = 0; i < 64; i++)
		if (i != 11 && i != 12 && ibv_free_dm(dm[i]))
			tap_bail("ibv_free_dm");
	dm[0] = alloc(ctx, 256 * KIB);
	tap_ok(dm[0], "all at once fit where nothing is left");
	ibv_free_dm(dm[0]);
	end("room");
}

/* Pieces whose places in the directory are not those in the memory keep out of each other's way. */
static void disorder(void)
{
	static const size_t pages[] = {2, 1, 1, 0, 1, 1, 1, 2};
	struct ibv_dm *dm[COUNT_OF(pages)] = {NULL};
	uint32_t word;

	begin(NULL);
	for (uint32_t i = 0; i < COUNT_OF(pages); i++) {
		if (!pages[i]) {
			ibv_free_dm(dm[0]);
			dm[0] = NULL;
			continue;
		}
		dm[i] = alloc(ctx, pages[i] * PAGE);
		for (size_t page = 0; dm[i] && page < pages[i]; page++)
			ibv_memcpy_to_dm(dm[i], page * PAGE, &i, 4);
	}
	for (uint32_t i = 0; i < COUNT_OF(pages); i++) {
		for (size_t page = 0; dm[i] && page < pages[i]; page++) {
			ibv_memcpy_from_dm(&word, dm[i], page * PAGE, 4);
			tap_eq_int(word, i, "page %d of piece %u is its own", (int)page, i);
		}
		if (dm[i] && ibv_free_dm(dm[i]))
			tap_bail("ibv_free_dm");
	}
	end("disorder");
}

/* --- The copies --------------------------------------------------------------------------------- */

static void copies(void)
{
	static const struct {
		uint64_t offset;
		size_t length;
		int error;
	} tries[] = {
		{0, 0, 0},
		{0, 4, 0},
		{4, 96, 0},
		{0, 100, 0},
		{100, 0, 0},
		{96, 4, 0},
		{0, 102, EINVAL}, /* that is all of it, and not a multiple of four */
		{1, 4, EINVAL},
		{0, 3, EINVAL},
		{2, 0, EINVAL},
		{102, 0, EINVAL},
		{100, 4, EFAULT},
		{104, 0, EFAULT},
		{0, 104, EFAULT},
		{0, 103, EFAULT}, /* bounds come before multiples */
		{103, 1, EFAULT},
		{UINT64_MAX, 1, EFAULT},
		{UINT64_MAX - 3, 4, EFAULT}, /* where a sum would be 0 */
		{UINT64_MAX - 3, 8, EFAULT}, /* and 4: mlx5 writes before its mapping */
		{8, SIZE_MAX - 3, EFAULT},
		{(uint64_t)1 << 63, SIZE_MAX / 2 + 1, EFAULT},
	};
	uint8_t bytes[104], got[104], want[104] = {0};
	struct ibv_dm *dm;

	begin(NULL);
	dm = alloc(ctx, 102);
	for (size_t i = 0; i < COUNT_OF(tries); i++) {
		const uint64_t offset = tries[i].offset;
		const size_t length = tries[i].length;
		int error;

		memset(bytes, (int)i + 1, sizeof(bytes));
		errno = 77;
		error = ibv_memcpy_to_dm(dm, offset, bytes + 1, length);
		tap_eq_int(error, tries[i].error, "%llu bytes to %llu: %s",
			   (unsigned long long)length, (unsigned long long)offset,
			   rdmaez_errno_str(tries[i].error));
		if (!error)
			memset(want + offset, (int)i + 1, length);
		tap_eq_int(ibv_memcpy_from_dm(bytes + 1, dm, offset, length), tries[i].error,
			   "and back");
		tap_eq_int(errno, 77, "errno is left alone");
		tap_eq_int(ibv_memcpy_from_dm(got, dm, 0, 100), 0, "all of it can be read");
		tap_ok(memcmp(got, want, 100) == 0, "and is as it should be");
	}
	ibv_free_dm(dm);
	end("copies");
}

/* --- ibv_reg_dm_mr ------------------------------------------------------------------------------ */

static void access_flags(struct ibv_pd *pd, struct ibv_dm *dm)
{
	const unsigned int zero = IBV_ACCESS_ZERO_BASED, local = IBV_ACCESS_LOCAL_WRITE;
	const struct {
		unsigned int access;
		int error;
	} tries[] = {
		{zero, 0},
		{zero | local, 0},
		{zero | IBV_ACCESS_REMOTE_READ, 0},
		{zero | local | IBV_ACCESS_REMOTE_WRITE, 0},
		{zero | local | IBV_ACCESS_REMOTE_ATOMIC, 0},
		{PEER, 0},
		{0, EINVAL},
		{PEER & ~zero, EINVAL},
		{zero | IBV_ACCESS_REMOTE_WRITE, EINVAL},
		{zero | IBV_ACCESS_REMOTE_ATOMIC, EINVAL},
		{PEER | IBV_ACCESS_MW_BIND, EINVAL},
		{PEER | IBV_ACCESS_ON_DEMAND, EINVAL},
		{PEER | IBV_ACCESS_HUGETLB, EINVAL},
		{PEER | 1u << 8, EINVAL}, /* IBV_ACCESS_FLUSH_GLOBAL */
		{PEER | IBV_ACCESS_RELAXED_ORDERING, EINVAL},
		{PEER | 1u << 31, EINVAL},
	};

	for (size_t i = 0; i < COUNT_OF(tries); i++) {
		const unsigned int count = fake_count(FAKE_REG_MR);
		struct ibv_mr *mr = reg(pd, dm, 0, 64, tries[i].access);

		tap_eq_int(fake_count(FAKE_REG_MR) - count, !tries[i].error,
			   "access 0x%x: the device hears of what is right only", tries[i].access);
		tap_eq_int(mr ? 0 : errno, tries[i].error, "access 0x%x: %s", tries[i].access,
			   rdmaez_errno_str(tries[i].error));
		if (!mr)
			continue;
		tap_eq_hex(fake_last(FAKE_REG_MR)->attr_mask, tries[i].access & ~zero,
			   "access 0x%x: the host's memory is not told of zero", tries[i].access);
		dereg(mr);
	}
}

static void registration(void)
{
	static const struct {
		uint64_t offset;
		size_t length;
		int error;
	} tries[] = {
		{0, 2 * PAGE + 2, 0},
		{0, 1, 0},
		{PAGE, PAGE + 2, 0},
		{2 * PAGE, 2, 0},
		{0, 2 * PAGE + 3, EINVAL},
		{2 * PAGE, 3, EINVAL},
		{PAGE, SIZE_MAX, EINVAL},
		{UINT64_MAX - PAGE + 1, PAGE, EINVAL},
		{0, 0, EINVAL},
		{64, 64, EOPNOTSUPP}, /* mlx5 can do that */
	};
	struct ibv_dm *dm;
	struct ibv_pd *pd;

	begin(NULL);
	pd = ibv_alloc_pd(ctx);
	dm = alloc(ctx, 2 * PAGE + 2);
	for (size_t i = 0; i < COUNT_OF(tries); i++) {
		const unsigned int count = fake_count(FAKE_REG_MR);
		struct ibv_mr *mr = reg(pd, dm, tries[i].offset, tries[i].length, PEER);

		tap_eq_int(fake_count(FAKE_REG_MR) - count, !tries[i].error,
			   "the device hears of what is right only");

		tap_eq_int(mr ? 0 : errno, tries[i].error, "%llu bytes from %llu: %s",
			   (unsigned long long)tries[i].length, (unsigned long long)tries[i].offset,
			   rdmaez_errno_str(tries[i].error));
		if (!mr)
			continue;
		tap_ok(!mr->addr && mr->length == tries[i].length && mr->pd == pd,
		       "it has no address, and the length");
		tap_ok(registered == (uint8_t *)emu.state.file + emu.state.start + tries[i].offset,
		       "and is made of these bytes");
		dereg(mr);
	}
	access_flags(pd, dm);
	fake_fail(FAKE_REG_MR, 1, ENOMEM);
	tap_ok(!reg(pd, dm, 0, 64, PEER) && errno == ENOMEM, "what the device refuses is refused");
	tap_eq_int(ibv_free_dm(dm), 0, "and leaves no region behind");
	end("registration");
}

/* The context's own protection domain, and the second emulation's memory. */
static void foreign_domain(void)
{
	struct rdmaez_dm_emu second = {0};
	struct ibv_context *other;
	struct ibv_dm *dm, *namesake;

	begin(NULL);
	other = fake_open(dev);
	if (rdmaez_dm_emu_attach(other, NULL, &second, NULL))
		tap_bail("cannot attach");
	dm = alloc(ctx, 64);
	namesake = alloc(other, 64);
	tap_eq_int(handle_of(dm), handle_of(namesake), "two memories use the same handles");
	tap_ok(!reg(ibv_alloc_pd(other), dm, 0, 64, PEER) && errno == ENOENT,
	       "a domain of another context does not know the memory");
	ibv_free_dm(namesake);
	ibv_free_dm(dm);
	tap_eq_int(rdmaez_dm_emu_detach(&second, NULL), 0, "two contexts have memory each");
	end("a foreign domain");
}

static void busy(void)
{
	struct ibv_mr *first, *second;
	struct ibv_dm *dm;
	struct ibv_pd *pd;
	uint32_t word = 7;

	begin(NULL);
	pd = ibv_alloc_pd(ctx);
	dm = alloc(ctx, 64);
	first = reg(pd, dm, 0, 64, PEER);
	second = reg(pd, dm, 0, 32, PEER);
	tap_eq_int(ibv_free_dm(dm), EBUSY, "with two regions it stays");
	dereg(first);
	tap_eq_int(ibv_free_dm(dm), EBUSY, "with one as well");
	tap_eq_int(rdmaez_dm_emu_detach(&emu, NULL), EBUSY, "and the emulation with it");
	tap_eq_int(ibv_memcpy_to_dm(dm, 0, &word, 4), 0, "it can be used meanwhile");
	dereg(second);
	tap_eq_int(ibv_free_dm(dm), 0, "without one it goes");

	dm = alloc(ctx, 64);
	first = reg(pd, dm, 0, 64, PEER);
	kernel.lkey[kernel.count - 1] ^= 1;
	tap_eq_int(ibv_free_dm(dm), 0, "a handle that is another region's by now does not count");
	dereg(first);
	end("busy");

	memset(&kernel, 0, sizeof(kernel));
	kernel.refuses = EPROTONOSUPPORT;
	ctx = fake_open(dev);
	if (rdmaez_dm_emu_attach(ctx, NULL, &emu, NULL))
		tap_bail("cannot attach");
	dm = alloc(ctx, 64);
	first = reg(ibv_alloc_pd(ctx), dm, 0, 64, PEER);
	tap_eq_int(ibv_free_dm(dm), 0, "a kernel that cannot tell lets everything go");
	tap_eq_int(kernel.asked, 1, "and is asked once");
	dereg(first);
	end("an old kernel");

	memset(&kernel, 0, sizeof(kernel));
	kernel.refuses = EINVAL;
	ctx = fake_open(dev);
	if (rdmaez_dm_emu_attach(ctx, NULL, &emu, NULL))
		tap_bail("cannot attach");
	tap_eq_int(kernel.asked, 64, "one that knows no driver is asked for so many");
	end("an unknown driver");

	memset(&kernel, 0, sizeof(kernel));
	kernel.unnumbered = true;
	ctx = fake_open(dev);
	if (rdmaez_dm_emu_attach(ctx, NULL, &emu, NULL))
		tap_bail("cannot attach");
	dm = alloc(ctx, 64);
	first = reg(ibv_alloc_pd(ctx), dm, 0, 64, PEER);
	tap_eq_int(ibv_free_dm(dm), EBUSY, "a driver may have the number 0");
	dereg(first);
	tap_eq_int(ibv_free_dm(dm), 0, "and tells as well when a region is gone");
	end("driver 0");
}

/* Regions on several pieces: each keeps its own, whichever was registered first. */
static void busy_pieces(void)
{
	struct ibv_dm *dm[3];
	struct ibv_mr *mr[3];
	struct ibv_pd *pd;

	begin(NULL);
	pd = ibv_alloc_pd(ctx);
	for (int i = 0; i < 3; i++) {
		dm[i] = alloc(ctx, 64);
		mr[i] = i == 1 ? NULL : reg(pd, dm[i], 0, 64, PEER);
	}
	tap_eq_int(ibv_free_dm(dm[0]), EBUSY, "the first has a region");
	tap_eq_int(ibv_free_dm(dm[2]), EBUSY, "so has the last");
	tap_eq_int(ibv_free_dm(dm[1]), 0, "between them one that has none goes");
	dereg(mr[0]);
	tap_eq_int(ibv_free_dm(dm[2]), EBUSY, "the last keeps its region");
	tap_eq_int(ibv_free_dm(dm[0]), 0, "when the first has gone without");
	dereg(mr[2]);
	tap_eq_int(ibv_free_dm(dm[2]), 0, "then the last goes");
	end("busy pieces");
}

/* --- Sharing ------------------------------------------------------------------------------------ */

enum {
	TIMEOUT = 30 * MS, /* of everything that waits here */
};

static struct ibv_dm *import(struct rdmaez_dm_emu *into, uint32_t handle)
{
	errno = 0;
	return rdmaez_dm_emu_ops()->import(into->state.context, handle, TIMEOUT, into);
}

static void unimport(struct ibv_dm *dm)
{
	rdmaez_dm_emu_ops()->unimport(dm);
}

static uint64_t query_max(void)
{
	struct ibv_device_attr_ex device;

	return ibv_query_device_ex(ctx, NULL, &device) ? 0 : device.max_dm_size;
}

static void two_contexts(void)
{
	struct rdmaez_dm_emu_opts opts;
	struct ibv_context *other;
	struct rdmaez_dm_emu second = {0};
	struct rdmaez_diag diag;
	struct ibv_dm *dm, *same, *again, *all;
	uint32_t word = 0x12345678, handle;

	begin(NULL);
	other = fake_open(dev);
	opts = sharing(rdmaez_dm_emu_fd(&emu));
	check_success(&diag, rdmaez_dm_emu_attach(other, &opts, &second, &diag),
		      "a second context shares the memory");
	dm = alloc(ctx, 100);
	handle = handle_of(dm);
	tap_ok(!import(&second, handle + 1) && errno == ENOENT, "an unknown handle is refused");
	tap_ok(!import(&second, 0) && errno == ENOENT, "so is none at all");
	same = import(&second, handle);
	tap_ok(same && same->context == other && same->comp_mask == 0 && handle_of(same) == handle,
	       "the handle is imported, as mlx5 does without its mark");
	ibv_memcpy_to_dm(dm, 96, &word, 4);
	word = 0;
	tap_eq_int(ibv_memcpy_from_dm(&word, same, 96, 4), 0, "the other copies out");
	tap_eq_hex(word, 0x12345678, "what the first has copied in");
	tap_eq_int(ibv_memcpy_from_dm(&word, same, 100, 4), EFAULT, "to the length asked for");

	tap_eq_int(ibv_free_dm(same), EINVAL, "who imported it does not free it");
	again = import(&second, handle);
	tap_ok(again && again != same, "it may be imported twice");
	unimport(again);
	tap_eq_int(ibv_free_dm(dm), 0, "who allocated it frees it");
	tap_ok(!import(&second, handle) && errno == ENOENT, "then it cannot be imported");
	tap_ok(!import(&second, 0) && errno == ENOENT, "nor is what was freed handle 0");
	tap_ok(!reg(ibv_alloc_pd(other), same, 0, 64, PEER) && errno == ENOENT, "nor registered");
	tap_ok(!alloc(ctx, 256 * KIB) && errno == ENOMEM, "its bytes stay while they are mapped");
	tap_eq_int(ibv_memcpy_from_dm(&word, same, 96, 4), 0, "and can be read");
	check_refusal(&diag, rdmaez_dm_emu_detach(&second, &diag), EBUSY, RDMAEZ_WHY_DM_EMU_USED,
		      "emu", "to detach meanwhile");
	tap_eq_str(diag.device, "fake0", "the record names the device");
	unimport(same);
	all = alloc(ctx, 256 * KIB);
	tap_ok(all && handle_of(all) != handle, "then they are free, and the handle is not reused");
	ibv_free_dm(all);
	check_success(&diag, rdmaez_dm_emu_detach(&second, &diag), "the second goes first");
	end("two contexts");
}

/* A peer that writes into the list what is not so. */
static void spoilt_list(void)
{
	static const struct {
		const char *name;
		uint64_t length;
		int error;
	} tries[] = {
		{"as it may be", 2 * PAGE, 0},
		{"all there is", 256 * KIB, 0},
		{"a piece that ends beyond the memory", 256 * KIB + 1, EBADF},
		{"one that ends far beyond", UINT64_MAX, EBADF},
		{"one that is not there", 0, ENOENT},
	};

	for (size_t i = 0; i < COUNT_OF(tries); i++) {
		struct rdmaez_impl_emu_file *file;
		struct rdmaez_impl_emu_piece *piece;
		struct ibv_dm *dm, *got;
		uint64_t word;

		begin(NULL);
		dm = alloc(ctx, 64);
		file = (struct rdmaez_impl_emu_file *)mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
							   MAP_SHARED, rdmaez_dm_emu_fd(&emu), 0);
		if (file == MAP_FAILED)
			tap_bail("mmap");
		piece = (struct rdmaez_impl_emu_piece *)(void *)(file + 1);
		tap_ok(piece->length == 64 && piece->handle == handle_of(dm), "the list has it");
		piece->length = tries[i].length;
		/* That counts no more. */
		file->start = file->size = (uint64_t)1 << 40;
		got = import(&emu, handle_of(dm));
		tap_eq_int(got ? 0 : errno, tries[i].error, "%s: %s", tries[i].name,
			   rdmaez_errno_str(tries[i].error));
		tap_eq_int(got ? ibv_memcpy_from_dm(&word, got, tries[i].length - 8, 8) : 0, 0,
			   "%s: what is taken can be read", tries[i].name);
		if (got)
			unimport(got);
		tap_ok(!alloc(ctx, 256 * KIB + 1) && errno == EINVAL,
		       "%s: there is no more than there was", tries[i].name);
		tap_eq_int(query_max(), 256 * KIB, "%s: and it is told so", tries[i].name);
		tap_eq_int(ibv_memcpy_to_dm(dm, 64, &word, 4), EFAULT,
			   "%s: who has it keeps its length", tries[i].name);
		if (ibv_free_dm(dm))
			tap_bail("ibv_free_dm");
		munmap(file, PAGE);
		end(tries[i].name);
	}
}

/* A lock on one byte of the file, as a peer may have it; -1: it cannot be had. */
static int lock_byte(int fd, uint64_t byte)
{
	struct flock lock = {
		.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)byte, .l_len = 1};
	const int holder = rdmaez_impl_emu_reopen(fd);

	return fcntl(holder, F_OFD_SETLK, &lock) ? -1 : holder;
}

/* What waits for the lock, while another process has it. */
static void wait_for_lock(struct rdmaez_dm *dm, struct rdmaez_dm_emu *second, const char *name)
{
	struct rdmaez_dm_region region;
	struct rdmaez_dm other;
	struct rdmaez_diag diag;
	const uint64_t begun = rdmaez_impl_now();

	check_refusal(&diag, rdmaez_dm_alloc(ctx, 64, NULL, &other, &diag), ETIMEDOUT,
		      RDMAEZ_WHY_TIMED_OUT, "ibv_alloc_dm", "%s: an allocation", name);
	check_refusal(
		&diag,
		rdmaez_dm_reg(dm, ibv_alloc_pd(ctx), NULL, IBV_ACCESS_REMOTE_READ, &region, &diag),
		ETIMEDOUT, RDMAEZ_WHY_TIMED_OUT, "ibv_reg_dm_mr", "%s: a region", name);
	check_refusal(&diag, rdmaez_dm_close(dm, &diag), ETIMEDOUT, RDMAEZ_WHY_TIMED_OUT,
		      "ibv_free_dm", "%s: closing it", name);
	tap_ok(dm->dm, "%s: it stays open", name);
	tap_ok(!import(second, handle_of(dm->dm)) && errno == ETIMEDOUT, "%s: importing it", name);
	tap_ok(rdmaez_impl_now() - begun >= 4 * TIMEOUT, "%s: each waits as long as it may", name);
}

static void check_lock(struct rdmaez_dm *dm, const char *name)
{
	const struct rdmaez_dm_emu_opts opts = sharing(rdmaez_dm_emu_fd(&emu));
	struct rdmaez_dm_share_opts to = {.ops = rdmaez_dm_emu_ops(), .arg = &emu}, from = to;
	struct ibv_context *context = fake_open(dev);
	struct rdmaez_dm_emu second = {0}, third = {0};
	struct rdmaez_dm_shared got;
	struct rdmaez_diag diag;
	int ends[2];

	tap_eq_int(rdmaez_dm_emu_attach(context, &opts, &second, NULL), 0,
		   "%s: attaching does not wait", name);
	slept = slept_otherwise = 0;
	wait_for_lock(dm, &second, name);
	/* Counted rather than timed: a machine that is busy sleeps longer. */
	tap_ok(slept >= 4 && slept <= 4 * (TIMEOUT / MS + 1) && !slept_otherwise,
	       "%s: it sleeps meanwhile, without the mutex, a millisecond each time: %d", name,
	       slept);
	tap_eq_int(rdmaez_dm_emu_detach(&second, NULL), 0, "%s: nor does detaching", name);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		tap_bail("socketpair");
	from.arg = &third;
	from.timeout_ns = TIMEOUT;
	tap_eq_int(rdmaez_dm_send(ends[0], dm, NULL, &to, NULL), 0, "%s: it is sent", name);
	slept = 0;
	check_refusal(&diag, rdmaez_dm_receive(ends[1], &from, &got, &diag), ETIMEDOUT,
		      RDMAEZ_WHY_PEER_SILENT, "timeout_ns", "%s: receiving it", name);
	tap_eq_str(diag.verb, "opts.ops.import", "%s: which says what waited", name);
	/* One more is the wait for the message. */
	tap_ok(slept <= TIMEOUT / MS + 2, "%s: it keeps its time: %d", name, slept);
	tap_eq_int(rdmaez_dm_emu_fd(&third), -1, "%s: and leaves nothing attached", name);
	from.timeout_ns = RDMAEZ_NS_NOW;
	tap_eq_int(rdmaez_dm_send(ends[0], dm, NULL, &to, NULL), 0, "%s: again", name);
	tap_eq_int(rdmaez_dm_receive(ends[1], &from, &got, NULL), ETIMEDOUT,
		   "%s: without waiting at all", name);
	close(ends[0]);
	close(ends[1]);
}

static void begin_waiting(struct rdmaez_dm *dm)
{
	const struct rdmaez_dm_emu_opts opts = {.timeout_ns = TIMEOUT};

	begin(&opts);
	if (rdmaez_dm_alloc(ctx, 64, NULL, dm, NULL))
		tap_bail("rdmaez_dm_alloc");
}

static void held_lock(void)
{
	struct rdmaez_dm dm, all;
	struct rdmaez_diag diag;
	int holder;

	begin_waiting(&dm);
	holder = lock_byte(rdmaez_dm_emu_fd(&emu), 0);
	check_lock(&dm, "a held lock");
	close(holder);
	check_success(&diag, rdmaez_dm_close(&dm, &diag), "then it is closed");
	check_success(&diag, rdmaez_dm_alloc(ctx, 256 * KIB, NULL, &all, &diag),
		      "what failed has taken nothing");
	check_success(&diag, rdmaez_dm_close(&all, &diag), "and all is free");
	end("a held lock");
}

/* Another process is stopped while it has the lock; it ends, and its lock with it. */
static void stopped_peer(void)
{
	struct rdmaez_diag diag;
	struct rdmaez_dm dm;
	int status = -1;
	pid_t pid;

	begin_waiting(&dm);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		lock_byte(rdmaez_dm_emu_fd(&emu), 0);
		raise(SIGSTOP);
		_exit(0);
	}
	if (waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status))
		tap_bail("it is not stopped");
	check_lock(&dm, "a stopped process");
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	check_success(&diag, rdmaez_dm_close(&dm, &diag), "when it has ended it is closed");
	end("a stopped process");
}

/* A signal now and then neither ends the waiting early nor begins it anew. */
static void on_signal(int signal)
{
	(void)signal;
}

/* The bytes of the file that are locked, which other processes lock as well: none means two things. */
static void bytes_of_locks(void)
{
	for (uint64_t page = 0; page < 64; page++) {
		tap_eq_int(rdmaez_impl_emu_mapped(page), 1 + 2 * page, "who has page %d",
			   (int)page);
		tap_eq_int(rdmaez_impl_emu_registered(page), 2 + 2 * page, "and who registered it");
	}
}

/* A lock that cannot be had at all is not waited for. */
static void no_lock(void)
{
	const struct rdmaez_dm_emu_opts opts = {.timeout_ns = TIMEOUT};
	int fd, saved;

	begin(&opts);
	fd = rdmaez_dm_emu_fd(&emu);
	saved = dup(fd);
	close(fd);
	slept = 0;
	tap_ok(!alloc(ctx, 64) && errno == EBADF, "a descriptor that someone has closed");
	tap_eq_int(slept, 0, "is told at once");
	dup2(saved, fd);
	close(saved);
	end("no lock");
}

static void interrupted(void)
{
	const struct itimerval often = {{0, 5000}, {0, 5000}}, never = {{0, 0}, {0, 0}};
	struct sigaction action = {.sa_handler = on_signal};
	struct rdmaez_dm dm;
	uint64_t begun;
	int holder, error;

	begin_waiting(&dm);
	holder = lock_byte(rdmaez_dm_emu_fd(&emu), 0);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	begun = rdmaez_impl_now();
	error = ibv_free_dm(dm.dm);
	begun = rdmaez_impl_now() - begun;
	setitimer(ITIMER_REAL, &never, NULL);
	tap_eq_int(error, ETIMEDOUT, "with signals it waits");
	tap_ok(begun >= TIMEOUT && begun < 10000 * (uint64_t)MS, "about as long as without: %d ms",
	       (int)(begun / MS));
	close(holder);
	ibv_free_dm(dm.dm);
	end("interrupted");
}

static void *free_it(void *dm)
{
	return (void *)(intptr_t)ibv_free_dm((struct ibv_dm *)dm);
}

/* The threads of a process wait for another process, each for its own time. */
static void many_wait(void)
{
	enum {
		THREADS = 8
	};
	const struct rdmaez_dm_emu_opts opts = {.timeout_ns = TIMEOUT};
	struct ibv_dm *dm[THREADS];
	pthread_t thread[THREADS];
	void *error;
	int holder;

	begin(&opts);
	for (int i = 0; i < THREADS; i++)
		dm[i] = alloc(ctx, 64);
	holder = lock_byte(rdmaez_dm_emu_fd(&emu), 0);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, free_it, dm[i]))
			tap_bail("pthread_create");
	for (int i = 0; i < THREADS; i++) {
		pthread_join(thread[i], &error);
		tap_eq_int((intptr_t)error, ETIMEDOUT, "thread %d waits", i);
	}
	close(holder);
	for (int i = 0; i < THREADS; i++)
		ibv_free_dm(dm[i]);
	end("many wait");
}

/* A peer that locks what is never locked so makes calls fail, and leaves nothing behind. */
static void spoilt_locks(void)
{
	struct ibv_dm *dm, *all;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	int holder, count;

	begin(NULL);
	pd = ibv_alloc_pd(ctx);
	holder = lock_byte(rdmaez_dm_emu_fd(&emu), rdmaez_impl_emu_mapped(0));
	tap_ok(!alloc(ctx, 64) && errno == EAGAIN, "memory that a peer has locked");
	tap_eq_int(rdmaez_impl_emu_piece_at(&emu.state, 0)->length, 0, "is not allocated");
	close(holder);
	dm = alloc(ctx, 64);
	tap_ok(dm, "without the lock it is");
	holder = lock_byte(rdmaez_dm_emu_fd(&emu), rdmaez_impl_emu_registered(0));
	count = fake_open_count();
	mr = reg(pd, dm, 0, 64, PEER);
	tap_ok(!mr && errno == EAGAIN, "nor registered where a peer has locked that");
	tap_eq_int(fake_open_count(), count, "and no region is left");
	close(holder);
	fake_fail(FAKE_REG_MR, 1, ENOMEM);
	tap_ok(!reg(pd, dm, 0, 64, PEER) && errno == ENOMEM, "a region that fails");
	holder = lock_byte(rdmaez_dm_emu_fd(&emu), rdmaez_impl_emu_registered(0));
	tap_ok(holder >= 0, "leaves no lock");
	close(holder);
	mr = reg(pd, dm, 0, 64, PEER);
	fake_fail(FAKE_REG_MR, 1, ENOMEM);
	tap_ok(mr && !reg(pd, dm, 0, 64, PEER) && errno == ENOMEM, "one that fails beside another");
	tap_eq_int(lock_byte(rdmaez_dm_emu_fd(&emu), rdmaez_impl_emu_registered(0)), -1,
		   "leaves the lock of the other");
	dereg(mr);
	tap_eq_int(ibv_free_dm(dm), 0, "it is freed");
	all = alloc(ctx, 256 * KIB);
	tap_ok(all && ibv_free_dm(all) == 0, "and all is free");
	end("spoilt locks");
}

/* Other processes see by its lock whether a piece has regions: as long as one is left. */
static void region_locks(void)
{
	struct ibv_mr *mr[2];
	struct ibv_dm *dm, *other;
	struct ibv_pd *pd;
	int holder;

	begin(NULL);
	pd = ibv_alloc_pd(ctx);
	dm = alloc(ctx, 64);
	for (int i = 0; i < 2; i++)
		mr[i] = reg(pd, dm, 0, 64, PEER);
	tap_eq_int(lock_byte(rdmaez_dm_emu_fd(&emu), rdmaez_impl_emu_registered(0)), -1,
		   "with two regions it is locked");
	/* Whoever allocates looks what is left. */
	for (int i = 0; i < 2; i++) {
		dereg(mr[i]);
		other = alloc(ctx, 64);
		holder = lock_byte(rdmaez_dm_emu_fd(&emu), rdmaez_impl_emu_registered(0));
		tap_ok(i ? holder >= 0 : holder < 0, "with %d it is %s", 1 - i, i ? "not" : "too");
		if (holder >= 0)
			close(holder);
		ibv_free_dm(other);
	}
	/* So does whoever registers. */
	other = alloc(ctx, 64);
	mr[0] = reg(pd, dm, 0, 64, PEER);
	dereg(mr[0]);
	mr[0] = reg(pd, other, 0, 64, PEER);
	holder = lock_byte(rdmaez_dm_emu_fd(&emu), rdmaez_impl_emu_registered(0));
	tap_ok(holder >= 0, "nor where only another piece has one");
	close(holder);
	dereg(mr[0]);
	ibv_free_dm(other);
	tap_eq_int(ibv_free_dm(dm), 0, "it is freed");
	end("region locks");
}

/* Regions that outlive the object do not keep the emulation, and keep the memory as long as it is there. */
static void forgotten_regions(void)
{
	struct rdmaez_dm_emu second = {0};
	struct rdmaez_dm_emu_opts opts;
	struct ibv_context *other;
	struct ibv_dm *dm, *same;
	struct ibv_mr *mr[3];
	struct ibv_pd *pd;

	begin(NULL);
	other = fake_open(dev);
	opts = sharing(rdmaez_dm_emu_fd(&emu));
	if (rdmaez_dm_emu_attach(other, &opts, &second, NULL))
		tap_bail("cannot attach");
	pd = ibv_alloc_pd(other);
	dm = alloc(ctx, 64);
	same = import(&second, handle_of(dm));
	dereg(reg(pd, same, 0, 64, PEER));
	tap_eq_int(ibv_free_dm(dm), EBUSY, "a region that the other has deregistered counts");
	unimport(same);
	tap_eq_int(ibv_free_dm(dm), 0, "until the other's next call");
	dm = alloc(ctx, 64);
	same = import(&second, handle_of(dm));
	for (int i = 0; i < 3; i++)
		mr[i] = reg(pd, same, 0, 64, PEER);
	unimport(same);
	tap_eq_int(ibv_free_dm(dm), EBUSY, "regions of one who has left keep the memory");
	tap_eq_int(rdmaez_dm_emu_detach(&second, NULL), 0, "though not the emulation");
	tap_eq_int(ibv_free_dm(dm), 0, "with which they go");
	for (int i = 0; i < 3; i++)
		dereg(mr[i]);
	end("forgotten regions");
}

/* A piece behind the first one ends with the memory, too, whatever a peer writes. */
static void spoilt_second(void)
{
	struct ibv_dm *dm[2], *got;

	begin(NULL);
	for (int i = 0; i < 2; i++)
		dm[i] = alloc(ctx, 64);
	rdmaez_impl_emu_piece_at(&emu.state, 1)->length = 255 * KIB;
	tap_ok(!import(&emu, handle_of(dm[1])) && errno == EBADF, "a piece that ends too late");
	rdmaez_impl_emu_piece_at(&emu.state, 1)->length = 252 * KIB;
	got = import(&emu, handle_of(dm[1]));
	tap_ok(got, "and one that ends with the memory");
	unimport(got);
	for (int i = 0; i < 2; i++)
		ibv_free_dm(dm[i]);
	end("a spoilt second piece");
}

/* Memory that the device itself has given, before the emulation came, stays the device's. */
static void own_memory(void)
{
	struct rdmaez_dm_emu_opts opts = {.flags = RDMAEZ_DM_EMU_FORCE};
	struct ibv_dm *real, *dm;
	struct ibv_mr *mr,
		*(*registers)(struct ibv_pd *, struct ibv_dm *, uint64_t, size_t, unsigned int);
	struct ibv_pd *pd;

	memset(&kernel, 0, sizeof(kernel));
	dev = fake_reset();
	dev->attr.max_dm_size = 64 * KIB;
	ctx = fake_open(dev);
	pd = ibv_alloc_pd(ctx);
	real = alloc(ctx, 4096);
	if (!real || rdmaez_dm_emu_attach(ctx, &opts, &emu, NULL))
		tap_bail("cannot attach");
	dm = alloc(ctx, 4096);
	mr = ibv_reg_dm_mr(pd, real, 64, 64, PEER);
	tap_ok(mr && fake_count(FAKE_REG_DM_MR) == 1, "the device registers its own");
	registers = emu.state.reg_dm_mr;
	emu.state.reg_dm_mr = NULL;
	errno = 0;
	tap_ok(!ibv_reg_dm_mr(pd, real, 64, 64, PEER) && errno == EOPNOTSUPP,
	       "unless it has no such verb");
	emu.state.reg_dm_mr = registers;
	tap_eq_int(ibv_free_dm(real), EBUSY, "and tells what it thinks of it");
	tap_eq_int(ibv_dereg_mr(mr), 0, "deregistered");
	tap_eq_int(ibv_free_dm(real), 0, "and frees its own");
	tap_eq_int(fake_count(FAKE_FREE_DM), 2, "twice asked");
	tap_eq_int(ibv_free_dm(dm), 0, "the emulation frees what is its");
	tap_eq_int(fake_count(FAKE_FREE_DM), 2, "without the device");
	end("own memory");
}

/* --- The same answers as mlx5's ----------------------------------------------------------------- */

static struct {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_dm *dm;
	struct ibv_mr *mr;
} side[2]; /* the emulation, and the device, which the fake plays by its own reading of mlx5 */

static struct {
	uint32_t seed;
	unsigned int accepted, refused, different;
} asked;

static uint32_t any(uint32_t below)
{
	asked.seed = asked.seed * 1664525u + 1013904223u;
	return (uint32_t)((uint64_t)asked.seed * below >> 32);
}

/* Whether both accept a request. */
static bool agree(const char *what, int emulated, int device)
{
	*(emulated ? &asked.refused : &asked.accepted) += 1;
	if (emulated != device && !asked.different++)
		tap_diag("%s: %s, and the device %s", what, rdmaez_errno_str(emulated),
			 rdmaez_errno_str(device));
	return !emulated && !device;
}

static bool allocate_both(size_t length)
{
	struct ibv_alloc_dm_attr attr = {length, any(14), any(16) == 0};
	int error[2];

	for (int i = 0; i < 2; i++) {
		errno = 0;
		side[i].dm = ibv_alloc_dm(side[i].context, &attr);
		error[i] = side[i].dm ? 0 : errno;
	}
	return agree("ibv_alloc_dm", error[0], error[1]);
}

/* No sum of offset and length wraps around: there they differ, as dm_emu.h says. */
static void copy_both(size_t length)
{
	static uint32_t words[32 * KIB];
	const uint64_t offset = any(8) ? any((uint32_t)length + 8) : UINT64_MAX - 64 * KIB - any(8);
	const size_t some = any((uint32_t)length + 8);
	const size_t bytes = any(4) ? some : some / 4 * 4;

	agree("ibv_memcpy_to_dm", ibv_memcpy_to_dm(side[0].dm, offset & ~3ull, words, bytes),
	      ibv_memcpy_to_dm(side[1].dm, offset & ~3ull, words, bytes));
	agree("ibv_memcpy_from_dm", ibv_memcpy_from_dm(words, side[0].dm, offset, bytes),
	      ibv_memcpy_from_dm(words, side[1].dm, offset, bytes));
}

/* Each region begins on a page and is not empty: that is dm_emu.h's own, too. */
static bool register_both(size_t length)
{
	const uint64_t offset = (uint64_t)PAGE * any((uint32_t)length / PAGE + 2);
	const size_t bytes = 1 + any((uint32_t)length + 8);
	const unsigned int wild = any(4) ? 0 : 1u << any(32);
	const unsigned int access = (any(4) ? PEER : any(32) | IBV_ACCESS_ZERO_BASED) ^ wild;
	int error[2];

	side[0].mr = reg(side[0].pd, side[0].dm, offset, bytes, access);
	error[0] = side[0].mr ? 0 : errno;
	side[1].mr = ibv_reg_dm_mr(side[1].pd, side[1].dm, offset, bytes, access);
	error[1] = side[1].mr ? 0 : errno;
	return agree("ibv_reg_dm_mr", error[0], error[1]);
}

/* While there is a region they refuse to free, and afterwards they do not. */
static void free_both(bool registered_both)
{
	if (registered_both) {
		agree("ibv_free_dm", ibv_free_dm(side[0].dm), ibv_free_dm(side[1].dm));
		dereg(side[0].mr);
		kernel.count = 0;
		if (ibv_dereg_mr(side[1].mr))
			tap_bail("ibv_dereg_mr");
	}
	agree("ibv_free_dm", ibv_free_dm(side[0].dm), ibv_free_dm(side[1].dm));
}

static void same_answers(void)
{
	struct rdmaez_dm_emu_opts opts = sized(64 * KIB);
	size_t length;

	opts.flags = RDMAEZ_DM_EMU_FORCE;
	memset(&kernel, 0, sizeof(kernel));
	dev = fake_reset();
	dev->attr.max_dm_size = 64 * KIB;
	ctx = fake_open(dev);
	if (rdmaez_dm_emu_attach(ctx, &opts, &emu, NULL))
		tap_bail("cannot attach");
	for (int i = 0; i < 2; i++) {
		side[i].context = i ? fake_open(dev) : ctx;
		side[i].pd = ibv_alloc_pd(side[i].context);
	}
	for (int i = 0; i < 2000 && !asked.different; i++) {
		length = any(3) ? any(3 * PAGE) : 64 * KIB - 2 + any(4);
		if (!allocate_both(length))
			continue;
		copy_both(length);
		free_both(register_both(length));
	}
	tap_eq_int(asked.different, 0, "the emulation and the device answer the same");
	tap_ok(asked.accepted > 2000 && asked.refused > 2000,
	       "to requests of which %u are right and %u wrong", asked.accepted, asked.refused);
	if (asked.different)
		tap_bail("what one of them has made is left");
	end("the same answers");
}

/* Of another version nothing is looked at, and nothing is undone. */
static void other_version(void)
{
	struct rdmaez_dm_emu_opts opts;
	struct ibv_context *other;
	struct rdmaez_diag diag;

	begin(NULL);
	opts = sharing(rdmaez_dm_emu_fd(&emu));
	other = fake_open(dev);
	emu.state.version++;
	check_refusal(&diag, rdmaez_dm_emu_detach(&emu, &diag), EINVAL, RDMAEZ_WHY_DM_CLOSED, "emu",
		      "another version's state");
	check_refusal(&diag, rdmaez_dm_emu_fail(&emu, RDMAEZ_DM_EMU_FREE, 1, EIO, &diag), EINVAL,
		      RDMAEZ_WHY_DM_CLOSED, "emu", "to order a failure of it");
	tap_eq_int(rdmaez_dm_emu_fd(&emu), -1, "it has no descriptor");
	tap_eq_int(rdmaez_dm_emu_ops()->fd(ctx, &emu), -1, "nor one to send");
	check_refusal(&diag, rdmaez_dm_emu_attach(other, &opts, &emu, &diag), EBUSY,
		      RDMAEZ_WHY_DM_EMU_ATTACHED, "emu", "to attach it elsewhere");
	emu.state.version--;
	end("another version");
}

/* Lets the other process go on, or waits until it does. */
static void signal_other(int fd)
{
	if (write(fd, "x", 1) != 1)
		_exit(1);
}

static void wait_for_other(int fd)
{
	char byte;

	if (read(fd, &byte, 1) != 1)
		_exit(2);
}

/* The other process: it imports, registers, allocates, and ends without a word. */
static void child(int fd, int socket, uint32_t handle)
{
	struct rdmaez_dm_emu_opts opts = sharing(fd);
	struct ibv_context *context = fake_open(dev);
	static struct rdmaez_dm_emu own;
	struct ibv_dm *dm;
	uint32_t word = 0;

	if (rdmaez_dm_emu_attach(context, &opts, &own, NULL))
		_exit(3);
	dm = import(&own, handle);
	if (!dm || ibv_memcpy_from_dm(&word, dm, 8, 4) || word != 1)
		_exit(4);
	word = 2;
	ibv_memcpy_to_dm(dm, 8, &word, 4);
	if (!reg(ibv_alloc_pd(context), dm, 0, 64, PEER) || !alloc(context, 8 * PAGE))
		_exit(5);
	signal_other(socket);
	wait_for_other(socket);
	_exit(0);
}

static void two_processes(void)
{
	uint32_t word = 1;
	struct ibv_dm *dm;
	int ends[2], status = -1;
	pid_t pid;

	begin(NULL);
	dm = alloc(ctx, 64);
	ibv_memcpy_to_dm(dm, 8, &word, 4);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		tap_bail("socketpair");
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		child(rdmaez_dm_emu_fd(&emu), ends[1], handle_of(dm));
	close(ends[1]);
	wait_for_other(ends[0]);
	ibv_memcpy_from_dm(&word, dm, 8, 4);
	tap_eq_int(word, 2, "one process reads what the other has written");
	tap_eq_int(ibv_free_dm(dm), EBUSY, "its region keeps the memory");
	tap_ok(!alloc(ctx, 56 * PAGE) && errno == ENOMEM, "and its own memory is taken");
	signal_other(ends[0]);
	tap_ok(waitpid(pid, &status, 0) == pid && status == 0, "it ends without cleaning up");
	tap_eq_int(ibv_free_dm(dm), 0, "nothing of it keeps the memory any more");
	dm = alloc(ctx, 256 * KIB);
	tap_ok(dm, "and what it had is free");
	ibv_free_dm(dm);
	end("two processes");
}

/* What dm_share.h calls for memory that is emulated. */
static void opened(void)
{
	const struct rdmaez_dm_share_ops *ops = rdmaez_dm_emu_ops();
	struct rdmaez_dm_token token;
	struct ibv_context *context;
	struct rdmaez_dm_emu second = {0};
	struct ibv_dm *dm, *same;
	int fd;

	begin(NULL);
	fd = ops->fd(ctx, &emu);
	tap_eq_int(fd, rdmaez_dm_emu_fd(&emu), "the emulation's descriptor is to be sent");
	tap_eq_int(ops->fd(fake_open(dev), &emu), -1, "and of another context none");
	tap_eq_int(ops->fd(ctx, &second), -1, "nor where nothing is attached");
	memset(&token, 0, sizeof(token));
	strcpy(token.device, "fake0");
	context = ops->open(fd, &token, &second);
	tap_ok(context && rdmaez_dm_emu_is_attached(context), "the device of that name is opened");
	tap_ok(second.state.timeout_ns == 0, "with the default of what may wait");
	dm = alloc(ctx, 64);
	same = ops->import(context, handle_of(dm), TIMEOUT, &second);
	tap_ok(same, "and has the same memory");
	tap_ok(!ops->import(ctx, handle_of(dm), TIMEOUT, &second) && errno == EINVAL,
	       "another context has not");
	tap_eq_int(ops->close(context, &second), EBUSY, "it stays open while that is used");
	ops->unimport(same);
	tap_eq_int(ops->close(context, &second), 0, "then it is closed");
	tap_eq_int(ops->close(context, &second), EINVAL, "once");
	tap_ok(!ops->open(0, &token, &second) && errno == EBADF, "not any descriptor will do");
	tap_eq_int(fake_open_count(), 2, "which leaves no device open");
	fake_fail(FAKE_OPEN_DEVICE, 1, EACCES);
	tap_ok(!ops->open(fd, &token, &second) && errno == EACCES, "nor any device");
	fake_fail(FAKE_OPEN_DEVICE, 1, -1);
	errno = EBUSY;
	tap_ok(!ops->open(fd, &token, &second) && errno == EIO, "whose provider does not say why");
	fake_fail(FAKE_GET_DEVICE_LIST, 1, ENOSYS);
	tap_ok(!ops->open(fd, &token, &second) && errno == ENOSYS, "nor no device at all");
	dev->attr.max_dm_size = 64 * KIB;
	context = ops->open(fd, &token, &second);
	tap_ok(context && rdmaez_dm_emu_is_attached(context),
	       "what is emulated by force is opened on a device with memory of its own");
	tap_eq_int(ops->close(context, &second), 0, "and closed");
	ibv_free_dm(dm);
	end("opened");
}

/* It is the device with the name, whichever comes first. */
static void opened_by_name(void)
{
	static const char *const names[] = {"fake0", "fake1", "fake2"};
	const struct rdmaez_dm_share_ops *ops = rdmaez_dm_emu_ops();
	struct rdmaez_dm_token token;
	struct rdmaez_dm_emu second = {0};

	begin(NULL);
	for (int i = 1; i < 3; i++)
		fake_device_add(names[i]);
	memset(&token, 0, sizeof(token));
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		struct ibv_context *context;

		strcpy(token.device, names[i]);
		context = ops->open(rdmaez_dm_emu_fd(&emu), &token, &second);
		tap_eq_str(context ? ibv_get_device_name(context->device) : "none", names[i],
			   "%s is opened by its name", names[i]);
		if (!context || ops->close(context, &second))
			tap_bail("close");
	}
	strcpy(token.device, "fake");
	tap_ok(!ops->open(rdmaez_dm_emu_fd(&emu), &token, &second) && errno == ENODEV,
	       "a part of the name is none");
	end("opened by name");
}

/* Where number 0 is free, the files get it, and are used and closed like any other. */
static void number_0(void)
{
	struct rdmaez_dm_emu_opts opts = sharing(RDMAEZ_ZERO);
	struct rdmaez_dm_emu second = {0};
	struct ibv_context *other;
	struct ibv_dm *dm, *same;
	int saved, file;

	begin(NULL);
	other = fake_open(dev);
	tap_eq_int(rdmaez_dm_emu_detach(&emu, NULL), 0, "the devices are open");
	saved = dup(0);
	close(0);
	tap_eq_int(rdmaez_dm_emu_attach(ctx, NULL, &emu, NULL), 0, "new memory");
	tap_eq_int(rdmaez_dm_emu_fd(&emu), 0, "has number 0");
	tap_eq_int(rdmaez_dm_emu_ops()->fd(ctx, &emu), 0, "by which it is sent");
	dm = alloc(ctx, 64);
	tap_eq_int(handle_of(dm), (1u << 30) + 1, "the first handle is none of a kernel's");
	same = import(&emu, handle_of(dm));
	tap_ok(same, "and is imported");
	unimport(same);
	tap_eq_int(rdmaez_dm_emu_attach(other, &opts, &second, NULL), 0, "it is shared");
	tap_eq_int(rdmaez_dm_emu_detach(&second, NULL), 0, "and left");
	opts = sharing(dup(0));
	ibv_free_dm(dm);
	tap_eq_int(rdmaez_dm_emu_detach(&emu, NULL), 0, "and detached");
	tap_eq_int(fcntl(0, F_GETFD), -1, "which closes it");
	tap_eq_int(rdmaez_dm_emu_attach(other, &opts, &second, NULL), 0, "shared memory");
	tap_eq_int(rdmaez_dm_emu_fd(&second), 0, "may have it, too");
	tap_eq_int(rdmaez_dm_emu_detach(&second, NULL), 0, "and close it");
	close(opts.fd);
	file = fcntl(sealed(file_like(-1, MIB, 0)), F_DUPFD, 10);
	close(0);
	opts = sharing(file);
	tap_eq_int(rdmaez_dm_emu_attach(other, &opts, &second, NULL), EBADF, "what is refused");
	tap_eq_int(fcntl(0, F_GETFD), -1, "is closed as well");
	close(file);
	if (saved >= 0)
		dup2(saved, 0);
	close(saved);
	if (rdmaez_dm_emu_attach(ctx, NULL, &emu, NULL))
		tap_bail("attach");
	end("number 0");
}

/* The same by the functions that an application calls, in both directions. */
static void shared(void)
{
	struct rdmaez_dm_share_opts to = {.ops = rdmaez_dm_emu_ops(), .arg = &emu}, from = to;
	struct rdmaez_dm_emu second = {0};
	struct rdmaez_dm_shared got;
	struct rdmaez_diag diag;
	struct rdmaez_dm dm;
	uint32_t word = 5;
	int ends[2];

	begin(NULL);
	from.arg = &second;
	if (rdmaez_dm_alloc(ctx, 64, NULL, &dm, NULL) || socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		tap_bail("nothing to share");
	check_success(&diag, rdmaez_dm_send(ends[0], &dm, NULL, &to, &diag), "it is sent");
	check_success(&diag, rdmaez_dm_receive(ends[1], &from, &got, &diag), "and received");
	tap_eq_int(got.token.flags, RDMAEZ_DM_TOKEN_EMULATED, "as what it is");
	tap_eq_int(rdmaez_dm_copy_to(&dm, 60, &word, 4), 0, "the owner writes");
	word = 0;
	tap_eq_int(rdmaez_dm_copy_from(&got.dm, 60, &word, 4), 0, "the other reads");
	tap_eq_int(word, 5, "what was written");
	check_success(&diag, rdmaez_dm_send(ends[0], &got.dm, NULL, &from, &diag),
		      "it is handed on");
	check_success(&diag, rdmaez_dm_shared_close(&got, &diag), "and given up");
	tap_ok(!rdmaez_dm_emu_is_attached(ctx) == false && rdmaez_dm_emu_fd(&second) < 0,
	       "with the emulation there");
	check_success(&diag, rdmaez_dm_receive(ends[1], &from, &got, &diag), "received again");
	check_success(&diag, rdmaez_dm_close(&got.dm, &diag), "the memory alone is closed");
	check_success(&diag, rdmaez_dm_shared_close(&got, &diag), "then the rest");
	check_success(&diag, rdmaez_dm_close(&dm, &diag), "the owner frees");
	close(ends[0]);
	close(ends[1]);
	end("shared");
}

/* --- Faults ------------------------------------------------------------------------------------- */

static int query(void)
{
	struct ibv_device_attr_ex device;

	return ibv_query_device_ex(ctx, NULL, &device);
}

static void faults(void)
{
	static const struct {
		int error;
		uint64_t max;
	} wrong[] = {{-1, INT32_MAX},
		     {ENOENT, UINT64_MAX}}; /* the other would have it unimported */
	struct ibv_dm *dm, *same;
	struct rdmaez_diag diag;
	struct ibv_mr *mr;
	struct ibv_pd *pd;
	uint32_t word = 1;

	begin(NULL);
	pd = ibv_alloc_pd(ctx);
	rdmaez_dm_emu_fail(&emu, RDMAEZ_DM_EMU_ALLOC, 2, EAGAIN, NULL);
	dm = alloc(ctx, 64);
	tap_ok(dm, "the first allocation works");
	tap_ok(!alloc(ctx, 64) && errno == EAGAIN, "the second fails as it was told to");
	same = alloc(ctx, 64);
	tap_ok(same && ibv_free_dm(same) == 0, "the third works again");
	rdmaez_dm_emu_fail(&emu, RDMAEZ_DM_EMU_COPY_TO, 0, EIO, NULL);
	tap_ok(ibv_memcpy_to_dm(dm, 0, &word, 4) == EIO && ibv_memcpy_to_dm(dm, 0, &word, 4) == EIO,
	       "every copy fails");
	rdmaez_dm_emu_fail(&emu, RDMAEZ_DM_EMU_COPY_TO, 0, 0, NULL);
	word = 0;
	tap_ok(ibv_memcpy_from_dm(&word, dm, 0, 4) == 0 && word == 0, "and copied nothing");
	tap_eq_int(ibv_memcpy_to_dm(dm, 0, &word, 4), 0, "until that is taken back");
	rdmaez_dm_emu_fail(&emu, RDMAEZ_DM_EMU_COPY_FROM, 1, EIO, NULL);
	tap_eq_int(ibv_memcpy_from_dm(&word, dm, 0, 4), EIO, "a copy out fails");
	rdmaez_dm_emu_fail(&emu, RDMAEZ_DM_EMU_REG, 1, ENOSPC, NULL);
	tap_ok(!reg(pd, dm, 0, 64, PEER) && errno == ENOSPC, "a registration fails");
	mr = reg(pd, dm, 0, 64, PEER);
	tap_ok(mr, "and works then");
	dereg(mr);
	rdmaez_dm_emu_fail(&emu, RDMAEZ_DM_EMU_QUERY, 1, EPERM, NULL);
	tap_eq_int(query(), EPERM, "a query fails");
	tap_eq_int(query(), 0, "and works then");
	rdmaez_dm_emu_fail(&emu, RDMAEZ_DM_EMU_IMPORT, 1, EMFILE, NULL);
	tap_ok(!import(&emu, handle_of(dm)) && errno == EMFILE, "an import fails");
	rdmaez_dm_emu_fail(&emu, RDMAEZ_DM_EMU_FREE, 1, EIO, NULL);
	tap_eq_int(ibv_free_dm(dm), EIO, "to free it fails");
	tap_eq_int(ibv_free_dm(dm), 0, "and works then");
	CHECK_FINDINGS(&diag, rdmaez_dm_emu_fail(&emu, (enum rdmaez_dm_emu_call)7, 1, EIO, &diag),
		       EINVAL, "rdmaez_dm_emu_fail", "an eighth call",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_RANGE, "call", RDMAEZ_VALUE_NUMBER, 7, 0, 6});
	for (size_t i = 0; i < COUNT_OF(wrong); i++)
		CHECK_FINDINGS(
			&diag,
			rdmaez_dm_emu_fail(&emu, RDMAEZ_DM_EMU_FREE, 1, wrong[i].error, &diag),
			EINVAL, "rdmaez_dm_emu_fail", "no errno, or one that is not for this",
			{RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_RANGE, "error", RDMAEZ_VALUE_NUMBER,
			 (uint64_t)(int64_t)wrong[i].error, 0, wrong[i].max});
	check_refusal(&diag, rdmaez_dm_emu_fail(NULL, RDMAEZ_DM_EMU_FREE, 1, EIO, &diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "emu", "a NULL");
	check_success(&diag, rdmaez_dm_emu_fail(&emu, RDMAEZ_DM_EMU_FREE, 0, 0, &diag),
		      "nothing ordered");
	check_success(&diag, rdmaez_dm_emu_fail(&emu, RDMAEZ_DM_EMU_ALLOC, 1, ENOENT, &diag),
		      "what is not for this may be for another");
	tap_ok(!alloc(ctx, 64) && errno == ENOENT, "which fails so");
	end("faults");
	tap_eq_int(rdmaez_dm_emu_fail(&emu, RDMAEZ_DM_EMU_FREE, 1, EIO, NULL), EINVAL,
		   "nor detached");
}

enum {
	ROUNDS = 20000
};

static struct {
	struct ibv_dm *dm;
	pthread_barrier_t start;
} threads;

/* Copies in and out of the same words as the other; how many copies in have failed. */
static void *copy_often(void *failed)
{
	static const uint32_t all[2] = {0, UINT32_MAX};
	uint32_t word;

	pthread_barrier_wait(&threads.start);
	for (int i = 0; i < ROUNDS; i++) {
		*(int *)failed += ibv_memcpy_to_dm(threads.dm, 0, &all[i % 2], 4) != 0;
		if (ibv_memcpy_from_dm(&word, threads.dm, 0, 4) || (word && word != UINT32_MAX))
			*(int *)failed += ROUNDS;
	}
	return NULL;
}

/* For -fsanitize=thread as well, which this program is not built with. */
static void two_threads(void)
{
	int failed[2] = {0, 0};
	pthread_t second;

	begin(NULL);
	threads.dm = alloc(ctx, 64);
	rdmaez_dm_emu_fail(&emu, RDMAEZ_DM_EMU_COPY_TO, 2 * ROUNDS, EIO, NULL);
	pthread_barrier_init(&threads.start, NULL, 2);
	if (pthread_create(&second, NULL, copy_often, &failed[1]))
		tap_bail("pthread_create");
	copy_often(&failed[0]);
	pthread_join(second, NULL);
	pthread_barrier_destroy(&threads.start);
	tap_eq_int(failed[0] + failed[1], 1, "of the copies of two threads the last one fails");
	tap_eq_int(ibv_free_dm(threads.dm), 0, "it is freed");
	end("two threads");
}

int main(void)
{
	refusals();
	attached_twice();
	refused_is_detached();
	sizes();
	wrong_files();
	unopened();
	real_memory();
	queries();
	allocation();
	room();
	disorder();
	copies();
	registration();
	foreign_domain();
	busy();
	busy_pieces();
	two_contexts();
	spoilt_list();
	held_lock();
	stopped_peer();
	bytes_of_locks();
	no_lock();
	interrupted();
	many_wait();
	spoilt_locks();
	region_locks();
	spoilt_second();
	forgotten_regions();
	own_memory();
	same_answers();
	other_version();
	two_processes();
	number_0();
	opened();
	opened_by_name();
	shared();
	faults();
	two_threads();
	return tap_done();
}
