//! The lines of `usage.jsonl`: one a call, and the sums of those in archives.

use std::collections::BTreeMap;
use std::ops::Range;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::Offset;
use llm_client::{CostSource, Reply, ReplySource, Spend, Usd};
use serde::{Deserialize, Serialize};

use crate::KernelError;
use crate::config::{UsageTotals, dollars};
use crate::storage::{FileStore, LineError, read_lines};

/// The journal's name.
pub(crate) const FILE: &str = "usage.jsonl";
const VERSION: u32 = 1;

/// A line of the journal.
pub(super) enum UsageEntry {
    Call(UsageLine),
    Carried(CarriedUsage),
}

/// The sums of the calls whose lines are in archives. The first line of a journal that was rotated holds them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct CarriedUsage {
    schema_version: u32,
    /// The number of archives. The lines of an archive with a larger number are still in the journal.
    pub archives: u64,
    pub total: UsageTotals,
    pub by_model: BTreeMap<String, UsageTotals>,
    /// The first day whose sum is kept, and the calls on it.
    pub day: DayUsage,
    /// The calls on later days.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub later: Vec<DayUsage>,
}

/// The calls of one day, UTC.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct DayUsage {
    pub date: Date,
    pub usage: UsageTotals,
}

impl CarriedUsage {
    pub fn new(
        archives: u64,
        total: UsageTotals,
        by_model: BTreeMap<String, UsageTotals>,
        day: DayUsage,
        later: Vec<DayUsage>,
    ) -> Self {
        Self {
            schema_version: VERSION,
            archives,
            total,
            by_model,
            day,
            later,
        }
    }

    pub fn to_line(&self) -> serde_json::Result<Vec<u8>> {
        let mut line = serde_json::to_vec(&serde_json::json!({ "carried": self }))?;
        line.push(b'\n');
        Ok(line)
    }
}

/// Hands each line of a journal or an archive to `take`, with its place in `bytes`. Returns one line for the person if some
/// cannot be read.
pub(super) fn read(
    files: &FileStore,
    name: &str,
    bytes: &[u8],
    mut take: impl FnMut(UsageEntry, Range<usize>),
) -> Result<Option<String>, KernelError> {
    #[derive(Deserialize)]
    struct Begin {
        carried: CarriedUsage,
    }
    read_lines(files, name, VERSION, bytes, |line, place| {
        let parsed = match serde_json::from_slice(line) {
            Ok(call) => UsageEntry::Call(call),
            Err(_) => match serde_json::from_slice(line) {
                Ok(Begin { carried }) => UsageEntry::Carried(carried),
                Err(_) => return Err(LineError::of(line, VERSION)),
            },
        };
        let (UsageEntry::Call(UsageLine { schema_version, .. })
        | UsageEntry::Carried(CarriedUsage { schema_version, .. })) = &parsed;
        if *schema_version != VERSION {
            return Err(LineError::of(line, VERSION));
        }
        take(parsed, place);
        Ok(())
    })
}

/// Fails if a newer program wrote a line of the journal. Of each line no more than its version is looked at.
pub(super) fn refuse_newer(files: &FileStore) -> Result<(), KernelError> {
    let (bytes, _) = files.load(FILE).map_err(KernelError::file(FILE))?;
    let bytes = bytes.unwrap_or_default();
    let newer = |line: &[u8], _| match LineError::of(line, VERSION) {
        LineError::Unreadable => Ok(()),
        newer @ LineError::Newer(_) => Err(newer),
    };
    read_lines(files, FILE, VERSION, &bytes, newer).map(drop)
}

/// One line of `usage.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct UsageLine {
    schema_version: u32,
    at: Timestamp,
    model: String,
    /// Tokens of the prompt, neither from nor to a cache.
    input: u64,
    cached_read: u64,
    cached_write: u64,
    output: u64,
    /// The cost in US dollars; null if it is unknown.
    #[serde(with = "dollars::optional_usd")]
    usd: Option<Usd>,
    /// The source of the cost.
    cost_from: CostSource,
    /// The tokenizer that counted, if the provider did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tokenizer: Option<String>,
    /// Attempts that ended without usage: `usd` holds the most that these can have cost.
    #[serde(default, skip_serializing_if = "is_zero")]
    unsettled: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(n: &u64) -> bool {
    *n == 0
}

impl UsageLine {
    /// The usage that a reply reports.
    ///
    /// `None` for the offline rules, which cost nothing. A script in place of a model has an unknown cost and is counted.
    pub fn of(model: &str, reply: &Reply, tokenizer: &str) -> Option<Self> {
        let is_offline = matches!(reply.source, ReplySource::Offline(_));
        if is_offline && reply.cost.from == CostSource::Free {
            return None;
        }
        let taken = &reply.usage;
        Some(Self {
            input: taken.input,
            cached_read: taken.cache_read,
            cached_write: taken.cache_write_5m.saturating_add(taken.cache_write_1h),
            output: taken.output,
            usd: reply.cost.usd,
            cost_from: reply.cost.from.clone(),
            tokenizer: (!taken.known).then(|| tokenizer.to_owned()),
            ..Self::of_nothing(model)
        })
    }

    /// A call without an answer, with the client's charge.
    pub fn lost(model: &str, spend: Option<Spend>) -> Option<Self> {
        let mut lost = Self::of_nothing(model).charged(spend)?;
        if lost.usd.is_some() {
            lost.cost_from = CostSource::Reserved;
        }
        Some(lost)
    }

    fn of_nothing(model: &str) -> Self {
        Self {
            schema_version: VERSION,
            at: Timestamp::UNIX_EPOCH,
            model: model.to_owned(),
            input: 0,
            cached_read: 0,
            cached_write: 0,
            output: 0,
            usd: None,
            cost_from: CostSource::Unknown,
            tokenizer: None,
            unsettled: 0,
        }
    }

    /// The call with the client's charges, failed attempts included. `None` if the client charged nothing
    /// or does not report it.
    pub fn charged(&self, spend: Option<Spend>) -> Option<Self> {
        let spend = spend.filter(|spend| spend.tokens > 0)?;
        Some(Self {
            usd: (spend.unknown == 0).then_some(spend.usd),
            unsettled: spend.unsettled,
            ..self.clone()
        })
    }

    pub fn at(self, at: Timestamp) -> Self {
        Self { at, ..self }
    }

    pub fn model(&self) -> &str {
        &self.model
    }

    /// The day of the call, UTC.
    pub fn day(&self) -> Date {
        day(self.at)
    }
}

pub(super) fn day(at: Timestamp) -> Date {
    Offset::UTC.to_datetime(at).date()
}

fn sum(a: &mut u64, b: u64) {
    *a = a.saturating_add(b);
}

impl UsageTotals {
    /// Adds the sums of other calls.
    pub(super) fn add_all(&mut self, other: &Self) {
        sum(&mut self.calls, other.calls);
        sum(&mut self.input, other.input);
        sum(&mut self.cached, other.cached);
        sum(&mut self.output, other.output);
        sum(&mut self.unknown, other.unknown);
        sum(&mut self.unsettled, other.unsettled);
        self.usd = self.usd.checked_add(other.usd).unwrap_or(self.usd);
    }

    pub(super) fn add(&mut self, call: &UsageLine) {
        // Where nothing was bought no model was asked. Journals of earlier versions hold such calls.
        if call.cost_from != CostSource::Free {
            sum(&mut self.calls, 1);
        }
        sum(&mut self.unsettled, u64::from(call.unsettled > 0));
        for part in [call.input, call.cached_read, call.cached_write] {
            sum(&mut self.input, part);
        }
        sum(&mut self.cached, call.cached_read);
        sum(&mut self.output, call.output);
        match call.usd {
            Some(usd) => self.usd = self.usd.checked_add(usd).unwrap_or(self.usd),
            None => sum(&mut self.unknown, 1),
        }
    }
}
