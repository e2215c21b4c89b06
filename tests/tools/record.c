/* SPDX-License-Identifier: MIT */
/*
 * What rdmaez-explain keeps of processes, from rows and a /sys that are made here: record CASE. The states go to stdout,
 * the page that compares them to stderr. explain_record.t compiles it, and knows what each case is to print. The clock
 * is made here as well, and stands at 1000 s.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "../../tools/explain/record.c"

static struct explain_share *share;
static struct explain_rows *made;
static struct explain_output output = {.log = STDERR_FILENO, .json = STDOUT_FILENO};
static uint64_t now = 1000 * UINT64_C(1000000000);
static char states_of[1024]; /* by process, as /proc has them; 0: it has ended */

static struct {
	const char *path, *text;
} file[128];
static unsigned int files;

static uint64_t clock_of_test(void)
{
	return now;
}

static char state_in_test(int pid)
{
	return states_of[pid];
}

static uint64_t time_in_test(int pid)
{
	(void)pid;
	return 0;
}

static bool thread_in_test(int pid, int tid)
{
	return pid && tid;
}

static bool read_in_test(const char *path, char *text, size_t size)
{
	for (unsigned int i = 0; i < files; i++)
		if (!strcmp(path, file[i].path)) {
			snprintf(text, size, "%s", file[i].text);
			return true;
		}
	return false;
}

static void add_file(const char *path, const char *text)
{
	file[files].path = path;
	file[files++].text = text;
}

static struct explain_process *make_process(int pid, const char *name)
{
	static unsigned int count;
	struct explain_process *const process = &share->process[count++];

	process->pid = pid;
	snprintf(process->name, sizeof(process->name), "%s", name);
	states_of[pid] = 'S';
	return process;
}

/* In RTS, and connected by GIDs that tell the two numbers. */
static struct explain_qp_row *make_qp(unsigned int at, int pid, uint32_t qp_num, uint32_t peer)
{
	struct explain_qp_row *const qp = &made->qp[at];

	qp->row.pid = pid;
	qp->row.version = 2;
	snprintf(qp->device, sizeof(qp->device), "mlx5_0");
	qp->qp_num = qp_num;
	qp->dest_qp_num = peer;
	qp->type = 2;
	qp->state = 3;
	qp->port = 1;
	qp->mask = MASK_PORT | MASK_AV | MASK_DEST_QPN;
	qp->has_gids = 1;
	qp->sgid_index = 2;
	qp->gid[10] = qp->gid[11] = qp->peer_gid[10] = qp->peer_gid[11] = 0xff;
	qp->gid[12] = qp->peer_gid[12] = 10;
	qp->gid[15] = (uint8_t)qp_num;
	qp->peer_gid[15] = (uint8_t)peer;
	return qp;
}

/* Several times a second. */
static void look(unsigned int seconds)
{
	for (uint64_t end = now + seconds * UINT64_C(1000000000); now < end;) {
		now += UINT64_C(200000000);
		explain_judge_look(&output);
		explain_record_look(&output);
	}
}

static void ask(void)
{
	explain_judge_say(&output, EXPLAIN_ASKED);
}

/* ---- What a state has ---------------------------------------------------------------------------------------- */

static void make_request(struct explain_qp_row *qp, uint32_t opcode)
{
	qp->sends = 9;
	qp->signaled = 8;
	qp->sends_done = 7;
	qp->request[3].number = 9;
	qp->request[3].signaled = 7;
	qp->request[3].opcode = opcode;
	qp->request[3].length = 4096;
	qp->request[3].remote_addr = 0x7000;
	qp->request[3].rkey = 0x222;
	qp->request[3].qp_num = 77;
	qp->request[3].qkey = 0x11;
	qp->request[3].ah = 0xa0;
}

/* All that a queue pair and its process can have. */
static void all(void)
{
	struct explain_process *const process = make_process(10, "wor\"ker");
	struct explain_qp_row *const qp = make_qp(0, 10, 17, 18);

	snprintf(process->libraries, sizeof(process->libraries),
		 "libibverbs.so.1.14\\44 libmlx5.so.1");
	process->rank = 4;
	process->ranks = 9;
	qp->mask = UINT32_MAX;
	qp->access = 7;
	qp->qkey = 0x33;
	qp->path_mtu = 3;
	qp->timeout = 14;
	qp->retry_cnt = 6;
	qp->rnr_retry = 5;
	qp->rq_psn = 101;
	qp->sq_psn = 102;
	qp->min_rnr_timer = 12;
	qp->max_rd_atomic = 2;
	qp->max_dest_rd_atomic = 3;
	qp->pkey_index = 4;
	qp->sl = 1;
	qp->traffic_class = 106;
	qp->dlid = 55;
	qp->active_mtu = 5;
	qp->max_send_wr = 64;
	qp->max_recv_wr = 65;
	qp->send_cq = 1;
	qp->recv_cq = 2;
	qp->recvs = 5;
	qp->recvs_done = 4;
	qp->srq = 3;
	make_request(qp, 0);
	for (unsigned int i = 0; i < 4; i++) {
		struct explain_cq_row *const cq = &made->cq[i];

		cq->row.pid = i == 3 ? 11 : 10;
		cq->row.version = 2;
		cq->row.gone = i == 1;
		cq->direct = i == 2;
		snprintf(cq->device, sizeof(cq->device), "mlx5_0");
		cq->cqe = 63;
		cq->polls = 20;
		cq->armed = 4;
		cq->events = cq->events_at = 3;
		cq->acked = 2;
	}
	for (unsigned int i = 0; i < 3; i++) {
		struct explain_srq_row *const srq = &made->srq[i];

		srq->row.pid = i == 1 ? 11 : 10;
		srq->row.version = 2;
		srq->row.gone = i == 0;
		snprintf(srq->device, sizeof(srq->device), "mlx5_0");
		srq->posted = 30 + i;
	}
	for (unsigned int i = 0; i < 5; i++) {
		struct explain_mr_row *const mr = &made->mr[i];

		mr->row.pid = i == 4 ? 11 : 10;
		mr->row.version = 2;
		mr->row.gone = i == 1 || i == 2;
		snprintf(mr->device, sizeof(mr->device), "mlx5_0");
		mr->rkey = 0x100 + i;
		mr->addr = 0x7000 + i;
		mr->length = 4096;
		mr->access = 7;
		mr->made_at = now - 3000000000;
		mr->gone_at = i == 1 ? now - 1000000000 : 0;
		mr->rereg = i == 3 ? EXPLAIN_MR_BROKEN : 0;
	}
	add_file("mlx5_0/fw_ver", "16.35.4030");
	add_file("mlx5_0/ports/1/link_layer", "Ethernet");
	add_file("mlx5_0/ports/1/state", "4: ACTIVE");
	add_file("mlx5_0/ports/1/rate", "2.5 Gb/sec (1X SDR)");
	add_file("mlx5_0/ports/1/lid", "0x0");
	add_file("mlx5_0/ports/1/pkeys/4", "0xffff");
	add_file("mlx5_0/ports/1/gids/0", "fe80:0000:0000:0000:0000:0000:0000:0001");
	add_file("mlx5_0/ports/1/gids/1", "0000:0000:0000:0000:0000:0000:0000:0000");
	add_file("mlx5_0/ports/1/gids/2", "0000:0000:0000:0000:0000:ffff:0a00:0011");
	add_file("mlx5_0/ports/1/gid_attrs/types/0", "IB/RoCE v1");
	add_file("mlx5_0/ports/1/gid_attrs/types/2", "RoCE v2");
	add_file("mlx5_0/ports/1/gid_attrs/ndevs/2", "eth0");
	add_file("../net/eth0/uevent", "INTERFACE=eth0");
	add_file("../net/eth0/qos/trust", "dscp");
	add_file("../net/eth0/qos/pfc", "00010001");
	look(2);
	made->cq[0].polls++;
	look(1);
	ask();
}

/* The same, and after that a state that has less. */
static void less(void)
{
	all();
	made->qp[0].mask = 0;
	made->qp[0].direct = 1;
	made->qp[0].max_send_wr = made->qp[0].max_recv_wr = made->qp[0].srq = 0;
	made->qp[0].send_cq = made->qp[0].recv_cq = 0;
	made->cq[0].row.gone = 1;
	made->srq[2].row.gone = 1;
	made->mr[0].rereg = EXPLAIN_MR_BROKEN;
	made->mr[1].row.pid = made->mr[2].row.pid = made->mr[3].row.pid = 0;
	share->process[0].rank = share->process[0].ranks = 0;
	share->process[0].libraries[0] = '\0';
	printf("less\n");
	fflush(stdout);
	ask();
}

/* On InfiniBand, by LIDs; and what a send and a failure leave out. */
static void infiniband(void)
{
	struct explain_qp_row *qp;

	make_process(10, "worker");
	qp = make_qp(0, 10, 17, 18);
	qp->has_gids = 0;
	qp->dlid = 9;
	qp->direct = 1;
	make_request(qp, 0);
	qp = make_qp(1, 10, 19, 20);
	qp->mask = MASK_PORT;
	qp->srq = 3;
	qp->has_srq = 1;
	make_request(qp, 2);
	qp->errors = 1;
	qp->failed_status = 12;
	qp->failed_at = now - 4000000000;
	qp->failed_id = 0;
	qp->row.gone = 1;
	qp = make_qp(4, 10, 25, 26);
	qp->mask = 0;
	make_request(qp, 3);
	qp = make_qp(2, 10, 21, 22);
	qp->port = 0;
	qp = make_qp(3, 10, 23, 24);
	qp->mask = 0;
	qp->state = 1;
	add_file("mlx5_0/fw_ver", "");
	add_file("mlx5_0/ports/1/link_layer", "InfiniBand");
	add_file("mlx5_0/ports/1/state", "1: DOWN");
	add_file("mlx5_0/ports/1/rate", "100 Gb/sec (4X EDR)");
	add_file("mlx5_0/ports/1/lid", "0x10007");
	add_file("mlx5_0/ports/1/gids/0", "fe80:0000:0000:0000:0000:0000:0000:0001");
	add_file("mlx5_0/ports/1/gid_attrs/types/0", "IB/RoCE v1");
	ask();
}

/* Datagrams: the last one tells where they go. */
static void datagrams(void)
{
	struct explain_qp_row *qp;

	make_process(10, "worker");
	for (unsigned int i = 0; i < 4; i++) {
		qp = make_qp(i, 10, 17 + i, 0);
		qp->type = UD;
		qp->mask = MASK_PORT | MASK_QKEY;
		qp->qkey = 0x33;
		qp->has_gids = 0;
		if (i)
			make_request(qp, 2);
		qp->request[0] = qp->request[3];
		qp->request[0].number = i ? 8 : 0;
		qp->request[0].qp_num = 66;
		qp->request[3].ah = i == 1 ? 0xa1 : 0xa0;
	}
	made->qp[3].request[5] = made->qp[3].request[3];
	made->qp[3].request[5].number = 10;
	made->qp[3].request[5].signaled = 8;
	made->qp[3].request[5].qp_num = 88;
	made->ah[0].row.pid = 10;
	made->ah[0].row.version = 2;
	made->ah[0].ah = 0xa0;
	made->ah[0].has_gids = 1;
	made->ah[0].sgid_index = 5;
	made->ah[0].peer_gid[0] = 0xfe;
	made->ah[0].peer_gid[1] = 0x80;
	made->ah[0].peer_gid[15] = 3;
	ask();
}

/* ---- What is known of interfaces: one queue pair each, on a port of its own -------------------------------------- */

static char paths[512][96];

static void add_to(unsigned int port, const char *name, const char *text)
{
	static unsigned int count;

	snprintf(paths[count], sizeof(paths[0]), "mlx5_0/ports/%u/%s", port, name);
	add_file(paths[count++], text);
}

static void interfaces(void)
{
	static const struct {
		const char *type, *link_layer, *name, *tc;
	} rows[] = {
		{"RoCE v2", "Ethernet", "vlan5", NULL},
		{"RoCE v2", "Ethernet", "bond0", NULL},
		{"RoCE v2", "Ethernet", "br0", NULL},
		{"RoCE v2", "Ethernet", "../x", NULL},
		{"RoCE v2", "Ethernet", ".x", NULL},
		{"RoCE v2", "Ethernet", "", NULL},
		{"IB/RoCE v1", "Ethernet", "eth0", NULL},
		{"IB/RoCE v1", "InfiniBand", "eth0", NULL},
		{"IB/RoCE v1", "Other", "eth0", NULL},
		{"RoCE v3", "Ethernet", "eth0", NULL},
		{"RoCE v2", "Ethernet", "eth0", "Global tclass=106"},
		{"RoCE v2", "Ethernet", "eth0", "Global tclass=-1"},
		{"RoCE v2", "Ethernet", "pcp0", NULL},
		{"RoCE v2", "Ethernet", "few0", NULL},
	};

	make_process(10, "worker");
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		make_qp(i, 10, 17 + i, 99)->port = i + 1;
		add_to(i + 1, "link_layer", rows[i].link_layer);
		add_to(i + 1, "gid_attrs/types/2", rows[i].type);
		add_to(i + 1, "gid_attrs/ndevs/2", rows[i].name);
		if (rows[i].tc) {
			snprintf(paths[500 + i], sizeof(paths[0]),
				 "mlx5_0/ports/%u/../../tc/%u/traffic_class", i + 1, i + 1);
			add_file(paths[500 + i], rows[i].tc);
		}
	}
	add_file("../net/vlan5/uevent", "DEVTYPE=vlan");
	add_file("../../../proc/net/vlan/vlan5", "vlan5  VID: 4101\t REORDER_HDR: 1");
	add_file("../net/bond0/uevent", "DEVTYPE=bond");
	add_file("../net/br0/uevent", "DEVTYPE=bridge");
	add_file("../net/eth0/uevent", "INTERFACE=eth0");
	add_file("../net/eth0/qos/trust", "dscp");
	add_file("../net/eth0/qos/pfc", "10000000");
	add_file("../net/pcp0/qos/trust", "pcp");
	add_file("../net/pcp0/qos/pfc", "10000000");
	add_file("../net/few0/qos/trust", "dscp");
	add_file("../net/few0/qos/pfc", "1000000");
	ask();
}

/* Sixteen ports, and 64 GIDs of one, are kept; a table ends where eight in a row are empty. */
static void many(void)
{
	static char gid[80][40];
	unsigned int rows = 0;

	make_process(10, "worker");
	for (unsigned int i = 0; i < 18; i++)
		make_qp(i, 10, 17 + i, 99)->port = i + 1;
	make_qp(18, 10, 50, 99)->port = 1;
	for (unsigned int i = 0; i < 17; i++)
		add_to(i + 1, "link_layer", "Ethernet");
	add_to(1, "gids/0", "fe80:0000:0000:0000:0000:0000:0000:0001");
	for (unsigned int i = 1; i < 17; i++) {
		snprintf(gid[rows], sizeof(gid[0]), "gids/%u", i);
		add_to(1, gid[rows++],
		       i == 8 || i == 16 ? "fe80:0000:0000:0000:0000:0000:0000:0002"
					 : "0000:0000:0000:0000:0000:0000:0000:0000");
	}
	add_to(2, "gids/0", "no GID");
	add_to(3, "rate", "-5 Gb/sec");
	add_to(4, "rate", "1000000 Gb/sec");
	add_to(5, "rate", "999999 Gb/sec");
	ask();
}

static void many_gids(void)
{
	static char text[80][48], name[80][32];

	make_process(10, "worker");
	make_qp(0, 10, 17, 99);
	for (unsigned int i = 0; i < 80; i++) {
		snprintf(name[i], sizeof(name[0]), "mlx5_0/ports/1/gids/%u", i);
		snprintf(text[i], sizeof(text[0]), "fe80::%x", i + 1);
		add_file(name[i], text[i]);
	}
	ask();
}

/* ---- How processes end ------------------------------------------------------------------------------------------ */

/* Each ends in a way of its own, a second after the other; who asks hears of each once. */
static void ends(void)
{
	for (int i = 0; i < 6; i++) {
		struct explain_process *const process = make_process(20 + i, "worker");

		process->rank = 1 + (uint32_t)i;
		process->exited = i == 1;
		if (i == 2)
			process->status = 1 + 9;
		if (i == 3)
			process->status = 1 + 256;
	}
	make_process(30, "other");
	look(1);
	for (int i = 0; i < 4; i++) {
		states_of[20 + i] = '\0';
		look(1);
	}
	states_of[24] = 'T';
	printf("asked\n");
	fflush(stdout);
	ask();
	printf("and again\n");
	fflush(stdout);
	ask();
	/* Another one has its number. */
	states_of[20] = 'R';
	share->process[0].rank = 7;
	look(1);
	states_of[20] = '\0';
	look(1);
}

/* A signal that was passed on ends all, be it that they exit by themselves. */
static void passed(void)
{
	for (int i = 0; i < 3; i++) {
		struct explain_process *const process = make_process(20 + i, "worker");

		process->rank = 1 + (uint32_t)i;
		process->exited = 1;
		if (i == 1)
			process->status = 1 + 9;
		if (i == 2)
			process->status = 1;
	}
	look(1);
	explain_record_signal(SIGTERM);
	for (int i = 0; i < 3; i++)
		states_of[20 + i] = '\0';
	look(1);
}

/* The command's own process: how it has ended is known of it alone. */
static void ended(void)
{
	make_process(20, "worker")->rank = 1;
	make_process(21, "worker")->rank = 2;
	make_process(22, "worker")->rank = 3;
	look(1);
	explain_record_ended(20, 9);
	explain_record_ended(21, 0);
	states_of[20] = states_of[21] = '\0';
	now += 2000 * ms;
	states_of[22] = '\0';
	explain_judge_end(&output, true);
}

/* Processes that somebody has forged, and those beyond what anybody has. */
static void forged(void)
{
	share->process[5].pid = -1;
	share->process[5].rank = 3;
	make_process(10, "worker")->rank = 1;
	for (int i = 0; i < 600; i++) {
		make_qp((unsigned int)i, 100 + i, 17, 18)->mask = 0;
		states_of[100 + i] = 'S';
	}
	ask();
	explain_record_ended(900, 0);
}

/* ---- The page that compares ------------------------------------------------------------------------------------- */

/* QP 17 of process 10 waits for QP 18 of process 11, whose PSN is another one. */
static void make_pair(void)
{
	struct explain_qp_row *qp;

	for (unsigned int i = 0; i < 2; i++) {
		make_process(10 + (int)i, i ? "receiver" : "sender")->rank = 1 + i;
		qp = make_qp(i, 10 + (int)i, 17 + i, 18 - i);
		qp->mask |= MASK_SQ_PSN | MASK_RQ_PSN;
		qp->sq_psn = qp->rq_psn = 5;
		qp->recvs = 1;
		qp->send_cq = qp->recv_cq = 1 + i;
		made->cq[i].row.pid = 10 + (int)i;
		made->cq[i].row.version = 2;
		snprintf(made->cq[i].device, sizeof(made->cq[i].device), "mlx5_0");
		made->cq[i].cqe = 64;
		made->cq[i].channel = -1;
	}
	made->qp[1].rq_psn = 6;
	made->qp[0].sends = made->qp[0].signaled = 1;
	made->qp[0].request[0].number = 1;
	made->qp[0].request[0].opcode = 2;
	made->qp[0].request[0].length = 64;
	output.json = -1;
}

static void wait_for(unsigned int seconds)
{
	for (unsigned int i = 0; i < seconds; i++) {
		made->cq[0].polls++;
		look(1);
	}
}

/* One request is done, and another one posted. */
static void go_on(void)
{
	made->qp[0].sends_done++;
	made->qp[0].sends++;
	made->qp[0].signaled++;
}

/* Of what waits the page is said once, and again where its top is another one, after a minute. */
static void page(void)
{
	make_pair();
	wait_for(8);
	fprintf(stderr, "asked\n");
	ask();
	fprintf(stderr, "something new within a minute\n");
	made->qp[1].rq_psn = 5;
	made->qp[1].sq_psn = 7;
	go_on();
	wait_for(56);
	fprintf(stderr, "and after it\n");
	go_on();
	wait_for(8);
	fprintf(stderr, "the same after another one\n");
	wait_for(60);
	go_on();
	wait_for(8);
}

/* At the end only what has failed, or waits. */
static void page_at_end(void)
{
	make_pair();
	look(1);
	made->qp[0].signaled = 0;
	explain_judge_end(&output, true);
	made->qp[0].failed_at = now;
	made->qp[0].failed_status = 12;
	fprintf(stderr, "as a line\n");
	output.line = true;
	explain_judge_end(&output, true);
	output.line = false;
	fprintf(stderr, "one of the two alone\n");
	made->qp[1].row.pid = 0;
	explain_judge_end(&output, true);
	fprintf(stderr, "both\n");
	made->qp[1].row.pid = 11;
	explain_judge_end(&output, true);
}

/* Many come to wait one after the other: their states are written every two seconds. */
static void often(void)
{
	make_pair();
	output.json = STDOUT_FILENO;
	output.log = open("/dev/null", O_WRONLY | O_CLOEXEC);
	explain_judge_before(&output, EXPLAIN_QUIET, true);
	now += 1999 * ms;
	explain_judge_before(&output, EXPLAIN_QUIET, true);
	printf("asked\n");
	fflush(stdout);
	explain_judge_before(&output, EXPLAIN_ASKED, true);
	now += 2000 * ms;
	printf("later\n");
	fflush(stdout);
	explain_judge_before(&output, EXPLAIN_QUIET, true);
}

int main(int argc, char *argv[])
{
	static const struct {
		const char *name;
		void (*run)(void);
	} cases[] = {
		{"all", all},
		{"less", less},
		{"infiniband", infiniband},
		{"datagrams", datagrams},
		{"interfaces", interfaces},
		{"many", many},
		{"many_gids", many_gids},
		{"ends", ends},
		{"passed", passed},
		{"ended", ended},
		{"forged", forged},
		{"page", page},
		{"page_at_end", page_at_end},
		{"often", often},
	};

	share = calloc(1, sizeof(*share));
	made = calloc(1, sizeof(*made));
	if (!share || !made || argc != 2)
		return 2;
	explain_sight = (struct explain_sight){clock_of_test, state_in_test, time_in_test,
					       thread_in_test, read_in_test};
	explain_record_look(&output); /* before it has begun there is nothing to look at */
	explain_judge_begin(made, share, 5);
	explain_record_begin(share);
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (!strcmp(cases[i].name, argv[1])) {
			cases[i].run();
			return 0;
		}
	return 2;
}
