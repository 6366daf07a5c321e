/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Arithmetic for the predictor: choices without branches, and logarithms to
 * base 2 in units of 1/1024 ("Q10").
 */
#ifndef EK_LOGARITHM_H
#define EK_LOGARITHM_H

/*
 * In BPF these are global functions: the verifier walks each once instead of
 * once for every path that leads to a call.
 */
#ifdef __bpf__
#define EK_SUBPROG __attribute__((noinline))
#else
#define EK_SUBPROG static inline
#endif

#define EK_LOG_SHIFT 10
#define EK_LOG_ONE (1 << EK_LOG_SHIFT)
#define EK_LOG_MAX (64 * EK_LOG_ONE - 1)

/*
 * The verifier walks every combination of branches whose outcome it cares
 * about, and training has dozens: written with "if", it walked 130,000
 * instructions. So all choices below are made with masks. The empty assembly
 * keeps the compiler from seeing through one and putting the branch back.
 */
static __always_inline s64 ek_negative(s64 x)
{
	asm volatile("" : "+r"(x));
	return x >> 63;
}

/* All bits set if @x is not 0; @x is below 2^63. */
static __always_inline s64 ek_some(s64 x)
{
	return ek_negative(-x);
}

static __always_inline s64 ek_if(s64 mask, s64 yes, s64 no)
{
	return no ^ ((yes ^ no) & mask);
}

static __always_inline s64 ek_least(s64 a, s64 b)
{
	return ek_if(ek_negative(a - b), a, b);
}

static __always_inline s64 ek_most(s64 a, s64 b)
{
	return ek_if(ek_negative(a - b), b, a);
}

static __always_inline s64 ek_clip(s64 x, s64 limit)
{
	return ek_most(ek_least(x, limit), -limit);
}

static __always_inline s64 ek_abs(s64 x)
{
	s64 mask = ek_negative(x);

	return (x ^ mask) - mask;
}

/* A log within the 16 bits it is stored in; 0 is kept for "not seen". */
static __always_inline s64 ek_log_clamp(s64 log)
{
	return ek_least(ek_most(log, 1), EK_LOG_MAX);
}

/* @bits if the upper bits of @x, from @bits on, are not all 0. */
static __always_inline u64 ek_upper(u64 x, u64 bits)
{
	return ek_some(x >> bits) & bits;
}

/*
 * log2(@ns) in Q10, 0 for 0. The mantissa x is corrected by x(1-x)(a-bx), at
 * most 0.0014 off the true logarithm; one rounding at the end keeps it monotone.
 */
EK_SUBPROG u32 ek_log2(u64 ns)
{
	u64 exponent, step, f;
	u64 x = ns;

	if (!ns)
		return 0;
	exponent = ek_upper(x, 32);
	x >>= exponent;
	step = ek_upper(x, 16);
	x >>= step;
	exponent += step;
	step = ek_upper(x, 8);
	x >>= step;
	exponent += step;
	step = ek_upper(x, 4);
	x >>= step;
	exponent += step;
	step = ek_upper(x, 2);
	x >>= step;
	exponent += step + ek_upper(x, 1);

	/* The leading one goes to the top; the ten bits below it are the mantissa. */
	f = ns << (63 - exponent) >> (63 - EK_LOG_SHIFT) & (EK_LOG_ONE - 1);
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

#endif /* EK_LOGARITHM_H */
