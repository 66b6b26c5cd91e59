//! An encoding system in a report.

use serde::{Deserialize, Serialize};

use crate::TokenSource;
use crate::plan::ModelPair;
use crate::rules::lint::LintReport;
use crate::text::setters::setters;

/// A set of rules with its tokens and findings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ReportedEncodingSystem {
    /// The id of the rules; with the models if there are several pairs of them.
    pub id: String,
    /// The rules and the models of this system, if a plan crosses several pairs of models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crossed: Option<CrossedModels>,
    /// The file of the rules.
    pub path: Option<String>,
    /// The SHA-256 of the rules in hex.
    pub sha256: String,
    /// Tokens of the rules, if they were counted.
    pub rules_tokens: Option<u64>,
    /// The source of the token count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules_tokens_source: Option<TokenSource>,
    /// The findings about the rules.
    pub lint: LintReport,
}

impl ReportedEncodingSystem {
    /// Creates rules with this id and hash that are neither counted nor linted.
    pub fn new(id: impl Into<String>, sha256: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            crossed: None,
            path: None,
            sha256: sha256.into(),
            rules_tokens: None,
            rules_tokens_source: None,
            lint: LintReport::default(),
        }
    }

    setters! {
        crossed: Option<CrossedModels>,
        path: Option<String>,
        rules_tokens: Option<u64>,
        rules_tokens_source: Option<TokenSource>,
        lint: LintReport,
    }
}

/// One of several systems with the same rules: the rules with their encoder and decoder models.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CrossedModels {
    /// The id of the rules.
    pub encoding: String,
    /// The models.
    #[serde(flatten)]
    pub models: ModelPair,
}
