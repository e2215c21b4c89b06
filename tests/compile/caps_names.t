#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The names of bits and values in explain/caps.h against the verbs.h of the newest rdma-core: each name stands
# for the number that it has there, and no name that is there is forgotten.

source tests/compile/lib.bash

versions=$(tools/rdma-core-headers) || exit 1
verbs=${versions##* }

# All names, a line each: KIND, number, name.
names() {
	awk -F '"' '/^\tcase RDMAEZ_KIND_/ { kind = $0; gsub(/.*KIND_|:.*/, "", kind) }
		$2 ~ /^[0-9]+:/ { sub(/:/, " ", $2); sub(/\\0$/, "", $2); print kind, $2 }' "$1/rdmaez/explain/caps.h"
}

# Of a set, a constant is the bit; but those of queue pair types are the bit's place.
numbers_are_right() {
	{
		cat <<-'END'
			#include <stdio.h>
			#include <rdmaez/caps_table.h>
			#define CHECK(kind, number, name) \
				if ((uint64_t)name != (rdmaez_caps_kind_is_set(RDMAEZ_KIND_##kind) && \
						       RDMAEZ_KIND_##kind != RDMAEZ_KIND_QP_TYPES \
							       ? UINT64_C(1) << number : number)) \
					wrong += printf("%s is not number %d\n", #name, number); \
				checked++;
			int main(void)
			{
				int wrong = 0, checked = 0;
		END
		names "$1" | sed -n 's/^\([A-Z0-9_]*\) \([0-9]*\) \(IBV_.*\)/CHECK(\1, \2, \3)/p'
		cat <<-'END'
				printf("%d names\n", checked);
				return wrong || checked < 100;
			}
		END
	} >"$scratch/names.c"
	"$CC" -std=c11 -Wno-enum-compare "-I$1" -isystem "$verbs" "$scratch/names.c" -o "$scratch/names"
	"$scratch/names"
}

# The constants of the enums and macros whose names the list is to hold.
constants() {
	awk '/^enum ibv_(node_type|transport_type|device_cap_flags|atomic_cap|port_state|mtu|qp_type) \{/,/^\}/
		/^enum ibv_(odp_general_caps|odp_transport_cap_bits|raw_packet_caps|tm_cap_flags) \{/,/^\}/
		/^enum ibv_(rx_hash_function_flags|rx_hash_fields|pci_atomic_op_size) \{/,/^\}/
		/^enum ibv_(port_cap_flags|port_cap_flags2) \{/,/^\}/
		/^\tIBV_LINK_LAYER_/
		/^#define IBV_(DEVICE|QPF)_/ { print "\t" $2 }' "$1"/infiniband/verbs.h "$1"/infiniband/verbs_api.h |
		sed -nE 's/^\t(IBV_[A-Z0-9_]+).*/\1/p'
}

# Two are -1, "unknown", and the type of drivers' own queue pairs is beyond every set.
nothing_is_forgotten() {
	constants "$2" | grep -vxE 'IBV_(NODE|TRANSPORT)_UNKNOWN|IBV_QPT_DRIVER' | sort -u >"$scratch/there"
	(($(wc -l <"$scratch/there") > 100)) || { echo 'too few constants were found'; return 1; }
	names "$1" | sed -n 's/.* \(IBV_.*\)/\1/p' | sort -u >"$scratch/here"
	diff "$scratch/there" "$scratch/here"
}

# The list is searched from its start, so a second name of a number would never be given.
no_number_twice() {
	names "$1" | cut -d' ' -f1,2 | sort | uniq -d >"$scratch/twice"
	[[ ! -s $scratch/twice ]] || { echo "twice: $(cat "$scratch/twice")"; return 1; }
}

ok 'every name of verbs.h has its number' numbers_are_right include
ok 'every name that verbs.h has is there, and no other' nothing_is_forgotten include "$verbs"
ok 'no number has two names' no_number_twice include

fails 'a bit one too high is noticed' 'IBV_DEVICE_XRC is not number 21' \
	numbers_are_right "$(seeded bit rdmaez/explain/caps.h 's/"20:IBV_DEVICE_XRC/"21:IBV_DEVICE_XRC/')"
fails 'a value of an enum that is wrong is noticed' 'IBV_MTU_512 is not number 3' \
	numbers_are_right "$(seeded mtu rdmaez/explain/caps.h 's/"2:IBV_MTU_512/"3:IBV_MTU_512/')"
fails 'a name that is misspelt is noticed' 'IBV_ODP_SUPPORT_REED' \
	nothing_is_forgotten "$(seeded name rdmaez/explain/caps.h 's/IBV_ODP_SUPPORT_READ/IBV_ODP_SUPPORT_REED/')" "$verbs"
fails 'a name that is forgotten is noticed' '< IBV_RX_HASH_INNER' \
	nothing_is_forgotten "$(seeded forgotten rdmaez/explain/caps.h '/IBV_RX_HASH_INNER/d')" "$verbs"
fails 'a macro that is forgotten is noticed' '< IBV_DEVICE_CC_DMA_BOUNCE' \
	nothing_is_forgotten "$(seeded macro rdmaez/explain/caps.h '/IBV_DEVICE_CC_DMA_BOUNCE/d')" "$verbs"
fails 'a number with two names is noticed' 'twice: SPEED 32' \
	no_number_twice "$(seeded doubled rdmaez/explain/caps.h 's/"64:HDR/"32:HDR/')"

done_testing
