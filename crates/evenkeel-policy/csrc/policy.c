/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The policy headers for the host: the kernel's short types, and one function
 * with a symbol for each inline function.
 */
#include <stdbool.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef unsigned long long u64;
typedef int16_t s16;
typedef int32_t s32;
typedef long long s64;

#undef __always_inline
#define __always_inline inline __attribute__((always_inline))

#include "vectors.h"

void ek_host_predictor_defaults(struct ek_predictor_config *out)
{
	*out = (struct ek_predictor_config)EK_PREDICTOR_DEFAULTS;
}

void ek_host_deadline_defaults(struct ek_deadline_config *out)
{
	*out = (struct ek_deadline_config)EK_DEADLINE_DEFAULTS;
}

u32 ek_host_log2(u64 ns)
{
	return ek_log2(ns);
}

u64 ek_host_exp2(u32 log)
{
	return ek_exp2(log);
}

void ek_host_inherit(struct ek_model *child, const struct ek_model *parent)
{
	ek_model_inherit(child, parent);
}

void ek_host_wake(struct ek_model *m, u64 sleep_ns, u32 waker)
{
	ek_model_wake(m, sleep_ns, waker);
}

void ek_host_estimate(const struct ek_model *m, const struct ek_predictor_config *c,
		      struct ek_estimate *out)
{
	ek_model_estimate(m, c, out);
}

void ek_host_overrun(struct ek_model *m, const struct ek_predictor_config *c, u64 attained_ns)
{
	ek_model_overrun(m, c, attained_ns);
}

void ek_host_train(struct ek_model *m, const struct ek_predictor_config *c, u64 burst_ns,
		   struct ek_training *out)
{
	ek_model_train(m, c, burst_ns, out);
}

u64 ek_host_charge(u64 service_ns, u32 weight)
{
	return ek_charge(service_ns, weight);
}

u64 ek_host_clock_advance(u64 v, u64 clock, u64 service_ns, u64 total_weight)
{
	return ek_clock_advance(v, clock, service_ns, total_weight);
}

u64 ek_host_clamp_wakeup(const struct ek_deadline_config *c, u64 v, u64 clock)
{
	return ek_clamp_wakeup(c, v, clock);
}

u64 ek_host_clamp_lag(const struct ek_deadline_config *c, u64 v, u64 clock, u32 weight)
{
	return ek_clamp_lag(c, v, clock, weight);
}

u64 ek_host_rebase(u64 v, u64 from_clock, u64 to_clock)
{
	return ek_rebase(v, from_clock, to_clock);
}

u64 ek_host_rank_initial(const struct ek_deadline_config *c, const struct ek_estimate *e)
{
	return ek_rank_initial(c, e);
}

u64 ek_host_rank_overrun(const struct ek_deadline_config *c, u64 rank, u64 attained_ns)
{
	return ek_rank_overrun(c, rank, attained_ns);
}

u64 ek_host_key(u64 v, u64 rank, u32 weight)
{
	return ek_key(v, rank, weight);
}

u64 ek_host_overtake_limit(const struct ek_deadline_config *c, u64 v, u64 rank, u32 weight)
{
	return ek_overtake_limit(c, v, rank, weight);
}

u64 ek_host_overtake_service(const struct ek_deadline_config *c, u64 key, u64 clock,
			     u64 total_weight)
{
	return ek_overtake_service(c, key, clock, total_weight);
}

u64 ek_host_owed_service(const struct ek_deadline_config *c, u64 total_weight)
{
	return ek_owed_service(c, total_weight);
}

u64 ek_host_slice(const struct ek_deadline_config *c, const struct ek_estimate *e, u32 waiting)
{
	return ek_slice(c, e, waiting);
}

u64 ek_host_make_way(const struct ek_deadline_config *c, const struct ek_contender *newcomer,
		     const struct ek_contender *victim, u64 since_preempt_ns)
{
	return ek_make_way(c, newcomer, victim, since_preempt_ns);
}

void ek_host_vector_run(struct ek_vector *v)
{
	ek_vector_run(v);
}
