// SPDX-License-Identifier: GPL-2.0-only
//! Shadow mode trains, but never uses an estimate for order or slice.

use std::fs;
use std::sync::mpsc::sync_channel;
use std::thread::sleep;
use std::time::Duration;

use evenkeel_bench::spin::Spinner;
use evenkeel_guest::daemon::Daemon;
use evenkeel_guest::limit::within;
use evenkeel_guest::team::{Place, Team};
use serde_json::Value;

const ROUNDS: usize = 150;

/// A stretch on the CPU: who had it, and with which slice.
type Stretch = (String, u64);

/// Three threads that wake each other at fixed points of their bursts, so that neither timers nor
/// ticks decide who competes with whom. Their weights differ: a rank counts for more where the
/// weight is less, so an estimate that had a say would show in the order.
fn rounds() {
    let mut team = Team::new();
    let (wake_light, light_woken) = sync_channel::<()>(1);
    let (wake_heavy, heavy_woken) = sync_channel::<()>(1);
    let (done, finished) = sync_channel::<()>(2);
    let light_done = done.clone();
    let light = team.spawn("ek-light", &Place::default().nice(5), move |_| {
        while light_woken.recv().is_ok() {
            Spinner::get().burn(3_300_000);
            light_done.send(()).expect("the lead waits");
        }
    });
    let heavy = team.spawn("ek-heavy", &Place::default().nice(-5), move |_| {
        while heavy_woken.recv().is_ok() {
            Spinner::get().burn(2_700_000);
            done.send(()).expect("the lead waits");
        }
    });
    // Both wait for their first burst.
    sleep(Duration::from_millis(50));
    let lead = team.spawn("ek-lead", &Place::default(), move |_| {
        for _ in 0..ROUNDS {
            Spinner::get().burn(600_000);
            wake_light.send(()).expect("the thread waits");
            Spinner::get().burn(500_000);
            wake_heavy.send(()).expect("the thread waits");
            Spinner::get().burn(5_200_000);
            for _ in 0..2 {
                finished.recv().expect("both come to their end");
            }
        }
    });
    lead.join();
    light.join();
    heavy.join();
}

/// What the learned tasks did, in order.
fn trace(forced: &[&str]) -> Vec<Stretch> {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let file = directory.path().join("trace");
    let path = file.to_str().expect("a path in ASCII");
    let shadow = ["--mode", "shadow", "--learn", "prefix:ek-", "--trace", path];
    let daemon = Daemon::start(&[&shadow[..], forced].concat());
    rounds();
    daemon.stop();
    read(&fs::read_to_string(&file).expect("the daemon wrote its trace"))
}

/// Reads a trace, a JSON object a line, and holds it to being complete. Stretches of one thread
/// that follow on each other are one: a kernel thread came in between.
fn read(text: &str) -> Vec<Stretch> {
    let mut lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect();
    let last = lines.pop().expect("the trace has an end");
    assert_eq!(last["lost"], 0, "records were lost");
    let fields = |line: &Value| {
        let comm = line["comm"].as_str().expect("a name").to_owned();
        (comm, line["slice_ns"].as_u64().expect("a slice"))
    };
    let mut stretches: Vec<_> = lines.iter().map(fields).collect();
    stretches.dedup();
    stretches
}

fn expect_same(one: &[Stretch], other: &[Stretch]) {
    let differ = one.iter().zip(other).position(|(one, other)| one != other);
    if let Some(at) = differ {
        let near =
            |trace: &[Stretch]| trace[at.saturating_sub(3)..trace.len().min(at + 5)].to_vec();
        panic!(
            "record {at} of {} differs:\n{:?}\n{:?}",
            one.len(),
            near(one),
            near(other)
        );
    }
    assert_eq!(one.len(), other.len());
}

#[test]
#[ignore = "needs a guest"]
fn an_estimate_forced_to_its_extremes_leaves_the_trace_of_shadow_unchanged() {
    within(120, || {
        let learned = trace(&[]);
        let least = trace(&["--force-estimate", "min"]);
        let greatest = trace(&["--force-estimate", "max"]);
        eprintln!(
            "{} stretches, such as {:?}",
            learned.len(),
            &learned[learned.len() - 12..]
        );
        assert!(learned.len() > 3 * ROUNDS, "{} stretches", learned.len());
        expect_same(&least, &greatest);
        expect_same(&learned, &least);
    });
}
