//! The results: encodings, meaning against compression, pairs, length.

use std::collections::HashMap;

use report_kit::{Axis, Bar, Cell, Plot, Point, Section, Series, Status, Table};

use super::head::p_figure;
use super::{INTERVAL, ROWS, SIGNS, cost, counted, mean, number, with};
use crate::metrics::stats::{Interval, MeanEstimate, SIGNIFICANT, least_texts};
use crate::report::{CaseStatistics, EncodingSystemStatistics, Pairwise, RunReport};

/// Pairs that are shown: ten encodings have 45 of them.
const PAIRS: usize = 20;

/// The encodings by their total, best first; those without one at the end.
fn ranked(report: &RunReport) -> Vec<&EncodingSystemStatistics> {
    let mut ranked: Vec<_> = report.statistics.per_encoding.iter().collect();
    let total =
        |encoding: &EncodingSystemStatistics| encoding.total.mean.unwrap_or(f64::NEG_INFINITY);
    ranked.sort_by(|a, b| total(b).total_cmp(&total(a)));
    ranked
}

/// The total of each encoding as a bar; `None` without an encoding.
pub(super) fn totals(report: &RunReport) -> Option<Plot> {
    let ranked = ranked(report);
    if ranked.is_empty() {
        return None;
    }
    let bars = ranked.iter().filter_map(|encoding| {
        let bar = Bar::new(&encoding.encoding_id, encoding.total.mean?);
        Some(match drawn(&encoding.total) {
            Some(ci) => bar.interval(ci.low, ci.high),
            None => bar,
        })
    });
    let axis = Axis::new("total, of 100").range(0.0, 100.0);
    Some(Plot::bars("Total of each encoding system", axis, bars).in_data())
}

/// Returns the interval of a mean if it is drawn.
fn drawn(estimate: &MeanEstimate) -> Option<Interval> {
    estimate.ci95.filter(|_| estimate.n >= INTERVAL)
}

pub(super) fn score(report: &RunReport) -> Option<Section> {
    let ranked = ranked(report);
    if ranked.is_empty() {
        return None;
    }
    let columns = [
        "Encoding system",
        "Total / 100",
        "Meaning / 40",
        "Saved, %",
        "Rules / 5",
        "chrF++",
        "Scored",
        "Failed, %",
        "Refused, %",
    ];
    let rows = ranked.iter().map(|encoding| {
        [
            Cell::text(&encoding.encoding_id),
            mean(&encoding.total),
            number(encoding.semantic_preservation.mean, 1),
            number(encoding.compression_percent.mean, 1),
            number(encoding.implementability.mean, 1),
            number(encoding.chrf_pp.mean, 1),
            Cell::text(format!("{} of {}", encoding.scored, encoding.items)),
            number(Some(100.0 * encoding.failure_rate), 1),
            number(Some(100.0 * encoding.refusal_rate), 1),
        ]
    });
    let over = match report.cases.len() {
        1 => "trials of the one text",
        _ => "texts",
    };
    let section = Section::new("Score").anchor("score").text(format!(
        "The total is the sum of four parts: 40 points for saved tokens, 40 for meaning, 15 for learnability and 5 for implementability. Every text has the same weight; failed experiments are not counted. Brackets hold 95 % intervals (Student's t over {over}, cut at the ends of the scale; Clopper-Pearson where all values are equal). chrF++ compares letters, not meanings."
    ));
    let table = Table::new("Encoding systems, best first", columns)
        .rows(rows)
        .limit(ROWS);
    Some(with(
        section.table(table),
        pairs(&report.statistics.pairwise),
    ))
}

/// The encodings that no other beats in tokens saved and in meaning at once.
fn front(report: &RunReport) -> Vec<&str> {
    let places = places(report);
    let beaten = |(_, saved, kept): &(&str, f64, f64)| {
        places.iter().any(|(_, other_saved, other_kept)| {
            other_saved >= saved && other_kept >= kept && (other_saved > saved || other_kept > kept)
        })
    };
    let unbeaten = places.iter().filter(|place| !beaten(place));
    unbeaten.map(|(id, _, _)| *id).collect()
}

/// Each encoding with the percent it saves and its points for the meaning.
fn places(report: &RunReport) -> Vec<(&str, f64, f64)> {
    let encodings = report.statistics.per_encoding.iter();
    encodings
        .filter_map(|encoding| {
            let saved = encoding.compression_percent.mean?;
            let kept = encoding.semantic_preservation.mean?;
            Some((encoding.encoding_id.as_str(), saved, kept))
        })
        .collect()
}

pub(super) fn fidelity(report: &RunReport) -> Option<Section> {
    let mut places = places(report);
    if places.is_empty() {
        return None;
    }
    let x = || Axis::new("tokens saved, %").including(0.0).including(100.0);
    let y = || Axis::new("points for meaning, of 40").range(0.0, 40.0);
    let mut section = Section::new("Meaning against compression").anchor("fidelity");
    if places.len() > 1 {
        let (names, front) = (front_names(report), front(report));
        // From the right, so that a step holds up to the next system on the left.
        places.sort_by(|a, b| b.1.total_cmp(&a.1));
        let (best, beaten): (Vec<_>, Vec<_>) =
            places.iter().partition(|(id, ..)| front.contains(id));
        let points = |places: Vec<&(&str, f64, f64)>| {
            let named = places.into_iter();
            named
                .map(|(id, saved, kept)| Point::new(*saved, *kept).named(*id))
                .collect::<Vec<_>>()
        };
        let mut plot = Plot::xy("Mean of each encoding system", x(), y())
            .in_data()
            .with(Series::steps(
                "on the front: no system is better in both",
                points(best),
            ));
        if !beaten.is_empty() {
            plot = plot.with(Series::points("below the front", points(beaten)));
        }
        section = section
            .text(format!(
                "Points further up and to the right are better. The line is the Pareto front: {names}. A system below it loses meaning without saving more tokens."
            ))
            .plot(plot);
    }
    let cases = &report.statistics.per_case;
    let points = |case: &CaseStatistics| {
        let point = Point::new(
            case.compression_percent.mean?,
            case.semantic_preservation.mean?,
        );
        Some(point.named(&case.test_case_id))
    };
    let plot = Plot::xy("Each text", x(), y()).in_data();
    let section = section.plot(by_encoding(plot, report, cases, points));
    Some(with(section, cost::section(report)))
}

fn front_names(report: &RunReport) -> String {
    const NAMED: usize = 8;
    let front = front(report);
    match front.len().checked_sub(NAMED) {
        None | Some(0) => front.join(", "),
        Some(more) => format!("{} and {more} more", front[..NAMED].join(", ")),
    }
}

/// A series for each encoding, or one for all where there are more than one can tell apart.
fn by_encoding(
    plot: Plot,
    report: &RunReport,
    cases: &[CaseStatistics],
    point: impl Fn(&CaseStatistics) -> Option<Point>,
) -> Plot {
    let encodings = &report.statistics.per_encoding;
    if encodings.len() > SIGNS {
        let name = format!("{} encoding systems", encodings.len());
        return plot.with(Series::points(name, cases.iter().filter_map(point)));
    }
    encodings.iter().fold(plot, |plot, encoding| {
        let own = cases
            .iter()
            .filter(|case| case.encoding_id == encoding.encoding_id);
        plot.with(Series::points(
            &encoding.encoding_id,
            own.filter_map(&point),
        ))
    })
}

/// The section with the differences of pairs of encoding systems.
pub(super) fn pairs(pairs: &[Pairwise]) -> Option<Section> {
    let mut pairs: Vec<&Pairwise> = pairs.iter().collect();
    if pairs.is_empty() {
        return None;
    }
    let p = |pair: &Pairwise| pair.p_holm.unwrap_or(2.0);
    let size = |pair: &Pairwise| pair.mean_difference.unwrap_or_default().abs();
    pairs.sort_by(|a, b| p(a).total_cmp(&p(b)).then(size(b).total_cmp(&size(a))));
    let most = pairs
        .iter()
        .map(|pair| pair.cases)
        .max()
        .unwrap_or_default();
    let mut text = format!(
        "Totals on the texts that both systems have scores for. p is the probability of a difference this large if signs are random, adjusted by Holm's method for {}.",
        counted(pairs.len(), "pair", "pairs")
    );
    let needed = least_texts(pairs.len());
    if most < needed {
        let most = counted(most, "common text", "common texts");
        let further =
            format!(" With {most} no difference can be significant; at least {needed} are needed.");
        text.push_str(&further);
    }
    let columns = [
        "Higher",
        "Lower",
        "Common texts",
        "Difference",
        "p",
        "p, adjusted",
        "Result",
    ];
    let table = Table::new("Pairs of encoding systems, smallest p first", columns);
    let table = table.rows(pairs.into_iter().map(row)).limit(PAIRS);
    let section = Section::new("Paired comparison").anchor("pairs").text(text);
    Some(section.table(table))
}

/// A pair, the better one first.
fn row(pair: &Pairwise) -> [Cell; 7] {
    let turned = pair.mean_difference.is_some_and(|mean| mean < 0.0);
    let (ahead, behind) = if turned {
        (&pair.b, &pair.a)
    } else {
        (&pair.a, &pair.b)
    };
    let difference = match (pair.mean_difference, pair.ci95) {
        (Some(mean), Some(ci)) if turned => Cell::interval(-mean, -ci.high, -ci.low, 1),
        (Some(mean), Some(ci)) => Cell::interval(mean, ci.low, ci.high, 1),
        (mean, _) => number(mean.map(f64::abs), 1),
    };
    let told = |p: Option<f64>| p.map(p_figure).into();
    [
        Cell::text(ahead),
        Cell::text(behind),
        pair.cases.into(),
        difference,
        told(pair.p),
        told(pair.p_holm),
        match pair.p_holm {
            Some(p) if p <= SIGNIFICANT => Cell::badge("significant", Status::Good),
            Some(_) => Cell::badge("not significant", Status::Neutral),
            None => Cell::Missing,
        },
    ]
}

pub(super) fn by_length(report: &RunReport) -> Option<Section> {
    let cases = &report.statistics.per_case;
    let mut lengths = HashMap::new();
    for case in cases {
        if let (Some(tokens), Some(_)) = (case.original_tokens, case.total.mean) {
            lengths.insert(tokens.to_bits(), tokens);
        }
    }
    // One length is no relation to length.
    if lengths.len() < 2 {
        return None;
    }
    let point = |case: &CaseStatistics| {
        let point = Point::new(case.original_tokens?, case.total.mean?).named(&case.test_case_id);
        Some(match drawn(&case.total) {
            Some(ci) => point.interval(ci.low, ci.high),
            None => point,
        })
    };
    let x = Axis::new("tokens of the text").log();
    let plot = Plot::xy(
        "Total of each text",
        x,
        Axis::new("total, of 100").range(0.0, 100.0),
    )
    .in_data();
    let section = Section::new("Score by text length").anchor("length");
    Some(section.plot(by_encoding(plot, report, cases, point)))
}
