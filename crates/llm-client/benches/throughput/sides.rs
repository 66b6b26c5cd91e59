//! The two sides that are compared: reqwest and serde by themselves, and the client with all its layers.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use futures_util::StreamExt as _;
use llm_client::provider::Provider;
use llm_client::{
    Anthropic, Auth, Budget, Cassette, Client, Compat, Dialect, Endpoint, Event, EventStream,
    Limits, ModelTable, Request, SystemClock, ToolSpec, Usd,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::wire::Form;

pub const MODEL: &str = "bench-1";
const KEY: &str = "sk-bench-0123456789";
const MAX_TOKENS: u32 = 1024;

/// A prompt of about two thousand bytes.
fn prompt() -> String {
    "Say how often the orbit closes. ".repeat(60)
}

/// Reqwest and serde, as lean as one would write it by hand.
#[derive(Clone)]
pub struct Raw {
    client: reqwest::Client,
    url: String,
    prompt: Arc<str>,
}

#[derive(Serialize)]
struct Ask<'a> {
    model: &'a str,
    max_tokens: u32,
    messages: [Turn<'a>; 1],
    stream: bool,
}

#[derive(Serialize)]
struct Turn<'a> {
    role: &'a str,
    content: &'a str,
}

#[derive(Deserialize)]
struct Said {
    content: Vec<Piece>,
    usage: Tokens,
}

#[derive(Deserialize)]
struct Piece {
    text: String,
}

#[derive(Deserialize)]
struct Tokens {
    input_tokens: u64,
    output_tokens: u64,
}

impl Raw {
    pub fn new(server: SocketAddr) -> Self {
        // The second one of a process finds it installed.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Self {
            client: reqwest::Client::builder().no_proxy().build().unwrap(),
            url: format!("http://{server}/v1/messages"),
            prompt: prompt().into(),
        }
    }

    async fn send(&self, stream: bool) -> reqwest::Response {
        let ask = Ask {
            model: MODEL,
            max_tokens: MAX_TOKENS,
            messages: [Turn {
                role: "user",
                content: &self.prompt,
            }],
            stream,
        };
        self.client
            .post(&self.url)
            .header("x-api-key", KEY)
            .header("anthropic-version", "2023-06-01")
            .header("content-type", "application/json")
            .body(serde_json::to_vec(&ask).unwrap())
            .send()
            .await
            .unwrap()
    }

    pub async fn call(&self) {
        let body = self.send(false).await.bytes().await.unwrap();
        let said: Said = serde_json::from_slice(&body).unwrap();
        let length: usize = said.content.iter().map(|piece| piece.text.len()).sum();
        assert!(length > 0 && said.usage.input_tokens + said.usage.output_tokens > 0);
    }

    pub async fn open(&self) -> reqwest::Response {
        self.send(true).await
    }
}

/// A tool as programs define them: about 350 bytes.
fn tool(number: usize) -> ToolSpec {
    let schema = json!({
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "The file to read."},
            "lines": {"type": "integer", "minimum": 1},
            "mode": {"type": "string", "enum": ["text", "bytes"]},
        },
        "required": ["path"],
    });
    ToolSpec::Function {
        name: format!("read_{number}"),
        description: "Reads a part of a file of the project.".to_owned(),
        schema,
        strict: None,
    }
}

/// The client with budget, retries, limiter and timeouts, and with a record if there is a place for it.
#[derive(Clone)]
pub struct Layers {
    client: Client,
    request: Arc<Request>,
}

impl Layers {
    pub fn new(server: SocketAddr, form: Form, record: Option<&Path>, tools: usize) -> Self {
        let provider: Arc<dyn Provider> = match form {
            Form::Anthropic => {
                let auth = Auth::ApiKeyHeader(KEY.into());
                let endpoint = Endpoint::new(&format!("http://{server}"), auth).unwrap();
                Arc::new(Anthropic::new(endpoint))
            }
            Form::Openai => {
                let auth = Auth::Bearer(KEY.into());
                let endpoint = Endpoint::new(&format!("http://{server}/v1"), auth).unwrap();
                Arc::new(Compat::new(endpoint, Dialect::openai()))
            }
        };
        let name = provider.name().to_owned();
        let row = |id| {
            format!(
                r#"{{"provider": "{name}", "id": "{id}", "price": {{"in": "0.01", "out": "0.05"}}}}"#
            )
        };
        let rows = format!(
            r#"{{"schema_version": 1, "read_on": "2026-11-22", "models": [{}]}}"#,
            row(MODEL)
        );
        let prices = ModelTable::parse(&rows).unwrap();
        let mut builder = Client::builder(provider, Arc::new(SystemClock::new()))
            .models(ModelTable::embedded().overridden_by(&prices))
            .budget(
                Budget::default()
                    .usd(Some(Usd(i64::MAX / 2)))
                    .calls(Some(u64::MAX / 2))
                    .tokens(Some(u64::MAX / 2)),
            )
            .limits(Limits::default().concurrency(1024));
        if let Some(path) = record {
            builder = builder.record(Cassette::new(path));
        }
        let mut request = Request::new(MODEL, prompt());
        request.max_tokens = Some(MAX_TOKENS);
        request.tools = (0..tools).map(tool).collect();
        Self {
            client: builder.build().unwrap(),
            request: Arc::new(request),
        }
    }

    pub async fn call(&self) {
        let reply = self.client.complete(&self.request).await.unwrap();
        assert!(!reply.text().is_empty() && reply.usage.total() > 0 && reply.cost.usd.is_some());
    }

    pub async fn open(&self) -> EventStream {
        self.client.stream(&self.request).await.unwrap()
    }
}

/// Reads the body to its end and gives its length.
pub async fn read_bytes(mut response: reqwest::Response) -> usize {
    let mut length = 0;
    while let Some(chunk) = response.chunk().await.unwrap() {
        length += chunk.len();
    }
    length
}

/// Reads the stream to its end and gives its text.
pub async fn read_text(mut events: EventStream) -> String {
    let mut whole = String::new();
    while let Some(event) = events.next().await {
        if let Event::TextDelta { text, .. } = event.unwrap() {
            whole.push_str(&text);
        }
    }
    whole
}
