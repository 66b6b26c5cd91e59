//! A number in digits or in words, with its unit.

use super::numerals::{Numeral, compound, fraction_sign, ordinal, small};
use super::units::unit;
use crate::lists::{SPELLINGS, Unit};
use crate::text::{Form, Token};

/// A quantity: its value, its unit and the number of tokens that it takes.
pub(super) struct Quantity {
    pub(super) value: f64,
    pub(super) unit: Option<Unit>,
    pub(super) ending: &'static str,
    pub(super) tokens: usize,
}

/// The quantity that begins at a token.
pub(super) fn quantity(tokens: &[Token], index: usize) -> Option<Quantity> {
    let here = &tokens[index..];
    if here.first()?.is_taken {
        return None;
    }
    let (mut value, mut count, ending) = match here[0].form {
        Form::Digits => digits(tokens, index)?,
        Form::Word => words(tokens, index)?,
        Form::Sign => (fraction_sign(&here[0].lower)?, 1, ""),
    };
    let of = |value, unit, ending, tokens| {
        Some(Quantity {
            value,
            unit,
            ending,
            tokens,
        })
    };
    match ending {
        "x" => return of(value, times(), "", count),
        "th" => return of(value, None, "th", count),
        _ => {}
    }
    while let Some(scale) = here
        .get(count)
        .filter(|token| !token.is_taken)
        .and_then(|token| scale(here, count, token))
    {
        value *= scale;
        count += 1;
    }
    // `two and a half`, `2 ½`
    if let Some((part, more)) = and_part(&here[count..]) {
        value += part;
        count += more;
    }
    let is_part = value < 1.0
        && matches!(here.get(count..count + 2), Some([of, a]) if of.lower == "of" && matches!(&*a.lower, "a" | "an"));
    if is_part && let Some((unit, used)) = unit(&here[count + 2..], true) {
        // `a quarter of an hour`
        return of(value, Some(unit), "", count + 2 + used);
    }
    let hyphen = usize::from(here.get(count).is_some_and(|token| token.lower == "-"));
    match unit(&here[count + hyphen..], false) {
        Some((unit, used)) => of(value, Some(unit), "", count + hyphen + used),
        None => of(value, None, "", count),
    }
}

/// The unit of a number of times.
fn times() -> Option<Unit> {
    let spellings = SPELLINGS.get("times")?;
    spellings.first().map(|(_, unit)| *unit)
}

/// Digits, with thousands commas and decimals, as a fraction, or as an ordinal.
fn digits(tokens: &[Token], index: usize) -> Option<Numeral> {
    let here = &tokens[index..];
    let value = parse(&here[0].written)?;
    let is_next = |place: usize, text: &str| {
        here.get(place)
            .is_some_and(|token| token.lower == text && !token.is_taken)
    };
    let touches = |place: usize| {
        here.get(place)
            .is_some_and(|token| token.span.start == here[place - 1].span.end)
    };
    if let Some(ending) = here.get(1).filter(|_| touches(1)) {
        match &*ending.lower {
            "st" | "nd" | "rd" | "th" => return Some((value, 2, "th")),
            "x" => return Some((value, 2, "x")),
            _ => {}
        }
    }
    if is_next(1, "/")
        && let Some(below) = here.get(2).filter(|token| token.form == Form::Digits)
        && touches(1)
        && touches(2)
        && let Some(below) = parse(&below.written).filter(|below| *below != 0.0)
    {
        return Some((value / below, 3, ""));
    }
    Some((value, 1, ""))
}

fn parse(written: &str) -> Option<f64> {
    let value: f64 = written.replace(',', "").parse().ok()?;
    value.is_finite().then_some(value)
}

fn scale(here: &[Token], place: usize, token: &Token) -> Option<f64> {
    let touches = place > 0 && here[place - 1].span.end == token.span.start;
    match &*token.lower {
        "hundred" => Some(100.0),
        "thousand" => Some(1e3),
        "million" => Some(1e6),
        "billion" | "bn" => Some(1e9),
        "dozen" => Some(12.0),
        "k" if touches => Some(1e3),
        _ => None,
    }
}

/// `and a half`, or a fraction sign.
pub(super) fn and_part(rest: &[Token]) -> Option<(f64, usize)> {
    let word = |place: usize| rest.get(place).map_or("", |token| &*token.lower);
    if let Some(part) = fraction_sign(word(0)) {
        return Some((part, 1));
    }
    match (word(0), word(1), word(2)) {
        ("and", "a", "half") => Some((0.5, 3)),
        ("and", "a", "quarter") => Some((0.25, 3)),
        _ => None,
    }
}

/// Whether a word with content comes next.
fn is_followed(rest: &[Token]) -> bool {
    rest.first()
        .is_some_and(|next| next.form == Form::Word && next.stem().is_some())
}

fn is_each(word: &str) -> bool {
    matches!(word, "a" | "an" | "per" | "every" | "each")
}

/// A number in words: `two hundred and forty`, `half`, `a third`, `two-thirds`, `twice`, `a dozen`, `second`.
fn words(tokens: &[Token], index: usize) -> Option<Numeral> {
    let here = &tokens[index..];
    let word = |place: usize| {
        here.get(place)
            .filter(|token| !token.is_taken)
            .map_or("", |token| &*token.lower)
    };
    match word(0) {
        "twice" => return Some((2.0, 1, "x")),
        "thrice" => return Some((3.0, 1, "x")),
        "once"
            if matches!(word(1), "daily" | "weekly" | "monthly")
                || is_each(word(1)) && unit(&here[2..], true).is_some() =>
        {
            return Some((1.0, 1, "x"));
        }
        "half" if word(1) == "a" && word(2) == "dozen" => return Some((6.0, 3, "")),
        "half" if matches!(word(1), "a" | "an") && unit(&here[2..], true).is_some() => {
            return Some((0.5, 2, ""));
        }
        "half" if word(1) != "term" && word(1) != "time" => return Some((0.5, 1, "")),
        "quarter" | "third"
            if word(1) == "of" && index > 0 && matches!(&*tokens[index - 1].lower, "a" | "one") =>
        {
            return Some((if word(0) == "third" { 1.0 / 3.0 } else { 0.25 }, 1, ""));
        }
        "a" if word(1) == "dozen" => return Some((12.0, 2, "")),
        "a" if matches!(word(1), "hundred" | "thousand" | "million" | "billion") => {
            return Some(compound(here, 1.0, 1));
        }
        "hundreds" | "thousands" | "millions" | "dozens" => return None,
        // `Wait a second.` has a unit.
        "second"
            if index > 0
                && is_followed(&here[1..])
                && matches!(
                    &*tokens[index - 1].lower,
                    "the" | "a" | "every" | "each" | "its" | "their" | "his" | "her" | "our"
                ) =>
        {
            return Some((2.0, 1, "th"));
        }
        _ => {}
    }
    if let Some(value) = ordinal(word(0)) {
        return Some((f64::from(value), 1, "th"));
    }
    let is_plural = index > 0 && tokens[index - 1].lower == "-";
    // `under-fives`
    let first =
        small(word(0)).or_else(|| small(word(0).strip_suffix('s').filter(|_| is_plural)?))?;
    // `no one`, `one another`, `one of` and `the one` count nothing.
    if word(0) == "one" && !is_counting_one(tokens, index) {
        return None;
    }
    let mut count = 1;
    let mut value = f64::from(first);
    if first >= 20 && first % 10 == 0 {
        let step = usize::from(word(1) == "-");
        if let Some(ones) = small(word(1 + step)).filter(|ones| (1..10).contains(ones)) {
            value += f64::from(ones);
            count += 1 + step;
        } else if let Some(last) = ordinal(word(1 + step)).filter(|last| *last < 10) {
            return Some((value + f64::from(last), 2 + step, "th"));
        } else if step == 1 && word(2) == "first" {
            return Some((value + 1.0, 3, "th"));
        } else if step == 1 && word(2) == "second" {
            return Some((value + 2.0, 3, "th"));
        }
    }
    let step = usize::from(word(count) == "-");
    // `three third-party tools` has no part.
    let part = match (first == 1, word(count + step)) {
        (true, "third") | (false, "thirds") => Some(3.0),
        (true, "quarter") | (false, "quarters") => Some(4.0),
        (true, "half") | (false, "halves") => Some(2.0),
        (true, "fifth") | (false, "fifths") => Some(5.0),
        (true, "tenth") | (false, "tenths") => Some(10.0),
        _ => None,
    };
    if let Some(below) = part.filter(|_| word(count + step + 1) != "-") {
        return Some((value / below, count + step + 1, ""));
    }
    Some(compound(here, value, count))
}

fn is_counting_one(tokens: &[Token], index: usize) -> bool {
    let before = index.checked_sub(1).map_or("", |at| &*tokens[at].lower);
    let after = tokens.get(index + 1).map_or("", |token| &*token.lower);
    let is_word = tokens
        .get(index + 1)
        .is_some_and(|token| token.form == Form::Word || token.lower == "-");
    let is_pronoun = matches!(
        before,
        "no" | "the"
            | "any"
            | "every"
            | "this"
            | "that"
            | "which"
            | "each"
            | "some"
            | "not"
            | "another"
    );
    is_word
        && !is_pronoun
        && !matches!(
            after,
            "of" | "another"
                | "is"
                | "was"
                | "will"
                | "can"
                | "must"
                | "should"
                | "may"
                | "who"
                | "has"
        )
}
