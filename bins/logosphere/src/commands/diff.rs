//! `diff`: compares what happened in two runs.

use std::io::Write as _;
use std::path::PathBuf;

use bin_support::{Exit, Failure, Session, escape};
use logosphere_core::verify::{Comparison, compare};
use serde::Serialize;

use crate::error::Error;
use crate::folders;
use crate::journal_file::{exit_of, open, path};

#[derive(Debug, clap::Args)]
pub struct DiffArgs {
    /// Run: its folder, its name in experiments/, or its journal.
    #[arg(value_name = "A")]
    pub left: PathBuf,
    /// Run to compare it with.
    #[arg(value_name = "B")]
    pub right: PathBuf,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
}

/// The result of the comparison.
#[derive(Serialize)]
struct DiffResult {
    schema_version: u32,
    equal: bool,
    /// The number of equal events.
    #[serde(skip_serializing_if = "Option::is_none")]
    events: Option<u64>,
    /// The field that differs first.
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<String>,
    /// The place of the first difference in each run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sides: Vec<Side>,
}

#[derive(Serialize)]
struct Side {
    run: String,
    /// `None` if the journal ends before it.
    line: Option<u64>,
    value: String,
}

pub fn execute(args: &DiffArgs, session: &mut Session) -> Result<Exit, Failure> {
    let sides = [
        folders::run(&args.left, session)?,
        folders::run(&args.right, session)?,
    ];
    let compared = compare(open(&sides[0])?, open(&sides[1])?).map_err(|(side, source)| {
        let path = path(&sides[side]);
        Failure::new(exit_of(&source), Error::Journal { path, source })
    })?;
    let result = match compared {
        Comparison::Equal(events) => DiffResult {
            schema_version: 1,
            equal: true,
            events: Some(events),
            field: None,
            sides: Vec::new(),
        },
        Comparison::Different(difference) => DiffResult {
            schema_version: 1,
            equal: false,
            events: None,
            field: Some(difference.field),
            sides: (sides.iter())
                .zip(difference.lines.into_iter().zip(difference.values))
                .map(|(run, (line, value))| Side {
                    run: run.display().to_string(),
                    line,
                    value,
                })
                .collect(),
        },
    };
    result.print(args.json, session)?;
    Ok(if result.equal {
        Exit::Done
    } else {
        Exit::CheckFailed
    })
}

impl DiffResult {
    fn print(&self, json: bool, session: &mut Session) -> Result<(), Failure> {
        let out = &mut session.results;
        if json {
            out.json(self)?;
        } else if let Some(field) = &self.field {
            writeln!(out, "different in {}", escape(field))?;
            for Side { run, line, value } in &self.sides {
                let line = line.map_or("at its end".to_owned(), |line| format!("line {line}"));
                writeln!(out, "  {}, {line}: {}", escape(run), escape(value))?;
            }
        } else {
            writeln!(out, "equal: {} events", self.events.unwrap_or_default())?;
        }
        Ok(())
    }
}
