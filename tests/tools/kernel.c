/* SPDX-License-Identifier: MIT */
/*
 * A kernel for rdmaez-doctor, preloaded: it answers from the directory that KERNEL names in the environment.
 *
 *     PATH           what it has of a file stands in the file's place, as in sys/class/infiniband
 *     netlink        what RDMA netlink and DCB tell, line by line; without it there is no netlink
 *         dev INDEX NAME [PROTOCOL]     a device
 *         KIND INDEX MEMBER=VALUE...    an object of the device, and its members by the names below
 *         counter INDEX ID QP=NUMBER NAME=VALUE...      a counter of a queue pair
 *         refuse KIND ERRNO             listing this kind fails
 *         sys NETNS_MODE COPY_ON_FORK
 *         dcb NETDEV pfc=MASK app=SELECTOR/PROTOCOL/PRIORITY trust=SELECTOR...   in any order
 *         route FROM TO WAY             of IPv4: WAY is an interface, "local" or an errno value; "*" is any address
 *         bytes KIND HEX...             in place of the answer, a datagram; its first message gets the right number
 *     ifaddrs        the addresses of getifaddrs(), as "lo 127.0.0.1:0", or nothing behind the name
 *     ethtool/NETDEV what SIOCETHTOOL counts, as "rx_bytes=7" line by line; "refuse strings" or "stats": it does not
 *     later/         the same once the doctor has slept, which takes no time: what is there comes first
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <limits.h>
#include <linux/dcbnl.h>
#include <linux/ethtool.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <poll.h>
#include <rdma/rdma_netlink.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool is_later;
static int asked = -1, answers = -1; /* both ends of the one netlink socket */
static bool is_dcb;

/* The file in the place of `path`: `buf`, or `path` itself, but of /sys, which is the directory's alone. */
static const char *place(const char *path, char buf[PATH_MAX])
{
	const char *const kernel = getenv("KERNEL");
	struct stat is;

	for (int later = is_later; kernel && path[0] == '/' && later >= 0; later--) {
		snprintf(buf, PATH_MAX, "%s%s%s", kernel, later ? "/later" : "", path);
		if (!lstat(buf, &is))
			return buf;
	}
	return kernel && strncmp(path, "/sys/", 5) == 0 ? buf : path;
}

int open(const char *path, int flags, ...)
{
	char buf[PATH_MAX];
	va_list args;
	int mode;

	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, int) : 0;
	va_end(args);
	return (int)syscall(SYS_openat, AT_FDCWD, place(path, buf), flags, mode);
}

int access(const char *path, int mode)
{
	char buf[PATH_MAX];

	return (int)syscall(SYS_faccessat, AT_FDCWD, place(path, buf), mode);
}

ssize_t readlink(const char *path, char *to, size_t size)
{
	char buf[PATH_MAX];

	return syscall(SYS_readlinkat, AT_FDCWD, place(path, buf), to, size);
}

/* Only the doctor's own sleep waits for nothing, and for long. Of netlink nothing comes later than at once. */
int poll(struct pollfd *fds, nfds_t count, int ms)
{
	const int wait = count == 1 && fds->fd == asked ? 0 : ms;
	const struct timespec time = {wait / 1000, wait % 1000 * 1000000L};

	if (!count && ms >= 1000) {
		is_later = true;
		return 0;
	}
	return ppoll(fds, count, wait < 0 ? NULL : &time, NULL);
}

/* --- Messages ------------------------------------------------------------------------------------------------- */

static char message[1 << 16], batch[1 << 15];
static size_t size, batched;

static size_t attribute(unsigned int type, const void *data, size_t length)
{
	const struct nlattr head = {.nla_len = (__u16)(sizeof(head) + length),
				    .nla_type = (__u16)type};
	const size_t at = size;

	memset(message + size, 0, sizeof(head) + length + 3);
	memcpy(message + size, &head, sizeof(head));
	if (length)
		memcpy(message + size + sizeof(head), data, length);
	size += (sizeof(head) + length + 3) & ~(size_t)3;
	return at;
}

static size_t nest(unsigned int type)
{
	return attribute(type | NLA_F_NESTED, NULL, 0);
}

static void end(size_t at)
{
	((struct nlattr *)(void *)(message + at))->nla_len = (__u16)(size - at);
}

static void begin(unsigned int type, uint32_t number)
{
	const struct nlmsghdr head = {.nlmsg_type = (__u16)type, .nlmsg_seq = number};

	memcpy(message, &head, sizeof(head));
	size = sizeof(head);
}

static void flush(void)
{
	if (write(answers, batch, batched) != (ssize_t)batched)
		abort();
	batched = 0;
}

/* As the kernel does, several messages go together. */
static void answer(void)
{
	((struct nlmsghdr *)(void *)message)->nlmsg_len = (__u32)size;
	if (batched + size > sizeof(batch))
		flush();
	memcpy(batch + batched, message, size);
	batched += size;
}

static void error(int code, uint32_t number)
{
	begin(code ? NLMSG_ERROR : NLMSG_DONE, number);
	memcpy(message + size, &code, sizeof(code));
	size += sizeof(code);
	answer();
}

/* --- RDMA ------------------------------------------------------------------------------------------------------ */

static const struct {
	const char *name;
	unsigned int command, table, entry;
} kinds[] = {
#define KIND(name, ID)                                                  \
	{name, RDMA_NLDEV_CMD_RES_##ID##_GET, RDMA_NLDEV_ATTR_RES_##ID, \
	 RDMA_NLDEV_ATTR_RES_##ID##_ENTRY}
	KIND("qp", QP),
	KIND("cm_id", CM_ID),
	KIND("cq", CQ),
	KIND("mr", MR),
	KIND("pd", PD),
	KIND("ctx", CTX),
	KIND("srq", SRQ),
#undef KIND
	{"dev", RDMA_NLDEV_CMD_GET, 0, 0},
	{"sys", RDMA_NLDEV_CMD_SYS_GET, 0, 0},
	{"counter", RDMA_NLDEV_CMD_STAT_GET, RDMA_NLDEV_ATTR_STAT_COUNTER,
	 RDMA_NLDEV_ATTR_STAT_COUNTER_ENTRY},
};

static const struct {
	const char *name;
	unsigned int type;
	size_t size; /* 0: text; sizeof(struct sockaddr_storage): an address */
} members[] = {
	{"pid", RDMA_NLDEV_ATTR_RES_PID, 4},
	{"kernel", RDMA_NLDEV_ATTR_RES_KERN_NAME, 0},
	{"lqpn", RDMA_NLDEV_ATTR_RES_LQPN, 4},
	{"rqpn", RDMA_NLDEV_ATTR_RES_RQPN, 4},
	{"rq_psn", RDMA_NLDEV_ATTR_RES_RQ_PSN, 4},
	{"sq_psn", RDMA_NLDEV_ATTR_RES_SQ_PSN, 4},
	{"type", RDMA_NLDEV_ATTR_RES_TYPE, 1},
	{"state", RDMA_NLDEV_ATTR_RES_STATE, 1},
	{"pdn", RDMA_NLDEV_ATTR_RES_PDN, 4},
	{"ctxn", RDMA_NLDEV_ATTR_RES_CTXN, 4},
	{"cqe", RDMA_NLDEV_ATTR_RES_CQE, 4},
	{"bytes", RDMA_NLDEV_ATTR_RES_MRLEN, 8},
	{"rkey", RDMA_NLDEV_ATTR_RES_RKEY, 4},
	{"src", RDMA_NLDEV_ATTR_RES_SRC_ADDR, sizeof(struct sockaddr_storage)},
	{"dst", RDMA_NLDEV_ATTR_RES_DST_ADDR, sizeof(struct sockaddr_storage)},
};

/* "192.0.2.1:4000", "[fe80::1]:4000", or the number of another family. */
static struct sockaddr_storage address_of(char *text)
{
	struct sockaddr_storage address = {0};
	struct sockaddr_in6 *const v6 = (struct sockaddr_in6 *)&address;
	struct sockaddr_in *const v4 = (struct sockaddr_in *)&address;
	char *const port = strrchr(text, ':');

	address.ss_family = (sa_family_t)(!port ? atoi(text) : *text == '[' ? AF_INET6 : AF_INET);
	if (!port)
		return address;
	*port = '\0';
	v4->sin_port = htons((uint16_t)atoi(port + 1)); /* both have it there */
	if (*text != '[')
		inet_pton(AF_INET, text, &v4->sin_addr);
	text[strcspn(text, "]")] = '\0';
	if (*text == '[')
		inet_pton(AF_INET6, text + 1, &v6->sin6_addr);
	return address;
}

static void member(char *word)
{
	char *const value = word + strcspn(word, "=") + 1;
	struct sockaddr_storage address;
	uint64_t number;

	value[-1] = '\0';
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		if (strcmp(members[i].name, word) != 0)
			continue;
		number = strtoull(value, NULL, 0);
		address = members[i].size > 8 ? address_of(value) : (struct sockaddr_storage){0};
		if (!members[i].size)
			attribute(members[i].type, value, strlen(value) + 1);
		else
			attribute(members[i].type, members[i].size > 8 ? (void *)&address : &number,
				  members[i].size);
		return;
	}
	abort();
}

/* What is known of one counter: of which queue pair it is, and its values. */
static void counter(char *rest)
{
	const uint32_t id = (uint32_t)strtoul(rest, &rest, 0);
	size_t table, entry;
	uint64_t value;
	uint32_t qp;
	char *word;

	attribute(RDMA_NLDEV_ATTR_STAT_COUNTER_ID, &id, sizeof(id));
	word = strtok(rest, " ");
	qp = (uint32_t)atoi(word + strcspn(word, "=") + 1);
	table = nest(RDMA_NLDEV_ATTR_RES_QP);
	entry = nest(RDMA_NLDEV_ATTR_RES_QP_ENTRY);
	if (qp)
		attribute(RDMA_NLDEV_ATTR_RES_LQPN, &qp, sizeof(qp));
	end(entry);
	end(table);
	table = nest(RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
	while ((word = strtok(NULL, " ")) != NULL) {
		value = strtoull(word + strcspn(word, "=") + 1, NULL, 0);
		word[strcspn(word, "=")] = '\0';
		entry = nest(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY);
		attribute(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, word, strlen(word) + 1);
		attribute(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE, &value, sizeof(value));
		end(entry);
	}
	end(table);
}

static void device(uint32_t index, char *rest)
{
	const char *const name = strtok(rest, " "), *const protocol = strtok(NULL, " ");

	attribute(RDMA_NLDEV_ATTR_DEV_INDEX, &index, sizeof(index));
	attribute(RDMA_NLDEV_ATTR_DEV_NAME, name, strlen(name) + 1);
	if (protocol)
		attribute(RDMA_NLDEV_ATTR_DEV_PROTOCOL, protocol, strlen(protocol) + 1);
}

/* Answers what a line says, if it is of this kind and device. */
static void line(size_t kind, uint32_t of, uint32_t number, char *rest)
{
	uint32_t index = (uint32_t)strtoul(rest, &rest, 0);
	size_t table, entry;
	uint8_t byte[2];

	if (kinds[kind].table && index != of)
		return;
	begin(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, kinds[kind].command), number);
	if (kinds[kind].command == RDMA_NLDEV_CMD_GET) {
		device(index, rest);
		answer();
		return;
	}
	if (kinds[kind].command == RDMA_NLDEV_CMD_SYS_GET) {
		byte[0] = (uint8_t)index;
		byte[1] = (uint8_t)atoi(rest);
		attribute(RDMA_NLDEV_SYS_ATTR_NETNS_MODE, &byte[0], 1);
		attribute(RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK, &byte[1], 1);
		answer();
		return;
	}
	table = nest(kinds[kind].table);
	entry = nest(kinds[kind].entry);
	if (kinds[kind].command == RDMA_NLDEV_CMD_STAT_GET)
		counter(rest);
	else
		for (char *word = strtok(rest, " "); word; word = strtok(NULL, " "))
			member(word);
	end(entry);
	end(table);
	answer();
}

static void bytes(char *hex, uint32_t number)
{
	size = 0;
	for (char *word = strtok(hex, " "); word; word = strtok(NULL, " "))
		for (; word[0] && word[1]; word += 2)
			sscanf(word, "%2hhx", (unsigned char *)&message[size++]);
	if (size >= sizeof(struct nlmsghdr))
		((struct nlmsghdr *)(void *)message)->nlmsg_seq = number;
	if (write(answers, message, size) != (ssize_t)size)
		abort();
}

/* --- DCB, as dcbnl_ieee_fill() writes it ----------------------------------------------------------------------- */

static void app(char *rest, void *to)
{
	struct dcb_app *const row = to;

	row->selector = (__u8)strtoul(rest, &rest, 0);
	row->protocol = (__u16)strtoul(rest + 1, &rest, 0);
	row->priority = (__u8)strtoul(rest + 1, &rest, 0);
}

static void dcb(char *rest)
{
	const char *const netdev = strtok(rest, " ");
	struct ieee_pfc pfc = {.pfc_cap = 8};
	struct dcb_app row = {0};
	char *word[256];
	size_t count = 0, ieee, table;
	uint8_t byte;
	bool trusts = false;

	while ((word[count] = strtok(NULL, " ")) != NULL)
		count++;
	begin(RTM_GETDCB, 0);
	size += sizeof(struct dcbmsg);
	memset(message + size - sizeof(struct dcbmsg), 0, sizeof(struct dcbmsg));
	attribute(DCB_ATTR_IFNAME, netdev, strlen(netdev) + 1);
	ieee = nest(DCB_ATTR_IEEE);
	for (size_t i = 0; i < count; i++) {
		if (strncmp(word[i], "pfc=", 4) == 0) {
			pfc.pfc_en = (__u8)strtoul(word[i] + 4, NULL, 0);
			attribute(DCB_ATTR_IEEE_PFC, &pfc, sizeof(pfc));
		}
		trusts |= strncmp(word[i], "trust=", 6) == 0;
	}
	table = attribute(DCB_ATTR_IEEE_APP_TABLE, NULL, 0);
	for (size_t i = 0; i < count; i++) {
		if (strncmp(word[i], "app=", 4) != 0)
			continue;
		app(word[i] + 4, &row);
		attribute(DCB_ATTR_IEEE_APP, &row, sizeof(row));
	}
	end(table);
	table = trusts ? attribute(11, NULL, 0) : 0; /* DCB_ATTR_DCB_APP_TRUST_TABLE, Linux 6.3 */
	for (size_t i = 0; i < count; i++) {
		byte = (uint8_t)atoi(word[i] + strcspn(word[i], "=") + 1);
		if (strncmp(word[i], "trust=", 6) == 0 && strlen(word[i]) > 6)
			attribute(1, &byte, 1);
	}
	if (table)
		end(table);
	end(ieee);
	answer();
}

/* --- Routes ------------------------------------------------------------------------------------------------------ */

static void route(const char *way, uint32_t number)
{
	const struct rtmsg body = {.rtm_family = AF_INET,
				   .rtm_type = strcmp(way, "local") == 0 ? RTN_LOCAL : RTN_UNICAST};
	const unsigned int index = if_nametoindex(way);

	if (atoi(way)) {
		error(-atoi(way), number);
		return;
	}
	begin(RTM_NEWROUTE, number);
	memcpy(message + size, &body, sizeof(body));
	size += sizeof(body);
	attribute(RTA_OIF, &index, sizeof(index));
	answer();
}

static bool is_meant(const char *address, const char *raw)
{
	struct in_addr given;

	memcpy(&given, raw, sizeof(given));
	return strcmp(address, "*") == 0 || strcmp(address, inet_ntoa(given)) == 0;
}

/* The first line that has both addresses; without one there is no route. */
static void tell_route(const char *to, const char *from, uint32_t number)
{
	char buf[PATH_MAX], text[256], word[3][64], way[64] = "101";
	FILE *const file = fopen(place("/netlink", buf), "r");
	bool is_found = false;

	while (!is_found && fgets(text, sizeof(text), file)) {
		is_found = sscanf(text, "route %63s %63s %63s", word[0], word[1], word[2]) == 3 &&
			   is_meant(word[0], from) && is_meant(word[1], to);
		if (is_found)
			strcpy(way, word[2]);
	}
	fclose(file);
	route(way, number);
	flush();
}

/* --- The socket -------------------------------------------------------------------------------------------------- */

int socket(int domain, int type, int protocol)
{
	char buf[PATH_MAX];
	int both[2], other;

	if (domain != AF_NETLINK) {
		other = (int)syscall(SYS_socket, domain, type, protocol);
		asked = other == asked ? -1 : asked; /* it was closed */
		return other;
	}
	if (place("/netlink", buf) != buf) {
		errno = EPROTONOSUPPORT;
		return -1;
	}
	if (answers >= 0)
		close(answers);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, both))
		return -1;
	asked = both[0];
	answers = both[1];
	is_dcb = protocol == NETLINK_ROUTE;
	return asked;
}

/* What the lines say of a kind, whose name is a command's or "dcb". */
static void tell(const char *name, size_t kind, uint32_t of, uint32_t number)
{
	char buf[PATH_MAX], text[4096], *rest;
	FILE *const file = fopen(place("/netlink", buf), "r");
	int code = is_dcb ? -EOPNOTSUPP : 0;
	bool ends = true;

	while (fgets(text, sizeof(text), file)) {
		text[strcspn(text, "\n")] = '\0';
		rest = text + strcspn(text, " ");
		*rest++ = '\0';
		if (strcmp(text, name) == 0 && ends) {
			if (is_dcb)
				dcb(rest);
			else
				line(kind, of, number, rest);
			ends = !is_dcb;
			continue;
		}
		if (strncmp(rest, name, strlen(name)) != 0 || rest[strlen(name)] != ' ')
			continue;
		rest += strlen(name) + 1;
		if (strcmp(text, "refuse") == 0)
			code = -atoi(rest);
		if (strcmp(text, "bytes") == 0) {
			bytes(rest, number);
			ends = false;
		}
	}
	fclose(file);
	if (ends)
		error(code, number);
	if (batched)
		flush();
}

ssize_t send(int fd, const void *data, size_t length, int flags)
{
	const struct nlmsghdr *const head = data;
	const struct {
		struct nlattr head;
		uint32_t value;
	} *const of = (const void *)(head + 1);

	if (fd != asked || fd < 0)
		return syscall(SYS_sendto, fd, data, length, flags, NULL, 0);
	if (is_dcb && head->nlmsg_type == RTM_GETROUTE)
		tell_route((const char *)data + NLMSG_LENGTH(sizeof(struct rtmsg)) +
				   sizeof(struct nlattr),
			   (const char *)data + NLMSG_LENGTH(sizeof(struct rtmsg)) +
				   2 * sizeof(struct nlattr) + 4,
			   head->nlmsg_seq);
	else if (is_dcb)
		tell("dcb", 0, 0, 0);
	for (size_t i = 0; !is_dcb && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (head->nlmsg_type == RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, kinds[i].command))
			tell(kinds[i].name, i, kinds[i].table ? of->value : 0, head->nlmsg_seq);
	return (ssize_t)length;
}

/* --- Addresses --------------------------------------------------------------------------------------------------- */

int getifaddrs(struct ifaddrs **first)
{
	static struct sockaddr_storage address[16];
	static struct ifaddrs list[16];
	char buf[PATH_MAX], text[128];
	FILE *const file = fopen(place("/ifaddrs", buf), "r");
	char *word;
	size_t i;

	*first = NULL;
	for (i = 0; file && i < 16 && fgets(text, sizeof(text), file); i++) {
		list[i] = (struct ifaddrs){.ifa_name = strdup(strtok(text, " \n")),
					   .ifa_next = *first};
		word = strtok(NULL, " \n");
		if (word) {
			address[i] = address_of(word);
			list[i].ifa_addr = (struct sockaddr *)&address[i];
		}
		*first = &list[i];
	}
	if (file)
		fclose(file);
	return 0;
}

void freeifaddrs(struct ifaddrs *all)
{
	(void)all;
}

unsigned int if_nametoindex(const char *netdev)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "/sys/class/net/%s", netdev);
	return access(path, F_OK) == 0 ? (unsigned char)netdev[strlen(netdev) - 1] : 0;
}

/* The number of an interface is its last character. */
char *if_indextoname(unsigned int index, char *netdev)
{
	char buf[PATH_MAX];
	DIR *const folder = opendir(place("/sys/class/net", buf));
	const struct dirent *entry;
	char *found = NULL;

	while (folder && (entry = readdir(folder)) != NULL)
		if (entry->d_name[0] != '.' &&
		    (unsigned char)entry->d_name[strlen(entry->d_name) - 1] == index)
			found = netdev, snprintf(netdev, IF_NAMESIZE, "%.15s", entry->d_name);
	if (folder)
		closedir(folder);
	errno = ENXIO;
	return found;
}

/* --- The counters of an interface --------------------------------------------------------------------------------- */

/* Fills in what is not NULL; how many there are, or -1: `refused` is. */
static int count_lines(const char *netdev, const char *refused, char (*names)[ETH_GSTRING_LEN],
		       __u64 *values)
{
	char path[PATH_MAX], buf[PATH_MAX], text[128];
	FILE *file;
	int count = 0;

	snprintf(path, sizeof(path), "/ethtool/%s", netdev);
	file = fopen(place(path, buf), "r");
	while (file && count >= 0 && fgets(text, sizeof(text), file)) {
		text[strcspn(text, "\n")] = '\0';
		if (strncmp(text, "refuse ", 7) == 0) {
			count = strcmp(text + 7, refused) == 0 ? -1 : count;
			continue;
		}
		if (values)
			values[count] = strtoull(text + strcspn(text, "=") + 1, NULL, 0);
		if (names)
			snprintf(names[count], ETH_GSTRING_LEN, "%.*s", (int)strcspn(text, "="),
				 text);
		count++;
	}
	if (file)
		fclose(file);
	return count;
}

static bool ethtool(const char *netdev, void *request)
{
	struct ethtool_gstrings *const strings = request;
	struct ethtool_sset_info *const info = request;
	struct ethtool_stats *const stats = request;

	switch (info->cmd) {
	case ETHTOOL_GSSET_INFO:
		info->data[0] = (__u32)count_lines(netdev, "", NULL, NULL);
		return info->data[0] != 0;
	case ETHTOOL_GSTRINGS:
		return count_lines(netdev, "strings",
				   (char(*)[ETH_GSTRING_LEN])(void *)strings->data, NULL) >= 0;
	case ETHTOOL_GSTATS:
		return count_lines(netdev, "stats", NULL, stats->data) >= 0;
	default:
		return false;
	}
}

int ioctl(int fd, unsigned long request, ...)
{
	struct ifreq *argument;
	va_list args;

	va_start(args, request);
	argument = va_arg(args, struct ifreq *);
	va_end(args);
	if (request != SIOCETHTOOL)
		return (int)syscall(SYS_ioctl, fd, request, argument);
	errno = EOPNOTSUPP;
	return ethtool(argument->ifr_name, (void *)argument->ifr_data) ? 0 : -1;
}
