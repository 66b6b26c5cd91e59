//! The tool `lint`.

use serde::Deserialize;
use zer0gravity_engine::LocalCounter;

use super::texts::{json, rules};

pub const DESCRIPTION: &str =
    "Check the rules of an encoding: findings with code and line, and the tokens of the rules.";

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LintRequest {
    rules: String,
}

/// Returns the JSON of `zer0gravity lint --json`.
pub fn run(request: &LintRequest, counter: &dyn LocalCounter) -> Result<String, String> {
    let rules = rules("rules", &request.rules)?;
    json(zer0gravity_engine::rules::lint::lint(&rules, counter))
}
