/* SPDX-License-Identifier: MIT */
/* A program of MPI, which knows nothing of verbs: a number goes once around all ranks. With an argument, the first one
 * has something else to do for so many seconds before. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char *argv[])
{
	int rank, size, number = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (rank)
		MPI_Recv(&number, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	else if (argc > 1)
		sleep((unsigned int)atoi(argv[1]));
	number++;
	MPI_Send(&number, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
	if (!rank) {
		MPI_Recv(&number, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		printf("%d ranks\n", number);
	}
	MPI_Finalize();
	return 0;
}
