#!/bin/bash
# SPDX-License-Identifier: MIT
#
# examples/caps reads files: what was written comes back, whatever it is, and anything else is refused with a
# message that tells what and where. Under sanitizers; needs no device.
#
# Nightly: half a minute of one example.

source tests/tap.bash

build=build/fuzz
mkdir -p "$build"
export ASAN_OPTIONS=detect_leaks=0
caps=$build/caps

compile() {
	"${CC:-gcc}" -std=c11 -g -O1 @tests/compile/warnings -Iinclude -fno-sanitize-recover=all -fsanitize=address,undefined \
		examples/caps.c -libverbs -ljson-c -o "$caps"
}

# reads JSON: caps reads it, and prints it as JSON to $scratch/out.
reads() {
	printf '%s' "$1" >"$scratch/in"
	"$caps" --common --json "$scratch/in" >"$scratch/out"
}

# has JSON FILTER: what is read has this, as jq sees it.
has() {
	reads "$1"
	jq -e "$2" "$scratch/out"
}

# refused JSON TEXT: it is refused with just this text, and nothing is printed.
refused() {
	local code=0
	printf '%s' "$1" >"$scratch/in"
	"$caps" --common --json "$scratch/in" >"$scratch/out" 2>"$scratch/said" || code=$?
	diff <(echo "$scratch/in: $2") "$scratch/said"
	((code == 2))
	[[ ! -s $scratch/out ]]
}

# Random devices, with all sources but those that do not exist.
round_trips() {
	local line
	"${CC:-gcc}" -std=c11 -O1 -Iinclude -Itests tests/fuzz/caps_json.c -libverbs -o "$build/caps_files"
	"$build/caps_files" 60 | sed -n 'n;p' | grep -v ':"unknown"[,}]' >"$scratch/json"
	(($(wc -l <"$scratch/json") > 5))
	while read -r line; do
		reads "$line"
		diff "$scratch/out" <(echo "$line")
	done <"$scratch/json"
}

# No beginning of a whole answer is taken for the whole.
beginnings() {
	local length
	head -n 3 "$scratch/json" | tail -n 1 >"$scratch/whole"
	for ((length = 0; length < $(wc -c <"$scratch/whole") - 2; length += 149)); do
		refused "$(head -c "$length" "$scratch/whole")" "not JSON, at byte $length: unexpected end of data"
	done
}

# Bytes that are likely to do harm, put over those of an answer: it is read or refused, never crashes.
damaged() {
	local harm='{}[]",:\u0123ef-+.E truefalsnl' at i code
	RANDOM=1
	for ((i = 0; i < 150; i++)); do
		at=$((RANDOM % $(wc -c <"$scratch/whole")))
		{
			head -c "$at" "$scratch/whole"
			printf '%s' "${harm:RANDOM % ${#harm}:1 + RANDOM % 3}"
			tail -c +$((at + 2)) "$scratch/whole"
		} >"$scratch/in"
		code=0
		"$caps" --common --json "$scratch/in" >"$scratch/out" 2>"$scratch/said" || code=$?
		((code == 0 || code == 2))
		# Whatever is read is JSON to others too, but for a lone surrogate.
		((code)) || jq -e . "$scratch/in" >"$scratch/jq" 2>&1 || { cat "$scratch/in"; return 1; }
	done
}

ok 'the example is built' compile
ok 'random devices come back as they were written' round_trips
ok 'a beginning is refused' beginnings
ok 'damaged texts are read or refused' damaged

v='"rdmaez_caps":1'
ok 'what is missing is unknown' has "{$v}" '.max_qp == null and .sources.max_qp == "NOT_ASKED"'
ok 'null without a source, too' has "{$v,\"max_qp\":null}" '.max_qp == null and .sources.max_qp == "NOT_ASKED"'
ok 'null with the source of a value, too' has "{$v,\"max_qp\":null,\"sources\":{\"max_qp\":\"CORRECTED\"}}" '.sources.max_qp == "NOT_ASKED"'
ok 'a zero keeps its source' has "{$v,\"max_qp\":0,\"sources\":{\"max_qp\":\"CORRECTED\"}}" '.max_qp == 0 and .sources.max_qp == "CORRECTED"'
ok 'keys in any order, with spaces' has "{ \"tso_caps\" :
	{ \"max_tso\" : 5 } , $v } " '.tso_caps.max_tso == 5'
ok 'a struct in a struct' has "{$v,\"odp_caps\":{\"per_transport_caps\":{\"rc_odp_caps\":5}}}" '.odp_caps.per_transport_caps.rc_odp_caps == 5'
ok 'keys that tell what a value means' has "{$v,\"max_qp\":1,\"device_cap_flags_names\":7,\"atomic_cap_name\":0,\"page_size_cap_bytes\":[],\"ports\":[{\"a\":1,\"b\":[]}],\"board_id\":\"x\"}" '.max_qp == 1'
ok 'the same key in several objects' has "{$v,\"tso_caps\":{\"supported_qpts\":4},\"rss_caps\":{\"supported_qpts\":8}}" '.rss_caps.supported_qpts == 8'
ok 'only the first line counts' has "{$v,\"max_qp\":4}
{$v,\"max_qp\":5}" '.max_qp == 4'
ok 'characters by number' has "{$v,\"fw_ver\":\"\\u0039\\u00e9\"}" '.fw_ver == "9é"'
ok 'characters of two bytes' has "{$v,\"fw_ver\":\"é\"}" '.fw_ver == "é"'
ok 'a GUID' has "{$v,\"node_guid\":\"00Aa:bbFF:0102:fE99\"}" '.node_guid == "00aa:bbff:0102:fe99"'
ok 'false and true' has "{$v,\"odp_caps\":{\"supported\":true,\"implicit\":false}}" '.odp_caps | .supported and .implicit == false'

# number FIELD NUMBER: it comes back exactly, which jq could not tell.
number() {
	reads "{$v,\"$1\":$2}"
	grep -F "\"$1\":$2," "$scratch/out"
}
for number in 0 255; do ok "8 bits: $number" number phys_port_cnt "$number"; done
for number in 0 65535; do ok "16 bits: $number" number max_pkeys "$number"; done
for number in 0 4294967295; do ok "32 bits: $number" number vendor_part_id "$number"; done
for number in -2147483648 -1 2147483647; do ok "with a sign: $number" number max_qp "$number"; done
for number in 0 9007199254740993 9223372036854775808 18446744073709551615; do
	ok "64 bits: $number" number max_mr_size "$number"
done
rounded() {
	reads "{$v,\"max_mr_size\": 18446744073709552000}"
	grep -F '"max_mr_size":18446744073709551615,' "$scratch/out"
}
ok 'all bits as a double has them' rounded

ok 'an unknown key' refused "{$v,\"max_qpp\":1}" 'unknown key "max_qpp"'
ok 'an unknown key in a struct' refused "{$v,\"tso_caps\":{\"max\":1}}" 'unknown key "tso_caps.max"'
ok 'a known key in another struct' refused "{$v,\"tso_caps\":{\"max_qp\":1}}" 'unknown key "tso_caps.max_qp"'
ok 'a path for a key' refused "{$v,\"tso_caps.max_tso\":1}" 'unknown key "tso_caps.max_tso"'
ok 'the names of no set' refused "{$v,\"max_nothing_names\":[]}" 'unknown key "max_nothing_names"'
ok 'an unknown key of sources' refused "{$v,\"sources\":{\"max_qpp\":\"DRIVER\"}}" 'unknown key "max_qpp" in sources'
ok 'an unknown source' refused "{$v,\"sources\":{\"max_qp\":\"driver\"}}" 'sources: not a source of max_qp'
ok 'a number for a source' refused "{$v,\"sources\":{\"max_qp\":1}}" 'sources: not a source of max_qp'
ok 'no object of sources' refused "{$v,\"sources\":[]}" 'sources: not an object'
ok 'a key twice' refused "{$v,\"max_qp\":1, \"max_qp\":1}" 'the key "max_qp" is there twice'
ok 'a key twice in a struct' refused "{$v,\"tso_caps\":{\"max_tso\":1,\"max_tso\":1}}" 'the key "max_tso" is there twice'
ok 'a struct twice' refused "{$v,\"tso_caps\":{\"max_tso\":1},\"tso_caps\":{}}" 'the key "tso_caps" is there twice'
ok 'a text for a number' refused "{$v,\"max_qp\":\"1\"}" 'max_qp: not a whole number'
ok 'a fraction' refused "{$v,\"max_qp\":1.5}" 'max_qp: not a whole number'
ok 'an exponent' refused "{$v,\"max_qp\":1e3}" 'max_qp: not a whole number'
ok 'a list' refused "{$v,\"max_qp\":[1]}" 'max_qp: not a whole number'
ok 'a number for a text' refused "{$v,\"fw_ver\":1}" 'fw_ver: not a text'
ok 'a number for a GUID' refused "{$v,\"node_guid\":1}" 'node_guid: not a text'
ok 'a number for a bool' refused "{$v,\"odp_caps\":{\"supported\":1}}" 'odp_caps.supported: neither true nor false'
ok 'a number for a struct' refused "{$v,\"tso_caps\":1}" 'tso_caps: not an object'
for guid in '' 0011:2233:4455:667 0011:2233:4455:66777 0011:2233:4455:667g 0011-2233-4455-6677 '0011:2233: 445:6677'; do
	ok "no GUID: $guid" refused "{$v,\"node_guid\":\"$guid\"}" 'node_guid: not a GUID such as 0011:2233:4455:6677'
done
ok 'beyond 8 bits' refused "{$v,\"phys_port_cnt\":256}" 'phys_port_cnt: out of range, which is 0 to 255'
ok 'beyond 16 bits' refused "{$v,\"max_pkeys\":65536}" 'max_pkeys: out of range, which is 0 to 65535'
ok 'beyond 32 bits' refused "{$v,\"vendor_part_id\":4294967296}" 'vendor_part_id: out of range, which is 0 to 4294967295'
ok 'below 0' refused "{$v,\"vendor_part_id\":-1}" 'vendor_part_id: out of range, which is 0 to 4294967295'
ok 'below 0, 64 bits' refused "{$v,\"max_mr_size\":-1}" 'max_mr_size: out of range, which is 0 to 18446744073709551615'
ok 'beyond the sign' refused "{$v,\"max_qp\":2147483648}" 'max_qp: out of range, which is -2147483648 to 2147483647'
ok 'below the sign' refused "{$v,\"max_qp\":-2147483649}" 'max_qp: out of range, which is -2147483648 to 2147483647'
ok 'beyond 64 bits' refused "{$v,\"max_mr_size\":18446744073709551616}" 'a number of more than 64 bits, at byte 31'
ok 'far beyond them' refused "{$v,\"max_mr_size\":184467440737095520000}" 'a number of more than 64 bits, at byte 31'
ok 'a name of 63 characters' has "{$v,\"name\":\"$(printf '%063d' 0)\"}" '.name | length == 63'
ok 'one of 64' refused "{$v,\"name\":\"$(printf '%064d' 0)\"}" 'name: longer than 63 characters'
ok 'a NUL in a text' refused "{$v,\"fw_ver\":\"a\\u0000\"}" 'fw_ver: a NUL'
ok 'a character beyond one byte' refused "{$v,\"fw_ver\":\"Ā\"}" 'fw_ver: a character beyond U+00FF'
ok 'no version' refused '{"max_qp":1}' 'the key "rdmaez_caps" is not 1: not capabilities known here'
ok 'another version' refused '{"rdmaez_caps":2}' 'the key "rdmaez_caps" is not 1: not capabilities known here'
ok 'a text for a version' refused '{"rdmaez_caps":"1"}' 'the key "rdmaez_caps" is not 1: not capabilities known here'
ok 'a list' refused '[]' 'not a JSON object'
ok 'nothing' refused '' 'not JSON, at byte 0: unexpected end of data'
ok 'another object in the line' refused "{$v} {}" 'not JSON, at byte 17: more than one object in a line'
ok 'a brace too many' refused "{$v}}" 'not JSON, at byte 17: more than one object in a line'
ok 'single quotes' refused "{$v,'max_qp':1}" 'not JSON, at byte 17: a single quote'
ok 'a comma too many' refused "{$v,}" 'not JSON, at byte 17: unexpected character'
ok 'a comment' refused "{$v/**/}" "not JSON, at byte 16: object value separator ',' expected"
ok 'a zero before a number' refused "{$v,\"max_qp\":01}" 'not JSON, at byte 28: number expected'
ok 'no number' refused "{$v,\"max_qp\":NaN}" 'max_qp: not a whole number'
ok 'what is no word' refused "{$v,\"max_qp\":nul}" 'not JSON, at byte 29: null expected'
ok 'no UTF-8' refused "{$v,\"fw_ver\":\"$(printf '\xff')\"}" 'not JSON, at byte 27: invalid utf-8 string'
deep=$(printf '[%.0s' {1..31})
ok '31 lists in each other' has "{$v,\"ports\":$deep${deep//\[/]}}" '.max_qp == null'
ok 'one more' refused "{$v,\"ports\":[$deep]${deep//\[/]}}" 'not JSON, at byte 56: nesting too deep'
printf '{"rdmaez_caps":1,"fw_ver":"a\0"}' >"$scratch/nul"
fails 'a NUL byte' 'not a text' "$caps" --common "$scratch/nul"
head -c 2000000 /dev/zero | tr '\0' '[' >"$scratch/long"
fails 'a file of brackets' 'cannot be read, or is too long' "$caps" --common "$scratch/long"
head -c 1000000 /dev/zero | tr '\0' '[' >"$scratch/long"
fails 'a shorter one' 'nesting too deep' "$caps" --common "$scratch/long"
done_testing
