//! The changes from one run to the next, and whether they pass the limits.

use std::collections::{BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

use super::RunReport;
use super::changes::{Changes, ItemName};
use super::grouped::{Group, TOTAL, figure, groups, is_scored, total, within};
use super::own;
use super::statistics::random;
use crate::Outcome;
use crate::metrics::stats::{
    DROP_ERROR, Interval, PairedResult, RANDOM_FLIPS, drop_p, holm, paired_test, texts_needed,
};
use crate::result::SCHEMA_VERSION;

/// The largest difference of two totals.
const TOTAL_WIDTH: f64 = TOTAL.1;
/// The `kind` of a comparison's JSON.
const KIND: &str = "zer0gravity.comparison";

/// Two runs, on the pairs of encoding and case that both have a scored item of. Encodings are matched by id, cases by id
/// and text. All differences are new minus old, of the total.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Comparison {
    /// The version of the JSON format.
    #[serde(rename = "schema_version")]
    pub schema_version: u32,
    /// The text `zer0gravity.comparison`.
    pub kind: String,
    /// Whether the new run may pass; always true if no limit was given.
    pub holds: bool,
    /// The reasons that it does not hold, a sentence each.
    pub reasons: Vec<String>,
    /// Drops beyond the limit that chance may give and that therefore pass, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_significant: Vec<String>,
    /// The largest drop of an encoding's mean that may pass, in points.
    #[serde(with = "crate::judge::number::plain_option")]
    pub max_drop: Option<f64>,
    /// Over all pairs, or over texts if several models were crossed; its `id` is `all`.
    pub overall: Difference,
    /// Over the cases of each encoding, in the new run's order.
    pub per_encoding: Vec<Difference>,
    /// Over the encodings of each case, in the new run's order.
    pub per_case: Vec<Difference>,
    /// By each scorer of the user's rubric that both runs have with the same scale, over all pairs with its scores, or over
    /// texts if several models were crossed; its `id` is the scorer's, its p is adjusted after Holm over them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own_scores: Vec<Difference>,
    /// Items that failed now and did not before, of pairs that had a score before.
    pub newly_failed: Vec<NewFailure>,
    /// Items that failed before and are scored now.
    pub recovered: Vec<ItemName>,
    /// Pairs that had a score before and do not occur now.
    pub missing: Vec<PairName>,
    /// Pairs that did not occur before.
    pub added: Vec<PairName>,
    /// The other changes, which may be the cause of the difference.
    pub changes: Changes,
}

/// The change of a mean.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Difference {
    /// The encoding or the case.
    pub id: String,
    /// The number of common pairs, or of texts that several pairs were averaged for.
    pub pairs: usize,
    /// The old mean of them.
    #[serde(with = "crate::judge::number::plain_option")]
    pub old: Option<f64>,
    /// The new one.
    #[serde(with = "crate::judge::number::plain_option")]
    pub new: Option<f64>,
    /// New minus old.
    #[serde(with = "crate::judge::number::plain_option")]
    pub mean_difference: Option<f64>,
    /// The 95 % interval of the difference by Student's t; `None` below 2 pairs.
    pub ci95: Option<Interval>,
    /// Two-sided p of the sign-flip test, not adjusted.
    #[serde(with = "crate::judge::number::plain_option")]
    pub p: Option<f64>,
    /// One-sided p of a drop by Student's t, of equal drops by sign flips, adjusted after Holm over all encodings; of encodings with 2 pairs and more.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "crate::judge::number::plain_option"
    )]
    pub drop_p: Option<f64>,
    /// The number of texts that would show a drop of this size with this spread; `Some` for an encoding whose drop is not
    /// significant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub texts_needed: Option<usize>,
}

/// A pair of encoding and case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PairName {
    /// The encoding.
    pub encoding_id: String,
    /// The case.
    pub test_case_id: String,
}

/// An experiment that failed now and did not before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct NewFailure {
    /// The text and the encoding.
    #[serde(flatten)]
    pub item: ItemName,
    /// The end of the experiment.
    pub outcome: Outcome,
}

/// A pair of encoding and case that both runs have a score of.
struct Pair<'a> {
    encoding: &'a str,
    case: &'a str,
    old: f64,
    new: f64,
}

impl<'a> Pair<'a> {
    fn of(group: &Group<'a>, old: f64, new: f64) -> Self {
        Self {
            encoding: group.encoding,
            case: group.case,
            old,
            new,
        }
    }
}

/// The parts that have to be equal in both runs: a case with another text is another case.
fn key<'a>(group: &Group<'a>) -> (&'a str, &'a str, &'a str) {
    let text = group.items.first().map_or("", |item| &item.original_text);
    (group.encoding, group.case, text)
}

/// The generator of random sign flips: one for all groups, so that the same pairs have the same p wherever they are shown.
fn flips(seed: u64) -> rand_chacha::ChaCha20Rng {
    random(seed, &["compare"])
}

fn differences(
    pairs: &[Pair<'_>],
    name: for<'a> fn(&Pair<'a>) -> &'a str,
    seed: u64,
) -> Vec<Difference> {
    let mut seen = BTreeSet::new();
    let names = pairs.iter().map(name).filter(|name| seen.insert(*name));
    names
        .map(|id| {
            let own = pairs.iter().filter(|pair| name(pair) == id);
            Difference::of(id, own, TOTAL_WIDTH, flips(seed))
        })
        .collect()
}

/// Returns the pairs that a mean is over. Crossed models read the same texts, so each text is one pair then, with the means over
/// its systems.
fn of_texts(pairs: Vec<Pair<'_>>, crossed: bool) -> Vec<Pair<'_>> {
    if !crossed {
        return pairs;
    }
    let mut seen = BTreeSet::new();
    let first = pairs.iter().filter(|pair| seen.insert(pair.case));
    first
        .map(|pair| {
            let own = || pairs.iter().filter(|other| other.case == pair.case);
            let mean =
                |value: fn(&Pair<'_>) -> f64| own().map(value).sum::<f64>() / own().count() as f64;
            Pair {
                old: mean(|pair| pair.old),
                new: mean(|pair| pair.new),
                ..*pair
            }
        })
        .collect()
}

/// Returns the differences of each text. Over crossed models they have no interval and no p, because the models are not a random sample.
fn per_case(pairs: &[Pair<'_>], crossed: bool, seed: u64) -> Vec<Difference> {
    let mut cases = differences(pairs, |pair| pair.case, seed);
    for case in cases.iter_mut().filter(|_| crossed) {
        (case.ci95, case.p) = (None, None);
    }
    cases
}

/// Adds to the differences of encodings how sure their drops are.
fn with_drops(mut encodings: Vec<Difference>, pairs: &[Pair<'_>]) -> Vec<Difference> {
    let (mut tested, mut p) = (Vec::new(), Vec::new());
    for encoding in &mut encodings {
        let own = pairs.iter().filter(|pair| pair.encoding == encoding.id);
        let differences: Vec<f64> = own.map(|pair| pair.new - pair.old).collect();
        let Some(sure) = drop_p(&differences) else {
            continue;
        };
        encoding.texts_needed = texts_needed(&differences);
        tested.push(encoding);
        p.push(sure);
    }
    for (encoding, p) in tested.into_iter().zip(holm(&p)) {
        encoding.drop_p = Some(figure(p));
        encoding.texts_needed = encoding.texts_needed.filter(|_| p > DROP_ERROR);
    }
    encodings
}

impl Difference {
    /// Whether chance alone gives such a drop in at most 5 % of comparisons.
    pub fn is_significant_drop(&self) -> bool {
        self.drop_p.is_some_and(|p| p <= DROP_ERROR)
    }

    fn of<'a>(
        id: &str,
        pairs: impl IntoIterator<Item = &'a Pair<'a>>,
        width: f64,
        mut rng: rand_chacha::ChaCha20Rng,
    ) -> Self {
        let (old, new): (Vec<f64>, Vec<f64>) =
            pairs.into_iter().map(|pair| (pair.old, pair.new)).unzip();
        let mean = |values: &[f64]| {
            (!values.is_empty()).then(|| figure(values.iter().sum::<f64>() / values.len() as f64))
        };
        let PairedResult {
            n,
            mean_difference,
            ci95,
            p,
        } = paired_test(&new, &old, RANDOM_FLIPS, &mut rng);
        Self {
            id: id.to_owned(),
            pairs: n,
            old: mean(&old),
            new: mean(&new),
            mean_difference: mean_difference.map(figure),
            ci95: ci95.map(|interval| within(interval, width)),
            p: p.map(figure),
            drop_p: None,
            texts_needed: None,
        }
    }
}

impl PairName {
    fn of(group: &Group<'_>) -> Self {
        Self {
            encoding_id: group.encoding.to_owned(),
            test_case_id: group.case.to_owned(),
        }
    }
}

impl Comparison {
    /// Compares two runs, without a verdict.
    pub(super) fn of(old: &RunReport, new: &RunReport) -> Self {
        let (old_groups, new_groups) = (groups(&old.results), groups(&new.results));
        let before: HashMap<_, _> = old_groups.iter().map(|g| (key(g), g)).collect();
        let now: HashMap<_, _> = new_groups.iter().map(|g| (key(g), g)).collect();
        let pairs: Vec<Pair<'_>> = (new_groups.iter())
            .filter_map(|group| {
                let old = before.get(&key(group))?.mean(total)?;
                Some(Pair::of(group, old, group.mean(total)?))
            })
            .collect();
        let seed = new.randomness.seed;
        let is_crossed = |report: &RunReport| {
            let mut encodings = report.encodings.iter();
            encodings.any(|encoding| encoding.crossed.is_some())
        };
        let crossed = is_crossed(old) || is_crossed(new);
        let known = own::scorers(&old.results);
        let common = own::scorers(&new.results).into_iter();
        let common = common.filter(|scorer| known.contains(scorer));
        let own_scores = common.filter_map(|(id, scale)| {
            let score = |group: &Group<'_>| group.mean(|item| own::score(item, id));
            let pairs = new_groups.iter().filter_map(|group| {
                let old = before.get(&key(group))?;
                Some(Pair::of(group, score(old)?, score(group)?))
            });
            let pairs = of_texts(pairs.collect(), crossed);
            let difference = Difference::of(id, &pairs, scale[1] - scale[0], flips(seed));
            (!pairs.is_empty()).then_some(difference)
        });
        let mut own_scores: Vec<Difference> = own_scores.collect();
        let p: Vec<f64> = own_scores.iter().filter_map(|one| one.p).collect();
        let tested = own_scores.iter_mut().filter(|one| one.p.is_some());
        for (own, p) in tested.zip(holm(&p)) {
            own.p = Some(figure(p));
        }
        let mut comparison = Comparison {
            schema_version: SCHEMA_VERSION,
            kind: KIND.to_owned(),
            holds: true,
            reasons: Vec::new(),
            not_significant: Vec::new(),
            max_drop: None,
            per_encoding: with_drops(differences(&pairs, |pair| pair.encoding, seed), &pairs),
            per_case: per_case(&pairs, crossed, seed),
            overall: Difference::of("all", &of_texts(pairs, crossed), TOTAL_WIDTH, flips(seed)),
            own_scores,
            newly_failed: Vec::new(),
            recovered: Vec::new(),
            missing: (old_groups.iter())
                .filter(|group| !now.contains_key(&key(group)) && group.mean(total).is_some())
                .map(PairName::of)
                .collect(),
            added: (new_groups.iter())
                .filter(|group| !before.contains_key(&key(group)))
                .map(PairName::of)
                .collect(),
            changes: Changes::of(old, new),
        };
        for group in &new_groups {
            if let Some(before) = before.get(&key(group)) {
                comparison.turns(before, group);
            }
        }
        comparison
    }

    /// Notes which items of a common pair turned from scored to failed and back.
    fn turns(&mut self, before: &Group<'_>, now: &Group<'_>) {
        let known: HashMap<_, _> = (before.items.iter())
            .map(|item| ((item.trial, item.decode), is_scored(item)))
            .collect();
        let any = known.values().any(|scored| *scored);
        for item in &now.items {
            let was = known.get(&(item.trial, item.decode));
            let name = || ItemName::of(item);
            match (was, is_scored(item)) {
                (Some(false), true) => self.recovered.push(name()),
                // A further repeat that fails is news too, where the text once went through.
                (Some(true) | None, false) if any => self.newly_failed.push(NewFailure {
                    item: name(),
                    outcome: item.outcome.clone(),
                }),
                _ => {}
            }
        }
    }
}
