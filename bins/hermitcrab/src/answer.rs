//! The answer of a command: a JSON document for programs, or lines for a person.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use bin_support::{Exit, Failure, Results, Session, escape};
use serde::Serialize;

use crate::error::Error;

/// The result of a command. Its JSON document has the fields of the struct and `schema_version`.
pub trait Answer: Serialize {
    /// Writes the lines for a person on stdout.
    fn write_text(&self, out: &mut Results) -> io::Result<()>;

    /// Returns the lines for stderr, which a person sees after the result. The JSON document has the same facts in its fields.
    fn notices(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns the exit code of the program.
    fn exit(&self) -> Exit {
        Exit::Done
    }
}

/// The JSON document of an answer or an error.
#[derive(Serialize)]
struct Document<'a, T> {
    schema_version: u32,
    #[serde(flatten)]
    content: &'a T,
}

/// Prints the result of a command and returns its exit code.
///
/// With `json` an error is also printed as a document, `{error, detail, hint}`, in the form of a tool's error.
pub fn print_answer<A: Answer>(
    json: bool,
    outcome: Result<A, Error>,
    session: &mut Session,
) -> Result<Exit, Failure> {
    match outcome {
        Ok(answer) if json => {
            print_document(&answer, session)?;
            Ok(answer.exit())
        }
        Ok(answer) => {
            answer.write_text(&mut session.results)?;
            // A person reads the results before the notices.
            session.results.flush()?;
            for line in answer.notices() {
                session.warn(&line);
            }
            Ok(answer.exit())
        }
        Err(error) => {
            if json {
                print_document(&error.to_tool_error(), session)?;
            }
            Err(error.failure())
        }
    }
}

/// Prints a value as a JSON document with `schema_version`.
pub fn print_document(content: &impl Serialize, session: &mut Session) -> Result<(), Failure> {
    print_json(
        &Document {
            schema_version: 1,
            content,
        },
        session,
    )
}

/// Prints a JSON document. On a terminal, control characters are escaped.
pub fn print_json(document: &impl Serialize, session: &mut Session) -> Result<(), Failure> {
    let mut text = serde_json::to_string_pretty(document)?;
    if session.results.is_terminal() {
        text = printable_json(&text);
    }
    writeln!(session.results, "{text}")?;
    Ok(())
}

/// Returns the same JSON with an escape for every character that a terminal does not show. Line ends stay.
pub fn printable_json(json: &str) -> String {
    let (mut buffer, mut units) = ([0; 4], [0; 2]);
    json.chars()
        .fold(String::with_capacity(json.len()), |mut out, char| {
            let text = &*char.encode_utf8(&mut buffer);
            if char == '\n' || escape(text) == text {
                out.push(char);
            } else {
                for unit in char.encode_utf16(&mut units) {
                    // Writing to a `String` cannot fail.
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
            out
        })
}

/// Returns the text with an escape for every character that controls a terminal. Line ends and tabs stay.
pub fn readable(text: &str) -> String {
    let line = |line: &str| line.split('\t').map(escape).collect::<Vec<_>>().join("\t");
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_on_a_terminal_is_the_same_json() {
        let text = "a\u{e0041}\u{ad}\u{202e}\u{7f}é👩\u{200d}👧";
        let json = serde_json::to_string(text).unwrap();
        let shown = printable_json(&json);
        assert_eq!(
            shown,
            "\"a\\udb40\\udc41\\u00ad\\u202e\\u007fé👩\u{200d}👧\""
        );
        assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), text);
    }
}
