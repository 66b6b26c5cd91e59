//! `popper retest`: one law, decided once more.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::sync::Arc;

use bin_support::{Exit, Failure, Session};
use popper_discovery::{Discovery, Error, LawStatus, Run, Store, Which};
use popper_store::Access;

use super::clock::SystemClock;
use super::database::{self, failure};
use super::settings::Settings;
use crate::cli;
use crate::error;
use crate::table::Report;

/// The fewest digits of a fingerprint that name a law.
const SHORTEST: usize = 8;

pub async fn retest(args: &cli::Retest, session: &mut Session) -> Result<Exit, Failure> {
    let asked = args.law_fingerprint.to_ascii_lowercase();
    if !(SHORTEST..=64).contains(&asked.len())
        || !asked.bytes().all(|byte| byte.is_ascii_hexdigit())
    {
        return Err(Failure::usage(error::Error::Fingerprint));
    }
    let mut store = database::open(&args.database.db, Access::WriteExisting).await?;
    let (run, fingerprint) = find(&mut store, &asked, args).await?;
    let stored = database::config(&run)?;
    let Settings { harness, discovery } = Settings::of(&stored)?;
    let clock = Arc::new(SystemClock::new());
    let which = Which::Id(run.id);
    let proposer = &run.discovery_model_id;
    let discovery = Discovery::open(store, harness, discovery, proposer, clock, which).await;
    let verdict = discovery.map_err(failure)?.retest(&fingerprint).await;
    let verdict = verdict.map_err(failure)?;
    let out = &mut session.results;
    if args.json {
        serde_json::to_writer(&mut *out, &[&verdict])?;
        writeln!(out)?;
    } else {
        let mut report = Report::new();
        report.add(&verdict);
        write!(out, "{}", report.lines(0))?;
    }
    Ok(Exit::Done)
}

/// The run and the whole fingerprint that are meant: the newest run whose laws have one, and only one, that begins as asked.
async fn find(
    store: &mut impl Store,
    asked: &str,
    args: &cli::Retest,
) -> Result<(Run, String), Failure> {
    let mut runs = store.runs().await.map_err(failure)?;
    if let Some(id) = args.run_id {
        runs.retain(|run| run.id == id);
        if runs.is_empty() {
            return Err(failure(Error::NoRun { id }));
        }
    }
    let mut fitting: BTreeSet<String> = BTreeSet::new();
    let mut found = None;
    for run in runs {
        let laws = laws_beginning(store, &run, asked).await.map_err(failure)?;
        if found.is_none() && !laws.is_empty() {
            found = Some(run);
        }
        fitting.extend(laws);
    }
    match (found, fitting.len()) {
        (Some(run), 1) => Ok((run, fitting.pop_first().unwrap_or_default())),
        (None, _) => Err(failure(Error::NoLaw {
            law_fingerprint: asked.to_owned(),
        })),
        (Some(_), count) => Err(Failure::usage(error::Error::AmbiguousFingerprint {
            asked: asked.to_owned(),
            count,
            first: fitting.into_iter().take(3).collect::<Vec<_>>().join(", "),
        })),
    }
}

/// The fingerprints of the laws of a run that begin like this. What was rejected is no law.
async fn laws_beginning(
    store: &mut impl Store,
    run: &Run,
    beginning: &str,
) -> Result<Vec<String>, Error> {
    let all = store.fingerprints(run.id).await?;
    let fitting: Vec<String> = all
        .range(beginning.to_owned()..)
        .take_while(|fingerprint| fingerprint.starts_with(beginning))
        .cloned()
        .collect();
    let laws = store.laws_by_fingerprint(run.id, &fitting).await?;
    Ok(laws
        .into_iter()
        .filter(|law| law.status != LawStatus::RejectedSchema)
        .map(|law| law.law_fingerprint)
        .collect())
}
