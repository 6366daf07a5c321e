// SPDX-License-Identifier: GPL-2.0-only
//! Arguments that several verbs share, and what they mean together.

use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, Args};
use evenkeel_scheduler::options::{
    Forced, Init, Learn, Mode, OptionError, Options, Predictor, Updates,
};

use crate::failure::Failure;
use crate::time;

/// How tasks are scheduled.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Scheduling")]
pub struct Scheduling {
    /// What is done with predictions [default: online]
    #[arg(long, value_name = "MODE", value_enum)]
    mode: Option<Mode>,

    /// Which expert estimates the next burst [default: tournament]
    #[arg(long, value_name = "EXPERT", value_enum)]
    predictor: Option<Predictor>,

    /// Where a new task's average starts [default: ewma]
    #[arg(long, value_name = "INIT", value_enum)]
    init: Option<Init>,

    /// How model updates are rounded [default: fractional]
    #[arg(long, value_name = "UPDATES", value_enum)]
    updates: Option<Updates>,

    /// Bursts on the fixed slice before an estimate counts, 1 to 255 [default: 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=255))]
    warmup: Option<u32>,

    /// Which tasks have a model: all, or prefix:NAME with a name of 1 to 15 bytes [default: all]
    #[arg(long, value_name = "TASKS")]
    learn: Option<Learn>,

    /// Shortest slice in company, 100us to 20ms [default: 500us]
    #[arg(long, value_name = "TIME", value_parser = time::parse)]
    slice_min: Option<Duration>,

    /// Longest slice in company, --slice-min to 20ms [default: 5ms]
    #[arg(long, value_name = "TIME", value_parser = time::parse)]
    slice_max: Option<Duration>,

    /// Slice of a task without a confident estimate, and the least of one with, 100us to 20ms [default: 3ms]
    #[arg(long, value_name = "TIME", value_parser = time::parse)]
    fixed_slice: Option<Duration>,

    /// Time shared among the waiters of a queue, --slice-min to 100ms [default: 6ms]
    #[arg(long, value_name = "TIME", value_parser = time::parse)]
    target_latency: Option<Duration>,

    /// Switch only tasks of the SCHED_EXT policy
    #[arg(long)]
    partial: bool,

    /// Bytes of the kernel's exit dump, up to 1048576; 0 is the kernel's default
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(..=1_048_576))]
    exit_dump_len: Option<u32>,

    /// Say more; the kernel's exit dump, which names tasks, goes to standard error
    #[arg(short, long, action = ArgAction::Count)]
    verbose: u8,

    /// Replace every estimate by an extreme
    #[arg(long, value_name = "EXTREME", value_enum, hide = true)]
    force_estimate: Option<Forced>,
}

impl Scheduling {
    /// The options asked for.
    ///
    /// # Errors
    /// Status 2 for a choice out of its range, or one that the mode would ignore.
    pub fn options(&self) -> Result<Options, Failure> {
        let mode = self.mode.unwrap_or_default();
        if let Some(option) = self.ignored_by(mode) {
            return Err(Failure::usage(format!(
                "{option} has no effect with --mode {mode}"
            )));
        }
        let default = Options::default();
        let options = Options {
            mode,
            predictor: self.predictor.unwrap_or(default.predictor),
            init: self.init.unwrap_or(default.init),
            updates: self.updates.unwrap_or(default.updates),
            warmup: self.warmup.unwrap_or(default.warmup),
            learn: self.learn.clone().unwrap_or(default.learn),
            slice_min: self.slice_min.unwrap_or(default.slice_min),
            slice_max: self.slice_max.unwrap_or(default.slice_max),
            fixed_slice: self.fixed_slice.unwrap_or(default.fixed_slice),
            target_latency: self.target_latency.unwrap_or(default.target_latency),
            partial: self.partial,
            exit_dump_len: self.exit_dump_len.unwrap_or(default.exit_dump_len),
            verbose: self.verbose,
            force_estimate: self.force_estimate,
            ..default
        };
        options.validate()?;
        Ok(options)
    }

    /// An option that was given although `mode` has no use for it.
    fn ignored_by(&self, mode: Mode) -> Option<&'static str> {
        let learning = [
            ("--predictor", self.predictor.is_some()),
            ("--init", self.init.is_some()),
            ("--updates", self.updates.is_some()),
            ("--warmup", self.warmup.is_some()),
            ("--learn", self.learn.is_some()),
            ("--force-estimate", self.force_estimate.is_some()),
        ];
        let sizing = [
            ("--slice-min", self.slice_min.is_some()),
            ("--slice-max", self.slice_max.is_some()),
            ("--target-latency", self.target_latency.is_some()),
        ];
        let ignored: &[&[_]] = match mode {
            Mode::Online => &[],
            Mode::Shadow => &[&sizing],
            Mode::Fixed => &[&learning, &sizing],
        };
        ignored
            .iter()
            .copied()
            .flatten()
            .find(|(_, given)| *given)
            .map(|(name, _)| *name)
    }

    /// Whether anything was asked for.
    pub fn is_given(&self) -> bool {
        let Self {
            mode,
            fixed_slice,
            partial,
            exit_dump_len,
            ..
        } = self;
        mode.is_some()
            || fixed_slice.is_some()
            || *partial
            || exit_dump_len.is_some()
            || self.ignored_by(Mode::Fixed).is_some()
    }
}

/// A fault made on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The daemon panics this long after it is ready.
    Panic(Duration),
}

impl std::str::FromStr for Fault {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.strip_prefix("panic") {
            Some("") => Ok(Self::Panic(Duration::ZERO)),
            Some(after) => {
                let seconds = after.strip_prefix("-after=").ok_or("not a fault")?;
                time::parse(seconds)
                    .or_else(|_| time::parse_seconds(seconds))
                    .map(Self::Panic)
            }
            None => Err("not a fault".to_owned()),
        }
    }
}

/// How long a run lasts and what it says meanwhile.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Running")]
pub struct Pace {
    /// How long to run, such as 30s; 0 is until stopped, at most a year [default: 0, for a trial 30s]
    #[arg(long, value_name = "TIME", value_parser = time::parse)]
    pub duration: Option<Duration>,

    /// Time between two summaries, 100ms to 1day
    #[arg(long, value_name = "TIME", value_parser = time::parse, default_value = "60s")]
    interval: Duration,

    /// Print the counters that moved, every so many seconds, 0.1 to 86400
    #[arg(long, value_name = "SECS", value_parser = time::parse_seconds)]
    pub stats: Option<Duration>,

    /// Print JSON, one object a line
    #[arg(long)]
    pub json: bool,

    /// Write each decision about learned tasks to a file
    #[arg(long, value_name = "FILE", hide = true)]
    pub trace: Option<PathBuf>,

    /// Make a fault on purpose: panic, or panic-after=TIME
    #[arg(long, alias = "fault", value_name = "FAULT", hide = true)]
    pub inject: Option<Fault>,
}

impl Pace {
    /// Time between two summaries.
    ///
    /// # Errors
    /// Status 2 for one out of its range.
    pub fn interval(&self) -> Result<Duration, Failure> {
        let (least, most) = (Duration::from_millis(100), Duration::from_secs(86_400));
        if (least..=most).contains(&self.interval) {
            return Ok(self.interval);
        }
        let (option, given) = ("--interval", self.interval);
        Err(OptionError::Range {
            option,
            given,
            least,
            most,
        }
        .into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_argument_means_the_documented_defaults() {
        let given = Scheduling::default();
        assert_eq!(given.options().unwrap(), Options::default());
        assert!(!given.is_given());
    }

    #[test]
    fn an_option_that_the_mode_ignores_is_named() {
        let fixed = Scheduling {
            mode: Some(Mode::Fixed),
            predictor: Some(Predictor::Lms),
            ..Scheduling::default()
        };
        let failure = fixed.options().unwrap_err();
        assert_eq!(
            failure.message(),
            "--predictor has no effect with --mode fixed"
        );
        let shadow = Scheduling {
            mode: Some(Mode::Shadow),
            slice_max: Some(Duration::from_millis(4)),
            ..Scheduling::default()
        };
        let failure = shadow.options().unwrap_err();
        assert_eq!(
            failure.message(),
            "--slice-max has no effect with --mode shadow"
        );
    }

    #[test]
    fn faults_are_read() {
        assert_eq!("panic".parse(), Ok(Fault::Panic(Duration::ZERO)));
        assert_eq!(
            "panic-after=2".parse(),
            Ok(Fault::Panic(Duration::from_secs(2)))
        );
        assert_eq!(
            "panic-after=2s".parse(),
            Ok(Fault::Panic(Duration::from_secs(2)))
        );
        for text in ["", "panics", "panic-after=", "hang"] {
            assert!(text.parse::<Fault>().is_err(), "{text}");
        }
    }
}
