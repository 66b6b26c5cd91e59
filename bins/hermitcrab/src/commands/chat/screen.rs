//! The output of a turn: the words of the model as they arrive, and notes about its tools.

use std::io::{self, Write};
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bin_support::{Failure, Session, escape};
use hermitcrab_kernel::{Event, EventSink};

use crate::answer::readable;

/// The start of dimmed text at a terminal.
const DIM: &str = "\u{1b}[2m";
const PLAIN: &str = "\u{1b}[0m";

/// The output of a conversation. A terminal shows words as they arrive; a pipe receives each answer whole.
pub struct Screen {
    at_terminal: bool,
    /// Whether the tools that the model calls are shown.
    verbose: bool,
    seen: Arc<Mutex<ShownText>>,
}

/// The part of a turn that was shown already.
#[derive(Default)]
pub struct ShownText {
    /// Whether the last line that was shown has no line end yet.
    open: bool,
    /// The words of the model, without white space.
    words: String,
    /// The notices of the turn.
    notices: Vec<String>,
}

impl ShownText {
    /// Returns the part of an answer that was not shown yet.
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
    pub fn new(at_terminal: bool, verbose: bool) -> Self {
        Self {
            at_terminal,
            verbose,
            seen: Arc::default(),
        }
    }

    /// Returns a sink that shows the events of the start or of a turn. Its tools are shown only if the person asks for them.
    pub fn sink(&self) -> EventSink {
        let (at_terminal, verbose, seen) = (self.at_terminal, self.verbose, self.seen.clone());
        EventSink::new(move |event| {
            if !verbose && is_progress(&event) {
                // The words after a call begin a line of their own.
                if mem::take(&mut lock(&seen).open) {
                    let _ = writeln!(io::stdout());
                }
                return;
            }
            // If the terminal is gone, writing the answer fails and reports it.
            let _ = show(&event, at_terminal, &mut lock(&seen));
        })
    }

    /// Shows an answer, and the reason for which the turn `stopped`, as far as they were not shown before.
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

    /// Ends a turn and its last line, and returns the part that was shown.
    pub fn end(&self, session: &mut Session) -> Result<ShownText, Failure> {
        let seen = mem::take(&mut *lock(&self.seen));
        if seen.open {
            writeln!(session.results)?;
            session.results.flush()?;
        }
        Ok(seen)
    }

    /// Writes an empty line on a terminal, before a new paragraph.
    pub fn gap(&self, session: &Session) {
        if self.at_terminal {
            session.status("");
        }
    }

    /// Writes a note, which is not a part of the conversation.
    pub fn aside(&self, line: &str, session: &Session) {
        let line = escape(line);
        if self.at_terminal {
            session.status(&format!("{DIM}{line}{PLAIN}"));
        } else {
            session.status(&line);
        }
    }
}

/// Returns whether an event only reports the course of the work.
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
