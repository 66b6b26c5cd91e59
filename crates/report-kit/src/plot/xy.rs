//! Lines, points and bands over two axes.

use maud::{Markup, html};

use super::figure::{Drawing, Figure, Frame, HEIGHT, LABEL, LeftOut, hue, whisker};
use super::placement::{self, Label, NAMED};
use super::scale::{IntervalPart, Scale};
use super::{Axis, Point, Series, Shape};
use crate::document::cell::Cell;
use crate::document::number::{coordinate, counted, plain};
use crate::document::text;

/// The maximum number of points of one series that are drawn; more would fill the drawing and take megabytes.
const DRAWN: usize = 4_000;
/// The maximum number of points of one series that have a tooltip, without and with a line through them.
const TOLD: usize = 500;
const TOLD_ON_LINE: usize = 12;
/// The maximum number of points of a line that are shown.
const DOTTED: usize = 24;
/// Line styles, so that colour is not the only distinction.
const DASHES: [&str; 6] = ["none", "7 4", "2 3", "10 3 2 3", "4 2", "12 4"];

pub(super) fn draw(x: &Axis, y: &Axis, series: &[Series]) -> Figure {
    let drawn: Vec<Drawn<'_>> = (series.iter().enumerate())
        .map(|(index, series)| Drawn {
            index,
            series,
            x,
            y,
        })
        .collect();
    let (mut lost, mut unsure) = (LeftOut::default(), LeftOut::default());
    for drawn in &drawn {
        drawn.count_lost(&mut lost, &mut unsure);
    }
    let mut notes = lost.notes("point", y, x.log || y.log);
    notes.extend(unsure.notes("interval", y, y.log));
    for thinned in drawn.iter().filter(|drawn| drawn.stride() > 1) {
        notes.push(format!(
            "{}: one point in {} is drawn.",
            text::label(&thinned.series.name, LABEL),
            thinned.stride()
        ));
    }
    let across = Scale::over(x, drawn.iter().flat_map(|drawn| drawn.extent().0));
    let up = Scale::over(y, drawn.iter().flat_map(|drawn| drawn.extent().1));
    let drawing = across.zip(up).map(|(across, up)| {
        let frame = Frame::new(across, up);
        let clouds: Vec<_> = drawn.iter().map(|drawn| drawn.cloud(&frame)).collect();
        let shifts = placement::shifts(&clouds);
        let named = labels(&drawn, &shifts, &frame);
        if shifts.iter().flatten().any(|shift| *shift > 0.0) {
            notes.push("Points at the same place are drawn side by side.".to_owned());
        }
        Drawing {
            height: HEIGHT,
            description: description(x, y, series, lost.total()),
            content: html! {
                @for drawn in drawn.iter().filter(|drawn| drawn.is_band()) { (drawn.band(&frame)) }
                (frame.axes(x, y))
                @for (drawn, shifts) in drawn.iter().zip(&shifts) { (drawn.marks(&frame, shifts)) }
                @for label in &named {
                    text class="label" text-anchor=[label.ends.then_some("end")]
                        x=(coordinate(label.x)) y=(coordinate(label.y)) { (label.name) }
                }
            },
        }
    });
    Figure {
        drawing,
        legend: (drawn.iter())
            .map(|drawn| (drawn.swatch(), drawn.series.name.clone()))
            .collect(),
        notes,
        columns: ["series", &x.label, &y.label, "from", "to", "name"]
            .map(str::to_owned)
            .into(),
        rows: series.iter().flat_map(rows).collect(),
    }
}

/// Places the names of points, if all points have names and there are at most [`NAMED`] of them.
fn labels(drawn: &[Drawn<'_>], shifts: &[Vec<f64>], frame: &Frame) -> Vec<Label> {
    let marks = drawn.iter().zip(shifts).flat_map(|(drawn, shifts)| {
        let points = drawn.points().iter().zip(shifts);
        points
            .filter(|(point, _)| drawn.takes(point))
            .map(|(point, shift)| {
                let name = point.name.as_deref()?;
                Some((frame.across(point.x) + shift, frame.up(point.y), name))
            })
    });
    let marks: Option<Vec<_>> = marks.take(NAMED + 1).collect();
    let few = marks.filter(|marks| marks.len() <= NAMED);
    few.map(|marks| placement::labels(&marks))
        .unwrap_or_default()
}

fn description(x: &Axis, y: &Axis, series: &[Series], lost: usize) -> String {
    let all: usize = series
        .iter()
        .map(|series| match &series.shape {
            Shape::Line(points) | Shape::Steps(points) | Shape::Points(points) => points.len(),
            Shape::Band(points) => points.len(),
        })
        .sum();
    let names: Vec<String> = (series.iter().take(6))
        .map(|series| text::label(&series.name, LABEL))
        .collect();
    format!(
        "{} over {}: {}; {}.",
        text::label(&y.label, LABEL),
        text::label(&x.label, LABEL),
        names.join(", "),
        counted(all - lost.min(all), "point")
    )
}

pub(super) fn rows(series: &Series) -> Vec<Vec<Cell>> {
    let name = || Cell::text(&series.name);
    let number = |value: f64| Cell::text(plain(value));
    match &series.shape {
        Shape::Line(points) | Shape::Steps(points) | Shape::Points(points) => (points.iter())
            .map(|point| {
                let (low, high) = point.interval.unzip();
                vec![
                    name(),
                    number(point.x),
                    number(point.y),
                    low.map(plain).into(),
                    high.map(plain).into(),
                    point.name.clone().into(),
                ]
            })
            .collect(),
        Shape::Band(points) => (points.iter())
            .map(|&(x, low, high)| {
                vec![
                    name(),
                    number(x),
                    Cell::Missing,
                    number(low),
                    number(high),
                    Cell::Missing,
                ]
            })
            .collect(),
    }
}

/// A series with its style.
struct Drawn<'a> {
    index: usize,
    series: &'a Series,
    x: &'a Axis,
    y: &'a Axis,
}

impl Drawn<'_> {
    fn is_band(&self) -> bool {
        matches!(self.series.shape, Shape::Band(_))
    }

    fn points(&self) -> &[Point] {
        self.series.as_points()
    }

    /// Returns the points of a band that can be drawn.
    fn edges(&self) -> Vec<(f64, f64, f64)> {
        match &self.series.shape {
            Shape::Band(points) => (points.iter().copied())
                .filter(|&(x, low, high)| {
                    self.x.takes(x) && self.y.takes(low) && self.y.takes(high)
                })
                .collect(),
            _ => Vec::new(),
        }
    }

    fn takes(&self, point: &Point) -> bool {
        self.x.takes(point.x) && self.y.takes(point.y)
    }

    fn interval(&self, point: &Point) -> Option<IntervalPart> {
        point
            .interval
            .and_then(|interval| self.y.interval(interval))
    }

    /// Counts the points and the intervals that cannot be drawn.
    fn count_lost(&self, lost: &mut LeftOut, unsure: &mut LeftOut) {
        for point in self.points() {
            if !self.takes(point) {
                lost.count(self.x.is_beyond(point.x) || self.y.is_beyond(point.y));
            } else if point.interval.is_some() && self.interval(point).is_none() {
                unsure.count(false);
            }
        }
        if let Shape::Band(points) = &self.series.shape {
            (self.edges().len()..points.len()).for_each(|_| lost.count(false));
        }
    }

    fn stride(&self) -> usize {
        let points = match &self.series.shape {
            Shape::Band(points) => points.len(),
            _ => self.points().len(),
        };
        points.div_ceil(DRAWN).max(1)
    }

    /// Returns all values that the axes cover.
    fn extent(&self) -> (Vec<f64>, Vec<f64>) {
        let (mut across, mut up) = (Vec::new(), Vec::new());
        for point in self.points().iter().filter(|point| self.takes(point)) {
            across.push(point.x);
            up.push(point.y);
            if let Some(part) = self.interval(point) {
                up.extend([part.low, part.high]);
            }
        }
        for (x, low, high) in self.edges() {
            across.push(x);
            up.extend([low, high]);
        }
        (across, up)
    }

    fn band(&self, frame: &Frame) -> Markup {
        let edges: Vec<_> = self.edges().into_iter().step_by(self.stride()).collect();
        let low = edges.iter().map(|&(x, low, _)| (x, low));
        let high = edges.iter().rev().map(|&(x, _, high)| (x, high));
        let mut path = String::new();
        for (index, (x, y)) in low.chain(high).enumerate() {
            path.push(if index == 0 { 'M' } else { 'L' });
            path.push_str(&place(frame, x, y));
        }
        html! { path class={ "band " (hue(self.index)) } d={ (path) "Z" } {} }
    }

    /// Returns the position of each point that other points must not hide. It is `None` for a point outside the axes, for the
    /// points of a line, and if there are too many points to separate.
    fn cloud(&self, frame: &Frame) -> Vec<Option<(f64, f64)>> {
        let points = self.points();
        let apart = matches!(self.series.shape, Shape::Points(_)) && points.len() <= TOLD;
        let place = |point: &Point| {
            let place = (frame.across(point.x), frame.up(point.y));
            (apart && self.takes(point)).then_some(place)
        };
        points.iter().map(place).collect()
    }

    fn marks(&self, frame: &Frame, shifts: &[f64]) -> Markup {
        let joined = matches!(self.series.shape, Shape::Line(_) | Shape::Steps(_));
        let shifted = self.points().iter().zip(shifts);
        let (points, shifts): (Vec<&Point>, Vec<f64>) = shifted.step_by(self.stride()).unzip();
        let told = points.len() <= if joined { TOLD_ON_LINE } else { TOLD };
        let placed: Vec<(&Point, f64)> = (points.iter().copied().zip(shifts))
            .filter(|(point, _)| self.takes(point))
            .map(|(point, shift)| (point, frame.across(point.x) + shift))
            .collect();
        let mark = |(point, across): &(&Point, f64)| shape(self.index, *across, frame.up(point.y));
        html! {
            @if !points.is_empty() {
                g class=(hue(self.index)) {
                    @if joined {
                        path class="line" stroke-dasharray=(DASHES[self.index % 6])
                            d=(self.path(frame, &points)) {}
                    }
                    @for (point, across) in &placed {
                        @if let Some(part) = self.interval(point) {
                            (whisker("", part, |value, along, side| (across + side, frame.up(value) - along)))
                        }
                    }
                    @if told {
                        @for point in &placed {
                            path class="mark" d=(mark(point)) { title { (self.tell(point.0)) } }
                        }
                    } @else if !joined || points.len() <= DOTTED {
                        path class="mark" d=(placed.iter().map(mark).collect::<String>()) {}
                    }
                }
            }
        }
    }

    fn path(&self, frame: &Frame, points: &[&Point]) -> String {
        let mut path = String::new();
        let mut joined = false;
        let stepped = matches!(self.series.shape, Shape::Steps(_));
        for point in points {
            if self.takes(point) {
                if joined && stepped {
                    path.push('H');
                    path.push_str(&coordinate(frame.across(point.x)));
                }
                path.push(if joined { 'L' } else { 'M' });
                path.push_str(&place(frame, point.x, point.y));
                joined = true;
            } else {
                joined = false;
            }
        }
        path
    }

    fn tell(&self, point: &Point) -> String {
        let name = point.name.as_ref().unwrap_or(&self.series.name);
        format!(
            "{}: {}, {}",
            text::label(name, LABEL),
            self.x.written(point.x),
            self.y.written(point.y)
        )
    }

    fn swatch(&self) -> Markup {
        let class = hue(self.index);
        html! {
            svg class={ "swatch " (class) } viewBox="0 0 32 14" aria-hidden="true" {
                @match &self.series.shape {
                    Shape::Line(_) | Shape::Steps(_) => {
                        path class="line" stroke-dasharray=(DASHES[self.index % 6]) d="M0 7L32 7" {}
                        path class="mark" d=(shape(self.index, 16.0, 7.0)) {}
                    }
                    Shape::Points(_) => path class="mark" d=(shape(self.index, 16.0, 7.0)) {},
                    Shape::Band(_) => path class={ "band " (class) } d="M0 1L32 1L32 13L0 13Z" {},
                }
            }
        }
    }
}

fn place(frame: &Frame, x: f64, y: f64) -> String {
    format!(
        "{} {}",
        coordinate(frame.across(x)),
        coordinate(frame.up(y))
    )
}

/// Returns the path of a mark about eight units wide. Six shapes repeat over the series.
fn shape(index: usize, x: f64, y: f64) -> String {
    let at = format!("M{} {}", coordinate(x), coordinate(y));
    let relative = match index % 6 {
        0 => "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
        1 => "m-3.5-3.5h7v7h-7z",
        2 => "m0-4.5l4.5 8h-9z",
        3 => "m0-5l5 5l-5 5l-5-5z",
        4 => "m-1.5-4.5h3v3h3v3h-3v3h-3v-3h-3v-3h3z",
        _ => "m0 4.5l4.5-8h-9z",
    };
    format!("{at}{relative}")
}
