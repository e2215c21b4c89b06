/* SPDX-License-Identifier: MIT */
/* Sharing device memory with a libibverbs that cannot: refused before anything is opened. */
#define RDMAEZ_HAVE_IMPORT_DM 0
#define RDMAEZ_HAVE_DM_DMABUF 0
#include "check.h"
#include <rdmaez/dm_share.h>
#include <rdmaez/implementation.h>

int main(void)
{
	struct fake_device *dev = fake_reset();
	struct rdmaez_dm_shared shared;
	struct rdmaez_dm_token token;
	struct rdmaez_diag diag;

	struct rdmaez_dm dm;
	int fd = -5;

	dev->attr.max_dm_size = 4096;
	if (rdmaez_dm_alloc(fake_open(dev), 64, NULL, &dm, NULL) ||
	    rdmaez_dm_export(&dm, NULL, NULL, &token, NULL))
		tap_bail("nothing to share");
	fake_reset_log();
	memset(&shared, 0, sizeof(shared));
	check_refusal(&diag, rdmaez_dm_import(dm.context->cmd_fd, &token, NULL, &shared, &diag),
		      EOPNOTSUPP, RDMAEZ_WHY_DM_NO_IMPORT, "ibv_import_dm",
		      "an rdma-core before 35");
	check_refusal(&diag, rdmaez_dm_dmabuf(&dm, &fd, &diag), EOPNOTSUPP, RDMAEZ_WHY_DM_NO_DMABUF,
		      "dm", "an rdma-core before 62");
	tap_ok(!rdmaez_impl_dm_import(dm.context, token.dm_handle) && errno == EOPNOTSUPP,
	       "what is below says the same");
	tap_ok(!shared.context && fd == -5, "nothing is written");
	check_refusal(&diag, rdmaez_dm_wrap_imported(dm.dm, 64, &dm, &diag), EOPNOTSUPP,
		      RDMAEZ_WHY_DM_NO_IMPORT, "ibv_unimport_dm", "what could not be unimported");
	tap_eq_int(fake_count(FAKE_ANY), 0, "nothing is called");
	tap_eq_int(rdmaez_dm_close(&dm, NULL), 0, "the memory itself can be used and freed");
	fake_close_all();
	return tap_done();
}
