/* SPDX-License-Identifier: MIT */
/*
 * rdmaez_endpoint_unpack(), for any bytes, NULL arguments, and with a record or without: nothing outside the bytes is
 * read, nothing outside the struct is written; what it accepts has every field within its bounds, and a refusal writes
 * nothing and has its reason. The comparison of the sum may have any result, so the proof also covers a peer that sends
 * a right sum of wrong fields. It does not show that the bytes are those that were sent.
 *
 * WORD: the words of the sum are big endian on every machine.
 *
 * parts: UNPACK WORD
 * unwind: 24
 * options: --max-field-sensitivity-array-size 400 --unwindset rdmaez_endpoint_unpack.0:5,rdmaez_impl_endpoint_ends.0:5
 * defect: UNPACK "reads inside" impl/endpoint.h s/X(user_length, 0, RDMAEZ_ENDPOINT_USER)/X(user_length, 0, 400)/
 * defect: UNPACK "unwinding assertion" impl/endpoint.h s/X(gid_count, 0, RDMAEZ_ENDPOINT_GIDS)/X(gid_count, 0, 200)/
 * defect: UNPACK "the memory ends" impl/endpoint.h s/endpoint->memory.length > UINT64_MAX - endpoint->memory.addr/0/
 * defect: UNPACK "24 bits" impl/endpoint.h s/X(psn, 0, RDMAEZ_PSN_MAX)/X(psn, 0, UINT32_MAX)/
 * defect: WORD "big endian" impl/endpoint.h s/return __builtin_bswap32(word)/return word/
 */
#include "record.h"
#include <rdmaez/endpoint.h>

/* The user's bytes, which follow what is copied, may be any then. */
#define PROVE_COPY_STRUCT(to, from, length)                     \
	if ((length) == offsetof(struct rdmaez_endpoint, user)) \
	*(struct rdmaez_endpoint *)(to) = *(const struct rdmaez_endpoint *)(from)
#include "copy.h"

int memcmp(const void *one, const void *other, size_t length)
{
	PROVE(__CPROVER_r_ok(one, length) && __CPROVER_r_ok(other, length),
	      "a comparison reads inside");
	return nondet_int();
}

void rdmaez_impl_endpoint_explain(const struct rdmaez_endpoint *endpoint, struct rdmaez_diag *diag)
{
	PROVE(diag->error == EINVAL && (rdmaez_impl_endpoint_out(endpoint) ||
					rdmaez_impl_endpoint_ends(endpoint) < endpoint->gid_count),
	      "what is explained");
	findings++;
}

#ifdef UNPACK
int main(void)
{
	const bool no_bytes = nondet_bool(), no_output = nondet_bool(), recorded = nondet_bool();
	uint8_t bytes[RDMAEZ_ENDPOINT_BYTES];
	struct rdmaez_endpoint e;
	struct rdmaez_diag diag;
	const uint32_t psn = e.psn, qp_num = e.qp_num;
	const unsigned int gids = e.gid_count;
	int got;

	got = rdmaez_endpoint_unpack(no_bytes ? NULL : bytes, no_output ? NULL : &e,
				     recorded ? &diag : NULL);
	PROVE(got == 0 || got == EINVAL, "the documented errno value");
	PROVE(!recorded || (findings > 0) == (got != 0), "a reason exactly if it is refused");
	if (got) {
		PROVE(e.psn == psn && e.qp_num == qp_num && e.gid_count == gids,
		      "a refusal writes nothing");
	} else {
		PROVE(e.qp_num <= 0xffffff && e.psn <= 0xffffff, "24 bits");
		PROVE(e.mtu >= IBV_MTU_256 && e.mtu <= IBV_MTU_4096, "an MTU");
		PROVE(e.gid_count <= RDMAEZ_ENDPOINT_GIDS, "so many GIDs");
		PROVE(e.user_length <= RDMAEZ_ENDPOINT_USER, "so many bytes of the user");
		PROVE(e.memory.length <= UINT64_MAX - e.memory.addr, "the memory ends");
		PROVE(e.link_layer <= IBV_LINK_LAYER_ETHERNET, "a link layer");
		PROVE(e.ece.comp_mask == 0, "ECE options as this version knows them");
	}
	GOAL(!got && e.gid_count == RDMAEZ_ENDPOINT_GIDS && e.user_length == RDMAEZ_ENDPOINT_USER);
	GOAL(!got && e.gid_count == 0 && e.memory.length > 0);
	GOAL(got && recorded && !no_bytes && !no_output);
	return 0;
}
#else
int main(void)
{
	uint8_t bytes[4];
	const uint32_t word = rdmaez_impl_endpoint_word(bytes);

	PROVE(word == ((uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 |
		       (uint32_t)bytes[2] << 8 | bytes[3]),
	      "a word is big endian");
	GOAL(word == 0x01020304);
	return 0;
}
#endif
