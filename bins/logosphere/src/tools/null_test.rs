//! The tool `null_test`: a list of messages against a null model.

use std::ops::ControlFlow;

use bin_support::mcp::{McpCall, quoted};
use logosphere_core::import::{Import, ImportError, ImportField, ImportPlan, ImportedRun};
use logosphere_core::measures::nulls::{MIN_RUNS, NullPlan, compare};
use logosphere_core::verify::Exposure;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::json;
use crate::chance::ComparisonJson;
use crate::measuring;

pub const DESCRIPTION: &str =
    "Test whether texts were passed on by more than chance: a verdict and its figures.";

/// The most messages of a call.
const MESSAGES: usize = 5_000;
/// The most messages that all authors read together: a null run takes as long as its reads.
const READS: usize = 200_000;
/// The most null runs of a call.
const RUNS: u32 = 9_999;

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NullTestRequest {
    /// {"text": ".."} with optional id, author, time (RFC 3339 or Unix), parent (id or ids that it answers or copies), reads (ids that
    /// its author had read).
    messages: Vec<Map<String, Value>>,
    /// Messages that authors had read: `recorded`, `thread`, `window:M` or `none`. Without it recorded ones, else threads.
    #[serde(default)]
    reads: Option<String>,
    /// Length of a round: `messages:N`, `1h` or `1d`.
    #[serde(default = "round")]
    round: String,
    /// Null model: `descent` for the choice of texts, `shuffle` for the effect of reading.
    #[serde(default = "descent")]
    kind: String,
    /// Null runs, 199 to 9999.
    #[serde(default = "runs")]
    runs: u32,
    #[serde(default)]
    seed: u64,
}

fn round() -> String {
    "messages:50".to_owned()
}

fn descent() -> String {
    "descent".to_owned()
}

fn runs() -> u32 {
    NullPlan::default().runs
}

/// Returns the JSON of `logosphere null-model --json` for the messages, without the part about their files.
pub fn run(request: &NullTestRequest, call: &McpCall) -> Result<String, String> {
    let found = request.messages.len();
    if found > MESSAGES {
        return Err(format!(
            "messages: {found} messages, expected at most {MESSAGES}"
        ));
    }
    let runs = request.runs;
    if !(MIN_RUNS..=RUNS).contains(&runs) {
        return Err(format!("runs: is {runs}, expected {MIN_RUNS} to {RUNS}"));
    }
    let plan = NullPlan {
        kind: parsed("kind", &request.kind)?,
        runs,
        seed: request.seed,
        threads: measuring::threads(),
    };
    let run = imported(request, call)?;
    let mut observe = |_| unless_cancelled(call);
    let compared = compare(&run.transcript, &plan, &mut observe);
    let compared = compared.ok_or("cancelled")?;
    json(&ComparisonJson::from(&compared))
}

fn unless_cancelled(call: &McpCall) -> ControlFlow<()> {
    if call.is_cancelled() {
        ControlFlow::Break(())
    } else {
        ControlFlow::Continue(())
    }
}

/// Reads the messages as `logosphere import` reads a file with one on each line.
fn imported(request: &NullTestRequest, call: &McpCall) -> Result<ImportedRun, String> {
    for (index, message) in request.messages.iter().enumerate() {
        let is_known = |key: &str| ImportField::ALL.iter().any(|field| field.name() == key);
        if let Some(key) = message.keys().find(|key| !is_known(key)) {
            return Err(format!("messages[{index}]: unknown field {}", quoted(key)));
        }
    }
    let mut plan = ImportPlan::default();
    plan.exposure = exposure(request)?;
    plan.round = Some(parsed("round", &request.round)?);
    let lines = request.messages.iter();
    let lines: Vec<String> = lines
        .map(|message| Value::from(message.clone()).to_string())
        .collect();
    let mut on_line = || unless_cancelled(call);
    let mut import = Import::new(plan, &mut on_line);
    let read = import.add_jsonl("messages", lines.join("\n").as_bytes());
    read.map_err(|error| told(&error))?;
    let imported = import.finish().map_err(|error| told(&error))?;
    let lost = imported.header.lost_links;
    if lost > 0 {
        return Err(format!(
            "messages: {lost} of the parents and reads name no earlier message"
        ));
    }
    let mut written = Vec::new();
    let done = imported.write(&mut written);
    done.map_err(|error| error.to_string())?;
    let run = ImportedRun::read(&written[..]).map_err(|error| error.to_string())?;
    let reads: usize = run
        .transcript
        .calls
        .iter()
        .map(|call| call.sampled.len())
        .sum();
    if reads > READS {
        return Err(format!(
            "messages: the authors read {reads} messages together, expected at most {READS}; give fewer, or other `reads`"
        ));
    }
    Ok(run)
}

/// The source of reads: as asked for, else recorded ones, else the threads that the parents make.
fn exposure(request: &NullTestRequest) -> Result<Option<Exposure>, String> {
    if let Some(asked) = &request.reads {
        return parsed("reads", asked).map(Some);
    }
    let has = |key: &str| {
        request
            .messages
            .iter()
            .any(|message| message.contains_key(key))
    };
    Ok((!has("reads") && has("parent")).then_some(Exposure::Thread))
}

fn parsed<T: std::str::FromStr<Err: std::fmt::Display>>(
    name: &str,
    text: &str,
) -> Result<T, String> {
    text.parse().map_err(|error| format!("{name}: {error}"))
}

/// The error of an import in the terms of the arguments.
fn told(error: &ImportError) -> String {
    match error {
        ImportError::Bad(problems) => problems.to_string().replace('\n', "; "),
        ImportError::Empty { .. } => "messages: expected at least one message".to_owned(),
        // The arguments have the names of the flags.
        other => other.to_string().replace("--", ""),
    }
}
