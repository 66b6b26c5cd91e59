use futures_util::FutureExt as _;
use llm_client::{
    Block, BlockKind, Echo, MediaSource, Message, OutputFormat, Raw, Request, Role, ToolInput,
    ToolSpec,
};
use serde_json::json;

use crate::memory::nobody;
use crate::wire::count;

/// The estimate of a provider that counts nothing.
fn estimate(request: &Request) -> u64 {
    let counted = count(&Echo::new(0), request, &nobody()).now_or_never();
    counted.unwrap().unwrap().tokens
}

/// The tokens of `block` alone.
fn of_block(block: Block) -> u64 {
    let with = Request::default().messages(vec![Message::new(Role::User, vec![block])]);
    estimate(&with) - 12
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
    assert_eq!(estimate(&request), 8 + 4 + 1);
    request.messages.push(Message::assistant("abcd"));
    assert_eq!(estimate(&request), 8 + 4 + 1 + 4 + 2);
    request.system = vec![Block::text("ab"), Block::text("ab")];
    assert_eq!(estimate(&request), 8 + 4 + 1 + 4 + 2 + 2);
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
    let alone = estimate(&request);
    request.tools = vec![
        ToolSpec::Function {
            name: "find".into(),
            description: "finds".into(),
            schema: json!({"type": "object"}),
            strict: None,
        },
        ToolSpec::Server(Raw::parse(r#"{"type":"web"}"#).unwrap()),
    ];
    assert_eq!(estimate(&request) - alone, 2 + 2 + 6 + 5);
    let format = OutputFormat::new("f", json!({"type": "object"}), true);
    request.format = Some(format);
    assert_eq!(estimate(&request) - alone, 2 + 2 + 6 + 5 + 6);
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

mod client {
    //! Counting through the client: asked once, marked if it is an estimate.

    use llm_client::provider::HttpResponse;
    use llm_client::{CountPolicy, CountSource, Error, ErrorKind};
    use test_support::response;

    use crate::faults::{Wire, request, skipping};
    use crate::memory::{body, client, json, nobody, server};

    const WIRE: Wire = Wire::Anthropic;

    fn counted(tokens: u64) -> HttpResponse {
        json(200, format!("{{\"input_tokens\": {tokens}}}"))
    }

    #[tokio::test]
    async fn an_exact_count_is_asked_for_once_and_for_each_body() {
        let mut n = 0;
        let transport = server(move |_| {
            n += 1;
            Ok(counted(n))
        });
        let client = client(WIRE, &transport, &skipping()).build().unwrap();
        let mut other = request();
        other.model = "model-2".into();
        for (asked, tokens) in [
            (request(), 1),
            (request(), 1),
            (other.clone(), 2),
            (request(), 1),
        ] {
            let count = client.count_tokens(&asked).await.unwrap();
            assert_eq!((count.tokens, count.source), (tokens, CountSource::Exact));
        }
        // What is not part of the prompt does not make another body.
        other.max_tokens = Some(7);
        other.stop = vec!["END".into()];
        other.user_id = Some("someone".into());
        assert_eq!(client.count_tokens(&other).await.unwrap().tokens, 2);
        assert_eq!(transport.requests().len(), 2);
        let sent = &transport.requests()[0];
        assert_eq!(sent.path, "/v1/messages/count_tokens");
        let body = body(sent);
        let fields: Vec<_> = body.as_object().unwrap().keys().collect();
        assert_eq!(fields, ["messages", "model"]);
        // Counts cost nothing.
        assert_eq!(client.spent(), llm_client::Spend::default());
    }

    #[tokio::test]
    async fn clones_share_what_was_counted() {
        let transport = server(|_| Ok(counted(5)));
        let client = client(WIRE, &transport, &skipping()).build().unwrap();
        client.clone().count_tokens(&request()).await.unwrap();
        client.count_tokens(&request()).await.unwrap();
        assert_eq!(transport.requests().len(), 1);
    }

    async fn nobody_counts(answer: fn() -> HttpResponse) {
        let transport = server(move |_| Ok(answer()));
        let any = client(WIRE, &transport, &skipping()).build().unwrap();
        for _ in 0..2 {
            let count = any.count_tokens(&request()).await.unwrap();
            let CountSource::Estimate { method, reason } = count.source else {
                panic!("it is marked exact")
            };
            assert!(!method.is_empty() && !reason.is_empty());
            assert!(count.tokens > 0);
        }
        // An estimate is not kept: the route may come.
        assert!(transport.requests().len() >= 2);
        let exact = client(WIRE, &transport, &skipping()).counts(CountPolicy::ExactOnly);
        assert!(
            exact
                .build()
                .unwrap()
                .count_tokens(&request())
                .await
                .is_err()
        );
    }

    #[tokio::test]
    async fn a_server_that_does_not_count_gives_an_estimate_or_an_error() {
        nobody_counts(|| response(404, &[("content-type", "text/plain")], "no route")).await;
        nobody_counts(|| json(404, r#"{"detail": "Not Found"}"#.into())).await;
        nobody_counts(|| response(405, &[], "")).await;
        nobody_counts(|| response(501, &[], "")).await;
        nobody_counts(|| {
            let body = r#"{"input_tokens": 9, "litellm_count_source": "local_estimate"}"#;
            json(200, body.into())
        })
        .await;
    }

    #[tokio::test]
    async fn the_estimate_is_that_of_the_estimator() {
        let transport = server(|_| Ok(response(404, &[], "")));
        let client = client(WIRE, &transport, &skipping()).build().unwrap();
        let count = client.count_tokens(&request()).await.unwrap();
        assert_eq!(count.tokens, 8 + 4 + 2);
        assert!(matches!(count.source, CountSource::Estimate { method, .. } if method == "bytes3"));
    }

    #[tokio::test]
    async fn a_protocol_without_counts_sends_nothing() {
        let any = client(Wire::Openai, &nobody(), &skipping())
            .build()
            .unwrap();
        let count = any.count_tokens(&request()).await.unwrap();
        assert!(matches!(count.source, CountSource::Estimate { .. }));
        let exact = client(Wire::Openai, &nobody(), &skipping()).counts(CountPolicy::ExactOnly);
        let error = exact.build().unwrap().count_tokens(&request()).await;
        assert!(
            matches!(
                error.as_ref().map_err(Error::kind),
                Err(ErrorKind::Refused { .. })
            ),
            "{error:?}"
        );
    }

    #[tokio::test]
    async fn a_model_that_is_gone_is_no_missing_route() {
        let transport = server(|_| Ok(json(404, WIRE.error("not_found_error"))));
        let client = client(WIRE, &transport, &skipping()).build().unwrap();
        let error = client.count_tokens(&request()).await.unwrap_err();
        let ErrorKind::ModelUnavailable(model) = error.kind() else {
            panic!("{error:?}")
        };
        assert!(!model.active.is_empty());
        assert_eq!(transport.requests().len(), 1);
    }

    #[tokio::test]
    async fn other_errors_of_a_count_are_errors() {
        for (status, class) in [(400, "bad_request"), (401, "auth"), (500, "server")] {
            let transport = server(move |_| Ok(json(status, WIRE.error("api_error"))));
            let client = client(WIRE, &transport, &skipping()).build().unwrap();
            let error = client.count_tokens(&request()).await.unwrap_err();
            assert_eq!(error.class().as_str(), class);
            // A client that sends no key gets the same answer as one with a wrong key.
            let told = error
                .message()
                .contains("the key is missing or not accepted");
            assert_eq!(told, status == 401, "{}", error.message());
        }
    }
}
