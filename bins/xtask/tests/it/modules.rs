//! The modules of a crate and the arrows between its files.
//!
//! A *module* is `src/x.rs` or `src/x/`; `lib.rs`, `main.rs` and `error.rs` do not count. An *arrow* goes from a file to what it
//! names by `crate::` or `super::`, by another name of these, and through re-exports. Names in macros and attributes count, too.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::ext::IdentExt as _;

use crate::rust_source::{Source, is_mark, is_word, sources};

/// A file of a crate: its module path and the paths that it names, each from the crate's root.
pub struct File {
    pub path: Vec<String>,
    names: BTreeSet<Vec<String>>,
    /// The paths that a name is short for.
    imports: BTreeMap<String, BTreeSet<Vec<String>>>,
    globs: BTreeSet<Vec<String>>,
    /// Constructs that the reader cannot follow.
    unreadable: BTreeSet<String>,
}

/// A crate as its files.
pub struct Modules {
    pub files: Vec<File>,
    /// The place of each file in `files`.
    places: BTreeMap<Vec<String>, usize>,
}

/// Collects the paths of a file.
#[derive(Default)]
struct Names {
    /// The paths of two words at least, those that begin with `super` or `self` from the root.
    found: BTreeSet<Vec<String>>,
    imports: BTreeMap<String, BTreeSet<Vec<String>>>,
    globs: BTreeSet<Vec<String>>,
    unreadable: BTreeSet<String>,
    is_use: bool,
    is_attribute: bool,
}

/// The path from the root, which begins with `crate`. A path that begins with another name stays as it is.
fn from_root(path: &[String], module: &[String]) -> Vec<String> {
    if !["crate", "self", "super"].contains(&path[0].as_str()) {
        return path.to_vec();
    }
    let mut full = module.to_vec();
    for word in path {
        match word.as_str() {
            "crate" => full.clear(),
            "self" => {}
            "super" => drop(full.pop()),
            _ => full.push(word.clone()),
        }
    }
    full.insert(0, "crate".to_owned());
    full
}

impl Names {
    fn read(&mut self, tokens: TokenStream, module: &[String]) {
        let tokens: Vec<_> = tokens.into_iter().collect();
        let mut place = 0;
        while let Some(token) = tokens.get(place) {
            let after = tokens.get(place + 1);
            let is_inner = match after {
                Some(TokenTree::Ident(name)) if is_word(Some(token), "mod") => Some(name),
                _ => None,
            };
            if let (Some(name), Some(TokenTree::Group(body))) = (is_inner, tokens.get(place + 2)) {
                self.read(
                    body.stream(),
                    &[module, &[name.unraw().to_string()]].concat(),
                );
                place += 3;
                continue;
            }
            match token {
                TokenTree::Ident(word) if word == "use" => self.is_use = true,
                TokenTree::Ident(word) if word == "include" && is_mark(after, '!') => {
                    self.unreadable.insert("includes a file".to_owned());
                }
                // `extern crate self as name`
                TokenTree::Ident(word) if word == "extern" && is_word(after, "crate") => {
                    if let Some(TokenTree::Ident(name)) = tokens.get(place + 4) {
                        let root = BTreeSet::from([vec!["crate".to_owned()]]);
                        self.imports.insert(name.unraw().to_string(), root);
                    }
                    place += 2;
                }
                TokenTree::Ident(_) => {
                    place = self.path(&tokens, place, &[], module);
                    continue;
                }
                TokenTree::Group(_) if place > 0 && is_word(tokens.get(place - 1), "use") => {
                    self.path(&tokens, place, &[], module);
                }
                TokenTree::Group(group) => {
                    let is_attribute = group.delimiter() == Delimiter::Bracket
                        && (is_mark(place.checked_sub(1).and_then(|it| tokens.get(it)), '#')
                            || is_mark(place.checked_sub(2).and_then(|it| tokens.get(it)), '#'));
                    let text = group.stream().to_string();
                    if is_attribute && text.starts_with("path ") {
                        self.unreadable
                            .insert(format!("has a module by its {text}"));
                    }
                    let is_doc = is_attribute && text.starts_with("doc");
                    let outer = (self.is_use, self.is_attribute);
                    (self.is_use, self.is_attribute) = (false, is_attribute || outer.1);
                    if !is_doc {
                        self.read(group.stream(), module);
                    }
                    (self.is_use, self.is_attribute) = outer;
                }
                // A path in a text, as in `serde(with = "crate::x")`.
                TokenTree::Literal(text) if self.is_attribute => {
                    let text = syn::parse_str::<syn::LitStr>(&text.to_string());
                    let inside = text.ok().and_then(|text| text.value().parse().ok());
                    self.read(inside.unwrap_or_default(), module);
                }
                TokenTree::Punct(mark) if mark.as_char() == ';' => self.is_use = false,
                _ => {}
            }
            place += 1;
        }
    }

    /// Reads a path, or a tree of paths, that begins at `place`; returns the place after it.
    fn path(
        &mut self,
        tokens: &[TokenTree],
        mut place: usize,
        before: &[String],
        module: &[String],
    ) -> usize {
        let mut path = before.to_vec();
        loop {
            match tokens.get(place) {
                Some(TokenTree::Ident(word)) => path.push(word.unraw().to_string()),
                Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                    let inside: Vec<_> = group.stream().into_iter().collect();
                    for tree in inside.split(|token| is_mark(Some(token), ',')) {
                        self.path(tree, 0, &path, module);
                    }
                    return place + 1;
                }
                Some(TokenTree::Punct(mark)) if mark.as_char() == '*' && !path.is_empty() => {
                    self.globs.insert(from_root(&path, module));
                    return place + 1;
                }
                _ => break,
            }
            place += 1;
            if !is_mark(tokens.get(place), ':') || !is_mark(tokens.get(place + 1), ':') {
                break;
            }
            place += 2;
        }
        if path.len() > 1 && path.last().is_some_and(|word| word == "self") {
            path.pop();
        }
        let Some(last) = path.last() else {
            return place;
        };
        let mut name = last.clone();
        if self.is_use
            && is_word(tokens.get(place), "as")
            && let Some(TokenTree::Ident(other)) = tokens.get(place + 1)
        {
            name = other.unraw().to_string();
            place += 2;
        }
        let full = from_root(&path, module);
        if self.is_use {
            self.imports.entry(name).or_default().insert(full.clone());
        }
        if path.len() > 1 {
            self.found.insert(full);
        }
        place
    }

    /// The paths that `path` leads to by the names of the file, each from the root.
    fn resolve(&self, path: &[String], depth: usize, found: &mut BTreeSet<Vec<String>>) {
        if path[0] == "crate" {
            found.insert(path[1..].to_vec());
        } else if depth > 0 {
            for full in self.imports.get(&path[0]).into_iter().flatten() {
                self.resolve(&[full, &path[1..]].concat(), depth - 1, found);
            }
        }
    }
}

/// The number of names that may be short for one another.
const DEPTH: usize = 8;

impl File {
    fn new(source: &Source) -> Self {
        let mut names = Names::default();
        names.read(source.tokens.clone(), &source.module);
        let mut found = BTreeSet::new();
        for path in &names.found {
            names.resolve(path, DEPTH, &mut found);
        }
        let mut globs = BTreeSet::new();
        for path in &names.globs {
            names.resolve(path, DEPTH, &mut globs);
            // A child, or another crate.
            if path[0] != "crate" {
                globs.insert([&source.module, &path[..]].concat());
            }
        }
        found.retain(|path| !path.is_empty());
        Self {
            path: source.module.clone(),
            names: found,
            imports: names.imports,
            globs,
            unreadable: names.unreadable,
        }
    }
}

impl Modules {
    /// Reads the package in a folder of the workspace.
    pub fn read(folder: &str) -> Self {
        Self::new(&sources(folder))
    }

    pub fn new(sources: &[Source]) -> Self {
        let files: Vec<_> = sources.iter().map(File::new).collect();
        let places = files.iter().enumerate();
        let places = places.map(|(place, file)| (file.path.clone(), place));
        Self {
            places: places.collect(),
            files,
        }
    }

    /// The constructs that the reader cannot follow, one line each: by house rule there are none.
    pub fn unreadable(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (from, file) in self.files.iter().enumerate() {
            let globs = file.globs.iter().filter(|path| {
                let mut found = BTreeSet::new();
                self.targets(path, 0, &mut found);
                found.iter().any(|to| *to != from)
            });
            let globs = globs.map(|path| format!("has a glob of crate::{}", path.join("::")));
            let faults = globs.chain(file.unreadable.iter().cloned());
            lines.extend(faults.map(|fault| format!("{} {fault}", file.path.join("::"))));
        }
        lines
    }

    /// The files that a path from the root leads to: the file that it names, and those of a name that it re-exports.
    fn targets(&self, path: &[String], depth: usize, found: &mut BTreeSet<usize>) {
        let prefixes = (0..=path.len()).rev();
        let mut named = prefixes.filter_map(|end| Some((end, *self.places.get(&path[..end])?)));
        let Some((end, file)) = named.next() else {
            return;
        };
        found.insert(file);
        let Some(name) = path.get(end).filter(|_| depth > 0) else {
            return;
        };
        for full in self.files[file].imports.get(name).into_iter().flatten() {
            let full = match full[0].as_str() {
                "crate" => full[1..].to_vec(),
                _ => [&path[..end], full].concat(),
            };
            if full != path[..=end] {
                self.targets(&[&full, &path[end + 1..]].concat(), depth - 1, found);
            }
        }
    }

    /// The arrows between files, as indices; the root has none.
    pub fn arrows(&self) -> BTreeSet<(usize, usize)> {
        let mut arrows = BTreeSet::new();
        for (from, file) in self.files.iter().enumerate() {
            let mut found = BTreeSet::new();
            for path in &file.names {
                self.targets(path, DEPTH, &mut found);
            }
            found.retain(|to| *to != from && !self.files[*to].path.is_empty());
            if !file.path.is_empty() {
                arrows.extend(found.into_iter().map(|to| (from, to)));
            }
        }
        arrows
    }

    /// The module of a file. `None` for the root and for `error.rs`.
    pub fn module(&self, file: usize) -> Option<&str> {
        let module = self.files[file].path.first()?.as_str();
        (module != "error").then_some(module)
    }

    pub fn modules(&self) -> BTreeSet<&str> {
        (0..self.files.len())
            .filter_map(|file| self.module(file))
            .collect()
    }
}
