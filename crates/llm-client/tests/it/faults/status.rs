//! Rows 1 to 10: errors that a server tells of, and how long to wait.

use llm_client::{Clock as _, Error, ErrorKind};
use serde_json::json;

use super::*;

/// Two attempts: `first`, then a reply. Gives the clock after them.
async fn once_then_ok(wire: Wire, first: Answer, clock: FakeClock) -> (FakeClock, Reply) {
    let server = FaultServer::replies([first, wire.whole(&hello())]);
    let client = wire.client(&server, &clock).build().unwrap();
    let reply = client.complete(&request()).await.unwrap();
    assert_eq!(server.requests().len(), 2, "{wire:?}");
    assert_eq!(reply.attempts.len(), 2, "{wire:?}");
    assert_eq!(reply.attempts[1].wait, clock.elapsed());
    let requests = server.requests();
    assert_eq!(requests[0].header("x-retry-count"), None);
    assert_eq!(requests[1].header("x-retry-count"), Some("1"));
    assert_eq!(requests[0].body, requests[1].body);
    (clock, reply)
}

/// The outcome when the server gives this answer for ever, and how many requests it got.
async fn always(wire: Wire, answer: Answer) -> (Error, usize, FakeClock) {
    let clock = skipping();
    let server = FaultServer::replies([answer]);
    let client = wire.client(&server, &clock).build().unwrap();
    let error = client.complete(&request()).await.unwrap_err();
    let sent = server.requests().len();
    assert_eq!(error.attempts().len(), sent, "{error:?}");
    (error, sent, clock)
}

fn limited(wire: Wire) -> Answer {
    Answer::json(429, wire.error("rate_limit_error"))
}

#[tokio::test]
async fn f01_a_429_is_waited_for_and_tried_again() {
    for wire in BOTH {
        let first = limited(wire).header("retry-after", "1");
        let (clock, reply) = once_then_ok(wire, first, skipping()).await;
        assert_waited(&clock, 1.0..=1.3);
        assert_eq!(reply.text(), "hello yourself");
        assert_eq!(reply.attempts[0].status, Some(429));
        assert_eq!(
            reply.attempts[0].class.map(llm_client::ErrorClass::as_str),
            Some("rate_limit")
        );
        assert_eq!(reply.attempts[1].class, None);
        assert_eq!((reply.attempts[0].n, reply.attempts[1].n), (1, 2));
    }
}

#[tokio::test]
async fn f02_milliseconds_win_over_seconds() {
    for wire in BOTH {
        let first = limited(wire)
            .header("retry-after", "9")
            .header("retry-after-ms", "250");
        let (clock, _) = once_then_ok(wire, first, skipping()).await;
        assert_waited(&clock, 0.25..=0.4);
    }
}

#[tokio::test]
async fn f03_a_date_is_read_against_the_clock_and_a_past_one_is_no_wish() {
    let wire = Wire::Anthropic;
    for (date, range) in [
        ("Sun, 22 Nov 2026 00:00:02 GMT", 2.0..=2.3),
        ("Sat, 21 Nov 2026 23:59:59 GMT", 0.05..=0.5),
    ] {
        let first = limited(wire).header("retry-after", date);
        let (clock, _) = once_then_ok(wire, first, skipping()).await;
        assert_waited(&clock, range);
    }
}

#[tokio::test]
async fn f04_nonsense_is_no_wish_and_a_wish_for_years_is_refused_at_once() {
    let wire = Wire::Anthropic;
    for nonsense in ["-1", "NaN", "-inf", "inf", "0", "soon"] {
        let first = limited(wire).header("retry-after", nonsense);
        let (clock, _) = once_then_ok(wire, first, skipping()).await;
        assert_waited(&clock, 0.05..=0.5);
    }
    let (error, sent, clock) = always(wire, limited(wire).header("retry-after", "1e9")).await;
    assert!(
        matches!(error.kind(), ErrorKind::RetryAfterTooLong { asked, .. } if asked.as_secs() == 1_000_000_000),
        "{error:?}"
    );
    assert_eq!((sent, error.class().as_str()), (1, "rate_limit"));
    assert_eq!(clock.elapsed(), Duration::ZERO);
}

#[tokio::test]
async fn f05_the_server_says_itself_whether_to_try_again() {
    for wire in BOTH {
        let (error, sent, _) = always(wire, limited(wire).header("x-should-retry", "false")).await;
        assert_eq!((sent, error.class().as_str()), (1, "rate_limit"));
        let first =
            Answer::json(400, wire.error("invalid_request_error")).header("x-should-retry", "true");
        once_then_ok(wire, first, skipping()).await;
    }
}

#[tokio::test]
async fn f06_a_spent_quota_is_not_tried_again_and_a_bare_429_once() {
    let spent = json!({"type": "error", "error": {
        "type": "rate_limit_error", "message": "m",
        "details": {"error_code": "workspace_spend_limit_reached"},
    }});
    let used_up = json!({"error": {"message": "m", "type": "insufficient_quota", "code": "insufficient_quota"}});
    for (wire, body) in [(Wire::Anthropic, spent), (Wire::Openai, used_up)] {
        let (error, sent, _) = always(wire, Answer::json(429, body.to_string())).await;
        assert!(
            matches!(error.kind(), ErrorKind::RateLimited { quota: true, .. }),
            "{error:?}"
        );
        assert_eq!((sent, error.class().as_str()), (1, "quota"));

        let (error, sent, _) = always(wire, limited(wire)).await;
        assert_eq!((sent, error.class().as_str()), (2, "rate_limit"));
    }
}

#[tokio::test]
async fn f07_an_overloaded_model_is_asked_three_times_and_its_error_names_every_step() {
    for wire in BOTH {
        let busy = Answer::json(529, wire.error("overloaded_error"));
        let (error, sent, _) = always(wire, busy).await;
        assert!(
            matches!(error.kind(), ErrorKind::Overloaded { .. }),
            "{error:?}"
        );
        let steps: Vec<_> = error.attempts().iter().map(|one| one.n).collect();
        assert_eq!((sent, steps), (3, vec![1, 2, 3]));
    }
}

#[tokio::test]
async fn f08_every_form_of_error_body_is_typed_keeps_its_status_and_hides_keys() {
    for wire in BOTH {
        let page = format!("<html>{KEY} {}</html>", "x".repeat(10_000));
        let (error, sent, _) = always(wire, Answer::whole(503, "text/html", page)).await;
        assert_eq!(
            (error.status(), error.class().as_str(), sent),
            (Some(503), "server", 3)
        );
        let shown = format!("{error} {error:?}");
        assert!(!shown.contains(KEY), "{shown}");
        let ErrorKind::Api { message, .. } = error.kind() else {
            panic!("{error:?}")
        };
        assert!(
            message.starts_with("<html>") && message.len() <= 2048,
            "{}",
            message.len()
        );

        let (error, sent, _) = always(wire, Answer::whole(502, "text/plain", "")).await;
        assert_eq!(
            (error.status(), error.class().as_str(), sent),
            (Some(502), "server", 3)
        );

        for (status, body, expected) in [
            (422, json!({"detail": "not like this"}), "not like this"),
            (400, json!({"error": "plain words"}), "plain words"),
            (
                418,
                json!({"error": {"message": "a number", "code": 1234}}),
                "a number",
            ),
        ] {
            let (error, sent, _) = always(wire, Answer::json(status, body.to_string())).await;
            assert_eq!(
                (error.status(), error.class().as_str(), sent),
                (Some(status), "bad_request", 1)
            );
            let ErrorKind::Api { message, code, .. } = error.kind() else {
                panic!("{error:?}")
            };
            assert_eq!(message, expected);
            assert_eq!(code.as_deref(), (status == 418).then_some("1234"));
        }
    }
}

#[tokio::test]
async fn f09_an_error_inside_a_200_counts_as_its_code() {
    for wire in BOTH {
        for (error, status, class, requests) in [
            (json!({"message": "m", "code": 502}), 502, "server", 3),
            (json!({"message": "m", "code": "503"}), 503, "server", 3),
            (json!({"message": "m", "code": 400}), 400, "bad_request", 1),
            (
                json!({"message": "m", "type": "overloaded_error"}),
                529,
                "overloaded",
                3,
            ),
            (
                json!({"message": "m", "type": "rate_limit_error"}),
                429,
                "rate_limit",
                2,
            ),
            (
                json!({"message": "m", "type": "api_error"}),
                500,
                "server",
                3,
            ),
            (
                json!({"message": "m", "type": "invalid_request_error"}),
                400,
                "bad_request",
                1,
            ),
        ] {
            let body = json!({"error": error}).to_string();
            let (failed, sent, _) = always(wire, Answer::json(200, body.clone())).await;
            let found = (failed.status(), failed.class().as_str(), sent);
            assert_eq!(found, (Some(status), class, requests), "{wire:?} {body}");
        }
        let (error, sent, _) =
            always(wire, Answer::json(200, r#"{"error":{"message":"m"}}"#)).await;
        assert!(
            matches!(error.kind(), ErrorKind::BadResponse { .. }),
            "{error:?}"
        );
        assert_eq!(sent, 2);
    }
}

#[tokio::test]
async fn f10_an_unreadable_200_is_tried_once_more_and_keeps_its_id() {
    for wire in BOTH {
        let mut cut = wire.json(&hello());
        cut.truncate(cut.len() / 2);
        for (kind, body) in [
            ("application/json", String::new()),
            ("text/html", "<html>maintenance</html>".into()),
            ("application/json", cut),
            ("application/json", "[]".into()),
        ] {
            let answer = Answer::whole(200, kind, body.clone()).header(wire.request_id(), "req_7");
            let (error, sent, _) = always(wire, answer).await;
            assert!(
                matches!(error.kind(), ErrorKind::BadResponse { .. }),
                "{wire:?} {body:?}: {error:?}"
            );
            assert_eq!(
                (sent, error.request_id()),
                (2, Some("req_7")),
                "{wire:?} {body:?}"
            );
        }
    }
}
