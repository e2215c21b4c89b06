/* SPDX-License-Identifier: MIT */
/*
 * Counters: what grew while we watched, and what it means.
 *
 * A total says little: it may be of last year, and most counters also count what is normal when connections end. So
 * each is read twice. Only counters of the lists below are judged. None is ever reset.
 */
#include "counters.h"
#include "port.h"

#include <errno.h>
#include <fnmatch.h>
#include <linux/ethtool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct counter {
	const char *names;
	enum counter_when when;
	const char *meaning;
	const char *next;
};

#define COUNTER_ROW(names, drivers, when, meaning, next) {names, when, meaning, next},
static const struct counter counters[] = {RDMA_COUNTERS(COUNTER_ROW)};
static const struct counter netdev_counters[] = {NETDEV_COUNTERS(COUNTER_ROW)};

/* The bits of the counters that end instead of beginning anew, where a driver has them as IBTA defines them. */
static const struct {
	const char *name;
	unsigned int bits;
} limited[] = {
	{"symbol_error", 16},       {"link_error_recovery", 8},
	{"link_downed", 8},         {"port_rcv_errors", 16},
	{"port_xmit_discards", 16}, {"port_rcv_remote_physical_errors", 16},
	{"VL15_dropped", 16},       {"local_link_integrity_errors", 4},
	{"port_xmit_wait", 32},     {"excessive_buffer_overrun_errors", 4},
};

/* --- Samples ----------------------------------------------------------------------------------- */

struct sample {
	const struct counter *counter;
	const struct doctor_port *port;
	char path[160]; /* the file; or of ethtool: "" */
	char name[64];
	unsigned int index; /* of ethtool */
	bool is_read;
	uint64_t first, second;
};

static struct sample *samples;
static unsigned int sample_count;

/* The row whose names have this one. mlx5 begins those of a virtual function's port with vport_. */
static const struct counter *find(const struct counter *list, size_t count, const char *name)
{
	const char *at;
	char one[64];
	size_t i, length;

	if (!strncmp(name, "vport_", 6))
		name += 6;
	for (i = 0; i < count; i++) {
		for (at = list[i].names; *at; at += length + (at[length] == '|')) {
			length = strcspn(at, "|");
			snprintf(one, sizeof(one), "%.*s", (int)length, at);
			if (!fnmatch(one, name, 0))
				return &list[i];
		}
	}
	return NULL;
}

static struct sample *add_sample(const struct doctor_port *port, const struct counter *counter,
				 const char *name)
{
	struct sample *more =
		(struct sample *)realloc(samples, (sample_count + 1) * sizeof(*samples));

	if (!more)
		return NULL;
	samples = more;
	more = &samples[sample_count++];
	memset(more, 0, sizeof(*more));
	more->port = port;
	more->counter = counter;
	snprintf(more->name, sizeof(more->name), "%.63s", name);
	return more;
}

static void add_directory(const struct doctor_port *port, const char *directory)
{
	const struct counter *counter;
	struct dirent **names;
	struct sample *sample;
	int i, count = doctor_list(&names, "%s", directory);

	for (i = 0; i < count; i++) {
		counter = find(counters, sizeof(counters) / sizeof(counters[0]), names[i]->d_name);
		sample = counter ? add_sample(port, counter, names[i]->d_name) : NULL;
		if (sample)
			snprintf(sample->path, sizeof(sample->path), "%s/%.63s", directory,
				 names[i]->d_name);
	}
}

/* Some drivers count for the device and not for each port; the first port shows these. */
static void add_port(const struct doctor_port *port)
{
	char directory[96];
	struct sample *sample;

	snprintf(directory, sizeof(directory), "/sys/class/infiniband/%s/hw_counters",
		 port->device);
	if (port->num == 1)
		add_directory(port, directory);
	snprintf(directory, sizeof(directory), "/sys/class/infiniband/%s/ports/%u/hw_counters",
		 port->device, port->num);
	add_directory(port, directory);
	snprintf(directory, sizeof(directory), "/sys/class/infiniband/%s/ports/%u/counters",
		 port->device, port->num);
	add_directory(port, directory);
	if (!port->netdev_here || !doctor_exists("/sys/class/net/%s/carrier_changes", port->netdev))
		return;
	sample = add_sample(port, &netdev_counters[0], "carrier_changes");
	if (sample)
		snprintf(sample->path, sizeof(sample->path), "/sys/class/net/%s/carrier_changes",
			 port->netdev);
}

/* --- The counters of ethtool -S ---------------------------------------------------------------- */

static unsigned int ethtool_count(const char *netdev)
{
	uint32_t buf[(sizeof(struct ethtool_sset_info) + sizeof(uint32_t)) / sizeof(uint32_t)];
	struct ethtool_sset_info info;

	memset(&info, 0, sizeof(info));
	memset(buf, 0, sizeof(buf));
	info.cmd = ETHTOOL_GSSET_INFO;
	info.sset_mask = UINT64_C(1) << ETH_SS_STATS;
	memcpy(buf, &info, sizeof(info));
	if (doctor_ethtool(netdev, buf))
		return 0;
	memcpy(&info, buf, sizeof(info));
	return info.sset_mask ? buf[sizeof(info) / sizeof(uint32_t)] : 0;
}

/* Asks for all of them, as they are now. The caller frees them. */
static struct ethtool_stats *ethtool_stats(const char *netdev, unsigned int count)
{
	struct ethtool_stats *stats =
		(struct ethtool_stats *)calloc(1, sizeof(*stats) + count * sizeof(uint64_t));

	if (!stats)
		return NULL;
	stats->cmd = ETHTOOL_GSTATS;
	stats->n_stats = count;
	if (!doctor_ethtool(netdev, stats) && stats->n_stats == count)
		return stats;
	free(stats);
	return NULL;
}

static void add_ethtool(const struct doctor_port *port)
{
	unsigned int i, count = port->netdev_here ? ethtool_count(port->netdev) : 0;
	struct ethtool_gstrings *strings;
	const struct counter *counter;
	struct sample *sample;
	char name[ETH_GSTRING_LEN + 1] = "";

	if (!count || count > 65536)
		return;
	strings = (struct ethtool_gstrings *)calloc(1, sizeof(*strings) + count * ETH_GSTRING_LEN);
	if (!strings)
		return;
	strings->cmd = ETHTOOL_GSTRINGS;
	strings->string_set = ETH_SS_STATS;
	strings->len = count;
	if (doctor_ethtool(port->netdev, strings))
		count = 0;
	for (i = 0; i < count; i++) {
		memcpy(name, strings->data + i * ETH_GSTRING_LEN, ETH_GSTRING_LEN);
		counter = find(netdev_counters + 1,
			       sizeof(netdev_counters) / sizeof(netdev_counters[0]) - 1, name);
		sample = counter ? add_sample(port, counter, name) : NULL;
		if (sample)
			sample->index = i;
	}
	free(strings);
}

/* --- Reading, twice ---------------------------------------------------------------------------- */

static bool is_ethtool(const struct sample *sample)
{
	return !sample->path[0];
}

/* Reads all. What cannot be read the first time is 0 both times, and what cannot be read again has not grown. */
static void read_samples(bool second)
{
	struct ethtool_stats *stats = NULL;
	const struct doctor_port *of = NULL;
	struct sample *sample;
	uint64_t value;
	unsigned int i;
	bool is_read;

	for (i = 0; i < sample_count; i++) {
		sample = &samples[i];
		if (is_ethtool(sample) && sample->port != of) {
			free(stats);
			of = sample->port;
			stats = ethtool_stats(of->netdev, ethtool_count(of->netdev));
		}
		if (!is_ethtool(sample)) {
			is_read = doctor_read_number(&value, "%s", sample->path);
		} else {
			is_read = stats && sample->index < stats->n_stats;
			value = is_read ? stats->data[sample->index] : 0;
		}
		if (!second) {
			sample->is_read = is_read;
			sample->first = is_read ? value : 0;
		}
		sample->second = is_read && sample->is_read ? value : sample->first;
	}
	free(stats);
}

/* --- Findings ---------------------------------------------------------------------------------- */

static void show_sample(const struct sample *sample)
{
	char source[200];

	if (is_ethtool(sample))
		snprintf(source, sizeof(source), "ethtool -S %s, %s", sample->port->netdev,
			 sample->name);
	else
		snprintf(source, sizeof(source), "%s", sample->path);
	doctor_evidence("%s: %llu, then %llu", source, (unsigned long long)sample->first,
			(unsigned long long)sample->second);
}

static void say_growth(const struct sample *sample)
{
	doctor_say(sample->counter->when == COUNTER_BUSY ? DOCTOR_NOTE : DOCTOR_WARNING,
		   sample->port->subject, "%s grew by %llu in %u s: %s", sample->name,
		   (unsigned long long)(sample->second - sample->first), doctor_options.seconds,
		   sample->counter->meaning);
	show_sample(sample);
	if (sample->counter->next[0])
		doctor_next("%s", sample->counter->next);
}

/* carrier_changes begins with one or two, when an interface is brought up. */
static bool total_matters(const struct sample *sample)
{
	if (sample->counter == &netdev_counters[0])
		return sample->second >= 10;
	return sample->counter->when == COUNTER_ANY_AT_ALL && sample->second > 0;
}

static void say_total(const struct sample *sample)
{
	doctor_say(DOCTOR_NOTE, sample->port->subject, "%s is %llu: %s", sample->name,
		   (unsigned long long)sample->second, sample->counter->meaning);
	show_sample(sample);
	if (sample->counter->next[0])
		doctor_next("%s", sample->counter->next);
}

static bool has_ended(const struct sample *sample)
{
	size_t i;

	for (i = 0; i < sizeof(limited) / sizeof(limited[0]); i++)
		if (!strcmp(sample->name, limited[i].name) && strstr(sample->path, "/counters/") &&
		    sample->second == (UINT64_C(1) << limited[i].bits) - 1)
			return true;
	return false;
}

static void say_ended(const struct sample *sample)
{
	doctor_say(DOCTOR_NOTE, sample->port->subject,
		   "%s is %llu, the most that it can hold, so it no longer counts", sample->name,
		   (unsigned long long)sample->second);
	show_sample(sample);
	doctor_next("perfquery -R # as root: resets it");
}

/* Not of the interface: those say nothing of RDMA traffic. */
static bool is_of_device(const struct sample *sample)
{
	return sample->counter >= counters &&
	       sample->counter < counters + sizeof(counters) / sizeof(counters[0]);
}

static void judge_port(const struct doctor_port *port)
{
	unsigned int i, known = 0, grown = 0;
	const struct sample *sample;
	uint64_t traffic = 0;

	for (i = 0; i < sample_count; i++) {
		sample = &samples[i];
		if (sample->port != port)
			continue;
		known += is_of_device(sample);
		if (sample->counter->when == COUNTER_TRAFFIC)
			traffic += sample->second - sample->first;
		else if (sample->counter->when == COUNTER_NORMAL)
			continue;
		else if (sample->second > sample->first && ++grown)
			say_growth(sample);
		else if (has_ended(sample))
			say_ended(sample);
		else if (total_matters(sample))
			say_total(sample);
	}
	if (!known) {
		doctor_say(DOCTOR_NOTE, port->subject,
			   "rdmaez-doctor knows no counters of its driver");
		doctor_evidence("/sys/class/infiniband/%s/ports/%u/hw_counters", port->device,
				port->num);
	} else if (!grown) {
		doctor_say(
			DOCTOR_OK, port->subject, "no error was counted in %u s; %s",
			doctor_options.seconds,
			traffic ? "packets passed"
				: "no packets passed either: watch longer, while a program runs");
		doctor_evidence("known counters: %u", known);
	}
}

void doctor_check_counters(void)
{
	const struct doctor_port *ports;
	unsigned int i, count = doctor_ports(&ports);

	for (i = 0; i < count; i++) {
		add_port(&ports[i]);
		add_ethtool(&ports[i]);
	}
	if (!count)
		return;
	read_samples(false);
	doctor_sleep(1000 * doctor_options.seconds);
	read_samples(true);
	for (i = 0; i < count; i++)
		judge_port(&ports[i]);
}

/* --- For other checks -------------------------------------------------------------------------- */

void counters_watch(bool (*is_meant)(const char *device))
{
	const struct doctor_port *ports;
	unsigned int i, count = doctor_ports(&ports);

	for (i = 0; i < count; i++)
		if (is_meant(ports[i].device))
			add_port(&ports[i]);
	read_samples(false);
}

static bool is_growing_error(const struct sample *sample)
{
	return sample->second > sample->first && (sample->counter->when == COUNTER_GROWTH ||
						  sample->counter->when == COUNTER_ANY_AT_ALL);
}

unsigned int counters_grown(char *text, size_t size)
{
	const struct sample *first = NULL;
	unsigned int i, grown = 0;

	read_samples(true);
	for (i = 0; i < sample_count; i++) {
		if (!is_growing_error(&samples[i]))
			continue;
		grown++;
		if (!first || samples[i].counter < first->counter)
			first = &samples[i];
	}
	if (first)
		snprintf(text, size, "%s of %s grew by %llu: %s", first->name, first->port->subject,
			 (unsigned long long)(first->second - first->first),
			 first->counter->meaning);
	return grown;
}

void counters_tell(void)
{
	unsigned int i;

	for (i = 0; i < sample_count; i++)
		if (is_growing_error(&samples[i]))
			say_growth(&samples[i]);
}
