//! Every step fails once, or it and all after it: what is on the disk is what was or what was to be.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use durable::{Disk, Step, lines};

/// A disk that fails at step `fail`, and after it if `stays`; and the count of its steps.
fn failing(fail: usize, stays: bool) -> (Disk, Arc<AtomicUsize>) {
    let steps = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&steps);
    let watch = move |_: Step, _: &Path| {
        let step = counted.fetch_add(1, Ordering::Relaxed);
        if step == fail || (stays && step > fail) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(())
    };
    (Disk::new(".test-").watched(Arc::new(watch)), steps)
}

/// Does `act` on disks that fail at each step in turn, and `check`s what is left: some of `files`. Answers the number of
/// steps.
pub fn at_every_step(
    begin: &[u8],
    files: &[&str],
    act: impl Fn(&Disk, &Path) -> io::Result<()>,
    check: impl Fn(&Path, bool),
) -> usize {
    for stays in [false, true] {
        for fail in 0.. {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("file");
            fs::write(&path, begin).unwrap();
            let (disk, steps) = failing(fail, stays);
            let done = act(&disk, &path).is_ok();
            check(&path, done);
            for entry in fs::read_dir(&folder).unwrap() {
                let left = entry.unwrap().file_name();
                assert!(
                    files.iter().any(|file| left == *file),
                    "{} was left",
                    left.display()
                );
            }
            if steps.load(Ordering::Relaxed) <= fail {
                assert!(done);
                if stays {
                    return fail;
                }
                break;
            }
        }
    }
    unreachable!("the loop ends at its return")
}

#[test]
fn a_replaced_file_is_the_old_one_or_the_new_one() {
    let steps = at_every_step(
        b"old",
        &["file"],
        |disk, path| disk.replace(path, b"new one"),
        |path, done| {
            let found = fs::read(path).unwrap();
            assert!(found == b"new one" || (found == b"old" && !done));
        },
    );
    // Two halves, the file's sync, its name, the folder's sync.
    assert_eq!(steps, if cfg!(unix) { 5 } else { 4 });
}

#[test]
fn an_appended_file_holds_whole_lines_and_one_part_at_most() {
    let append = |disk: &Disk, path: &Path| {
        let (mut file, _) = disk.open_append(path)?;
        let first = file.append_synced(b"two\n");
        // The second write repairs what the first one left.
        file.append_synced(b"three\n").and(first)
    };
    let check = |path: &Path, done: bool| {
        let file = fs::read(path).unwrap();
        let found: Vec<_> = lines(&*file).map(Result::unwrap).collect();
        let (whole, torn): (Vec<_>, Vec<_>) = found.iter().partition(|line| line.is_whole());
        let texts: Vec<_> = whole.iter().map(|line| line.text()).collect();
        let all = [&b"one"[..], b"two", b"three"];
        assert!(texts == all || !done, "{texts:?}");
        assert!(texts.iter().all(|text| all.contains(text)), "{texts:?}");
        assert!(torn.len() <= 1);
        let (reopened, _) = Disk::default().open_append(path).unwrap();
        let length: usize = whole.iter().map(|line| line.bytes.len()).sum();
        assert_eq!(reopened.length(), length as u64);
    };
    assert_eq!(at_every_step(b"one\nto", &["file"], append, check), 7);
}

#[test]
fn the_folder_of_an_empty_file_is_synced_with_its_first_line() {
    let steps = at_every_step(
        b"",
        &["file"],
        |disk, path| disk.open_append_at(path, 0)?.append_synced(b"one\n"),
        |path, done| {
            let file = fs::read(path).unwrap();
            assert!(file == b"one\n" || !done && b"one\n".starts_with(&file));
        },
    );
    assert_eq!(steps, if cfg!(unix) { 4 } else { 3 });
}

#[test]
fn without_sync_nothing_is_waited_for_and_all_else_is_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let disk = Disk::default().without_sync();
    disk.replace(&path, b"one\n").unwrap();
    disk.open_append(&path)
        .unwrap()
        .0
        .append_synced(b"two\n")
        .unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"one\ntwo\n");
}
