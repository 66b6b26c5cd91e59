//! `cargo xtask fresh`: the two commands of the README on a bare machine, without a network.

mod bare_machine;

use std::fs;
use std::path::Path;
use std::process::Stdio;

use crate::workspace::{Workspace, finish};
use crate::{Error, Exit};
use bare_machine::BareMachine;

/// The longest line of the demo, in characters.
const WIDEST: usize = 80;

/// Runs the demo and the tests in a clone, and prints what a newcomer would stumble over.
pub fn run(workspace: &Workspace) -> Result<Exit, Error> {
    let machine = BareMachine::make(workspace)?;
    finish(&mut machine.cargo(&["fetch", "--locked"]))?;

    let mut problems = Vec::new();
    eprintln!("xtask: cargo xtask demo, in {}", machine.clone.display());
    let demo = machine.folder.join("demo.txt");
    let shown = fs::File::create(&demo).map_err(|source| Error::File {
        path: demo.clone(),
        source,
    })?;
    let mut command = machine.cargo(&["xtask", "demo"]);
    if let Err(error) = finish(command.stdout(Stdio::from(shown))) {
        problems.push(error.to_string());
    }
    let text = fs::read_to_string(&demo).unwrap_or_default();
    print!("{text}");
    problems.extend(check_demo(&machine.clone, &text));

    eprintln!("xtask: cargo xtask test --no-install");
    if let Err(error) = finish(&mut machine.cargo(&["xtask", "test", "--no-install"])) {
        problems.push(error.to_string());
    }
    problems.extend(machine.written()?);

    for problem in &problems {
        eprintln!("xtask: {problem}");
    }
    if problems.is_empty() {
        println!("both commands of the README work on a bare machine");
        machine.remove()?;
        return Ok(Exit::Done);
    }
    println!(
        "{} problems; kept: {}",
        problems.len(),
        machine.folder.display()
    );
    Ok(Exit::Failed)
}

/// The problems of the demo's output: lines that a terminal of 80 columns breaks, and pages that are named but missing.
fn check_demo(clone: &Path, text: &str) -> Vec<String> {
    let wide = text.lines().filter(|line| line.chars().count() > WIDEST);
    let wide = wide.map(|line| format!("wider than {WIDEST} columns: {line}"));
    let pages: Vec<_> = (text.split_whitespace())
        .filter(|word| word.starts_with("target/demo/"))
        .collect();
    let missing = pages.iter().filter(|page| !clone.join(page).is_file());
    let missing = missing.map(|page| format!("missing page: {page}"));
    // A page for each program, and the index.
    let few = (pages.len() < 5).then(|| format!("{} pages, expected 5", pages.len()));
    wide.chain(missing).chain(few).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_lines_and_missing_pages_of_the_demo_are_found() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("target/demo")).unwrap();
        let mut text = String::new();
        for number in 1..=5 {
            let page = format!("target/demo/{number}.html");
            fs::write(folder.path().join(&page), "").unwrap();
            text.push_str(&page);
            text.push('\n');
        }
        let check = |text: &str| check_demo(folder.path(), text);
        assert_eq!(check(&text), [""; 0]);
        let wide = "x".repeat(81);
        let text = text.replace("5.html", "6.html") + &wide + "\n";
        let missing = "missing page: target/demo/6.html".to_owned();
        assert_eq!(
            check(&text),
            [format!("wider than 80 columns: {wide}"), missing]
        );
        assert_eq!(check(""), ["0 pages, expected 5"]);
    }
}
