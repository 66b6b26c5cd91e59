//! The encoding systems and texts that the flags name.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use bin_support::{Failure, Session};
use zer0gravity_engine::DEFAULT_RULES;
use zer0gravity_engine::dataset::{
    CaseError, CaseFormat, LEVELS, Level, MAX_TEXT_BYTES, ParsedCases, Seal, normalise_rules,
    parse_cases,
};
use zer0gravity_engine::plan::{EncodingSystem, PlannedCase};

use crate::error::Error;
use crate::flags::Texts;

/// The limit of an input file in bytes.
const READ_LIMIT: u64 = 256 << 20;

/// The texts of a plan, and whether lines of a dataset were left out.
pub struct Selected {
    pub cases: Vec<PlannedCase>,
    pub left_out: usize,
}

/// The encoding systems of these files; the built-in one of none.
pub fn encodings(paths: &[PathBuf]) -> Result<Vec<EncodingSystem>, Error> {
    if paths.is_empty() {
        return Ok(vec![EncodingSystem::new("default", None, DEFAULT_RULES)]);
    }
    let mut taken = HashMap::<String, u32>::new();
    paths
        .iter()
        .map(|path| {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            Ok(EncodingSystem::new(
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

/// The text of a file, as a run takes it.
pub fn text(path: &Path) -> Result<String, Error> {
    let mut parsed = parse_cases(&read(path)?, CaseFormat::Text, &name(path));
    match (parsed.cases.pop(), parsed.errors.pop()) {
        (Some(case), _) => Ok(case.text.to_string()),
        (None, Some(error)) => Err(error.into()),
        (None, None) => Err(Error::NoTexts),
    }
}

/// The texts that the flags name. `rules` are the files of `--encoding`, which may have taken texts.
pub fn texts(
    flags: &Texts,
    rules: &[PathBuf],
    skip_bad: bool,
    allow_long: bool,
    session: &Session,
) -> Result<Selected, Failure> {
    let selected = match (flags.paths(), flags.level) {
        (paths @ [_, ..], _) => dataset(paths, skip_bad, session)?,
        ([], None) if !flags.all => {
            return Err(Failure::usage(match rules {
                [_, taken @ ..] if !taken.is_empty() => Error::TextsTaken {
                    taken: taken.to_vec(),
                },
                _ => Error::NoTexts,
            }));
        }
        ([], level) => Selected {
            cases: levels(level),
            left_out: 0,
        },
    };
    let selected = Selected {
        cases: flags.filter.apply(selected.cases).map_err(Failure::usage)?,
        ..selected
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
            let planned = |case| PlannedCase::new(case).level(Some(level.number));
            level.cases().into_iter().map(planned)
        })
        .collect()
}

/// The cases of all files, in their order.
pub fn dataset(paths: &[PathBuf], skip_bad: bool, session: &Session) -> Result<Selected, Failure> {
    let mut files = Vec::new();
    for path in paths {
        files.extend(files_of(path).map_err(Failure::usage)?);
    }
    let mut selected = Selected {
        cases: Vec::new(),
        left_out: 0,
    };
    let mut known = HashMap::new();
    for path in files {
        let shown = name(&path);
        let bytes = read(&path).map_err(Failure::usage)?;
        let format = format(&path, &bytes).map_err(Failure::usage)?;
        let ParsedCases {
            cases,
            errors,
            text_field,
            ..
        } = parse_cases(&bytes, format, &shown);
        report_bad_lines(&path, &errors, skip_bad && !cases.is_empty(), session)?;
        if text_field != "text" {
            let shown = bin_support::escape(&shown);
            session.warn(&format!("{shown}: the texts are taken from `{text_field}`"));
        }
        selected.left_out += errors.len();
        for case in cases {
            if let Some(first) = known.insert(case.id.clone(), path.clone()) {
                return Err(Failure::usage(Error::SameId {
                    id: case.id,
                    first,
                    second: path,
                }));
            }
            selected.cases.push(PlannedCase::new(case));
        }
    }
    Ok(selected)
}

/// The files that texts come from: an output may replace none of them. A folder that cannot be read has none.
pub fn files(flags: &Texts) -> Vec<PathBuf> {
    let files = flags.paths().iter().flat_map(|path| files_of(path));
    files.flatten().collect()
}

/// A file itself; of a folder the files in it that have a format, by name, without hidden ones and folders.
fn files_of(path: &Path) -> Result<Vec<PathBuf>, Error> {
    if is_stdin(path) || !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let failed = |source| Error::Read {
        path: path.to_owned(),
        source,
    };
    let mut files = Vec::new();
    for entry in fs::read_dir(path).map_err(failed)? {
        let file = entry.map_err(failed)?.path();
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        // A folder, a device or a pipe is none; a link that leads nowhere is an error when it is read.
        let other = fs::metadata(&file).is_ok_and(|found| !found.is_file());
        if !name.starts_with('.') && CaseFormat::of(&name).is_some() && !other {
            files.push(file);
        }
    }
    files.sort();
    if files.is_empty() {
        return Err(Error::NoFile {
            path: path.to_owned(),
        });
    }
    Ok(files)
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

/// Whether a path means stdin.
pub fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The name of an input in ids and messages.
pub fn name(path: &Path) -> String {
    if is_stdin(path) {
        "stdin".to_owned()
    } else {
        path.display().to_string()
    }
}

/// The format that the name of a file says. On stdin it is that of the text: JSON, JSON lines, or one plain text.
pub fn format(path: &Path, bytes: &[u8]) -> Result<CaseFormat, Error> {
    let named = if is_stdin(path) {
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim_start_matches('\u{feff}').trim_start();
        let is_json = || serde_json::from_str::<serde_json::Value>(text).is_ok();
        CaseFormat::of(match text.chars().next() {
            Some('[') => "stdin.json",
            Some('{') if is_json() => "stdin.json",
            Some('{') => "stdin.jsonl",
            _ => "stdin.txt",
        })
    } else {
        CaseFormat::of(&path.display().to_string())
    };
    named.ok_or_else(|| Error::Format {
        path: path.to_owned(),
    })
}

/// The commitment of a seal, which must be of these texts.
pub fn commitment(path: &Path, planned: &[PlannedCase]) -> Result<String, Failure> {
    let cases: Vec<_> = planned.iter().map(|one| one.case.clone()).collect();
    let seal = seal(path)?;
    if seal.holds(&cases) {
        return Ok(seal.commitment);
    }
    let path = path.to_owned();
    Err(Failure::usage(Error::OtherTexts { path }))
}

/// Reads a seal.
pub fn seal(path: &Path) -> Result<Seal, Failure> {
    let bytes = read(path).map_err(Failure::usage)?;
    let form = |message| Error::Form {
        path: path.to_owned(),
        what: "a seal",
        message,
    };
    Seal::read(&bytes).map_err(|message| Failure::usage(form(message)))
}

/// The bytes of a file, or of stdin, of at most 256 MiB.
pub fn read(path: &Path) -> Result<Vec<u8>, Error> {
    let failed = |source| Error::Read {
        path: path.to_owned(),
        source,
    };
    let mut bytes = Vec::new();
    // A device has no length, and no end.
    if is_stdin(path) {
        (io::stdin()
            .lock()
            .take(READ_LIMIT + 1)
            .read_to_end(&mut bytes))
        .map_err(failed)?;
    } else {
        let file = fs::File::open(path).map_err(failed)?;
        (file.take(READ_LIMIT + 1).read_to_end(&mut bytes)).map_err(failed)?;
    }
    if bytes.len() as u64 > READ_LIMIT {
        return Err(failed(std::io::ErrorKind::FileTooLarge.into()));
    }
    Ok(bytes)
}
