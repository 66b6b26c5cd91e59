//! The JSON objects that commands print.

use std::io;

use bin_support::Results;
use serde::Serialize;

/// The version of these objects.
const VERSION: &str = "1.0.0";

/// An object with its version.
#[derive(Serialize)]
struct Versioned<'a, T> {
    schema_version: &'static str,
    #[serde(flatten)]
    object: &'a T,
}

impl<'a, T: Serialize> Versioned<'a, T> {
    fn new(object: &'a T) -> Self {
        Self {
            schema_version: VERSION,
            object,
        }
    }
}

/// Prints an object on several lines.
pub fn print(object: &impl Serialize, out: &mut Results) -> io::Result<()> {
    out.json(&Versioned::new(object))
}

/// Prints an object on one line.
pub fn print_line(object: &impl Serialize, out: &mut Results) -> io::Result<()> {
    out.json_line(&Versioned::new(object))
}
