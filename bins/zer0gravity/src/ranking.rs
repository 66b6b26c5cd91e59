//! The ranking of a matrix: its encodings, best first, and the significance of their differences.

use std::fmt::Write as _;

use bin_support::escape;
use zer0gravity_engine::metrics::stats::MeanEstimate;
use zer0gravity_engine::report::{EncodingSystemStatistics, Pairwise, RunReport};

use crate::columns;

/// The adjusted p up to which a difference is significant.
const SIGNIFICANT: f64 = 0.05;

/// A line for each encoding, one for each pair, and the sentence that the page begins with.
pub fn text(report: &RunReport) -> String {
    let statistics = &report.statistics;
    let mut encodings: Vec<_> = statistics.per_encoding.iter().collect();
    let mean = |one: &EncodingSystemStatistics| one.total.mean.unwrap_or(f64::NEG_INFINITY);
    encodings.sort_by(|a, b| mean(b).total_cmp(&mean(a)));
    let head = ["encoding", "total", "saved", "meaning", "texts", "failed"];
    let mut rows = vec![head.map(str::to_owned)];
    rows.extend(encodings.into_iter().map(row));
    let mut text = format!("{}\n\n{}", escape(&report.lead()), columns::text(&rows));
    for pair in &statistics.pairwise {
        if let Some(line) = difference(pair) {
            let _ = writeln!(text, "{line}");
        }
    }
    text
}

fn row(encoding: &EncodingSystemStatistics) -> [String; 6] {
    [
        escape(&encoding.encoding_id),
        estimate(&encoding.total),
        encoding
            .compression_percent
            .mean
            .map_or_else(none, |saved| format!("{saved:.0} %")),
        encoding
            .semantic_preservation
            .mean
            .map_or_else(none, |points| format!("{points:.1}/40")),
        format!("{}/{}", encoding.scored_cases, encoding.cases),
        format!("{}/{}", encoding.failed, encoding.items),
    ]
}

fn none() -> String {
    "-".to_owned()
}

/// Writes a mean and its interval, such as `72.4 [61.0, 83.8]`.
fn estimate(estimate: &MeanEstimate) -> String {
    match (estimate.mean, estimate.ci95) {
        (None, _) => none(),
        (Some(mean), None) => format!("{mean:.1}"),
        (Some(mean), Some(interval)) => {
            format!("{mean:.1} [{:.1}, {:.1}]", interval.low, interval.high)
        }
    }
}

/// Writes a line such as `b is 11.2 points above a (p = 0.062, not significant with 5 texts)`.
fn difference(pair: &Pairwise) -> Option<String> {
    let difference = pair.mean_difference?;
    let (upper, lower) = if difference >= 0.0 {
        (&pair.a, &pair.b)
    } else {
        (&pair.b, &pair.a)
    };
    let texts = match pair.cases {
        1 => "1 text".to_owned(),
        cases => format!("{cases} texts"),
    };
    let sure = match pair.p_holm {
        Some(p) if p <= SIGNIFICANT => format!("p = {p:.3}, significant with {texts}"),
        Some(p) => format!("p = {p:.3}, not significant with {texts}"),
        None => format!("not tested with {texts}"),
    };
    Some(format!(
        "{} is {:.1} points above {} ({sure})",
        escape(upper),
        difference.abs(),
        escape(lower)
    ))
}
