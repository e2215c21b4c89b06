/* SPDX-License-Identifier: MIT */
/* Explains what is wrong with an endpoint, or with two of them. */
#ifndef RDMAEZ_EXPLAIN_ENDPOINT_H
#define RDMAEZ_EXPLAIN_ENDPOINT_H

RDMAEZ_IMPL_BEGIN

#define RDMAEZ_IMPL_ENDPOINT_NAME(field, bytes, min, max) "endpoint." #field,

/*
 * Explains that the number of a row is out of its bounds, or one of enum
 * rdmaez_impl_endpoint_wrong. For a GID the value says which one.
 */
RDMAEZ_SEAM void rdmaez_impl_endpoint_explain(unsigned int which, uint32_t value, uint32_t min,
					      uint32_t max, struct rdmaez_diag *diag)
{
	static const char *const names[] = {
		RDMAEZ_IMPL_ENDPOINT_FIELDS(RDMAEZ_IMPL_ENDPOINT_NAME) "endpoint.qp_type",
		"endpoint.ece.comp_mask", "endpoint.memory.length", "endpoint.gid.gid",
		"endpoint.gid.gid_type"};
	struct rdmaez_impl_site site = {names[which], RDMAEZ_WHY_ENDPOINT_FIELD, RDMAEZ_VALUE_NONE,
					0, 0};

	if (which >= RDMAEZ_IMPL_ENDPOINT_GID)
		site.kind = RDMAEZ_VALUE_POSITION;
	else if (which < RDMAEZ_IMPL_ENDPOINT_TYPE)
		site.kind = max > UINT16_MAX ? RDMAEZ_VALUE_HEX : RDMAEZ_VALUE_NUMBER;
	rdmaez_impl_find_within(diag, RDMAEZ_DIAG_ERROR, &site, value, min, max);
}

#undef RDMAEZ_IMPL_ENDPOINT_NAME

/* Explains the bits of rdmaez_impl_endpoint_misfit(), in its order. */
RDMAEZ_SEAM void rdmaez_impl_endpoint_explain_misfit(const struct rdmaez_endpoint *local,
						     const struct rdmaez_endpoint *remote,
						     unsigned int misfit, struct rdmaez_diag *diag)
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
		if (misfit >> i & 1)
			rdmaez_impl_find_within(diag, RDMAEZ_DIAG_ERROR, &sites[i], numbers[i][0],
						numbers[i][1], numbers[i][2]);
}

RDMAEZ_IMPL_END

#endif
