//! How an answer is read: thinking, messages, the end, a signature.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// Which rules an answer is read by.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
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
    /// Whether it was ended.
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
    /// Each block behind a delimiter line up to the end, sent or lost, in order.
    pub blocks: Vec<Range<usize>>,
    /// The signature.
    pub signature: Option<Range<usize>>,
    /// Everything behind the delimiter line that ends the answer.
    pub rest: Option<Range<usize>>,
}

/// Reads an answer. It never fails: what cannot be read as messages is lost, with the reason.
pub fn parse(raw: &str, mode: ParseMode) -> Parsed {
    parse_signed(raw, mode, "~init")
}

/// As [`parse`], in a run whose seeds are signed with `init_signature`.
pub fn parse_signed(raw: &str, mode: ParseMode, init_signature: &str) -> Parsed {
    let _ = (raw, mode, init_signature);
    unimplemented!()
}

/// Whether a text has a line that is a delimiter by these rules.
pub(crate) fn holds_delimiter(text: &str, mode: ParseMode) -> bool {
    text.split('\n').any(|line| match mode {
        ParseMode::Lenient => line.trim_end_matches([' ', '\t', '\r']) == "---",
        ParseMode::Strict => line.strip_suffix('\r').unwrap_or(line) == "---",
        ParseMode::Legacy => false,
    })
}

/// Whether there is nothing but white space in a text.
pub(crate) fn is_blank(text: &str) -> bool {
    text.chars()
        .all(|char| char.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&char))
}
