//! Two items that ask the same share one call.

use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::select;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use zer0gravity_engine::prompts::Role;
use zer0gravity_engine::report::RunReport;
use zer0gravity_engine::store::{CallKey, CallRecord, CallStore, MemoryStore, StoreError};
use zer0gravity_engine::{RunError, StageStatus};

use crate::desk::{Desk, plan};
use crate::player::{Asked, Player, drive, fails};

#[test]
fn one_call_for_two_items_under_way() {
    // Two cases with the same text, and two trials that share the counts.
    let mut plan = plan(&["the same text", "the same text"]);
    plan.config.trials = 2;
    let desk = Desk::default();
    let player = Player::default().holding();
    let report = desk.run_held(&player, &plan, |held| held - 1);
    assert!(report.results.iter().all(|result| result.outcome.is_ok()));
    // 2 counts; for each trial an encoding, a decoding and a word on the meaning; the rules are judged for every item.
    assert_eq!(player.asked().len(), 2 + 2 * 3 + 4);
    assert_eq!(desk.ledger.keys().len(), player.asked().len());
    // A shared call is a call of each.
    for result in &report.results {
        assert_eq!(result.metadata.total_api_calls, 6);
    }
}

#[test]
fn a_shared_failure_is_one_failure() {
    let plan = plan(&["the same text", "the same text"]);
    let desk = Desk::default();
    let player = Player::default()
        .role(Role::Encoder, || Err(fails("server", 500)))
        .holding();
    let report = desk.run_held(&player, &plan, |_| 0);
    for result in &report.results {
        assert_eq!(result.outcome.status, StageStatus::ApiError);
    }
    assert_eq!(player.to(Role::Encoder).len(), 1);
}

/// Two runs on one port and store: what is dropped of one is made by the other.
#[test]
fn dropped_calls_leave_the_store_to_others() {
    let plan = plan(&["abcdefghij"]);
    let desk = Desk::default();
    let player = Player::default().holding();
    let (go, gone) = oneshot::channel::<()>();
    let dropped = async {
        let run = desk
            .quietly(&player, &plan, CancellationToken::new())
            .boxed_local();
        let gone = gone.boxed_local();
        select(run, gone).await;
    };
    let mut go = Some(go);
    let mut stages = Vec::new();
    drive(dropped, &player, |player| {
        let held = player.held();
        stages.push(held[0].stage());
        if matches!(&held[0], Asked::Message(request) if request.role == Role::Decoder) {
            go.take().unwrap().send(()).unwrap();
        } else {
            player.release(0);
        }
        true
    });
    assert_eq!(stages.len(), 4);
    // The decoding was asked for and never kept.
    assert_eq!(player.to(Role::Decoder).len(), 1);
    assert_eq!(desk.ledger.keys().len(), 3);
    assert_eq!(player.held(), []);
    let second = Player::default();
    let results = desk.run(&second, &plan);
    assert!(results[0].outcome.is_ok());
    assert_eq!(second.asked().len(), 3);
}

#[test]
fn the_limiter_is_free_again_after_a_failure() {
    let texts = ["a text", "b text", "c text", "d text", "e text"];
    let desk = Desk::one_by_one();
    let player = Player::default()
        .counts(|_| Err(fails("server", 500)))
        .role(Role::Decoder, || Err(fails("network", 0)));
    let results = desk.run(&player, &plan(&texts));
    assert_eq!(results.len(), 5);
    assert_eq!(player.to(Role::Decoder).len(), 5);
}

/// A store whose disk is full after `left` records.
struct Full {
    left: usize,
}

impl CallStore for Full {
    fn get(&self, _: &CallKey) -> Result<Option<Arc<CallRecord>>, StoreError> {
        Ok(None)
    }

    fn append(&mut self, records: &[Arc<CallRecord>]) -> Result<(), StoreError> {
        if self.left < records.len() {
            return Err(StoreError::Io {
                verb: "write",
                path: "calls.jsonl".into(),
                source: std::io::ErrorKind::StorageFull.into(),
            });
        }
        self.left -= records.len();
        Ok(())
    }
}

#[test]
fn a_full_disk_ends_the_run() {
    let plan = plan(&["a text", "b text", "c text"]);
    for left in 0..18 {
        let player = Player::default();
        let full = Full { left };
        let run = Desk::one_by_one().run_stored(&player, &plan, full);
        let error = run.unwrap_err();
        assert!(matches!(error, RunError::Store(StoreError::Io { .. })));
        // The call that could not be kept is the last.
        assert_eq!(player.asked().len(), left + 1);
    }
    // With room for all it is no failure.
    let full = Full { left: 18 };
    let run = Desk::one_by_one().run_stored(&Player::default(), &plan, full);
    assert!(run.is_ok());
}

#[test]
fn z19_a_provider_that_does_not_count_is_asked_once_a_place_at_most() {
    let texts: Vec<String> = (0..20).map(|n| format!("text number {n}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let player = || Player::default().counts(|_| Err(fails("bad_request", 404)));
    let held = player().holding();
    let desk = Desk::default();
    // Eight counts are under way when the first is answered.
    desk.run_held(&held, &plan(&texts), |_| 0);
    assert_eq!(held.counted().len(), desk.concurrency);
    let one = player();
    Desk::one_by_one().run(&one, &plan(&texts));
    assert_eq!(one.counted().len(), 1);
}

/// A store that cannot be read.
struct Unreadable;

impl CallStore for Unreadable {
    fn get(&self, _: &CallKey) -> Result<Option<Arc<CallRecord>>, StoreError> {
        Err(StoreError::Io {
            verb: "read",
            path: "calls.jsonl".into(),
            source: std::io::ErrorKind::PermissionDenied.into(),
        })
    }

    fn append(&mut self, _: &[Arc<CallRecord>]) -> Result<(), StoreError> {
        Ok(())
    }
}

#[test]
fn a_store_that_cannot_be_read_ends_the_run_before_a_call() {
    let player = Player::default();
    let run = Desk::default().run_stored(&player, &plan(&["a text"]), Unreadable);
    let error = run.unwrap_err();
    assert!(matches!(
        error,
        RunError::Store(StoreError::Io { verb: "read", .. })
    ));
    assert_eq!(player.asked(), []);
}

#[test]
fn results_share_what_they_have_in_common_also_when_they_are_read_again() {
    let desk = Desk::default();
    let plan = plan(&["the same text", "the same text"]);
    let run = desk.run_stored(&Player::default(), &plan, MemoryStore::default());
    let report = run.unwrap();
    let json = serde_json::to_string(&report).unwrap();
    let again = RunReport::read(&json).unwrap();
    assert_eq!(again, report);
    assert_eq!(serde_json::to_string(&again).unwrap(), json);
    for report in [report, again] {
        let [one, other] = &report.results[..] else {
            panic!("two results");
        };
        assert!(Arc::ptr_eq(&one.original_text, &other.original_text));
        assert!(Arc::ptr_eq(&one.encoding_system, &other.encoding_system));
        let (one, other) = (&one.metadata, &other.metadata);
        assert!(Arc::ptr_eq(&one.models, &other.models));
        assert!(Arc::ptr_eq(&one.prompt_sha256, &other.prompt_sha256));
    }
}
