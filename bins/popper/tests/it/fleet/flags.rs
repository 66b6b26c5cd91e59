//! Flags of runs on many machines that say nothing, or too much: exit code 2, and the range.

use crate::process::{Ran, fresh, words};
use crate::runs::Place;

/// A command that reaches no server.
fn refused(line: &str, said: &str) {
    let place = Place::new();
    let mut popper = fresh(place.path(), &words(line));
    let ran: Ran = popper.env_remove("POPPER_STORE").output().unwrap().into();
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (Some(2), ""),
        "{line}: {}",
        ran.stderr
    );
    assert!(ran.stderr.contains(said), "{line}: {}", ran.stderr);
}

#[test]
fn values_out_of_range_name_it() {
    let url = "postgres://a@localhost/b";
    for (line, said) in [
        ("worker --threads 0", "1..=1024"),
        ("worker --threads 1025", "1..=1024"),
        ("run --threads 100000000000", "0..=1024"),
        ("worker --lease 0.5s", "from 1s to 3600s"),
        ("run --lease 2h", "from 1s to 3600s"),
        ("run --patience 25h", "from 0ns to 86400s"),
        ("worker --job-limit 25h", "from 1s to 86400s"),
        ("run --audit 101", "0..=100"),
        ("status --watch 0", "--watch"),
    ] {
        let line = match line.split_once(' ') {
            Some((command, flags)) => format!("{command} --store {url} {flags}"),
            None => line.to_owned(),
        };
        refused(&line, said);
    }
}

#[test]
fn an_address_that_is_none_says_the_form() {
    for command in [
        "run",
        "resume --run-id 1",
        "status",
        "export",
        "report",
        "worker",
        "queue list",
    ] {
        for (url, said) in [
            ("mysql://a@b/c", "its scheme is not postgres"),
            ("popper", "the address of the database"),
        ] {
            refused(&format!("{command} --store {url}"), said);
        }
    }
}

#[test]
fn flags_for_workers_need_a_server() {
    for flag in ["--threads 0", "--audit 5", "--lease 2s", "--patience 1s"] {
        refused(&format!("run {flag}"), "needs --store");
        refused(&format!("check fixtures.json {flag}"), "needs --store");
    }
    refused("worker", "give --store URL, or set POPPER_STORE");
    refused("queue list", "give --store URL, or set POPPER_STORE");
    refused(
        "run --store postgres://a@h/b --db popper.db",
        "cannot be used with",
    );
}
