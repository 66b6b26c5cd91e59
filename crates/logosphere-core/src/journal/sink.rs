//! The destinations of events.

use std::io;
use std::path::PathBuf;

use futures_util::future::{self, BoxFuture, FutureExt as _};

use super::event::Event;
use super::line::encode;
use super::pending::PendingReply;

/// A destination of events.
pub trait JournalSink {
    /// Writes an event. The event survives the end of the process when this returns, and that of the machine after
    /// [`Self::sync`].
    ///
    /// # Errors
    /// The event is not written, and no other event may follow.
    fn append(&mut self, timestamp: &str, event: &Event) -> Result<(), JournalError>;

    /// Writes events of one time. A file takes them in one write.
    ///
    /// # Errors
    /// No event may follow. A file then has none of them.
    fn append_all(&mut self, timestamp: &str, events: &[Event]) -> Result<(), JournalError> {
        let mut events = events.iter();
        events.try_for_each(|event| self.append(timestamp, event))
    }

    /// Makes all written events and answers survive the end of the machine, as far as the sink supports it. A run waits
    /// for this before it makes a call that depends on them.
    ///
    /// # Errors
    /// They are written, but the machine may lose them.
    fn sync(&mut self) -> BoxFuture<'_, Result<(), JournalError>> {
        future::ok(()).boxed()
    }

    /// Keeps an answer until its event is written, as safely as an event.
    ///
    /// # Errors
    /// The answer is not kept.
    fn spool(&mut self, answer: &PendingReply) -> Result<(), JournalError> {
        let _ = answer;
        Ok(())
    }

    /// Drops the kept answers, because all of them have events on the disk.
    ///
    /// # Errors
    /// The kept answers cannot be dropped.
    fn settle(&mut self) -> Result<(), JournalError> {
        Ok(())
    }
}

/// A journal in memory, with the bytes that a file would have.
#[derive(Debug, Clone, Default)]
pub struct MemJournal {
    /// The bytes of all lines.
    pub bytes: Vec<u8>,
    seq: u64,
    chain: String,
}

impl MemJournal {
    /// Continues a journal of `lines` complete lines, the last of which has this chain.
    pub fn resumed(journal: &[u8], lines: u64, chain: &str) -> Self {
        Self {
            bytes: journal.to_vec(),
            seq: lines,
            chain: chain.to_owned(),
        }
    }

    /// Returns the number of lines.
    pub fn lines(&self) -> u64 {
        self.seq
    }

    /// Returns the chain of the last line.
    pub fn chain(&self) -> &str {
        &self.chain
    }
}

impl JournalSink for MemJournal {
    fn append(&mut self, timestamp: &str, event: &Event) -> Result<(), JournalError> {
        if let Event::ExperimentStart(start) = event {
            self.chain.clone_from(&start.run_id);
        }
        self.chain = encode(&mut self.bytes, timestamp, self.seq, event, &self.chain);
        self.seq += 1;
        Ok(())
    }
}

/// The error of a file of the journal that cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}", path.display())]
#[non_exhaustive]
pub struct JournalError {
    /// The path of the file.
    pub path: PathBuf,
    /// The error of the system.
    #[source]
    pub source: io::Error,
}

impl JournalError {
    /// The file at this path cannot be read or written.
    pub fn new(path: impl Into<PathBuf>, source: impl Into<io::Error>) -> Self {
        Self {
            path: path.into(),
            source: source.into(),
        }
    }
}
