//! Rows 37 to 39: recorded calls, a recorder that is killed, and counts without a provider.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use futures_util::future::join_all;
use llm_client::{
    Cassette, Clock as _, ConfigError, CountPolicy, CountSource, ReplySource, SystemClock, Usd,
};
use serde_json::{Value, json};
use tempfile::tempdir;

use super::*;

/// Answers with the question, so that a wrong pairing shows.
fn parrot(wire: Wire) -> FaultServer {
    FaultServer::play(move |received| {
        let body = received.json();
        let text = body["messages"][0]["content"].as_str().unwrap().to_owned();
        let canned = CannedReply::text(format!("you said {text}"));
        if body["stream"] == true {
            Answer::sse(wire.events(&canned))
        } else {
            wire.whole(&canned)
        }
    })
}

fn ask(n: usize) -> Request {
    Request::new("model-1", format!("question {n}"))
}

/// Records these questions, one after the other.
async fn record(wire: Wire, server: &FaultServer, path: &Path, questions: usize) {
    let client = wire
        .client(server, &skipping())
        .record(Cassette::new(path))
        .build()
        .unwrap();
    for n in 0..questions {
        client.complete(&ask(n)).await.unwrap();
    }
}

fn replaying(wire: Wire, server: &FaultServer, path: &Path) -> Client {
    let clock = skipping();
    wire.client(server, &clock)
        .replay(Cassette::new(path))
        .build()
        .unwrap()
}

#[tokio::test]
async fn f37_calls_in_another_order_get_their_own_replies_and_no_socket() {
    for wire in BOTH {
        let folder = tempdir().unwrap();
        let path = folder.path().join("tape.jsonl");
        let server = parrot(wire);
        record(wire, &server, &path, 20).await;
        let before = (server.accepted(), server.requests().len());
        let client = replaying(wire, &server, &path);
        let questions: Vec<Request> = (0..20).rev().map(ask).collect();
        let replies = join_all(questions.iter().map(|question| client.complete(question))).await;
        for (n, reply) in (0..20).rev().zip(replies) {
            let reply = reply.unwrap();
            assert_eq!(reply.text(), format!("you said question {n}"));
            assert_eq!(reply.source, ReplySource::Replay);
            assert_eq!(reply.cost.usd, Some(Usd::ZERO));
        }
        assert_eq!(client.spent().usd, Usd::ZERO);
        // The other form of the same question is the same question.
        let streaming = replaying(wire, &server, &path);
        let (events, reply) = read_stream(&streaming, &ask(3)).await;
        assert_eq!(text_of(&events), "you said question 3");
        assert_eq!(reply.unwrap().source, ReplySource::Replay);
        assert_eq!((server.accepted(), server.requests().len()), before);
    }
}

#[tokio::test]
async fn f37_a_changed_body_is_a_miss_that_names_the_field() {
    for wire in BOTH {
        let folder = tempdir().unwrap();
        let path = folder.path().join("tape.jsonl");
        let server = parrot(wire);
        record(wire, &server, &path, 1).await;
        let before = server.accepted();
        let client = replaying(wire, &server, &path);
        let mut changed = ask(0);
        changed.stop = vec!["END".into()];
        let error = client.complete(&changed).await.unwrap_err();
        let ErrorKind::ReplayMiss { diff, .. } = error.kind() else {
            panic!("{error:?}")
        };
        assert!(diff.contains("stop"), "{diff}");
        assert_eq!(error.class().as_str(), "replay_miss");

        // The question was recorded once.
        client.complete(&ask(0)).await.unwrap();
        let error = client.complete(&ask(0)).await.unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::ReplayMiss { .. }),
            "{error:?}"
        );
        assert_eq!(server.accepted(), before);
    }
}

#[tokio::test]
async fn f37_a_torn_last_line_is_left_out_and_the_rest_replays() {
    let wire = Wire::Anthropic;
    let folder = tempdir().unwrap();
    let path = folder.path().join("tape.jsonl");
    let server = parrot(wire);
    record(wire, &server, &path, 3).await;
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 10]).unwrap();
    let client = replaying(wire, &server, &path);
    assert_eq!(
        client.complete(&ask(1)).await.unwrap().text(),
        "you said question 1"
    );
    let error = client.complete(&ask(2)).await.unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::ReplayMiss { .. }),
        "{error:?}"
    );
    // Recording goes on after the last whole line.
    let client = wire
        .client(&server, &skipping())
        .record(Cassette::new(&path))
        .build()
        .unwrap();
    client.complete(&ask(2)).await.unwrap();
    drop(client);
    assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 3);
    let client = replaying(wire, &server, &path);
    assert_eq!(
        client.complete(&ask(2)).await.unwrap().text(),
        "you said question 2"
    );
}

#[tokio::test]
async fn f37_damage_and_other_versions_name_their_line() {
    let wire = Wire::Anthropic;
    let folder = tempdir().unwrap();
    let path = folder.path().join("tape.jsonl");
    let server = parrot(wire);
    record(wire, &server, &path, 3).await;
    let good = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = good.lines().collect();
    let mut old: Value = serde_json::from_str(lines[1]).unwrap();
    old["schema_version"] = json!(0);
    for second in [old.to_string(), lines[1][..50].to_owned()] {
        fs::write(&path, format!("{}\n{second}\n{}\n", lines[0], lines[2])).unwrap();
        let built = wire
            .client(&server, &skipping())
            .replay(Cassette::new(&path))
            .build();
        let Err(ConfigError::Cassette(error)) = built else {
            panic!("it was read")
        };
        assert!(
            matches!(error.kind(), ErrorKind::Cassette { line: Some(2), .. }),
            "{error:?}"
        );
    }
}

#[tokio::test]
async fn f37_retries_and_their_waits_are_folded() {
    let wire = Wire::Openai;
    let folder = tempdir().unwrap();
    let path = folder.path().join("tape.jsonl");
    let limited = Answer::json(429, wire.error("rate_limit_error")).header("retry-after", "5");
    let server = FaultServer::replies([limited, wire.whole(&hello())]);
    let client = wire
        .client(&server, &skipping())
        .record(Cassette::new(&path))
        .build()
        .unwrap();
    client.complete(&request()).await.unwrap();
    drop(client);
    assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 2);
    let clock = FakeClock::new();
    let client = wire
        .client(&server, &clock)
        .replay(Cassette::new(&path))
        .build()
        .unwrap();
    let reply = client.complete(&request()).await.unwrap();
    assert_eq!(reply.text(), "hello yourself");
    assert_eq!(server.requests().len(), 2);
    assert_eq!(clock.elapsed(), Duration::ZERO);
}

const CHILD_URL: &str = "ORRERY_TEST_F38_URL";
const CHILD_TAPE: &str = "ORRERY_TEST_F38_TAPE";

#[expect(
    clippy::disallowed_methods,
    reason = "how the test below speaks to its child"
)]
fn child_setting(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The child process of the next test: it records until it is killed.
#[tokio::test]
#[ignore = "run by f38 as its child"]
async fn record_until_killed() {
    let (Some(url), Some(path)) = (child_setting(CHILD_URL), child_setting(CHILD_TAPE)) else {
        return;
    };
    let provider = Wire::Anthropic.provider_at(&url);
    let client = Client::builder(provider, Arc::new(SystemClock::new()))
        .record(Cassette::new(path))
        .build()
        .unwrap();
    for n in 0.. {
        client.complete(&ask(n)).await.unwrap();
    }
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "its child is this very program")]
async fn f38_a_recorder_that_is_killed_leaves_every_whole_line() {
    let wire = Wire::Anthropic;
    let folder = tempdir().unwrap();
    let path = folder.path().join("tape.jsonl");
    let server = parrot(wire);
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "faults::cassette::record_until_killed",
            "--exact",
            "--ignored",
        ])
        .env(CHILD_URL, server.url(""))
        .env(CHILD_TAPE, &path)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    server.wait_requests(40).await;
    child.kill().unwrap();
    child.wait().unwrap();

    // A line is written before its reply is handed out: all but the last question are there.
    let before = server.accepted();
    let client = replaying(wire, &server, &path);
    for n in 0..39 {
        let reply = client.complete(&ask(n)).await.unwrap();
        assert_eq!(reply.text(), format!("you said question {n}"));
    }
    assert_eq!(server.accepted(), before);
}

#[tokio::test]
async fn f38_the_key_is_nowhere_in_a_cassette() {
    for wire in BOTH {
        let folder = tempdir().unwrap();
        let path = folder.path().join("tape.jsonl");
        // The server sends the key back in every way it can.
        let server = FaultServer::play(move |received| {
            let canned = CannedReply::text(format!("your key is {KEY}"));
            let answer = match received.number {
                0 => wire.whole(&canned),
                1 => Answer::json(400, wire.error(KEY)),
                2 => Answer::whole(500, "text/html", format!("<p>{KEY}</p>")),
                _ => Answer::sse(wire.events(&canned)),
            };
            answer.header(wire.request_id(), KEY)
        });
        let provider = wire.provider_at(&server.url(&format!("/proxy/{KEY}")));
        let client = Client::builder(provider, Arc::new(skipping()))
            .retry(no_retries())
            .record(Cassette::new(&path))
            .build()
            .unwrap();
        let mut question = Request::new("model-1", format!("is {KEY} my key?"));
        question.user_id = Some(KEY.into());
        client.complete(&question).await.unwrap();
        for _ in 0..2 {
            let error = client.complete(&question).await.unwrap_err();
            let shown = format!("{error} {error:?}");
            assert!(!shown.contains(KEY), "{wire:?} {shown}");
        }
        let (_, streamed) = read_stream(&client, &question).await;
        streamed.unwrap();
        drop(client);
        assert_eq!(server.requests().len(), 4);
        let recorded = fs::read_to_string(&path).unwrap();
        assert_eq!(recorded.lines().count(), 4);
        assert!(!recorded.contains(KEY), "{wire:?} {recorded}");
        assert!(!recorded.contains("Bearer"), "{wire:?} {recorded}");
    }
}

#[tokio::test]
async fn f39_a_count_that_nobody_makes_is_an_estimate_or_an_error() {
    let wire = Wire::Anthropic;
    for answer in [
        Answer::whole(404, "text/plain", "not found"),
        Answer::json(404, r#"{"detail":"Not Found"}"#),
        Answer::whole(405, "text/plain", ""),
        Answer::whole(501, "text/plain", ""),
        Answer::json(
            200,
            r#"{"input_tokens":7,"litellm_count_source":"estimate"}"#,
        ),
    ] {
        let server = FaultServer::replies([answer]);
        let client = wire.client(&server, &skipping()).build().unwrap();
        let count = client.count_tokens(&request()).await.unwrap();
        assert!(
            matches!(count.source, CountSource::Estimate { .. }),
            "{count:?}"
        );
        assert!(count.tokens > 0);
        // A 501 too: it says that the server never counts.
        assert_eq!(server.requests().len(), 1);
        assert_eq!(server.requests()[0].path, "/v1/messages/count_tokens");

        let exact = wire
            .client(&server, &skipping())
            .counts(CountPolicy::ExactOnly);
        assert!(
            exact
                .build()
                .unwrap()
                .count_tokens(&request())
                .await
                .is_err()
        );
    }

    let missing = Answer::json(404, wire.error("not_found_error"));
    let server = FaultServer::replies([missing]);
    let client = wire.client(&server, &skipping()).build().unwrap();
    let error = client.count_tokens(&request()).await.unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::ModelUnavailable(_)),
        "{error:?}"
    );
}
