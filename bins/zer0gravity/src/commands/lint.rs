//! `zer0gravity lint`: checks encoding systems without a model.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;

use bin_support::{Exit, Failure, Output, Session, escape, nearest};
use zer0gravity_engine::rules::lint::{CODES, LintFinding, LintReport};
use zer0gravity_engine::{DEFAULT_RULES, Tokenizers};

use crate::output::{self, Versioned};
use crate::selection;

/// Examples of the command, which tests run.
pub const EXAMPLES: &str = "\
Examples:
  zer0gravity lint
  zer0gravity lint rules.txt --deny ZG001";

#[derive(Debug, clap::Args)]
pub struct LintArgs {
    /// Encoding systems: text files [default: the built-in rules].
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// The former name of FILE.
    #[arg(long, value_name = "PATH", num_args = 1.., conflicts_with = "files", hide = true)]
    pub encoding: Vec<PathBuf>,
    /// Findings that end the command with exit code 4: codes such as ZG005, or `warnings` for all others than ZG005 [default: ZG008].
    ///
    /// Several codes are separated by commas.
    #[arg(long, value_name = "CODE", action = clap::ArgAction::Append, value_delimiter = ',', value_parser = denied_code)]
    pub deny: Vec<String>,
    /// Print the findings, and the tokens of the rules, as JSON.
    #[arg(long)]
    pub json: bool,
}

/// The findings that are not information.
const WARNINGS: &str = "warnings";

/// Reads a code of `--deny`, in any case.
fn denied_code(text: &str) -> Result<String, String> {
    let known = || CODES.into_iter().chain([WARNINGS]);
    let text = text.trim();
    if let Some(code) = known().find(|code| code.eq_ignore_ascii_case(text)) {
        return Ok(code.to_owned());
    }
    let upper = text.to_ascii_uppercase();
    let near = [nearest(&upper, CODES), nearest(text, [WARNINGS])].concat();
    Err(match near.first() {
        Some(near) => format!("no such code; did you mean {near}?"),
        None => format!(
            "no such code; the codes are {}",
            known().collect::<Vec<_>>().join(", ")
        ),
    })
}

pub fn execute(args: &LintArgs, session: &mut Session) -> Result<Exit, Failure> {
    let counter = Tokenizers::default();
    let files = args.files.iter().chain(&args.encoding);
    let mut linted = Vec::new();
    for path in files {
        let rules = selection::rules(path).map_err(Failure::usage)?;
        let name = escape(&path.display().to_string());
        linted.push((
            name,
            zer0gravity_engine::rules::lint::lint(&rules, &counter),
        ));
    }
    if linted.is_empty() {
        let report = zer0gravity_engine::rules::lint::lint(DEFAULT_RULES, &counter);
        linted.push(("default rules".to_owned(), report));
    }
    if args.json {
        let reports: Vec<_> = linted
            .iter()
            .map(|(_, report)| Versioned::new(report))
            .collect();
        match reports.as_slice() {
            [only] => output::json(Output::Stdout, only, session)?,
            several => output::json(Output::Stdout, &several, session)?,
        }
    } else {
        for (name, report) in &linted {
            session
                .results
                .write_all(findings(name, report).as_bytes())?;
        }
    }
    let denied = |finding: &LintFinding| {
        let named = |code: &String| *code == finding.code || code == WARNINGS && !finding.is_info();
        finding.is_error() || args.deny.iter().any(named)
    };
    let mut all = linted.iter().flat_map(|(_, report)| &report.findings);
    Ok(if all.any(denied) {
        Exit::CheckFailed
    } else {
        Exit::Done
    })
}

/// A line for each finding, `FILE:LINE: CODE message: evidence`, and one for the cost of the rules.
fn findings(name: &str, report: &LintReport) -> String {
    let mut text = String::new();
    for finding in &report.findings {
        let LintFinding { code, line, .. } = finding;
        let (message, evidence) = (&finding.message, escape(&finding.evidence));
        let _ = writeln!(text, "{name}:{line}: {code} {message}: {evidence}");
    }
    let (count, tokens) = (report.findings.len(), report.rules_tokens);
    let findings = if count == 1 { "finding" } else { "findings" };
    let _ = writeln!(
        text,
        "{name}: {count} {findings}; the rules have {} tokens (cl100k), {} (o200k)",
        tokens.cl100k, tokens.o200k
    );
    text
}
