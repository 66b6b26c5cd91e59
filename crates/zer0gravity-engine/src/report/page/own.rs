//! The scores by the user's rubric.

use report_kit::{Cell, Section, Table};

use super::{ROWS, mean};
use crate::report::RunReport;
use crate::result::{OwnScore, OwnStatus};

/// The table of scorers and encoding systems; `None` without a rubric.
pub(super) fn section(report: &RunReport) -> Option<Section> {
    let encodings = &report.statistics.per_encoding;
    let rows = encodings.iter().flat_map(|encoding| {
        encoding.own_scores.iter().map(|own| {
            [
                Cell::text(&own.id),
                Cell::text(&encoding.encoding_id),
                mean(&own.mean),
                Cell::text(ends(own.scale)),
                own.mean.values.into(),
                own.failed.into(),
            ]
        })
    });
    let rows: Vec<_> = rows.collect();
    if rows.is_empty() {
        return None;
    }
    let name = report
        .config
        .as_ref()
        .and_then(|config| config.rubric.as_ref());
    let name = name.map_or_else(String::new, |rubric| {
        format!(" of the rubric {}", rubric.name)
    });
    let columns = [
        "Measure",
        "Encoding system",
        "Mean",
        "Scale",
        "Results with a score",
        "Scorer failed",
    ];
    let table = Table::new("Own measures", columns).rows(rows).limit(ROWS);
    let text = format!(
        "Measures{name}. They change no other number. Brackets hold 95 % intervals over texts."
    );
    let section = Section::new("Own measures").anchor("own-measures");
    Some(section.text(text).table(table))
}

/// The two ends of a scale.
fn ends([low, high]: [f64; 2]) -> String {
    format!("{low} to {high}")
}

/// The score of a result, with its reason.
pub(super) fn fact(own: &OwnScore) -> Cell {
    let reason = own.reasoning.as_deref().unwrap_or_default();
    let text = match (own.score, own.status) {
        (Some(score), _) => format!("{} {score} ({}) {reason}", own.id, ends(own.scale)),
        (None, OwnStatus::NotApplicable) => format!("{}: the text has nothing to measure", own.id),
        (None, _) => format!("{} failed: {reason}", own.id),
    };
    Cell::text(text.trim_end())
}
