#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The JSON files beside the documentation follow their schemas, and say what the headers, the kernel's
# table and verbs.h say. What they are compared with is read from there by other means than docs/data.c
# uses: the preprocessor, the sources as text, and a compiler's idea of verbs.h. Every check has to see a
# seeded defect.

source tests/tap.bash

export LC_ALL=C
data=build/docs/html/data
tables=(attributes completions fields names reasons transitions)
# Debian's, which has python3-jsonschema, whatever else is in the PATH.
python=$(command -v /usr/bin/python3 || command -v python3)

# Of the build's commands, those that write the files; then the same without a dry run.
written() {
	local table
	run_make --dry-run --always-make docs >"$scratch/commands"
	for table in "${tables[@]/%/.json}" "${tables[@]/%/.schema.json}" caps.schema.json; do
		grep -q "$data/$table" "$scratch/commands"
		run_make --silent "$data/$table"
	done
	diff <(printf '%s\n' "${tables[@]}" caps.schema) <({ build/docs/data 2>&1 || :; } | sed 's/.*of: //; y/ /\n/')
}

# valid TABLE [FILE]: FILE follows the schema that is published.
valid() {
	"$python" -m jsonschema --error-format $'{error.json_path}: {error.message}\n' \
		--instance "${2:-$data/$1.json}" "$data/$1.schema.json"
}

# certified FILE...: these are files as rdmaez-doctor --certify writes them.
certified() {
	local file
	run_make --silent "$data/certify.schema.json"
	for file; do
		"$python" -m jsonschema --error-format $'{error.json_path}: {error.message}\n' \
			--instance "$file" "$data/certify.schema.json"
	done
}

# seed TABLE FILTER: $seeded is a directory like $data, where jq's FILTER has changed one table.
seed() {
	seeded=$(mktemp -d "$scratch/seeded.XXXX")
	cp "$data"/*.json "$seeded"
	jq "$2" "$data/$1.json" >"$seeded/$1.json"
	if cmp -s <(jq . "$data/$1.json") "$seeded/$1.json"; then
		ok "the defect $2 changes $1.json" false
	fi
}

refused() {
	seed "$1" "$3"
	fails "$1: $2 is refused" "$4" valid "$1" "$seeded/$1.json"
}

# differs NAME COMMAND TABLE FILTER: the comparison sees what the filter does, as a difference.
differs() {
	seed "$3" "$4"
	fails "$1" '^[<>]|error: static assertion' "$2" "$seeded"
}

of_this_version() {
	local table version
	version=$(sed -n 's/^#define RDMAEZ_VERSION_[MP].* //p' include/rdmaez/version.h | paste -sd.)
	for table in "${tables[@]}"; do
		diff <(echo "$table.schema.json 1 $version") \
			<(jq -r '"\(."$schema") \(.schema_version) \(.rdmaez)"' "$1/$table.json")
	done
}

# The tables of the kernel and of the drivers as a line for each transition and for each attribute of it. They
# do not count the state itself, which mlx5 always wants; the kernel has other names for the ends of XRC.
known_transitions() {
	cat tests/data/qp-state-table.tsv tests/data/driver-type-table.tsv | awk -F '\t' '
		BEGIN { split("RC RC UC UC UD UD RAW_PACKET RAW_PACKET XRC_INI XRC_SEND XRC_TGT XRC_RECV SRD SRD DCI DCI DCT DCT", t, " ")
			for (i = 1; i in t; i += 2)
				verbs[t[i]] = t[i + 1] }
		function attributes(what, list,    n, name) {
			n = split(list, name, "|")
			for (; n > 0; n--)
				if (name[n] != "-")
					print verbs[$3], $1, $2, what, name[n]
		}
		$3 in verbs {
			print verbs[$3], $1, $2, "legal"
			attributes("required", $4)
			attributes("optional", $5)
			attributes($1 == $2 && $3 !~ /^DC/ ? "optional" : "required", "IBV_QP_STATE")
		}' | sort
}

transitions_agree() {
	[[ $(jq '.transitions | length' "$1/transitions.json") == 441 ]] || echo '< 441 rows'
	diff <(known_transitions) <(jq -r '.transitions[] | "\(.type) \(.from) \(.to)" as $row |
		(select(.legal) | "\($row) legal"), (.required[] | "\($row) required \(.)"),
		(.optional[] | "\($row) optional \(.)")' "$1/transitions.json" | sort)
}

all_pairs() {
	diff <(printf '%s\n' {RC,UC,UD,RAW_PACKET,XRC_SEND,XRC_RECV,SRD,DCI,DCT}\ {RESET,INIT,RTR,RTS,SQD,SQE,ERR}\ {RESET,INIT,RTR,RTS,SQD,SQE,ERR}) \
		<(jq -r '.transitions[] | "\(.type) \(.from) \(.to)"' "$1/transitions.json")
}

# asserts HEADER FILE: with HEADER, each line is a C expression that holds; and there are many.
asserts() {
	(($(wc -l <"$2") > 100))
	{
		echo "#include <$1>"
		sed 's/.*/_Static_assert(&, "");/' "$2"
	} >"$scratch/asserts.c"
	"${CC:-gcc}" -std=gnu11 -Iinclude -fmax-errors=3 -fsyntax-only "$scratch/asserts.c"
}

# The tables of the pages, but for their last column, which tests/compile/manual_page.t compares.
tables_agree() {
	local type
	for type in $(jq -r '[.transitions[].type] | unique[]' "$1/transitions.json"); do
		diff <(build/docs/data --table "transitions of $type" | sed '1,2d; s/|[^|]*|$/|/') \
			<(jq -r --arg type "$type" '
				def cell: map(ltrimstr("IBV_QP_") | select(. != "STATE") | " `\(.)`") + [" |"] | add;
				.transitions[] | select(.type == $type and .legal and ([.to] | inside(["RESET", "ERR"]) | not)) |
				"| \(.from) | \(.to) |" + (.required | cell) + (.optional | cell)' "$1/transitions.json")
	done
}

masks_agree() {
	jq -r '.transitions[] | (.required, .required_mask), (.optional, .optional_mask) | tostring' \
		"$1/transitions.json" | sed 's/[]["]//g; s/,/|/g' | paste -d ' ' - - |
		sed -E 's/^(.*) ([0-9]+)$/(\1 | 0) == \2/; s/^\( \|/(0 |/' >"$scratch/masks"
	[[ $(wc -l <"$scratch/masks") == 882 ]]
	asserts infiniband/verbs.h "$scratch/masks"
}

# The constants of all tables that the installed verbs.h knows; it may be older than the newest of them.
constants_agree() {
	{
		echo '#include <infiniband/verbs.h>' | "${CC:-gcc}" -E - | grep -owE 'IBV_[A-Z0-9_]+'
		grep -oE 'RDMAEZ_QPT_[A-Z]+' include/rdmaez/qp_rules.h
	} | sort -u >"$scratch/known"
	{
		jq -r '.names[].values[] | "\(.constant) \(.value)"' "$1/names.json"
		jq -r '(.statuses + .events)[] | "\(.name) \(.number)"' "$1/completions.json"
		jq -r 'del(.kinds.QP_TYPES).kinds[] | (.values // [])[] | "\(.name) \(.value)"' "$1/fields.json"
		jq -r 'del(.kinds.QP_TYPES).kinds[] | (.bits // [])[] | "\(.name) 1ULL<<\(.bit)"' "$1/fields.json"
	} | sort -u | join "$scratch/known" - | sed 's/ / == /' >"$scratch/constants"
	asserts rdmaez/qp_rules.h "$scratch/constants"
}

# list MACRO: what the preprocessor makes of a list X(id, "sentence", ...) in the headers: a row a line, with
# tabs between the columns and the parts of a sentence joined.
list() {
	printf '#include <rdmaez/implementation.h>\n#define ROW(...) @row@__VA_ARGS__\n%s(ROW)\n' "$1" >"$scratch/list.c"
	"${CC:-gcc}" -E -P -Iinclude "$scratch/list.c" | perl -0ne 's/.*?\@row\@//s; s/\s*\n\s*/ /g; s/"\s+"//g;
		for (split /\@row\@/) {
			my @column = /\s*("(?:[^"\\]|\\.)*"|[^,"]+?)\s*(?:,|$)/g;
			s/^"(.*)"$/$1/ for @column;
			print join("\t", @column), "\n";
		}'
}

# What the table says of each option is what rdmaez_qp_attr() does: 0 is the default, the greatest is accepted,
# and one more is refused. Rows with a note depend on more than the option.
attributes_agree() {
	{
		cat <<-'END'
			#include <stdio.h>
			#include <rdmaez.h>
			#include <rdmaez/implementation.h>
			static const enum ibv_qp_type types[] = {IBV_QPT_RC, IBV_QPT_UD, IBV_QPT_RAW_PACKET};
			static struct rdmaez_qp_opts opts;
			static struct rdmaez_qp_move move;
			static struct rdmaez_diag diag;
			static int build(enum ibv_qp_state from, enum ibv_qp_state to, int bit)
			{
				int error = EINVAL;
				opts.path.dgid.raw[0] = 1;
				for (int i = 0; error && i < 3; i++)
					if ((rdmaez_qp_rule(types[i], from, to).required | rdmaez_qp_rule(types[i], from, to).optional) & bit) {
						opts.optional = rdmaez_qp_rule(types[i], from, to).optional & bit;
						error = rdmaez_qp_attr(types[i], from, to, &opts, &move, &diag);
					}
				return error;
			}
			#define CHECK(option, member, bit, from, to, otherwise, max) \
				memset(&opts, 0, sizeof(opts)); \
				wrong += build(from, to, bit) || (uint32_t)move.attr.member != otherwise ? printf("< %s: the default\n", #member) : 0; \
				opts.option = max; \
				wrong += build(from, to, bit) || (uint32_t)move.attr.member != max ? printf("< %s: the greatest\n", #member) : 0; \
				opts.option = max + 1; \
				wrong += max != UINT32_MAX && (!build(from, to, bit) || strcmp(diag.finding[0].field, #member) != 0) ? printf("< %s: one more\n", #member) : 0; \
				checked++;
			int main(void)
			{
				int wrong = 0, checked = 0;
		END
		jq -r '.attributes[] | select(.note == "") | (.required + .optional)[0] as $m | ($m | split(" to ")) as $m |
			"CHECK(\(.option), \(.field), \(.bit), IBV_QPS_\($m[0]), IBV_QPS_\($m[1]), \(.default)u, \(.max)u)"' "$1/attributes.json"
		echo 'return wrong || checked < 15; }'
	} >"$scratch/attributes.c"
	"${CC:-gcc}" -std=c11 -w -Iinclude "$scratch/attributes.c" -o "$scratch/attributes" -libverbs
	"$scratch/attributes"
}

# The rows, as the documentation's comments have them, too.
reasons_agree() {
	list RDMAEZ_WHY_LIST >"$scratch/reasons"
	(($(wc -l <"$scratch/reasons") > 100))
	diff "$scratch/reasons" <(jq -r '.reasons[] | "\(.id)\t\(.what)\t\(.next)"' "$1/reasons.json")
	diff <(seq 0 $(($(wc -l <"$scratch/reasons") - 1))) <(jq -r '.reasons[].number' "$1/reasons.json")
	diff <(awk -F '\t' '{ print "/** @var RDMAEZ_WHY_" $1 "\n * " $2 ". Next: " $3 ". */" }' "$scratch/reasons") \
		<(build/docs/data --enumerators | grep -A1 RDMAEZ_WHY_)
}

# advice PREFIX: the rows of statuses or events, by how their names begin, as the page's table has them.
advice() {
	perl -0ne 's/"\s+"//g;
		while (/\{(\d+),\s*([^"]+?),\s*"'"$1"'(\w+)",\s*("[^{]*?"),\s*\{([^}]*)\}/g) {
			my ($number, $valid, $name, $texts, $causes) = ($1, $2, $3, $4, $5);
			print join("\t", $number, $name, $valid, "$texts, $causes" =~ /"((?:[^"\\]|\\.)*)"/g), "\n";
		}' include/rdmaez/explain/wc.h | awk -F '\t' -v prefix="$1" '{
		valid = tolower($3)
		gsub(/rdmaez_valid_/, "", valid)
		gsub(/ *\| */, ", ", valid)
		sub(/^on_/, "on ", valid)
		sub(/^0$/, "nothing", valid)
		causes = $7
		for (i = 8; i <= NF; i++)
			causes = causes "<br>" $i
		print "| " $1 " | " prefix $2 " | " $4 " | " causes " | " $5 " | " valid " | " $6 " |"
	}'
}

all_advice() {
	advice IBV_WC_
	advice IBV_EVENT_
}

# What may be read, without the short words for all of a completion.
spelt_out() {
	sed 's/ on error/ wr_id, status, qp_num, vendor_err/; s/ on success/ wr_id, status, qp_num, opcode, rest/
		s/| nothing |/|  |/'
}

# The page's sections as such rows.
sections() {
	awk '
		function row() {
			if (name)
				print "| " number " | " name " | " what " | " causes " | " fix " | " valid " | " told " |"
		}
		/^### / { row(); name = $2; causes = "" }
		/^(Status|Event) [0-9]/ { number = $2 + 0; what = $0; sub(/^[^:]*: /, "", what); sub(/\.$/, "", what) }
		/^[0-9]+\. / { sub(/^[0-9]+\. /, ""); causes = causes (causes ? "<br>" : "") $0 }
		/^\*\*What to do/ { fix = $0; sub(/^[^:]*: /, "", fix); sub(/\.$/, "", fix) }
		/^\*\*May be read/ { valid = $0; sub(/^[^:]*: /, "", valid); gsub(/`|the |nothing|\.$/, "", valid) }
		/^\*\*Reported by/ { told = $0; sub(/^[^:]*: /, "", told); sub(/\.$/, "", told) }
		END { row() }'
}

# A line for each finding of a section, and for what is known of its vendor_err.
findings_of_sections() {
	awk '
		/^### / { name = $2 }
		/^\*\*`vendor_err`/ {
			sub(/^[^:]*: /, "")
			sub(/\.$/, "")
			for (i = split($0, hint, /; 0x/); i; i--) {
				sub(/^0x/, "", hint[i])
				sub(/, /, ": ", hint[i])
				print name " 0x" hint[i]
			}
		}
		/^\| / && !/^\| finding / { print name " " $0 }' | sed 's/ | [^|]*|$//' | sort
}

completions_agree() {
	diff <(all_advice | spelt_out) <({ build/docs/data --table statuses; build/docs/data --table events; } | sections)
	diff <(all_advice | spelt_out) \
		<(jq -r '(.statuses + .events)[] | "| \(.number) | \(.name) | " +
			"\(.what) | \(.causes | join("<br>")) | \(.next) | \(.may_be_read | join(", ")) | \(.reported_by) |"' \
			"$1/completions.json")
	diff <({ build/docs/data --table statuses; build/docs/data --table events; } | findings_of_sections) \
		<(jq -rn --slurpfile all "$1/completions.json" --slurpfile why "$1/reasons.json" '
			($why[0].reasons | map({(.id): .what}) | add) as $what |
			($all[0].causes[] | "\(.of) | \($what[.reason]) | `\(.field)`"),
			($all[0].vendor_hints[] | "\(.status) 0x\("0123456789abcdef" as $hex | .vendor_err | $hex[. / 16 | floor:][:1] + $hex[. % 16:][:1]): \(.what)")' |
			sort)
	diff <(printf '%s\n' IBV_WC_SUCCESS IBV_WC_TM_RNDV_INCOMPLETE) \
		<(jq -r '.statuses[] | select(.failed | not).name' "$1/completions.json")
	diff <(perl -0ne 's/RDMAEZ_IMPL_WC_(\w+)_EVENT,/IBV_EVENT_QP_$1_ERR,/g;
			while (/ROW\((IBV\w+), \w+, \w+, \w+, (\w+),\s[^"]*?(\w+), "([\w.]+)"\),/gs) {
				my %driver = (ALL => "", RXE => "rdma_rxe", SIW => "siw", EFA => "efa",
					ERDMA => "erdma", CXGB4 => "iw_cxgb4", MANA => "mana_ib");
				print "$1 $driver{$2} $3 $4\n" }' include/rdmaez/explain/wc_explain.h) \
		<(jq -r '.causes[] | "\(.of) \(.driver // "") \(.reason) \(.field)"' "$1/completions.json")
	diff <(perl -0ne 'printf "%s %d %s\n", $1, hex $2, $3 while /\{(IBV_WC_\w+), (0x\w+),\s*"([^"]*)"\}/g' include/rdmaez/explain/wc.h | sort) \
		<(jq -r '.vendor_hints[] | "\(.status) \(.vendor_err) \(.what)"' "$1/completions.json" | sort)
}

# The strings of str.h's bodies up to those of errno values; several may stand in one, with zeros between.
names_in_source() {
	perl -0ne 's{/\*.*?\*/}{}gs; s/^#include.*\n//gm; s/rdmaez_errno_str.*//s;
		while (/"((?:[^"\\]|\\.)*)"/g) { print map { "$_\n" } grep { !/^(\?|unknown|)$/ } split /\\0/, $1 }' \
		include/rdmaez/impl/str.h | sort
}

names_agree() {
	diff <(names_in_source) <(jq -r '.names[].values[].name' "$1/names.json" | sort)
	diff <(sed -n 's/^RDMAEZ_[A-Z]* const char \*rdmaez_\(.*\)_str(.*/\1/p' include/rdmaez/str.h | grep -v errno | sort) \
		<(jq -r '.names | keys[]' "$1/names.json")
}

# listed FILE STRUCT: of a header, the ids with their members, then the members of the struct with the
# sentences that document them. Groups are structs in the struct.
listed() {
	struct=$2 perl -0ne 'print "$1 $2\n" while /^\tRDMAEZ_(?:PORT_)?CAPS_(\w+), +\/\*\*< ([a-z_0-9.]+) \*\//mg;
		sub members { my ($body, $group) = @_;
			print "$group$3: ", $1 // $4, "\n"
				while $body =~ /(?:\/\*\* ([^*]*) \*\/\s*)?\b(\w+) (\w+)(?:\[\w+\])?;(?: *\/\*\*< ([^*]*) \*\/)?/g }
		my ($body) = /^struct $ENV{struct} \{\n(.*?)^\};/ms;
		$body =~ s/.*uint8_t source.*//;
		if ($body =~ /struct \{/) { members($1, "$2.") while $body =~ /struct \{\n(.*?)\t\} (\w+);/gs }
		else { members($body, "") }' "include/rdmaez/$1"
}

# fields DIR ARRAY: the same lines from the table.
fields() {
	jq -r ".$2[] | \"\\(.id) \\(.member)\"" "$1/fields.json"
	jq -r ".$2[] | \"\\(.member): \\(.what)\"" "$1/fields.json"
}

# The paths in verbs are written down a second time in tests/caps_list.h.
fields_agree() {
	diff <(listed caps.h rdmaez_caps) <(fields "$1" device)
	diff <(listed port_caps.h rdmaez_port_caps) <(fields "$1" port)
	diff <(perl -0ne 'print "$1 $2\n" while /^\t(?:ORIG|FULL|OURS|TEXT)\((\w+), ([\w.]+),/mg' tests/caps_list.h | sort) \
		<(jq -r '.device[] | "\(.id) \(.name)"' "$1/fields.json" | sort)
	diff /dev/null <(jq -r '.port[] | select(.name != .member) | .name' "$1/fields.json")
	diff <(printf '%s\n' 'max_qp LEAST plain' 'name SAME context' 'port_count LEAST derived' \
		'phys_port_cnt_ex LEAST library' 'local_ca_ack_delay MOST plain' 'raw_packet_caps BITS kernel' \
		'tso_caps.supported_qpts BITS provider' 'xrc_odp_caps BITS kernel' | sort) \
		<(jq -r '.device[] | "\(.name) \(.merge) \(.told_by)"' "$1/fields.json" |
			grep -E '^(max_qp|name|port_count|phys_port_cnt_ex|local_ca_ack_delay|raw_packet_caps|tso_caps.supported_qpts|xrc_odp_caps) ' | sort)
	diff <(sed -nE 's/^\tRDMAEZ_SOURCE_([A-Z_]*), +\/\*\*< (.*) \*\//\1 \2/p' include/rdmaez/caps_table.h) \
		<(jq -r '.sources[] | "\(.id) \(.what)"' "$1/fields.json")
}

members_agree() {
	jq -r '(.device[] | "rdmaez_caps \(.member) \(.bytes) \(.signed) \(.kind)"),
		(.port[] | "rdmaez_port_caps \(.member) \(.bytes) \(.signed) \(.kind)")' "$1/fields.json" |
		awk '{ member = "((struct " $1 " *)0)->" $2
			print "sizeof(" member ") == " $3
			if ($5 != "TEXT")
				print "((__typeof__(" member "))-1 < (__typeof__(" member "))1) == " $4 }' >"$scratch/members"
	asserts rdmaez/implementation.h "$scratch/members"
}

kinds_agree() {
	diff <(awk -F '"' '/^\tcase RDMAEZ_KIND_/ { kind = $0; gsub(/.*KIND_|:.*/, "", kind) }
		$2 ~ /^[0-9]+:/ { sub(/:/, " ", $2); sub(/\\0$/, "", $2); print kind, $2 }' include/rdmaez/explain/caps.h) \
		<(jq -r '.kinds | to_entries[] | .key as $kind | .value | (.bits // .values // [])[] |
			"\($kind) \(.bit // .value) \(.name)"' "$1/fields.json")
	diff <(sed -n 's/^\tRDMAEZ_KIND_\([A-Z0-9_]*\),.*/\1/p' include/rdmaez/caps_table.h) \
		<(jq -r '.kinds | keys_unsorted[]' "$1/fields.json")
	diff /dev/null <(jq -r '.kinds as $kinds | (.device + .port)[] | select($kinds[.kind] | not) | .name' "$1/fields.json")
}

# Ids and names are keys, so none comes twice.
unique() {
	{
		jq -r '.transitions[] | "\(.type) \(.from) \(.to)"' "$1/transitions.json"
		jq -r '.reasons[] | "reason \(.id)"' "$1/reasons.json"
		jq -r '(.statuses + .events)[].name, (.vendor_hints[] | "\(.status) \(.vendor_err)")' "$1/completions.json"
		jq -r '.names[].values[].constant' "$1/names.json"
		jq -r '(.device[], .sources[] | .id), (.device[] | .name, .member), (.port[] | "port \(.id)", "port .\(.name)", "port \(.member)."),
			(.kinds | to_entries[] | .key as $kind | .value | (.bits // .values // [])[] | "\($kind) \(.name)", "\($kind) \(.bit // .value)")' "$1/fields.json"
	} | sort | uniq -d | sed 's/^/> /' >"$scratch/twice"
	[[ ! -s $scratch/twice ]] || { cat "$scratch/twice"; false; }
}

# What C writes of devices and ports whose fields have all bytes alike: $scratch/caps.N.
cat >"$scratch/caps.c" <<'END_OF_C'
#include <rdmaez.h>
#include <rdmaez/implementation.h>

int main(void)
{
	static const int bytes[] = {0, 1, 0x22, 0x7f, 0x80, 0xff};
	struct ibv_gid_entry gid = {.gid_type = IBV_GID_TYPE_ROCE_V2};
	struct rdmaez_pkey_entry pkey = {.pkey = 0xffff};
	struct rdmaez_port_tables tables = {&gid, &pkey, 1, 1};
	static char device[65536], port[65536];
	struct rdmaez_port_caps port_caps;
	struct rdmaez_caps caps;

	for (int i = 0; i < 6; i++) {
		memset(&caps, bytes[i], sizeof(caps));
		memset(&port_caps, bytes[i], sizeof(port_caps));
		for (int id = 0; i < 4 && id < RDMAEZ_CAPS_ID_COUNT; id++)
			caps.source[id] = (uint8_t)(i ? id * i % RDMAEZ_SOURCE_COUNT : 0);
		rdmaez_caps_json(&caps, device, sizeof(device));
		rdmaez_port_caps_json(&port_caps, i % 2 ? &tables : NULL, port, sizeof(port));
		device[strlen(device) - 1] = '\0';
		printf(i % 3 ? "%s,\"board_id\":\"MT_1\",\"ports\":[%s]}\n" : "%s}\n", device, port);
	}
	return 0;
}
END_OF_C

caps_valid() {
	local instance instances=()
	"${CC:-gcc}" -std=c11 -Iinclude -O1 "$scratch/caps.c" -o "$scratch/caps" -libverbs
	"$scratch/caps" | split --lines 1 --numeric-suffixes - "$scratch/caps."
	for instance in "$scratch"/caps.0?; do
		instances+=(--instance "$instance")
	done
	((${#instances[@]} == 12))
	"$python" -m jsonschema --error-format $'{error.json_path}: {error.message}\n' "${instances[@]}" \
		"$data/caps.schema.json"
}

# caps_refused NAME FILTER PATTERN: the schema does not take what the filter makes of it.
caps_refused() {
	jq "$2" "$scratch/caps.01" >"$scratch/caps.json"
	fails "caps: $1 is refused" "$3" valid caps "$scratch/caps.json"
}

# blocks LANGUAGE: those of the page, one after the other.
blocks() {
	awk -v begin="\`\`\`$1" '$0 == "```" { inside = 0 } inside; $0 == begin { inside = 1 }' docs/data.md
}

example() {
	(($(blocks python | wc -l) > 20))
	diff <(blocks text) <(blocks python | sed "s|build/docs/html/data|$1|" | "$python" -)
}

ok 'make docs writes the tables, with their schemas beside them' written
for table in "${tables[@]}"; do
	ok "$table.json follows its schema" valid "$table"
done
refused transitions 'a table that lacks a pair' 'del(.transitions[7])' 'transitions: .* is too short'
refused transitions 'a name that is no attribute' '.transitions[0].optional[0] = "IB_QP_STATE"' 'optional\[0\]: .*does not match'
refused transitions 'an illegal transition that takes attributes' '.transitions[2].optional_mask = 1' 'transitions\[2\].optional_mask'
refused attributes 'an attribute without a default' 'del(.attributes[3].default)' "attributes\[3\]: 'default' is a required"
refused reasons 'a reason without a next step' 'del(.reasons[3].next)' "reasons\[3\]: 'next' is a required"
refused reasons 'another schema version' '.schema_version = 2' 'schema_version: 1 was expected'
refused completions 'a member that an event does not have' '.events[0].may_be_read = ["cqe"]' 'may_be_read\[0\]'
refused completions 'an unknown key' '.statuses[0].colour = "red"' 'statuses\[0\]: .*colour'
refused names 'a flag of two bits' '.names.qp_attr.values[1].value = 3' 'qp_attr.values\[1\].value: 3'
refused fields 'an enum without values' 'del(.kinds.MTU.values)' "kinds.MTU: 'values' is a required"
refused fields 'a field without a kind' 'del(.port[2].kind)' "port\[2\]: 'kind' is a required"

ok 'every table names its schema and the version of the headers' of_this_version "$data"
differs 'another version is seen' of_this_version names '.rdmaez = "9.9.9"'
ok 'the table has all pairs of states of all six types' all_pairs "$data"
differs 'a pair that comes twice is seen' all_pairs transitions '.transitions[5] = .transitions[4]'
ok "the transitions are the kernel's" transitions_agree "$data"
differs 'an attribute too many is seen' transitions_agree transitions '.transitions[1].optional += ["IBV_QP_QKEY"]'
differs 'a transition that does not exist is seen' transitions_agree transitions '.transitions[2].legal = true'
ok "the pages' tables of transitions are the same" tables_agree "$data"
differs 'an attribute that a page lacks is seen' tables_agree transitions '.transitions[1].optional += ["IBV_QP_QKEY"]'
ok 'the masks are those of the names, by verbs.h' masks_agree "$data"
differs 'a wrong mask is seen' masks_agree transitions '.transitions[1].required_mask += 64'
ok 'the constants are those of verbs.h' constants_agree "$data"
differs 'a wrong constant is seen' constants_agree names '.names.mtu.values[1].value = 4'
differs 'a wrong bit is seen' constants_agree fields '.kinds.DEVICE_FLAGS.bits[3].bit = 15'
ok 'options have the defaults and the bounds of the table' attributes_agree "$data"
differs 'another default is seen' attributes_agree attributes '(.attributes[] | select(.field == "timeout")).default = 15'
differs 'another bound is seen' attributes_agree attributes '(.attributes[] | select(.field == "ah_attr.sl")).max = 7'
ok 'the reasons are those of why.h' reasons_agree "$data"
differs 'another sentence is seen' reasons_agree reasons '.reasons[5].what += "?"'
differs 'a missing reason is seen' reasons_agree reasons 'del(.reasons[-1])'
ok 'completions and events are those of wc.h' completions_agree "$data"
differs 'another cause is seen' completions_agree completions '.events[0].causes |= reverse'
differs 'another member to read is seen' completions_agree completions '.statuses[2].may_be_read |= .[1:]'
differs 'a success that counts as failed is seen' completions_agree completions '.statuses[0].failed = true'
differs 'another cause of a driver is seen' completions_agree completions '.causes[5].driver = "siw"'
differs 'another reason is seen' completions_agree completions '.causes[5].reason = "RANGE"'
differs 'another vendor_err is seen' completions_agree completions '.vendor_hints[0].vendor_err = 1'
fails 'a table that does not exist is refused' 'there is no table of nothing' build/docs/data --table nothing
ok 'the names are those of str.h' names_agree "$data"
differs 'a missing name is seen' names_agree names 'del(.names.access.values[3])'
ok 'the fields are those of caps.h and port_caps.h' fields_agree "$data"
differs 'another path is seen' fields_agree fields '.device[20].name = "max_qps"'
differs 'another sentence of a field is seen' fields_agree fields '.port[7].what += "?"'
differs 'another comparison is seen' fields_agree fields '(.device[] | select(.name == "max_qp")).merge = "MOST"'
ok 'sizes and signs are those of the structs' members_agree "$data"
differs 'another size is seen' members_agree fields '.device[30].bytes = 3'
differs 'another sign is seen' members_agree fields '.port[1].signed |= not'
ok 'the kinds are those of explain/caps.h' kinds_agree "$data"
differs 'a missing bit is seen' kinds_agree fields 'del(.kinds.TM_FLAGS.bits[0])'
differs 'a kind that does not exist is seen' kinds_agree fields '.port[3].kind = "COLOUR"'
ok 'no id or name comes twice' unique "$data"
differs 'an id that comes twice is seen' unique reasons '.reasons[9].id = .reasons[8].id'
ok 'what C writes of capabilities follows caps.schema.json' caps_valid
caps_refused 'a text for a number' '.max_qp = "1"' 'max_qp: .* is not of type'
caps_refused 'a number beyond its type' '.max_pkeys = 65536' 'max_pkeys: 65536 is greater'
caps_refused 'a struct without a field' 'del(.odp_caps.per_transport_caps.ud_odp_caps)' "per_transport_caps: 'ud_odp_caps' is a required"
caps_refused 'an unknown key of a port' '.ports[0].colour = 1' 'ports\[0\]: .*colour'
caps_refused 'an unknown name' '.ports[0].state_name = "PORT_UP"' 'ports\[0\].state_name'
caps_refused 'an unknown source' '.sources.max_qp = "SOMEBODY"' 'sources.max_qp'
caps_refused 'another version' '.rdmaez_caps = 2' 'rdmaez_caps: 1 was expected'
ok "the certificates of devices follow the schema that is published" certified docs/verified/*.json
jq '.steps[3].result = "passed"' docs/verified/siw.json >"$scratch/result.json"
fails 'an unknown result is seen' '\$\.steps\[3\]\.result: .passed. is not one of' certified "$scratch/result.json"
jq 'del(.kernel)' docs/verified/siw.json >"$scratch/less.json"
fails 'a missing member is seen' "'kernel' is a required property" certified "$scratch/less.json"
ok 'the Python programs of the page run and print what it says' example "$data"
differs 'a program that prints something else is seen' example reasons '(.reasons[] | select(.id == "TRANSITION")).next = "give up"'

done_testing
