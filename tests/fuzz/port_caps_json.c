/* SPDX-License-Identifier: MIT */
/*
 * Structs of what ports say, all zero, all ones, and random, with random rows of tables: for each a line
 * with the object that its JSON should be, then the JSON itself. port_caps_json.t lets jq compare them.
 */
#include <arpa/inet.h>
#include <stdlib.h>

/* Interfaces with any bytes in their names, which the kernel would not all take. */
#define if_indextoname test_if_indextoname
#include <rdmaez.h>
#include <rdmaez/caps.h>
#include <rdmaez/port_caps.h>
#include <rdmaez/implementation.h>

enum {
	ROWS = 5
};

static uint32_t seed = 1;

static uint32_t random_number(void)
{
	seed = seed * 1664525u + 1013904223u;
	return seed >> 8;
}

char *test_if_indextoname(unsigned int ifindex, char name[IF_NAMESIZE])
{
	if (ifindex % 3 == 0)
		return NULL;
	for (unsigned int i = 0; i < IF_NAMESIZE - 1; i++)
		name[i] = (char)(1 + (ifindex * 31 + i * 7) % 255);
	name[IF_NAMESIZE - 1] = '\0';
	return name;
}

/* Half of the bytes are zero, so that every field is now and then. */
static void fill(void *object, size_t size)
{
	uint8_t *bytes = (uint8_t *)object;

	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)(random_number() % 2 ? random_number() : 0);
}

static void print_name(enum rdmaez_caps_kind kind, unsigned int bit)
{
	const char *name = rdmaez_caps_kind_str(kind, bit);

	if (strcmp(name, "unknown") == 0)
		printf("\"bit_%u\"", bit);
	else
		printf("\"%s\"", name);
}

static void print_field(const struct rdmaez_caps_item *item)
{
	const enum rdmaez_caps_kind kind = item->field->kind;
	const char *name = item->field->name, *comma = "";

	if (!item->value && item->source > RDMAEZ_SOURCE_CORRECTED) {
		printf(",\"%s\":null", name);
		return;
	}
	if (kind == RDMAEZ_KIND_BOOL)
		printf(",\"%s\":%s", name, item->value ? "true" : "false");
	else if (item->field->is_signed)
		printf(",\"%s\":\"%lld\"", name, (long long)item->value);
	else
		printf(",\"%s\":\"%llu\"", name, (unsigned long long)item->value);
	if (rdmaez_caps_kind_is_enum(kind))
		printf(",\"%s_name\":\"%s\"", name, rdmaez_caps_kind_str(kind, item->value));
	if (!rdmaez_caps_kind_is_set(kind))
		return;
	printf(",\"%s_names\":[", name);
	for (unsigned int bit = 0; bit < 64; bit++)
		if (item->value >> bit & 1) {
			printf("%s", comma);
			print_name(kind, bit);
			comma = ",";
		}
	printf("]");
}

/* Each byte of a name by its number, which is how JSON may spell any character. */
static void print_ndev(uint32_t ifindex)
{
	char name[IF_NAMESIZE];

	if (!ifindex || !test_if_indextoname(ifindex, name)) {
		printf("null");
		return;
	}
	printf("\"");
	for (const char *at = name; *at; at++)
		printf("\\u%04x", (unsigned char)*at);
	printf("\"");
}

static void print_tables(const struct rdmaez_port_tables *tables)
{
	char gid[RDMAEZ_GID_TEXT];

	if (tables->gids)
		printf(",\"gids\":[");
	for (size_t i = 0; tables->gids && i < tables->gid_count; i++) {
		const struct ibv_gid_entry *row = &tables->gids[i];

		rdmaez_gid_format(&row->gid, gid, sizeof(gid));
		printf("%s{\"gid_index\":\"%u\",\"gid\":\"%s\",\"gid_type\":\"%u\","
		       "\"gid_type_name\":\"%s\",\"ndev_ifindex\":\"%u\",\"ndev_name\":",
		       i ? "," : "", row->gid_index, gid, row->gid_type,
		       rdmaez_gid_type_str(row->gid_type), row->ndev_ifindex);
		print_ndev(row->ndev_ifindex);
		printf("}");
	}
	if (tables->gids)
		printf("]");
	if (tables->pkeys)
		printf(",\"pkeys\":[");
	for (size_t i = 0; tables->pkeys && i < tables->pkey_count; i++)
		printf("%s{\"pkey_index\":\"%u\",\"pkey\":\"%u\",\"full\":%s}", i ? "," : "",
		       tables->pkeys[i].pkey_index, tables->pkeys[i].pkey,
		       tables->pkeys[i].pkey & 0x8000 ? "true" : "false");
	if (tables->pkeys)
		printf("]");
}

static void print(const struct rdmaez_port_caps *caps, const struct rdmaez_port_tables *tables)
{
	static char json[65536];
	struct rdmaez_caps_item item;
	const char *comma = "";

	printf("{\"rdmaez_port_caps\":\"1\"");
	for (unsigned int id = 0; !rdmaez_caps_get(rdmaez_port_caps_fields(caps), id, &item); id++)
		print_field(&item);
	print_tables(tables);
	printf(",\"sources\":{");
	for (unsigned int id = 0; !rdmaez_caps_get(rdmaez_port_caps_fields(caps), id, &item); id++)
		if (item.source != RDMAEZ_SOURCE_DEVICE) {
			printf("%s\"%s\":\"%s\"", comma, item.field->name,
			       rdmaez_caps_source_id(item.source));
			comma = ",";
		}
	puts("}}");
	if (rdmaez_port_caps_json(caps, tables, json, sizeof(json)) >= (int)sizeof(json))
		abort();
	puts(json);
}

int main(int argc, char **argv)
{
	struct rdmaez_pkey_entry pkeys[ROWS];
	struct ibv_gid_entry gids[ROWS];
	struct rdmaez_port_tables tables;
	struct rdmaez_port_caps caps;
	struct ibv_port_attr attr;

	memset(&tables, 0, sizeof(tables));
	memset(&caps, 0, sizeof(caps));
	print(&caps, &tables);
	memset(&caps, 0xff, sizeof(caps));
	print(&caps, &tables);
	for (int i = argc > 1 ? atoi(argv[1]) : 0; i > 0; i--) {
		fill(gids, sizeof(gids));
		fill(pkeys, sizeof(pkeys));
		for (int row = 0; row < ROWS; row++)
			gids[row].gid_type %= 5;
		tables.gids = i % 5 ? gids : NULL;
		tables.pkeys = i % 7 ? pkeys : NULL;
		tables.gid_count = random_number() % (ROWS + 1);
		tables.pkey_count = random_number() % (ROWS + 1);
		if (i % 2) {
			fill(&attr, sizeof(attr));
			rdmaez_port_caps_decode(&attr, &caps);
		} else {
			fill(&caps, sizeof(caps));
			for (unsigned int id = 0; id < RDMAEZ_PORT_CAPS_ID_COUNT; id++)
				caps.source[id] %= RDMAEZ_SOURCE_COUNT + 1;
		}
		print(&caps, &tables);
	}
	return 0;
}
