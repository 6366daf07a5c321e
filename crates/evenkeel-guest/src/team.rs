// SPDX-License-Identifier: GPL-2.0-only
//! Threads of a test, which end with it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::channel;
use std::thread::{self, JoinHandle, sleep};
use std::time::Duration;

use evenkeel_bench::clock::{cpu_ns_of, monotonic_ns};
use evenkeel_bench::sleeper::{Sleeper, Slept};
use evenkeel_bench::spin::Spinner;
use evenkeel_bench::thread as threads;
use threads::Class;

use crate::gauge::Gauge;

/// Where and how a thread runs.
#[derive(Debug, Clone, Default)]
pub struct Place {
    /// CPUs that it may use; empty for all.
    pub cpus: Vec<usize>,
    /// Its nice value.
    pub nice: i32,
    /// Its scheduling class; `None` for that of the test.
    pub class: Option<Class>,
}

impl Place {
    /// On one CPU, at nice 0.
    pub fn on(cpu: usize) -> Self {
        Self {
            cpus: vec![cpu],
            ..Self::default()
        }
    }

    /// The same place at another nice value.
    pub fn nice(self, nice: i32) -> Self {
        Self { nice, ..self }
    }

    /// The same place in another scheduling class.
    pub fn class(self, class: Class) -> Self {
        Self {
            class: Some(class),
            ..self
        }
    }

    fn take(&self) -> std::io::Result<()> {
        if !self.cpus.is_empty() {
            threads::set_affinity(0, &self.cpus)?;
        }
        if self.nice != 0 {
            threads::set_nice(0, self.nice)?;
        }
        self.class
            .map_or(Ok(()), |class| threads::set_class(0, class))
    }
}

/// One thread of a team.
pub struct Member<T> {
    /// Its thread id.
    pub tid: i32,
    handle: JoinHandle<T>,
}

impl<T> Member<T> {
    /// Waits for the thread to end and takes its result.
    ///
    /// # Panics
    /// When the thread did.
    pub fn join(self) -> T {
        self.handle
            .join()
            .unwrap_or_else(|payload| std::panic::resume_unwind(payload))
    }
}

/// Threads that run until the team is dropped or told to stop.
#[derive(Default)]
pub struct Team {
    stop: Arc<AtomicBool>,
    tids: Vec<i32>,
    gauges: Vec<Arc<Gauge>>,
    handles: Vec<JoinHandle<()>>,
}

impl Team {
    /// A team without threads.
    pub fn new() -> Self {
        // Calibrated here, on one thread and before anything is measured.
        let _ = Spinner::get();
        Self::default()
    }

    /// Adds a thread that spins and watches the clock. Returns its index.
    pub fn hog(&mut self, place: &Place) -> usize {
        self.watcher("hog", place, Gauge::spin)
    }

    /// Adds a thread that yields over and over. Returns its index.
    pub fn yielder(&mut self, place: &Place) -> usize {
        self.watcher("yielder", place, Gauge::yield_on)
    }

    fn watcher(&mut self, name: &str, place: &Place, run: fn(&Gauge, &AtomicBool)) -> usize {
        let gauge = Arc::new(Gauge::default());
        let seen = Arc::clone(&gauge);
        let name = format!("{name}-{}", self.gauges.len());
        let member = self.spawn(&name, place, move |stop| run(&seen, &stop));
        self.tids.push(member.tid);
        self.gauges.push(gauge);
        self.handles.push(member.handle);
        self.gauges.len() - 1
    }

    /// Adds a thread that sleeps and bursts until the team stops; its result is taken with
    /// [`Member::join`] after [`Team::stop`].
    pub fn sleeper(&mut self, place: &Place, sleeper: Sleeper) -> Member<Slept> {
        let name = sleeper.name.clone();
        self.spawn(&name, place, move |stop| {
            sleeper.run(monotonic_ns(), u64::MAX, &stop)
        })
    }

    /// Adds a thread that runs `body`, which should end soon after the flag it is given is set.
    ///
    /// # Panics
    /// When the thread cannot take its place.
    pub fn spawn<T, F>(&mut self, name: &str, place: &Place, body: F) -> Member<T>
    where
        T: Send + 'static,
        F: FnOnce(Arc<AtomicBool>) -> T + Send + 'static,
    {
        let (send, receive) = channel();
        let (place, stop, name) = (place.clone(), Arc::clone(&self.stop), name.to_owned());
        let handle = thread::spawn(move || {
            threads::set_name(&name).expect("a name without NUL");
            send.send(place.take().map(|()| threads::id()))
                .expect("the team waits");
            body(stop)
        });
        let tid = receive
            .recv()
            .expect("the thread reports")
            .expect("the place can be taken");
        Member { tid, handle }
    }

    /// The thread ids of the hogs and yielders.
    pub fn tids(&self) -> &[i32] {
        &self.tids
    }

    /// What the hogs and yielders saw.
    pub fn gauges(&self) -> &[Arc<Gauge>] {
        &self.gauges
    }

    /// Forgets what the gauges saw so far.
    pub fn reset(&self) {
        self.gauges.iter().for_each(|gauge| gauge.reset());
    }

    /// The longest gap that any hog or yielder saw.
    pub fn longest_gap(&self) -> Duration {
        let longest = self.gauges.iter().map(|gauge| gauge.longest_gap_ns()).max();
        Duration::from_nanos(longest.unwrap_or_default())
    }

    /// CPU time that each hog and yielder uses in a window of length `window`, in nanoseconds.
    pub fn cpu_times(&self, window: Duration) -> Vec<u64> {
        let read = || -> Vec<u64> {
            self.tids
                .iter()
                .map(|tid| cpu_ns_of(*tid).expect("a member lives"))
                .collect()
        };
        let before = read();
        sleep(window);
        read()
            .iter()
            .zip(before)
            .map(|(after, before)| after - before)
            .collect()
    }

    /// The share of each hog and yielder in what they all use in a window of length `window`.
    pub fn shares(&self, window: Duration) -> Vec<f64> {
        let times = self.cpu_times(window);
        let sum = times.iter().sum::<u64>().max(1) as f64;
        times.iter().map(|time| *time as f64 / sum).collect()
    }

    /// Tells every thread to end.
    pub fn stop(&self) {
        self.stop.store(true, Relaxed);
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        self.stop();
        for handle in self.handles.drain(..) {
            // A panic in a thread was printed; a second one in a drop would abort the suite.
            let _ = handle.join();
        }
    }
}
