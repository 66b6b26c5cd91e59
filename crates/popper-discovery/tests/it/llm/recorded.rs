//! A whole run from a cassette alone. How to record it again: `fixtures/popper/discovery/README.md`.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use llm_client::{Anthropic, Auth, Cassette, Client, ClientBuilder, Endpoint};
use popper_discovery::llm::{LlmOptions, LlmProposer};
use popper_discovery::store::{LawStatus, Query, Store as _};
use popper_discovery::{LoopConfig, MemoryStore, Proposer, Summary, Unobserved};
use serde_json::Value;
use test_support::{FakeClock, Rule, ScriptedModel, fixture};

use super::{mask, open, scanned};

const ITERATIONS: u32 = 3;

fn file(name: &str) -> PathBuf {
    fixture("popper/discovery").join(name)
}

fn client(base: &str) -> ClientBuilder {
    let endpoint = Endpoint::new(base, Auth::None).unwrap();
    Client::builder(
        Arc::new(Anthropic::new(endpoint)),
        Arc::new(FakeClock::new()),
    )
}

fn proposer(client: ClientBuilder) -> LlmProposer {
    LlmProposer::new(
        client.build().unwrap(),
        LlmProposer::DEFAULT_MODEL,
        LlmOptions::of(&LoopConfig::default(), 0),
    )
}

fn replaying() -> LlmProposer {
    proposer(client(Anthropic::DEFAULT_BASE).replay(Cassette::new(file("cassette.jsonl"))))
}

async fn run(proposer: &dyn Proposer) -> MemoryStore {
    let mut discovery = open(MemoryStore::default(), LoopConfig::default()).await;
    discovery
        .run_to(ITERATIONS, proposer, &mut Unobserved)
        .await
        .unwrap();
    discovery.store().clone()
}

#[tokio::test]
#[ignore = "writes the fixture anew"]
async fn record() {
    let replies: Vec<String> = (1..=4)
        .map(|number| std::fs::read_to_string(file(&format!("replies/{number}.txt"))).unwrap())
        .collect();
    let model = ScriptedModel::play(move |ask| {
        Rule::always()
            .says(&replies[ask.number])
            .tokens(2600 + 700 * ask.number as u64, 1200)
    });
    let path = file("cassette.jsonl");
    if path.exists() {
        std::fs::remove_file(&path).unwrap();
    }
    run(&proposer(
        client(&model.anthropic_url()).record(Cassette::new(path)),
    ))
    .await;
    assert_eq!(model.model_requests().len(), 4);
}

/// A run as a page.
async fn page(mut store: MemoryStore) -> String {
    let run = store.runs[0].clone();
    let findings = store.findings(Query::all(&run)).await.unwrap();
    let mut page = String::new();
    for iteration in &store.iterations {
        let summary: Summary =
            serde_json::from_str(iteration.summary_json.as_deref().unwrap()).unwrap();
        writeln!(
            page,
            "== iteration {}: {} proposed, {} rejected, {} duplicates, {} tested, {:?}\nproblem: {:?}\nlog: {}",
            iteration.iteration_index,
            summary.proposed,
            summary.rejected,
            summary.duplicates,
            summary.selected.len(),
            summary.verdicts.unwrap(),
            summary.problem,
            summary.research_log.unwrap(),
        )
        .unwrap();
        for row in store
            .calls
            .iter()
            .filter(|row| row.iteration_id == iteration.id)
        {
            writeln!(
                page,
                "call {}: {} {}",
                row.turn, row.call.model_id, row.call.usage_json
            )
            .unwrap();
        }
        for law in store
            .laws
            .iter()
            .filter(|law| law.created_iteration_id == iteration.id)
        {
            let Some(finding) = findings.iter().find(|finding| finding.law.id == law.id) else {
                assert_eq!(law.status, LawStatus::RejectedSchema);
                writeln!(page, "- {:?}: {}", law.law_id, law.normalized_json).unwrap();
                continue;
            };
            let evidence: Value = serde_json::from_str(&finding.evaluation.evidence_json).unwrap();
            let reason = finding.evaluation.reason_code.as_deref().unwrap_or("");
            let start = finding
                .counterexample
                .as_ref()
                .map_or("", |row| row.initial_state.as_str());
            let status = popper_discovery::status_text(finding.evaluation.status);
            writeln!(
                page,
                "- {}: {} {} {} => {status} {reason}{start} [{}]",
                law.law_id,
                law.template,
                law.observables_json,
                law.claim_text,
                evidence["strength"]
            )
            .unwrap();
            if let Some(package) = finding.package().unwrap() {
                popper_harness::counterexample::rederive(&package).unwrap();
            }
        }
    }
    page
}

#[tokio::test]
async fn the_recorded_run_gives_these_laws_and_verdicts() {
    let store = run(&replaying()).await;
    assert_eq!(store.calls.len(), 4);
    insta::assert_snapshot!("run", page(store).await);
}

#[tokio::test]
async fn the_recorded_prompts_are_pinned_and_give_nothing_away() {
    let store = run(&replaying()).await;
    let mask = mask();
    let mut page = String::new();
    for row in &store.calls {
        let body: Value = serde_json::from_str(&row.call.request_json).unwrap();
        for text in scanned(&body) {
            assert_eq!(mask.leaks(&text), None, "{text}");
        }
        let user = body["messages"][0]["content"][0]["text"].as_str().unwrap();
        writeln!(
            page,
            "==== call {} of iteration {}\n{user}",
            row.turn, row.iteration_id
        )
        .unwrap();
    }
    insta::assert_snapshot!("prompts", page);
}

#[tokio::test]
async fn a_replay_that_is_interrupted_after_each_iteration_is_the_same_run() {
    let whole = run(&replaying()).await;
    // One client, as in one process that is told to go on; and another process for each iteration.
    let proposer = replaying();
    let mut store = MemoryStore::default();
    for total in 1..=ITERATIONS {
        let mut discovery = open(store, LoopConfig::default()).await;
        discovery
            .run_to(total, &proposer, &mut Unobserved)
            .await
            .unwrap();
        store = discovery.store().clone();
        let mut discovery = open(store.clone(), LoopConfig::default()).await;
        discovery
            .run_to(ITERATIONS, &replaying(), &mut Unobserved)
            .await
            .unwrap();
        assert_eq!(*discovery.store(), whole);
    }
    assert_eq!(store, whole);
}
