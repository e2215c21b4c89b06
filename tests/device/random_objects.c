/* SPDX-License-Identifier: MIT */
/*
 * Random requests to create queue pairs, completion queues and shared receive queues, and to register memory, on rxe.
 * Argument one is the seed, argument two the number of requests of each kind.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, nanosleep() */

#include "random_objects.h"

int main(int argc, char **argv)
{
	struct rig rig = rig_open();

	seed = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : 1;
	tap_diag("seed %u, driver %s", seed, rdmaez_driver_of(&rig.device)->name);
	random_objects(&rig, argc > 2 ? atoi(argv[2]) : 150);
	rig_close(&rig);
	return tap_done();
}
