//! Findings of a review in single calls: ends of streams, pauses, caps and waits.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{FutureExt as _, StreamExt as _, stream};
use llm_client::provider::HttpResponse;
use llm_client::{Budget, Client, Clock as _, ErrorKind, Event, Request, RetryPolicy, Usd};
use serde_json::json;
use test_support::{CannedReply, FakeClock, MemoryTransport};

use crate::faults::{BOTH, SECOND, Wire, hello, no_retries, request, skipping};
use crate::memory::{client, failed, nobody, server, streamed, whole};

/// A server that gives `events` and then keeps the connection open for ever.
fn kept_open(events: String) -> HttpResponse {
    let body = stream::iter([Ok(Bytes::from(events))]).chain(stream::pending());
    let headers = vec![("content-type".into(), "text/event-stream".into())];
    HttpResponse::new(200, headers, body.boxed())
}

#[tokio::test]
async fn a_reply_is_there_with_its_last_event_though_the_connection_stays_open() {
    for wire in BOTH {
        let events = wire.events(&hello()).concat();
        let transport = server(move |_| Ok(kept_open(events.clone())));
        let client = client(wire, &transport, &FakeClock::new()).build().unwrap();
        let read = async {
            let mut stream = client.stream(&request()).await.unwrap();
            while let Some(event) = stream.next().await {
                if let Event::Done(reply) = event.unwrap() {
                    return reply.text();
                }
            }
            panic!("no reply")
        };
        // No time passes on this clock: what is not ready after some turns waits for a timeout.
        let turns = async {
            for _ in 0..20 {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            biased;
            text = read => assert_eq!(text, "hello yourself", "{wire:?}"),
            () = turns => panic!("{wire:?} waits for the connection to close"),
        }
    }
}

#[tokio::test]
async fn a_pause_is_sent_on_to_a_model_without_prefill() {
    let paused = json!({
        "id": "m1", "type": "message", "role": "assistant", "model": "claude-opus-5-5",
        "content": [{"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}}],
        "stop_reason": "pause_turn", "usage": {"input_tokens": 1, "output_tokens": 1},
    })
    .to_string();
    let mut answers = vec![
        crate::memory::json(200, paused),
        whole(Wire::Anthropic, &hello()),
    ]
    .into_iter();
    let transport = server(move |_| Ok(answers.next().unwrap()));
    let client = client(Wire::Anthropic, &transport, &skipping())
        .build()
        .unwrap();
    let mut asked = Request::new("claude-opus-5-5", "search");
    let paused = client.complete(&asked).await.unwrap();
    asked.messages.push(paused.to_message());
    let outcome = client.complete(&asked).await;
    assert_eq!(outcome.unwrap().text(), "hello yourself");
}

fn capped(usd: i64) -> Budget {
    Budget::default().usd(Some(Usd(usd)))
}

#[tokio::test]
async fn a_long_reply_that_fails_halfway_may_have_been_billed() {
    // So long that the whole reply is asked for as a stream.
    let mut asked = Request::new("claude-haiku-4-5", "hello");
    asked.max_tokens = Some(60_000);
    let events = Wire::Anthropic.events(&hello());
    let text = events[..4].concat()
        + "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"x\"}}\n\n";
    let transport = server(move |_| {
        Ok(test_support::response(
            200,
            &[("content-type", "text/event-stream")],
            text.clone(),
        ))
    });
    let client = client(Wire::Anthropic, &transport, &skipping())
        .retry(no_retries())
        .budget(capped(1_000_000_000))
        .build()
        .unwrap();
    let error = client.complete(&asked).await.unwrap_err();
    assert_eq!(error.class().as_str(), "overloaded");
    assert!(client.spent().usd > Usd::ZERO, "{:?}", client.spent());
    assert_eq!(client.spent().reserved, Usd::ZERO);
}

#[tokio::test]
async fn an_extra_field_cannot_ask_for_more_than_is_reserved() {
    for (wire, field) in [
        (Wire::Anthropic, "max_tokens"),
        (Wire::Openai, "max_completion_tokens"),
        (Wire::Openai, "max_tokens"),
    ] {
        let mut asked = Request::new("claude-haiku-4-5", "hello");
        asked.max_tokens = Some(100);
        asked.extra.insert(field.into(), json!(60_000));
        let client = client(wire, &nobody(), &skipping())
            .budget(Budget::default().tokens(Some(1_000)))
            .build()
            .unwrap();
        let error = client.complete(&asked).now_or_never().unwrap().unwrap_err();
        assert_eq!(
            error.class().as_str(),
            "budget",
            "{wire:?} {field}: {error}"
        );
    }
}

#[tokio::test]
async fn a_tool_call_that_a_filter_cut_is_never_run() {
    for finish in ["content_filter", "error"] {
        for arguments in ["", "{}"] {
            for streams in [false, true] {
                let canned = CannedReply::text("")
                    .call("c1", "wipe", arguments)
                    .stopped("x", finish);
                let transport = server(move |_| {
                    Ok(if streams {
                        streamed(Wire::Openai, &canned)
                    } else {
                        whole(Wire::Openai, &canned)
                    })
                });
                let client = client(Wire::Openai, &transport, &skipping())
                    .build()
                    .unwrap();
                let reply = client.complete(&request()).await.unwrap();
                for block in reply.tool_uses() {
                    assert!(
                        matches!(
                            &block.kind,
                            llm_client::BlockKind::ToolUse {
                                input: llm_client::ToolInput::Invalid(_),
                                ..
                            }
                        ),
                        "{finish} {arguments:?} {streams} {block:?}"
                    );
                }
            }
        }
    }
}

#[tokio::test]
async fn a_last_429_holds_the_lane_for_the_others() {
    let wire = Wire::Openai;
    let mut first = true;
    let transport = server(move |_| {
        if std::mem::take(&mut first) {
            let mut limited = failed(wire, 429, "rate_limit_error");
            limited
                .headers
                .extend([("retry-after".to_owned(), "20".to_owned())]);
            return Ok(limited);
        }
        Ok(whole(wire, &hello()))
    });
    let clock = skipping();
    let client = client(wire, &transport, &clock)
        .retry(RetryPolicy::default().retries(0))
        .build()
        .unwrap();
    client.complete(&request()).await.unwrap_err();
    client.complete(&request()).await.unwrap();
    assert!(clock.elapsed() >= 20 * SECOND, "{:?}", clock.elapsed());
}

#[tokio::test]
async fn a_list_of_models_does_not_wait_for_ever() {
    let transport = Arc::new(MemoryTransport::slow(|_| futures_util::future::pending()));
    let clock = FakeClock::new();
    let client: Client = client(Wire::Anthropic, &transport, &clock).build().unwrap();
    let listing = client.list_models();
    let mut listing = std::pin::pin!(listing);
    assert!(listing.as_mut().now_or_never().is_none());
    clock.advance(Duration::from_hours(1));
    let error = listing
        .now_or_never()
        .expect("it waits for ever")
        .unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Deadline), "{error:?}");
}

#[tokio::test]
async fn an_unknown_usage_counts_tool_calls_too() {
    let wire = Wire::Openai;
    let arguments = format!("{{\"text\":\"{}\"}}", "x".repeat(3000));
    let canned = CannedReply::text("").call("c1", "write", &arguments);
    let mut body: serde_json::Value = serde_json::from_str(&wire.json(&canned)).unwrap();
    body.as_object_mut().unwrap().remove("usage");
    let transport = server(move |_| Ok(crate::memory::json(200, body.to_string())));
    let client = client(wire, &transport, &skipping()).build().unwrap();
    let reply = client.complete(&request()).await.unwrap();
    assert!(!reply.usage.known);
    assert!(reply.usage.output >= 1000, "{:?}", reply.usage);
}

#[tokio::test]
async fn any_of_the_models_that_a_server_may_choose_is_reserved_for() {
    let mut asked = Request::new("claude-haiku-4-5", "hello");
    asked.max_tokens = Some(100);
    let ask = |others: serde_json::Value| {
        let mut asked = asked.clone();
        asked.extra.insert("models".into(), others);
        // Enough for the cheap model, not for the dear one.
        let client = client(Wire::Anthropic, &nobody(), &skipping()).budget(capped(1_000_000));
        let client = client.build().unwrap();
        client.complete(&asked).now_or_never().unwrap().unwrap_err()
    };
    let dear = ask(json!(["claude-haiku-4-5", "claude-fable-5-1"]));
    assert!(
        matches!(dear.kind(), ErrorKind::BudgetExceeded { .. }),
        "{dear}"
    );
    let unknown = ask(json!(["nobody-knows-me"]));
    assert!(
        matches!(unknown.kind(), ErrorKind::PriceUnknown { .. }),
        "{unknown}"
    );
}
