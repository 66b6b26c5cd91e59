//! `cargo xtask demo`: the main job of every program, offline, on what one build left in the target folder.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::postgres::SERVER_PROGRAM;
use crate::workspace::{Workspace, finish, finish_into};
use crate::{Error, Exit, fleet};

/// One entry a program.
const TOOLS: &[Tool] = &[
    Tool {
        name: "zer0gravity",
        job: zer0gravity,
    },
    Tool {
        name: "logosphere",
        job: logosphere,
    },
    Tool {
        name: "hermitcrab",
        job: hermitcrab,
    },
    Tool {
        name: "popper",
        job: popper,
    },
];

struct Tool {
    name: &'static str,
    job: fn(&Workspace) -> Result<DemoResult, Error>,
}

/// The result of a job in a few words, and the file with all of it.
struct DemoResult {
    result: String,
    file: PathBuf,
}

/// Runs every job, also when one fails, and ends with a list of them.
pub fn run(workspace: &Workspace) -> Result<Exit, Error> {
    // One build for all: a build of a single package would pick other features and compile again.
    let build = ["build", "--locked", "--workspace", "--bins"];
    finish(workspace.cargo(&build).args(SERVER_PROGRAM))?;
    let mut exit = Exit::Done;
    let mut list = Vec::new();
    for tool in TOOLS {
        match (tool.job)(workspace) {
            Ok(outcome) => {
                let file = workspace.relative(&outcome.file).display().to_string();
                list.push(entry(tool.name, &format!("{}\n{file}", outcome.result)));
            }
            Err(error) => {
                list.push(entry(tool.name, &format!("failed: {error}")));
                exit = Exit::Failed;
            }
        }
    }
    println!("\n{}", list.join("\n"));
    Ok(exit)
}

/// A name before a result, and the result's further lines under its first.
fn entry(name: &str, result: &str) -> String {
    let result = result.replace('\n', "\n             ");
    format!("{name:<12} {result}")
}

/// Encodes, decodes and scores the texts of all levels by rules, and makes a page of it.
fn zer0gravity(workspace: &Workspace) -> Result<DemoResult, Error> {
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
            .arg("--output")
            .arg(&page),
    )?;
    Ok(DemoResult {
        result: read(&results, averaged)?,
        file: page,
    })
}

fn averaged(scored: &Value) -> Option<String> {
    let scored = scored.as_array()?;
    let totals: Vec<_> = scored
        .iter()
        .filter_map(|one| one["total"].as_f64())
        .collect();
    let each: Option<Vec<_>> = (scored.iter())
        .map(|one| {
            let case = one["testCaseId"].as_str()?;
            Some(match one["total"].as_f64() {
                Some(total) => format!("{case} {total}"),
                None => format!("{case} failed"),
            })
        })
        .collect();
    let mean = totals.iter().sum::<f64>() / totals.len().max(1) as f64;
    let each = each?.join(", ");
    Some(format!("offline: {mean:.1}/100 on average ({each})"))
}

/// Lets a population of programs pass messages, checks its journal, and makes a page with what chance alone gives.
fn logosphere(workspace: &Workspace) -> Result<DemoResult, Error> {
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
    Ok(DemoResult {
        result: read(&checked, verified)?,
        file: experiment.join("report.html"),
    })
}

fn verified(journal: &Value) -> Option<String> {
    let count = |key: &str| journal[key].as_u64();
    let (rounds, calls, messages) = (count("rounds")?, count("calls")?, count("messages")?);
    Some(format!(
        "offline: {rounds} rounds, {calls} calls, {messages} messages; journal verified"
    ))
}

/// Wakes an instance without a model, talks with it line by line, and looks at what it has written into its blocks.
fn hermitcrab(workspace: &Workspace) -> Result<DemoResult, Error> {
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
    let (blocks, tokens) = (read(&listed, blocks)?, read(&next, tokens)?);
    Ok(DemoResult {
        result: format!("offline: {blocks}; the next call has {tokens} tokens"),
        file: talk,
    })
}

fn blocks(listed: &Value) -> Option<String> {
    let blocks = listed["blocks"].as_array()?;
    let memory = blocks.iter().find(|block| block["name"] == "memory");
    let memory = match memory {
        None => "no memory".to_owned(),
        Some(memory) => {
            let (decimal, nodes) = (memory["decimal"].as_u64()?, memory["nodes"].as_u64()?);
            format!("the memory has grown to decimal {decimal} and {nodes} nodes")
        }
    };
    Some(format!("{} blocks, {memory}", blocks.len()))
}

fn tokens(prompt: &Value) -> Option<u64> {
    prompt["tokens"]["total"].as_u64()
}

/// Removes the files of an earlier demo.
pub fn remove(folder: &Path) -> Result<(), Error> {
    if !folder.exists() {
        return Ok(());
    }
    fs::remove_dir_all(folder).map_err(|source| Error::File {
        path: folder.to_owned(),
        source,
    })
}

/// Decides the laws of the fixtures, holds the verdicts against what is expected of them, and lets a run propose laws itself.
fn popper(workspace: &Workspace) -> Result<DemoResult, Error> {
    let folder = workspace.demo_folder("popper")?;
    let checked = check(workspace, &folder)?;
    let (found, file) = discover(workspace, &folder)?;
    let fleet = fleet::run(workspace, &folder)?;
    Ok(DemoResult {
        result: format!("{checked}\n{found}\n{fleet}"),
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
    read(&file, checked)
}

fn checked(verdicts: &Value) -> Option<String> {
    let verdicts = verdicts.as_array()?;
    let count = |status: &str| {
        let of_it = verdicts
            .iter()
            .filter(|verdict| verdict["status"] == status);
        of_it.count() as u64
    };
    Some(format!("as expected: {}", summary(count)))
}

/// A run from nothing; returns a line about it and its page.
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
    Ok((read(&stands, found)?, page))
}

fn found(run: &Value) -> Option<String> {
    let (iterations, verdicts) = (run["iterations"].as_u64()?, run["verdicts"].as_array()?);
    let count = |status: &str| {
        let of_it = verdicts.iter().filter(|one| one["verdict"] == status);
        of_it.filter_map(|one| one["laws"].as_u64()).sum()
    };
    Some(format!("{iterations} iterations: {}", summary(count)))
}

fn summary(count: impl Fn(&str) -> u64) -> String {
    let [pass, fail, unknown] = ["PASS", "FAIL", "UNKNOWN"].map(count);
    let laws = pass + fail + unknown;
    format!("{laws} laws, {pass} PASS, {fail} FAIL, {unknown} UNKNOWN")
}

/// The part of the JSON in a file that `part` takes from it.
pub fn read<T>(file: &Path, part: fn(&Value) -> Option<T>) -> Result<T, Error> {
    let text = fs::read(file).map_err(|source| Error::File {
        path: file.to_owned(),
        source,
    })?;
    let value: Option<Value> = serde_json::from_slice(&text).ok();
    value.as_ref().and_then(part).ok_or_else(|| Error::Output {
        path: file.to_owned(),
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
    use serde_json::json;

    use super::*;

    #[test]
    fn each_program_s_result_is_read_for_the_list() {
        let scored = json!([{"testCaseId": "1a", "total": 58, "more": 1}, {"testCaseId": "1b"}]);
        let line = "offline: 58.0/100 on average (1a 58, 1b failed)";
        assert_eq!(averaged(&scored).unwrap(), line);
        let journal = json!({"holds": true, "rounds": 2, "calls": 6, "messages": 12});
        let line = "offline: 2 rounds, 6 calls, 12 messages; journal verified";
        assert_eq!(verified(&journal).unwrap(), line);
        let listed =
            json!({"blocks": [{"name": "memory", "decimal": 2, "nodes": 12}, {"name": "x"}]});
        let line = "2 blocks, the memory has grown to decimal 2 and 12 nodes";
        assert_eq!(blocks(&listed).unwrap(), line);
        let run = json!({"iterations": 5, "verdicts": [
            {"verdict": "PASS", "reason": null, "laws": 3}, {"verdict": "FAIL", "laws": 2}]});
        let line = "5 iterations: 5 laws, 3 PASS, 2 FAIL, 0 UNKNOWN";
        assert_eq!(found(&run).unwrap(), line);
        let verdicts = json!([{"status": "PASS"}, {"status": "UNKNOWN"}]);
        let line = "as expected: 2 laws, 1 PASS, 0 FAIL, 1 UNKNOWN";
        assert_eq!(checked(&verdicts).unwrap(), line);
    }

    #[test]
    fn other_output_is_an_error_that_names_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("run.json");
        fs::write(&file, "{}").unwrap();
        let error = read(&file, found).unwrap_err().to_string();
        assert!(
            error.ends_with("run.json is not what the command should have written"),
            "{error}"
        );
    }

    #[test]
    fn a_name_stands_before_the_first_line_only() {
        let list = entry("popper", "34 laws\nrun.html");
        assert_eq!(list, "popper       34 laws\n             run.html");
    }
}
