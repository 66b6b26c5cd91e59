//! The choice of the component among the declarations of a shell.

use oxc::allocator::{Allocator, TakeIn as _};
use oxc::ast::ast::{
    Argument, BindingPattern, CallExpression, Declaration, Expression, FormalParameters,
    JSXAttributeItem, JSXElement, Program, Statement,
};
use oxc::ast::builder::AstBuilder;
use oxc::span::{GetSpan as _, SPAN, Span};

use super::compile_error::{CompileError, Kind};
use super::module::Exported;

/// Names that are preferred, best first.
const PREFERRED: [&str; 5] = ["App", "Shell", "Face", "Main", "Root"];

/// The name of a component without one.
const NAMELESS: &str = "default";

/// The component of a shell, and what else could be one.
#[derive(Debug)]
pub(super) struct Choice {
    pub name: String,
    /// The statements as a whole are the component's body: what they return is an element.
    pub whole: bool,
    /// Every function and class with an upper-case name, and the chosen one.
    pub components: Vec<Component>,
    /// The warnings for the author.
    pub warnings: Vec<String>,
}

/// A function or class that can be a component.
#[derive(Debug, Clone)]
pub(super) struct Component {
    pub name: String,
    /// The function or class itself, without what is wrapped around it.
    pub span: Span,
    /// A function without a parameter.
    pub takes_nothing: bool,
    /// `async` or `generator`: React cannot render it.
    pub odd: Option<&'static str>,
}

/// Chooses the component, and ends the program with the statement that returns it.
///
/// # Errors
/// There is none.
pub(super) fn choose<'a>(
    program: &mut Program<'a>,
    default: Option<Exported<'a>>,
    allocator: &'a Allocator,
) -> Result<Choice, CompileError> {
    let ast = AstBuilder::new(allocator);
    let warnings = without_mounting(program, allocator);
    let mut components = declared(&program.body);
    let given = if default.is_some() {
        program
            .body
            .retain(|statement| !matches!(statement, Statement::ReturnStatement(_)));
        default
    } else {
        match take_returned(program, &components) {
            Some(Returned::Component(component)) => Some(component),
            Some(Returned::Element) => {
                return Ok(Choice {
                    name: NAMELESS.to_owned(),
                    whole: true,
                    components,
                    warnings,
                });
            }
            None => None,
        }
    };
    let given = match given {
        Some(given) => given,
        None => Exported::Name(preferred(&components).ok_or_else(|| nothing(program))?),
    };
    let (name, value) = match given {
        Exported::Name(name) => {
            let value = Expression::new_identifier(SPAN, allocator.alloc_str(&name), &ast);
            (name, value)
        }
        Exported::Expression(value) => {
            let Some(made) = made(&value) else {
                return Err(CompileError::new(
                    Kind::NoComponent,
                    value.span().start,
                    "the default export is neither a function nor a class",
                ));
            };
            let name = made.name.clone();
            components.push(made);
            (name, value)
        }
    };
    let statement = Statement::new_return_statement(SPAN, Some(value), &ast);
    program.body.push(statement);
    Ok(Choice {
        name,
        whole: false,
        components,
        warnings,
    })
}

fn nothing(program: &Program<'_>) -> CompileError {
    let start = program.body.first().map_or(0, |first| first.span().start);
    CompileError::new(
        Kind::NoComponent,
        start,
        "no component: declare a function or class with an upper-case name, or export one by default",
    )
}

fn preferred(components: &[Component]) -> Option<String> {
    let upper = || {
        components
            .iter()
            .map(|component| &component.name)
            .filter(|name| is_upper(name))
    };
    PREFERRED
        .iter()
        .find_map(|wanted| upper().find(|name| name == wanted))
        .or_else(|| upper().next_back())
        .cloned()
}

fn is_upper(name: &str) -> bool {
    name.starts_with(char::is_uppercase)
}

/// The value of a `return` outside of every function.
enum Returned<'a> {
    /// The component.
    Component(Exported<'a>),
    /// An element, or nothing: then the statements are a component's body.
    Element,
}

/// The value that the program returns. The statement is removed if it returns a component.
fn take_returned<'a>(program: &mut Program<'a>, components: &[Component]) -> Option<Returned<'a>> {
    let is_return = |statement: &Statement<'_>| matches!(statement, Statement::ReturnStatement(_));
    let at = program.body.iter().rposition(is_return)?;
    let Statement::ReturnStatement(statement) = &program.body[at] else {
        return None;
    };
    let is_declared = |name: &str| components.iter().any(|component| component.name == name);
    let value = statement.argument.as_ref()?;
    let name = match value.get_inner_expression() {
        Expression::Identifier(name) if is_upper(&name.name) || is_declared(&name.name) => {
            Some(name.name.to_string())
        }
        // Not to be declared anew with each rendering.
        Expression::JSXElement(element) => bare(element).filter(|name| is_declared(name)),
        _ => None,
    };
    if let Some(name) = name {
        program.body.remove(at);
        return Some(Returned::Component(Exported::Name(name)));
    }
    if made(value).is_none() {
        return Some(Returned::Element);
    }
    match program.body.remove(at) {
        Statement::ReturnStatement(statement) => {
            let value = statement.unbox().argument?;
            Some(Returned::Component(Exported::Expression(value)))
        }
        _ => None,
    }
}

/// The component of `<App />` or `<App {...props} />`.
fn bare(element: &JSXElement<'_>) -> Option<String> {
    let opening = &element.opening_element;
    let hands_on = opening.attributes.iter().all(|attribute| match attribute {
        JSXAttributeItem::SpreadAttribute(spread) => spread.argument.is_specific_id("props"),
        JSXAttributeItem::Attribute(_) => false,
    });
    let name = opening.name.get_identifier_name()?;
    (hands_on && element.children.is_empty()).then(|| name.to_string())
}

/// The declarations with an upper-case name, and functions with any name.
fn declared(statements: &[Statement<'_>]) -> Vec<Component> {
    let mut components: Vec<Component> = Vec::new();
    for statement in statements {
        match statement.as_declaration() {
            Some(Declaration::FunctionDeclaration(function)) => {
                if let (Some(id), Some(_)) = (&function.id, &function.body) {
                    components.push(Component {
                        name: id.name.to_string(),
                        span: function.span,
                        takes_nothing: takes_nothing(&function.params),
                        odd: odd(function.r#async, function.generator),
                    });
                }
            }
            Some(Declaration::ClassDeclaration(class)) => {
                if let (Some(id), Some(_)) = (&class.id, &class.heritage) {
                    components.push(Component {
                        name: id.name.to_string(),
                        span: class.span,
                        takes_nothing: false,
                        odd: None,
                    });
                }
            }
            Some(Declaration::VariableDeclaration(variables)) => {
                for variable in &variables.declarations {
                    let (BindingPattern::BindingIdentifier(id), Some(value)) =
                        (&variable.id, &variable.init)
                    else {
                        continue;
                    };
                    let found = match value.get_inner_expression() {
                        Expression::Identifier(other) => components
                            .iter()
                            .find(|known| known.name == other.name.as_str())
                            .cloned(),
                        value => made(value),
                    };
                    if let Some(found) = found {
                        components.push(Component {
                            name: id.name.to_string(),
                            ..found
                        });
                    }
                }
            }
            _ => {}
        }
    }
    components
}

/// The component that an expression makes.
fn made(value: &Expression<'_>) -> Option<Component> {
    let named = |name: Option<&str>| name.unwrap_or(NAMELESS).to_owned();
    match value.get_inner_expression() {
        Expression::FunctionExpression(function) => Some(Component {
            name: named(function.id.as_ref().map(|id| id.name.as_str())),
            span: function.span,
            takes_nothing: takes_nothing(&function.params),
            odd: odd(function.r#async, function.generator),
        }),
        Expression::ArrowFunctionExpression(arrow) => Some(Component {
            name: named(None),
            span: arrow.span,
            takes_nothing: takes_nothing(&arrow.params),
            odd: odd(arrow.r#async, false),
        }),
        Expression::ClassExpression(class) => Some(Component {
            name: named(class.id.as_ref().map(|id| id.name.as_str())),
            span: class.span,
            takes_nothing: false,
            odd: None,
        }),
        Expression::CallExpression(call) if wraps(call) => {
            let inner = call.arguments.first().and_then(Argument::as_expression)?;
            match inner.get_inner_expression() {
                Expression::Identifier(name) => Some(Component {
                    name: name.name.to_string(),
                    span: call.span,
                    takes_nothing: false,
                    odd: None,
                }),
                inner => made(inner),
            }
        }
        _ => None,
    }
}

/// `React.memo(..)` or `forwardRef(..)`.
pub(super) fn wraps(call: &CallExpression<'_>) -> bool {
    ["memo", "forwardRef"].iter().any(|name| {
        call.callee.is_specific_id(name) || call.callee.is_specific_member_access("React", name)
    })
}

fn takes_nothing(parameters: &FormalParameters<'_>) -> bool {
    parameters.items.is_empty() && parameters.rest.is_none()
}

fn odd(is_async: bool, is_generator: bool) -> Option<&'static str> {
    match (is_async, is_generator) {
        (true, _) => Some("async"),
        (_, true) => Some("a generator"),
        _ => None,
    }
}

/// Removes the statement that mounts the face, as a complete page ends with it: here the host mounts it.
fn without_mounting<'a>(program: &mut Program<'a>, allocator: &'a Allocator) -> Vec<String> {
    let mut warnings = Vec::new();
    for statement in program.body.take_in(&allocator) {
        if mounts(&statement) {
            warnings.push(
                "the call of render at the end was taken out: the host renders the face".to_owned(),
            );
        } else {
            program.body.push(statement);
        }
    }
    warnings
}

/// `ReactDOM.render(<App />, ..)` or `createRoot(..).render(<App />)`.
fn mounts(statement: &Statement<'_>) -> bool {
    let Statement::ExpressionStatement(statement) = statement else {
        return false;
    };
    let Expression::CallExpression(call) = statement.expression.get_inner_expression() else {
        return false;
    };
    let renders = call
        .callee
        .get_member_expr()
        .is_some_and(|member| member.static_property_name() == Some("render"));
    let element = call.arguments.first().and_then(Argument::as_expression);
    renders && element.is_some_and(Expression::is_jsx)
}
