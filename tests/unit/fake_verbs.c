/* SPDX-License-Identifier: MIT */
/*
 * The fake libibverbs follows the rules it claims to follow. The transition table is read from the
 * kernel's here, and again by the fake's generator: neither trusts the other.
 *
 * Run from the repository's root, or name the tests folder: fake_verbs [tests]
 */
#define _POSIX_C_SOURCE 200809L /* popen */
#include <arpa/inet.h>
#include <errno.h>
#include "tap.h"
#include "fake_verbs.h"

enum {
	STANDARD_BITS = (1 << 21) - 1,
	STATES = IBV_QPS_ERR + 1,
};

static const char *tests_dir = "tests";

static const enum ibv_qp_type types[] = {
	IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD, IBV_QPT_RAW_PACKET, IBV_QPT_XRC_SEND, IBV_QPT_XRC_RECV,
};
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- The kernel's table ------------------------------------------------------------------- */

/* The kernel's words, each at its number. */
static const char *const states[] = {"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};

/* The last two are the kernel's own and have numbers of ours. */
static const char *const type_names[] = {
	[IBV_QPT_RC] = "RC",
	[IBV_QPT_UC] = "UC",
	[IBV_QPT_UD] = "UD",
	[IBV_QPT_RAW_PACKET] = "RAW_PACKET",
	[IBV_QPT_XRC_SEND] = "XRC_INI",
	[IBV_QPT_XRC_RECV] = "XRC_TGT",
	"SMI",
	"GSI",
};

static const char *const bits[] = {
	"STATE",
	"CUR_STATE",
	"EN_SQD_ASYNC_NOTIFY",
	"ACCESS_FLAGS",
	"PKEY_INDEX",
	"PORT",
	"QKEY",
	"AV",
	"PATH_MTU",
	"TIMEOUT",
	"RETRY_CNT",
	"RNR_RETRY",
	"RQ_PSN",
	"MAX_QP_RD_ATOMIC",
	"ALT_PATH",
	"MIN_RNR_TIMER",
	"SQ_PSN",
	"MAX_DEST_RD_ATOMIC",
	"PATH_MIG_STATE",
	"CAP",
	"DEST_QPN",
	[25] = "RATE_LIMIT",
};

static struct fake_rule kernel[STATES][STATES][IBV_QPT_XRC_RECV + 1];

static int number_of(const char *const *words, size_t count, const char *word)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (words[i] && strcmp(words[i], word) == 0)
			return (int)i;
	tap_bail("the kernel's table has an unknown word: %s", word);
	return -1;
}

/* Cut off and return the text up to the separator. */
static char *cut(char **rest, const char *separators)
{
	char *word = *rest;
	size_t length = strcspn(word, separators);

	*rest = word + length + (word[length] != '\0');
	word[length] = '\0';
	return word;
}

static int mask_of(char *names)
{
	const size_t prefix = strlen("IBV_QP_");
	int mask = 0;

	if (strcmp(names, "-") == 0)
		return 0;
	while (*names)
		mask |= 1 << number_of(bits, COUNT(bits), cut(&names, "|") + prefix);
	return mask;
}

static FILE *open_file(const char *name)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", tests_dir, name);
	file = fopen(path, "r");
	if (!file)
		tap_bail("cannot read %s: %s", path, strerror(errno));
	return file;
}

static void read_kernel_table(void)
{
	FILE *file = open_file("data/qp-state-table.tsv");
	int rows = 0, from, to, type;
	char line[1024], *rest;

	if (!fgets(line, sizeof(line), file))
		tap_bail("the kernel's table is empty");
	while (fgets(line, sizeof(line), file)) {
		rest = line;
		from = number_of(states, COUNT(states), cut(&rest, "\t"));
		to = number_of(states, COUNT(states), cut(&rest, "\t"));
		type = number_of(type_names, COUNT(type_names), cut(&rest, "\t"));
		if (type <= IBV_QPT_XRC_RECV) {
			kernel[from][to][type].legal = true;
			kernel[from][to][type].required = mask_of(cut(&rest, "\t"));
			kernel[from][to][type].optional = mask_of(cut(&rest, "\t\r\n"));
			rows++;
		}
	}
	fclose(file);
	tap_eq_int(rows, 22 * 6, "the kernel's table has 22 legal transitions for each of 6 types");
}

static void test_table_is_the_kernels(void)
{
	struct fake_rule ours, theirs;
	int differences = 0, from, to;
	size_t t;

	for (t = 0; t < COUNT(types); t++) {
		for (from = 0; from < STATES; from++) {
			for (to = 0; to < STATES; to++) {
				ours = fake_qp_rule(types[t], (enum ibv_qp_state)from,
						    (enum ibv_qp_state)to);
				theirs = kernel[from][to][types[t]];
				if (ours.legal != theirs.legal ||
				    ours.required != theirs.required ||
				    ours.optional != theirs.optional)
					differences++;
			}
		}
	}
	tap_eq_int(differences, 0, "the fake's table is the kernel's, for all types and pairs");
	tap_ok(!fake_qp_rule(IBV_QPT_RC, IBV_QPS_UNKNOWN, IBV_QPS_RESET).legal,
	       "a transition from an unknown state is not legal");
}

static void test_table_is_generated(void)
{
	FILE *checked_in = open_file("fake/qp_table.h");
	FILE *generated;
	char command[2048];
	int bytes = 0, a, b;

	snprintf(command, sizeof(command), "awk -f '%s/fake/qp_table.awk' '%s/%s'", tests_dir,
		 tests_dir, "data/qp-state-table.tsv");
	generated = popen(command, "r");
	if (!generated)
		tap_bail("cannot run awk: %s", strerror(errno));
	do {
		a = getc(checked_in);
		b = getc(generated);
		bytes += a != EOF;
	} while (a == b && a != EOF);
	fclose(checked_in);
	tap_eq_int(pclose(generated), 0, "the table's generator runs");
	tap_ok(a == b && bytes > 1000, "the table's generator writes what is checked in");
}

/* ---- Every transition --------------------------------------------------------------------- */

/* Attributes that are right for every transition on a native InfiniBand port. */
static struct ibv_qp_attr good_attr(enum ibv_qp_state from, enum ibv_qp_state to)
{
	struct ibv_qp_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.qp_state = to;
	attr.cur_qp_state = from;
	attr.path_mtu = IBV_MTU_1024;
	attr.qkey = 0x11111111;
	attr.rq_psn = 0x123456;
	attr.sq_psn = 0x654321;
	attr.dest_qp_num = 77;
	attr.qp_access_flags = IBV_ACCESS_REMOTE_READ;
	attr.port_num = attr.ah_attr.port_num = 1;
	attr.alt_port_num = attr.alt_ah_attr.port_num = 1;
	attr.ah_attr.dlid = 2;
	attr.timeout = 14;
	attr.retry_cnt = attr.rnr_retry = 7;
	attr.min_rnr_timer = 12;
	attr.max_rd_atomic = attr.max_dest_rd_atomic = 1;
	return attr;
}

/* What the kernel answers to a program that passes good attributes on a native InfiniBand port. */
static int expected(enum ibv_qp_type type, enum ibv_qp_state from, enum ibv_qp_state to, int mask)
{
	struct fake_rule rule;

	if (mask & ~STANDARD_BITS)
		return EOPNOTSUPP;
	if (!(mask & IBV_QP_STATE))
		to = from;
	else if (to == IBV_QPS_RTR)
		goto table; /* the path's port was given for INIT */
	if (mask & IBV_QP_AV)
		mask |= IBV_QP_PORT;
table:
	if (type == IBV_QPT_XRC_SEND)
		mask &= ~(IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	if (type == IBV_QPT_XRC_RECV)
		mask &= ~(IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY);
	rule = kernel[from][to][type];
	if (!rule.legal || (rule.required & ~mask) ||
	    (mask & ~(rule.required | rule.optional | IBV_QP_STATE)))
		return EINVAL;
	return 0;
}

static int try_mask(struct ibv_qp *qp, enum ibv_qp_state from, enum ibv_qp_state to, int mask)
{
	struct ibv_qp_attr attr = good_attr(from, to);
	enum ibv_qp_state after;
	int want = expected(qp->qp_type, from, to, mask);
	int got;

	fake_qp_force(qp, from);
	qp->state = IBV_QPS_UNKNOWN;
	got = ibv_modify_qp(qp, &attr, mask);
	after = !want && mask & IBV_QP_STATE ? to : from;
	if (got == want && fake_qp_true(qp)->qp_state == after &&
	    qp->state == (!want && mask & IBV_QP_STATE ? to : IBV_QPS_UNKNOWN))
		return want ? 0 : 1;
	tap_diag("type %d, %s to %s, mask 0x%x: got %d in %s, want %d in %s", qp->qp_type,
		 states[from], states[to], (unsigned int)mask, got,
		 states[fake_qp_true(qp)->qp_state], want, states[after]);
	return -1;
}

/* The smallest mask, and it with each bit, and each two bits, taken out or put in. */
static void test_every_transition(enum ibv_qp_type type)
{
	struct ibv_qp *qp;
	int from, to, wrong = 0, accepted = 0, legal = 0, minimal, i, j, result;
	struct fake_device *dev = fake_reset();

	fake_port_infiniband(&dev->port[1]);
	qp = fake_qp(fake_open(dev), type);
	for (from = 0; from < STATES; from++) {
		for (to = 0; to < STATES; to++) {
			minimal = kernel[from][to][type].required | IBV_QP_STATE;
			result = try_mask(qp, (enum ibv_qp_state)from, (enum ibv_qp_state)to,
					  minimal);
			legal += result == 1;
			for (i = 0; i < 32; i++) {
				for (j = 0; j <= i && wrong < 10; j++) {
					int flip = (int)(1u << i | 1u << j);

					result = try_mask(qp, (enum ibv_qp_state)from,
							  (enum ibv_qp_state)to, minimal ^ flip);
					wrong += result < 0;
					accepted += result == 1;
				}
			}
		}
	}
	tap_eq_int(legal, 22, "QP type %d: the minimal mask makes the 22 legal transitions", type);
	tap_eq_int(wrong, 0, "QP type %d: two bits from it all is as the kernel decides", type);
	tap_ok(accepted > 22, "QP type %d: %d of those masks are accepted", type, accepted);
	tap_eq_int(fake_close_all(), type == IBV_QPT_XRC_RECV ? 3 : 4, "and all is closed");
}

/* ---- The order of the kernel's checks ----------------------------------------------------- */

enum {
	INIT_MASK = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
	RTR_MASK = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		   IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
	RTS_MASK = IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
		   IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC,
};

/* Good attributes for a RoCE port: from its IPv4 address to another. */
static struct ibv_qp_attr roce_attr(enum ibv_qp_state to)
{
	static const uint8_t peer[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 99};
	struct ibv_qp_attr attr = good_attr(IBV_QPS_RESET, to);

	attr.ah_attr.dlid = 0;
	attr.ah_attr.is_global = 1;
	attr.ah_attr.grh.sgid_index = 3;
	attr.ah_attr.grh.hop_limit = 1;
	memcpy(attr.ah_attr.grh.dgid.raw, peer, sizeof(peer));
	return attr;
}

static struct ibv_qp *roce_qp(struct fake_device *dev, enum ibv_qp_type type,
			      enum ibv_qp_state state)
{
	struct ibv_qp *qp = fake_qp(fake_open(dev), type);

	fake_qp_force(qp, state);
	return qp;
}

/* Each mistake is made together with a later one, so only the order explains the answer. */
static void test_order_of_system_call(void)
{
	struct fake_device *dev = fake_reset();
	struct ibv_qp *qp = roce_qp(dev, IBV_QPT_UD, IBV_QPS_RESET);
	const int ud = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;
	struct ibv_qp_attr attr = roce_attr(IBV_QPS_INIT);
	int bit;

	attr.port_num = 2;
	for (bit = 21; bit < 32; bit++)
		tap_eq_int(ibv_modify_qp(qp, &attr, ud | (int)(1u << bit)), EOPNOTSUPP,
			   "mask bit %d is unknown, before the port is looked at", bit);
	attr.qkey = 0x80000000;
	tap_eq_int(ibv_modify_qp(qp, &attr, ud), EINVAL, "a wrong port hides a privileged Q_Key");
	attr.port_num = 0;
	tap_eq_int(ibv_modify_qp(qp, &attr, ud), EINVAL, "there is no port 0");
	attr.port_num = 1;
	attr.qp_state = IBV_QPS_UNKNOWN;
	tap_eq_int(ibv_modify_qp(qp, &attr, ud), EINVAL, "an unknown state hides it too");
	attr.qp_state = IBV_QPS_INIT;
	tap_eq_int(ibv_modify_qp(qp, &attr, ud | IBV_QP_AV), EPERM,
		   "a privileged Q_Key hides an attribute that UD does not have");
	attr.ah_attr.port_num = 2;
	tap_eq_int(ibv_modify_qp(qp, &attr, ud | IBV_QP_AV), EINVAL,
		   "the wrong port of a path hides a privileged Q_Key");
	attr.ah_attr.port_num = 1;
	dev->quirks = FAKE_PRIVILEGED_QKEY;
	tap_eq_int(ibv_modify_qp(qp, &attr, ud), 0, "a privileged caller may set that Q_Key");
	tap_eq_int(fake_out_of_bounds(), 0, "a wrong port of a UD queue pair harms nobody");
	fake_close_all();
}

static void test_order_of_core(void)
{
	struct fake_device *dev = fake_reset();
	struct ibv_qp *qp = roce_qp(dev, IBV_QPT_RC, IBV_QPS_INIT);
	const int wrong = RTR_MASK | IBV_QP_CAP;
	struct ibv_qp_attr attr;

	attr = roce_attr(IBV_QPS_RTR);
	attr.ah_attr.is_global = 0;
	tap_eq_int(ibv_modify_qp(qp, &attr, RTR_MASK), EINVAL, "a RoCE path needs a GRH");
	dev->port[1].attr.flags = 0;
	tap_eq_int(ibv_modify_qp(qp, &attr, RTR_MASK), EINVAL,
		   "a RoCE path needs a GRH even where the port's flag does not say so");

	attr = roce_attr(IBV_QPS_RTR);
	attr.ah_attr.grh.sgid_index = 16;
	tap_eq_int(ibv_modify_qp(qp, &attr, wrong), EINVAL, "sgid_index 16 is beyond the table");
	attr.ah_attr.grh.sgid_index = 15;
	tap_eq_int(ibv_modify_qp(qp, &attr, wrong), ENODATA,
		   "an empty GID row is reported before a wrong mask");
	attr.ah_attr.grh.sgid_index = 5;
	dev->neighbour_errno = ETIMEDOUT;
	tap_eq_int(ibv_modify_qp(qp, &attr, RTR_MASK), EINVAL,
		   "an IPv6 GID cannot reach an IPv4 one, which needs no neighbour to find out");
	attr.ah_attr.grh.sgid_index = 3;
	tap_eq_int(ibv_modify_qp(qp, &attr, wrong), ETIMEDOUT,
		   "a silent neighbour is reported before a wrong mask");
	dev->neighbour_errno = EHOSTUNREACH;
	tap_eq_int(ibv_modify_qp(qp, &attr, RTR_MASK), EHOSTUNREACH, "so is a missing route");
	attr.alt_ah_attr.port_num = 2;
	tap_eq_int(ibv_modify_qp(qp, &attr, RTR_MASK | IBV_QP_ALT_PATH), EINVAL,
		   "the wrong port of an alternate path is reported before it");
	dev->neighbour_errno = 0;
	tap_eq_int(ibv_modify_qp(qp, &attr, wrong), EINVAL, "then the mask is looked at");

	attr = roce_attr(IBV_QPS_RTR);
	attr.alt_ah_attr = attr.ah_attr;
	tap_eq_int(ibv_modify_qp(qp, &attr, RTR_MASK | IBV_QP_ALT_PATH), EINVAL,
		   "RoCE has no alternate path");
	tap_eq_int(fake_qp_true(qp)->qp_state, IBV_QPS_INIT, "none of this changed the state");
	tap_eq_int(ibv_modify_qp(qp, &attr, RTR_MASK), 0, "without all these mistakes it moves");
	fake_close_all();
}

static void test_neighbour_is_not_always_asked(void)
{
	static const uint8_t link_local[16] = {0xfe, 0x80, [15] = 9};
	static const uint8_t multicast[16] = {0xff, 0x02, [15] = 1};
	static const uint8_t multicast4[16] = {[10] = 0xff, 0xff, 224, 0, 0, 1};
	struct fake_device *dev = fake_reset();
	struct ibv_qp *qp = roce_qp(dev, IBV_QPT_UC, IBV_QPS_INIT);
	const int uc = RTR_MASK & ~(IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	struct ibv_qp_attr attr = roce_attr(IBV_QPS_RTR);

	dev->neighbour_errno = ENETUNREACH;
	memcpy(attr.ah_attr.grh.dgid.raw, link_local, 16);
	attr.ah_attr.grh.sgid_index = 1;
	tap_eq_int(ibv_modify_qp(qp, &attr, uc), ENETUNREACH, "RoCE v2 link-local takes a route");
	attr.ah_attr.grh.sgid_index = 0;
	tap_eq_int(ibv_modify_qp(qp, &attr, uc), 0, "RoCE v1 link-local holds its MAC address");
	tap_eq_int(fake_qp_true(qp)->ah_attr.grh.hop_limit, 1, "and keeps the given hop limit");
	fake_qp_force(qp, IBV_QPS_INIT);
	memcpy(attr.ah_attr.grh.dgid.raw, multicast, 16);
	attr.ah_attr.grh.sgid_index = 3;
	tap_eq_int(ibv_modify_qp(qp, &attr, uc), 0, "so does IPv6 multicast");
	fake_qp_force(qp, IBV_QPS_INIT);
	memcpy(attr.ah_attr.grh.dgid.raw, multicast4, 16);
	tap_eq_int(ibv_modify_qp(qp, &attr, uc), 0, "so does IPv4 multicast");
	fake_close_all();
}

static void test_who_asks_the_neighbour(void)
{
	struct fake_device *dev = fake_reset();
	struct ibv_qp_attr attr = roce_attr(IBV_QPS_RTR);
	size_t t;

	dev->neighbour_errno = ETIMEDOUT;
	for (t = 0; t < COUNT(types); t++) {
		bool connected = types[t] != IBV_QPT_UD && types[t] != IBV_QPT_RAW_PACKET;

		tap_eq_int(ibv_modify_qp(roce_qp(dev, types[t], IBV_QPS_INIT), &attr,
					 IBV_QP_STATE | IBV_QP_AV),
			   connected ? ETIMEDOUT : EINVAL, "QP type %d is %s", types[t],
			   connected ? "connected, so its path is resolved" : "not connected");
	}
	fake_close_all();
}

static void test_alternate_path(void)
{
	struct fake_device *dev = fake_reset();
	const int mask = RTR_MASK | IBV_QP_ALT_PATH;
	struct ibv_qp_attr attr = good_attr(IBV_QPS_INIT, IBV_QPS_RTR);
	struct ibv_qp *qp;

	dev->ports = 2;
	fake_port_infiniband(&dev->port[1]);
	fake_port_infiniband(&dev->port[2]);
	qp = roce_qp(dev, IBV_QPT_RC, IBV_QPS_INIT);
	attr.alt_port_num = 2;
	tap_eq_int(ibv_modify_qp(qp, &attr, mask), EINVAL, "both port numbers of it must agree");
	attr.alt_ah_attr.port_num = 2;
	attr.alt_ah_attr.is_global = 1;
	attr.alt_ah_attr.grh.sgid_index = 1;
	tap_eq_int(ibv_modify_qp(qp, &attr, mask), ENODATA, "its GID row must be filled");
	attr.alt_ah_attr.is_global = 0;
	dev->port[2].attr.flags = IBV_QPF_GRH_REQUIRED;
	tap_eq_int(ibv_modify_qp(qp, &attr, mask), EINVAL, "its port may need a GRH");
	attr.alt_ah_attr.is_global = 1;
	attr.alt_ah_attr.grh.sgid_index = 0;
	dev->port[2].attr.link_layer = IBV_LINK_LAYER_ETHERNET;
	tap_eq_int(ibv_modify_qp(qp, &attr, mask), EINVAL, "its port must not be RoCE");
	dev->port[2].attr.link_layer = IBV_LINK_LAYER_INFINIBAND;
	tap_eq_int(ibv_modify_qp(qp, &attr, mask), 0, "it may lie on the other port");
	tap_eq_int(fake_qp_true(qp)->alt_port_num, 2, "which is taken");
	tap_eq_int(fake_qp_true(qp)->alt_ah_attr.is_global, 1, "with the path");
	fake_close_all();
}

/* What the mask does not name may hold anything. */
static void test_garbage_is_not_read(void)
{
	struct fake_device *dev = fake_reset();
	struct ibv_qp *qp = roce_qp(dev, IBV_QPT_RC, IBV_QPS_INIT);
	struct ibv_qp_attr attr;

	dev->quirks = FAKE_STRICT_RANGES | FAKE_NO_ROCE_V1 | FAKE_MTU_UP_TO_ACTIVE |
		      FAKE_MTU_UP_TO_MAX | FAKE_CUR_STATE_EQUAL;
	memset(&attr, 0xee, sizeof(attr));
	attr.pkey_index = 1;
	tap_eq_int(ibv_modify_qp(qp, &attr, IBV_QP_PKEY_INDEX), 0, "only pkey_index is read");
	tap_eq_int(fake_qp_true(qp)->pkey_index, 1, "and set");
	tap_eq_int(fake_qp_true(qp)->port_num, 1, "nothing else is");
	tap_eq_int(fake_qp_true(qp)->qp_access_flags, 0, "really nothing");
	attr.cur_qp_state = IBV_QPS_UNKNOWN;
	tap_eq_int(ibv_modify_qp(qp, &attr, IBV_QP_CUR_STATE), EINVAL, "a named state is");
	fake_close_all();
}

static void test_ports_of_a_path(void)
{
	struct fake_device *dev = fake_reset();
	struct ibv_qp *qp;
	struct ibv_qp_attr attr;

	dev->ports = 2;
	qp = roce_qp(dev, IBV_QPT_RC, IBV_QPS_RESET);
	attr = roce_attr(IBV_QPS_INIT);
	attr.port_num = 2;
	tap_eq_int(ibv_modify_qp(qp, &attr, INIT_MASK), 0, "port 2 is taken at INIT");
	attr = roce_attr(IBV_QPS_RTR);
	tap_eq_int(ibv_modify_qp(qp, &attr, RTR_MASK), EINVAL, "at RTR the path must use port 2");
	attr.ah_attr.port_num = 2;
	tap_eq_int(ibv_modify_qp(qp, &attr, RTR_MASK), 0, "and may");
	fake_qp_force(qp, IBV_QPS_SQD);
	attr.port_num = 1;
	tap_eq_int(ibv_modify_qp(qp, &attr, IBV_QP_AV | IBV_QP_PORT), EINVAL,
		   "a path and a port changed together must agree");
	attr.ah_attr.port_num = 1;
	attr.port_num = 9;
	tap_eq_int(ibv_modify_qp(qp, &attr, IBV_QP_AV), 0, "a path changed in SQD");
	tap_eq_int(fake_qp_true(qp)->port_num, 1, "takes the port with it");

	qp = roce_qp(dev, IBV_QPT_UC, IBV_QPS_SQD);
	tap_eq_int(ibv_modify_qp(qp, &attr, IBV_QP_AV), EINVAL,
		   "which is why UC, that cannot change its port, cannot change its path");
	fake_close_all();
}

static void test_driver_values(void)
{
	struct fake_device *dev = fake_reset();
	struct ibv_qp *qp = roce_qp(dev, IBV_QPT_RC, IBV_QPS_RESET);
	struct ibv_qp_attr attr = roce_attr(IBV_QPS_INIT);

	attr.pkey_index = 16;
	tap_eq_int(ibv_modify_qp(qp, &attr, INIT_MASK), EINVAL, "pkey_index 16 is out of range");
	attr.pkey_index = 15;
	tap_eq_int(ibv_modify_qp(qp, &attr, INIT_MASK), 0, "pkey_index 15 is not");
	attr = roce_attr(IBV_QPS_RTR);
	attr.path_mtu = (enum ibv_mtu)1024;
	tap_eq_int(ibv_modify_qp(qp, &attr, RTR_MASK), EINVAL, "path_mtu is not in bytes");
	attr.path_mtu = IBV_MTU_4096;
	attr.max_dest_rd_atomic = 17;
	tap_eq_int(ibv_modify_qp(qp, &attr, RTR_MASK), EINVAL, "max_dest_rd_atomic is limited");
	dev->attr.orig_attr.max_qp_rd_atom = 17;
	attr.rq_psn = 0xff123456;
	tap_eq_int(ibv_modify_qp(qp, &attr, RTR_MASK), 0,
		   "by the device; path_mtu above the active one is no error as such");
	tap_eq_hex(fake_qp_true(qp)->rq_psn, 0x123456, "a PSN is cut to 24 bits");
	tap_eq_int(fake_qp_true(qp)->ah_attr.grh.hop_limit, 64, "the hop limit is the route's");
	attr.max_rd_atomic = 17;
	attr.qp_state = IBV_QPS_RTS;
	tap_eq_int(ibv_modify_qp(qp, &attr, RTS_MASK), EINVAL,
		   "max_rd_atomic is limited by max_qp_init_rd_atom");
	attr.max_rd_atomic = 16;
	attr.timeout = 200;
	tap_eq_int(ibv_modify_qp(qp, &attr, RTS_MASK), 0, "what is too wide is the hardware's");
	tap_eq_int(qp->state, IBV_QPS_RTS, "the library's copy of the state followed");
	fake_close_all();
}

/* ---- Quirks ------------------------------------------------------------------------------- */

/* One attempt on a fresh queue pair. */
static int attempt(struct fake_device *dev, enum ibv_qp_type type, enum ibv_qp_state from,
		   struct ibv_qp_attr attr, int mask)
{
	struct ibv_qp *qp = roce_qp(dev, type, from);
	int got = ibv_modify_qp(qp, &attr, mask);

	fake_close_all();
	return got;
}

/* The attempt is accepted without the quirk and answered with want under it. */
#define QUIRK(quirk, want, ...)                                            \
	do {                                                               \
		int plain, under;                                          \
                                                                           \
		dev->quirks = 0;                                           \
		plain = attempt(dev, __VA_ARGS__);                         \
		dev->quirks = quirk;                                       \
		under = attempt(dev, __VA_ARGS__);                         \
		tap_eq_int(plain, 0, "without " #quirk " it is accepted"); \
		tap_eq_int(under, want, "under " #quirk " it is not");     \
	} while (0)

static void test_quirks_of_modify(void)
{
	struct fake_device *dev = fake_reset();
	struct ibv_qp_attr attr = roce_attr(IBV_QPS_SQD);
	struct ibv_qp *qp;

	QUIRK(FAKE_NO_SQD, EINVAL, IBV_QPT_RC, IBV_QPS_RTS, attr, IBV_QP_STATE);
	QUIRK(FAKE_NO_SQD, EINVAL, IBV_QPT_RC, IBV_QPS_SQD, attr, IBV_QP_PKEY_INDEX);
	attr = roce_attr(IBV_QPS_RTR);
	attr.path_mtu = IBV_MTU_2048;
	QUIRK(FAKE_MTU_UP_TO_ACTIVE, EINVAL, IBV_QPT_RC, IBV_QPS_INIT, attr, RTR_MASK);
	dev->port[1].attr.max_mtu = IBV_MTU_1024;
	QUIRK(FAKE_MTU_UP_TO_MAX, EINVAL, IBV_QPT_RC, IBV_QPS_INIT, attr, RTR_MASK);
	attr = roce_attr(IBV_QPS_RTR);
	attr.ah_attr.grh.sgid_index = 2;
	QUIRK(FAKE_NO_ROCE_V1, EINVAL, IBV_QPT_RC, IBV_QPS_INIT, attr, RTR_MASK);
	attr = roce_attr(IBV_QPS_RTR);
	attr.min_rnr_timer = 32;
	QUIRK(FAKE_STRICT_RANGES, EINVAL, IBV_QPT_RC, IBV_QPS_INIT, attr, RTR_MASK);
	attr = roce_attr(IBV_QPS_RTS);
	attr.timeout = 32;
	QUIRK(FAKE_STRICT_RANGES, EINVAL, IBV_QPT_RC, IBV_QPS_RTR, attr, RTS_MASK);
	attr.timeout = 31;
	attr.retry_cnt = 8;
	QUIRK(FAKE_STRICT_RANGES, EINVAL, IBV_QPT_RC, IBV_QPS_RTR, attr, RTS_MASK);
	attr.retry_cnt = 7;
	attr.rnr_retry = 8;
	QUIRK(FAKE_STRICT_RANGES, EINVAL, IBV_QPT_RC, IBV_QPS_RTR, attr, RTS_MASK);
	attr.rnr_retry = 7;
	tap_eq_int(attempt(dev, IBV_QPT_RC, IBV_QPS_RTR, attr, RTS_MASK), 0,
		   "under FAKE_STRICT_RANGES the largest values are accepted");
	attr.cur_qp_state = IBV_QPS_RTR;
	QUIRK(FAKE_CUR_STATE_EQUAL, EINVAL, IBV_QPT_RC, IBV_QPS_INIT, attr,
	      RTS_MASK | IBV_QP_CUR_STATE);
	QUIRK(FAKE_CUR_STATE_IGNORED, EINVAL, IBV_QPT_RC, IBV_QPS_INIT, attr,
	      RTS_MASK | IBV_QP_CUR_STATE);
	attr.cur_qp_state = IBV_QPS_SQD;
	QUIRK(FAKE_CUR_STATE_EQUAL, EINVAL, IBV_QPT_RC, IBV_QPS_RTS, attr,
	      IBV_QP_STATE | IBV_QP_CUR_STATE);
	attr.cur_qp_state = IBV_QPS_RTR;
	dev->quirks = FAKE_CUR_STATE_EQUAL;
	tap_eq_int(attempt(dev, IBV_QPT_RC, IBV_QPS_RTR, attr, RTS_MASK | IBV_QP_CUR_STATE), 0,
		   "under FAKE_CUR_STATE_EQUAL the true state is accepted");

	dev->quirks = FAKE_NEGATIVE_ERRNO;
	attr = roce_attr(IBV_QPS_RTS);
	tap_eq_int(attempt(dev, IBV_QPT_RC, IBV_QPS_INIT, attr, IBV_QP_STATE), -EINVAL,
		   "under FAKE_NEGATIVE_ERRNO the answer is -EINVAL");
	tap_eq_int(fake_last(FAKE_MODIFY_QP)->result, -EINVAL, "which is recorded");
	tap_eq_int(fake_last(FAKE_MODIFY_QP)->error, EINVAL, "as standing for EINVAL");

	dev->quirks = 0;
	attr = roce_attr(IBV_QPS_RTS);
	tap_eq_int(attempt(dev, IBV_QPT_RAW_PACKET, IBV_QPS_RTR, attr,
			   IBV_QP_STATE | IBV_QP_RATE_LIMIT),
		   EOPNOTSUPP, "the legacy command has no rate limit");
	dev->quirks = FAKE_EXTENDED_MODIFY;
	tap_eq_int(attempt(dev, IBV_QPT_RAW_PACKET, IBV_QPS_RTR, attr,
			   IBV_QP_STATE | IBV_QP_RATE_LIMIT),
		   0, "the extended command has one for RAW_PACKET");
	tap_eq_int(attempt(dev, IBV_QPT_RC, IBV_QPS_RTR, attr, RTS_MASK | IBV_QP_RATE_LIMIT),
		   EINVAL, "but not for RC");
	tap_eq_int(attempt(dev, IBV_QPT_RAW_PACKET, IBV_QPS_RTR, attr, IBV_QP_STATE | 1 << 24),
		   EOPNOTSUPP, "and still does not know bit 24");

	attr.rate_limit = 5000;
	qp = roce_qp(dev, IBV_QPT_RAW_PACKET, IBV_QPS_RTS);
	tap_eq_int(ibv_modify_qp(qp, &attr, IBV_QP_RATE_LIMIT), 0, "a rate limit in RTS");
	tap_eq_int(fake_qp_true(qp)->rate_limit, 5000, "is taken");

	dev->quirks = FAKE_RESET_IS_FINAL;
	qp = roce_qp(dev, IBV_QPT_RC, IBV_QPS_RTS);
	attr = roce_attr(IBV_QPS_RESET);
	tap_eq_int(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0,
		   "under FAKE_RESET_IS_FINAL it resets");
	attr = roce_attr(IBV_QPS_INIT);
	tap_eq_int(ibv_modify_qp(qp, &attr, INIT_MASK), EINVAL, "and cannot be used again");
	fake_close_all();
}

static void test_srd(void)
{
	struct fake_device *dev = fake_reset();
	struct ibv_qp_attr attr = roce_attr(IBV_QPS_RTS);
	int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;

	dev->qp_types |= FAKE_QPT(IBV_QPT_DRIVER);
	tap_eq_int(attempt(dev, IBV_QPT_DRIVER, IBV_QPS_RTR, attr, mask | IBV_QP_RNR_RETRY), 0,
		   "SRD has an RNR retry count");
	tap_eq_int(attempt(dev, IBV_QPT_UD, IBV_QPS_RTR, attr, mask | IBV_QP_RNR_RETRY), EINVAL,
		   "which UD does not have");
	tap_eq_int(attempt(dev, IBV_QPT_DRIVER, IBV_QPS_RTR, attr, mask | IBV_QP_TIMEOUT),
		   EOPNOTSUPP, "an attribute it never has is EOPNOTSUPP");
}

static void test_out_of_bounds(void)
{
	struct fake_device *dev = fake_reset();
	struct ibv_qp *qp = roce_qp(dev, IBV_QPT_RAW_PACKET, IBV_QPS_RESET);
	struct ibv_qp_attr attr = roce_attr(IBV_QPS_INIT);

	tap_eq_int(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PORT), 0, "port 1 is one");
	tap_eq_int(fake_out_of_bounds(), 0, "so nothing is read out of bounds");
	attr.port_num = 0;
	tap_eq_int(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PORT), EINVAL, "port 0 is not");
	attr.port_num = 2;
	fake_fail(FAKE_MODIFY_QP, 1, EIO);
	tap_eq_int(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PORT), EIO, "nor is port 2");
	tap_eq_int(fake_out_of_bounds(), 2, "the provider's library read twice out of bounds");
	attr.port_num = 9;
	tap_eq_int(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0, "a port not in the mask");
	tap_eq_int(fake_out_of_bounds(), 2, "is not looked at");
	fake_reset_log();
	tap_eq_int(fake_out_of_bounds(), 0, "and that is forgotten with the log");
	fake_close_all();
}

/* ---- State that goes stale ---------------------------------------------------------------- */

static void test_stale_state(void)
{
	struct fake_device *dev = fake_reset();
	struct ibv_qp *qp = roce_qp(dev, IBV_QPT_RC, IBV_QPS_RESET);
	struct ibv_qp_attr attr = roce_attr(IBV_QPS_INIT);
	struct ibv_qp_init_attr init;

	tap_eq_int(ibv_modify_qp(qp, &attr, INIT_MASK), 0, "RESET to INIT");
	attr = roce_attr(IBV_QPS_RTR);
	tap_eq_int(ibv_modify_qp(qp, &attr, RTR_MASK), 0, "INIT to RTR");
	attr = roce_attr(IBV_QPS_RTS);
	tap_eq_int(ibv_modify_qp(qp, &attr, RTS_MASK), 0, "RTR to RTS");
	fake_qp_force(qp, IBV_QPS_ERR);
	tap_eq_int(qp->state, IBV_QPS_RTS, "an error on the wire leaves qp->state as it was");

	memset(&attr, 0xee, sizeof(attr));
	tap_eq_int(ibv_query_qp(qp, &attr, IBV_QP_CAP, &init), 0, "a query for something else");
	tap_eq_int(qp->state, IBV_QPS_RTS, "leaves it too");
	tap_eq_int(attr.qp_state, IBV_QPS_ERR, "though all attributes are filled in");
	tap_eq_hex(attr.rate_limit, 0xeeeeeeee, "but the rate limit, which no query returns");
	tap_eq_int(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init), 0, "a query for the state");
	tap_eq_int(qp->state, IBV_QPS_ERR, "refreshes it");
	tap_eq_int(ibv_query_qp(qp, &attr, IBV_QP_RATE_LIMIT, &init), EOPNOTSUPP,
		   "a query for the rate limit is refused");

	attr = roce_attr(IBV_QPS_RESET);
	tap_eq_int(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0, "ERR to RESET");
	tap_eq_int(fake_qp_true(qp)->dest_qp_num, 0, "forgets the peer");
	tap_eq_int(fake_qp_true(qp)->cap.max_send_wr, 16, "but not the capacity");

	fake_qp_force(qp, IBV_QPS_SQE);
	attr = roce_attr(IBV_QPS_RTS);
	tap_eq_int(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0, "SQE to RTS");
	fake_close_all();
}

/* Every attribute that can be set, each to a value of its own, on the types that have it. */
static void test_query_returns_what_was_set(void)
{
	struct fake_device *dev = fake_reset();
	struct ibv_qp_attr set = good_attr(IBV_QPS_RESET, IBV_QPS_INIT), got;
	struct ibv_qp_init_attr init;
	struct ibv_qp *qp, *ud;

	fake_port_infiniband(&dev->port[1]);
	set.pkey_index = 3;
	set.alt_pkey_index = 4;
	set.alt_timeout = 5;
	set.max_rd_atomic = 6;
	set.max_dest_rd_atomic = 7;
	set.min_rnr_timer = 8;
	set.timeout = 9;
	set.retry_cnt = 1;
	set.rnr_retry = 2;
	set.path_mig_state = IBV_MIG_REARM;
	set.ah_attr.dlid = 10;
	set.alt_ah_attr.dlid = 11;
	set.sq_psn = 0xff000012;
	qp = fake_qp(fake_open(dev), IBV_QPT_RC);
	tap_eq_int(ibv_modify_qp(qp, &set, INIT_MASK), 0, "to INIT");
	set.qp_state = IBV_QPS_RTR;
	tap_eq_int(ibv_modify_qp(qp, &set, RTR_MASK | IBV_QP_ALT_PATH), 0, "to RTR");
	set.qp_state = IBV_QPS_RTS;
	tap_eq_int(ibv_modify_qp(qp, &set, RTS_MASK | IBV_QP_PATH_MIG_STATE), 0, "to RTS");
	memset(&got, 0, sizeof(got));
	memset(&init, 0, sizeof(init));
	got.en_sqd_async_notify = 1;
	tap_eq_int(ibv_query_qp(qp, &got, IBV_QP_STATE, &init), 0, "a query returns");
	tap_eq_hex(fake_last(FAKE_QUERY_QP)->attr_mask, IBV_QP_STATE, "whatever its mask");
	tap_eq_int(got.qp_state, IBV_QPS_RTS, "qp_state");
	tap_eq_int(got.cur_qp_state, IBV_QPS_RTS, "cur_qp_state");
	tap_eq_int(got.path_mtu, set.path_mtu, "path_mtu");
	tap_eq_int(got.path_mig_state, set.path_mig_state, "path_mig_state");
	tap_eq_hex(got.rq_psn, set.rq_psn, "rq_psn");
	tap_eq_hex(got.sq_psn, 0x12, "sq_psn, cut to 24 bits");
	tap_eq_int(got.dest_qp_num, set.dest_qp_num, "dest_qp_num");
	tap_eq_hex(got.qp_access_flags, set.qp_access_flags, "qp_access_flags");
	tap_eq_int(got.ah_attr.dlid, 10, "ah_attr");
	tap_eq_int(got.alt_ah_attr.dlid, 11, "alt_ah_attr");
	tap_eq_int(got.pkey_index, 3, "pkey_index");
	tap_eq_int(got.alt_pkey_index, 4, "alt_pkey_index");
	tap_eq_int(got.max_rd_atomic, 6, "max_rd_atomic");
	tap_eq_int(got.max_dest_rd_atomic, 7, "max_dest_rd_atomic");
	tap_eq_int(got.min_rnr_timer, 8, "min_rnr_timer");
	tap_eq_int(got.port_num, 1, "port_num");
	tap_eq_int(got.timeout, 9, "timeout");
	tap_eq_int(got.retry_cnt, 1, "retry_cnt");
	tap_eq_int(got.rnr_retry, 2, "rnr_retry");
	tap_eq_int(got.alt_port_num, 1, "alt_port_num");
	tap_eq_int(got.alt_timeout, 5, "alt_timeout");
	tap_eq_int(got.en_sqd_async_notify, 1, "but not en_sqd_async_notify");
	tap_ok(!memcmp(&got.cap, &init.cap, sizeof(got.cap)) && init.cap.max_recv_sge == 4,
	       "the capacity, twice");
	tap_eq_ptr(init.send_cq, qp->send_cq, "the completion queue for sends");
	tap_eq_ptr(init.recv_cq, qp->recv_cq, "and for receives");
	tap_eq_int(init.qp_type, IBV_QPT_RC, "and the type");

	set.qp_state = IBV_QPS_SQD;
	set.en_sqd_async_notify = 1;
	tap_eq_int(ibv_modify_qp(qp, &set, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY), 0, "SQD");
	tap_eq_int(fake_qp_true(qp)->en_sqd_async_notify, 1, "takes en_sqd_async_notify");
	ud = roce_qp(dev, IBV_QPT_UD, IBV_QPS_RTS);
	tap_eq_int(ibv_modify_qp(ud, &set, IBV_QP_QKEY), 0, "UD");
	tap_eq_hex(fake_qp_true(ud)->qkey, set.qkey, "takes a Q_Key");
	fake_close_all();
}

/* ---- Failures on request ------------------------------------------------------------------ */

/* Each verb fails in its own style, and only once. */
static void test_failure_styles(void)
{
	struct fake_device *dev = fake_reset();
	struct ibv_context *ctx = fake_open(dev);
	struct ibv_qp *qp = fake_qp(ctx, IBV_QPT_RC);
	struct ibv_qp_attr attr = roce_attr(IBV_QPS_INIT);
	struct ibv_qp_init_attr init;
	struct ibv_device_attr_ex device_attr;
	struct ibv_port_attr port_attr;
	struct ibv_gid_entry entry[8];
	struct ibv_recv_wr wr, *bad = NULL;
	struct ibv_wc wc;
	union ibv_gid gid;
	__be16 pkey;

	memset(&init, 0, sizeof(init));
	memset(&wr, 0, sizeof(wr));
	errno = 0;
	fake_fail(FAKE_MODIFY_QP, 1, EBUSY);
	tap_eq_int(ibv_modify_qp(qp, &attr, INIT_MASK), EBUSY, "ibv_modify_qp returns the errno");
	tap_eq_int(errno, 0, "and leaves the variable alone");
	tap_eq_int(qp->state, IBV_QPS_RESET, "and the state");
	tap_eq_int(fake_qp_true(qp)->qp_state, IBV_QPS_RESET, "the true one as well");
	tap_eq_int(ibv_modify_qp(qp, &attr, INIT_MASK), 0, "the next call works");

	fake_fail(FAKE_QUERY_QP, 1, EIO);
	tap_eq_int(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init), EIO, "ibv_query_qp returns it");
	fake_fail(FAKE_QUERY_PORT, 1, EIO);
	tap_eq_int(ibv_query_port(ctx, 1, &port_attr), EIO, "ibv_query_port returns it");
	fake_fail(FAKE_QUERY_GID_EX, 1, EIO);
	tap_eq_int(ibv_query_gid_ex(ctx, 1, 0, entry, 0), EIO, "ibv_query_gid_ex returns it");
	fake_fail(FAKE_QUERY_GID_TABLE, 1, EIO);
	tap_eq_int(ibv_query_gid_table(ctx, entry, 8, 0), -EIO,
		   "ibv_query_gid_table returns it negated");
	tap_eq_int(fake_last(FAKE_QUERY_GID_TABLE)->error, EIO, "which is recorded as EIO");
	fake_fail(FAKE_QUERY_DEVICE_EX, 1, EIO);
	tap_eq_int(ibv_query_device_ex(ctx, NULL, &device_attr), EIO,
		   "ibv_query_device_ex returns it");
	fake_fail(FAKE_POST_RECV, 1, ENOMEM);
	tap_eq_int(ibv_post_recv(qp, &wr, &bad), ENOMEM, "ibv_post_recv returns it");
	tap_eq_ptr(bad, &wr, "and names the work request");
	fake_fail(FAKE_POLL_CQ, 1, EIO);
	tap_eq_int(ibv_poll_cq(qp->send_cq, 1, &wc), -1, "ibv_poll_cq returns -1");
	fake_fail(FAKE_DESTROY_QP, 1, EBUSY);
	tap_eq_int(ibv_destroy_qp(qp), EBUSY, "ibv_destroy_qp returns it and destroys nothing");
	tap_eq_int(errno, 0, "none of these touched errno");

	fake_fail(FAKE_QUERY_GID, 1, EIO);
	tap_eq_int(ibv_query_gid(ctx, 1, 0, &gid), -1, "ibv_query_gid returns -1");
	tap_eq_int(errno, EIO, "and sets errno");
	fake_fail(FAKE_QUERY_GID, 1, ENODATA);
	tap_eq_int(ibv_query_gid(ctx, 1, 0, &gid), -1, "even where that is ENODATA");
	fake_fail(FAKE_QUERY_PKEY, 1, EACCES);
	tap_eq_int(ibv_query_pkey(ctx, 1, 0, &pkey), -1, "ibv_query_pkey returns -1");
	tap_eq_int(errno, EACCES, "and sets errno");
	fake_fail(FAKE_CREATE_QP, 1, ENOMEM);
	tap_ok(!ibv_create_qp(qp->pd, &init), "ibv_create_qp returns NULL");
	tap_eq_int(errno, ENOMEM, "and sets errno");
	fake_fail(FAKE_ALLOC_PD, 1, EMFILE);
	tap_ok(!ibv_alloc_pd(ctx), "ibv_alloc_pd returns NULL");
	tap_eq_int(errno, EMFILE, "and sets errno");
	fake_fail(FAKE_OPEN_DEVICE, 1, ENODEV);
	tap_ok(!ibv_open_device(&dev->verbs), "ibv_open_device returns NULL");
	tap_eq_int(errno, ENODEV, "and sets errno");
	fake_close_all();
}

static void test_which_call_fails(void)
{
	struct fake_device *dev = fake_reset();
	struct ibv_context *ctx = fake_open(dev);
	struct ibv_port_attr attr;
	__be16 pkey;

	fake_fail(FAKE_QUERY_PORT, 2, EIO);
	tap_eq_int(ibv_query_port(ctx, 1, &attr), 0, "the second call is to fail: the first works");
	tap_eq_int(ibv_query_pkey(ctx, 1, 0, &pkey), 0, "another verb does not count");
	tap_eq_int(ibv_query_port(ctx, 1, &attr), EIO, "the second fails");
	tap_eq_int(ibv_query_port(ctx, 1, &attr), 0, "the third works");

	fake_fail(FAKE_ANY, 2, EIO);
	tap_eq_int(ibv_query_port(ctx, 1, &attr), 0, "the second of all is to fail: one works");
	tap_eq_int(ibv_query_pkey(ctx, 1, 0, &pkey), -1, "the next fails, whatever it is");
	tap_eq_int(ibv_query_pkey(ctx, 1, 0, &pkey), 0, "and then no more");

	fake_fail(FAKE_QUERY_PORT, 0, ENODEV);
	tap_eq_int(ibv_query_port(ctx, 1, &attr), ENODEV, "every call is to fail: one does");
	tap_eq_int(ibv_query_port(ctx, 1, &attr), ENODEV, "another does");
	fake_fail(FAKE_QUERY_PORT, 0, 0);
	tap_eq_int(ibv_query_port(ctx, 1, &attr), 0, "until that is taken back");
	fake_fail(FAKE_QUERY_PORT, 1, ENODEV);
	fake_reset_log();
	tap_eq_int(ibv_query_port(ctx, 1, &attr), 0, "or forgotten with the log");
	fake_close_all();
}

/* ---- The log ------------------------------------------------------------------------------ */

static void test_log(void)
{
	struct fake_device *dev = fake_reset();
	struct ibv_context *ctx = fake_open(dev);
	struct ibv_qp *qp = fake_qp(ctx, IBV_QPT_RC);
	struct ibv_qp_attr attr = roce_attr(IBV_QPS_INIT);
	struct ibv_port_attr port_attr;
	union ibv_gid gid;
	int i;

	tap_eq_int(fake_count(FAKE_ANY), 0, "the shortcuts are not recorded");
	tap_ok(!fake_last(FAKE_ANY) && !fake_nth(1) && !fake_nth(0), "so there is no call yet");
	ibv_query_gid(ctx, 1, 3, &gid);
	ibv_modify_qp(qp, &attr, INIT_MASK);
	ibv_query_port(ctx, 7, &port_attr);
	tap_eq_int(fake_count(FAKE_ANY), 3, "three calls were made");
	tap_eq_int(fake_count(FAKE_QUERY_GID), 1, "one of them for a GID");
	tap_eq_int(fake_last(FAKE_QUERY_GID)->port, 1, "of port 1");
	tap_eq_int(fake_last(FAKE_QUERY_GID)->index, 3, "in row 3");
	tap_eq_int(fake_nth(2)->verb, FAKE_MODIFY_QP, "the second was ibv_modify_qp");
	tap_eq_str(fake_verb_str(fake_nth(2)->verb), "ibv_modify_qp", "which has a name");
	tap_eq_ptr(fake_nth(2)->object, qp, "of this queue pair");
	tap_eq_hex(fake_nth(2)->attr_mask, INIT_MASK, "with this mask");
	tap_ok(!memcmp(&fake_nth(2)->arg.qp_attr, &attr, sizeof(attr)), "and these attributes");
	tap_eq_int(fake_nth(2)->result, 0, "it returned 0");
	tap_eq_int(fake_last(FAKE_ANY)->error, EINVAL, "and the last one failed");
	tap_eq_int(fake_last(FAKE_ANY)->result, EINVAL, "saying so");
	tap_eq_int(fake_last(FAKE_ANY)->port, 7, "because of its port");
	tap_ok(!fake_last(FAKE_POLL_CQ) && !fake_nth(4), "there are no others");

	for (i = 0; i < FAKE_LOG_SIZE - 2; i++)
		ibv_query_port(ctx, 1, &port_attr);
	tap_eq_int(fake_count(FAKE_ANY), FAKE_LOG_SIZE + 1, "calls beyond the log are counted");
	tap_ok(!fake_last(FAKE_QUERY_GID), "the oldest call is forgotten");
	tap_ok(fake_last(FAKE_MODIFY_QP), "the next is not");
	ibv_query_gid(ctx, 1, 3, &gid);
	ibv_modify_qp(qp, &attr, INIT_MASK);
	for (i = 0; i < FAKE_LOG_SIZE - 2; i++)
		ibv_query_port(ctx, 1, &port_attr);
	ibv_poll_cq(qp->send_cq, 0, NULL);
	tap_eq_int(fake_last(FAKE_POLL_CQ)->port, 0, "a recycled entry has nothing of the old");
	ibv_destroy_qp(qp);
	tap_eq_hex(fake_last(FAKE_DESTROY_QP)->attr_mask, 0, "neither a port nor a mask");
	fake_reset_log();
	tap_ok(!fake_count(FAKE_ANY) && !fake_last(FAKE_MODIFY_QP), "a reset forgets them all");
	fake_close_all();
}

/* ---- Queries ------------------------------------------------------------------------------ */

static void test_device(void)
{
	struct fake_device *dev = fake_reset();
	struct ibv_query_device_ex_input input = {1};
	struct ibv_device_attr_ex ex;
	struct ibv_device_attr attr;
	struct ibv_device **list;
	struct ibv_context *ctx;
	uint32_t ports;
	int n = -1;

	fake_device_add("fake1");
	list = ibv_get_device_list(&n);
	tap_eq_int(n, 2, "there are two devices");
	tap_eq_str(ibv_get_device_name(list[0]), "fake0", "fake0");
	tap_eq_str(ibv_get_device_name(list[1]), "fake1", "and fake1");
	tap_eq_ptr(list[2], NULL, "the list ends in NULL");
	ctx = ibv_open_device(list[0]);
	ibv_free_device_list(list);
	tap_eq_ptr(ctx->device, &dev->verbs, "the first opens");

	dev->attr.max_dm_size = 4096;
	dev->ports = 2;
	tap_eq_int(ibv_query_device_ex(ctx, NULL, &ex), 0, "an extended query works");
	tap_eq_int(ex.max_dm_size, 4096, "with the extended members");
	tap_eq_int(ex.orig_attr.phys_port_cnt, 2, "and the number of ports");
	tap_eq_int(ibv_query_device_ex(ctx, &input, &ex), EINVAL, "an input mask is refused");
	tap_eq_int(ibv_query_device(ctx, &attr), 0, "the plain query works");
	tap_eq_int(attr.max_qp_rd_atom, 16, "with the limits");
	tap_eq_int(attr.max_qp_init_rd_atom, 16, "of both sides");
	dev->ports = 300;
	tap_eq_int(ibv_query_device(ctx, &attr), 0, "with more ports than the member can count");
	tap_eq_int(attr.phys_port_cnt, 255, "it says 255");
	tap_eq_int(ibv_query_device_ex(ctx, NULL, &ex), 0, "the extended query");
	memcpy(&ports, (char *)&ex.xrc_odp_caps + sizeof(ex.xrc_odp_caps), sizeof(ports));
	tap_eq_int(ports, 300, "has room for them, in phys_port_cnt_ex if verbs.h knows it");

	fake_fail(FAKE_QUERY_DEVICE_EX, 1, EOPNOTSUPP);
	tap_eq_int(ibv_query_device_ex(ctx, NULL, &ex), 0, "EOPNOTSUPP makes verbs.h fall back");
	tap_eq_int(ex.max_dm_size, 0, "to a query without the extended members");
	verbs_get_ctx(ctx)->query_device_ex = NULL;
	fake_reset_log();
	tap_eq_int(ibv_query_device_ex(ctx, NULL, &ex), 0, "so does a provider that lacks the op");
	tap_eq_int(fake_count(FAKE_QUERY_DEVICE_EX), 0, "which is then not called");
	tap_eq_int(fake_count(FAKE_QUERY_DEVICE), 1, "but the plain one");
	tap_eq_int(ibv_close_device(ctx), 0, "the device closes");
	tap_eq_int(fake_close_all(), 0, "and nothing was left open");
}

static void test_port(void)
{
	struct fake_device *dev = fake_reset();
	struct ibv_context *ctx = fake_open(dev);
	struct ibv_port_attr attr;
	__be16 pkey = 0;

	tap_eq_int(ibv_query_port(ctx, 1, &attr), 0, "port 1 answers");
	tap_eq_int(attr.state, IBV_PORT_ACTIVE, "it is active");
	tap_eq_int(attr.active_mtu, IBV_MTU_1024, "its MTU is 1024");
	tap_eq_int(attr.max_mtu, IBV_MTU_4096, "of 4096");
	tap_eq_int(attr.link_layer, IBV_LINK_LAYER_ETHERNET, "it is Ethernet");
	tap_eq_int(attr.flags, IBV_QPF_GRH_REQUIRED, "and says so");
	tap_eq_int(ibv_query_port(ctx, 0, &attr), EINVAL, "there is no port 0");
	tap_eq_int(ibv_query_port(ctx, 2, &attr), EINVAL, "nor a port 2");
	dev->port[1].attr.state = IBV_PORT_DOWN;
	verbs_get_ctx(ctx)->query_port = NULL;
	memset(&attr, 0xee, sizeof(attr));
	tap_eq_int(ibv_query_port(ctx, 1, &attr), 0, "the symbol for old programs answers too");
	tap_eq_int(attr.state, IBV_PORT_DOWN, "with what the test changed");
	tap_eq_int(attr.flags, IBV_QPF_GRH_REQUIRED, "up to the flags");
	tap_eq_int(attr.port_cap_flags2, 0, "and no further");

	tap_eq_int(ibv_query_pkey(ctx, 1, 0, &pkey), 0, "P_Key 0 is there");
	tap_eq_hex(ntohs(pkey), 0xffff, "the default one");
	tap_eq_int(ibv_query_pkey(ctx, 1, 16, &pkey), -1, "P_Key 16 is not");
	tap_eq_int(ibv_query_pkey(ctx, 1, -1, &pkey), -1, "nor is P_Key -1");
	dev->port[1].pkey[5] = 0x8001;
	tap_eq_int(ibv_get_pkey_index(ctx, 1, htons(0x8001)), 5, "a P_Key is found");
	tap_eq_int(fake_last(FAKE_GET_PKEY_INDEX)->error, 0, "which is a success");
	tap_eq_int(ibv_get_pkey_index(ctx, 1, htons(0xffff)), 0, "the default one is the first");
	tap_eq_int(ibv_get_pkey_index(ctx, 1, htons(0x8002)), -1, "or not");
	tap_eq_int(ibv_get_pkey_index(ctx, 2, htons(0xffff)), -1, "a port it has not, either");
	fake_close_all();
}

static void test_gids(void)
{
	static const uint8_t zero[16] = {0};
	struct fake_device *dev = fake_reset();
	struct ibv_context *ctx = fake_open(dev);
	struct ibv_gid_entry entry[16];
	union ibv_gid gid;

	tap_eq_int(ibv_query_gid_ex(ctx, 1, 3, entry, 0), 0, "row 3 of the GID table");
	tap_eq_int(entry->gid_type, IBV_GID_TYPE_ROCE_V2, "is RoCE v2");
	tap_eq_int(entry->gid.raw[12], 192, "and an IPv4 address");
	tap_eq_int(entry->ndev_ifindex, 2, "of interface 2");
	tap_eq_int(entry->gid_index, 3, "it knows its row");
	tap_eq_int(entry->port_num, 1, "and its port");
	tap_eq_int(fake_last(FAKE_QUERY_GID_EX)->port, 1, "the call is recorded with its port");
	tap_eq_int(fake_last(FAKE_QUERY_GID_EX)->index, 3, "and its row");
	tap_eq_int(ibv_query_gid_ex(ctx, 1, 6, entry, 0), ENODATA, "row 6 is empty");
	tap_eq_int(ibv_query_gid_ex(ctx, 1, 16, entry, 0), EINVAL, "row 16 is not there");
	tap_eq_int(ibv_query_gid_ex(ctx, 2, 0, entry, 0), EINVAL, "nor is port 2");
	tap_eq_int(ibv_query_gid_ex(ctx, 1, 0, entry, 1), EINVAL, "no flags are known");

	memset(&gid, 0xee, sizeof(gid));
	tap_eq_int(ibv_query_gid(ctx, 1, 6, &gid), 0, "ibv_query_gid has no empty rows");
	tap_ok(!memcmp(gid.raw, zero, 16), "it returns zeros");
	errno = 0;
	tap_eq_int(ibv_query_gid(ctx, 1, 16, &gid), -1, "beyond the table it fails");
	tap_eq_int(errno, EINVAL, "with EINVAL");
	tap_eq_int(ibv_query_gid(ctx, 1, -1, &gid), -1, "row -1 is beyond it");

	tap_eq_int(ibv_query_gid_table(ctx, entry, 16, 0), 6, "the table has six rows");
	tap_eq_int(entry[5].gid_index, 5, "in order");
	tap_eq_int(fake_last(FAKE_QUERY_GID_TABLE)->result, 6, "which is recorded");
	tap_eq_int(fake_last(FAKE_QUERY_GID_TABLE)->error, 0, "as a success");
	tap_eq_int(ibv_query_gid_table(ctx, entry, 16, 1), -EINVAL, "it has no flags either");
	tap_eq_int(ibv_query_gid_table(ctx, entry, 5, 0), -EINVAL, "five are too few to hold it");
	tap_eq_int(ibv_query_gid_table(ctx, entry, 0, 0), -EINVAL, "so is none");
	dev->ports = 2;
	tap_eq_int(ibv_query_gid_table(ctx, entry, 16, 0), 12, "two ports share one table");
	tap_eq_int(entry[6].port_num, 2, "the second following");
	fake_close_all();
}

/* ---- Objects ------------------------------------------------------------------------------ */

static void test_objects(void)
{
	struct fake_device *dev = fake_reset();
	struct ibv_context *ctx = fake_open(dev);
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	struct ibv_cq *cq = ibv_create_cq(ctx, 4, &dev, NULL, 0);
	struct ibv_ah_attr path = roce_attr(IBV_QPS_RTR).ah_attr;
	struct ibv_ah *ah;
	struct ibv_mr *mr;
	char buffer[8];

	tap_eq_ptr(cq->cq_context, &dev, "a completion queue keeps its context");
	tap_ok(!ibv_create_cq(ctx, 0, NULL, NULL, 0) && errno == EINVAL, "but has entries");
	tap_ok(!ibv_create_cq(ctx, 65537, NULL, NULL, 0), "and not more than the device allows");
	tap_ok(!ibv_create_cq(ctx, 4, NULL, NULL, 1), "so is an unknown completion vector");
	mr = ibv_reg_mr(pd, buffer, sizeof(buffer), IBV_ACCESS_LOCAL_WRITE);
	tap_eq_ptr(mr->addr, buffer, "memory is registered");
	tap_eq_int(mr->length, 8, "with its length");
	tap_ok(!ibv_reg_mr(pd, buffer, 8, IBV_ACCESS_REMOTE_WRITE), "not for the peer alone");
	tap_eq_int(errno, EINVAL, "that is EINVAL");
	tap_eq_hex(fake_last(FAKE_REG_MR)->attr_mask, IBV_ACCESS_REMOTE_WRITE, "and recorded");
	tap_eq_int(ibv_dealloc_pd(pd), EBUSY, "a domain in use stays");
	tap_eq_int(ibv_dereg_mr(mr), 0, "memory is released");

	ah = ibv_create_ah(pd, &path);
	tap_ok(ah, "an address handle is created");
	tap_eq_int(path.grh.hop_limit, 1, "from attributes that stay the caller's");
	tap_eq_int(ibv_destroy_ah(ah), 0, "and destroyed");
	tap_eq_int(fake_last(FAKE_CREATE_AH)->arg.ah_attr.grh.sgid_index, 3, "all recorded");
	path.port_num = 2;
	tap_ok(!ibv_create_ah(pd, &path) && errno == EINVAL, "on a port it has not EINVAL");
	path.port_num = 1;
	path.is_global = 0;
	tap_ok(!ibv_create_ah(pd, &path) && errno == EINVAL, "without a GRH it is EINVAL");
	path.is_global = 1;
	path.grh.sgid_index = 8;
	tap_ok(!ibv_create_ah(pd, &path) && errno == ENODATA, "from an empty row ENODATA");
	path.grh.sgid_index = 3;
	dev->neighbour_errno = ETIMEDOUT;
	tap_ok(!ibv_create_ah(pd, &path) && errno == ETIMEDOUT, "to nobody ETIMEDOUT");

	tap_eq_int(fake_open_count(), 3, "three objects are open");
	tap_eq_int(ibv_dealloc_pd(pd), 0, "the domain goes");
	tap_eq_int(ibv_destroy_cq(cq), 0, "the completion queue goes");
	tap_eq_int(fake_open_count(), 1, "one is left, the context");
	fake_reset();
	tap_eq_int(fake_open_count(), 0, "and no more");
}

static void test_create_qp(void)
{
	struct fake_device *dev = fake_reset();
	struct ibv_context *ctx = fake_open(dev);
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	struct ibv_cq *cq = ibv_create_cq(ctx, 4, NULL, NULL, 0);
	struct ibv_xrcd_init_attr xrcd_init = {IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
					       -1, 0};
	struct ibv_xrcd *xrcd = ibv_open_xrcd(ctx, &xrcd_init);
	struct ibv_qp_init_attr init;
	struct ibv_qp_init_attr_ex ex;
	struct ibv_qp *qp;
	int n;

	memset(&init, 0, sizeof(init));
	init.qp_context = &init;
	init.send_cq = init.recv_cq = cq;
	init.qp_type = IBV_QPT_RC;
	qp = ibv_create_qp(pd, &init);
	tap_ok(qp && qp->qp_num && qp->state == IBV_QPS_RESET, "a queue pair starts in RESET");
	tap_eq_ptr(qp->qp_context, &init, "with its context");
	tap_eq_ptr(qp->pd, pd, "and its domain");
	tap_eq_int(ibv_destroy_cq(cq), EBUSY, "its completion queue stays");
	tap_eq_int(ibv_dealloc_pd(pd), EBUSY, "so does its domain");
	n = fake_open_count();
	tap_eq_int(ibv_destroy_qp(qp), 0, "it goes");
	tap_eq_int(fake_open_count(), n - 1, "as one object");
	tap_eq_int(ibv_destroy_cq(cq), 0, "its completion queue can go then");
	cq = ibv_create_cq(ctx, 4, NULL, NULL, 0);
	init.send_cq = init.recv_cq = cq;

	init.recv_cq = NULL;
	tap_ok(!ibv_create_qp(pd, &init) && errno == EINVAL, "RC needs both completion queues");
	init.recv_cq = cq;
	init.cap.max_send_wr = 16385;
	tap_ok(!ibv_create_qp(pd, &init) && errno == EINVAL, "max_qp_wr limits sends");
	init.cap.max_send_wr = init.cap.max_recv_wr = 16384;
	init.cap.max_send_sge = init.cap.max_recv_sge = 30;
	tap_ok(ibv_create_qp(pd, &init), "the limit itself is allowed");
	init.cap.max_recv_wr = 16385;
	tap_ok(!ibv_create_qp(pd, &init), "max_qp_wr limits receives");
	init.cap.max_recv_wr = 1;
	init.cap.max_recv_sge = 31;
	tap_ok(!ibv_create_qp(pd, &init), "max_sge limits their pieces");
	init.cap.max_recv_sge = 1;
	init.cap.max_send_sge = 31;
	tap_ok(!ibv_create_qp(pd, &init), "those of sends too");
	init.cap.max_send_sge = 1;
	init.qp_type = IBV_QPT_DRIVER;
	tap_ok(!ibv_create_qp(pd, &init) && errno == EOPNOTSUPP, "a driver's type is not known");
	init.qp_type = IBV_QPT_XRC_RECV;
	tap_ok(!ibv_create_qp(pd, &init) && errno == EINVAL, "XRC_RECV needs an XRC domain");

	memset(&ex, 0, sizeof(ex));
	ex.qp_type = IBV_QPT_XRC_RECV;
	ex.comp_mask = IBV_QP_INIT_ATTR_XRCD;
	ex.xrcd = xrcd;
	qp = ibv_create_qp_ex(ctx, &ex);
	tap_ok(qp && !qp->pd && !qp->send_cq, "and nothing else");
	tap_eq_int(ibv_close_xrcd(xrcd), EBUSY, "which stays as long");
	ibv_destroy_qp(qp);
	tap_eq_int(ibv_close_xrcd(xrcd), 0, "and then goes");
	ex.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
	tap_ok(!ibv_create_qp_ex(ctx, &ex) && errno == EOPNOTSUPP, "flags are not known");
	fake_close_all();
}

/* ---- Posting and polling ------------------------------------------------------------------ */

static void test_posting(void)
{
	static const int first_send = IBV_QPS_RTS, first_recv = IBV_QPS_INIT;
	struct fake_device *dev = fake_reset();
	struct ibv_qp *qp = fake_qp(fake_open(dev), IBV_QPT_RC);
	struct ibv_send_wr send[2], *bad_send;
	struct ibv_recv_wr recv, *bad_recv;
	struct ibv_wc wc[2];
	int state;

	memset(send, 0, sizeof(send));
	memset(&recv, 0, sizeof(recv));
	send[0].wr_id = 1;
	send[1].wr_id = 2;
	recv.wr_id = 3;
	for (state = 0; state < STATES; state++) {
		fake_qp_force(qp, (enum ibv_qp_state)state);
		tap_eq_int(ibv_post_send(qp, send, &bad_send), state < first_send ? EINVAL : 0,
			   "sending in %s", states[state]);
		tap_eq_int(ibv_post_recv(qp, &recv, &bad_recv), state < first_recv ? EINVAL : 0,
			   "receiving in %s", states[state]);
	}
	tap_eq_int(ibv_poll_cq(qp->send_cq, 2, wc), 0, "nothing completes by itself");

	dev->quirks = FAKE_POST_SEND_ENOMEM | FAKE_NEGATIVE_ERRNO;
	fake_qp_force(qp, IBV_QPS_RTR);
	bad_send = NULL;
	tap_eq_int(ibv_post_send(qp, send, &bad_send), -ENOMEM, "an odd provider says ENOMEM");
	tap_eq_ptr(bad_send, send, "and which work request it means");

	dev->quirks = FAKE_FLUSH_ON_POST;
	fake_qp_force(qp, IBV_QPS_ERR);
	send[0].next = &send[1];
	tap_eq_int(ibv_post_send(qp, send, &bad_send), 0, "two sends posted in ERR");
	tap_eq_int(fake_last(FAKE_POST_SEND)->index, 2, "are recorded");
	tap_eq_int(fake_last(FAKE_POST_SEND)->arg.send_wr.wr_id, 1, "the first with its members");
	tap_eq_int(ibv_post_recv(qp, &recv, &bad_recv), 0, "and a receive");
	tap_eq_int(ibv_poll_cq(qp->send_cq, 2, wc), 2, "are flushed");
	tap_eq_int(wc[1].wr_id, 2, "in order");
	tap_eq_int(wc[1].status, IBV_WC_WR_FLUSH_ERR, "with the status for it");
	tap_eq_int(wc[1].qp_num, qp->qp_num, "and the queue pair's number");
	tap_eq_int(ibv_poll_cq(qp->send_cq, 2, wc), 1, "the receive comes last");
	send[1].num_sge = recv.num_sge = 4;
	tap_eq_int(ibv_post_send(qp, send, &bad_send), 0, "four pieces are allowed");
	tap_eq_int(ibv_post_recv(qp, &recv, &bad_recv), 0, "to a receive as well");
	tap_eq_int(fake_last(FAKE_POST_RECV)->index, 1, "which is one");
	tap_eq_int(fake_last(FAKE_POST_RECV)->arg.recv_wr.num_sge, 4, "of four");
	recv.num_sge = 5;
	tap_eq_int(ibv_post_recv(qp, &recv, &bad_recv), EINVAL, "five are not");
	send[1].num_sge = 5;
	tap_eq_int(ibv_post_send(qp, send, &bad_send), EINVAL, "five pieces are more than four");
	tap_eq_ptr(bad_send, &send[1], "and it is the second request that has them");
	tap_eq_int(fake_last(FAKE_POST_SEND)->index, 1, "the first was taken");
	tap_eq_int(fake_last(FAKE_POST_SEND)->error, EINVAL, "the call failed");

	send[1].num_sge = recv.num_sge = 0;
	qp = fake_qp(qp->context, IBV_QPT_XRC_RECV);
	fake_qp_force(qp, IBV_QPS_RTS);
	tap_eq_int(ibv_post_send(qp, send, &bad_send), EINVAL, "XRC_RECV does not send");
	tap_eq_int(ibv_post_recv(qp, &recv, &bad_recv), EINVAL, "nor receive, its SRQ does");
	fake_close_all();
}

static void test_completions(void)
{
	struct fake_device *dev = fake_reset();
	struct ibv_qp *qp = roce_qp(dev, IBV_QPT_RC, IBV_QPS_RTS);
	struct ibv_qp_attr attr = roce_attr(IBV_QPS_RESET);
	struct ibv_wc wc[40];
	int i, pushed = 0;

	memset(wc, 0, sizeof(wc));
	for (i = 0; i < 40; i++) {
		wc[i].wr_id = (uint64_t)i;
		wc[i].qp_num = i % 2 ? qp->qp_num : 12345;
		pushed += fake_cq_push(qp->send_cq, &wc[i]);
	}
	tap_eq_int(pushed, 32, "a completion queue holds as many as it was created with");
	tap_eq_int(ibv_poll_cq(qp->send_cq, 3, wc), 3, "three are polled");
	tap_eq_int(wc[2].wr_id, 2, "the oldest three");
	tap_ok(fake_cq_push(qp->send_cq, &wc[0]), "which makes room");
	tap_eq_int(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0, "RESET drops no completion");
	dev->quirks = FAKE_RESET_PURGES_CQ;
	tap_eq_int(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0, "under FAKE_RESET_PURGES_CQ");
	tap_eq_int(ibv_poll_cq(qp->send_cq, 40, wc), 15, "it drops those of this queue pair");
	tap_eq_int(wc[0].wr_id, 4, "and leaves the others");
	tap_eq_int(wc[14].wr_id, 0, "in order");
	tap_eq_int(ibv_req_notify_cq(qp->send_cq, 0), 0, "a notification may be asked for");
	fake_close_all();
}

int main(int argc, char **argv)
{
	size_t t;

	if (argc > 1)
		tests_dir = argv[1];
	read_kernel_table();
	test_table_is_the_kernels();
	test_table_is_generated();
	for (t = 0; t < COUNT(types); t++)
		test_every_transition(types[t]);
	test_order_of_system_call();
	test_order_of_core();
	test_neighbour_is_not_always_asked();
	test_who_asks_the_neighbour();
	test_alternate_path();
	test_garbage_is_not_read();
	test_ports_of_a_path();
	test_driver_values();
	test_quirks_of_modify();
	test_srd();
	test_out_of_bounds();
	test_stale_state();
	test_query_returns_what_was_set();
	test_failure_styles();
	test_which_call_fails();
	test_log();
	test_device();
	test_port();
	test_gids();
	test_objects();
	test_create_qp();
	test_posting();
	test_completions();
	return tap_done();
}
