//! Whatever ends a run, and whenever: no kept call is lost, and none is made twice.

use std::collections::HashSet;

use llm_types::StopReason;
use tokio_util::sync::CancellationToken;
use zer0gravity_engine::plan::Plan;
use zer0gravity_engine::prompts::Role;
use zer0gravity_engine::report::RunReport;
use zer0gravity_engine::store::{CallRecord, CallStore as _, JsonlStore, StoredAnswer};
use zer0gravity_engine::{ExperimentResult, FailureKind, StageStatus, TokenSource};

use crate::desk::{Desk, only, plan};
use crate::player::{Player, drive, fails, stops, usual};

/// Every stage, a second word of the judges among them.
fn whole() -> Plan {
    let mut plan = plan(&["abcdefghij", "another text"]);
    plan.config.decodes = 2;
    plan.config.judge_samples = 2;
    plan.config.execute = true;
    for planned in &mut plan.cases {
        planned.case.expected_output = Some("an answer".to_owned());
    }
    plan
}

fn desk(concurrency: usize, before: &Desk) -> Desk {
    Desk {
        ledger: before.ledger.clone(),
        concurrency,
        ..Desk::default()
    }
}

/// The way in which a test ends a run.
#[derive(Debug, Clone, Copy, PartialEq)]
enum End {
    /// The token is cancelled; calls under way still end.
    Cancelled,
    /// The future is dropped; calls under way with it.
    Dropped,
}

/// Ends a run after `answers` answers; returns the report of a finished run, and the number of calls under way.
fn ended(end: End, answers: usize, desk: &Desk, plan: &Plan) -> (Option<RunReport>, usize) {
    let player = Player::default().holding();
    let cancel = CancellationToken::new();
    let run = desk.quietly(&player, plan, cancel.clone());
    let mut left = answers;
    let mut under_way = 0;
    let report = drive(run, &player, |player| {
        let held = player.held().len();
        if left == 0 {
            if end == End::Dropped {
                under_way = held;
                return false;
            }
            if !cancel.is_cancelled() {
                under_way = held;
                cancel.cancel();
            }
            // Nothing more is sent: the calls under way are all there is.
            assert_eq!(player.asked().len(), answers + under_way);
        }
        left = left.saturating_sub(1);
        player.release(held / 2);
        true
    });
    (report.map(Result::unwrap), under_way)
}

#[test]
fn a_run_that_ends_at_any_call_is_resumed_with_the_missing_ones() {
    let plan = whole();
    let plain = Desk::default();
    let uninterrupted = plain.report(&Player::default(), &plan);
    let all: HashSet<_> = plain.ledger.keys().into_iter().collect();
    assert_eq!(plain.ledger.keys().len(), all.len());
    for end in [End::Cancelled, End::Dropped] {
        for concurrency in [1, 8] {
            for answers in 0..all.len() {
                let what = format!("{end:?} after {answers} with {concurrency}");
                let first = Desk {
                    concurrency,
                    ..Desk::default()
                };
                let (report, under_way) = ended(end, answers, &first, &plan);
                let waited = if end == End::Cancelled { under_way } else { 0 };
                assert_eq!(first.ledger.keys().len(), answers + waited, "{what}");
                if let Some(report) = report {
                    let unsent = report.results.iter().filter(|one| !one.outcome.is_ok());
                    for result in unsent {
                        let outcome = &result.outcome;
                        assert_eq!(outcome.status, StageStatus::NotRun, "{what}");
                        assert_eq!(outcome.kind.map(FailureKind::as_str), Some("interrupted"));
                    }
                }

                let second = desk(concurrency, &first);
                let player = Player::default();
                let resumed = second.report(&player, &plan);
                let missing = all.len() - answers - waited;
                assert_eq!(player.asked().len(), missing, "{what}");
                let keys = second.ledger.keys();
                assert_eq!(keys.len(), all.len(), "{what}: a call was made twice");
                assert_eq!(keys.into_iter().collect::<HashSet<_>>(), all, "{what}");
                // The clock stands still: there are no times that could differ.
                assert_eq!(resumed, uninterrupted, "{what}");
            }
        }
    }
}

#[test]
fn a_finished_run_is_resumed_without_a_call() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.jsonl");
    let plan = whole();
    let run = |player: &Player| {
        let (store, torn) = JsonlStore::open(&path).unwrap();
        assert_eq!(torn, None);
        let run = Desk::default().run_stored(player, &plan, store);
        run.unwrap()
    };
    let first = Player::default();
    let report = run(&first);
    let bytes = std::fs::read(&path).unwrap();
    assert!(!first.asked().is_empty());
    let second = Player::default();
    assert_eq!(run(&second), report);
    assert_eq!(second.asked(), []);
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
    let lines = String::from_utf8(bytes).unwrap().lines().count();
    assert_eq!(lines, first.asked().len());
}

fn errors(records: &[CallRecord]) -> Vec<String> {
    let kind = |record: &CallRecord| match &record.answer {
        StoredAnswer::Error(error) => Some(error.kind.to_string()),
        _ => None,
    };
    records.iter().filter_map(kind).collect()
}

#[test]
fn a_failed_call_is_logged_and_asked_again() {
    let plan = plan(&["abcdefghij", "another text"]);
    let first = Desk::one_by_one();
    let player = Player::default().replies(|request| {
        if request
            .inputs
            .texts
            .first()
            .is_some_and(|text| text == "acegi")
        {
            return Err(fails("overloaded", 529));
        }
        Ok(usual(request))
    });
    let results = first.run(&player, &plan);
    assert_eq!(results[0].outcome.status, StageStatus::ApiError);
    assert!(results[1].outcome.is_ok());
    assert_eq!(errors(&first.ledger.records()), ["overloaded"]);

    let second = desk(1, &first);
    let player = Player::default();
    let results = second.run(&player, &plan);
    assert!(results.iter().all(|result| result.outcome.is_ok()));
    // The decoding again, and what comes behind it.
    assert_eq!(player.asked().len(), 3);
    let key = |record: &CallRecord| record.key;
    let failed = |record: &CallRecord| matches!(record.answer, StoredAnswer::Error(_));
    let records = second.ledger.records();
    let failed = records
        .iter()
        .find(|record| failed(record))
        .map(key)
        .unwrap();
    let twice = records.iter().filter(|record| record.key == failed);
    assert_eq!(twice.count(), 2);
    assert!(second.ledger.get(&failed).unwrap().is_some());
}

#[test]
fn refused_and_cut_replies_are_replies() {
    for (stop, status) in [
        (StopReason::Refusal, StageStatus::Refused),
        (StopReason::MaxTokens, StageStatus::Truncated),
    ] {
        let plan = plan(&["abcdefghij"]);
        let first = Desk::default();
        let cut = stops("half", stop);
        let player = Player::default().role(Role::Decoder, move || Ok(cut.clone()));
        let before = only(first.run(&player, &plan));
        assert_eq!(before.outcome.status, status);
        let player = Player::default();
        let after = only(desk(8, &first).run(&player, &plan));
        assert_eq!(player.asked(), []);
        assert_eq!(after, before);
    }
}

#[test]
fn a_provider_that_does_not_count_is_not_asked_when_resumed() {
    let plan = plan(&["abcdefghij", "another text"]);
    let silent = || Player::default().counts(|_| Err(fails("bad_request", 404)));
    let sources = |results: &[ExperimentResult]| {
        let sources = results.iter().map(|result| result.metadata.token_source);
        assert!(sources.eq([Some(TokenSource::Usage); 2]));
    };
    let first = Desk::one_by_one();
    let before = first.report(&silent(), &plan);
    sources(&before.results);
    let player = silent();
    let after = desk(1, &first).report(&player, &plan);
    assert_eq!(player.asked(), []);
    assert_eq!(after, before);
}

#[test]
fn a_stopped_run_goes_on_when_the_cause_is_gone() {
    let plan = whole();
    let plain = Desk::one_by_one();
    let uninterrupted = plain.report(&Player::default(), &plan);
    let all = plain.ledger.keys().len();
    for kind in ["auth", "quota", "model_unavailable"] {
        let first = Desk::one_by_one();
        let player = Player::default().replies(move |request| {
            if request
                .inputs
                .texts
                .first()
                .is_some_and(|text| text == "acegi")
            {
                return Err(fails(kind, 401));
            }
            Ok(usual(request))
        });
        let report = first.report(&player, &plan);
        assert!(report.results.iter().all(|result| !result.outcome.is_ok()));
        let made = player.asked().len();
        let player = Player::default();
        let second = desk(1, &first);
        assert_eq!(second.report(&player, &plan), uninterrupted);
        // All but what had an answer; one had none.
        assert_eq!(player.asked().len(), all - (made - 1));
    }
}
