//! The page of a run in progress is written again until the run ends.

use std::process::Child;

use crate::program::{Place, finish, start, words};

/// The title of the tests, which a run in progress does not have.
const TESTS: &str = "Is it chance?";
const REFRESH: &str = "<meta http-equiv=\"refresh\" content=\"5\">";

/// A run that takes a while, whose journal has begun.
fn slow(place: &Place, rounds: &str) -> Child {
    place.experiment("E");
    let run = ["run", "E", "--mind", "slow:ms=40", "--rounds", rounds];
    let child = start(&mut place.command(&run));
    while place.alone(&words("status E")).code != Some(0) {}
    child
}

#[test]
fn a_page_has_its_notice_until_the_run_ends() {
    let place = Place::new();
    let run = slow(&place, "40");
    let mut watch = start(&mut place.command(&words("report E --watch 0")));
    let mut seen = false;
    while watch.try_wait().unwrap().is_none() {
        let page = std::fs::read_to_string(place.path("E/report.html")).unwrap_or_default();
        let is_live = page.contains(REFRESH);
        assert_eq!(is_live, page.contains("Run in progress: round "), "{page}");
        assert!(!is_live || !page.contains(TESTS), "{page}");
        seen |= is_live;
    }
    assert!(seen, "no page was written during the run");
    let watched = finish(watch).exits(0);
    assert_eq!(watched.stdout, "E/report.html\n");
    finish(run).exits(0);
    let last = place.read("E/report.html");
    assert!(!last.contains(REFRESH) && !last.contains("Run in progress"));
    assert!(last.contains(TESTS));
    // The same data gives the same bytes.
    place.alone(&words("report E -o again.html")).exits(0);
    assert!(place.read("again.html") == last);
}

#[test]
fn a_writer_that_was_killed_ends_the_watch() {
    let place = Place::new();
    let mut run = slow(&place, "400");
    let watch = start(&mut place.command(&words("report E --watch 0")));
    while !place.path("E/report.html").exists() {}
    run.kill().unwrap();
    run.wait().unwrap();
    let watched = finish(watch).exits(3);
    watched.tells(&["stopped, not finished; resume with: logosphere resume E"]);
    place.alone(&words("report E --watch")).exits(3);
    place.alone(&words("report E --watch -o -")).exits(2);
    let status = place.alone(&words("status E")).exits(0);
    status.tells(&["next: logosphere resume E"]);
}
