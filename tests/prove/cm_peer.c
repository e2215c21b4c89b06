/* SPDX-License-Identifier: MIT */
/*
 * rdmaez_cm_event_peer(): for private data of every length and any bytes, or none, nothing outside the data is read, and
 * nothing outside the struct is written; the copy has all of the data.
 *
 * machines: 64 32
 * unwind: 2
 * defect: "the length" impl/cm.h s/peer->length = conn->private_data ? conn->private_data_len : 0/peer->length = 255/
 */
#include "prove.h"
#include <rdmaez/cm.h>
#include <stdlib.h>

int main(void)
{
	struct rdma_cm_event event;
	struct rdmaez_cm_peer peer;
	const uint8_t length = nondet_u8(), at = nondet_u8();
	uint8_t *const data = nondet_bool() ? NULL : malloc(length);

	event.param.conn.private_data = data;
	event.param.conn.private_data_len = length;
	rdmaez_cm_event_peer(&event, &peer);
	PROVE(peer.length == (data ? length : 0), "the length");
	PROVE(at >= peer.length || peer.data[at] == data[at], "every byte");
	GOAL(data && length == 255);
	GOAL(!data && length);
	GOAL(data && !length);
	return 0;
}
