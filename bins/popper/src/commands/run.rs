//! The command `popper run`.

use std::collections::BTreeSet;
use std::path::Path;

use bin_support::{Exit, Failure, Session, escape};
use popper_discovery::RunSelector;
use popper_discovery::store::Store as _;
use popper_harness::universe::KineticGrid;
use popper_store::{Access, Database};

use crate::discovery::database::{self, failure};
use crate::discovery::job::{Job, refuse_recording_over_database, resume};
use crate::discovery::proposer;
use crate::discovery::settings::Settings;
use crate::error;
use crate::flags::{DatabaseFlag, RunOptions};
use crate::universe;

#[derive(Debug, clap::Args)]
pub struct RunArgs {
    #[command(flatten)]
    pub database: DatabaseFlag,
    /// Id of a run to continue; its universe, configuration and proposer are taken from the database.
    #[arg(long = "run-id", value_name = "ID", conflicts_with = "new")]
    pub id: Option<i64>,
    /// Begin a new run, also if one with the same universe, configuration and proposer exists.
    #[arg(long = "new-run")]
    pub new: bool,
    #[command(flatten)]
    pub work: RunOptions,
}

pub async fn execute(args: &RunArgs, session: &mut Session) -> Result<Exit, Failure> {
    let db = &args.database.db;
    if let Some(id) = args.id {
        return resume(db, id, &args.work, session).await;
    }
    // All that can be wrong with the flags is found before a database is made.
    refuse_recording_over_database(db, &args.work)?;
    let settings = Settings::new(&args.work, None)?;
    let chosen = proposer::choose(&args.work, None, &settings, session)?;
    let mut store = database::open(db, Access::Write).await?;
    if args.work.universe.is_none() {
        same_universe(&mut store, db).await?;
    }
    let job = Job {
        db,
        work: &args.work,
        which: if args.new {
            RunSelector::New
        } else {
            RunSelector::Latest
        },
    };
    job.run(store, settings, chosen, session).await
}

/// Refuses to begin a run in the built-in universe if all runs are in others: a flag was forgotten.
async fn same_universe(store: &mut Database, db: &Path) -> Result<(), Failure> {
    let runs = store.runs().await.map_err(failure)?;
    let known: BTreeSet<&str> = runs.iter().map(|run| run.universe_id.as_str()).collect();
    if known.is_empty() || known.contains(KineticGrid::ID) {
        return Ok(());
    }
    Err(Failure::usage(error::Error::OtherUniverse {
        name: crate::input::name(db),
        universes: escape(&known.into_iter().collect::<Vec<_>>().join(", ")),
        built_in: universe::BUILT_IN,
    }))
}
