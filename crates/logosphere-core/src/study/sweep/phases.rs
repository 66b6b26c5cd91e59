//! The phase table of a sweep: the verdicts over two axes.

use super::summary::{CellSummary, SweepSummary};

/// The verdicts over the first two axes, with one value of each further axis.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PhaseTable<'a> {
    /// The values of the further axes, such as `mind=1`; empty without any.
    pub further: String,
    /// The name of the first axis, which has a row for each value, and the values.
    pub rows: (&'a str, Vec<&'a str>),
    /// The name of the second axis, which has a column for each value, and the values; one column without a name for a
    /// sweep with one axis.
    pub columns: (&'a str, Vec<&'a str>),
    /// The cells, row by row.
    pub cells: Vec<Vec<&'a CellSummary>>,
}

impl SweepSummary {
    /// Returns a table of the first two axes for each combination of the further ones. A sweep without axes has none.
    pub fn phase_tables(&self) -> Vec<PhaseTable<'_>> {
        let Some((first, others)) = self.axes.split_first() else {
            return Vec::new();
        };
        let mut tables: Vec<PhaseTable<'_>> = Vec::new();
        for cell in &self.cells {
            let mut values = cell.values.iter().map(String::as_str);
            let row = values.next().unwrap_or_default();
            let column = values.next().unwrap_or_default();
            let further: Vec<String> = (others.iter().skip(1).zip(values))
                .map(|(axis, value)| format!("{axis}={value}"))
                .collect();
            let further = further.join(", ");
            let known = tables.iter().position(|table| table.further == further);
            let at = known.unwrap_or_else(|| {
                tables.push(PhaseTable {
                    further,
                    rows: (first, Vec::new()),
                    columns: (others.first().map_or("", String::as_str), Vec::new()),
                    cells: Vec::new(),
                });
                tables.len() - 1
            });
            let table = &mut tables[at];
            // Cells are in the order of the plan, so rows and columns come in the order of their values.
            if table.rows.1.last() != Some(&row) {
                table.rows.1.push(row);
                table.cells.push(Vec::new());
            }
            if !table.columns.1.contains(&column) {
                table.columns.1.push(column);
            }
            if let Some(cells) = table.cells.last_mut() {
                cells.push(cell);
            }
        }
        tables
    }
}

impl CellSummary {
    /// Returns the letter of the verdict and the mean similarity, such as `S 0.61`.
    pub fn phase(&self) -> String {
        let letter = self.verdict.letter();
        match self.similarity() {
            Some(effect) => format!("{letter} {:.2}", effect.mean),
            None => letter.to_string(),
        }
    }
}
