//! An answer, read: its parts, its end, what became of it, and what is remarkable about it.

use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};

/// Which rules an answer is read by.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "snake_case")]
pub enum ParseMode {
    /// Forgives spaces behind a delimiter and a missing last one, and takes signatures.
    #[default]
    Lenient,
    /// The requirement, word for word.
    Strict,
    /// The program of 2026-01-02; for its journals only.
    Legacy,
}

/// How an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// A blank block between two delimiter lines.
    BlankBlock,
    /// Two delimiter lines with no line between them.
    Adjacent,
    /// A last delimiter line with nothing behind it.
    Lenient,
    /// It did not.
    None,
}

/// What became of an answer; exactly one for each call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Messages were sent.
    Ok,
    /// It was ended properly and holds no message.
    Silence,
    /// There is no text.
    EmptyOutput,
    /// There is no delimiter line.
    NoDelimiter,
    /// No blank block ends it.
    Unterminated,
    /// As the last two, and the token limit was hit.
    Truncated,
    /// It was signed as the seeds are, and the run discards such answers.
    Impersonation,
    /// There is no answer.
    CallFailed,
    /// In the protocol meter only: [`Reason::Silence`] of an answer with text after its end.
    SilenceWithText,
    /// In the protocol meter only: a lost answer that the model refused or a filter stopped.
    Refusal,
}

impl Reason {
    /// Whether nothing of an answer was sent because of its form.
    pub fn is_loss(self) -> bool {
        !matches!(self, Self::Ok | Self::Silence | Self::CallFailed)
    }
}

impl fmt::Display for Reason {
    /// As it is written in a journal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// What is remarkable about an answer. In the order of their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Note {
    /// An unsigned text whose last line is the init signature.
    ImitatesSeedStamp,
    /// The signature is that of the seeds.
    ImpersonatesInit,
    /// A message of invisible characters alone.
    InvisibleMessage,
    /// The end is [`End::Lenient`].
    LenientEnd,
    /// A line that may have been meant as a delimiter.
    NearDelimiter,
    /// A message holds `<think>` or `</think>`.
    ReasoningTag,
    /// Text behind the end that is no signature.
    TextAfterEnd,
    /// A delimiter line with white space behind it.
    ToleratedDelimiter,
}

/// An answer, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parsed {
    /// What stands before the first delimiter line.
    pub thinking: String,
    /// What is sent, signatures appended.
    pub messages: Vec<String>,
    /// The signature, or nothing.
    pub signature: String,
    /// Whether the block has its closing delimiter.
    pub completed: bool,
    /// How.
    pub end: End,
    /// What became of it.
    pub reason: Reason,
    /// What is remarkable about it, sorted.
    pub notes: Vec<Note>,
    /// Non-blank blocks behind the first delimiter line that are not sent; the whole text is one if it has no delimiter.
    pub lost_blocks: u64,
    /// Their characters (code points).
    pub lost_chars: u64,
    /// Where the parts stand in the answer.
    pub spans: Spans,
}

/// Byte ranges of the parts of an answer. What none of them covers is delimiters and line ends.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Spans {
    /// The thinking.
    pub thinking: Range<usize>,
    /// Each block behind a delimiter line up to the end, in order: the messages, then the blank one that ends the
    /// answer if there is a line in it; without an end all of them, the open one included.
    pub blocks: Vec<Range<usize>>,
    /// The signature.
    pub signature: Option<Range<usize>>,
    /// Everything behind the delimiter line that ends the answer.
    pub rest: Option<Range<usize>>,
}

impl Parsed {
    /// As it is read if the answer was cut at the token limit: an end that is missing has that reason.
    #[must_use]
    pub fn truncated(mut self) -> Self {
        if matches!(self.reason, Reason::NoDelimiter | Reason::Unterminated) {
            self.reason = Reason::Truncated;
        }
        self
    }

    /// As it is read in a run that discards what is signed as the seeds are: nothing is sent, and all else stays. An
    /// answer that is not signed so stays as it is.
    #[must_use]
    pub fn discard_impersonation(mut self) -> Self {
        if self.notes.contains(&Note::ImpersonatesInit) {
            let stamp = 2 + self.signature.chars().count();
            let chars = |message: String| (message.chars().count() - stamp) as u64;
            self.reason = Reason::Impersonation;
            self.lost_blocks = self.messages.len() as u64;
            self.lost_chars = self.messages.drain(..).map(chars).sum();
        }
        self
    }
}

/// Whether a character is white space to everybody who reads messages.
pub(crate) fn is_blank_char(char: char) -> bool {
    char.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&char)
}

/// Whether there is nothing but white space in a text.
pub(crate) fn is_blank(text: &str) -> bool {
    text.chars().all(is_blank_char)
}

/// A range of a text without the white space at its ends.
pub(crate) fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let whole = &text[range.clone()];
    let cut = whole.trim_start_matches(is_blank_char);
    let start = range.end - cut.len();
    start..start + cut.trim_end_matches(is_blank_char).len()
}

/// How many of the blocks are not blank, and how many characters these have. Without a delimiter line there are no
/// blocks and the whole text counts as one.
pub(super) fn lost(raw: &str, blocks: Option<&[Range<usize>]>) -> (u64, u64) {
    let whole = 0..raw.len();
    let blocks = blocks.unwrap_or(std::slice::from_ref(&whole)).iter();
    let texts = blocks.map(|block| &raw[block.clone()]);
    let lost = texts.filter(|text| !is_blank(text));
    lost.fold((0, 0), |(blocks, chars), text| {
        (blocks + 1, chars + text.chars().count() as u64)
    })
}
