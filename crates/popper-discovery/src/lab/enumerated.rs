//! The laws of the enumerative proposer for a sealed universe.

use std::collections::BTreeSet;

use futures_util::future::FutureExt as _;
use popper_harness::decide::CaseFamily;
use popper_harness::law::Template;
use serde_json::{Value, json};

use super::contract::LabContract;
use super::limits::MOST_LAWS;
use crate::enumerative::EnumerativeProposer;
use crate::snapshot::{Capabilities, Proposer as _, Snapshot, Step, UniverseContract};

/// Returns the first laws that the proposer enumerates and that no run refutes.
pub(super) fn laws(contract: &LabContract, seed: u64, runs: &[Vec<String>]) -> Vec<Value> {
    let known = UniverseContract {
        symbols: contract.symbols.chars().collect(),
        initial_forbidden: Vec::new(),
        transforms: (contract.transforms.iter())
            .map(|transform| transform.name.clone())
            .collect(),
        has_incoming: false,
    };
    let named = Template::ALL
        .iter()
        .map(|(template, name)| (template, *name));
    let capabilities = Capabilities {
        templates: named
            .filter(|(template, _)| **template != Template::LocalTransition)
            .map(|(_, name)| name.to_owned())
            .collect(),
        families: (CaseFamily::SAMPLED.iter())
            .map(|family| family.name().to_owned())
            .collect(),
        extensions: Vec::new(),
        max_t: super::laws::law_config().max_t,
    };
    let mut snapshot = Snapshot::new(known, capabilities);
    snapshot.gallery = runs.iter().filter_map(|run| specimen(run)).collect();
    let proposer = EnumerativeProposer::new(seed);
    let mut stored = BTreeSet::new();
    // The set of fingerprints is in memory, so the proposer never waits.
    let step = proposer.propose(&snapshot, MOST_LAWS, &[], &mut stored);
    let Some(Ok(Step::Proposed(proposal))) = step.now_or_never() else {
        return Vec::new();
    };
    let laws = proposal.candidates.into_iter();
    laws.filter_map(|candidate| candidate.law.ok()).collect()
}

/// A run in the form in which the proposer reads refutations.
fn specimen(run: &[String]) -> Option<crate::snapshot::FailureExample> {
    let states = run.iter().enumerate();
    let excerpt: Vec<Value> = states
        .map(|(t, state)| json!({"t": t, "state": state}))
        .collect();
    let specimen = json!({
        "template": "", "initial_state": run.first()?, "t_fail": 0, "excerpt": excerpt,
        "witness": {"left": "", "right": "", "op": "==", "now": {}, "next": {}},
    });
    serde_json::from_value(specimen).ok()
}
