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
    FileStore::new(Some(dir), true, &Redactor::default())
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
fn a_journal_that_was_lost_begins_with_the_sums_of_the_archives() {
    let dir = tempfile::tempdir().unwrap();
    let all = furnish(dir.path(), 2);
    let files = store(dir.path());
    open(&files).rotate(&files).unwrap();
    fs::remove_file(dir.path().join(FILE)).unwrap();
    assert_eq!(seen(dir.path()), whole(&all));
    let UsageEntry::Call(call) = first(&files, &all) else {
        panic!("a call");
    };
    open(&files).add(&files, &call).unwrap();
    let all = all + &serde_json::to_string(&call).unwrap() + "\n";
    assert_eq!(seen(dir.path()), whole(&all));
    files
        .append(FILE, lines(20_000).repeat(2).as_bytes())
        .unwrap();
    let before = seen(dir.path());
    open(&files).rotate(&files).unwrap();
    assert_eq!(seen(dir.path()), before);
    assert_eq!(archive_names(dir.path()).len(), 4);
}

/// A journal out of a backup: what was called after it is in no sum, and its archives are kept under other names.
#[test]
fn archives_that_are_newer_than_the_journal_are_counted_nowhere() {
    let dir = tempfile::tempdir().unwrap();
    let old = furnish(dir.path(), 1);
    let files = store(dir.path());
    let journal = fs::read(dir.path().join(FILE)).unwrap();
    for round in 5..7 {
        let more = lines(round * 1_600).repeat(2);
        files.append(FILE, more.as_bytes()).unwrap();
        open(&files).rotate(&files).unwrap();
    }
    fs::write(dir.path().join(FILE), journal).unwrap();
    let record = UsageRecord::open(dir.path(), now()).unwrap();
    assert_eq!(
        record.notices(),
        ["2 archives of costs are newer than usage.jsonl: their calls are not in the sums"]
    );
    assert_eq!(record.total(), whole(&old).0.total);
    let (mut sums, _) = UsageSums::open(&files, now()).unwrap();
    sums.rotate(&files).unwrap();
    assert_eq!(seen(dir.path()), whole(&old));
    assert_eq!(archive_names(dir.path()).len(), 2);
    let kept = files.list("usage").unwrap();
    let kept: Vec<_> = kept
        .iter()
        .filter(|name| name.ends_with(".broken"))
        .collect();
    assert_eq!(kept.len(), 2, "{kept:?}");
}

#[test]
fn a_file_with_a_name_of_another_is_no_archive() {
    let dir = tempfile::tempdir().unwrap();
    furnish(dir.path(), 2);
    let before = seen(dir.path());
    let usage = dir.path().join("usage");
    let archive = dir.path().join(&archive_names(dir.path())[0]);
    for name in [
        "x-18446744073709551615",
        "2026-08-21-2026-11-22-18446744073709551615",
        "copy-of-2",
        "2026-08-21-2026-11-22-02",
        "2026-08-21-2026-11-23-1",
    ] {
        fs::copy(&archive, usage.join(format!("{name}.jsonl.gz"))).unwrap();
    }
    assert_eq!(seen(dir.path()), before);
    open(&store(dir.path())).rotate(&store(dir.path())).unwrap();
    assert_eq!(seen(dir.path()), before);
}

#[test]
fn a_damaged_archive_is_left_out_with_a_line_about_it() {
    let dir = tempfile::tempdir().unwrap();
    furnish(dir.path(), 2);
    let name = &archive_names(dir.path())[0];
    let packed = fs::read(dir.path().join(name)).unwrap();
    fs::write(dir.path().join(name), &packed[..500]).unwrap();
    let mut record = UsageRecord::open(dir.path(), now()).unwrap();
    assert!(!record.by_month().unwrap().is_empty());
    let [notice] = record.notices() else {
        panic!("{:?}", record.notices());
    };
    assert!(notice.starts_with(name), "{notice}");
    assert!(notice.ends_with("the costs in it are left out"), "{notice}");
}

#[cfg(unix)]
#[test]
fn only_the_owner_can_enter_the_folder_of_the_archives() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    furnish(dir.path(), 1);
    let folder = fs::metadata(dir.path().join("usage")).unwrap();
    assert_eq!(folder.permissions().mode() & 0o777, 0o700);
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

/// A clock that goes back over midnight, at a rotation and before one.
#[test]
fn a_clock_that_goes_back_loses_no_day() {
    let dir = tempfile::tempdir().unwrap();
    let files = store(dir.path());
    let all = lines(0).repeat(2);
    files.append(FILE, all.as_bytes()).unwrap();
    let UsageEntry::Call(call) = first(&files, &all) else {
        panic!("a call");
    };
    let mut sums = open(&files);
    let (today, tomorrow) = (now(), now() + jiff::SignedDuration::from_hours(13));
    let before = sums.usage(today).day;
    sums.add(&files, &call.clone().at(tomorrow)).unwrap();
    sums.add(&files, &call.clone().at(today)).unwrap();
    let days = |sums: &UsageSums| {
        [today, tomorrow].map(|day| (sums.usage(day).day.calls, sums.usage(day).day.input))
    };
    assert_eq!(days(&sums)[1].0, 1);
    assert_eq!(days(&sums)[0].0, before.calls + 1);
    let counted = days(&sums);
    sums.rotate(&files).unwrap();
    assert_eq!(archive_names(dir.path()).len(), 1);
    assert_eq!(days(&sums), counted);
    assert_eq!(days(&open(&files)), counted);
}

/// A journal of a program that had no archives may be longer than an archive that is read.
#[test]
fn a_long_journal_moves_to_archives_that_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let files = store(dir.path());
    let all: String = (0..4).map(|round| lines(round * 800)).collect();
    files.append(FILE, all.as_bytes()).unwrap();
    let mut ends = Vec::new();
    for fails in [true, false] {
        let (mut sums, _) = UsageSums::open(&files, now()).unwrap();
        sums.journal.archive = 200 << 10;
        assert_eq!(sums.unknown(&files).unwrap(), None);
        if fails {
            // The program ends before the journal is replaced.
            let (first, last) = sums.journal.days.unwrap();
            let journal = fs::read(dir.path().join(FILE)).unwrap();
            sums.pack(&files, first, last).unwrap();
            fs::write(dir.path().join(FILE), journal).unwrap();
        } else {
            sums.rotate(&files).unwrap();
            assert_eq!(seen(dir.path()), whole(&all));
        }
        ends.push(archive_names(dir.path()));
        let of = |archive: &UsageArchive| archive.read(&files).unwrap().len();
        let sizes: Vec<_> = archives(&files).unwrap().iter().map(of).collect();
        assert!(sizes.iter().all(|size| *size <= 200 << 10), "{sizes:?}");
        assert_eq!(sizes.iter().sum::<usize>(), all.len());
    }
    assert!(ends[0].len() > 2 && ends[0] == ends[1], "{ends:?}");
    assert_eq!(files.list("usage").unwrap().len(), ends[0].len());
}

/// A call of tomorrow begins an archive; then the clock is set back, and the program starts again.
#[test]
fn a_clock_that_was_ahead_at_a_rotation_loses_no_day() {
    let dir = tempfile::tempdir().unwrap();
    let files = store(dir.path());
    files.append(FILE, lines(0).as_bytes()).unwrap();
    files.append(FILE, lines(800).as_bytes()).unwrap();
    let mut sums = open(&files);
    let today = sums.usage(now()).day;
    assert!(today.calls > 0);
    let tomorrow = lines(0).lines().last().unwrap().replace("-21T", "-23T");
    sums.add(&files, &serde_json::from_str(&tomorrow).unwrap())
        .unwrap();
    sums.rotate(&files).unwrap();
    assert_eq!(archives(&files).unwrap().len(), 1);
    assert_eq!(sums.usage(now()).day, today);
    let again = open(&files);
    assert_eq!(again.usage(now()).day, today);
    let next_day = "2026-11-23T12:00:00Z".parse().unwrap();
    assert_eq!(again.usage(next_day).day.calls, 1);
}

/// Archives end at line ends, so that there can be one more than the bytes alone would fill.
#[test]
fn a_rotation_that_was_killed_gives_no_line_about_newer_archives() {
    let all = lines(0) + &lines(800);
    for archive in [all.len() / 2 + 5, all.len() / 3, 20_000] {
        let dir = tempfile::tempdir().unwrap();
        let files = store(dir.path());
        files.append(FILE, all.as_bytes()).unwrap();
        let mut sums = open(&files);
        sums.journal.archive = archive as u64;
        let (first, last) = sums.journal.days.unwrap();
        sums.pack(&files, first, last).unwrap();
        // The archives are there, and the journal is the one of before.
        fs::write(dir.path().join(FILE), &all).unwrap();
        assert!(archives(&files).unwrap().len() > 1);
        let (_, told) = UsageSums::open(&files, now()).unwrap();
        assert_eq!(told, None, "{archive}");
    }
}
