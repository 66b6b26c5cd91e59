//! The walk through a page: each block is run, written or checked, in the order of the page.

use std::fs;

use super::commands::{ConsoleCommand, calls, commands, console_commands};
use super::expected::{self, compare};
use super::page::{Block, Fence, Page, is_fence};
use super::problem::Problem;
use super::sandbox::{Ran, Sandbox};
use super::unrun::Unrun;
use crate::Error;
use crate::workspace::{PROGRAMS, Workspace};

/// The last lines of a failed command that are shown.
const SHOWN: usize = 12;

/// The walk through one page.
pub struct Walk<'a> {
    workspace: &'a Workspace,
    sandbox: &'a Sandbox,
    /// Whether output that differs replaces the expected one.
    blesses: bool,
    /// The number of commands that were run or checked.
    pub count: usize,
}

/// The lines of a page from the first to before the second index, and what replaces them.
type Correction = (usize, usize, Vec<String>);

impl<'a> Walk<'a> {
    pub fn new(workspace: &'a Workspace, sandbox: &'a Sandbox, blesses: bool) -> Self {
        Self {
            workspace,
            sandbox,
            blesses,
            count: 0,
        }
    }

    /// Walks through a page up to its first problem. With `blesses` the page is written again where output differed.
    pub fn page(&mut self, page: &mut Page) -> Result<Option<Problem>, Error> {
        let mut corrections = Vec::new();
        let mut problem = None;
        for block in &page.blocks {
            problem = self.block(page, block, &mut corrections)?;
            if problem.is_some() {
                break;
            }
        }
        if !corrections.is_empty() {
            for (begin, end, lines) in corrections.into_iter().rev() {
                page.replace(begin, end, lines);
            }
            let path = self.workspace.root.join(&page.name);
            let text = page.lines.join("\n") + "\n";
            fs::write(&path, text).map_err(|source| Error::File { path, source })?;
        }
        Ok(problem)
    }

    fn block(
        &mut self,
        page: &Page,
        block: &Block,
        corrections: &mut Vec<Correction>,
    ) -> Result<Option<Problem>, Error> {
        let lines = page.text(block);
        let at =
            |line: usize, text: String| Some(Problem::at(&page.name, block.begin + line, text));
        match &block.fence {
            Fence::Console => {
                let steps = match console_commands(&lines) {
                    Ok(steps) => steps,
                    Err(line) => return Ok(at(line, "output without a command".to_owned())),
                };
                for step in steps {
                    let correction = match self.step(&step)? {
                        Verdict::Held => continue,
                        Verdict::Failed(text) => return Ok(at(step.line, text)),
                        Verdict::Corrected(lines) => lines,
                    };
                    let indent = " ".repeat(block.indent);
                    let lines = correction.into_iter().map(|line| indent.clone() + &line);
                    let output = step.output;
                    let (begin, end) = (block.begin + output.start, block.begin + output.end);
                    corrections.push((begin, end, lines.collect()));
                }
            }
            Fence::Shell => {
                for (line, command) in commands(&lines) {
                    self.count += 1;
                    let ran = self.sandbox.run(&command)?;
                    if ran.code != Some(0) {
                        return Ok(at(line, failed(&command, &ran, 0)));
                    }
                }
            }
            Fence::Unrun => {
                for (line, command) in commands(&lines) {
                    self.count += 1;
                    let check = Unrun::new(self.workspace, self.sandbox);
                    if let Some(text) = check.problem(&command)? {
                        return Ok(at(line, text));
                    }
                }
            }
            Fence::File { name, is_json } => {
                let is_inside = !name.starts_with('/') && !name.split('/').any(|part| part == "..");
                if !is_inside {
                    return Ok(at(
                        0,
                        format!("\"{name}\" is not inside of the working folder"),
                    ));
                }
                let text = lines.join("\n") + "\n";
                let json = serde_json::from_str::<serde_json::Value>(&text);
                if let (true, Err(error)) = (is_json, json) {
                    let line = error.line().clamp(1, lines.len().max(1)) - 1;
                    return Ok(at(line, format!("not JSON: {error}")));
                }
                self.sandbox.write(name, &text)?;
            }
            Fence::Text => return Ok(unwalked(&page.name, block, &lines)),
            Fence::Unknown => {
                let text = "unknown fence; console, sh, sh needs-key, sh needs-network and sh install are known";
                let fence = block.begin - 1;
                return Ok(Some(Problem::at(&page.name, fence, text)));
            }
        }
        Ok(None)
    }

    fn step(&mut self, step: &ConsoleCommand) -> Result<Verdict, Error> {
        self.count += 1;
        let ran = self.sandbox.run(&step.command)?;
        if ran.code != Some(step.code) {
            return Ok(Verdict::Failed(failed(&step.command, &ran, step.code)));
        }
        let output: Vec<_> = ran.output.lines().collect();
        let changes = compare(&step.expected, &output);
        if expected::is_equal(&changes) {
            return Ok(Verdict::Held);
        }
        let (shown, command) = (expected::shown(&changes), &step.command);
        if !self.blesses {
            return Ok(Verdict::Failed(format!(
                "other output: $ {command}\n{shown}"
            )));
        }
        let lines = expected::corrected(&changes);
        Ok(if is_read_again(step, &lines, &output) {
            Verdict::Corrected(lines)
        } else {
            let text = "a page cannot have this output; leave a line open with `...`";
            Verdict::Failed(format!("{text}: $ {command}\n{shown}"))
        })
    }
}

/// Whether lines under a command are read as its expected output, and the output is equal to them.
fn is_read_again(step: &ConsoleCommand, lines: &[String], output: &[&str]) -> bool {
    let command = format!("$ {}", step.command.replace('\n', "\n> "));
    let code = format!("? {}", step.code);
    let mut block: Vec<_> = command.lines().collect();
    block.extend(lines.iter().map(String::as_str));
    block.extend((step.code != 0).then_some(code.as_str()));
    let has_fence = lines.iter().any(|line| is_fence(line));
    let Ok(read) = console_commands(&block) else {
        return false;
    };
    let [read] = &read[..] else {
        return false;
    };
    let is_same = read.code == step.code && read.command == step.command;
    !has_fence && is_same && expected::is_equal(&compare(&read.expected, output))
}

/// The result of a step.
enum Verdict {
    Held,
    Failed(String),
    /// The lines that replace the expected ones.
    Corrected(Vec<String>),
}

pub fn failed(command: &str, ran: &Ran, expected: i32) -> String {
    let ended = match ran.code {
        Some(code) => format!("exit code {code}, expected {expected}"),
        None => "ended by a signal, or stopped since it waited".to_owned(),
    };
    let lines: Vec<_> = ran.output.lines().collect();
    let last = &lines[lines.len().saturating_sub(SHOWN)..];
    format!("{ended}: $ {command}\n    {}", last.join("\n    "))
}

/// A problem if a block that is not walked calls a program at the start of a line.
fn unwalked(page: &str, block: &Block, lines: &[&str]) -> Option<Problem> {
    let is_call = |line: &str| {
        let line = line.strip_prefix("$ ").unwrap_or(line);
        let begins = PROGRAMS.iter().any(|name| {
            let rest = line.strip_prefix(name);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        });
        begins && !calls(line, &PROGRAMS).is_empty()
    };
    let call = lines.iter().position(|line| is_call(line))?;
    let text = "block is not walked; use console or sh";
    Some(Problem::at(page, block.begin + call, text))
}
