//! The page of a fork.

use report_kit::{Cell, Page, Section, Status, Table};

use super::difference::ArmDifference;
use super::summary::ForkSummary;
use crate::measures::metrics::Metric;
use crate::measures::verdict::p_value;
use crate::study::unreadable;

/// Returns the page of a fork: one file that uses no network, with the same bytes for the same runs. `is_offline` says whether
/// scripted minds answered, whose random numbers both arms share.
pub fn page(summary: &ForkSummary, is_offline: bool) -> Page {
    let title = format!(
        "Fork at {}: {} replicates",
        summary.point, summary.replicates
    );
    let mut page = Page::new(title).lead(lead(summary));
    if let Some(notice) = &summary.notice {
        page = page.notice(Status::Caution, notice);
    }
    for stopped in &summary.stopped {
        page = page.notice(Status::Caution, stopped);
    }
    if !is_offline {
        let shared = "Model answers are not shared between arms: a model may answer the same request in another way.";
        page = page.notice(Status::Info, shared);
    }
    if !summary.followed.is_empty() {
        page = page.section(followed(summary));
    }
    if !summary.unreadable.is_empty() {
        let next = "The same command makes a run again once its folder is moved away.";
        page = page.section(unreadable::section(&summary.unreadable, next));
    }
    page.section(differences(summary))
        .section(firsts(summary).folded())
        .data("summary", summary)
}

/// Returns the result in a few sentences.
fn lead(summary: &ForkSummary) -> String {
    let found: Vec<String> = (summary.differences.iter())
        .filter(|row| row.p_holm.is_some_and(|p| p <= 0.05))
        .map(|row| format!("{} ({}, {:+.3})", row.measure, row.part, row.mean))
        .collect();
    let differ = summary.first_differences.iter().flatten().count();
    let runs = format!(
        "Runs differ between the arms in {differ} of {} replicates.",
        summary.replicates
    );
    if found.is_empty() {
        format!("{runs} No measure differs more than chance gives.")
    } else {
        format!("{runs} These measures differ: {}.", found.join(", "))
    }
}

fn followed(summary: &ForkSummary) -> Section {
    let rows = summary.followed.iter().map(|message| {
        let [share, low, high] = message.share;
        [
            Cell::text(message.id.to_string()),
            Cell::text(message.arm),
            Cell::text(&message.text),
            Cell::number(message.descendants, 1),
            Cell::number(share, 3),
            Cell::text(format!("{low:.3} to {high:.3}")),
        ]
    });
    let columns = [
        "Message",
        "Arm",
        "Text",
        "Descendants",
        "Share of the last window",
        "95 %",
    ];
    Section::new("Messages that were put in or taken out")
        .anchor("messages")
        .text("Descendants and share are means over the replicates. A message that was taken out is followed in the control arm, in which it stayed.")
        .table(Table::new("Messages", columns).rows(rows))
}

fn differences(summary: &ForkSummary) -> Section {
    let row = |row: &ArmDifference| {
        let title = match Metric::named(&row.measure) {
            Some(metric) => metric.title(),
            None => row.measure.as_str(),
        };
        [
            Cell::text(title),
            Cell::text(row.part),
            Cell::number(row.control, 3),
            Cell::number(row.treated, 3),
            Cell::number(row.mean, 3),
            Cell::text(format!("{:.3} to {:.3}", row.low, row.high)),
            row.p_holm.map_or(Cell::Missing, |p| Cell::text(p_value(p))),
        ]
    };
    let columns = [
        "Measure",
        "Part",
        "Control",
        "Treated",
        "Difference",
        "95 %",
        "p",
    ];
    Section::new("Differences")
        .anchor("differences")
        .text("The mean over the replicates of treated less control: of the mean over the rounds since the fork, and of the last window. p is the share of sign changes of the differences with a mean at least as far from 0, corrected for all rows by Holm's method.")
        .table(Table::new("Differences of the arms", columns).rows(summary.differences.iter().map(row)))
}

fn firsts(summary: &ForkSummary) -> Section {
    let rows = (0..).zip(&summary.first_differences);
    let rows = rows.map(|(replicate, point): (u64, _)| {
        [
            replicate.into(),
            point.as_ref().map_or(Cell::Missing, Cell::text),
        ]
    });
    Section::new("First differing calls")
        .anchor("first")
        .table(Table::new("First calls that differ", ["Replicate", "Call"]).rows(rows))
}
