//! What was written can be made anew, and what was altered is found.

use logosphere_core::{
    ReadError, ReplayError, Scheduling, Settings, replay, replay_to, sha256_hex,
};

use crate::desk;

fn journal(mind: &str, scheduling: Scheduling) -> Vec<u8> {
    let settings = Settings {
        mind: Some(mind.to_owned()),
        ..desk::settings(scheduling)
    };
    desk::run(&settings, desk::mind(&settings)).1
}

#[test]
fn every_kind_of_mind_replays_byte_for_byte() {
    let minds = [
        "copier",
        "mutator",
        "markov",
        "disobedient",
        "silent",
        "flaky:rate=0.5",
    ];
    for mind in minds {
        for scheduling in [Scheduling::Sequential, Scheduling::Snapshot] {
            let journal = journal(mind, scheduling);
            let mut again = Vec::new();
            let report = replay_to(&journal[..], &mut again).unwrap();
            assert!(again == journal, "{mind}");
            assert!(report.ended);
            assert_eq!((report.rounds, report.calls), (5, 20), "{mind}");
        }
    }
}

#[test]
fn what_was_altered_with_a_chain_that_fits_is_named() {
    // Somebody who knows how chains are made alters what a mind sent, and every line behind it.
    let journal = journal("mutator", Scheduling::Sequential);
    for (name, field) in [
        ("\"completed\":true", "completed"),
        ("\"lost_blocks\":0", "parse.lost_blocks"),
    ] {
        let to = name.replace("true", "false").replace(":0", ":1");
        let forged = forge(&journal, name, &to);
        assert_ne!(forged, journal);
        match replay(&forged[..]).unwrap_err() {
            ReplayError::Differs {
                kind, field: found, ..
            } => {
                assert_eq!((kind, found.as_str()), ("mind_invocation", field));
            }
            other => panic!("{other}"),
        }
    }
}

/// Replaces the first `from` and makes the chain anew from there on, as a program that follows the form would.
fn forge(journal: &[u8], from: &str, to: &str) -> Vec<u8> {
    let text = String::from_utf8(journal.to_vec()).unwrap();
    let mut chain = "run".to_owned();
    let mut forged = String::new();
    for line in text.replacen(from, to, 1).lines() {
        let (before, _) = line.rsplit_once(",\"chain\":").unwrap();
        chain = sha256_hex(format!("{chain}{before}"));
        chain.truncate(32);
        forged.extend([before, ",\"chain\":\"", &chain, "\"}\n"]);
    }
    forged.into_bytes()
}

#[test]
fn damage_by_other_programs_is_called_by_its_name() {
    let journal = journal("copier", Scheduling::Sequential);
    let text = String::from_utf8(journal).unwrap();
    for (damaged, said) in [
        (text.replace('\n', "\r\n"), "autocrlf"),
        (format!("\u{feff}{text}"), "byte order mark"),
        (text.trim_end().to_owned(), "without a line feed"),
        (
            text.split_inclusive('\n').skip(1).collect(),
            "is not experiment_start",
        ),
        (
            text.replacen(
                "\"schema_version\":1,\"run_id\"",
                "\"schema_version\":2,\"run_id\"",
                1,
            ),
            "schema_version 2",
        ),
        (
            text.split_inclusive('\n')
                .filter(|line| !line.contains("\"seq\":3,"))
                .collect(),
            "has seq 4, expected 3",
        ),
        (format!("{text}{text}"), "second experiment_start"),
        ("{}\n".to_owned(), "no event"),
        (String::new(), "empty"),
    ] {
        let error = replay(damaged.as_bytes()).unwrap_err();
        assert!(matches!(
            error,
            ReplayError::Read(ReadError::Damaged { .. } | ReadError::Empty)
        ));
        assert!(error.to_string().contains(said), "{error}");
    }
}
