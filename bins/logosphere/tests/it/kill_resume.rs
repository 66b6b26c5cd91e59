//! A process that is killed at any moment has lost nothing but the answers that were on their way.

use std::collections::BTreeMap;
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use test_support::program::RandomNumbers;
use test_support::{MindFaults, MindMode, MindScript, MindStub};

use crate::journal::{self, calls, events, of_type, sha256, spooled};
use crate::program::{Place, finish, words};

const MINDS: usize = 4;
const ROUNDS: usize = 6;
const CALLS: usize = MINDS * ROUNDS;

/// The settings of the run.
struct Way {
    scheduling: &'static str,
    concurrency: usize,
    script: MindScript,
}

fn script() -> MindScript {
    MindScript {
        mode: MindMode::Mix,
        latency: Duration::from_millis(3),
        jitter: Duration::from_millis(3),
        ..MindScript::default()
    }
}

/// Returns the calls on the disk by the hash of the request: in the journal or the spool.
fn known(place: &Place) -> BTreeMap<String, (u64, u64)> {
    let journal = events(place, "E");
    let committed = calls(&journal).into_iter().cloned();
    let all = committed.chain(spooled(place, "E"));
    let key = |call: &Value| {
        let hash = call["request_sha256"].as_str().unwrap().to_owned();
        (
            hash,
            (
                call["round"].as_u64().unwrap(),
                call["mind_id"].as_u64().unwrap(),
            ),
        )
    };
    all.map(|call| key(&call)).collect()
}

fn arguments(way: &Way, seed: usize) -> Vec<String> {
    let line = format!(
        "run E --minds {MINDS} --rounds {ROUNDS} --samples 8 --seed {seed} --scheduling {} --concurrency {}",
        way.scheduling, way.concurrency
    );
    line.split(' ').map(str::to_owned).collect()
}

/// Continues the run: by `resume`, or by the same command if no event was written.
fn go_on(place: &Place, stub: &MindStub, arguments: &[String]) -> Child {
    if events(place, "E").is_empty() {
        let words: Vec<_> = arguments.iter().map(String::as_str).collect();
        place.start_asking(stub, &words)
    } else {
        place.start_resuming(stub, "E", &[])
    }
}

/// Kills the process some time after it has sent `requests` requests, unless it has ended. Returns whether it was
/// killed.
fn kill(child: &mut Child, stub: &MindStub, requests: usize, later: Duration) -> bool {
    until(|| stub.stats().requests >= requests || child.try_wait().unwrap().is_some());
    let moment = Instant::now() + later;
    while Instant::now() < moment {
        thread::yield_now();
    }
    let alive = child.try_wait().unwrap().is_none();
    child.kill().unwrap();
    child.wait().unwrap();
    // Its last request may still be on its way to the stub.
    stub.server().settle();
    alive
}

/// Looks again and again, for a minute at most.
fn until(mut met: impl FnMut() -> bool) {
    let start = Instant::now();
    while !met() {
        assert!(start.elapsed() < Duration::from_mins(1), "waited in vain");
        thread::yield_now();
    }
}

/// The results of runs that were killed.
#[derive(Debug, Default)]
struct Toll {
    kills: usize,
    /// Answers that were paid for and asked again.
    lost: usize,
    /// Answers that were taken from the spool.
    reused: usize,
}

/// One run with kills until it has ended.
fn killed_run(way: &Way, seed: usize, draws: &mut RandomNumbers) -> Toll {
    let place = Place::new();
    place.experiment("E");
    let arguments = arguments(way, seed);
    let stub = MindStub::start(way.script.clone());
    let mut asked_before = 0;
    let mut toll = Toll::default();
    loop {
        let before = known(&place);
        let mut child = go_on(&place, &stub, &arguments);
        let requests = asked_before + draws.below(8);
        let later = Duration::from_micros(draws.number() % 9_000);
        let killed = kill(&mut child, &stub, requests, later);
        // What the process asked, and what it has on the disk of that.
        let asked: Vec<_> = stub.requests().split_off(asked_before);
        asked_before += asked.len();
        let after = known(&place);
        let told = format!(
            "{} seed {seed}, kill {} at {requests} + {later:?}",
            way.scheduling, toll.kills
        );
        let mut bodies = BTreeMap::new();
        for request in &asked {
            *bodies.entry(sha256(&request.body)).or_insert(0) += 1;
        }
        for (body, times) in &bodies {
            assert!(
                !before.contains_key(body),
                "{told}: {:?} is asked again",
                before[body]
            );
            let attempts = if way.script.faults.is_some() { 2 } else { 1 };
            assert!(*times <= attempts, "{told}");
        }
        let lost_now = bodies
            .keys()
            .filter(|body| !after.contains_key(*body))
            .count();
        assert!(
            lost_now <= way.concurrency,
            "{told}: {lost_now} calls are lost"
        );
        assert!(
            before.keys().all(|body| after.contains_key(body)),
            "{told}: a call is gone"
        );
        if !killed {
            break;
        }
        toll.lost += lost_now;
        toll.kills += 1;
    }
    // It has ended, or was not there to be killed: nothing is left to do in either case.
    if of_type(&events(&place, "E"), "experiment_end").is_empty() {
        finish(go_on(&place, &stub, &arguments)).exits(0);
    }
    let events = events(&place, "E");
    assert_eq!(calls(&events).len(), CALLS);
    assert_eq!(
        known(&place).len(),
        CALLS,
        "no two prompts of this run are equal"
    );
    if way.script.faults.is_none() {
        assert_eq!(stub.stats().requests, CALLS + toll.lost, "seed {seed}");
    }
    let whole = Place::new();
    whole.experiment("E");
    let words: Vec<_> = arguments.iter().map(String::as_str).collect();
    whole.asking(&stub, &words).exits(0);
    let [a, b] = [&whole, &place].map(|place| place.path(&journal::path("E")));
    let [a, b] = [a.to_str().unwrap(), b.to_str().unwrap()];
    place.alone(&["diff", a, b]).exits(0);
    place.alone(&["verify", b]).exits(0);
    let resumed = of_type(&events, "run_resumed").into_iter();
    toll.reused = resumed
        .map(|event| event["reused_calls"].as_u64().unwrap() as usize)
        .sum();
    toll
}

/// Runs until there were `kills` kills, with at most as many runs.
fn kills(way: &Way, first_seed: usize, kills: usize) -> Toll {
    let mut draws = RandomNumbers(first_seed as u64);
    let mut all = Toll::default();
    let mut runs = 0;
    while all.kills < kills {
        assert!(runs < kills, "of {runs} runs few were killed: {all:?}");
        let toll = killed_run(way, first_seed + runs, &mut draws);
        all.kills += toll.kills;
        all.lost += toll.lost;
        all.reused += toll.reused;
        runs += 1;
    }
    println!("{runs} runs: {all:?}");
    all
}

fn sequential() -> Way {
    Way {
        scheduling: "sequential",
        concurrency: 1,
        script: script(),
    }
}

fn snapshot() -> Way {
    Way {
        scheduling: "snapshot",
        concurrency: 3,
        script: script(),
    }
}

fn faulty() -> Way {
    Way {
        scheduling: "snapshot",
        concurrency: 4,
        script: MindScript {
            faults: Some(MindFaults {
                fault: test_support::MindFault::Server,
                ..MindFaults::once(0.3)
            }),
            ..script()
        },
    }
}

// Thirty kills, in parts that run side by side.

#[test]
fn thirty_kills_sequential() {
    kills(&sequential(), 100, 10);
}

#[test]
fn thirty_kills_snapshot() {
    kills(&snapshot(), 200, 10);
}

#[test]
fn thirty_kills_with_faults() {
    kills(&faulty(), 300, 10);
}

#[test]
#[ignore = "half a minute; the same with fewer kills runs always"]
fn three_hundred_kills() {
    let tolls = [
        kills(&sequential(), 1_000, 100),
        kills(&snapshot(), 2_000, 100),
        kills(&faulty(), 3_000, 100),
    ];
    // The moments are not all alike: some cost an answer, and at some an answer lies in the spool.
    assert!(tolls.iter().all(|toll| toll.lost > 0), "{tolls:?}");
    assert!(tolls.iter().any(|toll| toll.reused > 0), "{tolls:?}");
}

/// Answers that lie in the spool when the process dies are taken from there.
#[test]
fn spooled_answers_are_not_asked_for_again() {
    let place = Place::new();
    place.experiment("E");
    // One answer is held; those of the other minds wait for it in the spool.
    let stub = MindStub::start(MindScript {
        hold: 0..1,
        ..MindScript::default()
    });
    let run = "run E --minds 4 --rounds 2 --scheduling snapshot --concurrency 4 --seed 1";
    let mut child = place.start_asking(&stub, &words(run));
    until(|| spooled(&place, "E").len() == 3);
    child.kill().unwrap();
    child.wait().unwrap();
    let kept: Vec<_> = known(&place).into_keys().collect();
    assert_eq!((kept.len(), stub.stats().requests), (3, 4));
    stub.release();
    stub.forget();
    place.resuming(&stub, "E", &[]).exits(0);
    assert_eq!(stub.stats().requests, 5);
    let asked = stub.requests();
    assert!(
        asked
            .iter()
            .all(|request| !kept.contains(&sha256(&request.body)))
    );
    let events = events(&place, "E");
    let resumed = of_type(&events, "run_resumed");
    assert_eq!(
        (resumed.len(), &resumed[0]["reused_calls"]),
        (1, &Value::from(3))
    );
    assert_eq!(
        (&resumed[0]["round"], &resumed[0]["next_mind"]),
        (&Value::from(1), &Value::from(0))
    );
}
