//! The commands that all programs with commands share: `completions`, `man`, `paths` and `help`.

use std::io::Write as _;
use std::path::PathBuf;

use clap::Command;
use clap::builder::StyledStr;
use clap_complete::Shell;

use super::manual;
use super::program::DefaultPath;
use super::session::Session;
use crate::{Exit, Failure, escape, nearest};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum SharedCommand {
    /// Print completions for a shell
    Completions {
        /// Shell that reads the script.
        #[arg(value_enum, value_name = "SHELL")]
        shell: Shell,
    },
    /// Print the manual, or write one page for each command
    Man {
        /// Folder for one page of each command [default: the program's page on stdout].
        #[arg(value_name = "DIR")]
        dir: Option<PathBuf>,
    },
    /// Print where the program writes by default
    ///
    /// Each line says whether the place exists. These places hold your own results, and that of hermitcrab also settings and keys. To
    /// uninstall, remove the program alone; delete a place only if you no longer need its contents.
    Paths,
    /// Print the help of the program or of a command
    Help {
        /// Command, such as `run` [default: the program].
        #[arg(value_name = "COMMAND")]
        command: Vec<String>,
        /// List every command, one a line.
        #[arg(long, hide = true, conflicts_with = "command")]
        tree: bool,
    },
}

impl SharedCommand {
    /// The names of these commands.
    pub(crate) const NAMES: [&str; 4] = ["completions", "man", "paths", "help"];

    /// Returns the examples that the help of one of these commands ends with.
    pub(crate) fn examples(command: &str, program: &str) -> String {
        let examples = match command {
            "completions" => [
                format!("{program} completions bash > {program}.bash"),
                format!("{program} completions fish > {program}.fish"),
            ],
            "man" => [
                format!("{program} man > {program}.1"),
                format!("{program} man man1"),
            ],
            "help" => [
                format!("{program} help"),
                format!("{program} help completions"),
            ],
            _ => [
                format!("{program} paths"),
                format!("cd ~ && {program} paths"),
            ],
        };
        format!("Examples:\n  {}", examples.join("\n  "))
    }

    /// Executes the command for a program with this command line; `places` are the program's default paths.
    pub(crate) fn execute(
        &self,
        mut command: Command,
        places: impl FnOnce() -> Result<Vec<DefaultPath>, Failure>,
        session: &mut Session,
    ) -> Result<Exit, Failure> {
        match self {
            Self::Completions { shell } => {
                let name = command.get_name().to_owned();
                let mut script = Vec::new();
                clap_complete::generate(*shell, &mut command, name, &mut script);
                session.results.write_all(&script)?;
            }
            Self::Man { dir: None } => {
                session.results.write_all(&manual::page(&command)?)?;
            }
            Self::Man { dir: Some(dir) } => {
                let pages = manual::write(command, dir)?;
                let dir = escape(&dir.display().to_string());
                session.status(&format!("{pages} pages in {dir}"));
            }
            Self::Help { tree: true, .. } => {
                command.build();
                session.results.write_all(tree(&command).as_bytes())?;
            }
            Self::Help { command: path, .. } => {
                command.build();
                let help = help(command, path)?;
                let text = if session.results.has_colour() {
                    help.ansi().to_string()
                } else {
                    help.to_string()
                };
                session.results.write_all(text.as_bytes())?;
            }
            Self::Paths => {
                let places = places()?;
                if places.is_empty() {
                    session
                        .status("nothing is written unless a flag or an argument names the place");
                }
                for place in places {
                    let path = escape(&place.path.display().to_string());
                    let state = if place.path.exists() {
                        "exists"
                    } else {
                        "absent"
                    };
                    writeln!(session.results, "{}: {path} ({state})", place.label)?;
                }
            }
        }
        Ok(Exit::Done)
    }
}

/// Returns the path of every command that a help shows, one a line: `popper universe show`.
fn tree(command: &Command) -> String {
    let inner = command.get_subcommands().filter(|one| !one.is_hide_set());
    inner.fold(String::new(), |mut lines, command| {
        if command.has_subcommands() {
            lines + &tree(command)
        } else {
            lines.push_str(command.get_bin_name().unwrap_or(command.get_name()));
            lines.push('\n');
            lines
        }
    })
}

/// Returns the long help of the command at a path.
fn help(mut command: Command, path: &[String]) -> Result<StyledStr, Failure> {
    for name in path {
        let inner = command.find_subcommand(name).cloned();
        command = inner.ok_or_else(|| {
            let names = command.get_subcommands().map(Command::get_name);
            let name = escape(name);
            let near = nearest(&name, names);
            let message = match near[..] {
                [near, ..] => format!("help: there is no command {name}; did you mean {near}?"),
                [] => format!("help: there is no command {name}"),
            };
            Failure::usage(message)
        })?;
    }
    Ok(command.render_long_help())
}
