//! A block and its log brought together at the first use, after a crash, damage on the disk or an edit by a person.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use jiff::Timestamp;

use super::archives::archive_name;
use super::disk::{self, FileFacts};
use super::{DirJournal, Files};
use crate::store::history::rebuild;
use crate::store::ledger::{BlockSlot, CurrentBlock, Journal as _, entry};
use crate::store::secrets::Clean as _;
use crate::store::{EDITED_OUTSIDE, LogEntry, LogRange, LoggedOp};
use crate::{Block, BlockName, EditAuthor, Inverse, MAX_FILE, Op, Stamp, StoreError};

/// The file in the place of a block's file.
pub(super) enum RepairFinding {
    Nothing,
    Block(Block, Timestamp),
    /// The reason why the file is not a block.
    Damage(String, Timestamp),
}

/// The entries of a log that are read at first to make a block again.
const RECENT: usize = 16;
/// The readings of a block that another process replaces all the time.
const ATTEMPTS: usize = 64;

impl DirJournal {
    /// The names of all blocks that have a file or a log.
    pub(super) fn list(&mut self) -> Result<BTreeSet<BlockName>, StoreError> {
        let mut names = BTreeSet::new();
        for (folder, ending) in [
            (self.layout.blocks(), ".json"),
            (self.layout.logs(), ".jsonl"),
        ] {
            let entries = match fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(StoreError::io(&folder)(error)),
            };
            for entry in entries {
                let path = entry.map_err(StoreError::io(&folder))?.path();
                let file = path
                    .file_name()
                    .and_then(|file| file.to_str())
                    .unwrap_or_default();
                let name = file.strip_suffix(ending).map(BlockName::new);
                match name {
                    Some(Ok(name)) => {
                        names.insert(name);
                    }
                    _ if archive_name(&path).is_some() || file.starts_with(disk::DRAFT) => {}
                    _ => {
                        let notice =
                            format!("{} belongs to no block and was left alone", path.display());
                        self.notices.push(notice);
                    }
                }
            }
        }
        Ok(names)
    }

    /// The block as it is, whatever its log says.
    pub(super) fn settle_for_reading(&mut self, name: &BlockName) -> Result<BlockSlot, StoreError> {
        let mut attempt = 1;
        loop {
            // Before the files are read: a later change of theirs is seen later.
            let files = Files {
                block: FileFacts::at(&self.layout.block(name)),
                seen_log: FileFacts::at(&self.layout.log(name)),
                ..Files::default()
            };
            let slot = self.slot_for_reading(name);
            // A process that writes may have replaced the block after it was read here: the log is then too new for it.
            let is_settled = FileFacts::at(&self.layout.block(name)) == files.block;
            if is_settled || attempt == ATTEMPTS {
                let slot = slot?;
                self.files.insert(name.clone(), files);
                return Ok(slot);
            }
            attempt += 1;
        }
    }

    fn slot_for_reading(&mut self, name: &BlockName) -> Result<BlockSlot, StoreError> {
        // First the block: a process that writes is ahead in the log, if anywhere.
        let found = self.found(name)?;
        let has_log = not_a_file(&self.layout.log(name)).is_none();
        if !has_log {
            let notice = format!("the log of block {name} is not a file and was not read");
            self.notices.push(notice);
        }
        let block = match found {
            RepairFinding::Block(block, _) => Some(block),
            RepairFinding::Nothing => None,
            RepairFinding::Damage(reason, _) => {
                self.notices
                    .push(format!("block {name} is damaged: {reason}"));
                let backup = self.backup(name);
                if has_log {
                    self.rebuilt(name, backup.as_ref())?
                } else {
                    None
                }
            }
        };
        let live = block.map(CurrentBlock::of);
        let hash = live.as_ref().and_then(|live| live.hash.as_ref());
        let hash = hash.map(hex::encode);
        let (mut last, mut known) = (None, None);
        if has_log {
            let _ = self.logs().recent(name, &mut |entry| {
                last = last.or(Some(entry.rev));
                if entry.after_hash == hash {
                    known = Some(entry.rev);
                    return ControlFlow::Break(());
                }
                ControlFlow::Continue(())
            })?;
        }
        let rev = match known.or(last) {
            Some(rev) => rev,
            None if has_log => self.newest_packed(name)?.map_or(0, |entry| entry.rev),
            None => 0,
        };
        Ok(BlockSlot { rev, live })
    }

    /// The last entry of a log that lost its lines: its revisions continue from the archives.
    fn newest_packed(&mut self, name: &BlockName) -> Result<Option<LogEntry>, StoreError> {
        Ok(self.logs().read(name, LogRange::newest(1))?.pop())
    }

    /// The block that the log ends with, made again from no more of the log than that takes, and from `known`, a block
    /// that it was once. `None` if it cannot be done.
    fn rebuilt(
        &mut self,
        name: &BlockName,
        known: Option<&Block>,
    ) -> Result<Option<Block>, StoreError> {
        let mut block = None;
        self.read_until(name, RECENT, |log| {
            block = rebuild(log, known);
            block.is_some()
        })?;
        Ok(block)
    }

    /// The block as it is, repaired.
    pub(super) fn settle_for_writing(&mut self, name: &BlockName) -> Result<BlockSlot, StoreError> {
        let last = self.open_log(name)?;
        let found = match self.found(name)? {
            RepairFinding::Damage(reason, at) => {
                self.quarantine(name, &reason, at)?;
                RepairFinding::Nothing
            }
            other => other,
        };
        let rev = last.as_ref().map_or(0, |entry| entry.rev);
        let stands = last.as_ref().and_then(|entry| entry.after_hash.clone());
        let RepairFinding::Block(block, modified) = found else {
            return match last {
                Some(last) if last.after_hash.is_some() => self.make_again(name, &last),
                _ => Ok(BlockSlot { rev, live: None }),
            };
        };
        let hash = block.hash();
        let hashed = Some(hex::encode(hash));
        if hashed == stands {
            let live = Some(CurrentBlock::new(block, Some(hash)));
            return Ok(BlockSlot { rev, live });
        }
        if stands.is_some() && last.is_some_and(|last| last.before_hash == hashed) {
            // The log is one edit ahead: the process died before it wrote the block.
            if let Some(block) = self.rebuilt(name, Some(&block))? {
                self.write_block(name, &block.to_file())?;
                self.notices.push(format!(
                    "block {name}: edit {rev} was finished, which a crash had interrupted"
                ));
                return Ok(BlockSlot {
                    rev,
                    live: Some(CurrentBlock::of(block)),
                });
            }
        }
        self.accept(name, &block, modified, rev, stands)
    }

    /// The last entry of the log. A torn line at its end is cut off.
    fn open_log(&mut self, name: &BlockName) -> Result<Option<LogEntry>, StoreError> {
        let path = self.layout.log(name);
        if let Some(at) = not_a_file(&path) {
            let to = self.layout.quarantine(name, at);
            self.disk.rename(&path, &to)?;
            self.notices.push(format!(
                "the log of block {name} was moved to {}: it is not a file",
                to.display()
            ));
        }
        // Before the file is read: a later change is seen later.
        let block = FileFacts::at(&self.layout.block(name));
        let mut last = None;
        let (end, _) = self.logs().recent(name, &mut |entry| {
            last = Some(entry);
            ControlFlow::Break(())
        })?;
        if last.is_none() {
            last = self.newest_packed(name)?;
        }
        if end.torn > 0 {
            self.disk.cut(&path, end.length)?;
        }
        let modified = fs::metadata(self.layout.backup(name)).and_then(|found| found.modified());
        let files = Files {
            log: end.length,
            backup: modified.ok().and_then(|at| Timestamp::try_from(at).ok()),
            block,
            ..Files::default()
        };
        self.files.insert(name.clone(), files);
        Ok(last)
    }

    pub(super) fn backup(&self, name: &BlockName) -> Option<Block> {
        match found(&self.layout.backup(name)) {
            Ok(RepairFinding::Block(block, _)) => Some(block),
            _ => None,
        }
    }

    pub(super) fn quarantine(
        &mut self,
        name: &BlockName,
        reason: &str,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let to = self.layout.quarantine(name, at);
        self.disk.rename(&self.layout.block(name), &to)?;
        self.notices.push(format!(
            "the file of block {name} was moved to {}: {reason}",
            to.display()
        ));
        Ok(())
    }

    /// Makes the block again that the log ends with, or notes that it is gone.
    fn make_again(&mut self, name: &BlockName, last: &LogEntry) -> Result<BlockSlot, StoreError> {
        let backup = self.backup(name);
        if let Some(block) = self.rebuilt(name, backup.as_ref())? {
            self.write_block(name, &block.to_file())?;
            self.notices
                .push(format!("block {name} was made again from its log"));
            let live = Some(CurrentBlock::of(block));
            return Ok(BlockSlot {
                rev: last.rev,
                live,
            });
        }
        self.notices.push(format!(
            "block {name} is gone and its log does not say all that it held"
        ));
        let rev = last.rev + 1;
        let stamp = outside(last.at, "the file is gone");
        let mut entry = entry(rev, &stamp, LoggedOp::Delete, None, None);
        entry.before_hash.clone_from(&last.after_hash);
        self.append(name, &entry)?;
        Ok(BlockSlot { rev, live: None })
    }

    /// Takes a file that the log does not know as a new revision.
    fn accept(
        &mut self,
        name: &BlockName,
        block: &Block,
        modified: Timestamp,
        rev: u64,
        stands: Option<String>,
    ) -> Result<BlockSlot, StoreError> {
        let (block, keys) = block.clean(&[]);
        let copy = block.clone();
        let (op, inverse) = if stands.is_some() {
            let backup = self.backup(name);
            let old = self.rebuilt(name, backup.as_ref())?;
            let op = Op::Replace { block: copy };
            (LoggedOp::Edit(op), old.map(Inverse::block))
        } else {
            (LoggedOp::Create { block: copy }, None)
        };
        let rev = rev + 1;
        let stamp = outside(modified, EDITED_OUTSIDE);
        let mut entry = entry(rev, &stamp, op, Some(block.head()), inverse);
        let form = block.normal_form();
        let live = CurrentBlock::new(block, Some(form.hash));
        entry.before_hash = stands;
        entry.after_hash = Some(hex::encode(form.hash));
        self.save(name, entry, form)?;
        let removed = if keys > 0 {
            format!("; {keys} keys were removed")
        } else {
            String::new()
        };
        self.notices.push(format!(
            "block {name} was edited outside{removed}: revision {rev}"
        ));
        Ok(BlockSlot {
            rev,
            live: Some(live),
        })
    }
}

/// Whether a file is at `path`, which no link leads to.
pub(super) fn is_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_file())
}

/// The time of a link, a folder or a pipe in the place of a file. `None` for a file, or if there is none.
fn not_a_file(path: &Path) -> Option<Timestamp> {
    let found = fs::symlink_metadata(path).ok()?;
    let modified = found.modified().ok();
    let at = modified.and_then(|at| Timestamp::try_from(at).ok());
    (!found.is_file()).then(|| at.unwrap_or_default())
}

impl CurrentBlock {
    fn of(block: Block) -> Self {
        let hash = block.hash();
        Self::new(block, Some(hash))
    }
}

fn outside(at: Timestamp, note: &str) -> Stamp {
    Stamp::new(at, EditAuthor::Person).with_note(note)
}

pub(super) fn found(path: &Path) -> Result<RepairFinding, StoreError> {
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(RepairFinding::Nothing),
        Err(error) => return Err(StoreError::io(path)(error)),
    };
    let modified = found.modified().ok();
    let at = modified
        .and_then(|at| Timestamp::try_from(at).ok())
        .unwrap_or_default();
    let damage = |reason: &str| Ok(RepairFinding::Damage(reason.to_owned(), at));
    if found.is_symlink() {
        return damage("a symbolic link, which is not followed");
    }
    if !found.is_file() {
        return damage("no file");
    }
    // Another layout of the same block is longer than the normal form, but not by much.
    if found.len() > 4 * MAX_FILE as u64 {
        return damage("longer than a block can be");
    }
    let Some(bytes) = disk::read(path)? else {
        return Ok(RepairFinding::Nothing);
    };
    let Ok(text) = String::from_utf8(bytes) else {
        return damage("not in UTF-8");
    };
    match Block::parse(&text) {
        Ok(block) => Ok(RepairFinding::Block(block, at)),
        Err(faults) => damage(&faults.to_string()),
    }
}
