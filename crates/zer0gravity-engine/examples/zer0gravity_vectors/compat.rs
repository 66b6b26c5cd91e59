//! Judges' replies and scores as the reference reads and computes them: with numbers that may be NaN.

use serde_json::{Value, json};
use zer0gravity_engine::judge::score::{
    MAX_IMPLEMENTABILITY, MAX_SEMANTIC, TokenPair, learnability, round_half_up, token_efficiency,
};
use zer0gravity_engine::text::js_trim;

use super::json::Json;
use super::number::json_number;

/// The length of the quotation from a reply without JSON in its reasoning, in UTF-16 units.
const QUOTED_UNITS: usize = 200;

/// A judge's reply, read as the reference reads it.
#[derive(Debug, Clone, PartialEq)]
pub struct CompatReply {
    /// The points, held to the range, or NaN.
    pub score: f64,
    /// The judge's reason, as it came.
    pub reasoning: Value,
}

/// Reads a judge's reply as the reference does, number for number: `score` of the JSON value goes through ECMAScript's `Number()`;
/// a reply without JSON gives its first run of digits, or 0. Points are held to 0..=max.
///
/// One thing is not as there: values nested more than 100 deep count as no JSON.
pub fn parse_judge_reply_compat(raw: &str, max: u8) -> CompatReply {
    match Json::parse(unfenced(raw)) {
        // A property of null cannot be asked for.
        None | Some(Json::Null) => CompatReply {
            score: held(first_digits(raw), max),
            reasoning: notice(raw).into(),
        },
        Some(root) => CompatReply {
            score: held(root.get("score").map_or(f64::NAN, json_number), max),
            reasoning: root
                .get("reasoning")
                .filter(|reasoning| reasoning.truthy())
                .map_or_else(|| "".into(), |reasoning| reasoning.clone().into_value()),
        },
    }
}

/// The first run of ASCII digits as a number, else 0.
fn first_digits(text: &str) -> f64 {
    let from = text.trim_start_matches(|char: char| !char.is_ascii_digit());
    let end = from
        .find(|char: char| !char.is_ascii_digit())
        .unwrap_or(from.len());
    from[..end].parse().unwrap_or(0.0)
}

/// A reply without the code fence around it, if it begins with one.
fn unfenced(raw: &str) -> &str {
    const FENCE: &str = "```";
    let text = js_trim(raw);
    let Some(inside) = text.strip_prefix(FENCE) else {
        return text;
    };
    let inside = js_trim(inside.strip_prefix("json").unwrap_or(inside));
    js_trim(inside.strip_suffix(FENCE).unwrap_or(inside))
}

/// `x` rounded and held to 0..=max; NaN passes through, and -0 is 0.
fn held(x: f64, max: u8) -> f64 {
    if x.is_nan() {
        x
    } else {
        round_half_up(x).clamp(0.0, f64::from(max)) + 0.0
    }
}

/// A score in which a judge's number may be missing, as NaN.
pub struct CompatCard {
    /// Tokens, meaning, learnability and rules, as results name them.
    pub scores: [(&'static str, f64); 4],
    /// Their sum, or NaN.
    pub total: f64,
}

impl CompatCard {
    /// The score from numbers as judges gave them: rounded and held to their ranges.
    pub fn new(t: TokenPair, semantic: f64, implementability: f64) -> Self {
        let semantic = held(semantic, MAX_SEMANTIC);
        let scores = [
            ("tokenEfficiency", token_efficiency(t).into()),
            ("semanticPreservation", semantic),
            ("learnability", learnability(semantic)),
            (
                "implementability",
                held(implementability, MAX_IMPLEMENTABILITY),
            ),
        ];
        Self {
            scores,
            total: scores.iter().map(|(_, points)| points).sum(),
        }
    }
}

/// A number as the reference writes it: an integer without a point, NaN as null.
pub fn written(number: f64) -> Value {
    if number.fract() == 0.0 {
        json!(number as i64)
    } else {
        json!(number)
    }
}

fn notice(raw: &str) -> String {
    let units: Vec<u16> = raw.encode_utf16().take(QUOTED_UNITS).collect();
    format!(
        "Parse error — raw response: {}",
        String::from_utf16_lossy(&units)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_vectors_do_not_show() {
        for (raw, score, reasoning) in [
            ("null", 0.0, json!("Parse error — raw response: null")),
            (r#"{"score":1e999}"#, 40.0, json!("")),
            (r#"{"score":-1e999}"#, 0.0, json!("")),
            (r#"{"score":5,"reasoning":1e999}"#, 5.0, json!(null)),
            (
                r#"{"score":5,"reasoning":"\ud83d!"}"#,
                5.0,
                json!("\u{fffd}!"),
            ),
            (r#"{"score":true,"reasoning":false}"#, 1.0, json!("")),
            (
                r#"{"score":5,"reasoning":{"a":[1.0]}}"#,
                5.0,
                json!({"a": [1]}),
            ),
            ("```json\u{a0}{\"score\": 7}\u{a0}```", 7.0, json!("")),
            (
                "no digit",
                0.0,
                json!("Parse error — raw response: no digit"),
            ),
        ] {
            let reply = parse_judge_reply_compat(raw, 40);
            assert_eq!((reply.score, reply.reasoning), (score, reasoning), "{raw}");
        }
        let digits = "9".repeat(5000);
        let reply = parse_judge_reply_compat(&format!("x{digits}"), 5);
        assert_eq!(reply.score.to_bits(), 5_f64.to_bits());
    }
}
