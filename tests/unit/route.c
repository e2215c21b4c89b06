/* SPDX-License-Identifier: MIT */
/* What the kernel's routing is asked, and what comes of it. */
#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <rdmaez/port.h>
#include <rdmaez/impl/gid.h>
#include <rdmaez/implementation.h>
#include "fake_verbs.h"
#include "tap.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static struct rdmaez_impl_route route;

static union ibv_gid gid_of(const char *text)
{
	union ibv_gid gid;

	if (inet_pton(AF_INET6, text, gid.raw) != 1)
		tap_bail("%s is no address", text);
	return gid;
}

static void ask(const char *peer, const char *own)
{
	const union ibv_gid to = gid_of(peer), from = gid_of(own ? own : "::");

	memset(&route, 0xa5, sizeof(route));
	rdmaez_impl_route_ask(&to, own ? &from : NULL, &route);
}

static void answer(int error, const char *source, const char *name)
{
	char text[INET6_ADDRSTRLEN];

	tap_eq_int(route.error, error, "%s", name);
	inet_ntop(AF_INET6, route.source.raw, text, sizeof(text));
	tap_eq_str(text, source, "its source");
}

static void check_asked(int family, const char *peer, const char *bound)
{
	const struct fake_route_question *asked = fake_route_asked();
	const struct sockaddr_storage *const ends[] = {&asked->peer, &asked->bound};
	const char *const texts[] = {peer, bound};

	tap_eq_int(asked->family, family, "the socket's family");
	tap_eq_int(asked->flags, SOCK_DGRAM | SOCK_CLOEXEC, "of UDP, and not for children");
	tap_eq_int(asked->preferences, family == AF_INET6 ? 2 : 0,
		   "rather not a temporary address");
	for (size_t i = 0; i < COUNT_OF(ends); i++) {
		struct sockaddr_in6 six;
		struct sockaddr_in four;
		char text[INET6_ADDRSTRLEN] = "";

		memcpy(&six, ends[i], sizeof(six));
		memcpy(&four, ends[i], sizeof(four));
		if (six.sin6_family == AF_INET6) {
			inet_ntop(AF_INET6, &six.sin6_addr, text, sizeof(text));
			tap_eq_int(six.sin6_scope_id, 0, "of no interface");
		} else if (four.sin_family) {
			inet_ntop(AF_INET, &four.sin_addr, text, sizeof(text));
		}
		tap_eq_str(text, texts[i], i ? "bound to" : "connected to");
		tap_ok(!i == (four.sin_port != 0), "a port of the peer alone");
	}
}

/* One descriptor per question, closed again. */
static void check_descriptors(void)
{
	const int before = dup(0);
	int after;

	close(before);
	ask("::ffff:10.5.5.2", NULL);
	ask("2001:db8::2", "2001:db8::1");
	after = dup(0);
	close(after);
	tap_eq_int(after, before, "no descriptor is left");
}

static void check_open(void)
{
	fake_reset();
	fake_route_from("10.5.5.1");
	ask("::ffff:10.5.5.2", NULL);
	answer(0, "::ffff:10.5.5.1", "an IPv4 route");
	check_asked(AF_INET, "10.5.5.2", "");
	tap_eq_int(fake_route_count(), 1, "one question");
	fake_route_from("2001:db8::1");
	ask("2001:db8::2", NULL);
	answer(0, "2001:db8::1", "an IPv6 route");
	check_asked(AF_INET6, "2001:db8::2", "");
	ask("::ffff:10.5.5.2", NULL);
	answer(ENOBUFS, "::", "a socket that does not tell its address");
	fake_route(ENETUNREACH);
	ask("2001:db8::2", NULL);
	answer(ENETUNREACH, "::", "no route");
	fake_route(EHOSTUNREACH);
	ask("2001:db8::2", NULL);
	answer(EHOSTUNREACH, "::", "nor a host");
	fake_route(EACCES);
	ask("2001:db8::2", NULL);
	answer(EACCES, "::", "nor a right to ask");
	fake_route(0);
	ask("fe80::2", NULL);
	answer(EINVAL, "::", "a link-local peer takes an interface");
}

static void check_bound(void)
{
	fake_reset();
	ask("::ffff:10.5.5.2", "::ffff:10.5.5.1");
	answer(0, "::ffff:10.5.5.1", "from an address");
	check_asked(AF_INET, "10.5.5.2", "10.5.5.1");
	ask("2001:db8::2", "2001:db8::1");
	answer(0, "2001:db8::1", "from one of IPv6");
	check_asked(AF_INET6, "2001:db8::2", "2001:db8::1");
	fake_route_bind(EADDRNOTAVAIL);
	ask("::ffff:10.5.5.2", "::ffff:10.5.5.1");
	answer(EADDRNOTAVAIL, "::", "from one that the host does not have");
	fake_reset();
	ask("::ffff:10.5.5.2", "2001:db8::1");
	answer(EINVAL, "::", "from one of the other family");
	fake_route(ENETUNREACH);
	ask("2001:db8::2", "2001:db8::1");
	answer(ENETUNREACH, "::", "no route from there");
	fake_route_rule("2001:db8::1");
	ask("2001:db8::2", "2001:db8::1");
	answer(0, "2001:db8::1", "but by a rule");
}

int main(void)
{
	check_open();
	check_bound();
	check_descriptors();
	return tap_done();
}
