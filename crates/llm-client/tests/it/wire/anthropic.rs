//! Exchanges with the Messages API: what we send is what the official client sent, and we read what it was answered.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use llm_client::provider::Provider as _;
use llm_client::{
    Anthropic, AnthropicVersion, Auth, Block, BlockKind, CacheMark, Client, CountSource, Endpoint,
    Error, ErrorKind, Event, Message, OutputFormat, Raw, Reply, Request, Role, StopReason,
    Thinking, ToolChoice, ToolInput, ToolSpec,
};
use serde_json::{Value, json};
use test_support::FakeClock;

use super::{
    Answer, CannedReply, Vector, count, encoded, headers, json as parsed, send, stream_of,
};

pub fn provider() -> Anthropic {
    let auth = Auth::Bearer("test-key".into());
    Anthropic::new(Endpoint::new(Anthropic::DEFAULT_BASE, auth).unwrap())
}

fn ask(model: &str, max_tokens: u32, text: &str) -> Request {
    Request::new(model, text).max_tokens(Some(max_tokens))
}

fn ping(text: &str) -> Request {
    ask("claude-opus-5-5", 64, text)
}

fn weather() -> ToolSpec {
    ToolSpec::Function {
        name: "get_weather".to_owned(),
        description: "weather by city".to_owned(),
        schema: json!({
            "type": "object",
            "properties": { "city": { "type": "string" } },
            "required": ["city"],
        }),
        strict: None,
    }
}

/// Sends `request` as the vector was sent, compares it with the vector and gives the reply.
async fn exchange(provider: &Anthropic, name: &str, request: Request) -> Result<Reply, Error> {
    let vector = Vector::load(name);
    let server = CannedReply::new([vector.answer()]);
    let streams = vector.request.body.get("stream").is_some();
    let reply = if streams {
        match stream_of(provider, &request, &server).await {
            Ok(events) => events.collect().await,
            Err(error) => Err(error),
        }
    } else {
        send(provider, &request, &server).await
    };
    let sent = server.only();
    vector.assert_sent(&sent);
    assert_eq!(sent.streams, streams);
    if let Ok(reply) = &reply {
        assert_eq!(reply.request_id, vector.answer_header("x-request-id"));
    }
    reply
}

/// Text, calls and thoughts as the tests write them.
fn said(reply: &Reply) -> Vec<String> {
    let told = |block: &Block| match &block.kind {
        BlockKind::Text { text } => text.clone(),
        BlockKind::Thinking { text, signature } => format!("<{text}> {signature:?}"),
        BlockKind::ToolUse {
            id,
            name,
            input: ToolInput::Json(input),
        } => format!("{id}: {name} {}", input.to::<Value>().unwrap()),
        other => format!("{other:?}"),
    };
    reply.content.iter().map(told).collect()
}

#[tokio::test]
async fn a_plain_exchange_matches() {
    let reply = exchange(&provider(), "an_01_plain", ping("PING plain"))
        .await
        .unwrap();
    assert_eq!(reply.text(), "pong from fixture");
    assert_eq!(reply.model, "claude-opus-5-5");
    assert_eq!(reply.id, "msg_XeowMKlpPeLHQsiA");
    assert_eq!(reply.stop, StopReason::EndTurn);
    let usage = &reply.usage;
    assert_eq!((usage.input, usage.output, usage.known), (11, 4, true));
}

#[test]
fn the_last_tool_carries_the_mark_of_the_tools() {
    let server = r#"{"type":"web_search_20250305","name":"web_search","max_uses":5}"#;
    let mut request = ping("ping")
        .tools(vec![weather(), weather()])
        .cache_tools(Some(CacheMark::FiveMinutes));
    let sent = |request: &Request| -> Value {
        let http = encoded(&provider(), request, "m").unwrap();
        serde_json::from_slice(&http.body).unwrap()
    };
    let mark = json!({ "type": "ephemeral", "ttl": "5m" });
    let body = sent(&request);
    assert!(body["tools"][0].get("cache_control").is_none());
    assert_eq!(body["tools"][1]["cache_control"], mark);
    request.tools = vec![ToolSpec::Server(Raw::parse(server).unwrap())];
    let mut marked: Value = serde_json::from_str(server).unwrap();
    marked["cache_control"] = mark;
    assert_eq!(sent(&request)["tools"], json!([marked]));
}

#[test]
fn one_model_can_be_asked_with_another_version() {
    let provider = provider().with_version_for("old", AnthropicVersion::V2023_06_01);
    for (model, version) in [("old", "2023-06-01"), ("new", "2026-10-21")] {
        let http = encoded(&provider, &ping("ping"), model).unwrap();
        let sent = http
            .headers
            .iter()
            .find(|(name, _)| *name == "anthropic-version");
        assert_eq!(sent.unwrap().1.expose_secret(), version);
        assert_eq!(provider.capabilities(model).sampling, model == "old");
    }
}

#[tokio::test]
async fn system_with_a_cache_mark_and_stop_texts_match() {
    let request = ping("PING plain")
        .system(vec![Block::text("be brief").cached(CacheMark::OneHour)])
        .stop(vec!["END".to_owned()])
        .user_id(Some("u1".to_owned()));
    exchange(&provider(), "an_02_system_cache_stop", request)
        .await
        .unwrap();
}

const CALLS: [&str; 3] = [
    "let me look",
    r#"toolu_fix_1: get_weather {"city":"Paris"}"#,
    r#"toolu_fix_2: get_weather {"city":"Oslo"}"#,
];

#[tokio::test]
async fn tools_and_parallel_calls_match() {
    let request = ping("PING tool")
        .tools(vec![weather()])
        .tool_choice(ToolChoice::Auto {
            parallel: Some(true),
        });
    let reply = exchange(&provider(), "an_03_tools", request).await.unwrap();
    assert_eq!(reply.stop, StopReason::ToolUse);
    assert_eq!(said(&reply), CALLS);
    assert_eq!(reply.tool_uses().count(), 2);
}

#[tokio::test]
async fn both_turns_of_a_tool_loop_match() {
    let first = ping("PING tool").tools(vec![weather()]);
    let called = exchange(&provider(), "an_04a_toolloop_turn1", first.clone())
        .await
        .unwrap();

    let results = called.tool_uses().map(|block| match &block.kind {
        BlockKind::ToolUse { id, .. } => Block::tool_result(id, "21C", false),
        other => panic!("{other:?}"),
    });
    let mut second = first.clone();
    second.messages.push(called.to_message());
    second
        .messages
        .push(Message::new(Role::User, results.collect()));
    let reply = exchange(&provider(), "an_04b_toolloop_turn2", second)
        .await
        .unwrap();
    assert_eq!(reply.text(), "It is 21C in Paris and 9C in Oslo.");

    // The same turn from blocks of our own, without anything received.
    let tool_use = |id: &str, city: &str| {
        Block::new(BlockKind::ToolUse {
            id: id.to_owned(),
            name: "get_weather".to_owned(),
            input: ToolInput::Json(Raw::of(&json!({ "city": city })).unwrap()),
        })
    };
    let mut own = first;
    own.messages.push(Message::new(
        Role::Assistant,
        vec![
            Block::text("let me look"),
            tool_use("toolu_fix_1", "Paris"),
            tool_use("toolu_fix_2", "Oslo"),
        ],
    ));
    own.messages.push(Message::new(
        Role::User,
        vec![
            Block::tool_result("toolu_fix_1", "21C", false),
            Block::tool_result("toolu_fix_2", "21C", false),
        ],
    ));
    exchange(&provider(), "an_04b_toolloop_turn2", own)
        .await
        .unwrap();
}

#[tokio::test]
async fn a_streamed_text_is_the_whole_reply() {
    let streamed = exchange(&provider(), "an_05_stream", ping("PING plain"))
        .await
        .unwrap();
    let whole = exchange(&provider(), "an_01_plain", ping("PING plain"))
        .await
        .unwrap();
    assert_same_answer(&streamed, &whole);
}

#[tokio::test]
async fn streamed_tool_calls_are_the_whole_reply() {
    let request = ping("PING tool").tools(vec![weather()]);
    let streamed = exchange(&provider(), "an_06_stream_tools", request.clone())
        .await
        .unwrap();
    let whole = exchange(&provider(), "an_04a_toolloop_turn1", request)
        .await
        .unwrap();
    assert_same_answer(&streamed, &whole);
    assert_eq!(said(&streamed), CALLS);
}

#[tokio::test]
async fn a_streamed_thought_is_the_whole_reply() {
    let request = ping("PING think").thinking(Thinking::Adaptive);
    let streamed = exchange(&provider(), "an_07_stream_thinking", request)
        .await
        .unwrap();
    let request = ask("claude-sonnet-4-5", 2048, "PING think").thinking(Thinking::Budget(1024));
    let whole = exchange(&provider(), "an_08_thinking_budget", request)
        .await
        .unwrap();
    // The two were asked of two models.
    let mut whole = whole;
    whole.model.clone_from(&streamed.model);
    for block in &mut whole.content {
        block.origin.clone_from(&streamed.content[0].origin);
    }
    assert_same_answer(&streamed, &whole);
    assert_eq!(
        said(&streamed),
        [
            r#"<step one; step two> Some("aimock-placeholder-signature")"#,
            "42"
        ]
    );
}

/// Equal except for the ids, which the mock server draws again.
fn assert_same_answer(streamed: &Reply, whole: &Reply) {
    let without_ids = |reply: &Reply| {
        let mut raw: Value = reply.raw.to().unwrap();
        raw["id"] = "".into();
        raw["model"] = "".into();
        let mut reply = reply.clone();
        reply.id = String::new();
        reply.request_id = None;
        reply.raw = Raw::of(&raw).unwrap();
        reply
    };
    assert_eq!(without_ids(streamed), without_ids(whole));
}

#[tokio::test]
async fn a_server_tool_is_sent_as_it_is() {
    let tool = r#"{"type":"web_search_20260318","name":"web_search","max_uses":3}"#;
    let request = ping("PING plain").tools(vec![ToolSpec::Server(Raw::parse(tool).unwrap())]);
    exchange(&provider(), "an_09_web_search", request)
        .await
        .unwrap();
}

#[tokio::test]
async fn effort_and_a_schema_match() {
    let schema = json!({
        "type": "object",
        "properties": { "law": { "type": "string" }, "score": { "type": "number" } },
        "required": ["law", "score"],
        "additionalProperties": false,
    });
    let request = ping("PING json")
        .effort(Some("low".to_owned()))
        .format(Some(OutputFormat::new("law", schema, true)));
    let reply = exchange(&provider(), "an_10_structured", request)
        .await
        .unwrap();
    assert_eq!(reply.text(), r#"{"law":"F=ma","score":0.9}"#);
}

#[tokio::test]
async fn a_counting_route_that_is_not_there_is_told_from_a_model_that_is_not() {
    let vector = Vector::load("an_11_count_tokens");
    let server = CannedReply::new([vector.answer()]);
    // What shapes the reply does not belong to the prompt and is not sent.
    let mut request = ping("PING plain")
        .tools(vec![weather()])
        .stop(vec!["END".to_owned()])
        .user_id(Some("u1".to_owned()));
    request.sampling.temperature = Some(0.5);
    request.extra.insert("top_k".to_owned(), 5.into());
    request
        .extra
        .insert("metadata".to_owned(), json!({ "user_id": "u2" }));
    let error = count(&provider(), &request, &server).await.unwrap_err();
    vector.assert_sent(&server.only());
    assert!(
        matches!(error.kind(), ErrorKind::Api { status: 404, .. }),
        "{error:?}"
    );
    assert_eq!(
        error.request_id(),
        vector.answer_header("x-request-id").as_deref()
    );

    let missing = r#"{"type":"error","error":{"type":"not_found_error","message":"model: x"}}"#;
    let server = CannedReply::new([Answer::new(404, "application/json", missing)]);
    let error = count(&provider(), &ping("hello"), &server)
        .await
        .unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::ModelUnavailable(_)),
        "{error:?}"
    );
}

#[tokio::test]
async fn counts_are_exact_unless_the_server_calls_them_estimates() {
    let vector = Vector::load("ll_05_count_tokens");
    let server = CannedReply::new([
        vector.answer(),
        Answer::json(r#"{"input_tokens":14,"context_management":null}"#),
    ]);
    let request = Request::new("claude-opus-5-5", "PING plain");
    let estimate = count(&provider(), &request, &server).await.unwrap();
    vector.assert_sent(&server.only());
    assert_eq!(estimate.tokens, 9);
    assert!(
        matches!(&estimate.source, CountSource::Estimate { method, .. } if method == "local_estimate")
    );
    let exact = count(&provider(), &request, &server).await.unwrap();
    assert_eq!((exact.tokens, exact.source), (14, CountSource::Exact));
}

#[tokio::test]
async fn the_second_attempt_says_that_it_is_one() {
    let request = ping("PING 429once");
    let error = exchange(&provider(), "an_12a_429", request.clone())
        .await
        .unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::RateLimited { status: 429, .. }),
        "{error:?}"
    );
    assert_eq!(error.retry_after(), Some(Duration::from_secs(1)));
    assert_eq!(error.request_id(), Some("req-O12oOIEC4Nc7rACZ"));
    let [busy, good] = ["an_12a_429", "an_12b_retry_ok"].map(Vector::load);
    let server = CannedReply::new([busy.answer(), good.answer()]);
    let clock = Arc::new(FakeClock::skip_up_to(Duration::from_secs(30)));
    let client = Client::builder(Arc::new(provider()), clock).transport(server.clone());
    let reply = client.build().unwrap().complete(&request).await.unwrap();
    good.assert_sent(&server.sent()[1]);
    assert_eq!(reply.text(), "ok after retry");
}

#[tokio::test]
async fn error_envelopes_become_typed_errors() {
    let error = exchange(&provider(), "an_14_400", ping("PING 400"))
        .await
        .unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::Api { status: 400, .. }),
        "{error:?}"
    );
    let error = exchange(&provider(), "an_15_413", ping("PING 413"))
        .await
        .unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::Api { status: 413, .. }),
        "{error:?}"
    );
}

#[test]
fn temperature_is_for_the_older_version() {
    let vector = Vector::load("an_21_temperature_extra");
    let mut request = ask("claude-sonnet-4-6", 64, "PING plain");
    request.sampling.temperature = Some(0.2);
    let older = provider().with_version(AnthropicVersion::V2023_06_01);
    let sent = encoded(&older, &request, "claude-sonnet-4-6").unwrap();
    assert_eq!(parsed(&sent.body), vector.request.body);
    assert_eq!(headers(&sent, "anthropic-version"), ["2023-06-01"]);
    assert!(older.capabilities("claude-sonnet-4-6").sampling);
    assert!(!provider().capabilities("claude-sonnet-4-6").sampling);
}

#[tokio::test]
async fn a_json_reply_to_a_stream_is_accepted() {
    let request = ask("claude-opus-5-5", 9, "PING plain");
    let reply = exchange(&provider(), "ll_02_stream_mock_json_reply", request)
        .await
        .unwrap();
    assert_eq!(reply.text(), "pong from litellm");
    assert_eq!((reply.usage.input, reply.usage.output), (2095, 503));
}

#[tokio::test]
async fn an_event_stream_in_reply_to_a_plain_request_is_accepted() {
    let server = CannedReply::new([Vector::load("an_05_stream").answer()]);
    let reply = send(&provider(), &ping("PING plain"), &server)
        .await
        .unwrap();
    assert_eq!(reply.text(), "pong from fixture");
}

#[tokio::test]
async fn a_stream_tells_the_same_events_however_its_bytes_are_cut() {
    for name in [
        "an_05_stream",
        "an_06_stream_tools",
        "an_07_stream_thinking",
    ] {
        let answer = Vector::load(name).answer();
        let mut bytewise = answer.clone();
        bytewise.chunks = answer.chunks[0]
            .chunks(1)
            .map(<[u8]>::to_vec)
            .map(Into::into)
            .collect();
        assert_eq!(events(answer).await, events(bytewise).await, "{name}");
    }
}

async fn events(answer: Answer) -> Vec<Event> {
    let server = CannedReply::new([answer]);
    let stream = stream_of(&provider(), &ping("x"), &server).await.unwrap();
    stream.map(Result::unwrap).collect().await
}
