//! The features of React that the built-in runtime does not have, where a shell uses them.
//!
//! Seen are bare names, imports, and members of `React` or `ReactDOM`: of the globals, of a property of that name
//! (`props.React`), and of variables that are given one of these, or are taken out of an object by that name. React as an
//! argument of a function, in a list or in an object is not seen. Such a use fails in the frame like any other error.

use std::collections::HashSet;

use oxc::ast::AstKind;
use oxc::ast::ast::{
    AssignmentTarget, AssignmentTargetProperty, BindingPattern, BindingProperty, Expression,
    IdentifierReference, JSXAttribute, JSXAttributeValue, JSXMemberExpressionObject,
    MemberExpression, PropertyKey, UnaryOperator,
};
use oxc::semantic::{NodeId, Semantic, SymbolId};
use oxc::span::{GetSpan as _, Span};

use super::module::Module;

/// The members of `React` and `ReactDOM` that the built-in runtime does not have.
const MEMBERS: [&str; 21] = [
    "Children",
    "Profiler",
    "PureComponent",
    "Suspense",
    "act",
    "cloneElement",
    "createFactory",
    "createPortal",
    "findDOMNode",
    "flushSync",
    "hydrate",
    "hydrateRoot",
    "lazy",
    "render",
    "unmountComponentAtNode",
    "unstable_act",
    "unstable_batchedUpdates",
    "unstable_renderSubtreeIntoContainer",
    "useImperativeHandle",
    "useInsertionEffect",
    "useSyncExternalStore",
];

/// Methods of classes that only React calls.
const METHODS: [&str; 9] = [
    "UNSAFE_componentWillMount",
    "UNSAFE_componentWillReceiveProps",
    "UNSAFE_componentWillUpdate",
    "componentWillMount",
    "componentWillReceiveProps",
    "componentWillUpdate",
    "getChildContext",
    "getSnapshotBeforeUpdate",
    "shouldComponentUpdate",
];

/// Static members of classes that only React looks at.
const STATICS: [&str; 4] = [
    "childContextTypes",
    "contextType",
    "contextTypes",
    "getDerivedStateFromProps",
];

/// A `ref` that is a text, for `this.refs`.
const STRING_REF: &str = "string ref";

/// A member whose name only a run shows.
const COMPUTED: &str = "computed";

/// The largest number of places that are reported.
const MAX_NEEDS: usize = 64;

/// A variable may be given another one that is declared after it: this often they are looked at.
const PASSES: usize = 4;

/// Whether only React has this member of `React` or `ReactDOM`.
pub(super) fn of_react_only(name: &str) -> Option<&'static str> {
    listed(&MEMBERS, name)
}

fn listed(list: &[&'static str], name: &str) -> Option<&'static str> {
    list.iter().copied().find(|one| *one == name)
}

/// `{ React }` or `{ React: R }`, in a pattern.
fn takes_react_out(property: &BindingProperty<'_>) -> bool {
    let name = property.key.static_name();
    name.is_some_and(|name| is_react_name(&name))
}

fn is_react_name(name: &str) -> bool {
    matches!(name, "React" | "ReactDOM")
}

/// The features that a program needs, each with the byte at which it stands, in their order.
pub(super) fn needs(semantic: &Semantic<'_>, module: &Module<'_>) -> Vec<(u32, &'static str)> {
    let mut finder = NeedFinder {
        semantic,
        module,
        react: HashSet::new(),
        found: module.needs.clone(),
    };
    for _ in 0..PASSES {
        let before = finder.react.len();
        finder.variables();
        if finder.react.len() == before {
            break;
        }
    }
    finder.free();
    finder.nodes();
    let mut found = finder.found;
    found.sort_unstable();
    found.dedup_by_key(|(at, _)| *at);
    found.truncate(MAX_NEEDS);
    found
}

struct NeedFinder<'s, 'a> {
    semantic: &'s Semantic<'a>,
    module: &'s Module<'a>,
    /// Variables that hold `React` or `ReactDOM`.
    react: HashSet<SymbolId>,
    found: Vec<(u32, &'static str)>,
}

impl<'a> NeedFinder<'_, 'a> {
    /// Finds the variables that hold React.
    fn variables(&mut self) {
        let semantic = self.semantic;
        for node in semantic.nodes().iter() {
            match node.kind() {
                AstKind::VariableDeclarator(variable) => {
                    if let Some(value) = &variable.init
                        && self.is_react(value)
                    {
                        self.holds(&variable.id);
                    }
                }
                AstKind::FormalParameter(parameter) => {
                    if let Some(value) = &parameter.initializer
                        && self.is_react(value)
                    {
                        self.holds(&parameter.pattern);
                    }
                }
                AstKind::AssignmentExpression(assignment) => {
                    if let AssignmentTarget::AssignmentTargetIdentifier(name) = &assignment.left
                        && self.is_react(&assignment.right)
                    {
                        self.react.extend(self.symbol(name));
                    }
                }
                AstKind::BindingProperty(property) if takes_react_out(property) => {
                    self.holds(&property.value);
                }
                _ => {}
            }
        }
    }

    /// A pattern that is given React: as a whole, or the rest of it.
    fn holds(&mut self, pattern: &BindingPattern<'a>) {
        match pattern {
            BindingPattern::BindingIdentifier(name) => self.react.extend(name.symbol_id.get()),
            BindingPattern::ObjectPattern(object) => {
                if let Some(rest) = &object.rest
                    && let BindingPattern::BindingIdentifier(name) = &rest.argument
                {
                    self.react.extend(name.symbol_id.get());
                }
            }
            BindingPattern::AssignmentPattern(given) => {
                if let BindingPattern::BindingIdentifier(name) = &given.left {
                    self.react.extend(name.symbol_id.get());
                }
            }
            BindingPattern::ArrayPattern(_) => {}
        }
    }

    fn symbol(&self, name: &IdentifierReference<'a>) -> Option<SymbolId> {
        let reference = name.reference_id.get()?;
        (self.semantic.scoping().get_reference(reference)).symbol_id()
    }

    fn is_react(&self, value: &Expression<'a>) -> bool {
        match value.get_inner_expression() {
            Expression::Identifier(name) => self.is_react_reference(name),
            Expression::StaticMemberExpression(member) => is_react_name(&member.property.name),
            Expression::ComputedMemberExpression(member) => member
                .static_property_name()
                .is_some_and(|name| is_react_name(&name)),
            Expression::ChainExpression(chain) => {
                let member = chain.expression.as_member_expression();
                let name = member.and_then(MemberExpression::static_property_name);
                name.is_some_and(is_react_name)
            }
            Expression::LogicalExpression(either) => {
                self.is_react(&either.left) || self.is_react(&either.right)
            }
            Expression::ConditionalExpression(either) => {
                self.is_react(&either.consequent) || self.is_react(&either.alternate)
            }
            _ => false,
        }
    }

    fn is_react_reference(&self, name: &IdentifierReference<'a>) -> bool {
        match self.symbol(name) {
            Some(symbol) => self.react.contains(&symbol),
            None => is_react_name(&name.name) || self.module.is_react(&name.name),
        }
    }

    /// Bare names that nothing declares.
    fn free(&mut self) {
        let scoping = self.semantic.scoping();
        for (name, references) in scoping.root_unresolved_references() {
            let name = name.as_str();
            // The place of an import is that of the import.
            let Some(feature) = of_react_only(name).filter(|_| !self.module.imports(name)) else {
                continue;
            };
            for id in references {
                let reference = scoping.get_reference(*id);
                let node = reference.node_id();
                if reference.is_value() && !self.is_passive(node) {
                    let span = self.semantic.nodes().kind(node).span();
                    self.found.push((span.start, feature));
                }
            }
        }
    }

    /// `typeof` only asks, and an element that is closed was opened before.
    fn is_passive(&self, node: NodeId) -> bool {
        match self.semantic.nodes().parent_kind(node) {
            AstKind::UnaryExpression(unary) => unary.operator == UnaryOperator::Typeof,
            AstKind::JSXClosingElement(_) => true,
            _ => false,
        }
    }

    /// Members, patterns and methods.
    fn nodes(&mut self) {
        let semantic = self.semantic;
        for node in semantic.nodes().iter() {
            match node.kind() {
                AstKind::StaticMemberExpression(member)
                    if self.is_react(&member.object) && !self.is_passive(node.id()) =>
                {
                    self.member(&member.property.name, member.property.span);
                }
                AstKind::ComputedMemberExpression(member)
                    if self.is_react(&member.object) && !self.is_passive(node.id()) =>
                {
                    match member.static_property_name() {
                        Some(name) => self.member(&name, member.expression.span()),
                        None => self.computed(&member.expression),
                    }
                }
                AstKind::JSXMemberExpression(member) => {
                    if let JSXMemberExpressionObject::IdentifierReference(name) = &member.object
                        && self.is_react_reference(name)
                        && !self.is_passive(node.id())
                    {
                        self.member(&member.property.name, member.property.span);
                    }
                }
                AstKind::VariableDeclarator(variable) => {
                    if let Some(value) = &variable.init
                        && self.is_react(value)
                    {
                        self.taken_out(&variable.id);
                    }
                }
                AstKind::FormalParameter(parameter) => {
                    if let Some(value) = &parameter.initializer
                        && self.is_react(value)
                    {
                        self.taken_out(&parameter.pattern);
                    }
                }
                AstKind::BindingProperty(property) if takes_react_out(property) => {
                    self.taken_out(&property.value);
                }
                AstKind::AssignmentExpression(assignment) if self.is_react(&assignment.right) => {
                    self.assigned(&assignment.left);
                }
                AstKind::AssignmentExpression(assignment) => {
                    // `App.contextType = Theme`.
                    if let AssignmentTarget::StaticMemberExpression(member) = &assignment.left
                        && let Some(feature) = listed(&STATICS, &member.property.name)
                    {
                        self.found.push((member.property.span.start, feature));
                    }
                }
                AstKind::MethodDefinition(method) => self.method(&method.key, method.r#static),
                AstKind::PropertyDefinition(field) => self.method(&field.key, field.r#static),
                AstKind::JSXAttribute(attribute) => self.attribute(attribute),
                _ => {}
            }
        }
    }

    fn member(&mut self, name: &str, place: Span) {
        if let Some(feature) = of_react_only(name) {
            self.found.push((place.start, feature));
        }
    }

    /// A number is the name of no feature.
    fn computed(&mut self, name: &Expression<'a>) {
        if !name.is_literal() {
            self.found.push((name.span().start, COMPUTED));
        }
    }

    fn key(&mut self, key: &PropertyKey<'a>) {
        match key.static_name() {
            Some(name) => self.member(&name, key.span()),
            None => {
                if let Some(name) = key.as_expression() {
                    self.computed(name);
                }
            }
        }
    }

    /// Finds the features that a pattern takes out of React.
    fn taken_out(&mut self, pattern: &BindingPattern<'a>) {
        match pattern {
            BindingPattern::ObjectPattern(object) => {
                for property in &object.properties {
                    self.key(&property.key);
                }
            }
            BindingPattern::AssignmentPattern(given) => self.taken_out(&given.left),
            BindingPattern::BindingIdentifier(_) | BindingPattern::ArrayPattern(_) => {}
        }
    }

    /// Finds the features that `({ lazy } = React)` takes out of it.
    fn assigned(&mut self, target: &AssignmentTarget<'a>) {
        let AssignmentTarget::ObjectAssignmentTarget(object) = target else {
            return;
        };
        for property in &object.properties {
            match property {
                AssignmentTargetProperty::AssignmentTargetPropertyIdentifier(name) => {
                    self.member(&name.binding.name, name.binding.span);
                }
                AssignmentTargetProperty::AssignmentTargetPropertyProperty(property) => {
                    self.key(&property.name);
                }
            }
        }
    }

    fn method(&mut self, key: &PropertyKey<'a>, is_static: bool) {
        let list: &[_] = if is_static { &STATICS } else { &METHODS };
        if let Some(feature) = key.static_name().and_then(|name| listed(list, &name)) {
            self.found.push((key.span().start, feature));
        }
    }

    fn attribute(&mut self, attribute: &JSXAttribute<'a>) {
        let is_text = matches!(attribute.value, Some(JSXAttributeValue::StringLiteral(_)));
        if is_text && attribute.is_identifier("ref") {
            self.found.push((attribute.span.start, STRING_REF));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsx::names;

    #[test]
    fn the_lists_are_sorted_and_methods_have_no_bare_name() {
        for list in [&MEMBERS[..], &METHODS, &STATICS] {
            assert!(list.is_sorted_by(|a, b| a < b), "{list:?}");
        }
        for name in METHODS.iter().chain(&STATICS) {
            assert!(names::of_react(name).is_none(), "{name}");
        }
    }
}
