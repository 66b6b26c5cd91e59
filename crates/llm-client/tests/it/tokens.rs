use llm_client::{
    Block, BlockKind, Bytes3, Estimator, MediaSource, Message, OutputFormat, Raw, Request, Role,
    ToolInput, ToolSpec,
};
use serde_json::json;

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
