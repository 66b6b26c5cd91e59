//! The one type of errors: its size, its classes, its causes.

use std::error::Error as StdError;
use std::io;
use std::sync::Arc;

use llm_client::{Cassette, Client, ConfigError, Error, ErrorClass, ErrorKind, LedgerFile};
use serde_json::json;

use crate::faults::{BOTH, KEY, Wire, hello, no_retries, request, skipping};
use crate::memory::{client, saying};

/// The error of the system that a chain of causes ends in.
fn system(error: &Error) -> &io::Error {
    let mut last = error.source().expect("a cause");
    while let Some(next) = last.source() {
        last = next;
    }
    last.downcast_ref().expect("an error of the system")
}

/// Every text of an error and of its causes.
fn texts(error: &Error) -> String {
    let mut text = format!("{error} {error:?} {}", error.message());
    let mut next = error.source();
    while let Some(cause) = next {
        text = format!("{text} {cause} {cause:?}");
        next = cause.source();
    }
    text
}

#[test]
fn an_error_is_one_pointer_wide_and_can_be_sent_to_another_thread() {
    fn sent<T: Send + Sync + 'static>() -> usize {
        size_of::<T>()
    }
    assert_eq!(sent::<Error>(), size_of::<usize>());
    assert_eq!(size_of::<Result<(), Error>>(), size_of::<usize>());
}

#[test]
fn every_class_is_its_word() {
    let words = [
        "auth",
        "quota",
        "model_unavailable",
        "rate_limit",
        "overloaded",
        "server",
        "bad_request",
        "network",
        "timeout",
        "bad_response",
        "budget",
        "price_unknown",
        "replay_miss",
        "cassette",
        "cancelled",
    ];
    for word in words {
        let class: ErrorClass = word.parse().unwrap();
        assert_eq!((class.as_str(), class.to_string()), (word, word.to_owned()));
        let json = serde_json::to_value(class).unwrap();
        assert_eq!(json, json!(word));
        assert_eq!(serde_json::from_value::<ErrorClass>(json).unwrap(), class);
    }
    for word in ["", "Auth", "rate-limit", "auth "] {
        let error = word.parse::<ErrorClass>().unwrap_err().to_string();
        assert!(error.ends_with("is not a class of errors"), "{error}");
    }
    let kind = ErrorKind::PriceUnknown { model: "m".into() };
    assert_eq!(Error::from(kind).class(), ErrorClass::PriceUnknown);
}

#[test]
fn a_server_that_waited_too_long_for_a_request_is_a_timeout() {
    let class = |status| {
        let kind = ErrorKind::Api {
            status,
            kind: None,
            code: None,
            message: String::new(),
            quota: false,
        };
        kind.class()
    };
    let classes = [400, 408, 500].map(class);
    let expected = [
        ErrorClass::BadRequest,
        ErrorClass::Timeout,
        ErrorClass::Server,
    ];
    assert_eq!(classes, expected);
}

#[test]
fn a_message_adds_the_causes_to_the_kind() {
    let error = Error::protocol("two ends")
        .with_source(Error::bad_response("it is cut").with_source("no brace"));
    assert_eq!(
        error.to_string(),
        "the server breaks the protocol: two ends"
    );
    assert_eq!(
        error.message(),
        "the server breaks the protocol: two ends: the reply cannot be read: it is cut: no brace"
    );
}

#[test]
fn the_cause_of_a_missing_cassette_is_that_it_is_not_found() {
    let path = "no/such/tape.jsonl";
    let counted = Cassette::new(path).calls().unwrap_err();
    let provider = Wire::Anthropic.provider_at("http://127.0.0.1:1");
    let builder = Client::builder(provider, Arc::new(skipping()));
    let Err(ConfigError::Cassette(opened)) = builder.replay(Cassette::new(path)).build() else {
        panic!("it was opened")
    };
    for error in [counted, opened] {
        let source = error.source().and_then(<dyn StdError>::downcast_ref);
        let source: &io::Error = source.unwrap();
        assert_eq!(source.kind(), io::ErrorKind::NotFound);
        assert_eq!(error.class(), ErrorClass::Cassette);
        assert_eq!(error.to_string(), format!("cassette: cannot read {path}"));
        assert_eq!(error.message(), format!("{error}: {source}"));
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_cause_of_a_recording_on_a_full_disk_is_that_it_is_full() {
    for wire in BOTH {
        let transport = saying(wire, &hello());
        let client = client(wire, &transport, &skipping()).record(Cassette::new("/dev/full"));
        let error = client
            .build()
            .unwrap()
            .complete(&request())
            .await
            .unwrap_err();
        let source = error.source().and_then(<dyn StdError>::downcast_ref);
        let source: &io::Error = source.unwrap();
        assert_eq!(source.kind(), io::ErrorKind::StorageFull);
        assert_eq!(
            error.to_string(),
            "cassette: cannot write the recorded attempt"
        );
    }
}

#[test]
fn the_cause_of_a_ledger_that_cannot_be_read_is_of_the_system() {
    let folder = tempfile::tempdir().unwrap();
    let error = LedgerFile::new(folder.path()).spent().unwrap_err();
    assert_eq!(system(&error).kind(), io::ErrorKind::IsADirectory);
    assert!(error.to_string().ends_with("cannot be read"), "{error}");
}

#[tokio::test]
async fn the_cause_of_a_refused_connection_is_of_the_system_and_shows_neither_address_nor_key() {
    let (closed, _socket) = test_support::closed_port();
    for wire in BOTH {
        let provider = wire.provider_at(&format!("http://{closed}"));
        let client = Client::builder(provider, Arc::new(skipping())).retry(no_retries());
        let error = client
            .build()
            .unwrap()
            .complete(&request())
            .await
            .unwrap_err();
        assert_eq!(error.class(), ErrorClass::Network);
        assert_eq!(system(&error).kind(), io::ErrorKind::ConnectionRefused);
        assert_eq!(error.to_string(), "cannot connect");
        let message = error.message();
        let start = format!("cannot connect: {closed}: ");
        assert!(message.starts_with(&start), "{message}");
        let shown = texts(&error);
        assert!(!shown.contains(KEY) && !shown.contains("/v1/"), "{shown}");
    }
}
