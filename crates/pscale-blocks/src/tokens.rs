/// Counts the tokens of a text.
pub trait TokenCounter: Send + Sync {
    /// The name of the method, for reports.
    fn name(&self) -> &str;

    /// Tokens of `text`.
    fn count(&self, text: &str) -> usize;
}

/// A guess that needs no tables: a third of the bytes, rounded up. More than o200k counts for most texts.
#[derive(Debug, Clone, Copy, Default)]
pub struct Heuristic;

impl TokenCounter for Heuristic {
    fn name(&self) -> &'static str {
        "bytes3"
    }

    fn count(&self, text: &str) -> usize {
        text.len().div_ceil(3)
    }
}

/// The o200k tokenizer. The provider's own may count differently.
#[cfg(feature = "tiktoken")]
#[derive(Debug, Clone, Copy, Default)]
pub struct O200k;

#[cfg(feature = "tiktoken")]
impl TokenCounter for O200k {
    fn name(&self) -> &'static str {
        "o200k"
    }

    fn count(&self, text: &str) -> usize {
        // Names of special tokens inside of a text are text.
        tiktoken_rs::o200k_base_singleton()
            .encode_ordinary(text)
            .len()
    }
}
