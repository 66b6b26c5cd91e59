//! `cargo run -p orrery-logosphere-core --example logosphere_vectors -- FILE...`: checks files of vectors, such as those in
//! `fixtures/logosphere/vectors`, and prints passed/total for each group. Exit code 1 if anything is not as a file says, 2 if
//! a file cannot be read or says nothing.
#![expect(
    clippy::disallowed_methods,
    reason = "an example is a program: it has arguments and prints"
)]

mod check;

use std::io::{Result, Write as _};
use std::process::ExitCode;

/// The number of failures that are listed.
const SHOWN: usize = 10;

fn main() -> Result<ExitCode> {
    let (mut out, mut err) = (std::io::stdout().lock(), std::io::stderr().lock());
    let paths: Vec<_> = std::env::args_os().skip(1).collect();
    if paths.is_empty() {
        writeln!(err, "usage: logosphere_vectors FILE...")?;
        return Ok(ExitCode::from(2));
    }
    let (mut passed, mut total) = (0, 0);
    for path in paths {
        let path = std::path::PathBuf::from(path);
        let groups = std::fs::read_to_string(&path)
            .map_err(|error| error.to_string())
            .and_then(|text| serde_json::from_str(&text).map_err(|error| error.to_string()))
            .and_then(|file| check::groups(&file));
        let groups = match groups {
            Ok(groups) => groups,
            Err(error) => {
                writeln!(err, "logosphere_vectors: {}: {error}", path.display())?;
                return Ok(ExitCode::from(2));
            }
        };
        let failures = groups.iter().flat_map(|group| &group.failures);
        for failure in failures.take(SHOWN) {
            writeln!(err, "{failure}")?;
        }
        for group in &groups {
            writeln!(out, "{}/{} {}", group.passed(), group.total, group.name)?;
            passed += group.passed();
            total += group.total;
        }
    }
    writeln!(out, "{passed}/{total} in all")?;
    Ok(ExitCode::from(u8::from(passed != total || total == 0)))
}
