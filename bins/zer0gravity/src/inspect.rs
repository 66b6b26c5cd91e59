//! `lint`, `report`, `export` and `levels`: commands that ask no model.

use std::fmt::Write as _;
use std::io::Write as _;

use bin_support::{Exit, Failure, Output, OutputTarget, Session, escape};
use zer0gravity_engine::dataset::{LEVELS, Level};
use zer0gravity_engine::lint::{LintFinding, LintReport};
use zer0gravity_engine::report::{export_csv, export_json, page};
use zer0gravity_engine::{DEFAULT_RULES, Tokenizers};

use crate::args::{Export, Format, Levels, Lint, ShowReport};
use crate::source::Source;
use crate::{output, selection};

pub fn lint(args: &Lint, session: &mut Session) -> Result<Exit, Failure> {
    let counter = Tokenizers::default();
    let files = args.files.iter().chain(&args.encoding);
    let mut linted = Vec::new();
    for path in files {
        let rules = selection::rules(path).map_err(Failure::usage)?;
        let name = escape(&path.display().to_string());
        linted.push((name, zer0gravity_engine::lint::lint(&rules, &counter)));
    }
    if linted.is_empty() {
        let report = zer0gravity_engine::lint::lint(DEFAULT_RULES, &counter);
        linted.push(("default rules".to_owned(), report));
    }
    if args.json {
        let reports: Vec<_> = linted.iter().map(|(_, report)| report).collect();
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
        let named = |code: &String| code == "warnings" || *code == finding.code;
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

pub fn levels(args: &Levels, session: &mut Session) -> Result<Exit, Failure> {
    if args.json {
        let cases: Vec<_> = LEVELS.iter().flat_map(Level::cases).collect();
        output::json(Output::Stdout, &cases, session)?;
        return Ok(Exit::Done);
    }
    for level in LEVELS {
        writeln!(session.results, "level {}", level.number)?;
        for case in level.cases() {
            writeln!(session.results, "  {}  {}", case.id, case.text)?;
        }
    }
    Ok(Exit::Done)
}

pub fn report(args: &ShowReport, session: &mut Session) -> Result<Exit, Failure> {
    let source = Source::of(&args.source);
    let default = || OutputTarget::from(source.file.with_extension("html"));
    let target = args.output.clone().unwrap_or_else(default);
    let output = target.begin(source.files())?;
    let html = page(&source.read()?).render()?;
    output.finish(session, |out| out.write_all(html.as_bytes()))?;
    if target.file().is_some() {
        writeln!(session.results, "{target}")?;
    }
    Ok(Exit::Done)
}

pub fn export(args: &Export, session: &mut Session) -> Result<Exit, Failure> {
    let source = Source::of(&args.source);
    let (format, target) = match (&args.csv, &args.json) {
        (Some(target), _) => (Format::Csv, Some(target)),
        (None, Some(target)) => (Format::Json, Some(target)),
        (None, None) => (args.format, args.output.as_ref()),
    };
    let text = match format {
        Format::Csv => export_csv,
        Format::Json => export_json,
    };
    let output = target
        .unwrap_or(&OutputTarget::Stdout)
        .begin(source.files())?;
    let text = text(&source.read()?);
    output.finish(session, |out| out.write_all(text.as_bytes()))?;
    Ok(Exit::Done)
}
