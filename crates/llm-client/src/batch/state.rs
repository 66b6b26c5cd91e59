//! The state of a spool: the sum of its lines.

use indexmap::{IndexMap, IndexSet};
use jiff::Timestamp;
use llm_types::{Charge, Usd};

use super::key::Key;
use super::line::{LineHead, SpoolEntry};
use super::progress::Progress;
use crate::models::Factor;

/// The end of a batch that the server refused as a whole.
pub(super) const REFUSED: &str = "refused";

/// The state of a spool.
#[derive(Debug, Default)]
pub(super) struct SpoolState {
    pub id: String,
    pub keys: IndexMap<Key, KeyState>,
    pub batches: IndexMap<String, BatchRow>,
    /// The number of times that a request went into another batch, since the one before returned it without a result.
    pub again: usize,
}

/// The state of a request.
#[derive(Debug)]
pub(super) struct KeyState {
    pub model: String,
    /// The offset of the line with the request.
    pub planned: u64,
    /// The offset of the line with the result.
    pub result: Option<u64>,
    /// Whether the result is an error that may pass, so that another process may ask again.
    pub is_unanswered: bool,
    /// The number of batches of this process with it that the server got or may have got.
    pub tries: u32,
    /// Whether it is in a batch that is not over.
    pub is_out: bool,
    /// Whether a batch returned it without a result.
    pub is_returned: bool,
}

/// A batch, from the attempt to submit it on.
#[derive(Debug)]
pub(super) struct BatchRow {
    /// The provider and the address that it was sent to.
    pub server: String,
    pub keys: IndexSet<Key>,
    pub at: Timestamp,
    /// The maximum cost.
    pub most: Charge,
    /// The factor on the prices of calls.
    pub discount: Factor,
    /// The id at the server, once it is known, unless the server refused it.
    pub id: Option<String>,
    pub is_closed: bool,
    /// The charge of a batch that is over; `None` if the server did not take it.
    pub charge: Option<Charge>,
}

impl SpoolState {
    /// Adds a line that is at `offset` of the file.
    pub fn add(&mut self, line: LineHead, offset: u64) -> Result<(), String> {
        match line.entry {
            SpoolEntry::Spool { id } => {
                // It is a part of the keys, which are sent as they are.
                let is_hex = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
                if !self.id.is_empty() || id.len() != 8 || !id.bytes().all(is_hex) {
                    return Err("expected one id of 8 lower-case hex digits".to_owned());
                }
                self.id = id;
            }
            SpoolEntry::Planned { key, request } => {
                let state = KeyState {
                    model: request.model,
                    planned: offset,
                    result: None,
                    is_unanswered: false,
                    tries: 0,
                    is_out: false,
                    is_returned: false,
                };
                self.keys.entry(key).or_insert(state);
            }
            SpoolEntry::Submitting {
                batch,
                server,
                keys,
                most,
                discount,
            } => {
                let next = self.next_batch();
                if batch != next {
                    return Err(format!("expected the batch {next}, found {batch}"));
                }
                for key in &keys {
                    self.reopen(key);
                    let state = self.key(key)?;
                    state.is_out = true;
                    state.tries = state.tries.saturating_add(1);
                    let again = std::mem::take(&mut state.is_returned);
                    self.again += usize::from(again);
                }
                let row = BatchRow {
                    server,
                    keys: keys.into_iter().collect(),
                    at: line.t,
                    most: Charge::new(not_negative(most), most.tokens, false),
                    discount,
                    id: None,
                    is_closed: false,
                    charge: None,
                };
                self.batches.insert(batch, row);
            }
            SpoolEntry::Submitted { batch, id } => row(&mut self.batches, &batch)?.id = Some(id),
            SpoolEntry::Result { key, error, .. } => {
                // The process that wrote it had asked again.
                self.reopen(&key);
                let state = self.key(&key)?;
                if state.result.is_none() {
                    state.result = Some(offset);
                    state.is_unanswered = error.is_some_and(|error| error.may_pass());
                }
            }
            SpoolEntry::Closed {
                batch,
                state,
                charge,
            } => {
                let row = row(&mut self.batches, &batch)?;
                row.is_closed = true;
                row.charge =
                    charge.map(|sum| Charge::new(not_negative(sum), sum.tokens, sum.certain));
                let is_refused = state == REFUSED;
                row.id = row.id.take().filter(|_| !is_refused);
                for key in &row.keys {
                    let Some(key) = self.keys.get_mut(key) else {
                        continue;
                    };
                    key.is_out = false;
                    key.tries -= u32::from(is_refused && key.tries > 0);
                    key.is_returned |= row.id.is_some() && key.result.is_none();
                }
            }
        }
        Ok(())
    }

    fn key(&mut self, key: &Key) -> Result<&mut KeyState, String> {
        let state = self.keys.get_mut(key);
        state.ok_or_else(|| format!("the request {key} was not planned"))
    }

    /// Forgets the results that are errors which may pass, and the batches of earlier processes as tries.
    pub fn reopen_unanswered(&mut self) {
        for key in self.keys.keys().cloned().collect::<Vec<_>>() {
            self.reopen(&key);
        }
        for key in self.keys.values_mut() {
            key.tries = u32::from(key.is_out);
        }
    }

    fn reopen(&mut self, key: &Key) {
        let state = self.keys.get_mut(key);
        if let Some(state) = state.filter(|state| state.is_unanswered) {
            (state.result, state.is_unanswered, state.tries) = (None, false, 0);
        }
    }

    /// The name of the next batch, which the server gets as a label.
    pub fn next_batch(&self) -> String {
        format!("{}-{}", self.id, self.batches.len() + 1)
    }

    pub fn has_result(&self, key: &Key) -> bool {
        let state = self.keys.get(key);
        state.is_some_and(|state| state.result.is_some())
    }

    /// The number of requests that no process asks again.
    pub fn results(&self) -> usize {
        let has_final = |state: &&KeyState| state.result.is_some() && !state.is_unanswered;
        self.keys.values().filter(has_final).count()
    }

    /// The numbers of the file.
    pub fn progress(&self) -> Progress {
        Progress {
            requests: self.keys.len(),
            results: self.results(),
            batches: self.open().count(),
            again: self.again,
            ..Progress::default()
        }
    }

    /// The batches that are not over.
    pub fn open(&self) -> impl Iterator<Item = (&String, &BatchRow)> {
        self.batches.iter().filter(|(_, row)| !row.is_closed)
    }

    /// The names of the batches that are not over.
    pub fn open_names(&self) -> Vec<String> {
        self.open().map(|(name, _)| name.clone()).collect()
    }
}

/// The money of a charge: a file that takes money back is not one of ours.
fn not_negative(charge: Charge) -> Option<Usd> {
    charge.usd.map(|usd| usd.max(Usd::ZERO))
}

fn row<'a>(
    batches: &'a mut IndexMap<String, BatchRow>,
    name: &str,
) -> Result<&'a mut BatchRow, String> {
    let row = batches.get_mut(name);
    row.ok_or_else(|| format!("the batch {name} was not begun"))
}
