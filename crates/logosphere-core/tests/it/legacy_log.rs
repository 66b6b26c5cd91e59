//! Journals of the old program: one made by its rules holds, and an altered one does not.

use logosphere_core::Transcript;
use logosphere_core::format::Reason;
use logosphere_core::journal::is_legacy;
use logosphere_core::verify::legacy_log::{LegacyError, verify_legacy};
use serde_json::{Value, json};

use crate::scripted_run::ids;

const INIT: &str = "notes\n---\nfirst seed\n---\nsecond seed\n---\n\n---\n~init\n";

/// A run of two minds by the old program's rules, written down by hand: its journal has nothing but the requirement's
/// fields, and local times.
fn log() -> Vec<Value> {
    let seeds = ["first seed\n\n~init", "second seed\n\n~init"];
    let call = |round: u32,
                mind: u32,
                input: &[&str],
                raw: &str,
                thinking: &str,
                sent: &[&str],
                signature: &str| {
        json!({"type": "mind_invocation", "timestamp": "2026-01-02T10:00:01.5", "round": round, "mind_id": mind,
            "input_messages": input, "thinking": thinking, "transmitted": sent, "completed": !raw.contains("endless"),
            "signature": signature, "tokens_used": 10, "raw_output": raw})
    };
    vec![
        json!({"type": "experiment_start", "timestamp": "2026-01-02T10:00:00.1",
            "config": {"N_MINDS": 2, "K_SAMPLES": 2, "M_ACTIVE_POOL": 2, "MAX_ROUNDS": 2, "TOKEN_LIMIT": 2000, "MODEL": "m"},
            "init_signature": "~init", "num_seed_messages": 2}),
        json!({"type": "round_start", "timestamp": "2026-01-02T10:00:00.2", "round": 1, "pool_size": 2, "active_pool_size": 2}),
        call(
            1,
            0,
            &[seeds[1], seeds[0]],
            "\n\nhm\n---\nhello\n---\n\n---\n~ann\n",
            "hm",
            &["hello\n\n~ann"],
            "~ann",
        ),
        call(
            1,
            1,
            &["hello\n\n~ann", seeds[1]],
            "t\n---\nendless",
            "t",
            &[],
            "",
        ),
        json!({"type": "round_end", "timestamp": "2026-01-02T10:00:03", "round": 1, "messages_added": 1, "pool_delta": ["hello\n\n~ann"]}),
        json!({"type": "round_start", "timestamp": "2026-01-02T10:00:04", "round": 2, "pool_size": 3, "active_pool_size": 2}),
        call(
            2,
            0,
            &["hello\n\n~ann", seeds[1]],
            "---\na\n---\nb\n---\n\n---",
            "",
            &["a", "b"],
            "",
        ),
        call(2, 1, &["b", "a"], "x\n---\n\n---", "x", &[], ""),
        json!({"type": "round_end", "timestamp": "2026-01-02T10:00:06", "round": 2, "messages_added": 2, "pool_delta": ["a", "b"]}),
        json!({"type": "experiment_end", "timestamp": "2026-01-02T10:00:07", "total_rounds": 2, "final_pool_size": 5, "total_tokens": 40}),
    ]
}

fn text(log: &[Value]) -> String {
    log.iter()
        .flat_map(|event| [event.to_string(), "\n".to_owned()])
        .collect()
}

#[test]
fn one_made_by_the_old_rules_holds() {
    let report = verify_legacy(text(&log()).as_bytes(), INIT).unwrap();
    assert_eq!(
        (report.lines, report.rounds, report.calls, report.messages),
        (10, 2, 4, 5)
    );
    assert!(report.ended);
    let windows = INIT.replace('\n', "\r\n");
    verify_legacy(text(&log()).as_bytes(), &windows).unwrap();
}

#[test]
fn one_that_holds_is_read_as_a_run() {
    let journal = text(&log());
    let run = Transcript::read_legacy(journal.as_bytes(), INIT).unwrap();
    assert_eq!(
        (run.minds, run.samples, run.active, run.seeds),
        (2, 2, 2, 2)
    );
    let texts: Vec<&str> = run
        .messages
        .iter()
        .map(|message| message.text.as_str())
        .collect();
    let expected = [
        "first seed\n\n~init",
        "second seed\n\n~init",
        "hello\n\n~ann",
        "a",
        "b",
    ];
    assert_eq!(texts, expected);
    let calls: Vec<_> = (run.calls.iter())
        .map(|call| {
            (
                (call.round.0, call.mind.0),
                call.sampled.clone(),
                call.added.clone(),
                call.reason,
            )
        })
        .collect();
    assert_eq!(
        calls,
        [
            ((1, 0), ids(&[1, 0]), ids(&[2]), Reason::Ok),
            ((1, 1), ids(&[2, 1]), ids(&[]), Reason::Unterminated),
            ((2, 0), ids(&[2, 1]), ids(&[3, 4]), Reason::Ok),
            ((2, 1), ids(&[4, 3]), ids(&[]), Reason::Silence),
        ]
    );
    let rounds: Vec<_> = run
        .rounds
        .iter()
        .map(|round| (round.round.0, round.pool_size))
        .collect();
    assert_eq!(rounds, [(1, 3), (2, 5)]);
    assert_eq!(
        (run.calls[0].model.as_str(), run.calls[0].tokens),
        ("m", [0, 10])
    );
    assert_eq!(
        (run.messages[3].round.0, run.messages[3].call),
        (2, Some(2))
    );

    let mut altered = log();
    altered[4]["messages_added"] = json!(2);
    Transcript::read_legacy(text(&altered).as_bytes(), INIT).unwrap_err();
    let first = |journal: &str| is_legacy(journal.lines().next().unwrap());
    assert!(first(&journal));
    assert!(!first(
        "{\"type\":\"experiment_start\",\"schema_version\":1}"
    ));
    assert!(!first("{\"type\":\"round_start\"}") && !first("hello"));
}

#[test]
fn an_altered_one_is_rejected_with_line_and_field() {
    for (event, pointer, value, line, field) in [
        (0, "/num_seed_messages", json!(3), 1, "num_seed_messages"),
        (0, "/init_signature", json!("~other"), 1, "init_signature"),
        (1, "/pool_size", json!(3), 2, "pool_size"),
        (2, "/thinking", json!("hmm"), 3, "thinking"),
        (2, "/transmitted/0", json!("hello"), 3, "transmitted"),
        (2, "/signature", json!("~bob"), 3, "signature"),
        (
            2,
            "/raw_output",
            json!("hm\n---\nhullo\n---\n\n---\n~ann\n"),
            3,
            "transmitted",
        ),
        (
            2,
            "/input_messages/0",
            json!("never sent"),
            3,
            "input_messages",
        ),
        (3, "/completed", json!(true), 4, "completed"),
        (4, "/messages_added", json!(2), 5, "messages_added"),
        (4, "/pool_delta", json!([]), 5, "pool_delta"),
        (5, "/active_pool_size", json!(3), 6, "active_pool_size"),
        (5, "/round", json!(3), 6, "round"),
        // The first seed has left the two messages that can be seen.
        (
            6,
            "/input_messages/1",
            json!("first seed\n\n~init"),
            7,
            "input_messages",
        ),
        (
            7,
            "/input_messages",
            json!(["b"]),
            8,
            "the number of input_messages",
        ),
        (7, "/input_messages", json!(["b", "b"]), 8, "input_messages"),
        (9, "/total_rounds", json!(3), 10, "total_rounds"),
        (9, "/final_pool_size", json!(4), 10, "final_pool_size"),
        (9, "/total_tokens", json!(41), 10, "total_tokens"),
    ] {
        let mut log = log();
        *log[event].pointer_mut(pointer).unwrap() = value;
        match verify_legacy(text(&log).as_bytes(), INIT).unwrap_err() {
            LegacyError::Differs {
                line: at,
                field: name,
                ..
            } => {
                assert_eq!((at, name), (line, field));
            }
            other => panic!("{event}{pointer}: {other}"),
        }
    }
}

#[test]
fn events_that_are_missing_twice_or_torn_are_rejected() {
    for gone in [0, 1, 4] {
        let mut log = log();
        log.remove(gone);
        assert!(
            verify_legacy(text(&log).as_bytes(), INIT).is_err(),
            "{gone}"
        );
    }
    for twice in 0..10 {
        let mut log = log();
        log.insert(twice, log[twice].clone());
        assert!(
            verify_legacy(text(&log).as_bytes(), INIT).is_err(),
            "{twice}"
        );
    }
    let whole = text(&log());
    assert!(verify_legacy(&whole.as_bytes()[..whole.len() - 5], INIT).is_err());
    assert!(verify_legacy(&b""[..], INIT).is_err());
}
