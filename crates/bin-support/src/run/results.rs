use std::fmt;
use std::io::{self, BufWriter, ErrorKind, IsTerminal as _, Write};

use super::paint::{Paint, Tone, width};

/// The stdout of the program, for results only. [`run`](crate::run) flushes it at the end.
pub struct Results {
    out: Box<dyn Write + Send>,
    reader_left: bool,
    terminal: bool,
    paint: Paint,
}

impl Results {
    #[expect(
        clippy::disallowed_methods,
        reason = "this crate is where the binaries' stdout is opened"
    )]
    pub(crate) fn stdout() -> Self {
        let stdout = io::stdout();
        let paint = Paint::of(&stdout);
        let terminal = stdout.is_terminal();
        let results = if terminal {
            Self::new(stdout)
        } else {
            Self::new(BufWriter::new(stdout))
        };
        Self {
            terminal,
            paint,
            ..results
        }
    }

    pub(crate) fn new(out: impl Write + Send + 'static) -> Self {
        Self {
            out: Box::new(out),
            reader_left: false,
            terminal: false,
            paint: Paint::plain(),
        }
    }

    /// Whether stdout is a terminal: lines for a person are shortened, a file or a program gets them whole.
    pub fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// The number of columns of the terminal; `None` for a file or a pipe, whose lines have no limit.
    pub fn width(&self) -> Option<usize> {
        self.terminal.then(width)
    }

    /// The text in the colour of its tone, or unchanged where colours are off.
    pub fn paint(&self, tone: Tone, text: &str) -> String {
        self.paint.tone(tone, text)
    }

    /// Whether colours are on.
    pub(crate) fn has_colour(&self) -> bool {
        self.paint.is_on()
    }

    /// Whether a write found the pipe closed, which is not a failure of the program.
    pub(crate) fn reader_left(&self) -> bool {
        self.reader_left
    }

    fn watch<T>(&mut self, outcome: io::Result<T>) -> io::Result<T> {
        if let Err(error) = &outcome {
            self.reader_left |= error.kind() == ErrorKind::BrokenPipe;
        }
        outcome
    }
}

impl Write for Results {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let outcome = self.out.write(bytes);
        self.watch(outcome)
    }

    fn flush(&mut self) -> io::Result<()> {
        let outcome = self.out.flush();
        self.watch(outcome)
    }
}

impl fmt::Debug for Results {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Results")
            .field("reader_left", &self.reader_left)
            .finish_non_exhaustive()
    }
}
