//! Budgets: expenses never exceed the cap, and they equal the usage of the replies.

mod bounds;

use std::sync::Arc;

use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::future::join_all;
use llm_client::error::{Amount, ConnectPhase, TimeoutPhase};
use llm_client::provider::{Capabilities, HttpResponse};
use llm_client::{
    Budget, Cassette, Client, ClientBuilder, CostSource, Error, ErrorKind, Limits, Request, Spend,
    Timer as _, Unpriced, Usd,
};
use test_support::{CannedReply, FakeClock, MemoryTransport};

use crate::faults::{BOTH, SECOND, Wire, no_retries, skipping};
use crate::memory::{client, failed, json, nobody, saying, server, whole};
use crate::own_provider::{Own, says};

const WIRE: Wire = Wire::Anthropic;
/// Dollars for a million tokens: 1 in, 5 out.
const PRICED: &str = "claude-haiku-4-5";
/// Of the reply that [`usual`] gives: 10 tokens in, 5 out.
const COST: i64 = 10 * 1_000 + 5 * 5_000;

fn question(model: &str) -> Request {
    let mut request = Request::new(model, "hello");
    request.max_tokens = Some(100);
    request
}

fn usual() -> CannedReply {
    CannedReply::text("hello yourself")
}

fn usd(cap: i64) -> Budget {
    Budget::default().usd(Some(Usd(cap)))
}

/// The reservation of one question: 15 tokens of prompt (8 + 4 + 3) and 100 of reply.
const RESERVED: i64 = 15 * 1_000 + 100 * 5_000;

/// Calls at once; every one that is sent is answered a second later.
async fn at_once(budget: Budget, calls: usize) -> (Vec<Result<(), Error>>, usize, Spend) {
    let clock = FakeClock::new();
    let transport = {
        let clock = clock.clone();
        Arc::new(MemoryTransport::slow(move |_| {
            let clock = clock.clone();
            async move {
                clock.sleep(SECOND).await;
                Ok(whole(WIRE, &usual()))
            }
        }))
    };
    let client = client(WIRE, &transport, &clock)
        .budget(budget)
        .limits(Limits::default().concurrency(64))
        .build()
        .unwrap();
    let request = question(PRICED);
    let asked = join_all((0..calls).map(|_| async {
        let outcome = client.complete(&request).await.map(drop);
        let spend = client.spent();
        if let Some(cap) = budget.usd {
            assert!(spend.usd.0 + spend.reserved.0 <= cap.0, "{spend:?}");
        }
        outcome
    }));
    let outcomes = clock.run(asked).await;
    (outcomes, transport.requests().len(), client.spent())
}

async fn check_cap(budget: Budget, fit: usize, is_it: impl Fn(Amount) -> bool) {
    let (outcomes, sent, spend) = at_once(budget, 64).await;
    assert_eq!(sent, fit);
    assert_eq!(
        (spend.usd, spend.reserved),
        (Usd(fit as i64 * COST), Usd(0))
    );
    assert_eq!((spend.calls, spend.tokens), (fit as u64, fit as u64 * 15));
    let refused: Vec<Error> = outcomes.into_iter().filter_map(Result::err).collect();
    assert_eq!(refused.len(), 64 - fit);
    for error in refused {
        assert!(
            matches!(error.kind(), ErrorKind::BudgetExceeded { cap, .. } if is_it(*cap)),
            "{error:?}"
        );
        assert_eq!(
            (error.class().as_str(), error.attempts().len()),
            ("budget", 0)
        );
    }
}

#[tokio::test]
async fn sixty_four_calls_at_once_never_pass_a_cap_in_dollars() {
    let cap = 7 * RESERVED + RESERVED / 2;
    check_cap(usd(cap), 7, |found| found == Amount::Usd(Usd(cap))).await;
    check_cap(usd(RESERVED), 1, |_| true).await;
    check_cap(usd(RESERVED - 1), 0, |_| true).await;
    check_cap(usd(0), 0, |_| true).await;
    check_cap(usd(64 * RESERVED), 64, |_| false).await;
}

#[tokio::test]
async fn sixty_four_calls_at_once_never_pass_a_cap_in_calls_or_tokens() {
    let calls = Budget::default().calls(Some(9));
    check_cap(calls, 9, |cap| cap == Amount::Calls(9)).await;
    let tokens = Budget::default().tokens(Some(5 * 115 + 114));
    check_cap(tokens, 5, |cap| cap == Amount::Tokens(5 * 115 + 114)).await;
}

#[tokio::test]
async fn one_after_another_calls_go_on_until_what_they_cost_reaches_the_cap() {
    let transport = saying(WIRE, &usual());
    let cap = RESERVED + 10 * COST;
    let client = client(WIRE, &transport, &skipping())
        .budget(usd(cap))
        .build()
        .unwrap();
    let mut done = 0;
    while client.complete(&question(PRICED)).await.is_ok() {
        done += 1;
        assert!(client.spent().usd.0 <= cap);
    }
    assert_eq!((done, transport.requests().len()), (11, 11));
    assert_eq!(client.spent().usd, Usd(11 * COST));
}

#[tokio::test]
async fn a_reply_of_unset_length_reserves_the_most_that_may_come() {
    for (wire, tokens) in [(Wire::Anthropic, 4096), (Wire::Openai, 8192)] {
        let budget = Budget::default().tokens(Some(15 + tokens));
        for (budget, fits) in [(budget, true), (budget.tokens(Some(14 + tokens)), false)] {
            let transport = saying(wire, &usual());
            let client = client(wire, &transport, &skipping()).budget(budget);
            let asked = Request::new("model-1", "hello");
            let outcome = client.build().unwrap().complete(&asked).await;
            assert_eq!(outcome.is_ok(), fits, "{wire:?} {outcome:?}");
        }
    }
}

#[tokio::test]
async fn a_model_without_a_price_is_refused_under_a_cap_and_only_then() {
    for wire in BOTH {
        let client = client(wire, &nobody(), &skipping()).budget(usd(1_000_000_000));
        let error = client.build().unwrap().complete(&question("model-1")).await;
        let error = error.unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::PriceUnknown { model, .. } if model == "model-1"),
            "{error:?}"
        );
        assert_eq!(
            (error.class().as_str(), error.attempts().len()),
            ("price_unknown", 0)
        );
        let free = crate::memory::client(wire, &saying(wire, &usual()), &skipping());
        let reply = free.build().unwrap().complete(&question("model-1")).await;
        assert_eq!(reply.unwrap().cost.from, CostSource::Unknown);
    }
}

fn unpriced(cap: i64, unpriced: Unpriced) -> Budget {
    usd(cap).unpriced(unpriced)
}

#[tokio::test]
async fn an_assumed_price_is_reserved_and_charged() {
    let dollars = |dollars: i64| Usd(dollars * 1_000_000_000);
    let assumed = Unpriced::Assume {
        input: dollars(1),
        output: dollars(5),
    };
    for wire in BOTH {
        let transport = saying(wire, &usual());
        let small = client(wire, &transport, &skipping()).budget(unpriced(RESERVED - 1, assumed));
        let error = small.build().unwrap().complete(&question("model-1")).await;
        assert!(matches!(
            error.as_ref().map_err(Error::kind),
            Err(ErrorKind::BudgetExceeded { .. })
        ));
        assert_eq!(transport.requests().len(), 0);

        let client = client(wire, &transport, &skipping())
            .budget(unpriced(RESERVED + COST, assumed))
            .build()
            .unwrap();
        for n in 1..=2 {
            let reply = client.complete(&question("model-1")).await.unwrap();
            // What nobody knows stays unknown in the reply.
            assert_eq!(reply.cost.from, CostSource::Unknown);
            assert_eq!(client.spent().usd, Usd(n * COST));
        }
        let error = client.complete(&question("model-1")).await.unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::BudgetExceeded { .. }),
            "{error:?}"
        );
    }
}

#[tokio::test]
async fn a_listed_price_wins_over_an_assumed_one() {
    let assumed = Unpriced::Assume {
        input: Usd(i64::MAX),
        output: Usd(i64::MAX),
    };
    let client = client(WIRE, &saying(WIRE, &usual()), &skipping())
        .budget(unpriced(RESERVED, assumed))
        .build()
        .unwrap();
    client.complete(&question(PRICED)).await.unwrap();
    assert_eq!(client.spent().usd, Usd(COST));
}

#[tokio::test]
async fn an_ignored_price_lets_calls_through_and_counts_them() {
    for wire in BOTH {
        let client = client(wire, &saying(wire, &usual()), &skipping())
            .budget(unpriced(0, Unpriced::Ignore))
            .build()
            .unwrap();
        for _ in 0..3 {
            client.complete(&question("model-1")).await.unwrap();
        }
        let spend = client.spent();
        assert_eq!((spend.usd, spend.unknown, spend.calls), (Usd(0), 3, 3));
    }
}

/// The table has no price for this model's caches.
#[tokio::test]
async fn a_reply_that_cannot_be_priced_is_not_free_under_a_cap() {
    let mut reply: serde_json::Value = serde_json::from_str(&usual().anthropic_json()).unwrap();
    reply["usage"]["cache_read_input_tokens"] = 100.into();
    let transport = server(move |_| Ok(json(200, reply.to_string())));
    let client = client(WIRE, &transport, &skipping())
        .budget(usd(1_000_000_000))
        .build()
        .unwrap();
    client.complete(&question(PRICED)).await.unwrap();
    assert_eq!(client.spent().usd, Usd(110 * 1_000 + 5 * 5_000));
}

/// A client of a server that tells `cost` for the usual reply, whose price the table has, and the reply.
async fn told(cost: f64) -> (Client, llm_client::Reply) {
    use llm_client::{Auth, Compat, Dialect, Endpoint, ModelTable};
    let mut canned = usual();
    canned.cost = Some(cost);
    let rows = r#"{"schema_version": 1, "read_on": "2026-11-21", "models": [
        {"provider": "openrouter", "id": "m", "price": {"in": "1", "out": "5"}}]}"#;
    let endpoint = Endpoint::new("http://127.0.0.1:1/v1", Auth::None).unwrap();
    let provider = Compat::new(endpoint, Dialect::openrouter());
    let client = Client::builder(Arc::new(provider), Arc::new(skipping()))
        .transport(saying(Wire::Openai, &canned))
        .models(ModelTable::parse(rows).unwrap())
        .budget(usd(1_000_000_000))
        .build()
        .unwrap();
    let reply = client.complete(&question("m")).await.unwrap();
    assert_eq!(reply.cost.from, CostSource::Provider);
    (client, reply)
}

#[tokio::test]
async fn the_cost_that_the_provider_tells_wins_over_the_table() {
    let (client, reply) = told(0.25).await;
    assert_eq!(reply.cost.usd, Some(Usd(250_000_000)));
    assert_eq!(client.spent().usd, Usd(250_000_000));
}

/// A gateway with the caller's own key at the provider tells 0, and the provider bills: the cap would never be reached.
#[tokio::test]
async fn a_cost_of_nothing_does_not_win_over_a_known_price() {
    let (client, reply) = told(0.0).await;
    assert_eq!(reply.cost.usd, Some(Usd(0)));
    assert_eq!(client.spent().usd, Usd(COST));
}

/// The spend after one call that this answer fails.
async fn spent_on(answer: fn() -> Result<HttpResponse, Error>) -> Spend {
    let client = client(WIRE, &server(move |_| answer()), &skipping())
        .budget(usd(1_000_000_000))
        .retry(no_retries())
        .build()
        .unwrap();
    client.complete(&question(PRICED)).await.unwrap_err();
    assert_eq!(client.spent().reserved, Usd(0));
    client.spent()
}

fn cut() -> HttpResponse {
    let whole = usual().anthropic_json();
    let head = Bytes::from(whole[..20].to_owned());
    let broken = Err(Error::connect(ConnectPhase::Body, "reset"));
    let kind = [("content-type", "application/json")];
    test_support::streamed(200, &kind, [Ok(head), broken])
}

#[tokio::test]
async fn failures_of_unknown_outcome_cost_what_was_reserved_and_others_nothing() {
    type Answer = fn() -> Result<HttpResponse, Error>;
    let cases: [(Answer, i64); 9] = [
        (|| Ok(cut()), RESERVED),
        (|| Ok(json(200, "{".into())), RESERVED),
        (
            || Err(Error::connect(ConnectPhase::Send, "reset")),
            RESERVED,
        ),
        (|| Err(Error::timeout(TimeoutPhase::Idle, SECOND)), RESERVED),
        (|| Err(Error::connect(ConnectPhase::Connect, "no")), 0),
        (|| Err(Error::timeout(TimeoutPhase::Connect, SECOND)), 0),
        (|| Ok(failed(WIRE, 429, "rate_limit_error")), 0),
        (|| Ok(failed(WIRE, 529, "overloaded_error")), 0),
        (|| Ok(failed(WIRE, 400, "invalid_request_error")), 0),
    ];
    for (n, (answer, charged)) in cases.into_iter().enumerate() {
        assert_eq!(spent_on(answer).await.usd, Usd(charged), "case {n}");
    }
}

#[tokio::test]
async fn an_attempt_after_a_billed_one_asks_the_budget_again() {
    let transport = server(|_| Ok(cut()));
    for (cap, sent) in [
        (RESERVED, 1),
        (2 * RESERVED - 1, 1),
        (2 * RESERVED, 2),
        (3 * RESERVED, 3),
    ] {
        let before = transport.requests().len();
        let client = client(WIRE, &transport, &skipping())
            .budget(usd(cap))
            .build()
            .unwrap();
        let error = client.complete(&question(PRICED)).await.unwrap_err();
        assert_eq!(transport.requests().len() - before, sent, "{cap}");
        let charged = Usd(sent as i64 * RESERVED);
        let spend = client.spent();
        assert_eq!((spend.usd, spend.uncertain), (charged, charged));
        assert_eq!((spend.reserved, spend.unsettled), (Usd(0), sent as u64));
        // The error is the last attempt's, and says what was charged and why there is no other.
        assert_eq!(
            (error.class().as_str(), error.attempts().len()),
            ("network", sent)
        );
        assert_eq!(error.charged().usd, Some(charged));
        let no_room = error
            .message()
            .contains("no further attempt: the budget of");
        assert_eq!(no_room, sent < 3, "{}", error.message());
    }
}

#[tokio::test]
async fn a_stream_is_settled_at_its_end_and_one_that_is_dropped_before_its_last_usage_pays_all_it_held()
 {
    for wire in BOTH {
        for events in 0..9 {
            let client = priced(wire, &saying(wire, &usual())).build().unwrap();
            let mut stream = client.stream(&question(PRICED)).await.unwrap();
            assert_eq!(client.spent().reserved, Usd(RESERVED));
            assert_eq!(stream.charge_if_dropped().usd, Some(Usd(RESERVED)));
            let read: Vec<_> = stream.by_ref().take(events).collect().await;
            let told = read.iter().any(
                |event| matches!(event, Ok(llm_client::Event::Usage(usage)) if !usage.partial),
            );
            let charged = Usd(if told { COST } else { RESERVED });
            let done = matches!(read.last(), Some(Ok(llm_client::Event::Done(_))));
            let drop_charges = stream.charge_if_dropped();
            if done {
                assert_eq!(drop_charges, llm_client::Charge::NONE);
            } else {
                assert_eq!(
                    (drop_charges.usd, drop_charges.certain),
                    (Some(charged), told)
                );
            }
            drop(stream);
            let spend = client.spent();
            assert_eq!((spend.usd, spend.reserved), (charged, Usd(0)), "{events}");
        }
    }
}

/// The table of the crate has no prices of `OpenAI`: this one has those of [`PRICED`].
fn priced(wire: Wire, transport: &Arc<MemoryTransport>) -> ClientBuilder {
    client(wire, transport, &skipping())
        .models(crate::bill::prices(1, 5))
        .budget(usd(1_000_000_000))
}

#[tokio::test]
async fn replayed_calls_spend_nothing_and_need_no_budget() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tape.jsonl");
    let recording = client(WIRE, &saying(WIRE, &usual()), &skipping());
    let recording = recording.record(Cassette::new(&path)).build().unwrap();
    recording.complete(&question(PRICED)).await.unwrap();
    let replaying = client(WIRE, &nobody(), &skipping())
        .replay(Cassette::new(&path))
        .budget(usd(0))
        .build()
        .unwrap();
    let reply = replaying.complete(&question(PRICED)).await.unwrap();
    assert_eq!(
        (reply.cost.usd, reply.cost.from),
        (Some(Usd(0)), CostSource::Free)
    );
    assert_eq!(replaying.spent(), Spend::default());
}

#[tokio::test]
async fn offline_calls_spend_nothing_and_need_no_budget() {
    let mut caps = Capabilities::ALL;
    caps.offline = Some("own");
    let offline = Own::new(|_, _| {
        let mut reply = says("hi");
        reply.source = llm_client::ReplySource::Offline("own".into());
        Ok(reply)
    });
    let builder = Client::builder(Arc::new(offline.with_caps(caps)), Arc::new(skipping()));
    let client = builder.budget(usd(0)).build().unwrap();
    let reply = client.complete(&question("model-1")).await.unwrap();
    assert_eq!(reply.cost.from, CostSource::Free);
    assert_eq!(client.spent(), Spend::default());
}
