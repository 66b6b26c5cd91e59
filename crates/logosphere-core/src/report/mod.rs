//! A run as one page for a browser: what came out first, what it rests on after it, every message at the end.
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/two_rounds.rs"));
//! use logosphere_core::report::{ReportData, page};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let data = ReportData::read(&two_rounds()[..], 0)?;
//! let html = page(&data).render()?;
//! assert!(html.contains("Logosphere: 3 minds, 2 rounds, copier"));
//! # Ok(())
//! # }
//! ```

mod cost;
mod definitions;
mod facts;
mod head;
mod lineage;
mod measures;
mod messages;
mod nulls;
mod protocol;
mod seeds;
mod settings;

use std::io::BufRead;

use report_kit::{Cell, Page, Section, Table};

use crate::measures::Analysis;
use crate::measures::lineage::Lineage;
use crate::verify::{ResumeError, Transcript};

pub use facts::{RoundFacts, RunEnd, RunFacts};
use messages::Messages;

/// Points of a curve.
const DRAWN: usize = 100;

/// Everything that a page says.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportData {
    /// What the journal says of the run.
    pub facts: RunFacts,
    /// Its messages and calls.
    pub transcript: Transcript,
    /// What is measured on them.
    pub analysis: Analysis,
    /// Who comes from whom.
    pub lineage: Lineage,
}

impl ReportData {
    /// Reads a journal and measures the run, beside `null_runs` runs of each null model: 0 for none, otherwise at least
    /// [`MIN_RUNS`](crate::measures::nulls::MIN_RUNS).
    ///
    /// # Errors
    /// As of [`Transcript::read`].
    pub fn read(journal: impl BufRead, null_runs: u32) -> Result<Self, ResumeError> {
        let (facts, transcript) = RunFacts::read(journal)?;
        Ok(Self::of(facts, transcript, null_runs))
    }

    /// As [`ReportData::read`], for what was read before.
    pub fn of(facts: RunFacts, transcript: Transcript, null_runs: u32) -> Self {
        Self {
            analysis: nulls::analysed(&transcript, null_runs),
            lineage: Lineage::of(&transcript),
            facts,
            transcript,
        }
    }
}

/// The page of a run: one file, nothing asked of a network, the same bytes for the same journal.
///
/// Everything that a mind, a seed or a setting says is text on it and nothing else.
pub fn page(data: &ReportData) -> Page {
    let messages = Messages::of(data);
    let mut page = Page::new(head::title(data)).lead(head::lead(data));
    if let Some(plot) = measures::similarity(data) {
        page = page.plot(plot);
    }
    if let Some(caveats) = head::caveats(data) {
        page = page.section(caveats);
    }
    page.section(seeds::section(data, &messages))
        .section(lineage::section(data, &messages))
        .section(protocol::section(data, &messages))
        .section(measures::section(data).folded())
        .section(cost::section(data).folded())
        .section(messages.section().folded())
        .section(definitions::section(&data.analysis).folded())
        .provenance(
            Section::new("Provenance")
                .anchor("provenance")
                .facts(head::facts(data))
                .section(settings::section(data))
                .section(settings::verify(data)),
        )
}

/// Every how many rounds are drawn, so that a curve has no more points than a screen shows.
fn stride(rounds: usize) -> usize {
    rounds.div_ceil(DRAWN).max(1)
}

/// What is drawn of a curve over all rounds; the last one always is.
fn drawn<T>(rounds: &[T]) -> impl Iterator<Item = &T> {
    let stride = stride(rounds.len());
    let first = rounds.len().saturating_sub(1) % stride;
    rounds.iter().skip(first).step_by(stride)
}

/// "1 call", "3 calls".
fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// A share as percent, with one digit where that says more than none.
fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "0 %".to_owned();
    }
    let share = 100.0 * part as f64 / whole as f64;
    let digits = usize::from(share > 0.0 && share < 10.0);
    format!("{share:.digits$} %")
}

/// The section with a table, if the table has rows.
fn filled<const N: usize>(
    section: Section,
    title: &str,
    columns: [&str; N],
    rows: impl IntoIterator<Item = [Cell; N]>,
) -> Section {
    let mut rows = rows.into_iter().peekable();
    if rows.peek().is_none() {
        return section;
    }
    section.table(Table::new(title, columns).rows(rows))
}

/// A number, if there is one.
fn number(value: Option<f64>, digits: u8) -> Cell {
    value.map_or(Cell::Missing, |value| Cell::number(value, digits))
}
