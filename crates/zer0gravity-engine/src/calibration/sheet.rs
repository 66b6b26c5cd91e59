use std::collections::{HashMap, HashSet};

use super::{LabelError, TextPair};
use crate::judge::score::MAX_SEMANTIC;
use crate::text::cell::inert;

/// The pairs as CSV after RFC 4180, with an empty column for the points. As in [`export_csv`](crate::report::export_csv) no cell is taken
/// for a formula. It contains nothing about encoding systems, models and scores.
#[expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "memory takes every write, every row has as many cells as the header, and cells are UTF-8"
)]
pub fn sheet<'a>(pairs: impl IntoIterator<Item = &'a TextPair>) -> String {
    let mut table = csv::WriterBuilder::new()
        .terminator(csv::Terminator::CRLF)
        .from_writer(Vec::new());
    let header = ["pairId", "original", "decoded", "score"];
    table.write_record(header).expect("a header");
    for pair in pairs {
        // A spreadsheet would make a number of digits, also with an e among them.
        let mark = if pair.id.parse::<f64>().is_ok() {
            "'"
        } else {
            ""
        };
        let id = format!("{mark}{}", pair.id);
        let row = [&id, &inert(&pair.original), &inert(&pair.decoded), ""];
        table.write_record(row).expect("a row");
    }
    String::from_utf8(table.into_inner().expect("all rows")).expect("UTF-8")
}

/// Reads the ids of the pairs and their points, 0 to 40, in the order of the sheet up to the last row with points. An empty cell before that
/// row is `None`, a skip. Only the columns `pairId` and `score` matter.
///
/// # Errors
/// Each bad line: an id that is not in `pairs` or occurs twice, a score that is not a whole number from 0 to 40, a sheet without these
/// columns.
pub fn read_sheet(
    csv: &[u8],
    pairs: &[TextPair],
) -> Result<Vec<(String, Option<u8>)>, Vec<LabelError>> {
    let csv = csv.strip_prefix(b"\xef\xbb\xbf").unwrap_or(csv);
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(csv);
    let bad = |line, message| LabelError { line, message };
    let header = (reader.headers()).map_err(|error| vec![bad(1, error.to_string())])?;
    let place = |name: &str| header.iter().position(|cell| cell.trim() == name);
    let (Some(id_place), Some(score_place)) = (place("pairId"), place("score")) else {
        let message = "expected the columns pairId and score, separated by commas; export the sheet again and save it as CSV";
        return Err(vec![bad(1, message.to_owned())]);
    };
    let known: HashSet<&str> = pairs.iter().map(|pair| pair.id.as_str()).collect();
    let mut lines = HashMap::new();
    let mut read = |record: &csv::StringRecord, line| {
        let cell = |place| record.get(place).unwrap_or_default().trim();
        let (id, score) = (cell(id_place).trim_start_matches('\''), cell(score_place));
        if !known.contains(id) {
            return Err(format!(
                "expected the id of a pair of this run, found {}",
                shown(id)
            ));
        }
        if let Some(first) = lines.insert(id.to_owned(), line) {
            return Err(format!(
                "the pair {id} is in line {first} too; keep one of them"
            ));
        }
        let points = score.parse().ok().filter(|score| *score <= MAX_SEMANTIC);
        if points.is_none() && !score.is_empty() {
            let found = shown(score);
            return Err(format!(
                "expected a whole number from 0 to {MAX_SEMANTIC}, found {found}"
            ));
        }
        Ok((id.to_owned(), points))
    };
    let (mut rows, mut errors) = (Vec::new(), Vec::new());
    for record in reader.records() {
        let position =
            |place: Option<&csv::Position>| place.map_or(0, |place| place.line() as usize);
        let row = match &record {
            Ok(record) => {
                let line = position(record.position());
                read(record, line).map_err(|message| bad(line, message))
            }
            Err(error) => Err(bad(position(error.position()), error.to_string())),
        };
        match row {
            Ok(row) => rows.push(row),
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() {
        let last = rows.iter().rposition(|(_, score)| score.is_some());
        rows.truncate(last.map_or(0, |last| last + 1));
        Ok(rows)
    } else {
        Err(errors)
    }
}

/// The start of a cell for a message.
fn shown(cell: &str) -> String {
    format!("{:?}", cell.chars().take(40).collect::<String>())
}
