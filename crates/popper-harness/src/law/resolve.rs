//! The resolution of a law: names replaced by their expressions, and the one claim that counts.

use std::collections::BTreeMap;

use super::ast::path_of;
use super::canonical::formula;
use super::commutes;
use super::limits::MAX_NODES;
use super::model::{Law, LocalFields, Template};
use super::syntax::{self, Kind, Node, Op, SyntaxError, Time, integer_only, timed};

/// The built-in observables without arguments.
pub const BUILT_IN: [&str; 3] = ["grid_length", "incoming_collisions", "transition_indicator"];

/// A problem that keeps a law from having a single meaning.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {error}")]
#[non_exhaustive]
pub struct Ambiguity {
    /// The field: `claim`, `claim_ast.lhs`, `observables[0].expr`, `preconditions[1].lhs`, ...
    pub field: String,
    /// The place in it and the reason.
    pub error: SyntaxError,
    /// The text that cannot be read; `None` if every text can be read and the law still has no single meaning.
    pub unread: Option<String>,
}

impl Ambiguity {
    pub(super) fn new(field: &str, error: SyntaxError) -> Self {
        Self {
            field: field.into(),
            error,
            unread: None,
        }
    }

    pub(super) fn unread(field: &str, text: &str, error: SyntaxError) -> Self {
        Self {
            unread: Some(text.into()),
            ..Self::new(field, error)
        }
    }
}

/// A law with every name replaced by its expression.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ResolvedLaw {
    /// The declared observables, by name.
    pub observables: Vec<(String, Node)>,
    /// The conditions on the initial state.
    pub preconditions: Vec<(Op, Node, Node)>,
    /// The claim.
    pub claim: Statement,
}

/// The claim of a resolved law.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Statement {
    /// A formula over observables at times.
    Formula(Node),
    /// A transform commutes with the step.
    Commutes(String),
    /// The next symbol of every cell with a given symbol.
    Local(LocalFields),
}

impl Law {
    /// Resolves the law; the result is computed once.
    ///
    /// # Errors
    /// [`Ambiguity`] when an expression or the claim does not parse, the types do not fit, or the claim's text and fields differ.
    pub fn resolve(&self) -> Result<&ResolvedLaw, &Ambiguity> {
        let resolved = self.resolved.get_or_init(|| self.resolve_names());
        resolved.as_ref()
    }

    fn resolve_names(&self) -> Result<ResolvedLaw, Ambiguity> {
        let names = Names::new(self)?;
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
        Ok(ResolvedLaw {
            observables: names.expanded,
            preconditions,
            claim,
        })
    }

    fn statement(&self, names: &Names) -> Result<Statement, Ambiguity> {
        match self.template {
            Template::LocalTransition => self.local_statement(),
            Template::SymmetryCommutation => self.symmetry_statement(),
            _ => self.formula_statement(names).map(Statement::Formula),
        }
    }

    /// Returns the claim of the extension's fields. A claim as text is refused, because these claims have no grammar.
    fn local_statement(&self) -> Result<Statement, Ambiguity> {
        self.refuse_tree("the fields of `local_transition` are the claim")?;
        if !self.claim.trim().is_empty() {
            let message = "expected no text: the fields of `local_transition` are the claim";
            let error = SyntaxError::at(1, message);
            return Err(Ambiguity::unread("claim", &self.claim, error));
        }
        let missing = || {
            let message = "the fields of `local_transition` are missing";
            Ambiguity::new("claim", SyntaxError::at(0, message))
        };
        self.local.clone().map(Statement::Local).ok_or_else(missing)
    }

    fn symmetry_statement(&self) -> Result<Statement, Ambiguity> {
        self.refuse_tree("expected `transform`, which is the claim of a symmetry")?;
        if let Some(name) = &self.transform
            && self.claim.trim().is_empty()
        {
            return Ok(Statement::Commutes(name.clone()));
        }
        let text = commutes::parse(&self.claim)
            .map_err(|error| Ambiguity::unread("claim", &self.claim, error))?;
        match &self.transform {
            Some(field) if *field != text => {
                let message =
                    format!("the text says `{text}`, the field `transform` says `{field}`");
                Err(Ambiguity::new("claim", SyntaxError::at(1, message)))
            }
            _ => Ok(Statement::Commutes(text)),
        }
    }

    fn refuse_tree(&self, message: &str) -> Result<(), Ambiguity> {
        match self.claim_ast {
            Some(_) => Err(Ambiguity::new("claim_ast", SyntaxError::at(0, message))),
            None => Ok(()),
        }
    }

    fn formula_statement(&self, names: &Names) -> Result<Node, Ambiguity> {
        let wrong = |error| self.in_claim(error);
        // If there is a tree, it is the claim, and the text is a comment.
        if let Some(tree) = &self.claim_ast {
            return names.claim(tree).map_err(wrong);
        }
        let fields = self.stated_by_fields();
        if let Some(fields) = &fields
            && self.claim.trim().is_empty()
        {
            return names.claim(fields).map_err(wrong);
        }
        let text = syntax::parse(&self.claim)
            .and_then(|tree| timed(&tree))
            .map_err(|error| Ambiguity::unread("claim", &self.claim, error))?;
        let text = names.claim(&text).map_err(wrong)?;
        self.check_shape(&text).map_err(wrong)?;
        let Some(fields) = fields else {
            return Ok(text);
        };
        let fields = names.claim(&fields).map_err(wrong)?;
        if formula(&fields) == formula(&text) {
            return Ok(fields);
        }
        let message = "the text says something else than the template and its fields";
        Err(wrong(SyntaxError::at(1, message)))
    }

    /// Locates an error in the claim; the place in a tree is a path, since it has no columns.
    pub(super) fn in_claim(&self, mut error: SyntaxError) -> Ambiguity {
        let Some(tree) = &self.claim_ast else {
            return Ambiguity::new("claim", error);
        };
        let path = path_of(tree, std::mem::take(&mut error.column)).unwrap_or_default();
        Ambiguity::new(&format!("claim_ast{path}"), error)
    }

    /// Returns the claim that the template's own fields state, if they state all of it.
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

/// The declared names with their expressions.
struct Names {
    expanded: Vec<(String, Node)>,
}

impl Names {
    fn new(law: &Law) -> Result<Self, Ambiguity> {
        let mut parsed = BTreeMap::new();
        for (index, observable) in law.observables.iter().enumerate() {
            let field = format!("observables[{index}].expr");
            let node = integer(&observable.expr)
                .map_err(|error| Ambiguity::unread(&field, &observable.expr, error))?;
            parsed.insert(observable.name.as_str(), (field, node));
        }
        let mut names = Self {
            expanded: Vec::new(),
        };
        for observable in &law.observables {
            names.expand(&observable.name, &parsed, &mut Vec::new())?;
        }
        // In the order of the law, not of expansion.
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

    /// Expands one name, after every name that it needs.
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
        let wrap = |error| Ambiguity::new(field, error);
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

    /// Reads an integer expression and replaces its names, except `own`, the name that it defines.
    fn expression(&self, field: &str, text: &str, own: Option<&str>) -> Result<Node, Ambiguity> {
        let node = integer(text).map_err(|error| Ambiguity::unread(field, text, error))?;
        let node = self.inline(&node, own);
        if size(&node) > MAX_NODES {
            let message = format!("expands to more than {MAX_NODES} nodes");
            return Err(Ambiguity::new(field, SyntaxError::at(1, message)));
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

    /// Returns a claim with every observable expanded and checks that it is a truth value.
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
                    // In the normal form the name of an observable is its expression.
                    Kind::Name(name)
                        if self.get(name).is_none() && !BUILT_IN.contains(&name.as_str()) =>
                    {
                        let inner = integer(name).map_err(|error| {
                            SyntaxError::at(node.column, format!("`{name}`: {error}"))
                        })?;
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

/// Reads an observable.
fn integer(text: &str) -> Result<Node, SyntaxError> {
    let node = syntax::parse(text)?;
    integer_only(&node).map(|()| node)
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
