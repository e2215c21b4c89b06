/* SPDX-License-Identifier: MIT */
/*
 * A port's GID table: what each GID is, what speaks against it, and which one rdmaez chooses; with a peer's
 * address, which one reaches that peer, and why.
 *
 * Build:  cc -std=c11 -Iinclude examples/gids.c -libverbs -o gids
 * Run:    ./gids [DEVICE [PORT [PEER]]], or on a machine without RDMA: tools/softroce ./gids
 */
#include <arpa/inet.h>
#include <getopt.h>
#include <stdlib.h>

#include <rdmaez.h>
#include <rdmaez/implementation.h>

enum {
	ENTRIES = 256
};

static const char usage[] = "usage: gids [DEVICE [PORT [PEER]]]\n"
			    "\n"
			    "Lists the GIDs of a port (1), each with any objection to it; * marks "
			    "the one that rdmaez chooses.\n"
			    "PEER is an IPv4 or IPv6 address or a GID: then * marks the one that "
			    "reaches it, and the reason is\n"
			    "shown. The default DEVICE is the first that has an active port.\n";
static const struct option help[] = {{"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};

static const char *class_name(const union ibv_gid *gid)
{
	switch (rdmaez_gid_class(gid)) {
	case RDMAEZ_GID_CLASS_ZERO:
		return "empty";
	case RDMAEZ_GID_CLASS_LINK_LOCAL:
		return "link-local";
	case RDMAEZ_GID_CLASS_IPV4:
		return "IPv4";
	case RDMAEZ_GID_CLASS_MULTICAST:
		return "multicast";
	case RDMAEZ_GID_CLASS_GLOBAL:
		return "global";
	}
	return "unknown";
}

static void print_entry(const struct ibv_gid_entry *entry, bool chosen)
{
	char gid[RDMAEZ_GID_TEXT];
	enum rdmaez_why why;
	const int rank = rdmaez_gid_rank(entry, NULL, &why);

	rdmaez_gid_format(&entry->gid, gid, sizeof(gid));
	printf("%c %3u  %-7s  %-10s  %s\n", chosen ? '*' : ' ', entry->gid_index,
	       rdmaez_gid_type_str(entry->gid_type), class_name(&entry->gid), gid);
	if (why != RDMAEZ_WHY_NONE)
		printf("       %s: %s\n", rank ? "second choice" : "of no use",
		       rdmaez_why_str(why));
}

/* An IPv6 address as a GID, or an IPv4 address mapped into one. */
static bool read_gid(const char *text, union ibv_gid *gid)
{
	memset(gid, 0, sizeof(*gid));
	if (inet_pton(AF_INET6, text, gid->raw) == 1)
		return true;
	memset(&gid->raw[10], 0xff, 2);
	return inet_pton(AF_INET, text, &gid->raw[12]) == 1;
}

int main(int argc, char **argv)
{
	static struct ibv_gid_entry entries[ENTRIES];
	struct ibv_context *context = NULL;
	const int letter = getopt_long(argc, argv, "h", help, NULL);
	struct rdmaez_gid_want want = {0};
	struct ibv_gid_entry best;
	struct rdmaez_diag diag;
	size_t count = 0;
	int error;

	if (letter != -1 || argc - optind > 3) {
		fputs(usage, letter == 'h' ? stdout : stderr);
		return letter == 'h' ? EXIT_SUCCESS : 2;
	}
	argv += optind;
	argc -= optind;
	const int port = argc > 1 ? atoi(argv[1]) : 1;
	if (rdmaez_device_open(argv[0], &context, &diag)) {
		rdmaez_diag_print(&diag, stderr);
		return EXIT_FAILURE;
	}
	if (argc > 2 && !read_gid(argv[2], &want.peer)) {
		fprintf(stderr, "%s: no such address\n", argv[2]);
		return EXIT_FAILURE;
	}
	best.gid_index = ENTRIES;
	error = rdmaez_port_gids(context, port, entries, ENTRIES, &count, &diag);
	if (!error)
		error = rdmaez_port_choose_gid(context, port, &want, &best, &diag);
	printf("%s port %d has %zu GIDs:\n", ibv_get_device_name(context->device), port, count);
	for (size_t i = 0; i < count && i < ENTRIES; i++)
		print_entry(&entries[i], entries[i].gid_index == best.gid_index);
	if (error || argc > 2)
		rdmaez_diag_print(&diag, error ? stderr : stdout);
	ibv_close_device(context);
	return error ? EXIT_FAILURE : EXIT_SUCCESS;
}
