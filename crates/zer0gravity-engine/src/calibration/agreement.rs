use serde::{Deserialize, Serialize};

use crate::judge::number::rounded;
use crate::metrics::stats::krippendorff_alpha;

/// The first points of each band but the first: the bands are 0 to 5, 6 to 15, 16 to 27, 28 to 35 and 36 to 40.
const BAND_STARTS: [f64; 4] = [6.0, 16.0, 28.0, 36.0];
const BANDS: usize = BAND_STARTS.len() + 1;

/// The agreement of the points that several judges or people gave to the same pairs of texts.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PointsAgreement {
    /// The number of pairs of texts with points of two or more.
    pub n: usize,
    /// Cohen's kappa over the five bands, with quadratic weights; `None` if all points are in one band.
    #[serde(with = "crate::judge::number::plain_option")]
    pub kappa: Option<f64>,
    /// Krippendorff's alpha for interval data; `None` if all points are equal.
    #[serde(with = "crate::judge::number::plain_option")]
    pub alpha: Option<f64>,
    /// The share of equal bands, 0 to 1.
    #[serde(with = "crate::judge::number::plain_option")]
    pub observed: Option<f64>,
    /// The share of equal bands by chance, with the bands of both columns.
    #[serde(with = "crate::judge::number::plain_option")]
    pub expected: Option<f64>,
    /// The share of the most frequent band in the second column.
    #[serde(with = "crate::judge::number::plain_option")]
    pub base_rate: Option<f64>,
}

/// The band of points from 0 to 40, from 0 to 4. A mean of several points is in the band of its whole part.
fn band(points: f64) -> usize {
    BAND_STARTS.iter().filter(|start| points >= **start).count()
}

impl PointsAgreement {
    /// Compares the points of each pair of texts, which are in the order of those who gave them. For kappa, any two of them are a row
    /// of two columns; alpha is that of all.
    ///
    /// ```
    /// use zer0gravity_engine::calibration::PointsAgreement;
    /// let agreement = PointsAgreement::of(&[vec![3.0, 5.0], vec![20.0, 17.0], vec![40.0, 36.0]]);
    /// assert_eq!((agreement.kappa, agreement.observed), (Some(1.0), Some(1.0)));
    /// ```
    pub fn of(units: &[Vec<f64>]) -> Self {
        let mut rows = Vec::new();
        for points in units {
            for (place, first) in points.iter().enumerate() {
                let others = points[place + 1..].iter();
                rows.extend(others.map(|second| (band(*first), band(*second))));
            }
        }
        if rows.is_empty() {
            return Self::default();
        }
        let n = rows.len() as f64;
        let mut columns = [[0.0; BANDS]; 2];
        for &(first, second) in &rows {
            columns[0][first] += 1.0 / n;
            columns[1][second] += 1.0 / n;
        }
        let square = |a: usize, b: usize| a.abs_diff(b).pow(2) as f64;
        let distance = rows.iter().map(|&(a, b)| square(a, b)).sum::<f64>() / n;
        let (mut by_chance, mut equal_by_chance) = (0.0, 0.0);
        for (a, first) in columns[0].iter().enumerate() {
            for (b, second) in columns[1].iter().enumerate() {
                by_chance += square(a, b) * first * second;
            }
            equal_by_chance += first * columns[1][a];
        }
        let equal = rows.iter().filter(|(a, b)| a == b).count();
        let figure = |value| rounded(value, 6);
        Self {
            n: units.iter().filter(|points| points.len() >= 2).count(),
            kappa: (by_chance > 0.0).then(|| figure(1.0 - distance / by_chance)),
            alpha: krippendorff_alpha(units).map(figure),
            observed: Some(figure(equal as f64 / n)),
            expected: Some(figure(equal_by_chance)),
            base_rate: Some(figure(columns[1].into_iter().fold(0.0, f64::max))),
        }
    }
}
