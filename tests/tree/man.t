#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The man pages: there is one for everything that a program can call, a reader and an index take them without
# a complaint, and a page says what the header says, with what the header's head says for all of its functions.

source tests/compile/lib.bash
source tests/tree/xml.bash

export LC_ALL=C.UTF-8

# pages INCLUDE: the pages of these headers, in a directory of their own.
pages() {
	local in out
	in=$(xml "$1")
	out=$(mktemp -d "$scratch/man.XXXX")
	python3 -B docs/site/man.py "$in" "$out" 1.2.3
	echo "$out"
}

# every_one DIRECTORY: ctags, which knows nothing of doxygen, has the list.
every_one() {
	local missing
	{
		identifiers include pfs -DRDMAEZ_EXTERN | sed -n '/__anon\|impl/d; s/.* \(rdmaez_\)/\1/p'
		{
			public_headers include
			optional_headers include
		} | sed 's/^/rdmaez_/'
		echo RDMAEZ_ZERO
		sed -nE 's/^#define (RDMAEZ_[A-Z_]+)\(.*/\1/p' include/rdmaez/*.h | grep -v IMPL
	} | sort -u >"$scratch/expected"
	(($(wc -l <"$scratch/expected") > 250))
	missing=$(find "$1/man3" -name '*.3' -printf '%f\n' | sed 's/\.3$//' | sort | comm -23 "$scratch/expected" -)
	[[ -z $missing ]] || { echo "no page for $missing"; false; }
	[[ -s $1/man7/rdmaez.7 ]]
}

# readable FILE...: the formatter has no warning.
readable() {
	groff -t -man -Tutf8 -ww -z "$@" 2>&1 | sed 's|/[^ :]*/||' | tee "$scratch/warnings"
	[[ ! -s $scratch/warnings ]]
}

# shown FILE...: by man itself, which takes much longer.
shown() {
	local file bad=0
	for file; do
		man --warnings=w --local-file "$file" 2>"$scratch/warnings" >"$scratch/read"
		[[ -s $scratch/read && ! -s $scratch/warnings ]] || { sed "s|^|${file##*/}: |" "$scratch/warnings"; bad=1; }
	done
	return "$bad"
}

# indexed FILE...: whatis takes the page's name and a few words from each.
indexed() {
	local bad
	bad=$(lexgrog "$@" 2>&1 | sed 's|^[^:]*/||' | grep -vE '^(.*)\.[0-9]: "\1 - .{8,}"$' || :)
	[[ -z $bad ]] || { echo "${bad//: / has no proper NAME: }"; false; }
}

# What the pages refer to: a page of ours, or one that the packages of rdma-core have, here or in a newer release.
references() {
	{
		find "$1" -name '*.[37]' -printf '%f\n'
		dpkg-query --listfiles libibverbs-dev librdmacm-dev | sed -n 's|.*/man[37]/\(.*\)\.gz$|\1|p'
		printf '%s\n' ibv_dm_export_dmabuf_fd.3 ibv_query_port_speed.3
	} | sort -u >"$scratch/exist"
	{
		cat "$1"/man?/* | sed -nE 's/^\.BR ([^ ]+) \(([37])\).*/\1.\2/p'
		cat "$1"/man3/* | grep -oE '\\fB[a-z_]+\\fR\([37]\)' | sed -E 's/\\fB(.*)\\fR\((.)\)/\1.\2/'
	} | sort -u >"$scratch/named"
	(($(wc -l <"$scratch/named") > 250))
	comm -23 "$scratch/named" "$scratch/exist" | sed 's/$/ does not exist/' | tee "$scratch/dangling"
	[[ ! -s $scratch/dangling ]]
}

# Each paragraph on a line, since releases of groff fill them differently.
paragraphs() {
	awk 'BEGIN { RS = "" } { gsub(/[ \n]+/, " "); sub(/^ /, ""); print }'
}

# shows FILE: the page of rdmaez_qp_to_err(), without its margin lines.
shows() {
	man --local-file "$1" | sed '1d; $d' | col -bx | paragraphs >"$scratch/shown"
	paragraphs >"$scratch/wanted" <<'END'

NAME
       rdmaez_qp_to_err - moves a queue pair to ERR, from any state but RESET: outstanding work
       requests are flushed

SYNOPSIS
       #include <rdmaez.h>

       int rdmaez_qp_to_err(struct ibv_qp *qp, struct rdmaez_diag *diag);

DESCRIPTION
       Moves a queue pair to ERR, from any state but RESET: outstanding work requests are
       flushed.

       mlx5 refuses it for a DCT (RDMAEZ_WHY_DCT_FINAL), as it does RESET.  On iWARP the function
       starts from any state, because qp->state may still be RESET on a connected queue pair.

PARAMETERS
       qp     the queue pair

       diag   receives the explanation; may be NULL

RETURN VALUE
       EINVAL from RESET, but on iWARP (RDMAEZ_WHY_TRANSITION)

       0, or an errno value; see NOTES below

VERBS CALLS
       rdmaez_qp_attr(3) makes none, and rdmaez_qp_state(3) makes one ibv_query_qp(3).  The
       functions that move a queue pair call ibv_modify_qp(3) once.  If a function makes queries
       before it, they are listed with the function.  If ibv_modify_qp(3) fails and diag is not
       NULL, the function explains as rdmaez_qp_modify(3) does.  The queue pair then keeps its
       state, as far as the provider guarantees it.  On success the record has no findings,
       whatever was accepted.  For advice about values that cause trouble later, call
       rdmaez_qp_check(3) before or rdmaez_qp_examine(3) afterwards.

THREADS
       One thread at a time may use a queue pair.  rdmaez_qp_attr(3) may be called from any
       thread.

SOURCES
       modify_qp() in drivers/infiniband/core/uverbs_cmd.c, _ib_modify_qp() in core/verbs.c, and
       the drivers, Linux 6.1, 6.12 and 7.2.

NOTES
   Errors of all of them
       A function returns EINVAL for a NULL queue pair (RDMAEZ_WHY_NULL_ARGUMENT) and for what
       rdmaez_qp_attr(3) refuses, without calling the kernel.  Otherwise it returns any errno
       value of the verbs that it calls.  IBV_QP_RATE_LIMIT for RC, from INIT to RTR, from RTR to
       RTS and within RTS, is left to the kernel, because from Linux 7 on some drivers accept it.

SINCE
       rdmaez 0.1; rdma-core 33

SEE ALSO
       rdmaez_diag(3), ibv_modify_qp(3), ibv_query_qp(3), rdmaez_qp.h(3), rdmaez(7)

END
	diff "$scratch/wanted" "$scratch/shown"
}

# The program in rdmaez(7) can be pasted.
overview_compiles() {
	sed -n '/^\.EX/,/^\.EE/{/^\./!p}' "$1" | sed 's/\\e/\\/g; s/\\-/-/g' >"$scratch/example.c"
	"${CC:-gcc}" -std=c11 -Wall -Wextra -Werror -Iinclude -fsyntax-only "$scratch/example.c"
}

man=$(pages include)
ok 'every function, struct, header and macro with a contract has a page' every_one "$man"
ok 'groff has nothing to warn of' readable "$man"/man?/* docs/man/*
ok 'nor has man' shown "$man"/man3/rdmaez_qp_to_rt?.3 "$man"/man7/* docs/man/*
nightly ok 'of no page' shown "$man"/man3/*
ok 'every page has its NAME line' indexed "$man"/man?/* docs/man/*
ok 'no page refers to one that does not exist' references "$man"
ok 'a page says what the header says' shows "$man/man3/rdmaez_qp_to_err.3"
ok 'the program in rdmaez(7) compiles' overview_compiles "$man/man7/rdmaez.7"

broken=$scratch/broken
cp -r "$man" "$broken"
rm "$broken/man3/rdmaez_qp_to_rtr.3"
sed -i 's/^\.SH SYNOPSIS/.XX/' "$broken/man3/rdmaez_qp_to_rts.3"
sed -i 's/\\- names/names/' "$broken/man3/rdmaez_qp_state_str.3"
fails 'a page that is missing is seen' 'no page for rdmaez_qp_to_rtr' every_one "$broken"
fails 'and a reference to it' 'rdmaez_qp_to_rtr.3 does not exist' references "$broken"
fails 'an unknown request is seen' "rdmaez_qp_to_rts.3:.*XX" readable "$broken/man3/rdmaez_qp_to_rts.3"
fails 'a bad NAME line is seen' 'rdmaez_qp_state_str.3 has no proper NAME' \
	indexed "$broken/man3/rdmaez_qp_state_str.3"
cp -r include "$scratch/include"
sed -i '/ EINVAL from RESET, but on iWARP/d; /^ \* One thread at a time/d' "$scratch/include/rdmaez/qp.h"
other=$(pages "$scratch/include")
fails 'what the header does not say, the page does not' '^< (RETURN VALUE EINVAL from|THREADS One thread)' shows "$other/man3/rdmaez_qp_to_err.3"

done_testing
