//! HTML as Markdown.
//!
//! Pages may be made to hurt: nested without end they exhaust the stack of a converter, misnested they make a parser
//! build far more than they hold. So the converter never sees a page, only what [`Tidy`] writes of it: few kinds of
//! tags, well nested, of bounded depth, number and length. That takes time in proportion to the page's length.

use htmd::element_handler::Handlers;
use htmd::options::Options;
use htmd::{Element, HtmlToMarkdown};

use crate::Fault;

/// Deeper elements lose their tags and keep their text.
const MAX_DEPTH: usize = 32;
/// Start tags.
const MAX_TAGS: usize = 20_000;
/// Bytes of text.
const MAX_TEXT: usize = 200_000;
/// Bytes of an attribute.
const MAX_VALUE: usize = 2_000;
/// Characters.
const MAX_TITLE: usize = 300;

/// Elements of which nothing is kept.
const SKIPPED: [&str; 17] = [
    "audio", "canvas", "datalist", "iframe", "math", "noembed", "noframes", "object", "script",
    "select", "style", "svg", "template", "textarea", "title", "video", "xmp",
];
/// Elements whose tags are dropped without a trace. Any that stands in no list becomes a block.
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

/// A page as Markdown.
pub(super) struct Markdown {
    pub text: String,
    pub title: Option<String>,
    /// The page was longer.
    pub cut: bool,
}

pub(super) fn markdown(html: &str) -> Result<Markdown, Fault> {
    let tidy = Tidy::of(html);
    let text = HtmlToMarkdown::builder()
        .options(Options {
            ul_bullet_spacing: 1,
            ol_number_spacing: 1,
            ..Options::default()
        })
        // The converter's own tables are padded to the widest cell, which costs what it is paid for in tokens.
        .add_handler(
            vec!["td", "th"],
            |handlers: &dyn Handlers, cell: Element| {
                let content = handlers.walk_children(cell.node).content;
                let words: Vec<&str> = content.split_whitespace().collect();
                Some(format!(" {} |", words.join(" ").replace('|', "\\|")).into())
            },
        )
        .add_handler(vec!["tr"], |handlers: &dyn Handlers, row: Element| {
            let cells = handlers.walk_children(row.node).content;
            Some(format!("\n|{}\n", cells.trim_end()).into())
        })
        .add_handler(vec!["table"], |handlers: &dyn Handlers, table: Element| {
            Some(grid(&handlers.walk_children(table.node).content).into())
        })
        .build()
        .convert(&tidy.html)
        .map_err(|error| Fault::new("bad_reply", format!("the page cannot be read: {error}")))?;
    Ok(Markdown {
        text,
        title: tidy.title,
        cut: tidy.cut,
    })
}

/// Rows, with the rule below the first that makes them a table.
fn grid(rows: &str) -> String {
    let mut grid = String::from("\n\n");
    let rows = rows.lines().filter(|row| !row.trim().is_empty());
    for (at, row) in rows.enumerate() {
        grid.push_str(row.trim_end());
        grid.push('\n');
        if at == 0 {
            let cells = row.matches(" |").count();
            grid.push('|');
            grid.push_str(&" --- |".repeat(cells));
            grid.push('\n');
        }
    }
    grid.push('\n');
    grid
}

/// What is kept of a page.
#[derive(Default)]
struct Tidy {
    html: String,
    title: Option<String>,
    open: Vec<&'static str>,
    tags: usize,
    text: usize,
    cut: bool,
}

impl Tidy {
    fn of(page: &str) -> Self {
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

/// What a start tag ends, and what it does not reach beyond.
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
    /// It ends with a slash.
    empty: bool,
    rest: &'a str,
}

impl<'a> Tag<'a> {
    /// Reads a tag from its name on; none if the page ends before it does.
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

/// What follows the first `end`; nothing if there is none.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(html: &str) -> String {
        markdown(html).unwrap().text
    }

    #[test]
    fn a_page_becomes_markdown() {
        let page = markdown(
            "<!DOCTYPE html><html><head><title>A &amp; B\n page</title><style>p{}</style></head>\
             <body><!-- no --><h1>Head</h1><p>One <b>bold</b> <a class=x href='/next'>link</a>\
             <p>Two<script>alert('</p>')</script><ul><li>a<li>b</ul>\
             <article>Art</article><nav>Nav</nav><pre><code>x &lt; y\n  z</code></pre></body>",
        )
        .unwrap();
        assert_eq!(page.title.as_deref(), Some("A & B page"));
        assert_eq!(
            page.text,
            "# Head\n\nOne **bold** [link](/next)\n\nTwo\n\n* a\n* b\n\nArt\n\nNav\n\n```\nx < y\n  z\n```"
        );
        assert!(!page.cut);
    }

    #[test]
    fn tables_are_not_padded() {
        let table = "<table><caption>C</caption><thead><tr><th>A<th>B</thead>\
                     <tr><td>a|b<td><p>two</p><p>lines</p><tr><td>c<td></table>";
        assert_eq!(
            text(table),
            "C\n\n| A | B |\n| --- | --- |\n| a\\|b | two lines |\n| c |  |"
        );
        let wide = format!(
            "<table><tr><td>{}{}",
            "x".repeat(10_000),
            "<tr><td>y".repeat(5_000)
        );
        assert!(text(&wide).len() < 60_000);
    }

    #[test]
    fn what_can_run_is_left_out() {
        let page = "<a href=\" JavaScript:alert(1)\">a</a><img src=data:image/png;base64,AAAA alt=pic>\
                    <SCRIPT>no</SCRIPT ><svg/><svg><text>no</text></svg><iframe>no</iframe>end";
        let text = text(page);
        assert!(!text.contains("no") && !text.contains("alert") && !text.contains("base64"));
        assert!(text.ends_with("end"), "{text}");
    }

    #[test]
    fn pages_made_to_hurt_are_harmless() {
        let many = 100_000;
        let numbered = |tag: &str| {
            let one = |n| format!("<{tag} id={n}><p>");
            (0..many).map(one).collect::<Vec<_>>().concat()
        };
        for page in [
            "<div>".repeat(many),
            "<b>".repeat(many),
            "<ul><li>".repeat(many),
            "<blockquote>x\n".repeat(many),
            "<table><tr><td>".repeat(many),
            "<p><b><i><em><strong><div>x</div>".repeat(many),
            numbered("b"),
            numbered("a"),
            "<i>x</i>".repeat(many),
            "<svg>".repeat(many),
            "<!--".repeat(many),
            "<a href=\"".repeat(many),
            format!("<a {}>", "x=1 ".repeat(many)),
            "</p>".repeat(many),
            "<".repeat(many),
            "<?x><![CDATA[x]]>".repeat(many),
        ] {
            let page = markdown(&page).unwrap();
            assert!(page.text.len() < 30_000_000);
        }
    }

    proptest! {
        #[test]
        fn any_page_gives_text(page in "(<[/!?]?|[a-z]{1,6}|>|\"|'|=| |\n|&lt;|é|<(p|b|a|td|tr|table|li|ul|svg|title)( href=x)?>|</(p|b|a|td|tr|table|ul)>){0,60}") {
            let tidy = Tidy::of(&page);
            prop_assert!(tidy.open.is_empty());
            markdown(&page).unwrap();
        }
    }
}
