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
/// The second message to a judge whose reply held no score.
pub const ASK_AGAIN: &str = include_str!("ask_again.txt");

/// The longest reply of encoder and decoder in tokens, unless it is set.
pub const MAX_OUTPUT_TOKENS: u32 = 4096;
/// The longest reply of a judge in tokens.
pub const MAX_JUDGE_TOKENS: u32 = 512;
/// The longest reply of the executor in tokens.
pub const MAX_EXECUTOR_TOKENS: u32 = 1024;
/// The longest reply to a call that only measures a prompt: nothing in it is used.
pub const MAX_MEASURE_TOKENS: u32 = 16;

/// A set of prompts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum PromptProfile {
    /// The texts of the challenge, byte for byte. Files have the word `seed` for it.
    #[default]
    #[cfg_attr(feature = "clap", value(alias = "seed"))]
    #[serde(rename = "seed", alias = "plain")]
    Plain,
    /// The judge has bands and anchors; the decoder gets the rules in the user turn; the encoder is asked to shorten
    /// instructions and not to carry them out.
    Bands,
    /// The judge's anchors of the plain prompts; contestants' texts are placed between delimiters that cannot be guessed and are
    /// declared to be data; the judge reasons before it scores.
    Guarded,
}

/// The role of a model in an experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Shortens the text.
    Encoder,
    /// Writes the text again without having seen it.
    Decoder,
    /// Compares the two.
    SemanticJudge,
    /// Judges the rules.
    ImplementabilityJudge,
    /// Carries out the decoded text.
    Executor,
    /// The encoder's prompt with a text of one token: its reply tells how long the rest of that prompt is.
    MeasureEncoder,
    /// The decoder's prompt with a text of one token.
    MeasureDecoder,
}

/// The texts that a role gets to see: a decoder has no field for the original.
#[derive(Debug, Clone, Copy)]
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
    /// The JSON schema that the provider is to hold the reply to.
    pub json_schema: Option<Value>,
    /// The SHA-256 of the system prompt in hex.
    pub sha256: String,
}

/// One turn of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PromptMessage {
    /// The side that speaks.
    pub role: Turn,
    /// The text of the turn.
    pub content: String,
}

/// The side that speaks in a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Turn {
    /// The engine's turn.
    User,
    /// The model's turn.
    Assistant,
}

impl PromptMessage {
    /// A turn of ours.
    pub fn user(content: impl Into<String>) -> Self {
        Self {
            role: Turn::User,
            content: content.into(),
        }
    }

    /// A turn of the model.
    pub fn assistant(content: impl Into<String>) -> Self {
        Self {
            role: Turn::Assistant,
            content: content.into(),
        }
    }
}
