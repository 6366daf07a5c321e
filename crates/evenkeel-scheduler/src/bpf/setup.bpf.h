/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What exists before the first task is scheduled: queues and timers.
 */
#ifndef EK_SETUP_BPF_H
#define EK_SETUP_BPF_H

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

#endif /* EK_SETUP_BPF_H */
