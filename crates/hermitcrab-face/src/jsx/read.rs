//! A reply as a shell: its parts are tried, the best one is taken.

use hermitcrab_kernel::faces::{CompiledShell, Need, ShellError};
use oxc::allocator::Allocator;
use oxc::ast::ast::{Expression, Program, Statement};
use oxc::parser::{ParseOptions, Parser};
use oxc::semantic::SemanticBuilder;
use oxc::span::{GetSpan as _, SourceType};

use super::compile_error::{CompileError, Kind, Lines, to_shell_errors};
use super::find::{self, Region};
use super::{big_stack, check, component, emit, module, needs};

/// The number of code starts that are tried in a reply without fences.
const OPENINGS: usize = 4;

/// The number of lines of prose after code without a fence.
const LINES_BELOW: usize = 24;

/// The reason why a part of a reply gives no shell.
enum Refused {
    /// The part is not code.
    Syntax(Vec<CompileError>),
    /// The part is code without a component.
    Faceless(CompileError),
    /// The part has a component, with errors.
    Faulty(Vec<CompileError>),
}

impl Refused {
    fn faults(self) -> Vec<CompileError> {
        match self {
            Self::Syntax(faults) | Self::Faulty(faults) => faults,
            Self::Faceless(fault) => vec![fault],
        }
    }
}

/// The shell of a reply.
///
/// # Errors
/// The faults of the part that is most likely meant to be the shell.
pub(super) fn reply(text: &str) -> Result<CompiledShell, Vec<ShellError>> {
    if text.trim().is_empty() {
        let fault = CompileError::without_position(Kind::NoCode, "the text is empty");
        return Err(to_shell_errors(vec![fault], text, 0, false));
    }
    let whole = match compile(text) {
        Ok(shell) => return Ok(shell),
        Err(refused) => refused,
    };
    let fences = find::fences(text);
    if !fences.is_empty() {
        // A text of a program may have lines that look like fences.
        if let Refused::Faulty(faults) = whole {
            return Err(to_shell_errors(faults, text, 0, false));
        }
        return fenced(text, &fences);
    }
    unfenced(text, whole)
}

/// The last fence that gives a component.
fn fenced(text: &str, fences: &[Region]) -> Result<CompiledShell, Vec<ShellError>> {
    let mut last = None;
    for fence in fences.iter().rev() {
        let source = &text[fence.start..fence.end];
        let refused = match compile(source) {
            Ok(mut shell) => {
                if fence.truncated {
                    let warning = "the fence is not closed; was the reply cut off?";
                    shell.warnings.push(warning.to_owned());
                }
                return Ok(shell);
            }
            Err(refused) => refused,
        };
        // A face that fails is not passed over for an older one.
        let means = match &refused {
            Refused::Syntax(_) => find::declares(source),
            Refused::Faceless(_) => false,
            Refused::Faulty(_) => true,
        };
        if means {
            last = Some((fence, refused));
            break;
        }
        last.get_or_insert((fence, refused));
    }
    Err(last.map_or_else(Vec::new, |(fence, refused)| {
        to_shell_errors(refused.faults(), text, fence.start, fence.truncated)
    }))
}

/// Code with prose around it.
fn unfenced(text: &str, whole: Refused) -> Result<CompiledShell, Vec<ShellError>> {
    let mut tried = None;
    for start in find::openings(text).into_iter().take(OPENINGS) {
        // What parses and stands above the code is a part of it, unless it is a word of greeting.
        if matches!(whole, Refused::Faulty(_)) && !find::is_prose_above(&text[..start]) {
            break;
        }
        let end = end_of_code(text, start);
        let refused = match compile(&text[start..end]) {
            Ok(shell) => return Ok(shell),
            Err(refused) => refused,
        };
        let is_code = matches!(refused, Refused::Faulty(_)) || find::opens_code(&text[start..]);
        tried = Some((start, refused));
        if is_code {
            break;
        }
    }
    match (whole, tried) {
        (_, Some((start, Refused::Faulty(faults)))) => {
            Err(to_shell_errors(faults, text, start, false))
        }
        (Refused::Faulty(faults), _) => Err(to_shell_errors(faults, text, 0, false)),
        (Refused::Syntax(faults), _) if find::is_code_like(text) && find::opens_code(text) => {
            Err(to_shell_errors(faults, text, 0, false))
        }
        (_, Some((start, refused))) => Err(to_shell_errors(refused.faults(), text, start, false)),
        (Refused::Faceless(fault), None) if text.contains(['<', '(', '{', '=']) => {
            Err(to_shell_errors(vec![fault], text, 0, false))
        }
        _ => {
            let message = "no code: write the component in a fence of jsx, or bare";
            Err(to_shell_errors(
                vec![CompileError::new(Kind::NoCode, 0, message)],
                text,
                0,
                false,
            ))
        }
    }
}

/// The end of the code that begins at `start`: before the lines of prose after it.
fn end_of_code(text: &str, start: usize) -> usize {
    let mut end = text.len();
    for _ in 0..LINES_BELOW {
        let allocator = Allocator::default();
        let source = &text[start..end];
        let fault = match parse(source, &allocator) {
            Ok(program) => return start + last_statement(&program).unwrap_or(source.len()),
            Err(faults) => faults.iter().filter_map(|fault| fault.at).min(),
        };
        let fault = fault.map_or(source.len(), |at| (at as usize).min(source.len()));
        // A fault at the end does not move: then line by line.
        let line = |before: usize| {
            source.as_bytes()[..before]
                .iter()
                .rposition(|byte| *byte == b'\n')
        };
        let cut = match line(fault) {
            Some(cut) if start + cut + 1 < end => cut + 1,
            _ => match line(source.trim_end().len()) {
                Some(cut) => cut + 1,
                None => break,
            },
        };
        if !find::is_prose(&source[cut..]) {
            break;
        }
        end = start + cut;
    }
    text.len()
}

/// The end of the statements without words of prose that happen to be expressions, such as `Enjoy!`.
fn last_statement(program: &Program<'_>) -> Option<usize> {
    let is_word = |statement: &&Statement<'_>| match statement {
        Statement::ExpressionStatement(statement) => {
            matches!(
                statement.expression.get_inner_expression(),
                Expression::Identifier(_)
            )
        }
        _ => false,
    };
    let kept = program
        .body
        .iter()
        .rev()
        .find(|statement| !is_word(statement));
    kept.map(|statement| statement.span().end as usize)
}

fn parse<'a>(source: &'a str, allocator: &'a Allocator) -> Result<Program<'a>, Vec<CompileError>> {
    let options = ParseOptions {
        allow_return_outside_function: true,
        preserve_parens: false,
        ..ParseOptions::default()
    };
    big_stack::shallow(source).map_err(|fault| vec![fault])?;
    let parsed = Parser::new(allocator, source, SourceType::tsx())
        .with_options(options)
        .parse();
    let faults: Vec<_> = parsed
        .diagnostics
        .errors()
        .map(CompileError::syntax)
        .collect();
    if !faults.is_empty() {
        return Err(faults);
    }
    if parsed.panicked {
        return Err(vec![CompileError::new(
            Kind::Syntax,
            0,
            "the code cannot be read",
        )]);
    }
    Ok(parsed.program)
}

/// Compiles a source that is code from its first letter to its last.
fn compile(source: &str) -> Result<CompiledShell, Refused> {
    let allocator = Allocator::default();
    let mut program = parse(source, &allocator).map_err(Refused::Syntax)?;
    let mut module = module::open(&mut program, &allocator);
    let choice = component::choose(&mut program, module.default.take(), &allocator)
        .map_err(Refused::Faceless)?;
    let built = SemanticBuilder::new()
        .with_check_syntax_error(true)
        .with_enum_eval(true)
        .with_build_nodes(true)
        .build(&program);
    let mut faults: Vec<_> = built
        .diagnostics
        .errors()
        .map(CompileError::syntax)
        .collect();
    let checked = check::check(&built.semantic, &module, &choice);
    faults.append(&mut module.faults);
    faults.extend(checked.faults);
    if !faults.is_empty() {
        return Err(Refused::Faulty(faults));
    }
    let lines = Lines::of(source);
    let needs = needs::needs(&built.semantic, &module).into_iter();
    let needs = needs.map(|(at, feature)| {
        let place = lines.place(at as usize);
        Need {
            feature: feature.to_owned(),
            line: place.line,
            column: place.column,
        }
    });
    let needs = needs.collect();
    let mut scoping = built.semantic.into_scoping();
    if !checked.lack_props.is_empty() {
        emit::give_props(&mut program, &checked.lack_props, &allocator);
        scoping = SemanticBuilder::new()
            .build(&program)
            .semantic
            .into_scoping();
    }
    let names: Vec<_> = module.names.into_iter().chain(checked.names).collect();
    let script =
        emit::emit(program, scoping, &names, choice.whole, &allocator).map_err(Refused::Faulty)?;
    Ok(CompiledShell {
        component: choice.name,
        source: source.to_owned(),
        script: script.text,
        map: script.map,
        dropped_imports: module.dropped,
        warnings: choice
            .warnings
            .into_iter()
            .chain(checked.warnings)
            .collect(),
        needs,
    })
}
