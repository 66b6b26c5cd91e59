//! Runs of a study that cannot be read.

use serde::Serialize;

#[cfg(feature = "report")]
use report_kit::{Cell, Section, Table};

/// A run of a sweep or a fork that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct UnreadableRun {
    /// The folder of the run in its study, such as `k_samples=3/r000` or `control/r00`.
    pub run: String,
    /// The reason, with the line of the journal.
    pub reason: String,
}

impl UnreadableRun {
    /// Returns the run in a folder that cannot be read for this reason.
    pub fn new(run: impl Into<String>, reason: impl Into<String>) -> Self {
        let (run, reason) = (run.into(), reason.into());
        Self { run, reason }
    }
}

/// Returns the section of a page about the runs that no number counts. `next` says how they are made again.
#[cfg(feature = "report")]
pub(super) fn section(runs: &[UnreadableRun], next: &str) -> Section {
    let rows = runs.iter();
    let rows = rows.map(|run| [Cell::code(&run.run), Cell::text(&run.reason)]);
    Section::new("Unreadable runs")
        .anchor("unreadable")
        .text(format!(
            "The journals of these runs cannot be read, so no number on this page counts them. {next}"
        ))
        .table(Table::new("Runs and reasons", ["Run", "Reason"]).rows(rows).limit(500))
}
