//! Dropping a call at any of its await points: section 13, row 28.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use futures_util::StreamExt as _;
use llm_client::{Budget, Cassette, Client, Limits, Message, Unpriced, Usd};
use test_support::{Answer, FakeClock, FaultServer};

use crate::faults::{BOTH, Wire, hello, no_task_is_left, read_stream, request, skipping};

/// More await points than any call here has.
const ENOUGH: usize = 1000;

/// Polls `future` as often as it likes, but drops it when it is pending for the `k`-th time (from 0).
async fn dropped_at<F: Future>(future: F, k: usize) -> Option<F::Output> {
    let mut future = pin!(future);
    let mut pending = 0;
    poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending if pending == k => Poll::Ready(None),
        Poll::Pending => {
            pending += 1;
            Poll::Pending
        }
    })
    .await
}

/// The reply in many small pieces, so that there are many places to stop at.
fn in_pieces(wire: Wire, streams: bool) -> Answer {
    if streams {
        return Answer::sse(wire.events(&hello()));
    }
    let body = wire.json(&hello());
    let pieces: Vec<&str> = body.split_inclusive(',').collect();
    Answer::chunked(200, "application/json")
        .pieces(pieces)
        .end()
}

fn build(wire: Wire, server: &FaultServer, clock: &FakeClock) -> Client {
    wire.client(server, clock)
        .limits(Limits::default().concurrency(1))
        .budget(
            Budget::default()
                .usd(Some(Usd(1_000_000_000)))
                .unpriced(Unpriced::Ignore),
        )
        .build()
        .unwrap()
}

/// The invariant after a call was dropped: its request is cancelled, and the client works as before.
async fn is_clean(client: Client, server: FaultServer) {
    server.wait_in_flight(0).await;
    assert_eq!(client.spent().reserved, Usd::ZERO);
    // The only permit is free.
    assert_eq!(
        client.complete(&request()).await.unwrap().text(),
        "hello yourself"
    );
    assert_eq!(client.spent().reserved, Usd::ZERO);
    drop(client);
    server.wait_open(0).await;
    no_task_is_left().await;
}

/// Drops a call at its first, second, … await point, until one gets through.
async fn at_every_point(wire: Wire, streams: bool, answer: Answer) {
    for k in 0..ENOUGH {
        let mut first = Some(answer.clone());
        let server = FaultServer::play(move |received| {
            let streams = received.json()["stream"] == true;
            first.take().unwrap_or_else(|| in_pieces(wire, streams))
        });
        let client = build(wire, &server, &skipping());
        let request = request();
        let through = if streams {
            let read = dropped_at(read_stream(&client, &request), k).await;
            read.map(|(_, outcome)| outcome)
        } else {
            dropped_at(client.complete(&request), k).await
        };
        let through = through.map(|outcome| outcome.unwrap().text());
        is_clean(client, server).await;
        if let Some(text) = through {
            assert_eq!(text, "hello yourself");
            assert!(k > 2, "{k} await points are too few to be true");
            return;
        }
    }
    panic!("the call never got through");
}

#[tokio::test]
async fn a_plain_call_can_be_dropped_anywhere() {
    for wire in BOTH {
        at_every_point(wire, false, in_pieces(wire, false)).await;
    }
}

#[tokio::test]
async fn a_stream_can_be_dropped_anywhere() {
    for wire in BOTH {
        at_every_point(wire, true, in_pieces(wire, true)).await;
    }
}

#[tokio::test]
async fn a_call_that_tries_again_can_be_dropped_anywhere() {
    for wire in BOTH {
        let limited = Answer::json(429, wire.error("rate_limit_error")).header("retry-after", "1");
        for streams in [false, true] {
            at_every_point(wire, streams, limited.clone()).await;
            at_every_point(wire, streams, Answer::raw().reset()).await;
        }
    }
}

#[tokio::test]
async fn a_count_can_be_dropped_anywhere() {
    let wire = Wire::Anthropic;
    for k in 0..ENOUGH {
        let server = FaultServer::play(move |received| {
            if received.path.ends_with("count_tokens") {
                Answer::json(200, r#"{"input_tokens":7}"#)
            } else {
                wire.whole(&hello())
            }
        });
        let client = build(wire, &server, &skipping());
        let request = request();
        let through = dropped_at(client.count_tokens(&request), k).await;
        is_clean(client, server).await;
        if let Some(count) = through {
            assert_eq!(count.unwrap().tokens, 7);
            return;
        }
    }
}

/// A call that was dropped is in the cassette as given up, and the next one as what it is.
#[tokio::test]
async fn a_recorded_call_can_be_dropped_anywhere() {
    for wire in BOTH {
        for streams in [false, true] {
            for k in 0..ENOUGH {
                let folder = tempfile::tempdir().unwrap();
                let path = folder.path().join("tape.jsonl");
                let server = FaultServer::play(move |received| {
                    in_pieces(wire, received.json()["stream"] == true)
                });
                let clock = skipping();
                let recording = wire.client(&server, &clock).record(Cassette::new(&path));
                let recording = recording.build().unwrap();
                let first = request();
                let through = if streams {
                    let read = dropped_at(read_stream(&recording, &first), k).await;
                    read.map(|(_, outcome)| outcome)
                } else {
                    dropped_at(recording.complete(&first), k).await
                };
                let mut second = request();
                second.messages = vec![Message::user("and now?")];
                recording.complete(&second).await.unwrap();
                drop(recording);
                let replaying = wire.client(&server, &clock).replay(Cassette::new(&path));
                let replaying = replaying.build().unwrap();
                let replayed = replaying.complete(&second).await.unwrap();
                assert_eq!(replayed.text(), "hello yourself");
                let again = replaying.complete(&first).await;
                match again {
                    // All of it had come, even if the caller did not wait for the end.
                    Ok(reply) => assert_eq!(reply.text(), "hello yourself"),
                    Err(error) => {
                        assert!(through.is_none(), "{error}");
                        let class = error.class().as_str();
                        assert!(matches!(class, "replay_miss" | "cancelled"), "{error:?}");
                    }
                }
                if through.is_some() {
                    break;
                }
            }
        }
    }
}

/// A stream that is no longer read keeps its permit until it is dropped, and not longer.
#[tokio::test]
async fn a_stream_gives_its_permit_back_when_it_is_dropped() {
    let wire = Wire::Anthropic;
    let held = Answer::events().pieces(&wire.events(&hello())[..3]).stall();
    let server = FaultServer::replies([held, wire.whole(&hello())]);
    let client = build(wire, &server, &skipping());
    let request = request();
    let mut stream = client.stream(&request).await.unwrap();
    assert!(stream.next().await.unwrap().is_ok());
    let mut second = pin!(client.complete(&request));
    for _ in 0..50 {
        let poll = futures_util::poll!(second.as_mut());
        assert!(poll.is_pending(), "it has no permit");
        tokio::task::yield_now().await;
    }
    assert_eq!(server.requests().len(), 1);
    drop(stream);
    assert_eq!(second.await.unwrap().text(), "hello yourself");
    server.wait_closed(1).await;
}

/// A request that was sent may have been billed, up to the longest reply.
#[tokio::test]
async fn a_dropped_call_is_charged_whole() {
    let wire = Wire::Anthropic;
    let server = FaultServer::replies([Answer::raw().stall()]);
    let client = build(wire, &server, &skipping());
    let mut request = request();
    request.model = "claude-haiku-4-5".into();
    assert!(dropped_at(client.complete(&request), 0).await.is_none());
    let unsent = client.spent();
    tokio::select! {
        biased;
        _ = client.complete(&request) => panic!("it stalls"),
        () = server.wait_requests(1) => {}
    }
    let sent = client.spent();
    // Nobody knows how far the model came: 15 tokens of prompt and 4096 of reply, at 1 and 5 dollars a million.
    assert_eq!(sent.usd.0 - unsent.usd.0, 15 * 1_000 + 4_096 * 5_000);
    assert_eq!(sent.unsettled, unsent.unsettled + 1);
    assert_eq!(sent.reserved, Usd::ZERO);
}
