/* SPDX-License-Identifier: MIT */
/* Bodies of fmt.h; those of records are in impl/diag_fmt.h. */
#ifndef RDMAEZ_IMPL_FMT_H
#define RDMAEZ_IMPL_FMT_H

#ifndef RDMAEZ_FMT_H
#include "../fmt.h"
#endif

RDMAEZ_IMPL_BEGIN

RDMAEZ_COLD RDMAEZ_IMPL_ENDS void rdmaez_impl_diag_exit(int error, const struct rdmaez_diag *diag);

RDMAEZ_INLINE void rdmaez_diag_need(int error, const struct rdmaez_diag *diag)
{
	if (error)
		rdmaez_impl_diag_exit(error, diag);
}

RDMAEZ_IMPL_END

#if RDMAEZ_IMPL_BODIES

#ifndef RDMAEZ_IMPL_DIAG_FMT_H
#include "diag_fmt.h"
#endif
#ifndef RDMAEZ_IMPL_TEXT_H
#include "text.h"
#endif
#ifndef RDMAEZ_IMPL_WC_H
#include "wc.h"
#endif

RDMAEZ_IMPL_BEGIN

/* What happened, the causes and what to do: a line for each, wrapped where it is too long. */
RDMAEZ_IMPL void rdmaez_impl_put_advice(struct rdmaez_impl_text *text,
					const struct rdmaez_advice *advice)
{
	char words[256];
	struct rdmaez_impl_text line = rdmaez_impl_text_in(words, sizeof(words));

	rdmaez_impl_put(&line, "What: %s.", advice->what);
	rdmaez_impl_put_wrapped(text, "  ", "    ", words);
	for (int i = 0; i < RDMAEZ_ADVICE_CAUSES && advice->cause[i]; i++) {
		line = rdmaez_impl_text_in(words, sizeof(words));
		rdmaez_impl_put(&line, "Likely: %s.", advice->cause[i]);
		rdmaez_impl_put_wrapped(text, "  ", "    ", words);
	}
	line = rdmaez_impl_text_in(words, sizeof(words));
	rdmaez_impl_put(&line, "Next: %s.", advice->fix);
	rdmaez_impl_put_wrapped(text, "  ", "    ", words);
}

RDMAEZ_COLD int rdmaez_wc_format(const struct ibv_wc *wc, char *buf, size_t size)
{
	struct rdmaez_impl_text text = rdmaez_impl_text_in(buf, size);
	const struct rdmaez_advice *advice = rdmaez_wc_explain(wc);

	if (!wc)
		return 0;
	rdmaez_impl_put(&text, "%s (%d) on QP %u, wr_id 0x%llx", advice->name, (int)wc->status,
			wc->qp_num, (unsigned long long)wc->wr_id);
	if (advice->valid & RDMAEZ_VALID_VENDOR_ERR)
		rdmaez_impl_put(&text, ", vendor_err 0x%x", wc->vendor_err);
	rdmaez_impl_put(&text, ".\n");
	rdmaez_impl_put_advice(&text, advice);
	if (rdmaez_wc_vendor_str(wc)[0])
		rdmaez_impl_put(&text, "  On mlx5 and mlx4 this vendor_err hints at: %s.\n",
				rdmaez_wc_vendor_str(wc));
	return (int)text.length;
}

/* What an event happened to. */
RDMAEZ_IMPL void rdmaez_impl_put_element(struct rdmaez_impl_text *text,
					 const struct ibv_async_event *event, unsigned int valid)
{
	if ((valid & RDMAEZ_VALID_QP) && event->element.qp)
		rdmaez_impl_put(text, " on QP %u", event->element.qp->qp_num);
	else if (valid & RDMAEZ_VALID_PORT_NUM)
		rdmaez_impl_put(text, " on port %d", event->element.port_num);
	else if ((valid & RDMAEZ_VALID_CQ) && event->element.cq)
		rdmaez_impl_put(text, " on a CQ of %d entries", event->element.cq->cqe);
	else if (valid & RDMAEZ_VALID_SRQ)
		rdmaez_impl_put(text, " on an SRQ");
	else if ((valid & RDMAEZ_VALID_WQ) && event->element.wq)
		rdmaez_impl_put(text, " on WQ %u", event->element.wq->wq_num);
}

RDMAEZ_COLD int rdmaez_event_format(const struct ibv_async_event *event, char *buf, size_t size)
{
	struct rdmaez_impl_text text = rdmaez_impl_text_in(buf, size);
	const struct rdmaez_advice *advice = rdmaez_event_explain(event);
	const unsigned int objects =
		RDMAEZ_VALID_CQ | RDMAEZ_VALID_QP | RDMAEZ_VALID_SRQ | RDMAEZ_VALID_WQ;

	if (!event)
		return 0;
	rdmaez_impl_put(&text, "%s (%d)", advice->name, (int)event->event_type);
	rdmaez_impl_put_element(&text, event, advice->valid);
	rdmaez_impl_put(&text, ".\n");
	rdmaez_impl_put_advice(&text, advice);
	rdmaez_impl_put(&text, "  Then: call ibv_ack_async_event()%s.\n",
			advice->valid & objects ? "; destroying the object waits for it" : "");
	return (int)text.length;
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
