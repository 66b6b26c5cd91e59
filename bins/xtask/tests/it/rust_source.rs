//! The Rust sources of the workspace, read without a compiler: their files, comments, texts and code without tests.
//!
//! Everything is read from tokens, so that a macro, an attribute and a block comment count like any other code.

use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use syn::ext::IdentExt as _;

use crate::packages::root;

/// A file of a package that is compiled for its users, without what is compiled for tests alone.
pub struct Source {
    /// The module path: `["journal", "read"]` for `src/journal/read.rs`, empty for the root.
    pub module: Vec<String>,
    pub path: PathBuf,
    pub tokens: TokenStream,
    pub file: syn::File,
}

impl Source {
    pub fn new(module: Vec<String>, path: &Path, code: &str) -> Self {
        let tokens = without_tests(parse(path, code));
        let file = syn::parse2(tokens.clone())
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self {
            module,
            path: path.to_owned(),
            tokens,
            file,
        }
    }

    /// A file that is not on the disk, with its module path as `journal/read`.
    pub fn sample(module: &str, code: &str) -> Self {
        let parts = module.split('/').filter(|part| !part.is_empty());
        Self::new(parts.map(str::to_owned).collect(), Path::new(module), code)
    }
}

fn parse(path: &Path, code: &str) -> TokenStream {
    code.parse()
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The tokens of a file with its tests.
pub fn tokens(path: &Path) -> TokenStream {
    parse(path, &fs::read_to_string(path).unwrap())
}

/// The folders of all packages, as `crates/NAME` and `bins/NAME`.
pub fn folders() -> Vec<String> {
    let groups = ["bins", "crates"].into_iter().flat_map(|group| {
        let entries = fs::read_dir(root().join(group)).unwrap();
        entries.map(move |entry| format!("{group}/{}", entry.unwrap().file_name().display()))
    });
    let mut folders: Vec<_> = groups.collect();
    folders.retain(|folder| root().join(folder).join("src").is_dir());
    assert!(folders.len() >= 15, "{folders:?}");
    folders.sort();
    folders
}

/// The name of the package in a folder of [`folders`].
pub fn package(folder: &str) -> &str {
    folder.rsplit('/').next().unwrap_or(folder)
}

/// The files under `folder` with this extension, in their order.
pub fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|kind| kind == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The Rust files of a package with its tests, examples and benches.
pub fn all_files(folder: &str) -> Vec<PathBuf> {
    files(&root().join(folder), "rs")
}

/// The files of a package that are reached from its root by modules which are not for tests.
pub fn sources(folder: &str) -> Vec<Source> {
    let src = root().join(folder).join("src");
    let mut found = Vec::new();
    for name in ["lib.rs", "main.rs"] {
        if src.join(name).exists() {
            read(&src.join(name), &src, &[], &mut found);
        }
    }
    found
}

/// Reads a file and, from `folder`, the files of its modules.
fn read(path: &Path, folder: &Path, module: &[String], found: &mut Vec<Source>) {
    let code = fs::read_to_string(path).unwrap();
    let source = Source::new(module.to_vec(), path, &code);
    let children = children(&source.tokens);
    found.push(source);
    for child in children {
        let (inner, name) = (folder.join(child.join("/")), child.last().unwrap());
        let mut places = [inner.with_extension("rs"), inner.join("mod.rs")].into_iter();
        let place = places.find(|place| place.exists());
        let place = place.unwrap_or_else(|| panic!("{}: no file of {name}", path.display()));
        read(&place, &inner, &[module, &child].concat(), found);
    }
}

/// The paths of the modules in other files, those that are declared inside of modules or in a macro included.
fn children(tokens: &TokenStream) -> Vec<Vec<String>> {
    let tokens: Vec<_> = tokens.clone().into_iter().collect();
    let mut found = Vec::new();
    for (place, token) in tokens.iter().enumerate() {
        let before = |back: usize| place.checked_sub(back).and_then(|place| tokens.get(place));
        let is_module = is_word(before(2), "mod");
        match (token, before(1)) {
            (TokenTree::Punct(mark), Some(TokenTree::Ident(name)))
                if is_module && mark.as_char() == ';' =>
            {
                found.push(vec![name.unraw().to_string()]);
            }
            (TokenTree::Group(group), Some(TokenTree::Ident(name))) if is_module => {
                let inner = children(&group.stream()).into_iter();
                found.extend(inner.map(|path| [&[name.unraw().to_string()], &path[..]].concat()));
            }
            (TokenTree::Group(group), _) => found.extend(children(&group.stream())),
            _ => {}
        }
    }
    found
}

/// The name of an item that is neither a `use` nor an implementation, and its visibility.
pub fn named(item: &syn::Item) -> Option<(&syn::Ident, &syn::Visibility)> {
    match item {
        syn::Item::Struct(it) => Some((&it.ident, &it.vis)),
        syn::Item::Enum(it) => Some((&it.ident, &it.vis)),
        syn::Item::Union(it) => Some((&it.ident, &it.vis)),
        syn::Item::Trait(it) => Some((&it.ident, &it.vis)),
        syn::Item::Type(it) => Some((&it.ident, &it.vis)),
        syn::Item::Fn(it) => Some((&it.sig.ident, &it.vis)),
        syn::Item::Const(it) => Some((&it.ident, &it.vis)),
        syn::Item::Static(it) => Some((&it.ident, &it.vis)),
        syn::Item::Mod(it) => Some((&it.ident, &it.vis)),
        _ => None,
    }
}

pub fn is_mark(token: Option<&TokenTree>, mark: char) -> bool {
    matches!(token, Some(TokenTree::Punct(it)) if it.as_char() == mark)
}

pub fn is_word(token: Option<&TokenTree>, word: &str) -> bool {
    matches!(token, Some(TokenTree::Ident(it)) if it == word)
}

/// The tokens between the brackets of an attribute that begins at `start`, and the place after it.
fn attribute(tokens: &[TokenTree], start: usize) -> Option<(TokenStream, usize)> {
    let inner = usize::from(is_mark(tokens.get(start + 1), '!'));
    match tokens.get(start + 1 + inner) {
        Some(TokenTree::Group(group))
            if is_mark(tokens.get(start), '#') && group.delimiter() == Delimiter::Bracket =>
        {
            Some((group.stream(), start + 2 + inner))
        }
        _ => None,
    }
}

/// Whether an attribute keeps an item for tests alone.
fn is_for_tests(attribute: &TokenStream) -> bool {
    let text = attribute.to_string().replace(' ', "");
    text == "test" || text == "cfg(test)" || text.starts_with("cfg(all(test,")
}

/// The tokens without the items, fields and statements that are compiled for tests alone.
fn without_tests(tokens: TokenStream) -> TokenStream {
    let tokens: Vec<_> = tokens.into_iter().collect();
    let (mut kept, mut place, mut attributes_from) = (Vec::new(), 0, None);
    while place < tokens.len() {
        let Some((inside, after)) = attribute(&tokens, place) else {
            kept.push(match &tokens[place] {
                TokenTree::Group(group) => {
                    let mut inner = Group::new(group.delimiter(), without_tests(group.stream()));
                    inner.set_span(group.span());
                    inner.into()
                }
                other => other.clone(),
            });
            attributes_from = None;
            place += 1;
            continue;
        };
        let is_inner = is_mark(tokens.get(place + 1), '!');
        if !is_for_tests(&inside) {
            let from = attributes_from.unwrap_or(kept.len());
            attributes_from = (!is_inner).then_some(from);
            kept.extend_from_slice(&tokens[place..after]);
            place = after;
        } else if is_inner {
            return TokenStream::new();
        } else {
            kept.truncate(attributes_from.take().unwrap_or(kept.len()));
            place = after_item(&tokens, after);
        }
    }
    kept.into_iter().collect()
}

/// The place after the item that begins at `place`: after a body, a semicolon, or the comma after a field.
fn after_item(tokens: &[TokenTree], mut place: usize) -> usize {
    let (mut angles, mut has_where) = (0_i32, false);
    while let Some(token) = tokens.get(place) {
        place += 1;
        match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                return place
                    + usize::from(
                        is_mark(tokens.get(place), ';') || is_mark(tokens.get(place), ','),
                    );
            }
            TokenTree::Ident(word) => has_where |= word == "where",
            TokenTree::Punct(mark) => match mark.as_char() {
                ';' => return place,
                ',' if angles == 0 && !has_where => return place,
                '<' => angles += 1,
                '>' if !is_mark(tokens.get(place.wrapping_sub(2)), '-') => angles -= 1,
                _ => {}
            },
            _ => {}
        }
    }
    place
}

/// A comment of documentation or a text of the code, as lines with their numbers in the file.
pub type Text = Vec<(usize, String)>;

/// The texts of a stream.
#[derive(Default)]
pub struct Texts {
    /// `///`, `//!`, `/** */` and `#[doc = ".."]`; those in a row are one.
    pub docs: Vec<Text>,
    /// All other string literals; `concat!` is one.
    pub literals: Vec<Text>,
}

impl Texts {
    pub fn of(tokens: TokenStream) -> Self {
        let mut this = Self::default();
        this.add(tokens);
        this
    }

    fn add(&mut self, tokens: TokenStream) {
        let tokens: Vec<_> = tokens.into_iter().collect();
        let (mut place, mut end_of_doc) = (0, usize::MAX);
        while place < tokens.len() {
            if let Some((inside, after)) = attribute(&tokens, place) {
                let inside: Vec<_> = inside.into_iter().collect();
                if let Some(value) = doc(&inside) {
                    let text = text(value);
                    match self.docs.last_mut() {
                        Some(last) if end_of_doc == place => last.extend(text),
                        _ => self.docs.push(text),
                    }
                    let is_same =
                        is_mark(tokens.get(place + 1), '!') == is_mark(tokens.get(after + 1), '!');
                    end_of_doc = if is_same { after } else { usize::MAX };
                } else {
                    self.add(inside.into_iter().collect());
                }
                place = after;
                continue;
            }
            match &tokens[place] {
                TokenTree::Ident(word)
                    if word == "concat" && is_mark(tokens.get(place + 1), '!') =>
                {
                    self.literals.push(text(&tokens[place..place + 3]));
                    place += 2;
                }
                // `cfg_attr(feature = "x", doc = "..")`
                TokenTree::Ident(_) if doc(&tokens[place..]).is_some() => {
                    self.docs.push(text(&tokens[place + 2..=place + 2]));
                    place += 2;
                }
                TokenTree::Literal(_) => self.literals.push(text(&tokens[place..=place])),
                TokenTree::Group(group) => self.add(group.stream()),
                _ => {}
            }
            place += 1;
        }
        self.literals
            .retain(|text| text.iter().any(|(_, line)| !line.is_empty()));
    }
}

/// The value of `doc = value`.
fn doc(tokens: &[TokenTree]) -> Option<&[TokenTree]> {
    let is_doc = is_word(tokens.first(), "doc") && is_mark(tokens.get(1), '=');
    is_doc.then(|| &tokens[2..])
}

/// The lines of the string literals in tokens, put together.
fn text(tokens: &[TokenTree]) -> Text {
    let Some(first) = tokens.first() else {
        return Text::new();
    };
    let mut whole = String::new();
    join(tokens.iter().cloned(), &mut whole);
    let line = first.span().start().line;
    let lines = whole.split('\n').enumerate();
    lines
        .map(|(index, text)| (line + index, text.to_owned()))
        .collect()
}

fn join(tokens: impl Iterator<Item = TokenTree>, whole: &mut String) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => join(group.stream().into_iter(), whole),
            TokenTree::Literal(literal) => match syn::Lit::new(literal) {
                syn::Lit::Str(text) => whole.push_str(&text.value()),
                syn::Lit::ByteStr(text) => whole.push_str(&String::from_utf8_lossy(&text.value())),
                _ => {}
            },
            // The name in `stringify!(name)`.
            TokenTree::Ident(word) if word != "concat" && word != "stringify" => whole.push('X'),
            _ => {}
        }
    }
}

#[test]
fn code_for_tests_is_left_out() {
    let code = "
        /// A.
        #[cfg(test)] use a::{B, C};
        #[cfg(all(test, unix))] impl<T, U> D for E<T, U> where T: F, U: G { fn f() {} }
        struct H { #[cfg(test)] i: Vec<u8>, j: u8 }
        /// K.
        #[test] fn k() {}
        #[cfg(test)] mod l;
        #[cfg(not(test))] mod m {}
        fn n() { #[cfg(test)] o(); p() }";
    let kept = Source::sample("", code).tokens.to_string();
    let expected = "struct H { j : u8 } # [cfg (not (test))] mod m { } fn n () { p () }";
    assert_eq!(kept, expected);
    let kept = Source::sample("", "#![cfg(test)]\nfn a() {}").tokens;
    assert!(kept.is_empty());
}

#[test]
fn modules_in_other_files_are_found() {
    let code =
        "mod a; #[cfg(test)] mod b; mod r#c { pub(super) mod r#d; mod e {} } m! { pub mod f; }";
    assert_eq!(
        children(&Source::sample("", code).tokens),
        [&["a"][..], &["c", "d"], &["f"]]
    );
}

#[test]
fn every_kind_of_text_is_read() {
    let code = r##"//! Root.

/// One
/// more.
#[derive(A)]
#[doc = "Two."]
/** Three
 four. */
fn f() {
    x.write_str("five");
    m!(r#"six"#, b"seven");
}
#[cfg_attr(x, doc = "Eight.")]
#[arg(help = "nine")]
const C: &str = concat!("ten ", "eleven");
macro_rules! m { () => { /// Twelve.
    fn g() {} } }"##;
    let texts = Texts::of(parse(Path::new(""), code));
    let docs: Vec<_> = texts
        .docs
        .iter()
        .map(|text| (text[0].0, join_lines(text)))
        .collect();
    let expected = [
        (1, " Root."),
        (3, " One  more."),
        (6, "Two.  Three  four. "),
        (13, "Eight."),
        (16, " Twelve."),
    ];
    assert_eq!(docs, expected.map(|(line, text)| (line, text.to_owned())));
    let literals: Vec<_> = texts.literals.iter().map(join_lines).collect();
    assert_eq!(literals, ["five", "six", "seven", "nine", "ten eleven"]);
}

fn join_lines(text: &Text) -> String {
    let lines: Vec<_> = text.iter().map(|(_, line)| line.as_str()).collect();
    lines.join(" ")
}
