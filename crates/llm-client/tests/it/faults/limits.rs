//! The rows about time once more, each in both protocols, as a plain call and as a stream: none takes longer than its limit.
//!
//! The server is a function on a clock that moves only when nothing else can happen, so every moment is exact.

use std::future::{Future, pending};

use futures_util::stream;
use llm_client::error::TimeoutPhase;
use llm_client::{Clock as _, RetryPolicy, Timeouts, Timer as _};
use test_support::{MemoryTransport, response};

use super::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Plain,
    Stream,
}

const FORMS: [Form; 2] = [Form::Plain, Form::Stream];

/// The limits of a call with `max_tokens` 1024 to a server elsewhere.
const HEADERS: Duration = Duration::from_millis(88_800);
const FIRST_BYTE: Duration = Duration::from_mins(1);
const IDLE: Duration = Duration::from_mins(1);
const PROGRESS: Duration = Duration::from_mins(3);
const TOTAL: Duration = Duration::from_mins(10);

/// A provider at a server that is not the caller's own.
fn elsewhere(wire: Wire) -> Arc<dyn Provider> {
    wire.provider_at("https://models.test")
}

fn asked() -> Request {
    request().max_tokens(Some(1024))
}

async fn ask(client: &Client, form: Form, request: &Request) -> Result<Reply, Error> {
    match form {
        Form::Plain => client.complete(request).await,
        Form::Stream => read_stream(client, request).await.1,
    }
}

/// The outcome of a call to a server that answers like this, and when it came.
async fn timed<F>(
    wire: Wire,
    form: Form,
    retry: RetryPolicy,
    answer: impl Fn(FakeClock) -> F + Send + 'static,
) -> (Result<Reply, Error>, Duration)
where
    F: Future<Output = HttpResponse> + Send + 'static,
{
    let clock = FakeClock::new();
    let own = clock.clone();
    let transport = MemoryTransport::slow(move |_| {
        let answer = answer(own.clone());
        async { Ok(answer.await) }
    });
    let client = Client::builder(elsewhere(wire), Arc::new(clock.clone()))
        .retry(retry)
        .transport(Arc::new(transport));
    let client = client.build().unwrap();
    let asked = asked();
    let outcome = Box::pin(clock.run(ask(&client, form, &asked))).await;
    (outcome, clock.elapsed())
}

/// A body that begins with `start` and then has `piece` after every `pause`, or nothing at all.
fn body(
    clock: &FakeClock,
    start: &str,
    piece: Option<(&'static str, Duration)>,
) -> llm_client::provider::HttpResponse {
    let start = Some(start).filter(|start| !start.is_empty());
    let start = stream::iter(start.map(|start| Ok(Bytes::from(start.to_owned()))));
    let clock = clock.clone();
    let rest = match piece {
        None => stream::pending().boxed(),
        Some((piece, pause)) => stream::unfold((), move |()| {
            let wait = clock.sleep(pause);
            async move {
                wait.await;
                Some((Ok(Bytes::from_static(piece.as_bytes())), ()))
            }
        })
        .boxed(),
    };
    let mut answer = response(200, &[], "");
    answer.body = start.chain(rest).boxed();
    answer
}

/// A server's behaviour, and the outcomes of a plain call and a stream.
struct Row {
    name: &'static str,
    status: u16,
    content_type: &'static str,
    /// The number of bytes of a whole reply that arrive at once.
    begins: Begins,
    /// The bytes after that, and their number of repetitions.
    then: Option<(&'static str, Duration)>,
    plain: End,
    stream: End,
}

#[derive(Clone, Copy)]
enum Begins {
    Nothing,
    FirstEvent,
    AllEvents,
}

#[derive(Clone, Copy, Debug)]
enum End {
    Timeout(TimeoutPhase, Duration),
    Deadline,
    Status(u16, Duration),
    Reply,
}

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

fn rows(wire: Wire) -> Vec<Row> {
    use TimeoutPhase::{FirstByte, Idle, Progress};
    let row = |name, content_type, begins, then, plain, stream| Row {
        name,
        status: 200,
        content_type,
        begins,
        then,
        plain,
        stream,
    };
    let idle = End::Timeout(Idle, IDLE);
    let first = End::Timeout(FirstByte, FIRST_BYTE);
    let progress = End::Timeout(Progress, PROGRESS);
    let empty_delta = match wire {
        Wire::Anthropic => {
            "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"\"}}\n\n"
        }
        Wire::Openai => "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\"}}]}\n\n",
    };
    let failed = |name, status, then, end| Row {
        status,
        ..row(name, JSON, Begins::Nothing, then, end, end)
    };
    let mut rows = vec![
        row("no byte of JSON", JSON, Begins::Nothing, None, idle, first),
        row(
            "no byte of events",
            EVENTS,
            Begins::Nothing,
            None,
            idle,
            first,
        ),
        row(
            "a stall after an event",
            EVENTS,
            Begins::FirstEvent,
            None,
            idle,
            idle,
        ),
        row(
            "dribbled JSON",
            JSON,
            Begins::Nothing,
            Some((" ", 50 * SECOND)),
            End::Deadline,
            End::Deadline,
        ),
        row(
            "a whole stream, not closed",
            EVENTS,
            Begins::AllEvents,
            None,
            End::Reply,
            End::Reply,
        ),
        row(
            "pings after the end",
            EVENTS,
            Begins::AllEvents,
            Some(("event: ping\ndata: {}\n\n", SECOND)),
            End::Reply,
            End::Reply,
        ),
        failed("an error without a body", 500, None, End::Status(500, IDLE)),
        failed(
            "an error without an end",
            400,
            Some(("x", SECOND)),
            End::Deadline,
        ),
    ];
    for sign in [
        ": a comment\n\n",
        "event: ping\ndata: {\"type\":\"ping\"}\n\n",
        "event: heartbeat\ndata: x\n\n",
        "event: keepalive\ndata: \n\n",
        "event: keep-alive\ndata: now\n\n",
        "event: novel\ndata: {\"x\":1}\n\n",
        "data: {\"type\":\"novel\"}\n\n",
        "\n",
        empty_delta,
    ] {
        for begins in [Begins::Nothing, Begins::FirstEvent] {
            // The first event of a delta is its message.
            if matches!(begins, Begins::Nothing) && sign == empty_delta {
                continue;
            }
            rows.push(row(
                sign,
                EVENTS,
                begins,
                Some((sign, SECOND)),
                progress,
                progress,
            ));
        }
    }
    rows
}

fn is_end(outcome: &Result<Reply, Error>, end: End) -> bool {
    match (outcome, end) {
        (Ok(reply), End::Reply) => reply.text() == "hello yourself",
        (Err(error), End::Status(status, _)) => error.status() == Some(status),
        (Err(error), end) => match (error.kind(), end) {
            (ErrorKind::Timeout { phase, .. }, End::Timeout(wanted, _)) => *phase == wanted,
            (ErrorKind::Deadline, End::Deadline) => true,
            _ => false,
        },
        _ => false,
    }
}

#[tokio::test]
async fn no_row_outlasts_its_limit_in_any_protocol_and_form() {
    for wire in BOTH {
        let events = wire.events(&hello());
        // The block of the first text is open then.
        let first = events[..if wire == Wire::Anthropic { 2 } else { 1 }].concat();
        let all = events.concat();
        for row in rows(wire) {
            for form in FORMS {
                let start = match row.begins {
                    Begins::Nothing => String::new(),
                    Begins::FirstEvent => first.clone(),
                    Begins::AllEvents => all.clone(),
                };
                let answer = move |clock: FakeClock| {
                    let mut answer = body(&clock, &start, row.then);
                    answer.status = row.status;
                    let content_type = ("content-type".to_owned(), row.content_type.to_owned());
                    answer.headers = [content_type].into_iter().collect();
                    std::future::ready(answer)
                };
                let end = match form {
                    Form::Plain => row.plain,
                    Form::Stream => row.stream,
                };
                let case = format!("{wire:?} {form:?} {:?}", row.name);
                let (outcome, at) = timed(wire, form, no_retries(), answer.clone()).await;
                assert!(is_end(&outcome, end), "{case}: {outcome:?} at {at:?}");
                let limit = match end {
                    End::Timeout(_, limit) | End::Status(_, limit) => limit,
                    End::Deadline => TOTAL,
                    End::Reply => Duration::ZERO,
                };
                // The last sign of life before the limit may move it.
                assert!((limit..=limit + SECOND).contains(&at), "{case}: {at:?}");
                // Three attempts and their waits end within the time of the call.
                let (_, at) = timed(wire, form, RetryPolicy::default(), answer).await;
                assert!(at <= TOTAL, "{case}: {at:?}");
            }
        }
    }
}

#[tokio::test]
async fn f14_headers_that_never_come_end_every_form_of_call() {
    for wire in BOTH {
        for (form, limit) in [(Form::Plain, HEADERS), (Form::Stream, FIRST_BYTE)] {
            let (outcome, at) = timed(wire, form, no_retries(), |_| pending()).await;
            let end = End::Timeout(TimeoutPhase::FirstByte, limit);
            assert!(is_end(&outcome, end), "{wire:?} {form:?} {outcome:?}");
            assert!(!outcome.unwrap_err().charged().certain);
            assert_eq!(at, limit, "{wire:?} {form:?}");
            // It is tried again.
            let (outcome, at) = timed(wire, form, RetryPolicy::default(), |_| pending()).await;
            let error = outcome.unwrap_err();
            assert_eq!(
                (error.attempts().len(), error.class().as_str()),
                (3, "timeout")
            );
            assert!((3 * limit..3 * limit + 16 * SECOND).contains(&at), "{at:?}");
        }
    }
}

/// The time after which a plain call without headers times out.
async fn silent(provider: Arc<dyn Provider>, timeouts: Timeouts, request: Request) -> Duration {
    let clock = FakeClock::new();
    let transport = MemoryTransport::slow(|_| pending());
    let client = Client::builder(provider, Arc::new(clock.clone()))
        .retry(no_retries())
        .timeouts(timeouts)
        .transport(Arc::new(transport));
    let client = client.build().unwrap();
    let asking = Box::pin(clock.run(client.complete(&request)));
    asking.await.unwrap_err();
    clock.elapsed()
}

#[tokio::test]
async fn f14_the_limit_for_headers_grows_with_the_reply() {
    let millis = Duration::from_millis;
    for wire in BOTH {
        for (max_tokens, limit) in [
            (1, 60_028),
            (1024, 88_800),
            (4096, 175_200),
            (8192, 290_400),
        ] {
            let mut asked = request();
            asked.max_tokens = Some(max_tokens);
            let at = silent(elsewhere(wire), Timeouts::default(), asked.clone()).await;
            assert_eq!(at.as_millis(), limit, "{wire:?} {max_tokens}");
            // A server on this machine may be as slow as it is.
            let own = wire.provider_at("http://127.0.0.1:1");
            let at = silent(own.clone(), Timeouts::default(), asked.clone()).await;
            assert_eq!(at, TOTAL, "{wire:?}");
            let set = Timeouts::default().headers(Some(7 * SECOND));
            for provider in [own, elsewhere(wire)] {
                assert_eq!(silent(provider, set, asked.clone()).await, 7 * SECOND);
            }
        }
        // Anthropic sends 4,096 when the request says nothing, the others nothing.
        let at = silent(elsewhere(wire), Timeouts::default(), request()).await;
        let unset = match wire {
            Wire::Anthropic => millis(175_200),
            Wire::Openai => TOTAL,
        };
        assert_eq!(at, unset);
        let mut extra = request();
        extra.extra.insert("max_tokens".into(), 8192.into());
        let at = silent(elsewhere(wire), Timeouts::default(), extra).await;
        assert_eq!(at, millis(290_400), "{wire:?}");
    }
    for dialect in [Dialect::llamacpp(), Dialect::ollama(), Dialect::vllm()] {
        let endpoint = Endpoint::new("https://models.test/v1", Auth::None).unwrap();
        let provider = Arc::new(Compat::new(endpoint, dialect));
        assert_eq!(silent(provider, Timeouts::default(), asked()).await, TOTAL);
    }
}

#[tokio::test]
async fn f16_a_plain_call_that_gets_a_cut_stream_gets_no_reply() {
    for wire in BOTH {
        let events = wire.events(&hello());
        let whole = match wire {
            Wire::Anthropic => events.len() - 1,
            Wire::Openai => events.len() - 3,
        };
        for n in 0..=whole {
            let start = events[..n].concat();
            let answer = move |_| {
                let kind = [("content-type", EVENTS)];
                std::future::ready(response(200, &kind, start.clone()))
            };
            let (outcome, _) = timed(wire, Form::Plain, no_retries(), answer).await;
            let truncated = matches!(
                outcome.as_ref().map_err(Error::kind),
                Err(ErrorKind::StreamTruncated { .. })
            );
            assert!(truncated, "{wire:?} after {n} events: {outcome:?}");
        }
    }
}

/// A broken event among good ones is an error, for any name.
#[tokio::test]
async fn an_event_whose_data_is_no_object_breaks_the_protocol() {
    for wire in BOTH {
        for name in ["", "event: x\n", "event: message\n", "event: novel\n"] {
            for data in ["{not json", "{\"a\":", "[]", "7", "null", "<html>", ""] {
                let mut events = wire.events(&hello());
                events.insert(1, format!("{name}data: {data}\n\n"));
                let start = events.concat();
                let answer = move |_| {
                    let kind = [("content-type", EVENTS)];
                    std::future::ready(response(200, &kind, start.clone()))
                };
                for form in FORMS {
                    let (outcome, _) = timed(wire, form, no_retries(), answer.clone()).await;
                    let protocol = matches!(
                        outcome.as_ref().map_err(Error::kind),
                        Err(ErrorKind::Protocol { .. })
                    );
                    assert!(protocol, "{wire:?} {form:?} {name:?} {data:?}: {outcome:?}");
                }
            }
        }
        for name in ["ping", "heartbeat", "keepalive", "keep-alive"] {
            for data in ["", "x", "{\"type\":\"ping\"}"] {
                let mut events = wire.events(&hello());
                let ping = format!("event: {name}\ndata: {data}\n\n");
                events = events
                    .into_iter()
                    .flat_map(|event| [ping.clone(), event])
                    .collect();
                events.push(ping.clone());
                let transport = MemoryTransport::new(move |_| {
                    let kind = [("content-type", EVENTS)];
                    Ok(response(200, &kind, events.concat()))
                });
                let client = Client::builder(elsewhere(wire), Arc::new(skipping()))
                    .transport(Arc::new(transport));
                let client = client.build().unwrap();
                let (seen, outcome) = read_stream(&client, &request()).await;
                assert_eq!(
                    outcome.unwrap().text(),
                    "hello yourself",
                    "{wire:?} {ping:?}"
                );
                let pings = seen.iter().filter(|event| **event == Event::Ping);
                assert!(pings.count() > 3);
                let plain = client.complete(&request()).await.unwrap();
                assert_eq!(plain.text(), "hello yourself", "{wire:?} {ping:?}");
            }
        }
    }
}

/// A server that fails in some way on its socket.
fn broken(wire: Wire, form: Form) -> [Answer; 3] {
    let (kind, body) = match form {
        Form::Plain => (JSON, wire.json(&hello())),
        Form::Stream => (EVENTS, wire.events(&hello()).concat()),
    };
    let half = body[..body.len() / 2].to_owned();
    let head = || Answer::head(200, kind).header("content-length", &body.len().to_string());
    [
        head().bytes(half.clone()).reset(),
        head().bytes(half.clone()).close(),
        Answer::chunked(200, kind).chunk(&half).close(),
    ]
}

#[tokio::test]
async fn f12_and_f13_broken_connections_end_every_form_of_call() {
    for wire in BOTH {
        for form in FORMS {
            let good = match form {
                Form::Plain => wire.whole(&hello()),
                Form::Stream => Answer::sse(wire.events(&hello())),
            };
            for cut in [Answer::raw().reset(), Answer::raw().close()] {
                let server = FaultServer::replies([cut, good.clone()]);
                let client = wire.client(&server, &skipping()).build().unwrap();
                let reply = ask(&client, form, &asked()).await.unwrap();
                assert_eq!(
                    (reply.text().as_str(), reply.attempts.len()),
                    ("hello yourself", 2)
                );
            }
            for cut in broken(wire, form) {
                let server = FaultServer::replies([cut]);
                let client = wire.client(&server, &skipping()).retry(no_retries());
                let client = client.build().unwrap();
                let error = ask(&client, form, &asked()).await.unwrap_err();
                assert_eq!(
                    error.class().as_str(),
                    "network",
                    "{wire:?} {form:?} {error:?}"
                );
                assert!(!error.charged().certain);
            }
        }
    }
}
