/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Order, slices and preemption: pure integer arithmetic, no helper and no
 * state of its own, so that the kernel, the property tests and the simulation
 * run the same code. docs/order.md has the formulas and the bound.
 *
 * Weights are sched_ext's (1 to 10000, 100 at nice 0). Accounts, clocks, ranks
 * and keys are in ns of a nice-0 task, "virtual" below. The includer provides
 * the kernel's short integer types.
 */
#ifndef EK_DEADLINE_H
#define EK_DEADLINE_H

#include "predictor.h"

#define EK_WEIGHT_NORMAL 100ULL
#define EK_WEIGHT_MAX 10000ULL
/* Of all runnable tasks together, where a product needs a bound. */
#define EK_TOTAL_WEIGHT_MAX (1ULL << 27)

/* Where clocks start: so far from zero that V - L never underflows. */
#define EK_V_START (1ULL << 40)

/* Nobody is served longer than this between two charges: more is clock trouble. */
#define EK_SERVICE_MAX_NS 10000000000ULL

/* The clock is drawn to the accounts served over 2^24 ns, 17 ms, of service. */
#define EK_DRAW_SHIFT 24
#define EK_DRAW_LAG_MAX (1ULL << 36)

enum ek_mode {
	EK_MODE_ONLINE,
	EK_MODE_SHADOW,
	EK_MODE_FIXED,
};

/*
 * What the scheduler does when nothing else is asked for; only what has an
 * option can be.
 */
#define EK_DEADLINE_DEFAULTS {						\
	.rank_max_ns = 20000000,					\
	.lag_ns = 20000000,						\
	.slice_min_ns = 500000,						\
	.slice_max_ns = 5000000,					\
	.fixed_slice_ns = 3000000,					\
	.slice_alone_ns = 20000000,					\
	.target_latency_ns = 6000000,					\
	.preempt_margin_ns = 200000,					\
	.preempt_min_run_ns = 100000,					\
	.preempt_remaining_ns = 100000,					\
	.preempt_gap_ns = 1000000,					\
	.mode = EK_MODE_ONLINE,						\
}

struct ek_deadline_config {
	u64 rank_max_ns;	/* R */
	u64 lag_ns;		/* L, virtual */
	u64 slice_min_ns;
	u64 slice_max_ns;
	u64 fixed_slice_ns;
	u64 slice_alone_ns;
	u64 target_latency_ns;
	u64 preempt_margin_ns;	/* virtual */
	u64 preempt_min_run_ns;
	u64 preempt_remaining_ns;
	u64 preempt_gap_ns;
	u32 mode;		/* enum ek_mode */
	u32 pad;
};

/* One side of a preemption: who waits, or who runs. */
struct ek_contender {
	u64 key;
	u64 ran_ns;		/* since it was given the CPU */
	u64 attained_ns;	/* of its burst */
	u64 estimate_ns;	/* of its burst */
	u32 confident;
	u32 pad;
};

static __always_inline u64 ek_min(u64 a, u64 b)
{
	return a < b ? a : b;
}

static __always_inline u64 ek_max(u64 a, u64 b)
{
	return a > b ? a : b;
}

static __always_inline u64 ek_add(u64 a, u64 b)
{
	return a > ~0ULL - b ? ~0ULL : a + b;
}

static __always_inline u64 ek_sub(u64 a, u64 b)
{
	return a > b ? a - b : 0;
}

/* A weight within sched_ext's range; 0 counts as the least. */
static __always_inline u64 ek_weight(u64 weight)
{
	return ek_min(ek_max(weight, 1), EK_WEIGHT_MAX);
}

/*
 * What @service_ns costs a task of @weight, virtual. An absurd service, as
 * reported after priority inheritance or a clock fault, costs 10 s.
 */
static __always_inline u64 ek_charge(u64 service_ns, u32 weight)
{
	service_ns = ek_min(service_ns, EK_SERVICE_MAX_NS);
	if (weight == EK_WEIGHT_NORMAL)
		return service_ns;
	return service_ns * EK_WEIGHT_NORMAL / ek_weight(weight);
}

/*
 * How far the clock of a queue, now at @clock, moves when somebody whose
 * account stood at @v is served, while the runnable tasks weigh @total_weight
 * together.
 *
 * The share of the service is what a fluid server would give each unit of
 * weight. Alone it drifts away from the accounts: the credit with which a
 * sleeper comes back was never taken from the hogs' accounts, so they fall
 * behind the clock for ever and the sleeper's credit is worth nothing. The
 * clock is therefore drawn towards the accounts of those who are served, with
 * a time constant of 2^24 ns of service. It never goes back, and moves by half
 * of the share at least: the bound on waits rests on that.
 */
static __always_inline u64 ek_clock_advance(u64 v, u64 clock, u64 service_ns, u64 total_weight)
{
	u64 share, drawn, lag;

	service_ns = ek_min(service_ns, EK_SERVICE_MAX_NS);
	if (!total_weight)
		total_weight = EK_WEIGHT_NORMAL;
	share = service_ns * EK_WEIGHT_NORMAL / total_weight;
	lag = ek_min(v > clock ? v - clock : clock - v, EK_DRAW_LAG_MAX);
	drawn = lag * ek_min(service_ns, 1ULL << EK_DRAW_SHIFT) >> EK_DRAW_SHIFT;
	if (v > clock)
		return share + ek_min(drawn, service_ns);
	return ek_max(ek_sub(share, drawn), share / 2);
}

/* A sleeper comes back with at most L of credit. */
static __always_inline u64 ek_clamp_wakeup(const struct ek_deadline_config *c, u64 v, u64 clock)
{
	return ek_max(v, ek_sub(clock, c->lag_ns));
}

/*
 * The lag of whoever queues ends at (R + L) of service in both directions. What
 * a clock shared by CPUs cannot give a task, because of its affinity or of a
 * weight beyond a CPU, is neither owed to it for ever, at the expense of those
 * who wait, nor held against it with a longer wait than anyone else's.
 */
static __always_inline u64 ek_clamp_lag(const struct ek_deadline_config *c, u64 v, u64 clock,
					u32 weight)
{
	u64 most = ek_charge(ek_add(c->rank_max_ns, c->lag_ns), weight);

	return ek_max(ek_min(v, ek_add(clock, most)), ek_sub(clock, most));
}

/* An account moves to another clock with its lag. */
static __always_inline u64 ek_rebase(u64 v, u64 from_clock, u64 to_clock)
{
	if (v >= from_clock)
		return ek_add(to_clock, v - from_clock);
	return ek_sub(to_clock, from_clock - v);
}

static __always_inline bool ek_trusts(const struct ek_deadline_config *c, u32 confident)
{
	return c->mode == EK_MODE_ONLINE && confident;
}

/* The fixed slice, which is also the rank of whoever cannot be predicted. */
static __always_inline u64 ek_fixed(const struct ek_deadline_config *c)
{
	return ek_max(c->fixed_slice_ns, 1);
}

/* The rank with which a burst begins, 1 ns to R. */
static __always_inline u64 ek_rank_initial(const struct ek_deadline_config *c,
					   const struct ek_estimate *e)
{
	u64 rank = ek_trusts(c, e->confident) ? e->burst_ns : ek_fixed(c);

	return ek_max(ek_min(rank, c->rank_max_ns), 1);
}

/* The smallest power of two that is at least @x; saturates at 2^63. */
static __always_inline u64 ek_power_of_two(u64 x)
{
	if (x <= 1)
		return 1;
	if (x > 1ULL << 63)
		return 1ULL << 63;
	x--;
	x |= x >> 1;
	x |= x >> 2;
	x |= x >> 4;
	x |= x >> 8;
	x |= x >> 16;
	x |= x >> 32;
	return x + 1;
}

/*
 * The rank of a burst that has @attained_ns of service: held while the burst
 * keeps within it, else the power of two at or above twice the service, so
 * that a burst of any length is demoted a logarithmic number of times.
 */
static __always_inline u64 ek_rank_overrun(const struct ek_deadline_config *c, u64 rank,
					   u64 attained_ns)
{
	if (c->mode != EK_MODE_ONLINE || attained_ns <= rank || rank >= c->rank_max_ns)
		return rank;
	return ek_min(ek_power_of_two(ek_add(attained_ns, attained_ns)), c->rank_max_ns);
}

/* Where a task waits: the lowest key is served first. */
static __always_inline u64 ek_key(u64 v, u64 rank, u32 weight)
{
	return ek_add(v, ek_charge(rank, weight));
}

/* Once the clock has passed this, nobody who comes can overtake the waiter. */
static __always_inline u64 ek_overtake_limit(const struct ek_deadline_config *c, u64 v, u64 rank,
					     u32 weight)
{
	return ek_add(ek_key(v, rank, weight), c->lag_ns);
}

/*
 * The most service, in ns, that others get while a waiter with @key waits that
 * was queued at @clock, while the runnable tasks weigh at most @total_weight:
 * three times (K + L - V) W. Those who come get two of it until the clock has
 * passed the limit above, as it moves at half the share at least; those who
 * waited before get one, which is all that lies between their accounts and the
 * key. What lies further back than V - L and the slice under way come on top.
 */
static __always_inline u64 ek_overtake_service(const struct ek_deadline_config *c, u64 key,
					       u64 clock, u64 total_weight)
{
	u64 way = ek_min(ek_sub(ek_add(key, c->lag_ns), clock), EK_DRAW_LAG_MAX);

	return way * ek_min(total_weight, EK_TOTAL_WEIGHT_MAX) / EK_WEIGHT_NORMAL * 3;
}

/*
 * What those who queue before a waiter may be owed together, in ns of service:
 * the most lag that ek_clamp_lag() leaves to tasks of @total_weight.
 */
static __always_inline u64 ek_owed_service(const struct ek_deadline_config *c, u64 total_weight)
{
	u64 lag = ek_min(ek_add(c->rank_max_ns, c->lag_ns), EK_DRAW_LAG_MAX);

	return lag * ek_min(total_weight, EK_TOTAL_WEIGHT_MAX) / EK_WEIGHT_NORMAL;
}

/*
 * The slice of a task beside @waiting others: the fixed one, and more if a
 * confident burst needs it and the target latency, shared among the waiters,
 * allows it. Never less: a burst that was cut short of its end has to be
 * switched to once more, and whoever has a clearly better key preempts it when
 * it comes, with no need of a short slice beforehand.
 */
static __always_inline u64 ek_slice(const struct ek_deadline_config *c,
				    const struct ek_estimate *e, u32 waiting)
{
	u64 slice = ek_fixed(c);

	if (!waiting)
		return ek_max(c->slice_alone_ns, 1);
	if (c->mode != EK_MODE_ONLINE)
		return slice;
	if (e->confident)
		slice = ek_max(slice, ek_min(e->q90_ns, c->target_latency_ns / waiting));
	slice = ek_min(slice, c->slice_max_ns);
	return ek_max(ek_max(slice, c->slice_min_ns), 1);
}

/* That a waiter gives whoever runs no reason to end before its slice does. */
#define EK_NO_HURRY (~0ULL)

/*
 * How soon, in ns from now, @victim has to make way for @newcomer: 0 is to be
 * preempted, EK_NO_HURRY is to use its slice up. A switch must pay: not for an
 * unsure burst or a small gain. Nor does it come at once on a CPU that was
 * preempted a moment ago, to somebody who has just begun, or to a burst that
 * is about to end by itself; what comes then waits that moment and no more.
 */
static __always_inline u64 ek_make_way(const struct ek_deadline_config *c,
				       const struct ek_contender *newcomer,
				       const struct ek_contender *victim, u64 since_preempt_ns)
{
	u64 remaining, wait;

	if (!ek_trusts(c, newcomer->confident) ||
	    ek_add(newcomer->key, c->preempt_margin_ns) >= victim->key)
		return EK_NO_HURRY;
	wait = ek_max(ek_sub(c->preempt_gap_ns, since_preempt_ns),
		      ek_sub(c->preempt_min_run_ns, victim->ran_ns));
	remaining = ek_sub(victim->estimate_ns, victim->attained_ns);
	if (victim->confident && remaining && remaining <= c->preempt_remaining_ns)
		wait = ek_max(wait, c->preempt_remaining_ns);
	return wait;
}

#endif /* EK_DEADLINE_H */
