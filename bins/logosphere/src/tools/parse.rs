//! The tool `parse`.

use bin_support::mcp::quoted;
use clap::ValueEnum as _;
use logosphere_core::format::{ParseMode, is_signature, parse_signed};
use serde::Deserialize;

use super::json;
use crate::reading::Reading;

pub const DESCRIPTION: &str =
    "Parse an answer of a mind: messages, thinking, signature, and why it ended.";

/// The most bytes of an answer.
const MOST_BYTES: usize = 1 << 20;

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ParseRequest {
    text: String,
    /// `lenient`, `strict` or another mode of `logosphere parse`.
    #[serde(default = "lenient")]
    mode: String,
    /// Signature of the run's seed messages.
    #[serde(default = "signature")]
    init_signature: String,
}

fn lenient() -> String {
    "lenient".to_owned()
}

fn signature() -> String {
    "~init".to_owned()
}

/// Returns the JSON of `logosphere parse --json`.
pub fn run(request: &ParseRequest) -> Result<String, String> {
    let bytes = request.text.len();
    if bytes > MOST_BYTES {
        return Err(format!(
            "text: {bytes} bytes, expected at most {MOST_BYTES}"
        ));
    }
    if !is_signature(&request.init_signature) {
        return Err("init_signature: expected `~` and 1 to 31 characters on one line".to_owned());
    }
    let mode = mode(&request.mode)?;
    let parsed = parse_signed(&request.text, mode, &request.init_signature);
    json(&Reading::of(mode, &parsed))
}

/// Reads a mode by the words of the command line.
fn mode(word: &str) -> Result<ParseMode, String> {
    ParseMode::from_str(word, false).map_err(|_| {
        let known = ParseMode::value_variants().iter();
        let known = known.filter_map(|mode| Some(mode.to_possible_value()?.get_name().to_owned()));
        let known = known.collect::<Vec<_>>().join(", ");
        format!("mode: is {}, expected one of {known}", quoted(word))
    })
}
