//! Colours of words on a terminal, and its width.

use anstream::stream::RawStream;
use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};

/// The width of a terminal that does not report one, in columns.
const USUAL_WIDTH: usize = 80;

/// The meaning of a word, which a colour repeats: the word itself says it, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tone {
    /// Good, such as PASS: green.
    Good,
    /// Bad, such as FAIL or an error: red.
    Bad,
    /// Undecided or a warning: yellow.
    Unsure,
    /// A heading: bold.
    Strong,
}

/// The choice of colours for a stream.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paint {
    on: bool,
}

impl Paint {
    /// Decides by `--color`, `NO_COLOR`, `CLICOLOR_FORCE` and whether the stream is a terminal.
    pub(crate) fn of(stream: &impl RawStream) -> Self {
        Self {
            on: AutoStream::choice(stream) != ColorChoice::Never,
        }
    }

    pub(crate) fn plain() -> Self {
        Self { on: false }
    }

    pub(crate) fn is_on(self) -> bool {
        self.on
    }

    pub(crate) fn tone(self, tone: Tone, text: &str) -> String {
        if !self.on {
            return text.to_owned();
        }
        let style = match tone {
            Tone::Good => AnsiColor::Green.on_default(),
            Tone::Bad => AnsiColor::Red.on_default(),
            Tone::Unsure => AnsiColor::Yellow.on_default(),
            Tone::Strong => Style::new().bold(),
        };
        format!("{style}{text}{style:#}")
    }
}

/// Returns the number of columns of the terminal.
pub(crate) fn width() -> usize {
    match terminal_size::terminal_size() {
        Some((terminal_size::Width(columns), _)) if columns > 0 => columns.into(),
        _ => USUAL_WIDTH,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_colour_ends_after_its_word() {
        let paint = Paint { on: true };
        assert_eq!(paint.tone(Tone::Good, "PASS"), "\u{1b}[32mPASS\u{1b}[0m");
        assert_eq!(paint.tone(Tone::Strong, "law"), "\u{1b}[1mlaw\u{1b}[0m");
        assert_eq!(Paint::plain().tone(Tone::Bad, "FAIL"), "FAIL");
    }
}
