//! A report for other programs: JSON as it is, and a table with one row for each result.

use std::fmt::Display;

use serde::Serialize;

use super::grouped::total;
use super::{RunReport, own};
use crate::text::cell::inert as text;
use crate::{ExperimentResult, FailureKind};

/// The columns of [`export_csv`], in order. Texts first by what they name, then numbers, then the long texts. A column `own:ID` for each
/// scorer of the user's rubric comes after them, then `temperature` and `judgeTemperature` if a result has one.
pub const CSV_COLUMNS: &[&str] = &[
    "encodingId",
    "testCaseId",
    "level",
    "trial",
    "decode",
    "outcome",
    "stage",
    "kind",
    "error",
    "total",
    "tokenEfficiency",
    "semanticPreservation",
    "learnability",
    "implementability",
    "learnabilityMeasured",
    "originalTokens",
    "encodedTokens",
    "tokenSource",
    "compressionRatio",
    "compressionPercent",
    "chrfPp",
    "rougeL",
    "criticalRecall",
    "invented",
    "lengthRatio",
    "flags",
    "procedural",
    "encoder",
    "decoder",
    "judges",
    "provider",
    "promptProfile",
    "offline",
    "timestamp",
    "durationMs",
    "totalApiCalls",
    "retries",
    "inputTokens",
    "outputTokens",
    "rulesSha256",
    "originalText",
    "encodedText",
    "decodedText",
];

/// The results as CSV after RFC 4180 (UTF-8, a header row, lines end with CRLF): the columns of [`CSV_COLUMNS`], one row for
/// each result in the report's order.
///
/// A missing value is an empty cell. `flags` and `judges` are joined by one space. Numbers stay numbers. In every other
/// cell a text that begins with `=`, `+`, `-`, `@`, a tab or a line's end gets an apostrophe before it, so that no
/// spreadsheet takes it for a formula. So does a text that begins with apostrophes before one of these. A program
/// that removes one apostrophe from `'*[=+\-@\t\r\n]` gets every text back.
///
/// ```
/// use zer0gravity_engine::report::{RunReport, export_csv};
/// assert!(export_csv(&RunReport::read("[]").unwrap()).starts_with("encodingId,testCaseId,level,"));
/// ```
#[expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "memory takes every write, every row has as many cells as the header, and cells are UTF-8"
)]
pub fn export_csv(report: &RunReport) -> String {
    let mut table = csv::WriterBuilder::new()
        .terminator(csv::Terminator::CRLF)
        .from_writer(Vec::new());
    let own = own::scorers(&report.results);
    let names = own.iter().map(|(id, _)| format!("own:{id}"));
    let columns = CSV_COLUMNS.iter().map(|name| (*name).to_owned());
    let temperatures = |result: &ExperimentResult| {
        let metadata = &result.metadata;
        [metadata.temperature, metadata.judge_temperature]
    };
    let sampled = (report.results.iter()).any(|result| temperatures(result) != [None, None]);
    let sampling = ["temperature", "judgeTemperature"].map(str::to_owned);
    let sampling = sampling.into_iter().filter(|_| sampled);
    let header = columns.chain(names).chain(sampling);
    table.write_record(header).expect("a header");
    for result in &report.results {
        let scores = own.iter().map(|(id, _)| decimal(own::score(result, id)));
        let sampling = temperatures(result).map(decimal);
        let sampling = sampling.into_iter().filter(|_| sampled);
        let cells = row(result).into_iter().chain(scores).chain(sampling);
        table.write_record(cells).expect("a row");
    }
    let bytes = table.into_inner().expect("all rows");
    String::from_utf8(bytes).expect("UTF-8")
}

/// The report as `report.json` holds it: two spaces of indent, a line feed at the end.
#[expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "strings, numbers and lists make JSON"
)]
pub fn export_json(report: &RunReport) -> String {
    let mut json = serde_json::to_string_pretty(report).expect("a report as JSON");
    json.push('\n');
    json
}

fn row(result: &ExperimentResult) -> [String; CSV_COLUMNS.len()] {
    let (metadata, outcome) = (&result.metadata, &result.outcome);
    let (scores, metrics) = (result.scores, result.metrics.as_ref());
    let atoms = metrics.and_then(|metrics| metrics.atoms.as_deref());
    let flags: Vec<String> = result.flags.iter().map(|flag| word(&flag.id)).collect();
    [
        text(&result.encoding_id),
        text(&result.test_case_id),
        number(result.level),
        number(Some(result.trial)),
        number(Some(result.decode)),
        text(outcome.status.as_str()),
        text(outcome.stage.map_or("", |stage| stage.as_str())),
        text(outcome.kind.map_or("", FailureKind::as_str)),
        text(result.error.as_deref().unwrap_or_default()),
        decimal(total(result)),
        number(scores.map(|scores| scores.token_efficiency)),
        number(scores.map(|scores| scores.semantic_preservation)),
        number(scores.map(|scores| scores.learnability)),
        number(scores.and_then(|scores| scores.implementability)),
        number(result.details.learnability_measured),
        number(result.original_tokens),
        number(result.encoded_tokens),
        text(&metadata.token_source.map_or_else(String::new, |t| word(&t))),
        decimal(result.compression_ratio),
        decimal(result.details.compression_percent),
        decimal(metrics.map(|metrics| metrics.chrf_pp)),
        decimal(metrics.map(|metrics| metrics.rouge_l)),
        decimal(atoms.and_then(|atoms| atoms.critical_recall)),
        number(atoms.map(|atoms| atoms.invented)),
        decimal(metrics.map(|metrics| metrics.length_ratio)),
        text(&flags.join(" ")),
        text(&word(&result.procedural.status)),
        text(&metadata.models.encoder),
        text(&metadata.models.decoder),
        text(&metadata.models.judges.join(" ")),
        text(&metadata.provider),
        text(&word(&metadata.prompt_profile)),
        result.offline.to_string(),
        text(&metadata.timestamp),
        number(Some(metadata.duration_ms)),
        number(Some(metadata.total_api_calls)),
        number(Some(metadata.retries)),
        number(Some(metadata.total_tokens_used.input)),
        number(Some(metadata.total_tokens_used.output)),
        text(&metadata.rules_sha256),
        text(&result.original_text),
        text(result.encoded_text.as_deref().unwrap_or_default()),
        text(result.decoded_text.as_deref().unwrap_or_default()),
    ]
}

fn number(value: Option<impl Display>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// Writes a number as JSON does, without a point after an integer; a number that is not finite is empty.
fn decimal(value: Option<f64>) -> String {
    let value = value.filter(|value| value.is_finite());
    // -0 is 0.
    number(value.map(|value| value + 0.0))
}

/// The word that a value has in JSON.
pub(super) fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}
