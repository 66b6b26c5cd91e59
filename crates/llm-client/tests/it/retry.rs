//! Waits between attempts: by chance, and the same for the same seed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use llm_client::{Client, RetryPolicy};

use crate::faults::{BOTH, Wire, request, skipping};
use crate::memory::{client, failed, header, hello_after, server};

const MS: Duration = Duration::from_millis(1);

fn patient(retries: u32) -> RetryPolicy {
    RetryPolicy::default().retries(retries)
}

fn busy(seed: u64, retries: u32) -> Client {
    let wire = Wire::Anthropic;
    client(
        wire,
        &server(move |_| Ok(failed(wire, 503, "busy"))),
        &skipping(),
    )
    .retry(patient(retries))
    .seed(seed)
    .build()
    .unwrap()
}

/// The waits of this number of calls, one after another.
async fn waits(client: &Client, calls: usize) -> Vec<Vec<Duration>> {
    let mut all = Vec::new();
    for _ in 0..calls {
        let error = client.complete(&request()).await.unwrap_err();
        let waited = error.attempts().iter().skip(1).map(|one| one.wait);
        all.push(waited.collect());
    }
    all
}

#[tokio::test]
async fn waits_are_the_same_for_a_seed_and_others_for_another() {
    let first = waits(&busy(7, 4), 10).await;
    assert_eq!(first, waits(&busy(7, 4), 10).await);
    assert_ne!(first, waits(&busy(8, 4), 10).await);
    // Each call draws its own.
    assert_ne!(first[0], first[1]);
}

#[tokio::test]
async fn the_waits_of_a_call_do_not_depend_on_the_calls_beside_it() {
    let alone = waits(&busy(7, 4), 8).await;
    let client = busy(7, 4);
    let question = request();
    let errors = join_all((0..8).map(|_| client.complete(&question))).await;
    for (waited, error) in alone.iter().zip(errors) {
        let error = error.unwrap_err();
        let together: Vec<_> = error.attempts()[1..].iter().map(|one| one.wait).collect();
        assert_eq!(*waited, together);
    }
}

#[tokio::test]
async fn backoff_is_full_jitter_up_to_a_bound_that_doubles_to_the_ceiling() {
    let all = waits(&busy(1, 6), 200).await;
    for (n, most) in [500, 1000, 2000, 4000, 8000, 8000].into_iter().enumerate() {
        let waits: Vec<Duration> = all.iter().map(|one| one[n]).collect();
        for wait in &waits {
            assert!((50 * MS..=most * MS).contains(wait), "{n}: {wait:?}");
        }
        // Evenly: each fifth of the range is hit, the lowest down to the floor.
        for fifth in 0..5 {
            let part = most * fifth / 5 * MS..most * (fifth + 1) / 5 * MS;
            let hits = waits.iter().filter(|wait| part.contains(*wait)).count();
            assert!((15..=70).contains(&hits), "{n}: {hits} in {part:?}");
        }
    }
}

#[tokio::test]
async fn attempts_and_their_times_are_told() {
    let clock = skipping();
    let wire = Wire::Anthropic;
    let transport = server(hello_after(wire, 2));
    let client = client(wire, &transport, &clock).build().unwrap();
    let reply = client.complete(&request()).await.unwrap();
    let numbers: Vec<_> = reply.attempts.iter().map(|one| one.n).collect();
    assert_eq!(numbers, [1, 2, 3]);
    let waited: Duration = reply.attempts.iter().map(|one| one.wait).sum();
    assert_eq!(waited, llm_client::Clock::elapsed(&clock));
    assert_eq!(reply.attempts[0].wait, Duration::ZERO);
    let classes: Vec<_> = reply
        .attempts
        .iter()
        .map(|one| one.class.map(llm_client::ErrorClass::as_str))
        .collect();
    assert_eq!(classes, [Some("server"), Some("server"), None]);
}

/// `x-retry-count` of each attempt.
async fn counts(wire: Wire, policy: RetryPolicy, streams: bool) -> Vec<Option<String>> {
    let transport = server(hello_after(wire, 2));
    let client = client(wire, &transport, &skipping())
        .retry(policy)
        .build()
        .unwrap();
    let question = request();
    if streams {
        let stream = client.stream(&question).await.unwrap();
        stream.collect().await.unwrap();
    } else {
        client.complete(&question).await.unwrap();
    }
    let requests = transport.requests();
    requests
        .iter()
        .map(|sent| header(sent, "x-retry-count"))
        .collect()
}

#[tokio::test]
async fn a_retry_tells_its_number_unless_it_is_switched_off() {
    let silent = RetryPolicy::default().send_count(false);
    for wire in BOTH {
        for streams in [false, true] {
            let told = counts(wire, RetryPolicy::default(), streams).await;
            assert_eq!(told, [None, Some("1".into()), Some("2".into())]);
            assert_eq!(counts(wire, silent, streams).await, [None, None, None]);
        }
    }
}

#[tokio::test]
async fn as_many_attempts_are_made_as_the_policy_says() {
    for retries in [0, 1, 5] {
        let error = busy(0, retries).complete(&request()).await.unwrap_err();
        assert_eq!(error.attempts().len(), 1 + retries as usize);
    }
}

#[tokio::test]
async fn a_rate_limit_without_a_wait_gets_one_retry_or_all_that_the_policy_insists_on() {
    for (insist, attempts) in [(false, 2), (true, 5)] {
        let wire = Wire::Openai;
        let transport = server(move |_| Ok(failed(wire, 429, "rate_limit_error")));
        let client = client(wire, &transport, &skipping())
            .retry(patient(4).insist(insist))
            .build()
            .unwrap();
        let error = client.complete(&request()).await.unwrap_err();
        assert_eq!(error.attempts().len(), attempts, "{insist}");
    }
}

#[tokio::test]
async fn no_wait_is_longer_than_the_ceiling_of_the_policy() {
    let clock = skipping();
    let wire = Wire::Openai;
    let transport = server(move |_| Ok(failed(wire, 503, "busy")));
    for ceiling in [20 * MS, 3000 * MS] {
        let policy = patient(8).ceiling(ceiling).floor(10 * MS);
        let client = client(wire, &transport, &clock)
            .retry(policy)
            .build()
            .unwrap();
        let error = client.complete(&request()).await.unwrap_err();
        let waits = error.attempts()[1..].iter().map(|one| one.wait);
        assert!(waits.clone().all(|wait| wait <= ceiling));
        assert!(waits.max() > Some(ceiling / 2), "{ceiling:?}");
    }
}

#[tokio::test]
async fn l16_the_attempt_that_a_call_is_at_can_be_read_while_it_is_under_way() {
    let client = busy(7, 2);
    let attempt = Arc::new(AtomicU32::new(0));
    let question = request();
    let call = client.complete_counting(&question, attempt.clone());
    let error = call.await.unwrap_err();
    assert_eq!(error.attempts().len(), 3);
    assert_eq!(attempt.load(Ordering::Relaxed), 3);
}
