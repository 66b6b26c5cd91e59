//! A model that a test scripts, behind a real socket, and the program that talks with it.

use std::process::Command;

use serde_json::Value;
use test_support::{Answer, CannedReply, FaultServer, Received};

use crate::program::{Place, Ran, feed};

/// Looks like a key and is none.
pub const KEY: &str = "sk-ant-api03-not-a-real-key-0123456789";

/// The provider's own variable is for the provider: what it holds is not sent to a server on this machine.
pub const VARIABLE: &str = "HERMITCRAB_API_KEY";

/// What every scripted model says when it wakes.
pub const GREETING: &str = "Good morning.";

/// A reply of words.
pub fn says(text: &str) -> Answer {
    streamed(&CannedReply::text(text))
}

/// A reply that calls one tool.
pub fn calls(id: &str, tool: &str, arguments: &Value) -> Answer {
    streamed(&CannedReply::text("").call(id, tool, &arguments.to_string()))
}

pub fn streamed(canned: &CannedReply) -> Answer {
    Answer::sse(canned.anthropic_events())
}

/// An error; one that passes need not be waited for long.
pub fn fails(status: u16, kind: &str) -> Answer {
    let answer = Answer::json(status, CannedReply::anthropic_error(kind, "so it is"));
    if status == 429 || status >= 500 {
        answer.header("retry-after-ms", "50")
    } else {
        answer
    }
}

/// Whether this request wakes the model.
pub fn wakes(received: &Received) -> bool {
    let body = received.json();
    let messages = body["messages"].as_array().unwrap();
    messages.iter().any(|message| texts(message) == ["BOOT"]) && messages.len() == 1
}

/// The texts of a message.
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

/// A place, and the model that its instance asks.
pub struct Talk {
    pub place: Place,
    pub server: FaultServer,
}

impl Talk {
    /// The model greets, and then answers each request as `script` says; it sees how many came before, the greeting's
    /// not counted.
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

    /// The model answers every request so, the one that wakes it, too.
    pub fn server(script: impl FnMut(&Received) -> Answer + Send + 'static) -> Self {
        Self {
            place: Place::new(),
            server: FaultServer::play(script),
        }
    }

    /// The model greets, and then gives these answers in order; the last one is repeated.
    pub fn of(answers: impl IntoIterator<Item = Answer>) -> Self {
        let answers: Vec<_> = answers.into_iter().collect();
        Self::by(move |_, number| answers[number.min(answers.len() - 1)].clone())
    }

    /// `chat` with this model.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let url = self.server.url("");
        let base = ["chat", "--provider", "anthropic", "--base-url", &url];
        let mut command = self.place.command(&[&base, arguments].concat());
        command.env(VARIABLE, KEY);
        command
    }

    /// Says these lines to it.
    pub fn say(&self, lines: &str) -> Ran {
        self.say_with(lines, &[])
    }

    pub fn say_with(&self, lines: &str, arguments: &[&str]) -> Ran {
        feed(&mut self.command(arguments), lines.as_bytes())
    }

    /// The bodies of all requests so far, but those that wake it.
    pub fn asked(&self) -> Vec<Value> {
        let requests = self.server.requests();
        let turns = requests.iter().filter(|received| !wakes(received));
        turns.map(Received::json).collect()
    }

    /// The models that were asked for something else than to wake, in order.
    pub fn models(&self) -> Vec<String> {
        let bodies = self.asked();
        let model = |body: &Value| body["model"].as_str().unwrap().to_owned();
        bodies.iter().map(model).collect()
    }
}

/// Fails the test unless a provider would take these messages: the person begins, roles take turns, and every call of a
/// tool has its result in the next message, and no result is without its call.
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
