//! The request of [`llm_client::Client::prepare`] equals the one that a server receives, byte for byte.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use llm_client::{Block, CacheMark, Message, Request, Role, Thinking, ToolChoice, ToolSpec};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use test_support::FaultServer;

use crate::faults::{BOTH, KEY, Wire, hello, skipping};

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .fold(String::new(), |mut hex, byte| {
            write!(hex, "{byte:02x}").unwrap();
            hex
        })
}

fn rich() -> Request {
    let mut asked = Request::new("claude-haiku-4-5", "größe \u{2028} \"quoted\"");
    asked.system = vec![Block::text("be brief").cached(CacheMark::OneHour)];
    asked.messages.push(Message::new(
        Role::Assistant,
        vec![Block::text("so"), Block::text("what")],
    ));
    asked.messages.push(Message::user("go on"));
    asked.max_tokens = Some(3000);
    asked.thinking = Thinking::Budget(1024);
    asked.tools = vec![ToolSpec::Function {
        name: "look".into(),
        description: "looks".into(),
        schema: json!({"type": "object", "properties": {"b": {}, "a": {}}}),
        strict: Some(true),
    }];
    asked.tool_choice = ToolChoice::Auto {
        parallel: Some(false),
    };
    asked.sampling.temperature = Some(0.5);
    asked.stop = vec!["END".into()];
    asked.user_id = Some("someone".into());
    asked.labels.insert("run".into(), "1".into());
    asked.replay_key = Some("first".into());
    asked
        .extra
        .insert("x".into(), json!({"z": 1, "a": [null, 2]}));
    asked
}

/// A reply long enough to be requested as a stream from Anthropic.
fn long() -> Request {
    let mut asked = Request::new("claude-haiku-4-5", "hello");
    asked.max_tokens = Some(60_000);
    asked
}

#[tokio::test]
async fn what_is_prepared_is_what_a_server_receives() {
    for wire in BOTH {
        for asked in [rich(), long(), Request::new("model-1", "hello")] {
            let server = FaultServer::play(move |received| {
                if received.json()["stream"] == true {
                    test_support::Answer::sse(wire.events(&hello()))
                } else {
                    wire.whole(&hello())
                }
            });
            let client = wire.client(&server, &skipping()).build().unwrap();
            let prepared = client.prepare(&asked).unwrap();
            assert_eq!(server.accepted(), 0, "nothing is sent");
            client.complete(&asked).await.unwrap();
            let received = server.requests().remove(0);

            assert_eq!(prepared.method.as_str(), received.method);
            assert_eq!(prepared.path, received.path);
            assert_eq!(prepared.body, received.body, "{}", received.text());
            assert_eq!(prepared.sha256, sha256(&received.body));
            let mut headers: BTreeMap<String, String> = received.headers.into_iter().collect();
            // What the connection adds.
            let host = headers.remove("host");
            assert_eq!(host, Some(server.address().to_string()));
            let length = headers.remove("content-length");
            assert_eq!(length, Some(prepared.body.len().to_string()));
            assert_eq!(headers.remove("accept-encoding"), Some("gzip".into()));
            let key = headers.get_mut("authorization").unwrap();
            assert_eq!(*key, format!("Bearer {KEY}"));
            *key = format!("sha256:{}", sha256(key.as_bytes()));
            assert_eq!(
                prepared.headers.into_iter().collect::<BTreeMap<_, _>>(),
                headers
            );
        }
    }
}

#[tokio::test]
async fn preparing_changes_nothing() {
    let wire = Wire::Anthropic;
    let server = FaultServer::replies([wire.whole(&hello())]);
    let client = wire.client(&server, &skipping()).build().unwrap();
    assert_eq!(
        client.prepare(&rich()).unwrap(),
        client.prepare(&rich()).unwrap()
    );
    assert_eq!(client.spent(), llm_client::Spend::default());
}
