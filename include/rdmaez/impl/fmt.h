/* SPDX-License-Identifier: MIT */
/* Bodies of fmt.h. */
#ifndef RDMAEZ_IMPL_FMT_H
#define RDMAEZ_IMPL_FMT_H

#include "../fmt.h"

#if RDMAEZ_IMPL_BODIES

#include "../qp_rules.h"
#include "../str.h"
#include "text.h"
#include "wc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The names of the bits that are set, joined by '|'; bits without a name as one hex number. */
RDMAEZ_IMPL void rdmaez_impl_put_bits(struct rdmaez_impl_text *text, uint64_t bits,
				      const char *(*name)(int))
{
	const char *between = "";
	unsigned long long nameless = bits >> 31 << 31;

	for (int i = 0; i < 31; i++) {
		const int bit = 1 << i;

		if (!(bits >> i & 1))
			continue;
		if (!name || strcmp(name(bit), "unknown") == 0) {
			nameless |= (unsigned int)bit;
			continue;
		}
		rdmaez_impl_put(text, "%s%s", between, name(bit));
		between = "|";
	}
	if (nameless)
		rdmaez_impl_put(text, "%s0x%llx", between, nameless);
	else if (!bits)
		rdmaez_impl_put(text, "0");
}

RDMAEZ_API int rdmaez_qp_attr_mask_format(int attr_mask, char *buf, size_t size)
{
	struct rdmaez_impl_text text = rdmaez_impl_text_in(buf, size);

	rdmaez_impl_put_bits(&text, (unsigned int)attr_mask, rdmaez_qp_attr_str);
	return (int)text.length;
}

RDMAEZ_API int rdmaez_access_format(unsigned int access, char *buf, size_t size)
{
	struct rdmaez_impl_text text = rdmaez_impl_text_in(buf, size);

	rdmaez_impl_put_bits(&text, access, rdmaez_access_str);
	return (int)text.length;
}

/* The states whose bits are set, joined by commas. */
RDMAEZ_IMPL void rdmaez_impl_put_states(struct rdmaez_impl_text *text, uint64_t states)
{
	const char *between = "";

	for (int i = 0; i <= IBV_QPS_ERR; i++)
		if (states >> i & 1) {
			rdmaez_impl_put(text, "%s %s", between,
					rdmaez_qp_state_str((enum ibv_qp_state)i));
			between = ",";
		}
	rdmaez_impl_put(text, ".");
}

/* The numbers of a finding by its own function, which keeps the tables it needs out of other programs. */
RDMAEZ_IMPL void rdmaez_impl_put_own(struct rdmaez_impl_text *text,
				     const struct rdmaez_finding *finding,
				     enum rdmaez_finding_form form)
{
	const bool room = text->length < text->size;
	const int more = finding->format(finding, form, room ? text->buf + text->length : NULL,
					 room ? text->size - text->length : 0);

	if (more > 0)
		text->length += (size_t)more;
}

/* What was given and what is accepted, as the finding's kind asks; nothing where there is nothing. */
RDMAEZ_IMPL void rdmaez_impl_put_values(struct rdmaez_impl_text *text,
					const struct rdmaez_finding *finding)
{
	const long long value = (long long)finding->value;
	const char *(*name)(int) = NULL;

	if (finding->format) {
		rdmaez_impl_put_own(text, finding, RDMAEZ_FINDING_TEXT);
		return;
	}
	switch ((int)finding->kind) {
	case RDMAEZ_VALUE_NUMBER:
		rdmaez_impl_put(text, " Given: %lld; accepted: %lld", value,
				(long long)finding->min);
		if (finding->max != finding->min)
			rdmaez_impl_put(text, " to %lld", (long long)finding->max);
		rdmaez_impl_put(text, ".");
		return;
	case RDMAEZ_VALUE_INDEX:
		rdmaez_impl_put(text, " This is row %lld.", value);
		return;
	case RDMAEZ_VALUE_ATTR_MASK:
		name = rdmaez_qp_attr_str;
		break;
	case RDMAEZ_VALUE_ACCESS:
		name = rdmaez_access_str;
		break;
	case RDMAEZ_VALUE_FLAGS:
		break;
	case RDMAEZ_VALUE_STATE:
		rdmaez_impl_put(text, " Asked for: %s; possible:",
				rdmaez_qp_state_str((enum ibv_qp_state)finding->value));
		rdmaez_impl_put_states(text, finding->max);
		return;
	case RDMAEZ_VALUE_TYPE:
		rdmaez_impl_put(text, " Given: %s (%lld).",
				rdmaez_qp_type_str((enum ibv_qp_type)finding->value), value);
		return;
	case RDMAEZ_VALUE_MTU:
		rdmaez_impl_put(
			text, " Given: %lld; accepted: %lld (IBV_MTU_%s) to %lld (IBV_MTU_%s).",
			value, (long long)finding->min, rdmaez_mtu_str((enum ibv_mtu)finding->min),
			(long long)finding->max, rdmaez_mtu_str((enum ibv_mtu)finding->max));
		return;
	case RDMAEZ_VALUE_PKEY:
		rdmaez_impl_put(text, " Given: 0x%04llx.", (unsigned long long)finding->value);
		return;
	case RDMAEZ_VALUE_BYTES:
		if (finding->max == UINT64_MAX)
			rdmaez_impl_put(text, " Given: %llu bytes.",
					(unsigned long long)finding->value);
		else
			rdmaez_impl_put(text, " Given: %llu bytes; accepted: %llu to %llu.",
					(unsigned long long)finding->value,
					(unsigned long long)finding->min,
					(unsigned long long)finding->max);
		return;
	case RDMAEZ_VALUE_OPCODE:
		rdmaez_impl_put(text, " Given: %s (%lld).",
				rdmaez_wr_opcode_str((enum ibv_wr_opcode)finding->value), value);
		return;
	case RDMAEZ_VALUE_STATE_NOW:
		rdmaez_impl_put(text, " It is in %s; needed:",
				rdmaez_qp_state_str((enum ibv_qp_state)finding->value));
		rdmaez_impl_put_states(text, finding->max);
		return;
	case RDMAEZ_VALUE_POSITION:
		rdmaez_impl_put(text, " Its place in the list, counted from 0: %lld.", value);
		return;
	case RDMAEZ_VALUE_BYTE:
		rdmaez_impl_put(text, " This is byte %lld, counted from 0.", value);
		return;
	case RDMAEZ_VALUE_ADDRESS:
		rdmaez_impl_put(text, " Given: 0x%llx.", (unsigned long long)finding->value);
		return;
	case RDMAEZ_VALUE_LIMIT:
		rdmaez_impl_put(text, " At most: %llu.", (unsigned long long)finding->max);
		return;
	case RDMAEZ_VALUE_NS:
		rdmaez_impl_put(text, " Once: ");
		rdmaez_impl_put_ns(text, finding->value);
		rdmaez_impl_put(text, "; in all: ");
		rdmaez_impl_put_ns(text, finding->min);
		if (finding->max != finding->min) {
			rdmaez_impl_put(text, " to ");
			rdmaez_impl_put_ns(text, finding->max);
		}
		rdmaez_impl_put(text, ".");
		return;
	default:
		return;
	}
	rdmaez_impl_put(text, " These are: ");
	rdmaez_impl_put_bits(text, finding->value, name);
	rdmaez_impl_put(text, ".");
}

/* Where an attribute belongs that a transition does not take: the first that requires or takes it. */
RDMAEZ_IMPL void rdmaez_impl_put_home(struct rdmaez_impl_text *text, enum ibv_qp_type type, int bit)
{
	for (int want = 0; want < 2; want++)
		for (int i = 0; i < 49; i++) {
			const enum ibv_qp_state from = (enum ibv_qp_state)(i / 7);
			const enum ibv_qp_state to = (enum ibv_qp_state)(i % 7);
			const struct rdmaez_qp_rule rule = rdmaez_qp_rule(type, from, to);

			if (!((want ? rule.optional : rule.required) & bit))
				continue;
			rdmaez_impl_put(text, " %s belongs to %s to %s.", rdmaez_qp_attr_str(bit),
					rdmaez_qp_state_str(from), rdmaez_qp_state_str(to));
			return;
		}
	rdmaez_impl_put(text, " No transition of %s takes %s.", rdmaez_qp_type_str(type),
			rdmaez_qp_attr_str(bit));
}

/* The first line: what failed, where. */
RDMAEZ_IMPL void rdmaez_impl_put_headline(struct rdmaez_impl_text *text,
					  const struct rdmaez_diag *diag)
{
	char path[2][RDMAEZ_GID_TEXT];

	rdmaez_impl_put(text, diag->error ? "%s failed with %s" : "%s: %s", diag->call,
			diag->error ? rdmaez_errno_str(diag->error) : "no error");
	if (diag->device[0])
		rdmaez_impl_put(text, " on %s", diag->device);
	if (diag->driver)
		rdmaez_impl_put(text, " (driver %s)", diag->driver);
	if (diag->qp_num)
		rdmaez_impl_put(text, ", QP %u", diag->qp_num);
	if (diag->qp_type)
		rdmaez_impl_put(text, ", %s", rdmaez_qp_type_str((enum ibv_qp_type)diag->qp_type));
	if (diag->to >= 0)
		rdmaez_impl_put(text, ", %s to %s",
				rdmaez_qp_state_str((enum ibv_qp_state)diag->from),
				rdmaez_qp_state_str((enum ibv_qp_state)diag->to));
	else if (diag->from >= 0)
		rdmaez_impl_put(text, ", in %s",
				rdmaez_qp_state_str((enum ibv_qp_state)diag->from));
	if (!rdmaez_gid_is_zero(&diag->destination)) {
		rdmaez_gid_format(&diag->destination, path[1], sizeof(path[1]));
		rdmaez_impl_put(text, ", from GID row %u", diag->source.gid_index);
		if (!rdmaez_gid_is_zero(&diag->source.gid)) {
			rdmaez_gid_format(&diag->source.gid, path[0], sizeof(path[0]));
			rdmaez_impl_put(text, " (%s, %s, interface ", path[0],
					rdmaez_gid_type_str(diag->source.gid_type));
			if (diag->netdev[0])
				rdmaez_impl_put(text, "%s)", diag->netdev);
			else
				rdmaez_impl_put(text, "%u)", diag->source.ndev_ifindex);
		}
		rdmaez_impl_put(text, " to %s", path[1]);
	}
	rdmaez_impl_put(text, ".");
}

RDMAEZ_API int rdmaez_diag_format(const struct rdmaez_diag *diag, char *buf, size_t size)
{
	struct rdmaez_impl_text text = rdmaez_impl_text_in(buf, size);
	char words[2048];

	if (!diag || !diag->call)
		return 0;
	struct rdmaez_impl_text line = rdmaez_impl_text_in(words, sizeof(words));
	rdmaez_impl_put_headline(&line, diag);
	rdmaez_impl_put_wrapped(&text, "", "    ", words);
	for (unsigned int i = 0; i < diag->count; i++) {
		const struct rdmaez_finding *finding = &diag->finding[i];

		line = rdmaez_impl_text_in(words, sizeof(words));
		rdmaez_impl_put(&line, "%s%s: %s.",
				finding->severity == RDMAEZ_DIAG_ADVICE   ? "Advice, "
				: finding->severity == RDMAEZ_DIAG_LIKELY ? "Likely, "
									  : "",
				finding->field, rdmaez_why_str(finding->reason));
		rdmaez_impl_put_values(&line, finding);
		for (int bit = 1;
		     finding->reason == RDMAEZ_WHY_MASK_NOT_ALLOWED && bit <= IBV_QP_DEST_QPN;
		     bit <<= 1)
			if (finding->value & (uint64_t)bit)
				rdmaez_impl_put_home(&line, (enum ibv_qp_type)diag->qp_type, bit);
		rdmaez_impl_put(&line, " Next: %s.", rdmaez_why_fix(finding->reason));
		rdmaez_impl_put_wrapped(&text, "  ", "    ", words);
	}
	if (diag->dropped)
		rdmaez_impl_put(&text, "  And %u more.\n", diag->dropped);
	return (int)text.length;
}

/* "error", "likely" or "advice". */
RDMAEZ_IMPL const char *rdmaez_impl_severity_str(enum rdmaez_severity severity)
{
	return severity == RDMAEZ_DIAG_ERROR    ? "error"
	       : severity == RDMAEZ_DIAG_LIKELY ? "likely"
						: "advice";
}

RDMAEZ_API int rdmaez_diag_line(const struct rdmaez_diag *diag, char *buf, size_t size)
{
	struct rdmaez_impl_text text = rdmaez_impl_text_in(buf, size);

	if (!diag || !diag->call)
		return 0;
	rdmaez_impl_put(&text, "call=%s error=%s", diag->call, rdmaez_errno_str(diag->error));
	if (diag->device[0])
		rdmaez_impl_put(&text, " device=%s", diag->device);
	if (diag->driver)
		rdmaez_impl_put(&text, " driver=%s", diag->driver);
	if (diag->qp_num)
		rdmaez_impl_put(&text, " qp=%u", diag->qp_num);
	if (diag->qp_type)
		rdmaez_impl_put(&text, " type=%s",
				rdmaez_qp_type_str((enum ibv_qp_type)diag->qp_type));
	if (diag->to >= 0)
		rdmaez_impl_put(&text, " from=%s to=%s",
				rdmaez_qp_state_str((enum ibv_qp_state)diag->from),
				rdmaez_qp_state_str((enum ibv_qp_state)diag->to));
	else if (diag->from >= 0)
		rdmaez_impl_put(&text, " state=%s",
				rdmaez_qp_state_str((enum ibv_qp_state)diag->from));
	for (unsigned int i = 0; i < diag->count; i++)
		rdmaez_impl_put(&text, " finding=%s:%s:%s:0x%llx",
				rdmaez_impl_severity_str(diag->finding[i].severity),
				rdmaez_why_id(diag->finding[i].reason), diag->finding[i].field,
				(unsigned long long)diag->finding[i].value);
	if (diag->dropped)
		rdmaez_impl_put(&text, " dropped=%u", diag->dropped);
	return (int)text.length;
}

/* The numbers of a finding. */
RDMAEZ_IMPL void rdmaez_impl_put_json_values(struct rdmaez_impl_text *text,
					     const struct rdmaez_finding *finding)
{
	if (finding->format)
		rdmaez_impl_put_own(text, finding, RDMAEZ_FINDING_JSON);
	else
		rdmaez_impl_put(text, ",\"value\":%lld,\"min\":%lld,\"max\":%lld",
				(long long)finding->value, (long long)finding->min,
				(long long)finding->max);
}

RDMAEZ_API int rdmaez_diag_json(const struct rdmaez_diag *diag, char *buf, size_t size)
{
	struct rdmaez_impl_text text = rdmaez_impl_text_in(buf, size);
	char gid[RDMAEZ_GID_TEXT];

	rdmaez_impl_put(&text, "{");
	if (diag && diag->call) {
		rdmaez_impl_put_json_pair(&text, "", "call", diag->call);
		rdmaez_impl_put(&text, ",\"error\":%d", diag->error);
		rdmaez_impl_put_json_pair(&text, ",", "errno", rdmaez_errno_str(diag->error));
		if (diag->device[0])
			rdmaez_impl_put_json_pair(&text, ",", "device", diag->device);
		if (diag->driver)
			rdmaez_impl_put_json_pair(&text, ",", "driver", diag->driver);
		if (diag->qp_num)
			rdmaez_impl_put(&text, ",\"qp_num\":%u", diag->qp_num);
		if (diag->qp_type)
			rdmaez_impl_put_json_pair(
				&text, ",", "qp_type",
				rdmaez_qp_type_str((enum ibv_qp_type)diag->qp_type));
		if (diag->to >= 0) {
			rdmaez_impl_put_json_pair(
				&text, ",", "from",
				rdmaez_qp_state_str((enum ibv_qp_state)diag->from));
			rdmaez_impl_put_json_pair(&text, ",", "to",
						  rdmaez_qp_state_str((enum ibv_qp_state)diag->to));
		} else if (diag->from >= 0) {
			rdmaez_impl_put_json_pair(
				&text, ",", "state",
				rdmaez_qp_state_str((enum ibv_qp_state)diag->from));
		}
		if (!rdmaez_gid_is_zero(&diag->destination)) {
			rdmaez_gid_format(&diag->source.gid, gid, sizeof(gid));
			rdmaez_impl_put_json_pair(&text, ",", "sgid", gid);
			rdmaez_impl_put(&text, ",\"sgid_index\":%u", diag->source.gid_index);
			rdmaez_gid_format(&diag->destination, gid, sizeof(gid));
			rdmaez_impl_put_json_pair(&text, ",", "dgid", gid);
			if (diag->netdev[0])
				rdmaez_impl_put_json_pair(&text, ",", "netdev", diag->netdev);
		}
		rdmaez_impl_put(&text, ",\"dropped\":%u,\"findings\":[", diag->dropped);
		for (unsigned int i = 0; i < diag->count; i++) {
			const struct rdmaez_finding *finding = &diag->finding[i];

			rdmaez_impl_put_json_pair(&text, i ? ",{" : "{", "severity",
						  rdmaez_impl_severity_str(finding->severity));
			rdmaez_impl_put_json_pair(&text, ",", "reason",
						  rdmaez_why_id(finding->reason));
			rdmaez_impl_put_json_pair(&text, ",", "field", finding->field);
			rdmaez_impl_put_json_values(&text, finding);
			rdmaez_impl_put_json_pair(&text, ",", "what",
						  rdmaez_why_str(finding->reason));
			rdmaez_impl_put_json_pair(&text, ",", "next",
						  rdmaez_why_fix(finding->reason));
			rdmaez_impl_put(&text, "}");
		}
		rdmaez_impl_put(&text, "]");
	}
	rdmaez_impl_put(&text, "}");
	return (int)text.length;
}

/* What happened, the causes and what to do: a line for each, wrapped where it is too long. */
RDMAEZ_IMPL void rdmaez_impl_put_advice(struct rdmaez_impl_text *text,
					const struct rdmaez_advice *advice)
{
	char words[256];
	struct rdmaez_impl_text line = rdmaez_impl_text_in(words, sizeof(words));

	rdmaez_impl_put(&line, "What: %s.", advice->what);
	rdmaez_impl_put_wrapped(text, "  ", "    ", words);
	for (int i = 0; i < RDMAEZ_ADVICE_CAUSES && advice->cause[i]; i++) {
		line = rdmaez_impl_text_in(words, sizeof(words));
		rdmaez_impl_put(&line, "Likely: %s.", advice->cause[i]);
		rdmaez_impl_put_wrapped(text, "  ", "    ", words);
	}
	line = rdmaez_impl_text_in(words, sizeof(words));
	rdmaez_impl_put(&line, "Next: %s.", advice->fix);
	rdmaez_impl_put_wrapped(text, "  ", "    ", words);
}

RDMAEZ_API int rdmaez_wc_format(const struct ibv_wc *wc, char *buf, size_t size)
{
	struct rdmaez_impl_text text = rdmaez_impl_text_in(buf, size);
	const struct rdmaez_advice *advice = rdmaez_wc_explain(wc);

	if (!wc)
		return 0;
	rdmaez_impl_put(&text, "%s (%d) on QP %u, wr_id 0x%llx", advice->name, (int)wc->status,
			wc->qp_num, (unsigned long long)wc->wr_id);
	if (advice->valid & RDMAEZ_VALID_VENDOR_ERR)
		rdmaez_impl_put(&text, ", vendor_err 0x%x", wc->vendor_err);
	rdmaez_impl_put(&text, ".\n");
	rdmaez_impl_put_advice(&text, advice);
	if (rdmaez_wc_vendor_str(wc)[0])
		rdmaez_impl_put(&text, "  On mlx5 and mlx4 this vendor_err hints at: %s.\n",
				rdmaez_wc_vendor_str(wc));
	return (int)text.length;
}

/* What an event happened to. */
RDMAEZ_IMPL void rdmaez_impl_put_element(struct rdmaez_impl_text *text,
					 const struct ibv_async_event *event, unsigned int valid)
{
	if ((valid & RDMAEZ_VALID_QP) && event->element.qp)
		rdmaez_impl_put(text, " on QP %u", event->element.qp->qp_num);
	else if (valid & RDMAEZ_VALID_PORT_NUM)
		rdmaez_impl_put(text, " on port %d", event->element.port_num);
	else if ((valid & RDMAEZ_VALID_CQ) && event->element.cq)
		rdmaez_impl_put(text, " on a CQ of %d entries", event->element.cq->cqe);
	else if (valid & RDMAEZ_VALID_SRQ)
		rdmaez_impl_put(text, " on an SRQ");
	else if ((valid & RDMAEZ_VALID_WQ) && event->element.wq)
		rdmaez_impl_put(text, " on WQ %u", event->element.wq->wq_num);
}

RDMAEZ_API int rdmaez_event_format(const struct ibv_async_event *event, char *buf, size_t size)
{
	struct rdmaez_impl_text text = rdmaez_impl_text_in(buf, size);
	const struct rdmaez_advice *advice = rdmaez_event_explain(event);
	const unsigned int objects =
		RDMAEZ_VALID_CQ | RDMAEZ_VALID_QP | RDMAEZ_VALID_SRQ | RDMAEZ_VALID_WQ;

	if (!event)
		return 0;
	rdmaez_impl_put(&text, "%s (%d)", advice->name, (int)event->event_type);
	rdmaez_impl_put_element(&text, event, advice->valid);
	rdmaez_impl_put(&text, ".\n");
	rdmaez_impl_put_advice(&text, advice);
	rdmaez_impl_put(&text, "  Then: call ibv_ack_async_event()%s.\n",
			advice->valid & objects ? "; destroying the object waits for it" : "");
	return (int)text.length;
}

#ifdef __cplusplus
}
#endif

#endif /* RDMAEZ_IMPL_BODIES */

#endif
