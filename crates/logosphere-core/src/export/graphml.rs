//! The `GraphML` format.

use std::io::{self, Write};

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};

use super::graph::Graph;
use super::kind::ExportKind;
use crate::verify::Transcript;

const NAMESPACE: &str = "http://graphml.graphdrawing.org/xmlns";

/// The name, the owner and the type of each attribute.
const KEYS: [(&str, &str, &str); 6] = [
    ("round", "node", "int"),
    ("seed", "node", "boolean"),
    ("text", "node", "string"),
    ("method", "edge", "string"),
    ("confidence", "edge", "double"),
    ("best", "edge", "boolean"),
];

/// Writes every message as a node and every edge.
pub(super) fn write(
    run: &Transcript,
    kind: ExportKind,
    graph: &Graph,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut xml = Writer::new_with_indent(out, b' ', 1);
    xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let root = BytesStart::new("graphml").with_attributes([("xmlns", NAMESPACE)]);
    xml.write_event(Event::Start(root))?;
    for (name, owner, r#type) in KEYS {
        let key = BytesStart::new("key").with_attributes([
            ("id", name),
            ("for", owner),
            ("attr.name", name),
            ("attr.type", r#type),
        ]);
        xml.write_event(Event::Empty(key))?;
    }
    let kind = kind.to_string();
    let attributes = [("id", kind.as_str()), ("edgedefault", "directed")];
    let element = BytesStart::new("graph").with_attributes(attributes);
    xml.write_event(Event::Start(element))?;
    for (id, message) in run.messages.iter().enumerate() {
        let is_seed = id < run.seeds;
        let id = format!("n{id}");
        let node = BytesStart::new("node").with_attributes([("id", id.as_str())]);
        xml.write_event(Event::Start(node))?;
        datum(&mut xml, "round", &message.round.to_string())?;
        datum(&mut xml, "seed", &is_seed.to_string())?;
        datum(&mut xml, "text", &message.text)?;
        xml.write_event(Event::End(BytesEnd::new("node")))?;
    }
    for edge in &graph.edges {
        let (from, to) = (format!("n{}", edge.from), format!("n{}", edge.to));
        let ends = [("source", from.as_str()), ("target", to.as_str())];
        let element = BytesStart::new("edge").with_attributes(ends);
        let Some(descent) = edge.descent else {
            xml.write_event(Event::Empty(element))?;
            continue;
        };
        xml.write_event(Event::Start(element))?;
        datum(&mut xml, "method", descent.parent.method.name())?;
        datum(
            &mut xml,
            "confidence",
            &descent.parent.confidence.to_string(),
        )?;
        datum(&mut xml, "best", &descent.best.to_string())?;
        xml.write_event(Event::End(BytesEnd::new("edge")))?;
    }
    xml.write_event(Event::End(BytesEnd::new("graph")))?;
    xml.write_event(Event::End(BytesEnd::new("graphml")))?;
    writeln!(xml.get_mut())
}

fn datum(xml: &mut Writer<impl Write>, key: &str, value: &str) -> io::Result<()> {
    let data = BytesStart::new("data").with_attributes([("key", key)]);
    xml.write_event(Event::Start(data))?;
    xml.write_event(Event::Text(BytesText::from_escaped(escaped(value))))?;
    xml.write_event(Event::End(BytesEnd::new("data")))
}

/// Escapes a text inside an element.
///
/// Characters that XML 1.0 cannot represent become U+FFFD. A CR is written as a number, because parsers read a plain CR
/// as a line feed.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 16);
    for char in text.chars() {
        match char {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\r' => escaped.push_str("&#13;"),
            '\t' | '\n' => escaped.push(char),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            _ => escaped.push(char),
        }
    }
    escaped
}
