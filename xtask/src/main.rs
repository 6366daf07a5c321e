// SPDX-License-Identifier: GPL-2.0-only

//! Project tasks: `cargo xtask setup`, `lab`, `demo`, `test` and `bench`.
//!
//! Each command has its own file or directory; this one only names them.

mod arm;
mod bench;
mod cargo;
mod demo;
mod image;
mod lab;
mod paths;
mod process;
mod quote;
mod setup;
mod statistics;
mod test;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Set-up, demo, tests, lab and benchmarks of Evenkeel.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Install what the build and the lab need, and say what was found.
    Setup(setup::Arguments),
    /// Run a command in a virtual machine with a sched_ext kernel.
    Lab(lab::Arguments),
    /// Show what Evenkeel does to a workload, beside the kernel's default scheduler.
    Demo(demo::Arguments),
    /// Run all tests, on this machine and on a sched_ext kernel.
    Test(test::Arguments),
    /// Make a disk image with a whole Debian, for the lab.
    Image(image::Arguments),
    /// Measure in the lab, against other schedulers.
    Bench(bench::Arguments),
    /// What `demo` runs in the guest.
    #[command(hide = true)]
    DemoInGuest(demo::Size),
    /// What `bench` runs in the guest.
    #[command(hide = true)]
    BenchInGuest(bench::InGuest),
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Setup(arguments) => setup::run(&arguments),
        Command::Lab(arguments) => lab::run(&arguments),
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Test(arguments) => test::run(&arguments),
        Command::Image(arguments) => image::run(&arguments),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::BenchInGuest(arguments) => bench::run_in_guest(&arguments),
        Command::DemoInGuest(size) => demo::run_in_guest(size),
    };
    match result {
        Ok(status) => ExitCode::from(status),
        Err(error) => {
            eprintln!("xtask: {error:#}");
            let status = error
                .downcast_ref::<process::Failure>()
                .map_or(1, |failure| failure.status);
            ExitCode::from(status)
        }
    }
}
