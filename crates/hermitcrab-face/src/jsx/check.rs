//! The check of a shell: no imports, no undefined names, no async component.

use std::collections::BTreeSet;

use oxc::ast::AstKind;
use oxc::ast::ast::{Expression, UnaryOperator};
use oxc::semantic::{NodeId, Reference, Semantic};
use oxc::span::{GetSpan as _, Span};

use super::compile_error::{CompileError, Kind};
use super::component::Choice;
use super::module::{Module, refusal};
use super::names;

/// The findings of the check.
#[derive(Debug, Default)]
pub(super) struct Checked {
    pub faults: Vec<CompileError>,
    pub warnings: Vec<String>,
    /// Bare names of React that are used, each with its full name.
    pub names: Vec<(String, String)>,
    /// Functions that use `props` and have no parameter of that name yet.
    pub lack_props: Vec<Span>,
}

/// Checks a program whose syntax holds.
pub(super) fn check(semantic: &Semantic<'_>, module: &Module<'_>, choice: &Choice) -> Checked {
    let mut checked = Checked::default();
    checked.nodes(semantic, choice);
    let mut free: Vec<_> = semantic
        .scoping()
        .root_unresolved_references()
        .iter()
        .collect();
    free.sort_unstable_by_key(|(name, _)| name.as_str());
    for (name, references) in free {
        let name = name.as_str();
        if module.imports(name) || module.foreign.contains(name) {
            continue;
        }
        let nodes: Vec<_> = references
            .iter()
            .map(|id| semantic.scoping().get_reference(*id))
            .filter(|reference| reference.is_value())
            .map(Reference::node_id)
            .filter(|node| !is_asked_for(semantic, *node))
            .collect();
        checked.free(semantic, choice, name, &nodes);
    }
    checked
}

impl Checked {
    /// Faults of single nodes.
    fn nodes(&mut self, semantic: &Semantic<'_>, choice: &Choice) {
        let mut rendered = BTreeSet::from([choice.name.as_str()]);
        for node in semantic.nodes().iter() {
            match node.kind() {
                AstKind::ImportExpression(import) => {
                    let module = match &import.source {
                        Expression::StringLiteral(text) => text.value.as_str(),
                        _ => "a module",
                    };
                    self.fault(Kind::Import, import.span, refusal(module));
                }
                AstKind::ImportMeta(meta) => {
                    self.fault(
                        Kind::Import,
                        meta.span,
                        "import.meta is of modules; a face is a script",
                    );
                }
                AstKind::AwaitExpression(waits) if is_outside(semantic, node.id()) => {
                    self.fault(Kind::Syntax, waits.span, OUTSIDE);
                }
                AstKind::ForOfStatement(waits)
                    if waits.r#await && is_outside(semantic, node.id()) =>
                {
                    self.fault(Kind::Syntax, waits.span, OUTSIDE);
                }
                AstKind::Decorator(decorator) => {
                    self.fault(Kind::Syntax, decorator.span, "decorators are not supported");
                }
                AstKind::JSXOpeningElement(opening) => {
                    rendered.extend(opening.name.get_identifier_name().map(|name| name.as_str()));
                }
                AstKind::StaticMemberExpression(member)
                    if ["window", "globalThis", "self"]
                        .iter()
                        .any(|window| member.object.is_specific_id(window)) =>
                {
                    self.warn(&member.property.name);
                }
                _ => {}
            }
        }
        for component in &choice.components {
            if let Some(odd) = component.odd
                && rendered.contains(component.name.as_str())
            {
                let message = format!(
                    "{} is {odd}; a component returns elements at once, load in React.useEffect",
                    component.name
                );
                self.fault(Kind::AsyncComponent, component.span, message);
            }
        }
    }

    /// A name that the program does not declare.
    fn free(&mut self, semantic: &Semantic<'_>, choice: &Choice, name: &str, nodes: &[NodeId]) {
        let span = |node: &NodeId| semantic.nodes().kind(*node).span();
        let Some(first) = nodes.iter().map(span).min_by_key(|span| span.start) else {
            return;
        };
        if name == "require" {
            return self.fault(Kind::Import, first, refusal("with require, a module"));
        }
        if let Some(value) = names::of_react(name) {
            self.names.push((name.to_owned(), value));
            return;
        }
        if name == "props" {
            return self.props(choice, nodes.iter().map(span));
        }
        // Text, Image or Option as a tag is a component that is missing, not the window's constructor.
        let tag = nodes.iter().find(|node| {
            matches!(
                semantic.nodes().parent_kind(**node),
                AstKind::JSXOpeningElement(_) | AstKind::JSXClosingElement(_)
            )
        });
        if let Some(tag) = tag.map(span) {
            let message =
                format!("component {name} is not defined; declare it, or write an element of HTML");
            self.fault(Kind::UndefinedName, tag, message);
        } else if names::is_known(name) {
            self.warn(name);
        } else {
            let message = format!("{name} is not defined; {}", names::advice(name));
            self.fault(Kind::UndefinedName, first, message);
        }
    }

    /// Places where `props` is used and nothing declares it.
    fn props(&mut self, choice: &Choice, places: impl Iterator<Item = Span>) {
        for place in places {
            let inside = choice.components.iter().find(|component| {
                component.takes_nothing && component.span.contains_inclusive(place)
            });
            match inside {
                Some(component) if !self.lack_props.contains(&component.span) => {
                    self.lack_props.push(component.span);
                }
                Some(_) => {}
                None if choice.whole => {}
                None => {
                    let message = format!("props is not defined here; {}", names::advice("props"));
                    return self.fault(Kind::UndefinedName, place, message);
                }
            }
        }
    }

    fn fault(&mut self, kind: Kind, place: Span, message: impl Into<String>) {
        self.faults
            .push(CompileError::new(kind, place.start, message));
    }

    fn warn(&mut self, name: &str) {
        if let Some(warning) = names::warning(name)
            && !self.warnings.contains(&warning)
        {
            self.warnings.push(warning);
        }
    }
}

const OUTSIDE: &str = "await outside of an async function; load in React.useEffect";

fn is_outside(semantic: &Semantic<'_>, node: NodeId) -> bool {
    !semantic.nodes().ancestor_kinds(node).any(|kind| {
        matches!(
            kind,
            AstKind::Function(_) | AstKind::ArrowFunctionExpression(_) | AstKind::StaticBlock(_)
        )
    })
}

/// `typeof name` does not use the name.
fn is_asked_for(semantic: &Semantic<'_>, node: NodeId) -> bool {
    matches!(
        semantic.nodes().parent_kind(node),
        AstKind::UnaryExpression(unary) if unary.operator == UnaryOperator::Typeof
    )
}
