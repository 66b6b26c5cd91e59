//! The names that a file defines.

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};

use crate::rust_source::{Source, named};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A struct, enum, union, trait or alias.
    Type,
    /// A type parameter, an associated type or a type in a macro: such a name may occur more than once.
    Generic,
    Function,
    Constant,
    Module,
    Field,
    Variant,
    /// A parameter or another binding.
    Binding,
}

#[derive(Debug)]
pub struct Definition {
    pub name: String,
    pub kind: Kind,
    pub is_public: bool,
}

impl Definition {
    /// Whether it is an item, not a part of one.
    pub fn is_item(&self) -> bool {
        let parts = [Kind::Generic, Kind::Field, Kind::Variant, Kind::Binding];
        !parts.contains(&self.kind)
    }
}

/// The definitions of a file, those in macros included.
pub fn definitions(source: &Source) -> Vec<Definition> {
    let mut found = Definitions(Vec::new());
    found.visit_file(&source.file);
    found.0
}

struct Definitions(Vec<Definition>);

impl Definitions {
    fn add(&mut self, kind: Kind, name: &syn::Ident, visibility: Option<&syn::Visibility>) {
        self.0.push(Definition {
            name: name.to_string(),
            kind,
            is_public: matches!(visibility, Some(syn::Visibility::Public(_))),
        });
    }

    /// The names after a keyword in the tokens of a macro.
    fn add_tokens(&mut self, tokens: TokenStream) {
        let mut before = None;
        for token in tokens {
            match &token {
                TokenTree::Group(group) => self.add_tokens(group.stream()),
                TokenTree::Ident(name) => {
                    let kind = before.as_deref().and_then(keyword);
                    if let Some(kind) = kind {
                        self.add(kind, name, None);
                    }
                }
                _ => {}
            }
            before = Some(token.to_string());
        }
    }
}

/// The kind of the name after a keyword.
fn keyword(word: &str) -> Option<Kind> {
    match word {
        "enum" | "struct" | "trait" | "type" | "union" => Some(Kind::Generic),
        "const" | "static" => Some(Kind::Constant),
        "fn" => Some(Kind::Function),
        "mod" => Some(Kind::Module),
        _ => None,
    }
}

impl<'ast> Visit<'ast> for Definitions {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let kind = match item {
            syn::Item::Fn(_) => Kind::Function,
            syn::Item::Const(_) | syn::Item::Static(_) => Kind::Constant,
            syn::Item::Mod(_) => Kind::Module,
            _ => Kind::Type,
        };
        if let Some((name, visibility)) = named(item) {
            self.add(kind, name, Some(visibility));
        }
        visit::visit_item(self, item);
    }

    fn visit_impl_item_fn(&mut self, it: &'ast syn::ImplItemFn) {
        self.add(Kind::Function, &it.sig.ident, Some(&it.vis));
        visit::visit_impl_item_fn(self, it);
    }

    fn visit_trait_item_fn(&mut self, it: &'ast syn::TraitItemFn) {
        self.add(Kind::Function, &it.sig.ident, None);
        visit::visit_trait_item_fn(self, it);
    }

    fn visit_impl_item_const(&mut self, it: &'ast syn::ImplItemConst) {
        self.add(Kind::Constant, &it.ident, Some(&it.vis));
        visit::visit_impl_item_const(self, it);
    }

    fn visit_trait_item_const(&mut self, it: &'ast syn::TraitItemConst) {
        self.add(Kind::Constant, &it.ident, None);
        visit::visit_trait_item_const(self, it);
    }

    fn visit_trait_item_type(&mut self, it: &'ast syn::TraitItemType) {
        self.add(Kind::Generic, &it.ident, None);
        visit::visit_trait_item_type(self, it);
    }

    fn visit_type_param(&mut self, it: &'ast syn::TypeParam) {
        self.add(Kind::Generic, &it.ident, None);
        visit::visit_type_param(self, it);
    }

    fn visit_const_param(&mut self, it: &'ast syn::ConstParam) {
        self.add(Kind::Constant, &it.ident, None);
        visit::visit_const_param(self, it);
    }

    fn visit_field(&mut self, it: &'ast syn::Field) {
        if let Some(name) = &it.ident {
            self.add(Kind::Field, name, Some(&it.vis));
        }
        visit::visit_field(self, it);
    }

    fn visit_variant(&mut self, it: &'ast syn::Variant) {
        self.add(Kind::Variant, &it.ident, None);
        visit::visit_variant(self, it);
    }

    fn visit_pat_ident(&mut self, it: &'ast syn::PatIdent) {
        self.add(Kind::Binding, &it.ident, None);
        visit::visit_pat_ident(self, it);
    }

    fn visit_macro(&mut self, it: &'ast syn::Macro) {
        self.add_tokens(it.tokens.clone());
    }
}
