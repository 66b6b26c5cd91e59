//! What a reader of a result should look at. No flag changes a score.

use serde::{Deserialize, Serialize};

/// Something to look at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flag {
    /// Which rule raised it.
    pub id: FlagId,
    /// How bad that is if it is true.
    pub severity: Severity,
    /// What was found, in a few words.
    pub evidence: String,
}

/// The rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FlagId {
    /// The encoding is the text.
    IdentityEncoding,
    /// The encoding has more tokens than the text.
    Expansion,
    /// The instruction was carried out instead of encoded.
    ExecutedAnswer,
    /// The judge and the letters say different things.
    JudgeMetricDisagreement,
    /// The rules hold the text.
    RulesContainText,
    /// The encoding repeats the encoder's instructions.
    PromptEcho,
    /// The encoding or the decoded text repeats the rules.
    RulesEcho,
    /// The encoding or the decoded text talks about the task.
    SelfTalk,
    /// Somebody speaks to the judge.
    JudgeInjection,
    /// The decoded text looks like a refusal.
    PossibleRefusalText,
    /// Characters that nobody sees.
    HiddenCharacters,
    /// Numbers, names or negations are lost.
    LiteralLoss,
}

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Good to know.
    Info,
    /// The score may mislead.
    Warning,
    /// The score is worth nothing if this is true.
    Critical,
}

/// What the rules look at.
#[derive(Debug, Clone, Copy)]
pub struct FlagInput<'a> {
    /// The rules.
    pub rules: &'a str,
    /// The whole prompt that the encoder got, rules included.
    pub encoder_prompt: &'a str,
    /// The text.
    pub original: &'a str,
    /// Its encoding.
    pub encoding: &'a str,
    /// The text again.
    pub decoded: &'a str,
    /// What carrying out the text gives.
    pub expected_output: Option<&'a str>,
    /// Tokens of the text.
    pub original_tokens: i64,
    /// Tokens of the encoding.
    pub encoded_tokens: i64,
    /// The judge's points for the meaning, 0 to 40.
    pub semantic: Option<u8>,
}

/// Every flag that is raised, in the order of [`FlagId`].
pub fn detect(input: &FlagInput<'_>) -> Vec<Flag> {
    let _ = input;
    Vec::new()
}
