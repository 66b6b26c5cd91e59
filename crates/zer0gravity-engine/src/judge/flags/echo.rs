//! The search for words of the prompt or of the rules in an encoded or decoded text.

use super::words::{Vocabulary, common_run};

/// The shortest repetition of the prompt that is a finding, in words.
const PROMPT_RUN: usize = 6;
/// The shortest repetition of the rules that is a finding, in words. The decoder has the rules in its prompt.
const RULES_RUN: usize = 8;

/// Returns the words of the encoder's prompt that the encoding repeats, with or without vowels, unless the original has them.
pub(super) fn prompt_echo(encoding: &str, prompt: &str, original: &str) -> Option<String> {
    let readers: [fn(&mut Vocabulary, &str) -> Vec<u32>; 2] =
        [Vocabulary::read, Vocabulary::read_skeletons];
    readers
        .into_iter()
        .find_map(|read| echo(prompt, encoding, original, PROMPT_RUN, read))
}

/// Returns the words of the rules that `text` repeats, unless the original has them.
pub(super) fn rules_echo(text: &str, rules: &str, original: &str) -> Option<String> {
    echo(rules, text, original, RULES_RUN, Vocabulary::read)
}

fn echo(
    source: &str,
    text: &str,
    original: &str,
    least: usize,
    read: fn(&mut Vocabulary, &str) -> Vec<u32>,
) -> Option<String> {
    let mut vocabulary = Vocabulary::default();
    let source = read(&mut vocabulary, source);
    let text = read(&mut vocabulary, text);
    let original = read(&mut vocabulary, original);
    common_run(&text, &source, least, &original).map(|run| vocabulary.spell(run))
}
