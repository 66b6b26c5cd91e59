//! The section with the measures by the vectors of an encoder.

use report_kit::{Axis, Cell, Plot, Section, Series, Table};

use super::measures::capital;
use super::shown::{drawn, number};
use crate::measures::Analysis;
use crate::measures::embedding::{CHARGRAM, EmbeddedRun, EmbeddedSeries};

/// Returns the section; `None` without vectors.
pub(super) fn section(analysis: &Analysis) -> Option<Section> {
    let run = analysis.embedded.as_ref()?;
    let columns = ["Measure", "Mean", "Trend", "Definition"];
    let rows = run.measures.iter().map(|measure| {
        [
            Cell::text(capital(measure.name.title())).with_id(measure.name.name()),
            mean(measure),
            number(measure.trend.map(|trend| trend.rho), 2),
            Cell::text(capital(measure.definition)),
        ]
    });
    let section = Section::new("Measures by vectors")
        .anchor("vectors")
        .text(kind(run))
        .facts(facts(run))
        .table(Table::new("Measures by vectors", columns).rows(rows));
    let drawn = run.measures.iter().filter(|measure| measure.n > 0);
    Some(section.columns(
        drawn.map(|measure| Section::new(capital(measure.name.title())).plot(plot(measure))),
    ))
}

/// Returns which conclusions the vectors allow.
fn kind(run: &EmbeddedRun) -> String {
    if run.encoder.name == CHARGRAM {
        "Texts are compared by their spelling, not by their meaning. The bands of neutral descent are in the section about chance; they are not calibrated, so there is no p.".to_owned()
    } else {
        "The vectors are those of a server. They are a description: null runs have texts that were never sent there, so nothing here is compared with chance.".to_owned()
    }
}

fn facts(run: &EmbeddedRun) -> [(&'static str, Cell); 5] {
    [
        ("Encoder", Cell::code(&run.encoder.name)),
        (
            "Model that answered",
            Cell::code(&run.encoder.model_answered),
        ),
        ("Numbers in a vector", run.encoder.dims.into()),
        ("SHA-256 of the encoder", Cell::code(&run.encoder.sha256)),
        (
            "Different texts",
            Cell::text(format!(
                "{}, and {} without a vector",
                run.texts, run.without
            )),
        ),
    ]
}

fn mean(measure: &EmbeddedSeries) -> Cell {
    match (measure.mean, measure.interval) {
        (Some(mean), Some(interval)) => Cell::interval(mean, interval.low, interval.high, 3),
        (mean, _) => number(mean, 3),
    }
}

fn plot(measure: &EmbeddedSeries) -> Plot {
    let points = drawn(&measure.points);
    let points = points.map(|point| (f64::from(point.round), point.value.unwrap_or(f64::NAN)));
    let title = capital(measure.name.title());
    let y = Axis::new(format!("{title}, cosine")).missing("no texts with vectors to compare");
    Plot::xy(
        format!("{title} by round"),
        Axis::new("round").including(0.0),
        y,
    )
    .in_data()
    .with(Series::line("this run", points))
}
