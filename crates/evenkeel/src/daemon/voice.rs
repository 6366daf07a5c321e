// SPDX-License-Identifier: GPL-2.0-only
//! What a run says on standard output, for people or as JSON.

use std::time::Duration;

use evenkeel_scheduler::Statistics;
use serde_json::{Value, json};

use crate::output::{self, Offered};
use crate::summary;

/// Says things that nobody has to hear: a slow reader loses lines, which are counted.
#[derive(Debug, Default)]
pub struct Voice {
    json: bool,
    /// Lines lost so far.
    pub dropped: u64,
    /// Whether the reader has gone.
    pub closed: bool,
}

impl Voice {
    pub fn new(json: bool) -> Self {
        Self {
            json,
            ..Self::default()
        }
    }

    fn say(&mut self, text: &str, event: impl FnOnce() -> Value) {
        let text = if self.json {
            event().to_string()
        } else {
            text.to_owned()
        };
        match output::offer(&text) {
            Offered::Written => {}
            Offered::Dropped => self.dropped += 1,
            Offered::Closed => self.closed = true,
        }
    }

    pub fn ready(&mut self, ops: &str, mode: &str) {
        let event = || json!({ "event": "ready", "ops": ops, "mode": mode });
        self.say(&format!("ready: {ops} schedules in mode {mode}"), event);
    }

    pub fn interval(&mut self, period: Duration, change: &Statistics) {
        let event = || json!({ "event": "interval", "seconds": period.as_secs_f64(), "statistics": change });
        self.say(&summary::summary_line(period, change), event);
    }

    pub fn stats(&mut self, period: Duration, change: &Statistics) {
        let line = summary::moved(period, change, self.json);
        match output::offer(&line) {
            Offered::Written => {}
            Offered::Dropped => self.dropped += 1,
            Offered::Closed => self.closed = true,
        }
    }

    pub fn restarting(&mut self) {
        let event = || json!({ "event": "restart" });
        self.say("restarting: the kernel asked for it", event);
    }

    pub fn ended(&mut self, why: &str, lasted: Duration, total: &Statistics, summary: bool) {
        let dropped = self.dropped;
        let event = || {
            json!({ "event": "ended", "why": why, "seconds": lasted.as_secs_f64(),
                "lines_dropped": dropped, "statistics": total })
        };
        let mut text = format!("ended: {why}");
        if summary {
            text = format!("{}{text}", summary::summary(lasted, total));
        }
        if dropped > 0 {
            text.push_str(&format!(" ({dropped} lines were lost to a slow reader)"));
        }
        self.say(&text, event);
    }
}
