use std::fs;
use std::io::ErrorKind;

use durable::Disk;

#[test]
fn a_file_is_replaced_as_a_whole_and_no_draft_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.json");
    for text in ["one", "two"] {
        durable::replace(&path, text.as_bytes()).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
    let staged = Disk::default().stage(&path).unwrap();
    staged.write(b"three").unwrap();
    drop(staged);
    assert_eq!(fs::read_to_string(&path).unwrap(), "two");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
}

#[test]
fn a_file_that_exists_is_not_created_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("init.md");
    let disk = Disk::new(".test-");
    disk.create(&path, b"one").unwrap();
    let error = disk.create(&path, b"two").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    assert_eq!(fs::read_to_string(&path).unwrap(), "one");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
}

#[test]
fn a_sweep_removes_unfinished_files_of_its_prefix_alone() {
    let folder = tempfile::tempdir().unwrap();
    for name in [".test-1", ".test", "x.test-", ".other-1"] {
        fs::write(folder.path().join(name), "").unwrap();
    }
    fs::create_dir(folder.path().join(".test-folder")).unwrap();
    Disk::new(".test-").sweep(folder.path());
    Disk::new(".test-").sweep(&folder.path().join("missing"));
    let entries = fs::read_dir(&folder).unwrap().flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
    names.sort();
    assert_eq!(names, [".other-1", ".test", ".test-folder", "x.test-"]);
}

#[test]
fn a_file_moves_to_another_folder() {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("a"), folder.path().join("trash/a"));
    fs::write(&from, "text").unwrap();
    let disk = Disk::default();
    assert_eq!(
        disk.rename(&from, &to).unwrap_err().kind(),
        ErrorKind::NotFound
    );
    fs::create_dir(folder.path().join("trash")).unwrap();
    disk.rename(&from, &to).unwrap();
    assert_eq!(
        (from.exists(), fs::read(&to).unwrap()),
        (false, b"text".to_vec())
    );
}
