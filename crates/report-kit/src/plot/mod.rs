//! Plots: numbers drawn as SVG, with the same numbers in a table behind them.

mod bars;
mod figure;
mod placement;
mod scale;
pub(crate) mod spacetime;
mod xy;

use maud::Markup;

use crate::document::anchor::Anchors;
use crate::error::Error;

/// A drawing of numbers, with a table of the same numbers to unfold.
///
/// What is not finite, and on a logarithmic axis what is not positive, is left out and counted in a note. A plot of
/// nothing is a sentence.
#[derive(Debug, Clone, PartialEq)]
pub struct Plot {
    title: String,
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Xy {
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
    /// Series over two axes. Without [`Plot::with`] it has none.
    pub fn xy(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self {
            title: title.into(),
            kind: Kind::Xy {
                x,
                y,
                series: Vec::new(),
            },
        }
    }

    /// One line.
    pub fn line<P: Into<Point>>(
        title: impl Into<String>,
        x: Axis,
        y: Axis,
        points: impl IntoIterator<Item = P>,
    ) -> Self {
        let name = y.label.clone();
        Self::xy(title, x, y).with(Series::line(name, points))
    }

    /// One cloud of points.
    pub fn points<P: Into<Point>>(
        title: impl Into<String>,
        x: Axis,
        y: Axis,
        points: impl IntoIterator<Item = P>,
    ) -> Self {
        let name = y.label.clone();
        Self::xy(title, x, y).with(Series::points(name, points))
    }

    /// A bar from zero for each named value.
    pub fn bars(title: impl Into<String>, axis: Axis, bars: impl IntoIterator<Item = Bar>) -> Self {
        Self {
            title: title.into(),
            kind: Kind::Bars {
                axis,
                bars: bars.into_iter().collect(),
            },
        }
    }

    /// Adds a series to a plot over two axes; bars have no place for one.
    #[must_use]
    pub fn with(mut self, added: Series) -> Self {
        if let Kind::Xy { series, .. } = &mut self.kind {
            series.push(added);
        }
        self
    }

    pub(crate) fn render(&self, anchors: &Anchors) -> Result<Markup, Error> {
        let figure = match &self.kind {
            Kind::Xy { x, y, series } => xy::draw(x, y, series),
            Kind::Bars { axis, bars } => bars::draw(axis, bars),
        };
        figure.render(&self.title, anchors)
    }
}

/// What is measured in one direction.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    label: String,
    log: bool,
    included: Vec<f64>,
    missing: Option<String>,
}

impl Axis {
    /// A linear axis as long as the data needs it.
    pub fn new(label: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            log: false,
            included: Vec::new(),
            missing: None,
        }
    }

    /// Makes it logarithmic. Bars always start from zero and stay linear.
    #[must_use]
    pub fn log(mut self) -> Self {
        self.log = true;
        self
    }

    /// Makes it reach this value even if no data does: `.including(0.0)`.
    #[must_use]
    pub fn including(mut self, value: f64) -> Self {
        self.included.push(value);
        self
    }

    /// Names the reason for which a value may be missing, for the note that counts the points left out.
    #[must_use]
    pub fn missing(mut self, reason: impl Into<String>) -> Self {
        self.missing = Some(reason.into());
        self
    }

    /// Whether a value has a place on it.
    fn takes(&self, value: f64) -> bool {
        value.is_finite() && (!self.log || value > 0.0)
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
    /// A point.
    pub fn new(x: f64, y: f64) -> Self {
        Self {
            x,
            y,
            interval: None,
            name: None,
        }
    }

    /// Draws how far `y` may be off.
    #[must_use]
    pub fn interval(mut self, low: f64, high: f64) -> Self {
        self.interval = Some((low, high));
        self
    }

    /// Names it where the pointer rests on it and in the table.
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

/// Numbers that belong together in a plot.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    name: String,
    shape: Shape,
}

#[derive(Debug, Clone, PartialEq)]
enum Shape {
    Line(Vec<Point>),
    Points(Vec<Point>),
    Band(Vec<(f64, f64, f64)>),
}

impl Series {
    /// Points joined in the order given. A point that is left out breaks the line.
    pub fn line<P: Into<Point>>(
        name: impl Into<String>,
        points: impl IntoIterator<Item = P>,
    ) -> Self {
        Self {
            name: name.into(),
            shape: Shape::Line(points.into_iter().map(Into::into).collect()),
        }
    }

    /// Points by themselves.
    pub fn points<P: Into<Point>>(
        name: impl Into<String>,
        points: impl IntoIterator<Item = P>,
    ) -> Self {
        Self {
            name: name.into(),
            shape: Shape::Points(points.into_iter().map(Into::into).collect()),
        }
    }

    /// The area between two lines, as `(x, low, high)`: what chance alone would give.
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
    /// A bar.
    pub fn new(name: impl Into<String>, value: f64) -> Self {
        Self {
            name: name.into(),
            value,
            interval: None,
        }
    }

    /// Draws how far the value may be off.
    #[must_use]
    pub fn interval(mut self, low: f64, high: f64) -> Self {
        self.interval = Some((low, high));
        self
    }
}
