//! `block log`, `block undo` and `block redo`.

use std::io::{self, Write};

use bin_support::{escape, shortened};
use pscale_blocks::store::{LogEntry, LoggedOp};
use pscale_blocks::{BlockName, BlockStore, EditAuthor, Op};
use serde::Serialize;

use super::edit::still;
use super::list::chosen;
use super::outline::shown;
use crate::answer::Answer;
use crate::cli;
use crate::clock::by_the_person;
use crate::error::Error;

/// How much of a text is shown, in characters.
const SHOWN: usize = 60;

/// What was done.
#[derive(Serialize)]
pub struct Log {
    /// In order of the blocks' names, each block's oldest first; the latest of all blocks in order of their times.
    entries: Vec<Entry>,
}

/// A line of a block's log, as it is in the log's file, with the block's name.
#[derive(Serialize)]
struct Entry {
    name: BlockName,
    #[serde(flatten)]
    logged: LogEntry,
}

pub fn log(args: &cli::Log, store: &dyn BlockStore) -> Result<Log, Error> {
    let names = chosen(store, args.name.as_ref())?;
    let mut entries = Vec::new();
    for name in names {
        // The log of a block that was never there is empty, not wrong.
        let logged = store.log(Some(&name), 0)?;
        if logged.is_empty() {
            store.load(&name)?;
        }
        let left_out = args
            .limit
            .map_or(0, |limit| logged.len().saturating_sub(limit));
        entries.extend(logged.into_iter().skip(left_out).map(|logged| Entry {
            name: name.clone(),
            logged,
        }));
    }
    Ok(Log { entries })
}

/// The last edits of all blocks, the oldest of them first.
pub fn latest(count: usize, store: &dyn BlockStore) -> Result<Log, Error> {
    let all = cli::Log {
        name: None,
        limit: Some(count),
    };
    let mut entries = log(&all, store)?.entries;
    entries.sort_by_key(|entry| entry.logged.at);
    entries.drain(..entries.len().saturating_sub(count));
    Ok(Log { entries })
}

impl Answer for Log {
    fn tell(&self, out: &mut dyn Write) -> io::Result<()> {
        for Entry { name, logged } in &self.entries {
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

/// What was taken back or made again.
#[derive(Serialize)]
pub struct Stepped {
    name: BlockName,
    /// The revision afterwards.
    rev: u64,
    /// How many edits were taken back; fewer than asked for if there are no more.
    #[serde(skip_serializing_if = "Option::is_none")]
    undone: Option<u32>,
    /// How many edits were made again; fewer than asked for if there are no more.
    #[serde(skip_serializing_if = "Option::is_none")]
    redone: Option<u32>,
    #[serde(skip)]
    asked: u32,
}

impl Stepped {
    /// Holds neither way yet.
    fn new(args: &cli::Step, rev: u64) -> Self {
        Self {
            name: args.name.clone(),
            rev,
            undone: None,
            redone: None,
            asked: args.count,
        }
    }

    /// How many edits, and what became of them.
    fn edits(&self) -> (u32, &'static str) {
        match self.redone {
            Some(edits) => (edits, "made again"),
            None => (self.undone.unwrap_or_default(), "taken back"),
        }
    }
}

pub fn undo(args: &cli::Step, store: &dyn BlockStore) -> Result<Stepped, Error> {
    // No other process writes between these two steps.
    still(store, &args.name, args.expect)?;
    let edited = store.undo(&args.name, args.count, &by_the_person())?;
    Ok(Stepped {
        undone: Some(edited.steps),
        ..Stepped::new(args, edited.rev)
    })
}

pub fn redo(args: &cli::Step, store: &dyn BlockStore) -> Result<Stepped, Error> {
    still(store, &args.name, args.expect)?;
    let edited = store.redo(&args.name, args.count, &by_the_person())?;
    Ok(Stepped {
        redone: Some(edited.steps),
        ..Stepped::new(args, edited.rev)
    })
}

impl Answer for Stepped {
    fn tell(&self, out: &mut dyn Write) -> io::Result<()> {
        let (edits, done) = self.edits();
        let noun = if edits == 1 { "edit" } else { "edits" };
        writeln!(
            out,
            "{}: {edits} {noun} {done}, revision {}",
            self.name, self.rev
        )
    }

    fn notices(&self) -> Vec<String> {
        let (edits, done) = self.edits();
        let fewer = edits < self.asked;
        fewer
            .then(|| format!("no more than {edits} could be {done}"))
            .into_iter()
            .collect()
    }
}
