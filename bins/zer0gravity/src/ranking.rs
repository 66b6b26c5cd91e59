//! The ranking of a matrix: its encodings, best first, and the significance of their differences.

use std::fmt::Write as _;

use bin_support::{Cell, Results, Table, Tone, escape};
use zer0gravity_engine::metrics::stats::SIGNIFICANT;
use zer0gravity_engine::report::{
    EncodingSystemStatistics, OwnStatistics, Pairwise, RunReport, probability,
};

/// A row for each encoding, a line for each pair, and the sentence that the page begins with.
pub fn text(report: &RunReport, results: &Results) -> String {
    let mut text = rows(report, results);
    for encoding in best_first(report) {
        for own in &encoding.own_scores {
            let _ = writeln!(text, "{}: {}", escape(&encoding.encoding_id), measure(own));
        }
    }
    for pair in &report.statistics.pairwise {
        if let Some(line) = difference(pair) {
            let _ = writeln!(text, "{line}");
        }
    }
    let origin = if report.offline {
        "offline (scripted, no model): "
    } else {
        ""
    };
    let _ = writeln!(text, "{origin}{}", escape(&report.lead()));
    text
}

/// Writes a line such as `obligations 7.20 [6.31, 8.09] (0 to 10; scorer failed for 2)`.
fn measure(own: &OwnStatistics) -> String {
    let mean = own.mean.mean;
    let mean = mean.map_or_else(|| "none".to_owned(), |mean| format!("{mean:.2}"));
    let interval = own.mean.ci95;
    let interval = interval.map_or_else(String::new, |ci| {
        format!(" [{:.2}, {:.2}]", ci.low, ci.high)
    });
    let failed = match own.failed {
        0 => String::new(),
        count => format!("; scorer failed for {count}"),
    };
    let [low, high] = own.scale;
    format!(
        "{} {mean}{interval} ({low} to {high}{failed})",
        escape(&own.id)
    )
}

/// The heads of the columns.
pub const HEAD: [&str; 6] = ["encoding", "total", "saved", "meaning", "texts", "failed"];

/// A row for each encoding, best first.
pub fn rows(report: &RunReport, results: &Results) -> String {
    let mut table = Table::new(HEAD).wrapping("encoding");
    for encoding in best_first(report) {
        let [name, others @ .., failed] = cells(encoding);
        let failed = match encoding.failed {
            0 => failed.into(),
            _ => Cell::toned(Tone::Bad, failed),
        };
        let row = others.map(Cell::from).into_iter();
        table.row(
            std::iter::once(escape(&name).into())
                .chain(row)
                .chain([failed]),
        );
    }
    table.text(results)
}

/// The encodings, best first.
pub fn best_first(report: &RunReport) -> Vec<&EncodingSystemStatistics> {
    let mut encodings: Vec<_> = report.statistics.per_encoding.iter().collect();
    let mean = |one: &EncodingSystemStatistics| one.total.mean.unwrap_or(f64::NEG_INFINITY);
    encodings.sort_by(|a, b| mean(b).total_cmp(&mean(a)));
    encodings
}

/// The texts of a row; the first one is the id as it is.
pub fn cells(encoding: &EncodingSystemStatistics) -> [String; 6] {
    let saved = encoding.compression_percent.mean;
    let meaning = encoding.semantic_preservation.mean;
    [
        encoding.encoding_id.clone(),
        total(encoding),
        saved.map_or_else(none, |saved| format!("{saved:.0} %")),
        meaning.map_or_else(none, |points| format!("{points:.1}/40")),
        format!("{}/{}", encoding.scored_cases, encoding.cases),
        format!("{}/{}", encoding.failed, encoding.items),
    ]
}

fn none() -> String {
    "-".to_owned()
}

/// Writes a mean and its interval, such as `72.4 [61.0, 83.8]`; one text has no interval over texts.
fn total(encoding: &EncodingSystemStatistics) -> String {
    let interval = encoding.total.ci95.filter(|_| encoding.scored_cases > 1);
    match (encoding.total.mean, interval) {
        (None, _) => none(),
        (Some(mean), None) => format!("{mean:.1}"),
        (Some(mean), Some(interval)) => {
            format!("{mean:.1} [{:.1}, {:.1}]", interval.low, interval.high)
        }
    }
}

/// Writes a line such as `b is 11.2 points above a (p = 0.062, not significant with 5 texts)`.
fn difference(pair: &Pairwise) -> Option<String> {
    let difference = pair.mean_difference?;
    let is_tie = format!("{:.1}", difference.abs()) == "0.0";
    let (upper, lower) = if difference >= 0.0 {
        (&pair.a, &pair.b)
    } else {
        (&pair.b, &pair.a)
    };
    let texts = match pair.cases {
        1 => "1 text".to_owned(),
        cases => format!("{cases} texts"),
    };
    let sure = match pair.p_holm {
        Some(p) if p <= SIGNIFICANT => format!("{}, significant with {texts}", probability(p)),
        Some(p) => format!("{}, not significant with {texts}", probability(p)),
        None => format!("not tested with {texts}"),
    };
    if is_tie {
        let (upper, lower) = (escape(upper), escape(lower));
        return Some(format!("{upper} and {lower} have equal points ({sure})"));
    }
    Some(format!(
        "{} is {:.1} points above {} ({sure})",
        escape(upper),
        difference.abs(),
        escape(lower)
    ))
}
