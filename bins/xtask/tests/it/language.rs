//! The words of doc comments, help included, of messages and of guides: words that a reader stumbles over stay away (docs/style.md).

use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};

use crate::modules::is_test;
use crate::single::sources;

/// The folders with pages for readers.
const PAGES: &[&str] = &["", "docs", "docs/decisions"];

/// The first words that make a comment hang on the name below it.
const OPENINGS: &[&str] = &[
    "Another", "How", "It", "Its", "Nobody", "None", "Nothing", "Ours", "So", "Theirs", "They",
    "Those", "What", "When", "Where", "Which", "Who", "Whom", "Whose", "Why",
];

/// The words that two words at least have to begin with.
const ARTICLES: &[&str] = &["A", "An", "No", "Returns", "The", "X"];

/// The phrases that are refused anywhere, and what to write instead.
const PHRASES: &[(&str, &str)] = &[
    ("anew", "again"),
    ("are none", "there are no"),
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
    ("go on", "continue"),
    ("went on", "continued"),
    ("hears", "is notified"),
    ("is told", "receives"),
    ("is wanted", "is needed"),
    ("mend", "fix"),
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
    ("so many", "the number of"),
    ("so often", "the number of times"),
    ("somebody", "the actor"),
    ("standing", "status"),
    ("stands", "is"),
    ("stood", "was"),
    ("takes away", "removes"),
    ("takes back", "reverts"),
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
    refused(line)
}

/// The refused phrase of a line, and what to write instead.
fn refused(line: &str) -> Option<String> {
    let plain = plain(line);
    let mut lower = format!(" {} ", words(&plain).join(" ").to_lowercase());
    for kept in KEPT {
        lower = lower.replace(&format!(" {kept} "), " ");
    }
    let phrase = PHRASES
        .iter()
        .find(|(phrase, _)| lower.contains(&format!(" {phrase} ")));
    let is_no = lower.split_once(" is no ").filter(|(before, rest)| {
        let kept = ["longer", "more", "fewer", "less"];
        !before.ends_with(" there") && !kept.iter().any(|word| rest.starts_with(word))
    });
    match phrase {
        Some((phrase, instead)) => Some(format!("has \"{phrase}\" (write: {instead})")),
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

/// The Rust files of all packages whose path in the package begins with `within`.
fn files(within: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for group in ["bins", "crates"] {
        for package in fs::read_dir(root.join(group)).unwrap() {
            let name = package.unwrap().file_name();
            sources(&root.join(group).join(name).join(within), &mut files);
        }
    }
    assert!(files.len() > 300);
    files
}

#[test]
fn a_comment_that_hangs_on_its_name_is_found() {
    let code = "/// How.\nfn a() {}\n/// Which prompts it gets.\nfn b() {}\n/// The mean; none of nothing.\n/// Whoever asks `nobody`.\nfn c() {}\n";
    let expected = [
        "1: begins with How: How.",
        "3: begins with Which: Which prompts it gets.",
        "5: has \"; none\": The mean; none of nothing.",
        "6: has \"whoever\" (write: the actor): Whoever asks `nobody`.",
    ];
    assert_eq!(faults(code), expected);
    let clean = "/// The mean, which is no longer `None`.\n///\n/// ```\n/// nobody\n/// ```\nfn a() {}\n/// The id.\nfn b() {}\n";
    assert_eq!(faults(clean), [""; 0]);
    assert_eq!(faults("/// Seconds.\n"), ["1: is not a sentence: Seconds."]);
}

#[test]
fn doc_comments_stand_alone() {
    let mut found = Vec::new();
    for file in files("") {
        let code = fs::read_to_string(&file).unwrap();
        found.extend(
            faults(&code)
                .iter()
                .map(|fault| format!("{}:{fault}", file.display())),
        );
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Collects the texts that a program shows: `#[error]`, formatted text, and what is handed to `Failure`, `Section` or a notice.
#[derive(Default)]
struct Messages(Vec<String>);

impl Messages {
    fn add(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => self.add(group.stream()),
                TokenTree::Literal(literal) => {
                    let text = syn::parse_str::<syn::LitStr>(&literal.to_string());
                    let text = text.map(|text| text.value()).unwrap_or_default();
                    if text.trim().contains(' ') {
                        self.0.push(text);
                    }
                }
                _ => {}
            }
        }
    }

    fn add_texts<'a>(&mut self, arguments: impl Iterator<Item = &'a syn::Expr>) {
        for argument in arguments {
            if let syn::Expr::Lit(literal) = argument
                && let syn::Lit::Str(text) = &literal.lit
            {
                self.0.push(text.value());
            }
        }
    }
}

impl<'ast> Visit<'ast> for Messages {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !is_test(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        if attribute.path().is_ident("error")
            && let syn::Meta::List(list) = &attribute.meta
        {
            self.add(list.tokens.clone());
        }
    }

    fn visit_macro(&mut self, it: &'ast syn::Macro) {
        let name = it.path.segments.last().map(|last| last.ident.to_string());
        let shown = [
            "eprint", "eprintln", "format", "print", "println", "write", "writeln",
        ];
        if name.is_some_and(|name| shown.contains(&name.as_str())) {
            self.add(it.tokens.clone());
        }
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        if let syn::Expr::Path(function) = &*call.func
            && let Some(first) = function.path.segments.first()
            && ["Failure", "Section"].contains(&first.ident.to_string().as_str())
        {
            self.add_texts(call.args.iter());
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        if ["note", "notice", "warn"].contains(&call.method.to_string().as_str()) {
            self.add_texts(call.args.iter());
        }
        visit::visit_expr_method_call(self, call);
    }
}

fn messages(code: &str) -> Vec<String> {
    let mut found = Messages::default();
    found.visit_file(&syn::parse_file(code).unwrap());
    found.0
}

#[test]
fn messages_are_read_where_they_are_shown() {
    let code = r#"
        #[error("{place}: is no law")]
        struct A;
        fn f() {
            println!("{} goes on", "so many");
            Failure::usage("nobody asks");
            session.notice("whoever asks");
            let prompt = "nobody reads this";
        }
        #[cfg(test)]
        mod tests {
            fn g() { println!("nobody reads this"); }
        }"#;
    let expected = [
        "{place}: is no law",
        "{} goes on",
        "so many",
        "nobody asks",
        "whoever asks",
    ];
    assert_eq!(messages(code), expected);
    assert!(expected.iter().all(|text| refused(text).is_some()));
    for clean in [
        "there is no law",
        "a model behind a proxy",
        "it stands for more",
    ] {
        assert_eq!(refused(clean), None);
    }
}

#[test]
fn messages_are_plain() {
    let mut found = Vec::new();
    for file in files("src") {
        let code = fs::read_to_string(&file).unwrap();
        for text in messages(&code) {
            let fault = refused(&text).map(|fault| format!("{}: {fault}: {text}", file.display()));
            found.extend(fault);
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// The Markdown files of [`PAGES`], by their paths in the repository.
fn pages() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let names = PAGES.iter().flat_map(|folder| {
        let entries = fs::read_dir(root.join(folder)).unwrap();
        entries.map(move |entry| format!("{folder}/{}", entry.unwrap().file_name().display()))
    });
    let pages = names.map(|name| name.trim_start_matches('/').to_owned());
    let pages = pages.filter(|name| Path::new(name).extension().is_some_and(|kind| kind == "md"));
    pages.collect()
}

#[test]
fn pages_are_plain() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    for page in pages() {
        let text = fs::read_to_string(root.join(&page)).unwrap();
        let mut is_code = false;
        for (index, line) in text.lines().enumerate() {
            if line.trim_start().starts_with("```") {
                is_code = !is_code;
            } else if !is_code && let Some(fault) = refused(line) {
                found.push(format!("{page}:{}: {fault}: {line}", index + 1));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
