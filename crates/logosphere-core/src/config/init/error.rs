//! What can be wrong with an `init.md`.

use super::fix::InitFix;

/// What is accepted but may not be meant.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum InitWarning {
    /// Text behind the signature, which nobody reads.
    TextAfterSignature {
        /// The line it begins at, from 1.
        line: usize,
        /// How it begins, 40 characters at most.
        start: String,
    },
    /// Seeds with the same text; each is a message of its own.
    EqualSeeds {
        /// The first two of them, counted from 1.
        pair: [usize; 2],
        /// How many seeds are equal to an earlier one.
        repeats: usize,
    },
    /// More seeds than minds can see: the oldest are never sampled.
    MoreSeedsThanActive {
        /// Seeds.
        seeds: usize,
        /// Messages that can be seen.
        active: usize,
    },
}

impl std::fmt::Display for InitWarning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TextAfterSignature { line, start } => {
                write!(
                    f,
                    "the text behind the signature, at line {line}, is not used: {start:?}"
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

/// Why a file is no `init.md`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InitError {
    /// It begins with the mark of another encoding.
    #[error("the file is {encoding}; save it as UTF-8")]
    Encoding {
        /// Which, such as `UTF-16 (little-endian)`.
        encoding: &'static str,
    },
    /// It is not UTF-8.
    #[error("byte {offset} (from 0), in line {line}, is not UTF-8; save the file as UTF-8")]
    InvalidUtf8 {
        /// The first wrong byte, from 0.
        offset: usize,
        /// Its line, from 1.
        line: usize,
    },
    /// All of it is notes.
    #[error("no line `---` stands before the first message, so the whole file is notes; {fix}")]
    NoDelimiter {
        /// What to add.
        fix: InitFix,
    },
    /// The list of messages has no end.
    #[error("no blank message ends the seeds; {fix}")]
    NoEnd {
        /// What to add.
        fix: InitFix,
    },
    /// Nothing that can be a signature stands behind the end.
    #[error(
        "no signature stands behind the blank message that ends the seeds at line {line}; {fix}"
    )]
    NoSignature {
        /// The line `---` that closes the blank message, from 1.
        line: usize,
        /// What to add.
        fix: InitFix,
    },
    /// It is signed otherwise.
    #[error("the signature in line {line} is {found:?}, and the run's is {expected:?}; {fix}")]
    OtherSignature {
        /// The signature that the run expects.
        expected: String,
        /// The one that is there.
        found: String,
        /// Its line, from 1.
        line: usize,
        /// What to write instead.
        fix: InitFix,
    },
    /// A seed and its stamp would be read as two messages.
    #[error(
        "seed {seed} would hold a delimiter line once it is signed; remove the carriage returns from its last line"
    )]
    Delimiter {
        /// Which, from 1.
        seed: usize,
    },
    /// There are no messages.
    #[error(
        "there are no seeds; write a message between two lines `---` before the blank one, or set allow_zero_seeds"
    )]
    ZeroSeeds,
}

impl InitError {
    /// What makes the file readable, if lines can.
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
