//! Commands that are not run: their programs, paths, packages and tasks must exist.

use super::commands::{calls, words};
use super::sandbox::Sandbox;
use crate::Error;
use crate::workspace::{PROGRAMS, Workspace};

/// The folders of the repository, as a path begins with them.
const FOLDERS: [&str; 6] = [
    ".ci/",
    "bins/",
    "crates/",
    "docs/",
    "fixtures/",
    "packaging/",
];

/// The check of commands that are not run.
pub struct Unrun<'a> {
    workspace: &'a Workspace,
    sandbox: &'a Sandbox,
}

impl<'a> Unrun<'a> {
    pub fn new(workspace: &'a Workspace, sandbox: &'a Sandbox) -> Self {
        Self { workspace, sandbox }
    }

    /// Returns the problem of a command. A program says itself whether it takes its flags: `--help` is appended.
    pub fn problem(&self, command: &str) -> Result<Option<String>, Error> {
        for call in calls(command, &PROGRAMS) {
            let quoted: Vec<_> = call.iter().map(|word| quoted(word)).collect();
            let ran = self.sandbox.run(&format!("{} --help", quoted.join(" ")))?;
            if ran.code != Some(0) {
                let told = ran.output.lines().next().unwrap_or_default();
                return Ok(Some(format!("$ {command}\n    {told}")));
            }
        }
        let words = words(command);
        let after = |flags: &'static [&'static str]| {
            let pairs = words
                .windows(2)
                .filter(move |pair| flags.contains(&pair[0].as_str()));
            pairs.map(|pair| pair[1].as_str())
        };
        let is_cargo = words.iter().any(|word| word == "cargo");
        if let Some(name) =
            after(&["-p", "--package"]).find(|name| is_cargo && !self.workspace.has_package(name))
        {
            return Ok(Some(format!("no package \"{name}\": $ {command}")));
        }
        if let Some(name) = after(&["xtask"]).find(|name| !crate::is_task(name)) {
            return Ok(Some(format!("no task \"{name}\": $ {command}")));
        }
        let paths = words
            .iter()
            .filter(|word| FOLDERS.iter().any(|folder| word.starts_with(folder)));
        let missing = paths
            .clone()
            .find(|path| !self.workspace.root.join(path).exists());
        Ok(missing.map(|path| format!("no file \"{path}\": $ {command}")))
    }
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}
