#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The machine with its second driver: siw's devices, the source they are built from, and a module that does not
# suit the kernel. RDMAEZ_KERNEL chooses the kernel.

source tests/tap.bash

kernel=${RDMAEZ_KERNEL:-bookworm}
softroce=(tools/softroce --host qemu --kernel "$kernel" --quiet --timeout 0)

has_the_source() {
	local source
	source=$("${softroce[@]}" --source)
	[[ $(ls "$source") == $'drivers\ninclude' ]]
	[[ -s $source/drivers/infiniband/sw/siw/siw_verbs.c && -s $source/include/rdma/ib_verbs.h ]]
}

# rping on siw hangs now and then, at either end: both then begin again, and the server has longer to start.
has_two_devices() {
	# shellcheck disable=SC2016 # it is the guest's shell that expands these
	"${softroce[@]}" --driver siw --devices 2 sh -c 'cd /sys/class/infiniband && echo * && cat */ports/1/state
		try=1
		until rping -s -a 192.0.2.2 -C 2 >/dev/null 2>&1 &
			sleep $try
			timeout 20 rping -c -a 192.0.2.2 -I 192.0.2.1 -C 2 -v 2>/dev/null >/tmp/said; do
			kill -KILL $!
			try=$((try + 1))
		done
		cat /tmp/said
		kill -KILL $! 2>/dev/null || :' </dev/null >"$scratch/out"
	diff "$scratch/out" - <<-END
		siw0 siw1
		4: ACTIVE
		4: ACTIVE
		ping data: rdma-ping-0: ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_\`abcdefghijklmnopqr
		ping data: rdma-ping-1: BCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_\`abcdefghijklmnopqrs
	END
}

# Unlike the kernel's own modules this one has no signature, so the kernel looks further.
tells_why_a_module_is_refused() {
	local code=0 built
	built=$("${softroce[@]}" --headers)
	sed 's/vermagic=\([^ ]*\) SMP/vermagic=\1 UMP/' "${built%/usr/src/*}/siw/siw.ko" >"$scratch/strange.ko"
	"${softroce[@]}" --module "$scratch/strange.ko" echo unheard </dev/null >"$scratch/refused.out" 2>"$scratch/refused.err" || code=$?
	cat "$scratch/refused.err"
	[[ $code == 125 && ! -s $scratch/refused.out ]]
	[[ $(head -n 1 "$scratch/refused.err") == "softroce: in the guest: insmod: can't insert '/modules/strange.ko': invalid module format" ]]
	[[ $(sed -n 2p "$scratch/refused.err") =~ ^siw:\ version\ magic\ \'[^\']*\ UMP\ [^\']*\'\ should\ be\ \'[^\']*\ SMP\ [^\']*\'$ ]]
}

# The first use fetches and builds, and says so; that is no part of what is measured or compared.
tools/softroce --host qemu --kernel "$kernel" --driver siw true </dev/null || exit 1

ok "the source of the kernel's RDMA is there" has_the_source
soon ok "two siw devices, and a connection from one to the other" has_two_devices
soon ok "a module that does not suit the kernel is refused with the kernel's reason" tells_why_a_module_is_refused
done_testing
