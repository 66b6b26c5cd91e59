//! `cargo xtask test`: what the tests need, the tests, and the examples in the documentation.

mod react;
mod test_list;
mod test_results;

use crate::browser;
use crate::postgres::TestServer;
use crate::task::Arguments;
use crate::workspace::{Workspace, finish};
use crate::{Error, Exit};
use test_list::TestList;
use test_results::TestResults;

/// The tests that are run together. Examples in the documentation are a step by themselves, as nextest does not run them.
const KINDS: [&str; 4] = ["--workspace", "--lib", "--bins", "--tests"];

/// The number of tests in a minute on two cores, for an estimate.
const TESTS_A_MINUTE: usize = 126;

/// Runs every step, and ends with the numbers of tests and what was missing.
pub fn run(workspace: &Workspace, arguments: &Arguments) -> Result<Exit, Error> {
    let may_install = !arguments.has("--no-install");
    eprintln!("[1/4] browser");
    let has_browser = browser::provide(may_install);
    eprintln!("xtask: building the tests");
    let list = TestList::build(workspace)?;
    let mut notes = Vec::new();
    if let Some(missing) = react::provide(workspace) {
        if react::is_required() {
            return Err(Error::NotInstalled { missing });
        }
        eprintln!("xtask: {missing}");
        notes.push(missing);
    }
    if !has_browser {
        let missing = browser::missing(list.browser);
        if browser::is_required() {
            return Err(Error::NotInstalled { missing });
        }
        eprintln!("xtask: {missing}");
        notes.push(missing);
    }

    eprintln!("[2/4] PostgreSQL server");
    let server = TestServer::provide(workspace, may_install)?;
    let minutes = list.run.div_ceil(TESTS_A_MINUTE);
    let run = list.run;
    eprintln!("[3/4] tests ({run}, about {minutes} minutes on two cores)");
    let results = TestResults::run(workspace, |command| {
        server.tell(command);
        // With a browser nothing is skipped in silence.
        if has_browser {
            command.env("ORRERY_BROWSER", "required");
        }
    })?;
    eprintln!("[4/4] documentation examples");
    let mut examples = workspace.cargo(&["test", "--locked", "--workspace", "--doc"]);
    server.tell(&mut examples);
    let examples = finish(&mut examples);

    notes.extend(server.report());
    let without_browser = if has_browser { 0 } else { list.browser };
    let skipped = without_browser + server.skipped();
    for (seconds, name) in &results.slowest {
        println!("{seconds:8.1} s  {name}");
    }
    println!("{}", numbers(&results, &list, skipped));
    for note in notes {
        eprintln!("xtask: {note}");
    }
    examples?;
    Ok(if results.failed == 0 {
        Exit::Done
    } else {
        Exit::Failed
    })
}

/// A line such as `3 tests: 2 passed, 1 ignored, 1 skipped`. A skipped test counts as passed for the runner.
fn numbers(results: &TestResults, list: &TestList, skipped: usize) -> String {
    let run = results.passed + results.failed;
    let passed = results.passed.saturating_sub(skipped);
    let failed = match results.failed {
        0 => String::new(),
        failed => format!("{failed} failed, "),
    };
    let ignored = list.ignored;
    format!("{run} tests: {passed} passed, {failed}{ignored} ignored, {skipped} skipped")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skipped_test_is_not_a_passed_one() {
        let mut results = TestResults {
            passed: 5,
            failed: 0,
            slowest: Vec::new(),
        };
        let list = TestList {
            run: 5,
            ignored: 2,
            browser: 1,
        };
        let line = "5 tests: 4 passed, 2 ignored, 1 skipped";
        assert_eq!(numbers(&results, &list, 1), line);
        results.failed = 1;
        let line = "6 tests: 5 passed, 1 failed, 2 ignored, 0 skipped";
        assert_eq!(numbers(&results, &list, 0), line);
    }
}
