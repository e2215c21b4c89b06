/* SPDX-License-Identifier: MIT */
/**
 * @file device.h
 * @brief Open a device by its name, or one that is ready, and explain why there is none.
 *
 * If a device is missing, ibv_get_device_list() returns a shorter list and no reason. The errno value of
 * ibv_open_device() may differ from that of the device node. After a failure rdmaez_device_open() looks for the cause
 * itself: in sysfs, at the device nodes, and at the provider libraries that are loaded.
 *
 * @par Threads
 * May be called from any thread.
 * @since rdmaez 0.1; rdma-core 33
 */
#ifndef RDMAEZ_DEVICE_H
#define RDMAEZ_DEVICE_H

#ifndef RDMAEZ_DIAG_H
#include "diag.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @brief Opens a device.
 *
 * Without a name, it opens the first device that has an active port, or else the first that opens.
 *
 * If a finding is about one device, it ends with the device's name, or with the name of its node below /dev/infiniband.
 *
 * @param name the device's name, "mlx5_0"; NULL: any
 * @param context receives the open device. Close it with rdmaez_device_close() or ibv_close_device(). Written on
 *         success only
 * @param diag receives the explanation. With NULL, the function does not look for the cause
 * @retval 0 @p context is open
 * @retval EINVAL @p context is NULL (#RDMAEZ_WHY_NULL_ARGUMENT)
 * @retval ENODEV libibverbs lists no such device: there is none (#RDMAEZ_WHY_DEVICE_NONE) or none of this name
 *         (#RDMAEZ_WHY_DEVICE_NAME, with the names that there are, #RDMAEZ_WHY_DEVICE_THERE); the kernel lacks
 *         ib_uverbs (#RDMAEZ_WHY_DEVICE_UVERBS); the device has no node (#RDMAEZ_WHY_DEVICE_NO_NODE), or no provider
 *         library (#RDMAEZ_WHY_DEVICE_PROVIDER, likely for #RDMAEZ_WHY_PROVIDER_MISSING, #RDMAEZ_WHY_PROVIDER_RELEASE
 *         or #RDMAEZ_WHY_PROVIDER_UNFIT); it is in another network namespace (#RDMAEZ_WHY_DEVICE_NETNS). If its node
 *         may not be opened, that is likely, besides #RDMAEZ_WHY_DEVICE_FORBIDDEN
 * @retval ENOSYS the same, if libibverbs finds no ib_uverbs
 * @return another errno of ibv_open_device(), of the first device that does not open: its node may not be opened
 *         (#RDMAEZ_WHY_DEVICE_RIGHTS, #RDMAEZ_WHY_DEVICE_FORBIDDEN) or is another device's
 *         (#RDMAEZ_WHY_DEVICE_OTHER_NODE); likely a limit (#RDMAEZ_WHY_CGROUP, #RDMAEZ_WHY_MEMLOCK,
 *         #RDMAEZ_WHY_ADDRESS_SPACE, #RDMAEZ_WHY_NO_RESOURCES); #RDMAEZ_WHY_DEVICE_GONE, #RDMAEZ_WHY_UNEXPLAINED. Or
 *         another errno of ibv_get_device_list(), likely for such a limit
 * @par Verbs calls
 * ibv_get_device_list(), ibv_open_device() and ibv_free_device_list(). Without a name, also one ibv_query_device() and
 * one ibv_query_port() for each port of each device that it tries, and ibv_close_device() if it does not choose the
 * device.
 * @par Sources
 * `ibverbs_get_device_list()`, `load_drivers()` and `open_cdev()` of rdma-core 65. If a node does not open, open_cdev()
 * tries a second path for 5 s, and returns the errno of that attempt. `ib_uverbs_open()` of Linux 6.1 to 7.2.
 */
RDMAEZ_COLD int rdmaez_device_open(const char *name, struct ibv_context **context,
				   struct rdmaez_diag *diag);

/**
 * @brief Closes a device, as ibv_close_device() does, and explains a failure.
 *
 * Destroy all objects of the context first. The kernel destroys the objects that are left, but the memory that they use
 * in the program is not freed.
 *
 * @param context the open device; no other thread may use it
 * @param diag receives the explanation; may be NULL
 * @retval 0 it is closed
 * @retval EINVAL @p context is NULL (#RDMAEZ_WHY_NULL_ARGUMENT)
 * @return any errno of ibv_close_device() (#RDMAEZ_WHY_BUSY, #RDMAEZ_WHY_DEVICE_GONE, #RDMAEZ_WHY_UNEXPLAINED)
 * @par Verbs calls
 * One ibv_close_device().
 * @par Sources
 * `verbs_uninit_context()` and the providers' `free_context` of rdma-core 65.
 */
RDMAEZ_API int rdmaez_device_close(struct ibv_context *context, struct rdmaez_diag *diag);

#ifdef __cplusplus
}
#endif

#if RDMAEZ_IMPL_BODIES
#include "impl/device.h"
#endif

#endif
