//! `cargo xtask demo`: a first verdict, then the demo of each program as soon as it is built, then all results.

mod build;
mod index;
mod times;

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::fleet;
use crate::postgres::SERVER_PROGRAM;
use crate::task::Arguments;
use crate::workspace::{PROGRAMS, Workspace, finish};
use crate::{Error, Exit};
use build::Stopwatch;
use times::Times;

/// The line before any build.
const FIRST: &str = "xtask: no key and no network is used beyond fetching dependencies; first build 3 to 5 minutes on two cores";

/// The part that is run only by its name, since it needs a server: two workers decide the laws of a run.
const FLEET: &str = "fleet";

/// The result of a program: a line, and the page with all of it.
pub struct DemoResult {
    pub program: String,
    pub line: String,
    /// The path from the workspace's root; `None` after a failure.
    pub page: Option<String>,
}

/// Runs the demo of the named programs, or of all, also when one fails.
pub fn run(workspace: &Workspace, arguments: &Arguments) -> Result<Exit, Error> {
    let names = choose(&arguments.names)?;
    eprintln!("{FIRST}");
    let mut times = Times::default();
    if arguments.names.is_empty() {
        first_verdict(workspace, &mut times)?;
    }
    let mut results = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let label = format!("[{}/{}] {name}", index + 1, names.len());
        let result = match show(workspace, name, &label, &mut times) {
            Ok((line, page)) => {
                eprintln!("{label}: {line}");
                DemoResult {
                    program: (*name).to_owned(),
                    line,
                    page,
                }
            }
            Err(error) => DemoResult {
                program: (*name).to_owned(),
                line: format!("failed: {error}"),
                page: None,
            },
        };
        results.push(result);
    }
    let index = index::write(workspace, &results)?;
    for result in &results {
        println!("{:<12} {}", result.program, result.line);
        if let Some(page) = &result.page {
            println!("{:<12} {page}", "");
        }
    }
    let path = workspace.relative(&index).display();
    println!("All pages: {path}   (open with: cargo xtask demo --open)");
    println!("{times}");
    if arguments.has("--open") {
        index::open(&index);
    }
    let is_failed = |result: &DemoResult| result.line.starts_with("failed: ");
    Ok(if results.iter().any(is_failed) {
        Exit::Failed
    } else {
        Exit::Done
    })
}

fn choose(names: &[String]) -> Result<Vec<&str>, Error> {
    let known: Vec<_> = PROGRAMS.iter().chain([&FLEET]).copied().collect();
    if let Some(name) = names.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(Error::Unknown {
            kind: "program",
            name: name.clone(),
            known,
        });
    }
    Ok(if names.is_empty() {
        PROGRAMS.to_vec()
    } else {
        names.iter().map(String::as_str).collect()
    })
}

/// Two laws, one proved and one refuted, from a build that is small and not optimised.
fn first_verdict(workspace: &Workspace, times: &mut Times) -> Result<(), Error> {
    let mut cargo = workspace.cargo(&["build", "--locked", "--profile", "first"]);
    cargo.args(["--package", "orrery-popper-harness", "--example", "verdict"]);
    times.builds += build::run(&mut cargo, "first verdict")?;
    let watch = Stopwatch::start();
    finish(&mut workspace.built("first/examples/verdict"))?;
    times.jobs += watch.time();
    Ok(())
}

/// Builds a program and runs its demo. Returns its line and its page.
fn show(
    workspace: &Workspace,
    name: &str,
    label: &str,
    times: &mut Times,
) -> Result<(String, Option<String>), Error> {
    let program = if name == FLEET { "popper" } else { name };
    // With `--workspace` the features are those of every other build, so that nothing is compiled twice.
    let mut cargo = workspace.cargo(&["build", "--locked", "--workspace", "--bin", program]);
    if name == FLEET {
        cargo.args(SERVER_PROGRAM);
    }
    times.builds += build::run(&mut cargo, label)?;
    let folder = workspace.demo_folder(name)?;
    remove(&folder)?;
    let folder = workspace.demo_folder(name)?;
    let watch = Stopwatch::start();
    let shown = if name == FLEET {
        fleet::run(workspace, &folder).map(|line| (line, None))
    } else {
        job(workspace, program, &folder).map(|(line, page)| (line, Some(page)))
    };
    times.jobs += watch.time();
    shown
}

/// Runs the demo of a program, and reads the line and the page that it names.
fn job(workspace: &Workspace, program: &str, folder: &Path) -> Result<(String, String), Error> {
    let folder = workspace.relative(folder);
    let mut command = workspace.binary(program);
    command.args(["demo", "--json", "--dir"]).arg(folder);
    let output = command.output().map_err(|source| Error::Start {
        command: program.to_owned(),
        source,
    })?;
    let told = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        eprint!("{told}");
        let lines = told.lines().filter_map(|line| line.strip_prefix(program));
        let mut errors = lines.filter_map(|line| line.strip_prefix(": "));
        let status = output.status.to_string();
        let reason = errors.next_back().unwrap_or(&status).to_owned();
        return Err(Error::Demo { reason });
    }
    let result: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let text = |key: &str| result[key].as_str().map(str::to_owned);
    let (Some(line), Some(page)) = (text("line"), text("page")) else {
        let reason = "the output of `demo --json` has no line and page".to_owned();
        return Err(Error::Demo { reason });
    };
    let page = workspace.root.join(page);
    if !page.is_file() {
        let reason = format!("no page {}", page.display());
        return Err(Error::Demo { reason });
    }
    Ok((line, workspace.relative(&page).display().to_string()))
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

/// The part of the JSON in a file that `part` takes from it.
pub fn read<T>(file: &Path, part: fn(&Value) -> Option<T>) -> Result<T, Error> {
    let text = fs::read(file).map_err(|source| Error::File {
        path: file.to_owned(),
        source,
    })?;
    let output = serde_json::from_slice(&text).ok();
    output.as_ref().and_then(part).ok_or_else(|| Error::Output {
        path: file.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_output_is_an_error_that_names_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("run.json");
        fs::write(&file, "{}").unwrap();
        let error = read(&file, |run| run["line"].as_str().map(str::to_owned));
        let error = error.unwrap_err().to_string();
        assert!(
            error.ends_with("run.json is not what the command should have written"),
            "{error}"
        );
    }
}
