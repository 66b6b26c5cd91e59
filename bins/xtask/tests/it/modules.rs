//! The modules of a crate and the arrows between its files, read from the sources without a compiler.
//!
//! A *module* is `src/x.rs` or `src/x/`; `lib.rs`, `main.rs` and `error.rs` do not count. An *arrow* goes from a file to what it
//! names by `crate::` or `super::`, through the re-exports of the root; tests are left out. A name in a macro counts, too.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};

use crate::single::sources;

/// A file of a crate: its module path (`["journal", "read"]` for `journal/read.rs`) and the paths that it names, each
/// from the crate's root.
pub struct File {
    pub path: Vec<String>,
    pub names: BTreeSet<Vec<String>>,
    pub lines: usize,
}

/// A crate as its files.
pub struct Modules {
    pub files: Vec<File>,
    /// The names that the root re-exports or imports, each with its path.
    root: BTreeMap<String, Vec<String>>,
    /// The place of each file in `files`.
    places: BTreeMap<Vec<String>, usize>,
}

/// The path of a file inside of the crate, empty for `lib.rs` and `main.rs`.
fn module_path(file: &Path, src: &Path) -> Vec<String> {
    let relative = file.strip_prefix(src).unwrap().with_extension("");
    let parts = relative
        .iter()
        .map(|part| part.to_str().unwrap().to_owned());
    parts
        .filter(|part| !["lib", "main", "mod"].contains(&part.as_str()))
        .collect()
}

/// Whether an item is compiled for tests alone.
pub fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let tokens = attribute.parse_args::<TokenStream>();
        attribute.path().is_ident("cfg") && tokens.is_ok_and(|it| it.to_string() == "test")
    })
}

/// Collects the paths of a file that begin with `crate` or `super`.
struct Names<'a> {
    /// The module whose text is read: the file's, or one inside of it.
    module: Vec<String>,
    found: &'a mut BTreeSet<Vec<String>>,
    /// The names that a `use` brings in by a plain path.
    imports: Vec<(String, Vec<String>)>,
}

impl Names<'_> {
    fn add(&mut self, path: &[String]) {
        let mut base = match path.first().map(String::as_str) {
            Some("crate") => Vec::new(),
            Some("super" | "self") => self.module.clone(),
            _ => return,
        };
        let words = path.iter().map(String::as_str);
        let rest = words
            .clone()
            .skip_while(|word| ["crate", "self", "super"].contains(word));
        for _ in words.take_while(|word| *word == "super") {
            base.pop();
        }
        base.extend(rest.map(str::to_owned));
        if !base.is_empty() {
            self.found.insert(base);
        }
    }

    fn add_use(&mut self, tree: &syn::UseTree, before: &[String]) {
        let with = |name: &syn::Ident| [before, &[name.to_string()]].concat();
        match tree {
            syn::UseTree::Path(path) => self.add_use(&path.tree, &with(&path.ident)),
            syn::UseTree::Name(name) => {
                let path = with(&name.ident);
                self.add(&path);
                self.imports.push((name.ident.to_string(), path));
            }
            syn::UseTree::Rename(rename) => {
                let path = with(&rename.ident);
                self.add(&path);
                self.imports.push((rename.rename.to_string(), path));
            }
            syn::UseTree::Glob(_) => self.add(before),
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    self.add_use(tree, before);
                }
            }
        }
    }

    /// The paths in the tokens of a macro.
    fn add_tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(word) => {
                    if colons != 2 {
                        self.add(&std::mem::take(&mut path));
                    }
                    path.push(word.to_string());
                    colons = 0;
                }
                TokenTree::Punct(mark) if mark.as_char() == ':' => colons += 1,
                other => {
                    self.add(&std::mem::take(&mut path));
                    colons = 0;
                    if let TokenTree::Group(group) = other {
                        self.add_tokens(group.stream());
                    }
                }
            }
        }
        self.add(&path);
    }
}

impl<'ast> Visit<'ast> for Names<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let attributes = match item {
            syn::Item::Mod(it) => &it.attrs,
            syn::Item::Fn(it) => &it.attrs,
            syn::Item::Use(it) => &it.attrs,
            syn::Item::Impl(it) => &it.attrs,
            syn::Item::Struct(it) => &it.attrs,
            syn::Item::Const(it) => &it.attrs,
            syn::Item::Macro(it) => &it.attrs,
            _ => &Vec::new(),
        };
        if !is_test(attributes) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        self.module.push(module.ident.to_string());
        visit::visit_item_mod(self, module);
        self.module.pop();
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.add_use(&item.tree, &[]);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let parts: Vec<_> = path
            .segments
            .iter()
            .map(|it| it.ident.to_string())
            .collect();
        self.add(&parts);
        visit::visit_path(self, path);
    }

    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}

    fn visit_macro(&mut self, it: &'ast syn::Macro) {
        self.add_tokens(it.tokens.clone());
        visit::visit_macro(self, it);
    }
}

impl Modules {
    /// Reads the sources under `src`.
    pub fn read(src: &Path) -> Self {
        let mut paths: Vec<PathBuf> = Vec::new();
        sources(src, &mut paths);
        paths.sort();
        let texts = paths.iter().map(|path| {
            let code = fs::read_to_string(path).unwrap();
            (module_path(path, src), code)
        });
        Self::parse(texts)
    }

    /// The crate of these files: the module path of each, and its text.
    pub fn parse(texts: impl Iterator<Item = (Vec<String>, String)>) -> Self {
        let mut this = Self {
            files: Vec::new(),
            root: BTreeMap::new(),
            places: BTreeMap::new(),
        };
        let mut tests = BTreeSet::new();
        for (path, code) in texts {
            let file = syn::parse_file(&code).unwrap_or_else(|error| panic!("{path:?}: {error}"));
            for item in &file.items {
                if let syn::Item::Mod(module) = item
                    && is_test(&module.attrs)
                {
                    tests.insert([&path[..], &[module.ident.to_string()]].concat());
                }
            }
            let mut found = BTreeSet::new();
            let mut names = Names {
                module: path.clone(),
                found: &mut found,
                imports: Vec::new(),
            };
            names.visit_file(&file);
            if path.is_empty() {
                this.root.extend(names.imports);
            }
            this.files.push(File {
                path,
                names: found,
                lines: code.lines().count(),
            });
        }
        let is_test = |path: &Vec<String>| (1..=path.len()).any(|end| tests.contains(&path[..end]));
        this.files.retain(|file| !is_test(&file.path));
        let places = this.files.iter().enumerate();
        this.places = places
            .map(|(place, file)| (file.path.clone(), place))
            .collect();
        this
    }

    /// The file that a path from the root leads to; a name of the root leads to what it re-exports.
    fn target(&self, path: &[String]) -> Option<usize> {
        let find = |path: &[String]| self.places.get(path).copied();
        let through = self
            .root
            .get(&path[0])
            .filter(|_| find(&path[..1]).is_none());
        let path: Vec<_> = match through {
            Some(full) => {
                let full = full
                    .iter()
                    .filter(|part| !["crate", "self"].contains(&part.as_str()));
                full.chain(&path[1..]).cloned().collect()
            }
            None => path.to_vec(),
        };
        (1..=path.len()).rev().find_map(|end| find(&path[..end]))
    }

    /// The arrows between files, as indices; the root has none.
    pub fn arrows(&self) -> BTreeSet<(usize, usize)> {
        let mut arrows = BTreeSet::new();
        for (from, file) in self.files.iter().enumerate() {
            if file.path.is_empty() {
                continue;
            }
            let to = file.names.iter().filter_map(|path| self.target(path));
            arrows.extend(to.filter(|to| *to != from).map(|to| (from, to)));
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
