use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;
use llm_client::Redactor;

use super::archives::archives;
use super::sums::UsageSums;
use super::usage::{self, FILE, UsageEntry, UsageLine};
use crate::KernelError;
use crate::config::UsageTotals;
use crate::storage::FileStore;

/// The usage on record in a data directory, to look at: also while another process writes. Nothing else in the directory is
/// read.
#[derive(Debug)]
pub struct UsageRecord {
    files: FileStore,
    sums: UsageSums,
    now: Timestamp,
    notices: Vec<String>,
}

impl UsageRecord {
    /// Reads the journal. Without a directory or a journal all sums are zero.
    ///
    /// # Errors
    /// [`KernelError::Newer`]; or the journal cannot be read.
    pub fn open(data: &Path, now: Timestamp) -> Result<Self, KernelError> {
        let files = FileStore::new(Some(data), false, &Redactor::default());
        let (sums, notice) = UsageSums::open(&files, now)?;
        Ok(Self {
            files,
            sums,
            now,
            notices: notice.into_iter().collect(),
        })
    }

    /// Lines for the person about what could not be read.
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// The calls of all days.
    pub fn total(&self) -> UsageTotals {
        self.sums.usage(self.now).total
    }

    /// The calls of this day, UTC.
    pub fn day(&self) -> UsageTotals {
        self.sums.usage(self.now).day
    }

    /// The calls of each model.
    pub fn by_model(&self) -> &BTreeMap<String, UsageTotals> {
        self.sums.by_model()
    }

    /// The calls of each month, such as `2026-11`, UTC. Reads the archives; those that were removed are left out with a
    /// notice.
    ///
    /// # Errors
    /// [`KernelError::Newer`]; or a file cannot be read.
    pub fn by_month(&mut self) -> Result<BTreeMap<String, UsageTotals>, KernelError> {
        let mut months = BTreeMap::new();
        let mut known = self.sums.archives();
        let journal = self.files.read(FILE).map_err(KernelError::file(FILE))?;
        let journal = journal.unwrap_or_default();
        let notice = usage::read(&self.files, FILE, &journal, |line, _| match line {
            UsageEntry::Call(call) => add_to_month(&mut months, &call),
            UsageEntry::Carried(carried) => known = carried.archives.max(known),
        })?;
        self.note(notice);
        let mut found = archives(&self.files).map_err(KernelError::file(FILE))?;
        // An archive with a larger number repeats lines of the journal.
        found.retain(|archive| archive.number <= known);
        for archive in &found {
            let notice = archive.calls(&self.files, |call| add_to_month(&mut months, &call))?;
            self.note(notice);
        }
        let left = known.saturating_sub(found.len() as u64);
        if left > 0 {
            self.note(Some(format!(
                "{left} of {known} archives of costs were removed: the months are without them"
            )));
        }
        Ok(months)
    }

    fn note(&mut self, notice: Option<String>) {
        let is_new = |notice: &String| !self.notices.contains(notice);
        self.notices.extend(notice.filter(is_new));
    }
}

fn add_to_month(months: &mut BTreeMap<String, UsageTotals>, call: &UsageLine) {
    let month = call.day().strftime("%Y-%m").to_string();
    months.entry(month).or_default().add(call);
}
