//! Content of a server is sent back byte for byte, also of unknown types.

use llm_client::{Block, Message, Reply, Request, Role};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::wire::anthropic::provider;
use crate::wire::{Answer, CannedReply, encoded, send};

/// Blocks in odd spellings: keys out of order, numbers and escapes in other forms, unknown fields, types and nulls.
const BLOCKS: [&str; 9] = [
    r#"{"signature":"c2ln","thinking":"","type":"thinking"}"#,
    r#"{"data":"x==","type":"redacted_thinking"}"#,
    r#"{ "text" : "caf\u00e9 \/ \ud83d\ude42" ,"type":"text", "citations": null }"#,
    r#"{"type":"server_tool_use","id":"s1","name":"web_search","input":{"q":"x","n":1.0}}"#,
    r#"{"type":"web_search_tool_result","tool_use_id":"s1","content":[{"z":1e2,"a":[ ]}]}"#,
    r#"{"input":{"b":1.50,"a":-0.0,"big":123456789012345678901234567890},"id":"t1","name":"f","type":"tool_use"}"#,
    r#"{"type":"tool_use","id":"t2","name":"f","input":{},"caller":{"type":"direct"}}"#,
    r#"{"type":"hologram","payload":[null,{"é":"\u0000"}]}"#,
    "{\n  \"type\": \"text\",\n  \"text\": \"\"\n}",
];

async fn received() -> Reply {
    let body = format!(
        r#"{{"id":"m1","type":"message","role":"assistant","model":"m","content":[{}],"stop_reason":"tool_use","usage":{{"input_tokens":1,"output_tokens":1}}}}"#,
        BLOCKS.join(", ")
    );
    let server = CannedReply::new([Answer::json(body.clone())]);
    let reply = send(&provider(), &Request::new("m", "x"), &server)
        .await
        .unwrap();
    assert_eq!(reply.raw.get(), body);
    reply
}

#[derive(Deserialize)]
struct Body {
    messages: Vec<Turn>,
}

#[derive(Deserialize)]
struct Turn {
    content: Box<RawValue>,
}

/// The blocks of the second message as they would be sent.
fn sent(turn: Message) -> Vec<String> {
    let results = ["t1", "t2"].map(|id| Block::tool_result(id, "ok", false));
    let mut request = Request::new("m", "x");
    request.messages.push(turn);
    request
        .messages
        .push(Message::new(Role::User, results.to_vec()));
    let http = encoded(&provider(), &request, "m").unwrap();
    let body: Body = serde_json::from_slice(&http.body).unwrap();
    let blocks: Vec<Box<RawValue>> = serde_json::from_str(body.messages[1].content.get()).unwrap();
    blocks.iter().map(|block| block.get().to_owned()).collect()
}

#[tokio::test]
async fn a_received_turn_goes_back_byte_for_byte() {
    assert_eq!(sent(received().await.to_message()), BLOCKS);
}

#[tokio::test]
async fn a_saved_reply_goes_back_byte_for_byte() {
    let reply = received().await;
    let saved = serde_json::to_string(&reply).unwrap();
    let loaded: Reply = serde_json::from_str(&saved).unwrap();
    assert_eq!(loaded, reply);
    assert_eq!(loaded.raw.get(), reply.raw.get());
    assert_eq!(sent(loaded.to_message()), BLOCKS);
}

#[tokio::test]
async fn a_saved_conversation_goes_on_byte_for_byte() {
    let mut request = Request::new("m", "x");
    request.messages.push(received().await.to_message());
    let saved = serde_json::to_vec_pretty(&request).unwrap();
    let mut loaded: Request = serde_json::from_slice(&saved).unwrap();
    assert_eq!(loaded, request);
    let texts: Vec<_> = sent(loaded.messages.remove(1))
        .iter()
        .map(|text| text.replace(['\n', ' '], ""))
        .collect();
    assert_eq!(texts, BLOCKS.map(|text| text.replace(['\n', ' '], "")));
}

#[tokio::test]
async fn a_block_of_the_callers_own_cannot_stand_for_a_received_one() {
    let mut turn = received().await.to_message();
    turn.content[1].raw = None;
    let mut request = Request::new("m", "x");
    request.messages.push(turn);
    let error = encoded(&provider(), &request, "m").unwrap_err();
    let text = error.to_string();
    assert!(text.contains("redacted_thinking"), "{text}");
}
