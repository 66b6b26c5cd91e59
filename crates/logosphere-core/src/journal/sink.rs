//! The destinations of events.

use std::io;
use std::path::PathBuf;

use futures_util::future::{self, BoxFuture, FutureExt as _};

use super::event::Event;
use super::line::encode;
use super::pending::PendingReply;

/// Where events go.
pub trait JournalSink {
    /// Writes an event. It outlives the process when this returns, and the machine after [`Self::sync`].
    ///
    /// # Errors
    /// The event is not written, and nothing may follow it.
    fn append(&mut self, timestamp: &str, event: &Event) -> Result<(), JournalError>;

    /// Makes all written events and answers outlive the machine, as far as the sink does that. A run waits for this
    /// before it makes a call that depends on them.
    ///
    /// # Errors
    /// They are written, but the machine may lose them.
    fn sync(&mut self) -> BoxFuture<'_, Result<(), JournalError>> {
        future::ok(()).boxed()
    }

    /// Keeps an answer until its event is written; as safe as an event.
    ///
    /// # Errors
    /// It is not kept.
    fn spool(&mut self, answer: &PendingReply) -> Result<(), JournalError> {
        let _ = answer;
        Ok(())
    }

    /// Says that all answers have their events, and that these are safe.
    ///
    /// # Errors
    /// What was kept for them cannot be given up.
    fn settle(&mut self) -> Result<(), JournalError> {
        Ok(())
    }
}

/// Events in memory, as the bytes a file would have.
#[derive(Debug, Clone, Default)]
pub struct MemJournal {
    /// The lines.
    pub bytes: Vec<u8>,
    seq: u64,
    chain: String,
}

impl MemJournal {
    /// Goes on behind a journal of `lines` whole lines, the last with this chain.
    pub fn resumed(journal: &[u8], lines: u64, chain: &str) -> Self {
        Self {
            bytes: journal.to_vec(),
            seq: lines,
            chain: chain.to_owned(),
        }
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

/// The journal, or what belongs to it, cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}", path.display())]
pub struct JournalError {
    /// The file.
    pub path: PathBuf,
    /// Why.
    #[source]
    pub source: io::Error,
}
