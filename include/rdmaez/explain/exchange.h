/* SPDX-License-Identifier: MIT */
/* Explains why two messages that cross have not come through. */
#ifndef RDMAEZ_EXPLAIN_EXCHANGE_H
#define RDMAEZ_EXPLAIN_EXCHANGE_H

RDMAEZ_IMPL_BEGIN

/* Explains why an exchange goes no further, by the errno value in the record. */
RDMAEZ_SEAM void rdmaez_impl_exchange_explain_stop(const struct rdmaez_impl_exchange *x,
						   bool is_send, struct rdmaez_diag *diag)
{
	struct rdmaez_impl_site site = {is_send ? "send" : "recv", RDMAEZ_WHY_EXCHANGE_CLOSED,
					RDMAEZ_VALUE_BYTES, 0, 0};
	const uint64_t done = is_send ? x->sent : x->got, all = is_send ? x->size : x->want;

	if (diag->error != EPIPE && diag->error != ECONNRESET && diag->error != ETIMEDOUT) {
		rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_EXCHANGE_SOCKET,
				       site.field);
		return;
	}
	if (diag->error == ETIMEDOUT)
		site.why = is_send ? RDMAEZ_WHY_EXCHANGE_UNREAD
			   : done  ? RDMAEZ_WHY_EXCHANGE_PART
				   : RDMAEZ_WHY_EXCHANGE_SILENT;
	rdmaez_impl_find_within(diag, RDMAEZ_DIAG_ERROR, &site, done, all, all);
}

/*
 * Explains that a word of the peer's message is not as it should be: its error, kind, count,
 * identity or length.
 */
RDMAEZ_SEAM void rdmaez_impl_exchange_explain_word(unsigned int word, int64_t theirs, int64_t mine,
						   struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site sites[] = {
		{"message.error", RDMAEZ_WHY_PEER_FAILED, RDMAEZ_VALUE_ERRNO, 0, 0},
		{"message.kind", RDMAEZ_WHY_EXCHANGE_STEP, RDMAEZ_VALUE_NUMBER, 0, 0},
		{"message.count", RDMAEZ_WHY_EXCHANGE_COUNT, RDMAEZ_VALUE_NUMBER, 0, 0},
		{"message.identity", RDMAEZ_WHY_EXCHANGE_IDENTITY, RDMAEZ_VALUE_NUMBER, 0, 0},
		{"message.length", RDMAEZ_WHY_EXCHANGE_FOREIGN, RDMAEZ_VALUE_BYTES, 0, 0}};

	rdmaez_impl_find_within(diag, RDMAEZ_DIAG_ERROR, &sites[word], (uint64_t)theirs,
				(uint64_t)mine, (uint64_t)(word < 4 ? mine : -1));
}

RDMAEZ_IMPL_END

#endif
