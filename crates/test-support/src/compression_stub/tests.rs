use llm_client::provider::{HttpOptions, HttpRequest, HttpTransport, Method, Transport as _};

use super::*;

const ENCODER: &str = "You are an encoding agent participating in a challenge.\n\nENCODING SYSTEM:\nYou are a decoding agent";
const DECODER: &str = "You are a decoding agent participating in a challenge.";
const SEMANTIC: &str = "You are evaluating semantic preservation in a compression experiment.";
const RULES: &str = "Evaluate this encoding system for implementability as an agent skill.";

/// The status, headers and body of the answer; `None` if the connection ends without one.
async fn send(stub: &CompressionStub, path: &str, body: &Value) -> Option<(u16, bool, String)> {
    let transport = HttpTransport::new(&HttpOptions::default()).unwrap();
    let method = if path == "/__stats" {
        Method::Get
    } else {
        Method::Post
    };
    let url = format!("{}{path}", stub.url()).parse().unwrap();
    let mut request = HttpRequest::new(method, url, "");
    request.body = body.to_string().into();
    let response = transport.execute(request).await.ok()?;
    let (status, wish) = (response.status, response.header("retry-after-ms").is_some());
    let body = response.bytes(1 << 20).await.unwrap();
    Some((status, wish, String::from_utf8(body.to_vec()).unwrap()))
}

fn body(system: &str, user: &str) -> Value {
    json!({"model": "m", "max_tokens": 1, "system": system, "messages": [{"role": "user", "content": user}]})
}

/// The text of a role, or its stop reason without a text.
async fn ask(stub: &CompressionStub, system: &str, user: &str) -> String {
    let (status, _, reply) = send(stub, "/v1/messages", &body(system, user))
        .await
        .unwrap();
    assert_eq!(status, 200, "{reply}");
    let reply: Value = serde_json::from_str(&reply).unwrap();
    let text = reply["content"][0]["text"].as_str();
    text.unwrap_or_else(|| reply["stop_reason"].as_str().unwrap())
        .to_owned()
}

#[tokio::test]
async fn every_role_of_every_profile_is_played() {
    let stub = CompressionStub::start(StubMode::Ok);
    let text = "Hello world!";
    assert_eq!(ask(&stub, ENCODER, text).await, "Hllo wrld!");
    assert_eq!(ask(&stub, DECODER, "Hllo wrld!").await, text);
    assert_eq!(ask(&stub, DECODER, "nvr sn").await, "nvr sn");
    let bands = "ENCODING SYSTEM:\nrules\n\nENCODED TEXT:\nHllo wrld!";
    assert_eq!(
        ask(&stub, "You are a decoding agent in a test.", bands).await,
        text
    );
    let part = |name: &str, text: &str| format!("[{name} 1f]\n{text}\n[END OF {name} 1f]");
    let rules = part("ENCODING SYSTEM", "rules");
    let user = format!("{rules}\n\n{}", part("TEXT", "Lines\nof [text]"));
    assert_eq!(ask(&stub, ENCODER, &user).await, "Lns\nof [txt]");
    let user = format!("{rules}\n\n{}", part("ENCODED TEXT", "Lns\nof [txt]"));
    assert_eq!(ask(&stub, DECODER, &user).await, "Lines\nof [text]");
    for (system, score) in [
        (SEMANTIC, 38),
        ("You compare two texts. One is", 38),
        (RULES, 4),
        ("Evaluate an encoding system for implementability as", 4),
        (
            "You judge whether an agent could use the encoding system in",
            4,
        ),
    ] {
        let said: Value = serde_json::from_str(&ask(&stub, system, "x").await).unwrap();
        assert_eq!(said["score"], score, "{system}");
    }
    let level_3 = "Take the sentence: 'Compression reveals essence'.";
    let executor = "You carry out instructions.\n\nx";
    assert_eq!(
        ask(&stub, executor, level_3).await,
        "U:essence reveals Compression"
    );
    assert_eq!(ask(&stub, ENCODER, "[refuse] it").await, "refusal");
    let (status, ..) = send(&stub, "/v1/messages", &body("Hi", "x")).await.unwrap();
    assert_eq!(status, 400);
}

#[tokio::test]
async fn counts_and_usage_are_of_the_texts() {
    let stub = CompressionStub::start(StubMode::Ok);
    let count = json!({"model": "m", "messages": [{"role": "user", "content": [{"type": "text", "text": "Hello world!"}]}]});
    let (_, _, reply) = send(&stub, "/v1/messages/count_tokens", &count)
        .await
        .unwrap();
    assert_eq!(reply, r#"{"input_tokens":12}"#);
    let asked = body("You are an encoding agent", "Hello world!");
    let (_, _, reply) = send(&stub, "/v1/messages", &asked).await.unwrap();
    let reply: Value = serde_json::from_str(&reply).unwrap();
    assert_eq!(
        reply["usage"],
        json!({"input_tokens": 12 + 7, "output_tokens": 3})
    );
}

/// Statuses of the first two calls of each role, and what the encoder and the judge say.
#[tokio::test]
async fn modes_go_wrong_as_they_say() {
    let cases = [
        ("ok", "200 200 200 200", "Hllo", r#"{"reasoning":"#),
        ("fenced", "200 200 200 200", "Hllo", "```json\n{"),
        ("fenced_upper", "200 200 200 200", "Hllo", "```JSON\n{"),
        ("prose", "200 200 200 200", "Hllo", "On the 0-40 scale"),
        ("nojson", "200 200 200 200", "Hllo", "I think"),
        (
            "noscore",
            "200 200 200 200",
            "Hllo",
            r#"{"reasoning":"rather good"}"#,
        ),
        (
            "refusal_encode",
            "200 200 200 200",
            "refusal",
            r#"{"reasoning":"#,
        ),
        ("max_tokens", "200 200 200 200", "Hl", r#"{"reasoning":"#),
        ("count_404", "404 404 200 200", "Hllo", r#"{"reasoning":"#),
        ("e401", "401 401 401 401", "", ""),
        ("e429_once", "200 200 429! 200", "Hllo", r#"{"reasoning":"#),
        ("e500_once", "200 200 500 200", "Hllo", r#"{"reasoning":"#),
        ("drop_once", "200 200 0 200", "Hllo", r#"{"reasoning":"#),
        ("e429_always", "200 200 429! 429!", "", ""),
        ("e529_always", "200 200 529! 529!", "", ""),
        ("quota", "200 200 402 402", "", ""),
        ("no_model", "200 200 404 404", "", ""),
    ];
    for (mode, statuses, encoded, judged) in cases {
        let stub = CompressionStub::start(mode.parse().unwrap());
        let count = json!({"messages": [{"role": "user", "content": "x"}]});
        let mut seen = Vec::new();
        for _ in 0..2 {
            seen.push(send(&stub, "/v1/messages/count_tokens", &count).await);
        }
        for _ in 0..2 {
            seen.push(send(&stub, "/v1/messages", &body(ENCODER, "Hello")).await);
        }
        let seen: Vec<_> = seen
            .iter()
            .map(|answer| match answer {
                Some((status, true, _)) => format!("{status}!"),
                Some((status, false, _)) => status.to_string(),
                None => "0".to_owned(),
            })
            .collect();
        assert_eq!(seen.join(" "), statuses, "{mode}");
        if !encoded.is_empty() {
            assert_eq!(ask(&stub, ENCODER, "Hello").await, encoded, "{mode}");
            // Of a mode that strikes each role once, the judge's turn is still to come.
            let _ = send(&stub, "/v1/messages", &body(SEMANTIC, "x")).await;
            let said = ask(&stub, SEMANTIC, "x").await;
            assert!(said.starts_with(judged), "{mode}: {said}");
        }
    }
}

#[tokio::test]
async fn the_modes_of_the_decoder_and_of_broken_replies() {
    let stub = CompressionStub::start(StubMode::RefusalDecode);
    assert_eq!(ask(&stub, DECODER, "x").await, "refusal");
    stub.reset(StubMode::EmptyDecode);
    assert_eq!(ask(&stub, DECODER, "x").await, "end_turn");
    stub.reset(StubMode::E400Prefill);
    let mut prefilled = body(SEMANTIC, "x");
    assert_eq!(
        send(&stub, "/v1/messages", &prefilled).await.unwrap().0,
        200
    );
    let turn = json!({"role": "assistant", "content": "{"});
    prefilled["messages"].as_array_mut().unwrap().push(turn);
    assert_eq!(
        send(&stub, "/v1/messages", &prefilled).await.unwrap().0,
        400
    );
    for (mode, is_json) in [
        (StubMode::BadJson, false),
        (StubMode::Html, false),
        (StubMode::Error200, true),
    ] {
        stub.reset(mode);
        let (status, _, reply) = send(&stub, "/v1/messages", &body(ENCODER, "x"))
            .await
            .unwrap();
        let parsed = serde_json::from_str::<Value>(&reply).is_ok();
        assert_eq!((status, parsed), (200, is_json), "{mode:?}: {reply}");
    }
}

#[tokio::test]
async fn statistics_are_kept_until_a_reset() {
    let stub = CompressionStub::start(StubMode::E500Once);
    let nothing = json!({});
    for _ in 0..2 {
        send(&stub, "/v1/messages", &body(ENCODER, "Hello")).await;
    }
    send(&stub, "/v1/messages/count_tokens", &nothing).await;
    let (_, _, stats) = send(&stub, "/__stats", &nothing).await.unwrap();
    let mut stats: Value = serde_json::from_str(&stats).unwrap();
    assert!(stats["spanMs"].take().as_f64().unwrap() > 0.0);
    let by_role = json!({"count": {"200": 1}, "encoder": {"200": 1, "500": 1}});
    let expected =
        json!({"calls": 3, "byRole": by_role, "maxInFlight": 1, "connections": 3, "spanMs": null});
    assert_eq!(stats, expected);
    assert_eq!(stub.calls()[1].body["messages"][0]["content"], "Hello");

    let path = "/__reset?mode=ok&latency=1";
    assert_eq!(send(&stub, path, &nothing).await.unwrap().0, 200);
    assert_eq!(stub.stats(), StubStats::default());
    assert_eq!(ask(&stub, DECODER, "Hllo").await, "Hello");
    for path in ["/__reset?mode=odd", "/__reset?latency=x", "/__reset?x=1"] {
        assert_eq!(send(&stub, path, &nothing).await.unwrap().0, 400, "{path}");
    }
    assert_eq!(send(&stub, "/v1/other", &nothing).await.unwrap().0, 404);
}

#[tokio::test]
async fn replies_are_held_until_no_further_call_can_come() {
    for (limit, waves) in [
        (8, vec![2, 2, 2, 2, 4]),
        (3, vec![2, 2, 2, 2, 3, 1]),
        (1, vec![1; 12]),
    ] {
        let stub = CompressionStub::start(StubMode::Ok);
        stub.hold(2, limit);
        // Two experiments with a gate for all their calls.
        let gate = tokio::sync::Semaphore::new(limit);
        let call = async |path: &str, system: &str, text: &str| {
            let _permit = gate.acquire().await.unwrap();
            send(&stub, path, &body(system, text)).await.unwrap();
        };
        let experiment = async |text: &str| {
            call("/v1/messages/count_tokens", "", text).await;
            call("/v1/messages", ENCODER, text).await;
            call("/v1/messages/count_tokens", "", text).await;
            call("/v1/messages", DECODER, text).await;
            tokio::join!(
                call("/v1/messages", SEMANTIC, text),
                call("/v1/messages", RULES, text),
            );
        };
        tokio::join!(experiment("one"), experiment("two"));
        assert_eq!(stub.waves(), waves, "{limit}");
        assert_eq!(stub.stats().max_in_flight, limit.min(4));
    }
}

#[tokio::test]
async fn what_is_held_comes_when_it_is_released() {
    let stub = CompressionStub::start(StubMode::Ok);
    // An experiment more than there are: the wave is never full.
    stub.hold(2, 8);
    let held = ask(&stub, ENCODER, "Hello");
    let marked = ask(&stub, ENCODER, "Hello [hold]");
    let release = async {
        stub.server().wait_in_flight(1).await;
        stub.wait_calls(1);
        stub.release();
    };
    let (said, ()) = tokio::join!(held, release);
    assert_eq!(said, "Hllo");
    assert_eq!(marked.await, "Hllo [hld]");
    assert_eq!(stub.waves(), [1, 1]);
}

#[test]
fn every_mode_can_be_named() {
    for mode in StubMode::all() {
        assert_eq!(mode.as_str().parse(), Ok(mode));
    }
    assert!("odd".parse::<StubMode>().is_err());
}
