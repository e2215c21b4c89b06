#!/bin/bash
# SPDX-License-Identifier: MIT
#
# rdmaez-explain: what its options do, and that a program under it is the program it was.

source tests/tap.bash
source tests/tools/explain.bash
programs wrong_mask

explains_a_refusal() {
	ends 0 wrong_mask
	[[ $(<"$scratch/out") == 22 ]]
	says '^rdmaez-explain: wrong_mask\[[0-9]+\]: ' 'ibv_modify_qp failed with EINVAL on fake0' 'Next: '
}

ok 'explains a refusal' explains_a_refusal

done_testing
