/* SPDX-License-Identifier: MIT */
/*
 * Messages of a peer under libFuzzer: whatever has come, is understood or refused with a reason, without a byte
 * beyond the message, and nothing is written unless it is good.
 */
#define _GNU_SOURCE /* SOCK_NONBLOCK */
#include <stdlib.h>
#include <sys/ioctl.h>

#include <rdmaez/handshake.h>
#include <rdmaez/implementation.h>

#include "must.h"

enum {
	BYTES = RDMAEZ_ENDPOINT_BYTES,
	HEAD = 24,
	MOST = 3,
	ROOM = HEAD + MOST * BYTES + 2000
};

static struct rdmaez_endpoint endpoint(void)
{
	struct rdmaez_endpoint made;

	memset(&made, 0, sizeof(made));
	made.qp_type = IBV_QPT_RC;
	made.qp_num = 17;
	made.mtu = IBV_MTU_1024;
	made.pkey = 0xffff;
	made.port = 1;
	made.link_layer = IBV_LINK_LAYER_ETHERNET;
	made.gid_count = 1;
	made.gid[0].gid.raw[0] = 0x20;
	made.gid[0].gid_type = IBV_GID_TYPE_ROCE_V2;
	return made;
}

/* What a peer sends: a good message of so many endpoints, and more behind it. */
static size_t message(uint8_t *bytes, size_t count)
{
	const struct rdmaez_endpoint one = endpoint();

	memset(bytes, 0, ROOM);
	memcpy(bytes, "RZEX\0\0\0\0\0\0\0\1", 12);
	rdmaez_impl_bytes_put(bytes + 12, count, 4);
	rdmaez_impl_bytes_put(bytes + 20, count * BYTES, 4);
	for (size_t i = 0; i < count; i++)
		must(rdmaez_endpoint_pack(&one, bytes + HEAD + i * BYTES) == 0);
	return HEAD + count * BYTES;
}

/* How many bytes nobody has read yet. */
static size_t left_in(int fd)
{
	int count = 0;

	must(ioctl(fd, FIONREAD, &count) == 0);
	return (size_t)count;
}

/* This end, where so many bytes have come, and the peer still reads or is gone. */
static void receive(int fd, size_t came, size_t count, const uint8_t *bytes, bool is_gone)
{
	struct rdmaez_endpoint local[MOST], remote[MOST], untouched[MOST];
	uint8_t buffer[MOST * BYTES];
	const struct rdmaez_exchange_list list = {count, local, remote, buffer};
	const uint8_t *at = bytes + 20;
	struct rdmaez_diag diag;
	size_t length;
	int error;

	for (size_t i = 0; i < count; i++)
		local[i] = endpoint();
	memset(remote, 0xa5, sizeof(remote));
	memcpy(untouched, remote, sizeof(remote));
	error = rdmaez_exchange_many(fd, &list, 0, &diag);
	length = (size_t)rdmaez_impl_bytes_get(&at, 4);
	must(diag.error == error && strcmp(diag.call, "rdmaez_exchange_many") == 0);
	must(error ? diag.count >= 1 && diag.finding[0].severity == RDMAEZ_DIAG_ERROR
		   : !diag.count);
	must(!error || memcmp(remote, untouched, sizeof(remote)) == 0);
	must(error == 0 || error == EINVAL || error == ECONNRESET || error == EPIPE ||
	     error == ECONNABORTED || error == EBADMSG || error == EPROTO);
	must(is_gone || error != EPIPE);
	must(error != ECONNRESET || is_gone || came < HEAD + length || came < HEAD);
	if (error == 0 || error == EINVAL) {
		must(!is_gone && came >= HEAD + length && length >= count * BYTES);
		must(left_in(fd) == came - HEAD - length);
	}
	if (error == 0)
		for (size_t i = 0; i < count; i++) {
			must(rdmaez_endpoint_pack(&remote[i], buffer) == 0);
			must(memcmp(buffer, bytes + HEAD + i * BYTES, BYTES) == 0);
		}
	if (!is_gone && came >= 4 && memcmp(bytes, "RZEX", 4) != 0)
		must(error == EBADMSG);
}

/* The same by bytes that come in pieces, as the input cuts them: it ends like the call, and takes no byte more. */
static void receive_pieces(const uint8_t *bytes, size_t came, size_t count, const uint8_t *cuts)
{
	struct rdmaez_endpoint local[MOST], remote[MOST], untouched[MOST];
	uint8_t buffer[MOST * BYTES], sent[HEAD + MOST * BYTES];
	const struct rdmaez_exchange_list list = {count, local, remote, buffer};
	const uint8_t *at = bytes + 20;
	struct rdmaez_handshake shake;
	struct rdmaez_diag diag;
	size_t got = 0, some, taken, length;
	int error;

	for (size_t i = 0; i < count; i++)
		local[i] = endpoint();
	memset(remote, 0xa5, sizeof(remote));
	memcpy(untouched, remote, sizeof(remote));
	must(rdmaez_handshake_exchange(&shake, -1, &list, &diag) == 0);
	for (int i = 0; shake.wants && (got < came || shake.wants & RDMAEZ_HANDSHAKE_WRITE); i++) {
		const size_t cut = 1 + cuts[i % 8] * (size_t)(i % 3);

		error = rdmaez_handshake_take(&shake, sent, cut, &some, NULL);
		must(error == shake.error && some <= cut);
		some = came - got < cut ? came - got : cut;
		if (!shake.wants)
			break;
		error = rdmaez_handshake_give(&shake, bytes + got, some, &taken, &diag);
		must(error == shake.error && taken <= some);
		must(taken == 0 || got + taken <= came);
		got += taken;
	}
	length = (size_t)rdmaez_impl_bytes_get(&at, 4);
	error = rdmaez_handshake_late(&shake, &diag);
	must(!shake.wants && shake.error == error);
	must(error == 0 || error == EINVAL || error == ETIMEDOUT || error == ECONNABORTED ||
	     error == EBADMSG || error == EPROTO);
	must(!error || memcmp(remote, untouched, sizeof(remote)) == 0);
	if (error == 0 || error == EINVAL)
		must(got == HEAD + length && length >= count * BYTES);
	if (error == EBADMSG || error == EPROTO || error == ECONNABORTED)
		must(got <= HEAD);
}

static void run(const uint8_t *bytes, size_t came, size_t count, bool is_gone,
		const uint8_t cuts[8])
{
	int end[2];

	must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, end) == 0);
	must(send(end[1], bytes, came, 0) == (ssize_t)came);
	/* Nobody waits for what is missing. */
	if (is_gone)
		close(end[1]);
	else
		shutdown(end[1], SHUT_WR);
	receive(end[0], came, count, bytes, is_gone);
	receive_pieces(bytes, came, count, cuts);
	close(end[0]);
	if (!is_gone)
		close(end[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t bytes[ROOM] = {0};
	size_t whole, count;

	if (size < 8)
		return 0;
	count = 1 + data[0] % MOST;
	/* As it is, and as a message that is good but for what the input changes. */
	memcpy(bytes, data, size < sizeof(bytes) ? size : sizeof(bytes));
	run(bytes, size < sizeof(bytes) ? size : sizeof(bytes), count, data[1] & 1, data);
	whole = message(bytes, data[1] & 2 ? count : 1 + data[0] / MOST % MOST);
	if (data[1] & 4) /* of a later version */
		rdmaez_impl_bytes_put(bytes + 20, whole - HEAD + data[2] * 7, 4);
	for (size_t i = 4; i + 2 < size && i < 4 + 3 * (size_t)(data[1] >> 6); i += 3)
		bytes[(size_t)(data[i] << 8 | data[i + 1]) % (data[1] & 8 ? HEAD : whole)] ^=
			data[i + 2];
	run(bytes, data[1] & 16 ? ROOM : (size_t)(data[3] << 8 | data[2]) % (whole + 1), count,
	    (data[1] & 32) != 0, data);
	return 0;
}
