//! Counting tokens on this machine.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use tiktoken_rs::CoreBPE;

use crate::judge::score::round_half_up;

/// Counts tokens on this machine. A trait, so that a program may bring its own tokenizer or share one.
pub trait LocalCounter: Send + Sync {
    /// The number of tokens in the encoding `cl100k_base`.
    fn cl100k(&self, text: &str) -> u64;
    /// The number of tokens in the encoding `o200k_base`.
    fn o200k(&self, text: &str) -> u64;
}

/// Both encodings, each built when it is first asked for (about 0.1 s) and then kept.
#[derive(Default)]
pub struct Tokenizers {
    cl100k: OnceLock<CoreBPE>,
    o200k: OnceLock<CoreBPE>,
}

#[expect(
    clippy::expect_used,
    reason = "the tables are embedded in the tokenizer's crate; the test below builds both"
)]
impl LocalCounter for Tokenizers {
    fn cl100k(&self, text: &str) -> u64 {
        let bpe = self
            .cl100k
            .get_or_init(|| tiktoken_rs::cl100k_base().expect("an embedded table"));
        bpe.encode_ordinary(text).len() as u64
    }

    fn o200k(&self, text: &str) -> u64 {
        let bpe = self
            .o200k
            .get_or_init(|| tiktoken_rs::o200k_base().expect("an embedded table"));
        bpe.encode_ordinary(text).len() as u64
    }
}

/// The count of tokens on this machine for a model: by a public tokenizer, scaled where that was fitted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TokenCounter {
    /// `cl100k` or `o200k`.
    pub tokenizer: String,
    /// A message of n tokens by the tokenizer counts `scale * n + offset`.
    pub scale: f64,
    /// The tokens that a message adds to its text.
    #[serde(with = "crate::judge::number::plain")]
    pub offset: f64,
    /// The error of the estimate, for people.
    pub error: String,
}

/// The models whose tokenizer is `o200k`, by how their names begin.
const O200K_MODELS: [&str; 6] = ["gpt-4o", "gpt-4.1", "gpt-5", "o1", "o3", "o4"];

impl TokenCounter {
    /// Returns the counter for `model`. Claude's was fitted to claude-sonnet-4-5; offline, where no model is asked, it
    /// counts for the default model.
    ///
    /// ```
    /// use zer0gravity_engine::{TokenCounter, Tokenizers};
    /// let claude = TokenCounter::of("claude-sonnet-4-5");
    /// assert_eq!(claude.message_tokens("Hello world!", &Tokenizers::default()), 11);
    /// assert_eq!(TokenCounter::of("gpt-4o-mini").tokenizer, "o200k");
    /// assert_eq!(TokenCounter::of("gpt-x").error, "unknown for this model");
    /// ```
    pub fn of(model: &str) -> Self {
        let (tokenizer, scale, offset, error) = if model.contains("claude") || model == "offline" {
            ("cl100k", 1.106, 7.55, "mean 3 %, worst 9 % (17 texts)")
        } else if O200K_MODELS.iter().any(|begin| model.starts_with(begin)) {
            (
                "o200k",
                1.0,
                0.0,
                "text exact, message overhead not counted",
            )
        } else {
            ("cl100k", 1.0, 0.0, "unknown for this model")
        };
        Self {
            tokenizer: tokenizer.to_owned(),
            scale,
            offset,
            error: error.to_owned(),
        }
    }

    /// The tokens of a message that holds `text` alone.
    pub fn message_tokens(&self, text: &str, counter: &dyn LocalCounter) -> u64 {
        let tokens = match self.tokenizer.as_str() {
            "o200k" => counter.o200k(text),
            _ => counter.cl100k(text),
        };
        round_half_up(self.scale * tokens as f64 + self.offset) as u64
    }
}

/// The source of the two token numbers of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum TokenSource {
    /// The provider counted.
    Api,
    /// Derived from what the encoder's and the decoder's replies report.
    Usage,
    /// An estimate made here.
    Local,
    /// A quarter of the UTF-16 units; only in results of earlier versions.
    Chars4,
    /// The numbers came with the texts.
    Given,
}

impl TokenSource {
    /// Returns the word in results.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Api => "api",
            Self::Usage => "usage",
            Self::Local => "local",
            Self::Chars4 => "chars4",
            Self::Given => "given",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_encodings_are_there() {
        let counter = Tokenizers::default();
        assert_eq!(
            (
                counter.cl100k("Hello world!"),
                counter.o200k("Hello world!")
            ),
            (3, 3)
        );
    }
}
