//! `cargo run -p orrery-pscale-blocks --example pscale_vectors -- FILE`: checks a file of vectors, such as
//! `fixtures/hermitcrab/vectors/vectors.json`, and prints passed/total for each group. Exit code 1 if anything is not as the
//! file says, 2 if the file cannot be read.
#![expect(
    clippy::disallowed_methods,
    reason = "an example is a program: it has arguments and prints"
)]

mod check;

use std::io::{Result, Write as _};
use std::process::ExitCode;

/// The number of failures that are shown one by one.
const SHOWN: usize = 10;

fn main() -> Result<ExitCode> {
    let (mut out, mut err) = (std::io::stdout().lock(), std::io::stderr().lock());
    let Some(path) = std::env::args().nth(1) else {
        writeln!(err, "usage: pscale_vectors FILE")?;
        return Ok(ExitCode::from(2));
    };
    let groups = std::fs::read_to_string(&path)
        .map_err(|error| error.to_string())
        .and_then(|text| serde_json::from_str(&text).map_err(|error| error.to_string()))
        .and_then(|file| check::groups(&file));
    let groups = match groups {
        Ok(groups) => groups,
        Err(error) => {
            writeln!(err, "pscale_vectors: {path}: {error}")?;
            return Ok(ExitCode::from(2));
        }
    };
    for failure in groups.iter().flat_map(|group| &group.failures).take(SHOWN) {
        writeln!(err, "{failure}")?;
    }
    let (mut passed, mut total) = (0, 0);
    for group in &groups {
        write!(out, "{}/{} {}", group.passed(), group.total, group.name)?;
        match group.skipped {
            0 => writeln!(out)?,
            skipped => writeln!(out, " ({skipped} skipped: {})", group.why_skipped)?,
        }
        passed += group.passed();
        total += group.total;
    }
    writeln!(out, "{passed}/{total} in all")?;
    Ok(ExitCode::from(u8::from(passed != total || total == 0)))
}
