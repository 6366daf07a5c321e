/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is recorded of a run: waits against their bound, lateness of slice
 * ends, the decision trace and the exit dump.
 */
#ifndef EK_REPORT_BPF_H
#define EK_REPORT_BPF_H

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} ek_trace SEC(".maps");

u64 trace_lost;

/*
 * The wait of @tctx's task is over. Nobody overtakes it after the service that
 * ek_overtake_service() tells; what those before it are owed and one slice come
 * on top.
 */
static __always_inline void end_wait(struct task_ctx *tctx, struct cpu_ctx *cctx, u64 now)
{
	struct ek_counters *c = &cctx->counters;
	u64 wait = now > tctx->enq_at ? now - tctx->enq_at : 0;
	u64 weight, bound;

	/* No bound is shorter than that slice. */
	if (wait <= c->wait_max_ns && wait <= order.slice_alone_ns)
		return;
	weight = ek_max(peak_weight(node_at(tctx->node), now), tctx->enq_w);
	bound = ek_overtake_service(order_config(), tctx->key, tctx->enq_v, weight) +
		ek_owed_service(order_config(), weight) + order.slice_alone_ns;
	if (wait > c->wait_max_ns) {
		c->wait_max_ns = wait;
		c->wait_max_bound_ns = bound;
	}
	if (wait > bound)
		c->wait_over_bound++;
}

/* A task stopped against its will in company: how far past the slice's end? */
static __always_inline void note_lateness(struct cpu_ctx *cctx, u64 now)
{
	u64 end = READ_ONCE(cctx->slice_end);
	u64 bucket;

	if (!end || now + EK_TIMER_SLACK_NS < end)
		return;
	bucket = now > end ? (now - end) / EK_LATE_BUCKET_NS : 0;
	if (bucket >= EK_LATE_BUCKETS)
		bucket = EK_LATE_BUCKETS - 1;
	cctx->counters.slice_late_us[bucket]++;
}

static __always_inline void trace_stretch(const struct task_struct *p, const struct task_ctx *tctx,
					  s32 cpu, struct cpu_ctx *cctx, u64 ran, bool runnable)
{
	struct ek_trace_record *r;

	if (!tctx->learned && training())
		return;
	r = bpf_ringbuf_reserve(&ek_trace, sizeof(*r), 0);
	if (!r) {
		__sync_fetch_and_add(&trace_lost, 1);
		return;
	}
	r->seq = cctx->trace_seq++;
	r->tid = p->pid;
	r->cpu = cpu;
	r->slice_ns = tctx->slice_ns;
	r->ran_ns = ran;
	r->key = tctx->key > tctx->enq_v ? tctx->key - tctx->enq_v : 0;
	r->company = cctx->company;
	r->runnable = runnable;
	__builtin_memcpy(r->comm, p->comm, EK_COMM_LEN);
	bpf_ringbuf_submit(r, 0);
}

#endif /* EK_REPORT_BPF_H */
