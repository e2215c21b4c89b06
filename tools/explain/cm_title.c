/* SPDX-License-Identifier: MIT */
/* The first line of what is told of librdmacm: what happened, between which addresses. */
#include <arpa/inet.h>
#include <stdarg.h>

#include "cm.h"
#include "text.h"

void cm_add(struct cm_title *title, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	explain_text_add(title->text, sizeof(title->text), &title->length, format, args);
	va_end(args);
}

static unsigned int port_of(const struct sockaddr *address)
{
	return ntohs(address->sa_family == AF_INET
			     ? ((const struct sockaddr_in *)(const void *)address)->sin_port
			     : ((const struct sockaddr_in6 *)(const void *)address)->sin6_port);
}

static bool has_ip(const struct sockaddr *address)
{
	return address && (address->sa_family == AF_INET || address->sa_family == AF_INET6);
}

/* The kernel takes a loopback address for one. */
bool cm_is_any(const struct sockaddr *address)
{
	const struct in6_addr *const ip6 =
		&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
	in_addr_t ip4;

	if (!has_ip(address))
		return false;
	if (address->sa_family != AF_INET)
		return IN6_IS_ADDR_UNSPECIFIED(ip6) || IN6_IS_ADDR_LOOPBACK(ip6);
	ip4 = ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr);
	return ip4 == INADDR_ANY || ip4 >> 24 == IN_LOOPBACKNET;
}

static void add_address(struct cm_title *title, const char *before, const struct sockaddr *address)
{
	char name[INET6_ADDRSTRLEN];
	const void *ip;

	if (!has_ip(address) || (cm_is_any(address) && !port_of(address)))
		return;
	ip = address->sa_family == AF_INET
		     ? (const void *)&((const struct sockaddr_in *)(const void *)address)->sin_addr
		     : (const void *)&((const struct sockaddr_in6 *)(const void *)address)
			       ->sin6_addr;
	cm_add(title, "%s %s", before, inet_ntop(address->sa_family, ip, name, sizeof(name)));
	if (port_of(address))
		cm_add(title, " port %u", port_of(address));
}

static const char *port_space(const struct rdma_cm_id *id)
{
	return id->ps == RDMA_PS_TCP     ? "RDMA_PS_TCP"
	       : id->ps == RDMA_PS_UDP   ? "RDMA_PS_UDP"
	       : id->ps == RDMA_PS_IB    ? "RDMA_PS_IB"
	       : id->ps == RDMA_PS_IPOIB ? "RDMA_PS_IPOIB"
					 : "an unknown port space";
}

/* Port space, queue pair and addresses, as far as they are known. */
void cm_add_about(struct cm_title *title, const struct cm_about *about)
{
	const struct rdma_cm_id *id = about->id;

	if (id)
		cm_add(title, ", %s", port_space(id));
	if (id && id->qp)
		cm_add(title, ", QP %u", id->qp->qp_num);
	add_address(title, ", from",
		    about->from ? about->from
		    : id        ? &id->route.addr.src_addr
				: NULL);
	add_address(title, ", to", about->to ? about->to : id ? &id->route.addr.dst_addr : NULL);
}

void cm_add_words(struct cm_title *title, const struct rdma_cm_event *event)
{
	const char *const words = (const char *)event->param.conn.private_data;
	size_t length = 0;

	if (!words)
		return;
	while (length < event->param.conn.private_data_len && words[length] >= ' ' &&
	       words[length] <= '~')
		length++;
	if (length > 3)
		cm_add(title, ", which says '%.*s'", length > 80 ? 80 : (int)length, words);
}
