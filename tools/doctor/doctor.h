/* SPDX-License-Identifier: MIT */
/*
 * rdmaez-doctor: what the files of the tool share.
 *
 * A check is a function that looks at one thing and says how it is: one line for each subject, by doctor_say(), then
 * what that rests on, by doctor_evidence(), and what to do about it, by doctor_next(). The checks run one after the
 * other, each in a process of its own that is killed when its time is over: a check may block. What it said until then
 * is kept, and a line that it did not answer follows, with the last step it announced.
 *
 * A new check is a row in DOCTOR_CHECKS and a function doctor_check_NAME() in one of the files.
 */
#ifndef RDMAEZ_DOCTOR_H
#define RDMAEZ_DOCTOR_H

#include <dirent.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * X(NAME, MILLISECONDS, ABOUT): the checks, in the order of the report. ABOUT is the line of --list, and says what is
 * looked at. MILLISECONDS is how long the check may take, doctor_sleep() not counted.
 */
#define DOCTOR_CHECKS(X)                                                                       \
	X(versions, 3000, "versions: kernel, libibverbs, drivers, firmware, providers")        \
	X(modules, 2000, "kernel modules that verbs and rdma_cm need")                         \
	X(device, 5000, "RDMA devices, and where there is none, what could become one")        \
	X(node, 2000, "device nodes below /dev/infiniband, and who may open them")             \
	X(cm, 2000, "the node of rdma_cm")                                                     \
	X(provider, 10000, "provider libraries; libibverbs lists and opens each device")       \
	X(memlock, 2000, "how much memory a process may lock")                                 \
	X(files, 2000, "how many files a process may open")                                    \
	X(cgroup, 2000, "limits that cgroups set on RDMA objects")                             \
	X(objects, 10000, "how many objects each device has and can have; whose they are")     \
	X(namespace, 5000, "network namespaces: devices and GIDs that are in another one")     \
	X(fork, 2000, "whether fork() is safe with registered memory; huge pages")             \
	X(port, 3000, "state, link and MTU of the ports, and of their network interfaces")     \
	X(gids, 5000, "GIDs: addresses, types, interfaces, and which one is chosen")           \
	X(subnet, 5000, "interfaces in one subnet: ARP, reverse path filter; VLANs")           \
	X(quality, 3000, "priorities protected from loss (PFC), and which packets have them")  \
	X(counters, 5000, "what ports count: retries, loss, congestion, pause, errors")        \
	X(slot, 3000, "PCI Express slots, NUMA nodes, relaxed ordering, IOMMU")                \
	X(governor, 2000, "whether processors save power")                                     \
	X(gpu, 20000, "ways from GPU memory to RDMA devices, and what slows them down")        \
	X(caps, 5000, "what devices can do that programs ask for: ODP, device memory")         \
	X(path, 12000, "route, neighbour and MTU of the way to the peer; only with --peer")    \
	X(probe, 55000, "whether data passes between this end and the peer; only with --peer") \
	X(process, 15000, "what processes have and wait for; only with --pid or --job")        \
	X(certify, 280000, "what rdmaez and a device do together; only with --certify")

enum doctor_verdict {
	DOCTOR_OK,
	DOCTOR_NOTE,    /* neither good nor bad: for the reader to compare with what is wanted */
	DOCTOR_WARNING, /* works, but not for everything, or not as fast as it could */
	DOCTOR_FAILED   /* certain: this keeps programs from using RDMA here */
};

/* A row of DOCTOR_CHECKS. */
struct doctor_check {
	const char *name;
	const char *about;
	void (*run)(void);
	unsigned int deadline_ms;
};

#define DOCTOR_DECLARE(name, ms, about) void doctor_check_##name(void);
DOCTOR_CHECKS(DOCTOR_DECLARE)
#undef DOCTOR_DECLARE

/* What the command line said. */
struct doctor_options {
	const char *root;    /* --root; NULL: this machine */
	const char *peer;    /* --peer; NULL: none */
	const char *job;     /* --job; NULL: none */
	const char *certify; /* --certify: the file; NULL: none */
	int pid;             /* --pid; 0: none */
	bool json;
	bool gids;
	bool quiet;
	bool listen;
	uint16_t port;             /* --listen PORT; 0: the usual one */
	const char *bind;          /* --bind; NULL: all addresses */
	unsigned int seconds;      /* --seconds: between two samples of counters */
	unsigned int timeout_ms;   /* --timeout: the whole run */
	const char *const *device; /* DEVICE... */
	unsigned int devices;      /* how many of them; 0: all of the machine are meant */
};
extern struct doctor_options doctor_options;

/* --- say.c: what a check says ---------------------------------------------------------------- */

/*
 * Begins a line of the report: how it is with the subject ("" for the machine, "mlx5_0", "mlx5_0/1", "eth0"), as
 * printf() takes it.
 */
void doctor_say(enum doctor_verdict verdict, const char *subject, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Of the line just begun: the file or verb, and what it said. May be called more than once. */
void doctor_evidence(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Of the line just begun: what to do, as one would type it. May be called more than once. */
void doctor_next(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Announces what is done next, "opening mlx5_0", for the case that it does not end. Reading files does so itself. */
void doctor_step(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Waits without using up the check's time. */
void doctor_sleep(unsigned int ms);

/* A row of the table of GIDs. */
struct doctor_gid {
	char device[IBV_SYSFS_NAME_MAX];
	unsigned int port;
	unsigned int index;
	char gid[40];     /* as the kernel writes it, "fe80:0000:..." */
	char address[48]; /* the IPv4 address within; "": it is none */
	char type[16];    /* "RoCE v2" */
	char netdev[16];  /* "": none */
	/* of the interface: "up", "down", "elsewhere" for another network namespace, or "" */
	const char *state;
	bool chosen; /* what rdmaez would use for a peer that it does not know */
};
void doctor_gid(const struct doctor_gid *gid);

/* A row of the table of queue pairs, with --pid and --job. */
struct doctor_queue_pair {
	char device[IBV_SYSFS_NAME_MAX];
	uint32_t qp_num;
	const char *type;       /* "RC" */
	const char *state;      /* "RTS" */
	int pid;                /* whose it is */
	bool has_peer, has_psn; /* whether the next ones are known */
	uint32_t peer_qp_num;
	uint32_t sq_psn, rq_psn;
	bool moved; /* one of both, while the doctor watched */
	const char *
		where; /* the peer: "here", "there" on the host of --peer, "elsewhere" on another machine, "none", or "" */
	int peer_pid;               /* 0: not known, or not here */
	const char *device_of_peer; /* "": the same */
};
void doctor_queue_pair(const struct doctor_queue_pair *qp);

/* Serves peers until it is killed (serve.c); returns the exit status if it cannot. */
int doctor_listen(void);

/* --- report.c ------------------------------------------------------------------------------------- */

/* Runs these checks, prints the report, and returns the exit status. */
int doctor_report(const struct doctor_check *check, unsigned int checks);

/* --- read.c: files below --root ------------------------------------------------------------------- */

/* The path below --root; it is cut where it is too long for buf. */
void doctor_path(char *buf, size_t size, const char *path_format, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * Opens a path that doctor_path() has given, as open() does. Below --root, links are followed as if that were the root of
 * the file system: no path leads out of it, whoever has made the tree.
 */
int doctor_open_file(const char *path, int flags);
/* Where links lead: an absolute path with --root before it, for which buf has PATH_MAX bytes. False: there is none. */
bool doctor_real_path(char *buf, const char *path_format, ...)
	__attribute__((format(printf, 2, 3)));
/* Reads the first line of a file, without its newline. Returns 0, or a negative errno value, and "" then. */
int doctor_read(char *buf, size_t size, const char *path_format, ...)
	__attribute__((format(printf, 3, 4)));
/* Reads a whole file, as much of it as has room. Returns its length, or a negative errno value, and "" then. */
int doctor_read_all(char *buf, size_t size, const char *path_format, ...)
	__attribute__((format(printf, 3, 4)));
/* Reads a number, decimal or with 0x, that the first line of a file begins with. */
bool doctor_read_number(uint64_t *n, const char *path_format, ...)
	__attribute__((format(printf, 2, 3)));
/* The last component of what a symbolic link points at, such as the driver of a device. As doctor_read(). */
int doctor_read_link(char *buf, size_t size, const char *path_format, ...)
	__attribute__((format(printf, 3, 4)));
bool doctor_exists(const char *path_format, ...) __attribute__((format(printf, 1, 2)));
/*
 * Lists a directory without hidden files, "eth2" before "eth10". Returns the number of names, or a negative errno
 * value. *names lives as long as the check.
 */
int doctor_list(struct dirent ***names, const char *path_format, ...)
	__attribute__((format(printf, 2, 3)));

/* Whether the node of a device opens. Where it does not, libibverbs takes 5 s to open the device. */
bool doctor_node_opens(const char *device);
/* Whether a device that sysfs shows belongs to another network namespace than this process. */
bool doctor_is_elsewhere(const char *device);
/* Whether this looks like a container. */
bool doctor_in_container(void);

/* Whether the command line names this device, or none. */
bool doctor_is_meant(const char *device);
/* The RDMA devices that the kernel shows here, by name: those of the command line, or all. */
unsigned int doctor_device_count(void);

/* The entries of /sys/class/infiniband_verbs, listed once: a host may have a thousand devices. Less than 0: there are none. */
int doctor_uverbs(struct dirent ***names);
const char *doctor_device(unsigned int i);

#endif
