//! Whatever ends first, results come in plan order and say the same.

use tokio_util::sync::CancellationToken;
use zer0gravity_engine::plan::{EncodingSystem, Plan};
use zer0gravity_engine::{ExperimentResult, RunEvent, StageName};

use crate::desk::{Desk, plan};
use crate::player::{Asked, Player, drive};

fn big() -> Plan {
    let mut plan = plan(&["one text", "another text", "a third text"]);
    plan.encodings
        .push(EncodingSystem::new("other", None, "drop vowels"));
    plan.config.trials = 2;
    plan.config.decodes = 2;
    plan
}

/// The rules, case, trial and decode of each result.
fn names(results: &[ExperimentResult]) -> Vec<(String, String, u32, u32)> {
    let name = |result: &ExperimentResult| {
        let (encoding, case) = (&result.encoding_id, &result.test_case_id);
        (encoding.clone(), case.clone(), result.trial, result.decode)
    };
    results.iter().map(name).collect()
}

#[test]
fn results_come_in_plan_order() {
    let plan = big();
    let mut expected = Vec::new();
    for encoding in ["rules", "other"] {
        for case in ["1", "2", "3"] {
            for trial in [1, 2] {
                for decode in [1, 2] {
                    expected.push((encoding.to_owned(), case.to_owned(), trial, decode));
                }
            }
        }
    }
    let plain = Desk::default().report(&Player::default(), &plan);
    assert_eq!(names(&plain.results), expected);
    for concurrency in [1, 3, 8, 100] {
        let choices: [fn(usize) -> usize; 3] = [|held| held - 1, |_| 0, |held| held / 2];
        for choose in choices {
            let desk = Desk {
                concurrency,
                ..Desk::default()
            };
            let player = Player::default().holding();
            let report = desk.run_held(&player, &plan, choose);
            // The clock stands still, so that even the times are the same.
            assert_eq!(report, plain, "{concurrency}");
        }
    }
}

#[test]
fn so_many_calls_are_under_way_and_no_more() {
    let plan = big();
    for concurrency in [1, 2, 8] {
        let desk = Desk {
            concurrency,
            ..Desk::default()
        };
        let player = Player::default().holding();
        let mut most = 0;
        desk.run_held(&player, &plan, |held| {
            most = most.max(held);
            0
        });
        assert_eq!(most, concurrency);
    }
}

#[test]
fn in_batches_all_calls_of_a_phase_wait_together_and_counts_obey_the_limit() {
    let mut plan = plan(&["one text", "another text", "a third text"]);
    plan.config.temperature = Some(0.5);
    plan.config.judge_temperature = Some(0.0);
    let player = Player::default().holding();
    let desk = Desk {
        concurrency: 2,
        ..Desk::default()
    };
    let runner = desk.runner(&player).batched(true);
    let (mut most, mut waves) = (0, Vec::new());
    let run = async { runner.run(&plan, &mut |_| ()).await };
    drive(run, &player, |player| {
        let stages: Vec<_> = player.held().iter().map(Asked::stage).collect();
        let is_count = |stage: &StageName| *stage == StageName::CountOriginal;
        let counts = stages.iter().filter(|stage| is_count(stage)).count();
        most = most.max(counts);
        if counts > 0 {
            player.release(stages.iter().position(is_count).unwrap());
            return true;
        }
        waves.push(stages.len());
        for _ in stages {
            player.release(0);
        }
        true
    })
    .unwrap()
    .unwrap();
    assert_eq!((most, waves), (2, vec![3, 3, 6]));
}

#[test]
fn both_judges_are_asked_together() {
    let player = Player::default().holding();
    let mut waves = Vec::new();
    let desk = Desk::default();
    let plan = plan(&["one text"]);
    let run = desk.quietly(&player, &plan, CancellationToken::new());
    drive(run, &player, |player| {
        let held = player.held();
        waves.push(held.iter().map(Asked::stage).collect::<Vec<_>>());
        for _ in held {
            player.release(0);
        }
        true
    });
    let expected = vec![
        vec![StageName::CountOriginal],
        vec![StageName::Encode],
        vec![StageName::CountOriginal],
        vec![StageName::Decode],
        vec![StageName::JudgeSemantic, StageName::JudgeImplementability],
    ];
    assert_eq!(waves, expected);
}

#[test]
fn progress_is_told_as_items_end() {
    let plan = plan(&["one text", "another text", "a third text"]);
    let desk = Desk::default();
    let player = Player::default().holding();
    let mut told = Vec::new();
    let mut on_event = |event: RunEvent<'_>| {
        if let RunEvent::Ended {
            done,
            total,
            result,
        } = event
        {
            told.push((done, total, result.test_case_id.clone()));
        }
    };
    let run = desk.matrix(&player, &plan, CancellationToken::new(), &mut on_event);
    // Always the youngest call: what began last ends first.
    let report = drive(run, &player, |player| {
        player.release(player.held().len() - 1);
        true
    });
    let report = report.unwrap().unwrap();
    let done: Vec<_> = told
        .iter()
        .map(|(done, total, _)| (*done, *total))
        .collect();
    assert_eq!(done, [(1, 3), (2, 3), (3, 3)]);
    let ended: Vec<_> = told.iter().map(|(_, _, id)| id.as_str()).collect();
    assert_eq!(ended, ["3", "2", "1"]);
    let ids = report
        .results
        .iter()
        .map(|result| result.test_case_id.as_str());
    assert!(ids.eq(["1", "2", "3"]));
}
