//! The scale of an axis: positions of values, and the values that get a label.

use super::Axis;

/// The approximate number of steps of an axis.
const STEPS: f64 = 5.0;

/// The part of an interval inside its axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct IntervalPart {
    pub(super) low: f64,
    pub(super) high: f64,
    /// Whether the interval continues below and above.
    pub(super) cut: (bool, bool),
}

/// An axis with its ends.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scale {
    log: bool,
    low: f64,
    high: f64,
    /// Values with a line and a label.
    pub(super) ticks: Vec<(f64, String)>,
}

impl Scale {
    /// The scale for these values; `None` if no value can be drawn.
    pub(super) fn over(axis: &Axis, values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut ends: Option<(f64, f64)> = None;
        for value in values.into_iter().filter(|value| axis.takes(*value)) {
            ends = Some(ends.map_or((value, value), |(low, high)| {
                (low.min(value), high.max(value))
            }));
        }
        let (mut low, mut high) = ends?;
        // What the axis should reach is no data: alone it makes no plot.
        for value in axis
            .included
            .iter()
            .copied()
            .filter(|value| axis.takes(*value))
        {
            low = low.min(value);
            high = high.max(value);
        }
        if let Some(range) = axis.range {
            (low, high) = range;
        }
        let mut scale = if axis.log {
            Self::logarithmic(low, high)
        } else {
            Self::linear(low, high)
        };
        if axis.percent {
            for (value, label) in &mut scale.ticks {
                *label = format!("{:.0} %", *value * 100.0);
            }
        }
        Some(scale)
    }

    /// Whether the axis begins away from zero, which a reader of lengths would not expect.
    pub(super) fn is_broken(&self) -> bool {
        !self.log && (self.low > 0.0 || self.high < 0.0)
    }

    /// The position of a value: 0 at the low end, 1 at the high end.
    pub(super) fn place(&self, value: f64) -> f64 {
        let place = if self.log {
            (value.ln() - self.low.ln()) / (self.high.ln() - self.low.ln())
        } else if (self.high - self.low).is_finite() {
            (value - self.low) / (self.high - self.low)
        } else {
            // The ends are further apart than any number is large.
            (value / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0)
        };
        if place.is_finite() {
            place.clamp(0.0, 1.0)
        } else {
            0.5
        }
    }

    fn linear(low: f64, high: f64) -> Self {
        let (low, high) = apart(low, high);
        let largest = low.abs().max(high.abs());
        let step = nice((high - low) / STEPS);
        // Ticks need a step that a number of this size can still take.
        if !step.is_normal() || step < largest * 1e-13 {
            let ticks = vec![(low, scientific(low, 16)), (high, scientific(high, 16))];
            return Self {
                log: false,
                low,
                high,
                ticks,
            };
        }
        let (first, last) = ((low / step).floor(), (high / step).ceil());
        let count = (last - first) as usize;
        let ticks = (0..=count).map(|index| (first + index as f64) * step);
        let label = |value: f64| {
            let digits = -step.log10().floor();
            if largest >= 1e6 || step < 1e-4 {
                scientific(value, (largest.log10().floor() + digits).max(0.0) as usize)
            } else {
                crate::document::number::fixed(value, digits.max(0.0) as u8)
            }
        };
        Self {
            log: false,
            low: first * step,
            high: last * step,
            ticks: ticks.map(|value| (value, label(value))).collect(),
        }
    }

    fn logarithmic(low: f64, high: f64) -> Self {
        let first = low.log10().floor() as i32;
        let last = (high.log10().ceil() as i32).max(first + 1);
        let decades = last - first;
        let stride = (decades / 8 + 1) as usize;
        let within: &[u8] = if decades <= 2 { &[1, 2, 5] } else { &[1] };
        let mut ticks = Vec::new();
        for exponent in (first..=last).step_by(stride) {
            for &mantissa in within {
                let value = f64::from(mantissa) * power(exponent);
                if exponent < last || mantissa == 1 {
                    ticks.push((value, power_label(mantissa, exponent)));
                }
            }
        }
        Self {
            log: true,
            low: power(first),
            high: power(last),
            ticks,
        }
    }
}

/// Two ends that differ.
fn apart(low: f64, high: f64) -> (f64, f64) {
    if low < high {
        return (low, high);
    }
    let around = if low == 0.0 { 1.0 } else { low.abs() * 0.05 };
    let (below, above) = ((low - around).max(f64::MIN), (low + around).min(f64::MAX));
    // The smallest numbers have nothing around them.
    if below < above {
        (below, above)
    } else {
        (low - 1.0, low + 1.0)
    }
}

/// The smallest of 1, 2, 5 times a power of ten that is at least `value`.
fn nice(step: f64) -> f64 {
    let unit = 10_f64.powf(step.log10().floor());
    let mantissa = step / unit;
    let rounded = [1.0, 2.0, 5.0]
        .into_iter()
        .find(|candidate| mantissa <= candidate * 1.000_001);
    rounded.unwrap_or(10.0) * unit
}

/// A power of ten, limited so that it is neither zero nor infinite.
fn power(exponent: i32) -> f64 {
    10_f64.powi(exponent).clamp(f64::MIN_POSITIVE, f64::MAX)
}

fn power_label(mantissa: u8, exponent: i32) -> String {
    match exponent {
        0..=5 => format!("{mantissa}{}", "0".repeat(exponent as usize)),
        -4..=-1 => format!("0.{}{mantissa}", "0".repeat((-exponent - 1) as usize)),
        _ => format!("{mantissa}e{exponent}"),
    }
}

/// Scientific notation without trailing zeros.
fn scientific(value: f64, digits: usize) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let text = format!("{value:.*e}", digits.min(16));
    match text.split_once('e') {
        Some((mantissa, exponent)) if mantissa.contains('.') => {
            let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
            format!("{mantissa}e{exponent}")
        }
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Scale;
    use crate::plot::Axis;

    fn labels(axis: &Axis, values: &[f64]) -> Vec<String> {
        let scale = Scale::over(axis, values.iter().copied()).unwrap();
        scale.ticks.into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round() {
        let axis = Axis::new("x");
        assert_eq!(
            labels(&axis, &[0.0, 97.0]),
            ["0", "20", "40", "60", "80", "100"]
        );
        assert_eq!(
            labels(&axis, &[0.13, 0.31]),
            ["0.10", "0.15", "0.20", "0.25", "0.30", "0.35"]
        );
        assert_eq!(
            labels(&axis, &[-1.0, 1.0]),
            ["-1.0", "-0.5", "0.0", "0.5", "1.0"]
        );
        assert_eq!(labels(&axis, &[0.0, 3e9]), ["0", "1e9", "2e9", "3e9"]);
        assert_eq!(labels(&axis, &[7.0]), ["6.6", "6.8", "7.0", "7.2", "7.4"]);
    }

    #[test]
    fn logarithmic_ticks_are_powers() {
        let axis = Axis::new("x").log();
        assert_eq!(
            labels(&axis, &[1.0, 90.0]),
            ["1", "2", "5", "10", "20", "50", "100"]
        );
        assert_eq!(labels(&axis, &[0.01, 4e6]).first().unwrap(), "0.01");
        assert_eq!(labels(&axis, &[0.01, 4e6]).last().unwrap(), "1e6");
    }

    #[test]
    fn what_is_included_alone_makes_no_plot() {
        assert_eq!(
            Scale::over(&Axis::new("x").including(0.0), [f64::NAN]),
            None
        );
        assert_eq!(Scale::over(&Axis::new("x").log(), [-1.0, 0.0]), None);
    }

    proptest! {
        // Plotting libraries loop forever, or panic, between -1e308 and 1e308.
        #[test]
        fn any_numbers_have_a_place(values in prop::collection::vec(any::<f64>(), 1..6), log: bool) {
            let axis = if log { Axis::new("x").log() } else { Axis::new("x") };
            if let Some(scale) = Scale::over(&axis, values.iter().copied()) {
                prop_assert!((1..=30).contains(&scale.ticks.len()), "{:?}", scale);
                let ticks = scale.ticks.iter().map(|(value, _)| *value);
                for value in ticks.chain(values.into_iter().filter(|value| axis.takes(*value))) {
                    prop_assert!((0.0..=1.0).contains(&scale.place(value)), "{value}");
                }
            }
        }

        #[test]
        fn close_numbers_have_a_place(start in any::<f64>(), bits in 0_u64..1000) {
            let end = f64::from_bits(start.to_bits().wrapping_add(bits));
            if let Some(scale) = Scale::over(&Axis::new("x"), [start, end]) {
                prop_assert!((2..=30).contains(&scale.ticks.len()), "{:?}", scale);
            }
        }
    }
}
