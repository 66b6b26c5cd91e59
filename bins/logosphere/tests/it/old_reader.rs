//! The journal as a reader sees it who knows only the requirement: five types, their fields, nothing else.

use serde::Deserialize;
use test_support::{MindMode, MindScript, MindStub};

use crate::journal::path;
use crate::program::{Place, SEEDS, words};

#[derive(Deserialize)]
struct Config {
    #[serde(rename = "N_MINDS")]
    n_minds: usize,
    #[serde(rename = "K_SAMPLES")]
    k_samples: usize,
    #[serde(rename = "M_ACTIVE_POOL")]
    m_active_pool: usize,
    #[serde(rename = "MAX_ROUNDS")]
    max_rounds: usize,
    #[serde(rename = "TOKEN_LIMIT")]
    token_limit: u32,
    #[serde(rename = "MODEL")]
    model: String,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Event {
    ExperimentStart {
        config: Config,
        init_signature: String,
        num_seed_messages: usize,
    },
    RoundStart {
        round: usize,
        pool_size: usize,
        active_pool_size: usize,
    },
    MindInvocation {
        round: usize,
        mind_id: usize,
        input_messages: Vec<String>,
        thinking: String,
        transmitted: Vec<String>,
        completed: bool,
        signature: String,
        tokens_used: u64,
        raw_output: String,
    },
    RoundEnd {
        round: usize,
        messages_added: usize,
        pool_delta: Vec<String>,
    },
    ExperimentEnd {
        total_rounds: usize,
        final_pool_size: usize,
        total_tokens: u64,
    },
    #[serde(other)]
    Other,
}

/// Rebuilds the pool from nothing but the lines and checks every count on the way. The calls that added messages.
fn rebuild(journal: &str, seeds: &[String], snapshot: bool) -> usize {
    let mut lines = journal.lines().map(|line| {
        let time = serde_json::from_str::<serde_json::Value>(line).unwrap()["timestamp"].clone();
        let time = time.as_str().unwrap().to_owned();
        assert!(time.len() == 24 && time.ends_with('Z'), "{time}");
        serde_json::from_str::<Event>(line).unwrap()
    });
    let Some(Event::ExperimentStart {
        config,
        init_signature,
        num_seed_messages,
    }) = lines.next()
    else {
        panic!("the first line is the start");
    };
    assert_eq!(init_signature, "~init");
    assert_eq!(num_seed_messages, seeds.len());
    assert_eq!((config.token_limit, config.model.as_str()), (2000, "m"));
    let mut pool = seeds.to_vec();
    let mut at_start = pool.len();
    let mut sent = Vec::new();
    let (mut rounds, mut minds, mut tokens, mut senders) = (0, 0, 0, 0);
    let mut ended = false;
    for event in lines {
        assert!(!ended, "nothing comes after the end");
        match event {
            Event::ExperimentStart { .. } => panic!("two starts"),
            Event::RoundStart {
                round,
                pool_size,
                active_pool_size,
            } => {
                rounds += 1;
                minds = 0;
                at_start = pool.len();
                assert_eq!((round, pool_size), (rounds, pool.len()));
                assert_eq!(active_pool_size, pool.len().min(config.m_active_pool));
            }
            Event::MindInvocation {
                round,
                mind_id,
                input_messages,
                thinking,
                transmitted,
                completed,
                signature,
                tokens_used,
                raw_output,
            } => {
                assert_eq!((round, mind_id), (rounds, minds));
                minds += 1;
                let seen = if snapshot { at_start } else { pool.len() };
                let visible = &pool[seen.saturating_sub(config.m_active_pool)..seen];
                assert_eq!(input_messages.len(), config.k_samples.min(visible.len()));
                for message in &input_messages {
                    assert!(visible.contains(message), "{message}");
                }
                assert!(raw_output.starts_with(&thinking), "{raw_output}");
                assert!(completed || (transmitted.is_empty() && signature.is_empty()));
                let stamp = format!("\n\n{signature}");
                assert!(
                    signature.is_empty() || transmitted.iter().all(|text| text.ends_with(&stamp))
                );
                senders += usize::from(!transmitted.is_empty());
                tokens += tokens_used;
                // What minds send is in the pool when they have sent it.
                sent.extend(transmitted.clone());
                pool.extend(transmitted);
            }
            Event::RoundEnd {
                round,
                messages_added,
                pool_delta,
            } => {
                assert_eq!((round, minds), (rounds, config.n_minds));
                assert_eq!(messages_added, sent.len());
                assert_eq!(pool_delta, sent);
                sent.clear();
            }
            Event::ExperimentEnd {
                total_rounds,
                final_pool_size,
                total_tokens,
            } => {
                assert_eq!(
                    (total_rounds, rounds),
                    (config.max_rounds, config.max_rounds)
                );
                assert_eq!((final_pool_size, total_tokens), (pool.len(), tokens));
                ended = true;
            }
            Event::Other => panic!("an undisturbed run has five types of events"),
        }
    }
    assert!(ended);
    senders
}

#[test]
fn the_pool_of_every_round_can_be_rebuilt() {
    let stub = MindStub::start(MindScript {
        mode: MindMode::Mix,
        ..MindScript::default()
    });
    for scheduling in ["sequential", "snapshot"] {
        let place = Place::new();
        place.experiment("E");
        let run = format!("run E --minds 5 --rounds 8 --seed 3 --scheduling {scheduling}");
        let run = words(&run);
        place.asking(&stub, &run).exits(0);
        let seeds = SEEDS.map(|seed| format!("{seed}\n\n~init"));
        let senders = rebuild(&place.read(&path("E")), &seeds, scheduling == "snapshot");
        // The messages outgrow the window, and some calls send nothing.
        assert!((15..40).contains(&senders), "{senders}");
    }
}
