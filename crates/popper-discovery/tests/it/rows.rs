//! A law is put to the test as its row tells it: that must be the law that was proposed.

use std::fmt::Write as _;
use std::sync::Arc;

use popper_discovery::{
    Candidate, Discovery, LawStatus, LoopConfig, MemoryStore, Proposal, ProposeError, Proposer,
    Query, Snapshot, Step, Still, Store as _, Unobserved, Which,
};
use popper_harness::decide::{Config, Harness, Verdict};
use popper_harness::law::{Extensions, Law};
use popper_harness::universe::KineticGrid;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// Proposes a fixed list.
struct Fixed(Vec<Value>);

impl Proposer for Fixed {
    fn id(&self) -> &'static str {
        "fixed"
    }

    fn propose<'a>(
        &'a self,
        _: &'a Snapshot,
        _: usize,
        _: &'a [popper_discovery::Call],
    ) -> futures_util::future::BoxFuture<'a, Result<Step, ProposeError>> {
        let candidates = self.0.iter().cloned().map(Candidate::new).collect();
        Box::pin(std::future::ready(Ok(Step::Proposed(Proposal {
            candidates,
            ..Proposal::default()
        }))))
    }
}

fn fixture_laws() -> Vec<Value> {
    ["true", "false", "unknown"]
        .iter()
        .flat_map(|name| {
            let path = format!(
                "{}/../../fixtures/popper/laws/{name}.json",
                env!("CARGO_MANIFEST_DIR")
            );
            let text = std::fs::read_to_string(path).unwrap();
            serde_json::from_str::<Vec<Value>>(&text).unwrap()
        })
        .collect()
}

fn harness() -> Harness {
    Harness::new(KineticGrid, Config::default()).unwrap()
}

/// sha256 of a verdict's JSON without the time it took.
fn digest(verdict: Verdict) -> String {
    let timeless = Verdict {
        runtime_ms: 0,
        ..verdict
    };
    let digest = Sha256::digest(serde_json::to_string(&timeless).unwrap());
    let mut hex = String::new();
    for byte in digest {
        write!(hex, "{byte:02x}").unwrap();
    }
    hex
}

#[tokio::test]
async fn every_fixture_law_gets_the_verdict_that_it_gets_without_a_row() {
    let laws = fixture_laws();
    let config = LoopConfig {
        test: 1000,
        ..LoopConfig::default()
    };
    let clock = Arc::new(Still("2026-11-22T00:00:00Z".parse().unwrap()));
    let store = MemoryStore::default();
    let mut discovery = Discovery::open(store, harness(), config, "fixed", clock, Which::Latest)
        .await
        .unwrap();
    discovery
        .run_to(1, &Fixed(laws.clone()), &mut Unobserved)
        .await
        .unwrap();
    let run = discovery.run().clone();
    let findings = discovery.store().findings(Query::all(&run)).await.unwrap();
    let direct = harness();
    let mut compared = 0;
    for law in laws {
        let Ok(law) = Law::from_value(law, "$", Extensions::default()) else {
            continue;
        };
        let Some(finding) = findings
            .iter()
            .find(|finding| finding.law.law_id == law.law_id)
        else {
            let rows = &discovery.store().laws;
            let row = rows.iter().find(|row| row.law_id == law.law_id).unwrap();
            assert_eq!(row.status, LawStatus::RejectedSchema, "{}", law.law_id);
            continue;
        };
        let Verdict {
            status,
            reason_code,
            evidence,
            counterexample,
            ..
        } = direct.evaluate(&law);
        assert_eq!(finding.evaluation.status, status, "{}", law.law_id);
        let reason = reason_code.map(|reason| serde_json::to_value(reason).unwrap());
        let stored = finding.evaluation.reason_code.clone().map(Value::String);
        assert_eq!(stored, reason, "{}", law.law_id);
        let stored: Value = serde_json::from_str(&finding.evaluation.evidence_json).unwrap();
        assert_eq!(stored["scope"], evidence.scope, "{}", law.law_id);
        let start = |package: &popper_harness::counterexample::Counterexample| {
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
            law.law_id
        );
        let package = finding.package().unwrap();
        assert_eq!(
            package.as_ref().map(start),
            counterexample.as_ref().map(start)
        );
        if let Some(package) = package {
            popper_harness::counterexample::replay(&package).unwrap();
        }
        compared += 1;
    }
    assert_eq!(compared, 33);
}
