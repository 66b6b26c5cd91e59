//! `lint`, `report`, `export` and `compare`: what can be said without asking anybody.

use std::path::{Path, PathBuf};

use bin_support::{Exit, Failure, Output, Session};
use zer0gravity_engine::report::Report;
use zer0gravity_engine::{
    DEFAULT_RULES, Tokenizers, compare as compare_runs, export_csv, export_json, page,
};

use crate::args::{Compare, Export, Lint, ShowReport};
use crate::error::Error;
use crate::{output, run_dir, selection};

pub fn lint(args: &Lint, session: &mut Session) -> Result<Exit, Failure> {
    let rules = match &args.encoding {
        Some(path) => selection::rules(path).map_err(Failure::usage)?,
        None => DEFAULT_RULES.to_owned(),
    };
    let report = zer0gravity_engine::lint(&rules, &Tokenizers::default());
    output::json(Output::Stdout, &report, session)?;
    Ok(Exit::Done)
}

pub fn report(args: &ShowReport, session: &mut Session) -> Result<Exit, Failure> {
    let source = Source::of(&args.source);
    let output = args.html.begin(source.files())?;
    let html = page(&source.read()?).render()?;
    output.finish(session, |out| out.write_all(html.as_bytes()))?;
    Ok(Exit::Done)
}

pub fn export(args: &Export, session: &mut Session) -> Result<Exit, Failure> {
    let source = Source::of(&args.source);
    let outputs = [
        (&args.csv, export_csv as fn(&Report) -> String),
        (&args.json, export_json),
    ];
    for (target, text) in outputs {
        if let Some(target) = target {
            let output = target.begin(source.files())?;
            let text = text(&source.read()?);
            output.finish(session, |out| out.write_all(text.as_bytes()))?;
        }
    }
    Ok(Exit::Done)
}

pub fn compare(args: &Compare, session: &mut Session) -> Result<Exit, Failure> {
    let old = Source::of(&args.old).read()?;
    let new = Source::of(&args.new).read()?;
    let comparison = compare_runs(&old, &new, args.max_drop);
    output::json(Output::Stdout, &comparison, session)?;
    for reason in &comparison.reasons {
        session.notice(reason);
    }
    Ok(if comparison.holds {
        Exit::Done
    } else {
        Exit::CheckFailed
    })
}

/// A run's directory, a report, or an array of results.
struct Source {
    file: PathBuf,
    directory: Option<PathBuf>,
}

impl Source {
    fn of(path: &Path) -> Self {
        if path.is_dir() {
            Self {
                file: path.join("report.json"),
                directory: Some(path.to_owned()),
            }
        } else {
            Self {
                file: path.to_owned(),
                directory: None,
            }
        }
    }

    /// What it consists of, and no output may replace.
    fn files(&self) -> Vec<PathBuf> {
        let beside = self
            .directory
            .iter()
            .flat_map(|folder| run_dir::files(folder));
        beside.chain([self.file.clone()]).collect()
    }

    fn read(&self) -> Result<Report, Failure> {
        let bytes = selection::read(&self.file).map_err(Failure::usage)?;
        let form = |message: String| Error::Form {
            path: self.file.clone(),
            what: "results",
            message,
        };
        let text = String::from_utf8(bytes).map_err(|error| form(error.to_string()))?;
        let report =
            Report::read(&text).map_err(|error| Failure::usage(form(error.to_string())))?;
        if let Some(folder) = &self.directory {
            run_dir::check_calls(folder, &report)?;
        }
        Ok(report)
    }
}
