//! The tools of a server that referees an episode of `popper lab`: each call is a line of its protocol.

use std::sync::{Arc, Mutex, PoisonError};

use bin_support::mcp::McpTool;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::arguments::Object;
use crate::episode::RecordedEpisode;

/// The text that a client receives when it connects.
pub const INSTRUCTIONS: &str = "An episode of popper lab: find out how a sealed universe of rings works. public has its symbols, \
    what you see, the limits and the questions. experiment runs a ring and costs cells of the budget. Then predict the questions, state \
    laws that hold for every ring, and end, which scores both. check decides laws in the built-in universe kinetic_grid, where they \
    can be tried out.";

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoArguments {}

#[derive(Deserialize, Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExperimentRequest {
    /// State at t = 0, 1 to 8 cells.
    start: String,
    /// At least 1; cells times steps are charged.
    steps: u64,
}

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PredictRequest {
    /// {"id": "q01.4", "state": ".."}; in tier C "values". null abstains.
    predictions: Vec<Object>,
}

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LawsRequest {
    /// At most 20.
    laws: Vec<Object>,
}

/// Returns the tools, which share the episode.
pub fn tools(played: RecordedEpisode) -> [McpTool; 5] {
    let contract = played.episode().contract().line();
    let shared = Arc::new(Mutex::new(played));
    let line = move |line: &serde_json::Value| {
        // A panic of one call leaves the episode as the log has it, or the log refuses more.
        let mut played = shared.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = played.line(line.to_string().as_bytes());
        let answer = answer.map_err(|failure| failure.error().to_string())?;
        if answer.is_error {
            Err(answer.line)
        } else {
            Ok(answer.line)
        }
    };
    let [experiment, predict, laws] = [line.clone(), line.clone(), line.clone()];
    [
        McpTool::new(
            "public",
            "The public part of the sealed universe, with limits and questions.",
            move |_: &NoArguments, _| Ok::<_, String>(contract.clone()),
        ),
        McpTool::new(
            "experiment",
            "Run a ring: what is seen from t = 1 on, and the cells that are left.",
            move |request: &ExperimentRequest, _| experiment(&json!({"experiment": request})),
        )
        .with_state(),
        McpTool::new(
            "predict",
            "Predict the questions of public; possible once.",
            move |request: &PredictRequest, _| predict(&json!({"predict": request.predictions})),
        )
        .with_state(),
        McpTool::new(
            "laws",
            "State laws of the sealed universe; possible once. Verdicts come with the score.",
            move |request: &LawsRequest, _| laws(&json!({"laws": request.laws})),
        )
        .with_state(),
        McpTool::new(
            "end",
            "End the episode: its score.",
            move |_: &NoArguments, _| line(&json!({"end": true})),
        )
        .with_state(),
    ]
}
