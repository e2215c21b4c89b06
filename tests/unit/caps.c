/* SPDX-License-Identifier: MIT */
/* What a device reports, decoded: every field, every answer, every source, every name. */
#include "caps_list.h"
#include "tap.h"

static struct ibv_device_attr_ex attr;
static struct rdmaez_caps caps;

/* The source of a field, by its name. */
static const char *source_of(enum rdmaez_caps_id id)
{
	return rdmaez_caps_source_id((enum rdmaez_caps_source)caps.source[id]);
}

static const char *const answers[] = {"unknown", "no", "yes"};

static const char *answer_of(enum rdmaez_caps_id id)
{
	return answers[rdmaez_caps_answer(rdmaez_caps_fields(&caps), id)];
}

/* ---- The descriptions --------------------------------------------------------------------- */

static void check_descriptions(void)
{
	bool seen[RDMAEZ_CAPS_ID_COUNT] = {false};

	tap_eq_int(CAPS_EXPECTED, RDMAEZ_CAPS_ID_COUNT, "no field is forgotten, none is too many");
	for (size_t i = 0; i < CAPS_EXPECTED; i++) {
		const struct caps_expected *want = &caps_expected[i];
		const struct rdmaez_caps_field *field = caps_field(want->id);
		const size_t group = strcspn(want->member, ".");

		tap_ok(!seen[want->id], "%s has an id of its own", want->name);
		seen[want->id] = true;
		tap_eq_str(field->name, want->name, "%s bears its verbs name", want->name);
		tap_ok(strncmp(field->group, want->member, group) == 0 && !field->group[group],
		       "%s lies in %s", want->name, want->member);
		tap_eq_int(field->kind, want->kind, "%s: how to read it", want->name);
		tap_eq_int(field->merge, want->merge, "%s: how to compare it", want->name);
		tap_ok(field->what[0] && field->what[strlen(field->what) - 1] != '.',
		       "%s: what it is, without a full stop", want->name);
	}
	tap_eq_int(rdmaez_caps_fields(NULL).count, RDMAEZ_CAPS_ID_COUNT,
		   "there is no field behind");
	tap_eq_ptr(rdmaez_caps_fields(NULL).base, NULL, "without a device there are no values");
	tap_eq_ptr(rdmaez_caps_fields(&caps).base, &caps, "else they are the device's");
}

/* ---- Decoding ----------------------------------------------------------------------------- */

/* A member holds what verbs has, and so it does by its id. */
static void check_value(enum rdmaez_caps_id id, uint64_t got, uint64_t want)
{
	const char *name = caps_field(id)->name;
	struct rdmaez_caps_item item;

	tap_eq_hex(got, want, "%s is decoded from its own field", name);
	tap_eq_int(rdmaez_caps_get(rdmaez_caps_fields(&caps), id, &item), 0, "%s: by its id", name);
	tap_eq_hex(item.value, want, "%s: it is the same", name);
	tap_eq_ptr(item.field, caps_field(id), "%s: with its description", name);
	tap_eq_str(item.text, "", "%s: and no text", name);
	tap_eq_str(source_of(id), "DEVICE", "%s: the device reports it", name);
	tap_eq_int(item.source, RDMAEZ_SOURCE_DEVICE, "%s: and so it does by its id", name);
	tap_eq_str(answer_of(id), "yes", "%s is there", name);
}

static void check_distinct(void)
{
	struct rdmaez_caps_item item;
	unsigned int ports = caps_distinct(&attr);

	attr.hca_core_clock >>= 16; /* else there are too many Hz for 64 bits */
	memset(&caps, 0xff, sizeof(caps));
	rdmaez_caps_decode(&attr, &caps);
#define CHECK_ORIG(id, path, member, ...) \
	check_value(RDMAEZ_CAPS_##id, (uint64_t)caps.member, (uint64_t)attr.orig_attr.path);
#define CHECK_FULL(id, path, member, ...) \
	check_value(RDMAEZ_CAPS_##id, (uint64_t)caps.member, (uint64_t)attr.path);
	CAPS_ORIG(CHECK_ORIG)
	CAPS_FULL(CHECK_FULL)
#undef CHECK_ORIG
#undef CHECK_FULL
	check_value(RDMAEZ_CAPS_PHYS_PORT_CNT_EX, caps.device.phys_port_cnt_ex,
		    ports * 0x01010101u);
	check_value(RDMAEZ_CAPS_PORT_COUNT, caps.device.port_count, ports * 0x01010101u);
	check_value(RDMAEZ_CAPS_FLAGS, caps.features.flags,
		    attr.orig_attr.device_cap_flags | attr.device_cap_flags_ex);
	check_value(RDMAEZ_CAPS_HCA_CORE_CLOCK_HZ, caps.timestamps.hca_core_clock_hz,
		    attr.hca_core_clock * 1000);
	tap_eq_str(caps.device.fw_ver, "12.34.5678", "the firmware version is copied");
	rdmaez_caps_get(rdmaez_caps_fields(&caps), RDMAEZ_CAPS_FW_VER, &item);
	tap_eq_ptr(item.text, caps.device.fw_ver, "by id it lies in the struct");
	tap_eq_int(item.value, 0, "and is no number");
	tap_eq_str(answer_of(RDMAEZ_CAPS_FW_VER), "yes", "it is there");
	for (int id = RDMAEZ_CAPS_NAME; id <= RDMAEZ_CAPS_NUM_COMP_VECTORS; id++)
		tap_eq_str(source_of((enum rdmaez_caps_id)id), "NOT_ASKED",
			   "%s: no device was open", caps_field((unsigned int)id)->name);
	tap_eq_str(caps.device.name, "", "nothing is left of what was in the struct: texts");
	tap_eq_int(caps.device.num_comp_vectors, 0, "nor numbers");
}

static void check_signs(void)
{
	struct rdmaez_caps_item item;

	memset(&attr, 0xff, sizeof(attr));
	rdmaez_caps_decode(&attr, &caps);
	tap_eq_int(caps.limits.max_qp, -1, "a negative count stays negative");
	rdmaez_caps_get(rdmaez_caps_fields(&caps), RDMAEZ_CAPS_MAX_QP, &item);
	tap_eq_hex(item.value, UINT64_MAX, "and so it does by its id");
	caps.limits.max_qp = 0x40000000;
	rdmaez_caps_get(rdmaez_caps_fields(&caps), RDMAEZ_CAPS_MAX_QP, &item);
	tap_eq_hex(item.value, 0x40000000, "a great one is not negative");
	rdmaez_caps_get(rdmaez_caps_fields(&caps), RDMAEZ_CAPS_VENDOR_ID, &item);
	tap_eq_hex(item.value, UINT32_MAX, "what has no sign gets none");
	rdmaez_caps_get(rdmaez_caps_fields(&caps), RDMAEZ_CAPS_MAX_PKEYS, &item);
	tap_eq_hex(item.value, UINT16_MAX, "nor does what is shorter");
	rdmaez_caps_get(rdmaez_caps_fields(&caps), RDMAEZ_CAPS_RX_HASH_FUNCTION, &item);
	tap_eq_hex(item.value, UINT8_MAX, "nor the shortest");
	tap_eq_int(strlen(caps.device.fw_ver), 63, "a version without an end is cut");
	tap_eq_int(caps.odp.supported, 1, "a bool is one bit");
	tap_eq_int(caps.limits.local_ca_ack_delay_ns, 0, "a delay beyond 31 has no time");
}

static void check_derived(void)
{
	static const struct {
		uint8_t delay;
		uint64_t ns;
	} delays[] = {{0, 4096},
		      {1, 8192},
		      {15, 134217728},
		      {30, UINT64_C(4398046511104)},
		      {31, UINT64_C(8796093022208)},
		      {32, 0},
		      {255, 0}};

	for (size_t i = 0; i < sizeof(delays) / sizeof(delays[0]); i++) {
		memset(&attr, 0, sizeof(attr));
		attr.orig_attr.local_ca_ack_delay = delays[i].delay;
		rdmaez_caps_decode(&attr, &caps);
		tap_eq_int(caps.limits.local_ca_ack_delay_ns, delays[i].ns, "a delay of %d",
			   delays[i].delay);
		tap_eq_str(source_of(RDMAEZ_CAPS_LOCAL_CA_ACK_DELAY_NS),
			   delays[i].ns ? "DEVICE" : "DRIVER", "a delay of %d: who says so",
			   delays[i].delay);
	}
	memset(&attr, 0, sizeof(attr));
	attr.hca_core_clock = UINT64_MAX / 1000;
	rdmaez_caps_decode(&attr, &caps);
	tap_eq_hex(caps.timestamps.hca_core_clock_hz, UINT64_MAX / 1000 * 1000,
		   "the fastest clock");
	attr.hca_core_clock++;
	rdmaez_caps_decode(&attr, &caps);
	tap_eq_int(caps.timestamps.hca_core_clock_hz, 0, "a faster one has no Hz");
	tap_eq_str(source_of(RDMAEZ_CAPS_HCA_CORE_CLOCK_HZ), "DRIVER", "so it is unknown");
	for (int bit = 0; bit < 64; bit++) {
		memset(&attr, 0, sizeof(attr));
		attr.device_cap_flags_ex = UINT64_C(1) << bit;
		attr.odp_caps.general_caps = UINT64_C(1) << bit;
		rdmaez_caps_decode(&attr, &caps);
		tap_eq_hex(caps.features.flags, UINT64_C(1) << bit, "bit %d is among the flags",
			   bit);
		tap_eq_int(caps.memory_windows.type_1, bit == 17, "bit %d: windows of type 1", bit);
		tap_eq_int(caps.memory_windows.type_2a, bit == 23, "bit %d: of type 2A", bit);
		tap_eq_int(caps.memory_windows.type_2b, bit == 24, "bit %d: of type 2B", bit);
		tap_eq_int(caps.odp.supported, bit == 0, "bit %d: on-demand paging", bit);
		tap_eq_int(caps.odp.implicit, bit == 1, "bit %d: of all memory", bit);
	}
	memset(&attr, 0, sizeof(attr));
	attr.orig_attr.device_cap_flags = 1 << 24;
	attr.orig_attr.phys_port_cnt = 7;
	rdmaez_caps_decode(&attr, &caps);
	tap_eq_hex(caps.features.flags, 1 << 24, "the plain flags are among the flags as well");
	tap_eq_int(caps.memory_windows.type_2b, 1, "and tell of windows");
	tap_eq_int(caps.device.port_count, 7, "without an extended number of ports the plain one");
	caps_put_ports(&attr, 300);
	rdmaez_caps_decode(&attr, &caps);
	tap_eq_int(caps.device.port_count, 300, "else the extended one");
}

/* ---- Why a zero is a zero ----------------------------------------------------------------- */

static void check_nothing(void)
{
	memset(&attr, 0, sizeof(attr));
	rdmaez_caps_decode(&attr, &caps);
#define CHECK_ORIG(id, ...)                                                                \
	tap_eq_str(source_of(RDMAEZ_CAPS_##id), strstr(#id, "GUID") ? "DRIVER" : "DEVICE", \
		   #id ": a zero of the plain query");                                     \
	tap_eq_str(answer_of(RDMAEZ_CAPS_##id), strstr(#id, "GUID") ? "unknown" : "no",    \
		   #id ": the answer to it");
#define CHECK_FULL(id, ...)                                                                      \
	tap_eq_str(source_of(RDMAEZ_CAPS_##id), "PLAIN", #id ": only the plain query answered"); \
	tap_eq_str(answer_of(RDMAEZ_CAPS_##id), "unknown", #id ": so it is unknown");
	CAPS_ORIG(CHECK_ORIG)
	CAPS_FULL(CHECK_FULL)
#undef CHECK_ORIG
#undef CHECK_FULL
	tap_eq_str(source_of(RDMAEZ_CAPS_FW_VER), "DRIVER", "no version: the driver does not say");
	tap_eq_str(source_of(RDMAEZ_CAPS_PHYS_PORT_CNT_EX), "PLAIN", "nor the number of ports");
	tap_eq_str(source_of(RDMAEZ_CAPS_ODP_SUPPORTED), "PLAIN", "what follows follows: paging");
	tap_eq_str(source_of(RDMAEZ_CAPS_ODP_IMPLICIT), "PLAIN", "of all memory");
	tap_eq_str(source_of(RDMAEZ_CAPS_HCA_CORE_CLOCK_HZ), "PLAIN", "the clock in Hz");
	tap_eq_str(source_of(RDMAEZ_CAPS_MW_TYPE_1), "DEVICE", "the plain flags tell of windows");
	tap_eq_str(answer_of(RDMAEZ_CAPS_MW_TYPE_1), "no", "and that there are none");
}

/* A struct of which the kernel told one part only, by which those before it are known. */
static void check_part(int part)
{
	memset(&attr, 0, sizeof(attr));
#define SET_PART(id, path, member, kind, merge, told) \
	if (told == part)                             \
		caps_put(&attr.path, sizeof(attr.path), 1);
	CAPS_FULL(SET_PART)
#undef SET_PART
	rdmaez_caps_decode(&attr, &caps);
	for (size_t i = 0; i < CAPS_EXPECTED; i++) {
		const struct caps_expected *want = &caps_expected[i];

		if (want->part == 0 && part && want->id != RDMAEZ_CAPS_COMP_MASK)
			tap_eq_str(source_of(want->id), "DRIVER",
				   "part %d is told: %s is the provider's to tell", part,
				   want->name);
		else if (want->part >= 0)
			tap_eq_str(source_of(want->id),
				   want->part <= part ? "DEVICE" : "OLD_KERNEL",
				   "part %d is told: where %s comes from", part, want->name);
	}
	tap_eq_str(source_of(RDMAEZ_CAPS_PHYS_PORT_CNT_EX), "OLD_LIBRARY",
		   "part %d is told: a library that does not count ports is too old", part);
	tap_eq_str(source_of(RDMAEZ_CAPS_ODP_SUPPORTED), part >= 1 ? "DEVICE" : "OLD_KERNEL",
		   "part %d is told: on-demand paging", part);
	tap_eq_str(source_of(RDMAEZ_CAPS_HCA_CORE_CLOCK_HZ), part >= 3 ? "DEVICE" : "OLD_KERNEL",
		   "part %d is told: the clock in Hz", part);
}

static void check_ports_alone(void)
{
	memset(&attr, 0, sizeof(attr));
	caps_put_ports(&attr, 1);
	attr.orig_attr.vendor_id = 0xffffff; /* rdma_rxe */
	rdmaez_caps_decode(&attr, &caps);
	tap_eq_str(source_of(RDMAEZ_CAPS_MAX_TSO), "DEVICE",
		   "a number of ports shows that the extended query answered");
	tap_eq_str(source_of(RDMAEZ_CAPS_ODP_GENERAL_CAPS), "OLD_KERNEL",
		   "and nothing of how old the kernel is");
}

static void check_silent(void)
{
	memset(&attr, 0, sizeof(attr));
	attr.xrc_odp_caps = 1;
	attr.orig_attr.vendor_id = 0x1414;
	rdmaez_caps_decode(&attr, &caps);
	tap_eq_str(source_of(RDMAEZ_CAPS_MAX_DM_SIZE), "DRIVER", "mana_ib is silent: memory");
	tap_eq_str(answer_of(RDMAEZ_CAPS_MAX_DM_SIZE), "unknown", "so it is unknown");
	tap_eq_str(source_of(RDMAEZ_CAPS_PCI_SWAP), "DRIVER", "and of PCI atomics");
	attr.max_dm_size = 1;
	rdmaez_caps_decode(&attr, &caps);
	tap_eq_str(source_of(RDMAEZ_CAPS_MAX_DM_SIZE), "DEVICE", "unless it says something");

	memset(&attr, 0, sizeof(attr));
	attr.xrc_odp_caps = 1;
	attr.orig_attr.vendor_id = 0x2c9;
	attr.orig_attr.vendor_part_id = 0x1017;
	rdmaez_caps_decode(&attr, &caps);
	tap_eq_str(source_of(RDMAEZ_CAPS_PCI_FETCH_ADD), "DRIVER",
		   "mlx5_ib is silent: fetch-and-add");
	tap_eq_str(source_of(RDMAEZ_CAPS_PCI_SWAP), "DRIVER", "swap");
	tap_eq_str(source_of(RDMAEZ_CAPS_PCI_COMPARE_SWAP), "DRIVER", "compare-and-swap");
	tap_eq_str(source_of(RDMAEZ_CAPS_MAX_DM_SIZE), "DEVICE", "but not of device memory");
	for (int which = 0; which < 3; which++) {
		attr.pci_atomic_caps.fetch_add = which == 0;
		attr.pci_atomic_caps.swap = which == 1;
		attr.pci_atomic_caps.compare_swap = which == 2;
		rdmaez_caps_decode(&attr, &caps);
		for (int id = RDMAEZ_CAPS_PCI_FETCH_ADD; id <= RDMAEZ_CAPS_PCI_COMPARE_SWAP; id++)
			tap_eq_str(source_of((enum rdmaez_caps_id)id), "DEVICE",
				   "if it says one of the three, the others are said too: %d", id);
	}
	memset(&attr, 0, sizeof(attr));
	attr.xrc_odp_caps = 1;
	rdmaez_caps_decode(&attr, &caps);
	tap_eq_str(source_of(RDMAEZ_CAPS_MAX_DM_SIZE), "DEVICE", "other drivers: device memory");
	tap_eq_str(source_of(RDMAEZ_CAPS_PCI_SWAP), "DRIVER", "other drivers: PCI atomics");
}

/* Nothing is corrected here. */
static void check_depths(void)
{
	memset(&attr, 0, sizeof(attr));
	attr.orig_attr.vendor_id = 0x14e4;
	attr.orig_attr.max_qp_rd_atom = 3;
	attr.orig_attr.max_qp_init_rd_atom = 5;
	rdmaez_caps_decode(&attr, &caps);
	tap_eq_int(caps.depths.max_qp_rd_atom, 3, "decoding corrects no depth");
	tap_eq_int(caps.depths.max_qp_init_rd_atom, 5, "nor the other");
	tap_eq_str(source_of(RDMAEZ_CAPS_MAX_QP_RD_ATOM), "DEVICE", "nor says so");
}

/* Of the flags only those that the plain query has are reported where the other query tells none. */
static void check_partial(void)
{
	struct rdmaez_caps_table table = rdmaez_caps_fields(NULL);

	tap_eq_int(table.partial, RDMAEZ_CAPS_ID_COUNT, "without a device nothing is told in part");
	tap_eq_hex(table.unreported, 0, "and no bit is left out");
	for (int source = 0; source < RDMAEZ_SOURCE_COUNT; source++)
		for (int value = 0; value < 2; value++) {
			const bool partial = !value && source > RDMAEZ_SOURCE_CORRECTED;

			memset(&caps, 0, sizeof(caps));
			caps.features.device_cap_flags_ex = (uint64_t)value;
			caps.source[RDMAEZ_CAPS_DEVICE_CAP_FLAGS_EX] = (uint8_t)source;
			table = rdmaez_caps_fields(&caps);
			tap_eq_int(table.partial,
				   partial ? RDMAEZ_CAPS_FLAGS : RDMAEZ_CAPS_ID_COUNT,
				   "flags %d, source %d: whether they are told in part", value,
				   source);
			tap_eq_hex(table.unreported, partial ? UINT64_C(0xffffffff00000000) : 0,
				   "flags %d, source %d: what is left out", value, source);
		}
}

/* ---- Asking by id ------------------------------------------------------------------------- */

static void check_by_id(void)
{
	struct rdmaez_caps_item item;

	memset(&item, 0x55, sizeof(item));
	tap_eq_int(rdmaez_caps_get(rdmaez_caps_fields(&caps), RDMAEZ_CAPS_ID_COUNT, &item), EINVAL,
		   "no such field");
	tap_eq_hex(item.value, UINT64_C(0x5555555555555555), "and nothing is written");
	tap_eq_int(rdmaez_caps_get(rdmaez_caps_fields(&caps), (unsigned int)-1, &item), EINVAL,
		   "nor this one");
	tap_eq_str(answers[rdmaez_caps_answer(rdmaez_caps_fields(&caps), RDMAEZ_CAPS_ID_COUNT)],
		   "unknown", "what is no field is unknown");
	tap_eq_int(rdmaez_caps_get(rdmaez_caps_fields(NULL), RDMAEZ_CAPS_MAX_QP, &item), EINVAL,
		   "without a device there is no value");
	tap_eq_hex(item.value, UINT64_C(0x5555555555555555), "nor is one written");
	tap_eq_str(answers[rdmaez_caps_answer(rdmaez_caps_fields(NULL), RDMAEZ_CAPS_MAX_QP)],
		   "unknown", "nor an answer");
}

static void check_sources(void)
{
	static const char *const ids[] = {"DEVICE",     "CORRECTED",  "NOT_ASKED",
					  "PLAIN",      "OLD_KERNEL", "OLD_LIBRARY",
					  "OLD_HEADER", "DRIVER",     "DIFFERS"};

	static const char *const sentences[] = {
		"reported by the device",
		"corrected: this driver reports it otherwise",
		"no open device was asked",
		"kernel and provider answered the plain query only",
		"the kernel may be too old to report it",
		"libibverbs is too old to report it",
		"the program was compiled with a verbs.h that is too old",
		"this driver does not report it",
		"the devices have nothing in common here",
	};

	tap_eq_int(RDMAEZ_SOURCE_COUNT, sizeof(ids) / sizeof(ids[0]), "so many sources");
	for (int i = 0; i < RDMAEZ_SOURCE_COUNT; i++) {
		tap_eq_str(rdmaez_caps_source_id((enum rdmaez_caps_source)i), ids[i],
			   "source %d has this id", i);
		tap_eq_str(rdmaez_caps_source_str((enum rdmaez_caps_source)i), sentences[i],
			   "and %s this sentence", ids[i]);
	}
	tap_eq_str(rdmaez_caps_source_id(RDMAEZ_SOURCE_COUNT), "unknown", "there is no other id");
	tap_eq_str(rdmaez_caps_source_str((enum rdmaez_caps_source) - 1), "unknown",
		   "nor sentence");
}

/* ---- Names -------------------------------------------------------------------------------- */

/* All names of a kind, each behind its number; tests/compile/caps_names.t holds those of verbs to verbs.h. */
static const char *const names_of[RDMAEZ_KIND_TOTAL] = {
	[RDMAEZ_KIND_NODE_TYPE] =
		"1 IBV_NODE_CA, 2 IBV_NODE_SWITCH, 3 IBV_NODE_ROUTER, 4 IBV_NODE_RNIC, "
		"5 IBV_NODE_USNIC, 6 IBV_NODE_USNIC_UDP, 7 IBV_NODE_UNSPECIFIED",
	[RDMAEZ_KIND_TRANSPORT] =
		"0 IBV_TRANSPORT_IB, 1 IBV_TRANSPORT_IWARP, 2 IBV_TRANSPORT_USNIC, "
		"3 IBV_TRANSPORT_USNIC_UDP, 4 IBV_TRANSPORT_UNSPECIFIED",
	[RDMAEZ_KIND_ATOMIC_CAP] = "0 IBV_ATOMIC_NONE, 1 IBV_ATOMIC_HCA, 2 IBV_ATOMIC_GLOB",
	[RDMAEZ_KIND_PORT_STATE] =
		"0 IBV_PORT_NOP, 1 IBV_PORT_DOWN, 2 IBV_PORT_INIT, 3 IBV_PORT_ARMED, "
		"4 IBV_PORT_ACTIVE, 5 IBV_PORT_ACTIVE_DEFER",
	[RDMAEZ_KIND_MTU] =
		"1 IBV_MTU_256, 2 IBV_MTU_512, 3 IBV_MTU_1024, 4 IBV_MTU_2048, 5 IBV_MTU_4096",
	[RDMAEZ_KIND_LINK_LAYER] = "0 IBV_LINK_LAYER_UNSPECIFIED, 1 IBV_LINK_LAYER_INFINIBAND, "
				   "2 IBV_LINK_LAYER_ETHERNET",
	[RDMAEZ_KIND_PHYS_STATE] =
		"1 SLEEP, 2 POLLING, 3 DISABLED, 4 TRAINING, 5 LINK_UP, 6 LINK_ERROR_RECOVERY, "
		"7 PHY_TEST",
	[RDMAEZ_KIND_WIDTH] = "1 1X, 2 4X, 4 8X, 8 12X, 16 2X",
	[RDMAEZ_KIND_SPEED] =
		"1 SDR, 2 DDR, 4 QDR, 8 FDR10, 16 FDR, 32 EDR, 64 HDR, 128 NDR, 256 XDR",
	[RDMAEZ_KIND_VL] = "1 VL0, 2 VL0 to VL1, 3 VL0 to VL3, 4 VL0 to VL7, 5 VL0 to VL14",
	[RDMAEZ_KIND_DEVICE_FLAGS] =
		"0 IBV_DEVICE_RESIZE_MAX_WR, 1 IBV_DEVICE_BAD_PKEY_CNTR, "
		"2 IBV_DEVICE_BAD_QKEY_CNTR, 3 IBV_DEVICE_RAW_MULTI, "
		"4 IBV_DEVICE_AUTO_PATH_MIG, 5 IBV_DEVICE_CHANGE_PHY_PORT, "
		"6 IBV_DEVICE_UD_AV_PORT_ENFORCE, 7 IBV_DEVICE_CURR_QP_STATE_MOD, "
		"8 IBV_DEVICE_SHUTDOWN_PORT, 9 IBV_DEVICE_INIT_TYPE, "
		"10 IBV_DEVICE_PORT_ACTIVE_EVENT, 11 IBV_DEVICE_SYS_IMAGE_GUID, "
		"12 IBV_DEVICE_RC_RNR_NAK_GEN, 13 IBV_DEVICE_SRQ_RESIZE, "
		"14 IBV_DEVICE_N_NOTIFY_CQ, 17 IBV_DEVICE_MEM_WINDOW, "
		"18 IBV_DEVICE_UD_IP_CSUM, 20 IBV_DEVICE_XRC, "
		"21 IBV_DEVICE_MEM_MGT_EXTENSIONS, 23 IBV_DEVICE_MEM_WINDOW_TYPE_2A, "
		"24 IBV_DEVICE_MEM_WINDOW_TYPE_2B, 25 IBV_DEVICE_RC_IP_CSUM, "
		"26 IBV_DEVICE_RAW_IP_CSUM, 29 IBV_DEVICE_MANAGED_FLOW_STEERING, "
		"34 IBV_DEVICE_RAW_SCATTER_FCS, 36 IBV_DEVICE_PCI_WRITE_END_PADDING, "
		"38 IB_UVERBS_DEVICE_FLUSH_GLOBAL, 39 IB_UVERBS_DEVICE_FLUSH_PERSISTENT, "
		"40 IB_UVERBS_DEVICE_ATOMIC_WRITE, 41 IBV_DEVICE_CC_DMA_BOUNCE",
	[RDMAEZ_KIND_ODP_GENERAL] = "0 IBV_ODP_SUPPORT, 1 IBV_ODP_SUPPORT_IMPLICIT",
	[RDMAEZ_KIND_ODP_TRANSPORT] =
		"0 IBV_ODP_SUPPORT_SEND, 1 IBV_ODP_SUPPORT_RECV, 2 IBV_ODP_SUPPORT_WRITE, "
		"3 IBV_ODP_SUPPORT_READ, 4 IBV_ODP_SUPPORT_ATOMIC, 5 IBV_ODP_SUPPORT_SRQ_RECV, "
		"6 IBV_ODP_SUPPORT_FLUSH, 7 IBV_ODP_SUPPORT_ATOMIC_WRITE",
	[RDMAEZ_KIND_RAW_PACKET] =
		"0 IBV_RAW_PACKET_CAP_CVLAN_STRIPPING, 1 IBV_RAW_PACKET_CAP_SCATTER_FCS, "
		"2 IBV_RAW_PACKET_CAP_IP_CSUM, 3 IBV_RAW_PACKET_CAP_DELAY_DROP",
	[RDMAEZ_KIND_RX_HASH_FUNCTION] = "0 IBV_RX_HASH_FUNC_TOEPLITZ",
	[RDMAEZ_KIND_RX_HASH_FIELDS] =
		"0 IBV_RX_HASH_SRC_IPV4, 1 IBV_RX_HASH_DST_IPV4, 2 IBV_RX_HASH_SRC_IPV6, "
		"3 IBV_RX_HASH_DST_IPV6, 4 IBV_RX_HASH_SRC_PORT_TCP, "
		"5 IBV_RX_HASH_DST_PORT_TCP, 6 IBV_RX_HASH_SRC_PORT_UDP, "
		"7 IBV_RX_HASH_DST_PORT_UDP, 8 IBV_RX_HASH_IPSEC_SPI, 31 IBV_RX_HASH_INNER",
	[RDMAEZ_KIND_TM_FLAGS] = "0 IBV_TM_CAP_RC",
	[RDMAEZ_KIND_PCI_ATOMIC] = "0 IBV_PCI_ATOMIC_OPERATION_4_BYTE_SIZE_SUP, "
				   "1 IBV_PCI_ATOMIC_OPERATION_8_BYTE_SIZE_SUP, "
				   "2 IBV_PCI_ATOMIC_OPERATION_16_BYTE_SIZE_SUP",
	[RDMAEZ_KIND_QP_TYPES] = "2 IBV_QPT_RC, 3 IBV_QPT_UC, 4 IBV_QPT_UD, 8 IBV_QPT_RAW_PACKET, "
				 "9 IBV_QPT_XRC_SEND, 10 IBV_QPT_XRC_RECV",
	[RDMAEZ_KIND_PORT_FLAGS] =
		"1 IBV_PORT_SM, 2 IBV_PORT_NOTICE_SUP, 3 IBV_PORT_TRAP_SUP, "
		"4 IBV_PORT_OPT_IPD_SUP, 5 IBV_PORT_AUTO_MIGR_SUP, 6 IBV_PORT_SL_MAP_SUP, "
		"7 IBV_PORT_MKEY_NVRAM, 8 IBV_PORT_PKEY_NVRAM, 9 IBV_PORT_LED_INFO_SUP, "
		"10 IB_UVERBS_PCF_SM_DISABLED, 11 IBV_PORT_SYS_IMAGE_GUID_SUP, "
		"12 IBV_PORT_PKEY_SW_EXT_PORT_TRAP_SUP, 14 IBV_PORT_EXTENDED_SPEEDS_SUP, "
		"15 IBV_PORT_CAP_MASK2_SUP, 16 IBV_PORT_CM_SUP, 17 IBV_PORT_SNMP_TUNNEL_SUP, "
		"18 IBV_PORT_REINIT_SUP, 19 IBV_PORT_DEVICE_MGMT_SUP, "
		"20 IBV_PORT_VENDOR_CLASS_SUP, 21 IBV_PORT_DR_NOTICE_SUP, "
		"22 IBV_PORT_CAP_MASK_NOTICE_SUP, 23 IBV_PORT_BOOT_MGMT_SUP, "
		"24 IBV_PORT_LINK_LATENCY_SUP, 25 IBV_PORT_CLIENT_REG_SUP, "
		"26 IBV_PORT_IP_BASED_GIDS, 27 IB_UVERBS_PCF_LINK_SPEED_WIDTH_TABLE_SUP, "
		"28 IB_UVERBS_PCF_VENDOR_SPECIFIC_MADS_TABLE_SUP, "
		"29 IB_UVERBS_PCF_MCAST_PKEY_TRAP_SUPPRESSION_SUP, "
		"30 IB_UVERBS_PCF_MCAST_FDB_TOP_SUP, 31 IB_UVERBS_PCF_HIERARCHY_INFO_SUP",
	[RDMAEZ_KIND_PORT_FLAGS2] =
		"0 IBV_PORT_SET_NODE_DESC_SUP, 1 IBV_PORT_INFO_EXT_SUP, 2 IBV_PORT_VIRT_SUP, "
		"3 IBV_PORT_SWITCH_PORT_STATE_TABLE_SUP, 4 IBV_PORT_LINK_WIDTH_2X_SUP, "
		"5 IBV_PORT_LINK_SPEED_HDR_SUP, 10 IBV_PORT_LINK_SPEED_NDR_SUP, "
		"12 IBV_PORT_LINK_SPEED_XDR_SUP",
	[RDMAEZ_KIND_PORT_QPF] = "0 IBV_QPF_GRH_REQUIRED",
};

static void check_names(void)
{
	for (int kind = -1; kind <= RDMAEZ_KIND_TOTAL; kind++) {
		const enum rdmaez_caps_kind k = (enum rdmaez_caps_kind)kind;
		const bool is_kind = kind >= 0 && kind < RDMAEZ_KIND_TOTAL;
		const char *const want = is_kind && names_of[kind] ? names_of[kind] : "";
		char names[2048] = "";
		size_t length = 0;

		for (unsigned int number = 0; number < 1024; number++)
			if (strcmp(rdmaez_caps_kind_str(k, number), "unknown") != 0)
				length += (size_t)snprintf(names + length, sizeof(names) - length,
							   "%s%u %s", length ? ", " : "", number,
							   rdmaez_caps_kind_str(k, number));
		tap_eq_str(names, want, "kind %d has these names", kind);
		tap_eq_int(rdmaez_caps_kind_is_enum(k) || rdmaez_caps_kind_is_set(k), *want != 0,
			   "kind %d is an enum or a set if it has any", kind);
		tap_ok(!rdmaez_caps_kind_is_enum(k) || !rdmaez_caps_kind_is_set(k),
		       "kind %d is not both", kind);
	}
	tap_ok(rdmaez_caps_kind_is_enum(RDMAEZ_KIND_VL), "virtual lanes are the last enum");
	tap_ok(rdmaez_caps_kind_is_set(RDMAEZ_KIND_DEVICE_FLAGS), "device flags the first set");
	tap_eq_str(rdmaez_caps_kind_str(RDMAEZ_KIND_DEVICE_FLAGS, UINT64_C(1) << 32), "unknown",
		   "a number beyond 32 bits is not cut");
}

int main(void)
{
	check_descriptions();
	check_distinct();
	check_signs();
	check_derived();
	check_nothing();
	for (int part = 0; part <= 11; part++)
		check_part(part);
	check_ports_alone();
	check_silent();
	check_depths();
	check_partial();
	check_by_id();
	check_sources();
	check_names();
	return tap_done();
}
