//! Results as a run would give them, without a run.

use llm_types::ErrorClass;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use zer0gravity_engine::dataset::Case;
use zer0gravity_engine::judge::flags::{Flag, FlagId};
use zer0gravity_engine::judge::score::{
    TokenPair, compression_percent, compression_ratio, score_all,
};
use zer0gravity_engine::model::ModelLabel;
use zer0gravity_engine::plan::{Config, PlannedCase};
use zer0gravity_engine::report::{ReportedEncodingSystem, RunReport};
use zer0gravity_engine::result::{
    Details, JudgeRecord, Procedural, PromptHashes, Randomness, SCHEMA_VERSION,
};
use zer0gravity_engine::rules::lint::LintReport;
use zer0gravity_engine::{ExperimentResult, Outcome, StageName, StageStatus};

/// The model that does everything unless a test says otherwise.
pub(crate) const MODEL: &str = "scribe-1";

/// The three texts of [`small`].
pub(crate) const TEXTS: [(&str, &str, i64); 3] = [
    ("1a", "Hello world!", 10),
    ("1b", "The quick brown fox jumps over the lazy dog", 18),
    (
        "2a",
        "Write a brief for the new page: who reads it, what they should do next, and why they would.",
        40,
    ),
];

/// A part of a result as its file holds it: only the engine makes the values themselves.
pub(crate) fn read<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

/// A flag with the severity of its rule.
pub(crate) fn flag(id: FlagId, evidence: &str) -> Flag {
    read(json!({"id": id, "severity": id.severity(), "evidence": evidence}))
}

/// An item with 36 points for the meaning and 4 for the rules, 20 tokens for 25.
pub(crate) fn item(encoding: &str, case: &str, text: &str) -> ExperimentResult {
    let stage = |stage| {
        json!({
            "stage": stage, "status": "ok", "stopReason": "end_turn", "attempts": 1, "elapsedMs": 40,
            "usage": {"input": 100, "output": 20},
        })
    };
    let item = read(json!({
        "testCaseId": case,
        "originalText": text,
        "encodedText": text.replace(['a', 'e', 'i', 'o', 'u'], ""),
        "decodedText": text.to_lowercase(),
        "encodingSystem": format!("RULES OF {encoding}"),
        "originalTokens": 25,
        "encodedTokens": 20,
        "details": {
            "semanticReasoning": "Capital letters are lost.",
            "implementabilityReasoning": "Simple.",
            "learnabilityMeasured": null,
        },
        "metadata": {
            "model": MODEL,
            "timestamp": "2026-02-03T04:05:06.789Z",
            "durationMs": 160,
            "totalApiCalls": 6,
            "totalTokensUsed": {"input": 400, "output": 80},
            "retries": 0,
            "provider": "anthropic",
            "models": {"encoder": MODEL, "decoder": MODEL, "judges": [MODEL]},
            "tokenSource": "api",
            "promptProfile": "seed",
            "promptSha256": PromptHashes::default(),
            "rulesSha256": format!("{:0>64}", encoding.len()),
            "engineVersion": "0.1.0",
            "randomness": Randomness::chacha20(0),
        },
        "offline": false,
        "outcome": Outcome::OK,
        "stages": [stage("encode"), stage("decode")],
        "metrics": {"chrfPp": 71.25, "rougeL": 0.9, "atoms": null, "lengthRatio": 1.0},
        "flags": [],
        "procedural": Procedural::default(),
        "level": null,
        "trial": 1,
        "decode": 1,
        "encodingId": encoding,
        "schema_version": SCHEMA_VERSION,
    }));
    judged(item, 36, 4)
}

/// The same with other points of its judge.
pub(crate) fn judged(
    item: ExperimentResult,
    semantic: u8,
    implementability: u8,
) -> ExperimentResult {
    panel(item, &[(MODEL, &[semantic])], semantic, implementability)
}

/// The same with the samples of several judges of the meaning, and the points that follow.
pub(crate) fn panel(
    mut item: ExperimentResult,
    judges: &[(&str, &[u8])],
    semantic: u8,
    implementability: u8,
) -> ExperimentResult {
    let record = |judges: &[(&str, &[u8])]| -> JudgeRecord {
        let samples: Vec<_> = (judges.iter())
            .flat_map(|(model, points)| {
                points.iter().zip(1..).map(move |(points, sample)| {
                    json!({
                        "model": model, "sample": sample, "score": points, "status": "parsed",
                        "reply": format!("{{\"score\": {points}}}"),
                    })
                })
            })
            .collect();
        read(json!({"status": "parsed", "asks": 1, "clamped": false, "samples": samples}))
    };
    let tokens = TokenPair {
        original: item.original_tokens.unwrap(),
        encoded: item.encoded_tokens.unwrap(),
    };
    let card = score_all(tokens, semantic, implementability);
    item.scores = Some(card.scores.into());
    item.total = Some(card.total);
    item.compression_ratio = Some(compression_ratio(tokens));
    item.details.compression_percent = Some(compression_percent(tokens));
    item.details.semantic_judge = Some(record(judges));
    item.details.implementability_judge = Some(record(&[(MODEL, &[implementability])]));
    item
}

/// The same with other token numbers.
pub(crate) fn tokens(mut item: ExperimentResult, original: i64, encoded: i64) -> ExperimentResult {
    let scores = item.scores.unwrap();
    item.original_tokens = Some(original);
    item.encoded_tokens = Some(encoded);
    judged(
        item,
        scores.semantic_preservation,
        scores.implementability.unwrap(),
    )
}

/// The same with its numbers in the plan.
pub(crate) fn numbered(mut item: ExperimentResult, trial: u32, decode: u32) -> ExperimentResult {
    (item.trial, item.decode) = (trial, decode);
    item
}

/// The same as it is when a stage did not end well.
pub(crate) fn failed(
    mut item: ExperimentResult,
    status: StageStatus,
    stage: StageName,
) -> ExperimentResult {
    item.outcome = Outcome::OK;
    item.outcome.status = status;
    item.outcome.stage = Some(stage);
    item.outcome.kind = (status == StageStatus::ApiError).then(|| ErrorClass::RateLimit.into());
    item.outcome.detail = Some("no reply".into());
    item.error = Some(format!("{status} at {stage}: no reply"));
    item.scores = None;
    item.total = None;
    item.metrics = None;
    item.decoded_text = None;
    item.details = Details::default();
    item
}

/// The same without rules: scored of 95.
pub(crate) fn without_rules(mut item: ExperimentResult) -> ExperimentResult {
    let mut scores = item.scores.unwrap();
    let rules = scores.implementability.take().unwrap();
    item.scores = Some(scores);
    let points = item.total.take().unwrap() - rules;
    item.partial_total = Some(read(json!({"points": points, "of": 95})));
    item.encoding_system = "".into();
    item.details.implementability_judge = None;
    item
}

/// A report without a plan's configuration.
pub(crate) fn report(results: Vec<ExperimentResult>) -> RunReport {
    RunReport::of_results(results)
}

/// Two encodings on three texts, two trials each: one refused item, one flag, one finding about the rules.
pub(crate) fn small() -> RunReport {
    let mut results = Vec::new();
    for (encoding, points, saved) in [("vowels", 36, 20), ("signs", 30, 40)] {
        for (index, (case, text, original)) in TEXTS.into_iter().enumerate() {
            for trial in 1..=2 {
                let encoded = original - original * saved / 100;
                let mut item = tokens(
                    numbered(item(encoding, case, text), trial, 1),
                    original,
                    encoded,
                );
                item.level = case.get(..1).and_then(|level| level.parse().ok());
                results.push(judged(item, points - index as u8 + trial as u8, 4));
            }
        }
    }
    let refused = results.pop().unwrap();
    results.push(failed(refused, StageStatus::Refused, StageName::Decode));
    results[2].flags.push(flag(FlagId::AtomLoss, "lost: 30 mg"));
    let label = ModelLabel::new("anthropic", "api.anthropic.com");
    let mut config = Config::new(label, MODEL);
    config.trials = 2;
    let encoding = |id: &str, tokens, findings| {
        let mut lint = LintReport::default();
        lint.findings = findings;
        ReportedEncodingSystem::new(id, "0".repeat(64))
            .path(Some(format!("rules/{id}.txt")))
            .rules_tokens(tokens)
            .lint(lint)
    };
    let findings = vec![read(json!({
        "code": "ZG003",
        "line": 3,
        "message": "the sign costs more tokens than the word",
        "evidence": "'the'→'θ': 2 for 1",
    }))];
    let cases = (TEXTS.into_iter())
        .map(|(id, text, _)| {
            PlannedCase::new(Case::new(id, text))
                .level(id.get(..1).and_then(|level| level.parse().ok()))
        })
        .collect();
    RunReport::new(
        Some(config),
        vec![
            encoding("vowels", Some(52), Vec::new()),
            encoding("signs", Some(137), findings),
        ],
        cases,
        results,
        "2026-02-03T04:05:06.000Z".into(),
        0,
    )
}
