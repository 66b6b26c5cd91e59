//! The page, section by section.

use report_kit::{Page, Section};

use super::data::ReportData;
use super::messages::MessageBrowser;
use super::{cost, definitions, head, lineage, measures, protocol, seeds, settings};

/// Returns the page of a run: one file that uses no network, with the same bytes for the same journal.
///
/// Texts of minds, seed messages and settings are escaped, so they cannot be read as anything but text.
pub fn page(data: &ReportData) -> Page {
    let messages = MessageBrowser::of(data);
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
