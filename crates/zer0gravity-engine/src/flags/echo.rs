//! Words of the prompt or of the rules in what should be words of the text.

use super::words::{Vocabulary, common_run};

/// So many words of the prompt are no accident.
const PROMPT_RUN: usize = 6;
/// So many words of the rules are none either; the decoder has them before its eyes.
const RULES_RUN: usize = 8;

/// What the encoding repeats of the encoder's prompt, as it is or without vowels. Runs that the original has are the text's own.
pub(super) fn prompt_echo(encoding: &str, prompt: &str, original: &str) -> Option<String> {
    let readers: [fn(&mut Vocabulary, &str) -> Vec<u32>; 2] =
        [Vocabulary::read, Vocabulary::read_skeletons];
    readers
        .into_iter()
        .find_map(|read| echo(prompt, encoding, original, PROMPT_RUN, read))
}

/// What `text` repeats of the rules.
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
