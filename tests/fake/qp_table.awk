# SPDX-License-Identifier: MIT
#
# Write the fake's transition table, qp_table.h, from the kernel's own:
#
#	awk -f tests/fake/qp_table.awk tests/data/qp-state-table.tsv > tests/fake/qp_table.h
#
# A row per legal transition and type that a user can create. The kernel calls the two ends of
# an XRC connection INI and TGT, verbs calls them XRC_SEND and XRC_RECV.

BEGIN {
	FS = "\t"
	type["RC"] = "RC"
	type["UC"] = "UC"
	type["UD"] = "UD"
	type["RAW_PACKET"] = "RAW_PACKET"
	type["XRC_INI"] = "XRC_SEND"
	type["XRC_TGT"] = "XRC_RECV"

	print "/* SPDX-License-Identifier: MIT */"
	print "/*"
	print " * Written by tests/fake/qp_table.awk from tests/data/qp-state-table.tsv: the kernel's own,"
	print " * qp_state_table in drivers/infiniband/core/verbs.c, the same in Linux 6.1 and 6.12."
	print " *"
	print " * FAKE_RULE(from, to, type, required besides IBV_QP_STATE, optional)"
	print " */"
	print "/* clang-format off */"
}

function mask(names) {
	if (names == "-")
		return "0"
	gsub(/\|/, " | ", names)
	return names
}

# Print words, starting a new line, one tab in, where the next would pass column 100.
function wrap(text,    word, n, i, line) {
	n = split(text, word, " ")
	line = word[1]
	for (i = 2; i <= n; i++) {
		if (length(line) + 1 + length(word[i]) > (line ~ /^\t/ ? 93 : 100)) {
			print line
			line = "\t" word[i]
		} else {
			line = line " " word[i]
		}
	}
	print line
}

NR > 1 && $3 in type {
	wrap("FAKE_RULE(" $1 ", " $2 ", " type[$3] ", " mask($4) ", " mask($5) ")")
}
