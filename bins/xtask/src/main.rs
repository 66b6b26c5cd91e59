//! The project's own commands: `cargo xtask demo`, `cargo xtask test` and others, which `cargo xtask --help` lists.

mod apt;
mod browser;
mod campaign;
mod demo;
mod dist;
mod docs;
mod error;
mod features;
mod fresh;
mod peers;
mod pictures;
mod postgres;
mod sizes;
mod suite;
mod task;
mod terminal_svg;
mod workspace;

use std::process::ExitCode;

use crate::error::Error;
use crate::task::{Argument, Task};
use crate::workspace::{Workspace, finish};

const TASKS: &[Task] = &[
    Task {
        name: "demo",
        summary: "Build the programs one by one and show what each does, offline",
        flags: &[Argument {
            name: "--open",
            help: "Open the page with all results in a browser",
        }],
        names: Some(Argument {
            name: "NAME",
            help: "Programs [default: all]",
        }),
        run: demo::run,
    },
    Task {
        name: "test",
        summary: "Set up what the tests need, then run every test",
        flags: &[Argument {
            name: "--no-install",
            help: "Skip tests that need a program which is missing",
        }],
        names: None,
        run: suite::run,
    },
    Task {
        name: "check",
        summary: "Check what must hold before a merge, without the tests",
        flags: &[],
        names: None,
        run: |workspace, _| {
            finish(workspace.command(".ci/run").arg("--fast"))?;
            Ok(Exit::Done)
        },
    },
    Task {
        name: "docs",
        summary: "Run the blocks of the pages and the examples of the helps",
        flags: &[
            Argument {
                name: "--bless",
                help: "Write the real output into the pages, but no exit code",
            },
            Argument {
                name: "--lint",
                help: "Links, flags and lengths alone, without running a block",
            },
        ],
        names: Some(Argument {
            name: "FILE",
            help: "Pages [default: all, and the helps]",
        }),
        run: docs::run,
    },
    Task {
        name: "features",
        summary: "Check every library with each of its features alone",
        flags: &[],
        names: None,
        run: |workspace, _| features::run(workspace),
    },
    Task {
        name: "fresh",
        summary: "Run the demo and the tests in a clone on a bare machine",
        flags: &[],
        names: None,
        run: |workspace, _| fresh::run(workspace),
    },
    Task {
        name: "dist",
        summary: "Pack the four programs as a tarball and a wheel",
        flags: &[
            Argument {
                name: "--no-build",
                help: "Pack what is built already",
            },
            Argument {
                name: "--check",
                help: "Install both, ask for a verdict, and remove them again",
            },
        ],
        names: None,
        run: dist::run,
    },
    Task {
        name: "pictures",
        summary: "Draw the pictures of the README and the guides",
        flags: &[Argument {
            name: "--check",
            help: "Compare the terminals with the committed pictures",
        }],
        names: None,
        run: pictures::run,
    },
    Task {
        name: "campaign",
        summary: "Run a recipe of questions against a model, and keep the evidence",
        flags: &[
            Argument {
                name: "--max-usd X",
                help: "Cap in dollars of the whole campaign [default: 2]",
            },
            Argument {
                name: "--provider P",
                help: "Provider [default: the recipe's]",
            },
            Argument {
                name: "--base-url U",
                help: "Address of the server [default: the provider's]",
            },
            Argument {
                name: "--model M",
                help: "Model [default: the recipe's]",
            },
            Argument {
                name: "--dir D",
                help: "Folder [default: experiments/DATE-campaign-WORLD-MODEL]",
            },
            Argument {
                name: "--yes",
                help: "Send without a question",
            },
            Argument {
                name: "--local",
                help: "Ask the small model of `peers`; the folder is not evidence",
            },
            Argument {
                name: "--replay D",
                help: "Make a kept campaign again, and compare every byte",
            },
            Argument {
                name: "--bless",
                help: "With --replay: write what is made in place of comparing",
            },
        ],
        names: Some(Argument {
            name: "WORLD",
            help: "popper, zer0gravity, logosphere, hermitcrab, or all with --local",
        }),
        run: campaign::run,
    },
    Task {
        name: "peers",
        summary: "Install programs by others, run the opt-in tests with each",
        flags: &[],
        names: Some(Argument {
            name: "NAME",
            help: "aimock, ext_apps, inspect, katan, local, mcp [default: all]",
        }),
        run: peers::run,
    },
    Task {
        name: "sizes",
        summary: "Count the lines of source of each package of hermitcrab",
        flags: &[],
        names: None,
        run: |workspace, _| sizes::run(workspace),
    },
];

/// The end of a task, with the exit codes that all programs share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// Everything asked for is done.
    Done = 0,
    /// A part failed; its error was printed.
    Failed = 1,
    /// Some items could not be tried.
    SomeFailed = 3,
    /// A check that was asked for did not hold.
    CheckFailed = 4,
    /// A signal or a cap ended it; the same command continues.
    Interrupted = 130,
}

/// The exit code of a wrong command line.
const USAGE: u8 = 2;

/// Whether `cargo xtask` has a task of this name.
pub fn is_task(name: &str) -> bool {
    TASKS.iter().any(|task| task.name == name)
}

fn help() -> String {
    let line = |task: &Task| format!("  {:<10}{}\n", task.name, task.summary);
    let tasks: String = TASKS.iter().map(line).collect();
    format!("The project's own commands\n\nUsage: cargo xtask TASK [--help]\n\nTasks:\n{tasks}")
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let wants_help = |words: &[String]| words.iter().any(|word| word == "-h" || word == "--help");
    let usage = |problem: &str| {
        eprintln!("xtask: {problem}");
        ExitCode::from(USAGE)
    };
    let tasks = || {
        let names: Vec<_> = TASKS.iter().map(|task| task.name).collect();
        names.join(", ")
    };
    let Some((name, rest)) = words.split_first() else {
        return usage(&format!("no task; tasks: {}", tasks()));
    };
    let Some(task) = TASKS.iter().find(|task| task.name == name) else {
        if name == "help" || wants_help(&words[..1]) {
            print!("{}", help());
            return ExitCode::SUCCESS;
        }
        return usage(&format!("unknown task \"{name}\"; tasks: {}", tasks()));
    };
    if wants_help(rest) {
        print!("{}", task.help());
        return ExitCode::SUCCESS;
    }
    let arguments = match task.parse(rest) {
        Ok(arguments) => arguments,
        Err(problem) => return usage(&format!("{problem}; usage: {}", task.usage())),
    };
    match Workspace::find().and_then(|workspace| (task.run)(&workspace, &arguments)) {
        Ok(exit) => ExitCode::from(exit as u8),
        Err(error) => {
            eprintln!("xtask: {error}");
            let usage = matches!(error, Error::Unknown { .. } | Error::Usage { .. });
            ExitCode::from(if usage { USAGE } else { Exit::Failed as u8 })
        }
    }
}
