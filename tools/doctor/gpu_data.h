/* SPDX-License-Identifier: MIT */
/* rdmaez-doctor: data into the memory of real GPUs. */
#ifndef RDMAEZ_DOCTOR_GPU_DATA_H
#define RDMAEZ_DOCTOR_GPU_DATA_H

/*
 * Each RDMA device sends 4 KiB into a GPU's memory, of one GPU each, by the memory's address and by a dma-buf. Says what
 * came of it; nothing where neither CUDA nor HIP is.
 */
void doctor_try_gpus(void);

#endif
