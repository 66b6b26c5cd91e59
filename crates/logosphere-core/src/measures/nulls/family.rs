//! The tests of a comparison and their families.

use serde::Serialize;

use super::statistics::{NullBand, holm, two_sided_p};
use crate::measures::embedding::EmbedMeasure;
use crate::measures::metrics::Metric;

/// A group of tests. The p values of a family are corrected for their number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Family {
    /// Choice and similarity, which the verdict follows from. Choice is a further test if reads are assumed.
    Primary,
    /// Further measures with a p.
    Secondary,
    /// Measures with a band and without a p, which is not near to uniform for them.
    Band,
}

impl Family {
    /// The measures that are compared with neutral descent. Choice is in the primary family, too.
    pub const MEASURES: &[(Metric, Self)] = &[
        (Metric::TfidfSimilarity, Self::Primary),
        (Metric::WithinRoundSimilarity, Self::Secondary),
        (Metric::NearSimilarity, Self::Secondary),
        (Metric::InputSimilarity, Self::Secondary),
        (Metric::Distinct1, Self::Secondary),
        (Metric::SeedEcho, Self::Secondary),
        (Metric::CharsMean, Self::Secondary),
        (Metric::Distinct2, Self::Band),
        (Metric::PairIdentity, Self::Band),
        (Metric::Turnover, Self::Band),
    ];

    /// Sets the corrected p of all tests.
    pub(super) fn correct(tests: &mut [NullTest]) {
        for family in [Self::Primary, Self::Secondary] {
            let mut of_family: Vec<&mut NullTest> = (tests.iter_mut())
                .filter(|test| test.family == family && test.p.is_some())
                .collect();
            let p: Vec<f64> = of_family.iter().filter_map(|test| test.p).collect();
            for (test, corrected) in of_family.iter_mut().zip(holm(&p)) {
                test.p_holm = Some(corrected);
            }
        }
    }
}

/// A number of a run among those of null runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NullTest {
    /// The name: `choice`, or that of the measure.
    pub name: &'static str,
    /// The family.
    pub family: Family,
    /// The number of the run, computed from tokens: the largest distance of a z from 0, or the mean over the rounds.
    pub observed: f64,
    /// The median of the null runs.
    pub median: f64,
    /// Their quantile 0.025.
    pub low: f64,
    /// Their quantile 0.975.
    pub high: f64,
    /// The p alone; `None` for a band.
    pub p: Option<f64>,
    /// The p corrected for the tests of the family by Holm's method; `None` for a band.
    pub p_holm: Option<f64>,
}

impl NullTest {
    /// The name of the test of choice.
    pub const CHOICE: &str = "choice";

    fn new(name: &'static str, family: Family, observed: f64, null: Vec<f64>) -> Option<Self> {
        let NullBand { median, low, high } = NullBand::new(null)?;
        Some(Self {
            name,
            family,
            observed,
            median,
            low,
            high,
            p: None,
            p_holm: None,
        })
    }

    pub(super) fn choice(family: Family, observed: f64, null: Vec<f64>, p: f64) -> Option<Self> {
        let test = Self::new(Self::CHOICE, family, observed, null)?;
        Some(Self { p: Some(p), ..test })
    }

    /// Returns the band of a number, without a p.
    pub(super) fn band(name: &'static str, observed: f64, null: Vec<f64>) -> Option<Self> {
        Self::new(name, Family::Band, observed, null)
    }

    /// Returns the title for people.
    pub fn title(&self) -> &'static str {
        let metric = Metric::named(self.name).map(Metric::title);
        let title = metric.or_else(|| EmbedMeasure::named(self.name).map(EmbedMeasure::title));
        title.unwrap_or("choice, largest z")
    }

    /// Returns the test of a measure; `None` if the run or all null runs lack it.
    pub(super) fn of(
        metric: Metric,
        family: Family,
        observed: Option<f64>,
        null: Vec<f64>,
    ) -> Option<Self> {
        let observed = observed?;
        let p = (family != Family::Band).then(|| two_sided_p(observed, &null));
        let test = Self::new(metric.name(), family, observed, null)?;
        Some(Self { p, ..test })
    }
}
