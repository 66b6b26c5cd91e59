//! `cargo xtask docs`: the pages and the helps show what the programs do.
//!
//! Each page is walked in an empty folder with its own home, without keys and network. The info string of a fence says what is done:
//!
//! - `console`: lines `$ COMMAND`, each followed by stdout and then stderr. A line `...` is any number of lines; in a line `[..]` is any text,
//!   and `[TIME]`, `[SHA]`, `[PATH]` and `[NUM]` are what they name. A last line `? 4` is an exit code other than 0.
//! - `sh`: commands, one a line, whose output is not compared.
//! - `json FILE`, `text FILE`: a file, written before the commands after it.
//! - `sh needs-key`, `sh needs-network`, `sh install`: commands that are not run; flags, packages, tasks and paths in them must exist.
//!
//! Files, exported variables and the working folder remain from block to block; a process that a command leaves is killed. Before the examples of a program's help the page
//! `fixtures/examples/PROGRAM.md` is walked in their folder.

mod commands;
mod expected;
mod help;
mod links;
mod lint;
mod mentions;
mod page;
mod problem;
mod prose;
mod sandbox;
mod unrun;
mod walk;

use std::fs;
use std::path::{Path, PathBuf};

use crate::task::Arguments;
use crate::workspace::{PROGRAMS, Workspace};
use crate::{Error, Exit};
use help::Help;
use page::Page;
use problem::Problem;
use sandbox::Sandbox;
use walk::Walk;

/// Checks the named pages, or all pages and the helps of all programs, and prints each problem.
pub fn run(workspace: &Workspace, arguments: &Arguments) -> Result<Exit, Error> {
    workspace.build_programs()?;
    let checked = check(workspace, arguments);
    let path = sandbox::folder(workspace);
    if path.exists() {
        fs::remove_dir_all(&path).map_err(|source| Error::File { path, source })?;
    }
    let (problems, line) = checked?;
    for problem in &problems {
        eprintln!("{problem}");
    }
    println!("{line}");
    Ok(if problems.is_empty() {
        Exit::Done
    } else {
        Exit::Failed
    })
}

/// Returns the problems, and a line about what was checked.
fn check(workspace: &Workspace, arguments: &Arguments) -> Result<(Vec<Problem>, String), Error> {
    let is_all = arguments.names.is_empty();
    let paths = if is_all {
        links::pages(&workspace.root)?
    } else {
        arguments.names.iter().map(PathBuf::from).collect()
    };
    let read = |path: &PathBuf| Page::read(&workspace.root, path);
    let mut pages = paths.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let needs_helps = is_all || pages.iter().any(is_walked);
    let helped = PROGRAMS
        .iter()
        .filter(|_| needs_helps)
        .map(|name| Helped::new(workspace, name))
        .collect::<Result<Vec<_>, _>>()?;
    let helps: Vec<_> = helped.iter().flat_map(|one| &one.helps).collect();

    let mut problems = Vec::new();
    for page in &pages {
        problems.extend(page.open_fences());
        problems.extend(links::check(&workspace.root, page));
        if is_walked(page) {
            problems.extend(mentions::check(page, &helps));
        }
        if lint::is_guide(page) {
            problems.extend(lint::length(page));
            problems.extend(lint::flags(page, &helps));
        }
    }
    if is_all {
        problems.extend(lint::unnamed(&pages, &helps));
    }
    let mut count = 0;
    if !arguments.has("--lint") {
        for program in helped.iter().filter(|_| is_all) {
            let (tried, found) = program.try_examples(workspace)?;
            count += tried;
            problems.extend(found);
        }
        for page in pages.iter_mut().filter(|page| !is_all || is_walked(page)) {
            let sandbox = Sandbox::new(workspace, &page.name.replace('/', "-"))?;
            let mut walk = Walk::new(workspace, &sandbox, arguments.has("--bless"));
            problems.extend(walk.page(page)?);
            count += walk.count;
        }
    }
    let (pages, found) = (pages.len(), problems.len());
    let line = format!("{pages} pages, {count} commands: {found} problems");
    Ok((problems, line))
}

/// Whether the blocks of a page are walked in a check of all pages: those for users and contributors, and the README of each library.
fn is_walked(page: &Page) -> bool {
    let parts: Vec<_> = page.name.split('/').collect();
    matches!(
        parts[..],
        ["README.md" | "CONTRIBUTING.md"] | ["docs", _] | ["crates", _, "README.md"]
    )
}

/// A program with its helps, and the folder in which its examples run.
struct Helped {
    program: &'static str,
    sandbox: Sandbox,
    helps: Vec<Help>,
}

impl Helped {
    fn new(workspace: &Workspace, program: &'static str) -> Result<Self, Error> {
        let sandbox = Sandbox::new(workspace, program)?;
        let helps = Help::all(&sandbox, program)?;
        Ok(Self {
            program,
            sandbox,
            helps,
        })
    }

    /// Checks the helps and runs their examples, after the page that makes the files for them. Returns the number of examples, too.
    fn try_examples(&self, workspace: &Workspace) -> Result<(usize, Vec<Problem>), Error> {
        let files = format!("fixtures/examples/{}.md", self.program);
        let mut page = Page::read(&workspace.root, Path::new(&files))?;
        let made = Walk::new(workspace, &self.sandbox, false).page(&mut page)?;
        let mut problems = help::check(workspace, &self.sandbox, &self.helps)?;
        problems.extend(made);
        let count = self.helps.iter().map(|help| help.examples().len()).sum();
        Ok((count, problems))
    }
}
