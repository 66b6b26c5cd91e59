//! `compile`: checks a shell for errors without showing it.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use bin_support::{Exit, Failure, Session, escape};
use hermitcrab_face::jsx::compile_shell;
use serde_json::json;

use crate::answer::print_json;
use crate::error::Error;

/// Examples of the command, which tests run.
pub const EXAMPLES: &str = "\
Examples:
  hermitcrab compile face.jsx
  hermitcrab compile - < face.jsx";

/// The longest text that is read, in bytes. The compiler refuses more than 256 KiB.
const MAX_JSX: u64 = 1 << 20;

#[derive(Debug, clap::Args)]
pub struct CompileArgs {
    /// File with JSX, or with a reply that has fences; `-` for stdin.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
}

/// Compiles a shell and prints its name or its errors.
pub fn execute(args: &CompileArgs, session: &mut Session) -> Result<Exit, Failure> {
    let text = text_of(&args.file).map_err(Error::failure)?;
    match compile_shell(&text) {
        Ok(compiled) if args.json => {
            let document = json!({
                "schema_version": 1,
                "component": compiled.component,
                "warnings": compiled.warnings,
                "needs": compiled.needs,
                "faults": [],
            });
            print_json(&document, session)?;
            Ok(Exit::Done)
        }
        Err(errors) if args.json => {
            let faults: Vec<_> = (errors.iter())
                .map(|error| {
                    json!({
                        "kind": error.kind,
                        "message": error.message,
                        "line": error.line,
                        "column": error.column,
                    })
                })
                .collect();
            print_json(&json!({"schema_version": 1, "faults": faults}), session)?;
            Ok(Exit::CheckFailed)
        }
        Ok(compiled) => {
            for warning in &compiled.warnings {
                session.warn(warning);
            }
            writeln!(session.results, "{}", escape(&compiled.component))?;
            Ok(Exit::Done)
        }
        Err(errors) => {
            for error in errors {
                let place = match (error.line, error.column) {
                    (Some(line), Some(column)) => format!("{line}:{column}: "),
                    (Some(line), None) => format!("{line}: "),
                    _ => String::new(),
                };
                let line = format!("{place}{}: {}", error.kind, error.message);
                writeln!(session.results, "{}", escape(&line))?;
            }
            Ok(Exit::CheckFailed)
        }
    }
}

fn text_of(file: &Path) -> Result<String, Error> {
    let failed = |source| Error::Read {
        path: file.to_owned(),
        source,
    };
    let mut bytes = Vec::new();
    if file == Path::new("-") {
        std::io::stdin()
            .take(MAX_JSX)
            .read_to_end(&mut bytes)
            .map_err(failed)?;
    } else {
        let opened = std::fs::File::open(file).map_err(failed)?;
        opened
            .take(MAX_JSX)
            .read_to_end(&mut bytes)
            .map_err(failed)?;
    }
    String::from_utf8(bytes).map_err(|_| Error::NotText {
        path: file.to_owned(),
    })
}
