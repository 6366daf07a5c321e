/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Out of a queue: whether the running task goes on, and what is looked for
 * elsewhere.
 */
#ifndef EK_PICK_BPF_H
#define EK_PICK_BPF_H

/* What a waker on another CPU needs to know of the task that runs here. */
static __always_inline void note_running(const struct task_struct *p, const struct task_ctx *tctx,
					 struct cpu_ctx *cctx, u64 now)
{
	cctx->v = tctx->v;
	cctx->rank = tctx->rank ? tctx->rank : order.fixed_slice_ns;
	cctx->attained = tctx->burst_ns;
	cctx->estimate_ns = tctx->estimate_ns;
	cctx->q90_ns = tctx->q90_ns;
	cctx->confident = tctx->confident;
	cctx->weight = p->scx.weight;
	cctx->kthread = is_percpu_kthread(p);
	WRITE_ONCE(cctx->run_start, now);
}

/* @prev's slice is over and it still wants to run: whether nobody has a better key. */
static __always_inline bool keeps_cpu(struct task_struct *prev, struct task_ctx *tctx,
				      struct cpu_ctx *cctx, u64 best_key)
{
	need_estimate(tctx);
	note_overrun(tctx);
	return ek_key(tctx->v, tctx->rank, prev->scx.weight) <= best_key;
}

static __always_inline void refill(struct task_struct *prev, struct task_ctx *tctx, s32 cpu,
				   struct cpu_ctx *cctx)
{
	u64 now = scx_bpf_now();

	if (!tctx) {
		scx_bpf_task_set_slice(prev, order.fixed_slice_ns);
		return;
	}
	begin_slice(prev, tctx, cpu, cctx, now);
	note_running(prev, tctx, cctx, now);
	COUNT(cctx, refills);
}

/* Pull from the queues of other nodes, so that no CPU idles while someone waits. */
static __always_inline bool pull_from_afar(u32 node)
{
	u32 i;

	if (nr_nodes <= 1)
		return false;
	bpf_for(i, 1, nr_nodes) {
		if (i >= EK_MAX_NODES)
			break;
		if (scx_bpf_dsq_move_to_local(node_dsq((node + i) % nr_nodes), 0))
			return true;
	}
	return false;
}

#endif /* EK_PICK_BPF_H */
