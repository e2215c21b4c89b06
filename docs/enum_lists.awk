# SPDX-License-Identifier: MIT
# Doxygen's view of an enum that is made from a list: this filter writes out the enumerators with
# the list's own sentences as their documentation. A list is `#define NAME(X)` followed by lines
# X(id, "what", "what to do"); the enum uses it as NAME(..._ID).
{ line[NR] = $0 }

/^#define [A-Z_]+\(X\)/ {
	list = $2
	sub(/\(X\).*/, "", list)
	text[list] = ""
	inside = 1
}
inside {
	more = $0
	inside = sub(/[ \t]*\\$/, "", more)
	text[list] = text[list] more
}

END {
	for (i = 1; i <= NR; i++)
		if (match(line[i], /^\t[A-Z_]+\([A-Z_]+_ID\)/))
			enumerators(line[i])
		else
			print line[i]
}

# Writes "id, documentation" for each entry, on one line to keep doxygen's line numbers right.
function enumerators(use,    list, count, entry, part, i, after)
{
	list = use
	sub(/^\t/, "", list)
	sub(/\(.*/, "", list)
	after = use
	sub(/^[^)]*\)/, "", after)
	count = split(text[list], entry, /\tX\(/)
	for (i = 2; i <= count; i++) {
		gsub(/"[ \t]+"/, "", entry[i])
		split(entry[i], part, /,[ \t]*"|",[ \t]*"|"\)/)
		sub(/^[ \t]*/, "", part[2])
		printf "RDMAEZ_%s, /**< %s. Next: %s. */ ", part[1], part[2], part[3]
	}
	print after
}
