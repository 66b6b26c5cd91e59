//! The entries of block `history` for turns that are no longer shown.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use llm_client::BlockKind;
use pscale_blocks::store::Origins;
use pscale_blocks::{Block, NodeLine, Path};

use crate::conversation::{Author, MovedTurn, Utterance};

/// The most characters of what was said that an entry keeps.
const WORDS: usize = 600;
/// The most characters of an entry's beginning in a summary.
const FIRST_WORDS: usize = 48;
/// Between the turn's day and what was said.
const AFTER_DATE: &str = " | ";

/// The entries for turns that were said at `at`, one for each: the day, then each author and the words, up to 600 characters
/// of a turn, and up to 600 of the names of the tools that were called. What the kernel says is left out. A turn in which nothing was said or called has
/// no entry.
pub fn entries(dropped: &[Utterance], at: Timestamp) -> impl DoubleEndedIterator<Item = String> {
    turns_of_history(dropped, at).map(|turn| turn.text)
}

/// As [`entries`], each with the places outside that some message of the turn may come from.
pub(crate) fn turns_of_history(
    dropped: &[Utterance],
    at: Timestamp,
) -> impl DoubleEndedIterator<Item = MovedTurn> {
    let turns = dropped.chunk_by(|_, next| !super::starts_turn(&next.message));
    turns.filter_map(move |turn| {
        let text = entry(turn, at)?;
        let from = Origins::union(turn.iter().map(|said| &said.from));
        Some(MovedTurn { text, from })
    })
}

fn entry(turn: &[Utterance], at: Timestamp) -> Option<String> {
    let mut left = WORDS;
    let mut lines = Vec::new();
    for said in turn {
        let who = match said.by {
            Author::Model => "hermitcrab".to_owned(),
            by => by.to_string(),
        };
        let text = said.words();
        if text.is_empty() || left == 0 {
            continue;
        }
        let words: String = text.chars().take(left).collect();
        let taken = words.chars().count();
        let cut = if taken < text.chars().count() {
            "…"
        } else {
            ""
        };
        left -= taken;
        lines.push(format!("{who}: {words}{cut}"));
    }
    let mut tools: Vec<&str> = Vec::new();
    for block in turn.iter().flat_map(|said| &said.message.content) {
        if let BlockKind::ToolUse { name, .. } = &block.kind
            && !tools.contains(&name.as_str())
        {
            tools.push(name);
        }
    }
    if !tools.is_empty() {
        let tools = tools.join(", ");
        // A record of an earlier version may hold names of any length.
        let tools: String = tools.chars().take(WORDS).collect();
        lines.push(format!("tools: {tools}"));
    }
    let day = at.to_zoned(TimeZone::UTC).date();
    (!lines.is_empty()).then(|| format!("{day}{AFTER_DATE}{}", lines.join("\n")))
}

/// The mechanical summary of full entries: from which day to which, and how each begins.
pub fn group_summary(entries: &[NodeLine]) -> String {
    let texts: Vec<&str> = entries
        .iter()
        .filter_map(|entry| entry.text.as_deref())
        .collect();
    let first = texts.first().and_then(|text| days(text)).map(|days| days.0);
    let last = texts.last().and_then(|text| days(text)).map(|days| days.1);
    let beginnings: Vec<String> = texts.iter().map(|text| beginning(text)).collect();
    let said = beginnings.join("; ");
    match (first, last) {
        (Some(first), Some(last)) if first == last => format!("{first}{AFTER_DATE}{said}"),
        (Some(first), Some(last)) => format!("{first} to {last}{AFTER_DATE}{said}"),
        _ => said,
    }
}

/// The first and the last day of the entries in a block; `None` if it has no entry with a day.
pub(crate) fn days_of(block: &Block) -> Option<(String, String)> {
    let nodes = block.subtree(&Path::root(), None).ok()?;
    let entries = nodes.iter().filter(|node| block.pscale(&node.path) == -1);
    let mut days = entries.filter_map(|entry| days(entry.text.as_deref()?));
    let (first, mut last) = days.next()?;
    if let Some((_, latest)) = days.next_back() {
        last = latest;
    }
    Some((first.to_owned(), last.to_owned()))
}

/// The first and last day that an entry or a summary names at its start.
fn days(text: &str) -> Option<(&str, &str)> {
    let (dates, _) = text.split_once(AFTER_DATE)?;
    let (first, last) = dates.split_once(" to ").unwrap_or((dates, dates));
    let is_day = |text: &str| text.parse::<jiff::civil::Date>().is_ok();
    (is_day(first) && is_day(last)).then_some((first, last))
}

/// The first words of an entry, without its day and who said them.
fn beginning(text: &str) -> String {
    let said = match days(text) {
        Some(_) => text.split_once(AFTER_DATE).map_or(text, |(_, said)| said),
        None => text,
    };
    let said = said.strip_prefix("person: ").unwrap_or(said);
    let mut short = String::new();
    for word in said.split_whitespace() {
        let longer = short.chars().count() + 1 + word.chars().count();
        if !short.is_empty() && longer > FIRST_WORDS {
            return short + " …";
        }
        if !short.is_empty() {
            short.push(' ');
        }
        short.extend(word.chars().take(FIRST_WORDS));
    }
    short
}
