//! Plots: numbers drawn as SVG, with the same numbers in a table.

mod bars;
pub(crate) mod figure;
mod placement;
mod scale;
pub(crate) mod spacetime;
mod stack;
pub(crate) mod tree;
mod xy;

use maud::Markup;

use self::figure::{Drawing, Figure};
use self::scale::IntervalPart;
use crate::document::anchor::Anchors;
use crate::document::number::plain;
use crate::error::Error;

/// A drawing of numbers, with a table of the same numbers to unfold.
///
/// Values that are not finite, outside of the range of their axis, or not positive on a logarithmic axis, are left out and
/// counted in a note. A sentence replaces
/// a plot without values.
#[derive(Debug, Clone, PartialEq)]
pub struct Plot {
    title: String,
    kind: Kind,
    in_data: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Xy {
        x: Axis,
        y: Axis,
        series: Vec<Series>,
    },
    Stack {
        x: Axis,
        y: Axis,
        series: Vec<Series>,
    },
    Bars {
        axis: Axis,
        bars: Vec<Bar>,
    },
}

impl Plot {
    /// Creates a plot over two axes; [`Plot::with`] adds series.
    pub fn xy(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self {
            title: title.into(),
            kind: Kind::Xy {
                x,
                y,
                series: Vec::new(),
            },
            in_data: false,
        }
    }

    /// Creates a plot of areas on top of each other; [`Plot::with`] adds each as a [`Series::line`], the lowest first. All
    /// have points at the same values of `x`. A missing value has no height.
    pub fn stacked(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self {
            title: title.into(),
            kind: Kind::Stack {
                x,
                y,
                series: Vec::new(),
            },
            in_data: false,
        }
    }

    /// Creates a plot of a single line.
    pub fn line<P: Into<Point>>(
        title: impl Into<String>,
        x: Axis,
        y: Axis,
        points: impl IntoIterator<Item = P>,
    ) -> Self {
        let name = y.label.clone();
        Self::xy(title, x, y).with(Series::line(name, points))
    }

    /// Creates a plot of a single series of points.
    pub fn points<P: Into<Point>>(
        title: impl Into<String>,
        x: Axis,
        y: Axis,
        points: impl IntoIterator<Item = P>,
    ) -> Self {
        let name = y.label.clone();
        Self::xy(title, x, y).with(Series::points(name, points))
    }

    /// Creates a plot with a bar from zero for each named value.
    pub fn bars(title: impl Into<String>, axis: Axis, bars: impl IntoIterator<Item = Bar>) -> Self {
        Self {
            title: title.into(),
            kind: Kind::Bars {
                axis,
                bars: bars.into_iter().collect(),
            },
            in_data: false,
        }
    }

    /// Adds a series to a plot over two axes; a plot of bars ignores it.
    #[must_use]
    pub fn with(mut self, added: Series) -> Self {
        if let Kind::Xy { series, .. } | Kind::Stack { series, .. } = &mut self.kind {
            series.push(added);
        }
        self
    }

    /// Replaces the table of the numbers by a link to the data of the page, which must have them.
    #[must_use]
    pub fn in_data(mut self) -> Self {
        self.in_data = true;
        self
    }

    pub(crate) fn render(&self, anchors: &Anchors) -> Result<Markup, Error> {
        self.figure().render(&self.title, self.in_data, anchors)
    }

    pub(crate) fn title(&self) -> &str {
        &self.title
    }

    /// Returns the drawing alone; `None` if no value can be drawn.
    pub(crate) fn drawing(&self) -> Option<Drawing> {
        self.figure().drawing
    }

    fn figure(&self) -> Figure {
        match &self.kind {
            Kind::Xy { x, y, series } => xy::draw(x, y, series),
            Kind::Stack { x, y, series } => stack::draw(x, y, series),
            Kind::Bars { axis, bars } => bars::draw(axis, bars),
        }
    }
}

/// An axis of a plot: the quantity in one direction.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    label: String,
    log: bool,
    included: Vec<f64>,
    range: Option<(f64, f64)>,
    percent: bool,
    missing: Option<String>,
}

impl Axis {
    /// Creates a linear axis that covers the data.
    pub fn new(label: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            log: false,
            included: Vec::new(),
            range: None,
            percent: false,
            missing: None,
        }
    }

    /// Makes the axis logarithmic. Bars start from zero and stay linear.
    #[must_use]
    pub fn log(mut self) -> Self {
        self.log = true;
        self
    }

    /// Fixes the ends of the axis: a value beyond them is left out, and an interval that reaches beyond them ends in an arrow.
    #[must_use]
    pub fn range(mut self, low: f64, high: f64) -> Self {
        self.range = Some((low, high));
        self
    }

    /// Makes this an axis of shares, from 0 to 1, which are shown as 0 % to 100 %.
    #[must_use]
    pub fn percent(mut self) -> Self {
        self.percent = true;
        self.range(0.0, 1.0)
    }

    /// Extends the axis to this value: `.including(0.0)`.
    #[must_use]
    pub fn including(mut self, value: f64) -> Self {
        self.included.push(value);
        self
    }

    /// Names the reason why values may be missing, for the note that counts them.
    #[must_use]
    pub fn missing(mut self, reason: impl Into<String>) -> Self {
        self.missing = Some(reason.into());
        self
    }

    /// Whether a value can be drawn on the axis.
    fn takes(&self, value: f64) -> bool {
        value.is_finite() && (!self.log || value > 0.0) && !self.is_beyond(value)
    }

    /// Whether a value lies beyond the fixed ends of the axis.
    fn is_beyond(&self, value: f64) -> bool {
        (self.range).is_some_and(|(low, high)| value < low || value > high)
    }

    /// Returns the part of an interval that can be drawn; `None` if there is none.
    fn interval(&self, (low, high): (f64, f64)) -> Option<IntervalPart> {
        let (least, most) = self.range.unwrap_or((f64::MIN, f64::MAX));
        let part = IntervalPart {
            low: low.max(least),
            high: high.min(most),
            cut: (low < least, high > most),
        };
        let taken = low.is_finite() && high.is_finite();
        (taken && self.takes(part.low) && self.takes(part.high) && part.low <= part.high)
            .then_some(part)
    }

    /// Returns a value as text.
    fn written(&self, value: f64) -> String {
        if self.percent {
            format!("{} %", plain((value * 1e6).round() / 1e4))
        } else {
            plain(value)
        }
    }
}

/// A point of a series.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    x: f64,
    y: f64,
    interval: Option<(f64, f64)>,
    name: Option<String>,
}

impl Point {
    /// Creates a point without interval and name.
    pub fn new(x: f64, y: f64) -> Self {
        Self {
            x,
            y,
            interval: None,
            name: None,
        }
    }

    /// Draws the interval of `y`.
    #[must_use]
    pub fn interval(mut self, low: f64, high: f64) -> Self {
        self.interval = Some((low, high));
        self
    }

    /// Names the point, in its tooltip and in the table.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }
}

impl From<(f64, f64)> for Point {
    fn from((x, y): (f64, f64)) -> Self {
        Self::new(x, y)
    }
}

/// A series of numbers in a plot.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    name: String,
    shape: Shape,
}

#[derive(Debug, Clone, PartialEq)]
enum Shape {
    Line(Vec<Point>),
    Steps(Vec<Point>),
    Points(Vec<Point>),
    Band(Vec<(f64, f64, f64)>),
}

impl Series {
    /// Creates a line through points in the given order. A point that is left out breaks the line.
    pub fn line<P: Into<Point>>(
        name: impl Into<String>,
        points: impl IntoIterator<Item = P>,
    ) -> Self {
        Self {
            name: name.into(),
            shape: Shape::Line(points.into_iter().map(Into::into).collect()),
        }
    }

    /// Returns the points; a band has none.
    fn as_points(&self) -> &[Point] {
        match &self.shape {
            Shape::Line(points) | Shape::Steps(points) | Shape::Points(points) => points,
            Shape::Band(_) => &[],
        }
    }

    /// Creates a step line through points in the given order: a value holds until the next point.
    pub fn steps<P: Into<Point>>(
        name: impl Into<String>,
        points: impl IntoIterator<Item = P>,
    ) -> Self {
        Self {
            name: name.into(),
            shape: Shape::Steps(points.into_iter().map(Into::into).collect()),
        }
    }

    /// Creates a series of separate points.
    pub fn points<P: Into<Point>>(
        name: impl Into<String>,
        points: impl IntoIterator<Item = P>,
    ) -> Self {
        Self {
            name: name.into(),
            shape: Shape::Points(points.into_iter().map(Into::into).collect()),
        }
    }

    /// Creates the area between two lines, as `(x, low, high)`, such as the range expected by chance.
    pub fn band(
        name: impl Into<String>,
        points: impl IntoIterator<Item = (f64, f64, f64)>,
    ) -> Self {
        Self {
            name: name.into(),
            shape: Shape::Band(points.into_iter().collect()),
        }
    }
}

/// A named value, drawn as a bar.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    name: String,
    value: f64,
    interval: Option<(f64, f64)>,
}

impl Bar {
    /// Creates a bar without an interval.
    pub fn new(name: impl Into<String>, value: f64) -> Self {
        Self {
            name: name.into(),
            value,
            interval: None,
        }
    }

    /// Draws the interval of the value.
    #[must_use]
    pub fn interval(mut self, low: f64, high: f64) -> Self {
        self.interval = Some((low, high));
        self
    }
}
