//! The messages about a command line that does not parse, and the help of a program without a command.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write as _};
use std::process::ExitCode;

use anstream::AutoStream;
use clap::Command;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use strsim::levenshtein;

use super::shared_command::SharedCommand;
use crate::Exit;
use crate::nearest::EDITS;

/// The words and the proposals for them, as clap keeps them.
const PROPOSALS: [(ContextKind, ContextKind); 3] = [
    (
        ContextKind::InvalidSubcommand,
        ContextKind::SuggestedSubcommand,
    ),
    (ContextKind::InvalidArg, ContextKind::SuggestedArg),
    (ContextKind::InvalidValue, ContextKind::SuggestedValue),
];

/// The help of a program without a command.
const BARE: &str = "{about}\n\n{usage-heading} {usage}\n\nCommands:\n{subcommands}\n\n";

/// Prints the answer of clap in place of a task: a help, the version or an error.
pub(super) fn print(mut answer: clap::Error, command: &mut Command) -> ExitCode {
    correct_proposals(&mut answer, command);
    let answer = answer.format(command);
    // Nothing is left to do when neither stdout nor stderr takes it.
    let _ = answer.print();
    let exit = if answer.use_stderr() {
        Exit::Usage
    } else {
        Exit::Done
    };
    exit.into()
}

/// Prints the commands of a program that was called without one.
#[expect(
    clippy::disallowed_methods,
    reason = "this crate is where the binaries' stderr is opened"
)]
pub(super) fn print_bare(command: Command, rare: &[&'static str]) -> ExitCode {
    let help = bare_help(command, rare);
    let _ = write!(AutoStream::auto(io::stderr()), "{}", help.ansi());
    Exit::Usage.into()
}

/// Leaves commands out of the help.
pub(super) fn without(command: Command, names: &[&'static str]) -> Command {
    let hide = |command: Command, name: &&'static str| {
        command.mut_subcommand(*name, |inner| inner.hide(true))
    };
    names.iter().fold(command, hide)
}

fn bare_help(command: Command, rare: &[&'static str]) -> clap::builder::StyledStr {
    let program = command.get_name().to_owned();
    without(without(command, &SharedCommand::NAMES), rare)
        .help_template(format!("{BARE}More: {program} --help"))
        .render_help()
}

/// Keeps the proposals that are near, by the names that the help shows, and no tip to write a word after `--`.
fn correct_proposals(answer: &mut clap::Error, command: &Command) {
    for (word, proposal) in PROPOSALS {
        let Some(ContextValue::String(word)) = answer.get(word).cloned() else {
            continue;
        };
        let names = match answer.remove(proposal) {
            Some(ContextValue::String(name)) => vec![name],
            Some(ContextValue::Strings(names)) => names,
            _ => continue,
        };
        let near = names
            .into_iter()
            .filter(|name| levenshtein(&word, name) <= EDITS);
        let mut names: Vec<_> = near
            .map(|name| shown_name(command, &name).unwrap_or(name))
            .collect();
        names.dedup();
        if names.is_empty() {
            // The usage is that of the dropped proposal.
            answer.remove(ContextKind::Usage);
        } else {
            answer.insert(proposal, ContextValue::Strings(names));
        }
    }
    if let Some(ContextValue::StyledStrs(mut tips)) = answer.remove(ContextKind::Suggested) {
        tips.retain(|tip| !tip.to_string().starts_with("to pass"));
        if !tips.is_empty() {
            answer.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
        }
    }
    if let Some(tip) = moved_flag(answer, command) {
        let tips = vec![StyledStr::from(tip)];
        answer.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    }
}

/// Returns the form of a command line that has a flag of `run` in place of a command.
fn moved_flag(answer: &clap::Error, command: &Command) -> Option<String> {
    let Some(ContextValue::String(flag)) = answer.get(ContextKind::InvalidArg) else {
        return None;
    };
    let Some(ContextValue::StyledStr(usage)) = answer.get(ContextKind::Usage) else {
        return None;
    };
    let program = command.get_name();
    let usage = usage.to_string().replace("[OPTIONS] ", "");
    let is_of_program = usage.trim().ends_with(&format!("{program} <COMMAND>"));
    if answer.kind() != ErrorKind::UnknownArgument || !is_of_program {
        return None;
    }
    let mut flags = command.find_subcommand("run")?.get_arguments();
    let long = flag.strip_prefix("--")?.split('=').next();
    flags.find(|argument| argument.get_long() == long)?;
    Some(format!(
        "'{flag}' is a flag of a command: {program} run {flag}"
    ))
}

/// The name in the help of a command or flag that was proposed by a former name, which is still accepted.
fn shown_name(command: &Command, proposed: &str) -> Option<String> {
    let mut former = BTreeMap::new();
    let mut shown = BTreeSet::new();
    collect_names(command, &mut shown, &mut former);
    former
        .remove(proposed)
        .filter(|_| !shown.contains(proposed))
}

fn collect_names(
    command: &Command,
    shown: &mut BTreeSet<String>,
    former: &mut BTreeMap<String, String>,
) {
    for argument in command.get_arguments() {
        let name = format!("--{}", argument.get_long().unwrap_or_default());
        for alias in argument.get_all_aliases().unwrap_or_default() {
            former.insert(format!("--{alias}"), name.clone());
        }
        shown.insert(name);
    }
    for inner in command.get_subcommands() {
        let name = inner.get_name().to_owned();
        for alias in inner.get_all_aliases() {
            former.insert(alias.to_owned(), name.clone());
        }
        shown.extend(inner.get_visible_aliases().map(str::to_owned));
        shown.insert(name);
        collect_names(inner, shown, former);
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    #[command(name = "p", version)]
    struct Cli {
        #[command(subcommand)]
        command: Word,
    }

    /// A program with two commands
    #[derive(Debug, clap::Subcommand)]
    enum Word {
        /// Read a block
        Read {
            #[arg(long, alias = "digest")]
            summary: bool,
        },
        /// Compute a span
        #[command(alias = "extent")]
        Span,
        /// Run an experiment
        Run {
            #[arg(long)]
            rounds: Option<u32>,
        },
    }

    fn answer(line: &str) -> String {
        let mut command = crate::command::<Cli>();
        let parsed = command.try_get_matches_from_mut(line.split(' '));
        let mut answer = parsed.unwrap_err();
        correct_proposals(&mut answer, &command);
        answer.format(&mut command).to_string()
    }

    #[test]
    fn only_a_near_name_is_proposed() {
        for (line, proposed) in [
            ("p raed", Some("read")),
            ("p spam", Some("span")),
            ("p redoing", None),
            ("p read --sumary", Some("--summary")),
            ("p read --sum", None),
            ("p extend", Some("'span'")),
            ("p read --digests", Some("'--summary'")),
            ("p --rounds 2", Some("p run --rounds")),
            ("p read --rounds 2", None),
        ] {
            let text = answer(line);
            assert_eq!(text.contains("tip:"), proposed.is_some(), "{text}");
            assert!(text.contains(proposed.unwrap_or_default()), "{text}");
            assert!(!text.contains(" -- "), "{text}");
            assert!(proposed.is_some() || !text.contains("--summary"), "{text}");
        }
    }

    #[test]
    fn the_help_of_a_bare_program_lists_its_own_commands() {
        let help = |rare: &[&'static str]| bare_help(crate::command::<Cli>(), rare).to_string();
        assert!(!help(&["read"]).contains("  read  Read a block"));
        let help = help(&[]);
        assert!(help.contains("  read  Read a block\n"), "{help}");
        assert!(!help.contains("completions"), "{help}");
        assert!(help.trim_end().ends_with("More: p --help"), "{help}");
    }
}
