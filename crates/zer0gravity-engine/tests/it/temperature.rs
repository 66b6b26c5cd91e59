//! The temperature of a plan: in bodies, keys and results if it is set, and nowhere if it is not.

use std::collections::HashSet;

use futures_util::FutureExt as _;
use llm_client::{AnthropicVersion, ErrorClass};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use zer0gravity_engine::calibration::JudgeIdentity;
use zer0gravity_engine::dataset::{Case, RoundTripSample};
use zer0gravity_engine::plan::Plan;
use zer0gravity_engine::prompts::Role;
use zer0gravity_engine::report::{Limits, RunReport, compare, export_csv};
use zer0gravity_engine::result::PreviousScores;
use zer0gravity_engine::{ExperimentResult, FailureKind, RunEvent, StageStatus};

use crate::desk::{Desk, only, plan};
use crate::player::{Asked, Player, fails, usual};
use crate::wire::{Answer, COUNT, MESSAGES, Wire, counts, plays};

const TEXTS: [&str; 4] = ["first text", "second one", "and a third", "the last"];

fn warm(texts: &[&str]) -> Plan {
    let mut plan = plan(texts);
    plan.config.temperature = Some(0.5);
    plan.config.judge_temperature = Some(0.0);
    plan
}

async fn run(wire: &Wire, plan: &Plan) -> Vec<ExperimentResult> {
    let desk = Desk::default();
    let run = desk.quietly(&wire.client, plan, CancellationToken::new());
    run.await.unwrap().results
}

fn good(path: &str, body: &Value) -> Answer {
    match path {
        COUNT => counts(body),
        _ => plays(body, 100, 90),
    }
}

fn refusal() -> Answer {
    let message = "temperature: range: 0..1";
    let error = json!({"type": "invalid_request_error", "message": message});
    (400, json!({"type": "error", "error": error}).to_string())
}

#[tokio::test]
async fn a_body_has_the_temperature_of_its_role() {
    let wire = Wire::speaking(AnthropicVersion::V2023_06_01, good);
    let result = only(run(&wire, &warm(&TEXTS[..1])).await);
    assert!(result.outcome.is_ok(), "{:?}", result.outcome);
    let sent = wire.sent();
    let temperatures = |path: &str| -> Vec<Value> {
        let sent = sent.iter().filter(|(to, _)| to == path);
        sent.map(|(_, body)| body["temperature"].clone()).collect()
    };
    assert_eq!(temperatures(COUNT), [Value::Null, Value::Null]);
    let messages = temperatures(MESSAGES);
    assert_eq!(messages, [json!(0.5), json!(0.5), json!(0.0), json!(0.0)]);
    let metadata = serde_json::to_value(&result.metadata).unwrap();
    assert_eq!(metadata["temperature"], json!(0.5));
    assert_eq!(metadata["judgeTemperature"], json!(0));
}

#[test]
fn a_plan_names_temperatures_only_if_they_are_set() {
    let without = plan(&TEXTS);
    let json = serde_json::to_string(&without).unwrap();
    assert!(!json.to_lowercase().contains("temperature"), "{json}");
    let with = warm(&TEXTS);
    assert_ne!(with.sha256(), without.sha256());
    assert_eq!(
        with.differences(&without),
        ["config.judgeTemperature", "config.temperature"]
    );
    let json = serde_json::to_string(&with).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&json).unwrap(), with);
}

#[test]
fn another_temperature_is_another_call_of_the_roles_it_is_of() {
    let keys = |plan: &Plan| -> HashSet<_> {
        let desk = Desk::default();
        desk.run(&Player::default(), plan);
        desk.ledger.keys().into_iter().collect()
    };
    let cold = keys(&plan(&TEXTS[..1]));
    let mut judged = plan(&TEXTS[..1]);
    judged.config.judge_temperature = Some(1.0);
    // The two judges.
    assert_eq!(keys(&judged).difference(&cold).count(), 2);
    let mut written = plan(&TEXTS[..1]);
    written.config.temperature = Some(1.0);
    assert_eq!(keys(&written).difference(&cold).count(), 2);
    assert_eq!(cold.len(), 6);
}

#[tokio::test]
async fn a_refused_temperature_ends_the_run_before_the_second_call() {
    let wire = Wire::speaking(AnthropicVersion::V2023_06_01, |path, body| match path {
        COUNT => counts(body),
        _ => refusal(),
    });
    let results = run(&wire, &warm(&TEXTS)).await;
    let sent = wire.sent();
    let messages = sent.iter().filter(|(path, _)| path == MESSAGES);
    assert_eq!(messages.count(), 1);
    for result in &results {
        assert_eq!(result.outcome.kind, Some(FailureKind::TemperatureRefused));
    }
    let failed = results
        .iter()
        .filter(|r| r.outcome.status == StageStatus::ApiError);
    assert_eq!(failed.count(), 1);
    let told = results.iter().filter_map(|r| r.outcome.detail.as_deref());
    for detail in told {
        assert!(detail.contains("temperature 0.5: "), "{detail}");
        assert!(detail.contains("range: 0..1"), "{detail}");
    }
}

#[tokio::test]
async fn a_temperature_that_would_be_left_out_is_not_sent_without() {
    // This version of the protocol has no temperature.
    let wire = Wire::new(good);
    let results = run(&wire, &warm(&TEXTS)).await;
    assert!(wire.sent().iter().all(|(path, _)| path == COUNT));
    for result in &results {
        assert_eq!(result.outcome.kind, Some(FailureKind::TemperatureRefused));
    }
}

#[tokio::test]
async fn a_bad_request_for_another_reason_fails_alone() {
    let wire = Wire::speaking(AnthropicVersion::V2023_06_01, |path, body| {
        if path == MESSAGES && body.to_string().contains(TEXTS[1]) {
            let error = json!({"type": "invalid_request_error", "message": "too long"});
            return (400, json!({"type": "error", "error": error}).to_string());
        }
        good(path, body)
    });
    let results = run(&wire, &warm(&TEXTS)).await;
    let ok: Vec<_> = results.iter().map(|r| r.outcome.is_ok()).collect();
    assert_eq!(ok, [true, false, true, true]);
}

#[test]
fn a_failure_of_the_first_call_lets_the_next_one_ask() {
    let player = Player::default().replies(|request| {
        if request.role == Role::Encoder && request.inputs.texts[0] == TEXTS[0] {
            return Err(fails("server", 500));
        }
        Ok(usual(request))
    });
    let results = Desk::default().run(&player, &warm(&TEXTS));
    let ok = results.iter().filter(|result| result.outcome.is_ok());
    assert_eq!(ok.count(), 3);
}

#[tokio::test]
async fn a_judge_that_refuses_it_costs_one_experiment_whose_texts_are_kept() {
    let wire = Wire::speaking(AnthropicVersion::V2023_06_01, |path, body| {
        if path == MESSAGES && body["temperature"] == json!(0.0) {
            return refusal();
        }
        good(path, body)
    });
    let results = run(&wire, &warm(&TEXTS)).await;
    let sent = wire.sent();
    let messages = sent.iter().filter(|(path, _)| path == MESSAGES);
    assert_eq!(messages.count(), 3, "encoder, decoder, one judge");
    assert!(results[0].decoded_text.is_some());
    for result in &results {
        assert_eq!(result.outcome.kind, Some(FailureKind::TemperatureRefused));
    }
}

#[tokio::test]
async fn a_judge_that_refuses_it_is_found_before_texts_are_bought_for_it() {
    let wire = Wire::speaking(AnthropicVersion::V2023_06_01, |path, body| {
        if path == MESSAGES && body["temperature"] == json!(0.0) {
            return refusal();
        }
        let (status, reply) = good(path, body);
        if body.to_string().contains(TEXTS[0]) {
            // No judge is asked about the first text.
            return (status, reply.replace("end_turn", "max_tokens"));
        }
        (status, reply)
    });
    let results = run(&wire, &warm(&TEXTS)).await;
    let kinds: Vec<_> = results.iter().map(|result| result.outcome.kind).collect();
    assert_eq!(
        results[0].outcome.status,
        StageStatus::Truncated,
        "{kinds:?}"
    );
    let sent = wire.sent();
    let messages = sent.iter().filter(|(path, _)| path == MESSAGES);
    assert_eq!(
        messages.count(),
        4,
        "of the first text one, of the second three"
    );
}

#[test]
fn earlier_scores_name_the_temperature_of_their_judge() {
    let results = Desk::default().run(&Player::default(), &warm(&TEXTS[..1]));
    let earlier = PreviousScores::of(&results[0]).unwrap();
    assert_eq!(earlier.judge_temperature, Some(0.0));
    let results = Desk::default().run(&Player::default(), &plan(&TEXTS[..1]));
    let earlier = serde_json::to_string(&PreviousScores::of(&results[0])).unwrap();
    assert!(!earlier.contains("emperature"), "{earlier}");
}

#[tokio::test]
async fn a_model_that_has_replied_to_it_refuses_one_text_only() {
    let wire = Wire::speaking(AnthropicVersion::V2023_06_01, |path, body| {
        if path == MESSAGES && body.to_string().contains(TEXTS[1]) {
            return refusal();
        }
        good(path, body)
    });
    let results = run(&wire, &warm(&TEXTS)).await;
    let ok: Vec<_> = results.iter().map(|r| r.outcome.is_ok()).collect();
    assert_eq!(ok, [true, false, true, true]);
    let kind = results[1].outcome.kind;
    assert_eq!(kind, Some(FailureKind::from(ErrorClass::BadRequest)));
}

#[test]
fn a_server_that_fails_does_not_slow_the_calls_after_it() {
    let player = Player::default()
        .holding()
        .replies(|_| Err(fails("server", 500)));
    let mut most = 0;
    Desk::default().run_held(&player, &warm(&TEXTS), |_| {
        let held = player.held().into_iter();
        let messages = held.filter(|asked| matches!(asked, Asked::Message(_)));
        most = most.max(messages.count());
        0
    });
    // The first experiment is alone, the three others are not.
    assert_eq!(most, 3);
}

#[test]
fn scored_texts_have_the_temperature_of_the_roles_that_were_asked() {
    let config = warm(&[]).config;
    let sample = || RoundTripSample::new(Case::new("1", "text"), "enc", "dec");
    let scored = |sample: RoundTripSample| {
        let (desk, player) = (Desk::default(), Player::default());
        let runner = desk.runner(&player);
        let samples = [sample];
        let mut ignored = |_: RunEvent<'_>| {};
        let run = runner.score(&config, &samples, &mut ignored);
        let metadata = only(run.now_or_never().unwrap().unwrap()).metadata;
        (metadata.temperature, metadata.judge_temperature)
    };
    assert_eq!(scored(sample()), (None, Some(0.0)));
    let given = sample().semantic_score(Some(30));
    assert_eq!(scored(given), (None, None), "there are no rules to judge");
}

#[test]
fn a_calibration_knows_the_temperature_of_its_judge() {
    let plan = warm(&TEXTS);
    let planned = JudgeIdentity::of_config(&plan.config);
    assert_eq!(planned.temperature, Some(0.0));
    let results = Desk::default().run(&Player::default(), &plan);
    let of_results = JudgeIdentity::of_results(&results, Some(&plan.config));
    assert_eq!(of_results.unwrap(), Some(planned.clone()));
    let json = serde_json::to_string(&planned).unwrap();
    assert!(json.contains(r#""temperature":0,"#), "{json}");
    assert_eq!(
        serde_json::from_str::<JudgeIdentity>(&json).unwrap(),
        planned
    );
    let mut other = plan.config;
    other.judge_temperature = None;
    let other = JudgeIdentity::of_config(&other);
    assert_eq!(planned.differences(&other), ["temperature"]);
}

#[test]
fn tables_have_temperatures_only_if_a_result_has_one() {
    let csv = |plan: &Plan| export_csv(&Desk::default().report(&Player::default(), plan));
    assert!(!csv(&plan(&TEXTS)).to_lowercase().contains("temperature"));
    let table = csv(&warm(&TEXTS));
    let mut lines = table.lines();
    let header = lines.next().unwrap();
    assert!(
        header.ends_with(",temperature,judgeTemperature"),
        "{header}"
    );
    assert!(lines.next().unwrap().ends_with(",0.5,0"));
}

#[test]
fn judges_of_another_temperature_are_other_judges() {
    let report = |temperature| -> RunReport {
        let mut plan = plan(&TEXTS);
        plan.config.judge_temperature = temperature;
        Desk::default().report(&Player::default(), &plan)
    };
    let (old, new) = (report(None), report(Some(0.5)));
    let comparison = compare(&old, &new, Limits::from(Some(1.0)));
    assert_eq!(
        comparison.reasons,
        ["not comparable: judge differs (model-1/seed, model-1 at temperature 0.5/seed)"]
    );
    assert!(compare(&new, &new, Limits::from(Some(1.0))).holds);
}
