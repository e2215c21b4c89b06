# SPDX-License-Identifier: MIT
# Doxygen's view of a page with the line `<!-- table of LIST -->`: this filter puts a table there, made
# from LIST in include/rdmaez/impl/wc.h. A list is `#define LIST(X)` followed by lines
# X(number, name, valid fields, "what", "what to do", "who reports it", "cause", ...).

BEGIN {
	while ((getline row < "include/rdmaez/impl/wc.h") > 0) {
		if (row ~ /^#define [A-Z_]+\(X\)/) {
			list = row
			gsub(/^#define |\(X\).*/, "", list)
			inside = 1
		}
		if (inside) {
			inside = row ~ /\\$/
			sub(/[ \t]*\\$/, "", row)
			text[list] = text[list] row
		}
	}
}

/^<!-- table of [A-Z_]+ -->$/ {
	table($4)
	next
}
{ print }

function table(list,    count, entry, head, part, parts, i, j, causes, valid)
{
	count = split(text[list], entry, /\tX\(/)
	if (count < 2) {
		print "advice_tables.awk: include/rdmaez/impl/wc.h has no list " list > "/dev/stderr"
		exit 1
	}
	print "| number | name | what happened | likely causes, in order | what to do | may be read | reported by |"
	print "|---|---|---|---|---|---|---|"
	for (i = 2; i <= count; i++) {
		gsub(/"[ \t]+"/, "", entry[i])
		parts = split(entry[i], part, "\"")
		split(part[1], head, /,[ \t]*/)
		valid = tolower(head[3])
		gsub(/rdmaez_valid_/, "", valid)
		sub(/^on_/, "on ", valid)
		sub(/ *\| */, ", ", valid) # a bar would end the cell
		sub(/^0$/, "nothing", valid)
		causes = part[8]
		for (j = 10; j < parts; j += 2)
			causes = causes "<br>" part[j]
		printf "| %s | %s | %s | %s | %s | %s | %s |\n", head[1], head[2], part[2], causes, part[4],
			valid, part[6]
	}
}
