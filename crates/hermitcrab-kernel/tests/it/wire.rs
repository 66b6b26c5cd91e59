//! The places of the cache marks in a request: acceptance row 22.

use llm_client::{Block, CacheMark, Raw, ToolSpec};
use serde_json::{Value, json};

use crate::models::{Rig, answer, request};

fn tool(name: &str) -> ToolSpec {
    ToolSpec::Function {
        name: name.to_owned(),
        description: "Does it.".to_owned(),
        schema: json!({ "type": "object", "properties": {}, "required": [] }),
        strict: None,
    }
}

/// The body of a request with these tools.
async fn sent(tools: Vec<ToolSpec>) -> Value {
    let rig = Rig::by_model(|_| answer("hi"));
    let mut request = request();
    request.system = vec![
        Block::text("block A").cached(CacheMark::Default),
        Block::text("block B"),
    ];
    request.tools = tools;
    rig.ask(request).await.unwrap();
    rig.server.requests()[0].json()
}

#[tokio::test]
async fn block_a_and_the_last_tool_are_marked() {
    let body = sent(vec![tool("block_read"), tool("set_tools")]).await;
    insta::assert_json_snapshot!(body);
}

#[tokio::test]
async fn a_tool_of_the_provider_can_be_the_last_one() {
    let search = r#"{"type":"web_search_20250305","name":"web_search","max_uses":5}"#;
    let body = sent(vec![
        tool("block_read"),
        ToolSpec::Server(Raw::parse(search).unwrap()),
    ])
    .await;
    assert_eq!(
        body["tools"][1],
        json!({
            "type": "web_search_20250305", "name": "web_search", "max_uses": 5,
            "cache_control": { "type": "ephemeral" },
        })
    );
    assert!(body["tools"][0].get("cache_control").is_none());
}

#[tokio::test]
async fn without_tools_nothing_is_said_of_them() {
    let body = sent(Vec::new()).await;
    assert!(body.get("tools").is_none());
    assert_eq!(
        body["system"][0]["cache_control"],
        json!({ "type": "ephemeral" })
    );
    assert!(body["system"][1].get("cache_control").is_none());
}
