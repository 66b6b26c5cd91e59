//! Labels brought up to date from the log.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::{Labels, gives_labels, label_of, texts};
use crate::store::ledger::Journal;
use crate::store::{LogEntry, LogRange, LoggedOp, Origins};
use crate::{Block, BlockName, Inverse, Path, StoreError};

/// The revisions after which unchanged labels are kept again, so that no start reads more entries for them.
pub(in crate::store) const KEEP_EVERY: u64 = 64;
/// The last revisions of which replaced labels are kept. An undo of an earlier edit reads the whole log.
const REPLACED: u64 = 1_000;

/// A block of which labels are asked for.
pub(in crate::store) struct LabelledBlock<'a> {
    pub name: &'a BlockName,
    pub rev: u64,
    pub hash: Option<[u8; 32]>,
    /// Reads the block, which is needed where its log has a gap.
    pub read: &'a dyn Fn() -> Option<Block>,
}

/// The labels of a block at its revision: those that are `known` or kept, brought up to date from newer entries. What is missing or
/// damaged is made again from the whole log. They are kept if they are others, or if the kept ones are `keep_every` revisions old.
pub(in crate::store) fn current<J: Journal>(
    journal: &mut J,
    block: &LabelledBlock<'_>,
    known: Option<Labels>,
    keep_every: u64,
) -> Result<Labels, StoreError> {
    let (name, rev) = (block.name, block.rev);
    let writes = journal.writes();
    let mut labels = match known {
        // A rotation may have kept newer ones.
        Some(known) if (journal.kept_labels(name)..=rev).contains(&known.rev) => known,
        _ => kept(journal, block)?.unwrap_or_default(),
    };
    if labels.rev < rev {
        let is_missing = labels.rev == 0 && rev > KEEP_EVERY;
        if is_missing || !labels.catch_up(journal, block, false)? {
            labels = rebuilt(journal, block)?;
        }
    }
    let is_due = labels.is_changed || labels.rev >= labels.kept.saturating_add(keep_every);
    if writes && is_due && journal.keep_labels(name, &labels) {
        labels.kept = labels.rev;
        labels.is_changed = false;
    }
    Ok(labels)
}

/// The labels that are kept, unless they are those of a block that the log does not know: a backup may have brought back an earlier
/// log. Those of an earlier revision are compared when the log is followed.
fn kept<J: Journal>(
    journal: &mut J,
    block: &LabelledBlock<'_>,
) -> Result<Option<Labels>, StoreError> {
    let Some(labels) = journal.labels(block.name) else {
        return Ok(None);
    };
    let is_same = labels.rev == block.rev && labels.hash == block.hash.map(hex::encode);
    if labels.rev < block.rev || is_same {
        return Ok(Some(labels));
    }
    if labels.rev > block.rev && journal.writes() {
        return Ok(None);
    }
    // A reader may find labels that are newer than the block it read, or a block that a person edits and that is not in the log yet.
    let newest = journal.read(block.name, LogRange::newest(1).before(labels.rev + 1))?;
    let newest = newest.first();
    let is_logged =
        newest.is_some_and(|entry| entry.rev == labels.rev && entry.after_hash == labels.hash);
    Ok(is_logged.then_some(labels))
}

/// The labels from the log alone.
fn rebuilt<J: Journal>(journal: &mut J, block: &LabelledBlock<'_>) -> Result<Labels, StoreError> {
    let mut first = None;
    let read = journal.each(block.name, &mut |entry| {
        if entry.rev <= block.rev && gives_labels(&entry) {
            first = Some(entry.rev);
        }
        ControlFlow::Continue(())
    });
    match read {
        // An archive that cannot be read is reported where the log is shown.
        Ok(()) | Err(StoreError::Corrupt { .. }) => {}
        Err(error) => return Err(error),
    }
    let mut labels = match first {
        Some(first) => Labels::none_at(first - 1, None),
        None => Labels::none_at(block.rev, block.hash.map(hex::encode)),
    };
    labels.catch_up(journal, block, true)?;
    labels.is_changed = true;
    Ok(labels)
}

impl Labels {
    /// Follows the log to the block. False if an undo goes back to an edit whose replaced labels are not kept, or if the log is
    /// not the one of these labels; with `is_whole` neither can be.
    fn catch_up<J: Journal>(
        &mut self,
        journal: &mut J,
        block: &LabelledBlock<'_>,
        is_whole: bool,
    ) -> Result<bool, StoreError> {
        let (name, rev) = (block.name, block.rev);
        let from = self.rev;
        if from == rev {
            return Ok(true);
        }
        let is_new = |entry: &&LogEntry| (from + 1..=rev).contains(&entry.rev);
        let oldest = |log: &[LogEntry]| {
            let named = log.iter().filter(is_new).flat_map(named_revs).min();
            named.map_or(from + 1, |named| named.min(from + 1))
        };
        let length = usize::try_from(rev - from).unwrap_or(usize::MAX);
        let log = journal.read_until(name, length, |log| {
            log.first().is_some_and(|first| first.rev <= oldest(log))
        })?;
        if !is_whole && oldest(&log).saturating_add(REPLACED) < from {
            return Ok(false);
        }
        let is_other = |next: &LogEntry| next.rev == from + 1 && next.before_hash != self.hash;
        if !is_whole && from > 0 && log.iter().find(is_new).is_some_and(is_other) {
            return Ok(false);
        }
        let named = log.iter().flat_map(named_revs).collect();
        let gap = self.last_gap(&log, rev, is_whole);
        let spread = gap.map(|at| (at, self.all_before(&log[..at])));
        for (at, entry) in log.iter().enumerate().filter(|(_, entry)| is_new(entry)) {
            if let Some((_, all)) = spread.as_ref().filter(|(gap, _)| *gap == at) {
                self.spread(all, block, &log[at..]);
            }
            self.follow(entry, &log, &named);
        }
        if let Some((_, all)) = spread.as_ref().filter(|(gap, _)| *gap == log.len()) {
            self.spread(all, block, &[]);
        }
        self.rev = rev;
        let kept = self.replaced.split_off(&rev.saturating_sub(REPLACED));
        self.replaced = kept;
        Ok(true)
    }

    /// The place of the first entry after the last gap in the log: lines before it are missing, or one that an undo names.
    fn last_gap(&self, log: &[LogEntry], rev: u64, is_whole: bool) -> Option<usize> {
        let mut gap = None;
        // The block before the first entry that can give a label is not known.
        let mut hash = (!is_whole).then_some(&self.hash);
        for (at, entry) in log.iter().enumerate() {
            if !(self.rev + 1..=rev).contains(&entry.rev) {
                continue;
            }
            let is_found = |rev| log.binary_search_by_key(&rev, |entry| entry.rev).is_ok();
            if hash.is_some_and(|hash| *hash != entry.before_hash) {
                gap = Some(at);
            }
            if !named_revs(entry).all(is_found) {
                gap = Some(at + 1);
            }
            hash = Some(&entry.after_hash);
        }
        gap
    }

    /// All labels that a text may have after these entries.
    fn all_before(&self, log: &[LogEntry]) -> Origins {
        let replaced = self.replaced.values().flat_map(BTreeMap::values);
        let given: Vec<_> = log
            .iter()
            .map(|entry| label_of(entry, &Path::root()))
            .collect();
        let single = log.iter().flat_map(|entry| entry.labels.values());
        Origins::union(
            self.nodes
                .values()
                .chain(replaced)
                .chain(&given)
                .chain(single),
        )
    }

    /// Gives these labels to each text of the block before the `later` entries: what was written and moved before is not known.
    fn spread(&mut self, all: &Origins, block: &LabelledBlock<'_>, later: &[LogEntry]) {
        self.clear();
        let mut back = Inverse::default();
        for entry in later.iter().rev().filter(|entry| entry.rev <= block.rev) {
            match &entry.inverse {
                Some(inverse) => back = inverse.clone().after(back),
                // What this entry makes of the whole block needs no single texts.
                None => return self.set(Path::root(), all),
            }
        }
        if let Some(mut block) = (block.read)() {
            block.revert(&back);
            for (path, _) in texts(&block) {
                self.set(path, all);
            }
        }
    }
}

/// The revisions of the edits that an entry reverts or makes again.
fn named_revs(entry: &LogEntry) -> impl Iterator<Item = u64> {
    let revs: &[u64] = match &entry.op {
        LoggedOp::Undo { revs, .. } | LoggedOp::Redo { revs } => revs,
        _ => &[],
    };
    revs.iter().copied()
}
