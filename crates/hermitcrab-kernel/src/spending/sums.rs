//! The sums of calls, and the journal that they are kept in.

use std::collections::BTreeMap;
use std::io;

use jiff::Timestamp;
use jiff::civil::Date;

use super::archives::{FOLDER, archives};
use super::usage::{self, CarriedUsage, DayUsage, FILE, UsageEntry, UsageLine};
use crate::KernelError;
use crate::config::{Usage, UsageTotals};
use crate::storage::FileStore;

/// The length in bytes from which the lines of the journal move to an archive.
const LIMIT: u64 = 256 << 10;

/// The sums of calls, and the state of the journal.
#[derive(Debug)]
pub(crate) struct UsageSums {
    usage: Usage,
    by_model: BTreeMap<String, UsageTotals>,
    day: Date,
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
}

impl Journal {
    fn new(begin: u64) -> Self {
        Self {
            begin,
            length: begin,
            days: None,
            limit: LIMIT,
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
            archives: 0,
            journal: Journal::new(0),
            unwritten: Vec::new(),
        };
        let passed_over = usage::read(files, FILE, &bytes, |line, place| match line {
            UsageEntry::Call(call) => sums.read(&call),
            UsageEntry::Carried(carried) => {
                if place.start == 0 {
                    sums.journal.begin = place.end as u64;
                }
                sums.carry(&carried);
            }
        })?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n');
        sums.journal.length = whole.map_or(0, |end| end as u64 + 1);
        Ok((sums, moved.or(passed_over)))
    }

    fn read(&mut self, call: &UsageLine) {
        self.journal.note(call.day());
        self.usage.total.add(call);
        add_to_model(&mut self.by_model, call);
        if call.day() == self.day {
            self.usage.day.add(call);
        }
    }

    fn carry(&mut self, carried: &CarriedUsage) {
        self.archives = self.archives.max(carried.archives);
        self.usage.total.add_all(&carried.total);
        for (model, usage) in &carried.by_model {
            let sum = self.by_model.entry(model.clone()).or_default();
            sum.add_all(usage);
        }
        if carried.day.date == self.day {
            self.usage.day.add_all(&carried.day.usage);
        }
    }

    /// The sums as they are at `now`: a new day has taken nothing.
    pub fn usage(&self, now: Timestamp) -> Usage {
        let mut usage = self.usage;
        if self.day != usage::day(now) {
            usage.day = UsageTotals::default();
        }
        usage
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
        if self.day != call.day() {
            self.day = call.day();
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
        add_to_model(&mut self.by_model, call);
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
        let number = 1 + self.last_archive(files)?;
        let day = DayUsage {
            date: self.day,
            usage: self.usage.day,
        };
        let carried = CarriedUsage::new(number, self.usage.total, self.by_model.clone(), day);
        let archive = format!("{FOLDER}/{first}-{last}-{number}.jsonl.gz");
        let lines = self.journal.begin..self.journal.length;
        if let Some(begin) = files.rotate(FILE, &archive, lines, &carried.to_line()?)? {
            self.journal = Journal::new(begin);
            self.archives = number;
        }
        Ok(())
    }

    /// The number of the last archive, after those of interrupted rotations were removed: their lines begin the journal.
    fn last_archive(&self, files: &FileStore) -> io::Result<u64> {
        let mut last = self.archives;
        for archive in archives(files)? {
            if archive.number <= self.archives {
                continue;
            }
            let journal = files.read(FILE)?.unwrap_or_default();
            let lines = journal.get(self.journal.begin as usize..);
            let is_copy = |copy: Vec<u8>| lines.is_some_and(|lines| lines.starts_with(&copy));
            if archive
                .read(files)
                .is_ok_and(|copy| copy.is_some_and(is_copy))
            {
                files.remove(&archive.name)?;
            } else {
                // The journal that knew it is gone.
                last = last.max(archive.number);
            }
        }
        Ok(last)
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
mod tests {
    use std::fmt::Write as _;
    use std::fs;
    use std::path::Path;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use llm_client::Redactor;

    use super::*;
    use crate::UsageRecord;

    const MODELS: [&str; 3] = ["claude-opus-5-5", "claude-haiku-5-5", "other"];

    fn now() -> Timestamp {
        "2026-11-22T12:00:00Z".parse().unwrap()
    }

    /// Lines of about two thirds of the limit, over some months; the last are of this day.
    fn lines(from: u32) -> String {
        let mut lines = String::new();
        for n in from..from + 800 {
            let month = 8 + (n % 800) / 200;
            let day = 22 - n % 2;
            let usd = if n % 7 == 0 {
                "null".to_owned()
            } else {
                format!("0.0{n}")
            };
            let source = if n % 7 == 0 { "unknown" } else { "provider" };
            writeln!(
                lines,
                "{{\"schema_version\":1,\"at\":\"2026-{month:02}-{day}T10:00:00Z\",\"model\":\"{}\",\"input\":{n},\"cached_read\":7,\
                 \"cached_write\":{},\"output\":{},\"usd\":{usd},\"cost_from\":\"{source}\"}}",
                MODELS[n as usize % 3],
                n % 11,
                n % 13
            )
            .unwrap();
        }
        lines
    }

    fn store(dir: &Path) -> FileStore {
        FileStore::new(Some(dir), true, Redactor::default())
    }

    /// Everything that a person can see of a record.
    type Seen = (
        Usage,
        BTreeMap<String, UsageTotals>,
        BTreeMap<String, UsageTotals>,
    );

    fn seen(dir: &Path) -> Seen {
        let mut record = UsageRecord::open(dir, now()).unwrap();
        let months = record.by_month().unwrap();
        assert!(record.notices().is_empty(), "{:?}", record.notices());
        let mut usage = Usage::default();
        (usage.day, usage.total) = (record.day(), record.total());
        let mut sum = UsageTotals::default();
        for month in months.values() {
            sum.add_all(month);
        }
        assert_eq!(sum, usage.total);
        (usage, record.by_model().clone(), months)
    }

    /// The view of these lines in one file, which is never rotated.
    fn whole(lines: &str) -> Seen {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(FILE), lines).unwrap();
        seen(dir.path())
    }

    fn archive_names(dir: &Path) -> Vec<String> {
        let found = archives(&store(dir)).unwrap();
        found.into_iter().map(|archive| archive.name).collect()
    }

    fn open(files: &FileStore) -> UsageSums {
        let (sums, notice) = UsageSums::open(files, now()).unwrap();
        assert_eq!(notice, None);
        sums
    }

    #[test]
    fn sums_are_the_same_before_and_after_each_rotation() {
        let dir = tempfile::tempdir().unwrap();
        let files = store(dir.path());
        let mut all = String::new();
        for round in 0..6 {
            let lines = lines(round * 800);
            all.push_str(&lines);
            files.append(FILE, lines.as_bytes()).unwrap();
            let mut sums = open(&files);
            sums.rotate(&files).unwrap();
            let (usage, by_model, _) = whole(&all);
            assert_eq!((sums.usage(now()), sums.by_model()), (usage, &by_model));
            assert_eq!(seen(dir.path()), whole(&all), "{round}");
        }
        assert_eq!(
            archive_names(dir.path()),
            [
                "usage/2026-08-21-2026-11-22-1.jsonl.gz",
                "usage/2026-08-21-2026-11-22-2.jsonl.gz",
                "usage/2026-08-21-2026-11-22-3.jsonl.gz"
            ]
        );
        let journal = fs::read_to_string(dir.path().join(FILE)).unwrap();
        assert!(journal.starts_with("{\"carried\":{"), "{journal}");
        assert!((journal.len() as u64) < LIMIT);
    }

    #[test]
    fn a_long_journal_is_rotated_by_the_next_call() {
        let dir = tempfile::tempdir().unwrap();
        let files = store(dir.path());
        let mut sums = open(&files);
        let all = lines(0) + &lines(800);
        files.append(FILE, all.as_bytes()).unwrap();
        let mut old = open(&files);
        let UsageEntry::Call(call) = first(&files, &all) else {
            panic!("a call");
        };
        let call = call.at(now());
        old.add(&files, &call).unwrap();
        old.rotate(&files).unwrap();
        assert_eq!(archive_names(dir.path()).len(), 1);
        let all = all + &serde_json::to_string(&call).unwrap() + "\n";
        assert_eq!(seen(dir.path()), whole(&all));
        // A journal without a call has nothing to move.
        sums.rotate(&files).unwrap();
        assert_eq!(archive_names(dir.path()).len(), 1);
    }

    fn first(files: &FileStore, lines: &str) -> UsageEntry {
        let mut first = None;
        let take = |line, _| first = first.take().or(Some(line));
        usage::read(files, FILE, lines.as_bytes(), take).unwrap();
        first.unwrap()
    }

    /// Two rotations are done, or none; the journal is at its limit.
    fn furnish(dir: &Path, rotations: u32) -> String {
        fs::create_dir_all(dir).unwrap();
        let files = store(dir);
        let mut all = String::new();
        for round in 0..=rotations {
            let lines = lines(round * 1_600) + &lines(round * 1_600 + 800);
            all.push_str(&lines);
            files.append(FILE, lines.as_bytes()).unwrap();
            if round < rotations {
                open(&files).rotate(&files).unwrap();
            }
        }
        all
    }

    fn copy(from: &Path, to: &Path) {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            let to = to.join(entry.file_name());
            if entry.path().is_dir() {
                copy(&entry.path(), &to);
            } else {
                fs::copy(entry.path(), to).unwrap();
            }
        }
    }

    #[test]
    fn a_rotation_that_fails_at_any_step_loses_and_repeats_no_call() {
        for (rotations, goes_on) in [(0, false), (0, true), (2, false), (2, true)] {
            let place = tempfile::tempdir().unwrap();
            let furnished = place.path().join("furnished");
            let all = whole(&furnish(&furnished, rotations));
            for failing in 0.. {
                let what = format!("{rotations} rotations, step {failing}, {goes_on}");
                let dir = place.path().join(&what);
                copy(&furnished, &dir);
                let steps = Arc::new(AtomicUsize::new(0));
                let count = steps.clone();
                let files = FileStore::watched(
                    &dir,
                    Arc::new(move |_, _| {
                        let step = count.fetch_add(1, Ordering::Relaxed);
                        if step == failing || (step > failing && !goes_on) {
                            return Err(io::Error::other("injected"));
                        }
                        Ok(())
                    }),
                );
                let mut sums = open(&files);
                let rotated = sums.rotate(&files);
                let reached = steps.load(Ordering::Relaxed) > failing;
                assert_eq!(rotated.is_err(), reached, "{what}");
                assert_eq!(sums.usage(now()), all.0, "{what}");
                assert_eq!(seen(&dir), all, "{what}");
                // The next program does it again, and no archive is left that repeats another.
                let files = store(&dir);
                files.sweep();
                open(&files).rotate(&files).unwrap();
                assert_eq!(seen(&dir), all, "{what}");
                assert_eq!(archive_names(&dir).len() as u32, rotations + 1, "{what}");
                if !reached {
                    assert!(failing >= 8, "{what}");
                    break;
                }
            }
        }
    }

    #[test]
    fn archives_outlive_a_journal_that_was_removed() {
        let dir = tempfile::tempdir().unwrap();
        furnish(dir.path(), 2);
        fs::write(dir.path().join(FILE), lines(9_000) + &lines(9_800)).unwrap();
        let files = store(dir.path());
        open(&files).rotate(&files).unwrap();
        assert_eq!(archive_names(dir.path()).len(), 3);
    }

    #[test]
    fn months_say_which_archives_were_removed() {
        let dir = tempfile::tempdir().unwrap();
        furnish(dir.path(), 2);
        let total = UsageRecord::open(dir.path(), now()).unwrap().total();
        fs::remove_file(dir.path().join(&archive_names(dir.path())[0])).unwrap();
        let mut record = UsageRecord::open(dir.path(), now()).unwrap();
        assert_eq!(record.total(), total);
        record.by_month().unwrap();
        assert_eq!(
            record.notices(),
            ["1 of 2 archives of costs were removed: the months are without them"]
        );
    }
}
