use futures_util::FutureExt as _;
use llm_client::{ErrorKind, Event, Request};
use proptest::prelude::*;

use crate::wire::anthropic::provider;
use crate::wire::{Answer, CannedReply, send, stream_of};

/// Events of the Messages API, some of them with indexes and types that do not fit together.
const EVENTS: [&str; 18] = [
    r#"{"type":"message_start","message":{"id":"m","model":"m","usage":{"input_tokens":1}}}"#,
    r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
    r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"f","input":{}}}"#,
    r#"{"type":"content_block_start","index":1,"content_block":{"type":"thinking"}}"#,
    r#"{"type":"content_block_start","index":0,"content_block":{"type":"new"}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\u00e4\n"}}"#,
    r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{}"}}"#,
    r#"{"type":"content_block_delta","index":1,"delta":{"type":"thinking_delta","thinking":"b"}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"new_delta"}}"#,
    r#"{"type":"content_block_stop","index":0}"#,
    r#"{"type":"content_block_stop","index":1}"#,
    r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}"#,
    r#"{"type":"message_stop"}"#,
    r#"{"type":"ping"}"#,
    r#"{"type":"content_block_delta","index":0}"#,
    r#"{"type":"content_block_stop"}"#,
    r#"{"type":"message_delta"}"#,
];

/// A stream that is right, with a few events left out, doubled, swapped or put in.
fn nearly_right() -> impl Strategy<Value = Vec<&'static str>> {
    let right = [0, 1, 5, 6, 10, 2, 7, 11, 12, 13]
        .map(|at| EVENTS[at])
        .to_vec();
    let change = (
        0..4_u8,
        any::<prop::sample::Index>(),
        prop::sample::select(&EVENTS[..]),
    );
    prop::collection::vec(change, 0..4).prop_map(move |changes| {
        let mut events = right.clone();
        for (kind, at, event) in changes {
            if events.is_empty() {
                break;
            }
            let at = at.index(events.len());
            match kind {
                0 => drop(events.remove(at)),
                1 => events.insert(at, events[at]),
                2 => events.swap(at, 0),
                _ => events.insert(at, event),
            }
        }
        events
    })
}

fn check(events: &[&str]) {
    let body = events
        .iter()
        .fold(String::new(), |body, data| body + "data: " + data + "\n\n");
    let server = CannedReply::new([Answer::sse(body)]);
    // Nothing here waits for anything.
    let stream = stream_of(&provider(), &Request::new("m", "x"), &server)
        .now_or_never()
        .unwrap()
        .unwrap();
    // `EventStream` has a `collect` of its own.
    let told: Vec<_> = futures_util::StreamExt::collect(stream)
        .now_or_never()
        .unwrap();
    let text: String = told
        .iter()
        .filter_map(|event| match event {
            Ok(Event::TextDelta { text, .. }) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    match told.last() {
        Some(Ok(Event::Done(reply))) => {
            assert_eq!(reply.text(), text);
            assert_eq!(
                events
                    .iter()
                    .filter(|data| data.contains("message_stop"))
                    .count(),
                1
            );
        }
        Some(Err(error)) => match error.kind() {
            ErrorKind::StreamTruncated { partial } => assert_eq!(partial.text(), text),
            ErrorKind::Protocol { .. } => {}
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
    assert!(told[..told.len() - 1].iter().all(Result::is_ok));
}

proptest! {
    #[test]
    fn random_orders_of_events_are_a_reply_or_break_the_protocol(
        events in prop::collection::vec(prop::sample::select(&EVENTS[..]), 0..20),
    ) {
        check(&events);
    }

    #[test]
    fn nearly_right_streams_are_a_reply_or_break_the_protocol(events in nearly_right()) {
        check(&events);
    }

    #[test]
    fn random_data_never_panics(data in ".{0,60}", name in 0..6_usize) {
        let name = ["message_start", "content_block_start", "content_block_delta", "message_delta", "error", "message"][name];
        let body = format!("event: {name}\ndata: {}\n\n", data.replace(['\n', '\r'], ""));
        let server = CannedReply::new([Answer::sse(body)]);
        let stream = stream_of(&provider(), &Request::new("m", "x"), &server).now_or_never().unwrap().unwrap();
        prop_assert!(stream.collect().now_or_never().unwrap().is_err());
    }

    #[test]
    fn random_replies_never_panic(body in ".{0,80}") {
        let server = CannedReply::new([Answer::json(body)]);
        prop_assert!(send(&provider(), &Request::new("m", "x"), &server).now_or_never().unwrap().is_err());
    }
}
