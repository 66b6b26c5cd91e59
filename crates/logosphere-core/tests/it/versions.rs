//! Journals of version 1 are read by the rules of version 1, new ones by those of version 2.

use std::fmt::Write as _;

use logosphere_core::config::Scheduling;
use logosphere_core::format::{is_signature, parse};
use logosphere_core::verify::verify;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::desk::{self, Saying};

/// A run of minds that always say this, with the version of its journal.
fn run(said: &'static str) -> Vec<u8> {
    desk::run(&desk::settings(Scheduling::Sequential), Saying(said)).1
}

/// The journal with another `schema_version`, its chain made again.
fn with_version(journal: &[u8], version: u32) -> Vec<u8> {
    let text = String::from_utf8(journal.to_vec()).unwrap();
    let text = text.replacen(
        "\"schema_version\":2,\"run_id\"",
        &format!("\"schema_version\":{version},\"run_id\""),
        1,
    );
    let mut chain = desk::lines(journal)[0]["run_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let mut again = String::new();
    for line in text.lines() {
        let (body, _) = line.rsplit_once(",\"chain\":").unwrap();
        let digest = Sha256::digest(format!("{chain}{body}"));
        chain.clear();
        for byte in digest.iter().take(16) {
            let _ = write!(chain, "{byte:02x}");
        }
        let _ = writeln!(again, "{body},\"chain\":\"{chain}\"}}");
    }
    again.into_bytes()
}

fn calls(journal: &[u8]) -> Vec<Value> {
    let mut lines = desk::lines(journal);
    lines.retain(|line| line["type"] == "mind_invocation");
    lines
}

const HIDDEN: &str = "t\n---\na message\n---\n\n---\n~\u{202e}sig\n";

#[test]
fn l13_a_signature_has_no_invisible_character() {
    for char in [
        '\u{ad}',
        '\u{200b}',
        '\u{200e}',
        '\u{202e}',
        '\u{2066}',
        '\u{2028}',
        '\u{2029}',
        '\u{feff}',
        '\u{7f}',
        '\u{e0041}',
        '\u{1d173}',
        '\u{61c}',
        '\u{fff9}',
    ] {
        assert!(!is_signature(&format!("~{char}sig")), "{char:?}");
    }
    for text in ["~init", "~ann lee", "~\u{e9}", "~\u{1f600}", "~\u{a0}x"] {
        assert!(is_signature(text), "{text:?}");
    }
    let parsed = parse(HIDDEN, logosphere_core::format::ParseMode::Lenient);
    assert_eq!(
        (parsed.messages, parsed.signature),
        (vec!["a message".to_owned()], String::new())
    );
    assert_eq!(parsed.notes, [logosphere_core::format::Note::TextAfterEnd]);
    for call in calls(&run(HIDDEN)) {
        assert_eq!(call["transmitted"][0], "a message");
        assert_eq!(
            (&call["signature"], &call["parse"]["notes"][0]),
            (&"".into(), &"text_after_end".into())
        );
    }
}

#[test]
fn l23_new_journals_have_version_2_and_each_version_verifies_by_its_rules() {
    let new = run(HIDDEN);
    assert_eq!(desk::lines(&new)[0]["schema_version"], 2);
    verify(&new[..]).unwrap();
    // The same events are not those of a run of version 1: there the signature is one, and `finish_raw` is absent.
    let error = verify(&with_version(&new, 1)[..]).unwrap_err();
    assert!(error.to_string().contains("line 3"), "{error}");
    let error = verify(&with_version(&new, 3)[..]).unwrap_err();
    let words = "schema_version 3 is newer than this program";
    assert!(error.to_string().contains(words), "{error}");
    // None was ever before the first.
    let error = verify(&with_version(&new, 0)[..]).unwrap_err();
    let words = "schema_version 0 is unknown to this program, which reads 1 to 2";
    assert!(error.to_string().contains(words), "{error}");
}

#[test]
fn l23_a_run_of_version_1_resumes_as_version_1() {
    let path = test_support::fixture("logosphere/journals/sequential.jsonl");
    let old = std::fs::read(path).unwrap();
    assert_eq!(desk::lines(&old)[0]["schema_version"], 1);
    let whole = calls(&old).len();
    let cut: Vec<u8> = old
        .split_inclusive(|byte| *byte == b'\n')
        .take(5)
        .flatten()
        .copied()
        .collect();
    let (_, resumed) = desk::resume(&cut, Vec::new(), Saying(HIDDEN));
    verify(&resumed[..]).unwrap();
    let calls = calls(&resumed);
    assert_eq!(calls.len(), whole);
    let last = calls.last().unwrap();
    assert_eq!(last["signature"], "~\u{202e}sig");
    assert!(last.get("finish_raw").is_none());
    assert_eq!(last["parse"]["lost_blocks"], 0);
}
