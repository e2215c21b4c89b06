#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The reference is complete: of every public function the headers tell what it does, takes and returns, from which
# threads it may be called, which verbs it calls, what it needs, and where its facts are from.

source tests/tap.bash
source tests/tree/xml.bash

# complete INCLUDE
complete() {
	local in
	in=$(xml "$1")
	python3 -B tests/tree/reference.py "$in"
}

# lacks NAME PATTERN HEADER SED: a defect in a header is seen.
lacks() {
	rm -rf "$scratch/include"
	cp -r include "$scratch/include"
	sed -i "$4" "$scratch/include/rdmaez/$3"
	fails "$1" "$2" complete "$scratch/include"
}

ok 'every function is documented in full' complete include

lacks 'a parameter without a word is seen' 'rdmaez_qp_to_err: nothing of parameter qp' qp.h \
	'/Moves a queue pair to ERR/,/^RDMAEZ/{/@param qp/d}'
lacks 'a function that does not say what it returns is seen' 'rdmaez_mtu_bytes: nothing of what it returns' units.h \
	'0,/@return/{/@return/d}'
lacks 'an error without its reason is seen' 'rdmaez_qp_to_rtr: no reason for ENODATA' qp.h \
	's/@retval ENODATA the GID .*/@retval ENODATA/'
lacks 'a head that says nothing of threads is seen' 'rdmaez_qp_to_rts: no Threads' qp.h '/@par Threads/,+1d'
lacks 'nor of the rdma-core that is needed' 'rdmaez_qp_to_rts: no rdma-core' qp.h 's/; rdma-core 33$//'
lacks 'nor of where its facts are from' 'rdmaez_qp_to_rts: no Source' qp.h '/@par Sources/,+2d'

done_testing
