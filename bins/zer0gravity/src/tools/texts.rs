//! The texts among the arguments, read as those of files, and answers as the commands print them.

use serde::Serialize;
use zer0gravity_engine::dataset::{CaseFormat, normalise_rules, parse_cases};

use crate::output::Versioned;

/// The most bytes of a text: a longer one takes longer than a caller waits.
const MOST_BYTES: usize = 200_000;

/// Reads a text as the command reads a file.
pub fn text(name: &str, text: &str) -> Result<String, String> {
    short(name, text)?;
    let mut parsed = parse_cases(text.as_bytes(), CaseFormat::Text, name);
    match (parsed.cases.pop(), parsed.errors.pop()) {
        (Some(case), _) => Ok(case.text.to_string()),
        (None, Some(error)) => Err(error.to_string()),
        (None, None) => Err(format!("{name}: is empty, expected a text")),
    }
}

/// Reads rules as the command reads a file.
pub fn rules(name: &str, text: &str) -> Result<String, String> {
    short(name, text)?;
    normalise_rules(text.as_bytes()).map_err(|error| format!("{name}: {error}"))
}

/// Refuses a text that is too long.
pub fn short(name: &str, text: &str) -> Result<(), String> {
    let bytes = text.len();
    if bytes > MOST_BYTES {
        return Err(format!(
            "{name}: {bytes} bytes, expected at most {MOST_BYTES}"
        ));
    }
    Ok(())
}

/// Returns a value as a command prints it.
pub fn json(value: impl Serialize) -> Result<String, String> {
    let text = serde_json::to_string_pretty(&Versioned::new(value));
    text.map(|text| text + "\n")
        .map_err(|error| error.to_string())
}
