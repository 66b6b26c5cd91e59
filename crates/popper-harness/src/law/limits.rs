//! The limits of a law, measured on its normal form, so that the normal form of a law is always a law.

use serde_json::Value;

use super::model::Law;
use super::normal::{formula, text};
use super::resolve::Statement;
use super::schema::{MAX_NODES, Problem};
use super::syntax::{self, MAX_DEPTH, MAX_TEXT};

/// The longest normal form, in bytes of JSON.
pub const MAX_NORMAL: usize = 64 << 10;

impl Law {
    /// The first limit that the normal form exceeds; `root` names the law in the path.
    pub(super) fn beyond_limits(&self, root: &str) -> Option<Problem> {
        let at = |field: &str, message: String| {
            Some(Problem {
                path: format!("{root}{field}"),
                message,
            })
        };
        if let Ok(meaning) = self.meaning() {
            for (index, (_, node)) in meaning.observables.iter().enumerate() {
                if let Some(message) = expression(&text(node)) {
                    return at(&format!(".observables[{index}].expr"), message);
                }
            }
            for (index, (_, left, right)) in meaning.preconditions.iter().enumerate() {
                if let Some(message) = expression(&text(left)).or_else(|| expression(&text(right)))
                {
                    return at(&format!(".preconditions[{index}]"), message);
                }
            }
            if let Statement::Formula(claim) = &meaning.claim
                && let Some(message) = tree(&formula(claim), 1, &mut 0)
            {
                let field = if self.claim_ast.is_some() {
                    ".claim_ast"
                } else {
                    ".claim"
                };
                return at(field, message);
            }
        }
        let length = self.normalized().to_string().len();
        let long = format!("has {length} bytes in normal form, the limit is {MAX_NORMAL}");
        (length > MAX_NORMAL).then(|| at("", long)).flatten()
    }
}

/// The limit that an observable's canonical text exceeds.
fn expression(text: &str) -> Option<String> {
    if text.len() > MAX_TEXT {
        let length = text.len();
        return Some(format!(
            "has {length} bytes in normal form, the limit is {MAX_TEXT}"
        ));
    }
    let (mut depth, mut deepest, mut quote) = (0_usize, 0, None);
    for char in text.chars() {
        match (quote, char) {
            (Some(open), _) if open == char => quote = None,
            (None, '\'' | '"') => quote = Some(char),
            (None, '(') => depth += 1,
            (None, ')') => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    if deepest > MAX_DEPTH {
        return Some(format!("nests deeper than {MAX_DEPTH}"));
    }
    let error = syntax::parse(text).err()?;
    Some(format!("cannot be written in normal form: {error}"))
}

/// The limit that a canonical tree exceeds.
fn tree(node: &Value, depth: usize, nodes: &mut usize) -> Option<String> {
    *nodes += 1;
    if depth > MAX_DEPTH {
        return Some(format!("nests deeper than {MAX_DEPTH}"));
    }
    if *nodes > MAX_NODES {
        return Some(format!("has more than {MAX_NODES} nodes"));
    }
    if let Some(text) = node.get("obs").and_then(Value::as_str) {
        return expression(text);
    }
    let mut children = ["lhs", "rhs", "arg"]
        .into_iter()
        .filter_map(|key| node.get(key));
    children.find_map(|child| tree(child, depth + 1, nodes))
}
