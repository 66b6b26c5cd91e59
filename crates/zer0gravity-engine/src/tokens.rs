//! Counting tokens without asking anybody.

use std::sync::OnceLock;

use tiktoken_rs::CoreBPE;

use crate::round_half_up;

/// Counts tokens on this machine. A trait, so that a program may bring its own tokenizer or share one.
pub trait LocalCounter: Send + Sync {
    /// Tokens of the encoding `cl100k_base`.
    fn cl100k(&self, text: &str) -> u64;
    /// Tokens of the encoding `o200k_base`.
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

/// An estimate of the tokens that a Claude model counts for a message of `text` alone.
///
/// Fitted to claude-sonnet-4-5 on 17 texts: mean error 3 %, worst 9 %.
pub fn estimated_message_tokens(text: &str, counter: &dyn LocalCounter) -> u64 {
    round_half_up(1.106 * counter.cl100k(text) as f64 + 7.55) as u64
}

/// The same without what a message adds: for the part that a system prompt has in a prompt's tokens.
pub fn estimated_text_tokens(text: &str, counter: &dyn LocalCounter) -> u64 {
    round_half_up(1.106 * counter.cl100k(text) as f64) as u64
}

/// Where the two token numbers of a result come from: one source for both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TokenSource {
    /// The provider counted.
    Api,
    /// Derived from what the encoder's and the decoder's replies report.
    Usage,
    /// An estimate made here.
    Local,
    /// A quarter of the UTF-16 units, on demand.
    Chars4,
    /// They came with the texts.
    Given,
}

impl TokenSource {
    /// As it is written in results.
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
        assert_eq!(estimated_message_tokens("Hello world!", &counter), 11);
        assert_eq!(estimated_text_tokens("Hello world!", &counter), 3);
    }
}
