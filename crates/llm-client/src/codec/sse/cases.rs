//! `sse_cases.json`: text in, events out, however the text is cut.

use serde::Deserialize;

use super::{SseDecoder, SseEvent};

const CASES: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../fixtures/llm-client/vectors/sse_cases.json"
));

#[derive(Deserialize)]
struct Cases {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    text: String,
    events: Vec<Event>,
    pending_at_end: bool,
}

#[derive(Debug, PartialEq, Deserialize)]
struct Event {
    event: String,
    data: String,
}

impl From<SseEvent<'_>> for Event {
    fn from(event: SseEvent<'_>) -> Self {
        Self {
            event: event.event.to_owned(),
            data: event.data.to_owned(),
        }
    }
}

fn decode<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<Event>, bool) {
    let mut decoder = SseDecoder::new(1 << 20);
    let mut events = Vec::new();
    for piece in pieces {
        decoder.push(piece);
        while let Some(event) = decoder.next_event().unwrap() {
            events.push(event.into());
        }
    }
    events.extend(decoder.finish().unwrap().map(Event::from));
    (events, decoder.is_pending())
}

fn each_case(check: impl Fn(&[u8], &(Vec<Event>, bool), &str)) {
    let cases: Cases = serde_json::from_str(CASES).unwrap();
    assert!(cases.cases.len() >= 22);
    for case in cases.cases {
        let expected = (case.events, case.pending_at_end);
        check(case.text.as_bytes(), &expected, &case.name);
    }
}

#[test]
fn every_case_read_whole_gives_its_events() {
    each_case(|text, expected, name| assert_eq!(decode([text]), *expected, "{name}"));
}

#[test]
fn every_case_read_byte_by_byte_gives_its_events() {
    each_case(|text, expected, name| assert_eq!(decode(text.chunks(1)), *expected, "{name}"));
}

#[test]
fn every_case_split_anywhere_gives_its_events() {
    each_case(|text, expected, name| {
        for at in 0..=text.len() {
            let (head, tail) = text.split_at(at);
            assert_eq!(decode([head, tail]), *expected, "{name}, split at {at}");
            assert_eq!(
                decode([head, b"", tail]),
                *expected,
                "{name}, split at {at}"
            );
        }
    });
}
