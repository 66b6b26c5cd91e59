//! The proposer that asks a model, with models that follow a script.

mod blind;
mod hostile;
mod recorded;
mod resume;

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures_util::future::{BoxFuture, FutureExt as _, pending};
use llm_client::provider::{HttpRequest, HttpResponse};
use llm_client::{Anthropic, Auth, Client, ClientBuilder, Endpoint, Error, RetryPolicy};
use llm_types::FixedClock;
use popper_discovery::llm::{LlmOptions, LlmProposer, SymbolMask};
use popper_discovery::{
    Capabilities, Discovery, LoopConfig, MemoryStore, RunSelector, Snapshot, UniverseContract,
};
use popper_harness::decide::{Config, Harness};
use popper_harness::universe::{KineticGrid, Tabulated, Universe};
use serde_json::{Value, json};
use test_support::{CannedReply, FakeClock, MemoryTransport, response};

/// The behaviour of a scripted model.
pub enum Does {
    /// The model replies with this text.
    Says(String),
    /// The model replies with this HTTP status.
    Fails(u16),
    /// The model never replies.
    Hangs,
}

/// A model that does one thing after another, and at the end nothing but fail.
pub struct Model {
    pub transport: Arc<MemoryTransport>,
}

impl Model {
    pub fn new(script: impl IntoIterator<Item = Does>) -> Self {
        let script: Mutex<Vec<Does>> = Mutex::new(script.into_iter().collect());
        let transport = MemoryTransport::slow(move |request| {
            let mut script = script.lock().unwrap();
            let does = if script.is_empty() {
                Does::Fails(529)
            } else {
                script.remove(0)
            };
            answer(does, &request)
        });
        Self {
            transport: Arc::new(transport),
        }
    }

    pub fn saying<T: Into<String>>(texts: impl IntoIterator<Item = T>) -> Self {
        Self::new(texts.into_iter().map(|text| Does::Says(text.into())))
    }

    pub fn client(&self) -> ClientBuilder {
        let endpoint = Endpoint::new(Anthropic::DEFAULT_BASE, Auth::None).unwrap();
        let retry = RetryPolicy::default().retries(0);
        Client::builder(
            Arc::new(Anthropic::new(endpoint)),
            Arc::new(FakeClock::new()),
        )
        .transport(self.transport.clone())
        .retry(retry)
    }

    pub fn proposer(&self, options: LlmOptions) -> LlmProposer {
        let client = self.client().build().unwrap();
        LlmProposer::new(client, LlmProposer::DEFAULT_MODEL, options)
    }

    /// The bodies of all requests.
    pub fn bodies(&self) -> Vec<Value> {
        let requests = self.transport.requests();
        let body = |request: &HttpRequest| serde_json::from_slice(&request.body).unwrap();
        requests.iter().map(body).collect()
    }
}

fn answer(does: Does, request: &HttpRequest) -> BoxFuture<'static, Result<HttpResponse, Error>> {
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    assert_eq!(body["stream"], Value::Null, "whole replies only");
    let reply = match does {
        Does::Hangs => return pending().boxed(),
        Does::Fails(status) => {
            let error = CannedReply::anthropic_error("overloaded_error", "busy");
            response(status, &[], Bytes::from(error))
        }
        Does::Says(text) => {
            let mut canned = CannedReply::text(text).tokens(1000, 200);
            body["model"]
                .as_str()
                .unwrap()
                .clone_into(&mut canned.model);
            response(
                200,
                &[("content-type", "application/json")],
                canned.anthropic_json(),
            )
        }
    };
    std::future::ready(Ok(reply)).boxed()
}

pub fn harness() -> Harness {
    Harness::new(KineticGrid, Config::default()).unwrap()
}

pub async fn open(store: MemoryStore, config: LoopConfig) -> Discovery<MemoryStore> {
    let clock = Arc::new(FixedClock(crate::scripted::moment()));
    let model = LlmProposer::DEFAULT_MODEL;
    Discovery::open(store, harness(), config, model, clock, RunSelector::Latest)
        .await
        .unwrap()
}

/// The first snapshot of a run.
pub fn beginning(universe: impl Universe, extensions: &[&str]) -> Snapshot {
    let contract = UniverseContract::of(&Tabulated::of(&universe).unwrap());
    let config = Config::default().extensions(extensions.iter().map(ToString::to_string).collect());
    let harness = Harness::new(universe, config).unwrap();
    Snapshot::new(contract, Capabilities::of(&harness))
}

/// The mask that a proposer with the default options uses in the kinetic grid.
pub fn mask() -> SymbolMask {
    let snapshot = beginning(KineticGrid, &[]);
    SymbolMask::blind(&snapshot.contract, &snapshot.capabilities, 0)
}

/// A law as a blind model would write it.
pub fn blind_law(id: &str, template: &str, observables: &[(&str, &str)], claim: &str) -> Value {
    let observables: Vec<Value> = observables
        .iter()
        .map(|(name, expr)| json!({"name": name, "expr": expr}))
        .collect();
    mask().law(&json!({
        "law_id": id, "template": template, "quantifiers": {"T": 20, "H": if template == "eventually" { json!(5) } else { Value::Null }},
        "preconditions": [], "observables": observables, "claim": claim, "forbidden": "a step that breaks it",
        "proposed_tests": [], "novelty_claim": null,
    }))
}

pub fn reply(log: &str, laws: &[Value]) -> String {
    json!({"research_log": log, "candidate_laws": laws}).to_string()
}

/// The texts of a request that must not give anything away: all but the model's own words, which are the log (the second
/// block of the first message), its answers, and what repairs quote of them.
pub fn scanned(body: &Value) -> Vec<String> {
    let text = |value: &Value| value["text"].as_str().unwrap().to_owned();
    let mut texts: Vec<String> = body["system"]
        .as_array()
        .unwrap()
        .iter()
        .map(text)
        .collect();
    let first = body["messages"][0]["content"].as_array().unwrap();
    assert_eq!(first.len(), 3);
    texts.extend([text(&first[0]), text(&first[2])]);
    texts.push(body["output_config"].to_string());
    texts
}

/// Every request of a model passes the scan.
pub fn assert_blind(model: &Model, mask: &SymbolMask) {
    for body in model.bodies() {
        for text in scanned(&body) {
            assert_eq!(mask.leaks(&text), None, "{text}");
            for word in ["kinetic", "random_", "radius"] {
                assert!(!text.contains(word), "{word} in {text}");
            }
        }
    }
}
