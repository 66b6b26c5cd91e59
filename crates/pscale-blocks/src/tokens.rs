/// Counts the tokens of a text.
pub trait TokenCounter: Send + Sync {
    /// The name of the method, for reports.
    fn name(&self) -> &str;

    /// Tokens of `text`.
    fn count(&self, text: &str) -> usize;
}

/// A guess that needs no tables: a third of the bytes, rounded up. More than o200k counts for most texts.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::exhaustive_structs, reason = "a counter without settings")]
pub struct Heuristic;

impl TokenCounter for Heuristic {
    fn name(&self) -> &'static str {
        "bytes3"
    }

    fn count(&self, text: &str) -> usize {
        text.len().div_ceil(3)
    }
}

/// The most bytes that are handed to the tokenizer at once.
#[cfg(feature = "tiktoken")]
const PIECE: usize = 32 << 10;

/// The o200k tokenizer. The provider's own may count differently.
#[cfg(feature = "tiktoken")]
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::exhaustive_structs, reason = "a counter without settings")]
pub struct O200k;

#[cfg(feature = "tiktoken")]
impl TokenCounter for O200k {
    fn name(&self) -> &'static str {
        "o200k"
    }

    fn count(&self, text: &str) -> usize {
        let tokenizer = tiktoken_rs::o200k_base_singleton();
        let mut left = text;
        let mut tokens = 0;
        // Its pattern runs out of stack in a long run of blanks, so it never gets more than a piece.
        while !left.is_empty() {
            let (piece, rest) = left.split_at(left.floor_char_boundary(PIECE));
            // Names of special tokens inside of a text are text.
            tokens += tokenizer.encode_ordinary(piece).len();
            left = rest;
        }
        tokens
    }
}

#[cfg(all(test, feature = "tiktoken"))]
mod tests {
    use super::*;

    #[test]
    fn long_runs_of_one_kind_are_counted() {
        for run in [
            " ", "\n", "\r\n", "\t", " \n", "a", "1", "-", "\u{3000}", "é", "漢", "'s", "A",
        ] {
            for size in [1_000_usize, 10_000, 100_000, 1_000_000] {
                let text = format!("x{}y", run.repeat(size / run.len()));
                assert!(O200k.count(&text) > 0, "{run:?} {size}");
            }
        }
    }
}
