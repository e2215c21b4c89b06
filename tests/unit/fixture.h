/* SPDX-License-Identifier: MIT */
/* What unit tests begin with: a device of a driver, and queue pairs in a state. */
#ifndef FIXTURE_H
#define FIXTURE_H

#include <string.h>
#include <unistd.h>

#include "fake_verbs.h"

/* The bits of all profiles that stand for a driver, so that a list can be seen to have each. */
#define FIXTURE_DRIVERS (((1u << FAKE_PROFILE_COUNT) - 1) & ~(1u << FAKE_PROFILE_PLAIN))

/* "fake0" after a reset, as a device of this driver in this release of Linux. */
static inline struct fake_device *fixture_device(enum fake_profile profile, const char *release)
{
	struct fake_device *dev = fake_reset();

	fake_uname(release);
	fake_profile(dev, profile);
	return dev;
}

/* The descriptor that comes next: the same as long as none is left behind. */
static inline int fixture_next_fd(void)
{
	const int fd = dup(STDOUT_FILENO);

	close(fd);
	return fd;
}

/* A queue pair comes to a state, and libibverbs knows. */
static inline void fixture_state(struct ibv_qp *qp, enum ibv_qp_state state)
{
	fake_qp_force(qp, state);
	qp->state = state;
}

/* A new one in a state that libibverbs knows. */
static inline struct ibv_qp *fixture_qp(struct ibv_context *ctx, enum ibv_qp_type type,
					enum ibv_qp_state state)
{
	struct ibv_qp *qp = fake_qp(ctx, type);

	fixture_state(qp, state);
	return qp;
}

/* What the driver knows of a queue pair, to be changed. */
static inline struct ibv_qp_attr *fixture_truth(const struct ibv_qp *qp)
{
	struct ibv_qp_attr *truth;

	memcpy(&truth, &(const struct ibv_qp_attr *){fake_qp_true(qp)}, sizeof(truth));
	return truth;
}

#endif
