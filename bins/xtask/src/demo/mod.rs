//! `cargo xtask demo`: a first verdict, then the demo of each program as soon as it is built, then all results.

mod build;
mod demo_result;
mod index;
mod times;

use std::path::Path;

use serde_json::Value;

use crate::task::Arguments;
use crate::workspace::{PROGRAMS, Workspace, finish};
use crate::{Error, Exit};
use build::Stopwatch;
use demo_result::{DemoOutcome, DemoResult};
use times::Times;

/// The line before any build.
const FIRST: &str = "xtask: no key and no network is used beyond fetching dependencies; first build 3 to 5 minutes on two cores";

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
        let result = DemoResult {
            program: (*name).to_owned(),
            outcome: show(workspace, name, &label, &mut times),
        };
        eprintln!("{label}: {}", result.line());
        results.push(result);
    }
    let index = index::write(workspace, &results)?;
    for result in &results {
        println!("{:<12} {}", result.program, result.line());
        if let Some(page) = result.page() {
            println!("{:<12} {page}", "");
        }
    }
    let path = workspace.relative(&index).display();
    println!("All pages: {path}   (open with: cargo xtask demo --open)");
    println!("{times}");
    if arguments.has("--open") {
        index::open(&index);
    }
    Ok(if results.iter().any(|result| result.outcome.is_err()) {
        Exit::Failed
    } else {
        Exit::Done
    })
}

fn choose(names: &[String]) -> Result<Vec<&str>, Error> {
    let is_unknown = |name: &&String| !PROGRAMS.contains(&name.as_str());
    if let Some(name) = names.iter().find(is_unknown) {
        return Err(Error::Unknown {
            kind: "program",
            name: name.clone(),
            known: PROGRAMS.to_vec(),
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

/// Builds a program and runs its demo.
fn show(
    workspace: &Workspace,
    name: &str,
    label: &str,
    times: &mut Times,
) -> Result<DemoOutcome, Error> {
    // With `--workspace` the features are those of all four programs, so that the next one compiles nothing again.
    let mut cargo = workspace.cargo(&["build", "--locked", "--workspace", "--bin", name]);
    times.builds += build::run(&mut cargo, label)?;
    let folder = workspace.demo_folder(name)?;
    let watch = Stopwatch::start();
    let shown = job(workspace, name, &folder);
    times.jobs += watch.time();
    shown
}

/// Runs the demo of a program, and reads the line and the page that it names.
fn job(workspace: &Workspace, program: &str, folder: &Path) -> Result<DemoOutcome, Error> {
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
        return Err(Error::Program { reason });
    }
    let result: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let text = |key: &str| result[key].as_str().map(str::to_owned);
    let (Some(line), Some(page)) = (text("line"), text("page")) else {
        let reason = "the output of `demo --json` has no line and page".to_owned();
        return Err(Error::Program { reason });
    };
    let page = workspace.root.join(page);
    if !page.is_file() {
        let reason = format!("no page {}", page.display());
        return Err(Error::Program { reason });
    }
    let page = workspace.relative(&page).display().to_string();
    Ok(DemoOutcome { line, page })
}
