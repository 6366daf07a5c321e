/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the BPF programs and the Rust side share: limits, the per-CPU record
 * that user space reads, and the records of the decision trace.
 */
#ifndef EK_INTF_H
#define EK_INTF_H

#ifndef __VMLINUX_H__
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef int s32;
typedef unsigned long long u64;
typedef long long s64;
#endif

enum ek_limits {
	EK_MAX_CPUS = 1024,
	EK_MAX_NODES = 64,
	/* A task's name in the kernel, with its terminating zero (TASK_COMM_LEN). */
	EK_COMM_LEN = 16,
	/* Buckets of slice lateness, each EK_LATE_BUCKET_NS wide; the last holds all that is later. */
	EK_LATE_BUCKETS = 64,
	EK_LATE_BUCKET_NS = 50000,
};

/* What the hidden test option puts in the place of every estimate. */
enum ek_force { EK_FORCE_NONE, EK_FORCE_MIN, EK_FORCE_MAX };

/*
 * Counters of one CPU, written by that CPU and summed by the reader: one
 * global counter would be a cache line that every CPU fights for.
 */
struct ek_counters {
	u64 enqueued;		/* tasks that had to wait in one of our queues */
	u64 direct_dispatches;	/* wakeups put straight on an idle CPU */
	u64 sync_dispatches;	/* wakeups handed over by a waker about to sleep */
	u64 kthread_dispatches;	/* per-CPU kernel threads put at once on their CPU */
	u64 pinned;		/* waiters that only one CPU may run */
	u64 running;		/* times a task got a CPU */
	u64 refills;		/* slices renewed because nobody better waited */
	u64 preemptions;	/* wakeup preemptions */
	u64 timer_kicks;	/* slices ended by the timer */
	u64 slice_shrinks;	/* running slices cut because a waiter came */
	u64 yields;
	u64 reenqueued;		/* tasks queued again because a higher class took the CPU */
	u64 rescues;		/* waiters moved ahead because of their age */
	u64 overruns;		/* bursts that outran their rank */
	u64 fallbacks;		/* degraded and went on: no task record, no timer */
	u64 label_discarded;	/* bursts not learned: too long or clock trouble */
	u64 bursts;		/* labels closed on a voluntary sleep */
	u64 scored;		/* labels with a prediction after warm-up */
	u64 log_error_sum_q10;	/* sum of |log2(predicted/actual)| x 1024 */
	u64 abs_error_sum_ns;
	u64 burst_sum_ns;
	u64 estimate_sum_ns;
	u64 slices_company;
	u64 slice_company_min_ns;
	u64 slice_company_max_ns;
	u64 slices_alone;
	u64 slice_alone_max_ns;
	u64 wait_max_ns;
	u64 wait_max_bound_ns;
	u64 wait_over_bound;
	u64 cpu_online;
	u64 cpu_offline;
	u64 slice_late_us[EK_LATE_BUCKETS];
};

/* One record of the decision trace: a stretch on a CPU, from running to stopping. */
struct ek_trace_record {
	u64 seq;
	u32 tid;
	s32 cpu;
	u64 slice_ns;	/* slice assigned */
	u64 ran_ns;	/* service until it stopped */
	u64 key;	/* queue key, relative to the queue's clock when queued; 0 when it never waited */
	u32 company;	/* a waiter was there when the slice began */
	u32 runnable;	/* stopped against its will */
	char comm[EK_COMM_LEN];
};

#endif /* EK_INTF_H */
