use hermitcrab_kernel::faces::{CompiledShell, ShellCompiler, ShellError};

/// A compiler for tests: it checks brackets and finds the component's name, and compiles nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct StubCompiler;

impl ShellCompiler for StubCompiler {
    fn compile(&self, text: &str) -> Result<CompiledShell, Vec<ShellError>> {
        let (first, source) = code(text);
        let fault = |kind: &str, message: &str, at: Option<(u32, u32)>| {
            let line = at.map(|(line, _)| line + first);
            vec![ShellError {
                kind: kind.to_owned(),
                message: message.to_owned(),
                line,
                column: at.map(|(_, column)| column),
                source_line: at
                    .and_then(|(line, _)| source.lines().nth(line as usize - 1).map(str::to_owned)),
                truncated: false,
            }]
        };
        if source.trim().is_empty() {
            return Err(fault("no_code", "there is no JSX in the text", None));
        }
        if let Some((at, message)) = unbalanced(source) {
            return Err(fault("syntax", &message, Some(at)));
        }
        let component = component(source).ok_or_else(|| {
            fault(
                "no_component",
                "no function or class with an upper-case name",
                None,
            )
        })?;
        Ok(CompiledShell {
            component,
            source: source.to_owned(),
            script: String::new(),
            map: None,
            dropped_imports: Vec::new(),
            warnings: vec!["not compiled: there is no page here".to_owned()],
            needs: Vec::new(),
        })
    }
}

/// The last fence, or the whole text; and the lines before it.
fn code(text: &str) -> (u32, &str) {
    let Some(open) = text.rfind("\n```\n").or_else(|| {
        text.trim_end()
            .ends_with("\n```")
            .then(|| text.trim_end().len() - 4)
    }) else {
        return (0, text);
    };
    let before = &text[..open];
    let Some(start) = before.rfind("```") else {
        return (0, text);
    };
    let Some(line_end) = before[start..].find('\n') else {
        return (0, text);
    };
    let begin = start + line_end + 1;
    let first = text[..begin].matches('\n').count() as u32;
    (first, &text[begin..open])
}

/// The first bracket without its fellow: line and column from 1.
fn unbalanced(source: &str) -> Option<((u32, u32), String)> {
    let mut open = Vec::new();
    let (mut line, mut column) = (1, 0);
    let mut quote = None;
    let mut escaped = false;
    for letter in source.chars() {
        column += 1;
        if letter == '\n' {
            line += 1;
            column = 0;
        }
        if let Some(end) = quote {
            // An apostrophe in the text of an element ends with its line.
            if escaped {
                escaped = false;
            } else if letter == '\\' {
                escaped = true;
            } else if letter == end || (letter == '\n' && end != '`') {
                quote = None;
            }
            continue;
        }
        match letter {
            '"' | '\'' | '`' => quote = Some(letter),
            '(' | '[' | '{' => open.push((letter, line, column)),
            ')' | ']' | '}' => {
                let fellow = match letter {
                    ')' => '(',
                    ']' => '[',
                    _ => '{',
                };
                if open.pop().is_none_or(|(opened, ..)| opened != fellow) {
                    return Some(((line, column), format!("unexpected {letter}")));
                }
            }
            _ => {}
        }
    }
    let (letter, line, column) = open.pop()?;
    Some(((line, column), format!("{letter} is never closed")))
}

/// The last upper-case name after `function`, `class` or `const`.
fn component(source: &str) -> Option<String> {
    let words: Vec<_> = source
        .split(|letter: char| !letter.is_alphanumeric() && letter != '_' && letter != '$')
        .filter(|word| !word.is_empty())
        .collect();
    let mut named = words.windows(2).filter(|pair| {
        matches!(pair[0], "function" | "class" | "const")
            && pair[1].starts_with(|letter: char| letter.is_uppercase())
    });
    named.next_back().map(|pair| pair[1].to_owned())
}
