//! Answers that are signed as the seeds are, as the parser reads them.

use logosphere_core::format::{Note, ParseMode, Reason, parse, parse_signed};

use super::parse_vectors::vectors;

fn signed(signature: &str) -> String {
    format!("thoughts\n---\none\n---\nzwölf\n---\n\n---\n{signature}\n")
}

#[test]
fn it_is_kept_and_noted_by_default() {
    let parsed = parse(&signed("~init"), ParseMode::Lenient);
    assert_eq!(parsed.messages, ["one\n\n~init", "zwölf\n\n~init"]);
    assert_eq!(parsed.signature, "~init");
    assert_eq!(parsed.reason, Reason::Ok);
    assert_eq!(parsed.notes, [Note::ImpersonatesInit]);
}

#[test]
fn discarding_sends_nothing_and_keeps_all_else() {
    let kept = parse(&signed("~init"), ParseMode::Lenient);
    let mut expected = kept.clone();
    expected.messages = Vec::new();
    expected.reason = Reason::Impersonation;
    expected.lost_blocks = 2;
    expected.lost_chars = 3 + 5;
    assert!(expected.completed);
    assert_eq!(kept.discard_impersonation(), expected);
}

#[test]
fn similar_names_and_inline_stamps_are_never_discarded() {
    for name in ["~INIT", "~init.", "~initial", "~Init", "~in", "~init init"] {
        let parsed = parse(&signed(name), ParseMode::Lenient);
        assert_eq!(parsed.signature, name);
        assert_eq!(parsed.notes, []);
        assert_eq!(parsed.clone().discard_impersonation(), parsed);
    }
    let inline = parse("---\nm\n\n~init\n---\n---\n", ParseMode::Lenient);
    assert_eq!(inline.notes, [Note::ImitatesSeedStamp]);
    assert_eq!(inline.clone().discard_impersonation(), inline);
    // Signed otherwise, a text does not end as a seed does.
    let other = parse("---\nm\n\n~init\n---\n---\n~kin", ParseMode::Lenient);
    assert_eq!(other.notes, []);
}

#[test]
fn the_signature_is_that_of_the_run() {
    let parsed = parse_signed(&signed("~seed"), ParseMode::Lenient, "~seed");
    assert_eq!(parsed.notes, [Note::ImpersonatesInit]);
    let parsed = parse_signed(&signed("~init"), ParseMode::Lenient, "~seed");
    assert_eq!(parsed.notes, []);
    let parsed = parse_signed("---\nm\n~seed\r\r\n---\n---\n", ParseMode::Lenient, "~seed");
    assert_eq!(parsed.notes, [Note::ImitatesSeedStamp]);
}

#[test]
fn strict_answers_have_no_signature() {
    let parsed = parse(&signed("~init"), ParseMode::Strict);
    assert_eq!(parsed.messages, ["one", "zwölf"]);
    assert_eq!(parsed.clone().discard_impersonation(), parsed);
}

#[test]
fn every_vector_that_is_noted_can_be_discarded() {
    let file = vectors("parse_vectors.json");
    let mut noted = 0;
    for vector in file["vectors"].as_array().unwrap() {
        let kept = parse(vector["input"].as_str().unwrap(), ParseMode::Lenient);
        let discarded = kept.clone().discard_impersonation();
        if kept.notes.contains(&Note::ImpersonatesInit) {
            noted += 1;
            assert_eq!(discarded.reason, Reason::Impersonation);
            assert_eq!(discarded.messages, [""; 0]);
            assert_eq!(discarded.completed, kept.completed);
            assert_eq!(discarded.lost_blocks, kept.messages.len() as u64);
        } else {
            assert_eq!(discarded, kept);
        }
    }
    assert_eq!(noted, 3);
}

#[test]
fn a_cut_answer_that_has_no_end_is_truncated() {
    for (text, reason) in [
        ("no delimiter", Reason::Truncated),
        ("---\nopen", Reason::Truncated),
        ("", Reason::EmptyOutput),
        ("---\nm\n---\n---\n", Reason::Ok),
        ("---\n\n---\n", Reason::Silence),
    ] {
        let whole = parse(text, ParseMode::Lenient);
        let cut = whole.clone().truncated();
        assert_eq!(cut.reason, reason, "{text:?}");
        let mut as_before = cut;
        as_before.reason = whole.reason;
        assert_eq!(as_before, whole);
    }
}
