/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Evenkeel's sched_ext operations, in the order in which the kernel calls
 * them in a task's life: it wakes, waits, is picked, runs, stops, sleeps.
 */
#include <scx/common.bpf.h>
#include <bpf_experimental.h>
#include "intf.h"
#include "predictor.h"
#include "deadline.h"
#include "vectors.h"

char _license[] SEC("license") = "GPL";

UEI_DEFINE(uei);

#include "state.bpf.h"
#include "service.bpf.h"
#include "learn.bpf.h"
#include "slice.bpf.h"
#include "contest.bpf.h"
#include "rescue.bpf.h"
#include "report.bpf.h"

/* A task that waits longer than this makes the kernel end the scheduler. */
#define EK_WATCHDOG_MS 10000

/*
 * An idle CPU for @p, as close to @prev_cpu as the kernel's topology-aware
 * search finds one (SMT, LLC, node), or a negative value.
 */
static __always_inline s32 pick_idle(struct task_struct *p, s32 prev_cpu, u64 wake_flags,
				     bool in_select)
{
	if (!__COMPAT_HAS_scx_bpf_select_cpu_and) {
		bool idle = false;
		s32 cpu;

		/* Before 6.17 the search is available only where the kernel asks for a CPU. */
		if (!in_select)
			return scx_bpf_pick_idle_cpu(p->cpus_ptr, 0);
		cpu = scx_bpf_select_cpu_dfl(p, prev_cpu, wake_flags, &idle);
		return idle ? cpu : -EBUSY;
	}
	return scx_bpf_select_cpu_and(p, prev_cpu, wake_flags, p->cpus_ptr, 0);
}

/*
 * @p is runnable again: it joins the queue of its CPU's node, and if it slept,
 * the sleep is over. This is all that ops.runnable would do; the operations
 * that follow it do it, since each operation costs a trampoline and a lookup.
 */
EK_ONCE int join_again(struct task_ctx *tctx __arg_nonnull, u32 weight, s32 cpu)
{
	join_node(tctx, node_of_cpu(cpu));
	count_runnable(tctx, weight);
	if (!tctx->asleep)
		return 0;
	tctx->asleep = 0;
	tctx->v = ek_clamp_wakeup(order_config(), tctx->v, node_at(tctx->node)->v);
	wake_model(tctx);
	return 0;
}

static __always_inline void wake_up(struct task_struct *p, struct task_ctx *tctx, s32 cpu)
{
	if (!tctx->weight)
		join_again(tctx, p->scx.weight, cpu);
}

/* Whether anybody waits for @cpu, in its own queue or in that of its node. */
static __always_inline bool anyone_waits(s32 cpu, struct cpu_ctx *cctx)
{
	return READ_ONCE(cctx->waiting) > 0 || READ_ONCE(node_at(node_of_cpu(cpu))->waiting) > 0;
}

/* Whether a waker that says it is about to sleep may hand its CPU to @p. */
static __always_inline bool may_hand_over(const struct task_struct *p, s32 cpu,
					  struct cpu_ctx *cctx, u64 wake_flags)
{
	if (!(wake_flags & SCX_WAKE_SYNC) || !READ_ONCE(cctx->run_start))
		return false;
	/* Nobody may be overtaken by the hand-over, in our queues or on the CPU. */
	return bpf_cpumask_test_cpu(cpu, p->cpus_ptr) && !anyone_waits(cpu, cctx) &&
	       !scx_bpf_dsq_nr_queued(SCX_DSQ_LOCAL_ON | cpu);
}

s32 BPF_STRUCT_OPS(evenkeel_select_cpu, struct task_struct *p, s32 prev_cpu, u64 wake_flags)
{
	s32 this = bpf_get_smp_processor_id();
	struct cpu_ctx *cctx = this_cpu();
	struct task_ctx *tctx;
	u64 now;
	s32 cpu;

	if (!bpf_cpumask_test_cpu(prev_cpu, p->cpus_ptr))
		prev_cpu = bpf_cpumask_test_cpu(this, p->cpus_ptr) ?
				   this : bpf_cpumask_first(p->cpus_ptr);

	/* The hand-over is ours: the kernel's would not tell us that the CPU is not idle. */
	cpu = pick_idle(p, prev_cpu, wake_flags & ~SCX_WAKE_SYNC, true);
	if (cpu >= 0) {
		tctx = task_of(p);
		if (tctx)
			wake_up(p, tctx, cpu);
		scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL, order.slice_alone_ns, 0);
		COUNT(cctx, direct_dispatches);
		return cpu;
	}
	if (may_hand_over(p, this, cctx, wake_flags)) {
		tctx = task_of(p);
		if (tctx)
			wake_up(p, tctx, this);
		scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL, order.slice_alone_ns, 0);
		now = scx_bpf_now();
		cut_slice(this, cctx, now, now + order.slice_min_ns,
			  ends_soon(cctx->confident, cctx->q90_ns, cctx->attained));
		COUNT(cctx, sync_dispatches);
		return this;
	}
	return prev_cpu;
}

/* Put @p on the idle CPU @cpu. */
static __always_inline void dispatch_idle(struct task_struct *p, s32 cpu, u64 enq_flags)
{
	scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL_ON | cpu, order.slice_alone_ns, enq_flags);
	scx_bpf_kick_cpu(cpu, SCX_KICK_IDLE);
	COUNT(this_cpu(), direct_dispatches);
}

/*
 * Where @p waits. One that no other CPU could pull, and that nobody has to be
 * compared with, is as good as next on its CPU: no queue has to be sorted.
 */
static __always_inline u32 choose_queue(s32 cpu, struct cpu_ctx *cctx, bool pinned, bool running)
{
	if ((pinned || nr_cpu_ids == 1) && !running && !anyone_waits(cpu, cctx) &&
	    !scx_bpf_dsq_nr_queued(SCX_DSQ_LOCAL_ON | cpu))
		return EK_QUEUE_LOCAL;
	return pinned ? EK_QUEUE_CPU : EK_QUEUE_NODE;
}

/* Place @tctx's account within its bounds on the clock, and its key after it. */
EK_ONCE int place(struct task_ctx *tctx __arg_nonnull, u32 weight)
{
	struct node_ctx *node = node_at(tctx->node);

	/*
	 * What a clock shared by CPUs cannot give every task, because of its
	 * affinity or a weight beyond a CPU, is neither owed nor held against it
	 * for ever: in both directions the lag ends at (R + L) of service.
	 */
	tctx->v = ek_clamp_debt(order_config(), tctx->v, node->v, weight);
	tctx->v = ek_max(tctx->v, ek_sub(node->v, ek_charge(order.rank_max_ns + order.lag_ns,
							    weight)));
	tctx->key = ek_key(tctx->v, tctx->rank, weight);
	tctx->enq_v = node->v;
	tctx->enq_w = node->weight;
	return 0;
}

/* Queue @p under its key and tell a CPU that it waits. */
static __always_inline void wait_in_queue(struct task_struct *p, struct task_ctx *tctx, s32 cpu,
					  struct cpu_ctx *cctx, bool pinned, u64 enq_flags)
{
	bool running = scx_bpf_task_running(p);
	u32 queue = choose_queue(cpu, cctx, pinned, running);

	need_estimate(tctx);
	note_overrun(tctx);
	/*
	 * What the running task wakes by its own work has to wait like the
	 * unpredictable: going first would cut a producer's batch into pieces.
	 */
	if (!running && wakes_by_itself(cpu))
		tctx->rank = ek_max(tctx->rank, order.fixed_slice_ns);
	place(tctx, p->scx.weight);
	tctx->enq_at = scx_bpf_now();
	count_waiting(tctx, queue, cpu);
	COUNT(this_cpu(), enqueued);
	if (queue == EK_QUEUE_LOCAL) {
		scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL, order.slice_alone_ns, enq_flags);
	} else if (queue == EK_QUEUE_CPU) {
		COUNT(this_cpu(), pinned);
		scx_bpf_dsq_insert_vtime(p, cpu_dsq(cpu), order.slice_max_ns, tctx->key,
					 enq_flags);
	} else {
		scx_bpf_dsq_insert_vtime(p, node_dsq(tctx->node), order.slice_max_ns, tctx->key,
					 enq_flags);
	}
	/* A task that just used up its slice needs no announcement: its CPU picks next. */
	if (!running)
		announce(p, tctx, cpu, cctx, queue != EK_QUEUE_NODE);
}

void BPF_STRUCT_OPS(evenkeel_enqueue, struct task_struct *p, u64 enq_flags)
{
	s32 cpu = scx_bpf_task_cpu(p);
	struct cpu_ctx *cctx = cpu_of(cpu);
	struct task_ctx *tctx = task_of(p);
	bool pinned;
	s32 idle;

	if (!tctx || !cctx) {
		scx_bpf_dsq_insert(p, SCX_DSQ_GLOBAL, order.fixed_slice_ns, enq_flags);
		COUNT(this_cpu(), fallbacks);
		return;
	}
	if (enq_flags & SCX_ENQ_REENQ)
		COUNT(this_cpu(), reenqueued);
	wake_up(p, tctx, cpu);
	join_node(tctx, node_of_cpu(cpu));
	count_served(tctx);

	/*
	 * A per-CPU kernel thread does work that the kernel waits for, ours
	 * included (timers in ksoftirqd): it goes next. One that hogs its CPU
	 * has to queue like everyone.
	 */
	if (is_percpu_kthread(p) && tctx->burst_ns < order.slice_max_ns) {
		if (READ_ONCE(cctx->run_start) && !cctx->kthread)
			enq_flags |= SCX_ENQ_PREEMPT;
		scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL, order.slice_max_ns, enq_flags);
		COUNT(this_cpu(), kthread_dispatches);
		return;
	}

	pinned = is_pinned(p);
	if (!__COMPAT_is_enq_cpu_selected(enq_flags)) {
		if (pinned)
			idle = scx_bpf_test_and_clear_cpu_idle(cpu) ? cpu : -EBUSY;
		else
			idle = pick_idle(p, cpu, 0, false);
		if (idle >= 0) {
			dispatch_idle(p, idle, enq_flags);
			return;
		}
	}
	wait_in_queue(p, tctx, cpu, cctx, pinned, enq_flags);
}

/* What a waker on another CPU needs to know of the task that runs here. */
static __always_inline void note_running(const struct task_struct *p, const struct task_ctx *tctx,
					 struct cpu_ctx *cctx, u64 now)
{
	cctx->v = tctx->v;
	cctx->rank = tctx->rank ? tctx->rank : order.fixed_slice_ns;
	cctx->attained = tctx->burst_ns;
	cctx->estimate_ns = tctx->estimate_ns;
	cctx->q90_ns = tctx->q90_ns;
	cctx->confident = tctx->confident;
	cctx->weight = p->scx.weight;
	cctx->kthread = is_percpu_kthread(p);
	WRITE_ONCE(cctx->run_start, now);
}

/* @prev's slice is over and it still wants to run: whether nobody has a better key. */
static __always_inline bool keeps_cpu(struct task_struct *prev, struct task_ctx *tctx,
				      struct cpu_ctx *cctx, u64 best_key)
{
	need_estimate(tctx);
	note_overrun(tctx);
	return ek_key(tctx->v, tctx->rank, prev->scx.weight) <= best_key;
}

static __always_inline void refill(struct task_struct *prev, struct task_ctx *tctx, s32 cpu,
				   struct cpu_ctx *cctx)
{
	u64 now = scx_bpf_now();

	if (!tctx) {
		scx_bpf_task_set_slice(prev, order.fixed_slice_ns);
		return;
	}
	begin_slice(prev, tctx, cpu, cctx, now);
	note_running(prev, tctx, cctx, now);
	COUNT(cctx, refills);
}

/* Pull from the queues of other nodes, so that no CPU idles while someone waits. */
static __always_inline bool pull_from_afar(u32 node)
{
	u32 i;

	if (nr_nodes <= 1)
		return false;
	bpf_for(i, 1, nr_nodes) {
		if (i >= EK_MAX_NODES)
			break;
		if (scx_bpf_dsq_move_to_local(node_dsq((node + i) % nr_nodes), 0))
			return true;
	}
	return false;
}

void BPF_STRUCT_OPS(evenkeel_dispatch, s32 cpu, struct task_struct *prev)
{
	struct cpu_ctx *cctx = cpu_of(cpu);
	u32 node = node_of_cpu(cpu);
	struct node_ctx *nctx = node_at(node);
	struct task_struct *own = NULL, *shared;
	struct task_ctx *tctx = NULL;
	u64 own_key = ~0ULL, shared_key = ~0ULL, best_key;

	if (!cctx)
		return;
	if (READ_ONCE(cctx->waiting) > 0) {
		own = __COMPAT_scx_bpf_dsq_peek(cpu_dsq(cpu));
		if (own)
			own_key = own->scx.dsq_vtime;
	}
	if (prev && !(prev->scx.flags & SCX_TASK_QUEUED))
		prev = NULL;
	if (prev) {
		tctx = task_of(prev);
		if (tctx)
			cctx->busy_ns += charge(prev, tctx);
	}
	if ((own || prev) && READ_ONCE(nctx->waiting) > 0) {
		shared = __COMPAT_scx_bpf_dsq_peek(node_dsq(node));
		if (shared)
			shared_key = shared->scx.dsq_vtime;
	}
	best_key = ek_min(own_key, shared_key);
	if (tctx && best_key != ~0ULL && keeps_cpu(prev, tctx, cctx, best_key))
		goto keep;
	if (rescue(cpu, cctx, node))
		return;
	if (own && own_key < shared_key && scx_bpf_dsq_move_to_local(cpu_dsq(cpu), 0))
		return;
	if (READ_ONCE(nctx->waiting) > 0 && scx_bpf_dsq_move_to_local(node_dsq(node), 0))
		return;
	if (own && scx_bpf_dsq_move_to_local(cpu_dsq(cpu), 0))
		return;
	if (pull_from_afar(node))
		return;
keep:
	if (prev)
		refill(prev, tctx, cpu, cctx);
}

void BPF_STRUCT_OPS(evenkeel_running, struct task_struct *p)
{
	struct task_ctx *tctx = task_of(p);
	s32 cpu = scx_bpf_task_cpu(p);
	struct cpu_ctx *cctx = cpu_of(cpu);
	u64 now = scx_bpf_now();

	if (!cctx)
		return;
	COUNT(cctx, running);
	if (!tctx) {
		WRITE_ONCE(cctx->run_start, 0);
		COUNT(cctx, fallbacks);
		return;
	}
	wake_up(p, tctx, cpu);
	/* A task may take another name at any time. */
	tctx->learned = is_learnable(p);
	if (tctx->queue) {
		end_wait(tctx, cctx, now);
		count_served(tctx);
	}
	join_node(tctx, node_of_cpu(cpu));
	tctx->charged = p->se.sum_exec_runtime;
	begin_slice(p, tctx, cpu, cctx, now);
	note_running(p, tctx, cctx, now);
}

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

/*
 * The scheduler's tick, every 4 ms at HZ=250: the slices that have no timer,
 * because their task was to sleep soon or because none could be started.
 */
void BPF_STRUCT_OPS(evenkeel_tick, struct task_struct *p)
{
	struct cpu_ctx *cctx = this_cpu();
	u64 end = READ_ONCE(cctx->slice_end);

	learn_hardirq_mask();
	if (end && scx_bpf_now() >= end)
		scx_bpf_task_set_slice(p, 0);
}

void BPF_STRUCT_OPS(evenkeel_stopping, struct task_struct *p, bool runnable)
{
	struct task_ctx *tctx = task_of(p);
	s32 cpu = scx_bpf_task_cpu(p);
	struct cpu_ctx *cctx = cpu_of(cpu);
	u64 now = scx_bpf_now();

	if (!cctx)
		return;
	if (tctx) {
		u64 attained = cctx->attained;

		cctx->busy_ns += charge(p, tctx);
		if (trace_on)
			trace_stretch(p, tctx, cpu, cctx, tctx->burst_ns - attained, runnable);
	}
	if (runnable && cctx->company)
		note_lateness(cctx, now);
	WRITE_ONCE(cctx->run_start, 0);
	WRITE_ONCE(cctx->slice_end, 0);
	hint_frequency(cpu, cctx, now);
}

void BPF_STRUCT_OPS(evenkeel_quiescent, struct task_struct *p, u64 deq_flags)
{
	struct task_ctx *tctx = task_of(p);

	if (!tctx)
		return;
	count_asleep(tctx);
	count_served(tctx);
	/* A renice or an affinity change takes the task off its queue too, but it did not sleep. */
	if (!(deq_flags & SCX_DEQ_SLEEP))
		return;
	tctx->asleep = 1;
	close_label(tctx, this_cpu());
}

bool BPF_STRUCT_OPS(evenkeel_yield, struct task_struct *from, struct task_struct *to)
{
	struct task_ctx *tctx;

	if (to)
		return false;
	/* It lets the others go first: until it sleeps it ranks as the longest burst. */
	tctx = task_of(from);
	if (tctx)
		tctx->rank = order.rank_max_ns;
	scx_bpf_task_set_slice(from, 0);
	COUNT(this_cpu(), yields);
	return false;
}

void BPF_STRUCT_OPS(evenkeel_set_weight, struct task_struct *p, u32 weight)
{
	struct task_ctx *tctx = task_of(p);

	if (!tctx || !tctx->weight)
		return;
	__sync_fetch_and_add(&node_at(tctx->node)->weight, (u64)weight - tctx->weight);
	tctx->weight = weight;
}

void BPF_STRUCT_OPS(evenkeel_cpu_release, s32 cpu, struct scx_cpu_release_args *args)
{
	/* A higher class took the CPU: what waited for it may find another. */
	scx_bpf_reenqueue_local();
}

/*
 * Hotplug. That these exist keeps the kernel from ending the scheduler when a
 * CPU comes or goes; the queues of a CPU that left are emptied by the kernel,
 * which moves its tasks and enqueues them anew.
 */
void BPF_STRUCT_OPS(evenkeel_cpu_online, s32 cpu)
{
	COUNT(this_cpu(), cpu_online);
}

void BPF_STRUCT_OPS(evenkeel_cpu_offline, s32 cpu)
{
	struct cpu_ctx *cctx = cpu_of(cpu);

	COUNT(this_cpu(), cpu_offline);
	if (cctx) {
		WRITE_ONCE(cctx->run_start, 0);
		WRITE_ONCE(cctx->slice_end, 0);
	}
}

s32 BPF_STRUCT_OPS(evenkeel_init_task, struct task_struct *p, struct scx_init_task_args *args)
{
	struct task_ctx *tctx, *parent;

	tctx = bpf_task_storage_get(&ek_tasks, p, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!tctx)
		return -ENOMEM;
	tctx->learned = is_learnable(p);
	if (args->fork && training()) {
		parent = task_of(bpf_get_current_task_btf());
		if (parent)
			ek_model_inherit(&tctx->model, &parent->model);
	}
	return 0;
}

void BPF_STRUCT_OPS(evenkeel_enable, struct task_struct *p)
{
	struct task_ctx *tctx = task_of(p);

	if (!tctx)
		return;
	/* Coming from another class it owes and is owed nothing here. */
	tctx->started = 0;
	tctx->asleep = 0;
	tctx->burst_ns = 0;
	tctx->rank = 0;
	tctx->charged = p->se.sum_exec_runtime;
}

void BPF_STRUCT_OPS(evenkeel_dump_task, struct scx_dump_ctx *dctx, struct task_struct *p)
{
	struct task_ctx *tctx = task_of(p);

	if (!tctx)
		return;
	scx_bpf_dump("evenkeel: v=%llu key=%llu rank=%llu estimate=%llu burst=%llu slice=%llu",
		     tctx->v, tctx->key, tctx->rank, tctx->estimate_ns, tctx->burst_ns,
		     tctx->slice_ns);
}

void BPF_STRUCT_OPS(evenkeel_dump_cpu, struct scx_dump_ctx *dctx, s32 cpu, bool idle)
{
	struct cpu_ctx *cctx = cpu_of(cpu);

	if (!cctx || idle)
		return;
	scx_bpf_dump("evenkeel: run_start=%llu slice_end=%llu armed_until=%llu company=%u",
		     cctx->run_start, cctx->slice_end, cctx->armed_until, cctx->company);
}

static int create_queues(void)
{
	s32 err;
	u32 i;

	bpf_for(i, 0, nr_cpu_ids) {
		err = scx_bpf_create_dsq(cpu_dsq(i), -1);
		if (err)
			return err;
	}
	bpf_for(i, 0, nr_nodes) {
		err = scx_bpf_create_dsq(node_dsq(i), -1);
		if (err)
			return err;
	}
	return 0;
}

static int create_timers(void)
{
	u32 i;

	bpf_for(i, 0, nr_cpu_ids) {
		u32 key = i;
		struct slice_timer *st = bpf_map_lookup_elem(&slice_timers, &key);

		if (!st)
			return -ENOENT;
		bpf_timer_init(&st->timer, &slice_timers, CLOCK_MONOTONIC);
		bpf_timer_set_callback(&st->timer, slice_timer_fired);
	}
	return 0;
}

s32 BPF_STRUCT_OPS_SLEEPABLE(evenkeel_init)
{
	s32 err;
	u32 i;

	bpf_for(i, 0, EK_MAX_NODES)
		nodes[i & (EK_MAX_NODES - 1)].v = EK_V_START;
	err = create_queues();
	if (err)
		return err;
	return create_timers();
}

void BPF_STRUCT_OPS(evenkeel_exit, struct scx_exit_info *ei)
{
	UEI_RECORD(uei, ei);
}

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

SCX_OPS_DEFINE(evenkeel_ops,
	       .select_cpu = (void *)evenkeel_select_cpu,
	       .enqueue = (void *)evenkeel_enqueue,
	       .dispatch = (void *)evenkeel_dispatch,
	       .running = (void *)evenkeel_running,
	       .tick = (void *)evenkeel_tick,
	       .stopping = (void *)evenkeel_stopping,
	       .quiescent = (void *)evenkeel_quiescent,
	       .yield = (void *)evenkeel_yield,
	       .set_weight = (void *)evenkeel_set_weight,
	       .cpu_release = (void *)evenkeel_cpu_release,
	       .cpu_online = (void *)evenkeel_cpu_online,
	       .cpu_offline = (void *)evenkeel_cpu_offline,
	       .init_task = (void *)evenkeel_init_task,
	       .enable = (void *)evenkeel_enable,
	       .dump_task = (void *)evenkeel_dump_task,
	       .dump_cpu = (void *)evenkeel_dump_cpu,
	       .init = (void *)evenkeel_init,
	       .exit = (void *)evenkeel_exit,
	       .timeout_ms = EK_WATCHDOG_MS,
	       .name = "evenkeel");
