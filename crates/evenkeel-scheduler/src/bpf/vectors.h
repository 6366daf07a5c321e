/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The same inputs through the same functions on the host and in the kernel: a
 * vector names one function of predictor.h or deadline.h and carries all that
 * it takes and gives. The whole record is compared, bit for bit.
 */
#ifndef EK_VECTORS_H
#define EK_VECTORS_H

#include "deadline.h"

/* In the order of the headers; EK_OPS ends the list. */
enum ek_op {
	EK_OP_LOG2,
	EK_OP_EXP2,
	EK_OP_INHERIT,
	EK_OP_WAKE,
	EK_OP_ESTIMATE,
	EK_OP_OVERRUN,
	EK_OP_TRAIN,
	EK_OP_CHARGE,
	EK_OP_CLOCK_ADVANCE,
	EK_OP_CLAMP_WAKEUP,
	EK_OP_CLAMP_LAG,
	EK_OP_REBASE,
	EK_OP_RANK_INITIAL,
	EK_OP_RANK_OVERRUN,
	EK_OP_KEY,
	EK_OP_OVERTAKE_LIMIT,
	EK_OP_OVERTAKE_SERVICE,
	EK_OP_OWED_SERVICE,
	EK_OP_SLICE,
	EK_OP_MAKE_WAY,
	EK_OPS,
};

#define EK_VECTOR_IN 4

/* What a function does not use stays as it is. No padding: every byte is compared. */
struct ek_vector {
	u32 op;		/* enum ek_op */
	u32 pad;
	struct ek_predictor_config predictor;
	struct ek_deadline_config deadline;
	struct ek_model model;		/* in and out */
	struct ek_model parent;
	struct ek_estimate estimate;	/* in of the order, out of the predictor */
	struct ek_training training;	/* out */
	struct ek_contender newcomer;
	struct ek_contender victim;
	u64 in[EK_VECTOR_IN];		/* scalars in the order of the parameters */
	u64 out;			/* what the function returns */
};

_Static_assert(sizeof(struct ek_vector) == 424, "vectors have no padding");

/* Runs one vector of the predictor. */
static __always_inline void ek_vector_predict(struct ek_vector *v)
{
	switch (v->op) {
	case EK_OP_LOG2:
		v->out = ek_log2(v->in[0]);
		break;
	case EK_OP_EXP2:
		v->out = ek_exp2(v->in[0]);
		break;
	case EK_OP_INHERIT:
		ek_model_inherit(&v->model, &v->parent);
		break;
	case EK_OP_WAKE:
		ek_model_wake(&v->model, v->in[0], v->in[1]);
		break;
	case EK_OP_ESTIMATE:
		ek_model_estimate(&v->model, &v->predictor, &v->estimate);
		break;
	case EK_OP_OVERRUN:
		ek_model_overrun(&v->model, &v->predictor, v->in[0]);
		break;
	case EK_OP_TRAIN:
		ek_model_train(&v->model, &v->predictor, v->in[0], &v->training);
		break;
	}
}

/* Runs one vector of the order. */
static __always_inline void ek_vector_order(struct ek_vector *v)
{
	const struct ek_deadline_config *c = &v->deadline;

	switch (v->op) {
	case EK_OP_CHARGE:
		v->out = ek_charge(v->in[0], v->in[1]);
		break;
	case EK_OP_CLOCK_ADVANCE:
		v->out = ek_clock_advance(v->in[0], v->in[1], v->in[2], v->in[3]);
		break;
	case EK_OP_CLAMP_WAKEUP:
		v->out = ek_clamp_wakeup(c, v->in[0], v->in[1]);
		break;
	case EK_OP_CLAMP_LAG:
		v->out = ek_clamp_lag(c, v->in[0], v->in[1], v->in[2]);
		break;
	case EK_OP_REBASE:
		v->out = ek_rebase(v->in[0], v->in[1], v->in[2]);
		break;
	case EK_OP_RANK_INITIAL:
		v->out = ek_rank_initial(c, &v->estimate);
		break;
	case EK_OP_RANK_OVERRUN:
		v->out = ek_rank_overrun(c, v->in[0], v->in[1]);
		break;
	case EK_OP_KEY:
		v->out = ek_key(v->in[0], v->in[1], v->in[2]);
		break;
	case EK_OP_OVERTAKE_LIMIT:
		v->out = ek_overtake_limit(c, v->in[0], v->in[1], v->in[2]);
		break;
	case EK_OP_OVERTAKE_SERVICE:
		v->out = ek_overtake_service(c, v->in[0], v->in[1], v->in[2]);
		break;
	case EK_OP_OWED_SERVICE:
		v->out = ek_owed_service(c, v->in[0]);
		break;
	case EK_OP_SLICE:
		v->out = ek_slice(c, &v->estimate, v->in[0]);
		break;
	case EK_OP_MAKE_WAY:
		v->out = ek_make_way(c, &v->newcomer, &v->victim, v->in[0]);
		break;
	}
}

static inline void ek_vector_run(struct ek_vector *v)
{
	if (v->op <= EK_OP_TRAIN)
		ek_vector_predict(v);
	else
		ek_vector_order(v);
}

#endif /* EK_VECTORS_H */
