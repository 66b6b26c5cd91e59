use maud::{Markup, html};

use crate::document::anchor::Anchors;
use crate::document::cell::Cell;
use crate::document::text;
use crate::error::Error;

/// The number of rows from which a table can be sorted and filtered.
const LONG: usize = 10;

/// Rows under named columns. The first cell of a row names the row.
///
/// A sentence replaces a table without rows. If scripts run, a table of ten rows or more can be sorted by its column heads and
/// filtered by its columns of badges.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    caption: String,
    columns: Vec<String>,
    rows: Vec<Vec<Cell>>,
    limit: Option<usize>,
}

impl Table {
    /// A table without rows.
    pub fn new<C: Into<String>>(
        caption: impl Into<String>,
        columns: impl IntoIterator<Item = C>,
    ) -> Self {
        Self {
            caption: caption.into(),
            columns: columns.into_iter().map(Into::into).collect(),
            rows: Vec::new(),
            limit: None,
        }
    }

    /// Adds a row: as many cells as there are columns.
    #[must_use]
    pub fn row(mut self, cells: impl IntoIterator<Item = Cell>) -> Self {
        self.rows.push(cells.into_iter().collect());
        self
    }

    /// Adds several rows.
    #[must_use]
    pub fn rows<R: IntoIterator<Item = Cell>>(mut self, rows: impl IntoIterator<Item = R>) -> Self {
        self.rows
            .extend(rows.into_iter().map(|row| row.into_iter().collect()));
        self
    }

    /// Shows only the first `rows`; a line says how many there are. Embed the page's data to publish all of them.
    #[must_use]
    pub fn limit(mut self, rows: usize) -> Self {
        self.limit = Some(rows);
        self
    }

    fn shown(&self) -> &[Vec<Cell>] {
        &self.rows[..self.rows.len().min(self.limit.unwrap_or(usize::MAX))]
    }

    /// Whether the table is long enough to be sorted.
    pub(crate) fn is_long(&self) -> bool {
        self.shown().len() >= LONG
    }

    pub(crate) fn render(&self, anchors: &Anchors) -> Result<Markup, Error> {
        let expected = self.columns.len();
        if let Some((index, row)) =
            (self.rows.iter().enumerate()).find(|(_, r)| r.len() != expected)
        {
            return Err(Error::RowWidth {
                table: self.caption.clone(),
                row: index + 1,
                expected,
                actual: row.len(),
            });
        }
        let total = self.rows.len();
        let rows = self.shown();
        // A head stands over its numbers.
        let numeric = |column: usize| {
            let mut filled = rows.iter().map(|row| &row[column]);
            rows.iter().any(|row| row[column].is_number())
                && filled.all(|cell| cell.is_number() || *cell == Cell::Missing)
        };
        // Numbers are never broken, and a column of words is not squeezed to one word a line.
        let class = |column: usize| {
            if numeric(column) {
                return Some("number");
            }
            match rows.iter().map(|row| row[column].length()).max() {
                Some(41..) => Some("long"),
                Some(17..) => Some("middle"),
                _ => None,
            }
        };
        let classes: Vec<Option<&str>> = (0..expected).map(class).collect();
        if rows.is_empty() {
            return Ok(html! {
                p class="none" { (text::breakable(&self.caption, text::TITLE)) ": none." }
            });
        }
        let caption = anchors.fresh();
        let long = self.is_long().then_some("long");
        Ok(html! {
            div class="rows" {
                // The box scrolls, so it takes the keyboard.
                div class={ "table-scroll" @if long.is_some() { " tall" } }
                    role="region" aria-labelledby=(caption) tabindex="0" {
                    table class=[long] {
                        caption id=(caption) { (text::breakable(&self.caption, text::TITLE)) }
                        thead { tr {
                            @for (index, column) in self.columns.iter().enumerate() {
                                th scope="col" class=[classes[index]] {
                                    (text::breakable(column, text::TITLE))
                                }
                            }
                        } }
                        tbody {
                            @for row in rows { (row_of(row, &classes, anchors)?) "\n" }
                        }
                    }
                }
                @if rows.len() < total {
                    p class="note" { "The table has the first " (rows.len()) " of " (total) " rows." }
                }
            }
        })
    }
}

/// Renders a row; `classes` are those of the columns.
fn row_of(row: &[Cell], classes: &[Option<&str>], anchors: &Anchors) -> Result<Markup, Error> {
    Ok(html! {
        tr {
            @for (index, (cell, class)) in row.iter().zip(classes).enumerate() {
                @let right = cell.is_number() || (*cell == Cell::Missing && *class == Some("number"));
                @let class = right.then_some("number");
                @if index == 0 {
                    th scope="row" class=[class] { (cell.render(anchors)?) }
                } @else {
                    td class=[class] { (cell.render(anchors)?) }
                }
            }
        }
    })
}
