//! A key goes into one header and nowhere else.

mod recordings;

use std::fs;
use std::io;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use llm_client::provider::{HttpOptions, HttpResponse, Provider};
use llm_client::{
    Anthropic, Auth, Cassette, Client, ClientBuilder, Compat, Dialect, Endpoint, Error, ErrorKind,
    Request,
};
use serde_json::json;
use tempfile::tempdir;
use test_support::{Answer, CannedReply, FaultServer, response, streamed};
use tracing_subscriber::fmt::MakeWriter;

use crate::faults::{BOTH, Wire, hello, no_retries, read_stream, request, skipping};
use crate::memory::{header, saying, server};

/// A key unlike any known kind, so that only the exact search can find it, and with characters that JSON escapes.
const KEY: &str = r#"q7/Zx"9\w-0123456789+abc=="#;

fn endpoint(wire: Wire, base: &str, key: &str) -> Endpoint {
    let base = match wire {
        Wire::Anthropic => base.to_owned(),
        Wire::Openai => format!("{base}/v1"),
    };
    Endpoint::new(&base, Auth::Bearer(key.into())).unwrap()
}

fn provider(wire: Wire, base: &str, key: &str) -> Arc<dyn Provider> {
    let endpoint = endpoint(wire, base, key);
    match wire {
        Wire::Anthropic => Arc::new(Anthropic::new(endpoint)),
        Wire::Openai => Arc::new(Compat::new(endpoint, Dialect::openai())),
    }
}

fn client(wire: Wire, base: &str, key: &str) -> ClientBuilder {
    Client::builder(provider(wire, base, key), Arc::new(skipping())).retry(no_retries())
}

/// Neither the key nor the way JSON writes it.
fn clean(text: &str, key: &str, place: &str) {
    let quoted = json!(key).to_string();
    let inner = quoted.trim_matches('"');
    let twice = json!(inner).to_string();
    for form in [key, inner, twice.trim_matches('"')] {
        assert!(!text.contains(form), "{place}: {text}");
    }
}

#[test]
fn settings_do_not_show_the_key() {
    for auth in [Auth::Bearer(KEY.into()), Auth::ApiKeyHeader(KEY.into())] {
        let endpoint = Endpoint::new("https://example.test/v1", auth.clone()).unwrap();
        let shown = [
            format!("{auth:?}"),
            format!("{endpoint:?}"),
            format!("{:?}", endpoint.redactor()),
            format!("{:?}", Anthropic::new(endpoint.clone())),
            format!("{:#?}", Compat::new(endpoint, Dialect::openrouter())),
        ];
        for text in shown {
            clean(&text, KEY, "settings");
        }
    }
}

#[test]
fn settings_do_not_show_the_password_of_a_proxy() {
    let proxy = "http://me:hidden-word@127.0.0.1:1/".parse().unwrap();
    let options = HttpOptions::default().proxy(Some(proxy));
    let shown = format!("{options:?}");
    assert!(!shown.contains("hidden-word"), "{shown}");
    assert!(shown.contains("127.0.0.1"), "{shown}");
}

#[tokio::test]
async fn requests_and_replies_do_not_show_the_key() {
    for wire in BOTH {
        let transport = server(move |sent| {
            let key = header(sent, "authorization").unwrap();
            assert_eq!(key, format!("Bearer {KEY}"));
            clean(&format!("{sent:?}"), KEY, "request");
            let headers = [
                ("content-type", "application/json"),
                (wire.request_id(), KEY),
            ];
            Ok(response(200, &headers, wire.json(&hello())))
        });
        let client = client(wire, "http://127.0.0.1:1", KEY).transport(transport);
        let client = client.build().unwrap();
        let reply = client.complete(&request()).await.unwrap();
        clean(&format!("{:?} {reply:?}", request()), KEY, "reply");
        clean(&serde_json::to_string(&reply).unwrap(), KEY, "saved reply");
    }
}

#[test]
fn what_would_be_sent_has_a_hash_for_the_key() {
    for wire in BOTH {
        let client = client(wire, "http://127.0.0.1:1", KEY).build().unwrap();
        let prepared = client.prepare(&request()).unwrap();
        clean(&format!("{prepared:?}"), KEY, "prepared");
        let mut headers = prepared.headers.iter();
        let (_, shown) = headers.find(|(name, _)| name == "authorization").unwrap();
        assert!(
            shown.starts_with("sha256:") && shown.len() == 7 + 64,
            "{shown}"
        );
    }
}

/// Everything that a server can put a key into.
fn echoes(wire: Wire) -> Vec<HttpResponse> {
    let json_kind = ("content-type", "application/json");
    let id = (wire.request_id(), KEY);
    let wish = ("retry-after", KEY);
    let mut bodies = vec![
        KEY.to_owned(),
        format!("<p>Bearer {KEY}</p>"),
        json!({"error": KEY}).to_string(),
        json!({"detail": KEY}).to_string(),
        json!({"detail": [{"msg": KEY}]}).to_string(),
        wire.error(KEY),
        json!({"error": {"type": KEY, "message": KEY, "code": KEY, "param": KEY}}).to_string(),
        json!({"type": "error", "request_id": KEY, "error": {
            "type": KEY, "message": KEY, "details": {"error_code": KEY},
        }})
        .to_string(),
        "x".repeat(2040) + KEY,
    ];
    let mut replies = Vec::new();
    for status in [400, 401, 403, 404, 429, 500, 529, 307] {
        for body in &bodies {
            replies.push(response(status, &[json_kind, id, wish], body.clone()));
        }
    }
    bodies.push(format!("{{\"cut\": {KEY:?}"));
    bodies.push(json!({"id": KEY, "content": KEY, "choices": KEY}).to_string());
    for body in bodies {
        replies.push(response(200, &[json_kind, id], body.clone()));
        let event = format!("event: error\ndata: {body}\n\n");
        replies.push(response(
            200,
            &[("content-type", "text/event-stream"), id],
            event,
        ));
    }
    replies
}

/// The errors of all these replies, asked for whole and as a stream.
async fn errors(wire: Wire) -> Vec<Error> {
    let count = echoes(wire).len();
    let mut errors = Vec::new();
    for n in 0..count {
        for streams in [false, true] {
            let transport = server(move |_| Ok(echoes(wire).remove(n)));
            let client = client(wire, "http://127.0.0.1:1", KEY).transport(transport);
            let client = client.build().unwrap();
            let outcome = if streams {
                read_stream(&client, &request()).await.1
            } else {
                client.complete(&request()).await
            };
            errors.extend(outcome.err());
        }
    }
    errors
}

#[tokio::test]
async fn no_error_of_a_server_that_sends_the_key_back_shows_it() {
    for wire in BOTH {
        let errors = errors(wire).await;
        assert!(errors.len() > 150, "{}", errors.len());
        for error in errors {
            clean(&format!("{error} {error:?} {error:#?}"), KEY, "error");
        }
    }
}

#[tokio::test]
async fn a_stream_that_broke_off_does_not_show_the_key_it_repeated() {
    for wire in BOTH {
        let transport = server(move |_| {
            let events = wire.events(&CannedReply::text(format!("your key is {KEY}, isn't it")));
            let start = Bytes::from(events[..events.len() - 3].concat());
            Ok(streamed(
                200,
                &[("content-type", "text/event-stream")],
                [Ok(start)],
            ))
        });
        let client = client(wire, "http://127.0.0.1:1", KEY).transport(transport);
        let error = read_stream(&client.build().unwrap(), &request()).await.1;
        let error = error.unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::StreamTruncated { .. }),
            "{error:?}"
        );
        clean(&format!("{error} {error:?}"), KEY, "truncated");
    }
}

#[tokio::test]
async fn counts_and_lists_of_models_do_not_show_the_key_either() {
    for wire in BOTH {
        let transport = server(move |_| {
            let body = json!({"error": {"type": KEY, "message": KEY}}).to_string();
            Ok(response(500, &[(wire.request_id(), KEY)], body))
        });
        let client = client(wire, "http://127.0.0.1:1", KEY).transport(transport);
        let client = client.build().unwrap();
        let error = client.list_models().await.unwrap_err();
        clean(&format!("{error} {error:?}"), KEY, "models");
        if wire == Wire::Anthropic {
            let error = client.count_tokens(&request()).await.unwrap_err();
            clean(&format!("{error} {error:?}"), KEY, "count");
        }
    }
}

#[tokio::test]
async fn a_cassette_does_not_hold_the_key() {
    for wire in BOTH {
        let folder = tempdir().unwrap();
        let path = folder.path().join("tape.jsonl");
        let said = saying(wire, &CannedReply::text(format!("your key is {KEY}")));
        let recording = client(wire, "http://127.0.0.1:1", KEY)
            .transport(said)
            .record(Cassette::new(&path));
        let mut asked = Request::new("model-1", format!("is it {KEY}?"));
        asked.user_id = Some(KEY.into());
        let recording = recording.build().unwrap();
        recording.complete(&asked).await.unwrap();
        read_stream(&recording, &asked).await.1.unwrap();
        drop(recording);
        for n in 0..echoes(wire).len() {
            let transport = server(move |_| Ok(echoes(wire).remove(n)));
            let failing = client(wire, "http://127.0.0.1:1", KEY)
                .transport(transport)
                .record(Cassette::new(&path));
            let _ = failing.build().unwrap().complete(&asked).await;
        }
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.lines().count() > 80);
        for line in text.lines() {
            clean(line, KEY, "cassette");
        }
        // It can still be read, and the question is still found.
        let replaying = client(wire, "http://127.0.0.1:1", KEY).replay(Cassette::new(&path));
        replaying.build().unwrap().complete(&asked).await.unwrap();
    }
}

/// Log lines, kept.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// Over real sockets, so that what the libraries below write is seen too.
#[tokio::test]
async fn no_log_line_at_any_level_shows_the_key_or_a_text() {
    const OWN: &str = "a-key-without-quotes-0123456789";
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_span_events(tracing_subscriber::fmt::format::FmtSpan::FULL)
        .with_writer(log.clone())
        .finish();
    let guard = tracing::subscriber::set_default(subscriber);
    for wire in BOTH {
        let server = FaultServer::play(move |received| {
            let spoken = CannedReply::text(format!("private reply and {OWN}"));
            let answer = match received.number {
                0 => Answer::json(429, wire.error(OWN)).header("retry-after", "1"),
                1 => wire.whole(&spoken),
                2 => Answer::sse(wire.events(&spoken)),
                3 => Answer::json(400, wire.error(OWN)),
                _ => Answer::raw().reset(),
            };
            answer_with_id(answer, wire, received.number)
        });
        let builder = Client::builder(provider(wire, &server.url(""), OWN), Arc::new(skipping()));
        let client = builder.build().unwrap();
        let mut asked = Request::new("model-1", "private question");
        asked.system = vec![llm_client::Block::text("private instructions")];
        asked.sampling.top_k = Some(3);
        client.complete(&asked).await.unwrap();
        read_stream(&client, &asked).await.1.unwrap();
        client.complete(&asked).await.unwrap_err();
        client.complete(&asked).await.unwrap_err();
    }
    drop(guard);
    let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(text.contains("retry") && text.contains("TRACE"), "{text}");
    assert!(!text.contains(OWN), "{text}");
    for private in ["private reply", "private question", "private instructions"] {
        assert!(!text.contains(private), "{text}");
    }
}

fn answer_with_id(answer: Answer, wire: Wire, number: usize) -> Answer {
    if number < 4 {
        answer.header(wire.request_id(), "a-key-without-quotes-0123456789")
    } else {
        answer
    }
}

#[tokio::test]
async fn failures_of_the_network_do_not_show_the_key() {
    let wire = Wire::Anthropic;
    let (closed, _socket) = test_support::closed_port();
    let real = client(wire, &format!("http://{closed}"), KEY)
        .build()
        .unwrap();
    let error = real.complete(&request()).await.unwrap_err();
    assert_eq!(error.class().as_str(), "network");
    clean(&format!("{error} {error:?}"), KEY, "connect");
}
