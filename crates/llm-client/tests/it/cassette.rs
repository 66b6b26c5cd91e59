//! Record and replay: equal replies and no socket.

mod clock;
mod errors;
mod file;
mod golden;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::future::join_all;
use llm_client::error::ConnectPhase;
use llm_client::{
    Cassette, Client, ClientBuilder, ConfigError, Cost, CountSource, Error, ErrorKind, Reply,
    ReplySource, Request, Timeouts, Usd,
};
use serde_json::Value;
use tempfile::{TempDir, tempdir};
use test_support::{CannedReply, FakeClock, MemoryTransport, response};

use crate::faults::{BOTH, SECOND, Wire, hello, read_stream, request, skipping};
use crate::memory::{
    body, client, failed, hello_after, json, nobody, said, saying, server, streamed,
};

const WIRE: Wire = Wire::Anthropic;

/// A cassette in a folder that goes with it.
struct Tape {
    path: PathBuf,
    _folder: TempDir,
}

impl Tape {
    fn new() -> Self {
        let folder = tempdir().unwrap();
        Self {
            path: folder.path().join("tape.jsonl"),
            _folder: folder,
        }
    }

    fn cassette(&self) -> Cassette {
        Cassette::new(&self.path)
    }

    fn recording(&self, wire: Wire, transport: &Arc<MemoryTransport>) -> ClientBuilder {
        client(wire, transport, &skipping()).record(self.cassette())
    }

    /// A client that has no network.
    fn replaying(&self, wire: Wire) -> Client {
        let clock = FakeClock::new();
        let client = client(wire, &nobody(), &clock).replay(self.cassette());
        client.build().unwrap()
    }

    fn text(&self) -> String {
        fs::read_to_string(&self.path).unwrap()
    }

    fn lines(&self) -> Vec<Value> {
        let text = self.text();
        let lines = text.lines().map(serde_json::from_str);
        lines.collect::<Result<_, _>>().unwrap()
    }
}

/// A reply without what a replay cannot have: times, money, and attempts before the last.
fn essence(mut reply: Reply) -> Reply {
    reply.attempts.clear();
    reply.cost = Cost::FREE;
    reply.source = ReplySource::Replay;
    reply
}

fn rich() -> CannedReply {
    let mut canned =
        CannedReply::text("größe \u{2028} \"quoted\"\n").call("c1", "look", r#"{"a":[1,2]}"#);
    canned.thinking = Some("hm".into());
    canned
}

#[derive(Clone, Copy, PartialEq)]
enum Form {
    Whole,
    Stream,
}

async fn ask(client: &Client, form: Form, request: &Request) -> Result<Reply, Error> {
    match form {
        Form::Whole => client.complete(request).await,
        Form::Stream => read_stream(client, request).await.1,
    }
}

#[tokio::test]
async fn a_replay_gives_the_recorded_reply_in_whatever_form_it_is_asked_for() {
    for wire in BOTH {
        for recorded in [Form::Whole, Form::Stream] {
            for replayed in [Form::Whole, Form::Stream] {
                let tape = Tape::new();
                let recording = tape.recording(wire, &saying(wire, &rich()));
                let recording = recording.build().unwrap();
                let live = ask(&recording, recorded, &request()).await.unwrap();
                assert_eq!(live.source, ReplySource::Live);
                let reply = ask(&tape.replaying(wire), replayed, &request()).await;
                let reply = reply.unwrap();
                assert_eq!(reply.source, ReplySource::Replay);
                assert_eq!(reply.cost, Cost::FREE);
                assert_eq!(essence(reply), essence(live), "{wire:?}");
            }
        }
    }
}

#[tokio::test]
async fn a_replay_makes_no_transport() {
    let tape = Tape::new();
    let recording = tape.recording(WIRE, &saying(WIRE, &hello())).build();
    recording.unwrap().complete(&request()).await.unwrap();
    // A proxy that no transport can be made with: it would be an error.
    let provider = WIRE.provider_at("http://127.0.0.1:1");
    let replaying = Client::builder(provider, Arc::new(FakeClock::new()))
        .http(
            llm_client::provider::HttpOptions::default()
                .extra_roots(vec![b"no certificate".to_vec()])
                .proxy(Some("data:nothing".parse().unwrap())),
        )
        .replay(tape.cassette())
        .build()
        .unwrap();
    replaying.complete(&request()).await.unwrap();
}

#[tokio::test]
async fn retries_are_folded_into_their_last_attempt() {
    for wire in BOTH {
        let tape = Tape::new();
        let recording = tape.recording(wire, &server(hello_after(wire, 2)));
        let live = recording
            .build()
            .unwrap()
            .complete(&request())
            .await
            .unwrap();
        let attempts: Vec<_> = tape
            .lines()
            .iter()
            .map(|line| line["attempt"].clone())
            .collect();
        assert_eq!(attempts, [1, 2, 3]);
        let hints: Vec<_> = tape
            .lines()
            .iter()
            .map(|line| line["final_hint"].clone())
            .collect();
        assert_eq!(hints, [false, false, true]);
        let reply = tape.replaying(wire).complete(&request()).await.unwrap();
        assert_eq!(reply.attempts.len(), 1);
        assert_eq!(reply.attempts[0].n, 3);
        assert_eq!(essence(reply), essence(live));
    }
}

/// Answers with the question and the number of the request.
fn parrot(wire: Wire) -> Arc<MemoryTransport> {
    let mut n = 0;
    server(move |sent| {
        n += 1;
        let question = body(sent)["messages"][0]["content"].clone();
        let text = format!("{} #{n}", question.as_str().unwrap());
        Ok(said(wire, &CannedReply::text(text), sent))
    })
}

/// Records these questions at once; the replies by the question's number.
async fn check_pairs(wire: Wire, questions: Vec<Request>) {
    let tape = Tape::new();
    let recording = tape.recording(wire, &parrot(wire)).build().unwrap();
    let live = join_all(questions.iter().map(|one| recording.complete(one))).await;
    let replaying = tape.replaying(wire);
    // In an order that has nothing to do with the first: 77 and 200 have no common factor.
    let order: Vec<usize> = (0..questions.len())
        .map(|n| n * 77 % questions.len())
        .collect();
    let replayed = join_all(order.iter().map(|n| replaying.complete(&questions[*n]))).await;
    for (n, reply) in order.into_iter().zip(replayed) {
        assert_eq!(reply.unwrap().text(), live[n].as_ref().unwrap().text());
    }
}

#[tokio::test]
async fn two_hundred_calls_in_another_order_get_their_own_replies() {
    for wire in BOTH {
        let ask = |n| Request::new("model-1", format!("question {n}"));
        check_pairs(wire, (0..200).map(ask).collect()).await;
        // Equal bodies, told apart by a key that is not sent.
        let keyed = |n| request().replay_key(Some(format!("agent-{n}")));
        check_pairs(wire, (0..200).map(keyed).collect()).await;
    }
}

#[tokio::test]
async fn equal_questions_get_their_replies_in_the_order_they_were_asked() {
    let tape = Tape::new();
    let recording = tape.recording(WIRE, &parrot(WIRE)).build().unwrap();
    for n in 1..=3 {
        let text = recording.complete(&request()).await.unwrap().text();
        assert_eq!(text, format!("hello #{n}"));
    }
    drop(recording);
    // Another run goes on counting after what the file holds.
    let again = tape.recording(WIRE, &parrot(WIRE)).build().unwrap();
    again.complete(&request()).await.unwrap();
    drop(again);
    let numbers: Vec<_> = tape.lines().iter().map(|line| line["n"].clone()).collect();
    assert_eq!(numbers, [0, 1, 2, 3]);
    let replaying = tape.replaying(WIRE);
    for text in ["hello #1", "hello #2", "hello #3", "hello #1"] {
        let reply = replaying.complete(&request()).await.unwrap();
        assert_eq!(reply.text(), text);
    }
    let error = replaying.complete(&request()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "not in the cassette: this question was recorded 4 times and is asked for the 5. time"
    );
}

#[tokio::test]
async fn who_asks_and_how_the_answer_is_delivered_is_no_part_of_the_question() {
    for wire in BOTH {
        let tape = Tape::new();
        let recording = tape.recording(wire, &saying(wire, &hello())).build();
        recording.unwrap().complete(&request()).await.unwrap();
        let mut other = request();
        other.user_id = Some("someone else".into());
        other.labels.insert("run".into(), "2".into());
        tape.replaying(wire).complete(&other).await.unwrap();
    }
}

#[tokio::test]
async fn a_miss_names_the_nearest_entry_and_every_field_that_differs() {
    let tape = Tape::new();
    let recording = tape
        .recording(WIRE, &saying(WIRE, &hello()))
        .build()
        .unwrap();
    for text in ["far away from it all", "hello"] {
        let mut asked = Request::new("model-1", text);
        asked.stop = vec![text.into()];
        recording.complete(&asked).await.unwrap();
    }
    drop(recording);
    let replaying = tape.replaying(WIRE);
    for (change, diff) in [
        (
            (|asked| asked.max_tokens = Some(7)) as fn(&mut Request),
            "the nearest entry (call 1) differs in /max_tokens (recorded 4096, asked 7)",
        ),
        (
            |asked| asked.messages = vec![llm_client::Message::user("hello there")],
            "the nearest entry (call 1) differs in /messages/0/content (recorded \"hello\", asked \"hello there\")",
        ),
        (
            |asked| asked.stop = Vec::new(),
            "the nearest entry (call 1) differs in /stop_sequences (recorded [\"hello\"], asked null)",
        ),
        (
            |asked| asked.replay_key = Some("other".into()),
            "the nearest entry (call 1) differs in provider or replay_key",
        ),
    ] {
        let mut asked = Request::new("model-1", "hello");
        asked.stop = vec!["hello".into()];
        change(&mut asked);
        let error = replaying.complete(&asked).await.unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::ReplayMiss { .. }),
            "{error:?}"
        );
        assert_eq!(error.to_string(), format!("not in the cassette: {diff}"));
    }
    let error = replaying.count_tokens(&request()).await.unwrap_err();
    let told = "not in the cassette: it holds no request to /v1/messages/count_tokens";
    assert_eq!(error.to_string(), told);
}

#[tokio::test]
async fn a_call_that_was_given_up_is_no_reply() {
    let tape = Tape::new();
    let clock = FakeClock::new();
    let slow = {
        let clock = clock.clone();
        Arc::new(MemoryTransport::slow(move |_| {
            let wait = llm_client::Timer::sleep(&clock, SECOND);
            async move {
                wait.await;
                Ok(streamed(WIRE, &hello()))
            }
        }))
    };
    let recording = client(WIRE, &slow, &clock).record(tape.cassette());
    let recording = recording.build().unwrap();
    {
        let asked = request();
        let call = recording.complete(&asked);
        tokio::select! {
            biased;
            _ = call => panic!("it waits"),
            () = clock.wait_for_sleep(SECOND) => {}
        }
    }
    assert_eq!(tape.lines()[0]["error"]["kind"], "cancelled");
    let error = tape.replaying(WIRE).complete(&request()).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Cancelled), "{error:?}");
}

#[tokio::test]
async fn a_count_of_tokens_is_recorded_and_replayed() {
    let tape = Tape::new();
    let counting = server(|_| Ok(json(200, r#"{"input_tokens": 77}"#.into())));
    let recording = tape.recording(WIRE, &counting).build().unwrap();
    recording.count_tokens(&request()).await.unwrap();
    drop(recording);
    let missing = server(|_| Ok(response(404, &[("content-type", "text/plain")], "no")));
    let mut other = request();
    other.messages.push(llm_client::Message::user("more"));
    let second = tape.recording(WIRE, &missing).build().unwrap();
    let live = second.count_tokens(&other).await.unwrap();
    let replaying = tape.replaying(WIRE);
    let count = replaying.count_tokens(&request()).await.unwrap();
    assert_eq!((count.tokens, count.source), (77, CountSource::Exact));
    assert_eq!(replaying.count_tokens(&other).await.unwrap(), live);
    assert!(matches!(live.source, CountSource::Estimate { .. }));
}

#[tokio::test]
async fn the_line_format_is_the_specified_one() {
    let tape = Tape::new();
    let mut n = 0;
    let transport = server(move |_| {
        n += 1;
        let headers = [
            ("content-type", "application/json"),
            ("request-id", "req_1"),
            ("retry-after-ms", "10"),
            ("anthropic-ratelimit-requests-limit", "50"),
            ("set-cookie", "no=1"),
            ("date", "today"),
        ];
        match n {
            1 => Ok(response(503, &headers, "<p>\n busy")),
            2 => Ok(response(200, &headers, WIRE.json(&hello()))),
            3 => Ok(streamed(WIRE, &hello())),
            _ => Err(Error::connect(ConnectPhase::Trust, "no")),
        }
    });
    let recording = tape.recording(WIRE, &transport).seed(1).build().unwrap();
    let mut asked = request();
    asked.replay_key = Some("k".into());
    recording.complete(&asked).await.unwrap();
    read_stream(&recording, &asked).await.1.unwrap();
    recording.complete(&request()).await.unwrap_err();
    insta::assert_snapshot!("cassette_lines", tape.text());
}
