//! The errors of a shell with their positions: byte offsets become lines and columns.

use hermitcrab_kernel::faces::ShellError;
use oxc::diagnostics::{LabeledSpan, OxcDiagnostic};

/// The largest number of errors that are reported at once.
const MAX_ERRORS: usize = 30;

/// The longest reported source line in characters; of a longer one, this many around the error.
const LINE: usize = 240;

/// The kind of an error, as a `ShellError` names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Syntax,
    Import,
    UndefinedName,
    AsyncComponent,
    NoCode,
    NoComponent,
    TooLarge,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Syntax => "syntax",
            Self::Import => "import",
            Self::UndefinedName => "undefined_name",
            Self::AsyncComponent => "async_component",
            Self::NoCode => "no_code",
            Self::NoComponent => "no_component",
            Self::TooLarge => "too_large",
        }
    }
}

/// One fault of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CompileError {
    pub kind: Kind,
    /// The start in bytes of the source; `None` without a position.
    pub at: Option<u32>,
    pub message: String,
}

impl CompileError {
    pub fn new(kind: Kind, at: u32, message: impl Into<String>) -> Self {
        Self {
            kind,
            at: Some(at),
            message: message.into(),
        }
    }

    pub fn without_position(kind: Kind, message: impl Into<String>) -> Self {
        Self {
            kind,
            at: None,
            message: message.into(),
        }
    }

    /// A fault of syntax as the parser tells it.
    pub fn syntax(diagnostic: &OxcDiagnostic) -> Self {
        // Of a name that is declared twice the second place is the wrong one; the parser labels it last.
        let label = diagnostic
            .labels
            .iter()
            .find(|label| label.primary())
            .or_else(|| {
                let twice = diagnostic.message.contains("already been declared");
                if twice {
                    diagnostic.labels.last()
                } else {
                    diagnostic.labels.first()
                }
            });
        let mut message = fragment(&diagnostic.message);
        if let Some(help) = &diagnostic.help {
            message = format!("{message}; {}", fragment(help));
        }
        Self {
            kind: Kind::Syntax,
            at: Some(label.map_or(0, LabeledSpan::offset)),
            message,
        }
    }
}

/// A sentence as a fragment: no capital at the start, no full stop at the end.
fn fragment(sentence: &str) -> String {
    let sentence = sentence.trim().trim_end_matches('.');
    let mut letters = sentence.chars();
    match letters.next() {
        Some(first) if !letters.clone().next().is_some_and(char::is_uppercase) => {
            first.to_lowercase().chain(letters).collect()
        }
        _ => sentence.to_owned(),
    }
}

/// The faults of a part of `text` that begins at byte `start`, in their order, for the one who wrote the text.
pub(super) fn to_shell_errors(
    mut faults: Vec<CompileError>,
    text: &str,
    start: usize,
    truncated: bool,
) -> Vec<ShellError> {
    faults.sort_by_key(|fault| fault.at);
    faults.dedup();
    faults.truncate(MAX_ERRORS);
    let lines = Lines::of(text);
    faults
        .into_iter()
        .map(|fault| {
            let place = fault.at.map(|at| lines.place(start + at as usize));
            ShellError {
                kind: fault.kind.name().to_owned(),
                message: fault.message,
                line: place.as_ref().map(|place| place.line),
                column: place.as_ref().map(|place| place.column),
                source_line: place.map(|place| place.text),
                truncated,
            }
        })
        .collect()
}

/// A place of a source for people, with its line.
pub(super) struct SourcePosition {
    pub line: u32,
    pub column: u32,
    text: String,
}

/// A text and where its lines begin.
pub(super) struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    pub fn of(text: &'t str) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = std::iter::once(0)
            .chain(breaks.map(|(at, _)| at + 1))
            .collect();
        Self { text, starts }
    }

    /// The line and column of a byte, from 1. Anything after the last letter of the text gets the position after it:
    /// an empty line at the end does not help.
    pub fn place(&self, at: usize) -> SourcePosition {
        let mut at = at.min(self.text.trim_end().len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        let line = self.starts.partition_point(|start| *start <= at);
        let start = self.starts.get(line - 1).copied().unwrap_or_default();
        let end = self.starts.get(line).copied().unwrap_or(self.text.len());
        let whole = self.text[start..end].trim_end_matches(['\r', '\n']);
        let before = self.text[start..at].chars().count();
        let skipped = if whole.chars().nth(LINE).is_some() {
            before.saturating_sub(LINE / 2)
        } else {
            0
        };
        SourcePosition {
            line: line as u32,
            column: before as u32 + 1,
            text: whole.chars().skip(skipped).take(LINE).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(text: &str, at: usize) -> (u32, u32, String) {
        let place = Lines::of(text).place(at);
        (place.line, place.column, place.text)
    }

    #[test]
    fn places_count_characters() {
        assert_eq!(place("a\nbc", 0), (1, 1, "a".to_owned()));
        assert_eq!(place("a\nbc", 2), (2, 1, "bc".to_owned()));
        assert_eq!(place("😀é!\r\nx", 6), (1, 3, "😀é!".to_owned()));
        assert_eq!(place("😀é!", 2), (1, 1, "😀é!".to_owned()));
        assert_eq!(place("ab\n\n\n", 5), (1, 3, "ab".to_owned()));
        assert_eq!(place("", 9), (1, 1, String::new()));
    }

    #[test]
    fn a_long_line_is_told_around_its_fault() {
        let text = format!("{}!{}", "a".repeat(1000), "b".repeat(1000));
        let (line, column, told) = place(&text, 1000);
        assert_eq!((line, column), (1, 1001));
        assert_eq!(told.chars().count(), LINE);
        assert!(told.contains("a!b"));
    }

    #[test]
    fn sentences_become_fragments() {
        assert_eq!(fragment("Unexpected token"), "unexpected token");
        assert_eq!(fragment("JSX is odd."), "JSX is odd");
    }
}
