use std::borrow::Cow;
use std::sync::Arc;

use atoms::Comparison;
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};

use super::AtomMetrics;
use crate::judge::JudgeStatus;
use crate::judge::score::{MAX_LEARNABILITY, MAX_SEMANTIC, MAX_TOKEN_EFFICIENCY, Scores};
use crate::prompts::PromptProfile;
use crate::text::setters::setters;
use crate::{ExperimentResult, TokenCounter, TokenSource, TokenUse, metrics};

/// The version of the form of results and reports.
pub const SCHEMA_VERSION: u32 = 2;

/// Whether results and reports of this version can be read: what version 1 lacks is optional.
pub(crate) fn is_readable(schema_version: u32) -> bool {
    (1..=SCHEMA_VERSION).contains(&schema_version)
}

/// Reads a part of a result; `None` if an earlier version wrote null for a number that was missing in it.
pub(crate) fn complete<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    from: D,
) -> Result<Option<T>, D::Error> {
    let part = serde_json::Value::deserialize(from)?;
    Ok(serde_json::from_value(part).ok())
}

/// The parts of the score as a result holds them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResultScores {
    /// Points for saved tokens, 0 to 40.
    pub token_efficiency: u8,
    /// Points for the kept meaning, 0 to 40.
    pub semantic_preservation: u8,
    /// Points that follow from the kept meaning, 0 to 15.
    pub learnability: u8,
    /// Points for the simplicity of the rules, 0 to 5; `None` where no rules came with the texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub implementability: Option<u8>,
}

impl ResultScores {
    /// The sum of the parts that are known.
    pub(crate) fn sum(self) -> u16 {
        let parts = [
            self.token_efficiency,
            self.semantic_preservation,
            self.learnability,
            self.implementability.unwrap_or(0),
        ];
        parts.map(u16::from).iter().sum()
    }
}

/// The sum of the parts that are known. It is not a total: 88 of 95 must not be compared with 88 of 100.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PartialTotal {
    /// The sum.
    pub points: u8,
    /// The highest possible sum of these parts.
    pub of: u8,
}

impl PartialTotal {
    /// The sum of the points for tokens, meaning and learnability.
    pub(crate) fn without_rules(points: u8) -> Self {
        Self {
            points,
            of: MAX_TOKEN_EFFICIENCY + MAX_SEMANTIC + MAX_LEARNABILITY,
        }
    }
}

impl From<Scores> for ResultScores {
    fn from(scores: Scores) -> Self {
        Self {
            token_efficiency: scores.token_efficiency,
            semantic_preservation: scores.semantic_preservation,
            learnability: scores.learnability,
            implementability: Some(scores.implementability),
        }
    }
}

/// The scores before a rescore.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PreviousScores {
    /// The parts.
    pub scores: ResultScores,
    /// The sum of the parts.
    pub total: u8,
    /// The models that judged.
    pub judges: Vec<String>,
    /// The set of prompts of the judges.
    pub prompt_profile: PromptProfile,
    /// The temperature of the judges, if one was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge_temperature: Option<f64>,
}

impl PreviousScores {
    /// The scores of `result` and the judges that gave them; `None` if it has no total.
    pub fn of(result: &ExperimentResult) -> Option<Self> {
        Some(Self {
            scores: result.scores?,
            total: result.total?,
            judges: result.metadata.models.judges.clone(),
            prompt_profile: result.metadata.prompt_profile,
            judge_temperature: result.metadata.judge_temperature,
        })
    }
}

/// The judges' replies and the figures that the score was computed from.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Details {
    /// The saved share in percent, one decimal, negative for an expansion.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "crate::judge::number::plain_option"
    )]
    pub compression_percent: Option<f64>,
    /// The judge's reason for the points for the meaning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub semantic_reasoning: Option<serde_json::Value>,
    /// The judge's reason for the points for the rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub implementability_reasoning: Option<serde_json::Value>,
    /// Every reply of the judge of the meaning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub semantic_judge: Option<JudgeRecord>,
    /// Every reply of the judge of the rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub implementability_judge: Option<JudgeRecord>,
    /// The version of the lexical judge; only if it gave the points for the meaning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lexical_judge_version: Option<u32>,
    /// 15 times the share of decoders within 2 points of the best, of two and more; else null.
    pub learnability_measured: Option<u8>,
}

/// The replies of the judges of one thing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct JudgeRecord {
    /// The worst of the samples.
    pub status: JudgeStatus,
    /// Calls, those for a second try included.
    pub asks: u32,
    /// Whether a score lay outside of its range.
    pub clamped: bool,
    /// One for each judge and sample.
    pub samples: Vec<JudgeSample>,
}

/// One sample of a judge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct JudgeSample {
    /// The judge.
    #[serde(with = "crate::text::arc")]
    pub model: Arc<str>,
    /// The number of the sample, from 1.
    pub sample: u32,
    /// The points; `None` if the reply held no score.
    pub score: Option<u8>,
    /// The way they were read.
    pub status: JudgeStatus,
    /// Whether the score was outside of its range and was moved to its nearer end.
    #[serde(default)]
    pub clamped: bool,
    /// The number as the judge gave it, if it was clamped.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "crate::judge::number::plain_option"
    )]
    pub given: Option<f64>,
    /// The reply as it came, at most its first 4,096 characters; of two replies the second.
    #[serde(default)]
    pub reply: String,
    /// Whether the reply is longer than the part that is kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reply_truncated: bool,
}

impl JudgeRecord {
    /// The notes on how the score was read, such as `recovered` or `clamped from 95`; empty if every reply was the object that
    /// was asked for, with a score in its range.
    pub fn notes(&self) -> Vec<String> {
        let of = |count: usize| match self.samples.len() {
            1 => String::new(),
            all => format!("{count} of {all} "),
        };
        let recovered = |sample: &&JudgeSample| sample.status == JudgeStatus::Recovered;
        let recovered = self.samples.iter().filter(recovered).count();
        let clamped: Vec<_> = self.samples.iter().filter(|one| one.clamped).collect();
        let mut notes = Vec::new();
        if recovered > 0 {
            notes.push(format!("{}recovered", of(recovered)));
        }
        match clamped.as_slice() {
            [] => {}
            [
                JudgeSample {
                    given: Some(given), ..
                },
            ] if self.samples.len() == 1 => {
                notes.push(format!("clamped from {given}"));
            }
            some => notes.push(format!("{}clamped", of(some.len()))),
        }
        notes
    }
}

/// The models, the time and the calls of an experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Metadata {
    /// The encoder's model.
    #[serde(with = "crate::text::arc")]
    pub model: Arc<str>,
    /// The time at which the first call began, UTC with milliseconds.
    pub timestamp: String,
    /// Waiting for replies, judges side by side counted once.
    pub duration_ms: u64,
    /// Calls, those answered from a store too, repetitions after failures not.
    pub total_api_calls: u32,
    /// Tokens the replies report.
    pub total_tokens_used: TokenUse,
    /// Repetitions after failures.
    pub retries: u32,
    /// The provider of the models.
    #[serde(with = "crate::text::arc")]
    pub provider: Arc<str>,
    /// The model of each role.
    #[serde(with = "crate::text::arc")]
    pub models: Arc<Models>,
    /// The temperature of encoder, decoder and executor; `None` if none was sent.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "crate::judge::number::plain_option"
    )]
    pub temperature: Option<f64>,
    /// The temperature of the judges; `None` if none was sent.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "crate::judge::number::plain_option"
    )]
    pub judge_temperature: Option<f64>,
    /// The source of the token numbers; `None` if they were not counted.
    pub token_source: Option<TokenSource>,
    /// The tokenizer of this machine for the encoder's model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_counter: Option<TokenCounter>,
    /// The set of prompts.
    pub prompt_profile: PromptProfile,
    /// The SHA-256 of each system prompt, rules included, in hex.
    #[serde(with = "crate::text::arc")]
    pub prompt_sha256: Arc<PromptHashes>,
    /// The SHA-256 of the rules in hex.
    #[serde(with = "crate::text::arc")]
    pub rules_sha256: Arc<str>,
    /// The SHA-256 of the user's rubric in hex.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rubric_sha256: Option<String>,
    /// The SHA-256 of the word list that decoded, offline only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lexicon_sha256: Option<String>,
    /// The version of this crate.
    pub engine_version: Cow<'static, str>,
    /// The source of random choices.
    pub randomness: Randomness,
}

/// The models of an experiment.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Models {
    /// The model that encodes.
    pub encoder: String,
    /// The model that decodes.
    pub decoder: String,
    /// The models that judge: one, or a panel.
    pub judges: Vec<String>,
}

impl Models {
    /// One model for every role.
    pub fn new(model: impl Into<String>) -> Self {
        let model = model.into();
        Self {
            encoder: model.clone(),
            decoder: model.clone(),
            judges: vec![model],
        }
    }

    setters! {
        encoder: String,
        decoder: String,
        judges: Vec<String>,
    }
}

/// SHA-256 of the system prompts in hex.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PromptHashes {
    /// The encoder's model.
    pub encoder: String,
    /// The hash of the decoder's prompt.
    pub decoder: String,
    /// The hash of the prompt of the judge of the meaning.
    pub semantic_judge: String,
    /// The hash of the prompt of the judge of the rules.
    pub implementability_judge: String,
}

/// The source of random choices.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Randomness {
    /// The generator.
    pub algorithm: Cow<'static, str>,
    /// The seed of the generator.
    pub seed: u64,
}

impl Randomness {
    /// `ChaCha20` from `seed`.
    pub fn chacha20(seed: u64) -> Self {
        Self {
            algorithm: Cow::Borrowed("ChaCha20"),
            seed,
        }
    }
}

/// The similarity of the decoded text to the original, letter by letter. Four decimals.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Metrics {
    /// chrF++, 0 to 100.
    #[serde(with = "crate::judge::number::plain")]
    pub chrf_pp: f64,
    /// ROUGE-L F1, 0 to 1.
    #[serde(with = "crate::judge::number::plain")]
    pub rouge_l: f64,
    /// The commitments that the decoded text kept; `None` in results of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub atoms: Option<Box<AtomMetrics>>,
    /// The kept share of literals, 0 to 1; in results of earlier versions only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub literal_recall: Option<f64>,
    /// Characters of the decoded text for one of the original.
    #[serde(with = "crate::judge::number::plain")]
    pub length_ratio: f64,
}

impl Metrics {
    /// Compares a decoded text with its original.
    pub fn of(original: &str, decoded: &str) -> Self {
        Self::with(
            original,
            decoded,
            &metrics::compare_atoms(original, decoded),
        )
    }

    /// Compares a decoded text with its original, whose atoms are compared already.
    pub(crate) fn with(original: &str, decoded: &str, atoms: &Comparison) -> Self {
        let rounded = |value: f64| crate::judge::number::rounded(value, 4);
        let length = |text: &str| text.chars().count() as f64;
        Self {
            chrf_pp: rounded(metrics::chrf_pp(original, decoded)),
            rouge_l: rounded(metrics::rouge_l(original, decoded)),
            atoms: Some(Box::new(AtomMetrics::in_result(atoms, original, decoded))),
            literal_recall: None,
            length_ratio: rounded(length(decoded) / length(original).max(1.0)),
        }
    }
}

/// Whether the decoded instruction still gives the expected result.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Procedural {
    /// The verdict.
    pub status: ProceduralStatus,
    /// The agent's answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// The result is the expected one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// The steps that the decoded text lacks; only in results of earlier versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
}

/// The verdict of the procedural check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ProceduralStatus {
    /// The result is the expected one.
    Pass,
    /// The result is another one.
    Fail,
    /// The agent that carries out the text gave no answer.
    Undetermined,
    /// The check was not requested, or the case has no expected result.
    #[default]
    NotRun,
}

/// A time as results hold it: UTC with milliseconds.
pub(crate) fn timestamp(time: Timestamp) -> String {
    format!("{time:.3}")
}
