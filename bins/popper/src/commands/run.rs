//! The command `popper run`.

use std::collections::BTreeSet;

use bin_support::{Exit, Failure, Interrupt, Session, escape};
use popper_discovery::RunSelector;
use popper_discovery::store::RunRow;
use popper_harness::universe::KineticGrid;
use popper_store::Access;

use crate::discovery::database;
use crate::discovery::job::{self, Job};
use crate::discovery::proposer;
use crate::discovery::settings::Settings;
use crate::error;
use crate::flags::{LocationFlags, RunOptions};
use crate::location::StoreLocation;
use crate::universe;

#[derive(Debug, clap::Args)]
pub struct RunArgs {
    #[command(flatten)]
    pub location: LocationFlags,
    /// Number of a run to continue.
    ///
    /// Its universe, configuration and proposer are taken from the database.
    #[arg(long = "run-id", value_name = "ID", conflicts_with = "new")]
    pub id: Option<i64>,
    /// Begin a new run, also if an equal one exists.
    ///
    /// Runs are equal if they have the same universe, configuration and proposer.
    #[arg(long = "new-run")]
    pub new: bool,
    #[command(flatten)]
    pub work: RunOptions,
}

pub async fn execute(args: &RunArgs, session: &mut Session) -> Result<Exit, Failure> {
    let location = &args.location.location(session)?;
    if let Some(id) = args.id {
        let asked = id.to_string();
        return job::resume(location, Some(&asked), &args.work, session).await;
    }
    // All that can be wrong with the flags is found before a database is made.
    job::check(location, &args.work)?;
    let settings = Settings::new(&args.work, None)?;
    let chosen = proposer::choose(&args.work, None, &settings, session)?;
    let timing = args.work.fleet.timing.timing();
    let interrupt = Interrupt::on_signals()?;
    let opened = database::open_patiently(location, Access::Write, &timing, &interrupt).await?;
    let Some((store, runs)) = opened else {
        return Ok(job::interrupted_early(session));
    };
    if args.work.universe.is_none() {
        check_universe(&runs, location, session)?;
    }
    let job = Job {
        location,
        work: &args.work,
        which: if args.new {
            RunSelector::New
        } else {
            RunSelector::Latest
        },
        interrupt,
    };
    job.run(store, settings, chosen, session).await
}

/// Names the other universes of a database to a user who named none. If all runs are in others, a flag was forgotten.
fn check_universe(
    runs: &[RunRow],
    location: &StoreLocation,
    session: &Session,
) -> Result<(), Failure> {
    let known: BTreeSet<&str> = runs.iter().map(|run| run.universe_id.as_str()).collect();
    let others: Vec<&str> = known
        .iter()
        .copied()
        .filter(|id| *id != KineticGrid::ID)
        .collect();
    if others.is_empty() {
        return Ok(());
    }
    let universes = escape(&others.join(", "));
    if known.contains(KineticGrid::ID) {
        let id = KineticGrid::ID;
        session.warn(&format!(
            "{location} also holds runs of {universes}; this run is in {id}, --universe FILE names another"
        ));
        return Ok(());
    }
    Err(Failure::usage(error::Error::OtherUniverse {
        name: location.to_string(),
        universes,
        built_in: universe::BUILT_IN,
    }))
}
