//! The usage on record, one line a call, and its sums.

use std::io;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use llm_client::{CostSource, Reply, ReplySource, Spend, Usd};
use serde::{Deserialize, Serialize};

use crate::config::{Usage, UsageTotals, dollars};
use crate::storage::FileStore;

/// The journal's name.
pub(crate) const FILE: &str = "usage.jsonl";
const VERSION: u32 = 1;

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
}

impl UsageTotals {
    fn add(&mut self, call: &UsageLine) {
        let sum = |a: &mut u64, b: u64| *a = a.saturating_add(b);
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

/// Adds calls up.
#[derive(Debug, Default)]
pub(crate) struct UsageSums {
    usage: Usage,
    day: Option<Date>,
    /// Lines that could not be written; the next write begins with them.
    unwritten: Vec<u8>,
}

impl UsageSums {
    /// Reads the record. Unreadable lines are kept in a file next to it, with a line about them.
    pub fn open(files: &FileStore, now: Timestamp) -> io::Result<(Self, Option<String>)> {
        let mut meter = Self {
            usage: Usage::default(),
            day: Some(day(now)),
            unwritten: Vec::new(),
        };
        let (bytes, mut notice) = files.load(FILE)?;
        let bytes = bytes.unwrap_or_default();
        let (mut good, mut bad) = (Vec::new(), Vec::new());
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            match serde_json::from_slice::<UsageLine>(line) {
                // A last line without its end would run into the next one.
                Ok(call) if call.schema_version == VERSION && line.ends_with(b"\n") => {
                    meter.usage.total.add(&call);
                    if Some(day(call.at)) == meter.day {
                        meter.usage.day.add(&call);
                    }
                    good.extend_from_slice(line);
                }
                _ => bad.extend_from_slice(line),
            }
        }
        if !bad.is_empty() {
            let aside = files.back_up_unreadable(FILE, &bad)?;
            files.replace(FILE, &good)?;
            notice = Some(format!(
                "{FILE} has lines that cannot be read: the sums are without them, they are kept as {aside}"
            ));
        }
        Ok((meter, notice))
    }

    /// The sums as they are at `now`: a new day has taken nothing.
    pub fn usage(&self, now: Timestamp) -> Usage {
        let mut usage = self.usage;
        if self.day != Some(day(now)) {
            usage.day = UsageTotals::default();
        }
        usage
    }

    pub fn begin_turn(&mut self) {
        self.usage.turn = UsageTotals::default();
    }

    /// Counts a call and puts it on record. The sums count it even where the record cannot be written.
    pub fn add(&mut self, files: &FileStore, call: &UsageLine) -> io::Result<()> {
        let now = call.at;
        if self.day != Some(day(now)) {
            self.day = Some(day(now));
            self.usage.day = UsageTotals::default();
        }
        let usage = &mut self.usage;
        for sum in [
            &mut usage.turn,
            &mut usage.day,
            &mut usage.run,
            &mut usage.total,
        ] {
            sum.add(call);
        }
        serde_json::to_writer(&mut self.unwritten, call)?;
        self.unwritten.push(b'\n');
        self.settle(files)
    }

    /// Brings the lines that could not be written to the record, if it can be written now.
    pub fn settle(&mut self, files: &FileStore) -> io::Result<()> {
        if self.unwritten.is_empty() {
            return Ok(());
        }
        files.append(FILE, &self.unwritten)?;
        self.unwritten.clear();
        Ok(())
    }
}

fn day(at: Timestamp) -> Date {
    at.to_zoned(TimeZone::UTC).date()
}
