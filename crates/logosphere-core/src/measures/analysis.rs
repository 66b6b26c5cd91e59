//! The analysis of a run: all measures as one result.

use std::collections::BTreeSet;
use std::panic::resume_unwind;
use std::thread;

use serde::Serialize;

use crate::config::Scheduling;
use crate::measures::lineage::{Lineage, LineageSummary};
use crate::measures::metrics::corpus::Corpus;
use crate::measures::metrics::{
    Interval, MIN_VALUES, Match, Metric, PERMUTATIONS, RESAMPLES, SeedExit, Series, Trend, Volume,
    Window, block_interval, measure, measure_in, trend,
};
use crate::measures::nulls::{MIN_RUNS, Null, NullBand, NullModel, NullRuns, bands};
use crate::pool::Round;
use crate::verify::Transcript;

/// The version of the format of an [`Analysis`].
const SCHEMA_VERSION: u32 = 1;

/// The null models that [`Null::of`] gives. Most measures have the first one.
const OWN_NULLS: [Null; 3] = [
    Null::RandomCopy { mu: None },
    Null::Shuffle,
    Null::Permutation,
];

/// The contents of an analysis.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AnalysisPlan {
    /// The messages that each value is computed from.
    pub window: Window,
    /// Whether only samples of equal number and length are compared.
    pub matched: bool,
    /// The null model to compare every measure with; before [`Self::own_nulls`].
    pub null: Option<Null>,
    /// Whether each measure is compared with the null model that changes it, see [`Null::of`].
    pub own_nulls: bool,
    /// The number of runs of the null model, at least [`MIN_RUNS`].
    pub null_runs: u32,
    /// The random seed of the runs of the null model.
    pub null_seed: u64,
    /// The number of threads; the result does not depend on it.
    pub threads: usize,
    /// The number of messages with most descendants that are listed.
    pub top: usize,
}

impl Default for AnalysisPlan {
    fn default() -> Self {
        Self {
            window: Window::default(),
            matched: false,
            null: None,
            own_nulls: false,
            null_runs: MIN_RUNS,
            null_seed: 0,
            threads: 1,
            top: 10,
        }
    }
}

/// The measures of a run. The same run and plan give the same bytes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Analysis {
    /// The version of this format: 1.
    pub schema_version: u32,
    /// The crate and its version.
    pub software: String,
    /// The random seed of the run, which intervals and trends also use.
    pub seed: u64,
    /// The generator of random numbers.
    pub rng: &'static str,
    /// The number of resamples of an interval.
    pub resamples: usize,
    /// The number of permutations for the p value of a trend.
    pub permutations: usize,
    /// The models that answered, sorted by name.
    pub models: Vec<String>,
    /// The number of minds.
    pub minds: u32,
    /// The largest number of messages that a mind reads in a call.
    pub samples: usize,
    /// The size of the active pool.
    pub active: usize,
    /// The order in which minds read and write.
    pub scheduling: Scheduling,
    /// The number of rounds that ended.
    pub rounds: usize,
    /// The messages that each value is computed from.
    pub window: Window,
    /// The size of the samples if all are equal; `None` if all texts are used.
    pub matched: Option<Match>,
    /// The null model.
    pub null: Option<NullFacts>,
    /// The metrics.
    pub metrics: Vec<Measured>,
    /// The volume of text.
    pub volume: Volume,
    /// The round in which the last seed message left the window.
    pub seed_exit: SeedExit,
    /// The summary of descent.
    pub lineage: LineageSummary,
}

/// The null model that a run is compared with.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NullFacts {
    /// The name of the model.
    pub model: &'static str,
    /// The share of new messages in the model; `None` for models without one.
    pub mu: Option<f64>,
    /// The number of its runs.
    pub runs: u32,
    /// The random seed of its runs.
    pub seed: u64,
}

/// A metric over the rounds, with its mean and trend.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Measured {
    /// The name of the metric.
    pub name: Metric,
    /// The definition in words.
    pub definition: &'static str,
    /// The encoder that texts are compared by; `None` if texts are not compared.
    pub encoder: Option<&'static str>,
    /// The window of a value: `active` or `rounds:R`; `round` for the messages of one round.
    pub window: String,
    /// Whether it was measured on samples of equal number and length.
    pub matched: bool,
    /// The number of rounds with a value.
    pub n: usize,
    /// The mean of the rounds' values.
    pub mean: Option<f64>,
    /// The 95 % interval of the mean, by a moving-block bootstrap over rounds.
    pub interval: Option<Interval>,
    /// The trend of the values over the rounds.
    pub trend: Option<Trend>,
    /// The position of the mean among the means of the null model.
    pub null: Option<NullBand>,
    /// The value of each round.
    pub points: Vec<MeasuredPoint>,
}

/// The value of a round.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MeasuredPoint {
    /// The round, from 1.
    pub round: Round,
    /// The number of texts that it was computed from.
    pub n: usize,
    /// The value; `None` if there are too few texts.
    pub value: Option<f64>,
    /// The position of the value among the values of the null model.
    pub null: Option<NullBand>,
}

impl Analysis {
    /// Analyzes a run.
    pub fn of(run: &Transcript, plan: &AnalysisPlan) -> Self {
        Self::watched(run, plan, &mut |_| {})
    }

    /// Analyzes a run, and tells `on_null_run` after each run of a null model how many are done.
    pub fn watched(
        run: &Transcript,
        plan: &AnalysisPlan,
        on_null_run: &mut dyn FnMut(NullProgress),
    ) -> Self {
        Self::with_lineage(run, plan, on_null_run).0
    }

    /// Analyzes a run, and returns the lineage that the summary is of.
    pub(crate) fn with_lineage(
        run: &Transcript,
        plan: &AnalysisPlan,
        on_null_run: &mut dyn FnMut(NullProgress),
    ) -> (Self, Lineage) {
        let corpus = Corpus::of(run);
        let matched = (plan.matched)
            .then(|| Match::of(&[run], plan.window))
            .flatten();
        let measured = || -> Vec<Measured> {
            let series = measure_in(run, &corpus, plan.window, Metric::ALL, matched);
            (series.into_iter())
                .map(|series| Measured::of(series, run.seed))
                .collect()
        };
        let descent = || Lineage::within(run, &corpus);
        let (mut metrics, lineage) = both(plan.threads, measured, descent);
        let comparisons: Vec<(Null, Vec<&mut Measured>)> = match plan.null {
            Some(null) => {
                let of_texts = metrics.iter_mut().filter(|found| found.name.is_of_texts());
                vec![(null, of_texts.collect())]
            }
            None if plan.own_nulls => by_own_null(&mut metrics),
            None => Vec::new(),
        };
        let null = comparisons.first().map(|(null, _)| *null);
        let total = plan.null_runs.max(MIN_RUNS) * comparisons.len() as u32;
        let mut done = 0;
        for (null, compared) in comparisons {
            compare(run, plan, null, matched, compared, &mut || {
                done += 1;
                on_null_run(NullProgress { done, total });
            });
        }
        let models: BTreeSet<&str> = run.calls.iter().map(|call| call.model.as_str()).collect();
        let analysis = Self {
            schema_version: SCHEMA_VERSION,
            software: concat!("logosphere-core ", env!("CARGO_PKG_VERSION")).to_owned(),
            seed: run.seed,
            rng: crate::pool::ALGORITHM,
            resamples: RESAMPLES,
            permutations: PERMUTATIONS,
            models: (models.into_iter())
                .filter(|model| !model.is_empty())
                .map(str::to_owned)
                .collect(),
            minds: run.minds,
            samples: run.samples,
            active: run.active,
            scheduling: if run.snapshot {
                Scheduling::Snapshot
            } else {
                Scheduling::Sequential
            },
            rounds: run.rounds.len(),
            window: plan.window,
            matched,
            null: null.map(|null| NullFacts::of(run, plan, null)),
            metrics,
            volume: Volume::of(run, &corpus),
            seed_exit: SeedExit::of(run, &corpus, plan.window),
            lineage: lineage.summary(run, plan.top),
        };
        (analysis, lineage)
    }

    /// Returns the result of a metric.
    pub fn metric(&self, metric: Metric) -> Option<&Measured> {
        self.metrics.iter().find(|measured| measured.name == metric)
    }

    /// Returns the result in a sentence; `None` if no round has enough texts.
    ///
    /// It says more or less than chance only if the null model can generate the run, see [`Analysis::caveat`]. It names no
    /// trend: rounds share messages, so runs without selection often have a trend too.
    pub fn sentence(&self) -> Option<String> {
        let measure = self.metric(Metric::TfidfSimilarity)?;
        let mean = measure.mean?;
        let interval = match measure.interval {
            Some(Interval { low, high }) => format!("95 % interval {low:.2} to {high:.2}"),
            None => format!("no interval below {MIN_VALUES} rounds"),
        };
        let mut sentence = format!(
            "The similarity of the texts that can be read is {mean:.2} on average ({interval}), over {} of {} rounds.",
            measure.n, self.rounds
        );
        if let (Some(null), Some(band)) = (&self.null, measure.null) {
            let model = null.model;
            let is_moved = self
                .null_model()
                .is_some_and(|null| null.moves(measure.name));
            let compared = match (self.caveat(), is_moved) {
                (Some(caveat), _) => caveat,
                (None, false) => format!("Null model {model} does not change this measure."),
                (None, true) => {
                    let verdict = if band.observed > band.high {
                        "more similar than by chance"
                    } else if band.observed < band.low {
                        "less similar than by chance"
                    } else {
                        "as similar as by chance"
                    };
                    format!("Null model {model}: {verdict} (p = {:.3}).", band.p)
                }
            };
            sentence.push(' ');
            sentence.push_str(&compared);
        }
        Some(sentence)
    }

    /// Returns why a distance from the null model proves nothing; `None` if the model can generate the run.
    ///
    /// A model of copying counts every variant of a text as a new text.
    pub fn caveat(&self) -> Option<String> {
        let null = self.null_model()?;
        let variants = self.lineage.ngram;
        let is_copying = matches!(null, Null::RandomCopy { .. } | Null::SeedsOnly { .. });
        (is_copying && variants > 0).then(|| {
            let texts = if variants == 1 {
                "variant counts as a new text"
            } else {
                "variants count as new texts"
            };
            format!("Null model {null}: {variants} {texts}; no verdict.")
        })
    }

    fn null_model(&self) -> Option<Null> {
        self.null.as_ref()?.model.parse().ok()
    }
}

impl Measured {
    fn of(series: Series, seed: u64) -> Self {
        let (metric, values) = (series.metric, series.values());
        Self {
            name: metric,
            definition: metric.definition(),
            encoder: metric.encoder(),
            n: values.len(),
            mean: series.mean(),
            interval: block_interval(&values, seed, metric.name()),
            trend: trend(&values, seed, metric.name()),
            null: None,
            points: (series.points.iter())
                .map(|point| MeasuredPoint {
                    round: point.round,
                    n: point.n,
                    value: point.value,
                    null: None,
                })
                .collect(),
            window: series.window,
            matched: series.matched,
        }
    }
}

impl NullFacts {
    fn of(run: &Transcript, plan: &AnalysisPlan, null: Null) -> Self {
        let null = NullModel::new(run, null, plan.null_seed).null();
        let mu = match null {
            Null::RandomCopy { mu } | Null::SeedsOnly { mu } => mu,
            Null::Shuffle | Null::Permutation => None,
        };
        Self {
            model: null.name(),
            mu,
            runs: plan.null_runs.max(MIN_RUNS),
            seed: plan.null_seed,
        }
    }
}

/// The number of runs of null models that are done.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NullProgress {
    /// The number that is done, from 1.
    pub done: u32,
    /// The number of all.
    pub total: u32,
}

/// Returns both results. They are computed side by side if there are at least two threads.
fn both<A, B: Send>(
    threads: usize,
    here: impl FnOnce() -> A,
    there: impl FnOnce() -> B + Send,
) -> (A, B) {
    if threads < 2 {
        return (here(), there());
    }
    thread::scope(|scope| {
        let there = scope.spawn(there);
        let here = here();
        let there = there.join();
        (here, there.unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

/// Returns the metrics that each null model changes ([`Null::of`]).
fn by_own_null(metrics: &mut [Measured]) -> Vec<(Null, Vec<&mut Measured>)> {
    let mut comparisons = Vec::from(OWN_NULLS.map(|null| (null, Vec::new())));
    for measured in metrics {
        let own = Null::of(measured.name);
        let place = (comparisons.iter_mut()).find(|(null, _): &&mut (Null, _)| Some(*null) == own);
        if let Some((_, compared)) = place {
            compared.push(measured);
        }
    }
    comparisons
}

/// Sets the bands of means and rounds of these metrics, all from the same runs of the null model.
fn compare(
    run: &Transcript,
    plan: &AnalysisPlan,
    null: Null,
    matched: Option<Match>,
    compared: Vec<&mut Measured>,
    on_run: &mut dyn FnMut(),
) {
    let metrics: Vec<Metric> = compared.iter().map(|measured| measured.name).collect();
    let numbers = |run: &Transcript| {
        let series = measure(run, plan.window, &metrics, matched);
        let numbers = series.iter().flat_map(|series| {
            let rounds = series.points.iter().map(|point| point.value);
            std::iter::once(series.mean()).chain(rounds)
        });
        numbers.collect()
    };
    // The run was measured before.
    let observed = compared.iter().flat_map(|measured| {
        let rounds = measured.points.iter().map(|point| point.value);
        std::iter::once(measured.mean).chain(rounds)
    });
    let runs = NullRuns {
        model: NullModel::new(run, null, plan.null_seed),
        count: plan.null_runs,
        threads: plan.threads,
    };
    let mut bands = bands(observed.collect(), &runs, numbers, on_run).into_iter();
    for measured in compared {
        measured.null = bands.next().flatten();
        for point in &mut measured.points {
            point.null = bands.next().flatten();
        }
    }
}
