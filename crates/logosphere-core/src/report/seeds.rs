//! The section about the descendants of seed messages.

use report_kit::{Axis, Cell, Plot, Section, Series, Table};
use serde::Serialize;

use super::data::ReportData;
use super::messages::MessageBrowser;
use super::shown::{drawn, number};
use crate::pool::{MessageId, Round};

/// The largest number of seed messages with a curve.
const CURVES: usize = 6;
/// The largest number of rows of a table.
const ROWS: usize = 100;

pub(super) fn section(data: &ReportData, messages: &MessageBrowser) -> Section {
    let section = Section::new("Seeds that survived").anchor("seeds");
    let (exit, seeds) = (&data.analysis.seed_exit, &data.analysis.lineage.seeds);
    if seeds.is_empty() {
        return section.text("There were no seeds.");
    }
    let round = |round: Option<Round>| match round {
        Some(round) => Cell::from(round.0),
        None => Cell::text("never"),
    };
    let columns = [
        "Seed",
        "Descendants",
        "All messages, %",
        "Last window, %",
        "Begins",
    ];
    let rows = seeds.iter().map(|seed| {
        [
            messages.link(seed.id),
            seed.descendants.into(),
            number(seed.message_share.map(|share| 100.0 * share), 1),
            number(seed.window_share.map(|share| 100.0 * share), 1),
            Cell::text(&seed.text),
        ]
    });
    let table = Table::new("Lines of descent that begin with a seed", columns);
    section
        .facts([
            ("The first one left in round", round(exit.first)),
            ("At most half were left in round", round(exit.half_life)),
            ("The last one left in round", round(exit.all)),
        ])
        .text("A seed lives on in what comes from it. A message comes from the text that its mind read and that has the same words, or most of them in the same order.")
        .table(table.rows(rows).limit(ROWS))
        .plot(curves(data))
}

/// A seed with the share of its line in what can be read, before round 1 and after each round.
#[derive(Serialize)]
pub(super) struct SeedCurve {
    seed: MessageId,
    pub(super) shares: Vec<Option<f64>>,
}

/// Returns the curves of the seeds that most messages come from.
pub(super) fn shares(data: &ReportData) -> Vec<SeedCurve> {
    let mut seeds: Vec<_> = data.analysis.lineage.seeds.iter().collect();
    seeds.sort_by_key(|seed| (std::cmp::Reverse(seed.descendants), seed.id));
    seeds.truncate(CURVES);
    let ids: Vec<MessageId> = seeds.iter().map(|seed| seed.id).collect();
    let curves = data.lineage.root_curves(&ids).into_iter();
    (ids.iter().zip(curves))
        .map(|(seed, shares)| SeedCurve {
            seed: *seed,
            shares,
        })
        .collect()
}

fn curves(data: &ReportData) -> Plot {
    let rounds: Vec<f64> = std::iter::once(Round::default())
        .chain(data.transcript.rounds.iter().map(|round| round.round))
        .map(f64::from)
        .collect();
    let y = Axis::new("share of what can be read")
        .percent()
        .missing("no text can be read");
    let title = if data.transcript.seeds > CURVES {
        format!("The {CURVES} seeds that most comes from, with what comes from them")
    } else {
        "Each seed, with what comes from it".to_owned()
    };
    let plot = Plot::xy(title, Axis::new("end of round"), y).in_data();
    shares(data).into_iter().fold(plot, |plot, curve| {
        let points: Vec<_> = (rounds.iter().zip(curve.shares))
            .map(|(round, share)| (*round, share.unwrap_or(f64::NAN)))
            .collect();
        let points = drawn(&points).copied();
        plot.with(Series::line(format!("seed {}", curve.seed), points))
    })
}
