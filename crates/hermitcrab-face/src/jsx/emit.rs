//! A checked program as the script that a page loads.

use std::path::Path;

use oxc::allocator::Allocator;
use oxc::ast::ast::{
    Argument, BindingPattern, Declaration, Expression, FormalParameter, FormalParameters, Program,
    Statement,
};
use oxc::ast::builder::AstBuilder;
use oxc::codegen::{Codegen, CodegenOptions, CommentOptions};
use oxc::parser::Parser;
use oxc::semantic::Scoping;
use oxc::span::{SPAN, SourceType, Span};
use oxc::transformer::{JsxOptions, JsxRuntime, TransformOptions, Transformer};
use oxc_sourcemap::ConcatSourceMapBuilder;

use super::compile_error::{CompileError, Kind};
use super::component::wraps;

/// The name of a shell in its source map.
const FILE: &str = "shell.jsx";

/// The beginning of a script.
const CALL: &str = "globalThis.__hermitcrab(function (React, ReactDOM) {";

/// A script and its source map.
#[derive(Debug)]
pub(super) struct EmittedScript {
    pub text: String,
    pub map: Option<String>,
}

/// Gives each of these functions the parameter `props`.
pub(super) fn give_props<'a>(
    program: &mut Program<'a>,
    functions: &[Span],
    allocator: &'a Allocator,
) {
    let ast = AstBuilder::new(allocator);
    let mut give = |span: Span, parameters: &mut FormalParameters<'a>| {
        if functions.contains(&span) {
            let name = BindingPattern::new_binding_identifier(SPAN, "props", &ast);
            parameters
                .items
                .push(FormalParameter::new_plain(SPAN, name, &ast));
        }
    };
    for statement in &mut program.body {
        if let Statement::ReturnStatement(returned) = statement {
            if let Some(value) = &mut returned.argument {
                in_value(value, &mut give);
            }
            continue;
        }
        match statement.as_declaration_mut() {
            Some(Declaration::FunctionDeclaration(function)) => {
                give(function.span, &mut function.params);
            }
            Some(Declaration::VariableDeclaration(variables)) => {
                let values = variables.declarations.iter_mut();
                for value in values.filter_map(|variable| variable.init.as_mut()) {
                    in_value(value, &mut give);
                }
            }
            _ => {}
        }
    }
}

fn in_value<'a>(
    value: &mut Expression<'a>,
    give: &mut impl FnMut(Span, &mut FormalParameters<'a>),
) {
    match value.get_inner_expression_mut() {
        Expression::FunctionExpression(function) => give(function.span, &mut function.params),
        Expression::ArrowFunctionExpression(arrow) => give(arrow.span, &mut arrow.params),
        Expression::CallExpression(call) if wraps(call) => {
            if let Some(inner) = call
                .arguments
                .first_mut()
                .and_then(Argument::as_expression_mut)
            {
                in_value(inner, give);
            }
        }
        _ => {}
    }
}

/// Turns the program to plain JavaScript in a call of `globalThis.__hermitcrab`.
///
/// `names` are constants in front. A program that is a component's body as a whole becomes a function of `props`.
///
/// # Errors
/// What the transformation refuses.
pub(super) fn emit<'a>(
    mut program: Program<'a>,
    scoping: Scoping,
    names: &[(String, String)],
    whole: bool,
    allocator: &'a Allocator,
) -> Result<EmittedScript, Vec<CompileError>> {
    let options = TransformOptions {
        jsx: JsxOptions {
            runtime: JsxRuntime::Classic,
            pure: false,
            display_name_plugin: false,
            throw_if_namespace: false,
            ..JsxOptions::enable()
        },
        ..TransformOptions::default()
    };
    // A comment can choose another factory or runtime, and a first line with #! is no JavaScript elsewhere.
    program.comments.clear();
    program.hashbang = None;
    let transformed = Transformer::new(allocator, Path::new(FILE), &options)
        .build_with_scoping(scoping, &mut program);
    let refused: Vec<_> = transformed
        .diagnostics
        .errors()
        .map(CompileError::syntax)
        .collect();
    if !refused.is_empty() {
        return Err(refused);
    }
    let printed = Codegen::new()
        .with_options(CodegenOptions {
            comments: CommentOptions::disabled(),
            source_map_path: Some(FILE.into()),
            // Deep nesting would make most of a script blanks.
            indent_width: 0,
            ..CodegenOptions::default()
        })
        .build(&program);
    let constants: String = names
        .iter()
        .flat_map(|(name, value)| ["const ", name, " = ", value, ";\n"])
        .collect();
    // The shell's own names stand in a scope of their own: it may declare React once more.
    let (open, close) = if whole {
        ("return function (props) {", "};")
    } else {
        ("{", "}")
    };
    let front = format!("{CALL}\n\"use strict\";\n{constants}{open}\n");
    let lines = front.matches('\n').count() as u32;
    let text = format!("{front}{}{close}\n}});\n", printed.code);
    is_one_call(&text)?;
    let map = printed.map.map(|map| {
        ConcatSourceMapBuilder::from_sourcemaps(&[(&map, lines)])
            .into_sourcemap()
            .to_json_string()
    });
    Ok(EmittedScript { text, map })
}

/// Checks that the script is one call and nothing else, as a page expects.
fn is_one_call(script: &str) -> Result<(), Vec<CompileError>> {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, script, SourceType::script()).parse();
    let faults: Vec<_> = parsed.diagnostics.errors().collect();
    if faults.is_empty() && parsed.program.body.len() == 1 {
        return Ok(());
    }
    let why = faults
        .first()
        .map_or("more than one statement", |fault| &fault.message);
    Err(vec![CompileError::new(
        Kind::Syntax,
        0,
        format!("the code does not stay inside of one function: {why}"),
    )])
}
