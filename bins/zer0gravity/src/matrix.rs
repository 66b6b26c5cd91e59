//! `zer0gravity matrix` and `resume`: every encoding on every text, kept in a directory.

use bin_support::{Exit, Failure, Session};
use zer0gravity_engine::plan::{Costs, Plan};
use zer0gravity_engine::run::{ChangedCalls, RunDirectory};

use crate::args::{Matrix, Resume};
use crate::kept::{self, Continued};
use crate::selection::{self, Selected};
use crate::{ask, error, setup};

pub fn matrix(args: &Matrix, quiet: bool, session: &mut Session) -> Result<Exit, Failure> {
    let encodings = selection::encodings(&args.encoding).map_err(Failure::usage)?;
    let asking = &args.asking;
    let Selected { cases, left_out } =
        selection::texts(&args.texts, asking.skip_bad, asking.allow_long, session)?;
    let read = args.encoding.iter().chain(&asking.prices).cloned();
    let read = read.chain(selection::files(&args.texts));
    ask::ensure_not_input(
        &asking.model,
        read.chain(RunDirectory::files_in(&args.run_dir)),
    )?;
    let asked = setup::asked(asking, Some(&args.run_dir), session)?;
    let mut config = setup::config(
        asking,
        &args.repeats,
        asked.model_client.label(),
        &asked.model,
    );
    if config.cost == Costs::None {
        // What is compared here is what encodings are worth.
        config.cost = Costs::Estimated;
    }
    let plan = Plan::new(encodings, cases, config);
    setup::check(&plan, asking, &args.checks)?;
    let directory = setup::begun(&args.run_dir, &plan, left_out, &asking.model)?;
    let report = kept::resume(&directory, &asked, ChangedCalls::Refuse, session)?;
    Ok(kept::conclude(
        Continued::Run,
        &directory,
        &report,
        &args.checks,
        quiet,
        session,
    ))
}

pub fn resume(args: &Resume, quiet: bool, session: &mut Session) -> Result<Exit, Failure> {
    let mut directory = RunDirectory::open(&args.dir).map_err(error::directory)?;
    let plan = directory.plan().clone();
    let prices = args.prices.as_deref();
    let asked = setup::reopened(&mut directory, &plan, &args.model, prices, session)?;
    let changed = if args.accept_changed_calls {
        ChangedCalls::Accept
    } else {
        ChangedCalls::Refuse
    };
    let report = kept::resume(&directory, &asked, changed, session)?;
    Ok(kept::conclude(
        Continued::Run,
        &directory,
        &report,
        &args.checks,
        quiet,
        session,
    ))
}
