//! What a command answers: a document for programs, or lines for a person.

use std::io::{self, Write};

use bin_support::{Exit, Failure, Session};
use serde::Serialize;

use crate::error::Error;

/// The result of a command. As JSON it is the fields of the struct beside `schema_version`.
pub trait Answer: Serialize {
    /// Writes it for a person, on stdout.
    fn tell(&self, out: &mut dyn Write) -> io::Result<()>;

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
pub fn give<A: Answer>(
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
            answer.tell(&mut session.results)?;
            // In the order in which they are read: the results first.
            session.results.flush()?;
            for line in answer.notices() {
                session.notice(&line);
            }
            Ok(answer.exit())
        }
        Err(error) => {
            if json {
                print(&error.fault(), session)?;
            }
            Err(error.failure())
        }
    }
}

fn print(content: &impl Serialize, session: &mut Session) -> Result<(), Failure> {
    let document = Document {
        schema_version: 1,
        content,
    };
    serde_json::to_writer_pretty(&mut session.results, &document)?;
    writeln!(session.results)?;
    Ok(())
}
