//! The tool `check`, which decides laws as the command does.

use bin_support::mcp::McpCall;
use popper_harness::decide::{Config, Harness, Status, Strength, UnknownReason, Verdict};
use popper_harness::law::{Extensions, Law};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::arguments::{Object, at_most, built_in, universe};

pub const DESCRIPTION: &str =
    "Decide laws: PASS, FAIL with the smallest counterexample, or UNKNOWN with a reason.";

/// The most laws of a call.
const LAWS: usize = 50;
const EXHAUSTIVE_N: u64 = 14;
const BUDGET: u64 = 20_000_000_000;

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckRequest {
    /// 1 to 50 laws.
    laws: Vec<Object>,
    /// `kinetic_grid`, or a definition.
    #[serde(default = "built_in")]
    universe: Value,
    #[serde(default)]
    seed: u64,
    /// Largest ring of which every start is tried, at most 14.
    #[serde(default = "exhaustive_n")]
    exhaustive_n: u64,
    /// Most cell updates a ring size, at most 2e10. Without it those of `popper check`.
    #[serde(default)]
    budget: Option<u64>,
    #[serde(default)]
    detail: Detail,
}

/// The parts of a verdict that are answered.
#[derive(Default, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Detail {
    #[default]
    Short,
    Full,
}

fn exhaustive_n() -> u64 {
    Config::default().exhaustive_n as u64
}

/// Decides the laws one after the other. The answer is an array, one verdict a line.
pub fn run(request: &CheckRequest, call: &McpCall) -> Result<String, String> {
    let count = request.laws.len();
    if !(1..=LAWS).contains(&count) {
        return Err(format!("laws: {count} laws, expected 1 to {LAWS}"));
    }
    let laws = read(&request.laws)?;
    let harness = harness(
        &request.universe,
        request.seed,
        request.exhaustive_n,
        request.budget,
    )?;
    let mut lines = Vec::new();
    for (done, law) in laws.iter().enumerate() {
        let verdict = harness.evaluate_with_stop(law, &|| call.is_cancelled());
        if call.is_cancelled() {
            return Err("cancelled".to_owned());
        }
        lines.push(match request.detail {
            Detail::Full => full(&verdict)?,
            Detail::Short => json(&ShortVerdict::of(&verdict))?,
        });
        call.progress(done + 1, count);
    }
    Ok(format!("[\n{}\n]\n", lines.join(",\n")))
}

fn read(laws: &[Object]) -> Result<Vec<Law>, String> {
    let (mut read, mut problems) = (Vec::new(), Vec::new());
    for (index, law) in laws.iter().enumerate() {
        let path = format!("laws[{index}]");
        match Law::from_value(Value::Object(law.clone()), &path, Extensions::default()) {
            Ok(law) => read.push(law),
            Err(error) => {
                let found = error.problems.iter();
                problems
                    .extend(found.map(|problem| format!("{}: {}", problem.path, problem.message)));
            }
        }
    }
    if problems.is_empty() {
        Ok(read)
    } else {
        Err(problems.join("; "))
    }
}

fn harness(
    definition: &Value,
    seed: u64,
    exhaustive_n: u64,
    budget: Option<u64>,
) -> Result<Harness, String> {
    at_most("exhaustive_n", exhaustive_n, EXHAUSTIVE_N)?;
    let mut config = Config::default()
        .seed(seed)
        .exhaustive_n(exhaustive_n as usize);
    if let Some(budget) = budget {
        at_most("budget", budget, BUDGET)?;
        config = config.exhaustive_budget(budget).sampled_budget(budget);
    }
    Harness::new(universe(definition)?, config).map_err(|error| error.to_string())
}

/// The verdict as `popper check --json` writes it, without `runtime_ms`, which is its last field.
fn full(verdict: &Verdict) -> Result<String, String> {
    let text = json(verdict)?;
    let end = format!(",\"runtime_ms\":{}}}", verdict.runtime_ms);
    let kept = text.strip_suffix(&end);
    Ok(kept.map_or_else(|| text.clone(), |kept| format!("{kept}}}")))
}

fn json(value: &impl Serialize) -> Result<String, String> {
    serde_json::to_string(value).map_err(|error| error.to_string())
}

/// The parts of a verdict that answer a model's question.
#[derive(Serialize)]
struct ShortVerdict<'a> {
    law_id: &'a str,
    status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<UnknownReason>,
    #[serde(skip_serializing_if = "Option::is_none")]
    strength: Option<Strength>,
    #[serde(skip_serializing_if = "str::is_empty")]
    scope: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<&'a str>,
    #[serde(rename = "N", skip_serializing_if = "Option::is_none")]
    n: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    t_fail: Option<u64>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    notes: &'a [String],
}

impl<'a> ShortVerdict<'a> {
    fn of(verdict: &'a Verdict) -> Self {
        let found = verdict.counterexample.as_ref();
        Self {
            law_id: &verdict.law_id,
            status: verdict.status,
            reason: verdict.reason_code,
            strength: verdict.evidence.strength,
            scope: &verdict.evidence.scope,
            start: found.map(|found| found.initial_state.as_str()),
            n: found.map(|found| found.config.n),
            t_fail: found.map(|found| found.t_fail),
            notes: &verdict.notes,
        }
    }
}
