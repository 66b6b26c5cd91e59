use std::path::{Path, PathBuf};

use bin_support::output::OutputFile;
use bin_support::{Failure, Session};
use clap::builder::{PathBufValueParser, TypedValueParser};
use zer0gravity_engine::ExperimentResult;

use super::{github, junit};
use crate::flags::Checks;

/// The outputs for a CI server.
#[derive(Debug, Clone, clap::Args)]
pub struct CiFlags {
    /// File for the results and checks as JUnit XML.
    #[arg(long, value_name = "FILE", hide_short_help = true, value_parser = junit_file())]
    junit: Option<PathBuf>,
    /// Print failures as annotations of GitHub, and append the table to its step summary.
    #[arg(long, hide_short_help = true)]
    github: bool,
}

/// A file; stdout has the results.
fn junit_file() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| {
        let is_stdout = path.as_os_str() == "-";
        let refused =
            "expected a file, because stdout has the results; a file with this name is ./-";
        if is_stdout { Err(refused) } else { Ok(path) }
    })
}

impl CiFlags {
    /// Begins the file, which fails early if it cannot be written or is one of `used`.
    pub fn begin<'a>(
        &self,
        checks: &'a Checks,
        used: impl IntoIterator<Item = impl AsRef<Path>>,
    ) -> Result<Gate<'a>, Failure> {
        let begin = |path: &PathBuf| OutputFile::begin_checked(path, used);
        Ok(Gate {
            checks,
            junit: self.junit.as_ref().map(begin).transpose()?,
            github: self.github,
        })
    }
}

/// The checks of a command's results, and the outputs that say which held.
#[derive(Debug)]
pub struct Gate<'a> {
    pub checks: &'a Checks,
    junit: Option<OutputFile>,
    github: bool,
}

impl<'a> Gate<'a> {
    /// Checks without outputs.
    pub fn without_outputs(checks: &'a Checks) -> Self {
        Self {
            checks,
            junit: None,
            github: false,
        }
    }

    /// Writes the outputs. `left_out` are the lines of the inputs that cannot be used, `checks` those that were made, and `failed` the
    /// sentences of those that do not hold.
    pub fn finish(
        self,
        results: &[ExperimentResult],
        left_out: usize,
        checks: Option<&Checks>,
        failed: &[String],
        session: &Session,
    ) -> Result<(), Failure> {
        let left_out = (left_out > 0).then(|| format!("lines of the inputs left out: {left_out}"));
        if self.github {
            github::annotate(results, left_out.as_deref(), failed);
            github::append_summary(results, failed, session);
        }
        if let Some(file) = self.junit {
            file.finish(|out| junit::write(results, left_out, checks, out))?;
        }
        Ok(())
    }
}
