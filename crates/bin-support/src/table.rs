//! Tables without frames: as wide as the terminal, or one line a row in a file.

use std::borrow::Cow;

use textwrap::core::display_width;
use textwrap::{Options, WordSplitter};

use crate::{Results, Tone};

/// The gap between two columns.
const GAP: &str = "  ";

/// The smallest width that a column is wrapped to, in columns of the terminal.
const NARROWEST: usize = 12;

/// A cell of a [`Table`]; its text must be safe for a terminal ([`escape`](crate::escape)).
#[derive(Debug, Clone, Default)]
pub struct Cell {
    text: String,
    tone: Option<Tone>,
}

impl Cell {
    /// A cell in the colour of its tone.
    pub fn toned(tone: Tone, text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            tone: Some(tone),
        }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self {
            text: text.into(),
            tone: None,
        }
    }
}

/// Rows of cells under a header.
///
/// A terminal gets lines that fit: the text of one column, which the command names, continues on further lines. Everywhere
/// else each row is one line, and nothing is cut.
#[derive(Debug, Clone)]
pub struct Table {
    header: Vec<String>,
    wrapping: Option<usize>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// An empty table with the names of its columns.
    pub fn new<T: Into<String>>(header: impl IntoIterator<Item = T>) -> Self {
        Self {
            header: header.into_iter().map(Into::into).collect(),
            wrapping: None,
            rows: Vec::new(),
        }
    }

    /// The table with a column of this name that continues on further lines where the terminal is narrow.
    #[must_use]
    pub fn wrapping(mut self, column: &str) -> Self {
        self.wrapping = self.header.iter().position(|name| name == column);
        self
    }

    /// Adds a row; missing cells are empty.
    pub fn row<T: Into<Cell>>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// Whether the table has no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the lines of the table, each with its line end.
    pub fn text(&self, results: &Results) -> String {
        let strong = |name: &String| Cell::toned(Tone::Strong, name);
        let header = self.header.iter().map(strong).collect();
        let rows: Vec<&Vec<Cell>> = [&header].into_iter().chain(&self.rows).collect();
        let widths = self.widths(&rows, results.width());
        let paint = |tone: Option<Tone>, text: &str| match tone {
            Some(tone) if !text.is_empty() => results.paint(tone, text),
            _ => text.to_owned(),
        };
        rows.iter().map(|row| lines(row, &widths, paint)).collect()
    }

    /// The width of each column: that of its longest cell, but for the wrapped one, which gets the rest of the terminal.
    fn widths(&self, rows: &[&Vec<Cell>], terminal: Option<usize>) -> Vec<usize> {
        let longest = |column: usize| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| display_width(&cell.text)).max()
        };
        let mut widths: Vec<_> = (0..self.header.len())
            .map(|column| longest(column).unwrap_or_default())
            .collect();
        if let (Some(terminal), Some(column)) = (terminal, self.wrapping) {
            let gaps = GAP.len() * widths.len().saturating_sub(1);
            let others = widths.iter().sum::<usize>() - widths[column];
            let rest = terminal.saturating_sub(others + gaps).max(NARROWEST);
            widths[column] = widths[column].min(rest);
        }
        widths
    }
}

/// The lines of one row.
fn lines(row: &[Cell], widths: &[usize], paint: impl Fn(Option<Tone>, &str) -> String) -> String {
    let wrap = |(cell, width): (&Cell, &usize)| {
        let options = Options::new(*width).word_splitter(WordSplitter::NoHyphenation);
        let parts = textwrap::wrap(&cell.text, options).into_iter();
        parts.map(Cow::into_owned).collect::<Vec<_>>()
    };
    let parts: Vec<_> = row.iter().zip(widths).map(wrap).collect();
    let height = parts.iter().map(Vec::len).max().unwrap_or_default();
    let mut text = String::new();
    for line in 0..height {
        let mut gap = String::new();
        for ((cell, width), part) in row.iter().zip(widths).zip(&parts) {
            let part = part.get(line).map_or("", String::as_str);
            if !part.is_empty() {
                text.push_str(&gap);
                text.push_str(&paint(cell.tone, part));
                gap.clear();
            }
            let free = width.saturating_sub(display_width(part));
            gap.push_str(&" ".repeat(free));
            gap.push_str(GAP);
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(["law", "verdict", "evidence"]).wrapping("law");
        table.row(["count of all things is the same", "PASS", ""]);
        table.row([
            Cell::from("ü"),
            Cell::toned(Tone::Bad, "FAIL"),
            "N = 3".into(),
        ]);
        table
    }

    fn plain(table: &Table, terminal: Option<usize>) -> Vec<String> {
        let header = table.header.iter().map(Cell::from).collect();
        let rows: Vec<&Vec<Cell>> = [&header].into_iter().chain(&table.rows).collect();
        let widths = table.widths(&rows, terminal);
        let text: String = (rows.iter())
            .map(|row| lines(row, &widths, |_, text| text.to_owned()))
            .collect();
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_file_has_one_line_a_row_without_spaces_at_its_end() {
        assert_eq!(
            table().text(&Results::new(Vec::new())),
            "law                              verdict  evidence\n\
             count of all things is the same  PASS\n\
             ü                                FAIL     N = 3\n"
        );
    }

    #[test]
    fn a_terminal_wraps_the_named_column_and_no_other() {
        let expected = [
            "law                verdict  evidence",
            "count of all       PASS",
            "things is the",
            "same",
            "ü                  FAIL     N = 3",
        ];
        assert_eq!(plain(&table(), Some(36)), expected);
        assert_eq!(plain(&table(), Some(500)).len(), 3);
    }

    #[test]
    fn a_word_longer_than_its_column_is_broken_and_whole() {
        let mut table = Table::new(["name", "n"]).wrapping("name");
        table.row(["abcdefghijklmnopqrstuvwxyz", "1"]);
        let lines = plain(&table, Some(5));
        assert_eq!(lines[1..], ["abcdefghijkl  1", "mnopqrstuvwx", "yz"]);
    }

    #[test]
    fn spaces_in_a_cell_are_kept_in_a_file() {
        let mut table = Table::new(["state"]);
        table.row(["a  b"]);
        assert_eq!(plain(&table, None)[1], "a  b");
    }
}
