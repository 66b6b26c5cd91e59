//! The words of doc comments, help included, of messages, guides, scripts, settings and descriptions: words that a reader
//! stumbles over stay away (docs/style.md).

use std::fs;
use std::path::{Path, PathBuf};

use crate::js_source;
use crate::packages::root;
use crate::rust_source::{Text, Texts, all_files, files, folders, sources, tokens};

/// The first words that make a comment hang on the name below it.
const OPENINGS: &[&str] = &[
    "Another", "How", "It", "Its", "Nobody", "None", "Nothing", "Ours", "So", "Theirs", "They",
    "Those", "What", "When", "Where", "Which", "Who", "Whom", "Whose", "Why",
];

/// The words that two words at least have to begin with.
const ARTICLES: &[&str] = &["A", "An", "No", "Returns", "Sets", "The", "X"];

/// The words after which "what" and "which" begin no comment.
const PREPOSITIONS: &[&str] = &["At", "By", "For", "From", "In", "Of", "On", "To", "With"];

/// Texts with a refused phrase that stay: the end of the file's path, a part of the text, the reason.
const ALLOWED: &[(&str, &str, &str)] = &[
    (
        "docs/style.md",
        "proposals that are no laws",
        "an example of the rule",
    ),
    (
        "hermitcrab/src/takeover.rs",
        "a line of its own",
        "a block for a model",
    ),
    (
        "prompt/kernel_words.rs",
        "Go on exactly",
        "a prompt, recognised in old records",
    ),
    ("prompt/system.rs", "short greeting beside it", "a prompt"),
];

fn is_allowed(fault: &str) -> bool {
    ALLOWED
        .iter()
        .any(|(file, text, _)| fault.contains(&format!("{file}:")) && fault.contains(text))
}

/// The phrases that are refused anywhere, and what to write instead.
const PHRASES: &[(&str, &str)] = &[
    ("anew", "again"),
    ("are told", "receive"),
    ("behind", "after, or hidden by"),
    ("anybody", "the actor"),
    ("became of", "outcome"),
    ("beside", "next to, or in addition to"),
    ("broke off", "was interrupted"),
    ("came of", "result"),
    ("came to", "result"),
    ("come to", "result"),
    ("comes of", "result"),
    ("comes to", "result"),
    ("dearest", "most expensive"),
    ("goes on", "continues"),
    ("gone on", "continued"),
    ("go on", "continue"),
    ("went on", "continued"),
    ("hears", "is notified"),
    ("is told", "receives"),
    ("is wanted", "is needed"),
    ("mend", "fix"),
    ("mended", "fixed"),
    ("mends", "fixes"),
    ("nobody", "the actor"),
    ("of its own", "separate"),
    ("of one s own", "custom"),
    ("of our own", "custom"),
    ("of their own", "separate"),
    ("reckon", "compute"),
    ("reckoned", "computed"),
    ("reckons", "computes"),
    ("sets aside", "quarantines"),
    ("stranger", "a decoder without context"),
    ("strangers", "those without context"),
    ("so many", "the number of"),
    ("so often", "the number of times"),
    ("somebody", "the actor"),
    ("standing", "status"),
    ("stands", "is"),
    ("stood", "was"),
    ("takes away", "removes"),
    ("takes back", "reverts"),
    ("told of", "notified of"),
    ("whoever", "the actor"),
    ("wrapper", "the noun"),
];

/// Longer phrases in which a refused one is allowed.
const KEPT: &[&str] = &[
    "behind a feature",
    "behind a flag",
    "behind a lock",
    "behind a port",
    "behind a proxy",
    "behind a trait",
    "stands alone",
    "stands for",
    "stands in",
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

/// The paragraphs, list items and rows of a text outside of code, each as one line with the number of its first line.
fn paragraphs(text: &Text) -> Text {
    let mut found = Text::new();
    let (mut is_code, mut is_open) = (false, false);
    for (number, line) in text {
        let line = line.trim().trim_start_matches("* ");
        let is_fence = line.starts_with("```") || line.starts_with("~~~");
        is_code ^= is_fence;
        if line.is_empty() || is_code || is_fence {
            is_open = false;
            continue;
        }
        let number_end = line.find(|c: char| !c.is_ascii_digit()).unwrap_or_default();
        let is_numbered = number_end > 0 && line[number_end..].starts_with(". ");
        let is_item = is_numbered || line.starts_with(['|', '#', '-']);
        match found.last_mut() {
            Some((_, last)) if is_open && !is_item => {
                last.push(' ');
                last.push_str(line);
            }
            _ => found.push((*number, line.to_owned())),
        }
        is_open = true;
    }
    found
}

/// The fault of the way in which a comment begins.
fn opening(comment: &Text) -> Option<String> {
    let plain = plain(&comment.first()?.1);
    let words = words(&plain);
    let first = words.first()?;
    let pair = words.get(..2).unwrap_or_default().join(" ");
    if OPENINGS.contains(first) {
        return Some(format!("begins with {first}"));
    }
    let is_question = words
        .get(1)
        .is_some_and(|word| ["what", "which"].contains(word));
    if is_question && PREPOSITIONS.contains(first) || pair == "That of" {
        return Some(format!("begins with {pair}"));
    }
    let is_short = words.len() < 2 || words.len() == 2 && !ARTICLES.contains(first);
    (is_short && comment.len() == 1).then(|| "is not a sentence".to_owned())
}

/// The refused phrase of a text, and what to write instead.
fn refused(text: &str) -> Option<String> {
    let plain = plain(text);
    let mut lower = format!(" {} ", words(&plain).join(" ").to_lowercase());
    for kept in KEPT {
        lower = lower.replace(&format!(" {kept} "), " ");
    }
    if let Some(none) = ["; none", "; and none"]
        .iter()
        .find(|none| plain.contains(**none))
    {
        return Some(format!("has \"{none}\""));
    }
    let phrase = PHRASES
        .iter()
        .find(|(phrase, _)| lower.contains(&format!(" {phrase} ")));
    if let Some((phrase, instead)) = phrase {
        return Some(format!("has \"{phrase}\" (write: {instead})"));
    }
    for no in [" is no ", " are no ", " was no ", " is none ", " are none "] {
        let kept = ["longer ", "more ", "fewer ", "less ", "of "];
        let mut rest = lower.as_str();
        while let Some((before, after)) = rest.split_once(no) {
            let is_kept =
                before.ends_with(" there") || kept.iter().any(|word| after.starts_with(word));
            if !is_kept {
                return Some(format!("has \"{}\"", no.trim()));
            }
            rest = after;
        }
    }
    None
}

/// The faults of a file's comments, with their lines.
fn comment_faults(texts: &Texts) -> Vec<String> {
    let mut faults = Vec::new();
    for comment in texts.docs.iter().map(paragraphs) {
        let opening = opening(&comment).map(|fault| (comment[0].0, fault, &comment[0].1));
        let phrases = comment.iter();
        let phrases = phrases.filter_map(|(line, text)| Some((*line, refused(text)?, text)));
        let found = opening.into_iter().chain(phrases);
        faults.extend(found.map(|(line, fault, text)| format!("{line}: {fault}: {text}")));
    }
    faults
}

/// The faults of the texts that a file may show. One word is a name.
fn message_faults(texts: &Texts) -> Vec<String> {
    let messages = texts.literals.iter().flat_map(paragraphs);
    let messages = messages.filter(|(_, text)| text.contains(' '));
    let faults =
        messages.filter_map(|(line, text)| Some(format!("{line}: {}: {text}", refused(&text)?)));
    faults.collect()
}

fn page_faults(page: &str) -> Vec<String> {
    let lines = page.lines().enumerate();
    let text: Text = lines
        .map(|(index, line)| (index + 1, line.to_owned()))
        .collect();
    let found = paragraphs(&text).into_iter().filter_map(|(line, text)| {
        let words = words(&plain(&text))
            .join(" ")
            .to_lowercase()
            .replace("hello world", "");
        let world = words
            .split(' ')
            .find(|word| ["world", "worlds"].contains(word));
        let world = world.map(|world| format!("has \"{world}\" (write: tool, or experiment)"));
        Some(format!("{line}: {}: {text}", refused(&text).or(world)?))
    });
    found.collect()
}

/// The faults of a settings file that a package includes: its comments and values.
fn settings_faults(settings: &str) -> Vec<String> {
    page_faults(&settings.replace('#', ""))
}

/// The faults of a script's texts. One word is a name.
fn script_faults(script: &str) -> Vec<String> {
    let texts = js_source::texts(script).into_iter();
    let texts = texts.filter(|(_, text)| text.contains(' '));
    let faults =
        texts.filter_map(|(line, text)| Some(format!("{line}: {}: {text}", refused(&text)?)));
    faults.collect()
}

/// The fault of the line in a manifest that describes its package.
fn description_fault(manifest: &str) -> Option<String> {
    let mut lines = manifest.lines();
    let Some(text) = lines.find_map(|line| line.strip_prefix("description = ")) else {
        return Some("has no description".to_owned());
    };
    let fault = opening(&vec![(1, text.to_owned())]).or_else(|| refused(text))?;
    Some(format!("{fault}: {text}"))
}

fn texts(code: &str) -> Texts {
    Texts::of(code.parse().unwrap())
}

#[test]
fn a_comment_that_hangs_on_its_name_is_found() {
    let code = "/// How.\nfn a() {}\n/// Which prompts it gets.\nfn b() {}\n/// The mean; none of nothing.\n///\n/// Whoever asks `nobody`.\nfn c() {}\n/// From which it comes.\nfn d() {}\n/// A text that goes\n/// on.\nfn e() {}\n/** That of nobody. */\nfn f() {}\n#[doc = \"Texts that are no laws.\"]\nfn g() {}\n";
    let expected = [
        "1: begins with How: How.",
        "3: begins with Which: Which prompts it gets.",
        "5: has \"; none\": The mean; none of nothing.",
        "7: has \"whoever\" (write: the actor): Whoever asks `nobody`.",
        "9: begins with From which: From which it comes.",
        "11: has \"goes on\" (write: continues): A text that goes on.",
        "14: begins with That of: That of nobody.",
        "14: has \"nobody\" (write: the actor): That of nobody.",
        "16: has \"are no\": Texts that are no laws.",
    ];
    assert_eq!(comment_faults(&texts(code)), expected);
    let clean = "/// The mean, which is no longer `None`.\n///\n/// ```\n/// nobody\n/// ```\nfn a() {}\n/// The id.\nfn b() {}\n/// There are no laws.\nfn c() {}\n";
    assert_eq!(comment_faults(&texts(clean)), [""; 0]);
    let short = "/// Seconds.\nfn a() {}";
    assert_eq!(
        comment_faults(&texts(short)),
        ["1: is not a sentence: Seconds."]
    );
}

#[test]
fn messages_are_read_wherever_they_are() {
    for (code, line) in [
        ("#[error(\"{place}: is no law\")]\nstruct A;", 1),
        ("fn f() {\n  println!(\"{} goes on\", a)\n}", 2),
        ("#[arg(help = \"nobody asks\")]\nstruct A;", 1),
        ("const A: &str =\n  \"whoever asks\";", 2),
        ("fn f(a: A) -> &str { match a { _ => \"so many\" } }", 1),
        ("fn f() { out.write_str(\"so \\\n   many\") }", 1),
        ("const A: &str = concat!(\"so \", \"many\");", 1),
        ("macro_rules! m { () => { \"so many\" } }", 1),
    ] {
        let found = message_faults(&texts(code));
        assert!(
            found[..]
                .iter()
                .all(|it| it.starts_with(&format!("{line}: "))),
            "{found:?}"
        );
        assert_eq!(found.len(), 1, "{code}");
    }
    for clean in [
        "there is no law",
        "a model behind a proxy",
        "it stands for more",
        "they are no longer than that",
    ] {
        assert_eq!(refused(clean), None);
    }
}

#[test]
fn a_page_is_read_over_its_line_ends() {
    let page = "Seen by\nso\nmany more.\n\n- It goes\n- on.\n\n```\nnobody\n```\n| a world |\n\n\"Hello world\"\n";
    let expected = [
        "1: has \"so many\" (write: the number of): Seen by so many more.",
        "11: has \"world\" (write: tool, or experiment): | a world |",
    ];
    assert_eq!(page_faults(page), expected);
}

#[test]
fn doc_comments_stand_alone() {
    let (mut found, mut read) = (Vec::new(), 0);
    for path in folders().iter().flat_map(|folder| all_files(folder)) {
        let texts = Texts::of(tokens(&path));
        read += texts.docs.len();
        let faults = comment_faults(&texts).into_iter();
        let faults = faults.map(|fault| format!("{}:{fault}", path.display()));
        found.extend(faults.filter(|fault| !is_allowed(fault)));
    }
    assert!(read > 10_000, "{read} comments");
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn messages_are_plain() {
    let mut found = Vec::new();
    for source in folders().iter().flat_map(|folder| sources(folder)) {
        let path = source.path.display().to_string();
        let faults = message_faults(&Texts::of(source.tokens)).into_iter();
        let faults = faults.map(|fault| format!("{path}:{fault}"));
        found.extend(faults.filter(|fault| !is_allowed(fault)));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// The pages for readers: those of the root, of `docs` and of the packages.
fn pages() -> Vec<PathBuf> {
    let root = root();
    let entries = fs::read_dir(&root)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut pages: Vec<_> = entries
        .filter(|path| path.extension().is_some_and(|kind| kind == "md"))
        .collect();
    pages.extend(files(&root.join("docs"), "md"));
    let names = ["README.md", "DESIGN.md"];
    let folders = folders();
    let of_packages = folders
        .iter()
        .flat_map(|folder| names.map(|name| root.join(folder).join(name)));
    pages.extend(of_packages);
    pages.retain(|page| page.exists());
    assert!(pages.len() > 40, "{pages:?}");
    pages
}

#[test]
fn pages_are_plain() {
    let mut found = Vec::new();
    for page in pages() {
        let faults = page_faults(&fs::read_to_string(&page).unwrap()).into_iter();
        let faults = faults.map(|fault| format!("{}:{fault}", page.display()));
        found.extend(faults.filter(|fault| !is_allowed(fault)));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn scripts_settings_and_descriptions_are_read() {
    let script = "// nobody\nshow('It goes on', `a ${b} is told`, 'mend');";
    let expected = [
        "2: has \"goes on\" (write: continues): It goes on",
        "2: has \"is told\" (write: receives): a X is told",
    ];
    assert_eq!(script_faults(script), expected);
    let settings = "# Seen by\n# nobody.\n\na = 1 # what stands here\nb = \"so many\"\n";
    assert_eq!(settings_faults(settings).len(), 2);
    for (manifest, has_fault) in [
        ("description = \"What every binary needs.\"", true),
        ("description = \"The database behind it.\"", true),
        ("description = \"Read a block.\"", false),
        ("name = \"a\"", true),
    ] {
        assert_eq!(
            description_fault(manifest).is_some(),
            has_fault,
            "{manifest}"
        );
    }
}

#[test]
fn the_texts_of_other_files_are_plain() {
    let (mut found, mut scripts, mut settings) = (Vec::new(), 0, 0);
    for folder in folders() {
        let folder = root().join(folder);
        let mut add = |path: &Path, faults: Vec<String>| {
            let faults = faults.into_iter();
            found.extend(faults.map(|fault| format!("{}:{fault}", path.display())));
        };
        for path in files(&folder.join("src"), "js") {
            scripts += 1;
            add(&path, script_faults(&fs::read_to_string(&path).unwrap()));
        }
        for path in files(&folder.join("src"), "toml") {
            settings += 1;
            add(&path, settings_faults(&fs::read_to_string(&path).unwrap()));
        }
        let path = folder.join("Cargo.toml");
        let fault = description_fault(&fs::read_to_string(&path).unwrap());
        add(&path, fault.into_iter().collect());
    }
    found.retain(|fault| !is_allowed(fault));
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert!(
        scripts > 30 && settings > 0,
        "{scripts} scripts, {settings} settings"
    );
}
