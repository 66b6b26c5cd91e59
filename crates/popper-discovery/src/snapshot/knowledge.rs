//! The knowledge that a proposer receives, built from the store alone.

use std::collections::{BTreeMap, BTreeSet};

use popper_harness::counterexample::{TraceStep, Witness};
use popper_harness::decide::{CaseFamily, Harness, Status, Strength};
use popper_harness::law::{NormalLaw, Template};
use popper_harness::universe::{Tabulated, Universe};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::config::LoopConfig;
use super::proposer::Cursor;
use super::summary::Summary;
use crate::error::Error;
use crate::rank::TimelessClaim;
use crate::store::{Iteration, LawStatus, Pick, Query, RunRow, Store, TestedLaw};

/// The complete knowledge of a proposer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Snapshot {
    /// The number of the iteration, from 1.
    pub iteration: u32,
    /// The symbols and the possible starts, never the rule.
    pub contract: UniverseContract,
    /// The claims and tests that the harness supports.
    pub capabilities: Capabilities,
    /// Accepted laws, the latest last.
    pub accepted: Vec<Accepted>,
    /// Refuted laws, the latest last.
    pub falsified: Vec<Falsified>,
    /// Undecided laws, the latest last.
    pub unknown: Vec<Undecided>,
    /// Refutations that differ from each other as much as possible.
    pub gallery: Vec<FailureExample>,
    /// Numbers of laws in the whole run.
    pub totals: Totals,
    /// The proposer's notes of its last turn.
    pub research_log: Option<String>,
    /// The position of the proposer. It is in no prompt, and stored in the summary of the iteration that left it.
    #[serde(skip)]
    pub cursor: BTreeMap<String, u64>,
}

/// The part of a universe's definition that a proposer may know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct UniverseContract {
    /// The symbols in order; the first is the background.
    pub symbols: Vec<char>,
    /// The symbols that no state holds at t = 0.
    pub initial_forbidden: Vec<char>,
    /// The named transforms. The shifts (`shift_k`) always exist.
    pub transforms: Vec<String>,
    /// Whether the observable `incoming_collisions` exists.
    pub has_incoming: bool,
}

impl UniverseContract {
    /// Returns the contract of a universe.
    pub fn of(universe: &Tabulated) -> Self {
        let alphabet = universe.alphabet();
        let symbols = alphabet.chars().to_vec();
        let may_start = |symbol: &char| {
            alphabet
                .symbol(*symbol)
                .is_some_and(|symbol| universe.may_start(symbol))
        };
        Self {
            initial_forbidden: symbols.iter().copied().filter(|s| !may_start(s)).collect(),
            symbols,
            transforms: universe
                .transforms()
                .iter()
                .map(|t| t.name().to_owned())
                .collect(),
            has_incoming: universe.incoming().is_some(),
        }
    }
}

/// The claims and tests that the harness supports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Capabilities {
    /// The templates.
    pub templates: Vec<String>,
    /// The generator families that `proposed_tests` may name.
    pub families: Vec<String>,
    /// The extensions that are on.
    pub extensions: Vec<String>,
    /// The longest horizon that is tested without being shortened, in steps.
    pub max_t: u64,
}

impl Capabilities {
    /// Returns the capabilities of a harness.
    pub fn of(harness: &Harness) -> Self {
        let config = harness.config();
        let local = config.language().local_transition;
        Self {
            templates: Template::ALL
                .iter()
                .filter(|(template, _)| local || *template != Template::LocalTransition)
                .map(|(_, name)| (*name).to_owned())
                .collect(),
            families: CaseFamily::SAMPLED
                .iter()
                .map(|f| f.name().to_owned())
                .collect(),
            extensions: config.extensions.clone(),
            max_t: config.max_t,
        }
    }
}

/// A law that passed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a store that builds a snapshot gives every fact"
)]
pub struct Accepted {
    /// sha256 of `law`.
    pub law_fingerprint: String,
    /// The normal form of the law.
    pub law: Value,
    /// The strength of the evidence.
    pub strength: Option<Strength>,
    /// The scope of the evidence in words.
    pub scope: String,
}

/// A law that was refuted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a store that builds a snapshot gives every fact"
)]
pub struct Falsified {
    /// sha256 of `law`.
    pub law_fingerprint: String,
    /// The normal form of the law.
    pub law: Value,
    /// The counterexample of the law.
    pub counterexample: FailureExample,
}

/// A law that is neither accepted nor refuted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a store that builds a snapshot gives every fact"
)]
pub struct Undecided {
    /// sha256 of `law`.
    pub law_fingerprint: String,
    /// The normal form of the law.
    pub law: Value,
    /// The reason code of the verdict UNKNOWN.
    pub reason: String,
    /// The change to the law that would make it decidable.
    pub needs: String,
}

/// A counterexample of a refuted law.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a store that builds a snapshot gives every fact"
)]
pub struct FailureExample {
    /// The template of the refuted law.
    pub template: String,
    /// The state at t = 0.
    pub initial_state: String,
    /// The first step at which the claim fails.
    pub t_fail: u64,
    /// The states around that step.
    pub excerpt: Vec<TraceStep>,
    /// The values of the observables at that step.
    pub witness: Witness,
}

/// Numbers of laws in a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Totals {
    /// Number of accepted laws.
    pub pass: u64,
    /// Number of refuted laws.
    pub fail: u64,
    /// Number of undecided laws.
    pub unknown: u64,
    /// Number of invalid proposals.
    pub rejected: u64,
    /// Number of laws that are waiting for a test.
    pub waiting: u64,
    /// Number of laws beyond those that wait.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub shelved: u64,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The change that would make a law decidable, by the reason code of its verdict.
pub(crate) fn needs(reason: &str) -> &'static str {
    match reason {
        "missing_observable" => "say it with the observables that exist",
        "missing_transform" => "use a transform that exists",
        "missing_generator" => "ask for families of cases that exist",
        "ambiguous_claim" => "one claim that parses and agrees with the law's own fields",
        "evaluation_error" => {
            "an expression that has a value everywhere: no divisor of 0, no overflow"
        }
        "unmet_preconditions" => "preconditions that more starts meet",
        "vacuous_pass" => "an antecedent that is met in some run",
        "tautological_claim" => "a claim that arbitrary states can violate",
        "resource_limit" => "a shorter horizon or a smaller expression",
        _ => "a claim that wrong neighbours of it would violate on the same cases",
    }
}

impl Snapshot {
    /// The snapshot of the first iteration, in which nothing is known.
    pub fn new(contract: UniverseContract, capabilities: Capabilities) -> Self {
        Self {
            iteration: 1,
            contract,
            capabilities,
            accepted: Vec::new(),
            falsified: Vec::new(),
            unknown: Vec::new(),
            gallery: Vec::new(),
            totals: Totals::default(),
            research_log: None,
            cursor: Cursor::new(),
        }
    }

    /// Builds the snapshot that an iteration starts from.
    ///
    /// # Errors
    /// Those of the store, and [`Error::Row`] when a row does not hold what this program writes.
    pub async fn build(
        store: &mut impl Store,
        run: &RunRow,
        iteration: &Iteration,
        harness: &Harness,
        config: &LoopConfig,
    ) -> Result<Self, Error> {
        let mut latest = async |status, limit| {
            let query = Query::newest(run, Some(status), limit);
            store.findings(query).await
        };
        // Of several that say the same only one is shown.
        let repeated = config.accepted.saturating_mul(2);
        let mut accepted = latest(Status::Pass, repeated).await?;
        // The gallery chooses among more than it shows.
        let wide = config.falsified.max(config.gallery.saturating_mul(8));
        let mut falsified = latest(Status::Fail, wide).await?;
        let mut unknown = latest(Status::Unknown, config.unknown).await?;
        // A row that is damaged is missing here; the loop reports it when it ranks.
        for findings in [&mut accepted, &mut falsified, &mut unknown] {
            findings.retain(|finding| normal_form(finding).is_ok());
        }
        let specimens = falsified
            .iter()
            .map(specimen)
            .collect::<Result<Vec<_>, _>>()?;
        let (research_log, cursor) = left_behind(store, run, iteration).await?;
        let accepted = accepted.iter().map(accept).collect::<Result<_, _>>()?;
        let mut accepted = proofs_once(accepted);
        accepted.drain(..accepted.len().saturating_sub(config.accepted as usize));
        let shown = falsified.len().saturating_sub(config.falsified as usize);
        Ok(Self {
            iteration: iteration.iteration_index,
            contract: UniverseContract::of(harness.universe()),
            capabilities: Capabilities::of(harness),
            accepted,
            gallery: diverse(&specimens, config.gallery as usize),
            falsified: falsified
                .iter()
                .zip(specimens)
                .skip(shown)
                .map(|(finding, counterexample)| {
                    Ok(Falsified {
                        law_fingerprint: finding.law.law_fingerprint.clone(),
                        law: normal_form(finding)?,
                        counterexample,
                    })
                })
                .collect::<Result<_, Error>>()?,
            unknown: unknown.iter().map(undecided).collect::<Result<_, _>>()?,
            totals: totals(store, run).await?,
            research_log,
            cursor,
        })
    }
}

fn normal_form(finding: &TestedLaw) -> Result<Value, Error> {
    let law = &finding.law;
    Error::json("laws", law.id, "normalized_json", &law.normalized_json)
}

fn accept(finding: &TestedLaw) -> Result<Accepted, Error> {
    #[derive(Deserialize)]
    struct EvidenceRow {
        strength: Option<Strength>,
        scope: String,
    }
    let evaluation = &finding.evaluation;
    let evidence: EvidenceRow = Error::json(
        "law_evaluations",
        evaluation.id,
        "evidence_json",
        &evaluation.evidence_json,
    )?;
    Ok(Accepted {
        law_fingerprint: finding.law.law_fingerprint.clone(),
        law: normal_form(finding)?,
        strength: evidence.strength,
        scope: evidence.scope,
    })
}

/// Leaves out the proved laws that follow from another one of the list: they differ from it in T, or have a greater H.
fn proofs_once(accepted: Vec<Accepted>) -> Vec<Accepted> {
    let claims: Vec<Option<TimelessClaim>> = accepted.iter().map(proved_claim).collect();
    // The smallest H of each claim, and the first law with it.
    let mut strongest: BTreeMap<&str, (u64, usize)> = BTreeMap::new();
    for (index, claim) in claims.iter().enumerate() {
        if let Some(claim) = claim {
            let found = strongest.entry(&claim.fingerprint);
            let found = found.or_insert((claim.h, index));
            *found = (claim.h, index).min(*found);
        }
    }
    let shown: BTreeSet<usize> = strongest.into_values().map(|(_, index)| index).collect();
    let laws = accepted.into_iter().zip(&claims).enumerate();
    laws.filter(|(index, (_, claim))| claim.is_none() || shown.contains(index))
        .map(|(_, (law, _))| law)
        .collect()
}

/// The claim of a proved law.
fn proved_claim(law: &Accepted) -> Option<TimelessClaim> {
    if law.strength != Some(Strength::Proved) {
        return None;
    }
    let normal = NormalLaw::from_value(law.law.clone(), "$").ok()?;
    Some(TimelessClaim::of(&normal))
}

fn undecided(finding: &TestedLaw) -> Result<Undecided, Error> {
    let reason = finding.evaluation.reason_code.clone().unwrap_or_default();
    Ok(Undecided {
        law_fingerprint: finding.law.law_fingerprint.clone(),
        law: normal_form(finding)?,
        needs: needs(&reason).to_owned(),
        reason,
    })
}

fn specimen(finding: &TestedLaw) -> Result<FailureExample, Error> {
    let Some(row) = &finding.counterexample else {
        return Err(Error::row(
            "law_evaluations",
            finding.evaluation.id,
            "counterexample_id",
            "a FAIL without a counterexample",
        ));
    };
    Ok(FailureExample {
        template: finding.law.template.clone(),
        initial_state: row.initial_state.clone(),
        t_fail: row.t_fail,
        excerpt: Error::json(
            "counterexamples",
            row.id,
            "trajectory_excerpt_json",
            &row.trajectory_excerpt_json,
        )?,
        witness: Error::json("counterexamples", row.id, "witness_json", &row.witness_json)?,
    })
}

/// At most `limit` refutations, each start once, turn by turn from each template and ring size, the latest of each first.
fn diverse(specimens: &[FailureExample], limit: usize) -> Vec<FailureExample> {
    let mut kinds: Vec<((&str, usize), Vec<&FailureExample>)> = Vec::new();
    let mut starts = BTreeSet::new();
    for specimen in specimens.iter().rev() {
        if !starts.insert(&specimen.initial_state) {
            continue;
        }
        let kind = (
            specimen.template.as_str(),
            specimen.initial_state.chars().count(),
        );
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, members)) => members.push(specimen),
            None => kinds.push((kind, vec![specimen])),
        }
    }
    let longest = kinds.iter().map(|(_, members)| members.len()).max();
    (0..longest.unwrap_or(0))
        .flat_map(|round| {
            kinds
                .iter()
                .filter_map(move |(_, members)| members.get(round))
        })
        .take(limit)
        .map(|specimen| (*specimen).clone())
        .collect()
}

async fn totals(store: &mut impl Store, run: &RunRow) -> Result<Totals, Error> {
    let tally = store.tally(run).await?;
    let laws = |status| tally.laws.get(&status).copied().unwrap_or(0);
    let verdicts = |name: &str| {
        let of_it = tally
            .verdicts
            .iter()
            .filter(|((status, _), _)| status == name);
        of_it.map(|(_, count)| count).sum()
    };
    Ok(Totals {
        pass: verdicts("PASS"),
        fail: verdicts("FAIL"),
        unknown: verdicts("UNKNOWN"),
        rejected: laws(LawStatus::RejectedSchema),
        waiting: laws(LawStatus::Proposed),
        shelved: laws(LawStatus::Queued),
    })
}

/// The notes and the cursor of the iteration before this one. An iteration without notes keeps those of the one before it.
async fn left_behind(
    store: &mut impl Store,
    run: &RunRow,
    iteration: &Iteration,
) -> Result<(Option<String>, Cursor), Error> {
    let index = iteration.iteration_index.saturating_sub(1);
    let earlier = store.iterations(run.id, Pick::Index(index)).await?;
    let Some(earlier) = earlier.first() else {
        return Ok((None, Cursor::new()));
    };
    let Some(json) = &earlier.summary_json else {
        return Ok((None, Cursor::new()));
    };
    let summary: Summary = Error::json("iterations", earlier.id, "summary_json", json)?;
    Ok((summary.research_log, summary.cursor))
}
