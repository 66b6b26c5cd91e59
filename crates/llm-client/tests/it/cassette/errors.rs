//! Failures are replayed as they were.

use llm_client::error::TimeoutPhase;

use super::*;

/// The error of a recorded call, live and replayed.
async fn both_errors(
    wire: Wire,
    transport: Arc<MemoryTransport>,
    form: Form,
    timeouts: Timeouts,
) -> (Error, Error) {
    let tape = Tape::new();
    let recording = tape.recording(wire, &transport).timeouts(timeouts).build();
    let live = ask(&recording.unwrap(), form, &request())
        .await
        .unwrap_err();
    let replaying = client(wire, &nobody(), &FakeClock::new())
        .timeouts(timeouts)
        .replay(tape.cassette());
    let replayed = ask(&replaying.build().unwrap(), form, &request()).await;
    (live, replayed.unwrap_err())
}

fn same(live: &Error, replayed: &Error, case: &str) {
    assert_eq!(
        live.class().as_str(),
        replayed.class().as_str(),
        "{case}: {live:?} {replayed:?}"
    );
    assert_eq!(
        live.status(),
        replayed.status(),
        "{case}: {live:?} {replayed:?}"
    );
    assert_eq!(live.request_id(), replayed.request_id(), "{case}");
    assert_eq!(
        std::mem::discriminant(live.kind()),
        std::mem::discriminant(replayed.kind()),
        "{case}: {live:?} {replayed:?}"
    );
}

#[tokio::test]
async fn errors_of_a_server_are_replayed_as_they_were() {
    for wire in BOTH {
        for form in [Form::Whole, Form::Stream] {
            for (status, kind) in [
                (400, "invalid_request_error"),
                (401, "authentication_error"),
                (404, "not_found_error"),
                (429, "rate_limit_error"),
                (503, "api_error"),
                (529, "overloaded_error"),
            ] {
                let transport = server(move |_| Ok(failed(wire, status, kind)));
                let (live, replayed) =
                    both_errors(wire, transport, form, Timeouts::default()).await;
                same(&live, &replayed, kind);
                assert_eq!(live.to_string(), replayed.to_string());
            }
        }
    }
}

#[tokio::test]
async fn errors_of_the_network_and_of_time_are_replayed_as_they_were() {
    let cases: [fn() -> Error; 7] = [
        || Error::connect(ConnectPhase::Connect, "no"),
        || Error::connect(ConnectPhase::Trust, "no"),
        || Error::connect(ConnectPhase::Send, "no"),
        || Error::timeout(TimeoutPhase::FirstByte, SECOND),
        || Error::timeout(TimeoutPhase::Idle, SECOND),
        || Error::timeout(TimeoutPhase::Progress, SECOND),
        || Error::timeout(TimeoutPhase::Reply, SECOND),
    ];
    for error in cases {
        let transport = server(move |_| Err(error()));
        let times = Timeouts::default();
        let (live, replayed) = both_errors(WIRE, transport, Form::Whole, times).await;
        same(&live, &replayed, &error().to_string());
    }
    let wait_too_long = || {
        let headers = [("content-type", "application/json"), ("retry-after", "1e9")];
        response(429, &headers, WIRE.error("rate_limit_error"))
    };
    let transport = server(move |_| Ok(wait_too_long()));
    let (live, replayed) = both_errors(WIRE, transport, Form::Whole, Timeouts::default()).await;
    same(&live, &replayed, "a wish for years");
}

#[tokio::test]
async fn a_deadline_is_replayed_with_the_last_error_inside() {
    for form in [Form::Whole, Form::Stream] {
        let transport = server(|_| {
            let headers = [("content-type", "application/json"), ("retry-after", "20")];
            Ok(response(503, &headers, WIRE.error("api_error")))
        });
        let short = Timeouts::default().total(10 * SECOND);
        // On this clock the total time would be over at once.
        let tape = Tape::new();
        let recording = client(WIRE, &transport, &FakeClock::new())
            .timeouts(short)
            .record(tape.cassette());
        let live = ask(&recording.build().unwrap(), form, &request()).await;
        let replayed = ask(&tape.replaying(WIRE), form, &request()).await;
        let (live, replayed) = (live.unwrap_err(), replayed.unwrap_err());
        same(&live, &replayed, "deadline");
        assert_eq!(live.to_string(), replayed.to_string());
    }
}

#[tokio::test]
async fn a_stream_that_broke_off_is_replayed_as_broken() {
    for wire in BOTH {
        for broken in [true, false] {
            let transport = server(move |_| {
                let events = wire.events(&hello());
                let start = events[..events.len() / 2].concat();
                let mut pieces = vec![Ok(start.into())];
                if broken {
                    pieces.push(Err(Error::connect(ConnectPhase::Body, "reset")));
                }
                let kind = [("content-type", "text/event-stream")];
                Ok(test_support::streamed(200, &kind, pieces))
            });
            let times = Timeouts::default();
            let (live, replayed) = both_errors(wire, transport, Form::Stream, times).await;
            same(&live, &replayed, "cut");
        }
    }
}
