//! Turns that the model no longer sees, word for word in blocks: `history`, then `history-2` and so on.

use std::panic::{self, AssertUnwindSafe};
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use pscale_blocks::store::{BlockPresence, LogRange, Origins};
use pscale_blocks::{
    Appended, Applied, Block, BlockName, BlockStore, EditAuthor, Op, Stamp, StoreError, Summary,
    SummaryKind,
};

use super::record::{ConversationRecord, FILE};
use super::window;
use crate::EventSink;

/// The name of the first block; the others have its name and a number.
const NAME: &str = "history";
/// The head of a block.
const HEAD: &str = "What was said in turns that are no longer shown, oldest first, clipped. The program writes it; \
                    summaries above the entries are mechanical: days and first words. What matters belongs in memory.";
/// More summaries than a block has levels are never needed for one entry.
const SUMMARIES: usize = 40;

/// The longest entry in characters: names of tools may be of any length.
const ENTRY: usize = 2_000;

/// An entry as a block takes it.
fn fit(text: &str) -> String {
    text.replace('\0', " ").chars().take(ENTRY).collect()
}

fn name_of(number: u32) -> Result<BlockName, StoreError> {
    Ok(match number {
        1 => BlockName::new(NAME)?,
        number => BlockName::new(&format!("{NAME}-{number}"))?,
    })
}

/// The blocks of turns that are no longer shown.
#[derive(Debug)]
pub(crate) struct HistoryBlocks {
    /// The size in bytes from which the next turns go to a new block.
    limit: usize,
    current: Mutex<Option<CurrentBlock>>,
}

/// The block that is written to.
#[derive(Debug, Clone)]
struct CurrentBlock {
    number: u32,
    name: BlockName,
    /// The last entry, so that no log is read for it. `None` before the first turn of this process is appended.
    last: Option<LastEntry>,
}

/// An entry by the note of its edit and its text.
#[derive(Debug, Clone, PartialEq)]
struct LastEntry {
    note: Option<String>,
    text: String,
}

impl HistoryBlocks {
    /// The blocks of a store, each of about `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            current: Mutex::default(),
        }
    }

    /// The text at the begin of a window whose earlier turns are in these blocks.
    pub fn notice(&self, store: &dyn BlockStore) -> String {
        match last_block(&mut self.current(), store) {
            Ok(current) => window::notice(current.name.as_str()),
            Err(_) => window::NOTICE.to_owned(),
        }
    }

    fn current(&self) -> MutexGuard<'_, Option<CurrentBlock>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends an entry, unless it is the last one: the program ended before the conversation knew of it.
    fn append(&self, store: &dyn BlockStore, text: &str, stamp: &Stamp) -> Result<(), StoreError> {
        let mut current = self.current();
        let mut block = last_block(&mut current, store)?;
        if block.last.is_none() {
            while block.number > 1 && !is_ours(store, &block.name) {
                block = CurrentBlock::new(block.number - 1)?;
            }
            block.last = last_entry(store, &block.name)?;
        }
        let entry = LastEntry {
            note: stamp.note.clone(),
            text: text.to_owned(),
        };
        if block.last.as_ref() == Some(&entry) {
            return Ok(());
        }
        // After an error it is not known what the block has.
        *current = None;
        if matches!(store.load(&block.name), Err(StoreError::NoBlock { .. })) {
            let head = if block.number == 1 {
                HEAD.to_owned()
            } else {
                head_after(store, &name_of(block.number - 1)?)
            };
            create(store, &block.name, head, stamp)?;
        }
        let is_written = match append_to(store, &block.name, text, stamp, Some(self.limit)) {
            Err(error) if error.kind() == "too_large" => false,
            written => written?,
        };
        if !is_written {
            let head = head_after(store, &block.name);
            while store.presence(&block.name)? != BlockPresence::Absent {
                block = CurrentBlock::new(block.number + 1)?;
            }
            create(store, &block.name, head, stamp)?;
            append_to(store, &block.name, text, stamp, None)?;
        }
        block.last = Some(entry);
        *current = Some(block);
        Ok(())
    }
}

impl CurrentBlock {
    fn new(number: u32) -> Result<Self, StoreError> {
        let name = name_of(number)?;
        let last = None;
        Ok(Self { number, name, last })
    }
}

/// Whether the program began a block, as its head says, and not a person who chose the name. One that was deleted or cannot be read
/// is taken for one of the program's.
fn is_ours(store: &dyn BlockStore, name: &BlockName) -> bool {
    let Ok(found) = store.load(name) else {
        return true;
    };
    let begin = HEAD.split_once(',').map_or(HEAD, |(begin, _)| begin);
    let head = found.block.head_text();
    head.is_some_and(|head| head.starts_with(begin))
}

/// The last of the blocks. It is looked up once, and no block is read for it.
fn last_block(
    current: &mut Option<CurrentBlock>,
    store: &dyn BlockStore,
) -> Result<CurrentBlock, StoreError> {
    if let Some(found) = current {
        return Ok(found.clone());
    }
    let mut number = 1;
    while store.presence(&name_of(number + 1)?)? != BlockPresence::Absent {
        number += 1;
    }
    Ok(current.insert(CurrentBlock::new(number)?).clone())
}

/// The last entry of a block, by the end of its log.
fn last_entry(store: &dyn BlockStore, name: &BlockName) -> Result<Option<LastEntry>, StoreError> {
    let newest = match store.log(name, LogRange::newest(1)) {
        Err(StoreError::NoBlock { .. }) => None,
        entries => entries?.into_iter().next(),
    };
    if let Some(entry) = newest
        && let Some(path) = entry.path
        && let Ok(found) = store.load(name)
        && found.block.pscale(&path) == -1
        && let Ok(Some(text)) = found.block.text(&path)
    {
        let text = text.to_owned();
        let note = entry.note;
        return Ok(Some(LastEntry { note, text }));
    }
    Ok(None)
}

/// The head of a block that follows another: the days of that one are in it.
fn head_after(store: &dyn BlockStore, before: &BlockName) -> String {
    let days = match store.load(before) {
        Ok(found) => window::days_of(&found.block),
        Err(_) => None,
    };
    match days {
        Some((first, last)) => format!("{HEAD} Block \"{before}\" has {first} to {last}."),
        None => format!("{HEAD} Block \"{before}\" has what was before."),
    }
}

/// Makes a block. Its head has the words of the program, and not those of the turn that comes first.
fn create(
    store: &dyn BlockStore,
    name: &BlockName,
    head: String,
    stamp: &Stamp,
) -> Result<(), StoreError> {
    let stamp = stamp.clone().with_from(Origins::default());
    store.create(name, &Block::new(head), &stamp)?;
    Ok(())
}

/// Appends an entry to a block. False, and nothing is written, where the block has `limit` bytes and its last group is full.
fn append_to(
    store: &dyn BlockStore,
    name: &BlockName,
    text: &str,
    stamp: &Stamp,
    limit: Option<usize>,
) -> Result<bool, StoreError> {
    let op = Op::Append {
        text: text.to_owned(),
        summary: None,
    };
    for times in 0..SUMMARIES {
        let edited = store.edit(name, None, &op, stamp)?;
        let Some(Applied::Appended(Appended::NeedsSummary {
            at, grows, entries, ..
        })) = edited.applied
        else {
            return Ok(true);
        };
        let is_full = |limit| Ok::<_, StoreError>(store.load(name)?.block.file_bytes() >= limit);
        if times == 0 && limit.map_or(Ok(false), is_full)? {
            return Ok(false);
        }
        // The words of the summary are those of the entries, and not those of the turn.
        let from = match store.labels(name) {
            Ok(labels) => {
                let of_entries = entries.iter().filter_map(|entry| labels.at(&entry.path));
                Origins::union(of_entries)
            }
            // An archive that cannot be read does not stop the record.
            Err(_) => Origins::union([&stamp.from, &Origins::unknown()]),
        };
        let stamp = stamp.clone().with_from(from);
        let text = window::group_summary(&entries);
        let op = if grows {
            let kind = SummaryKind::Summary;
            Op::Grow {
                summary: Summary { kind, text },
            }
        } else {
            Op::Write { path: at, text }
        };
        store.edit(name, None, &op, &stamp)?;
    }
    Ok(true)
}

impl ConversationRecord {
    /// Moves the oldest `count` messages to the blocks of history; false where it cannot be written, and they stay where
    /// they are.
    pub(crate) fn move_to_history(
        &mut self,
        history: &HistoryBlocks,
        store: &dyn BlockStore,
        now: Timestamp,
        count: usize,
        events: &EventSink,
    ) -> bool {
        let mut left = count.min(self.said().len());
        // One turn after the other: what fails in between leaves none twice.
        while left > 0 {
            let said = &self.said()[..left];
            let next = (said[1..].iter()).position(|said| window::starts_turn(&said.message));
            let turn = next.map_or(left, |at| at + 1);
            // The whole turn, also messages of which the entry has no word.
            let stamp = Stamp::new(now, EditAuthor::Kernel)
                .with_note(format!("from message {}", self.moved()))
                .with_from(self.origins(0..turn))
                .with_message(self.number(0));
            let day = self.said_at(0).unwrap_or(now);
            for text in window::entries(&said[..turn], day) {
                // No tool has called this, so nobody else catches a fault of the store.
                let appended = AssertUnwindSafe(|| history.append(store, &fit(&text), &stamp));
                let why = match panic::catch_unwind(appended) {
                    Ok(Ok(())) => continue,
                    Ok(Err(error)) => error.to_string(),
                    Err(_) => "a fault of the program".to_owned(),
                };
                events.notice(format!("older messages are not in block history: {why}"));
                return false;
            }
            if let Err(error) = self.move_oldest(turn) {
                events.notice(format!("{FILE} cannot be written: {error}"));
            }
            left -= turn;
        }
        true
    }

    /// Moves all messages to the blocks of history, so that the next request sends none of them, and no word of the last turn. False
    /// where they cannot be written: then the messages stay.
    pub(crate) fn begin_window(
        &mut self,
        history: &HistoryBlocks,
        store: &dyn BlockStore,
        now: Timestamp,
        events: &EventSink,
    ) -> bool {
        if !self.move_to_history(history, store, now, self.said().len(), events) {
            return false;
        }
        if let Err(error) = self.forget_last_moved() {
            events.notice(format!("{FILE} cannot be written: {error}"));
        }
        true
    }
}
