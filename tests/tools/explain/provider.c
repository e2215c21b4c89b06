/* SPDX-License-Identifier: MIT */
/*
 * Uses a provider's own functions: provider linked|loaded CASE, through the dynamic linker or by dlsym(). It prints what
 * a program sees of it, which must be the same with and without rdmaez-explain.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fake_verbs.h"

/* As mlx5dv.h declares them. */
struct ibv_qp *mlx5dv_create_qp(struct ibv_context *context, struct ibv_qp_init_attr_ex *init_attr,
				void *vendor);
struct ibv_cq_ex *mlx5dv_create_cq(struct ibv_context *context,
				   struct ibv_cq_init_attr_ex *init_attr, void *vendor);
struct ibv_dm *mlx5dv_alloc_dm(struct ibv_context *context, struct ibv_alloc_dm_attr *attr,
			       void *vendor);
struct ibv_mr *mlx5dv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length,
				    uint64_t iova, int fd, int access, int vendor);
int mlx5dv_init_obj(void *object, uint64_t type);
void *mlx5dv_devx_obj_create(struct ibv_context *context, const void *in, size_t in_size, void *out,
			     size_t out_size);
int mlx5dv_devx_obj_modify(void *object, const void *in, size_t in_size, void *out,
			   size_t out_size);
/* And those of others, which are looked up. */
typedef struct ibv_qp *create_qp(struct ibv_context *context, struct ibv_qp_init_attr_ex *init_attr,
				 void *vendor, uint32_t size);
typedef struct ibv_cq_ex *create_cq(struct ibv_context *context,
				    struct ibv_cq_init_attr_ex *init_attr, void *vendor,
				    uint32_t size);
typedef struct ibv_qp *create_driver_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init_attr,
					uint32_t type);
typedef void *create_comp_cntr(struct ibv_context *context, void *attr, void *vendor,
			       uint32_t size);
typedef void *bnxt_create(void *from, void *vendor);
typedef int bnxt_destroy(void *object);

static bool is_loaded;

#define CALL(name)                                                                                \
	(is_loaded                                                                                \
		 ? (__typeof__(&(name)))(uintptr_t)dlsym(dlopen("libmlx5.so.1", RTLD_NOW), #name) \
		 : (name))

static void see(const char *what, intptr_t result, enum fake_verb verb)
{
	printf("%s %d errno %d asked %u\n", what, (int)result, errno, fake_count(verb));
	errno = 77;
}

/* A DCT has its number from RTR on. */
static struct ibv_qp *new_dct(struct ibv_context *context, struct ibv_qp_init_attr_ex init)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	struct ibv_qp *dct;

	init.qp_type = IBV_QPT_DRIVER;
	dct = CALL(mlx5dv_create_qp)(context, &init, NULL);
	see("dct init",
	    ibv_modify_qp(dct, &attr,
			  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
	    FAKE_MODIFY_QP);
	attr.qp_state = IBV_QPS_RTR;
	attr.path_mtu = IBV_MTU_1024;
	attr.ah_attr.is_global = 1;
	attr.ah_attr.port_num = 1;
	attr.ah_attr.grh.sgid_index = 3;
	memcpy(attr.ah_attr.grh.dgid.raw, "\0\0\0\0\0\0\0\0\0\0\xff\xff\xa\0\0\2", 16);
	see("dct rtr",
	    ibv_modify_qp(dct, &attr,
			  IBV_QP_STATE | IBV_QP_MIN_RNR_TIMER | IBV_QP_AV | IBV_QP_PATH_MTU),
	    FAKE_MODIFY_QP);
	return dct;
}

/* The first of two is gone when the second one fails. */
static void use_dcts(struct ibv_context *context, const struct ibv_qp_init_attr_ex *init)
{
	struct ibv_qp *const gone = new_dct(context, *init), *const dct = new_dct(context, *init);
	const struct ibv_wc wc = {.qp_num = dct->qp_num, .status = IBV_WC_LOC_LEN_ERR};
	struct ibv_wc got;

	see("gone", ibv_destroy_qp(gone), FAKE_DESTROY_QP);
	fake_cq_push(init->recv_cq, &wc);
	printf("polled %d\n", ibv_poll_cq(init->recv_cq, 1, &got));
	see("dct", ibv_destroy_qp(dct), FAKE_DESTROY_QP);
}

/* As a GPU's library does it: a queue pair that is made, one that is refused, and moves of either kind. */
static void use_devx(struct ibv_context *context)
{
	uint8_t in[16] = {0x05, 0x00}, out[16], empty[4];
	void *const object =
		CALL(mlx5dv_devx_obj_create)(context, in, sizeof(in), out, sizeof(out));

	see("devx", object != NULL, FAKE_CREATE_QP);
	in[2] = 0x3;
	see("refused",
	    CALL(mlx5dv_devx_obj_create)(context, in, sizeof(in), out, sizeof(out)) != NULL,
	    FAKE_CREATE_QP);
	in[1] = 0x03;
	in[2] = 0x10;
	see("move", CALL(mlx5dv_devx_obj_modify)(object, in, sizeof(in), out, sizeof(out)),
	    FAKE_MODIFY_QP);
	in[1] = 0xff;
	see("unknown", CALL(mlx5dv_devx_obj_modify)(object, in, sizeof(in), out, sizeof(out)),
	    FAKE_MODIFY_QP);
	see("no answer", CALL(mlx5dv_devx_obj_modify)(object, in, sizeof(in), empty, sizeof(empty)),
	    FAKE_MODIFY_QP);
}

static void *looked_up(const char *library, const char *name)
{
	void *const handle = dlopen(library, RTLD_NOW);

	return handle ? dlsym(handle, name) : NULL;
}

static void use_others(struct ibv_context *context, struct ibv_qp_init_attr_ex init)
{
	static const char *const makers[][2] = {{"libefa.so.1", "efadv_create_qp_ex"},
						{"libhns.so.1", "hnsdv_create_qp"},
						{"libmlx4.so.1", "mlx4dv_create_qp"}};
	static const char bnxt[] = "libbnxt_re.so.1";
	struct ibv_cq_init_attr_ex cq_init;
	static struct ibv_qp qp;
	static struct ibv_cq cq;

	memset(&cq_init, 0, sizeof(cq_init));
	init.cap.max_recv_wr = 1 << 30;
	for (int i = 0; i < 3; i++)
		see(makers[i][1],
		    ((create_qp *)(uintptr_t)looked_up(makers[i][0], makers[i][1]))(
			    context, &init, NULL, 0) != NULL,
		    FAKE_CREATE_QP);
	see("driver qp",
	    ((create_driver_qp *)(uintptr_t)looked_up("libefa.so.1", "efadv_create_driver_qp"))(
		    init.pd, (struct ibv_qp_init_attr *)&init, 0) != NULL,
	    FAKE_CREATE_QP);
	init.cap.max_recv_wr = 4;
	see("good driver qp",
	    ((create_driver_qp *)(uintptr_t)looked_up("libefa.so.1", "efadv_create_driver_qp"))(
		    init.pd, (struct ibv_qp_init_attr *)&init, 0) != NULL,
	    FAKE_CREATE_QP);
	cq_init.cqe = 1 << 30;
	see("efa cq",
	    ((create_cq *)(uintptr_t)looked_up("libefa.so.1", "efadv_create_cq"))(context, &cq_init,
										  NULL, 0) != NULL,
	    FAKE_CREATE_CQ);
	cq_init.cqe = 4;
	see("good efa cq",
	    ((create_cq *)(uintptr_t)looked_up("libefa.so.1", "efadv_create_cq"))(context, &cq_init,
										  NULL, 0) != NULL,
	    FAKE_CREATE_CQ);
	see("counter",
	    ((create_comp_cntr *)(uintptr_t)looked_up("libefa.so.1", "efadv_create_comp_cntr"))(
		    context, NULL, NULL, 0) != NULL,
	    FAKE_CREATE_CQ);
	see("good counter",
	    ((create_comp_cntr *)(uintptr_t)looked_up("libefa.so.1", "efadv_create_comp_cntr"))(
		    context, &init, NULL, 0) != NULL,
	    FAKE_CREATE_CQ);
	qp.context = context;
	see("bnxt",
	    ((bnxt_create *)(uintptr_t)looked_up(bnxt, "bnxt_re_dv_create_qp"))(init.pd, &qp) !=
		    NULL,
	    FAKE_CREATE_QP);
	see("bnxt gone", ((bnxt_destroy *)(uintptr_t)looked_up(bnxt, "bnxt_re_dv_destroy_qp"))(&qp),
	    FAKE_DESTROY_QP);
	see("bnxt refused",
	    ((bnxt_create *)(uintptr_t)looked_up(bnxt, "bnxt_re_dv_create_qp"))(init.pd, NULL) !=
		    NULL,
	    FAKE_CREATE_QP);
	see("bnxt cq",
	    ((bnxt_create *)(uintptr_t)looked_up(bnxt, "bnxt_re_dv_create_cq"))(context, NULL) !=
		    NULL,
	    FAKE_CREATE_CQ);
	cq.context = context;
	see("good bnxt cq",
	    ((bnxt_create *)(uintptr_t)looked_up(bnxt, "bnxt_re_dv_create_cq"))(context, &cq) !=
		    NULL,
	    FAKE_CREATE_CQ);
	for (cq.comp_events_completed = 1; cq.comp_events_completed < 2; cq.comp_events_completed--)
		see("bnxt cq gone",
		    ((bnxt_destroy *)(uintptr_t)looked_up(bnxt, "bnxt_re_dv_destroy_cq"))(&cq),
		    FAKE_DESTROY_CQ);
}

int main(int argc, char *argv[])
{
	struct fake_device *const device = fake_reset();
	struct ibv_device **const list = ibv_get_device_list(NULL);
	struct ibv_context *const context = ibv_open_device(list[0]);
	struct ibv_pd *const pd = ibv_alloc_pd(context);
	struct ibv_cq_init_attr_ex cq_init = {.cqe = 1 << 30};
	struct ibv_alloc_dm_attr dm_init = {.length = 64};
	struct ibv_qp_init_attr_ex init = {.pd = pd, .qp_type = IBV_QPT_RC};

	ibv_free_device_list(list);
	is_loaded = argc == 2 && strcmp(argv[1], "linked") != 0;
	errno = 77;
	if (argc == 2 && !strcmp(argv[1], "devx")) {
		use_devx(context);
		return 0;
	}
	see("cq", CALL(mlx5dv_create_cq)(context, &cq_init, NULL) != NULL, FAKE_CREATE_CQ);
	cq_init.cqe = 4;
	init.send_cq = init.recv_cq =
		ibv_cq_ex_to_cq(CALL(mlx5dv_create_cq)(context, &cq_init, NULL));
	init.comp_mask = IBV_QP_INIT_ATTR_PD;
	init.cap.max_recv_wr = 1 << 30;
	see("classic qp", CALL(mlx5dv_create_qp)(context, &init, NULL) != NULL, FAKE_CREATE_QP);
	init.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	see("qp", CALL(mlx5dv_create_qp)(context, &init, NULL) != NULL, FAKE_CREATE_QP);
	if (argc == 2 && !strcmp(argv[1], "others")) {
		use_others(context, init);
		return 0;
	}
	init.cap.max_recv_wr = 4;
	init.comp_mask = IBV_QP_INIT_ATTR_PD;
	see("good qp", CALL(mlx5dv_create_qp)(context, &init, NULL) != NULL, FAKE_CREATE_QP);
	see("dm", CALL(mlx5dv_alloc_dm)(context, &dm_init, NULL) != NULL, FAKE_ALLOC_DM);
	see("dmabuf probe", CALL(mlx5dv_reg_dmabuf_mr)(pd, 0, 4096, 0, -1, 0, 0) != NULL,
	    FAKE_REG_MR);
	see("dmabuf", CALL(mlx5dv_reg_dmabuf_mr)(pd, 0, 4096, 0, 7, 0, 0) != NULL, FAKE_REG_MR);
	see("obj", CALL(mlx5dv_init_obj)(NULL, 3), FAKE_POLL_CQ);
	fake_profile(device, FAKE_PROFILE_MLX5);
	use_dcts(context, &init);
	return 0;
}
