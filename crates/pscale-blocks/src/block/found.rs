//! A block as an import finds it: in this format, or in the newer one of upstream, which has no `decimal`.

use std::collections::BTreeSet;
use std::mem;

use super::Block;
use super::parse::{Loose, convert, read};
use crate::{FormatErrors, Issue, Path};

/// The keys of a block that upstream computes from its tree.
const DERIVED: [&str; 6] = [
    "skeleton",
    "skeleton_at",
    "mask",
    "mask_at",
    "mask_tuning",
    "place",
];

/// A block as an import finds it.
#[derive(Default)]
pub(crate) struct FoundBlock {
    /// The block without its faulty parts. `None` if no node is left.
    pub block: Option<Block>,
    /// The faulty parts.
    pub issues: Vec<Issue>,
    /// The number of faulty parts that are trees in the place of a text, and have a text that can be kept.
    pub hidden_texts: usize,
    /// Sentences about the way in which the block was read.
    pub notices: Vec<String>,
    /// Upstream's note of the level that has pscale 0.
    pub tuning: Option<String>,
    /// Whether the issues are in the words of a repair, which has left the parts out.
    repair: bool,
}

impl FoundBlock {
    /// Reads a block's text. Without `decimal` it is one of the newer upstream format, whose root is the head.
    ///
    /// # Errors
    /// The text is not JSON, or is not a block in any format: no repair can help.
    pub fn read(json: &str, repair: bool) -> Result<Self, FormatErrors> {
        let mut found = Self {
            repair,
            ..Self::default()
        };
        let mut fields = match read(json)? {
            Loose::Object(fields) => fields,
            other => {
                let (_, issues) = convert(other);
                return Err(FormatErrors { issues });
            }
        };
        let has = |key: &str| fields.iter().any(|(found, _)| found == key);
        if !has("decimal") {
            if has("tree") {
                fields = found.without_extras(fields);
            } else if fields.iter().any(|(key, _)| is_node_key(key)) {
                fields = vec![("tree".to_owned(), Loose::Object(fields))];
            } else {
                return Err(FormatErrors::of(no_block(&fields)));
            }
            let decimal = found.decimal(&fields);
            fields.push(("decimal".to_owned(), Loose::Number(decimal.into())));
        }
        for (_, tree) in fields.iter_mut().filter(|(key, _)| key == "tree") {
            found.replace_hidden(Path::root(), tree);
        }
        let (block, issues) = convert(Loose::Object(fields));
        found.block = block;
        found.issues.extend(issues);
        Ok(found)
    }

    fn issue(&mut self, path: Path, reason: String, content: String) {
        let content = Some(content);
        self.issues.push(Issue {
            path,
            reason,
            content,
        });
    }

    /// The fields of a block of the newer format that are its tree. The others are kept in a note, left out or faulty.
    fn without_extras(&mut self, fields: Vec<(String, Loose)>) -> Vec<(String, Loose)> {
        let mut derived = BTreeSet::new();
        let mut trees = Vec::new();
        for (key, value) in fields {
            let place = DERIVED.iter().position(|name| *name == key);
            if let Some(place) = place {
                derived.insert(place);
            } else if key == "tree" {
                trees.push((key, value));
            } else if key == "tuning" && self.tuning.is_none() {
                self.tuning = match &value {
                    Loose::Text(text) => Some(shown(text)),
                    Loose::Number(number) => Some(number.to_string()),
                    other => {
                        let reason = format!(
                            "tuning is a text such as \"111.111\", here it is {}",
                            other.kind()
                        );
                        self.issue(Path::root(), reason, other.json());
                        None
                    }
                };
            } else {
                let reason = format!("not part of a block: {}", shown(&key));
                self.issue(Path::root(), reason, value.json());
            }
        }
        if !derived.is_empty() {
            let names: Vec<_> = derived.into_iter().map(|place| DERIVED[place]).collect();
            let notice = format!("left out, since upstream derives it: {}", names.join(", "));
            self.notices.push(notice);
        }
        trees
    }

    /// The decimal of a tree that has none with it.
    fn decimal(&mut self, trees: &[(String, Loose)]) -> u8 {
        let is_older = matches!(
            trees,
            [(_, Loose::Object(nodes))] if matches!(&nodes[..], [(key, _)] if key == "0")
        );
        let (decimal, format, head) = if is_older {
            (1, "older", "node 0")
        } else {
            (0, "newer", "the root")
        };
        let notice = format!("read as the {format} upstream format: {head} is the head");
        self.notices.insert(0, notice);
        let whole = self.tuning.as_deref().unwrap_or_default();
        let whole = whole.split('.').next().unwrap_or_default();
        let is_number = !whole.is_empty() && whole.bytes().all(|byte| byte.is_ascii_digit());
        let level = whole.len();
        if is_number && whole != "0" && level != usize::from(decimal) {
            self.notices.push(format!(
                "its tuning puts pscale 0 at level {level}; here {head} has pscale 0"
            ));
        }
        decimal
    }

    /// Puts the text of each tree that a node has in the place of its text into that place.
    fn replace_hidden(&mut self, path: Path, node: &mut Loose) {
        let Loose::Object(entries) = node else {
            return;
        };
        for (key, mut value) in mem::take(entries) {
            if let [digit @ b'0'..=b'9'] = key.as_bytes()
                && let Ok(below) = path.child(digit - b'0')
            {
                self.replace_hidden(below, &mut value);
            }
            if key == "_" && matches!(value, Loose::Object(_)) {
                let Some(text) = self.hidden_text(path, value) else {
                    continue;
                };
                value = Loose::Text(text);
            }
            entries.push((key, value));
        }
    }

    /// The text of the tree in the place of the text at `path`. The rest of the tree is an issue.
    fn hidden_text(&mut self, path: Path, tree: Loose) -> Option<String> {
        let content = tree.json();
        let mut left = Vec::new();
        let text = text_of(tree, "", &mut left);
        let mut reason = match &text {
            _ if !self.repair => "\"_\" holds a tree (a hidden level of the newer format); \
                this format has no place for it"
                .to_owned(),
            None => "the tree in \"_\", which has no text".to_owned(),
            Some(_) if left.is_empty() => "the level in \"_\"; its text is kept".to_owned(),
            Some(_) => format!(
                "of the tree in \"_\": {}; its text is kept",
                listed(&left.iter().map(String::as_str).collect::<Vec<_>>())
            ),
        };
        if path.is_root() {
            reason = format!("at the root: {reason}");
        }
        self.hidden_texts += usize::from(text.is_some());
        self.issue(path, reason, content);
        text
    }
}

/// The text of a tree, and the keys of all its other parts.
fn text_of(tree: Loose, above: &str, left: &mut Vec<String>) -> Option<String> {
    let Loose::Object(entries) = tree else {
        return None;
    };
    let mut text = None;
    for (key, value) in entries {
        match value {
            Loose::Text(found) if key == "_" && text.is_none() => text = Some(found),
            Loose::Object(_) if key == "_" && text.is_none() => {
                text = text_of(value, &format!("{above}_."), left);
            }
            _ => left.push(format!("{above}{}", shown(&key))),
        }
    }
    text
}

fn is_node_key(key: &str) -> bool {
    matches!(key.as_bytes(), [b'_' | b'0'..=b'9'])
}

fn no_block(fields: &[(String, Loose)]) -> String {
    let keys: BTreeSet<_> = fields.iter().map(|(key, _)| shown(key)).collect();
    let keys: Vec<_> = keys.iter().map(String::as_str).collect();
    let found = match &keys[..] {
        [] => "it is empty".to_owned(),
        [key] => format!("its key is {key}"),
        keys => format!("its keys are {}", listed(keys)),
    };
    format!("{found}; a block has \"tree\", or only \"_\" and the digits 0-9")
}

/// The first names of a list, and the number of the others.
fn listed(names: &[&str]) -> String {
    const SHOWN: usize = 8;
    let shown = names[..names.len().min(SHOWN)].join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// A short text of a file as a message shows it: without control characters, at most 80 characters of it.
fn shown(text: &str) -> String {
    const SHOWN: usize = 80;
    let mut shown: String = text.chars().take(SHOWN).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown.escape_debug().to_string()
}
