// SPDX-License-Identifier: GPL-2.0-only

//! One boot of a guest, from the lock to the exit status.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process_group};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::guest::{Report, Script};
use super::{console, lock, machine};
use crate::process::{Failure, INTERRUPTED, find};
use crate::{paths, setup};

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

/// How the guest's time passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// Wall-clock time, a host thread for each virtual CPU.
    Parallel,
    /// Time counts instructions; all virtual CPUs share one host thread.
    Deterministic,
}

/// What to boot and what to run in it.
pub struct Boot {
    /// Virtual CPUs.
    pub cpus: u32,
    /// How time passes.
    pub clock: Clock,
    /// Another kernel image than the one that set-up fetched.
    pub kernel: Option<PathBuf>,
    /// Memory, as QEMU writes it.
    pub memory: String,
    /// Time limit of the whole boot.
    pub timeout: Duration,
    /// Programs copied into the guest's memory and put on its PATH.
    pub programs: Vec<PathBuf>,
    /// The command and its arguments.
    pub command: Vec<String>,
    /// Whether standard output is returned instead of passed on.
    pub capture: bool,
}

/// How the command in the guest ended.
pub struct Finished {
    /// Its exit status.
    pub status: u8,
    /// Its standard output, if captured.
    pub stdout: String,
}

impl Boot {
    /// Boots the guest, runs the command, and waits for the end of both.
    ///
    /// # Errors
    /// A guest that panics, hangs, does not boot or exceeds the time limit, with the last lines
    /// of its console; an interruption by the user.
    pub fn run(&self) -> Result<Finished> {
        self.warn_about_cpus();
        let checkout = paths::checkout()?;
        let cache = paths::cache()?;
        let kernel = match &self.kernel {
            Some(kernel) => kernel
                .canonicalize()
                .with_context(|| format!("cannot find the kernel {}", kernel.display()))?,
            None => setup::kernel_image()?,
        };
        let _lock = lock::acquire()?;
        let job = Job::create(&cache)?;
        if let Some(config) = kernel_config(&kernel) {
            fs::copy(config, job.path.join("config"))?;
        }
        let mut visible = vec![checkout.clone(), cache.clone()];
        visible.extend(
            self.programs
                .iter()
                .filter_map(|path| Some(path.parent()?.to_owned())),
        );
        let script = Script {
            programs: &self.programs,
            command: &self.command,
            checkout: &checkout,
            visible: &visible,
        };
        fs::write(job.path.join("run.sh"), script.text())?;
        let virtme = setup::virtme_run()?;
        let command = machine::command(self, &virtme, &kernel, &job.path, &visible);
        let running = Running::start(command, self.capture)?;
        let result = running.watch(&job, self.timeout);
        // Kept for the reader of a surprising run, until the next one.
        let _ = fs::copy(job.path.join("console"), cache.join("console.log"));
        result
    }

    fn warn_about_cpus(&self) {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        if self.clock == Clock::Parallel && self.cpus as usize > cores {
            eprintln!(
                "lab: {} virtual CPUs on {cores} cores: timing means nothing here",
                self.cpus
            );
        }
    }
}

/// The configuration of a kernel image: beside it, as Debian's packages and `/boot` have it.
fn kernel_config(kernel: &Path) -> Option<PathBuf> {
    let directory = kernel.parent()?;
    let release = kernel
        .file_name()?
        .to_str()?
        .strip_prefix("vmlinuz-")
        .map(str::to_owned);
    let named = release.map(|release| directory.join(format!("config-{release}")));
    let build = directory
        .ancestors()
        .nth(3)
        .map(|tree| tree.join(".config"));
    [named, Some(directory.join("config")), build]
        .into_iter()
        .flatten()
        .find(|path| path.is_file())
}

/// The directory of one boot, removed with it.
struct Job {
    path: PathBuf,
}

impl Job {
    fn create(cache: &Path) -> Result<Self> {
        let path = cache.join("jobs").join(std::process::id().to_string());
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).with_context(|| format!("cannot create {}", path.display()))?;
        Ok(Self { path })
    }

    fn report(&self) -> Report {
        let text = fs::read(self.path.join("status")).unwrap_or_default();
        Report::parse(&String::from_utf8_lossy(&text))
    }

    fn console(&self) -> Vec<u8> {
        fs::read(self.path.join("console")).unwrap_or_default()
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// A running virtual machine. Dropped, it ends with everything that it started.
struct Running {
    child: Child,
    interrupted: Arc<AtomicBool>,
    signals: Vec<signal_hook::SigId>,
    stdout: Option<JoinHandle<Vec<u8>>>,
    stderr: Option<JoinHandle<Vec<u8>>>,
}

impl Running {
    fn start(mut command: std::process::Command, capture: bool) -> Result<Self> {
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
            .context("cannot start virtme-run")?;
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
    fn watch(mut self, job: &Job, limit: Duration) -> Result<Finished> {
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
        if console::panicked(&job.console()) {
            return Err(failure(GUEST_FAILED, "the guest's kernel panicked", job));
        }
        let how = ended.map_or_else(|| "ended".to_owned(), |status| status.to_string());
        let message = if job.report().started {
            format!("the guest went down before its command ended (virtme-run: {how})")
        } else {
            format!("the guest did not boot (virtme-run: {how})")
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
