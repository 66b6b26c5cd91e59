//! Row 26: long replies, and ones without an end.

use test_support::Signal;

use super::*;

const MIB: usize = 1 << 20;

/// A JSON reply whose text has this many MiB, written piece by piece.
fn long_json(wire: Wire, mib: u64) -> Answer {
    let body = wire.json(&CannedReply::text("TEXT"));
    let (before, after) = body.split_once("TEXT").unwrap();
    Answer::chunked(200, "application/json")
        .chunk(before)
        .repeat_chunk("x".repeat(MIB), mib)
        .chunk(after)
        .end()
}

/// A stream whose text has this many MiB, in deltas of 64 KiB.
fn long_stream(wire: Wire, mib: u64) -> Answer {
    let canned =
        CannedReply::text("A".to_owned() + &"x".repeat(65_535) + "B" + &"x".repeat(65_535));
    let events = wire.events(&canned);
    let delta = events
        .iter()
        .position(|event| event.contains("Axx"))
        .unwrap();
    Answer::events()
        .pieces(&events[..delta])
        .repeat_chunk(&events[delta], mib * 16)
        .pieces(&events[delta + 2..])
        .end()
}

#[tokio::test]
async fn f26_ten_mebibytes_of_text_are_read_in_both_forms() {
    for wire in BOTH {
        let server = FaultServer::replies([long_json(wire, 10), long_stream(wire, 10)]);
        let client = wire.client(&server, &skipping()).build().unwrap();
        let whole = client.complete(&request()).await.unwrap();
        assert_eq!(whole.text().len(), 10 * MIB, "{wire:?}");
        let (_, streamed) = read_stream(&client, &request()).await;
        assert_eq!(streamed.unwrap().text().len(), 10 * MIB, "{wire:?}");
    }
}

fn too_large(error: &Error, wanted: u64) -> bool {
    matches!(error.kind(), ErrorKind::TooLarge { limit, .. } if *limit == wanted)
}

#[tokio::test]
async fn f26_a_reply_above_the_cap_is_not_read_on() {
    let wire = Wire::Anthropic;
    let cap = 64 << 20;
    // 64 MiB and one byte, and then no end.
    let answer = Answer::chunked(200, "application/json")
        .repeat_chunk(" ".repeat(MIB), 64)
        .chunk(" ")
        .stall();
    let server = FaultServer::replies([answer]);
    let client = wire.client(&server, &skipping()).build().unwrap();
    let error = client.complete(&request()).await.unwrap_err();
    assert!(too_large(&error, cap), "{error:?}");
    assert_eq!(
        (server.requests().len(), error.class().as_str()),
        (1, "bad_response")
    );
    server.wait_closed(1).await;
}

#[tokio::test]
async fn f26_a_stream_above_the_cap_is_not_read_on() {
    for wire in BOTH {
        let server = FaultServer::replies([long_stream(wire, 1_000_000)]);
        let client = wire.client(&server, &skipping()).build().unwrap();
        let (events, outcome) = read_stream(&client, &request()).await;
        let error = outcome.unwrap_err();
        assert!(too_large(&error, 64 << 20), "{wire:?} {error:?}");
        let text = text_of(&events).len();
        assert!((63 * MIB..=64 * MIB).contains(&text), "{text}");
        server.wait_closed(1).await;
    }
}

#[tokio::test]
async fn f26_a_line_without_an_end_is_not_kept() {
    for wire in BOTH {
        for line in ["data: x", ": comment", "event: x", "novel"] {
            let endless = Answer::events()
                .chunk(line)
                .repeat_chunk("x".repeat(MIB), 1_000_000);
            let server = FaultServer::replies([endless]);
            let client = wire.client(&server, &skipping()).build().unwrap();
            let (events, outcome) = read_stream(&client, &request()).await;
            let error = outcome.unwrap_err();
            assert!(too_large(&error, 16 << 20), "{wire:?} {line}: {error:?}");
            assert!(events.is_empty());
            server.wait_closed(1).await;
        }
    }
}

#[tokio::test]
async fn f26_a_long_error_page_is_not_read_to_its_end() {
    let wire = Wire::Openai;
    let reached = Signal::new();
    let page = Answer::chunked(503, "text/html")
        .repeat_chunk("x".repeat(MIB), 1_000_000)
        .fire(&reached);
    let server = FaultServer::replies([page]);
    let client = wire
        .client(&server, &skipping())
        .retry(no_retries())
        .build()
        .unwrap();
    let error = client.complete(&request()).await.unwrap_err();
    assert_eq!(error.status(), Some(503), "{error:?}");
    server.wait_closed(1).await;
    assert!(!reached.is_fired());
}
