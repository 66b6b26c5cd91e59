//! The page, section by section.

use report_kit::{Page, Section};

use super::data::ReportData;
use super::messages::MessageBrowser;
use super::{cost, definitions, head, lineage, measures, protocol, seeds, settings};

/// The page of a run: one file, nothing asked of a network, the same bytes for the same journal.
///
/// Everything that a mind, a seed or a setting says is text on it and nothing else.
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
