//! The units of quantities.

use crate::lists::{SPELLINGS, Unit};
use crate::text::{Form, Token};

/// The longest unit at the start of tokens, and the number of its tokens; with `in_words` no symbol of one letter.
pub(super) fn unit(rest: &[Token], in_words: bool) -> Option<(Unit, usize)> {
    let rest: &[Token] = &rest[..rest.len().min(8)];
    let mut best: Option<(Unit, usize)> = None;
    // A spelling is a run of tokens, joined as they are written: `km/h`, `°C`, `m²`, `per cent`.
    let mut joined = String::new();
    let mut written = String::new();
    for (place, token) in rest.iter().enumerate() {
        if token.is_taken {
            break;
        }
        if place > 0 && rest[place - 1].span.end < token.span.start {
            joined.push(' ');
            written.push(' ');
        }
        joined.push_str(&token.lower);
        written.push_str(&token.written);
        let word = rest.get(place + 1).is_none_or(|next| {
            next.form == Form::Sign || next.span.start > token.span.end || token.form == Form::Sign
        });
        if !word || in_words && joined.chars().count() < 3 {
            continue;
        }
        if let Some(unit) = spelled(&joined, &written) {
            best = Some((unit, place + 1));
        }
    }
    best
}

fn spelled(joined: &str, written: &str) -> Option<Unit> {
    let of = |text: &str| {
        let first = text.split(' ').next()?;
        let list = SPELLINGS.get(first)?;
        let found = list
            .iter()
            .find(|(words, _)| words.iter().copied().eq(text.split(' ')));
        found.map(|(_, unit)| *unit)
    };
    of(&format!("={written}")).or_else(|| of(joined))
}

/// The unit of `an hour`, `per day` or `weekly`, and the number of its tokens.
pub(super) fn rate(tokens: &[Token]) -> Option<(Unit, usize)> {
    let first = tokens.first().filter(|first| !first.is_taken)?;
    let (unit, used) = match &*first.lower {
        "/" => unit(&tokens[1..], false).map(|(unit, used)| (unit, used + 1))?,
        _ => article(tokens).or_else(|| adverb(tokens))?,
    };
    matches!(unit.dimension, "time" | "month").then_some((unit, used))
}

/// The unit of `daily`.
pub(super) fn adverb(tokens: &[Token]) -> Option<(Unit, usize)> {
    let name = match &*tokens.first()?.lower {
        "hourly" => "hour",
        "daily" | "nightly" => "day",
        "weekly" => "week",
        "monthly" => "month",
        "yearly" | "annually" => "year",
        _ => return None,
    };
    Some((spelled(name, name)?, 1))
}

/// The unit of `an hour` and `a fortnight`, and the number of its tokens.
pub(super) fn article(tokens: &[Token]) -> Option<(Unit, usize)> {
    let first = tokens.first()?;
    let is_article = matches!(
        &*first.lower,
        "a" | "an" | "each" | "per" | "every" | "single"
    );
    let (unit, used) = is_article.then(|| unit(&tokens[1..], true)).flatten()?;
    Some((unit, used + 1))
}

/// The place and unit of a currency before a number.
pub(super) fn currency(tokens: &[Token], index: usize) -> Option<(usize, Unit)> {
    let before = index.checked_sub(1)?;
    let token = tokens.get(before).filter(|token| !token.is_taken)?;
    let is_code = token.form == Form::Sign
        || matches!(
            &*token.written,
            "USD" | "EUR" | "GBP" | "CHF" | "JPY" | "SEK"
        );
    let unit = is_code
        .then(|| spelled(&token.lower, &token.written))
        .flatten()?;
    let is_money = matches!(
        unit.dimension,
        "dollar" | "pound" | "euro" | "yen" | "franc" | "krona"
    );
    is_money.then_some((before, unit))
}
