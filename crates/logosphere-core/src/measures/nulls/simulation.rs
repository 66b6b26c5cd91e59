//! Runs of copiers, without prompts and journals.

use crate::format::{Reason, without_signature};
use crate::mind::invented;
use crate::pool::{MessageId, MindId, Round, SampleRng};
use crate::verify::{EndedRound, Message, MindCall, Transcript};

use super::drift::{Drift, DriftRules, Source};

/// A run of copiers that write one message per call.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a null model has these numbers and no defaults"
)]
pub struct Simulation {
    /// The number of minds (N).
    pub minds: u32,
    /// The largest number of messages that a mind reads (K).
    pub samples: usize,
    /// The number of messages that can be read (M).
    pub active: usize,
    /// Whether all minds of a round read the pool as it was when the round began.
    pub snapshot: bool,
    /// The number of rounds.
    pub rounds: u32,
    /// The seed messages as the pool stores them.
    pub seeds: Vec<String>,
    /// The probability that a message is new, 0 to 1.
    pub mu: f64,
    /// The random seed that every random choice is derived from.
    pub seed: u64,
}

/// Simulates a run. The same settings give the same run.
pub fn simulate(settings: &Simulation) -> Transcript {
    let seeds = settings.seeds.iter().map(|text| Message {
        text: text.clone(),
        round: Round::default(),
        call: None,
    });
    let mut plan = Transcript {
        minds: settings.minds,
        samples: settings.samples,
        active: settings.active,
        snapshot: settings.snapshot,
        seed: settings.seed,
        seeds: settings.seeds.len(),
        messages: seeds.collect(),
        ..Transcript::default()
    };
    for round in (1..=settings.rounds).map(Round) {
        for mind in MindId::default().of(settings.minds) {
            let call = plan.calls.len();
            plan.calls.push(MindCall {
                added: vec![MessageId::at(plan.messages.len())],
                ..MindCall::new(round, mind)
            });
            plan.messages.push(Message {
                text: String::new(),
                round,
                call: Some(call),
            });
        }
        plan.rounds.push(EndedRound {
            round,
            pool_size: plan.messages.len(),
        });
    }
    let mut rng = super::drift::rng("simulation", settings.seed, 0);
    copied(&plan, settings.mu, Source::Pool, &[], &mut rng)
}

/// Returns the run `plan` as if its minds were copiers: the same seed messages, calls and numbers of messages.
///
/// Samples are drawn again, and messages are copies or new. New messages are those of `new` in their order, each once.
/// After that a new word is appended to one of them, or is used alone if `new` is empty.
pub(super) fn copied(
    plan: &Transcript,
    mu: f64,
    source: Source,
    new: &[String],
    rng: &mut SampleRng,
) -> Transcript {
    let rules = DriftRules {
        samples: plan.samples,
        active: plan.active,
        mu,
        source,
    };
    // Each seed is a kind of its own here; equal ones are equal texts again below.
    let seeds: Vec<_> = (0..plan.seeds as u32).collect();
    let mut drift = Drift::new(rules, &seeds, SampleRng::keyed(key(rng)));
    let mut texts: Vec<String> = (plan.messages.iter().take(plan.seeds))
        .map(|seed| without_signature(&seed.text).to_owned())
        .collect();
    let mut run = Transcript {
        messages: plan.messages[..plan.seeds].to_vec(),
        calls: Vec::with_capacity(plan.calls.len()),
        ..without_content(plan)
    };
    let mut unused = new.iter();
    let mut view = drift.readable();
    let mut round = None;
    for (at, call) in plan.calls.iter().enumerate() {
        if !plan.snapshot || round != Some(call.round) {
            view = drift.readable();
            round = Some(call.round);
        }
        let read = drift.call(&view, call.added.len());
        for &kind in &drift.kinds()[run.messages.len()..] {
            while texts.len() <= kind as usize {
                texts.push(match unused.next() {
                    Some(text) => text.clone(),
                    None if new.is_empty() => invented(rng),
                    None => {
                        let text = &new[rng.below(new.len() as u64) as usize];
                        format!("{text} {}", invented(rng))
                    }
                });
            }
            run.messages.push(Message {
                text: texts[kind as usize].clone(),
                round: call.round,
                call: Some(at),
            });
        }
        run.calls.push(MindCall {
            sampled: read.into_iter().map(MessageId::at).collect(),
            added: call.added.clone(),
            reason: if call.added.is_empty() {
                Reason::Silence
            } else {
                Reason::Ok
            },
            ..MindCall::new(call.round, call.mind)
        });
    }
    run
}

/// Returns the facts of a run without its messages and calls.
pub(super) fn without_content(plan: &Transcript) -> Transcript {
    Transcript {
        minds: plan.minds,
        samples: plan.samples,
        active: plan.active,
        snapshot: plan.snapshot,
        seed: plan.seed,
        init_signature: plan.init_signature.clone(),
        seeds: plan.seeds,
        messages: Vec::new(),
        calls: Vec::new(),
        rounds: plan.rounds.clone(),
    }
}

/// Returns a key for another random stream.
fn key(rng: &mut SampleRng) -> [u8; 32] {
    let mut key = [0; 32];
    for part in key.chunks_exact_mut(8) {
        part.copy_from_slice(&rng.next_u64().to_le_bytes());
    }
    key
}
