//! Findings of a review in hostile replies: with a quadratic run time these tests would take minutes.

use llm_client::{ErrorKind, Message, Role};
use serde_json::json;
use test_support::response;

use crate::faults::{Wire, request, skipping};
use crate::memory::{client, saying, server};

const MANY: usize = 50_000;

#[tokio::test]
async fn many_details_of_reasoning() {
    let details = (0..MANY).map(|index| {
        let detail = json!({"type": "t", "index": index, "text": "x"});
        json!({"choices": [{"index": 0, "delta": {"reasoning_details": [detail]}}]})
    });
    let last =
        json!({"choices": [{"index": 0, "delta": {"content": "a"}, "finish_reason": "stop"}]});
    let mut body = String::new();
    for chunk in details.chain([last]) {
        body.extend(["data: ", &chunk.to_string(), "\n\n"]);
    }
    body += "data: [DONE]\n\n";
    let kind = [("content-type", "text/event-stream")];
    let transport = server(move |_| Ok(response(200, &kind, body.clone())));
    let client = client(Wire::Openai, &transport, &skipping())
        .build()
        .unwrap();
    assert_eq!(client.complete(&request()).await.unwrap().text(), "a");
}

#[tokio::test]
async fn many_tool_calls_and_their_results() {
    let wire = Wire::Anthropic;
    let blocks: Vec<_> = (0..MANY)
        .map(|n| json!({"type": "tool_use", "id": format!("toolu_{n:08}"), "name": "t", "input": {}}))
        .collect();
    let body = json!({
        "id": "m", "type": "message", "role": "assistant", "model": "m", "content": blocks,
        "stop_reason": "tool_use", "usage": {"input_tokens": 1, "output_tokens": 1},
    });
    let transport = server(move |_| Ok(crate::memory::json(200, body.to_string())));
    let asking = client(wire, &transport, &skipping()).build().unwrap();
    let reply = asking.complete(&request()).await.unwrap();
    assert_eq!(reply.tool_uses().count(), MANY);

    let results = (0..MANY)
        .rev()
        .map(|n| llm_client::Block::tool_result(format!("toolu_{n:08}"), "", false));
    let asked = request().messages(vec![
        Message::user("go"),
        reply.to_message(),
        Message::new(Role::User, results.collect()),
    ]);
    let transport = saying(wire, &crate::faults::hello());
    let asking = client(wire, &transport, &skipping()).build().unwrap();
    asking.complete(&asked).await.unwrap();
}

#[tokio::test]
async fn a_usage_that_grows_with_every_event() {
    let mut body = Wire::Anthropic.events(&crate::faults::hello())[..5].concat();
    for n in 0..MANY {
        let event = json!({"type": "message_delta", "delta": {}, "usage": {format!("k{n}"): n}});
        body.extend(["event: message_delta\ndata: ", &event.to_string(), "\n\n"]);
    }
    let kind = [("content-type", "text/event-stream")];
    let transport = server(move |_| Ok(response(200, &kind, body.clone())));
    let asking = client(Wire::Anthropic, &transport, &skipping());
    let error = asking
        .build()
        .unwrap()
        .complete(&request())
        .await
        .unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::Protocol { .. }),
        "{error:?}"
    );
}
