/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a wakeup need not wait: on an idle CPU, or on that of a waker that is
 * about to sleep.
 */
#ifndef EK_IDLE_BPF_H
#define EK_IDLE_BPF_H

/*
 * An idle CPU for @p, as close to @prev_cpu as the kernel's topology-aware
 * search finds one (SMT, LLC, node), or a negative value.
 */
static __always_inline s32 pick_idle(struct task_struct *p, s32 prev_cpu, u64 wake_flags,
				     bool in_select)
{
	if (!__COMPAT_HAS_scx_bpf_select_cpu_and) {
		bool idle = false;
		s32 cpu;

		/* Before 6.17 the search is available only where the kernel asks for a CPU. */
		if (!in_select)
			return scx_bpf_pick_idle_cpu(p->cpus_ptr, 0);
		cpu = scx_bpf_select_cpu_dfl(p, prev_cpu, wake_flags, &idle);
		return idle ? cpu : -EBUSY;
	}
	return scx_bpf_select_cpu_and(p, prev_cpu, wake_flags, p->cpus_ptr, 0);
}

/* Whether anybody waits for @cpu, in its own queue or in that of its node. */
static __always_inline bool anyone_waits(s32 cpu, struct cpu_ctx *cctx)
{
	return READ_ONCE(cctx->waiting) > 0 || READ_ONCE(node_at(node_of_cpu(cpu))->waiting) > 0;
}

/* Whether a waker that says it is about to sleep may hand its CPU to @p. */
static __always_inline bool may_hand_over(const struct task_struct *p, s32 cpu,
					  struct cpu_ctx *cctx, u64 wake_flags)
{
	if (!(wake_flags & SCX_WAKE_SYNC) || !READ_ONCE(cctx->run_start))
		return false;
	/* Nobody may be overtaken by the hand-over, in our queues or on the CPU. */
	return bpf_cpumask_test_cpu(cpu, p->cpus_ptr) && !anyone_waits(cpu, cctx) &&
	       !scx_bpf_dsq_nr_queued(SCX_DSQ_LOCAL_ON | cpu);
}

/* Put @p on the idle CPU @cpu. */
static __always_inline void dispatch_idle(struct task_struct *p, s32 cpu, u64 enq_flags)
{
	scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL_ON | cpu, order.slice_alone_ns, enq_flags);
	scx_bpf_kick_cpu(cpu, SCX_KICK_IDLE);
	COUNT(this_cpu(), direct_dispatches);
}

#endif /* EK_IDLE_BPF_H */
