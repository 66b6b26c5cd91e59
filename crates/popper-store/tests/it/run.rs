//! Runs to test with: the fixture laws, a proposer that hands them out, a clock that ticks by itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use futures_util::future::BoxFuture;
use jiff::Timestamp;
use llm_types::Clock;
use popper_discovery::rank::Candidate;
use popper_discovery::store::{ModelCallRow, Store};
use popper_discovery::{
    Discovery, LoopConfig, Proposal, ProposeError, Proposer, RunSelector, Snapshot, Step,
    StoredLaws,
};
use popper_harness::decide::{Config, Harness};
use popper_harness::universe::KineticGrid;
use serde_json::Value;

/// All fixture laws, the true, the false and the undecided ones mixed, and some invalid texts.
pub fn laws() -> Vec<Candidate> {
    let files: Vec<Vec<Value>> = ["true", "false", "unknown"]
        .iter()
        .map(|name| {
            let root = env!("CARGO_MANIFEST_DIR");
            let path = format!("{root}/../../fixtures/popper/laws/{name}.json");
            let text = std::fs::read_to_string(path).unwrap();
            serde_json::from_str(&text).unwrap()
        })
        .collect();
    let longest = files.iter().map(Vec::len).max().unwrap();
    let mut laws: Vec<Candidate> = (0..longest)
        .flat_map(|index| files.iter().filter_map(move |file| file.get(index)))
        .cloned()
        .map(Candidate::new)
        .collect();
    let broken = [
        "no JSON at all",
        "quotes ' \" ` ; DROP TABLE laws; --",
        "a NUL \0 within",
        "NUL::as a server stores it: %00 %25",
        "beyond the plane: \u{1F9EA} \u{10FFFF}",
    ];
    laws.extend(broken.iter().map(|text| Candidate {
        raw: (*text).to_owned(),
        law: Err("is no JSON".to_owned()),
    }));
    laws
}

/// The laws of the fixtures that are true, with the next horizon and, if they have one, the next window.
pub fn later_laws() -> Vec<Candidate> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fixtures/popper/laws/true.json"
    );
    let text = std::fs::read_to_string(path).unwrap();
    let mut laws: Vec<Value> = serde_json::from_str(&text).unwrap();
    for law in &mut laws {
        for (_, steps) in law["quantifiers"].as_object_mut().unwrap() {
            *steps = (steps.as_u64().unwrap() + 1).into();
        }
    }
    laws.into_iter().map(Candidate::new).collect()
}

/// Hands out the laws, some an iteration, after two calls that it makes up, with this in their replies.
pub struct Scripted(pub Vec<Candidate>, pub &'static str);

impl Scripted {
    pub const ID: &str = "scripted";
}

impl Proposer for Scripted {
    fn id(&self) -> &'static str {
        Self::ID
    }

    fn propose<'a>(
        &'a self,
        snapshot: &'a Snapshot,
        k: usize,
        calls: &'a [ModelCallRow],
        _: &'a mut dyn StoredLaws,
    ) -> BoxFuture<'a, Result<Step, ProposeError>> {
        let step = if calls.len() < 2 {
            Step::Called(Box::new(ModelCallRow {
                model_id: "a model".into(),
                prompt_hash: format!("prompt {}", snapshot.iteration),
                request_json: serde_json::to_string(snapshot).unwrap(),
                reply_text: format!("reply {}{}", calls.len(), self.1),
                usage_json: "{}".into(),
            }))
        } else {
            let skip = (snapshot.iteration as usize - 1) * k;
            let candidates = self.0.iter().skip(skip).take(k).cloned().collect();
            let mut proposal = Proposal::default();
            proposal.candidates = candidates;
            proposal.prompt_hash = Some(calls[0].prompt_hash.clone());
            proposal.research_log = Some(format!("after {skip}"));
            Step::Proposed(proposal)
        };
        Box::pin(std::future::ready(Ok(step)))
    }
}

/// A clock on which every look takes a millisecond.
#[derive(Default)]
pub struct Ticking {
    now: AtomicU64,
    elapsed: AtomicU64,
}

impl Clock for Ticking {
    fn now(&self) -> SystemTime {
        let first: Timestamp = "2026-11-22T00:00:00Z".parse().unwrap();
        SystemTime::from(first) + Duration::from_millis(self.now.fetch_add(1, Ordering::Relaxed))
    }

    fn elapsed(&self) -> Duration {
        Duration::from_millis(self.elapsed.fetch_add(1, Ordering::Relaxed))
    }
}

pub fn harness(seed: u64) -> Harness {
    let config = Config::default().seed(seed);
    Harness::new(KineticGrid, config).unwrap()
}

/// Opens a run of the scripted proposer.
pub async fn open<S: Store>(
    store: S,
    seed: u64,
    config: LoopConfig,
    which: RunSelector,
) -> Discovery<S> {
    let clock = Arc::new(Ticking::default());
    Discovery::open(store, harness(seed), config, Scripted::ID, clock, which)
        .await
        .unwrap()
}
