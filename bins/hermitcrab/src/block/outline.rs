//! Nodes as lines for a person.

use std::io::{self, Write};

use bin_support::{printable, shortened};
use pscale_blocks::{Path, Step};

/// How much of a text is shown in characters, where not all of it is.
const SHOWN: usize = 100;

/// What stands for a text that is not there.
const NO_TEXT: &str = "(no text yet)";

/// A path as a person reads it.
pub fn shown(path: &Path) -> String {
    if path.is_root() {
        "tree".to_owned()
    } else {
        path.to_string()
    }
}

/// One line a node, two spaces deeper with each level below the first one.
pub fn outline(steps: &[Step], full: bool, out: &mut dyn Write) -> io::Result<()> {
    let first = steps.iter().map(|step| step.path.depth()).min();
    for step in steps {
        let level = step.path.depth() - first.unwrap_or_default();
        node(level, &step.path, step.text.as_deref(), full, out)?;
    }
    Ok(())
}

/// A node at a level of an outline. With `full` the lines of its text stand below one another.
pub fn node(
    level: usize,
    path: &Path,
    text: Option<&str>,
    full: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let start = format!("{:indent$}{}  ", "", shown(path), indent = 2 * level);
    let text = text.unwrap_or(NO_TEXT);
    if !full {
        return writeln!(out, "{start}{}", shortened(text, SHOWN));
    }
    let mut lines = text.split('\n');
    let first = printable(lines.next().unwrap_or_default());
    writeln!(out, "{start}{first}")?;
    for line in lines {
        let line = format!("{:width$}{}", "", printable(line), width = start.len());
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}
