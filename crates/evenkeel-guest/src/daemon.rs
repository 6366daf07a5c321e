// SPDX-License-Identifier: GPL-2.0-only
//! A running `evenkeel run`, which never outlives its test.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle, sleep};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::command::{Finished, evenkeel};
use crate::{limit, sysfs};

/// How long loading and attaching may take on an emulated machine.
const ATTACH: Duration = Duration::from_secs(30);
/// How long a daemon may take to leave once it was told to.
const LEAVE: Duration = Duration::from_secs(15);

/// Text that a thread collects from a pipe.
#[derive(Clone, Default)]
struct Text(Arc<Mutex<String>>);

impl Text {
    fn push(&self, line: &str) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push_str(line);
    }

    fn get(&self) -> String {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// A child process whose output is collected and which is killed on drop.
pub struct Daemon {
    child: Child,
    stdout: Text,
    stderr: Text,
    readers: Vec<JoinHandle<()>>,
}

impl Daemon {
    /// Starts `evenkeel run` with `args` and waits until it says that it is ready.
    ///
    /// # Panics
    /// When it ends first, or is not ready and attached within 30 s.
    pub fn start(args: &[&str]) -> Self {
        let mut daemon = Self::launch(args);
        daemon.expect_ready();
        daemon
    }

    /// Starts `evenkeel run --duration 0` with `args` and returns at once.
    pub fn launch(args: &[&str]) -> Self {
        let all = [&["run", "--duration", "0"], args].concat();
        Self::spawn(evenkeel(&all))
    }

    /// Starts a prepared command and collects its output.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn spawn(command: Command) -> Self {
        let (mut daemon, stdout) = Self::spawn_with_stdout(command);
        let text = daemon.stdout.clone();
        daemon
            .readers
            .push(thread::spawn(move || collect(stdout, &text)));
        daemon
    }

    /// Starts a prepared command and hands out its standard output, to be read or closed.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn spawn_with_stdout(mut command: Command) -> (Self, ChildStdout) {
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command
            .spawn()
            .unwrap_or_else(|error| panic!("{command:?}: {error}"));
        limit::register(child.id());
        let stdout = child.stdout.take().expect("stdout is piped");
        let from = child.stderr.take().expect("stderr is piped");
        let stderr = Text::default();
        let text = stderr.clone();
        let readers = vec![thread::spawn(move || collect(from, &text))];
        (
            Self {
                child,
                stdout: Text::default(),
                stderr,
                readers,
            },
            stdout,
        )
    }

    /// Waits for the line that says `ready`, then holds the daemon to it.
    ///
    /// # Panics
    /// When the daemon ends first, is not ready within 30 s, or is ready but not attached.
    pub fn expect_ready(&mut self) {
        let start = Instant::now();
        while !self.stdout().lines().any(|line| line.contains("ready")) {
            assert!(
                self.status_now().is_none(),
                "the daemon ended: {}",
                self.output()
            );
            assert!(
                start.elapsed() < ATTACH,
                "the daemon is not ready: {}",
                self.output()
            );
            sleep(Duration::from_millis(20));
        }
        assert!(
            sysfs::evenkeel_is_attached(),
            "ready, but {} {:?}",
            sysfs::state(),
            sysfs::ops()
        );
    }

    /// The process's id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it printed so far.
    pub fn stdout(&self) -> String {
        self.stdout.get()
    }

    /// What it complained of so far.
    pub fn stderr(&self) -> String {
        self.stderr.get()
    }

    /// Sends a signal.
    ///
    /// # Panics
    /// When the process is gone.
    pub fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, signal).unwrap_or_else(|error| panic!("{error}: {}", self.output()));
    }

    /// Waits until the process has ended.
    ///
    /// # Panics
    /// When it has not within `limit`.
    pub fn wait(&mut self, limit: Duration) -> ExitStatus {
        let start = Instant::now();
        loop {
            if let Some(status) = self.status_now() {
                return status;
            }
            assert!(
                start.elapsed() < limit,
                "still alive after {limit:?}: {}",
                self.output()
            );
            sleep(Duration::from_millis(20));
        }
    }

    /// Waits until the process has ended and takes all of its output.
    ///
    /// # Panics
    /// When it has not ended within `limit`.
    pub fn finish(mut self, limit: Duration) -> Finished {
        let status = self.wait(limit);
        for reader in self.readers.drain(..) {
            // A reader ends with its pipe; it cannot panic on bytes that are no text.
            let _ = reader.join();
        }
        Finished {
            code: status.code(),
            stdout: self.stdout(),
            stderr: self.stderr(),
        }
    }

    /// Holds the daemon to having stayed attached, then ends it with SIGINT.
    ///
    /// # Panics
    /// When the kernel has fallen back to the default scheduler, or the end is not clean.
    pub fn stop(self) -> Finished {
        assert!(
            sysfs::evenkeel_is_attached(),
            "the kernel fell back ({}): {}",
            sysfs::state(),
            self.output()
        );
        self.signal(Signal::INT);
        let finished = self.finish(LEAVE);
        assert_eq!(finished.code, Some(0), "{finished:?}");
        sysfs::expect_state("disabled", Duration::from_secs(5));
        finished
    }

    fn status_now(&mut self) -> Option<ExitStatus> {
        // The number may be used again once the child is reaped, so the watcher forgets it first.
        let ended = has_ended(self.child.id());
        if ended {
            limit::forget(self.child.id());
        }
        ended.then(|| self.child.wait().expect("a child can be waited for"))
    }

    fn output(&self) -> String {
        format!("stdout: {:?}, stderr: {:?}", self.stdout(), self.stderr())
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        limit::forget(self.child.id());
        // An error means that it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether a child has ended, leaving it to be reaped.
fn has_ended(pid: u32) -> bool {
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    let Some(pid) = Pid::from_raw(pid.cast_signed()) else {
        return true;
    };
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    // An error means that it was reaped already.
    !matches!(waitid(WaitId::Pid(pid), options), Ok(None))
}

fn collect<R: Read>(from: R, into: &Text) {
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
        into.push(&String::from_utf8_lossy(&line));
        line.clear();
    }
}
