//! The names of spans, fields and events, which dashboards are built on.

use std::collections::BTreeMap;
use std::fmt::{Debug, Write as _};
use std::sync::{Arc, Mutex};

use llm_client::{Client, Request};
use test_support::{CannedReply, MemoryTransport};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};

use crate::faults::{Wire, hello, read_stream, skipping};
use crate::memory::{client, failed, hello_after, json, nobody, saying, server};

/// Every span with its fields at its end, and every event, in order.
#[derive(Clone, Default)]
struct Names {
    log: Arc<Mutex<String>>,
    open: Arc<Mutex<BTreeMap<u64, Fields>>>,
}

#[derive(Default)]
struct Fields(BTreeMap<&'static str, String>);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }
}

impl Names {
    fn write(&self, head: &str, fields: &Fields) {
        let mut log = self.log.lock().unwrap();
        writeln!(log, "{head}").unwrap();
        for (name, value) in &fields.0 {
            writeln!(log, "  {name} = {value}").unwrap();
        }
    }
}

impl<S: Subscriber> Layer<S> for Names {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, _: Context<'_, S>) {
        if attributes.metadata().target() != "llm_client" {
            return;
        }
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        self.open.lock().unwrap().insert(id.into_u64(), fields);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, _: Context<'_, S>) {
        if let Some(fields) = self.open.lock().unwrap().get_mut(&id.into_u64()) {
            values.record(fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let metadata = event.metadata();
        if metadata.target() != "llm_client" {
            return;
        }
        let mut fields = Fields::default();
        event.record(&mut fields);
        let inside = context.current_span().id().is_some();
        let place = if inside { "in the span" } else { "outside" };
        self.write(&format!("{} event {place}", metadata.level()), &fields);
    }

    fn on_close(&self, id: Id, _: Context<'_, S>) {
        if let Some(fields) = self.open.lock().unwrap().remove(&id.into_u64()) {
            self.write("span chat", &fields);
        }
    }
}

/// The trace of `work`, which contains none of the texts of [`asked`] and its replies.
async fn traced<F: Future>(work: F) -> String {
    let names = Names::default();
    let subscriber = tracing_subscriber::registry().with(names.clone());
    let guard = tracing::subscriber::set_default(subscriber);
    work.await;
    drop(guard);
    let log = names.log.lock().unwrap().clone();
    for private in ["hello", "instructions", "scripted"] {
        assert!(!log.contains(private), "{log}");
    }
    log
}

const WIRE: Wire = Wire::Anthropic;

fn asked() -> Request {
    let mut asked = Request::new("claude-haiku-4-5", "hello");
    asked.system = vec![llm_client::Block::text("instructions")];
    asked.max_tokens = Some(100);
    asked
}

fn build(transport: &Arc<MemoryTransport>) -> Client {
    client(WIRE, transport, &skipping()).build().unwrap()
}

#[tokio::test]
async fn a_call_that_succeeds() {
    let client = build(&saying(WIRE, &hello()));
    let log = traced(async { client.complete(&asked()).await.unwrap() }).await;
    insta::assert_snapshot!("tracing_success", log);
}

#[tokio::test]
async fn a_stream_is_traced_like_a_whole_reply() {
    let client = build(&saying(WIRE, &hello()));
    let whole = traced(async { client.complete(&asked()).await.unwrap() }).await;
    let streamed = traced(async { read_stream(&client, &asked()).await.1.unwrap() }).await;
    assert_eq!(streamed, whole);
}

#[tokio::test]
async fn a_call_that_fails() {
    let client = build(&server(|_| Ok(failed(WIRE, 400, "invalid_request_error"))));
    let log = traced(async { client.complete(&asked()).await.unwrap_err() }).await;
    insta::assert_snapshot!("tracing_failure", log);
}

#[tokio::test]
async fn a_call_that_is_tried_again() {
    let client = build(&server(hello_after(WIRE, 2)));
    let log = traced(async { client.complete(&asked()).await.unwrap() }).await;
    insta::assert_snapshot!("tracing_retry", log);
}

#[tokio::test]
async fn a_change_is_told_once() {
    let client = build(&saying(WIRE, &hello()));
    let mut asked = asked();
    asked.model = "claude-opus-5-5".into();
    asked.max_tokens = Some(4000);
    asked.thinking = llm_client::Thinking::Budget(1024);
    let log = traced(async { client.complete(&asked).await.unwrap() }).await;
    assert_eq!(log.matches("request adapted").count(), 1, "{log}");
    insta::assert_snapshot!("tracing_warning", log);
}

#[tokio::test]
async fn a_count_of_tokens_that_is_adapted_tells_it_once() {
    let client = build(&server(|_| Ok(json(200, r#"{"input_tokens": 7}"#.into()))));
    let mut asked = asked();
    asked.sampling.top_k = Some(1);
    let log = traced(async { client.count_tokens(&asked).await.unwrap() }).await;
    insta::assert_snapshot!("tracing_count", log);
}

#[tokio::test]
async fn a_replay_says_that_it_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let tape = llm_client::Cassette::new(folder.path().join("tape.jsonl"));
    let recording = client(
        WIRE,
        &saying(WIRE, &CannedReply::text("hello")),
        &skipping(),
    );
    let recording = recording.record(tape.clone()).build().unwrap();
    recording.complete(&asked()).await.unwrap();
    let replaying = client(WIRE, &nobody(), &skipping()).replay(tape);
    let replaying = replaying.build().unwrap();
    let log = traced(async { replaying.complete(&asked()).await.unwrap() }).await;
    assert!(log.contains("llm.source = \"replay\""), "{log}");
    assert!(log.contains("llm.cost_nano_usd = 0"), "{log}");
}

#[tokio::test]
async fn a_call_that_is_refused_before_it_is_sent() {
    let client = build(&nobody());
    let mut asked = asked();
    asked.messages.clear();
    let log = traced(async { client.complete(&asked).await.unwrap_err() }).await;
    assert!(log.contains("error.type = \"bad_request\""), "{log}");
    assert!(log.contains("llm.attempt = 0"), "{log}");
}
