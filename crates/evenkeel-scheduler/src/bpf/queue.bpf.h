/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Into a queue: a task becomes runnable, gets its place and waits.
 */
#ifndef EK_QUEUE_BPF_H
#define EK_QUEUE_BPF_H

/*
 * @p is runnable again: it joins the queue of its CPU's node, and if it slept,
 * the sleep is over. This is all that ops.runnable would do; the operations
 * that follow it do it, since each operation costs a trampoline and a lookup.
 */
EK_ONCE int join_again(struct task_ctx *tctx __arg_nonnull, u32 weight, s32 cpu)
{
	join_node(tctx, node_of_cpu(cpu));
	count_runnable(tctx, weight);
	if (!tctx->asleep)
		return 0;
	tctx->asleep = 0;
	tctx->v = ek_clamp_wakeup(order_config(), tctx->v, node_at(tctx->node)->v);
	wake_model(tctx);
	return 0;
}

static __always_inline void wake_up(struct task_struct *p, struct task_ctx *tctx, s32 cpu)
{
	if (!tctx->weight)
		join_again(tctx, p->scx.weight, cpu);
}

/*
 * Where @p waits. One that no other CPU could pull, and that nobody has to be
 * compared with, is as good as next on its CPU: no queue has to be sorted.
 */
static __always_inline u32 choose_queue(s32 cpu, struct cpu_ctx *cctx, bool pinned, bool running)
{
	if ((pinned || nr_cpu_ids == 1) && !running && !anyone_waits(cpu, cctx) &&
	    !scx_bpf_dsq_nr_queued(SCX_DSQ_LOCAL_ON | cpu))
		return EK_QUEUE_LOCAL;
	return pinned ? EK_QUEUE_CPU : EK_QUEUE_NODE;
}

/* Place @tctx's account within its bounds on the clock, and its key after it. */
EK_ONCE int place(struct task_ctx *tctx __arg_nonnull, u32 weight)
{
	struct node_ctx *node = node_at(tctx->node);

	tctx->v = ek_clamp_lag(order_config(), tctx->v, node->v, weight);
	tctx->key = ek_key(tctx->v, tctx->rank, weight);
	tctx->enq_v = node->v;
	tctx->enq_w = node->weight;
	return 0;
}

/* Queue @p under its key and tell a CPU that it waits. */
static __always_inline void wait_in_queue(struct task_struct *p, struct task_ctx *tctx, s32 cpu,
					  struct cpu_ctx *cctx, bool pinned, u64 enq_flags)
{
	bool running = scx_bpf_task_running(p);
	u32 queue = choose_queue(cpu, cctx, pinned, running);

	need_estimate(tctx);
	note_overrun(tctx);
	/*
	 * What the running task wakes by its own work has to wait like the
	 * unpredictable: going first would cut a producer's batch into pieces.
	 */
	if (!running && wakes_by_itself(cpu))
		tctx->rank = ek_max(tctx->rank, order.fixed_slice_ns);
	place(tctx, p->scx.weight);
	tctx->enq_at = scx_bpf_now();
	count_waiting(tctx, queue, cpu);
	COUNT(this_cpu(), enqueued);
	if (queue == EK_QUEUE_LOCAL) {
		scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL, order.slice_alone_ns, enq_flags);
	} else if (queue == EK_QUEUE_CPU) {
		COUNT(this_cpu(), pinned);
		scx_bpf_dsq_insert_vtime(p, cpu_dsq(cpu), order.slice_max_ns, tctx->key,
					 enq_flags);
	} else {
		scx_bpf_dsq_insert_vtime(p, node_dsq(tctx->node), order.slice_max_ns, tctx->key,
					 enq_flags);
	}
	/* A task that just used up its slice needs no announcement: its CPU picks next. */
	if (!running)
		announce(p, tctx, cpu, cctx, queue != EK_QUEUE_NODE);
}

#endif /* EK_QUEUE_BPF_H */
