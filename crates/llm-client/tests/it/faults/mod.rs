//! The fault matrix: one test for each row of section 10 of the specification, on real sockets.
//!
//! Time is the test's: waits between attempts are skipped and looked at, timeouts end when the test says so.

mod calls;
mod cassette;
mod limits;
mod long;
mod network;
mod status;
mod streams;
mod timeouts;
mod tools;

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::{FutureExt as _, StreamExt as _};
use llm_client::provider::{
    HttpOptions, HttpRequest, HttpResponse, HttpTransport, Provider, Transport,
};
use llm_client::{
    Anthropic, Auth, Client, ClientBuilder, Clock as _, Compat, Dialect, Endpoint, Error,
    ErrorKind, Event, Reply, Request, RetryPolicy,
};
use test_support::{Answer, CannedReply, FakeClock, FaultServer};
use tokio::runtime::Handle;
use tokio::sync::watch;

pub const KEY: &str = "sk-test-0123456789abcdef";
pub const SECOND: Duration = Duration::from_secs(1);

/// A protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    Anthropic,
    Openai,
}

pub const BOTH: [Wire; 2] = [Wire::Anthropic, Wire::Openai];

impl Wire {
    /// A provider that speaks it, at `server`.
    pub fn provider(self, server: &FaultServer) -> Arc<dyn Provider> {
        self.provider_at(&server.url(""))
    }

    pub fn provider_at(self, host: &str) -> Arc<dyn Provider> {
        let auth = Auth::Bearer(KEY.into());
        match self {
            Self::Anthropic => Arc::new(Anthropic::new(Endpoint::new(host, auth).unwrap())),
            Self::Openai => {
                let endpoint = Endpoint::new(&format!("{host}/v1"), auth).unwrap();
                Arc::new(Compat::new(endpoint, Dialect::openai()))
            }
        }
    }

    /// A client of `server` with the default settings.
    pub fn client(self, server: &FaultServer, clock: &FakeClock) -> ClientBuilder {
        Client::builder(self.provider(server), Arc::new(clock.clone()))
    }

    /// The reply as one JSON body.
    pub fn whole(self, canned: &CannedReply) -> Answer {
        Answer::json(200, self.json(canned))
    }

    pub fn json(self, canned: &CannedReply) -> String {
        match self {
            Self::Anthropic => canned.anthropic_json(),
            Self::Openai => canned.openai_json(),
        }
    }

    /// The reply as the events of a stream.
    pub fn events(self, canned: &CannedReply) -> Vec<String> {
        match self {
            Self::Anthropic => canned.anthropic_events(),
            Self::Openai => canned.openai_events(),
        }
    }

    /// An error body with this type.
    pub fn error(self, kind: &str) -> String {
        match self {
            Self::Anthropic => CannedReply::anthropic_error(kind, "scripted"),
            Self::Openai => CannedReply::openai_error(kind, "scripted"),
        }
    }

    /// The header in which the provider names a request.
    pub fn request_id(self) -> &'static str {
        match self {
            Self::Anthropic => "request-id",
            Self::Openai => "x-request-id",
        }
    }
}

pub fn request() -> Request {
    Request::new("model-1", "hello")
}

pub fn hello() -> CannedReply {
    CannedReply::text("hello yourself")
}

/// A clock on which waits between attempts pass at once, and no timeout does.
pub fn skipping() -> FakeClock {
    FakeClock::skip_up_to(30 * SECOND)
}

pub fn no_retries() -> RetryPolicy {
    RetryPolicy::default().retries(0)
}

/// Asks for a stream and reads it to its end: what came, and how it ended.
pub async fn read_stream(client: &Client, request: &Request) -> (Vec<Event>, Result<Reply, Error>) {
    let mut events = Vec::new();
    let mut stream = match client.stream(request).await {
        Ok(stream) => stream,
        Err(error) => return (events, Err(error)),
    };
    let mut outcome = None;
    while let Some(item) = stream.next().await {
        assert!(outcome.is_none(), "something came after the end: {item:?}");
        match item {
            Ok(Event::Done(reply)) => outcome = Some(Ok(*reply)),
            Ok(event) => events.push(event),
            Err(error) => outcome = Some(Err(error)),
        }
    }
    (
        events,
        outcome.expect("a stream ends with Done or an error"),
    )
}

/// The text of these events.
pub fn text_of(events: &[Event]) -> String {
    let deltas = events.iter().filter_map(|event| match event {
        Event::TextDelta { text, .. } => Some(text.as_str()),
        _ => None,
    });
    deltas.collect()
}

/// Waits until the tasks of this runtime that are about to end have ended.
pub async fn no_task_is_left() {
    let tasks = || Handle::current().metrics().num_alive_tasks();
    for _ in 0..100_000 {
        if tasks() == 0 {
            return;
        }
        tokio::task::yield_now().await;
    }
    panic!("{} tasks are left", tasks());
}

/// The only wait that was slept lies in this range, in seconds.
pub fn assert_waited(clock: &FakeClock, seconds: RangeInclusive<f64>) {
    let waited = clock.elapsed().as_secs_f64();
    assert!(
        seconds.contains(&waited),
        "waited {waited} s: {:?}",
        clock.skipped()
    );
}

/// The network, with a count of the pieces of bodies that arrived, so that a test moves time after them.
pub struct Tap {
    inner: HttpTransport,
    pieces: watch::Sender<usize>,
}

impl Tap {
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            inner: HttpTransport::new(&HttpOptions::default()).unwrap(),
            pieces: watch::Sender::new(0),
        })
    }

    /// Waits until this number of chunks arrived.
    pub async fn wait(&self, n: usize) {
        let mut pieces = self.pieces.subscribe();
        pieces.wait_for(|count| *count >= n).await.unwrap();
    }
}

impl Transport for Tap {
    fn execute(&self, request: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, Error>> {
        async {
            let mut response = self.inner.execute(request).await?;
            let pieces = self.pieces.clone();
            response.body = response
                .body
                .inspect(move |piece: &Result<Bytes, Error>| {
                    if piece.is_ok() {
                        pieces.send_modify(|count| *count += 1);
                    }
                })
                .boxed();
            Ok(response)
        }
        .boxed()
    }
}
