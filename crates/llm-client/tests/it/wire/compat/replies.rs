//! Whole replies of all kinds.

use super::*;
use crate::wire::encoded;

/// Two forms of the same answer: all that does not name the exchange is equal.
pub fn assert_same(one: &Reply, other: &Reply) {
    assert_eq!(one.model, other.model);
    assert_eq!(one.content, other.content);
    assert_eq!(one.stop, other.stop);
    assert_eq!(one.stop_details, other.stop_details);
    assert_eq!(one.usage, other.usage);
    assert_eq!(one.cost, other.cost);
    assert_eq!(one.to_message(), other.to_message());
}

fn tool(id: &Value, arguments: &str) -> Value {
    json!({ "id": id, "type": "function", "function": { "name": "f", "arguments": arguments } })
}

#[test]
fn missing_and_double_ids_become_unique_in_the_content_and_in_the_echo() {
    let ids = [
        json!("x"),
        json!("x"),
        Value::Null,
        json!(""),
        json!("call_2"),
    ];
    let tools: Vec<_> = ids.iter().map(|id| tool(id, "{}")).collect();
    let answer = completion(
        &json!({ "content": null, "tool_calls": tools }),
        "tool_calls",
    );
    let reply = ask_generic(answer).unwrap();
    let ids: Vec<_> = calls(&reply).into_iter().map(|(id, ..)| id).collect();
    assert_eq!(ids, ["x", "call_1", "call_2", "call_3", "call_4"]);
    let raw: Value = echoed(&reply).to().unwrap();
    let sent: Vec<_> = raw["tool_calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| &call["id"])
        .collect();
    assert_eq!(sent, ids);
    assert!(raw.get("content").is_none());
}

#[test]
fn an_id_is_not_made_twice_in_one_conversation() {
    let answer = || {
        completion(
            &json!({ "tool_calls": [tool(&Value::Null, "{}")] }),
            "tool_calls",
        )
    };
    let lite = provider(Dialect::generic(), "/v1");
    let mut request = Request::new("m", "x");
    let first = ask(&lite, &request, answer()).unwrap();
    request.messages.push(first.to_message());
    let second = ask(&lite, &request, answer()).unwrap();
    assert_eq!(
        (calls(&first)[0].0, calls(&second)[0].0),
        ("call_1", "call_2")
    );
}

#[test]
fn arguments_that_are_no_object_are_kept_as_text_and_echoed_unchanged() {
    for text in ["{\"a\":", "[1]", "7", "nonsense", "{} {}"] {
        let answer = completion(
            &json!({ "tool_calls": [tool(&json!("a"), text)] }),
            "tool_calls",
        );
        let reply = ask_generic(answer).unwrap();
        assert!(
            matches!(&reply.content[0].kind, BlockKind::ToolUse { input: ToolInput::Invalid(kept), .. } if kept == text),
            "{text}"
        );
        let raw: Value = echoed(&reply).to().unwrap();
        assert_eq!(raw["tool_calls"][0]["function"]["arguments"], text);
    }
}

#[test]
fn no_arguments_and_arguments_that_are_no_text_are_read() {
    let none = completion(&json!({ "tool_calls": [tool(&json!("a"), "")] }), "stop");
    assert_eq!(calls(&ask_generic(none).unwrap())[0].2, "{}");
    let object =
        json!({ "tool_calls": [{ "function": { "name": "f", "arguments": { "a": 1 } } }] });
    assert_eq!(
        calls(&ask_generic(completion(&object, "stop")).unwrap())[0].2,
        r#"{"a":1}"#
    );
}

#[test]
fn an_answer_cut_by_its_length_is_not_a_call() {
    let answer = completion(
        &json!({ "tool_calls": [tool(&json!("a"), "{\"b\":")] }),
        "length",
    );
    assert_eq!(ask_generic(answer).unwrap().stop, StopReason::MaxTokens);
}

#[test]
fn a_refusal_keeps_its_text() {
    let reply = ask_generic(completion(
        &json!({ "content": null, "refusal": "I will not." }),
        "stop",
    ));
    let reply = reply.unwrap();
    assert_eq!(
        (reply.text().as_str(), &reply.stop),
        ("I will not.", &StopReason::Refusal)
    );
}

#[test]
fn a_content_of_parts_is_their_text() {
    let parts = json!([{ "type": "text", "text": "a" }, { "type": "x", "text": "no" }, 7, "b"]);
    assert_eq!(
        ask_generic(completion(&json!({ "content": parts }), "stop"))
            .unwrap()
            .text(),
        "ab"
    );
}

#[test]
fn reasons_to_stop_are_read_leniently() {
    for (finish, stop) in [
        (json!("stop"), StopReason::EndTurn),
        (json!(""), StopReason::EndTurn),
        (Value::Null, StopReason::EndTurn),
        (json!("content_filter"), StopReason::ContentFilter),
        (json!("error"), StopReason::Error),
        (
            json!("function_call"),
            StopReason::Other("function_call".to_owned()),
        ),
        (json!("eos"), StopReason::Other("eos".to_owned())),
    ] {
        let body =
            json!({ "choices": [{ "message": { "content": "x" }, "finish_reason": finish }] });
        assert_eq!(
            ask_generic(Answer::json(body.to_string())).unwrap().stop,
            stop,
            "{finish}"
        );
    }
}

#[test]
fn usage_is_split_and_what_is_missing_is_marked() {
    let of = |usage: Value| {
        let body = json!({ "choices": [{ "message": { "content": "x" } }], "usage": usage });
        ask_generic(Answer::json(body.to_string())).unwrap().usage
    };
    let usage = of(json!({
        "prompt_tokens": 100, "completion_tokens": 20.0, "cost": 1,
        "prompt_tokens_details": { "cached_tokens": 60, "cache_write_tokens": 30, "audio": null },
        "completion_tokens_details": { "reasoning_tokens": 5 },
        "server_tool_use": { "web_search_requests": 2 },
    }));
    assert_eq!(
        (usage.input, usage.cache_read, usage.cache_write_5m),
        (10, 60, 30)
    );
    assert_eq!(
        (usage.output, usage.thinking, usage.known),
        (20, Some(5), true)
    );
    assert_eq!(usage.server_tools["web_search_requests"], 2);
    assert_eq!(
        of(json!({ "prompt_tokens": 1, "prompt_tokens_details": { "cached_tokens": 9 } })).input,
        0
    );
    for nothing in [
        Value::Null,
        json!({}),
        json!([]),
        json!("x"),
        json!({ "prompt_tokens": -1 }),
    ] {
        assert!(!of(nothing).known);
    }
}

#[test]
fn what_is_no_completion_is_a_bad_response_with_its_start() {
    let page = format!("<html>my test-key {}</html>", "x".repeat(5000));
    for (kind, body) in [
        ("text/html", page.as_str()),
        ("application/json", ""),
        ("application/json", "{}"),
        ("application/json", "null"),
        ("application/json", r#"{"choices":[]}"#),
        ("application/json", r#"{"choices":[{}]}"#),
        ("application/json", r#"{"choices":[{"message":7}]}"#),
        ("application/json", r#"{"choices":[{"message":{"content":"#),
        ("application/json", "\u{0}"),
    ] {
        let answer = Answer::new(200, kind, body.to_owned()).header("x-request-id", "r1");
        let error = ask_generic(answer).unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::BadResponse { .. }),
            "{body}: {error:?}"
        );
        let text = error.to_string();
        assert!(text.len() < 2300 && !text.contains("test-key"), "{text}");
        assert_eq!(error.request_id(), Some("r1"));
    }
}

#[test]
fn odd_values_beside_the_point_are_no_failure() {
    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    let body = format!(
        r#"{{"id":7,"model":null,"deep":{deep},"usage":"x","choices":[{{"index":"0","logprobs":{deep},
        "message":{{"role":null,"content":"x","refusal":{{}},"reasoning":[],"tool_calls":null,"audio":{deep}}}}}]}}"#
    );
    let reply = ask_generic(Answer::json(body)).unwrap();
    assert_eq!((reply.text().as_str(), reply.model.as_str()), ("x", "m"));
    assert_eq!(echoed(&reply).to::<Value>().unwrap()["content"], "x");
}

#[test]
fn an_error_in_a_200_is_an_error() {
    for (error, class) in [
        (json!({ "code": 502, "message": "down" }), "server"),
        (json!({ "code": "400", "message": "bad" }), "bad_request"),
        (json!({ "type": "overloaded_error" }), "overloaded"),
        (json!("words"), "bad_response"),
    ] {
        let body = json!({ "error": error, "choices": [{ "message": { "content": "x" } }] });
        assert_eq!(
            ask_generic(Answer::json(body.to_string()))
                .unwrap_err()
                .class()
                .as_str(),
            class
        );
        let body = json!({ "choices": [{ "message": { "content": "x" }, "error": error }] });
        assert_eq!(
            ask_generic(Answer::json(body.to_string()))
                .unwrap_err()
                .class()
                .as_str(),
            class
        );
    }
}

#[test]
fn an_event_stream_answers_a_plain_call_and_json_a_stream() {
    let vector = Vector::load("oa_04_stream_usage");
    let plain = ask_generic(vector.answer()).unwrap();
    assert_eq!(plain.text(), "pong from fixture");

    let vector = Vector::load("oa_02_tools");
    let lite = provider(Dialect::generic(), "/v1");
    let events = stream(&lite, &Request::new("m", "x"), vector.answer()).unwrap();
    let whole = ask_generic(vector.answer()).unwrap();
    let streamed = events.collect().now_or_never().unwrap().unwrap();
    assert_eq!(streamed, whole);
}

#[test]
fn thoughts_go_back_to_the_model_that_had_them_and_to_no_other() {
    let router = provider(Dialect::openrouter(), "/api/v1");
    let message = json!({
        "role": "assistant", "content": "42", "refusal": null, "reasoning": "hm",
        "reasoning_details": [{ "type": "reasoning.text", "text": "hm", "signature": "s" }],
    });
    let mut request = Request::new("m", "x");
    let reply = ask(&router, &request, completion(&message, "stop")).unwrap();
    request.messages.push(reply.to_message());
    let sent = |provider: &Compat, model: &str| {
        let http = encoded(provider, &request, model).unwrap();
        super::super::json(&http.body)["messages"][1].clone()
    };
    let mut whole = message.clone();
    whole.as_object_mut().unwrap().remove("refusal");
    let bare = json!({ "role": "assistant", "content": "42" });
    assert_eq!(sent(&router, "m"), whole);
    assert_eq!(sent(&router, "other"), bare);
    assert_eq!(sent(&provider(Dialect::vllm(), "/v1"), "m"), bare);
}
