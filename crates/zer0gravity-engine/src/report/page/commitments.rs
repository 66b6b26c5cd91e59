//! The commitments that decoded texts kept, by kind.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use atoms::Kind;
use report_kit::{Cell, Section, Table};

use super::experiments::ExperimentView;
use super::{ROWS, counted, mean};
use crate::ExperimentResult;
use crate::report::RunReport;
use crate::report::grouped::{Group, groups, over_texts};
use crate::result::{AtomMetrics, KindMetrics};

/// The ends of a kept share in percent.
const PERCENT: (f64, f64) = (0.0, 100.0);

/// The table of kinds and encoding systems; `None` if no result has commitments.
pub(super) fn section(report: &RunReport, told: &ExperimentView) -> Option<Section> {
    let groups = groups(&report.results);
    let mut own: BTreeMap<&str, (Vec<&Group<'_>>, Vec<usize>)> = BTreeMap::new();
    for group in &groups {
        own.entry(group.encoding).or_default().0.push(group);
    }
    for (index, result) in report.results.iter().enumerate() {
        own.entry(&result.encoding_id).or_default().1.push(index);
    }
    let mut rows = Vec::new();
    for kind in Kind::ALL {
        for encoding in &report.statistics.per_encoding {
            let (groups, indexes) = own.get(encoding.encoding_id.as_str())?;
            rows.extend(row(report, told, kind, groups, indexes));
        }
    }
    if rows.is_empty() {
        return None;
    }
    let columns = [
        "Commitment",
        "Encoding system",
        "Kept, %",
        "Kept",
        "Invented",
        "Worst text",
    ];
    let mut text = "Word lists find what a text commits to, without a model: a difference is a reason to look, and a kept commitment does not prove a kept meaning. Every decoded text counts. Brackets hold 95 % intervals over texts.".to_owned();
    let foreign = report.results.iter().filter_map(atoms);
    let foreign = foreign
        .filter(|atoms| atoms.language == "unsupported")
        .count();
    if foreign > 0 {
        let _ = write!(
            text,
            " Of {} only identifiers, numbers and dates in digits are compared, because the lists are English.",
            counted(foreign, "decoded text", "decoded texts")
        );
    }
    let table = Table::new("Commitments by kind", columns)
        .rows(rows)
        .limit(ROWS);
    let section = Section::new("Commitments").anchor("commitments");
    Some(section.text(text).table(table))
}

/// The row of a kind and an encoding system; `None` if no text of it has that kind.
fn row(
    report: &RunReport,
    told: &ExperimentView,
    kind: Kind,
    groups: &[&Group<'_>],
    indexes: &[usize],
) -> Option<[Cell; 6]> {
    let of = |index: &usize| numbers(&report.results[*index], kind);
    let mut sum = KindMetrics::default();
    for one in indexes.iter().filter_map(of) {
        sum.kept += one.kept;
        sum.total += one.total;
        sum.invented += one.invented;
    }
    if sum == KindMetrics::default() {
        return None;
    }
    let differences = |index: &usize| {
        of(index).map_or(0, |one| one.total.saturating_sub(one.kept) + one.invented)
    };
    // Of equals the first.
    let worst = indexes.iter().rev().max_by_key(|index| differences(index));
    let worst = worst.filter(|index| differences(index) > 0);
    let share = |result: &ExperimentResult| {
        let one = numbers(result, kind).filter(|one| one.total > 0)?;
        Some(100.0 * one.kept as f64 / one.total as f64)
    };
    Some([
        Cell::text(kind.name()),
        Cell::text(groups.first()?.encoding),
        mean(&over_texts(groups, share, PERCENT)),
        Cell::text(format!("{} of {}", sum.kept, sum.total)),
        sum.invented.into(),
        worst.map_or(Cell::Missing, |index| told.link(report, *index)),
    ])
}

fn atoms(result: &ExperimentResult) -> Option<&AtomMetrics> {
    result.metrics.as_ref()?.atoms.as_deref()
}

fn numbers(result: &ExperimentResult, kind: Kind) -> Option<KindMetrics> {
    atoms(result)?.by_kind.get(kind.name()).copied()
}
