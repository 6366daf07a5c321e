// SPDX-License-Identifier: GPL-2.0-only
//! What a run says on standard output, for people or as JSON.

use std::time::Duration;

use evenkeel_scheduler::Statistics;
use serde_json::{Value, json};

use crate::output::{self, Offered};
use crate::summary;

/// Says things that nobody has to hear: a slow reader loses lines, which are counted.
#[derive(Debug)]
pub struct Voice {
    json: bool,
    /// Where lines go.
    offer: fn(&str) -> Offered,
    /// Lines lost so far.
    dropped: u64,
    /// Whether the reader has gone.
    pub closed: bool,
}

impl Voice {
    pub fn new(json: bool) -> Self {
        Self {
            json,
            offer: output::offer,
            dropped: 0,
            closed: false,
        }
    }

    /// What was lost, for standard error: standard output may have lost the line that says so.
    pub fn losses(&self) -> Option<String> {
        (self.dropped > 0).then(|| {
            format!(
                "lines lost on standard output: {} (its disk is full or its reader slow)",
                self.dropped
            )
        })
    }

    fn offer(&mut self, line: &str) {
        match (self.offer)(line) {
            Offered::Written => {}
            Offered::Dropped => self.dropped += 1,
            Offered::Closed => self.closed = true,
        }
    }

    fn say(&mut self, text: &str, event: impl FnOnce() -> Value) {
        if self.json {
            self.offer(&event().to_string());
        } else {
            self.offer(text);
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
        self.offer(&summary::moved(period, change, self.json));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn speak(offer: fn(&str) -> Offered) -> Voice {
        let mut voice = Voice {
            offer,
            ..Voice::new(false)
        };
        let (nothing, second) = (Statistics::default(), Duration::from_secs(1));
        voice.ready("evenkeel", "online");
        voice.interval(second, &nothing);
        voice.stats(second, &nothing);
        voice.ended("of a test", second, &nothing, true);
        voice
    }

    #[test]
    fn every_line_that_a_full_disk_lost_is_counted_the_last_one_too() {
        let losses = speak(|_| Offered::Dropped).losses().unwrap();
        assert!(
            losses.starts_with("lines lost on standard output: 4 "),
            "{losses}"
        );
    }

    #[test]
    fn a_reader_that_heard_everything_or_went_away_lost_nothing() {
        assert_eq!(speak(|_| Offered::Written).losses(), None);
        let closed = speak(|_| Offered::Closed);
        assert_eq!((closed.closed, closed.losses()), (true, None));
    }
}
