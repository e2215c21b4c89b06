/* SPDX-License-Identifier: MIT */
/**
 * @file port_caps_fmt.h
 * @brief What a port says of itself, and its tables, as text for people and as JSON for programs.
 *
 * Both functions follow snprintf's rule, as caps_fmt.h does: they write at most @p size bytes, the last
 * one a NUL, and return how long the whole text is without the NUL. With size 0 the buffer may be NULL.
 *
 * Nothing here calls a verb. The names of network interfaces are asked of the kernel by
 * if_indextoname(), so they are those of this moment and of the caller's network namespace. All may be
 * called from any thread.
 */
#ifndef RDMAEZ_PORT_CAPS_FMT_H
#define RDMAEZ_PORT_CAPS_FMT_H

#include <net/if.h>

#include "caps_fmt.h"
#include "port_caps.h"
#include "str.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief The rows of a port's tables to write down beside its attributes. All zero: none. */
struct rdmaez_port_tables {
	const struct ibv_gid_entry *gids;      /**< as rdmaez_port_gids() lists them. NULL: none */
	const struct rdmaez_pkey_entry *pkeys; /**< as rdmaez_port_pkeys() lists them. NULL: none */
	size_t gid_count;                      /**< rows at @p gids */
	size_t pkey_count;                     /**< rows at @p pkeys */
};

/* Whether a P_Key is that of a full member of its partition. */
RDMAEZ_API bool rdmaez_impl_pkey_is_full(const struct rdmaez_pkey_entry *row)
{
	return row->pkey >> 15;
}

/* The name of a network interface; "" where there is none, or none of that number any more. */
RDMAEZ_API const char *rdmaez_impl_ndev_name(uint32_t ifindex, char name[IF_NAMESIZE])
{
	return ifindex && if_indextoname(ifindex, name) ? name : "";
}

/* One row: "  gid[3]", and what it holds. */
RDMAEZ_API void rdmaez_impl_put_gid_row(struct rdmaez_impl_text *text,
					const struct ibv_gid_entry *row)
{
	char title[32], gid[RDMAEZ_GID_TEXT], name[IF_NAMESIZE];
	struct rdmaez_impl_text head = rdmaez_impl_text_in(title, sizeof(title));
	const char *ndev = rdmaez_impl_ndev_name(row->ndev_ifindex, name);

	rdmaez_impl_put(&head, "gid[%u]", row->gid_index);
	rdmaez_gid_format(&row->gid, gid, sizeof(gid));
	rdmaez_impl_put(text, "  %-30s  %s, %s", title, gid, rdmaez_gid_type_str(row->gid_type));
	if (*ndev)
		rdmaez_impl_put(text, ", %s", ndev);
	rdmaez_impl_put(text, "\n");
}

/* The same of a P_Key. */
RDMAEZ_API void rdmaez_impl_put_pkey_row(struct rdmaez_impl_text *text,
					 const struct rdmaez_pkey_entry *row)
{
	char title[32];
	struct rdmaez_impl_text head = rdmaez_impl_text_in(title, sizeof(title));

	rdmaez_impl_put(&head, "pkey[%u]", row->pkey_index);
	rdmaez_impl_put(text, "  %-30s  0x%04x, %s member\n", title, row->pkey,
			rdmaez_impl_pkey_is_full(row) ? "full" : "limited");
}

/**
 * @brief Everything that a port says of itself, for people.
 *
 * As rdmaez_caps_format() writes of a device: a field a line, under headings. The rows of the tables
 * follow, a row a line: a GID with its type and its network interface, a P_Key with its membership.
 *
 * @param caps what was decoded or queried; NULL counts as empty
 * @param tables the rows to write; NULL: none
 * @param buf receives the text; may be NULL where @p size is 0
 * @param size bytes in @p buf; 8192, and 128 for each row, is enough for any port
 * @return the length of the whole text
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_port_caps_format(const struct rdmaez_port_caps *caps,
				       const struct rdmaez_port_tables *tables, char *buf,
				       size_t size)
{
	struct rdmaez_impl_text text = rdmaez_impl_text_in(buf, size);
	struct rdmaez_caps_item item;
	const char *group = NULL;

	for (int i = 0; caps && !rdmaez_port_caps_get(caps, (enum rdmaez_port_caps_id)i, &item);
	     i++) {
		rdmaez_impl_put_heading(&text, group, item.field->group);
		group = item.field->group;
		rdmaez_impl_put_line(&text, &item);
	}
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

/* A row of the GID table as an object. */
RDMAEZ_API void rdmaez_impl_put_json_gid(struct rdmaez_impl_text *text,
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

/* A row of the P_Key table as an object. */
RDMAEZ_API void rdmaez_impl_put_json_pkey(struct rdmaez_impl_text *text,
					  const struct rdmaez_pkey_entry *row)
{
	rdmaez_impl_put(text, "{\"pkey_index\":%u,\"pkey\":%u,\"full\":%s}", row->pkey_index,
			row->pkey, rdmaez_impl_pkey_is_full(row) ? "true" : "false");
}

/* The rows of the tables, as two arrays; a table that is not given has none. */
RDMAEZ_API void rdmaez_impl_put_json_tables(struct rdmaez_impl_text *text,
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

/**
 * @brief Everything that a port says of itself, as one JSON object, for programs.
 *
 * As rdmaez_caps_json() writes of a device: the keys and values are those of `ibv_port_attr`, with
 * `_names` beside a set and `_name` beside an enum, null for what nobody says, and `sources`. Fields of
 * rdmaez's own are `port_num`, `needs_grh`, `max_mtu_bytes`, `active_mtu_bytes`, `lanes`, `rate_kbps`,
 * `effective_rate_kbps` and `subnet_timeout_ns`.
 *
 * Where tables are given, `gids` is an array of objects with the keys of `ibv_gid_entry`, `gid` in the
 * form of an IPv6 address, and with `gid_type_name` and `ndev_name`, which is null where there is no
 * such interface; `pkeys` is one of objects with `pkey_index`, `pkey` and `full`, which tells full
 * membership. Valid for any content.
 *
 * @param caps what was decoded or queried; NULL gives `{}`
 * @param tables the rows to write; NULL: none
 * @param buf receives the text; may be NULL where @p size is 0
 * @param size bytes in @p buf; 8192, and 192 for each row, is enough for any port
 * @return the length of the whole text
 * @since rdmaez 0.1; rdma-core 33
 */
RDMAEZ_API int rdmaez_port_caps_json(const struct rdmaez_port_caps *caps,
				     const struct rdmaez_port_tables *tables, char *buf,
				     size_t size)
{
	struct rdmaez_impl_text text = rdmaez_impl_text_in(buf, size);
	struct rdmaez_caps_item item;
	const char *comma = "";

	rdmaez_impl_put(&text, "{");
	if (caps) {
		rdmaez_impl_put(&text, "\"rdmaez_port_caps\":%d", RDMAEZ_CAPS_JSON_VERSION);
		for (int i = 0; !rdmaez_port_caps_get(caps, (enum rdmaez_port_caps_id)i, &item);
		     i++)
			rdmaez_impl_put_json_field(&text, "", &item);
		rdmaez_impl_put_json_tables(&text, tables);
		rdmaez_impl_put(&text, ",\"sources\":{");
		for (int i = 0; !rdmaez_port_caps_get(caps, (enum rdmaez_port_caps_id)i, &item);
		     i++)
			if (item.source != RDMAEZ_SOURCE_DEVICE) {
				rdmaez_impl_put_json_source(&text, comma, &item);
				comma = ",";
			}
		rdmaez_impl_put(&text, "}");
	}
	rdmaez_impl_put(&text, "}");
	return (int)text.length;
}

#ifdef __cplusplus
}
#endif

#endif
