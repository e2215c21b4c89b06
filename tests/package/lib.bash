# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# For the tests of packages, which source this, after tap.bash, at the top of the repository.

# shellcheck disable=SC2034 # both are for the tests
{
	top=$PWD
	version=$(sed -n 's/^#define RDMAEZ_VERSION_[MP].* //p' include/rdmaez/version.h | paste -sd.)
}
