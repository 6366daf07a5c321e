// SPDX-License-Identifier: GPL-2.0-only
//! The scheduler's counters since it was attached, summed over CPUs.

use scx_stats_derive::{Stats, stat_doc};
use serde::{Deserialize, Serialize};

use crate::skeleton::types;

/// Counters since attach. Times are in nanoseconds unless the name says otherwise.
#[stat_doc]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Stats)]
#[stat(top)]
pub struct Statistics {
    #[stat(desc = "Mode: online, shadow or fixed")]
    pub mode: String,
    #[stat(desc = "Tasks that had to wait in a queue")]
    pub enqueued: u64,
    #[stat(desc = "Wakeups put straight on an idle CPU")]
    pub direct_dispatches: u64,
    #[stat(desc = "Wakeups handed over by a waker about to sleep")]
    pub sync_dispatches: u64,
    #[stat(desc = "Per-CPU kernel threads put at once on their CPU")]
    pub kthread_dispatches: u64,
    #[stat(desc = "Waiters that only one CPU may run")]
    pub pinned: u64,
    #[stat(desc = "Times a task got a CPU")]
    pub running: u64,
    #[stat(desc = "Slices renewed because nobody better waited")]
    pub refills: u64,
    #[stat(desc = "Wakeup preemptions")]
    pub preemptions: u64,
    #[stat(desc = "Slices ended by the timer")]
    pub timer_kicks: u64,
    #[stat(desc = "Running slices cut because a waiter came")]
    pub slice_shrinks: u64,
    #[stat(desc = "Calls of sched_yield")]
    pub yields: u64,
    #[stat(desc = "Tasks queued again because a higher class took their CPU")]
    pub reenqueued: u64,
    #[stat(desc = "Waiters moved ahead because of their age")]
    pub rescues: u64,
    #[stat(desc = "Bursts that outran their rank")]
    pub overruns: u64,
    #[stat(desc = "Times the scheduler degraded and went on: no task record, no timer")]
    pub fallbacks: u64,
    #[stat(desc = "Bursts not learned because their length was not credible")]
    pub label_discarded: u64,
    #[stat(desc = "Bursts closed by a voluntary sleep")]
    pub bursts: u64,
    #[stat(desc = "Bursts that had a prediction after warm-up")]
    pub scored: u64,
    #[stat(desc = "Sum of |log2(predicted/actual)| x 1024 over the scored bursts")]
    pub log_error_sum_q10: u64,
    #[stat(desc = "Sum of |predicted - actual| over the scored bursts (ns)")]
    pub abs_error_sum_ns: u64,
    #[stat(desc = "Sum of the scored bursts (ns)")]
    pub burst_sum_ns: u64,
    #[stat(desc = "Sum of the predictions of the scored bursts (ns)")]
    pub estimate_sum_ns: u64,
    #[stat(desc = "Slices assigned while someone waited")]
    pub slices_company: u64,
    #[stat(desc = "Shortest slice assigned while someone waited (ns)")]
    pub slice_company_min_ns: u64,
    #[stat(desc = "Longest slice assigned while someone waited (ns)")]
    pub slice_company_max_ns: u64,
    #[stat(desc = "Slices assigned while nobody waited")]
    pub slices_alone: u64,
    #[stat(desc = "Longest slice assigned while nobody waited (ns)")]
    pub slice_alone_max_ns: u64,
    #[stat(desc = "Longest wait in a queue (ns)")]
    pub wait_max_ns: u64,
    #[stat(desc = "The bound that applied to the longest wait (ns)")]
    pub wait_max_bound_ns: u64,
    #[stat(desc = "Waits that exceeded their bound")]
    pub wait_over_bound: u64,
    #[stat(desc = "CPUs that came online")]
    pub cpu_online: u64,
    #[stat(desc = "CPUs that went offline")]
    pub cpu_offline: u64,
    #[stat(desc = "Decision trace records lost")]
    pub trace_lost: u64,
    #[stat(
        desc = "How late slices ended in company: counts in steps of 50 us, the last one for all later"
    )]
    pub slice_late_us: Vec<u64>,
}

/// Applies a list of fields to a macro: those that are summed over CPUs.
macro_rules! for_each_sum {
    ($apply:ident, $a:expr, $b:expr) => {
        $apply!(
            $a,
            $b,
            enqueued,
            direct_dispatches,
            sync_dispatches,
            kthread_dispatches,
            pinned,
            running,
            refills,
            preemptions,
            timer_kicks,
            slice_shrinks,
            yields,
            reenqueued,
            rescues,
            overruns,
            fallbacks,
            label_discarded,
            bursts,
            scored,
            log_error_sum_q10,
            abs_error_sum_ns,
            burst_sum_ns,
            estimate_sum_ns,
            slices_company,
            slices_alone,
            wait_over_bound,
            cpu_online,
            cpu_offline
        )
    };
}

macro_rules! add {
    ($a:expr, $b:expr, $($field:ident),*) => { $( $a.$field += $b.$field; )* };
}

macro_rules! subtract {
    ($a:expr, $b:expr, $($field:ident),*) => {
        $( $a.$field = $a.$field.saturating_sub($b.$field); )*
    };
}

impl Statistics {
    /// Adds one CPU's counters.
    pub(crate) fn add_cpu(&mut self, cpu: &types::ek_counters) {
        for_each_sum!(add, self, cpu);
        if cpu.slice_company_min_ns > 0
            && (self.slice_company_min_ns == 0
                || cpu.slice_company_min_ns < self.slice_company_min_ns)
        {
            self.slice_company_min_ns = cpu.slice_company_min_ns;
        }
        self.slice_company_max_ns = self.slice_company_max_ns.max(cpu.slice_company_max_ns);
        self.slice_alone_max_ns = self.slice_alone_max_ns.max(cpu.slice_alone_max_ns);
        if cpu.wait_max_ns > self.wait_max_ns {
            self.wait_max_ns = cpu.wait_max_ns;
            self.wait_max_bound_ns = cpu.wait_max_bound_ns;
        }
        self.slice_late_us.resize(cpu.slice_late_us.len(), 0);
        for (sum, count) in self.slice_late_us.iter_mut().zip(cpu.slice_late_us) {
            *sum += count;
        }
    }

    /// What happened since `earlier`. Extremes (shortest, longest) stay those since attach.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let mut delta = self.clone();
        for_each_sum!(subtract, delta, earlier);
        for (now, then) in delta.slice_late_us.iter_mut().zip(&earlier.slice_late_us) {
            *now = now.saturating_sub(*then);
        }
        delta
    }

    /// Mean absolute error of the predictions in log2 units: 1.0 is a factor of two. None while
    /// nothing has been scored.
    pub fn mean_log2_error(&self) -> Option<f64> {
        (self.scored > 0).then(|| self.log_error_sum_q10 as f64 / 1024.0 / self.scored as f64)
    }

    /// Mean absolute error of the predictions in microseconds.
    pub fn mean_error_us(&self) -> Option<f64> {
        (self.scored > 0).then(|| self.abs_error_sum_ns as f64 / 1000.0 / self.scored as f64)
    }

    /// Slices assigned, alone and in company.
    pub fn slices(&self) -> u64 {
        self.slices_company + self.slices_alone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_error_is_absent_until_something_is_scored() {
        let mut statistics = Statistics::default();
        assert_eq!(statistics.mean_log2_error(), None);
        statistics.scored = 2;
        statistics.log_error_sum_q10 = 1024;
        statistics.abs_error_sum_ns = 5000;
        assert_eq!(statistics.mean_log2_error(), Some(0.5));
        assert_eq!(statistics.mean_error_us(), Some(2.5));
    }

    #[test]
    fn a_delta_never_goes_below_zero() {
        let earlier = Statistics {
            running: 9,
            slice_late_us: vec![3],
            ..Default::default()
        };
        let now = Statistics {
            running: 4,
            slice_late_us: vec![5],
            ..Default::default()
        };
        let delta = now.since(&earlier);
        assert_eq!((delta.running, delta.slice_late_us[0]), (0, 2));
    }
}
