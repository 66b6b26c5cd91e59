//! A folder in which the commands of a recipe run.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::folder::file_error;
use super::money::Dollars;
use super::recipe::{Recipe, SpentAt, Step, StepFlags};
use super::record::ledger;
use crate::Error;
use crate::workspace::{Workspace, line};

/// The cassette, from the working folder.
pub const CASSETTE: &str = "../cassette.jsonl";

/// The code of a command that a signal or a cap ended.
pub const INTERRUPTED: i64 = 130;

/// A folder in which the commands of a recipe run.
pub struct Work<'a> {
    workspace: &'a Workspace,
    recipe: &'a Recipe,
    folder: PathBuf,
    /// Whether progress and errors of the commands are shown.
    is_shown: bool,
}

/// The end of a command.
pub struct Ended {
    pub code: i64,
    pub stdout: String,
}

impl<'a> Work<'a> {
    pub fn new(
        workspace: &'a Workspace,
        recipe: &'a Recipe,
        folder: PathBuf,
        is_shown: bool,
    ) -> Self {
        Self {
            workspace,
            recipe,
            folder,
            is_shown,
        }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Runs a step with further flags. The line that it reads and its answer go to the transcript.
    pub fn step(&self, step: &Step, words: &[String], flags: &[String]) -> Result<Ended, Error> {
        let ended = self.run(words, flags, step.stdin.as_deref())?;
        if let Some(said) = &step.stdin {
            let path = self.folder.join(&self.recipe.page);
            let file = OpenOptions::new().append(true).create(true).open(&path);
            let text = format!("> {said}\n{}\n", ended.stdout);
            file.and_then(|mut file| file.write_all(text.as_bytes()))
                .map_err(|source| file_error(&path, source))?;
        }
        Ok(ended)
    }

    /// The flags of a step whose calls come from the cassette.
    pub fn replay_flags(&self, step: &Step) -> Vec<String> {
        let mut flags = match step.flags {
            StepFlags::None => return Vec::new(),
            StepFlags::Time => Vec::new(),
            StepFlags::Model => self.recipe.model_flags(),
        };
        flags.extend(["--replay", CASSETTE].map(str::to_owned));
        flags
    }

    /// The flags of a step that asks the model, under a cap.
    pub fn live_flags(&self, step: &Step, cap: Dollars) -> Vec<String> {
        if step.flags != StepFlags::Model {
            return Vec::new();
        }
        let mut flags = self.recipe.model_flags();
        flags.extend(["--record", CASSETTE].map(str::to_owned));
        flags.extend(["--max-usd".to_owned(), cap.flag()]);
        flags
    }

    pub fn run(
        &self,
        words: &[String],
        flags: &[String],
        stdin: Option<&str>,
    ) -> Result<Ended, Error> {
        let (program, arguments) = words
            .split_first()
            .ok_or(Error::Check("an empty command"))?;
        let mut command = self.workspace.binary(program);
        command
            .args(arguments)
            .args(flags)
            .current_dir(&self.folder);
        // The same bytes on every machine.
        command.env("TZ", "UTC").env("NO_COLOR", "1");
        command.stdin(match stdin {
            Some(_) => Stdio::piped(),
            None => Stdio::null(),
        });
        command.stdout(Stdio::piped());
        if !self.is_shown {
            command.stderr(Stdio::null());
        }
        end(&mut command, stdin).map_err(|source| Error::Start {
            command: line(&command),
            source,
        })
    }

    /// The amount spent at this place.
    pub fn spent_at(&self, place: &SpentAt) -> Result<Dollars, Error> {
        let (command, field) = match place {
            SpentAt::Ledger(path) => return ledger(&self.folder.join(path)),
            SpentAt::Command { path, .. } if !self.folder.join(path).exists() => {
                return Ok(Dollars(0));
            }
            SpentAt::Command { command, field, .. } => (command, field),
        };
        let ended = self.run(command, &[], None)?;
        let document: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap_or_default();
        let dollars = document.pointer(field).and_then(serde_json::Value::as_f64);
        let usd = dollars.and_then(Dollars::from_dollars);
        usd.ok_or(Error::Check("a command does not say what was spent"))
    }

    /// The amount spent at all places, each once.
    pub fn spent(&self) -> Result<Dollars, Error> {
        let mut places: Vec<&SpentAt> = Vec::new();
        for place in self
            .recipe
            .steps
            .iter()
            .filter_map(|step| step.spent.as_ref())
        {
            if !places.contains(&place) {
                places.push(place);
            }
        }
        let mut sum = Dollars(0);
        for place in places {
            sum.0 += self.spent_at(place)?.0;
        }
        Ok(sum)
    }
}

/// Runs a command to its end, with a line on its stdin.
fn end(command: &mut Command, stdin: Option<&str>) -> std::io::Result<Ended> {
    let mut child = command.spawn()?;
    if let (Some(text), Some(mut pipe)) = (stdin, child.stdin.take()) {
        // A program that ends early reads no line.
        let _closed = pipe.write_all(format!("{text}\n").as_bytes());
    }
    let output = child.wait_with_output()?;
    Ok(Ended {
        code: output.status.code().map_or(INTERRUPTED, i64::from),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
    })
}
