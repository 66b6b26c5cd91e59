use llm_client::{
    Block, BlockKind, Caps, CostSource, Error, Message, Raw, Reply, Request, Role, StopReason,
    Structure, Structured, StructuredOpts, Usd, find_json, parse_json,
};
use serde_json::{Value, json};

use crate::own_provider::{Own, calls, reply, says};

#[derive(Debug, PartialEq, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Score {
    score: u8,
    reasoning: String,
}

const GOOD: &str = r#"{"score": 7, "reasoning": "short"}"#;

fn good() -> Score {
    Score {
        score: 7,
        reasoning: "short".into(),
    }
}

fn ask() -> Request {
    Request::new("m", "Score this.")
}

/// Asks for a score and gets these replies; tells what was sent too.
async fn run(
    replies: impl Into<Vec<Reply>>,
    options: StructuredOpts,
) -> (Result<Structured<Score>, Error>, Vec<Request>) {
    let (client, own) = Own::replies(replies).client().unwrap();
    let result = client.structured(&ask(), options).await;
    (result, own.requests())
}

fn with_structure(structured: Structure) -> Caps {
    Caps {
        structured,
        ..Caps::ALL
    }
}

#[tokio::test]
async fn a_native_reply_is_read_and_the_schema_sent_as_format() {
    let (result, sent) = run([says(GOOD)], StructuredOpts::default()).await;
    let result = result.unwrap();
    assert_eq!(result.value, good());
    assert_eq!((result.raw.as_str(), result.repairs), (GOOD, 0));
    let format = sent[0].format.as_ref().unwrap();
    assert_eq!((format.name.as_str(), format.strict), ("Score", true));
    assert_eq!(format.schema["properties"]["score"]["maximum"], 255);
    assert!(sent[0].system.is_empty() && sent[0].tools.is_empty());
}

#[tokio::test]
async fn without_native_output_the_schema_stands_in_the_system_text() {
    for (structure, native, has_format, has_text) in [
        (Structure::Schema, true, true, false),
        (Structure::Object, true, true, true),
        (Structure::None, true, false, true),
        (Structure::Schema, false, false, true),
    ] {
        let own = Own::replies([says(GOOD)]).with_caps(with_structure(structure));
        let (client, own) = own.client().unwrap();
        let options = StructuredOpts {
            native,
            ..StructuredOpts::default()
        };
        client.structured::<Score>(&ask(), options).await.unwrap();
        let sent = &own.requests()[0];
        assert_eq!(sent.format.is_some(), has_format, "{structure:?} {native}");
        let text: String = sent.system.iter().filter_map(Block::as_text).collect();
        assert_eq!(
            text.contains("\"reasoning\""),
            has_text,
            "{structure:?} {native}"
        );
    }
}

#[tokio::test]
async fn a_caller_that_reads_replies_itself_gets_the_same_request() {
    let schema = json!({"title": "a b", "type": "object"});
    for structure in [Structure::Schema, Structure::Object, Structure::None] {
        let own = Own::replies([says("{}")]).with_caps(with_structure(structure));
        let (client, own) = own.client().unwrap();
        let shaped = client.with_schema(&ask(), &schema);
        let options = StructuredOpts::default();
        client
            .structured_value(&ask(), &schema, options)
            .await
            .unwrap();
        let sent = &own.requests()[0];
        assert_eq!(
            (&shaped.format, &shaped.system),
            (&sent.format, &sent.system)
        );
    }
}

#[test]
fn json_is_found_and_read_by_callers_too() {
    let text = "Look:\n```json\n{\"a\": 1, \"a\": 2}\n```";
    let json = find_json(text).unwrap();
    assert_eq!(json, "{\"a\": 1, \"a\": 2}");
    let twice = parse_json(json).unwrap_err().to_string();
    assert!(twice.contains("stands twice"), "{twice}");
    let cut = find_json("{\"a\": ").unwrap_err();
    assert_eq!(cut.message, "the JSON is cut off");
}

#[tokio::test]
async fn fences_and_prose_around_the_json_are_no_breach() {
    for text in [
        format!("```json\n{GOOD}\n```"),
        format!("Sure! Here it is:\n```\n{GOOD}\n```\nAnything else?"),
        format!("I {{think}}: {GOOD} - as asked."),
    ] {
        let (result, _) = run([says(&text)], StructuredOpts::default()).await;
        let result = result.unwrap();
        assert_eq!(
            (result.value, result.repairs, result.raw),
            (good(), 0, text)
        );
    }
}

#[tokio::test]
async fn a_breach_is_repaired_by_telling_the_model_where_it_is() {
    let bad = says(r#"{"score": "high", "reasoning": "short"}"#);
    let (result, sent) = run(
        [bad.clone(), says("Sorry."), says(GOOD)],
        StructuredOpts::default(),
    )
    .await;
    let result = result.unwrap();
    assert_eq!((result.value, result.repairs), (good(), 2));
    assert_eq!(result.usage.total(), 60);
    assert_eq!(
        (result.cost.usd, result.cost.from),
        (Some(Usd(30_000_000)), CostSource::Provider)
    );
    let repair = &sent[1].messages;
    assert_eq!(repair[1], bad.to_message());
    assert_eq!(repair[2].role, Role::User);
    assert!(
        repair[2].text().contains("at /score: "),
        "{}",
        repair[2].text()
    );
    assert!(
        sent[2].messages[4]
            .text()
            .contains("no JSON value was found")
    );
    assert!(sent.iter().all(|request| request.format == sent[0].format));
}

#[tokio::test]
async fn after_the_repairs_the_error_holds_the_last_text() {
    for max_repairs in [0, 2] {
        let own = Own::new(|_, _| Ok(says(r#"{"score": 300, "reasoning": "x", "more": 1}"#)));
        let (client, own) = own.client().unwrap();
        let options = StructuredOpts {
            max_repairs,
            ..StructuredOpts::default()
        };
        let error = client
            .structured::<Score>(&ask(), options)
            .await
            .unwrap_err();
        let Error::Schema { errors, raw, .. } = &error else {
            unreachable!("{error}")
        };
        assert_eq!((errors.len(), error.class()), (2, "bad_response"));
        assert!(raw.contains("300"));
        assert_eq!(own.requests().len(), max_repairs as usize + 1);
    }
}

#[tokio::test]
async fn errors_are_quoted_to_two_kilobytes_at_most() {
    let bad: Value = (0..1000)
        .map(|n| {
            (
                format!("a_key_that_is_quite_long_so_that_the_errors_are_long_as_well_{n}"),
                Value::Null,
            )
        })
        .collect();
    let (client, own) = Own::replies([says(&bad.to_string()), says("{}")])
        .client()
        .unwrap();
    let schema = json!({"type": "object", "additionalProperties": {"type": "integer"}});
    client
        .structured_value(&ask(), &schema, StructuredOpts::default())
        .await
        .unwrap();
    let complaint = own.requests()[1].messages[2].text();
    assert!(
        (1000..2300).contains(&complaint.len()) && complaint.contains("- and more"),
        "{complaint}"
    );
}

#[tokio::test]
async fn what_only_the_type_refuses_and_a_double_key_are_repaired_too() {
    #[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
    struct At {
        #[schemars(with = "String")]
        at: jiff::Timestamp,
    }
    let replies = [
        says(r#"{"at": "noon"}"#),
        says(r#"{"at": "1970-01-01T00:00:00Z", "at": "1970-01-01T00:00:01Z"}"#),
        says(r#"{"at": "1970-01-01T00:00:00Z"}"#),
    ];
    let (client, own) = Own::replies(replies).client().unwrap();
    let result = client
        .structured::<At>(&ask(), StructuredOpts::default())
        .await
        .unwrap();
    assert_eq!(
        (result.value.at, result.repairs),
        (jiff::Timestamp::UNIX_EPOCH, 2)
    );
    assert!(
        own.requests()[2].messages[4]
            .text()
            .contains("\"at\" stands twice")
    );
}

#[tokio::test]
async fn a_refusal_and_other_ends_are_errors_and_not_repaired() {
    for (stop, what) in [
        (StopReason::Refusal, "refused"),
        (StopReason::ContentFilter, "filter"),
        (StopReason::ContextWindow, "context window"),
        (StopReason::PauseTurn, "paused"),
    ] {
        let (result, sent) = run(
            [reply(vec![Block::text(GOOD)], stop)],
            StructuredOpts::default(),
        )
        .await;
        let error = result.unwrap_err();
        assert!(
            matches!(&error, Error::BadResponse { what: text, .. } if text.contains(what)),
            "{error}"
        );
        assert_eq!(sent.len(), 1);
    }
}

#[tokio::test]
async fn a_cut_reply_is_asked_for_once_more_with_twice_the_tokens() {
    let cut = || reply(vec![Block::text(r#"{"score": 7, "#)], StopReason::MaxTokens);
    let grow = |max_tokens, grow_max_tokens, replies: Vec<Reply>| async move {
        let (client, own) = Own::replies(replies).client().unwrap();
        let request = Request {
            max_tokens,
            ..ask()
        };
        let options = StructuredOpts {
            grow_max_tokens,
            ..StructuredOpts::default()
        };
        let result = client.structured::<Score>(&request, options).await;
        let asked: Vec<_> = own
            .requests()
            .iter()
            .map(|request| request.max_tokens)
            .collect();
        (result, asked)
    };
    let (result, asked) = grow(Some(100), true, vec![cut(), says(GOOD)]).await;
    let result = result.unwrap();
    assert_eq!((result.repairs, result.usage.total()), (0, 40));
    assert_eq!(asked, [Some(100), Some(200)]);
    for (max_tokens, allowed, calls) in
        [(Some(100), true, 2), (Some(100), false, 1), (None, true, 1)]
    {
        let (result, asked) = grow(max_tokens, allowed, vec![cut(), cut(), says(GOOD)]).await;
        let error = result.unwrap_err();
        assert!(error.to_string().contains("max_tokens"), "{error}");
        assert_eq!(asked.len(), calls);
    }
}

#[tokio::test]
async fn a_schema_that_is_none_or_leads_elsewhere_is_refused_before_any_send() {
    for schema in [
        json!({"type": "strin"}),
        json!({"properties": {"a": {"$ref": "https://example.com/a.json"}}}),
        json!({"$id": "https://example.com/", "$ref": "a.json"}),
    ] {
        let (client, own) = Own::replies([says("{}")]).client().unwrap();
        let error = client
            .structured_value(&ask(), &schema, StructuredOpts::default())
            .await
            .unwrap_err();
        assert!(
            matches!(&error, Error::Refused { field, .. } if field == "schema"),
            "{error}"
        );
        assert!(own.requests().is_empty());
    }
}

#[tokio::test]
async fn a_tool_call_instead_of_an_answer_is_an_error() {
    let (result, sent) = run([calls(&[("a", "t", "{}")])], StructuredOpts::default()).await;
    let error = result.unwrap_err();
    assert!(error.to_string().contains("called the tool t"), "{error}");
    assert_eq!(sent.len(), 1);
}

#[tokio::test]
async fn thinking_is_echoed_and_an_empty_reply_is_no_empty_turn() {
    let thinking = Block {
        raw: Raw::parse(r#"{"type":"thinking","thinking":"","signature":"s"}"#).ok(),
        ..Block::new(BlockKind::Thinking {
            text: String::new(),
            signature: Some("s".into()),
        })
    };
    let first = reply(vec![thinking, Block::text("{}")], StopReason::EndTurn);
    let replies = [
        first.clone(),
        reply(vec![], StopReason::EndTurn),
        says(GOOD),
    ];
    let (result, sent) = run(replies, StructuredOpts::default()).await;
    result.unwrap();
    assert_eq!(sent[1].messages[1], first.to_message());
    assert_eq!(sent[2].messages[3], Message::assistant("(no content)"));
}

#[tokio::test]
async fn a_schema_that_leaves_something_open_is_not_sent_as_strict() {
    let (client, own) = Own::replies([says(r#"{"a": 1}"#)]).client().unwrap();
    let schema = json!({"title": "An open, one!", "type": "object", "properties": {"a": {}}});
    let result = client
        .structured_value(&ask(), &schema, StructuredOpts::default())
        .await
        .unwrap();
    assert_eq!(result.value, json!({"a": 1}));
    let format = own.requests()[0].format.clone().unwrap();
    assert_eq!(
        (format.name.as_str(), format.strict),
        ("An_open__one_", false)
    );
}

#[tokio::test]
async fn asking_can_run_in_a_task_of_its_own() {
    let (client, _) = Own::replies([says(GOOD)]).client().unwrap();
    let task = tokio::spawn(async move {
        client
            .structured::<Score>(&ask(), StructuredOpts::default())
            .await
    });
    assert_eq!(task.await.unwrap().unwrap().value, good());
}
