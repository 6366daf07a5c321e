// SPDX-License-Identifier: GPL-2.0-only
//! How a run ends, and the exit status of each way.

use std::time::Duration;

use evenkeel_scheduler::Exit;

use super::kernel_exit;
use crate::failure::Status;
use crate::record::How;
use crate::time;

/// Why the loop was left.
#[derive(Debug)]
pub enum Ending {
    DurationOver,
    Signal(&'static str),
    StdoutClosed,
    Kernel(Exit),
}

impl Ending {
    /// The exit status; `duration` is zero for a run without an end of its own.
    pub fn status(&self, duration: Duration) -> Status {
        let bounded = !duration.is_zero();
        match self {
            Self::DurationOver => Status::Success,
            Self::Kernel(_) => Status::StoppedEarly,
            Self::Signal(_) | Self::StdoutClosed if bounded => Status::StoppedEarly,
            Self::Signal(_) => Status::Success,
            Self::StdoutClosed => Status::Failure,
        }
    }

    /// As the record keeps it.
    pub fn how(&self) -> How {
        match self {
            Self::DurationOver => How::Duration,
            Self::Signal(_) => How::Signal,
            Self::StdoutClosed => How::StdoutClosed,
            Self::Kernel(_) => How::Kernel,
        }
    }

    /// In words, on one line; `lasted` of `duration` had passed.
    pub fn why(&self, lasted: Duration, duration: Duration) -> String {
        let early = || match duration.saturating_sub(lasted) {
            Duration::ZERO => String::new(),
            left => format!(", {} before its end", time::show(left)),
        };
        match self {
            Self::DurationOver => format!("its duration of {} was over", time::show(duration)),
            Self::Signal(name) => format!("stopped by {name}{}", early()),
            Self::StdoutClosed => format!("the reader of standard output went away{}", early()),
            Self::Kernel(exit) => {
                format!(
                    "the kernel ended the scheduler: {}",
                    kernel_exit::explain(exit)
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDED: Duration = Duration::from_secs(30);

    #[test]
    fn a_signal_ends_an_unbounded_run_well_and_a_bounded_one_early() {
        assert_eq!(
            Ending::Signal("SIGINT").status(Duration::ZERO),
            Status::Success
        );
        assert_eq!(
            Ending::Signal("SIGINT").status(BOUNDED),
            Status::StoppedEarly
        );
        let why = Ending::Signal("SIGTERM").why(Duration::from_secs(10), BOUNDED);
        assert_eq!(why, "stopped by SIGTERM, 20s before its end");
        let why = Ending::Signal("SIGTERM").why(Duration::from_secs(10), Duration::ZERO);
        assert_eq!(why, "stopped by SIGTERM");
    }

    #[test]
    fn a_lost_reader_is_a_failure_and_the_kernels_end_a_fallback() {
        assert_eq!(Ending::StdoutClosed.status(Duration::ZERO), Status::Failure);
        assert_eq!(Ending::StdoutClosed.status(BOUNDED), Status::StoppedEarly);
        for duration in [Duration::ZERO, BOUNDED] {
            let ending = Ending::Kernel(Exit::default());
            assert_eq!(ending.status(duration), Status::StoppedEarly);
        }
        assert_eq!(Ending::DurationOver.status(BOUNDED), Status::Success);
    }
}
