// SPDX-License-Identifier: GPL-2.0-only
//! What the last run left behind in `/run/evenkeel`, so that `status` can say why it ended.
//!
//! The record is a memory. What is active now is for the kernel to say.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::PathBuf;
use std::thread;

use evenkeel_scheduler::options::Mode;
use evenkeel_scheduler::probe::Machine;
use evenkeel_scheduler::probe::sched_ext::SchedExt;
use serde::{Deserialize, Serialize};

use crate::failure::{Status, complain};
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
    /// Schedulers attached since boot when this was written, where the kernel counts them.
    #[serde(default)]
    pub enable_seq: Option<u64>,
    pub end: Option<End>,
}

impl LastRun {
    /// Reads the record; `None` if there is none.
    ///
    /// # Errors
    /// Those of reading it, and `InvalidData` if it makes no sense.
    pub fn read(machine: &Machine) -> io::Result<Option<Self>> {
        let text = match fs::metadata(machine.path(RECORD)) {
            // Opening anything else, such as a pipe, could wait for ever.
            Ok(found) if !found.is_file() => Err(ErrorKind::InvalidData.into()),
            Ok(_) => machine.read(RECORD),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => Err(error),
        }?;
        serde_json::from_str(&text)
            .map(Some)
            .map_err(|_| ErrorKind::InvalidData.into())
    }

    /// Replaces the file whole: a reader sees the old one or the new one.
    fn write(&mut self, machine: &Machine) -> io::Result<()> {
        self.enable_seq = enable_seq(machine);
        let path = machine.path(RECORD);
        let new = path.with_extension("new");
        let mut text = serde_json::to_vec(self)?;
        text.push(b'\n');
        File::create(&new)?.write_all(&text)?;
        fs::rename(new, path)
    }

    /// How it ended, or `None` while its process lives.
    pub fn end(&self, machine: &Machine) -> Option<End> {
        self.end.clone().or_else(|| {
            (!self.process.is_alive(machine)).then(|| End {
                ended_unix: None,
                how: How::Died,
                why: "the daemon died without recording an end (SIGKILL does that, and an \
                      unwritable record looks like it); the kernel returned every task to its \
                      default scheduler"
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
        let mut run = LastRun {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            mode: mode.name().to_owned(),
            process: ProcessId::own(machine),
            started_unix: time::unix_now(),
            enable_seq: None,
            end: None,
        };
        // A dump belongs to the run that left it.
        let _ = fs::remove_file(machine.path(DUMP));
        run.write(machine)?;
        Ok(Self {
            machine: machine.clone(),
            run,
        })
    }

    /// Records the kernel's count of attachments, after another one by the same run.
    pub fn attached(&mut self) {
        self.renew("this run cannot be recorded");
    }

    /// Records how the run ended, and complains if that cannot be written.
    pub fn end(&mut self, how: How, why: &str, status: Status) {
        let ended_unix = Some(time::unix_now());
        let status = Some(status.number());
        self.run.end = Some(End {
            ended_unix,
            how,
            why: why.to_owned(),
            status,
        });
        self.renew("the end of this run cannot be recorded");
    }

    fn renew(&mut self, complaint: &str) {
        if let Err(error) = self.run.write(&self.machine) {
            complain(&format!("{complaint}: {error}"));
        }
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
}

/// Schedulers attached since boot, where the kernel counts them.
fn enable_seq(machine: &Machine) -> Option<u64> {
    SchedExt::read(machine).ok()?.enable_seq
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

    fn last_run(machine: &Machine) -> LastRun {
        LastRun::read(machine).unwrap().unwrap()
    }

    #[test]
    fn a_run_in_progress_has_no_end() {
        let (_dir, machine) = machine();
        let recorder = Recorder::begin(&machine, Mode::Online).unwrap();
        let read = last_run(&machine);
        assert_eq!((read.mode.as_str(), read.end(&machine)), ("online", None));
        drop(recorder);
    }

    #[test]
    fn an_end_is_remembered_with_its_reason_and_status() {
        let (_dir, machine) = machine();
        let mut recorder = Recorder::begin(&machine, Mode::Shadow).unwrap();
        recorder.end(How::Signal, "SIGTERM", Status::Success);
        drop(recorder);
        let end = last_run(&machine).end(&machine).unwrap();
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
        let end = last_run(&machine).end(&machine).unwrap();
        assert_eq!(end.how, How::Died);
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
        let end = last_run(&machine).end.unwrap();
        assert_eq!((end.how, end.status), (How::Panic, Some(1)));
    }

    #[test]
    fn a_record_that_makes_no_sense_is_an_error_and_a_missing_one_is_none() {
        let (_dir, machine) = machine();
        assert_eq!(LastRun::read(&machine).unwrap(), None);
        fs::create_dir_all(machine.path(DIRECTORY)).unwrap();
        for text in ["", "{", "[]", "{\"version\":1}"] {
            fs::write(machine.path(RECORD), text).unwrap();
            let error = LastRun::read(&machine).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidData, "{text}");
        }
    }

    #[test]
    fn a_file_in_the_place_of_the_directory_is_an_error_to_writer_and_reader() {
        let (_dir, machine) = machine();
        fs::create_dir_all(machine.path("/run")).unwrap();
        fs::write(machine.path(DIRECTORY), "").unwrap();
        assert!(Recorder::begin(&machine, Mode::Online).is_err());
        let error = LastRun::read(&machine).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotADirectory);
    }

    #[test]
    fn a_run_counts_what_was_attached_up_to_its_end() {
        let (_dir, machine) = machine();
        let seq = |number: &str| {
            let sched_ext = machine.path("/sys/kernel/sched_ext");
            fs::create_dir_all(&sched_ext).unwrap();
            fs::write(sched_ext.join("state"), "enabled\n").unwrap();
            fs::write(sched_ext.join("enable_seq"), number).unwrap();
        };
        seq("3\n");
        let mut recorder = Recorder::begin(&machine, Mode::Online).unwrap();
        assert_eq!(last_run(&machine).enable_seq, Some(3));
        seq("4\n");
        recorder.attached();
        assert_eq!(last_run(&machine).enable_seq, Some(4));
    }

    #[test]
    fn the_record_of_a_version_without_the_kernels_count_is_read() {
        let (_dir, machine) = machine();
        fs::create_dir_all(machine.path(DIRECTORY)).unwrap();
        let old = r#"{"version":"0.1.0","mode":"online","pid":4,"start_ticks":9,
            "started_unix":1000,"end":null}"#;
        fs::write(machine.path(RECORD), old).unwrap();
        assert_eq!(last_run(&machine).enable_seq, None);
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
