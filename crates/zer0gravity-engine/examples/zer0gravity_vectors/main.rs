//! `cargo run -p orrery-zer0gravity-engine --example zer0gravity_vectors -- [--strict] FILE`: checks a file of vectors, such as
//! those in `fixtures/zer0gravity/vectors`, and prints passed/total for each group. Keys that the format does not have are named
//! and skipped. Exit code 1 if a result differs, 2 if the file cannot be read, or with `--strict` has such a key.
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
    let mut arguments: Vec<_> = std::env::args().skip(1).collect();
    let strict = arguments.first().is_some_and(|first| first == "--strict");
    arguments.drain(..usize::from(strict));
    let [path] = arguments.as_slice() else {
        writeln!(err, "usage: zer0gravity_vectors [--strict] FILE")?;
        return Ok(ExitCode::from(2));
    };
    let groups = std::fs::read_to_string(path)
        .map_err(|error| error.to_string())
        .and_then(|text| serde_json::from_str(&text).map_err(|error| error.to_string()))
        .and_then(|file| check::groups(&file));
    let (groups, skipped) = match groups {
        Ok(groups) => groups,
        Err(error) => {
            writeln!(err, "zer0gravity_vectors: {path}: {error}")?;
            return Ok(ExitCode::from(2));
        }
    };
    for name in &skipped {
        writeln!(
            err,
            "zer0gravity_vectors: {path}: `{name}` is no group of the format; skipped"
        )?;
    }
    if strict && !skipped.is_empty() {
        return Ok(ExitCode::from(2));
    }
    let failures = groups.iter().flat_map(|group| &group.failures);
    for failure in failures.take(SHOWN) {
        writeln!(err, "{failure}")?;
    }
    let (mut passed, mut total) = (0, 0);
    for group in &groups {
        writeln!(out, "{}/{} {}", group.passed(), group.total, group.name)?;
        passed += group.passed();
        total += group.total;
    }
    writeln!(out, "{passed}/{total} in all")?;
    Ok(ExitCode::from(u8::from(passed != total || total == 0)))
}
