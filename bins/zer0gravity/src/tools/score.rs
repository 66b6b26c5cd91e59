//! The tool `score`: the measures of a round trip that need no judge.

use serde::{Deserialize, Serialize};
use serde_json::Number;
use zer0gravity_engine::dataset::{CaseFormat, RoundTripSample, parse_samples};
use zer0gravity_engine::judge::score::{TokenPair, compression_ratio, token_efficiency};
use zer0gravity_engine::result::Metrics;
use zer0gravity_engine::rules::lint::{LintReport, lint};
use zer0gravity_engine::{LocalCounter, TokenCounter};

use super::texts::{json, rules, short};

pub const DESCRIPTION: &str = "Measure a round trip without a judge: tokens, points for saved tokens (0 to 40), similarity, commitments, \
    findings about the rules. It is not the score of 100 points: those for meaning need a judge.";

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoundTrip {
    original: String,
    encoded: String,
    decoded: String,
    /// Rules of the encoding.
    #[serde(default)]
    rules: Option<String>,
    /// Model whose tokens are counted; without it the default one.
    #[serde(default)]
    model: Option<String>,
}

/// The measures, with the names that they have in a result of `zer0gravity score`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OfflineMeasures {
    original_tokens: i64,
    encoded_tokens: i64,
    /// The way in which tokens were counted, and its error.
    token_counter: TokenCounter,
    compression_ratio: Number,
    token_efficiency: u8,
    metrics: Metrics,
    #[serde(skip_serializing_if = "Option::is_none")]
    lint: Option<LintReport>,
}

pub fn run(request: &RoundTrip, counter: &dyn LocalCounter) -> Result<String, String> {
    let sample = sample(request)?;
    let (original, encoded) = (&*sample.case.text, &*sample.encoded_text);
    let rules = request.rules.as_ref().map(|text| rules("rules", text));
    let rules = rules.transpose()?;
    let token_counter = TokenCounter::of(request.model.as_deref().unwrap_or("offline"));
    let tokens = |text: &str| token_counter.message_tokens(text, counter).cast_signed();
    let pair = TokenPair {
        original: tokens(original),
        encoded: tokens(encoded),
    };
    json(OfflineMeasures {
        original_tokens: pair.original,
        encoded_tokens: pair.encoded,
        compression_ratio: plain(compression_ratio(pair)),
        token_efficiency: token_efficiency(pair),
        metrics: Metrics::of(original, &sample.decoded_text),
        lint: rules.map(|rules| lint(&rules, counter)),
        token_counter,
    })
}

/// Reads the texts as `zer0gravity score` reads a case.
fn sample(request: &RoundTrip) -> Result<RoundTripSample, String> {
    let RoundTrip {
        original,
        encoded,
        decoded,
        ..
    } = request;
    for (name, text) in [
        ("original", original),
        ("encoded", encoded),
        ("decoded", decoded),
    ] {
        short(name, text)?;
    }
    let case =
        serde_json::json!([{"text": original, "encodedText": encoded, "decodedText": decoded}]);
    let (mut samples, mut errors) =
        parse_samples(case.to_string().as_bytes(), CaseFormat::Json, "arguments");
    match (samples.pop(), errors.pop()) {
        (Some(sample), _) => Ok(sample),
        (None, Some(error)) => Err(error.to_string()),
        (None, None) => Err("original: expected a text".to_owned()),
    }
}

/// A number without a fraction of 0, as a result has it.
fn plain(value: f64) -> Number {
    let whole = (value.fract() == 0.0).then_some(Number::from(value as i64));
    whole
        .or_else(|| Number::from_f64(value))
        .unwrap_or_else(|| Number::from(0))
}
