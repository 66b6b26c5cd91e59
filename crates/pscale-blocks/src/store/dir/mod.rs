mod archives;
mod disk;
mod layout;
mod log_file;
mod notices;
mod prune;
mod repair;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use jiff::{SignedDuration, Timestamp};

#[cfg(feature = "testing")]
pub use disk::{Step, Watch};
pub use log_file::ReadCounts;

use super::labels::{KEEP_EVERY, LabelledBlock};
use super::ledger::{BlockLedger, BlockSlot, Journal};
use super::{Labels, LogEntry, LogRange, labels};
use crate::block::NormalForm;
use crate::{Block, BlockName, StoreError};
use disk::{Disk, FileFacts};
use durable::Lock;
use layout::Layout;
use log_file::{LOG_LIMIT, LogReader, MAX_REV};
use notices::Notices;
use repair::RepairFinding;

/// The age of a backup at which the next save makes another.
const BACKUP_AGE: SignedDuration = SignedDuration::from_hours(24);
/// A file of labels with more bytes than this is damaged.
const LABELS_LIMIT: u64 = 64 << 20;

/// A store in a directory, one JSON file a block, which a person may read and edit.
///
/// Layout: `blocks/NAME.json`, `log/NAME.jsonl` with older entries in archives named after their revisions such as
/// `log/NAME.1-900.jsonl.gz`, `labels/NAME.json`,
/// `trash/`, `quarantine/`, `backups/`, `store.json` and `lock`. To open it reads no block and no
/// log: each block is read, and brought together with its log, at its first use. The log is written first: an edit that was reported survives a
/// crash at any moment, and one that was not is there wholly or not at all. One process writes at a time. What a person
/// does to a block's file meanwhile is a revision, too.
///
/// ```
/// use pscale_blocks::{Block, BlockName, BlockStore, DirStore, Op, EditAuthor, Stamp};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// let store = DirStore::open(dir.path())?;
/// let notes = BlockName::new("notes")?;
/// let stamp = Stamp::new("2026-01-01T00:00:00Z".parse()?, EditAuthor::Person);
/// store.create(&notes, &Block::new("what I noted"), &stamp)?;
///
/// let op = Op::Append { text: "the first note".to_owned(), summary: None };
/// let edited = store.edit(&notes, Some(1), &op, &stamp)?;
/// assert_eq!(edited.rev, 2);
/// assert!(std::fs::read_to_string(dir.path().join("blocks/notes.json"))?.contains("first note"));
///
/// assert_eq!(store.undo(&notes, 1, &stamp)?.steps, 1);
/// assert_eq!(*store.load(&notes)?.block, Block::new("what I noted"));
/// # Ok(())
/// # }
/// ```
pub type DirStore = BlockLedger<DirJournal>;

/// The files of a [`DirStore`].
#[derive(Debug)]
pub struct DirJournal {
    layout: Layout,
    disk: Disk,
    /// The lock, held as long as the store is open. `None` if it is open for reading.
    lock: Option<Lock>,
    /// The blocks that were used.
    files: BTreeMap<BlockName, Files>,
    /// `store.json`, as it was when this program knew its version.
    schema: Option<FileFacts>,
    notices: Notices,
    counts: ReadCounts,
}

/// The known state of a block's files.
#[derive(Debug, Default)]
struct Files {
    /// Bytes of whole lines in the log.
    log: u64,
    /// The time of the backup.
    backup: Option<Timestamp>,
    /// The block's file as this process left it.
    block: Option<FileFacts>,
    /// The log as a reader found it.
    seen_log: Option<FileFacts>,
    /// The revision of the labels that were kept.
    kept_labels: u64,
    /// The revision from which labels that could not be kept are written again.
    labels_due: u64,
}

impl DirStore {
    /// Opens the directory for writing, makes it if it is not there, and repairs what a crash or a person left: see
    /// [`DirStore::notices`].
    ///
    /// # Errors
    /// [`StoreError::Locked`] if another process writes to it, [`StoreError::Newer`] if a later program made it, or
    /// the system refuses.
    pub fn open(dir: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::open_writing(dir.as_ref(), Disk::default())
    }

    /// [`DirStore::open`], with a watch over what is done to the disk.
    ///
    /// # Errors
    /// Those of [`DirStore::open`], and those of the watch.
    #[cfg(feature = "testing")]
    pub fn open_watched(dir: impl AsRef<Path>, watch: Watch) -> Result<Self, StoreError> {
        Self::open_writing(dir.as_ref(), Disk::watched(watch))
    }

    fn open_writing(dir: &Path, disk: Disk) -> Result<Self, StoreError> {
        disk.make_folder(dir)?;
        let mut journal = DirJournal::of(dir, disk);
        // Before the lock is written to, and again, because another process may have had it.
        journal.layout.check_schema()?;
        journal.lock = Some(journal.layout.lock(&journal.disk)?);
        journal.layout.check_schema()?;
        journal.layout.prepare(&journal.disk)?;
        Ok(Self::of(journal.list()?, journal))
    }

    /// Opens the directory without a lock: nothing can be changed or repaired. What another process writes is seen at the
    /// next call.
    ///
    /// # Errors
    /// There is no such directory, a later program made it, or the system refuses.
    pub fn open_read_only(dir: impl AsRef<Path>) -> Result<Self, StoreError> {
        let dir = dir.as_ref();
        std::fs::read_dir(dir).map_err(StoreError::io(dir))?;
        let mut journal = DirJournal::of(dir, Disk::default());
        journal.check_schema()?;
        Ok(Self::of(journal.list()?, journal))
    }

    /// Whether [`DirStore::open`] would be let in now, as far as this can be told without writing.
    ///
    /// # Errors
    /// [`StoreError::Locked`] if another process writes to the directory, [`StoreError::Newer`] if a later program made
    /// it, or the system refuses.
    pub fn check_open(dir: impl AsRef<Path>) -> Result<(), StoreError> {
        let DirJournal { layout, disk, .. } = DirJournal::of(dir.as_ref(), Disk::default());
        layout.check_lock(&disk)?;
        layout.check_schema()
    }

    /// The store without waiting for the disk: quicker, and a power cut may lose edits that were reported. For tests and
    /// measurements.
    #[must_use]
    pub fn without_fsync(self) -> Self {
        self.with_journal(|journal| journal.disk.0 = journal.disk.0.clone().without_sync())
    }

    /// The store with a function that receives each notice as soon as there is one; see [`DirStore::notices`].
    #[must_use]
    pub fn on_notice(self, sink: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.with_journal(|journal| journal.notices.send_to(Box::new(sink)))
    }

    /// The findings and repairs so far, for a person, one line each. Those about a block come at its first use.
    pub fn notices(&self) -> Vec<String> {
        self.state().journal.notices.lines().to_vec()
    }

    /// Reads every log to its beginning, so that the damage in it is among the notices.
    ///
    /// # Errors
    /// A log or an archive cannot be read.
    pub fn check_logs(&self) -> Result<(), StoreError> {
        let mut state = self.state();
        let journal = &mut state.journal;
        for name in journal.list()? {
            let mut read = |_| ControlFlow::Continue(());
            journal.logs().each(&name, None, &mut read)?;
        }
        Ok(())
    }

    /// The work of the store so far.
    pub fn read_counts(&self) -> ReadCounts {
        self.state().journal.counts
    }
}

impl DirJournal {
    fn of(dir: &Path, disk: Disk) -> Self {
        Self {
            layout: Layout {
                root: dir.to_owned(),
            },
            disk,
            lock: None,
            files: BTreeMap::new(),
            schema: None,
            notices: Notices::default(),
            counts: ReadCounts::default(),
        }
    }

    /// Whether another process or a person changed the block's file.
    fn is_changed(&self, name: &BlockName) -> bool {
        let known = self.files.get(name).and_then(|files| files.block);
        FileFacts::at(&self.layout.block(name)) != known
    }

    /// Whether another process changed the log, too.
    fn is_log_changed(&self, name: &BlockName) -> bool {
        let known = self.files.get(name).and_then(|files| files.seen_log);
        FileFacts::at(&self.layout.log(name)) != known
    }

    /// Checks the version of the directory's layout, unless that was done and the file is the same.
    fn check_schema(&mut self) -> Result<(), StoreError> {
        let found = FileFacts::at(&self.layout.schema());
        if found.is_none() || found != self.schema {
            self.layout.check_schema()?;
            self.schema = found;
        }
        Ok(())
    }

    fn found(&mut self, name: &BlockName) -> Result<RepairFinding, StoreError> {
        self.counts.blocks += 1;
        repair::found(&self.layout.block(name))
    }

    fn logs(&mut self) -> LogReader<'_> {
        LogReader {
            layout: &self.layout,
            disk: &self.disk,
            notices: &mut self.notices,
            counts: &mut self.counts,
        }
    }

    fn check_writing(&self) -> Result<(), StoreError> {
        self.lock.as_ref().map(|_| ()).ok_or(StoreError::ReadOnly)
    }

    /// Appends the entry to the log; answers how long the log was before.
    fn append(&mut self, name: &BlockName, entry: &LogEntry) -> Result<u64, StoreError> {
        let path = self.layout.log(name);
        let mut line =
            serde_json::to_vec(entry).map_err(|error| StoreError::io(&path)(error.into()))?;
        line.push(b'\n');
        let before = self.files.get(name).map_or(0, |files| files.log);
        self.disk.append(&path, before, &line)?;
        self.files.entry(name.clone()).or_default().log = before + line.len() as u64;
        Ok(before)
    }

    /// Reverts what [`DirJournal::append`] did.
    fn unappend(&mut self, name: &BlockName, before: u64) {
        // As there: a log that is ahead of its block is what openings repair.
        let _ = self.disk.cut(&self.layout.log(name), before);
        self.files.entry(name.clone()).or_default().log = before;
    }

    fn write_block(&mut self, name: &BlockName, file: &str) -> Result<(), StoreError> {
        let path = self.layout.block(name);
        self.disk.replace(&path, file.as_bytes())?;
        self.files.entry(name.clone()).or_default().block = FileFacts::at(&path);
        // The block is there. Should the disk lose its name, the log still has the edit.
        let _ = self.disk.settle(&path);
        Ok(())
    }

    /// Copies the block as it is before a save, if the last copy is old.
    fn back_up(&mut self, name: &BlockName, at: Timestamp) -> Result<(), StoreError> {
        let files = self.files.entry(name.clone()).or_default();
        let block = self.layout.block(name);
        let fresh = |then| at.duration_since(then) <= BACKUP_AGE;
        if files.backup.is_some_and(fresh) || !block.exists() {
            return Ok(());
        }
        let backup = self.layout.backup(name);
        self.disk.copy(&block, &backup, at)?;
        files.backup = Some(at);
        Ok(())
    }

    fn rotate_if_long(&mut self, name: &BlockName, rev: u64, form: &NormalForm) {
        let Some(files) = self.files.get(name).filter(|files| files.log > LOG_LIMIT) else {
            return;
        };
        // No later update of the labels needs an archive, which a person may remove.
        if files.labels_due <= rev {
            let block = LabelledBlock {
                name,
                rev,
                hash: Some(form.hash),
                read: &|| Block::parse(&form.file).ok(),
            };
            // Without them the log is archived all the same: the edit is done.
            let _ = labels::current(self, &block, None, 1);
        }
        match self.logs().rotate(name) {
            Ok(length) => self.files.entry(name.clone()).or_default().log = length,
            Err(error) => {
                // The edit is done, and the next one tries again, whether the log was replaced or not.
                if let Ok(found) = fs::metadata(self.layout.log(name)) {
                    self.files.entry(name.clone()).or_default().log = found.len();
                }
                let notice = format!("the log of block {name} could not be archived: {error}");
                self.notices.push(notice);
            }
        }
    }
}

impl Journal for DirJournal {
    type Form = NormalForm;

    fn form(&self, block: &Block) -> NormalForm {
        block.normal_form()
    }

    fn hash(form: &NormalForm) -> Option<[u8; 32]> {
        Some(form.hash)
    }

    fn find(&mut self) -> Result<BTreeSet<BlockName>, StoreError> {
        if self.lock.is_some() {
            return Ok(BTreeSet::new());
        }
        self.check_schema()?;
        self.list()
    }

    fn look(&mut self, name: &BlockName) -> Result<Option<BlockSlot>, StoreError> {
        if self.lock.is_none() {
            self.check_schema()?;
            let is_changed = self.is_changed(name) || self.is_log_changed(name);
            return is_changed.then(|| self.settle(name)).transpose();
        }
        if !self.is_changed(name) {
            return Ok(None);
        }
        // A file that is no block may be one that is just being written: it is looked at again until it is one.
        match self.found(name)? {
            RepairFinding::Block(..) => self.settle(name).map(Some),
            RepairFinding::Nothing | RepairFinding::Damage(..) => Ok(None),
        }
    }

    fn is_there(&mut self, name: &BlockName) -> Result<bool, StoreError> {
        if self.lock.is_none() {
            self.check_schema()?;
        }
        if !repair::is_file(&self.layout.block(name)) || !repair::is_file(&self.layout.log(name)) {
            return Ok(false);
        }
        // A log of a newer program is refused. One that does not end with a block could not make a damaged one again.
        let mut is_live = false;
        let mut read = |entry: LogEntry| {
            is_live = entry.after_hash.is_some();
            ControlFlow::Break(())
        };
        let _ = self.logs().recent(name, &mut read)?;
        Ok(is_live)
    }

    fn settle(&mut self, name: &BlockName) -> Result<BlockSlot, StoreError> {
        if self.lock.is_none() {
            self.check_schema()?;
            return self.settle_for_reading(name);
        }
        self.settle_for_writing(name)
    }

    fn save(
        &mut self,
        name: &BlockName,
        entry: LogEntry,
        form: NormalForm,
    ) -> Result<(), StoreError> {
        self.check_writing()?;
        if self.is_changed(name)
            && let RepairFinding::Damage(reason, at) = self.found(name)?
        {
            self.quarantine(name, &reason, at)?;
        }
        self.back_up(name, entry.at)?;
        let before = self.append(name, &entry)?;
        if let Err(error) = self.write_block(name, &form.file) {
            self.unappend(name, before);
            return Err(error);
        }
        self.rotate_if_long(name, entry.rev, &form);
        Ok(())
    }

    fn remove(&mut self, name: &BlockName, entry: LogEntry) -> Result<(), StoreError> {
        self.check_writing()?;
        let block = self.layout.block(name);
        let trash = self.layout.trash(name, entry.at);
        // The file first: a file whose log says that it was deleted is one that a person put back.
        // A person may have taken the file away.
        let moved = match FileFacts::at(&block) {
            Some(_) => self.disk.rename(&block, &trash),
            None => Ok(()),
        };
        let done = moved.and_then(|()| self.append(name, &entry));
        if done.is_err() {
            // Where this fails the next opening makes the block again from its log.
            let _ = self.disk.rename(&trash, &block);
        } else {
            // If it stays, the log says that the labels are gone.
            let _ = fs::remove_file(self.layout.labels(name));
        }
        done.map(|_| ())
    }

    fn read(&mut self, name: &BlockName, range: LogRange) -> Result<Vec<LogEntry>, StoreError> {
        self.logs().read(name, range)
    }

    fn each(
        &mut self,
        name: &BlockName,
        take: &mut dyn FnMut(LogEntry) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        self.logs().each(name, None, take)
    }

    fn writes(&self) -> bool {
        self.lock.is_some()
    }

    fn labels(&mut self, name: &BlockName) -> Option<Labels> {
        let path = self.layout.labels(name);
        let is_small = fs::metadata(&path).is_ok_and(|found| found.len() <= LABELS_LIMIT);
        let bytes = is_small.then(|| disk::read(&path).ok().flatten())??;
        labels::decode(&bytes).filter(|labels| labels.rev() <= MAX_REV)
    }

    fn kept_labels(&self, name: &BlockName) -> u64 {
        self.files.get(name).map_or(0, |files| files.kept_labels)
    }

    fn keep_labels(&mut self, name: &BlockName, labels: &Labels) -> bool {
        let files = self.files.entry(name.clone()).or_default();
        if labels.rev() < files.labels_due {
            return false;
        }
        let path = self.layout.labels(name);
        let bytes = labels::encode(labels);
        let kept = if bytes.len() as u64 > LABELS_LIMIT {
            Err(StoreError::io(&path)(io::ErrorKind::FileTooLarge.into()))
        } else {
            self.disk.replace(&path, &bytes)
        };
        if let Err(error) = kept {
            files.labels_due = labels.rev() + KEEP_EVERY;
            let notice = format!("the labels of block {name} could not be written: {error}");
            self.notices.push(notice);
            return false;
        }
        files.kept_labels = labels.rev();
        true
    }
}
