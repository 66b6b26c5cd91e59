//! Findings of a review in recorded and replayed calls.

use std::fs;
use std::path::PathBuf;

use futures_util::FutureExt as _;
use llm_client::{Budget, Cassette, ErrorKind, Request};
use tempfile::tempdir;
use test_support::{FakeClock, response};

use crate::faults::{BOTH, Wire, hello, read_stream, request, skipping};
use crate::memory::{client, json, nobody, saying, server, whole};

fn events(bytes: Vec<u8>) -> llm_client::provider::HttpResponse {
    response(200, &[("content-type", "text/event-stream")], bytes)
}

/// Streams that are cut or broken, recorded and replayed: the same bytes are a reply in both, or in neither.
#[tokio::test]
async fn a_stream_that_was_cut_anywhere_is_cut_in_its_replay() {
    for wire in BOTH {
        let pieces = wire.events(&hello());
        let all = pieces.concat().into_bytes();
        // Around the end of each event, and in the middle of it.
        let mut places = Vec::new();
        let mut end = 0;
        for piece in &pieces {
            places.push(end + piece.len() / 2);
            end += piece.len();
            places.extend(end - 3..=end);
        }
        for (at, bad) in places.into_iter().flat_map(|at| [(at, false), (at, true)]) {
            let mut bytes = all[..at].to_vec();
            if bad {
                bytes.extend_from_slice(b"\xff\n\n");
            }
            let folder = tempdir().unwrap();
            let path: PathBuf = folder.path().join("tape.jsonl");
            let transport = server(move |_| Ok(events(bytes.clone())));
            let recording = client(wire, &transport, &skipping())
                .retry(crate::faults::no_retries())
                .record(Cassette::new(&path))
                .build()
                .unwrap();
            let (live, outcome) = read_stream(&recording, &request()).await;
            drop(recording);
            let replaying = client(wire, &nobody(), &FakeClock::new())
                .replay(Cassette::new(&path))
                .build()
                .unwrap();
            let (replayed, again) = read_stream(&replaying, &request()).await;
            assert_eq!(live, replayed, "{wire:?} {at} {bad}");
            match (outcome, again) {
                (Ok(a), Ok(b)) => assert_eq!((a.content, a.raw), (b.content, b.raw)),
                (Err(a), Err(b)) => assert_eq!(
                    std::mem::discriminant(a.kind()),
                    std::mem::discriminant(b.kind()),
                    "{wire:?} {at} {bad}: {a} / {b}"
                ),
                (a, b) => panic!("{wire:?} {at} {bad}: {a:?} / {b:?}"),
            }
        }
    }
}

#[tokio::test]
async fn a_call_that_was_never_sent_takes_no_place_in_the_cassette() {
    let wire = Wire::Openai;
    let folder = tempdir().unwrap();
    let path = folder.path().join("tape.jsonl");
    let recording = client(wire, &saying(wire, &hello()), &skipping())
        .record(Cassette::new(&path))
        .budget(Budget::default().tokens(Some(100)))
        .build()
        .unwrap();
    let mut asked = Request::new("m", "hello");
    asked.max_tokens = Some(60);
    // Two at once: only one fits in the budget. Then the other is asked again.
    let first = recording.stream(&asked).await.unwrap();
    let refused = recording.complete(&asked).await.unwrap_err();
    assert_eq!(refused.class().as_str(), "budget");
    first.collect().await.unwrap();
    recording.complete(&asked).await.unwrap();
    drop(recording);
    let replaying = client(wire, &nobody(), &FakeClock::new())
        .replay(Cassette::new(&path))
        .build()
        .unwrap();
    for n in 0..2 {
        let reply = replaying.complete(&asked).await;
        assert_eq!(reply.unwrap().text(), "hello yourself", "{n}");
    }
}

#[tokio::test]
async fn a_call_that_was_dropped_before_it_was_sent_takes_no_place_either() {
    let wire = Wire::Openai;
    let folder = tempdir().unwrap();
    let path = folder.path().join("tape.jsonl");
    let recording = client(wire, &saying(wire, &hello()), &skipping())
        .record(Cassette::new(&path))
        .limits(llm_client::Limits::default().concurrency(1))
        .build()
        .unwrap();
    let other = recording
        .stream(&Request::new("m", "another"))
        .await
        .unwrap();
    // It waits for the only slot and is given up.
    assert!(recording.complete(&request()).now_or_never().is_none());
    drop(other);
    recording.complete(&request()).await.unwrap();
    drop(recording);
    let replaying = client(wire, &nobody(), &FakeClock::new())
        .replay(Cassette::new(&path))
        .build()
        .unwrap();
    let reply = replaying.complete(&request()).await;
    assert_eq!(reply.unwrap().text(), "hello yourself");
}

#[tokio::test]
async fn a_list_of_models_touches_no_network_in_a_replay() {
    let wire = Wire::Anthropic;
    let folder = tempdir().unwrap();
    let path = folder.path().join("tape.jsonl");
    fs::write(&path, "").unwrap();
    let replaying = client(wire, &nobody(), &FakeClock::new())
        .replay(Cassette::new(&path))
        .build()
        .unwrap();
    let error = replaying.list_models().await.unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::ReplayMiss { .. }),
        "{error:?}"
    );
}

#[tokio::test]
async fn nothing_is_sent_that_cannot_be_recorded() {
    let full = std::path::Path::new("/dev/full");
    if !full.exists() {
        return;
    }
    let wire = Wire::Anthropic;
    let transport = saying(wire, &hello());
    let recording = client(wire, &transport, &skipping())
        .record(Cassette::new(full))
        .build()
        .unwrap();
    for _ in 0..3 {
        let error = recording.complete(&request()).await.unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::Cassette { .. }),
            "{error:?}"
        );
    }
    // The first shows that the disk is full; the others would be paid for and lost.
    assert_eq!(transport.requests().len(), 1);
}

#[tokio::test]
async fn a_dummy_key_does_not_spoil_the_recording() {
    // What the documentation of local servers tells people to use as a key.
    for key in ["EMPTY", "ollama", "none", "x"] {
        let folder = tempdir().unwrap();
        let path = folder.path().join("tape.jsonl");
        let provider = || {
            let endpoint = llm_client::Endpoint::new(
                "http://127.0.0.1:1/v1",
                llm_client::Auth::Bearer(key.into()),
            );
            std::sync::Arc::new(llm_client::Compat::new(
                endpoint.unwrap(),
                llm_client::Dialect::ollama(),
            ))
        };
        let canned = test_support::CannedReply::text(format!("the {key} set is none of yours x"));
        let transport = server(move |_| Ok(whole(Wire::Openai, &canned)));
        let recording = llm_client::Client::builder(provider(), std::sync::Arc::new(skipping()))
            .transport(transport)
            .record(Cassette::new(&path))
            .build()
            .unwrap();
        let live = recording.complete(&request()).await.unwrap();
        drop(recording);
        let replaying = llm_client::Client::builder(provider(), std::sync::Arc::new(skipping()))
            .transport(nobody())
            .replay(Cassette::new(&path))
            .build()
            .unwrap();
        let replayed = replaying.complete(&request()).await;
        assert_eq!(
            replayed
                .map(|reply| reply.text())
                .map_err(|error| error.to_string()),
            Ok(live.text()),
            "{key}"
        );
    }
}

#[tokio::test]
async fn a_dummy_key_does_not_break_a_header() {
    let wire = Wire::Openai;
    let endpoint = llm_client::Endpoint::new(
        "http://127.0.0.1:1/v1",
        llm_client::Auth::Bearer("x".into()),
    );
    let provider = llm_client::Compat::new(endpoint.unwrap(), llm_client::Dialect::ollama());
    let client = llm_client::Client::builder(
        std::sync::Arc::new(provider),
        std::sync::Arc::new(skipping()),
    )
    .transport(saying(wire, &hello()))
    .build()
    .unwrap();
    let (_, outcome) = read_stream(&client, &request()).await;
    assert_eq!(outcome.unwrap().text(), "hello yourself");
}

#[tokio::test]
async fn c23_counts_of_one_body_under_two_keys_replay_in_any_order() {
    let wire = Wire::Anthropic;
    let folder = tempdir().unwrap();
    let path = folder.path().join("tape.jsonl");
    let keyed = |key: &str| {
        let mut asked = request();
        asked.replay_key = Some(key.to_owned());
        asked
    };
    let mut tokens = 0;
    let transport = server(move |_| {
        tokens += 1;
        Ok(json(200, format!(r#"{{"input_tokens": {tokens}}}"#)))
    });
    let recording = client(wire, &transport, &skipping()).record(Cassette::new(&path));
    let recording = recording.build().unwrap();
    for (key, tokens) in [("a", 1), ("b", 2), ("a", 1)] {
        let count = recording.count_tokens(&keyed(key)).await.unwrap();
        assert_eq!(count.tokens, tokens, "{key}");
    }
    drop(recording);
    let replaying = client(wire, &nobody(), &skipping()).replay(Cassette::new(&path));
    let replaying = replaying.build().unwrap();
    for (key, tokens) in [("b", 2), ("a", 1), ("b", 2)] {
        let count = replaying.count_tokens(&keyed(key)).await.unwrap();
        assert_eq!(count.tokens, tokens, "{key}");
    }
}

/// Every write fails there: the disk is full.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn c28_a_cassette_that_cannot_be_written_is_no_miss() {
    let transport = saying(Wire::Anthropic, &hello());
    let recording =
        client(Wire::Anthropic, &transport, &skipping()).record(Cassette::new("/dev/full"));
    let recording = recording.build().unwrap();
    let error = recording.complete(&request()).await.unwrap_err();
    assert_eq!(error.class().as_str(), "cassette", "{error}");
    assert!(error.to_string().starts_with("cassette: "), "{error}");
}

/// Forty calls, two seconds after each other, recorded to something that cannot be synced.
#[cfg(unix)]
async fn record_forty(path: &std::path::Path) {
    let wire = Wire::Anthropic;
    let clock = FakeClock::new();
    let recording = client(wire, &saying(wire, &hello()), &clock)
        .record(Cassette::new(path))
        .build()
        .unwrap();
    for n in 0..40 {
        let reply = recording.complete(&request()).await;
        assert_eq!(reply.unwrap().text(), "hello yourself", "{n}");
        clock.advance(2 * crate::faults::SECOND);
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_device_can_be_recorded_to() {
    record_forty(std::path::Path::new("/dev/null")).await;
}

#[cfg(unix)]
#[tokio::test]
async fn a_pipe_can_be_recorded_to() {
    use std::io::Read as _;
    use std::os::fd::AsRawFd as _;

    let (mut reader, writer) = std::io::pipe().unwrap();
    let path = PathBuf::from(format!("/dev/fd/{}", writer.as_raw_fd()));
    let read = std::thread::spawn(move || {
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        text
    });
    record_forty(&path).await;
    drop(writer);
    let text = read.join().unwrap();
    assert_eq!(text.lines().count(), 40);
}

/// A cassette of this number of calls, each with a different text.
async fn recorded(path: &std::path::Path, calls: usize) {
    let wire = Wire::Anthropic;
    let transport = saying(wire, &hello());
    let recording = client(wire, &transport, &skipping()).record(Cassette::new(path));
    let recording = recording.build().unwrap();
    for n in 0..calls {
        let asked = Request::new("model-1", format!("question {n}"));
        recording.complete(&asked).await.unwrap();
    }
}

#[tokio::test]
async fn c31_a_miss_compares_few_lines_and_shows_few_differences() {
    let wire = Wire::Anthropic;
    let folder = tempdir().unwrap();
    let path = folder.path().join("tape.jsonl");
    recorded(&path, 21).await;
    let replaying = client(wire, &nobody(), &skipping()).replay(Cassette::new(&path));
    let replaying = replaying.build().unwrap();
    let miss = async |text: String, stops: usize| {
        let mut asked = Request::new("model-1", text);
        asked.stop = (0..stops).map(|n| n.to_string()).collect();
        let error = replaying.complete(&asked).await.unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::ReplayMiss { .. }),
            "{error:?}"
        );
        error.to_string()
    };
    // The 20th line is looked at, and the 21st is not.
    let text = miss("question 19".into(), 1).await;
    assert!(
        text.contains("(call 19) differs in /stop_sequences"),
        "{text}"
    );
    let text = miss("question 20".into(), 1).await;
    assert!(text.contains("(call 0) differs in"), "{text}");
    assert!(!text.contains("more"), "{text}");
    // A body with hundreds of differences.
    let mut asked = Request::new("model-1", "another");
    for n in 0..500 {
        asked.system.push(llm_client::Block::text(n.to_string()));
        asked.extra.insert(format!("field_{n}"), n.into());
    }
    let text = replaying.complete(&asked).await.unwrap_err().to_string();
    assert_eq!(text.matches("(recorded ").count(), 8, "{text}");
    assert!(text.ends_with(", and more"), "{text}");
}

/// Lines are read at their positions, also after a longer one, and the last one without a line end.
#[tokio::test]
async fn c31_lines_are_read_when_they_are_asked_for() {
    let wire = Wire::Anthropic;
    let folder = tempdir().unwrap();
    let path = folder.path().join("tape.jsonl");
    recorded(&path, 3).await;
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("\n\n{}", text.trim_end())).unwrap();
    let replaying = client(wire, &nobody(), &skipping()).replay(Cassette::new(&path));
    let replaying = replaying.build().unwrap();
    for n in [2, 0, 1] {
        let asked = Request::new("model-1", format!("question {n}"));
        assert_eq!(
            replaying.complete(&asked).await.unwrap().text(),
            "hello yourself"
        );
    }
}

#[tokio::test]
async fn c31_a_recording_that_shrinks_under_its_player_is_an_error_of_the_cassette() {
    let wire = Wire::Anthropic;
    let folder = tempdir().unwrap();
    let path = folder.path().join("tape.jsonl");
    recorded(&path, 1).await;
    let replaying = client(wire, &nobody(), &skipping()).replay(Cassette::new(&path));
    let replaying = replaying.build().unwrap();
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(10).unwrap();
    let asked = Request::new("model-1", "question 0");
    let error = replaying.complete(&asked).await.unwrap_err();
    assert_eq!(error.class().as_str(), "cassette", "{error}");
    assert!(error.to_string().contains("tape.jsonl"), "{error}");
}
