//! A page without what could hurt.
//!
//! Pages may be made to hurt: nested without end they exhaust the stack of a converter, misnested they make a parser
//! build far more than they hold. So the converter never sees a page, only what [`Tidy`] writes of it: few kinds of
//! tags, well nested, of bounded depth, number and length. That takes time in proportion to the page's length.

/// Deeper elements lose their tags and keep their text.
const MAX_DEPTH: usize = 32;
/// The limit of start tags.
const MAX_TAGS: usize = 20_000;
/// Bytes of text.
const MAX_TEXT: usize = 200_000;
/// Bytes of an attribute.
const MAX_VALUE: usize = 2_000;
/// The limit of the title in characters.
const MAX_TITLE: usize = 300;

/// Elements of which nothing is kept.
const SKIPPED: [&str; 17] = [
    "audio", "canvas", "datalist", "iframe", "math", "noembed", "noframes", "object", "script",
    "select", "style", "svg", "template", "textarea", "title", "video", "xmp",
];
/// Elements whose tags are dropped without a trace. An element in no list becomes a block.
const INLINE: [&str; 53] = [
    "abbr", "acronym", "area", "base", "bdi", "bdo", "big", "body", "button", "cite", "col",
    "colgroup", "data", "del", "dfn", "embed", "font", "head", "html", "input", "ins", "kbd",
    "label", "link", "mark", "meta", "nobr", "noscript", "output", "param", "picture", "q", "rp",
    "rt", "ruby", "s", "samp", "slot", "small", "source", "span", "strike", "sub", "sup", "tbody",
    "tfoot", "thead", "time", "track", "tt", "u", "var", "wbr",
];
const KEPT: [&str; 26] = [
    "a",
    "b",
    "blockquote",
    "br",
    "code",
    "div",
    "em",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "i",
    "img",
    "li",
    "ol",
    "p",
    "pre",
    "strong",
    "table",
    "td",
    "th",
    "tr",
    "ul",
];
const VOID: [&str; 3] = ["br", "hr", "img"];
/// An end tag inside a cell closes nothing outside of it.
const CELLS: [&str; 3] = ["table", "td", "th"];

/// The kept part of a page.
#[derive(Default)]
pub(super) struct Tidy {
    pub html: String,
    pub title: Option<String>,
    open: Vec<&'static str>,
    tags: usize,
    text: usize,
    /// The page was longer.
    pub cut: bool,
}

impl Tidy {
    pub fn of(page: &str) -> Self {
        let mut tidy = Self::default();
        let mut rest = page;
        while !rest.is_empty() && !tidy.cut {
            let (text, markup) = rest.split_at(rest.find('<').unwrap_or(rest.len()));
            tidy.push_text(text);
            rest = tidy.take_markup(markup);
        }
        while let Some(name) = tidy.open.pop() {
            tidy.push_end(name);
        }
        tidy
    }

    /// Takes one tag, comment or lone `<` from the front; what is left.
    fn take_markup<'a>(&mut self, markup: &'a str) -> &'a str {
        let Some(inside) = markup.strip_prefix('<') else {
            return markup;
        };
        if let Some(comment) = inside.strip_prefix("!--") {
            return after(comment, "-->");
        }
        if inside.starts_with(['!', '?']) {
            return after(inside, ">");
        }
        let (closing, named) = match inside.strip_prefix('/') {
            Some(named) => (true, named),
            None => (false, inside),
        };
        if !named.starts_with(|first: char| first.is_ascii_alphabetic()) {
            self.push_text("&lt;");
            return inside;
        }
        let Some(tag) = Tag::read(named) else {
            return "";
        };
        if closing {
            self.close(kept(&tag.name));
            return tag.rest;
        }
        if SKIPPED.contains(&&*tag.name) {
            if tag.empty && tag.name == "svg" {
                return tag.rest;
            }
            let (content, rest) = until_end_of(tag.rest, &tag.name);
            if tag.name == "title" && self.title.is_none() {
                self.title = title(content);
            }
            return rest;
        }
        if let Some(name) = kept(&tag.name) {
            self.open(name, &tag);
        }
        tag.rest
    }

    fn push_text(&mut self, text: &str) {
        let room = MAX_TEXT - self.text;
        if text.len() > room {
            self.cut = true;
        }
        let text = &text[..text.floor_char_boundary(room)];
        self.text += text.len();
        self.html.push_str(text);
    }

    fn open(&mut self, name: &'static str, tag: &Tag) {
        let (closed, bounds) = ends(name);
        self.close_inside(closed, bounds);
        let void = VOID.contains(&name);
        if !void && self.open.len() >= MAX_DEPTH {
            return;
        }
        if self.tags == MAX_TAGS {
            self.cut = true;
            return;
        }
        self.tags += 1;
        self.html.push('<');
        self.html.push_str(name);
        for (attribute, value) in &tag.attributes {
            self.html.push(' ');
            self.html.push_str(attribute);
            self.html.push_str("=\"");
            self.html.push_str(&value.replace('"', "&quot;"));
            self.html.push('"');
        }
        self.html.push('>');
        if !void {
            self.open.push(name);
        }
    }

    fn close(&mut self, name: Option<&'static str>) {
        let Some(name) = name else { return };
        let bounds: &[&str] = if ["table", "td", "th", "tr"].contains(&name) {
            &["table"]
        } else {
            &CELLS
        };
        self.close_inside(&[name], bounds);
    }

    /// Closes the innermost of `names` and what is open in it, unless one of `bounds` is between.
    fn close_inside(&mut self, names: &[&str], bounds: &[&str]) {
        let mut inner = self.open.iter().enumerate().rev();
        let found = inner.find(|(_, open)| names.contains(open) || bounds.contains(open));
        let Some((at, _)) = found.filter(|(_, open)| names.contains(open)) else {
            return;
        };
        while self.open.len() > at {
            if let Some(name) = self.open.pop() {
                self.push_end(name);
            }
        }
    }

    fn push_end(&mut self, name: &str) {
        self.html.push_str("</");
        self.html.push_str(name);
        self.html.push('>');
    }
}

/// The elements that a start tag ends, and those beyond which it has no effect.
fn ends(name: &str) -> (&'static [&'static str], &'static [&'static str]) {
    match name {
        "a" => (&["a"], &CELLS),
        "li" => (&["li"], &["ul", "ol", "table", "td", "th"]),
        "tr" => (&["tr"], &["table"]),
        "td" | "th" => (&["td", "th"], &["tr", "table"]),
        "b" | "br" | "code" | "em" | "i" | "img" | "strong" => (&[], &[]),
        _ => (&["p"], &["table", "td", "th", "li", "div", "blockquote"]),
    }
}

/// The name under which an element is kept.
fn kept(name: &str) -> Option<&'static str> {
    if INLINE.contains(&name) {
        return None;
    }
    Some(KEPT.into_iter().find(|kept| *kept == name).unwrap_or("div"))
}

struct Tag<'a> {
    name: String,
    attributes: Vec<(&'static str, &'a str)>,
    /// Whether the tag ends with a slash.
    empty: bool,
    rest: &'a str,
}

impl<'a> Tag<'a> {
    /// Reads a tag from its name on; `None` if the page ends before it does.
    fn read(named: &'a str) -> Option<Self> {
        let (name, mut rest) = split(named, |c| c.is_ascii_whitespace() || c == '/' || c == '>')?;
        let mut tag = Self {
            name: name.get(..20).unwrap_or(name).to_ascii_lowercase(),
            attributes: Vec::new(),
            empty: false,
            rest,
        };
        loop {
            let before = rest;
            rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/');
            if let Some(rest) = rest.strip_prefix('>') {
                tag.empty = before[..before.len() - rest.len()].contains('/');
                tag.rest = rest;
                return Some(tag);
            }
            // The first character belongs to the name, whatever it is.
            let first = rest.chars().next()?.len_utf8();
            let ends = |c: char| c.is_ascii_whitespace() || matches!(c, '/' | '>' | '=');
            let (tail, _) = split(&rest[first..], ends)?;
            let (attribute, after_name) = rest.split_at(first + tail.len());
            let spaced = after_name.trim_ascii_start();
            let Some(valued) = spaced.strip_prefix('=') else {
                rest = after_name;
                continue;
            };
            let valued = valued.trim_ascii_start();
            let (value, after_value) = match valued.chars().next()? {
                quote @ ('"' | '\'') => valued[1..].split_once(quote)?,
                _ => split(valued, |c| c.is_ascii_whitespace() || c == '>')?,
            };
            rest = after_value;
            tag.keep(attribute, value);
        }
    }

    fn keep(&mut self, attribute: &str, value: &'a str) {
        let wanted: &[&'static str] = match &*self.name {
            "a" => &["href"],
            "img" => &["src", "alt"],
            _ => return,
        };
        let scheme = value.trim().get(..11).unwrap_or_default();
        let is_program =
            scheme.eq_ignore_ascii_case("javascript:") || value.trim().starts_with("data:");
        let mut wanted = wanted.iter();
        let Some(name) = wanted.find(|name| name.eq_ignore_ascii_case(attribute)) else {
            return;
        };
        let is_new = self.attributes.iter().all(|(other, _)| other != name);
        if is_new && !is_program && value.len() <= MAX_VALUE {
            self.attributes.push((name, value));
        }
    }
}

fn split(text: &str, ends: impl Fn(char) -> bool) -> Option<(&str, &str)> {
    text.find(ends).map(|at| text.split_at(at))
}

/// The text after the first `end`; empty without one.
fn after<'a>(text: &'a str, end: &str) -> &'a str {
    text.split_once(end).map_or("", |(_, rest)| rest)
}

/// Up to the end tag of `name`, and what follows it.
fn until_end_of<'a>(text: &'a str, name: &str) -> (&'a str, &'a str) {
    for (at, _) in text.match_indices("</") {
        let named = &text[at + 2..];
        let ends = |found: &str| found.eq_ignore_ascii_case(name);
        if named.get(..name.len()).is_some_and(ends) {
            return (&text[..at], after(named, ">"));
        }
    }
    (text, "")
}

/// A title in one line, without the commonest entities.
fn title(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words
        .join(" ")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&#x27;", "'")
        .replace("&nbsp;", " ")
        .replace("&amp;", "&");
    let line: String = line.chars().take(MAX_TITLE).collect();
    (!line.is_empty()).then_some(line)
}
