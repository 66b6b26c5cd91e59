//! The parents of a message among the texts that its mind read.

use std::collections::HashMap;

use serde::Serialize;

use crate::measures::metrics::corpus::Corpus;
use crate::pool::MessageId;
use crate::verify::MindCall;

/// The smallest share of a message's trigrams that makes a text its parent.
pub const LEAST_SHARE: f64 = 0.3;

/// A parent of a message.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Parent {
    /// The id of the message.
    pub id: MessageId,
    /// The method by which it was found.
    pub method: Method,
    /// 1 for equal texts, otherwise the share of the child's trigrams that the parent contains.
    pub confidence: f64,
}

/// The method by which a parent is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Method {
    /// The texts are equal without their signatures.
    Exact,
    /// The texts share trigrams.
    Ngram,
}

impl Method {
    /// Returns the name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Ngram => "ngram",
        }
    }
}

/// The sample of a call, indexed for the search of parents.
pub(super) struct Inputs<'a> {
    corpus: &'a Corpus<'a>,
    /// The messages in the order drawn, each with the index of its text among the different texts.
    messages: Vec<(MessageId, usize)>,
    /// The index of each different text, by its number in the corpus.
    kinds: HashMap<usize, usize>,
    /// Each trigram of each different text, with the index of the text; sorted.
    trigrams: Vec<(u32, usize)>,
}

impl<'a> Inputs<'a> {
    /// Returns the sample of a call.
    pub(super) fn of(corpus: &'a Corpus<'a>, call: &MindCall) -> Self {
        let mut messages = Vec::with_capacity(call.sampled.len());
        let mut kinds = HashMap::new();
        let mut trigrams = Vec::new();
        for &id in call.sampled.iter().filter(|id| corpus.has(**id)) {
            let kind = corpus.kind_of(id.index());
            let next = kinds.len();
            let place = *kinds.entry(kind).or_insert_with(|| {
                trigrams.extend(
                    corpus
                        .triples()
                        .of(corpus, kind)
                        .iter()
                        .map(|&trigram| (trigram, next)),
                );
                next
            });
            messages.push((id, place));
        }
        trigrams.sort_unstable();
        trigrams.dedup();
        Self {
            corpus,
            messages,
            kinds,
            trigrams,
        }
    }

    /// Returns the parents of a message, the best one first: those with an equal text, then those that share enough
    /// trigrams. Equally good ones are in the order drawn.
    pub(super) fn parents(&self, child: MessageId) -> Vec<Parent> {
        let kind = self.corpus.kind_of(child.index());
        let (method, shares) = match self.kinds.get(&kind) {
            Some(&equal) => (Method::Exact, self.only(equal)),
            None => (Method::Ngram, self.shares(kind)),
        };
        let older = self.messages.iter().filter(|(id, _)| *id < child);
        let parent = |&(id, place): &(MessageId, usize)| Parent {
            id,
            method,
            confidence: shares[place],
        };
        let mut parents: Vec<Parent> = older
            .map(parent)
            .filter(|parent| parent.confidence >= LEAST_SHARE)
            .collect();
        parents.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
        parents
    }

    fn only(&self, equal: usize) -> Vec<f64> {
        let mut shares = vec![0.0; self.kinds.len()];
        shares[equal] = 1.0;
        shares
    }

    /// Returns the share of a text's trigrams that each different text contains; 0 for a text without trigrams.
    fn shares(&self, kind: usize) -> Vec<f64> {
        let own = self.corpus.triples().of(self.corpus, kind);
        let mut shared = vec![0_u32; self.kinds.len()];
        for &trigram in own {
            let first = self.trigrams.partition_point(|&(other, _)| other < trigram);
            let same = self.trigrams[first..].iter();
            for &(_, place) in same.take_while(|(other, _)| *other == trigram) {
                shared[place] += 1;
            }
        }
        let count = own.len().max(1) as f64;
        shared
            .into_iter()
            .map(|shared| f64::from(shared) / count)
            .collect()
    }
}
