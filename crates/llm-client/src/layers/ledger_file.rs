//! The ledger of a run: the maximum cost of a call is in a file before the call is sent, so that a run that is killed and
//! resumed keeps one cap.

use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use llm_types::{Charge, Usd};
use serde::{Deserialize, Serialize};

use super::budget::{BatchEntry, CostBound};
use super::timer::timestamp;
use crate::{Error, Spend};

const SCHEMA_VERSION: u32 = 1;
/// The minimum time between two syncs of the file.
const SYNC: Duration = Duration::from_secs(1);

/// The file of a run's expenses, for [`crate::Client::keep_ledger`].
///
/// A JSON line is written before an attempt is sent, with its maximum cost, and one after it with the charge: `usage` (the
/// provider reported it), `reserved` (it did not) or `refund`. A line without its second one counts whole. So a killed
/// process never leaves less in the file than the provider bills, and the next process continues under the same cap. One
/// client writes at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerFile {
    path: PathBuf,
    run_id: Option<i64>,
}

impl LedgerFile {
    /// The ledger at `path`. It need not exist, and its lines are kept.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            run_id: None,
        }
    }

    /// Reads and writes lines of this run only, in a file that several runs share.
    #[must_use]
    pub fn run(self, run_id: i64) -> Self {
        Self {
            run_id: Some(run_id),
            ..self
        }
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The amounts spent by all processes of the run so far; zero without a file. Reservations of unfinished attempts count as
    /// spent.
    ///
    /// # Errors
    /// The file cannot be read, or a line of it; [`crate::ErrorKind::Refused`] names both.
    pub fn spent(&self) -> Result<Spend, Error> {
        match std::fs::read(&self.path) {
            Ok(text) => {
                let Sums {
                    mut spend, batches, ..
                } = self.sums(&text)?;
                for batch in batches.values().flatten() {
                    spend.add(batch.most);
                }
                Ok(spend)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Spend::default()),
            Err(error) => Err(self.error("cannot be read").with_source(error)),
        }
    }

    /// Opens the file for one writer and cuts off a torn last line.
    pub(crate) fn open(&self) -> Result<LedgerWriter, Error> {
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
        let syncer = LedgerSyncer::start(file.try_clone().map_err(failed)?).map_err(failed)?;
        Ok(LedgerWriter {
            ledger: self.clone(),
            file,
            end: sums.end,
            next: sums.next,
            spend: sums.spend,
            batches: sums.batches,
            torn: false,
            syncer,
        })
    }

    fn sums(&self, text: &[u8]) -> Result<Sums, Error> {
        let mut sums = Sums::default();
        let mut open: HashMap<u64, OpenEntry> = HashMap::new();
        for (index, bytes) in text.split_inclusive(|byte| *byte == b'\n').enumerate() {
            if !bytes.ends_with(b"\n") {
                // Torn: its attempt was not sent, or ended without a settlement on record.
                break;
            }
            sums.end += bytes.len() as u64;
            let wrong = |why: String| self.error(&format!("line {}: {why}", index + 1));
            let line: LedgerLine =
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
                        let (calls, batch) = (line.calls.unwrap_or(1), line.batch);
                        open.insert(id, OpenEntry { most, calls, batch });
                        sums.spend.calls = sums.spend.calls.saturating_add(calls);
                    }
                }
                (None, Some(end)) => {
                    // Of another run, or twice.
                    let Some(entry) = open.remove(&id) else {
                        continue;
                    };
                    match end.how {
                        Settlement::Refund => {
                            sums.spend.calls = sums.spend.calls.saturating_sub(entry.calls);
                        }
                        how => {
                            sums.spend.add(end.amounts.charge(how == Settlement::Usage));
                            sums.batches.extend(entry.batch.map(|batch| (batch, None)));
                        }
                    }
                }
                _ => return Err(wrong("expected one of reserve and settle".to_owned())),
            }
        }
        for (entry, OpenEntry { most, calls, batch }) in open {
            let most = most.charge(false);
            match batch {
                None => sums.spend.add(most),
                // A process continues it.
                Some(batch) => {
                    let reserved = Some(BatchEntry { entry, most, calls });
                    sums.batches.insert(batch, reserved);
                }
            }
        }
        Ok(sums)
    }

    fn error(&self, why: &str) -> Error {
        Error::refused("ledger", format!("{}: {why}", self.path.display()))
    }
}

/// The sums of a file.
#[derive(Default)]
struct Sums {
    /// The amounts without those that batches under way reserve.
    spend: Spend,
    /// The id of the next reservation.
    next: u64,
    /// The end of the last whole line, in bytes.
    end: u64,
    batches: HashMap<String, Option<BatchEntry>>,
}

/// A reservation without a settlement.
struct OpenEntry {
    most: Amounts,
    calls: u64,
    batch: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct LedgerLine {
    schema_version: u32,
    id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    t: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    run_id: Option<i64>,
    /// The name of the batch that is reserved for, and the number of its calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    batch: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    calls: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reserve: Option<Amounts>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    settle: Option<Settled>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
struct Amounts {
    /// The amount in nano-dollars; null if no price is known.
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
    how: Settlement,
}

/// The basis of a settlement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Settlement {
    /// The usage that the provider reported.
    Usage,
    /// The whole reservation, since the provider reported no usage.
    Reserved,
    /// A refund: the attempt was not sent, or the server declined it.
    Refund,
}

/// The open file of a run.
pub(crate) struct LedgerWriter {
    ledger: LedgerFile,
    file: File,
    end: u64,
    next: u64,
    spend: Spend,
    batches: HashMap<String, Option<BatchEntry>>,
    /// Whether a line could not be written, so that a part of it may be in the file.
    torn: bool,
    syncer: LedgerSyncer,
}

impl LedgerWriter {
    /// The amounts spent before the file was opened.
    pub fn spent(&self) -> Spend {
        self.spend
    }

    /// The batches in the file when it was opened.
    pub fn take_batches(&mut self) -> HashMap<String, Option<BatchEntry>> {
        std::mem::take(&mut self.batches)
    }

    /// Writes the maximum cost of an attempt, or of a `batch` of calls, before it is sent, and returns the number of the
    /// reservation.
    pub fn reserve(
        &mut self,
        most: CostBound,
        batch: Option<(&str, u64)>,
        now: SystemTime,
    ) -> Result<u64, Error> {
        let id = self.next;
        let line = LedgerLine {
            t: Some(timestamp(now)),
            run_id: self.ledger.run_id,
            batch: batch.map(|(name, _)| name.to_owned()),
            calls: batch.map(|(_, calls)| calls),
            reserve: Some(Amounts {
                nano_usd: most.usd.map(|usd| usd.0),
                tokens: most.tokens,
            }),
            ..LedgerLine::of(id)
        };
        self.append(&line).map_err(|error| {
            let why = "cannot be written, so nothing is sent";
            self.ledger.error(why).with_source(error)
        })?;
        self.next += 1;
        Ok(id)
    }

    /// Writes the charge. If that fails, the attempt counts whole in this file, which is never too little.
    pub fn settle(&mut self, id: u64, charge: Charge, how: Settlement) {
        let settle = Settled {
            amounts: Amounts {
                nano_usd: charge.usd.map(|usd| usd.0),
                tokens: charge.tokens,
            },
            how,
        };
        let line = LedgerLine {
            settle: Some(settle),
            ..LedgerLine::of(id)
        };
        if let Err(error) = self.append(&line) {
            tracing::warn!(%error, ledger = %self.ledger.path.display(), "cannot write what a call cost");
        }
    }

    fn append(&mut self, line: &LedgerLine) -> io::Result<()> {
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

impl LedgerLine {
    fn of(id: u64) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            id: format!("{id:016x}"),
            t: None,
            run_id: None,
            batch: None,
            calls: None,
            reserve: None,
            settle: None,
        }
    }
}

/// A thread that syncs a file after lines were written, so that no call waits for the disk. A drop syncs a last time.
struct LedgerSyncer {
    asks: Option<SyncSender<()>>,
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl LedgerSyncer {
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

impl Drop for LedgerSyncer {
    fn drop(&mut self) {
        self.end.take();
        self.asks.take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
