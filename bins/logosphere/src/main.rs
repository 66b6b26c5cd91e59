//! `logosphere`: a population of minds and what they say to each other, on the command line.
//!
//! ```sh
//! logosphere demo                     # twelve minds that are programs: a run, its proof, null models, a page
//! logosphere new my-experiment        # an experiment to change
//! ```
//!
//! `logosphere --help` lists the commands. The guide is `docs/logosphere.md` in the repository.

mod analyze;
mod cli;
mod clock;
mod demo;
mod error;
mod export;
mod forecast;
mod init_check;
mod journal;
mod leak;
mod lineage;
mod minds;
mod new;
mod null;
mod parse;
mod population;
mod recorded;
mod report;
mod resume;
mod run;
mod running;
mod subject;

use std::process::ExitCode;

fn main() -> ExitCode {
    bin_support::run(cli::execute)
}
