//! The section about chance: tests against the null model, and the texts that are passed on.

use report_kit::{Cell, Section, Table};

use super::measures::{capital, title};
use super::shown::{filled, number};
use crate::measures::nulls::{Family, Feature, FeatureKind, NullComparison, NullPlan, NullTest};
use crate::measures::{Analysis, AnalysisPlan, metrics::Metric};

/// The number of messages with most descendants in a summary.
const TOP: usize = 20;

/// The largest number of words that are listed as not separable.
const NEAR: usize = 30;

/// Returns the plan of a page with `null_runs` null runs; 0 for none.
pub(super) fn plan(null_runs: u32, threads: usize) -> AnalysisPlan<'static> {
    let null = (null_runs > 0).then(|| NullPlan {
        runs: null_runs,
        threads,
        ..NullPlan::default()
    });
    AnalysisPlan {
        null,
        threads,
        top: TOP,
        ..AnalysisPlan::default()
    }
}

/// Returns the section; `None` without a comparison.
pub(super) fn section(analysis: &Analysis) -> Option<Section> {
    let found = analysis.comparison.as_ref()?;
    let section = Section::new("Is it chance?").anchor("chance").text(
        "Neutral descent: each message is a copy of one of the texts that its call read, all equally likely, changed as the children of this run are changed, or new at the rate of this run. Drift, typing errors and words taken over from neighbours are in it; only the choice of what is passed on is not.",
    );
    let section = match found.null.runs {
        0 => section,
        runs => section.text(format!(
            "{runs} null runs with the calls and samples of this run{}; {:.1} % of the messages are new, {} pairs of parent and child, {} calls with a choice. One run is one history: repeat it with other seeds before you believe a difference.",
            cut(found),
            100.0 * found.null.novelty_rate,
            found.null.pairs,
            found.null.contests,
        )),
    };
    let section = tests(section, "Tests of the verdict", found, Family::Primary);
    let section = match &found.assumption {
        None => features(section, found),
        Some(assumption) => section.text(format!(
            "All tests are made under the assumption that {assumption}. Choice needs recorded reads, so it is a further test here."
        )),
    };
    if found.tests.is_empty() {
        return Some(section);
    }
    let folded = Section::new("Further tests and bands").folded().text(
        "The p of further tests are corrected for their number. Measures without a p are not calibrated; their band is shown alone.",
    );
    let folded = tests(folded, "Further tests", found, Family::Secondary);
    let folded = match found.assumption {
        None => folded,
        Some(_) => features(folded, found),
    };
    let folded = tests(folded, "Bands", found, Family::Band);
    Some(section.section(folded))
}

/// Returns the words about null runs that were left out.
fn cut(found: &NullComparison) -> String {
    found.null.asked_runs.map_or_else(String::new, |asked| {
        format!(" instead of {asked}, because this run is long")
    })
}

fn tests(section: Section, caption: &str, found: &NullComparison, family: Family) -> Section {
    let columns = ["Measure", "This run", "Null runs", "p", "p corrected"];
    let rows = found.tests.iter().filter(|test| test.family == family);
    let rows = rows.map(|test| {
        [
            Cell::text(named(test)).with_id(test.name),
            Cell::number(test.observed, 3),
            Cell::interval(test.median, test.low, test.high, 3),
            number(test.p, 4),
            number(test.p_holm, 4),
        ]
    });
    filled(section, caption, columns, rows)
}

/// Returns the title of a test.
fn named(test: &NullTest) -> String {
    Metric::named(test.name).map_or_else(|| capital(test.title()), title)
}

fn features(section: Section, found: &NullComparison) -> Section {
    if found.features.is_empty() {
        return section;
    }
    let rows = found.features.iter().map(|feature| {
        [
            Cell::text(described(feature)),
            Cell::interval(feature.weight, feature.low, feature.high, 2),
            Cell::number(feature.z, 2),
        ]
    });
    let columns = ["Texts", "Chance to be passed on, times", "z"];
    let section = section.table(Table::new("Which texts are passed on", columns).rows(rows));
    if found.not_separable.is_empty() {
        return section;
    }
    let words: Vec<&str> = found
        .not_separable
        .iter()
        .take(NEAR)
        .map(String::as_str)
        .collect();
    let more = match found.not_separable.len().saturating_sub(NEAR) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    section.text(format!(
        "Not separable from the first: {}{more}.",
        words.join(", ")
    ))
}

/// Returns the texts with a feature in words.
fn described(feature: &Feature) -> String {
    match feature.feature {
        FeatureKind::Word => format!("with \"{}\"", feature.value.as_deref().unwrap_or_default()),
        FeatureKind::Length => "longer, per unit of ln(1 + words)".to_owned(),
        FeatureKind::Age => "newer, per standard deviation of age".to_owned(),
        FeatureKind::Centrality => "like the others, per unit of similarity".to_owned(),
    }
}
