//! The page of imported messages.

use report_kit::{Axis, Cell, Page, Plot, Section, Series, Status, Table};

use super::data::ReportData;
use super::messages::MessageBrowser;
use super::shown::{counted, drawn, number};
use super::{definitions, embedded, limits, lineage, measures, nulls, seeds};
use crate::import::{ImportHeader, ReferenceMetrics};
use crate::measures::metrics::Metric;
use crate::verify::Exposure;

/// Returns the page but for its data.
pub(super) fn page(data: &ReportData, header: &ImportHeader, authors: &[String]) -> Page {
    let messages = MessageBrowser::of(data);
    let mut page = Page::new(title(header, authors))
        .lead(lead(data, header))
        .origin(Status::Info, origin(header));
    for notice in notices(header) {
        page = page.notice(Status::Caution, notice);
    }
    if let Some(plot) = measures::similarity(data) {
        page = page.plot(plot);
    }
    if let Some(chance) = nulls::section(&data.analysis) {
        page = page.section(chance);
    }
    if data.transcript.seeds > 0 {
        page = page.section(seeds::section(data, &messages));
    }
    page = page
        .section(lineage::section(data, &messages))
        .section(measures::section(data));
    if let Some(metrics) = &header.reference_metrics {
        page = page.section(reference(data, metrics));
    }
    if let Some(vectors) = embedded::section(&data.analysis) {
        page = page.section(vectors);
    }
    page.section(messages.section().folded())
        .section(definitions::section(&data.analysis).folded())
        .section(limits::section(data, std::iter::empty()))
        .provenance(provenance(header))
}

fn title(header: &ImportHeader, authors: &[String]) -> String {
    let messages = counted(header.messages, "imported message", "imported messages");
    let authors = counted(authors.len() as u64, "author", "authors");
    format!("Logosphere: {messages}, {authors}")
}

fn lead(data: &ReportData, header: &ImportHeader) -> String {
    let mut sentences: Vec<_> = data.analysis.sentence().into_iter().collect();
    let rounds = counted(data.transcript.rounds.len() as u64, "round", "rounds");
    sentences.push(format!(
        "{} in {rounds} ({}).",
        counted(header.messages, "message", "messages"),
        header.round
    ));
    sentences.join(" ")
}

fn origin(header: &ImportHeader) -> String {
    let names: Vec<&str> = (header.sources.iter())
        .map(|source| source.name.as_str())
        .collect();
    let reads = match (header.exposure, header.exposure.assumption()) {
        (_, Some(assumption)) => format!("Reads are assumed: {assumption}."),
        (Exposure::Unknown, None) => "Which messages an author read is unknown.".to_owned(),
        (_, None) => "The messages that an author read are recorded.".to_owned(),
    };
    format!("Imported from {}. {reads}", names.join(", "))
}

fn notices(header: &ImportHeader) -> impl Iterator<Item = String> {
    let skipped = (header.skipped > 0).then(|| {
        let bad = counted(header.skipped, "bad message was", "bad messages were");
        format!("{bad} left out.")
    });
    let lost = (header.lost_links > 0).then(|| {
        let links = counted(
            header.lost_links,
            "parent or read was",
            "parents and reads were",
        );
        format!("{links} left out, because they are unknown or not older.")
    });
    skipped.into_iter().chain(lost)
}

/// Returns the section with the measures of the Python program next to ours.
fn reference(data: &ReportData, metrics: &ReferenceMetrics) -> Section {
    let ours = data.analysis.metric(Metric::WithinRoundSimilarity);
    let points = ours.map_or(&[][..], |measured| &measured.points);
    let values: Vec<f64> = points.iter().filter_map(|point| point.value).collect();
    let rows = [
        ("This program, tf-idf", &values),
        ("The Python program, embeddings", &metrics.mean_similarity),
        (
            "The Python program, distance from the seeds",
            &metrics.distance_from_seed,
        ),
    ];
    let rows = rows.map(|(name, series)| {
        let quarters = ReferenceMetrics::quarters(series);
        let quarter = |at: usize| number(quarters.map(|means| means[at]), 3);
        [
            Cell::text(name),
            series.len().into(),
            quarter(0),
            quarter(1),
            quarter(2),
            quarter(3),
        ]
    });
    let columns = [
        "Series",
        "Rounds",
        "Quarter 1",
        "Quarter 2",
        "Quarter 3",
        "Quarter 4",
    ];
    let y = Axis::new("similarity of the messages of a round, cosine").range(0.0, 1.0);
    let here: Vec<_> = (drawn(points))
        .map(|point| (f64::from(point.round), point.value.unwrap_or(f64::NAN)))
        .collect();
    let there: Vec<_> = (metrics.rounds.iter().zip(&metrics.mean_similarity))
        .map(|(round, value)| (f64::from(*round), *value))
        .collect();
    let plot = Plot::xy(
        "Similarity by round, in two encoders",
        Axis::new("round"),
        y,
    )
    .with(Series::line("this program", here))
    .with(Series::line("the Python program", drawn(&there).copied()));
    Section::new("Measures of the Python program")
        .anchor("reference")
        .text(format!(
            "Its encoder is another one, so compare the course and not the height. {} with a single message left out.",
            counted(metrics.singles, "round", "rounds")
        ))
        .table(Table::new("Means by quarter of the rounds", columns).rows(rows))
        .plot(plot)
}

fn provenance(header: &ImportHeader) -> Section {
    let sources = header.sources.iter();
    let rows = sources.map(|source| [Cell::text(&source.name), Cell::code(&source.sha256)]);
    Section::new("Provenance")
        .anchor("provenance")
        .facts([
            ("Software", Cell::text(&header.software)),
            ("Reads", Cell::text(header.exposure.to_string())),
            ("Rounds", Cell::text(header.round.to_string())),
            ("Messages", header.messages.into()),
            ("Bad messages left out", header.skipped.into()),
        ])
        .table(Table::new("Files", ["Name", "SHA-256"]).rows(rows))
}
