//! Tests that need a program which a machine may not have.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a test looks for a program, and says why it was skipped"
)]

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;

/// Returns whether a program is on the `PATH`. If it is missing, the test is skipped: a line says so, and CI fails.
pub fn has_program(name: &str) -> bool {
    let has = on_path(name).is_some();
    if !has {
        skip(&format!("no program {name}"));
    }
    has
}

/// Returns whether a program is on the `PATH` that gives a second opinion only. If it is missing, a line says that the test is
/// skipped, and CI passes.
pub fn offers_program(name: &str) -> bool {
    let has = on_path(name).is_some();
    if !has {
        let lines = variable("ORRERY_SKIPPED").map(PathBuf::from);
        report(&format!("no program {name}"), false, lines);
    }
    has
}

/// The first program of that name on the `PATH`.
pub(crate) fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut programs = std::env::split_paths(&path).map(|folder| folder.join(name));
    programs.find(|program| program.is_file())
}

/// Says that a test is skipped, and fails it in CI.
pub(crate) fn skip(reason: &str) {
    let lines = variable("ORRERY_SKIPPED").map(PathBuf::from);
    report(reason, variable("CI").is_some(), lines);
}

/// A variable of the environment that is not empty.
pub(crate) fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// `cargo xtask test` counts the lines of the file.
fn report(reason: &str, is_ci: bool, lines: Option<PathBuf>) {
    let line = format!("SKIPPED: {reason}");
    assert!(!is_ci, "{line}");
    eprintln!("{line}");
    if let Some(path) = lines {
        let file = OpenOptions::new().append(true).create(true).open(path);
        writeln!(file.unwrap(), "{line}").unwrap();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skipped_test_leaves_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let lines = folder.path().join("skipped");
        report("no moon", false, Some(lines.clone()));
        report("no moon", false, Some(lines.clone()));
        report("no moon", false, None);
        let text = std::fs::read_to_string(lines).unwrap();
        assert_eq!(text, "SKIPPED: no moon\nSKIPPED: no moon\n");
    }

    #[test]
    #[should_panic(expected = "SKIPPED: no moon")]
    fn in_ci_nothing_is_skipped() {
        report("no moon", true, None);
    }

    #[test]
    fn a_program_is_found_on_the_path() {
        assert!(has_program("cargo"));
    }
}
