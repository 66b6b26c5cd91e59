//! The file of a spool: its place, its mode and its writes.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use durable::{Disk, Step};
use llm_client::batch::{BatchOptions, Spool};
use llm_client::{Client, Echo};

use super::{Kill, World, question, questions};
use crate::faults::Wire;

#[test]
fn a_file_that_is_not_a_spool_is_left_as_it_is() {
    let world = World::new(Wire::Anthropic);
    for content in ["a line without an end", "{}\n", "nonsense\nand a torn end"] {
        std::fs::write(world.path(), content).unwrap();
        let error = Spool::open(&world.path(), world.options(&Kill::never()));
        let text = error.err().unwrap().message();
        assert!(
            text.contains("spool.jsonl: line 1: ") && text.contains("choose the path of a spool"),
            "{text}"
        );
        assert_eq!(std::fs::read_to_string(world.path()).unwrap(), content);
    }
    std::fs::write(world.path(), "").unwrap();
    drop(world.open());
}

#[cfg(unix)]
#[test]
fn only_the_owner_reads_the_file() {
    use std::os::unix::fs::PermissionsExt as _;

    let world = World::new(Wire::Anthropic);
    let client = world.client(&Kill::never()).build().unwrap();
    drop(Spool::open(&world.path(), BatchOptions::new(client)).unwrap());
    let mode = std::fs::metadata(world.path())
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
}

/// A disk that does not sync and calls `watch` before bytes are appended.
fn watched(watch: impl Fn(&Path) -> io::Result<()> + Send + Sync + 'static) -> Disk {
    let watch = move |step, path: &Path| match step {
        Step::Append => watch(path),
        _ => Ok(()),
    };
    Disk::default().without_sync().watched(Arc::new(watch))
}

#[test]
fn many_requests_are_written_in_parts() {
    let world = World::new(Wire::Anthropic);
    let (length, growth) = (Mutex::new(0), Arc::new(AtomicU64::new(0)));
    let largest = growth.clone();
    let disk = watched(move |path| {
        let now = path.metadata()?.len();
        let before = std::mem::replace(&mut *length.lock().unwrap(), now);
        largest.fetch_max(now - before, Ordering::SeqCst);
        Ok(())
    });
    let options = world.options(&Kill::never()).disk(disk);
    let mut spool = Spool::open(&world.path(), options).unwrap();
    let large: Vec<_> = (0..20)
        .map(|n| question(&format!("{n}{}", "x".repeat(400_000))))
        .collect();
    world.run(spool.submit(&large)).unwrap();
    assert_eq!(spool.progress().requests, 20);
    let growth = growth.load(Ordering::SeqCst);
    assert!(growth < 2_000_000, "{growth}");
}

#[test]
fn an_answer_that_cannot_be_written_takes_no_other_with_it() {
    let world = World::new(Wire::Anthropic);
    let fails = Arc::new(AtomicBool::new(false));
    let disk = watched({
        let fails = fails.clone();
        move |_| {
            if fails.swap(false, Ordering::SeqCst) {
                return Err(io::Error::other("full"));
            }
            Ok(())
        }
    });
    let clock = Arc::new(world.clock.clone());
    let client = Client::builder(Arc::new(Echo::new(1)), clock).build();
    let options = BatchOptions::new(client.unwrap()).disk(disk);
    let mut spool = Spool::open(&world.path(), options).unwrap();
    world.run(async {
        spool.submit(&questions(0..4)).await.unwrap();
        fails.store(true, Ordering::SeqCst);
        let error = spool.poll().await.unwrap_err();
        assert!(error.message().contains("full"), "{error}");
        assert_eq!(spool.progress().results, 3);
        assert!(spool.poll().await.unwrap().is_done());
        assert_eq!(spool.collect().unwrap().len(), 4);
    });
}
