//! The comparison of a run with a null model: tests in families, features and the verdict.

use std::ops::ControlFlow;

use serde::Serialize;

use super::choice::{LEAST_VARIANCE, Score, Scores};
use super::descent::DescentModel;
use super::family::{Family, NullTest};
use super::kind::Null;
use super::parallel::{NullProgress, null_runs};
use super::shuffle::ShuffleModel;
use super::statistics::{NullBand, comparable, upper_p};
use crate::measures::embedding::{EmbedMeasure, chargram_means};
use crate::measures::lineage::PARENT_RULE;
use crate::measures::lists::Lists;
use crate::measures::metrics::corpus::Corpus;
use crate::measures::metrics::{Metric, Window, input_similarity, measure_in, quantile};
use crate::measures::verdict::{
    LEAST_CONTESTS, LEAST_PAIRS, MOST_NEW, SimilarityTest, TestedRun, Verdict, VerdictFindings,
};
use crate::verify::{Exposure, Transcript};

/// The fewest null runs.
pub const MIN_RUNS: u32 = 199;
/// The number of null runs if none is given.
pub const DEFAULT_RUNS: u32 = 999;
/// The number of token operations, tokens of the run times null runs, above which only [`MIN_RUNS`] are made.
pub const MOST_OPERATIONS: u64 = 200_000_000;

/// The largest number of rounds with a band.
const MOST_POINTS: usize = 100;
/// The number of features that a result lists.
const FEATURES: usize = 5;
/// The distance of z within which words cannot be told apart.
const SEPARABLE: f64 = 1.0;

/// The null model that a run is compared with.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NullFacts {
    /// The model.
    pub kind: Null,
    /// The number of null runs; 0 if the run cannot be tested.
    pub runs: u32,
    /// The number of null runs that was asked for, if it was too much work; see [`MOST_OPERATIONS`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked_runs: Option<u32>,
    /// The random seed of the null runs.
    pub seed: u64,
    /// The share of messages without a parent, 0 to 1.
    #[serde(rename = "innovation_share")]
    pub novelty_rate: f64,
    /// The number of messages with a parent.
    pub pairs: usize,
    /// The number of calls that read at least two different texts and passed one on.
    pub contests: usize,
}

/// A feature of texts that are passed on, with its weight.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[expect(clippy::exhaustive_structs, reason = "the numbers of a row")]
pub struct Feature {
    /// The kind of the feature.
    pub feature: FeatureKind,
    /// The word; `None` for other features.
    pub value: Option<String>,
    /// The distance from neutral descent in standard deviations.
    pub z: f64,
    /// The factor by which one unit of the feature changes a text's chance.
    pub weight: f64,
    /// The lower end of its 95 % interval.
    pub low: f64,
    /// The upper end of its 95 % interval.
    pub high: f64,
}

impl Feature {
    pub(super) fn of(feature: FeatureKind, value: Option<String>, score: Score, z: f64) -> Self {
        let [weight, low, high] = score.weight();
        Self {
            feature,
            value,
            z,
            weight,
            low,
            high,
        }
    }
}

/// The kinds of features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FeatureKind {
    /// A word that a text has or does not have.
    Word,
    /// The length, ln(1 + words).
    Length,
    /// The age, standardised over the texts of a call; newer texts have a higher value.
    Age,
    /// The mean similarity to the other texts of a call.
    Centrality,
}

/// The comparison of a run with a null model. The same run and plan give the same result on any number of threads.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NullComparison {
    /// The rule by which parents are found.
    pub parent_rule: &'static str,
    /// The null model.
    pub null: NullFacts,
    /// The assumption about reads that all tests are made under; `None` if reads are recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assumption: Option<String>,
    /// The verdict; `None` for a shuffle.
    pub verdict: Option<Verdict>,
    /// The tests and bands; empty if the run cannot be tested.
    pub tests: Vec<NullTest>,
    /// The features with the z farthest from 0, at most five.
    pub features: Vec<Feature>,
    /// The words whose z is within 1 of that of the first feature, if that is a word: they may travel with it.
    pub not_separable: Vec<String>,
    /// The bands of rounds: the index of the round and its band, at most a hundred for each measure.
    #[serde(skip)]
    pub(crate) rounds: Vec<(Metric, Vec<(usize, NullBand)>)>,
}

/// The null runs of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "the numbers of a plan")]
pub struct NullPlan {
    /// The model.
    pub kind: Null,
    /// The number of null runs, at least [`MIN_RUNS`].
    pub runs: u32,
    /// The random seed of the null runs.
    pub seed: u64,
    /// The number of threads; the result does not depend on it.
    pub threads: usize,
}

impl Default for NullPlan {
    fn default() -> Self {
        Self {
            kind: Null::Descent,
            runs: DEFAULT_RUNS,
            seed: 0,
            threads: 1,
        }
    }
}

/// Compares a run with a null model. `on_run` is called after each null run; if it breaks, the result is `None`.
pub fn compare(
    run: &Transcript,
    plan: &NullPlan,
    on_run: &mut dyn FnMut(NullProgress) -> ControlFlow<()>,
) -> Option<NullComparison> {
    let asked = AskedComparison {
        null: *plan,
        window: Window::Active,
        is_embedded: false,
    };
    compare_in(run, &Corpus::of(run), &asked, on_run)
}

/// A comparison with its null runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AskedComparison {
    pub(crate) null: NullPlan,
    pub(crate) window: Window,
    /// Whether texts are compared by the vectors of `chargram/1`, too.
    pub(crate) is_embedded: bool,
}

/// Compares as [`compare`] does, for a run with this corpus.
pub(crate) fn compare_in(
    run: &Transcript,
    corpus: &Corpus<'_>,
    asked: &AskedComparison,
    on_run: &mut dyn FnMut(NullProgress) -> ControlFlow<()>,
) -> Option<NullComparison> {
    let plan = &asked.null;
    let model = DescentModel::of_corpus(run, corpus, plan.seed);
    let scores = model.scores();
    let mut compared = NullComparison {
        parent_rule: PARENT_RULE,
        null: facts(&model, &scores, plan),
        assumption: run.exposure.assumption(),
        verdict: None,
        tests: Vec::new(),
        features: Vec::new(),
        not_separable: Vec::new(),
        rounds: Vec::new(),
    };
    if run.exposure == Exposure::Unknown {
        compared.null.runs = 0;
        compared.verdict = Some(Verdict::of(&VerdictFindings::Unexposed));
        return Some(compared);
    }
    match plan.kind {
        Null::Descent => compared.descend(run, &model, &scores, asked, on_run)?,
        Null::Shuffle => compared.shuffle(run, corpus, plan, on_run)?,
    }
    Some(compared)
}

fn facts(model: &DescentModel<'_>, scores: &Scores, plan: &NullPlan) -> NullFacts {
    let asked = plan.runs.max(MIN_RUNS);
    let is_descent = plan.kind == Null::Descent;
    let is_much = is_descent && model.size().saturating_mul(asked.into()) > MOST_OPERATIONS;
    let runs = if is_much { MIN_RUNS } else { asked };
    let share = model.novelty_rate();
    let is_tested = scores.contests >= LEAST_CONTESTS && model.pairs() >= LEAST_PAIRS;
    NullFacts {
        kind: plan.kind,
        runs: if is_descent && (!is_tested || share > MOST_NEW) {
            0
        } else {
            runs
        },
        asked_runs: (runs < asked).then_some(asked),
        seed: plan.seed,
        novelty_rate: share,
        pairs: model.pairs(),
        contests: scores.contests,
    }
}

/// The numbers of a run or a null run.
struct Numbers {
    largest_z: f64,
    /// The mean of each measure of [`Family::MEASURES`].
    means: Vec<Option<f64>>,
    /// The values of each measure in the rounds with a band.
    points: Vec<Vec<Option<f64>>>,
    /// The mean of each of [`EmbedMeasure::ALL`], if it was asked for.
    embedded: Vec<Option<f64>>,
}

impl Numbers {
    fn of(
        model: &DescentModel<'_>,
        run: &Transcript,
        asked: &AskedComparison,
        lists: Lists,
        scores: &Scores,
    ) -> Self {
        let corpus = model.corpus(lists);
        let metrics: Vec<Metric> = Family::MEASURES.iter().map(|(metric, _)| *metric).collect();
        let series = measure_in(run, &corpus, asked.window, &metrics, None);
        let rounds: Vec<usize> = banded(run.rounds.len()).collect();
        let points = series.iter().map(|series| {
            let rounds = rounds.iter();
            rounds.map(|&at| series.points.get(at)?.value).collect()
        });
        Self {
            largest_z: scores.largest_z(),
            means: (series.iter())
                .map(|series| series.mean().map(comparable))
                .collect(),
            points: points.collect(),
            embedded: if asked.is_embedded {
                let means = chargram_means(run, &corpus, asked.window, model.words());
                means.map(|mean| mean.map(comparable)).to_vec()
            } else {
                Vec::new()
            },
        }
    }
}

/// Returns the indexes of the rounds with a band; the last one always has one.
pub(crate) fn banded(rounds: usize) -> impl Iterator<Item = usize> {
    let stride = rounds.div_ceil(MOST_POINTS).max(1);
    (rounds.saturating_sub(1) % stride..rounds).step_by(stride)
}

impl NullComparison {
    /// Returns the test with this name: `choice`, or the name of a measure.
    pub fn test(&self, name: &str) -> Option<&NullTest> {
        self.tests.iter().find(|test| test.name == name)
    }

    fn descend(
        &mut self,
        run: &Transcript,
        model: &DescentModel<'_>,
        scores: &Scores,
        asked: &AskedComparison,
        on_run: &mut dyn FnMut(NullProgress) -> ControlFlow<()>,
    ) -> Option<()> {
        self.name_features(scores, model.words());
        if self.null.runs == 0 {
            self.features.clear();
            self.not_separable.clear();
            self.verdict = Some(Verdict::of(&VerdictFindings::NotTested {
                pairs: model.pairs(),
                messages: model.messages(),
                contests: scores.contests,
            }));
            return Some(());
        }
        let observed = Numbers::of(model, run, asked, model.lists().clone(), scores);
        let one = |index| {
            let (lists, drawn) = model.null_run(index);
            let scores = model.scores_of(&lists, &drawn);
            Numbers::of(model, run, asked, lists, &scores)
        };
        let null = null_runs(self.null.runs, asked.null.threads, one, on_run)?;
        let largest: Vec<f64> = null.iter().map(|run| run.largest_z).collect();
        let p = upper_p(observed.largest_z, &largest);
        let family = match self.assumption {
            None => Family::Primary,
            Some(_) => Family::Secondary,
        };
        self.tests.extend(NullTest::choice(
            family,
            observed.largest_z,
            largest.clone(),
            p,
        ));
        for (at, &(metric, family)) in Family::MEASURES.iter().enumerate() {
            let means = null.iter().filter_map(|run| run.means[at]).collect();
            self.tests
                .extend(NullTest::of(metric, family, observed.means[at], means));
            let rounds = banded(run.rounds.len()).enumerate();
            let band = |(place, round): (usize, usize)| {
                let values = null.iter().filter_map(|run| run.points[at][place]);
                Some((round, NullBand::new(values.collect())?))
            };
            self.rounds
                .push((metric, rounds.filter_map(band).collect()));
        }
        for (at, (measure, mean)) in EmbedMeasure::ALL.iter().zip(&observed.embedded).enumerate() {
            let means = null.iter().filter_map(|run| run.embedded[at]).collect();
            let band = mean.and_then(|mean| NullTest::band(measure.name(), mean, means));
            self.tests.extend(band);
        }
        Family::correct(&mut self.tests);
        let corrected = |name: &str| self.test(name).and_then(|test| Some((test, test.p_holm?)));
        let similarity = corrected(Metric::TfidfSimilarity.name());
        let similarity = similarity.map(|(test, p)| SimilarityTest {
            observed: test.observed,
            median: test.median,
            low: test.low,
            high: test.high,
            p,
        });
        if let Some(assumption) = &self.assumption {
            self.verdict = Some(Verdict::assumed(similarity, assumption));
            return Some(());
        }
        self.verdict = Some(Verdict::of(&VerdictFindings::Tested(TestedRun {
            choice_p: corrected(NullTest::CHOICE).map_or(1.0, |(_, p)| p),
            first: self.features.first().cloned(),
            similarity,
            would_find_double: would_find_double(scores, largest),
        })));
        Some(())
    }

    fn shuffle(
        &mut self,
        run: &Transcript,
        corpus: &Corpus<'_>,
        plan: &NullPlan,
        on_run: &mut dyn FnMut(NullProgress) -> ControlFlow<()>,
    ) -> Option<()> {
        let model = ShuffleModel::new(run, plan.seed);
        let samples: Vec<_> = run.calls.iter().map(|call| call.sampled.clone()).collect();
        let mean = input_similarity(run, corpus);
        let one = |index| mean(&model.samples(index)).map(comparable);
        let null = null_runs(self.null.runs, plan.threads, one, on_run)?;
        let null = null.into_iter().flatten().collect();
        let observed = mean(&samples).map(comparable);
        let test = NullTest::of(Metric::InputSimilarity, Family::Secondary, observed, null);
        self.tests.extend(test);
        Family::correct(&mut self.tests);
        Some(())
    }

    /// Lists the features with the z farthest from 0, and the words near to the first.
    fn name_features(&mut self, scores: &Scores, words: &[String]) {
        let of_word = (words.iter().zip(&scores.words))
            .filter(|(_, score)| score.v >= LEAST_VARIANCE)
            .map(|(word, score)| (FeatureKind::Word, Some(word), *score));
        let others = [
            (FeatureKind::Length, None, scores.length),
            (FeatureKind::Age, None, scores.age),
            (FeatureKind::Centrality, None, scores.centrality),
        ];
        let mut ranked: Vec<(FeatureKind, Option<&String>, Score, f64)> = (of_word.chain(others))
            .filter_map(|(kind, word, score)| Some((kind, word, score, comparable(score.z()?))))
            .collect();
        // Equally far ones are in the order of the first text with them.
        ranked.sort_by(|a, b| b.3.abs().total_cmp(&a.3.abs()));
        let Some(first) = ranked.first() else { return };
        if first.0 == FeatureKind::Word {
            let near = ranked[1..]
                .iter()
                .filter(|next| (next.3 - first.3).abs() <= SEPARABLE);
            self.not_separable = near.filter_map(|next| next.1.cloned()).collect();
        }
        let first = ranked.iter().take(FEATURES);
        self.features = first
            .map(|(kind, word, score, z)| Feature::of(*kind, word.cloned(), *score, *z))
            .collect();
    }
}

/// Returns whether a word that doubles a text's chance would be found with a power of 80 %, if it is as frequent as the
/// middle one of the words in 5 to 50 % of the texts that were read.
fn would_find_double(scores: &Scores, mut largest: Vec<f64>) -> bool {
    largest.sort_by(f64::total_cmp);
    let reads = f64::from(scores.reads);
    let is_frequent = |holders: u32| (0.05..=0.5).contains(&(f64::from(holders) / reads));
    let frequent = (scores.holders.iter().zip(&scores.words)).filter(|(at, _)| is_frequent(**at));
    let mut variances: Vec<f64> = frequent.map(|(_, score)| score.v).collect();
    if variances.is_empty() || largest.is_empty() {
        return false;
    }
    variances.sort_by(f64::total_cmp);
    let needed = quantile(&largest, 0.95) + 0.84;
    (needed / quantile(&variances, 0.5).sqrt()).exp() <= 2.0
}
