//! Turns that the model no longer sees, word for word in a block.

use pscale_blocks::{
    Appended, Applied, Block, BlockName, Op, Provenance, Stamp, StoreError, Summary, SummaryKind,
};

use crate::EventSink;
use crate::conversation::{self, Conversation};
use crate::kernel::Inner;
use crate::window;

/// The block's head.
const HEAD: &str = "What was said in turns that are no longer shown, oldest first, clipped. The program writes it; \
                    summaries above the entries are mechanical: days and first words. What matters belongs in memory.";
/// More summaries than a block has levels are never needed for one entry.
const SUMMARIES: usize = 40;

impl Inner {
    /// Moves the oldest `count` messages to the block `history`. If it cannot be written they stay where they are.
    pub(crate) fn move_to_history(
        &self,
        conversation: &mut Conversation,
        count: usize,
        events: &EventSink,
    ) {
        let now = self.clock.now();
        let stamp = Stamp {
            at: now,
            by: Provenance::Kernel,
            note: None,
        };
        let said = conversation.messages();
        for text in window::entries(&said[..count.min(said.len())], now) {
            if let Err(error) = self.append_history(&text, &stamp) {
                events.notice(format!("older messages are not in block history: {error}"));
                return;
            }
        }
        if let Err(error) = conversation.move_oldest(&self.keeper, count) {
            events.notice(format!("{} cannot be written: {error}", conversation::FILE));
        }
    }

    fn append_history(&self, text: &str, stamp: &Stamp) -> Result<(), StoreError> {
        let name = BlockName::new("history")?;
        if matches!(self.store.load(&name), Err(StoreError::NoBlock { .. })) {
            self.store.create(&name, &Block::new(HEAD), stamp)?;
        }
        let mut summary = None;
        for _ in 0..SUMMARIES {
            let op = Op::Append {
                text: text.to_owned(),
                summary: summary.take(),
            };
            let edited = self.store.edit(&name, None, &op, stamp)?;
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
}
