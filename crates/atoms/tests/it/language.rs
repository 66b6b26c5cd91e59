//! Texts for which the lists do not fit.

use atoms::{Kind, Language, compare};

use crate::english;

const GERMAN: &str = "Der Vermieter verlangt bis zum 2024-05-12 eine Kaution von 1,240 Euro, und die Wohnung PX-204 darf nicht betreten \
    werden, solange die Heizung bei 40 °C steht und niemand den Schlüssel abgeholt hat.";
const CHINESE: &str = "请在 2024-05-12 之前支付 1,240 元，房间 PX-204 的温度不得超过 40 °C。";
const CODE: &str = "let total = items.iter().map(price).sum(); let mean = total / count; assert_eq(mean, expected); loop { step(index, \
    value); index += 12; flush(buffer); emit(signal, payload); return total; }";

#[test]
fn only_what_needs_no_words_is_found() {
    for (text, items) in [(GERMAN, 4), (CHINESE, 4), (CODE, 1)] {
        let atoms = english(text);
        assert_eq!(atoms.language(), Language::Unsupported, "{text}");
        let found: Vec<_> = atoms
            .all()
            .iter()
            .map(|atom| (atom.kind, &text[atom.span.clone()]))
            .collect();
        assert!(found.len() >= items, "{found:?}");
        let is_item = |kind: Kind| matches!(kind, Kind::Identifier | Kind::Date | Kind::Number);
        assert!(found.iter().all(|(kind, _)| is_item(*kind)), "{found:?}");
    }
}

#[test]
fn items_are_compared_all_the_same() {
    let comparison = compare(
        &english(GERMAN),
        &english(&GERMAN.replace("1,240", "1,420")),
    );
    assert_eq!(comparison.findings().len(), 2);
    assert_eq!(comparison.recall(Kind::Negation), None);
    assert_eq!(comparison.recall(Kind::Name), None);
    assert_eq!(comparison.recall(Kind::Identifier).unwrap().kept, 1);
}

#[test]
fn short_texts_count_as_english() {
    assert_eq!(english("Stop.").language(), Language::English);
    assert_eq!(english("").language(), Language::English);
}
