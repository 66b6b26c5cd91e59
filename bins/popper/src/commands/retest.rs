//! The command `popper retest`, which decides one law once more.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::sync::Arc;

use bin_support::{Exit, Failure, Session, escape};
use llm_client::SystemClock;
use popper_discovery::store::{LawFilter, LawRow, LawStatus, RunRow, Store};
use popper_discovery::{Discovery, Error, RunSelector};
use popper_store::Access;

use crate::discovery::database::{self, failure};
use crate::discovery::settings::Settings;
use crate::error;
use crate::flags::{LocationFlags, TableFlag};
use crate::table::{Layout, VerdictTable};

/// The fewest digits of a fingerprint that name a law.
const SHORTEST: usize = 8;

#[derive(Debug, clap::Args)]
pub struct RetestArgs {
    #[command(flatten)]
    pub location: LocationFlags,
    #[command(flatten)]
    pub law: LawFlag,
    /// Id of the run with the configuration and the universe [default: newest run with the law].
    #[arg(long, value_name = "ID")]
    pub run_id: Option<i64>,
    /// Print the verdict in full, in an array.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub table: TableFlag,
}

/// The law of a command.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
pub struct LawFlag {
    /// Fingerprint of the law, or at least its first 8 digits.
    #[arg(long, value_name = "SHA256")]
    pub law_fingerprint: Option<String>,
    /// Name of the law, if only one law of the run has it.
    #[arg(long, value_name = "NAME")]
    pub law_id: Option<String>,
}

pub async fn execute(args: &RetestArgs, session: &mut Session) -> Result<Exit, Failure> {
    let asked = args.law.fingerprint()?;
    let location = args.location.location(session)?;
    let mut store = database::open(&location, Access::WriteExisting).await?;
    let runs = runs(&mut store, args.run_id).await?;
    let (run, fingerprint) = match (&args.law.law_id, asked) {
        (Some(name), _) => find_named(&mut store, name, runs).await?,
        (None, asked) => find(&mut store, &asked, runs).await?,
    };
    let stored = database::config(&run)?;
    let Settings { harness, discovery } = Settings::of(&stored)?;
    let lock = store.lock(harness.sim_hash(), harness.config_hash()).await;
    lock.map_err(failure)?;
    let clock = Arc::new(SystemClock::new());
    let which = RunSelector::Id(run.id);
    let proposer = &run.discovery_model_id;
    let discovery = Discovery::open(store, harness, discovery, proposer, clock, which).await;
    let mut discovery = discovery.map_err(failure)?;
    let verdict = discovery.retest(&fingerprint).await.map_err(failure)?;
    let asked = [fingerprint];
    let laws = discovery
        .store()
        .laws(run.id, LawFilter::Fingerprints(&asked))
        .await;
    let laws = laws.map_err(failure)?;
    let layout = Layout::of(&session.results, args.table.verbose);
    let out = &mut session.results;
    if args.json {
        serde_json::to_writer(&mut *out, &[&verdict])?;
        writeln!(out)?;
    } else {
        let mut report = VerdictTable::new(layout);
        let claim = laws.first().map(|law| law.claim_text.as_str());
        report.add(&verdict, claim.unwrap_or_default());
        write!(out, "{}", report.lines(0))?;
    }
    Ok(Exit::Done)
}

impl LawFlag {
    /// Returns the requested digits, empty if a name is given.
    fn fingerprint(&self) -> Result<String, Failure> {
        let asked = self.law_fingerprint.as_deref().unwrap_or_default();
        let is_digits = asked.bytes().all(|byte| byte.is_ascii_hexdigit());
        if self.law_id.is_none() && !((SHORTEST..=64).contains(&asked.len()) && is_digits) {
            return Err(Failure::usage(error::Error::Fingerprint));
        }
        Ok(asked.to_ascii_lowercase())
    }
}

/// Returns the requested runs, newest first.
async fn runs(store: &mut impl Store, id: Option<i64>) -> Result<Vec<RunRow>, Failure> {
    let mut runs = store.runs().await.map_err(failure)?;
    if let Some(id) = id {
        runs.retain(|run| run.id == id);
        if runs.is_empty() {
            return Err(failure(Error::NoRun { id }));
        }
    }
    Ok(runs)
}

/// Returns the newest run that has a law of this name, and the law's fingerprint.
async fn find_named(
    store: &mut impl Store,
    asked: &str,
    runs: Vec<RunRow>,
) -> Result<(RunRow, String), Failure> {
    let Some(newest) = runs.first().map(|run| run.id) else {
        return Err(Failure::new(Exit::Failed, error::Error::NoRuns));
    };
    let statuses = [LawStatus::Proposed, LawStatus::Queued, LawStatus::Tested];
    let mut alike = Vec::new();
    for run in runs {
        let laws = store.laws(run.id, LawFilter::statuses(&statuses)).await;
        let laws = laws.map_err(failure)?;
        let mut named = laws.iter().filter(|law| law.law_id == asked);
        match (named.next(), named.next()) {
            (Some(law), None) => return Ok((run, law.law_fingerprint.clone())),
            (Some(_), Some(_)) => {
                let named = laws.iter().filter(|law| law.law_id == asked);
                let candidates = named.map(|law| law.law_fingerprint[..SHORTEST].to_owned());
                return Err(Failure::usage(error::Error::ManyLawsNamed {
                    asked: escape(asked),
                    run: run.id,
                    candidates: candidates.collect(),
                }));
            }
            _ if run.id == newest => alike = most_alike(asked, &laws),
            _ => {}
        }
    }
    Err(Failure::usage(error::Error::NoLawNamed {
        asked: escape(asked),
        run: newest,
        candidates: alike,
    }))
}

/// Returns the most similar names, at most five.
fn most_alike(asked: &str, laws: &[LawRow]) -> Vec<String> {
    let asked = asked.to_lowercase();
    let likeness = |name: &str| {
        let name = name.to_lowercase();
        let shared = name
            .chars()
            .zip(asked.chars())
            .take_while(|(one, other)| one == other);
        (name.contains(&asked), shared.count())
    };
    let names: BTreeSet<&str> = laws.iter().map(|law| law.law_id.as_str()).collect();
    let mut names: Vec<&str> = names.into_iter().collect();
    names.sort_by_key(|name| std::cmp::Reverse(likeness(name)));
    names.into_iter().take(5).map(escape).collect()
}

/// Returns the newest run with a law whose fingerprint begins as requested, and the whole fingerprint, which must be unique.
async fn find(
    store: &mut impl Store,
    asked: &str,
    runs: Vec<RunRow>,
) -> Result<(RunRow, String), Failure> {
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

/// Returns the fingerprints of a run's laws that begin like this, without rejected proposals.
async fn laws_beginning(
    store: &mut impl Store,
    run: &RunRow,
    beginning: &str,
) -> Result<Vec<String>, Error> {
    let all = store.fingerprints(run.id).await?;
    let fitting: Vec<String> = all
        .range(beginning.to_owned()..)
        .take_while(|fingerprint| fingerprint.starts_with(beginning))
        .cloned()
        .collect();
    let laws = store
        .laws(run.id, LawFilter::Fingerprints(&fitting))
        .await?;
    Ok(laws
        .into_iter()
        .filter(|law| law.status != LawStatus::RejectedSchema)
        .map(|law| law.law_fingerprint)
        .collect())
}
