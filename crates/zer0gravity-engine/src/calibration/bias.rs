use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::TextPoints;
use crate::judge::number::rounded;
use crate::metrics::stats::{
    Interval, IntervalMethod, MeanEstimate, UNBOUNDED, holm, mean_and_variance, mean_with_interval,
    quantile,
};

/// The difference judge - people, in points.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct JudgeBias {
    /// The mean over texts.
    pub difference: MeanEstimate,
    /// The difference by properties of the texts. A property that divides too few texts is left out.
    pub by: Vec<BiasContrast>,
}

/// The difference judge - people by a property of the texts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct BiasContrast {
    /// The property: `length` in characters, `chrF++`, or `critical findings`.
    pub property: String,
    /// The mean in each third of the texts, the lowest first; or without critical findings, and with them.
    pub groups: Vec<MeanEstimate>,
    /// The mean of the last group minus that of the first one.
    #[serde(with = "crate::judge::number::plain")]
    pub difference: f64,
    /// The 95 % interval of `difference`, by Welch's t; `None` without spread.
    pub ci95: Option<Interval>,
    /// The two-sided p value, adjusted after Holm over all properties.
    #[serde(with = "crate::judge::number::plain_option")]
    pub p_holm: Option<f64>,
}

impl JudgeBias {
    pub(super) fn of(texts: &[TextPoints<'_>]) -> Self {
        let differences = texts.iter().filter_map(TextPoints::difference);
        let properties = [
            ("length", thirds(texts, |text| Some(text.length))),
            ("chrF++", thirds(texts, |text| text.chrf_pp)),
            ("critical findings", by_findings(texts)),
        ];
        let contrasts = properties.map(|(name, groups)| BiasContrast::of(name, &groups));
        let mut by: Vec<BiasContrast> = contrasts.into_iter().flatten().collect();
        let tested: Vec<f64> = by.iter().filter_map(|one| one.p_holm).collect();
        let tests = by.iter_mut().filter_map(|one| one.p_holm.as_mut());
        for (p, adjusted) in tests.zip(holm(&tested)) {
            *p = rounded(adjusted, 6);
        }
        Self {
            difference: mean_with_interval(&differences.collect::<Vec<_>>(), UNBOUNDED).rounded(),
            by,
        }
    }
}

/// The differences in each third of a property. Texts with equal values are in one third, that of their middle rank.
fn thirds(texts: &[TextPoints<'_>], value: fn(&TextPoints<'_>) -> Option<f64>) -> Vec<Vec<f64>> {
    let known: Vec<(f64, f64)> = (texts.iter())
        .filter_map(|text| Some((value(text)?, text.difference()?)))
        .collect();
    let mut sorted: Vec<f64> = known.iter().map(|(value, _)| *value).collect();
    sorted.sort_by(f64::total_cmp);
    let mut thirds = vec![Vec::new(); 3];
    for (value, difference) in known {
        let below = sorted.partition_point(|other| *other < value);
        let not_above = sorted.partition_point(|other| *other <= value);
        let third = 3 * (below + not_above) / (2 * sorted.len());
        thirds[third.min(2)].push(difference);
    }
    thirds
}

/// The differences of texts without critical findings, and of those with them.
fn by_findings(texts: &[TextPoints<'_>]) -> Vec<Vec<f64>> {
    let with = |has_critical| {
        let chosen = texts
            .iter()
            .filter(move |text| text.has_critical == Some(has_critical));
        chosen.filter_map(TextPoints::difference).collect()
    };
    vec![with(false), with(true)]
}

impl BiasContrast {
    /// Compares the last group with the first one; `None` if one of these has fewer than two texts. `p_holm` is not adjusted.
    fn of(property: &str, groups: &[Vec<f64>]) -> Option<Self> {
        let (low, high) = (groups.first()?, groups.last()?);
        let squared_error = |group: &[f64]| {
            let (mean, variance) = mean_and_variance(group)?;
            Some((mean, variance / group.len() as f64))
        };
        let ((mean_low, of_low), (mean_high, of_high)) =
            (squared_error(low)?, squared_error(high)?);
        let (difference, error) = (mean_high - mean_low, (of_high + of_low).sqrt());
        let welch = |_| {
            let part = |of: f64, group: &[f64]| of.powi(2) / (group.len() - 1) as f64;
            let freedom = error.powi(4) / (part(of_high, high) + part(of_low, low));
            let student = StudentsT::new(0.0, 1.0, freedom).ok()?;
            let reach = quantile(freedom)? * error;
            let interval = Interval {
                low: difference - reach,
                high: difference + reach,
                method: IntervalMethod::T,
            };
            let p = 2.0 * student.cdf(-(difference / error).abs());
            Some((interval.rounded(), p))
        };
        let (ci95, p) = Some(error)
            .filter(|error| *error > 0.0)
            .and_then(welch)
            .unzip();
        let estimate = |group: &Vec<f64>| mean_with_interval(group, UNBOUNDED).rounded();
        Some(Self {
            property: property.to_owned(),
            groups: groups.iter().map(estimate).collect(),
            difference: rounded(difference, 6),
            ci95,
            p_holm: p,
        })
    }
}
