//! `cargo xtask test`: a list of steps; one that sets something up comes before the tests that need it.

use crate::browser;
use crate::workspace::{Workspace, finish, works};
use crate::{Error, Exit};

struct Step {
    name: &'static str,
    run: fn(&Workspace) -> Result<(), Error>,
}

/// The tests are last, so that the output ends with the closing lines of the test runner.
const STEPS: &[Step] = &[
    Step {
        name: "a browser for the tests",
        run: browser::provide,
    },
    Step {
        name: "examples in the documentation",
        run: documentation_examples,
    },
    Step {
        name: "tests",
        run: tests,
    },
];

/// Runs every step; the first that fails ends it.
pub fn run(workspace: &Workspace) -> Result<Exit, Error> {
    for (index, step) in STEPS.iter().enumerate() {
        eprintln!("xtask: [{}/{}] {}", index + 1, STEPS.len(), step.name);
        (step.run)(workspace)?;
    }
    Ok(Exit::Done)
}

fn tests(workspace: &Workspace) -> Result<(), Error> {
    let mut command = if works(&mut workspace.cargo(&["nextest", "--version"])) {
        workspace.cargo(&["nextest", "run", "--locked", "--workspace"])
    } else {
        eprintln!("xtask: cargo-nextest is not installed, `cargo test` runs them");
        // The step before runs the examples in the documentation.
        let parts = ["--workspace", "--lib", "--bins", "--tests"];
        let mut command = workspace.cargo(&["test", "--locked"]);
        command.args(parts);
        command
    };
    // With a browser nothing is skipped in silence.
    if browser::is_there() {
        command.env("ORRERY_BROWSER", "required");
    }
    finish(&mut command)
}

/// A step by itself, as nextest does not run them.
fn documentation_examples(workspace: &Workspace) -> Result<(), Error> {
    finish(&mut workspace.cargo(&["test", "--locked", "--workspace", "--doc"]))
}
