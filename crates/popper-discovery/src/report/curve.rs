//! The discovery curve, and the recall of the additive conserved quantities.

use report_kit::{Axis, Cell, Plot, Section, Series, Status, Table};

use super::cells::counted;
use super::discovery_report::{DiscoveryReport, Point, RecallReport};
use crate::recall::Recall;
use crate::snapshot::Verdicts;

pub(super) fn discovery(report: &DiscoveryReport) -> Section {
    let line = |name: &str, value: &dyn Fn(&Point) -> u64| {
        let points = report.curve.iter().map(|point| {
            let Verdicts {
                pass,
                fail,
                unknown,
            } = point.verdicts;
            ((pass + fail + unknown) as f64, value(point) as f64)
        });
        Series::steps(name, std::iter::once((0.0, 0.0)).chain(points))
    };
    let section = Section::new("Discovery curve").anchor("curve");
    if report.curve.is_empty() {
        return section.text("This run has decided no law itself.");
    }
    let verdicts = Plot::xy(
        "Verdicts as they came",
        Axis::new("laws decided by this run").including(0.0),
        Axis::new("verdicts").including(0.0),
    )
    .with(line("PASS", &|point| point.verdicts.pass))
    .with(line("FAIL", &|point| point.verdicts.fail))
    .with(line("UNKNOWN", &|point| point.verdicts.unknown))
    .in_data();
    let verdicts = Section::new("Verdicts").plot(verdicts);
    let widest = report
        .recall
        .iter()
        .rev()
        .find_map(|reach| reach.recall.as_ref());
    let quantities = widest.filter(|recall| recall.dimension > 0).map(|recall| {
        let name = format!("Conserved quantities found, of {}", recall.dimension);
        let axis = Axis::new("laws decided by this run").including(0.0);
        let top = Axis::new("found")
            .including(0.0)
            .including(recall.dimension as f64);
        let found = line("found", &|point| point.found);
        Section::new("Quantities").plot(Plot::xy(name, axis, top).with(found).in_data())
    });
    section.columns(std::iter::once(verdicts).chain(quantities))
}

pub(super) fn recall(report: &DiscoveryReport) -> Section {
    let section = Section::new("Conserved quantities")
        .anchor("recall")
        .text("Linear algebra gives every additive conserved quantity of the universe up to a window width, whatever was proposed. A quantity is found when it follows from accepted laws that hold on all rings, or on all from some size on. The number of cells is conserved everywhere and does not count.");
    let section = report.recall.iter().fold(section, width);
    let widest = report
        .recall
        .iter()
        .rev()
        .find_map(|reach| reach.recall.as_ref());
    match widest.filter(|recall| !recall.outside.is_empty()) {
        Some(recall) => section.section(other_laws(recall)),
        None => section,
    }
}

fn width(section: Section, reach: &RecallReport) -> Section {
    let title = match reach.width {
        1 => "Windows of one cell".to_owned(),
        width => format!("Windows of up to {width} cells"),
    };
    let Some(recall) = &reach.recall else {
        let why = reach.problem.clone().unwrap_or_default();
        return section.section(Section::new(title).text(format!("Not computed: {why}.")));
    };
    let found = format!(
        "{} of {} found, by {}.",
        recall.found,
        counted(
            recall.dimension as u64,
            "independent quantity",
            "independent quantities"
        ),
        counted(reach.laws, "accepted law", "accepted laws"),
    );
    let quantities = recall.quantities.iter().map(|quantity| {
        let badge = if quantity.found {
            Cell::badge("found", Status::Good)
        } else {
            Cell::badge("not found", Status::Neutral)
        };
        [Cell::code(&quantity.expr), badge]
    });
    let table = Table::new("A basis", ["Quantity", "Found"])
        .rows(quantities)
        .limit(200);
    let part = Section::new(title).text(found);
    section.section(if recall.dimension == 0 {
        part
    } else {
        part.table(table)
    })
}

/// Returns the verdicts on laws that state no additive conserved quantity.
fn other_laws(recall: &Recall) -> Section {
    let columns = [
        "Template",
        "Accepted",
        "Refuted",
        "Undecided",
        "Share accepted",
    ];
    let rows = recall
        .outside
        .iter()
        .map(|(name, verdicts)| (name.as_str(), *verdicts));
    let all = (recall.outside.len() > 1).then(|| ("all of them", recall.other_laws()));
    let rows = rows.chain(all).map(|(name, verdicts)| {
        let decided = verdicts.pass + verdicts.fail + verdicts.unknown;
        [
            Cell::text(name),
            verdicts.pass.into(),
            verdicts.fail.into(),
            verdicts.unknown.into(),
            Cell::number(verdicts.pass as f64 / decided as f64, 2),
        ]
    });
    Section::new("Other laws")
        .text(format!("Laws that state none of the quantities above, up to {} wide: symmetries, implications, bounds, and refuted laws.", counted(recall.width as u64, "cell", "cells")))
        .table(Table::new("By template", columns).rows(rows))
}
