//! Labels brought up to date from the log.

use std::ops::ControlFlow;

use super::{Labels, gives_labels};
use crate::store::ledger::Journal;
use crate::store::{LogEntry, LogRange, LoggedOp};
use crate::{BlockName, StoreError};

/// The revisions after which unchanged labels are kept again, so that no start reads more entries for them.
const KEEP_EVERY: u64 = 64;
/// The last revisions of which replaced labels are kept. An undo of an earlier edit reads the whole log.
const REPLACED: u64 = 1_000;

/// The labels of a block at revision `rev`: those that are `known` or kept, brought up to date from newer entries. What is missing or
/// damaged is made again from the whole log, but not by a reader, for whom no node has a label then.
pub(in crate::store) fn current<J: Journal>(
    journal: &mut J,
    name: &BlockName,
    (rev, hash): (u64, Option<[u8; 32]>),
    known: Option<Labels>,
) -> Result<Labels, StoreError> {
    let writes = journal.writes();
    let hash = hash.map(hex::encode);
    let mut labels = match known {
        Some(known) if known.rev <= rev => known,
        _ => kept(journal, name, rev, hash.as_ref())?.unwrap_or_default(),
    };
    if labels.rev < rev {
        let is_missing = labels.rev == 0 && rev > KEEP_EVERY;
        if is_missing && !writes {
            return Ok(labels);
        }
        if is_missing || !labels.catch_up(journal, name, rev, false)? {
            labels = rebuilt(journal, name, rev, hash)?;
        }
    }
    let is_due = labels.is_changed || labels.rev >= labels.kept.saturating_add(KEEP_EVERY);
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
    name: &BlockName,
    rev: u64,
    hash: Option<&String>,
) -> Result<Option<Labels>, StoreError> {
    let Some(labels) = journal.labels(name) else {
        return Ok(None);
    };
    let fits = if labels.rev > rev {
        // A reader may find labels that are newer than the block it read.
        !journal.writes()
    } else if labels.rev < rev || labels.hash.as_ref() == hash {
        true
    } else {
        // A reader may find a block that a person edits, and that is not in the log yet.
        let newest = journal.read(name, LogRange::newest(1).before(rev + 1))?;
        let newest = newest.first();
        newest.is_some_and(|entry| entry.rev == rev && entry.after_hash == labels.hash)
    };
    Ok(fits.then_some(labels))
}

/// The labels from the log alone.
fn rebuilt<J: Journal>(
    journal: &mut J,
    name: &BlockName,
    rev: u64,
    hash: Option<String>,
) -> Result<Labels, StoreError> {
    let mut first = None;
    let read = journal.each(name, &mut |entry| {
        if entry.rev <= rev && gives_labels(&entry) {
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
        None => Labels::none_at(rev, hash),
    };
    labels.catch_up(journal, name, rev, true)?;
    labels.is_changed = true;
    Ok(labels)
}

impl Labels {
    /// Follows the log to revision `rev`. False if an undo goes back to an edit whose replaced labels are not kept, or if the log is
    /// not the one of these labels; with `is_whole` neither can be.
    fn catch_up<J: Journal>(
        &mut self,
        journal: &mut J,
        name: &BlockName,
        rev: u64,
        is_whole: bool,
    ) -> Result<bool, StoreError> {
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
        for entry in log.iter().filter(is_new) {
            self.follow(entry, &log, &named);
        }
        self.rev = rev;
        let kept = self.replaced.split_off(&rev.saturating_sub(REPLACED));
        self.replaced = kept;
        Ok(true)
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
