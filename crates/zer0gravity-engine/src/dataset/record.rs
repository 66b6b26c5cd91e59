//! The three forms of a dataset, brought to one: records of named values with the line they begin on.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::CaseProblem as Problem;
use super::{Case, CaseError};

/// The file format of a dataset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CaseFormat {
    /// An array of cases, a level file (an object with an array `cases`), or one case.
    Json,
    /// A case a line; blank lines are skipped.
    JsonLines,
    /// RFC 4180 with a header row. An empty cell is a missing value unless the column is a required one; tags are separated by
    /// semicolons.
    Csv,
    /// The whole file is one text, its id the file's name without its ending; line breaks at its end go.
    Text,
}

impl CaseFormat {
    /// The endings of names that have a format.
    pub const ENDINGS: &'static [&'static str] = &["json", "jsonl", "csv", "txt", "md"];

    /// The format of a file by its name's ending, one of [`Self::ENDINGS`], in any case.
    ///
    /// ```
    /// use zer0gravity_engine::dataset::CaseFormat;
    /// assert_eq!(CaseFormat::of("a/texts.JSONL"), Some(CaseFormat::JsonLines));
    /// assert_eq!(CaseFormat::of("a/first.txt"), Some(CaseFormat::Text));
    /// assert_eq!(CaseFormat::of("texts.yaml"), None);
    /// ```
    pub fn of(name: &str) -> Option<Self> {
        let (stem, ending) = name.rsplit_once('.')?;
        let named = !stem.is_empty() && !stem.ends_with(['/', '\\']);
        match ending.to_ascii_lowercase().as_str() {
            "json" if named => Some(Self::Json),
            "jsonl" if named => Some(Self::JsonLines),
            "csv" if named => Some(Self::Csv),
            "txt" | "md" if named => Some(Self::Text),
            _ => None,
        }
    }
}

/// The field that holds the text, and the names that other tools give it.
const TEXT: [&str; 4] = ["text", "input", "prompt", "content"];

/// A line or a file's problem.
type Bad = (usize, Problem);

/// One case before it is looked at.
pub(super) struct DatasetRecord {
    line: usize,
    /// The id of a record that has none.
    pub(super) place: String,
    values: Map<String, Value>,
    /// The values are cells of a CSV file: all text.
    cells: bool,
}

impl DatasetRecord {
    /// A field that every case needs.
    pub(super) fn required(&self, field: &'static str) -> Result<String, Problem> {
        match self.values.get(field) {
            None | Some(Value::Null) => Err(Problem::Missing(field)),
            Some(Value::String(text)) => Ok(text.clone()),
            Some(other) => Err(wrong(field, other, "a text")),
        }
    }

    /// Refuses a field that is one of `known` but for capitals and signs, such as `semanticscore`: it would be ignored.
    pub(super) fn check_spelling(&self, known: &[&'static str]) -> Result<(), Problem> {
        let letters = |name: &str| -> String {
            let letters = name.chars().filter(|char| char.is_alphanumeric());
            letters.flat_map(char::to_lowercase).collect()
        };
        for expected in known
            .iter()
            .filter(|name| !self.values.contains_key(**name))
        {
            let is_meant = |found: &&String| letters(found) == letters(expected);
            if let Some(found) = self.values.keys().find(is_meant) {
                let found = found.clone();
                return Err(Problem::Misspelt { found, expected });
            }
        }
        Ok(())
    }

    /// The field that the text is in: `text`, or the first other name for it that is there.
    pub(super) fn text_field(&self) -> &'static str {
        let there = |field: &&str| self.values.contains_key(*field);
        TEXT.into_iter().find(there).unwrap_or(TEXT[0])
    }

    /// A value that may be missing; null is missing.
    fn optional(&self, field: &str) -> Option<&Value> {
        self.values.get(field).filter(|value| match value {
            Value::Null => false,
            Value::String(text) => !(self.cells && text.is_empty()),
            _ => true,
        })
    }

    pub(super) fn text(&self, field: &'static str) -> Result<Option<String>, Problem> {
        match self.optional(field) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(other) => Err(wrong(field, other, "a text")),
        }
    }

    pub(super) fn list(&self, field: &'static str) -> Result<Vec<String>, Problem> {
        match self.optional(field) {
            None => Ok(Vec::new()),
            Some(Value::String(text)) if self.cells => Ok(text
                .split(';')
                .map(str::trim)
                .filter(|item| !item.is_empty())
                .map(str::to_owned)
                .collect()),
            Some(Value::Array(items)) => items
                .iter()
                .map(|item| match item {
                    Value::String(text) => Ok(text.clone()),
                    other => Err(wrong(field, other, "a list of texts")),
                })
                .collect(),
            Some(other) => Err(wrong(field, other, "a list of texts")),
        }
    }

    /// A whole number from 0 to `max`, which is at most 2^53.
    pub(super) fn whole(&self, field: &'static str, max: u64) -> Result<Option<u64>, Problem> {
        let Some(value) = self.optional(field) else {
            return Ok(None);
        };
        let (number, found) = match value {
            Value::Number(number) => (number.as_f64(), number.to_string()),
            Value::String(text) if self.cells => (text.trim().parse().ok(), text.clone()),
            other => return Err(wrong(field, other, "a number")),
        };
        match number {
            Some(number) if number.fract() == 0.0 && (0.0..=max as f64).contains(&number) => {
                Ok(Some(number as u64))
            }
            _ => Err(Problem::BadNumber { field, found, max }),
        }
    }
}

fn wrong(field: &'static str, value: &Value, expected: &'static str) -> Problem {
    let found = match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    Problem::WrongType {
        field,
        found,
        expected,
    }
}

/// Reads a whole file: what `make` makes of each record, and everything that is wrong, by line. The keys of what is returned are
/// unique.
pub(super) fn read<T, K: Eq + Hash>(
    bytes: &[u8],
    format: CaseFormat,
    name: &str,
    required: &[&'static str],
    key: impl Fn(&T) -> K,
    make: impl Fn(&DatasetRecord, Case) -> Result<T, Problem>,
) -> (Vec<T>, Vec<CaseError>) {
    let mut made = Vec::new();
    let mut bad = Vec::new();
    let mut first_lines: HashMap<K, usize> = HashMap::new();
    let mut take = |record: Result<DatasetRecord, Bad>| {
        let checked = record.and_then(|record| {
            let line = record.line;
            let case = Case::read(&record).map_err(|problem| (line, problem))?;
            let id = case.id.clone();
            let item = make(&record, case).map_err(|problem| (line, problem))?;
            match first_lines.entry(key(&item)) {
                Entry::Occupied(first) => {
                    let first = *first.get();
                    return Err((line, Problem::DuplicateId { id, first }));
                }
                Entry::Vacant(place) => place.insert(line),
            };
            Ok(item)
        });
        match checked {
            Ok(item) => made.push(item),
            Err(problem) => bad.push(problem),
        }
    };
    match std::str::from_utf8(bytes) {
        Ok(text) => {
            let text = text.strip_prefix('\u{feff}').unwrap_or(text);
            match format {
                CaseFormat::Json => json(text, &mut take),
                CaseFormat::JsonLines => json_lines(text, &mut take),
                CaseFormat::Csv => csv(text, required, &mut take),
                CaseFormat::Text => take(Ok(whole(text, name))),
            }
        }
        Err(error) => {
            let valid = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
            take(Err((line_breaks(&valid) + 1, Problem::NotUtf8)));
        }
    }
    if made.is_empty() && bad.is_empty() {
        bad.push((1, Problem::NoCase));
    }
    bad.sort_by_key(|(line, _)| *line);
    let errors = bad.into_iter().map(|(line, problem)| CaseError {
        file: name.to_owned(),
        line,
        problem,
    });
    (made, errors.collect())
}

type Take<'a> = &'a mut dyn FnMut(Result<DatasetRecord, Bad>);

fn line_breaks(text: &str) -> usize {
    text.matches('\n').count()
}

/// The parser's words without the place, which it counts from the beginning of what it was given.
fn not_json(error: &serde_json::Error) -> Problem {
    let words = error.to_string();
    let end = words.rfind(" at line ").unwrap_or(words.len());
    Problem::NotJson(words[..end].to_owned())
}

fn object(line: usize, place: String, json: &str) -> Result<DatasetRecord, Bad> {
    match serde_json::from_str(json) {
        Ok(Value::Object(values)) => Ok(DatasetRecord {
            line,
            place,
            values,
            cells: false,
        }),
        Ok(_) => Err((line, Problem::NotAnObject)),
        Err(error) => Err((line + error.line().saturating_sub(1), not_json(&error))),
    }
}

fn json(text: &str, take: Take<'_>) {
    #[derive(Deserialize)]
    struct LevelFile<'a> {
        #[serde(borrow)]
        cases: Option<Vec<&'a RawValue>>,
    }
    let cases = match text.trim_start().as_bytes().first() {
        Some(b'[') => serde_json::from_str::<Vec<&RawValue>>(text).map(Some),
        Some(b'{') => serde_json::from_str::<LevelFile<'_>>(text).map(|file| file.cases),
        None => return,
        Some(_) => return take(Err((1, Problem::NotAnObject))),
    };
    let cases = match cases {
        Ok(Some(cases)) => cases,
        Ok(None) => {
            // One case by itself is a line of JSON lines.
            let one = object(1, "line-1".to_owned(), text);
            let is_case = |one: &DatasetRecord| one.values.contains_key(one.text_field());
            return take(match one {
                Ok(one) if !is_case(&one) => Err((1, Problem::Missing("cases"))),
                one => one,
            });
        }
        Err(error) => return take(Err((error.line(), not_json(&error)))),
    };
    let (mut line, mut counted) = (1, 0);
    for (index, case) in cases.into_iter().enumerate() {
        // The value is a piece of `text`; its address says which.
        let at = case.get().as_ptr().addr() - text.as_ptr().addr();
        line += line_breaks(&text[counted..at]);
        counted = at;
        take(object(line, format!("case-{}", index + 1), case.get()));
    }
}

fn json_lines(text: &str, take: Take<'_>) {
    for (index, line) in text.lines().enumerate() {
        if !line.trim().is_empty() {
            take(object(index + 1, format!("line-{}", index + 1), line));
        }
    }
}

/// A file that is one text.
fn whole(text: &str, name: &str) -> DatasetRecord {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let text = text.trim_end_matches(['\r', '\n']);
    DatasetRecord {
        line: 1,
        place: stem.to_owned(),
        values: Map::from_iter([("text".to_owned(), Value::from(text))]),
        cells: false,
    }
}

fn csv(text: &str, required: &[&'static str], take: Take<'_>) {
    let mut reader = ::csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .from_reader(text.as_bytes());
    let mut header: Option<Vec<String>> = None;
    let mut rows = 0;
    let mut row = ::csv::StringRecord::new();
    // Reading from memory, of text that is UTF-8, with rows of any length: there is no error to come.
    while let Ok(true) = reader.read_record(&mut row) {
        let start = row
            .position()
            .map_or(0, |position| position.byte() as usize);
        let raw = &text[start..reader.position().byte() as usize];
        // The reader takes the line breaks before a row for a part of it.
        let before = raw.len() - raw.trim_start_matches(['\r', '\n']).len();
        let line = row
            .position()
            .map_or(1, |position| position.line() as usize)
            + line_breaks(&raw[..before]);
        let Some(header) = &header else {
            let names: Vec<String> = row.iter().map(|name| name.trim().to_owned()).collect();
            if let Some(problem) = header_problem(&names, required) {
                return take(Err((line, problem)));
            }
            header = Some(names);
            continue;
        };
        take(if raw.matches('"').count() % 2 == 1 {
            Err((line, Problem::OpenQuote))
        } else if row.len() == header.len() {
            let cells = row.iter().map(|cell| Value::String(cell.to_owned()));
            rows += 1;
            Ok(DatasetRecord {
                line,
                place: format!("row-{rows}"),
                values: header.iter().cloned().zip(cells).collect(),
                cells: true,
            })
        } else {
            let (found, expected) = (row.len(), header.len());
            Err((line, Problem::CellCount { found, expected }))
        });
    }
}

fn header_problem(names: &[String], required: &[&'static str]) -> Option<Problem> {
    let mut seen = std::collections::HashSet::new();
    let aliased = names.iter().any(|name| TEXT.contains(&name.as_str()));
    if let Some(twice) = names
        .iter()
        .find(|name| !name.is_empty() && !seen.insert(name.as_str()))
    {
        return Some(Problem::DoubledColumn(twice.clone()));
    }
    let has = |column: &str| seen.contains(column) || column == TEXT[0] && aliased;
    (required.iter().find(|column| !has(column))).map(|column| Problem::MissingColumn(column))
}
