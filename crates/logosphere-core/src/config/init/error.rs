//! The errors and warnings of an `init.md`.

use super::fix::InitFix;

/// A warning about content that is accepted but may not be intended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum InitWarning {
    /// Text after the signature, which is not used.
    TextAfterSignature {
        /// The line of its start, from 1.
        line: usize,
        /// The start of the text, at most 40 characters.
        start: String,
    },
    /// Seed messages with the same text; each is a separate message.
    EqualSeeds {
        /// The first two of them, counted from 1.
        pair: [usize; 2],
        /// The number of seed messages that are equal to an earlier one.
        repeats: usize,
    },
    /// There are more seed messages than the active pool holds, so the oldest are never sampled.
    MoreSeedsThanActive {
        /// The number of seed messages.
        seeds: usize,
        /// The size of the active pool.
        active: usize,
    },
}

impl std::fmt::Display for InitWarning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TextAfterSignature { line, start } => {
                write!(
                    f,
                    "the text after the signature, at line {line}, is not used: {start:?}"
                )
            }
            Self::EqualSeeds { pair, repeats } => {
                let [first, second] = pair;
                write!(f, "seeds {first} and {second} are equal")?;
                match repeats - 1 {
                    0 => Ok(()),
                    1 => write!(f, ", and one more repeats an earlier one"),
                    more => write!(f, ", and {more} more repeat an earlier one"),
                }
            }
            Self::MoreSeedsThanActive { seeds, active } => write!(
                f,
                "{seeds} seeds, but only the newest {active} messages can be sampled: the oldest {} never are",
                seeds - active
            ),
        }
    }
}

/// The error of a file that is not an `init.md`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InitError {
    /// The file begins with the byte order mark of another encoding.
    #[error("the file is {encoding}; save it as UTF-8")]
    Encoding {
        /// The encoding, such as `UTF-16 (little-endian)`.
        encoding: &'static str,
    },
    /// The file is not UTF-8.
    #[error("byte {offset} (from 0), in line {line}, is not UTF-8; save the file as UTF-8")]
    InvalidUtf8 {
        /// The index of the first invalid byte, from 0.
        offset: usize,
        /// The line of that byte, from 1.
        line: usize,
    },
    /// The file has no delimiter line, so all of it is notes.
    #[error("there is no line `---` before the first message, so the whole file is notes; {fix}")]
    NoDelimiter {
        /// The lines to add.
        fix: InitFix,
    },
    /// The list of messages has no end.
    #[error("no blank message ends the seeds; {fix}")]
    NoEnd {
        /// The lines to add.
        fix: InitFix,
    },
    /// The end is not followed by a signature.
    #[error(
        "there is no signature after the blank message that ends the seeds at line {line}; {fix}"
    )]
    NoSignature {
        /// The line `---` that closes the blank message, from 1.
        line: usize,
        /// The lines to add.
        fix: InitFix,
    },
    /// The file has another signature.
    #[error("the signature in line {line} is {found:?}, and the run's is {expected:?}; {fix}")]
    OtherSignature {
        /// The signature that the run expects.
        expected: String,
        /// The signature in the file.
        found: String,
        /// The line of the signature, from 1.
        line: usize,
        /// The line to write instead.
        fix: InitFix,
    },
    /// A seed message and its signature would be read as two messages.
    #[error(
        "seed {seed} would hold a delimiter line once it is signed; remove the carriage returns from its last line"
    )]
    Delimiter {
        /// The number of the seed message, from 1.
        seed: usize,
    },
    /// The file contains no messages.
    #[error(
        "there are no seeds; write a message between two lines `---` before the blank one, or set allow_zero_seeds"
    )]
    ZeroSeeds,
}

impl InitError {
    /// Returns the lines that make the file readable; `None` if lines cannot.
    pub fn fix(&self) -> Option<&InitFix> {
        match self {
            Self::NoDelimiter { fix }
            | Self::NoEnd { fix }
            | Self::NoSignature { fix, .. }
            | Self::OtherSignature { fix, .. } => Some(fix),
            _ => None,
        }
    }
}
