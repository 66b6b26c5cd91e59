//! The instruction of level 3 and its one correct result.

use serde_json::Value;

#[test]
fn the_result_of_level_3_follows_from_its_numbers() {
    let level = include_str!("../../src/test-cases/level-3-procedural.json");
    let level: Value = serde_json::from_str(level).unwrap();
    let case = &level["cases"][0];
    let sentence = case["text"].as_str().unwrap().split('\'').nth(1).unwrap();
    let words: Vec<_> = sentence.split(' ').collect();
    let counts = (1..)
        .zip(&words)
        .map(|(position, word)| position * word.len());
    let letter = char::from(b'A' + (counts.sum::<usize>() % 26) as u8);
    let reversed: Vec<_> = words.into_iter().rev().collect();
    let result = format!("{letter}:{}", reversed.join(" "));
    assert_eq!(case["expectedOutput"], result);
    assert_eq!(result, "U:essence reveals Compression");
}
