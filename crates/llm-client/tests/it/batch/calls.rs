//! Calls of a program that asks one by one, in batches.

use std::future::pending;
use std::time::Duration;

use futures_util::future::join_all;
use llm_client::batch::{BatchCalls, BatchOptions, Progress};
use llm_client::{Budget, Client, Clock as _, ErrorClass, Timer as _, Usd};

use super::server::{Outcome, lock};
use super::{COST, Kill, World, question};
use crate::faults::{BOTH, Wire};

/// A client whose calls are in batches, and their file.
pub fn open(world: &World) -> (Client, BatchCalls) {
    let client = world.client(&Kill::never()).build().unwrap();
    let calls = opened(world, &client);
    (client, calls)
}

fn opened(world: &World, client: &Client) -> BatchCalls {
    let options = BatchOptions::new(client.clone()).disk(Kill::never().disk());
    BatchCalls::open(&world.path(), options).unwrap()
}

/// Two calls of which the second depends on the reply to the first.
async fn twice(client: &Client, text: &str) -> String {
    let first = client.complete(&question(text)).await.unwrap().text();
    let second = client.complete(&question(&first)).await;
    second.unwrap().text()
}

pub fn sizes(world: &World) -> Vec<usize> {
    let server = lock(&world.server);
    let batches = server.batches.iter();
    batches.map(|batch| batch.requests.len()).collect()
}

#[test]
fn each_phase_of_a_program_is_one_batch() {
    for wire in BOTH {
        let world = World::new(wire);
        let (client, calls) = open(&world);
        let names = ["a", "b", "c"];
        let work = join_all(names.map(|name| twice(&client, name)));
        let mut told = Vec::new();
        let report = |progress: &Progress| told.push(progress.to_string());
        let replies = world.run(calls.run(work, pending(), report));
        assert_eq!(replies, names.map(|name| format!("re: re: {name}")));
        assert_eq!(sizes(&world), [3, 3]);
        assert_eq!(told.last().unwrap(), "6 of 6 results are in");
        assert_eq!(client.spent().usd, Usd(6 * COST));
    }
}

#[test]
fn calls_that_come_one_after_another_are_one_batch() {
    let world = World::new(Wire::Anthropic);
    let (client, calls) = open(&world);
    let clock = world.clock.clone();
    let late = async |n: u32| {
        clock.sleep(Duration::from_secs(n.into())).await;
        client.complete(&question(&n.to_string())).await.unwrap();
    };
    let work = join_all([0, 1, 2, 10].map(late));
    world.run(calls.run(work, pending(), |_| {}));
    assert_eq!(sizes(&world), [3, 1]);
}

/// Makes a call each second, and returns the longest time that the first ones waited.
fn trickle(world: &World, max_requests: usize) -> Duration {
    let client = world.client(&Kill::never()).build().unwrap();
    let options = BatchOptions::new(client.clone()).max_requests(max_requests);
    let calls = BatchCalls::open(&world.path(), options).unwrap();
    let clock = world.clock.clone();
    let start = clock.elapsed();
    let late = async |n: u64| {
        clock.sleep(Duration::from_secs(n)).await;
        client.complete(&question(&n.to_string())).await.unwrap();
        clock.elapsed().saturating_sub(start)
    };
    let work = join_all((0..100).map(late));
    let times = world.run(calls.run(work, pending(), |_| {}));
    times[..3].iter().max().copied().unwrap()
}

#[test]
fn calls_that_trickle_are_submitted_and_answered_meanwhile() {
    for wire in BOTH {
        let world = World::new(wire);
        // A minute until they are submitted, and a look after 5 s.
        let time = trickle(&world, usize::MAX);
        assert!(time < Duration::from_secs(90), "{time:?}");
        let sizes = sizes(&world);
        assert!(sizes.len() == 2 && sizes[0] > 50, "{sizes:?}");
    }
}

#[test]
fn calls_that_fill_a_batch_are_submitted() {
    for wire in BOTH {
        let world = World::new(wire);
        let time = trickle(&world, 3);
        assert!(time < Duration::from_secs(20), "{time:?}");
        assert_eq!(sizes(&world)[..3], [3; 3]);
    }
}

#[test]
fn a_stop_ends_all_calls_and_the_next_process_collects_their_results() {
    for wire in BOTH {
        let world = World::new(wire);
        lock(&world.server).looks = u32::MAX;
        let (client, calls) = open(&world);
        let clock = world.clock.clone();
        let classes = world.run(async {
            let asks = async |wait| {
                clock.sleep(Duration::from_secs(wait)).await;
                client.complete(&question("a")).await.unwrap_err().class()
            };
            // Under way, waiting for others, and after the end.
            let work = join_all([0, 59, 70].map(asks));
            let stop = clock.sleep(Duration::from_mins(1));
            calls.run(work, stop, |_| {}).await
        });
        assert_eq!(classes, [ErrorClass::Cancelled; 3]);
        let progress = Progress::read(&world.path()).unwrap().unwrap();
        assert_eq!(progress.to_string(), "0 of 1 results are in");
        lock(&world.server).looks = 1;
        lock(&world.server).batches[0].looks = 1;
        let (client, calls) = open(&world);
        let reply = world.run(calls.run(twice(&client, "a"), pending(), |_| {}));
        assert_eq!((reply.as_str(), sizes(&world)), ("re: re: a", vec![1, 1]));
        let left = Progress::read(&world.path().with_extension("none")).unwrap();
        assert!(left.is_none());
    }
}

#[test]
fn a_cap_is_the_error_of_each_call() {
    let world = World::new(Wire::Anthropic);
    let budget = Budget::default().usd(Some(Usd(1)));
    let client = world.client(&Kill::never()).budget(budget).build().unwrap();
    let calls = opened(&world, &client);
    let work = join_all(["a", "b"].map(|name| {
        let (client, request) = (client.clone(), question(name));
        async move { client.complete(&request).await.unwrap_err() }
    }));
    let errors = world.run(calls.run(work, pending(), |_| {}));
    for error in errors {
        assert_eq!(
            (error.class(), error.attempts().len()),
            (ErrorClass::Budget, 0)
        );
        assert!(
            error.message().starts_with("the budget of $0.000000001"),
            "{error}"
        );
    }
    assert_eq!(sizes(&world), [0; 0]);
}

#[test]
fn a_request_that_cannot_be_sent_ends_no_other_one() {
    let world = World::new(Wire::Anthropic);
    let (client, calls) = open(&world);
    let mut bad = question("bad");
    bad.max_tokens = Some(0);
    let good = question("good");
    let work = futures_util::future::join(client.complete(&bad), client.complete(&good));
    let (bad, good) = world.run(calls.run(work, pending(), |_| {}));
    assert_eq!(bad.unwrap_err().class(), ErrorClass::BadRequest);
    assert_eq!(good.unwrap().text(), "re: good");
}

#[test]
fn equal_calls_of_different_times_have_one_result() {
    let world = World::new(Wire::Anthropic);
    let (client, calls) = open(&world);
    lock(&world.server).looks = 3;
    let clock = world.clock.clone();
    let later = async {
        clock.sleep(Duration::from_secs(4)).await;
        client.complete(&question("a")).await
    };
    let request = question("a");
    let work = futures_util::future::join(client.complete(&request), later);
    let (one, other) = world.run(calls.run(work, pending(), |_| {}));
    assert_eq!(one.unwrap().text(), other.unwrap().text());
    assert_eq!(sizes(&world), [1]);
}

#[test]
fn equal_calls_of_one_moment_have_one_result() {
    let world = World::new(Wire::Anthropic);
    let (client, calls) = open(&world);
    let same = question("a");
    let other = question("a").replay_key(Some("other".to_owned()));
    let work = join_all([&same, &same, &other].map(|request| client.complete(request)));
    let replies = world.run(calls.run(work, pending(), |_| {}));
    assert!(replies.iter().all(Result::is_ok));
    assert_eq!(sizes(&world), [2]);
}

#[test]
fn a_call_without_an_answer_is_asked_again_by_the_next_process_only() {
    for wire in BOTH {
        let world = World::new(wire);
        lock(&world.server).outcome = Box::new(|_, before| {
            if before < 4 {
                Outcome::Busy
            } else {
                Outcome::Reply
            }
        });
        for (asked, expected) in [(4, None), (5, Some("re: a")), (5, Some("re: a"))] {
            let (client, calls) = open(&world);
            let request = question("a");
            let reply = world.run(calls.run(client.complete(&request), pending(), |_| {}));
            let text = reply.map(|reply| reply.text()).ok();
            assert_eq!(text.as_deref(), expected);
            assert_eq!(lock(&world.server).submissions("a"), asked);
            // An error that may pass is not a result.
            let progress = Progress::read(&world.path()).unwrap().unwrap();
            assert_eq!(progress.results, usize::from(expected.is_some()));
        }
    }
}

/// The access may be given, and the model may come.
#[test]
fn an_error_of_the_account_is_asked_about_again_by_the_next_process() {
    for (wire, outcome, class) in BOTH.iter().flat_map(|wire| {
        [
            (*wire, Outcome::Denied, ErrorClass::Auth),
            (*wire, Outcome::NoModel, ErrorClass::ModelUnavailable),
        ]
    }) {
        let world = World::new(wire);
        lock(&world.server).outcome = Box::new(move |_, before| match before {
            0 => outcome,
            _ => Outcome::Reply,
        });
        for expected in [Err(class), Ok("re: a".to_owned())] {
            let (client, calls) = open(&world);
            let request = question("a");
            let reply = world.run(calls.run(client.complete(&request), pending(), |_| {}));
            let reply = reply.map(|reply| reply.text());
            assert_eq!(reply.map_err(|error| error.class()), expected, "{wire:?}");
        }
    }
}

#[test]
fn a_client_has_one_spool() {
    let world = World::new(Wire::Anthropic);
    let (client, _calls) = open(&world);
    let other = world.folder.path().join("other.jsonl");
    let again = BatchCalls::open(&other, BatchOptions::new(client));
    let error = again.err().unwrap().message();
    assert!(
        error.starts_with("batch: the calls of this client go through another spool"),
        "{error}"
    );
}

#[test]
fn plain_calls_answer_where_a_provider_has_no_batches() {
    let world = World::new(Wire::Anthropic);
    let provider = std::sync::Arc::new(llm_client::Echo::new(7));
    let clock = std::sync::Arc::new(world.clock.clone());
    let client = Client::builder(provider, clock).build().unwrap();
    let checked = client.check_batch("m").unwrap_err().message();
    assert_eq!(
        checked,
        "provider: the program knows no batches of echo; leave them out"
    );
    let calls = opened(&world, &client);
    // Such a call is not waited for in a batch, and no stop ends it.
    let request = question("a");
    let stop = std::future::ready(());
    let reply = world.run(calls.run(client.complete(&request), stop, |_| {}));
    assert!(reply.unwrap().text().starts_with("echo"));
    let later = world.run(client.complete(&request));
    assert!(later.unwrap().text().starts_with("echo"));
}

#[test]
fn a_batch_is_refused_before_anything_is_sent() {
    let world = World::new(Wire::Openai);
    let client = world.client(&Kill::never()).models(super::plain_prices());
    let error = client
        .build()
        .unwrap()
        .check_batch(super::MODEL)
        .unwrap_err();
    assert!(
        error
            .message()
            .starts_with("multipliers: the models table has no \"batch\""),
        "{error}"
    );
    let tape = llm_client::Cassette::new(world.folder.path().join("tape.jsonl"));
    let client = world.client(&Kill::never()).record(tape).build().unwrap();
    let error = client.check_batch(super::MODEL).unwrap_err();
    assert!(
        error
            .message()
            .starts_with("record: a batch is not recorded"),
        "{error}"
    );
    assert!(
        world
            .client(&Kill::never())
            .build()
            .unwrap()
            .check_batch(super::MODEL)
            .is_ok()
    );
}
