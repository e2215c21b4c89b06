/* SPDX-License-Identifier: MIT */
/*
 * Endpoints under libFuzzer: any bytes and any text are read or refused, what is read can be told again, one
 * that was changed on its way is refused, and what two ends agree on is the same for both.
 */
#include <rdmaez/endpoint.h>
#include <rdmaez/implementation.h>

#include "must.h"

/* Reads exactly as many bytes as an endpoint has, so that the sanitizer sees one too many. */
static int unpack(const uint8_t *bytes, struct rdmaez_endpoint *endpoint)
{
	uint8_t *const copy = exactly(bytes, RDMAEZ_ENDPOINT_BYTES);
	struct rdmaez_endpoint untouched;
	struct rdmaez_diag diag;
	int error;

	memset(endpoint, 0xa5, sizeof(*endpoint));
	untouched = *endpoint;
	error = rdmaez_endpoint_unpack(copy, endpoint, &diag);
	free(copy);
	must(diag.error == error && diag.count == (error ? 1 : 0));
	if (error) {
		must(error == EINVAL && strncmp(diag.finding[0].field, "endpoint.", 9) == 0);
		must(memcmp(endpoint, &untouched, sizeof(untouched)) == 0);
	}
	return error;
}

/* What was read can be told again, and is then what it was; as bytes and as text. */
static void read_and_write(const uint8_t *bytes, struct rdmaez_endpoint *found)
{
	uint8_t again[RDMAEZ_ENDPOINT_BYTES];
	char text[RDMAEZ_ENDPOINT_TEXT];
	struct rdmaez_endpoint same;

	if (unpack(bytes, found)) {
		memset(found, 0, sizeof(*found));
		return;
	}
	must(rdmaez_endpoint_pack(found, again) == 0);
	must(unpack(again, &same) == 0 && memcmp(&same, found, sizeof(same)) == 0);
	must(rdmaez_endpoint_format(found, text, sizeof(text)) == RDMAEZ_ENDPOINT_TEXT - 1);
	must(rdmaez_endpoint_parse(text, &same, NULL) == 0);
	must(memcmp(&same, found, sizeof(same)) == 0);
	must(found->qp_num <= 0xffffff && found->psn <= 0xffffff);
	must(found->mtu >= IBV_MTU_256 && found->mtu <= IBV_MTU_4096);
	must(found->gid_count <= RDMAEZ_ENDPOINT_GIDS);
	must(found->user_length <= RDMAEZ_ENDPOINT_USER);
	must(found->memory.addr + found->memory.length >= found->memory.addr);
	for (unsigned int i = 0; i < found->gid_count; i++)
		must(!rdmaez_gid_is_zero(&found->gid[i].gid));
}

/* Two words that are changed, each by four bytes in any way: the sums notice, whatever the fields say. */
static void change(const struct rdmaez_endpoint *endpoint, const uint8_t *how)
{
	uint8_t bytes[RDMAEZ_ENDPOINT_BYTES], before[RDMAEZ_ENDPOINT_BYTES];
	struct rdmaez_endpoint found;

	must(rdmaez_endpoint_pack(endpoint, bytes) == 0);
	memcpy(before, bytes, sizeof(bytes));
	for (int i = 0; i < 8; i++)
		bytes[how[i & 4] * 4 % sizeof(bytes) + (i & 3)] ^= how[i];
	if (memcmp(before, bytes, sizeof(bytes)) != 0)
		must(unpack(bytes, &found) == EINVAL);
}

/* Gives bytes what every endpoint has, so that nothing but their fields can be wrong. */
static void make_plausible(uint8_t *bytes)
{
	const uint8_t head[] = {'R', 'Z', 'E', 'P', 0, 1, 0, 1};

	memcpy(bytes, head, sizeof(head));
	rdmaez_impl_endpoint_sums(bytes, bytes + RDMAEZ_IMPL_ENDPOINT_SUMS);
}

/* Brings all numbers into their ranges: any bytes make a good endpoint. */
static void make_good(uint8_t *bytes)
{
	static const uint8_t types[] = {0, 2, 3, 4, 9, 10, 0xf1, 0xf2, 0xf3};

	bytes[8] = 0;
	bytes[9] = types[bytes[9] % sizeof(types)];
	bytes[10] %= 3;
	bytes[11] = (uint8_t)(1 + bytes[11] % 5);
	bytes[12] = bytes[16] = 0;
	bytes[39] %= 5;
	memset(bytes + 40, 0, 3);
	bytes[43] %= 161;
	bytes[56] &= 0x7f;
	bytes[64] &= 0x7f;
	for (int i = 0; i < 4; i++) {
		bytes[72 + 18 * i] %= 3;
		bytes[72 + 18 * i + 2] |= 1;
		bytes[72 + 18 * i + 2] &= 0x7f;
	}
	make_plausible(bytes);
}

/* Either no end agrees, or both do, to the same. */
static void negotiate(struct rdmaez_endpoint *a, struct rdmaez_endpoint *b)
{
	struct rdmaez_qp_opts of_a, of_b;
	struct rdmaez_diag diag;
	int error;

	a->port = b->port = 1;
	for (unsigned int i = 0; i < RDMAEZ_ENDPOINT_GIDS; i++)
		a->gid[i].gid_index = b->gid[i].gid_index = 1 + i;
	error = rdmaez_endpoint_negotiate(a, b, NULL, &of_a, &diag);
	must(rdmaez_endpoint_negotiate(b, a, NULL, &of_b, NULL) == error);
	must(diag.error == error && !diag.count == !error);
	if (error)
		return;
	must(of_a.mtu == of_b.mtu && of_a.sq_psn == of_b.rq_psn && of_a.rq_psn == of_b.sq_psn);
	must(of_a.max_rd_atomic == of_b.max_dest_rd_atomic);
	must(of_b.max_rd_atomic == of_a.max_dest_rd_atomic);
	must(of_a.path.flags == of_b.path.flags);
	if (of_a.path.flags & RDMAEZ_PATH_GRH) {
		must(!memcmp(&of_a.path.dgid, &b->gid[of_b.path.sgid_index - 1].gid, 16));
		must(!memcmp(&of_b.path.dgid, &a->gid[of_a.path.sgid_index - 1].gid, 16));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t bytes[RDMAEZ_ENDPOINT_BYTES] = {0}, other[RDMAEZ_ENDPOINT_BYTES];
	struct rdmaez_endpoint first, second;
	char text[RDMAEZ_ENDPOINT_TEXT + 16];

	memcpy(text, data, size < sizeof(text) ? size : sizeof(text) - 1);
	text[size < sizeof(text) ? size : sizeof(text) - 1] = '\0';
	(void)rdmaez_endpoint_parse(text, &first, NULL);
	memcpy(bytes, data, size < sizeof(bytes) ? size : sizeof(bytes));
	read_and_write(bytes, &first);
	make_plausible(bytes);
	read_and_write(bytes, &first);
	make_good(bytes);
	read_and_write(bytes, &first);
	must(first.mtu != 0);
	change(&first, bytes + 304);
	/* A peer of the same kind that differs in its GIDs' order and in some fields of the input. */
	memcpy(other, bytes, sizeof(other));
	for (size_t i = 0; i < 72; i++)
		other[72 + i] = bytes[72 + (i + 18) % 72];
	for (size_t i = 0; i < size % 8; i++)
		other[12 + data[i] % 132] ^= data[size - 1 - i];
	make_good(other);
	read_and_write(other, &second);
	negotiate(&first, &second);
	/* One field from the input in an endpoint that is good otherwise. */
	for (size_t i = 0; i < size % 16; i++)
		bytes[8 + data[size - 1] % (sizeof(bytes) - 32) + i] = data[i];
	make_plausible(bytes);
	read_and_write(bytes, &first);
	return 0;
}
