//! The table of error replies, driven through the providers: which error each of them is.

use std::time::Duration;

use futures_util::FutureExt as _;
use llm_client::provider::Provider;
use llm_client::{Anthropic, Auth, Compat, Dialect, Endpoint, Error, ErrorKind, Request};
use serde_json::Value;

use crate::wire::{Answer, CannedReply, fixture, send, stream_of};

fn provider(name: &str) -> Box<dyn Provider> {
    let endpoint = Endpoint::new("https://host.test/v1", Auth::Bearer("k".into())).unwrap();
    match name {
        "anthropic" => Box::new(Anthropic::new(endpoint)),
        "openai" => Box::new(Compat::new(endpoint, Dialect::openai())),
        "openrouter" => Box::new(Compat::new(endpoint, Dialect::openrouter())),
        other => panic!("unknown provider {other}"),
    }
}

fn answer(case: &Value) -> Answer {
    let body = match &case["body"] {
        Value::String(text) => text.clone(),
        json => json.to_string(),
    };
    let headers = case["headers"].as_object().unwrap();
    Answer {
        status: case["status"].as_u64().unwrap() as u16,
        headers: headers
            .iter()
            .map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned()))
            .collect(),
        chunks: vec![body.into()],
    }
}

fn kind(error: &Error) -> &'static str {
    match error.kind() {
        ErrorKind::Api { .. } => "Api",
        ErrorKind::Auth { .. } => "Auth",
        ErrorKind::ModelUnavailable(_) => "ModelUnavailable",
        ErrorKind::RateLimited { .. } => "RateLimited",
        ErrorKind::Overloaded { .. } => "Overloaded",
        ErrorKind::BadResponse { .. } => "BadResponse",
        _ => "another",
    }
}

/// A plain call, then a stream: a server answers both with the same error.
fn errors(case: &Value) -> [Error; 2] {
    let provider = provider(case["provider"].as_str().unwrap());
    [false, true].map(|streams| {
        let transport = CannedReply::new([answer(case)]);
        let request = Request::new("some-model", "x");
        if streams {
            stream_of(&*provider, &request, &transport)
                .now_or_never()
                .unwrap()
                .unwrap_err()
        } else {
            send(&*provider, &request, &transport)
                .now_or_never()
                .unwrap()
                .unwrap_err()
        }
    })
}

fn check(case: &Value) {
    let (name, expect) = (&case["name"], &case["expect"]);
    for error in errors(case) {
        // Whether a wish is too long is for the retry layer, which knows the policy.
        let wanted = match expect["kind"].as_str().unwrap() {
            "RetryAfterTooLong" => "RateLimited",
            kind => kind,
        };
        assert_eq!(kind(&error), wanted, "{name}: {error:?}");
        let status = expect["effective_status"]
            .as_u64()
            .or(case["status"].as_u64());
        assert_eq!(error.status().map(u64::from), status, "{name}");
        let quota = expect["quota"].as_bool().unwrap_or(false);
        // A bill that is not paid is a quota too; the table is silent about it.
        if name != "an_402" {
            assert_eq!(error.class().as_str() == "quota", quota, "{name}");
        }
        // A date is reckoned by the client, which has a clock.
        let number = |header: &str, unit: f64| {
            let number: f64 = case["headers"][header].as_str()?.parse().ok()?;
            (number > 0.0).then(|| Duration::from_secs_f64(number * unit))
        };
        let asked = number("retry-after-ms", 0.001).or_else(|| number("retry-after", 1.0));
        assert_eq!(error.retry_after(), asked, "{name}");
        if let Some(id) = case["body"]["request_id"].as_str() {
            assert_eq!(error.request_id(), Some(id), "{name}");
        }
        if let ErrorKind::ModelUnavailable(model) = error.kind() {
            assert_eq!(model.model, "some-model", "{name}");
            assert_eq!(model.provider, case["provider"].as_str().unwrap(), "{name}");
        }
    }
}

#[test]
fn every_row_of_the_table_is_the_error_it_says_in_both_forms_of_a_call() {
    let table: Value = serde_json::from_str(&fixture("error_cases.json")).unwrap();
    table["cases"].as_array().unwrap().iter().for_each(check);
}
