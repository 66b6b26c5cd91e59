//! The body of each preset for one request that uses every field.

use llm_client::provider::{Provider as _, Route};
use llm_client::{
    Auth, Block, BlockKind, Compat, Dialect, Endpoint, Error, ErrorKind, MediaSource, Message,
    OutputFormat, Raw, Request, Role, Sampling, Target, Thinking, ToolChoice, ToolInput, ToolSpec,
};
use serde_json::{Value, json};

use crate::wire::encoded;

/// A turn with a thought, as `name` said it.
fn turn(name: &str) -> Message {
    let saved = json!({
        "role": "assistant",
        "content": [
            { "kind": { "text": { "text": "let me look" } }, "origin": { "provider": name, "model": "some-model" } },
        ],
        "raw": {
            "role": "assistant",
            "content": "let me look",
            "refusal": null,
            "reasoning": "hm",
            "reasoning_content": "hm",
            "reasoning_details": [{ "type": "reasoning.text", "text": "hm" }],
            "tool_calls": [
                { "id": "t1", "type": "function", "function": { "name": "look", "arguments": "{ \"at\":1}" } },
            ],
        },
    });
    serde_json::from_str(&saved.to_string()).unwrap()
}

fn rich(name: &str) -> Request {
    let call = BlockKind::ToolUse {
        id: "t2".to_owned(),
        name: "look".to_owned(),
        input: ToolInput::Json(Raw::parse(r#"{ "at":2}"#).unwrap()),
    };
    let image = BlockKind::Image(MediaSource::Base64 {
        media_type: "image/png".to_owned(),
        data: "AAAA".to_owned(),
    });
    let schema = json!({ "type": "object", "properties": { "at": { "type": "integer" } } });
    Request::new("some-model", "")
        .messages(vec![
            Message::user("look there"),
            turn(name),
            Message::new(
                Role::User,
                vec![
                    Block::tool_result("t1", "broken", true),
                    Block::text("and there"),
                    Block::new(image),
                ],
            ),
            Message::new(Role::Assistant, vec![Block::text("so"), Block::new(call)]),
            Message::new(Role::User, vec![Block::tool_result("t2", "a cat", false)]),
            Message::new(Role::System, vec![Block::text("be quick")]),
        ])
        .system(vec![Block::text("be brief"), Block::text("be kind")])
        .max_tokens(Some(2000))
        .tools(vec![
            ToolSpec::Function {
                name: "look".to_owned(),
                description: "looks".to_owned(),
                schema: schema.clone(),
                strict: Some(true),
            },
            ToolSpec::Server(Raw::parse(r#"{"type":"web_search"}"#).unwrap()),
        ])
        .tool_choice(ToolChoice::Auto {
            parallel: Some(false),
        })
        .thinking(Thinking::Budget(1024))
        .effort(Some("low".to_owned()))
        .sampling(
            Sampling::default()
                .temperature(Some(0.5))
                .top_p(Some(0.9))
                .top_k(Some(40))
                .seed(Some(7)),
        )
        .stop(vec!["END".to_owned()])
        .format(Some(OutputFormat::new("place", schema, true)))
        .user_id(Some("u".to_owned()))
        .labels([("never".to_owned(), "sent".to_owned())].into())
        .replay_key(Some("never sent".to_owned()))
        .extra(
            json!({ "own": true, "stop": null })
                .as_object()
                .unwrap()
                .clone(),
        )
}

fn provider(dialect: Dialect) -> Compat {
    let base = dialect.base_url.unwrap_or("http://127.0.0.1:1/v1");
    Compat::new(Endpoint::new(base, Auth::None).unwrap(), dialect)
}

fn body(provider: &Compat, request: &Request) -> Result<Value, Error> {
    let http = provider.encode(
        request,
        &Target::new(provider.name(), "some-model"),
        Route::Stream,
    )?;
    Ok(serde_json::from_slice(&http.body).unwrap())
}

fn check(dialect: Dialect) {
    let provider = provider(dialect);
    let url = encoded(&provider, &rich(provider.name()), "m").unwrap().url;
    let body = body(&provider, &rich(provider.name())).unwrap();
    let shown = serde_json::to_string_pretty(&body).unwrap();
    insta::assert_snapshot!(provider.name(), format!("POST {url}\n{shown}"));
}

#[test]
fn each_preset_says_what_its_server_takes() {
    check(Dialect::openai());
    check(Dialect::openrouter());
    check(Dialect::llamacpp());
    check(Dialect::ollama());
    check(Dialect::vllm());
    check(Dialect::generic());
}

#[test]
fn the_texts_of_a_received_turn_and_the_order_of_fields_are_kept() {
    let router = provider(Dialect::openrouter());
    let http = encoded(&router, &rich("openrouter"), "some-model").unwrap();
    let text = std::str::from_utf8(&http.body).unwrap();
    assert!(text.starts_with(r#"{"model":"some-model","messages":["#));
    assert!(
        text.contains(r#""arguments":"{ \"at\":1}""#)
            && text.contains(r#""arguments":"{ \"at\":2}""#)
    );
    assert!(!text.contains("\"stream\""));
}

#[test]
fn thinking_and_effort_become_one_wish() {
    let reasoning = |thinking, effort: Option<&str>| {
        let mut request = Request::new("some-model", "x");
        request.thinking = thinking;
        request.effort = effort.map(str::to_owned);
        body(&provider(Dialect::openrouter()), &request).unwrap()["reasoning"].take()
    };
    assert_eq!(reasoning(Thinking::Unset, None), Value::Null);
    assert_eq!(
        reasoning(Thinking::Unset, Some("high")),
        json!({ "effort": "high" })
    );
    assert_eq!(
        reasoning(Thinking::Adaptive, Some("high")),
        json!({ "effort": "high" })
    );
    assert_eq!(
        reasoning(Thinking::Adaptive, None),
        json!({ "enabled": true })
    );
    assert_eq!(
        reasoning(Thinking::Off, Some("high")),
        json!({ "effort": "none" })
    );
    assert_eq!(
        reasoning(Thinking::Budget(2048), Some("high")),
        json!({ "max_tokens": 2048 })
    );
}

#[test]
fn choices_of_tools_have_their_words() {
    for (choice, said) in [
        (ToolChoice::Unset, Value::Null),
        (ToolChoice::Auto { parallel: None }, json!("auto")),
        (ToolChoice::Any, json!("required")),
        (ToolChoice::None, json!("none")),
        (
            ToolChoice::Tool("look".to_owned()),
            json!({ "type": "function", "function": { "name": "look" } }),
        ),
    ] {
        let mut request = rich("generic");
        request.tool_choice = choice;
        assert_eq!(
            body(&provider(Dialect::generic()), &request).unwrap()["tool_choice"],
            said
        );
        request.tools.clear();
        assert_eq!(
            body(&provider(Dialect::generic()), &request).unwrap()["tool_choice"],
            Value::Null
        );
    }
}

#[test]
fn calls_without_words_have_no_content() {
    let mut request = rich("generic");
    request.messages[3].content.remove(0);
    let body = body(&provider(Dialect::generic()), &request).unwrap();
    let sent = &body["messages"][5];
    assert_eq!(sent["tool_calls"][0]["id"], "t2");
    assert!(sent.get("content").is_none(), "{sent}");
}

#[test]
fn what_the_protocol_cannot_say_is_refused() {
    let source = || MediaSource::File { id: "f".to_owned() };
    let image = Block::new(BlockKind::Image(source()));
    let result = BlockKind::ToolResult {
        tool_use_id: "t".to_owned(),
        content: vec![image.clone()],
        is_error: false,
    };
    for block in [
        image,
        Block::new(BlockKind::Document(source())),
        Block::new(result),
    ] {
        let mut request = Request::new("some-model", "x");
        request.messages.push(Message::new(Role::User, vec![block]));
        let error = body(&provider(Dialect::generic()), &request).unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::Refused { field, .. } if field == "messages"),
            "{error:?}"
        );
    }
    let mut bare = Dialect::generic();
    bare.tools = false;
    let error = body(&provider(bare), &rich("generic")).unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::Refused { field, .. } if field == "tools"),
        "{error:?}"
    );
}
