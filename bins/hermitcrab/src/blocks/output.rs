//! Nodes as lines for a person.

use std::io::{self, Write};

use bin_support::{Results, escape, shortened};
use pscale_blocks::{NodeDiff, NodeLine, Path};

/// The last line of an outline in which a text was cut.
const CUT: &str = "(cut; --full shows all)";

/// The longest text of a difference that a terminal shows whole, in characters.
pub const SHOWN: usize = 100;

/// The words in the place of a missing text.
const NO_TEXT: &str = "(no text yet)";

/// Returns a path as a person reads it. The root is called `tree`.
pub fn shown(path: &Path) -> String {
    if path.is_root() {
        "tree".to_owned()
    } else {
        path.to_string()
    }
}

/// Returns a text as one line. A terminal gets at most `limit` characters of it.
pub fn line(text: &str, limit: usize, out: &Results) -> String {
    match out.width() {
        Some(_) => shortened(text, limit),
        None => escape(text),
    }
}

/// Writes one line a node, indented by two spaces a level, and a last line if a text was cut.
pub fn outline(steps: &[NodeLine], width: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
    let first = steps.iter().map(|step| step.path.depth()).min();
    let mut cut = false;
    for step in steps {
        let level = step.path.depth() - first.unwrap_or_default();
        cut |= node(level, &step.path, step.text.as_deref(), width, out)?;
    }
    note_cut(cut, out)
}

/// Writes the last line of an outline in which a text was cut.
pub fn note_cut(cut: bool, out: &mut dyn Write) -> io::Result<()> {
    if cut {
        writeln!(out, "{CUT}")?;
    }
    Ok(())
}

/// Writes a node at a level of an outline and returns whether its text was cut.
///
/// With a width the text is one line. Without one each line of the text is a line of the output.
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

/// Writes a line for each text that one of two blocks has and the other has not. A terminal gets at most `limit` characters of
/// it.
pub fn differences(nodes: &[NodeDiff], limit: usize, out: &mut Results) -> io::Result<()> {
    for node in nodes {
        for (sign, text) in [('-', &node.before), ('+', &node.after)] {
            if let Some(text) = text {
                let text = line(text, limit, out);
                writeln!(out, "{sign} {}  {text}", shown(&node.path))?;
            }
        }
    }
    Ok(())
}
