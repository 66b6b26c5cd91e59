//! The parts that tests against third-party servers share: their address, and the providers that ask them.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use llm_client::provider::Provider;
use llm_client::{
    Anthropic, AnthropicVersion, Auth, Client, Compat, Dialect, Endpoint, Request, Sampling,
    SystemClock, ToolSpec,
};
use serde_json::json;

/// The address of a server that the user started.
#[expect(
    clippy::disallowed_methods,
    reason = "who started the server says in the environment where it is"
)]
pub fn url(variable: &str) -> String {
    std::env::var(variable)
        .unwrap_or_else(|_| panic!("{variable} is not set; `cargo xtask peers` sets it"))
}

pub fn key() -> Auth {
    Auth::ApiKeyHeader("not-a-key".into())
}

pub fn bearer() -> Auth {
    Auth::Bearer("not-a-key".into())
}

pub fn anthropic(url: &str, auth: Auth) -> Anthropic {
    Anthropic::new(Endpoint::new(url, auth).unwrap())
        // The one under which temperature is allowed.
        .with_version(AnthropicVersion::V2023_06_01)
}

/// Chat completions under `path`, such as `/v1`.
pub fn compat(url: &str, path: &str, auth: Auth, dialect: Dialect) -> Compat {
    Compat::new(
        Endpoint::new(&format!("{url}{path}"), auth).unwrap(),
        dialect,
    )
}

pub fn client(provider: impl Provider + 'static) -> Client {
    Client::builder(Arc::new(provider), Arc::new(SystemClock::new()))
        .build()
        .unwrap()
}

/// The value of work that has to wait for the server a few seconds at most, by the server's own `retry-after`. The
/// bound is far from those and far from every timeout of the client: it tells a wait of another kind.
pub async fn within_its_wait<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), work)
        .await
        .expect("waits no longer than the server's `retry-after` asks for")
}

/// A short question to a model that takes any name, at temperature 0.
pub fn ask(text: &str) -> Request {
    Request::new("some-model", text)
        .max_tokens(Some(32))
        .sampling(Sampling::default().temperature(Some(0.0)))
}

pub fn weather() -> ToolSpec {
    ToolSpec::Function {
        name: "get_weather".to_owned(),
        description: "The weather in a city.".to_owned(),
        schema: json!({
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        }),
        strict: None,
    }
}
