//! `cargo xtask test`: a list of steps; one that sets something up comes before the tests that need it.

use std::process::Command;

use crate::browser;
use crate::postgres::TestServer;
use crate::workspace::{Workspace, finish, works};
use crate::{Error, Exit};

/// The parts that the steps before the tests set up for them.
#[derive(Default)]
struct Setup {
    server: Option<TestServer>,
}

struct Step {
    name: &'static str,
    run: fn(&Workspace, &mut Setup) -> Result<(), Error>,
}

/// The tests are last, so that the output ends with the closing lines of the test runner.
const STEPS: &[Step] = &[
    Step {
        name: "a browser for the tests",
        run: |_, _| browser::provide(),
    },
    Step {
        name: "a PostgreSQL server for the tests",
        run: server,
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
    let mut setup = Setup::default();
    for (index, step) in STEPS.iter().enumerate() {
        eprintln!("xtask: [{}/{}] {}", index + 1, STEPS.len(), step.name);
        (step.run)(workspace, &mut setup)?;
    }
    if let Some(line) = setup.server.as_ref().and_then(TestServer::report) {
        eprintln!("xtask: {line}");
    }
    Ok(Exit::Done)
}

fn server(workspace: &Workspace, setup: &mut Setup) -> Result<(), Error> {
    setup.server = Some(TestServer::provide(workspace)?);
    Ok(())
}

/// A command that runs tests, with the places of what is set up.
fn told(mut command: Command, setup: &Setup) -> Command {
    if let Some(server) = &setup.server {
        server.tell(&mut command);
    }
    command
}

fn tests(workspace: &Workspace, setup: &mut Setup) -> Result<(), Error> {
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
    finish(&mut told(command, setup))
}

/// A step by itself, as nextest does not run them.
fn documentation_examples(workspace: &Workspace, setup: &mut Setup) -> Result<(), Error> {
    let command = workspace.cargo(&["test", "--locked", "--workspace", "--doc"]);
    finish(&mut told(command, setup))
}
