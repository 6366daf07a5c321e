// SPDX-License-Identifier: GPL-2.0-only
//! The scheduler's counters on the ecosystem's socket: serving, asking, describing.

use std::io;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use evenkeel_scheduler::Statistics;
use evenkeel_scheduler::probe::Machine;
use scx_stats::prelude::*;
use serde_json::Value;

use crate::daemon::signals;
use crate::failure::{Failure, Status};
use crate::{output, summary};

/// Where scx_stats puts a scheduler's socket, without `root/stats`.
const BASE: &str = "/var/run/scx";
/// How long a daemon may take to answer; a stopped one never does.
const PATIENCE_MS: u64 = 2000;

fn base(machine: &Machine) -> PathBuf {
    machine.path(BASE)
}

/// Finds out whether the library's threads can be had: one that listens and one that passes
/// requests on. It panics where they cannot.
fn expect_threads() -> io::Result<()> {
    let (hold, held) = crossbeam_channel::bounded::<()>(0);
    thread::scope(|scope| {
        let wait = || held.recv().is_err();
        let started = (0..2).try_for_each(|_| {
            thread::Builder::new().spawn_scoped(scope, wait)?;
            Ok(())
        });
        drop(hold);
        started
    })
}

fn server_data() -> StatsServerData<(), Statistics> {
    let read: Box<dyn StatsReaderSend<(), Statistics>> = Box::new(|_args, (requests, answers)| {
        requests.send(())?;
        answers.recv()?.to_json()
    });
    StatsServerData::new()
        .add_meta(Statistics::meta())
        .add_stats("top", read)
}

/// A socket that answers until it is dropped.
pub struct Server {
    server: StatsServer<(), Statistics>,
    path: PathBuf,
}

impl Server {
    /// Starts to listen.
    ///
    /// # Errors
    /// What prevents it, on one line.
    pub fn start(machine: &Machine) -> Result<Self, String> {
        expect_threads().map_err(|error| format!("no threads for it: {error}"))?;
        let path = base(machine).join("root/stats");
        let server = StatsServer::new(server_data()).set_path(&path).launch();
        let server = server.map_err(|error| format!("{error:#}"))?;
        Ok(Self { server, path })
    }

    /// Where requests arrive, and where each must be answered.
    pub fn channels(
        &self,
    ) -> (
        crossbeam_channel::Sender<Statistics>,
        crossbeam_channel::Receiver<()>,
    ) {
        self.server.channels()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The library leaves the socket behind; a dead one misleads its next reader.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// A connection to a daemon's socket.
pub struct Client {
    client: StatsClient,
}

impl Client {
    /// Connects.
    ///
    /// # Errors
    /// Why nobody can be reached, on one line.
    pub fn connect(machine: &Machine) -> Result<Self, String> {
        let client = StatsClient::new().set_base_path(base(machine));
        let client = client
            .connect(Some(PATIENCE_MS))
            .map_err(|error| format!("{error:#}"))?;
        Ok(Self { client })
    }

    /// The counters since attach.
    ///
    /// # Errors
    /// Why there is no answer that is ours, on one line.
    pub fn ask(&mut self) -> Result<Statistics, String> {
        let answer: Value = self
            .client
            .request("stats", Vec::new())
            .map_err(|error| format!("{error:#}"))?;
        serde_json::from_value(answer).map_err(|_| "another scheduler answers there".to_owned())
    }
}

/// Prints each counter with its meaning, for people or as `scx_stats` describes them to programs.
///
/// # Errors
/// Status 1 if it cannot be printed.
pub fn print_description(json: bool) -> Result<(), Failure> {
    if json {
        output::print_json(&Statistics::meta())
    } else {
        output::print(&describe()?)
    }
}

/// Each counter with its meaning.
///
/// # Errors
/// A failure of status 1; it would be a mistake in the counters' own description.
fn describe() -> Result<String, Failure> {
    let mut text = Vec::new();
    server_data()
        .describe_meta(&mut text, None)
        .map_err(|error| Failure::doing("statistics", error))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Prints what moves in a daemon that runs already, until a signal.
///
/// # Errors
/// Status 1 if no daemon answers, or if it stops answering.
pub fn monitor(machine: &Machine, every: Duration, json: bool) -> Result<Status, Failure> {
    let silent = |error| Failure::doing(format!("no daemon answers at {BASE}/root/stats"), error);
    let signals = signals::watch(machine)?;
    let mut client = Client::connect(machine).map_err(silent)?;
    let mut before = client.ask().map_err(silent)?;
    let mut asked = Instant::now();
    while signals.recv_timeout(every).is_err() {
        let now = client
            .ask()
            .map_err(|e| Failure::doing("the daemon stopped answering", e))?;
        let period = asked.elapsed();
        asked = Instant::now();
        output::print(&(summary::moved(period, &now.since(&before), json) + "\n"))?;
        before = now;
    }
    Ok(Status::Success)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> Statistics {
        Statistics {
            running: 7,
            ..Statistics::default()
        }
    }

    #[test]
    fn every_counter_is_described() {
        let text = describe().unwrap();
        assert!(
            text.contains("preemptions") && text.contains("Wakeup preemptions"),
            "{text}"
        );
    }

    #[test]
    fn a_served_counter_arrives_and_the_socket_goes_with_its_server() {
        let dir = tempfile::tempdir().unwrap();
        let machine = Machine::at(dir.path());
        assert!(Client::connect(&machine).is_err());
        let server = Server::start(&machine).unwrap();
        let (answers, requests) = server.channels();
        thread::spawn(move || {
            while requests.recv().is_ok() {
                answers.send(some()).unwrap();
            }
        });
        assert_eq!(Client::connect(&machine).unwrap().ask().unwrap(), some());
        drop(server);
        assert!(Client::connect(&machine).is_err());
        assert!(!machine.path("/var/run/scx/root/stats").exists());
    }
}
