//! The commands of a block, and the calls of the programs in a command.

/// A command of a `console` block with its expected output.
#[derive(Debug, PartialEq, Eq)]
pub struct ConsoleCommand<'a> {
    pub command: String,
    /// The index of its first line in the block.
    pub line: usize,
    /// The indices of the expected lines in the block.
    pub output: std::ops::Range<usize>,
    pub expected: Vec<&'a str>,
    pub code: i32,
}

/// The commands of a `console` block: `$ command`, lines after `> ` that continue it, output, and as the last line `? CODE` where it is not 0.
/// An error is the index of a line that belongs to no command.
pub fn console_commands<'a>(lines: &[&'a str]) -> Result<Vec<ConsoleCommand<'a>>, usize> {
    let mut found: Vec<ConsoleCommand> = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        if let Some(command) = line.strip_prefix("$ ") {
            found.push(ConsoleCommand {
                command: command.to_owned(),
                line: number,
                output: number + 1..number + 1,
                expected: Vec::new(),
                code: 0,
            });
            continue;
        }
        let step = found.last_mut().ok_or(number)?;
        let more = line.strip_prefix("> ");
        if let (Some(more), true) = (more, step.expected.is_empty()) {
            step.command = format!("{}\n{more}", step.command);
            step.output = number + 1..number + 1;
        } else {
            step.expected.push(line);
            step.output.end = number + 1;
        }
    }
    found.iter_mut().for_each(ConsoleCommand::take_code);
    Ok(found)
}

impl ConsoleCommand<'_> {
    /// Takes the exit code from the last line that is not blank.
    fn take_code(&mut self) {
        let Some(last) = self.expected.iter().rposition(|line| !line.is_empty()) else {
            return;
        };
        let code = self.expected[last].strip_prefix("? ");
        if let Some(code) = code.and_then(|code| code.parse().ok()) {
            self.code = code;
            self.expected.truncate(last);
            self.output.end = self.output.start + last;
        }
    }
}

/// The commands of a `sh` block, one a line; a `\` at the end of a line continues it. Each with the index of its first line.
pub fn commands(lines: &[&str]) -> Vec<(usize, String)> {
    let mut commands: Vec<(usize, String)> = Vec::new();
    let mut is_open = false;
    for (number, line) in lines.iter().enumerate() {
        match commands.last_mut() {
            Some((_, command)) if is_open => {
                command.push('\n');
                command.push_str(line);
            }
            _ => commands.push((number, (*line).to_owned())),
        }
        is_open = line.ends_with('\\');
    }
    commands.retain(|(_, command)| !words(command).is_empty());
    commands
}

/// The words of a command as a shell splits it, without its comment. Operators are words, too.
pub fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = command.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            c if quote == Some(c) => quote = None,
            '\'' | '"' if quote.is_none() => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            c if quote.is_some() => word.get_or_insert_default().push(c),
            '#' if word.is_none() => break,
            '\\' if characters.peek() == Some(&'\n') => {}
            c if c.is_whitespace() => words.extend(word.take()),
            '|' | '&' | ';' | '<' | '>' => {
                words.extend(word.take());
                let mut operator = c.to_string();
                while let Some(next) = characters.next_if(|next| "|&;<>".contains(*next)) {
                    operator.push(next);
                }
                words.push(operator);
            }
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// The calls of these programs in a command: each the program with its words, without what is read and written.
pub fn calls(command: &str, programs: &[&str]) -> Vec<Vec<String>> {
    let words = words(command);
    let calls = words.split(|word| ["|", "&&", "||", ";", "&"].contains(&word.as_str()));
    let plain = calls.filter_map(|call| {
        let call = call.split(|word| word.starts_with(['<', '>'])).next()?;
        // Settings of the environment stand before the program.
        let begin = call.iter().position(|word| !is_setting(word))?;
        Some(call[begin..].to_vec())
    });
    plain
        .filter(|call| programs.contains(&call[0].as_str()))
        .collect()
}

fn is_setting(word: &str) -> bool {
    let name = word.split_once('=').map(|(name, _)| name);
    name.is_some_and(|name| name.chars().all(|c| c.is_ascii_uppercase() || c == '_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_console_block_has_commands_output_and_codes() {
        let lines = ["$ a \\", "> b", "one", "", "two", "$ c", "? 4"];
        let found = console_commands(&lines).unwrap();
        assert_eq!(found[0].command, "a \\\nb");
        assert_eq!((found[0].line, found[0].output.clone()), (0, 2..5));
        assert_eq!((found[1].code, found[1].output.clone()), (4, 6..6));
        let lines = ["$ a", "? 3", "? x", "? 4", "", "$ b", "? 5", "end"];
        let found = console_commands(&lines).unwrap();
        assert_eq!((found[0].code, found[0].output.clone()), (4, 1..3));
        assert_eq!(found[0].expected, ["? 3", "? x"]);
        assert_eq!((found[1].code, found[1].output.clone()), (0, 6..8));
        assert_eq!(console_commands(&["x"]), Err(0));
    }

    #[test]
    fn a_line_is_a_command_and_a_comment_is_none() {
        let lines = ["# a", "b --x \\", "  --y", "", "c"];
        let commands = commands(&lines);
        let commands: Vec<_> = commands
            .iter()
            .map(|(line, text)| (*line, text.as_str()))
            .collect();
        assert_eq!(commands, [(1, "b --x \\\n  --y"), (4, "c")]);
    }

    #[test]
    fn calls_of_programs_are_found_as_a_shell_does() {
        let line = "KEY=1 popper check 'a b' --conserved \"count('>')\" > out.json && cat x | popper verify - # popper no";
        let calls = calls(line, &["popper"]);
        let expected = [
            vec!["popper", "check", "a b", "--conserved", "count('>')"],
            vec!["popper", "verify", "-"],
        ];
        assert_eq!(calls, expected);
    }
}
