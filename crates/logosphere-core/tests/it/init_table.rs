//! Every row of the table of `init.md` that its bytes decide.

use logosphere_core::config::{Init, InitError, InitWarning, parse_init};
use logosphere_core::format::ParseMode;
use logosphere_core::pool::{Origin, Pool, Retention};
use proptest::prelude::*;

const MODES: [ParseMode; 2] = [ParseMode::Lenient, ParseMode::Strict];
const WHOLE: &str = "My notes.\n---\nOne.\n---\n\n  Two,\nin two lines. \n---\n\n---\n~init\n";

fn read(file: impl AsRef<[u8]>) -> Result<Init, InitError> {
    let both = MODES.map(|mode| parse_init(file.as_ref(), mode, "~init"));
    assert_eq!(both[0], both[1]);
    let [lenient, _] = both;
    lenient
}

/// The lines that the error says to add, after asserting that they help.
#[track_caller]
fn lines(file: &str) -> (String, Vec<String>) {
    let error = read(file).unwrap_err();
    let fix = error.fix().unwrap();
    let fixed = fix.apply(file);
    assert!(read(&fixed).is_ok(), "{fixed:?}");
    let message = error.to_string();
    assert!(message.ends_with(&fix.lines.join("\n")), "{message}");
    (message, fix.lines.clone())
}

#[test]
fn seeds_are_read_as_a_mind_writes() {
    let init = read(WHOLE).unwrap();
    assert_eq!(init.notes, "My notes.");
    assert_eq!(init.seeds, ["One.", "\n  Two,\nin two lines. "]);
    assert_eq!(init.signature, "~init");
    assert_eq!(init.warnings, []);
    let stored: Vec<_> = init.stored(true).collect();
    assert_eq!(stored[0], "One.\n\n~init");
    assert_eq!(init.stored(false).collect::<Vec<_>>(), init.seeds);
}

#[test]
fn marks_and_line_ends_of_files_are_accepted() {
    let expected = read(WHOLE).unwrap();
    let crlf = WHOLE.replace('\n', "\r\n");
    for file in [
        format!("\u{feff}{WHOLE}"),
        crlf.clone(),
        format!("\u{feff}{crlf}"),
        WHOLE.replacen("---\n", "---\r\n", 2),
        WHOLE.replace("lines. \n", "lines. \r\n"),
    ] {
        assert_eq!(read(&file).unwrap(), expected, "{file:?}");
    }
    // Only the first mark belongs to the file, and a lone CR is text.
    let init = read("\u{feff}\u{feff}\n---\na\rb\n---\n---\n~init").unwrap();
    assert_eq!(init.notes, "\u{feff}");
    assert_eq!(init.seeds, ["a\rb"]);
}

#[test]
fn other_encodings_are_named() {
    for (mark, name) in [
        (&b"\xff\xfe"[..], "UTF-16 (little-endian)"),
        (b"\xfe\xff", "UTF-16 (big-endian)"),
        (b"\xff\xfe\0\0", "UTF-32 (little-endian)"),
        (b"\0\0\xfe\xff", "UTF-32 (big-endian)"),
    ] {
        let error = read([mark, b"-\0-\0"].concat()).unwrap_err();
        assert_eq!(error, InitError::Encoding { encoding: name });
        assert_eq!(
            error.to_string(),
            format!("the file is {name}; save it as UTF-8")
        );
    }
}

#[test]
fn a_wrong_byte_is_named_with_its_line() {
    for (file, offset, line) in [
        (&b"ab\ncd\n\xffe"[..], 6, 3),
        (b"\xef\xbb\xbf\n\xc3", 4, 2),
        (b"\x80", 0, 1),
    ] {
        let error = read(file).unwrap_err();
        assert_eq!(error, InitError::InvalidUtf8 { offset, line });
        let message = error.to_string();
        assert!(message.contains(&format!("byte {offset}")), "{message}");
        assert!(message.contains(&format!("line {line}")), "{message}");
    }
}

#[test]
fn a_missing_end_comes_with_the_lines_to_add() {
    let (message, found) = lines("notes\n---\nOne.\n---\nTwo.");
    assert_eq!(found, ["---", "", "---", "~init"]);
    assert_eq!(
        message,
        "no blank message ends the seeds; after a line feed, which the last line \"Two.\" lacks, add these lines:\n---\n\n---\n~init"
    );
    // The last message is closed already.
    let (_, found) = lines("---\nOne.\n---\n");
    assert_eq!(found, ["---", "~init"]);
    // It is signed, but nothing ends it.
    let (message, found) = lines("---\nOne.\n---\n~init\n");
    assert_eq!(found, ["---"]);
    assert!(message.contains("after line 3"), "{message}");
    let (message, found) = lines("---\nOne.\n\n~init\n");
    assert_eq!(found, ["---", "", "---"]);
    assert!(message.contains("after line 3"), "{message}");
    // There is not even a beginning.
    for file in ["", "only notes"] {
        let (message, found) = lines(file);
        assert_eq!(found.len(), 6);
        assert!(message.contains("no line `---`"), "{message}");
    }
}

#[test]
fn a_missing_signature_comes_with_the_lines_to_add() {
    let (message, found) = lines("---\nOne.\n---\n\n---\n");
    assert_eq!(found, ["~init"]);
    assert!(message.contains("at line 5"), "{message}");
    // An adjacent pair ends the list as well.
    assert_eq!(lines("---\nOne.\n---\n---").1, ["~init"]);
    assert_eq!(lines("---\nOne.\n---\n---\n\n\n").1, ["~init"]);
    // Other text makes way.
    let (message, found) = lines("---\nOne.\n---\n\n---\nHave fun!\n");
    assert_eq!(found, ["~init", "---"]);
    assert!(message.contains("after line 5"), "{message}");
    // A signature behind another delimiter line is none.
    assert_eq!(lines("---\nOne.\n---\n\n---\n---\n~init").1, ["~init"]);
    for no_signature in [
        "~",
        "init",
        "~in\nit",
        "~in\tit",
        &format!("~{}", "x".repeat(32)),
    ] {
        let file = format!("---\nOne.\n---\n---\n{no_signature}\n");
        assert!(
            matches!(read(&file), Err(InitError::NoSignature { .. })),
            "{file}"
        );
    }
}

#[test]
fn another_signature_comes_with_the_line_to_write() {
    for other in ["~INIT", "~init.", "~initial", "~i"] {
        let file = format!("---\nOne.\n---\n\n---\n  {other}\n");
        let (message, found) = lines(&file);
        assert_eq!(found, ["~init"]);
        assert!(message.contains("in place of line 6"), "{message}");
        assert!(message.contains(&format!("{other:?}")), "{message}");
        let init = parse_init(file.as_bytes(), ParseMode::Lenient, other);
        assert_eq!(init.unwrap().signature, other);
    }
    let init = read("---\nOne.\n---\n---\n \u{3000}~init\u{1f} \n").unwrap();
    assert_eq!(init.seeds, ["One."]);
}

#[test]
fn zero_seeds_need_a_setting() {
    for file in ["---\n\n---\n~init", "---\n---\n~init\n"] {
        let init = read(file).unwrap();
        assert_eq!(init.seeds, [""; 0]);
        assert_eq!(init.clone().check(15, false), Err(InitError::ZeroSeeds));
        assert_eq!(init.clone().check(15, true), Ok(init));
    }
}

#[test]
fn text_behind_the_signature_is_ignored_with_a_warning() {
    let init = read(format!("{WHOLE}---\n\n ---\n{}\n", "ä".repeat(50))).unwrap();
    assert_eq!(init.seeds.len(), 2);
    let [warning] = &init.warnings[..] else {
        panic!("{:?}", init.warnings);
    };
    let start = format!("---\n{}", "ä".repeat(36));
    let expected = InitWarning::TextAfterSignature { line: 14, start };
    assert_eq!(*warning, expected);
    assert!(warning.to_string().contains("at line 14"), "{warning}");
    // Delimiter lines and white space are no text.
    assert_eq!(
        read(format!("{WHOLE}---\n \n---\n\n")).unwrap().warnings,
        []
    );
    // What follows in the same block is no signature.
    assert!(read(format!("{WHOLE}and more")).is_err());
}

#[test]
fn equal_seeds_and_more_than_can_be_seen_are_accepted_with_warnings() {
    let init = read("---\na\n---\nb\n---\na\n---\nb\n---\n\n---\n~init").unwrap();
    assert_eq!(init.seeds, ["a", "b", "a", "b"]);
    assert_eq!(
        init.warnings,
        [InitWarning::EqualSeeds {
            pair: [1, 3],
            repeats: 2
        }]
    );
    assert_eq!(init.clone().check(4, false).unwrap(), init);
    let init = init.check(3, false).unwrap();
    let warning = &init.warnings[1];
    assert_eq!(
        *warning,
        InitWarning::MoreSeedsThanActive {
            seeds: 4,
            active: 3
        }
    );
    assert!(
        warning.to_string().contains("the oldest 1 never"),
        "{warning}"
    );
    assert!(
        !read("---\na\n---\na \n---\n---\n~init")
            .unwrap()
            .warnings
            .iter()
            .any(|_| true)
    );
}

#[test]
fn modes_differ_where_answers_do() {
    let padded = b"--- \nOne.\n--- \n---\n~init";
    let lenient = parse_init(padded, ParseMode::Lenient, "~init").unwrap();
    assert_eq!(lenient.seeds, ["One."]);
    let strict = parse_init(padded, ParseMode::Strict, "~init");
    assert!(matches!(strict, Err(InitError::NoEnd { .. })), "{strict:?}");
    // A CR that only the stamp turns into a line's end.
    let file = b"---\na\n---\r\r\r\n---\n---\n~init";
    let error = parse_init(file, ParseMode::Strict, "~init");
    assert_eq!(error, Err(InitError::Delimiter { seed: 1 }));
}

proptest! {
    #[test]
    fn the_lines_to_add_always_help(
        parts in prop::collection::vec(
            prop::sample::select(vec!["---", "--- ", "", " ", "text", "~init", "~other", "~"]), 0..12
        ),
        last_feed: bool,
        strict: bool,
    ) {
        let mode = MODES[usize::from(strict)];
        let file = parts.join("\n") + if last_feed { "\n" } else { "" };
        if let Err(error) = parse_init(file.as_bytes(), mode, "~init") {
            let fixed = error.fix().unwrap().apply(&file);
            let init = parse_init(fixed.as_bytes(), mode, "~init");
            prop_assert!(init.is_ok(), "{error}\n{fixed:?}\n{init:?}");
        }
    }

    #[test]
    fn whatever_is_read_can_enter_the_pool(
        parts in prop::collection::vec("-{3}[ \r]{0,2}|\r{0,3}|[a~\u{feff}\u{2028}]{0,3}\r?", 0..12),
        stamp: bool,
        strict: bool,
    ) {
        let mode = MODES[usize::from(strict)];
        let file = parts.join("\n") + "\n---\nx\n---\n---\n~init\n";
        if let Ok(init) = parse_init(file.as_bytes(), mode, "~init") {
            let mut pool = Pool::new(5, Retention::All).mode(mode);
            for seed in init.stored(stamp) {
                prop_assert!(pool.add(&seed, Origin::Seed).is_ok(), "{seed:?}");
            }
        }
    }
}
