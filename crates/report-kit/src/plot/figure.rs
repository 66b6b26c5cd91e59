//! The parts that all plots share: the frame with its axes, and the figure around the drawing.

use maud::{Markup, html};

use super::Axis;
use super::scale::{IntervalPart, Scale};
use crate::document::anchor::Anchors;
use crate::document::cell::Cell;
use crate::document::frame::DATA;
use crate::document::number::{coordinate, counted};
use crate::document::text;
use crate::error::Error;
use crate::table::Table;

/// The width of a drawing in its own units; the page scales it.
pub(crate) const WIDTH: f64 = 720.0;
/// The height of a drawing with two axes.
pub(super) const HEIGHT: f64 = 320.0;
/// The maximum number of rows of a plot's table.
const ROWS: usize = 1_000;
/// The maximum length in characters of a label in a drawing.
pub(super) const LABEL: usize = 60;

/// A plot with its drawing.
pub(super) struct Figure {
    /// The drawing; `None` if no value can be drawn.
    pub(super) drawing: Option<Drawing>,
    /// The legend of colours and shapes, if there is more than one.
    pub(super) legend: Vec<(Markup, String)>,
    /// Notes on values that were left out, with the reason.
    pub(super) notes: Vec<String>,
    /// The column heads of the table.
    pub(super) columns: Vec<String>,
    /// The rows of the table.
    pub(super) rows: Vec<Vec<Cell>>,
}

/// The inside of an SVG element.
pub(crate) struct Drawing {
    pub(crate) height: f64,
    pub(crate) content: Markup,
    /// A description of the drawing in a sentence.
    pub(crate) description: String,
}

impl Figure {
    pub(super) fn render(
        self,
        title: &str,
        in_data: bool,
        anchors: &Anchors,
    ) -> Result<Markup, Error> {
        let caption = anchors.fresh();
        let total = self.rows.len();
        let filled: Vec<bool> = (0..self.columns.len())
            .map(|column| self.rows.iter().any(|row| row[column] != Cell::Missing))
            .collect();
        // A value that a series does not have stays blank, and an empty column is left out.
        let blank = |cell| match cell {
            Cell::Missing => Cell::text(""),
            cell => cell,
        };
        let columns = kept(self.columns, &filled);
        let rows = (self.rows.into_iter()).map(|row| kept(row, &filled).map(blank));
        let table = Table::new(format!("The numbers of: {title}"), columns)
            .rows(rows)
            .limit(ROWS);
        Ok(html! {
            figure class="plot" aria-labelledby=(caption) {
                figcaption id=(caption) { span class="name" { (text::breakable(title, text::TITLE)) } }
                @match &self.drawing {
                    Some(drawing) => (svg(drawing, title, anchors)),
                    None => p class="none" { "There is nothing to draw." },
                }
                @if self.legend.len() > 1 {
                    ul class="legend" {
                        @for (swatch, name) in &self.legend {
                            li { (swatch) " " bdi { (text::markup(name, text::TITLE)) } }
                        }
                    }
                }
                @for note in &self.notes { p class="note" { (note) } }
                @if in_data {
                    p class="note" { "The numbers are in the " a href={ "#" (DATA) } { "data of this page" } "." }
                } @else if total > 0 {
                    details { summary { "The numbers" } (table.render(anchors)?) }
                }
            }
        })
    }
}

/// Keeps the items of the columns in use.
fn kept<T>(items: Vec<T>, filled: &[bool]) -> impl Iterator<Item = T> {
    let items = items.into_iter().zip(filled);
    items.filter_map(|(item, filled)| filled.then_some(item))
}

fn svg(drawing: &Drawing, title: &str, anchors: &Anchors) -> Markup {
    let (name, description) = (anchors.fresh(), anchors.fresh());
    html! {
        svg class="drawing" role="img" aria-labelledby=(name) aria-describedby=(description)
            viewBox={ "0 0 " (coordinate(WIDTH)) " " (coordinate(drawing.height)) } {
            title id=(name) { (text::label(title, text::TITLE)) }
            desc id=(description) { (drawing.description) }
            (drawing.content)
        }
    }
}

/// The area between two axes.
pub(super) struct Frame {
    pub(super) x: Scale,
    pub(super) y: Scale,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Frame {
    pub(super) fn new(x: Scale, y: Scale) -> Self {
        let widest = y.ticks.iter().map(|(_, label)| label.len()).max();
        Self {
            x,
            y,
            left: 18.0 + 7.5 * widest.unwrap_or(0) as f64,
            right: WIDTH - 24.0,
            top: 36.0,
            bottom: HEIGHT - 50.0,
        }
    }

    /// Leaves this space at the right of the area.
    pub(super) fn with_space(self, space: f64) -> Self {
        Self {
            right: WIDTH - space,
            ..self
        }
    }

    pub(super) fn across(&self, value: f64) -> f64 {
        self.left + self.x.place(value) * (self.right - self.left)
    }

    pub(super) fn up(&self, value: f64) -> f64 {
        self.bottom - self.y.place(value) * (self.bottom - self.top)
    }

    /// Draws the grid, the labels and the names of the axes.
    pub(super) fn axes(&self, x: &Axis, y: &Axis) -> Markup {
        let (left, right) = (coordinate(self.left), coordinate(self.right));
        let (top, bottom) = (coordinate(self.top), coordinate(self.bottom));
        html! {
            @for (value, label) in &self.y.ticks {
                @let at = self.up(*value);
                line class="rule" x1=(left) x2=(right) y1=(coordinate(at)) y2=(coordinate(at)) {}
                text text-anchor="end" x=(coordinate(self.left - 8.0)) y=(coordinate(at + 4.5)) { (label) }
            }
            @for (index, (value, label)) in self.x.ticks.iter().enumerate() {
                @let at = coordinate(self.across(*value));
                line class="rule" x1=(at) x2=(at) y1=(top) y2=(bottom) {}
                text class=[minor(index)] text-anchor="middle" x=(at) y=(coordinate(self.bottom + 20.0)) { (label) }
            }
            line class="axis" x1=(left) x2=(right) y1=(bottom) y2=(bottom) {}
            line class="axis" x1=(left) x2=(left) y1=(top) y2=(bottom) {}
            @if self.y.is_broken() { (broken(self.left, self.bottom - 12.0)) }
            @if self.x.is_broken() { (broken(self.left + 12.0, self.bottom)) }
            text class="axis-name" x="4" y="16" { (name(y)) }
            text class="axis-name" text-anchor="end" x=(right) y=(coordinate(self.bottom + 42.0)) { (name(x)) }
        }
    }
}

/// Returns the CSS class of every second label of a horizontal axis, which a narrow page leaves out.
pub(super) fn minor(index: usize) -> Option<&'static str> {
    (index % 2 == 1).then_some("minor")
}

fn name(axis: &Axis) -> String {
    let scale = if axis.log { " (logarithmic)" } else { "" };
    format!("{}{scale}", text::label(&axis.label, LABEL))
}

/// Draws the mark of an axis that does not begin at zero.
pub(super) fn broken(x: f64, y: f64) -> Markup {
    let at = |offset: f64| format!("{} {}", coordinate(x + offset), coordinate(y));
    html! { path class="axis break" d={ "M" (at(-5.0)) "m0 4l6-8M" (at(-1.0)) "m0 4l6-8" } {} }
}

/// Draws an interval with a cap or, where it continues beyond the axis, an arrow at each end.
///
/// `place` returns the position of a value, moved by a distance along the axis and by one across it.
pub(super) fn whisker(
    class: &str,
    part: IntervalPart,
    place: impl Fn(f64, f64, f64) -> (f64, f64),
) -> Markup {
    let mut path = String::new();
    let mut line = |points: &[(f64, f64, f64)]| {
        for (index, (value, along, across)) in points.iter().enumerate() {
            let (x, y) = place(*value, *along, *across);
            path.push(if index == 0 { 'M' } else { 'L' });
            path.push_str(&coordinate(x));
            path.push(' ');
            path.push_str(&coordinate(y));
        }
    };
    line(&[(part.low, 0.0, 0.0), (part.high, 0.0, 0.0)]);
    for (value, is_cut, back) in [(part.low, part.cut.0, 5.0), (part.high, part.cut.1, -5.0)] {
        if is_cut {
            line(&[(value, back, -4.0), (value, 0.0, 0.0), (value, back, 4.0)]);
        } else {
            line(&[(value, 0.0, -4.0), (value, 0.0, 4.0)]);
        }
    }
    html! { path class={ "whisker" (class) } d=(path) {} }
}

/// The values of one kind that a plot cannot show.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LeftOut {
    missing: usize,
    beyond: usize,
}

impl LeftOut {
    /// Counts a value that its axis does not take.
    pub(super) fn count(&mut self, is_beyond: bool) {
        if is_beyond {
            self.beyond += 1;
        } else {
            self.missing += 1;
        }
    }

    pub(super) fn total(self) -> usize {
        self.missing + self.beyond
    }

    /// Returns the notes under the plot.
    pub(super) fn notes(self, thing: &str, axis: &Axis, log: bool) -> Vec<String> {
        let missing = match &axis.missing {
            Some(reason) => text::label(reason, LABEL),
            None if log => "not finite, or not positive on a logarithmic axis".to_owned(),
            None => "not finite".to_owned(),
        };
        let (low, high) = axis.range.unwrap_or_default();
        let beyond = format!("beyond {} to {}", axis.written(low), axis.written(high));
        [(self.missing, missing), (self.beyond, beyond)]
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, why)| format!("{} left out: {why}.", counted(count, thing)))
            .collect()
    }
}

/// Returns the CSS class of a series: one of six colours, which repeat.
pub(super) fn hue(index: usize) -> String {
    format!("hue-{}", index % 6)
}
