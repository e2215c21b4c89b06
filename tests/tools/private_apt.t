#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What private-apt asks of apt, and what it says where apt refuses. apt-get is a stand-in here, so that no network is
# needed; what it is asked goes to $scratch/asked.

# shellcheck source=tests/tap.bash
source tests/tap.bash

mkdir "$scratch/bin"
cat >"$scratch/bin/apt-get" <<'END'
#!/bin/bash
echo "$*" >>"$APT_TEST/asked"
case $1 in
indextargets) cat "$APT_TEST/sites" ;;
*)
	cat "$APT_TEST/answer" >&2
	exit "$(<"$APT_TEST/code")"
	;;
esac
END
chmod +x "$scratch/bin/apt-get"
export APT_TEST=$scratch

# answers CODE TEXT: what apt says to an update.
answers() {
	rm -rf "$scratch/dir" "$scratch/asked"
	echo "$1" >"$scratch/code"
	printf '%s' "$2" >"$scratch/answer"
	printf '%s\n' https://elsewhere.example/other http://mirror.example/debian/ >"$scratch/sites"
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
	[[ $(cat "$scratch/err") == 'E: The repository is not signed.' ]]
}

passes_warnings_on() {
	answers 0 $'W: Download is performed unsandboxed as root\n'
	private 0
	[[ $(cat "$scratch/err") == 'W: Download is performed unsandboxed as root' ]]
}

needs_an_archive() {
	answers 0 ''
	echo https://elsewhere.example/other >"$scratch/sites"
	private 1
	grep -qx 'private-apt: no Debian archive among this machine.s apt sources' "$scratch/err"
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
ok "a machine without a Debian archive is told" needs_an_archive
fails "a machine without apt is told" "apt-get is missing: this needs a Debian" needs_apt
fails "a suite without a directory is refused" "usage: private-apt SUITE DIR" tools/private-apt sid
done_testing
