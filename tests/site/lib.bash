# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# For tests of the built site. Source it after tests/tap.bash.

site=build/docs/html

# broken FILE SED: $scratch/site is a copy of the site with a defect.
broken() {
	# shellcheck disable=SC2154 # tap.bash makes it
	rm -rf "$scratch/site"
	cp -r "$site" "$scratch/site"
	sed -i "$2" "$scratch/site/$1"
	! cmp --silent "$site/$1" "$scratch/site/$1" || { echo "Bail out! $2 changes nothing in $1"; exit 1; }
}
