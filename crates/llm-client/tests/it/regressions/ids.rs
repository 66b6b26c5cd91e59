//! Ids of tool calls that a server does not give.

use llm_client::BlockKind;

use crate::faults::{Wire, request, skipping};
use crate::memory::{client, json, server};

/// 2 MB of calls without an id: each gets its own in one pass, so the test takes as long as reading the body.
#[tokio::test]
async fn c19_a_hundred_thousand_calls_without_an_id_are_read() {
    let calls = vec![r#"{"type":"tool_use"}"#; 100_000].join(",");
    let body = format!(
        r#"{{"id":"m","type":"message","role":"assistant","model":"m","content":[{calls}],"stop_reason":"tool_use","usage":{{"input_tokens":1,"output_tokens":1}}}}"#
    );
    let transport = server(move |_| Ok(json(200, body.clone())));
    let client = client(Wire::Anthropic, &transport, &skipping())
        .build()
        .unwrap();
    let reply = client.complete(&request()).await.unwrap();
    let last = reply.tool_uses().last().map(|block| &block.kind);
    assert!(
        matches!(last, Some(BlockKind::ToolUse { id, .. }) if id == "call_100000"),
        "{last:?}"
    );
}
