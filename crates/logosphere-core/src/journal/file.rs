use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::future::{BoxFuture, FutureExt as _};

use super::line::encode;
use super::{JournalError, JournalSink, Spooled};
use crate::event::Event;
use crate::settings::Durability;

/// A journal in a file, with its spool beside it.
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
    file: Arc<File>,
    /// Bytes that are written to their end.
    len: u64,
    /// The machine may still lose some of them.
    unsynced: bool,
}

impl FileJournal {
    /// Begins the journal `journal`; there must not be an event in it. What was left of a first line goes.
    ///
    /// # Errors
    /// A file that cannot be opened or emptied.
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

    /// Goes on with a journal of `seq` lines, the last with this chain.
    ///
    /// # Errors
    /// A file that cannot be opened.
    pub fn open(
        journal: &Path,
        spool: &Path,
        durability: Durability,
        seq: u64,
        chain: String,
    ) -> Result<Self, JournalError> {
        Ok(Self {
            journal: Appended::open(journal)?,
            spool: Appended::open(spool)?.without_torn_line()?,
            durability,
            seq,
            chain,
            line: Vec::new(),
        })
    }
}

impl JournalSink for FileJournal {
    fn append(&mut self, timestamp: &str, event: &Event) -> Result<(), JournalError> {
        if let Event::ExperimentStart(start) = event {
            self.chain.clone_from(&start.run_id);
        }
        self.line.clear();
        let chain = encode(&mut self.line, timestamp, self.seq, event, &self.chain);
        self.journal.write(&self.line)?;
        self.chain = chain;
        self.seq += 1;
        Ok(())
    }

    fn spool(&mut self, answer: &Spooled) -> Result<(), JournalError> {
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
    fn open(path: &Path) -> Result<Self, JournalError> {
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .map_err(|source| failed(path, source))?;
        let len = file
            .metadata()
            .map_err(|source| failed(path, source))?
            .len();
        Ok(Self {
            path: path.to_owned(),
            file: Arc::new(file),
            len,
            // A process that was killed may not have waited for the disk.
            unsynced: len > 0,
        })
    }

    /// What was begun and not written to its end would spoil the line behind it.
    fn without_torn_line(mut self) -> Result<Self, JournalError> {
        let cut = File::open(&self.path)
            .and_then(|mut file| whole_lines(&mut file))
            .and_then(|(whole, _)| self.file.set_len(whole).map(|()| whole));
        self.len = cut.map_err(|source| failed(&self.path, source))?;
        Ok(self)
    }

    /// One write: a process that dies leaves the whole line, or its beginning.
    fn write(&mut self, line: &[u8]) -> Result<(), JournalError> {
        self.here().map_err(|source| failed(&self.path, source))?;
        if let Err(source) = (&*self.file).write_all(line) {
            // Half a line would spoil what is written after it. Where this fails too, `resume` sets it aside.
            let _ = self.file.set_len(self.len);
            return Err(failed(&self.path, source));
        }
        self.len += line.len() as u64;
        self.unsynced = true;
        Ok(())
    }

    /// Waits on a thread of the pool, so that calls continue meanwhile. What is written stays, also where this fails.
    async fn sync(&mut self) -> Result<(), JournalError> {
        if !self.unsynced {
            return Ok(());
        }
        let file = self.file.clone();
        let synced = tokio::task::spawn_blocking(move || file.sync_data()).await;
        let synced = synced.map_err(io::Error::other).and_then(|synced| synced);
        synced.map_err(|source| failed(&self.path, source))?;
        self.unsynced = false;
        Ok(())
    }

    /// A file that was deleted or replaced takes what is written and loses it, and one that others write to is spoilt.
    fn here(&self) -> io::Result<()> {
        let found = self.path.metadata()?;
        if found.len() == self.len && is_same(&found, &self.file.metadata()?) {
            return Ok(());
        }
        Err(io::Error::other(
            "it was replaced or altered while the run was writing it",
        ))
    }

    fn empty(&mut self) -> Result<(), JournalError> {
        let emptied = self.file.set_len(0);
        let emptied = emptied.and_then(|()| (&*self.file).seek(SeekFrom::Start(0)));
        emptied.map_err(|source| failed(&self.path, source))?;
        (self.len, self.unsynced) = (0, false);
        Ok(())
    }
}

#[cfg(unix)]
fn is_same(a: &Metadata, b: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

/// Elsewhere a file that is open cannot be replaced.
#[cfg(not(unix))]
fn is_same(_: &Metadata, _: &Metadata) -> bool {
    true
}

fn failed(path: &Path, source: io::Error) -> JournalError {
    JournalError {
        path: path.to_owned(),
        source,
    }
}

/// The bytes of the whole lines of a file, and those behind them.
pub(crate) fn whole_lines(file: &mut File) -> io::Result<(u64, u64)> {
    const STEP: u64 = 1 << 16;
    let len = file.metadata()?.len();
    let mut end = len;
    while end > 0 {
        let begin = end.saturating_sub(STEP);
        let mut bytes = vec![0; (end - begin) as usize];
        file.seek(SeekFrom::Start(begin))?;
        file.read_exact(&mut bytes)?;
        if let Some(at) = bytes.iter().rposition(|byte| *byte == b'\n') {
            end = begin + at as u64 + 1;
            break;
        }
        end = begin;
    }
    file.rewind()?;
    Ok((end, len - end))
}
