//! Edits of the blocks' files that a tool of another program makes while it runs.

use pscale_blocks::store::{EDITED_OUTSIDE, LogRange, Origins, Versioned};
use pscale_blocks::{Block, BlockName, EditAuthor, Op, Stamp};

use super::context::{ToolCaller, TurnContext};
use crate::prompt::CoreBlock;
use crate::toolbox::{ReviewGate, ReviewOp, Server};

impl TurnContext<'_> {
    /// The blocks that say who the model is, before a tool of another program runs.
    pub(super) fn own_blocks(&self) -> Vec<(BlockName, Versioned)> {
        let names = CoreBlock::REVIEWED.iter().map(|core| core.name().clone());
        let load = |name: BlockName| Some((name.clone(), self.toolbox.store.load(&name).ok()?));
        names.filter_map(load).collect()
    }

    /// Lets edits wait that were made in the files of these blocks meanwhile: the tool may write any file, at the wish of whatever
    /// the model has read.
    pub(super) fn hold_outside_edits(
        &self,
        before: &[(BlockName, Versioned)],
        server: &Server,
        caller: &ToolCaller<'_>,
    ) {
        let store = &*self.toolbox.store;
        for (name, before) in before {
            let Ok(now) = store.load(name) else { continue };
            if now.rev == before.rev || !self.are_outside(name, before.rev, now.rev) {
                continue;
            }
            let told = match self.hold(name, before, &now, server, caller) {
                Some(held) => held,
                None => format!("`hermitcrab block undo {name}` takes it back"),
            };
            let program = server.name();
            caller.events.notice(format!(
                "the file of {name} was edited while a tool of {program} ran: {told}"
            ));
        }
    }

    /// Whether all revisions of a block after `from` were found in its file.
    fn are_outside(&self, name: &BlockName, from: u64, to: u64) -> bool {
        let count = usize::try_from(to - from).unwrap_or(usize::MAX);
        let log = self.toolbox.store.log(name, LogRange::newest(count));
        log.is_ok_and(|log| {
            log.iter().all(|entry| {
                entry.by == EditAuthor::Person && entry.note.as_deref() == Some(EDITED_OUTSIDE)
            })
        })
    }

    /// Brings the block back as it was, and lets the edit wait. `None` if the block cannot be written.
    fn hold(
        &self,
        name: &BlockName,
        before: &Versioned,
        now: &Versioned,
        server: &Server,
        caller: &ToolCaller<'_>,
    ) -> Option<String> {
        let store = &*self.toolbox.store;
        let replace = |block: &Block| Op::Replace {
            block: block.clone(),
        };
        let asked = self.stamp(caller);
        let from = Origins::union([&asked.from, &server.origins()]);
        let back = Stamp::new(asked.at, EditAuthor::Kernel).with_note("an edit outside waits");
        let edited = store.edit(name, Some(now.rev), &replace(&before.block), &back);
        edited.ok()?;
        let op = ReviewOp::Edit(replace(&now.block));
        let review = &self.toolbox.review;
        Some(
            match review.check(name, &op, store, &asked.with_from(from)) {
                Ok(ReviewGate::Waits(answer)) => format!(
                    "it waits for you as {}: /review, or hermitcrab block review",
                    answer["queued"].as_str().unwrap_or_default()
                ),
                Ok(ReviewGate::Open { .. }) => "it changed nothing".to_owned(),
                Err(fault) => format!("it was taken back, and cannot wait: {}", fault.detail),
            },
        )
    }
}
