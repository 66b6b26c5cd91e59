//! The section about descent.

use report_kit::{Axis, Cell, Plot, Section, Series};

use super::data::ReportData;
use super::descent;
use super::messages::MessageBrowser;
use super::shown::{drawn, filled, number};
use crate::export::picture;
use crate::verify::Exposure;

/// Returns the sentences about how reads and parents are known.
fn origin(data: &ReportData) -> String {
    let reads = match (
        data.transcript.exposure.assumption(),
        data.transcript.exposure,
    ) {
        (Some(assumption), _) => format!("It is assumed that {assumption}"),
        (None, Exposure::Unknown) => "What an author read is unknown".to_owned(),
        (None, _) => "What a mind read is known".to_owned(),
    };
    format!(
        "{reads}; which of it a message comes from is inferred from the texts. Descendants follow best parents only."
    )
}

pub(super) fn section(data: &ReportData, messages: &MessageBrowser) -> Section {
    let summary = &data.analysis.lineage;
    let columns = [
        "Message",
        "Round",
        "Descendants",
        "Children",
        "Rounds it could be read",
        "Begins",
    ];
    let rows = summary.top.iter().map(|spreader| {
        [
            messages.link(spreader.id),
            spreader.round.0.into(),
            spreader.descendants.into(),
            spreader.children.into(),
            spreader.lifetime.into(),
            Cell::text(&spreader.text),
        ]
    });
    let section = Section::new("Lineage")
        .anchor("lineage")
        .text(origin(data))
        .facts([
            ("Messages of minds", Cell::from(summary.messages)),
            ("Equal to a text that was read", summary.exact.into()),
            ("Similar to such a text", summary.lcs.into()),
            ("With a parent that the data names", summary.given.into()),
            (
                "Without a source among the texts read",
                summary.innovations.into(),
            ),
            ("Novelty rate", number(summary.novelty_rate, 3)),
            ("Longest line, in steps", summary.deepest.into()),
            (
                "Half of the lines ended within rounds",
                summary.half_life.into(),
            ),
        ]);
    let section = section.plot(picture::shares(&data.transcript, &data.lineage).in_data());
    let section = match descent::section(data, messages) {
        Some(tree) => section.section(tree),
        None => section,
    };
    let messages = Section::new("Most descendants").folded();
    let messages = filled(messages, "The messages that most come from", columns, rows);
    let section = section.section(messages);
    if summary.survival.is_empty() {
        return section.text("No line of descent was seen to end.");
    }
    let start = std::iter::once((0.0, 1.0));
    let steps = drawn(&summary.survival).map(|step| (f64::from(step.rounds), step.share));
    let x = Axis::new("rounds since the line began");
    let y = Axis::new("share of the lines").percent();
    let plot = Plot::xy("Lines of descent over time", x, y)
        .with(Series::steps("still there", start.chain(steps)));
    section.section(Section::new("Length of lines").folded().plot(plot))
}
