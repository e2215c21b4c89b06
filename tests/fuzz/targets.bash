# SPDX-License-Identifier: MIT
#
# The targets of libFuzzer in this directory: of what each is made, for tests/fuzz/run and for the replay of their corpora.
# A target's corpus is tests/fuzz/corpus/NAME, a line in base64 for each input.
# shellcheck shell=bash disable=SC2016,SC2034

fuzz_targets=(endpoint exchange dm_share explain explain_share core compare nldev talk tree)

# fuzz_target NAME: sets fuzz_sources, fuzz_flags, fuzz_libraries and fuzz_options.
fuzz_target() {
	local missing
	fuzz_sources=("tests/fuzz/$1.c") fuzz_flags=(-D_GNU_SOURCE -Iinclude) fuzz_libraries=() fuzz_options=(-len_control=0)
	case $1 in
	endpoint) fuzz_libraries=(-libverbs) fuzz_options+=(-max_len=390) ;;
	exchange) fuzz_libraries=(-libverbs) fuzz_flags=(-Iinclude) fuzz_options+=(-max_len=600) ;;
	dm_share) fuzz_libraries=(-libverbs) fuzz_flags=(-Iinclude) fuzz_options+=(-max_len=150) ;;
	explain)
		fuzz_sources+=(tests/fake/*.c)
		fuzz_flags=(-Iinclude -Itests/fake)
		fuzz_options+=(-max_len=1200) ;;
	explain_share)
		fuzz_sources+=(tools/explain/{summary,judge,record,state,compare,compare_page,compare_read,compare_wait}.c)
		fuzz_flags+=(-DEXPLAIN_FEW=16 -Itools/explain)
		fuzz_libraries=(-pthread)
		fuzz_options+=(-max_len=500 -close_fd_mask=3) ;;
	core)
		fuzz_flags+=(-DEXPLAIN_FEW=16 -Itools/explain)
		fuzz_options+=(-max_len=60 -close_fd_mask=3) ;;
	compare)
		fuzz_sources+=(tools/explain/state.c tools/explain/compare*.c)
		fuzz_flags+=(-Itools/explain)
		fuzz_options+=(-max_len=6000) ;;
	nldev)
		fuzz_sources+=(tools/doctor/nldev.c)
		fuzz_options+=(-max_len=600) ;;
	talk)
		fuzz_sources+=(tools/doctor/{talk,side}.c)
		fuzz_flags+=(-Itools/doctor -Wno-gnu-statement-expression)
		fuzz_libraries=(-libverbs)
		# What serves a probe is there, and never called.
		for missing in address_gid doctor_device doctor_device_count doctor_list doctor_read \
			doctor_read_number doctor_report fix_of gid_text keep_small load_error load_verb path_netdev_of \
			path_netdev_of_port path_port_of peer_parse peer_reach probe_close probe_connect probe_count probe_echo probe_growth \
			probe_open put_why say_record session_begin session_say session_starved_ns; do
			fuzz_libraries+=("-Wl,--defsym=$missing=abort")
		done
		fuzz_options+=(-max_len=1500) ;;
	tree)
		mapfile -t fuzz_sources < <(printf '%s\n' tools/doctor/*.c tools/headers.c tests/fuzz/tree.c |
			grep -vE '/(main|run|say|report|read)\.c$')
		fuzz_flags+=(-DRDMAEZ_EXTERN -Itools/doctor -Wno-gnu-statement-expression)
		fuzz_libraries=(-ldl -lm)
		for missing in doctor_record doctor_strings doctor_queue_pair doctor_report; do
			fuzz_libraries+=("-Wl,--defsym=$missing=abort")
		done
		fuzz_options+=(-max_len=1500) ;;
	esac
}

# fuzz_build NAME SANITIZERS PROGRAM [FLAG...]
fuzz_build() {
	local objects=$3.objects
	fuzz_target "$1"
	# MemorySanitizer knows nothing of what libibverbs writes, as that was not compiled with it: the fake takes its place.
	if [[ $2 == memory && " ${fuzz_libraries[*]} " == *' -libverbs '* ]]; then
		fuzz_sources+=(tests/fake/*.c)
		fuzz_flags+=(-Itests/fake)
		fuzz_libraries=("${fuzz_libraries[@]/#-libverbs/-ldl}")
	fi
	mkdir -p "$objects"
	printf '%s\n' "${fuzz_sources[@]}" | xargs -P "$(nproc)" -I {} bash -c \
		'source=$1 objects=$2; shift 2; exec "$@" -c "$source" -o "$objects/${source//\//.}.o"' - {} "$objects" \
		"${CLANG:-clang}" -std=c11 -g1 -O1 @tests/compile/warnings "${fuzz_flags[@]}" "${@:4}" \
		-fno-sanitize-recover=all "-fsanitize=fuzzer-no-link,$2"
	"${CLANG:-clang}" "-fsanitize=fuzzer,$2" "$objects"/*.o "${fuzz_libraries[@]}" -o "$3"
}

# Whether there is a build under MemorySanitizer: the doctor's checks call libraries that were not compiled with it.
fuzz_can_memory() {
	[[ $1 != tree ]]
}

# fuzz_unpack NAME DIRECTORY: the committed corpus as files.
fuzz_unpack() {
	local n=0 line
	[[ -e tests/fuzz/corpus/$1 ]] || return 0
	while IFS= read -r line; do
		n=$((n + 1))
		base64 -d <<<"$line" >"$2/kept.$n"
	done <"tests/fuzz/corpus/$1"
}

# fuzz_pack NAME: of all inputs, the smallest that reach all code that any of them reaches. A merge looks at them by size, and
# its notes list the code that each was the first to reach.
fuzz_pack() {
	local scratch file
	scratch=$(mktemp -d)
	mkdir "$scratch/merged"
	build/fuzz/long/"$1".address "${fuzz_options[@]}" -merge=1 "-merge_control_file=$scratch/notes" "$scratch/merged" \
		"build/fuzz/corpus/$1" >/dev/null 2>&1
	mkdir -p tests/fuzz/corpus
	awk 'NR == 1 { files = $1 } NR > 2 && NR <= files + 2 { name[NR - 3] = $0 } $1 == "COV" && NF > 2 { print name[$2] }' \
		"$scratch/notes" | while IFS= read -r file; do
		base64 -w0 "$file" && echo
	done >"tests/fuzz/corpus/$1"
	rm -rf "$scratch"
}
