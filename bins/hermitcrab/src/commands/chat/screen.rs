//! What the person sees of a turn: the words as they come, and the tools beside them.

use std::io::{self, Write};
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bin_support::{Failure, Session, escape};
use hermitcrab_kernel::{Event, EventSink};

use crate::answer::readable;

/// Dimmed text at a terminal.
const DIM: &str = "\u{1b}[2m";
const PLAIN: &str = "\u{1b}[0m";

/// A terminal gets words as they come; a pipe gets each answer whole, on lines of its own.
pub struct Screen {
    at_terminal: bool,
    /// What goes on beside the conversation is not shown.
    quiet: bool,
    seen: Arc<Mutex<ShownText>>,
}

/// The part of a turn that the person has seen already.
#[derive(Default)]
pub struct ShownText {
    /// Whether words were shown, and no line end after them.
    open: bool,
    /// The words of the model, without white space.
    words: String,
    /// The notices of the turn.
    notices: Vec<String>,
}

impl ShownText {
    /// The part of an answer that was not shown yet.
    fn rest<'a>(&self, answer: &'a str) -> &'a str {
        let words = without_space(answer);
        if self.words.contains(&words) {
            return "";
        }
        if !words.starts_with(&self.words) {
            return answer;
        }
        let letters = answer
            .char_indices()
            .filter(|(_, char)| !char.is_whitespace());
        let next = letters.map(|(at, _)| at).nth(self.words.chars().count());
        next.map_or("", |at| &answer[at..])
    }
}

fn without_space(text: &str) -> String {
    text.split_whitespace().collect()
}

fn lock(seen: &Mutex<ShownText>) -> MutexGuard<'_, ShownText> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Screen {
    pub fn new(at_terminal: bool, quiet: bool) -> Self {
        Self {
            at_terminal,
            quiet,
            seen: Arc::default(),
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
        let (at_terminal, seen) = (self.at_terminal, self.seen.clone());
        EventSink::new(move |event| {
            if !progress && is_progress(&event) {
                return;
            }
            // A terminal that went away is found out about by the answer that follows.
            let _ = show(&event, at_terminal, &mut lock(&seen));
        })
    }

    /// Shows an answer, and why the turn was `stopped`, as far as they were not shown as they came.
    pub fn answer(
        &self,
        text: &str,
        stopped: Option<&str>,
        session: &mut Session,
    ) -> Result<(), Failure> {
        let seen = self.end(session)?;
        let told = |line: &str| seen.notices.iter().any(|notice| notice == line);
        let rest = seen.rest(text.trim());
        let is_shown = self.at_terminal && told(rest);
        if !rest.is_empty() && !is_shown {
            writeln!(session.results, "{}", readable(rest))?;
            session.results.flush()?;
        }
        if let Some(line) = stopped.filter(|line| !told(line)) {
            session.warn(&escape(line));
        }
        Ok(())
    }

    /// Ends a turn and the line of words that is open; returns what was shown of it.
    pub fn end(&self, session: &mut Session) -> Result<ShownText, Failure> {
        let seen = mem::take(&mut *lock(&self.seen));
        if seen.open {
            writeln!(session.results)?;
            session.results.flush()?;
        }
        Ok(seen)
    }

    /// Sets a paragraph apart. In a pipe the streams do that.
    pub fn gap(&self, session: &Session) {
        if self.at_terminal {
            session.status("");
        }
    }

    /// Something beside the conversation.
    pub fn aside(&self, line: &str, session: &Session) {
        let line = escape(line);
        if self.at_terminal {
            session.status(&format!("{DIM}{line}{PLAIN}"));
        } else {
            session.status(&line);
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

fn show(event: &Event, at_terminal: bool, seen: &mut ShownText) -> io::Result<()> {
    let mut aside = |line: String| {
        if mem::take(&mut seen.open) {
            writeln!(io::stdout())?;
        }
        let line = escape(&line);
        if at_terminal {
            writeln!(io::stderr(), "{DIM}{line}{PLAIN}")
        } else {
            writeln!(io::stderr(), "{line}")
        }
    };
    match event {
        Event::Delta { text } if at_terminal => {
            seen.words.push_str(&without_space(text));
            seen.open = true;
            let mut out = io::stdout().lock();
            out.write_all(readable(text).as_bytes())?;
            out.flush()
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
        Event::Notice { text } => {
            aside(text.clone())?;
            seen.notices.push(text.clone());
            Ok(())
        }
        _ => Ok(()),
    }
}
