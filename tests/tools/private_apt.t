#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What private-apt asks of apt, and what it says where apt refuses. apt-get is a stand-in here, so that no network is
# needed; what it is asked goes to $scratch/asked. Only what a machine's sources say is read by the real one, from files in
# $scratch/parts.

# shellcheck source=tests/tap.bash
source tests/tap.bash

mkdir "$scratch/bin"
cat >"$scratch/bin/apt-get" <<'END'
#!/bin/bash
echo "$*" >>"$APT_TEST/asked"
case $* in
indextargets*) cat "$APT_TEST/sites" ;;
*--print-uris)
	printf 'Dir::Etc::SourceList "/dev/null";\nDir::Etc::SourceParts "%s/parts";\n' "$APT_TEST" >"$APT_TEST/own.conf"
	APT_CONFIG=$APT_TEST/own.conf exec "$APT_REAL" "$@"
	;;
*)
	cut -d ' ' -f 3 "$APT_TEST/dir/sources.list" | tee -a "$APT_TEST/tried" | grep -qxFf "$APT_TEST/refused" || exit 0
	cat "$APT_TEST/answer" >&2
	exit "$(<"$APT_TEST/code")"
	;;
esac
END
chmod +x "$scratch/bin/apt-get"
APT_REAL=$(type -P apt-get)
export APT_TEST=$scratch APT_REAL

# answers CODE TEXT: what apt says to an update.
answers() {
	rm -rf "$scratch/dir" "$scratch/asked" "$scratch/tried" "$scratch/parts"
	mkdir "$scratch/parts"
	echo . >"$scratch/refused" # no archive
	[[ -z $2 ]] || echo http://mirror.example/debian/ >"$scratch/refused"
	echo "$1" >"$scratch/code"
	printf '%s' "$2" >"$scratch/answer"
	printf '%s\n' 'https://elsewhere.example/other Other/Other' 'http://mirror.example/debian-security Debian/Debian-Security' \
		'http://mirror.example/debian/ Debian/Debian' >"$scratch/sites"
}

# private CODE: private-apt ends with this status; its words go to $scratch/err.
private() {
	local code=0
	PATH=$scratch/bin:$PATH tools/private-apt sid "$scratch/dir" >"$scratch/out" 2>"$scratch/err" || code=$?
	cat "$scratch/err"
	[[ $code == "$1" && ! -s $scratch/out ]]
}

asks_for_one_suite() {
	answers 0 ''
	private 0
	[[ ! -s $scratch/err ]]
	[[ $(tail -n 1 "$scratch/asked") == "-c $scratch/dir/conf update -qq --error-on=any" ]]
	[[ $(cat "$scratch/dir/sources.list") == 'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://mirror.example/debian/ sid main' ]]
	[[ -d $scratch/dir/download && -d $scratch/dir/lists/partial && -d $scratch/dir/cache/archives/partial ]]
}

# As this machine's apt does with its own sources: nothing is taken back of what it checks, nor of whom it fetches as.
keeps_the_machines_rules() {
	answers 0 ''
	private 0
	cat "$scratch/dir/conf"
	[[ $(<"$scratch/dir/conf") != *@(Valid|Check-|Sandbox|Unauthenticated|Insecure)* ]]
}

tells_an_old_index() {
	answers 100 "E: Release file for http://mirror.example/debian/dists/sid/InRelease $1 (for 2d 3h). Updates for this repository will not be applied.
"
	private 100
	grep -q "^E: Release file for http://mirror.example/debian/dists/sid/InRelease $1" "$scratch/err"
	grep -q '^private-apt: the index of sid at http://mirror.example/debian/ is past its time' "$scratch/err"
	grep -qF "this machine's clock is wrong: it says $(date -u +%a)" "$scratch/err"
}

tells_any_other_refusal() {
	answers 100 $'E: The repository is not signed.\n'
	private 100
	[[ $(cat "$scratch/err") == 'E: The repository is not signed.
private-apt: tried http://mirror.example/debian/; set RDMAEZ_DEBIAN to the address of another archive of Debian' ]]
}

passes_warnings_on() {
	answers 0 $'W: Download is performed unsandboxed as root\n'
	private 0
	[[ $(cat "$scratch/err") == 'W: Download is performed unsandboxed as root' ]]
}

# takes ADDRESS SOURCE...: with these sources that archive is asked.
takes() {
	answers 0 ''
	printf '%s\n' "${@:2}" >"$scratch/sites"
	private 0
	[[ $(cat "$scratch/dir/sources.list") == *" $1 sid main" ]]
}

takes_an_archive_of_any_name() {
	takes http://mirror.example/debian-remote 'http://mirror.example/debian-remote Debian/Debian'
	takes http://mirror.example/debian/20250520T000000Z 'http://mirror.example/debian/20250520T000000Z Debian/Debian'
}

# The archive of debugging symbols calls itself "Debian debug"; a medium cannot be asked for another suite.
takes_no_other_archive() {
	takes http://mirror.example/z 'http://mirror.example/a Debian/Debian debug' 'cdrom:[Debian]/ Debian/Debian' \
		'http://mirror.example/z Debian/Debian'
}

# source TYPE URI SUITE COMPONENT: a source in the format deb822, among the machine's.
source_of() {
	printf 'Types: %s\nURIs: %s\nSuites: %s\nComponents: %s\n\n' "$@" >>"$scratch/parts/some.sources"
}

# tries FIRST [ADDRESS...] LAST: without an index, these are asked until one is not in $scratch/refused; in which order
# those between are is apt's affair.
tries() {
	: >"$scratch/sites"
	rm -f "$scratch/tried"
	private 0
	diff <(printf '%s\n' "$@") <(sed -n 1p "$scratch/tried"; sed '1d; $d' "$scratch/tried" | sort; sed -n '2,$ { $p; }' "$scratch/tried")
}

tries_what_may_be_one() {
	answers 100 $'E: not signed by Debian\n'
	source_of deb https://security.example/debian-security bookworm-security main
	source_of deb https://containers.example/linux/debian bookworm stable
	source_of deb https://somebody.example/packages bookworm main
	source_of $'deb\nEnabled: no' https://off.example/debian bookworm main
	source_of deb-src http://mirror.example/debian-remote bookworm 'main contrib'
	source_of 'deb deb-src' http://mirror.example/debian/ 'bookworm bookworm-updates' main
	echo 'deb cdrom:[Debian GNU/Linux 12 _Bookworm_ - Official]/ bookworm main' >"$scratch/parts/medium.list"
	echo 'deb-src [arch=amd64] http://mirror.example/sources trixie main' >"$scratch/parts/old.list"
	tries http://mirror.example/debian
	printf '%s\n' http{,s}://{mirror,somebody}.example/{debian{,-remote},sources,packages} >"$scratch/refused"
	tries http://mirror.example/{debian,debian-remote,sources} https://somebody.example/packages \
		http://deb.debian.org/debian
	[[ ! -s $scratch/err ]]
}

takes_debians_own() {
	takes http://deb.debian.org/debian 'http://archive.example/ubuntu Ubuntu/Ubuntu'
	takes http://deb.debian.org/debian
	source_of deb http://archive.ubuntu.com/ubuntu/ 'noble noble-updates' 'main universe'
	source_of deb http://security.ubuntu.com/ubuntu/ noble-security 'main universe'
	tries http://deb.debian.org/debian
}

tells_all_that_it_tried() {
	answers 100 $'E: no network\n'
	source_of deb http://mirror.example/debian-remote bookworm main
	: >"$scratch/sites"
	printf '%s\n' http://mirror.example/debian-remote http://deb.debian.org/debian >"$scratch/refused"
	private 100
	[[ $(cat "$scratch/err") == 'E: no network
E: no network
private-apt: tried http://mirror.example/debian-remote http://deb.debian.org/debian; set RDMAEZ_DEBIAN to the address of another archive of Debian' ]]
}

takes_what_it_is_told() {
	RDMAEZ_DEBIAN=http://other.example/d takes http://other.example/d 'http://mirror.example/debian Debian/Debian'
}

needs_apt() {
	local name
	mkdir "$scratch/few"
	for name in bash mkdir chown realpath; do
		ln -s "$(command -v "$name")" "$scratch/few/"
	done
	PATH=$scratch/few tools/private-apt sid "$scratch/dir"
}

# Only root can give a directory away.
gives_apt_a_directory() {
	answers 0 ''
	private 0
	((EUID != 0)) || ! id _apt >/dev/null 2>&1 || [[ $(stat -c %U "$scratch/dir/download") == _apt ]]
}

ok "one suite of the machine's own archive is asked for" asks_for_one_suite
ok "nothing that apt checks is left out" keeps_the_machines_rules
ok "an index past its time is told, with the clock" tells_an_old_index 'is expired'
ok "so is one from the future" tells_an_old_index 'is not valid yet'
ok "any other refusal is apt's own" tells_any_other_refusal
ok "a warning is passed on" passes_warnings_on
ok "apt's own user may write what root downloads" gives_apt_a_directory
ok "an archive of Debian is taken by what it is, whatever its address" takes_an_archive_of_any_name
ok "what only resembles it is not" takes_no_other_archive
ok "without an index, sources that may be one are tried: deb822 or lines, source alone, of any name" tries_what_may_be_one
ok "if none answers, all are told" tells_all_that_it_tried
ok "without any, as on Ubuntu, it is Debian's own" takes_debians_own
ok "RDMAEZ_DEBIAN names another" takes_what_it_is_told
fails "a machine without apt is told" "apt-get is missing: this needs a Debian" needs_apt
fails "a suite without a directory is refused" "usage: private-apt SUITE DIR" tools/private-apt sid
done_testing
