//! ROUGE-L: the F1-score of the longest common subsequence of words.

use std::collections::HashMap;

/// Words of the first text that one pass over the second takes on: four machine words, so that the processor has
/// something to do while a carry travels.
const STRIP: usize = 256;
type Strip = [u64; STRIP / 64];

/// ROUGE-L F1 of one pair of texts, 0 to 1, as rouge-score 0.1.2 gives it without its stemmer.
///
/// Words are runs of a-z and 0-9 of the lower-case text; a text without words gives 0. Texts of m and n words take
/// time m n / 64 and memory m + n: two texts of 1 MiB with words of English length about half a second, the worst two
/// (1 MiB of one-letter words each) about four.
///
/// ```
/// let score = zer0gravity_engine::metrics::rouge_l("Take 3 apples, not 4.", "Take 3 pears, not 5.");
/// assert!((score - 0.6).abs() < 1e-9);
/// ```
pub fn rouge_l(reference: &str, hypothesis: &str) -> f64 {
    let mut ids = HashMap::new();
    let [reference, hypothesis] = [reference, hypothesis].map(|text| words(text, &mut ids));
    if reference.is_empty() || hypothesis.is_empty() {
        return 0.0;
    }
    let common = common_length(&reference, &hypothesis, ids.len()) as f64;
    let precision = common / hypothesis.len() as f64;
    let recall = common / reference.len() as f64;
    if precision + recall > 0.0 {
        2.0 * precision * recall / (precision + recall)
    } else {
        0.0
    }
}

/// The words of `text` as numbers from `ids`.
fn words(text: &str, ids: &mut HashMap<String, u32>) -> Vec<u32> {
    let mut all = Vec::new();
    let mut word = String::new();
    // Lower case may be several characters, and some of them ASCII: the Kelvin sign gives `k`.
    let lower = text.chars().flat_map(char::to_lowercase);
    for char in lower.chain([' ']) {
        if char.is_ascii_lowercase() || char.is_ascii_digit() {
            word.push(char);
        } else if !word.is_empty() {
            let next = ids.len() as u32;
            let id = match ids.get(&word) {
                Some(&id) => id,
                None => *ids.entry(word.clone()).or_insert(next),
            };
            all.push(id);
            word.clear();
        }
    }
    all
}

/// The length of a longest common subsequence; all words are below `kinds`.
fn common_length(a: &[u32], b: &[u32], kinds: usize) -> usize {
    let same = |(x, y): &(&u32, &u32)| x == y;
    let before = a.iter().zip(b).take_while(same).count();
    let (a, b) = (&a[before..], &b[before..]);
    let behind = a.iter().rev().zip(b.iter().rev()).take_while(same).count();
    let (a, b) = (&a[..a.len() - behind], &b[..b.len() - behind]);
    let (shorter, longer) = if a.len() < b.len() { (a, b) } else { (b, a) };
    before + behind + common_in_strips(shorter, longer, kinds)
}

/// The bit-parallel algorithm, column of words by column of words: bit i of a column is 0 when the table of the plain
/// algorithm grows there by one. Between two columns only a carry travels, one bit for each word of `longer`.
fn common_in_strips(shorter: &[u32], longer: &[u32], kinds: usize) -> usize {
    let mut places = vec![Strip::default(); kinds];
    let mut carries = vec![false; longer.len()];
    let mut common = 0;
    for strip in shorter.chunks(STRIP) {
        for (i, &word) in strip.iter().enumerate() {
            places[word as usize][i / 64] |= 1 << (i % 64);
        }
        let mut column = Strip::map(Strip::default(), |_| u64::MAX);
        for (&word, carry) in longer.iter().zip(&mut carries) {
            let places = &places[word as usize];
            for (bits, &place) in column.iter_mut().zip(places) {
                let (sum, over) = bits.carrying_add(*bits & place, *carry);
                *carry = over;
                *bits = sum | (*bits & !place);
            }
        }
        // Bits behind the end of the last strip have no places and stay 1, a carry apart, which only falls through
        // ones: look at none of them.
        common += (0..strip.len())
            .filter(|i| column[i / 64] >> (i % 64) & 1 == 0)
            .count();
        for &word in strip {
            places[word as usize] = Strip::default();
        }
    }
    common
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of the textbook.
    fn plain(a: &[u32], b: &[u32]) -> usize {
        let mut row = vec![0; b.len() + 1];
        for x in a {
            let mut corner = 0;
            for (j, y) in b.iter().enumerate() {
                let above = row[j + 1];
                row[j + 1] = if x == y {
                    corner + 1
                } else {
                    above.max(row[j])
                };
                corner = above;
            }
        }
        row[b.len()]
    }

    #[test]
    fn words_are_ascii_after_lowering() {
        let mut ids = HashMap::new();
        assert_eq!(words("\u{212a}elvin naïve", &mut ids), [0, 1, 2]);
        let mut all: Vec<_> = ids.into_keys().collect();
        all.sort();
        assert_eq!(all, ["kelvin", "na", "ve"]);
    }

    #[test]
    fn without_words_there_is_nothing_in_common() {
        for (a, b) in [("", ""), ("a", ""), ("", "a"), ("…", "…"), ("a", "b")] {
            assert_eq!(rouge_l(a, b).to_bits(), 0);
        }
    }

    proptest::proptest! {
        #[test]
        fn strips_give_what_the_table_gives(
            a in proptest::collection::vec(0_u32..5, 0..600),
            b in proptest::collection::vec(0_u32..5, 0..300),
        ) {
            proptest::prop_assert_eq!(common_length(&a, &b, 5), plain(&a, &b));
        }
    }
}
