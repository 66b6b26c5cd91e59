use std::error::Error as _;
use std::fs;
use std::io;

use durable::{AppendFile, Disk, Replaced, Tail};

fn open(path: &std::path::Path) -> (AppendFile, Tail) {
    Disk::default().open_append(path).unwrap()
}

#[test]
fn lines_are_added_and_a_torn_one_is_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let (mut file, tail) = open(&path);
    assert_eq!((tail.torn.len(), file.length()), (0, 0));
    file.append(b"one\n").unwrap();
    file.append_synced(b"two\nthr").unwrap();
    drop(file);
    let (mut file, tail) = open(&path);
    assert_eq!((tail.torn, file.length()), (b"thr".to_vec(), 8));
    file.append_synced(b"three\n").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "one\ntwo\nthree\n");
}

#[test]
fn a_torn_line_may_be_longer_than_a_step_of_the_search() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    for (whole, torn) in [(4, 1 << 16), (4, 200_000), (0, 70_000), ((1 << 16) + 1, 1)] {
        let mut text = vec![b'x'; whole];
        if let Some(last) = text.last_mut() {
            *last = b'\n';
        }
        text.resize(whole + torn, b'y');
        fs::write(&path, &text).unwrap();
        let (file, tail) = open(&path);
        assert_eq!((file.length(), tail.torn.len()), (whole as u64, torn));
        assert_eq!(fs::metadata(&path).unwrap().len(), whole as u64);
    }
}

#[test]
fn a_file_continues_after_the_bytes_that_are_known() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let disk = Disk::private(".test-");
    disk.open_append_at(&path, 0)
        .unwrap()
        .append(b"one\n")
        .unwrap();
    fs::write(&path, "one\ntwo\n").unwrap();
    let mut file = disk.open_append_at(&path, 4).unwrap();
    file.append_synced(b"2\n").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "one\n2\n");
    let error = disk.open_append_at(&path, 7).unwrap_err();
    assert!(Replaced::is_cause_of(&error) && error.source().is_none());
    disk.cut(&path, 4).unwrap();
    disk.cut(&path, 100).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "one\n");
}

#[test]
fn a_file_that_was_replaced_or_altered_takes_nothing_more() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let (mut file, _) = open(&path);
    file.append(b"one\n").unwrap();
    fs::write(&path, "one\nother\n").unwrap();
    assert!(Replaced::is_cause_of(&file.append(b"two\n").unwrap_err()));
    fs::write(&path, "one\n").unwrap();
    file.append(b"two\n").unwrap();
    fs::remove_file(&path).unwrap();
    assert_eq!(
        file.append(b"3\n").unwrap_err().kind(),
        io::ErrorKind::NotFound
    );
    fs::write(&path, "one\ntwo\n").unwrap();
    if cfg!(unix) {
        assert!(Replaced::is_cause_of(&file.append(b"3\n").unwrap_err()));
        assert_eq!(fs::read_to_string(&path).unwrap(), "one\ntwo\n");
    }
}
