/* SPDX-License-Identifier: MIT */
/*
 * Which statuses rdma-core's own providers make of what their adapters report: an adapter's completion with each of its
 * numbers is written into the queue, as the provider reads it, and polled. struct rdmaez_advice says who reports a
 * status, so each that comes has to be said of the driver.
 *
 * Arguments: the driver, a directory of its own.
 */
#define _POSIX_C_SOURCE 200809L

#include "rig.h"

#include <rdmaez/implementation.h>

#include "kernel.h"

static struct rig rig;

/* ---- What an adapter writes ------------------------------------------------------------------------ */

static void put(uint8_t *at, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		at[i] = (uint8_t)(value >> 8 * i);
}

static void put_big(uint8_t *at, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		at[i] = (uint8_t)(value >> 8 * (bytes - 1 - i));
}

/* struct mlx5_err_cqe; an error of the requester is 13, of the responder 14. */
static void write_mlx5(uint8_t *at, const struct ibv_qp *qp, bool send, uint32_t code)
{
	memset(at, 0, 64);
	at[55] = (uint8_t)code;
	put_big(at + 56, qp->qp_num, 4);
	at[63] = send ? 0xd0 : 0xe0;
}

/* struct mlx4_err_cqe; 0x1e is MLX4_CQE_OPCODE_ERROR, 0x40 MLX4_CQE_IS_SEND_MASK. */
static void write_mlx4(uint8_t *at, const struct ibv_qp *qp, bool send, uint32_t code)
{
	memset(at, 0, 32);
	put_big(at, qp->qp_num, 4);
	at[27] = (uint8_t)code;
	at[31] = send ? 0x5e : 0x1e;
}

/* struct hns_roce_v2_cqe: CQE_S_R, CQE_OWNER, CQE_STATUS and CQE_LCL_QPN. */
static void write_hns(uint8_t *at, const struct ibv_qp *qp, bool send, uint32_t code)
{
	memset(at, 0, 64);
	put(at, (send ? 0 : 1u << 6) | 1u << 7 | code << 8, 4);
	put(at + 12, qp->qp_num, 3);
}

/* irdma_uk_cq_poll_cmpl(): the major error 1 says that the minor one is the reason of a flush; 2 is unknown. */
static void write_irdma(uint8_t *at, const struct ibv_qp *qp, bool send, uint32_t code)
{
	memset(at, 0, 32);
	put(at + 8, kernel_qp_word(qp->handle, 1), 8);
	put(at + 24,
	    code | UINT64_C(1) << (code < 255 ? 16 : 17) | UINT64_C(1) << 55 |
		    (uint64_t)send << 62 | UINT64_C(1) << 63,
	    8);
}

/* struct bnxt_re_req_cqe and bnxt_re_rc_cqe, with struct bnxt_re_bcqe behind them; type 0 is a send's, 1 a receive's. */
static void write_bnxt(uint8_t *at, const struct ibv_qp *qp, bool send, uint32_t code)
{
	memset(at, 0, 32);
	put(at + (send ? 0 : 8), kernel_qp_word(qp->handle, 2), 8);
	put(at + 24, code << 8 | (send ? 0 : 1u << 1) | 1, 4);
}

/* struct efa_io_cdesc_common: queue type 1 is a send's, 2 a receive's. */
static void write_efa(uint8_t *at, const struct ibv_qp *qp, bool send, uint32_t code)
{
	memset(at, 0, 8);
	at[2] = (uint8_t)code;
	put(at + 4, qp->qp_num, 2);
	at[3] = (uint8_t)(1 | (send ? 1 : 2) << 1);
}

/* struct erdma_cqe: ERDMA_CQE_HDR_*; 2 is ERDMA_OP_SEND, 4 ERDMA_OP_RECEIVE. */
static void write_erdma(uint8_t *at, const struct ibv_qp *qp, bool send, uint32_t code)
{
	memset(at, 0, 32);
	put_big(at, 1u << 31 | (send ? 2u : 4u) << 16 | (send ? 0u : 1u) << 8 | code, 4);
	put_big(at + 8, qp->qp_num, 4);
}

static const struct adapter {
	const char *name;
	void (*write)(uint8_t *at, const struct ibv_qp *qp, bool send, uint32_t code);
	const char *
		later; /* what it reports from a later rdma-core than Debian 12's 44 on, or elsewhere */
} adapters[] = {
	{"mlx5", write_mlx5, "IBV_WC_TM_ERR IBV_WC_TM_RNDV_INCOMPLETE"}, /* with tag matching */
	{"mlx4", write_mlx4, ""},
	{"hns", write_hns, ""},
	{"irdma", write_irdma, "IBV_WC_RNR_RETRY_EXC_ERR"},
	{"bnxt_re", write_bnxt, ""},
	{"efa", write_efa, "IBV_WC_REM_ACCESS_ERR IBV_WC_REM_OP_ERR"},
	{"erdma", write_erdma, ""},
};

/* ---- What comes of it ------------------------------------------------------------------------------- */

/* The queue pair in RTS, with a work request in either queue. */
static struct side *working(enum ibv_qp_type type)
{
	static const enum ibv_qp_state way[] = {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS};
	static const int masks[] = {IBV_QP_PORT, IBV_QP_PATH_MTU, 0};
	static union {
		struct ibv_ah ah;
		uint8_t more[512];
	} handle;
	struct side *const side = side_open(&rig, type);
	struct ibv_qp_attr attr = {.port_num = 1, .path_mtu = IBV_MTU_1024};
	struct ibv_sge sge = {(uintptr_t)side->memory, 8, side->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND}, *bad;

	for (int i = 0; i < 3; i++) {
		attr.qp_state = way[i];
		if (ibv_modify_qp(side->qp, &attr, IBV_QP_STATE | masks[i]))
			tap_bail("ibv_modify_qp: %s", strerror(errno));
	}
	if (type == IBV_QPT_UD)
		wr.wr.ud.ah = &handle.ah;
	if (ibv_post_send(side->qp, &wr, &bad) || side_post_receive(side))
		tap_bail("cannot post");
	return side;
}

/* The status that a code comes to; -1 where nothing comes. */
static int status_of(const struct adapter *adapter, enum ibv_qp_type type, bool send, uint32_t code)
{
	struct side *const side = working(type);
	struct ibv_cq *const cq = send ? side->send_cq : side->recv_cq;
	struct ibv_wc wc;
	int status = -1;

	memset(&wc, 0, sizeof(wc));
	adapter->write(kernel_completions(cq->handle), side->qp, send, code);
	if (ibv_poll_cq(cq, 1, &wc) == 1)
		status = (int)wc.status;
	side_close(side);
	return status;
}

static bool has_word(const char *text, const char *word)
{
	const size_t length = strlen(word);

	for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
		if ((at == text || at[-1] == ' ') && strchr(" ,;", at[length]))
			return true;
	return false;
}

/* Whether what is said of a status includes the driver: "most drivers, not X and Y", or a list. */
static bool is_said(enum ibv_wc_status status, const char *driver)
{
	const struct ibv_wc wc = {.status = status};
	const char *const said = rdmaez_wc_explain(&wc)->producers;

	if (strncmp(said, "all drivers", 11) == 0)
		return true;
	return (strncmp(said, "most drivers", 12) == 0) != has_word(said, driver);
}

int main(int argc, char **argv)
{
	const struct kernel_driver *const driver = argc > 2 ? kernel_driver(argv[1]) : NULL;
	const struct adapter *adapter = adapters;
	bool seen[IBV_WC_TM_RNDV_INCOMPLETE + 1] = {false};

	if (!driver)
		tap_bail("usage: status DRIVER DIRECTORY");
	while (strcmp(adapter->name, driver->name) != 0)
		adapter++;
	kernel_begin(driver, argv[2]);
	rig = rig_open_device(driver->device);
	for (int queue = 0; queue < 2; queue++)
		for (uint32_t code = 1; code < 256; code++) {
			const int status = status_of(
				adapter, driver->types & 1u << IBV_QPT_RC ? IBV_QPT_RC : IBV_QPT_UD,
				queue == 0, code);

			if (status >= 0 && status <= IBV_WC_TM_RNDV_INCOMPLETE)
				seen[status] = true;
		}
	for (int status = 1; status <= IBV_WC_TM_RNDV_INCOMPLETE; status++) {
		const struct ibv_wc wc = {.status = (enum ibv_wc_status)status};
		const char *const name = rdmaez_wc_explain(&wc)->name;
		const bool later = has_word(adapter->later, name);

		if (seen[status])
			tap_ok(is_said(wc.status, driver->name), "%s reports %s, and that is said",
			       driver->name, name);
		else if (!later)
			tap_ok(!is_said(wc.status, driver->name),
			       "%s does not report %s, and nobody says so", driver->name, name);
	}
	rig_close(&rig);
	return tap_done();
}
