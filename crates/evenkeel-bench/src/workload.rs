// SPDX-License-Identifier: GPL-2.0-only
//! The named workloads.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::{JoinHandle, spawn};
use std::time::Duration;

use clap::ValueEnum;

use crate::clock::{monotonic_ns, sleep_until};
use crate::law::{Arrivals, BurstLaw};
use crate::report::{Report, Samples, ThreadReport};
use crate::sleeper::{Sleeper, Slept};
use crate::spin::Spinner;
use crate::thread::allowed_cpus;
use crate::{hog, pipe};

/// Time given to the threads to be created before the first arrival.
const LEAD_IN_NS: u64 = 50_000_000;

/// Which workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Name {
    /// Short bursts at jittered arrivals.
    Shortburst,
    /// Short bursts beside CPU hogs.
    Mixed,
    /// Bursts that alternate between the given length and five times that.
    Alternating,
    /// CPU hogs alone.
    Hogs,
    /// Threads that yield over and over, beside CPU hogs.
    Yielders,
    /// Pairs of threads that pass a byte to and fro, beside CPU hogs.
    Pipe,
}

/// How large the workload is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Size {
    /// Length of the measured window.
    pub duration: Duration,
    /// Threads that burst or yield, or pairs that pass bytes; `None` for the workload's default.
    pub threads: Option<usize>,
    /// CPU hogs; `None` for the workload's default.
    pub hogs: Option<usize>,
    /// Mean CPU time of a burst.
    pub burst: Duration,
    /// Mean time between two intended starts of a thread.
    pub period: Duration,
    /// Seed of bursts and arrivals.
    pub seed: u64,
}

impl Name {
    /// The name as the command line takes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Shortburst => "shortburst",
            Self::Mixed => "mixed",
            Self::Alternating => "alternating",
            Self::Hogs => "hogs",
            Self::Yielders => "yielders",
            Self::Pipe => "pipe",
        }
    }

    /// Threads and hogs by default, on a machine with `cpus` CPUs.
    fn defaults(self, cpus: usize) -> (usize, usize) {
        match self {
            Self::Shortburst | Self::Alternating => (2 * cpus, 0),
            Self::Mixed => (2 * cpus, cpus),
            Self::Hogs => (0, 2 * cpus),
            Self::Yielders => (cpus, cpus),
            Self::Pipe => (1, 0),
        }
    }

    fn bursts(self, burst: Duration) -> BurstLaw {
        match self {
            Self::Alternating => BurstLaw::Alternating(burst, 5 * burst),
            _ => BurstLaw::Jittered(burst, 0.2),
        }
    }
}

/// What a thread of a workload hands back.
enum Done {
    Slept(String, Slept),
    Spun(String, hog::Spun),
    Passed(pipe::Passed),
}

/// Runs a workload to its end.
///
/// # Errors
/// When a pipe cannot be made or a thread panicked.
pub fn run(name: Name, size: &Size) -> io::Result<Report> {
    // Calibrate before the window and on one thread only.
    let _ = Spinner::get();
    let start = monotonic_ns() + LEAD_IN_NS;
    let end = start + u64::try_from(size.duration.as_nanos()).unwrap_or(u64::MAX / 2);
    let threads = start_threads(name, size, start, end);
    sleep_until(end);
    let done = threads
        .into_iter()
        .map(|thread| {
            thread
                .join()
                .map_err(|_| io::Error::other("a thread panicked"))?
        })
        .collect::<io::Result<Vec<_>>>()?;
    Ok(summarise(name, size, end - start, done))
}

fn start_threads(
    name: Name,
    size: &Size,
    start: u64,
    end: u64,
) -> Vec<JoinHandle<io::Result<Done>>> {
    let (threads, hogs) = name.defaults(allowed_cpus());
    let stop = Arc::new(AtomicBool::new(false));
    let mut started = Vec::new();
    for n in 0..size.threads.unwrap_or(threads) {
        let stop = Arc::clone(&stop);
        let label = format!("ek-{}-{n}", short(name));
        let sleeper = Sleeper {
            name: label.clone(),
            bursts: name.bursts(size.burst),
            arrivals: Arrivals {
                period: size.period,
                jitter: 0.5,
            },
            seed: size.seed.wrapping_add(n as u64),
        };
        started.push(spawn(move || match name {
            Name::Hogs => spin(hog::Kind::Spinner, label, start, end, &stop),
            Name::Yielders => spin(hog::Kind::Yielder, label, start, end, &stop),
            Name::Pipe => {
                sleep_until(start);
                pipe::run(&label, end).map(Done::Passed)
            }
            _ => Ok(Done::Slept(label, sleeper.run(start, end, &stop))),
        }));
    }
    for n in 0..size.hogs.unwrap_or(hogs) {
        let stop = Arc::clone(&stop);
        let label = format!("ek-hog-{n}");
        started.push(spawn(move || {
            spin(hog::Kind::Spinner, label, start, end, &stop)
        }));
    }
    started
}

fn spin(
    kind: hog::Kind,
    label: String,
    start: u64,
    end: u64,
    stop: &Arc<AtomicBool>,
) -> io::Result<Done> {
    sleep_until(start);
    let spun = hog::run(kind, &label, end, stop);
    Ok(Done::Spun(label, spun))
}

/// A thread's name holds 15 bytes, so the workload's is shortened.
fn short(name: Name) -> &'static str {
    match name {
        Name::Shortburst | Name::Mixed => "burst",
        Name::Alternating => "alter",
        Name::Hogs => "hog",
        Name::Yielders => "yield",
        Name::Pipe => "pipe",
    }
}

fn summarise(name: Name, size: &Size, elapsed_ns: u64, done: Vec<Done>) -> Report {
    let mut report = Report {
        workload: name.as_str().to_owned(),
        seed: size.seed,
        elapsed_ns,
        ..Report::default()
    };
    let (mut completion, mut wakeup) = (Samples::default(), Samples::default());
    for done in done {
        match done {
            Done::Slept(name, slept) => {
                let count = slept.completion.percentiles().count;
                completion.add(&slept.completion);
                wakeup.add(&slept.wakeup);
                report.missed += slept.missed;
                report.threads.push(ThreadReport {
                    name,
                    cpu_ns: slept.cpu_ns,
                    count,
                });
            }
            Done::Spun(name, spun) => {
                report.threads.push(ThreadReport {
                    name,
                    cpu_ns: spun.cpu_ns,
                    count: spun.count,
                });
            }
            Done::Passed(passed) => {
                completion.add(&passed.round_trip);
                report.threads.extend(passed.threads);
            }
        }
    }
    report.completion = completion.percentiles();
    report.wakeup = wakeup.percentiles();
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small(threads: usize, hogs: usize) -> Size {
        Size {
            duration: Duration::from_millis(100),
            threads: Some(threads),
            hogs: Some(hogs),
            burst: Duration::from_micros(200),
            period: Duration::from_millis(5),
            seed: 1,
        }
    }

    #[test]
    fn every_workload_reports_all_of_its_threads() {
        for name in Name::value_variants() {
            let report = run(*name, &small(1, 1)).unwrap();
            let ends = if *name == Name::Pipe { 2 } else { 1 };
            assert_eq!(report.threads.len(), ends + 1, "{report:?}");
            assert!(
                report.threads.iter().all(|thread| thread.count > 0),
                "{report:?}"
            );
        }
    }

    #[test]
    fn a_late_burst_is_counted_from_its_intended_start() {
        let mut size = small(1, 0);
        size.burst = Duration::from_millis(10);
        let report = run(Name::Shortburst, &size).unwrap();
        assert!(report.missed > 5, "{report:?}");
        assert!(report.completion.max_ns > 40_000_000, "{report:?}");
        assert!(report.wakeup.count <= 1, "{report:?}");
    }
}
