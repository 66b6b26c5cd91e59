//! Null models: the runs that a run is compared with.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use crate::format::without_signature;
use crate::measures::metrics::Metric;
use crate::pool::{MessageId, SampleRng};
use crate::verify::{MindCall, Transcript};

use super::drift::Source;
use super::simulation::{copied, without_content};

/// A way to generate a run without the effect in question. All keep N, K, M, the rounds and each call's number of
/// messages.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Null {
    /// Copiers: texts drift, and their content has no effect on selection.
    ///
    /// New messages are the run's own new texts, each different one once and in another order. If more are needed, a
    /// new word is appended to one of them.
    RandomCopy {
        /// The probability that a message is new, 0 to 1; `None` for the run's own [`novelty_rate`].
        mu: Option<f64>,
    },
    /// Copiers that read only the seed messages, so that no mind reads the others.
    SeedsOnly {
        /// The probability that a message is new, as in [`Null::RandomCopy`].
        mu: Option<f64>,
    },
    /// The same messages, but each text that was read is replaced by one of similar length from another round. Output
    /// is then independent of input.
    Shuffle,
    /// The same messages in another order, so that rounds do not differ.
    Permutation,
}

impl Null {
    /// All models, with the novelty rate of the run.
    pub const ALL: &[Self] = &[
        Self::RandomCopy { mu: None },
        Self::SeedsOnly { mu: None },
        Self::Shuffle,
        Self::Permutation,
    ];

    /// Returns the name: `random-copy`, `seeds-only`, `shuffle` or `permutation`.
    pub fn name(self) -> &'static str {
        match self {
            Self::RandomCopy { .. } => "random-copy",
            Self::SeedsOnly { .. } => "seeds-only",
            Self::Shuffle => "shuffle",
            Self::Permutation => "permutation",
        }
    }

    /// Returns the null model of a measure; `None` if no null model changes it.
    pub fn of(metric: Metric) -> Option<Self> {
        match metric {
            // These measures depend on the frequency of each text, which drifts under random copying.
            Metric::TfidfSimilarity
            | Metric::CompressionRatio
            | Metric::Distinct1
            | Metric::Distinct2
            | Metric::Distinct3
            | Metric::Reuse5gram
            | Metric::PairIdentity
            | Metric::Turnover
            | Metric::SeedEcho => Some(Self::RandomCopy { mu: None }),
            // This measure compares texts with the messages that were read, which the shuffle exchanges.
            Metric::InputSimilarity => Some(Self::Shuffle),
            // These measures compare rounds, which do not differ after a permutation.
            Metric::WithinRoundSimilarity | Metric::NearSimilarity | Metric::FarSimilarity => {
                Some(Self::Permutation)
            }
            Metric::Messages | Metric::CharsMean | Metric::CharsMedian | Metric::LostShare => None,
        }
    }

    /// Returns whether a measure can differ between the run and runs of this model.
    pub fn moves(self, metric: Metric) -> bool {
        match self {
            Self::RandomCopy { .. } | Self::SeedsOnly { .. } => metric.is_of_texts(),
            Self::Shuffle => metric == Metric::InputSimilarity,
            Self::Permutation => matches!(
                metric,
                Metric::WithinRoundSimilarity | Metric::NearSimilarity | Metric::FarSimilarity
            ),
        }
    }

    /// Returns the model with this novelty rate; models without one stay unchanged.
    #[must_use]
    pub fn with_mu(self, mu: Option<f64>) -> Self {
        match self {
            Self::RandomCopy { .. } => Self::RandomCopy { mu },
            Self::SeedsOnly { .. } => Self::SeedsOnly { mu },
            other => other,
        }
    }
}

#[cfg(feature = "clap")]
impl clap::ValueEnum for Null {
    fn value_variants<'a>() -> &'a [Self] {
        Self::ALL
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        let help = match self {
            Self::RandomCopy { .. } => "Minds send one of the messages they read, or something new",
            Self::SeedsOnly { .. } => "Minds read seeds only: they do not read each other",
            Self::Shuffle => {
                "Each message read is replaced by one of another round and a like length"
            }
            Self::Permutation => "Messages change rounds",
        };
        Some(clap::builder::PossibleValue::new(self.name()).help(help))
    }
}

impl fmt::Display for Null {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The error of a name that is not a null model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no null model `{name}`; there are: random-copy, seeds-only, shuffle, permutation"
)]
#[non_exhaustive]
pub struct UnknownNull {
    /// The name.
    pub name: String,
}

impl FromStr for Null {
    type Err = UnknownNull;

    fn from_str(name: &str) -> Result<Self, UnknownNull> {
        let known = (Self::ALL.iter().copied()).find(|null| null.name() == name);
        known.ok_or_else(|| UnknownNull {
            name: name.to_owned(),
        })
    }
}

/// Returns the share of messages whose text equals none of those that their call read, without signatures; `None`
/// without messages of minds.
pub fn novelty_rate(run: &Transcript) -> Option<f64> {
    let all: usize = run.calls.iter().map(|call| call.added.len()).sum();
    (all > 0).then(|| innovations(run).count() as f64 / all as f64)
}

/// Returns the texts of these messages, without signatures.
fn innovations(run: &Transcript) -> impl Iterator<Item = &str> {
    let text = |id: MessageId| without_signature(&run.messages[id.index()].text);
    run.calls.iter().flat_map(move |call| {
        let read: Vec<_> = call.sampled.iter().map(|id| text(*id)).collect();
        let added = call.added.iter().map(move |id| text(*id));
        added.filter(move |text| !read.contains(text))
    })
}

/// Returns the different texts of these messages. The text of a seed message is not new.
fn new_texts(run: &Transcript) -> Vec<String> {
    let seeds = run.messages[..run.seeds].iter();
    let mut known: BTreeSet<_> = seeds.map(|seed| without_signature(&seed.text)).collect();
    let new = innovations(run).filter(|text| known.insert(text));
    new.map(str::to_owned).collect()
}

/// A null model of one run: it makes any number of other runs.
#[derive(Debug)]
pub struct NullModel<'a> {
    run: &'a Transcript,
    null: Null,
    seed: u64,
    /// The different new texts of the run, for copiers.
    new: Vec<String>,
    /// The possible replacements of each text that a call read, for a shuffle.
    similar: Vec<Vec<Vec<MessageId>>>,
}

/// The number of texts of similar length that a replacement is drawn from.
const MATCHES: usize = 8;

impl<'a> NullModel<'a> {
    /// Returns the null model `null` of `run`, with random choices of `seed`.
    pub fn new(run: &'a Transcript, null: Null, seed: u64) -> Self {
        let null = match null {
            Null::RandomCopy { mu: None } | Null::SeedsOnly { mu: None } => {
                null.with_mu(Some(novelty_rate(run).unwrap_or(0.0)))
            }
            other => other,
        };
        let similar = if null == Null::Shuffle {
            similar(run)
        } else {
            Vec::new()
        };
        let new = match null {
            Null::RandomCopy { .. } | Null::SeedsOnly { .. } => new_texts(run),
            Null::Shuffle | Null::Permutation => Vec::new(),
        };
        Self {
            run,
            null,
            seed,
            new,
            similar,
        }
    }

    /// Returns the model with its novelty rate.
    pub fn null(&self) -> Null {
        self.null
    }

    /// Returns run number `index`, which depends on its number and the seed alone. Answers, models, tokens and costs
    /// are left out.
    pub fn run(&self, index: u32) -> Transcript {
        let mut rng = super::drift::rng(self.null.name(), self.seed, index);
        match self.null {
            Null::RandomCopy { mu } => self.copied(mu, Source::Pool, &mut rng),
            Null::SeedsOnly { mu } => self.copied(mu, Source::Seeds, &mut rng),
            Null::Shuffle => self.shuffled(&mut rng),
            Null::Permutation => self.permuted(&mut rng),
        }
    }

    fn copied(&self, mu: Option<f64>, source: Source, rng: &mut SampleRng) -> Transcript {
        let mut new = self.new.clone();
        shuffle(&mut new, rng);
        copied(self.run, mu.unwrap_or(0.0), source, &new, rng)
    }

    fn shuffled(&self, rng: &mut SampleRng) -> Transcript {
        let calls = self.run.calls.iter().zip(&self.similar);
        Transcript {
            messages: self.run.messages.clone(),
            calls: calls
                .map(|(call, similar)| MindCall {
                    sampled: (similar.iter())
                        .map(|ids| ids[rng.below(ids.len() as u64) as usize])
                        .collect(),
                    ..without_answer(call)
                })
                .collect(),
            ..without_content(self.run)
        }
    }

    fn permuted(&self, rng: &mut SampleRng) -> Transcript {
        let mut messages = self.run.messages.clone();
        // Texts move; places, with their rounds and calls, stay.
        let written = &mut messages[self.run.seeds..];
        let mut texts: Vec<_> = (written.iter_mut())
            .map(|message| std::mem::take(&mut message.text))
            .collect();
        shuffle(&mut texts, rng);
        for (message, text) in written.iter_mut().zip(texts) {
            message.text = text;
        }
        Transcript {
            messages,
            calls: self.run.calls.iter().map(without_answer).collect(),
            ..without_content(self.run)
        }
    }
}

/// Shuffles texts; all orders are equally likely.
fn shuffle(texts: &mut [String], rng: &mut SampleRng) {
    for last in (1..texts.len()).rev() {
        texts.swap(last, rng.below(last as u64 + 1) as usize);
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
            begun += call.added.len();
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

/// Returns a call without the texts that a null model cannot generate.
fn without_answer(call: &MindCall) -> MindCall {
    MindCall {
        sampled: call.sampled.clone(),
        added: call.added.clone(),
        reason: call.reason,
        ..MindCall::new(call.round, call.mind)
    }
}
