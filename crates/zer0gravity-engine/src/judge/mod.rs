//! What judges reply, read without inventing a number.

use serde::{Deserialize, Serialize};

/// How a judge's reply was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JudgeStatus {
    /// As the JSON object that was asked for.
    Parsed,
    /// The score was found, but not in the form that was asked for.
    Recovered,
    /// It holds no score.
    Unparseable,
}

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

/// A judge's reply, read as the reference reads it.
#[derive(Debug, Clone, PartialEq)]
pub struct CompatReply {
    /// The points, held to the range, or NaN.
    pub score: f64,
    /// Why, as it came.
    pub reasoning: serde_json::Value,
}

/// Reads a judge's reply; points are held to 0..=max.
pub fn parse_judge_reply(raw: &str, max: u8) -> JudgeReply {
    let _ = (raw, max);
    todo!("helper B")
}

/// Reads a judge's reply as the reference does, number for number.
pub fn parse_judge_reply_compat(raw: &str, max: u8) -> CompatReply {
    let _ = (raw, max);
    todo!("helper B")
}
