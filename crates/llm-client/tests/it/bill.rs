//! Rows C5 and C7: what a server bills stays within the cap, whatever goes wrong.
//!
//! The server bills every request that it does not answer with an HTTP error, whatever becomes of the answer: the
//! prompt and the longest reply that was asked for. Only where it tells a usage it bills that.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::join_all;
use llm_client::{
    Budget, Client, Error, ErrorKind, Limits, ModelTable, Request, RetryPolicy, SystemClock,
    Timeouts, Usd,
};
use serde_json::Value;
use test_support::{Answer, CannedReply, FaultServer, Received};

use crate::faults::{BOTH, Wire};

const MODEL: &str = "model-1";
const CAP: Usd = Usd(500_000_000);
const LONGEST: u32 = 1_000;
/// The usage of the good reply: prompt and reply.
const USED: (u64, u64) = (20, 800);

/// A table in which [`MODEL`] and a model of the crate's table have these prices per million tokens.
pub fn prices(input: u32, output: u32) -> ModelTable {
    let row = |provider: &str, id: &str| {
        format!(
            r#"{{"provider": "{provider}", "id": "{id}", "price": {{"in": "{input}", "out": "{output}"}}}}"#
        )
    };
    let rows = ["anthropic", "openai"]
        .map(|provider| [MODEL, "claude-haiku-4-5"].map(|id| row(provider, id)))
        .concat()
        .join(",");
    let table = format!(r#"{{"schema_version": 1, "read_on": "2026-11-21", "models": [{rows}]}}"#);
    ModelTable::parse(&table).unwrap()
}

/// The server's behaviour, and whether it bills the usage that it reports or everything that was asked for.
#[derive(Clone)]
struct Fault {
    name: &'static str,
    answer: fn(Wire, bool) -> Answer,
    bills: Bills,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Bills {
    /// An HTTP error.
    Nothing,
    /// The usage that the whole answer would tell.
    Usage,
    /// The longest reply that was asked for.
    All,
}

fn good() -> CannedReply {
    CannedReply::text("hello yourself").tokens(USED.0, USED.1)
}

fn said(wire: Wire, streams: bool) -> Answer {
    if streams {
        Answer::sse(wire.events(&good()))
    } else {
        wire.whole(&good())
    }
}

/// The start of an answer, up to the middle; then it breaks off.
fn half(wire: Wire, streams: bool) -> Answer {
    if streams {
        let events = wire.events(&good());
        return Answer::events().pieces(&events[..events.len() / 2]);
    }
    let body = wire.json(&good());
    Answer::head(200, "application/json")
        .header("content-length", &body.len().to_string())
        .bytes(body[..body.len() / 2].to_owned())
}

/// All events but the last one of the protocol; the final usage is among them.
fn told(wire: Wire, streams: bool) -> Answer {
    if streams {
        let events = wire.events(&good());
        Answer::events().pieces(&events[..events.len() - 1])
    } else {
        half(wire, false)
    }
}

fn without_usage(wire: Wire, streams: bool) -> Answer {
    let strip = |text: &str| {
        let mut body: Value = serde_json::from_str(text).unwrap();
        for at in ["", "/message"] {
            if let Some(Value::Object(fields)) = body.pointer_mut(at) {
                fields.remove("usage");
            }
        }
        body.to_string()
    };
    if !streams {
        return Answer::json(200, strip(&wire.json(&good())));
    }
    let events = wire.events(&good());
    Answer::sse(events.iter().map(|event| {
        let Some((head, data)) = event.split_once("data: {") else {
            return event.clone();
        };
        format!(
            "{head}data: {}\n\n",
            strip(&format!("{{{}", data.trim_end()))
        )
    }))
}

fn error_in_200(wire: Wire, streams: bool) -> Answer {
    let error = wire.error("api_error");
    if streams {
        Answer::sse([format!("event: error\ndata: {error}\n\n")])
    } else {
        Answer::json(200, error)
    }
}

fn error_after_text(wire: Wire, _: bool) -> Answer {
    let error = wire.error("overloaded_error");
    half(wire, true)
        .chunk(format!("event: error\ndata: {error}\n\n"))
        .end()
}

/// The faults of the matrix in `faults`, by their rows.
const FAULTS: [Fault; 32] = {
    use Bills::{All, Nothing, Usage};
    const fn fault(name: &'static str, bills: Bills, answer: fn(Wire, bool) -> Answer) -> Fault {
        Fault {
            name,
            answer,
            bills,
        }
    }
    [
        fault("no fault", Usage, said),
        fault("01 a 429", Nothing, |wire, _| {
            Answer::json(429, wire.error("rate_limit_error")).header("retry-after-ms", "1")
        }),
        fault("06 a used-up quota", Nothing, |wire, _| {
            Answer::json(429, wire.error("insufficient_quota"))
        }),
        fault("07 a 529", Nothing, |wire, _| {
            Answer::json(529, wire.error("overloaded_error"))
        }),
        fault("08 a 503 in HTML", Nothing, |_, _| {
            Answer::whole(503, "text/html", "<html>")
        }),
        fault("08 a 502 without a body", Nothing, |_, _| {
            Answer::whole(502, "text/plain", "")
        }),
        fault("08 a 500 that breaks off", Nothing, |_, _| {
            Answer::head(500, "application/json")
                .header("content-length", "99")
                .close()
        }),
        fault("09 an error in a 200", All, error_in_200),
        fault("10 an empty 200", All, |_, _| Answer::json(200, "")),
        fault("10 HTML in a 200", All, |_, _| {
            Answer::whole(200, "text/html", "<html>")
        }),
        fault("10 cut JSON in a 200", All, |wire, _| {
            Answer::json(200, wire.json(&good())[..40].to_owned())
        }),
        fault("12 a reset before the headers", All, |_, _| {
            Answer::raw().reset()
        }),
        fault("12 a close before the headers", All, |_, _| {
            Answer::raw().close()
        }),
        fault("13 a reset inside of the body", All, |wire, streams| {
            half(wire, streams).reset()
        }),
        fault("13 a close inside of the body", All, |wire, streams| {
            half(wire, streams).close()
        }),
        fault("14 headers that never come", All, |_, _| {
            Answer::raw().stall()
        }),
        fault("15 a body that stops", All, |wire, streams| {
            half(wire, streams).stall()
        }),
        fault("16 a stream without its end", All, |wire, streams| {
            if streams {
                half(wire, true).end()
            } else {
                half(wire, false).close()
            }
        }),
        fault(
            "16 a stream cut after its final usage",
            Usage,
            |wire, streams| {
                if streams {
                    told(wire, true).end()
                } else {
                    told(wire, false).close()
                }
            },
        ),
        fault(
            "16 a stream reset after its final usage",
            Usage,
            |wire, streams| told(wire, streams).reset(),
        ),
        fault("17 a cut inside of an event", All, |wire, streams| {
            half(wire, streams).chunk("data: {\"a").end().close()
        }),
        fault("18 a reset inside of a tool's arguments", All, |wire, _| {
            let call = CannedReply::text("").call("c1", "delete", r#"{"path":"/tmp"}"#);
            let events = wire.events(&call);
            Answer::events()
                .pieces(&events[..=events.len() / 2])
                .reset()
        }),
        fault("19 an error after text", All, error_after_text),
        fault("20 a stall after events", All, |wire, _| {
            half(wire, true).stall()
        }),
        fault(
            "20 a stall after the final usage",
            Usage,
            |wire, streams| told(wire, streams).stall(),
        ),
        fault("21 only signs of life", All, |_, _| {
            Answer::events().repeat_chunk(": ping\n\n", 50).stall()
        }),
        fault("22 an event twice", All, |wire, _| {
            let mut events = wire.events(&good());
            events.insert(1, events[0].clone());
            events.truncate(4);
            Answer::sse(events)
        }),
        fault("26 a reply that is too large", All, |_, _| {
            Answer::events()
                .repeat_chunk(": 0123456789012345678901234567890123456789\n\n", 4_000)
                .end()
        }),
        fault("27 the other form of a reply", Usage, |wire, streams| {
            said(wire, !streams)
        }),
        fault("29 a redirect", All, |_, _| {
            Answer::whole(307, "text/plain", "").header("location", "http://127.0.0.1:1/")
        }),
        fault("C7 no usage", All, without_usage),
        fault(
            "30 a connection that is closed after the reply",
            Usage,
            |wire, streams| said(wire, streams).close(),
        ),
    ]
};

/// At 4 and 20 dollars for a million tokens.
fn cost(input: u64, output: u64) -> i64 {
    (input * 4_000 + output * 20_000).try_into().unwrap()
}

fn bill(received: &Received, bills: Bills) -> i64 {
    let body = received.json();
    // More than three bytes of the body are a token of any real prompt.
    let prompt = received.body.len() as u64 / 8;
    let longest = ["max_tokens", "max_completion_tokens"]
        .iter()
        .find_map(|name| body[name].as_u64())
        .expect("a longest reply is always sent");
    match bills {
        Bills::Nothing => 0,
        Bills::Usage => cost(USED.0, USED.1),
        Bills::All => cost(prompt, longest),
    }
}

/// A client that gives up soon: what times out early is charged, and the cap must hold all the same.
fn client(wire: Wire, server: &FaultServer) -> Client {
    let short = Duration::from_millis(60);
    Client::builder(wire.provider(server), Arc::new(SystemClock::new()))
        .models(prices(4, 20))
        .budget(Budget::default().usd(Some(CAP)))
        .limits(Limits::default().concurrency(16))
        .timeouts(
            Timeouts::default()
                .first_byte(short)
                .idle(short)
                .progress(short)
                .total(5 * short),
        )
        .retry(
            RetryPolicy::default()
                .base(Duration::from_millis(1))
                .floor(Duration::from_millis(1)),
        )
        .build()
        .unwrap()
}

fn request() -> Request {
    let mut request = Request::new(MODEL, "hello, how are you on this day?");
    request.max_tokens = Some(LONGEST);
    request
}

/// The form of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Plain,
    Stream,
    /// A stream that is dropped after its fourth event.
    Dropped,
}

/// Sixteen callers that ask until the budget says no, or six times: more than four times what the cap allows.
async fn ask(client: &Client, how: How) {
    let request = request();
    let caller = || async {
        for _ in 0..6 {
            let outcome = match how {
                How::Plain => client.complete(&request).await.map(drop),
                How::Stream => match client.stream(&request).await {
                    Ok(stream) => stream.collect().await.map(drop),
                    Err(error) => Err(error),
                },
                How::Dropped => match client.stream(&request).await {
                    Ok(stream) => {
                        stream.take(4).collect::<Vec<_>>().await;
                        Ok(())
                    }
                    Err(error) => Err(error),
                },
            };
            if matches!(
                outcome.as_ref().map_err(Error::kind),
                Err(ErrorKind::BudgetExceeded { .. })
            ) {
                return;
            }
        }
    };
    join_all((0..16).map(|_| caller())).await;
}

/// Gives how many requests came.
async fn check(wire: Wire, how: How, fault: &Fault, every: usize) -> usize {
    let billed = Arc::new(AtomicI64::new(0));
    let server = FaultServer::play({
        let (billed, fault) = (billed.clone(), fault.clone());
        move |received| {
            let streams = received.json()["stream"] == true;
            let fails = received.number % every == 0;
            let bills = if how == How::Dropped && fault.bills == Bills::Usage {
                // Nobody reads what it would tell.
                Bills::All
            } else if fails {
                fault.bills
            } else {
                Bills::Usage
            };
            billed.fetch_add(bill(received, bills), Ordering::SeqCst);
            if fails {
                (fault.answer)(wire, streams)
            } else {
                said(wire, streams)
            }
        }
    });
    let client = client(wire, &server);
    ask(&client, how).await;
    let what = format!("{wire:?} {how:?} {} every {every}", fault.name);
    let billed = billed.load(Ordering::SeqCst);
    let spend = client.spent();
    assert!(billed <= CAP.0, "{what}: billed {}", Usd(billed));
    assert!(
        billed <= spend.usd.0,
        "{what}: billed {}, {spend:?}",
        Usd(billed)
    );
    assert!(
        spend.usd <= CAP && spend.reserved == Usd::ZERO,
        "{what}: {spend:?}"
    );
    server.requests().len()
}

async fn check_all(how: How) {
    let mut requests = 0;
    for wire in BOTH {
        for fault in &FAULTS {
            for every in [1, 2] {
                requests += check(wire, how, fault, every).await;
            }
        }
    }
    // On a busy machine a client may give up before it sends: never all of them do.
    assert!(requests > 100, "{requests}");
}

#[tokio::test]
async fn plain_calls_are_never_billed_more_than_the_cap() {
    check_all(How::Plain).await;
}

#[tokio::test]
async fn streams_are_never_billed_more_than_the_cap() {
    check_all(How::Stream).await;
}

#[tokio::test]
async fn streams_that_are_dropped_are_never_billed_more_than_the_cap() {
    check_all(How::Dropped).await;
}

/// The caps reserve no more than they need to.
#[tokio::test]
async fn sixty_four_callers_use_nine_tenths_of_the_cap() {
    for wire in BOTH {
        for how in [How::Plain, How::Stream] {
            let server =
                FaultServer::play(move |received| said(wire, received.json()["stream"] == true));
            let client = Client::builder(wire.provider(&server), Arc::new(SystemClock::new()))
                .models(prices(4, 20))
                .budget(Budget::default().usd(Some(CAP)))
                .build()
                .unwrap();
            join_all((0..4).map(|_| ask(&client, how))).await;
            let spend = client.spent();
            assert!(spend.usd.0 * 10 >= CAP.0 * 9, "{wire:?} {how:?}: {spend:?}");
            assert_eq!(spend.unsettled, 0);
        }
    }
}
