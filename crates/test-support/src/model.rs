use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::{Answer, CannedReply, FaultServer, Received};

/// A server that plays a model in both protocols, whole or as a stream as the request says.
///
/// It answers `POST …/v1/messages`, `POST …/chat/completions` and `POST …/v1/messages/count_tokens`.
///
/// ```
/// use test_support::{Rule, ScriptedModel};
///
/// let model = ScriptedModel::start([
///     Rule::when("weather").calls("get_weather", r#"{"city":"Oslo"}"#),
///     Rule::when("7 degrees").says("Take a coat."),
///     Rule::when("busy").fails(529, "overloaded_error").times(1),
///     Rule::always().says("Hello."),
/// ]);
/// // Give `model.anthropic_url()` or `model.openai_url()` to a client.
/// assert!(model.model_requests().is_empty());
/// ```
pub struct ScriptedModel {
    server: FaultServer,
    requests: Arc<Mutex<Vec<ModelRequest>>>,
}

/// A request to the model.
#[derive(Clone, Debug)]
pub struct ModelRequest {
    /// The number of the request at the server, from 0.
    pub number: usize,
    /// The model's id.
    pub model: String,
    /// The text of the instructions.
    pub system: String,
    /// The text of the last turn of the user, results of tools included.
    pub user: String,
    /// Whether that turn contains results of tools.
    pub has_tool_result: bool,
    /// Whether a stream is requested.
    pub stream: bool,
    /// The whole body.
    pub body: Value,
}

/// The behaviour of the model for a text. The first rule that matches counts.
#[derive(Clone, Debug)]
pub struct Rule {
    user_contains: String,
    left: Option<u32>,
    reply: CannedReply,
    error: Option<(u16, String, Option<String>)>,
}

impl Rule {
    /// A rule that applies if the last turn of the user contains `text`.
    pub fn when(text: impl Into<String>) -> Self {
        Self {
            user_contains: text.into(),
            left: None,
            reply: CannedReply::text(""),
            error: None,
        }
    }

    /// A rule that always applies.
    pub fn always() -> Self {
        Self::when("")
    }

    /// The model says `text`.
    #[must_use]
    pub fn says(mut self, text: impl Into<String>) -> Self {
        self.reply.text = text.into();
        self
    }

    /// The model calls a tool with this JSON text as arguments; several calls add up.
    #[must_use]
    pub fn calls(mut self, name: &str, arguments: &str) -> Self {
        let id = format!("call_{}", self.reply.calls.len() + 1);
        self.reply = self.reply.call(&id, name, arguments);
        self
    }

    /// The server answers with an error.
    #[must_use]
    pub fn fails(mut self, status: u16, kind: &str) -> Self {
        self.error = Some((status, kind.to_owned(), None));
        self
    }

    /// The error asks for a wait, as text of the header `retry-after`.
    #[must_use]
    pub fn retry_after(mut self, seconds: &str) -> Self {
        let error = self.error.as_mut().expect("only an error asks for a wait");
        error.2 = Some(seconds.to_owned());
        self
    }

    /// Limits the rule to this number of requests.
    #[must_use]
    pub fn times(mut self, n: u32) -> Self {
        self.left = Some(n);
        self
    }

    /// The tokens of prompt and reply; 10 and 5 if not set.
    #[must_use]
    pub fn tokens(mut self, input: u64, output: u64) -> Self {
        self.reply = self.reply.tokens(input, output);
        self
    }

    /// The cost of the call in dollars, sent as `usage.cost` in the `OpenAI` protocol.
    #[must_use]
    pub fn costs(mut self, dollars: f64) -> Self {
        self.reply.cost = Some(dollars);
        self
    }

    /// Changes any other field of the reply.
    #[must_use]
    pub fn reply(mut self, reply: CannedReply) -> Self {
        self.reply = reply;
        self
    }

    fn holds(&mut self, ask: &ModelRequest) -> bool {
        if self.left == Some(0) || !ask.user.contains(&self.user_contains) {
            return false;
        }
        self.left = self.left.map(|left| left - 1);
        true
    }
}

impl ScriptedModel {
    /// Starts a server that answers by rules; a request without a matching rule gets a 400.
    pub fn start(rules: impl IntoIterator<Item = Rule>) -> Self {
        let mut rules: Vec<Rule> = rules.into_iter().collect();
        Self::play(move |ask| {
            let rule = rules
                .iter_mut()
                .find_map(|rule| rule.holds(ask).then_some(&*rule));
            rule.cloned().unwrap_or_else(|| {
                Rule::always().fails(400, &format!("no rule for {:?}", ask.user))
            })
        })
    }

    /// Starts a server that answers by `script`; the conditions of the returned rules are ignored.
    pub fn play(mut script: impl FnMut(&ModelRequest) -> Rule + Send + 'static) -> Self {
        let requests: Arc<Mutex<Vec<ModelRequest>>> = Arc::default();
        let seen = requests.clone();
        let server = FaultServer::play(move |received| {
            let ask = ModelRequest::read(received);
            let path = received.path.as_str();
            if path.ends_with("/v1/messages/count_tokens") {
                let tokens = ask.user.len() + ask.system.len();
                return Answer::json(200, json!({"input_tokens": tokens}).to_string());
            }
            let anthropic = path.ends_with("/v1/messages");
            if !anthropic && !path.ends_with("/chat/completions") {
                return Answer::whole(404, "text/plain", "no such route");
            }
            let mut rule = script(&ask);
            rule.reply.id = format!("reply_{}", ask.number + 1);
            rule.reply.model.clone_from(&ask.model);
            let stream = ask.stream;
            seen.lock().unwrap().push(ask);
            answer(&rule, anthropic, stream)
        });
        Self { server, requests }
    }

    /// The base URL for an Anthropic client.
    pub fn anthropic_url(&self) -> String {
        self.server.url("")
    }

    /// The base URL for an `OpenAI`-compatible client.
    pub fn openai_url(&self) -> String {
        self.server.url("/v1")
    }

    /// Every request to the model so far, without counts of tokens.
    pub fn model_requests(&self) -> Vec<ModelRequest> {
        self.requests.lock().unwrap().clone()
    }

    /// Every HTTP request so far.
    pub fn requests(&self) -> Vec<Received> {
        self.server.requests()
    }

    /// The underlying server.
    pub fn server(&self) -> &FaultServer {
        &self.server
    }
}

fn answer(rule: &Rule, anthropic: bool, stream: bool) -> Answer {
    if let Some((status, kind, wish)) = &rule.error {
        let write = if anthropic {
            CannedReply::anthropic_error
        } else {
            CannedReply::openai_error
        };
        let answer = Answer::json(*status, write(kind, "scripted"));
        return match wish {
            Some(wish) => answer.header("retry-after", wish),
            None => answer,
        };
    }
    match (anthropic, stream) {
        (true, true) => Answer::sse(rule.reply.anthropic_events()),
        (true, false) => Answer::json(200, rule.reply.anthropic_json()),
        (false, true) => Answer::sse(rule.reply.openai_events()),
        (false, false) => Answer::json(200, rule.reply.openai_json()),
    }
}

impl ModelRequest {
    fn read(received: &Received) -> Self {
        let body = received.json();
        let nothing = Vec::new();
        let messages = body["messages"].as_array().unwrap_or(&nothing);
        let role = |message: &Value| message["role"].as_str().unwrap_or_default().to_owned();
        // In the OpenAI protocol each result of a tool is its own message after the assistant's.
        let turn_start = messages
            .iter()
            .rposition(|message| role(message) == "assistant")
            .map_or(0, |at| at + 1);
        let mut ask = Self {
            number: received.number,
            model: body["model"].as_str().unwrap_or_default().to_owned(),
            system: String::new(),
            user: String::new(),
            has_tool_result: false,
            stream: body["stream"] == json!(true),
            body: body.clone(),
        };
        add_text(&body["system"], &mut ask.system, &mut false);
        for (at, message) in messages.iter().enumerate() {
            match role(message).as_str() {
                "system" | "developer" => {
                    add_text(&message["content"], &mut ask.system, &mut false);
                }
                "user" if at >= turn_start => {
                    add_text(&message["content"], &mut ask.user, &mut ask.has_tool_result);
                }
                "tool" if at >= turn_start => {
                    ask.has_tool_result = true;
                    add_text(&message["content"], &mut ask.user, &mut false);
                }
                _ => {}
            }
        }
        ask
    }
}

/// Adds the text of a message's content, a line for each block.
fn add_text(content: &Value, text: &mut String, has_tool_result: &mut bool) {
    match content {
        Value::String(own) => {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(own);
        }
        Value::Array(blocks) => {
            for block in blocks {
                if block["type"] == "tool_result" {
                    *has_tool_result = true;
                    add_text(&block["content"], text, has_tool_result);
                } else {
                    add_text(&block["text"], text, has_tool_result);
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use llm_client::provider::{HttpOptions, HttpRequest, HttpTransport, Method, Transport as _};

    use super::*;

    async fn post(url: &str, body: Value) -> (u16, String) {
        let transport = HttpTransport::new(&HttpOptions::default()).unwrap();
        let mut request = HttpRequest::new(Method::Post, url.parse().unwrap(), "");
        request.body = body.to_string().into();
        let response = transport.execute(request).await.unwrap();
        let status = response.status;
        let body = response.bytes(1 << 20).await.unwrap();
        (status, String::from_utf8(body.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn rules_hold_in_order_in_both_protocols() {
        let model = ScriptedModel::start([
            Rule::when("once").fails(529, "overloaded_error").times(1),
            Rule::when("once").says("now").tokens(3, 4),
            Rule::when("7 degrees").says("cold"),
        ]);
        let messages = format!("{}/v1/messages", model.anthropic_url());
        let chat = format!("{}/chat/completions", model.openai_url());
        let ask = |stream: bool| json!({"model": "m", "stream": stream, "messages": [{"role": "user", "content": "once"}]});
        assert_eq!(post(&messages, ask(false)).await.0, 529);
        let (status, body) = post(&messages, ask(false)).await;
        let body: Value = serde_json::from_str(&body).unwrap();
        assert_eq!((status, &body["content"][0]["text"]), (200, &json!("now")));
        assert_eq!(body["usage"]["output_tokens"], 4);
        assert!(post(&chat, ask(true)).await.1.ends_with("data: [DONE]\n\n"));

        let results = [
            json!({"model": "m", "system": [{"type": "text", "text": "be kind"}], "messages": [
                {"role": "user", "content": "weather?"},
                {"role": "assistant", "content": "..."},
                {"role": "user", "content": [{"type": "tool_result", "content": "7 degrees"}]},
            ]}),
            json!({"model": "m", "messages": [
                {"role": "system", "content": "be kind"},
                {"role": "user", "content": "weather?"},
                {"role": "assistant", "content": null},
                {"role": "tool", "content": "7 degrees"},
            ]}),
        ];
        for (url, body) in [&messages, &chat].into_iter().zip(results) {
            let (status, body) = post(url, body).await;
            assert_eq!(status, 200);
            assert!(body.contains("cold"), "{body}");
            let ask = model.model_requests().pop().unwrap();
            assert_eq!(
                (ask.user.as_str(), ask.has_tool_result),
                ("7 degrees", true)
            );
            assert_eq!(ask.system, "be kind");
        }
        assert_eq!(post(&chat, json!({"messages": []})).await.0, 400);
        assert_eq!(post(&model.server().url("/x"), json!({})).await.0, 404);
    }
}
