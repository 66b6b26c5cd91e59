use std::sync::Arc;
use std::time::Duration;

use llm_client::{
    Anthropic, Auth, Block, BlockKind, Bytes3, Client, Count, CountPolicy, CountSource, Endpoint,
    Error, Estimator, HttpResponse, MediaSource, Message, OutputFormat, Raw, Request, Role,
    ToolInput, ToolSpec,
};
use serde_json::json;
use test_support::{FakeClock, MemoryTransport, response};

/// The tokens of `block` alone.
fn of_block(block: Block) -> u64 {
    let with = Request {
        messages: vec![Message::new(Role::User, vec![block])],
        ..Request::default()
    };
    Bytes3.estimate(&with) - 12
}

#[test]
fn a_text_has_a_token_for_three_bytes_begun_ones_too() {
    for (text, tokens) in [
        ("", 0),
        ("a", 1),
        ("abc", 1),
        ("abcd", 2),
        ("ää", 2),
        ("日本", 2),
    ] {
        assert_eq!(of_block(Block::text(text)), tokens, "{text}");
    }
}

#[test]
fn messages_and_the_request_have_tokens_of_their_own() {
    let mut request = Request::new("m", "abc");
    assert_eq!(Bytes3.estimate(&request), 8 + 4 + 1);
    request.messages.push(Message::assistant("abcd"));
    assert_eq!(Bytes3.estimate(&request), 8 + 4 + 1 + 4 + 2);
    request.system = vec![Block::text("ab"), Block::text("ab")];
    assert_eq!(Bytes3.estimate(&request), 8 + 4 + 1 + 4 + 2 + 2);
    assert_eq!(Bytes3.name(), "bytes3");
}

#[test]
fn calls_and_results_of_tools_count_as_text() {
    let call = BlockKind::ToolUse {
        id: "a long id that is not counted".into(),
        name: "find".into(),
        input: ToolInput::Json(Raw::parse(r#"{"q":"x"}"#).unwrap()),
    };
    assert_eq!(of_block(Block::new(call)), 2 + 3);
    assert_eq!(of_block(Block::tool_result("id", "seven b", false)), 3);
}

#[test]
fn definitions_of_tools_and_the_schema_of_the_reply_count_as_json() {
    let mut request = Request::new("m", "abc");
    let alone = Bytes3.estimate(&request);
    request.tools = vec![
        ToolSpec::Function {
            name: "find".into(),
            description: "finds".into(),
            schema: json!({"type": "object"}),
            strict: None,
        },
        ToolSpec::Server(Raw::parse(r#"{"type":"web"}"#).unwrap()),
    ];
    assert_eq!(Bytes3.estimate(&request) - alone, 2 + 2 + 6 + 5);
    request.format = Some(OutputFormat {
        name: "f".into(),
        schema: json!({"type": "object"}),
        strict: true,
    });
    assert_eq!(Bytes3.estimate(&request) - alone, 2 + 2 + 6 + 5 + 6);
}

#[test]
fn a_document_of_text_counts_its_text_and_a_picture_a_flat_number() {
    let base64 = |media_type: &str| MediaSource::Base64 {
        media_type: media_type.into(),
        data: "YWJjZGVm".into(),
    };
    assert_eq!(
        of_block(Block::new(BlockKind::Document(base64("text/plain")))),
        2
    );
    assert_eq!(
        of_block(Block::new(BlockKind::Document(base64("application/pdf")))),
        1600
    );
    assert_eq!(
        of_block(Block::new(BlockKind::Image(base64("image/png")))),
        1600
    );
}

#[test]
fn a_block_of_an_unknown_type_counts_as_it_came() {
    let mut block = Block::new(BlockKind::Other { kind: "new".into() });
    block.raw = Some(Raw::parse(r#"{"type":"new"}"#).unwrap());
    assert_eq!(of_block(block), 5);
}

fn client(policy: CountPolicy, transport: Arc<MemoryTransport>) -> Client {
    let endpoint = Endpoint::new("https://models.example", Auth::None).unwrap();
    let clock = FakeClock::skip_up_to(Duration::from_secs(30));
    Client::builder(Arc::new(Anthropic::new(endpoint)), Arc::new(clock))
        .transport(transport)
        .counts(policy)
        .build()
        .unwrap()
}

fn json_reply(status: u16, body: &str) -> HttpResponse {
    response(
        status,
        &[("content-type", "application/json")],
        body.to_owned(),
    )
}

/// The count by a server that always answers this.
async fn count(policy: CountPolicy, status: u16, body: &'static str) -> Result<Count, Error> {
    let transport = MemoryTransport::new(move |_| Ok(json_reply(status, body)));
    client(policy, Arc::new(transport))
        .count_tokens(&Request::new("claude-opus-5-5", "abc"))
        .await
}

fn is_estimate(count: &Count) -> bool {
    count.tokens == 13
        && matches!(&count.source, CountSource::Estimate { method, .. } if method == "bytes3")
}

#[tokio::test]
async fn a_count_of_the_provider_is_exact_and_asked_for_once() {
    let answers = [r#"{"input_tokens": 9}"#, r#"{"input_tokens": 5}"#];
    let transport = Arc::new(MemoryTransport::queue(
        answers.map(|body| Ok(json_reply(200, body))),
    ));
    let client = client(CountPolicy::ExactOnly, transport.clone());
    let request = Request::new("claude-opus-5-5", "abc");
    let exact = |tokens| Count {
        tokens,
        source: CountSource::Exact,
    };
    assert_eq!(client.count_tokens(&request).await.unwrap(), exact(9));
    assert_eq!(client.count_tokens(&request).await.unwrap(), exact(9));
    assert_eq!(transport.requests().len(), 1);
    // Another body is another question.
    let other = Request::new("claude-opus-5-5", "abcd");
    assert_eq!(client.count_tokens(&other).await.unwrap(), exact(5));
}

#[tokio::test]
async fn without_the_route_the_count_is_an_estimate_or_an_error() {
    for status in [404, 405, 501] {
        let body = r#"{"detail": "Not Found"}"#;
        let estimate = count(CountPolicy::Any, status, body).await.unwrap();
        assert!(is_estimate(&estimate), "{status}: {estimate:?}");
        let error = count(CountPolicy::ExactOnly, status, body)
            .await
            .unwrap_err();
        assert_eq!(error.status(), Some(status));
    }
}

#[tokio::test]
async fn a_model_that_is_not_found_has_no_estimate() {
    let body = r#"{"type": "error", "error": {"type": "not_found_error", "message": "model: x"}}"#;
    let error = count(CountPolicy::Any, 404, body).await.unwrap_err();
    assert_eq!(error.class(), "model_unavailable");
}

#[tokio::test]
async fn a_count_that_the_server_calls_an_estimate_is_one() {
    let body = r#"{"input_tokens": 9, "litellm_count_source": "local_estimate"}"#;
    let found = count(CountPolicy::Any, 200, body).await.unwrap();
    assert_eq!(found.tokens, 9);
    assert!(matches!(found.source, CountSource::Estimate { .. }));
    assert!(count(CountPolicy::ExactOnly, 200, body).await.is_err());
}

#[tokio::test]
async fn the_estimator_is_a_setting() {
    struct Flat;
    impl Estimator for Flat {
        fn name(&self) -> &'static str {
            "flat"
        }
        fn estimate(&self, _: &Request) -> u64 {
            100
        }
    }
    let endpoint = Endpoint::new("https://models.example", Auth::None).unwrap();
    let client = Client::builder(
        Arc::new(Anthropic::new(endpoint)),
        Arc::new(FakeClock::skip_up_to(Duration::from_secs(30))),
    )
    .transport(Arc::new(MemoryTransport::new(|_| {
        Ok(response(404, &[], "no such page"))
    })))
    .estimator(Arc::new(Flat))
    .build()
    .unwrap();
    let found = client
        .count_tokens(&Request::new("m", "abc"))
        .await
        .unwrap();
    assert_eq!(found.tokens, 100);
    assert!(matches!(found.source, CountSource::Estimate { method, .. } if method == "flat"));
}
