//! Numbers, tables and curves as the page shows them.

use report_kit::{Cell, Section, Table};

/// Points of a curve.
const DRAWN: usize = 100;

/// Every how many rounds are drawn, so that a curve has no more points than a screen shows.
pub(super) fn stride(rounds: usize) -> usize {
    rounds.div_ceil(DRAWN).max(1)
}

/// What is drawn of a curve over all rounds; the last one always is.
pub(super) fn drawn<T>(rounds: &[T]) -> impl Iterator<Item = &T> {
    let stride = stride(rounds.len());
    let first = rounds.len().saturating_sub(1) % stride;
    rounds.iter().skip(first).step_by(stride)
}

/// "1 call", "3 calls".
pub(super) fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// A share as percent, with one digit where that says more than none.
pub(super) fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "0 %".to_owned();
    }
    let share = 100.0 * part as f64 / whole as f64;
    let digits = usize::from(share > 0.0 && share < 10.0);
    format!("{share:.digits$} %")
}

/// The section with a table, if the table has rows.
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

/// A number, if there is one.
pub(super) fn number(value: Option<f64>, digits: u8) -> Cell {
    value.map_or(Cell::Missing, |value| Cell::number(value, digits))
}
