use serde::{Deserialize, Serialize};

/// A measure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Scorer {
    /// The id: 1 to 40 of `a-z`, `0-9` and `_`, not a built-in measure.
    pub id: String,
    /// The lowest and the highest score.
    pub scale: [f64; 2],
    /// The way in which a text is scored.
    #[serde(flatten)]
    pub by: ScoredBy,
}

/// The way in which a text is scored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ScoredBy {
    /// The median of the run's judges, who get a prompt of the file.
    Judge(JudgeScorer),
    /// The highest score if the text equals the pattern, white space at its ends aside; else the lowest.
    Exact(PatternScorer),
    /// The highest score if the text contains the pattern; else the lowest.
    Contains(PatternScorer),
    /// The highest score if the regular expression finds a place in the text; else the lowest.
    Regex(PatternScorer),
    /// A metric of the results.
    Metric(MetricScorer),
    /// The score that a program prints.
    Command(CommandScorer),
}

impl ScoredBy {
    /// The word of the file.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Judge(_) => "judge",
            Self::Exact(_) => "exact",
            Self::Contains(_) => "contains",
            Self::Regex(_) => "regex",
            Self::Metric(_) => "metric",
            Self::Command(_) => "command",
        }
    }
}

/// The prompt of a judge. The texts of an experiment replace `{original}`, `{decoded}`, `{encoded}` and `{rules}`; braces around other
/// words, and those within the texts, stay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct JudgeScorer {
    /// The system prompt.
    pub system: String,
    /// The user's turn.
    pub user: String,
}

/// A pattern that a text has or not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PatternScorer {
    /// The text that is looked at.
    pub of: PatternTarget,
    /// The pattern; `None` for the `expectedOutput` of each text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
}

/// A text of an experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PatternTarget {
    /// The decoded text.
    Decoded,
    /// The encoded text.
    Encoded,
}

/// A metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MetricScorer {
    /// The metric.
    pub name: MetricName,
}

/// A metric of every result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum MetricName {
    /// chrF++ of decoded and original text, 0 to 100.
    ChrfPp,
    /// ROUGE-L of their words, 0 to 1.
    RougeL,
    /// The share of critical commitments that the decoded text keeps, 0 to 1.
    CriticalRecall,
    /// The length of the decoded text by that of the original, in characters.
    LengthRatio,
}

/// A program. It gets an experiment as JSON on stdin and prints `{"score": n, "reasoning": "..."}`.
///
/// The engine runs no program: it asks its model client in the role [`Role::OwnProgram`](crate::prompts::Role::OwnProgram), with this
/// value as the system prompt. What was printed is kept like a reply of a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CommandScorer {
    /// The program and its arguments; no shell reads them.
    pub argv: Vec<String>,
    /// The seconds until the program is ended, 1 to 600.
    pub timeout_s: u32,
}
