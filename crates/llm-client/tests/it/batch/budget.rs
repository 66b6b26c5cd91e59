//! The money of batches.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::BoxFuture;
use llm_client::batch::{BatchOptions, Spool};
use llm_client::provider::{Answer, Capabilities, HttpRequest, Provider, ProviderCall, Route};
use llm_client::{Budget, Client, Error, ErrorKind, Request, Target, Usd};

use super::server::{Outcome, lock};
use super::{CAP, COST, Kill, World, finish, prices, question, questions};
use crate::bill;
use crate::faults::{BOTH, Wire};

#[test]
fn a_batch_is_reserved_at_half_price_and_settled_by_its_results() {
    for wire in BOTH {
        let world = World::new(wire);
        let refused = |text: &str, _| match text {
            "text 1" => Outcome::Refused,
            _ => Outcome::Reply,
        };
        lock(&world.server).outcome = Box::new(refused);
        world.run(async {
            let client = world.client_with_ledger(&Kill::never(), CAP);
            let mut spool = Spool::open(&world.path(), BatchOptions::new(client.clone())).unwrap();
            spool.submit(&questions(0..4)).await.unwrap();
            let spend = client.spent();
            // 100 tokens of reply each, and a prompt.
            let replies = 4 * 100 * 20_000 / 2;
            let prompts = spend.reserved.0 - replies;
            assert!((1..4 * 100 * 4_000 / 2).contains(&prompts), "{spend:?}");
            assert_eq!((spend.usd, spend.calls), (Usd::ZERO, 4));
            let (results, _) = finish(&mut spool, &Kill::never()).await.unwrap();
            let spend = client.spent();
            assert_eq!(
                (spend.usd, spend.reserved, spend.uncertain),
                (Usd(3 * COST), Usd::ZERO, Usd::ZERO)
            );
            for reply in results
                .iter()
                .filter_map(|(_, result)| result.as_ref().ok())
            {
                assert_eq!(reply.cost.usd, Some(Usd(COST)));
                assert_eq!(reply.attempts[0].charge.usd, Some(Usd(COST)));
            }
        });
        let spend = world.ledger().spent().unwrap();
        assert_eq!(
            (spend.usd, spend.calls, spend.unsettled),
            (Usd(3 * COST), 4, 0)
        );
    }
}

#[test]
fn nothing_is_submitted_or_kept_without_the_factor_of_batches() {
    for wire in BOTH {
        let world = World::new(wire);
        let client = world
            .client(&Kill::never())
            .models(bill::prices(4, 20))
            .build()
            .unwrap();
        let mut spool = Spool::open(&world.path(), BatchOptions::new(client)).unwrap();
        let error = world.run(spool.submit(&questions(0..2))).unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::Refused { field, .. } if field == "multipliers"),
            "{error}"
        );
        assert_eq!(spool.progress().requests, 0);
        assert_eq!(lock(&world.server).batches.len(), 0);
    }
}

#[test]
fn a_cap_ends_the_submission_and_a_larger_one_continues_it() {
    for wire in BOTH {
        let world = World::new(wire);
        world.run(async {
            let options = |cap| {
                BatchOptions::new(world.client_with_ledger(&Kill::never(), cap)).max_requests(2)
            };
            let first = 2 * 100 * 20_000 / 2;
            let mut spool = Spool::open(&world.path(), options(first * 3 / 2)).unwrap();
            spool.submit(&questions(0..4)).await.unwrap();
            let progress = spool.progress();
            assert_eq!((progress.batches, progress.waiting), (1, 2));
            assert!(progress.problems[0].contains("budget"), "{progress:?}");
            drop(spool);
            let mut spool = Spool::open(&world.path(), options(CAP)).unwrap();
            spool.submit(&questions(0..4)).await.unwrap();
            let (results, _) = finish(&mut spool, &Kill::never()).await.unwrap();
            assert_eq!(results.len(), 4);
        });
        // The first batch was reserved by one process and settled by another.
        let spend = world.ledger().spent().unwrap();
        assert_eq!(
            (spend.usd, spend.calls, spend.unsettled),
            (Usd(4 * COST), 4, 0)
        );
    }
}

#[test]
fn a_process_without_a_ledger_reserves_for_the_batches_of_the_one_before() {
    let world = World::new(Wire::Openai);
    world.run(async {
        let open = || {
            let budget = Budget::default().usd(Some(Usd(CAP)));
            let client = world.client(&Kill::never()).budget(budget).build().unwrap();
            let spool = Spool::open(&world.path(), BatchOptions::new(client.clone())).unwrap();
            (client, spool)
        };
        let (client, mut spool) = open();
        spool.submit(&questions(0..2)).await.unwrap();
        let reserved = client.spent().reserved;
        drop(spool);
        let (client, mut spool) = open();
        spool.submit(&questions(0..2)).await.unwrap();
        assert_eq!(client.spent().reserved, reserved);
        finish(&mut spool, &Kill::never()).await.unwrap();
        assert_eq!(
            (client.spent().usd, client.spent().reserved),
            (Usd(2 * COST), Usd::ZERO)
        );
    });
}

/// A provider that counts the requests that it encodes.
struct CountingProvider(Arc<dyn Provider>, AtomicUsize);

impl Provider for CountingProvider {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn capabilities(&self, model: &str) -> Capabilities {
        self.0.capabilities(model)
    }

    fn encode(
        &self,
        request: &Request,
        target: &Target,
        route: Route,
    ) -> Result<HttpRequest, Error> {
        self.1.fetch_add(1, Ordering::SeqCst);
        self.0.encode(request, target, route)
    }

    fn answer(&self, call: ProviderCall) -> BoxFuture<'static, Result<Answer, Error>> {
        self.0.answer(call)
    }
}

#[test]
fn a_cap_is_found_without_encoding_all_requests_again() {
    for wire in BOTH {
        let world = World::new(wire);
        let provider = wire.provider_at("http://127.0.0.1:1");
        let provider = Arc::new(CountingProvider(provider, AtomicUsize::new(0)));
        // More than three replies and less than four.
        let budget = Budget::default().usd(Some(Usd(100 * 20_000 / 2 * 38 / 10)));
        let client = Client::builder(provider.clone(), Arc::new(world.clock.clone()))
            .models(prices())
            .budget(budget)
            .transport(Arc::new(world.line(&Kill::never())));
        let options = BatchOptions::new(client.build().unwrap());
        let mut spool = Spool::open(&world.path(), options).unwrap();
        world.run(async {
            let count = || provider.1.swap(0, Ordering::SeqCst);
            spool.submit(&questions(0..64)).await.unwrap();
            // Each for its key and its cost, and those of a batch.
            let submitted = count();
            assert!((128..150).contains(&submitted), "{submitted}");
            assert_eq!(spool.poll().await.unwrap().waiting, 61);
            let polled = count();
            assert!(polled < 20, "{polled}");
        });
    }
}

#[test]
fn a_client_that_records_refuses_a_batch() {
    let world = World::new(Wire::Anthropic);
    let cassette = llm_client::Cassette::new(world.folder.path().join("tape.jsonl"));
    let client = world
        .client(&Kill::never())
        .record(cassette)
        .build()
        .unwrap();
    let mut spool = Spool::open(&world.path(), BatchOptions::new(client)).unwrap();
    let error = world.run(spool.submit(&[question("text 0")])).unwrap_err();
    assert!(
        error.message().contains("a batch is not recorded"),
        "{error}"
    );
}

/// The process ends after the line in the ledger and before the one in the spool.
#[test]
fn a_reservation_for_a_batch_that_was_not_begun_is_taken_back() {
    let world = (1..).find_map(|at| {
        let (world, kill) = (World::new(Wire::Anthropic), Kill::at(at));
        let done = world.run(async {
            let client = world.client_with_ledger(&kill, CAP);
            let options = BatchOptions::new(client).disk(kill.disk());
            let mut spool = Spool::open(&world.path(), options)?;
            spool.submit(&questions(0..3)).await.map(drop)
        });
        drop(done);
        let is_reserved = world.ledger().spent().unwrap().usd > Usd::ZERO;
        is_reserved.then_some(world)
    });
    let world = world.unwrap();
    let lines = std::fs::read_to_string(world.path()).unwrap();
    let whole = lines
        .lines()
        .filter(|line| serde_json::from_str::<serde_json::Value>(line).is_ok());
    assert!(
        !whole
            .into_iter()
            .any(|line| line.contains("\"submitting\"")),
        "{lines}"
    );
    let client = world.client_with_ledger(&Kill::never(), CAP);
    assert!(client.spent().reserved > Usd::ZERO);
    let spool = Spool::open(&world.path(), BatchOptions::new(client.clone())).unwrap();
    let spend = client.spent();
    assert_eq!(
        (spend.usd, spend.reserved, spend.calls, spend.unsettled),
        (Usd::ZERO, Usd::ZERO, 0, 0)
    );
    drop((spool, client));
    assert_eq!(world.ledger().spent().unwrap().usd, Usd::ZERO);
}

/// The server says that it answered a request, and never gives the answer.
#[test]
fn an_answer_that_is_missing_is_paid_as_reserved() {
    for wire in BOTH {
        let world = World::new(wire);
        let lost = |text: &str, before| match (text, before) {
            ("text 1", 0) => Outcome::Lost,
            _ => Outcome::Reply,
        };
        lock(&world.server).outcome = Box::new(lost);
        world.run(async {
            let client = world.client_with_ledger(&Kill::never(), CAP);
            let mut spool = Spool::open(&world.path(), BatchOptions::new(client.clone())).unwrap();
            spool.submit(&questions(0..3)).await.unwrap();
            let (results, _) = finish(&mut spool, &Kill::never()).await.unwrap();
            assert_eq!(results.len(), 3);
            let spend = client.spent();
            // The longest reply of 100 tokens, in addition to three known costs.
            let least = 3 * COST + 100 * 20_000 / 2;
            assert!(
                spend.usd.0 > least && spend.reserved == Usd::ZERO,
                "{spend:?}"
            );
            assert_eq!(spend.unsettled, 1);
        });
    }
}
