//! The tool `explain`.

use bin_support::mcp::McpCall;
use popper_harness::counterexample::Counterexample;
use popper_harness::law::{Extensions, Law};
use serde::Deserialize;
use serde_json::Value;

use super::arguments::{Object, built_in, universe};
use crate::explain;

pub const DESCRIPTION: &str =
    "Show how a law fails: give law and start, or a counterexample of check with detail full.";

/// The width of the text, in columns.
const WIDTH: usize = 100;

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExplainRequest {
    #[serde(default)]
    law: Option<Object>,
    /// State at t = 0.
    #[serde(default)]
    start: Option<String>,
    /// `kinetic_grid`, or a definition; for law and start.
    #[serde(default = "built_in")]
    universe: Value,
    #[serde(default)]
    counterexample: Option<Object>,
}

/// Returns the text of `popper explain`.
pub fn run(request: &ExplainRequest, _: &McpCall) -> Result<String, String> {
    match (&request.law, &request.start, &request.counterexample) {
        (Some(law), Some(start), None) => {
            let universe = universe(&request.universe)?;
            let law = Law::from_value(Value::Object(law.clone()), "law", Extensions::default());
            let law = law.map_err(|error| error.to_string())?;
            explain::from_start(&law, &universe, start, WIDTH)
        }
        (None, None, Some(found)) => {
            let found: Counterexample = serde_json::from_value(Value::Object(found.clone()))
                .map_err(|error| format!("counterexample: {error}"))?;
            explain::refutation(&found, WIDTH)
        }
        _ => Err("expected law and start, or counterexample alone".to_owned()),
    }
}
