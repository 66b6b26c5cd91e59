//! The project's own commands: `cargo xtask demo`, `cargo xtask test`, `cargo xtask features` and `cargo xtask peers`.

mod apt;
mod browser;
mod demo;
mod error;
mod features;
mod fleet;
mod peers;
mod postgres;
mod suite;
mod workspace;

use std::process::ExitCode;

use crate::error::Error;
use crate::workspace::Workspace;

/// A command of `cargo xtask`.
struct Task {
    name: &'static str,
    /// Arguments, as the help shows them.
    arguments: &'static str,
    help: &'static str,
    run: fn(&Workspace, &[String]) -> Result<Exit, Error>,
}

const TASKS: &[Task] = &[
    Task {
        name: "demo",
        arguments: "",
        help: "Build once, run the main job of every program offline, show the results",
        run: |workspace, _| demo::run(workspace),
    },
    Task {
        name: "test",
        arguments: "",
        help: "Set up what the tests need, then run every test",
        run: |workspace, _| suite::run(workspace),
    },
    Task {
        name: "features",
        arguments: "",
        help: "Check every library with each of its features alone",
        run: |workspace, _| features::run(workspace),
    },
    Task {
        name: "peers",
        arguments: "[NAME...]",
        help: "Install programs by others, run the opt-in tests with each",
        run: peers::run,
    },
];

/// The end of a task, with the exit codes that all programs share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Everything asked for is done.
    Done = 0,
    /// A part failed; its error was printed.
    Failed = 1,
    /// Some items could not be tried.
    SomeFailed = 3,
}

/// The exit code of a wrong command line.
const USAGE: u8 = 2;

fn help() -> String {
    let line = |task: &Task| {
        let call = format!("{} {}", task.name, task.arguments);
        format!("  {call:<16}  {}", task.help)
    };
    let tasks: Vec<_> = TASKS.iter().map(line).collect();
    let peers: Vec<_> = peers::names().collect();
    format!(
        "The project's own commands\n\nUsage: cargo xtask TASK\n\nTasks:\n{}\n\nPeers: {}\n",
        tasks.join("\n"),
        peers.join(", ")
    )
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments
        .iter()
        .any(|one| matches!(one.as_str(), "-h" | "--help" | "help"))
    {
        print!("{}", help());
        return ExitCode::SUCCESS;
    }
    let usage = |problem: &str| {
        let names: Vec<_> = TASKS.iter().map(|task| task.name).collect();
        eprintln!("xtask: {problem}; tasks: {}", names.join(", "));
        ExitCode::from(USAGE)
    };
    let Some((name, rest)) = arguments.split_first() else {
        return usage("which task?");
    };
    let Some(task) = TASKS.iter().find(|task| task.name == name) else {
        return usage(&format!("unknown task \"{name}\""));
    };
    let extra = rest
        .iter()
        .find(|one| task.arguments.is_empty() || one.starts_with('-'));
    if let Some(extra) = extra {
        return usage(&format!("{name} takes no argument \"{extra}\""));
    }
    match Workspace::find().and_then(|workspace| (task.run)(&workspace, rest)) {
        Ok(exit) => ExitCode::from(exit as u8),
        Err(error) => {
            eprintln!("xtask: {error}");
            let usage = matches!(error, Error::NoSuchPeer { .. });
            ExitCode::from(if usage { USAGE } else { Exit::Failed as u8 })
        }
    }
}
