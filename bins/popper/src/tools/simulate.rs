//! The tool `simulate`.

use bin_support::mcp::McpCall;
use popper_harness::universe::Universe as _;
use serde::Deserialize;
use serde_json::Value;

use super::arguments::{at_most, built_in, universe};

pub const DESCRIPTION: &str =
    "Run a start of at most 4096 cells: a line a step. Of over 64 kB the middle is left out.";

const CELLS: usize = 4_096;
const STEPS: u64 = 1_000;
/// The longest answer, in bytes, apart from the line about what is left out.
const LONGEST: usize = 64 << 10;

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SimulateRequest {
    /// State at t = 0, such as ..><
    start: String,
    /// At most 1000.
    #[serde(default = "steps")]
    steps: u64,
    /// `kinetic_grid`, or a definition.
    #[serde(default = "built_in")]
    universe: Value,
}

fn steps() -> u64 {
    10
}

/// Returns the states, one a line.
pub fn run(request: &SimulateRequest, call: &McpCall) -> Result<String, String> {
    at_most("steps", request.steps, STEPS)?;
    let universe = universe(&request.universe)?;
    let cells = request.start.chars().count();
    if cells > CELLS {
        return Err(format!(
            "start: has {cells} cells, expected at most {CELLS}"
        ));
    }
    let alphabet = universe.alphabet();
    let mut state = alphabet
        .parse(&request.start)
        .map_err(|error| format!("start: {error}"))?;
    let mut lines = Vec::new();
    for t in 0..=request.steps {
        if call.is_cancelled() {
            return Err("cancelled".to_owned());
        }
        lines.push(alphabet.text(&state) + "\n");
        if t < request.steps {
            state = universe.step(&state);
        }
    }
    Ok(cut(&lines))
}

/// Joins the lines, or the first and the last of them and the number of those between.
fn cut(lines: &[String]) -> String {
    let bytes: usize = lines.iter().map(String::len).sum();
    if bytes <= LONGEST {
        return lines.concat();
    }
    // All lines have the same number of cells, but not of bytes.
    let longest = lines.iter().map(String::len).max().unwrap_or(1);
    let kept = (LONGEST / 2 / longest).max(1);
    let (first, last) = (&lines[..kept], &lines[lines.len() - kept..]);
    let (from, to) = (kept, lines.len() - kept - 1);
    let left_out = to + 1 - from;
    let middle = format!("... {left_out} states are left out: t = {from} to {to}\n");
    first.concat() + &middle + &last.concat()
}
