//! The analysis of a run: all measures as one result.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::thread;

use serde::Serialize;

use crate::config::Scheduling;
use crate::measures::embedding::{CHARGRAM, EmbeddedRun, Embeddings};
use crate::measures::lineage::{Lineage, LineageSummary};
use crate::measures::metrics::corpus::Corpus;
use crate::measures::metrics::{
    Interval, MIN_VALUES, Match, Metric, PERMUTATIONS, RESAMPLES, SeedExit, Series, Trend, Volume,
    Window, block_interval, measure_in, trend,
};
use crate::measures::nulls::{
    AskedComparison, NullBand, NullComparison, NullPlan, NullProgress, NullTest, compare_in,
};
use crate::pool::Round;
use crate::verify::Transcript;

/// The version of the format of an [`Analysis`].
const SCHEMA_VERSION: u32 = 2;

/// The contents of an analysis.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AnalysisPlan<'a> {
    /// The messages that each value is computed from.
    pub window: Window,
    /// Whether only samples of equal number and length are compared.
    pub matched: bool,
    /// The null runs that the run is compared with; `None` for no comparison. They have all texts, also if samples are
    /// matched.
    pub null: Option<NullPlan>,
    /// The vectors that texts are compared by, too.
    pub embeddings: Option<&'a Embeddings>,
    /// The number of threads for everything but null runs; the result does not depend on it.
    pub threads: usize,
    /// The number of messages with most descendants that are listed.
    pub top: usize,
}

impl Default for AnalysisPlan<'_> {
    fn default() -> Self {
        Self {
            window: Window::default(),
            matched: false,
            null: None,
            embeddings: None,
            threads: 1,
            top: 10,
        }
    }
}

impl AnalysisPlan<'_> {
    /// Returns the comparison that this plan asks for. Bands of vectors need texts that do not exist, so only the local encoder
    /// has them.
    fn asked(&self, null: &NullPlan) -> AskedComparison {
        let encoder = self.embeddings.map(Embeddings::encoder);
        AskedComparison {
            null: *null,
            window: self.window,
            is_embedded: encoder.is_some_and(|encoder| encoder.name == CHARGRAM),
        }
    }
}

/// The measures of a run. The same run and plan give the same bytes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Analysis {
    /// The version of this format: 2.
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
    /// The comparison with a null model.
    #[serde(flatten)]
    pub comparison: Option<NullComparison>,
    /// The metrics.
    pub metrics: Vec<Measured>,
    /// The measures by vectors, with their encoder.
    #[serde(rename = "embedding", skip_serializing_if = "Option::is_none")]
    pub embedded: Option<EmbeddedRun>,
    /// The volume of text.
    pub volume: Volume,
    /// The round in which the last seed message left the window.
    pub seed_exit: SeedExit,
    /// The summary of descent.
    pub lineage: LineageSummary,
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
    /// The values of the null runs in this round, for at most 100 rounds of a run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub null: Option<NullBand>,
}

impl Analysis {
    /// Analyzes a run.
    pub fn of(run: &Transcript, plan: &AnalysisPlan<'_>) -> Self {
        let corpus = Corpus::of(run);
        let mut on_run = |_| ControlFlow::Continue(());
        let null = plan.null.as_ref();
        let compared = null.and_then(|null| {
            let asked = plan.asked(null);
            compare_in(run, &corpus, &asked, &mut on_run)
        });
        Self::measured(run, &corpus, plan, compared).0
    }

    /// Analyzes a run, and tells `on_null_run` after each null run how many are done. If it breaks, the result is `None`.
    pub fn watched(
        run: &Transcript,
        plan: &AnalysisPlan<'_>,
        on_null_run: &mut dyn FnMut(NullProgress) -> ControlFlow<()>,
    ) -> Option<Self> {
        Some(Self::with_lineage(run, plan, on_null_run)?.0)
    }

    /// Analyzes a run, and returns the lineage that the summary is of.
    pub(crate) fn with_lineage(
        run: &Transcript,
        plan: &AnalysisPlan<'_>,
        on_null_run: &mut dyn FnMut(NullProgress) -> ControlFlow<()>,
    ) -> Option<(Self, Lineage)> {
        let corpus = Corpus::of(run);
        let compared = match &plan.null {
            Some(null) => Some(compare_in(run, &corpus, &plan.asked(null), on_null_run)?),
            None => None,
        };
        Some(Self::measured(run, &corpus, plan, compared))
    }

    fn measured(
        run: &Transcript,
        corpus: &Corpus<'_>,
        plan: &AnalysisPlan<'_>,
        comparison: Option<NullComparison>,
    ) -> (Self, Lineage) {
        let matched = (plan.matched)
            .then(|| Match::of(&[run], plan.window))
            .flatten();
        let measured = || -> Vec<Measured> {
            let series = measure_in(run, corpus, plan.window, Metric::ALL, matched);
            (series.into_iter())
                .map(|series| Measured::of(series, run.seed))
                .collect()
        };
        let descent = || Lineage::within(run, corpus);
        let (mut metrics, lineage) = both(plan.threads, measured, descent);
        let bands = comparison.iter().flat_map(|found| &found.rounds);
        for (metric, rounds) in bands {
            let measured = metrics.iter_mut().find(|found| found.name == *metric);
            let points = measured.map_or(&mut [][..], |found| &mut found.points);
            for (at, band) in rounds {
                if let Some(point) = points.get_mut(*at) {
                    point.null = Some(*band);
                }
            }
        }
        let embeddings = plan.embeddings;
        let embedded = embeddings.map(|found| EmbeddedRun::of(run, corpus, plan.window, found));
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
            comparison,
            metrics,
            embedded,
            volume: Volume::of(run, corpus),
            seed_exit: SeedExit::of(run, corpus, plan.window),
            lineage: lineage.summary(run, plan.top),
        };
        (analysis, lineage)
    }

    /// Returns the result of a metric.
    pub fn metric(&self, metric: Metric) -> Option<&Measured> {
        self.metrics.iter().find(|measured| measured.name == metric)
    }

    /// Returns the test of a measure; `None` if it is not compared with a null model.
    pub fn test(&self, metric: Metric) -> Option<&NullTest> {
        self.comparison.as_ref()?.test(metric.name())
    }

    /// Returns the result in a sentence: the verdict, or the similarity of the texts without a comparison; `None` if no
    /// round has enough texts.
    ///
    /// It names no trend: rounds share messages, so runs without selection often have a trend too.
    pub fn sentence(&self) -> Option<String> {
        let verdict = self
            .comparison
            .as_ref()
            .and_then(|found| found.verdict.as_ref());
        if let Some(verdict) = verdict {
            return Some(verdict.sentence.clone());
        }
        let measure = self.metric(Metric::TfidfSimilarity)?;
        let mean = measure.mean?;
        let interval = match measure.interval {
            Some(Interval { low, high }) => format!("95 % interval {low:.2} to {high:.2}"),
            None => format!("no interval below {MIN_VALUES} rounds"),
        };
        Some(format!(
            "The similarity of the texts that can be read is {mean:.2} on average ({interval}), over {} of {} rounds.",
            measure.n, self.rounds
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
