/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A waiter announces itself: preempt whoever runs, cut a slice, or wait.
 */
#ifndef EK_CONTEST_BPF_H
#define EK_CONTEST_BPF_H

/* CPUs looked at for one that serves this queue when the waiter's own does not. */
#define EK_ANNOUNCE_SCAN 8

/* Key that the task on @cctx would have if it were queued now. */
static __always_inline u64 running_key(const struct cpu_ctx *cctx, u64 ran)
{
	u64 attained = cctx->attained + ran;
	u64 rank = cctx->rank;

	if (attained > rank)
		rank = ek_rank_overrun(order_config(), rank, attained);
	return ek_key(cctx->v + ek_charge(ran, cctx->weight), rank, cctx->weight);
}

/* Announce @tctx's task, queued under its key, to @cpu, which runs @cctx's task. */
static __always_inline void contest(struct task_ctx *tctx, s32 cpu, struct cpu_ctx *cctx)
{
	u64 run_start = READ_ONCE(cctx->run_start);
	u64 now = scx_bpf_now();
	u64 ran = run_start && now > run_start ? now - run_start : 0;
	u64 since = now > cctx->last_preempt ? now - cctx->last_preempt : 0;
	struct ek_contender newcomer = {
		.key = tctx->key,
		.estimate_ns = tctx->estimate_ns,
		.confident = tctx->confident,
	};
	struct ek_contender victim = {
		.key = running_key(cctx, ran),
		.ran_ns = ran,
		.attained_ns = cctx->attained + ran,
		.estimate_ns = cctx->estimate_ns,
		.confident = cctx->confident,
	};
	u64 slice, left;

	if (!cctx->kthread &&
	    ek_should_preempt(order_config(), &newcomer, &victim, since)) {
		cctx->last_preempt = now;
		scx_bpf_kick_cpu(cpu, SCX_KICK_PREEMPT);
		COUNT(this_cpu(), preemptions);
		return;
	}
	/* Someone waits now: a slice meant for a task alone is too long. */
	if (newcomer.confident && newcomer.key < victim.key)
		slice = order.slice_min_ns;
	else if (READ_ONCE(cctx->slice_end))
		return;
	else if (order.mode == EK_MODE_ONLINE)
		slice = order.slice_max_ns;
	else
		slice = order.fixed_slice_ns;
	left = slice > ran ? slice - ran : 0;
	cut_slice(cpu, cctx, bpf_ktime_get_ns() + left);
}

/*
 * Tell a CPU that @p waits: the one it is on, or, when that one runs nothing
 * of ours (a higher class holds it), another that serves the same queue.
 */
static __always_inline void announce(struct task_struct *p, struct task_ctx *tctx, s32 cpu,
				     struct cpu_ctx *cctx, bool pinned)
{
	u32 i;

	if (READ_ONCE(cctx->run_start) || pinned) {
		if (READ_ONCE(cctx->run_start))
			contest(tctx, cpu, cctx);
		return;
	}
	bpf_for(i, 1, EK_ANNOUNCE_SCAN) {
		s32 other = (cpu + i) % nr_cpu_ids;
		struct cpu_ctx *octx = cpu_of(other);

		if (!octx || other == cpu)
			break;
		if (node_of_cpu(other) != tctx->node || !READ_ONCE(octx->run_start) ||
		    !bpf_cpumask_test_cpu(other, p->cpus_ptr))
			continue;
		contest(tctx, other, octx);
		break;
	}
}

#endif /* EK_CONTEST_BPF_H */
