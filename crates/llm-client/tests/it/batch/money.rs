//! An account that a process leaves in another state than its spool.

use llm_client::batch::{BatchOptions, Spool};
use llm_client::{Budget, Usd};

use super::server::{Outcome, lock};
use super::{CAP, COST, Kill, World, finish, questions};
use crate::faults::{BOTH, Wire};

/// The last line of the ledger is lost with the power.
#[test]
fn a_settlement_that_is_lost_is_made_up_for() {
    for wire in BOTH {
        let world = World::new(wire);
        world.run(async {
            let client = world.client_with_ledger(&Kill::never(), CAP);
            let mut spool = Spool::open(&world.path(), BatchOptions::new(client)).unwrap();
            spool.submit(&questions(0..3)).await.unwrap();
            finish(&mut spool, &Kill::never()).await.unwrap();
        });
        let lines = std::fs::read_to_string(world.ledger().path()).unwrap();
        let (first, last) = lines.trim_end().rsplit_once('\n').unwrap();
        assert!(last.contains("settle"), "{last}");
        std::fs::write(world.ledger().path(), format!("{first}\n")).unwrap();
        let client = world.client_with_ledger(&Kill::never(), CAP);
        let spool = Spool::open(&world.path(), BatchOptions::new(client.clone())).unwrap();
        let spend = client.spent();
        let found = (spend.usd, spend.reserved, spend.calls, spend.unsettled);
        assert_eq!(found, (Usd(3 * COST), Usd::ZERO, 3, 0), "{wire:?}");
        drop((spool, client));
        assert_eq!(world.ledger().spent().unwrap().usd, Usd(3 * COST));
    }
}

/// The process ends after the refund and before the line in the spool, and then the batch is found.
#[test]
fn a_batch_that_is_found_after_a_refund_is_paid() {
    let world = World::new(Wire::Openai);
    world.run(async {
        let client = world.client_with_ledger(&Kill::never(), CAP);
        let mut spool = Spool::open(&world.path(), BatchOptions::new(client)).unwrap();
        spool.submit(&questions(0..3)).await.unwrap();
    });
    let mut lines = std::fs::read_to_string(world.ledger().path()).unwrap();
    let line = r#"{"schema_version":1,"id":"0000000000000000","settle":{"nano_usd":0,"tokens":0,"how":"refund"}}"#;
    lines.push_str(line);
    lines.push('\n');
    std::fs::write(world.ledger().path(), lines).unwrap();
    world.run(async {
        let client = world.client_with_ledger(&Kill::never(), CAP);
        let mut spool = Spool::open(&world.path(), BatchOptions::new(client.clone())).unwrap();
        assert!(client.spent().reserved > Usd::ZERO);
        spool.submit(&questions(0..3)).await.unwrap();
        finish(&mut spool, &Kill::never()).await.unwrap();
        let spend = client.spent();
        assert_eq!((spend.usd, spend.calls), (Usd(3 * COST), 3));
    });
}

#[test]
fn a_ledger_that_comes_after_the_spool_is_refused() {
    let world = World::new(Wire::Anthropic);
    world.run(async {
        let budget = Budget::default().usd(Some(Usd(CAP)));
        let client = world.client(&Kill::never()).budget(budget).build().unwrap();
        let mut spool = Spool::open(&world.path(), BatchOptions::new(client.clone())).unwrap();
        spool.submit(&questions(0..2)).await.unwrap();
        let error = client.keep_ledger(&world.ledger()).unwrap_err();
        let text = "ledger: it is kept too late for the batches under way";
        assert!(error.message().starts_with(text), "{error}");
        finish(&mut spool, &Kill::never()).await.unwrap();
        assert_eq!(client.spent().usd, Usd(2 * COST));
        client.keep_ledger(&world.ledger()).unwrap();
    });
}

/// Two of four requests are answered and one of these has no result, nor have those without an answer.
#[test]
fn only_as_many_missing_answers_are_paid_as_the_server_counts() {
    for wire in BOTH {
        let world = World::new(wire);
        lock(&world.server).outcome = Box::new(|text, before| match (text, before) {
            ("text 0", 0) => Outcome::Lost,
            ("text 1" | "text 2", 0) => Outcome::Dropped,
            _ => Outcome::Reply,
        });
        world.run(async {
            let client = world.client_with_ledger(&Kill::never(), CAP);
            let mut spool = Spool::open(&world.path(), BatchOptions::new(client.clone())).unwrap();
            spool.submit(&questions(0..4)).await.unwrap();
            let (results, _) = finish(&mut spool, &Kill::never()).await.unwrap();
            assert_eq!(results.len(), 4);
            // Four known costs, and one longest reply of 100 tokens with its prompt.
            let more = client.spent().usd.0 - 4 * COST;
            let reply = 100 * 20_000 / 2;
            assert!((reply..2 * reply).contains(&more), "{wire:?}: {more}");
        });
    }
}
