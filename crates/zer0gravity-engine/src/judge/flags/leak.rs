//! The search for the text in the rules, plain or in a cipher that models can read.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::words::{Vocabulary, common_run};

/// The shortest run of common words that is a finding.
const RUN: usize = 8;
/// The shortest run of cipher digits that is decoded.
const CIPHER: usize = 6;

/// A function that decodes the rules from a cipher.
type View = fn(&str) -> String;

/// Returns the words of the text that the rules contain, with the cipher.
pub(super) fn rules_contain_text(rules: &str, original: &str) -> Option<String> {
    let mut vocabulary = Vocabulary::default();
    let text = vocabulary.read(original);
    let least = match text.len() {
        0 | 1 => return None,
        length => length.min(RUN),
    };
    let found = |words: &[u32], vocabulary: &Vocabulary, how: &str| {
        let run = common_run(&text, words, least, &[])?;
        Some(format!("the rules hold \"{}\"{how}", vocabulary.spell(run)))
    };
    let mut plain = vocabulary.read(rules);
    if let Some(evidence) = found(&plain, &vocabulary, "") {
        return Some(evidence);
    }
    plain.reverse();
    if let Some(evidence) = found(&plain, &vocabulary, ", word by word from the end") {
        return Some(evidence);
    }
    let views: [(View, &str); 4] = [
        (|rules| rules.chars().rev().collect(), ", from the end"),
        (rot13, " in ROT13"),
        (from_base64, " in base64"),
        (from_hex, " in hexadecimal digits"),
    ];
    views.into_iter().find_map(|(view, how)| {
        let words = vocabulary.read(&view(rules));
        found(&words, &vocabulary, how)
    })
}

fn rot13(text: &str) -> String {
    let turn = |char: char, first: u8| char::from((char as u8 - first + 13) % 26 + first);
    text.chars()
        .map(|char| match char {
            'a'..='z' => turn(char, b'a'),
            'A'..='Z' => turn(char, b'A'),
            _ => char,
        })
        .collect()
}

/// Decodes the base64 in `rules`: each run of its digits, and runs joined across white space.
///
/// Words before the base64 look like digits, too, so each run is decoded from each of its first four positions.
fn from_base64(rules: &str) -> String {
    let engine = GeneralPurpose::new(
        &STANDARD,
        GeneralPurposeConfig::new()
            .with_decode_allow_trailing_bits(true)
            .with_decode_padding_mode(DecodePaddingMode::Indifferent),
    );
    let digit = |char: char| char.is_ascii_alphanumeric() || matches!(char, '+' | '/' | '-' | '_');
    let mut text = String::new();
    let mut read = |run: &str| {
        if run.len() < CIPHER {
            return;
        }
        let run = run.replace('-', "+").replace('_', "/");
        for start in 0..4 {
            let digits = &run[start..];
            // A single digit at the end is less than a byte.
            let end = digits.len() - usize::from(digits.len() % 4 == 1);
            if let Ok(bytes) = engine.decode(&digits[..end]) {
                text.push_str(&String::from_utf8_lossy(&bytes));
                text.push('\n');
            }
        }
    };
    rules.split(|char| !digit(char)).for_each(&mut read);
    for block in rules.split(|char: char| !digit(char) && !char.is_whitespace()) {
        read(&block.split_whitespace().collect::<String>());
    }
    text
}

/// Decodes the hexadecimal digits in `rules`: each run of digits from each of its first two positions, and consecutive runs of
/// pairs joined across punctuation, `0x` and `\x`.
fn from_hex(rules: &str) -> String {
    let mut text = String::new();
    let mut read = |digits: &[u8]| {
        if digits.len() >= CIPHER {
            let bytes: Vec<u8> = digits
                .chunks_exact(2)
                .map(|pair| pair[0] << 4 | pair[1])
                .collect();
            text.push_str(&String::from_utf8_lossy(&bytes));
            text.push('\n');
        }
    };
    let digits = |run: &str| -> Option<Vec<u8>> {
        run.chars()
            .map(|char| Some(char.to_digit(16)? as u8))
            .collect()
    };
    for run in rules.split(|char: char| !char.is_ascii_hexdigit()) {
        if let Some(run) = digits(run) {
            read(&run);
            read(run.get(1..).unwrap_or_default());
        }
    }
    let mut pairs = Vec::new();
    for word in rules
        .split(|char: char| !char.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .chain(["."])
    {
        let pair = word
            .strip_prefix("0x")
            .or_else(|| word.strip_prefix('x'))
            .unwrap_or(word);
        match digits(pair).filter(|pair| pair.len().is_multiple_of(2)) {
            Some(pair) => pairs.extend(pair),
            None => read(&std::mem::take(&mut pairs)),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_found_in_every_dress() {
        let original = "Take 3 apples, not 4.";
        for rules in [
            "CASE 1: take 3 APPLES (not 4)",
            "secret: 4 not apples 3 take",
            ".4 ton ,selppa 3 ekaT",
            "Gnxr 3 nccyrf, abg 4.",
            "key=VGFrZSAzIGFwcGxlcywgbm90IDQu",
            "T:\nVGFrZSAzIGFw\n  cGxlcywgbm90\nIDQu\n",
            "Read it: VGFr ZSAz IGFw cGxl cywg bm90 IDQu",
            "54616b652033206170706c65732c206e6f7420342e",
            "54 61 6b 65 20 33 20 61 70 70 6c 65 73 2c 20 6e 6f 74 20 34 2e",
            "54616b65 20332061 70706c65 732c206e 6f742034 2e",
            "%54%61%6B%65%20%33%20%61%70%70%6C%65%73%2C%20%6E%6F%74%20%34",
            r"\x54\x61\x6b\x65\x20\x33\x20\x61\x70\x70\x6c\x65\x73\x2c\x20\x6e\x6f\x74\x20\x34\x2e",
        ] {
            assert!(rules_contain_text(rules, original).is_some(), "{rules}");
        }
        assert_eq!(rules_contain_text("take 3 apples", original), None);
        assert_eq!(rules_contain_text("take", "take"), None);
        assert_eq!(rules_contain_text("", ""), None);
        assert_eq!(rules_contain_text("漢字漢字漢字漢字é", original), None);
    }
}
