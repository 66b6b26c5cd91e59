//! A judge's reply, read.

use super::braces::balanced;
use super::json::Json;
use super::{JudgeStatus, unfenced};
use crate::js_trim;
use crate::round_half_up;
use crate::score::points;

/// A judge's reply, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgeReply {
    /// How.
    pub status: JudgeStatus,
    /// The points, held to the range; none for what is unparseable.
    pub score: Option<u8>,
    /// Why; empty if it does not say.
    pub reasoning: String,
    /// The score lay outside of its range.
    pub clamped: bool,
}

/// Reads a judge's reply; points are rounded and held to 0..=max. It never makes a number up: a score is a number in a JSON object
/// of the reply, or it is missing.
///
/// Takes time in proportion to the reply, whatever it holds. Values nested more than 100 deep count as no JSON.
///
/// ```
/// use zer0gravity_engine::{JudgeStatus, parse_judge_reply};
/// let reply = parse_judge_reply(r#"{"score": 34.5, "reasoning": "close"}"#, 40);
/// assert_eq!((reply.status, reply.score), (JudgeStatus::Parsed, Some(35)));
/// assert_eq!(reply.reasoning, "close");
/// let reply = parse_judge_reply(r#"On the 0-40 scale: {"score": 50}"#, 40);
/// assert_eq!((reply.status, reply.score, reply.clamped), (JudgeStatus::Recovered, Some(40), true));
/// let reply = parse_judge_reply("Score: 35/40", 40);
/// assert_eq!((reply.status, reply.score), (JudgeStatus::Unparseable, None));
/// ```
pub fn parse_judge_reply(raw: &str, max: u8) -> JudgeReply {
    let text = unfenced(raw);
    let whole = Json::parse(text);
    if let Some((object, score)) = whole.as_ref().and_then(scored) {
        return read(JudgeStatus::Parsed, object, score, max);
    }
    if let Some(object) = &whole
        && let Some(Json::Text(score)) = object.get("score")
        && let Some(score) = plain_decimal(score)
    {
        return read(JudgeStatus::Recovered, object, score, max);
    }
    for span in balanced(text).into_iter().rev() {
        let part = Json::parse(&text[span]);
        if let Some((object, score)) = part.as_ref().and_then(scored) {
            return read(JudgeStatus::Recovered, object, score, max);
        }
    }
    JudgeReply {
        status: JudgeStatus::Unparseable,
        score: None,
        reasoning: String::new(),
        clamped: false,
    }
}

/// The value and its score, if it is an object with a finite one.
fn scored(value: &Json) -> Option<(&Json, f64)> {
    Some((value, value.get("score")?.finite()?))
}

/// A text of decimal digits, with a sign and a fraction at most.
fn plain_decimal(text: &str) -> Option<f64> {
    let text = js_trim(text);
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, "0"));
    if digits(whole) && digits(fraction) {
        text.parse().ok().filter(|number: &f64| number.is_finite())
    } else {
        None
    }
}

fn read(status: JudgeStatus, object: &Json, score: f64, max: u8) -> JudgeReply {
    let rounded = round_half_up(score);
    JudgeReply {
        status,
        score: Some(points(score, max)),
        reasoning: match object.get("reasoning") {
            Some(Json::Text(text)) => text.clone(),
            Some(value) if value.truthy() => value.clone().into_value().to_string(),
            _ => String::new(),
        },
        clamped: !(0.0..=f64::from(max)).contains(&rounded),
    }
}
