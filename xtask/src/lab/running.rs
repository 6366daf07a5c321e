// SPDX-License-Identifier: GPL-2.0-only

//! A running virtual machine, watched to its end.

use std::io::{Read, Write};
use std::process::{Child, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process_group};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::boot::Finished;
use super::console::{self, StaleBreakpoint};
use super::job::Job;
use crate::process::{Failure, INTERRUPTED, find};

/// The guest outlived its time limit, as in timeout(1).
const TIMED_OUT: u8 = 124;
/// The guest itself failed.
const GUEST_FAILED: u8 = 125;
/// How long a guest may take until its script begins; 8 s on an idle machine.
const BOOT_LIMIT: Duration = Duration::from_secs(180);
/// How long a guest may take to power off after its command has ended.
const POWEROFF_LIMIT: Duration = Duration::from_secs(20);
/// Lines of the console shown with an error.
const CONSOLE_LINES: usize = 30;
const POLL: Duration = Duration::from_millis(20);

/// A running virtual machine. Dropped, it ends with everything that it started.
pub struct Running {
    child: Child,
    interrupted: Arc<AtomicBool>,
    signals: Vec<signal_hook::SigId>,
    stdout: Option<JoinHandle<Vec<u8>>>,
    stderr: Option<JoinHandle<Vec<u8>>>,
}

impl Running {
    /// Starts the virtual machine's command.
    pub fn start(mut command: std::process::Command, capture: bool) -> Result<Self> {
        use std::os::unix::process::CommandExt as _;
        let interrupted = Arc::new(AtomicBool::new(false));
        let mut signals = Vec::new();
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signals.push(signal_hook::flag::register(
                signal,
                Arc::clone(&interrupted),
            )?);
        }
        // Pipes, since QEMU would truncate and overwrite a file; a group of its own, so that
        // virtme-run and QEMU end together.
        let mut child = command
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .context("cannot start the virtual machine")?;
        let stdout = child.stdout.take().map(|pipe| {
            if capture {
                forward(pipe, None)
            } else {
                forward(pipe, Some(Box::new(std::io::stdout())))
            }
        });
        let stderr = child
            .stderr
            .take()
            .map(|pipe| forward(pipe, Some(Box::new(std::io::stderr()))));
        Ok(Self {
            child,
            interrupted,
            signals,
            stdout,
            stderr,
        })
    }

    /// Waits for the end, and says what it was.
    pub fn watch(mut self, job: &Job, limit: Duration) -> Result<Finished> {
        let start = Instant::now();
        let mut exited_at = None;
        let ended = loop {
            if let Some(status) = self.child.try_wait()? {
                break Some(status);
            }
            let report = job.report();
            let elapsed = start.elapsed();
            if report.exited.is_some() {
                let since = *exited_at.get_or_insert_with(Instant::now);
                if since.elapsed() > POWEROFF_LIMIT {
                    eprintln!("lab: the guest did not power off and was ended");
                    break None;
                }
            } else if elapsed > limit {
                self.kill();
                let message = format!("the guest was still running after {} s", limit.as_secs());
                return Err(failure(TIMED_OUT, &message, job));
            } else if !report.started && elapsed > BOOT_LIMIT {
                self.kill();
                let message = format!("the guest did not boot in {} s", BOOT_LIMIT.as_secs());
                return Err(failure(GUEST_FAILED, &message, job));
            }
            if self.interrupted.load(Ordering::Relaxed) {
                self.kill();
                return Err(Failure::error(
                    INTERRUPTED,
                    "interrupted; the guest was ended",
                ));
            }
            std::thread::sleep(POLL);
        };
        self.kill();
        self.finish(job, ended)
    }

    fn finish(&mut self, job: &Job, ended: Option<ExitStatus>) -> Result<Finished> {
        let stdout = self
            .stdout
            .take()
            .and_then(|thread| thread.join().ok())
            .unwrap_or_default();
        let _ = self.stderr.take().map(JoinHandle::join);
        if let Some(status) = job.report().exited {
            return Ok(Finished {
                status,
                stdout: String::from_utf8_lossy(&stdout).into_owned(),
            });
        }
        let console = job.console();
        if console::panicked(&console) {
            let error = failure(GUEST_FAILED, "the guest's kernel panicked", job);
            return Err(if StaleBreakpoint::shown(&console) {
                error.context(StaleBreakpoint)
            } else {
                error
            });
        }
        let how = ended.map_or_else(|| "ended".to_owned(), |status| status.to_string());
        let message = if job.report().started {
            format!("the guest went down before its command ended ({how})")
        } else {
            format!("the guest did not boot ({how})")
        };
        Err(failure(GUEST_FAILED, &message, job))
    }

    fn kill(&mut self) {
        if let Some(group) = Pid::from_raw(self.child.id().cast_signed()) {
            // The group may be gone already.
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
        for signal in self.signals.drain(..) {
            signal_hook::low_level::unregister(signal);
        }
    }
}

/// Passes on what comes through a pipe as it comes, or collects it if there is nowhere to.
fn forward(
    mut pipe: impl Read + Send + 'static,
    to: Option<Box<dyn Write + Send>>,
) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut collected = Vec::new();
        let Some(mut to) = to else {
            let _ = pipe.read_to_end(&mut collected);
            return collected;
        };
        let mut buffer = [0; 8192];
        // A closed output must not stop the guest: keep reading.
        while let Ok(length @ 1..) = pipe.read(&mut buffer) {
            let _ = to.write_all(&buffer[..length]).and_then(|()| to.flush());
        }
        collected
    })
}

/// An error of the guest, with the end of its console on standard error.
fn failure(status: u8, message: &str, job: &Job) -> anyhow::Error {
    let tail = console::tail(&job.console(), CONSOLE_LINES);
    if tail.is_empty() {
        eprintln!("lab: the guest's console is empty");
    } else {
        eprintln!("lab: the last lines of the guest's console:");
        for line in tail {
            eprintln!("  | {line}");
        }
    }
    if find("qemu-system-x86_64").is_none() {
        eprintln!("lab: there is no qemu-system-x86_64 on this machine");
    }
    Failure::error(status, format!("lab: {message}"))
}
