//! The shuffle: texts that were read are replaced by texts of similar length from other rounds.

use super::descent::rng;
use super::kind::Null;
use crate::format::without_signature;
use crate::pool::MessageId;
use crate::verify::Transcript;

/// The number of texts of similar length that a replacement is drawn from.
const MATCHES: usize = 8;

/// The null model of a run in which what was written does not depend on what was read.
#[derive(Debug)]
pub struct ShuffleModel {
    seed: u64,
    /// The possible replacements of each text that a call read.
    similar: Vec<Vec<Vec<MessageId>>>,
}

impl ShuffleModel {
    /// Returns the model of a run, with random choices of `seed`.
    pub fn new(run: &Transcript, seed: u64) -> Self {
        let similar = similar(run);
        Self { seed, similar }
    }

    /// Returns the ids that each call reads in null run `index`, which depend on its number and the seed alone.
    pub fn samples(&self, index: u32) -> Vec<Vec<MessageId>> {
        let mut rng = rng(Null::Shuffle, self.seed, index);
        let mut drawn = |ids: &Vec<MessageId>| ids[rng.below(ids.len() as u64) as usize];
        let calls = self.similar.iter();
        calls
            .map(|call| call.iter().map(&mut drawn).collect())
            .collect()
    }
}

/// Returns up to [`MATCHES`] messages nearest in length for each text that a call read. They were readable at the time
/// and came in another round. Without any, as in a first round that reads seed messages, it is the text itself.
fn similar(run: &Transcript) -> Vec<Vec<Vec<MessageId>>> {
    let length: Vec<_> = (run.messages.iter())
        .map(|message| without_signature(&message.text).chars().count())
        .collect();
    let mut by_length: Vec<_> = (0..run.messages.len()).collect();
    by_length.sort_by_key(|&id| (length[id], id));
    let mut rank = vec![0; by_length.len()];
    for (place, &id) in by_length.iter().enumerate() {
        rank[id] = place;
    }
    let mut begun = run.seeds;
    let calls = run.calls.iter();
    calls
        .map(|call| {
            // In a snapshot the round's own messages are not there yet, and in no case are they from another round.
            let there = begun;
            begun = (call.added.last()).map_or(begun, |last| begun.max(last.index() + 1));
            let candidates = |read: &MessageId| {
                let read = read.index();
                let fits = |&id: &usize| {
                    let round = run.messages[id].round;
                    id < there && round != run.messages[read].round && round != call.round
                };
                let (below, above) = by_length.split_at(rank[read]);
                let mut shorter = below.iter().rev().copied().filter(fits).peekable();
                let mut longer = above.iter().copied().filter(fits).peekable();
                let distance = |id: usize| length[id].abs_diff(length[read]);
                let mut found = Vec::new();
                while found.len() < MATCHES {
                    let next = match (shorter.peek(), longer.peek()) {
                        (Some(&less), Some(&more)) if distance(less) <= distance(more) => {
                            shorter.next()
                        }
                        (_, Some(_)) => longer.next(),
                        _ => shorter.next(),
                    };
                    let Some(next) = next else { break };
                    found.push(MessageId::at(next));
                }
                if found.is_empty() {
                    found.push(MessageId::at(read));
                }
                found
            };
            call.sampled.iter().map(candidates).collect()
        })
        .collect()
}
