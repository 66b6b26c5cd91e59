//! A parsed answer: its parts, its end, its outcome and its deviations from the format.

use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};

/// The rules that an answer is parsed by.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "snake_case")]
#[expect(clippy::exhaustive_enums, reason = "a parser has these modes")]
pub enum ParseMode {
    /// Accepts spaces after a delimiter and a missing last delimiter, and recognizes signatures.
    #[default]
    Lenient,
    /// Accepts exactly the format of the requirement.
    Strict,
}

/// The form of the end of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum End {
    /// A blank block between two delimiter lines.
    BlankBlock,
    /// Two delimiter lines with no line between them.
    Adjacent,
    /// A last delimiter line with nothing after it.
    Lenient,
    /// No end.
    None,
}

/// The outcome of an answer; each call has exactly one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reason {
    /// Messages were sent.
    Ok,
    /// The answer has a proper end and no message.
    Silence,
    /// The answer is empty.
    EmptyOutput,
    /// The answer has no delimiter line.
    NoDelimiter,
    /// The answer has no blank block at its end.
    Unterminated,
    /// The answer has no delimiter line or no end because it reached the token limit.
    Truncated,
    /// The answer bears the signature of the seed messages, and the run discards such answers.
    Impersonation,
    /// The call failed.
    CallFailed,
    /// In the protocol meter only: [`Reason::Silence`] of an answer with text after its end or with messages over the cap.
    SilenceWithText,
    /// In the protocol meter only: a lost answer that the model refused or a filter stopped.
    Refusal,
}

impl Reason {
    /// Returns whether nothing of the answer was sent because of its form.
    pub fn is_loss(self) -> bool {
        !matches!(self, Self::Ok | Self::Silence | Self::CallFailed)
    }
}

impl fmt::Display for Reason {
    /// Writes the word of a journal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// A deviation of an answer from the format. The order is that of the names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Note {
    /// The answer is unsigned and the last line of a message is the signature of the seed messages.
    ImitatesSeedStamp,
    /// The signature is that of the seed messages.
    ImpersonatesInit,
    /// A message contains invisible characters only.
    InvisibleMessage,
    /// The end is [`End::Lenient`].
    LenientEnd,
    /// A line resembles a delimiter.
    NearDelimiter,
    /// A message contains `<think>` or `</think>`.
    ReasoningTag,
    /// Text that is not a signature follows the end.
    TextAfterEnd,
    /// A delimiter line ends with white space.
    ToleratedDelimiter,
    /// In a run only: the answer has more messages than its cap, and the last ones are not sent.
    TooManyMessages,
}

/// A parsed answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Parsed {
    /// The text before the first delimiter line.
    pub thinking: String,
    /// The messages to send, each with the signature.
    pub messages: Vec<String>,
    /// The signature; empty if there is none.
    pub signature: String,
    /// Whether the block has its closing delimiter.
    pub completed: bool,
    /// The form of the end.
    pub end: End,
    /// The outcome.
    pub reason: Reason,
    /// Deviations from the format, sorted by name.
    pub notes: Vec<Note>,
    /// Non-blank blocks after the first delimiter line that are not sent. An answer without a delimiter is one block.
    pub lost_blocks: u64,
    /// The characters of these blocks, as code points.
    pub lost_chars: u64,
    /// The byte ranges of the parts of the answer.
    pub spans: Spans,
}

/// Byte ranges of the parts of an answer. The rest is delimiters and line ends.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Spans {
    /// The thinking.
    pub thinking: Range<usize>,
    /// Each block after a delimiter line up to the end, in order: the messages, then the blank block. Without an end
    /// all blocks are listed, also the open one.
    pub blocks: Vec<Range<usize>>,
    /// The signature.
    pub signature: Option<Range<usize>>,
    /// The text after the delimiter line that ends the answer.
    pub rest: Option<Range<usize>>,
}

impl Parsed {
    /// Returns the result for an answer that was cut at the token limit: a missing end then has that reason.
    #[must_use]
    pub fn truncated(mut self) -> Self {
        if matches!(self.reason, Reason::NoDelimiter | Reason::Unterminated) {
            self.reason = Reason::Truncated;
        }
        self
    }

    /// Returns the result in a run that discards answers with the signature of the seed messages: no message is sent.
    ///
    /// An answer without this signature stays unchanged.
    #[must_use]
    pub fn discard_impersonation(mut self) -> Self {
        if self.notes.contains(&Note::ImpersonatesInit) {
            self.reason = Reason::Impersonation;
            self.lost_blocks = self.messages.len() as u64;
            let chars = (self.messages.iter()).map(|message| self.chars_of(message));
            self.lost_chars = chars.sum();
            self.messages.clear();
        }
        self
    }

    /// Returns the characters of a message without the signature below it, as code points.
    pub(super) fn chars_of(&self, message: &str) -> u64 {
        let appended = match self.signature.chars().count() {
            0 => 0,
            signature => 2 + signature,
        };
        (message.chars().count() - appended) as u64
    }
}

/// Returns whether a character is white space to every program that reads messages.
pub(crate) fn is_blank_char(char: char) -> bool {
    char.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&char)
}

/// Returns whether a text contains white space only.
pub(crate) fn is_blank(text: &str) -> bool {
    text.chars().all(is_blank_char)
}

/// Returns a range of a text without the white space at its ends.
pub(crate) fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let whole = &text[range.clone()];
    let cut = whole.trim_start_matches(is_blank_char);
    let start = range.end - cut.len();
    start..start + cut.trim_end_matches(is_blank_char).len()
}

/// Counts the blocks that are not blank, and their characters. `None` counts the whole text as one block.
pub(crate) fn lost(raw: &str, blocks: Option<&[Range<usize>]>) -> (u64, u64) {
    let whole = 0..raw.len();
    let blocks = blocks.unwrap_or(std::slice::from_ref(&whole)).iter();
    let texts = blocks.map(|block| &raw[block.clone()]);
    let lost = texts.filter(|text| !is_blank(text));
    lost.fold((0, 0), |(blocks, chars), text| {
        (blocks + 1, chars + text.chars().count() as u64)
    })
}
