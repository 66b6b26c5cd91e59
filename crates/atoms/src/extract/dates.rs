//! Days, months, years, weekdays and times of day.

use std::ops::Range;
use std::sync::LazyLock;

use jiff::civil::Date;
use regex::{Captures, Regex};

use super::Found;
use crate::atom::Kind;
use crate::lists::SPELLINGS;
use crate::text::{self, pattern};

const MONTH: &str = r"(?P<m>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?";
const DAY: &str = r"(?P<d>[0-9]{1,2})(?:st|nd|rd|th)?";
const HALF: &str =
    r"(?P<half>a\.?m\b\.?|p\.?m\b\.?|in the morning|in the afternoon|in the evening|at night)";
const HOUR_WORD: &str = r"(?P<w>one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)";

/// Reads the groups of a pattern; `None` if that day or time does not exist.
type Reader = fn(&Captures<'_>, &str) -> Option<String>;

static RULES: LazyLock<Vec<(Regex, Reader)>> = LazyLock::new(|| {
    let rules: [(String, Reader); 16] = [
        (
            r"\b(?P<y>[0-9]{4})-(?P<mm>[0-9]{2})-(?P<d>[0-9]{2})(?:\b|T)".to_owned(),
            day,
        ),
        (
            r"\b(?P<d>[0-9]{1,2})[./](?P<mm>[0-9]{1,2})[./](?P<y>[0-9]{4})\b".to_owned(),
            day,
        ),
        (
            format!(r"\b{DAY}(?:\s+of)?[\s-]+{MONTH}(?:,?[\s-]+(?P<y>[12][0-9]{{3}})\b)?"),
            day,
        ),
        (
            format!(r"\b{MONTH}\s+(?:the\s+)?{DAY}\b(?:,?\s+(?P<y>[12][0-9]{{3}})\b)?"),
            day,
        ),
        (
            format!(
                r"\b(?P<dw>[a-z]+(?:-[a-z]+)?)\s+(?:day\s+)?of\s+{MONTH}(?:,?\s+(?P<y>[12][0-9]{{3}})\b)?"
            ),
            worded_day,
        ),
        (
            format!(r"\b{MONTH},?\s+(?:of\s+)?(?P<y>[12][0-9]{{3}})\b"),
            day,
        ),
        (
            r"\b(?P<mm>0[1-9]|1[0-2])/(?P<y>[12][0-9]{3})\b".to_owned(),
            day,
        ),
        (
            format!(r"\b(?P<h>[0-9]{{1,2}})(?:[:.](?P<min>[0-9]{{2}}))?\s*(?:o'clock\s*)?{HALF}"),
            time,
        ),
        (
            r"\b(?P<h>[01]?[0-9]|2[0-4]):(?P<min>[0-5][0-9])(?::[0-5][0-9])?\b".to_owned(),
            time,
        ),
        (r"\b(?P<h>0[0-9])(?P<min>[0-5][0-9])\b".to_owned(), time),
        (
            format!(
                r"\b(?P<part>half|quarter|(?:[0-9]{{1,2}}|five|ten|twenty|twenty-five)(?: minutes)?) (?P<dir>past|to) (?:{HOUR_WORD}|(?P<h>[0-9]{{1,2}}))\b(?:\s+{HALF})?"
            ),
            spoken_time,
        ),
        (
            format!(r"\b(?:{HOUR_WORD}|(?P<h>[0-9]{{1,2}}))\s+o'clock(?:\s+{HALF})?"),
            spoken_time,
        ),
        (format!(r"\b{HOUR_WORD}\s+{HALF}"), spoken_time),
        (
            r"\b(?:12 )?(?P<noon>noon|midday|midnight)\b".to_owned(),
            noon,
        ),
        (format!(r"\b{MONTH}"), month),
        (
            r"\b(?P<wd>mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?P<day>days?)?\b"
                .to_owned(),
            weekday,
        ),
    ];
    let compile = |(text, read)| (pattern(&format!("(?i){text}")), read);
    rules.into_iter().map(compile).collect()
});

static YEAR: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?:^|[^0-9.,$£€-])(?P<y>(?:19|20)[0-9]{2})(?P<s>s)?\b"));

static RANGE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?i)\b(?P<h>[0-9]{1,2})(?:[:.](?P<min>[0-9]{2}))?\s*(?:-|–|to|and|until|or)\s*$")
});

/// Adds the dates outside of what is found already.
pub(super) fn find(plain: &str, found: &mut Vec<Found>) {
    let mut is_taken = vec![false; plain.len()];
    for atom in &*found {
        is_taken[atom.span.clone()].fill(true);
    }
    for (regex, read) in RULES.iter() {
        for captures in regex.captures_iter(plain) {
            let Some(all) = captures.get(0) else { continue };
            let mut span = all.range();
            // The point of `Jan.` is one of an abbreviation only where the sentence goes on after it.
            if plain[span.clone()].ends_with('.') && !is_abbreviation(plain, &span) {
                span.end -= 1;
            }
            if is_taken[span.clone()].contains(&true) {
                continue;
            }
            let Some(canonical) = read(&captures, plain) else {
                continue;
            };
            if captures.name("half").is_some() {
                range_start(plain, &span, &mut is_taken, found);
            }
            is_taken[span.clone()].fill(true);
            found.push(Found::new(Kind::Date, span, canonical));
        }
    }
    for captures in YEAR.captures_iter(plain) {
        let Some(year) = captures.name("y") else {
            continue;
        };
        let end = captures.name("s").map_or(year.end(), |decade| decade.end());
        let span = year.start()..end;
        if is_taken[span.clone()].contains(&true) || !is_year(plain, &span) {
            continue;
        }
        is_taken[span.clone()].fill(true);
        let ending = if captures.name("s").is_some() {
            "s"
        } else {
            "-??-??"
        };
        let canonical = format!("{}{ending}", year.as_str());
        found.push(Found::new(Kind::Date, span, canonical));
    }
}

/// Whether the full stop at the end of a span shortens a word.
fn is_abbreviation(plain: &str, span: &Range<usize>) -> bool {
    let text = plain[span.clone()].to_lowercase();
    let rest = plain[span.end..].trim_start();
    let is_short =
        text.ends_with(".m.") || text.ends_with("m.") || text.len() <= 6 || text.contains(' ');
    let is_whole = ["march.", "april.", "may.", "june.", "july."]
        .iter()
        .any(|month| text.ends_with(month));
    is_short
        && !is_whole
        && !rest.is_empty()
        && (text.ends_with(".m.") || !rest.starts_with(char::is_uppercase))
        || text.ends_with(".m.")
}

/// Adds the start of `9 to 11 a.m.`, which has the marker of its end.
fn range_start(plain: &str, span: &Range<usize>, is_taken: &mut [bool], found: &mut Vec<Found>) {
    // The start is a few characters before.
    let from = plain[..span.start]
        .char_indices()
        .rev()
        .nth(16)
        .map_or(0, |(at, _)| at);
    let before = &plain[from..span.start];
    let Some(captures) = RANGE.captures(before) else {
        return;
    };
    let (Some(hour), minute) = (captures.name("h"), captures.name("min")) else {
        return;
    };
    let start = from + hour.start()..from + minute.map_or(hour.end(), |minute| minute.end());
    if is_taken[start.clone()].contains(&true) {
        return;
    }
    let Some(canonical) = clock(
        hour.as_str().parse().ok(),
        minute.map_or("0", |it| it.as_str()).parse().ok(),
        None,
    ) else {
        return;
    };
    is_taken[start.clone()].fill(true);
    found.push(Found::new(Kind::Date, start, canonical));
}

fn group<'a>(captures: &Captures<'a>, name: &str) -> Option<&'a str> {
    captures.name(name).map(|it| it.as_str())
}

fn number(captures: &Captures<'_>, name: &str) -> Option<i16> {
    group(captures, name)?.parse().ok()
}

fn month_number(name: &str) -> Option<i16> {
    const MONTHS: [&str; 12] = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ];
    let start = name.to_lowercase().chars().take(3).collect::<String>();
    (1..)
        .zip(MONTHS)
        .find_map(|(number, month)| (month == start).then_some(number))
}

/// A day or a month, if it exists.
fn day(captures: &Captures<'_>, _: &str) -> Option<String> {
    let year = number(captures, "y");
    let mut day = number(captures, "d");
    if let Some(word) = group(captures, "dw") {
        day = super::numerals::ordinal_day(&word.to_lowercase());
    }
    let mut month = match group(captures, "m") {
        // `12 may be`
        Some("may" | "march" | "mar" | "dec") => return None,
        Some(name) => month_number(name)?,
        None => number(captures, "mm")?,
    };
    // 03/14/2024 has the month first.
    if let Some(first) = day
        && month > 12
    {
        day = Some(month);
        month = first;
    }
    let whole = Date::new(
        year.unwrap_or(2000),
        i8::try_from(month).ok()?,
        i8::try_from(day.unwrap_or(1)).ok()?,
    );
    whole.ok()?;
    let year = year.map_or("????".to_owned(), |year| format!("{year:04}"));
    let day = day.map_or("??".to_owned(), |day| format!("{day:02}"));
    Some(format!("{year}-{month:02}-{day}"))
}

/// Reads a day in words: `the fourth of September`.
fn worded_day(captures: &Captures<'_>, plain: &str) -> Option<String> {
    super::numerals::ordinal_day(&group(captures, "dw")?.to_lowercase())?;
    day(captures, plain)
}

/// A month by itself: with a capital, and *May* only after a word that a month follows.
fn month(captures: &Captures<'_>, plain: &str) -> Option<String> {
    let name = captures.name("m")?;
    if !name.as_str().starts_with(|char: char| char.is_uppercase()) {
        return None;
    }
    let is_ambiguous = matches!(
        &*name.as_str().to_lowercase(),
        "may" | "march" | "mar" | "dec" | "jan" | "sep" | "oct"
    );
    let before = text::before(plain, name.start()).to_lowercase();
    let leads = [
        "in", "of", "by", "until", "till", "since", "last", "next", "early", "late", "from", "to",
        "during", "before", "after", "and", "through", "every", "each", "this", "mid", "between",
        "-", "–", "for",
    ];
    if is_ambiguous && !leads.contains(&&*before) {
        return None;
    }
    Some(format!("????-{:02}-??", month_number(name.as_str())?))
}

fn weekday(captures: &Captures<'_>, plain: &str) -> Option<String> {
    let name = captures.name("wd")?;
    let short = name
        .as_str()
        .to_lowercase()
        .chars()
        .take(3)
        .collect::<String>();
    if group(captures, "day").is_some() {
        return Some(short);
    }
    // `sun`, `sat` and `wed` are words, too.
    let before = text::before(plain, name.start()).to_lowercase();
    let is_capital = name.as_str().starts_with(char::is_uppercase);
    let leads = [
        "on", "to", "until", "and", "from", "every", "by", "-", "–", "next", "last", "before",
        "after",
    ];
    let is_range = plain[..name.start()].ends_with(['-', '–', '/'])
        || plain[name.end()..].starts_with(['-', '–', '/', ',']);
    (is_capital && (leads.contains(&&*before) || is_range)).then_some(short)
}

fn noon(captures: &Captures<'_>, _: &str) -> Option<String> {
    let word = group(captures, "noon")?;
    Some(
        if word.eq_ignore_ascii_case("midnight") {
            "00:00"
        } else {
            "12:00"
        }
        .to_owned(),
    )
}

fn time(captures: &Captures<'_>, _: &str) -> Option<String> {
    let hour = group(captures, "h")?;
    let minute = group(captures, "min").unwrap_or("0");
    if group(captures, "half").is_none() && hour.starts_with('0') {
        // 06:30 is said in 24 hours.
        return clock(hour.parse().ok(), minute.parse().ok(), Some(false));
    }
    clock(
        hour.parse().ok(),
        minute.parse().ok(),
        is_afternoon(captures),
    )
}

fn spoken_time(captures: &Captures<'_>, plain: &str) -> Option<String> {
    let part = captures.name("part");
    let is_before = group(captures, "dir").is_some_and(|dir| dir.eq_ignore_ascii_case("to"));
    // `five to ten people`
    if let Some(part) = part.filter(|part| {
        is_before
            && !part.as_str().eq_ignore_ascii_case("quarter")
            && !part.as_str().ends_with("minutes")
    }) && group(captures, "half").is_none()
        && !matches!(
            text::before(plain, part.start()),
            "at" | "until" | "by" | "before" | "after" | "till"
        )
    {
        return None;
    }
    let value =
        |word: &str| super::numerals::small(word).and_then(|value| i16::try_from(value).ok());
    let hour = match group(captures, "w") {
        Some(word) => value(&word.to_lowercase()),
        None => number(captures, "h"),
    }?;
    let part = part.map(|part| part.as_str().to_lowercase());
    let minutes = match part
        .as_deref()
        .map(|part| part.trim_end_matches(" minutes"))
    {
        None => 0,
        Some("half") => 30,
        Some("quarter") => 15,
        Some("twenty-five") => 25,
        Some(digits) => digits.parse().ok().or_else(|| value(digits))?,
    };
    let (hour, minutes) = if is_before {
        ((hour + 10) % 12 + 1, 60 - minutes)
    } else {
        (hour, minutes)
    };
    clock(Some(hour), Some(minutes), is_afternoon(captures))
}

fn is_afternoon(captures: &Captures<'_>) -> Option<bool> {
    let marker = group(captures, "half")?.to_lowercase();
    if marker.ends_with("night") {
        // `2 at night`, but `9 at night`
        let hour = number(captures, "h").unwrap_or(9);
        return Some((6..12).contains(&hour));
    }
    Some(marker.starts_with('p') || marker.ends_with("afternoon") || marker.ends_with("evening"))
}

/// `HH:MM`, with a `~` where the half of the day is not said.
fn clock(hour: Option<i16>, minute: Option<i16>, is_afternoon: Option<bool>) -> Option<String> {
    let (hour, minute) = (hour?, minute?);
    if !(0..=24).contains(&hour) || !(0..60).contains(&minute) {
        return None;
    }
    let (mark, hour) = match is_afternoon {
        Some(true) if hour <= 12 => ("", hour % 12 + 12),
        Some(false) if hour == 12 => ("", 0),
        None if (1..=12).contains(&hour) => ("~", hour % 12),
        _ => ("", hour % 24),
    };
    Some(format!("{mark}{hour:02}:{minute:02}"))
}

/// Whether four digits are a year and no quantity.
fn is_year(plain: &str, span: &Range<usize>) -> bool {
    if plain[span.clone()].ends_with('s') {
        return true;
    }
    let after = &plain[span.end..];
    let next = after.trim_start();
    let is_end = next.is_empty()
        || next.starts_with(['.', ',', ';', ':', ')', '?', '!', '-', '–', '"', '\'']);
    if after.starts_with(['.', ',']) && after[1..].starts_with(|char: char| char.is_ascii_digit()) {
        return false;
    }
    // `in 2000 litres` is a quantity.
    let unit = next
        .split(|char: char| !char.is_alphanumeric())
        .next()
        .unwrap_or("");
    if !is_end && SPELLINGS.contains_key(&*unit.to_lowercase()) {
        return false;
    }
    let is_joined = plain[..span.start].trim_end().ends_with(['(', '-', '–']);
    let word = text::before(plain, span.start).to_lowercase();
    let word = word.rsplit(['(', '-', '–']).next().unwrap_or("");
    let leads = [
        "in", "since", "by", "until", "till", "of", "year", "during", "before", "after", "from",
        "spring", "summer", "autumn", "fall", "winter", "early", "late", "mid", "circa", "c.",
        "around", "edition",
    ];
    leads.contains(&word)
        || is_joined && is_end
        || matches!(word, "to" | "and" | "around" | "about" | "the") && is_end
}
