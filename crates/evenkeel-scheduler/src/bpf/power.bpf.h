/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Frequency hints.
 */
#ifndef EK_POWER_BPF_H
#define EK_POWER_BPF_H

/* Ask for the frequency that the CPU's recent load needs, at most every 10 ms. */
static __always_inline void hint_frequency(s32 cpu, struct cpu_ctx *cctx, u64 now)
{
	u64 span = now - cctx->last_perf;
	u64 level;

	if (span < 10000000)
		return;
	level = cctx->busy_ns * SCX_CPUPERF_ONE / span;
	/* A CPU that is three quarters busy gets all there is. */
	if (level > SCX_CPUPERF_ONE - SCX_CPUPERF_ONE / 4)
		level = SCX_CPUPERF_ONE;
	scx_bpf_cpuperf_set(cpu, level);
	cctx->last_perf = now;
	cctx->busy_ns = 0;
}

#endif /* EK_POWER_BPF_H */
