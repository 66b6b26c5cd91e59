//! Invalid replies of the Messages API, and the smaller routes.

use llm_client::provider::Provider as _;
use llm_client::{
    Anthropic, AnthropicVersion, Auth, BlockKind, Endpoint, Error, ErrorKind, Reply, Request,
    StopReason,
};

use super::anthropic::provider;
use super::{Answer, CannedReply, headers, models, send as send_to};

async fn send(answer: Answer) -> Result<Reply, Error> {
    let server = CannedReply::new([answer.header("request-id", "req_7")]);
    let reply = send_to(&provider(), &Request::new("m", "x"), &server).await;
    if let Err(error) = &reply {
        assert_eq!(error.request_id(), Some("req_7"), "{error}");
    }
    reply
}

/// A whole reply with these fields in it.
fn message(fields: &str) -> Answer {
    let usage = r#""usage":{"input_tokens":1,"output_tokens":1}"#;
    Answer::json(format!(
        r#"{{"type":"message","id":"m1","model":"m",{usage},{fields}}}"#
    ))
}

#[tokio::test]
async fn a_success_that_cannot_be_read_is_a_bad_response() {
    let html = "<html>key test-key</html>".repeat(1000);
    for (kind, body) in [
        ("application/json", ""),
        ("application/json", " \n"),
        ("text/html", html.as_str()),
        (
            "application/json",
            r#"{"type":"message","content":[{"type":"te"#,
        ),
        ("application/json", "[]"),
        ("application/json", "{}"),
        ("application/json", r#"{"detail":"no"}"#),
        ("application/json", r#"{"type":"error"}"#),
    ] {
        let error = send(Answer::new(200, kind, body.to_owned()))
            .await
            .unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::BadResponse { .. }),
            "{body:.40}: {error}"
        );
        let text = error.to_string();
        assert!(text.len() < 2200 && !text.contains("test-key"), "{text}");
    }
}

#[tokio::test]
async fn an_error_in_a_success_is_that_error() {
    let overloaded = r#"{"type":"error","error":{"type":"overloaded_error","message":"busy"}}"#;
    for answer in [
        Answer::json(overloaded),
        Answer::sse(format!("event: error\ndata: {overloaded}\n\n")),
        Answer::sse(format!("data: {overloaded}\n\n")),
    ] {
        let error = send(answer).await.unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::Overloaded { .. }),
            "{error:?}"
        );
    }
}

#[tokio::test]
async fn a_redirect_is_an_error() {
    let answer = Answer::new(307, "text/plain", "").header("location", "https://elsewhere.test/");
    let error = send(answer).await.unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::Api { status: 307, .. }),
        "{error:?}"
    );
}

#[tokio::test]
async fn calls_without_an_id_of_their_own_get_one() {
    let tool = |id: &str| format!(r#"{{"type":"tool_use","id":"{id}","name":"f","input":{{}}}}"#);
    for content in [tool(""), format!("{},{}", tool("t"), tool("t"))] {
        let reply = send(message(&format!(r#""content":[{content}]"#)))
            .await
            .unwrap();
        let made = reply.content.last().unwrap();
        assert!(
            matches!(&made.kind, BlockKind::ToolUse { id, .. } if id == "call_1"),
            "{made:?}"
        );
        // It is no longer as it came, so it is sent as it is.
        assert!(made.raw.is_none());
    }
}

#[tokio::test]
async fn nulls_and_news_and_odd_types_are_no_errors() {
    let reply = send(Answer::json(
        r#"{"id":7,"model":null,"content":[null,3,{"type":"new"},{"type":"text","text":null}],
            "stop_reason":"end_of_days","stop_details":{"why":1},"usage":null,"x":[]}"#,
    ))
    .await
    .unwrap();
    assert_eq!((reply.id.as_str(), reply.model.as_str()), ("", ""));
    assert_eq!(reply.content.len(), 4);
    assert!(matches!(&reply.content[2].kind, BlockKind::Other { kind } if kind == "new"));
    assert_eq!(reply.stop, StopReason::Other("end_of_days".to_owned()));
    assert_eq!(reply.stop_details.unwrap().get(), r#"{"why":1}"#);
    assert!(!reply.usage.known);
}

#[tokio::test]
async fn every_reason_to_stop_has_its_name() {
    for (wire, ours) in [
        ("end_turn", StopReason::EndTurn),
        (
            "stop_sequence",
            StopReason::StopSequence(Some("END".to_owned())),
        ),
        ("max_tokens", StopReason::MaxTokens),
        ("tool_use", StopReason::ToolUse),
        ("pause_turn", StopReason::PauseTurn),
        ("refusal", StopReason::Refusal),
        ("model_context_window_exceeded", StopReason::ContextWindow),
    ] {
        let fields = format!(r#""content":[],"stop_reason":"{wire}","stop_sequence":"END""#);
        assert_eq!(send(message(&fields)).await.unwrap().stop, ours);
    }
}

#[tokio::test]
async fn usage_is_read_in_full() {
    let usage = r#"{"input_tokens":3,"cache_creation_input_tokens":30,
        "cache_creation":{"ephemeral_5m_input_tokens":10,"ephemeral_1h_input_tokens":20},
        "cache_read_input_tokens":5,"output_tokens":8.0,"output_tokens_details":{"thinking_tokens":6},
        "server_tool_use":{"web_search_requests":2},"service_tier":"standard"}"#;
    let reply = send(Answer::json(format!(r#"{{"content":[],"usage":{usage}}}"#)))
        .await
        .unwrap();
    let usage = reply.usage;
    assert_eq!((usage.input, usage.output, usage.thinking), (3, 8, Some(6)));
    assert_eq!(
        (usage.cache_write_5m, usage.cache_write_1h, usage.cache_read),
        (10, 20, 5)
    );
    assert_eq!(usage.server_tools["web_search_requests"], 2);
    assert_eq!(usage.prompt(), 38);
    assert!(usage.known && usage.raw.unwrap().get().contains("service_tier"));

    let undivided = r#"{"content":[],"usage":{"input_tokens":1,"cache_creation_input_tokens":30}}"#;
    let usage = send(Answer::json(undivided)).await.unwrap().usage;
    assert_eq!((usage.cache_write_5m, usage.cache_write_1h), (30, 0));
}

#[tokio::test]
async fn a_reply_beyond_the_cap_is_refused() {
    let long = message(&format!(r#""content":[]{}"#, " ".repeat(64 << 20)));
    let error = send(long).await.unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::TooLarge { limit, .. } if *limit == 64 << 20),
        "{error}"
    );
}

#[tokio::test]
async fn models_are_listed() {
    let list = r#"{"data":[
        {"id":"a","lifecycle":"active","retires_at":null,"max_input_tokens":1000000,"max_tokens":128000},
        {"id":"b","lifecycle":"retired","retires_at":"2026-06-15"},{"no":"id"}],"has_more":false}"#;
    let server = CannedReply::new([Answer::json(list)]);
    let models = models(&provider(), &server).await.unwrap();
    let sent = server.only();
    assert_eq!(
        (sent.method.as_str(), sent.url.path()),
        ("GET", "/v1/models")
    );
    assert_eq!(headers(&sent, "anthropic-version"), ["2026-10-21"]);
    let ids: Vec<_> = models.iter().map(|model| model.id.as_str()).collect();
    assert_eq!(ids, ["a", "b"]);
    assert_eq!(models[0].max_input, Some(1_000_000));
    assert_eq!(models[0].max_output, Some(128_000));
    assert_eq!(models[1].retires_at.as_deref(), Some("2026-06-15"));
}

#[tokio::test]
async fn settings_are_headers() {
    let auth = Auth::ApiKeyHeader("test-key".into());
    let endpoint = Endpoint::new("https://gateway.test/anthropic/", auth).unwrap();
    let provider = Anthropic::new(endpoint)
        .with_version("2023-06-01".parse().unwrap())
        .with_name("gateway")
        .with_betas(["a-1", "b-2"])
        .unwrap();
    let server = CannedReply::new([message(r#""content":[]"#)]);
    send_to(&provider, &Request::new("m", "x"), &server)
        .await
        .unwrap();
    let sent = server.only();
    assert_eq!(
        sent.url.as_str(),
        "https://gateway.test/anthropic/v1/messages"
    );
    assert_eq!(headers(&sent, "anthropic-beta"), ["a-1,b-2"]);
    assert_eq!(headers(&sent, "anthropic-version"), ["2023-06-01"]);
    assert_eq!(headers(&sent, "x-api-key"), ["test-key"]);
    assert!(headers(&sent, "authorization").is_empty());
    assert!(headers(&sent, "x-retry-count").is_empty());
    assert_eq!(provider.name(), "gateway");
    assert!(!format!("{provider:?}").contains("test-key"));
}

#[test]
fn settings_that_cannot_be_headers_are_refused() {
    for beta in ["", "a,b", "a b", "a\n"] {
        assert!(provider().with_betas([beta]).is_err(), "{beta:?}");
    }
    assert!("2024-01-01".parse::<AnthropicVersion>().is_err());
}
