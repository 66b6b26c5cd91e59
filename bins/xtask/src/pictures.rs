//! `cargo xtask pictures`: the pictures of the README and the guides, from commands that run offline.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::task::Arguments;
use crate::terminal_svg::{DARK, LIGHT, draw};
use crate::workspace::{Workspace, finish};
use crate::{Error, Exit, browser};

/// A terminal with commands and their output.
const TERMINALS: &[(&str, &[&str])] = &[(
    "check",
    &["popper check --conserved \"count('>') + count('X')\" --conserved \"count('X')\" --trace"],
)];

/// A page: the name of its picture, the program whose `demo` writes it, and the page's file in the folder of the demo.
const PAGES: &[(&str, &str, &str)] = &[
    ("popper-report", "popper", "report.html"),
    ("zer0gravity-report", "zer0gravity", "report.html"),
    ("logosphere-report", "logosphere", "report.html"),
];

/// The width and height of a page in pixels, and those that are tried when the picture is too large.
const SIZES: [(u32, u32); 2] = [(1200, 800), (800, 800)];

/// The largest picture of a page and of a terminal, and of all together, in bytes.
const LARGEST_PNG: u64 = 200 << 10;
const LARGEST_SVG: u64 = 40 << 10;
const LARGEST_SUM: u64 = 1536 << 10;

/// Draws everything; with `--check` only the terminals, which need no browser and must equal the committed pictures.
pub fn run(workspace: &Workspace, arguments: &Arguments) -> Result<Exit, Error> {
    workspace.build_programs()?;
    let folder = workspace.root.join("docs/img");
    let check = arguments.has("--check");
    let mut exit = Exit::Done;
    for (name, commands) in TERMINALS {
        let lines = terminal(workspace, commands)?;
        for (scheme, theme) in [("light", &LIGHT), ("dark", &DARK)] {
            let file = folder.join(format!("{name}-{scheme}.svg"));
            let svg = draw(&lines, theme);
            if !check {
                write(&file, &svg)?;
            } else if fs::read_to_string(&file).ok().as_ref() != Some(&svg) {
                let file = workspace.relative(&file).display();
                eprintln!("xtask: {file} is not what the commands print: cargo xtask pictures");
                exit = Exit::Failed;
            }
        }
    }
    if !check {
        for (name, program, page) in PAGES {
            let demo = workspace.demo_folder(program)?;
            let mut command = workspace.binary(program);
            finish(command.args(["demo", "--quiet", "--dir"]).arg(&demo))?;
            for (scheme, dark) in [("light", false), ("dark", true)] {
                photograph(
                    &demo.join(page),
                    &folder.join(format!("{name}-{scheme}.png")),
                    dark,
                )?;
            }
        }
    }
    sizes(workspace, &folder)?;
    Ok(exit)
}

/// The commands and their output, with the escape sequences of colours.
fn terminal(workspace: &Workspace, commands: &[&str]) -> Result<Vec<String>, Error> {
    let folder = workspace.demo_folder("pictures")?;
    let programs = workspace.target.join("debug");
    let mut lines = Vec::new();
    for command in commands {
        let output = Command::new("sh")
            .args(["-c", command])
            .env_clear()
            .env("PATH", format!("{}:/usr/bin:/bin", programs.display()))
            .env("HOME", &folder)
            .env("CLICOLOR_FORCE", "1")
            .current_dir(&folder)
            .output()
            .map_err(|source| Error::Start {
                command: (*command).to_owned(),
                source,
            })?;
        if !output.status.success() {
            return Err(Error::Ended {
                command: (*command).to_owned(),
                status: output.status,
            });
        }
        lines.push(format!("$ {command}"));
        lines.extend(
            String::from_utf8_lossy(&output.stdout)
                .lines()
                .map(str::to_owned),
        );
    }
    Ok(lines)
}

fn write(file: &Path, text: &str) -> Result<(), Error> {
    fs::write(file, text).map_err(|source| Error::File {
        path: file.to_owned(),
        source,
    })
}

/// Takes a picture of a page; a smaller one if it is too large.
fn photograph(page: &Path, picture: &Path, dark: bool) -> Result<(), Error> {
    for (width, height) in SIZES {
        let mut chromium = Command::new(browser::chromium());
        chromium.args([
            "--headless",
            "--no-sandbox",
            "--hide-scrollbars",
            "--disable-gpu",
        ]);
        chromium.arg(format!(
            "--blink-settings=preferredColorScheme={}",
            u8::from(!dark)
        ));
        chromium.arg(format!("--window-size={width},{height}"));
        chromium.arg(format!("--screenshot={}", picture.display()));
        chromium.stderr(Stdio::null());
        finish(chromium.arg(format!("file://{}", page.display())))?;
        if length(picture)? <= LARGEST_PNG {
            break;
        }
    }
    Ok(())
}

fn length(file: &Path) -> Result<u64, Error> {
    let used = |source| Error::File {
        path: file.to_owned(),
        source,
    };
    Ok(fs::metadata(file).map_err(used)?.len())
}

/// Checks the sizes of all pictures.
fn sizes(workspace: &Workspace, folder: &Path) -> Result<(), Error> {
    let used = |source| Error::File {
        path: folder.to_owned(),
        source,
    };
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let mut files: Vec<PathBuf> = entries
        .map_err(used)?
        .iter()
        .map(fs::DirEntry::path)
        .collect();
    files.sort();
    let mut sum = 0;
    for file in &files {
        let size = length(file)?;
        sum += size;
        let is_svg = file.extension().is_some_and(|extension| extension == "svg");
        let limit = if is_svg { LARGEST_SVG } else { LARGEST_PNG };
        let name = workspace.relative(file).display().to_string();
        println!("{:>6.1} kB  {name}", size as f64 / 1e3);
        if size > limit {
            return Err(Error::TooLarge { name, size, limit });
        }
    }
    if sum > LARGEST_SUM {
        let name = workspace.relative(folder).display().to_string();
        return Err(Error::TooLarge {
            name,
            size: sum,
            limit: LARGEST_SUM,
        });
    }
    Ok(())
}
