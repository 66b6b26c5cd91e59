//! `cargo xtask test`: a list of steps; one that sets something up stands before the tests that need it.

use bin_support::Exit;

use crate::Error;
use crate::browser;
use crate::workspace::{Workspace, finish, works};

struct Step {
    name: &'static str,
    run: fn(&Workspace) -> Result<(), Error>,
}

const STEPS: &[Step] = &[
    Step {
        name: "a browser for the tests",
        run: browser::provide,
    },
    Step {
        name: "tests",
        run: tests,
    },
    Step {
        name: "examples in the documentation",
        run: documentation_examples,
    },
];

/// Runs every step; the first that fails ends it.
pub fn run(workspace: &Workspace) -> Result<Exit, Error> {
    for step in STEPS {
        eprintln!("xtask: {}", step.name);
        (step.run)(workspace)?;
    }
    Ok(Exit::Done)
}

fn tests(workspace: &Workspace) -> Result<(), Error> {
    let mut command = if works(&mut workspace.cargo(&["nextest", "--version"])) {
        workspace.cargo(&["nextest", "run", "--workspace"])
    } else {
        eprintln!("xtask: cargo-nextest is not installed, `cargo test` runs them");
        // The next step runs the examples in the documentation.
        workspace.cargo(&["test", "--workspace", "--lib", "--bins", "--tests"])
    };
    // With a browser nothing is skipped in silence.
    if browser::is_there() {
        command.env("ORRERY_BROWSER", "required");
    }
    finish(&mut command)
}

/// A step of its own, as nextest does not run them.
fn documentation_examples(workspace: &Workspace) -> Result<(), Error> {
    finish(&mut workspace.cargo(&["test", "--workspace", "--doc"]))
}
