//! Chat completions: the captured exchanges of `OpenAI`, `OpenRouter` and `LiteLLM`, and what a stream may do.

mod replies;
mod streams;

use futures_util::{FutureExt as _, StreamExt as _};
use llm_client::dialect::{MaxTokensField, StreamUsage};
use llm_client::provider::StructuredMode;
use llm_client::{
    Auth, Block, BlockKind, Compat, CostSource, Dialect, Endpoint, Error, ErrorKind, Event,
    EventStream, Message, OutputFormat, Raw, Reply, Request, Role, StopReason, ToolChoice,
    ToolInput, ToolSpec, Usd,
};
use serde_json::{Value, json};

use super::{Answer, CannedReply, Vector, models, send, stream_of};

/// A provider at a server of this dialect; `base` is the path of its base URL.
pub fn provider(dialect: Dialect, base: &str) -> Compat {
    let auth = Auth::Bearer("test-key".into());
    let endpoint = Endpoint::new(&format!("https://host.test{base}"), auth).unwrap();
    Compat::new(endpoint, dialect)
}

/// As the captured client wrote: the older name of the length, and usage of a stream only where it is asked for.
fn openai() -> Dialect {
    let mut dialect = Dialect::openai();
    dialect.max_tokens_field = MaxTokensField::MaxTokens;
    dialect.stream_usage = StreamUsage::None;
    dialect
}

fn openrouter() -> Compat {
    provider(Dialect::openrouter(), "/api/v1")
        .with_referer("https://example.test")
        .with_title("bench")
}

fn weather() -> ToolSpec {
    ToolSpec::Function {
        name: "get_weather".to_owned(),
        description: "weather".to_owned(),
        schema: json!({
            "type": "object",
            "properties": { "city": { "type": "string" } },
            "required": ["city"],
        }),
        strict: None,
    }
}

/// The answer of `provider` when its server answers so; every event is there at once.
pub fn ask(provider: &Compat, request: &Request, answer: Answer) -> Result<Reply, Error> {
    let transport = CannedReply::new([answer]);
    send(provider, request, &transport).now_or_never().unwrap()
}

pub fn stream(provider: &Compat, request: &Request, answer: Answer) -> Result<EventStream, Error> {
    let transport = CannedReply::new([answer]);
    stream_of(provider, request, &transport)
        .now_or_never()
        .unwrap()
}

/// All events, and the error that ends them.
pub fn drain(mut events: EventStream) -> (Vec<Event>, Option<Error>) {
    let mut all = Vec::new();
    while let Some(event) = events.next().now_or_never().unwrap() {
        match event {
            Ok(event) => all.push(event),
            Err(error) => return (all, Some(error)),
        }
    }
    (all, None)
}

/// Sends `request` as the vector's client did, and checks what was sent.
fn exchange(provider: &Compat, name: &str, request: &Request) -> Result<Reply, Error> {
    let vector = Vector::load(name);
    let transport = CannedReply::new([vector.answer()]);
    let streams = vector.request.body.get("stream").is_some();
    let result = if streams {
        let events = stream_of(provider, request, &transport)
            .now_or_never()
            .unwrap();
        events.and_then(|events| events.collect().now_or_never().unwrap())
    } else {
        send(provider, request, &transport).now_or_never().unwrap()
    };
    vector.assert_sent(&transport.only());
    if let Ok(reply) = &result {
        assert_eq!(
            reply.request_id.as_deref(),
            vector.reply.headers.get("x-request-id").map(String::as_str)
        );
    }
    result
}

fn open_ai(name: &str, request: &Request) -> Reply {
    exchange(&provider(openai(), "/v1"), name, request).unwrap()
}

/// The calls of a reply as (id, name, arguments).
fn calls(reply: &Reply) -> Vec<(&str, &str, &str)> {
    reply
        .tool_uses()
        .map(|block| match &block.kind {
            BlockKind::ToolUse { id, name, input } => match input {
                ToolInput::Json(raw) => (id.as_str(), name.as_str(), raw.get()),
                ToolInput::Invalid(text) => (id.as_str(), name.as_str(), text.as_str()),
            },
            other => panic!("no call: {other:?}"),
        })
        .collect()
}

fn check(reply: &Reply, text: &str, stop: &StopReason, tokens: (u64, u64)) {
    assert_eq!(reply.text(), text);
    assert_eq!(&reply.stop, stop);
    assert_eq!((reply.usage.input, reply.usage.output), tokens);
    assert!(reply.usage.known);
}

#[test]
fn oa_01_a_plain_question() {
    let mut request = Request::new("gpt-4o", "PING plain");
    request.system = vec![Block::text("brief")];
    request.max_tokens = Some(64);
    request.sampling.seed = Some(7);
    request.sampling.temperature = Some(0.2);
    let reply = open_ai("oa_01_plain", &request);
    check(&reply, "pong from fixture", &StopReason::EndTurn, (11, 4));
    assert_eq!(reply.model, "gpt-4o");
    assert_eq!(reply.cost.from, CostSource::Unknown);
}

fn tool_request() -> Request {
    let mut request = Request::new("gpt-4o", "PING tool");
    request.tools = vec![weather()];
    request
}

const CITIES: [(&str, &str, &str); 2] = [
    ("toolu_fix_1", "get_weather", r#"{"city":"Paris"}"#),
    ("toolu_fix_2", "get_weather", r#"{"city":"Oslo"}"#),
];

#[test]
fn oa_02_two_tool_calls_at_once() {
    let mut request = tool_request();
    request.tool_choice = ToolChoice::Auto {
        parallel: Some(true),
    };
    let reply = open_ai("oa_02_tools", &request);
    check(&reply, "let me look", &StopReason::ToolUse, (3, 16));
    assert_eq!(calls(&reply), CITIES);
}

#[test]
fn oa_03_the_turn_is_echoed_and_each_result_is_a_message() {
    let mut request = tool_request();
    let reply = open_ai("oa_03a_toolloop_turn1", &request);
    let results = CITIES.map(|(id, ..)| Block::tool_result(id, "21C", false));
    request.messages.push(reply.to_message());
    request
        .messages
        .push(Message::new(Role::User, results.into()));
    let reply = open_ai("oa_03b_toolloop_turn2", &request);
    check(
        &reply,
        "It is 21C in Paris and 9C in Oslo.",
        &StopReason::EndTurn,
        (7, 9),
    );

    // Without the raw turn, as after a model of another protocol, the same is sent.
    request.messages[1].raw = None;
    open_ai("oa_03b_toolloop_turn2", &request);
}

#[test]
fn oa_04_a_stream_that_is_asked_for_usage() {
    let mut dialect = openai();
    dialect.stream_usage = StreamUsage::Send;
    let request = Request::new("gpt-4o", "PING plain");
    let reply = exchange(&provider(dialect, "/v1"), "oa_04_stream_usage", &request).unwrap();
    check(&reply, "pong from fixture", &StopReason::EndTurn, (11, 4));
    let mut plain = Request::new("gpt-4o", "PING plain");
    plain.system = vec![Block::text("brief")];
    plain.max_tokens = Some(64);
    plain.sampling.seed = Some(7);
    plain.sampling.temperature = Some(0.2);
    replies::assert_same(&reply, &open_ai("oa_01_plain", &plain));
}

#[test]
fn oa_05_a_stream_of_tool_calls() {
    let reply = open_ai("oa_05_stream_tools", &tool_request());
    assert_eq!(calls(&reply), CITIES);
    assert_eq!(
        (reply.text().as_str(), &reply.stop),
        ("let me look", &StopReason::ToolUse)
    );
    assert!(!reply.usage.known, "none was asked for");
    let mut whole = open_ai("oa_03a_toolloop_turn1", &tool_request());
    whole.usage = reply.usage.clone();
    replies::assert_same(&reply, &whole);
}

fn law() -> OutputFormat {
    let schema = json!({
        "type": "object",
        "properties": { "law": { "type": "string" } },
        "required": ["law"],
        "additionalProperties": false,
    });
    OutputFormat::new("law", schema, true)
}

#[test]
fn oa_06_and_07_a_schema_goes_as_far_as_the_server_takes_it() {
    let mut request = Request::new("gpt-4o", "PING json");
    request.format = Some(law());
    let reply = open_ai("oa_06_json_schema", &request);
    check(
        &reply,
        r#"{"law":"F=ma","score":0.9}"#,
        &StopReason::EndTurn,
        (3, 7),
    );
    let mut dialect = openai();
    dialect.json_mode = StructuredMode::Object;
    exchange(&provider(dialect, "/v1"), "oa_07_json_object", &request).unwrap();
}

#[test]
fn oa_08_a_reply_that_is_too_long() {
    let reply = open_ai("oa_08_length", &Request::new("gpt-4o", "PING length"));
    check(&reply, "cut of", &StopReason::MaxTokens, (3, 2));
}

const SONNET: &str = "anthropic/claude-3.5-sonnet";

#[test]
fn or_01_and_03_the_cost_is_the_servers_in_both_forms() {
    let request = Request::new(SONNET, "PING cost");
    let whole = exchange(&openrouter(), "or_01_plain_cost", &request).unwrap();
    let streamed = exchange(&openrouter(), "or_03_stream", &request).unwrap();
    for reply in [&whole, &streamed] {
        check(reply, "priced", &StopReason::EndTurn, (20, 5));
        assert_eq!(reply.cost.usd, Some(Usd(2_100_000)));
        assert_eq!(reply.cost.from, CostSource::Provider);
    }
    replies::assert_same(&whole, &streamed);
}

#[test]
fn or_02_the_model_that_served_is_named() {
    let mut request = Request::new("primary/model", "PING fallback");
    let extra = json!({
        "models": ["backup/model"],
        "provider": { "order": ["Anthropic"], "allow_fallbacks": true },
    });
    request.extra = extra.as_object().unwrap().clone();
    let reply = exchange(&openrouter(), "or_02_fallback_models", &request).unwrap();
    assert_eq!(reply.model, "backup/model");
    assert_eq!(reply.cost.usd, None);
    assert_eq!(
        reply.content[0].origin.as_ref().unwrap().model,
        "primary/model"
    );
}

#[test]
fn or_04_a_thought_that_is_sent_twice_is_read_once() {
    let mut request = Request::new(SONNET, "PING think");
    request.effort = Some("low".to_owned());
    let reply = exchange(&openrouter(), "or_04_reasoning", &request).unwrap();
    check(&reply, "42", &StopReason::EndTurn, (3, 1));
    let thoughts: Vec<_> = reply
        .content
        .iter()
        .filter_map(|block| match &block.kind {
            BlockKind::Thinking { text, .. } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(thoughts, ["step one; step two"]);
}

#[test]
fn or_05_an_error_with_a_number_for_a_code() {
    let request = Request::new(SONNET, "PING 400");
    let error = exchange(&openrouter(), "or_05_error_envelope", &request).unwrap_err();
    assert_eq!(
        (error.status(), error.class().as_str()),
        (Some(400), "bad_request")
    );
    assert_eq!(error.request_id(), Some("req-E8jPO3FOD2aNmqn6"));
    assert!(error.to_string().contains("max_tokens: field required"));
}

#[test]
fn ll_06_an_error_with_a_text_for_a_code() {
    let request = Request::new("mock-429", "PING plain");
    let lite = provider(Dialect::generic(), "/v1");
    let error = exchange(&lite, "ll_06_chat_429", &request).unwrap_err();
    assert!(
        matches!(
            error.kind(),
            ErrorKind::RateLimited {
                status: 429,
                quota: false,
                ..
            }
        ),
        "{error:?}"
    );
}

#[test]
fn ll_07_calls_are_a_reason_to_stop_whatever_the_server_says() {
    let request = Request::new("mock-tools", "PING plain");
    let reply = exchange(
        &provider(Dialect::generic(), "/v1"),
        "ll_07_chat_tools",
        &request,
    );
    let reply = reply.unwrap();
    check(&reply, "", &StopReason::ToolUse, (10, 20));
    assert_eq!(
        calls(&reply),
        [("call_1", "get_weather", r#"{"city": "Paris"}"#)]
    );
    assert_eq!(reply.content.len(), 1, "an empty text is no block");
}

#[test]
fn models_are_listed() {
    let body = json!({ "data": [
        { "id": "a", "context_length": 8192.0, "top_provider": { "max_completion_tokens": 4096 } },
        { "name": "no id" },
        { "id": "b", "max_model_len": null },
    ]});
    let transport = CannedReply::new([Answer::json(body.to_string())]);
    let models = models(&openrouter(), &transport)
        .now_or_never()
        .unwrap()
        .unwrap();
    assert_eq!(transport.only().url.path(), "/api/v1/models");
    assert_eq!(
        models
            .iter()
            .map(|model| model.id.as_str())
            .collect::<Vec<_>>(),
        ["a", "b"]
    );
    assert_eq!(
        (models[0].max_input, models[0].max_output),
        (Some(8192), Some(4096))
    );
    assert_eq!(models[1].max_input, None);
}

/// A reply of one message.
fn completion(message: &Value, finish: &str) -> Answer {
    Answer::json(
        json!({ "id": "c", "model": "m", "choices": [{ "message": message, "finish_reason": finish }] })
            .to_string(),
    )
}

fn ask_generic(answer: Answer) -> Result<Reply, Error> {
    ask(
        &provider(Dialect::generic(), "/v1"),
        &Request::new("m", "x"),
        answer,
    )
}

/// The raw turn that goes back.
fn echoed(reply: &Reply) -> Raw {
    reply.to_message().raw.unwrap()
}
