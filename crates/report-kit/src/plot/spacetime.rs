use std::collections::BTreeMap;

use maud::{Markup, html};

use crate::document::anchor::Anchors;
use crate::document::number::{coordinate, counted};
use crate::document::text;

/// The maximum number of rows that are drawn.
const ROWS: usize = 400;
/// The maximum number of columns that are drawn.
const COLUMNS: usize = 240;
/// The space for the numbers at the left and at the top, in units of the drawing.
const MARGIN: f64 = 50.0;
/// The interval between numbered rows and columns.
const NUMBERED: u64 = 5;
/// The number of rows up to which each row has a number.
const FEW: usize = 20;
/// The largest number of columns of a diagram that shrinks with the window: its letters stay readable on a phone.
const SMALL: usize = 30;
/// The least width for the cells: the room that the name of their axis takes.
const AXIS_NAME: f64 = 30.0;

/// A space-time diagram: a row of coloured cells for each moment, with marks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpaceTime {
    title: String,
    rows: Vec<String>,
    symbols: Vec<(char, String)>,
    marks: Vec<Mark>,
    origin: (u64, u64),
}

/// A marked cell or row.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Mark {
    row: usize,
    column: Option<usize>,
    note: String,
}

impl SpaceTime {
    /// A diagram of these rows, the earliest first, with a character for each cell. Rows may differ in length.
    pub fn new<R: Into<String>>(
        title: impl Into<String>,
        rows: impl IntoIterator<Item = R>,
    ) -> Self {
        Self {
            title: title.into(),
            rows: rows.into_iter().map(Into::into).collect(),
            symbols: Vec::new(),
            marks: Vec::new(),
            origin: (0, 0),
        }
    }

    /// Sets the time of the first row and the cell of the first column, for rows that are a part of a larger universe.
    ///
    /// Only the numbers shown change; marks are counted from the corner of the given rows.
    #[must_use]
    pub fn origin(mut self, time: u64, cell: u64) -> Self {
        self.origin = (time, cell);
        self
    }

    /// Names the meaning of a character. The first one is the background; the order decides the colours.
    #[must_use]
    pub fn symbol(mut self, symbol: char, meaning: impl Into<String>) -> Self {
        self.symbols.push((symbol, meaning.into()));
        self
    }

    /// Marks a cell, both numbers from 0, with a note.
    #[must_use]
    pub fn mark(mut self, row: usize, column: usize, note: impl Into<String>) -> Self {
        self.marks.push(Mark {
            row,
            column: Some(column),
            note: note.into(),
        });
        self
    }

    /// Marks a whole row, from 0, with a note.
    #[must_use]
    pub fn mark_row(mut self, row: usize, note: impl Into<String>) -> Self {
        self.marks.push(Mark {
            row,
            column: None,
            note: note.into(),
        });
        self
    }

    pub(crate) fn render(&self, anchors: &Anchors) -> Markup {
        let caption = anchors.fresh();
        html! {
            figure class="spacetime" aria-labelledby=(caption) {
                figcaption id=(caption) { span class="name" { (text::breakable(&self.title, text::TITLE)) } }
                @if self.rows.iter().all(String::is_empty) {
                    p class="none" { "There are no cells." }
                } @else {
                    @let window = self.window();
                    (self.svg(&window, anchors))
                    (self.legend(&window))
                    @for mark in &self.marks {
                        p class="note marked" {
                            span class="sign" aria-hidden="true" { "▢" } " " (self.place(mark)) ": "
                            bdi { (text::markup(&mark.note, text::CELL)) }
                        }
                    }
                    @if let Some(note) = window.note(self.origin) { p class="note" { (note) } }
                    details { summary { "The cells as text" }
                        div class="table-scroll" tabindex="0" role="region" aria-labelledby=(caption) {
                            div class="text code cells" {
                                @for line in &window.cells { (text::visible(&line.iter().collect::<String>())) "\n" }
                            }
                        }
                    }
                }
            }
        }
    }

    /// The part that is drawn: everything if it fits, otherwise the part around the first mark.
    fn window(&self) -> Window {
        let height = self.rows.len();
        let width = self
            .rows
            .iter()
            .map(|row| row.chars().count())
            .max()
            .unwrap_or(0);
        let (row, column) = self
            .marks
            .first()
            .map_or((0, 0), |mark| (mark.row, mark.column.unwrap_or(0)));
        let top = first(row, ROWS, height);
        let left = first(column, COLUMNS, width);
        let cells = (self.rows.iter().skip(top).take(ROWS))
            .map(|line| line.chars().skip(left).take(COLUMNS).collect())
            .collect();
        Window {
            top,
            left,
            height,
            width,
            cells,
        }
    }

    /// The colour of a character. Characters without a meaning come after the others, in the order of their code points.
    fn colours(&self, window: &Window) -> BTreeMap<char, usize> {
        let mut colours = BTreeMap::new();
        for (index, (symbol, _)) in self.symbols.iter().enumerate() {
            colours.entry(*symbol).or_insert(index);
        }
        let mut unknown: Vec<char> = window.cells.iter().flatten().copied().collect();
        unknown.sort_unstable();
        unknown.dedup();
        unknown.retain(|symbol| !colours.contains_key(symbol));
        for (index, symbol) in unknown.into_iter().enumerate() {
            colours.insert(symbol, self.symbols.len() + index);
        }
        colours
    }

    fn svg(&self, window: &Window, anchors: &Anchors) -> Markup {
        let colours = self.colours(window);
        let columns = window.cells.iter().map(Vec::len).max().unwrap_or(0);
        let side = match columns {
            0..=24 => 24.0,
            25..=40 => 18.0,
            41..=80 => 13.0,
            _ => 8.0,
        };
        let (name, description) = (anchors.fresh(), anchors.fresh());
        let width = MARGIN + (side * columns as f64).max(AXIS_NAME) + 4.0;
        let small = (columns <= SMALL).then_some(" small");
        let height = MARGIN + side * window.cells.len() as f64 + 4.0;
        let (width, height) = (coordinate(width), coordinate(height));
        html! {
            div class="table-scroll" {
                svg class={ "cells" (small.unwrap_or_default()) } role="img" aria-labelledby=(name) aria-describedby=(description)
                    width=(width) height=(height) viewBox={ "0 0 " (width) " " (height) } {
                    title id=(name) { (text::label(&self.title, text::TITLE)) }
                    desc id=(description) { (self.description(window)) }
                    (numbers(window, columns, side, self.origin))
                    g transform={ "translate(" (coordinate(MARGIN)) " " (coordinate(MARGIN)) ")" } {
                        @for (symbol, colour) in &colours {
                            path class={ "cell-" (colour % 8) } d=(fields(window, *symbol, side)) {}
                        }
                        path class="mesh" d=(mesh(window.cells.len(), columns, side)) {}
                        // In small cells a letter could not be read.
                        @if side > 10.0 { (letters(window, &self.symbols, side)) }
                        @for mark in &self.marks { (outline(window, mark, side)) }
                    }
                }
            }
        }
    }

    fn legend(&self, window: &Window) -> Markup {
        html! {
            ul class="legend" {
                @for (symbol, colour) in self.colours(window) {
                    @let meaning = self.symbols.iter().find(|(known, _)| *known == symbol);
                    li {
                        span class={ "swatch cell-" (colour % 8) } { (letter(symbol)) } " "
                        @match meaning {
                            Some((_, meaning)) => bdi { (text::markup(meaning, text::TITLE)) },
                            None => "(not explained)",
                        }
                    }
                }
            }
        }
    }

    /// The position of a mark, in words.
    fn place(&self, mark: &Mark) -> String {
        let time = self.origin.0.saturating_add(mark.row as u64);
        match mark.column {
            Some(column) => {
                let cell = self.origin.1.saturating_add(column as u64);
                format!("time {time}, cell {cell}")
            }
            None => format!("time {time}"),
        }
    }

    fn description(&self, window: &Window) -> String {
        let marked = (self.marks.first()).map_or_else(String::new, |mark| {
            format!(" Marked: {}.", self.place(mark))
        });
        format!(
            "{} of {}, time runs downwards.{marked}",
            counted(window.height, "row"),
            counted(window.width, "cell")
        )
    }
}

/// The part of a diagram that is drawn.
struct Window {
    top: usize,
    left: usize,
    height: usize,
    width: usize,
    cells: Vec<Vec<char>>,
}

impl Window {
    fn note(&self, origin: (u64, u64)) -> Option<String> {
        let rows = self.cells.len();
        let columns = self.cells.iter().map(Vec::len).max().unwrap_or(0);
        (rows < self.height || columns < self.width).then(|| {
            format!(
                "Cut: {rows} of {} rows from {}, {columns} of {} cells from {} are shown.",
                self.height,
                origin.0.saturating_add(self.top as u64),
                self.width,
                origin.1.saturating_add(self.left as u64)
            )
        })
    }
}

/// The start of a window that contains `wanted`.
fn first(wanted: usize, size: usize, all: usize) -> usize {
    if all <= size || wanted < size {
        0
    } else {
        wanted.saturating_sub(size / 2).min(all - size)
    }
}

/// The numbers of rows and columns.
fn numbers(window: &Window, columns: usize, side: f64, origin: (u64, u64)) -> Markup {
    let rows = window.cells.len();
    let centre = |index: usize| MARGIN + side * (index as f64 + 0.5);
    let every = if rows <= FEW { 1 } else { NUMBERED };
    let time = |row: usize| origin.0.saturating_add((row + window.top) as u64);
    let cell = |column: usize| origin.1.saturating_add((column + window.left) as u64);
    html! {
        text class="axis-name" x="4" y=(coordinate(MARGIN - 8.0)) { "time" }
        text class="axis-name" x=(coordinate(MARGIN)) y="16" { "cell" }
        @for row in (0..rows).filter(|row| time(*row).is_multiple_of(every)) {
            text text-anchor="end" x=(coordinate(MARGIN - 6.0)) y=(coordinate(centre(row) + 4.0)) {
                (time(row))
            }
        }
        @for column in (0..columns).filter(|column| cell(*column).is_multiple_of(NUMBERED)) {
            text text-anchor="middle" x=(coordinate(centre(column))) y=(coordinate(MARGIN - 8.0)) {
                (cell(column))
            }
        }
    }
}

/// All cells of one character as one path; neighbours in a row are one rectangle.
fn fields(window: &Window, symbol: char, side: f64) -> String {
    let mut path = String::new();
    for (row, line) in window.cells.iter().enumerate() {
        let mut column = 0;
        while column < line.len() {
            let run = (line[column..].iter())
                .take_while(|cell| **cell == symbol)
                .count();
            if run > 0 {
                path.push_str(&rectangle(column, row, run, side));
            }
            column += run.max(1);
        }
    }
    path
}

fn rectangle(column: usize, row: usize, run: usize, side: f64) -> String {
    let at = |index: usize| coordinate(side * index as f64);
    let (x, y, width, height) = (at(column), at(row), at(run), at(1));
    format!("M{x} {y}h{width}v{height}h-{width}z")
}

/// The lines between the cells.
fn mesh(rows: usize, columns: usize, side: f64) -> String {
    let at = |index: usize| coordinate(side * index as f64);
    let across = (0..=rows).map(|row| format!("M0 {}H{}", at(row), at(columns)));
    let down = (0..=columns).map(|column| format!("M{} 0V{}", at(column), at(rows)));
    across.chain(down).collect::<Vec<_>>().concat()
}

/// The characters of all cells but the background, so that colour is not the only distinction: a text a row.
fn letters(window: &Window, symbols: &[(char, String)], side: f64) -> Markup {
    let background = symbols.first().map(|(symbol, _)| *symbol);
    html! {
        @for (row, line) in window.cells.iter().enumerate() {
            @let filled: Vec<(usize, char)> = (line.iter().copied().enumerate())
                .filter(|(_, symbol)| Some(*symbol) != background)
                .collect();
            @if !filled.is_empty() {
                @let centres: Vec<String> = (filled.iter())
                    .map(|(column, _)| coordinate(side * (*column as f64 + 0.5)))
                    .collect();
                text class="letter" y=(coordinate(side * (row as f64 + 0.5) + 4.7)) x=(centres.join(" ")) {
                    (filled.iter().map(|(_, symbol)| letter(*symbol)).collect::<String>())
                }
            }
        }
    }
}

/// A visible character that fits into a cell.
fn letter(symbol: char) -> char {
    let mut buffer = [0; 4];
    let mut shown = text::visible(symbol.encode_utf8(&mut buffer)).into_owned();
    match (shown.pop(), shown.is_empty()) {
        (Some(letter), true) => letter,
        _ => '?',
    }
}

/// A frame in two colours, visible on any background.
fn outline(window: &Window, mark: &Mark, side: f64) -> Markup {
    let line = mark
        .row
        .checked_sub(window.top)
        .and_then(|row| Some((row, window.cells.get(row)?.len())));
    let inside = line.and_then(|(row, length)| match mark.column {
        None => (length > 0).then_some((row, 0, length)),
        Some(column) => {
            let column = column.checked_sub(window.left)?;
            (column < length).then_some((row, column, 1))
        }
    });
    html! {
        @if let Some((row, column, cells)) = inside {
            @let (x, y) = (coordinate(side * column as f64), coordinate(side * row as f64));
            @let (width, height) = (coordinate(side * cells as f64), coordinate(side));
            rect class="frame-outer" x=(x) y=(y) width=(width) height=(height) {}
            rect class="frame-inner" x=(x) y=(y) width=(width) height=(height) {}
        }
    }
}
