//! The declaration of a public item in one line, as `public-names.txt` has it: no line end of the source changes it.

use quote::ToTokens;
use syn::punctuated::Punctuated;

/// The pieces of printed tokens that are put closer together, in this order, with their replacements.
const SPACING: [(&str, &str); 23] = [
    (" ::", "::"),
    (":: ", "::"),
    (" <", "<"),
    ("< ", "<"),
    (" >", ">"),
    ("& ", "&"),
    ("* ", "*"),
    (" !", "!"),
    (" ?", "?"),
    ("? ", "?"),
    (" ,", ","),
    (" ;", ";"),
    (" :", ":"),
    (",>", ">"),
    (",)", ")"),
    (" (", "("),
    ("->(", "-> ("),
    (",(", ", ("),
    ("=(", "= ("),
    ("# [", "#["),
    ("dyn(", "dyn ("),
    ("mut(", "mut ("),
    ("+(", "+ ("),
];

/// Tokens as one line.
pub fn line(tokens: impl ToTokens) -> String {
    let mut line = tokens.to_token_stream().to_string();
    for (from, to) in SPACING {
        line = line.replace(from, to);
    }
    line
}

/// The elements of a list, joined by commas.
fn list<T: ToTokens, P>(list: &Punctuated<T, P>) -> String {
    list.iter().map(line).collect::<Vec<_>>().join(", ")
}

/// The attributes that a user of the item sees.
fn attributes(attributes: &[syn::Attribute]) -> String {
    let seen = attributes.iter().filter(|it| {
        let name = it.path().get_ident().map(ToString::to_string);
        ["cfg", "derive", "non_exhaustive"].contains(&name.unwrap_or_default().as_str())
    });
    seen.map(|it| line(it) + " ").collect()
}

fn parameters(generics: &syn::Generics) -> String {
    match list(&generics.params) {
        none if none.is_empty() => none,
        list => format!("<{list}>"),
    }
}

fn bounds(generics: &syn::Generics) -> String {
    let bounds = generics.where_clause.as_ref();
    bounds.map_or_else(String::new, |it| format!(" where {}", list(&it.predicates)))
}

/// The signature of a function without names, such as `fn(&Path, &[u8]) -> io::Result<()>`.
pub fn function(attrs: &[syn::Attribute], it: &syn::Signature) -> String {
    let words = [
        it.constness.as_ref().map(line),
        it.asyncness.as_ref().map(line),
        it.abi.as_ref().map(line),
    ];
    let words: String = words.into_iter().flatten().map(|it| it + " ").collect();
    let inputs = it.inputs.iter().map(|input| match input {
        syn::FnArg::Typed(it) => line(&it.ty),
        // Whether the function changes its own value is no concern of a caller.
        syn::FnArg::Receiver(it) => line(it).trim_start_matches("mut ").to_owned(),
    });
    let inputs = inputs.collect::<Vec<_>>().join(", ");
    let output = match &it.output {
        syn::ReturnType::Default => String::new(),
        output @ syn::ReturnType::Type(..) => format!(" {}", line(output)),
    };
    let (attributes, parameters) = (attributes(attrs), parameters(&it.generics));
    let bounds = bounds(&it.generics);
    format!("{attributes}{words}fn{parameters}({inputs}){output}{bounds}")
}

pub fn constant(attrs: &[syn::Attribute], of: &syn::Type) -> String {
    format!("{}const {}", attributes(attrs), line(of))
}

fn field(it: &syn::Field) -> String {
    attributes(&it.attrs) + &line(&it.ty)
}

/// The fields of a tuple or of a variant.
fn fields(fields: &syn::Fields, is_seen: fn(&syn::Field) -> bool) -> String {
    let one = |it: &syn::Field| {
        let name = it.ident.as_ref().map(|name| format!("{name}: "));
        name.unwrap_or_default()
            + &if is_seen(it) {
                field(it)
            } else {
                "_".to_owned()
            }
    };
    let inside: Vec<_> = fields.iter().map(one).collect();
    match fields {
        syn::Fields::Named(_) if inside.is_empty() => " {}".to_owned(),
        syn::Fields::Named(_) => format!(" {{ {} }}", inside.join(", ")),
        syn::Fields::Unnamed(_) if !fields.iter().any(is_seen) => String::new(),
        syn::Fields::Unnamed(_) => format!("({})", inside.join(", ")),
        syn::Fields::Unit => String::new(),
    }
}

fn variant(it: &syn::Variant) -> String {
    let value = it.discriminant.as_ref().map(|(_, value)| line(value));
    let value = value.map_or_else(String::new, |value| format!(" = {value}"));
    let fields = fields(&it.fields, |_| true);
    format!("{}variant{fields}{value}", attributes(&it.attrs))
}

/// The item of a trait. A function with a body may be left out by an implementation.
fn of_trait(item: &syn::TraitItem) -> Option<(&syn::Ident, String)> {
    match item {
        syn::TraitItem::Fn(it) => {
            let body = it.default.as_ref().map_or("", |_| " { .. }");
            Some((&it.sig.ident, function(&it.attrs, &it.sig) + body))
        }
        syn::TraitItem::Const(it) => {
            let value = it.default.as_ref().map_or("", |_| " = ..");
            Some((&it.ident, constant(&it.attrs, &it.ty) + value))
        }
        syn::TraitItem::Type(it) => {
            let parameters = parameters(&it.generics);
            let (above, bounds) = (list(&it.bounds), bounds(&it.generics));
            Some((&it.ident, format!("type{parameters}: {above}{bounds}")))
        }
        _ => None,
    }
}

/// The public fields of a struct, the variants of an enum, the items of a trait.
pub fn members(item: &syn::Item) -> Vec<(&syn::Ident, String)> {
    match item {
        syn::Item::Struct(it) => {
            let fields = it.fields.iter().filter(|field| is_public(&field.vis));
            let fields = fields.filter_map(|it| Some((it.ident.as_ref()?, field(it))));
            fields.collect()
        }
        syn::Item::Enum(it) => {
            let variants = it.variants.iter();
            variants.map(|it| (&it.ident, variant(it))).collect()
        }
        syn::Item::Trait(it) => it.items.iter().filter_map(of_trait).collect(),
        _ => Vec::new(),
    }
}

pub fn is_public(visibility: &syn::Visibility) -> bool {
    matches!(visibility, syn::Visibility::Public(_))
}

/// The declaration of an item without its name and its members.
pub fn item(item: &syn::Item) -> String {
    let (attrs, word, generics, rest) = match item {
        syn::Item::Fn(it) => return function(&it.attrs, &it.sig),
        syn::Item::Const(it) => return constant(&it.attrs, &it.ty),
        syn::Item::Static(it) => return format!("static {}", line(&it.ty)),
        syn::Item::Struct(it) => {
            let public = |it: &syn::Field| is_public(&it.vis);
            let tuple = match &it.fields {
                syn::Fields::Named(_) => String::new(),
                tuple => fields(tuple, public),
            };
            (&it.attrs, "struct", &it.generics, tuple)
        }
        syn::Item::Enum(it) => (&it.attrs, "enum", &it.generics, String::new()),
        syn::Item::Union(it) => (&it.attrs, "union", &it.generics, String::new()),
        syn::Item::Trait(it) => {
            let above = it.supertraits.iter().map(line).collect::<Vec<_>>();
            let above = above.join(" + ");
            let above = match above.as_str() {
                "" => above,
                _ => format!(": {above}"),
            };
            (&it.attrs, "trait", &it.generics, above)
        }
        syn::Item::Type(it) => {
            let target = format!(" = {}", line(&it.ty));
            (&it.attrs, "type", &it.generics, target)
        }
        _ => return String::new(),
    };
    let (attributes, parameters) = (attributes(attrs), parameters(generics));
    format!("{attributes}{word}{parameters}{rest}{}", bounds(generics))
}

#[test]
fn a_declaration_is_one_line_that_no_line_end_changes() {
    for (code, expected) in [
        (
            "pub fn a(path: &Path,\n    bytes: &[u8],\n) -> io::Result<\n    (),\n> { b() }",
            "fn(&Path, &[u8]) -> io::Result<()>",
        ),
        (
            "pub const async fn a<'a, T: B + 'a>(mut x: &'a mut T, y: impl Fn(u8) -> (u8, u8)) where T: C, {}",
            "const async fn<'a, T: B + 'a>(&'a mut T, impl Fn(u8) -> (u8, u8)) where T: C",
        ),
        (
            "/// A.\n#[derive(Clone, b::Debug)] #[must_use] #[non_exhaustive] pub struct A<T> { pub x: u8 }",
            "#[derive(Clone, b::Debug)] #[non_exhaustive] struct<T>",
        ),
        ("pub struct A(pub Vec<u8>, B);", "struct(Vec<u8>, _)"),
        ("pub trait A: B + Send {}", "trait: B + Send"),
        ("pub type A<T> = b::C<T, D>;", "type<T> = b::C<T, D>"),
        ("pub const A: [u8; 4] = B;", "const [u8; 4]"),
        ("pub enum A { B }", "enum"),
    ] {
        assert_eq!(item(&syn::parse_str(code).unwrap()), expected);
    }
    for (code, expected) in [
        (
            "#[non_exhaustive] A { b: Box<C> }",
            "#[non_exhaustive] variant { b: Box<C> }",
        ),
        ("A(u8, B)", "variant(u8, B)"),
        ("A = 3", "variant = 3"),
    ] {
        assert_eq!(variant(&syn::parse_str(code).unwrap()), expected);
    }
}
