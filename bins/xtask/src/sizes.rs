//! `cargo xtask sizes`: lines of source of the packages that make Hermitcrab.

use std::fs;
use std::path::{Path, PathBuf};

use crate::workspace::Workspace;
use crate::{Error, Exit};

/// The beginnings of the folders that count. Libraries that other programs use, too, do not.
const AREA: [&str; 3] = [
    "crates/hermitcrab-",
    "crates/pscale-blocks",
    "bins/hermitcrab",
];
/// The endings of source files.
const SOURCES: [&str; 3] = ["rs", "js", "jsx"];
/// The module of unit tests at the end of a file.
const TESTS: &str = "\n#[cfg(test)]\nmod tests {";

/// Prints one line for each package of the area, and the sum.
pub fn run(workspace: &Workspace) -> Result<Exit, Error> {
    print!("{}", table(&workspace.root)?);
    Ok(Exit::Done)
}

fn table(root: &Path) -> Result<String, Error> {
    let mut table = Vec::new();
    let mut sum = 0;
    for group in ["crates", "bins"] {
        for folder in entries(&root.join(group))? {
            let name = folder.strip_prefix(root).unwrap_or(&folder);
            let name = name.display().to_string();
            if AREA.iter().any(|start| name.starts_with(start)) {
                let lines = lines_below(&folder.join("src"))?;
                table.push(format!("{lines:>7}  {name}\n"));
                sum += lines;
            }
        }
    }
    table.push(format!(
        "{sum:>7}  lines of Rust and JavaScript, without tests\n"
    ));
    Ok(table.concat())
}

/// The lines of the source files below a folder; tests are left out.
fn lines_below(folder: &Path) -> Result<usize, Error> {
    let mut lines = 0;
    for path in entries(folder)? {
        let is_source = |end: &&str| path.extension().is_some_and(|it| it == *end);
        if path.file_stem().is_some_and(|name| name == "tests") {
            continue;
        }
        if path.is_dir() {
            lines += lines_below(&path)?;
        } else if SOURCES.iter().any(is_source) {
            let text = fs::read_to_string(&path).map_err(|source| Error::File { path, source })?;
            lines += text.split(TESTS).next().unwrap_or("").lines().count();
        }
    }
    Ok(lines)
}

/// The files and folders in a folder, in order.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let failed = |source| Error::File {
        path: folder.to_owned(),
        source,
    };
    let entries = fs::read_dir(folder).map_err(failed)?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    let mut paths: Vec<_> = paths.collect::<Result<_, _>>().map_err(failed)?;
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_of_the_area_count_without_their_tests() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let code = format!("one\ntwo\n{TESTS}\n    three\n}}\n");
        for (path, text) in [
            ("crates/hermitcrab-a/src/lib.rs", &*code),
            ("crates/hermitcrab-a/src/page/a.js", "one\n\nthree"),
            ("crates/hermitcrab-a/src/page/a.css", "one\n"),
            ("crates/hermitcrab-a/src/tests.rs", "one\n"),
            ("crates/hermitcrab-a/src/b/tests/c.rs", "one\n"),
            ("crates/hermitcrab-a/tests/it/main.rs", "one\n"),
            ("crates/other/src/lib.rs", "one\n"),
            ("bins/hermitcrab/src/main.rs", "one\n"),
        ] {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let lines = [
            "      5  crates/hermitcrab-a",
            "      1  bins/hermitcrab",
            "      6  lines of Rust and JavaScript, without tests\n",
        ];
        assert_eq!(table(root).unwrap(), lines.join("\n"));
    }
}
