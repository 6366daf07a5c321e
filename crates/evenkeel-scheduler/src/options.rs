// SPDX-License-Identifier: GPL-2.0-only
//! What a user may choose about the scheduler, with its ranges and contradictions.

mod choice;

use std::ops::RangeInclusive;
use std::time::Duration;

use serde::Serialize;

pub use choice::{Forced, Init, Learn, Mode, Predictor, Updates};

/// Shortest slice that may be asked for. Below it the timer interrupts cost more than they order.
pub const SLICE_LEAST: Duration = Duration::from_micros(100);
/// Longest slice that may be asked for, the same as the slice of a task that runs alone.
pub const SLICE_MOST: Duration = Duration::from_millis(20);
/// Longest target latency that may be asked for.
pub const TARGET_LATENCY_MOST: Duration = Duration::from_millis(100);
/// Bursts that a task may be left on the fixed slice before its estimate counts.
pub const WARMUP_RANGE: RangeInclusive<u32> = 1..=255;
/// Longest exit dump, in bytes. Zero means the kernel's own default, 32 KiB.
pub const EXIT_DUMP_MOST: u32 = 1 << 20;
/// Longest `--learn prefix:`, in bytes: the kernel keeps 15 bytes of a task's name (`TASK_COMM_LEN` - 1).
pub const PREFIX_MOST: usize = 15;

/// Everything a user may choose about the scheduler.
///
/// `Default` gives the documented defaults, and [`Options::validate`] the documented ranges.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Options {
    /// What is done with predictions.
    pub mode: Mode,
    /// Which expert estimates.
    pub predictor: Predictor,
    /// Where a new task's average starts.
    pub init: Init,
    /// How model updates are rounded.
    pub updates: Updates,
    /// Bursts on the fixed slice before an estimate counts, within [`WARMUP_RANGE`].
    pub warmup: u32,
    /// Which tasks have a model.
    pub learn: Learn,
    /// Shortest slice in company, [`SLICE_LEAST`] to [`SLICE_MOST`].
    #[serde(serialize_with = "as_micros", rename = "slice_min_us")]
    pub slice_min: Duration,
    /// Longest slice in company, from `slice_min` to [`SLICE_MOST`].
    #[serde(serialize_with = "as_micros", rename = "slice_max_us")]
    pub slice_max: Duration,
    /// Slice of tasks without a confident estimate, [`SLICE_LEAST`] to [`SLICE_MOST`].
    #[serde(serialize_with = "as_micros", rename = "fixed_slice_us")]
    pub fixed_slice: Duration,
    /// Time shared among the waiters of a queue, from `slice_min` to [`TARGET_LATENCY_MOST`].
    #[serde(serialize_with = "as_micros", rename = "target_latency_us")]
    pub target_latency: Duration,
    /// Switch only tasks of the `SCHED_EXT` policy.
    pub partial: bool,
    /// Bytes of the exit dump, up to [`EXIT_DUMP_MOST`]; 0 is the kernel's default.
    pub exit_dump_len: u32,
    /// How much the daemon says about itself; 0 is nothing beyond facts.
    pub verbose: u8,
    /// Test hook: stream each decision about learned tasks into a ring buffer.
    #[serde(skip)]
    pub trace: bool,
    /// Test hook, never set by users.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub force_estimate: Option<Forced>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            mode: Mode::default(),
            predictor: Predictor::default(),
            init: Init::default(),
            updates: Updates::default(),
            warmup: 8,
            learn: Learn::default(),
            slice_min: Duration::from_micros(500),
            slice_max: Duration::from_millis(5),
            fixed_slice: Duration::from_millis(3),
            target_latency: Duration::from_millis(6),
            partial: false,
            exit_dump_len: 0,
            verbose: 0,
            trace: false,
            force_estimate: None,
        }
    }
}

/// A choice outside its range, or two that contradict each other.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum OptionError {
    #[error("{option} must be between {} and {}, not {}", show(.least), show(.most), show(.given))]
    Range {
        option: &'static str,
        given: Duration,
        least: Duration,
        most: Duration,
    },
    #[error("{lower} ({}) is above {upper} ({})", show(.low), show(.high))]
    Order {
        lower: &'static str,
        low: Duration,
        upper: &'static str,
        high: Duration,
    },
    #[error("--warmup must be between {least} and {most}, not {given}", least = WARMUP_RANGE.start(), most = WARMUP_RANGE.end())]
    Warmup { given: u32 },
    #[error("--exit-dump-len must be at most {EXIT_DUMP_MOST} bytes, not {0}")]
    ExitDump(u32),
    #[error("--learn takes all or prefix:NAME")]
    Learn,
    #[error(
        "--learn prefix: needs a name of 1 to {PREFIX_MOST} bytes, as long as the kernel's own names; this has {0}"
    )]
    Prefix(usize),
    #[error("--learn prefix: takes no control characters")]
    PrefixCharacters,
}

impl Options {
    /// Checks every range and every order between two options.
    ///
    /// # Errors
    /// The first choice that is out of range, in the user's wording and on one line.
    pub fn validate(&self) -> Result<(), OptionError> {
        let slices = [
            ("--slice-min", self.slice_min, SLICE_MOST),
            ("--slice-max", self.slice_max, SLICE_MOST),
            ("--fixed-slice", self.fixed_slice, SLICE_MOST),
            ("--target-latency", self.target_latency, TARGET_LATENCY_MOST),
        ];
        for (option, given, most) in slices {
            if !(SLICE_LEAST..=most).contains(&given) {
                return Err(OptionError::Range {
                    option,
                    given,
                    least: SLICE_LEAST,
                    most,
                });
            }
        }
        let low = self.slice_min;
        for (upper, high) in [
            ("--slice-max", self.slice_max),
            ("--target-latency", self.target_latency),
        ] {
            if low > high {
                return Err(OptionError::Order {
                    lower: "--slice-min",
                    low,
                    upper,
                    high,
                });
            }
        }
        if !WARMUP_RANGE.contains(&self.warmup) {
            return Err(OptionError::Warmup { given: self.warmup });
        }
        if self.exit_dump_len > EXIT_DUMP_MOST {
            return Err(OptionError::ExitDump(self.exit_dump_len));
        }
        match &self.learn {
            Learn::All => Ok(()),
            Learn::Prefix(name) => check_prefix(name),
        }
    }
}

fn check_prefix(name: &str) -> Result<(), OptionError> {
    if name.contains(char::is_control) {
        return Err(OptionError::PrefixCharacters);
    }
    match name.len() {
        1..=PREFIX_MOST => Ok(()),
        bytes => Err(OptionError::Prefix(bytes)),
    }
}

/// Writes a duration as users type one.
fn show(duration: &Duration) -> String {
    humantime::format_duration(*duration).to_string()
}

fn as_micros<S: serde::Serializer>(duration: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(duration.as_nanos() as f64 / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(change: impl FnOnce(&mut Options)) -> Result<(), OptionError> {
        let mut options = Options::default();
        change(&mut options);
        options.validate()
    }

    #[test]
    fn the_defaults_are_valid() {
        assert_eq!(Options::default().validate(), Ok(()));
    }

    #[test]
    fn a_slice_of_zero_is_refused_wherever_it_is_given() {
        for set in [
            |o: &mut Options| o.slice_min = Duration::ZERO,
            |o: &mut Options| o.slice_max = Duration::ZERO,
            |o: &mut Options| o.fixed_slice = Duration::ZERO,
            |o: &mut Options| o.target_latency = Duration::ZERO,
        ] {
            let error = with(set).unwrap_err().to_string();
            assert!(error.contains("must be between 100us and"), "{error}");
            assert!(!error.contains('\n'));
        }
    }

    #[test]
    fn the_ends_of_each_range_are_inside_it() {
        assert_eq!(
            with(|o| {
                o.slice_min = SLICE_LEAST;
                o.slice_max = SLICE_MOST;
                o.fixed_slice = SLICE_MOST;
                o.target_latency = TARGET_LATENCY_MOST;
                o.warmup = *WARMUP_RANGE.end();
                o.exit_dump_len = EXIT_DUMP_MOST;
            }),
            Ok(())
        );
    }

    #[test]
    fn a_minimum_above_its_maximum_names_both() {
        let error = with(|o| {
            o.slice_min = Duration::from_millis(3);
            o.slice_max = Duration::from_millis(2);
        });
        assert_eq!(
            error.unwrap_err().to_string(),
            "--slice-min (3ms) is above --slice-max (2ms)"
        );
    }

    #[test]
    fn a_minimum_above_the_target_latency_is_refused() {
        let error = with(|o| {
            o.slice_min = Duration::from_millis(4);
            o.target_latency = Duration::from_millis(3);
        });
        assert!(
            error
                .unwrap_err()
                .to_string()
                .contains("--target-latency (3ms)")
        );
    }

    #[test]
    fn warm_up_and_dump_have_their_ranges() {
        assert_eq!(
            with(|o| o.warmup = 0),
            Err(OptionError::Warmup { given: 0 })
        );
        assert_eq!(
            with(|o| o.warmup = 256),
            Err(OptionError::Warmup { given: 256 })
        );
        assert_eq!(
            with(|o| o.exit_dump_len = u32::MAX),
            Err(OptionError::ExitDump(u32::MAX))
        );
    }
}
