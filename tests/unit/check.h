/* SPDX-License-Identifier: MIT */
/* What the unit tests share: how a refusal is judged, and how two sets of attributes are compared. */
#ifndef CHECK_H
#define CHECK_H

#include <arpa/inet.h>

#include <rdmaez.h>

#include "fake_verbs.h"
#include "tap.h"
#include "tells.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* A GID from its sixteen bytes' text, "::ffff:192.0.2.9". */
static inline union ibv_gid gid_of(const char *text)
{
	union ibv_gid gid;

	if (inet_pton(AF_INET6, text, gid.raw) != 1)
		tap_bail("%s is no GID", text);
	return gid;
}

/*
 * A call was refused with this errno, and the record, where there is one, says the same, holds one
 * finding, and that one has this reason and this field.
 */
static inline TAP_PRINTF(6) void check_refusal(const struct rdmaez_diag *diag, int got, int error,
					       enum rdmaez_why reason, const char *field,
					       const char *fmt, ...)
{
	char name[200];
	va_list args;

	va_start(args, fmt);
	vsnprintf(name, sizeof(name), fmt, args);
	va_end(args);
	tap_eq_int(got, error, "%s: %s", name, rdmaez_errno_str(error));
	if (!diag)
		return;
	tap_eq_int(diag->error, error, "%s: the record holds the errno", name);
	tap_eq_count(diag, 1, "%s: there is one finding", name);
	tap_eq_str(diag->count ? rdmaez_why_id(diag->finding[0].reason) : NULL,
		   rdmaez_why_id(reason), "%s: the reason", name);
	tap_eq_str(diag->finding[0].field, field, "%s: the field", name);
	tap_ok(record_tells_all(diag), "%s: the texts tell the reason", name);
	tap_ok(record_is_consistent(diag), "%s: what is refused is not accepted", name);
}

/* The record, where there is one, tells our function, and the verb that refused; NULL: none did. */
static inline void check_call_and_verb(const struct rdmaez_diag *diag, const char *call,
				       const char *verb)
{
	if (!diag)
		return;
	tap_eq_str(diag->call, call, "the record names our function, %s", call);
	tap_eq_str(diag->verb, verb, "and the verb, %s", verb ? verb : "of which none refused");
}

/* The call succeeded, and the record, where there is one, is empty. */
static inline TAP_PRINTF(3) void check_success(const struct rdmaez_diag *diag, int got,
					       const char *fmt, ...)
{
	char name[200];
	va_list args;

	va_start(args, fmt);
	vsnprintf(name, sizeof(name), fmt, args);
	va_end(args);
	tap_eq_int(got, 0, "%s", name);
	if (!diag)
		return;
	tap_eq_int(diag->error, 0, "%s: the record holds no error", name);
	tap_eq_count(diag, 0, "%s: nor a finding", name);
	tap_eq_int(diag->dropped, 0, "%s: nor one that was dropped", name);
}

/* The first field in which two address vectors differ, NULL if they are the same. */
static inline const char *ah_difference(const struct ibv_ah_attr *a, const struct ibv_ah_attr *b)
{
	if (memcmp(&a->grh.dgid, &b->grh.dgid, sizeof(a->grh.dgid)) != 0)
		return "grh.dgid";
#define CHECK_FIELD(field)        \
	if (a->field != b->field) \
		return #field;
	CHECK_FIELD(grh.flow_label)
	CHECK_FIELD(grh.sgid_index)
	CHECK_FIELD(grh.hop_limit)
	CHECK_FIELD(grh.traffic_class)
	CHECK_FIELD(dlid)
	CHECK_FIELD(sl)
	CHECK_FIELD(src_path_bits)
	CHECK_FIELD(static_rate)
	CHECK_FIELD(is_global)
	CHECK_FIELD(port_num)
	return NULL;
}

/* The same for all that struct ibv_qp_attr holds, masked or not. */
static inline const char *attr_difference(const struct ibv_qp_attr *a, const struct ibv_qp_attr *b)
{
	const char *field = ah_difference(&a->ah_attr, &b->ah_attr);

	if (field)
		return field;
	CHECK_FIELD(qp_state)
	CHECK_FIELD(cur_qp_state)
	CHECK_FIELD(path_mtu)
	CHECK_FIELD(path_mig_state)
	CHECK_FIELD(qkey)
	CHECK_FIELD(rq_psn)
	CHECK_FIELD(sq_psn)
	CHECK_FIELD(dest_qp_num)
	CHECK_FIELD(qp_access_flags)
	CHECK_FIELD(cap.max_send_wr)
	CHECK_FIELD(cap.max_recv_wr)
	CHECK_FIELD(cap.max_send_sge)
	CHECK_FIELD(cap.max_recv_sge)
	CHECK_FIELD(cap.max_inline_data)
	CHECK_FIELD(pkey_index)
	CHECK_FIELD(alt_pkey_index)
	CHECK_FIELD(en_sqd_async_notify)
	CHECK_FIELD(sq_draining)
	CHECK_FIELD(max_rd_atomic)
	CHECK_FIELD(max_dest_rd_atomic)
	CHECK_FIELD(min_rnr_timer)
	CHECK_FIELD(port_num)
	CHECK_FIELD(timeout)
	CHECK_FIELD(retry_cnt)
	CHECK_FIELD(rnr_retry)
	CHECK_FIELD(alt_port_num)
	CHECK_FIELD(alt_timeout)
	CHECK_FIELD(rate_limit)
#undef CHECK_FIELD
	return ah_difference(&a->alt_ah_attr, &b->alt_ah_attr) ? "alt_ah_attr" : NULL;
}

#endif
