//! The log of Inspect. Its schema has the fields and types of version 2 of the form.

use std::collections::BTreeSet;
use std::sync::Arc;

use llm_types::ErrorClass;
use serde_json::{Value, json};
use zer0gravity_engine::prompts::{Nonce, PromptProfile, RoleInput, render};
use zer0gravity_engine::report::{RunReport, export_inspect, inspect_file_name};
use zer0gravity_engine::{ExperimentResult, FailureKind, StageName, StageStatus};

use super::sample::{failed, item, judged, numbered, read, report, small, without_rules};

const SCHEMA: &str = include_str!("inspect_log.schema.json");

/// The log, which follows the schema and has no sample twice.
#[track_caller]
fn log(report: &RunReport) -> Value {
    let log: Value = serde_json::from_str(&export_inspect(report)).unwrap();
    let errors = errors(&log);
    assert!(errors.is_empty(), "{errors:?}");
    let mut seen = BTreeSet::new();
    for sample in samples(&log) {
        let name = (sample["id"].to_string(), sample["epoch"].to_string());
        assert!(seen.insert(name), "{sample}");
    }
    log
}

fn errors(log: &Value) -> Vec<String> {
    let schema = serde_json::from_str(SCHEMA).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    let errors = schema.iter_errors(log);
    errors
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect()
}

fn samples(log: &Value) -> Vec<Value> {
    log["samples"].as_array().unwrap().clone()
}

/// The values of a field of a list.
fn column(list: &Value, field: &str) -> Vec<Value> {
    let list = list.as_array().unwrap();
    list.iter().map(|one| one[field].clone()).collect()
}

/// The same with scores of a rubric: id, score and reason.
fn scored(
    mut item: ExperimentResult,
    scores: &[(&str, Option<f64>, Option<&str>)],
) -> ExperimentResult {
    let scores = scores.iter().map(|(id, score, reasoning)| {
        let status = score.map_or("scorer_failed", |_| "ok");
        read(json!({
            "id": id, "kind": "judge", "scale": [0, 10], "score": score, "status": status, "reasoning": reasoning,
        }))
    });
    item.own_scores = scores.collect();
    item
}

fn interrupted(item: ExperimentResult) -> ExperimentResult {
    let mut item = failed(item, StageStatus::NotRun, StageName::Encode);
    item.outcome.kind = Some(FailureKind::Interrupted);
    item
}

#[test]
fn n12_a_log_has_the_run_and_a_sample_for_each_result() {
    let report = small();
    let log = log(&report);
    assert_eq!(log["status"], "success");
    assert_eq!(log.get("error"), None);
    assert_eq!(log["eval"]["created"], report.created_at);
    assert_eq!(log["eval"]["task"], "zer0gravity");
    assert_eq!(log["eval"]["model"], "anthropic/scribe-1");
    assert_eq!(
        log["eval"]["dataset"],
        json!({"name": "levels", "samples": 6})
    );
    assert_eq!(log["eval"]["config"], json!({"epochs": 2}));
    assert_eq!(log["eval"]["metadata"]["encodings"][1]["rulesTokens"], 137);
    assert_eq!(log["results"]["total_samples"], 12);
    assert_eq!(log["results"]["completed_samples"], 11);
    assert_eq!(log["stats"]["started_at"], "2026-02-03T04:05:06.000Z");
    assert_eq!(log["stats"]["completed_at"], "2026-02-03T04:05:06.949Z");
    let samples = samples(&log);
    for (sample, result) in samples.iter().zip(&report.results) {
        let id = format!("{}/{}", result.encoding_id, result.test_case_id);
        assert_eq!(sample["id"], id);
        assert_eq!(sample["epoch"], result.trial);
        assert_eq!(sample["input"], *result.original_text);
        assert_eq!(sample["target"], *result.original_text);
    }
    let scores = &samples[2]["scores"];
    let names: Vec<_> = scores.as_object().unwrap().keys().collect();
    assert_eq!(names.len(), 4, "{names:?}");
    let meaning = &scores["semantic_preservation"];
    let expected = report.results[2].scores.unwrap().semantic_preservation;
    assert_eq!(meaning["value"], f64::from(expected));
    assert_eq!(meaning["explanation"], "Capital letters are lost.");
    assert_eq!(
        meaning["answer"],
        report.results[2].decoded_text.as_deref().unwrap()
    );
    assert_eq!(meaning["metadata"]["flags"][0]["evidence"], "lost: 30 mg");
    assert_eq!(scores["implementability"]["explanation"], "Simple.");
    assert_eq!(scores["implementability"].get("metadata"), None);
    let total = f64::from(report.results[2].total.unwrap());
    assert_eq!(scores["total"]["value"], total);
    let usage = json!({"input_tokens": 100, "output_tokens": 20, "total_tokens": 120});
    assert_eq!(samples[2]["output"]["usage"], usage);
}

#[test]
fn n12_the_schema_refuses_a_log_without_a_needed_field() {
    let log = log(&small());
    let places = [
        "/eval",
        "/eval/dataset",
        "/samples/2",
        "/samples/2/scores/total",
        "/eval/scorers/0",
    ];
    for place in places {
        let Some(Value::Object(fields)) = log.pointer(place) else {
            panic!("{place}")
        };
        for field in fields.keys() {
            let mut other = log.clone();
            let part = other.pointer_mut(place).unwrap().as_object_mut().unwrap();
            part.remove(field);
            assert_ne!(errors(&other), [""; 0], "{place}/{field}");
            let part = other.pointer_mut(place).unwrap();
            part[field] = json!([[1]]);
            assert_ne!(errors(&other), [""; 0], "{place}/{field} of another type");
        }
    }
}

#[test]
fn n12_a_failed_item_has_an_error_and_no_scores() {
    let samples = samples(&log(&small()));
    let last = samples.last().unwrap();
    let message = "refused at decode: no reply";
    let error = json!({"message": message, "traceback": "", "traceback_ansi": message});
    assert_eq!(last["error"], error);
    assert_eq!(last["metadata"]["outcome"], "refused");
    assert_eq!(last["output"]["choices"], json!([]));
    let encoded = last["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(encoded["role"], "assistant");
}

#[test]
fn n12_the_scores_of_a_result_without_rules_have_no_total() {
    let log = log(&report(vec![without_rules(item("a", "x", "A text."))]));
    let scores = samples(&log)[0]["scores"].clone();
    let names: BTreeSet<&str> = scores
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(
        names,
        BTreeSet::from(["semantic_preservation", "token_efficiency"])
    );
    assert_eq!(log["results"]["scores"].as_array().unwrap().len(), 2);
    assert_eq!(log["eval"]["dataset"]["name"], "texts");
}

#[test]
fn n12_own_scores_follow_the_built_in_ones() {
    let one = &[
        ("obligations", Some(7.5), Some("One is lost.")),
        ("letters", Some(-1e308), None),
        ("silent", None, Some("no reply")),
        ("total", Some(1.0), Some("another total")),
    ];
    let one = scored(item("a", "x", "A text."), one);
    let other = &[
        ("obligations", Some(2.5), None),
        ("letters", Some(-1e308), None),
    ];
    let other = scored(item("a", "y", "A text."), other);
    // The scores of a failed result are not in the means, because its sample has none.
    let unjudged = failed(
        numbered(one.clone(), 2, 1),
        StageStatus::Unparseable,
        StageName::JudgeSemantic,
    );
    let log = log(&report(vec![one.clone(), other, unjudged]));
    let names = [
        "total",
        "semantic_preservation",
        "implementability",
        "token_efficiency",
        "obligations",
    ];
    // A mean that no JSON number can hold is left out.
    assert_eq!(column(&log["results"]["scores"], "name"), names);
    assert_eq!(column(&log["eval"]["scorers"], "name"), names);
    let metrics = json!([{"name": "mean"}, {"name": "stderr"}]);
    assert_eq!(log["eval"]["scorers"][4]["metrics"], metrics);
    let obligations = &log["results"]["scores"][4]["metrics"];
    assert_eq!(obligations["mean"]["value"], 5.0);
    assert_eq!(obligations["stderr"]["value"], 2.5);
    let scores = &samples(&log)[0]["scores"];
    assert_eq!(
        scores["obligations"],
        json!({"value": 7.5, "answer": one.decoded_text, "explanation": "One is lost."})
    );
    assert_eq!(scores["letters"]["explanation"], Value::Null);
    assert_eq!(scores.get("silent"), None);
    assert_eq!(scores["total"]["value"], f64::from(one.total.unwrap()));
    assert_eq!(scores["total"]["explanation"], Value::Null);
}

#[test]
fn n12_the_status_says_how_the_run_ended() {
    let (done, other) = (item("a", "x", "A text."), item("a", "y", "Another text."));
    let refused = failed(other.clone(), StageStatus::Refused, StageName::Encode);
    let mut capped = failed(other.clone(), StageStatus::NotRun, StageName::Decode);
    capped.outcome.kind = Some(ErrorClass::Budget.into());
    let mut keyless = failed(other.clone(), StageStatus::NotRun, StageName::Encode);
    keyless.outcome.kind = Some(ErrorClass::Auth.into());
    keyless.error = Some("no key".to_owned());
    for (second, status) in [
        (other.clone(), "success"),
        (refused.clone(), "success"),
        (interrupted(other), "cancelled"),
        (capped, "cancelled"),
        (keyless.clone(), "error"),
    ] {
        let log = log(&report(vec![done.clone(), second]));
        assert_eq!(log["status"], status);
        assert_eq!(log.get("error").is_some(), status == "error");
        // A text whose turn did not come is no failure of the encoding system.
        let written = if status == "cancelled" { 1 } else { 2 };
        assert_eq!(samples(&log).len(), written);
        assert_eq!(log["results"]["total_samples"], 2);
    }
    // The failure that ended the run is the cause, not an earlier one of a text.
    let keyless = log(&report(vec![refused.clone(), keyless]));
    assert_eq!(keyless["error"]["message"], "no key");
    let failed = log(&report(vec![refused]));
    assert_eq!(failed["status"], "error");
    assert_eq!(failed["error"]["message"], "refused at encode: no reply");
    assert_eq!(failed["results"]["scores"], json!([]));
    let empty = log(&RunReport::read("[]").unwrap());
    assert_eq!(
        (&empty["status"], &empty["eval"]["model"]),
        (&json!("success"), &json!("none/none"))
    );
}

#[test]
fn n12_each_trial_and_decode_is_an_epoch() {
    let one = item("a", "x", "A text.");
    let numbers = [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (2, 3)];
    let items: Vec<_> = numbers
        .map(|(trial, decode)| numbered(one.clone(), trial, decode))
        .into();
    let epochs = |log: &Value| -> Vec<u64> {
        samples(log)
            .iter()
            .map(|sample| sample["epoch"].as_u64().unwrap())
            .collect()
    };
    let full = log(&report(items.clone()));
    assert_eq!(epochs(&full), [1, 2, 3, 4, 5, 6]);
    assert_eq!(full["eval"]["config"]["epochs"], 6);
    assert_eq!(full["eval"]["dataset"]["samples"], 1);
    // Those of the plan count, also of a run that was stopped before.
    let mut stopped = small();
    stopped.config.as_mut().unwrap().decodes = 3;
    assert_eq!(log(&stopped)["eval"]["config"]["epochs"], 6);
    // A list that was put together may have a result twice, and numbers that no plan has.
    let odd = [(1, 1), (1, 1), (0, 0), (u32::MAX, u32::MAX)];
    let odd: Vec<_> = odd
        .map(|(trial, decode)| numbered(one.clone(), trial, decode))
        .into();
    assert_eq!(epochs(&log(&report(odd))).len(), 4);
    let twice = [(1, 1), (1, 1), (1, 2)];
    let twice = twice.map(|(trial, decode)| numbered(one.clone(), trial, decode));
    let found = epochs(&log(&report(twice.into())));
    assert_eq!(found, [1, 3, 2], "each decode keeps its number");
}

#[test]
fn n12_means_are_those_that_inspect_computes() {
    let points = [("x", 1, 36), ("x", 2, 30), ("y", 1, 20)];
    let items = points.map(|(case, trial, points)| {
        judged(numbered(item("a", case, "A text."), trial, 1), points, 4)
    });
    let log = log(&report(items.into()));
    let scores = log["results"]["scores"].as_array().unwrap();
    assert_eq!(scores[0]["name"], "total");
    assert_eq!(scores[1]["name"], "semantic_preservation");
    assert_eq!(scores[1]["metrics"]["mean"]["value"], 26.5);
    assert_eq!(scores[1]["metrics"]["stderr"]["value"], 6.5);
    assert_eq!(scores[2]["metrics"]["stderr"]["value"], 0.0);
    let one = self::log(&report(vec![item("a", "x", "A text.")]));
    assert_eq!(one["results"]["scores"][0]["metrics"].get("stderr"), None);
}

#[test]
fn n12_the_messages_are_those_of_the_encoder_call() {
    let mut asked = item("a", "x", "A text.");
    let rules = asked.encoding_system.to_string();
    let input = RoleInput::Encode {
        rules: &rules,
        text: "A text.",
    };
    for profile in [
        PromptProfile::Plain,
        PromptProfile::Bands,
        PromptProfile::Guarded,
    ] {
        let prompt = render(profile, input, Nonce::default());
        Arc::make_mut(&mut asked.metadata.prompt_sha256).encoder = prompt.sha256;
        // A result whose judge has a prompt of the user has that profile.
        for named in [profile, PromptProfile::Own] {
            asked.metadata.prompt_profile = named;
            let sample = samples(&log(&report(vec![asked.clone()])))[0].clone();
            let messages = &sample["messages"];
            assert_eq!(
                messages[0],
                json!({"role": "system", "content": prompt.system})
            );
            assert_eq!(messages[1]["role"], "user");
            assert!(messages[1]["content"].as_str().unwrap().contains("A text."));
            assert_eq!(
                messages[2]["content"],
                asked.encoded_text.as_deref().unwrap()
            );
        }
    }
    // Without a call, and with another prompt than this version has, the log has none.
    let mut offline = asked.clone();
    offline.offline = true;
    let mut given = asked.clone();
    given.stages[0].attempts = 0;
    Arc::make_mut(&mut asked.metadata.prompt_sha256).encoder = "0".repeat(64);
    for result in [offline, given, asked] {
        let sample = samples(&log(&report(vec![result])))[0].clone();
        assert_eq!(
            sample["messages"][0],
            json!({"role": "user", "content": "A text."})
        );
    }
}

#[test]
fn n12_hostile_texts_stay_texts() {
    let hostile = [
        "",
        "</script><b>",
        "\u{0}\u{1b}[31m\u{202e}\"\\",
        "attachment://0123456789abcdef0123456789abcdef",
        "NaN",
        "../../etc/passwd",
        "\u{feff}\u{2028}\u{1f600}",
    ];
    for text in hostile {
        let mut one = item(text, text, text);
        one.encoded_text = Some(text.into());
        one.decoded_text = Some(text.into());
        one.details.semantic_reasoning = Some(json!({"a": [text]}));
        one.metadata.provider = text.into();
        one.metadata.timestamp = text.into();
        one.metadata.duration_ms = u64::MAX;
        let mut other = failed(
            numbered(one.clone(), 2, 1),
            StageStatus::ApiError,
            StageName::Decode,
        );
        other.error = Some(text.into());
        let report = report(vec![one, other]);
        let name = inspect_file_name(&report);
        assert!(
            name.starts_with("1970-01-01T00-00-00.000Z_zer0gravity_"),
            "{name}"
        );
        let samples = samples(&log(&report));
        assert_eq!(samples[0]["input"], text);
        assert_eq!(samples[0]["output"]["completion"], text);
        let explanation = &samples[0]["scores"]["semantic_preservation"]["explanation"];
        let explanation: Value = serde_json::from_str(explanation.as_str().unwrap()).unwrap();
        assert_eq!(explanation, json!({"a": [text]}));
        let error = &samples[1]["error"];
        assert_eq!(error["message"], text);
        assert!(!error["traceback_ansi"].as_str().unwrap().contains('\u{1b}'));
    }
    // Names with a slash do not meet.
    let items = vec![item("a/b", "c", "A text."), item("a", "b/c", "A text.")];
    let samples = samples(&log(&report(items)));
    assert_eq!(
        (&samples[0]["id"], &samples[1]["id"]),
        (&json!("a%2Fb/c"), &json!("a/b/c"))
    );
    // A time that Inspect cannot read is not written.
    let mut early = item("a", "x", "A text.");
    early.metadata.timestamp = "-000001-01-01T00:00:00Z".into();
    assert_eq!(
        log(&report(vec![early]))["eval"]["created"],
        "1970-01-01T00:00:00.000Z"
    );
}

#[test]
fn n12_the_same_report_gives_the_same_bytes_and_names() {
    let (first, second) = (small(), small());
    assert_eq!(export_inspect(&first), export_inspect(&second));
    assert_eq!(inspect_file_name(&first), inspect_file_name(&second));
    let log_of = log(&first);
    let name = format!(
        "2026-02-03T04-05-06.000Z_zer0gravity_{}.json",
        log_of["eval"]["task_id"].as_str().unwrap()
    );
    assert_eq!(inspect_file_name(&first), name);
    let mut other = small();
    other.config.as_mut().unwrap().models.judges = vec!["judge-2".to_owned()];
    assert_ne!(inspect_file_name(&other), name);
    // Inspect hides all but one log with a task id: each run has another one, and each panel of judges.
    let task_of = |report: &RunReport| log(report)["eval"]["task_id"].clone();
    let mut later = small();
    later.created_at = "2026-02-03T04:05:07.000Z".to_owned();
    assert_ne!(task_of(&later), log_of["eval"]["task_id"]);
    let mut one = item("a", "x", "A text.");
    let array = task_of(&report(vec![one.clone()]));
    Arc::make_mut(&mut one.metadata.models).judges = vec!["judge-2".to_owned()];
    assert_ne!(task_of(&report(vec![one])), array);
    let mut part = small();
    part.retain_encodings(|id| id == "signs");
    let part = log(&part);
    assert_eq!(part["eval"]["run_id"], log_of["eval"]["run_id"]);
    assert_ne!(part["eval"]["task_id"], log_of["eval"]["task_id"]);
    assert_eq!(part["eval"]["metadata"]["planSha256"], Value::Null);
}
