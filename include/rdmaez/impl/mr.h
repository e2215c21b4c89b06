/* SPDX-License-Identifier: MIT */
/* Implements mr.h. */
#ifndef RDMAEZ_IMPL_MR_H
#define RDMAEZ_IMPL_MR_H

#ifndef RDMAEZ_MR_H
#include "../mr.h"
#endif

#if RDMAEZ_IMPL_BODIES

#ifndef RDMAEZ_IMPL_BASE_H
#include "base.h"
#endif
#ifndef RDMAEZ_IMPL_DIAG_H
#include "diag.h"
#endif
#ifndef RDMAEZ_IMPL_VERB_H
#include "verb.h"
#endif
#ifndef RDMAEZ_IMPL_SEAM_H
#include "seam.h"
#endif

RDMAEZ_IMPL_BEGIN

/*
 * These are libibverbs' functions under names of our own, so that nothing depends on what verbs.h
 * declares. They are weak: in a program that is linked with a library before rdma-core 34 and 35
 * they are NULL, and the program runs all the same.
 */
#ifndef RDMAEZ_HAVE_DMABUF_MR
extern struct ibv_mr *rdmaez_impl_verb_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset,
						     size_t length, uint64_t iova, int fd,
						     int access) __asm__("ibv_reg_dmabuf_mr")
	__attribute__((__weak__));
extern int rdmaez_impl_verb_is_fork_initialized(void) __asm__("ibv_is_fork_initialized")
	__attribute__((__weak__));
#endif

RDMAEZ_COLD int rdmaez_mr_reg(struct ibv_pd *pd, void *addr, size_t length, unsigned int access,
			      struct ibv_mr **mr, struct rdmaez_diag *diag)
{
	const char *const missing = !pd ? "pd" : mr ? NULL : "mr";
	int error = rdmaez_impl_begin(diag, "rdmaez_mr_reg", pd ? pd->context : NULL, missing);
	struct ibv_mr *made;

	if (error)
		return error;
	/*
	 * The macro decides by `access` which symbol to call. That works with a variable as well.
	 */
	made = ibv_reg_mr(pd, addr, length, access);
	if (!made) {
		error = rdmaez_impl_failed(diag, rdmaez_impl_error_of_null(), "ibv_reg_mr");
		RDMAEZ_IMPL_EXPLAIN(diag, rdmaez_impl_mr_explain,
				    (pd->context, addr, length, access, diag));
		return error;
	}
	*mr = made;
	return 0;
}

/*
 * Calls ibv_reg_dmabuf_mr(), and returns its answer, or EOPNOTSUPP if this libibverbs does not have
 * it.
 */
RDMAEZ_IMPL_COLD struct ibv_mr *rdmaez_impl_mr_dmabuf(struct ibv_pd *pd,
						      const struct rdmaez_mr_dmabuf *dmabuf,
						      unsigned int access, bool *has_verb)
{
	errno = 0;
	*has_verb = true;
#ifndef RDMAEZ_HAVE_DMABUF_MR
	if (rdmaez_impl_verb_reg_dmabuf_mr)
		return rdmaez_impl_verb_reg_dmabuf_mr(pd, dmabuf->offset, dmabuf->length,
						      dmabuf->iova, dmabuf->fd, (int)access);
#elif RDMAEZ_HAVE_DMABUF_MR
	return ibv_reg_dmabuf_mr(pd, dmabuf->offset, dmabuf->length, dmabuf->iova, dmabuf->fd,
				 (int)access);
#endif
	(void)pd;
	(void)dmabuf;
	(void)access;
	*has_verb = false;
	errno = EOPNOTSUPP;
	return NULL;
}

RDMAEZ_COLD int rdmaez_mr_reg_dmabuf(struct ibv_pd *pd, const struct rdmaez_mr_dmabuf *dmabuf,
				     unsigned int access, struct ibv_mr **mr,
				     struct rdmaez_diag *diag)
{
	static const char verb[] = "ibv_reg_dmabuf_mr";
	const char *const missing = !pd ? "pd" : !dmabuf ? "dmabuf" : !mr ? "mr" : NULL;
	int error =
		rdmaez_impl_begin(diag, "rdmaez_mr_reg_dmabuf", pd ? pd->context : NULL, missing);
	struct ibv_mr *made;
	bool has_verb;

	if (error)
		return error;
	made = rdmaez_impl_mr_dmabuf(pd, dmabuf, access, &has_verb);
	if (made) {
		*mr = made;
		return 0;
	}
	if (!has_verb)
		return rdmaez_impl_refuse(diag, EOPNOTSUPP, RDMAEZ_WHY_MR_NO_DMABUF, verb);
	error = rdmaez_impl_failed(diag, rdmaez_impl_error_of_null(), verb);
	RDMAEZ_IMPL_EXPLAIN(diag, rdmaez_impl_mr_explain_dmabuf, (pd, dmabuf, access, diag));
	return error;
}

RDMAEZ_API int rdmaez_mr_dereg(struct ibv_mr *mr, struct rdmaez_diag *diag)
{
	int error = rdmaez_impl_begin(diag, "rdmaez_mr_dereg", mr ? mr->context : NULL,
				      mr ? NULL : "mr");

	if (error)
		return error;
	error = rdmaez_impl_error(ibv_dereg_mr(mr));
	if (error != EINVAL)
		return rdmaez_impl_end(diag, error, "ibv_dereg_mr", "mr", RDMAEZ_WHY_MR_IN_USE);
	rdmaez_impl_end(diag, EBUSY, "ibv_dereg_mr", "mr", RDMAEZ_WHY_MR_IN_USE);
	return rdmaez_impl_failed(diag, error, "ibv_dereg_mr");
}

RDMAEZ_API int rdmaez_mr_remote(const struct ibv_mr *mr, struct rdmaez_remote *remote,
				struct rdmaez_diag *diag)
{
	if (!mr || !remote) {
		rdmaez_impl_begin(diag, "rdmaez_mr_remote", NULL, mr ? "remote" : "mr");
		return EINVAL;
	}
	remote->addr = (uintptr_t)mr->addr;
	remote->length = mr->length;
	remote->rkey = mr->rkey;
	return 0;
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
