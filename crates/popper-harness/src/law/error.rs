//! The problems of a law.

use std::fmt;

use crate::json::JsonError;

/// A problem of a law.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// The place, as a JSON path such as `$.preconditions[0].op`.
    pub path: String,
    /// The expectation that is not met.
    pub message: String,
}

impl Problem {
    /// The expectation that is not met at this JSON path.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            message: message.into(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.path, self.message)
    }
}

/// All problems of a text that is not a law.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
#[non_exhaustive]
pub struct LawError {
    /// The problems, in the order of the text's keys; never empty.
    pub problems: Vec<Problem>,
}

impl LawError {
    pub(super) fn one(path: &str, message: impl Into<String>) -> Self {
        Self {
            problems: vec![Problem {
                path: path.into(),
                message: message.into(),
            }],
        }
    }
}

impl From<JsonError> for LawError {
    fn from(error: JsonError) -> Self {
        Self::one(&error.path, error.message)
    }
}
