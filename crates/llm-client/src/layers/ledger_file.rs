//! The ledger of a run: what its calls may cost is in a file before they are sent, so a run that is killed and resumed
//! keeps one cap.

use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use jiff::Timestamp;
use llm_types::{Charge, Usd};
use serde::{Deserialize, Serialize};

use super::budget::Most;
use crate::{Error, Spend};

const SCHEMA_VERSION: u32 = 1;
/// The file is synced at most this often, and at the end.
const SYNC: Duration = Duration::from_secs(1);

/// Where a run keeps what it spends, for [`crate::Client::keep_ledger`].
///
/// One JSON line is written before an attempt is sent, with the most that it can cost, and one after it with what was
/// charged: `usage` (the provider said), `reserved` (it did not) or `refund`. A line without its second one counts
/// whole. So a process that is killed never leaves less in the file than the provider bills, and the next process goes
/// on with one cap. One client writes at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerFile {
    path: PathBuf,
    run_id: Option<i64>,
}

impl LedgerFile {
    /// The ledger at `path`. It need not exist, and what it holds is kept.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            run_id: None,
        }
    }

    /// Counts and writes lines of this run alone, in a file that several runs share.
    #[must_use]
    pub fn run(self, run_id: i64) -> Self {
        Self {
            run_id: Some(run_id),
            ..self
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What was spent by all processes of the run until now; nothing if there is no file yet. Holds of attempts that did
    /// not end count as spent.
    ///
    /// # Errors
    /// The file cannot be read, or a line of it; [`crate::ErrorKind::Refused`] names both.
    pub fn spent(&self) -> Result<Spend, Error> {
        match std::fs::read(&self.path) {
            Ok(text) => Ok(self.sums(&text)?.spend),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Spend::default()),
            Err(error) => Err(self.error("cannot be read").with_source(error)),
        }
    }

    /// Opens the file for one writer, after cutting a torn last line off.
    pub(crate) fn open(&self) -> Result<Writer, Error> {
        let failed = |error: io::Error| self.error("cannot be opened").with_source(error);
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(&self.path)
            .map_err(failed)?;
        // A file system without locks is no error: one writer is the user's to see to there.
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            return Err(self.error("another process is spending for this run"));
        }
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(failed)?;
        let sums = self.sums(&text)?;
        file.set_len(sums.end).map_err(failed)?;
        let syncer = Syncer::start(file.try_clone().map_err(failed)?).map_err(failed)?;
        Ok(Writer {
            ledger: self.clone(),
            file,
            end: sums.end,
            next: sums.next,
            spend: sums.spend,
            torn: false,
            syncer,
        })
    }

    fn sums(&self, text: &[u8]) -> Result<Sums, Error> {
        let mut sums = Sums::default();
        let mut open: HashMap<u64, Amounts> = HashMap::new();
        for (index, bytes) in text.split_inclusive(|byte| *byte == b'\n').enumerate() {
            if !bytes.ends_with(b"\n") {
                // Torn: its attempt was not sent, or ended without a settlement on record.
                break;
            }
            sums.end += bytes.len() as u64;
            let wrong = |why: String| self.error(&format!("line {}: {why}", index + 1));
            let line: Line =
                serde_json::from_slice(bytes).map_err(|error| wrong(error.to_string()))?;
            if line.schema_version != SCHEMA_VERSION {
                return Err(wrong(format!(
                    "schema_version is {}, this program reads {SCHEMA_VERSION}",
                    line.schema_version
                )));
            }
            let id = u64::from_str_radix(&line.id, 16)
                .map_err(|_| wrong("the id is not 16 hex digits".to_owned()))?;
            match (line.reserve, line.settle) {
                (Some(most), None) => {
                    sums.next = sums.next.max(id.saturating_add(1));
                    if line.run_id == self.run_id {
                        open.insert(id, most);
                        sums.spend.calls += 1;
                    }
                }
                (None, Some(end)) => {
                    // Of another run, or twice.
                    let Some(_) = open.remove(&id) else { continue };
                    match end.how {
                        How::Refund => sums.spend.calls -= 1,
                        how => sums.spend.add(end.amounts.charge(how == How::Usage)),
                    }
                }
                _ => return Err(wrong("expected one of reserve and settle".to_owned())),
            }
        }
        for most in open.into_values() {
            sums.spend.add(most.charge(false));
        }
        Ok(sums)
    }

    fn error(&self, why: &str) -> Error {
        Error::refused("ledger", format!("{}: {why}", self.path.display()))
    }
}

/// What a file holds.
#[derive(Default)]
struct Sums {
    spend: Spend,
    /// The id of the next line.
    next: u64,
    /// Where the last whole line ends, in bytes.
    end: u64,
}

#[derive(Serialize, Deserialize)]
struct Line {
    schema_version: u32,
    id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    t: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    run_id: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reserve: Option<Amounts>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    settle: Option<Settled>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
struct Amounts {
    /// Null where no price is known.
    nano_usd: Option<i64>,
    tokens: u64,
}

impl Amounts {
    fn charge(self, certain: bool) -> Charge {
        // A file that takes money back is not one of ours.
        let usd = self.nano_usd.map(|nanos| Usd(nanos.max(0)));
        Charge::new(usd, self.tokens, certain)
    }
}

#[derive(Serialize, Deserialize)]
struct Settled {
    #[serde(flatten)]
    amounts: Amounts,
    how: How,
}

/// By what an attempt was settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum How {
    /// What the provider says was used.
    Usage,
    /// All that was held: the provider did not say.
    Reserved,
    /// Nothing: the attempt was not sent, or the server declined it.
    Refund,
}

/// The open file of a run.
pub(crate) struct Writer {
    ledger: LedgerFile,
    file: File,
    end: u64,
    next: u64,
    spend: Spend,
    /// A line could not be written, and a part of it may be there.
    torn: bool,
    syncer: Syncer,
}

impl Writer {
    /// What was spent before it was opened.
    pub fn spent(&self) -> Spend {
        self.spend
    }

    /// Writes down the most that an attempt can cost, before it is sent. Gives the number of the line.
    pub fn reserve(&mut self, most: Most, now: Timestamp) -> Result<u64, Error> {
        let id = self.next;
        let line = Line {
            t: Some(now),
            run_id: self.ledger.run_id,
            reserve: Some(Amounts {
                nano_usd: most.usd.map(|usd| usd.0),
                tokens: most.tokens,
            }),
            ..Line::of(id)
        };
        self.append(&line).map_err(|error| {
            let why = "cannot be written, so nothing is sent";
            self.ledger.error(why).with_source(error)
        })?;
        self.next += 1;
        Ok(id)
    }

    /// Writes down what was charged. If that fails the attempt counts whole in this file, which is never too little.
    pub fn settle(&mut self, id: u64, charge: Charge, how: How) {
        let settle = Settled {
            amounts: Amounts {
                nano_usd: charge.usd.map(|usd| usd.0),
                tokens: charge.tokens,
            },
            how,
        };
        let line = Line {
            settle: Some(settle),
            ..Line::of(id)
        };
        if let Err(error) = self.append(&line) {
            tracing::warn!(%error, ledger = %self.ledger.path.display(), "cannot write what a call cost");
        }
    }

    fn append(&mut self, line: &Line) -> io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        if self.torn {
            self.file.set_len(self.end)?;
        }
        self.torn = true;
        self.file.write_all(&text)?;
        self.torn = false;
        self.end += text.len() as u64;
        self.syncer.ask();
        Ok(())
    }
}

impl Line {
    fn of(id: u64) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            id: format!("{id:016x}"),
            t: None,
            run_id: None,
            reserve: None,
            settle: None,
        }
    }
}

/// A thread that syncs a file after lines came, so that no call waits for the disk. Dropped, it syncs a last time.
struct Syncer {
    asks: Option<SyncSender<()>>,
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Syncer {
    fn start(file: File) -> io::Result<Self> {
        let (asks, asked) = sync_channel(1);
        let (end, ended) = channel();
        let thread = std::thread::Builder::new()
            .name("ledger".to_owned())
            .spawn(move || sync(&file, &asked, &ended))?;
        Ok(Self {
            asks: Some(asks),
            end: Some(end),
            thread: Some(thread),
        })
    }

    fn ask(&self) {
        if let Some(asks) = &self.asks {
            // Full: it is asked already.
            let _ = asks.try_send(());
        }
    }
}

fn sync(file: &File, asked: &Receiver<()>, ended: &Receiver<()>) {
    while asked.recv().is_ok() {
        // What a kill leaves is in the system's hands already; this is for a loss of power.
        let _ = file.sync_data();
        if let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(SYNC) {
            continue;
        }
        let _ = file.sync_data();
        return;
    }
}

impl Drop for Syncer {
    fn drop(&mut self) {
        self.end.take();
        self.asks.take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
