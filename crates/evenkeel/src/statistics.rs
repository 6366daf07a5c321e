// SPDX-License-Identifier: GPL-2.0-only
//! The scheduler's counters on the ecosystem's socket: serving, asking, describing.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use evenkeel_scheduler::Statistics;
use evenkeel_scheduler::probe::Machine;
use scx_stats::prelude::*;
use serde_json::{Value, json};

use crate::daemon::signals;
use crate::failure::{Failure, Status};
use crate::output;

/// Where scx_stats puts a scheduler's socket, without `root/stats`.
const BASE: &str = "/var/run/scx";
/// How long a daemon may take to answer; a stopped one never does.
const PATIENCE_MS: u64 = 2000;

fn base(machine: &Machine) -> PathBuf {
    machine.path(BASE)
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

/// Each counter with its meaning.
///
/// # Errors
/// A failure of status 1; it would be a mistake in the counters' own description.
pub fn describe() -> Result<String, Failure> {
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
        output::print(&(moved(period, &now.since(&before), json) + "\n"))?;
        before = now;
    }
    Ok(Status::Success)
}

/// The counters that moved in a period, on one line.
pub fn moved(period: Duration, change: &Statistics, json: bool) -> String {
    if json {
        return json!({ "event": "stats", "seconds": period.as_secs_f64(), "statistics": change })
            .to_string();
    }
    let counters: BTreeMap<String, Value> = serde_json::to_value(change)
        .and_then(serde_json::from_value)
        .unwrap_or_default();
    let moved = counters
        .iter()
        .filter(|(_, value)| value.as_u64().is_some_and(|n| n > 0));
    let moved: Vec<_> = moved
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    format!("{:.1}s: {}", period.as_secs_f64(), moved.join(" "))
}

/// Shows an average that may not exist yet.
fn average(value: Option<f64>, digits: usize) -> impl Display {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}"))
}

/// The compact summary of a period: counts and averages, neither names nor process numbers.
pub fn summary_line(period: Duration, change: &Statistics) -> String {
    format!("{:.0}s: {}", period.as_secs_f64(), counts(change))
}

/// What happened, in a dozen words.
pub fn counts(change: &Statistics) -> String {
    format!(
        "{} runs, {} bursts, {} scored, error {} log2 or {} us, {} slices, {} preemptions, \
         {} fallbacks",
        change.running,
        change.bursts,
        change.scored,
        average(change.mean_log2_error(), 2),
        average(change.mean_error_us(), 0),
        change.slices(),
        change.preemptions,
        change.fallbacks,
    )
}

/// The closing summary of a trial.
pub fn summary(lasted: Duration, total: &Statistics) -> String {
    use crate::report::fact;
    let us = |ns: u64| format!("{:.0} us", ns as f64 / 1000.0);
    let mut text = format!(
        "Summary of {:.1} s in mode {}\n",
        lasted.as_secs_f64(),
        total.mode
    );
    let averages = format!(
        "{} log2, {} us",
        average(total.mean_log2_error(), 2),
        average(total.mean_error_us(), 0)
    );
    let company = match total.slices_company {
        0 => "0".to_owned(),
        count => format!(
            "{count}, from {} to {}",
            us(total.slice_company_min_ns),
            us(total.slice_company_max_ns)
        ),
    };
    let waits = format!(
        "{}, {} beyond the bound",
        us(total.wait_max_ns),
        total.wait_over_bound
    );
    text.push_str(&fact("runs", total.running));
    text.push_str(&fact("waited in a queue", total.enqueued));
    text.push_str(&fact("straight to an idle CPU", total.direct_dispatches));
    text.push_str(&fact(
        "bursts, of them scored",
        format!("{}, {}", total.bursts, total.scored),
    ));
    text.push_str(&fact("mean absolute error", averages));
    text.push_str(&fact("slices in company", company));
    text.push_str(&fact("slices alone", total.slices_alone));
    text.push_str(&fact("preemptions", total.preemptions));
    text.push_str(&fact("longest wait", waits));
    text.push_str(&fact("fallbacks", total.fallbacks));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> Statistics {
        Statistics {
            mode: "online".to_owned(),
            running: 7,
            scored: 2,
            log_error_sum_q10: 1024,
            abs_error_sum_ns: 30_000,
            slice_late_us: vec![0; 64],
            ..Statistics::default()
        }
    }

    #[test]
    fn only_what_moved_is_printed() {
        let line = moved(Duration::from_secs(1), &some(), false);
        assert!(
            line.starts_with("1.0s: ") && line.contains("running=7"),
            "{line}"
        );
        assert!(
            !line.contains("preemptions") && !line.contains("slice_late"),
            "{line}"
        );
    }

    #[test]
    fn errors_are_given_in_both_units_and_absent_before_the_first() {
        let line = summary_line(Duration::from_secs(60), &some());
        assert!(
            line.starts_with("60s: 7 runs") && line.contains("0.50 log2 or 15 us"),
            "{line}"
        );
        let line = summary_line(Duration::from_secs(60), &Statistics::default());
        assert!(line.contains("error - log2 or - us"), "{line}");
    }

    #[test]
    fn a_json_line_is_small_enough_to_be_written_whole() {
        let most = Statistics {
            slice_late_us: vec![u64::MAX; 64],
            ..some()
        };
        assert!(moved(Duration::from_secs(1), &most, true).len() < 4096);
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
        std::thread::spawn(move || {
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
