//! The text of a law as one line of a prompt, in the names that the model knows.

use std::fmt::Write as _;

use popper_harness::law::{
    Capabilities, Expr, LocalFields, NormalClaim, NormalLaw, Notation, Precondition, unwrapped,
};
use popper_harness::universe::Shift;
use serde::Deserialize as _;
use serde_json::Value;

use super::scan::{TextFragment, pieces};
use super::symbol_mask::SymbolMask;
use crate::snapshot::UniverseContract;

/// The names that expressions may use in every universe.
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
/// The replacement of a claim that is not shown.
const UNREAD: &str = "(a text that cannot be read)";
/// The replacement of a name that a model made up.
const UNKNOWN: &str = "unknown_name";

/// The translator to the names that the model knows.
pub(super) struct NameTranslator<'a> {
    pub mask: &'a SymbolMask,
    pub contract: &'a UniverseContract,
}

/// The text of a law, and the names of its observables in it.
#[derive(Default)]
pub(super) struct LawText {
    pub text: String,
    observables: Vec<String>,
}

impl LawText {
    /// Returns the observables as names `o1`, `o2`, ... and expressions. A normal form names an observable by its expression.
    pub fn observables(&self) -> impl Iterator<Item = (String, &str)> {
        self.observables
            .iter()
            .enumerate()
            .map(|(index, expr)| (format!("o{}", index + 1), expr.as_str()))
    }

    /// Returns the text of a tree, and names its observables.
    fn formula(&mut self, tree: &Expr) -> String {
        let observables = tree.observables().into_iter();
        let named = observables.filter(|expr| *expr != "grid_length");
        self.observables = named.map(str::to_owned).collect();
        let name = |expr: &str| {
            let mut named = self.observables();
            named
                .find(|(_, known)| *known == expr)
                .map(|(name, _)| name)
        };
        tree.text(Notation::Parentheses, &|expr| {
            name(expr).unwrap_or_default()
        })
    }
}

impl NameTranslator<'_> {
    /// Returns the masked symbol. A symbol that the universe does not have becomes `?`, whether the model invented it or guessed an
    /// unmasked symbol. A difference between the two would reveal the unmasked symbols.
    fn symbol(&self, symbol: char) -> char {
        if self.contract.symbols.contains(&symbol) || self.mask.is_open() {
            self.mask.symbol(symbol)
        } else {
            '?'
        }
    }

    /// Returns a state in quotes.
    pub fn state(&self, state: &str) -> String {
        let cells = state.chars().count();
        if cells > MAX_CELLS {
            return format!("(a ring of {cells} cells)");
        }
        let shown: String = state.chars().map(|symbol| self.symbol(symbol)).collect();
        format!("'{shown}'")
    }

    /// Returns a name that the harness does not know. A blind model never sees such a name again, because hiding only the unmasked
    /// names would reveal them.
    fn coined(&self, name: String) -> String {
        if self.mask.is_open() {
            name
        } else {
            UNKNOWN.to_owned()
        }
    }

    /// Returns the name of a transform.
    pub fn transform(&self, name: &str) -> String {
        let shown = self.mask.transform(name);
        let is_known = Shift::parse(name).is_some()
            || self.contract.transforms.iter().any(|known| known == name);
        if is_known { shown } else { self.coined(shown) }
    }

    /// Returns an expression of the claim language in masked names.
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
                TextFragment::Quoted(text) => {
                    text.chars().map(|symbol| self.symbol(symbol)).collect()
                }
                TextFragment::Word(name) => word(name),
                TextFragment::Other(text) => text.to_owned(),
            })
            .collect()
    }

    /// Returns the text of a law in its normal form.
    pub fn law(&self, law: &Value) -> LawText {
        let mut sentence = LawText::default();
        let Ok(law) = NormalLaw::from_value(law.clone(), "$") else {
            "(a law that cannot be read)".clone_into(&mut sentence.text);
            return sentence;
        };
        let mut head = format!("{} T={}", law.template.name(), law.horizon);
        if let Some(h) = law.window {
            let _ = write!(head, " H={h}");
        }
        let claim = match &law.claim {
            NormalClaim::Formula(tree) => sentence.formula(tree),
            NormalClaim::Commutes(name) => format!("commutes({})", self.transform(name)),
            NormalClaim::Local(fields) => self.local(fields),
            NormalClaim::Unclear {
                claim,
                tree,
                transform,
                local,
            } => match (tree, transform, local) {
                (Some(tree), ..) => Expr::deserialize(tree)
                    .map_or_else(|_| UNREAD.to_owned(), |tree| sentence.formula(&tree)),
                (_, Some(name), _) => format!("commutes({})", self.transform(name)),
                (_, _, Some(fields)) => self.local(fields),
                // The claim did not parse, so it has no normal form, and its text is the model's own.
                _ => {
                    sentence.text = format!("{head}; claim {}", self.own_words(claim));
                    return sentence;
                }
            },
            _ => UNREAD.to_owned(),
        };
        let mut line = head.clone();
        if !law.preconditions.is_empty() {
            let conditions = law.preconditions.iter().map(|given| self.condition(given));
            let _ = write!(line, " if {}", conditions.collect::<Vec<_>>().join(" and "));
        }
        for (name, expr) in sentence.observables() {
            let _ = write!(line, "; {name} = {}", unwrapped(&self.expression(expr)));
        }
        let _ = write!(line, "; claim {claim}");
        let missing = self.missing(&law.capabilities);
        if !missing.is_empty() {
            let _ = write!(line, "; needs {}", missing.join(", "));
        }
        sentence.text = if line.len() > MAX_LINE {
            format!("{head}; (too long to be shown)")
        } else {
            line
        };
        sentence
    }

    fn condition(&self, given: &Precondition) -> String {
        let [left, right] = [&given.lhs, &given.rhs].map(|side| self.expression(side));
        let op = given.op.text();
        format!("{} {op} {}", unwrapped(&left), unwrapped(&right))
    }

    /// Returns the capabilities that the law declares missing.
    fn missing(&self, missing: &Capabilities) -> Vec<String> {
        let generators = missing.missing_generators.iter();
        let observables = missing.missing_observables.iter();
        let transforms = missing.missing_transforms.iter();
        let names = generators
            .map(|name| self.mask.family(name))
            .chain(observables.map(|name| self.mask.expression(name)))
            .chain(transforms.map(|name| self.mask.transform(name)));
        names.map(|name| self.coined(name)).collect()
    }

    /// Returns the text of a claim that did not parse. A blind model does not see its own text again.
    fn own_words(&self, claim: &str) -> String {
        // A line feed or an unclosed quote would break the line of the prompt.
        let is_plain = !claim.contains(['\n', '\'', '"']) && claim.len() <= MAX_LINE;
        if self.mask.is_open() && is_plain {
            claim.to_owned()
        } else {
            UNREAD.to_owned()
        }
    }

    fn local(&self, fields: &LocalFields) -> String {
        let symbol = |symbol: char| self.state(symbol.encode_utf8(&mut [0; 4]));
        let mut claim = format!("each cell {}", symbol(fields.trigger));
        if let Some(pattern) = &fields.pattern {
            let _ = write!(claim, " in the middle of {}", self.state(pattern));
        }
        if let Some(parity) = fields.parity {
            let _ = write!(claim, " with index % 2 == {parity}");
        }
        let (op, result) = (fields.result_op.text(), symbol(fields.result));
        let _ = write!(claim, " is {op} {result} one step on");
        claim
    }
}
