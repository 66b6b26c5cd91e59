//! Everything that is measured on a run, as one result.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::config::Scheduling;
use crate::measures::lineage::{Lineage, LineageSummary};
use crate::measures::metrics::{
    Interval, Match, Metric, PERMUTATIONS, RESAMPLES, SeedExit, Series, Trend, Volume, Window,
    block_interval, measure, seed_exit, trend, volume,
};
use crate::measures::nulls::{MIN_RUNS, Null, NullBand, NullModel, null_bands};
use crate::pool::Round;
use crate::verify::Transcript;

/// The version of the form of an [`Analysis`].
const SCHEMA_VERSION: u32 = 1;

/// What an analysis is to contain.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AnalysisPlan {
    /// The messages that each value is measured on.
    pub window: Window,
    /// Whether only texts of equal number and length are compared.
    pub matched: bool,
    /// The null model to hold the run against.
    pub null: Option<Null>,
    /// How many runs of it are made, at least [`MIN_RUNS`].
    pub null_runs: u32,
    /// Where their random choices come from.
    pub null_seed: u64,
    /// How many of the messages that most come from are named.
    pub top: usize,
}

impl Default for AnalysisPlan {
    fn default() -> Self {
        Self {
            window: Window::default(),
            matched: false,
            null: None,
            null_runs: MIN_RUNS,
            null_seed: 0,
            top: 10,
        }
    }
}

/// Everything that is measured on a run. The same run and plan give the same bytes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Analysis {
    /// The version of this form: 1.
    pub schema_version: u32,
    /// The crate and its version.
    pub software: String,
    /// The run's seed; random choices of intervals and trends come from it.
    pub seed: u64,
    /// How random choices are made.
    pub rng: &'static str,
    /// Resamples of an interval.
    pub resamples: usize,
    /// Orders that the p value of a trend is taken from.
    pub permutations: usize,
    /// The models that answered, by name.
    pub models: Vec<String>,
    /// Minds.
    pub minds: u32,
    /// Messages that each reads, at most.
    pub samples: usize,
    /// Messages that can be read.
    pub active: usize,
    /// In which order minds read and write.
    pub scheduling: Scheduling,
    /// Rounds that ended.
    pub rounds: usize,
    /// The messages that each value is measured on.
    pub window: Window,
    /// The sizes that texts were brought to; none if they were left as they are.
    pub matched: Option<Match>,
    /// The null model.
    pub null: Option<NullFacts>,
    /// What was measured.
    pub metrics: Vec<Measured>,
    /// How much was said.
    pub volume: Volume,
    /// When the seeds left the window.
    pub seed_exit: SeedExit,
    /// Who comes from whom.
    pub lineage: LineageSummary,
}

/// The null model that a run is held against.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NullFacts {
    /// Its name.
    pub model: &'static str,
    /// The share of messages that are new in it; none where that means nothing.
    pub mu: Option<f64>,
    /// Runs of it.
    pub runs: u32,
    /// Where their random choices come from.
    pub seed: u64,
}

/// A metric over the rounds, and what it comes to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Measured {
    /// Its name.
    pub name: Metric,
    /// What it is, in words.
    pub definition: &'static str,
    /// How texts are compared; none where they are not.
    pub encoder: Option<&'static str>,
    /// What a value is measured on: `active` or `rounds:R` for windows, `round` for what a round added.
    pub window: String,
    /// Whether it was measured on texts of equal number and length.
    pub matched: bool,
    /// How many rounds have a value.
    pub n: usize,
    /// The mean of the rounds' values.
    pub mean: Option<f64>,
    /// The 95 % interval of the mean, by a moving-block bootstrap over rounds.
    pub interval: Option<Interval>,
    /// Whether the value goes up or down with the rounds.
    pub trend: Option<Trend>,
    /// The mean among those of the null model.
    pub null: Option<NullBand>,
    /// The value of each round.
    pub points: Vec<MeasuredPoint>,
}

/// The value of a round.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MeasuredPoint {
    /// Which round, from 1.
    pub round: Round,
    /// How many texts it was measured on.
    pub n: usize,
    /// The value; none where there is too little to measure.
    pub value: Option<f64>,
    /// The value among those of the null model.
    pub null: Option<NullBand>,
}

impl Analysis {
    /// That of a run.
    pub fn of(run: &Transcript, plan: &AnalysisPlan) -> Self {
        let matched = plan
            .matched
            .then(|| Match::of(&[run], plan.window))
            .flatten();
        let series = measure(run, plan.window, Metric::ALL, matched);
        let mut metrics: Vec<Measured> = (series.into_iter())
            .map(|series| Measured::of(series, run.seed))
            .collect();
        let null = plan.null.map(|null| {
            let of_texts = metrics.iter_mut().filter(|found| found.name.is_of_texts());
            compare(run, plan, null, matched, of_texts.collect());
            NullFacts::of(run, plan, null)
        });
        let models: BTreeSet<&str> = run.calls.iter().map(|call| call.model.as_str()).collect();
        Self {
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
            null,
            metrics,
            volume: volume(run),
            seed_exit: seed_exit(run, plan.window),
            lineage: Lineage::of(run).summary(run, plan.top),
        }
    }

    /// What a metric came to.
    pub fn metric(&self, metric: Metric) -> Option<&Measured> {
        self.metrics.iter().find(|measured| measured.name == metric)
    }

    /// The result in a sentence; `None` if no round has enough texts. It names no trend: rounds share messages, so runs in which
    /// nothing is selected have one too often.
    pub fn sentence(&self) -> Option<String> {
        let measure = self.metric(Metric::TfidfSimilarity)?;
        let mean = measure.mean?;
        // The null model takes every variant of a text for a new one, so nothing follows from a distance to it.
        let compared = measure.null.map_or(
            "",
            |_| " Null model of copying: variants count as new texts; no verdict.",
        );
        Some(format!(
            "The similarity of the texts that can be read is {mean:.2} on average.{compared}"
        ))
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
    pub(crate) fn of(run: &Transcript, plan: &AnalysisPlan, null: Null) -> Self {
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

/// Sets the bands of means and rounds of these metrics, all from the same runs of the null model.
pub(crate) fn compare(
    run: &Transcript,
    plan: &AnalysisPlan,
    null: Null,
    matched: Option<Match>,
    compared: Vec<&mut Measured>,
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
    let bands = null_bands(run, null, plan.null_runs, plan.null_seed, numbers);
    let mut bands = bands.into_iter();
    for measured in compared {
        measured.null = bands.next().flatten();
        for point in &mut measured.points {
            point.null = bands.next().flatten();
        }
    }
}
