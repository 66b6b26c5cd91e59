//! A whole run: its results, what they come to, and the forms it is shown in.

use serde::{Deserialize, Serialize};

use crate::lint::LintReport;
use crate::plan::{Config, PlannedCase};
use crate::{ExperimentResult, Randomness};

/// The `kind` of a report's JSON.
pub const KIND: &str = "zer0gravity.report";

/// A whole run in the form and order of `report.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// The version of this form.
    #[serde(rename = "schema_version")]
    pub schema_version: u32,
    /// [`KIND`].
    pub kind: String,
    /// This crate's version.
    pub engine_version: String,
    /// When the run's plan was frozen, UTC with milliseconds.
    pub created_at: String,
    /// No model was asked.
    pub offline: bool,
    /// How it was run; none for results that came without a plan.
    pub config: Option<Config>,
    /// The rules.
    pub encodings: Vec<ReportedEncoding>,
    /// The texts.
    pub cases: Vec<PlannedCase>,
    /// One for each experiment, in plan order.
    pub results: Vec<ExperimentResult>,
    /// Where random choices come from.
    pub randomness: Randomness,
}

/// A set of rules and what can be said of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReportedEncoding {
    /// Its id.
    pub id: String,
    /// Its file.
    pub path: Option<String>,
    /// The SHA-256 of the rules in hex.
    pub sha256: String,
    /// Tokens of the rules, if they were counted.
    pub rules_tokens: Option<u64>,
    /// What can be said of the rules.
    pub lint: LintReport,
}
