//! The report as a page: its head, the table of laws, and the order of all sections.

use popper_harness::decide::{Status, Strength};
use report_kit::{Cell, Page, Section, Status as BadgeStatus, Table};

use super::cells::{ROWS, SHOWN, anchor, badge, counted, evidence, titled};
use super::discovery_report::{DiscoveryReport, Judged, Refutation};
use super::{accepted, curve, gather, limits, progress, provenance, refuted};
use crate::enumerative::EnumerativeProposer;
use crate::store::IterationStatus;

/// Laws, and rows of other lists, in the data of the page: more would make it too large.
const EMBEDDED: usize = 400;

/// Returns the page of a run.
///
/// Text of a proposer is escaped text on the page. The page embeds the report as JSON with the name `report`, with at most 400
/// laws, invalid proposals and ranked laws.
pub fn page(report: &DiscoveryReport) -> Page {
    let mut page = Page::new(format!("Laws of {}", report.run.universe_id)).lead(lead(report));
    let (tone, label) = origin(report);
    page = page.origin(tone, label);
    if let Some(notice) = notice(report) {
        page = page.notice(BadgeStatus::Caution, notice);
    }
    if let Some(diagram) = refuted::hero(report) {
        page = page.grid(diagram);
    }
    page.section(laws(report))
        .section(refuted::section(report))
        .section(curve::recall(report))
        .section(curve::discovery(report))
        .section(progress::undecided(report))
        .section(progress::rejected(report))
        .section(accepted::power(report))
        .section(progress::ranking(report))
        .section(progress::iterations(report))
        .section(progress::log(report))
        .section(limits::section(report))
        .provenance(provenance::section(report))
        .data("report", &embedded(report))
}

/// Returns the report as the page embeds it.
fn embedded(report: &DiscoveryReport) -> DiscoveryReport {
    let mut kept = report.clone();
    kept.laws.truncate(EMBEDDED);
    kept.rejected.truncate(EMBEDDED);
    if let Some(ranking) = &mut kept.ranking {
        ranking.laws.truncate(EMBEDDED);
    }
    kept
}

fn lead(report: &DiscoveryReport) -> String {
    let verdicts = &report.verdicts;
    let proposer = &report.run.discovery_model_id;
    let proposer = if proposer == EnumerativeProposer::ID {
        "The enumerative proposer".to_owned()
    } else {
        format!("The proposer {proposer}")
    };
    let proved = (report.laws.iter())
        .filter(|law| law.status == Status::Pass)
        .filter(|law| law.evidence.strength == Some(Strength::Proved))
        .count();
    let proved = if report.has_all_laws() {
        format!(" ({proved} proved for every ring size)")
    } else {
        String::new()
    };
    let tested = report.tested();
    let undecided = match verdicts.unknown {
        0 => String::new(),
        count => format!(", {count} undecided"),
    };
    format!(
        "{} tested: {}{proved}, {} refuted{undecided}. {proposer} looked for laws in {}.",
        counted(tested, "law", "laws"),
        counted(verdicts.pass, "holds", "hold"),
        verdicts.fail,
        counted(
            report.completed,
            "complete iteration",
            "complete iterations"
        ),
    )
}

/// Returns the label of origin.
fn origin(report: &DiscoveryReport) -> (BadgeStatus, String) {
    let calls = &report.calls;
    let models: Vec<&str> = calls.models.iter().map(String::as_str).collect();
    let text = match calls.count {
        0 if report.run.discovery_model_id == EnumerativeProposer::ID => {
            "Offline: no model was called. Every law comes from a program.".to_owned()
        }
        0 => "No call to a model is stored in this run.".to_owned(),
        count => format!(
            "Recorded from {} on {}: {}.",
            models.join(", "),
            report.run.created_at.strftime("%Y-%m-%d"),
            counted(count, "call", "calls")
        ),
    };
    (BadgeStatus::Info, text)
}

/// Returns the notice about a run that is not complete.
fn notice(report: &DiscoveryReport) -> Option<String> {
    let Some(turn) = report.iterations.last() else {
        return Some("No iteration has begun.".to_owned());
    };
    let state = match turn.status {
        IterationStatus::Running => "is running or was interrupted",
        IterationStatus::Aborted => "was stopped",
        IterationStatus::Completed => return None,
    };
    Some(format!(
        "Iteration {} {state}: this page shows the rows stored so far.",
        turn.index
    ))
}

fn laws(report: &DiscoveryReport) -> Section {
    let section = Section::new("Laws").anchor("laws");
    if report.laws.is_empty() {
        return section.text("No law has a verdict yet.");
    }
    let columns = ["Law", "Verdict", "Evidence"];
    let (mut told, mut drawn) = (0, 0);
    let rows = report.laws.iter().map(|law| {
        let shown = match law.status {
            Status::Pass => {
                told += 1;
                told <= SHOWN
            }
            Status::Fail => {
                drawn += 1;
                drawn <= gather::DRAWN
            }
            Status::Unknown => false,
        };
        [
            titled(law, shown),
            badge(law.status),
            match &law.refutation {
                Some(refutation) => refuting(law, refutation, shown),
                None => evidence(law),
            },
        ]
    });
    let table = Table::new("Laws with a verdict", columns)
        .rows(rows)
        .limit(ROWS);
    let mut section = section
        .text("In a claim, [t] after an observable is the step at which it is read. The evidence says how far a verdict reaches: proved for every ring size, exhausted up to a ring size, or sampled.")
        .table(table);
    if !report.has_all_laws() {
        let (newest, all) = (report.laws.len(), report.tested());
        section = section.text(format!(
            "This page shows the newest {newest} of {all} laws with a verdict. The counts, the recall and the curve are about all of them."
        ));
    }
    if !report.has_all_laws() || report.laws.len() > ROWS {
        let command = format!("popper export {}", report.run.id);
        section = section.command("Writes all laws", command);
    }
    match accepted::section(report) {
        Some(accepted) => section.section(accepted),
        None => section,
    }
}

/// Returns the size of a counterexample, with a link to its drawing if it is drawn.
fn refuting(law: &Judged, refutation: &Refutation, shown: bool) -> Cell {
    let cells = refutation.package.initial_state.chars().count();
    let words = format!(
        "counterexample of {}",
        counted(cells as u64, "cell", "cells")
    );
    let link = if shown {
        Cell::link(words, anchor(law))
    } else {
        Cell::text(words)
    };
    let minimal = refutation.package.minimal;
    let size = if minimal {
        "none is smaller"
    } else {
        "a smaller one may exist"
    };
    Cell::Several(vec![link, Cell::text(format!("({size})"))])
}
