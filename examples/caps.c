/* SPDX-License-Identifier: MIT */
/*
 * What RDMA devices can do: all that `ibv_devinfo -v` prints and more, as text or JSON; what tells two
 * devices apart, or one device before and after an update; what several have in common.
 *
 * Build:  cc -std=c11 -Iinclude examples/caps.c -libverbs -ljson-c -o caps
 * Run:    ./caps, or on a machine without RDMA: tools/softroce ./caps
 */
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>

#include <rdmaez.h>
#include <rdmaez/caps.h>
#include <rdmaez/port_caps.h>
#include <rdmaez/implementation.h>

#include "caps_json.h"

static const char usage[] =
	"usage: caps [--json | --short] [-d DEVICE] [-i PORT]\n"
	"       caps --diff A B\n"
	"       caps --common [--json | --short] A...\n"
	"\n"
	"Prints what all devices, or DEVICE, and their ports, or PORT, can do.\n"
	"\n"
	"  -d DEVICE  this device only\n"
	"  -i PORT    this port only, the first being 1\n"
	"  --json     one JSON object per device, each on a line of its own\n"
	"  --short    the most important fields, without the ports\n"
	"  --diff     how B differs from A, a line for each field; ports are not compared\n"
	"  --common   what all of them have in common: what a program can rely on\n"
	"  -h, --help this text\n"
	"\n"
	"A and B are devices, or files of saved JSON, of which the first object counts; - is the\n"
	"standard input. ./NAME is a file even where a device has that name. A key that is "
	"unknown\n"
	"is an error, one that is missing leaves its value unknown.\n"
	"\n"
	"Exit status: 0, 1 where --diff finds a difference, 2 for trouble.\n";

enum {
	DIFFERENT = 1,
	TROUBLE = 2
};

static enum {
	FULL,
	JSON,
	SHORT
} form;

enum {
	GIDS = 4096, /* more rows than any port has */
	PKEYS = 1024
};

static struct ibv_device **devices;

/* Large enough for a port with so many rows, and for a file of a few devices. */
static char text[1 << 20];

static int trouble(const char *who, const char *what)
{
	fprintf(stderr, "%s: %s\n", who, what);
	return TROUBLE;
}

static int explain(const char *who, const struct rdmaez_diag *diag)
{
	fprintf(stderr, "%s: ", who);
	rdmaez_diag_print(diag, stderr);
	return TROUBLE;
}

/* A line of the short form; what is too long goes on in further ones. */
static void print_line(const char *name, const char *words)
{
	size_t column = 34;

	printf("  %-30s ", name);
	while (*words) {
		const size_t word = strcspn(words, " ");

		if (column > 34 && column + 1 + word > 100) {
			printf("\n%33s", "");
			column = 34;
		}
		printf(" %.*s", (int)word, words);
		column += 1 + word;
		words += word + strspn(words + word, " ");
	}
	puts("");
}

/* The groups that the device has, or lacks, or that are unknown, by the field that decides. */
static void print_groups(struct rdmaez_caps_table table, enum rdmaez_answer answer,
			 const char *title)
{
	static const enum rdmaez_caps_id deciding[] = {
		RDMAEZ_CAPS_ATOMIC_CAP,      RDMAEZ_CAPS_ODP_GENERAL_CAPS,
		RDMAEZ_CAPS_MAX_DM_SIZE,     RDMAEZ_CAPS_COMPLETION_TIMESTAMP_MASK,
		RDMAEZ_CAPS_MAX_TSO,         RDMAEZ_CAPS_RSS_SUPPORTED_QPTS,
		RDMAEZ_CAPS_RAW_PACKET_CAPS, RDMAEZ_CAPS_QP_RATE_LIMIT_MAX,
		RDMAEZ_CAPS_TM_MAX_NUM_TAGS, RDMAEZ_CAPS_MAX_CQ_COUNT,
		RDMAEZ_CAPS_MAX_MW,          RDMAEZ_CAPS_MAX_SRQ,
		RDMAEZ_CAPS_MAX_MCAST_GRP,
	};
	size_t length = 0;

	for (size_t i = 0; i < sizeof(deciding) / sizeof(deciding[0]); i++)
		if (rdmaez_caps_answer(table, deciding[i]) == answer)
			length += (size_t)snprintf(text + length, sizeof(text) - length, "%s ",
						   table.fields[deciding[i]].group);
	if (length)
		print_line(title, text);
}

/* What is asked for most. */
static void print_short(struct rdmaez_caps_table table)
{
	static const enum rdmaez_caps_id shown[] = {
		RDMAEZ_CAPS_NAME,           RDMAEZ_CAPS_TRANSPORT_TYPE,
		RDMAEZ_CAPS_FW_VER,         RDMAEZ_CAPS_NODE_GUID,
		RDMAEZ_CAPS_VENDOR_ID,      RDMAEZ_CAPS_VENDOR_PART_ID,
		RDMAEZ_CAPS_PORT_COUNT,     RDMAEZ_CAPS_MAX_QP,
		RDMAEZ_CAPS_MAX_QP_WR,      RDMAEZ_CAPS_MAX_SGE,
		RDMAEZ_CAPS_MAX_CQE,        RDMAEZ_CAPS_MAX_MR_SIZE,
		RDMAEZ_CAPS_MAX_QP_RD_ATOM, RDMAEZ_CAPS_MAX_QP_INIT_RD_ATOM,
		RDMAEZ_CAPS_ATOMIC_CAP,     RDMAEZ_CAPS_MAX_DM_SIZE,
	};
	struct rdmaez_caps_item item;

	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
		if (rdmaez_caps_answer(table, shown[i]) == RDMAEZ_ANSWER_UNKNOWN)
			continue;
		rdmaez_caps_get(table, shown[i], &item);
		rdmaez_caps_item_format(&item, text, sizeof(text));
		print_line(item.field->name, text);
	}
	print_groups(table, RDMAEZ_ANSWER_YES, "has");
	print_groups(table, RDMAEZ_ANSWER_NO, "lacks");
	print_groups(table, RDMAEZ_ANSWER_UNKNOWN, "unknown");
}

static void print_device(const struct rdmaez_caps *caps)
{
	if (form == SHORT) {
		print_short(rdmaez_caps_fields(caps));
		return;
	}
	if (form == JSON)
		rdmaez_caps_json(caps, text, sizeof(text));
	else
		rdmaez_caps_format(caps, text, sizeof(text));
	printf("%s%s", text, form == JSON ? "\n" : "");
}

/* A port and its tables, with something before it if there is anything to print. */
static int print_port(struct ibv_context *context, int port_num, const char *before)
{
	static struct ibv_gid_entry gids[GIDS];
	static struct rdmaez_pkey_entry pkeys[PKEYS];
	struct rdmaez_port_tables tables = {.gids = gids, .pkeys = pkeys};
	struct rdmaez_port_caps port;
	struct rdmaez_diag diag;

	if (rdmaez_port_caps_query(context, port_num, &port, &diag) ||
	    rdmaez_port_gids(context, port_num, gids, GIDS, &tables.gid_count, &diag) ||
	    rdmaez_port_pkeys(context, port_num, pkeys, PKEYS, &tables.pkey_count, &diag))
		return explain(ibv_get_device_name(context->device), &diag);
	if (tables.gid_count > GIDS || tables.pkey_count > PKEYS)
		return trouble(ibv_get_device_name(context->device), "too many rows");
	if (form == JSON)
		rdmaez_port_caps_json(&port, &tables, text, sizeof(text));
	else
		rdmaez_port_caps_format(&port, &tables, text, sizeof(text));
	printf("%s%s", before, text);
	return 0;
}

/* The ports, or one of them: in JSON as one more key of the device's object. */
static int print_ports(struct ibv_context *context, const struct rdmaez_caps *caps,
		       const char *only)
{
	const char *before = form == JSON ? "" : "\n";
	int status = 0;

	if (only)
		return print_port(context, (int)strtol(only, NULL, 10), before);
	/* Verbs have eight bits for a port's number. */
	for (int i = 1; i <= UINT8_MAX && (uint32_t)i <= caps->device.port_count; i++) {
		if (print_port(context, i, before))
			status = TROUBLE;
		else if (form == JSON)
			before = ",";
	}
	return status;
}

/* What verbs do not tell: the adapter's name with its maker, for which the kernel has a file. */
static const char *board_id(struct ibv_context *context)
{
	static char board[64];
	char name[IBV_SYSFS_PATH_MAX + 16];
	FILE *file;

	snprintf(name, sizeof(name), "%s/board_id", context->device->ibdev_path);
	file = fopen(name, "r");
	if (!file || !fgets(board, sizeof(board), file))
		board[0] = '\0';
	if (file)
		fclose(file);
	for (char *byte = board; *byte; byte++)
		if (*byte < ' ' || strchr("\"\\\x7f", *byte))
			*byte = '\0';
	return board;
}

static int print_context(struct ibv_context *context, const char *port)
{
	struct rdmaez_caps caps;
	struct rdmaez_diag diag;
	const char *board;
	int status;

	if (rdmaez_caps_query(context, &caps, &diag))
		return explain(ibv_get_device_name(context->device), &diag);
	board = board_id(context);
	if (form != JSON) {
		print_device(&caps);
		if (*board)
			printf("%s  %-30s  %s\n", form == SHORT ? "" : "\nboard\n", "board_id",
			       board);
		return form == SHORT ? 0 : print_ports(context, &caps, port);
	}
	/* All but the last brace. */
	printf("%.*s", rdmaez_caps_json(&caps, text, sizeof(text)) - 1, text);
	if (*board)
		printf(",\"board_id\":\"%s\"", board);
	printf(",\"ports\":[");
	status = print_ports(context, &caps, port);
	puts("]}");
	return status;
}

/* All devices, or the one of that name. */
static int print_all(const char *name, const char *port)
{
	struct ibv_context *context;
	int status = 0, printed = 0;
	struct rdmaez_diag diag;

	for (struct ibv_device **device = devices; *device; device++) {

		if (name && strcmp(name, ibv_get_device_name(*device)) != 0)
			continue;
		if (printed++ && form != JSON)
			puts("");
		context = ibv_open_device(*device);
		if (context ? print_context(context, port)
			    : trouble(ibv_get_device_name(*device), "cannot be opened"))
			status = TROUBLE;
		if (context)
			ibv_close_device(context);
	}
	if (!printed && rdmaez_device_open(name, &context, &diag)) /* it says why there is none */
		return explain("caps", &diag);
	return printed ? status : TROUBLE;
}

static int load_device(struct ibv_device *device, struct rdmaez_caps *caps)
{
	struct ibv_context *context = ibv_open_device(device);
	struct rdmaez_diag diag;
	int status = 0;

	if (!context)
		return trouble(ibv_get_device_name(device), "cannot be opened");
	if (rdmaez_caps_query(context, caps, &diag))
		status = explain(ibv_get_device_name(device), &diag);
	ibv_close_device(context);
	return status;
}

/* A device by its name, or from a file. */
static int load(const char *name, struct rdmaez_caps *caps)
{
	const char *wrong;
	size_t length;
	FILE *file;

	for (struct ibv_device **device = devices; *device; device++)
		if (strcmp(name, ibv_get_device_name(*device)) == 0)
			return load_device(*device, caps);
	file = strcmp(name, "-") == 0 ? stdin : fopen(name, "r");
	if (!file)
		return trouble(name, "neither a device nor a file that can be read");
	clearerr(file);
	length = fread(text, 1, sizeof(text) - 1, file);
	text[length] = '\0';
	if (ferror(file) || !feof(file))
		return trouble(name, "cannot be read, or is too long");
	if (file != stdin)
		fclose(file);
	wrong = read_caps(text, length, caps);
	return wrong ? trouble(name, wrong) : 0;
}

/* Devices and files compared, or what they have in common. */
static int fold(char **names, size_t count, bool diff)
{
	struct rdmaez_caps *list = (struct rdmaez_caps *)calloc(count, sizeof(*list));
	int status = list ? 0 : trouble("caps", "no memory");

	for (size_t i = 0; !status && i < count; i++)
		status = load(names[i], &list[i]);
	if (!status && diff) {
		if (rdmaez_caps_diff_format(rdmaez_caps_fields(&list[0]),
					    rdmaez_caps_fields(&list[1]), text, sizeof(text)))
			status = DIFFERENT;
		fputs(text, stdout);
	} else if (!status) {
		rdmaez_caps_common(list, count, &list[0], NULL);
		print_device(&list[0]);
	}
	free(list);
	return status;
}

/* Whether a word is a number, of a port that may exist or not. */
static bool is_number(const char *word)
{
	char *end;
	const long number = strtol(word, &end, 10);

	return *word && !*end && number >= INT_MIN && number <= INT_MAX;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"json", no_argument, NULL, 'j'}, {"short", no_argument, NULL, 's'},
		{"diff", no_argument, NULL, 'D'}, {"common", no_argument, NULL, 'C'},
		{"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0},
	};
	static struct ibv_device *none[1];
	const char *given[128] = {NULL}; /* to each option, by its letter */
	bool names, good;
	int status;

	for (int letter; (letter = getopt_long(argc, argv, "d:i:h", options, NULL)) != -1;)
		given[letter] = optarg ? optarg : "";
	if (given['h'])
		return fputs(usage, stdout) < 0 ? TROUBLE : 0;
	names = given['D'] || given['C'];
	argv += optind;
	argc -= optind;
	if (given['D'])
		good = argc == 2 && !given['C'] && !given['j'] && !given['s'];
	else
		good = given['C'] ? argc > 0 : !argc;
	if (given['?'] || !good || (given['j'] && given['s']) ||
	    (given['i'] && !is_number(given['i'])) || ((names || given['s']) && given['i']) ||
	    (names && given['d'])) {
		fputs(usage, stderr);
		return TROUBLE;
	}
	form = given['j'] ? JSON : given['s'] ? SHORT : FULL;
	devices = ibv_get_device_list(NULL);
	if (!devices) /* without RDMA in the kernel there are still files */
		devices = none;
	status = names ? fold(argv, (size_t)argc, given['D']) : print_all(given['d'], given['i']);
	return fclose(stdout) ? trouble("caps", "the output cannot be written") : status;
}
