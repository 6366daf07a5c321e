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

/*
 * In BPF these are global functions: the verifier walks each once instead of
 * once for every path that leads to a call.
 */
#ifdef __bpf__
#define EK_SUBPROG __attribute__((noinline))
#else
#define EK_SUBPROG static inline
#endif

/* One copy for all callers: these are called from many places, and in BPF a call costs little. */
#define EK_SHARED static __attribute__((noinline, unused))

#define EK_LOG_SHIFT 10
#define EK_LOG_ONE (1 << EK_LOG_SHIFT)
#define EK_LOG_MAX (64 * EK_LOG_ONE - 1)

/* The bits below a unit that the average keeps (EK_UPDATES_FRACTIONAL). */
#define EK_EWMA_SHIFT 6
#define EK_EWMA_MASK ((1U << (16 + EK_EWMA_SHIFT)) - 1)

/* A residual counts as at most two octaves, so that an outlier does not count for more. */
#define EK_CLIP (2 * EK_LOG_ONE)
/* A mean miss below half an octave (a factor of 1.41) is confidence. */
#define EK_CONFIDENT_ERROR (EK_LOG_ONE / 2)
/* What a model without a score is taken to miss by, and what a fork adds to its parent's score. */
#define EK_ERROR_START (5 * EK_LOG_ONE / 4)
#define EK_ERROR_INHERITED (EK_LOG_ONE / 4)
/* Scores follow fast in the first bursts. */
#define EK_EARLY 8

/* The frugal estimate of the 90th percentile goes up nine times as fast as it goes down. */
#define EK_MARGIN_START (EK_LOG_ONE / 4)
#define EK_MARGIN_DOWN 8
#define EK_MARGIN_UP (9 * EK_MARGIN_DOWN)
#define EK_MARGIN_MAX (2 * EK_LOG_ONE)

/* Sleep length: how far it counts, what is too small to learn from, step and limit of the slope. */
#define EK_SLEEP_CLIP (4 * EK_LOG_ONE)
#define EK_SLEEP_DEAD (EK_LOG_ONE / 8)
#define EK_ERROR_DEAD (EK_LOG_ONE / 16)
#define EK_SLOPE_STEP 32
#define EK_SLOPE_MAX (3 * EK_LOG_ONE / 2)

#define EK_HISTORY_SIZE 8
#define EK_WAKER_SIZE 4

enum ek_predictor {
	EK_PREDICTOR_TOURNAMENT,
	EK_PREDICTOR_EWMA,
	EK_PREDICTOR_LAST,
	EK_PREDICTOR_HISTORY,
	EK_PREDICTOR_LMS,
};

/* Where the average starts: at the first sample, or at a constant prior. */
enum ek_init {
	EK_INIT_EWMA,
	EK_INIT_BIAS,
};

/* Whether the average keeps the bits below a unit, or moves in whole units. */
enum ek_updates {
	EK_UPDATES_FRACTIONAL,
	EK_UPDATES_TRUNC,
};

struct ek_predictor_config {
	u32 predictor;	/* enum ek_predictor */
	u32 init;	/* enum ek_init */
	u32 updates;	/* enum ek_updates */
	u32 warmup;	/* bursts before an estimate counts */
	u64 prior_ns;
};

enum ek_expert {
	EK_EXPERT_EWMA,
	EK_EXPERT_LAST,
	EK_EXPERT_HISTORY,
	EK_EXPERT_LMS,
	EK_EXPERTS,
};

/* What is known of a task. Memory of zeroes is a valid, empty model. */
struct ek_model {
	u32 ewma;			/* Q16, 22 bits */
	u16 last;
	u16 floor;			/* what the burst under way has outrun, 0: nothing */
	u16 table[EK_HISTORY_SIZE];	/* next burst by history, 0: not seen yet */
	u16 bias[EK_WAKER_SIZE];	/* burst by waker at the mean sleep, 0: not seen yet */
	u16 error[EK_EXPERTS];		/* recent absolute log error of each expert */
	u16 sleep;			/* the sleep before this burst, 0: unknown */
	u16 sleep_mean;
	s16 slope;			/* octaves of burst per octave of sleep, Q10 */
	u16 margin;			/* q90 of the residual */
	u8 count;			/* bursts seen, saturates */
	u8 history;			/* were the last three bursts above the average? */
	u8 waker;
	u8 pad[13];
};

_Static_assert(sizeof(struct ek_model) == 64, "a model is one cache line");

struct ek_estimate {
	u64 burst_ns;
	u64 q90_ns;
	u32 confident;
	u32 expert;	/* enum ek_expert */
};

struct ek_training {
	u64 predicted_ns;
	u64 error_ns;
	u32 log_error;	/* Q10 */
	u32 scored;	/* 0 during warm-up */
};

/* What each expert says of the burst under way, Q10. */
struct ek_opinions {
	u32 ewma;
	u32 last;
	u32 history;
	u32 lms;
	s32 sleep;	/* octaves above the mean sleep, Q10, clipped */
};

static __always_inline s32 ek_clip(s32 x, s32 limit)
{
	if (x > limit)
		return limit;
	return x < -limit ? -limit : x;
}

static __always_inline u32 ek_abs(s32 x)
{
	return x < 0 ? -x : x;
}

/* A log within the 16 bits it is stored in; 0 is kept for "not seen". */
static __always_inline u32 ek_log_clamp(s32 log)
{
	if (log < 1)
		return 1;
	return log > EK_LOG_MAX ? EK_LOG_MAX : log;
}

/*
 * log2(@ns) in Q10, 0 for 0. The mantissa x is corrected by x(1-x)(a-bx), at
 * most 0.0014 off the true logarithm; one rounding at the end keeps it monotone.
 */
EK_SUBPROG u32 ek_log2(u64 ns)
{
	u32 exponent = 0;
	u64 x = ns, f;

	if (!ns)
		return 0;
	if (x >> 32) {
		exponent += 32;
		x >>= 32;
	}
	if (x >> 16) {
		exponent += 16;
		x >>= 16;
	}
	if (x >> 8) {
		exponent += 8;
		x >>= 8;
	}
	if (x >> 4) {
		exponent += 4;
		x >>= 4;
	}
	if (x >> 2) {
		exponent += 2;
		x >>= 2;
	}
	if (x >> 1)
		exponent += 1;
	f = exponent < EK_LOG_SHIFT ? ns << (EK_LOG_SHIFT - exponent) :
				      ns >> (exponent - EK_LOG_SHIFT);
	f &= EK_LOG_ONE - 1;
	f += f * (EK_LOG_ONE - f) * (436 * EK_LOG_ONE - 162 * f) >> 30;
	return (exponent << EK_LOG_SHIFT) + f;
}

/* 2^@log for a Q10 logarithm, saturating: the inverse of ek_log2(). */
EK_SUBPROG u64 ek_exp2(u32 log)
{
	u64 f = log & (EK_LOG_ONE - 1);
	u32 exponent = log >> EK_LOG_SHIFT;
	u64 mantissa;

	if (exponent > 63)
		return ~0ULL;
	/* Q20: 1 + f - f(1-f)(a+bf), at most 0.02 % off. */
	mantissa = (1ULL << 20) + (f << 10) -
		   (f * (EK_LOG_ONE - f) * (311 * EK_LOG_ONE + 81 * f) >> 20);
	return exponent < 20 ? mantissa >> (20 - exponent) : mantissa << (exponent - 20);
}

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
	u32 known = m->table[m->history & (EK_HISTORY_SIZE - 1)];
	u32 bias = m->bias[m->waker & (EK_WAKER_SIZE - 1)];

	o->ewma = (m->ewma & EK_EWMA_MASK) >> EK_EWMA_SHIFT;
	o->last = m->last;
	o->history = known ? known : o->ewma;
	o->sleep = 0;
	if (m->sleep && m->sleep_mean)
		o->sleep = ek_clip((s32)m->sleep - m->sleep_mean, EK_SLEEP_CLIP);
	o->lms = bias ? ek_log_clamp((s32)bias + (m->slope * o->sleep >> EK_LOG_SHIFT)) : o->ewma;
}

/* The expert that counts: the one asked for, or the one that missed least of late. */
static __always_inline u32 ek_expert_of(const struct ek_model *m,
					const struct ek_predictor_config *c)
{
	u32 best = EK_EXPERT_EWMA;
	u32 error = m->error[EK_EXPERT_EWMA];

	if (c->predictor)
		return (c->predictor - 1) & (EK_EXPERTS - 1);
	if (m->error[EK_EXPERT_LAST] < error) {
		best = EK_EXPERT_LAST;
		error = m->error[EK_EXPERT_LAST];
	}
	if (m->error[EK_EXPERT_HISTORY] < error) {
		best = EK_EXPERT_HISTORY;
		error = m->error[EK_EXPERT_HISTORY];
	}
	if (m->error[EK_EXPERT_LMS] < error)
		best = EK_EXPERT_LMS;
	return best;
}

static __always_inline u32 ek_opinion_of(const struct ek_opinions *o, u32 expert)
{
	if (expert == EK_EXPERT_EWMA)
		return o->ewma;
	if (expert == EK_EXPERT_LAST)
		return o->last;
	return expert == EK_EXPERT_HISTORY ? o->history : o->lms;
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
	struct ek_opinions o;
	u32 expert, burst, q90, error;

	if (!m->count) {
		u64 least = m->floor ? ek_exp2(m->floor) : 0;

		out->burst_ns = c->prior_ns > least ? c->prior_ns : least;
		out->q90_ns = out->burst_ns;
		out->confident = 0;
		out->expert = EK_EXPERT_EWMA;
		return;
	}
	ek_opinions(m, &o);
	expert = ek_expert_of(m, c);
	burst = ek_opinion_of(&o, expert);
	q90 = ek_log_clamp(burst + m->margin);
	error = m->error[expert & (EK_EXPERTS - 1)];
	out->expert = expert;
	out->confident = m->count >= c->warmup && error < EK_CONFIDENT_ERROR && m->floor <= q90;
	if (burst < m->floor)
		burst = m->floor;
	if (q90 < burst)
		q90 = burst;
	out->burst_ns = ek_exp2(burst);
	out->q90_ns = ek_exp2(q90);
}

/*
 * The burst under way has had @attained_ns and goes on: a censored sample. It
 * raises the estimate at once; the experts learn when the burst has ended.
 */
static __always_inline void ek_model_overrun(struct ek_model *m,
					     const struct ek_predictor_config *c, u64 attained_ns)
{
	u32 log = ek_log2(attained_ns);

	if (log > m->floor)
		m->floor = log;
}

static __always_inline u32 ek_miss(u32 burst, u32 opinion)
{
	return burst > opinion ? burst - opinion : opinion - burst;
}

/* A score follows a worse error by a quarter; a better one by an eighth, or early a quarter. */
static __always_inline u32 ek_score(u32 score, u32 burst, u32 opinion, u32 count)
{
	s32 miss = ek_miss(burst, opinion);
	s32 change = (miss > EK_CLIP ? EK_CLIP : miss) - (s32)score;

	return (s32)score + (change >> (change < 0 && count >= EK_EARLY ? 3 : 2));
}

/* A clipped step of 1 / 2^@shift of the way. */
static __always_inline s32 ek_step(u32 from, u32 to, u32 shift)
{
	return ek_clip((s32)to - (s32)from, EK_CLIP) >> shift;
}

/* The average moves by an eighth, in whole units or keeping the bits below. */
static __always_inline u32 ek_average(u32 ewma, u32 burst, u32 updates)
{
	s32 way, step;

	ewma &= EK_EWMA_MASK;
	way = (s32)(burst << EK_EWMA_SHIFT) - (s32)ewma;
	step = ek_clip(way, EK_CLIP << EK_EWMA_SHIFT) >> 3;
	if (updates == EK_UPDATES_TRUNC)
		step &= ~((1 << EK_EWMA_SHIFT) - 1);
	return (s32)ewma + step;
}

/* Sign-LMS: the slope over sleep length goes a fixed step against the sign of the error. */
static __always_inline s32 ek_slope(s32 slope, s32 sleep, s32 residual)
{
	if (ek_abs(sleep) < EK_SLEEP_DEAD || ek_abs(residual) < EK_ERROR_DEAD)
		return slope;
	slope += (sleep < 0) == (residual < 0) ? EK_SLOPE_STEP : -EK_SLOPE_STEP;
	return ek_clip(slope, EK_SLOPE_MAX);
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
static __always_inline void ek_learn_margin(struct ek_model *m, u32 expert, u32 burst, u32 said)
{
	u32 margin = m->margin;

	if (m->error[expert & (EK_EXPERTS - 1)] >= EK_LOG_ONE)
		return;
	if (burst > said + margin)
		margin = margin + EK_MARGIN_UP > EK_MARGIN_MAX ? EK_MARGIN_MAX :
								 margin + EK_MARGIN_UP;
	else
		margin = margin > EK_MARGIN_DOWN ? margin - EK_MARGIN_DOWN : 0;
	m->margin = margin;
}

static __always_inline void ek_learn_history(struct ek_model *m, u32 burst, u32 ewma)
{
	u32 slot = m->history & (EK_HISTORY_SIZE - 1);
	u32 known = m->table[slot];

	m->table[slot] = known ? (s32)known + ek_step(known, burst, 1) : (s32)burst;
	m->history = (slot << 1 | (burst > ewma)) & (EK_HISTORY_SIZE - 1);
}

static __always_inline void ek_learn_features(struct ek_model *m, u32 burst, s32 sleep, u32 said)
{
	u32 slot = m->waker & (EK_WAKER_SIZE - 1);
	u32 bias = m->bias[slot];

	if (bias) {
		m->slope = ek_slope(m->slope, sleep, (s32)burst - (s32)said);
		m->bias[slot] = ek_log_clamp((s32)bias + ek_step(said, burst, 2));
	} else {
		m->bias[slot] = burst;
	}
	if (m->sleep)
		m->sleep_mean = m->sleep_mean ?
					m->sleep_mean + ek_step(m->sleep_mean, m->sleep, 3) :
					m->sleep;
}

/* The burst is over: score each expert, then let each learn. */
static __always_inline void ek_model_train(struct ek_model *m, const struct ek_predictor_config *c,
					   u64 burst_ns, struct ek_training *out)
{
	u32 burst = ek_log_clamp(ek_log2(burst_ns));
	u32 count = m->count;
	u32 expert, said, prior = 0;
	struct ek_opinions o;

	if (!count) {
		prior = ek_log2(c->prior_ns);
		ek_seed(m, c, burst, prior);
	}
	ek_opinions(m, &o);
	expert = ek_expert_of(m, c);
	said = count ? ek_opinion_of(&o, expert) : prior;

	out->predicted_ns = ek_exp2(said);
	out->error_ns = burst_ns > out->predicted_ns ? burst_ns - out->predicted_ns :
						       out->predicted_ns - burst_ns;
	out->log_error = ek_miss(burst, said);
	out->scored = count && count >= c->warmup;

	ek_learn_margin(m, expert, burst, said);
	m->error[EK_EXPERT_EWMA] = ek_score(m->error[EK_EXPERT_EWMA], burst, o.ewma, count);
	m->error[EK_EXPERT_LAST] = ek_score(m->error[EK_EXPERT_LAST], burst, o.last, count);
	m->error[EK_EXPERT_HISTORY] = ek_score(m->error[EK_EXPERT_HISTORY], burst, o.history, count);
	m->error[EK_EXPERT_LMS] = ek_score(m->error[EK_EXPERT_LMS], burst, o.lms, count);
	ek_learn_history(m, burst, o.ewma);
	ek_learn_features(m, burst, o.sleep, o.lms);
	m->ewma = ek_average(m->ewma, burst, c->updates);
	m->last = burst;
	m->floor = 0;
	if (count < 255)
		m->count = count + 1;
}

#endif /* EK_PREDICTOR_H */
