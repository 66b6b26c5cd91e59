//! The table of section 12: every cell is refused with one clear line, and nothing is sent.

use llm_client::{
    Auth, Block, BlockKind, Budget, Cassette, ConfigError, Endpoint, ErrorKind, Message,
    ModelTable, Raw, Request, Role, ToolInput, ToolSpec, Unpriced, Usd,
};
use serde_json::{Value, json};

use crate::faults::{BOTH, Wire, request, skipping};
use crate::memory::{client, nobody, saying};

/// Refuses the request in every form of a call before anything is sent; returns the message.
async fn refusal(wire: Wire, asked: &Request) -> String {
    let client = client(wire, &nobody(), &skipping()).build().unwrap();
    let outcomes = [
        client.complete(asked).await.map(drop),
        client.stream(asked).await.map(drop),
        client.prepare(asked).map(drop),
        client.count_tokens(asked).await.map(drop),
    ];
    let mut shown: Vec<String> = outcomes
        .into_iter()
        .map(|outcome| {
            let error = outcome.unwrap_err();
            assert!(
                matches!(error.kind(), ErrorKind::Refused { .. }),
                "{error:?}"
            );
            assert_eq!(
                (error.class().as_str(), error.attempts().len()),
                ("bad_request", 0)
            );
            error.to_string()
        })
        .collect();
    shown.dedup();
    assert_eq!(shown.len(), 1, "one message for all: {shown:?}");
    assert!(!shown[0].contains('\n'), "{}", shown[0]);
    shown.remove(0)
}

async fn check(change: fn(&mut Request), told: &str) {
    for wire in BOTH {
        let mut asked = request();
        change(&mut asked);
        let shown = refusal(wire, &asked).await;
        assert!(
            shown.starts_with(told),
            "{wire:?}: {shown:?} is not {told:?}"
        );
    }
}

#[tokio::test]
async fn an_empty_conversation_or_model_or_length_is_refused() {
    check(|asked| asked.messages.clear(), "messages: there are none").await;
    check(|asked| asked.model.clear(), "model: it is empty").await;
    check(|asked| asked.model = " ".into(), "model: it is empty").await;
    check(|asked| asked.max_tokens = Some(0), "max_tokens: it is 0").await;
}

#[tokio::test]
async fn sampling_outside_its_range_is_refused() {
    let told = "sampling.temperature: it is ";
    check(|asked| asked.sampling.temperature = Some(f64::NAN), told).await;
    check(|asked| asked.sampling.temperature = Some(-0.1), told).await;
    check(|asked| asked.sampling.temperature = Some(2.1), told).await;
    check(
        |asked| asked.sampling.temperature = Some(f64::INFINITY),
        told,
    )
    .await;
    check(
        |asked| asked.sampling.top_p = Some(1.5),
        "sampling.top_p: it is 1.5",
    )
    .await;
    check(
        |asked| asked.sampling.top_k = Some(0),
        "sampling.top_k: it is 0",
    )
    .await;
}

#[tokio::test]
async fn fields_with_a_place_of_their_own_are_refused_in_extra() {
    check(
        |asked| drop(asked.extra.insert("model".into(), json!("x"))),
        "extra.model: this field has its own place",
    )
    .await;
    check(
        |asked| drop(asked.extra.insert("messages".into(), json!([]))),
        "extra.messages: this field has its own place",
    )
    .await;
    check(
        |asked| drop(asked.extra.insert("stream".into(), Value::Null)),
        "extra.stream: this field has its own place",
    )
    .await;
}

fn tool(name: &str, schema: Value) -> ToolSpec {
    ToolSpec::Function {
        name: name.into(),
        description: "a tool".into(),
        schema,
        strict: None,
    }
}

#[tokio::test]
async fn names_of_tools_that_no_server_takes_are_refused() {
    for name in ["", "two words", "größe", "a.b", "a/b", &"x".repeat(65)] {
        for wire in BOTH {
            let mut asked = request();
            asked.tools = vec![tool(name, json!({"type": "object"}))];
            let shown = refusal(wire, &asked).await;
            assert!(shown.contains("the name needs 1 to 64 of"), "{shown}");
        }
    }
    check(
        |asked| {
            let twice = tool("look", json!({"type": "object"}));
            asked.tools = vec![twice.clone(), tool("other", json!({})), twice];
        },
        "tools.look: two tools have this name",
    )
    .await;
}

fn call(id: &str) -> Block {
    Block::new(BlockKind::ToolUse {
        id: id.into(),
        name: "look".into(),
        input: ToolInput::Json(Raw::parse("{}").unwrap()),
    })
}

fn assistant(blocks: Vec<Block>) -> Message {
    Message::new(Role::Assistant, blocks)
}

fn user(blocks: Vec<Block>) -> Message {
    Message::new(Role::User, blocks)
}

#[tokio::test]
async fn calls_and_results_of_tools_that_do_not_pair_are_refused() {
    let result = |id: &str| Block::tool_result(id, "done", false);
    let conversations = [
        vec![user(vec![result("a")])],
        vec![assistant(vec![call("a")]), user(vec![result("b")])],
        vec![
            assistant(vec![call("a")]),
            user(vec![result("a"), result("a")]),
        ],
        vec![
            assistant(vec![call("a"), call("b")]),
            user(vec![result("a")]),
        ],
        vec![assistant(vec![call("a")]), Message::user("and?")],
        vec![assistant(vec![call("a")])],
        vec![
            assistant(vec![call("a")]),
            user(vec![Block::text("so"), result("a")]),
        ],
        vec![
            assistant(vec![call("a")]),
            user(vec![result("a")]),
            assistant(vec![Block::text("ok")]),
            user(vec![result("a")]),
        ],
        vec![assistant(vec![call("a")]), assistant(vec![result("a")])],
    ];
    for (n, rest) in conversations.into_iter().enumerate() {
        for wire in BOTH {
            let mut asked = request();
            asked.messages.extend(rest.clone());
            let shown = refusal(wire, &asked).await;
            assert!(shown.starts_with("messages"), "conversation {n}: {shown}");
        }
    }
}

#[tokio::test]
async fn a_schema_that_is_none_or_lies_elsewhere_is_refused() {
    let schemas = [
        json!({"type": "no such type"}),
        json!({"type": 7}),
        json!("object"),
        json!({"properties": []}),
        json!({"$ref": "https://example.test/schema.json"}),
        json!({"properties": {"a": {"$ref": "http://example.test/a#/b"}}}),
        json!({"$ref": "other.json"}),
        json!({"required": "a"}),
        json!({"enum": {"a": 1}}),
    ];
    for schema in schemas {
        for wire in BOTH {
            let mut asked = request();
            asked.tools = vec![tool("look", schema.clone())];
            let shown = refusal(wire, &asked).await;
            assert!(shown.starts_with("tools.look: "), "{schema}: {shown}");
            let mut asked = request();
            let format = llm_client::OutputFormat::new("answer", schema.clone(), true);
            asked.format = Some(format);
            let shown = refusal(wire, &asked).await;
            assert!(shown.starts_with("format.schema: "), "{schema}: {shown}");
        }
    }
}

#[tokio::test]
async fn a_reply_longer_than_the_model_writes_is_cut_with_a_warning() {
    let wire = Wire::Anthropic;
    let mut asked = Request::new("claude-haiku-4-5", "hello");
    asked.max_tokens = Some(64_001);
    let transport = saying(wire, &crate::faults::hello());
    let client = client(wire, &transport, &skipping()).build().unwrap();
    let reply = client.complete(&asked).await.unwrap();
    assert_eq!(reply.warnings.len(), 1);
    assert_eq!(reply.warnings[0].field, "max_tokens");
    let told = &reply.warnings[0].message;
    assert!(told.starts_with("64001 is cut to 64000"), "{told}");
    let sent = crate::memory::body(&transport.requests()[0]);
    assert_eq!(sent["max_tokens"], 64_000);
}

#[tokio::test]
async fn a_body_above_what_anthropic_takes_is_refused() {
    let wire = Wire::Anthropic;
    let client = client(wire, &nobody(), &skipping())
        .budget(
            Budget::default()
                .usd(Some(Usd(i64::MAX)))
                .unpriced(Unpriced::Ignore),
        )
        .build()
        .unwrap();
    let asked = Request::new("claude-haiku-4-5", "x".repeat(32_000_000));
    let told = "request: its body has ";
    for error in [
        client.complete(&asked).await.unwrap_err(),
        client.stream(&asked).await.unwrap_err(),
        client.count_tokens(&asked).await.unwrap_err(),
    ] {
        assert!(
            matches!(error.kind(), ErrorKind::Refused { .. }),
            "{error:?}"
        );
        assert!(error.to_string().starts_with(told), "{error}");
        assert!(error.attempts().is_empty());
    }
    assert_eq!(
        (client.spent().usd, client.spent().reserved),
        (Usd(0), Usd(0))
    );
}

#[test]
fn base_urls_that_cannot_be_used_are_refused_without_showing_what_they_hold() {
    for url in [
        "",
        "example.test/v1",
        "//example.test/v1",
        "localhost:8080",
        "ftp://example.test",
        "file:///etc/passwd",
        "https://",
        "https://user@example.test",
        "https://user:hidden-word@example.test/v1",
        "https://example.test/v1?key=hidden-word",
        "https://example.test/v1?",
        "https://example.test/v1#part",
        "https://exa mple.test",
        "http://example.test/v1",
        "http://192.168.0.7/v1",
    ] {
        let made = Endpoint::new(url, Auth::Bearer("the-key".into()));
        let error = made.expect_err(url);
        assert!(
            matches!(
                error,
                ConfigError::Setting {
                    setting: "base URL",
                    ..
                }
            ),
            "{url}"
        );
        let shown = format!("{error} {error:?}");
        assert!(
            !shown.contains("hidden-word") && !shown.contains("the-key"),
            "{shown}"
        );
        assert!(!error.to_string().contains('\n'), "{error}");
    }
    for url in [
        "https://example.test",
        "https://example.test/v1/",
        "http://localhost:8080/v1",
        "http://127.0.0.1:1",
        "http://[::1]:1",
    ] {
        assert!(
            Endpoint::new(url, Auth::Bearer("the-key".into())).is_ok(),
            "{url}"
        );
    }
    // Without a key, or when it is allowed, clear text may go anywhere.
    assert!(Endpoint::new("http://example.test", Auth::None).is_ok());
    let key = Auth::Bearer("the-key".into());
    assert!(Endpoint::with_clear_text_key("http://example.test", key).is_ok());
}

#[test]
fn keys_that_cannot_be_sent_are_refused_and_not_shown() {
    for key in [
        "",
        "hidden\nword",
        "hidden\r",
        "hidden-wörd",
        "hidden word",
        "hidden\0",
        "hidden\t",
    ] {
        for auth in [Auth::Bearer(key.into()), Auth::ApiKeyHeader(key.into())] {
            let error = Endpoint::new("https://example.test", auth).expect_err(key);
            assert!(matches!(error, ConfigError::Setting { setting: "key", .. }));
            assert!(!format!("{error} {error:?}").contains("hidden"), "{error}");
        }
    }
}

#[test]
fn a_models_table_that_is_wrong_names_its_line() {
    for (row, told) in [
        (r#"{"provider": "p", "id": }"#, "expected value"),
        (
            r#"{"provider": "p", "id": "m", "price": {"in": "1", "out": "2", "cached": "3"}}"#,
            "unknown field `cached`",
        ),
        (
            r#"{"provider": "p", "id": "m", "price": {"in": "1", "out": "two"}}"#,
            "expected dollars",
        ),
        (
            r#"{"provider": "p", "id": "m", "price": {"in": "NaN", "out": "2"}}"#,
            "expected dollars",
        ),
        (
            r#"{"provider": "p", "id": "m", "price": {"in": "-1", "out": "2"}}"#,
            "expected dollars",
        ),
        (
            r#"{"provider": "p", "id": "m", "price": {"in": 1, "out": "2"}}"#,
            "invalid type",
        ),
    ] {
        let table = format!(
            "{{\"schema_version\": 1, \"read_on\": \"2026-11-21\",\n\"models\": [\n{row}\n]}}"
        );
        let error = ModelTable::parse(&table).unwrap_err();
        assert!(
            matches!(error, ConfigError::Models { line: 3, .. }),
            "{row}: {error:?}"
        );
        assert!(error.to_string().contains(told), "{row}: {error}");
    }
}

#[test]
fn money_that_is_negative_or_no_number_is_refused() {
    for text in ["-1", "NaN", "inf", "1e3", "", "1,5"] {
        assert!(text.parse::<Usd>().is_err(), "{text}");
    }
    assert_eq!(Usd::from_dollars(f64::NAN), None);
    assert_eq!(Usd::from_dollars(-1.0), None);
    let assume = |input, output| Unpriced::Assume { input, output };
    for budget in [
        Budget::default().usd(Some(Usd(-1))),
        Budget::default().unpriced(assume(Usd(-1), Usd(1))),
        Budget::default().unpriced(assume(Usd(1), Usd(-1))),
    ] {
        let built = client(Wire::Anthropic, &nobody(), &skipping())
            .budget(budget)
            .build();
        let error = built.err().unwrap();
        assert!(
            matches!(
                error,
                ConfigError::Setting {
                    setting: "budget",
                    ..
                }
            ),
            "{error}"
        );
    }
}

#[test]
fn a_limit_that_lets_nothing_through_is_refused() {
    let built = client(Wire::Anthropic, &nobody(), &skipping())
        .limits(llm_client::Limits::default().concurrency(0))
        .build();
    assert!(matches!(built, Err(ConfigError::Setting { .. })));
}

#[test]
fn recording_over_the_replayed_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tape.jsonl");
    std::fs::write(&path, "").unwrap();
    let built = client(Wire::Anthropic, &nobody(), &skipping())
        .record(Cassette::new(&path))
        .replay(Cassette::new(&path))
        .build();
    assert!(matches!(
        built,
        Err(ConfigError::Setting {
            setting: "record",
            ..
        })
    ));
}
