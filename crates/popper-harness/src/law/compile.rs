//! The compilation of a law for a universe.

use super::model::{Law, LocalFields, Template};
use super::program::{
    Arith, CellClaim, Cells, Claim, Condition, Formula, Observable, Pattern, Program, Symmetry,
    Term,
};
use super::resolve::{Ambiguity, BUILT_IN, Statement};
use super::syntax::{self, Kind, Node, Op, SyntaxError, Time};
use crate::json::{hint, nearest};
use crate::universe::{Alphabet, Shift, Symbol, Tabulated, Universe};

/// A part of a law that the universe or the harness lacks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Missing {
    /// An observable or a function of one.
    #[error("observable `{name}` is not known{}", hint(nearest.as_deref()))]
    Observable {
        /// The name that the law uses.
        name: String,
        /// The known name that was probably meant.
        nearest: Option<String>,
    },
    /// A symbol inside of an observable.
    #[error("symbol {symbol} is not in {universe} ({alphabet})")]
    Symbol {
        /// The symbol that the law uses.
        symbol: char,
        /// The id of the universe.
        universe: String,
        /// The symbols of the universe, with blanks between.
        alphabet: String,
    },
    /// A transform of the universe.
    #[error("transform `{name}` is not known{}", hint(nearest.as_deref()))]
    Transform {
        /// The name that the law uses.
        name: String,
        /// The known name that was probably meant.
        nearest: Option<String>,
    },
}

/// A reason why a law cannot be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unfit {
    /// The law needs something that does not exist.
    #[error(transparent)]
    Missing(#[from] Missing),
    /// The law has no single meaning.
    #[error(transparent)]
    Ambiguous(#[from] Ambiguity),
}

impl Program {
    /// Compiles a law for a universe.
    ///
    /// # Errors
    /// [`Unfit`] with the first part that is missing, or else the first that is ambiguous.
    pub fn compile(law: &Law, universe: &Tabulated) -> Result<Self, Unfit> {
        let scope = Scope { universe };
        let resolved = match law.resolve() {
            Ok(resolved) => resolved,
            Err(ambiguity) => {
                return Err(scope
                    .missing(law)
                    .map_or_else(|| ambiguity.clone().into(), Unfit::Missing));
            }
        };
        let mut named = Vec::new();
        let mut ambiguous = None;
        for (index, (name, node)) in resolved.observables.iter().enumerate() {
            match scope.observable(node) {
                Ok(observable) => named.push((name.clone(), observable)),
                Err(Unresolved::Missing(missing)) => return Err(missing.into()),
                Err(Unresolved::Wrong(error)) => {
                    ambiguous.get_or_insert_with(|| scope.in_observable(law, index, error));
                }
            }
        }
        let mut preconditions = Vec::new();
        for (index, (op, left, right)) in resolved.preconditions.iter().enumerate() {
            match (scope.observable(left), scope.observable(right)) {
                (Ok(left), Ok(right)) => preconditions.push(Condition {
                    op: *op,
                    left,
                    right,
                }),
                (Err(Unresolved::Missing(missing)), _) | (_, Err(Unresolved::Missing(missing))) => {
                    return Err(missing.into());
                }
                (Err(Unresolved::Wrong(error)), _) | (_, Err(Unresolved::Wrong(error))) => {
                    let field = format!("preconditions[{index}]");
                    ambiguous.get_or_insert_with(|| Ambiguity::new(&field, error));
                }
            }
        }
        let mut observables = Vec::new();
        let claim = scope.claim(law, &resolved.claim, &mut observables);
        match (claim, ambiguous) {
            (Err(Unresolved::Missing(missing)), _) => Err(missing.into()),
            (_, Some(ambiguity)) => Err(ambiguity.into()),
            (Err(Unresolved::Wrong(error)), None) => Err(law.in_claim(error).into()),
            (Ok(claim), None) => {
                let (template, horizon) = (law.template, law.quantifiers.t);
                Ok(Self {
                    template,
                    observables,
                    named,
                    preconditions,
                    claim,
                    horizon,
                })
            }
        }
    }

    /// Whether an expression can be evaluated in a universe.
    pub fn measures(expr: &str, universe: &Tabulated) -> bool {
        syntax::parse(expr).is_ok_and(|node| Scope { universe }.observable(&node).is_ok())
    }
}

/// The functions of one or more symbols, with the number of their arguments.
const FUNCTIONS: [(&str, usize); 11] = [
    ("count", 1),
    ("count_even", 1),
    ("count_odd", 1),
    ("count_pattern", 1),
    ("leftmost", 1),
    ("rightmost", 1),
    ("spread", 1),
    ("max_gap", 1),
    ("count_at_parity", 2),
    ("adjacent_pairs", 2),
    ("gap_pairs", 3),
];

enum Unresolved {
    Missing(Missing),
    Wrong(SyntaxError),
}

type Resolved<T> = Result<T, Unresolved>;

fn wrong<T>(column: usize, message: impl Into<String>) -> Resolved<T> {
    Err(Unresolved::Wrong(SyntaxError::at(column, message)))
}

/// Returns an expression in which the names that the law declares are replaced by a constant.
fn without_names(node: &Node, declared: &dyn Fn(&str) -> bool) -> Node {
    let inner = |node: &Node| Box::new(without_names(node, declared));
    let kind = match &node.kind {
        Kind::Name(name) if declared(name) => Kind::Int(0),
        Kind::Neg(part) => Kind::Neg(inner(part)),
        Kind::Binary(op, left, right) => Kind::Binary(*op, inner(left), inner(right)),
        other => other.clone(),
    };
    Node {
        column: node.column,
        kind,
    }
}

struct Scope<'a> {
    universe: &'a Tabulated,
}

impl Scope<'_> {
    /// Returns the first missing part of a law's observables, as far as the law can be read.
    fn missing(&self, law: &Law) -> Option<Missing> {
        law.observables.iter().find_map(|observable| {
            let declared = |name: &str| {
                law.observables
                    .iter()
                    .any(|other| other.name == name && name != observable.name)
            };
            let node = syntax::parse(&observable.expr).ok()?;
            match self.observable(&without_names(&node, &declared)) {
                Err(Unresolved::Missing(missing)) => Some(missing),
                _ => None,
            }
        })
    }

    /// Locates an error in an observable, whose text is shown unless the error is in that of a name in it.
    fn in_observable(&self, law: &Law, index: usize, error: SyntaxError) -> Ambiguity {
        let field = format!("observables[{index}].expr");
        let text = &law.observables[index].expr;
        let own = syntax::parse(text).ok().map(|node| self.observable(&node));
        match own {
            Some(Err(Unresolved::Wrong(own))) if own == error => {
                Ambiguity::unread(&field, text, error)
            }
            _ => Ambiguity::new(&field, error),
        }
    }

    fn alphabet(&self) -> &Alphabet {
        self.universe.alphabet()
    }

    fn observable(&self, node: &Node) -> Resolved<Observable> {
        match &node.kind {
            Kind::Int(number) => Ok(Observable::Int(*number)),
            Kind::Name(name) => self.call(node.column, name, &[]),
            Kind::Call(name, arguments) => self.call(node.column, name, arguments),
            Kind::Neg(inner) => Ok(Observable::Neg(Box::new(self.observable(inner)?))),
            Kind::Binary(op, left, right) => {
                let op = match op {
                    Op::Add => Arith::Add,
                    Op::Sub => Arith::Sub,
                    Op::Mul => Arith::Mul,
                    Op::Mod => Arith::Mod,
                    _ => return wrong(node.column, "expected + - * %"),
                };
                Ok(Observable::Bin(
                    op,
                    Box::new(self.observable(left)?),
                    Box::new(self.observable(right)?),
                ))
            }
            _ => wrong(node.column, "expected an expression"),
        }
    }

    fn call(&self, column: usize, name: &str, arguments: &[Node]) -> Resolved<Observable> {
        let symbol = |index: usize| self.symbol(name, &arguments[index]);
        let pattern = |at: Vec<(usize, Symbol)>, cells| Observable::Count(Pattern { at, cells });
        let known = FUNCTIONS.iter().find(|(known, _)| *known == name);
        let arity = match known {
            Some((_, arity)) => *arity,
            None if BUILT_IN.contains(&name) => 0,
            None => return self.unknown(name),
        };
        if arguments.len() != arity {
            return wrong(
                column,
                format!(
                    "`{name}` takes {arity} arguments, found {}",
                    arguments.len()
                ),
            );
        }
        Ok(match name {
            "grid_length" => Observable::GridLength,
            "incoming_collisions" | "transition_indicator" => match self.universe.incoming() {
                Some(symbol) => Observable::Incoming(symbol),
                None => {
                    return Err(Unresolved::Missing(Missing::Observable {
                        name: name.into(),
                        nearest: None,
                    }));
                }
            },
            "count" => pattern(vec![(0, symbol(0)?)], Cells::Ring),
            "count_even" => pattern(vec![(0, symbol(0)?)], Cells::Parity(0)),
            "count_odd" => pattern(vec![(0, symbol(0)?)], Cells::Parity(1)),
            "count_at_parity" => match arguments[1].kind {
                Kind::Int(parity @ 0..=1) => {
                    pattern(vec![(0, symbol(0)?)], Cells::Parity(parity as u8))
                }
                _ => return wrong(arguments[1].column, "expected the parity 0 or 1"),
            },
            "count_pattern" => pattern(
                self.symbols(name, &arguments[0])?
                    .into_iter()
                    .enumerate()
                    .collect(),
                Cells::Ring,
            ),
            "leftmost" => Observable::Leftmost(symbol(0)?),
            "rightmost" => Observable::Rightmost(symbol(0)?),
            "spread" => Observable::Spread(symbol(0)?),
            "max_gap" => Observable::MaxGap(symbol(0)?),
            "adjacent_pairs" => pattern(vec![(0, symbol(0)?), (1, symbol(1)?)], Cells::Line),
            _ => match arguments[2].kind {
                Kind::Int(gap @ 0..=4096) => pattern(
                    vec![(0, symbol(0)?), (gap as usize + 1, symbol(1)?)],
                    Cells::Line,
                ),
                _ => {
                    return wrong(
                        arguments[2].column,
                        "expected the number of cells between, 0 to 4096",
                    );
                }
            },
        })
    }

    fn unknown<T>(&self, name: &str) -> Resolved<T> {
        let functions = FUNCTIONS.iter().map(|(known, _)| *known);
        let has_incoming = self.universe.incoming().is_some();
        let plain = BUILT_IN
            .into_iter()
            .filter(|known| has_incoming || *known == "grid_length");
        Err(Unresolved::Missing(Missing::Observable {
            name: name.into(),
            nearest: nearest(name, functions.chain(plain)).map(Into::into),
        }))
    }

    fn known_symbol(&self, symbol: char) -> Resolved<Symbol> {
        let missing = || {
            let alphabet: Vec<String> = self
                .alphabet()
                .chars()
                .iter()
                .map(char::to_string)
                .collect();
            Unresolved::Missing(Missing::Symbol {
                symbol,
                universe: self.universe.id().into(),
                alphabet: alphabet.join(" "),
            })
        };
        self.alphabet().symbol(symbol).ok_or_else(missing)
    }

    fn symbols(&self, function: &str, node: &Node) -> Resolved<Vec<Symbol>> {
        let Kind::Quoted(text) = &node.kind else {
            let is_known = |char| self.alphabet().symbol(char).is_some();
            let message = match &node.kind {
                Kind::Name(name) if name.chars().count() == 1 || name.chars().all(is_known) => {
                    format!("symbols are quoted: {function}('{name}')")
                }
                _ => format!(
                    "`{function}` expects quoted symbols here, as in '{}'",
                    self.alphabet().char(0)
                ),
            };
            return wrong(node.column, message);
        };
        if text.is_empty() {
            return wrong(node.column, "the quotes are empty");
        }
        text.chars().map(|char| self.known_symbol(char)).collect()
    }

    fn symbol(&self, function: &str, node: &Node) -> Resolved<Symbol> {
        match self.symbols(function, node)?.as_slice() {
            [symbol] => Ok(*symbol),
            _ => wrong(
                node.column,
                format!("`{function}` expects one symbol (use count_pattern for more)"),
            ),
        }
    }

    fn claim(
        &self,
        law: &Law,
        statement: &Statement,
        observables: &mut Vec<Observable>,
    ) -> Resolved<Claim> {
        let node = match statement {
            Statement::Commutes(name) => return self.symmetry(name).map(Claim::Commutes),
            Statement::Local(fields) => return self.local(fields),
            Statement::Formula(node) => node,
        };
        let formula = self.formula(node, observables)?;
        let latest = |time: &dyn Fn(Time) -> bool| {
            formula.any_term(&|term| matches!(term, Term::Obs(_, at) if time(*at)))
        };
        let late = |at| matches!(at, Time::At(step) if step > law.quantifiers.t);
        if latest(&late) {
            return wrong(
                node.column,
                format!("names a step after T = {}", law.quantifiers.t),
            );
        }
        let next = latest(&|at| at == Time::Next);
        let (antecedent, consequent) = match formula {
            Formula::Implies(antecedent, consequent) => (Some(*antecedent), *consequent),
            consequent => (None, consequent),
        };
        // A tree without `=>` says Q: every case triggers it.
        let always = || Formula::Cmp(Op::Eq, Term::Int(0), Term::Int(0));
        Ok(match law.template {
            Template::Eventually => Claim::Eventually {
                antecedent: antecedent.unwrap_or_else(always),
                consequent,
                window: law.quantifiers.h.unwrap_or(0),
            },
            template => Claim::Always {
                antecedent: match template {
                    Template::ImplicationStep | Template::ImplicationState => {
                        Some(antecedent.unwrap_or_else(always))
                    }
                    _ => antecedent,
                },
                consequent,
                steps: next || matches!(template, Template::ImplicationStep | Template::Monotone),
            },
        })
    }

    fn symmetry(&self, name: &str) -> Resolved<Symmetry> {
        if let Some(shift) = Shift::parse(name) {
            return Ok(Symmetry::Shift(shift));
        }
        let named = self
            .universe
            .transforms()
            .iter()
            .find(|transform| transform.name == name);
        named.cloned().map(Symmetry::Named).ok_or_else(|| {
            let known = self.universe.transforms().iter();
            let known = known.map(|transform| transform.name.as_str());
            Unresolved::Missing(Missing::Transform {
                name: name.into(),
                nearest: nearest(name, known).map(Into::into),
            })
        })
    }

    fn local(&self, fields: &LocalFields) -> Resolved<Claim> {
        let symbol = |char| self.known_symbol(char);
        let pattern = match &fields.pattern {
            None => None,
            Some(text) => {
                let symbols = text.chars().map(symbol).collect::<Resolved<Vec<_>>>()?;
                symbols.try_into().ok()
            }
        };
        Ok(Claim::Local(CellClaim {
            trigger: symbol(fields.trigger)?,
            pattern,
            parity: fields.parity,
            equal: fields.result_op == Op::Eq,
            result: symbol(fields.result)?,
        }))
    }

    fn formula(&self, node: &Node, observables: &mut Vec<Observable>) -> Resolved<Formula> {
        match &node.kind {
            Kind::Not(inner) => Ok(Formula::Not(Box::new(self.formula(inner, observables)?))),
            Kind::Binary(op, left, right) if op.is_comparison() => Ok(Formula::Cmp(
                *op,
                self.term(left, observables)?,
                self.term(right, observables)?,
            )),
            Kind::Binary(op, left, right) => {
                let left = Box::new(self.formula(left, observables)?);
                let right = Box::new(self.formula(right, observables)?);
                match op {
                    Op::And => Ok(Formula::And(left, right)),
                    Op::Or => Ok(Formula::Or(left, right)),
                    Op::Implies => Ok(Formula::Implies(left, right)),
                    _ => wrong(node.column, "expected something that is true or false"),
                }
            }
            _ => wrong(node.column, "expected something that is true or false"),
        }
    }

    fn term(&self, node: &Node, observables: &mut Vec<Observable>) -> Resolved<Term> {
        match &node.kind {
            Kind::Int(number) => Ok(Term::Int(*number)),
            Kind::Step => Ok(Term::Step),
            Kind::Neg(inner) => Ok(Term::Neg(Box::new(self.term(inner, observables)?))),
            Kind::At(inner, time) => {
                let observable = self.observable(inner)?;
                let index = observables
                    .iter()
                    .position(|known| *known == observable)
                    .unwrap_or_else(|| {
                        observables.push(observable.clone());
                        observables.len() - 1
                    });
                // What the ring alone decides is read once, whatever time the claim names.
                // `t+1` still says how far t may go.
                let time = if observable.is_static() && *time == Time::Now {
                    Time::At(0)
                } else {
                    *time
                };
                Ok(Term::Obs(index, time))
            }
            Kind::Binary(op, left, right) => Ok(Term::Bin(
                *op,
                Box::new(self.term(left, observables)?),
                Box::new(self.term(right, observables)?),
            )),
            _ => wrong(node.column, "expected a number"),
        }
    }
}
