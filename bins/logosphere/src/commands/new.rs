//! `new`: makes the directory of an experiment.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use bin_support::runs::EXPERIMENTS;
use bin_support::{Exit, Failure, Session, escape};
use llm_client::SystemClock;
use logosphere_core::experiment::Experiment;

use crate::folders;
use crate::setup::{ensure_init_file, failure, today};

#[derive(Debug, clap::Args)]
pub struct NewArgs {
    /// Name of the experiment after its date: 1 to 64 of a-z, 0-9, dot, underscore and dash.
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Experiment to copy init.md and config.json from.
    #[arg(long, value_name = "EXP")]
    pub from: Option<PathBuf>,
    /// Copy the random seed too, so that the new run draws the same samples.
    #[arg(long, requires = "from")]
    pub keep_seed: bool,
}

pub fn execute(args: &NewArgs, session: &mut Session) -> Result<Exit, Failure> {
    let make = || {
        Experiment::create(
            Path::new(EXPERIMENTS),
            &args.name,
            today(&SystemClock::new()),
        )
    };
    let made = if let Some(from) = &args.from {
        let from = Experiment::open(&folders::experiment(from, session)?).map_err(failure)?;
        // An experiment that cannot be copied must leave no empty directory.
        from.read_init().map_err(failure)?;
        from.read_config().map_err(failure)?;
        let made = make().map_err(failure)?;
        let left_out = made.copy_from(&from, args.keep_seed).map_err(failure)?;
        if !left_out.is_empty() {
            session.warn(&format!("not copied: {}", left_out.join(", ")));
        }
        made
    } else {
        let made = make().map_err(failure)?;
        ensure_init_file(&made, session)?;
        made
    };
    let path = escape(&made.path().display().to_string());
    writeln!(session.results, "{path}")?;
    session.status(&format!(
        "the seeds are in {path}/init.md\nnext: logosphere run {path}"
    ));
    Ok(Exit::Done)
}
