//! Servers that refuse a batch, or questions about one.

use llm_client::batch::{BatchOptions, Spool};
use llm_client::{Budget, Clock as _, ErrorClass, ModelTable, Usd};

use super::server::lock;
use super::{
    CAP, COST, HOUR, Kill, World, answers, finish, plain_prices, question, questions, texts,
};
use crate::faults::{BOTH, Wire};

#[test]
fn a_server_that_takes_no_batch_for_an_hour_is_asked_ever_more_rarely() {
    for wire in BOTH {
        let world = World::new(wire);
        lock(&world.server).refusal = Some((429, r#"{"error":{"message":"slowly"}}"#));
        world.run(async {
            let mut spool = world.open();
            let keys = spool.submit(&questions(0..3)).await.unwrap();
            let start = world.clock.elapsed();
            let elapsed = || world.clock.elapsed().saturating_sub(start);
            spool.progress();
            let mut times = Vec::new();
            while elapsed() < HOUR {
                let progress = spool.poll().await.unwrap();
                assert_eq!((progress.batches, progress.waiting), (0, 3));
                assert_eq!(progress.problems.len(), 1, "{progress:?}");
                times.push(elapsed().as_secs());
            }
            assert_eq!(
                times[..9],
                [0, 5, 15, 35, 75, 155, 315, 615, 915],
                "{times:?}"
            );
            lock(&world.server).refusal = None;
            let (results, _) = finish(&mut spool, &Kill::never()).await.unwrap();
            assert_eq!(texts(&keys, &results), answers(0..3));
        });
        let server = lock(&world.server);
        assert_eq!(server.batches.len(), 1);
        assert!(
            server.posts > 10 && server.uploads() <= 1,
            "{}",
            server.uploads()
        );
    }
}

#[test]
fn a_server_that_fails_for_an_hour_gets_the_batch_once() {
    for wire in BOTH {
        let world = World::new(wire);
        lock(&world.server).refusal = Some((503, "{}"));
        world.run(async {
            let mut spool = world.open();
            let keys = spool.submit(&questions(0..3)).await.unwrap();
            let start = world.clock.elapsed();
            while world.clock.elapsed().saturating_sub(start) < HOUR {
                spool.poll().await.unwrap();
            }
            lock(&world.server).refusal = None;
            let (results, _) = finish(&mut spool, &Kill::never()).await.unwrap();
            assert_eq!(texts(&keys, &results), answers(0..3));
        });
        let server = lock(&world.server);
        assert_eq!(server.batches.len(), 1);
        assert!(server.posts < 20, "{}", server.posts);
    }
}

#[test]
fn an_error_about_one_batch_leaves_the_others_their_results() {
    for wire in BOTH {
        let world = World::new(wire);
        world.run(async {
            let options = world.options(&Kill::never()).max_requests(3);
            let mut spool = Spool::open(&world.path(), options).unwrap();
            let keys = spool.submit(&questions(0..6)).await.unwrap();
            lock(&world.server).blocked = Some((0, 400));
            let start = world.clock.elapsed();
            for _ in 0..5 {
                let error = spool.poll().await.unwrap_err();
                assert_eq!(error.status(), Some(400));
            }
            let waited = world.clock.elapsed().saturating_sub(start);
            assert!(waited.as_secs() > 10, "{waited:?}");
            assert_eq!(
                texts(&keys[3..], &spool.collect().unwrap()),
                answers(3..6),
                "{wire:?}"
            );
        });
    }
}

#[test]
fn a_refused_cancellation_leaves_the_others_cancelled() {
    for wire in BOTH {
        let world = World::new(wire);
        world.run(async {
            let options = world.options(&Kill::never()).max_requests(3);
            let mut spool = Spool::open(&world.path(), options).unwrap();
            spool.submit(&questions(0..6)).await.unwrap();
            lock(&world.server).blocked = Some((0, 400));
            let error = spool.cancel().await.unwrap_err();
            assert_eq!(error.status(), Some(400));
        });
        let server = lock(&world.server);
        let cancelled = server.batches.iter().map(|batch| batch.is_cancelled);
        assert_eq!(cancelled.collect::<Vec<_>>(), [false, true], "{wire:?}");
    }
}

#[test]
fn a_process_submits_the_requests_that_it_was_asked_for() {
    let world = World::new(Wire::Anthropic);
    world.run(async {
        lock(&world.server).refusal = Some((429, "{}"));
        world.open().submit(&questions(0..2)).await.unwrap();
        lock(&world.server).refusal = None;
        let mut spool = world.open();
        let keys = spool.submit(&questions(2..4)).await.unwrap();
        let (results, _) = finish(&mut spool, &Kill::never()).await.unwrap();
        assert_eq!(texts(&keys, &results), answers(2..4));
    });
    assert_eq!(lock(&world.server).submissions("text 0"), 0);
}

#[test]
fn a_batch_that_is_refused_as_a_whole_is_halved_down_to_the_bad_request() {
    for (wire, is_late) in [
        (Wire::Anthropic, false),
        (Wire::Openai, false),
        (Wire::Openai, true),
    ] {
        let world = World::new(wire);
        lock(&world.server).invalid = Some(("text 3", is_late));
        world.run(async {
            let client = world.client_with_ledger(&Kill::never(), CAP);
            let mut spool = Spool::open(&world.path(), BatchOptions::new(client.clone())).unwrap();
            let keys = spool.submit(&questions(0..9)).await.unwrap();
            let (mut results, _) = finish(&mut spool, &Kill::never()).await.unwrap();
            let bad = results.iter().position(|(key, _)| *key == keys[3]).unwrap();
            let (_, bad) = results.remove(bad);
            let bad = bad.unwrap_err();
            assert_eq!(
                (bad.class(), bad.status()),
                (ErrorClass::BadRequest, Some(400)),
                "{wire:?}: {bad:?}"
            );
            assert!(bad.message().contains("a bad"), "{bad:?}");
            let others = [&keys[..3], &keys[4..]].concat();
            assert_eq!(
                texts(&others, &results),
                answers((0..9).filter(|n| *n != 3)),
                "{wire:?}"
            );
            assert_eq!(
                (client.spent().usd, client.spent().reserved),
                (Usd(8 * COST), Usd::ZERO)
            );
        });
    }
}

/// The account has no credit for an hour, or the server refuses all for another reason that it does not name.
#[test]
fn an_account_that_is_refused_ends_no_request() {
    let credit = r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low"}}"#;
    let billing = r#"{"error":{"type":"invalid_request_error","code":"billing_hard_limit_reached","message":"limit"}}"#;
    for (wire, (text, is_named)) in BOTH
        .iter()
        .flat_map(|wire| [(credit, true), (billing, true), ("{}", false)].map(|it| (*wire, it)))
    {
        let world = World::new(wire);
        lock(&world.server).refusal = Some((400, text));
        world.run(async {
            let mut spool = world.open();
            let submitted = spool.submit(&questions(0..6)).await;
            assert_eq!(submitted.is_ok(), is_named, "{submitted:?}");
            let start = world.clock.elapsed();
            while world.clock.elapsed().saturating_sub(start) < HOUR {
                let looked = spool.poll().await;
                assert_eq!(looked.is_ok(), is_named, "{looked:?}");
                assert_eq!(spool.progress().results, 0);
            }
            assert!(lock(&world.server).posts < 80);
            lock(&world.server).refusal = None;
            let keys = spool.submit(&questions(0..6)).await.unwrap();
            let (results, _) = finish(&mut spool, &Kill::never()).await.unwrap();
            assert_eq!(texts(&keys, &results), answers(0..6), "{wire:?}: {text}");
        });
    }
}

#[test]
fn a_request_that_is_refused_alone_has_its_error() {
    for wire in BOTH {
        let world = World::new(wire);
        lock(&world.server).invalid = Some(("text 0", wire == Wire::Openai));
        world.run(async {
            let mut spool = world.open();
            spool.submit(&questions(0..1)).await.unwrap();
            let (results, progress) = finish(&mut spool, &Kill::never()).await.unwrap();
            let error = results[0].1.as_ref().unwrap_err();
            assert_eq!((error.status(), results.len()), (Some(400), 1), "{wire:?}");
            assert_eq!((progress.results, progress.again), (1, 0));
            assert_eq!(error.attempts().len(), 1);
        });
        assert_eq!(lock(&world.server).posts, 1, "{wire:?}");
    }
}

#[test]
fn a_queue_that_is_full_ends_no_request() {
    let world = World::new(Wire::Openai);
    {
        let mut server = lock(&world.server);
        (server.invalid, server.code) = (Some(("", true)), "token_limit_exceeded");
    }
    world.run(async {
        let mut spool = world.open();
        let keys = spool.submit(&questions(0..6)).await.unwrap();
        let start = world.clock.elapsed();
        while world.clock.elapsed().saturating_sub(start) < HOUR {
            let progress = spool.poll().await.unwrap();
            assert_eq!(progress.results, 0);
        }
        // The waits become longer.
        assert!(
            lock(&world.server).posts < 100,
            "{}",
            lock(&world.server).posts
        );
        lock(&world.server).invalid = None;
        let (results, _) = finish(&mut spool, &Kill::never()).await.unwrap();
        assert_eq!(texts(&keys, &results), answers(0..6));
    });
}

#[test]
fn a_model_that_fails_stops_no_other() {
    let world = World::new(Wire::Anthropic);
    lock(&world.server).closed = Some("model-1");
    let mut requests = questions(0..4);
    requests[3].model = "model-2".to_owned();
    world.run(async {
        let mut spool = world.open();
        let error = spool.submit(&requests).await.unwrap_err();
        assert_eq!(error.status(), Some(404));
        assert_eq!(lock(&world.server).submissions("text 3"), 1);
        lock(&world.server).closed = None;
        let keys = spool.submit(&requests).await.unwrap();
        let (results, _) = finish(&mut spool, &Kill::never()).await.unwrap();
        assert_eq!(texts(&keys, &results), answers(0..4));
    });
}

#[test]
fn a_cap_that_a_batch_under_way_uses_up_is_waited_for() {
    for wire in BOTH {
        let world = World::new(wire);
        world.run(async {
            // More than three replies and less than four; each costs a fifth of what is reserved.
            let cap = 100 * 20_000 / 2 * 38 / 10;
            let client = world.client_with_ledger(&Kill::never(), cap);
            let mut spool = Spool::open(&world.path(), BatchOptions::new(client)).unwrap();
            spool.submit(&questions(0..6)).await.unwrap();
            let first = spool.progress();
            assert!(first.problems[0].contains("budget"), "{first:?}");
            let sizes: Vec<_> = (lock(&world.server).batches.iter())
                .map(|batch| batch.requests.len())
                .collect();
            assert_eq!((sizes, first.waiting), (vec![3], 3));
            let (results, _) = finish(&mut spool, &Kill::never()).await.unwrap();
            assert_eq!(results.len(), 6, "{wire:?}");
        });
    }
}

/// The table of the next process has no batches, and another price.
#[test]
fn results_that_are_paid_for_are_read_with_other_settings() {
    for wire in BOTH {
        let world = World::new(wire);
        world.run(async {
            let all = questions(0..2);
            let keys = world.open().submit(&all).await.unwrap();
            let table = r#"{"schema_version": 1, "read_on": "2026-11-21", "models": []}"#;
            let table = ModelTable::parse(table).unwrap();
            let client = world.client(&Kill::never()).models(table).build().unwrap();
            let mut spool = Spool::open(&world.path(), BatchOptions::new(client.clone())).unwrap();
            assert!(client.spent().reserved > Usd::ZERO);
            assert_eq!(spool.submit(&all).await.unwrap(), keys);
            let (results, _) = finish(&mut spool, &Kill::never()).await.unwrap();
            assert_eq!(texts(&keys, &results), answers(0..2), "{wire:?}");
            assert_eq!(client.spent().reserved, Usd::ZERO);
        });
    }
}

#[test]
fn the_discount_of_a_batch_is_the_one_at_its_submission() {
    for wire in BOTH {
        let world = World::new(wire);
        world.run(async {
            let all = [question("text 0")];
            world.open().submit(&all).await.unwrap();
            let budget = Budget::default().usd(Some(Usd(CAP)));
            let client = world
                .client(&Kill::never())
                .models(plain_prices())
                .budget(budget);
            let client = client.build().unwrap();
            let mut spool = Spool::open(&world.path(), BatchOptions::new(client.clone())).unwrap();
            spool.submit(&all).await.unwrap();
            finish(&mut spool, &Kill::never()).await.unwrap();
            assert_eq!(client.spent().usd, Usd(COST), "{wire:?}");
        });
    }
}
