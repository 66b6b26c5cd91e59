//! Timeouts, retries and waits of a run with a model, at a server that fails. The time is that of the test.
#![cfg(feature = "llm")]

use std::sync::Arc;
use std::time::Duration;

use llm_client::{Auth, Client, Compat, Dialect, Endpoint, RetryPolicy, Timeouts};
use logosphere_core::config::{OnError, Scheduling};
use logosphere_core::journal::MemJournal;
use logosphere_core::verify::verify;
use logosphere_core::{
    ExperimentStart, LlmMind, Orchestrator, Progress, RequestTemplate, RunControl, RunSummary,
};
use serde_json::json;
use test_support::{Answer, CannedReply, FakeClock, FaultServer};

use crate::desk;

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn n20_a_call_that_times_out_is_retried_and_one_that_failed_for_good_is_made_again() {
    let said = CannedReply::text("t\n---\na message\n---\n\n---\n").openai_json();
    let busy = || {
        Answer::json(
            429,
            CannedReply::openai_error("rate_limit_error", "slow down"),
        )
    };
    let server = FaultServer::replies([
        Answer::raw().stall(),
        busy(),
        busy(),
        busy(),
        Answer::json(200, said),
    ]);
    // The waits between attempts pass at once; no limit does.
    let clock = FakeClock::skip_up_to(SECOND);
    let limit = 30 * SECOND;
    let endpoint = Endpoint::new(&server.url("/v1"), Auth::Bearer("key".into())).unwrap();
    let provider = Arc::new(Compat::new(endpoint, Dialect::openai()));
    let client = Client::builder(provider, Arc::new(clock.clone()))
        .retry(
            (RetryPolicy::default().retries(1))
                .send_count(false)
                .insist(true),
        )
        .timeouts(Timeouts::default().attempt(Some(limit)))
        .build()
        .unwrap();
    let mind = LlmMind::new(client, "openai");
    let settings = desk::settings(Scheduling::Sequential).with(|settings| {
        settings.provider = "openai".into();
        settings.mind = None;
        settings.on_error = OnError::Wait;
        (settings.n_minds, settings.max_rounds) = (1, 1);
    });
    let start = {
        let template = RequestTemplate::of(&mind, &settings, "openai").unwrap();
        let effective = logosphere_core::Effective::new(settings, "test");
        ExperimentStart::new(effective, "run".to_owned(), desk::seeds(), template)
    };
    let mut waits = Vec::new();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let (summary, journal) = runtime.block_on(async {
        let journal = MemJournal::default();
        let control = RunControl::default();
        let mut run = Orchestrator::start(start, mind, journal, clock.clone(), control).unwrap();
        let mut show = |progress: Progress<'_>| {
            if let Progress::Delayed { wait, error, .. } = progress {
                waits.push((error.class.to_string(), wait.as_secs()));
                clock.advance(wait);
            }
        };
        let silence = async {
            server.wait_requests(1).await;
            clock.wait_for_sleep(limit).await;
            clock.advance(limit);
        };
        let (summary, ()) = tokio::join!(run.run(&mut show), silence);
        (summary.unwrap(), run.into_journal().bytes)
    });
    assert!(
        matches!(summary, RunSummary::Ended { errors: 0, .. }),
        "{summary:?}"
    );
    let failed = |seconds| ("rate_limit".to_owned(), seconds);
    assert_eq!(waits, [failed(60), failed(120)]);
    assert_eq!(server.requests().len(), 5);
    let mut calls = desk::lines(&journal);
    calls.retain(|line| line["type"] == "mind_invocation");
    assert_eq!(calls[0]["transmitted"], json!(["a message"]));
    let attempts = calls[0]["attempts"].as_array().unwrap();
    let facts: Vec<_> = (attempts.iter())
        .map(|one| {
            [
                one["n"].clone(),
                one["status"].clone(),
                one["class"].clone(),
            ]
        })
        .collect();
    let busy = |n| [json!(n), json!(429), json!("rate_limit")];
    let expected = [
        [json!(1), json!(null), json!("timeout")],
        busy(2),
        busy(3),
        busy(4),
        [json!(5), json!(200), json!(null)],
    ];
    assert_eq!(facts, expected);
    assert_eq!(attempts[0]["latency_ms"], 30_000);
    assert_eq!(
        [2, 4].map(|at: usize| attempts[at]["wait_ms"].clone()),
        [60_000, 120_000].map(serde_json::Value::from)
    );
    verify(&journal[..]).unwrap();
}
