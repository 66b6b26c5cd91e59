use llm_client::provider::{HttpOptions, HttpRequest, HttpTransport, Method, Transport as _};
use serde_json::{Value, json};

use super::*;

fn body(user: &str) -> Value {
    json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": user}]})
}

/// The status and body of the answer; `None` if the connection ends without one.
async fn send(stub: &MindStub, path: &str, body: &Value) -> Option<(u16, Vec<u8>)> {
    let transport = HttpTransport::new(&HttpOptions::default()).unwrap();
    let url = stub.server().url(path).parse().unwrap();
    let mut request = HttpRequest::new(Method::Post, url, "");
    request.body = body.to_string().into();
    let response = transport.execute(request).await.ok()?;
    let status = response.status;
    Some((status, response.bytes(64 << 20).await.ok()?.to_vec()))
}

async fn ask(stub: &MindStub, user: &str) -> Option<(u16, Vec<u8>)> {
    send(stub, "/v1/chat/completions", &body(user)).await
}

/// The whole reply.
async fn reply(stub: &MindStub, user: &str) -> Value {
    let (status, body) = ask(stub, user).await.unwrap();
    assert_eq!(status, 200);
    serde_json::from_slice(&body).unwrap()
}

fn content(reply: &Value) -> &Value {
    &reply["choices"][0]["message"]["content"]
}

fn with(mode: MindMode) -> MindScript {
    MindScript {
        mode,
        ..MindScript::default()
    }
}

#[tokio::test]
async fn an_answer_is_fixed_by_its_prompt() {
    let stub = MindStub::start(with(MindMode::Mix));
    let mut first = Vec::new();
    for n in 0..40 {
        first.push(ask(&stub, &format!("prompt {n}")).await);
    }
    let other = MindStub::start(with(MindMode::Mix));
    for n in (0..40).rev() {
        assert_eq!(ask(&other, &format!("prompt {n}")).await, first[n]);
    }
    let (one, two) = (stub.stats(), other.stats());
    assert_eq!(one.by_form, two.by_form);
    assert_eq!(one.billed, two.billed);
    assert!(one.by_form.len() > 10, "{one:?}");
    first.dedup();
    assert!(first.len() > 20);
}

#[tokio::test]
async fn every_form_is_written_as_it_is_named() {
    for form in MindForm::all() {
        let stub = MindStub::start(with(MindMode::Form(form)));
        let reply = reply(&stub, "Read.").await;
        let message = reply["choices"][0]["message"].as_object().unwrap();
        match form {
            MindForm::Missing => assert!(!message.contains_key("content")),
            MindForm::Null => assert!(message["content"].is_null()),
            MindForm::Empty => assert_eq!(message["content"], ""),
            _ => {
                let text = message["content"].as_str().unwrap();
                let delimiter = |line: &str| line.trim_end_matches([' ', '\t', '\r']) == "---";
                let delimiters = text.split('\n').filter(|line| delimiter(line)).count();
                let (end, reason) = form.verdict();
                assert_eq!(reason == "no_delimiter", delimiters == 0, "{form:?}");
                assert_eq!(end == "none", delimiters < 2, "{form:?}");
            }
        }
        let cut = reply["choices"][0]["finish_reason"] == "length";
        assert_eq!(cut, form == MindForm::Cut);
        assert_eq!(reply["model"], "m");
        assert!(form.notes().is_sorted());
        assert_eq!(stub.stats().by_form, BTreeMap::from([(form, 1)]));
    }
}

#[tokio::test]
async fn words_of_ones_own() {
    let stub = MindStub::start(with(MindMode::Literal {
        texts: 2,
        bytes: 200,
    }));
    let said = reply(&stub, "Read.").await;
    let blocks: Vec<_> = content(&said).as_str().unwrap().split("\n---\n").collect();
    let lengths: Vec<_> = blocks.iter().map(|block| block.len()).collect();
    assert_eq!(lengths, [9, 200, 200, 0, 0]);
    assert_eq!(content(&reply(&stub, "Else.").await), content(&said));
    stub.set(with(MindMode::Say("x".repeat(10 << 20))));
    assert_eq!(
        content(&reply(&stub, "Read.").await)
            .as_str()
            .unwrap()
            .len(),
        10 << 20
    );
    stub.set(with(MindMode::Raw(b"\"\\ud800 \xff\"".to_vec())));
    let (_, bytes) = ask(&stub, "Read.").await.unwrap();
    let place = b"\"content\":\"\\ud800 \xff\"";
    assert!(bytes.windows(place.len()).any(|window| window == place));
}

#[tokio::test]
async fn faults_depend_on_prompt_and_attempt() {
    let script = MindScript {
        faults: Some(MindFaults::once(0.5)),
        ..MindScript::default()
    };
    let stub = MindStub::start(script.clone());
    let mut statuses = Vec::new();
    for n in 0..60 {
        let first = ask(&stub, &format!("{n}"))
            .await
            .map_or(0, |answer| answer.0);
        let second = ask(&stub, &format!("{n}")).await.map(|answer| answer.0);
        assert_eq!(second, Some(200));
        statuses.push(first);
    }
    for status in [0, 200, 429, 500] {
        assert!(statuses.contains(&status), "{statuses:?}");
    }
    let fine = statuses.iter().filter(|status| **status == 200).count();
    assert!((15..45).contains(&fine), "{fine}");
    assert_eq!(stub.stats().by_status[&200], 60 + fine);
    assert_eq!(stub.asked().len(), 60);
    assert!(stub.asked().values().all(|times| *times == 2));
    // Attempts go on behind a `forget`: whoever is killed and comes again is not struck again.
    stub.forget();
    assert_eq!(ask(&stub, "0").await.unwrap().0, 200);
    stub.set(MindScript {
        faults: Some(MindFaults::always(1.0)),
        ..script
    });
    assert_ne!(ask(&stub, "0").await.map(|answer| answer.0), Some(200));
    assert_eq!(stub.stats().requests, 2);
    assert_eq!(stub.requests().len(), 2);
}

#[tokio::test]
async fn faults_by_number() {
    let stub = MindStub::start(MindScript {
        fail_every: Some(3),
        fatal: Some((4, MindFatal::Auth)),
        ..MindScript::default()
    });
    let mut statuses = Vec::new();
    for _ in 0..6 {
        statuses.push(ask(&stub, "x").await.unwrap().0);
    }
    assert_eq!(statuses, [200, 200, 500, 200, 401, 401]);
    for (fatal, status) in [
        (MindFatal::Quota, 402),
        (MindFatal::NoModel, 404),
        (MindFatal::BadRequest, 400),
    ] {
        stub.set(MindScript {
            fatal: Some((0, fatal)),
            ..MindScript::default()
        });
        assert_eq!(ask(&stub, "x").await.unwrap().0, status);
    }
}

#[tokio::test]
async fn costs_are_those_of_the_tokens() {
    let stub = MindStub::start(MindScript {
        cost: Some([1.0, 5.0]),
        ..MindScript::default()
    });
    let usage = reply(&stub, "12345678").await["usage"].clone();
    assert_eq!(usage["prompt_tokens"], 2);
    let answer = usage["completion_tokens"].as_f64().unwrap();
    let cost = usage["cost"].as_f64().unwrap();
    assert!((cost - (2.0 + 5.0 * answer) / 1e6).abs() < 1e-12);
    assert!((stub.stats().billed.usd - cost).abs() < 1e-12);
}

#[tokio::test]
async fn answers_are_held_and_let_go() {
    let stub = MindStub::start(MindScript {
        hold: 1..3,
        latency: Duration::from_millis(1),
        jitter: Duration::from_millis(1),
        ..MindScript::default()
    });
    reply(&stub, "a").await;
    let (b, c, ()) = tokio::join!(reply(&stub, "b"), reply(&stub, "c"), async {
        stub.server().wait_in_flight(2).await;
        stub.wait_requests(3);
        stub.release();
    });
    assert_ne!(content(&b), content(&c));
    reply(&stub, "d").await;
    let stats = stub.stats();
    assert_eq!((stats.requests, stats.max_in_flight), (4, 2));
    assert!(stats.span > Duration::ZERO);
}

#[tokio::test]
async fn both_protocols_say_the_same_and_nothing_else_is_served() {
    let stub = MindStub::start(MindScript::default());
    let (status, other) = send(&stub, "/v1/messages", &body("a")).await.unwrap();
    assert_eq!(status, 200);
    let other: Value = serde_json::from_slice(&other).unwrap();
    assert_eq!(
        &other["content"][0]["text"],
        content(&reply(&stub, "a").await)
    );
    assert_eq!(send(&stub, "/v1/models", &body("a")).await.unwrap().0, 404);
    let mut streaming = body("a");
    streaming["stream"] = json!(true);
    let refused = send(&stub, "/v1/chat/completions", &streaming).await;
    assert_eq!(refused.unwrap().0, 400);
    assert_eq!(stub.stats().requests, 2);
}
