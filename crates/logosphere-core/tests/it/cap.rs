//! The cap on the messages of one answer, between the parser and the pool.

use std::collections::BTreeMap;

use logosphere_core::Settings;
use logosphere_core::config::{Scheduling, read_config};
use logosphere_core::format::{Note, ParseMode, parse};
use logosphere_core::journal::RunResumed;
use logosphere_core::verify::{Comparison, ResumedRun, compare, verify, verify_to};
use serde_json::{Value, json};

use crate::desk::{self, Saying};

/// Five messages of 3, 5, 3, 4 and 4 characters.
const FIVE: &str = "t\n---\none\n---\nzwölf\n---\ntwo\n---\nfour\n---\nfive\n---\n\n---\n~ann\n";

fn settings(messages: u32, chars: u32) -> Settings {
    desk::settings(Scheduling::Sequential).with(|settings| {
        settings.max_messages = Some(messages);
        settings.max_message_chars = Some(chars);
        settings.max_rounds = 2;
    })
}

fn run(settings: &Settings) -> Vec<u8> {
    desk::run(settings, Saying(FIVE)).1
}

fn of_type(journal: &[u8], kind: &str) -> Vec<Value> {
    let mut lines = desk::lines(journal);
    lines.retain(|line| line["type"] == kind);
    lines
}

fn is_rebuilt(journal: &[u8]) {
    let mut again = Vec::new();
    verify_to(journal, &mut again).unwrap();
    assert!(again == journal);
}

#[test]
fn n20_of_five_messages_a_cap_of_three_sends_three_and_pool_and_replay_agree() {
    let journal = run(&settings(3, 0));
    let calls = of_type(&journal, "mind_invocation");
    assert_eq!(calls.len(), 8);
    for call in &calls {
        let sent = json!(["one\n\n~ann", "zwölf\n\n~ann", "two\n\n~ann"]);
        assert_eq!(call["transmitted"], sent);
        assert_eq!(call["added_ids"].as_array().unwrap().len(), 3);
        assert_eq!(call["raw_output"], FIVE);
        let parse = &call["parse"];
        assert_eq!(
            (&parse["reason"], &parse["over_cap"]),
            (&json!("ok"), &json!(2))
        );
        assert_eq!(parse["notes"], json!(["too_many_messages"]));
        assert_eq!(
            (&parse["lost_blocks"], &parse["lost_chars"]),
            (&json!(2), &json!(8))
        );
    }
    for round in of_type(&journal, "round_end") {
        assert_eq!(round["messages_added"], 12);
        assert_eq!(round["pool_delta"].as_array().unwrap().len(), 12);
        assert_eq!(round["protocol"]["compliant"], 4);
    }
    let resumed = ResumedRun::read(&journal[..]).unwrap();
    assert_eq!(resumed.state.pool().len(), 5 + 24);
    assert_eq!(
        of_type(&journal, "experiment_end")[0]["final_pool_size"],
        29
    );
    is_rebuilt(&journal);
}

#[test]
fn a_journal_without_messages_over_the_cap_has_neither_count_nor_note() {
    for cap in [0, 5, 256] {
        let journal = run(&settings(cap, 0));
        for call in of_type(&journal, "mind_invocation") {
            assert_eq!(call["transmitted"].as_array().unwrap().len(), 5, "{cap}");
            assert!(call["parse"].get("over_cap").is_none(), "{cap}");
            assert_eq!(call["parse"]["notes"], json!([]), "{cap}");
        }
        is_rebuilt(&journal);
    }
}

#[test]
fn a_long_message_is_not_sent_and_takes_no_place_of_the_others() {
    for (cap, expected, over, notes) in [
        (0, json!(["one\n\n~ann", "two\n\n~ann"]), 3, json!([])),
        (2, json!(["one\n\n~ann", "two\n\n~ann"]), 3, json!([])),
        (1, json!(["one\n\n~ann"]), 4, json!(["too_many_messages"])),
    ] {
        // The signature does not count.
        let journal = run(&settings(cap, 3));
        for call in of_type(&journal, "mind_invocation") {
            assert_eq!(call["transmitted"], expected, "{cap}");
            let parse = &call["parse"];
            assert_eq!(
                (&parse["over_cap"], &parse["notes"]),
                (&json!(over), &notes)
            );
            assert_eq!(parse["lost_blocks"], over);
        }
        is_rebuilt(&journal);
    }
}

#[test]
fn an_answer_of_which_nothing_is_short_enough_counts_as_lost() {
    let journal = run(&settings(256, 2));
    for call in of_type(&journal, "mind_invocation") {
        assert_eq!(call["transmitted"], json!([]));
        let parse = &call["parse"];
        assert_eq!(
            (&parse["reason"], &parse["over_cap"]),
            (&json!("silence"), &json!(5))
        );
    }
    for round in of_type(&journal, "round_end") {
        assert_eq!(round["protocol"]["lost"], 4);
        assert_eq!(
            round["protocol"]["by_reason"],
            json!({"silence_with_text": 4})
        );
    }
    is_rebuilt(&journal);
}

#[test]
fn an_answer_that_is_lost_whole_has_nothing_over_the_cap() {
    for said in ["no delimiter", "---\nopen\n---\nopen\n---\nopen"] {
        let journal = desk::run(&settings(1, 1), Saying(said)).1;
        for call in of_type(&journal, "mind_invocation") {
            assert!(call["parse"].get("over_cap").is_none(), "{said}");
        }
        is_rebuilt(&journal);
    }
}

#[test]
fn the_parser_has_no_cap() {
    let many = format!("---\n{}\n---\n", "m\n---\n".repeat(1000));
    let parsed = parse(&many, ParseMode::Lenient);
    assert_eq!(parsed.messages.len(), 1000);
    assert!(!parsed.notes.contains(&Note::TooManyMessages));
}

#[test]
fn a_new_run_has_a_cap_and_a_journal_without_the_setting_has_none() {
    let named = ["max_messages", "max_message_chars", "retries", "retry_wait"];
    let defaults = serde_json::to_value(Settings::default()).unwrap();
    assert_eq!(
        named.map(|name| defaults[name].clone()),
        [256, 0, 2, 60].map(Value::from)
    );
    // The settings as they were recorded before there was a cap.
    let mut older = defaults.clone();
    let fields = older.as_object_mut().unwrap();
    for name in named {
        fields.remove(name);
    }
    let settings: Settings = serde_json::from_value(older.clone()).unwrap();
    assert_eq!((settings.max_messages, settings.retries), (None, None));
    assert_eq!(serde_json::to_value(&settings).unwrap(), older);
    // A configuration without the setting is that of a new run.
    let layer = read_config(older.to_string().as_bytes()).unwrap();
    assert_eq!(layer.settings(0).unwrap(), Settings::default());
}

#[test]
fn a_run_without_recorded_caps_sends_every_message_and_is_rebuilt_and_resumed_so() {
    let said: String = format!("---\n{}\n---\n", "m\n---\n".repeat(300));
    let said: &'static str = said.leak();
    let older = desk::settings(Scheduling::Sequential).with(|settings| {
        (settings.max_messages, settings.max_message_chars) = (None, None);
        (settings.retries, settings.retry_wait) = (None, None);
        settings.max_rounds = 2;
    });
    let (_, journal) = desk::run(&older, Saying(said));
    let start = &desk::lines(&journal)[0]["effective"];
    assert!(start.get("max_messages").is_none() && start.get("retries").is_none());
    is_rebuilt(&journal);
    let cut: Vec<u8> = (journal.split_inclusive(|byte| *byte == b'\n'))
        .take(3)
        .flatten()
        .copied()
        .collect();
    let (_, resumed) = desk::resume(&cut, Vec::new(), Saying(said));
    for call in of_type(&resumed, "mind_invocation") {
        assert_eq!(call["added_ids"].as_array().unwrap().len(), 300);
    }
    is_rebuilt(&resumed);
    let equal = compare(&journal[..], &resumed[..]).unwrap();
    assert!(matches!(equal, Comparison::Equal(_)), "{equal:?}");
}

#[test]
fn a_journal_of_version_2_from_before_the_cap_verifies_byte_for_byte() {
    let path = test_support::fixture("logosphere/journals/uncapped.jsonl");
    let journal = std::fs::read(path).unwrap();
    let start = &desk::lines(&journal)[0];
    assert_eq!(start["schema_version"], 2);
    assert!(start["effective"].get("max_messages").is_none());
    is_rebuilt(&journal);
}

#[test]
fn a_resumed_run_keeps_its_cap() {
    let journal = run(&settings(3, 0));
    let resumption = ResumedRun::read(&journal[..]).unwrap();
    for setting in ["max_messages", "max_message_chars"] {
        let changed = BTreeMap::from([(setting.to_owned(), [json!(3), json!(4)])]);
        let resumed = RunResumed::new("test", changed);
        let refused = resumption.state.settings().with_changes(&resumed.changed);
        let words = format!("a run cannot change {setting} to 4");
        assert_eq!(refused.unwrap_err().to_string(), words);
    }
    verify(&journal[..]).unwrap();
}
