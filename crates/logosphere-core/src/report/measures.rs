//! The section with each measure and its null model.

use report_kit::{Axis, Cell, Plot, Section, Series, Table};

use super::data::ReportData;
use super::shown::{data_stride, drawn, number, stride};
use crate::measures::Measured;
use crate::measures::metrics::Metric;

/// The measures whose figures are open; the first figure of the page is that of the similarity.
const OPEN: [Metric; 4] = [
    Metric::WithinRoundSimilarity,
    Metric::InputSimilarity,
    Metric::PairIdentity,
    Metric::Turnover,
];

/// Returns the plot of the similarity by round with its null band; `None` if there is too little text.
pub(super) fn similarity(data: &ReportData) -> Option<Plot> {
    let measured = data.analysis.metric(Metric::TfidfSimilarity)?;
    (measured.n > 0).then(|| plot(measured))
}

pub(super) fn section(data: &ReportData) -> Section {
    let analysis = &data.analysis;
    let section = Section::new("Measures").anchor("measures").text(format!(
        "All are measured at the end of each round, stamps removed, on the {} messages that can be read or on what the round added.",
        analysis.active
    ));
    let section = match &analysis.comparison {
        Some(found) if !found.tests.is_empty() => {
            section.text("The band in a figure holds 95 % of the null runs.")
        }
        _ => section.text("They are not compared with a null model."),
    };
    let section = section.table(overview(&analysis.metrics));
    let section = match (stride(analysis.rounds), data_stride(analysis.rounds)) {
        (1, _) => section,
        (stride, 1) => section.text(format!(
            "Curves over rounds show one round in {stride}. The data of this page has all."
        )),
        (stride, in_data) => section.text(format!(
            "Curves over rounds show one round in {stride}, and the data of this page has one in {in_data}, back from the last. `logosphere export metrics` has all."
        )),
    };
    let (open, folded): (Vec<_>, Vec<_>) =
        (analysis.metrics.iter()).partition(|measured| OPEN.contains(&measured.name));
    let other = Section::new("Other measures").folded();
    section
        .columns(open.into_iter().map(one))
        .section(other.columns(folded.into_iter().map(one)))
}

fn overview(metrics: &[Measured]) -> Table {
    let columns = ["Measure", "Mean", "Trend", "p of the trend"];
    let rows = metrics.iter().map(|measured| {
        [
            Cell::link(title(measured.name), anchor(measured.name)).with_id(measured.name.name()),
            mean(measured),
            number(measured.trend.map(|trend| trend.rho), 2),
            number(measured.trend.map(|trend| trend.p), 4),
        ]
    });
    Table::new("All measures", columns).rows(rows)
}

fn mean(measured: &Measured) -> Cell {
    let digits = digits(measured.name);
    match (measured.mean, measured.interval) {
        (Some(mean), Some(interval)) => Cell::interval(mean, interval.low, interval.high, digits),
        (mean, _) => number(mean, digits),
    }
}

fn digits(metric: Metric) -> u8 {
    match metric {
        Metric::Messages | Metric::CharsMean | Metric::CharsMedian => 1,
        _ => 3,
    }
}

fn anchor(metric: Metric) -> String {
    format!("measure-{}", metric.name())
}

fn one(measured: &Measured) -> Section {
    let texts = || measured.points.iter().map(|point| point.n);
    let sizes = match (texts().min(), texts().max()) {
        (Some(least), Some(most)) if least == most => least.to_string(),
        (Some(least), Some(most)) => format!("{least} to {most}"),
        _ => String::new(),
    };
    let section = Section::new(capital(measured.name.title()))
        .anchor(anchor(measured.name))
        .facts([
            ("Window", Cell::text(&measured.window)),
            ("Texts", Cell::text(sizes)),
            ("Formula", Cell::link("Definitions", "definitions")),
        ]);
    if measured.n == 0 {
        return section.text(format!(
            "There was nothing to measure in any round: {}.",
            measured.name.missing()
        ));
    }
    section.plot(plot(measured))
}

fn plot(measured: &Measured) -> Plot {
    // A value that is missing breaks the line.
    let points = drawn(&measured.points).map(|point| {
        let value = point.value.unwrap_or(f64::NAN);
        (f64::from(point.round), value)
    });
    let metric = measured.name;
    let y = Axis::new(format!("{}{}", metric.title(), unit(metric))).missing(metric.missing());
    let y = match unit(metric) {
        COSINE => y.range(0.0, 1.0),
        SHARE => y.percent(),
        _ => y.including(0.0),
    };
    let banded: Vec<_> = drawn(&measured.points)
        .filter_map(|point| Some((f64::from(point.round), point.null?)))
        .collect();
    let against = if banded.is_empty() {
        ""
    } else {
        ", with neutral descent"
    };
    let title = format!("{} by round{against}", capital(metric.title()));
    let plot = Plot::xy(title, Axis::new("round").including(0.0), y).in_data();
    let mut plot = plot.with(Series::line("this run", points));
    if !banded.is_empty() {
        let band = banded
            .iter()
            .map(|(round, band)| (*round, band.low, band.high));
        let median = banded.iter().map(|(round, band)| (*round, band.median));
        plot = plot
            .with(Series::band("95 % of the null runs", band))
            .with(Series::line("median of the null runs", median));
    }
    plot
}

/// Units, as they follow a title.
const COSINE: &str = ", cosine";
const SHARE: &str = ", share";

/// Returns the title of a measure with its unit.
pub(super) fn title(metric: Metric) -> String {
    format!("{}{}", capital(metric.title()), unit(metric))
}

/// Returns the unit of a measure; empty if its title says it.
fn unit(metric: Metric) -> &'static str {
    match metric {
        Metric::TfidfSimilarity
        | Metric::WithinRoundSimilarity
        | Metric::NearSimilarity
        | Metric::FarSimilarity
        | Metric::InputSimilarity
        | Metric::SeedEcho => COSINE,
        Metric::Distinct1
        | Metric::Distinct2
        | Metric::Distinct3
        | Metric::Reuse5gram
        | Metric::PairIdentity
        | Metric::Turnover
        | Metric::LostShare => SHARE,
        Metric::CompressionRatio | Metric::Messages | Metric::CharsMean | Metric::CharsMedian => "",
    }
}

/// Returns the text with a capital first letter.
pub(super) fn capital(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(chars).collect()
}
