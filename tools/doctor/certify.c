/* SPDX-License-Identifier: MIT */
/* rdmaez-doctor --certify: the device, the port, its objects, and then all steps in their order. */
#include "certify.h"
#include "load.h"
#include "side.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include <rdmaez/caps.h>

enum {
	WAITS = 60 /* how many waits the time of the whole run has room for */
};

/* --- The head of the file ----------------------------------------------------------------------------- */

static void say_machine(void)
{
	const time_t now = time(NULL);
	char date[16] = "", rdma_core[16];
	struct utsname name;
	struct tm day;

	if (gmtime_r(&now, &day))
		strftime(date, sizeof(date), "%Y-%m-%d", &day);
	side_rdma_core(rdma_core, sizeof(rdma_core));
	certify_fact("rdmaez", "%s", RDMAEZ_VERSION_STRING);
	certify_fact("date", "%s", date);
	if (!uname(&name)) {
		certify_fact("kernel", "%s", name.release);
		certify_fact("machine", "%s", name.machine);
	}
	certify_fact("rdma_core", "%s", rdma_core);
}

static void say_device(const struct certify *c)
{
	const struct ibv_device_attr *const device = &c->device;

	certify_fact("driver", "%s", c->driver->name);
	certify_fact("firmware", "%s", device->fw_ver);
	certify_fact("vendor_id", "0x%06x", device->vendor_id);
	certify_fact("vendor_part_id", "0x%x", device->vendor_part_id);
	certify_fact("hw_ver", "0x%x", device->hw_ver);
	certify_fact("transport", "%s", c->is_iwarp ? "iWARP" : "InfiniBand");
	certify_fact("link_layer", "%s", rdmaez_link_layer_str(c->port_attr.link_layer));
	certify_number("mtu", (uint64_t)rdmaez_mtu_bytes(c->port_attr.active_mtu));
	certify_number("ports", device->phys_port_cnt);
	certify_number("max_qp", (uint64_t)device->max_qp);
	certify_number("max_qp_wr", (uint64_t)device->max_qp_wr);
	certify_number("max_sge", (uint64_t)device->max_sge);
	certify_number("max_cqe", (uint64_t)device->max_cqe);
	certify_number("max_qp_rd_atom", (uint64_t)device->max_qp_rd_atom);
}

/* --- The device and the port -------------------------------------------------------------------------- */

/* The first port that is active, else the first. */
static int choose_port(struct certify *c, struct rdmaez_diag *diag)
{
	int error = 0;

	for (c->port = 1; c->port <= c->device.phys_port_cnt; c->port++) {
		error = rdmaez_port_query(c->context, c->port, &c->port_attr, diag);
		if (error || c->port_attr.state == IBV_PORT_ACTIVE)
			return error;
	}
	c->port = 1;
	return rdmaez_port_query(c->context, c->port, &c->port_attr, diag);
}

/* Everything that is sent goes to the port itself. */
static void aim(struct certify *c)
{
	struct rdmaez_qp_opts *const opts = &c->opts;

	opts->port = c->port;
	opts->port_attr = &c->port_attr;
	opts->device_attr = &c->device;
	opts->access = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
	if (c->has_atomics)
		opts->access |= IBV_ACCESS_REMOTE_ATOMIC;
	opts->path.sgid_index = rdmaez_exactly((int)c->gid.gid_index);
	opts->path.dgid = c->gid.gid;
	opts->path.dlid = c->is_ethernet ? 0 : c->port_attr.lid;
	opts->rq_psn = opts->sq_psn = rdmaez_psn_random();
}

static void certify_pkeys(struct certify *c)
{
	static const char step[] = "read the P_Keys";
	struct rdmaez_pkey_entry entry;
	struct rdmaez_diag diag;
	size_t count = 0;
	int error;

	if (c->is_iwarp) {
		certify_step(c, CERTIFY_NOT_OFFERED, step, "iWARP has none");
		return;
	}
	error = rdmaez_port_pkeys(c->context, c->port, &entry, 1, &count, &diag);
	if (!error && !count)
		certify_step(c, CERTIFY_FAIL, step, "the P_Key table is empty");
	else
		certify_is(c, step, error, &diag);
}

static bool certify_port(struct certify *c)
{
	static const struct rdmaez_gid_want any;
	struct rdmaez_diag diag;

	if (!certify_is(c, "query the port", choose_port(c, &diag), &diag))
		return false;
	snprintf(c->subject, sizeof(c->subject), "%s/%d", ibv_get_device_name(c->context->device),
		 c->port);
	c->is_ethernet = c->port_attr.link_layer == IBV_LINK_LAYER_ETHERNET;
	say_device(c);
	if (c->port_attr.state != IBV_PORT_ACTIVE) {
		certify_step(c, CERTIFY_FAIL, "a port is active",
			     "none of its ports is active, and nothing else was tried");
		return false;
	}
	certify_step(c, CERTIFY_PASS, "a port is active", "%s", "");
	certify_pkeys(c);
	return certify_is(c, "choose a GID",
			  rdmaez_port_choose_gid(c->context, c->port, &any, &c->gid, &diag), &diag);
}

/* Opens the device, and says what it is. */
static bool certify_device(struct certify *c)
{
	const char *const name = doctor_options.devices ? doctor_options.device[0] : NULL;
	struct rdmaez_caps caps;
	struct rdmaez_diag diag;
	char line[1024];

	if (load_error()) {
		doctor_say(DOCTOR_FAILED, "", "libibverbs cannot be loaded: %s", load_error());
		doctor_next("rdmaez-doctor --only provider");
		return false;
	}
	doctor_step("opening %s", name ? name : "a device");
	if (rdmaez_device_open(name, &c->context, &diag)) {
		doctor_say(DOCTOR_FAILED, name ? name : "", "there is no device to try");
		rdmaez_diag_line(&diag, line, sizeof(line));
		doctor_evidence("%s", line);
		doctor_next("rdmaez-doctor");
		return false;
	}
	certify_group(c, "device");
	say_machine();
	certify_step(c, CERTIFY_PASS, "open the device", "%s", "");
	if (ibv_query_device(c->context, &c->device)) {
		certify_step(c, CERTIFY_FAIL, "query the device", "%s", "");
		return false;
	}
	c->driver = rdmaez_driver_of(&c->device);
	c->is_iwarp = c->context->device->transport_type == IBV_TRANSPORT_IWARP;
	c->has_atomics = c->device.atomic_cap != IBV_ATOMIC_NONE;
	certify_is(c, "query its capabilities", rdmaez_caps_query(c->context, &caps, &diag), &diag);
	return certify_port(c);
}

/* --- Objects ------------------------------------------------------------------------------------------ */

/* The memory of all ends, of which the first begins. */
static int register_memory(struct certify *c, struct rdmaez_diag *diag)
{
	unsigned int access =
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;

	if (c->has_atomics)
		access |= IBV_ACCESS_REMOTE_ATOMIC;
	return rdmaez_mr_reg(c->pd, certify_memory(), (size_t)CERTIFY_SLOTS * CERTIFY_SLOT, access,
			     &c->mr, diag);
}

/* A domain that is in use stays; rdmaez says why. */
static void certify_busy(struct certify *c)
{
	struct rdmaez_diag diag;
	const int error = rdmaez_pd_dealloc(c->pd, &diag);

	if (!error)
		c->pd = NULL;
	certify_step_of(c,
			error == EBUSY && rdmaez_diag_find(&diag, RDMAEZ_WHY_PD_IN_USE)
				? CERTIFY_PASS
				: CERTIFY_FAIL,
			"deallocate a protection domain in use", &diag, "%s",
			error ? "" : "the device deallocated it");
}

static bool open_objects(struct certify *c)
{
	struct ibv_xrcd_init_attr xrcd = {0};
	struct rdmaez_diag diag;

	certify_group(c, "objects");
	doctor_step("%s", c->group);
	if (!certify_is(c, "allocate a protection domain",
			rdmaez_pd_alloc(c->context, &c->pd, &diag), &diag) ||
	    !certify_is(c, "register memory", register_memory(c, &diag), &diag))
		return false;
	certify_busy(c);
	xrcd.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
	xrcd.fd = -1;
	xrcd.oflags = O_CREAT;
	certify_is(c, "open an XRC domain", rdmaez_xrcd_open(c->context, &xrcd, &c->xrcd, &diag),
		   &diag);
	return c->pd != NULL;
}

static void close_objects(struct certify *c)
{
	struct rdmaez_diag diag;

	certify_group(c, "end");
	doctor_step("%s", c->group);
	if (c->xrcd)
		certify_is(c, "close the XRC domain", rdmaez_xrcd_close(c->xrcd, &diag), &diag);
	if (c->mr)
		certify_is(c, "deregister the memory", rdmaez_mr_dereg(c->mr, &diag), &diag);
	if (c->pd)
		certify_is(c, "deallocate the protection domain", rdmaez_pd_dealloc(c->pd, &diag),
			   &diag);
	certify_is(c, "close the device", rdmaez_device_close(c->context, &diag), &diag);
}

/* --- All of it ---------------------------------------------------------------------------------------- */

/* Types without a driver of their own, and whether there is traffic to try. */
static const struct {
	enum ibv_qp_type type;
	const char *name;
	bool has_traffic;
} types[] = {{IBV_QPT_RC, "RC", true},
	     {IBV_QPT_UC, "UC", true},
	     {IBV_QPT_UD, "UD", true},
	     {IBV_QPT_XRC_SEND, "XRC_SEND", true},
	     {IBV_QPT_XRC_RECV, "XRC_RECV", false},
	     {IBV_QPT_RAW_PACKET, "RAW_PACKET", false}};

static bool is_xrc(enum ibv_qp_type type)
{
	return type == IBV_QPT_XRC_SEND || type == IBV_QPT_XRC_RECV;
}

/* Returns whether queue pairs of this type have carried all kinds of data to each other. */
static bool certify_type(struct certify *c, size_t i)
{
	certify_group(c, types[i].name);
	if (is_xrc(types[i].type) && !c->xrcd) {
		certify_step(c, CERTIFY_NOT_OFFERED, "create a queue pair",
			     "there is no XRC domain");
		return false;
	}
	if (!certify_moves(c, types[i].type) || !types[i].has_traffic)
		return false;
	if (c->is_iwarp) {
		certify_step(c, CERTIFY_NOT_TRIED, "connect two queue pairs",
			     "on iWARP, rdma_cm connects them");
		return false;
	}
	return certify_traffic(c, types[i].type);
}

/* What RC queue pairs do besides carrying data; `has_rc`: they do that. */
static void certify_rc(struct certify *c, const char *group, void (*certify)(struct certify *c),
		       bool has_rc)
{
	certify_group(c, group);
	if (has_rc)
		certify(c);
	else
		certify_step(c, CERTIFY_NOT_TRIED, "all", "no data passed over RC before");
}

static void certify_all(struct certify *c)
{
	bool has_rc = false;

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (certify_type(c, i) && types[i].type == IBV_QPT_RC)
			has_rc = true;
	certify_rc(c, "more data", certify_extras, has_rc);
	certify_rc(c, "errors on purpose", certify_errors, has_rc);
	certify_rc(c, "drain and recover", certify_drain, has_rc);
	certify_group(c, "device memory");
	certify_device_memory(c, has_rc);
}

void doctor_check_certify(void)
{
	static struct certify c;

	c.wait_ns = doctor_options.timeout_ms * UINT64_C(1000000) / WAITS;
	if (certify_device(&c)) {
		aim(&c);
		if (open_objects(&c))
			certify_all(&c);
	}
	if (!c.context)
		return;
	close_objects(&c);
	certify_group(&c, NULL);
	certify_fact("complete", "yes");
}
