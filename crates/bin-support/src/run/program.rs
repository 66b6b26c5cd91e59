//! The command line of a program, which `clap` derives from its struct, with the flags and commands that all programs share.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{
    Arg, ArgAction, ArgMatches, Args as _, Command, CommandFactory, FromArgMatches as _, Parser,
    Subcommand as _,
};

use super::flags::{COMMON, CommonFlags, early_color};
use super::paint::Paint;
use super::progress::Progress;
use super::results::Results;
use super::session::Session;
use super::shared_command::SharedCommand;
use super::{interrupt, logging, usage};
use crate::environment::Environment;
use crate::{Exit, Failure};

/// The maximum length of a line of help, in characters.
const WIDEST_HELP: usize = 100;

/// A program's command line: a `clap` struct, which [`run`](crate::run) parses.
pub trait Program: Parser {
    /// The commands that the help of the bare program and `-h` leave out, so that it fits on a screen; `--help` has them.
    const RARE: &'static [&'static str] = &[];

    /// Returns every path that the program writes to by default.
    ///
    /// # Errors
    /// A path cannot be determined, such as the user's folder for data.
    fn places(_matches: &ArgMatches) -> Result<Vec<DefaultPath>, Failure> {
        Ok(Vec::new())
    }
}

/// A file or folder that a program writes to by default; `paths` prints it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefaultPath {
    pub(crate) label: &'static str,
    pub(crate) path: PathBuf,
}

impl DefaultPath {
    /// A path with its label; a relative path counts from the working directory.
    pub fn new(label: &'static str, path: impl AsRef<Path>) -> Self {
        let path = path.as_ref();
        Self {
            label,
            path: std::path::absolute(path).unwrap_or_else(|_| path.to_owned()),
        }
    }
}

/// Returns the command line of a program: its flags and commands, then [`CommonFlags`], help and version.
///
/// A program with commands also gets `completions`, `man`, `paths` and `help`; each help ends with the file of the guide.
pub fn command<C: CommandFactory>() -> Command {
    // Their own text would replace the one of the program, so that they are added one by one.
    let flags = CommonFlags::augment_args(Command::default());
    let command = C::command();
    let version = command.get_version().unwrap_or_default();
    let long_version = format!("{version}{}", env!("ORRERY_COMMIT_NOTE"));
    let command = command
        .args(flags.get_arguments())
        // clap keeps texts of its own only with one more feature; a program makes its command line once.
        .long_version(&*long_version.leak())
        .propagate_version(true)
        .disable_help_flag(true)
        .disable_version_flag(true)
        .arg(common("help", 'h', ArgAction::Help).help("Print help; -h prints the short form"))
        .arg(common("version", 'V', ArgAction::Version).help("Print the version"))
        .max_term_width(WIDEST_HELP);
    if !command.has_subcommands() {
        return command;
    }
    let program = command.get_name().to_owned();
    let mut command = SharedCommand::augment_subcommands(command.disable_help_subcommand(true));
    for name in SharedCommand::NAMES {
        let examples = SharedCommand::examples(name, &program);
        command = command.mut_subcommand(name, |inner| inner.after_help(examples));
    }
    with_guide(command, &format!("Guide: docs/{program}.md"))
}

fn common(name: &'static str, short: char, action: ArgAction) -> Arg {
    let flag = Arg::new(name).long(name).short(short).action(action);
    flag.global(true).help_heading(COMMON)
}

fn with_guide(command: Command, guide: &str) -> Command {
    let after = match command.get_after_help() {
        Some(examples) => format!("{examples}\n\n{guide}"),
        None => guide.to_owned(),
    };
    command
        .after_help(after)
        .mut_subcommands(|inner| with_guide(inner, guide))
}

/// The task that a command line selects.
enum Task<C> {
    /// A task of the program.
    Own(C),
    /// A command that all programs share.
    Shared(SharedCommand),
}

impl<C: Program> Task<C> {
    fn from_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let command = matches.subcommand_name();
        if command.is_some_and(SharedCommand::has_subcommand) {
            SharedCommand::from_arg_matches(matches).map(Self::Shared)
        } else {
            C::from_arg_matches(matches).map(Self::Own)
        }
    }
}

/// Runs a program: reads the flags and `.env`, starts the log, calls `execute` and prints its error.
///
/// Wrong flags exit with 2 and the usage, `--help` with 0, an `--env-file` that does not parse with 2. If the reader closes
/// stdout and `execute` returns that error, the program exits with 0 and prints nothing.
#[expect(
    clippy::disallowed_methods,
    reason = "this crate is where the binaries' arguments are read and their stderr is opened"
)]
pub fn run<C: Program>(
    execute: impl FnOnce(&C, &mut Session) -> Result<Exit, Failure>,
) -> ExitCode {
    // A client that a program builds with `reqwest` panics without a crypto provider.
    llm_client::tls::install_default();
    interrupt::survive_file_limits();
    let words: Vec<_> = std::env::args_os().collect();
    early_color(words.iter().map(OsString::as_os_str)).write_global();
    let mut command = command::<C>();
    if words.len() == 1 && command.has_subcommands() {
        return usage::print_bare(command, C::RARE);
    }
    if words.len() == 2 && words[1] == "-h" {
        command = usage::without(command, C::RARE);
    }
    let parsed = command
        .clone()
        .try_get_matches_from(words)
        .and_then(|matches| {
            let common = CommonFlags::from_arg_matches(&matches)?;
            Ok((Task::from_matches(&matches)?, common, matches))
        });
    let (task, common, matches) = match parsed {
        Ok(parsed) => parsed,
        Err(answer) => return usage::print(answer, &mut command),
    };
    common.color.write_global();
    let progress = Progress::new(common.quiet);
    logging::start(&common, &progress);
    let mut session = Session {
        results: Results::stdout(),
        progress,
        environment: Environment::default(),
        program: command.get_name().to_owned(),
        quiet: common.quiet,
        verbosity: common.verbose,
        paint: Paint::of(&io::stderr()),
    };
    let outcome = session
        .load_environment(&common)
        .and_then(|()| match &task {
            Task::Own(cli) => execute(cli, &mut session),
            Task::Shared(shared) => shared.execute(command, || C::places(&matches), &mut session),
        });
    let (exit, error) = session.conclude(outcome);
    if let Some(error) = error {
        session.report(error.as_ref());
    }
    exit.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Parser)]
    #[command(name = "p", version = "7.8.9")]
    struct Cli {}

    #[test]
    fn a_program_has_a_version_of_its_own() {
        let command = command::<Cli>();
        assert_eq!(command.render_version(), "p 7.8.9\n");
        assert!(command.render_long_version().starts_with("p 7.8.9"));
    }
}
