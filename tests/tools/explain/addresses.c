/* SPDX-License-Identifier: MIT */
/* Asks for each of its arguments, at one place, whether it is the address of an RDMA device, as libfabric does. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <rdma/rdma_cma.h>

int main(int argc, char *argv[])
{
	for (int i = 1; i < argc; i++) {
		struct sockaddr_in address = {.sin_family = AF_INET};
		struct rdma_cm_id *id;

		if (inet_pton(AF_INET, argv[i], &address.sin_addr) != 1 ||
		    rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP))
			return 1;
		printf("%d ", rdma_bind_addr(id, (struct sockaddr *)&address) ? errno : 0);
		rdma_destroy_id(id);
	}
	return 0;
}
