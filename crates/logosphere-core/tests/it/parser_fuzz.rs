//! Properties of every answer, on a million generated ones in each mode, and against a second parser that is written
//! for

mod plain;

use logosphere_core::format::{End, Parsed, Reason};
use plain::{Plain, ReadRules, delimits, plain};
use proptest::prelude::*;

/// Inputs of the fixed generator in each mode.
const INPUTS: u64 = 1_000_000;

/// The interval of answers that the plain parser also gets.
const COMPARED: u64 = 10;

/// The parts of generated inputs, mostly those that the rules mention.
const PIECES: [&str; 46] = [
    "---\n",
    "---\n",
    "---\n",
    "---\n",
    "---\n",
    "---\n",
    "---\n",
    "---\n",
    "---\n",
    "---\n",
    "---\n",
    "\n",
    "\n",
    "\n",
    "---",
    "--- \n",
    "---\t\r\n",
    "---\r\n",
    "---\r\r\n",
    "\r\n",
    "\r",
    "-",
    "--",
    "----\n",
    " ---\n",
    "***\n",
    "a",
    "text\n",
    "text\r\n",
    " \t",
    "~",
    "~init",
    "~kin\n",
    "\u{feff}",
    "\u{2028}",
    "\u{85}",
    "\u{1c}",
    "\u{3000}",
    "\u{2060}",
    "\u{2014}\n",
    "<think>",
    "</think>\n",
    "é",
    "🌱",
    "\0",
    "~xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
];

/// Writes input number `n` of a mode into `text`.
fn generate(text: &mut String, n: u64, mode: ReadRules) {
    // An xorshift from a well-mixed start: quick, and the same everywhere.
    let mut state = (n * 3 + mode as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut next = || {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32
    };
    text.clear();
    for _ in 0..next() % 16 {
        text.push_str(PIECES[next() as usize % PIECES.len()]);
    }
}

fn fuzz(mode: ReadRules) {
    let mut text = String::new();
    let mut sent = 0;
    for n in 0..INPUTS {
        generate(&mut text, n, mode);
        let parsed = mode.read(&text);
        check(&text, mode, &parsed);
        sent += u64::from(parsed.reason == Reason::Ok);
        if n % COMPARED == 0 {
            let plain = plain(&text, mode);
            assert_eq!(Plain::of(parsed), plain, "{mode:?} {text:?}");
        }
    }
    // Inputs without messages would show little.
    assert!(sent > INPUTS / 20, "{sent}");
}

#[test]
fn lenient() {
    fuzz(ReadRules::Lenient);
}

#[test]
fn strict() {
    fuzz(ReadRules::Strict);
}

#[test]
fn reference() {
    fuzz(ReadRules::Reference);
}

proptest! {
    #[test]
    fn any_text_is_read(
        text in prop_oneof![
            ".{0,60}",
            "(\\PC|[\r\n]|-{3}\n){0,40}",
            prop::collection::vec(prop::sample::select(&PIECES[..]), 0..60).prop_map(|pieces| pieces.concat()),
        ],
    ) {
        for mode in [ReadRules::Lenient, ReadRules::Strict, ReadRules::Reference] {
            let parsed = mode.read(&text);
            check(&text, mode, &parsed);
            prop_assert_eq!(Plain::of(parsed), plain(&text, mode), "{:?}", mode);
        }
    }
}

/// Asserts what holds for every answer.
fn check(raw: &str, mode: ReadRules, parsed: &Parsed) {
    let shown = || format!("{mode:?} {raw:?} {parsed:?}");
    let spans = &parsed.spans;
    let stamp = if parsed.signature.is_empty() {
        String::new()
    } else {
        format!("\n\n{}", parsed.signature)
    };
    // Messages are blocks in order, byte for byte.
    assert!(parsed.messages.len() <= spans.blocks.len(), "{}", shown());
    for (message, block) in parsed.messages.iter().zip(&spans.blocks) {
        let text = message.strip_suffix(&stamp).unwrap();
        assert_eq!(text, &raw[block.clone()], "{}", shown());
        assert!(!is_blank(text), "{}", shown());
        let held = message
            .split_inclusive('\n')
            .any(|line| delimits(line, mode));
        assert!(!held, "{}", shown());
    }
    if let Some(place) = &spans.signature {
        assert_eq!(&raw[place.clone()], parsed.signature, "{}", shown());
    }
    let thinking = &raw[spans.thinking.clone()];
    if mode == ReadRules::Reference && parsed.end == End::None {
        // Its reader ends every text with a line feed.
        assert_eq!(
            thinking.trim_end_matches('\n'),
            parsed.thinking.trim_end_matches('\n')
        );
    } else {
        assert_eq!(thinking, parsed.thinking, "{}", shown());
    }
    // What stands between the spans is delimiter lines and line ends.
    let mut behind = 0;
    let end = raw.len()..raw.len();
    let parts = [&spans.thinking].into_iter().chain(&spans.blocks);
    for part in parts.chain(spans.rest.as_ref()).chain([&end]) {
        assert!(
            behind <= part.start && part.start <= part.end,
            "{}",
            shown()
        );
        let gap = &raw[behind..part.start];
        let marks = gap.matches("---").count();
        assert!(
            gap.replacen("---", "", marks)
                .chars()
                .all(|char| "\n\r \t".contains(char)),
            "{}",
            shown()
        );
        behind = part.end;
    }
    assert_eq!(parsed.completed, parsed.end != End::None, "{}", shown());
    assert_eq!(parsed.completed, spans.rest.is_some(), "{}", shown());
    assert!(parsed.notes.is_sorted(), "{}", shown());
    let lost = (parsed.lost_blocks, parsed.lost_chars);
    match parsed.reason {
        Reason::Ok => assert!(
            parsed.completed && !parsed.messages.is_empty(),
            "{}",
            shown()
        ),
        Reason::Silence => assert!(
            parsed.completed && parsed.messages.is_empty(),
            "{}",
            shown()
        ),
        Reason::EmptyOutput => assert!(is_blank(raw) && lost == (0, 0), "{}", shown()),
        Reason::NoDelimiter => assert_eq!(lost, (1, raw.chars().count() as u64), "{}", shown()),
        Reason::Unterminated => assert_eq!(lost.0 == 0, lost.1 == 0, "{}", shown()),
        other => panic!("no text has the reason {other:?}"),
    }
    if parsed.completed {
        assert_eq!(lost, (0, 0), "{}", shown());
    }
}

fn is_blank_char(char: char) -> bool {
    char.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&char)
}

fn is_blank(text: &str) -> bool {
    text.chars().all(is_blank_char)
}
