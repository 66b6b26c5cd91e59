//! The comparison with a null model as the commands print it.

use std::fmt::Write as _;

use bin_support::{Results, Session, Table, shortened};
use logosphere_core::measures::metrics::Metric;
use logosphere_core::measures::nulls::{Family, Feature, FeatureKind, NullComparison, NullTest};
use serde::Serialize;

use crate::numbers::wrapped;

/// The number of words that are listed as not separable.
const NEAR: usize = 20;

/// The number of characters of a word that are shown.
const SHOWN: usize = 40;

/// The version of the form of [`ComparisonJson`].
const SCHEMA_VERSION: u32 = 2;

/// A comparison as JSON.
#[derive(Serialize)]
pub struct ComparisonJson<'a> {
    schema_version: u32,
    #[serde(flatten)]
    comparison: &'a NullComparison,
}

impl<'a> From<&'a NullComparison> for ComparisonJson<'a> {
    fn from(comparison: &'a NullComparison) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            comparison,
        }
    }
}

/// Returns the tables of a comparison; `all` has the further tests and the bands, too.
pub fn tables(found: &NullComparison, all: bool, out: &Results) -> String {
    let mut text = String::new();
    let mut table =
        Table::new(["measure", "this run", "null runs", "p", "p corrected"]).wrapping("measure");
    let is_first =
        |test: &&NullTest| all || test.family == Family::Primary || found.tests.len() == 1;
    for test in found.tests.iter().filter(is_first) {
        table.row(row(test));
    }
    if !table.is_empty() {
        text.push_str(&table.text(out));
    }
    if found.assumption.is_some() && !all {
        // Choice is a further test.
        return text;
    }
    let mut table = Table::new(["texts", "times as often", "95 %", "z"]).wrapping("texts");
    for feature in &found.features {
        table.row([
            described(feature),
            format!("{:.2}", feature.weight),
            format!("{:.2} to {:.2}", feature.low, feature.high),
            format!("{:+.2}", feature.z),
        ]);
    }
    if !table.is_empty() {
        let _ = write!(text, "\n{}", table.text(out));
    }
    if !found.not_separable.is_empty() {
        let words = found.not_separable.iter();
        let words: Vec<String> = words.map(|word| shortened(word, SHOWN)).collect();
        let more = match words.len().saturating_sub(NEAR) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let words = words[..words.len().min(NEAR)].join(", ");
        let line = format!("not separable from the first: {words}{more}");
        text.push_str(&wrapped(&line, out.width()));
    }
    text
}

/// Shows which null runs a comparison is made of on stderr.
pub fn tell(found: &NullComparison, session: &Session) {
    let null = &found.null;
    if null.runs == 0 {
        return;
    }
    let cut = null.asked_runs.map_or_else(String::new, |asked| {
        format!(" instead of {asked}, because the run is long")
    });
    session.status(&format!(
        "{} runs of null model {}{cut}",
        null.runs, null.kind
    ));
}

fn row(test: &NullTest) -> [String; 5] {
    let metric = Metric::named(test.name);
    let digits = match metric {
        Some(Metric::CharsMean) => 1,
        None if test.name == NullTest::CHOICE => 2,
        _ => 3,
    };
    let number = |value: f64| format!("{value:.digits$}");
    let p = |p: Option<f64>| p.map_or_else(|| "-".to_owned(), |p| format!("{p:.3}"));
    [
        test.title().to_owned(),
        number(test.observed),
        format!("{} to {}", number(test.low), number(test.high)),
        p(test.p),
        p(test.p_holm),
    ]
}

fn described(feature: &Feature) -> String {
    match feature.feature {
        FeatureKind::Length => "longer, per unit of ln(1 + words)".to_owned(),
        FeatureKind::Age => "newer, per standard deviation".to_owned(),
        FeatureKind::Centrality => "like the others, per unit".to_owned(),
        _ => {
            let word = feature.value.as_deref().unwrap_or_default();
            format!("with \"{}\"", shortened(word, SHOWN))
        }
    }
}
