use proptest::prelude::*;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng as _;
use serde_json::Value;

use super::*;
use crate::codec::{RequestContext, error_body};
use crate::error::TimeoutPhase;
use crate::redact::Redactor;

const NOON: &str = "2026-11-21T12:00:00Z";

fn time(text: &str) -> SystemTime {
    text.parse::<jiff::Timestamp>().unwrap().into()
}

/// The error of a row of the table.
fn error_of(case: &Value) -> Error {
    let provider = case["provider"].as_str().unwrap();
    let mut asked = RequestContext::new(provider, "m", &Redactor::default());
    asked.moderates = provider == "openrouter";
    asked.headers = case["headers"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned()))
        .collect();
    let body = match &case["body"] {
        Value::String(text) => text.clone(),
        json => json.to_string(),
    };
    match case["status"].as_u64().unwrap() as u16 {
        200 if case["body"]["error"].is_object() => {
            let object = case["body"]["error"].to_string();
            error_body::from_object(&asked, serde_json::from_str(&object).unwrap())
        }
        200 => Error::bad_response(body),
        status => error_body::from_response(&asked, status, body.as_bytes()),
    }
}

fn check(case: &Value) {
    let expect = &case["expect"];
    let error = error_of(case);
    let clock = time(expect["clock"].as_str().unwrap_or(NOON));
    let decision = decide(&error, &RetryPolicy::default(), clock);
    let name = &case["name"];

    let kind = if let Decision::TooLong(asked) = decision {
        assert_eq!(Some(asked.as_secs()), expect["asked_s"].as_u64(), "{name}");
        "RetryAfterTooLong".to_owned()
    } else {
        let kind = format!("{:?}", error.kind());
        kind.split([' ', '(']).next().unwrap().to_owned()
    };
    assert_eq!(kind, expect["kind"].as_str().unwrap(), "{name}");
    let Decision::Retry { wait, max_attempts } = decision else {
        assert_eq!(expect["retry"], false, "{name}: {decision:?}");
        return;
    };
    assert_eq!(expect["retry"], true, "{name}: {decision:?}");
    let wanted = match expect["wait_s"].as_f64() {
        Some(seconds) => Wait::Server(Duration::from_secs_f64(seconds)),
        None => Wait::Backoff,
    };
    assert_eq!(wait, wanted, "{name}");
    let most = expect["max_attempts"].as_u64().map(|most| most as u32);
    assert_eq!(max_attempts, most, "{name}");
}

#[test]
fn every_row_of_the_table_is_decided_as_it_says() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fixtures/llm-client/vectors/error_cases.json"
    );
    let table: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let cases = table["cases"].as_array().unwrap();
    assert!(cases.len() > 40);
    cases.iter().for_each(check);
}

fn decided(error: &Error) -> Decision {
    decide(error, &RetryPolicy::default(), time(NOON))
}

#[test]
fn what_never_reached_a_server_is_not_tried_again_unless_the_way_there_failed() {
    let again = Decision::Retry {
        wait: Wait::Backoff,
        max_attempts: None,
    };
    for phase in [
        ConnectPhase::Connect,
        ConnectPhase::Send,
        ConnectPhase::Body,
    ] {
        assert_eq!(decided(&Error::connect(phase, "x")), again);
    }
    assert_eq!(
        decided(&Error::timeout(TimeoutPhase::Idle, Duration::ZERO)),
        again
    );
    for error in [
        Error::connect(ConnectPhase::Trust, "x"),
        Error::refused("x", "y"),
        Error::protocol("x"),
        Error::too_large("reply", 1),
        Error::cassette(None, "x"),
    ] {
        assert_eq!(decided(&error), Decision::Stop, "{error}");
    }
}

#[test]
fn a_wish_that_no_clock_can_hold_is_too_long_and_one_below_a_nanosecond_is_none() {
    let wish = |ms: &str, after: &str| {
        let wish = RetryHeaders {
            should_retry: None,
            retry_after_ms: Some(ms.into()),
            retry_after: Some(after.into()),
        };
        requested_wait(&wish, time(NOON))
    };
    assert_eq!(wish("1e300", ""), Some(Duration::MAX));
    assert_eq!(wish("1e-300", "1"), None);
    assert_eq!(wish("inf", "2"), Some(Duration::from_secs(2)));
    let far = wish("-1", "Fri, 31 Dec 9999 23:59:59 GMT").unwrap();
    assert!(far > Duration::from_secs(1 << 30));
    assert_eq!(wish("", "Sat, 21 Nov 2026 12:00:00 GMT"), None);
}

#[test]
fn waits_are_the_same_for_the_same_seed() {
    let waits = |seed| {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        (0..5)
            .map(|n| delay(Wait::Backoff, n, &RetryPolicy::default(), &mut rng))
            .collect::<Vec<_>>()
    };
    assert_eq!(waits(1), waits(1));
    assert_ne!(waits(1), waits(2));
}

proptest! {
    #[test]
    fn a_wait_lies_within_its_bounds(seed: u64, attempt: u32, asked: u64) {
        let policy = RetryPolicy::default();
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let backoff = delay(Wait::Backoff, attempt, &policy, &mut rng);
        let most = Duration::from_millis(500).saturating_mul(1 << attempt.min(4)).min(policy.ceiling);
        prop_assert!((policy.floor..=most).contains(&backoff));

        let asked = Duration::from_millis(asked);
        let waited = delay(Wait::Server(asked), attempt, &policy, &mut rng);
        let spread = (asked / 10).clamp(Duration::from_millis(100), Duration::from_secs(2));
        prop_assert!((asked..=asked + spread).contains(&waited));
    }

    #[test]
    fn a_policy_of_any_numbers_is_no_crash(base: Duration, ceiling: Duration, floor: Duration, attempt: u32, seed: u64) {
        let policy = RetryPolicy { base, ceiling, floor, ..RetryPolicy::default() };
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        prop_assert!(delay(Wait::Backoff, attempt, &policy, &mut rng) >= floor);
        prop_assert!(delay(Wait::Server(ceiling), attempt, &policy, &mut rng) >= ceiling);
    }

    #[test]
    fn headers_of_any_text_are_no_crash(ms in ".{0,20}", after in ".{0,40}", number: f64) {
        for (ms, after) in [(ms, after), (number.to_string(), number.to_string())] {
            let wish = RetryHeaders { should_retry: None, retry_after_ms: Some(ms), retry_after: Some(after) };
            let waits = requested_wait(&wish, time(NOON));
            prop_assert!(waits.is_none_or(|wait| !wait.is_zero()));
        }
    }
}
