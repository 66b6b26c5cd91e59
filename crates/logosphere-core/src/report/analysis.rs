//! What a run's texts come to: every measure with what it proves, and who descends from whom.

use crate::Transcript;
use crate::lineage::{Lineage, LineageSummary};
use crate::metrics::{
    Interval, Metric, SeedExit, Series, Trend, Volume, Window, block_interval, measure, seed_exit,
    trend, volume,
};
use crate::nulls::{Null, NullBand, NullModel, null_bands};

/// Messages that most come from, in a summary.
const TOP: usize = 20;

/// What a run's texts come to.
#[derive(Debug, Clone, PartialEq)]
pub struct Analysis {
    /// Every measure.
    pub measures: Vec<Measure>,
    /// How many runs of each null model were made; 0 for none.
    pub null_runs: u32,
    /// The innovation of the null models of copiers.
    pub mu: Option<f64>,
    /// When the seeds left the window.
    pub exit: SeedExit,
    /// How much was said.
    pub volume: Volume,
    /// Who comes from whom.
    pub lineage: Lineage,
    /// The same in numbers.
    pub summary: LineageSummary,
}

/// A measure over the rounds, and what it proves.
#[derive(Debug, Clone, PartialEq)]
pub struct Measure {
    /// The values.
    pub series: Series,
    /// How far their mean may be off.
    pub interval: Option<Interval>,
    /// Whether they rise or fall.
    pub trend: Option<Trend>,
    /// What they are compared with.
    pub null: Option<Null>,
    /// Where their mean lies there.
    pub band: Option<NullBand>,
    /// The same for the value of each round.
    pub bands: Vec<Option<NullBand>>,
}

impl Analysis {
    /// Everything there is to say of a run, beside `runs` runs of the null models, or none if that is 0; otherwise at
    /// least [`MIN_RUNS`](crate::nulls::MIN_RUNS). The run's own seed chooses the random numbers.
    pub fn of(run: &Transcript, runs: u32) -> Self {
        let series = measure(run, Window::Active, &Metric::ALL, None);
        let mut measures: Vec<_> = series
            .into_iter()
            .map(|series| {
                let (values, name) = (series.values(), series.metric.name());
                Measure {
                    interval: block_interval(&values, run.seed, name),
                    trend: trend(&values, run.seed, name),
                    null: null_of(series.metric),
                    band: None,
                    bands: Vec::new(),
                    series,
                }
            })
            .collect();
        let mut mu = None;
        for null in [
            Null::RandomCopy { mu: None },
            Null::Shuffle,
            Null::Permutation,
        ] {
            if runs == 0 {
                break;
            }
            if let Null::RandomCopy { mu: of_run } = NullModel::new(run, null, run.seed).null() {
                mu = of_run;
            }
            let compared = (measures.iter_mut()).filter(|measure| measure.null == Some(null));
            compare(run, null, runs, compared.collect());
        }
        let lineage = Lineage::of(run);
        Self {
            measures,
            null_runs: runs,
            mu,
            exit: seed_exit(run, Window::Active),
            volume: volume(run),
            summary: lineage.summary(run, TOP),
            lineage,
        }
    }

    /// One of the measures.
    pub fn measure(&self, metric: Metric) -> Option<&Measure> {
        self.measures
            .iter()
            .find(|measure| measure.series.metric == metric)
    }
}

/// What a measure is compared with. What a null model keeps as it is, and what it fills with words of its own, cannot be
/// compared.
fn null_of(metric: Metric) -> Option<Null> {
    match metric {
        // Who copies decides how much there is of each text.
        Metric::TfidfSimilarity
        | Metric::CompressionRatio
        | Metric::Distinct1
        | Metric::Distinct2
        | Metric::Distinct3
        | Metric::Reuse5gram
        | Metric::PairIdentity
        | Metric::Turnover
        | Metric::SeedEcho => Some(Null::RandomCopy { mu: None }),
        // Whether texts answer what their minds had read is seen when those had read something else.
        Metric::InputSimilarity => Some(Null::Shuffle),
        // Whether rounds matter is seen when they do not.
        Metric::WithinRoundSimilarity | Metric::NearSimilarity | Metric::FarSimilarity => {
            Some(Null::Permutation)
        }
        Metric::Messages | Metric::CharsMean | Metric::CharsMedian | Metric::LostShare => None,
    }
}

/// Sets the bands of these measures, all from the same runs.
fn compare(run: &Transcript, null: Null, runs: u32, measures: Vec<&mut Measure>) {
    let metrics: Vec<_> = (measures.iter())
        .map(|measure| measure.series.metric)
        .collect();
    let rounds = run.rounds.len();
    // For each measure its rounds, then their mean.
    let values = |run: &Transcript| {
        let series = measure(run, Window::Active, &metrics, None).into_iter();
        series
            .flat_map(|series| {
                let mean = series.mean();
                let points = series.points.into_iter().map(|point| point.value);
                points.chain([mean]).collect::<Vec<_>>()
            })
            .collect()
    };
    let mut bands = null_bands(run, null, runs, run.seed, values).into_iter();
    for measure in measures {
        measure.bands = bands.by_ref().take(rounds).collect();
        measure.band = bands.next().flatten();
    }
}
