//! What a law says: names replaced by what they stand for, and the one claim that counts.

use std::collections::BTreeMap;

use super::model::{Law, LocalFields, Template};
use super::normal;
use super::schema::MAX_NODES;
use super::syntax::{self, Kind, Node, Op, SyntaxError, Time};

/// The observables without arguments that exist under their own name.
pub const BUILT_IN: [&str; 3] = ["grid_length", "incoming_collisions", "transition_indicator"];

/// A law that can be read in more than one way, or in none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {error}")]
pub struct Ambiguity {
    /// Which text: `claim`, `observables[0].expr`, `preconditions[1].lhs`, ...
    pub field: String,
    /// Where in it, and why.
    pub error: SyntaxError,
}

/// What a law says, with every name replaced by its expression.
#[derive(Debug, Clone)]
pub struct Meaning {
    /// The declared observables, by name.
    pub observables: Vec<(String, Node)>,
    /// The conditions on the initial state.
    pub preconditions: Vec<(Op, Node, Node)>,
    /// The claim.
    pub claim: Statement,
}

/// A claim.
#[derive(Debug, Clone)]
pub enum Statement {
    /// A formula over observables at times.
    Formula(Node),
    /// A transform commutes with the step.
    Commutes(String),
    /// What becomes of the cells with one symbol.
    Local(LocalFields),
}

impl Law {
    /// What the law says.
    ///
    /// # Errors
    /// [`Ambiguity`] when an expression or the claim does not parse, the types do not fit, or the claim's text and fields differ.
    pub fn meaning(&self) -> Result<Meaning, Ambiguity> {
        let names = Names::of(self)?;
        let preconditions = self
            .preconditions
            .iter()
            .enumerate()
            .map(|(index, condition)| {
                let side = |key: &str, text: &str| {
                    let field = format!("preconditions[{index}].{key}");
                    names.expression(&field, text, None)
                };
                Ok((
                    condition.op,
                    side("lhs", &condition.lhs)?,
                    side("rhs", &condition.rhs)?,
                ))
            })
            .collect::<Result<_, Ambiguity>>()?;
        let claim = self.statement(&names)?;
        Ok(Meaning {
            observables: names.expanded,
            preconditions,
            claim,
        })
    }

    fn statement(&self, names: &Names) -> Result<Statement, Ambiguity> {
        let claim = |error| Ambiguity {
            field: "claim".into(),
            error,
        };
        match self.template {
            Template::LocalTransition => {
                let missing = || {
                    claim(SyntaxError::at(
                        0,
                        "the fields of local_transition are missing",
                    ))
                };
                return self.local.clone().map(Statement::Local).ok_or_else(missing);
            }
            Template::SymmetryCommutation => {
                let said = commutes(&self.claim);
                return match (&self.transform, said) {
                    (Some(field), Some(text)) if *field != text => {
                        let message =
                            format!("the text says `{text}`, the field `transform` says `{field}`");
                        Err(claim(SyntaxError::at(1, message)))
                    }
                    (Some(name), _) => Ok(Statement::Commutes(name.clone())),
                    (None, Some(name)) => Ok(Statement::Commutes(name)),
                    (None, None) => {
                        Err(claim(SyntaxError::at(1, "expected `commutes(TRANSFORM)`")))
                    }
                };
            }
            _ => {}
        }
        if let Some(tree) = &self.claim_ast {
            let field = |error| Ambiguity {
                field: "claim_ast".into(),
                error,
            };
            let tree = names.claim(tree).map_err(field)?;
            self.check_shape(&tree).map_err(field)?;
            return Ok(Statement::Formula(tree));
        }
        let text = syntax::parse(&self.claim)
            .and_then(|tree| timed(&tree))
            .and_then(|tree| names.claim(&tree));
        let text = text.and_then(|tree| self.check_shape(&tree).map(|()| tree));
        match (self.stated_by_fields(), text) {
            (None, text) => text.map(Statement::Formula).map_err(claim),
            // Text that does not parse is a comment where the fields say everything.
            (Some(fields), Err(_)) => names.claim(&fields).map(Statement::Formula).map_err(claim),
            (Some(fields), Ok(text)) => {
                let fields = names.claim(&fields).map_err(claim)?;
                if normal::formula(&fields) == normal::formula(&text) {
                    Ok(Statement::Formula(fields))
                } else {
                    Err(claim(SyntaxError::at(
                        1,
                        "the text says something else than the template and its fields",
                    )))
                }
            }
        }
    }

    /// The claim that the template's own fields state, if they state all of it.
    fn stated_by_fields(&self) -> Option<Node> {
        let [observable] = self.observables.as_slice() else {
            return None;
        };
        let at = |time| {
            Node::made(Kind::At(
                Box::new(Node::made(Kind::Name(observable.name.clone()))),
                time,
            ))
        };
        match self.template {
            Template::Invariant => Some(Node::binary(Op::Eq, at(Time::Now), at(Time::At(0)))),
            Template::Monotone => {
                Some(Node::binary(self.direction?, at(Time::Next), at(Time::Now)))
            }
            Template::Bound => Some(Node::binary(
                self.bound_op?,
                at(Time::Now),
                Node::made(Kind::Int(self.bound_value?)),
            )),
            _ => None,
        }
    }

    fn check_shape(&self, claim: &Node) -> Result<(), SyntaxError> {
        let implication = matches!(
            self.template,
            Template::ImplicationStep | Template::ImplicationState | Template::Eventually
        );
        match claim.kind {
            Kind::Binary(Op::Implies, ..) => Ok(()),
            _ if implication => Err(SyntaxError::at(
                claim.column,
                "expected `P -> Q`, as the template says",
            )),
            _ => Ok(()),
        }
    }
}

/// The name inside `commutes(NAME)`; shifts such as `shift_-1` are no names of the grammar.
fn commutes(text: &str) -> Option<String> {
    let name = text
        .trim()
        .strip_prefix("commutes")?
        .trim_start()
        .strip_prefix('(')?
        .strip_suffix(')')?
        .trim();
    let word = !name.is_empty()
        && name
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
    word.then(|| name.into())
}

/// Reads `name(t)`, `name(t+1)`, `name(3)` and `t` in a parsed claim.
fn timed(node: &Node) -> Result<Node, SyntaxError> {
    let kind = match &node.kind {
        Kind::Int(number) => Kind::Int(*number),
        Kind::Name(name) if name == "t" => Kind::Step,
        Kind::Name(name) if name == "grid_length" => Kind::At(Box::new(node.clone()), Time::At(0)),
        Kind::Name(name) => {
            return Err(SyntaxError::at(
                node.column,
                format!("expected a time behind `{name}`, as in `{name}(t)`"),
            ));
        }
        Kind::Call(name, arguments) => {
            let name = Node {
                column: node.column,
                kind: Kind::Name(name.clone()),
            };
            Kind::At(Box::new(name), time(node.column, arguments)?)
        }
        Kind::Quoted(_) => {
            return Err(SyntaxError::at(
                node.column,
                "a symbol has no value: count it in an observable",
            ));
        }
        Kind::Neg(inner) => Kind::Neg(Box::new(timed(inner)?)),
        Kind::Not(inner) => Kind::Not(Box::new(timed(inner)?)),
        Kind::Binary(op, left, right) => {
            Kind::Binary(*op, Box::new(timed(left)?), Box::new(timed(right)?))
        }
        Kind::At(..) | Kind::Step => node.kind.clone(),
    };
    Ok(Node {
        column: node.column,
        kind,
    })
}

fn time(column: usize, arguments: &[Node]) -> Result<Time, SyntaxError> {
    let is_t = |node: &Node| matches!(&node.kind, Kind::Name(name) if name == "t");
    match arguments {
        [
            Node {
                kind: Kind::Int(step @ 0..),
                ..
            },
        ] => Ok(Time::At(*step as u64)),
        [now] if is_t(now) => Ok(Time::Now),
        [
            Node {
                kind: Kind::Binary(Op::Add, left, right),
                ..
            },
        ] => match (&left.kind, &right.kind) {
            (_, Kind::Int(1)) if is_t(left) => Ok(Time::Next),
            (Kind::Int(1), _) if is_t(right) => Ok(Time::Next),
            _ => Err(SyntaxError::at(
                left.column,
                "expected `t`, `t+1` or a number of steps",
            )),
        },
        [other] => {
            let message = "expected `t`, `t+1` or a number of steps (functions of symbols belong into `observables`)";
            Err(SyntaxError::at(other.column, message))
        }
        _ => Err(SyntaxError::at(
            column,
            "expected one time in the parentheses",
        )),
    }
}

/// The declared names and what they stand for.
struct Names {
    expanded: Vec<(String, Node)>,
}

impl Names {
    fn of(law: &Law) -> Result<Self, Ambiguity> {
        let mut parsed = BTreeMap::new();
        for (index, observable) in law.observables.iter().enumerate() {
            let field = format!("observables[{index}].expr");
            let wrap = |error| Ambiguity {
                field: field.clone(),
                error,
            };
            let node = syntax::parse(&observable.expr).map_err(wrap)?;
            integer_only(&node).map_err(wrap)?;
            parsed.insert(observable.name.as_str(), (field, node));
        }
        let mut names = Self {
            expanded: Vec::new(),
        };
        for observable in &law.observables {
            names.expand(&observable.name, &parsed, &mut Vec::new())?;
        }
        // In the order of the law, not in the order of need.
        names.expanded.sort_by_key(|(name, _)| {
            law.observables
                .iter()
                .position(|declared| declared.name == *name)
        });
        Ok(names)
    }

    fn get(&self, name: &str) -> Option<&Node> {
        self.expanded
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, node)| node)
    }

    /// Expands one name, and first every name it needs.
    fn expand<'a>(
        &mut self,
        name: &'a str,
        parsed: &'a BTreeMap<&str, (String, Node)>,
        open: &mut Vec<&'a str>,
    ) -> Result<(), Ambiguity> {
        let Some((field, node)) = parsed.get(name) else {
            return Ok(());
        };
        if self.get(name).is_some() {
            return Ok(());
        }
        let wrap = |error| Ambiguity {
            field: field.clone(),
            error,
        };
        if open.contains(&name) {
            let cycle = format!(
                "the names {} define each other in a circle",
                open.join(", ")
            );
            return Err(wrap(SyntaxError::at(1, cycle)));
        }
        open.push(name);
        let mut needs = Vec::new();
        free_names(node, &mut needs);
        for need in needs
            .into_iter()
            .filter(|need| *need != name && !BUILT_IN.contains(need))
        {
            self.expand(need, parsed, open)?;
        }
        open.pop();
        let node = self.inline(node, Some(name));
        if size(&node) > MAX_NODES {
            return Err(wrap(SyntaxError::at(
                1,
                format!("expands to more than {MAX_NODES} nodes"),
            )));
        }
        self.expanded.push((name.into(), node));
        Ok(())
    }

    /// The tree of an expression of integers, names replaced. `own` is the name it defines, which cannot mean itself.
    fn expression(&self, field: &str, text: &str, own: Option<&str>) -> Result<Node, Ambiguity> {
        let wrap = |error| Ambiguity {
            field: field.into(),
            error,
        };
        let node = syntax::parse(text).map_err(wrap)?;
        integer_only(&node).map_err(wrap)?;
        let node = self.inline(&node, own);
        if size(&node) > MAX_NODES {
            return Err(wrap(SyntaxError::at(
                1,
                format!("expands to more than {MAX_NODES} nodes"),
            )));
        }
        Ok(node)
    }

    fn inline(&self, node: &Node, own: Option<&str>) -> Node {
        let kind = match &node.kind {
            Kind::Name(name) if !BUILT_IN.contains(&name.as_str()) && own != Some(name) => {
                return self.get(name).cloned().unwrap_or_else(|| node.clone());
            }
            Kind::Neg(inner) => Kind::Neg(Box::new(self.inline(inner, own))),
            Kind::Binary(op, left, right) => Kind::Binary(
                *op,
                Box::new(self.inline(left, own)),
                Box::new(self.inline(right, own)),
            ),
            other => other.clone(),
        };
        Node {
            column: node.column,
            kind,
        }
    }

    /// A claim with every observable expanded, of type bool.
    fn claim(&self, node: &Node) -> Result<Node, SyntaxError> {
        let node = self.expand_times(node)?;
        if !is_bool(&node)? {
            return Err(SyntaxError::at(
                node.column,
                "expected something that is true or false, found a number",
            ));
        }
        Ok(node)
    }

    fn expand_times(&self, node: &Node) -> Result<Node, SyntaxError> {
        let kind = match &node.kind {
            Kind::At(inner, time) => {
                let inner = match &inner.kind {
                    // A normalised law calls an observable by its expression.
                    Kind::Name(name)
                        if self.get(name).is_none() && !BUILT_IN.contains(&name.as_str()) =>
                    {
                        let inner = syntax::parse(name)?;
                        integer_only(&inner)?;
                        self.inline(&inner, None)
                    }
                    _ => self.inline(inner, None),
                };
                Kind::At(Box::new(inner), *time)
            }
            Kind::Neg(inner) => Kind::Neg(Box::new(self.expand_times(inner)?)),
            Kind::Not(inner) => Kind::Not(Box::new(self.expand_times(inner)?)),
            Kind::Binary(op, left, right) => Kind::Binary(
                *op,
                Box::new(self.expand_times(left)?),
                Box::new(self.expand_times(right)?),
            ),
            other => other.clone(),
        };
        Ok(Node {
            column: node.column,
            kind,
        })
    }
}

fn free_names<'a>(node: &'a Node, names: &mut Vec<&'a str>) {
    match &node.kind {
        Kind::Name(name) => names.push(name),
        Kind::Neg(inner) => free_names(inner, names),
        Kind::Binary(_, left, right) => {
            free_names(left, names);
            free_names(right, names);
        }
        _ => {}
    }
}

fn size(node: &Node) -> usize {
    1 + match &node.kind {
        Kind::Neg(inner) | Kind::Not(inner) | Kind::At(inner, _) => size(inner),
        Kind::Binary(_, left, right) => size(left) + size(right),
        Kind::Call(_, arguments) => arguments.iter().map(size).sum(),
        _ => 0,
    }
}

/// An observable is an integer expression: no truth values, no division.
fn integer_only(node: &Node) -> Result<(), SyntaxError> {
    match &node.kind {
        Kind::Int(_) | Kind::Name(_) | Kind::Call(..) => Ok(()),
        Kind::Neg(inner) => integer_only(inner),
        Kind::Binary(Op::Add | Op::Sub | Op::Mul | Op::Mod, left, right) => {
            integer_only(left)?;
            integer_only(right)
        }
        Kind::Binary(op, ..) => {
            let message = format!(
                "`{}` has no place in an observable, expected + - * %",
                op.text()
            );
            Err(SyntaxError::at(node.column, message))
        }
        Kind::Not(_) => Err(SyntaxError::at(
            node.column,
            "`not` has no place in an observable",
        )),
        Kind::Quoted(_) => Err(SyntaxError::at(
            node.column,
            "a symbol has no value: write count('...')",
        )),
        Kind::Step | Kind::At(..) => Err(SyntaxError::at(
            node.column,
            "an observable has no time of its own",
        )),
    }
}

/// Whether a node is a truth value rather than a number, checked all the way down.
fn is_bool(node: &Node) -> Result<bool, SyntaxError> {
    let expect = |child: &Node, bool: bool| match is_bool(child)? == bool {
        true => Ok(()),
        false if bool => Err(SyntaxError::at(
            child.column,
            "expected something that is true or false, found a number",
        )),
        false => Err(SyntaxError::at(
            child.column,
            "expected a number, found something that is true or false",
        )),
    };
    match &node.kind {
        Kind::Int(_) | Kind::Step | Kind::At(..) => Ok(false),
        Kind::Neg(inner) => expect(inner, false).map(|()| false),
        Kind::Not(inner) => expect(inner, true).map(|()| true),
        Kind::Binary(op, left, right) => {
            expect(left, op.is_logical())?;
            expect(right, op.is_logical())?;
            Ok(op.is_logical() || op.is_comparison())
        }
        Kind::Quoted(_) | Kind::Name(_) | Kind::Call(..) => {
            Err(SyntaxError::at(node.column, "expected a claim"))
        }
    }
}
