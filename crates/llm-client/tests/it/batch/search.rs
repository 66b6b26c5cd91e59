//! Batches whose submission has no known outcome: each is found, or shown not to be at the server.

use std::time::{Duration, UNIX_EPOCH};

use llm_client::batch::{BatchOptions, Progress, Spool};
use llm_client::{Clock as _, ErrorClass, Usd};

use super::server::{NO_ANSWER, lock};
use super::{CAP, COST, HOUR, Kill, World, answers, finish, questions, texts};
use crate::faults::{BOTH, Wire};

/// Submits as often as the server lets it and returns the progress at the end, after at most 50 looks.
async fn look_50_times(spool: &mut Spool) -> Progress {
    for _ in 0..50 {
        let progress = spool.poll().await.unwrap();
        if progress.is_done() {
            return progress;
        }
    }
    panic!("{:?}", spool.progress());
}

#[test]
fn two_lost_batches_of_equal_size_are_both_found() {
    for wire in BOTH {
        let world = World::new(wire);
        {
            let mut server = lock(&world.server);
            (server.lost_answers, server.looks) = (2, u32::MAX);
        }
        world.run(async {
            let client = world.client_with_ledger(&Kill::never(), CAP);
            let options = BatchOptions::new(client.clone()).max_requests(3);
            let mut spool = Spool::open(&world.path(), options).unwrap();
            let keys = spool.submit(&questions(0..6)).await.unwrap();
            spool.poll().await.unwrap();
            // Both are over at the next look.
            {
                let mut server = lock(&world.server);
                server.looks = 2;
                server.batches.iter_mut().for_each(|batch| batch.looks = 1);
            }
            let (results, _) = finish(&mut spool, &Kill::never()).await.unwrap();
            assert_eq!(texts(&keys, &results), answers(0..6));
            assert_eq!(client.spent().usd, Usd(6 * COST));
        });
        assert_eq!(lock(&world.server).batches.len(), 2, "{wire:?}");
    }
}

/// The server has the batch five minutes after the line in the spool, and lists it half a minute later.
#[test]
fn the_minute_begins_when_the_request_has_ended() {
    for wire in BOTH {
        let world = World::new(wire);
        let clock = world.clock.clone();
        {
            let mut server = lock(&world.server);
            (server.lost_answers, server.listed_after) = (1, 30);
            server.before = Box::new(move || clock.advance(Duration::from_mins(5)));
        }
        world.run(async {
            let mut spool = world.open();
            let keys = spool.submit(&questions(0..3)).await.unwrap();
            let (results, _) = finish(&mut spool, &Kill::never()).await.unwrap();
            assert_eq!(texts(&keys, &results), answers(0..3));
        });
        assert_eq!(lock(&world.server).batches.len(), 1, "{wire:?}");
    }
}

#[test]
fn a_clock_that_is_ten_minutes_ahead_hides_no_batch() {
    for wire in BOTH {
        let world = World::new(wire);
        let clock = world.clock.clone();
        {
            let mut server = lock(&world.server);
            server.lost_answers = 1;
            server.now = Box::new(move || {
                let now = clock.now().duration_since(UNIX_EPOCH).unwrap();
                i64::try_from(now.as_secs()).unwrap() - 600
            });
        }
        world.run(async {
            let mut spool = world.open();
            let keys = spool.submit(&questions(0..3)).await.unwrap();
            let (results, _) = finish(&mut spool, &Kill::never()).await.unwrap();
            assert_eq!(texts(&keys, &results), answers(0..3));
        });
        assert_eq!(lock(&world.server).batches.len(), 1, "{wire:?}");
    }
}

#[test]
fn a_list_that_cannot_be_read_shows_nothing() {
    for wire in BOTH {
        let world = World::new(wire);
        {
            let mut server = lock(&world.server);
            (server.lost_answers, server.damaged_lists) = (1, 10);
        }
        world.run(async {
            let mut spool = world.open();
            let keys = spool.submit(&questions(0..3)).await.unwrap();
            let (results, _) = finish(&mut spool, &Kill::never()).await.unwrap();
            assert_eq!(texts(&keys, &results), answers(0..3));
        });
        assert_eq!(lock(&world.server).batches.len(), 1, "{wire:?}");
    }
}

#[test]
fn a_submission_without_an_outcome_counts_as_a_try() {
    for wire in BOTH {
        let world = World::new(wire);
        lock(&world.server).refusal = Some((NO_ANSWER, ""));
        world.run(async {
            let mut spool = world.open();
            spool.submit(&questions(0..1)).await.unwrap();
            look_50_times(&mut spool).await;
            let results = spool.collect().unwrap();
            assert_eq!(results.len(), 1);
            for (_, result) in results {
                assert_eq!(result.unwrap_err().class(), ErrorClass::Timeout);
            }
        });
        assert_eq!(lock(&world.server).posts, 4, "{wire:?}");
    }
}

/// A gateway that gives up while the server makes a batch, each time.
#[test]
fn a_gateway_without_patience_pays_for_a_bounded_number_of_batches() {
    for (wire, status) in BOTH
        .iter()
        .flat_map(|wire| [504, 524, 408].map(|it| (*wire, it)))
    {
        let world = World::new(wire);
        {
            let mut server = lock(&world.server);
            (server.lost_answers, server.lost_status) = (usize::MAX, status);
            server.listed_after = 1_000_000;
        }
        world.run(async {
            let mut spool = world.open();
            spool.submit(&questions(0..1)).await.unwrap();
            look_50_times(&mut spool).await;
        });
        assert_eq!(lock(&world.server).posts, 4, "{wire:?}: {status}");
    }
}

/// The process ends in a submission, and the server has its batch some minutes later.
#[test]
fn a_batch_that_is_listed_late_after_a_kill_is_found() {
    for wire in BOTH {
        let lost = |at| {
            let (world, kill) = (World::new(wire), Kill::at(at));
            let done = world.run(async {
                let mut spool = Spool::open(&world.path(), world.options(&kill))?;
                spool.submit(&questions(0..3)).await.map(drop)
            });
            drop(done);
            let is_there = !lock(&world.server).batches.is_empty();
            is_there.then_some(world)
        };
        let world = (1..).find_map(lost).unwrap();
        lock(&world.server).listed_after = 300;
        world.run(async {
            let mut spool = world.open();
            let keys = spool.submit(&questions(0..3)).await.unwrap();
            let (results, progress) = finish(&mut spool, &Kill::never()).await.unwrap();
            assert_eq!(texts(&keys, &results), answers(0..3));
            assert_eq!(lock(&world.server).batches.len(), 1, "{wire:?}");
            let said = "it is looked for at the server: it is not in the server's list yet";
            assert!(progress.problems[0].contains(said), "{progress:?}");
        });
    }
}

#[test]
fn a_batch_whose_results_are_away_for_an_hour_may_be_our_own() {
    let world = World::new(Wire::Anthropic);
    {
        let mut server = lock(&world.server);
        (server.lost_answers, server.expunged) = (1, Some(0));
    }
    world.run(async {
        let mut spool = world.open();
        let keys = spool.submit(&questions(0..3)).await.unwrap();
        let start = world.clock.elapsed();
        while world.clock.elapsed().saturating_sub(start) < HOUR {
            spool.poll().await.unwrap();
        }
        lock(&world.server).expunged = None;
        look_50_times(&mut spool).await;
        assert_eq!(texts(&keys, &spool.collect().unwrap()), answers(0..3));
    });
    assert_eq!(lock(&world.server).batches.len(), 1);
}

/// As of another account.
#[test]
fn a_list_without_a_known_batch_shows_nothing() {
    for wire in BOTH {
        let world = World::new(wire);
        {
            let mut server = lock(&world.server);
            (server.lost_answers, server.listed_after) = (1, 1_000_000);
        }
        world.run(async {
            let options = world.options(&Kill::never()).max_requests(3);
            let mut spool = Spool::open(&world.path(), options).unwrap();
            let keys = spool.submit(&questions(0..6)).await.unwrap();
            let start = world.clock.elapsed();
            while world.clock.elapsed().saturating_sub(start) < HOUR {
                spool.poll().await.unwrap();
            }
            lock(&world.server).listed_after = 0;
            look_50_times(&mut spool).await;
            assert_eq!(texts(&keys, &spool.collect().unwrap()), answers(0..6));
        });
        assert_eq!(lock(&world.server).batches.len(), 2, "{wire:?}");
    }
}

#[test]
fn a_list_without_an_end_is_left() {
    for wire in BOTH {
        let world = World::new(wire);
        lock(&world.server).lost_answers = 1;
        world.run(async {
            let mut spool = world.open();
            let keys = spool.submit(&questions(0..3)).await.unwrap();
            lock(&world.server).loops = true;
            let progress = spool.poll().await.unwrap();
            let said = "the server's list has no end";
            assert!(
                progress.problems.iter().any(|text| text.ends_with(said)),
                "{progress:?}"
            );
            assert!(
                lock(&world.server).lists < 10,
                "{}",
                lock(&world.server).lists
            );
            lock(&world.server).loops = false;
            look_50_times(&mut spool).await;
            assert_eq!(texts(&keys, &spool.collect().unwrap()), answers(0..3));
        });
        assert_eq!(lock(&world.server).batches.len(), 1, "{wire:?}");
    }
}

#[test]
fn a_lost_batch_without_a_label_is_found_over_after_a_cancellation() {
    let world = World::new(Wire::Anthropic);
    lock(&world.server).lost_answers = 1;
    world.run(async {
        let mut spool = world.open();
        let keys = spool.submit(&questions(0..3)).await.unwrap();
        spool.cancel().await.unwrap();
        let (results, progress) = finish(&mut spool, &Kill::never()).await.unwrap();
        assert_eq!(texts(&keys, &results), answers(0..3));
        let false_one = |text: &String| text.contains("not cancelled");
        assert!(!progress.problems.iter().any(false_one), "{progress:?}");
    });
}

#[test]
fn another_batch_without_results_does_not_end_the_search() {
    let world = World::new(Wire::Anthropic);
    lock(&world.server).lost_answers = 1;
    world.run(async {
        let mut spool = world.open();
        let keys = spool.submit(&questions(0..3)).await.unwrap();
        {
            let mut server = lock(&world.server);
            server.add_foreign(3, 0);
            server.expunged = Some(1);
        }
        look_50_times(&mut spool).await;
        assert_eq!(texts(&keys, &spool.collect().unwrap()), answers(0..3));
    });
    assert_eq!(lock(&world.server).submissions("text 0"), 1);
}

#[test]
fn a_batch_that_was_made_hours_later_is_not_waited_for() {
    let world = World::new(Wire::Anthropic);
    lock(&world.server).refusal = Some((500, "{}"));
    world.run(async {
        let mut spool = world.open();
        let keys = spool.submit(&questions(0..3)).await.unwrap();
        world.clock.advance(2 * HOUR);
        {
            let mut server = lock(&world.server);
            server.refusal = None;
            server.add_foreign(3, u32::MAX);
        }
        look_50_times(&mut spool).await;
        assert_eq!(texts(&keys, &spool.collect().unwrap()), answers(0..3));
    });
    assert_eq!(lock(&world.server).submissions("text 0"), 1);
}

#[test]
fn a_lost_batch_is_cancelled_when_it_is_found() {
    let world = World::new(Wire::Openai);
    {
        let mut server = lock(&world.server);
        (server.lost_answers, server.looks) = (1, u32::MAX);
    }
    world.run(async {
        let mut spool = world.open();
        spool.submit(&questions(0..3)).await.unwrap();
        spool.cancel().await.unwrap();
        look_50_times(&mut spool).await;
    });
    assert!(lock(&world.server).batches[0].is_cancelled);
}
