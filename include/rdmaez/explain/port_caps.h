/* SPDX-License-Identifier: MIT */
/* Writes a port as text and as JSON. */
#ifndef RDMAEZ_EXPLAIN_PORT_CAPS_H
#define RDMAEZ_EXPLAIN_PORT_CAPS_H

#include <net/if.h>

#include "caps.h"
#include "diag.h"

RDMAEZ_IMPL_BEGIN

/* Returns whether a P_Key is that of a full member of its partition. */
RDMAEZ_IMPL_COLD bool rdmaez_impl_pkey_is_full(const struct rdmaez_pkey_entry *row)
{
	return row->pkey >> 15;
}

/*
 * Returns the name of a network interface, or "" if there is none, or no longer one of that number.
 */
RDMAEZ_IMPL_COLD const char *rdmaez_impl_ndev_name(uint32_t ifindex, char name[IF_NAMESIZE])
{
	return ifindex && if_indextoname(ifindex, name) ? name : "";
}

/* Writes an entry: " gid[3]", and what it holds. */
RDMAEZ_IMPL_SMALL void rdmaez_impl_put_gid_row(struct rdmaez_impl_text *text,
					       const struct ibv_gid_entry *row)
{
	char title[32], gid[RDMAEZ_GID_TEXT], name[IF_NAMESIZE];
	struct rdmaez_impl_text head = rdmaez_impl_text_in(title, sizeof(title));
	const char *ndev = rdmaez_impl_ndev_name(row->ndev_ifindex, name);

	rdmaez_impl_put(&head, "gid[%u]", row->gid_index);
	rdmaez_gid_format(&row->gid, gid, sizeof(gid));
	rdmaez_impl_put(text, "  %-30s  %s, %s", title, gid, rdmaez_gid_type_str(row->gid_type));
	if (*ndev)
		rdmaez_impl_put_name(text, ", ", ndev);
	rdmaez_impl_put(text, "\n");
}

/* Does the same for a P_Key. */
RDMAEZ_IMPL_SMALL void rdmaez_impl_put_pkey_row(struct rdmaez_impl_text *text,
						const struct rdmaez_pkey_entry *row)
{
	char title[32];
	struct rdmaez_impl_text head = rdmaez_impl_text_in(title, sizeof(title));

	rdmaez_impl_put(&head, "pkey[%u]", row->pkey_index);
	rdmaez_impl_put(text, "  %-30s  0x%04x, %s member\n", title, row->pkey,
			rdmaez_impl_pkey_is_full(row) ? "full" : "limited");
}

RDMAEZ_SEAM int rdmaez_impl_tell_port_caps_format(const struct rdmaez_port_caps *caps,
						  const struct rdmaez_port_tables *tables,
						  char *buf, size_t size)
{
	struct rdmaez_impl_text text = rdmaez_impl_text_in(buf, size);
	const char *group = rdmaez_impl_put_table(&text, rdmaez_port_caps_fields(caps));

	if (tables && tables->gids && tables->gid_count) {
		rdmaez_impl_put_heading(&text, group, "gids");
		group = "gids";
		for (size_t i = 0; i < tables->gid_count; i++)
			rdmaez_impl_put_gid_row(&text, &tables->gids[i]);
	}
	if (tables && tables->pkeys && tables->pkey_count) {
		rdmaez_impl_put_heading(&text, group, "pkeys");
		for (size_t i = 0; i < tables->pkey_count; i++)
			rdmaez_impl_put_pkey_row(&text, &tables->pkeys[i]);
	}
	return (int)text.length;
}

/* Writes an entry of the GID table as an object. */
RDMAEZ_IMPL_SMALL void rdmaez_impl_put_json_gid(struct rdmaez_impl_text *text,
						const struct ibv_gid_entry *row)
{
	char gid[RDMAEZ_GID_TEXT], name[IF_NAMESIZE];
	const char *ndev = rdmaez_impl_ndev_name(row->ndev_ifindex, name);

	rdmaez_gid_format(&row->gid, gid, sizeof(gid));
	rdmaez_impl_put(text, "{\"gid_index\":%u", row->gid_index);
	rdmaez_impl_put_json_pair(text, ",", "gid", gid);
	rdmaez_impl_put(text, ",\"gid_type\":%u", row->gid_type);
	rdmaez_impl_put_json_pair(text, ",", "gid_type_name", rdmaez_gid_type_str(row->gid_type));
	rdmaez_impl_put(text, ",\"ndev_ifindex\":%u", row->ndev_ifindex);
	if (*ndev)
		rdmaez_impl_put_json_pair(text, ",", "ndev_name", ndev);
	else
		rdmaez_impl_put(text, ",\"ndev_name\":null");
	rdmaez_impl_put(text, "}");
}

/* Writes an entry of the P_Key table as an object. */
RDMAEZ_IMPL_SMALL void rdmaez_impl_put_json_pkey(struct rdmaez_impl_text *text,
						 const struct rdmaez_pkey_entry *row)
{
	rdmaez_impl_put(text, "{\"pkey_index\":%u,\"pkey\":%u,\"full\":%s}", row->pkey_index,
			row->pkey, rdmaez_impl_pkey_is_full(row) ? "true" : "false");
}

/* Writes the entries of the tables, as two arrays. A table that is not given has none. */
RDMAEZ_IMPL_SMALL void rdmaez_impl_put_json_tables(struct rdmaez_impl_text *text,
						   const struct rdmaez_port_tables *tables)
{
	if (tables && tables->gids) {
		rdmaez_impl_put(text, ",\"gids\":[");
		for (size_t i = 0; i < tables->gid_count; i++) {
			rdmaez_impl_put(text, i ? "," : "");
			rdmaez_impl_put_json_gid(text, &tables->gids[i]);
		}
		rdmaez_impl_put(text, "]");
	}
	if (tables && tables->pkeys) {
		rdmaez_impl_put(text, ",\"pkeys\":[");
		for (size_t i = 0; i < tables->pkey_count; i++) {
			rdmaez_impl_put(text, i ? "," : "");
			rdmaez_impl_put_json_pkey(text, &tables->pkeys[i]);
		}
		rdmaez_impl_put(text, "]");
	}
}

RDMAEZ_SEAM int rdmaez_impl_tell_port_caps_json(const struct rdmaez_port_caps *caps,
						const struct rdmaez_port_tables *tables, char *buf,
						size_t size)
{
	struct rdmaez_impl_text text = rdmaez_impl_text_in(buf, size);

	rdmaez_impl_put(&text, "{");
	if (caps) {
		rdmaez_impl_put_json_table(&text, "rdmaez_port_caps",
					   rdmaez_port_caps_fields(caps));
		rdmaez_impl_put_json_tables(&text, tables);
		rdmaez_impl_put_json_sources(&text, rdmaez_port_caps_fields(caps));
	}
	rdmaez_impl_put(&text, "}");
	return (int)text.length;
}

RDMAEZ_IMPL_END

#endif
