/* SPDX-License-Identifier: MIT */
/* What the tests of packages build, as C and as C++: calls a verb through rdmaez, so that libibverbs has to be
 * linked, and prints the version and what the record says. */
#include <stdio.h>
#include <rdmaez.h>

int main(void)
{
	struct ibv_port_attr port;
	struct rdmaez_diag diag;

	if (rdmaez_port_query(NULL, 1, &port, &diag) != EINVAL)
		return 1;
	puts(RDMAEZ_VERSION_STRING);
	return rdmaez_diag_print(&diag, stdout);
}
