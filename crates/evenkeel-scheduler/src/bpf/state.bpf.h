/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Options (constants once loaded) and the records kept per task, CPU and node.
 */
#ifndef EK_STATE_BPF_H
#define EK_STATE_BPF_H

/* ---- options, set before load ---- */

const volatile struct ek_predictor_config predictor = EK_PREDICTOR_DEFAULTS;
const volatile struct ek_deadline_config order = EK_DEADLINE_DEFAULTS;
const volatile u64 age_rescue_ns = 500000000;
/* Learn only tasks whose name begins with this; an empty one learns all. */
const volatile char learn_prefix[EK_COMM_LEN];
const volatile u32 learn_prefix_len;
const volatile u32 force_estimate;
const volatile bool trace_on;
const volatile u32 nr_nodes = 1;
const volatile u32 nr_cpu_ids = 1;
/* CPUs of each node and the node of each CPU, from the topology at start. */
const volatile u32 node_cpus[EK_MAX_NODES];
const volatile u8 cpu_node[EK_MAX_CPUS];

/* ---- records ---- */

/* Where a task waits. */
enum ek_queue {
	EK_QUEUE_NONE,
	EK_QUEUE_NODE,	/* shared by the CPUs of its node */
	EK_QUEUE_CPU,	/* for one CPU alone */
	EK_QUEUE_LOCAL,	/* next on its CPU: nobody to overtake */
};

/* What the scheduler knows of a task. */
struct task_ctx {
	struct ek_model model;
	u64 v;			/* weighted service, ns of a nice-0 task */
	u64 charged;		/* sum_exec_runtime up to which v is charged */
	u64 burst_ns;		/* service since the last wakeup: the label in the making */
	u64 rank;		/* of this burst, held from wakeup; 0 until first needed */
	u64 estimate_ns;	/* of this burst */
	u64 q90_ns;
	u64 key;		/* under which it waits or waited last */
	u64 slice_ns;		/* assigned last */
	u64 last_burst_ns;
	u64 slept_at;
	u64 enq_at;
	u64 enq_v;		/* clock of the queue at that time */
	u64 enq_w;		/* runnable weight at that time */
	u32 weight;		/* as counted in the node's sum, 0 while it sleeps */
	s32 queue_cpu;		/* whose own queue it waits in */
	u16 node;
	u8 confident;
	u8 learned;		/* the model sees this task's bursts */
	u8 started;		/* v has been placed on a clock */
	u8 asleep;		/* its last dequeue was a sleep */
	u8 queue;		/* enum ek_queue: where it waits */
	u8 expert;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task_ctx);
} ek_tasks SEC(".maps");

/* What runs on a CPU and until when: read by wakers on other CPUs. Times are scx_bpf_now()'s. */
struct cpu_ctx {
	u64 run_start;		/* 0 while nothing of ours runs */
	u64 slice_end;		/* 0: alone, the kernel's own end of the slice is good enough */
	u64 armed_until;	/* when the slice timer fires; 0: not armed */
	u64 last_preempt;
	u64 last_rescue;
	u64 v;			/* of the running task, when it started */
	u64 rank;
	u64 attained;		/* service of its burst when it started */
	u64 estimate_ns;
	u64 q90_ns;
	u64 last_perf;
	u64 busy_ns;		/* service since last_perf */
	u32 weight;
	u8 confident;
	u8 kthread;
	u8 company;
	s64 waiting;		/* tasks in the CPU's own queue */
	u64 trace_seq;
	struct ek_counters counters;
} __attribute__((aligned(64)));

struct cpu_ctx cpus[EK_MAX_CPUS];

/* A queue domain: one NUMA node's shared queue, its clock and its load. */
struct node_ctx {
	u64 v;			/* V: fluid virtual time of the queue */
	u64 weight;		/* of all runnable tasks */
	s64 waiting;		/* tasks in the shared queue */
	u64 peak;		/* highest weight since peak_since */
	u64 peak_before;	/* and in the time before that */
	u64 peak_since;
} __attribute__((aligned(64)));

struct node_ctx nodes[EK_MAX_NODES];

/*
 * The policy headers take plain pointers. The barrier keeps the compiler from
 * folding the defaults above into the code; the verifier still sees constants.
 */
static __always_inline const struct ek_deadline_config *order_config(void)
{
	const struct ek_deadline_config *c = (const void *)&order;

	asm volatile("" : "+r"(c));
	return c;
}

static __always_inline const struct ek_predictor_config *predictor_config(void)
{
	const struct ek_predictor_config *c = (const void *)&predictor;

	asm volatile("" : "+r"(c));
	return c;
}

static __always_inline struct cpu_ctx *cpu_of(s32 cpu)
{
	u32 i = cpu;

	if (i >= EK_MAX_CPUS)
		return NULL;
	/* The verifier has to see the bound on the very register that is used. */
	barrier_var(i);
	return &cpus[i & (EK_MAX_CPUS - 1)];
}

static __always_inline struct cpu_ctx *this_cpu(void)
{
	return &cpus[bpf_get_smp_processor_id() & (EK_MAX_CPUS - 1)];
}

static __always_inline u32 node_of_cpu(s32 cpu)
{
	if (nr_nodes <= 1)
		return 0;
	return cpu_node[(u32)cpu & (EK_MAX_CPUS - 1)] & (EK_MAX_NODES - 1);
}

static __always_inline struct node_ctx *node_at(u32 node)
{
	return &nodes[node & (EK_MAX_NODES - 1)];
}

/* The queue of what only @cpu may run; the shared queues come after those. */
static __always_inline u64 cpu_dsq(s32 cpu)
{
	return (u64)(u32)cpu;
}

static __always_inline u64 node_dsq(u32 node)
{
	return (u64)EK_MAX_CPUS + node;
}

/* Never used: it makes the skeleton describe the record to whoever reads the map from outside. */
struct task_ctx task_ctx_layout SEC(".data.layout");

static __always_inline struct task_ctx *task_of(const struct task_struct *p)
{
	return bpf_task_storage_get(&ek_tasks, (struct task_struct *)p, 0, 0);
}

/*
 * A function that the verifier walks once, instead of once for each path that
 * leads to a call: what is called from several places or has many branches.
 */
#define EK_ONCE __attribute__((noinline))

#define COUNT(cctx, what) ((cctx)->counters.what++)

static __always_inline bool is_pinned(const struct task_struct *p)
{
	return nr_cpu_ids > 1 && (p->nr_cpus_allowed == 1 || is_migration_disabled(p));
}

static __always_inline bool is_percpu_kthread(const struct task_struct *p)
{
	return (p->flags & PF_KTHREAD) && p->nr_cpus_allowed == 1;
}

#endif /* EK_STATE_BPF_H */
