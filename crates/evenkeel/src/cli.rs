// SPDX-License-Identifier: GPL-2.0-only
//! The command line.

use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{Args, Parser, Subcommand};
use evenkeel_scheduler::probe::Machine;

use crate::args::{Pace, Scheduling};
use crate::failure::Failure;
use crate::output;

const STATUSES: &str = "\
Exit status:
  0  success
  1  failure
  2  usage
  3  kernel or machine unsupported
  4  another scheduler is active
  5  not permitted
  6  a bounded run was stopped early, or the kernel ended the scheduler
Where several hold: 2, 3, 5, 4.";

/// A CPU scheduler for Linux that learns how long tasks run
#[derive(Parser, Debug)]
#[command(name = "evenkeel", version, after_help = STATUSES, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub verb: Verb,

    /// Look for the machine's files below this directory
    #[arg(
        long,
        value_name = "DIR",
        default_value = "/",
        hide = true,
        global = true
    )]
    machine_root: PathBuf,
}

impl Cli {
    pub fn machine(&self) -> Machine {
        Machine::at(&self.machine_root)
    }
}

#[derive(Subcommand, Debug)]
pub enum Verb {
    /// Say whether this kernel and machine can run Evenkeel
    ///
    /// Each requirement with what was found and how to mend it. Exit status 3, 5 or 4 if one is
    /// missing.
    #[command(after_help = "Example:\n  evenkeel check")]
    Check(Format),

    /// Load the BPF programs through the verifier, without attaching them
    #[command(after_help = "Example:\n  sudo evenkeel verify --json")]
    Verify(VerifyArgs),

    /// Print what run would do; build, load and attach nothing
    ///
    /// Needs no privileges. Exit status 0 even if run would be refused: the output says why.
    #[command(after_help = "Example:\n  evenkeel plan --mode shadow --duration 30s")]
    Plan(PlanArgs),

    /// Schedule this machine in the foreground, until Ctrl-C or for --duration
    ///
    /// Prints a line with "ready" once the kernel has registered the scheduler and its first tasks
    /// were dispatched. However the daemon ends, the kernel's own scheduler takes over. SIGINT and
    /// SIGTERM end an unbounded run with status 0 and a bounded one with 6; so does a closed
    /// standard output, with 1 and 6.
    #[command(after_help = "Examples:\n  sudo evenkeel run\n  \
        sudo evenkeel run --mode shadow --duration 10m --interval 10s\n  \
        sudo evenkeel run --monitor 1")]
    Run(RunArgs),

    /// Run for 30 seconds and sum up what happened
    #[command(after_help = "Examples:\n  sudo evenkeel trial\n  \
        sudo evenkeel trial --duration 5m --json")]
    Trial(TrialArgs),

    /// Say what schedules this machine, and how the last run ended
    ///
    /// Asks the kernel first, and works when the daemon is dead. Exit status 0 whenever it could
    /// tell.
    #[command(after_help = "Example:\n  evenkeel status --json")]
    Status(Format),

    /// Print what the running scheduler has learned of one thread
    #[command(
        hide = true,
        after_help = "Example:\n  sudo evenkeel model 1234 --json"
    )]
    Model {
        /// Number of the thread
        tid: u32,
        #[command(flatten)]
        format: Format,
    },

    /// Print a shell's completions
    #[command(hide = true, after_help = "Example:\n  evenkeel completions bash")]
    Completions {
        /// Shell to complete for
        shell: clap_complete::Shell,
    },

    /// Print the manual page
    #[command(hide = true, after_help = "Example:\n  evenkeel man | man -l -")]
    Man {
        /// Verb to describe; without it, the program
        verb: Option<String>,
    },
}

#[derive(Args, Debug)]
pub struct Format {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
pub struct VerifyArgs {
    #[command(flatten)]
    pub scheduling: Scheduling,
    #[command(flatten)]
    pub format: Format,
    /// Load a program that the verifier rejects
    #[arg(long, hide = true)]
    pub inject_rejection: bool,
}

#[derive(Args, Debug)]
pub struct PlanArgs {
    #[command(flatten)]
    pub scheduling: Scheduling,
    #[command(flatten)]
    pub pace: Pace,
}

#[derive(Args, Debug)]
pub struct TrialArgs {
    #[command(flatten)]
    pub scheduling: Scheduling,
    #[command(flatten)]
    pub pace: Pace,
}

#[derive(Args, Debug)]
pub struct RunArgs {
    #[command(flatten)]
    pub scheduling: Scheduling,
    #[command(flatten)]
    pub pace: Pace,

    /// Schedule nothing; print the counters of a daemon that runs already, every so many seconds,
    /// 0.1 to 86400
    #[arg(long, value_name = "SECS", value_parser = crate::time::parse_seconds,
        help_heading = "Running")]
    pub monitor: Option<std::time::Duration>,

    /// Describe the counters and end
    #[arg(long, help_heading = "Running")]
    pub help_stats: bool,
}

/// Reads the command line. Help and version are printed, and end the process.
///
/// # Errors
/// Status 2, on one line, for anything that is not a command.
pub fn parse() -> Result<Option<Cli>, Failure> {
    match Cli::try_parse() {
        Ok(cli) => Ok(Some(cli)),
        Err(error) => match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
                output::print(&error.render().to_string())?;
                Ok(None)
            }
            ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
                Err(Failure::usage("which verb? see evenkeel --help"))
            }
            _ => Err(Failure::usage(fold(&error.render().to_string()))),
        },
    }
}

/// Folds clap's paragraphs into one line, without its usage.
fn fold(rendered: &str) -> String {
    let end = ["\nUsage:", "\nFor more information"]
        .iter()
        .filter_map(|mark| rendered.find(mark));
    let said = &rendered[..end.min().unwrap_or(rendered.len())];
    let lines = said.lines().map(str::trim).filter(|line| !line.is_empty());
    let folded = lines.collect::<Vec<_>>().join(" ");
    folded.strip_prefix("error: ").unwrap_or(&folded).to_owned()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_visible_verb_has_an_example() {
        for verb in Cli::command().get_subcommands() {
            let help = verb
                .get_after_help()
                .map(ToString::to_string)
                .unwrap_or_default();
            assert!(
                help.contains(&format!("evenkeel {}", verb.get_name())),
                "{}",
                verb.get_name()
            );
        }
    }

    #[test]
    fn usage_errors_fold_into_one_line() {
        for line in [
            "evenkeel run --mode never",
            "evenkeel fly",
            "evenkeel run --slice-min 5x",
            "evenkeel completions",
            "evenkeel run --warmup -1",
            "evenkeel run --json --json",
        ] {
            let error = Cli::try_parse_from(line.split(' ')).unwrap_err();
            let folded = fold(&error.render().to_string());
            assert!(
                !folded.contains('\n') && !folded.contains("Usage"),
                "{folded}"
            );
            assert!(
                !folded.is_empty() && !folded.starts_with("error"),
                "{folded}"
            );
        }
    }
}
