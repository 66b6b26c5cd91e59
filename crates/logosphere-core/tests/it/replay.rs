//! A journal can be rebuilt, and every alteration is found.

use logosphere_core::config::Scheduling;
use logosphere_core::format::sha256_hex;
use logosphere_core::journal::ReadError;
use logosphere_core::verify::{VerifyError, verify, verify_to};

use crate::desk;

fn journal(mind: &str, scheduling: Scheduling) -> Vec<u8> {
    let settings =
        desk::settings(scheduling).with(|settings| settings.mind = Some(mind.to_owned()));
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
            let report = verify_to(&journal[..], &mut again).unwrap();
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
        match verify(&forged[..]).unwrap_err() {
            VerifyError::Differs {
                kind, field: found, ..
            } => {
                assert_eq!((kind, found.as_str()), ("mind_invocation", field));
            }
            other => panic!("{other}"),
        }
    }
}

#[test]
fn a_run_that_waits_has_no_error_of_a_call_that_time_may_help() {
    let journal = journal("flaky:rate=0.5", Scheduling::Sequential);
    let forged = forge(&journal, "\"on_error\":\"skip\"", "\"on_error\":\"wait\"");
    match verify(&forged[..]).unwrap_err() {
        VerifyError::State { kind, source, .. } => {
            assert_eq!(kind, "error");
            let words = "on_error wait makes such a call again";
            assert!(source.to_string().contains(words), "{source}");
        }
        other => panic!("{other}"),
    }
}

/// Replaces the first `from`, and computes numbers and chain again as a program that knows the format would.
fn forge(journal: &[u8], from: &str, to: &str) -> Vec<u8> {
    let text = String::from_utf8(journal.to_vec()).unwrap();
    let text = text.replacen(from, to, 1);
    chained(text.lines().map(str::to_owned))
}

/// Lines with the numbers and the chain that they have in this order.
fn chained(lines: impl Iterator<Item = String>) -> Vec<u8> {
    let mut chain = "run".to_owned();
    let mut forged = String::new();
    for (seq, line) in lines.enumerate() {
        let (before, _) = line.rsplit_once(",\"chain\":").unwrap();
        let (head, rest) = before.split_once(",\"seq\":").unwrap();
        let (_, rest) = rest.split_once(',').unwrap();
        let before = format!("{head},\"seq\":{seq},{rest}");
        chain = sha256_hex(format!("{chain}{before}"));
        chain.truncate(32);
        forged.extend([&before, ",\"chain\":\"", &chain, "\"}\n"]);
    }
    forged.into_bytes()
}

/// A run some of whose calls fail, and that is interrupted by too many of them and resumed.
fn troubled() -> Vec<String> {
    let settings = desk::settings(Scheduling::Sequential).with(|settings| {
        settings.mind = Some("flaky:rate=0.9".to_owned());
        settings.n_minds = 2;
        settings.seed = 1;
    });
    let (_, journal) = desk::run(&settings, desk::mind(&settings));
    let (_, journal) = desk::resume(&journal, Vec::new(), desk::mind(&settings));
    let text = String::from_utf8(journal).unwrap();
    text.lines().map(str::to_owned).collect()
}

fn place_of(lines: &[String], kind: &str) -> usize {
    let start = format!("{{\"type\":\"{kind}\"");
    lines
        .iter()
        .position(|line| line.starts_with(&start))
        .unwrap()
}

#[test]
fn events_that_no_process_writes_in_this_order_are_found() {
    let lines = troubled();
    verify(&chained(lines.iter().cloned())[..]).unwrap();
    let error = place_of(&lines, "error");
    let stop = place_of(&lines, "run_interrupted");
    let resumed = place_of(&lines, "run_resumed");
    assert_eq!((error, resumed), (2, stop + 1));
    let without = |gone: usize| {
        let kept = lines.iter().enumerate().filter(|(at, _)| *at != gone);
        kept.map(|(_, line)| line.clone()).collect::<Vec<_>>()
    };
    let with = |at: usize, from: &str, to: &str| {
        let mut lines = lines.clone();
        assert!(lines[at].contains(from), "{}", lines[at]);
        lines[at] = lines[at].replacen(from, to, 1);
        lines
    };
    let mut twice = lines.clone();
    twice.insert(error, lines[error].clone());
    let mut after_the_end = lines.clone();
    after_the_end.extend([lines[resumed].clone()]);
    let cases = [
        ("an error is gone", without(error)),
        ("an error is there twice", twice),
        (
            "an error was fatal",
            with(error, "\"fatal\":false", "\"fatal\":true"),
        ),
        (
            "it had other tries",
            with(error, "\"attempts\":[{\"n\":1", "\"attempts\":[{\"n\":2"),
        ),
        ("nobody resumed", without(resumed)),
        (
            "for no reason",
            with(stop, "\"cause\":\"error\"", "\"cause\":\"whim\""),
        ),
        (
            "for good",
            with(stop, "\"resumable\":true", "\"resumable\":false"),
        ),
        (
            "with a cap below zero",
            with(
                resumed,
                "\"changed\":{}",
                "\"changed\":{\"caps.max_usd\":[null,-2.0]}",
            ),
        ),
        (
            "with another seed",
            with(resumed, "\"changed\":{}", "\"changed\":{\"seed\":[1,2]}"),
        ),
        (
            "with too many minds",
            with(0, "\"n_minds\":2", "\"n_minds\":0"),
        ),
        ("with a bare seed", with(0, "forgets\\n\\n~init", "forgets")),
        ("after the end, without more rounds", after_the_end),
    ];
    for (what, forged) in cases {
        let found = verify(&chained(forged.into_iter())[..]);
        assert!(found.is_err(), "{what}");
    }
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
                "\"schema_version\":2,\"run_id\"",
                "\"schema_version\":3,\"run_id\"",
                1,
            ),
            "schema_version 3",
        ),
        (
            text.split_inclusive('\n')
                .filter(|line| !line.contains("\"seq\":3,"))
                .collect(),
            "has seq 4, expected 3",
        ),
        (format!("{text}{text}"), "second experiment_start"),
        ("{}\n".to_owned(), "not an event"),
        (String::new(), "empty"),
    ] {
        let error = verify(damaged.as_bytes()).unwrap_err();
        assert!(matches!(
            error,
            VerifyError::Read(ReadError::Damaged { .. } | ReadError::Empty)
        ));
        assert!(error.to_string().contains(said), "{error}");
    }
}
