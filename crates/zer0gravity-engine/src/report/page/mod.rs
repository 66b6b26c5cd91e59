//! The report as a page: the result first, then the evidence, then every text.

mod board;
mod commitments;
mod cost;
mod experiments;
mod grid;
mod head;
mod limits;
mod own;
mod people;
mod results;
mod signals;

use report_kit::{Cell, Page, Section, Status};

pub use board::board_page;

use super::RunReport;
use crate::metrics::stats::MeanEstimate;

/// The largest number of rows of a table.
const ROWS: usize = 300;
/// The number of experiments that are shown in full.
const TOLD: usize = 200;
/// The largest number of encodings that are drawn with different signs.
const SIGNS: usize = 6;
/// The longest text in a heading, and in a table with many columns, in characters.
const HEADING: usize = 80;
const PREVIEW: usize = 36;
/// The smallest number of values whose interval is drawn: of fewer it would fill the drawing.
const INTERVAL: usize = 4;

/// Returns the page of a run: one file that loads nothing.
///
/// Text of a model, a rules file or a dataset is escaped text on the page. The page embeds the complete report as JSON with the
/// name `report`.
///
/// ```
/// use zer0gravity_engine::report::{RunReport, page};
/// let report = RunReport::read("[]").unwrap();
/// assert!(page(&report).render().unwrap().contains("data-report"));
/// ```
pub fn page(report: &RunReport) -> Page {
    let told = experiments::ExperimentView::of(report);
    let (tone, origin) = head::origin(report);
    let mut page = Page::new(head::title(report))
        .lead(report.lead())
        .origin(tone, origin);
    let mut notices = head::notices(report).into_iter().peekable();
    if let Some((tone, notice)) = notices.next_if(|(tone, _)| *tone != Status::Info) {
        page = page.notice(tone, notice);
    }
    if let Some(plot) = results::totals(report) {
        page = page.plot(plot);
    }
    let sections = [
        results::score(report),
        grid::section(report),
        results::fidelity(report),
        results::by_length(report),
        limits::section(report, notices),
        signals::flags(report, &told),
        commitments::section(report, &told),
        own::section(report),
        signals::outcomes(report, &told),
        signals::judges(report),
        people::section(report),
        experiments::texts(report, &told),
        experiments::section(report, &told),
    ];
    for section in sections.into_iter().flatten() {
        page = page.section(section);
    }
    page.provenance(head::provenance(report))
        .data("report", report)
}

/// Returns the section with the part inside of it, if there is one.
fn with(section: Section, part: Option<Section>) -> Section {
    match part {
        Some(part) => section.section(part),
        None => section,
    }
}

/// Returns a count with its noun, such as "1 text" or "3 texts".
fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Returns the first characters of a text, in one line.
fn shortened(text: &str, limit: usize) -> String {
    let line = text.trim().replace(['\n', '\r', '\t'], " ");
    match line.char_indices().nth(limit) {
        None => line,
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
    }
}

/// Returns a cell with a mean, and its interval if there is one.
fn mean(estimate: &MeanEstimate) -> Cell {
    match (estimate.mean, estimate.ci95) {
        (Some(mean), Some(ci)) => Cell::interval(mean, ci.low, ci.high, 1),
        (Some(mean), None) => Cell::number(mean, 1),
        (None, _) => Cell::Missing,
    }
}

/// Returns a cell with a number, if there is one.
fn number(value: Option<f64>, digits: u8) -> Cell {
    let finite = value.filter(|value| value.is_finite());
    finite.map_or(Cell::Missing, |value| Cell::number(value, digits))
}
