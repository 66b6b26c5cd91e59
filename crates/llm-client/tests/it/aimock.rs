//! `@copilotkit/aimock`, which answers by the rules of `aimock_fixtures.json`.

use llm_client::{
    Block, BlockKind, Client, CostSource, CountSource, Dialect, ErrorKind, Message, Reply,
    ReplySource, Request, Role, StopReason, ToolInput, Usd, json,
};
use serde_json::{Value, json};

use crate::peer::{anthropic, ask, bearer, client, compat, key, url, weather, within_its_wait};

/// The server as Anthropic and as `OpenAI`.
fn both() -> [Client; 2] {
    let url = url("AIMOCK_URL");
    [
        client(anthropic(&url, key())),
        client(compat(&url, "/v1", bearer(), Dialect::openai())),
    ]
}

fn openrouter() -> Client {
    let url = url("AIMOCK_URL");
    client(compat(&url, "/api/v1", bearer(), Dialect::openrouter()))
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

#[tokio::test]
#[ignore = "needs AIMOCK_URL"]
async fn a_plain_question_is_answered_with_usage() {
    for client in both() {
        let reply = client.complete(&ask("PING plain")).await.unwrap();
        assert_eq!(reply.text(), "pong from fixture");
        assert_eq!(reply.stop, StopReason::EndTurn);
        assert_eq!((reply.usage.input, reply.usage.output), (11, 4));
        assert_eq!(reply.source, ReplySource::Live);
    }
}

#[tokio::test]
#[ignore = "needs AIMOCK_URL"]
async fn a_stream_comes_to_the_same_as_the_whole_reply() {
    for client in both() {
        for text in ["PING plain", "PING think", "PING length"] {
            let whole = client.complete(&ask(text)).await.unwrap();
            let stream = streamed(&client, &ask(text)).await;
            let kinds = |reply: &Reply| -> Vec<BlockKind> {
                reply
                    .content
                    .iter()
                    .map(|block| block.kind.clone())
                    .collect()
            };
            assert_eq!(kinds(&stream), kinds(&whole), "{text}");
            assert_eq!(stream.stop, whole.stop, "{text}");
        }
    }
}

#[tokio::test]
#[ignore = "needs AIMOCK_URL"]
async fn two_tools_are_called_and_their_results_answered() {
    for client in both() {
        let mut request = ask("PING tool");
        request.tools = vec![weather()];
        let called = client.complete(&request).await.unwrap();
        let results: Vec<_> = called
            .tool_uses()
            .map(|block| match &block.kind {
                BlockKind::ToolUse {
                    id,
                    input: ToolInput::Json(input),
                    ..
                } => {
                    let city = input.to::<Value>().unwrap()["city"].clone();
                    let text = if city == "Paris" { "21C" } else { "9C" };
                    Block::tool_result(id, text, false)
                }
                other => panic!("no call to run: {other:?}"),
            })
            .collect();
        assert_eq!(results.len(), 2);
        request.messages.push(called.to_message());
        request.messages.push(Message::new(Role::User, results));
        let reply = client.complete(&request).await.unwrap();
        assert_eq!(reply.text(), "It is 21C in Paris and 9C in Oslo.");
    }
}

#[tokio::test]
#[ignore = "needs AIMOCK_URL"]
async fn tools_are_called_in_a_stream_too() {
    for client in both() {
        let mut request = ask("PING tool");
        request.tools = vec![weather()];
        let whole = client.complete(&request).await.unwrap();
        let stream = streamed(&client, &request).await;
        let kinds = |reply: &Reply| -> Vec<_> {
            reply.tool_uses().map(|block| block.kind.clone()).collect()
        };
        assert_eq!(kinds(&stream), kinds(&whole));
        assert_eq!(stream.stop, StopReason::ToolUse);
    }
}

#[tokio::test]
#[ignore = "needs AIMOCK_URL"]
async fn thoughts_are_kept_apart_from_the_answer() {
    for client in both() {
        let reply = client.complete(&ask("PING think")).await.unwrap();
        assert_eq!(reply.text(), "42");
        let thought = reply.content.iter().find_map(|block| match &block.kind {
            BlockKind::Thinking { text, .. } => Some(text.as_str()),
            _ => None,
        });
        assert_eq!(thought, Some("step one; step two"));
    }
}

#[tokio::test]
#[ignore = "needs AIMOCK_URL"]
async fn a_schema_is_taken_and_the_json_is_read() {
    let schema = json!({
        "type": "object",
        "properties": {"law": {"type": "string"}, "score": {"type": "number"}},
        "required": ["law", "score"],
        "additionalProperties": false,
    });
    for client in both() {
        let asked = ask("PING json").with_schema(schema.clone());
        let text = client.complete(&asked).await.unwrap().text();
        let value = json::parse(json::find(&text).unwrap()).unwrap();
        assert_eq!(value, json!({"law": "F=ma", "score": 0.9}));
    }
}

/// The server refuses once in its life, whatever the protocol: this is the only test of it. With `retry-after: 1` come
/// `x-ratelimit-remaining-tokens: 0` and `x-ratelimit-reset-tokens: 6m0s`: the explicit wish is the one to follow.
#[tokio::test]
#[ignore = "needs AIMOCK_URL"]
async fn a_429_is_tried_again_after_the_wait_it_asks_for() {
    let [client, _] = both();
    let reply = within_its_wait(client.complete(&ask("PING 429once")))
        .await
        .unwrap();
    assert_eq!(reply.text(), "ok after retry");
    let statuses: Vec<_> = reply
        .attempts
        .iter()
        .map(|attempt| attempt.status)
        .collect();
    assert_eq!(statuses, [Some(429), Some(200)]);
    assert!(reply.attempts[1].wait.as_secs_f64() >= 1.0);
}

#[tokio::test]
#[ignore = "needs AIMOCK_URL"]
async fn a_refused_request_is_tried_once_and_keeps_its_status() {
    for client in both() {
        for (text, status) in [("PING 400", 400), ("PING 413", 413)] {
            let error = client.complete(&ask(text)).await.unwrap_err();
            assert_eq!(
                (error.class().as_str(), error.status()),
                ("bad_request", Some(status))
            );
            assert_eq!(error.attempts().len(), 1);
        }
    }
}

#[tokio::test]
#[ignore = "needs AIMOCK_URL"]
async fn the_cost_that_openrouter_tells_is_taken_to_the_nano() {
    let reply = openrouter().complete(&ask("PING cost")).await.unwrap();
    assert_eq!(reply.text(), "priced");
    assert_eq!(reply.cost.usd, Some(Usd(2_100_000)));
    assert_eq!(reply.cost.from, CostSource::Provider);
}

#[tokio::test]
#[ignore = "needs AIMOCK_URL"]
async fn a_server_that_cannot_count_gives_a_marked_estimate() {
    let [client, _] = both();
    let count = client.count_tokens(&ask("PING plain")).await.unwrap();
    assert!(
        matches!(count.source, CountSource::Estimate { .. }),
        "{count:?}"
    );
    assert!(count.tokens > 0);
}

#[tokio::test]
#[ignore = "needs AIMOCK_URL"]
async fn a_question_without_a_rule_is_a_model_that_is_not_there() {
    for client in both() {
        let error = client.complete(&ask("no rule for this")).await.unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::ModelUnavailable(_)),
            "{error:?}"
        );
    }
}
