//! Logs: the same score from the log, and episodes that are continued after a kill.

use popper_discovery::lab::{Baseline, EpisodeLog, LabError, LabTier};
use serde_json::json;

use super::{Recorded, invariant};

/// An episode with each kind of line, and the answer to its end.
fn played(tier: LabTier, seed: u64) -> (Recorded, String) {
    let mut recorded = Recorded::new(tier, seed);
    recorded.accepted(&json!({"experiment": {"start": "..ab..", "steps": 3}}));
    recorded.ask("hm, \u{e9}\"\\");
    recorded.ask([0xff, 0x00]);
    recorded.accepted(&json!({"laws": [invariant("a", "count('a')", 9)]}));
    recorded.ask(r#"{"laws": []}"#);
    recorded.accepted(&json!({"experiment": {"start": "ab", "steps": 30}}));
    let key = if tier == LabTier::C {
        "values"
    } else {
        "state"
    };
    recorded.accepted(&json!({"predict": [{"id": "q03.4", key: null}]}));
    let end = recorded.ask(r#"{"end": true}"#).line;
    (recorded, end)
}

#[test]
fn a_log_gives_the_bytes_of_the_end_twice() {
    for tier in LabTier::ALL {
        let (mut recorded, end) = played(tier, 2);
        // Lines after the end change nothing.
        recorded.ask("late");
        let log = EpisodeLog::read(&recorded.log).unwrap();
        for _ in 0..2 {
            let episode = log.replay(recorded.sealed.clone()).unwrap();
            assert_eq!(episode.score().line(), end, "{tier:?}");
        }
    }
    for baseline in Baseline::ALL {
        let mut recorded = Recorded::new(LabTier::D, 2);
        let contract = recorded.episode.contract().clone();
        let mut last = String::new();
        let ask = &mut |line: &str| {
            last = recorded.ask(line).line;
            Ok::<_, ()>(last.clone())
        };
        baseline.play(&contract, 0, ask).unwrap();
        let log = EpisodeLog::read(&recorded.log).unwrap();
        assert_eq!(
            log.replay(recorded.sealed.clone()).unwrap().score().line(),
            last
        );
    }
}

#[test]
fn a_log_that_was_cut_off_anywhere_is_scored_and_continued() {
    let (recorded, end) = played(LabTier::D, 3);
    let first = recorded.log.find('\n').unwrap();
    let entries: Vec<&str> = recorded.log.lines().skip(1).collect();
    let mut played = None;
    // Each byte of the entries, also those inside of a character, but not of the long first line.
    for cut in first..=recorded.log.len() {
        let kept = &recorded.log.as_bytes()[..cut];
        let log = EpisodeLog::read(kept).unwrap();
        let complete = &recorded.log[..log.complete_bytes()];
        let count = complete.lines().count() - 1;
        assert!(count == 0 || complete.ends_with(['\n', '}']));
        // What follows depends on the entries alone.
        if played == Some(count) {
            continue;
        }
        played = Some(count);
        let mut episode = log.replay(recorded.sealed.clone()).unwrap();
        assert_eq!(episode.is_ended(), count == entries.len());
        if episode.is_ended() {
            assert_eq!(episode.score().line(), end);
            continue;
        }
        let mut last = String::new();
        for entry in &entries[count..] {
            let entry: serde_json::Value = serde_json::from_str(entry).unwrap();
            last = episode.line(entry["line"].as_str().unwrap()).line;
        }
        assert_eq!(last, end, "cut at {cut}");
    }
}

#[test]
fn an_edited_log_is_refused() {
    let (recorded, _) = played(LabTier::A, 4);
    let refused = |text: &str| {
        let log = EpisodeLog::read(text)?;
        log.replay(recorded.sealed.clone()).map(|_| ())
    };
    let mut foreign = recorded.log.clone().into_bytes();
    let second = recorded.log.find('\n').unwrap() + 1;
    foreign[second] = 0xff;
    let message = EpisodeLog::read(foreign).unwrap_err().to_string();
    assert_eq!(message, "line 2: is not UTF-8");
    refused(&recorded.log).unwrap();
    let cheaper = recorded.log.replace(r#""left":4078"#, r#""left":4079"#);
    let message = refused(&cheaper).unwrap_err().to_string();
    assert!(message.starts_with("line 2: the answer is {"), "{message}");
    let eased = recorded
        .log
        .replacen("\"budget_cells\":4096", "\"budget_cells\":9999", 1);
    assert!(matches!(refused(&eased), Err(LabError::Edited { .. })));
    let (other, _) = played(LabTier::A, 5);
    assert!(matches!(
        refused(&other.log),
        Err(LabError::Mismatch { .. })
    ));
    for (text, expected) in [
        ("", "line 1: expected the public part"),
        ("{}\n", "line 1: expected the public part"),
        (
            &recorded.log.replacen("{\"line\"", "{\"lime\"", 1),
            "line 2: expected {\"line\"",
        ),
        (
            &recorded.log.replacen("{\"line\"", "\"line\"", 1),
            "line 2: ",
        ),
    ] {
        let message = refused(text).unwrap_err().to_string();
        assert!(message.starts_with(expected), "{message}");
    }
}
