//! A process that ends at any step: rows B1 and B2.

use llm_client::batch::{BatchOptions, Spool};
use llm_client::{Error, Usd};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};

use super::server::{Mess, lock};
use super::{CAP, COST, Kill, Results, World, answers, finish, questions, texts};
use crate::faults::{BOTH, Wire};

/// The work of a process: two phases, whose requests go in batches of three.
async fn work(world: &World, kill: &Kill) -> Result<(Vec<String>, usize), Error> {
    let mut texts_of_all = Vec::new();
    let client = world.client_with_ledger(kill, CAP);
    let options = BatchOptions::new(client).disk(kill.disk()).max_requests(3);
    let mut spool = Spool::open(&world.path(), options)?;
    let mut again = 0;
    for phase in [0..5, 5..9] {
        let keys = spool.submit(&questions(phase)).await?;
        if kill.is_dead() {
            return Err(Error::protocol("killed"));
        }
        let (results, progress) = finish(&mut spool, kill).await?;
        let results: Results = results;
        texts_of_all.extend(texts(&keys, &results));
        again = progress.again;
    }
    Ok((texts_of_all, again))
}

/// Runs processes that end at these steps, then one that does not, and checks what the server got. Returns the number of
/// kills.
fn check(wire: Wire, mess: Mess, ends: &[u64]) -> usize {
    let world = World::new(wire);
    {
        let mut server = lock(&world.server);
        server.mess = mess;
        // Others use the same account, with batches of the same size.
        server.add_foreign(3, 0);
        server.add_foreign(3, 3);
    }
    let mut kills = 0;
    for end in ends {
        let kill = Kill::at(*end);
        let done = world.run(work(&world, &kill));
        if !kill.is_dead() {
            break;
        }
        assert!(done.is_err());
        kills += 1;
    }
    let (all, again) = world.run(work(&world, &Kill::never())).unwrap();
    assert_eq!(all, answers(0..9), "{wire:?} {ends:?}");
    assert_eq!(again, 0, "{wire:?} {ends:?}");
    let server = lock(&world.server);
    for n in 0..9 {
        let count = server.submissions(&format!("text {n}"));
        assert_eq!(count, 1, "{wire:?} {ends:?}: text {n}");
    }
    // One process may have reserved what another one settled.
    let spend = world.ledger().spent().unwrap();
    let (calls, unsettled) = (9, 0);
    let found = (spend.usd, spend.calls, spend.unsettled);
    assert_eq!(
        found,
        (Usd(9 * COST), calls, unsettled),
        "{wire:?} {ends:?}"
    );
    kills
}

/// The steps of a process that is not killed.
fn steps(wire: Wire, mess: Mess) -> u64 {
    let world = World::new(wire);
    lock(&world.server).mess = mess;
    let kill = Kill::never();
    world.run(work(&world, &kill)).unwrap();
    kill.steps()
}

/// Kills at each step, and at seeded triples of steps.
fn everywhere(wire: Wire, mess: Mess) {
    let steps = steps(wire, mess);
    let single: usize = (1..=steps).map(|at| check(wire, mess, &[at])).sum();
    let mut random = ChaCha20Rng::seed_from_u64(33);
    let mut next = || 1 + u64::from(random.next_u32()) % steps;
    let several: usize = (0..10)
        .map(|_| check(wire, mess, &[next(), next(), next()]))
        .sum();
    // In both forms together more than 200.
    assert!(single + several >= 110, "{wire:?}: {single} and {several}");
}

const MESS: Mess = Mess {
    doubled: true,
    reversed: true,
    foreign: true,
    cut: true,
};

#[test]
fn b1_a_kill_around_a_submission_of_messages_loses_nothing_and_submits_nothing_twice() {
    everywhere(Wire::Anthropic, Mess::default());
}

#[test]
fn b1_a_kill_around_a_submission_of_files_loses_nothing_and_submits_nothing_twice() {
    everywhere(Wire::Openai, Mess::default());
}

#[test]
fn b2_a_kill_while_bad_results_of_messages_are_collected_loses_nothing() {
    everywhere(Wire::Anthropic, MESS);
}

#[test]
fn b2_a_kill_while_bad_results_of_files_are_collected_loses_nothing() {
    everywhere(Wire::Openai, MESS);
}

#[test]
fn b2_results_that_are_cut_doubled_out_of_order_or_foreign_are_each_taken_once() {
    for wire in BOTH {
        let world = World::new(wire);
        lock(&world.server).mess = MESS;
        let (keys, results, problems) = world.run(async {
            let mut spool = world.open();
            let keys = spool.submit(&questions(0..3)).await.unwrap();
            let (results, progress) = finish(&mut spool, &Kill::never()).await.unwrap();
            (keys, results, progress.problems)
        });
        assert_eq!(texts(&keys, &results), answers(0..3));
        let has = |text: &str| problems.iter().any(|problem| problem.contains(text));
        assert!(
            has("results of other requests were ignored"),
            "{problems:?}"
        );
        assert!(has("of 3 results are missing"), "{problems:?}");
        let lines = std::fs::read_to_string(world.path()).unwrap();
        assert_eq!(lines.matches("\"result\":").count(), 3);
    }
}
