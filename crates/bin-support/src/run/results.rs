use std::fmt;
use std::io::{self, BufWriter, ErrorKind, IsTerminal as _, Write};

use serde::Serialize;

use super::paint::{Paint, Tone, width};
use crate::escape;

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

    /// The writer for text of others, such as the messages of a run as CSV or JSON: on a terminal it cannot move the cursor,
    /// reorder a line or hide in it. A file or a pipe gets the bytes unchanged. A flush writes what waits for the rest of its
    /// character or line end.
    pub fn untrusted(&mut self) -> impl Write + '_ {
        UntrustedResults {
            results: self,
            part: Vec::new(),
        }
    }

    /// Prints a value as JSON of several lines; see [`Results::untrusted`].
    ///
    /// # Errors
    /// A value without a form in JSON, and the error of stdout.
    pub fn json(&mut self, value: &impl Serialize) -> io::Result<()> {
        serde_json::to_writer_pretty(self.untrusted(), value)?;
        writeln!(self)
    }

    /// Prints a value as JSON of one line; see [`Results::untrusted`].
    ///
    /// # Errors
    /// As [`Results::json`].
    pub fn json_line(&mut self, value: &impl Serialize) -> io::Result<()> {
        serde_json::to_writer(self.untrusted(), value)?;
        writeln!(self)
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

/// Results that are text of others; see [`Results::untrusted`].
struct UntrustedResults<'a> {
    results: &'a mut Results,
    /// The bytes that wait for the rest of their character or line end.
    part: Vec<u8>,
}

impl Write for UntrustedResults<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.results.terminal {
            return self.results.write(bytes);
        }
        self.part.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.part) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => self.part.len() - usize::from(self.part.ends_with(b"\r")),
        };
        self.show(whole)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.show(self.part.len())?;
        self.results.flush()
    }
}

impl UntrustedResults<'_> {
    /// Writes this number of the bytes that wait.
    fn show(&mut self, count: usize) -> io::Result<()> {
        let whole: Vec<u8> = self.part.drain(..count).collect();
        for line in String::from_utf8_lossy(&whole).split_inclusive('\n') {
            let end = line.trim_end_matches('\n').trim_end_matches('\r').len();
            let (text, end) = line.split_at(if line.ends_with('\n') {
                end
            } else {
                line.len()
            });
            let cells: Vec<String> = text.split('\t').map(escape).collect();
            write!(self.results, "{}{end}", cells.join("\t"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;
    use crate::{Output, Session};

    struct Sent(mpsc::Sender<Vec<u8>>);

    impl Write for Sent {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.send(bytes.to_owned()).map_err(io::Error::other)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn json_cannot_steer_a_terminal() {
        let value = serde_json::json!({"a": "\u{1b}\u{9b}2J\u{202e}"});
        for (terminal, hostile) in [(true, "\\u{9b}2J\\u{202e}"), (false, "\u{9b}2J\u{202e}")] {
            let (sender, sent) = mpsc::channel();
            let mut results = Results::new(Sent(sender));
            results.terminal = terminal;
            results.json(&value).unwrap();
            results.json_line(&value).unwrap();
            let bytes: Vec<u8> = sent.try_iter().flatten().collect();
            let line = format!("{{\"a\":\"\\u001b{hostile}\"}}\n");
            let lines = format!("{{\n  \"a\": \"\\u001b{hostile}\"\n}}\n");
            assert_eq!(String::from_utf8(bytes).unwrap(), lines + &line);
        }
    }

    #[test]
    fn text_of_others_cannot_steer_a_terminal_however_it_is_cut() {
        let hostile = "id,text\r\n1,\u{1b}[2Jé\u{9b}2J\t\u{202e}\ra\r\n";
        let safe = "id,text\r\n1,\\u{1b}[2Jé\\u{9b}2J\t\\u{202e}\\ra\r\n";
        for (terminal, expected) in [(true, safe), (false, hostile)] {
            for size in 1..hostile.len() {
                let (sender, sent) = mpsc::channel();
                let mut results = Results::new(Sent(sender));
                results.terminal = terminal;
                let mut out = results.untrusted();
                for bytes in hostile.as_bytes().chunks(size) {
                    out.write_all(bytes).unwrap();
                }
                let bytes: Vec<u8> = sent.try_iter().flatten().collect();
                assert_eq!(String::from_utf8(bytes).unwrap(), expected, "{size}");
            }
        }
    }

    #[test]
    fn the_rest_of_a_text_is_written_at_its_end() {
        for (terminal, expected) in [(true, &b"a\\r\xef\xbf\xbdb\\r"[..]), (false, b"a\r\xc3b\r")] {
            let (sender, sent) = mpsc::channel();
            let mut session = Session::for_tests();
            session.results = Results::new(Sent(sender));
            session.results.terminal = terminal;
            let mut out = session.results.untrusted();
            out.write_all(b"a\r").unwrap();
            out.flush().unwrap();
            out.write_all(b"\xc3").unwrap();
            out.flush().unwrap();
            out.flush().unwrap();
            drop(out);
            let mut output = Output::Stdout;
            output.append(&mut session, b"b").unwrap();
            output
                .finish(&mut session, |out| out.write_all(b"\r"))
                .unwrap();
            let bytes: Vec<u8> = sent.try_iter().flatten().collect();
            assert_eq!(bytes, expected);
        }
    }
}
