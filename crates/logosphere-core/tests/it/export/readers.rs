//! Readers of the forms, as strict as their definitions.

use std::collections::BTreeMap;

use logosphere_core::pool::MessageId;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

/// Values by name.
pub type Fields = BTreeMap<String, String>;

/// A graph as XML has it.
#[derive(Default)]
pub struct XmlGraph {
    pub nodes: Vec<Fields>,
    /// From, to, whether it is the best.
    pub edges: Vec<(String, String, Option<String>)>,
}

pub fn graphml(xml: &str) -> XmlGraph {
    let mut reader = Reader::from_str(xml);
    let mut graph = XmlGraph::default();
    let mut keys: Vec<(String, String)> = Vec::new();
    let (mut open, mut owner) = (Vec::new(), Fields::new());
    let mut datum = None;
    loop {
        match reader.read_event().unwrap() {
            Event::Start(start) => {
                let fields = attributes(&start);
                let name = start.name().as_ref().to_owned();
                match name.as_str() {
                    "node" | "edge" => owner = fields,
                    "data" => {
                        let owner = open.last().cloned().unwrap();
                        assert!(keys.contains(&(fields["key"].clone(), owner)));
                        datum = Some((fields["key"].clone(), String::new()));
                    }
                    "graph" => assert_eq!(fields["edgedefault"], "directed"),
                    _ => assert_eq!(name, "graphml"),
                }
                open.push(name);
            }
            Event::Empty(start) => {
                let fields = attributes(&start);
                match start.name().as_ref() {
                    "key" => keys.push((fields["id"].clone(), fields["for"].clone())),
                    "edge" => graph.edge(&fields),
                    other => panic!("{other}"),
                }
            }
            Event::Text(text) => {
                let text = text.xml10_content();
                let legal = |char| !matches!(char, '\0'..'\t' | '\u{b}' | '\u{c}' | '\u{e}'..' ' | '\u{fffe}' | '\u{ffff}');
                assert!(text.chars().all(legal), "{text:?}");
                match &mut datum {
                    Some((_, value)) => value.push_str(&text),
                    None => assert_eq!(text.trim(), ""),
                }
            }
            Event::GeneralRef(reference) => {
                let (_, value) = datum.as_mut().unwrap();
                match reference.resolve_char_ref().unwrap() {
                    Some(char) => value.push(char),
                    None => value.push(match &*reference.xml10_content() {
                        "amp" => '&',
                        "lt" => '<',
                        "gt" => '>',
                        other => panic!("{other}"),
                    }),
                }
            }
            Event::End(end) => {
                assert_eq!(open.pop().as_deref(), Some(end.name().as_ref()));
                match end.name().as_ref() {
                    "data" => owner.extend(datum.take()),
                    "node" => graph.nodes.push(std::mem::take(&mut owner)),
                    "edge" => graph.edge(&std::mem::take(&mut owner)),
                    _ => {}
                }
            }
            Event::Decl(_) => {}
            Event::Eof => break,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(open, [""; 0]);
    graph
}

impl XmlGraph {
    fn edge(&mut self, fields: &Fields) {
        let ends = (fields["source"].clone(), fields["target"].clone());
        self.edges
            .push((ends.0, ends.1, fields.get("best").cloned()));
    }
}

fn attributes(start: &BytesStart<'_>) -> Fields {
    let attributes = start.attributes().map(Result::unwrap);
    attributes
        .map(|attribute| {
            let name = attribute.key.as_ref().to_owned();
            (name, attribute.value.to_string())
        })
        .collect()
}

/// A graph as DOT has it.
#[derive(Default)]
pub struct DotGraph {
    pub nodes: Vec<(MessageId, String)>,
    pub edges: Vec<(MessageId, MessageId)>,
}

pub fn dot(text: &str) -> DotGraph {
    let mut tokens = dot_tokens(text).into_iter().peekable();
    let mut next = || tokens.next().unwrap();
    assert_eq!(next(), "digraph");
    assert!(["lineage", "exposure"].contains(&next().as_str()));
    assert_eq!(next(), "{");
    let mut graph = DotGraph::default();
    loop {
        let first = next();
        if first == "}" {
            break;
        }
        let first = MessageId(first.parse().unwrap());
        let mut target = None;
        let mut fields = Fields::new();
        let mut token = next();
        if token == "->" {
            target = Some(MessageId(next().parse().unwrap()));
            token = next();
        }
        if token == "[" {
            loop {
                let name = next();
                assert_eq!(next(), "=");
                fields.insert(name, next());
                match next().as_str() {
                    "," => {}
                    "]" => break,
                    other => panic!("{other}"),
                }
            }
            token = next();
        }
        assert_eq!(token, ";");
        match target {
            Some(target) => graph.edges.push((first, target)),
            None => graph.nodes.push((first, fields["label"].clone())),
        }
    }
    assert_eq!(tokens.next(), None);
    graph
}

/// Names, numbers, marks, and quoted texts without their quotes.
fn dot_tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            ' ' | '\n' => {}
            '"' => {
                let mut value = String::new();
                loop {
                    match chars.next().unwrap() {
                        '"' => break,
                        '\\' => match chars.next().unwrap() {
                            escaped @ ('"' | '\\') => value.push(escaped),
                            other => panic!("escape {other:?}"),
                        },
                        char => value.push(char),
                    }
                }
                assert_eq!(value.matches('&').count(), value.matches("&amp;").count());
                tokens.push(value.replace("&amp;", "&"));
            }
            '-' => {
                assert_eq!(chars.next(), Some('>'));
                tokens.push("->".to_owned());
            }
            '{' | '}' | '[' | ']' | ';' | ',' | '=' => tokens.push(char.to_string()),
            _ => {
                let mut name = char.to_string();
                let part = |char: &char| char.is_ascii_alphanumeric() || *char == '.';
                assert!(part(&char), "{char:?}");
                while let Some(char) = chars.next_if(part) {
                    name.push(char);
                }
                tokens.push(name);
            }
        }
    }
    tokens
}

pub fn csv(text: &str) -> Vec<Fields> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().unwrap().clone();
    let rows = reader.records().map(|row| {
        let row = row.unwrap();
        std::iter::zip(&header, &row)
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect()
    });
    rows.collect()
}

pub fn jsonl(text: &str) -> Vec<serde_json::Value> {
    let lines = text.split_terminator('\n');
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}
