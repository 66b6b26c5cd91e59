//! The section with the definitions of measures, intervals and null models.

use report_kit::{Cell, Section, Table};

use super::measures::{capital, title};
use crate::measures::Analysis;

pub(super) fn section(analysis: &Analysis) -> Section {
    let columns = ["Measure", "Definition", "Window", "Texts are compared by"];
    let rows = analysis.metrics.iter().map(|measured| {
        [
            Cell::text(title(measured.name)).with_id(measured.name.name()),
            Cell::text(capital(measured.definition)),
            Cell::text(&measured.window),
            measured.encoder.map_or(Cell::Missing, Cell::text),
        ]
    });
    let section = Section::new("Definitions")
        .anchor("definitions")
        .text("Means have 95 % intervals of a bootstrap over blocks of rounds. A trend is the rank correlation with the round; its p is that of permuted blocks of rounds. Rounds share messages, so the p is too small: neutral runs are below 0.05 more often than once in 20.")
        .table(Table::new("Formulas", columns).rows(rows));
    if analysis.comparison.is_none() {
        return section;
    }
    section.text(
        "Choice: a contest is a call that read at least two different texts and passed one on. For each word, U is the sum over contests of the children of each text above the mean, for the texts with the word, and V is its variance if all are equally likely; z is U over the square root of V, and exp(U / V) is the factor by which the word changes a text's chance. The test is the largest distance of a z from 0, over words with V of at least 4, length, age and similarity to the other texts; its p is the share of null runs with one at least as large. All tests are computed from the words of the texts. A band holds 95 % of the null runs.",
    )
}
