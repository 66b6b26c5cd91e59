//! Settings that `resume` accepts are settings that `verify` accepts.

use std::collections::BTreeMap;

use logosphere_core::config::Scheduling;
use logosphere_core::journal::{MemJournal, RunResumed};
use logosphere_core::verify::{ResumedRun, verify};
use logosphere_core::{Orchestrator, RunControl, Settings};
use serde_json::{Value, json};

use crate::desk;

/// Resumes a journal that was cut in its first round with one changed setting; the journal if the run resumed.
fn resume_with(setting: &str, new: &Value) -> Result<Vec<u8>, String> {
    let settings = desk::settings(Scheduling::Sequential);
    let mind = desk::mind(&settings);
    let (_, whole) = desk::run(&settings, desk::mind(&settings));
    let cut: Vec<u8> = whole
        .split_inclusive(|byte| *byte == b'\n')
        .take(3)
        .flatten()
        .copied()
        .collect();
    let resumption = ResumedRun::read(&cut[..]).unwrap();
    let old = serde_json::to_value(&settings).unwrap();
    // A setting that has no value is not in the journal.
    let old = old
        .pointer(&format!("/{}", setting.replace('.', "/")))
        .unwrap_or(&Value::Null);
    let changed = BTreeMap::from([(setting.to_owned(), [old.clone(), new.clone()])]);
    let resumed = RunResumed::new("test", changed);
    let journal = MemJournal::resumed(&cut, resumption.lines, &resumption.chain);
    let clock = desk::Ticking::default();
    Orchestrator::resume(
        resumption,
        resumed,
        mind,
        journal,
        clock,
        RunControl::default(),
    )
    .map(|run| run.into_journal().bytes)
    .map_err(|error| error.to_string())
}

#[test]
fn l02_resume_accepts_a_setting_if_and_only_if_verify_holds_afterwards() {
    let whole = u32::MAX;
    let values: [(&str, Vec<Value>, Vec<Value>); 15] = [
        (
            "max_rounds",
            vec![json!(0), json!(1), json!(whole)],
            vec![json!(-1), json!(u64::from(whole) + 1)],
        ),
        (
            "stop.silence_rounds",
            vec![json!(null), json!(0), json!(1), json!(whole)],
            vec![json!(-1), json!(u64::from(whole) + 1)],
        ),
        (
            "stop.loss_above",
            vec![json!(null), json!(0.0), json!(0.01), json!(1.0)],
            vec![json!(-0.01), json!(1.01), json!(50.0)],
        ),
        (
            "stop.fixed_pool",
            vec![json!(false), json!(true)],
            vec![json!(1)],
        ),
        (
            "caps.max_usd",
            vec![json!(0.0), json!(0.01), json!(1e9)],
            vec![json!(-0.01), json!(1.1e9)],
        ),
        (
            "caps.max_tokens",
            vec![json!(0), json!(1), json!(u64::MAX)],
            vec![json!(-1)],
        ),
        (
            "caps.max_wall",
            vec![json!(0), json!(1), json!(u64::MAX)],
            vec![json!(-1)],
        ),
        (
            "concurrency",
            vec![json!(1), json!(2), json!(999), json!(1000)],
            vec![json!(0), json!(1001), json!(5000)],
        ),
        ("durability", vec![json!("flush")], vec![json!("later")]),
        (
            "api_base_url",
            vec![],
            vec![json!("http://127.0.0.1:1/v1"), json!("nonsense")],
        ),
        (
            "on_error",
            vec![json!("skip"), json!("stop"), json!("wait")],
            vec![json!("hope")],
        ),
        (
            "call_timeout",
            vec![json!(1), json!(3600)],
            vec![json!(0), json!(3601), json!(-1)],
        ),
        (
            "first_byte_timeout",
            vec![json!(0), json!(1), json!(3600)],
            vec![json!(3601), json!(-1)],
        ),
        (
            "retries",
            vec![json!(0), json!(20)],
            vec![json!(21), json!(-1), json!({"a": 1})],
        ),
        (
            "retry_wait",
            vec![json!(0), json!(3600)],
            vec![json!(3601), json!("long")],
        ),
    ];
    for name in Settings::CHANGEABLE.iter().copied() {
        assert!(
            values
                .iter()
                .any(|(setting, ..)| setting.split('.').next() == Some(name)),
            "{name}"
        );
    }
    for (setting, good, bad) in values {
        for new in good {
            let journal = resume_with(setting, &new).unwrap();
            verify(&journal[..]).unwrap_or_else(|error| panic!("{setting} {new}: {error:?}"));
        }
        for new in bad {
            assert!(resume_with(setting, &new).is_err(), "{setting} {new}");
        }
    }
}

#[test]
fn l02_a_refused_setting_is_refused_in_the_words_of_a_configuration() {
    for (setting, new, words) in [
        (
            "concurrency",
            json!(5000),
            "concurrency: expected a whole number from 1 to 1000, found 5000",
        ),
        (
            "call_timeout",
            json!(0),
            "call_timeout: expected a whole number from 1 to 3600, found 0",
        ),
        (
            "retries",
            json!(21),
            "retries: expected a whole number from 0 to 20, found 21",
        ),
    ] {
        assert_eq!(resume_with(setting, &new).unwrap_err(), words);
    }
}

#[test]
fn a_setting_that_decides_what_is_in_the_pool_cannot_change() {
    for setting in [
        "max_messages",
        "max_message_chars",
        "retries.x",
        "k_samples",
    ] {
        assert!(resume_with(setting, &json!(3)).is_err(), "{setting}");
    }
}
