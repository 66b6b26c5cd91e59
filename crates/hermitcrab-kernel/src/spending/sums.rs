//! The sums of calls, and the journal that they are kept in.

use std::collections::BTreeMap;
use std::io;

use jiff::Timestamp;
use jiff::civil::Date;

use super::archives::{UsageArchive, archives};
use super::usage::{self, CarriedUsage, DayUsage, FILE, UsageEntry, UsageLine};
use crate::KernelError;
use crate::config::{Usage, UsageTotals};
use crate::storage::FileStore;

/// The length in bytes from which the lines of the journal move to an archive.
const LIMIT: u64 = 256 << 10;
/// The most bytes of an archive when unpacked: less than readers take.
const ARCHIVE: u64 = 64 << 20;
/// The number of days before the last one whose sums a rotation keeps: a clock that was ahead comes back to one of them.
const DAYS_BEFORE: usize = 7;

/// The sums of calls, and the state of the journal.
#[derive(Debug)]
pub(crate) struct UsageSums {
    usage: Usage,
    by_model: BTreeMap<String, UsageTotals>,
    /// The day of the last call, or of the start.
    day: Date,
    /// The sums of this day and of those of the journal.
    days: BTreeMap<Date, UsageTotals>,
    /// The number of archives.
    archives: u64,
    journal: Journal,
    /// Lines that could not be written; the next write begins with them.
    unwritten: Vec<u8>,
}

/// The journal on the disk.
#[derive(Debug)]
struct Journal {
    /// The bytes of its first line, if that holds the sums of archives.
    begin: u64,
    /// The bytes of its whole lines.
    length: u64,
    /// The first and the last day of its calls.
    days: Option<(Date, Date)>,
    /// The length at which its lines move to an archive.
    limit: u64,
    /// The most bytes of an archive.
    archive: u64,
}

impl Journal {
    fn new(begin: u64) -> Self {
        Self {
            begin,
            length: begin,
            days: None,
            limit: LIMIT,
            archive: ARCHIVE,
        }
    }

    fn note(&mut self, day: Date) {
        let (first, last) = self.days.unwrap_or((day, day));
        self.days = Some((first.min(day), last.max(day)));
    }
}

impl UsageSums {
    /// Reads the journal, with one line for the person if some of it cannot be read.
    ///
    /// # Errors
    /// `newer`; or the journal cannot be read.
    pub fn open(files: &FileStore, now: Timestamp) -> Result<(Self, Option<String>), KernelError> {
        let (bytes, moved) = files.load(FILE).map_err(KernelError::file(FILE))?;
        let bytes = bytes.unwrap_or_default();
        let mut sums = Self {
            usage: Usage::default(),
            by_model: BTreeMap::new(),
            day: usage::day(now),
            days: BTreeMap::new(),
            archives: 0,
            journal: Journal::new(0),
            unwritten: Vec::new(),
        };
        let passed_over = usage::read(files, FILE, &bytes, |line, place| match line {
            UsageEntry::Call(call) => {
                sums.journal.note(call.day());
                sums.count(&call);
            }
            UsageEntry::Carried(carried) => {
                if place.start == 0 {
                    sums.journal.begin = place.end as u64;
                }
                sums.carry(&carried);
            }
        })?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n');
        sums.journal.length = whole.map_or(0, |end| end as u64 + 1);
        let found = archives(files).map_err(KernelError::file(FILE))?;
        let beyond = if bytes.is_empty() {
            sums.count_archives(files, &found)?
        } else {
            sums.unknown(files).map_err(KernelError::file(FILE))?
        };
        Ok((sums, moved.or(passed_over).or(beyond)))
    }

    /// A journal that was lost begins with the sums of the archives. Returns a line about those that cannot be read.
    fn count_archives(
        &mut self,
        files: &FileStore,
        found: &[UsageArchive],
    ) -> Result<Option<String>, KernelError> {
        let mut notice = None;
        for archive in found {
            self.archives = archive.number;
            let passed_over = archive.calls(files, |call| self.count(&call))?;
            notice = notice.or(passed_over);
        }
        if !found.is_empty() {
            self.unwritten = self
                .carried()
                .to_line()
                .map_err(io::Error::from)
                .map_err(KernelError::file(FILE))?;
            self.journal = Journal::new(self.unwritten.len() as u64);
        }
        Ok(notice)
    }

    /// A line about archives whose calls are not in the journal.
    fn unknown(&self, files: &FileStore) -> io::Result<Option<String>> {
        let unknown = self.unknown_archives(files)?;
        let count = unknown.iter().filter(|(_, is_copy)| !is_copy).count();
        Ok((count > 0).then(|| {
            format!(
                "{count} archives of costs are newer than {FILE}: their calls are not in the sums"
            )
        }))
    }

    fn count(&mut self, call: &UsageLine) {
        self.usage.total.add(call);
        add_to_model(&mut self.by_model, call);
        self.days.entry(call.day()).or_default().add(call);
    }

    fn carry(&mut self, carried: &CarriedUsage) {
        self.archives = self.archives.max(carried.archives);
        self.usage.total.add_all(&carried.total);
        for (model, usage) in &carried.by_model {
            let sum = self.by_model.entry(model.clone()).or_default();
            sum.add_all(usage);
        }
        for day in [carried.day].iter().chain(&carried.later) {
            let sum = self.days.entry(day.date).or_default();
            sum.add_all(&day.usage);
        }
    }

    /// The sums as they are at `now`: a new day has taken nothing.
    pub fn usage(&self, now: Timestamp) -> Usage {
        Usage {
            day: self.of_day(usage::day(now)),
            ..self.usage
        }
    }

    fn of_day(&self, day: Date) -> UsageTotals {
        self.days.get(&day).copied().unwrap_or_default()
    }

    /// The number of archives whose calls are in the sums.
    pub fn archives(&self) -> u64 {
        self.archives
    }

    /// The sums of each model.
    pub fn by_model(&self) -> &BTreeMap<String, UsageTotals> {
        &self.by_model
    }

    pub fn begin_turn(&mut self) {
        self.usage.turn = UsageTotals::default();
    }

    /// Counts a call and puts it on record. The sums count it even where the record cannot be written.
    pub fn add(&mut self, files: &FileStore, call: &UsageLine) -> io::Result<()> {
        self.day = call.day();
        self.usage.turn.add(call);
        self.usage.run.add(call);
        self.count(call);
        self.journal.note(call.day());
        serde_json::to_writer(&mut self.unwritten, call)?;
        self.unwritten.push(b'\n');
        self.settle(files)
    }

    /// Brings the lines that could not be written to the record, if it can be written now.
    pub fn settle(&mut self, files: &FileStore) -> io::Result<()> {
        if self.unwritten.is_empty() {
            return Ok(());
        }
        self.journal.length = files.append(FILE, &self.unwritten)?;
        self.unwritten.clear();
        Ok(())
    }

    /// Moves the lines of a journal at its limit to an archive; the journal then begins with their sums.
    ///
    /// The journal is complete at any instant: if the program ends between the two steps, its lines are in an archive, too,
    /// whose number the journal does not know. Readers pass over that archive, and the next rotation removes it.
    pub fn rotate(&mut self, files: &FileStore) -> io::Result<()> {
        let Some((first, last)) = self.journal.days else {
            return Ok(());
        };
        if self.journal.length < self.journal.limit || !self.unwritten.is_empty() {
            return Ok(());
        }
        // After an error the next start does it: it is not known here which of the two files was replaced.
        self.journal.limit = u64::MAX;
        self.clear_unknown(files)?;
        let known = self.archives;
        let rotated = self.pack(files, first, last);
        match rotated {
            Ok(Some(begin)) => self.journal = Journal::new(begin),
            _ => self.archives = known,
        }
        rotated.map(drop)
    }

    /// Moves the lines to archives, each of a size that is read again: only a journal of a program that had no archives needs
    /// more than one.
    fn pack(&mut self, files: &FileStore, first: Date, last: Date) -> io::Result<Option<u64>> {
        let Journal {
            mut begin,
            length,
            archive,
            ..
        } = self.journal;
        let is_long = files.is_on_disk() && length - begin > archive;
        let journal = is_long.then(|| files.read(FILE)).transpose()?.flatten();
        let journal = journal.unwrap_or_default();
        while is_long && length - begin > archive {
            let part = journal.get(begin as usize..(begin + archive) as usize);
            let part = part.unwrap_or_default();
            let Some(end) = part.iter().rposition(|byte| *byte == b'\n') else {
                break;
            };
            self.archives += 1;
            let name = UsageArchive::new(first, last, self.archives).name;
            files.pack(&name, &part[..=end])?;
            begin += end as u64 + 1;
        }
        self.archives += 1;
        let name = UsageArchive::new(first, last, self.archives).name;
        files.rotate(FILE, &name, begin..length, &self.carried().to_line()?)
    }

    /// The sums, as the first line of a journal.
    fn carried(&self) -> CarriedUsage {
        let on = |date| DayUsage {
            date,
            usage: self.of_day(date),
        };
        let before = self.days.range(..self.day).rev().take(DAYS_BEFORE);
        let first = before.last().map_or(self.day, |(date, _)| *date);
        let later = self.days.keys().filter(|date| **date > first);
        CarriedUsage::new(
            self.archives,
            self.usage.total,
            self.by_model.clone(),
            on(first),
            later.map(|date| on(*date)).collect(),
        )
    }

    /// The archives that the journal does not know, and whether they repeat the lines at its begin: then they are of a rotation that
    /// did not end.
    fn unknown_archives(&self, files: &FileStore) -> io::Result<Vec<(UsageArchive, bool)>> {
        let mut unknown = archives(files)?;
        unknown.retain(|archive| archive.number > self.archives);
        if unknown.is_empty() {
            return Ok(Vec::new());
        }
        let journal = files.read(FILE)?.unwrap_or_default();
        let mut lines = journal
            .get(self.journal.begin as usize..)
            .unwrap_or_default();
        let with_copies = unknown.into_iter().map(|archive| {
            let copy = archive.read(files).ok();
            let rest = copy.and_then(|copy| lines.strip_prefix(&*copy));
            lines = rest.unwrap_or(lines);
            (archive, rest.is_some())
        });
        Ok(with_copies.collect())
    }

    /// Removes the archives that repeat lines of the journal. Another one that it does not know is of a newer journal, which is
    /// gone, and gets another name.
    fn clear_unknown(&self, files: &FileStore) -> io::Result<()> {
        for (archive, is_copy) in self.unknown_archives(files)? {
            if is_copy {
                files.remove(&archive.name)?;
            } else {
                files.set_aside(&archive.name)?;
            }
        }
        Ok(())
    }
}

fn add_to_model(by_model: &mut BTreeMap<String, UsageTotals>, call: &UsageLine) {
    match by_model.get_mut(call.model()) {
        Some(sum) => sum.add(call),
        None => by_model
            .entry(call.model().to_owned())
            .or_default()
            .add(call),
    }
}

#[cfg(test)]
mod tests;
