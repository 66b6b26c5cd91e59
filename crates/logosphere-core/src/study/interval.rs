//! The interval of a mean over independent runs.

use statrs::distribution::{ContinuousCDF as _, StudentsT};

/// The mean with the ends of its 95 % interval.
pub(super) fn interval(values: &[f64]) -> Option<[f64; 3]> {
    let count = values.len() as f64;
    if values.is_empty() {
        return None;
    }
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let half = StudentsT::new(0.0, 1.0, count - 1.0).map_or(0.0, |distribution| {
        distribution.inverse_cdf(0.975) * (squares / (count - 1.0) / count).sqrt()
    });
    Some([mean, mean - half, mean + half])
}
