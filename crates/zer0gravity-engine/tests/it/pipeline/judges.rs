//! Several judges, several words of each, several decodings.

use std::collections::HashSet;

use zer0gravity_engine::StageStatus;
use zer0gravity_engine::judge::JudgeStatus;
use zer0gravity_engine::plan::{EncodingSystem, Plan};
use zer0gravity_engine::prompts::Role;

use crate::desk::{Desk, only, plan};
use crate::player::{Player, fails, says, usual};

/// A panel of two judges; `words` are each judge's points for the meaning, sample by sample.
fn panel(words: &'static [&'static [i32]]) -> (Player, Plan) {
    let mut plan = plan(&["abcdefghij"]);
    let judges = (1..=words.len()).map(|number| format!("judge-{number}"));
    plan.config.models.judges = judges.collect();
    plan.config.judge_samples = words[0].len() as u32;
    let player = Player::default().replies(move |request| {
        if request.role != Role::SemanticJudge {
            return Ok(usual(request));
        }
        let judge: usize = request
            .model
            .strip_prefix("judge-")
            .unwrap()
            .parse()
            .unwrap();
        let sample = request.repeat.sample.unwrap() as usize;
        let points = words[judge - 1][sample - 1];
        Ok(says(format!(
            r#"{{"score": {points}, "reasoning": "{judge}/{sample}"}}"#
        )))
    });
    (player, plan)
}

#[test]
fn the_score_is_a_median_of_medians() {
    // Samples of each judge, and what they come to: a mean of two in the middle is rounded half up.
    let cases: [(&'static [&'static [i32]], u8); 7] = [
        (&[&[37]], 37),
        (&[&[30, 38, 36]], 36),
        (&[&[30, 31]], 31),
        (&[&[38, 2, 38], &[20, 20, 40], &[39, 39, 1]], 38),
        (&[&[10], &[20]], 15),
        (&[&[10], &[21]], 16),
        (&[&[99, 99, 0], &[-7, 0, -7]], 20),
    ];
    for (words, points) in cases {
        let (player, plan) = panel(words);
        let result = only(Desk::default().run(&player, &plan));
        let scores = result.scores.unwrap();
        assert_eq!(scores.semantic_preservation, points, "{words:?}");
        let asked = words.len() * words[0].len();
        let record = result.details.semantic_judge.unwrap();
        assert_eq!(record.asks as usize, asked);
        let told: Vec<_> = (record.samples.iter())
            .map(|sample| {
                (
                    sample.model.to_string(),
                    sample.sample,
                    sample.score.unwrap(),
                )
            })
            .collect();
        let said: Vec<_> = (1..)
            .zip(words)
            .flat_map(|(judge, samples)| {
                (1..).zip(*samples).map(move |(sample, points)| {
                    let held = (*points).clamp(0, 40) as u8;
                    (format!("judge-{judge}"), sample, held)
                })
            })
            .collect();
        assert_eq!(told, said);
        let outside = words
            .concat()
            .iter()
            .any(|points| !(0..=40).contains(points));
        assert_eq!(record.clamped, outside, "{words:?}");
        // The rules are judged by the same panel.
        assert_eq!(player.to(Role::ImplementabilityJudge).len(), asked);
        let reasoning = result.details.semantic_reasoning.unwrap();
        assert_eq!(reasoning, "1/1");
    }
}

#[test]
fn a_judge_that_is_silent_fails_the_panel() {
    let (_, plan) = panel(&[&[1, 1], &[1, 1]]);
    let player = Player::default().replies(|request| {
        let mute = request.model == "judge-2" && request.repeat.sample == Some(2);
        Ok(match request.role {
            Role::SemanticJudge if mute => says("well"),
            _ => usual(request),
        })
    });
    let result = only(Desk::default().run(&player, &plan));
    assert_eq!(result.outcome.status, StageStatus::Unparseable);
    assert!(result.scores.is_none());
    let record = result.details.semantic_judge.unwrap();
    assert_eq!((record.status, record.asks), (JudgeStatus::Unparseable, 5));
    let scores: Vec<_> = record.samples.iter().map(|sample| sample.score).collect();
    assert_eq!(scores, [Some(36), Some(36), Some(36), None]);
}

#[test]
fn the_second_reply_counts_if_the_first_holds_no_score() {
    let player = Player::default().replies(|request| {
        Ok(match (request.role, request.repeat.ask) {
            (Role::SemanticJudge, Some(1)) => says("35 of 40"),
            (Role::SemanticJudge, Some(2)) => says("Sorry: {\"score\": 35}"),
            _ => usual(request),
        })
    });
    let result = only(Desk::default().run(&player, &plan(&["abcdefghij"])));
    assert_eq!(result.scores.unwrap().semantic_preservation, 35);
    let record = result.details.semantic_judge.unwrap();
    assert_eq!((record.status, record.asks), (JudgeStatus::Recovered, 2));
    assert_eq!(result.metadata.total_api_calls, 7);
    // A failure of the second call is a failure of the stage.
    let player = Player::default().replies(|request| match (request.role, request.repeat.ask) {
        (Role::SemanticJudge, Some(1)) => Ok(says("35 of 40")),
        (Role::SemanticJudge, Some(2)) => Err(fails("server", 500)),
        _ => Ok(usual(request)),
    });
    let result = only(Desk::default().run(&player, &plan(&["abcdefghij"])));
    assert_eq!(result.outcome.status, StageStatus::ApiError);
}

#[test]
fn rules_may_be_judged_once() {
    let mut plan = plan(&["one text", "another text", "a third text"]);
    // Two files with the same rules are one set of rules.
    plan.encodings
        .push(EncodingSystem::new("other", None, "drop vowels"));
    let same = plan.encodings[0].rules.clone();
    plan.encodings.push(EncodingSystem::new("copy", None, same));
    plan.config.trials = 2;
    plan.config.judge_samples = 2;
    plan.config.models.judges = vec!["judge-1".to_owned(), "judge-2".to_owned()];
    let judged = |plan: &Plan| {
        let player = Player::default();
        let results = Desk::default().run(&player, plan);
        assert_eq!(results.len(), 18);
        for result in &results {
            assert_eq!(result.scores.unwrap().implementability, Some(4));
            let record = result.details.implementability_judge.as_ref().unwrap();
            assert_eq!(record.samples.len(), 4);
        }
        player.to(Role::ImplementabilityJudge).len()
    };
    // Every item, judge and sample.
    assert_eq!(judged(&plan), 18 * 2 * 2);
    plan.config.implementability_once = true;
    assert_eq!(judged(&plan), 2 * 2 * 2);
}

#[test]
fn learnability_is_measured_by_several_decoders() {
    let measured = |points: &'static [i32]| {
        let mut plan = plan(&["abcdefghij"]);
        plan.config.decodes = points.len() as u32;
        let player = Player::default().replies(move |request| {
            if request.role != Role::SemanticJudge {
                return Ok(usual(request));
            }
            let points = points[request.repeat.decode.unwrap() as usize - 1];
            Ok(says(format!(r#"{{"score": {points}, "reasoning": ""}}"#)))
        });
        let results = Desk::default().run(&player, &plan);
        let measured: HashSet<_> = (results.iter())
            .map(|result| result.details.learnability_measured)
            .collect();
        assert_eq!(measured.len(), 1);
        // One encoding for all decoders.
        assert_eq!(player.to(Role::Encoder).len(), 1);
        assert_eq!(player.to(Role::Decoder).len(), points.len());
        measured.into_iter().next().unwrap()
    };
    assert_eq!(measured(&[38]), None);
    assert_eq!(measured(&[38, 36]), Some(15));
    // R(7.5), R(10), R(15 / 4).
    assert_eq!(measured(&[38, 35]), Some(8));
    assert_eq!(measured(&[40, 38, 37]), Some(10));
    assert_eq!(measured(&[40, 0, 37, 20]), Some(4));
    assert_eq!(measured(&[0, 0]), Some(15));
}
