//! The file of calls: whatever its end looks like, what was whole is there and nothing else.

mod group;
mod keys;
mod resume;
mod sharing;

use std::fs;
use std::path::Path;
use std::sync::Arc;

use llm_types::ErrorClass;
use zer0gravity_engine::FailureKind;
use zer0gravity_engine::model::{
    CallFacts, CountRequest, Endpoint, ModelError, ModelLabel, TokenCount,
};
use zer0gravity_engine::store::{
    CallKey, CallRecord, CallStore as _, JsonlStore, StoreError, StoredAnswer,
};

fn count(text: &str, answer: StoredAnswer) -> Arc<CallRecord> {
    let label = ModelLabel::new("anthropic", "127.0.0.1:1");
    let request = CountRequest::new("m", text);
    Arc::new(CallRecord::new(
        CallKey::of_count(&request, &label),
        Endpoint::CountTokens,
        "m",
        answer,
    ))
}

fn counted(text: &str, tokens: u64) -> Arc<CallRecord> {
    let call = CallFacts::default().attempts(1);
    count(
        text,
        StoredAnswer::Count(TokenCount::new(tokens).call(call)),
    )
}

fn write(path: &Path, records: &[Arc<CallRecord>]) -> Vec<u8> {
    let (mut store, torn) = JsonlStore::open(path).unwrap();
    assert_eq!(torn, None);
    store.append(records).unwrap();
    fs::read(path).unwrap()
}

#[test]
fn cut_at_every_byte_of_the_last_record_the_others_stay() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.jsonl");
    let (first, last) = (counted("öne", 1), counted("zwei — „drei“", 2));
    let before = write(&path, std::slice::from_ref(&first));
    let whole = write(&path, std::slice::from_ref(&last));
    for end in before.len()..whole.len() {
        fs::write(&path, &whole[..end]).unwrap();
        let (mut store, torn) = JsonlStore::open(&path).unwrap();
        let torn = torn.map(|torn| (torn.line, torn.bytes));
        let expected = (end > before.len()).then_some((2, end - before.len()));
        assert_eq!(torn, expected, "{end}");
        assert_eq!(
            store.get(&first.key).unwrap().as_ref(),
            Some(&first),
            "{end}"
        );
        assert_eq!(store.get(&last.key).unwrap(), None, "{end}");
        assert_eq!(fs::read(&path).unwrap(), before, "{end}");
        store.append(std::slice::from_ref(&last)).unwrap();
        assert_eq!(fs::read(&path).unwrap(), whole, "{end}");
    }
    let (store, torn) = JsonlStore::open(&path).unwrap();
    assert_eq!((store.get(&last.key).unwrap(), torn), (Some(last), None));
}

#[test]
fn damage_elsewhere_is_named_and_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.jsonl");
    let whole = write(&path, &[counted("a", 1), counted("b", 2), counted("c", 3)]);
    let line = whole.split_inclusive(|byte| *byte == b'\n').next().unwrap();
    let start = line.len();
    for at in start..start + line.len() - 1 {
        let mut damaged = whole.clone();
        // No JSON holds such a character, in a string or out of it.
        damaged[at] = 0;
        fs::write(&path, &damaged).unwrap();
        match JsonlStore::open(&path) {
            Err(StoreError::BadLine { line: 2, .. }) => {}
            other => panic!("byte {at}: {other:?}"),
        }
        assert_eq!(fs::read(&path).unwrap(), damaged);
    }
}

#[test]
fn another_version_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.jsonl");
    let text = String::from_utf8(write(&path, &[counted("a", 1)])).unwrap();
    let newer = text.replace("\"schema_version\":1", "\"schema_version\":2");
    assert_ne!(newer, text);
    fs::write(&path, newer).unwrap();
    let error = JsonlStore::open(&path).unwrap_err();
    assert!(
        matches!(error, StoreError::SchemaVersion { found: 2, .. }),
        "{error}"
    );
}

#[test]
fn failed_calls_are_kept_and_not_given() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.jsonl");
    let failed = count(
        "a",
        StoredAnswer::Error(ModelError::unsent(ErrorClass::Network, "no route")),
    );
    let bytes = write(&path, std::slice::from_ref(&failed));
    assert!(String::from_utf8(bytes).unwrap().contains("no route"));
    let (mut store, _) = JsonlStore::open(&path).unwrap();
    assert_eq!(store.get(&failed.key).unwrap(), None);
    // Asked again, it has an answer, before and after it is read anew.
    let answered = counted("a", 3);
    store.append(std::slice::from_ref(&answered)).unwrap();
    assert_eq!(store.get(&failed.key).unwrap(), Some(answered.clone()));
    drop(store);
    let (store, _) = JsonlStore::open(&path).unwrap();
    assert_eq!(store.get(&failed.key).unwrap(), Some(answered));
}

#[test]
fn z20_every_kind_of_failure_has_one_word_and_an_unknown_word_is_named() {
    let own = [
        "interrupted",
        "store",
        "unsupported_offline",
        "estimate",
        "rescore",
        "temperature_refused",
    ];
    let classes = ErrorClass::ALL.iter().map(|class| class.as_str());
    for word in own.into_iter().chain(classes) {
        let kind: FailureKind = serde_json::from_value(word.into()).unwrap();
        assert_eq!(serde_json::to_value(kind).unwrap(), word);
        // An own word is no class: the two cannot be confused in a file.
        assert_eq!(own.contains(&word), word.parse::<ErrorClass>().is_err());
    }
    let newer = serde_json::from_value::<FailureKind>("gremlins".into());
    assert!(newer.unwrap_err().to_string().contains("gremlins"));
}

#[test]
fn a_call_that_another_program_changed_is_an_error_and_not_another_call() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.jsonl");
    let (first, second) = (counted("a", 1), counted("b", 2));
    let whole = write(&path, &[first.clone(), second.clone()]);
    let (store, _) = JsonlStore::open(&path).unwrap();
    let length = whole.len() / 2;
    for (changed, message) in [
        (
            &[&whole[length..], &whole[length..]].concat(),
            "it is another call",
        ),
        (&vec![b'x'; whole.len()], "expected value"),
        (&Vec::new(), "EOF"),
    ] {
        fs::write(&path, changed).unwrap();
        let error = store.get(&first.key).unwrap_err();
        assert!(matches!(error, StoreError::Changed { offset: 0, .. }));
        assert!(error.to_string().contains(message), "{error}");
    }
    fs::write(&path, &whole).unwrap();
    assert_eq!(store.get(&first.key).unwrap(), Some(first));
    assert_eq!(store.get(&second.key).unwrap(), Some(second));
}
