//! The refuted laws, each with its diagrams.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use popper_harness::counterexample::Counterexample;
use popper_harness::decide::Status;
use popper_harness::universe::KineticGrid;
use report_kit::{Cell, Section, SpaceTime, Table};
use serde_json::Value;

use super::cells::{anchor, claim, counted, name, said};
use super::diagram::Diagram;
use super::discovery_report::{DiscoveryReport, Judged, Refutation};
use super::gather;
use super::wording::spaced;

/// Observables of a witness that are shown.
const MEASURED: usize = 64;
/// Characters of a state in a line.
const STATE: usize = 200;
/// The states and the cells of the diagram at the top of the page.
const STEPS: usize = 16;
const CELLS: usize = 24;

pub(super) fn section(report: &DiscoveryReport) -> Section {
    let refuted: Vec<(&Judged, &Refutation)> = (report.laws.iter())
        .filter(|law| law.status == Status::Fail)
        .filter_map(|law| Some((law, law.refutation.as_ref()?)))
        .collect();
    let mut section = Section::new("Counterexamples").anchor("counterexamples");
    if refuted.is_empty() {
        return section.text("Nothing was refuted.");
    }
    section = section.text("Each law fails on the start that is shown. Time runs downwards, and the frame is where the claim fails. All can be derived again from their packages in the data of this page.");
    if refuted.len() > gather::DRAWN {
        section = section.text(format!(
            "The first {} of {} are shown.",
            gather::DRAWN,
            refuted.len()
        ));
    }
    let meanings = meanings(report);
    (refuted.into_iter().take(gather::DRAWN)).fold(section, |section, (law, refutation)| {
        section.section(shown(law, refutation, &meanings, is_built_in(report)))
    })
}

/// The diagram at the top of the page: a minimal counterexample with the most steps, then the largest ring, then the first name.
/// One that fits is preferred.
pub(super) fn hero(report: &DiscoveryReport) -> Option<SpaceTime> {
    let drawn = report.laws.iter().filter_map(|law| {
        let refutation = law.refutation.as_ref()?;
        let diagram = refutation.diagrams.first()?;
        refutation
            .package
            .minimal
            .then_some((law, refutation, diagram))
    });
    let (law, refutation, diagram) = drawn.max_by_key(|(law, refutation, diagram)| {
        let cells = refutation.package.initial_state.chars().count();
        let fits = diagram.rows.len() <= STEPS && cells <= CELLS;
        let steps = refutation.package.t_fail;
        (fits, steps, cells, Reverse(name(law)))
    })?;
    let steps = refutation.package.t_fail;
    let title = format!("{} fails at step {steps}", claim(law));
    Some(drawing(title, &cropped(diagram), &meanings(report)))
}

/// The part of a diagram around the failure that fits the top of the page.
fn cropped(diagram: &Diagram) -> Diagram {
    let (row, column) = (diagram.failure.as_ref())
        .map_or((0, 0), |failure| (failure.row, failure.column.unwrap_or(0)));
    let width = diagram.rows.iter().map(|row| row.chars().count()).max();
    let spare = |all: usize, room: usize| all.saturating_sub(room);
    let top = spare(row + 2, STEPS).min(spare(diagram.rows.len(), STEPS));
    let left = spare(column, CELLS / 2).min(spare(width.unwrap_or(0), CELLS));
    let mut part = diagram.clone();
    part.time += top as u64;
    part.cell += left as u64;
    part.rows = (diagram.rows.iter().skip(top).take(STEPS))
        .map(|cells| cells.chars().skip(left).take(CELLS).collect())
        .collect();
    if let Some(failure) = &mut part.failure {
        failure.row -= top;
        failure.column = failure.column.map(|column| column - left);
    }
    part
}

fn shown(
    law: &Judged,
    refutation: &Refutation,
    meanings: &[(char, &str)],
    is_built_in: bool,
) -> Section {
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
    let section = Section::new(claim(law))
        .anchor(anchor(law))
        .folded()
        .facts(facts);
    let section = measured(section, &witness.now, &witness.next, package.t_fail);
    let section = match command(package, is_built_in) {
        Some(command) => section.command("Shows it again", command),
        None => section,
    };
    (refutation.diagrams.iter()).fold(section, |section, diagram| {
        let section = section.grid(drawing(&diagram.title, diagram, meanings));
        match &diagram.note {
            Some(note) => section.text(note),
            None => section,
        }
    })
}

/// The command that runs the start up to the failure; `None` for a start that the command line takes for something else.
fn command(package: &Counterexample, is_built_in: bool) -> Option<String> {
    let start = &package.initial_state;
    let is_plain = start.len() <= STATE && !start.starts_with('-') && !start.contains('\n');
    let universe = if is_built_in {
        ""
    } else {
        " --universe UNIVERSE.json"
    };
    let steps = package.t_fail.saturating_add(1);
    let quoted = start.replace('\'', "'\\''");
    is_plain.then(|| format!("popper simulate '{quoted}' -n {steps}{universe}"))
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

/// Whether the universe is the one that commands use by default.
fn is_built_in(report: &DiscoveryReport) -> bool {
    report.config.universe == KineticGrid::ID
}

/// The meaning of the symbols: known for the built-in universe, else only of the background.
fn meanings(report: &DiscoveryReport) -> Vec<(char, &'static str)> {
    let known: &[&str] = if is_built_in(report) {
        &["empty", "moves right", "moves left", "both, in one cell"]
    } else {
        &["background"]
    };
    let meaning =
        |(index, symbol): (usize, &char)| (*symbol, known.get(index).copied().unwrap_or(""));
    report.symbols.iter().enumerate().map(meaning).collect()
}

fn drawing(title: impl Into<String>, diagram: &Diagram, meanings: &[(char, &str)]) -> SpaceTime {
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
