/* SPDX-License-Identifier: MIT */
/*
 * What machines tell each other: an endpoint, a token of device memory, and the messages of an exchange and of a
 * barrier, all with fixed contents.
 *
 *	messages write DIRECTORY    packs them into files, each by its name
 *	messages read DIRECTORY     unpacks them, wherever they were packed, and compares
 */
#include <rdmaez.h>
#include <rdmaez/dm_share.h>
#include <rdmaez/handshake.h>

#include "tap.h"

enum {
	ROOM = 2 * RDMAEZ_ENDPOINT_BYTES,
	IDENTITY = 0x1a2b3c4d
};

static const char *directory;

static FILE *file(const char *name, const char *mode)
{
	char path[512];
	FILE *found;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	found = fopen(path, mode);
	if (!found)
		tap_bail("cannot open %s", path);
	return found;
}

static void put(const char *name, const uint8_t *bytes, size_t count)
{
	FILE *to = file(name, "w");

	tap_ok(fwrite(bytes, 1, count, to) == count && !fclose(to), "%s: %zu bytes", name, count);
}

static size_t get(const char *name, uint8_t *bytes)
{
	FILE *from = file(name, "r");
	const size_t count = fread(bytes, 1, ROOM, from);

	fclose(from);
	return count;
}

/* In each number each byte is another one. */
static struct rdmaez_endpoint an_endpoint(void)
{
	struct rdmaez_endpoint end;

	memset(&end, 0, sizeof(end));
	end.qp_num = 0x010203;
	end.qp_type = IBV_QPT_RC;
	end.psn = 0x040506;
	end.qkey = 0x0708090a;
	end.srq_num = 0x0b0c0d;
	end.nonce = 0x0e0f1011;
	end.pkey = 0x8213;
	end.lid = 0x1415;
	end.link_layer = IBV_LINK_LAYER_ETHERNET;
	end.mtu = IBV_MTU_4096;
	end.max_rd_atomic = 16;
	end.max_dest_rd_atomic = 17;
	end.ece.vendor_id = 0x15b3;
	end.ece.options = 0x18191a1b;
	end.gid_count = 2;
	for (uint8_t i = 0; i < 16; i++) {
		end.gid[0].gid.raw[i] = (uint8_t)(0x20 + i);
		end.gid[1].gid.raw[i] = (uint8_t)(0x60 - i);
	}
	end.gid[0].gid_type = IBV_GID_TYPE_ROCE_V2;
	end.gid[1].gid_type = IBV_GID_TYPE_ROCE_V1;
	end.gid[1].by_route = true;
	end.memory.addr = 0x3031323334353637;
	end.memory.length = 0x38393a3b3c3d3e3f;
	end.memory.rkey = 0x40414243;
	end.user_length = 5;
	memcpy(end.user, "user!", 5);
	return end;
}

static struct rdmaez_dm_token a_token(void)
{
	struct rdmaez_dm_token token;

	memset(&token, 0, sizeof(token));
	token.flags = RDMAEZ_DM_TOKEN_PD | RDMAEZ_DM_TOKEN_MR;
	token.dm_handle = 0x01020304;
	token.pd_handle = 0x05060708;
	token.mr_handle = 0x090a0b0c;
	token.lkey = 0x0d0e0f10;
	token.rkey = 0x11121314;
	token.device_guid = 0x15161718191a1b1c;
	token.length = 0x10203040;
	token.alloc_length = 0x10203080;
	token.alignment = 64;
	token.mr_offset = 0x102030;
	token.mr_length = 0x405060;
	strcpy(token.device, "mlx5_0");
	return token;
}

/* ---- Messages, given and taken -------------------------------------------------------------- */

static struct {
	struct rdmaez_handshake shake;
	struct rdmaez_endpoint local, remote;
	struct rdmaez_exchange_list list;
	uint8_t buffer[RDMAEZ_ENDPOINT_BYTES], bytes[ROOM];
	struct rdmaez_diag diag;
} t;

static void begin_exchange(void)
{
	t.local = an_endpoint();
	t.list.count = 1;
	t.list.local = &t.local;
	t.list.remote = &t.remote;
	t.list.buffer = t.buffer;
	tap_eq_int(rdmaez_handshake_exchange(&t.shake, -1, &t.list, &t.diag), 0, "an exchange");
}

static void begin_barrier(int error)
{
	const struct rdmaez_exchange_ready ready = {error, IDENTITY};

	tap_eq_int(rdmaez_handshake_barrier(&t.shake, -1, &ready, &t.diag), 0, "a barrier");
}

/* What it sends. */
static size_t taken(void)
{
	size_t all = 0, count = 1;

	while (count &&
	       !rdmaez_handshake_take(&t.shake, t.bytes + all, ROOM - all, &count, &t.diag))
		all += count;
	return all;
}

/* Gives it what another machine has sent. */
static int given(const char *name)
{
	size_t at = 0, count = 1;
	int error = 0;
	const size_t all = (taken(), get(name, t.bytes));

	while (!error && t.shake.wants && at < all && count) {
		error = rdmaez_handshake_give(&t.shake, t.bytes + at, all - at, &count, &t.diag);
		at += count;
	}
	tap_eq_int(at, all, "%s: all %zu bytes are taken", name, all);
	tap_eq_int(t.shake.wants, 0, "%s: and it is over", name);
	return error;
}

static void write_all(void)
{
	const struct rdmaez_endpoint end = an_endpoint();
	const struct rdmaez_dm_token token = a_token();
	uint8_t packed[RDMAEZ_ENDPOINT_BYTES], bytes[RDMAEZ_DM_TOKEN_BYTES];

	tap_eq_int(rdmaez_endpoint_pack(&end, packed), 0, "an endpoint is packed");
	put("endpoint", packed, sizeof(packed));
	tap_eq_int(rdmaez_dm_token_pack(&token, bytes, NULL), 0, "a token is packed");
	put("token", bytes, sizeof(bytes));
	begin_exchange();
	put("exchange", t.bytes, taken());
	begin_barrier(0);
	put("barrier", t.bytes, taken());
	begin_barrier(EIO);
	put("failure", t.bytes, taken());
}

/* ---- Comparing ------------------------------------------------------------------------------ */

#define SAME(member) tap_eq_hex(got->member, want.member, "%s: " #member, name)

static void check_endpoint(const struct rdmaez_endpoint *got, const char *name)
{
	const struct rdmaez_endpoint want = an_endpoint();

	SAME(qp_num);
	SAME(qp_type);
	SAME(psn);
	SAME(qkey);
	SAME(srq_num);
	SAME(nonce);
	SAME(pkey);
	SAME(lid);
	SAME(link_layer);
	SAME(port_flags);
	SAME(mtu);
	SAME(max_rd_atomic);
	SAME(max_dest_rd_atomic);
	SAME(ece.vendor_id);
	SAME(ece.options);
	SAME(ece.comp_mask);
	SAME(gid_count);
	for (int i = 0; i < 2; i++) {
		SAME(gid[i].gid_type);
		SAME(gid[i].by_route);
		tap_ok(!memcmp(&got->gid[i].gid, &want.gid[i].gid, 16), "%s: GID %d", name, i);
	}
	SAME(memory.addr);
	SAME(memory.length);
	SAME(memory.rkey);
	SAME(user_length);
	tap_ok(!memcmp(got->user, want.user, sizeof(want.user)), "%s: the user's bytes", name);
}

static void check_token(const struct rdmaez_dm_token *got)
{
	const struct rdmaez_dm_token want = a_token();
	const char *const name = "token";

	SAME(flags);
	SAME(dm_handle);
	SAME(pd_handle);
	SAME(mr_handle);
	SAME(lkey);
	SAME(rkey);
	SAME(device_guid);
	SAME(length);
	SAME(alloc_length);
	SAME(alignment);
	SAME(mr_offset);
	SAME(mr_length);
	tap_eq_str(got->device, want.device, "the device's name");
}

static void read_all(void)
{
	struct rdmaez_endpoint end;
	struct rdmaez_dm_token token;
	uint8_t bytes[ROOM];

	memset(&end, 0, sizeof(end));
	memset(&token, 0, sizeof(token));
	tap_eq_int(get("endpoint", bytes), RDMAEZ_ENDPOINT_BYTES, "an endpoint has its size");
	tap_eq_int(rdmaez_endpoint_unpack(bytes, &end, NULL), 0, "and is unpacked");
	check_endpoint(&end, "endpoint");
	tap_eq_int(get("token", bytes), RDMAEZ_DM_TOKEN_BYTES, "a token has its size");
	tap_eq_int(rdmaez_dm_token_unpack(bytes, &token, NULL), 0, "and is unpacked");
	check_token(&token);
	begin_exchange();
	tap_eq_int(given("exchange"), 0, "an exchange succeeds");
	check_endpoint(&t.remote, "exchange");
	begin_barrier(0);
	tap_eq_int(given("barrier"), 0, "a barrier is passed");
	begin_barrier(0);
	tap_eq_int(given("failure"), ECONNABORTED, "a failure is heard");
	tap_eq_int(t.diag.finding[0].reason, RDMAEZ_WHY_PEER_FAILED, "as the peer's");
	tap_eq_int(t.diag.finding[0].value, EIO, "with its errno value");
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	directory = argv[2];
	if (!strcmp(argv[1], "write"))
		write_all();
	else
		read_all();
	return tap_done();
}
