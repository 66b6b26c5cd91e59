//! Agents that speak of their task, or will not do it.

use std::sync::LazyLock;

use super::phrases::Phrases;
use super::words::folded_words;

static SELF_TALK: LazyLock<Phrases> =
    LazyLock::new(|| Phrases::read(include_str!("../../data/self_talk_phrases.txt")));
static REFUSAL: LazyLock<Phrases> =
    LazyLock::new(|| Phrases::read(include_str!("../../data/refusal_phrases.txt")));

/// A refusal begins with it.
const BEGINNING: usize = 30;

/// The words with which a line of `text` talks about the task, or its code fence, unless the original has them too.
pub(super) fn self_talk(text: &str, original: &str) -> Option<String> {
    const FENCE: &str = "```";
    let talk = |text: &str| text.lines().find_map(|line| SELF_TALK.at_start(line));
    let fenced = |text: &str| text.contains(FENCE);
    talk(text)
        .filter(|_| talk(original).is_none())
        .or_else(|| (fenced(text) && !fenced(original)).then(|| FENCE.to_owned()))
}

/// The words with which a decoded text refuses, unless the original has them too.
pub(super) fn refusal(decoded: &str, original: &str) -> Option<String> {
    let beginning = |text: &str| -> Vec<String> {
        // Words of any length: a limit on characters keeps a long text from being folded as a whole.
        let start: String = text.chars().take(BEGINNING * 20).collect();
        folded_words(&start).into_iter().take(BEGINNING).collect()
    };
    let words = beginning(decoded);
    let (_, phrase) = REFUSAL.within(&words).next()?;
    let own = REFUSAL.within(&folded_words(original)).next().is_some();
    (!own).then(|| phrase.join(" "))
}
