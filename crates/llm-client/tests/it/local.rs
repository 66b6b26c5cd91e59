//! A real model on llama.cpp's server. The tests check the form of replies only, so any model will do.

use llm_client::{Auth, Client, CountSource, Dialect, ErrorKind, Reply, Request, StopReason, json};
use serde_json::{Value, json};

use crate::peer::{anthropic, ask, client, compat, url, weather};

const QUESTION: &str = "What is the capital of France?";

fn chat_completions() -> Client {
    let url = url("LOCAL_URL");
    client(compat(&url, "/v1", Auth::None, Dialect::llamacpp()))
}

fn messages() -> Client {
    client(anthropic(&url("LOCAL_URL"), Auth::None))
}

async fn streamed(client: &Client, request: &Request) -> Reply {
    client
        .stream(request)
        .await
        .unwrap()
        .collect()
        .await
        .unwrap()
}

fn score() -> Value {
    json!({
        "type": "object",
        "properties": {"score": {"type": "integer", "minimum": 0, "maximum": 100}},
        "required": ["score"],
        "additionalProperties": false,
    })
}

#[tokio::test]
#[ignore = "needs LOCAL_URL"]
async fn both_routes_answer_within_the_bound_and_count_tokens() {
    for client in [chat_completions(), messages()] {
        let reply = client.complete(&ask(QUESTION)).await.unwrap();
        assert!(!reply.text().is_empty());
        assert!(reply.usage.known);
        assert!(reply.usage.prompt() > 0);
        assert!((1..=32).contains(&reply.usage.output), "{:?}", reply.usage);
        assert!(
            matches!(reply.stop, StopReason::EndTurn | StopReason::MaxTokens),
            "{:?}",
            reply.stop
        );
    }
}

#[tokio::test]
#[ignore = "needs LOCAL_URL"]
async fn at_temperature_0_routes_and_streams_say_the_same() {
    let first = chat_completions().complete(&ask(QUESTION)).await.unwrap();
    for client in [chat_completions(), messages()] {
        let whole = client.complete(&ask(QUESTION)).await.unwrap();
        let stream = streamed(&client, &ask(QUESTION)).await;
        assert_eq!(whole.text(), first.text());
        assert_eq!(stream.text(), first.text());
        assert_eq!(stream.stop, whole.stop);
        assert_eq!(stream.usage.prompt(), whole.usage.prompt());
        assert_eq!(stream.usage.output, whole.usage.output);
    }
}

#[tokio::test]
#[ignore = "needs LOCAL_URL"]
async fn a_schema_holds_the_model() {
    let asked = ask("Rate tea.").with_schema(score());
    let text = chat_completions().complete(&asked).await.unwrap().text();
    let value = json::parse(json::find(&text).unwrap()).unwrap();
    assert!(value["score"].is_u64(), "{text}");
}

/// A small model calls no tool; what matters is that the offer is understood and the reply is read.
#[tokio::test]
#[ignore = "needs LOCAL_URL"]
async fn tools_are_taken_and_the_reply_is_read() {
    for client in [chat_completions(), messages()] {
        let mut request = ask("What is the weather in Paris?");
        request.tools = vec![weather()];
        let reply = client.complete(&request).await.unwrap();
        let calls = reply.tool_uses().count();
        assert!(calls > 0 || !reply.text().is_empty());
        assert_eq!(calls > 0, reply.stop == StopReason::ToolUse);
    }
}

#[tokio::test]
#[ignore = "needs LOCAL_URL"]
async fn the_count_is_exact_and_is_what_the_call_then_uses() {
    let client = messages();
    let count = client.count_tokens(&ask(QUESTION)).await.unwrap();
    assert_eq!(count.source, CountSource::Exact);
    let reply = client.complete(&ask(QUESTION)).await.unwrap();
    assert_eq!(count.tokens, reply.usage.prompt());
}

#[tokio::test]
#[ignore = "needs LOCAL_URL"]
async fn a_prompt_beyond_the_context_is_a_typed_error() {
    // More than the context of a model that runs on one thread.
    let prompt = "word ".repeat(300_000);
    let error = chat_completions()
        .complete(&ask(&prompt))
        .await
        .unwrap_err();
    let ErrorKind::Api { status, kind, .. } = error.kind() else {
        panic!("{error:?}");
    };
    assert_eq!(*status, 400);
    assert_eq!(kind.as_deref(), Some("exceed_context_size_error"));
    assert_eq!(error.attempts().len(), 1);
}
