//! The sections on undecided laws, rejected proposals and iterations.

use popper_harness::decide::Status;
use report_kit::{Cell, Entry, SearchableList, Section, Status as BadgeStatus, Table};

use super::cells::{ROWS, claim, counted, short, titled};
use super::discovery_report::{DiscoveryReport, Rejected, TurnPlan};
use crate::store::IterationStatus;

/// Rejected proposals that are listed.
pub(super) const LISTED: usize = 200;
/// Problems of a proposal that are listed.
const REASONS: usize = 20;
/// Laws of a ranking that are listed.
pub(super) const RANKED: usize = 100;

pub(super) fn undecided(report: &DiscoveryReport) -> Section {
    let section = Section::new("Undecided laws").anchor("undecided");
    if report.verdicts.unknown == 0 {
        return section.text("Every law that was tested is decided.");
    }
    let columns = [
        "Law",
        "Reason",
        "Notes, and the change that would decide it",
    ];
    let unknown = report
        .laws
        .iter()
        .filter(|law| law.status == Status::Unknown);
    let rows = unknown.map(|law| {
        let mut seen = law.notes.join("; ");
        if let Some(needs) = &law.needs {
            seen = format!("{seen}\nNeeded: {needs}");
        }
        [
            titled(law, false),
            Cell::text(law.reason.clone().unwrap_or_default().replace('_', " ")),
            Cell::text(seen.trim()),
        ]
    });
    let table = Table::new("Laws that are neither accepted nor refuted", columns).rows(rows);
    section.table(table.limit(ROWS))
}

pub(super) fn rejected(report: &DiscoveryReport) -> Section {
    let section = Section::new("Rejected proposals").anchor("rejected");
    if report.rejected.is_empty() {
        return section.text("Every proposal was a law of the language.");
    }
    let section = section.text(format!(
        "{} invalid: stored, and not tested.",
        counted(report.invalid, "proposal is", "proposals are")
    ));
    let newest = report.rejected.len();
    let section = if report.invalid > newest as u64 {
        section.text(format!(
            "The first {LISTED} of the newest {newest} are listed."
        ))
    } else if newest > LISTED {
        section.text(format!("The first {LISTED} are listed."))
    } else {
        section
    };
    let entries = report.rejected.iter().take(LISTED).map(entry);
    section.list(SearchableList::new("Proposals", entries))
}

fn entry(rejected: &Rejected) -> Entry {
    let title = match rejected.law_id.trim() {
        "" => "(without a name)",
        name => name,
    };
    let entry = Entry::new(title).fact("iteration", rejected.iteration);
    let reasons = rejected.problems.iter().take(REASONS);
    let mut entry = reasons.fold(entry, |entry, problem| {
        entry
            .text(
                BadgeStatus::Bad,
                format!("{}: {}", problem.path, problem.message),
            )
            .text(BadgeStatus::Neutral, "\n")
    });
    if rejected.problems.len() > REASONS {
        let more = rejected.problems.len() - REASONS;
        entry = entry.text(BadgeStatus::Neutral, format!("and {more} more\n"));
    }
    let entry = entry.text(BadgeStatus::Neutral, rejected.raw.clone());
    let kept = rejected.raw.chars().count() as u64;
    if kept < rejected.raw_characters {
        let note = format!(
            "\nThe first {kept} of {} characters.",
            rejected.raw_characters
        );
        entry.text(BadgeStatus::Neutral, note)
    } else {
        entry
    }
}

pub(super) fn iterations(report: &DiscoveryReport) -> Section {
    let columns = [
        "Iteration",
        "Status",
        "Proposed",
        "Invalid",
        "Repeated",
        "Known",
        "To test",
        "PASS",
        "FAIL",
        "UNKNOWN",
    ];
    let rows = report.iterations.iter().map(|turn| {
        let status = match turn.status {
            IterationStatus::Running => Cell::badge("running", BadgeStatus::Caution),
            IterationStatus::Completed => Cell::badge("completed", BadgeStatus::Good),
            IterationStatus::Aborted => Cell::badge("aborted", BadgeStatus::Caution),
        };
        let plan = turn.plan.as_ref();
        let number = |read: &dyn Fn(&TurnPlan) -> u64| Cell::from(plan.map(read));
        let verdicts = plan.and_then(|plan| plan.verdicts);
        [
            turn.index.into(),
            status,
            number(&|plan| plan.proposed),
            number(&|plan| plan.rejected),
            number(&|plan| plan.duplicates),
            number(&|plan| plan.known),
            number(&|plan| plan.selected),
            verdicts.map(|verdicts| verdicts.pass).into(),
            verdicts.map(|verdicts| verdicts.fail).into(),
            verdicts.map(|verdicts| verdicts.unknown).into(),
        ]
    });
    let section = Section::new("Iterations").anchor("iterations").folded();
    let newest = report.iterations.len();
    let section = match report.iterations.last() {
        Some(last) if last.index as usize > newest => section.text(format!(
            "This page shows the newest {newest} of {} iterations.",
            last.index
        )),
        _ => section,
    };
    section
        .text("Repeated: the run had this law already. Known: the database had its verdict under the same universe and configuration, so it was not tested again. The verdicts of an iteration are shown once all of them are known.")
        .table(Table::new("Iterations", columns).rows(rows).limit(ROWS))
}

pub(super) fn log(report: &DiscoveryReport) -> Section {
    let noted = report.iterations.iter().filter_map(|turn| {
        let plan = turn.plan.as_ref()?;
        if plan.research_log.is_none() && plan.problem.is_none() {
            return None;
        }
        let mut entry = Entry::new(format!("Iteration {}", turn.index));
        if let Some(problem) = &plan.problem {
            entry = entry
                .text(
                    BadgeStatus::Bad,
                    format!("The reply could not be read as a whole: {problem}"),
                )
                .text(BadgeStatus::Neutral, "\n");
        }
        let log = plan.research_log.clone().unwrap_or_default();
        Some(entry.text(BadgeStatus::Neutral, log))
    });
    let mut entries: Vec<Entry> = noted.collect();
    let total = entries.len();
    entries.truncate(ROWS);
    let section = Section::new("Research log").anchor("log").folded();
    match total {
        0 => section.text("The proposer noted nothing."),
        _ if total > ROWS => section
            .text(format!("The first {ROWS} of {total} notes are listed."))
            .list(SearchableList::new("Notes", entries)),
        _ => section.list(SearchableList::new("Notes", entries)),
    }
}

pub(super) fn ranking(report: &DiscoveryReport) -> Section {
    let section = Section::new("Ranking").anchor("ranking").folded();
    let Some(ranking) = &report.ranking else {
        return section.text("Nothing was ranked.");
    };
    let columns = [
        "Law",
        "Tested",
        "Score",
        "Risk",
        "Novelty",
        "Discrimination",
        "Testability",
        "Redundancy",
    ];
    let rows = ranking.laws.iter().map(|ranked| {
        let known = report
            .laws
            .iter()
            .find(|law| law.law_fingerprint == ranked.law_fingerprint);
        let features = &ranked.features;
        let chosen = ranking.selected.contains(&ranked.law_fingerprint);
        [
            known.map_or_else(
                || Cell::code(short(&ranked.law_fingerprint)),
                |law| Cell::text(claim(law)),
            ),
            if chosen {
                Cell::text("yes")
            } else {
                Cell::Missing
            },
            Cell::number(ranked.score, 3),
            Cell::number(features.risk, 3),
            Cell::number(features.novelty, 3),
            Cell::number(features.discrimination, 3),
            Cell::number(features.testability, 3),
            Cell::number(features.redundancy, 3),
        ]
    });
    let title = format!("Laws that waited in iteration {}", ranking.iteration);
    section
        .text("The score is the weighted sum of risk, novelty, discrimination and testability, less redundancy; each is from 0 to 1. A run keeps the best 50 laws of a ranking.")
        .table(Table::new(title, columns).rows(rows).limit(RANKED))
}
