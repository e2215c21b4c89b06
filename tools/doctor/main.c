/* SPDX-License-Identifier: MIT */
/* rdmaez-doctor: why RDMA cannot be used here, or why it is slow. `rdmaez-doctor --help` is the short manual. */
#include "process.h"
#include "reach.h"

#include <rdmaez.h>
#include <rdmaez/impl/seam.h>

#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DOCTOR_ROW(name, ms, about) {#name, about, doctor_check_##name, ms},
static const struct doctor_check checks[] = {DOCTOR_CHECKS(DOCTOR_ROW)};
#define CHECKS (sizeof(checks) / sizeof(checks[0]))

struct doctor_options doctor_options;

enum {
	CERTIFY_MS = 300000 /* how long a run with --certify may take */
};

static const char help[] =
	"Usage: rdmaez-doctor [OPTION...] [DEVICE...]\n"
	"\n"
	"Says why RDMA cannot be used on this machine, or why it is slow. For each thing\n"
	"that matters, it says whether it is ok, what that rests on, and what to do. It\n"
	"changes nothing, needs no privileges, and always ends. With DEVICE, such as\n"
	"mlx5_0, it looks only at these RDMA devices.\n"
	"\n"
	"      --only CHECK     make only this check; may be repeated\n"
	"      --list           list the checks\n"
	"      --gids           print only the table of GIDs\n"
	"      --quiet          print only what is not ok\n"
	"      --json           print one JSON object\n"
	"      --seconds N      watch counters for N seconds (1)\n"
	"      --timeout N      end within N seconds, even if something hangs (60)\n"
	"      --pid PID        say what this process has and waits for\n"
	"      --job JOB        the same for command=NAME, cgroup=PATH or user=NAME\n"
	"      --peer HOST      try the way to HOST; with --pid, ask it for other ends\n"
	"      --listen [PORT]  answer --peer, until interrupted (TCP port 18510)\n"
	"      --bind ADDRESS   with --listen: only at this address\n"
	"      --certify[=FILE] try all that a device has, and write FILE about it\n"
	"      --root DIR       look at a copy of a machine's files; opens no device\n"
	"  -h, --help           print this text\n"
	"\n"
	"Exit status: 0 if nothing failed, 1 if something did, 2 for wrong usage.\n";

static int usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int usage_error(const char *format, ...)
{
	char text[512], plain[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	rdmaez_impl_plain(text, sizeof(text), plain, sizeof(plain));
	fprintf(stderr, "rdmaez-doctor: %s (try --help)\n", plain);
	return 2;
}

static bool read_number(unsigned int *n, const char *text, unsigned int min, unsigned int max)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	*n = (unsigned int)value;
	return text[0] >= '0' && text[0] <= '9' && *end == '\0' && value >= min && value <= max;
}

static int list_checks(void)
{
	size_t i;

	for (i = 0; i < CHECKS; i++)
		printf("%-12s %s\n", checks[i].name, checks[i].about);
	return 0;
}

/* Marks the check of this name. */
static bool choose(bool *chosen, const char *name)
{
	size_t i;

	for (i = 0; i < CHECKS; i++)
		if (strcmp(checks[i].name, name) == 0)
			return chosen[i] = true;
	return false;
}

static bool is_of_peer(const struct doctor_check *check)
{
	return check->run == doctor_check_path || check->run == doctor_check_probe;
}

static bool is_of_process(const struct doctor_check *check)
{
	return check->run == doctor_check_process;
}

static bool is_certify(const struct doctor_check *check)
{
	return check->run == doctor_check_certify;
}

static bool has_process(void)
{
	return doctor_options.pid || doctor_options.job;
}

/*
 * With --pid or --job processes are looked at, with --peer alone the way to it, and nothing else unless --only names it.
 */
static bool is_meant(const struct doctor_check *check, bool chosen, bool all)
{
	if (doctor_options.certify || is_certify(check))
		return doctor_options.certify &&
		       (is_certify(check) || (doctor_options.peer && is_of_peer(check)));
	if (!all)
		return chosen;
	if (has_process())
		return is_of_process(check);
	return is_of_peer(check) == (doctor_options.peer != NULL) && !is_of_process(check);
}

static int run_checks(const bool *chosen, bool all)
{
	struct doctor_check run[CHECKS];
	unsigned int n = 0;
	size_t i;

	for (i = 0; i < CHECKS; i++)
		if (is_meant(&checks[i], chosen[i], all))
			run[n++] = checks[i];
	return doctor_report(run, n);
}

static int print_and_flush(int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	perror("rdmaez-doctor: stdout");
	return 2;
}

enum {
	OPTION_ONLY = 256,
	OPTION_LIST,
	OPTION_GIDS,
	OPTION_QUIET,
	OPTION_JSON,
	OPTION_SECONDS,
	OPTION_TIMEOUT,
	OPTION_ROOT,
	OPTION_PEER,
	OPTION_LISTEN,
	OPTION_BIND,
	OPTION_PID,
	OPTION_JOB,
	OPTION_CERTIFY
};

static const struct option options[] = {{"only", required_argument, NULL, OPTION_ONLY},
					{"list", no_argument, NULL, OPTION_LIST},
					{"gids", no_argument, NULL, OPTION_GIDS},
					{"quiet", no_argument, NULL, OPTION_QUIET},
					{"json", no_argument, NULL, OPTION_JSON},
					{"seconds", required_argument, NULL, OPTION_SECONDS},
					{"timeout", required_argument, NULL, OPTION_TIMEOUT},
					{"root", required_argument, NULL, OPTION_ROOT},
					{"pid", required_argument, NULL, OPTION_PID},
					{"job", required_argument, NULL, OPTION_JOB},
					{"peer", required_argument, NULL, OPTION_PEER},
					{"listen", optional_argument, NULL, OPTION_LISTEN},
					{"bind", required_argument, NULL, OPTION_BIND},
					{"certify", optional_argument, NULL, OPTION_CERTIFY},
					{"help", no_argument, NULL, 'h'},
					{NULL, 0, NULL, 0}};

/* Takes "--listen 4000" as well as "--listen=4000": a device has no name of digits alone. */
static bool take_port(char *const *argv)
{
	unsigned int port;

	doctor_options.listen = true;
	if (!optarg && argv[optind] && read_number(&port, argv[optind], 0, UINT_MAX))
		optarg = argv[optind++];
	if (!optarg)
		return true;
	if (!read_number(&port, optarg, 1, UINT16_MAX))
		return false;
	doctor_options.port = (uint16_t)port;
	return true;
}

static bool is_directory(const char *path)
{
	struct stat is;

	return stat(path, &is) == 0 && S_ISDIR(is.st_mode);
}

/* What is wrong with the options of processes; NULL: nothing. */
static const char *process_conflict(const bool *chosen)
{
	struct process_job job;
	size_t i;

	for (i = 0; i < CHECKS; i++)
		if (chosen[i] && is_of_process(&checks[i]) && !has_process())
			return "the check process needs --pid or --job";
	if (!has_process())
		return NULL;
	if (doctor_options.pid && doctor_options.job)
		return "--pid and --job cannot be combined";
	if (doctor_options.root)
		return "--root looks at files, and --pid and --job need processes";
	if (doctor_options.listen)
		return "--pid and --job look at this machine, without --listen";
	return doctor_options.job ? process_parse(doctor_options.job, &job) : NULL;
}

/* What is wrong with --certify; NULL: nothing. */
static const char *certify_conflict(const bool *chosen, bool all)
{
	size_t i;

	for (i = 0; i < CHECKS; i++)
		if (chosen[i] && is_certify(&checks[i]) && !doctor_options.certify)
			return "the check certify needs --certify";
	if (!doctor_options.certify)
		return NULL;
	if (!all || has_process() || doctor_options.listen || doctor_options.root)
		return "--certify can be combined only with --peer, --quiet, --json, --timeout and "
		       "a DEVICE";
	return doctor_options.devices > 1 ? "--certify takes one DEVICE" : NULL;
}

/* What is wrong with the options together; NULL: nothing. */
static const char *conflict(const bool *chosen)
{
	struct peer_name name;
	size_t i;

	if (doctor_options.listen && doctor_options.peer)
		return "--listen and --peer cannot be combined: each is for one end";
	if (doctor_options.bind && !doctor_options.listen)
		return "--bind needs --listen";
	if (doctor_options.root && !is_directory(doctor_options.root))
		return "--root takes a directory";
	if (doctor_options.root && (doctor_options.listen || doctor_options.peer))
		return "--root looks at files, and --listen and --peer need a network";
	if (doctor_options.peer && !peer_parse(doctor_options.peer, &name))
		return "--peer takes HOST, HOST:PORT or [ADDRESS]:PORT";
	if (doctor_options.seconds > 1 &&
	    doctor_options.seconds * UINT64_C(1000) >= doctor_options.timeout_ms)
		return "--seconds must be less than --timeout";
	for (i = 0; i < CHECKS; i++)
		if (chosen[i] && is_of_peer(&checks[i]) && !doctor_options.peer)
			return "the checks path and probe need --peer";
	return process_conflict(chosen);
}

int main(int argc, char **argv)
{
	bool chosen[CHECKS] = {false}, all = true;
	const char *wrong;
	unsigned int n;
	int option;

	doctor_options.seconds = 1;
	opterr = 0;
	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (option) {
		case OPTION_ONLY:
			all = false;
			if (!choose(chosen, optarg))
				return usage_error("there is no check '%s'; --list names them",
						   optarg);
			break;
		case OPTION_LIST:
			return print_and_flush(list_checks());
		case OPTION_GIDS:
			doctor_options.gids = true;
			all = false;
			choose(chosen, "gids");
			break;
		case OPTION_QUIET:
			doctor_options.quiet = true;
			break;
		case OPTION_JSON:
			doctor_options.json = true;
			break;
		case OPTION_SECONDS:
			if (!read_number(&doctor_options.seconds, optarg, 1, 3600))
				return usage_error("--seconds takes 1 to 3600, not '%s'", optarg);
			break;
		case OPTION_TIMEOUT:
			if (!read_number(&n, optarg, 1, 86400))
				return usage_error("--timeout takes 1 to 86400, not '%s'", optarg);
			doctor_options.timeout_ms = n * 1000;
			break;
		case OPTION_ROOT:
			doctor_options.root = optarg;
			break;
		case OPTION_PEER:
			doctor_options.peer = optarg;
			break;
		case OPTION_PID:
			if (!read_number(&n, optarg, 1, INT_MAX))
				return usage_error("--pid takes the number of a process, not '%s'",
						   optarg);
			doctor_options.pid = (int)n;
			break;
		case OPTION_JOB:
			doctor_options.job = optarg;
			break;
		case OPTION_LISTEN:
			if (!take_port(argv))
				return usage_error("--listen takes 1 to 65535, not '%s'", optarg);
			break;
		case OPTION_CERTIFY:
			doctor_options.certify = optarg ? optarg : "rdmaez-certify.json";
			break;
		case OPTION_BIND:
			doctor_options.bind = optarg;
			break;
		case 'h':
			fputs(help, stdout);
			return print_and_flush(0);
		default:
			return usage_error("cannot take '%s'", argv[optind - 1]);
		}
	}
	doctor_options.device = (const char *const *)(argv + optind);
	doctor_options.devices = (unsigned int)(argc - optind);
	if (!doctor_options.timeout_ms)
		doctor_options.timeout_ms =
			doctor_options.certify ? CERTIFY_MS : 60000 + doctor_options.seconds * 1000;
	wrong = conflict(chosen);
	if (!wrong)
		wrong = certify_conflict(chosen, all);
	if (wrong)
		return usage_error("%s", wrong);
	if (doctor_options.listen)
		return doctor_listen();
	return print_and_flush(run_checks(chosen, all));
}
