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
use crate::flags::RunFlag;
use crate::table::VerdictTable;

/// The fewest digits of a fingerprint that name a law.
const SHORTEST: usize = 8;

#[derive(Debug, clap::Args)]
pub struct RetestArgs {
    #[command(flatten)]
    pub law: LawName,
    #[command(flatten)]
    pub run: RunFlag,
    /// Print the verdict in full, in an array.
    #[arg(long)]
    pub json: bool,
}

/// The law of a command.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
pub struct LawName {
    /// Name of the law, or at least the first 8 digits of its fingerprint.
    #[arg(value_name = "LAW")]
    pub law: Option<String>,
    /// Fingerprint of the law, or at least its first 8 digits, as a flag.
    #[arg(long, value_name = "SHA256")]
    pub law_fingerprint: Option<String>,
    /// Name of the law, as a flag.
    #[arg(long, value_name = "NAME", hide = true)]
    pub law_id: Option<String>,
}

pub async fn execute(args: &RetestArgs, session: &mut Session) -> Result<Exit, Failure> {
    let asked = args.law.asked()?;
    let location = args.run.location.location(session)?;
    let mut store = database::open(&location, Access::WriteExisting).await?;
    let runs = runs(&mut store, args.run.name.asked()).await?;
    let (run, fingerprint) = match asked {
        AskedLaw::Fingerprint(digits) => find(&mut store, &digits, runs).await?,
        AskedLaw::Name(name) => find_named(&mut store, &name, runs).await?,
        AskedLaw::Either(text) => {
            let digits = text.to_ascii_lowercase();
            match find(&mut store, &digits, runs.clone()).await {
                Ok(found) => found,
                Err(_) => find_named(&mut store, &text, runs).await?,
            }
        }
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
    let out = &mut session.results;
    if args.json {
        out.json_line(&[&verdict])?;
    } else {
        let mut table = VerdictTable::new(true);
        let claim = laws.first().map(|law| law.claim_text.as_str());
        table.add(&verdict, claim.unwrap_or_default(), Vec::new());
        let text = table.text(out);
        writeln!(out, "{text}{}", table.summary())?;
    }
    Ok(Exit::Done)
}

/// A law as it was asked for.
enum AskedLaw {
    Name(String),
    /// The first digits of a fingerprint.
    Fingerprint(String),
    /// Digits that may also be a name.
    Either(String),
}

impl LawName {
    fn asked(&self) -> Result<AskedLaw, Failure> {
        let is_digits = |text: &str| {
            (SHORTEST..=64).contains(&text.len())
                && text.bytes().all(|byte| byte.is_ascii_hexdigit())
        };
        match (&self.law_fingerprint, &self.law_id, &self.law) {
            (Some(digits), ..) if is_digits(digits) => {
                Ok(AskedLaw::Fingerprint(digits.to_ascii_lowercase()))
            }
            (Some(_), ..) => Err(Failure::usage(error::Error::Fingerprint)),
            (None, None, Some(text)) if is_digits(text) => Ok(AskedLaw::Either(text.clone())),
            (None, name, law) => {
                let name = name.as_ref().or(law.as_ref());
                Ok(AskedLaw::Name(name.cloned().unwrap_or_default()))
            }
        }
    }
}

/// Returns the requested runs, newest first.
async fn runs(store: &mut impl Store, asked: Option<String>) -> Result<Vec<RunRow>, Failure> {
    let runs = store.runs().await.map_err(failure)?;
    match asked {
        None => Ok(runs),
        Some(name) => Ok(vec![database::pick_silently(runs, Some(&name))?]),
    }
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
    let laws = store.laws(run.id, LawFilter::Beginning(beginning)).await?;
    Ok(laws
        .into_iter()
        .filter(|law| law.status != LawStatus::RejectedSchema)
        .map(|law| law.law_fingerprint)
        .collect())
}
