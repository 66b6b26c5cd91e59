//! A block, or a part of it, as a person or a program reads it.

use std::io::{self, Write};

use bin_support::Results;
use clap::ValueEnum;
use pscale_blocks::{BlockName, BlockStore, NodeLine, NodeView, Path};
use serde::Serialize;

use super::output::{node, note_cut, outline, shown};
use crate::address::Address;
use crate::answer::Answer;
use crate::error::Error;

/// The part of a block that is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum View {
    /// The node and one level below it.
    Node,
    /// The nodes on the way from the root to the node.
    Spindle,
    /// The node and all levels below it.
    Subtree,
}

/// The part of a block that was asked for.
#[derive(Serialize)]
pub struct ReadAnswer {
    name: BlockName,
    decimal: u8,
    rev: u64,
    view: View,
    /// The usual form of the path, if it was typed in another form.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(flatten)]
    found: ShownNodes,
    /// Whether long texts are whole on a terminal, too.
    #[serde(skip)]
    full: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum ShownNodes {
    /// The nodes of [`View::Node`].
    Node(NodeView),
    /// The nodes of the other views.
    Nodes(Vec<NodeLine>),
}

/// Reads a part of a block. Without a path, [`View::Subtree`] shows the whole tree, and the other views begin at the head.
pub fn read(
    name: &BlockName,
    at: Option<&Address>,
    view: Option<View>,
    full: bool,
    store: &dyn BlockStore,
) -> Result<ReadAnswer, Error> {
    let stored = store.load(name)?;
    let block = &stored.block;
    let view = view.unwrap_or(match at {
        Some(_) => View::Node,
        None => View::Subtree,
    });
    let path = match at {
        Some(address) => address.path,
        None if view == View::Subtree => Path::root(),
        None => block.head(),
    };
    let found = match view {
        View::Node => block.view(&path).map(ShownNodes::Node),
        View::Spindle => block.spindle(&path).map(ShownNodes::Nodes),
        View::Subtree => block.subtree(&path, None).map(ShownNodes::Nodes),
    };
    let found = found.map_err(|error| error.in_block(name))?;
    Ok(ReadAnswer {
        name: name.clone(),
        decimal: block.decimal(),
        rev: stored.rev,
        view,
        note: at.and_then(Address::note),
        found,
        full,
    })
}

impl Answer for ReadAnswer {
    fn write_text(&self, out: &mut Results) -> io::Result<()> {
        writeln!(
            out,
            "{} (decimal {}, revision {})",
            self.name, self.decimal, self.rev
        )?;
        let width = out.width().filter(|_| !self.full);
        match &self.found {
            ShownNodes::Node(view) => self.write_node(view, width, out),
            ShownNodes::Nodes(steps) => outline(steps, width, out),
        }
    }

    fn notices(&self) -> Vec<String> {
        self.note.iter().cloned().collect()
    }
}

impl ReadAnswer {
    /// Writes the node's own text whole, and the texts of its children as far as they fit.
    fn write_node(
        &self,
        view: &NodeView,
        width: Option<usize>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        node(0, &view.path, view.content.as_deref(), None, out)?;
        let mut cut = false;
        let more = view.more.as_deref().unwrap_or_default();
        for (digit, text) in view.children.iter().flatten() {
            let Ok(path) = view.path.child(*digit) else {
                continue;
            };
            cut |= node(1, &path, text.as_deref(), width, out)?;
            if more.contains(digit) {
                writeln!(out, "    … read {} {path}", self.name)?;
            }
        }
        match &view.next_free {
            Some(Some(path)) => writeln!(out, "next free: {}", shown(path))?,
            Some(None) => writeln!(out, "next free: none, nine are used")?,
            None => {}
        }
        note_cut(cut, out)
    }
}
