use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pscale_blocks::store::conformance::{log, name, stamp, write};
use pscale_blocks::{Block, BlockStore, DirStore, MAX_TEXT, Op, StoreError};

use crate::child::{self, Process};

const DAY: i64 = 24 * 60 * 60;
const TASKS: [&str; 9] = [
    "open",
    "create",
    "create again",
    "write",
    "append",
    "replace",
    "undo",
    "redo",
    "delete",
];

/// Blocks with a past: `notes` lives, of `back` the edits were taken back, `gone` was deleted.
fn furnish(dir: &Path) {
    let store = DirStore::open(dir).unwrap().without_fsync();
    for (block, seconds) in [("notes", 0), ("back", 5), ("gone", 10)] {
        store
            .create(&name(block), &Block::new("what it is"), &stamp(seconds))
            .unwrap();
        store
            .edit(
                &name(block),
                None,
                &write("0.1", "one"),
                &stamp(seconds + 1),
            )
            .unwrap();
        store
            .edit(
                &name(block),
                None,
                &write("0.2", "two"),
                &stamp(seconds + 2),
            )
            .unwrap();
    }
    store.undo(&name("back"), 2, &stamp(8)).unwrap();
    store.delete(&name("gone"), &stamp(20)).unwrap();
}

/// One change of the store, late enough that a backup is made first.
fn act(store: &DirStore, task: &str) -> Result<(), StoreError> {
    let notes = name("notes");
    let at = stamp(2 * DAY);
    let edit = |op: &Op| store.edit(&notes, Some(3), op, &at).map(|_| ());
    match task {
        "open" => store.names().map(|_| ()),
        "create" => store
            .create(&name("fresh"), &Block::new("new"), &at)
            .map(|_| ()),
        "create again" => store
            .create(&name("gone"), &Block::new("new"), &at)
            .map(|_| ()),
        "write" => edit(&write("0.1.4", "deeper")),
        "append" => edit(&Op::Append {
            text: "three".to_owned(),
            summary: None,
        }),
        "replace" => edit(&Op::Replace {
            block: Block::new("another"),
        }),
        "undo" => store.undo(&notes, 2, &at).map(|_| ()),
        "redo" => store.redo(&name("back"), 2, &at).map(|_| ()),
        "delete" => store.delete(&notes, &at),
        "pack" => edit_long(store, "c"),
        other => panic!("{other}"),
    }
}

/// Every block as its file's text, and its revision.
type State = BTreeMap<String, (u64, String)>;

fn state(store: &DirStore) -> State {
    let names = store.names().unwrap().into_iter();
    let rows = names.map(|row| {
        let found = store.load(&row.name).unwrap();
        (row.name.to_string(), (found.rev, found.block.to_file()))
    });
    rows.collect()
}

/// Opens the store again: it is as it was or as it was to be, its log says so, and it works.
fn check_reopened(dir: &Path, old: &State, new: &State, what: &str) {
    let store = DirStore::open(dir).unwrap().without_fsync();
    let found = state(&store);
    assert!(
        found == *old || found == *new,
        "{what}: {found:#?} of {old:#?} or {new:#?}"
    );
    for (block, (rev, file)) in &found {
        let entries = log(&store, &name(block));
        let revs: Vec<_> = entries.iter().map(|entry| entry.rev).collect();
        assert_eq!(revs, (1..=*rev).collect::<Vec<_>>(), "{what}: {block}");
        let outside = entries.iter().find(|entry| entry.note.is_some());
        assert_eq!(outside, None, "{what}: what a crash left was not a person");
        let file_on_disk = fs::read_to_string(dir.join(format!("blocks/{block}.json"))).unwrap();
        assert_eq!(file_on_disk, *file, "{what}: {block}");
        store
            .edit(
                &name(block),
                Some(*rev),
                &write("0.7", "on"),
                &stamp(3 * DAY),
            )
            .unwrap();
        store.undo(&name(block), 1, &stamp(3 * DAY)).unwrap();
        assert_eq!(state(&store)[block].1, *file, "{what}: {block}");
    }
    let left = fs::read_dir(dir.join("blocks")).unwrap();
    assert_eq!(left.count(), found.len(), "{what}: a draft was left");
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// The way the steps of a save fail.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Failure {
    /// This step only, as with a full disk.
    Once,
    /// This step and all after it, as with a disk that is gone.
    FromThere,
    /// This step panics, as with a fault of the program.
    Panic,
}

/// Opens the store on a disk that fails at step `fail`; answers also the count of steps.
fn failing(
    dir: &Path,
    fail: usize,
    how: Failure,
) -> (Arc<AtomicUsize>, Result<DirStore, StoreError>) {
    let steps = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&steps);
    let watch = move |_, _: &Path| {
        let step = counted.fetch_add(1, Ordering::Relaxed);
        assert!(
            step != fail || how != Failure::Panic,
            "a fault of the program"
        );
        if step == fail || (step > fail && how == Failure::FromThere) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(())
    };
    let store = DirStore::open_watched(dir, Box::new(watch));
    (steps, store.map(DirStore::without_fsync))
}

/// Does the task, which panics at step `fail`, and continues in the same process; returns whether it got there.
fn act_panicking(dir: &Path, task: &str, fail: usize, old: &State, new: &State) -> bool {
    let what = format!("{task}, panic at step {fail}");
    let opened = catch_unwind(|| failing(dir, fail, Failure::Panic));
    let Ok((steps, store)) = opened else {
        return true;
    };
    let store = store.unwrap();
    let ended = catch_unwind(AssertUnwindSafe(|| act(&store, task)));
    let reached = steps.load(Ordering::Relaxed) > fail;
    assert_eq!(ended.is_err(), reached, "{what}");
    // No later step is the one that panics.
    steps.store(fail + 1, Ordering::Relaxed);
    // Another block goes on, and the one concerned is what the disk holds of it.
    let other = name(if task == "redo" { "notes" } else { "back" });
    let rev = store.load(&other).unwrap().rev;
    (store.edit(&other, Some(rev), &write("0.7", "on"), &stamp(3 * DAY))).unwrap();
    store.undo(&other, 1, &stamp(3 * DAY)).unwrap();
    let mut found = state(&store);
    let others = found.insert(other.to_string(), old[other.as_str()].clone());
    assert_eq!(others.unwrap().1, old[other.as_str()].1, "{what}");
    assert!(found == *old || found == *new, "{what}: {found:#?}");
    reached
}

#[test]
fn a_panic_in_a_save_concerns_one_block() {
    let folders = tempfile::tempdir().unwrap();
    let furnished = folders.path().join("furnished");
    furnish(&furnished);
    for task in TASKS {
        let whole = folders.path().join(format!("whole {task}"));
        let (old, new) = outcomes(&furnished, &whole, task);
        for step in 0.. {
            let dir = folders.path().join(format!("{task}, step {step}"));
            copy(&furnished, &dir);
            let reached = act_panicking(&dir, task, step, &old, &new);
            let left = DirStore::open(&dir).unwrap();
            assert_eq!(left.notices(), [""; 0], "{task}, step {step}");
            if !reached {
                assert!(step >= 6 || task == "open", "{task}: {step} steps");
                break;
            }
        }
    }
}

/// Does the task on a disk that fails at step `fail`; answers whether it got there.
fn act_failing(dir: &Path, task: &str, fail: usize, how: Failure, old: &State) -> bool {
    let (steps, store) = failing(dir, fail, how);
    let what = format!("{task}, step {fail}, {how:?}");
    if let Ok(store) = store {
        match act(&store, task) {
            Ok(()) => assert!(state(&store) != *old || task == "open", "{what}"),
            Err(error) => {
                assert_eq!(error.kind(), "full", "{what}");
                assert_eq!(state(&store), *old, "{what}: nothing was changed");
            }
        }
    }
    steps.load(Ordering::Relaxed) > fail
}

#[test]
fn a_failing_step_leaves_the_old_block_or_the_new_one() {
    let folders = tempfile::tempdir().unwrap();
    let furnished = folders.path().join("furnished");
    furnish(&furnished);
    for task in TASKS {
        let (old, new) = outcomes(
            &furnished,
            &folders.path().join(format!("whole {task}")),
            task,
        );
        for how in [Failure::Once, Failure::FromThere] {
            let mut steps = 0;
            loop {
                let what = format!("{task}, step {steps}, {how:?}");
                let dir = folders.path().join(&what);
                copy(&furnished, &dir);
                let reached = act_failing(&dir, task, steps, how, &old);
                check_reopened(&dir, &old, &new, &what);
                if !reached {
                    break;
                }
                steps += 1;
            }
            assert!(steps >= 6 || task == "open", "{task}: {steps} steps");
        }
    }
}

/// One more edit of `notes`, with a line of 128 KB: it has the text, and the one before.
fn edit_long(store: &DirStore, letter: &str) -> Result<(), StoreError> {
    let op = write("0.1", &letter.repeat(MAX_TEXT));
    store
        .edit(&name("notes"), None, &op, &stamp(30))
        .map(|_| ())
}

/// A store whose next long edit packs the log of `notes`.
fn furnish_long(dir: &Path) -> State {
    furnish(dir);
    let store = DirStore::open(dir).unwrap().without_fsync();
    let log = dir.join("log/notes.jsonl");
    while fs::metadata(&log).unwrap().len() < (8 << 20) - 100_000 {
        for letter in ["a", "b"] {
            edit_long(&store, letter).unwrap();
        }
    }
    state(&store)
}

#[test]
fn a_failing_step_in_the_packing_of_a_log_loses_no_entry() {
    let folders = tempfile::tempdir().unwrap();
    let furnished = folders.path().join("furnished");
    let old = furnish_long(&furnished);
    for how in [Failure::Once, Failure::FromThere] {
        for step in 0.. {
            let what = format!("packing, step {step}, {how:?}");
            let dir = folders.path().join(&what);
            copy(&furnished, &dir);
            let (steps, store) = failing(&dir, step, how);
            let done = edit_long(&store.unwrap(), "c");
            let files = fs::read_dir(dir.join("log")).unwrap();
            let names = files.map(|file| file.unwrap().file_name());
            let packed = names.filter(|name| name.to_string_lossy().starts_with("notes.1-"));
            let packed = packed.count() == 1;
            let opened = DirStore::open(&dir).unwrap();
            let new = state(&opened);
            drop(opened);
            assert!(done.is_err() || new != old, "{what}");
            check_reopened(&dir, &old, &new, &what);
            if steps.load(Ordering::Relaxed) <= step {
                assert!(packed && step > 15, "{what}");
                break;
            }
        }
    }
}

#[test]
fn a_process_that_dies_in_the_packing_of_a_log_loses_no_entry() {
    let folders = tempfile::tempdir().unwrap();
    let furnished = folders.path().join("furnished");
    let old = furnish_long(&furnished);
    let whole = folders.path().join("whole");
    copy(&furnished, &whole);
    let store = DirStore::open(&whole).unwrap().without_fsync();
    edit_long(&store, "c").unwrap();
    let new = state(&store);
    drop(store);
    for step in 0.. {
        let what = format!("packing, step {step}");
        let dir = folders.path().join(&what);
        copy(&furnished, &dir);
        let child = Process::start("crash::child_dies", &dir, &format!("{step} pack"));
        let survived = child.end();
        // A reader finds the same, and changes nothing.
        let reader = DirStore::open_read_only(&dir).unwrap();
        let entries = log(&reader, &name("notes"));
        assert!(
            (1..).zip(&entries).all(|(rev, entry)| entry.rev == rev),
            "{what}"
        );
        let found = state(&reader);
        assert!(found == old || found == new, "{what}");
        drop(reader);
        check_reopened(&dir, &old, &new, &what);
        // Packed once more: the part that was left is replaced.
        let store = DirStore::open(&dir).unwrap().without_fsync();
        for _ in 0..20 {
            for letter in ["d", "e"] {
                edit_long(&store, letter).unwrap();
            }
        }
        let entries = log(&store, &name("notes"));
        let rev = store.load(&name("notes")).unwrap().rev;
        assert!(entries.iter().map(|entry| entry.rev).eq(1..=rev), "{what}");
        let files = fs::read_dir(dir.join("log")).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        let first = names.filter(|name| name.starts_with("notes.1-")).count();
        assert_eq!(first, 1, "{what}");
        drop(store);
        fs::remove_dir_all(&dir).unwrap();
        if survived {
            assert!(step > 15, "{what}");
            break;
        }
    }
}

/// The store before the task and after it.
fn outcomes(furnished: &Path, dir: &Path, task: &str) -> (State, State) {
    copy(furnished, dir);
    let store = DirStore::open(dir).unwrap().without_fsync();
    let old = state(&store);
    act(&store, task).unwrap();
    (old, state(&store))
}

#[test]
fn a_process_that_dies_in_a_save_leaves_the_old_block_or_the_new_one() {
    let folders = tempfile::tempdir().unwrap();
    let furnished = folders.path().join("furnished");
    furnish(&furnished);
    for task in ["create", "write", "undo", "redo", "delete"] {
        let (old, new) = outcomes(
            &furnished,
            &folders.path().join(format!("whole {task}")),
            task,
        );
        for step in 0.. {
            let what = format!("{task}, step {step}");
            let dir = folders.path().join(&what);
            copy(&furnished, &dir);
            let child = Process::start("crash::child_dies", &dir, &format!("{step} {task}"));
            let survived = child.end();
            check_reopened(&dir, &old, &new, &what);
            if survived {
                assert!(step >= 6, "{task}: {step} steps");
                break;
            }
        }
    }
}

#[test]
#[ignore = "run by another test, in a process of its own"]
#[expect(clippy::disallowed_methods, reason = "to die is its task")]
fn child_dies() {
    let (dir, task) = child::task();
    let (step, task) = task.split_once(' ').unwrap();
    let last: usize = step.parse().unwrap();
    let steps = AtomicUsize::new(0);
    let store = DirStore::open_watched(
        dir,
        Box::new(move |_, _| {
            if steps.fetch_add(1, Ordering::Relaxed) == last {
                std::process::abort();
            }
            Ok(())
        }),
    );
    act(&store.unwrap(), task).unwrap();
}

#[test]
fn no_edit_that_was_reported_is_lost_when_the_process_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("data");
    let notes = name("notes");
    DirStore::open(&dir)
        .unwrap()
        .create(&notes, &Block::new("n"), &stamp(0))
        .unwrap();
    let mut before = 1;
    // The log is packed some eight times.
    for heard in 1..=24 {
        let mut child = Process::start("crash::child_edits", &dir, "");
        let mut reported = 0;
        for _ in 0..heard {
            reported = child.hear().unwrap().parse().unwrap();
        }
        child.kill();
        assert!(reported > before);

        let store = DirStore::open(&dir).unwrap();
        let found = store.load(&notes).unwrap();
        assert!(found.rev >= reported, "{} of {reported}", found.rev);
        let text = found.block.text(&"0.1".parse().unwrap()).unwrap().unwrap();
        assert_eq!(text, edit_at(found.rev));
        let entries = log(&store, &notes);
        assert!(entries.iter().map(|entry| entry.rev).eq(1..=found.rev));
        before = found.rev;
    }
    let packed = fs::read_dir(dir.join("log")).unwrap().count() - 1;
    assert!(packed > 3, "{packed} archives");
}

/// The text of an edit, which makes a line of 120 KB.
fn edit_at(rev: u64) -> String {
    format!("edit {rev} {}", "long ".repeat(12_000))
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn child_edits() {
    let (dir, _) = child::task();
    let store = DirStore::open(dir).unwrap();
    let notes = name("notes");
    let mut rev = store.load(&notes).unwrap().rev;
    // Killed long before.
    for _ in 0..1_000_000 {
        let op = write("0.1", &edit_at(rev + 1));
        rev = store
            .edit(&notes, Some(rev), &op, &stamp(rev as i64))
            .unwrap()
            .rev;
        child::say(&rev.to_string());
    }
}
