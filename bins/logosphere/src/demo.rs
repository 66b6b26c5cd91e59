//! `demo`: everything that needs no model, on a run of its own.

use std::io::Write as _;

use bin_support::{Exit, Failure, Session, escape};
use logosphere_core::config::Durability;

use crate::run::{RunTarget, run_in};
use crate::subject::Subject;
use crate::{args, journal, report};

/// Twelve minds that get a word in ten wrong, thirty rounds, and a pool that no round can fill.
const MINDS: u32 = 12;
const ROUNDS: u32 = 30;
const ACTIVE: usize = 30;

pub fn execute(args: &args::Demo, session: &mut Session) -> Result<Exit, Failure> {
    let place = match &args.output_dir {
        Some(path) => RunTarget::Directory(path),
        None => RunTarget::New("demo"),
    };
    let flags = args::RunFlags {
        settings: args::SettingFlags {
            rounds: Some(ROUNDS),
            minds: Some(MINDS),
            active: Some(ACTIVE),
            seed: Some(1),
            mind: Some("mutator:p=0.1".to_owned()),
            durability: Some(Durability::Flush),
            ..args::SettingFlags::default()
        },
        ..args::RunFlags::default()
    };
    writeln!(session.results, "run, by a program: no model is asked")?;
    let (ran, experiment) = run_in(place, &flags, session)?;
    if ran != Exit::Done {
        return Ok(ran);
    }
    writeln!(
        session.results,
        "\nverify: the journal made anew out of itself"
    )?;
    let subject = Subject {
        experiment: Some(experiment.path().to_owned()),
    };
    let verify = args::Verify {
        subject: subject.clone(),
        legacy: false,
        init: None,
        expect_head: None,
        json: false,
    };
    journal::verify(&verify, session)?;
    writeln!(
        session.results,
        "\nreport: every measure beside what copying at random gives, 200 times"
    )?;
    let made = args::Report { subject, out: None };
    report::execute(&made, session)?;
    let page = escape(&experiment.report().display().to_string());
    writeln!(session.results, "\nopen {page} in a browser")?;
    Ok(Exit::Done)
}
