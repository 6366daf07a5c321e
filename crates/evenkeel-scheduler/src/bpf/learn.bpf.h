/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From the life of a task to the predictor: wakeups give features, voluntary
 * sleeps close labels, and the first wait of a burst asks for its estimate.
 */
#ifndef EK_LEARN_BPF_H
#define EK_LEARN_BPF_H

/* Longer than any burst worth learning; a label beyond it is clock trouble. */
#define EK_LABEL_MAX_NS (1ULL << 40)

static __always_inline bool training(void)
{
	return order.mode != EK_MODE_FIXED;
}

/* Whether @p's name has the prefix given with --learn. */
static __always_inline bool is_learnable(const struct task_struct *p)
{
	char comm[EK_COMM_LEN];
	bool same = true;
	u32 i;

	if (!learn_prefix_len)
		return true;
	/* The verifier takes no variable offset into a task. */
	__builtin_memcpy(comm, p->comm, sizeof(comm));
#pragma unroll
	for (i = 0; i < EK_COMM_LEN - 1; i++)
		same &= i >= learn_prefix_len || comm[i] == learn_prefix[i];
	return same;
}

static __always_inline void wake_model(struct task_ctx *tctx)
{
	u64 now, slept;

	if (!training() || !tctx->learned)
		return;
	now = scx_bpf_now();
	slept = tctx->slept_at && now > tctx->slept_at ? now - tctx->slept_at : 0;
	ek_model_wake(&tctx->model, slept, (u32)bpf_get_current_pid_tgid());
}

/* The estimate of the burst under way: made at its first use, then held until the task sleeps. */
EK_ONCE int make_estimate(struct task_ctx *tctx __arg_nonnull)
{
	struct ek_estimate estimate = {};

	if (training() && tctx->learned)
		ek_model_estimate(&tctx->model, predictor_config(), &estimate);
	if (force_estimate) {
		estimate.burst_ns = force_estimate == EK_FORCE_MIN ? 1 : EK_LABEL_MAX_NS;
		estimate.q90_ns = estimate.burst_ns;
		estimate.confident = 1;
	}
	tctx->estimate_ns = estimate.burst_ns;
	tctx->q90_ns = estimate.q90_ns;
	tctx->confident = estimate.confident;
	tctx->expert = estimate.expert;
	tctx->rank = ek_rank_initial(order_config(), &estimate);
	if (!tctx->rank)
		tctx->rank = 1;
	return 0;
}

static __always_inline void need_estimate(struct task_ctx *tctx)
{
	if (!tctx->rank)
		make_estimate(tctx);
}

/* A burst that outruns its rank loses it by halves; the model hears of it at once. */
EK_ONCE int take_overrun(struct task_ctx *tctx __arg_nonnull)
{
	u64 rank;

	rank = ek_rank_overrun(order_config(), tctx->rank, tctx->burst_ns);
	if (rank != tctx->rank) {
		tctx->rank = rank;
		COUNT(this_cpu(), overruns);
	}
	if (training() && tctx->learned)
		ek_model_overrun(&tctx->model, predictor_config(), tctx->burst_ns);
	return 0;
}

static __always_inline void note_overrun(struct task_ctx *tctx)
{
	if (tctx->burst_ns > tctx->rank)
		take_overrun(tctx);
}

/* @tctx's task went to sleep of its own will: its burst is a label. */
static __always_inline void close_label(struct task_ctx *tctx, struct cpu_ctx *cctx)
{
	struct ek_training result = {};
	u64 burst = tctx->burst_ns;

	tctx->burst_ns = 0;
	tctx->rank = 0;
	if (!burst)
		return;
	tctx->last_burst_ns = burst;
	if (!training() || !tctx->learned)
		return;
	tctx->slept_at = scx_bpf_now();
	if (burst > EK_LABEL_MAX_NS) {
		COUNT(cctx, label_discarded);
		return;
	}
	ek_model_train(&tctx->model, predictor_config(), burst, &result);
	COUNT(cctx, bursts);
	if (!result.scored)
		return;
	COUNT(cctx, scored);
	cctx->counters.log_error_sum_q10 += result.log_error;
	cctx->counters.abs_error_sum_ns += result.error_ns;
	cctx->counters.burst_sum_ns += burst;
	cctx->counters.estimate_sum_ns += result.predicted_ns;
}

#endif /* EK_LEARN_BPF_H */
