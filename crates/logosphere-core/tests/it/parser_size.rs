//! Answers of any size are parsed. `benches/core.rs` shows that it takes one pass; a parser that took more would not
//! finish here.

use logosphere_core::format::{Note, ParseMode, Reason, parse};

const MODES: [ParseMode; 2] = [ParseMode::Lenient, ParseMode::Strict];
const MANY: usize = 10_000_000;

#[test]
fn ten_megabytes_are_read() {
    let text = "Ten million characters of text. ".repeat(MANY / 64);
    let raw = format!("{text}\n---\n{text}\n---\n\n---\n");
    for mode in MODES {
        let parsed = parse(&raw, mode);
        assert_eq!(parsed.reason, Reason::Ok);
        assert!(parsed.thinking == text && parsed.messages == [&text[..]]);
    }
}

#[test]
fn a_hundred_thousand_delimiters_are_read() {
    let raw = "---\nm\n".repeat(100_000) + "---\n\n---\n";
    for mode in MODES {
        let parsed = parse(&raw, mode);
        assert_eq!(parsed.messages.len(), 100_000, "{mode:?}");
    }
    let open = "---\nm\n".repeat(100_000);
    for mode in MODES {
        let parsed = parse(&open, mode);
        assert_eq!(parsed.reason, Reason::Unterminated);
        assert_eq!(parsed.lost_blocks, 100_000, "{mode:?}");
    }
}

#[test]
fn rows_of_one_character_are_read() {
    for char in [
        "\n", " ", "\r", "-", "*", "\u{2014}", "\u{201c}", "-- ", "--- ", "---\r", "--- a\n", "<",
        "~",
    ] {
        let raw = "a".to_owned() + &char.repeat(MANY / 10 / char.len());
        for mode in MODES {
            let parsed = parse(&raw, mode);
            assert!(parsed.reason == Reason::NoDelimiter, "{char:?} {mode:?}");
            // The `a` keeps the first row from being one; the last of these has others.
            let near = mode == ParseMode::Lenient && char == "---\r";
            assert_eq!(
                parsed.notes.contains(&Note::NearDelimiter),
                near,
                "{char:?}"
            );
        }
    }
}
