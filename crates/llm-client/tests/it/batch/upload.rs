//! Batches that are too large for the way to the server.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use llm_client::batch::{BatchOptions, Spool};
use llm_client::provider::{HttpRequest, HttpResponse, Transport};
use llm_client::{Clock as _, Error, Timeouts, Timer as _};
use test_support::FakeClock;

use super::server::{NO_ANSWER, lock};
use super::{HOUR, Kill, World, answers, finish, question, questions, texts};
use crate::faults::BOTH;

/// A way of 256 KiB per second.
struct SlowLine<T> {
    line: T,
    clock: FakeClock,
}

impl<T: Transport> Transport for SlowLine<T> {
    fn execute(&self, request: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, Error>> {
        async {
            let seconds = request.body.len() >> 18;
            self.clock.sleep(Duration::from_secs(seconds as u64)).await;
            self.line.execute(request).await
        }
        .boxed()
    }
}

#[test]
fn a_large_batch_has_more_time_than_a_call() {
    for wire in BOTH {
        let world = World::new(wire);
        let line = SlowLine {
            line: world.line(&Kill::never()),
            clock: world.clock.clone(),
        };
        let client = world.client(&Kill::never()).transport(Arc::new(line));
        let limit = Duration::from_secs(3);
        let client = client.timeouts(Timeouts::default().total(limit));
        world.run(async {
            let options = BatchOptions::new(client.build().unwrap());
            let mut spool = Spool::open(&world.path(), options).unwrap();
            let large = question(&"x".repeat(2 << 20));
            spool.submit(&[large]).await.unwrap();
            assert_eq!(spool.progress().problems, [""; 0], "{wire:?}");
        });
        assert_eq!(lock(&world.server).batches.len(), 1, "{wire:?}");
    }
}

#[test]
fn a_batch_that_does_not_get_through_becomes_smaller() {
    for wire in BOTH {
        let world = World::new(wire);
        lock(&world.server).longest_body = 1500;
        world.run(async {
            let mut spool = world.open();
            let keys = spool.submit(&questions(0..16)).await.unwrap();
            let (results, _) = finish(&mut spool, &Kill::never()).await.unwrap();
            assert_eq!(texts(&keys, &results), answers(0..16), "{wire:?}");
        });
    }
}

/// No process sees an answer to a submission, and no server has a batch.
#[test]
fn processes_that_end_in_a_submission_end_no_request() {
    for wire in BOTH {
        let world = World::new(wire);
        lock(&world.server).refusal = Some((NO_ANSWER, ""));
        world.run(async {
            for process in 1..=7 {
                let mut spool = world.open();
                spool.submit(&questions(0..1)).await.unwrap();
                let start = world.clock.elapsed();
                while lock(&world.server).posts < process {
                    assert!(world.clock.elapsed().saturating_sub(start) < HOUR);
                    spool.poll().await.unwrap();
                }
                assert_eq!(spool.progress().results, 0, "{wire:?}: {process}");
            }
            lock(&world.server).refusal = None;
            let mut spool = world.open();
            let keys = spool.submit(&questions(0..1)).await.unwrap();
            let (results, _) = finish(&mut spool, &Kill::never()).await.unwrap();
            assert_eq!(texts(&keys, &results), answers(0..1));
        });
    }
}
