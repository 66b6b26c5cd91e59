//! A finding about rules, and the tokens that it may be about.

use serde::{Deserialize, Serialize};

/// A problem of the rules, with its line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LintFinding {
    /// The code of the check, such as `ZG003`.
    pub code: String,
    /// The line of the rules, from 1.
    pub line: usize,
    /// The problem, in a sentence.
    pub message: String,
    /// The piece of the rules, or the numbers.
    pub evidence: String,
}

impl LintFinding {
    /// Whether the finding is an error and not advice: rules that address a judge.
    pub fn is_error(&self) -> bool {
        self.code == "ZG008"
    }

    /// Whether the finding is information and not advice: a line that needs a model.
    pub fn is_info(&self) -> bool {
        self.code == "ZG005"
    }
}

/// Creates a finding of `code` in `line`.
pub(super) fn finding(
    code: &str,
    line: usize,
    message: impl Into<String>,
    evidence: impl Into<String>,
) -> LintFinding {
    LintFinding {
        code: code.to_owned(),
        line,
        message: message.into(),
        evidence: evidence.into(),
    }
}

/// The tokens of a text in two encodings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TokenCounts {
    /// Tokens of the encoding `cl100k_base`.
    pub cl100k: u64,
    /// Tokens of the encoding `o200k_base`.
    pub o200k: u64,
}

/// The tokens of a mapping: both sides counted with one space before them, as they occur in a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct MappingCost {
    /// The line of the rules, from 1.
    pub line: usize,
    /// The piece that is replaced.
    pub source: String,
    /// The piece that replaces it.
    pub target: String,
    /// The number of tokens of the source.
    pub source_tokens: TokenCounts,
    /// The number of tokens of the target.
    pub target_tokens: TokenCounts,
}
