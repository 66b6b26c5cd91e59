//! The flags that select texts and encoding systems.

use std::collections::BTreeSet;
use std::path::Path;

use bin_support::Failure;
use clap::ArgAction;
use regex::Regex;
use zer0gravity_engine::plan::PlannedCase;
use zer0gravity_engine::report::RunReport;

use crate::error::Error;

/// The texts that a run takes of its inputs.
#[derive(Debug, Clone, clap::Args)]
pub struct CaseFilter {
    /// Take the texts whose id matches a pattern with * and ?; several patterns add up.
    #[arg(long, value_name = "GLOB", action = ArgAction::Append, value_parser = glob, hide_short_help = true)]
    case: Vec<Regex>,
    /// Take the texts with this tag; several tags add up.
    #[arg(long, value_name = "TAG", action = ArgAction::Append, hide_short_help = true)]
    tag: Vec<String>,
    /// Leave out the texts with this tag.
    #[arg(long, value_name = "TAG", action = ArgAction::Append, hide_short_help = true)]
    not_tag: Vec<String>,
    /// Take the first N texts of the others.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), hide_short_help = true)]
    limit: Option<u32>,
}

/// Reads a pattern: `*` is any text, `?` any character, every other character itself.
fn glob(text: &str) -> Result<Regex, String> {
    let part = |char: char| match char {
        '*' => ".*".to_owned(),
        '?' => ".".to_owned(),
        other => regex::escape(other.encode_utf8(&mut [0; 4])),
    };
    let parts: String = text.chars().map(part).collect();
    Regex::new(&format!(r"\A(?s:{parts})\z")).map_err(|_| "expected a shorter pattern".to_owned())
}

impl CaseFilter {
    /// The cases that are selected, in their order.
    pub fn apply(&self, mut cases: Vec<PlannedCase>) -> Result<Vec<PlannedCase>, Error> {
        let known = |cases: &[PlannedCase]| Error::NoCase {
            ids: cases.iter().map(|one| one.case.id.clone()).collect(),
            tags: cases.iter().flat_map(|one| one.case.tags.clone()).collect(),
        };
        let none = known(&cases);
        cases.retain(|PlannedCase { case, .. }| {
            let has_one = |tags: &[String]| case.tags.iter().any(|tag| tags.contains(tag));
            (self.case.is_empty() || self.case.iter().any(|pattern| pattern.is_match(&case.id)))
                && (self.tag.is_empty() || has_one(&self.tag))
                && !has_one(&self.not_tag)
        });
        cases.truncate(self.limit.map_or(usize::MAX, |limit| limit as usize));
        if cases.is_empty() {
            Err(none)
        } else {
            Ok(cases)
        }
    }
}

/// The encoding systems of a run that a command reads.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct EncodingFilter {
    /// Take the encoding systems whose id matches a pattern with * and ?; several patterns add up.
    #[arg(long, value_name = "GLOB", action = ArgAction::Append, value_parser = glob)]
    encoding_id: Vec<Regex>,
}

impl EncodingFilter {
    /// Whether a part may be left out.
    pub fn is_given(&self) -> bool {
        !self.encoding_id.is_empty()
    }

    /// Leaves what is selected in the report of `run`.
    pub fn apply(&self, report: &mut RunReport, run: &Path) -> Result<(), Failure> {
        if !self.is_given() {
            return Ok(());
        }
        let ids: BTreeSet<_> = report.encodings.iter().map(|one| one.id.clone()).collect();
        report.retain_encodings(|id| self.encoding_id.iter().any(|pattern| pattern.is_match(id)));
        if report.encodings.is_empty() {
            let path = run.to_owned();
            return Err(Failure::usage(Error::NoEncoding { path, ids }));
        }
        Ok(())
    }
}
