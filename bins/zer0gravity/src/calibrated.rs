//! The comparison of a judge with people, for the commands that show corrected means.

use std::path::{Path, PathBuf};

use bin_support::{Exit, Failure, Session, escape};
use zer0gravity_engine::calibration::{
    Calibration, CalibrationError, JudgeIdentity, Label, read_labels,
};
use zer0gravity_engine::report::RunReport;

use crate::error::Error;
use crate::filter::EncodingFilter;
use crate::selection;
use crate::source::Source;

/// The calibration of a command.
#[derive(Debug, Clone, clap::Args)]
pub struct CalibrationFlags {
    /// File of `calibrate` that corrects mean points for the meaning; it must be of the same judge.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    calibration: Option<PathBuf>,
    /// Exit with code 4 unless the judge is that of --calibration.
    #[arg(long, requires = "calibration", hide_short_help = true)]
    require_calibration: bool,
}

/// A calibration of another judge.
#[derive(Debug, thiserror::Error)]
#[error(
    "{}: the calibration is of another judge, which differs in {}; calibrate this judge, or leave out --calibration",
    escape(&path.display().to_string()), keys.join(", ")
)]
struct AnotherJudge {
    path: PathBuf,
    keys: Vec<String>,
}

impl CalibrationFlags {
    /// The file, which an output may not replace.
    pub fn file(&self) -> Option<PathBuf> {
        self.calibration.clone()
    }

    /// Corrects the means of a run, if that is asked for. Results without a judge stay as they are.
    pub fn apply(&self, report: &mut RunReport) -> Result<(), Failure> {
        let judge = JudgeIdentity::of_results(&report.results, report.config.as_ref());
        if let Some(calibration) = self.of_judge(judge)? {
            report.calibrate(calibration);
        }
        Ok(())
    }

    /// Reads a run and corrects its means, if that is asked for, before `only` leaves out encoding systems.
    pub fn read(
        &self,
        source: &Source,
        only: &EncodingFilter,
        session: &Session,
    ) -> Result<RunReport, Failure> {
        if self.calibration.is_none() {
            return source.read(only, session);
        }
        let mut report = source.read(&EncodingFilter::default(), session)?;
        self.apply(&mut report)?;
        only.apply(&mut report, source.path())?;
        Ok(report)
    }

    /// The calibration, if one is asked for, of this judge; `None` for a run whose scores are given.
    pub fn of_judge(
        &self,
        judge: Result<Option<JudgeIdentity>, CalibrationError>,
    ) -> Result<Option<Calibration>, Failure> {
        let Some(path) = &self.calibration else {
            return Ok(None);
        };
        let calibration = read(path)?;
        let keys = match judge {
            Ok(judge) => judge.map_or_else(Vec::new, |one| calibration.judge.differences(&one)),
            Err(CalibrationError::SeveralJudges { keys }) => keys,
            Err(other) => return Err(other.into()),
        };
        if keys.is_empty() {
            return Ok(Some(calibration));
        }
        let exit = if self.require_calibration {
            Exit::CheckFailed
        } else {
            Exit::Usage
        };
        let path = path.clone();
        Err(Failure::new(exit, AnotherJudge { path, keys }))
    }
}

fn read(path: &Path) -> Result<Calibration, Failure> {
    let bytes = selection::read(path).map_err(Failure::usage)?;
    Calibration::read(&String::from_utf8_lossy(&bytes)).map_err(|error| {
        Failure::usage(Error::Form {
            path: path.to_owned(),
            what: "`zer0gravity calibrate -o`",
            message: error.to_string(),
        })
    })
}

/// The bytes of a file of labels, which another process may be writing, and its labels.
pub fn labels(path: &Path, session: &Session) -> Result<(Vec<u8>, Vec<Label>), Failure> {
    let bytes = selection::read(path).map_err(Failure::usage)?;
    let (labels, torn) = read_labels(&bytes).map_err(|error| {
        Failure::usage(Error::Form {
            path: path.to_owned(),
            what: "labels",
            message: error.to_string(),
        })
    })?;
    if torn > 0 {
        let path = escape(&path.display().to_string());
        session.warn(&format!(
            "{path}: left out an incomplete last line of {torn} bytes"
        ));
    }
    Ok((bytes, labels))
}

/// Tells the corrected means of a report, if it has a calibration. `run` says which of two runs it is.
pub fn tell(report: &RunReport, run: &str, session: &Session) {
    let lines = corrected(report).into_iter();
    for line in lines.filter(|_| report.calibration.is_some()) {
        session.status(&format!("{run}{line}"));
    }
}

/// A line for each encoding system whose mean is corrected, or one that says that there is none.
pub fn corrected(report: &RunReport) -> Vec<String> {
    let encodings = report.statistics.per_encoding.iter();
    let lines = encodings.filter_map(|encoding| {
        let corrected = encoding.semantic_corrected?;
        Some(format!(
            "{}: meaning {:.1}, corrected {:.1} [{:.1}, {:.1}] ({} labelled, {} texts)",
            escape(&encoding.encoding_id),
            encoding.semantic_preservation.mean.unwrap_or_default(),
            corrected.mean,
            corrected.ci95.low,
            corrected.ci95.high,
            corrected.labels,
            corrected.texts,
        ))
    });
    let mut lines: Vec<String> = lines.collect();
    if lines.is_empty() {
        let few = "no mean is corrected: the calibration has too few random labels of these texts";
        lines.push(few.to_owned());
    }
    lines
}
