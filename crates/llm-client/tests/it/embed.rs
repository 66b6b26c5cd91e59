//! Embeddings: the rows M1 to M10 of the specification, and the layers that they pass.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use llm_client::embed::{EmbedReply, EmbedRequest};
use llm_client::provider::HttpRequest;
use llm_client::{
    Budget, Cassette, Client, ClientBuilder, Clock as _, Cost, CostSource, Echo, Error, ErrorClass,
    ErrorKind, ReplySource, SystemClock, Timeouts, Usd,
};
use serde_json::{Value, json};
use tempfile::tempdir;
use test_support::{Answer, FakeClock, FaultServer, MemoryTransport};

use crate::bill::prices;
use crate::faults::{SECOND, Wire, no_retries, skipping};
use crate::memory::{body, client, failed, json as replying, nobody, server};

const WIRE: Wire = Wire::Openai;
const MODEL: &str = "model-1";

fn asked(texts: &[&str]) -> EmbedRequest {
    EmbedRequest::new(MODEL, texts.iter().copied())
}

/// A body with these vectors, by their index.
fn with(rows: &[(u64, Value)]) -> Value {
    let rows = rows
        .iter()
        .map(|(index, vector)| json!({"object": "embedding", "index": index, "embedding": vector}));
    let rows: Vec<_> = rows.collect();
    json!({"object": "list", "model": MODEL, "data": rows,
        "usage": {"prompt_tokens": 7, "total_tokens": 7}})
}

/// The vector of a text: its length and its first byte.
fn vector(text: &str) -> Value {
    json!([text.len(), text.as_bytes()[0]])
}

/// A server with a vector for each text.
fn answering(request: &HttpRequest) -> Value {
    let texts = body(request)["input"].clone();
    let texts: Vec<String> = serde_json::from_value(texts).unwrap();
    let rows: Vec<_> = (0..).zip(texts.iter().map(|text| vector(text))).collect();
    with(&rows)
}

fn good() -> Arc<MemoryTransport> {
    server(|request| Ok(replying(200, answering(request).to_string())))
}

fn fixed(answer: &Value) -> Arc<MemoryTransport> {
    let answer = answer.to_string();
    server(move |_| Ok(replying(200, answer.clone())))
}

fn on(transport: &Arc<MemoryTransport>) -> ClientBuilder {
    client(WIRE, transport, &skipping())
        .models(prices(2, 8))
        .retry(no_retries())
}

async fn asking(answer: &Value, request: &EmbedRequest) -> Result<EmbedReply, Error> {
    on(&fixed(answer)).build().unwrap().embed(request).await
}

/// The error of a client that got this answer to two texts.
async fn refused(answer: &Value) -> Error {
    asking(answer, &asked(&["ab", "c"])).await.unwrap_err()
}

fn assert_protocol(error: &Error, names: &str) {
    let is_protocol = matches!(error.kind(), ErrorKind::Protocol { .. });
    assert!(is_protocol && error.message().contains(names), "{error:?}");
}

fn assert_bad(error: &Error, names: &str) {
    let is_bad = matches!(error.kind(), ErrorKind::BadResponse { .. });
    assert!(is_bad && error.message().contains(names), "{error:?}");
}

#[tokio::test]
async fn the_request_is_that_of_the_protocol_and_the_reply_has_all_facts() {
    let transport = good();
    let client = on(&transport).build().unwrap();
    let request = asked(&["ab", "ß\n\"x\""]).dimensions(Some(2));
    let reply = client.embed(&request).await.unwrap();
    assert_eq!(reply.vectors, [[2.0, 97.0], [6.0, 195.0]]);
    assert_eq!((reply.model.as_str(), reply.dims), (MODEL, 2));
    assert_eq!((reply.usage.input, reply.usage.known), (7, true));
    assert_eq!(reply.cost.usd, Some(Usd(7 * 2_000)));
    assert!(matches!(reply.cost.from, CostSource::Table { .. }));
    assert_eq!(reply.source, ReplySource::Live);
    assert_eq!(reply.attempts.len(), 1);
    let sent = transport.requests();
    assert_eq!(sent[0].path, "/embeddings");
    assert_eq!(
        body(&sent[0]),
        json!({"model": MODEL, "input": ["ab", "ß\n\"x\""], "encoding_format": "float",
            "dimensions": 2})
    );
    assert_eq!(client.spent().usd, Usd(7 * 2_000));
    assert_eq!(client.spent().calls, 1);
}

#[tokio::test]
async fn m1_an_index_that_is_wrong_is_named_and_nothing_is_returned() {
    let (a, b) = (json!([1, 2]), json!([3, 4]));
    let double = refused(&with(&[(0, a.clone()), (0, b.clone())])).await;
    assert_protocol(&double, "two vectors with index 0");
    let beyond = refused(&with(&[(0, a.clone()), (2, b.clone())])).await;
    assert_protocol(&beyond, "index 2 of 2 texts");
    let fewer = refused(&with(&[(1, b.clone())])).await;
    assert_protocol(&fewer, "index 0 is missing");
    for index in [Value::Null, json!(-1), json!("0"), json!(0.5)] {
        let mut answer = with(&[(0, a.clone()), (1, b.clone())]);
        answer["data"][1]["index"] = index.clone();
        let error = refused(&answer).await;
        let is_protocol = matches!(error.kind(), ErrorKind::Protocol { .. });
        assert!(is_protocol, "{index}: {error:?}");
    }
    let mut more = with(&[(0, a.clone()), (1, b.clone()), (1, a)]);
    more["data"][2].as_object_mut().unwrap().remove("index");
    assert_protocol(&refused(&more).await, "without an index");
}

#[tokio::test]
async fn m2_vectors_of_another_length_are_refused() {
    let answer = with(&[(0, json!([1, 2])), (1, json!([1]))]);
    assert_bad(&refused(&answer).await, "text 1 has 1 numbers, expected 2");
    let answer = with(&[(0, json!([1, 2])), (1, json!([3, 4]))]);
    let request = asked(&["a", "b"]).dimensions(Some(3));
    let error = asking(&answer, &request).await.unwrap_err();
    assert_bad(&error, "text 0 has 2 numbers, expected 3");
}

#[tokio::test]
async fn m3_what_is_not_a_vector_of_finite_numbers_is_refused() {
    for (vector, names) in [
        ("[1,null]", "not a list of numbers"),
        ("[1,\"NaN\"]", "not a list of numbers"),
        ("[1,1e400]", "not a list of numbers"),
        ("[1,1000001]", "holds 1000001"),
        ("[1,-1e30]", "holds -1"),
        ("[]", "is empty"),
        ("\"\"", "is empty"),
        ("{}", "not a list of numbers"),
        ("null", "is missing"),
        ("[[1]]", "not a list of numbers"),
    ] {
        let answer = format!(
            r#"{{"model":"m","data":[{{"index":0,"embedding":[1,2]}},{{"index":1,"embedding":{vector}}}]}}"#
        );
        let transport = server(move |_| Ok(replying(200, answer.clone())));
        let client = on(&transport).build().unwrap();
        let error = client.embed(&asked(&["a", "b"])).await.unwrap_err();
        assert_bad(&error, names);
        assert!(error.message().contains("text 1"), "{vector}: {error:?}");
    }
    let reply = asking(&with(&[(0, json!([1e6, -1e6]))]), &asked(&["a"])).await;
    assert_eq!(reply.unwrap().vectors, [[1e6, -1e6]]);
}

#[tokio::test]
async fn m4_without_a_text_nothing_is_sent() {
    let client = on(&nobody()).build().unwrap();
    let long = "x".repeat(2_000_001);
    for (texts, field, why) in [
        (&[][..], "inputs", "empty"),
        (&["a", "", "b"], "inputs.1", "empty"),
        (&["a", &long], "inputs.1", "2000001 bytes"),
    ] {
        let error = client.embed(&asked(texts)).await.unwrap_err();
        let ErrorKind::Refused {
            field: named,
            why: told,
        } = error.kind()
        else {
            panic!("{error:?}");
        };
        assert!(named == field && told.contains(why), "{error:?}");
    }
    let error = client
        .embed(&EmbedRequest::new(" ", ["a"]))
        .await
        .unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::Refused { .. }),
        "{error:?}"
    );
    assert_eq!(client.spent().calls, 0);
}

#[tokio::test]
async fn m5_vectors_are_in_the_order_of_the_texts() {
    let answer = with(&[(2, json!([3])), (0, json!([1])), (1, json!([2]))]);
    let reply = asking(&answer, &asked(&["a", "b", "c"])).await.unwrap();
    assert_eq!(reply.vectors, [[1.0], [2.0], [3.0]]);
}

#[tokio::test]
async fn m6_without_a_usage_the_reservation_is_charged() {
    let mut answer = with(&[(0, json!([1]))]);
    for usage in [None, Some(json!({})), Some(json!({"prompt_tokens": "7"}))] {
        match usage {
            Some(usage) => answer["usage"] = usage,
            None => drop(answer.as_object_mut().unwrap().remove("usage")),
        }
        let client = on(&fixed(&answer))
            .budget(Budget::default().usd(Some(Usd(1_000_000_000))))
            .build()
            .unwrap();
        let reply = client
            .embed(&asked(&["some words of a text"]))
            .await
            .unwrap();
        assert!(!reply.usage.known && reply.usage.input > 0);
        let spent = client.spent();
        assert!(
            spent.usd > Usd::ZERO && spent.uncertain == spent.usd,
            "{spent:?}"
        );
        // An estimate is not above the bound.
        assert!(spent.usd.0 >= reply.usage.input as i64 * 2_000, "{spent:?}");
        assert_eq!(reply.attempts[0].charge.usd, Some(spent.usd));
    }
    // Some servers have the sum alone.
    let mut answer = with(&[(0, json!([1]))]);
    answer["usage"] = json!({"total_tokens": 5});
    let reply = asking(&answer, &asked(&["a"])).await.unwrap();
    assert_eq!((reply.usage.input, reply.usage.known), (5, true));
}

#[tokio::test]
async fn m7_base64_is_read_as_floats() {
    let floats = [0.25_f32, -3.5, 1e-3];
    let bytes: Vec<u8> = floats.iter().flat_map(|it| it.to_le_bytes()).collect();
    let reply = asking(
        &with(&[(0, json!(STANDARD.encode(&bytes)))]),
        &asked(&["a"]),
    )
    .await;
    assert_eq!(reply.unwrap().vectors, [floats]);
    let part = with(&[(0, json!(STANDARD.encode(&bytes[..10])))]);
    let error = asking(&part, &asked(&["a"])).await.unwrap_err();
    assert_bad(&error, "a part of a number");
    let error = asking(&with(&[(0, json!("no base64"))]), &asked(&["a"]))
        .await
        .unwrap_err();
    assert_bad(&error, "neither a list nor base64");
    let infinite = STANDARD.encode(f32::INFINITY.to_le_bytes());
    let error = asking(&with(&[(0, json!(infinite))]), &asked(&["a"]))
        .await
        .unwrap_err();
    assert_bad(&error, "holds inf");
}

#[tokio::test]
async fn m8_failures_of_the_server_are_those_of_a_call() {
    let error = |status: u16, body: &'static str| {
        let transport = server(move |_| Ok(replying(status, body.into())));
        let client = on(&transport).build().unwrap();
        async move { client.embed(&asked(&["a"])).await.unwrap_err() }
    };
    let missing = error(404, r#"{"error":{"message":"no route /v1/embeddings"}}"#).await;
    assert_eq!(missing.status(), Some(404));
    assert!(
        missing.message().contains("no route /v1/embeddings"),
        "{missing:?}"
    );
    let long = error(400, r#"{"error":{"message":"input is too long"}}"#).await;
    assert!(long.message().contains("input is too long"), "{long:?}");
    let cut = error(200, r#"{"data":[{"index":0,"embe"#).await;
    assert_bad(&cut, "expected a list of vectors");
    let fault = error(200, r#"{"error":{"message":"out of memory","code":500}}"#).await;
    assert!(fault.message().contains("out of memory"), "{fault:?}");
    let nothing = error(200, r#"{"data":null}"#).await;
    assert_bad(&nothing, "got none");
    // An error costs nothing, and a body that cannot be used may be billed.
    let server_500 = on(&server(|_| Ok(failed(WIRE, 500, "server_error"))));
    let client = server_500.build().unwrap();
    assert!(client.embed(&asked(&["a"])).await.is_err());
    assert_eq!(client.spent().usd, Usd::ZERO);
}

#[tokio::test]
async fn m8_a_rate_limit_is_retried() {
    let mut n = 0;
    let transport = server(move |request| {
        n += 1;
        Ok(match n {
            1 => failed(WIRE, 429, "rate_limit_exceeded"),
            2 => failed(WIRE, 503, "busy"),
            _ => replying(200, answering(request).to_string()),
        })
    });
    let clock = skipping();
    let client = client(WIRE, &transport, &clock).build().unwrap();
    let reply = client.embed(&asked(&["a"])).await.unwrap();
    assert_eq!(reply.attempts.len(), 3);
    let requests = transport.requests();
    assert!(requests.iter().all(|it| it.body == requests[0].body));
    assert!(clock.elapsed() > SECOND / 10);
}

#[tokio::test]
async fn m8_a_body_of_more_than_64_mib_and_a_cut_one_are_errors() {
    let head = || Answer::head(200, "application/json").header("connection", "close");
    let large = FaultServer::replies([head().repeat(" ", 0).repeat(vec![b' '; 1 << 20], 65)]);
    let client = WIRE.client(&large, &skipping()).retry(no_retries());
    let error = client
        .build()
        .unwrap()
        .embed(&asked(&["a"]))
        .await
        .unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::TooLarge { .. }),
        "{error:?}"
    );
    let cut = FaultServer::replies([Answer::head(200, "application/json")
        .header("content-length", "100")
        .bytes(r#"{"data":["#)
        .close()]);
    let client = WIRE.client(&cut, &skipping()).retry(no_retries());
    let error = client
        .build()
        .unwrap()
        .embed(&asked(&["a"]))
        .await
        .unwrap_err();
    assert_eq!(error.class(), ErrorClass::Network, "{error:?}");
}

#[tokio::test]
async fn many_texts_are_split_and_kept_in_order() {
    let transport = good();
    let client = on(&transport).build().unwrap();
    let texts: Vec<String> = (0..600).map(|n| "x".repeat(n + 1)).collect();
    let reply = client
        .embed(&EmbedRequest::new(MODEL, texts))
        .await
        .unwrap();
    let lengths: Vec<f32> = reply.vectors.iter().map(|vector| vector[0]).collect();
    assert!(
        lengths
            .iter()
            .enumerate()
            .all(|(n, length)| *length as usize == n + 1)
    );
    let counts: Vec<_> = transport
        .requests()
        .iter()
        .map(|it| body(it)["input"].as_array().unwrap().len())
        .collect();
    assert_eq!(counts, [256, 256, 88]);
    assert_eq!((reply.attempts.len(), reply.usage.input), (3, 21));
    assert_eq!(reply.cost.usd, Some(Usd(21 * 2_000)));
    assert_eq!(client.spent().calls, 3);

    let transport = good();
    let client = on(&transport).build().unwrap();
    let text = "y".repeat(900_000);
    let reply = client.embed(&asked(&[text.as_str(); 5])).await.unwrap();
    assert_eq!((reply.vectors.len(), transport.requests().len()), (5, 3));
}

#[tokio::test]
async fn m9_a_part_that_fails_is_an_error_and_the_first_one_is_paid_and_replayable() {
    let folder = tempdir().unwrap();
    let tape = Cassette::new(folder.path().join("tape.jsonl"));
    let mut n = 0;
    let transport = server(move |request| {
        n += 1;
        Ok(match n {
            1 => replying(200, answering(request).to_string()),
            _ => failed(WIRE, 400, "invalid_request_error"),
        })
    });
    let client = on(&transport).record(tape.clone()).build().unwrap();
    let texts: Vec<String> = (0..300).map(|n| format!("text {n}")).collect();
    let error = client
        .embed(&EmbedRequest::new(MODEL, texts.clone()))
        .await
        .unwrap_err();
    assert_eq!((error.status(), error.attempts().len()), (Some(400), 2));
    assert_eq!(client.spent().usd, Usd(7 * 2_000));
    assert_eq!(error.charged().usd, Some(Usd(7 * 2_000)));
    drop(client);
    let replay = on(&nobody()).replay(tape).build().unwrap();
    let first = EmbedRequest::new(MODEL, texts[..256].to_vec());
    let reply = replay.embed(&first).await.unwrap();
    assert_eq!(
        (reply.vectors.len(), reply.source),
        (256, ReplySource::Replay)
    );
    assert_eq!(reply.cost, Cost::FREE);
}

#[tokio::test]
async fn parts_of_two_models_or_lengths_are_refused() {
    for (field, value) in [("model", json!("other")), ("data", json!(null))] {
        let mut n = 0;
        let transport = server(move |request| {
            n += 1;
            let mut answer = answering(request);
            if n == 2 && field == "model" {
                answer["model"] = value.clone();
            } else if n == 2 {
                for row in answer["data"].as_array_mut().unwrap() {
                    row["embedding"] = json!([1, 2, 3]);
                }
            }
            Ok(replying(200, answer.to_string()))
        });
        let client = on(&transport).build().unwrap();
        let texts = (0..257).map(|n| format!("text {n}"));
        let error = client
            .embed(&EmbedRequest::new(MODEL, texts))
            .await
            .unwrap_err();
        assert_bad(&error, "expected vectors of one model");
        assert_eq!(error.attempts().len(), 2);
    }
}

#[tokio::test]
async fn m10_a_recording_knows_the_texts_and_their_number() {
    let folder = tempdir().unwrap();
    let tape = Cassette::new(folder.path().join("tape.jsonl"));
    let request = asked(&["ab", "c"]);
    let recording = on(&good()).record(tape.clone()).build().unwrap();
    let live = recording.embed(&request).await.unwrap();
    drop(recording);
    let replay = on(&nobody()).replay(tape).build().unwrap();
    for other in [
        asked(&["ab"]),
        asked(&["ab", "c", "d"]),
        asked(&["c", "ab"]),
        request.clone().dimensions(Some(2)),
    ] {
        let error = replay.embed(&other).await.unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::ReplayMiss { .. }),
            "{error:?}"
        );
    }
    let again = replay.embed(&request).await.unwrap();
    assert_eq!((again.vectors, again.model), (live.vectors, live.model));
    assert_eq!(again.usage, live.usage);
    assert_eq!(
        (again.source, again.cost),
        (ReplySource::Replay, Cost::FREE)
    );
    assert_eq!(replay.spent().usd, Usd::ZERO);
}

#[tokio::test]
async fn nothing_is_sent_beyond_a_cap() {
    // A prompt of 7 tokens at most costs more than this.
    let budget = Budget::default().usd(Some(Usd(1_000)));
    let client = on(&nobody()).budget(budget).build().unwrap();
    let error = client.embed(&asked(&["some words"])).await.unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::BudgetExceeded { .. }),
        "{error:?}"
    );
    // The prompt alone is reserved: vectors have no tokens.
    let budget = Budget::default().tokens(Some(60));
    let client = on(&good()).budget(budget).build().unwrap();
    client.embed(&asked(&["some words"])).await.unwrap();
    let unknown = EmbedRequest::new("no-price", ["a"]);
    let budget = Budget::default().usd(Some(Usd(1_000_000_000)));
    let client = on(&nobody()).budget(budget).build().unwrap();
    let error = client.embed(&unknown).await.unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::PriceUnknown { .. }),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_server_that_does_not_answer_is_a_timeout() {
    let clock = FakeClock::new();
    let transport = MemoryTransport::slow(|_| std::future::pending());
    let limits = Timeouts::default().total(5 * SECOND);
    let client = client(WIRE, &Arc::new(transport), &clock)
        .retry(no_retries())
        .timeouts(limits)
        .build()
        .unwrap();
    let request = asked(&["a"]);
    let outcome = Box::pin(clock.run(client.embed(&request))).await;
    assert_eq!(outcome.unwrap_err().class(), ErrorClass::Timeout);
    assert_eq!(clock.elapsed(), 5 * SECOND);
}

#[tokio::test]
async fn providers_without_embeddings_refuse() {
    let anthropic = client(Wire::Anthropic, &nobody(), &skipping())
        .build()
        .unwrap();
    let echo = Client::builder(Arc::new(Echo::new(1)), Arc::new(SystemClock::new()));
    for (client, name) in [(anthropic, "anthropic"), (echo.build().unwrap(), "echo")] {
        let error = client.embed(&asked(&["a"])).await.unwrap_err();
        let told = format!("{name} has no embeddings");
        assert!(error.message().contains(&told), "{error:?}");
    }
}
