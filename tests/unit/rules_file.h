/* SPDX-License-Identifier: MIT */
/*
 * Reads the tables that the rules are held against: the kernel's own, and those of the drivers that have types
 * of their own. IBV_QP_STATE is in neither.
 */
#ifndef RULES_FILE_H
#define RULES_FILE_H

#include <rdmaez.h>

#include "fake_verbs.h"
#include "tap.h"

#define RULES_KERNEL  "tests/data/qp-state-table.tsv"
#define RULES_DRIVERS "tests/data/driver-type-table.tsv"

enum {
	RULES_TYPES = 9,
	RULES_KERNEL_TYPES = 6, /* the rest are drivers' own */
	RULES_STATES = 7,
};

static const enum ibv_qp_type rules_type[RULES_TYPES] = {
	IBV_QPT_RC,       IBV_QPT_UC,     IBV_QPT_UD,     IBV_QPT_RAW_PACKET, IBV_QPT_XRC_SEND,
	IBV_QPT_XRC_RECV, RDMAEZ_QPT_SRD, RDMAEZ_QPT_DCI, RDMAEZ_QPT_DCT,
};

static inline int rules_index(const char *const *names, int count, const char *name)
{
	for (int i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	return -1;
}

/* The bits whose names stand there, with | between them; - for none. */
static inline int rules_mask(const char *path, const char *names)
{
	char name[64];
	int mask = 0;

	while (*names && strcmp(names, "-") != 0) {
		const size_t length = strcspn(names, "|");
		int bit = 1;

		snprintf(name, sizeof(name), "%.*s", (int)length, names);
		while (bit < 1 << 30 && strcmp(rdmaez_qp_attr_str(bit), name) != 0)
			bit <<= 1;
		if (bit == 1 << 30)
			tap_bail("%s: no attribute is called %s", path, name);
		mask |= bit;
		names += length + (names[length] == '|');
	}
	return mask;
}

/* How many transitions a file has; they are in the order of rules_type. */
static inline int rules_read(const char *path,
			     struct fake_rule table[RULES_TYPES][RULES_STATES][RULES_STATES])
{
	static const char *const types[RULES_TYPES] = {
		"RC", "UC", "UD", "RAW_PACKET", "XRC_INI", "XRC_TGT", "SRD", "DCI", "DCT"};
	static const char *const states[RULES_STATES] = {"RESET", "INIT", "RTR", "RTS",
							 "SQD",   "SQE",  "ERR"};
	char from[16], to[16], type[16], required[400], optional[400];
	FILE *file = fopen(path, "r");
	int cells = 0;

	if (!file)
		tap_bail("cannot read %s", path);
	while (fscanf(file, "%15s %15s %15s %399s %399s", from, to, type, required, optional) ==
	       5) {
		const int t = rules_index(types, RULES_TYPES, type);
		const int f = rules_index(states, RULES_STATES, from);
		const int n = rules_index(states, RULES_STATES, to);

		if (t < 0 || f < 0 || n < 0)
			continue; /* the head line, and two types for the kernel's own use */
		table[t][f][n].legal = true;
		table[t][f][n].required = rules_mask(path, required);
		table[t][f][n].optional = rules_mask(path, optional);
		cells++;
	}
	fclose(file);
	return cells;
}

#endif
