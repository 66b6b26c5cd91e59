//! `llm-katan` with its echo backend: a second reading of both protocols, with keys required.

use llm_client::{
    Auth, Block, BlockKind, Client, CountSource, Dialect, Reply, Request, StopReason, ToolInput,
};
use serde_json::Value;

use crate::peer::{anthropic, ask, bearer, client, compat, key, url, weather};

/// The server as Anthropic and as `OpenAI`.
fn both() -> [Client; 2] {
    let url = url("KATAN_URL");
    [
        client(anthropic(&url, key())),
        client(compat(&url, "/v1", bearer(), Dialect::generic())),
    ]
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
#[ignore = "needs KATAN_URL"]
async fn the_request_arrives_as_it_was_meant() {
    for client in both() {
        let mut request = ask("hello, peer");
        request.system = vec![Block::text("Be brief.")];
        let reply = client.complete(&request).await.unwrap();
        let text = reply.text();
        for part in [
            "model=",
            "max_tokens=32",
            "temperature=0.0",
            "User: hello, peer",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert_eq!(reply.stop, StopReason::EndTurn);
        assert!(reply.usage.known && reply.usage.output > 0);
    }
}

#[tokio::test]
#[ignore = "needs KATAN_URL"]
async fn a_stream_ends_with_text_and_usage() {
    for client in both() {
        let reply = streamed(&client, &ask("hello, peer")).await;
        assert!(
            reply.text().ends_with("User: hello, peer"),
            "{}",
            reply.text()
        );
        assert_eq!(reply.stop, StopReason::EndTurn);
        assert!(reply.usage.known && reply.usage.output > 0);
    }
}

/// As chat completions the server answers a stream request that has tools with plain JSON.
#[tokio::test]
#[ignore = "needs KATAN_URL"]
async fn a_tool_is_called_in_whatever_form_the_reply_comes() {
    for client in both() {
        let mut request = ask("weather?");
        request.tools = vec![weather()];
        let replies = [
            client.complete(&request).await.unwrap(),
            streamed(&client, &request).await,
        ];
        for reply in replies {
            assert_eq!(reply.stop, StopReason::ToolUse);
            let call = reply.tool_uses().next().unwrap();
            let BlockKind::ToolUse { name, input, .. } = &call.kind else {
                unreachable!("tool_uses gives nothing else");
            };
            assert_eq!(name, "get_weather");
            let ToolInput::Json(input) = input else {
                panic!("not JSON: {input:?}");
            };
            assert!(input.to::<Value>().unwrap()["city"].is_string());
        }
    }
}

#[tokio::test]
#[ignore = "needs KATAN_URL"]
async fn a_missing_key_is_an_auth_error() {
    let url = url("KATAN_URL");
    for client in [
        client(anthropic(&url, Auth::None)),
        client(compat(&url, "/v1", Auth::None, Dialect::generic())),
    ] {
        let error = client.complete(&ask("hello")).await.unwrap_err();
        assert_eq!(
            (error.class().as_str(), error.status()),
            ("auth", Some(401))
        );
    }
}

#[tokio::test]
#[ignore = "needs KATAN_URL"]
async fn a_server_that_cannot_count_gives_a_marked_estimate() {
    let [client, _] = both();
    let count = client.count_tokens(&ask("hello")).await.unwrap();
    assert!(
        matches!(count.source, CountSource::Estimate { .. }),
        "{count:?}"
    );
}

#[tokio::test]
#[ignore = "needs KATAN_URL"]
async fn its_models_are_listed() {
    let [_, client] = both();
    let models = client.list_models().await.unwrap();
    assert!(!models.is_empty());
    assert!(models.iter().all(|model| !model.id.is_empty()));
}
