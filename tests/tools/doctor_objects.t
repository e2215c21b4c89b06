#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What rdmaez-doctor says of how many objects a device has, of lists that tests/tools/counts.c makes. What a kernel lists
# is in tests/device/doctor_process.t.

source tests/tap.bash
# shellcheck source=tests/tools/doctor.bash
source tests/tools/doctor.bash

ok 'says how many there are, and whose' runs counts "$PWD/tools/doctor/counts.c"
sed 's/count < limit - limit/count <= limit - limit/' tools/doctor/counts.c >"$scratch/late.c"
fails 'sees a limit that is told too late' 'nine tenths' runs counts "$scratch/late.c"

of_a_tree() {
	fresh
	roce mlx5_0
	says objects 0 </dev/null
}
ok 'nothing of a saved tree' of_a_tree
done_testing
