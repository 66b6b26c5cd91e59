//! The next model: when it is asked, and what of the conversation it gets to see.

use llm_client::{
    Anthropic, AnthropicVersion, Auth, Block, BlockKind, Client, ClientBuilder, Compat,
    ConnectPhase, Dialect, Endpoint, Error, FallbackOn, HttpRequest, HttpResponse, Message, Origin,
    Raw, Reply, Request, Role, Target, Thinking, TimeoutPhase, ToolChoice,
};
use serde_json::{Value, json};
use std::sync::Arc;
use test_support::{Canned, MemoryTransport, response};

use crate::faults::{BOTH, SECOND, Wire, hello, read_stream, request, skipping, text_of};
use crate::memory::{body, client, failed, json as json_reply, said, server, whole};

fn name(wire: Wire) -> &'static str {
    match wire {
        Wire::Anthropic => "anthropic",
        Wire::Openai => "openai",
    }
}

fn second(wire: Wire) -> Vec<Target> {
    vec![Target::new(name(wire), "model-2")]
}

type Failure = fn(Wire) -> Result<HttpResponse, Error>;

/// `model-1` fails, every other one answers.
fn failing(wire: Wire, failure: Failure) -> Arc<MemoryTransport> {
    server(move |sent| {
        if body(sent)["model"] == "model-1" {
            failure(wire)
        } else {
            Ok(said(wire, &hello(), sent))
        }
    })
}

fn models(transport: &MemoryTransport) -> Vec<Value> {
    let requests = transport.requests();
    requests
        .iter()
        .map(|sent| body(sent)["model"].clone())
        .collect()
}

/// The last model that was asked.
async fn last_asked(wire: Wire, failure: Failure, on: FallbackOn) -> (Value, Result<Reply, Error>) {
    let transport = failing(wire, failure);
    let client = client(wire, &transport, &skipping())
        .fallback(second(wire))
        .fallback_on(on);
    let outcome = client.build().unwrap().complete(&request()).await;
    (models(&transport).pop().unwrap(), outcome)
}

#[tokio::test]
async fn every_failure_has_its_switch() {
    type Switch = fn(&mut FallbackOn);
    let cases: [(&str, Failure, Switch); 9] = [
        (
            "overloaded",
            |wire| Ok(failed(wire, 529, "overloaded_error")),
            |on| on.overloaded = false,
        ),
        (
            "rate_limit",
            |wire| Ok(failed(wire, 429, "rate_limit_error")),
            |on| on.rate_limited = false,
        ),
        (
            "quota",
            |wire| Ok(failed(wire, 402, "billing_error")),
            |on| on.rate_limited = false,
        ),
        (
            "rate_limit",
            |wire| Ok(limited_for_years(wire)),
            |on| on.rate_limited = false,
        ),
        (
            "network",
            |_| Err(Error::connect(ConnectPhase::Connect, "no")),
            |on| on.connect = false,
        ),
        (
            "timeout",
            |_| Err(Error::timeout(TimeoutPhase::Idle, SECOND)),
            |on| on.timeout = false,
        ),
        (
            "server",
            |wire| Ok(failed(wire, 500, "api_error")),
            |on| on.server = false,
        ),
        (
            "server",
            |wire| Ok(failed(wire, 503, "api_error")),
            |on| on.server = false,
        ),
        (
            "model_unavailable",
            |wire| Ok(failed(wire, 404, "not_found_error")),
            |on| on.model_unavailable = false,
        ),
    ];
    for wire in BOTH {
        for (class, failure, switch) in cases {
            let (asked, outcome) = last_asked(wire, failure, FallbackOn::default()).await;
            let reply = outcome.unwrap();
            assert_eq!(
                (asked, reply.text()),
                (json!("model-2"), "hello yourself".into())
            );
            let steps: Vec<_> = reply.attempts.iter().map(|one| one.n as usize).collect();
            assert_eq!(steps, (1..=steps.len()).collect::<Vec<_>>());
            let (last, before) = reply.attempts.split_last().unwrap();
            assert_eq!((&last.target, &last.class), (&second(wire)[0], &None));
            for attempt in before {
                assert_eq!(attempt.target, Target::new(name(wire), "model-1"));
                assert_eq!(attempt.class.as_deref(), Some(class), "{wire:?}");
            }

            let mut on = FallbackOn::default();
            switch(&mut on);
            let (asked, outcome) = last_asked(wire, failure, on).await;
            assert_eq!(asked, json!("model-1"), "{wire:?} {class}");
            assert_eq!(outcome.unwrap_err().class(), class);
        }
    }
}

fn limited_for_years(wire: Wire) -> HttpResponse {
    let headers = [("content-type", "application/json"), ("retry-after", "1e9")];
    response(429, &headers, wire.error("rate_limit_error"))
}

#[tokio::test]
async fn other_failures_never_move_on() {
    let cases: [(&str, Failure); 6] = [
        ("bad_request", |wire| {
            Ok(failed(wire, 400, "invalid_request_error"))
        }),
        ("auth", |wire| Ok(failed(wire, 401, "authentication_error"))),
        ("auth", |wire| Ok(failed(wire, 403, "permission_error"))),
        ("bad_request", |wire| {
            Ok(failed(wire, 413, "request_too_large"))
        }),
        ("bad_request", |wire| Ok(failed(wire, 307, "moved"))),
        ("bad_response", |_| Ok(json_reply(200, "{".into()))),
    ];
    let on = FallbackOn {
        refusal: true,
        ..FallbackOn::default()
    };
    for wire in BOTH {
        for (class, failure) in cases {
            let (asked, outcome) = last_asked(wire, failure, on).await;
            assert_eq!(asked, json!("model-1"), "{wire:?} {class}");
            assert_eq!(outcome.unwrap_err().class(), class);
        }
    }
}

fn refusing(wire: Wire) -> HttpResponse {
    let refusal = Canned::text("no").stopped("refusal", "content_filter");
    let mut text: Value = serde_json::from_str(&wire.json(&refusal)).unwrap();
    if wire == Wire::Openai {
        text["choices"][0]["finish_reason"] = json!("stop");
        text["choices"][0]["message"]["refusal"] = json!("I will not");
    }
    json_reply(200, text.to_string())
}

#[tokio::test]
async fn a_refusal_moves_on_only_when_asked_for() {
    for wire in BOTH {
        let (asked, outcome) =
            last_asked(wire, |wire| Ok(refusing(wire)), FallbackOn::default()).await;
        assert_eq!(asked, json!("model-1"));
        assert_eq!(
            outcome.unwrap().stop,
            llm_client::StopReason::Refusal,
            "{wire:?}"
        );
        let on = FallbackOn {
            refusal: true,
            ..FallbackOn::default()
        };
        let (asked, outcome) = last_asked(wire, |wire| Ok(refusing(wire)), on).await;
        let reply = outcome.unwrap();
        assert_eq!(
            (asked, reply.text()),
            (json!("model-2"), "hello yourself".into())
        );
        assert_eq!(reply.attempts[0].class.as_deref(), Some("refusal"));
    }
}

#[tokio::test]
async fn a_stream_moves_on_before_its_first_event_and_never_after() {
    for wire in BOTH {
        let transport = failing(wire, |wire| Ok(failed(wire, 529, "overloaded_error")));
        let builder = client(wire, &transport, &skipping()).fallback(second(wire));
        let (events, reply) = read_stream(&builder.build().unwrap(), &request()).await;
        assert_eq!(text_of(&events), "hello yourself");
        assert_eq!(
            reply.unwrap().attempts.last().unwrap().target,
            second(wire)[0]
        );

        let broken: Failure = |wire| {
            let start = wire.events(&hello())[..3].concat();
            let cut = Err(Error::connect(ConnectPhase::Body, "reset"));
            let kind = [("content-type", "text/event-stream")];
            Ok(test_support::streamed(200, &kind, [Ok(start.into()), cut]))
        };
        let transport = failing(wire, broken);
        let builder = client(wire, &transport, &skipping()).fallback(second(wire));
        let (events, reply) = read_stream(&builder.build().unwrap(), &request()).await;
        assert!(!events.is_empty());
        assert_eq!(reply.unwrap_err().class(), "network");
        assert_eq!(models(&transport), ["model-1"]);
    }
}

#[tokio::test]
async fn the_last_error_is_the_callers_with_every_step() {
    let wire = Wire::Anthropic;
    let transport = server(move |_| Ok(failed(wire, 529, "overloaded_error")));
    let mut chain = second(wire);
    chain.push(Target::new("anthropic", "model-3"));
    let client = client(wire, &transport, &skipping()).fallback(chain);
    let error = client
        .build()
        .unwrap()
        .complete(&request())
        .await
        .unwrap_err();
    let steps: Vec<_> = error
        .attempts()
        .iter()
        .map(|one| (one.n, one.target.model.as_str()))
        .collect();
    let models = ["model-1", "model-2", "model-3"];
    let expected: Vec<_> = (0..9).map(|n| (n + 1, models[n as usize / 3])).collect();
    assert_eq!(steps, expected);
}

fn thought(provider: &str, model: &str) -> Block {
    let mut block = Block::new(BlockKind::Thinking {
        text: format!("thought of {provider} {model}"),
        signature: Some("sig".into()),
    });
    block.origin = Some(Origin {
        provider: provider.into(),
        model: model.into(),
    });
    block
}

fn redacted(provider: &str, model: &str) -> Block {
    let data = format!(r#"{{"type":"redacted_thinking","data":"of {provider} {model}"}}"#);
    Block {
        kind: BlockKind::RedactedThinking,
        raw: Some(Raw::parse(&data).unwrap()),
        ..thought(provider, model)
    }
}

/// What is sent to a model of this conversation.
async fn sent_to(wire: Wire, content: Vec<Block>) -> Value {
    let transport = server(move |sent| Ok(said(wire, &hello(), sent)));
    let mut asked = request();
    asked.messages.push(Message::new(Role::Assistant, content));
    asked.messages.push(Message::user("go on"));
    let client = client(wire, &transport, &skipping()).build().unwrap();
    client.complete(&asked).await.unwrap();
    body(&transport.requests()[0])["messages"].clone()
}

#[tokio::test]
async fn own_thoughts_are_kept_and_foreign_ones_removed() {
    let others = [("anthropic", "model-9"), ("openai", "model-1")];
    for (provider, model) in others {
        let content = vec![
            thought("anthropic", "model-1"),
            thought(provider, model),
            redacted("anthropic", "model-1"),
            redacted(provider, model),
            Block::text("said"),
        ];
        let sent = sent_to(Wire::Anthropic, content).await;
        assert_eq!(sent[1]["content"].as_array().unwrap().len(), 3, "{sent}");
        let text = sent.to_string();
        assert!(text.contains("thought of anthropic model-1"), "{text}");
        assert!(text.contains("of anthropic model-1\""), "{text}");
        assert!(!text.contains(&format!("of {provider} {model}")), "{text}");
    }
    // A thought without an origin is the caller's own: it goes as it is.
    let mut mine = thought("", "");
    mine.origin = None;
    let sent = sent_to(Wire::Anthropic, vec![mine, Block::text("said")]).await;
    assert_eq!(sent[1]["content"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn a_turn_of_foreign_thoughts_alone_says_that_it_has_no_content() {
    for wire in BOTH {
        let foreign = vec![thought("elsewhere", "model-9"), redacted("elsewhere", "m")];
        let sent = sent_to(wire, foreign).await;
        assert_eq!(sent[1]["content"], "(no content)", "{wire:?} {sent}");
    }
}

/// The reply of an OpenAI-compatible server with a thought, put back into a conversation.
async fn turn_with_reasoning() -> Message {
    let wire = Wire::Openai;
    let mut canned = hello();
    canned.thinking = Some("secret thought".into());
    let mut reply: Value = serde_json::from_str(&wire.json(&canned)).unwrap();
    let message = &mut reply["choices"][0]["message"];
    message["reasoning_details"] = json!([{"type": "reasoning.text", "text": "secret thought"}]);
    let transport = server(move |_| Ok(json_reply(200, reply.to_string())));
    let client = openrouter(&transport).build().unwrap();
    client.complete(&request()).await.unwrap().to_message()
}

fn openrouter(transport: &Arc<MemoryTransport>) -> ClientBuilder {
    let endpoint = Endpoint::new("http://127.0.0.1:1/v1", Auth::None).unwrap();
    let provider = Compat::new(endpoint, Dialect::openrouter());
    Client::builder(Arc::new(provider), Arc::new(skipping())).transport(transport.clone())
}

#[tokio::test]
async fn fields_of_reasoning_go_back_to_their_model_only() {
    let turn = turn_with_reasoning().await;
    let transport = failing(Wire::Openai, |wire| Ok(failed(wire, 529, "overloaded")));
    let chain = vec![Target::new("openrouter", "model-2")];
    let client = openrouter(&transport).fallback(chain).build().unwrap();
    let mut asked = request();
    asked.messages.push(turn);
    asked.messages.push(Message::user("go on"));
    client.complete(&asked).await.unwrap();
    let sent: Vec<String> = transport
        .requests()
        .iter()
        .map(|sent| body(sent)["messages"][1].to_string())
        .collect();
    assert!(
        sent[0].contains("reasoning") && sent[0].contains("secret thought"),
        "{}",
        sent[0]
    );
    let last = sent.last().unwrap();
    assert!(
        !last.contains("reasoning") && !last.contains("secret"),
        "{last}"
    );
    assert!(last.contains("hello yourself"), "{last}");
}

/// The bodies that reach two Anthropic models, and the reply of the second.
async fn adapted(first: &str, next: &str, asked: Request) -> (Vec<Value>, Result<Reply, Error>) {
    let wire = Wire::Anthropic;
    let fails = first.to_owned();
    let transport = server(move |sent| {
        Ok(if body(sent)["model"] == fails.as_str() {
            failed(wire, 404, "not_found_error")
        } else {
            whole(wire, &hello())
        })
    });
    let endpoint = Endpoint::new("http://127.0.0.1:1", Auth::None).unwrap();
    let provider = Anthropic::new(endpoint).with_version(AnthropicVersion::V2023_06_01);
    let client = Client::builder(Arc::new(provider), Arc::new(skipping()))
        .transport(transport.clone())
        .fallback(vec![Target::new("anthropic", next)])
        .build()
        .unwrap();
    let asked = Request {
        model: first.into(),
        ..asked
    };
    let outcome = client.complete(&asked).await;
    let requests = transport.requests();
    (requests.iter().map(body).collect(), outcome)
}

#[tokio::test]
async fn thinking_and_length_are_fitted_to_each_model() {
    let mut asked = request();
    asked.max_tokens = Some(20_000);
    asked.thinking = Thinking::Budget(2048);
    let (sent, reply) = adapted("claude-haiku-4-5", "claude-opus-5-5", asked.clone()).await;
    assert_eq!(
        sent[0]["thinking"],
        json!({"type": "enabled", "budget_tokens": 2048})
    );
    assert_eq!(sent[1]["thinking"], json!({"type": "adaptive"}));
    let warned = reply.unwrap().warnings;
    assert_eq!(warned.len(), 1);
    assert_eq!(warned[0].field, "thinking");

    // And the other way round, from what the caller asked for.
    asked.thinking = Thinking::Adaptive;
    let (sent, reply) = adapted("claude-opus-5-5", "claude-haiku-4-5", asked).await;
    assert_eq!(sent[0]["thinking"], json!({"type": "adaptive"}));
    assert_eq!(
        sent[1]["thinking"],
        json!({"type": "enabled", "budget_tokens": 10_000})
    );
    assert_eq!(reply.unwrap().warnings.len(), 1);
}

#[tokio::test]
async fn a_model_that_cannot_take_the_request_is_not_asked() {
    let mut asked = request();
    asked.tools = vec![llm_client::ToolSpec::Function {
        name: "look".into(),
        description: "looks".into(),
        schema: json!({"type": "object"}),
        strict: None,
    }];
    asked.tool_choice = ToolChoice::Any;
    let (sent, outcome) = adapted("claude-haiku-4-5", "claude-opus-5-5", asked).await;
    assert_eq!(sent.len(), 1);
    assert!(matches!(outcome, Err(Error::ModelUnavailable { .. })));
}

#[tokio::test]
async fn what_the_first_provider_does_not_take_still_goes_to_the_next() {
    let transport = server(|sent: &HttpRequest| {
        Ok(if sent.path.ends_with("messages") {
            failed(Wire::Anthropic, 529, "overloaded_error")
        } else {
            whole(Wire::Openai, &hello())
        })
    });
    let client = client(Wire::Anthropic, &transport, &skipping())
        .provider(Wire::Openai.provider_at("http://127.0.0.1:1"))
        .fallback(vec![Target::new("openai", "model-2")]);
    let mut asked = request();
    asked.sampling.temperature = Some(0.5);
    let reply = client.build().unwrap().complete(&asked).await.unwrap();
    assert!(reply.warnings.is_empty(), "{:?}", reply.warnings);
    let requests = transport.requests();
    assert_eq!(body(&requests[0])["temperature"], Value::Null);
    assert_eq!(body(requests.last().unwrap())["temperature"], 0.5);
}

#[test]
fn a_provider_that_nobody_added_is_refused() {
    let wire = Wire::Anthropic;
    let built = client(wire, &crate::memory::nobody(), &skipping())
        .fallback(vec![Target::new("openai", "model-2")])
        .build();
    let error = built.err().unwrap().to_string();
    assert!(
        error.starts_with("fallback: no provider is called \"openai\""),
        "{error}"
    );
}
