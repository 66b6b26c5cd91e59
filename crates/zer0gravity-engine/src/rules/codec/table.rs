//! A table of replacements, searched in a text.

use std::collections::HashMap;

use crate::text::words::is_apostrophe;

/// Pieces of text and their replacements, as a case-insensitive trie. If a piece has several entries, the first one counts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table {
    edges: HashMap<(u32, char), u32>,
    /// The target of each node; `None` where no piece ends, as at the root.
    targets: Vec<Option<Box<str>>>,
}

impl Table {
    pub fn insert(&mut self, piece: &str, target: &str) {
        if self.targets.is_empty() {
            self.targets.push(None);
        }
        let mut node = 0;
        for char in piece.chars() {
            let next = self.targets.len() as u32;
            node = *self.edges.entry((node, lower(char))).or_insert(next);
            if node == next {
                self.targets.push(None);
            }
        }
        self.targets[node as usize].get_or_insert_with(|| target.into());
    }

    /// Returns the length and the replacement of the longest piece that stands alone at `at` in `text`.
    ///
    /// A piece does not stand alone if it begins or ends inside a word or a number. A sign does not stand alone between letters or
    /// digits.
    pub fn longest_at<'t>(
        &'t self,
        text: &str,
        at: usize,
        is_letter: impl Fn(char) -> bool + Copy,
    ) -> Option<(usize, &'t str)> {
        let mut node = 0;
        let mut longest = None;
        for (offset, char) in text[at..].char_indices() {
            let Some(&next) = self.edges.get(&(node, lower(char))) else {
                break;
            };
            node = next;
            let end = at + offset + char.len_utf8();
            if let Some(target) = &self.targets[node as usize]
                && stands_alone(text, at, end, is_letter)
            {
                longest = Some((end - at, &**target));
            }
        }
        longest
    }
}

/// Returns the lower case of a character if it is one character, otherwise the character itself.
fn lower(char: char) -> char {
    let mut lower = char.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(only), None) => only,
        _ => char,
    }
}

fn stands_alone(
    text: &str,
    at: usize,
    end: usize,
    is_letter: impl Fn(char) -> bool + Copy,
) -> bool {
    let outside = (text[..at].chars().next_back(), text[end..].chars().next());
    let inside = (
        text[at..end].chars().next(),
        text[at..end].chars().next_back(),
    );
    let is = |char: Option<char>, kind: &dyn Fn(char) -> bool| char.is_some_and(kind);
    let solid = |char: char| is_letter(char) || char.is_numeric();
    let both_digits = |a, b| is(a, &char::is_numeric) && is(b, &char::is_numeric);
    let sign = !is(inside.0, &solid) && !is(inside.1, &solid);
    !(in_word(text, at, is_letter)
        || in_word(text, end, is_letter)
        || both_digits(outside.0, inside.0)
        || both_digits(inside.1, outside.1)
        || (sign && is(outside.0, &solid) && is(outside.1, &solid)))
}

/// Whether `at` is inside a word: between two letters, or next to an apostrophe between letters.
fn in_word(text: &str, at: usize, is_letter: impl Fn(char) -> bool + Copy) -> bool {
    let mut before = text[..at].chars().rev();
    let mut after = text[at..].chars();
    let (last, next) = (before.next(), after.next());
    let letter = |char: Option<char>| char.is_some_and(is_letter);
    let apostrophe = |char: Option<char>| char.is_some_and(is_apostrophe);
    (letter(last) && letter(next))
        || (letter(last) && apostrophe(next) && letter(after.next()))
        || (apostrophe(last) && letter(before.next()) && letter(next))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at<'t>(table: &'t Table, text: &str, at: usize) -> Option<(usize, &'t str)> {
        table.longest_at(text, at, char::is_alphabetic)
    }

    #[test]
    fn the_longest_piece_by_itself_is_found() {
        let mut table = Table::default();
        for (piece, target) in [
            ("for", "4"),
            ("for example", "eg"),
            ("=", "is"),
            ("don", "x"),
            ("4", "four"),
            ("for", "no"),
        ] {
            table.insert(piece, target);
        }
        assert_eq!(at(&table, "For example", 0), Some((11, "eg")));
        assert_eq!(at(&table, "for examples", 0), Some((3, "4")));
        assert_eq!(at(&table, "forty for", 0), None);
        assert_eq!(at(&table, "forty for", 6), Some((3, "4")));
        assert_eq!(at(&table, "don't", 0), None);
        assert_eq!(at(&table, "a=b", 1), None);
        assert_eq!(at(&table, "a =b", 2), Some((1, "is")));
        assert_eq!(at(&table, "44", 0), None);
        assert_eq!(at(&table, "", 0), None);
        assert_eq!(at(&Table::default(), "for", 0), None);
    }
}
