//! A proposer with a script: laws of the fixtures, some of them broken, a batch an iteration.

use std::sync::Arc;
use std::time::SystemTime;

use futures_util::future::BoxFuture;
use jiff::Timestamp;
use llm_types::FixedClock;
use popper_discovery::rank::Candidate;
use popper_discovery::store::{ModelCallRow, Store};
use popper_discovery::{
    Discovery, Error, LoopConfig, Proposal, ProposeError, Proposer, RunSelector, Snapshot, Step,
    StoredLaws,
};
use popper_harness::decide::{Config, Harness};
use popper_harness::universe::KineticGrid;
use serde_json::{Value, json};

/// The laws of the fixtures in order.
pub fn fixture_laws() -> Vec<Value> {
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

/// Proposes `batches[iteration - 1]`, after one call, as a model would.
pub struct Scripted {
    pub batches: Vec<Vec<Candidate>>,
}

impl Scripted {
    pub const ID: &str = "scripted";

    /// Every law of the fixtures in one batch.
    pub fn all_at_once() -> Self {
        let laws = fixture_laws().into_iter().map(Candidate::new).collect();
        Self {
            batches: vec![laws],
        }
    }

    /// Three batches with true, false and undecided laws, broken ones, and repetitions.
    pub fn mixed() -> Self {
        let laws = fixture_laws();
        let broken = [
            Candidate {
                raw: "I am sorry, but".into(),
                law: Err("not JSON".into()),
            },
            Candidate::new(json!({"law_id": "shapeless", "template": "theory"})),
        ];
        let batch = |number: usize| {
            let own = laws.iter().skip(number).step_by(3).cloned();
            let again = laws.iter().skip(3 * number).take(2).cloned();
            let laws = own.chain(again).map(Candidate::new);
            laws.chain(broken.iter().take(number).cloned()).collect()
        };
        Self {
            batches: (0..3).map(batch).collect(),
        }
    }
}

impl Proposer for Scripted {
    fn id(&self) -> &'static str {
        Self::ID
    }

    fn propose<'a>(
        &'a self,
        snapshot: &'a Snapshot,
        _: usize,
        calls: &'a [ModelCallRow],
        _: &'a mut dyn StoredLaws,
    ) -> BoxFuture<'a, Result<Step, ProposeError>> {
        let prompt = serde_json::to_string(snapshot).unwrap();
        let step = if calls.is_empty() {
            Step::Called(Box::new(ModelCallRow {
                model_id: Self::ID.into(),
                prompt_hash: format!("{:064x}", prompt.len()),
                request_json: prompt,
                reply_text: format!("batch {}", snapshot.iteration),
                usage_json: r#"{"input_tokens":7,"output_tokens":5,"nano_usd":1000}"#.into(),
            }))
        } else {
            let mut proposal = Proposal::default();
            proposal
                .candidates
                .clone_from(&self.batches[snapshot.iteration as usize - 1]);
            proposal.prompt_hash = Some(calls[0].prompt_hash.clone());
            proposal.research_log = Some(format!("after {}", snapshot.iteration));
            Step::Proposed(proposal)
        };
        Box::pin(std::future::ready(Ok(step)))
    }
}

pub fn harness() -> Harness {
    Harness::new(KineticGrid, Config::default()).unwrap()
}

/// One that does not try hard, where only the rows matter.
pub fn quick() -> Harness {
    let config = Config::default()
        .exhaustive_n(3)
        .minimal_n(3)
        .ladder((1..=8).collect())
        .adversarial(false)
        .min_cases(10);
    Harness::new(KineticGrid, config).unwrap()
}

pub fn moment() -> SystemTime {
    "2026-11-22T00:00:00Z".parse::<Timestamp>().unwrap().into()
}

/// A run of the script on the kinetic grid, with a fixed clock.
pub async fn open<S: Store>(
    store: S,
    harness: Harness,
    config: &LoopConfig,
    which: RunSelector,
) -> Result<Discovery<S>, Error> {
    let clock = Arc::new(FixedClock(moment()));
    Discovery::open(store, harness, config.clone(), Scripted::ID, clock, which).await
}
