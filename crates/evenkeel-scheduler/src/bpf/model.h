/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the predictor keeps of a task, its options and its constants.
 * docs/predictor.md says why each has its value.
 */
#ifndef EK_MODEL_H
#define EK_MODEL_H

#include "logarithm.h"

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

/* What the scheduler does when nothing else is asked for. */
#define EK_PREDICTOR_DEFAULTS {						\
	.predictor = EK_PREDICTOR_TOURNAMENT,				\
	.init = EK_INIT_EWMA,						\
	.updates = EK_UPDATES_FRACTIONAL,				\
	.warmup = 8,							\
	.prior_ns = 1000000,						\
}

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

#endif /* EK_MODEL_H */
