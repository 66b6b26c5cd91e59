//! `logosphere`: a population of minds and what they say to each other, on the command line.

mod cli;
mod clock;
mod demo;
mod error;
mod forecast;
mod init_check;
mod journal;
mod new;
mod parse;
mod population;
mod report;
mod resume;
mod run;
mod running;

use std::process::ExitCode;

fn main() -> ExitCode {
    bin_support::run(cli::execute)
}
