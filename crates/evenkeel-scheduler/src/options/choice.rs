// SPDX-License-Identifier: GPL-2.0-only
//! Choices by name.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use super::{OptionError, check_prefix};

/// What the scheduler does with predictions; in the order of `enum ek_mode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
#[repr(u32)]
pub enum Mode {
    /// Learn, and let estimates decide order, slice and preemption
    #[default]
    Online,
    /// Schedule and learn, but with fixed slices and no learned order; not a passive preview
    Shadow,
    /// Schedule with fixed slices, learn nothing
    Fixed,
}

impl Mode {
    /// The name used on the command line, in output and in statistics.
    pub fn name(self) -> &'static str {
        match self {
            Self::Online => "online",
            Self::Shadow => "shadow",
            Self::Fixed => "fixed",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Which expert estimates the next burst; in the order of `enum ek_predictor`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
#[repr(u32)]
pub enum Predictor {
    /// The expert with the lowest recent error
    #[default]
    Tournament,
    /// Exponentially weighted average
    Ewma,
    /// The last burst
    Last,
    /// A short history table, which learns alternation
    History,
    /// Sign-LMS on sleep length and waker
    Lms,
}

impl Predictor {
    /// All of them, the tournament first.
    pub const ALL: [Self; 5] = [
        Self::Tournament,
        Self::Ewma,
        Self::Last,
        Self::History,
        Self::Lms,
    ];
}

/// Where a new task's average starts; in the order of `enum ek_init`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
#[repr(u32)]
pub enum Init {
    /// At its first burst
    #[default]
    Ewma,
    /// At a constant prior
    Bias,
}

/// How model updates are rounded; in the order of `enum ek_updates`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
#[repr(u32)]
pub enum Updates {
    /// Keep the bits below a unit
    #[default]
    Fractional,
    /// Integer steps
    Trunc,
}

/// Which tasks have a model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Learn {
    /// Every task.
    #[default]
    All,
    /// Tasks whose name starts with this, 1 to [`PREFIX_MOST`](super::PREFIX_MOST) bytes.
    Prefix(String),
}

impl FromStr for Learn {
    type Err = OptionError;

    /// Reads `all` or `prefix:NAME`.
    fn from_str(text: &str) -> Result<Self, OptionError> {
        if text == "all" {
            return Ok(Self::All);
        }
        let name = text.strip_prefix("prefix:").ok_or(OptionError::Learn)?;
        check_prefix(name)?;
        Ok(Self::Prefix(name.to_owned()))
    }
}

impl fmt::Display for Learn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::Prefix(name) => write!(f, "prefix:{name}"),
        }
    }
}

/// A test hook: replaces every estimate by an extreme.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Forced {
    /// The smallest estimate
    Min,
    /// The largest estimate
    Max,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_as_long_as_the_kernels_names() {
        assert_eq!("all".parse(), Ok(Learn::All));
        assert_eq!("prefix:cc1".parse(), Ok(Learn::Prefix("cc1".to_owned())));
        assert_eq!(
            "prefix:123456789012345"
                .parse::<Learn>()
                .map(|l| l.to_string())
                .as_deref(),
            Ok("prefix:123456789012345")
        );
        assert_eq!(
            "prefix:1234567890123456".parse::<Learn>(),
            Err(OptionError::Prefix(16))
        );
        assert_eq!(
            "prefix:ééééééé\u{20ac}".parse::<Learn>(),
            Err(OptionError::Prefix(17))
        );
        assert_eq!("prefix:".parse::<Learn>(), Err(OptionError::Prefix(0)));
        let broken = "prefix:a\nb".parse::<Learn>();
        assert_eq!(broken, Err(OptionError::PrefixCharacters));
        assert_eq!("some".parse::<Learn>(), Err(OptionError::Learn));
    }
}
