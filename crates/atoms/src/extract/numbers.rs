//! Quantities: digits or words, with the unit after them or the currency sign before them.

use super::Found;
use super::quantity::{and_part, quantity};
use super::units::{adverb, article, currency, rate};
use crate::atom::Kind;
use crate::lists::Unit;
use crate::text::Token;

/// Adds the quantities of all tokens that are not taken, and those that an article says.
pub(super) fn find(tokens: &mut [Token], found: &mut Vec<Found>, implied: &mut Vec<String>) {
    let mut index = 0;
    let mut previous: Option<(usize, usize)> = None;
    let mut measured: Option<(usize, usize, Unit)> = None;
    while index < tokens.len() {
        if let Some((unit, used)) =
            rate(&tokens[index..]).filter(|_| index > 0 && tokens[index - 1].is_taken)
        {
            // `£17.80 an hour`, `twice daily`
            let span = tokens[index].span.start..tokens[index + used - 1].span.end;
            found.push(Found::new(
                Kind::Number,
                span,
                format!("per {}", canonical(1.0, Some(unit), "")),
            ));
            for token in &mut tokens[index..index + used] {
                token.is_taken = true;
            }
            index += used;
            continue;
        }
        if let Some((unit, _)) = adverb(&tokens[index..]) {
            implied.push(canonical(1.0, Some(unit), ""));
        }
        if let Some((unit, used)) = article(&tokens[index..]) {
            // `a minute and a half`
            let more = and_part(&tokens[index + used..]);
            implied.push(canonical(
                1.0 + more.map_or(0.0, |(part, _)| part),
                Some(unit),
                "",
            ));
            if let Some((_, count)) = more {
                for token in &mut tokens[index + used..index + used + count] {
                    token.is_taken = true;
                }
            }
        }
        let Some(mut quantity) = quantity(tokens, index) else {
            index += 1;
            continue;
        };
        let mut start = index;
        if let Some((currency, unit)) = currency(tokens, index) {
            start = currency;
            quantity.unit = quantity.unit.or(Some(unit));
        }
        let end =
            index + quantity.tokens + below_zero(&tokens[index + quantity.tokens..], quantity.unit);
        let is_negative = sign(tokens, &mut start) || end > index + quantity.tokens;
        if is_negative {
            quantity.value = -quantity.value;
        }
        // `5 to 10 kg`: the first has the unit of the second.
        if let (Some((place, after)), Some(unit)) = (previous, quantity.unit)
            && is_link(&tokens[after..start])
        {
            inherit(&mut found[place], unit);
        }
        if let (Some((place, after, whole)), Some(unit)) = (measured, quantity.unit)
            && is_part_of(whole, &tokens[after..start], unit)
        {
            // `2 hours 20 minutes`
            add(
                &mut found[place],
                quantity.value,
                unit,
                tokens[end - 1].span.end,
            );
            for token in &mut tokens[start..end] {
                token.is_taken = true;
            }
            index = end;
            measured = None;
            continue;
        }
        let span = tokens[start].span.start..tokens[end - 1].span.end;
        for token in &mut tokens[start..end] {
            token.is_taken = true;
        }
        let canonical = canonical(quantity.value, quantity.unit, quantity.ending);
        found.push(Found {
            value: Some(quantity.value),
            ..Found::new(Kind::Number, span, canonical)
        });
        previous = quantity.unit.is_none().then_some((found.len() - 1, end));
        measured = quantity.unit.map(|unit| (found.len() - 1, end, unit));
        index = end;
    }
}

/// The value in the base of its dimension, and the dimension. A percentage is its share.
fn canonical(value: f64, unit: Option<Unit>, ending: &str) -> String {
    match unit {
        Some(unit) if unit.dimension == "percent" => decimal(value / 100.0),
        Some(unit) => format!("{} {}", decimal(value * unit.factor), unit.dimension),
        None => decimal(value) + ending,
    }
}

/// Up to fifteen digits, so that 0.1 kg and 100 g are one value.
fn decimal(value: f64) -> String {
    let rounded: f64 = format!("{value:.14e}").parse().unwrap_or(value);
    rounded.to_string()
}

fn inherit(atom: &mut Found, unit: Unit) {
    if let Ok(value) = atom.canonical.parse() {
        atom.canonical = canonical(value, Some(unit), "");
    }
}

/// Whether a quantity in smaller units follows another one of its dimension as a part of it.
fn is_part_of(whole: Unit, between: &[Token], unit: Unit) -> bool {
    let is_joined = matches!(between, []) || matches!(between, [and] if and.lower == "and");
    let is_divided = matches!(unit.dimension, "time" | "length" | "mass" | "month");
    is_joined && is_divided && whole.dimension == unit.dimension && unit.factor < whole.factor
}

fn add(atom: &mut Found, value: f64, unit: Unit, end: usize) {
    let whole = atom
        .canonical
        .split(' ')
        .next()
        .and_then(|whole| whole.parse::<f64>().ok());
    let whole = whole.unwrap_or(0.0) + value * unit.factor;
    atom.canonical = format!("{} {}", decimal(whole), unit.dimension);
    atom.value = None;
    atom.span.end = end;
}

/// Whether the tokens between two numbers join them.
fn is_link(between: &[Token]) -> bool {
    match between {
        [one] => matches!(
            &*one.lower,
            "-" | "–" | "to" | "and" | "or" | "/" | "x" | "×" | "by" | ","
        ),
        _ => false,
    }
}

/// The tokens of *below zero* after degrees.
fn below_zero(rest: &[Token], unit: Option<Unit>) -> usize {
    let is_degrees =
        unit.is_some_and(|unit| matches!(unit.dimension, "temperature" | "fahrenheit" | "degree"));
    let is_below = matches!(rest, [below, zero, ..] if below.lower == "below" && matches!(&*zero.lower, "zero" | "freezing"));
    if is_degrees && is_below { 2 } else { 0 }
}

/// Moves the start before a sign, and returns whether it is a minus.
fn sign(tokens: &[Token], start: &mut usize) -> bool {
    let Some(before) = start.checked_sub(1) else {
        return false;
    };
    let token = &tokens[before];
    let touches = token.span.end == tokens[*start].span.start;
    let is_free = before
        .checked_sub(1)
        .is_none_or(|at| tokens[at].span.end < token.span.start || tokens[at].lower == "(");
    let is_minus = match &*token.lower {
        "-" | "–" => touches && is_free && !token.is_taken,
        word => word == "minus",
    };
    if is_minus {
        *start = before;
    }
    is_minus
}
