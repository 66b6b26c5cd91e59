//! The tool `span`.

use bin_support::mcp::McpCall;
use serde::Deserialize;
use serde_json::Value;

use super::arguments::{at_most, built_in, universe};
use crate::quantities;

pub const DESCRIPTION: &str = "Compute a basis of all additive conserved quantities of a universe.";

const WIDTH: u64 = 4;

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SpanRequest {
    /// `kinetic_grid`, or a definition.
    #[serde(default = "built_in")]
    universe: Value,
    /// Widest window in cells, at most 4.
    #[serde(default = "width")]
    width: u64,
}

fn width() -> u64 {
    2
}

/// Returns the dimension and the basis as `popper conserved` prints them.
pub fn run(request: &SpanRequest, _: &McpCall) -> Result<String, String> {
    at_most("width", request.width, WIDTH)?;
    let universe = universe(&request.universe)?;
    let space = popper_harness::conserved::span(&universe, request.width as usize);
    space
        .map(|space| quantities::listed(&space))
        .map_err(|error| format!("width: {error}"))
}
