# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034,SC2154
#
# Sourced by tests that compile a driver's own files into a program, after tests/tap.bash.
# RDMAEZ_KERNEL chooses the kernel (bookworm, trixie or sid); its source is downloaded once.

kernel=${RDMAEZ_KERNEL:-bookworm}
tree=$(tools/softroce --kernel "$kernel" --source) || exit 1
build=$(tools/softroce --kernel "$kernel" --headers) || exit 1
common=$(sed -n 's|^include \(.*\)/Makefile$|\1|p' "$build/Makefile")
release=$(basename "$build")
release=${release#linux-headers-}
moves=tests/kernel-source/moves

# What the kernel's own build would pass, but for what suits a program: no code model, no stack protector, no tracing.
flags=(-nostdinc "-I$tree/include" "-I$common/arch/x86/include" "-I$build/arch/x86/include/generated" "-I$common/include"
	"-I$build/include" "-I$common/arch/x86/include/uapi" "-I$build/arch/x86/include/generated/uapi"
	"-I$common/include/uapi" "-I$build/include/generated/uapi"
	-include "$common/include/linux/compiler-version.h" -include "$common/include/linux/kconfig.h"
	-include "$moves/config.h" -include "$common/include/linux/compiler_types.h"
	-D__KERNEL__ -DMODULE '-DKBUILD_BASENAME="moves"' '-DKBUILD_MODNAME="moves"' -D__KBUILD_MODNAME=kmod_moves -DCC_USING_FENTRY
	-std=gnu11 -fms-extensions -O1 -w -fno-pie -fno-strict-aliasing -fshort-wchar -funsigned-char -fno-common
	-fcf-protection=none -ffunction-sections -fdata-sections)

# of_kernel TREE DIRECTORY FILE OBJECT [FLAG...]: compile as part of the kernel, with a driver's directory below TREE.
of_kernel() {
	"${KCC:-gcc}" "${flags[@]}" "-I$1/drivers/infiniband" "-I$1/drivers/infiniband/$2" "-I$tree/drivers/infiniband/$2" \
		"-I$tree/drivers/infiniband/core" "-I$tree/drivers/net/ethernet/broadcom/bnxt" \
		"-I$tree/drivers/net/ethernet/hisilicon/hns3" "-I$tree/drivers/net/ethernet/hisilicon/hns3/hns3pf" \
		"-I$tree/drivers/net/ethernet/hisilicon/hns3/hns3_common" "${@:5}" \
		-c "$3" -o "$4"
}

# What is still missing in an object ends in moves_lacks(), with its name.
lacks() {
	comm -23 <(nm -u "$1" | awk '{ print $2 }' | sort -u) <(nm --defined-only "$scratch/stubs.o" | awk '{ print $3 }' | sort -u) |
		grep -vE '^(mem(cpy|move|set|cmp|chr)|str(len|cmp|ncmp|cpy|ncpy|chr|str|cat)|sn?printf)$' |
		awk 'BEGIN { print ".section .note.GNU-stack,\"\",@progbits\n.text" }
			{ print ".globl " $1 "\n" $1 ":\n\tlea 1f(%rip), %rdi\n\tand $-16, %rsp\n\tcall moves_lacks\n1:\t.string \"" $1 "\"" }'
}

# changed_driver DIRECTORY DRIVER FILE SCRIPT: a tree in DIRECTORY with SCRIPT, of sed, done to a FILE of the driver.
changed_driver() {
	mkdir -p "$1/drivers/infiniband/hw/$2"
	cp "$tree/drivers/infiniband/hw/$2"/*.[ch] "$1/drivers/infiniband/hw/$2/"
	sed -i "$4" "$1/drivers/infiniband/hw/$2/$3"
	! cmp -s "$tree/drivers/infiniband/hw/$2/$3" "$1/drivers/infiniband/hw/$2/$3" || { echo "nothing was changed"; return 1; }
}
