//! The captured exchanges: what official clients sent, and what servers answered.
//!
//! What must match and what is free is in `fixtures/llm-client/vectors/README.md`.

pub mod anthropic;
mod anthropic_replies;
mod compat;
mod prepare;
mod stream_order;

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures_util::future::{self, BoxFuture};
use futures_util::{FutureExt as _, StreamExt as _, stream};
use llm_client::models::ModelInfo;
use llm_client::provider::{
    self, HttpRequest, HttpResponse, Provider, ProviderCall, Route, Transport,
};
use llm_client::{Count, Error, Event, EventStream, Reply, Request, Target};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// The text of a file of `fixtures/llm-client/vectors`.
pub fn fixture(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/llm-client/vectors")
        .join(file);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// One captured exchange.
#[derive(Deserialize)]
pub struct Vector {
    pub name: String,
    pub request: CapturedRequest,
    pub reply: CapturedReply,
}

#[derive(Deserialize)]
pub struct CapturedRequest {
    pub method: String,
    pub path: String,
    pub headers: BTreeMap<String, Value>,
    pub body: Value,
}

#[derive(Deserialize)]
pub struct CapturedReply {
    pub status: u16,
    pub headers: BTreeMap<String, String>,
    body: Option<Box<RawValue>>,
    body_text: Option<String>,
}

impl Vector {
    /// Reads the vector `name`, such as `an_01_plain`.
    pub fn load(name: &str) -> Self {
        serde_json::from_str(&fixture(&format!("{name}.json")))
            .unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The reply as a server sends it.
    pub fn answer(&self) -> Answer {
        let body = match (&self.reply.body, &self.reply.body_text) {
            (Some(json), None) => json.get().to_owned(),
            (None, Some(text)) => text.clone(),
            _ => panic!("{}: expected body or body_text", self.name),
        };
        Answer {
            status: self.reply.status,
            headers: self.reply.headers.clone().into_iter().collect(),
            chunks: vec![Bytes::from(body)],
        }
    }

    /// One header of the reply.
    pub fn answer_header(&self, name: &str) -> Option<String> {
        self.reply.headers.get(name).cloned()
    }

    /// Method, path, body and headers are those of the captured request.
    pub fn assert_sent(&self, sent: &HttpRequest) {
        let Self { name, request, .. } = self;
        assert_eq!(sent.method.as_str(), request.method, "{name}");
        assert_eq!(sent.url.path(), request.path, "{name}");
        assert_eq!(json(&sent.body), request.body, "{name}");
        assert_no_nulls(&json(&sent.body), name);
        for (header, value) in &request.headers {
            let found = headers(sent, header);
            match header.as_str() {
                "user-agent" => assert_eq!(found.len(), 1, "{name}: {header}"),
                "authorization" => {
                    assert_eq!(found.len(), 1, "{name}: {header}");
                    assert!(found[0].starts_with("Bearer "), "{name}: {header}");
                    assert!(headers(sent, "x-api-key").is_empty(), "{name}");
                }
                "retry-count" => {
                    let count = value.as_u64().filter(|count| *count > 0);
                    let expected: Vec<_> =
                        count.map(|count| count.to_string()).into_iter().collect();
                    assert_eq!(headers(sent, "x-retry-count"), expected, "{name}");
                }
                _ => assert_eq!(found, [value.as_str().unwrap()], "{name}: {header}"),
            }
        }
    }
}

/// The values of one header of a request.
pub fn headers<'a>(sent: &'a HttpRequest, name: &str) -> Vec<&'a str> {
    sent.headers
        .iter()
        .filter(|(found, _)| *found == name)
        .map(|(_, value)| value.expose_secret())
        .collect()
}

pub fn json(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap()
}

fn assert_no_nulls(value: &Value, name: &str) {
    match value {
        Value::Null => panic!("{name}: a null was sent"),
        Value::Array(items) => items.iter().for_each(|item| assert_no_nulls(item, name)),
        Value::Object(fields) => fields
            .values()
            .for_each(|field| assert_no_nulls(field, name)),
        _ => {}
    }
}

/// The answer of a server.
#[derive(Clone)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub chunks: Vec<Bytes>,
}

impl Answer {
    pub fn new(status: u16, content_type: &str, body: impl Into<Bytes>) -> Self {
        Self {
            status,
            headers: vec![("content-type".to_owned(), content_type.to_owned())],
            chunks: vec![body.into()],
        }
    }

    pub fn json(body: impl Into<Bytes>) -> Self {
        Self::new(200, "application/json", body)
    }

    pub fn sse(body: impl Into<Bytes>) -> Self {
        Self::new(200, "text/event-stream; charset=utf-8", body)
    }

    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }
}

/// A transport that keeps what it is given and answers with what it was told, in that order.
#[derive(Default)]
pub struct CannedReply {
    sent: Mutex<Vec<HttpRequest>>,
    answers: Mutex<VecDeque<Answer>>,
}

impl CannedReply {
    pub fn new(answers: impl IntoIterator<Item = Answer>) -> Arc<Self> {
        Arc::new(Self {
            sent: Mutex::default(),
            answers: Mutex::new(answers.into_iter().collect()),
        })
    }

    /// Everything that was sent so far.
    pub fn sent(&self) -> Vec<HttpRequest> {
        self.sent.lock().unwrap().clone()
    }

    /// The only request that was sent.
    pub fn only(&self) -> HttpRequest {
        let mut sent = self.sent();
        assert_eq!(sent.len(), 1, "requests sent");
        sent.remove(0)
    }
}

impl Transport for CannedReply {
    fn execute(&self, request: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, Error>> {
        self.sent.lock().unwrap().push(request);
        let answer = self.answers.lock().unwrap().pop_front();
        let answer = answer.expect("one request more than there are answers");
        let body = stream::iter(answer.chunks.into_iter().map(Ok)).boxed();
        let response = HttpResponse::new(answer.status, answer.headers, body);
        future::ready(Ok(response)).boxed()
    }
}

/// The answer of `provider` to the first attempt at `request` by `route` over `transport`.
pub async fn answer(
    provider: &dyn Provider,
    request: &Request,
    route: Route,
    transport: &Arc<impl Transport + 'static>,
) -> Result<provider::Answer, Error> {
    let target = Target::new(provider.name(), request.model.clone());
    let wire = provider.encode(request, &target, route)?;
    let transport = Arc::clone(transport) as Arc<dyn Transport>;
    let call = ProviderCall::new(wire, route, target, transport);
    provider.answer(call).await
}

/// The whole reply to a plain request, in whatever form it comes.
pub async fn send(
    provider: &dyn Provider,
    request: &Request,
    transport: &Arc<impl Transport + 'static>,
) -> Result<Reply, Error> {
    match answer(provider, request, Route::Whole, transport).await? {
        provider::Answer::Reply(reply) => Ok(*reply),
        provider::Answer::Stream(events) => events.collect().await,
        other => panic!("{other:?}"),
    }
}

/// The events of the reply to a request for a stream.
pub async fn stream_of(
    provider: &dyn Provider,
    request: &Request,
    transport: &Arc<impl Transport + 'static>,
) -> Result<EventStream, Error> {
    Ok(
        match answer(provider, request, Route::Stream, transport).await? {
            provider::Answer::Reply(reply) => {
                EventStream::new(stream::iter([Ok(Event::Done(reply))]))
            }
            provider::Answer::Stream(events) => events,
            other => panic!("{other:?}"),
        },
    )
}

/// The number of tokens of the prompt of `request`.
pub async fn count(
    provider: &dyn Provider,
    request: &Request,
    transport: &Arc<impl Transport + 'static>,
) -> Result<Count, Error> {
    match answer(provider, request, Route::Count, transport).await? {
        provider::Answer::Count(count) => Ok(count),
        other => panic!("{other:?}"),
    }
}

/// The models that `provider` lists.
pub async fn models(
    provider: &dyn Provider,
    transport: &Arc<impl Transport + 'static>,
) -> Result<Vec<ModelInfo>, Error> {
    match answer(provider, &Request::default(), Route::Models, transport).await? {
        provider::Answer::Models(models) => Ok(models),
        other => panic!("{other:?}"),
    }
}

/// The request for a whole reply as it goes out.
pub fn encoded(
    provider: &dyn Provider,
    request: &Request,
    model: &str,
) -> Result<HttpRequest, Error> {
    let target = Target::new(provider.name(), model);
    provider.encode(request, &target, Route::Whole)
}
