//! The DOT format of Graphviz.

use std::io::{self, Write};

use super::graph::Graph;
use super::kind::ExportKind;
use crate::format::without_signature;
use crate::verify::Transcript;

/// The number of characters of a text that a label shows.
const SHOWN: usize = 60;

/// Writes all messages as nodes, and all edges. Parents that are not the best one are dashed.
pub(super) fn write(
    run: &Transcript,
    kind: ExportKind,
    graph: &Graph,
    out: &mut impl Write,
) -> io::Result<()> {
    writeln!(out, "digraph {kind} {{")?;
    for (id, message) in run.messages.iter().enumerate() {
        let label = label(without_signature(&message.text));
        let round = message.round;
        writeln!(out, "  {id} [label=\"{id}: {label}\", round={round}];")?;
    }
    for edge in &graph.edges {
        write!(out, "  {} -> {}", edge.from, edge.to)?;
        if let Some(descent) = edge.descent {
            let style = if descent.best { "solid" } else { "dashed" };
            let (method, confidence) = (descent.parent.method.name(), descent.parent.confidence);
            write!(
                out,
                " [method={method}, confidence={confidence}, style={style}]"
            )?;
        }
        writeln!(out, ";")?;
    }
    writeln!(out, "}}")
}

/// Returns the start of a text as the content of a quoted label, escaped and on one line.
fn label(text: &str) -> String {
    let mut label = String::new();
    for char in text.chars().take(SHOWN) {
        match char {
            '"' => label.push_str("\\\""),
            '\\' => label.push_str("\\\\"),
            // Labels may hold entities, as HTML does.
            '&' => label.push_str("&amp;"),
            _ if char.is_whitespace() => label.push(' '),
            _ if char.is_control() => label.push('\u{fffd}'),
            _ => label.push(char),
        }
    }
    label
}
