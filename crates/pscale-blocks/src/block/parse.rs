//! From text to a block: strictly, with all faults, or leniently, without the faulty parts.

use std::collections::btree_map::Entry;
use std::fmt;

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Number;

use super::{Block, MAX_DECIMAL, MAX_FILE, MAX_TEXT, Node};
use crate::path::MAX_DEPTH;
use crate::{BlockError, FormatErrors, Issue, Path};

impl Block {
    /// Reads a block's text. Every key must be allowed and every node a text or a branch; a byte order mark is skipped.
    ///
    /// # Errors
    /// All faults, each with its node.
    pub fn parse(json: &str) -> Result<Self, FormatErrors> {
        strict(read(json)?)
    }

    /// Reads a block's text without what is faulty in it, and says what that was.
    ///
    /// # Errors
    /// The text is not a JSON object with a valid `decimal` and a `tree` that has a node.
    pub fn parse_lenient(json: &str) -> Result<(Self, Vec<Issue>), FormatErrors> {
        let (block, issues) = convert(read(json)?);
        match block {
            Some(block) => Ok((block, issues)),
            None => Err(FormatErrors { issues }),
        }
    }
}

pub(super) fn read(json: &str) -> Result<Loose, FormatErrors> {
    let json = json.strip_prefix('\u{feff}').unwrap_or(json);
    // Another layout of the same block may be longer than the normal form, but not by much.
    if json.len() > 4 * MAX_FILE {
        return Err(FormatErrors::of(format!(
            "the text has {} bytes, more than a block can have",
            json.len()
        )));
    }
    serde_json::from_str(json).map_err(|error| {
        let reason = error.to_string();
        if !reason.starts_with("recursion limit") {
            return FormatErrors::of(reason);
        }
        FormatErrors::of(format!(
            "nested too deep at line {} column {}: a node is at most {MAX_DEPTH} levels down",
            error.line(),
            error.column()
        ))
    })
}

/// The block of `loose`, if it has no fault.
pub(super) fn strict(loose: Loose) -> Result<Block, FormatErrors> {
    match convert(loose) {
        (Some(block), issues) if issues.is_empty() => Ok(block),
        (_, issues) => Err(FormatErrors { issues }),
    }
}

/// Any JSON, with keys as they come: also twice, also in any order.
pub(super) enum Loose {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Self>),
    Object(Vec<(String, Self)>),
}

impl<'de> Deserialize<'de> for Loose {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Anything)
    }
}

struct Anything;

impl<'de> Visitor<'de> for Anything {
    type Value = Loose;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Loose, E> {
        Ok(Loose::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Loose, E> {
        Ok(Loose::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Loose, E> {
        Ok(Loose::Number(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Loose, E> {
        Ok(Loose::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Loose, E> {
        Ok(Number::from_f64(value).map_or(Loose::Null, Loose::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Loose, E> {
        Ok(Loose::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Loose, E> {
        Ok(Loose::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Loose, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Loose::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Loose, A::Error> {
        let mut object = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            object.push(entry);
        }
        Ok(Loose::Object(object))
    }
}

impl Loose {
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::Text(_) => "a text",
            Self::List(_) => "a list",
            Self::Object(_) => "an object",
        }
    }

    /// The JSON it was read from. A key that an object has twice is here twice.
    pub(super) fn json(&self) -> String {
        let quoted = |text: &String| serde_json::Value::from(text.as_str()).to_string();
        match self {
            Self::Null => "null".to_owned(),
            Self::Bool(value) => value.to_string(),
            Self::Number(value) => value.to_string(),
            Self::Text(text) => quoted(text),
            Self::List(list) => {
                let items: Vec<_> = list.iter().map(Self::json).collect();
                format!("[{}]", items.join(","))
            }
            Self::Object(entries) => {
                let entries: Vec<_> = entries
                    .iter()
                    .map(|(key, value)| format!("{}:{}", quoted(key), value.json()))
                    .collect();
                format!("{{{}}}", entries.join(","))
            }
        }
    }
}

/// The block without its faulty parts, if one is left, and the faults.
pub(super) fn convert(loose: Loose) -> (Option<Block>, Vec<Issue>) {
    let mut faults = Faults::default();
    let Loose::Object(fields) = loose else {
        faults.add(
            Path::root(),
            format!("a block is an object, this is {}", loose.kind()),
            None,
        );
        return (None, faults.0);
    };
    let mut decimal = None;
    let mut tree = None;
    for (key, value) in fields {
        match key.as_str() {
            "decimal" if decimal.is_none() => decimal = Some(value),
            "tree" if tree.is_none() => tree = Some(value),
            "decimal" | "tree" => faults.add(
                Path::root(),
                format!("{key} is there twice"),
                Some(value.json()),
            ),
            _ => faults.add(
                Path::root(),
                format!("a block has decimal and tree, not {key:?}"),
                Some(value.json()),
            ),
        }
    }
    let decimal = faults.decimal(decimal);
    let tree = faults.tree(tree, decimal);
    let block = decimal
        .zip(tree)
        .map(|(decimal, tree)| Block::of(decimal, tree));
    if let Some(error) = block.as_ref().and_then(|block| block.check_limits().err()) {
        faults.add(Path::root(), error.to_string(), None);
        return (None, faults.0);
    }
    (block, faults.0)
}

#[derive(Default)]
struct Faults(Vec<Issue>);

impl Faults {
    fn add(&mut self, path: Path, reason: impl Into<String>, content: Option<String>) {
        let reason = reason.into();
        self.0.push(Issue {
            path,
            reason,
            content,
        });
    }

    fn decimal(&mut self, value: Option<Loose>) -> Option<u8> {
        let found = match &value {
            Some(Loose::Number(number)) => number
                .as_u64()
                .and_then(|number| u8::try_from(number).ok())
                .filter(|number| *number <= MAX_DECIMAL),
            _ => None,
        };
        if found.is_none() {
            let is = value.map_or("missing".to_owned(), |value| value.json());
            self.add(
                Path::root(),
                format!("decimal is a whole number from 0 to {MAX_DECIMAL}, here it is {is}"),
                None,
            );
        }
        found
    }

    fn tree(&mut self, value: Option<Loose>, decimal: Option<u8>) -> Option<Node> {
        let entries = match value {
            Some(Loose::Object(entries)) => entries,
            Some(other) => {
                let reason = format!("tree is an object of digits, here it is {}", other.kind());
                self.add(Path::root(), reason, Some(other.json()));
                return None;
            }
            None => {
                self.add(Path::root(), "tree is missing", None);
                return None;
            }
        };
        let mut tree = self.branch(Path::root(), entries);
        if decimal.is_some_and(|decimal| decimal > 0)
            && let Some(text) = tree.text.take()
        {
            self.add(
                Path::root(),
                "the tree itself has a text (`_`) only with decimal 0",
                Some(Loose::Text(text).json()),
            );
        }
        if tree.is_leaf() && tree.text.is_none() {
            self.add(Path::root(), "the tree is empty", None);
            return None;
        }
        Some(tree)
    }

    fn node(&mut self, path: Path, value: Loose) -> Option<Node> {
        match value {
            Loose::Text(text) => self.text(path, text).map(Node::leaf),
            Loose::Object(entries) => {
                let empty = entries.is_empty();
                let node = self.branch(path, entries);
                if empty {
                    self.add(
                        path,
                        "a branch without text or digits",
                        Some("{}".to_owned()),
                    );
                }
                // What is left of a faulty branch may be nothing.
                (node.text.is_some() || !node.is_leaf()).then_some(node)
            }
            other => {
                let reason = format!("a node is a text or an object, this is {}", other.kind());
                self.add(path, reason, Some(other.json()));
                None
            }
        }
    }

    fn branch(&mut self, path: Path, entries: Vec<(String, Loose)>) -> Node {
        let mut node = Node::default();
        for (key, value) in entries {
            match key.as_bytes() {
                b"_" if node.text.is_some() => {
                    self.add(path, "`_` is there twice", Some(value.json()));
                }
                b"_" => match value {
                    Loose::Text(text) => node.text = self.text(path, text),
                    other => {
                        let reason = format!("`_` is a text, here it is {}", other.kind());
                        self.add(path, reason, Some(other.json()));
                    }
                },
                [digit @ b'0'..=b'9'] => {
                    let digit = digit - b'0';
                    let Ok(below) = path.child(digit) else {
                        let reason = format!("a node below depth {MAX_DEPTH}");
                        self.add(path, reason, Some(value.json()));
                        continue;
                    };
                    match node.children.entry(digit) {
                        Entry::Occupied(_) => {
                            self.add(below, "this digit is there twice", Some(value.json()));
                        }
                        Entry::Vacant(place) => {
                            if let Some(child) = self.node(below, value) {
                                place.insert(child);
                            }
                        }
                    }
                }
                _ => self.add(
                    path,
                    format!("a node has `_` and single digits, not {key:?}"),
                    Some(value.json()),
                ),
            }
        }
        node
    }

    fn text(&mut self, path: Path, text: String) -> Option<String> {
        let fault = if text.len() > MAX_TEXT {
            let (what, limit, size) = ("text in bytes", MAX_TEXT, text.len());
            BlockError::TooLarge { what, limit, size }.to_string()
        } else if text.contains('\0') {
            "a text holds the character U+0000, which no block may".to_owned()
        } else {
            return Some(text);
        };
        self.add(path, fault, Some(Loose::Text(text).json()));
        None
    }
}

/// A node in the form of a log.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(transparent)]
pub(crate) struct Subtree(pub Node);

impl<'de> Deserialize<'de> for Subtree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut faults = Faults::default();
        let node = faults.node(Path::root(), Loose::deserialize(deserializer)?);
        match node {
            Some(node) if faults.0.is_empty() => Ok(Self(node)),
            _ => Err(serde::de::Error::custom(FormatErrors { issues: faults.0 })),
        }
    }
}
