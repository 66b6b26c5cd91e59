//! Numbers in words.

use crate::text::Token;

/// A value, the number of its tokens, and what it is besides a quantity: `th` for an ordinal, `x` for a number of times.
pub(super) type Numeral = (f64, usize, &'static str);

/// The value of a word up to ninety.
pub(super) fn small(word: &str) -> Option<u32> {
    const ONES: [&str; 20] = [
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
    ];
    const TENS: [&str; 8] = [
        "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
    ];
    let ones = (0..)
        .zip(ONES)
        .find_map(|(value, name)| (name == word).then_some(value));
    ones.or_else(|| {
        (2..)
            .zip(TENS)
            .find_map(|(tens, name)| (name == word).then_some(tens * 10))
    })
}

pub(super) fn ordinal(word: &str) -> Option<u32> {
    const NAMES: [&str; 18] = [
        "third",
        "fourth",
        "fifth",
        "sixth",
        "seventh",
        "eighth",
        "ninth",
        "tenth",
        "eleventh",
        "twelfth",
        "thirteenth",
        "fourteenth",
        "fifteenth",
        "sixteenth",
        "seventeenth",
        "eighteenth",
        "nineteenth",
        "twentieth",
    ];
    (3..)
        .zip(NAMES)
        .find_map(|(value, name)| (name == word).then_some(value))
}

/// The day of a month that an ordinal in words says.
pub(super) fn ordinal_day(word: &str) -> Option<i16> {
    let (tens, last) = match word.split_once('-') {
        Some(("twenty", last)) => (20, last),
        Some(("thirty", last)) => (30, last),
        Some(_) => return None,
        None => (0, word),
    };
    let last = match last {
        "first" => 1,
        "second" => 2,
        "thirtieth" => 30,
        last => ordinal(last)?,
    };
    i16::try_from(tens + last).ok()
}

/// The rest of `two hundred and forty thousand`.
pub(super) fn compound(here: &[Token], value: f64, mut count: usize) -> Numeral {
    let word = |place: usize| {
        here.get(place)
            .filter(|token| !token.is_taken)
            .map_or("", |token| &*token.lower)
    };
    let (mut total, mut group) = (0.0, value);
    loop {
        let scale = word(count);
        match scale {
            "hundred" => group *= 100.0,
            "thousand" | "million" | "billion" => {
                total += group
                    * match scale {
                        "thousand" => 1e3,
                        "million" => 1e6,
                        _ => 1e9,
                    };
                group = 0.0;
            }
            _ => break,
        }
        count += 1;
        let step = usize::from(matches!(word(count), "and" | "-"));
        // `two hundred and five hundred` are two numbers.
        if let Some(more) = small(word(count + step)).filter(|_| word(count + step + 1) != scale) {
            group += f64::from(more);
            count += step + 1;
            let step = usize::from(word(count) == "-");
            if let Some(ones) =
                small(word(count + step)).filter(|ones| more >= 20 && (1..10).contains(ones))
            {
                group += f64::from(ones);
                count += step + 1;
            }
        }
    }
    (total + group, count, "")
}

pub(super) fn fraction_sign(sign: &str) -> Option<f64> {
    Some(match sign {
        "½" => 0.5,
        "¼" => 0.25,
        "¾" => 0.75,
        "⅓" => 1.0 / 3.0,
        "⅔" => 2.0 / 3.0,
        "⅕" => 0.2,
        "⅛" => 0.125,
        _ => return None,
    })
}
