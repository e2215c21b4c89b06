/* SPDX-License-Identifier: MIT */
/*
 * What rdmaez_dm_token_unpack() is made of, for any bytes. READ: nothing outside the token's bytes is read, and what is
 * accepted has lengths that lie within one another, and a name that ends. SUM: neither does the checksum read outside.
 * The checksum decides nothing about the rest, and CBMC gives no verdict about both at once.
 *
 * parts: READ SUM
 * machines: 64 32
 * unwind: 141
 * defect: READ "a length" impl/dm_share.h s/"token.length", token->length, 1,/"token.length", token->length, 0,/
 * defect: READ "the region inside" impl/dm_share.h s/token->length - token->mr_length/token->length/
 * defect: READ "the name ends" impl/dm_share.h s/!length || length == IBV_SYSFS_NAME_MAX/!length/
 * defect: SUM "outside object bounds" impl/dm_share.h s/i < count; i++/i <= count; i++/
 */
#include "prove.h"
#include <rdmaez/dm_share.h>
#include <stdlib.h>

#ifdef READ
int main(void)
{
	/* Behind the magic and the version, and before the checksum: an object of its own, which ends there. */
	uint8_t *const bytes = malloc(RDMAEZ_DM_TOKEN_BYTES - 6 - 4);
	struct rdmaez_dm_token token;
	int got;

	ASSUME(bytes != NULL);
	rdmaez_impl_dm_token_read(bytes, &token);
	got = rdmaez_impl_dm_token_check(&token, NULL);
	PROVE(got == 0 || got == EINVAL, "the documented errno value");
	if (!got) {
		PROVE(token.length >= 1 && token.length <= token.alloc_length, "a length");
		PROVE(token.alloc_length <= SIZE_MAX, "a length that this process can hold");
		PROVE(token.mr_length <= token.length &&
			      token.mr_offset <= token.length - token.mr_length,
		      "the region inside the memory");
		PROVE(token.device[0] > ' ' && token.device[IBV_SYSFS_NAME_MAX - 1] == 0,
		      "the name ends");
		PROVE(!(token.flags & RDMAEZ_DM_TOKEN_MR) || token.flags & RDMAEZ_DM_TOKEN_PD,
		      "no region without a domain");
	}
	GOAL(!got && token.flags & RDMAEZ_DM_TOKEN_MR && token.mr_offset > 0);
	GOAL(!got && !(token.flags & RDMAEZ_DM_TOKEN_PD));
	GOAL(!got && token.device[IBV_SYSFS_NAME_MAX - 2] != 0);
	GOAL(got);
	return 0;
}
#else
int main(void)
{
	uint8_t bytes[RDMAEZ_DM_TOKEN_BYTES - 4];

	rdmaez_impl_dm_token_sum(bytes, sizeof(bytes));
	GOAL(bytes[0] == 1);
	return 0;
}
#endif
