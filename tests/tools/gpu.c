/* SPDX-License-Identifier: MIT */
/*
 * A library in the place of CUDA's, or of HIP's: a GPU whose memory is the host's. FAKE_GPU names what is wrong: "lost",
 * what comes in is not what is read; "hole", the memory is at no address of the process; "taken", there is none;
 * "dmabuf", a descriptor is made, which is no dma-buf; "skewed", the library is not the driver's; "none", there is no GPU.
 * FAKE_GPU=cuMemAlloc_v2:700 lets this function fail with this number.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static int is_case(const char *name)
{
	const char *const value = getenv("FAKE_GPU");

	return value && !strcmp(value, name);
}

static int fails(const char *function)
{
	const char *const value = getenv("FAKE_GPU");
	const size_t length = strlen(function);

	return value && !strncmp(value, function, length) && value[length] == ':'
		       ? atoi(value + length + 1)
		       : 0;
}

#define MAY_FAIL             \
	if (fails(__func__)) \
		return fails(__func__);

static int take(uint64_t *memory, size_t size)
{
	void *const at =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (is_case("taken") || at == MAP_FAILED)
		return 2;
	if (is_case("hole"))
		munmap(at, size);
	*memory = (uintptr_t)at;
	return 0;
}

static int read_back(void *to, uint64_t memory, size_t size)
{
	memcpy(to, (const void *)(uintptr_t)memory, size);
	if (is_case("lost"))
		((uint8_t *)to)[size - 1] ^= 1;
	return 0;
}

static int export(int *fd)
{
	if (!is_case("dmabuf"))
		return 801;
	*fd = memfd_create("gpu", 0);
	return 0;
}

static int name(char *to, int size)
{
	strncpy(to, "0000:04:00.0", (size_t)size);
	return 0;
}

#ifdef HIP
int hipGetDeviceCount(int *count)
{
	MAY_FAIL
	*count = 1;
	return 0;
}
int hipSetDevice(int device)
{
	MAY_FAIL
	return device;
}
int hipDeviceGetPCIBusId(char *to, int size, int device)
{
	MAY_FAIL
	return name(to, size) + device;
}
int hipMalloc(void **memory, size_t size)
{
	MAY_FAIL
	uint64_t at = 0;
	const int error = take(&at, size);

	*memory = (void *)(uintptr_t)at;
	return error;
}
int hipFree(void *memory)
{
	MAY_FAIL
	return !memory;
}
int hipMemcpy(void *to, const void *from, size_t size, int kind)
{
	MAY_FAIL
	return kind == 2 ? read_back(to, (uintptr_t)from, size) : 1;
}
int hsa_amd_portable_export_dmabuf(const void *memory, size_t size, int *fd, uint64_t *offset)
{
	MAY_FAIL
	*offset = 0;
	return (uintptr_t)memory % 4096 || size % 4096 ? 1 : export(fd);
}
#else
int cuInit(unsigned int flags)
{
	MAY_FAIL
	return is_case("skewed") ? 803 : is_case("none") ? 100 : (int)flags;
}
int cuDeviceGetCount(int *count)
{
	MAY_FAIL
	*count = 1;
	return 0;
}
int cuDeviceGet(int *device, int ordinal)
{
	MAY_FAIL
	*device = ordinal;
	return 0;
}
int cuDeviceGetPCIBusId(char *to, int size, int device)
{
	MAY_FAIL
	return name(to, size) + device;
}
int cuDevicePrimaryCtxRetain(void **context, int device)
{
	MAY_FAIL
	*context = context;
	return device;
}
int cuCtxSetCurrent(void *context)
{
	MAY_FAIL
	return !context;
}
int cuMemAlloc_v2(unsigned long long *memory, size_t size)
{
	MAY_FAIL
	uint64_t at = 0;
	const int error = take(&at, size);

	*memory = at;
	return error;
}
int cuMemFree_v2(unsigned long long memory)
{
	MAY_FAIL
	return !memory;
}
int cuMemcpyDtoH_v2(void *to, unsigned long long from, size_t size)
{
	MAY_FAIL
	return read_back(to, from, size);
}
int cuMemGetHandleForAddressRange(void *fd, unsigned long long memory, size_t size, int type,
				  unsigned long long flags)
{
	MAY_FAIL
	return memory % 4096 || size % 4096 || type != 1 || flags ? 1 : export(fd);
}
#endif
