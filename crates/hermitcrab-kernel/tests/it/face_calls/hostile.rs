//! Parameters that no provider would take, and any others.

use proptest::prelude::*;

use super::*;

/// Messages, and what is said of them.
fn bad_messages() -> Vec<(Value, &'static str, &'static str)> {
    let long = "x".repeat(60_001);
    let image =
        |source: Value| json!([{"role": "user", "content": [{"type": "image", "source": source}]}]);
    vec![
        (json!(null), "bad_arguments", "messages is a list"),
        (json!(7), "bad_arguments", "messages is a list"),
        (
            json!([]),
            "bad_arguments",
            "messages end with one of the user",
        ),
        (json!(["hello"]), "bad_arguments", "messages[0].role"),
        (
            json!([{"role": "tool", "content": "x"}]),
            "bad_arguments",
            "messages[0].role",
        ),
        (
            json!([{"role": "user"}]),
            "bad_arguments",
            "messages[0].content",
        ),
        (
            json!([{"role": "user", "content": " "}]),
            "bad_arguments",
            "not empty",
        ),
        (
            json!([{"role": "user", "content": [3]}]),
            "bad_arguments",
            "messages[0].content[0].type",
        ),
        (
            json!([{"role": "user", "content": [{"type": "text"}]}]),
            "bad_arguments",
            "content[0].text",
        ),
        (
            json!([{"role": "user", "content": [{"type": "container_upload", "file_id": "f"}]}]),
            "bad_arguments",
            "a block of type \"container_upload\"",
        ),
        // The assistant's blocks are the assistant's.
        (
            json!([{"role": "user", "content": [{"type": "tool_use", "id": "a", "name": "b", "input": {}}]}]),
            "bad_arguments",
            "a block of type \"tool_use\"",
        ),
        (
            json!([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]),
            "bad_arguments",
            "end with one of the user",
        ),
        (
            json!([{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "b"}]}]),
            "bad_arguments",
            "end with one of the user",
        ),
        (user(&long), "too_large", "60001 characters"),
        // An address would be fetched by the provider: a way out of the frame.
        (
            image(json!({"type": "url", "url": "https://evil.test/?secret"})),
            "bad_arguments",
            "base64",
        ),
        (
            image(json!({"type": "file", "file_id": "f"})),
            "bad_arguments",
            "base64",
        ),
        (
            image(json!({"type": "base64", "media_type": "image/svg+xml", "data": "AAAA"})),
            "bad_arguments",
            "media_type",
        ),
        (
            image(json!({"type": "base64", "media_type": "image/png", "data": "<svg>"})),
            "bad_arguments",
            "source.data",
        ),
    ]
}

/// Other parameters, and what is said of them.
fn bad_fields() -> Vec<(&'static str, Value, &'static str, &'static str)> {
    vec![
        ("model", json!("gpt-oss"), "unknown_model", "\"gpt-oss\""),
        ("model", json!({}), "bad_arguments", "model"),
        ("max_tokens", json!("many"), "bad_arguments", "max_tokens"),
        ("max_tokens", json!(-1), "bad_arguments", "max_tokens"),
        ("system", json!(5), "bad_arguments", "system"),
        (
            "system",
            json!([{"type": "image"}]),
            "bad_arguments",
            "system[0]",
        ),
        ("tools", json!("all"), "bad_arguments", "tools"),
        ("tools", json!([5]), "bad_arguments", "tools[0]"),
        ("tools", json!(["block_reed"]), "unknown_tool", "block_reed"),
        (
            "tools",
            json!([{"type": "web_search_20250305", "name": "search_all"}]),
            "unknown_tool",
            "search_all",
        ),
        (
            "tools",
            json!(["base", "blocks+", "self", "web", "files", "browser"]),
            "too_many",
            "24",
        ),
    ]
}

#[tokio::test]
async fn what_no_provider_would_take_is_a_plain_fault_and_nothing_is_asked() {
    let (place, brain) = Setting::page().script([]);
    for (messages, kind, words) in bad_messages() {
        refused(
            &llm(&place, messages.clone(), Value::Null).await,
            kind,
            words,
        );
        refused(
            &api(&place, json!({ "messages": messages })).await,
            kind,
            words,
        );
        refused(
            &tool_loop(&place, json!({ "messages": messages })).await,
            kind,
            words,
        );
    }
    refused(
        &llm(&place, user("a"), json!("fast")).await,
        "bad_arguments",
        "opts",
    );
    refused(&api(&place, json!([1])).await, "bad_arguments", "params");
    for (field, value, kind, words) in bad_fields() {
        let mut params = json!({ "messages": user("a") });
        params[field] = value;
        refused(&api(&place, params.clone()).await, kind, words);
        refused(&tool_loop(&place, params).await, kind, words);
    }
    let huge = json!({ "messages": user("a"), "more": "x".repeat(1 << 20) });
    refused(&api(&place, huge).await, "too_large", "bytes");
    assert!(brain.asked().is_empty());
}

fn hostile() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        prop_oneof![
            Just("user"),
            Just("assistant"),
            Just("system"),
            Just("text"),
            Just("tool_use"),
            Just("tool_result"),
            Just("image"),
            Just("base64"),
            Just("a"),
            Just(""),
            Just("block_list"),
        ]
        .prop_map(Value::from),
        "\\PC{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 5, |inner| {
        let key = prop_oneof![
            Just("role"),
            Just("content"),
            Just("type"),
            Just("text"),
            Just("id"),
            Just("name"),
            Just("input"),
            Just("tool_use_id"),
            Just("source"),
            Just("data"),
            Just("messages"),
            Just("model"),
            Just("tools"),
            Just("system"),
            Just("max_tokens"),
        ]
        .prop_map(str::to_owned);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(key, inner, 0..6)
                .prop_map(|map| Value::from(map.into_iter().collect::<serde_json::Map<_, _>>())),
        ]
    })
}

/// Messages that are nearly right.
fn nearly() -> impl Strategy<Value = Value> {
    let id = || prop_oneof![Just("a"), Just("b"), Just("")];
    let block = prop_oneof![
        3 => "[a-z ]{0,9}".prop_map(|text| json!({"type": "text", "text": text})),
        2 => id().prop_map(|id| json!({"type": "tool_use", "id": id, "name": "block_list", "input": {}})),
        2 => id().prop_map(|id| json!({"type": "tool_result", "tool_use_id": id, "content": "x"})),
        1 => Just(json!({"type": "thinking", "thinking": "t", "signature": "s"})),
        1 => Just(json!({"type": "redacted_thinking", "data": "d"})),
    ];
    let role = prop_oneof![4 => Just("user"), 3 => Just("assistant"), 1 => Just("system")];
    let message = (role, prop::collection::vec(block, 0..4))
        .prop_map(|(role, content)| json!({"role": role, "content": content}));
    prop::collection::vec(message, 0..9).prop_map(|mut messages| {
        messages.push(json!({"role": "user", "content": "go on"}));
        Value::from(messages)
    })
}

/// Whether a provider takes these.
fn assert_valid(messages: &[Message]) {
    assert_eq!(messages[0].role, Role::User);
    assert_eq!(messages.last().unwrap().role, Role::User);
    assert!(messages.windows(2).all(|pair| pair[0].role != pair[1].role));
    for (at, message) in messages.iter().enumerate() {
        assert!(!message.content.is_empty());
        let calls = message
            .content
            .iter()
            .filter_map(|block| match &block.kind {
                BlockKind::ToolUse { id, .. } => Some(id.clone()),
                _ => None,
            });
        let calls: Vec<_> = calls.collect();
        let answered = messages.get(at + 1).map_or(0, |next| results(next).len());
        assert!(calls.is_empty() || calls.len() == answered, "{messages:#?}");
    }
}

proptest! {
    #[test]
    fn any_parameters_end_in_a_request_that_is_valid_or_in_a_fault(
        params in prop_oneof![
            hostile(),
            hostile().prop_map(|messages| json!({ "messages": messages })),
            nearly().prop_map(|messages| json!({ "messages": messages })),
        ],
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let steps = || (0..3).map(|_| ScriptStep::text("Yes."));
            let brain = Arc::new(ScriptBrain::new(steps()));
            let place = Setting::page().open(brain.clone()).unwrap();
            let answers = [
                llm(&place, params["messages"].clone(), params.clone()).await,
                api(&place, params.clone()).await,
                tool_loop(&place, params).await,
            ];
            for answer in &answers {
                if answer.is_error {
                    prop_assert!(answer.content["detail"].is_string(), "{answer:?}");
                }
            }
            for request in brain.asked() {
                assert_valid(&request.messages);
            }
            Ok(())
        })?;
    }
}
