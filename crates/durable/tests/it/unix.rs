//! Links, pipes, modes and folders that are not to be read.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use durable::{Disk, Linked, LockError};

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
            assert_eq!(opened.unwrap_err().to_string(), "it is not a regular file");
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

#[test]
fn a_lock_is_not_taken_on_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    fs::write(place("file"), "mine\n").unwrap();
    symlink(place("file"), place("link")).unwrap();
    symlink(place("missing"), place("dangling")).unwrap();
    for disk in [Disk::default(), Disk::private(".test-")] {
        for link in ["link", "dangling"] {
            let taken = disk.lock(&place(link));
            assert!(matches!(taken, Err(LockError::NotPlain)), "{taken:?}");
            let checked = disk.check_lock(&place(link));
            assert!(matches!(checked, Err(LockError::NotPlain)), "{checked:?}");
        }
    }
    assert_eq!(fs::read_to_string(place("file")).unwrap(), "mine\n");
    assert!(!place("missing").exists());
}

/// A folder `root` with a plain file and links to a file, to a folder and to nothing, and a link to `root`.
fn with_links() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    for name in ["root", "away"] {
        fs::create_dir(place(name)).unwrap();
    }
    for name in ["root/plain", "away/file", "away/.test-1.part"] {
        fs::write(place(name), "old\n").unwrap();
    }
    symlink(place("away/file"), place("root/link")).unwrap();
    symlink(place("away"), place("root/folder")).unwrap();
    symlink(place("away/missing"), place("root/dangling")).unwrap();
    symlink(place("root"), place("to-root")).unwrap();
    folder
}

#[test]
fn nothing_is_written_through_a_link_inside_of_a_root() {
    let folder = with_links();
    let root = folder.path().join("root");
    let disk = Disk::new(".test-").inside(&root);
    for (name, link) in [
        ("link", "link"),
        ("dangling", "dangling"),
        ("folder/file", "folder"),
        ("folder/new", "folder"),
    ] {
        let path = root.join(name);
        let refused = [
            disk.replace(&path, b"new"),
            disk.create(&path, b"new"),
            disk.open_append(&path).map(drop),
            disk.open_append_at(&path, 0).map(drop),
            disk.cut(&path, 0),
            disk.rename(&path, &root.join("moved")),
            disk.rename(&root.join("plain"), &path),
            disk.make_folder(&path.join("more")),
            disk.lock(&path).map(drop).map_err(io::Error::from),
            disk.check_lock(&path).map_err(io::Error::from),
            disk.check_place(&path),
        ];
        for refused in refused {
            let error = refused.unwrap_err();
            assert!(Linked::is_cause_of(&error), "{name}: {error:?}");
            let begin = format!("{} is a link, ", root.join(link).display());
            assert!(error.to_string().starts_with(&begin), "{error}");
        }
    }
    disk.sweep(&root.join("folder"));
    let away = folder.path().join("away");
    assert_eq!(fs::read_dir(&away).unwrap().count(), 2);
    assert_eq!(fs::read_to_string(away.join("file")).unwrap(), "old\n");
    assert_eq!(fs::read_dir(&root).unwrap().count(), 4);
}

#[test]
fn a_file_inside_of_a_root_that_has_another_name_is_replaced_but_not_changed() {
    let folder = with_links();
    let (root, away) = (folder.path().join("root"), folder.path().join("away/file"));
    let path = root.join("hard");
    fs::hard_link(&away, &path).unwrap();
    let disk = Disk::new(".test-").inside(&root);
    for refused in [
        disk.open_append(&path).map(drop),
        disk.open_append_at(&path, 0).map(drop),
        disk.cut(&path, 0),
        disk.lock(&path).map(drop).map_err(io::Error::from),
        disk.check_change(&path),
    ] {
        let error = refused.unwrap_err();
        assert!(Linked::is_cause_of(&error), "{error:?}");
        let begin = format!("{} is a hard link, ", path.display());
        assert!(error.to_string().starts_with(&begin), "{error}");
    }
    disk.check_lock(&path).unwrap();
    disk.check_place(&path).unwrap();
    disk.replace(&path, b"new").unwrap();
    disk.open_append(&path).unwrap();
    assert_eq!(fs::read_to_string(&away).unwrap(), "old\n");
    // Without a root all links are followed.
    fs::hard_link(&away, root.join("again")).unwrap();
    drop(Disk::default().lock(&root.join("again")).unwrap());
}

#[test]
fn a_root_may_be_a_link_and_has_no_files_outside() {
    let folder = with_links();
    let root = folder.path().join("to-root");
    let disk = Disk::new(".test-").inside(&root);
    disk.make_folder(&root.join("a/b")).unwrap();
    disk.replace(&root.join("a/b/file"), b"new").unwrap();
    disk.replace(&root.join("./plain"), b"new").unwrap();
    drop(disk.lock(&root.join("a/lock")).unwrap());
    assert_eq!(fs::read(folder.path().join("root/plain")).unwrap(), b"new");
    assert!(root.join("a/b/file").is_file() && root.is_symlink());
    for outside in [root.join("../away/file"), folder.path().join("away/file")] {
        let error = disk.replace(&outside, b"new").unwrap_err();
        assert!(error.to_string().contains("outside of the folder"));
    }
    let away = folder.path().join("away/file");
    assert_eq!(fs::read_to_string(away).unwrap(), "old\n");
}
