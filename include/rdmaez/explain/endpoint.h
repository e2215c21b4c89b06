/* SPDX-License-Identifier: MIT */
/* Explains what is wrong with an endpoint, or with two of them. */
#ifndef RDMAEZ_EXPLAIN_ENDPOINT_H
#define RDMAEZ_EXPLAIN_ENDPOINT_H

RDMAEZ_IMPL_BEGIN

#define RDMAEZ_IMPL_ENDPOINT_ROW(field, min, max) \
	{"endpoint." #field, (uint32_t)endpoint->field, min, max},

/* Finds the first value that no endpoint has. For a GID it tells which one that is. */
RDMAEZ_SEAM void rdmaez_impl_endpoint_explain(const struct rdmaez_endpoint *endpoint,
					      struct rdmaez_diag *diag)
{
	const struct {
		const char *field;
		uint32_t value, min, max;
	} rows[] = {RDMAEZ_IMPL_ENDPOINT_BOUNDS(RDMAEZ_IMPL_ENDPOINT_ROW)};
	struct rdmaez_impl_site site = {NULL, RDMAEZ_WHY_ENDPOINT_FIELD, RDMAEZ_VALUE_NONE, 0, 0};
	uint32_t value = 0, min = 0, max = 0;

	for (size_t i = 0; !site.field && i < sizeof(rows) / sizeof(rows[0]); i++) {
		value = rows[i].value;
		min = rows[i].min;
		max = rows[i].max;
		if (value < min || value > max)
			site.field = rows[i].field;
	}
	if (site.field) {
		site.kind = max > UINT16_MAX ? RDMAEZ_VALUE_HEX : RDMAEZ_VALUE_NUMBER;
	} else if (rdmaez_impl_endpoint_out(endpoint)) {
		value = min = max = 0;
		site.field = endpoint->ece.comp_mask ? "endpoint.ece.comp_mask"
			     : endpoint->memory.length > UINT64_MAX - endpoint->memory.addr
				     ? "endpoint.memory.length"
				     : "endpoint.qp_type";
	} else {
		value = rdmaez_impl_endpoint_ends(endpoint);
		min = max = 0;
		site.kind = RDMAEZ_VALUE_POSITION;
		site.field = endpoint->gid[value].gid_type > IBV_GID_TYPE_ROCE_V2
				     ? "endpoint.gid.gid_type"
				     : "endpoint.gid.gid";
	}
	rdmaez_impl_find_within(diag, RDMAEZ_DIAG_ERROR, &site, value, min, max);
}

#undef RDMAEZ_IMPL_ENDPOINT_ROW

/* Explains all that rdmaez_impl_endpoint_misfit() sees. */
RDMAEZ_SEAM void rdmaez_impl_endpoint_explain_misfit(const struct rdmaez_endpoint *local,
						     const struct rdmaez_endpoint *remote,
						     struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site sites[] = {
		{"local.port", RDMAEZ_WHY_ENDPOINT_NOT_OWN, RDMAEZ_VALUE_NONE, 0, 0},
		{"local.qp_num", RDMAEZ_WHY_ENDPOINT_NO_QP, RDMAEZ_VALUE_NONE, 0, 0},
		{"remote.qp_num", RDMAEZ_WHY_ENDPOINT_NO_QP, RDMAEZ_VALUE_NONE, 0, 0},
		{"local.gid_count", RDMAEZ_WHY_ENDPOINT_FIELD, RDMAEZ_VALUE_NUMBER, 0, 0},
		{"remote.gid_count", RDMAEZ_WHY_ENDPOINT_FIELD, RDMAEZ_VALUE_NUMBER, 0, 0},
		{"remote.qp_type", RDMAEZ_WHY_ENDPOINT_QP_TYPES, RDMAEZ_VALUE_TYPES, 0, 0},
		{"remote.link_layer", RDMAEZ_WHY_ENDPOINT_LINK_LAYERS, RDMAEZ_VALUE_NUMBER, 0, 0},
		{"remote.pkey", RDMAEZ_WHY_ENDPOINT_PKEYS, RDMAEZ_VALUE_PKEYS, 0, 0},
		{"remote.pkey", RDMAEZ_WHY_PKEY_LIMITED, RDMAEZ_VALUE_PKEYS, 0, 0}};
	const int types = rdmaez_impl_endpoint_pairs((int)local->qp_type);
	const bool other = (local->pkey ^ remote->pkey) & 0x7fff;
	const bool wrong[] = {!local->port,
			      !local->qp_num,
			      !remote->qp_num,
			      local->gid_count > RDMAEZ_ENDPOINT_GIDS,
			      remote->gid_count > RDMAEZ_ENDPOINT_GIDS,
			      local->qp_num && remote->qp_num &&
				      (!types || types != (int)remote->qp_type),
			      local->link_layer != remote->link_layer,
			      other,
			      !other && !((local->pkey | remote->pkey) & 0x8000)};
	const uint32_t most = RDMAEZ_ENDPOINT_GIDS, link = local->link_layer;
	/* These are the numbers of each: the value, and its bounds. */
	const uint32_t numbers[][3] = {{0, 0, 0},
				       {0, 0, 0},
				       {0, 0, 0},
				       {local->gid_count, 0, most},
				       {remote->gid_count, 0, most},
				       {(uint32_t)local->qp_type, 0, (uint32_t)remote->qp_type},
				       {remote->link_layer, link, link},
				       {local->pkey, 0, remote->pkey},
				       {local->pkey, 0, remote->pkey}};

	for (size_t i = 0; i < sizeof(sites) / sizeof(sites[0]); i++)
		if (wrong[i])
			rdmaez_impl_find_within(diag, RDMAEZ_DIAG_ERROR, &sites[i], numbers[i][0],
						numbers[i][1], numbers[i][2]);
}

RDMAEZ_IMPL_END

#endif
