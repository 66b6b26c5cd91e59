//! The bounds of a reply: what is reserved and charged is never less than a server may bill.

use llm_client::{Block, BlockKind, MediaSource, Message, ModelTable, Role, ToolSpec};
use serde_json::{Value, json as value};

use super::*;

async fn refused(request: &Request) -> String {
    let transport = nobody();
    let client = client(WIRE, &transport, &skipping()).budget(usd(1_000_000_000));
    let error = client.build().unwrap().complete(request).await.unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::Refused { .. }),
        "{error:?}"
    );
    error.to_string()
}

/// The reservation of one call, seen from the server.
async fn reserved(builder: ClientBuilder, wire: Wire, request: &Request) -> Usd {
    let seen = Arc::new(std::sync::Mutex::new(None::<Client>));
    let held = Arc::new(std::sync::Mutex::new(Usd::ZERO));
    let transport = server({
        let (seen, held) = (seen.clone(), held.clone());
        move |request| {
            let client = seen.lock().unwrap().clone().unwrap();
            *held.lock().unwrap() = client.spent().reserved;
            Ok(crate::memory::said(wire, &usual(), request))
        }
    });
    let client = builder.transport(transport).build().unwrap();
    *seen.lock().unwrap() = Some(client.clone());
    client.complete(request).await.unwrap();
    *seen.lock().unwrap() = None;
    *held.lock().unwrap()
}

#[tokio::test]
async fn a_reply_that_does_not_say_what_it_used_is_charged_whole() {
    for wire in BOTH {
        let without = |change: fn(&mut Value)| {
            let mut body: Value = serde_json::from_str(&wire.json(&usual())).unwrap();
            change(&mut body);
            body.to_string()
        };
        for body in [
            without(|body| drop(body.as_object_mut().unwrap().remove("usage"))),
            without(|body| body["usage"] = Value::Null),
            without(|body| body["usage"] = value!({})),
            without(|body| {
                for name in ["output_tokens", "completion_tokens"] {
                    if !body["usage"][name].is_null() {
                        body["usage"][name] = 0.into();
                    }
                }
            }),
        ] {
            let transport = server(move |_| Ok(json(200, body.clone())));
            let client = priced(wire, &transport).build().unwrap();
            let reply = client.complete(&question(PRICED)).await.unwrap();
            assert_eq!(reply.text(), "hello yourself");
            let spend = client.spent();
            assert_eq!((spend.usd, spend.uncertain), (Usd(RESERVED), Usd(RESERVED)));
            assert_eq!((spend.unsettled, spend.tokens), (1, 115));
        }
    }
}

fn with(kind: BlockKind) -> Request {
    let mut request = question(PRICED);
    let content = vec![Block::text("see"), Block::new(kind)];
    request.messages = vec![Message::new(Role::User, content)];
    request
}

fn base64(media_type: &str) -> MediaSource {
    MediaSource::Base64 {
        media_type: media_type.into(),
        data: "QUFB".into(),
    }
}

#[tokio::test]
async fn images_and_documents_are_counted_by_the_provider_first() {
    let transport = server(|request| {
        Ok(match &*request.path {
            "/v1/messages/count_tokens" => json(200, r#"{"input_tokens": 250000}"#.into()),
            _ => whole(WIRE, &usual()),
        })
    });
    let pdf = with(BlockKind::Document(MediaSource::Url(
        "https://a.test/b.pdf".into(),
    )));
    // 250,000 tokens at 1 dollar a million, and 100 of reply.
    let most = 250_000 * 1_000 + 100 * 5_000;
    for (cap, sent) in [(most - 1, 1), (most, 2)] {
        let before = transport.requests().len();
        let client = client(WIRE, &transport, &skipping())
            .budget(usd(cap))
            .build()
            .unwrap();
        let outcome = client.complete(&pdf).await;
        assert_eq!(outcome.is_ok(), sent == 2, "{outcome:?}");
        // The count of the same body is remembered.
        drop(client.complete(&pdf).await);
        assert_eq!(transport.requests().len() - before, sent, "{cap}");
    }
}

#[tokio::test]
async fn without_a_count_an_image_is_4800_tokens_and_what_has_no_size_is_refused() {
    let image = with(BlockKind::Image(base64("image/png")));
    let wire = Wire::Openai;
    let builder = || priced(wire, &nobody());
    // 8 + 4, two for "see", and the image.
    let held = reserved(builder(), wire, &image).await;
    assert_eq!(held, Usd((14 + 4800) * 1_000 + 100 * 5_000));
    for kind in [
        BlockKind::Image(MediaSource::Url("https://a.test/b.png".into())),
        BlockKind::Image(MediaSource::File {
            id: "file_1".into(),
        }),
        BlockKind::Document(base64("application/pdf")),
        BlockKind::Document(MediaSource::Url("https://a.test/b.pdf".into())),
    ] {
        let error = builder()
            .build()
            .unwrap()
            .complete(&with(kind))
            .await
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "messages.0.content.1: its tokens are not known, so the cap in dollars cannot be kept"
        );
    }
}

#[tokio::test]
async fn a_setting_that_changes_the_price_needs_a_multiplier_in_the_table() {
    let mut fast = question(PRICED);
    fast.extra.insert("speed".into(), "fast".into());
    assert_eq!(
        refused(&fast).await,
        "extra.speed: its price is not in the models table"
    );
    let table = r#"{"schema_version": 1, "read_on": "2026-11-21", "models": [{"provider": "anthropic",
        "id": "claude-haiku-4-5", "multipliers": {"speed=fast": "6", "service_tier=slow": "0.5"}}]}"#;
    let table = ModelTable::embedded().overridden_by(&ModelTable::parse(table).unwrap());
    let builder = || {
        client(WIRE, &nobody(), &skipping())
            .models(table.clone())
            .budget(usd(1_000_000_000))
    };
    let held = reserved(builder(), WIRE, &fast).await;
    assert_eq!(held, Usd(6 * RESERVED));
    // The cost of the reply has it too.
    let client = builder().transport(saying(WIRE, &usual())).build().unwrap();
    let reply = client.complete(&fast).await.unwrap();
    assert_eq!(reply.cost.usd, Some(Usd(6 * COST)));
    fast.extra.insert("service_tier".into(), "slow".into());
    assert_eq!(reserved(builder(), WIRE, &fast).await, Usd(3 * RESERVED));
    fast.extra.insert("inference_geo".into(), "eu".into());
    assert!(refused(&fast).await.starts_with("extra.speed: its price"));
    // Without a cap it is sent, and nobody says what it costs.
    let client = crate::memory::client(WIRE, &saying(WIRE, &usual()), &skipping());
    let reply = client.build().unwrap().complete(&fast).await.unwrap();
    assert_eq!(reply.cost.from, CostSource::Unknown);
}

#[tokio::test]
async fn a_tool_of_the_provider_needs_a_limit_of_its_uses() {
    let search = |max_uses: Value| {
        let mut request = question(PRICED);
        let tool =
            value!({"type": "web_search_20260318", "name": "web_search", "max_uses": max_uses});
        request.tools = vec![ToolSpec::Server(llm_client::Raw::of(&tool).unwrap())];
        request
    };
    assert_eq!(
        refused(&search(Value::Null)).await,
        "tools.0: set max_uses, else the cap cannot be kept"
    );
    let tool = value!({"type": "web_search_20260318", "name": "web_search", "max_uses": 20});
    let builder = client(WIRE, &nobody(), &skipping()).budget(usd(1_000_000_000));
    let held = reserved(builder, WIRE, &search(20.into())).await;
    let prompt = 15 + tool.to_string().len().div_ceil(2) as i64 + 20 * 10_000;
    assert_eq!(held, Usd(prompt * 1_000 + 100 * 5_000 + 20 * 10_000_000));
}

#[tokio::test]
async fn under_a_cap_the_longest_reply_is_always_sent() {
    let assumed = Unpriced::Assume {
        input: Usd(1_000_000_000),
        output: Usd(5_000_000_000),
    };
    let wire = Wire::Openai;
    for (budget, sent) in [
        (unpriced(1_000_000_000, assumed), Some(8192)),
        (Budget::default().tokens(Some(20_000)), Some(8192)),
        (Budget::default(), None),
    ] {
        for extra in [None, Some(Value::Null)] {
            let transport = saying(wire, &usual());
            let client = client(wire, &transport, &skipping())
                .budget(budget)
                .build()
                .unwrap();
            let mut request = Request::new("model-1", "hello");
            request
                .extra
                .extend(extra.map(|extra| ("max_completion_tokens".into(), extra)));
            let reply = client.complete(&request).await.unwrap();
            let body = crate::memory::body(&transport.requests()[0]);
            assert_eq!(body["max_completion_tokens"].as_u64(), sent);
            let warned = reply
                .warnings
                .iter()
                .any(|warning| warning.field == "max_tokens");
            assert_eq!(warned, sent.is_some());
            let prepared = client.prepare(&request).unwrap();
            assert_eq!(prepared.body, transport.requests()[0].body);
        }
    }
}

#[tokio::test]
async fn several_replies_are_refused() {
    for (field, count, how_often) in [
        ("n", value!(3), "three times"),
        ("best_of", value!(2), "twice"),
        ("n", value!(12), "12 times"),
        ("n", value!("3"), "once for each"),
    ] {
        let mut request = question(PRICED);
        request.extra.insert(field.into(), count);
        assert_eq!(
            refused(&request).await,
            format!("extra.{field}: only one reply is read; send the request {how_often}")
        );
    }
    let mut one = question(PRICED);
    one.extra.insert("n".into(), 1.into());
    let client = client(WIRE, &saying(WIRE, &usual()), &skipping());
    client.build().unwrap().complete(&one).await.unwrap();
}
