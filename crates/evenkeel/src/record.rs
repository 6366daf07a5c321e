// SPDX-License-Identifier: GPL-2.0-only
//! What the last run left behind in `/run/evenkeel`, so that `status` can say why it ended.
//!
//! The record is a memory. What is active now is for the kernel to say.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::PathBuf;
use std::thread;

use evenkeel_scheduler::options::Mode;
use evenkeel_scheduler::probe::Machine;
use serde::{Deserialize, Serialize};

use crate::failure::Status;
use crate::process::ProcessId;
use crate::time;

const DIRECTORY: &str = "/run/evenkeel";
const RECORD: &str = "/run/evenkeel/last-run.json";
const DUMP: &str = "/run/evenkeel/exit-dump";

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// Its duration was over.
    Duration,
    /// SIGINT, SIGTERM or SIGHUP.
    Signal,
    /// The reader of its standard output went away.
    StdoutClosed,
    /// The kernel ended the scheduler.
    Kernel,
    /// The daemon panicked.
    Panic,
    /// Something else failed.
    Failure,
    /// It disappeared without a word, as SIGKILL makes it; only ever concluded, never written.
    Died,
}

/// The end of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// Seconds since 1970; `None` where nobody was left to look at the clock.
    pub ended_unix: Option<u64>,
    pub how: How,
    /// In words, on one line.
    pub why: String,
    /// The exit status it gave, if it gave one.
    pub status: Option<u8>,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastRun {
    pub version: String,
    pub mode: String,
    #[serde(flatten)]
    pub process: ProcessId,
    /// Seconds since 1970.
    pub started_unix: u64,
    pub end: Option<End>,
}

impl LastRun {
    /// Reads the record; `None` if there is none or it makes no sense.
    pub fn read(machine: &Machine) -> Option<Self> {
        // Opening anything else, such as a pipe, could wait for ever.
        if !fs::metadata(machine.path(RECORD)).ok()?.is_file() {
            return None;
        }
        serde_json::from_str(&machine.read(RECORD).ok()?).ok()
    }

    /// How it ended, or `None` while its process lives.
    pub fn end(&self, machine: &Machine) -> Option<End> {
        self.end.clone().or_else(|| {
            (!self.process.is_alive(machine)).then(|| End {
                ended_unix: None,
                how: How::Died,
                why: "the daemon died without ending its run (SIGKILL does that); the kernel \
                      returned every task to its default scheduler"
                    .to_owned(),
                status: None,
            })
        })
    }
}

/// The record of the run in progress. Dropped in a panic, it says so.
pub struct Recorder {
    machine: Machine,
    run: LastRun,
}

impl Recorder {
    /// Records that a run has begun.
    ///
    /// # Errors
    /// Those of creating the directory and writing the file.
    pub fn begin(machine: &Machine, mode: Mode) -> io::Result<Self> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o755)
            .create(machine.path(DIRECTORY))?;
        let run = LastRun {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            mode: mode.name().to_owned(),
            process: ProcessId::own(machine),
            started_unix: time::unix_now(),
            end: None,
        };
        // A dump belongs to the run that left it.
        let _ = fs::remove_file(machine.path(DUMP));
        let recorder = Self {
            machine: machine.clone(),
            run,
        };
        recorder.write()?;
        Ok(recorder)
    }

    /// Records how the run ended. The process may not live to see an error, so none is returned.
    pub fn end(&mut self, how: How, why: &str, status: Status) {
        let ended_unix = Some(time::unix_now());
        let status = Some(status.number());
        self.run.end = Some(End {
            ended_unix,
            how,
            why: why.to_owned(),
            status,
        });
        let _ = self.write();
    }

    /// Keeps the kernel's dump for whoever looks into it: root alone, because it names tasks.
    ///
    /// # Errors
    /// Those of writing the file.
    pub fn keep_dump(&self, dump: &str) -> io::Result<PathBuf> {
        let path = self.machine.path(DUMP);
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        options.open(&path)?.write_all(dump.as_bytes())?;
        Ok(path)
    }

    /// Replaces the file whole: a reader sees the old one or the new one.
    fn write(&self) -> io::Result<()> {
        let path = self.machine.path(RECORD);
        let new = path.with_extension("new");
        let mut text = serde_json::to_vec(&self.run)?;
        text.push(b'\n');
        File::create(&new)?.write_all(&text)?;
        fs::rename(new, path)
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        if self.run.end.is_none() {
            let (how, why) = if thread::panicking() {
                (
                    How::Panic,
                    "the daemon failed an internal check and gave the machine back",
                )
            } else {
                (How::Failure, "the daemon could not go on")
            };
            self.end(how, why, Status::Failure);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine() -> (tempfile::TempDir, Machine) {
        let dir = tempfile::tempdir().unwrap();
        let machine = Machine::at(dir.path());
        let own = format!("/proc/{}", std::process::id());
        fs::create_dir_all(machine.path(&own)).unwrap();
        fs::copy(format!("{own}/stat"), machine.path(&format!("{own}/stat"))).unwrap();
        (dir, machine)
    }

    #[test]
    fn a_run_in_progress_has_no_end() {
        let (_dir, machine) = machine();
        let recorder = Recorder::begin(&machine, Mode::Online).unwrap();
        let read = LastRun::read(&machine).unwrap();
        assert_eq!((read.mode.as_str(), read.end(&machine)), ("online", None));
        drop(recorder);
    }

    #[test]
    fn an_end_is_remembered_with_its_reason_and_status() {
        let (_dir, machine) = machine();
        let mut recorder = Recorder::begin(&machine, Mode::Shadow).unwrap();
        recorder.end(How::Signal, "SIGTERM", Status::Success);
        drop(recorder);
        let end = LastRun::read(&machine).unwrap().end(&machine).unwrap();
        assert_eq!(
            (end.how, end.why.as_str(), end.status),
            (How::Signal, "SIGTERM", Some(0))
        );
    }

    #[test]
    fn a_daemon_that_disappeared_is_known_to_have_died() {
        let (_dir, machine) = machine();
        std::mem::forget(Recorder::begin(&machine, Mode::Online).unwrap());
        fs::remove_dir_all(machine.path("/proc")).unwrap();
        assert_eq!(
            LastRun::read(&machine).unwrap().end(&machine).unwrap().how,
            How::Died
        );
    }

    #[test]
    fn a_panic_leaves_its_mark() {
        let (_dir, machine) = machine();
        let inner = machine.clone();
        let panicked = thread::spawn(move || {
            let _recorder = Recorder::begin(&inner, Mode::Online).unwrap();
            panic!("on purpose");
        });
        assert!(panicked.join().is_err());
        let end = LastRun::read(&machine).unwrap().end.unwrap();
        assert_eq!((end.how, end.status), (How::Panic, Some(1)));
    }

    #[test]
    fn a_corrupt_record_is_no_record() {
        let (_dir, machine) = machine();
        fs::create_dir_all(machine.path(DIRECTORY)).unwrap();
        for text in ["", "{", "[]", "{\"version\":1}"] {
            fs::write(machine.path(RECORD), text).unwrap();
            assert_eq!(LastRun::read(&machine), None, "{text}");
        }
    }

    #[test]
    fn the_next_run_discards_an_old_dump() {
        let (_dir, machine) = machine();
        let recorder = Recorder::begin(&machine, Mode::Online).unwrap();
        let path = recorder.keep_dump("names of tasks").unwrap();
        let mode = std::os::unix::fs::PermissionsExt::mode(&path.metadata().unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600);
        drop(recorder);
        drop(Recorder::begin(&machine, Mode::Online).unwrap());
        assert!(!path.exists());
    }
}
