// SPDX-License-Identifier: GPL-2.0-only
//! The loop of a run: answers, summaries, and the signs of an end.

use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, never, select, unbounded};
use evenkeel_scheduler::{Running, Statistics};

use super::Job;
use super::ending::Ending;
use super::trace_file::TraceFile;
use super::voice::Voice;
use crate::args::Fault;
use crate::failure::Failure;
use crate::output;
use crate::statistics::Server;

/// How often the kernel's verdict and standard output are looked at. The look is two loads and a poll(2).
const GLANCE: Duration = Duration::from_millis(500);
/// As often as the ring buffer of the trace must be emptied.
const TRACE_GLANCE: Duration = Duration::from_millis(50);

/// Where messages come from and go to.
pub struct Links<'a> {
    signals: &'a Receiver<&'static str>,
    requests: Receiver<()>,
    answers: Sender<Statistics>,
}

impl<'a> Links<'a> {
    pub fn new(signals: &'a Receiver<&'static str>, server: Option<&Server>) -> Self {
        let (answers, requests) =
            server.map_or_else(|| (unbounded().0, never()), |server| server.channels());
        Self {
            signals,
            requests,
            answers,
        }
    }
}

/// A repeated event and the counters at its last time.
struct Beat {
    every: Duration,
    last: Instant,
    before: Statistics,
}

impl Beat {
    fn new(every: Duration, now: Instant) -> Self {
        Self {
            every,
            last: now,
            before: Statistics::default(),
        }
    }

    /// The period and what changed in it, if it is over. A late beat does not hurry the next.
    fn take(
        &mut self,
        now: Instant,
        counters: impl FnOnce() -> Statistics,
    ) -> Option<(Duration, Statistics)> {
        let period = now - self.last;
        if period < self.every {
            return None;
        }
        let counted = counters();
        let change = counted.since(&self.before);
        self.before = counted;
        self.last = now;
        Some((period, change))
    }

    fn left(&self, now: Instant) -> Duration {
        self.every.saturating_sub(now - self.last)
    }
}

/// A run in progress.
pub struct Watch<'a> {
    job: &'a Job,
    begun: Instant,
    interval: Beat,
    stats: Option<Beat>,
}

impl<'a> Watch<'a> {
    /// `begun` is when the first attachment was ready: a restart does not prolong the run.
    pub fn new(job: &'a Job, begun: Instant) -> Self {
        let now = Instant::now();
        let stats = job.stats.map(|every| Beat::new(every, now));
        Self {
            job,
            begun,
            interval: Beat::new(job.interval, now),
            stats,
        }
    }

    /// Watches until something ends the run.
    ///
    /// # Errors
    /// Status 1 if the trace that was asked for cannot be written.
    pub fn until_the_end(
        mut self,
        running: &Running<'_>,
        links: &Links<'_>,
        voice: &mut Voice,
        trace: &mut Option<TraceFile>,
    ) -> Result<Ending, Failure> {
        let ring = trace.as_ref().map(|_| running.trace()).transpose()?;
        loop {
            let ending = self.sign_of_an_end(running, voice).or_else(|| {
                self.tell(running, voice);
                self.wait(running, links)
            });
            if let (Some(file), Some(ring)) = (trace.as_mut(), &ring) {
                file.add(&ring.take(Duration::ZERO)?)?;
                if ending.is_some() {
                    file.finish(running.statistics().trace_lost)?;
                }
            }
            if let Some(ending) = ending {
                return Ok(ending);
            }
        }
    }

    /// Sleeps until something needs doing, answers who asks, and hears signals.
    fn wait(&self, running: &Running<'_>, links: &Links<'_>) -> Option<Ending> {
        select! {
            recv(links.signals) -> name => Some(Ending::Signal(name.unwrap_or("a signal"))),
            recv(links.requests) -> request => {
                if request.is_ok() {
                    // Who no longer waits for the answer does without.
                    let _ = links.answers.send(running.statistics());
                }
                None
            }
            default(self.nap()) => None,
        }
    }

    fn sign_of_an_end(&self, running: &Running<'_>, voice: &Voice) -> Option<Ending> {
        if let Some(exit) = running.exit() {
            return Some(Ending::Kernel(exit));
        }
        if voice.closed || output::is_closed() {
            return Some(Ending::StdoutClosed);
        }
        let lasted = self.begun.elapsed();
        if let Some(Fault::Panic(after)) = self.job.inject
            && lasted >= after
        {
            panic!("injected fault");
        }
        let bounded = !self.job.duration.is_zero();
        (bounded && lasted >= self.job.duration).then_some(Ending::DurationOver)
    }

    fn tell(&mut self, running: &Running<'_>, voice: &mut Voice) {
        let now = Instant::now();
        if let Some((period, change)) = self.interval.take(now, || running.statistics()) {
            voice.interval(period, &change);
        }
        let stats = self
            .stats
            .as_mut()
            .and_then(|beat| beat.take(now, || running.statistics()));
        if let Some((period, change)) = stats {
            voice.stats(period, &change);
        }
    }

    /// How long nothing needs doing.
    fn nap(&self) -> Duration {
        let now = Instant::now();
        let glance = if self.job.trace.is_some() {
            TRACE_GLANCE
        } else {
            GLANCE
        };
        let mut nap = glance.min(self.interval.left(now));
        if let Some(stats) = &self.stats {
            nap = nap.min(stats.left(now));
        }
        if !self.job.duration.is_zero() {
            nap = nap.min(self.job.duration.saturating_sub(now - self.begun));
        }
        nap
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beat_gives_what_changed_since_the_last_one() {
        let start = Instant::now();
        let second = Duration::from_secs(1);
        let count = |running| {
            move || Statistics {
                running,
                ..Statistics::default()
            }
        };
        let mut beat = Beat::new(second, start);
        assert_eq!(beat.take(start + second / 2, count(1)), None);
        let (period, change) = beat.take(start + second, count(5)).unwrap();
        assert_eq!((period, change.running), (second, 5));
        assert_eq!(
            beat.take(start + second * 3, count(12)).unwrap().1.running,
            7
        );
        assert_eq!(beat.left(start + second * 3), second);
    }
}
