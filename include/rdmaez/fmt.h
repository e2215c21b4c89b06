/* SPDX-License-Identifier: MIT */
/**
 * @file fmt.h
 * @brief Everything that writes text: explanations, masks, GIDs.
 *
 * The only header that uses stdio. Every function follows snprintf's rule: it writes at most @p size
 * bytes, the last one a NUL, and returns how long the whole text is without the NUL; more than
 * `size - 1` means that the text was cut. With size 0 the buffer may be NULL.
 *
 * Everything here is pure, calls no verb and may be called from any thread.
 */
#ifndef RDMAEZ_FMT_H
#define RDMAEZ_FMT_H

#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>

#include "qp.h"
#include "str.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where a text goes, and how long it has become. */
struct rdmaez_impl_text {
	char *buf;
	size_t size;
	size_t length;
};

RDMAEZ_API struct rdmaez_impl_text rdmaez_impl_text_in(char *buf, size_t size)
{
	struct rdmaez_impl_text text;

	text.buf = buf;
	text.size = size;
	text.length = 0;
	if (size)
		buf[0] = '\0';
	return text;
}

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
RDMAEZ_API void
rdmaez_impl_put(struct rdmaez_impl_text *text, const char *format, ...)
{
	const bool room = text->length < text->size;
	va_list arguments;
	int more;

	va_start(arguments, format);
	more = vsnprintf(room ? text->buf + text->length : NULL,
			 room ? text->size - text->length : 0, format, arguments);
	va_end(arguments);
	if (more > 0)
		text->length += (size_t)more;
}

/* The names of the bits that are set, joined by '|'; bits without a name as one hex number. */
RDMAEZ_API void rdmaez_impl_put_bits(struct rdmaez_impl_text *text, uint64_t bits,
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

/**
 * @brief An attribute mask by the names of its bits: "IBV_QP_STATE|IBV_QP_PORT".
 * @param attr_mask bits of `enum ibv_qp_attr_mask`; unknown ones are written as a hex number, none as 0
 * @param buf receives the text; may be NULL where @p size is 0
 * @param size bytes in @p buf
 * @return the length of the whole text
 */
RDMAEZ_API int rdmaez_qp_attr_mask_format(int attr_mask, char *buf, size_t size)
{
	struct rdmaez_impl_text text = rdmaez_impl_text_in(buf, size);

	rdmaez_impl_put_bits(&text, (unsigned int)attr_mask, rdmaez_qp_attr_str);
	return (int)text.length;
}

/**
 * @brief Access flags by name: "IBV_ACCESS_LOCAL_WRITE|IBV_ACCESS_REMOTE_READ".
 * @param access bits of `enum ibv_access_flags`; unknown ones are written as a hex number, none as 0
 * @param buf receives the text; may be NULL where @p size is 0
 * @param size bytes in @p buf
 * @return the length of the whole text
 */
RDMAEZ_API int rdmaez_access_format(unsigned int access, char *buf, size_t size)
{
	struct rdmaez_impl_text text = rdmaez_impl_text_in(buf, size);

	rdmaez_impl_put_bits(&text, access, rdmaez_access_str);
	return (int)text.length;
}

/** @brief A buffer of this size holds every GID as text. */
#define RDMAEZ_GID_TEXT INET6_ADDRSTRLEN

/**
 * @brief A GID in the form of an IPv6 address: "fe80::1", "::ffff:192.0.2.1".
 * @param gid the GID, not NULL
 * @param buf receives the text; may be NULL where @p size is 0
 * @param size bytes in @p buf; #RDMAEZ_GID_TEXT is always enough
 * @return the length of the whole text
 */
RDMAEZ_API int rdmaez_gid_format(const union ibv_gid *gid, char *buf, size_t size)
{
	struct rdmaez_impl_text text = rdmaez_impl_text_in(buf, size);
	char address[INET6_ADDRSTRLEN];

	if (inet_ntop(AF_INET6, gid->raw, address, sizeof(address)))
		rdmaez_impl_put(&text, "%s", address);
	return (int)text.length;
}

/* What was given and what is accepted, as the finding's kind asks; nothing where there is nothing. */
RDMAEZ_API void rdmaez_impl_put_values(struct rdmaez_impl_text *text,
				       const struct rdmaez_finding *finding)
{
	const long long value = (long long)finding->value;
	const char *(*name)(int) = NULL;
	const char *between = "";

	switch ((int)finding->kind) {
	case RDMAEZ_VALUE_NUMBER:
		rdmaez_impl_put(text, " Given: %lld; accepted: %lld to %lld.", value,
				(long long)finding->min, (long long)finding->max);
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
		for (int i = 0; i <= IBV_QPS_ERR; i++)
			if (finding->max >> i & 1) {
				rdmaez_impl_put(text, "%s %s", between,
						rdmaez_qp_state_str((enum ibv_qp_state)i));
				between = ",";
			}
		rdmaez_impl_put(text, ".");
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
	default:
		return;
	}
	rdmaez_impl_put(text, " These are: ");
	rdmaez_impl_put_bits(text, finding->value, name);
	rdmaez_impl_put(text, ".");
}

/**
 * @brief An explanation for people: what failed, then a line per finding.
 *
 * The first line tells the call, the errno by name, and the device, queue pair and transition where
 * there are any. Each further line tells a field, what is wrong with it, what was given and accepted,
 * and the next step. Every line ends in a newline.
 *
 * @param diag what a function found; NULL counts as empty
 * @param buf receives the text; may be NULL where @p size is 0
 * @param size bytes in @p buf; 2048 is enough for most
 * @return the length of the whole text
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_diag_format(const struct rdmaez_diag *diag, char *buf, size_t size)
{
	struct rdmaez_impl_text text = rdmaez_impl_text_in(buf, size);

	if (!diag || !diag->call)
		return 0;
	rdmaez_impl_put(&text, diag->error ? "%s failed with %s" : "%s succeeded", diag->call,
			rdmaez_errno_str(diag->error));
	if (diag->device[0])
		rdmaez_impl_put(&text, " on %s", diag->device);
	if (diag->qp_num)
		rdmaez_impl_put(&text, ", QP %u", diag->qp_num);
	if (diag->qp_type)
		rdmaez_impl_put(&text, ", %s", rdmaez_qp_type_str((enum ibv_qp_type)diag->qp_type));
	if (diag->to >= 0)
		rdmaez_impl_put(&text, ", %s to %s",
				rdmaez_qp_state_str((enum ibv_qp_state)diag->from),
				rdmaez_qp_state_str((enum ibv_qp_state)diag->to));
	rdmaez_impl_put(&text, ".\n");
	for (unsigned int i = 0; i < diag->count; i++) {
		const struct rdmaez_finding *finding = &diag->finding[i];

		rdmaez_impl_put(&text, "  %s: %s.", finding->field,
				rdmaez_reason_str(finding->reason));
		rdmaez_impl_put_values(&text, finding);
		rdmaez_impl_put(&text, " Next: %s.\n", rdmaez_reason_fix(finding->reason));
	}
	if (diag->dropped)
		rdmaez_impl_put(&text, "  And %u more.\n", diag->dropped);
	return (int)text.length;
}

#ifdef __cplusplus
}
#endif

#endif
