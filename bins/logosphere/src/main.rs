//! `logosphere`: a population of minds and what they say to each other, on the command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::SUCCESS
}
