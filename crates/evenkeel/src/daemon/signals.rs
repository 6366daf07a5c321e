// SPDX-License-Identifier: GPL-2.0-only
//! Signals that end a run, as messages.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

use crossbeam_channel::{Receiver, bounded};
use evenkeel_scheduler::probe::Machine;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;

use crate::failure::Failure;

/// Starts to turn signals into messages. SIGHUP stays ignored where `nohup` has it ignored.
///
/// # Errors
/// Status 1 if the kernel does not let this process catch them.
pub fn watch(machine: &Machine) -> Result<Receiver<&'static str>, Failure> {
    let mut wanted = vec![SIGINT, SIGTERM];
    let status = machine.read("/proc/self/status").unwrap_or_default();
    if !ignores(&status, SIGHUP) {
        wanted.push(SIGHUP);
    }
    // A file at its size limit costs lines, like a full disk, and not the scheduler.
    let at_limit = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(SIGXFSZ, at_limit)
        .map_err(|e| Failure::doing("catching signals", e))?;
    let mut signals = Signals::new(wanted).map_err(|e| Failure::doing("catching signals", e))?;
    let (sender, receiver) = bounded(8);
    let wait = move || {
        for signal in signals.forever() {
            // A full channel means that the end is on its way already.
            let _ = sender.try_send(name(signal));
        }
    };
    thread::Builder::new()
        .spawn(wait)
        .map_err(|e| Failure::doing("catching signals", e))?;
    Ok(receiver)
}

fn name(signal: i32) -> &'static str {
    match signal {
        SIGINT => "SIGINT",
        SIGTERM => "SIGTERM",
        _ => "SIGHUP",
    }
}

/// Whether the mask `SigIgn` of `/proc/self/status` has `signal` (proc(5)).
fn ignores(status: &str, signal: i32) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ignored_hangup_is_seen() {
        assert!(ignores("Name:\tx\nSigIgn:\t0000000000000001\n", SIGHUP));
        assert!(!ignores("Name:\tx\nSigIgn:\t0000000000001000\n", SIGHUP));
        assert!(!ignores("", SIGHUP));
    }
}
