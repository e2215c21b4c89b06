# SPDX-License-Identifier: MIT
# Doxygen's view of the fields of capabilities, which are written down once in lists: this filter writes
# out the enumerators and the members that the lists make, with the lists' own sentences. Rows are
# LETTER(id, group, member, type, kind, merge, ..., "what it is"), those of a text have its size for a
# type, and a list may be made of lists. The lists stand in the file itself or in caps_fields.h beside it.
BEGIN {
	file = ARGV[1]
	sub(/[^\/]*$/, "caps_fields.h", file)
	while ((getline text < file) > 0)
		collect(text)
}

{ line[++lines] = $0; collect($0) }

END {
	for (i = 1; i <= lines; i++) {
		if (match(line[i], /^\t[A-Z_]+MEMBERS\([A-Z_]+\)/)) {
			name = line[i]
			gsub(/^\t[A-Z_]+\(|\).*/, "", name)
			members(name)
		} else if (match(line[i], /^\t[A-Z_]+\(RDMAEZ_IMPL_[A-Z_]+_(ENUM|ID)[,)]/)) {
			name = prefix = line[i]
			gsub(/^\t|\(.*/, "", name)
			gsub(/^\t[A-Z_]+\(|[,)].*/, "", prefix)
			whole = line[i]
			while (!balanced(whole))
				whole = whole " " line[++i]
			after = whole
			sub(/^.*\)/, "", after)
			enumerators(name, begins[prefix])
			print after
		} else {
			print line[i]
		}
	}
}

# Remembers the bodies of macros with arguments, and what an enumerator's macro puts before an id.
function collect(text,    name)
{
	if (match(text, /^#define [A-Z_]+\(/)) {
		name = substr(text, 9, RLENGTH - 9)
		inside = name
		body[name] = ""
		if (match(text, /RDMAEZ_[A-Z_]*##id/))
			begins[name] = substr(text, RSTART, RLENGTH - 4)
		sub(/^#define [A-Z_]+\([^)]*\)/, "", text)
	}
	if (inside != "") {
		name = inside
		if (text !~ /\\$/)
			inside = ""
		sub(/[ \t]*\\$/, "", text)
		body[name] = body[name] " " text
	}
}

function balanced(text,    open, shut)
{
	open = gsub(/\(/, "(", text)
	shut = gsub(/\)/, ")", text)
	return open == shut
}

# Splits a list into its rows, column by column; lists within it are opened.
function rows(name,    text, at, c, depth, quoted, column, word)
{
	text = body[name]
	for (at = 1; at <= length(text); at++) {
		c = substr(text, at, 1)
		if (c == "\"")
			quoted = !quoted
		else if (quoted)
			word = word c
		else if (c == "(" && !depth++) {
			if (word in body) {
				rows(word)
				at += index(substr(text, at), ")") - 1
				depth = 0
				word = ""
				continue
			}
			kind = word
			word = ""
			column = 0
			count++
			letter[count] = kind
		} else if (c == ")" && !--depth) {
			cell[count, ++column] = word
			columns[count] = column
			word = ""
		} else if (c == "," && depth == 1) {
			cell[count, ++column] = word
			word = ""
		} else if (c !~ /[ \t]/ || (depth && word != "" && column >= 1 && substr(text, at - 1, 1) !~ /["]/))
			word = word c
	}
}

function enumerators(name, prefix,    i)
{
	count = 0
	rows(name)
	for (i = 1; i <= count; i++)
		printf "%s%s, /**< %s */ ", prefix, cell[i, 1], cell[i, columns[i]]
}

function members(name,    i, path)
{
	count = 0
	rows(name)
	for (i = 1; i <= count; i++) {
		path = columns[i] > 7 ? cell[i, 8] : cell[i, 3]
		if (letter[i] == "T")
			printf "char %s[%s];", cell[i, 3], cell[i, 4]
		else
			printf "%s %s;", cell[i, 4], cell[i, 3]
		printf " /**< %s (`%s`) */ ", cell[i, columns[i]], path
	}
	print ""
}
