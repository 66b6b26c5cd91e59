//! The words of doc comments, help included, and the names of types: words that a reader stumbles over stay away.
//!
//! A package is read from the commit on that puts its folder into [`CLEAN`].

use std::fs;
use std::path::{Path, PathBuf};

use crate::single::sources;

/// The folders whose doc comments are read.
const CLEAN: [&str; 2] = ["bins/zer0gravity/src", "crates/zer0gravity-engine/src"];

/// The first words that make a comment hang on the name below it.
const OPENINGS: [&str; 20] = [
    "Another", "How", "It", "Its", "Nobody", "None", "Nothing", "Ours", "So", "Theirs", "They",
    "Those", "What", "When", "Where", "Which", "Who", "Whom", "Whose", "Why",
];

/// The words that two words at least have to begin with.
const ARTICLES: [&str; 6] = ["A", "An", "No", "Returns", "The", "X"];

/// The phrases that are refused anywhere, each with spaces for its bounds.
const PHRASES: [&str; 36] = [
    " anew ",
    " are none ",
    " are told ",
    " behind ",
    " beside ",
    " broke off ",
    " came of ",
    " came to ",
    " come to ",
    " comes of ",
    " comes to ",
    " dearest ",
    " goes on ",
    " go on ",
    " went on ",
    " hears ",
    " is told ",
    " mend ",
    " nobody ",
    " of its own ",
    " of one s own ",
    " of our own ",
    " of their own ",
    " reckon ",
    " reckoned ",
    " reckons ",
    " sets aside ",
    " so many ",
    " so often ",
    " somebody ",
    " standing ",
    " stands ",
    " stood ",
    " takes away ",
    " whoever ",
    " wrapper ",
];

/// Names that left the engine and its program.
const GONE: [&str; 17] = [
    "CallTotals",
    "EncodingCost",
    "EncodingStatistics",
    "goes_on_without",
    "LlmPort",
    "Material",
    "ModelPort",
    "PortError",
    "PortLabel",
    "ReportedEncoding",
    "Triple",
    "known_wrapper_tokens",
    "measure_wrapper",
    "parse_triples",
    "spare",
    "wrapper_tokens",
    "wrapper_tokens_source",
];

/// The words of a line, without text in back-ticks.
fn plain(line: &str) -> String {
    let pieces = line.split('`').enumerate();
    let pieces: Vec<_> = pieces
        .map(|(index, piece)| if index % 2 == 1 { "X" } else { piece })
        .collect();
    pieces.concat()
}

fn words(text: &str) -> Vec<&str> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.filter(|word| !word.is_empty()).collect()
}

/// The fault of a comment's line; `is_first` and `is_last` tell its place in the comment.
fn fault(line: &str, is_first: bool, is_last: bool) -> Option<String> {
    let plain = plain(line);
    let words = words(&plain);
    if let (true, Some(first)) = (is_first, words.first()) {
        if OPENINGS.contains(first) {
            return Some(format!("begins with {first}"));
        }
        let is_short = words.len() < 2 || words.len() == 2 && !ARTICLES.contains(first);
        if is_last && is_short {
            return Some("is not a sentence".to_owned());
        }
    }
    let lower = format!(" {} ", words.join(" ").to_lowercase());
    let phrase = PHRASES.iter().find(|phrase| lower.contains(**phrase));
    let is_no = lower.split_once(" is no ").filter(|(before, rest)| {
        let kept = ["longer", "more", "fewer", "less"];
        !before.ends_with(" there") && !kept.iter().any(|word| rest.starts_with(word))
    });
    match phrase {
        Some(phrase) => Some(format!("has \"{}\"", phrase.trim())),
        None if plain.contains("; none") => Some("has \"; none\"".to_owned()),
        None => is_no.map(|_| "has \"is no\"".to_owned()),
    }
}

/// The faults of a file's doc comments, with their lines.
fn faults(code: &str) -> Vec<String> {
    let text = |line: &str| -> Option<String> {
        let line = line.trim_start();
        let text = line
            .strip_prefix("///")
            .or_else(|| line.strip_prefix("//!"))?;
        Some(text.trim().to_owned())
    };
    let lines: Vec<_> = code.lines().map(text).collect();
    let mut faults = Vec::new();
    let mut is_code = false;
    for (index, line) in lines.iter().enumerate() {
        let Some(line) = line else {
            is_code = false;
            continue;
        };
        if line.starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            let is_first = index == 0 || lines[index - 1].is_none();
            let is_last = lines.get(index + 1).is_none_or(Option::is_none);
            let found = fault(line, is_first, is_last);
            faults.extend(found.map(|fault| format!("{}: {fault}: {line}", index + 1)));
        }
    }
    faults
}

/// The Rust files in `folders`.
fn files(folders: &[&str]) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for folder in folders {
        sources(&root.join(folder), &mut files);
    }
    files
}

#[test]
fn a_comment_that_hangs_on_its_name_is_found() {
    let code = "/// How.\nfn a() {}\n/// Which prompts it gets.\nfn b() {}\n/// The mean; none of nothing.\n/// Whoever asks `nobody`.\nfn c() {}\n";
    let expected = [
        "1: begins with How: How.",
        "3: begins with Which: Which prompts it gets.",
        "5: has \"; none\": The mean; none of nothing.",
        "6: has \"whoever\": Whoever asks `nobody`.",
    ];
    assert_eq!(faults(code), expected);
    let clean = "/// The mean, which is no longer `None`.\n///\n/// ```\n/// nobody\n/// ```\nfn a() {}\n/// The id.\nfn b() {}\n";
    assert_eq!(faults(clean), [""; 0]);
    assert_eq!(faults("/// Seconds.\n"), ["1: is not a sentence: Seconds."]);
}

#[test]
fn doc_comments_stand_alone() {
    let files = files(&CLEAN);
    assert!(files.len() > 100);
    let mut found = Vec::new();
    for file in files {
        let code = fs::read_to_string(&file).unwrap();
        found.extend(
            faults(&code)
                .iter()
                .map(|fault| format!("{}:{fault}", file.display())),
        );
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn renamed_types_are_gone() {
    let folders = ["bins/zer0gravity", "crates/zer0gravity-engine"];
    let mut back = Vec::new();
    for file in files(&folders) {
        let code = fs::read_to_string(&file).unwrap();
        let found = words(&code).into_iter().filter(|word| GONE.contains(word));
        back.extend(found.map(|word| format!("{}: {word}", file.display())));
    }
    assert!(back.is_empty(), "{}", back.join("\n"));
}
