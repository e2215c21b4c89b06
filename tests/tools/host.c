/* SPDX-License-Identifier: MIT */
/*
 * Another machine for rdmaez-doctor, by LD_PRELOAD: files below $HOST_TREE in place of /sys and of some in /proc, and
 * what the kernel answers of routes, neighbours and the way of datagrams.
 *
 *     HOST_ROUTE=TYPE,IFINDEX,SOURCE,GATEWAY  what RTM_GETROUTE answers, "-" for none. Of interfaces 7 is eth0
 *     HOST_VIA=1              its gateway comes as RTA_VIA
 *     HOST_NEIGHBOUR=PEER,STATE,LINK  what RTM_GETNEIGH lists: its NUD_ state in hexadecimal; LINK may be ipoib
 *     HOST_FAILS=socket|send|silent|closed|NUMBER  how a question ends, or the errno value that answers it
 *     HOST_FAILS=udp|ipv6|accept  there are no sockets of datagrams, or of IPv6; nobody can be accepted
 *     HOST_MTU=9000           IP_MTU of sockets; 0: they do not tell
 *     HOST_WAY=4000           the MTU of the way, which is told of larger packets, and IP_MTU from then on
 *     HOST_LOSES=1500         larger packets get lost; others come to a port that nobody has
 *     HOST_SEND=101, HOST_CONNECT=101  sending a datagram of one byte, or connecting its socket, fails so
 *     HOST_ETHTOOL=4,36       eth0 has sets of so many words, and supports the link mode of this bit; "4,": none is told
 *     HOST_TCP=110            connecting by TCP fails so
 *     HOST_LACKS=libibverbs.so.1  this library is not there
 *     HOST_RESENT=9           TCP has sent so many packets again
 *     HOST_NAMES=none         no name is found
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	EACH = 1024 /* bytes of an answer */
};

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static struct nlmsghdr asked;

static const char *setting(const char *name)
{
	const char *const value = getenv(name);

	return value ? value : "";
}

static int option_of(int fd, int option)
{
	socklen_t size = sizeof(int);
	int value = 0;

	REAL(getsockopt)(fd, SOL_SOCKET, option, &value, &size);
	return value;
}

static int fail(int error)
{
	errno = error;
	return -1;
}

/* Where a path leads. */
static const char *place_of(const char *path, char place[4096])
{
	if (!*setting("HOST_TREE") ||
	    (strncmp(path, "/sys/", 5) != 0 && strncmp(path, "/proc/driver/", 13) != 0 &&
	     strcmp(path, "/proc/kallsyms") != 0 && strcmp(path, "/proc/self/schedstat") != 0))
		return path;
	snprintf(place, 4096, "%s%s", setting("HOST_TREE"), path);
	return place;
}

int open(const char *path, int flags, ...)
{
	char place[4096];
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
	va_end(args);
	return REAL(open)(place_of(path, place), flags, mode);
}

int access(const char *path, int mode)
{
	char place[4096];

	return REAL(access)(place_of(path, place), mode);
}

char *if_indextoname(unsigned int index, char name[IF_NAMESIZE])
{
	return index == 7 ? strcpy(name, "eth0") : NULL;
}

unsigned int if_nametoindex(const char *name)
{
	return strcmp(name, "eth0") == 0 ? 7 : 0;
}

/* The kernel tells first how many words each set has, as a negative number, and wants to hear it again. */
int ioctl(int fd, unsigned long request, ...)
{
	unsigned int words = 0, bit = 0;
	struct ethtool_link_settings *link;
	__u32 *supported;
	va_list args;

	(void)fd;
	va_start(args, request);
	link = (struct ethtool_link_settings *)(void *)va_arg(args, struct ifreq *)->ifr_data;
	va_end(args);
	if (request != SIOCETHTOOL || link->cmd != ETHTOOL_GLINKSETTINGS ||
	    !sscanf(setting("HOST_ETHTOOL"), "%u,%u", &words, &bit))
		return fail(EOPNOTSUPP);
	if (link->link_mode_masks_nwords != (int)words || !words) {
		link->link_mode_masks_nwords = (__s8)-words;
		return 0;
	}
	if (sscanf(setting("HOST_ETHTOOL"), "%u,%u", &words, &bit) < 2)
		return fail(EBUSY);
	supported = (__u32 *)(link + 1);
	supported[bit / 32] |= 1u << bit % 32;
	supported[words] = ~0u; /* what is advertised is not asked for */
	return 0;
}

int accept4(int fd, struct sockaddr *from, socklen_t *size, int flags)
{
	return strcmp(setting("HOST_FAILS"), "accept") == 0 ? fail(EBADF)
							    : REAL(accept4)(fd, from, size, flags);
}

void *dlopen(const char *name, int flags)
{
	char path[4096];

	snprintf(path, sizeof(path), "/nowhere/%s", name ? name : "");
	return REAL(dlopen)(name && strcmp(setting("HOST_LACKS"), name) == 0 ? path : name, flags);
}

int socket(int family, int type, int protocol)
{
	if (family == AF_INET6 && strcmp(setting("HOST_FAILS"), "ipv6") == 0)
		return fail(EAFNOSUPPORT);
	if (family == AF_INET && strcmp(setting("HOST_FAILS"), "udp") == 0)
		return fail(EMFILE);
	if (family == AF_NETLINK && strcmp(setting("HOST_FAILS"), "socket") == 0)
		return fail(EPROTONOSUPPORT);
	return REAL(socket)(family, type, protocol);
}

int connect(int fd, const struct sockaddr *to, socklen_t size)
{
	if (option_of(fd, SO_TYPE) != SOCK_DGRAM)
		return *setting("HOST_TCP") ? fail(atoi(setting("HOST_TCP")))
					    : REAL(connect)(fd, to, size);
	return *setting("HOST_CONNECT") ? fail(atoi(setting("HOST_CONNECT"))) : 0;
}

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
		struct addrinfo **found)
{
	return *setting("HOST_NAMES") ? EAI_NONAME : REAL(getaddrinfo)(name, service, hints, found);
}

ssize_t send(int fd, const void *bytes, size_t length, int flags)
{
	const char *const fails = setting("HOST_FAILS");
	const int way = atoi(setting("HOST_WAY")), loses = atoi(setting("HOST_LOSES"));
	const int packet = (int)length + (option_of(fd, SO_DOMAIN) == AF_INET6 ? 48 : 28);

	if (option_of(fd, SO_DOMAIN) == AF_NETLINK) {
		memcpy(&asked, bytes, sizeof(asked));
		return strcmp(fails, "send") == 0 ? fail(ENOBUFS) : (ssize_t)length;
	}
	if (option_of(fd, SO_TYPE) != SOCK_DGRAM)
		return REAL(send)(fd, bytes, length, flags);
	if (length == 1 && *setting("HOST_SEND"))
		return fail(atoi(setting("HOST_SEND")));
	if (way && packet > way) {
		setenv("HOST_MTU", setting("HOST_WAY"), 1);
		return fail(EMSGSIZE);
	}
	return loses && packet > loses ? (ssize_t)length : fail(ECONNREFUSED);
}

int getsockopt(int fd, int level, int option, void *value, socklen_t *size)
{
	if ((level == IPPROTO_IP && option == IP_MTU) ||
	    (level == IPPROTO_IPV6 && option == IPV6_MTU)) {
		*(int *)value = atoi(setting("HOST_MTU"));
		return *(int *)value ? 0 : fail(ENOTCONN);
	}
	if (level == IPPROTO_TCP && option == TCP_INFO && *size == sizeof(struct tcp_info) &&
	    *setting("HOST_RESENT")) {
		((struct tcp_info *)value)->tcpi_total_retrans =
			(__u32)atoi(setting("HOST_RESENT"));
		return 0;
	}
	return REAL(getsockopt)(fd, level, option, value, size);
}

/* Adds an attribute to what is answered. */
static void add(struct nlmsghdr *head, unsigned short type, const void *data, size_t size)
{
	struct rtattr *const at = (struct rtattr *)((char *)head + NLMSG_ALIGN(head->nlmsg_len));

	at->rta_type = type;
	at->rta_len = (unsigned short)RTA_LENGTH(size);
	memcpy(RTA_DATA(at), data, size);
	head->nlmsg_len = (uint32_t)(NLMSG_ALIGN(head->nlmsg_len) + RTA_ALIGN(at->rta_len));
}

static void add_address(struct nlmsghdr *head, unsigned short type, const char *text)
{
	unsigned char address[18] = {AF_INET6 % 256, AF_INET6 / 256};
	const bool is_via = type == RTA_GATEWAY && *setting("HOST_VIA");

	if (inet_pton(AF_INET, text, address) == 1)
		add(head, type, address, 4);
	else if (is_via && inet_pton(AF_INET6, text, address + 2) == 1)
		add(head, RTA_VIA, address, 18);
	else if (inet_pton(AF_INET6, text, address) == 1)
		add(head, type, address, 16);
}

static void answer_route(struct nlmsghdr *head)
{
	struct rtmsg *const route = (struct rtmsg *)NLMSG_DATA(head);
	char source[64], gateway[64];
	unsigned int type, index;

	head->nlmsg_type = RTM_NEWROUTE;
	head->nlmsg_len = NLMSG_LENGTH(sizeof(*route));
	if (sscanf(setting("HOST_ROUTE"), "%u,%u,%63[^,],%63s", &type, &index, source, gateway) !=
	    4)
		abort();
	route->rtm_type = (unsigned char)type;
	add(head, RTA_OIF, &index, sizeof(index));
	add_address(head, RTA_PREFSRC, source);
	add_address(head, RTA_GATEWAY, gateway);
}

/* A list of one. */
static void answer_neighbour(struct nlmsghdr *head)
{
	struct ndmsg *const neighbour = (struct ndmsg *)NLMSG_DATA(head);
	unsigned int state = 0, b[6] = {0};
	char peer[64], address[64] = "";
	unsigned char link[20] = {0};

	head->nlmsg_type = RTM_NEWNEIGH;
	head->nlmsg_len = NLMSG_LENGTH(sizeof(*neighbour));
	sscanf(setting("HOST_NEIGHBOUR"), "%63[^,],%x,%63s", peer, &state, address);
	neighbour->ndm_ifindex = 7;
	neighbour->ndm_state = (uint16_t)state;
	add_address(head, NDA_DST, peer);
	if (sscanf(address, "%x:%x:%x:%x:%x:%x", &b[0], &b[1], &b[2], &b[3], &b[4], &b[5]) == 6)
		for (int i = 0; i < 6; i++)
			link[i] = (unsigned char)b[i];
	if (*address)
		add(head, NDA_LLADDR, link, strcmp(address, "ipoib") == 0 ? 20 : 6);
}

ssize_t recv(int fd, void *bytes, size_t size, int flags)
{
	struct nlmsghdr *head = (struct nlmsghdr *)bytes;
	const char *const fails = setting("HOST_FAILS");
	size_t all;

	if (option_of(fd, SO_DOMAIN) != AF_NETLINK)
		return REAL(recv)(fd, bytes, size, flags);
	errno = 0;
	if (strcmp(fails, "silent") == 0)
		return fail(EAGAIN);
	if (strcmp(fails, "closed") == 0)
		return 0;
	memset(bytes, 0, EACH);
	if (atoi(fails)) {
		struct nlmsgerr *const error = (struct nlmsgerr *)NLMSG_DATA(head);

		head->nlmsg_type = NLMSG_ERROR;
		head->nlmsg_len = NLMSG_LENGTH(sizeof(*error));
		error->error = -atoi(fails);
		return (ssize_t)head->nlmsg_len;
	}
	if (asked.nlmsg_type == RTM_GETROUTE) {
		answer_route(head);
		return (ssize_t)head->nlmsg_len;
	}
	answer_neighbour(head);
	head->nlmsg_flags = NLM_F_MULTI;
	all = NLMSG_ALIGN(head->nlmsg_len);
	head = (struct nlmsghdr *)((char *)bytes + all);
	head->nlmsg_type = NLMSG_DONE;
	head->nlmsg_len = NLMSG_LENGTH(4);
	return (ssize_t)(all + head->nlmsg_len);
}
