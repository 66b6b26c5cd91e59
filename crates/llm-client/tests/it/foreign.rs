//! Thoughts of another model, or of another server, stay out of what is sent.

use std::sync::Arc;

use llm_client::{
    Auth, Block, BlockKind, Client, ClientBuilder, Compat, Dialect, Endpoint, Message, Origin, Raw,
    Request, Role,
};
use serde_json::{Value, json};
use test_support::MemoryTransport;

use crate::faults::{BOTH, Wire, hello, request, skipping};
use crate::memory::{body, client, json as json_reply, said, server};

fn thought(provider: &str, model: &str) -> Block {
    let mut block = Block::new(BlockKind::Thinking {
        text: format!("thought of {provider} {model}"),
        signature: Some("sig".into()),
    });
    block.origin = Some(Origin::new(provider, model));
    block
}

fn redacted(provider: &str, model: &str) -> Block {
    let data = format!(r#"{{"type":"redacted_thinking","data":"of {provider} {model}"}}"#);
    let mut block = thought(provider, model).raw(Some(Raw::parse(&data).unwrap()));
    block.kind = BlockKind::RedactedThinking;
    block
}

/// The part of this conversation that is sent to a model.
async fn sent_to(wire: Wire, content: Vec<Block>) -> Value {
    let transport = server(move |sent| Ok(said(wire, &hello(), sent)));
    let mut asked = request();
    asked.messages.push(Message::new(Role::Assistant, content));
    asked.messages.push(Message::user("go on"));
    let client = client(wire, &transport, &skipping()).build().unwrap();
    client.complete(&asked).await.unwrap();
    body(&transport.requests()[0])["messages"].clone()
}

#[tokio::test]
async fn own_thoughts_are_kept_and_foreign_ones_removed() {
    let others = [("anthropic", "model-9"), ("openai", "model-1")];
    for (provider, model) in others {
        let content = vec![
            thought("anthropic", "model-1"),
            thought(provider, model),
            redacted("anthropic", "model-1"),
            redacted(provider, model),
            Block::text("said"),
        ];
        let sent = sent_to(Wire::Anthropic, content).await;
        assert_eq!(sent[1]["content"].as_array().unwrap().len(), 3, "{sent}");
        let text = sent.to_string();
        assert!(text.contains("thought of anthropic model-1"), "{text}");
        assert!(text.contains("of anthropic model-1\""), "{text}");
        assert!(!text.contains(&format!("of {provider} {model}")), "{text}");
    }
    // A thought without an origin is the caller's own: it goes as it is.
    let mut mine = thought("", "");
    mine.origin = None;
    let sent = sent_to(Wire::Anthropic, vec![mine, Block::text("said")]).await;
    assert_eq!(sent[1]["content"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn a_turn_of_foreign_thoughts_alone_says_that_it_has_no_content() {
    for wire in BOTH {
        let foreign = vec![thought("elsewhere", "model-9"), redacted("elsewhere", "m")];
        let sent = sent_to(wire, foreign).await;
        assert_eq!(sent[1]["content"], "(no content)", "{wire:?} {sent}");
    }
}

/// The reply of an OpenAI-compatible server with a thought, put back into a conversation.
async fn turn_with_reasoning() -> Message {
    let wire = Wire::Openai;
    let mut canned = hello();
    canned.thinking = Some("secret thought".into());
    let mut reply: Value = serde_json::from_str(&wire.json(&canned)).unwrap();
    let message = &mut reply["choices"][0]["message"];
    message["reasoning_details"] = json!([{"type": "reasoning.text", "text": "secret thought"}]);
    let transport = server(move |_| Ok(json_reply(200, reply.to_string())));
    let client = openrouter(&transport).build().unwrap();
    client.complete(&request()).await.unwrap().to_message()
}

fn openrouter(transport: &Arc<MemoryTransport>) -> ClientBuilder {
    let endpoint = Endpoint::new("http://127.0.0.1:1/v1", Auth::None).unwrap();
    let provider = Compat::new(endpoint, Dialect::openrouter());
    Client::builder(Arc::new(provider), Arc::new(skipping())).transport(transport.clone())
}

#[tokio::test]
async fn fields_of_reasoning_go_back_to_their_model_only() {
    let turn = turn_with_reasoning().await;
    let transport = server(|sent| Ok(said(Wire::Openai, &hello(), sent)));
    let client = openrouter(&transport).build().unwrap();
    for model in ["model-1", "model-2"] {
        let mut asked = Request::new(model, "hello");
        asked.messages.push(turn.clone());
        asked.messages.push(Message::user("go on"));
        client.complete(&asked).await.unwrap();
    }
    let sent: Vec<String> = transport
        .requests()
        .iter()
        .map(|sent| body(sent)["messages"][1].to_string())
        .collect();
    assert!(
        sent[0].contains("reasoning") && sent[0].contains("secret thought"),
        "{}",
        sent[0]
    );
    let last = sent.last().unwrap();
    assert!(
        !last.contains("reasoning") && !last.contains("secret"),
        "{last}"
    );
    assert!(last.contains("hello yourself"), "{last}");
}
