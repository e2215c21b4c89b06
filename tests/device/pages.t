#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What the pages show of programs on a device is what they print there today. Needs build/examples; runs itself again on
# the Soft-RoCE machine, where docs/site/regions.py finds a device.
#
# Nightly: a minute, for what changes with a kernel and with nothing here.

set -uo pipefail
cd "$(dirname "$(realpath "$0")")/../.." || exit
if [[ ${1-} != here ]]; then
	exec tools/softroce --quiet --timeout 0 ${RDMAEZ_KERNEL:+--host qemu --kernel "$RDMAEZ_KERNEL"} -- tests/device/pages.t here
fi
# shellcheck source=tests/tap.bash
source tests/tap.bash

begin='<!-- output on softroce of build/examples/01_first -->'

ok 'a page shows what a program prints' grep -qFx -- "$begin" docs/start.md
ok 'what programs print on the pages is what they print here' docs/site/regions.py --device --check README.md docs/*.md
ok 'and the recording shows what the commands print here' docs/site/pictures.py --device --check
printf '%s\n' "$begin" '' '```text' 'rxe0: nothing' '```' '' '<!-- end -->' >"$scratch/stale.md"
fails 'another output is seen' 'make pages-device' docs/site/regions.py --device --check "$scratch/stale.md"
printf '%s\n' '<!-- output on softroce of build/examples/nothing -->' '<!-- end -->' >"$scratch/nothing.md"
fails 'a program that does not exist is an error' 'ended with 1[0-9]*: ' \
	docs/site/regions.py --device --check "$scratch/nothing.md"

done_testing
