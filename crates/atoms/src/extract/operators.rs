//! Operators: the longest phrase of the lists at each place, and what needs a look around.

use super::Found;
use crate::atom::Kind;
use crate::lists::{Operator, PHRASES, SPELLINGS};
use crate::text::{Form, Token};

/// The words before a condition in which an *only* makes it the only one.
const ONLY_WITHIN: usize = 8;

pub(super) fn find(tokens: &mut [Token], found: &mut Vec<Found>) {
    let mut index = 0;
    while index < tokens.len() {
        let Some((operator, count)) = longest(&tokens[index..]) else {
            index += 1;
            continue;
        };
        let end = index + count;
        let span = tokens[index].span.start..tokens[end - 1].span.end;
        for &(kind, class) in operator {
            let Some(mut class) = resolve(kind, class, tokens, index, end) else {
                continue;
            };
            if class == "may" && refused(tokens, index, found) {
                // `No visitor may enter` is a prohibition.
                class = "must";
            }
            if matches!(class, ">" | "<")
                && let Some(place) = denied(tokens, index, found)
            {
                // `never take more than 6`
                found.remove(place);
                class = denial(class);
            }
            found.push(Found::new(kind, span.clone(), class));
        }
        for token in &mut tokens[index..end] {
            token.is_taken = true;
        }
        index = end;
    }
}

/// The negation a few words before a comparison in the same clause.
fn denied(tokens: &[Token], start: usize, found: &[Found]) -> Option<usize> {
    const WITHIN: usize = 7;
    let last = found.len().checked_sub(1)?;
    let negation = found.get(last).filter(|atom| atom.kind == Kind::Negation)?;
    let from = start.saturating_sub(WITHIN);
    let near = tokens[from..start]
        .iter()
        .find(|token| token.span.start == negation.span.start)?;
    (near.lower != "without" && near.clause == tokens[start].clause).then_some(last)
}

/// Whether a modality has a subject that is nothing.
fn refused(tokens: &[Token], start: usize, found: &[Found]) -> bool {
    const WITHIN: usize = 6;
    let near = tokens[start.saturating_sub(WITHIN)..start].iter();
    let mut near = near.filter(|token| token.clause == tokens[start].clause);
    near.any(|token| {
        matches!(
            &*token.lower,
            "no" | "none" | "nobody" | "neither" | "nothing"
        ) && found
            .iter()
            .rev()
            .take(WITHIN)
            .any(|atom| atom.kind == Kind::Negation && atom.span.start == token.span.start)
    })
}

fn denial(class: &'static str) -> &'static str {
    if class == ">" { "<=" } else { ">=" }
}

/// The longest phrase at the start of tokens, and the number of its tokens.
fn longest(tokens: &[Token]) -> Option<(Operator, usize)> {
    let first = tokens.first().filter(|token| token.form != Form::Sign)?;
    let phrases = PHRASES.get(&*first.lower)?;
    let fits = |words: &[&str]| {
        words.len() <= tokens.len()
            && words
                .iter()
                .zip(tokens)
                .all(|(word, token)| *word == token.lower && (!token.is_taken || *word == "two"))
    };
    let fitting = phrases.iter().filter(|(words, _)| fits(words));
    fitting
        .max_by_key(|(words, _)| words.len())
        .map(|(words, operator)| (*operator, words.len()))
}

/// The class of an operator among its neighbours; `None` where the words mean something else.
fn resolve(
    kind: Kind,
    class: &'static str,
    tokens: &[Token],
    start: usize,
    end: usize,
) -> Option<&'static str> {
    let before = start.checked_sub(1).map_or("", |at| &*tokens[at].lower);
    let after = tokens.get(end).map_or("", |token| &*token.lower);
    let is_single = end - start == 1;
    let word = &*tokens[start].lower;
    match kind {
        Kind::Comparison => {
            let is_loose = matches!(
                word,
                "over" | "above" | "below" | "under" | "beyond" | "within" | "minimum" | "maximum"
            ) && is_single
                || matches!(
                    (word, &*tokens[end - 1].lower),
                    ("up", "to") | ("inside" | "short", "of")
                );
            (!is_loose || has_number(tokens, end)).then_some(class)
        }
        Kind::Condition if class == "if" => {
            if before == "as" && word == "if" {
                return None;
            }
            let from = start.saturating_sub(ONLY_WITHIN);
            let clause = tokens[start].clause;
            let is_only = tokens[from..start]
                .iter()
                .any(|token| token.clause == clause && token.lower == "only");
            Some(if is_only { "only_if" } else { class })
        }
        Kind::Order => {
            let is_adjective = word == "following" && before == "the"
                || matches!(word, "last" | "first")
                    && matches!(
                        after,
                        "name" | "aid" | "week" | "month" | "year" | "night" | "time"
                    )
                || word == "next" && !tokens[start].starts_sentence
                || word == "once" && matches!(before, "at" | "than")
                || word == "having" && !tokens[start].starts_sentence
                || word == "upon" && !before.is_empty() && !tokens[start].starts_sentence
                || matches!(word, "last" | "lasts") && matches!(after, "for" | "until")
                || word == "then" && matches!(before, "since" | "by");
            (!is_adjective).then_some(class)
        }
        Kind::Quantifier => {
            let is_other = word == "most" && is_single && matches!(before, "at" | "the")
                || word == "some" && is_single && after_number(tokens, end)
                || word == "certain" && matches!(before, "make" | "is" | "be" | "are");
            (!is_other).then_some(class)
        }
        Kind::Modality => {
            let is_noun = word == "will"
                && matches!(before, "the" | "a" | "his" | "her" | "their" | "good")
                || word == "can" && matches!(before, "the" | "a" | "each" | "per")
                || word == "must" && before == "a"
                || word == "needs" && matches!(before, "special" | "their" | "your" | "the")
                || matches!(word, "is" | "are") && (!is_single && start > 0 && before == "there");
            (!is_noun).then_some(class)
        }
        Kind::Negation => {
            // `No. 5` is a number.
            let is_number = word == "no" && after == "." && after_number(tokens, end + 1);
            (!is_number).then_some(class)
        }
        _ => Some(class),
    }
}

/// Whether a number, or a unit, follows within three words.
fn has_number(tokens: &[Token], from: usize) -> bool {
    tokens[from..].iter().take(4).any(|token| {
        token.form == Form::Digits
            || token.is_taken
            || matches!(&*token.lower, "zero" | "freezing" | "age" | "average")
            || SPELLINGS.contains_key(&*token.lower) && token.lower.len() > 2
    })
}

fn after_number(tokens: &[Token], from: usize) -> bool {
    tokens
        .get(from)
        .is_some_and(|token| token.form == Form::Digits)
}
