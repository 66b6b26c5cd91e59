//! A spool that is opened with other settings.

use llm_client::batch::{BatchOptions, Progress, Spool};
use llm_client::{Message, Request, Usd};

use super::server::lock;
use super::{COST, Kill, World, answers, finish, questions, table, texts};
use crate::faults::{BOTH, Wire};

const PREFIX: &str = "http://127.0.0.1:1/prefix";

#[test]
fn a_batch_is_not_looked_for_at_another_server() {
    for wire in BOTH {
        let world = World::new(wire);
        lock(&world.server).lost_answers = 1;
        world.run(async {
            let open = |host| {
                let client = world.client_at(host, &Kill::never()).build().unwrap();
                Spool::open(&world.path(), BatchOptions::new(client)).unwrap()
            };
            let host = "http://127.0.0.1:1";
            open(host).submit(&questions(0..3)).await.unwrap();
            let mut other = open(PREFIX);
            let keys = other.submit(&questions(0..3)).await.unwrap();
            for _ in 0..20 {
                let error = other.poll().await.unwrap_err().message();
                let named = format!("is at another server; open it with {}", provider(wire));
                assert!(error.contains(&named), "{error}");
            }
            drop(other);
            let mut spool = open(host);
            assert_eq!(spool.submit(&questions(0..3)).await.unwrap(), keys);
            let (results, _) = finish(&mut spool, &Kill::never()).await.unwrap();
            assert_eq!(texts(&keys, &results), answers(0..3));
        });
        assert_eq!(lock(&world.server).batches.len(), 1, "{wire:?}");
    }
}

fn provider(wire: Wire) -> &'static str {
    match wire {
        Wire::Anthropic => "anthropic http://127.0.0.1:1/v1/messages/batches",
        Wire::Openai => "openai http://127.0.0.1:1/v1/batches",
    }
}

/// The server checks the paths inside of the file.
#[test]
fn the_paths_in_a_batch_do_not_have_the_prefix_of_a_gateway() {
    let world = World::new(Wire::Openai);
    world.run(async {
        let client = world.client_at(PREFIX, &Kill::never()).build().unwrap();
        let mut spool = Spool::open(&world.path(), BatchOptions::new(client)).unwrap();
        let keys = spool.submit(&questions(0..3)).await.unwrap();
        let (results, _) = finish(&mut spool, &Kill::never()).await.unwrap();
        assert_eq!(texts(&keys, &results), answers(0..3));
    });
}

/// By the table of the next process the model does not take such a request.
#[test]
fn results_of_requests_that_are_refused_today_are_read() {
    for wire in BOTH {
        let world = World::new(wire);
        let prefilled = |request: Request| {
            let mut request = request;
            request.messages.push(Message::assistant("I"));
            request
        };
        let all: Vec<_> = questions(0..2).into_iter().map(prefilled).collect();
        let open = |prefill: bool| {
            let fields = format!(r#", "multipliers": {{"batch": "0.5"}}, "prefill": {prefill}"#);
            let client = world.client(&Kill::never()).models(table(&fields));
            let client = client.build().unwrap();
            let spool = Spool::open(&world.path(), BatchOptions::new(client.clone())).unwrap();
            (client, spool)
        };
        world.run(async {
            open(true).1.submit(&all).await.unwrap();
            let (client, mut spool) = open(false);
            finish(&mut spool, &Kill::never()).await.unwrap();
            let spend = client.spent();
            assert_eq!((spend.usd, spend.reserved), (Usd(2 * COST), Usd::ZERO));
            drop(spool);
            let progress = Progress::read(&world.path()).unwrap().unwrap();
            assert_eq!((progress.results, progress.batches), (2, 0), "{wire:?}");
            let (_, mut spool) = open(true);
            let keys = spool.submit(&all).await.unwrap();
            assert_eq!(texts(&keys, &spool.collect().unwrap()), answers(0..2));
        });
    }
}
