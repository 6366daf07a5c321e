// SPDX-License-Identifier: GPL-2.0-only
//! Durations as users type them, and the clock on the wall.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Longest run or interval accepted: a year, far from the clock's overflow.
pub const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

/// Reads a duration such as `500us`, `5ms`, `1m 30s` or `0`.
///
/// # Errors
/// What is wrong with it, on one line.
pub fn parse(text: &str) -> Result<Duration, String> {
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    let duration = humantime::parse_duration(text).map_err(|error| error.to_string())?;
    if duration > LONGEST {
        Err("longer than a year".to_owned())
    } else {
        Ok(duration)
    }
}

/// Reads a positive number of seconds such as `1` or `0.5`, from 0.1 to a day.
///
/// # Errors
/// What is wrong with it, on one line.
pub fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text
        .parse()
        .map_err(|_| "a number of seconds is needed".to_owned())?;
    if (0.1..=86_400.0).contains(&seconds) {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err("must be between 0.1 and 86400 seconds".to_owned())
    }
}

/// Writes a duration as users type it, to the nearest of what matters.
pub fn show(duration: Duration) -> String {
    let rounded = if duration >= Duration::from_secs(1) {
        Duration::from_secs(duration.as_secs())
    } else {
        Duration::from_micros(u64::try_from(duration.as_micros()).unwrap_or(u64::MAX))
    };
    humantime::format_duration(rounded).to_string()
}

/// Seconds since 1970, by the wall clock.
pub fn unix_now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

/// Writes seconds since 1970 as a date and time in UTC.
pub fn show_unix(seconds: u64) -> String {
    // Dates after the year 9999 cannot be written; a corrupt record may hold one.
    let most = 253_402_300_799;
    let time = UNIX_EPOCH + Duration::from_secs(seconds.min(most));
    humantime::format_rfc3339_seconds(time).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_durations_are_read() {
        for (text, wanted) in [
            ("500us", Duration::from_micros(500)),
            ("5ms", Duration::from_millis(5)),
            ("1m 30s", Duration::from_secs(90)),
            ("0", Duration::ZERO),
            ("0s", Duration::ZERO),
        ] {
            assert_eq!(parse(text), Ok(wanted), "{text}");
        }
    }

    #[test]
    fn garbage_and_overflow_are_errors_of_one_line() {
        for text in [
            "",
            "5",
            "ms",
            "-5ms",
            "5 bananas",
            "99999999999999999999s",
            "1e9s",
            "2y",
            "18446744073709551615s",
            "18446744073709551615h",
            "\u{665}ms",
        ] {
            let error = parse(text).unwrap_err();
            assert!(
                !error.is_empty() && !error.contains('\n'),
                "{text}: {error}"
            );
        }
    }

    #[test]
    fn seconds_are_finite_and_positive() {
        assert_eq!(parse_seconds("0.5"), Ok(Duration::from_millis(500)));
        for text in ["0", "-1", "nan", "inf", "1e300", "", "1s", "86401"] {
            assert!(parse_seconds(text).is_err(), "{text}");
        }
    }

    #[test]
    fn corrupt_times_can_still_be_written() {
        assert_eq!(show_unix(0), "1970-01-01T00:00:00Z");
        assert!(show_unix(u64::MAX).starts_with("9999-"));
    }
}
