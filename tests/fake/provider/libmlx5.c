/* SPDX-License-Identifier: MIT */
/* A provider's library with functions of its own, as far as rdmaez-explain knows them: what they make is the fake's. */
#include <errno.h>
#include <string.h>

#include "fake_verbs.h"

struct mlx5dv_qp_init_attr;
struct mlx5dv_cq_init_attr;
struct mlx5dv_alloc_dm_attr;
struct mlx5dv_obj;

struct ibv_qp *mlx5dv_create_qp(struct ibv_context *context, struct ibv_qp_init_attr_ex *init_attr,
				struct mlx5dv_qp_init_attr *vendor);
struct ibv_cq_ex *mlx5dv_create_cq(struct ibv_context *context,
				   struct ibv_cq_init_attr_ex *init_attr,
				   struct mlx5dv_cq_init_attr *vendor);
struct ibv_dm *mlx5dv_alloc_dm(struct ibv_context *context, struct ibv_alloc_dm_attr *attr,
			       struct mlx5dv_alloc_dm_attr *vendor);
int mlx5dv_init_obj(struct mlx5dv_obj *object, uint64_t type);
struct ibv_mr *mlx5dv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length,
				    uint64_t iova, int fd, int access, int vendor);
struct mlx5dv_devx_obj;
struct mlx5dv_devx_obj *mlx5dv_devx_obj_create(struct ibv_context *context, const void *in,
					       size_t in_size, void *out, size_t out_size);
int mlx5dv_devx_obj_modify(struct mlx5dv_devx_obj *object, const void *in, size_t in_size,
			   void *out, size_t out_size);

struct ibv_qp *mlx5dv_create_qp(struct ibv_context *context, struct ibv_qp_init_attr_ex *init_attr,
				struct mlx5dv_qp_init_attr *vendor)
{
	(void)vendor;
	if (init_attr->qp_type == IBV_QPT_DRIVER)
		return fake_qp_driver(context, FAKE_DCT);
	/* Providers do not go through the library. */
	return verbs_get_ctx(context)->create_qp_ex(context, init_attr);
}

struct ibv_cq_ex *mlx5dv_create_cq(struct ibv_context *context,
				   struct ibv_cq_init_attr_ex *init_attr,
				   struct mlx5dv_cq_init_attr *vendor)
{
	(void)vendor;
	return verbs_get_ctx(context)->create_cq_ex(context, init_attr);
}

struct ibv_dm *mlx5dv_alloc_dm(struct ibv_context *context, struct ibv_alloc_dm_attr *attr,
			       struct mlx5dv_alloc_dm_attr *vendor)
{
	(void)context;
	(void)attr;
	(void)vendor;
	errno = EOPNOTSUPP;
	return NULL;
}

struct ibv_mr *mlx5dv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length,
				    uint64_t iova, int fd, int access, int vendor)
{
	(void)pd;
	(void)offset;
	(void)length;
	(void)iova;
	(void)access;
	(void)vendor;
	errno = fd < 0 ? EBADF : EOPNOTSUPP;
	return NULL;
}

int mlx5dv_init_obj(struct mlx5dv_obj *object, uint64_t type)
{
	(void)object;
	return type ? 0 : EINVAL;
}

/* A firmware that refuses all whose third byte is not 0: with that for a status, and 0x1234 for a syndrome. */
static int is_refused(const void *in, size_t in_size, void *out, size_t out_size)
{
	uint8_t *const answer = (uint8_t *)out;

	if (in_size < 3 || out_size < 8)
		return EINVAL;
	memset(out, 0, out_size);
	answer[0] = ((const uint8_t *)in)[2];
	answer[6] = 0x12;
	answer[7] = 0x34;
	return answer[0] ? EREMOTEIO : 0;
}

struct mlx5dv_devx_obj *mlx5dv_devx_obj_create(struct ibv_context *context, const void *in,
					       size_t in_size, void *out, size_t out_size)
{
	const int error = is_refused(in, in_size, out, out_size);

	if (error)
		errno = error;
	return error ? NULL : (struct mlx5dv_devx_obj *)(void *)context;
}

int mlx5dv_devx_obj_modify(struct mlx5dv_devx_obj *object, const void *in, size_t in_size,
			   void *out, size_t out_size)
{
	(void)object;
	return is_refused(in, in_size, out, out_size);
}
