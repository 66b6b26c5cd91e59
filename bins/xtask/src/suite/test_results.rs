use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use crate::Error;
use crate::workspace::{Workspace, line, works};

/// The number of slow tests that are named.
const SLOWEST: usize = 10;

/// The numbers and times of the tests that a runner ran.
#[derive(Debug, Default, PartialEq)]
pub struct TestResults {
    pub passed: usize,
    pub failed: usize,
    /// The slowest tests first, with their seconds. `cargo test` does not say them.
    pub slowest: Vec<(f64, String)>,
}

impl TestResults {
    /// Runs all tests by nextest, or by `cargo test` where that is not installed. `told` gets the command before it starts.
    pub fn run(
        workspace: &Workspace,
        told: impl Fn(&mut std::process::Command),
    ) -> Result<Self, Error> {
        if works(&mut workspace.cargo(&["nextest", "--version"])) {
            return Self::by_nextest(workspace, told);
        }
        eprintln!("xtask: cargo-nextest is not installed, `cargo test` runs the tests");
        let mut command = workspace.cargo(&["test", "--locked", "--no-fail-fast"]);
        command.args(super::KINDS).stdout(Stdio::piped());
        told(&mut command);
        let shown = line(&command);
        let failed = |source| Error::Start {
            command: shown.clone(),
            source,
        };
        let mut process = command.spawn().map_err(failed)?;
        let mut results = Self::default();
        for text in process
            .stdout
            .take()
            .into_iter()
            .flat_map(|out| BufReader::new(out).lines())
        {
            let text = text.map_err(failed)?;
            results.add(&text);
            // A closed stdout ends the display, not the tests.
            let _ = writeln!(std::io::stdout(), "{text}");
        }
        let status = process.wait().map_err(failed)?;
        results.checked(status.success())
    }

    fn by_nextest(
        workspace: &Workspace,
        told: impl Fn(&mut std::process::Command),
    ) -> Result<Self, Error> {
        let report = workspace.target.join("nextest/default/junit.xml");
        // The report of an earlier run.
        let _ = fs::remove_file(&report);
        let mut command = workspace.cargo(&["nextest", "run", "--locked"]);
        told(command.args(super::KINDS));
        let status = command.status().map_err(|source| Error::Start {
            command: line(&command),
            source,
        })?;
        let text = fs::read_to_string(&report).unwrap_or_default();
        Self::parse(&text).checked(status.success())
    }

    /// A runner that fails without a failed test did not run all.
    fn checked(self, is_success: bool) -> Result<Self, Error> {
        if is_success || self.failed > 0 {
            Ok(self)
        } else {
            Err(Error::Tests)
        }
    }

    /// Adds a line of `cargo test`, if it is a result of a program: `test result: ok. 5 passed; 0 failed; ...`.
    fn add(&mut self, text: &str) {
        let Some(result) = text.strip_prefix("test result: ") else {
            return;
        };
        let words: Vec<_> = result.split([' ', ';']).collect();
        let count = |name: &str| {
            let place = words.iter().position(|word| *word == name)?;
            words.get(place.checked_sub(1)?)?.parse().ok()
        };
        self.passed += count("passed").unwrap_or(0);
        self.failed += count("failed").unwrap_or(0);
    }

    /// Reads the report that nextest writes in the form of `JUnit`.
    fn parse(report: &str) -> Self {
        let mut results = Self::default();
        for test in report.split("<testcase ").skip(1) {
            let (head, body) = test.split_once('>').unwrap_or((test, ""));
            let body = body.split("</testcase>").next().unwrap_or_default();
            let is_failed = ["<failure", "<error"]
                .iter()
                .any(|mark| body.contains(mark));
            let is_empty = head.ends_with('/');
            if is_failed && !is_empty {
                results.failed += 1;
            } else {
                results.passed += 1;
            }
            let value = |name: &str| {
                let (_, rest) = head.split_once(&format!("{name}=\""))?;
                rest.split('"').next()
            };
            let seconds = value(" time").and_then(|time| time.parse().ok());
            let program = value("classname").unwrap_or_default();
            let name = head
                .strip_prefix("name=\"")
                .and_then(|rest| rest.split('"').next());
            let name = format!("{program} {}", name.unwrap_or_default());
            results
                .slowest
                .extend(seconds.map(|seconds: f64| (seconds, name)));
        }
        results.slowest.sort_by(|a, b| b.0.total_cmp(&a.0));
        results.slowest.truncate(SLOWEST);
        results
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_cargo_test_are_added_up() {
        let mut results = TestResults::default();
        for line in [
            "test a ... ok",
            "test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s",
            "test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out",
        ] {
            results.add(line);
        }
        assert_eq!((results.passed, results.failed), (7, 1));
        let nothing = TestResults::default();
        assert!(nothing.checked(false).is_err() && results.checked(false).is_ok());
    }

    #[test]
    fn the_report_of_nextest_has_results_and_times() {
        let report = r#"<testsuite name="popper::it" tests="3">
<testcase name="kill::a" classname="popper::it" timestamp="2026" time="1.5">
</testcase>
<testcase name="b" classname="popper" time="20.25"><failure type="x">a &lt;failure</failure></testcase>
<testcase name="c" classname="popper" time="0.1"/>
</testsuite>"#;
        let results = TestResults::parse(report);
        assert_eq!((results.passed, results.failed), (2, 1));
        let slowest = results
            .slowest
            .iter()
            .map(|(time, name)| (*time, name.as_str()));
        let expected = [
            (20.25, "popper b"),
            (1.5, "popper::it kill::a"),
            (0.1, "popper c"),
        ];
        assert_eq!(slowest.collect::<Vec<_>>(), expected);
    }
}
