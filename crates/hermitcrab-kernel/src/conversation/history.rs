//! Turns that the model no longer sees, word for word in a block.

use std::panic::{self, AssertUnwindSafe};

use jiff::Timestamp;
use pscale_blocks::store::LogRange;
use pscale_blocks::{
    Appended, Applied, Block, BlockName, BlockStore, EditAuthor, Op, Stamp, StoreError, Summary,
    SummaryKind,
};

use super::record::{ConversationRecord, FILE};
use super::window;
use crate::EventSink;

/// The block's head.
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

impl ConversationRecord {
    /// Moves the oldest `count` messages to the block `history`; false where it cannot be written, and they stay where they
    /// are.
    pub(crate) fn move_to_history(
        &mut self,
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
            let stamp = Stamp::new(now, EditAuthor::Kernel)
                .with_note(format!("from message {}", self.moved()));
            let day = self.said_at(0).unwrap_or(now);
            for text in window::entries(&said[..turn], day) {
                // No tool has called this, so nobody else catches a fault of the store.
                let appended = AssertUnwindSafe(|| append(store, &fit(&text), &stamp));
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
}

/// Whether the newest entry is this very one: the program ended before the conversation knew of it.
fn is_newest(
    store: &dyn BlockStore,
    name: &BlockName,
    text: &str,
    stamp: &Stamp,
) -> Result<bool, StoreError> {
    let found = store.load(name)?;
    let log = store.log(name, LogRange::newest(1))?;
    let Some(newest) = log.first().filter(|entry| entry.note == stamp.note) else {
        return Ok(false);
    };
    let path = newest.path.filter(|path| found.block.pscale(path) == -1);
    let there = path.and_then(|path| found.block.text(&path).ok().flatten());
    Ok(there == Some(text))
}

fn append(store: &dyn BlockStore, text: &str, stamp: &Stamp) -> Result<(), StoreError> {
    let name = BlockName::new("history")?;
    if matches!(store.load(&name), Err(StoreError::NoBlock { .. })) {
        store.create(&name, &Block::new(HEAD), stamp)?;
    } else if is_newest(store, &name, text, stamp)? {
        return Ok(());
    }
    let mut summary = None;
    for _ in 0..SUMMARIES {
        let op = Op::Append {
            text: text.to_owned(),
            summary: summary.take(),
        };
        let edited = store.edit(&name, None, &op, stamp)?;
        match edited.applied {
            Some(Applied::Appended(Appended::NeedsSummary { entries, .. })) => {
                summary = Some(Summary {
                    kind: SummaryKind::Summary,
                    text: window::group_summary(&entries),
                });
            }
            _ => return Ok(()),
        }
    }
    Ok(())
}
