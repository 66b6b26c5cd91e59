//! `report --watch` and `status` while another process works on the run.

use std::collections::BTreeSet;
use std::fs;
use std::process::Child;
use std::time::{Duration, Instant};

use test_support::{CompressionStub, StubMode};

use crate::program::{Place, Ran, finish, signal, start, words};

/// The longest wait for a page, far more than one takes.
const PATIENCE: Duration = Duration::from_mins(1);

const REFRESH: &str = "http-equiv=\"refresh\"";

/// Waits for another page than these, until the watcher ends.
fn next_page(place: &Place, watcher: &mut Child, seen: &mut BTreeSet<String>) -> bool {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let ended = watcher.try_wait().unwrap().is_some();
        let page = fs::read_to_string(place.path("page.html")).unwrap_or_default();
        if !page.is_empty() && seen.insert(page) {
            return true;
        }
        if ended {
            return false;
        }
        assert!(Instant::now() < deadline, "no other page came");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A model that takes its time, until a test has seen enough.
fn slow() -> CompressionStub {
    let stub = CompressionStub::start(StubMode::Ok);
    stub.set_latency(Duration::from_millis(200));
    stub
}

fn watcher(place: &Place) -> Child {
    let deadline = Instant::now() + PATIENCE;
    while !place.path("dir/run.json").exists() {
        assert!(Instant::now() < deadline, "the run did not begin");
        std::thread::sleep(Duration::from_millis(10));
    }
    start(&mut place.command(&words("report dir -o page.html --watch 1")))
}

#[test]
fn the_page_follows_the_run_to_its_end() {
    let place = Place::new();
    let stub = slow();
    let line = "matrix --all --trials 20 --run-dir dir --concurrency 1";
    let run = place.start_asking(&stub, &words(line));
    let mut watcher = watcher(&place);
    let mut seen = BTreeSet::new();
    for _ in 0..3 {
        assert!(next_page(&place, &mut watcher, &mut seen));
    }
    stub.set_latency(Duration::ZERO);
    while next_page(&place, &mut watcher, &mut seen) {}
    let watched = finish(watcher).exits(0);
    assert_eq!(watched.stdout, "page.html\n");
    finish(run).exits(0);
    let live = seen.iter().filter(|page| page.contains(REFRESH));
    for page in live.clone() {
        assert!(page.contains("Run in progress: "));
        assert!(page.trim_end().ends_with("</html>"));
    }
    assert_eq!(live.count(), seen.len() - 1);
    let last = place.read("page.html");
    assert!(!last.contains(REFRESH) && !last.contains("Run in progress"));
    // The same data give the same bytes.
    place.alone(&words("report dir -o again.html")).exits(0);
    assert!(place.read("again.html") == last);
}

#[test]
fn a_killed_writer_ends_the_watch_with_the_command_that_continues() {
    let place = Place::new();
    let stub = slow();
    let line = "matrix --all --trials 20 --run-dir dir --concurrency 1";
    let run = place.start_asking(&stub, &words(line));
    let mut watcher = watcher(&place);
    let mut seen = BTreeSet::new();
    assert!(next_page(&place, &mut watcher, &mut seen));
    let running: Ran = place.alone(&["status", "dir"]).exits(0);
    assert!(
        running.stdout.starts_with("running: "),
        "{}",
        running.stdout
    );
    signal(run.id(), "-KILL");
    let _killed = run.wait_with_output();
    let told = "zer0gravity: stopped, not finished; resume with zer0gravity resume dir\n";
    let watched = finish(watcher).exits(3);
    assert!(watched.stderr.ends_with(told), "{}", watched.stderr);
    assert!(!place.read("page.html").contains(REFRESH));
    let status = place.alone(&["status", "dir"]).exits(0);
    assert!(status.stdout.starts_with("stopped: "), "{}", status.stdout);
    assert!(
        status
            .stdout
            .ends_with("continue with: zer0gravity resume dir\n"),
        "{}",
        status.stdout
    );
}
