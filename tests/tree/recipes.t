#!/bin/bash
# SPDX-License-Identifier: MIT
#
#     recipes.t [NAME...]
#
# The recipes of CONTRIBUTING.md, each followed in a copy of the tree: the tests that it names pass. Then it is followed
# without one of its steps, each in turn, and the test that is named with the step fails. What is added is made up. make
# check does so for a reason, and sees of the other recipes that each step can be made, in the files that the recipe names;
# make check-nightly does all. With NAMEs, these are all that is done, and in full.

# shellcheck disable=SC1003,SC2016 # backslashes at the ends of lines; marks of code

source tests/tap.bash
# shellcheck source=tests/tree/recipes.bash
source tests/tree/recipes.bash

only=$*

# --- A queue pair attribute ---------------------------------------------------------------------------------

# An rdma-core that has it.
newer_verbs() {
	mkdir -p include/infiniband
	cp /usr/include/infiniband/verbs.h include/infiniband/verbs.h
	after include/infiniband/verbs.h 'IBV_QP_RATE_LIMIT\s*= 1 << 25' '	IBV_QP_MADE_UP = 1 << 26,'
	sed -i '1i #pragma GCC system_header' include/infiniband/verbs.h
	after include/infiniband/verbs.h 'uint32_t\s*rate_limit;$' '	uint8_t made_up;'
}

attribute_row() {
	before include/rdmaez/impl/qp.h 'X\(IBV_QP_RATE_LIMIT, rate_limit' '\
	X(IBV_QP_MADE_UP, made_up, made_up, RDMAEZ_IMPL_AS_INT, 3, 0, 15, \
	  RDMAEZ_IMPL_FIELD_PLAIN, "made up", "nowhere") \'
}

attribute_option() {
	before include/rdmaez/qp.h 'enum ibv_mig_state path_mig_state;' \
		'	int made_up; /**< made up, 0 to 15. 0: 3. #RDMAEZ_ZERO: 0 */'
}

attribute_rules() {
	change include/rdmaez/impl/qp_rules.h 'RDMAEZ_IMPL_QP_READY\(set\)(?:.|\n)*?IBV_QP_PATH_MIG_STATE \|\K' ' IBV_QP_MADE_UP |'
}

attribute_bit() {
	change include/rdmaez/impl/qp_rules.h 'define RDMAEZ_IMPL_QP_BITS \(.*\K\)$' ' | IBV_QP_MADE_UP)'
}

attribute_name() {
	change include/rdmaez/impl/str.h 'IBV_QP_RATE_LIMIT\\0\K' 'IBV_QP_MADE_UP\0'
}

attribute_oracle() {
	change tests/kernel/oracle.h 'ORACLE_BITS \K22' '23'
	change tests/kernel/oracle.h '\? prefix##_RATE_LIMIT : 0\)\K' \
		' | ((number) >> 22 & 1 ? prefix##_MADE_UP : 0)'
}

attribute_kernel() {
	sed 's/IBV_QP_PATH_MIG_STATE/&|IBV_QP_MADE_UP/' tests/data/qp-state-table.tsv >.table
	create tests/data/qp-state-table.tsv <.table
}

attribute_fake_table() {
	awk -f tests/fake/qp_table.awk tests/data/qp-state-table.tsv >.table
	create tests/fake/qp_table.h <.table
}

attribute_fake_takes() {
	change tests/fake/fake_qp.c 'int known = \K' 'IBV_QP_MADE_UP | '
}

attribute_fake_keeps() {
	before tests/fake/fake_driver.c 'APPLY\(IBV_QP_RATE_LIMIT' '	APPLY(IBV_QP_MADE_UP, made_up);'
}

attribute_default() {
	before tests/unit/qp_attr.c 'if \(mask & IBV_QP_MIN_RNR_TIMER\)$' '	if (mask & IBV_QP_MADE_UP)
		attr.made_up = 3;'
}

attribute_explicit() {
	before tests/unit/qp_attr.c 'opts.rate_limit = 1000000;' '	opts.made_up = 5;'
	before tests/unit/qp_attr.c 'if \(mask & IBV_QP_RATE_LIMIT\)' '	if (mask & IBV_QP_MADE_UP)
		attr.made_up = 5;'
}

attribute_compared() {
	before tests/unit/check.h 'CHECK_FIELD\(rate_limit\)' '	CHECK_FIELD(made_up)'
}

attribute_named() {
	before tests/unit/str.c '\{0x2000000, "IBV_QP_RATE_LIMIT"\}' '{0x4000000, "IBV_QP_MADE_UP"},'
	change tests/unit/str.c 'has_name = bit <= 20 \|\| bit == 25\K' ' || bit == 26'
}

attribute_refused() {
	before tests/unit/bad_input.c 'if \(1u << bit == IBV_QP_RATE_LIMIT &&' '			if (1u << bit == IBV_QP_MADE_UP && to == IBV_QPS_RTS)
				continue;'
	change tests/unit/bad_input.c 'for \(int bit = 21; bit < 32; bit\+\+\) \{\K' '
		if (1u << bit == IBV_QP_MADE_UP)
			continue;'
}

recipe attribute 'A queue pair attribute'
given newer_verbs
spared path.h impl/path.h qp_rules.h explain/qp_check.h driver.h impl/driver.h tests/fake/qp_table.awk \
	tests/unit/qp_check.c
step attribute_row 'got: made_up' unit qp_attr
step attribute_option 'no member named .made_up' compiles include/rdmaez.h
step attribute_rules 'not ok .* RC RTR to RTS allows the kernel.s bits' unit qp_rules
step attribute_bit 'the bit of a row is missing' compiles tests/implementation.c
step attribute_name 'not ok .* is called IBV_QP_MADE_UP' unit str
step attribute_oracle 'the kernel is asked about every attribute' compiles tests/kernel/oracle.c
step attribute_kernel 'not ok .* RC RTR to RTS allows the kernel.s bits' unit qp_rules
step attribute_fake_table 'not ok .* writes what is checked in' unit fake_verbs
step attribute_fake_takes 'not ok .* the fake takes IBV_QP_MADE_UP' unit qp_attr
step attribute_fake_keeps 'not ok .* and keeps it' unit qp_attr
step attribute_default 'got: made_up' unit qp_attr
step attribute_explicit 'got: made_up' unit qp_attr
step attribute_compared 'IBV_QP_MADE_UP has a value of its own' unit qp_attr
step attribute_named 'not ok .* is unknown' unit str
step attribute_refused 'not ok .* bit 26' unit bad_input
step write_pages 'docs/options.md.*make pages' pages

follow

# --- A reason -----------------------------------------------------------------------------------------------

reason_entry() {
	before include/rdmaez/why.h '^\tRDMAEZ_WHY_EVENT_NONE,' '	RDMAEZ_WHY_MADE_UP,'
}

reason_sentences() {
	change include/rdmaez/explain/why.h '^\tX\(EVENT_NONE,' '	X(MADE_UP, "this is made up", "nothing can be done") \
	X(EVENT_NONE,'
}

reason_finding() {
	change include/rdmaez/impl/path.h '^\tif \(\K(?=\(b->path->flags & ~)' 'b->path->sl == 14 || '
	before include/rdmaez/explain/path.h '^\tif \(unknown\)$' '	if (build->path->sl == 14)
		rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_MADE_UP, "ah_attr.sl");'
}

reason_test() {
	before tests/unit/path.c '^static void check_grh\(void\)' 'static void check_made_up(void)
{
	struct rdmaez_path path = path_to("::", 1);

	path.sl = 14;
	check(&path, 1, NULL, NULL, RDMAEZ_WHY_MADE_UP, "ah_attr.sl", "made up");
}
'
	before tests/unit/path.c '^\tcheck_grh\(\);' '	check_made_up();'
}

recipe reason 'A reason'
leading_to 'A finding'
spared impl/diag.h explain/diag.h qp_check.h explain/qp_check.h qp_create.h objects.h mr.h ah.h multicast.h wr.h \
	wc_explain.h cq_examine.h late.h qp_examine.h dm.h device.h port.h refusal.h tests/unit/qp_check.c tests/tree/reasons.t path.h impl/X.h
step reason_entry 'RDMAEZ_WHY_MADE_UP.* undeclared' compiles include/rdmaez/implementation.h
step reason_sentences 'the rows of explain/why.h are the reasons of why.h' compiles include/rdmaez/implementation.h
step reason_finding 'no header gives MADE_UP' script tests/tree/reasons.t
step reason_test 'no test expects MADE_UP' script tests/tree/reasons.t
passing 'unit path'
follow

# --- A capability -------------------------------------------------------------------------------------------

# An rdma-core that has it.
newer_device() {
	newer_verbs
	after include/infiniband/verbs.h 'uint32_t phys_port_cnt_ex;' '	uint32_t made_up;'
}

capability_member() {
	before include/rdmaez/caps.h 'RDMAEZ_CAPS_TM_MAX_RNDV_HDR_SIZE,' '	RDMAEZ_CAPS_MADE_UP, /**< packet_pacing.made_up */'
	change include/rdmaez/caps.h '(?=^\t\} packet_pacing;)' '		uint32_t made_up; /**< what is made up */
'
}

capability_row() {
	before include/rdmaez/impl/caps_rows.h '^RDMAEZ_X\(TM_MAX_RNDV_HDR_SIZE' \
		'RDMAEZ_X(MADE_UP, packet_pacing, made_up, uint32_t, MADE_UP, BITS, PROVIDER, made_up,
         "what is made up")'
}

capability_kind() {
	before include/rdmaez/caps_table.h 'RDMAEZ_KIND_TOTAL ' '	RDMAEZ_KIND_MADE_UP, /**< a set of what is made up */'
}

capability_names() {
	change include/rdmaez/explain/caps.h '(?=^\tcase RDMAEZ_KIND_PORT_QPF:)' '	case RDMAEZ_KIND_MADE_UP:
		return "0:MADE_UP_0\0"
		       "3:MADE_UP_3\0";
'
}

capability_type() {
	change docs/data.c '\{"PORT_QPF", "set", NULL\},\K' '
	{"MADE_UP", "set", NULL},'
}

capability_again() {
	change tests/caps_list.h 'FULL\(RAW_PACKET_CAPS, ' 'FULL(MADE_UP, made_up, packet_pacing.made_up, MADE_UP, BITS, 0) \
	FULL(RAW_PACKET_CAPS, '
}

capability_names_again() {
	change tests/unit/caps.c '(?=^\t\[RDMAEZ_KIND_PORT_QPF\])' '	[RDMAEZ_KIND_MADE_UP] = "0 MADE_UP_0, 3 MADE_UP_3",
'
}

recipe capability 'A capability'
given newer_device
spared port_caps.h impl/port_caps_rows.h tests/unit/port_caps.c
step capability_member 'no member named .made_up' compiles include/rdmaez.h
step capability_row 'a field of the device has no row' compiles tests/implementation.c
step capability_kind 'RDMAEZ_KIND_MADE_UP.* undeclared' compiles tests/implementation.c
step capability_names 'not ok .* kind [0-9]+ has these names' unit caps
step capability_type 'a kind has no line' compiles docs/data.c
step capability_again 'not ok 1 - no field is forgotten, none is too many' unit caps
step capability_names_again 'not ok .* kind [0-9]+ has these names' unit caps
passing pages
follow

# --- An option ----------------------------------------------------------------------------------------------

option_member() {
	before include/rdmaez/dm.h '^\tunsigned int flags; .*enum rdmaez_dm_flags' \
		'	int made_up; /**< what is made up, up to 15. 0: 5. #RDMAEZ_ZERO: 0 */'
}

option_read() {
	before include/rdmaez/impl/dm.h '^\tif \(opts->alignment > RDMAEZ_IMPL_DM_ALIGNMENT' \
		'	if (rdmaez_impl_option(opts->made_up, 5) > 15)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_RANGE, "opts.made_up");'
}

option_test() {
	before tests/unit/dm.c '^static void check_alignment\(void\)' 'static void check_made_up(void)
{
	struct rdmaez_dm_opts opts = {.made_up = 15};

	start();
	check_success(&t.diag, rdmaez_dm_alloc(t.ctx, 64, &opts, &t.dm, &t.diag), "what is made up");
	start();
	opts.made_up = 16;
	check_refusal(&t.diag, rdmaez_dm_alloc(t.ctx, 64, &opts, &t.dm, &t.diag), EINVAL,
		      RDMAEZ_WHY_RANGE, "opts.made_up", "too much of it");
}
'
	before tests/unit/dm.c '^\tcheck_alignment\(\);' '	check_made_up();'
}

recipe option 'An option'
step option_member 'no member named .made_up' compiles include/rdmaez.h
step option_read 'not ok .* too much of it: EINVAL' unit dm
step option_test 'no test sets rdmaez_dm_opts made_up' script tests/tree/options.t
step write_pages 'not in the page: rdmaez_dm_opts made_up' script tests/tree/options.t
passing pages
follow

# --- A driver -----------------------------------------------------------------------------------------------

driver_record() {
	double include/rdmaez/impl/driver.h '^\tX\("vmw_pvrdma"(?:.|\n)*?(?=^\tX\()' \
		's/vmw_pvrdma/made_up/g; s/0x15ad/0xabcdef/; s/15ad:0820//'
}

driver_profile() {
	double tests/fake/fake_profile.c '^\t\{\.profile = FAKE_PROFILE_PVRDMA,(?:.|\n)*?\}\},\n' \
		's/PVRDMA/MADE_UP/; s/0x15ad/0xabcdef/'
	double tests/fake/fake_profile.c '^\tcase FAKE_PROFILE_PVRDMA:\n' 's/PVRDMA/MADE_UP/'
}

driver_profile_name() {
	double tests/fake/fake_verbs.h '^\tFAKE_PROFILE_PVRDMA,' 's/PVRDMA,/MADE_UP,\n/'
}

driver_again() {
	double tests/unit/driver.c '^\t\{0x15ad, 0x820, "vmw_pvrdma".*\n' 's/vmw_pvrdma/made_up/; s/0x15ad/0xabcdef/'
	double tests/unit/driver.c '^\t\t\{0x15ad, 0x820, ~.*\n' 's/0x15ad/0xabcdef/'
	double tests/unit/driver.c '^\t\{"vmw_pvrdma",(?:.|\n)*?\},\n' 's/vmw_pvrdma/made_up/g; s/15ad:0820//'
}

driver_in_fake_profiles() {
	double tests/unit/fake_profiles.c '^\t\t\{"6.1", FAKE_PROFILE_PVRDMA,[^{}]*\},\n' 's/PVRDMA/MADE_UP/; s/0x15ad/0xabcdef/'
}

driver_in_qp_check() {
	double tests/unit/qp_check.c '\{FAKE_PROFILE_PVRDMA, "vmw_pvrdma", PORT\},\s*' 's/PVRDMA/MADE_UP/; s/vmw_pvrdma/made_up/'
}

driver_in_drain() {
	double tests/unit/drain.c '^\t+\{FAKE_PROFILE_PVRDMA,.*\n' 's/PVRDMA/MADE_UP/'
}

recipe driver 'A driver'
spared driver.h explain/wc_explain.h tests/kernel-source/driver_moves.t tests/kernel-source/moves.c
step driver_record 'not ok .* device abcdef:820' unit driver
step driver_profile 'Aborted' unit driver
step driver_profile_name 'FAKE_PROFILE_MADE_UP.* undeclared' compiles tests/fake/fake_profile.c
step driver_again 'not ok .* made_up is written down a second time' unit driver
step driver_in_fake_profiles 'not ok .* each driver of the fake' unit fake_profiles
step driver_in_qp_check 'not ok .* each driver of the fake' unit qp_check
step driver_in_drain 'not ok .* each driver is drained' unit drain
follow

# --- An explained verb --------------------------------------------------------------------------------------

# One that is there already, as if it were not.
unexplained_verb() {
	strip tools/explain/verbs.h ' X\(close_xrcd\)'
	strip tools/explain/verbs_objects.c '^static const char close_xrcd\[\].*\n'
	strip tools/explain/verbs_objects.c '^int explain_close_xrcd\((?:.|\n)*?^\}\n'
	strip tests/tools/explain/verbs.c '^static void xrcd_busy\(void\)(?:.|\n)*?^\}\n'
	strip tests/tools/explain/verbs.c 'CASE\(xrcd_busy\),'
	strip tests/tools/explain_verbs.t "^ok 'explains an XRC domain in use'.*\n"
}

verb_word() {
	restore tools/explain/verbs.h
}

verb_function() {
	restore tools/explain/verbs_objects.c
}

verb_refusal() {
	restore tests/tools/explain/verbs.c
}

verb_told() {
	restore tests/tools/explain_verbs.t
}

recipe verb 'An explained verb'
given unexplained_verb
spared verbs_qp.c tools/explain/explain.map tools/explain/refused.c
step verb_word 'no member named .close_xrcd' script tests/tools/explain_verbs.t
step verb_function 'undefined reference to .explain_close_xrcd' script tests/tools/explain_verbs.t
step verb_refusal 'not ok .* explains an XRC domain in use' script tests/tools/explain_verbs.t
step verb_told 'not ok .* each refusal that is made is told' script tests/tools/explain_verbs.t
follow

# --- A check of the doctor ----------------------------------------------------------------------------------

check_row() {
	before tools/doctor/doctor.h '^\tX\(fork, ' '	X(made_up, 2000, "what is made up") \'
}

check_function() {
	after tools/doctor/machine.c '^#include <string.h>' '
void doctor_check_made_up(void)
{
	doctor_say(DOCTOR_OK, "", "this is made up");
}'
}

check_on_the_page() {
	before docs/doctor.md '^\| `fork` \| whether fork' '| `made_up` | what is made up |'
}

check_test() {
	before tests/tools/doctor_slot.t '^done_testing' "fresh
ok 'what is made up' eval \"says made_up 0 <<<'ok   made_up: this is made up'\""
}

recipe check "A check of the doctor"
spared tests/device/doctor_machine.t doctor_port.t
step check_row 'not ok .* what is made up' script tests/tools/doctor_slot.t
step check_function 'undefined reference to .doctor_check_made_up' script tests/tools/doctor_slot.t
step check_on_the_page 'not ok .* the page has every check' script tests/tools/doctor.t
step check_test 'no test of made_up' script tests/tools/doctor.t
follow

done_testing
