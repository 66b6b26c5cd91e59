//! Shares on top of each other over an axis.

use maud::{Markup, html};

use super::figure::{Drawing, Figure, Frame, HEIGHT, LABEL, LeftOut, WIDTH, hue};
use super::scale::Scale;
use super::xy::rows;
use super::{Axis, Series};
use crate::document::number::{counted, rough};
use crate::document::text;

/// The maximum number of points of an area that are drawn.
const DRAWN: usize = 150;
/// The space for names to the right of the areas, in units of the drawing.
const NAMES: f64 = 130.0;
/// The maximum length in characters of a name there, and the distance of two names.
const NAME: usize = 13;
const LINE: f64 = 15.0;
/// The number of colours, after which the areas are paler.
const HUES: usize = 6;

/// A series as an area: its lower and upper edge at each of the drawn values of the horizontal axis.
struct Area<'a> {
    name: &'a str,
    edges: Vec<(f64, f64)>,
}

pub(super) fn draw(x: &Axis, y: &Axis, series: &[Series]) -> Figure {
    let points = series.first().map_or(&[][..], Series::as_points);
    let taken = |index: &usize| {
        let mut values = series.iter().filter_map(|it| it.as_points().get(*index));
        values.any(|point| x.takes(point.x) && y.takes(point.y))
    };
    let all: Vec<usize> = (0..points.len()).filter(taken).collect();
    let mut lost = LeftOut::default();
    (all.len()..points.len()).for_each(|_| lost.count(false));
    let mut notes = lost.notes("point", y, x.log || y.log);
    let stride = all.len().div_ceil(DRAWN).max(1);
    if stride > 1 {
        notes.push(format!("One point in {stride} is drawn, and the last one."));
    }
    let last = all.last().copied();
    let kept = all.iter().copied().step_by(stride);
    let mut kept: Vec<usize> = kept.filter(|index| Some(*index) != last).collect();
    kept.extend(last);
    let areas = areas(&kept, y, series);
    let across: Vec<f64> = kept.iter().map(|index| points[*index].x).collect();
    let edges = areas.iter().flat_map(|area| &area.edges);
    let up = Scale::over(y, edges.flat_map(|(low, high)| [*low, *high]));
    let scales = Scale::over(x, across.iter().copied()).zip(up);
    Figure {
        drawing: scales.map(|(horizontal, up)| {
            let frame = Frame::new(horizontal, up).with_space(NAMES);
            Drawing {
                height: HEIGHT,
                description: description(x, y, series, across.len()),
                content: html! {
                    @for (index, area) in areas.iter().enumerate() {
                        (area.drawn(index, &frame, &across))
                    }
                    (frame.axes(x, y))
                    (names(&areas, &frame))
                },
            }
        }),
        // Each name is at the end of its area.
        legend: Vec::new(),
        notes,
        columns: ["series", &x.label, &y.label, "from", "to", "name"]
            .map(str::to_owned)
            .into(),
        rows: series.iter().flat_map(rows).collect(),
    }
}

/// Returns the areas, the first at the bottom. A value that is missing or not positive adds nothing.
fn areas<'a>(kept: &[usize], y: &Axis, series: &'a [Series]) -> Vec<Area<'a>> {
    let mut below = vec![0.0; kept.len()];
    let areas = series.iter().map(|series| {
        let heights = kept.iter().map(|index| {
            let point = series.as_points().get(*index);
            let value = point.map(|point| point.y);
            value
                .filter(|value| y.takes(*value))
                .unwrap_or(0.0)
                .max(0.0)
        });
        let edges = below.iter_mut().zip(heights).map(|(low, height)| {
            let begin = *low;
            *low += height;
            (begin, *low)
        });
        Area {
            name: &series.name,
            edges: edges.collect(),
        }
    });
    areas.collect()
}

impl Area<'_> {
    fn drawn(&self, index: usize, frame: &Frame, across: &[f64]) -> Markup {
        let place = |x: f64, y: f64| format!("{} {}", rough(frame.across(x)), rough(frame.up(y)));
        let low = across.iter().zip(&self.edges).map(|(x, (low, _))| (x, low));
        let high = across.iter().zip(&self.edges).rev();
        let high = high.map(|(x, (_, high))| (x, high));
        let mut path = String::new();
        for (index, (x, y)) in low.chain(high).enumerate() {
            path.push(if index == 0 { 'M' } else { 'L' });
            path.push_str(&place(*x, *y));
        }
        html! {
            path class=(class(index)) d={ (path) "Z" } {
                title { (text::label(self.name, LABEL)) }
            }
        }
    }
}

/// Writes the colour and name of each area next to its end, none over another. One that has ended is named at its place, too.
fn names(areas: &[Area<'_>], frame: &Frame) -> Markup {
    // From the top down.
    let ends = areas.iter().enumerate().rev().filter_map(|(index, area)| {
        let (low, high) = *area.edges.last()?;
        Some((frame.up(f64::midpoint(low, high)) + 4.5, index, area.name))
    });
    let mut ends: Vec<(f64, usize, &str)> = ends.collect();
    for index in 1..ends.len() {
        ends[index].0 = ends[index].0.max(ends[index - 1].0 + LINE);
    }
    let mut below = HEIGHT;
    for (y, ..) in ends.iter_mut().rev() {
        *y = y.min(below - LINE);
        below = *y;
    }
    let left = WIDTH - NAMES + 8.0;
    html! {
        @for (y, index, name) in ends {
            rect class=(class(index)) x=(rough(left)) y=(rough(y - 9.0)) width="9" height="9" {}
            text class="label" x=(rough(left + 13.0)) y=(rough(y)) { (text::label(name, NAME)) }
        }
    }
}

/// Returns the CSS classes of an area.
fn class(index: usize) -> String {
    let paler = (index / HUES % 2 == 1).then_some(" paler");
    format!("area {}{}", hue(index), paler.unwrap_or_default())
}

fn description(x: &Axis, y: &Axis, series: &[Series], points: usize) -> String {
    format!(
        "{} over {}, {} on top of each other; {} each.",
        text::label(&y.label, LABEL),
        text::label(&x.label, LABEL),
        counted(series.len(), "area"),
        counted(points, "point")
    )
}
