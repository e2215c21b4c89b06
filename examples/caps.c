/* SPDX-License-Identifier: MIT */
/*
 * What RDMA devices can do: all that `ibv_devinfo -v` prints and more, as text or JSON; what tells two
 * devices apart, or one device before and after an update; what several have in common.
 *
 * Build:  cc -std=c11 -Iinclude examples/caps.c -libverbs -o caps
 * Run:    ./caps, or on a machine without RDMA: tools/softroce ./caps
 */
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>

#include <rdmaez.h>

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
	"  --short    the most asked for, without the ports\n"
	"  --diff     how B differs from A, a line for each field; ports are not compared\n"
	"  --common   what all of them have in common: what a program can rely on\n"
	"  --help     this text\n"
	"\n"
	"A and B are devices, or files of saved JSON, of which the first object counts; - is the\n"
	"standard input. ./NAME is a file even where a device has that name.\n"
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
	char why[2048];

	rdmaez_diag_format(diag, why, sizeof(why));
	fprintf(stderr, "%s: %s", who, why);
	return TROUBLE;
}

static void print_device(const struct rdmaez_caps *caps)
{
	if (form == JSON)
		rdmaez_caps_json(caps, text, sizeof(text));
	else if (form == SHORT)
		rdmaez_caps_format_short(caps, text, sizeof(text));
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
	const int error = rdmaez_caps_query(context, &caps);
	const char *board;
	int status;

	if (error)
		return trouble(ibv_get_device_name(context->device), rdmaez_errno_str(error));
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
	int status = 0, printed = 0;

	for (struct ibv_device **device = devices; *device; device++) {
		struct ibv_context *context;

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
	return printed ? status : trouble(name ? name : "caps", "no such RDMA device");
}

static int load_device(struct ibv_device *device, struct rdmaez_caps *caps)
{
	struct ibv_context *context = ibv_open_device(device);
	const int error = context ? rdmaez_caps_query(context, caps) : errno;

	if (context)
		ibv_close_device(context);
	return error ? trouble(ibv_get_device_name(device), rdmaez_errno_str(error)) : 0;
}

/* A device by its name, or from a file. */
static int load(const char *name, struct rdmaez_caps *caps)
{
	struct rdmaez_diag diag;
	size_t length;
	FILE *file;

	for (struct ibv_device **device = devices; *device; device++)
		if (strcmp(name, ibv_get_device_name(*device)) == 0)
			return load_device(*device, caps);
	file = strcmp(name, "-") == 0 ? stdin : fopen(name, "r");
	if (!file)
		return trouble(name, "neither a device nor a file that can be read");
	clearerr(file);
	length = fread(text, 1, sizeof(text), file);
	if (ferror(file) || !feof(file))
		return trouble(name, "cannot be read, or is too long");
	if (file != stdin)
		fclose(file);
	return rdmaez_caps_parse(text, length, caps, &diag) ? explain(name, &diag) : 0;
}

/* Devices and files compared, or what they have in common. */
static int fold(char **names, size_t count, bool diff)
{
	struct rdmaez_caps *list = (struct rdmaez_caps *)calloc(count, sizeof(*list));
	int status = list ? 0 : trouble("caps", "no memory");

	for (size_t i = 0; !status && i < count; i++)
		status = load(names[i], &list[i]);
	if (!status && diff) {
		if (rdmaez_caps_diff_format(&list[0], &list[1], text, sizeof(text)))
			status = DIFFERENT;
		fputs(text, stdout);
	} else if (!status) {
		rdmaez_caps_common(list, count, &list[0]);
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

	for (int letter; (letter = getopt_long(argc, argv, "d:i:", options, NULL)) != -1;)
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
