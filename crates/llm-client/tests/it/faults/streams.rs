//! Rows 16 to 25 and 27: what can go wrong inside a stream.

use llm_client::error::ConnectPhase;
use llm_client::{BlockKind, StopReason};
use serde_json::{Value, json};
use test_support::{MemoryTransport, Signal, response};

use super::*;

/// The result of a client without retries for this answer to a stream call.
async fn read(wire: Wire, answer: Answer) -> (Vec<Event>, Result<Reply, Error>) {
    let server = FaultServer::replies([answer]);
    let builder = wire.client(&server, &skipping()).retry(no_retries());
    let read = read_stream(&builder.build().unwrap(), &request()).await;
    assert_eq!(server.requests().len(), 1);
    read
}

/// The events before the one that makes the reply complete.
fn without_end(wire: Wire, canned: &CannedReply) -> Vec<String> {
    let mut events = wire.events(canned);
    let end = match wire {
        Wire::Anthropic => events.len() - 1,
        // The finish reason, the usage and the mark of the end.
        Wire::Openai => events.len() - 3,
    };
    events.truncate(end);
    events
}

#[tokio::test]
async fn f16_a_stream_without_its_end_is_truncated_and_never_a_reply() {
    for wire in BOTH {
        let events = without_end(wire, &hello());
        for n in 0..=events.len() {
            let (seen, outcome) = read(wire, Answer::sse(&events[..n])).await;
            let Err(ErrorKind::StreamTruncated { partial, .. }) =
                outcome.as_ref().map_err(Error::kind)
            else {
                panic!("{wire:?} after {n} events: {outcome:?}")
            };
            assert_eq!(partial.text(), text_of(&seen), "{wire:?} after {n} events");
            assert!(!seen.iter().any(|event| matches!(event, Event::Done(_))));
        }
        assert_eq!(
            text_of(&read(wire, Answer::sse(&events)).await.0),
            "hello yourself"
        );
    }
}

/// Every place a stream can be cut at, without the network in between.
#[tokio::test]
async fn f17_a_stream_cut_anywhere_is_truncated() {
    let canned =
        CannedReply::text("ö \"quoted\" \u{1F600} line\nline").call("c1", "look", r#"{"a":"ü\n"}"#);
    for wire in BOTH {
        let complete = without_end(wire, &canned).concat().into_bytes();
        let transport = |bytes: &[u8]| {
            let body = Bytes::copy_from_slice(bytes);
            let answer = response(200, &[("content-type", "text/event-stream")], body);
            Arc::new(MemoryTransport::queue([Ok(answer)]))
        };
        let provider = wire.provider_at("http://127.0.0.1:1");
        for cut in 0..=complete.len() {
            let client = Client::builder(provider.clone(), Arc::new(skipping()))
                .retry(no_retries())
                .transport(transport(&complete[..cut]));
            let (seen, outcome) = read_stream(&client.build().unwrap(), &request()).await;
            let Err(ErrorKind::StreamTruncated { partial, .. }) =
                outcome.as_ref().map_err(Error::kind)
            else {
                panic!("{wire:?} cut at {cut}: {outcome:?}")
            };
            assert_eq!(partial.text(), text_of(&seen), "{wire:?} cut at {cut}");
        }
    }
}

#[tokio::test]
async fn f17_a_cut_socket_is_the_same() {
    let canned = CannedReply::text("grüße \"quoted\" line\nline");
    for wire in BOTH {
        let complete = without_end(wire, &canned).concat();
        let places = [
            complete.find("ü").unwrap() + 1,
            complete.find("\\\"").unwrap() + 1,
            complete.find("\\n").unwrap() + 1,
            complete.rfind("data").unwrap() + 2,
        ];
        for cut in places {
            let answer = Answer::events().chunk(&complete.as_bytes()[..cut]).end();
            let (_, outcome) = read(wire, answer).await;
            assert!(
                matches!(
                    outcome.as_ref().map_err(Error::kind),
                    Err(ErrorKind::StreamTruncated { .. })
                ),
                "{wire:?} cut at {cut}: {outcome:?}"
            );
        }
    }
}

#[tokio::test]
async fn f18_a_reset_inside_tool_arguments_gives_no_call() {
    let canned = CannedReply::text("").call("c1", "delete", r#"{"path":"/tmp/x"}"#);
    for wire in BOTH {
        let events = wire.events(&canned);
        let middle = events
            .iter()
            .position(|event| event.contains("{\\\"path"))
            .unwrap();
        let go = Signal::new();
        let answer = Answer::events()
            .pieces(&events[..=middle])
            .wait(&go)
            .reset();
        let server = FaultServer::replies([answer]);
        let client = wire.client(&server, &skipping()).build().unwrap();
        let mut stream = client.stream(&request()).await.unwrap();
        let mut seen = Vec::new();
        let error = loop {
            match stream.next().await.unwrap() {
                Ok(event) => {
                    if matches!(&event, Event::ToolInputDelta { json, .. } if !json.is_empty()) {
                        go.fire();
                    }
                    seen.push(event);
                }
                Err(error) => break error,
            }
        };
        assert!(
            matches!(
                error.kind(),
                ErrorKind::Connect {
                    phase: ConnectPhase::Body,
                    ..
                }
            ),
            "{wire:?} {error:?}"
        );
        assert!(!error.charged().certain);
        assert!(stream.next().await.is_none());
        let stopped = seen
            .iter()
            .any(|event| matches!(event, Event::BlockStop { .. }));
        assert!(!stopped, "{wire:?} {seen:?}");
        // An event was handed out, so nothing is tried again.
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn f19_an_error_event_after_text_is_typed_and_final() {
    for wire in BOTH {
        let failure = match wire {
            Wire::Anthropic => {
                format!("event: error\ndata: {}\n\n", wire.error("overloaded_error"))
            }
            Wire::Openai => "data: {\"error\":{\"code\":529,\"message\":\"m\"}}\n\n".to_owned(),
        };
        let mut events = without_end(wire, &hello());
        events.push(failure.clone());
        let server =
            FaultServer::replies([Answer::sse(&events), Answer::sse(wire.events(&hello()))]);
        let client = wire.client(&server, &skipping()).build().unwrap();
        let (seen, outcome) = read_stream(&client, &request()).await;
        assert!(
            matches!(
                outcome.as_ref().map_err(Error::kind),
                Err(ErrorKind::Overloaded { .. })
            ),
            "{wire:?} {outcome:?}"
        );
        assert_eq!(text_of(&seen), "hello yourself");
        assert_eq!(server.requests().len(), 1, "{wire:?}");

        // As the first event, before anything was handed out.
        let first = Answer::sse([failure]);
        let server = FaultServer::replies([first, Answer::sse(wire.events(&hello()))]);
        let client = wire.client(&server, &skipping()).build().unwrap();
        let (seen, outcome) = read_stream(&client, &request()).await;
        assert_eq!(outcome.unwrap().attempts.len(), 2, "{wire:?}");
        assert_eq!(text_of(&seen), "hello yourself");
        assert_eq!(server.requests().len(), 2);
    }
}

/// The caller of a whole reply sees no events, so there is nothing that could come twice.
#[tokio::test]
async fn f19_a_whole_reply_that_is_streamed_inside_is_tried_again() {
    let wire = Wire::Anthropic;
    let mut broken = without_end(wire, &hello());
    broken.push(format!(
        "event: error\ndata: {}\n\n",
        wire.error("overloaded_error")
    ));
    let server = FaultServer::replies([Answer::sse(&broken), Answer::sse(wire.events(&hello()))]);
    let client = wire.client(&server, &skipping()).build().unwrap();
    let mut long = request();
    long.max_tokens = Some(22_000);
    let reply = client.complete(&long).await.unwrap();
    assert_eq!(reply.text(), "hello yourself");
    assert_eq!(reply.attempts.len(), 2);
    for received in server.requests() {
        assert_eq!(received.json()["stream"], true);
    }
    // Just below, the reply comes in one piece.
    long.max_tokens = Some(21_333);
    client.complete(&long).await.unwrap();
    assert_eq!(server.requests()[2].json().get("stream"), None);
}

/// Once the model wrote, an error cannot say that nothing is billed.
#[tokio::test]
async fn f19_a_stream_that_fails_after_text_may_have_been_billed() {
    let wire = Wire::Anthropic;
    let mut broken = without_end(wire, &hello());
    broken.push(format!(
        "event: error\ndata: {}\n\n",
        wire.error("overloaded_error")
    ));
    let server = FaultServer::replies([Answer::sse(&broken)]);
    let client = wire
        .client(&server, &skipping())
        .budget(llm_client::Budget::default().usd(Some(llm_client::Usd(1_000_000_000))));
    let client = client.build().unwrap();
    let mut priced = request();
    priced.model = "claude-haiku-4-5".into();
    let (seen, outcome) = read_stream(&client, &priced).await;
    assert_eq!(text_of(&seen), "hello yourself");
    assert!(outcome.is_err());
    let spend = client.spent();
    assert!(spend.usd > llm_client::Usd::ZERO, "{spend:?}");
    assert_eq!(spend.reserved, llm_client::Usd::ZERO);
}

#[tokio::test]
async fn f22_events_that_break_the_order_are_an_error_and_no_text_is_doubled() {
    let plain = hello().anthropic_events();
    let [start, open, one, two, close, last, stop] = plain.as_slice() else {
        panic!("{plain:?}")
    };
    let gap = |event: &String| event.replace("\"index\":0", "\"index\":2");
    let cases = [
        (
            "a second message_start",
            vec![start, start, open, one, two, close, last, stop],
        ),
        (
            "a late second message_start",
            vec![start, open, one, start, two, close, last, stop],
        ),
        (
            "a block opened twice",
            vec![start, open, open, one, two, close, last, stop],
        ),
        (
            "a block closed twice",
            vec![start, open, one, two, close, close, last, stop],
        ),
        (
            "a delta before its block",
            vec![start, one, open, two, close, last, stop],
        ),
        (
            "a delta after its block",
            vec![start, open, one, close, two, last, stop],
        ),
        ("no message_start", vec![open, one, two, close, last, stop]),
        (
            "a second message_stop",
            vec![start, open, one, two, close, last, stop, stop],
        ),
        (
            "a delta after the end",
            vec![start, open, one, two, close, last, stop, two],
        ),
    ];
    let mut cases: Vec<(&str, Vec<String>)> = cases
        .into_iter()
        .map(|(name, events)| (name, events.into_iter().cloned().collect()))
        .collect();
    let gapped = [
        start.clone(),
        gap(open),
        gap(one),
        gap(close),
        last.clone(),
        stop.clone(),
    ];
    cases.push(("a gap in the indexes", gapped.into()));
    for (name, events) in cases {
        let (seen, outcome) = read(Wire::Anthropic, Answer::sse(&events)).await;
        let after_end = matches!(name, "a second message_stop" | "a delta after the end");
        match outcome {
            Err(error) if matches!(error.kind(), ErrorKind::Protocol { .. }) => {}
            // The reply was handed out, and nothing is read after it.
            Ok(reply) if after_end => assert_eq!(reply.text(), "hello yourself"),
            other => panic!("{name}: {other:?}"),
        }
        let text = text_of(&seen);
        assert!("hello yourself".contains(&text), "{name}: {text:?}");
    }
}

#[tokio::test]
async fn f22_chunks_out_of_order_never_double_text() {
    let wire = Wire::Openai;
    let mut events = wire.events(&hello());
    let end = events.len();
    // Text after the mark of the end.
    events.insert(end, events[1].clone());
    let (seen, outcome) = read(wire, Answer::sse(&events)).await;
    assert!(
        matches!(
            outcome.as_ref().map_err(Error::kind),
            Err(ErrorKind::Protocol { .. })
        ) || outcome.is_ok_and(|reply| reply.text() == "hello yourself")
    );
    assert_eq!(text_of(&seen), "hello yourself");
}

/// A reply with a block, a stop reason and fields of unknown types.
fn strange() -> Value {
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "model-1", "container": null,
        "content": [
            {"type": "hologram", "z": 1, "a": {"n": null}},
            {"type": "text", "text": "hi", "citations": null, "mood": "good"},
        ],
        "stop_reason": "tired", "stop_sequence": null, "extra": [1],
        "usage": {"input_tokens": 3, "output_tokens": 4, "cache_read_input_tokens": null, "novel": 1},
    })
}

fn strange_events() -> Vec<String> {
    let event = |data: Value| {
        format!(
            "event: {}\ndata: {data}\n\n",
            data["type"].as_str().unwrap()
        )
    };
    let mut start = strange();
    start["content"] = json!([]);
    start["stop_reason"] = Value::Null;
    let block = |index: usize| {
        [
            event(
                json!({"type": "content_block_start", "index": index, "content_block": strange()["content"][index]}),
            ),
            event(
                json!({"type": "content_block_delta", "index": index, "delta": {"type": "novel_delta", "x": 1}}),
            ),
            event(json!({"type": "content_block_stop", "index": index, "novel": null})),
        ]
    };
    let mut events = vec![
        event(json!({"type": "message_start", "message": start})),
        event(json!({"type": "novel_event", "x": null})),
    ];
    events.extend(block(0));
    events.extend(block(1));
    events.push(event(json!({
        "type": "message_delta", "delta": {"stop_reason": "tired", "stop_sequence": null},
        "usage": {"output_tokens": 4, "input_tokens": null},
    })));
    events.push(event(json!({"type": "message_stop", "novel": 1})));
    events
}

#[tokio::test]
async fn f23_what_is_unknown_is_kept_and_sent_back() {
    let wire = Wire::Anthropic;
    let last = wire.whole(&hello());
    for first in [
        Answer::json(200, strange().to_string()),
        Answer::sse(strange_events()),
    ] {
        let server = FaultServer::replies([first, last.clone()]);
        let client = wire.client(&server, &skipping()).build().unwrap();
        let (events, outcome) = read_stream(&client, &request()).await;
        let reply = outcome.unwrap();
        assert_eq!(reply.stop, StopReason::Other("tired".into()));
        assert_eq!(reply.text(), "hi");
        assert!(matches!(&reply.content[0].kind, BlockKind::Other { kind } if kind == "hologram"));
        assert_eq!(
            (
                reply.usage.input,
                reply.usage.output,
                reply.usage.cache_read
            ),
            (3, 4, 0)
        );
        if events
            .iter()
            .any(|event| matches!(event, Event::Unknown { .. }))
        {
            let named = |event: &Event| matches!(event, Event::Unknown { name, .. } if name == "novel_event");
            assert!(events.iter().any(named));
        }

        let mut next = request();
        next.messages.push(reply.to_message());
        next.messages.push(llm_client::Message::user("go on"));
        client.complete(&next).await.unwrap();
        let sent = server.requests()[1].json();
        assert_eq!(sent["messages"][1]["content"], strange()["content"]);
    }
}

#[tokio::test]
async fn f24_every_way_to_write_a_stream_gives_the_same_reply() {
    let canned = CannedReply::text("größe \"q\"").call("c1", "look", r#"{"a":1}"#);
    for wire in BOTH {
        let plain = wire.events(&canned).concat();
        let (_, expected) = read(wire, Answer::sse([&plain])).await;
        let expected = expected.unwrap();
        let noisy = plain.replace("\n\n", "\n: a comment\nid: 7\nretry: 1\nnovel: x\n\n:\n\n");
        let forms = [
            ("CRLF", Answer::sse([plain.replace('\n', "\r\n")])),
            ("CR", Answer::sse([plain.replace('\n', "\r")])),
            ("byte order mark", Answer::sse([format!("\u{FEFF}{plain}")])),
            ("comments and fields", Answer::sse([noisy])),
            (
                "data in lines",
                Answer::sse([plain.replace("data: {", "data: {\ndata: ")]),
            ),
            ("no space", Answer::sse([plain.replace("data: ", "data:")])),
            (
                "byte by byte",
                Answer::events().dribble_chunks(&plain).end(),
            ),
            (
                "CRLF byte by byte",
                Answer::events()
                    .dribble_chunks(plain.replace('\n', "\r\n"))
                    .end(),
            ),
        ];
        for (name, answer) in forms {
            let (events, outcome) = read(wire, answer).await;
            let reply = outcome.unwrap_or_else(|error| panic!("{wire:?} {name}: {error}"));
            assert_eq!(text_of(&events), "größe \"q\"", "{wire:?} {name}");
            assert_eq!(reply.content, expected.content, "{wire:?} {name}");
            assert_eq!(reply.stop, expected.stop, "{wire:?} {name}");
            assert_eq!(reply.usage, expected.usage, "{wire:?} {name}");
        }
    }
}

#[tokio::test]
async fn f25_only_line_feeds_and_carriage_returns_end_lines() {
    let text = "a\u{2028}b\u{2029}c\u{85}d\u{B}e\u{C}f";
    for wire in BOTH {
        let stream = wire.events(&CannedReply::text(text)).concat();
        assert!(stream.contains('\u{2028}') && stream.contains('\u{85}'));
        let (_, outcome) = read(wire, Answer::events().dribble_chunks(stream).end()).await;
        assert_eq!(outcome.unwrap().text(), text, "{wire:?}");
    }
}

#[tokio::test]
async fn f27_the_content_type_decides_how_a_reply_is_read() {
    for wire in BOTH {
        let json = wire.whole(&hello());
        let sse = Answer::sse(wire.events(&hello()));
        let server = FaultServer::replies([json.clone(), sse, json]);
        let client = wire.client(&server, &skipping()).build().unwrap();
        let (events, streamed) = read_stream(&client, &request()).await;
        assert_eq!(text_of(&events), "hello yourself");
        let streamed = streamed.unwrap();
        let whole = client.complete(&request()).await.unwrap();
        let plain = client.complete(&request()).await.unwrap();
        for reply in [&streamed, &whole] {
            assert_eq!(reply.text(), plain.text());
            assert_eq!(reply.stop, plain.stop);
            assert_eq!((reply.usage.input, reply.usage.output), (10, 5));
            assert_eq!(reply.id, plain.id);
        }
        assert_eq!(server.requests()[0].json()["stream"], true);
        assert_eq!(server.requests()[1].json().get("stream"), None);
    }
}
