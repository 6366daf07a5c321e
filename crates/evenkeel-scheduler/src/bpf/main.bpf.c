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
#include "idle.bpf.h"
#include "queue.bpf.h"
#include "pick.bpf.h"
#include "power.bpf.h"
#include "setup.bpf.h"
#include "hooks.bpf.h"

/* A task that waits longer than this makes the kernel end the scheduler. */
#define EK_WATCHDOG_MS 10000

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
