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
    let Some(null) = &analysis.null else {
        return section;
    };
    section
        .text(format!(
            "Each null model is {} runs with the same minds, rounds and numbers of messages. A band holds 95 % of them; p is the share of them that are as far from their median as this run, or farther.",
            null.runs
        ))
        .facts([
            (
                "random-copy",
                Cell::text(format!(
                    "minds copy one of the texts they read and, with probability {:.3} as in the run itself, write something new, which is one of the run's own new texts",
                    null.mu.unwrap_or(0.0)
                )),
            ),
            (
                "shuffle",
                Cell::text("each text that was read is replaced by one of like length from another round"),
            ),
            ("permutation", Cell::text("the messages change rounds")),
        ])
}
