//! Newick, the trees of biology.

use std::io::{self, Write};

use crate::lineage::Lineage;
use crate::stamp::without_stamp;
use crate::{MsgId, Transcript};

/// Characters of a text that a name shows.
const SHOWN: usize = 40;

/// Writes the forest of best parents, one tree a line, children in the order of their ids.
pub(super) fn write(run: &Transcript, lineage: &Lineage, out: &mut impl Write) -> io::Result<()> {
    let children = Children::of(lineage);
    for root in lineage
        .nodes()
        .iter()
        .filter(|node| node.parents.is_empty())
    {
        // Lines can be longer than a stack is deep, so the way down is kept here.
        let mut way: Vec<(usize, usize)> = vec![(root.id as usize, 0)];
        while let Some((id, done)) = way.last_mut() {
            if let Some(&child) = children.of_node(*id).get(*done) {
                out.write_all(if *done == 0 { b"(" } else { b"," })?;
                *done += 1;
                way.push((child as usize, 0));
                continue;
            }
            if *done > 0 {
                out.write_all(b")")?;
            }
            write_name(run, *id, out)?;
            let node = &lineage.nodes()[*id];
            if let Some(parent) = node.parent() {
                let older = &lineage.nodes()[parent.id as usize];
                write!(out, ":{}", node.round.saturating_sub(older.round))?;
            }
            way.pop();
        }
        out.write_all(b";\n")?;
    }
    Ok(())
}

/// `'id text'`, on one line. Within quotes only the quote itself means anything.
fn write_name(run: &Transcript, id: usize, out: &mut impl Write) -> io::Result<()> {
    let text = without_stamp(&run.messages[id].text);
    let shown = text.chars().take(SHOWN).map(|char| match char {
        _ if char.is_whitespace() => ' ',
        _ if char.is_control() => '\u{fffd}',
        _ => char,
    });
    let shown: String = shown.collect();
    write!(out, "'{id} {}'", shown.replace('\'', "''"))
}

/// The children of every message, one after another.
struct Children {
    starts: Vec<usize>,
    ids: Vec<MsgId>,
}

impl Children {
    fn of(lineage: &Lineage) -> Self {
        let mut starts = vec![0];
        let mut end = 0;
        for node in lineage.nodes() {
            end += node.children as usize;
            starts.push(end);
        }
        let mut ids = vec![0; end];
        let mut next = starts.clone();
        for node in lineage.nodes() {
            if let Some(parent) = node.parent() {
                let place = &mut next[parent.id as usize];
                ids[*place] = node.id;
                *place += 1;
            }
        }
        Self { starts, ids }
    }

    fn of_node(&self, id: usize) -> &[MsgId] {
        &self.ids[self.starts[id]..self.starts[id + 1]]
    }
}
