//! The commands of a program, with their helps and the examples in them.

use super::commands::calls;
use super::problem::Problem;
use super::sandbox::Sandbox;
use super::unrun::Unrun;
use crate::Error;
use crate::workspace::Workspace;

/// Commands whose examples wait for a person or a server, or ask a network. Their flags are checked.
const WAITING: [&str; 4] = [
    "hermitcrab runtime fetch",
    "hermitcrab serve",
    "popper queue",
    "popper worker",
];

/// The widths of a terminal, each with the longest line of a help in it.
const WIDTHS: [(usize, usize); 2] = [(80, 80), (120, 100)];

/// The most lines of a short help where a terminal breaks no line of it.
const LINES: usize = 40;

/// A command with the text of its short help.
pub struct Help {
    /// The program, and the names of the command in it.
    pub path: String,
    pub text: String,
}

impl Help {
    /// The helps of a program and of all its commands, in the order of the helps.
    pub fn all(sandbox: &Sandbox, program: &str) -> Result<Vec<Self>, Error> {
        let mut helps = Vec::new();
        for path in tree(sandbox, program)? {
            let text = sandbox.run(&format!("COLUMNS=100 {path} --help"))?.output;
            helps.push(Self { path, text });
        }
        Ok(helps)
    }

    /// The first line, which says what the command does.
    fn summary(&self) -> &str {
        self.text.lines().next().unwrap_or_default()
    }

    /// The commands under `Examples:`, each with the exit code that its comment names, or 0.
    pub fn examples(&self) -> Vec<(&str, i32)> {
        let (_, rest) = self.text.split_once("Examples:\n").unwrap_or_default();
        let lines = rest.lines().take_while(|line| line.starts_with("  "));
        lines.map(|line| (line.trim(), code(line))).collect()
    }

    /// Whether the help names a flag, such as `--json`.
    pub fn has_flag(&self, flag: &str) -> bool {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let mut found = self.text.match_indices(flag);
        found.any(|(begin, _)| {
            let end = &self.text[begin + flag.len()..];
            !self.text[..begin].ends_with(is_part) && !end.starts_with(is_part)
        })
    }
}

/// The exit code in a comment such as `# exit code 4`.
fn code(example: &str) -> i32 {
    let (_, comment) = example.split_once(" # ").unwrap_or_default();
    let (_, code) = comment.split_once("exit code ").unwrap_or_default();
    let digits: String = code.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0)
}

/// The program, then its commands with the program's name in front. A group of commands is before the first of them.
fn tree(sandbox: &Sandbox, program: &str) -> Result<Vec<String>, Error> {
    let ran = sandbox.run(&format!("{program} help --tree"))?;
    if ran.code != Some(0) {
        let reason = format!("`{program} help --tree` failed: {}", ran.output.trim());
        return Err(Error::Program { reason });
    }
    let mut paths = vec![program.to_owned()];
    for path in ran.output.lines() {
        let group = path.rsplit_once(' ').map(|(group, _)| group.to_owned());
        paths.extend(group.filter(|group| !paths.contains(group)));
        paths.push(path.to_owned());
    }
    Ok(paths)
}

/// Checks the summary, the examples and the width of each help, and runs the examples in their order.
pub fn check(
    workspace: &Workspace,
    sandbox: &Sandbox,
    helps: &[Help],
) -> Result<Vec<Problem>, Error> {
    let mut problems = Vec::new();
    for help in helps {
        let problem = |text: String| Problem::of(format!("{} --help", help.path), text);
        if help.summary().is_empty() {
            problems.push(problem("no summary".to_owned()));
        }
        let group = help.path.rsplit_once(' ').map(|(group, _)| group);
        let is_inner = help.path.matches(' ').count() > 1;
        let by_group = helps
            .iter()
            .filter(|other| is_inner && group == Some(&other.path));
        if help.examples().is_empty() && by_group.flat_map(Help::examples).next().is_none() {
            problems.push(problem("no example".to_owned()));
        }
        for (columns, widest) in WIDTHS {
            let text = sandbox
                .run(&format!("COLUMNS={columns} {} -h", help.path))?
                .output;
            let wide = text.lines().find(|line| line.chars().count() > widest);
            problems.extend(
                wide.map(|line| problem(format!("wider than {widest} columns:\n    {line}"))),
            );
            let lines = text.lines().count();
            if columns > widest && lines > LINES {
                problems.push(problem(format!("-h has {lines} lines, at most {LINES}")));
            }
        }
        for (example, code) in help.examples() {
            let text = run(workspace, sandbox, help, example, code)?;
            problems.extend(text.map(problem));
        }
    }
    Ok(problems)
}

/// Returns the problem of an example.
fn run(
    workspace: &Workspace,
    sandbox: &Sandbox,
    help: &Help,
    example: &str,
    code: i32,
) -> Result<Option<String>, Error> {
    let program = help.path.split(' ').next().unwrap_or_default();
    if calls(example, &[program]).is_empty() {
        return Ok(Some(format!("calls no {program}: {example}")));
    }
    if WAITING.iter().any(|path| help.path.starts_with(path)) {
        return Unrun::new(workspace, sandbox).problem(example);
    }
    let ran = sandbox.run(example)?;
    let failed = ran.code != Some(code);
    Ok(failed.then(|| super::walk::failed(example, &ran, code)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_and_flags_are_read_from_a_help() {
        let text = "Do it\n\nOptions:\n      --run-id <N>\n\nExamples:\n  p a --x\n  p b  # exit code 4: it differs\n\nGuide: docs/p.md\n";
        let help = Help {
            path: "p".to_owned(),
            text: text.to_owned(),
        };
        let expected = [("p a --x", 0), ("p b  # exit code 4: it differs", 4)];
        assert_eq!(help.examples(), expected);
        assert_eq!(help.summary(), "Do it");
        assert!(help.has_flag("--run-id") && !help.has_flag("--run"));
    }
}
