//! The refuted laws, each with its diagrams.

use std::collections::BTreeMap;

use popper_harness::decide::Status;
use popper_harness::universe::KineticGrid;
use report_kit::{Cell, Section, SpaceTime, Table};
use serde_json::Value;

use super::cells::{anchor, counted, name, said};
use super::diagram::Diagram;
use super::discovery_report::{DiscoveryReport, Judged, Refutation};
use super::gather;
use super::wording::spaced;

/// Observables of a witness that are shown.
const MEASURED: usize = 64;
/// Characters of a state in a line.
const STATE: usize = 200;

pub(super) fn section(report: &DiscoveryReport) -> Section {
    let refuted: Vec<(&Judged, &Refutation)> = (report.laws.iter())
        .filter(|law| law.status == Status::Fail)
        .filter_map(|law| Some((law, law.refutation.as_ref()?)))
        .collect();
    let mut section = Section::new("Counterexamples").anchor("counterexamples");
    if refuted.is_empty() {
        return section.text("Nothing was refuted.");
    }
    section = section.text("Time runs downwards. The frame is where the claim fails. Each of them can be derived again from its package, which is in the data of this page.");
    if refuted.len() > gather::DRAWN {
        section = section.text(format!(
            "The first {} of {} are shown.",
            gather::DRAWN,
            refuted.len()
        ));
    }
    let meanings = meanings(report);
    (refuted.into_iter().take(gather::DRAWN)).fold(section, |section, (law, refutation)| {
        section.section(shown(law, refutation, &meanings))
    })
}

/// The diagram of the refutation with the smallest start; of equals, the first.
pub(super) fn smallest(report: &DiscoveryReport) -> Option<SpaceTime> {
    let drawn = report.laws.iter().filter_map(|law| {
        let refutation = law.refutation.as_ref()?;
        Some((law, refutation, refutation.diagrams.first()?))
    });
    let cells = |refutation: &Refutation| refutation.package.initial_state.chars().count();
    let (law, _, diagram) = drawn.min_by_key(|(_, refutation, _)| cells(refutation))?;
    let title = format!("The smallest refutation: {}", name(law));
    Some(titled(&title, diagram, &meanings(report)))
}

fn shown(law: &Judged, refutation: &Refutation, meanings: &[(char, &str)]) -> Section {
    let package = &refutation.package;
    let witness = &package.witness;
    let cells = package.initial_state.chars().count() as u64;
    let size = match (package.minimal, package.minimized) {
        (true, _) => "no smaller one exists",
        (false, true) => "made smaller; a smaller one may exist",
        (false, false) => "as it was found; a smaller one may exist",
    };
    let sides = format!("{} {} {}", witness.left, witness.op, witness.right);
    let start = super::cells::shortened(&package.initial_state, STATE);
    let mut facts = said(law);
    facts.extend([
        ("Start", Cell::code(start)),
        (
            "Size",
            Cell::text(format!("{}: {size}", counted(cells, "cell", "cells"))),
        ),
        ("Fails at t", package.t_fail.into()),
        ("Violated comparison", Cell::code(sides)),
    ]);
    let section = Section::new(name(law)).anchor(anchor(law)).facts(facts);
    let section = measured(section, &witness.now, &witness.next, package.t_fail);
    (refutation.diagrams.iter()).fold(section, |section, diagram| {
        let section = section.grid(drawing(diagram, meanings));
        match &diagram.note {
            Some(note) => section.text(note),
            None => section,
        }
    })
}

/// The values of the observables at the step where the claim fails and at the next one.
fn measured(
    section: Section,
    now: &BTreeMap<String, Value>,
    next: &BTreeMap<String, Value>,
    t_fail: u64,
) -> Section {
    if now.is_empty() {
        return section;
    }
    let value = |value: Option<&Value>| match value {
        None => Cell::Missing,
        Some(Value::String(reason)) => Cell::text(reason),
        Some(value) => value
            .as_i64()
            .map_or_else(|| Cell::code(value.to_string()), Cell::from),
    };
    let columns = [
        "Observable".to_owned(),
        format!("t = {t_fail}"),
        format!("t = {}", t_fail.saturating_add(1)),
    ];
    let rows = (now.iter()).map(|(expr, at)| {
        [
            Cell::code(spaced(expr)),
            value(Some(at)),
            value(next.get(expr)),
        ]
    });
    section.table(Table::new("Witness", columns).rows(rows).limit(MEASURED))
}

/// The meaning of the symbols: known for the built-in universe, else only of the background.
fn meanings(report: &DiscoveryReport) -> Vec<(char, &'static str)> {
    let known: &[&str] = if report.config.universe == KineticGrid::ID {
        &["empty", "moves right", "moves left", "both, in one cell"]
    } else {
        &["background"]
    };
    let meaning =
        |(index, symbol): (usize, &char)| (*symbol, known.get(index).copied().unwrap_or(""));
    report.symbols.iter().enumerate().map(meaning).collect()
}

fn drawing(diagram: &Diagram, meanings: &[(char, &str)]) -> SpaceTime {
    titled(&diagram.title, diagram, meanings)
}

fn titled(title: &str, diagram: &Diagram, meanings: &[(char, &str)]) -> SpaceTime {
    let rows = diagram.rows.iter().cloned();
    let mut grid = SpaceTime::new(title, rows).origin(diagram.time, diagram.cell);
    for (symbol, meaning) in meanings {
        grid = grid.symbol(*symbol, *meaning);
    }
    match &diagram.failure {
        None => grid,
        Some(failure) => match failure.column {
            Some(column) => grid.mark(failure.row, column, &failure.note),
            None => grid.mark_row(failure.row, &failure.note),
        },
    }
}
