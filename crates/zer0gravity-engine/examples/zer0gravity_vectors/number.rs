//! ECMAScript's `Number()` on JSON values.

use serde_json::Value;
use zer0gravity_engine::text::js_trim;

use super::json::Json;

/// The value that `Number()` looks at. Below the surface only a list of one element counts.
enum View<'a, T> {
    Null,
    Bool(bool),
    Number(f64),
    Text(&'a str),
    List(&'a [T]),
    Object,
}

/// Returns the number that ECMAScript's `Number()` makes of a JSON value, or NaN.
///
/// null, `""` and `[]` are 0, true is 1. A text is a decimal number, `Infinity`, or digits after `0x`, `0o` or `0b`; a
/// list is the text of its one element.
pub fn js_number(v: &Value) -> f64 {
    number(v, |value| match value {
        Value::Null => View::Null,
        Value::Bool(value) => View::Bool(*value),
        Value::Number(number) => View::Number(number.as_f64().unwrap_or(f64::NAN)),
        Value::String(text) => View::Text(text),
        Value::Array(items) => View::List(items),
        Value::Object(_) => View::Object,
    })
}

/// Returns the number of a value that the engine's JSON reader has read.
pub fn json_number(value: &Json) -> f64 {
    number(value, |value| match value {
        Json::Null => View::Null,
        Json::Bool(value) => View::Bool(*value),
        Json::Number(number) => View::Number(*number),
        Json::Text(text) => View::Text(text),
        Json::List(items) => View::List(items),
        Json::Object(_) => View::Object,
    })
}

fn number<'a, T>(value: &'a T, view: impl Fn(&'a T) -> View<'a, T>) -> f64 {
    let (mut value, mut inside) = (value, false);
    loop {
        return match view(value) {
            View::Null | View::List([]) => 0.0,
            // In a list it is the word `true`.
            View::Bool(_) if inside => f64::NAN,
            View::Bool(value) => f64::from(u8::from(value)),
            View::Number(number) => number,
            View::Text(text) => text_number(text),
            View::List([only]) => {
                (value, inside) = (only, true);
                continue;
            }
            View::List(_) | View::Object => f64::NAN,
        };
    }
}

fn text_number(text: &str) -> f64 {
    let text = js_trim(text);
    if text.is_empty() {
        return 0.0;
    }
    if let Some((b'0', [letter, digits @ ..])) = text.as_bytes().split_first() {
        let bits = match letter {
            b'x' | b'X' => 4,
            b'o' | b'O' => 3,
            b'b' | b'B' => 1,
            _ => return decimal(text),
        };
        return binary(digits, bits).unwrap_or(f64::NAN);
    }
    decimal(text)
}

fn decimal(text: &str) -> f64 {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    // Rust also reads `inf` and `nan`, in any case.
    if unsigned == "Infinity"
        || unsigned.starts_with(|first: char| first.is_ascii_digit() || first == '.')
    {
        text.parse().unwrap_or(f64::NAN)
    } else {
        f64::NAN
    }
}

/// Digits of `bits` bits each, rounded once.
fn binary(digits: &[u8], bits: i32) -> Option<f64> {
    const ROOM: u32 = 120;
    if digits.is_empty() {
        return None;
    }
    let (mut head, mut dropped) = (0_u128, 0_i32);
    for &digit in digits {
        let digit = u128::from(char::from(digit).to_digit(1 << bits)?);
        if head >> ROOM == 0 {
            head = head << bits | digit;
        } else {
            // All that matters of the rest is its length, and whether it is all zero.
            head |= u128::from(digit != 0);
            dropped = dropped.saturating_add(bits);
        }
    }
    Some(head as f64 * 2_f64.powi(dropped))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_as_ecmascript_makes_them() {
        let nan = f64::NAN;
        for (value, expected) in [
            (json!(" 3.5e1 "), 35.0),
            (json!(["0x1F"]), 31.0),
            (json!(null), 0.0),
            (json!("35/40"), nan),
            (json!(true), 1.0),
            (json!(false), 0.0),
            (json!([]), 0.0),
            (json!([[["7"]]]), 7.0),
            (json!([null]), 0.0),
            (json!([true]), nan),
            (json!([1, 2]), nan),
            (json!({}), nan),
            (json!([{}]), nan),
            (json!("\u{feff}\n"), 0.0),
            (json!("+5."), 5.0),
            (json!(".5"), 0.5),
            (json!("-.5e-1"), -0.05),
            (json!("5.e1"), 50.0),
            (json!("."), nan),
            (json!("e5"), nan),
            (json!("1_0"), nan),
            (json!("1 2"), nan),
            (json!("-0x10"), nan),
            (json!("0x"), nan),
            (json!("0xg"), nan),
            (json!("0b102"), nan),
            (json!("0B101"), 5.0),
            (json!("0o17"), 15.0),
            (json!("017"), 17.0),
            (json!("inf"), nan),
            (json!("nan"), nan),
            (json!("infinity"), nan),
            (json!("-Infinity"), f64::NEG_INFINITY),
            (json!("1e999"), f64::INFINITY),
            // Half a unit above 2^53, and a little more.
            (json!("0x20000000000001"), 9_007_199_254_740_992.0),
            (
                json!(format!("0x20000000000001{}1", "0".repeat(30))),
                9_007_199_254_740_994.0 * 2_f64.powi(124),
            ),
            (json!(format!("0x1{}", "0".repeat(300))), f64::INFINITY),
        ] {
            let found = js_number(&value);
            assert_eq!(found.to_bits(), expected.to_bits(), "{value}: {found}");
        }
    }
}
