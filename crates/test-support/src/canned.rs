use serde_json::{Value, json};

/// A model's reply that can be written in both protocols, whole and as a stream.
///
/// A stream is a list of pieces, one for each event, so that a test can cut it, delay it or mix it up.
#[derive(Clone, Debug)]
pub struct CannedReply {
    /// The reply's id.
    pub id: String,
    /// The model that serves it.
    pub model: String,
    /// A thought before the text, with the signature `sig`.
    pub thinking: Option<String>,
    /// The text; may be empty.
    pub text: String,
    /// Tool calls: id, name, JSON text of the arguments.
    pub calls: Vec<(String, String, String)>,
    /// `stop_reason` of Anthropic and `finish_reason` of the others; else what the content implies.
    pub stop: Option<(String, String)>,
    /// Tokens of the prompt.
    pub input: u64,
    /// Tokens of the reply.
    pub output: u64,
    /// `usage.cost` in dollars (`OpenRouter`).
    pub cost: Option<f64>,
}

impl CannedReply {
    /// A reply with this text, 10 tokens of prompt and 5 of reply.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            id: "reply_1".into(),
            model: "model-1".into(),
            thinking: None,
            text: text.into(),
            calls: Vec::new(),
            stop: None,
            input: 10,
            output: 5,
            cost: None,
        }
    }

    /// Adds a tool call with this JSON text as arguments.
    #[must_use]
    pub fn call(mut self, id: &str, name: &str, arguments: &str) -> Self {
        self.calls.push((id.into(), name.into(), arguments.into()));
        self
    }

    /// Sets the tokens of prompt and reply.
    #[must_use]
    pub fn tokens(mut self, input: u64, output: u64) -> Self {
        (self.input, self.output) = (input, output);
        self
    }

    /// Sets the stop reason in Anthropic's words and the finish reason in `OpenAI`'s.
    #[must_use]
    pub fn stopped(mut self, anthropic: &str, openai: &str) -> Self {
        self.stop = Some((anthropic.into(), openai.into()));
        self
    }

    /// The body of a reply to `POST /v1/messages`.
    pub fn anthropic_json(&self) -> String {
        let mut content = Vec::new();
        if let Some(thinking) = &self.thinking {
            content.push(json!({"type": "thinking", "thinking": thinking, "signature": "sig"}));
        }
        if !self.text.is_empty() {
            content.push(json!({"type": "text", "text": self.text}));
        }
        for (id, name, arguments) in &self.calls {
            let input: Value = serde_json::from_str(arguments).unwrap_or(Value::Null);
            content.push(json!({"type": "tool_use", "id": id, "name": name, "input": input}));
        }
        json!({
            "id": self.id, "type": "message", "role": "assistant", "model": self.model, "content": content,
            "stop_reason": self.stop_reason(), "stop_sequence": null,
            "usage": {"input_tokens": self.input, "output_tokens": self.output},
        })
        .to_string()
    }

    /// The events of a streamed reply to `POST /v1/messages`. Text and arguments come in two pieces each.
    pub fn anthropic_events(&self) -> Vec<String> {
        let mut events = vec![anthropic_event(
            &json!({"type": "message_start", "message": {
                "id": self.id, "type": "message", "role": "assistant", "model": self.model, "content": [],
                "stop_reason": null, "stop_sequence": null,
                "usage": {"input_tokens": self.input, "output_tokens": 1},
            }}),
        )];
        let mut index = 0;
        let mut block = |start: Value, deltas: Vec<Value>| {
            events.push(anthropic_event(
                &json!({"type": "content_block_start", "index": index, "content_block": start}),
            ));
            events.extend(deltas.iter().map(|delta| {
                anthropic_event(
                    &json!({"type": "content_block_delta", "index": index, "delta": delta}),
                )
            }));
            events.push(anthropic_event(
                &json!({"type": "content_block_stop", "index": index}),
            ));
            index += 1;
        };
        if let Some(thinking) = &self.thinking {
            block(
                json!({"type": "thinking", "thinking": "", "signature": ""}),
                vec![
                    json!({"type": "thinking_delta", "thinking": thinking}),
                    json!({"type": "signature_delta", "signature": "sig"}),
                ],
            );
        }
        if !self.text.is_empty() {
            let deltas = halves(&self.text)
                .map(|part| json!({"type": "text_delta", "text": part}))
                .into();
            block(json!({"type": "text", "text": ""}), deltas);
        }
        for (id, name, arguments) in &self.calls {
            let deltas = halves(arguments)
                .map(|part| json!({"type": "input_json_delta", "partial_json": part}))
                .into();
            block(
                json!({"type": "tool_use", "id": id, "name": name, "input": {}}),
                deltas,
            );
        }
        events.push(anthropic_event(&json!({
            "type": "message_delta",
            "delta": {"stop_reason": self.stop_reason(), "stop_sequence": null},
            "usage": {"output_tokens": self.output},
        })));
        events.push(anthropic_event(&json!({"type": "message_stop"})));
        events
    }

    /// The body of a reply to `POST /chat/completions`.
    pub fn openai_json(&self) -> String {
        let mut message = json!({"role": "assistant", "content": self.text, "refusal": null});
        if self.text.is_empty() {
            message["content"] = Value::Null;
        }
        if let Some(thinking) = &self.thinking {
            message["reasoning"] = json!(thinking);
        }
        if !self.calls.is_empty() {
            let calls = self.calls.iter().map(|(id, name, arguments)| {
                json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
            });
            message["tool_calls"] = calls.collect();
        }
        json!({
            "id": self.id, "object": "chat.completion", "created": 1_795_305_600, "model": self.model,
            "choices": [{
                "index": 0, "message": message, "logprobs": null, "finish_reason": self.finish_reason(),
            }],
            "usage": self.openai_usage(),
        })
        .to_string()
    }

    /// The chunks of a streamed reply to `POST /chat/completions`, with usage and `[DONE]`. Text and arguments come
    /// in two pieces each.
    pub fn openai_events(&self) -> Vec<String> {
        let choice = |delta: Value, finish: Option<&str>| json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}]);
        let mut choices = vec![choice(json!({"role": "assistant", "content": ""}), None)];
        if let Some(thinking) = &self.thinking {
            choices.push(choice(json!({"reasoning": thinking}), None));
        }
        if !self.text.is_empty() {
            choices.extend(halves(&self.text).map(|part| choice(json!({"content": part}), None)));
        }
        for (index, (id, name, arguments)) in self.calls.iter().enumerate() {
            let call = |call: Value| choice(json!({"tool_calls": [call]}), None);
            choices.push(call(json!({
                "index": index, "id": id, "type": "function", "function": {"name": name, "arguments": ""},
            })));
            choices.extend(
                halves(arguments)
                    .map(|part| call(json!({"index": index, "function": {"arguments": part}}))),
            );
        }
        choices.push(choice(json!({}), Some(self.finish_reason())));
        let chunk = |choices: Value| {
            json!({
                "id": self.id, "object": "chat.completion.chunk", "created": 1_795_305_600,
                "model": self.model, "choices": choices,
            })
        };
        let mut events: Vec<String> = choices
            .into_iter()
            .map(|choices| openai_event(&chunk(choices)))
            .collect();
        let mut last = chunk(json!([]));
        last["usage"] = self.openai_usage();
        events.push(openai_event(&last));
        events.push("data: [DONE]\n\n".into());
        events
    }

    fn stop_reason(&self) -> &str {
        match &self.stop {
            Some((anthropic, _)) => anthropic,
            None if self.calls.is_empty() => "end_turn",
            None => "tool_use",
        }
    }

    fn finish_reason(&self) -> &str {
        match &self.stop {
            Some((_, openai)) => openai,
            None if self.calls.is_empty() => "stop",
            None => "tool_calls",
        }
    }

    fn openai_usage(&self) -> Value {
        let mut usage = json!({
            "prompt_tokens": self.input, "completion_tokens": self.output,
            "total_tokens": self.input + self.output,
        });
        if let Some(cost) = self.cost {
            usage["cost"] = json!(cost);
        }
        usage
    }

    /// `{"type":"error",...}` as Anthropic sends it.
    pub fn anthropic_error(kind: &str, message: &str) -> String {
        json!({
            "type": "error", "error": {"type": kind, "message": message}, "request_id": "req_error",
        })
        .to_string()
    }

    /// `{"error":{...}}` as `OpenAI`-compatible servers send it.
    pub fn openai_error(kind: &str, message: &str) -> String {
        json!({"error": {"message": message, "type": kind, "param": null, "code": null}})
            .to_string()
    }
}

/// An event of an Anthropic stream; its name is the `type` of the data.
pub(crate) fn anthropic_event(data: &Value) -> String {
    let name = data["type"].as_str().unwrap_or("message");
    format!("event: {name}\ndata: {data}\n\n")
}

/// One chunk of an `OpenAI`-compatible stream.
pub(crate) fn openai_event(data: &Value) -> String {
    format!("data: {data}\n\n")
}

/// Splits a text into two parts.
fn halves(text: &str) -> [&str; 2] {
    let middle = (text.len() / 2..text.len())
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(text.len());
    let (first, second) = text.split_at(middle);
    [first, second]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(event: &str) -> Value {
        let line = event.lines().find_map(|line| line.strip_prefix("data: "));
        serde_json::from_str(line.unwrap()).unwrap_or(Value::Null)
    }

    #[test]
    fn both_forms_of_both_protocols_say_the_same() {
        let canned = CannedReply::text("größe").call("c1", "look", r#"{"a":1}"#);
        let whole: Value = serde_json::from_str(&canned.anthropic_json()).unwrap();
        assert_eq!(whole["content"][1]["input"], json!({"a": 1}));
        assert_eq!(whole["stop_reason"], "tool_use");
        let events: Vec<Value> = canned
            .anthropic_events()
            .iter()
            .map(|one| data(one))
            .collect();
        let joined = |field: &str| -> String {
            let deltas = events.iter().map(|event| &event["delta"][field]);
            deltas.filter_map(Value::as_str).collect()
        };
        assert_eq!(joined("text"), "größe");
        assert_eq!(joined("partial_json"), r#"{"a":1}"#);
        assert_eq!(events.last().unwrap()["type"], "message_stop");

        let whole: Value = serde_json::from_str(&canned.openai_json()).unwrap();
        assert_eq!(whole["choices"][0]["finish_reason"], "tool_calls");
        let events: Vec<Value> = canned.openai_events().iter().map(|one| data(one)).collect();
        let text = events
            .iter()
            .filter_map(|event| event["choices"][0]["delta"]["content"].as_str());
        assert_eq!(text.collect::<String>(), "größe");
        assert_eq!(events[events.len() - 2]["usage"]["total_tokens"], 15);
    }
}
