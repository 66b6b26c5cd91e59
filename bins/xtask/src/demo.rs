//! `cargo xtask demo`: the main job of every world, offline, on what one build left in the target folder.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use bin_support::{Exit, Failure, Session};
use comfy_table::Table;
use serde::Deserialize;

use crate::Error;
use crate::workspace::{Workspace, finish, finish_into};

/// One entry a world.
const WORLDS: &[World] = &[World {
    name: "popper",
    job: popper,
}];

struct World {
    name: &'static str,
    job: fn(&Workspace) -> Result<Outcome, Error>,
}

/// What a job found, in a few words, and the file that holds it all.
struct Outcome {
    result: String,
    file: PathBuf,
}

/// Runs every job, also when one fails, and ends with a table of them.
pub fn run(workspace: &Workspace, session: &mut Session) -> Result<Exit, Failure> {
    // One build for all: a build of a single package would pick other features and compile again.
    finish(&mut workspace.cargo(&["build", "--workspace", "--bins"]))?;
    let mut exit = Exit::Done;
    let mut table = Table::new();
    table.set_header(["world", "result", "file"]);
    for world in WORLDS {
        match (world.job)(workspace) {
            Ok(outcome) => {
                let file = workspace.relative(&outcome.file).display().to_string();
                table.add_row([world.name, &outcome.result, &file]);
            }
            Err(error) => {
                session.report(&error);
                table.add_row([world.name, "failed", ""]);
                exit = Exit::Failed;
            }
        }
    }
    writeln!(session.results, "\n{table}")?;
    Ok(exit)
}

/// Decides the laws of the fixtures and holds the verdicts against what is expected of them.
fn popper(workspace: &Workspace) -> Result<Outcome, Error> {
    let laws = json_files(workspace, "fixtures/popper/laws")?;
    let check = || {
        let mut command = workspace.binary("popper");
        command.arg("check").args(&laws);
        command.args(["--expect", "fixtures/popper/expectations.json"]);
        command
    };
    finish(&mut check())?;
    let file = workspace.demo_folder("popper")?.join("verdicts.json");
    finish_into(&file, check().arg("--json"))?;
    let text = fs::read(&file).map_err(|source| Error::File {
        path: file.clone(),
        source,
    })?;
    match serde_json::from_slice::<Vec<Verdict>>(&text) {
        Ok(verdicts) => Ok(Outcome {
            result: summary(&verdicts),
            file,
        }),
        Err(source) => Err(Error::Output { path: file, source }),
    }
}

/// The part of a verdict that the table counts.
#[derive(Deserialize)]
struct Verdict {
    status: String,
}

fn summary(verdicts: &[Verdict]) -> String {
    let count = |status| {
        verdicts
            .iter()
            .filter(|verdict| verdict.status == status)
            .count()
    };
    let (pass, fail, unknown) = (count("PASS"), count("FAIL"), count("UNKNOWN"));
    let laws = verdicts.len();
    format!("{laws} laws as expected: {pass} PASS, {fail} FAIL, {unknown} UNKNOWN")
}

/// The `.json` files of `folder`, as they read from the root, in order of name.
fn json_files(workspace: &Workspace, folder: &str) -> Result<Vec<PathBuf>, Error> {
    let path = workspace.root.join(folder);
    let entries = fs::read_dir(&path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let entries = entries.map_err(|source| Error::File { path, source })?;
    let mut files: Vec<_> = entries
        .iter()
        .map(|entry| workspace.relative(&entry.path()).to_owned())
        .filter(|file| {
            file.extension()
                .is_some_and(|extension| extension == "json")
        })
        .collect();
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_counts_each_status() {
        let text = r#"[{"status": "PASS", "law_id": "a"}, {"status": "FAIL"}, {"status": "PASS"}]"#;
        let verdicts: Vec<Verdict> = serde_json::from_str(text).unwrap();
        assert_eq!(
            summary(&verdicts),
            "3 laws as expected: 2 PASS, 1 FAIL, 0 UNKNOWN"
        );
    }
}
