// SPDX-License-Identifier: GPL-2.0-only
//! A run: attach, watch, tell, detach.
//!
//! The scheduling itself is in the kernel and needs none of this: a daemon that sleeps changes
//! nothing, and one that dies gives the machine back.

mod ending;
mod health;
mod kernel_exit;
pub mod signals;
mod trace_file;
mod voice;
mod watch;

use std::mem::MaybeUninit;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use evenkeel_scheduler::options::Options;
use evenkeel_scheduler::probe::Machine;
use evenkeel_scheduler::{Exit, Opened, Running, Statistics};

use crate::args::{Fault, Pace, Scheduling};
use crate::failure::{Failure, Status, complain};
use crate::record::Recorder;
use crate::statistics::Server;
use ending::Ending;
use health::Health;
use trace_file::TraceFile;
use voice::Voice;
use watch::{Links, Watch};

/// What a run was asked to do.
#[derive(Debug)]
pub struct Job {
    pub options: Options,
    /// Zero is until stopped.
    pub duration: Duration,
    pub interval: Duration,
    pub stats: Option<Duration>,
    pub json: bool,
    /// Whether to sum up at the end.
    pub summary: bool,
    pub trace: Option<PathBuf>,
    pub inject: Option<Fault>,
}

impl Job {
    /// The job that these arguments describe.
    ///
    /// # Errors
    /// Status 2 for arguments out of range or in contradiction.
    pub fn new(scheduling: &Scheduling, pace: &Pace, duration: Duration) -> Result<Self, Failure> {
        let trace = pace.trace.clone();
        let options = Options {
            trace: trace.is_some(),
            ..scheduling.options()?
        };
        Ok(Self {
            options,
            duration,
            interval: pace.interval()?,
            stats: pace.stats,
            json: pace.json,
            summary: false,
            trace,
            inject: pace.inject,
        })
    }
}

/// How one attachment ended.
struct Ended {
    ending: Ending,
    total: Statistics,
}

/// Schedules the machine until something ends it.
///
/// # Errors
/// What prevents a start, with its status. The end of a run that did start is a status.
pub fn run(machine: &Machine, job: &Job) -> Result<Status, Failure> {
    let mut voice = Voice::new(job.json);
    let result = schedule(machine, job, &mut voice);
    if let Some(losses) = voice.losses() {
        complain(&losses);
    }
    result
}

fn schedule(machine: &Machine, job: &Job, voice: &mut Voice) -> Result<Status, Failure> {
    let mut trace = job.trace.as_deref().map(TraceFile::create).transpose()?;
    let signals = signals::watch(machine)?;
    let mut storage = MaybeUninit::uninit();
    let mut presence = None;
    loop {
        let running = Opened::open(&job.options, &mut storage)?.load()?.attach()?;
        // Only who holds the machine has a record and a socket; a restart keeps them.
        let Presence {
            recorder,
            server,
            begun,
        } = match &mut presence {
            None => presence.insert(Presence::begin(machine, job)),
            Some(kept) => kept.again(),
        };
        match health::check(machine, &running, job.options.partial) {
            Health::Good(ops) => voice.ready(&ops, job.options.mode.name()),
            Health::Ended => {}
            Health::Bad(what) => return Err(Failure::new(Status::Failure, what)),
        }
        trim_heap();
        let links = Links::new(&signals, server.as_ref());
        let watch = Watch::new(job, *begun);
        let ending = watch.until_the_end(&running, &links, voice, &mut trace)?;
        let ended = detach(running, ending);
        if let Ending::Kernel(exit) = &ended.ending
            && exit.restart
        {
            voice.restarting();
            continue;
        }
        return Ok(conclude(
            job,
            recorder.take(),
            voice,
            ended,
            begun.elapsed(),
        ));
    }
}

/// What a run shows of itself, from its first attachment to its end.
struct Presence {
    recorder: Option<Recorder>,
    server: Option<Server>,
    begun: Instant,
}

impl Presence {
    /// Neither a record nor a socket is worth a run: without them it goes on.
    fn begin(machine: &Machine, job: &Job) -> Self {
        let recorder = Recorder::begin(machine, job.options.mode)
            .map_err(|error| complain(&format!("this run cannot be recorded: {error}")))
            .ok();
        let server = Server::start(machine)
            .map_err(|error| complain(&format!("statistics cannot be served: {error}")))
            .ok();
        Self {
            recorder,
            server,
            begun: Instant::now(),
        }
    }

    /// Brings the record up to date with another attachment.
    fn again(&mut self) -> &mut Self {
        if let Some(recorder) = &mut self.recorder {
            recorder.attached();
        }
        self
    }
}

/// Returns what loading needed: parsing the kernel's types leaves megabytes of free heap behind.
fn trim_heap() {
    // SAFETY: malloc_trim(3) touches only memory that is free, and may be called at any time.
    #[cfg(target_env = "gnu")]
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Gives the machine back and takes the last counts.
fn detach(running: Running<'_>, ending: Ending) -> Ended {
    let total = running.statistics();
    let exit = running.detach();
    // The kernel may have been quicker than whoever asked for the end.
    let ending = match ending {
        Ending::Kernel(_) => ending,
        _ if exit.is_error() => Ending::Kernel(exit),
        _ => ending,
    };
    Ended { ending, total }
}

/// Tells and records the end.
fn conclude(
    job: &Job,
    recorder: Option<Recorder>,
    voice: &mut Voice,
    ended: Ended,
    lasted: Duration,
) -> Status {
    let Ended { ending, total } = ended;
    let status = ending.status(job.duration);
    let why = ending.why(lasted, job.duration);
    if status != Status::Success {
        complain(&why);
    }
    if let Ending::Kernel(exit) = &ending {
        keep_dump(job, recorder.as_ref(), exit);
    }
    voice.ended(&why, lasted, &total, job.summary);
    if let Some(mut recorder) = recorder {
        recorder.end(ending.how(), &why, status);
    }
    status
}

/// Keeps the kernel's dump, and shows it to whoever asked for more.
fn keep_dump(job: &Job, recorder: Option<&Recorder>, exit: &Exit) {
    let Some(dump) = &exit.dump else {
        return;
    };
    if job.options.verbose > 0 {
        for line in dump.lines() {
            complain(line);
        }
    }
    if let Some(Err(error)) = recorder.map(|recorder| recorder.keep_dump(dump)) {
        complain(&format!("the exit dump could not be kept: {error}"));
    }
}
