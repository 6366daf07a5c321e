/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Charging service and keeping the clock of each queue. Fairness rests on this
 * file alone: nothing here reads an estimate.
 */
#ifndef EK_SERVICE_BPF_H
#define EK_SERVICE_BPF_H

/*
 * Charge @tctx's task, whose service so far is @sum, and move its queue's
 * clock. Returns the service since the last charge.
 */
EK_ONCE u64 charge_service(struct task_ctx *tctx __arg_nonnull, u64 sum, u32 weight)
{
	struct node_ctx *node = node_at(tctx->node);
	u64 delta = sum > tctx->charged ? sum - tctx->charged : 0;

	tctx->charged = sum;
	if (!delta)
		return 0;
	__sync_fetch_and_add(&node->v,
			     ek_clock_advance(tctx->v, node->v, delta, node->weight));
	tctx->v += ek_charge(delta, weight);
	tctx->burst_ns += delta;
	return delta;
}

/*
 * Charge @p for the service since the last charge and move its queue's clock.
 * Returns that service. sum_exec_runtime is up to date in ops.dispatch and
 * ops.stopping: the kernel accounts the current task before it calls them.
 */
static __always_inline u64 charge(const struct task_struct *p, struct task_ctx *tctx)
{
	return charge_service(tctx, p->se.sum_exec_runtime, p->scx.weight);
}

/* @p begins to compete: its weight counts until it sleeps. */
static __always_inline void count_runnable(struct task_ctx *tctx, u32 weight)
{
	struct node_ctx *node = node_at(tctx->node);
	u64 total;

	tctx->weight = weight;
	total = __sync_fetch_and_add(&node->weight, tctx->weight) + tctx->weight;
	if (total > READ_ONCE(node->peak))
		WRITE_ONCE(node->peak, total);
}

/* How far back the peak of the runnable weight reaches, at least. */
#define EK_PEAK_SPAN_NS 4000000000ULL

/* The highest runnable weight of late: tasks may have come and gone during a wait. */
static __always_inline u64 peak_weight(struct node_ctx *node, u64 now)
{
	if (now > node->peak_since + EK_PEAK_SPAN_NS) {
		node->peak_since = now;
		node->peak_before = node->peak;
		node->peak = node->weight;
	}
	return ek_max(node->peak, node->peak_before);
}

static __always_inline void count_asleep(struct task_ctx *tctx)
{
	if (!tctx->weight)
		return;
	__sync_fetch_and_sub(&node_at(tctx->node)->weight, tctx->weight);
	tctx->weight = 0;
}

/*
 * Waiters are counted here rather than asked of the kernel, which would look
 * the queue up by its number each time.
 */
static __always_inline void count_waiting(struct task_ctx *tctx, u32 queue, s32 cpu)
{
	struct cpu_ctx *cctx = cpu_of(cpu);

	tctx->queue = queue;
	tctx->queue_cpu = cpu;
	if (queue == EK_QUEUE_NODE)
		__sync_fetch_and_add(&node_at(tctx->node)->waiting, 1);
	else if (queue == EK_QUEUE_CPU && cctx)
		__sync_fetch_and_add(&cctx->waiting, 1);
}

/* @tctx's task left the queue it waited in, to run or because the kernel took it out. */
static __always_inline void count_served(struct task_ctx *tctx)
{
	struct cpu_ctx *cctx = cpu_of(tctx->queue_cpu);

	if (tctx->queue == EK_QUEUE_NODE)
		__sync_fetch_and_sub(&node_at(tctx->node)->waiting, 1);
	else if (tctx->queue == EK_QUEUE_CPU && cctx)
		__sync_fetch_and_sub(&cctx->waiting, 1);
	tctx->queue = EK_QUEUE_NONE;
}

/*
 * Move @tctx's account to @node: its lag against the clock goes with it, and
 * so does its weight if it is runnable.
 */
static __always_inline void join_node(struct task_ctx *tctx, u32 node)
{
	struct node_ctx *to = node_at(node);

	if (!tctx->started) {
		tctx->started = 1;
		tctx->v = to->v;
		tctx->node = node;
		return;
	}
	if (tctx->node == node)
		return;

	struct node_ctx *from = node_at(tctx->node);

	tctx->v = ek_rebase(tctx->v, from->v, to->v);
	if (tctx->weight) {
		__sync_fetch_and_sub(&from->weight, tctx->weight);
		__sync_fetch_and_add(&to->weight, tctx->weight);
	}
	if (tctx->queue == EK_QUEUE_NODE)
		count_served(tctx);
	tctx->node = node;
}

#endif /* EK_SERVICE_BPF_H */
