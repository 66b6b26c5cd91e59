use std::fs;
use std::io;

use durable::{Disk, lines};

use crate::faults::at_every_step;

/// The numbers of the lines in the archive, and of those in the file that come after them.
fn numbers(disk: &Disk, folder: &std::path::Path) -> Vec<u32> {
    let archive = folder.join("file.gz");
    let old = if archive.exists() {
        disk.unpack(&archive, 1 << 20).unwrap()
    } else {
        Vec::new()
    };
    let live = fs::read(folder.join("file")).unwrap();
    let texts = [old, live].map(|file| {
        let lines: Vec<_> = lines(&*file).map(Result::unwrap).collect();
        lines.into_iter().map(|line| line.text().to_vec())
    });
    let mut last = 0;
    let found = texts.into_iter().flatten().filter_map(|text| {
        // The line at the beginning has no number.
        let number = std::str::from_utf8(&text).unwrap().parse().ok()?;
        let is_new = number > last;
        last = last.max(number);
        is_new.then_some(number)
    });
    found.collect()
}

#[test]
fn a_rotation_that_fails_at_any_step_loses_no_line() {
    let begin = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    let steps = at_every_step(
        begin.as_bytes(),
        &["file", "file.gz"],
        |disk, path| {
            let archive = path.with_extension("gz");
            (disk.rotate(path, &archive, 0..12, b"begin\n")).map(|length| assert_eq!(length, 12))
        },
        |path, done| {
            let folder = path.parent().unwrap();
            let found = numbers(&Disk::default(), folder);
            assert!(found.into_iter().eq(1..=9));
            if done {
                assert_eq!(fs::read(path).unwrap(), b"begin\n7\n8\n9\n");
                assert!(path.with_extension("gz").exists());
            }
        },
    );
    // Two files of five steps each.
    assert_eq!(steps, if cfg!(unix) { 10 } else { 8 });
}

#[test]
fn lines_before_those_that_move_are_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let (path, archive) = (folder.path().join("file"), folder.path().join("1.gz"));
    fs::write(&path, "begin\n1\n2\n3\n").unwrap();
    let disk = Disk::default();
    assert_eq!(disk.rotate(&path, &archive, 6..8, b"").unwrap(), 4);
    assert_eq!(fs::read(&path).unwrap(), b"2\n3\n");
    assert_eq!(disk.unpack(&archive, 2).unwrap(), b"1\n");
    let error = disk.unpack(&archive, 1).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
    // A file that lost lines is left alone.
    disk.rotate(&path, &archive, 2..9, b"").unwrap_err();
    assert_eq!(fs::read(&path).unwrap(), b"2\n3\n");
}
