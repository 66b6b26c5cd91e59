//! The comparison of the judge with people.

use report_kit::{Cell, Section, Table};

use super::{ROWS, mean};
use crate::report::{RunReport, calibration_lines};

/// Returns the section; `None` for a report without a calibration.
pub(super) fn section(report: &RunReport) -> Option<Section> {
    let calibration = report.calibration.as_deref()?;
    let text = "Kappa has quadratic weights over the bands 0-5, 6-15, 16-27, 28-35 and 36-40; alpha is Krippendorff's for interval data. A positive bias is a judge that gives more points than people do. No score and no total is changed.".to_owned();
    let warnings = calibration.warnings.iter();
    let warnings = warnings.map(|warning| format!("Note: {warning}."));
    let sentences: Vec<String> = std::iter::once(text).chain(warnings).collect();
    let lines = calibration_lines(calibration).into_iter();
    let lines = lines.map(|(name, value)| [Cell::text(name), Cell::text(value)]);
    let section = Section::new("Judge and people")
        .anchor("people")
        .text(sentences.join(" "))
        .table(Table::new("Comparison", ["Compared", "Result"]).rows(lines));
    let rows: Vec<[Cell; 5]> = (report.statistics.per_encoding.iter())
        .filter_map(|encoding| {
            let corrected = encoding.semantic_corrected?;
            let ci95 = corrected.ci95;
            Some([
                Cell::text(&encoding.encoding_id),
                mean(&encoding.semantic_preservation),
                Cell::interval(corrected.mean, ci95.low, ci95.high, 1),
                corrected.labels.into(),
                corrected.texts.into(),
            ])
        })
        .collect();
    if rows.is_empty() {
        return Some(section);
    }
    let columns = [
        "Encoding system",
        "Meaning / 40",
        "Corrected / 40",
        "Labelled texts",
        "Texts",
    ];
    let table = Table::new("Points for meaning, corrected by labels", columns);
    Some(section.table(table.rows(rows).limit(ROWS)))
}
