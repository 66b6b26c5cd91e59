//! The parents of a message among the texts that its mind read: rule `lcs/1`.

use serde::Serialize;

use crate::format::without_signature;
use crate::measures::embedding::Embeddings;
use crate::measures::lcs::Pattern;
use crate::measures::lists::Lists;
use crate::pool::MessageId;
use crate::verify::Transcript;

/// The name of the rule by which parents are found.
pub const PARENT_RULE: &str = "lcs/1";

/// The smallest similarity, 0 to 1, that makes a text a parent.
///
/// The similarity of two texts is twice the length of their longest common subsequence of tokens over the sum of their
/// lengths. At most 512 tokens of a text count.
pub const LEAST_SIMILARITY: f64 = 0.5;

/// A parent of a message.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Parent {
    /// The id of the message.
    pub id: MessageId,
    /// The method by which it was found.
    pub method: Method,
    /// 1 for equal tokens and for a parent that data names, otherwise the similarity: 0.5 to below 1, or that of a
    /// [`VectorRule`].
    pub confidence: f64,
}

/// The method by which a parent is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Method {
    /// The texts have equal tokens.
    Exact,
    /// The texts have a long common subsequence of tokens.
    Lcs,
    /// Imported data names the parent.
    Given,
    /// The vectors of the texts are alike.
    Embed,
}

impl Method {
    /// Returns the name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Lcs => "lcs",
            Self::Given => "given",
            Self::Embed => "embed",
        }
    }
}

/// A rule by which texts with similar vectors are parents: `embed:S`. It is for drawings of descent only, and no test uses
/// it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VectorRule<'a> {
    embeddings: &'a Embeddings,
    least: f64,
}

impl<'a> VectorRule<'a> {
    /// Returns the rule with the smallest cosine of a parent, 0 to 1.
    pub fn new(embeddings: &'a Embeddings, least: f64) -> Self {
        Self { embeddings, least }
    }

    /// Returns all parents of a message, the best one first: those with equal tokens, otherwise those whose vectors are similar
    /// enough. Equally good ones are in the order drawn.
    pub(super) fn all(
        &self,
        run: &Transcript,
        lists: &Lists,
        reads: &[usize],
        child: usize,
    ) -> Vec<Parent> {
        let exact = equal(lists, reads, child);
        if !exact.is_empty() {
            return exact;
        }
        let vector = |message: usize| {
            let text = without_signature(&run.messages[message].text);
            self.embeddings.get(&Embeddings::hash(text))
        };
        let Some(own) = vector(child) else {
            return Vec::new();
        };
        let similar = reads.iter().filter_map(|&read| {
            let products = own.iter().zip(vector(read)?);
            let cosine: f64 = products.map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
            (cosine >= self.least).then(|| Parent {
                id: MessageId::at(read),
                method: Method::Embed,
                confidence: cosine.min(1.0),
            })
        });
        let mut parents: Vec<Parent> = similar.collect();
        parents.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
        parents
    }
}

/// Returns the texts with equal tokens as parents.
fn equal(lists: &Lists, reads: &[usize], child: usize) -> Vec<Parent> {
    let kind = lists.kind_of(child);
    let equal = reads.iter().filter(|&&read| lists.kind_of(read) == kind);
    let parents = equal.map(|&read| Parent {
        id: MessageId::at(read),
        method: Method::Exact,
        confidence: 1.0,
    });
    parents.collect()
}

/// The search for parents, with memory that is used again.
#[derive(Debug, Default)]
pub(crate) struct ParentSearch {
    pattern: Pattern,
}

impl ParentSearch {
    /// Returns the place among `reads` of the best parent of a message, and its similarity; `None` for an innovation.
    /// Of equally good texts the first one drawn is the parent.
    pub(crate) fn best(
        &mut self,
        lists: &Lists,
        reads: &[usize],
        child: usize,
    ) -> Option<(usize, f64)> {
        let kind = lists.kind_of(child);
        let equal = reads.iter().position(|&read| lists.kind_of(read) == kind);
        if let Some(place) = equal {
            return Some((place, 1.0));
        }
        self.pattern.set(lists.of_kind(kind));
        let mut best = None;
        let mut least = LEAST_SIMILARITY;
        for (place, &read) in reads.iter().enumerate() {
            let list = lists.of_message(read);
            if self.pattern.most(list) < least {
                continue;
            }
            let similarity = self.pattern.similarity(list);
            let is_better = best.is_none_or(|(_, most)| similarity > most);
            if similarity >= least && is_better {
                best = Some((place, similarity));
                least = similarity;
            }
        }
        best
    }

    /// Returns all parents of a message, the best one first: those with equal tokens, otherwise those that are similar
    /// enough. Equally good ones are in the order drawn.
    pub(crate) fn all(&mut self, lists: &Lists, reads: &[usize], child: usize) -> Vec<Parent> {
        let mut parents = equal(lists, reads, child);
        if parents.is_empty() {
            self.pattern.set(lists.of_message(child));
            let similar = reads.iter().map(|&read| Parent {
                id: MessageId::at(read),
                method: Method::Lcs,
                confidence: self.pattern.similarity(lists.of_message(read)),
            });
            parents.extend(similar.filter(|parent| parent.confidence >= LEAST_SIMILARITY));
        }
        parents.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
        parents
    }

    /// Returns the mean similarity of each of these messages to the others; 0 if there is no other.
    pub(crate) fn centrality(&mut self, lists: &Lists, messages: &[usize]) -> Vec<f64> {
        let mut sums = vec![0.0; messages.len()];
        for (place, &message) in messages.iter().enumerate() {
            let kind = lists.kind_of(message);
            let list = lists.of_kind(kind);
            let mut is_set = false;
            for (other, &next) in messages.iter().enumerate().skip(place + 1) {
                let similarity = if lists.kind_of(next) == kind {
                    f64::from(u8::from(!list.is_empty()))
                } else {
                    if !std::mem::replace(&mut is_set, true) {
                        self.pattern.set(list);
                    }
                    self.pattern.similarity(lists.of_message(next))
                };
                sums[place] += similarity;
                sums[other] += similarity;
            }
        }
        let others = messages.len().saturating_sub(1).max(1) as f64;
        sums.into_iter().map(|sum| sum / others).collect()
    }
}

/// Returns the parents that imported data names.
pub(crate) fn given(parents: &[MessageId]) -> Vec<Parent> {
    let parents = parents.iter().map(|&id| Parent {
        id,
        method: Method::Given,
        confidence: 1.0,
    });
    parents.collect()
}

/// Returns the messages of a sample that a message can descend from: those before `child`, in the order drawn.
pub(crate) fn readable(sampled: &[MessageId], child: MessageId) -> Vec<usize> {
    let older = sampled.iter().filter(|id| **id < child);
    older.map(|id| id.index()).collect()
}
