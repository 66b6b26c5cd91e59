//! A law is put to the test as its row tells it: that must be the law that was proposed.

use std::fmt::Write as _;

use popper_discovery::store::{LawStatus, Query, Store as _};
use popper_discovery::{LoopConfig, MemoryStore, RunSelector, Unobserved};
use popper_harness::counterexample::{Counterexample, rederive};
use popper_harness::decide::Verdict;
use popper_harness::law::{Extensions, Law};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::scripted::{Scripted, fixture_laws, harness, open};

/// sha256 of a verdict's JSON without the time it took.
fn digest(mut verdict: Verdict) -> String {
    verdict.runtime_ms = 0;
    let digest = Sha256::digest(serde_json::to_string(&verdict).unwrap());
    let mut hex = String::new();
    for byte in digest {
        write!(hex, "{byte:02x}").unwrap();
    }
    hex
}

#[tokio::test]
async fn every_fixture_law_gets_the_verdict_that_it_gets_without_a_row() {
    let mut config = LoopConfig::default();
    config.test = 1000;
    let mut discovery = open(
        MemoryStore::default(),
        harness(),
        &config,
        RunSelector::Latest,
    )
    .await
    .unwrap();
    discovery
        .run_to(1, &Scripted::all_at_once(), &mut Unobserved)
        .await
        .unwrap();
    let run = discovery.run().clone();
    let findings = discovery.store().findings(Query::all(&run)).await.unwrap();
    let direct = harness();
    let mut compared = 0;
    for law in fixture_laws() {
        let law = Law::from_value(law, "$", Extensions::default()).unwrap();
        let Some(finding) = findings
            .iter()
            .find(|finding| finding.law.law_id == law.law_id())
        else {
            let rows = &discovery.store().laws;
            let row = rows.iter().find(|row| row.law_id == law.law_id()).unwrap();
            assert_eq!(row.status, LawStatus::RejectedSchema, "{}", law.law_id());
            continue;
        };
        let Verdict {
            status,
            reason_code,
            evidence,
            counterexample,
            ..
        } = direct.evaluate(&law);
        assert_eq!(finding.evaluation.status, status, "{}", law.law_id());
        let reason = reason_code.map(|reason| serde_json::to_value(reason).unwrap());
        let stored = finding.evaluation.reason_code.clone().map(Value::String);
        assert_eq!(stored, reason, "{}", law.law_id());
        let stored: Value = serde_json::from_str(&finding.evaluation.evidence_json).unwrap();
        assert_eq!(stored["scope"], evidence.scope, "{}", law.law_id());
        let place = |package: &Counterexample| {
            (
                package.initial_state.clone(),
                package.t_fail,
                package.minimal,
            )
        };
        // The digest was taken of the verdict itself, so every field of it is told by the rows.
        let rebuilt = finding.verdict(direct.sim_hash()).unwrap();
        let artifacts: Value = serde_json::from_str(&finding.evaluation.artifacts_json).unwrap();
        assert_eq!(
            artifacts["verdict_digest"],
            digest(rebuilt),
            "{}",
            law.law_id()
        );
        let package = finding.package().unwrap();
        assert_eq!(
            package.as_ref().map(place),
            counterexample.as_ref().map(place)
        );
        if let Some(package) = package {
            rederive(&package).unwrap();
        }
        compared += 1;
    }
    // The one that is left does not parse.
    assert_eq!((compared, fixture_laws().len()), (33, 34));
}

#[tokio::test]
async fn every_proposal_is_kept_and_a_broken_one_says_why() {
    let config = LoopConfig::default();
    let mut discovery = open(
        MemoryStore::default(),
        harness(),
        &config,
        RunSelector::Latest,
    )
    .await
    .unwrap();
    discovery
        .run_to(3, &Scripted::mixed(), &mut Unobserved)
        .await
        .unwrap();
    let store = discovery.store();
    let broken: Vec<_> = store
        .laws
        .iter()
        .filter(|law| law.status == LawStatus::RejectedSchema)
        .map(|law| {
            (
                law.law_id.as_str(),
                law.raw_llm_json.as_str(),
                law.normalized_json.as_str(),
            )
        })
        .collect();
    insta::assert_debug_snapshot!(broken);
    let summaries: Vec<Value> = store
        .iterations
        .iter()
        .map(|iteration| serde_json::from_str(iteration.summary_json.as_ref().unwrap()).unwrap())
        .map(|mut summary: Value| {
            let summary = summary.as_object_mut().unwrap();
            let ranked = summary["ranking"].as_array().unwrap().len();
            summary.remove("snapshot");
            summary.remove("selected");
            summary.insert("ranking".into(), ranked.into());
            Value::Object(summary.clone())
        })
        .collect();
    insta::assert_json_snapshot!(summaries);
}
