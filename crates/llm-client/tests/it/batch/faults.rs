//! Servers that fail: rows B3 to B6, and what a server may not do to its client.

use std::error::Error as _;
use std::sync::Arc;
use std::time::Duration;

use durable::LockError;
use llm_client::batch::{BatchOptions, Spool};
use llm_client::{Client, Clock as _, Echo, ErrorClass, ReplySource};

use super::server::{Outcome, lock};
use super::{HOUR, Kill, World, answers, finish, question, questions, texts};
use crate::faults::{BOTH, KEY, Wire};

#[test]
fn b3_a_second_process_is_told_that_the_spool_is_in_use() {
    let world = World::new(Wire::Anthropic);
    let first = world.open();
    let second = || Spool::open(&world.path(), world.options(&Kill::never()));
    let error = second().err().unwrap();
    assert_eq!(error.class(), ErrorClass::BadRequest);
    let source = error.source().unwrap().downcast_ref::<LockError>();
    let own = std::process::id();
    assert!(matches!(source, Some(LockError::Held { pid: Some(pid) }) if *pid == own));
    assert!(
        error
            .message()
            .contains("spool.jsonl: another process works")
    );
    drop(first);
    assert!(second().is_ok());
}

#[test]
fn b4_an_hour_without_answers_is_waited_for_and_nothing_is_submitted_again() {
    let outages = [
        (503, r#"{"error":{"message":"busy"}}"#),
        (429, r#"{"error":{"message":"slowly"}}"#),
        (404, r#"{"error":{"message":"not found"}}"#),
        (200, "<html>please wait</html>"),
    ];
    for wire in BOTH {
        for outage in outages {
            let world = World::new(wire);
            world.run(async {
                let mut spool = world.open();
                let keys = spool.submit(&questions(0..3)).await.unwrap();
                lock(&world.server).outage = Some(outage);
                let (mut times, mut polls) = (Vec::new(), 0);
                let start = world.clock.elapsed();
                let elapsed = || world.clock.elapsed().saturating_sub(start);
                while elapsed() < HOUR {
                    let progress = spool.poll().await.unwrap();
                    assert_eq!((progress.batches, progress.waiting), (1, 0));
                    assert_eq!(progress.problems.len(), 1, "{progress:?}");
                    times.push(elapsed().as_secs());
                    polls += 1;
                }
                // 5 s, doubled up to 5 minutes.
                assert_eq!(
                    times[..9],
                    [0, 5, 15, 35, 75, 155, 315, 615, 915],
                    "{times:?}"
                );
                assert!(polls < 25, "{polls}");
                lock(&world.server).outage = None;
                let (results, _) = finish(&mut spool, &Kill::never()).await.unwrap();
                assert_eq!(texts(&keys, &results), answers(0..3));
                assert_eq!(lock(&world.server).batches.len(), 1);
            });
        }
    }
}

#[test]
fn b4_an_hour_without_results_is_waited_for_and_nothing_is_submitted_again() {
    let outages = [
        (503, "{}"),
        (429, "{}"),
        (404, "{}"),
        (200, "<html>wait</html>"),
    ];
    for (wire, outage) in BOTH.iter().flat_map(|wire| outages.map(|it| (*wire, it))) {
        let world = World::new(wire);
        lock(&world.server).results_outage = Some(outage);
        world.run(async {
            let mut spool = world.open();
            let keys = spool.submit(&questions(0..3)).await.unwrap();
            let start = world.clock.elapsed();
            while world.clock.elapsed().saturating_sub(start) < HOUR {
                let progress = spool.poll().await.unwrap();
                assert_eq!((progress.batches, progress.results), (1, 0));
            }
            lock(&world.server).results_outage = None;
            let (results, _) = finish(&mut spool, &Kill::never()).await.unwrap();
            assert_eq!(texts(&keys, &results), answers(0..3));
        });
        assert_eq!(lock(&world.server).batches.len(), 1, "{wire:?}: {outage:?}");
    }
}

#[test]
fn b5_the_half_that_expired_goes_again_and_the_report_says_how_many() {
    for wire in BOTH {
        let world = World::new(wire);
        let expires = |text: &str, before| match before {
            0 if text.ends_with(['0', '2', '4']) => Outcome::Expired,
            _ => Outcome::Reply,
        };
        lock(&world.server).outcome = Box::new(expires);
        world.run(async {
            let mut spool = world.open();
            let keys = spool.submit(&questions(0..6)).await.unwrap();
            let (results, progress) = finish(&mut spool, &Kill::never()).await.unwrap();
            assert_eq!(texts(&keys, &results), answers(0..6));
            assert_eq!(progress.again, 3);
            assert_eq!(
                progress.to_string(),
                "6 of 6 results are in, 3 requests went again"
            );
        });
        let server = lock(&world.server);
        let sizes: Vec<_> = server
            .batches
            .iter()
            .map(|batch| batch.requests.len())
            .collect();
        assert_eq!(sizes, [6, 3]);
    }
}

#[test]
fn a_request_goes_again_three_times_and_then_has_its_error() {
    for (outcome, class) in [
        (Outcome::Expired, ErrorClass::Timeout),
        (Outcome::Lost, ErrorClass::Timeout),
        (Outcome::Busy, ErrorClass::Overloaded),
    ] {
        for wire in BOTH {
            let world = World::new(wire);
            let fails = move |text: &str, _| match text {
                "text 1" => outcome,
                _ => Outcome::Reply,
            };
            lock(&world.server).outcome = Box::new(fails);
            let class = match (outcome, wire) {
                (Outcome::Busy, Wire::Openai) => ErrorClass::Server,
                _ => class,
            };
            world.run(async {
                let mut spool = world.open();
                spool.submit(&questions(0..3)).await.unwrap();
                let (results, progress) = finish(&mut spool, &Kill::never()).await.unwrap();
                let errors: Vec<_> = results
                    .iter()
                    .filter_map(|(_, result)| result.as_ref().err())
                    .collect();
                assert_eq!((results.len(), errors.len()), (3, 1));
                assert_eq!(errors[0].class(), class, "{:?}", errors[0]);
                assert_eq!(progress.again, 3);
            });
            assert_eq!(lock(&world.server).submissions("text 1"), 4);
            assert_eq!(lock(&world.server).submissions("text 0"), 1);
        }
    }
}

#[test]
fn b6_a_refused_request_has_its_error_and_the_others_their_replies() {
    for wire in BOTH {
        let world = World::new(wire);
        let refused = |text: &str, _| match text {
            "text 1" => Outcome::Refused,
            _ => Outcome::Reply,
        };
        lock(&world.server).outcome = Box::new(refused);
        let check = |spool: &mut Spool, keys: &[llm_client::batch::Key]| {
            let results = spool.collect().unwrap();
            let (_, failed) = results.iter().find(|(key, _)| *key == keys[1]).unwrap();
            let error = failed.as_ref().unwrap_err();
            assert_eq!(
                (error.class(), error.status()),
                (ErrorClass::BadRequest, Some(400))
            );
            // As of a call.
            let [attempt] = error.attempts() else {
                panic!("{error:?}")
            };
            assert_eq!(attempt.class, Some(ErrorClass::BadRequest));
            assert!(
                error.message().contains("max_tokens is too large"),
                "{error:?}"
            );
            assert_eq!(
                results.iter().filter(|(_, result)| result.is_ok()).count(),
                2
            );
        };
        world.run(async {
            let mut spool = world.open();
            let keys = spool.submit(&questions(0..3)).await.unwrap();
            while !spool.poll().await.unwrap().is_done() {}
            check(&mut spool, &keys);
            drop(spool);
            // The same from the file.
            let mut spool = world.open();
            spool.submit(&questions(0..3)).await.unwrap();
            check(&mut spool, &keys);
        });
        assert_eq!(lock(&world.server).batches.len(), 1);
    }
}

#[test]
fn a_batch_of_unknown_outcome_is_submitted_again_at_once_only_if_that_is_asked_for() {
    for wire in BOTH {
        // The answer to the submission is lost: the process ends at the first step at which the server has the batch.
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
        lock(&world.server).looks = 1;
        world.run(async {
            let options = world.options(&Kill::never()).resubmit(true);
            let mut spool = Spool::open(&world.path(), options).unwrap();
            let keys = spool.submit(&questions(0..3)).await.unwrap();
            let (results, progress) = finish(&mut spool, &Kill::never()).await.unwrap();
            assert_eq!(texts(&keys, &results), answers(0..3));
            let submitted = lock(&world.server).submissions("text 0");
            let says = progress
                .problems
                .iter()
                .any(|text| text.contains("may be paid twice"));
            match wire {
                // It runs, and has no label.
                Wire::Anthropic => assert_eq!((submitted, says), (2, true)),
                Wire::Openai => assert_eq!((submitted, says), (1, false)),
            }
        });
    }
}

#[test]
fn a_batch_that_the_server_forgot_is_given_up_at_its_age() {
    let world = World::new(Wire::Openai);
    world.run(async {
        let options = world.options(&Kill::never()).max_age(HOUR);
        let mut spool = Spool::open(&world.path(), options).unwrap();
        spool.submit(&questions(0..2)).await.unwrap();
        lock(&world.server).outage = Some((404, "{}"));
        let start = world.clock.elapsed();
        while lock(&world.server).batches.len() == 1 {
            spool.poll().await.unwrap();
        }
        let waited = world.clock.elapsed().saturating_sub(start);
        assert!(
            waited > HOUR && waited < HOUR + Duration::from_mins(6),
            "{waited:?}"
        );
        lock(&world.server).outage = None;
        let (results, progress) = finish(&mut spool, &Kill::never()).await.unwrap();
        assert_eq!((results.len(), progress.again), (2, 2));
    });
}

#[test]
fn a_batch_that_runs_for_ever_is_ended_at_its_age() {
    for wire in BOTH {
        let world = World::new(wire);
        lock(&world.server).looks = u32::MAX;
        world.run(async {
            let options = world.options(&Kill::never()).max_age(HOUR);
            let mut spool = Spool::open(&world.path(), options).unwrap();
            let keys = spool.submit(&questions(0..2)).await.unwrap();
            let start = world.clock.elapsed();
            while world.clock.elapsed().saturating_sub(start) < 2 * HOUR {
                spool.poll().await.unwrap();
                lock(&world.server).looks = 2;
            }
            assert_eq!(texts(&keys, &spool.collect().unwrap()), answers(0..2));
        });
        let server = lock(&world.server);
        assert_eq!(server.batches.len(), 2, "{wire:?}");
        assert!(server.batches[0].is_cancelled);
    }
}

#[test]
fn a_damaged_line_is_named_and_a_torn_one_is_cut_off() {
    let world = World::new(Wire::Anthropic);
    drop(world.open());
    let good = std::fs::read_to_string(world.path()).unwrap();
    std::fs::write(world.path(), format!("{good}{{\"schema_ver")).unwrap();
    drop(world.open());
    assert_eq!(std::fs::read_to_string(world.path()).unwrap(), good);
    let closed = r#"{"schema_version":1,"t":"2026-11-22T00:00:00Z","closed":{"batch":"x-1","state":"ended"}}"#;
    for (line, named) in [
        ("nonsense", "line 2: "),
        (
            r#"{"schema_version":2,"t":"2026-11-22T00:00:00Z"}"#,
            "schema_version is 2",
        ),
        (closed, "the batch x-1 was not begun"),
    ] {
        std::fs::write(world.path(), format!("{good}{line}\n")).unwrap();
        let error = Spool::open(&world.path(), world.options(&Kill::never()));
        let text = error.err().unwrap().message();
        assert!(
            text.contains(named) && text.contains("spool.jsonl"),
            "{text}"
        );
    }
}

#[test]
fn a_key_that_the_server_sends_back_is_not_in_the_file() {
    for wire in BOTH {
        let world = World::new(wire);
        let text = format!("say {KEY}");
        world.run(async {
            let mut spool = world.open();
            let results = {
                spool
                    .submit(&[question("text 0"), question(&text)])
                    .await
                    .unwrap();
                finish(&mut spool, &Kill::never()).await.unwrap().0
            };
            assert_eq!(results.len(), 2);
        });
        let file = std::fs::read_to_string(world.path()).unwrap();
        // The request is the caller's own text.
        let results = file.lines().filter(|line| !line.contains("\"planned\""));
        for line in results {
            assert!(!line.contains(KEY), "{line}");
        }
        assert!(file.contains("re: say [redacted]"));
    }
}

#[test]
fn a_provider_without_batches_answers_calls() {
    let world = World::new(Wire::Anthropic);
    let open = |provider: Arc<Echo>| {
        let client = Client::builder(provider, Arc::new(world.clock.clone())).build();
        Spool::open(&world.path(), BatchOptions::new(client.unwrap())).unwrap()
    };
    world.run(async {
        let mut spool = open(Arc::new(Echo::new(1)));
        let keys = spool.submit(&questions(0..40)).await.unwrap();
        assert_eq!(spool.progress().waiting, 40);
        let (results, _) = finish(&mut spool, &Kill::never()).await.unwrap();
        assert_eq!(results.len(), 40);
        let first = &results.iter().find(|(key, _)| *key == keys[0]).unwrap().1;
        let first = first.as_ref().unwrap();
        assert_eq!(first.source, ReplySource::Offline("echo".to_owned()));
        drop(spool);
        // What is in the file is not asked again.
        let mut spool = open(Arc::new(Echo::new(1)));
        spool.submit(&questions(0..40)).await.unwrap();
        assert!(spool.progress().is_done());
        let again = spool.collect().unwrap();
        assert_eq!(
            again
                .iter()
                .find(|(key, _)| *key == keys[0])
                .unwrap()
                .1
                .as_ref()
                .unwrap(),
            first
        );
    });
}

/// A file of results that is cut is read again before its requests go again, whatever the state of the batch is.
#[test]
fn results_of_a_batch_that_expired_are_not_believed_at_once() {
    for wire in BOTH {
        let world = World::new(wire);
        {
            let mut server = lock(&world.server);
            server.mess.cut = true;
            server.outcome = Box::new(|text, before| match (text, before) {
                ("text 0", 0) => Outcome::Expired,
                _ => Outcome::Reply,
            });
        }
        world.run(async {
            let mut spool = world.open();
            let keys = spool.submit(&questions(0..4)).await.unwrap();
            let (results, progress) = finish(&mut spool, &Kill::never()).await.unwrap();
            assert_eq!(texts(&keys, &results), answers(0..4));
            assert_eq!(progress.again, 1);
        });
        let server = lock(&world.server);
        let counts = [0, 1, 2, 3].map(|n| server.submissions(&format!("text {n}")));
        assert_eq!(counts, [2, 1, 1, 1], "{wire:?}");
    }
}

#[test]
fn one_failure_after_the_age_of_a_batch_does_not_give_it_up() {
    for wire in BOTH {
        let world = World::new(wire);
        lock(&world.server).looks = u32::MAX;
        world.run(async {
            let options = world.options(&Kill::never()).max_age(HOUR);
            let mut spool = Spool::open(&world.path(), options).unwrap();
            let keys = spool.submit(&questions(0..2)).await.unwrap();
            world.clock.advance(2 * HOUR);
            lock(&world.server).outage = Some((503, "{}"));
            for _ in 0..3 {
                spool.poll().await.unwrap();
            }
            {
                let mut server = lock(&world.server);
                server.outage = None;
                server.batches[0].looks = 1;
            }
            let (results, _) = finish(&mut spool, &Kill::never()).await.unwrap();
            assert_eq!(texts(&keys, &results), answers(0..2));
        });
        assert_eq!(lock(&world.server).batches.len(), 1, "{wire:?}");
    }
}
