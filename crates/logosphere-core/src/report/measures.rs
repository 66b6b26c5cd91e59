//! Every measure beside its null model.

use report_kit::{Axis, Cell, Plot, Section, Series, Table, Tone};

use super::{Measure, ReportData, drawn, number, stride};
use crate::metrics::Metric;

pub(super) fn section(data: &ReportData) -> Section {
    let analysis = &data.analysis;
    let nulls = match (analysis.null_runs, analysis.mu) {
        (0, _) => "No null model was made beside them.".to_owned(),
        (runs, mu) => format!(
            "Beside them stand {} runs of a null model with the same minds, rounds and numbers of messages: `random-copy`, in which minds copy one of the texts they read and, with probability {:.3} as in the run itself, write something new: the run's own new texts in another order; or `permutation`, in which the messages change rounds. A value outside of the band is one that chance gives in a run of twenty. p counts the runs that are as far from the median, or farther.",
            runs.max(crate::nulls::MIN_RUNS),
            mu.unwrap_or(0.0),
        ),
    };
    let section = Section::new("Measures")
        .anchor("measures")
        .text(format!(
            "All are measured at the end of each round, stamps removed, on the {} messages that can be read or on what the round added. Means have 95 % intervals of a bootstrap over blocks of rounds, trends are rank correlations with the round. {nulls}",
            data.transcript.active
        ))
        .table(overview(&analysis.measures));
    let section = match stride(data.transcript.rounds.len()) {
        1 => section,
        stride => section.text(format!(
            "Curves over rounds show one round in {stride}. `logosphere export DIR --what metrics --format csv` writes all."
        )),
    };
    (analysis.measures.iter()).fold(section, |section, measure| section.section(one(measure)))
}

fn overview(measures: &[Measure]) -> Table {
    let columns = [
        "Measure",
        "Mean",
        "Trend",
        "p of the trend",
        "Null model",
        "Its median",
        "p",
    ];
    let rows = measures.iter().map(|measure| {
        let metric = measure.series.metric;
        let digits = digits(metric);
        [
            Cell::link(metric.name(), anchor(metric)),
            mean(measure),
            number(measure.trend.map(|trend| trend.rho), 2),
            measure
                .trend
                .map_or(Cell::Missing, |trend| Cell::number(trend.p, 4)),
            match (measure.null, measure.band) {
                // A badge is not broken in a narrow column.
                (Some(null), Some(_)) => Cell::badge(null.name(), Tone::Neutral),
                _ => Cell::Missing,
            },
            measure.band.map_or(Cell::Missing, |band| {
                Cell::interval(band.median, band.low, band.high, digits)
            }),
            measure
                .band
                .map_or(Cell::Missing, |band| Cell::number(band.p, 4)),
        ]
    });
    Table::new("All measures", columns).rows(rows)
}

fn mean(measure: &Measure) -> Cell {
    let digits = digits(measure.series.metric);
    match (measure.series.mean(), measure.interval) {
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

fn one(measure: &Measure) -> Section {
    let series = &measure.series;
    let encoder = (series.metric.encoder())
        .map_or_else(String::new, |encoder| format!(" Encoder: {encoder}."));
    let texts: Vec<_> = series.points.iter().map(|point| point.n).collect();
    let sizes = match (texts.iter().min(), texts.iter().max()) {
        (Some(least), Some(most)) if least == most => format!(" n = {least}."),
        (Some(least), Some(most)) => format!(" n = {least} to {most}."),
        _ => String::new(),
    };
    let section = Section::new(series.metric.name())
        .anchor(anchor(series.metric))
        .text(format!(
            "{}. Window: {}.{sizes}{encoder}",
            capital(series.metric.definition()),
            series.window
        ));
    if series.values().is_empty() {
        return section.text("There was too little to measure in every round.");
    }
    section.plot(plot(measure))
}

fn plot(measure: &Measure) -> Plot {
    let series = &measure.series;
    let name = series.metric.name();
    // A value that is missing breaks the line.
    let points = drawn(&series.points).map(|point| {
        let value = point.value.unwrap_or(f64::NAN);
        (f64::from(point.round), value)
    });
    let y = Axis::new(name).including(0.0);
    let mut plot = Plot::xy(format!("{name} by round"), Axis::new("round"), y)
        .with(Series::line("this run", points));
    if let Some(null) = measure.null {
        let banded = || {
            let pairs = drawn(&series.points).zip(drawn(&measure.bands));
            pairs.filter_map(|(point, band)| Some((f64::from(point.round), (*band)?)))
        };
        if banded().next().is_some() {
            plot = plot
                .with(Series::band(
                    format!("95 % of the runs of {null}"),
                    banded().map(|(round, band)| (round, band.low, band.high)),
                ))
                .with(Series::line(
                    format!("median of {null}"),
                    banded().map(|(round, band)| (round, band.median)),
                ));
        }
    }
    if let (Some(interval), Some(first), Some(last)) = (
        measure.interval,
        series.points.first(),
        series.points.last(),
    ) {
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
