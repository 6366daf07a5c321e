/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long will this task run before it sleeps again? Burst history in,
 * estimate and confidence out: pure integer arithmetic, no helper, 64 bytes a
 * task. docs/predictor.md explains the parts and their constants.
 *
 * Times are compared as logarithms to base 2 in units of 1/1024 ("Q10"), since
 * bursts span six decades and a miss by a factor is what hurts. The includer
 * provides the kernel's short integer types.
 */
#ifndef EK_PREDICTOR_H
#define EK_PREDICTOR_H

#include "model.h"

/* What each expert says of the burst under way, Q10. */
struct ek_opinions {
	u32 ewma;
	u32 last;
	u32 history;
	u32 lms;
	s32 sleep;	/* octaves above the mean sleep, Q10, clipped */
};

/* Whose opinion counts, and how far it has been off of late. */
struct ek_choice {
	u32 expert;
	u32 said;
	s64 error;
};

/*
 * A fork starts with what its parent knows, on probation: its score is worse,
 * so that the first miss ends its confidence.
 */
static __always_inline void ek_model_inherit(struct ek_model *child, const struct ek_model *parent)
{
	*child = *parent;
	child->floor = 0;
	if (!child->count)
		return;
	child->error[0] = ek_log_clamp(child->error[0] + EK_ERROR_INHERITED);
	child->error[1] = ek_log_clamp(child->error[1] + EK_ERROR_INHERITED);
	child->error[2] = ek_log_clamp(child->error[2] + EK_ERROR_INHERITED);
	child->error[3] = ek_log_clamp(child->error[3] + EK_ERROR_INHERITED);
}

/* Record the features of a wakeup: how long the task slept and who woke it. */
static __always_inline void ek_model_wake(struct ek_model *m, u64 sleep_ns, u32 waker)
{
	m->sleep = ek_log2(sleep_ns);
	/* Fibonacci hashing: neighbouring ids fall apart. */
	m->waker = ((u64)waker * 0x9e3779b1ULL >> 30) & (EK_WAKER_SIZE - 1);
}

static __always_inline void ek_opinions(const struct ek_model *m, struct ek_opinions *o)
{
	s64 known = m->table[m->history & (EK_HISTORY_SIZE - 1)];
	s64 bias = m->bias[m->waker & (EK_WAKER_SIZE - 1)];
	s64 sleep = m->sleep, mean = m->sleep_mean;

	o->ewma = (m->ewma & EK_EWMA_MASK) >> EK_EWMA_SHIFT;
	o->last = m->last;
	o->history = ek_if(ek_some(known), known, o->ewma);
	o->sleep = ek_clip(sleep - mean, EK_SLEEP_CLIP) & ek_some(sleep) & ek_some(mean);
	o->lms = ek_if(ek_some(bias), ek_log_clamp(bias + (m->slope * o->sleep >> EK_LOG_SHIFT)),
		       o->ewma);
}

static __always_inline void ek_prefer(struct ek_choice *best, s64 expert, s64 said, s64 error)
{
	s64 better = ek_negative(error - best->error);

	best->expert = ek_if(better, expert, best->expert);
	best->said = ek_if(better, said, best->said);
	best->error = ek_if(better, error, best->error);
}

/* The expert that counts: the one asked for, or the one that missed least of late. */
static __always_inline void ek_choose(const struct ek_model *m, const struct ek_opinions *o,
				      u32 predictor, struct ek_choice *best)
{
	best->expert = EK_EXPERT_EWMA;
	best->said = o->ewma;
	best->error = m->error[EK_EXPERT_EWMA];
	if (predictor == EK_PREDICTOR_TOURNAMENT) {
		ek_prefer(best, EK_EXPERT_LAST, o->last, m->error[EK_EXPERT_LAST]);
		ek_prefer(best, EK_EXPERT_HISTORY, o->history, m->error[EK_EXPERT_HISTORY]);
		ek_prefer(best, EK_EXPERT_LMS, o->lms, m->error[EK_EXPERT_LMS]);
	} else if (predictor == EK_PREDICTOR_LAST) {
		best->expert = EK_EXPERT_LAST;
		best->said = o->last;
		best->error = m->error[EK_EXPERT_LAST];
	} else if (predictor == EK_PREDICTOR_HISTORY) {
		best->expert = EK_EXPERT_HISTORY;
		best->said = o->history;
		best->error = m->error[EK_EXPERT_HISTORY];
	} else if (predictor == EK_PREDICTOR_LMS) {
		best->expert = EK_EXPERT_LMS;
		best->said = o->lms;
		best->error = m->error[EK_EXPERT_LMS];
	}
}

/*
 * The estimate for the burst under way. What the burst has already outrun
 * (see ek_model_overrun()) is its lower bound; beyond the 90th percentile the
 * model has been wrong, and is not trusted until the burst ends.
 */
static __always_inline void ek_model_estimate(const struct ek_model *m,
					      const struct ek_predictor_config *c,
					      struct ek_estimate *out)
{
	struct ek_choice best;
	struct ek_opinions o;
	s64 floor = m->floor;
	s64 burst, q90;

	out->confident = 0;
	if (!m->count) {
		out->burst_ns = floor ? ek_exp2(floor) : 0;
		if (out->burst_ns < c->prior_ns)
			out->burst_ns = c->prior_ns;
		out->q90_ns = out->burst_ns;
		out->expert = EK_EXPERT_EWMA;
		return;
	}
	ek_opinions(m, &o);
	ek_choose(m, &o, c->predictor, &best);
	q90 = ek_least(best.said + m->margin, EK_LOG_MAX);
	if (m->count >= c->warmup && best.error < EK_CONFIDENT_ERROR && floor <= q90)
		out->confident = 1;
	burst = ek_most(best.said, floor);
	out->expert = best.expert;
	out->burst_ns = ek_exp2(burst);
	out->q90_ns = ek_exp2(ek_most(q90, burst));
}

/*
 * The burst under way has had @attained_ns and goes on: a censored sample. It
 * raises the estimate at once; the experts learn when the burst has ended.
 */
static __always_inline void ek_model_overrun(struct ek_model *m,
					     const struct ek_predictor_config *c, u64 attained_ns)
{
	m->floor = ek_most(m->floor, ek_log2(attained_ns));
}

/* A score follows a worse error by a quarter; a better one by an eighth, or early a quarter. */
static __always_inline u32 ek_score(s64 score, s64 burst, s64 opinion, s64 early)
{
	s64 change = ek_least(ek_abs(burst - opinion), EK_CLIP) - score;

	return score + (change >> (2 - (ek_negative(change) & ~early)));
}

/* A clipped step of 1 / 2^@shift of the way. */
static __always_inline s64 ek_step(s64 from, s64 to, u32 shift)
{
	return ek_clip(to - from, EK_CLIP) >> shift;
}

/* The average moves by an eighth, in whole units or keeping the bits below. */
static __always_inline u32 ek_average(s64 ewma, s64 burst, u32 updates)
{
	s64 way = (burst << EK_EWMA_SHIFT) - ewma;
	s64 step = ek_clip(way, EK_CLIP << EK_EWMA_SHIFT) >> 3;

	if (updates == EK_UPDATES_TRUNC)
		step &= ~((1LL << EK_EWMA_SHIFT) - 1);
	return ewma + step;
}

/* Sign-LMS: the slope over sleep length goes a fixed step, by the signs of both. */
static __always_inline s64 ek_slope(s64 slope, s64 sleep, s64 residual)
{
	s64 learn = ek_negative(EK_SLEEP_DEAD - 1 - ek_abs(sleep)) &
		    ek_negative(EK_ERROR_DEAD - 1 - ek_abs(residual));
	s64 differ = ek_negative(sleep ^ residual);

	return ek_clip(slope + (ek_if(differ, -EK_SLOPE_STEP, EK_SLOPE_STEP) & learn), EK_SLOPE_MAX);
}

/* The first burst: no expert had an opinion yet. */
static __always_inline void ek_seed(struct ek_model *m, const struct ek_predictor_config *c,
				    u32 burst, u32 prior)
{
	m->ewma = (c->init == EK_INIT_BIAS ? prior : burst) << EK_EWMA_SHIFT;
	m->last = burst;
	m->error[EK_EXPERT_EWMA] = EK_ERROR_START;
	m->error[EK_EXPERT_LAST] = EK_ERROR_START;
	m->error[EK_EXPERT_HISTORY] = EK_ERROR_START;
	m->error[EK_EXPERT_LMS] = EK_ERROR_START;
	m->margin = EK_MARGIN_START;
}

/*
 * The margin follows the residuals of whoever is believed. While that expert
 * is wild they say nothing about the margin of a good one.
 */
static __always_inline void ek_learn_margin(struct ek_model *m, const struct ek_choice *best,
					    s64 burst)
{
	s64 margin = m->margin;
	s64 wild = ek_negative(EK_LOG_ONE - 1 - best->error);
	s64 above = ek_negative(best->said + margin - burst);
	s64 next = margin + ek_if(above, EK_MARGIN_UP, -EK_MARGIN_DOWN);

	m->margin = ek_if(wild, margin, ek_least(ek_most(next, 0), EK_MARGIN_MAX));
}

static __always_inline void ek_learn_history(struct ek_model *m, s64 burst, s64 ewma)
{
	u32 slot = m->history & (EK_HISTORY_SIZE - 1);
	s64 known = m->table[slot];

	m->table[slot] = ek_if(ek_some(known), known + ek_step(known, burst, 1), burst);
	m->history = (slot << 1 | (ek_negative(ewma - burst) & 1)) & (EK_HISTORY_SIZE - 1);
}

static __always_inline void ek_learn_features(struct ek_model *m, s64 burst, s64 sleep, s64 said)
{
	u32 slot = m->waker & (EK_WAKER_SIZE - 1);
	s64 bias = m->bias[slot], now = m->sleep, mean = m->sleep_mean;
	s64 known = ek_some(bias);

	m->slope = ek_if(known, ek_slope(m->slope, sleep, burst - said), m->slope);
	m->bias[slot] = ek_if(known, ek_log_clamp(bias + ek_step(said, burst, 2)), burst);
	now = ek_if(ek_some(now), now, mean);
	m->sleep_mean = ek_if(ek_some(mean), mean + ek_step(mean, now, 3), now);
}

/* The burst is over: score each expert, then let each learn. */
static __always_inline void ek_model_train(struct ek_model *m, const struct ek_predictor_config *c,
					   u64 burst_ns, struct ek_training *out)
{
	s64 burst = ek_most(ek_log2(burst_ns), 1);
	s64 count = m->count;
	s64 early = ek_negative(count - EK_EARLY);
	struct ek_opinions o;
	struct ek_choice best;

	if (!count)
		ek_seed(m, c, burst, ek_log2(c->prior_ns));
	ek_opinions(m, &o);
	ek_choose(m, &o, c->predictor, &best);

	out->predicted_ns = ek_exp2(best.said);
	out->error_ns = burst_ns > out->predicted_ns ? burst_ns - out->predicted_ns :
						       out->predicted_ns - burst_ns;
	out->log_error = ek_abs(burst - best.said);
	out->scored = -ek_negative((s64)c->warmup - 1 - count) & -ek_some(count);

	ek_learn_margin(m, &best, burst);
	m->error[EK_EXPERT_EWMA] = ek_score(m->error[EK_EXPERT_EWMA], burst, o.ewma, early);
	m->error[EK_EXPERT_LAST] = ek_score(m->error[EK_EXPERT_LAST], burst, o.last, early);
	m->error[EK_EXPERT_HISTORY] = ek_score(m->error[EK_EXPERT_HISTORY], burst, o.history, early);
	m->error[EK_EXPERT_LMS] = ek_score(m->error[EK_EXPERT_LMS], burst, o.lms, early);
	ek_learn_history(m, burst, o.ewma);
	ek_learn_features(m, burst, o.sleep, o.lms);
	m->ewma = ek_average(m->ewma & EK_EWMA_MASK, burst, c->updates);
	m->last = burst;
	m->floor = 0;
	m->count = count - ek_negative(count - 255);
}

#endif /* EK_PREDICTOR_H */
