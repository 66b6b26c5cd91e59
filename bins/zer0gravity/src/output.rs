//! Results as JSON, in a file or on stdout.

use std::io::{self, Write};

use bin_support::{Failure, Output, Session};
use serde::Serialize;

/// Writes `value` as JSON to a file, or to stdout; to stdout also where the file takes it no more.
pub fn json(output: Output, value: &impl Serialize, session: &mut Session) -> Result<(), Failure> {
    let file = match output {
        Output::Stdout => return Ok(pretty(value, &mut session.results)?),
        Output::File(file) => file,
    };
    if let Err(error) = file.finish(|file| pretty(value, file)) {
        // What was paid for is not lost with a full disk.
        pretty(value, &mut session.results)?;
        return Err(error.into());
    }
    Ok(())
}

/// Two spaces a level, and a newline at the end.
fn pretty(value: &impl Serialize, out: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value)?;
    out.write_all(b"\n")
}
