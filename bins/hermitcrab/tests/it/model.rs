//! A scripted model, served on a real socket, and the program that talks with it.

use std::process::Command;

use serde_json::Value;
use test_support::{Answer, CannedReply, FaultServer, Received};

use crate::program::{Place, Ran, feed};

/// A text that looks like a key.
pub const KEY: &str = "sk-ant-api03-not-a-real-key-0123456789";

/// The variable of the program. The key in a provider's own variable is not sent to a server on this machine.
pub const VARIABLE: &str = "HERMITCRAB_API_KEY";

/// The greeting of every scripted model when it wakes.
pub const GREETING: &str = "Good morning.";

/// Returns a reply of words.
pub fn says(text: &str) -> Answer {
    streamed(&CannedReply::text(text))
}

/// Returns a reply that calls one tool.
pub fn calls(id: &str, tool: &str, arguments: &Value) -> Answer {
    streamed(&CannedReply::text("").call(id, tool, &arguments.to_string()))
}

pub fn streamed(canned: &CannedReply) -> Answer {
    Answer::sse(canned.anthropic_events())
}

/// Returns an error. If it may pass, the client retries after a short time.
pub fn fails(status: u16, kind: &str) -> Answer {
    let answer = Answer::json(status, CannedReply::anthropic_error(kind, "so it is"));
    if status == 429 || status >= 500 {
        answer.header("retry-after-ms", "50")
    } else {
        answer
    }
}

/// Returns whether this request wakes the model.
pub fn wakes(received: &Received) -> bool {
    let body = received.json();
    let messages = body["messages"].as_array().unwrap();
    messages.iter().any(|message| texts(message) == ["BOOT"]) && messages.len() == 1
}

/// Returns the texts of a message.
pub fn texts(message: &Value) -> Vec<String> {
    let text = |text: &Value| text.as_str().unwrap().to_owned();
    match &message["content"] {
        Value::Array(blocks) => (blocks.iter())
            .filter_map(|block| block.get("text"))
            .map(text)
            .collect(),
        content => vec![text(content)],
    }
}

/// A place, and the model that its instance calls.
pub struct Talk {
    pub place: Place,
    pub server: FaultServer,
}

impl Talk {
    /// Starts a model that greets and then answers each request by `script`, which receives the number of requests before it,
    /// without that of the greeting.
    pub fn by(mut script: impl FnMut(&Received, usize) -> Answer + Send + 'static) -> Self {
        let mut number = 0;
        Self::server(move |received| {
            if wakes(received) {
                return says(GREETING);
            }
            number += 1;
            script(received, number - 1)
        })
    }

    /// Starts a model that answers every request by `script`, also the one that wakes it.
    pub fn server(script: impl FnMut(&Received) -> Answer + Send + 'static) -> Self {
        Self {
            place: Place::new(),
            server: FaultServer::play(script),
        }
    }

    /// Starts a model that greets and then gives these answers in their order. The last one is repeated.
    pub fn of(answers: impl IntoIterator<Item = Answer>) -> Self {
        let answers: Vec<_> = answers.into_iter().collect();
        Self::by(move |_, number| answers[number.min(answers.len() - 1)].clone())
    }

    /// Returns the command `chat` with this model.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let url = self.server.url("");
        let base = ["chat", "--provider", "anthropic", "--base-url", &url];
        let mut command = self.place.command(&[&base, arguments].concat());
        command.env(VARIABLE, KEY);
        command
    }

    /// Runs a chat with these lines.
    pub fn say(&self, lines: &str) -> Ran {
        self.say_with(lines, &[])
    }

    pub fn say_with(&self, lines: &str, arguments: &[&str]) -> Ran {
        feed(&mut self.command(arguments), lines.as_bytes())
    }

    /// Returns the bodies of all requests so far, without those that wake the model.
    pub fn asked(&self) -> Vec<Value> {
        let requests = self.server.requests();
        let turns = requests.iter().filter(|received| !wakes(received));
        turns.map(Received::json).collect()
    }

    /// Returns the models of these requests in their order.
    pub fn models(&self) -> Vec<String> {
        let bodies = self.asked();
        let model = |body: &Value| body["model"].as_str().unwrap().to_owned();
        bodies.iter().map(model).collect()
    }
}

/// Fails the test unless a provider would accept these messages: the person begins, the roles alternate, every tool call has
/// its result in the next message, and every result has its call.
#[track_caller]
pub fn assert_paired(body: &Value) {
    let messages = body["messages"].as_array().unwrap();
    let ids = |message: &Value, kind: &str, field: &str| -> Vec<String> {
        let blocks = message["content"].as_array().into_iter().flatten();
        let of_kind = blocks.filter(|block| block["type"] == kind);
        of_kind
            .map(|block| block[field].as_str().unwrap().to_owned())
            .collect()
    };
    let mut open = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let role = if at % 2 == 0 { "user" } else { "assistant" };
        assert_eq!(message["role"], role, "{messages:#?}");
        assert!(!message["content"].is_null(), "{messages:#?}");
        assert_eq!(
            ids(message, "tool_result", "tool_use_id"),
            open,
            "{messages:#?}"
        );
        open = ids(message, "tool_use", "id");
    }
    assert!(open.is_empty(), "{messages:#?}");
}
