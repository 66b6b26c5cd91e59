//! The order in which laws are tested: risky, novel and discriminating laws first.
//!
//! All measures but the words come from [`EmpiricalContent`], the share of random histories that a law forbids. A verdict counts
//! only in two places: novelty compares with tested laws, and discrimination with undecided and unproved ones.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use popper_harness::decide::{ConfigError, EmpiricalContent, Harness, Status, behaviour_hash};
use popper_harness::law::{Law, Program};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::error::Error;
use crate::store::{LawRow, TestedLaw};

/// The weights of the features of a law, each `0..=1000`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Weights {
    /// The weight of the share of histories that a law forbids.
    pub risk: f64,
    /// The weight of the distance to the tested laws, in text and in behaviour.
    pub novelty: f64,
    /// The weight of the disagreement with laws that are neither refuted nor proved.
    pub discrimination: f64,
    /// The weight of the chance that a test gives a verdict.
    pub testability: f64,
    /// The weight of the similarity to laws that are ranked higher; subtracted.
    pub redundancy: f64,
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            risk: 1.5,
            novelty: 1.0,
            discrimination: 1.0,
            testability: 0.5,
            redundancy: 0.5,
        }
    }
}

impl Weights {
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        for (field, weight) in [
            ("weights.risk", self.risk),
            ("weights.novelty", self.novelty),
            ("weights.discrimination", self.discrimination),
            ("weights.testability", self.testability),
            ("weights.redundancy", self.redundancy),
        ] {
            if !(0.0..=1000.0).contains(&weight) {
                let message = format!("is {weight}, expected 0 to 1000");
                return Err(ConfigError::new(field, message));
            }
        }
        Ok(())
    }

    fn score(&self, features: &Features) -> f64 {
        self.risk * features.risk
            + self.novelty * features.novelty
            + self.discrimination * features.discrimination
            + self.testability * features.testability
            - self.redundancy * features.redundancy
    }
}

/// The features that decide the rank of a law, each `0..=1`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Features {
    /// The share of random histories that the law forbids.
    pub risk: f64,
    /// The mean of two distances: to the tested law nearest in words, and to the one nearest in behaviour.
    pub novelty: f64,
    /// The average share of histories on which the law and a rival disagree. A rival has the same template, forbids something, and is
    /// neither refuted nor proved.
    pub discrimination: f64,
    /// `1 / (1 + preconditions)`, or 0 for a law that cannot be evaluated.
    pub testability: f64,
    /// The similarity in behaviour to the most similar law that is ranked higher.
    pub redundancy: f64,
}

/// A law with its score in the ranking.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Ranked {
    /// The fingerprint of the law.
    pub law_fingerprint: String,
    /// The features of the law.
    pub features: Features,
    /// The weighted sum of the features.
    pub score: f64,
}

/// The ranking of laws, which keeps the measurements of a law for the next ranking to save time.
#[derive(Debug, Default)]
pub(crate) struct Ranker {
    profiles: BTreeMap<String, Arc<Profile>>,
}

/// The measurements of a law.
#[derive(Debug)]
struct Profile {
    law: Law,
    /// The words and the pairs of neighbouring words of the normal form.
    words: BTreeSet<String>,
    /// `None` for a law that cannot be evaluated.
    behaviour: Option<Behaviour>,
}

#[derive(Debug)]
struct Behaviour {
    hash: String,
    content: EmpiricalContent,
}

impl Profile {
    fn of(row: &LawRow, harness: &Harness) -> Result<Self, Error> {
        let law = row.law()?;
        let universe = harness.universe();
        let program = Program::compile(&law, universe).ok();
        Ok(Self {
            words: words(&json!(law.normal())),
            behaviour: program.map(|program| Behaviour {
                hash: behaviour_hash(&program, universe),
                content: EmpiricalContent::new(&program, universe),
            }),
            law,
        })
    }

    /// Returns the similarity of the behaviour of two laws, `0..=1`.
    fn likeness(&self, other: &Self) -> f64 {
        match (&self.behaviour, &other.behaviour) {
            (Some(one), Some(other)) if one.hash == other.hash => 1.0,
            (Some(one), Some(other)) => one.content.likeness(&other.content),
            _ => 0.0,
        }
    }

    /// Returns the share of random histories on which two laws disagree, `0..=1`.
    fn difference(&self, other: &Self) -> f64 {
        match (&self.behaviour, &other.behaviour) {
            (Some(one), Some(other)) => one.content.difference(&other.content),
            _ => 0.0,
        }
    }

    /// Whether both laws have the same template and forbid something.
    fn is_rival_of(&self, other: &Self) -> bool {
        let bold = |law: &Self| {
            let behaviour = law.behaviour.as_ref();
            behaviour.is_some_and(|behaviour| behaviour.content.share() > 0.0)
        };
        self.law.template() == other.law.template() && bold(self) && bold(other)
    }
}

impl Ranker {
    /// Measures a law, so that it can be ranked.
    ///
    /// # Errors
    /// [`Error::Row`] when the row cannot be read.
    pub(crate) fn read(&mut self, law: &LawRow, harness: &Harness) -> Result<(), Error> {
        self.profile(law, harness).map(drop)
    }

    /// Returns the law of a row, which is parsed only if it was not ranked before.
    ///
    /// # Errors
    /// [`Error::Row`] when the row cannot be read.
    pub(crate) fn law(&self, row: &LawRow) -> Result<Cow<'_, Law>, Error> {
        match self.profiles.get(&row.law_fingerprint) {
            Some(profile) => Ok(Cow::Borrowed(&profile.law)),
            None => row.law().map(Cow::Owned),
        }
    }

    /// Ranks the waiting laws, best first. Equal scores keep their order.
    pub(crate) fn rank(
        &mut self,
        waiting: &[&LawRow],
        tested: &[TestedLaw],
        harness: &Harness,
        weights: &Weights,
    ) -> Result<Vec<Ranked>, Error> {
        let mut profiles = |laws: &mut dyn Iterator<Item = &LawRow>| {
            laws.map(|law| self.profile(law, harness))
                .collect::<Result<Vec<_>, _>>()
        };
        let candidates = profiles(&mut waiting.iter().copied())?;
        let known = profiles(&mut tested.iter().map(|finding| &finding.law))?;
        // A profile that only this map holds is not part of this ranking.
        self.profiles
            .retain(|_, profile| Arc::strong_count(profile) > 1);
        let open = tested
            .iter()
            .zip(&known)
            .filter(|(finding, _)| is_open(finding));
        let rivals: Vec<&Profile> = candidates
            .iter()
            .chain(open.map(|(_, profile)| profile))
            .map(AsRef::as_ref)
            .collect();
        let mut left: Vec<(usize, Features)> = candidates
            .iter()
            .map(|law| features(law, &known, &rivals))
            .enumerate()
            .collect();
        let mut ranking = Vec::new();
        while let Some(best) = best(&left, weights) {
            let (index, features) = left.remove(best);
            let law = &candidates[index];
            for (other, features) in &mut left {
                let likeness = law.likeness(&candidates[*other]);
                features.redundancy = features.redundancy.max(likeness);
            }
            ranking.push(Ranked {
                law_fingerprint: waiting[index].law_fingerprint.clone(),
                score: rounded(weights.score(&features)),
                features: features.rounded(),
            });
        }
        Ok(ranking)
    }

    fn profile(&mut self, law: &LawRow, harness: &Harness) -> Result<Arc<Profile>, Error> {
        if let Some(known) = self.profiles.get(&law.law_fingerprint) {
            return Ok(Arc::clone(known));
        }
        let profile = Arc::new(Profile::of(law, harness)?);
        let fingerprint = law.law_fingerprint.clone();
        self.profiles.insert(fingerprint, Arc::clone(&profile));
        Ok(profile)
    }
}

/// Returns the index of the best score, the first of equal ones.
fn best(left: &[(usize, Features)], weights: &Weights) -> Option<usize> {
    let scores = left.iter().map(|(_, features)| weights.score(features));
    let mut best: Option<(usize, f64)> = None;
    for (place, score) in scores.enumerate() {
        if best.is_none_or(|(_, highest)| score > highest) {
            best = Some((place, score));
        }
    }
    best.map(|(place, _)| place)
}

fn features(law: &Profile, tested: &[Arc<Profile>], rivals: &[&Profile]) -> Features {
    let nearest = |likeness: &dyn Fn(&Profile) -> f64| {
        tested
            .iter()
            .map(|other| likeness(other))
            .fold(0.0, f64::max)
    };
    let in_words = nearest(&|other| jaccard(&law.words, &other.words));
    let in_behaviour = nearest(&|other| law.likeness(other));
    let differences: Vec<f64> = rivals
        .iter()
        .filter(|rival| !std::ptr::eq(**rival, law) && law.is_rival_of(rival))
        .map(|rival| law.difference(rival))
        .collect();
    let content = law.behaviour.as_ref().map(|behaviour| &behaviour.content);
    Features {
        risk: content.map_or(0.0, EmpiricalContent::share),
        novelty: 1.0 - f64::midpoint(in_words, in_behaviour),
        discrimination: differences.iter().fold(0.0, |sum, share| sum + share)
            / differences.len().max(1) as f64,
        testability: content.map_or(0.0, |_| 1.0 / (1.0 + law.law.preconditions().len() as f64)),
        redundancy: 0.0,
    }
}

/// Whether a tested law is neither refuted nor proved.
fn is_open(finding: &TestedLaw) -> bool {
    finding.evaluation.status != Status::Fail
        && !finding
            .evaluation
            .evidence_json
            .contains(r#""strength":"proved""#)
}

/// Returns the words of a normal form, which are its values in order, and the pairs of neighbouring words.
fn words(normal: &Value) -> BTreeSet<String> {
    fn leaves(value: &Value, words: &mut Vec<String>) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| leaves(item, words)),
            Value::Object(map) => map.values().for_each(|item| leaves(item, words)),
            Value::String(text) => words.push(text.clone()),
            other => words.push(other.to_string()),
        }
    }
    let mut list = Vec::new();
    leaves(normal, &mut list);
    let pairs = list.windows(2).map(|pair| pair.join(" "));
    pairs.collect::<Vec<_>>().into_iter().chain(list).collect()
}

/// Returns the size of the intersection of two sets over that of their union; 1 for two empty sets.
fn jaccard(one: &BTreeSet<String>, other: &BTreeSet<String>) -> f64 {
    let shared = one.intersection(other).count();
    let either = one.len() + other.len() - shared;
    if either == 0 {
        1.0
    } else {
        shared as f64 / either as f64
    }
}

impl Features {
    fn rounded(self) -> Self {
        Self {
            risk: rounded(self.risk),
            novelty: rounded(self.novelty),
            discrimination: rounded(self.discrimination),
            testability: rounded(self.testability),
            redundancy: rounded(self.redundancy),
        }
    }
}

/// Rounds to four decimal places: enough to read, and short to store.
fn rounded(number: f64) -> f64 {
    (number * 1e4).round() / 1e4
}

#[cfg(test)]
mod tests {
    use popper_harness::decide::Config;
    use popper_harness::law::Extensions;
    use popper_harness::universe::KineticGrid;

    use super::*;
    use crate::rank::{Candidate, validate_proposal};

    fn law(template: &str, expr: &str, claim: &str) -> LawRow {
        let law = json!({
            "law_id": format!("{template} {expr}"), "template": template, "quantifiers": {"T": 20},
            "observables": [{"name": "f", "expr": expr}], "claim": claim, "forbidden": "otherwise",
        });
        validate_proposal(&Candidate::new(law), Extensions::default())
    }

    fn ranking(laws: &[LawRow], tested: &[TestedLaw]) -> Vec<Ranked> {
        let harness = Harness::new(KineticGrid, Config::default()).unwrap();
        let laws: Vec<&LawRow> = laws.iter().collect();
        Ranker::default()
            .rank(&laws, tested, &harness, &Weights::default())
            .unwrap()
    }

    fn place(ranking: &[Ranked], law: &LawRow) -> usize {
        let same = |ranked: &Ranked| ranked.law_fingerprint == law.law_fingerprint;
        ranking.iter().position(same).unwrap()
    }

    #[test]
    fn the_bold_come_before_the_timid_and_tautologies_last() {
        let bold = law("invariant", "count('>') + count('X')", "f(t) == f(0)");
        let timid = law("bound", "count('>')", "f(t) <= 6");
        let empty = law("bound", "count('>')", "f(t) >= 0");
        let order = ranking(&[empty.clone(), timid.clone(), bold.clone()], &[]);
        let places = [&bold, &timid, &empty].map(|law| place(&order, law));
        assert_eq!(places, [0, 1, 2], "{order:#?}");
        assert!(order[2].features.risk.abs() < f64::EPSILON);
    }

    #[test]
    fn what_says_the_same_in_other_words_waits() {
        let one = law("invariant", "count('>') + count('>')", "f(t) == f(0)");
        let same = law("invariant", "2*count('>')", "f(0) == f(t)");
        let other = law("invariant", "count('<')", "f(t) == f(0)");
        assert_ne!(one.law_fingerprint, same.law_fingerprint);
        let order = ranking(&[one.clone(), same.clone(), other.clone()], &[]);
        assert_eq!((place(&order, &same), order.len()), (2, 3), "{order:#?}");
        assert!((order[2].features.redundancy - 1.0).abs() < f64::EPSILON);
    }

    #[test]
    fn a_ranked_law_is_not_read_again() {
        let harness = Harness::new(KineticGrid, Config::default()).unwrap();
        let [ranked, other] = [2, 3].map(|k| law("bound", "count('>')", &format!("f(t) <= {k}")));
        let mut ranker = Ranker::default();
        let weights = Weights::default();
        ranker.rank(&[&ranked], &[], &harness, &weights).unwrap();
        assert!(matches!(ranker.law(&ranked), Ok(Cow::Borrowed(_))));
        assert!(matches!(ranker.law(&other), Ok(Cow::Owned(_))));
        let read = ranker.law(&ranked).unwrap();
        assert_eq!(read.fingerprint(), ranked.law_fingerprint);
    }

    #[test]
    fn a_law_that_cannot_be_run_is_last() {
        let lost = law("invariant", "energy", "f(t) == f(0)");
        let found = law("bound", "count('>')", "f(t) <= 9");
        let order = ranking(&[lost.clone(), found], &[]);
        assert_eq!(place(&order, &lost), 1);
        assert!(order[1].features.testability.abs() < f64::EPSILON);
    }
}
