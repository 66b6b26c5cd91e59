//! Numbers as text: the same digits on every machine.

/// A value with a fixed number of decimals; a large one in scientific notation.
pub(crate) fn fixed(value: f64, digits: u8) -> String {
    let digits = usize::from(digits.min(17));
    if let Some(word) = not_finite(value) {
        return word.to_owned();
    }
    let text = if value.abs() >= 1e15 {
        format!("{value:.digits$e}")
    } else {
        format!("{value:.digits$}")
    };
    // Nothing is left of a small negative value but its sign.
    match text.strip_prefix('-') {
        Some(rest) if rest.bytes().all(|byte| matches!(byte, b'0' | b'.')) => rest.to_owned(),
        _ => text,
    }
}

/// A value with all of its digits.
pub(crate) fn plain(value: f64) -> String {
    if let Some(word) = not_finite(value) {
        return word.to_owned();
    }
    let size = value.abs();
    if size == 0.0 {
        "0".to_owned()
    } else if (1e-5..1e15).contains(&size) {
        format!("{value}")
    } else {
        format!("{value:e}")
    }
}

fn not_finite(value: f64) -> Option<&'static str> {
    if value.is_nan() {
        Some("not a number")
    } else if value == f64::INFINITY {
        Some("infinite")
    } else if value == f64::NEG_INFINITY {
        Some("minus infinite")
    } else {
        None
    }
}

/// A coordinate in a drawing: two decimals, without trailing zeros.
pub(crate) fn coordinate(value: f64) -> String {
    let text = fixed(value, 2);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    text.to_owned()
}

/// A coordinate with one decimal, for drawings with many of them.
pub(crate) fn rough(value: f64) -> String {
    coordinate((value * 10.0).round() / 10.0)
}

/// A count with its noun: "1 point", "3 points".
pub(crate) fn counted(count: usize, one: &str) -> String {
    if count == 1 {
        format!("1 {one}")
    } else {
        format!("{count} {one}s")
    }
}

#[cfg(test)]
mod tests {
    use super::{coordinate, fixed, plain};

    #[test]
    fn numbers_are_short_and_never_odd() {
        assert_eq!(fixed(-0.0001, 2), "0.00");
        assert_eq!(fixed(-0.0, 0), "0");
        assert_eq!(fixed(f64::MAX, 1), "1.8e308");
        assert_eq!(fixed(f64::NAN, 1), "not a number");
        assert_eq!(plain(0.1), "0.1");
        assert_eq!(plain(-1e-320), "-1e-320");
        assert_eq!(plain(-0.0), "0");
        assert_eq!(coordinate(100.0), "100");
        assert_eq!(coordinate(1.5), "1.5");
        assert_eq!(coordinate(-0.001), "0");
    }
}
