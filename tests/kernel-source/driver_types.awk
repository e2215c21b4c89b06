# SPDX-License-Identifier: MIT
#
# What the drivers do with a mask for a queue pair of a type of their own, as C that needs no kernel:
#
#	awk -f driver_types.awk SOURCE/include/rdma/ib_verbs.h SOURCE/drivers/infiniband/hw/efa/efa_verbs.c \
#		SOURCE/drivers/infiniband/hw/mlx5/qp.c
#
# Enums, tables and functions are taken as they stand. mlx5_ib_modify_dct() talks to the hardware between its
# checks: of it, only those are taken, as a function of the states and the mask. Fails, and says what it misses,
# where the source has no longer this shape.

# A definition from its first line to the one that closes it. The efa table begins two lines before its name is told.
/^enum ib_qp_state \{$/ || /^enum ib_qp_attr_mask \{$/ { begin() }
/^static const struct \{$/ && FILENAME ~ /efa_verbs/ { held = ""; holding = 1 }
holding { held = held $0 "\n" }
holding && /^} srd_qp_state_table\[IB_QPS_ERR \+ 1\]\[IB_QPS_ERR \+ 1\] = \{$/ {
	begin()
	sub(/[^\n]*\n$/, "", held)
	printf "%s", held
}
/^}/ { holding = 0 }
/^static bool efa_modify_srd_qp_is_ok\(/ || /^static inline bool is_valid_mask\(/ { begin() }
/^static bool modify_dci_qp_is_ok\(/ { begin() }
taking { print }
taking && /^}/ && !/\{$/ { taking = 0; print "" }

function begin() {
	taking = 1
	seen["definitions"]++
}

# Where the drivers ask them.
/err = !efa_modify_srd_qp_is_ok\(cur_state, new_state,$/ { seen["call for SRD"]++ }
/^\t\t   !modify_dci_qp_is_ok\(cur_state, new_state, attr_mask\)\) \{$/ { seen["call for DCI"]++ }
/^\tif \(qp_type == MLX5_IB_QPT_DCT\)$/ { dct_is_next = 1; next }
dct_is_next && /^\t\treturn mlx5_ib_modify_dct\(ibqp, attr, attr_mask, / { seen["call for DCT"]++ }
{ dct_is_next = 0 }

# The checks of mlx5_ib_modify_dct().
/^static int mlx5_ib_modify_dct\(/ {
	dct = 1
	print "static int modify_dct(enum ib_qp_state cur_state, enum ib_qp_state new_state, int attr_mask)\n{"
}
dct && /^\tint required = IB_QP_STATE;$/ { take("start of DCT") }
dct && /^\tif \(!\(attr_mask & IB_QP_STATE\)\)$/ { take("demand for the state of a DCT"); wanted = "\t\t" }
dct && /^\t(} else )?if \(cur_state == IB_QPS_[A-Z]+ && new_state == IB_QPS_[A-Z]+\) \{$/ { take("step of DCT") }
dct && /^\t\trequired \|= .*;$/ { take("requirement of DCT") }
dct && /^\t\tif \(!is_valid_mask\(attr_mask, required, 0\)\)$/ { take("judgement of DCT"); wanted = "\t\t\t" }
dct && /^\t} else \{$/ { take("end of DCT's steps"); last = 1 }
dct && /^\t\treturn -EINVAL;$/ && last { take("refusal of all other steps of DCT") }
dct && /^\t}$/ && last { print; last = 0 }
dct && wanted && $0 == wanted "return -EINVAL;" { take("refusal of DCT"); wanted = "" }
dct && /^}/ {
	dct = 0
	print "\treturn 0;\n}"
}

function take(what) {
	print
	seen[what]++
}

function expect(what, count) {
	if (seen[what] != count) {
		print "driver_types.awk: " what ": " seen[what] + 0 " instead of " count \
			": read the source, and then this program" >"/dev/stderr"
		wrong = 1
	}
}

END {
	expect("definitions", 6)
	expect("call for SRD", 1)
	expect("call for DCI", 1)
	expect("call for DCT", 1)
	expect("start of DCT", 1)
	expect("demand for the state of a DCT", 1)
	expect("step of DCT", 2)
	expect("requirement of DCT", 2)
	expect("judgement of DCT", 2)
	expect("refusal of DCT", 3)
	expect("end of DCT's steps", 1)
	expect("refusal of all other steps of DCT", 1)
	exit wrong
}
