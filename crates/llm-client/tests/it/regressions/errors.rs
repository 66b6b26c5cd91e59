//! The messages of errors.

use llm_client::{Error, ErrorKind};

use crate::faults::{BOTH, Wire, no_retries, request, skipping};
use crate::memory::{client, json, server};

/// The error of a call that a server answers with this, once.
async fn error(wire: Wire, status: u16, headers: &[(&str, &str)], body: &str) -> Error {
    let headers: Vec<_> = headers
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    let body = body.to_owned();
    let transport = server(move |_| {
        let mut answer = json(status, body.clone());
        answer.headers.extend(headers.clone());
        Ok(answer)
    });
    let client = client(wire, &transport, &skipping()).retry(no_retries());
    let asked = request().model("claude-opus-5-5".into());
    client.build().unwrap().complete(&asked).await.unwrap_err()
}

#[tokio::test]
async fn c21_a_404_keeps_what_the_server_says() {
    let body = r#"{"error":{"message":"No endpoints found\n that support tool use"}}"#;
    for wire in BOTH {
        let error = error(wire, 404, &[], body).await;
        assert_eq!(error.class().as_str(), "model_unavailable");
        let text = error.to_string();
        let said = "; the server says: No endpoints found that support tool use";
        assert!(text.ends_with(said), "{text}");
        // The table of Anthropic's models knows this one as served: there is nothing else to suggest.
        assert!(wire == Wire::Openai || !text.contains("active:"), "{text}");
    }
}

#[tokio::test]
async fn c21_the_servers_words_are_short_and_hold_no_key() {
    let long = "word ".repeat(200);
    let body = format!(
        r#"{{"error":{{"message":"model {} {long}"}}}}"#,
        crate::faults::KEY
    );
    let error = error(Wire::Openai, 404, &[], &body).await;
    let ErrorKind::ModelUnavailable(model) = error.kind() else {
        panic!("{error:?}")
    };
    assert_eq!(model.message.chars().count(), 300);
    assert!(
        model.message.starts_with("model [redacted] word"),
        "{error}"
    );
}

#[tokio::test]
async fn c27_a_redirect_names_the_host_that_is_not_asked() {
    for wire in BOTH {
        for (location, shown) in [
            (
                "https://me:word@other.test:8443/v1?key=word",
                "HTTP 307: redirected to https://other.test:8443, which is not followed",
            ),
            ("/elsewhere", "HTTP 307: redirected, which is not followed"),
        ] {
            let error = error(wire, 307, &[("location", location)], "").await;
            assert_eq!(error.to_string(), shown, "{wire:?}");
        }
    }
}

#[tokio::test]
async fn c27_a_code_that_is_the_status_is_not_said_twice() {
    let body = r#"{"error":{"code":502,"message":"upstream failed"}}"#;
    for wire in BOTH {
        for status in [200, 502] {
            let error = error(wire, status, &[], body).await;
            assert_eq!(error.to_string(), "HTTP 502: upstream failed", "{wire:?}");
        }
    }
}
