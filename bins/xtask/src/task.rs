//! The tasks of `cargo xtask`: their arguments, which a table describes, and their helps.

use std::fmt::Write as _;

use crate::workspace::Workspace;
use crate::{Error, Exit};

/// The most flags that a usage lists.
const MOST: usize = 4;

/// A task, and the arguments that it takes.
pub struct Task {
    pub name: &'static str,
    pub summary: &'static str,
    pub flags: &'static [Argument],
    /// The names that may follow, any number of them.
    pub names: Option<Argument>,
    pub run: fn(&Workspace, &Arguments) -> Result<Exit, Error>,
}

/// A flag, or the names that a task takes, with its help. A flag with a value has the value's name after a space.
pub struct Argument {
    pub name: &'static str,
    pub help: &'static str,
}

impl Task {
    /// The task with its arguments, as a usage shows them.
    pub fn usage(&self) -> String {
        let each = || self.flags.iter().map(|flag| format!(" [{}]", flag.name));
        let flags: Vec<_> = match self.flags.len() {
            0..=MOST => each().collect(),
            _ => vec![" [FLAGS]".to_owned()],
        };
        let names = self
            .names
            .iter()
            .map(|names| format!(" [{}...]", names.name));
        self.name.to_owned() + &flags.into_iter().chain(names).collect::<String>()
    }

    /// The text of `cargo xtask TASK --help`.
    pub fn help(&self) -> String {
        let mut text = format!(
            "{}\n\nUsage: cargo xtask {}\n\n",
            self.summary,
            self.usage()
        );
        let help = Argument {
            name: "--help",
            help: "Print help",
        };
        for argument in self.names.iter().chain(self.flags).chain([&help]) {
            // Writing to a string does not fail.
            let _ = writeln!(text, "  {:<14}{}", argument.name, argument.help);
        }
        text
    }

    /// Reads the words after the name of the task. An error is a phrase about the first word that does not fit.
    pub fn parse(&self, words: &[String]) -> Result<Arguments, String> {
        let mut arguments = Arguments::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let is_it = |flag: &&Argument| flag.name.split(' ').next() == Some(word);
            if let Some(flag) = self.flags.iter().find(is_it) {
                arguments.flags.push(flag.name);
                if let Some((name, value)) = flag.name.split_once(' ') {
                    let missing = || format!("{}: {name} needs a value {value}", self.name);
                    let given = words.next().ok_or_else(missing)?;
                    arguments.values.push((name, given.clone()));
                }
            } else if word.starts_with('-') {
                return Err(format!("{}: unknown flag \"{word}\"", self.name));
            } else if self.names.is_some() {
                arguments.names.push(word.clone());
            } else {
                return Err(format!("{} takes no argument \"{word}\"", self.name));
            }
        }
        Ok(arguments)
    }
}

/// The arguments of one call.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Arguments {
    flags: Vec<&'static str>,
    values: Vec<(&'static str, String)>,
    pub names: Vec<String>,
}

impl Arguments {
    /// Whether the flag, such as `--open`, was given.
    pub fn has(&self, flag: &str) -> bool {
        self.flags.contains(&flag)
    }

    /// The value of a flag, the last one if it was given twice.
    pub fn value(&self, flag: &str) -> Option<&str> {
        let mut given = self.values.iter().rev();
        given
            .find(|(name, _)| *name == flag)
            .map(|(_, value)| value.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TASK: Task = Task {
        name: "walk",
        summary: "Walk it",
        flags: &[
            Argument {
                name: "--slow",
                help: "Slowly",
            },
            Argument {
                name: "--for TIME",
                help: "Time",
            },
        ],
        names: Some(Argument {
            name: "FILE",
            help: "Pages",
        }),
        run: |_, _| Ok(Exit::Done),
    };

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn a_call_has_flags_and_names_in_any_order() {
        let arguments = TASK.parse(&words("a --slow b")).unwrap();
        assert_eq!(arguments.names, ["a", "b"]);
        assert!(arguments.has("--slow") && !arguments.has("--fast"));
        assert_eq!(arguments.value("--for"), None);
        let arguments = TASK.parse(&words("--for 1 a --for 2")).unwrap();
        assert_eq!(arguments.value("--for"), Some("2"));
        let wrong = TASK.parse(&words("--for")).unwrap_err();
        assert_eq!(wrong, "walk: --for needs a value TIME");
        let wrong = TASK.parse(&words("--fast")).unwrap_err();
        assert_eq!(wrong, "walk: unknown flag \"--fast\"");
        let bare = Task {
            names: None,
            ..TASK
        };
        let wrong = bare.parse(&words("a")).unwrap_err();
        assert_eq!(wrong, "walk takes no argument \"a\"");
    }

    #[test]
    fn a_help_has_each_argument() {
        let help = "Walk it\n\nUsage: cargo xtask walk [--slow] [--for TIME] [FILE...]\n\n  FILE          Pages\n  --slow        Slowly\n  --for TIME    Time\n  --help        Print help\n";
        assert_eq!(TASK.help(), help);
    }
}
