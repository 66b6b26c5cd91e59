use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::{self, BoxFuture};
use llm_client::{
    Block, BlockKind, Budget, Call, Client, ConfigError, Cost, CountSource, Echo, Error, Event,
    HttpRequest, HttpResponse, Message, Provider, ReplySource, Request, Role, Route, Rule,
    RuleReply, Script, SizeCaps, StopReason, Target, ToolInput, Transport, Usd,
};
use test_support::FakeClock;

/// Offline providers reach nothing.
struct NoNetwork;

impl Transport for NoNetwork {
    fn execute(&self, _: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, Error>> {
        Box::pin(future::ready(Err(Error::protocol(
            "the network was reached",
        ))))
    }
}

/// Waits between attempts take no time.
fn clock() -> FakeClock {
    FakeClock::skip_up_to(Duration::from_secs(30))
}

fn call(provider: &dyn Provider, request: Request) -> Call {
    Call {
        target: Target::new(provider.name(), &request.model),
        request,
        attempt: 0,
        transport: Arc::new(NoNetwork),
        sizes: SizeCaps::default(),
    }
}

async fn events(provider: &dyn Provider, request: Request) -> Vec<Result<Event, Error>> {
    let call = call(provider, request);
    let stream = provider.stream(&call).await.unwrap();
    // The stream's own `collect` gives the reply only.
    StreamExt::collect(stream).await
}

fn pieces(events: &[Result<Event, Error>]) -> Vec<String> {
    events
        .iter()
        .filter_map(|event| match event {
            Ok(Event::TextDelta { text, .. }) => Some(text.clone()),
            _ => None,
        })
        .collect()
}

async fn said(script: &Script, text: &str) -> Result<String, Error> {
    let call = call(script, Request::new("m", text));
    script.send(&call).await.map(|reply| reply.text())
}

fn script(rules: &str) -> Script {
    Script::from_json(rules).unwrap()
}

#[tokio::test]
async fn an_echo_is_the_same_over_runs_and_platforms() {
    let echo = Echo::new(7);
    let reply = echo
        .send(&call(&echo, Request::new("m", "Grüße, 世界!")))
        .await
        .unwrap();
    assert_eq!(reply.text(), "echo:22531d843bdb Grüße, 世界!");
    assert_eq!(reply.id, "echo_22531d843bdbe6c7eef85e73");
    let streamed = events(&echo, Request::new("m", "Grüße, 世界!")).await;
    assert_eq!(
        pieces(&streamed),
        ["echo:2", "2531d8", "43bd", "b", " Grüße", ", 世界!"]
    );
    let encoded = echo
        .encode(&Request::new("m", "hi"), "m", Route::Complete)
        .unwrap();
    assert_eq!(
        encoded.body,
        r#"{"messages":[{"content":[{"kind":{"text":{"text":"hi"}}}],"role":"user"}],"model":"m","offline_seed":7}"#
    );
    assert_eq!(
        (encoded.url.as_str(), encoded.path.as_str()),
        ("offline:echo", "/offline/echo")
    );
}

#[tokio::test]
async fn an_echo_depends_on_seed_and_request_and_not_on_what_is_never_sent() {
    let text =
        async |echo: &Echo, request: Request| echo.send(&call(echo, request)).await.unwrap().text();
    let (one, other) = (Echo::new(1), Echo::new(2));
    let request = Request::new("m", "x");
    let plain = text(&one, request.clone()).await;
    assert_ne!(plain, text(&other, request.clone()).await);
    assert_ne!(plain, text(&one, Request::new("n", "x")).await);
    let mut marked = request;
    marked.labels.insert("run".into(), "1".into());
    marked.replay_key = Some("k".into());
    assert_eq!(plain, text(&one, marked).await);
    assert_eq!(
        plain,
        text(&one.clone().with_name("mine"), Request::new("m", "x")).await
    );
}

#[tokio::test]
async fn an_echo_cuts_the_users_text_at_max_tokens_between_characters() {
    let echo = Echo::new(0);
    let mut request = Request::new("m", "abcä!");
    for (max, rest, stop) in [
        (1, "abc", StopReason::MaxTokens),
        (2, "abcä!", StopReason::EndTurn),
    ] {
        request.max_tokens = Some(max);
        let reply = echo.send(&call(&echo, request.clone())).await.unwrap();
        assert_eq!(reply.text().split_once(' ').unwrap().1, rest);
        assert_eq!(reply.stop, stop);
    }
    let mut request = Request::new("m", "abää");
    request.max_tokens = Some(1);
    let reply = echo.send(&call(&echo, request)).await.unwrap();
    assert!(reply.text().ends_with(" ab"));
}

#[tokio::test]
async fn an_echo_answers_the_last_user_text_even_after_results_of_tools() {
    let echo = Echo::new(0);
    let mut request = Request::new("m", "first");
    request.messages.push(Message::user("second"));
    request.messages.push(Message::assistant("no"));
    let result = Block::tool_result("call_1", "result", false);
    request
        .messages
        .push(Message::new(Role::User, vec![result]));
    let reply = echo.send(&call(&echo, request)).await.unwrap();
    assert!(reply.text().ends_with(" second"));
}

#[tokio::test]
async fn a_stream_gives_the_plain_reply_in_pieces_of_1_to_7_characters() {
    let echo = Echo::new(3);
    let long = "äb ".repeat(100);
    let plain = echo
        .send(&call(&echo, Request::new("m", long.as_str())))
        .await
        .unwrap();
    let streamed = events(&echo, Request::new("m", long.as_str())).await;
    let pieces = pieces(&streamed);
    assert_eq!(pieces.concat(), plain.text());
    let lengths: Vec<_> = pieces.iter().map(|piece| piece.chars().count()).collect();
    let (_, all_but_the_last) = lengths.split_last().unwrap();
    assert_eq!(all_but_the_last.iter().min(), Some(&1));
    assert_eq!(all_but_the_last.iter().max(), Some(&7));
    let Some(Ok(Event::Done(done))) = streamed.last() else {
        panic!("no last event: {streamed:?}");
    };
    assert_eq!(**done, plain);
}

#[tokio::test]
async fn replies_say_that_they_are_offline_and_free() {
    let echo = Echo::new(0).with_name("mine");
    let script = script(r#"[{"reply": {"text": "hi"}}]"#);
    for (provider, label) in [(&echo as &dyn Provider, "echo"), (&script, "script")] {
        let call = call(provider, Request::new("m", "abc"));
        let reply = provider.send(&call).await.unwrap();
        assert_eq!(reply.source, ReplySource::Offline(label.into()));
        assert_eq!(reply.cost, Cost::FREE);
        assert!(!reply.usage.known);
        assert_eq!(reply.usage.input, 13);
        assert_eq!(provider.capabilities("m").offline, Some(label));
        assert_eq!(
            reply.content[0].origin.as_ref().unwrap().provider,
            provider.name()
        );
        let count = provider.count_tokens(&call).await.unwrap();
        assert_eq!(count.tokens, 13);
        let source = CountSource::Estimate {
            method: "bytes3".into(),
            reason: "offline".into(),
        };
        assert_eq!(count.source, source);
    }
}

#[tokio::test]
async fn a_client_of_an_offline_provider_reaches_no_network_and_spends_nothing() {
    let budget = Budget {
        usd: Some(Usd::ZERO),
        ..Budget::default()
    };
    let client = Client::builder(Arc::new(Echo::new(0)), Arc::new(clock()))
        .transport(Arc::new(NoNetwork))
        .budget(budget)
        .build()
        .unwrap();
    let request = Request::new("m", "hello");
    let plain = client.complete(&request).await.unwrap();
    let streamed = client
        .stream(&request)
        .await
        .unwrap()
        .collect()
        .await
        .unwrap();
    for reply in [&plain, &streamed] {
        assert_eq!(reply.source, ReplySource::Offline("echo".into()));
        assert_eq!(reply.cost, Cost::FREE);
    }
    assert_eq!(plain.text(), streamed.text());
    let count = client.count_tokens(&request).await.unwrap();
    assert!(matches!(count.source, CountSource::Estimate { .. }));
    assert_eq!(client.spent().usd, Usd::ZERO);
    assert_eq!(client.spent().tokens, 0);
}

#[tokio::test]
async fn a_client_tries_again_after_the_error_of_a_rule() {
    let script = script(
        r#"[
            {"match": {"nth": 0}, "reply": {"error": {"status": 529, "type": "overloaded_error"}}},
            {"reply": {"text": "hello"}}
        ]"#,
    );
    let client = Client::builder(Arc::new(script), Arc::new(clock()))
        .build()
        .unwrap();
    let reply = client.complete(&Request::new("m", "x")).await.unwrap();
    assert_eq!(reply.text(), "hello");
    assert_eq!(reply.attempts.len(), 2);
    assert_eq!(reply.attempts[0].class.as_deref(), Some("overloaded"));
}

#[tokio::test]
async fn the_first_rule_that_matches_answers() {
    let script = script(
        r#"[
            {"match": {"user_contains": "a", "model": "other"}, "reply": {"text": "never"}},
            {"match": {"user_contains": "apple"}, "reply": {"text": "fruit"}},
            {"match": {"system_contains": "terse"}, "reply": {"json": {"b": null, "a": 1}}},
            {"match": {"model": "m", "user_contains": "null"}, "reply": {"json": null}},
            {"match": {"user_contains": "stop"}, "reply": {"text": "x", "stop": "refusal"}},
            {"match": {"user_contains": "nothing"}, "reply": {"stop": "end_turn"}}
        ]"#,
    );
    assert_eq!(said(&script, "an apple").await.unwrap(), "fruit");
    assert_eq!(said(&script, "null").await.unwrap(), "null");
    assert_eq!(said(&script, "nothing").await.unwrap(), "");
    let mut request = Request::new("m", "x");
    request.system = vec![Block::text("be terse")];
    let reply = script.send(&call(&script, request)).await.unwrap();
    assert_eq!(reply.text(), r#"{"a":1,"b":null}"#);
    let reply = script
        .send(&call(&script, Request::new("m", "stop")))
        .await
        .unwrap();
    assert_eq!(reply.stop, StopReason::Refusal);
}

#[tokio::test]
async fn a_request_without_a_rule_is_refused_in_a_line_that_shows_no_prompt() {
    let script = script(r#"[{"match": {"user_contains": "a"}, "reply": {"text": "b"}}]"#);
    let error = said(&script, "secret").await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "script: none of the 1 rules of script is for this attempt: model m, last user text of 6 characters, no \
         result of a tool"
    );
    assert_eq!(error.class(), "bad_request");
}

#[tokio::test]
async fn nth_counts_from_0_what_meets_the_other_conditions_whoever_answers() {
    let script = script(
        r#"[
            {"match": {"user_contains": "x", "nth": 0}, "reply": {"text": "zero"}},
            {"match": {"user_contains": "x", "nth": 1}, "reply": {"text": "one"}},
            {"reply": {"text": "rest"}}
        ]"#,
    );
    for (text, reply) in [("x", "zero"), ("y", "rest"), ("x", "one"), ("x", "rest")] {
        assert_eq!(said(&script, text).await.unwrap(), reply);
    }
}

#[tokio::test]
async fn tool_calls_have_ids_of_their_own_and_results_are_seen() {
    let script = script(
        r#"[
            {
                "match": {"has_tool_result": false},
                "reply": {"text": "let me see", "tool_calls": [{"name": "f", "input": {"x": 1}}, {"name": "g", "input": {}}]}
            },
            {"match": {"user_contains": "again"}, "reply": {"tool_calls": [{"name": "f", "input": {}}]}},
            {"match": {"has_tool_result": true}, "reply": {"text": "done"}}
        ]"#,
    );
    let ids = |reply: &llm_client::Reply| -> Vec<String> {
        reply
            .tool_uses()
            .filter_map(|block| match &block.kind {
                BlockKind::ToolUse { id, .. } => Some(id.clone()),
                _ => None,
            })
            .collect()
    };
    let mut request = Request::new("m", "go");
    let reply = script.send(&call(&script, request.clone())).await.unwrap();
    assert_eq!(reply.stop, StopReason::ToolUse);
    assert_eq!(reply.text(), "let me see");
    assert_eq!(ids(&reply), ["call_1", "call_2"]);

    let streamed = events(&script, request.clone()).await;
    let Some(Ok(Event::Done(done))) = streamed.last() else {
        panic!("no last event: {streamed:?}");
    };
    assert_eq!(**done, reply);

    request.messages.push(reply.to_message());
    let results = ["call_1", "call_2"].map(|id| Block::tool_result(id, "1", false));
    request
        .messages
        .push(Message::new(Role::User, results.to_vec()));
    let done = script.send(&call(&script, request.clone())).await.unwrap();
    assert_eq!(done.text(), "done");

    request.messages[0] = Message::user("go again");
    let more = script.send(&call(&script, request)).await.unwrap();
    assert_eq!(ids(&more), ["call_3"]);
}

#[tokio::test]
async fn an_error_of_a_rule_is_the_error_of_a_server() {
    let script = script(
        r#"[
            {"match": {"nth": 0}, "reply": {"error": {"status": 429, "type": "rate_limit_error", "retry_after": 1.5}}},
            {"match": {"nth": 1}, "reply": {"error": {"status": 529, "type": "overloaded_error"}}},
            {"match": {"nth": 2}, "reply": {"error": {"status": 404, "type": "not_found_error"}}},
            {"reply": {"error": {"status": 500, "type": "api_error"}}}
        ]"#,
    );
    let limited = said(&script, "x").await.unwrap_err();
    assert_eq!(limited.class(), "rate_limit");
    assert_eq!(limited.trail().wish.retry_after.as_deref(), Some("1.5"));
    for class in ["overloaded", "model_unavailable", "server"] {
        let call = call(&script, Request::new("m", "x"));
        assert_eq!(script.stream(&call).await.unwrap_err().class(), class);
    }
}

#[tokio::test]
async fn a_cut_stream_is_an_error_with_what_came_and_a_whole_reply_stays_whole() {
    let cut = |after: usize| {
        script(&format!(
            r#"[{{"reply": {{"text": "a text that needs several pieces", "stream_cut_after": {after}}}}}]"#
        ))
    };
    for after in [0, 2, 1000] {
        let script = cut(after);
        let mut events = events(&script, Request::new("m", "x")).await;
        let came = pieces(&events);
        let Some(Err(Error::StreamTruncated { partial, .. })) = events.pop() else {
            panic!("not cut: {events:?}");
        };
        assert_eq!(partial.text(), came.concat());
        assert_eq!(partial.content.len(), 1);
        assert!(events.iter().all(Result::is_ok));
        if after < 1000 {
            assert_eq!(came.len(), after);
        } else {
            assert_eq!(came.concat(), "a text that needs several pieces");
        }
        assert_eq!(
            said(&script, "x").await.unwrap(),
            "a text that needs several pieces"
        );
    }
}

#[tokio::test]
async fn a_tool_call_that_is_cut_has_no_arguments_to_run() {
    let script = script(
        r#"[{"reply": {"tool_calls": [{"name": "f", "input": {"path": "/some/where"}}], "stream_cut_after": 1}}]"#,
    );
    let Some(Err(Error::StreamTruncated { partial, .. })) =
        events(&script, Request::new("m", "x")).await.pop()
    else {
        panic!("not cut");
    };
    let BlockKind::ToolUse { input, .. } = &partial.content[0].kind else {
        panic!("no tool call: {partial:?}");
    };
    assert!(matches!(input, ToolInput::Invalid(text) if text.starts_with('{')));
}

#[tokio::test]
async fn a_delay_goes_by_the_clock_that_it_needs() {
    let rules = r#"[{"reply": {"text": "late", "delay": 2.5}}]"#;
    let refused = Script::from_json(rules).unwrap_err().to_string();
    assert_eq!(
        refused,
        "script: rule 1: a delay needs a clock: Script::with_clock"
    );
    let clock = Arc::new(clock());
    let script = Script::with_clock(Script::rules(rules).unwrap(), clock.clone()).unwrap();
    assert_eq!(said(&script, "x").await.unwrap(), "late");
    assert_eq!(clock.skipped(), [Duration::from_millis(2500)]);
}

#[test]
fn faults_of_a_script_name_their_line() {
    for (reply, message) in [
        (r#"{"text": 1}"#, "line 2: invalid type"),
        (
            "{\"text\": \"a\",\n\"colour\": 1}",
            "line 3: unknown field `colour`",
        ),
        (r#"{"stop": "tired"}"#, "line 2: unknown variant `tired`"),
        (
            "{}",
            "line 2: a reply needs text, tool_calls, json, stop or error",
        ),
        (
            r#"{"text": "a", "json": 1}"#,
            "line 2: a reply has json or text and tool_calls, not both",
        ),
        (
            r#"{"text": "a", "error": {"status": 500, "type": "t"}}"#,
            "line 2: a reply with an error has nothing else but a delay",
        ),
        (
            r#"{"error": {"status": 200, "type": "t"}}"#,
            "line 2: the status of an error is 400 to 599",
        ),
        (r#"{"text": "a", "delay": -1}"#, "line 2: "),
    ] {
        let json = format!("[\n{{\"reply\": {reply}}}]");
        let error = Script::from_json(&json).unwrap_err();
        assert!(
            error.to_string().starts_with(&format!("script, {message}")),
            "{reply}: {error}"
        );
    }
}

#[test]
fn rules_from_code_are_checked_too() {
    let nothing = Rule::default();
    assert!(matches!(
        Script::new(vec![nothing]),
        Err(ConfigError::Setting {
            setting: "script",
            ..
        })
    ));
    let hello = Rule {
        reply: RuleReply {
            text: Some("hello".into()),
            ..RuleReply::default()
        },
        ..Rule::default()
    };
    assert!(Script::new(vec![hello]).is_ok());
}
