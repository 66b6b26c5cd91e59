//! Results as a run would give them, without a run.

use llm_types::ErrorClass;
use zer0gravity_engine::dataset::Case;
use zer0gravity_engine::flags::{Flag, FlagId, Severity};
use zer0gravity_engine::judge::JudgeStatus;
use zer0gravity_engine::lint::{LintFinding, LintReport};
use zer0gravity_engine::model::ModelLabel;
use zer0gravity_engine::plan::{Config, PlannedCase};
use zer0gravity_engine::prompts::PromptProfile;
use zer0gravity_engine::report::{Report, ReportedRuleSet};
use zer0gravity_engine::result::{
    Details, JudgeRecord, JudgeSample, Metadata, Metrics, Models, PartialTotal, Points, Procedural,
    PromptHashes, Randomness, SCHEMA_VERSION,
};
use zer0gravity_engine::score::{TokenPair, compression_percent, compression_ratio, score_all};
use zer0gravity_engine::{
    ExperimentResult, Outcome, StageName, StageRecord, StageStatus, TokenSource, TokenUse,
};

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

/// An item with 36 points for the meaning and 4 for the rules, 20 tokens for 25.
pub(crate) fn item(encoding: &str, case: &str, text: &str) -> ExperimentResult {
    let stage = |stage| StageRecord {
        stage,
        status: StageStatus::Ok,
        stop_reason: Some("end_turn".into()),
        attempts: 1,
        elapsed_ms: 40,
        usage: Some(TokenUse {
            input: 100,
            output: 20,
        }),
    };
    let item = ExperimentResult {
        test_case_id: case.into(),
        error: None,
        original_text: text.into(),
        encoded_text: Some(text.replace(['a', 'e', 'i', 'o', 'u'], "")),
        decoded_text: Some(text.to_lowercase()),
        encoding_system: format!("RULES OF {encoding}"),
        original_tokens: Some(25),
        encoded_tokens: Some(20),
        compression_ratio: None,
        scores: None,
        total: None,
        partial_total: None,
        details: Details {
            semantic_reasoning: Some("Capital letters are lost.".into()),
            implementability_reasoning: Some("Simple.".into()),
            ..Details::default()
        },
        metadata: Metadata {
            model: MODEL.into(),
            timestamp: "2026-02-03T04:05:06.789Z".into(),
            duration_ms: 160,
            total_api_calls: 6,
            total_tokens_used: TokenUse {
                input: 400,
                output: 80,
            },
            retries: 0,
            provider: "anthropic".into(),
            models: Models {
                encoder: MODEL.into(),
                decoder: MODEL.into(),
                judges: vec![MODEL.into()],
            },
            token_source: Some(TokenSource::Api),
            token_counter: None,
            prompt_profile: PromptProfile::Seed,
            prompt_sha256: PromptHashes::default(),
            rules_sha256: format!("{:0>64}", encoding.len()),
            lexicon_sha256: None,
            engine_version: "0.1.0".into(),
            randomness: Randomness::chacha20(0),
        },
        offline: false,
        outcome: Outcome::OK,
        stages: vec![stage(StageName::Encode), stage(StageName::Decode)],
        metrics: Some(Metrics {
            chrf_pp: 71.25,
            rouge_l: 0.9,
            literal_recall: None,
            length_ratio: 1.0,
        }),
        flags: Vec::new(),
        procedural: Procedural::default(),
        cost: None,
        level: None,
        trial: 1,
        decode: 1,
        encoding_id: encoding.into(),
        previous_scores: None,
        schema_version: SCHEMA_VERSION,
    };
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

/// The same with the words of several judges on the meaning, and the points these come to.
pub(crate) fn panel(
    mut item: ExperimentResult,
    judges: &[(&str, &[u8])],
    semantic: u8,
    implementability: u8,
) -> ExperimentResult {
    let record = |judges: &[(&str, &[u8])]| JudgeRecord {
        status: JudgeStatus::Parsed,
        asks: 1,
        clamped: false,
        samples: (judges.iter())
            .flat_map(|(model, points)| {
                points.iter().zip(1..).map(|(points, sample)| JudgeSample {
                    model: (*model).into(),
                    sample,
                    score: Some(Points(f64::from(*points))),
                    status: JudgeStatus::Parsed,
                    clamped: false,
                    given: None,
                    reply: format!("{{\"score\": {points}}}"),
                    reply_truncated: false,
                })
            })
            .collect(),
    };
    let tokens = TokenPair {
        original: item.original_tokens.unwrap(),
        encoded: item.encoded_tokens.unwrap(),
    };
    let card = score_all(tokens, semantic, implementability);
    item.scores = Some(card.scores.into());
    item.total = Some(Points(f64::from(card.total)));
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
        scores.semantic_preservation.0 as u8,
        scores.implementability.unwrap().0 as u8,
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
    item.outcome = Outcome {
        status,
        stage: Some(stage),
        kind: (status == StageStatus::ApiError).then(|| ErrorClass::RateLimit.into()),
        detail: Some("no reply".into()),
    };
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
    let rules = scores.implementability.take().unwrap().0;
    item.scores = Some(scores);
    let points = Points(item.total.take().unwrap().0 - rules);
    item.partial_total = Some(PartialTotal { points, of: 95 });
    item.encoding_system = String::new();
    item.details.implementability_judge = None;
    item
}

/// A report without a plan's configuration.
pub(crate) fn report(results: Vec<ExperimentResult>) -> Report {
    Report::of_results(results)
}

/// Two encodings on three texts, two trials each: one refused item, one flag, one finding about the rules.
pub(crate) fn small() -> Report {
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
    results[2].flags.push(Flag {
        id: FlagId::LiteralLoss,
        severity: Severity::Warning,
        evidence: "1 of 3 literals kept".into(),
    });
    let label = ModelLabel {
        provider: "anthropic".into(),
        host: "api.anthropic.com".into(),
        offline: false,
    };
    let mut config = Config::new(label, MODEL);
    config.trials = 2;
    let encoding = |id: &str, tokens, findings| ReportedRuleSet {
        id: id.into(),
        path: Some(format!("rules/{id}.txt")),
        sha256: "0".repeat(64),
        rules_tokens: tokens,
        rules_tokens_source: None,
        lint: LintReport {
            findings,
            ..LintReport::default()
        },
    };
    let findings = vec![LintFinding {
        code: "ZG003".into(),
        line: 3,
        message: "the sign costs more tokens than the word".into(),
        evidence: "'the'→'θ': 2 for 1".into(),
    }];
    let cases = (TEXTS.into_iter())
        .map(|(id, text, _)| PlannedCase {
            level: id.get(..1).and_then(|level| level.parse().ok()),
            case: Case {
                id: id.into(),
                text: text.into(),
                ..Case::default()
            },
        })
        .collect();
    Report::new(
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
