//! The project's own commands: `cargo xtask demo`, `cargo xtask test` and `cargo xtask peers`.

mod browser;
mod demo;
mod error;
mod peers;
mod suite;
mod workspace;

use std::process::ExitCode;

use bin_support::{CommonFlags, Exit, Failure, Session};

use crate::error::Error;
use crate::workspace::Workspace;

/// The project's own commands.
#[derive(clap::Parser)]
#[command(name = "xtask")]
struct Cli {
    #[command(flatten)]
    common: CommonFlags,
    #[command(subcommand)]
    task: Task,
}

#[derive(clap::Subcommand)]
enum Task {
    /// Build once, run the main job of every world offline, show the results and where they lie.
    Demo,
    /// Set up what the tests need, then run every test.
    Test,
    /// Install servers and clients by others into `target/peers`, run the opt-in tests with each.
    Peers {
        /// Only these: aimock, katan, local.
        names: Vec<String>,
    },
}

impl AsRef<CommonFlags> for Cli {
    fn as_ref(&self) -> &CommonFlags {
        &self.common
    }
}

fn execute(cli: &Cli, session: &mut Session) -> Result<Exit, Failure> {
    let workspace = Workspace::find()?;
    match &cli.task {
        Task::Demo => demo::run(&workspace, session),
        Task::Test => Ok(suite::run(&workspace)?),
        Task::Peers { names } => peers::run(&workspace, names, session),
    }
}

fn main() -> ExitCode {
    bin_support::run(execute)
}
