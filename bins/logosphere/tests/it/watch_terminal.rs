//! `watch`: a run in the terminal, while another process works on it.

use std::fs::{self, OpenOptions};
use std::io::{Read as _, Write as _};

use logosphere_core::experiment::Experiment;
use unicode_width::UnicodeWidthStr as _;

use crate::program::{Place, SEEDS, finish, signal, start, words};
use crate::terminal::{begin, written};

/// An ended run with the same bytes each time.
fn ended(place: &Place) {
    let long = "A sentence with more words than a narrow terminal has room for, which is cut where the line ends.";
    place.seeded("E", &[long, SEEDS[0], SEEDS[6]]);
    let run = "run E --rounds 45 --minds 2 --seed 3 -q";
    place.alone(&words(run)).exits(0);
}

/// The frame of [`ended`] on a terminal of this size.
fn frame(place: &Place, size: (u16, u16)) -> String {
    let mut command = place.command(&words("watch E --once"));
    written(&mut command, size, false).replace("\r\n", "\n")
}

const NARROW: &str = r"experiment   E, ended
settings     2 minds (mutator:p=0.1), one after another, reading 3 of 15, seed 3
rounds       45/45 ████████████████████ 90 of 90 calls
pool         93 messages
tokens       10575 in, 2187 out
protocol     100 % ok
offline      no model was called
similarity   ▁▁▁▁▂▁▁▂▂▂▄▂▂▃▂▂▃▃▃▃▄▄▃▃▃▃▃▄▃▄▅▇▇▇▇▇████ 0.936, from 0.347 to 0.956
descendants  59 of 1: What lasts is what is said again.\n\n~init
             29 of 2: Two lines\nmake one message.\n\n~init
             2 of 0: A sentence with more words than a narrow terminal has room…
newest       90: What what what what what is said lasts again.
             91: What lasts what what what is what said said again.
             92: What lasts what what what is again said said again.
";

const WIDE: &str = r"experiment   E, ended
settings     2 minds (mutator:p=0.1), one after another, reading 3 of 15, seed 3
rounds       45/45 ████████████████████████████████████████ 90 of 90 calls
pool         93 messages
tokens       10575 in, 2187 out
protocol     100 % ok
offline      no model was called
similarity   ▁▁▁▁▂▁▁▂▂▂▄▂▂▃▂▂▃▃▃▃▄▄▃▃▃▃▃▄▃▄▅▇▇▇▇▇████ 0.936, from 0.347 to 0.956
descendants  59 of 1: What lasts is what is said again.\n\n~init
             29 of 2: Two lines\nmake one message.\n\n~init
             2 of 0: A sentence with more words than a narrow terminal has room for, which is cut where the line ends.\n\n~init
newest       90: What what what what what is said lasts again.
             91: What lasts what what what is what said said again.
             92: What lasts what what what is again said said again.
";

#[test]
fn a_frame_fits_80_columns_and_24_rows() {
    let place = Place::new();
    ended(&place);
    let frame = frame(&place, (80, 24));
    assert_eq!(frame, NARROW);
    assert!(frame.lines().count() <= 20);
}

#[test]
fn a_frame_fits_200_columns_and_50_rows() {
    let place = Place::new();
    ended(&place);
    assert_eq!(frame(&place, (200, 50)), WIDE);
    // A file has the same lines as a wide terminal.
    let printed = place.alone(&words("watch E")).exits(0);
    assert_eq!(printed.stdout, WIDE);
    assert_eq!(printed.stderr, "");
}

#[test]
fn texts_are_cut_to_the_width_and_cannot_steer_the_terminal() {
    let place = Place::new();
    let hostile = "\u{1b}[2J\u{202e}\u{7}文文文文文文文文文文文文文文文文文文文文文文文文文文文文文文文文文文文文文文文文";
    place.seeded("E", &[hostile, &"long ".repeat(10_000), hostile, hostile]);
    place
        .alone(&words("run E --rounds 2 --mind copier -q"))
        .exits(0);
    for columns in [20, 80, 133] {
        let frame = frame(&place, (columns, 24));
        assert!(!frame.contains(['\u{1b}', '\u{202e}', '\u{7}']), "{frame}");
        let widest = frame.lines().map(str::width).max();
        assert!(widest <= Some(columns.into()), "{frame}");
    }
    let text = r"\u{1b}[2J\u{202e}\u{7}文文";
    let frame = frame(&place, (133, 24));
    assert!(frame.contains(text), "{frame}");
}

#[test]
fn a_run_that_has_not_begun_is_waited_for() {
    let place = Place::new();
    place.experiment("E");
    let waits = "run          not begun; waiting for its first event\n";
    let waiting = place.alone(&words("watch E --once")).exits(0);
    assert_eq!(waiting.stdout, format!("experiment   E\n{waits}"));
    // A first line without its end is not an event yet.
    fs::create_dir(place.path("E/logs")).unwrap();
    place.file("E/logs/experiment.jsonl", "{\"type\":\"experi");
    let waiting = place.alone(&words("watch E --once")).exits(0);
    assert!(waiting.stdout.ends_with(waits), "{}", waiting.stdout);
    fs::create_dir(place.path("empty")).unwrap();
    let refused = place.alone(&words("watch empty")).exits(2);
    refused.tells(&["empty: contains no run"]);
}

#[test]
fn a_torn_last_line_is_left_to_its_writer() {
    let place = Place::new();
    ended(&place);
    let before = place.alone(&words("watch E --once")).exits(0).stdout;
    let mut journal = OpenOptions::new();
    let mut journal = journal
        .append(true)
        .open(place.path("E/logs/experiment.jsonl"))
        .unwrap();
    journal
        .write_all(b"{\"type\":\"run_resumed\",\"times")
        .unwrap();
    let after = place.alone(&words("watch E --once")).exits(0).stdout;
    assert_eq!(after, before);
    journal.write_all(b"\n").unwrap();
    let damaged = place.alone(&words("watch E --once")).exits(4);
    damaged.tells(&["E/logs/experiment.jsonl: line "]);
}

#[test]
fn a_run_is_followed_to_its_end() {
    let place = Place::new();
    place.experiment("E");
    let run = start(&mut place.command(&words("run E --mind slow:ms=30 --rounds 20 -q")));
    while place.alone(&words("status E")).code != Some(0) {}
    let mut once = String::new();
    while !once.contains(" of 60 calls, eta ") {
        once = place.alone(&words("watch E --once")).exits(0).stdout;
    }
    assert!(once.starts_with("experiment   E, running\n"), "{once}");
    assert!(once.contains("in flight    mind "), "{once}");
    let mut watch = place.command(&words("watch E --interval 50ms"));
    let drawn = written(&mut watch, (100, 40), true);
    let (live, last) = drawn.rsplit_once("experiment   E, ended").unwrap();
    assert!(live.contains("experiment   E, running"), "{drawn}");
    assert!(last.contains("20/20 "), "{drawn}");
    assert!(last.contains("60 of 60 calls"), "{drawn}");
    finish(run).exits(0);
    // The watch has written nothing.
    place.alone(&words("verify E")).exits(0);
}

#[test]
fn a_run_that_was_killed_ends_the_watch_and_its_calls_in_flight_are_named() {
    let place = Place::new();
    place.experiment("E");
    let flags = "run E --mind slow:ms=60 --minds 12 --scheduling snapshot --rounds 200 -q";
    let mut run = start(&mut place.command(&words(flags)));
    let mut seen = String::new();
    while !seen.contains("in flight    minds ") {
        seen = place.alone(&words("watch E --once")).stdout;
    }
    run.kill().unwrap();
    run.wait().unwrap();
    let once = place.alone(&words("watch E --once")).exits(0).stdout;
    assert!(once.starts_with("experiment   E, stopped\n"), "{once}");
    assert!(!once.contains("in flight"), "{once}");
}

#[test]
fn a_journal_that_is_removed_or_replaced_ends_the_watch() {
    for is_replaced in [true, false] {
        let place = Place::new();
        ended(&place);
        let (journal, other) = (place.path("E/logs/experiment.jsonl"), place.path("other"));
        fs::copy(&journal, &other).unwrap();
        // A process works on the run as long as the lock is held.
        let experiment = Experiment::open(&place.path("E")).unwrap();
        let _lock = experiment.lock(7).unwrap();
        let mut command = place.command(&words("watch E --interval 50ms"));
        let (mut watch, mut terminal) = begin(&mut command, (200, 40), true);
        let mut seen = Vec::new();
        while !String::from_utf8_lossy(&seen).contains("E, running") {
            let mut bytes = [0; 256];
            let read = terminal.read(&mut bytes).unwrap();
            seen.extend_from_slice(&bytes[..read]);
        }
        if is_replaced {
            fs::rename(other, journal).unwrap();
        } else {
            fs::remove_file(journal).unwrap();
        }
        let _ = terminal.read_to_end(&mut seen);
        assert_eq!(watch.wait().unwrap().code(), Some(2));
        let seen = String::from_utf8_lossy(&seen);
        assert!(
            seen.contains("it was removed or replaced while it was read"),
            "{seen}"
        );
    }
}

#[test]
fn a_signal_ends_the_watch() {
    let place = Place::new();
    place.experiment("E");
    let mut command = place.command(&words("watch E --interval 1h"));
    let (mut watch, mut terminal) = begin(&mut command, (80, 24), true);
    let mut seen = Vec::new();
    while !String::from_utf8_lossy(&seen).contains("not begun") {
        let mut bytes = [0; 256];
        let read = terminal.read(&mut bytes).unwrap();
        seen.extend_from_slice(&bytes[..read]);
    }
    signal(watch.id(), "-INT");
    let _ = terminal.read_to_end(&mut seen);
    assert_eq!(watch.wait().unwrap().code(), Some(130));
}

#[test]
fn an_interval_has_a_unit_and_a_range() {
    let place = Place::new();
    ended(&place);
    for (interval, code) in [
        ("2s", 0),
        ("50ms", 0),
        ("1h", 0),
        ("5", 2),
        ("10ms", 2),
        ("2h", 2),
        ("-1s", 2),
    ] {
        let ran = place.alone(&["watch", "E", &format!("--interval={interval}")]);
        ran.exits(code);
    }
}
