//! Every measure beside its null model.

use report_kit::{Axis, Cell, Plot, Section, Series, Table, Tone};

use super::nulls::null_of;
use super::{ReportData, drawn, number, stride};
use crate::analysis::Measured;
use crate::metrics::Metric;

/// Measures that are open; those after them are folded.
const OPEN: usize = 4;

/// The similarity of the texts by round with its null band, if there was enough to measure.
pub(super) fn similarity(data: &ReportData) -> Option<Plot> {
    let measured = data.analysis.metric(Metric::TfidfSimilarity)?;
    (measured.n > 0).then(|| plot(measured))
}

pub(super) fn section(data: &ReportData) -> Section {
    let analysis = &data.analysis;
    let section = Section::new("Measures").anchor("measures").text(format!(
        "All are measured at the end of each round, stamps removed, on the {} messages that can be read or on what the round added. Means have 95 % intervals of a bootstrap over blocks of rounds; trends are rank correlations with the round.",
        analysis.active
    ));
    let section = match &analysis.null {
        None => section.text("No null model was made beside them."),
        Some(null) => section.text(format!(
            "Beside them stand {} runs of a null model with the same minds, rounds and numbers of messages. random-copy: minds copy one of the texts they read and, with probability {:.3} as in the run itself, write something new, which is one of the run's own new texts. shuffle: each text that was read is replaced by one of like length from another round. permutation: the messages change rounds. The band holds 95 % of these runs; p is the share of them that are as far from their median as this run, or farther.",
            null.runs,
            null.mu.unwrap_or(0.0),
        )),
    };
    let section = section.table(overview(&analysis.metrics));
    let section = match stride(analysis.rounds) {
        1 => section,
        stride => section.text(format!(
            "Curves over rounds show one round in {stride}. `logosphere export DIR --what metrics --format csv` writes all."
        )),
    };
    let measures = analysis.metrics.iter().enumerate();
    measures.fold(section, |section, (index, measured)| {
        let one = one(measured);
        section.section(if index < OPEN { one } else { one.folded() })
    })
}

fn overview(metrics: &[Measured]) -> Table {
    let columns = [
        "Measure",
        "Mean",
        "Trend",
        "p of the trend",
        "Null model",
        "Its median",
        "p",
    ];
    let rows = metrics.iter().map(|measured| {
        let digits = digits(measured.name);
        let null = measured.null;
        [
            Cell::link(measured.name.name(), anchor(measured.name)),
            mean(measured),
            number(measured.trend.map(|trend| trend.rho), 2),
            number(measured.trend.map(|trend| trend.p), 4),
            // A badge is not broken in a narrow column.
            (null.and(null_of(measured.name))).map_or(Cell::Missing, |null| {
                Cell::badge(null.name(), Tone::Neutral)
            }),
            null.map_or(Cell::Missing, |band| {
                Cell::interval(band.median, band.low, band.high, digits)
            }),
            number(null.map(|band| band.p), 4),
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
    let encoder =
        (measured.encoder).map_or_else(String::new, |encoder| format!(" Encoder: {encoder}."));
    let texts = || measured.points.iter().map(|point| point.n);
    let sizes = match (texts().min(), texts().max()) {
        (Some(least), Some(most)) if least == most => format!(" n = {least}."),
        (Some(least), Some(most)) => format!(" n = {least} to {most}."),
        _ => String::new(),
    };
    let section = Section::new(measured.name.name())
        .anchor(anchor(measured.name))
        .text(format!(
            "{}. Window: {}.{sizes}{encoder}",
            capital(measured.definition),
            measured.window
        ));
    if measured.n == 0 {
        return section.text("There was too little to measure in every round.");
    }
    section.plot(plot(measured))
}

fn plot(measured: &Measured) -> Plot {
    let name = measured.name.name();
    // A value that is missing breaks the line.
    let points = drawn(&measured.points).map(|point| {
        let value = point.value.unwrap_or(f64::NAN);
        (f64::from(point.round), value)
    });
    let y = Axis::new(name).including(0.0);
    let mut plot = Plot::xy(format!("{name} by round"), Axis::new("round"), y)
        .with(Series::line("this run", points));
    let banded: Vec<_> = drawn(&measured.points)
        .filter_map(|point| Some((f64::from(point.round), point.null?)))
        .collect();
    if let (Some(null), false) = (null_of(measured.name), banded.is_empty()) {
        let band = banded
            .iter()
            .map(|(round, band)| (*round, band.low, band.high));
        let median = banded.iter().map(|(round, band)| (*round, band.median));
        plot = plot
            .with(Series::band(format!("95 % of the runs of {null}"), band))
            .with(Series::line(format!("median of {null}"), median));
    }
    if let (Some(interval), [first, .., last]) = (measured.interval, &measured.points[..]) {
        let at = |round: u32| (f64::from(round), interval.low, interval.high);
        plot = plot.with(Series::band(
            "95 % interval of the run's mean",
            [at(first.round), at(last.round)],
        ));
    }
    plot
}

/// With a large first letter.
fn capital(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(chars).collect()
}
