//! Rows 14, 15, 20, 21 and 33: time.

use std::error::Error as StdError;

use llm_client::error::TimeoutPhase;
use llm_client::{Clock as _, ErrorClass, Timeouts};
use test_support::Signal;

use super::*;

fn is_timeout(error: &Error, wanted: TimeoutPhase) -> bool {
    matches!(error.kind(), ErrorKind::Timeout { phase, .. } if *phase == wanted)
}

#[tokio::test]
async fn f14_headers_that_never_come_end_a_stream_at_its_first_byte_limit() {
    for wire in BOTH {
        let server = FaultServer::replies([Answer::raw().stall()]);
        let clock = FakeClock::new();
        let client = wire
            .client(&server, &clock)
            .retry(no_retries())
            .build()
            .unwrap();
        let request = request();
        let limit = Timeouts::default().first_byte;
        let ((_, outcome), ()) = tokio::join!(read_stream(&client, &request), async {
            server.wait_requests(1).await;
            clock.wait_for_sleep(limit).await;
            clock.advance(limit);
        });
        let error = outcome.unwrap_err();
        assert!(
            is_timeout(&error, TimeoutPhase::FirstByte),
            "{wire:?} {error:?}"
        );
        assert!(!error.charged().certain);
        server.wait_closed(1).await;
    }
}

#[tokio::test]
async fn f14_headers_that_never_come_end_a_plain_call_to_an_own_server_at_its_deadline() {
    for wire in BOTH {
        let server = FaultServer::replies([Answer::raw().stall()]);
        let clock = FakeClock::new();
        let client = wire.client(&server, &clock).build().unwrap();
        let request = request();
        let total = Timeouts::default().total;
        let (outcome, ()) = tokio::join!(client.complete(&request), async {
            server.wait_requests(1).await;
            clock.wait_for_sleep(total).await;
            // Nothing is known of the speed of a model on this machine.
            clock.advance(total / 2);
            tokio::task::yield_now().await;
            assert_eq!(server.closed_by_peer(), 0);
            clock.advance(total / 2);
        });
        let error = outcome.unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::Deadline),
            "{wire:?} {error:?}"
        );
        assert_eq!(
            (error.class().as_str(), error.attempts().len()),
            ("timeout", 1)
        );
        server.wait_closed(1).await;
    }
}

#[tokio::test]
async fn an_attempt_that_does_not_end_in_its_time_is_made_again() {
    for wire in BOTH {
        // The second answer begins and does not end.
        let begun = Answer::head(200, "application/json").header("content-length", "99");
        let server = FaultServer::replies([
            Answer::raw().stall(),
            begun.bytes("{").stall(),
            wire.whole(&hello()),
        ]);
        let clock = skipping();
        let limit = 45 * SECOND;
        let tap = Tap::new();
        let client = wire
            .client(&server, &clock)
            .timeouts(Timeouts::default().attempt(Some(limit)))
            .transport(tap.clone())
            .build()
            .unwrap();
        let request = request();
        let (reply, ()) = tokio::join!(client.complete(&request), async {
            server.wait_requests(1).await;
            clock.wait_for_sleep(limit).await;
            clock.advance(limit);
            tap.wait(1).await;
            clock.wait_for_sleep(limit).await;
            clock.advance(limit);
        });
        let reply = reply.unwrap();
        let classes: Vec<_> = (reply.attempts.iter())
            .map(|one| (one.class, one.latency >= limit))
            .collect();
        let late = (Some(ErrorClass::Timeout), true);
        assert_eq!(classes, [late, late, (None, false)], "{wire:?}");
        server.wait_closed(2).await;
    }
}

#[tokio::test]
async fn f15_a_dribbled_body_contents_the_idle_timer_but_not_the_deadline() {
    for wire in BOTH {
        let steps: Vec<Signal> = std::iter::repeat_with(Signal::new).take(20).collect();
        let body = wire.json(&hello());
        let mut answer = Answer::head(200, "application/json")
            .header("content-length", &body.len().to_string())
            .bytes(body[..1].to_owned());
        for (at, step) in steps.iter().enumerate() {
            answer = answer.wait(step).bytes(body[at + 1..at + 2].to_owned());
        }
        let server = FaultServer::replies([answer.stall()]);
        let clock = FakeClock::new();
        let tap = Tap::new();
        let client = wire
            .client(&server, &clock)
            .transport(tap.clone())
            .build()
            .unwrap();
        let request = request();
        let (outcome, ()) = tokio::join!(client.complete(&request), async {
            for (at, step) in steps.iter().enumerate().take(12) {
                tap.wait(at + 1).await;
                clock.advance(50 * SECOND);
                step.fire();
            }
        });
        let error = outcome.unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::Deadline),
            "{wire:?} {error:?}"
        );
        assert_eq!(clock.elapsed(), Timeouts::default().total);
        server.wait_closed(1).await;
    }
}

#[tokio::test]
async fn f20_a_stall_after_any_event_is_an_idle_timeout() {
    for wire in BOTH {
        let events = wire.events(&hello());
        for k in 1..events.len() - 2 {
            let server = FaultServer::replies([Answer::events().pieces(&events[..k]).stall()]);
            let clock = FakeClock::new();
            let tap = Tap::new();
            let client = wire
                .client(&server, &clock)
                .retry(no_retries())
                .transport(tap.clone());
            let client = client.build().unwrap();
            let request = request();
            let limit = Timeouts::default().idle;
            let ((_, outcome), ()) = tokio::join!(read_stream(&client, &request), async {
                tap.wait(k).await;
                clock.wait_for_sleep(limit).await;
                clock.advance(limit);
            });
            let error = outcome.unwrap_err();
            assert!(
                is_timeout(&error, TimeoutPhase::Idle),
                "{wire:?} after {k}: {error:?}"
            );
            server.wait_closed(1).await;
        }
    }
}

#[tokio::test]
async fn f21_signs_of_life_alone_are_no_progress() {
    for wire in BOTH {
        let ping = match wire {
            Wire::Anthropic => "event: ping\ndata: {\"type\":\"ping\"}\n\n",
            Wire::Openai => ": OPENROUTER PROCESSING\n\n",
        };
        let steps: Vec<Signal> = std::iter::repeat_with(Signal::new).take(10).collect();
        let begins = wire.events(&hello())[0].clone();
        let mut answer = Answer::events().chunk(begins);
        for step in &steps {
            answer = answer.chunk(ping).wait(step);
        }
        let server = FaultServer::replies([answer.stall()]);
        let clock = FakeClock::new();
        let tap = Tap::new();
        let client = wire
            .client(&server, &clock)
            .retry(no_retries())
            .transport(tap.clone());
        let client = client.build().unwrap();
        let request = request();
        let limit = Timeouts::default().progress;
        let ((events, outcome), ()) = tokio::join!(read_stream(&client, &request), async {
            for (at, step) in steps.iter().enumerate().take(4) {
                // The event before, and a sign of life for each step.
                tap.wait(at + 2).await;
                clock.advance(limit / 4);
                step.fire();
            }
        });
        let error = outcome.unwrap_err();
        assert!(
            is_timeout(&error, TimeoutPhase::Progress),
            "{wire:?} {error:?}"
        );
        assert_eq!(text_of(&events), "");
        server.wait_closed(1).await;
    }
}

#[tokio::test]
async fn f21_comments_before_the_first_event_are_no_progress_either() {
    let wire = Wire::Openai;
    let steps: Vec<Signal> = std::iter::repeat_with(Signal::new).take(10).collect();
    let mut answer = Answer::events();
    for step in &steps {
        answer = answer.chunk(": OPENROUTER PROCESSING\n\n").wait(step);
    }
    let server = FaultServer::replies([answer.stall()]);
    let clock = FakeClock::new();
    let tap = Tap::new();
    let client = wire
        .client(&server, &clock)
        .retry(no_retries())
        .transport(tap.clone());
    let client = client.build().unwrap();
    let request = request();
    let limit = Timeouts::default().progress;
    let ((events, outcome), ()) = tokio::join!(read_stream(&client, &request), async {
        for (at, step) in steps.iter().enumerate().take(4) {
            tap.wait(at + 1).await;
            clock.advance(limit / 4);
            step.fire();
        }
    });
    let error = outcome.unwrap_err();
    assert!(is_timeout(&error, TimeoutPhase::Progress), "{error:?}");
    assert!(events.is_empty());
    server.wait_closed(1).await;
}

#[tokio::test]
async fn f14_headers_without_a_byte_of_a_stream_are_no_first_byte() {
    for wire in BOTH {
        let server = FaultServer::replies([Answer::events().stall()]);
        let clock = FakeClock::new();
        let client = wire
            .client(&server, &clock)
            .retry(no_retries())
            .build()
            .unwrap();
        let request = request();
        let limit = Timeouts::default().first_byte;
        let ((_, outcome), ()) = tokio::join!(read_stream(&client, &request), async {
            server.wait_requests(1).await;
            clock.wait_for_sleep(limit).await;
            clock.advance(limit);
        });
        let error = outcome.unwrap_err();
        assert!(
            is_timeout(&error, TimeoutPhase::FirstByte),
            "{wire:?} {error:?}"
        );
        server.wait_closed(1).await;
    }
}

#[tokio::test]
async fn f33_a_wait_beyond_the_deadline_fails_at_once_with_the_last_error_inside() {
    for wire in BOTH {
        let answer = Answer::json(429, wire.error("rate_limit_error")).header("retry-after", "30");
        let server = FaultServer::replies([answer]);
        let clock = FakeClock::new();
        let client = wire
            .client(&server, &clock)
            .timeouts(Timeouts::default().total(20 * SECOND));
        let error = client
            .build()
            .unwrap()
            .complete(&request())
            .await
            .unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Deadline), "{error:?}");
        let last = error
            .source()
            .and_then(<dyn StdError>::downcast_ref::<Error>);
        assert_eq!(last.unwrap().class(), ErrorClass::RateLimit);
        assert_eq!(error.attempts().len(), 1);
        assert_eq!(
            (server.requests().len(), clock.elapsed()),
            (1, Duration::ZERO)
        );
    }
}
