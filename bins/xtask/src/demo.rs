//! `cargo xtask demo`: the main job of every world, offline, on what one build left in the target folder.

use std::fmt;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use bin_support::{Exit, Failure, Session};
use comfy_table::Table;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::Error;
use crate::workspace::{Workspace, finish, finish_into};

/// One entry a world.
const WORLDS: &[World] = &[
    World {
        name: "zer0gravity",
        job: zer0gravity,
    },
    World {
        name: "logosphere",
        job: logosphere,
    },
    World {
        name: "hermitcrab",
        job: hermitcrab,
    },
    World {
        name: "popper",
        job: popper,
    },
];

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

/// Encodes, decodes and scores the texts of all levels by rules, and makes a page of it.
fn zer0gravity(workspace: &Workspace) -> Result<Outcome, Error> {
    let folder = workspace.demo_folder("zer0gravity")?;
    let results = folder.join("results.json");
    let page = folder.join("results.html");
    let program = || workspace.binary("zer0gravity");
    let run = ["run", "--all", "--provider", "offline", "--output"];
    finish(program().args(run).arg(&results))?;
    finish(
        program()
            .arg("report")
            .arg(&results)
            .arg("--html")
            .arg(&page),
    )?;
    let scored: Vec<Scored> = json(&results)?;
    Ok(Outcome {
        result: averaged(&scored),
        file: page,
    })
}

/// The part of a result that the table shows.
#[derive(Deserialize)]
struct Scored {
    #[serde(rename = "testCaseId")]
    case: String,
    total: Option<f64>,
}

fn averaged(scored: &[Scored]) -> String {
    let totals: Vec<_> = scored.iter().filter_map(|one| one.total).collect();
    let each: Vec<_> = (scored.iter())
        .map(|one| match one.total {
            Some(total) => format!("{} {total}", one.case),
            None => format!("{} failed", one.case),
        })
        .collect();
    let mean = totals.iter().sum::<f64>() / totals.len().max(1) as f64;
    format!("offline: {mean:.1}/100 on average ({})", each.join(", "))
}

/// Lets a population of programs pass messages, checks its journal, and makes a page with what chance alone gives.
fn logosphere(workspace: &Workspace) -> Result<Outcome, Error> {
    let folder = workspace.demo_folder("logosphere")?;
    let experiment = folder.join("experiment");
    remove(&experiment)?;
    let program = || workspace.binary("logosphere");
    let flags = ["demo", "--quiet", "--output-dir"];
    finish(program().args(flags).arg(&experiment))?;
    let checked = folder.join("verified.json");
    finish_into(
        &checked,
        program().args(["verify", "--json"]).arg(&experiment),
    )?;
    let verified: Verified = json(&checked)?;
    Ok(Outcome {
        result: verified.to_string(),
        file: experiment.join("report.html"),
    })
}

/// The part of a check that the table shows.
#[derive(Deserialize)]
struct Verified {
    rounds: u32,
    calls: u64,
    messages: u64,
}

impl fmt::Display for Verified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            rounds,
            calls,
            messages,
        } = self;
        write!(
            f,
            "offline: {rounds} rounds, {calls} calls, {messages} messages; the journal holds"
        )
    }
}

/// Wakes an instance without a model, talks with it line by line, and looks at what it has written into its blocks.
fn hermitcrab(workspace: &Workspace) -> Result<Outcome, Error> {
    let folder = workspace.demo_folder("hermitcrab")?;
    let data = folder.join("data");
    remove(&data)?;
    let program = |command: &[&str]| {
        let mut program = workspace.binary("hermitcrab");
        program.arg("--data").arg(&data).args(command);
        program
    };
    let lines = workspace.root.join("fixtures/hermitcrab/demo.txt");
    let input = fs::File::open(&lines).map_err(|source| Error::File {
        path: lines,
        source,
    })?;
    let talk = folder.join("conversation.txt");
    let flags = ["chat", "--quiet", "--provider", "offline"];
    finish_into(&talk, program(&flags).stdin(input))?;
    let listed = folder.join("blocks.json");
    finish_into(&listed, &mut program(&["block", "list", "--json"]))?;
    let next = folder.join("prompt.json");
    let phase = ["prompt", "--phase", "call", "--json"];
    finish_into(&next, &mut program(&phase))?;
    let blocks: Blocks = json(&listed)?;
    let prompt: NextPrompt = json(&next)?;
    Ok(Outcome {
        result: format!(
            "offline: {blocks}; the next call has {} tokens",
            prompt.tokens.total
        ),
        file: talk,
    })
}

/// The part of a list of blocks that the table shows.
#[derive(Deserialize)]
struct Blocks {
    blocks: Vec<Listed>,
}

#[derive(Deserialize)]
struct Listed {
    name: String,
    decimal: u8,
    nodes: u64,
}

impl fmt::Display for Blocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} blocks", self.blocks.len())?;
        match self.blocks.iter().find(|block| block.name == "memory") {
            Some(Listed { decimal, nodes, .. }) => {
                write!(
                    f,
                    ", the memory has grown to decimal {decimal} and {nodes} nodes"
                )
            }
            None => f.write_str(", no memory"),
        }
    }
}

/// The part of the next request that the table shows.
#[derive(Deserialize)]
struct NextPrompt {
    tokens: Tokens,
}

#[derive(Deserialize)]
struct Tokens {
    total: u64,
}

/// Takes away what an earlier demo left.
fn remove(folder: &Path) -> Result<(), Error> {
    if !folder.exists() {
        return Ok(());
    }
    fs::remove_dir_all(folder).map_err(|source| Error::File {
        path: folder.to_owned(),
        source,
    })
}

/// Decides the laws of the fixtures, holds the verdicts against what is expected of them, and lets a run propose laws of its own.
fn popper(workspace: &Workspace) -> Result<Outcome, Error> {
    let folder = workspace.demo_folder("popper")?;
    let checked = check(workspace, &folder)?;
    let (found, file) = discover(workspace, &folder)?;
    Ok(Outcome {
        result: format!("{checked}\n{found}"),
        file,
    })
}

fn check(workspace: &Workspace, folder: &Path) -> Result<String, Error> {
    let laws = json_files(workspace, "fixtures/popper/laws")?;
    let check = || {
        let mut command = workspace.binary("popper");
        command.arg("check").args(&laws);
        command.args(["--expect", "fixtures/popper/expectations.json"]);
        command
    };
    finish(&mut check())?;
    let file = folder.join("verdicts.json");
    finish_into(&file, check().arg("--json"))?;
    let verdicts: Vec<Verdict> = json(&file)?;
    let count = |status| {
        let of_it = verdicts.iter().filter(|verdict| verdict.status == status);
        of_it.count() as u64
    };
    let counts = [count("PASS"), count("FAIL"), count("UNKNOWN")];
    Ok(format!("as expected: {}", summary(counts)))
}

/// A run of its own, from nothing; answers what it found and where its page is.
fn discover(workspace: &Workspace, folder: &Path) -> Result<(String, PathBuf), Error> {
    let run = folder.join("run");
    remove(&run)?;
    let popper = |command: &str| {
        let mut popper = workspace.binary("popper");
        popper.arg(command).arg("--db").arg(run.join("popper.db"));
        popper
    };
    let stands = folder.join("run.json");
    let flags = ["--iterations", "5", "--proposer", "enumerative", "--json"];
    finish_into(&stands, popper("run").args(flags))?;
    let page = folder.join("run.html");
    finish(popper("report").arg("--output").arg(&page))?;
    let standing: Standing = json(&stands)?;
    let count = |verdict| {
        let of_it = standing
            .verdicts
            .iter()
            .filter(|one| one.verdict == verdict);
        of_it.map(|one| one.laws).sum()
    };
    let counts = [count("PASS"), count("FAIL"), count("UNKNOWN")];
    let iterations = standing.iterations;
    let found = format!("{iterations} iterations: {}", summary(counts));
    Ok((found, page))
}

/// The part of a verdict that the table counts.
#[derive(Deserialize)]
struct Verdict {
    status: String,
}

/// The part of a run's standing that the table shows.
#[derive(Deserialize)]
struct Standing {
    iterations: u32,
    verdicts: Vec<Verdicts>,
}

#[derive(Deserialize)]
struct Verdicts {
    verdict: String,
    laws: u64,
}

fn summary([pass, fail, unknown]: [u64; 3]) -> String {
    let laws = pass + fail + unknown;
    format!("{laws} laws, {pass} PASS, {fail} FAIL, {unknown} UNKNOWN")
}

/// What a command wrote.
fn json<T: DeserializeOwned>(file: &Path) -> Result<T, Error> {
    let path = || file.to_owned();
    let text = fs::read(file).map_err(|source| Error::File {
        path: path(),
        source,
    })?;
    serde_json::from_slice(&text).map_err(|source| Error::Output {
        path: path(),
        source,
    })
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
    fn what_zer0gravity_writes_is_read_for_the_table() {
        let text = r#"[{"testCaseId": "1a", "total": 58, "more": 1}, {"testCaseId": "1b"}]"#;
        let scored: Vec<Scored> = serde_json::from_str(text).unwrap();
        assert_eq!(
            averaged(&scored),
            "offline: 58.0/100 on average (1a 58, 1b failed)"
        );
    }

    #[test]
    fn what_logosphere_writes_is_read_for_the_table() {
        let text = r#"{"holds":true,"lines":9,"rounds":2,"calls":6,"messages":12,"ended":true}"#;
        let verified: Verified = serde_json::from_str(text).unwrap();
        let told = "offline: 2 rounds, 6 calls, 12 messages; the journal holds";
        assert_eq!(verified.to_string(), told);
    }

    #[test]
    fn what_popper_writes_is_read_for_the_table() {
        let text = r#"{"run_id": 1, "iterations": 5, "verdicts": [{"verdict": "PASS", "reason": null, "laws": 3}]}"#;
        let standing: Standing = serde_json::from_str(text).unwrap();
        assert_eq!((standing.iterations, standing.verdicts[0].laws), (5, 3));
        assert_eq!(summary([2, 1, 0]), "3 laws, 2 PASS, 1 FAIL, 0 UNKNOWN");
    }
}
