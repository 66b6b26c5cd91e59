//! The edits of a block, or of all.

use std::io::{self, Write as _};

use bin_support::{Results, escape};
use pscale_blocks::store::{LogEntry, LogRange, LoggedOp, Origins, newest_edits};
use pscale_blocks::{BlockName, BlockStore, EditAuthor, Op};
use serde::Serialize;

use super::list::chosen;
use super::output::{line, shown};
use crate::answer::Answer;
use crate::error::Error;

/// The longest text that a terminal shows whole, in characters.
const SHOWN: usize = 60;

/// The edits of one block or of several.
#[derive(Serialize)]
pub struct LogAnswer {
    /// In order of the blocks' names, the oldest edit of each block first. [`latest`] sorts by time alone.
    entries: Vec<BlockLogEntry>,
}

/// An entry of a block's log, with the block's name.
#[derive(Serialize)]
struct BlockLogEntry {
    name: BlockName,
    #[serde(flatten)]
    logged: LogEntry,
}

/// Reads the edits of one block or of all; with a limit, the last ones of each block.
pub fn log(
    name: Option<&BlockName>,
    limit: Option<usize>,
    store: &dyn BlockStore,
) -> Result<LogAnswer, Error> {
    let names = chosen(store, name)?;
    let mut entries = Vec::new();
    for name in names {
        // The log of an unknown block is empty, but loading the block fails.
        let newest = store.log(&name, limit.map_or(LogRange::ALL, LogRange::newest))?;
        if newest.is_empty() {
            store.load(&name)?;
        }
        entries.extend(newest.into_iter().rev().map(|logged| BlockLogEntry {
            name: name.clone(),
            logged,
        }));
    }
    Ok(LogAnswer { entries })
}

/// Returns the last edits of all blocks, the oldest of them first.
pub fn latest(count: usize, store: &dyn BlockStore) -> Result<LogAnswer, Error> {
    let newest = newest_edits(store, count)?.into_iter();
    let mut entries: Vec<_> = newest
        .map(|(name, logged)| BlockLogEntry { name, logged })
        .collect();
    entries.reverse();
    Ok(LogAnswer { entries })
}

impl Answer for LogAnswer {
    fn write_text(&self, out: &mut Results) -> io::Result<()> {
        for BlockLogEntry { name, logged } in &self.entries {
            let note = logged
                .note
                .as_deref()
                .map(|note| format!("  ({})", escape(note)));
            writeln!(
                out,
                "{name} {}  {}  {}{}  {}{}",
                logged.rev,
                logged.at.strftime("%Y-%m-%d %H:%M:%SZ"),
                who(&logged.by, out),
                came_from(&logged.from, out),
                what(logged, out),
                note.unwrap_or_default()
            )?;
        }
        Ok(())
    }
}

/// Returns the author of an edit in words.
pub fn who(by: &EditAuthor, out: &Results) -> String {
    let cut = |text: &str| line(text, SHOWN, out);
    match by {
        EditAuthor::Person => "person".to_owned(),
        EditAuthor::Model { id, web: None } => format!("model {}", cut(id)),
        EditAuthor::Model { id, web: Some(url) } => {
            format!("model {} after {}", cut(id), cut(url))
        }
        EditAuthor::Web { url } => format!("web {}", cut(url)),
        EditAuthor::Import { source } => format!("import {}", cut(source)),
        EditAuthor::Kernel => "kernel".to_owned(),
    }
}

/// Returns the first origin of an edit, and the number of the others.
fn came_from(from: &Origins, out: &Results) -> String {
    let count = (from.listed().len() as u64).saturating_add(from.more());
    match (from.listed().first(), count) {
        (None, 0) => String::new(),
        (None, 1) => " from 1 place".to_owned(),
        (None, count) => format!(" from {count} places"),
        (Some(first), count) => {
            let first = line(&first.to_string(), SHOWN, out);
            match count - 1 {
                0 => format!(" from {first}"),
                others => format!(" from {first} and {others} more"),
            }
        }
    }
}

fn what(logged: &LogEntry, out: &Results) -> String {
    let cut = |text: &str| line(text, SHOWN, out);
    let op = match &logged.op {
        LoggedOp::Create { .. } => return "create".to_owned(),
        LoggedOp::Delete => return "delete".to_owned(),
        LoggedOp::Undo { revs, .. } => return format!("undo {}", listed(revs)),
        LoggedOp::Redo { revs } => return format!("redo {}", listed(revs)),
        LoggedOp::Edit(op) => op,
    };
    match op {
        Op::Write { path, text } => format!("write {}  {}", shown(path), cut(text)),
        Op::Remove { path } => format!("remove {}", shown(path)),
        Op::Relocate { from, to } => format!("move {} to {}", shown(from), shown(to)),
        Op::Append { text, .. } => {
            let path = logged.path.as_ref().map(shown).unwrap_or_default();
            format!("append {path}  {}", cut(text))
        }
        Op::Grow { summary } => format!("grow  {}", cut(&summary.text)),
        Op::Replace { .. } => "replace".to_owned(),
        Op::SetDecimal { decimal } => format!("decimal {decimal}"),
    }
}

/// Returns the first few revisions as a list.
fn listed(revs: &[u64]) -> String {
    const SHOWN: usize = 5;
    let mut listed: Vec<_> = revs.iter().take(SHOWN).map(u64::to_string).collect();
    if revs.len() > SHOWN {
        listed.push(format!("and {} more", revs.len() - SHOWN));
    }
    listed.join(", ")
}
