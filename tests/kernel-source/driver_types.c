/* SPDX-License-Identifier: MIT */
/*
 * Compares rdmaez_qp_mask_check() with the drivers' own functions, every mask of every transition of SRD, DCI and
 * DCT. They are in drivers.h, which driver_types.awk takes from the kernel's source.
 *
 * The one documented difference: changing the state takes IBV_QP_STATE here, for which efa's function does not
 * ask. Its caller judges another transition where the bit is missing, so those masks must be refused here.
 */
#include <rdmaez.h>

#include "tap.h"

#define GENMASK(high, low) ((2 << (high)) - (1 << (low)))
#include "drivers.h"

enum {
	STATES = 7,
	MASKS = 1 << 21,
};

static bool driver_accepts(enum ibv_qp_type type, enum ib_qp_state from, enum ib_qp_state to,
			   int mask)
{
	if (from != to && !(mask & IB_QP_STATE))
		return false;
	if (type == RDMAEZ_QPT_SRD)
		return efa_modify_srd_qp_is_ok(from, to, (enum ib_qp_attr_mask)mask);
	if (type == RDMAEZ_QPT_DCI)
		return modify_dci_qp_is_ok(from, to, (enum ib_qp_attr_mask)mask);
	return modify_dct(from, to, mask) == 0;
}

/* One transition: all its masks. */
static void compare(enum ibv_qp_type type, int from, int to)
{
	int accepted = 0, wrong = 0;

	for (int mask = 0; mask < MASKS; mask++) {
		const bool ours = rdmaez_qp_mask_check(type, (enum ibv_qp_state)from,
						       (enum ibv_qp_state)to, mask, NULL) == 0;
		const bool theirs =
			driver_accepts(type, (enum ib_qp_state)from, (enum ib_qp_state)to, mask);

		accepted += ours;
		if (ours != theirs && wrong++ < 3) {
			char names[512];

			rdmaez_qp_attr_mask_format(mask, names, sizeof(names));
			tap_diag("%s: rdmaez says %s, the driver %s", names, ours ? "yes" : "no",
				 theirs ? "yes" : "no");
		}
	}
	tap_eq_int(wrong, 0, "%s %s to %s: all %d masks, of which %d are accepted",
		   rdmaez_qp_type_str(type), rdmaez_qp_state_str((enum ibv_qp_state)from),
		   rdmaez_qp_state_str((enum ibv_qp_state)to), MASKS, accepted);
}

int main(void)
{
	for (int from = 0; from < STATES; from++)
		for (int to = 0; to < STATES; to++) {
			compare(RDMAEZ_QPT_SRD, from, to);
			compare(RDMAEZ_QPT_DCI, from, to);
			compare(RDMAEZ_QPT_DCT, from, to);
		}
	return tap_done();
}
