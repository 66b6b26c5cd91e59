use std::fs;
use std::io;

use durable::{Disk, LockError};

#[test]
fn one_holder_at_a_time_whose_number_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lock");
    let disk = Disk::private(".test-");
    disk.check_lock(&path).unwrap();
    assert!(!path.exists());
    let mut lock = disk.lock(&path).unwrap();
    assert!(matches!(
        disk.lock(&path),
        Err(LockError::Held { pid: None })
    ));
    lock.write("12345").unwrap();
    lock.write("678\n").unwrap();
    for held in [disk.lock(&path).map(drop), disk.check_lock(&path)] {
        let error = held.unwrap_err();
        assert_eq!(error.to_string(), "it is locked by pid 678");
        assert_eq!(io::Error::from(error).kind(), io::ErrorKind::WouldBlock);
    }
    drop(lock);
    disk.check_lock(&path).unwrap();
    let again = disk.lock(&path).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "678\n");
    drop(again);
}

#[test]
fn a_folder_is_no_lock() {
    let folder = tempfile::tempdir().unwrap();
    let taken = Disk::default().lock(folder.path());
    assert!(matches!(taken, Err(LockError::NotPlain)));
    let taken = Disk::default().lock(&folder.path().join("no/lock"));
    assert!(matches!(taken, Err(LockError::Io(error)) if error.kind() == io::ErrorKind::NotFound));
}

#[test]
fn those_that_look_at_a_lock_keep_no_one_from_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lock");
    let disk = Disk::default();
    fs::write(&path, "").unwrap();
    // As one that looks, for longer than it takes.
    let looks = fs::File::open(&path).unwrap();
    looks.lock_shared().unwrap();
    disk.check_lock(&path).unwrap();
    assert!(matches!(disk.lock(&path), Err(LockError::Held { .. })));
    let is_ended = std::sync::atomic::AtomicBool::new(false);
    let order = std::sync::atomic::Ordering::Relaxed;
    drop(looks);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !is_ended.load(order) {
                    let _ = disk.check_lock(&path);
                }
            });
        }
        let taken: Vec<bool> = (0..200).map(|_| disk.lock(&path).is_ok()).collect();
        is_ended.store(true, order);
        assert!(taken.iter().all(|taken| *taken));
    });
}
