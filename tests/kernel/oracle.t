#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The transition rules against a running kernel's: builds the module rdmaez_oracle for the guest's
# kernel, has it answer every mask of every transition, and compares. RDMAEZ_KERNEL chooses the kernel
# (bookworm, trixie or sid).

set -euo pipefail

kernel=${RDMAEZ_KERNEL:-bookworm}
build=$PWD/build/kernel/$kernel
mkdir -p "$build/module"
cp tests/kernel/rdmaez_oracle.c tests/kernel/oracle.h tests/kernel/Kbuild "$build/module/"

echo "# building the module for Debian $kernel"
headers=$(tools/softroce --kernel "$kernel" --headers)
make -s -C "$headers" M="$build/module" modules >"$build/make.log" 2>&1 ||
	{ sed 's/^/# /' "$build/make.log"; exit 1; }
"${CC:-gcc}" -std=c11 -O2 -Iinclude -Itests tests/kernel/oracle.c -o "$build/oracle"

echo "# asking the kernel"
rm -f "$build/answers"
tools/softroce --quiet --timeout 0 --kernel "$kernel" --host qemu --write "$build" \
	--module "$build/module/rdmaez_oracle.ko" -- \
	sh -c "uname -r | sed 's/^/# Linux /' && dd if=/proc/rdmaez_oracle of='$build/answers' bs=64K status=none" </dev/null

echo "# comparing"
"$build/oracle" "$build/answers"
