/* SPDX-License-Identifier: MIT */
/*
 * C++: verbs objects that clean up after themselves, and exceptions that say why. Two queue pairs talk.
 *
 * Build:  c++ -std=c++11 -Iinclude examples/raii.cc -libverbs -o raii
 * Run:    ./raii, or on a machine without RDMA: tools/softroce ./raii
 */
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <rdmaez.h>
#include <rdmaez/implementation.h>

struct verbs_error : std::exception {
	rdmaez_diag diag; // its `error`, and the reasons' ids
	char text[4096];

	const char *what() const noexcept override { return text; }
};

// Calls f(args..., &diag).
template <class F, class... A> void need(F f, A... args)
{
	verbs_error error;

	if (f(args..., &error.diag)) {
		rdmaez_diag_format(&error.diag, error.text, sizeof(error.text));
		throw error;
	}
}

struct verbs_delete {
	static void must(int error) { error ? std::terminate() : void(); } // it is still in use
	void operator()(ibv_context *context) const { must(ibv_close_device(context)); }
	void operator()(ibv_pd *pd) const { must(ibv_dealloc_pd(pd)); }
	void operator()(ibv_cq *cq) const { must(ibv_destroy_cq(cq)); }
	void operator()(ibv_mr *mr) const { must(ibv_dereg_mr(mr)); }
};

template <class T> using owned = std::unique_ptr<T, verbs_delete>;

// Calls create(args..., &object, &diag).
template <class T, class F, class... A> owned<T> make(F create, A... args)
{
	T *object = nullptr;

	need(create, args..., &object);
	return owned<T>(object);
}

// Drains a queue pair and destroys it. What is polled meanwhile is kept, whosever it is.
struct qp_delete {
	std::vector<ibv_wc> *kept;

	void operator()(ibv_qp *qp) const
	{
		rdmaez_drain_opts opts = {};

		opts.flags = RDMAEZ_DRAIN_ANYWAY;
		opts.arg = kept;
		opts.completed = [](void *arg, const ibv_wc *wc) {
			static_cast<std::vector<ibv_wc> *>(arg)->push_back(*wc);
		};
		verbs_delete::must(rdmaez_qp_destroy(qp, &opts, nullptr, nullptr));
	}
};

struct queue_pair {
	char memory[64];
	owned<ibv_mr> mr;
	ibv_sge sge; // all of it
	std::unique_ptr<ibv_qp, qp_delete> qp;

	queue_pair(ibv_pd *pd, ibv_qp_init_attr init, std::vector<ibv_wc> *kept)
		: mr(make<ibv_mr>(rdmaez_mr_reg, pd, memory, 64u, IBV_ACCESS_LOCAL_WRITE)),
		  qp(nullptr, qp_delete{kept})
	{
		ibv_qp *created = nullptr;

		need(rdmaez_mr_sge, mr.get(), memory, sizeof(memory), &sge);
		need(rdmaez_qp_create, pd, &init, &created);
		qp.reset(created);
	}
	void send()
	{
		ibv_send_wr wr = {};

		rdmaez_wr_send(&wr, &sge);
		need(rdmaez_wr_post_send, qp.get(), &wr, nullptr);
	}
	void recv()
	{
		ibv_recv_wr wr = {0, nullptr, &sge, 1};

		need(rdmaez_wr_post_recv, qp.get(), &wr, nullptr);
	}
};

int main(int argc, char **argv)
try {
	const std::string option = argc > 1 ? argv[1] : "";
	const bool help = option == "-h" || option == "--help";

	if (argc > 1) {
		(help ? std::cout : std::cerr) << "usage: raii\n\nSends messages to itself.\n";
		return help ? 0 : 2;
	}
	std::vector<ibv_wc> kept, wc(32);
	const auto context = make<ibv_context>(rdmaez_device_open, nullptr);
	const auto pd = make<ibv_pd>(rdmaez_pd_alloc, context.get());
	const auto cq = make<ibv_cq>(rdmaez_cq_create, context.get(), 32, nullptr, 0);
	ibv_qp_init_attr init = {0, cq.get(), cq.get(), 0, {4, 4, 1, 1, 0}, IBV_QPT_RC, 1};
	rdmaez_wc_batch batch = {wc.data(), 32, 2, 0, false};

	kept.reserve(32); // so that qp_delete does not throw
	queue_pair a(pd.get(), init, &kept), b(pd.get(), init, &kept);
	need(rdmaez_qp_connect_loopback, a.qp.get(), b.qp.get(), nullptr);
	init.qp_type = IBV_QPT_UD;
	queue_pair idle(pd.get(), init, &kept); // is drained as well
	for (auto step : {rdmaez_qp_to_init, rdmaez_qp_to_rtr, rdmaez_qp_to_rts})
		need(step, idle.qp.get(), nullptr);
	for (int i = 0; i < 200; i++) {
		queue_pair &from = i % 2 ? b : a, &to = i % 2 ? a : b;

		to.recv();
		std::snprintf(from.memory, sizeof(from.memory), "message %d", i);
		from.send();
		need(rdmaez_wc_wait, cq.get(), nullptr, &batch, RDMAEZ_NS_FOREVER);
		if (std::string(from.memory) != to.memory)
			return 2;
	}
	std::cout << "200 messages\n";
	try {
		need(rdmaez_mr_sge, a.mr.get(), a.memory, sizeof(a.memory) + 1, &a.sge);
	} catch (const verbs_error &error) {
		std::cout << error.what();
	}
} catch (const std::exception &error) {
	std::cerr << error.what() << '\n';
	return 1;
}
