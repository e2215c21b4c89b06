/* SPDX-License-Identifier: MIT */
/*
 * Memory of real GPUs: it is registered in each way that there is, and 4 KiB are sent through the RDMA device into it,
 * to the device itself. CUDA and HIP are loaded, never linked to; where neither is, nothing is said.
 */
#include "gpu_data.h"
#include "pci.h"

#include <rdmaez.h>

#include <dlfcn.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum {
	BYTES = 4096,
	TAKEN = 1 << 21 /* of a GPU's memory, which is shared by pieces of this size */
};

/* A GPU as its library numbers them, with memory of its own. */
struct lent {
	char address[32]; /* of PCI, "0000:3b:00.0" */
	uint64_t memory;
	int fd; /* a dma-buf; negative: there is none */
	uint64_t offset;
	int refused; /* what the library said to a dma-buf; 0: it made one, or has none */
};

/* False: the library does not have this function. */
static bool find(void *library, const char *name, void *function)
{
	void *const found = library ? dlsym(library, name) : NULL;

	memcpy(function, &found, sizeof(found));
	return found != NULL;
}

static const char cuda_name[] = "CUDA", hip_name[] = "HIP";

/* What numbers of cuda.h and hip_runtime_api.h mean; nothing is said where that is not known. */
static void say_meaning(const char *library, int error)
{
	static const struct {
		const char *library; /* NULL: both */
		int error;
		const char *meaning;
	} rows[] = {
		{NULL, 2, "the GPU has no memory left: see which processes use it"},
		{cuda_name, 34, "the library is a stub: give the container the driver's own"},
		{cuda_name, 46, "another process has the GPU for itself, or it needs a reset"},
		{cuda_name, 801,
		 "the driver does not support it: dma-bufs need NVIDIA's open kernel module and "
		 "Linux 5.12"},
		{cuda_name, 802,
		 "the GPU's system is not ready: on NVSwitch machines nvidia-fabricmanager must "
		 "run"},
		{cuda_name, 803,
		 "the driver and its library are of different releases, or the container has an "
		 "older library than the host's driver"},
		{cuda_name, 804, "the compatibility library does not support this GPU"},
		{cuda_name, 999,
		 "the driver is not set up: see the kernel's log, and `nvidia-smi`"},
		{hip_name, 35, "the library needs a newer amdgpu driver: see ROCm's table of them"},
		{hip_name, 801, "the driver does not support it"},
		{hip_name, 999, "the driver is not set up: see the kernel's log, and `rocminfo`"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].error == error && (!rows[i].library || rows[i].library == library))
			doctor_next("%s", rows[i].meaning);
}

/* The library does not start, which is no news where there is no GPU. Returns that it has no GPUs. */
static int refused(const char *library, int error, int no_gpu)
{
	if (error == no_gpu)
		return 0;
	doctor_say(DOCTOR_NOTE, library,
		   "memory of GPUs was not tried: it does not start, and returns %d", error);
	say_meaning(library, error);
	return 0;
}

/* --- CUDA --------------------------------------------------------------------------------------------- */

static struct {
	int (*init)(unsigned int);
	int (*count)(int *);
	int (*get)(int *, int);
	int (*address)(char *, int, int);
	int (*retain)(void **, int);
	int (*use)(void *);
	int (*take)(unsigned long long *, size_t);
	int (*give)(unsigned long long);
	int (*read)(void *, unsigned long long, size_t);
	int (*export)(void *, unsigned long long, size_t, int, unsigned long long);
} cuda;

static int cuda_open(void)
{
	enum {
		NO_GPU = 100 /* CUDA_ERROR_NO_DEVICE */
	};
	void *const library = dlopen("libcuda.so.1", RTLD_NOW);
	int count = 0, error;

	if (!find(library, "cuInit", &cuda.init) ||
	    !find(library, "cuDeviceGetCount", &cuda.count) ||
	    !find(library, "cuDeviceGet", &cuda.get) ||
	    !find(library, "cuDeviceGetPCIBusId", &cuda.address) ||
	    !find(library, "cuDevicePrimaryCtxRetain", &cuda.retain) ||
	    !find(library, "cuCtxSetCurrent", &cuda.use) ||
	    !find(library, "cuMemAlloc_v2", &cuda.take) ||
	    !find(library, "cuMemFree_v2", &cuda.give) ||
	    !find(library, "cuMemcpyDtoH_v2", &cuda.read))
		return 0;
	find(library, "cuMemGetHandleForAddressRange", &cuda.export);
	error = cuda.init(0);
	if (!error)
		error = cuda.count(&count);
	return error ? refused(cuda_name, error, NO_GPU) : count;
}

static int cuda_lend(int gpu, struct lent *lent)
{
	enum {
		DMA_BUF = 1 /* CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD */
	};
	unsigned long long memory = 0;
	void *context = NULL;
	int device = 0, error;

	error = cuda.get(&device, gpu);
	if (!error)
		error = cuda.address(lent->address, sizeof(lent->address), device);
	if (!error)
		error = cuda.retain(&context, device);
	if (!error)
		error = cuda.use(context);
	if (!error)
		error = cuda.take(&memory, TAKEN);
	if (error)
		return error;
	lent->memory = memory;
	lent->fd = -1;
	if (cuda.export)
		lent->refused = cuda.export(&lent->fd, memory, TAKEN, DMA_BUF, 0);
	if (lent->refused)
		lent->fd = -1;
	return 0;
}

static int cuda_read(void *to, const struct lent *lent)
{
	return cuda.read(to, lent->memory, BYTES);
}

static void cuda_return(const struct lent *lent)
{
	cuda.give(lent->memory);
}

/* --- HIP ---------------------------------------------------------------------------------------------- */

static struct {
	int (*count)(int *);
	int (*use)(int);
	int (*address)(char *, int, int);
	int (*take)(void **, size_t);
	int (*give)(void *);
	int (*copy)(void *, const void *, size_t, int);
	int (*export)(const void *, size_t, int *, uint64_t *);
} hip;

static int hip_open(void)
{
	/* The last is of who compiles; the others are of ROCm 7, 6 and 5. */
	static const char *const names[] = {"libamdhip64.so.7", "libamdhip64.so.6",
					    "libamdhip64.so.5", "libamdhip64.so"};
	enum {
		NO_GPU = 100 /* hipErrorNoDevice */
	};
	void *library = NULL;
	int count = 0, error;

	for (unsigned int i = 0; !library && i < sizeof(names) / sizeof(names[0]); i++)
		library = dlopen(names[i], RTLD_NOW);

	if (!find(library, "hipGetDeviceCount", &hip.count) ||
	    !find(library, "hipSetDevice", &hip.use) ||
	    !find(library, "hipDeviceGetPCIBusId", &hip.address) ||
	    !find(library, "hipMalloc", &hip.take) || !find(library, "hipFree", &hip.give) ||
	    !find(library, "hipMemcpy", &hip.copy))
		return 0;
	find(dlopen("libhsa-runtime64.so.1", RTLD_NOW), "hsa_amd_portable_export_dmabuf",
	     &hip.export);
	error = hip.count(&count);
	return error ? refused(hip_name, error, NO_GPU) : count;
}

static int hip_lend(int gpu, struct lent *lent)
{
	void *memory = NULL;
	int error = hip.use(gpu);

	if (!error)
		error = hip.address(lent->address, sizeof(lent->address), gpu);
	if (!error)
		error = hip.take(&memory, TAKEN);
	if (error)
		return error;
	lent->memory = (uintptr_t)memory;
	lent->fd = -1;
	if (hip.export)
		lent->refused = hip.export(memory, TAKEN, &lent->fd, &lent->offset);
	if (lent->refused)
		lent->fd = -1;
	return 0;
}

static int hip_read(void *to, const struct lent *lent)
{
	enum {
		DEVICE_TO_HOST = 2
	};

	return hip.copy(to, (void *)(uintptr_t)lent->memory, BYTES, DEVICE_TO_HOST);
}

static void hip_return(const struct lent *lent)
{
	hip.give((void *)(uintptr_t)lent->memory);
}

/* --- Both --------------------------------------------------------------------------------------------- */

static const struct platform {
	const char *name, *export;
	int (*open)(void); /* returns how many GPUs it has */
	int (*lend)(int gpu, struct lent *lent);
	int (*read)(void *to, const struct lent *lent);
	void (*give_back)(const struct lent *lent);
} platforms[] = {
	{cuda_name, "cuMemGetHandleForAddressRange", cuda_open, cuda_lend, cuda_read, cuda_return},
	{hip_name, "hsa_amd_portable_export_dmabuf", hip_open, hip_lend, hip_read, hip_return},
};

/* What was tried: a device, a GPU and a way. */
struct trial {
	const struct platform *platform;
	const struct lent *lent;
	const char *device, *way;
	struct rdmaez_simple simple;
	uint8_t *sent;
};

static void say_refused(const struct trial *trial, const char *what, const struct rdmaez_diag *diag)
{
	const enum rdmaez_why why = diag->count ? diag->finding[0].reason : RDMAEZ_WHY_NONE;

	doctor_say(DOCTOR_NOTE, trial->device, "%s memory of GPU %s by %s failed with %s", what,
		   trial->lent->address, trial->way, rdmaez_errno_str(diag->error));
	if (why == RDMAEZ_WHY_NONE)
		return;
	doctor_evidence("%s", rdmaez_why_str(why));
	doctor_next("%s", rdmaez_why_fix(why));
}

/* Writes from the host's memory to the GPU's by way of the device. */
static int send_into(struct trial *trial, const struct ibv_mr *mr, uint64_t address,
		     struct rdmaez_diag *diag)
{
	struct ibv_wc wc;
	struct rdmaez_wc_batch batch;
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	int error;

	memset(&wr, 0, sizeof(wr));
	memset(&batch, 0, sizeof(batch));
	batch.wc = &wc;
	batch.capacity = 1;
	sge.addr = (uintptr_t)trial->sent;
	sge.length = BYTES;
	sge.lkey = trial->simple.mr->lkey;
	wr.sg_list = &sge;
	wr.num_sge = 1;
	wr.opcode = IBV_WR_RDMA_WRITE;
	wr.send_flags = IBV_SEND_SIGNALED;
	wr.wr.rdma.remote_addr = address;
	wr.wr.rdma.rkey = mr->rkey;
	error = rdmaez_wr_post_send(trial->simple.qp, &wr, NULL, diag);
	if (error)
		return error;
	return rdmaez_wc_wait(trial->simple.qp->send_cq, trial->simple.qp, &batch,
			      UINT64_C(2000000000), diag);
}

static bool judge_bytes(const struct trial *trial)
{
	static uint8_t came[BYTES];
	const int error = trial->platform->read(came, trial->lent);

	if (error) {
		doctor_say(DOCTOR_NOTE, trial->device,
			   "what reached the memory of GPU %s could not be read: %s returns %d",
			   trial->lent->address, trial->platform->name, error);
	} else if (memcmp(came, trial->sent, BYTES) != 0) {
		doctor_say(DOCTOR_FAILED, trial->device,
			   "4 KiB sent to the memory of GPU %s by %s did not arrive there, "
			   "although the request succeeded",
			   trial->lent->address, trial->way);
		doctor_next("check ACS and the IOMMU (rdmaez-doctor --only slot, as root), and the "
			    "versions of both drivers");
	} else {
		doctor_say(DOCTOR_OK, trial->device,
			   "4 KiB reached the memory of GPU %s by %s unchanged",
			   trial->lent->address, trial->way);
		return true;
	}
	return false;
}

/* The device sends to itself: to a queue pair that is its own peer. */
static bool try_way(struct trial *trial, bool by_dmabuf)
{
	const unsigned int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	const struct lent *const lent = trial->lent;
	struct rdmaez_mr_dmabuf dmabuf;
	struct rdmaez_diag diag;
	bool is_whole = false;
	struct ibv_mr *mr;
	int error;

	trial->way = by_dmabuf ? "a dma-buf" : "its address";
	doctor_step("registering memory of GPU %s with %s", lent->address, trial->device);
	memset(&dmabuf, 0, sizeof(dmabuf));
	dmabuf.offset = lent->offset;
	dmabuf.length = BYTES;
	dmabuf.iova = lent->memory;
	dmabuf.fd = lent->fd;
	error = by_dmabuf ? rdmaez_mr_reg_dmabuf(trial->simple.pd, &dmabuf, access, &mr, &diag)
			  : rdmaez_mr_reg(trial->simple.pd, (void *)(uintptr_t)lent->memory, BYTES,
					  access, &mr, &diag);
	if (error) {
		say_refused(trial, "registering", &diag);
		return false;
	}
	for (unsigned int i = 0; i < BYTES; i++)
		trial->sent[i] = (uint8_t)(i * 7 + (by_dmabuf ? 1 : 2));
	doctor_step("sending to memory of GPU %s by %s", lent->address, trial->device);
	error = send_into(trial, mr, lent->memory, &diag);
	if (error)
		say_refused(trial, "sending into", &diag);
	else
		is_whole = judge_bytes(trial);
	rdmaez_mr_dereg(mr, &diag);
	return is_whole;
}

static bool try_device(const struct platform *platform, const struct lent *lent, const char *device,
		       bool by_dmabuf)
{
	static uint8_t sent[BYTES] __attribute__((aligned(BYTES)));
	struct trial trial = {.platform = platform, .lent = lent, .device = device, .sent = sent};
	struct rdmaez_simple_opts opts;
	struct rdmaez_qp_opts qp;
	struct rdmaez_diag diag;
	bool is_whole = false;

	memset(&opts, 0, sizeof(opts));
	memset(&qp, 0, sizeof(qp));
	opts.buffer = sent;
	opts.length = sizeof(sent);
	qp.access = IBV_ACCESS_REMOTE_WRITE;
	if (rdmaez_simple_open(device, &opts, &trial.simple, &diag)) {
		doctor_say(DOCTOR_NOTE, device, "GPU %s was not tried: %s failed with %s",
			   lent->address, diag.verb ? diag.verb : diag.call,
			   rdmaez_errno_str(diag.error));
		return false;
	}
	if (rdmaez_qp_connect_loopback(trial.simple.qp, trial.simple.qp, &qp, &diag))
		doctor_say(DOCTOR_NOTE, device,
			   "GPU %s was not tried: the device cannot send to itself, %s",
			   lent->address, rdmaez_errno_str(diag.error));
	else
		is_whole = try_way(&trial, by_dmabuf);
	rdmaez_simple_close(&trial.simple, &diag);
	return is_whole;
}

static void try_gpu(const struct platform *platform, const struct lent *lent, const char *device)
{
	bool works = try_device(platform, lent, device, false);

	if (lent->fd >= 0) {
		works = try_device(platform, lent, device, true) || works;
	} else if (lent->refused) {
		doctor_say(DOCTOR_NOTE, device, "%s makes no dma-buf of the memory of GPU %s",
			   platform->name, lent->address);
		doctor_evidence("%s: %d", platform->export, lent->refused);
		say_meaning(platform->name, lent->refused);
	}
	if (!works)
		doctor_say(DOCTOR_WARNING, device, "no way to the memory of GPU %s has worked",
			   lent->address);
}

void doctor_try_gpus(void)
{
	for (size_t i = 0; i < sizeof(platforms) / sizeof(platforms[0]); i++) {
		const struct platform *const platform = &platforms[i];
		int count, error;

		doctor_step("loading %s", platform->name);
		count = platform->open();
		for (unsigned int d = 0; count > 0 && d < doctor_device_count(); d++) {
			const int gpu = (int)(d % (unsigned int)count);
			struct lent lent = {.fd = -1};

			doctor_step("allocating memory of GPU %d by %s", gpu, platform->name);
			error = platform->lend(gpu, &lent);
			if (error) {
				doctor_say(DOCTOR_NOTE, doctor_device(d),
					   "no memory of GPU %d could be allocated to try it: %s "
					   "returns %d",
					   gpu, platform->name, error);
				say_meaning(platform->name, error);
				continue;
			}
			try_gpu(platform, &lent, doctor_device(d));
			if (lent.fd >= 0)
				close(lent.fd);
			platform->give_back(&lent);
		}
	}
}
