#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What rdmaez-explain --waiting says of rows that tests/tools/judge.c makes: each sentence and each boundary, under the
# sanitizers. Needs no device. Each reason that the tool has is expected there, and on the page.

source tests/tap.bash

flags=(-std=c11 -g @tests/compile/warnings -D_GNU_SOURCE -DEXPLAIN_FEW=160 -Itests -Itools/explain)
sanitize=(-O1 -fsanitize=address -fsanitize=undefined -fno-sanitize-recover=all)

# judged [FILE]: with this judge.c
judged() {
	local define=()
	[[ $# == 0 ]] || define=("-DJUDGE=\"$1\"")
	"${CC:-gcc}" "${flags[@]}" "${sanitize[@]}" "${define[@]}" tests/tools/judge.c -o "$scratch/judge"
	"$scratch/judge" >"$scratch/out" || { grep -A 4 '^not ok' "$scratch/out"; return 1; }
}
ok 'says of each kind of waiting what is so, and nothing of what is none' judged
grep '^1\.\.' "$scratch/out" | sed 's/^1\.\./# assertions: /'

# all_expected FILE: the reasons of the tool are those that the file names
all_expected() {
	diff <(grep -ohE '"(WAIT|FAILED)_[A-Z0-9_]+"' tools/explain/judge.c | tr -d '"' | sort --unique) \
		<(grep -oE '\b(WAIT|FAILED)_[A-Z0-9_]+\b' "$1" | sort --unique)
}
ok 'expects each reason that there is' all_expected tests/tools/judge.c
ok 'the page has each of them' all_expected docs/explain.md
sed 's/WAIT_TWO_TO_ONE/WAIT_OTHER/' tests/tools/judge.c >"$scratch/fewer.c"
fails 'sees one that nothing expects' '< WAIT_TWO_TO_ONE' all_expected "$scratch/fewer.c"

# seeded SCRIPT: judge.c with SCRIPT, of sed, done to it; compiled for less time
seeded() {
	sed -E "$1" tools/explain/judge.c >"$scratch/seeded.c"
	! cmp --silent tools/explain/judge.c "$scratch/seeded.c" || { echo "$1 changes nothing"; return 0; }
	local sanitize=(-O0 -g0)
	judged "$scratch/seeded.c"
}
while IFS='|' read -r what script; do
	fails "$what is noticed" '^not ok' seeded "$script"
done <<'END'
the other PSN in a sentence|s/qp->sq_psn, peer->rq_psn\)/peer->rq_psn, qp->sq_psn)/
a peer in RTR, asked for a PSN that it has not|s/peer->state >= RTS && peer->sq_psn/peer->sq_psn/
a queue that is full and not overrun|s/sends_of\(qp\) > cq->cqe/sends_of(qp) >= cq->cqe/
a twentieth that is a tenth|s/20000000/10000000/
a region that is shorter by a byte|s/addr < mr.addr \|\| named->length > mr.length/addr <= mr.addr || named->length > mr.length/
a region that came later|s/if \(mr.made_at > then\)/if (0)/
a receive that is just long enough|s/peer->recv_length < request->length/peer->recv_length <= request->length/
a receive of a datagram that has just the room|s/qp->recv_length < longest \+ more/qp->recv_length <= longest + more/
a receive that is not the last one|s/qp->failed_id != qp->recv_id \|\| //
a peer that ended with the rest|s/ && explain_sight.state_of\(qp->row.pid\);/ \&\& qp;/
a write that takes a receive|s/request->opcode == WRITE_IMM \|\| request/request->opcode <= WRITE_IMM || request/
a retry_cnt of 7 on any device|s/ && !strncmp\(qp->device, "rxe", 3\)//
a program that does not look|s/return NOBODY;/return POLLS;/
a queue that is polled in passing|s/i != qp->send_cq && may_get\(i\) \&\&/0 \&\&/
what is told again and again|s/seen_qp\[i\].is_told = waits/seen_qp[i].is_told = false/
a peer that is gone and was another's|s/if \(points_to\(other, qp\)\)/if (other)/
a queue that nobody polls, of a program that goes on|s/now_is == EXPLAIN_QUIET \|\| !cq/!cq/
a twin that is not connected|s/!is_connected\(other\) \|\| other->state < RTR \|\| other->state == ERR/!is_connected(other)/
a peer that a signal to all has ended|s/alive_at < AT_ONCE_NS/alive_at == 1/
a program that a debugger holds|s/explain_is_stopped\(state_now/0 \&\& explain_is_stopped(state_now/
a call that may wait|s/return occasion == EXPLAIN_ASKED \|\| call->verb == EXPLAIN_DESTROY_CQ/return call->verb != EXPLAIN_NO_CALL/
END

done_testing
