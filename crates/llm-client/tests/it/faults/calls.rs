//! Rows 31, 32 and 34: many calls at once, and calls that are dropped.

use std::pin::pin;
use std::sync::Mutex;

use futures_util::future::join_all;
use llm_client::error::Amount;
use llm_client::{Budget, Clock as _, Limits, Timer as _, Usd};
use test_support::{MemoryTransport, Signal, response};

use super::*;

/// Priced 1 and 5 dollars for a million tokens.
const PRICED: &str = "claude-haiku-4-5";

fn priced_request() -> Request {
    let mut request = Request::new(PRICED, "hello");
    request.max_tokens = Some(100);
    request
}

fn cap(usd: i64) -> Budget {
    Budget::default().usd(Some(Usd(usd)))
}

/// In memory, so that every moment is exact.
#[tokio::test]
async fn f31_a_storm_of_429_is_ridden_out_by_a_wait_that_all_calls_keep() {
    let wire = Wire::Openai;
    let clock = FakeClock::new();
    let starts: Arc<Mutex<Vec<Duration>>> = Arc::default();
    let transport = MemoryTransport::slow({
        let (clock, starts) = (clock.clone(), starts.clone());
        move |_| {
            let now = clock.elapsed();
            starts.lock().unwrap().push(now);
            // Something else uses the quota up in the first second and a half.
            let answer = if now < 3 * SECOND / 2 {
                response(429, &[("retry-after", "1")], wire.error("rate_limit_error"))
            } else {
                response(
                    200,
                    &[("content-type", "application/json")],
                    wire.json(&hello()),
                )
            };
            let clock = clock.clone();
            async move {
                clock.sleep(SECOND / 4).await;
                Ok(answer)
            }
        }
    });
    let client = Client::builder(
        wire.provider_at("http://127.0.0.1:1"),
        Arc::new(clock.clone()),
    )
    .transport(Arc::new(transport))
    .limits(Limits::default().concurrency(16))
    .build()
    .unwrap();
    let request = request();
    let calls = join_all((0..256).map(|_| client.complete(&request)));
    for outcome in clock.run(calls).await {
        assert_eq!(outcome.unwrap().text(), "hello yourself");
    }
    let starts = starts.lock().unwrap();
    assert!(starts.len() > 256, "there was a storm");
    assert!(starts.len() <= 256 + 2 * 16, "{} requests", starts.len());
    for refused in starts.iter().filter(|start| **start < 3 * SECOND / 2) {
        let told = *refused + SECOND / 4;
        let early = |start: &&Duration| **start > told && **start < told + SECOND;
        assert_eq!(starts.iter().find(early), None, "refused at {told:?}");
    }
    assert_eq!(client.spent().calls, 256);
}

#[tokio::test]
async fn f32_a_dropped_call_leaves_nothing_behind() {
    for wire in BOTH {
        let body = wire.json(&hello());
        let events = wire.events(&hello());
        let head =
            Answer::head(200, "application/json").header("content-length", &body.len().to_string());
        let reached = Signal::new();
        for (streams, answer) in [
            (false, Answer::raw()),
            (false, head.clone()),
            (false, head.bytes(body[..9].to_owned())),
            (true, Answer::raw()),
            (true, Answer::events()),
            (true, Answer::events().pieces(&events[..2])),
            (true, Answer::events().pieces(&events[..events.len() - 2])),
        ] {
            let server =
                FaultServer::replies([answer.fire(&reached).stall(), wire.whole(&hello())]);
            let client = wire
                .client(&server, &FakeClock::new())
                .budget(cap(1_000_000_000).unpriced(llm_client::Unpriced::Ignore))
                .limits(Limits::default().concurrency(1))
                .build()
                .unwrap();
            let request = request();
            let call = async {
                if streams {
                    let _ = read_stream(&client, &request).await;
                } else {
                    client.complete(&request).await.unwrap();
                }
            };
            tokio::select! {
                biased;
                () = call => panic!("nothing to wait for"),
                () = async {
                    server.wait_requests(1).await;
                    reached.wait().await;
                    // What was sent is read, as far as it can be.
                    for _ in 0..100 {
                        tokio::task::yield_now().await;
                    }
                } => {}
            }
            // The future is dropped.
            server.wait_closed(1).await;
            assert_eq!(server.open(), 0, "{wire:?}");
            no_task_is_left().await;
            assert_eq!(client.spent().reserved, Usd::ZERO);
            // The only permit is back.
            assert_eq!(
                client.complete(&request).await.unwrap().text(),
                "hello yourself"
            );
        }
    }
}

#[tokio::test]
async fn f32_a_call_that_is_dropped_in_a_wait_or_a_queue_leaves_nothing_behind() {
    let wire = Wire::Anthropic;
    let limited = Answer::json(429, wire.error("rate_limit_error")).header("retry-after", "9");
    let server = FaultServer::replies([limited, wire.whole(&hello())]);
    let clock = FakeClock::new();
    let client = wire
        .client(&server, &clock)
        .limits(Limits::default().concurrency(1))
        .build()
        .unwrap();
    let request = request();
    let is_wait = |asked: &Duration| (9 * SECOND..12 * SECOND).contains(asked);
    {
        let waiting = client.complete(&request);
        let queued = client.complete(&request);
        tokio::select! {
            biased;
            _ = waiting => panic!("it waits"),
            () = clock.wait_for_sleepers(|pending| pending.iter().any(is_wait)) => {}
        }
        tokio::select! {
            biased;
            _ = queued => panic!("the model is held"),
            () = tokio::task::yield_now() => {}
        }
    }
    assert!(clock.sleepers().is_empty(), "{:?}", clock.sleepers());
    assert_eq!(client.spent().reserved, Usd::ZERO);
    clock.advance(12 * SECOND);
    assert_eq!(
        client.complete(&request).await.unwrap().text(),
        "hello yourself"
    );
}

#[tokio::test]
async fn f34_calls_at_once_never_pass_the_cap_and_are_settled_by_usage() {
    let wire = Wire::Anthropic;
    let go = Signal::new();
    let body = wire.json(&hello());
    let held = Answer::raw().wait(&go).bytes(format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    ));
    let server = FaultServer::replies([held]);
    let request = priced_request();

    // What one call reserves.
    let probe = wire
        .client(&server, &FakeClock::new())
        .budget(cap(1_000_000_000))
        .build()
        .unwrap();
    let reserved = {
        let mut call = pin!(probe.complete(&request));
        tokio::select! {
            biased;
            _ = &mut call => panic!("held"),
            () = server.wait_requests(1) => probe.spent().reserved.0,
        }
    };
    assert!(reserved >= 100 * 5_000, "{reserved}");

    let most = 5 * reserved + reserved / 2;
    let client = wire
        .client(&server, &FakeClock::new())
        .budget(cap(most))
        .build()
        .unwrap();
    let calls = join_all((0..64).map(|_| client.complete(&request)));
    let (outcomes, ()) = tokio::join!(calls, async {
        server.wait_requests(1 + 5).await;
        let spend = client.spent();
        assert!(spend.usd.0 + spend.reserved.0 <= most, "{spend:?}");
        go.fire();
    });
    let (done, refused): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(Result::is_ok);
    assert_eq!((done.len(), refused.len()), (5, 59));
    for outcome in refused {
        let error = outcome.unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::BudgetExceeded { cap: Amount::Usd(Usd(cap)), .. } if *cap == most),
            "{error:?}"
        );
        assert_eq!(
            (error.class().as_str(), error.attempts().len()),
            ("budget", 0)
        );
    }
    assert_eq!(server.requests().len(), 1 + 5);
    let own = 10 * 1_000 + 5 * 5_000;
    let spend = client.spent();
    assert_eq!(
        (spend.usd, spend.reserved, spend.calls),
        (Usd(5 * own), Usd::ZERO, 5)
    );
    // What was reserved beyond the usage is free again.
    assert!(client.complete(&request).await.is_ok());
}
