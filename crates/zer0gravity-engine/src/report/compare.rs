//! What has changed from one run to the next, and whether that may pass.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

use super::Report;
use super::grouped::{Group, figure, groups, is_scored, total, within_totals};
use super::settings;
use super::statistics::random;
use crate::plan::{Config, Plan};
use crate::stats::{Interval, PairedResult, paired_test};
use crate::{ExperimentResult, Outcome, SCHEMA_VERSION};

/// The `kind` of a comparison's JSON.
const KIND: &str = "zer0gravity.comparison";
/// Two drops on paper equal may differ in the last bits.
const SLACK: f64 = 1e-9;

/// Two runs, on the pairs of encoding and case that both have a scored item of. Encodings are matched by id, cases by id
/// and text. All differences are new minus old, of the total.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Comparison {
    /// The version of this form.
    #[serde(rename = "schema_version")]
    pub schema_version: u32,
    /// `zer0gravity.comparison`.
    pub kind: String,
    /// Whether the new run may pass; always true if no limit was given.
    pub holds: bool,
    /// Why it may not, a sentence each; empty if it holds.
    pub reasons: Vec<String>,
    /// The largest drop of an encoding's mean that may pass, in points.
    #[serde(with = "crate::number::plain_option")]
    pub max_drop: Option<f64>,
    /// Over all pairs; its `id` is `all`.
    pub overall: Difference,
    /// Over the cases of each encoding, in the new run's order.
    pub per_encoding: Vec<Difference>,
    /// Over the encodings of each case, in the new run's order.
    pub per_case: Vec<Difference>,
    /// Items that failed now and did not before, of pairs that had a score before.
    pub newly_failed: Vec<NewFailure>,
    /// Items that failed before and are scored now.
    pub recovered: Vec<ItemName>,
    /// Pairs that had a score before and do not occur now.
    pub missing: Vec<PairName>,
    /// Pairs that did not occur before.
    pub added: Vec<PairName>,
    /// What else is not the same: it may be what the difference comes from.
    pub changes: Changes,
}

/// The change of a mean.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// The encoding or the case.
    pub id: String,
    /// Common pairs.
    pub pairs: usize,
    /// The old mean of them.
    #[serde(with = "crate::number::plain_option")]
    pub old: Option<f64>,
    /// The new one.
    #[serde(with = "crate::number::plain_option")]
    pub new: Option<f64>,
    /// New minus old.
    #[serde(with = "crate::number::plain_option")]
    pub mean_difference: Option<f64>,
    /// Its 95 % interval by Student's t; none below 2 pairs.
    pub ci95: Option<Interval>,
    /// Two-sided p of the sign-flip test, not adjusted.
    #[serde(with = "crate::number::plain_option")]
    pub p: Option<f64>,
}

/// A pair of encoding and case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PairName {
    /// The encoding.
    pub encoding_id: String,
    /// The case.
    pub test_case_id: String,
}

/// An experiment.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ItemName {
    /// The encoding.
    pub encoding_id: String,
    /// The case.
    pub test_case_id: String,
    /// Which encoding of the text, from 1.
    pub trial: u32,
    /// Which decoding of that, from 1.
    pub decode: u32,
}

/// An experiment that failed now and did not before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewFailure {
    /// Which.
    #[serde(flatten)]
    pub item: ItemName,
    /// How it ended.
    pub outcome: Outcome,
}

/// What else is not the same in two runs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Changes {
    /// Paths in the configuration, such as `config.models.judges.0`. If one run has no configuration, what the results say
    /// instead, such as `metadata.models.judges: a -> b`; mixed values are listed in braces.
    pub settings: Vec<String>,
    /// Encodings with the same id and other rules.
    pub rules: Vec<String>,
    /// Cases with the same id and another text; their pairs are not compared.
    pub texts: Vec<String>,
    /// Versions of this crate, old and new, if they differ.
    pub engine_versions: Option<[String; 2]>,
    /// The judges of both runs, old and new, if another model judged, or with another prompt, or none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judges: Option<[String; 2]>,
    /// Items of either run that are scored of 95 because no rules were given; they are not compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub partial: Vec<ItemName>,
}

/// What a new run must keep to.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct Limits {
    /// The largest drop of an encoding's mean that may pass, in points; `None` asks for no verdict.
    pub max_drop: Option<f64>,
    /// Lets a run pass that another judge has scored.
    pub allow_changed_judge: bool,
}

impl From<Option<f64>> for Limits {
    fn from(max_drop: Option<f64>) -> Self {
        Self {
            max_drop,
            ..Self::default()
        }
    }
}

impl Limits {
    /// The same, and another judge may have scored the new run.
    #[must_use]
    pub fn allowing_changed_judge(self, allow: bool) -> Self {
        Self {
            allow_changed_judge: allow,
            ..self
        }
    }
}

/// Compares two runs. A `max_drop` (points, 0 and more) asks for a verdict: the new run holds if no encoding's mean over common
/// cases drops by more, no item newly failed, nothing that had a score is missing, the same judge scored both, and there is
/// something to compare at all.
/// The verdict looks at the means and not at p, so that it is the same however few cases there are.
///
/// ```
/// use zer0gravity_engine::{Report, compare};
/// let nothing = Report::read("[]").unwrap();
/// assert!(compare(&nothing, &nothing, None).holds);
/// assert!(!compare(&nothing, &nothing, Some(2.0)).holds);
/// ```
pub fn compare(old: &Report, new: &Report, limits: impl Into<Limits>) -> Comparison {
    let limits = limits.into();
    let (old_groups, new_groups) = (groups(&old.results), groups(&new.results));
    let before: HashMap<_, _> = old_groups.iter().map(|g| (key(g), g)).collect();
    let now: HashMap<_, _> = new_groups.iter().map(|g| (key(g), g)).collect();
    let pairs: Vec<Pair<'_>> = (new_groups.iter())
        .filter_map(|group| {
            Some(Pair {
                encoding: group.encoding,
                case: group.case,
                old: before.get(&key(group))?.mean(total)?,
                new: group.mean(total)?,
            })
        })
        .collect();
    let seed = new.randomness.seed;
    let mut comparison = Comparison {
        schema_version: SCHEMA_VERSION,
        kind: KIND.to_owned(),
        holds: true,
        reasons: Vec::new(),
        max_drop: limits.max_drop,
        overall: Difference::of("all", &pairs, flips(seed)),
        per_encoding: differences(&pairs, |pair| pair.encoding, seed),
        per_case: differences(&pairs, |pair| pair.case, seed),
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
    if let Some(max_drop) = limits.max_drop {
        comparison.reasons = comparison.reasons(max_drop, limits.allow_changed_judge);
        comparison.holds = comparison.reasons.is_empty();
    }
    comparison
}

/// A pair of encoding and case that both runs have a score of.
struct Pair<'a> {
    encoding: &'a str,
    case: &'a str,
    old: f64,
    new: f64,
}

/// What has to be the same in both runs: a case with another text is another case.
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
            Difference::of(id, own, flips(seed))
        })
        .collect()
}

impl Difference {
    fn of<'a>(
        id: &str,
        pairs: impl IntoIterator<Item = &'a Pair<'a>>,
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
        } = paired_test(&new, &old, &mut rng);
        Self {
            id: id.to_owned(),
            pairs: n,
            old: mean(&old),
            new: mean(&new),
            mean_difference: mean_difference.map(figure),
            ci95: ci95.map(within_totals),
            p: p.map(figure),
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

impl ItemName {
    fn of(item: &ExperimentResult) -> Self {
        Self {
            encoding_id: item.encoding_id.clone(),
            test_case_id: item.test_case_id.clone(),
            trial: item.trial,
            decode: item.decode,
        }
    }
}

impl Comparison {
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

    fn reasons(&self, max_drop: f64, allow_changed_judge: bool) -> Vec<String> {
        let mut reasons = Vec::new();
        if let Some([old, new]) = self
            .changes
            .judges
            .as_ref()
            .filter(|_| !allow_changed_judge)
        {
            reasons.push(format!("not comparable: judge differs ({old}, {new})"));
        }
        if let Some(first) = self.changes.partial.first() {
            reasons.push(format!(
                "not comparable: {} scored of 95 points because no rules were given, the first {} of {}",
                counted(self.changes.partial.len(), "item is", "items are"),
                first.test_case_id,
                first.encoding_id,
            ));
        }
        for encoding in &self.per_encoding {
            let drop = -encoding.mean_difference.unwrap_or_default();
            // So written, a limit that is no number lets nothing pass.
            let passes = drop <= max_drop + SLACK;
            if !passes {
                reasons.push(format!(
                    "{} drops by {drop:.2} points over {}; {max_drop} may pass",
                    encoding.id,
                    counted(encoding.pairs, "common case", "common cases"),
                ));
            }
        }
        if let Some(first) = self.newly_failed.first() {
            let (item, outcome) = (&first.item, &first.outcome);
            let stage = outcome.stage.map_or("", |stage| stage.as_str());
            reasons.push(format!(
                "{} failed that did not before, the first {} of {}: {} at {stage}",
                counted(self.newly_failed.len(), "item", "items"),
                item.test_case_id,
                item.encoding_id,
                outcome.status,
            ));
        }
        if let Some(first) = self.missing.first() {
            reasons.push(format!(
                "{} had a score and {} not in the new run, the first {} of {}",
                counted(
                    self.missing.len(),
                    "pair of encoding and case",
                    "pairs of encoding and case",
                ),
                if self.missing.len() == 1 { "is" } else { "are" },
                first.test_case_id,
                first.encoding_id,
            ));
        }
        if self.overall.pairs == 0 {
            reasons.push("the runs have no scored pair of encoding and case in common".to_owned());
        }
        reasons
    }
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

impl Changes {
    fn of(old: &Report, new: &Report) -> Self {
        let settings = match (&old.config, &new.config) {
            (Some(old), Some(new)) => plan(old).differences(&plan(new)),
            _ => settings::differences(&old.results, &new.results),
        };
        let partial = old.results.iter().chain(&new.results);
        let partial = partial.filter(|result| result.partial_total.is_some());
        let rules: BTreeMap<_, _> = (old.encodings.iter())
            .map(|encoding| (&encoding.id, &encoding.sha256))
            .collect();
        let texts: BTreeMap<_, _> = (old.cases.iter())
            .map(|case| (&case.case.id, &case.case.text))
            .collect();
        let versions = [&old.engine_version, &new.engine_version].map(String::clone);
        Self {
            settings,
            rules: (new.encodings.iter())
                .filter(|e| rules.get(&e.id).is_some_and(|sha256| **sha256 != e.sha256))
                .map(|encoding| encoding.id.clone())
                .collect(),
            texts: (new.cases.iter())
                .filter(|c| {
                    texts
                        .get(&c.case.id)
                        .is_some_and(|text| **text != c.case.text)
                })
                .map(|case| case.case.id.clone())
                .collect(),
            engine_versions: (versions[0] != versions[1]).then_some(versions),
            judges: settings::judges(&old.results, &new.results),
            partial: partial
                .map(ItemName::of)
                .collect::<BTreeSet<_>>()
                .into_iter()
                .collect(),
        }
    }
}

/// The plan that is nothing but its configuration.
fn plan(config: &Config) -> Plan {
    Plan {
        encodings: Vec::new(),
        cases: Vec::new(),
        config: config.clone(),
    }
}
