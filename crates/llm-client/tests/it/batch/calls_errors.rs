//! Calls in batches, some of which fail.

use std::future::pending;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use durable::{Disk, Step};
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, join};
use llm_client::batch::{BatchCalls, BatchOptions, Progress};
use llm_client::provider::{HttpRequest, HttpResponse, Transport};
use llm_client::{Client, Error, ErrorClass, Request, Timer as _};
use test_support::FakeClock;

use super::calls::{open, sizes};
use super::server::lock;
use super::{Kill, World, question};
use crate::faults::{BOTH, Wire};

/// Two requests that are in a batch each.
fn two() -> [Request; 2] {
    [question("a"), question("b").model("model-2".to_owned())]
}

async fn text(client: &Client, request: &Request) -> Result<String, Error> {
    client.complete(request).await.map(|reply| reply.text())
}

/// A server that takes 10 s for each answer.
struct SlowLine<T>(T, FakeClock);

impl<T: Transport> Transport for SlowLine<T> {
    fn execute(&self, request: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, Error>> {
        async {
            let response = self.0.execute(request).await;
            self.1.sleep(Duration::from_secs(10)).await;
            response
        }
        .boxed()
    }
}

#[test]
fn nothing_is_submitted_after_a_stop() {
    let world = World::new(Wire::Anthropic);
    let line = SlowLine(world.line(&Kill::never()), world.clock.clone());
    let client = world.client(&Kill::never()).transport(Arc::new(line));
    let client = client.build().unwrap();
    let calls = BatchCalls::open(&world.path(), BatchOptions::new(client.clone())).unwrap();
    let [one, other] = two();
    let work = join(client.complete(&one), client.complete(&other));
    let stop = world.clock.sleep(Duration::from_secs(5));
    let (one, other) = world.run(calls.run(work, stop, |_| {}));
    for result in [one, other] {
        assert_eq!(result.unwrap_err().class(), ErrorClass::Cancelled);
    }
    assert_eq!(lock(&world.server).posts, 1);
}

#[test]
fn a_model_that_is_refused_ends_no_call_to_another_one() {
    let world = World::new(Wire::Anthropic);
    {
        let mut server = lock(&world.server);
        (server.closed, server.looks) = (Some("model-1"), 5);
    }
    let (client, calls) = open(&world);
    let [one, other] = two();
    let work = join(text(&client, &one), text(&client, &other));
    let (one, other) = world.run(calls.run(work, pending(), |_| {}));
    assert_eq!(one.unwrap_err().status(), Some(404));
    assert_eq!(other.unwrap(), "re: b");
    // The call that ended is not submitted again.
    assert_eq!(lock(&world.server).posts, 2);
}

#[test]
fn an_error_about_a_batch_ends_its_calls_only() {
    for wire in BOTH {
        let world = World::new(wire);
        lock(&world.server).blocked = Some((0, 400));
        let (client, calls) = open(&world);
        let [one, other] = two();
        let work = join(text(&client, &one), text(&client, &other));
        let (one, other) = world.run(calls.run(work, pending(), |_| {}));
        assert_eq!(one.unwrap_err().status(), Some(400), "{wire:?}");
        assert_eq!(other.unwrap(), "re: b");
        assert_eq!(sizes(&world), [1, 1]);
    }
}

/// A disk that is full while the flag is up.
fn filled(is_full: &Arc<AtomicBool>) -> Disk {
    let is_full = is_full.clone();
    let watch = move |step, _: &Path| {
        if step == Step::Append && is_full.load(Ordering::SeqCst) {
            return Err(io::Error::other("full"));
        }
        Ok(())
    };
    Disk::default().without_sync().watched(Arc::new(watch))
}

#[test]
fn a_full_disk_cancels_what_is_in_no_batch_and_another_process_continues() {
    for wire in BOTH {
        let world = World::new(wire);
        lock(&world.server).looks = 5;
        let is_full = Arc::default();
        let client = world.client(&Kill::never()).build().unwrap();
        let options = BatchOptions::new(client.clone()).disk(filled(&is_full));
        let calls = BatchCalls::open(&world.path(), options).unwrap();
        let clock = world.clock.clone();
        let later = async |request| {
            clock.sleep(Duration::from_secs(10)).await;
            is_full.store(true, Ordering::SeqCst);
            let result = text(&client, request).await;
            is_full.store(false, Ordering::SeqCst);
            result
        };
        let [one, other] = two();
        let mut problems = Vec::new();
        let report = |progress: &Progress| problems.extend(progress.problems.clone());
        let work = join(text(&client, &one), later(&other));
        let (first, second) = world.run(calls.run(work, pending(), report));
        assert_eq!(first.unwrap(), "re: a");
        let error = second.unwrap_err();
        assert_eq!(error.class(), ErrorClass::Cancelled, "{error:?}");
        assert!(error.message().ends_with("full"), "{error:?}");
        assert!(error.attempts().is_empty() && problems[0].ends_with("full"));
        let (client, calls) = open(&world);
        let again = world.run(calls.run(text(&client, &other), pending(), |_| {}));
        assert_eq!(again.unwrap(), "re: b");
        assert_eq!(sizes(&world), [1, 1]);
    }
}

#[test]
fn results_that_a_full_disk_does_not_take_are_collected_by_another_process() {
    for wire in BOTH {
        let world = World::new(wire);
        let is_full = Arc::default();
        let client = world.client(&Kill::never()).build().unwrap();
        let options = BatchOptions::new(client.clone()).disk(filled(&is_full));
        let calls = BatchCalls::open(&world.path(), options).unwrap();
        let [one, _] = two();
        let full = async {
            world.clock.sleep(Duration::from_secs(3)).await;
            is_full.store(true, Ordering::SeqCst);
        };
        let work = join(text(&client, &one), full);
        let (result, ()) = world.run(calls.run(work, pending(), |_| {}));
        assert_eq!(result.unwrap_err().class(), ErrorClass::Cancelled);
        let (client, calls) = open(&world);
        let again = world.run(calls.run(text(&client, &one), pending(), |_| {}));
        assert_eq!(again.unwrap(), "re: a");
        assert_eq!(sizes(&world), [1]);
    }
}
