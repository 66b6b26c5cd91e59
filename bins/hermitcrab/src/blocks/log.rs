//! The edits of a block, or of all.

use std::io::{self, Write};

use bin_support::{escape, shortened};
use pscale_blocks::store::{LogEntry, LoggedOp};
use pscale_blocks::{BlockName, BlockStore, EditAuthor, Op};
use serde::Serialize;

use super::list::chosen;
use super::output::shown;
use crate::answer::Answer;
use crate::error::Error;

/// How much of a text is shown, in characters.
const SHOWN: usize = 60;

/// What was done.
#[derive(Serialize)]
pub struct LogAnswer {
    /// In order of the blocks' names, each block's oldest first; the latest of all blocks in order of their times.
    entries: Vec<BlockLogEntry>,
}

/// A line of a block's log, as it is in the log's file, with the block's name.
#[derive(Serialize)]
struct BlockLogEntry {
    name: BlockName,
    #[serde(flatten)]
    logged: LogEntry,
}

/// Reads the last edits of one block or of all, at most `limit` of each.
pub fn log(
    name: Option<&BlockName>,
    limit: Option<usize>,
    store: &dyn BlockStore,
) -> Result<LogAnswer, Error> {
    let names = chosen(store, name)?;
    let mut entries = Vec::new();
    for name in names {
        // The log of a block that was never there is empty, not wrong.
        let logged = store.log(Some(&name), 0)?;
        if logged.is_empty() {
            store.load(&name)?;
        }
        let left_out = limit.map_or(0, |limit| logged.len().saturating_sub(limit));
        entries.extend(
            logged
                .into_iter()
                .skip(left_out)
                .map(|logged| BlockLogEntry {
                    name: name.clone(),
                    logged,
                }),
        );
    }
    Ok(LogAnswer { entries })
}

/// The last edits of all blocks, the oldest of them first.
pub fn latest(count: usize, store: &dyn BlockStore) -> Result<LogAnswer, Error> {
    let mut entries = log(None, Some(count), store)?.entries;
    entries.sort_by_key(|entry| entry.logged.at);
    entries.drain(..entries.len().saturating_sub(count));
    Ok(LogAnswer { entries })
}

impl Answer for LogAnswer {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        for BlockLogEntry { name, logged } in &self.entries {
            let note = logged
                .note
                .as_deref()
                .map(|note| format!("  ({})", escape(note)));
            writeln!(
                out,
                "{name} {}  {}  {}  {}{}",
                logged.rev,
                logged.at.strftime("%Y-%m-%d %H:%M:%SZ"),
                who(&logged.by),
                what(logged),
                note.unwrap_or_default()
            )?;
        }
        Ok(())
    }
}

fn who(by: &EditAuthor) -> String {
    match by {
        EditAuthor::Person => "person".to_owned(),
        EditAuthor::Model { id, web: None } => format!("model {}", shortened(id, SHOWN)),
        EditAuthor::Model { id, web: Some(url) } => {
            format!(
                "model {} after {}",
                shortened(id, SHOWN),
                shortened(url, SHOWN)
            )
        }
        EditAuthor::Web { url } => format!("web {}", shortened(url, SHOWN)),
        EditAuthor::Import { source } => format!("import {}", shortened(source, SHOWN)),
        EditAuthor::Kernel => "kernel".to_owned(),
    }
}

fn what(logged: &LogEntry) -> String {
    let op = match &logged.op {
        LoggedOp::Create { .. } => return "create".to_owned(),
        LoggedOp::Delete => return "delete".to_owned(),
        LoggedOp::Undo { revs, .. } => return format!("undo {}", listed(revs)),
        LoggedOp::Redo { revs } => return format!("redo {}", listed(revs)),
        LoggedOp::Edit(op) => op,
    };
    match op {
        Op::Write { path, text } => format!("write {}  {}", shown(path), shortened(text, SHOWN)),
        Op::Remove { path } => format!("remove {}", shown(path)),
        Op::Relocate { from, to } => format!("move {} to {}", shown(from), shown(to)),
        Op::Append { text, .. } => {
            let path = logged.path.as_ref().map(shown).unwrap_or_default();
            format!("append {path}  {}", shortened(text, SHOWN))
        }
        Op::Grow { summary } => format!("grow  {}", shortened(&summary.text, SHOWN)),
        Op::Replace { .. } => "replace".to_owned(),
        Op::SetDecimal { decimal } => format!("decimal {decimal}"),
    }
}

/// The first few revisions.
fn listed(revs: &[u64]) -> String {
    const SHOWN: usize = 5;
    let mut listed: Vec<_> = revs.iter().take(SHOWN).map(u64::to_string).collect();
    if revs.len() > SHOWN {
        listed.push(format!("and {} more", revs.len() - SHOWN));
    }
    listed.join(", ")
}
