//! What a command answers: a document for programs, or lines for a person.

use std::fmt::Write as _;
use std::io::{self, Write};

use bin_support::{Exit, Failure, Session, escape};
use serde::Serialize;

use crate::error::Error;

/// The result of a command. As JSON it is the fields of the struct beside `schema_version`.
pub trait Answer: Serialize {
    /// Writes it for a person, on stdout.
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()>;

    /// What a person should know besides, on stderr. As JSON this is in the fields.
    fn notices(&self) -> Vec<String> {
        Vec::new()
    }

    /// How the program ends.
    fn exit(&self) -> Exit {
        Exit::Done
    }
}

/// A document on stdout.
#[derive(Serialize)]
struct Document<'a, T> {
    schema_version: u32,
    #[serde(flatten)]
    content: &'a T,
}

/// Prints what a command came to.
///
/// With `json` an error is a document too, `{error, detail, hint}` as a tool answers it, besides its line on stderr.
pub fn print_answer<A: Answer>(
    json: bool,
    outcome: Result<A, Error>,
    session: &mut Session,
) -> Result<Exit, Failure> {
    match outcome {
        Ok(answer) if json => {
            print(&answer, session)?;
            Ok(answer.exit())
        }
        Ok(answer) => {
            answer.write_text(&mut session.results)?;
            // In the order in which they are read: the results first.
            session.results.flush()?;
            for line in answer.notices() {
                session.warn(&line);
            }
            Ok(answer.exit())
        }
        Err(error) => {
            if json {
                print(&error.to_tool_error(), session)?;
            }
            Err(error.failure())
        }
    }
}

fn print(content: &impl Serialize, session: &mut Session) -> Result<(), Failure> {
    print_json(
        &Document {
            schema_version: 1,
            content,
        },
        session,
    )
}

/// Prints a JSON document; a terminal gets it without characters that steer it.
pub fn print_json(document: &impl Serialize, session: &mut Session) -> Result<(), Failure> {
    let mut text = serde_json::to_string_pretty(document)?;
    if session.results.is_terminal() {
        text = printable_json(&text);
    }
    writeln!(session.results, "{text}")?;
    Ok(())
}

/// The same JSON, in which every character that steers a terminal is an escape. Line ends stay.
pub fn printable_json(json: &str) -> String {
    let mut buffer = [0; 4];
    json.chars()
        .fold(String::with_capacity(json.len()), |mut out, char| {
            let text = &*char.encode_utf8(&mut buffer);
            if char == '\n' || escape(text) == text {
                out.push(char);
            } else {
                // Writing to a String cannot fail.
                let _ = write!(out, "\\u{:04x}", u32::from(char));
            }
            out
        })
}

/// The text with its line ends and tabs, and without other characters that steer a terminal.
pub fn readable(text: &str) -> String {
    let line = |line: &str| line.split('\t').map(escape).collect::<Vec<_>>().join("\t");
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}
