use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use durable::{AppendFile, Disk};
use futures_util::future::{BoxFuture, FutureExt as _};

use super::event::Event;
use super::line::encode;
use super::pending::PendingReply;
use super::sink::{JournalError, JournalSink};
use crate::config::Durability;

/// A journal in a file, with its spool in another one.
#[derive(Debug)]
pub struct FileJournal {
    journal: Appended,
    spool: Appended,
    durability: Durability,
    seq: u64,
    chain: String,
    line: Vec<u8>,
}

/// A file that only grows.
#[derive(Debug)]
struct Appended {
    path: PathBuf,
    file: AppendFile,
    /// The file for the thread that syncs it.
    synced: Arc<File>,
    /// Whether some written bytes are not yet on the disk.
    unsynced: bool,
}

impl FileJournal {
    /// Begins the journal `journal`, which must not contain an event. An incomplete first line is removed.
    ///
    /// # Errors
    /// A file that cannot be opened or emptied, and a link, through which nothing is written.
    pub fn create(
        journal: &Path,
        spool: &Path,
        durability: Durability,
    ) -> Result<Self, JournalError> {
        let mut begun = Self::open(journal, spool, durability, 0, String::new())?;
        begun.journal.empty()?;
        begun.spool.empty()?;
        Ok(begun)
    }

    /// Continues a journal of `seq` lines, the last of which has this chain.
    ///
    /// # Errors
    /// A file that cannot be opened, and a link, through which nothing is written.
    pub fn open(
        journal: &Path,
        spool: &Path,
        durability: Durability,
        seq: u64,
        chain: String,
    ) -> Result<Self, JournalError> {
        Ok(Self {
            journal: Appended::open(journal)?,
            spool: Appended::open(spool)?,
            durability,
            seq,
            chain,
            line: Vec::new(),
        })
    }
}

impl JournalSink for FileJournal {
    fn append(&mut self, timestamp: &str, event: &Event) -> Result<(), JournalError> {
        self.append_all(timestamp, std::slice::from_ref(event))
    }

    fn append_all(&mut self, timestamp: &str, events: &[Event]) -> Result<(), JournalError> {
        self.line.clear();
        let (mut seq, mut chain) = (self.seq, self.chain.clone());
        for event in events {
            if let Event::ExperimentStart(start) = event {
                chain.clone_from(&start.run_id);
            }
            chain = encode(&mut self.line, timestamp, seq, event, &chain);
            seq += 1;
        }
        self.journal.write(&self.line)?;
        (self.seq, self.chain) = (seq, chain);
        Ok(())
    }

    fn spool(&mut self, answer: &PendingReply) -> Result<(), JournalError> {
        self.line.clear();
        // A Vec takes everything, and an answer has no maps.
        let _ = serde_json::to_writer(&mut self.line, answer);
        self.line.push(b'\n');
        self.spool.write(&self.line)
    }

    fn sync(&mut self) -> BoxFuture<'_, Result<(), JournalError>> {
        async {
            if self.durability == Durability::Fsync {
                self.journal.sync().await?;
                self.spool.sync().await?;
            }
            Ok(())
        }
        .boxed()
    }

    fn settle(&mut self) -> Result<(), JournalError> {
        self.spool.empty()
    }
}

impl Appended {
    /// Cuts off an incomplete last line, which would spoil the line after it.
    fn open(path: &Path) -> Result<Self, JournalError> {
        let disk = Disk::default().inside(path.parent().unwrap_or(path));
        let opened = disk.open_append(path);
        let (file, _) = opened.map_err(|source| failed(path, source))?;
        let synced = (file.file().try_clone()).map_err(|source| failed(path, source))?;
        Ok(Self {
            path: path.to_owned(),
            // A process that was killed may not have waited for the disk.
            unsynced: file.length() > 0,
            file,
            synced: Arc::new(synced),
        })
    }

    /// Writes a line at once, so that a killed process leaves the whole line or its start.
    fn write(&mut self, line: &[u8]) -> Result<(), JournalError> {
        let written = self.file.append(line);
        written.map_err(|source| failed(&self.path, source))?;
        self.unsynced = true;
        Ok(())
    }

    /// Syncs the file on a blocking thread, so that calls continue meanwhile. Written bytes stay even if this fails.
    async fn sync(&mut self) -> Result<(), JournalError> {
        if !self.unsynced {
            return Ok(());
        }
        let file = self.synced.clone();
        let synced = tokio::task::spawn_blocking(move || file.sync_data()).await;
        let synced = synced.map_err(io::Error::other).and_then(|synced| synced);
        synced.map_err(|source| failed(&self.path, source))?;
        self.unsynced = false;
        Ok(())
    }

    fn empty(&mut self) -> Result<(), JournalError> {
        let emptied = self.file.cut(0);
        emptied.map_err(|source| failed(&self.path, source))?;
        self.unsynced = false;
        Ok(())
    }
}

fn failed(path: &Path, source: io::Error) -> JournalError {
    JournalError {
        path: path.to_owned(),
        source,
    }
}
