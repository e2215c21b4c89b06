/* SPDX-License-Identifier: MIT */
/* rdmaez-explain: runs a command with the shared object in front of libibverbs and librdmacm. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "compare.h"
#include "core.h"
#include "record.h"
#include "wants.h"

enum {
	STATUS_USAGE = 2,
	STATUS_OWN = 125, /* as env(1) has them */
	STATUS_CANNOT_RUN = 126,
	STATUS_NOT_FOUND = 127
};

static const char help[] =
	"Usage: rdmaez-explain [OPTION...] COMMAND [ARG...], or --compare FILE...\n"
	"Run a command, and explain its RDMA verbs: if one is refused or a completion\n"
	"fails, say on stderr which field is wrong, why, and what to do.\n"
	"\n"
	"  --advice      also say what an expert would do otherwise\n"
	"  --line        print a line of key=value pairs for each finding\n"
	"  --json FILE   write a line of JSON for each finding to FILE\n"
	"  --stop        raise SIGTRAP at the first finding, for a debugger\n"
	"  --only KIND   only refusal, query, completion, event, cm or advice; repeatable\n"
	"  --log FILE    write to FILE in place of stderr\n"
	"  --summary     end with a summary even if nothing was found\n"
	"  --compare     print where the --json files of a job's processes disagree\n"
	"  --core FILE   print what a program under --waiting waited for by its core\n"
	"  --waiting N   also say what it waits for, after N seconds or at a signal\n"
	"  --signal NAME ask with USR2, HUP or none in place of SIGUSR1\n"
	"  -h, --help    print this\n"
	"\n"
	"Refused queries are only counted, unless --only query asks for them. If a\n"
	"program probes something and then does it in another way, that is no finding.\n"
	"\n"
	"Exit status: the command's; 128+N if signal N ended it; 2 for wrong options;\n"
	"125 if rdmaez-explain failed; 126 or 127 if the command cannot be run. With\n"
	"--compare: 0 if nothing was found, else 1; with --core: 1 if it cannot be read.\n";

/* What the command can reach of it is a copy, and `share`. */
static struct explain_output output = {.log = -1, .json = -1};
static struct explain_share *share;
/* With --waiting or --json; whether it was --waiting, and the signal to rdmaez-explain that asks. */
static struct explain_rows *rows;
static bool is_waiting;
static int asking = SIGUSR1;

__attribute__((__noreturn__)) static void fail(const char *what, const char *why)
{
	fprintf(stderr, "rdmaez-explain: %s: %s\n", what, why);
	exit(STATUS_OWN);
}

/* ---- What is shared ------------------------------------------------------------------------------- */

/* Newer than some headers: the file is not to be executed, which some systems insist on. */
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008u
#endif

/* Its number is none of the standard streams', which may be closed. */
static int memory_open(void)
{
	const unsigned int flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	int file = memfd_create("rdmaez-explain", flags | MFD_NOEXEC_SEAL), higher;

	if (file < 0 && errno == EINVAL)
		file = memfd_create("rdmaez-explain", flags);
	if (file < 0 || file > STDERR_FILENO)
		return file;
	higher = fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	close(file);
	return higher;
}

/* Its pages are there from the start: a program must not end because memory is full. For this user alone. */
static int memory_new(struct explain_memory *memory, size_t size)
{
	const int file = memory_open();
	struct stat is;
	int error;

	if (file < 0 || fchmod(file, 0600) || fstat(file, &is))
		fail("memory to share with the command", strerror(errno));
	error = posix_fallocate(file, 0, (off_t)size);
	if (error)
		fail("memory to share with the command", strerror(error));
	*memory = (struct explain_memory){(int)getpid(), file, is.st_ino};
	return file;
}

static void memory_seal(int file, int more)
{
	if (fcntl(file, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | more))
		fail("memory to share with the command", strerror(errno));
}

static void *share_new(struct explain_memory *memory, size_t size)
{
	const int file = memory_new(memory, size);
	void *map;

	memory_seal(file, 0);
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (map == MAP_FAILED)
		fail("memory to share with the command", strerror(errno));
	return map;
}

/* The options, for everybody to read and nobody to write; the environment gets to know where they are. */
static void publish(struct explain_options *options)
{
	struct explain_memory memory;
	const int file = memory_new(&memory, sizeof(*options));
	char *named;

	options->magic = EXPLAIN_MAGIC;
	options->asking = asking;
	if (write(file, options, sizeof(*options)) != (ssize_t)sizeof(*options))
		fail("memory to share with the command", strerror(errno));
	memory_seal(file, F_SEAL_WRITE);
	if (asprintf(&named, EXPLAIN_MEMORY_PRINT, memory.process, memory.descriptor,
		     memory.inode) < 0 ||
	    setenv(EXPLAIN_ENVIRONMENT, named, 1))
		fail("environment", strerror(ENOMEM));
	free(named);
}

/* ---- Options ---------------------------------------------------------------------------------------- */

__attribute__((__noreturn__)) static void usage(const char *what, const char *which)
{
	fprintf(stderr, "rdmaez-explain: %s%s; --help lists the options\n", what, which);
	exit(STATUS_USAGE);
}

static uint32_t kind_bit(const char *name)
{
	for (int kind = 0; kind < EXPLAIN_KIND_COUNT; kind++)
		if (!strcmp(name, explain_kind_name((enum explain_kind)kind)))
			return 1u << kind;
	usage("no kind of finding is called ", name);
}

static uint32_t read_seconds(const char *text)
{
	char *end;
	unsigned long seconds;

	errno = 0;
	seconds = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || seconds > 86400)
		usage("--waiting takes seconds, up to 86400, and not ", text);
	return (uint32_t)seconds;
}

/* 0: none. */
static int read_signal(const char *name)
{
	static const struct {
		const char *name;
		int signal;
	} known[] = {{"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"HUP", SIGHUP}, {"none", 0}};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(name, known[i].name))
			return known[i].signal;
	usage("--signal takes USR1, USR2, HUP or none, and not ", name);
}

/* An empty file, by the path that it has from everywhere. It stays open: what is left to the launcher goes there. */
static int make_file(struct explain_file *to, const char *name)
{
	const int file = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
	char *const real = file >= 0 ? realpath(name, NULL) : NULL;
	struct stat is;
	int length;

	/* A pipe, such as /dev/stdout may be, has no path but this one. */
	if (file >= 0 && !real && errno == ENOENT)
		length = snprintf(to->path, EXPLAIN_PATH, "/proc/%d/fd/%d", (int)getpid(), file);
	else if (real)
		length = snprintf(to->path, EXPLAIN_PATH, "%s", real);
	else
		fail(name, strerror(errno));
	if (length >= EXPLAIN_PATH)
		fail(name, strerror(ENAMETOOLONG));
	free(real);
	if (fstat(file, &is))
		fail(name, strerror(errno));
	to->device = is.st_dev;
	to->inode = is.st_ino;
	return file;
}

/* No command runs: it only reads. */
__attribute__((__noreturn__)) static void compare(int argc, char *argv[])
{
	int status;

	if (argc == 2 || argv[2][0] == '-')
		usage(argc == 2 ? "no file after --compare"
				: "--compare cannot be combined with another option: ",
		      argc == 2 ? "" : argv[2]);
	status = explain_compare_files(argv + 2, (size_t)argc - 2, stdout);
	exit(fflush(stdout) || ferror(stdout) ? STATUS_OWN : status);
}

static void read_options(int argc, char *argv[], struct explain_options *options)
{
	static const struct option known[] = {
		{"advice", no_argument, NULL, 'a'},
		{"line", no_argument, NULL, 'l'},
		{"json", required_argument, NULL, 'j'},
		{"stop", no_argument, NULL, 's'},
		{"only", required_argument, NULL, 'o'},
		{"log", required_argument, NULL, 'f'},
		{"summary", no_argument, NULL, 'S'},
		{"compare", no_argument, NULL, 'c'},
		{"core", required_argument, NULL, 'C'},
		{"waiting", required_argument, NULL, 'w'},
		{"signal", required_argument, NULL, 'g'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	const char *log = NULL, *json = NULL;
	uint32_t only = 0;
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, "+:h", known, NULL)) != -1) {
		switch (option) {
		case 'a':
			options->advice = true;
			break;
		case 'l':
			options->line = output.line = true;
			break;
		case 'j':
			json = optarg;
			break;
		case 's':
			options->stop = true;
			break;
		case 'o':
			only |= kind_bit(optarg);
			break;
		case 'f':
			log = optarg;
			break;
		case 'S':
			output.summary = true;
			break;
		case 'c':
			if (optind != 2)
				usage("--compare cannot be combined with another option", "");
			compare(argc, argv);
		case 'C':
			if (argc != optind)
				usage("--core takes one file, and no other option: ", argv[optind]);
			exit(explain_core(optarg, &output));
		case 'w':
			options->waiting = 1 + read_seconds(optarg);
			break;
		case 'g':
			asking = read_signal(optarg);
			break;
		case 'h':
			fputs(help, stdout);
			exit(fflush(stdout) ? STATUS_OWN : EXIT_SUCCESS);
		case ':':
			usage("a value is missing after ", argv[optind - 1]);
		default:
			usage("no such option: ", argv[optind - 1]);
		}
	}
	if (optind == argc)
		usage("no command", "");
	options->kinds = only ? only : EXPLAIN_USUAL_KINDS;
	if (options->advice)
		options->kinds |= 1u << EXPLAIN_ADVICE;
	options->advice = options->kinds >> EXPLAIN_ADVICE & 1;
	if (log)
		output.log = make_file(&options->log, log);
	if (json)
		output.json = make_file(&options->json, json);
	output.log_name = log;
	output.json_name = json;
}

/* ---- The command ------------------------------------------------------------------------------------ */

/* Beside the program where it was built, else where it is installed. */
static void find_object(char *path)
{
	static const char *const places[] = {"rdmaez-explain.so", "../lib/rdmaez/rdmaez-explain.so",
					     "../lib64/rdmaez/rdmaez-explain.so"};
	char self[EXPLAIN_PATH];
	const ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	size_t i = 0;

	if (length < 0)
		fail("/proc/self/exe", strerror(errno));
	self[length] = '\0';
	strrchr(self, '/')[1] = '\0';
	do {
		if (i == sizeof(places) / sizeof(*places))
			fail("rdmaez-explain.so",
			     "neither beside the program nor in ../lib/rdmaez or ../lib64/rdmaez");
		if (snprintf(path, EXPLAIN_PATH, "%s%s", self, places[i]) >= EXPLAIN_PATH)
			fail(self, strerror(ENAMETOOLONG));
	} while (access(path, R_OK) && ++i);
	if (strpbrk(path, " :$"))
		fail(path, "LD_PRELOAD takes no path with a space, a colon or a dollar sign");
}

/* Behind the user's own: a sanitizer's library, for one, must be the first. */
static void preload(const char *object)
{
	const char *const users = getenv("LD_PRELOAD");
	char *list;

	if (asprintf(&list, "%s%s%s", users ? users : "", users && users[0] ? ":" : "", object) <
		    0 ||
	    setenv("LD_PRELOAD", list, 1))
		fail("environment", strerror(ENOMEM));
	free(list);
}

static const int forwarded[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH, SIGCONT};
/* A terminal sends these to the command as well. */
static const int from_terminal[] = {SIGINT, SIGQUIT};

static void block_signals(sigset_t *blocked, sigset_t *before)
{
	sigemptyset(blocked);
	sigaddset(blocked, SIGCHLD);
	for (size_t i = 0; i < sizeof(forwarded) / sizeof(*forwarded); i++)
		sigaddset(blocked, forwarded[i]);
	for (size_t i = 0; i < sizeof(from_terminal) / sizeof(*from_terminal); i++)
		sigaddset(blocked, from_terminal[i]);
	sigprocmask(SIG_BLOCK, blocked, before);
}

static void pass_on(pid_t child, const siginfo_t *signal)
{
	if (signal->si_signo == SIGCHLD)
		return;
	if (rows && signal->si_signo == asking) {
		explain_judge_say(&output, EXPLAIN_ASKED);
		if (is_waiting)
			return;
	}
	/* Before the program ends, as by these it usually does. */
	if (signal->si_signo == SIGTERM || signal->si_signo == SIGINT ||
	    signal->si_signo == SIGQUIT) {
		explain_judge_say(&output, EXPLAIN_SIGNAL);
		explain_record_signal(signal->si_signo);
	}
	for (size_t i = 0; i < sizeof(from_terminal) / sizeof(*from_terminal); i++)
		if (signal->si_signo == from_terminal[i] && signal->si_code == SI_KERNEL)
			return;
	kill(child, signal->si_signo);
}

/* How the command ended, as waitpid() has it. */
static int wait_for(pid_t child, const sigset_t *blocked)
{
	const struct timespec moment = {.tv_nsec = 200000000};
	unsigned int rounds = 0;
	int status;

	while (waitpid(child, &status, WNOHANG) != child) {
		siginfo_t signal;

		if (sigtimedwait(blocked, &signal, &moment) > 0)
			pass_on(child, &signal);
		explain_write_waiting(share, &output, false);
		explain_write_ends(share, &output, false, false);
		explain_judge_look(&output);
		explain_record_look(&output);
		/* Often at first, then every 5 s. */
		if (++rounds < 5 || rounds % 25 == 0)
			explain_look_for_unseen(share, child);
	}
	return status;
}

/*
 * Programs that load libibverbs by themselves go on without it, mostly in silence, and then there is nothing to explain: an
 * image without it says so here. A program may bring its own, which the launcher does not find.
 */
static void tell_missing(void)
{
	void *const handle = dlopen("libibverbs.so.1", RTLD_LAZY);
	const char *const error = handle ? NULL : dlerror();
	const bool is_there =
		error && !strstr(error, "libibverbs.so.1: cannot open shared object file");

	if (handle)
		dlclose(handle);
	else
		fprintf(stderr,
			"rdmaez-explain: %s (%s): unless the program brings its own, it finds no "
			"RDMA device; install %slibibverbs1 and ibverbs-providers (Debian, "
			"Ubuntu), libibverbs (Fedora, RHEL) or rdma-core (Arch, Alpine); for a "
			"container, install them in its image\n",
			is_there ? "libibverbs cannot be loaded here"
				 : "there is no libibverbs here",
			error, is_there ? "what it lacks, or all of one release: " : "");
}

static int run(char *argv[])
{
	struct sigaction usual = {.sa_handler = SIG_DFL}, child_before, pipe_before;
	struct sigaction ignored = {.sa_handler = SIG_IGN};
	sigset_t blocked, before;
	int told[2], status, error;
	pid_t child;

	tell_missing();
	explain_ends_begin();
	/* Why the command could not be run; closed where it could. */
	if (pipe2(told, O_CLOEXEC))
		fail("pipe", strerror(errno));
	block_signals(&blocked, &before);
	sigaction(SIGCHLD, &usual, &child_before);
	sigaction(SIGPIPE, &ignored, &pipe_before);
	child = fork();
	if (child < 0)
		fail("fork", strerror(errno));
	if (!child) {
		sigaction(SIGCHLD, &child_before, NULL);
		sigaction(SIGPIPE, &pipe_before, NULL);
		sigprocmask(SIG_SETMASK, &before, NULL);
		execvp(argv[0], argv);
		error = errno;
		_exit(write(told[1], &error, sizeof(error)) < 0 ? STATUS_OWN
		      : error == ENOENT                         ? STATUS_NOT_FOUND
								: STATUS_CANNOT_RUN);
	}
	close(told[1]);
	status = wait_for(child, &blocked);
	share->ended = true;
	if (read(told[0], &error, sizeof(error)) == (ssize_t)sizeof(error)) {
		fprintf(stderr, "rdmaez-explain: %s: %s\n", argv[0], strerror(error));
	} else {
		explain_write_waiting(share, &output, true);
		explain_judge_failures(&output);
		explain_record_ended(child, status);
		if (WIFSIGNALED(status))
			explain_judge_say(&output, EXPLAIN_AT_END);
		else
			explain_judge_end(&output, status != 0);
		explain_ends_first(share, child, status);
		explain_write_ends(share, &output, true, status != 0);
		/* By these the dynamic linker ends what it does not start. Then there is no process to sum up. */
		if (share->attached || !WIFEXITED(status) ||
		    (WEXITSTATUS(status) != 1 && WEXITSTATUS(status) != 127) ||
		    !explain_tell_wants(argv[0]))
			explain_write_summaries(share, &output, argv[0]);
	}
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int main(int argc, char *argv[])
{
	static struct explain_options options;
	char object[EXPLAIN_PATH];

	read_options(argc, argv, &options);
	find_object(object);
	share = share_new(&options.share, sizeof(*share));
	is_waiting = options.waiting;
	if (is_waiting || output.json >= 0) {
		rows = share_new(&options.rows, sizeof(*rows));
		explain_judge_begin(rows, share,
				    is_waiting ? options.waiting - 1 : EXPLAIN_ONLY_KEEPS);
		explain_record_begin(share);
	}
	publish(&options);
	preload(object);
	return run(argv + optind);
}
