//! Texts that were encoded and decoded somewhere else: what is given is used, what is missing is asked for.

use serde_json::json;
use zer0gravity_engine::dataset::{Case, CaseFormat, RoundTripSample, parse_samples};
use zer0gravity_engine::judge::score::TokenPair;
use zer0gravity_engine::plan::Config;
use zer0gravity_engine::prompts::Role;
use zer0gravity_engine::report::RunReport;
use zer0gravity_engine::{ExperimentResult, RunEvent, StageName, StageStatus, TokenSource};

use crate::desk::{Desk, only};
use crate::player::{Asked, MODEL, Player, drive, fails, finish, label};

/// A sample with texts and rules only: ten letters, and five in the encoding.
fn sample(id: &str) -> RoundTripSample {
    RoundTripSample::new(Case::new(id, "abcdefghij"), "acegi", " decoded ")
        .encoding_system(Some("every second letter".to_owned()))
}

fn complete(id: &str) -> RoundTripSample {
    sample(id)
        .tokens(Some(TokenPair {
            original: 800,
            encoded: 898,
        }))
        .semantic_score(Some(37))
        .implementability_score(Some(5))
}

fn config() -> Config {
    Config::new(label(), MODEL)
}

fn scored_by(
    player: &Player,
    config: &Config,
    samples: &[RoundTripSample],
) -> Vec<ExperimentResult> {
    let desk = Desk::one_by_one();
    let runner = desk.runner(player);
    let run = async { runner.score(config, samples, &mut |_| ()).await };
    finish(run, player).unwrap()
}

fn score(player: &Player, sample: RoundTripSample) -> ExperimentResult {
    only(scored_by(player, &config(), &[sample]))
}

/// Checks the first four stages; both judges are `ok`.
fn expect_stages(result: &ExperimentResult, first: [StageStatus; 4]) {
    let statuses: Vec<_> = result.stages.iter().map(|stage| stage.status).collect();
    assert_eq!(statuses[..4], first);
    assert_eq!(statuses[4..], [StageStatus::Ok; 2]);
}

#[test]
fn nobody_is_asked_for_what_is_given() {
    let player = Player::default();
    let result = score(&player, complete("1"));
    assert_eq!(player.asked(), []);
    let scores = json!({"tokenEfficiency": 0, "semanticPreservation": 37, "learnability": 14, "implementability": 5});
    assert_eq!(json!(result.scores), scores);
    assert_eq!(result.total, Some(56));
    // An expansion is told with its sign.
    assert_eq!(result.details.compression_percent, Some(-12.2));
    assert_eq!(result.metadata.token_source, Some(TokenSource::Given));
    assert_eq!(&*result.metadata.provider, "given");
    assert_eq!(result.metadata.total_api_calls, 0);
    assert_eq!(result.encoded_text.as_deref(), Some("acegi"));
    assert_eq!(result.decoded_text.as_deref(), Some(" decoded "));
    assert_eq!(&*result.encoding_system, "every second letter");
    expect_stages(&result, [StageStatus::NotRun; 4]);
}

#[test]
fn what_is_missing_is_counted_and_judged() {
    let player = Player::default();
    let result = score(&player, sample("1"));
    assert_eq!(player.counted(), ["abcdefghij", "acegi"]);
    assert!(player.to(Role::Encoder).is_empty() && player.to(Role::Decoder).is_empty());
    assert_eq!(player.asked().len(), 4);
    let judge = &player.to(Role::SemanticJudge)[0];
    let said = &judge.prompt.messages[0].content;
    assert_eq!(said, "ORIGINAL:\nabcdefghij\n\nDECODED:\n decoded ");
    let judge = &player.to(Role::ImplementabilityJudge)[0];
    assert_eq!(judge.prompt.messages[0].content, "every second letter");
    assert_eq!(result.total, Some(94));
    assert_eq!(result.metadata.token_source, Some(TokenSource::Api));
    assert_eq!(&*result.metadata.provider, "anthropic");
    let (ok, not_run) = (StageStatus::Ok, StageStatus::NotRun);
    expect_stages(&result, [ok, not_run, ok, not_run]);
}

#[test]
fn each_given_part_stands_for_itself() {
    // Which parts are given, and how many calls are left.
    for (tokens, semantic, rules, calls) in [
        (true, false, false, 2),
        (false, true, false, 3),
        (false, false, true, 3),
        (true, true, false, 1),
        (true, false, true, 1),
        (false, true, true, 2),
    ] {
        let all = complete("1");
        let part = sample("1")
            .tokens(all.tokens.filter(|_| tokens))
            .semantic_score(all.semantic_score.filter(|_| semantic))
            .implementability_score(all.implementability_score.filter(|_| rules));
        let player = Player::default();
        let result = score(&player, part);
        let what = format!("{tokens} {semantic} {rules}");
        assert!(result.outcome.is_ok(), "{what}");
        assert_eq!(player.asked().len(), calls, "{what}");
        let scores = result.scores.unwrap();
        let points = |given: bool, yes, no| if given { yes } else { no };
        assert_eq!(scores.semantic_preservation, points(semantic, 37, 36));
        assert_eq!(scores.implementability, Some(points(rules, 5, 4)));
        assert_eq!(scores.token_efficiency, if tokens { 0 } else { 40 });
    }
}

#[test]
fn counts_that_fail_are_estimated_both() {
    for text in ["abcdefghij", "acegi"] {
        let player = Player::default().counts(move |request| {
            if request.text == text {
                Err(fails("server", 500))
            } else {
                Ok(1000)
            }
        });
        let result = score(&player, sample("1"));
        // Letters, as the tokenizer of the tests counts; replies of an encoder that would tell are not there.
        let numbers = (result.original_tokens, result.encoded_tokens);
        assert_eq!(numbers, (Some(10), Some(5)));
        assert_eq!(result.metadata.token_source, Some(TokenSource::Local));
    }
}

#[test]
fn a_blank_text_is_as_empty_as_a_reply() {
    for (encoded, decoded, stage) in [
        (" \n", "decoded", StageName::Encode),
        ("enc", "", StageName::Decode),
    ] {
        let player = Player::default();
        let mut blank = sample("1");
        blank.encoded_text = encoded.to_owned();
        blank.decoded_text = decoded.to_owned();
        let result = score(&player, blank);
        assert!(player.counted().is_empty());
        assert_eq!(
            (result.outcome.status, result.outcome.stage),
            (StageStatus::Empty, Some(stage))
        );
        assert!(result.scores.is_none() && result.stages.len() == 6);
    }
}

#[test]
fn a_judge_that_fails_fails_its_samples_alone() {
    let samples = [complete("1"), sample("2"), complete("3")];
    let player = Player::default().role(Role::SemanticJudge, || Err(fails("server", 500)));
    let results = scored_by(&player, &config(), &samples);
    let ended: Vec<_> = (results.iter())
        .map(|result| (result.test_case_id.as_str(), result.outcome.stage))
        .collect();
    let failed = Some(StageName::JudgeSemantic);
    assert_eq!(ended, [("1", None), ("2", failed), ("3", None)]);
    let result = &results[1];
    assert!(result.scores.is_none() && result.total.is_none());
    assert_eq!(result.decoded_text.as_deref(), Some(" decoded "));
    assert_eq!(result.original_tokens, Some(10));
}

#[test]
fn results_come_in_the_order_of_the_samples() {
    let mut samples: Vec<_> = ["1", "2", "3"].map(sample).into();
    for (place, sample) in samples.iter_mut().enumerate() {
        sample.decoded_text = format!("decoded {place}");
    }
    // The first and the last are by the same rules.
    samples[1].encoding_system = Some("other rules".to_owned());
    let desk = Desk::default();
    let player = Player::default().holding();
    let config = config();
    let mut told = Vec::new();
    let mut on_event = |event: RunEvent<'_>| {
        if let RunEvent::Ended { done, result, .. } = event {
            told.push((done, result.test_case_id.clone()));
        }
    };
    let runner = desk.runner(&player);
    let run = runner.score(&config, &samples, &mut on_event);
    let results = drive(run, &player, |player| {
        // What the last sample waits for goes first.
        let held = player.held();
        let of = |id: &str| {
            held.iter().position(|asked| match asked {
                Asked::Message(request) => request.inputs.texts.iter().any(|text| text == id),
                Asked::Count(_) => false,
            })
        };
        let next = ["decoded 2", "decoded 1", "decoded 0"]
            .into_iter()
            .find_map(of);
        player.release(next.unwrap_or(held.len() - 1));
        true
    });
    let results = results.unwrap().unwrap();
    let ids = results.iter().map(|result| result.test_case_id.as_str());
    assert!(ids.eq(["1", "2", "3"]));
    let done: Vec<_> = told.iter().map(|(done, _)| *done).collect();
    assert_eq!(done, [1, 2, 3]);
    let encodings: Vec<_> = results.iter().map(|one| one.encoding_id.as_str()).collect();
    assert_eq!(encodings, ["given", "given", "given"]);
    // Both counts are the same for all three.
    assert_eq!(player.counted().len(), 2);
}

#[test]
fn the_published_rows_are_reproduced() {
    let file = test_support::fixture("zer0gravity/vectors/published_rows.json");
    let rows: serde_json::Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let rows = rows["rows"].as_array().unwrap();
    let lines: Vec<_> = (rows.iter().enumerate())
        .map(|(place, row)| {
            serde_json::json!({
                "id": place.to_string(),
                "text": "a text",
                "encodedText": "txt",
                "decodedText": "a text",
                "originalTokens": row["originalTokens"],
                "encodedTokens": row["encodedTokens"],
                "semanticScore": row["scores"]["semanticPreservation"],
                "implementabilityScore": row["scores"]["implementability"],
            })
            .to_string()
        })
        .collect();
    let file = lines.join("\n");
    let (samples, errors) = parse_samples(file.as_bytes(), CaseFormat::JsonLines, "rows");
    assert_eq!((samples.len(), errors.len()), (17, 0));
    let player = Player::default();
    let results = scored_by(&player, &config(), &samples);
    assert_eq!(player.asked(), []);
    for (result, row) in results.iter().zip(rows) {
        let json = serde_json::to_value(result).unwrap();
        assert_eq!(json["scores"], row["scores"]);
        assert_eq!(json["total"], row["total"]);
        assert_eq!(json["compressionRatio"], row["compressionRatio"]);
        let percent = &json["details"]["compressionPercent"];
        assert_eq!(percent, &row["compressionPercent"]);
    }
}

#[test]
fn z5_without_rules_and_points_for_them_nothing_is_made_up() {
    let player = Player::default();
    let result = score(&player, sample("1").encoding_system(None));
    assert!(result.outcome.is_ok(), "{:?}", result.error);
    assert!(player.to(Role::ImplementabilityJudge).is_empty());
    let json = serde_json::to_value(&result).unwrap();
    assert_eq!(
        json["scores"],
        serde_json::json!({"tokenEfficiency": 40, "semanticPreservation": 36, "learnability": 14})
    );
    assert!(json.get("total").is_none());
    assert_eq!(
        json["partialTotal"],
        serde_json::json!({"points": 90, "of": 95})
    );
    assert_eq!(result.stages[5].status, StageStatus::NotRun);
    assert_eq!(
        serde_json::from_value::<ExperimentResult>(json).unwrap(),
        result
    );
    // Given points need no rules.
    let given = complete("1").encoding_system(None);
    let result = score(&player, given);
    assert_eq!((result.total, result.partial_total), (Some(56), None));
}

#[test]
fn z44_one_text_may_come_from_several_systems() {
    let line = |system: &str, id: &str, points: u8| {
        format!(
            r#"{{"id":"{id}","text":"abcdefghij","encodedText":"acegi","decodedText":"abcdefghij","originalTokens":10,"encodedTokens":5,"encodingId":"{system}","semanticScore":{points},"implementabilityScore":5}}"#
        )
    };
    let file = [
        line("short", "1", 40),
        line("short", "2", 38),
        line("long", "1", 20),
        line("long", "2", 21),
    ]
    .join("\n");
    let (samples, errors) = parse_samples(file.as_bytes(), CaseFormat::JsonLines, "t.jsonl");
    assert!(errors.is_empty(), "{errors:?}");
    let results = scored_by(&Player::default(), &config(), &samples);
    let report = RunReport::of_results(results);
    let ids: Vec<_> = report
        .statistics
        .per_encoding
        .iter()
        .map(|one| one.encoding_id.as_str())
        .collect();
    assert_eq!(ids, ["short", "long"]);
    let pair = &report.statistics.pairwise[0];
    assert_eq!(
        (pair.cases, pair.mean_difference.is_some_and(|by| by > 10.0)),
        (2, true)
    );
    // The same id twice within a system is an error still, and the default system is one too.
    let twice = [line("short", "1", 40), line("short", "1", 38)].join("\n");
    let (_, errors) = parse_samples(twice.as_bytes(), CaseFormat::JsonLines, "t.jsonl");
    assert_eq!(
        errors[0].to_string(),
        "t.jsonl:2: id `1` again, first on line 1; rename one of them"
    );
    let long = line(&"x".repeat(129), "1", 40);
    let (_, errors) = parse_samples(long.as_bytes(), CaseFormat::JsonLines, "t.jsonl");
    assert_eq!(
        errors[0].to_string(),
        "t.jsonl:1: `encodingId` has 129 characters, not 1 to 128"
    );
}
