/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Slices and their ends. The kernel ends a slice only at a scheduler tick, up
 * to 4 ms late at HZ=250; in company a timer per CPU ends it on time.
 */
#ifndef EK_SLICE_BPF_H
#define EK_SLICE_BPF_H

/* From <linux/time.h>, which BPF programs cannot include. */
#ifndef CLOCK_MONOTONIC
#define CLOCK_MONOTONIC 1
#endif

/* A slice that ends this soon is not worth another timer. */
#define EK_TIMER_SLACK_NS 50000ULL

struct slice_timer {
	struct bpf_timer timer;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, EK_MAX_CPUS);
	__type(key, u32);
	__type(value, struct slice_timer);
} slice_timers SEC(".maps");

/*
 * Waiters that @cpu would have to serve: those in its own queue and its share
 * of the node's, rounded up.
 */
static __always_inline u32 waiting_for(s32 cpu, struct cpu_ctx *cctx)
{
	u32 node = node_of_cpu(cpu) & (EK_MAX_NODES - 1);
	s64 shared = READ_ONCE(nodes[node].waiting);
	s64 own = READ_ONCE(cctx->waiting);
	u32 share = node_cpus[node];

	if (shared < 0)
		shared = 0;
	if (own < 0)
		own = 0;
	if (share > 1)
		shared = ((u32)shared + share - 1) / share;
	return own + shared;
}

/*
 * Make sure that @cpu's timer fires no later than @when. A start from an op is
 * costly on newer kernels (it is deferred through an allocation and irq_work),
 * so one is made only when the timer is idle or armed for much later: in
 * company the timer re-arms itself.
 */
EK_ONCE int start_timer(s32 cpu, u64 now, u64 when)
{
	struct cpu_ctx *cctx = cpu_of(cpu);
	struct slice_timer *st;
	u32 key = cpu;

	if (!cctx)
		return 0;
	st = bpf_map_lookup_elem(&slice_timers, &key);
	if (!st)
		return 0;
	WRITE_ONCE(cctx->armed_until, when);
	if (bpf_timer_start(&st->timer, when > now ? when - now : 1, 0)) {
		WRITE_ONCE(cctx->armed_until, 0);
		COUNT(this_cpu(), fallbacks);
	}
	return 0;
}

static __always_inline void arm_timer(s32 cpu, struct cpu_ctx *cctx, u64 now, u64 when)
{
	u64 armed = READ_ONCE(cctx->armed_until);

	if (!armed || armed > when + EK_TIMER_SLACK_NS)
		start_timer(cpu, now, when);
}

/*
 * End the slice of whatever runs on the timer's CPU if its time is up, and
 * look again when it will be. After a kick the next slice is not known yet; it
 * is a burst of unknown length's at least, and a cut arms the timer by itself.
 */
static int slice_timer_fired(void *map, u32 *key, struct slice_timer *st)
{
	const struct ek_estimate unknown = {};
	struct cpu_ctx *cctx = cpu_of(*key);
	u64 now = scx_bpf_now();
	u64 end, next;

	if (!cctx)
		return 0;
	end = READ_ONCE(cctx->slice_end);
	if (!end) {
		WRITE_ONCE(cctx->armed_until, 0);
		return 0;
	}
	if (now + EK_TIMER_SLACK_NS >= end) {
		scx_bpf_kick_cpu(*key, SCX_KICK_PREEMPT);
		COUNT(this_cpu(), timer_kicks);
		next = now + ek_slice(order_config(), &unknown, 1);
	} else {
		next = end;
	}
	WRITE_ONCE(cctx->armed_until, next);
	if (bpf_timer_start(&st->timer, next - now, 0)) {
		WRITE_ONCE(cctx->armed_until, 0);
		COUNT(this_cpu(), fallbacks);
	}
	return 0;
}

/* Whether a burst with @attained_ns of service is trusted to end within the least slice. */
static __always_inline bool ends_soon(bool confident, u64 q90_ns, u64 attained_ns)
{
	return ek_trusts(order_config(), confident) && attained_ns < q90_ns &&
	       q90_ns - attained_ns <= order.slice_min_ns;
}

static __always_inline void count_slice(struct cpu_ctx *cctx, u64 slice, bool company)
{
	struct ek_counters *c = &cctx->counters;

	if (!company) {
		c->slices_alone++;
		if (slice > c->slice_alone_max_ns)
			c->slice_alone_max_ns = slice;
		return;
	}
	c->slices_company++;
	if (slice > c->slice_company_max_ns)
		c->slice_company_max_ns = slice;
	if (!c->slice_company_min_ns || slice < c->slice_company_min_ns)
		c->slice_company_min_ns = slice;
}

/* The slice of @tctx's task beside @waiting others. */
EK_ONCE u64 slice_for(struct task_ctx *tctx __arg_nonnull, u32 waiting)
{
	struct ek_estimate estimate = {};

	if (waiting) {
		need_estimate(tctx);
		estimate.burst_ns = tctx->estimate_ns;
		estimate.q90_ns = tctx->q90_ns;
		estimate.confident = tctx->confident;
	}
	return ek_slice(order_config(), &estimate, waiting);
}

/*
 * Give @p, which starts at @now, a slice on @cpu by who waits there. A task
 * that is sure to sleep soon needs no timer; the tick is behind it if it does
 * not.
 */
static __always_inline void begin_slice(struct task_struct *p, struct task_ctx *tctx, s32 cpu,
					struct cpu_ctx *cctx, u64 now)
{
	u32 waiting = waiting_for(cpu, cctx);
	u64 slice = slice_for(tctx, waiting);

	tctx->slice_ns = slice;
	if (p->scx.slice != slice)
		scx_bpf_task_set_slice(p, slice);
	count_slice(cctx, slice, waiting);
	cctx->company = !!waiting;
	if (!waiting) {
		WRITE_ONCE(cctx->slice_end, 0);
		return;
	}
	WRITE_ONCE(cctx->slice_end, now + slice);
	if (!ends_soon(tctx->confident, tctx->q90_ns, tctx->burst_ns))
		arm_timer(cpu, cctx, now, now + slice);
}

/*
 * A waiter came to @cpu: whoever runs there may go on until @end at the
 * latest. The timer is left alone if that task is about to sleep by itself.
 */
static __always_inline void cut_slice(s32 cpu, struct cpu_ctx *cctx, u64 now, u64 end, bool soon)
{
	u64 now_end = READ_ONCE(cctx->slice_end);

	if (now_end && now_end <= end + EK_TIMER_SLACK_NS)
		return;
	WRITE_ONCE(cctx->slice_end, end);
	cctx->company = 1;
	COUNT(this_cpu(), slice_shrinks);
	if (!soon)
		arm_timer(cpu, cctx, now, end);
}

#endif /* EK_SLICE_BPF_H */
