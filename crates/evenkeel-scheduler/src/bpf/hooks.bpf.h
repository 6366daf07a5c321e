/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs for tests and for `verify`; none of them is attached.
 */
#ifndef EK_HOOKS_BPF_H
#define EK_HOOKS_BPF_H

/*
 * Runs one of the policy's vectors inside the kernel; attaches nothing. It is
 * in memory that user space maps, since it would fill the stack.
 */
struct ek_vector vector;

SEC("syscall")
int run_vector(void *ctx)
{
	ek_vector_run(&vector);
	return 0;
}

/* A test hook, loaded only on request: no verifier accepts a read through a null pointer. */
SEC("?syscall")
int rejected(void *ctx)
{
	u64 *nowhere = NULL;

	barrier_var(nowhere);
	return *nowhere;
}

#endif /* EK_HOOKS_BPF_H */
