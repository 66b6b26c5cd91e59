//! The tool `compare_texts`.

use serde::Deserialize;
use zer0gravity_engine::result::AtomMetrics;

use super::texts::{json, text};

pub const DESCRIPTION: &str =
    "Compare two texts by their commitments: which ones the second lost, changed or invented.";

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TextPair {
    original: String,
    decoded: String,
}

/// Returns the JSON of `zer0gravity atoms ORIGINAL DECODED --json`.
pub fn run(request: &TextPair) -> Result<String, String> {
    let original = text("original", &request.original)?;
    let decoded = text("decoded", &request.decoded)?;
    json(AtomMetrics::of(&original, &decoded))
}
