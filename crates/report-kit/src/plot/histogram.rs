//! How often values fall where.

use maud::html;

use super::Axis;
use super::figure::{Drawing, Figure, Frame, HEIGHT, hue, left_out};
use super::scale::Scale;
use crate::number::{coordinate, counted, plain};

/// Bins at most: narrower ones could not be seen.
const BINS: usize = 200;

pub(super) fn draw(x: &Axis, values: &[f64], bins: usize) -> Figure {
    let taken: Vec<f64> = values
        .iter()
        .copied()
        .filter(|value| x.takes(*value))
        .collect();
    let bins = bins_of(x, &taken, bins.clamp(1, BINS));
    let count = Axis::new("count").including(0.0);
    let across = Scale::over(x, bins.iter().flat_map(|bin| [bin.low, bin.high]));
    let up = Scale::over(&count, bins.iter().map(|bin| bin.count as f64));
    let drawing = across.zip(up).map(|(across, up)| {
        let frame = Frame::new(across, up);
        Drawing {
            height: HEIGHT,
            description: format!(
                "{} in {}, the fullest with {}.",
                counted(taken.len(), "value"),
                counted(bins.len(), "bin"),
                bins.iter().map(|bin| bin.count).max().unwrap_or(0)
            ),
            content: html! {
                (frame.axes(x, &count))
                g class=(hue(0)) {
                    @for bin in bins.iter().filter(|bin| bin.count > 0) {
                        @let (left, right) = (frame.across(bin.low), frame.across(bin.high));
                        @let top = frame.up(bin.count as f64);
                        rect class="bar" x=(coordinate(left)) y=(coordinate(top))
                            width=(coordinate((right - left).max(0.5)))
                            height=(coordinate(frame.up(0.0) - top)) {
                            title { (plain(bin.low)) " to " (plain(bin.high)) ": " (bin.count) }
                        }
                    }
                }
            },
        }
    });
    Figure {
        drawing,
        legend: Vec::new(),
        notes: left_out(values.len() - taken.len(), "value", x.log)
            .into_iter()
            .collect(),
        columns: ["from", "to", "count"].map(str::to_owned).into(),
        rows: (bins.iter())
            .map(|bin| {
                vec![
                    plain(bin.low).into(),
                    plain(bin.high).into(),
                    bin.count.into(),
                ]
            })
            .collect(),
    }
}

struct Bin {
    low: f64,
    high: f64,
    count: usize,
}

/// The stretch from the smallest to the largest value in parts; the last one has its upper end in it.
fn bins_of(x: &Axis, values: &[f64], bins: usize) -> Vec<Bin> {
    let Some(&first) = values.first() else {
        return Vec::new();
    };
    let (low, high) = (values.iter()).fold((first, first), |(low, high), value| {
        (low.min(*value), high.max(*value))
    });
    // Ordered already: this is equality.
    if low >= high {
        return vec![Bin {
            low,
            high,
            count: values.len(),
        }];
    }
    let edge = |index: usize| {
        let part = index as f64 / bins as f64;
        if index == 0 {
            low
        } else if index == bins {
            high
        } else if x.log {
            (low.ln() * (1.0 - part) + high.ln() * part).exp()
        } else {
            low * (1.0 - part) + high * part
        }
    };
    let mut counted: Vec<Bin> = (0..bins)
        .map(|index| Bin {
            low: edge(index),
            high: edge(index + 1),
            count: 0,
        })
        .collect();
    for value in values {
        // The edges decide, not a division: a value on an edge is in the bin that starts there.
        let after = counted.partition_point(|bin| bin.low <= *value);
        if let Some(bin) = counted.get_mut(after.saturating_sub(1)) {
            bin.count += 1;
        }
    }
    counted
}
