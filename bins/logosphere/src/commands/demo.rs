//! `demo`: a run without a model, its verification and its report.

use std::io::Write as _;
use std::path::PathBuf;

use bin_support::{Exit, Failure, Session, escape};
use logosphere_core::config::Durability;

use crate::begin::{RunTarget, run_in};
use crate::flags::{RunFlags, SettingFlags};
use crate::{page, proof};

/// Twelve minds that change a word in ten, thirty rounds, and an active pool larger than a round.
const MINDS: u32 = 12;
const ROUNDS: u32 = 30;
const ACTIVE: usize = 30;

#[derive(Debug, clap::Args)]
pub struct DemoArgs {
    /// Directory of the experiment [default: experiments/DATE-demo].
    #[arg(long, value_name = "PATH")]
    pub output_dir: Option<PathBuf>,
}

pub fn execute(args: &DemoArgs, session: &mut Session) -> Result<Exit, Failure> {
    let place = match &args.output_dir {
        Some(path) => RunTarget::Directory(path),
        None => RunTarget::New("demo"),
    };
    let flags = RunFlags {
        settings: SettingFlags {
            rounds: Some(ROUNDS),
            minds: Some(MINDS),
            active: Some(ACTIVE),
            seed: Some(1),
            mind: Some("mutator:p=0.1".to_owned()),
            durability: Some(Durability::Flush),
            ..SettingFlags::default()
        },
        ..RunFlags::default()
    };
    writeln!(session.results, "run, offline: no model is called")?;
    let (ran, experiment) = run_in(place, &flags, session)?;
    if ran != Exit::Done {
        return Ok(ran);
    }
    writeln!(session.results, "\nverify: the journal rebuilt from itself")?;
    proof::check(experiment.path(), None, false, session)?;
    writeln!(
        session.results,
        "\nreport: every measure, compared with 200 runs of random copying"
    )?;
    page::write(experiment.path(), None, session)?;
    let path = escape(&experiment.report().display().to_string());
    writeln!(session.results, "\nopen {path} in a browser")?;
    Ok(Exit::Done)
}
