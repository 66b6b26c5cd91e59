//! The ends of each stage, and the parts that a result keeps from the stages before.

use llm_types::StopReason;
use serde_json::json;
use zer0gravity_engine::model::{ModelError, ModelReply};
use zer0gravity_engine::prompts::Role;
use zer0gravity_engine::result::ProceduralStatus;
use zer0gravity_engine::run::pipeline::run_experiment;
use zer0gravity_engine::{Context, ExperimentResult, FailureKind, StageName, StageStatus};

use crate::desk::{Characters, Desk, only, plan};
use crate::player::{Player, RULES, SEMANTIC, fails, finish, says, stops};

/// Ten letters, five in the encoding.
const TEXT: &str = "abcdefghij";

const STAGES: [StageName; 6] = [
    StageName::CountOriginal,
    StageName::Encode,
    StageName::CountEncoded,
    StageName::Decode,
    StageName::JudgeSemantic,
    StageName::JudgeImplementability,
];

type Answer = Result<ModelReply, ModelError>;

/// The result when one role answers like this, always.
fn with(role: Role, answer: Answer) -> ExperimentResult {
    let player = Player::default().role(role, move || answer.clone());
    only(Desk::default().run(&player, &plan(&[TEXT])))
}

fn statuses(result: &ExperimentResult) -> Vec<StageStatus> {
    let stages: Vec<_> = result.stages.iter().map(|record| record.stage).collect();
    assert_eq!(stages, STAGES);
    result.stages.iter().map(|record| record.status).collect()
}

/// Bad replies of an encoder or a decoder, with the status and kind of each.
fn bad_texts() -> Vec<(Answer, StageStatus, Option<&'static str>)> {
    use StageStatus::{ApiError, Empty, Refused, Truncated};
    vec![
        (Ok(stops("", StopReason::Refusal)), Refused, None),
        (Ok(stops("I will not.", StopReason::Refusal)), Refused, None),
        (Ok(stops("half", StopReason::ContentFilter)), Refused, None),
        (Ok(stops("half", StopReason::MaxTokens)), Truncated, None),
        (Ok(stops("", StopReason::MaxTokens)), Truncated, None),
        (
            Ok(stops("half", StopReason::ContextWindow)),
            Truncated,
            None,
        ),
        (Ok(says("")), Empty, None),
        (Ok(says(" \n\u{feff}\u{3000}")), Empty, None),
        (Err(fails("server", 500)), ApiError, Some("server")),
        (Err(fails("rate_limit", 429)), ApiError, Some("rate_limit")),
        (
            Err(fails("bad_response", 200)),
            ApiError,
            Some("bad_response"),
        ),
    ]
}

#[test]
fn all_goes_well() {
    let result = with(Role::Executor, Ok(says("nobody asks")));
    assert_eq!(statuses(&result), [StageStatus::Ok; 6]);
    assert_eq!((&result.error, result.outcome.is_ok()), (&None, true));
    assert_eq!(result.encoded_text.as_deref(), Some("acegi"));
    assert_eq!(result.decoded_text.as_deref(), Some("decoded acegi"));
    // 50 % saved, 36 of 40, R(36 / 40 * 15) = 14, 4 of 5.
    let scores = json!({"tokenEfficiency": 40, "semanticPreservation": 36, "learnability": 14, "implementability": 4});
    assert_eq!(json!(result.scores), scores);
    assert_eq!(result.total, Some(94));
    let metadata = &result.metadata;
    let used = metadata.total_tokens_used;
    assert_eq!((used.input, used.output), (40, 20));
    assert_eq!((metadata.total_api_calls, metadata.retries), (6, 0));
    let stops: Vec<_> = (result.stages.iter())
        .map(|stage| stage.stop_reason.as_deref())
        .collect();
    let said = Some("end_turn");
    assert_eq!(stops, [None, said, None, said, said, said]);
}

#[test]
fn a_bad_encoding_or_decoding_ends_the_item() {
    for (role, place, stage) in [
        (Role::Encoder, 1, StageName::Encode),
        (Role::Decoder, 3, StageName::Decode),
    ] {
        for (answer, status, kind) in bad_texts() {
            let what = format!("{role:?} {answer:?}");
            let replied = answer.is_ok();
            let result = with(role, answer);
            let outcome = &result.outcome;
            let ended = (
                outcome.status,
                outcome.stage,
                outcome.kind.map(FailureKind::as_str),
            );
            assert_eq!(ended, (status, Some(stage), kind), "{what}");
            let statuses = statuses(&result);
            assert!(statuses[..place].iter().all(|one| *one == StageStatus::Ok));
            assert_eq!(statuses[place], status, "{what}");
            let later = &statuses[place + 1..];
            assert!(
                later.iter().all(|one| *one == StageStatus::NotRun),
                "{what}"
            );

            assert!(result.scores.is_none() && result.total.is_none(), "{what}");
            let error = result.error.as_deref().unwrap();
            let begin = format!("{status} at {stage}");
            assert!(error.starts_with(&begin), "{error}");

            let decoding = role == Role::Decoder;
            assert_eq!(result.encoded_text.is_some(), decoding, "{what}");
            assert_eq!(result.decoded_text, None, "{what}");
            assert_eq!(result.original_tokens, Some(10), "{what}");
            assert_eq!(result.encoded_tokens, decoding.then_some(5), "{what}");
            assert_eq!(result.metadata.total_api_calls, place as u32 + 1, "{what}");
            // What a reply reports was spent, good or not.
            let replies = u64::from(decoding) + u64::from(replied);
            let used = result.metadata.total_tokens_used;
            assert_eq!((used.input, used.output), (10 * replies, 5 * replies));
            let usage = result.stages[place].usage.map(|usage| usage.input);
            assert_eq!(usage, replied.then_some(10), "{what}");
        }
    }
}

#[test]
fn attempts_and_the_message_of_a_failure_are_told() {
    let mut error = fails("overloaded", 529);
    error.call.attempts = 3;
    let result = with(Role::Encoder, Err(error));
    assert_eq!(result.stages[1].attempts, 3);
    let metadata = &result.metadata;
    assert_eq!((metadata.total_api_calls, metadata.retries), (2, 2));
    let detail = result.outcome.detail.as_deref().unwrap();
    assert!(detail.contains("529"), "{detail}");
}

#[test]
fn a_bad_judge_keeps_texts_and_counts() {
    use StageStatus::{ApiError, Empty, Refused, Truncated, Unparseable};
    let prose = "a fair decoding";
    let cases: Vec<(Answer, StageStatus, u32)> = vec![
        (Ok(stops(SEMANTIC, StopReason::Refusal)), Refused, 1),
        (Ok(stops(prose, StopReason::ContentFilter)), Refused, 1),
        (Ok(says(prose)), Unparseable, 2),
        (Ok(says(r#"{"reasoning": "good"}"#)), Unparseable, 2),
        (Ok(says(r#"{"score": null}"#)), Unparseable, 2),
        (
            Ok(stops(r#"{"score": 3"#, StopReason::MaxTokens)),
            Truncated,
            2,
        ),
        (Ok(stops(prose, StopReason::ContextWindow)), Truncated, 2),
        (Ok(says(" ")), Empty, 2),
        (Err(fails("server", 500)), ApiError, 1),
    ];
    for (role, place, stage) in [
        (Role::SemanticJudge, 4, StageName::JudgeSemantic),
        (
            Role::ImplementabilityJudge,
            5,
            StageName::JudgeImplementability,
        ),
    ] {
        for (answer, status, calls) in cases.clone() {
            let what = format!("{role:?} {answer:?}");
            let result = with(role, answer);
            let outcome = &result.outcome;
            let ended = (outcome.status, outcome.stage);
            assert_eq!(ended, (status, Some(stage)), "{what}");
            let mut expected = [StageStatus::Ok; 6];
            expected[place] = status;
            // The judges are asked together, so the other has spoken.
            assert_eq!(statuses(&result), expected, "{what}");
            assert_eq!(result.metadata.total_api_calls, 5 + calls, "{what}");
            assert!(result.scores.is_none() && result.total.is_none(), "{what}");
            assert_eq!(result.encoded_text.as_deref(), Some("acegi"));
            assert_eq!(result.decoded_text.as_deref(), Some("decoded acegi"));
            let counts = (result.original_tokens, result.encoded_tokens);
            assert_eq!(counts, (Some(10), Some(5)), "{what}");
            assert_eq!(result.details.compression_percent, Some(50.0));
            let of_semantic = result.details.semantic_reasoning.is_some();
            assert_eq!(of_semantic, role != Role::SemanticJudge, "{what}");
        }
    }
}

#[test]
fn both_judges_fail_and_the_first_is_the_outcome() {
    let player = Player::default()
        .role(Role::SemanticJudge, || Ok(says("hm")))
        .role(Role::ImplementabilityJudge, || Err(fails("server", 500)));
    let result = only(Desk::default().run(&player, &plan(&[TEXT])));
    let ended = (result.outcome.status, result.outcome.stage);
    let expected = (StageStatus::Unparseable, Some(StageName::JudgeSemantic));
    assert_eq!(ended, expected);
    assert_eq!(result.stages[5].status, StageStatus::ApiError);
}

#[test]
fn a_judge_that_is_cut_behind_its_json_has_spoken() {
    for stop in [StopReason::MaxTokens, StopReason::ContextWindow] {
        let cut = format!("{SEMANTIC} and this is why I");
        let result = with(Role::SemanticJudge, Ok(stops(&cut, stop)));
        assert!(result.outcome.is_ok());
        assert_eq!(result.scores.unwrap().semantic_preservation, 36);
    }
}

#[test]
fn the_encoding_is_kept_as_it_is_and_the_decoding_trimmed() {
    let player = Player::default()
        .role(Role::Encoder, || Ok(says("\n as it is \u{feff}")))
        .role(Role::Decoder, || {
            Ok(says("\u{feff}\n \u{85}trimmed\u{85}\u{2003}\r\n"))
        });
    let result = only(Desk::default().run(&player, &plan(&[TEXT])));
    assert_eq!(result.encoded_text.as_deref(), Some("\n as it is \u{feff}"));
    assert_eq!(result.decoded_text.as_deref(), Some("\u{85}trimmed\u{85}"));
    let decoder = &player.to(Role::Decoder)[0];
    assert_eq!(decoder.prompt.messages[0].content, "\n as it is \u{feff}");
    assert!(
        player
            .counted()
            .contains(&"\n as it is \u{feff}".to_owned())
    );
}

#[test]
fn what_the_executor_does_fails_nothing_else() {
    let mut plan = plan(&[TEXT]);
    plan.config.execute = true;
    plan.cases[0].case.expected_output = Some("an answer".to_owned());
    let mut answers = bad_texts()
        .into_iter()
        .map(|(answer, status, _)| (answer, status, ProceduralStatus::Undetermined))
        .collect::<Vec<_>>();
    answers.extend([
        (
            Ok(says(" `an answer`.\n")),
            StageStatus::Ok,
            ProceduralStatus::Pass,
        ),
        (Ok(says("another")), StageStatus::Ok, ProceduralStatus::Fail),
    ]);
    for (answer, status, procedural) in answers {
        let what = format!("{answer:?}");
        let player = Player::default().role(Role::Executor, move || answer.clone());
        let result = only(Desk::default().run(&player, &plan));
        assert!(result.outcome.is_ok(), "{what}");
        assert_eq!(result.total, Some(94), "{what}");
        let last = result.stages.last().unwrap();
        assert_eq!((last.stage, last.status), (StageName::Execute, status));
        assert_eq!(result.procedural.status, procedural, "{what}");
        assert_eq!(result.metadata.total_api_calls, 7, "{what}");
    }
    // A case that expects nothing needs nobody to carry it out.
    plan.cases[0].case.expected_output = None;
    let player = Player::default();
    let result = only(Desk::default().run(&player, &plan));
    assert_eq!(player.asked().len(), 6);
    assert_eq!(result.procedural.status, ProceduralStatus::NotRun);
}

#[test]
fn judges_side_by_side_are_one_wait() {
    let desk = Desk::one_by_one();
    let clock = desk.clock.clone();
    let judging = clock.clone();
    let player = Player::default()
        .counts(move |_| {
            clock.advance(1);
            Ok(10)
        })
        .role(Role::SemanticJudge, move || {
            judging.advance(70);
            Ok(says(SEMANTIC))
        })
        .role(Role::ImplementabilityJudge, || Ok(says(RULES)));
    let result = only(desk.run(&player, &plan(&[TEXT])));
    // Two counts of 1 ms, then the longer of 70 and 0.
    assert_eq!(result.metadata.duration_ms, 72);
    assert_eq!(result.stages[4].elapsed_ms, 70);
    assert_eq!(result.metadata.timestamp, "2026-11-22T00:00:00.000Z");
}

#[test]
fn an_experiment_alone_is_one_of_a_run() {
    let plan = plan(&[TEXT]);
    let item = plan.items().next().unwrap();
    let desk = Desk::default();
    let player = Player::default();
    let context = Context::new(&player, &desk.clock, &Characters);
    let alone = run_experiment(&context, &item);
    let alone = finish(alone, &player);
    assert_eq!(alone, only(desk.run(&Player::default(), &plan)));
}
