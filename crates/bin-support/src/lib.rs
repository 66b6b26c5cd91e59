//! The parts that every binary of Orrery shares: flags, `.env`, logging, progress, exit codes, Ctrl-C.
//!
//! A binary is a `clap` struct and a function; [`run`] does the rest:
//!
//! ```
//! use std::io::Write as _;
//! use std::path::PathBuf;
//! use std::process::ExitCode;
//!
//! use bin_support::{Exit, Failure, Interrupt, Program, Session};
//!
//! /// Print the size of each file in bytes.
//! #[derive(clap::Parser)]
//! #[command(name = "sizes", version)]
//! struct Cli {
//!     files: Vec<PathBuf>,
//! }
//!
//! impl Program for Cli {}
//!
//! fn execute(cli: &Cli, session: &mut Session) -> Result<Exit, Failure> {
//!     let interrupt = Interrupt::on_signals()?;
//!     let bar = session.progress.bar("sizes", cli.files.len());
//!     let mut exit = Exit::Done;
//!     for file in &cli.files {
//!         if interrupt.is_raised() {
//!             return Ok(Exit::Interrupted);
//!         }
//!         match std::fs::metadata(file) {
//!             Ok(found) => writeln!(session.results, "{}\t{}", file.display(), found.len())?,
//!             Err(error) => {
//!                 session.report(&error);
//!                 exit = Exit::SomeFailed;
//!             }
//!         }
//!         bar.inc(1);
//!     }
//!     Ok(exit)
//! }
//!
//! fn main() -> ExitCode {
//!     bin_support::run(execute)
//! }
//! ```
//!
//! **The one decision.** Results go to stdout and everything else to stderr, and the program's function never
//! touches either: it writes to [`Session::results`] and returns an [`Exit`] or a [`Failure`]. So a reader that
//! closes the pipe (`| head`) ends every binary quietly, a full disk under stdout is an error and not a lost line, and
//! an error is printed once, as `program: message: source: ...`.
//!
//! Next: [`Exit`] for the codes, [`CommonFlags`] for the flags, [`model::ModelSource`] for a program that asks a model,
//! [`Interrupt`] for work that can stop half-way, [`output::OutputFile`] for files that are written completely or not at all,
//! [`OutputTarget`] for the flags that name one, [`Table`] for results in rows, [`runs`] for the folders of runs,
//! [`environment`] for keys and folders, `mcp` (a feature) for a server of the Model Context Protocol.

#![warn(clippy::exhaustive_enums, clippy::exhaustive_structs)]

mod browser;
pub mod demo;
pub mod environment;
mod error;
mod exit;
#[cfg(feature = "mcp")]
pub mod mcp;
pub mod model;
mod nearest;
pub mod output;
pub mod page;
mod run;
pub mod runs;
mod table;

pub use browser::open_in_browser;
pub use error::Error;
pub use exit::{Exit, Failure, escape, shortened};
pub use nearest::nearest;
pub use run::{
    CommonFlags, DefaultPath, Interrupt, LogFormat, Output, OutputTarget, Program, Progress,
    Results, SeedFlag, Session, Tone, block_on, block_on_threads, command, run, seed,
};
pub use table::{Cell, Table};

#[cfg(test)]
#[path = "../build.rs"]
#[expect(dead_code, reason = "the build script's main function is for Cargo")]
mod build_script;
