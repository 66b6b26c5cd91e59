//! A prompt, the roles that get one, and its plain texts.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The plain encoder prompt, with `{encodingSystem}` for the rules.
pub const ENCODER: &str = include_str!("encoder.txt");
/// The plain decoder prompt, with `{encodingSystem}` for the rules.
pub const DECODER: &str = include_str!("decoder.txt");
/// The plain prompt for the judge of the meaning.
pub const SEMANTIC_JUDGE: &str = include_str!("semantic_judge.txt");
/// The plain prompt for the judge of the rules.
pub const IMPLEMENTABILITY_JUDGE: &str = include_str!("implementability_judge.txt");
/// The executor's prompt, in every profile.
pub const EXECUTOR: &str = include_str!("executor.txt");
/// The second message to a judge whose reply had no score.
pub const ASK_AGAIN: &str = include_str!("ask_again.txt");

/// The longest reply of encoder and decoder in tokens, unless it is set.
pub const MAX_OUTPUT_TOKENS: u32 = 4096;
/// The longest reply of a judge in tokens.
pub const MAX_JUDGE_TOKENS: u32 = 512;
/// The longest reply of the executor in tokens.
pub const MAX_EXECUTOR_TOKENS: u32 = 1024;
/// The longest reply, in tokens, to a call that only measures a prompt; the reply is not used.
pub const MAX_MEASURE_TOKENS: u32 = 16;

/// A set of prompts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum PromptProfile {
    /// The prompts of the challenge, byte for byte. In files the profile is called `seed`.
    #[default]
    #[cfg_attr(feature = "clap", value(alias = "seed"))]
    #[serde(rename = "seed", alias = "plain")]
    Plain,
    /// Judges have score bands and anchors. The decoder receives the rules in the user turn. The encoder must shorten
    /// instructions and not carry them out.
    Bands,
    /// Judges have the anchors of the plain prompts and reason before they score. Texts of contestants are declared to be data, between
    /// delimiters that cannot be guessed.
    Guarded,
    /// The judge of the meaning has a system prompt of the user, so its points are not those of the challenge. A result has this profile;
    /// it is not chosen by name.
    #[cfg_attr(feature = "clap", value(skip))]
    Own,
}

/// The role of a model in an experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::exhaustive_enums, reason = "a model has a task for each role")]
pub enum Role {
    /// The role that shortens the text.
    Encoder,
    /// The role that restores the text without access to the original.
    Decoder,
    /// The role that compares the original and the decoded text.
    SemanticJudge,
    /// The role that judges the rules.
    ImplementabilityJudge,
    /// The role that scores by a prompt of the user's rubric.
    OwnJudge,
    /// A program of the user's rubric: no model is asked.
    OwnProgram,
    /// The role that carries out the decoded text.
    Executor,
    /// A call with the encoder's prompt and a text of one token. The usage in its reply gives the length of the prompt without a text.
    MeasureEncoder,
    /// A call with the decoder's prompt and a text of one token, for the same purpose.
    MeasureDecoder,
}

/// The texts that a role receives. A decoder has no field for the original.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum RoleInput<'a> {
    /// The input of the encoder.
    Encode {
        /// The rules.
        rules: &'a str,
        /// The text.
        text: &'a str,
    },
    /// The input of the decoder.
    Decode {
        /// The rules.
        rules: &'a str,
        /// The encoding.
        encoded: &'a str,
    },
    /// The input of the judge of meaning.
    Semantic {
        /// The text.
        original: &'a str,
        /// The decoded text.
        decoded: &'a str,
        /// The system prompt of the user; `None` for that of the set of prompts.
        prompt: Option<&'a str>,
    },
    /// The input of the judge of the rules.
    Implementability {
        /// The rules.
        rules: &'a str,
    },
    /// The input of the executor.
    Execute {
        /// The decoded text.
        decoded: &'a str,
    },
    /// The input of a judge of the user's rubric.
    Own(OwnPrompt<'a>),
}

/// A prompt of the user's rubric, with the texts in it.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "the parts of a prompt")]
pub struct OwnPrompt<'a> {
    /// The system prompt.
    pub system: &'a str,
    /// The user's turn.
    pub user: &'a str,
    /// The texts that the judge sees: what they say is not its verdict.
    pub texts: &'a [&'a str],
    /// The most points.
    pub max_points: u8,
}

/// The prompt of a call.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Prompt {
    /// The system prompt.
    pub system: String,
    /// The conversation, the user's turn first.
    pub messages: Vec<PromptMessage>,
    /// The longest reply in tokens.
    pub max_tokens: u32,
    /// The JSON schema that the provider enforces for the reply.
    pub json_schema: Option<Value>,
    /// The SHA-256 of the system prompt in hex.
    pub sha256: String,
}

/// One turn of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PromptMessage {
    /// The author of the turn.
    pub role: Turn,
    /// The text of the turn.
    pub content: String,
}

/// The author of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Turn {
    /// The engine's turn.
    User,
    /// The model's turn.
    Assistant,
}

impl PromptMessage {
    /// Creates a turn of the engine.
    pub fn user(content: impl Into<String>) -> Self {
        Self {
            role: Turn::User,
            content: content.into(),
        }
    }

    /// Creates a turn of the model.
    pub fn assistant(content: impl Into<String>) -> Self {
        Self {
            role: Turn::Assistant,
            content: content.into(),
        }
    }
}
