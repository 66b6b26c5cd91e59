//! The page of a contest.

use report_kit::{Cell, Page, Section, Status, Table};

use super::{counted, mean, results};
use crate::report::Board;

/// Returns the page of a board: the ranks, the systems that are out, and the differences.
pub fn board_page(board: &Board) -> Page {
    let rank = |rank: Option<usize>| rank.map_or(Cell::Missing, Cell::from);
    let rows = board.systems.iter().map(|system| {
        let statistics = &system.statistics;
        [
            rank(system.rank),
            Cell::text(&statistics.encoding_id),
            mean(&statistics.total),
            mean(&statistics.compression_percent),
            mean(&statistics.semantic_preservation),
            statistics.failed.into(),
        ]
    });
    let columns = [
        "Rank",
        "Encoding system",
        "Total, of 100",
        "Saved, %",
        "Meaning, of 40",
        "Failed",
    ];
    let ranks = Section::new("Ranks").anchor("ranks");
    let ranks = ranks.text(format!(
        "Means over {} that every ranked system has a total for. A failed experiment has 0 points. Rank is one more than the number of significantly better systems.",
        counted(board.texts, "text", "texts")
    ));
    let table = Table::new("Encoding systems, best first", columns).rows(rows);
    let ranks = board
        .notes()
        .into_iter()
        .fold(ranks.table(table), |section, note| {
            section.notice(Status::Info, note)
        });
    let mut page = Page::new("Contest").lead(lead(board)).section(ranks);
    if !board.out.is_empty() {
        let rows = board.out.iter().map(|system| {
            let reasons = system.reasons.join("; ");
            [Cell::text(&system.encoding_id), Cell::text(reasons)]
        });
        let table = Table::new("Systems without a rank", ["Encoding system", "Reasons"]);
        let section = Section::new("Excluded systems").anchor("excluded");
        page = page.section(section.table(table.rows(rows)));
    }
    if let Some(pairs) = results::pairs(&board.pairs) {
        page = page.section(pairs);
    }
    let limits = "Points are those of the run's judge. `zer0gravity rescore` with another judge and the board again show whether the ranks depend on it. A tie is not equality: more texts may separate the systems.";
    let mut facts = vec![
        ("Common texts", board.texts.into()),
        (
            "Smallest critical recall",
            Cell::number(board.min_critical_recall, 2),
        ),
    ];
    if let Some(commitment) = &board.sealed {
        facts.push(("Commitment to the texts (SHA-256)", Cell::code(commitment)));
    }
    page.section(Section::new("Limits").anchor("limits").text(limits))
        .provenance(Section::new("Provenance").anchor("provenance").facts(facts))
        .data("board", board)
}

fn lead(board: &Board) -> String {
    let best: Vec<_> = (board.systems.iter())
        .filter(|system| system.rank == Some(1))
        .map(|system| system.statistics.encoding_id.as_str())
        .collect();
    let origin = if board.offline {
        "Offline, no model was asked: "
    } else {
        ""
    };
    match best.as_slice() {
        [] => format!("{origin}no system has a rank."),
        [one] if board.systems.len() > 1 => {
            format!("{origin}{one} is alone on rank 1.")
        }
        [one] => format!("{origin}{one} is the only ranked system."),
        several => format!("{origin}{} systems share rank 1.", several.len()),
    }
}
