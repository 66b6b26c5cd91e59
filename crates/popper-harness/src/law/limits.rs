//! The limits of a law, measured on its normal form, so that the normal form of a law is always a law.

use super::canonical::text;
use super::expr::Expr;
use super::model::Law;
use super::normal::NormalClaim;
use super::schema::{MAX_NODES, Problem};
use super::syntax::{self, MAX_DEPTH, MAX_TEXT};

/// The longest normal form, in bytes of JSON.
pub const MAX_NORMAL: usize = 64 << 10;

impl Law {
    /// The first limit that the normal form of this law exceeds; `root` names the law in the path.
    pub(super) fn beyond_limits(&self, root: &str) -> Option<Problem> {
        let normal = self.normal();
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
            if let NormalClaim::Formula(claim) = &normal.claim
                && let Some(message) = tree(claim, 1, &mut 0)
            {
                let field = if self.claim_ast.is_some() {
                    ".claim_ast"
                } else {
                    ".claim"
                };
                return at(field, message);
            }
        }
        let length = crate::hash::json(normal).len();
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
fn tree(node: &Expr, depth: usize, nodes: &mut usize) -> Option<String> {
    *nodes += 1;
    if depth > MAX_DEPTH {
        return Some(format!("nests deeper than {MAX_DEPTH}"));
    }
    if *nodes > MAX_NODES {
        return Some(format!("has more than {MAX_NODES} nodes"));
    }
    match node {
        Expr::Int(_) | Expr::Step => None,
        Expr::Obs(text, _) => expression(text),
        Expr::Neg(inner) | Expr::Not(inner) => tree(inner, depth + 1, nodes),
        Expr::Bin(_, left, right) => {
            tree(left, depth + 1, nodes).or_else(|| tree(right, depth + 1, nodes))
        }
    }
}
