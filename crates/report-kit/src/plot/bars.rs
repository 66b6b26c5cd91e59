//! Named values as horizontal bars from zero, one below the other.

use maud::{Markup, html};

use super::figure::{Drawing, Figure, LABEL, LeftOut, WIDTH, hue, minor, whisker};
use super::scale::{IntervalPart, Scale};
use super::{Axis, Bar};
use crate::document::cell::Cell;
use crate::document::number::{coordinate, counted, plain};
use crate::document::text;

/// The maximum number of bars that are drawn.
const DRAWN: usize = 100;
/// The maximum length in characters of a name next to its bar.
const NAME: usize = 26;
/// The height of a bar with the space around it.
const ROW: f64 = 26.0;
/// The room for the longest name, and for each letter of a shorter one.
const LEFT: f64 = 230.0;
const NAME_LETTER: f64 = 12.6;
const RIGHT: f64 = WIDTH - 70.0;
const TOP: f64 = 30.0;

pub(super) fn draw(axis: &Axis, bars: &[Bar]) -> Figure {
    let axis = Axis {
        log: false,
        ..axis.clone()
    }
    .including(0.0);
    let taken: Vec<&Bar> = bars.iter().filter(|bar| axis.takes(bar.value)).collect();
    let interval = |bar: &Bar| bar.interval.and_then(|interval| axis.interval(interval));
    let (mut lost, mut unsure) = (LeftOut::default(), LeftOut::default());
    for bar in bars {
        if !axis.takes(bar.value) {
            lost.count(axis.is_beyond(bar.value));
        } else if bar.interval.is_some() && interval(bar).is_none() {
            unsure.count(false);
        }
    }
    let mut notes = lost.notes("bar", &axis, false);
    notes.extend(unsure.notes("interval", &axis, false));
    if taken.len() > DRAWN {
        notes.push(format!(
            "The first {DRAWN} of {} bars are drawn.",
            taken.len()
        ));
    }
    let shown = &taken[..taken.len().min(DRAWN)];
    let ends = shown.iter().flat_map(|bar| {
        let ends = interval(bar).map_or([bar.value; 2], |part| [part.low, part.high]);
        [bar.value, ends[0], ends[1]]
    });
    let longest = shown.iter().map(|bar| bar.name.len()).max();
    let left = (14.0 + NAME_LETTER * longest.unwrap_or(0) as f64).clamp(70.0, LEFT);
    let drawing = Scale::over(&axis, ends).map(|scale| {
        let at = |value: f64| left + scale.place(value) * (RIGHT - left);
        let bottom = TOP + ROW * shown.len() as f64;
        Drawing {
            height: bottom + 28.0,
            description: format!(
                "{}: {}.",
                text::label(&axis.label, LABEL),
                counted(taken.len(), "bar")
            ),
            content: html! {
                text class="axis-name" x=(coordinate(left)) y="16" { (text::label(&axis.label, LABEL)) }
                @for (index, (value, label)) in scale.ticks.iter().enumerate() {
                    @let x = coordinate(at(*value));
                    line class="rule" x1=(x) x2=(x) y1=(coordinate(TOP)) y2=(coordinate(bottom)) {}
                    text class=[minor(index)] text-anchor="middle" x=(x) y=(coordinate(bottom + 18.0)) { (label) }
                }
                g class=(hue(0)) {
                    @for (index, bar) in shown.iter().enumerate() {
                        (draw_bar(bar, interval(bar), left, TOP + ROW * index as f64, &at))
                    }
                }
                line class="axis" x1=(coordinate(at(0.0))) x2=(coordinate(at(0.0)))
                    y1=(coordinate(TOP)) y2=(coordinate(bottom)) {}
            },
        }
    });
    Figure {
        drawing,
        legend: Vec::new(),
        notes,
        columns: ["name", &axis.label, "from", "to"]
            .map(str::to_owned)
            .into(),
        rows: bars.iter().map(row).collect(),
    }
}

fn row(bar: &Bar) -> Vec<Cell> {
    let (low, high) = bar.interval.unzip();
    vec![
        Cell::text(&bar.name),
        plain(bar.value).into(),
        low.map(plain).into(),
        high.map(plain).into(),
    ]
}

fn draw_bar(
    bar: &Bar,
    interval: Option<IntervalPart>,
    left: f64,
    top: f64,
    at: &impl Fn(f64) -> f64,
) -> Markup {
    let (zero, end) = (at(0.0), at(bar.value));
    let middle = top + ROW / 2.0;
    // The number stands beyond all that is drawn of it.
    let edge = interval.map_or(zero.max(end), |part| zero.max(end).max(at(part.high)));
    html! {
        text text-anchor="end" x=(coordinate(left - 10.0)) y=(coordinate(middle + 4.5)) {
            (text::label(&bar.name, NAME))
            title { (text::label(&bar.name, text::TITLE)) }
        }
        rect class="bar" x=(coordinate(zero.min(end))) y=(coordinate(top + 4.0))
            width=(coordinate((end - zero).abs())) height=(coordinate(ROW - 8.0)) {}
        @if let Some(part) = interval {
            (whisker(" over", part, |value, along, across| (at(value) + along, middle + across)))
        }
        text x=(coordinate(edge + 6.0)) y=(coordinate(middle + 4.5)) { (short(bar.value)) }
    }
}

/// A value with four significant digits, which are as many as a drawing shows.
fn short(value: f64) -> String {
    let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
    plain(rounded)
}
