//! Links, pipes, modes and folders that are not to be read.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use durable::{Disk, LockError};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_pipe_is_refused_and_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    for disk in [Disk::default(), Disk::private(".test-")] {
        let opened = [
            disk.open_append(&pipe).map(drop),
            disk.open_append_at(&pipe, 0).map(drop),
        ];
        for opened in opened {
            assert_eq!(opened.unwrap_err().to_string(), "it is not a plain file");
        }
        assert!(matches!(disk.lock(&pipe), Err(LockError::NotPlain)));
    }
    // In its place a file can be put.
    durable::replace(&pipe, b"text").unwrap();
    assert_eq!(fs::read(&pipe).unwrap(), b"text");
}

#[test]
fn a_link_is_followed_but_not_by_private_files() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    let (file, link, dangling) = (place("file"), place("link"), place("dangling"));
    fs::write(&file, "old\n").unwrap();
    symlink(&file, &link).unwrap();
    symlink(place("missing"), &dangling).unwrap();

    durable::replace(&link, b"new\n").unwrap();
    let (mut append, _) = Disk::default().open_append(&link).unwrap();
    append.append(b"more\n").unwrap();
    assert!(link.is_symlink());
    assert_eq!(fs::read_to_string(&file).unwrap(), "new\nmore\n");

    let private = Disk::private(".test-");
    for link in [&link, &dangling] {
        assert!(private.open_append(link).is_err());
        assert!(matches!(private.lock(link), Err(LockError::NotPlain)));
        private.replace(link, b"mine").unwrap();
        assert!(!link.is_symlink());
    }
    assert!(!place("missing").exists());
    assert_eq!(fs::read_to_string(&file).unwrap(), "new\nmore\n");
}

#[test]
fn modes_are_kept_and_private_files_are_private() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    for kept in [0o600, 0o664, 0o640] {
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(kept)).unwrap();
        durable::replace(&path, b"new").unwrap();
        assert_eq!(mode(&path), kept);
    }
    let (new, other) = (folder.path().join("new"), folder.path().join("other"));
    durable::replace(&new, b"new").unwrap();
    fs::write(&other, "").unwrap();
    assert_eq!(mode(&new), mode(&other));

    let private = Disk::private(".test-");
    private.replace(&other, b"mine").unwrap();
    let (log, lock) = (folder.path().join("log"), folder.path().join("lock"));
    drop((
        private.open_append(&log).unwrap(),
        private.lock(&lock).unwrap(),
    ));
    assert_eq!([&other, &log, &lock].map(|path| mode(path)), [0o600; 3]);
}

/// As root every folder can be read and written to: the test then shows less.
#[test]
fn a_folder_that_is_not_to_be_read_takes_files_and_one_that_is_read_only_takes_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    fs::set_permissions(&folder, Permissions::from_mode(0o300)).unwrap();
    durable::replace(&path, b"one").unwrap();
    fs::set_permissions(&folder, Permissions::from_mode(0o500)).unwrap();
    let replaced = durable::replace(&path, b"two").is_ok();
    let expected: &[u8] = if replaced { b"two" } else { b"one" };
    assert_eq!(fs::read(&path).unwrap(), expected);
    fs::set_permissions(&folder, Permissions::from_mode(0o700)).unwrap();
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
}
