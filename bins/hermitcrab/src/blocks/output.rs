//! Nodes as lines for a person.

use std::io::{self, IsTerminal as _, Write};

use bin_support::{escape, shortened};
use pscale_blocks::{NodeLine, Path};

/// The last line of an outline with a text that was cut.
const CUT: &str = "(cut; --full shows all)";

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

/// The columns that a line may have: those of the terminal that stdout is, no limit in a pipe or with `full`.
pub fn width(full: bool) -> Option<usize> {
    if full || !io::stdout().is_terminal() {
        return None;
    }
    let (columns, _) = crossterm::terminal::size().ok()?;
    // A terminal that does not know its size says 0.
    (columns > 0).then_some(columns.into())
}

/// One line a node, two spaces deeper with each level below the first one; then whether a text was cut.
pub fn outline(steps: &[NodeLine], width: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
    let first = steps.iter().map(|step| step.path.depth()).min();
    let mut cut = false;
    for step in steps {
        let level = step.path.depth() - first.unwrap_or_default();
        cut |= node(level, &step.path, step.text.as_deref(), width, out)?;
    }
    note_cut(cut, out)
}

/// Writes the last line of an outline with a text that was cut.
pub fn note_cut(cut: bool, out: &mut dyn Write) -> io::Result<()> {
    if cut {
        writeln!(out, "{CUT}")?;
    }
    Ok(())
}

/// A node at a level of an outline; returns whether its text was cut. Without a width the lines of its text stand below one
/// another.
pub fn node(
    level: usize,
    path: &Path,
    text: Option<&str>,
    width: Option<usize>,
    out: &mut dyn Write,
) -> io::Result<bool> {
    let start = format!("{:indent$}{}  ", "", shown(path), indent = 2 * level);
    let text = text.unwrap_or(NO_TEXT);
    if let Some(width) = width {
        let room = width.saturating_sub(start.len()).max(1);
        let line = shortened(text, room);
        writeln!(out, "{start}{line}")?;
        return Ok(line != escape(text));
    }
    let mut lines = text.split('\n');
    let first = escape(lines.next().unwrap_or_default());
    writeln!(out, "{start}{first}")?;
    for line in lines {
        let line = format!("{:width$}{}", "", escape(line), width = start.len());
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(false)
}
