//! The formats CSV and JSON Lines.

use std::io::{self, Write};

use csv::{Terminator, WriterBuilder};

use super::row::{CellValue, Rows};

/// Writes CSV by RFC 4180: CRLF, a header, quotes where needed.
///
/// Texts that a spreadsheet would read as formulas get an apostrophe unless `raw`.
pub(super) fn csv(rows: &Rows<'_>, raw: bool, out: &mut impl Write) -> io::Result<()> {
    let mut csv = WriterBuilder::new()
        .terminator(Terminator::CRLF)
        .from_writer(out);
    csv.write_record(rows.columns)?;
    for row in &rows.rows {
        for value in &row.values {
            csv.write_field(cell(value, raw))?;
        }
        csv.write_record(None::<&[u8]>)?;
    }
    csv.flush()
}

fn cell(value: &CellValue<'_>, raw: bool) -> String {
    match value {
        CellValue::None => String::new(),
        CellValue::Text(text) => {
            let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
            let guard = if formula && !raw { "'" } else { "" };
            format!("{guard}{text}")
        }
        CellValue::Whole(number) => number.to_string(),
        CellValue::Number(number) => number.to_string(),
        CellValue::Truth(truth) => truth.to_string(),
        CellValue::Ids(ids) => {
            let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
            ids.join(" ")
        }
    }
}

/// Writes a JSON object for each row.
pub(super) fn jsonl(rows: &Rows<'_>, out: &mut impl Write) -> io::Result<()> {
    for row in &rows.rows {
        serde_json::to_writer(&mut *out, row)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}
