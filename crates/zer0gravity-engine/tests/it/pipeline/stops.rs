//! Failures that no other call can escape: the run sends nothing more.

use zer0gravity_engine::model::ModelError;
use zer0gravity_engine::prompts::Role;
use zer0gravity_engine::{FailureKind, StageName, StageStatus};

use crate::desk::{Desk, plan};
use crate::player::{Player, fails, kind_of, says, usual};

const TEXTS: [&str; 4] = ["first text", "second one", "and a third", "the last"];

#[test]
fn what_is_queued_is_not_run() {
    for (kind, status) in [
        ("auth", 401),
        ("auth", 403),
        ("quota", 402),
        ("model_unavailable", 404),
    ] {
        // The second item fails at its decoding.
        let player = Player::default().replies(move |request| {
            let second = request.role == Role::Encoder && request.inputs.texts[0] == TEXTS[1];
            if second {
                return Ok(says("second!"));
            }
            if request.role == Role::Decoder && request.inputs.texts[0] == "second!" {
                return Err(fails(kind, status));
            }
            Ok(usual(request))
        });
        let report = Desk::one_by_one().report(&player, &plan(&TEXTS));
        let ended: Vec<_> = (report.results.iter())
            .map(|result| {
                let outcome = &result.outcome;
                (
                    outcome.status,
                    outcome.stage,
                    outcome.kind.map(FailureKind::as_str),
                )
            })
            .collect();
        let queued = (
            StageStatus::NotRun,
            Some(StageName::CountOriginal),
            Some(kind),
        );
        let expected = [
            (StageStatus::Ok, None, None),
            (StageStatus::ApiError, Some(StageName::Decode), Some(kind)),
            queued,
            queued,
        ];
        assert_eq!(ended, expected);
        // 6 of the first, 4 of the second, and then nobody was asked.
        assert_eq!(player.asked().len(), 10);
        for result in &report.results[2..] {
            assert!(result.scores.is_none() && result.error.is_some());
            assert_eq!(result.metadata.total_api_calls, 0);
            let not_run = |stage: &zer0gravity_engine::StageRecord| {
                stage.status == StageStatus::NotRun && stage.attempts == 0
            };
            assert!(result.stages.iter().all(not_run));
        }
        let outcomes = &report.outcomes;
        assert_eq!((outcomes.items, outcomes.scored), (4, 1));
    }
}

#[test]
fn a_key_that_does_not_count_ends_the_run_too() {
    for kind in ["auth", "quota"] {
        let player = Player::default().counts(move |_| Err(fails(kind, 401)));
        let results = Desk::one_by_one().run(&player, &plan(&TEXTS));
        assert_eq!(player.asked().len(), 1);
        let statuses = results.iter().map(|result| result.outcome.status);
        let not_run = StageStatus::NotRun;
        assert!(statuses.eq([StageStatus::ApiError, not_run, not_run, not_run]));
    }
}

#[test]
fn a_model_that_cannot_count_may_still_reply() {
    let player = Player::default().counts(|_| Err(fails("model_unavailable", 404)));
    let results = Desk::one_by_one().run(&player, &plan(&TEXTS));
    assert!(results.iter().all(|result| result.outcome.is_ok()));
}

#[test]
fn a_cap_forbids_a_call_before_it_is_sent() {
    // Files of earlier versions say `budget` for a price that is not known, too.
    for kind in ["budget", "price_unknown"] {
        a_cap_forbids(kind);
    }
}

fn a_cap_forbids(kind: &'static str) {
    // The client keeps the cap; the third encoding would pass it.
    let player = Player::default().replies(move |request| {
        if request.role == Role::Encoder && request.inputs.texts[0] == TEXTS[2] {
            return Err(ModelError::unsent(kind_of(kind), "the cap is reached"));
        }
        Ok(usual(request))
    });
    let results = Desk::one_by_one().run(&player, &plan(&TEXTS));
    let ended: Vec<_> = (results.iter())
        .map(|result| (result.outcome.status, result.outcome.stage))
        .collect();
    let expected = [
        (StageStatus::Ok, None),
        (StageStatus::Ok, None),
        (StageStatus::NotRun, Some(StageName::Encode)),
        (StageStatus::NotRun, Some(StageName::CountOriginal)),
    ];
    assert_eq!(ended, expected);
    for result in &results[2..] {
        assert_eq!(result.outcome.kind.map(FailureKind::as_str), Some(kind));
    }
    assert_eq!(results[2].original_tokens, Some(11));
    assert_eq!(results[2].metadata.total_api_calls, 1);
}

#[test]
fn other_failures_concern_their_item_alone() {
    for (kind, status) in [("server", 500), ("rate_limit", 429), ("bad_request", 400)] {
        let player = Player::default().replies(move |request| {
            if request.role == Role::Encoder && request.inputs.texts[0] == TEXTS[1] {
                return Err(fails(kind, status));
            }
            Ok(usual(request))
        });
        let results = Desk::one_by_one().run(&player, &plan(&TEXTS));
        let good: Vec<_> = results.iter().map(|one| one.outcome.is_ok()).collect();
        assert_eq!(good, [true, false, true, true]);
    }
}
