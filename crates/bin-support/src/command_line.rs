//! The whole command line of a program: what `clap` derives from its struct, and what all programs share.

use clap::{
    Arg, ArgAction, ArgMatches, Args as _, Command, CommandFactory, Parser, Subcommand as _,
};

use crate::shared_command::SharedCommand;
use crate::{CommonFlags, Failure, Place};

/// The heading of the flags that every command of every program takes; their group is the last one of each help.
pub(crate) const COMMON: &str = "Common options";

/// The length of the longest line of help, however wide the terminal is.
const WIDEST_HELP: usize = 100;

/// A program's command line: a `clap` struct, which [`run`](crate::run) parses.
pub trait Program: Parser {
    /// Returns every place that the program writes unless a flag names another one.
    ///
    /// # Errors
    /// A place cannot be found, such as the user's folder for data.
    fn places(_matches: &ArgMatches) -> Result<Vec<Place>, Failure> {
        Ok(Vec::new())
    }
}

/// Returns the command line of a program: its own flags and commands, then [`CommonFlags`], help and version.
///
/// Where the program has commands, it gets `completions`, `man` and `paths`, and each help ends with the file of the guide.
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
    let mut command = SharedCommand::augment_subcommands(command);
    for name in ["completions", "man", "paths"] {
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
