//! The ends of an experiment's stages.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::FailureKind;

/// A stage of an experiment, in the order of execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StageName {
    /// The token count of the text.
    CountOriginal,
    /// The encoding.
    Encode,
    /// The token count of the encoding.
    CountEncoded,
    /// The decoding, in a fresh context without the original.
    Decode,
    /// A judge scores the kept meaning.
    JudgeSemantic,
    /// A judge scores the simplicity of the rules.
    JudgeImplementability,
    /// An agent carries out the decoded instruction.
    Execute,
    /// Judges score by the prompts of the user's rubric.
    JudgeOwn,
}

/// The end of a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StageStatus {
    /// The stage ended with a result.
    Ok,
    /// The model or a filter refused.
    Refused,
    /// The reply reached the limit of its length.
    Truncated,
    /// The reply has no text.
    Empty,
    /// Two replies of a judge have no score.
    Unparseable,
    /// The call failed.
    ApiError,
    /// The stage needs a model: the rules are not in the rule syntax.
    UnsupportedOffline,
    /// The stage was not reached.
    NotRun,
}

impl StageName {
    /// Returns the word in results.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::CountOriginal => "count_original",
            Self::Encode => "encode",
            Self::CountEncoded => "count_encoded",
            Self::Decode => "decode",
            Self::JudgeSemantic => "judge_semantic",
            Self::JudgeImplementability => "judge_implementability",
            Self::Execute => "execute",
            Self::JudgeOwn => "judge_own",
        }
    }
}

impl StageStatus {
    /// Returns the word in results.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Refused => "refused",
            Self::Truncated => "truncated",
            Self::Empty => "empty",
            Self::Unparseable => "unparseable",
            Self::ApiError => "api_error",
            Self::UnsupportedOffline => "unsupported_offline",
            Self::NotRun => "not_run",
        }
    }
}

impl fmt::Display for StageName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for StageStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The end of an experiment: that of its first stage that did not end `ok`, or `ok`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Outcome {
    /// The status of that stage.
    pub status: StageStatus,
    /// The stage; `None` for `ok`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<StageName>,
    /// The kind of the failure, for `api_error` and `not_run`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<FailureKind>,
    /// The cause, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

impl Outcome {
    /// The outcome of an experiment whose stages all ended `ok`.
    pub const OK: Self = Self {
        status: StageStatus::Ok,
        stage: None,
        kind: None,
        detail: None,
    };

    /// Whether the experiment has a score.
    pub fn is_ok(&self) -> bool {
        self.status == StageStatus::Ok
    }

    /// Whether the run was interrupted or reached its cap before the turn of the experiment.
    pub fn is_stopped(&self) -> bool {
        let ends = |kind: FailureKind| kind == FailureKind::Interrupted || kind.is_cap();
        self.status == StageStatus::NotRun && self.kind.is_some_and(ends)
    }

    /// Returns one sentence that names stage and cause; `None` for `ok`.
    pub fn sentence(&self) -> Option<String> {
        let stage = self.stage?;
        let detail = self.detail.as_deref().unwrap_or_default();
        let kind = (self.kind)
            .filter(|kind| kind.as_str() != self.status.as_str())
            .map(|kind| format!(" ({kind})"))
            .unwrap_or_default();
        Some(format!("{} at {stage}{kind}: {detail}", self.status))
    }
}

/// The tokens that replies report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TokenUse {
    /// The number of tokens of prompts, including cached ones.
    pub input: u64,
    /// The number of tokens of replies.
    pub output: u64,
}

impl TokenUse {
    /// Returns the tokens of a prompt and of its reply.
    pub fn new(input: u64, output: u64) -> Self {
        Self { input, output }
    }
}

impl std::ops::AddAssign for TokenUse {
    fn add_assign(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
    }
}

/// The calls of a stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct StageRecord {
    /// The stage.
    pub stage: StageName,
    /// The end of the stage.
    pub status: StageStatus,
    /// The stop reason of the last reply, as a word of `llm-client`; `None` for counts and stages that were not run.
    pub stop_reason: Option<String>,
    /// The number of requests that were sent, including retries; 0 for a stage without a call.
    pub attempts: u32,
    /// The milliseconds of waiting for replies; for parallel calls the longest wait.
    pub elapsed_ms: u64,
    /// The tokens that the replies report; `None` if no reply reports them.
    pub usage: Option<TokenUse>,
}
