//! Numbers, tables and curves as the page shows them.

use report_kit::{Cell, Section, Table};

/// The largest number of points of a curve.
const DRAWN: usize = 100;

/// The largest number of rounds in the data of a page.
const DATA_ROUNDS: usize = 1000;

/// Returns the interval between the rounds in the data of a page, so that its size is limited.
pub(super) fn data_stride(rounds: usize) -> usize {
    rounds.div_ceil(DATA_ROUNDS).max(1)
}

/// Returns the interval between the rounds that are drawn, so that a curve has a limited number of points.
pub(super) fn stride(rounds: usize) -> usize {
    rounds.div_ceil(DRAWN).max(1)
}

/// Returns the drawn points of a curve over all rounds; the last one is always drawn.
pub(super) fn drawn<T>(rounds: &[T]) -> impl Iterator<Item = &T> {
    let stride = stride(rounds.len());
    let first = rounds.len().saturating_sub(1) % stride;
    rounds.iter().skip(first).step_by(stride)
}

/// Returns a count with its noun: "1 call", "3 calls".
pub(super) fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Returns a share as percent, with one digit if it is small.
pub(super) fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "0 %".to_owned();
    }
    let share = 100.0 * part as f64 / whole as f64;
    let digits = usize::from(share > 0.0 && share < 10.0);
    format!("{share:.digits$} %")
}

/// Returns the section with a table; without rows there is none.
pub(super) fn filled<const N: usize>(
    section: Section,
    title: &str,
    columns: [&str; N],
    rows: impl IntoIterator<Item = [Cell; N]>,
) -> Section {
    let mut rows = rows.into_iter().peekable();
    if rows.peek().is_none() {
        return section;
    }
    section.table(Table::new(title, columns).rows(rows))
}

/// Returns a cell with a number; empty for `None`.
pub(super) fn number(value: Option<f64>, digits: u8) -> Cell {
    value.map_or(Cell::Missing, |value| Cell::number(value, digits))
}
