//! What the person sees of a turn: the words as they come, and the tools beside them.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bin_support::{Failure, Session, printable};
use hermitcrab_kernel::{Event, EventSink};

/// Dimmed text at a terminal.
const DIM: &str = "\u{1b}[2m";
const PLAIN: &str = "\u{1b}[0m";

/// A terminal gets words as they come; a pipe gets each answer whole, on lines of its own.
pub struct Screen {
    at_terminal: bool,
    /// What goes on beside the conversation is not shown.
    quiet: bool,
    /// Words were shown and no line end since.
    open: Arc<AtomicBool>,
}

impl Screen {
    pub fn new(at_terminal: bool, quiet: bool) -> Self {
        Self {
            at_terminal,
            quiet,
            open: Arc::default(),
        }
    }

    /// Shows events of a turn.
    pub fn sink(&self) -> EventSink {
        self.sink_with(!self.quiet)
    }

    /// Shows events of the start, its tools only if the person wants to see them.
    pub fn sink_of_boot(&self, verbose: bool) -> EventSink {
        self.sink_with(verbose && !self.quiet)
    }

    fn sink_with(&self, progress: bool) -> EventSink {
        let (at_terminal, open) = (self.at_terminal, self.open.clone());
        EventSink::new(move |event| {
            if !progress && is_progress(&event) {
                return;
            }
            // A terminal that went away is found out about by the answer that follows.
            let _ = show(&event, at_terminal, &open);
        })
    }

    /// Shows an answer, as far as it was not shown when it came.
    pub fn answer(&self, text: &str, session: &mut Session) -> Result<(), Failure> {
        if self.open.swap(false, Ordering::SeqCst) {
            writeln!(session.results)?;
        } else if !text.trim().is_empty() {
            writeln!(session.results, "{}", readable(text.trim()))?;
        }
        session.results.flush()?;
        Ok(())
    }

    /// Ends a line of words that will not go on.
    pub fn end(&self, session: &mut Session) -> Result<(), Failure> {
        if self.open.swap(false, Ordering::SeqCst) {
            writeln!(session.results)?;
            session.results.flush()?;
        }
        Ok(())
    }

    /// Sets a paragraph apart. In a pipe the streams do that.
    pub fn gap(&self, session: &Session) {
        if self.at_terminal {
            session.say("");
        }
    }

    /// Something beside the conversation.
    pub fn aside(&self, line: &str, session: &Session) {
        let line = printable(line);
        if self.at_terminal {
            session.say(&format!("{DIM}{line}{PLAIN}"));
        } else {
            session.say(&line);
        }
    }
}

/// Whether an event only says how far the work is.
fn is_progress(event: &Event) -> bool {
    matches!(
        event,
        Event::ToolStart { .. } | Event::ToolEnd { .. } | Event::ShellShown { .. }
    )
}

fn show(event: &Event, at_terminal: bool, open: &AtomicBool) -> io::Result<()> {
    let aside = |line: String| {
        if open.swap(false, Ordering::SeqCst) {
            writeln!(io::stdout())?;
        }
        let line = printable(&line);
        if at_terminal {
            writeln!(io::stderr(), "{DIM}{line}{PLAIN}")
        } else {
            writeln!(io::stderr(), "{line}")
        }
    };
    match event {
        Event::Delta { text } if at_terminal => {
            let mut out = io::stdout().lock();
            out.write_all(readable(text).as_bytes())?;
            out.flush()?;
            open.store(true, Ordering::SeqCst);
            Ok(())
        }
        Event::ToolStart { name, summary } => {
            aside(format!("  {name} {summary}").trim_end().to_owned())
        }
        Event::ToolEnd {
            name,
            is_error: true,
            ..
        } => aside(format!("  {name} failed")),
        Event::ModelChanged { from, to, why } => {
            aside(format!("  {to} answers now, not {from}: {why}"))
        }
        Event::ShellShown { rev } => aside(format!("  face {rev} is kept")),
        Event::ShellFailed { message, .. } => {
            aside(format!("  the face did not compile: {message}"))
        }
        Event::Notice { text } => aside(text.clone()),
        _ => Ok(()),
    }
}

/// `text` with its line ends, and no other control character: a model must not move the cursor.
pub fn readable(text: &str) -> String {
    let lines = text.split('\n').map(printable);
    lines.collect::<Vec<_>>().join("\n")
}
