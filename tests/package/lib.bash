# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# For the tests of packages, which source this, after tap.bash, at the top of the repository.

# shellcheck disable=SC2034 # all are for the tests
{
	top=$PWD
	version=$(sed -n 's/^#define RDMAEZ_VERSION_[MP].* //p' include/rdmaez/version.h | paste -sd.)
	explanations='#include <rdmaez/implementation.h>'
}

# says told|untold PROGRAM: the program made of program.c runs, prints the version, and explains, or says how it would.
says() {
	local -A text=([told]='context: a required pointer is NULL' [untold]='include <rdmaez/implementation.h> in one file')
	local answer
	answer=$("$2")
	[[ ${answer%%$'\n'*} == "$version" ]]
	echo "$answer"
	grep -F "${text[$1]}" <<<"$answer"
}
