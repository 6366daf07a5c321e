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

/*
 * Where preempt_count() counts nested hard interrupts: bits 16 to 19, or, on
 * kernels that count disabled interrupts there, bits 24 to 27. The tick, which
 * is one, shows which.
 */
#define EK_HARDIRQ_OLD 0x000f0000
#define EK_HARDIRQ_NEW 0x0f000000
u32 hardirq_mask = EK_HARDIRQ_OLD | EK_HARDIRQ_NEW;

static __always_inline void learn_hardirq_mask(void)
{
	u32 mask = get_preempt_count() & EK_HARDIRQ_NEW ? EK_HARDIRQ_NEW : EK_HARDIRQ_OLD;

	if (hardirq_mask != mask)
		WRITE_ONCE(hardirq_mask, mask);
}

/*
 * Whether the task that runs on @cpu is itself the waker: it has work in hand
 * for the woken task, which gains nothing from stopping it half-way. A wakeup
 * from an interrupt, such as a timer's, is not its doing.
 */
static __always_inline bool wakes_by_itself(s32 cpu)
{
	return (u32)cpu == bpf_get_smp_processor_id() &&
	       !(get_preempt_count() & (READ_ONCE(hardirq_mask) | SOFTIRQ_OFFSET));
}

/* When the task that runs on @cctx has used up the slice that it has beside a waiter. */
static __always_inline u64 end_in_company(const struct cpu_ctx *cctx, u64 run_start)
{
	struct ek_estimate estimate = {
		.burst_ns = cctx->estimate_ns,
		.q90_ns = cctx->q90_ns,
		.confident = cctx->confident,
	};

	return run_start + ek_slice(order_config(), &estimate, 1);
}

/* Announce @tctx's task, queued under its key, to @cpu, which runs @cctx's task. */
EK_ONCE int contest(struct task_ctx *tctx __arg_nonnull, s32 cpu)
{
	struct cpu_ctx *cctx = cpu_of(cpu);
	u64 run_start, now, ran, attained, end;
	bool soon;

	if (!cctx)
		return 0;
	run_start = READ_ONCE(cctx->run_start);
	now = scx_bpf_now();
	ran = run_start && now > run_start ? now - run_start : 0;
	attained = cctx->attained + ran;
	soon = ends_soon(cctx->confident, cctx->q90_ns, attained);
	end = ek_max(end_in_company(cctx, now - ran), now);

	if (order.mode == EK_MODE_ONLINE && !cctx->kthread && !wakes_by_itself(cpu)) {
		struct ek_contender newcomer = {
			.key = tctx->key,
			.estimate_ns = tctx->estimate_ns,
			.confident = tctx->confident,
		};
		struct ek_contender victim = {
			.key = running_key(cctx, ran),
			.ran_ns = ran,
			.attained_ns = attained,
			.estimate_ns = cctx->estimate_ns,
			.confident = cctx->confident,
		};
		u64 last = cctx->last_preempt, wait;

		wait = ek_make_way(order_config(), &newcomer, &victim,
				   now > last ? now - last : 0);
		if (!wait) {
			cctx->last_preempt = now;
			scx_bpf_kick_cpu(cpu, SCX_KICK_PREEMPT);
			COUNT(this_cpu(), preemptions);
			return 0;
		}
		if (wait < end - now) {
			end = now + wait;
			/* What is put off is a preemption too. */
			cctx->last_preempt = end;
		}
	}
	/* Someone waits now: a slice meant for a task alone is too long. */
	cut_slice(cpu, cctx, now, end, soon);
	return 0;
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
			contest(tctx, cpu);
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
		contest(tctx, other);
		break;
	}
}

#endif /* EK_CONTEST_BPF_H */
