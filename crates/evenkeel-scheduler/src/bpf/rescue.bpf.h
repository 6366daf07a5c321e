/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Age rescue: the last line behind the ordering's own bound. A waiter older
 * than the limit goes next, whatever its key.
 */
#ifndef EK_RESCUE_BPF_H
#define EK_RESCUE_BPF_H

/* How often a CPU looks, and how many waiters from the end of the queue it looks at. */
#define EK_RESCUE_EVERY_NS 50000000ULL
#define EK_RESCUE_SCAN 32

EK_ONCE int rescue_from(u64 dsq, s32 cpu, u64 now)
{
	struct task_struct *p;
	bool moved = false;
	u32 seen = 0;

	bpf_for_each(scx_dsq, p, dsq, SCX_DSQ_ITER_REV) {
		struct task_ctx *tctx;

		if (++seen > EK_RESCUE_SCAN)
			break;
		tctx = task_of(p);
		if (!tctx || !tctx->queue || now < tctx->enq_at + age_rescue_ns)
			continue;
		if (!bpf_cpumask_test_cpu(cpu, p->cpus_ptr))
			continue;
		moved = scx_bpf_dsq_move(BPF_FOR_EACH_ITER, p, SCX_DSQ_LOCAL, 0);
		if (moved)
			break;
	}
	return moved;
}

/*
 * Whether an aged waiter was put on this CPU. Each CPU looks for itself: only
 * it can help those in its own queue. Called from ops.dispatch alone.
 */
static __always_inline bool rescue(s32 cpu, struct cpu_ctx *cctx, u32 node)
{
	u64 now = scx_bpf_now();

	if (now < cctx->last_rescue + EK_RESCUE_EVERY_NS)
		return false;
	cctx->last_rescue = now;
	if ((READ_ONCE(cctx->waiting) > 0 && rescue_from(cpu_dsq(cpu), cpu, now)) ||
	    (READ_ONCE(node_at(node)->waiting) > 0 && rescue_from(node_dsq(node), cpu, now))) {
		COUNT(cctx, rescues);
		return true;
	}
	return false;
}

#endif /* EK_RESCUE_BPF_H */
