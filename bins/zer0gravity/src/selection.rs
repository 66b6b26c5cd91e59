//! From flags to a plan: which encodings and which texts.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use bin_support::{Failure, Session};
use zer0gravity_engine::DEFAULT_RULES;
use zer0gravity_engine::dataset::{
    Case, CaseError, CaseFormat, LEVELS, Level, MAX_TEXT_BYTES, normalise_rules, parse_cases,
};
use zer0gravity_engine::plan::{Encoding, PlannedCase};

use crate::args::Texts;
use crate::error::Error;

/// Longer files of rules are not read to their end.
const READ_LIMIT: u64 = 256 << 20;

/// The texts of a plan, and whether lines of a dataset were left out.
pub struct Selected {
    pub cases: Vec<PlannedCase>,
    pub left_out: usize,
}

/// The encoding systems of these files; the built-in one of none.
pub fn encodings(paths: &[PathBuf]) -> Result<Vec<Encoding>, Error> {
    if paths.is_empty() {
        return Ok(vec![Encoding::new("default", None, DEFAULT_RULES)]);
    }
    let mut taken = HashMap::<String, u32>::new();
    paths
        .iter()
        .map(|path| {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            Ok(Encoding::new(
                unique(&stem, &mut taken),
                Some(path.display().to_string()),
                rules(path)?,
            ))
        })
        .collect()
}

/// `name`, or `name-2` and so on where it is taken.
fn unique(name: &str, taken: &mut HashMap<String, u32>) -> String {
    let uses = taken.entry(name.to_owned()).or_default();
    *uses += 1;
    if *uses == 1 {
        return name.to_owned();
    }
    let numbered = format!("{name}-{uses}");
    unique(&numbered, taken)
}

/// The rules of a file.
pub fn rules(path: &Path) -> Result<String, Error> {
    normalise_rules(&read(path)?).map_err(|source| Error::Rules {
        path: path.to_owned(),
        source,
    })
}

/// The texts that the flags name.
pub fn texts(
    flags: &Texts,
    skip_bad: bool,
    allow_long: bool,
    session: &Session,
) -> Result<Selected, Failure> {
    let selected = match (&flags.dataset, flags.level) {
        (Some(path), _) => dataset(path, skip_bad, session)?,
        (None, None) if !flags.all => return Err(Failure::usage(Error::NoTexts)),
        (None, level) => Selected {
            cases: levels(level),
            left_out: 0,
        },
    };
    let long = (selected.cases.iter()).find(|one| one.case.text.len() > MAX_TEXT_BYTES);
    match long {
        Some(PlannedCase { case, .. }) if !allow_long => Err(Failure::usage(Error::LongText {
            id: case.id.clone(),
            bytes: case.text.len(),
        })),
        _ => Ok(selected),
    }
}

/// The cases of one level, or of all.
fn levels(number: Option<u32>) -> Vec<PlannedCase> {
    LEVELS
        .iter()
        .filter(|level| number.is_none_or(|number| level.number == number))
        .flat_map(|level: &Level| {
            let planned = |case| PlannedCase {
                level: Some(level.number),
                case,
            };
            level.cases().into_iter().map(planned)
        })
        .collect()
}

fn dataset(path: &Path, skip_bad: bool, session: &Session) -> Result<Selected, Failure> {
    let shown = path.display().to_string();
    let format = CaseFormat::of(&shown).ok_or_else(|| Error::Format {
        path: path.to_owned(),
    });
    let bytes = read(path).map_err(Failure::usage)?;
    let (cases, errors) = parse_cases(&bytes, format.map_err(Failure::usage)?, &shown);
    report_bad_lines(path, &errors, skip_bad && !cases.is_empty(), session)?;
    let planned = |case: Case| PlannedCase { level: None, case };
    Ok(Selected {
        cases: cases.into_iter().map(planned).collect(),
        left_out: errors.len(),
    })
}

/// Reports every line that cannot be used; they end the command unless they are to be left out.
pub fn report_bad_lines(
    path: &Path,
    errors: &[CaseError],
    leave_out: bool,
    session: &Session,
) -> Result<(), Failure> {
    for error in errors {
        session.report(error);
    }
    if errors.is_empty() || leave_out {
        return Ok(());
    }
    Err(Failure::usage(Error::BadLines {
        path: path.to_owned(),
        lines: errors.len(),
    }))
}

/// The bytes of a file of at most 256 MiB.
pub fn read(path: &Path) -> Result<Vec<u8>, Error> {
    let failed = |source| Error::Read {
        path: path.to_owned(),
        source,
    };
    let length = fs::metadata(path).map_err(failed)?.len();
    if length > READ_LIMIT {
        return Err(failed(std::io::ErrorKind::FileTooLarge.into()));
    }
    fs::read(path).map_err(failed)
}
