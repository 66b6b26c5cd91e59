//! The public items of a library with all of their paths, read from its sources.
//!
//! Not read: implementations of traits, and fields and methods whose names a macro of the file makes. The fields in a call
//! of `setters!` are read.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::Visibility;
use syn::parse::Parser as _;

use crate::declaration::{self, is_public};
use crate::rust_source::{Source, is_mark, is_word, named};

/// The public items of a library.
#[derive(Default)]
pub struct Api {
    /// The path of each item with its declaration: `mod a::b`, `a::b::Type`, `a::b::Type::member`.
    pub items: BTreeSet<(String, String)>,
    /// The public paths of each definition.
    paths: BTreeMap<Vec<String>, BTreeSet<String>>,
}

/// The meaning of a name in a module.
enum Meaning {
    Module,
    Definition {
        declaration: String,
        /// The path that a `type` is another name of.
        other: Option<Vec<String>>,
    },
    /// The path of a `use`.
    Path(Vec<String>),
}

/// A name in a module.
struct Name {
    word: String,
    is_public: bool,
    meaning: Meaning,
}

/// The names in each module of a library.
#[derive(Default)]
struct Library {
    modules: BTreeMap<Vec<String>, Vec<Name>>,
    /// The public functions, constants, fields and variants of each type.
    members: BTreeMap<String, BTreeSet<(String, String)>>,
}

impl Api {
    pub fn of(sources: &[Source]) -> Self {
        let mut library = Library::default();
        for source in sources {
            library.add_module(&source.module, &source.file.items);
        }
        let mut this = Self::default();
        this.read(&library, &[], "");
        this
    }

    /// The public paths of each item that has more than one.
    pub fn second_paths(&self) -> Vec<String> {
        let paths = self.paths.values().filter(|paths| paths.len() > 1);
        let paths = paths.map(|paths| paths.iter().map(String::as_str).collect::<Vec<_>>());
        paths.map(|paths| paths.join(" = ")).collect()
    }

    /// Reads a module whose items begin with `public`.
    fn read(&mut self, library: &Library, module: &[String], public: &str) {
        for name in library.modules[module].iter().filter(|name| name.is_public) {
            let path = format!("{public}{}", name.word);
            let word = std::slice::from_ref(&name.word);
            let found = match &name.meaning {
                Meaning::Path(to) => library.find(module, to),
                _ => [module, word].concat(),
            };
            let is_module = !matches!(name.meaning, Meaning::Definition { .. });
            if is_module && library.modules.contains_key(&found) {
                self.items.insert((format!("mod {path}"), String::new()));
                self.read(library, &found, &format!("{path}::"));
                self.paths.entry(found).or_default().insert(path);
                continue;
            }
            let mut declarations = library.definitions(&found).peekable();
            if declarations.peek().is_none() {
                let from = format!("use {}", found.join("::"));
                self.items.insert((path.clone(), from));
            } else {
                let members = found.last().and_then(|name| library.members.get(name));
                let members = members.into_iter().flatten();
                self.items.extend(members.map(|(member, declaration)| {
                    (format!("{path}::{member}"), declaration.clone())
                }));
            }
            let declarations = declarations.map(|(it, _)| (path.clone(), it.clone()));
            self.items.extend(declarations);
            let found = library.without_alias(found);
            self.paths.entry(found).or_default().insert(path);
        }
    }
}

impl Library {
    fn add_module(&mut self, module: &[String], items: &[syn::Item]) {
        self.modules.entry(module.to_vec()).or_default();
        for item in items {
            self.add_item(module, item);
        }
    }

    fn add(&mut self, module: &[String], word: String, visibility: &Visibility, meaning: Meaning) {
        let name = Name {
            word,
            is_public: is_public(visibility),
            meaning,
        };
        self.modules.entry(module.to_vec()).or_default().push(name);
    }

    fn add_member(&mut self, of: &str, member: &syn::Ident, declaration: String) {
        let members = self.members.entry(of.to_owned()).or_default();
        members.insert((member.to_string(), declaration));
    }

    /// The definitions with this path: their declarations, and the paths that they are other names of.
    fn definitions(
        &self,
        path: &[String],
    ) -> impl Iterator<Item = (&String, &Option<Vec<String>>)> {
        let (word, module) = path.split_last().unwrap_or((&NO_NAME, &[]));
        let names = self.modules.get(module).into_iter().flatten();
        let names = names.filter(move |name| name.word == *word);
        names.filter_map(|name| match &name.meaning {
            Meaning::Definition { declaration, other } => Some((declaration, other)),
            _ => None,
        })
    }

    /// The path of the type that an alias in this library is another name of.
    fn without_alias(&self, path: Vec<String>) -> Vec<String> {
        let other = self
            .definitions(&path)
            .find_map(|(_, other)| other.as_ref());
        let other = other.map(|other| self.find(&path[..path.len() - 1], other));
        match other.filter(|other| self.definitions(other).next().is_some()) {
            Some(other) => self.without_alias(other),
            None => path,
        }
    }

    fn add_item(&mut self, module: &[String], item: &syn::Item) {
        match item {
            syn::Item::Mod(it) if is_hidden(&it.attrs) => return,
            syn::Item::Mod(it) => {
                if let Some((_, items)) = &it.content {
                    self.add_module(&[module, &[it.ident.to_string()]].concat(), items);
                }
            }
            syn::Item::Use(it) => {
                for (name, path) in leaves(&it.tree, &[]) {
                    self.add(module, name, &it.vis, Meaning::Path(path));
                }
            }
            syn::Item::Macro(it) => self.add_tokens(module, it.mac.tokens.clone()),
            syn::Item::Impl(it) => self.add_implementation(it),
            _ => {}
        }
        let Some((name, visibility)) = named(item) else {
            return;
        };
        let name = name.to_string();
        for (member, declaration) in declaration::members(item) {
            self.add_member(&name, member, declaration);
        }
        let meaning = match item {
            syn::Item::Mod(_) => Meaning::Module,
            _ => Meaning::Definition {
                declaration: declaration::item(item),
                other: other_name(item),
            },
        };
        self.add(module, name, visibility, meaning);
    }

    fn add_implementation(&mut self, it: &syn::ItemImpl) {
        let syn::Type::Path(of) = &*it.self_ty else {
            return;
        };
        let Some(of) = of.path.segments.last().filter(|_| it.trait_.is_none()) else {
            return;
        };
        // The bounds of the type hold for its functions, too.
        let within = match (&of.arguments, &it.generics) {
            (syn::PathArguments::None, _) => String::new(),
            (_, generics) => {
                let (parameters, _, bounds) = generics.split_for_impl();
                let (parameters, bounds) =
                    (declaration::line(parameters), declaration::line(bounds));
                format!(
                    " in impl{parameters} {} {bounds}",
                    declaration::line(&it.self_ty)
                )
            }
        };
        let within = within.trim_end();
        let of = of.ident.to_string();
        for item in &it.items {
            match item {
                syn::ImplItem::Fn(it) if is_public(&it.vis) => {
                    let declaration = declaration::function(&it.attrs, &it.sig);
                    self.add_member(&of, &it.sig.ident, declaration + within);
                }
                syn::ImplItem::Const(it) if is_public(&it.vis) => {
                    let declaration = declaration::constant(&it.attrs, &it.ty);
                    self.add_member(&of, &it.ident, declaration + within);
                }
                syn::ImplItem::Macro(it) if it.mac.path.is_ident("setters") => {
                    let fields =
                        syn::punctuated::Punctuated::<_, syn::Token![,]>::parse_terminated_with;
                    let fields =
                        |input: syn::parse::ParseStream<'_>| fields(input, syn::Field::parse_named);
                    for field in fields.parse2(it.mac.tokens.clone()).unwrap() {
                        let declaration = format!("setter {}", declaration::line(&field.ty));
                        self.add_member(&of, &field.ident.unwrap(), declaration);
                    }
                }
                _ => {}
            }
        }
    }

    /// The public items in the tokens of a macro: `pub`, a keyword and a name.
    fn add_tokens(&mut self, module: &[String], tokens: TokenStream) {
        let tokens: Vec<_> = tokens.into_iter().collect();
        for (place, token) in tokens.iter().enumerate() {
            let keywords = ["const", "enum", "static", "struct", "trait", "type"];
            match (token, tokens.get(place + 2)) {
                (TokenTree::Group(group), _) => self.add_tokens(module, group.stream()),
                (TokenTree::Ident(word), Some(TokenTree::Ident(name)))
                    if word == "pub"
                        && keywords.iter().any(|it| is_word(tokens.get(place + 1), it)) =>
                {
                    let public = Visibility::Public(syn::token::Pub::default());
                    let is_type = is_word(tokens.get(place + 1), "type");
                    let is_end = |token: &TokenTree| {
                        let token = Some(token);
                        is_mark(token, ';') || is_mark(token, '=') && !is_type || is_body(token)
                    };
                    let rest = tokens[place + 3..].iter().take_while(|it| !is_end(it));
                    let rest: TokenStream = rest.cloned().collect();
                    let rest = declaration::line(rest);
                    let declaration =
                        format!("{} {}", tokens[place + 1], rest.trim_start_matches(": "));
                    let meaning = Meaning::Definition {
                        declaration: declaration.trim_end().to_owned(),
                        other: None,
                    };
                    self.add(module, name.to_string(), &public, meaning);
                }
                _ => {}
            }
        }
    }

    /// The path of the definition that `path` leads to from a module. A path into another crate stays as it is.
    fn find(&self, module: &[String], path: &[String]) -> Vec<String> {
        let mut module = module.to_vec();
        for (place, word) in path.iter().enumerate() {
            match word.as_str() {
                "crate" => module.clear(),
                "self" => {}
                "super" => drop(module.pop()),
                _ => {
                    let names = self.modules.get(&module).into_iter().flatten();
                    let found = names
                        .filter(|name| name.word == *word)
                        .map(|name| &name.meaning);
                    // A function and a module may have one name.
                    let is_last = place + 1 == path.len();
                    let found = found.min_by_key(|meaning| match meaning {
                        Meaning::Definition { .. } => u8::from(!is_last),
                        Meaning::Module => u8::from(is_last),
                        Meaning::Path(_) => 2,
                    });
                    match found {
                        Some(Meaning::Module) => module.push(word.clone()),
                        Some(Meaning::Path(to)) if to[..] != path[place..] => {
                            return self.find(&module, &[to, &path[place + 1..]].concat());
                        }
                        // A name that a macro makes.
                        None if place > 0 => return [&module, &path[place..]].concat(),
                        None | Some(Meaning::Path(_)) => return path.to_vec(),
                        Some(Meaning::Definition { .. }) => {
                            return [&module, &path[place..]].concat();
                        }
                    }
                }
            }
        }
        module
    }
}

/// The name of no definition.
static NO_NAME: String = String::new();

fn is_body(token: Option<&TokenTree>) -> bool {
    matches!(token, Some(TokenTree::Group(it)) if it.delimiter() == proc_macro2::Delimiter::Brace)
}

/// The path that an alias is another name of: its target with the alias's own parameters.
fn other_name(item: &syn::Item) -> Option<Vec<String>> {
    let syn::Item::Type(alias) = item else {
        return None;
    };
    let syn::Type::Path(target) = &*alias.ty else {
        return None;
    };
    let (_, own, _) = alias.generics.split_for_impl();
    let arguments = &target.path.segments.last()?.arguments;
    let is_same = own.to_token_stream().to_string() == arguments.to_token_stream().to_string();
    let words = target.path.segments.iter();
    is_same.then(|| words.map(|word| word.ident.to_string()).collect())
}

/// Whether an item has `#[doc(hidden)]`: it is not part of the interface.
fn is_hidden(attributes: &[syn::Attribute]) -> bool {
    let hidden = |it: &syn::Attribute| it.parse_args::<syn::Ident>().is_ok_and(|it| it == "hidden");
    attributes
        .iter()
        .any(|it| it.path().is_ident("doc") && hidden(it))
}

/// The names of a `use` with their paths.
fn leaves(tree: &syn::UseTree, before: &[String]) -> Vec<(String, Vec<String>)> {
    let with = |name: &syn::Ident| [before, &[name.to_string()]].concat();
    match tree {
        syn::UseTree::Path(path) => leaves(&path.tree, &with(&path.ident)),
        syn::UseTree::Name(name) if name.ident == "self" => {
            vec![(before.last().cloned().unwrap_or_default(), before.to_vec())]
        }
        syn::UseTree::Name(name) => vec![(name.ident.to_string(), with(&name.ident))],
        syn::UseTree::Rename(it) => vec![(it.rename.to_string(), with(&it.ident))],
        syn::UseTree::Glob(_) => vec![("*".to_owned(), [before, &["*".to_owned()]].concat())],
        syn::UseTree::Group(group) => group
            .items
            .iter()
            .flat_map(|it| leaves(it, before))
            .collect(),
    }
}

#[test]
fn public_items_and_their_members_are_listed() {
    let sources = [
        (
            "",
            "mod a; mod two; pub mod b; #[doc(hidden)] pub mod c; pub use a::{One, two}; pub use other::Three; pub(crate) use a::Own; pub use b::Four; #[cfg(test)] pub fn f() {}",
        ),
        (
            "a",
            "pub struct One { pub x: u8, y: u8 } pub fn two() {} pub struct Own; pub fn hidden() {} impl One { pub fn new() {} fn no(&self) {} setters! { z: Option<u8>, } } impl Clone for One { fn clone(&self) {} }",
        ),
        (
            "b",
            "mod d; pub use d::Four; pub mod e { pub trait Six { const A: u8; fn g(); } } macro_rules! m { () => { pub struct Seven; } }",
        ),
        (
            "b/d",
            "pub enum Four { A, B } impl Four { pub(super) fn no() {} }",
        ),
        ("c", "pub fn no() {}"),
        ("two", "pub fn no() {}"),
    ];
    let sources = sources.map(|(module, code)| Source::sample(module, code));
    let api = Api::of(&sources);
    let expected = [
        ("Four", "enum"),
        ("Four::A", "variant"),
        ("Four::B", "variant"),
        ("One", "struct"),
        ("One::new", "fn()"),
        ("One::x", "u8"),
        ("One::z", "setter Option<u8>"),
        ("Three", "use other::Three"),
        ("b::Four", "enum"),
        ("b::Four::A", "variant"),
        ("b::Four::B", "variant"),
        ("b::Seven", "struct"),
        ("b::e::Six", "trait"),
        ("b::e::Six::A", "const u8"),
        ("b::e::Six::g", "fn()"),
        ("mod b", ""),
        ("mod b::e", ""),
        ("two", "fn()"),
    ];
    let found = api
        .items
        .iter()
        .map(|(path, declaration)| (path.as_str(), declaration.as_str()));
    assert_eq!(found.collect::<Vec<_>>(), expected);
    assert_eq!(api.second_paths(), ["Four = b::Four"]);
}

#[test]
fn an_item_with_two_public_paths_is_found() {
    for (root, expected) in [
        ("pub mod a; pub use a::One;", "One = a::One"),
        ("pub mod a; pub use crate::a::One as Uno;", "Uno = a::One"),
        ("pub mod a; mod d; pub use d::One;", "One = a::One"),
        ("pub mod a; pub use a as d;", "a = d"),
        (
            "pub mod a; pub mod e { pub use other::Two; } pub use other::Two;",
            "Two = e::Two",
        ),
        ("mod a; pub use a::One; pub use a::One as Uno;", "One = Uno"),
        ("pub mod a; pub type Uno = crate::a::One;", "Uno = a::One"),
        (
            "mod a; pub use a::One; mod i { pub type I = super::One; } pub type Uno = i::I;",
            "One = Uno",
        ),
        (
            "mod a; pub use a::Two; pub type Uno<T> = a::Two<T>;",
            "Two = Uno",
        ),
    ] {
        let sources = [
            ("", root),
            ("a", "pub struct One; pub struct Two<T>(T);"),
            ("d", "pub use super::a::One;"),
        ];
        let api = Api::of(&sources.map(|(module, code)| Source::sample(module, code)));
        assert!(
            api.second_paths().iter().any(|it| it == expected),
            "{root}: {:?}",
            api.second_paths()
        );
    }
}

#[test]
fn an_alias_of_a_number_or_of_one_form_is_a_name() {
    let code = "pub struct One<T>(T); pub type Byte = u8; pub type Small = u8; pub type Ones = One<u8>; pub type Other = other::A;";
    assert_eq!(Api::of(&[Source::sample("", code)]).second_paths(), [""; 0]);
}
