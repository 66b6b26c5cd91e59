//! A law as one line of a prompt: its normal form in the words that the model knows.

use std::fmt::Write as _;

use popper_harness::universe::Shift;
use serde_json::Value;

use super::scan::{Piece, pieces};
use super::symbol_mask::SymbolMask;
use crate::snapshot::Contract;

/// What expressions may name in every universe.
const LANGUAGE: [&str; 16] = [
    "adjacent_pairs",
    "and",
    "count",
    "count_at_parity",
    "count_even",
    "count_odd",
    "count_pattern",
    "gap_pairs",
    "grid_length",
    "leftmost",
    "max_gap",
    "not",
    "or",
    "rightmost",
    "spread",
    "t",
];
/// The longest line of a law, in bytes.
const MAX_LINE: usize = 2000;
/// The largest ring that is shown, in cells.
const MAX_CELLS: usize = 200;
/// What stands for a name that a model made up.
const UNKNOWN: &str = "unknown_name";

/// Says things in the words that the model knows.
pub(super) struct Speaker<'a> {
    pub mask: &'a SymbolMask,
    pub contract: &'a Contract,
}

/// A law as a line, and what its observables are called there.
pub(super) struct Sentence {
    pub text: String,
    observables: Vec<String>,
}

impl Sentence {
    /// The name of an observable, which normal forms call by its expression.
    fn name(&mut self, expr: &str) -> String {
        if expr == "grid_length" {
            return expr.to_owned();
        }
        let known = self.observables.iter().position(|known| known == expr);
        let index = known.unwrap_or_else(|| {
            self.observables.push(expr.to_owned());
            self.observables.len() - 1
        });
        format!("o{}", index + 1)
    }

    /// The observables with their names.
    pub fn observables(&self) -> impl Iterator<Item = (String, &str)> {
        self.observables
            .iter()
            .enumerate()
            .map(|(index, expr)| (format!("o{}", index + 1), expr.as_str()))
    }
}

impl Speaker<'_> {
    /// A symbol. One that the universe does not have is a guess of the model's, or a physical one: to tell these apart would tell
    /// what the physical ones are.
    fn symbol(&self, symbol: char) -> char {
        if self.contract.symbols.contains(&symbol) || self.mask.is_open() {
            self.mask.symbol(symbol)
        } else {
            '?'
        }
    }

    /// A state in quotes.
    pub fn state(&self, state: &str) -> String {
        let cells = state.chars().count();
        if cells > MAX_CELLS {
            return format!("(a ring of {cells} cells)");
        }
        let shown: String = state.chars().map(|symbol| self.symbol(symbol)).collect();
        format!("'{shown}'")
    }

    /// A name that the harness does not know. A blind model sees none of them again: to hide only the physical ones would point
    /// at them.
    fn coined(&self, name: String) -> String {
        if self.mask.is_open() {
            name
        } else {
            UNKNOWN.to_owned()
        }
    }

    /// A transform.
    pub fn transform(&self, name: &str) -> String {
        let shown = self.mask.transform(name);
        let is_known = Shift::parse(name).is_some()
            || self.contract.transforms.iter().any(|known| known == name);
        if is_known { shown } else { self.coined(shown) }
    }

    /// An expression of the language.
    pub fn expression(&self, text: &str) -> String {
        let word = |word: &str| {
            let shown = self.mask.expression(word);
            let is_incoming = matches!(word, "incoming_collisions" | "transition_indicator");
            if LANGUAGE.binary_search(&word).is_ok() || (is_incoming && self.contract.has_incoming)
            {
                shown
            } else {
                self.coined(shown)
            }
        };
        pieces(text)
            .map(|piece| match piece {
                Piece::Quoted(text) => text.chars().map(|symbol| self.symbol(symbol)).collect(),
                Piece::Word(name) => word(name),
                Piece::Other(text) => text.to_owned(),
            })
            .collect()
    }

    /// A law in its normal form.
    pub fn law(&self, law: &Value) -> Sentence {
        let mut sentence = Sentence {
            text: String::new(),
            observables: Vec::new(),
        };
        let text = |key: &str| law[key].as_str();
        let mut head = text("template").unwrap_or_default().to_owned();
        for key in ["T", "H"] {
            if let Some(steps) = law["quantifiers"][key].as_u64() {
                let _ = write!(head, " {key}={steps}");
            }
        }
        if !["claim_ast", "transform", "trigger_symbol"]
            .iter()
            .any(|key| !law[*key].is_null())
        {
            // Nobody could say what it means, so it has no normal form, and its texts are the model's.
            let claim = self.own_words(text("claim").unwrap_or_default());
            sentence.text = format!("{head}; claim {claim}");
            return sentence;
        }
        let claim = if law["claim_ast"].is_object() {
            let tree = tree(&law["claim_ast"], &mut sentence);
            opened(&tree).to_owned()
        } else if let Some(name) = text("transform") {
            format!("commutes({})", self.transform(name))
        } else {
            self.local(text("trigger_symbol").unwrap_or_default(), law)
        };
        let mut line = head.clone();
        if let Some(conditions) = self.conditions(law) {
            let _ = write!(line, " if {conditions}");
        }
        for (index, expr) in sentence.observables.iter().enumerate() {
            let expr = self.expression(expr);
            let _ = write!(line, "; o{} = {}", index + 1, opened(&expr));
        }
        let _ = write!(line, "; claim {claim}");
        if let Some(names) = self.missing(law) {
            let _ = write!(line, "; needs {names}");
        }
        sentence.text = if line.len() > MAX_LINE {
            format!("{head}; (too long to be shown)")
        } else {
            line
        };
        sentence
    }

    fn conditions(&self, law: &Value) -> Option<String> {
        let side = |condition: &Value, key: &str| {
            let text = self.expression(condition[key].as_str().unwrap_or_default());
            opened(&text).to_owned()
        };
        let conditions: Vec<String> = law["preconditions"]
            .as_array()?
            .iter()
            .map(|condition| {
                let op = condition["op"].as_str().unwrap_or_default();
                format!("{} {op} {}", side(condition, "lhs"), side(condition, "rhs"))
            })
            .collect();
        (!conditions.is_empty()).then(|| conditions.join(" and "))
    }

    /// What the law declares to be missing.
    fn missing(&self, law: &Value) -> Option<String> {
        let mut names = Vec::new();
        for (key, value) in law["capability_requirements"].as_object()? {
            for name in value
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
            {
                let shown = match key.as_str() {
                    "missing_transforms" => self.mask.transform(name),
                    "missing_generators" => self.mask.family(name),
                    _ => self.mask.expression(name),
                };
                names.push(self.coined(shown));
            }
        }
        (!names.is_empty()).then(|| names.join(", "))
    }

    /// A claim that nobody could read: the model's own text, which a blind model does not see again either.
    fn own_words(&self, claim: &str) -> String {
        // A quote that is not closed would spoil the line.
        let is_plain = !claim.contains(['\n', '\'', '"']) && claim.len() <= MAX_LINE;
        if self.mask.is_open() && is_plain {
            claim.to_owned()
        } else {
            "(a text that cannot be read)".to_owned()
        }
    }

    fn local(&self, trigger: &str, law: &Value) -> String {
        let text = |key: &str| law[key].as_str();
        let mut claim = format!("each cell {}", self.state(trigger));
        if let Some(pattern) = text("neighbor_pattern") {
            let _ = write!(claim, " in the middle of {}", self.state(pattern));
        }
        if let Some(parity) = law["required_parity"].as_u64() {
            let _ = write!(claim, " with index % 2 == {parity}");
        }
        let op = text("result_op").unwrap_or("==");
        let result = self.state(text("result_symbol").unwrap_or_default());
        let _ = write!(claim, " is {op} {result} one step on");
        claim
    }
}

/// A claim's tree as text, with parentheses around everything that has two sides. Normal forms do not nest deeper than a law
/// may, so the recursion is bounded.
fn tree(node: &Value, sentence: &mut Sentence) -> String {
    if let Some(expr) = node["obs"].as_str() {
        let name = sentence.name(expr);
        return match &node["t"] {
            Value::Null => name,
            _ if name == "grid_length" => name,
            time if time["var"] == "t" => format!("{name}(t)"),
            time if time["t_plus_1"] == true => format!("{name}(t+1)"),
            time => format!("{name}({})", time["const"]),
        };
    }
    if node["var"] == "t" {
        return "t".to_owned();
    }
    let op = match node["op"].as_str() {
        Some("=>") => "->",
        Some(op) => op,
        None => return node["const"].to_string(),
    };
    if !node["arg"].is_null() {
        let space = if op == "not" { " " } else { "" };
        return format!("{op}{space}{}", tree(&node["arg"], sentence));
    }
    let (left, right) = (tree(&node["lhs"], sentence), tree(&node["rhs"], sentence));
    format!("({left} {op} {right})")
}

/// A text without the parentheses around all of it.
fn opened(text: &str) -> &str {
    let Some(inside) = text
        .strip_prefix('(')
        .and_then(|text| text.strip_suffix(')'))
    else {
        return text;
    };
    let mut depth = 1_i32;
    for c in inside.chars() {
        depth += match c {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        if depth == 0 {
            return text;
        }
    }
    inside
}
