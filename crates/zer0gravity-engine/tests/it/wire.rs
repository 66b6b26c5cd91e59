//! A server that is a function called by `llm-client`, to see the requests as they are sent.

use std::sync::Arc;
use std::time::Duration;

use llm_client::provider::HttpRequest;
use llm_client::{Anthropic, AnthropicVersion, Auth, Client, CountPolicy, Endpoint};
use serde_json::{Value, json};
use test_support::{CannedReply, FakeClock, MemoryTransport, response};
use zer0gravity_engine::LlmModelClient;

use crate::player::{MODEL, RULES, SEMANTIC, label};

/// A client with a server in memory, and the requests to it.
pub struct Wire {
    pub client: LlmModelClient,
    transport: Arc<MemoryTransport>,
}

/// A status and a body.
pub type Answer = (u16, String);

impl Wire {
    /// Answers with a function of the path after the base URL and of the body.
    pub fn new(answer: impl FnMut(&str, &Value) -> Answer + Send + 'static) -> Self {
        Self::speaking(AnthropicVersion::default(), answer)
    }

    /// The same in another version of the protocol.
    pub fn speaking(
        version: AnthropicVersion,
        mut answer: impl FnMut(&str, &Value) -> Answer + Send + 'static,
    ) -> Self {
        let transport = Arc::new(MemoryTransport::new(move |request| {
            let (status, body) = answer(&request.path, &body(request));
            let headers = [("content-type", "application/json")];
            Ok(response(status, &headers, body))
        }));
        let endpoint = Endpoint::new("http://127.0.0.1:1", Auth::None).unwrap();
        // Waits between attempts take no time, timeouts never come.
        let clock = FakeClock::skip_up_to(Duration::from_secs(30));
        let provider = Anthropic::new(endpoint).with_version_for(MODEL, version);
        let client = Client::builder(Arc::new(provider), Arc::new(clock))
            .transport(transport.clone())
            .counts(CountPolicy::ExactOnly)
            .build()
            .unwrap();
        Self {
            client: LlmModelClient::new(client, label()),
            transport,
        }
    }

    /// Every request so far: the path and the body.
    pub fn sent(&self) -> Vec<(String, Value)> {
        let requests = self.transport.requests();
        requests
            .iter()
            .map(|request| (request.path.to_string(), body(request)))
            .collect()
    }
}

fn body(request: &HttpRequest) -> Value {
    serde_json::from_slice(&request.body).unwrap()
}

pub const COUNT: &str = "/v1/messages/count_tokens";
pub const MESSAGES: &str = "/v1/messages";

/// A count of the letters.
pub fn counts(body: &Value) -> Answer {
    let text = text(&body["messages"][0]["content"]);
    (
        200,
        json!({"input_tokens": text.chars().count()}).to_string(),
    )
}

/// The reply of a good model in the role that the system prompt names, with the given tokens of encoder and decoder.
pub fn plays(body: &Value, encoder: u64, decoder: u64) -> Answer {
    let system = text(&body["system"]);
    let first = system.lines().next().unwrap_or_default();
    let canned = if first.contains("encoding agent") {
        CannedReply::text("shrt").tokens(encoder, 5)
    } else if first.contains("decoding agent") {
        CannedReply::text("a short text").tokens(decoder, 5)
    } else if first.contains("semantic") || first.contains("two texts") {
        CannedReply::text(SEMANTIC)
    } else if first.contains("carry out") {
        CannedReply::text("an answer")
    } else {
        CannedReply::text(RULES)
    };
    (200, canned.anthropic_json())
}

/// A string, or the text of blocks.
pub fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| block["text"].as_str());
            texts.collect()
        }
        _ => String::new(),
    }
}
